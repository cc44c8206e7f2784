//! Rust text as words, strings and signs, without comments and without what is compiled for tests only.

use crate::tidy::scan;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name, keyword or number.
    Word(&'a str),
    /// The value of a string literal.
    Text(String),
    /// Any other character that is not blank.
    Sign(char),
}

impl Token<'_> {
    pub(super) fn is(&self, sign: char) -> bool {
        *self == Token::Sign(sign)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        *self == Token::Word(word)
    }

    pub(super) fn word(&self) -> Option<&str> {
        if let Token::Word(word) = self { Some(word) } else { None }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Token::Text(text) = self { Some(text) } else { None }
    }

    fn opens(&self) -> bool {
        matches!(self, Token::Sign('(' | '[' | '{'))
    }

    fn closes(&self) -> bool {
        matches!(self, Token::Sign(')' | ']' | '}'))
    }
}

/// The tokens of a file as it is shipped, and the names of the modules that only its tests have.
pub(super) fn shipped(text: &str) -> (Vec<Token<'_>>, Vec<&str>) {
    let tokens = all(text);
    let (mut kept, mut modules) = (Vec::with_capacity(tokens.len()), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        let rest = &tokens[at..];
        let Some(attribute) = test_attribute(rest) else {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        };
        let item = item_end(&rest[attribute..]);
        if let [Token::Word("mod"), Token::Word(name), Token::Sign(';'), ..] = rest[attribute..] {
            modules.push(name);
        }
        at += attribute + item;
    }
    (kept, modules)
}

fn all(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let mut length = next.len_utf8();
        if let Some(literal) = scan::literal_or_comment(rest, false) {
            length = literal;
            tokens.extend(value(&rest[..literal]).map(Token::Text));
        } else if scan::is_word(next) {
            length = rest.find(|c| !scan::is_word(c)).unwrap_or(rest.len());
            tokens.push(Token::Word(&rest[..length]));
        } else if !next.is_whitespace() {
            tokens.push(Token::Sign(next));
        }
        rest = &rest[length..];
    }
    tokens
}

/// The value of a string literal; none for comments and characters.
fn value(literal: &str) -> Option<String> {
    if let Some(inner) = literal.strip_prefix('"') {
        return Some(unescaped(inner.strip_suffix('"').unwrap_or(inner)));
    }
    let raw = ["r", "br", "cr"].iter().find_map(|prefix| literal.strip_prefix(prefix))?;
    let inner = raw.trim_matches('#');
    Some(inner.strip_prefix('"')?.strip_suffix('"')?.to_owned())
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let mut chars = after.chars();
        match chars.next() {
            // A line that goes on: the blanks at the start of the next one are not part of it.
            Some('\n') => {
                rest = after.trim_start();
                continue;
            }
            Some('n' | 't' | 'r') => plain.push(' '),
            Some(escaped) => plain.push(escaped),
            None => {}
        }
        rest = chars.as_str();
    }
    plain + rest
}

/// The length of `#[cfg(test)]` or `#[test]` and the attributes after it, if `tokens` begin with one.
fn test_attribute(tokens: &[Token<'_>]) -> Option<usize> {
    let mut length = match tokens {
        [Token::Sign('#'), Token::Sign('['), Token::Word("test"), Token::Sign(']'), ..] => 4,
        [
            Token::Sign('#'),
            Token::Sign('['),
            Token::Word("cfg"),
            Token::Sign('('),
            Token::Word("test"),
            Token::Sign(')'),
            Token::Sign(']'),
            ..,
        ] => 7,
        _ => return None,
    };
    while let [Token::Sign('#'), Token::Sign('['), ..] = &tokens[length..] {
        length += 1 + group(&tokens[length + 1..]);
    }
    Some(length)
}

/// The length of the item that `tokens` begin with: to its `;` or the end of its braces.
fn item_end(tokens: &[Token<'_>]) -> usize {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Sign(';') => return at + 1,
            Token::Sign('{') => return at + group(&tokens[at..]),
            token if token.opens() => at += group(&tokens[at..]),
            _ => at += 1,
        }
    }
    at
}

/// The length of the bracketed group that `tokens` begin with, brackets included.
pub(super) fn group(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        if token.opens() {
            depth += 1;
        } else if token.closes() {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at + 1;
            }
        }
    }
    tokens.len()
}

/// The index of the bracket that is open at `at`.
pub(super) fn opener(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, token) in tokens[..at].iter().enumerate().rev() {
        if token.closes() {
            depth += 1;
        } else if token.opens() {
            if depth == 0 {
                return Some(index);
            }
            depth -= 1;
        }
    }
    None
}

/// The length up to the first of `signs` outside brackets, or to where the surrounding bracket closes.
pub(super) fn until(tokens: &[Token<'_>], signs: &[char]) -> usize {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if token.closes() || signs.iter().any(|sign| token.is(*sign)) {
            return at;
        }
        at += if token.opens() { group(&tokens[at..]) } else { 1 };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        shipped(source).0.iter().filter_map(Token::text).map(str::to_owned).collect()
    }

    #[test]
    fn strings_are_read_and_comments_and_characters_are_not() {
        assert_eq!(
            texts(r##"f("a \"b\" \\", r#"c "d""#, '"', b"e") // "no" "##),
            ["a \"b\" \\", "c \"d\"", "e"]
        );
        assert_eq!(texts("\"goes \\\n    on\" /* \"no\" */"), ["goes on"]);
    }

    #[test]
    fn what_is_for_tests_only_is_left_out() {
        let source = "#[cfg(test)]\nmod fixture;\n#[cfg(test)]\n#[path = \"x\"]\nmod tests { fn f() { g(\"no\") } }\n\
            #[test]\nfn t() { g(\"no\") }\nfn f(x: [u8; 2]) { g(\"yes\") }\n";
        assert_eq!(texts(source), ["yes"]);
        assert_eq!(shipped(source).1, ["fixture"]);
    }
}
