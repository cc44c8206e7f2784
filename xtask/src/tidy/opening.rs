//! Every source file opens with a sentence that says what it is for.

use super::{Problem, SourceFile};

pub(super) fn check(sources: &[SourceFile]) -> Vec<Problem> {
    let bad = sources.iter().filter(|source| !opens_with_a_sentence(&source.text));
    let message = "must open with a sentence in `//! ` that says what the file is for";
    bad.map(|source| Problem::new(format!("{}:1", source.path), message)).collect()
}

/// The first paragraph of the opening comment has several words and ends as a sentence does.
fn opens_with_a_sentence(text: &str) -> bool {
    let lines = text.lines().map_while(|line| line.strip_prefix("//! "));
    let paragraph = lines.collect::<Vec<_>>().join(" ");
    paragraph.split_whitespace().count() > 2 && paragraph.trim_end().ends_with(['.', '?', '!'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str) -> bool {
        check(&[SourceFile::new("a.rs", text)]).is_empty()
    }

    #[test]
    fn a_sentence_may_wrap() {
        assert!(holds("//! Splits an amount by weights without losing a cent.\n\nuse std::fmt;\n"));
        assert!(holds("//! Splits an amount by weights\n//! without losing a cent.\n//!\n//! More\n"));
    }

    #[test]
    fn a_file_without_an_opening_sentence_is_named() {
        for text in
            ["", "use std::fmt;\n", "// A comment is no sentence.\n", "//! x\n", "//! no full stop here\n"]
        {
            assert!(!holds(text), "{text}");
        }
        let late = SourceFile::new("crates/money/src/lib.rs", "\n//! Too late to say what it is for.\n");
        assert!(check(&[late])[0].to_string().starts_with("crates/money/src/lib.rs:1: must open"));
    }
}
