//! Reading runs in threads of its own: what comes out is the same whether the sink is slower or faster than they are.

use arrow::record_batch::RecordBatch;
use sources::SourceError;
use sources::billing::{BillLimits, BillOptions, BillSummary, aws_cur};

use super::support::{HEADER, gzip, hour, open};

/// Rows of two months and some that cannot be read, in two files; the second is packed.
fn write_bill(folder: &std::path::Path) {
    let row = |at: usize| match at % 97 {
        13 => hour("Usage", "one", "bad"),
        29 => "too,few".to_owned(),
        _ if at.is_multiple_of(2) => hour("Usage", &format!("{at}.25"), &format!("id-{at}")),
        _ => hour("Tax", "0.1", "t").replace("2026-07", "2026-08"),
    };
    let text = |rows: std::ops::Range<usize>| {
        format!("{HEADER}\n{}\n", rows.map(row).collect::<Vec<_>>().join("\n"))
    };
    std::fs::write(folder.join("a.csv"), text(0..5000)).unwrap();
    std::fs::write(folder.join("b.csv.gz"), gzip(text(5000..9000).as_bytes())).unwrap();
}

fn read(
    folder: &std::path::Path,
    mut sink: impl FnMut(usize) -> Result<(), SourceError>,
) -> (Vec<(String, RecordBatch)>, Result<BillSummary, SourceError>) {
    let limits = BillLimits { batch_rows: 700, ..BillLimits::default() };
    let options = BillOptions { limits, ..BillOptions::default() };
    let mut batches = Vec::new();
    let summary = aws_cur::read(&open(folder).unwrap(), &options, &mut |batch| {
        sink(batches.len())?;
        batches.push((batch.period.to_string(), batch.batch));
        Ok(())
    });
    (batches, summary)
}

#[test]
fn batches_do_not_depend_on_the_pace_of_the_sink() {
    let folder = tempfile::tempdir().unwrap();
    write_bill(folder.path());
    let (batches, summary) = read(folder.path(), |_| Ok(()));
    let summary = summary.unwrap();
    assert_eq!((summary.rows, summary.rejected), (9000, 186));
    assert_eq!(batches.iter().map(|(_, batch)| batch.num_rows()).sum::<usize>(), 8814);
    for _ in 0..5 {
        let (again, second) = read(folder.path(), |at| {
            (0..at * 1000).for_each(|_| std::thread::yield_now());
            Ok(())
        });
        let second = second.unwrap();
        assert!(again == batches, "the batches differ");
        assert_eq!(second.rejections, summary.rejections);
        assert_eq!(second.periods, summary.periods);
    }
    let places: Vec<(&str, u64)> =
        summary.rejections.iter().map(|rejection| (rejection.file.as_str(), rejection.row)).collect();
    assert!(places.is_sorted(), "rejections come in the order of the rows");
}

#[test]
fn a_sink_that_refuses_ends_the_reading_with_its_own_error() {
    let folder = tempfile::tempdir().unwrap();
    write_bill(folder.path());
    for last in [0, 3] {
        let (batches, summary) = read(folder.path(), |at| match at {
            at if at == last => Err(SourceError::new("store::write", "the disk is full")),
            _ => Ok(()),
        });
        assert_eq!(batches.len(), last);
        assert_eq!(summary.map(|_| ()).unwrap_err().code, "store::write");
    }
}
