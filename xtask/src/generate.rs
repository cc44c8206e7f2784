//! Pages that are made from the sources, so that no reference says what the code does not.

mod errors;
mod raised;
mod sources;
mod tokens;
mod words;

use std::path::Path;

use crate::tidy::Workspace;

/// The command that mends a stale page.
pub const COMMAND: &str = "cargo xtask generate";

/// A page of the documentation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its path below the root.
    pub path: &'static str,
    /// What it must say.
    pub text: String,
}

/// Every generated page.
pub const PATHS: [&str; 2] = [sources::PATH, errors::PATH];

/// Makes every page.
///
/// # Errors
/// Says which source cannot be understood.
pub fn pages(tree: &Workspace) -> Result<Vec<Page>, String> {
    Ok(vec![
        Page { path: sources::PATH, text: sources::page(&tree.sources)? },
        Page { path: errors::PATH, text: errors::page(&raised::codes(&tree.sources)) },
    ])
}

/// The paths of the pages that do not say what they must.
///
/// # Errors
/// As [`pages`].
pub fn stale(tree: &Workspace) -> Result<Vec<&'static str>, String> {
    let pages = pages(tree)?;
    Ok(pages.iter().filter(|page| tree.text(page.path) != page.text).map(|page| page.path).collect())
}

/// Writes the pages that are stale below `root`, and names them.
///
/// # Errors
/// As [`pages`]; a page that cannot be written.
pub fn write(root: &Path, tree: &Workspace) -> Result<Vec<&'static str>, String> {
    let stale = stale(tree)?;
    for page in pages(tree)?.iter().filter(|page| stale.contains(&page.path)) {
        let written = std::fs::write(root.join(page.path), &page.text);
        written.map_err(|error| format!("cannot write `{}`: {error}", page.path))?;
    }
    Ok(stale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::SourceFile;

    fn tree() -> Workspace {
        let registry =
            r#"Source { id: "a-b", title: "A", kind: Kind::Billing, text: include_str!("billing/a.rs") }"#;
        let sources = [
            ("crates/sources/src/registry.rs", registry),
            ("crates/sources/src/billing/a.rs", "//! Reads A.\n"),
            ("crates/sources/src/place.rs", "//! Places.\n"),
            ("crates/app/src/b.rs", r#"fn f() { AppError::new("b::bad", "it is bad") }"#),
        ];
        Workspace {
            sources: sources.map(|(path, text)| SourceFile::new(path, text)).into(),
            ..Workspace::default()
        }
    }

    #[test]
    fn a_page_is_stale_until_it_says_what_the_sources_say() {
        let mut tree = tree();
        assert_eq!(stale(&tree), Ok(PATHS.to_vec()));
        for page in pages(&tree).unwrap() {
            tree.texts.insert(page.path.to_owned(), page.text);
        }
        assert_eq!(stale(&tree), Ok(Vec::new()));
        tree.sources[1] = SourceFile::new("crates/sources/src/billing/a.rs", "//! Reads A and B.\n");
        assert_eq!(stale(&tree), Ok(vec![sources::PATH]));
    }

    #[test]
    fn the_same_tree_gives_the_same_pages_in_any_order_of_files() {
        let mut turned = tree();
        turned.sources.reverse();
        assert_eq!(pages(&turned), pages(&tree()));
    }
}
