//! A bill in Parquet gives the same batches whether its rows are read column by column, as those of one payer and month
//! are where their texts lie in dictionaries, or one by one, as all others are.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Float64Array, MapBuilder, StringArray, StringBuilder, TimestampMillisecondArray,
};
use arrow::record_batch::RecordBatch;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use sources::billing::{BillLimits, BillOptions, BillSummary, Unmapped, aws_cur};

use super::support::open;

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) ^ (self.0 >> 51)
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.draw().is_multiple_of(chances)
    }

    fn of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[usize::try_from(self.draw() % choices.len() as u64).unwrap()]
    }
}

/// A bill of so many rows; the seed decides which columns it has and what is in them.
#[derive(Debug, Clone, Copy)]
struct Drawn {
    seed: u64,
    rows: usize,
    /// Rows of one payer and month that follow one another.
    block: usize,
    /// The chance of a value that is odd, as one in so many.
    odd: u64,
}

const PAYERS: [&str; 3] = ["111111111111", "111111111111", "222222222222"];
const HOUR: i64 = 3_600_000;
const JULY: i64 = 1_782_864_000_000;
const MONTH: i64 = 31 * 24 * HOUR;

const TEXTS: [(&str, &[&str]); 13] = [
    (
        "line_item_line_item_type",
        &["Usage", "Usage", "Usage", "SavingsPlanCoveredUsage", "Tax", "DiscountedUsage", "New"],
    ),
    ("line_item_product_code", &["AmazonEC2", "AmazonEKS", "AmazonS3"]),
    (
        "line_item_usage_type",
        &[
            "BoxUsage:p4d.24xlarge",
            "UnusedBox:p5.48xlarge",
            "SpotUsage:g5.xlarge",
            "Reservation:p5.48xlarge",
            "EBS:VolumeUsage.gp3",
        ],
    ),
    ("line_item_operation", &["RunInstances", "RunInstances", "RunInstances:CB", "EKSPod-EC2", ""]),
    ("line_item_resource_id", &["i-1", "i-2", "vol-3", ""]),
    (
        "line_item_line_item_description",
        &["$1 per g5.xlarge Linux/UNIX Spot Instance-hour", "", "é \"quoted\""],
    ),
    ("product_instance_type", &["p4d.24xlarge", "", "g5.xlarge"]),
    ("product_region_code", &["us-east-1", "us-west-2"]),
    ("product_region", &["us-east-1", ""]),
    ("savings_plan_savings_plan_a_r_n", &["arn:sp/1", "", ""]),
    ("split_line_item_parent_resource_id", &["i-1", "", "", ""]),
    ("bill_invoice_id", &["", "77"]),
    ("pricing_term", &["OnDemand", "Spot", ""]),
];

/// Texts that are rare in a column: they make a row one that must be read by itself.
const ODD: [(&str, &[&str]); 5] = [
    ("line_item_line_item_type", &["EdpDiscount", "Refund", "Fee", "RIFee", "SavingsPlanRecurringFee", ""]),
    ("line_item_product_code", &["", "OCBPremiumSupport", "ComputeSavingsPlans"]),
    ("line_item_resource_id", &["cr-0123", "arn:aws:ec2:us-east-1:1:capacity-reservation/cr-9"]),
    ("line_item_usage_type", &["", "CapacityBlockFee:p5.48xlarge"]),
    ("product_region_code", &[""]),
];

const REQUIRED: [&str; 3] = ["line_item_line_item_type", "line_item_product_code", "line_item_usage_type"];

impl Drawn {
    fn texts(self, random: &mut Random, name: &str, usual: &[&str]) -> ArrayRef {
        let rare = ODD.iter().find(|(odd, _)| *odd == name).map_or(&[""][..], |(_, texts)| texts);
        let value = |_| {
            if random.one_in(self.odd * 4) {
                Some(random.of(rare))
            } else {
                (!random.one_in(self.odd * 2)).then(|| random.of(usual))
            }
        };
        Arc::new((0..self.rows).map(value).collect::<StringArray>())
    }

    fn costs(self, random: &mut Random, scale: f64) -> ArrayRef {
        let value = |_| match random.draw() % (self.odd * 8) {
            0 => Some(f64::NAN),
            1 => None,
            2 => Some(1.234_567_890_123_456_7e-12),
            3 => Some(-0.5),
            at if at.is_multiple_of(5) => Some(0.0),
            at => Some(f64::from(u32::try_from(at % 977).unwrap()) * scale / 64.0 + 0.1),
        };
        Arc::new((0..self.rows).map(value).collect::<Float64Array>())
    }

    fn times(self, of: impl FnMut(usize) -> Option<i64>) -> ArrayRef {
        Arc::new((0..self.rows).map(of).collect::<TimestampMillisecondArray>().with_timezone("UTC"))
    }

    fn maps(self, random: &mut Random, keys: &[&str], values: &[&str]) -> ArrayRef {
        let mut maps = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
        for _ in 0..self.rows {
            for key in keys.iter().take(usize::try_from(random.draw() % 3).unwrap()) {
                maps.keys().append_value(key);
                maps.values().append_value(random.of(values));
            }
            maps.append(!random.one_in(7)).unwrap();
        }
        Arc::new(maps.finish())
    }

    fn table(self) -> RecordBatch {
        let random = &mut Random(self.seed);
        let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
        for (name, usual) in TEXTS {
            if REQUIRED.contains(&name) || !random.one_in(4) {
                columns.push((name, self.texts(random, name, usual)));
            }
        }
        let of_block = |row: usize, others: u64| (self.seed / 3 + (row / self.block) as u64) % others;
        let payer = |row| Some(PAYERS[usize::try_from(of_block(row, 3)).unwrap()]);
        let currency = |row: usize| Some(if of_block(row, 3) == 2 { "EUR" } else { "USD" });
        let month = |row| JULY + i64::try_from(of_block(row, 2)).unwrap() * MONTH;
        let ids = (0..self.rows).map(|row| (row % 5 > 0).then(|| format!("id-{row}")));
        columns.extend([
            (
                "bill_payer_account_id",
                Arc::new((0..self.rows).map(payer).collect::<StringArray>()) as ArrayRef,
            ),
            ("line_item_currency_code", Arc::new((0..self.rows).map(currency).collect::<StringArray>())),
            ("identity_line_item_id", Arc::new(ids.collect::<StringArray>())),
            ("bill_billing_period_start_date", self.times(|row| Some(month(row)))),
        ]);
        let (odd, hours) = (self.odd * 40, random.draw());
        let start =
            |row: usize| month(row) + i64::try_from(hours % 600 + row as u64 / 9 % 60).unwrap() * HOUR;
        columns.push((
            "line_item_usage_start_date",
            self.times(|row| (!random.one_in(odd)).then(|| start(row))),
        ));
        let end =
            |row| (!random.one_in(odd)).then(|| start(row) + if random.one_in(odd) { -HOUR } else { HOUR });
        columns.push(("line_item_usage_end_date", self.times(end)));
        columns.push(("line_item_unblended_cost", self.costs(random, 1.0)));
        for (name, scale) in [
            ("pricing_public_on_demand_cost", 1.5),
            ("savings_plan_savings_plan_effective_cost", 0.5),
            ("line_item_usage_amount", 3.0),
            ("reservation_effective_cost", 0.25),
            ("split_line_item_split_cost", 0.1),
            ("line_item_net_unblended_cost", 0.9),
        ] {
            if !random.one_in(3) {
                columns.push((name, self.costs(random, scale)));
            }
        }
        columns
            .push(("resource_tags", self.maps(random, &["user_team", "user_experiment"], &["a", "é", ""])));
        if random.one_in(3) {
            columns.push((
                "product",
                self.maps(random, &["region", "instance_type"], &["eu-west-1", "m5.large"]),
            ));
        }
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
            .unwrap()
    }
}

/// The table as Parquet, in row groups of so many rows.
fn write(path: &std::path::Path, table: &RecordBatch, dictionaries: bool, group: usize) {
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(dictionaries)
        .set_max_row_group_row_count(Some(group))
        .build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, table.schema(), Some(properties)).unwrap();
    writer.write(table).unwrap();
    writer.close().unwrap();
}

type Batches = Vec<(String, String, RecordBatch)>;

fn read(
    table: &RecordBatch,
    (dictionaries, group): (bool, usize),
    options: &BillOptions,
) -> (Batches, BillSummary) {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("bill.parquet"), table, dictionaries, group);
    let mut batches = Vec::new();
    let summary = aws_cur::read(&open(folder.path()).unwrap(), options, &mut |batch| {
        batches.push((batch.payer, batch.period.to_string(), batch.batch));
        Ok(())
    });
    (batches, summary.unwrap())
}

/// Checks that columns give what rows give; the texts of the latter lie in no dictionary.
fn check(drawn: Drawn, group: usize, (batch_rows, open_text_bytes): (usize, usize)) {
    let table = drawn.table();
    let limits = BillLimits { batch_rows, open_text_bytes, ..BillLimits::default() };
    let unmapped = if drawn.seed.is_multiple_of(5) { Unmapped::Drop } else { Unmapped::Keep };
    let options = BillOptions { limits, unmapped, ..BillOptions::default() };
    let (rows, summary) = read(&table, (false, 1 << 20), &options);
    let (columns, other) = read(&table, (true, group), &options);
    assert_eq!(format!("{other:?}"), format!("{summary:?}"), "for {drawn:?}");
    assert_eq!(summary.accepted + summary.rejected, drawn.rows as u64);
    // Dictionaries are counted whole where little text may be open, so that batches may end elsewhere then.
    let whole = open_text_bytes < 1 << 20;
    let (columns, rows) = if whole { (joined(columns), joined(rows)) } else { (columns, rows) };
    assert_eq!(columns.len(), rows.len(), "batches for {drawn:?}");
    for (at, (columns, rows)) in columns.iter().zip(&rows).enumerate() {
        assert_eq!((&columns.0, &columns.1), (&rows.0, &rows.1), "batch {at} for {drawn:?}");
        let fields = columns.2.schema();
        for (field, (column, row)) in
            fields.fields().iter().zip(columns.2.columns().iter().zip(rows.2.columns()))
        {
            assert!(column == row, "`{}` of batch {at} for {drawn:?}:\n{column:?}\n{row:?}", field.name());
        }
    }
}

/// One batch of each payer and month.
fn joined(batches: Batches) -> Batches {
    let mut groups: std::collections::BTreeMap<(String, String), Vec<RecordBatch>> = Default::default();
    for (payer, period, batch) in batches {
        groups.entry((payer, period)).or_default().push(batch);
    }
    let join = |((payer, period), batches): ((String, String), Vec<RecordBatch>)| {
        (payer, period, arrow::compute::concat_batches(&sources::charges::schema(), &batches).unwrap())
    };
    groups.into_iter().map(join).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn columns_give_what_rows_give(
        (seed, rows, block, odd) in (0_u64..1 << 40, 1_usize..160, 1_usize..200, prop_oneof![Just(2_u64), Just(30), Just(4000)]),
        group in 1_usize..200, batch_rows in 1_usize..90, text in prop_oneof![Just(900_usize), Just(48 << 20)],
    ) {
        check(Drawn { seed, rows, block, odd }, group, (batch_rows, text));
    }
}

#[test]
fn long_bills_in_columns_give_what_rows_give() {
    for (seed, odd, group) in
        [(11, 100_000, 20_000), (12, 100_000, 5_000), (14, 300, 3_000), (21, 4_000, 20_000)]
    {
        check(Drawn { seed, rows: 12_000, block: 7_000, odd }, group, (8192, 48 << 20));
    }
}
