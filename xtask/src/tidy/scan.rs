//! A scanner of Rust text that is just good enough for the rules: no comments, no literals, words and functions.

/// `text` with every comment, string and character literal replaced by blanks; lines stay where they are.
pub(super) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let after_word = code.chars().next_back().is_some_and(is_word);
        let length = literal_or_comment(rest, after_word);
        let (piece, tail) = rest.split_at(length.unwrap_or(next.len_utf8()));
        if length.is_some() {
            code.extend(piece.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        } else {
            code.push_str(piece);
        }
        rest = tail;
    }
    code
}

/// The length in bytes of the comment or literal at the start of `rest`, if one starts there.
pub(crate) fn literal_or_comment(rest: &str, after_word: bool) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(block_comment(rest));
    }
    if let Some(inner) = rest.strip_prefix('"') {
        return Some(1 + quoted(inner, '"'));
    }
    if let Some(inner) = rest.strip_prefix('\'') {
        return character(inner);
    }
    if after_word { None } else { raw_string(rest) }
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        let tail = &rest.as_bytes()[at..];
        if tail.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if tail.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// The length up to and with the closing `quote`, which a backslash escapes.
fn quoted(inner: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in inner.char_indices() {
        if c == quote && !escaped {
            return at + quote.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    inner.len()
}

/// The length of a character literal, whose first quote `inner` follows; a lifetime is none.
fn character(inner: &str) -> Option<usize> {
    let mut chars = inner.chars();
    let first = chars.next()?;
    if first == '\\' || chars.next() == Some('\'') {
        return Some(1 + quoted(inner, '\''));
    }
    None
}

/// `r"…"`, `br#"…"#` and their kin.
fn raw_string(rest: &str) -> Option<usize> {
    let start = ["r", "br", "cr"].iter().find_map(|prefix| rest.strip_prefix(prefix))?;
    let opened = start.trim_start_matches('#');
    let hashes = &start[..start.len() - opened.len()];
    let inner = opened.strip_prefix('"')?;
    let closing = format!("\"{hashes}");
    let length = inner.find(&closing).map_or(inner.len(), |at| at + closing.len());
    Some(rest.len() - inner.len() + length)
}

pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Every word of `code` with its line, counted from one.
pub(super) fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.lines().enumerate().flat_map(|(index, line)| {
        line.split(|c| !is_word(c)).filter(|word| !word.is_empty()).map(move |word| (index + 1, word))
    })
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    /// The line of `fn`, counted from one.
    pub(super) line: usize,
    /// From the line of `fn` to the line of the closing brace.
    pub(super) lines: usize,
}

/// Every function of `code` that has a body, nested ones too.
pub(super) fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    let (mut counted, mut line) = (0, 1);
    for (at, _) in code.match_indices("fn ") {
        let name: String = code[at + 3..].trim_start().chars().take_while(|c| is_word(*c)).collect();
        if name.is_empty() || code[..at].chars().next_back().is_some_and(is_word) {
            continue;
        }
        let Some(length) = body_end(&code[at..]) else { continue };
        line += code[counted..at].matches('\n').count();
        counted = at;
        let lines = 1 + code[at..at + length].matches('\n').count();
        found.push(Function { name, line, lines });
    }
    found
}

/// The length from `fn` to the end of its body; none for a declaration.
fn body_end(code: &str) -> Option<usize> {
    let mut brackets = 0_usize;
    let mut braces = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            ';' if braces == 0 && brackets == 0 => return None,
            '{' if braces > 0 || brackets == 0 => braces += 1,
            '}' if braces == 1 => return Some(at + 1),
            '}' => braces = braces.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_lines_stay() {
        let check = |text: &str, expect: &str| assert_eq!(code_only(text), expect, "{text}");
        check("a // f64\nb", "a       \nb");
        check("a /* f64 /* x */ */ b", "a                   b");
        check(r#"f("f64 \" {") + 1"#, "f(          ) + 1");
        check("r#\"f64 \" {\"# + 1", "             + 1");
        check("(b\"{\", c)", "(b   , c)");
        check(r"('{', '\'', '\\', 'x')", "(   ,     ,     ,    )");
        check("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
        check("var\"{\"", "var   ");
        check("r#fn", "r#fn");
        check("\"two\nlines\" f64", "    \n       f64");
        check("\"never closed {", "               ");
    }

    #[test]
    fn functions_are_measured_from_fn_to_the_closing_brace() {
        let code = "trait T { fn declared(x: [u8; 2]); }\nfn one() {}\nfn three(\n) -> fn(u8) -> u8 {\n}\n";
        let measured: Vec<_> = functions(code).into_iter().map(|f| (f.name, f.line, f.lines)).collect();
        assert_eq!(measured, [("one".to_owned(), 2, 1), ("three".to_owned(), 3, 3)]);
    }
}
