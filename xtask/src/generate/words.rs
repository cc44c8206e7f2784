//! The text that a Rust expression stands for, as far as the source itself tells it.

use super::tokens::{Token, group, until};

/// How many names are followed until a text is found.
const STEPS_MAX: usize = 3;

/// The text of the expression of `length` tokens at `start`; what differs from case to case is `…`.
pub(super) fn resolve(tokens: &[Token<'_>], start: usize, length: usize) -> Option<String> {
    text(tokens, start, length, STEPS_MAX).filter(|text| text != "…")
}

/// A format string with `…` for what is put in.
pub(super) fn template(format: &str) -> String {
    let mut shown = String::with_capacity(format.len());
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        let doubled = chars.peek() == Some(&c);
        match c {
            '{' | '}' if doubled => {
                chars.next();
                shown.push(c);
            }
            '{' => {
                chars.by_ref().find(|c| *c == '}');
                shown.push('…');
            }
            _ => shown.push(c),
        }
    }
    shown
}

fn text(tokens: &[Token<'_>], start: usize, length: usize, steps: usize) -> Option<String> {
    match tokens.get(start..start + length)? {
        [Token::Sign('&'), ..] => text(tokens, start + 1, length - 1, steps),
        [Token::Sign('{'), .., Token::Sign('}')] => text(tokens, start + 1, length - 2, steps),
        [Token::Word("Some"), Token::Sign('('), ..] => {
            text(tokens, start + 2, until(&tokens[start + 2..], &[',']), steps)
        }
        [Token::Word("format"), Token::Sign('!'), Token::Sign('('), Token::Text(format), ..] => {
            Some(template(format))
        }
        // What follows the first piece is another file's text.
        [Token::Word("concat"), Token::Sign('!'), Token::Sign('('), Token::Text(first), ..] => {
            Some(format!("{first}…"))
        }
        [Token::Text(text)] => Some(text.clone()),
        [Token::Text(text), rest @ ..] if is_copy(rest) => Some(text.clone()),
        [Token::Word(name), rest @ ..] if rest.is_empty() || is_copy(rest) => {
            named(tokens, start, name, steps)
        }
        _ => None,
    }
}

/// `.to_owned()` and its kin, which change no text.
fn is_copy(tokens: &[Token<'_>]) -> bool {
    matches!(
        tokens,
        [
            Token::Sign('.'),
            Token::Word("to_owned" | "to_string" | "into" | "clone"),
            Token::Sign('('),
            Token::Sign(')')
        ]
    )
}

/// The text of a name: the nearest `let` before `at` in the same function, else a constant of the file.
fn named(tokens: &[Token<'_>], at: usize, name: &str, steps: usize) -> Option<String> {
    let steps = steps.checked_sub(1)?;
    let function = tokens[..at].iter().rposition(|token| token.is_word("fn")).unwrap_or(0);
    for index in (function..at.saturating_sub(1)).rev() {
        let is_it = tokens[index + 1].is_word(name);
        if is_it && tokens[index].is('|') {
            return None;
        }
        if is_it && tokens[index].is_word("let") {
            return assigned(tokens, index + 2, steps);
        }
    }
    let is_constant = |index: &usize| tokens[*index].is_word("const") && tokens[*index + 1].is_word(name);
    let constant = (0..tokens.len().saturating_sub(1)).find(is_constant)?;
    assigned(tokens, constant + 2, steps)
}

/// The text after the `=` of a declaration whose name ends at `at`.
fn assigned(tokens: &[Token<'_>], at: usize, steps: usize) -> Option<String> {
    let sign = at + until(&tokens[at..], &['=', ';']);
    if !tokens.get(sign)?.is('=') {
        return None;
    }
    let start = sign + 1;
    let mut length = 0;
    while let Some(token) = tokens.get(start + length).filter(|token| !token.is(';')) {
        length += if token.is('(') || token.is('[') || token.is('{') {
            group(&tokens[start + length..])
        } else {
            1
        };
    }
    text(tokens, start, length, steps)
}

#[cfg(test)]
mod tests {
    use super::super::tokens::shipped;
    use super::*;

    /// The text of what stands in the last `g(…)`.
    fn check(source: &str, expect: Option<&str>) {
        let (tokens, _) = shipped(source);
        let call = tokens.iter().rposition(|token| token.is_word("g")).unwrap();
        let length = until(&tokens[call + 2..], &[',']);
        assert_eq!(resolve(&tokens, call + 2, length).as_deref(), expect, "{source}");
    }

    #[test]
    fn a_text_is_found_through_formats_options_and_names() {
        check(r#"fn f() { g("a".to_owned()) }"#, Some("a"));
        check(r#"fn f() { g(Some(format!("{a} {:?} {{b}}", c))) }"#, Some("… … {b}"));
        check(r#"fn f() { let m: &str = "a"; let m2 = 1; g(&m) }"#, Some("a"));
        check(r#"const M: &str = "a"; fn f() { g(M.into()) }"#, Some("a"));
        check(r#"const M: &str = concat!("run: ", include_str!("x")); fn f() { g(M) }"#, Some("run: …"));
    }

    #[test]
    fn what_only_the_run_knows_has_no_text() {
        check("fn f() { g(error.to_string()) }", None);
        check(r#"fn e() { let m = "of another function"; } fn f(m: &str) { g(m) }"#, None);
        check(r#"fn f() { let m = "outer"; let bad = |m: String| g(m); }"#, None);
        check(r#"fn f() { let m = if a { "b" } else { "c" }; g(m) }"#, None);
    }
}
