//! The generated pages say what the sources say.

use super::{Problem, Workspace};
use crate::generate;

pub(super) fn check(tree: &Workspace) -> Vec<Problem> {
    match generate::stale(tree) {
        Ok(stale) => {
            let message = format!("is stale; run `{}`", generate::COMMAND);
            stale.into_iter().map(|path| Problem::new(path, &*message)).collect()
        }
        Err(message) => vec![Problem::new("docs", message)],
    }
}

#[cfg(test)]
mod tests {
    use super::super::SourceFile;
    use super::*;

    fn problems(tree: &Workspace) -> Vec<String> {
        check(tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_stale_page_is_named_with_the_command_that_mends_it() {
        let registry = SourceFile::new("crates/sources/src/registry.rs", "&[]");
        let places = SourceFile::new("crates/sources/src/place.rs", "//! Places.\n");
        let mut tree = Workspace { sources: vec![registry, places], ..Workspace::default() };
        for page in generate::pages(&tree).unwrap() {
            tree.texts.insert(page.path.to_owned(), page.text);
        }
        assert_eq!(problems(&tree), Vec::<String>::new());
        tree.texts.insert("docs/errors.md".to_owned(), "old".to_owned());
        assert_eq!(problems(&tree), ["docs/errors.md: is stale; run `cargo xtask generate`"]);
    }

    #[test]
    fn sources_that_cannot_be_described_are_a_problem() {
        assert_eq!(problems(&Workspace::default()), ["docs: there is no `crates/sources/src/registry.rs`"]);
    }
}
