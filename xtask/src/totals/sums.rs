//! Sums of a bill by source, period, basis and currency, ours and DuckDB's, and where they differ.

use std::collections::BTreeMap;

use serde_json::Value;

const BASES: [&str; 4] = ["billed", "effective", "list", "marginal"];

/// Sums by what they are of, as decimal text without trailing zeros; that of list prices says what is unpriced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sums(BTreeMap<String, String>);

impl Sums {
    /// What `trainbill check --format json` says of the charges.
    pub(super) fn of_check(answer: &str) -> Result<Self, String> {
        let answer: Value = serde_json::from_str(answer).map_err(|error| error.to_string())?;
        let rows = answer["rows"].as_array().ok_or("`check` told no rows")?;
        let mut sums = Self::default();
        for row in rows {
            let word = |name: &str| row[name].as_str().ok_or_else(|| format!("`check` told no `{name}`"));
            let whose = (word("source")?, word("billing_period")?, word("currency")?);
            sums.add(whose, word("basis")?, (word("charges_total")?, &row["unpriced"].to_string()))?;
        }
        Ok(sums)
    }

    /// What DuckDB's side printed for the bill of a number.
    pub(super) fn of_duckdb(lines: &[Value], number: usize, reader: &str) -> Result<Self, String> {
        let mut sums = Self::default();
        for line in lines.iter().filter(|line| line["name"].as_u64() == u64::try_from(number).ok()) {
            let word = |name: &str| line[name].as_str().ok_or_else(|| format!("DuckDB told no `{name}`"));
            let source = format!("{reader}:{}", word("payer")?);
            for basis in BASES {
                let whose = (source.as_str(), word("period")?, word("currency")?);
                sums.add(whose, basis, (word(basis)?, word("unpriced")?))?;
            }
        }
        Ok(sums)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each sum that is not alike, or that only one side has.
    pub(super) fn differences(&self, theirs: &Self) -> impl Iterator<Item = String> {
        let mut both: BTreeMap<&String, [Option<&String>; 2]> = BTreeMap::new();
        for (side, sums) in [self, theirs].into_iter().enumerate() {
            for (whose, sum) in &sums.0 {
                both.entry(whose).or_default()[side] = Some(sum);
            }
        }
        let shown = |sum: Option<&String>| sum.cloned().unwrap_or_else(|| "nothing".to_owned());
        let differing: Vec<String> = both
            .into_iter()
            .filter(|(_, [ours, theirs])| ours != theirs)
            .map(|(whose, [ours, theirs])| format!("{whose}: ours {}, DuckDB {}", shown(ours), shown(theirs)))
            .collect();
        differing.into_iter()
    }

    fn add(
        &mut self,
        (source, period, currency): (&str, &str, &str),
        basis: &str,
        (sum, unpriced): (&str, &str),
    ) -> Result<(), String> {
        let mut sum = plain(sum).ok_or_else(|| format!("`{sum}` is no plain decimal"))?;
        if basis == "list" {
            sum.push_str(&format!(" and {unpriced} unpriced"));
        }
        let whose = format!("{source} {period} {basis} {currency}");
        if self.0.insert(whose.clone(), sum).is_some() {
            return Err(format!("{whose} is told twice"));
        }
        Ok(())
    }
}

/// A decimal without trailing zeros, so that equal numbers are equal texts; `None` if it is no plain decimal.
fn plain(text: &str) -> Option<String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let trimmed = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
    Some(if trimmed == "-0" { "0".to_owned() } else { trimmed.to_owned() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ours(total: &str, unpriced: u64) -> Sums {
        let row = |basis: &str, total: &str| {
            json!({ "source": "focus:1", "billing_period": "2026-07", "basis": basis, "currency": "USD",
                    "charges_total": total, "unpriced": unpriced })
        };
        let rows = [row("billed", "10"), row("effective", total), row("list", "8.5"), row("marginal", "0")];
        Sums::of_check(&json!({ "rows": rows }).to_string()).unwrap()
    }

    fn theirs(effective: &str) -> Sums {
        let line = |name: u64| {
            json!({ "name": name, "payer": "1", "period": "2026-07", "currency": "USD", "billed": "10.000",
                    "effective": effective, "list": "8.50", "marginal": "0.0", "unpriced": "2" })
        };
        Sums::of_duckdb(&[line(0), line(1)], 1, "focus").unwrap()
    }

    #[test]
    fn equal_numbers_are_alike_however_they_are_written() {
        assert_eq!(ours("9.75", 2).differences(&theirs("9.7500000")).next(), None);
        assert_eq!(theirs("9.75").len(), 4);
        for (text, expect) in
            [("100", Some("100")), ("-0.00", Some("0")), ("-1.20", Some("-1.2")), ("1e-7", None), ("", None)]
        {
            assert_eq!(plain(text).as_deref(), expect, "for {text}");
        }
    }

    #[test]
    fn a_difference_shows_both_numbers() {
        let differences = |ours: Sums, theirs: &Sums| ours.differences(theirs).collect::<Vec<_>>();
        assert_eq!(
            differences(ours("9.750000000000000000000001", 2), &theirs("9.75")),
            ["focus:1 2026-07 effective USD: ours 9.750000000000000000000001, DuckDB 9.75"]
        );
        assert_eq!(
            differences(ours("9.75", 1), &theirs("9.75")),
            ["focus:1 2026-07 list USD: ours 8.5 and 1 unpriced, DuckDB 8.5 and 2 unpriced"]
        );
        let missing = differences(ours("9.75", 2), &Sums::default());
        assert_eq!(missing.len(), 4);
        assert_eq!(missing[0], "focus:1 2026-07 billed USD: ours 10, DuckDB nothing");
    }
}
