//! Writes hours of a cost and usage report twice: as CUR 2.0 in Parquet, and in the legacy naming as CSV under gzip.
//!
//! 2,000 instances with eight volumes each, 500 buckets and other rows: 67,200 rows an hour, in an order of their own,
//! each with an id of its own, on 26 columns with values and 95 without any.

use std::fs::{File, create_dir_all};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Float64Array, MapBuilder, StringArray, StringBuilder, TimestampMillisecondArray,
};
use arrow::record_batch::RecordBatch;
use flate2::Compression as GzipLevel;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use testkit::random::Random;

/// One row of every hour.
struct Line {
    resource: String,
    product: &'static str,
    usage: String,
    operation: &'static str,
    instance_type: &'static str,
    rate: f64,
    /// Mean amount; `None` is one hour, which does not vary.
    amount: Option<f64>,
    owner: u64,
}

const TYPES: [(&str, f64); 4] =
    [("p4d.24xlarge", 32.7726), ("p5.48xlarge", 98.32), ("g5.48xlarge", 16.288), ("g6.12xlarge", 4.6016)];

const START: i64 = 1_782_864_000_000;
const HOUR: i64 = 3_600_000;
const HOURS_OF_A_FILE: i64 = 30;
const HOURS_OF_A_GROUP: i64 = 15;

const TEXTS: [&str; 18] = [
    "identity_line_item_id",
    "identity_time_interval",
    "bill_payer_account_id",
    "bill_billing_entity",
    "bill_bill_type",
    "bill_invoice_id",
    "line_item_usage_account_id",
    "line_item_line_item_type",
    "line_item_product_code",
    "line_item_usage_type",
    "line_item_operation",
    "line_item_resource_id",
    "line_item_unblended_rate",
    "line_item_currency_code",
    "pricing_term",
    "pricing_unit",
    "product_instance_type",
    "product_region_code",
];
const TIMES: [&str; 3] =
    ["bill_billing_period_start_date", "line_item_usage_start_date", "line_item_usage_end_date"];
const NUMBERS: [&str; 5] = [
    "line_item_usage_amount",
    "line_item_unblended_cost",
    "pricing_public_on_demand_cost",
    "savings_plan_savings_plan_effective_cost",
    "reservation_effective_cost",
];
const TAGS: [&str; 3] = ["user:team", "user:experiment", "user:env"];
const EMPTY: usize = 95;

fn lines() -> Vec<Line> {
    let mut lines = Vec::new();
    let mut push = |resource: &str, (product, usage, operation), instance_type, (rate, amount), owner| {
        let usage: String = usage;
        lines.push(Line {
            resource: resource.to_owned(),
            product,
            usage,
            operation,
            instance_type,
            rate,
            amount,
            owner,
        });
    };
    for index in 0..2_000_u64 {
        let (kind, rate) = TYPES[usize::try_from(index % 4).unwrap()];
        let id = format!("i-{:017x}", Random(index).draw() >> 2);
        push(&id, ("AmazonEC2", format!("BoxUsage:{kind}"), "RunInstances"), kind, (rate, None), index);
        push(&id, ("AmazonEC2", format!("EBSOptimized:{kind}"), "RunInstances"), kind, (0.0, None), index);
        for (usage, rate, amount) in [
            ("DataTransfer-In-Bytes", 0.0, 3.1),
            ("DataTransfer-Out-Bytes", 0.09, 0.8),
            ("DataTransfer-Regional-Bytes", 0.01, 12.0),
            ("USE1-USW2-AWS-Out-Bytes", 0.02, 0.3),
        ] {
            push(&id, ("AmazonEC2", usage.to_owned(), "RunInstances"), kind, (rate, Some(amount)), index);
        }
        for volume in 0..8 {
            let id = format!("vol-{:017x}", Random(1_000_000 + index * 8 + volume).draw() >> 2);
            for (usage, rate, amount) in [
                ("EBS:VolumeUsage.gp3", 0.08, 0.67),
                ("EBS:VolumeP-IOPS.gp3", 0.005, 4.0),
                ("EBS:VolumeP-Throughput.gp3", 40.96, 0.0004),
            ] {
                push(
                    &id,
                    ("AmazonEC2", usage.to_owned(), "CreateVolume-Gp3"),
                    "",
                    (rate, Some(amount)),
                    index,
                );
            }
        }
    }
    for index in 0..500 {
        let id = format!("ml-bucket-{index:04}-us-east-1");
        for (slot, operation) in ["PutObject", "ListBucket", "GetObject", "HeadObject", "StandardStorage"]
            .into_iter()
            .flat_map(|operation| [(0, operation), (1, operation)])
        {
            let usage = ["Requests-Tier1", "TimedStorage-ByteHrs"][slot].to_owned();
            push(&id, ("AmazonS3", usage, operation), "", ([5e-6, 0.023][slot], Some(300.0)), 2_000 + index);
        }
    }
    for index in 0..2_200 {
        let usage = ["USE1-AmazonEKS-Hours:perCluster", "CW:MetricMonitorUsage"];
        let at = usize::try_from(index % 2).unwrap();
        let arn = format!("arn:aws:eks:us-east-1:111122223333:cluster/c{index}");
        let product = (["AmazonEKS", "AmazonCloudWatch"][at], usage[at].to_owned(), "CreateOperation");
        push([arn.as_str(), ""][at], product, "", (0.1, None), 2_500 + index % 50);
    }
    lines
}

/// The values of one row, by the lists of columns above.
struct Row {
    texts: [String; TEXTS.len()],
    times: [i64; TIMES.len()],
    numbers: [f64; NUMBERS.len()],
    tags: Option<[String; TAGS.len()]>,
}

fn row(line: &Line, hour: i64, random: &mut Random) -> Row {
    let id: String =
        (0..26).map(|_| char::from(b"abcdefghijklmnopqrstuvwxyz234567"[letter(random)])).collect();
    // Amounts of eight digits after the point and costs of ten, as the provider writes them.
    let digits = |value: f64, power: f64| (value * power).round() / power;
    let spread = f64::from(u32::try_from(random.below(2_000)).unwrap()) / 1_000.0;
    let amount = line.amount.map_or(1.0, |mean| digits(mean * spread, 1e8));
    let cost = digits(amount * line.rate, 1e10);
    let covered = random.below(5) == 0;
    let line_type = if covered { "SavingsPlanCoveredUsage" } else { "Usage" };
    let text = |text: &str| text.to_owned();
    Row {
        texts: [
            id,
            format!("{hour:04}/PT1H"),
            text("111122223300"),
            text("AWS"),
            text("Anniversary"),
            String::new(),
            format!("11112222330{}", line.owner % 8),
            text(line_type),
            text(line.product),
            line.usage.clone(),
            text(line.operation),
            line.resource.clone(),
            line.rate.to_string(),
            text("USD"),
            text("OnDemand"),
            text("Hrs"),
            text(line.instance_type),
            text("us-east-1"),
        ],
        times: [START, START + hour * HOUR, START + (hour + 1) * HOUR],
        numbers: [
            amount,
            cost,
            digits(cost * 1.1, 1e10),
            if covered { digits(cost * 0.72, 1e10) } else { 0.0 },
            0.0,
        ],
        tags: (!line.owner.is_multiple_of(11)).then(|| {
            let env = if line.owner.is_multiple_of(3) { "dev" } else { "train" };
            [format!("team-{}", line.owner % 37), format!("exp-{}", line.owner % 900), text(env)]
        }),
    }
}

fn letter(random: &mut Random) -> usize {
    usize::try_from(random.below(32)).unwrap()
}

/// Generates `hours` hours: `parquet/` and `cur.csv.gz` in a folder.
pub(crate) fn generate(folder: &Path, hours: i64) {
    create_dir_all(folder.join("parquet")).unwrap();
    let mut lines = lines();
    let mut random = Random(7);
    let packed = BufWriter::new(File::create(folder.join("cur.csv.gz")).unwrap());
    let mut csv = GzEncoder::new(packed, GzipLevel::default());
    write_header(&mut csv);
    let mut tables: Option<ArrowWriter<File>> = None;
    for hour in 0..hours {
        for at in (1..lines.len()).rev() {
            lines.swap(at, usize::try_from(random.below(at as u64 + 1)).unwrap());
        }
        let rows: Vec<Row> = lines.iter().map(|line| row(line, hour, &mut random)).collect();
        rows.iter().for_each(|row| write_csv(&mut csv, row));
        let batch = batch(&rows);
        if hour % HOURS_OF_A_FILE == 0 {
            tables.take().map(|writer| writer.close().unwrap());
            let file =
                File::create(folder.join(format!("parquet/cur-{:05}.parquet", hour / HOURS_OF_A_FILE)));
            let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
            tables = Some(ArrowWriter::try_new(file.unwrap(), batch.schema(), Some(properties)).unwrap());
        }
        let writer = tables.as_mut().unwrap();
        writer.write(&batch).unwrap();
        if (hour + 1) % HOURS_OF_A_GROUP == 0 {
            writer.flush().unwrap();
        }
    }
    tables.map(|writer| writer.close().unwrap());
    csv.finish().unwrap().flush().unwrap();
}

/// A column's name in the legacy report.
fn legacy(name: &str) -> String {
    let families = [
        ("identity_", "identity/"),
        ("bill_", "bill/"),
        ("line_item_", "lineItem/"),
        ("pricing_", "pricing/"),
        ("product_", "product/"),
        ("savings_plan_", "savingsPlan/"),
        ("reservation_", "reservation/"),
    ];
    let found =
        families.iter().find_map(|(from, to)| name.strip_prefix(from).map(|rest| format!("{to}{rest}")));
    found.unwrap_or_else(|| name.to_owned())
}

fn empty() -> impl Iterator<Item = String> {
    (0..EMPTY).map(|index| format!("product_attribute_{index}"))
}

fn write_header(csv: &mut impl Write) {
    let known = TEXTS.iter().chain(&TIMES).chain(&NUMBERS).map(|name| legacy(name));
    let tags = TAGS.iter().map(|tag| format!("resourceTags/{tag}"));
    let names: Vec<String> = known.chain(empty().map(|name| legacy(&name))).chain(tags).collect();
    writeln!(csv, "{}", names.join(",")).unwrap();
}

fn write_csv(csv: &mut impl Write, row: &Row) {
    let times = row.times.map(|millis| ledger::Timestamp(millis * 1_000).to_string());
    let numbers = row.numbers.map(|number| format!("{number:.10}"));
    let tags = row.tags.clone().unwrap_or_default();
    let empty = ",".repeat(EMPTY);
    let [texts, times, numbers, tags] =
        [row.texts.join(","), times.join(","), numbers.join(","), tags.join(",")];
    writeln!(csv, "{texts},{times},{numbers}{empty},{tags}").unwrap();
}

fn batch(rows: &[Row]) -> RecordBatch {
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for (at, name) in TEXTS.iter().enumerate() {
        let value = |row: &Row| (!row.texts[at].is_empty()).then(|| row.texts[at].clone());
        columns.push(((*name).to_owned(), Arc::new(rows.iter().map(value).collect::<StringArray>())));
    }
    for (at, name) in TIMES.iter().enumerate() {
        let values = TimestampMillisecondArray::from_iter_values(rows.iter().map(|row| row.times[at]));
        columns.push(((*name).to_owned(), Arc::new(values.with_timezone("UTC"))));
    }
    for (at, name) in NUMBERS.iter().enumerate() {
        let values = Float64Array::from_iter_values(rows.iter().map(|row| row.numbers[at]));
        columns.push(((*name).to_owned(), Arc::new(values)));
    }
    let mut tags = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    for row in rows {
        for (key, value) in TAGS.iter().zip(row.tags.iter().flatten()) {
            tags.keys().append_value(key);
            tags.values().append_value(value);
        }
        tags.append(true).unwrap();
    }
    columns.push(("resource_tags".to_owned(), Arc::new(tags.finish())));
    let nothing: ArrayRef = Arc::new(StringArray::new_null(rows.len()));
    columns.extend(empty().map(|name| (name, Arc::clone(&nothing))));
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}
