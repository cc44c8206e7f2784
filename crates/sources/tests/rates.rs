//! Lists of exchange rates: both forms, what is refused with its place, and that no row is lost.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;
use std::path::Path;

use proptest::prelude::*;
use sources::SourceError;
use sources::prices::rates::{PriceLimits, RateList, RateOptions, read};

fn testdata(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/rates").join(name)).unwrap()
}

fn list(bytes: &[u8]) -> Result<RateList, SourceError> {
    let list = read(bytes, &RateOptions::new("list"))?;
    let usable = list.rates.iter().filter(|rate| rate.rate.is_some()).count() as u64;
    assert_eq!(
        list.rows,
        usable + list.passed_over + list.rejected,
        "usable + passed over + rejected = rows"
    );
    Ok(list)
}

fn shown(list: &RateList) -> String {
    let mut text = String::new();
    for rate in &list.rates {
        let told = rate.rate.map_or_else(|| "unusable".to_owned(), |rate| rate.to_string());
        writeln!(text, "{} {}/{} {told}", rate.day, rate.from, rate.to).unwrap();
    }
    for one in &list.rejections {
        let column = one.column.as_deref().unwrap_or("-");
        writeln!(
            text,
            "{}:{} {} {column}: `{}`, expected {}",
            one.file, one.row, one.code, one.found, one.expected
        )
        .unwrap();
    }
    writeln!(text, "passed over: {}", list.passed_over).unwrap();
    for warning in &list.warnings {
        writeln!(text, "{}: {}", warning.code, warning.message).unwrap();
    }
    text
}

#[test]
fn the_reference_rates_are_what_one_euro_was_worth() {
    let list = list(&testdata("eurofxref-hist.csv")).unwrap();
    assert!(list.is_reference);
    assert_eq!(list.base.unwrap().code(), "EUR");
    assert_eq!(
        (list.rows, list.rejected, list.passed_over),
        (16, 0, 5),
        "a currency that is no more, and one cell"
    );
    let dollars: Vec<String> =
        shown(&list).lines().filter(|line| line.contains("USD")).map(str::to_owned).collect();
    let expected = [
        "2026-10-01 EUR/USD 1.0812",
        "2026-10-02 EUR/USD 1.0837",
        "2026-10-05 EUR/USD 1.085",
        "2026-10-06 EUR/USD 1.079",
    ];
    assert_eq!(dollars, expected);
}

#[test]
fn a_table_of_ones_own_is_read_by_the_names_of_its_columns() {
    let list = list(&testdata("own.csv")).unwrap();
    assert!(!list.is_reference);
    let expected = "\
2026-10-01 EUR/JPY 161.9
2026-10-01 EUR/USD 1.0812
2026-10-02 EUR/USD 1.0837
passed over: 1
rates::unknown_column: not read in list, since no such column is known: note
";
    assert_eq!(shown(&list), expected);
}

#[test]
fn every_broken_rate_has_its_place_and_leaves_a_day_that_is_not_passed_over() {
    let list = list(&testdata("broken.csv")).unwrap();
    let rate = "a decimal above 0 with at most 18 digits, such as 1.0837";
    let expected = format!(
        "\
2026-10-01 EUR/USD unusable
2026-10-02 EUR/USD unusable
2026-10-03 EUR/USD unusable
2026-10-04 EUR/USD unusable
2026-10-09 EUR/USD unusable
2026-10-10 EUR/USD unusable
list:1 row::not_a_rate rate: `0`, expected {rate}
list:2 row::not_a_rate rate: `-1.0837`, expected {rate}
list:3 row::not_a_rate rate: `1,0837`, expected {rate}
list:4 row::contradicting_rate rate: `1.0837`, expected one rate of a day and pair: row 5 has 1.0838
list:5 row::contradicting_rate rate: `1.0838`, expected one rate of a day and pair: row 4 has 1.0837
list:6 row::contradicting_rate rate: `1.0837`, expected one rate of a day and pair: another row has one that cannot be used
list:7 row::same_currency to: `EUR`, expected another currency than `from`
list:8 row::not_a_currency from: `EURO`, expected a code of three letters
list:9 row::not_a_day date: `01/10/2026`, expected a day such as 2026-10-01
list:10 row::wrong_number_of_fields : `3 fields`, expected 4 fields, as the header has
list:12 row::contradicting_rate rate: `1.079`, expected one rate of a day and pair: another row has one that cannot be used
list:13 row::not_a_rate rate: `none`, expected {rate}
list:14 row::not_a_rate rate: `1.0000000000000000001`, expected {rate}
passed over: 1
"
    );
    assert_eq!(shown(&list), expected);
}

#[test]
fn a_list_of_two_currencies_has_no_base() {
    let text = "date,from,to,rate\n2026-10-01,EUR,USD,1.08\n2026-10-01,GBP,USD,1.26\n";
    assert_eq!(list(text.as_bytes()).unwrap().base, None);
}

#[test]
fn what_is_no_list_of_rates_is_refused() {
    let code = |text: &str| list(text.as_bytes()).unwrap_err().code;
    assert_eq!(code(""), "rates::missing_column");
    assert_eq!(code("date,from,to\n"), "rates::missing_column");
    assert_eq!(code("date,from,to,rate,Value\n"), "rates::column_twice");
    assert_eq!(code("Date,USD,usd\n"), "rates::column_twice");
    assert_eq!(code("Date,USD,dollars\n"), "rates::missing_column");
    assert_eq!(code("date,from,to,rate\n"), "rates::no_rates");
    let limits = PriceLimits { prices: 1, ..PriceLimits::default() };
    let few = RateOptions { limits, ..RateOptions::new("list") };
    let text = "Date,USD,JPY\n2026-10-01,1.08,160\n";
    assert_eq!(read(text.as_bytes(), &few).unwrap_err().code, "rates::too_many");
    let limits = PriceLimits { record_bytes: 10, file_bytes: 1 << 17, ..PriceLimits::default() };
    let small = RateOptions { limits, ..RateOptions::new("list") };
    let endless = std::io::Read::chain("Date,USD\n\"".as_bytes(), std::io::repeat(b'x'));
    assert_eq!(read(endless, &small).unwrap_err().code, "prices::too_large");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = list(&bytes);
        let _ = list(&[b"date,from,to,rate\n".as_slice(), &bytes].concat());
        let _ = list(&[b"Date,USD,JPY,\n".as_slice(), &bytes].concat());
    }

    #[test]
    fn the_order_of_rows_does_not_matter(mut rows in proptest::collection::vec((1_u32..5, 1_u32..4), 1..12)) {
        let text = |rows: &[(u32, u32)]| {
            rows.iter().fold("date,from,to,rate\n".to_owned(), |text, (day, rate)| {
                format!("{text}2026-10-0{day},EUR,USD,1.{rate}\n")
            })
        };
        let one = list(text(&rows).as_bytes()).unwrap();
        rows.reverse();
        prop_assert_eq!(one.rates, list(text(&rows).as_bytes()).unwrap().rates);
    }
}
