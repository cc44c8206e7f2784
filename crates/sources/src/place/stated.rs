//! Whether rows keep to the billing period that a manifest states for their file.

use std::collections::BTreeMap;

use arrow::array::AsArray;
use arrow::datatypes::Int32Type;
use ledger::BillingPeriod;

use crate::billing::{BillBatch, BillInput};

/// The billing periods that manifests state for the files of an input.
#[derive(Debug)]
pub struct StatedPeriods<'a> {
    by_file: BTreeMap<&'a str, BillingPeriod>,
}

impl<'a> StatedPeriods<'a> {
    /// Those of an input; none where there is no manifest.
    pub fn of(input: &'a BillInput) -> Self {
        let stated = |file: &'a crate::billing::BillFile| Some((file.name.as_str(), file.period?));
        Self { by_file: input.files.iter().filter_map(stated).collect() }
    }

    /// True if every row comes from a file of the batch's billing period, as far as manifests state one. A report
    /// without a column for it has rows, such as refunds, in the month of their usage.
    pub fn hold_in(&self, batch: &BillBatch) -> bool {
        let Some(files) = batch.batch.column_by_name("x_file").filter(|_| !self.by_file.is_empty()) else {
            return true;
        };
        let Some(files) = files.as_dictionary_opt::<Int32Type>() else { return false };
        let Some(names) = files.values().as_string_opt::<i32>() else { return false };
        names.iter().flatten().all(|name| self.by_file.get(name).is_none_or(|stated| *stated == batch.period))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, DictionaryArray};
    use arrow::record_batch::RecordBatch;

    use super::*;
    use crate::billing::{BillFile, FileFormat};

    fn input(files: &[(&str, Option<&str>)]) -> BillInput {
        let file = |(name, period): &(&str, Option<&str>)| BillFile {
            path: (*name).into(),
            name: (*name).to_owned(),
            bytes: 1,
            format: FileFormat::Csv,
            period: period.map(|period| period.parse().unwrap()),
        };
        BillInput { files: files.iter().map(file).collect(), warnings: Vec::new(), spool: None }
    }

    fn holds(files: &[(&str, Option<&str>)], rows: &[&str]) -> bool {
        let column: DictionaryArray<Int32Type> = rows.iter().copied().collect();
        let batch = RecordBatch::try_from_iter([("x_file", Arc::new(column) as ArrayRef)]).unwrap();
        let batch = BillBatch { payer: "1".to_owned(), period: "2026-07".parse().unwrap(), batch };
        StatedPeriods::of(&input(files)).hold_in(&batch)
    }

    #[test]
    fn a_row_from_the_file_of_another_month_is_seen() {
        let files = [("a", Some("2026-07")), ("b", Some("2026-08"))];
        assert!(holds(&files, &["a", "a"]));
        assert!(!holds(&files, &["a", "b", "a"]));
        assert!(holds(&[("a", None)], &["a"]), "nothing is stated");
    }
}
