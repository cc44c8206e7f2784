//! Finds every stable code in the sources, with the words that stand beside it.

use std::collections::BTreeMap;

use super::tokens::{Token, group, opener, shipped, until};
use super::words::{resolve, template};
use crate::tidy::SourceFile;

/// What a code is raised as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The command fails.
    Error,
    /// The command goes on and says so.
    Warning,
    /// A row is not taken; its `message` is what was expected.
    Rejection,
}

/// One place where a code is raised.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Said {
    pub(super) file: String,
    pub(super) kind: Kind,
    /// As far as the source tells it there.
    pub(super) message: Option<String>,
    pub(super) help: Option<String>,
}

/// Crates whose sources are for tests.
const TEST_CRATES: &[&str] = &["crates/testkit/"];

/// Every code of the shipped sources, in order.
pub(super) fn codes(sources: &[SourceFile]) -> BTreeMap<String, Vec<Said>> {
    let mut found: BTreeMap<String, Vec<Said>> = BTreeMap::new();
    let files: Vec<_> = sources
        .iter()
        .filter(|file| is_shipped(&file.path))
        .map(|file| (&file.path, shipped(&file.text)))
        .collect();
    let for_tests: Vec<String> =
        files.iter().flat_map(|(path, (_, modules))| modules.iter().map(|name| module(path, name))).collect();
    for (path, (tokens, _)) in &files {
        if for_tests.iter().any(|module| is_of(path, module)) {
            continue;
        }
        for (at, token) in tokens.iter().enumerate() {
            if let Some(code) = token.text().filter(|text| is_code(text)) {
                let said = said(tokens, at, path);
                found.entry(code.to_owned()).or_default().push(said);
            }
        }
    }
    found.values_mut().for_each(|said| said.sort());
    found
}

fn is_shipped(path: &str) -> bool {
    let of_crate = path.strip_prefix("crates/").and_then(|rest| rest.split_once('/'));
    let in_sources = of_crate.is_some_and(|(_, inside)| inside.starts_with("src/"));
    let for_tests = path.contains("/tests/") || path.ends_with("/tests.rs");
    in_sources && !for_tests && !TEST_CRATES.iter().any(|folder| path.starts_with(folder))
}

/// The path, without `.rs`, of a module that a file declares.
fn module(path: &str, name: &str) -> String {
    let stem = path.trim_end_matches(".rs");
    let folder = ["/lib", "/main", "/mod"].iter().find_map(|root| stem.strip_suffix(root)).unwrap_or(stem);
    format!("{folder}/{name}")
}

fn is_of(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

/// `word::word_word`, in lower case.
fn is_code(text: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    text.split_once("::").is_some_and(|(prefix, name)| is_word(prefix) && is_word(name))
}

/// What is said at the code that stands at `at`.
fn said(tokens: &[Token<'_>], at: usize, path: &str) -> Said {
    let place = match opener(tokens, at) {
        Some(open) if tokens[open].is('(') => of_call(tokens, open, at),
        Some(open) if tokens[open].is('{') => of_field(tokens, open, at).or_else(|| of_arm(tokens, at)),
        _ => None,
    };
    let (kind, message, help) = place.unwrap_or((Kind::Error, None, None));
    Said { file: path.to_owned(), kind, message, help }
}

type Words = (Kind, Option<String>, Option<String>);

/// `SourceError::new("code", message).help(help)` and its kin.
fn of_call(tokens: &[Token<'_>], open: usize, at: usize) -> Option<Words> {
    let callee = open.checked_sub(1).and_then(|before| tokens[before].word());
    let owner = open.checked_sub(4).and_then(|before| tokens[before].word()).unwrap_or_default();
    let mut arguments = Vec::new();
    let mut next = at + 1;
    while tokens.get(next).is_some_and(|token| token.is(',')) {
        let length = until(&tokens[next + 1..], &[',']);
        arguments.push((next + 1, length));
        next += 1 + length;
    }
    arguments.retain(|(_, length)| *length > 0);
    let kind = match callee {
        Some("new") if owner == "Refusal" => Kind::Rejection,
        Some("new") if owner.ends_with("Warning") => Kind::Warning,
        Some("refuse" | "of_record") | None => Kind::Rejection,
        Some("warn" | "note") => Kind::Warning,
        _ if is_pushed_to_warnings(tokens, open) => Kind::Warning,
        Some(_) => Kind::Error,
    };
    // What was expected comes last, after the column and what was found there.
    let argument = if kind == Kind::Error { arguments.first() } else { arguments.last() };
    let message = argument.and_then(|(start, length)| resolve(tokens, *start, *length));
    let end = open + group(&tokens[open..]);
    Some((kind, message, chained_help(tokens, end)))
}

/// Whether the call that opens at `open` stands in `warnings.push(Type::new(…))`.
fn is_pushed_to_warnings(tokens: &[Token<'_>], open: usize) -> bool {
    let before = open.checked_sub(8).map(|start| &tokens[start..]);
    matches!(
        before,
        Some([Token::Word("warnings"), Token::Sign('.'), Token::Word("push"), Token::Sign('('), ..])
    )
}

/// The argument of `.help(…)` in the chain of calls that begins at `at`.
fn chained_help(tokens: &[Token<'_>], mut at: usize) -> Option<String> {
    while let [Token::Sign('.'), Token::Word(method), Token::Sign('('), ..] = tokens.get(at..)? {
        if *method == "help" {
            return resolve(tokens, at + 3, until(&tokens[at + 3..], &[',']));
        }
        at += 2 + group(&tokens[at + 2..]);
    }
    None
}

/// `Warning { code: "code", message: …, help: … }` and its kin.
fn of_field(tokens: &[Token<'_>], open: usize, at: usize) -> Option<Words> {
    let is_field = at >= 2 && tokens[at - 1].is(':') && tokens[at - 2].is_word("code");
    let owner = open.checked_sub(1).and_then(|before| tokens[before].word()).filter(|_| is_field)?;
    let field = |name: &str| {
        let mut next = open + 1;
        loop {
            let length = until(&tokens[next..], &[',']);
            match tokens.get(next..next + length)? {
                [] => return None,
                [first, Token::Sign(':'), ..] if first.is_word(name) => {
                    return resolve(tokens, next + 2, length - 2);
                }
                [only] if only.is_word(name) => return resolve(tokens, next, 1),
                _ => next += length + 1,
            }
        }
    };
    let (message, expected) = (field("message"), field("expected"));
    let kind = match owner {
        "Warning" | "Note" => Kind::Warning,
        "Fault" | "Rejection" | "BrokenRow" => Kind::Rejection,
        _ if message.is_none() && expected.is_some() => Kind::Rejection,
        _ => Kind::Error,
    };
    Some((kind, message.or(expected), field("help")))
}

/// `Self::Variant => "code"`: the words are in the variant's `#[error("…")]` and in the arms of `fn help`.
fn of_arm(tokens: &[Token<'_>], at: usize) -> Option<Words> {
    if at < 2 || !tokens[at - 1].is('>') || !tokens[at - 2].is('=') {
        return None;
    }
    let pattern = (0..at).rev().find(|start| tokens[*start].is_word("Self"))?;
    let variant = tokens.get(pattern + 3)?.word()?;
    let message = tokens.windows(5).enumerate().find_map(|(start, window)| match window {
        [Token::Word("error"), Token::Sign('('), Token::Text(text), ..] => {
            let mut next = start + 1 + group(&tokens[start + 1..]) + 1;
            while tokens.get(next)?.is('#') {
                next += 1 + group(&tokens[next + 1..]);
            }
            tokens.get(next)?.is_word(variant).then(|| template(text)).filter(|text| text != "…")
        }
        _ => None,
    });
    Some((Kind::Error, message, help_of_variant(tokens, variant)))
}

fn help_of_variant(tokens: &[Token<'_>], variant: &str) -> Option<String> {
    let is_variant = |at: usize| {
        let path = tokens.get(at..at + 4);
        path.is_some_and(|path| path[0].is_word("Self") && path[1].is(':') && path[3].is_word(variant))
    };
    (0..tokens.len()).filter(|at| is_variant(*at)).find_map(|at| {
        let arrow = at + until(&tokens[at..], &['=', ',', ';']);
        if !tokens.get(arrow)?.is('=') || !tokens.get(arrow + 1)?.is('>') {
            return None;
        }
        let start = arrow + 2;
        let is_block = tokens.get(start)?.is('{');
        let length = if is_block { group(&tokens[start..]) } else { until(&tokens[start..], &[',']) };
        resolve(tokens, start, length).filter(|help| !is_code(help))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expect: &[(&str, Kind, Option<&str>, Option<&str>)]) {
        let codes = codes(&[SourceFile::new("crates/app/src/a.rs", source)]);
        let found: Vec<_> = codes
            .iter()
            .flat_map(|(code, said)| said.iter().map(move |one| (code.as_str(), one)))
            .map(|(code, one)| (code, one.kind, one.message.as_deref(), one.help.as_deref()))
            .collect();
        assert_eq!(found, expect, "{source}");
    }

    #[test]
    fn a_call_tells_message_and_help() {
        check(
            r#"fn f() { Err(AppError::new("a::bad", format!("`{x}` of {}", y)).at(place(1, 2)).help("do: it")) }"#,
            &[("a::bad", Kind::Error, Some("`…` of …"), Some("do: it"))],
        );
        check(
            r#"fn f() { let message = "no \"b\""; let other = 1; self.fault(file, "a::b", message, span.clone()) }"#,
            &[("a::b", Kind::Error, Some("no \"b\""), None)],
        );
        for source in
            [r#"fn f() { BillWarning::new("a::w", m) }"#, r#"fn f() { warnings.push(E::new("a::w", m)) }"#]
        {
            check(source, &[("a::w", Kind::Warning, None, None)]);
        }
        check(
            r#"fn f(s: &mut S) { s.warn("a::w", M.to_owned()) } const M: &str = "odd";"#,
            &[("a::w", Kind::Warning, Some("odd"), None)],
        );
    }

    #[test]
    fn a_rejected_row_tells_what_was_expected() {
        let check_one = |source: &str| check(source, &[("row::no", Kind::Rejection, Some("a time"), None)]);
        check_one(r#"fn f() { Refusal::new("row::no", column, text, "a time") }"#);
        check_one(r#"fn f() { Refusal::of_record("row::no", &text, "a time",) }"#);
        check_one(r#"fn f() { match fault { Fault::NotATime => ("row::no", "a time") } }"#);
        check_one(r#"fn f() { Fault { code: "row::no", column, found: text, expected: "a time" } }"#);
    }

    #[test]
    fn a_struct_and_a_variant_tell_theirs() {
        check(
            r#"fn f() { Warning { code: "a::w", message: "odd".to_owned(), help: Some("see".into()) } }"#,
            &[("a::w", Kind::Warning, Some("odd"), Some("see"))],
        );
        check(
            r#"enum E { #[error("no {x}", x.y())] #[cold] A { x: u8 }, #[error("b")] B }
            impl E { fn code(&self) -> &str { match self { Self::A { .. } => "e::a", Self::B => "e::b" } }
            fn help(&self) { match self { Self::B | Self::A { x: _ } => { Some(format!("try {}", 1)) } Self::C => None } } }"#,
            &[
                ("e::a", Kind::Error, Some("no …"), Some("try …")),
                ("e::b", Kind::Error, Some("b"), Some("try …")),
            ],
        );
    }

    #[test]
    fn tests_and_what_is_no_code_are_left_out() {
        check(
            r#"fn f() { g("A::b", "std::", "a::b::c", "a b::c"); } #[cfg(test)] mod t { const X: &str = "a::b"; }"#,
            &[],
        );
        let file = |path| SourceFile::new(path, r#"const X: &str = "a::b";"#);
        let parent = SourceFile::new("crates/store/src/lib.rs", "#[cfg(test)]\nmod fixture;");
        let left_out = ["crates/store/src/fixture.rs", "crates/a/src/tests.rs", "crates/a/src/x/tests/b.rs"];
        let left_out =
            left_out.into_iter().chain(["crates/a/tests/b.rs", "crates/testkit/src/a.rs", "xtask/src/a.rs"]);
        let sources: Vec<SourceFile> = left_out.map(file).chain([parent]).collect();
        assert_eq!(codes(&sources), BTreeMap::new());
    }
}
