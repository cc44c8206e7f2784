//! How an error looks: code, place, excerpt with the part to blame, expected and found, and what helps.

use std::ops::Range;

use app::AppError;

use crate::display::clean;

/// Characters of an excerpt's line, at most.
const EXCERPT_MAX: usize = 100;

/// The text of an error.
pub(crate) fn text(error: &AppError, color: bool) -> String {
    let code = error.code.as_str();
    let mut text =
        format!("{}: {}\n", paint(&format!("error[{code}]"), "1;31", color), clean_lines(&error.message));
    match (&error.place, &error.span) {
        (place, Some((blamed, span))) => text.push_str(&excerpt(place.as_deref(), blamed, span)),
        (Some(place), None) => text.push_str(&format!("  at         {}\n", clean(place))),
        (None, None) => {}
    }
    for (label, value) in [("expected", &error.expected), ("found", &error.found)] {
        if let Some(value) = value {
            text.push_str(&format!("  {label:<9}  {}\n", clean_lines(value)));
        }
    }
    if let Some(help) = &error.help {
        text.push_str(&format!("{}: {}\n", paint("help", "1;36", color), clean_lines(help)));
    }
    text
}

/// The text of a warning.
pub(crate) fn warning(warning: &AppError, color: bool) -> String {
    let text = text(warning, false);
    let text = text.strip_prefix("error").unwrap_or(&text);
    format!("{}{text}", paint("warning", "1;33", color))
}

fn paint(text: &str, style: &str, color: bool) -> String {
    if color { format!("\u{1b}[{style}m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// Text of several lines, each cleaned and set under the first.
fn clean_lines(text: &str) -> String {
    text.trim_end().lines().map(clean).collect::<Vec<_>>().join("\n  ")
}

/// The line that holds the start of a span, with the blamed part marked.
fn excerpt(place: Option<&str>, text: &str, span: &Range<usize>) -> String {
    let start = floor(text, span.start.min(text.len()));
    let end = floor(text, span.end.clamp(start, text.len()));
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
    let number = 1 + text[..line_start].matches('\n').count();
    let before: Vec<char> = text[line_start..start].chars().collect();
    let blamed: Vec<char> = text[start..end.min(line_end)].chars().collect();
    let after: Vec<char> = text[end.min(line_end)..line_end].chars().collect();
    let cut = before.len().saturating_sub(EXCERPT_MAX / 2);
    let shown: String = before.iter().skip(cut).chain(&blamed).chain(&after).take(EXCERPT_MAX).collect();
    let lead = if cut > 0 { "…" } else { "" };
    let gutter = " ".repeat(number.to_string().len());
    let spaces = " ".repeat(before.len() - cut + lead.chars().count());
    let carets = "^".repeat(blamed.len().clamp(1, EXCERPT_MAX));
    let place = place.map(|place| format!("{gutter}--> {}\n", clean(place))).unwrap_or_default();
    // A tab or another control character takes one column here, so that the marks stand under their part.
    let shown: String = shown.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{place}{gutter} |\n{number} | {lead}{shown}\n{gutter} | {spaces}{carets}\n")
}

/// The last border of a character at or before a byte.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
