//! How answers look to people, and how they are written for machines.

mod basis_line;
mod figure;
mod machine;
mod matrix;
mod measure;
mod sheet;

pub(crate) use basis_line::basis_line;
pub(crate) use figure::{Cell, evidence_line, mix, money_column, settled_mix, single};
pub(crate) use machine::{Machine, csv, render};
pub(crate) use matrix::{RowTotal, money_matrix};
pub(crate) use measure::{duration, gpu_hours, time};
pub(crate) use sheet::{Grid, Sheet};

/// Text of a file or of a user as it may stand on a terminal: control characters are shown, not sent.
pub(crate) fn clean(text: &str) -> String {
    if !text.chars().any(is_unsafe) {
        return text.to_owned();
    }
    text.chars().map(|c| if is_unsafe(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// Control characters, and those that turn the direction of writing.
fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
