//! Writes the month twice: as the store's charges, and as plain CUR columns with double costs for the peers.

use std::fs::{File, create_dir_all};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Array, DictionaryArray, Float64Array, Int32Array, Int64Array, StringArray,
    TimestampMicrosecondArray, new_null_array,
};
use arrow::datatypes::{DataType, Int32Type};
use arrow::record_batch::RecordBatch;
use ledger::{Attempt, Binding};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use sources::charges::{COLUMNS, ColumnType};
use testkit::build::{HOUR, JULY};
use testkit::random::Random;

use crate::company::{BUCKETS, INSTANCES, OTHERS, TYPES, VOLUMES, attempts, instance, volume};

/// One row of every hour: resource, kind, usage type, price in 10⁻¹⁰, and the spread of the amount.
struct Line {
    resource: Option<u32>,
    kind: u32,
    usage: u32,
    price: i64,
    varies: bool,
}

const KINDS: [&str; 5] = ["compute", "disk", "transfer", "object_storage", "requests"];
const USAGES: [&str; 12] = [
    "BoxUsage",
    "DataTransfer-In-Bytes",
    "DataTransfer-Out-Bytes",
    "DataTransfer-Regional-Bytes",
    "USE1-USW2-AWS-Out-Bytes",
    "EBSOptimized",
    "EBS:VolumeUsage.gp3",
    "EBS:VolumeP-IOPS.gp3",
    "EBS:VolumeP-Throughput.gp3",
    "TimedStorage-ByteHrs",
    "Requests-Tier1",
    "Requests-Tier2",
];

fn lines() -> (Vec<Line>, Vec<String>) {
    let (mut lines, mut resources) = (Vec::new(), Vec::new());
    let mut push =
        |resource, kind, usage, price, varies| lines.push(Line { resource, kind, usage, price, varies });
    for index in 0..INSTANCES {
        let resource = Some(resources.len() as u32);
        resources.push(instance(index));
        push(resource, 0, 0, TYPES[index % 4].1, false);
        for (usage, price) in [(1, 0), (2, 900_000_000), (3, 100_000_000), (4, 200_000_000)] {
            push(resource, 2, usage, price, true);
        }
        push(resource, 1, 5, 0, false);
    }
    for index in 0..INSTANCES * VOLUMES {
        let resource = Some(resources.len() as u32);
        resources.push(volume(index));
        for (usage, price) in [(6, 800_000_000), (7, 50_000_000), (8, 4_096_000)] {
            push(resource, 1, usage, price, true);
        }
    }
    for index in 0..BUCKETS {
        let resource = Some(resources.len() as u32);
        resources.push(format!("ml-bucket-{index:04}-us-east-1"));
        for slot in 0..10 {
            push(resource, 3 + slot % 2, 9 + slot % 3, 230_000_000 >> slot, true);
        }
    }
    for _ in 0..OTHERS {
        push(None, 0, 0, 1_000_000_000, true);
    }
    (lines, resources)
}

/// Generates `hours` hours under `dir`.
pub(crate) fn generate(dir: &Path, hours: i64) {
    let (lines, resources) = lines();
    create_dir_all(dir.join("charges")).unwrap();
    create_dir_all(dir.join("plain")).unwrap();
    write_usage(dir, &attempts());
    let resources: ArrayRef = Arc::new(StringArray::from(resources));
    let mut random = Random(7);
    let (mut charges, mut plain): (Option<ArrowWriter<File>>, Option<ArrowWriter<File>>) = (None, None);
    for hour in 0..hours {
        let (canonical, raw) = hour_batches(&lines, &resources, hour, &mut random);
        let part = hour / 150;
        if hour % 150 == 0 {
            for writer in [charges.take(), plain.take()].into_iter().flatten() {
                writer.close().unwrap();
            }
            charges = Some(writer(&dir.join(format!("charges/part-{part:05}.parquet")), &canonical));
            plain = Some(writer(&dir.join(format!("plain/part-{part:05}.parquet")), &raw));
        }
        charges.as_mut().unwrap().write(&canonical).unwrap();
        plain.as_mut().unwrap().write(&raw).unwrap();
    }
    for writer in [charges, plain].into_iter().flatten() {
        writer.close().unwrap();
    }
    println!("{{\"rows\": {}}}", lines.len() as i64 * hours);
}

fn writer(path: &Path, batch: &RecordBatch) -> ArrowWriter<File> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap()))
        .set_max_row_group_row_count(Some(1 << 20))
        .build();
    ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap()
}

fn hour_batches(
    lines: &[Line],
    resources: &ArrayRef,
    hour: i64,
    random: &mut Random,
) -> (RecordBatch, RecordBatch) {
    let mut order: Vec<usize> = (0..lines.len()).collect();
    for index in (1..order.len()).rev() {
        order.swap(index, random.below(index as u64 + 1) as usize);
    }
    let lines: Vec<&Line> = order.into_iter().map(|index| &lines[index]).collect();
    // Costs are whole numbers of 10⁻¹⁰, as bills print them.
    let costs: Vec<i64> = lines
        .iter()
        .map(
            |line| {
                if line.varies { line.price / 1000 * (400 + random.below(1200) as i64) } else { line.price }
            },
        )
        .collect();
    let start = JULY + hour * HOUR;
    let dictionary = |keys: Vec<Option<u32>>, values: ArrayRef| -> ArrayRef {
        let keys: Int32Array = keys.into_iter().map(|key| key.map(u32::cast_signed)).collect();
        Arc::new(DictionaryArray::<Int32Type>::try_new(keys, values).unwrap())
    };
    let texts = |values: &[&str]| -> ArrayRef { Arc::new(StringArray::from(values.to_vec())) };
    let resource = dictionary(lines.iter().map(|line| line.resource).collect(), Arc::clone(resources));
    let kind = dictionary(lines.iter().map(|line| Some(line.kind)).collect(), texts(&KINDS));
    let usage = dictionary(lines.iter().map(|line| Some(line.usage)).collect(), texts(&USAGES));
    let rows = lines.len();
    let columns = COLUMNS.iter().map(|column| -> ArrayRef {
        match (column.name, column.kind) {
            ("resource_id", _) => Arc::clone(&resource),
            ("x_resource_kind", _) => Arc::clone(&kind),
            ("x_usage_type", _) => Arc::clone(&usage),
            (name, ColumnType::Text) => match constant(name) {
                Some(text) => dictionary(vec![Some(0); rows], texts(&[text])),
                None => new_null_array(&sources::charges::text_type(), rows),
            },
            ("billed_cost" | "effective_cost" | "list_cost" | "x_marginal_cost", _) => {
                let units = costs.iter().map(|cost| i128::from(*cost) * 100_000_000_000_000);
                Arc::new(Decimal128Array::from_iter_values(units).with_precision_and_scale(38, 24).unwrap())
            }
            (_, ColumnType::Money) => new_null_array(&sources::charges::MONEY, rows),
            (_, ColumnType::Quantity) => new_null_array(&DataType::Float64, rows),
            (name, ColumnType::Instant) => instants(name, start, rows),
            (_, ColumnType::Row) => {
                let first = hour * rows as i64 + 1;
                Arc::new(Int64Array::from_iter_values(first..first + rows as i64))
            }
        }
    });
    let canonical = RecordBatch::try_new(sources::charges::schema(), columns.collect()).unwrap();
    let doubles = Float64Array::from_iter_values(costs.iter().map(|cost| *cost as f64 / 1e10));
    let plain: Vec<(&str, ArrayRef)> = vec![
        ("line_item_resource_id", resource),
        ("kind", kind),
        ("line_item_usage_type", usage),
        ("line_item_usage_start_date", instants("charge_period_start", start, rows)),
        ("line_item_usage_end_date", instants("charge_period_end", start, rows)),
        ("line_item_unblended_cost", Arc::new(doubles)),
    ];
    (
        canonical,
        RecordBatch::try_from_iter_with_nullable(plain.into_iter().map(|(n, a)| (n, a, true))).unwrap(),
    )
}

fn constant(name: &str) -> Option<&'static str> {
    match name {
        "x_file" => Some("bench.parquet"),
        "billing_account_id" => Some("111122223300"),
        "sub_account_id" => Some("111122223333"),
        "billing_currency" => Some("USD"),
        "charge_category" | "x_line_type" => Some("Usage"),
        "provider_name" => Some("AWS"),
        "service_name" => Some("AmazonEC2"),
        "x_split_role" => Some("none"),
        "x_class" => Some("usage"),
        _ => None,
    }
}

fn instants(name: &str, start: i64, rows: usize) -> ArrayRef {
    let at = match name {
        "charge_period_end" => start + HOUR,
        "billing_period_start" => JULY,
        "billing_period_end" => JULY + crate::company::MONTH * HOUR,
        _ => start,
    };
    Arc::new(TimestampMicrosecondArray::from_iter_values(std::iter::repeat_n(at, rows)).with_timezone("UTC"))
}

/// The attempts' holdings, attempt by attempt in the order of their ids.
pub(crate) fn write_usage(dir: &Path, attempts: &[Attempt]) {
    let held: Vec<(i32, &Attempt, &Binding)> = attempts
        .iter()
        .zip(0..)
        .flat_map(|(attempt, number)| attempt.bindings.iter().map(move |binding| (number, attempt, binding)))
        .collect();
    let numbers = |of: fn(&(i32, &Attempt, &Binding)) -> i32| -> ArrayRef {
        Arc::new(held.iter().map(of).collect::<Int32Array>())
    };
    let stamps = |of: fn(&Binding) -> i64| -> ArrayRef {
        let stamps = TimestampMicrosecondArray::from_iter_values(held.iter().map(|(_, _, held)| of(held)));
        Arc::new(stamps.with_timezone("UTC"))
    };
    let keys = held.iter().map(|(_, attempt, _)| &attempt.canonical_key);
    let resources = held.iter().map(|(_, _, binding)| binding.resource_id.as_deref());
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("attempt_id", numbers(|(number, _, _)| *number)),
        ("attempt_key", Arc::new(StringArray::from_iter_values(keys))),
        ("experiment_id", numbers(|(_, attempt, _)| attempt.link.experiment.0[4..].parse().unwrap())),
        ("resource_id", Arc::new(resources.collect::<StringArray>())),
        ("start", stamps(|binding| binding.start.0)),
        ("end", stamps(|binding| binding.end.unwrap().0)),
        ("gpus", numbers(|(_, _, binding)| (binding.weight / 1000) as i32)),
        ("capacity", numbers(|(_, _, binding)| (binding.capacity.unwrap() / 1000) as i32)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = writer(&dir.join("usage.parquet"), &batch);
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}
