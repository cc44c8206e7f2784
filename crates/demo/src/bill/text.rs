//! A bill as gzip-compressed CSV, maps as JSON text, small numbers with an exponent.

use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::columns::{COLUMNS, Cell, Row};
use crate::DemoError;
use crate::files;
use crate::span::rfc3339;

/// Writes one file of rows.
pub(crate) fn write(path: &Path, rows: &[Row<'_>]) -> Result<(), DemoError> {
    let mut csv = COLUMNS.iter().map(|column| column.name).collect::<Vec<_>>().join(",");
    csv.push('\n');
    for row in rows {
        for (index, column) in COLUMNS.iter().enumerate() {
            if index > 0 {
                csv.push(',');
            }
            push_field(&mut csv, &shown((column.cell)(*row))?);
        }
        csv.push('\n');
    }
    // The header's time stays zero, so that the same rows give the same bytes.
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let written = gzip.write_all(csv.as_bytes()).and_then(|()| gzip.finish());
    let bytes = written.map_err(|source| DemoError::Write { path: path.to_owned(), source })?;
    files::write(path, &bytes)
}

fn shown(cell: Cell<'_>) -> Result<String, DemoError> {
    Ok(match cell {
        Cell::Empty => String::new(),
        Cell::Text(text) => text.into_owned(),
        Cell::Money(amount) => scientific(&amount.to_string()),
        Cell::Used(used) => scientific(&used.to_string()),
        Cell::Time(second) => rfc3339(second).replace('Z', ".000Z"),
        Cell::Map(map) => serde_json::to_string(&map)?,
    })
}

/// Decimal text as the exports print it: below a thousandth with an exponent (`4.0E-7`).
fn scientific(plain: &str) -> String {
    let (sign, digits) = plain.strip_prefix('-').map_or(("", plain), |rest| ("-", rest));
    let Some(fraction) = digits.strip_prefix("0.000") else { return plain.to_owned() };
    let significant = fraction.trim_start_matches('0');
    let exponent = 4 + fraction.len() - significant.len();
    let (first, rest) = significant.split_at(significant.len().min(1));
    format!("{sign}{first}.{}E-{exponent}", if rest.is_empty() { "0" } else { rest })
}

fn push_field(csv: &mut String, field: &str) {
    if !field.contains([',', '"', '\n']) {
        csv.push_str(field);
        return;
    }
    csv.push('"');
    csv.push_str(&field.replace('"', "\"\""));
    csv.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_carry_an_exponent() {
        for (plain, shown) in [
            ("0.0000004", "4.0E-7"),
            ("-0.00052", "-5.2E-4"),
            ("0.001", "0.001"),
            ("12.0000001", "12.0000001"),
            ("0", "0"),
        ] {
            assert_eq!(scientific(plain), shown);
        }
    }
}
