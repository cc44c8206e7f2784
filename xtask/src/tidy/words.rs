//! Words that must not stand in the code: floats near money, and what makes a test lie or wait.

use super::{Problem, SourceFile, scan};

/// Where every figure is made.
const MONEY_CRATES: &[&str] = &["crates/money/src/", "crates/ledger/src/", "crates/costing/src/"];
const MONEY_WORDS: &[&str] = &["f32", "f64", "HashMap", "HashSet"];
/// Quality is measured in floats and never meets money there.
const MONEY_EXCEPTIONS: &[(&str, &str)] = &[("crates/ledger/src/quality.rs", "f64")];

/// Each with what to do instead.
const NOWHERE: &[(&str, &str)] = &[
    ("#[ignore", "a test that does not run proves nothing; delete it or make it fast"),
    ("thread::sleep", "wait for the event, not for a while"),
    ("todo!(", "finish it, or return an error that says what is missing"),
    ("unimplemented!(", "finish it, or return an error that says what is missing"),
];

pub(super) fn check(sources: &[SourceFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for source in sources {
        if MONEY_CRATES.iter().any(|folder| source.path.starts_with(folder)) {
            problems.extend(money_words(source));
        }
        problems.extend(words_banned_everywhere(source));
    }
    problems
}

fn money_words(source: &SourceFile) -> impl Iterator<Item = Problem> {
    scan::words(&source.code).filter_map(|(line, word)| {
        let banned = MONEY_WORDS.iter().find(|banned| is_or_suffixes(word, banned))?;
        let excepted = MONEY_EXCEPTIONS.contains(&(source.path.as_str(), *banned));
        let message = format!("`{banned}` may not stand in a money crate: money is exact, its order fixed");
        (!excepted).then(|| Problem::new(format!("{}:{line}", source.path), message))
    })
}

/// The word itself, or a literal with it as suffix (`1_f64`).
fn is_or_suffixes(word: &str, banned: &str) -> bool {
    word == banned || (word.ends_with(banned) && word.starts_with(|c: char| c.is_ascii_digit()))
}

fn words_banned_everywhere(source: &SourceFile) -> impl Iterator<Item = Problem> {
    source.code.lines().enumerate().flat_map(move |(index, line)| {
        let found = NOWHERE.iter().filter(|(banned, _)| line.contains(banned));
        found.map(move |(banned, instead)| {
            Problem::new(format!("{}:{}", source.path, index + 1), format!("`{banned}`: {instead}"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(path: &str, text: &str) -> Vec<String> {
        check(&[SourceFile::new(path, text)]).into_iter().map(|problem| problem.place).collect()
    }

    #[test]
    fn floats_and_hash_maps_are_named_in_the_money_crates() {
        let text = "fn f(x: f64) {}\nuse std::collections::HashMap;\nlet x = 1.0_f32;\nlet y = 0x1f64;\n";
        let at = |line| format!("crates/costing/src/a.rs:{line}");
        assert_eq!(places("crates/costing/src/a.rs", text), [at(1), at(2), at(3), at(4)]);
        assert_eq!(places("crates/engine/src/a.rs", text), Vec::<String>::new());
    }

    #[test]
    fn comments_and_quality_are_free() {
        assert_eq!(
            places("crates/money/src/a.rs", "// f64\nfn f() { g(\"HashMap\") }\n"),
            Vec::<String>::new()
        );
        assert_eq!(places("crates/ledger/src/quality.rs", "struct Q { value: f64 }\n"), Vec::<String>::new());
        assert_eq!(places("crates/ledger/src/quality.rs", "struct Q { value: f32 }\n").len(), 1);
    }

    #[test]
    fn what_makes_a_test_lie_or_wait_is_named_everywhere() {
        for line in
            ["#[ignore]", "#[ignore = \"slow\"]", "std::thread::sleep(d);", "todo!()", "unimplemented!()"]
        {
            assert_eq!(places("xtask/src/a.rs", line), ["xtask/src/a.rs:1"], "{line}");
        }
        assert_eq!(
            places("xtask/src/a.rs", "// todo!()\nconst X: &str = \"#[ignore\";\n"),
            Vec::<String>::new()
        );
    }
}
