//! Cuts the text of a filter into words, strings and signs, each with its place.

use std::ops::Range;

use crate::AppError;

/// A piece of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A bare word: a name, keyword, number or date.
    Bare(String),
    /// A quoted string.
    Quoted(String),
    /// `=`, `!=`, `<`, `<=`, `>`, `>=`, `(`, `)` or `,`.
    Sign(&'static str),
}

/// The longer sign first.
const SIGNS: &[(&str, &str)] = &[
    ("==", "="),
    ("!=", "!="),
    ("<>", "!="),
    ("<=", "<="),
    (">=", ">="),
    ("=", "="),
    ("<", "<"),
    (">", ">"),
    ("(", "("),
    (")", ")"),
    (",", ","),
];

/// The tokens of a text.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, AppError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (kind, length) = if matches!(first, '"' | '\'') {
            quoted(rest, first).ok_or_else(|| unclosed(text, at))?
        } else if let Some((typed, sign)) = SIGNS.iter().find(|(typed, _)| rest.starts_with(typed)) {
            (TokenKind::Sign(sign), typed.len())
        } else {
            let length = rest.find(|c| !is_bare(c)).unwrap_or(rest.len());
            if length == 0 {
                return Err(stray(text, at, first));
            }
            (TokenKind::Bare(rest[..length].to_owned()), length)
        };
        tokens.push(Token { kind, span: at..at + length });
        at += length;
    }
    Ok(tokens)
}

fn is_bare(c: char) -> bool {
    c.is_alphanumeric() || "_-.:/@+*%".contains(c)
}

/// The string that `rest` opens with, and its length with the quotes.
fn quoted(rest: &str, quote: char) -> Option<(TokenKind, usize)> {
    let mut string = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != quote {
            string.push(c);
        } else if chars.next_if(|(_, next)| *next == quote).is_some() {
            string.push(quote);
        } else {
            return Some((TokenKind::Quoted(string), at + quote.len_utf8()));
        }
    }
    None
}

fn unclosed(text: &str, at: usize) -> AppError {
    AppError::new("filter::unclosed_string", "the string is not closed")
        .help("close it with the quote that opens it; a quote inside is written twice")
        .span(text, at..text.len())
}

fn stray(text: &str, at: usize, found: char) -> AppError {
    AppError::new("filter::unexpected_character", format!("`{}` has no meaning here", found.escape_default()))
        .help("put a value with other characters than letters, digits and _-.:/@+*% in quotes")
        .span(text, at..at + found.len_utf8())
}
