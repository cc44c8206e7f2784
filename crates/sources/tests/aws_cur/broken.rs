//! Broken and hostile files: each has its code, none panics, and a single bad row is rejected alone.

use proptest::prelude::*;
use sources::billing::{BillLimits, BillOptions};

use super::support::{HEADER, gzip, hour, limited, read_csv, read_files, testdata};

fn code(files: &[(&str, &[u8])]) -> &'static str {
    match read_files(files) {
        Ok(_) => "read",
        Err(fault) => fault.code,
    }
}

fn small_bill() -> String {
    format!("{HEADER}\n{}\n", hour("Usage", "1", "a"))
}

#[test]
fn every_broken_file_has_its_code() {
    let golden = std::fs::read(testdata("golden_cur2_synthetic.parquet")).unwrap();
    let packed = gzip(small_bill().repeat(500).as_bytes());
    let mut flipped = packed.clone();
    flipped[20] ^= 0xff;
    let mut footer = golden.clone();
    let at = footer.len() - 8;
    footer[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(code(&[("bill.parquet", &golden)]), "read");
    assert_eq!(code(&[("bill.parquet", &golden[..golden.len() / 2])]), "bill::truncated_parquet");
    assert_eq!(code(&[("bill.parquet", b"PAR1")]), "bill::truncated_parquet");
    assert_eq!(code(&[("bill.parquet", &footer)]), "bill::bad_parquet");
    assert_eq!(code(&[("bill.csv.gz", &packed[..packed.len() / 2])]), "bill::truncated_gzip");
    assert_eq!(code(&[("bill.csv.gz", &packed[..packed.len() - 4])]), "bill::truncated_gzip");
    assert_eq!(code(&[("bill.csv.gz", &flipped)]), "bill::bad_gzip");
    assert_eq!(code(&[("bill.csv.gz", b"no gzip at all")]), "bill::bad_gzip");
    assert_eq!(code(&[("bill.csv", b"")]), "bill::empty_file");
    assert_eq!(code(&[("bill.csv", b"PK\x03\x04")]), "bill::unsupported_compression");
    assert_eq!(code(&[("readme.txt", b"hello")]), "bill::no_files");
    assert_eq!(code(&[("bill.json", b"{}")]), "bill::no_files");
    assert_eq!(code(&[("bill.csv", b"a,b\n1,2\n")]), "bill::missing_column");
}

#[test]
fn every_needed_column_is_missed_by_name() {
    let columns: Vec<&str> = HEADER.split(',').collect();
    for missing in &columns[..6] {
        let header = HEADER.replace(missing, "x");
        let fault = read_csv(&format!("{header}\n{}\n", hour("Usage", "1", "a"))).map(|_| ()).unwrap_err();
        assert_eq!(fault.code, "bill::missing_column");
        assert!(fault.message.contains(missing), "{} for {missing}", fault.message);
    }
}

#[test]
fn two_currencies_in_one_period_are_refused() {
    let other = hour("Usage", "1", "b").replace("USD", "NOK");
    let fault = read_csv(&format!("{}{other}\n", small_bill())).map(|_| ()).unwrap_err();
    assert_eq!(fault.code, "bill::mixed_currency");
    assert_eq!((fault.expected.as_deref(), fault.found.as_deref()), (Some("USD"), Some("NOK")));
    assert_eq!(fault.place.as_deref(), Some("bill.csv:2"));
}

#[test]
fn an_input_that_costs_too_much_is_refused() {
    let limits = BillLimits::default();
    let long = format!("{HEADER}\n{}\n", hour("Usage", "1", &"x".repeat(600_000)));
    assert_eq!(
        limited(BillLimits { row_bytes: 1000, ..limits }, "bill.csv", long.as_bytes()),
        "bill::too_large"
    );
    let open_quote = format!("{HEADER}\n\"{}", "x\n".repeat(400_000));
    assert_eq!(
        limited(BillLimits { row_bytes: 1000, ..limits }, "bill.csv", open_quote.as_bytes()),
        "bill::too_large"
    );
    let bomb = gzip(
        format!("{}{}", small_bill(), format!("{}\n", hour("Usage", "1", "a")).repeat(50_000)).as_bytes(),
    );
    let tight = BillLimits { unpack_ratio: 20, unpack_floor_bytes: 1 << 20, ..limits };
    assert_eq!(limited(tight, "bill.csv.gz", &bomb), "bill::too_large");
    assert_eq!(limited(limits, "bill.csv.gz", &bomb), "read");
    assert_eq!(
        limited(BillLimits { columns: 5, ..limits }, "bill.csv", small_bill().as_bytes()),
        "bill::too_large"
    );
    let golden = std::fs::read(testdata("golden_cur2_synthetic.parquet")).unwrap();
    assert_eq!(limited(BillLimits { columns: 5, ..limits }, "bill.parquet", &golden), "bill::too_large");
    assert_eq!(
        limited(BillLimits { periods: 0, ..limits }, "bill.csv", small_bill().as_bytes()),
        "bill::too_large"
    );
}

#[test]
fn a_bad_row_is_rejected_alone_and_its_cost_is_accounted_for() {
    let good = hour("Usage", "1", "a");
    let bad = [
        good.replace("2026-07-01T01:00:00Z", "yesterday"),
        good.replace("2026-07-01T01:00:00Z", "2026-06-01T01:00:00Z"),
        good.replace("2026-07-01T01:00:00Z", ""),
        hour("Usage", "one", "a"),
        hour("Usage", "", "a"),
        hour("Usage", "1e30", "a"),
        good.replace("USD", "$"),
        good.replace(",USD", ""),
    ];
    let mut bytes = format!("{HEADER}\n{good}\n{}\n", bad.join("\n")).into_bytes();
    bytes.extend_from_slice(&hour("Usage", "1", "\u{1}").replace('\u{1}', "?").into_bytes());
    let at = bytes.len() - 16;
    bytes[at] = 0xff;
    bytes.push(b'\n');
    let bill = read_files(&[("bill.csv", &bytes)]).unwrap();
    let codes: Vec<&str> = bill.summary.rejections.iter().map(|rejection| rejection.code).collect();
    assert_eq!(
        codes,
        [
            "row::not_a_time",
            "row::ends_before_start",
            "row::missing_value",
            "row::not_a_decimal",
            "row::missing_value",
            "row::out_of_range",
            "row::not_a_currency",
            "row::field_count",
            "row::not_utf8"
        ]
    );
    assert_eq!((bill.summary.accepted, bill.summary.rejected), (1, 9));
    let period = bill.period();
    assert_eq!(
        (period.billed_total.to_string(), period.rejected_total.to_string()),
        ("1".into(), "3".into())
    );
    assert_eq!(bill.summary.rejections[0].column.as_deref(), Some("line_item_usage_end_date"));
    assert_eq!((bill.summary.rejections[0].row, bill.summary.rejections[0].found.as_str()), (2, "yesterday"));
}

#[test]
fn rejections_are_all_counted_and_the_first_are_kept() {
    let rows = format!("{}\n", hour("Usage", "one", "a")).repeat(1000);
    let bill = read_csv(&format!("{HEADER}\n{rows}")).unwrap();
    assert_eq!(bill.summary.rejections.len(), BillLimits::default().rejections);
    assert_eq!(bill.summary.rejected_by_code["row::not_a_decimal"], 1000);
}

#[test]
fn a_fault_of_the_sink_ends_the_reading() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bill.csv"), small_bill()).unwrap();
    let input = super::support::open(folder.path()).unwrap();
    let fault = sources::billing::aws_cur::read(&input, &BillOptions::default(), &mut |_| {
        Err(sources::SourceError::new("store::full", "the disk is full"))
    });
    assert_eq!(fault.map(|_| ()).unwrap_err().code, "store::full");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), kind in 0_usize..5) {
        let name = ["bill.csv", "bill.csv.gz", "bill.parquet", "x-Manifest.json", "bill.csv"][kind];
        let mut content = if kind == 4 { format!("{HEADER}\n").into_bytes() } else { Vec::new() };
        content.extend_from_slice(&bytes);
        let _ = code(&[(name, &content)]);
    }

    #[test]
    fn no_damage_to_a_file_makes_the_reader_panic(
        hits in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..6), tail in any::<bool>(),
    ) {
        let mut bytes = std::fs::read(testdata("golden_cur2_synthetic.parquet")).unwrap();
        let length = bytes.len();
        for (at, value) in hits {
            // The footer is the last third of the file.
            let place = if tail { length - 1 - at % (length / 3) } else { at % length };
            bytes[place] = value;
        }
        let _ = code(&[("bill.parquet", &bytes)]);
    }
}
