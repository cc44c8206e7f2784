//! Runs the operator, or merely decodes the same columns, and says what it took.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{AsArray, Int32Array};
use arrow::datatypes::{DataType, Field, Int32Type, Schema, TimestampMicrosecondType};
use costing::attribution::{AttributionPlan, Place, PlanBuilder, TagKeys};
use engine::{Charges, Limits, Measures, Run, attribute};
use ledger::Attempt;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use testkit::build::{HOUR, JULY, attempt, holding};
use testkit::measure::report;

use crate::company::MONTH;

/// How text columns are decoded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strings {
    /// To plain UTF-8.
    Plain,
    /// Dictionaries kept.
    Dictionary,
}

const THREADS: usize = 2;

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(dir.join("charges")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The build side, read from the holdings attempt by attempt, and the file's number of each attempt in it.
fn plan(dir: &Path, keys: TagKeys) -> (AttributionPlan, Vec<i32>) {
    let file = File::open(dir.join("usage.parquet")).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let reader = reader.with_batch_size(16 * 1024).build().unwrap();
    let mut builder = PlanBuilder::new(keys, JULY + MONTH * HOUR);
    let (mut numbers, mut open): (Vec<i32>, Option<Attempt>) = (Vec::new(), None);
    for batch in reader {
        let batch = batch.unwrap();
        let ints = |name: &str| batch.column_by_name(name).unwrap().as_primitive::<Int32Type>();
        let texts = |name: &str| batch.column_by_name(name).unwrap().as_string::<i32>();
        let times =
            |name: &str| batch.column_by_name(name).unwrap().as_primitive::<TimestampMicrosecondType>();
        let (attempts, experiments, keys) = (ints("attempt_id"), ints("experiment_id"), texts("attempt_key"));
        let (resources, starts, ends) = (texts("resource_id"), times("start"), times("end"));
        let (gpus, capacities) = (ints("gpus"), ints("capacity"));
        for row in 0..batch.num_rows() {
            if numbers.last() != Some(&attempts.value(row)) {
                numbers.push(attempts.value(row));
                let next = attempt(keys.value(row), &format!("exp-{}", experiments.value(row)), (0, 1));
                if let Some(whole) = open.replace(next) {
                    builder.add(&whole).unwrap();
                }
            }
            let units = |of: &Int32Array| u64::try_from(of.value(row)).unwrap();
            let interval = (starts.value(row), ends.value(row));
            let held = holding(resources.value(row), interval, units(gpus), units(capacities));
            open.as_mut().unwrap().bindings.push(held);
        }
    }
    builder.add(&open.unwrap()).unwrap();
    (builder.finish(&[]), numbers)
}

/// Attributes the month; also writes what each attempt got by kind, for the check against the peers.
pub(crate) fn ours(dir: &Path, measures: Measures, keys: TagKeys) {
    let (plan, numbers) = plan(dir, keys);
    let plan = Arc::new(plan);
    let limits = Limits { threads: THREADS, memory_bytes: 512 << 20 };
    let run = Run { files: files(dir), plan, charges: Charges::All, measures, limits };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).build().unwrap();
    let attributed = runtime.block_on(attribute(run)).unwrap();
    let mut sums: BTreeMap<(i32, &str), i128> = BTreeMap::new();
    let (mut total, mut groups) = (0, 0_u64);
    for group in attributed.groups() {
        total += group.units[0];
        groups += 1;
        if let Place::Attempt { index, .. } = group.landing.place() {
            *sums.entry((numbers[index as usize], group.resource_kind.word())).or_default() += group.units[0];
        }
    }
    let told = [
        ("rows", attributed.witness.rows.to_string()),
        ("attributed", sums.values().sum::<i128>().to_string()),
        ("total", total.to_string()),
        ("sums", sums.len().to_string()),
        ("groups", groups.to_string()),
    ];
    report(if measures == Measures::All { "trainbill, four costs" } else { "trainbill" }, &told);
    let text =
        sums.iter().map(|((attempt, kind), units)| format!("{attempt},{kind},{units}\n")).collect::<String>();
    std::fs::write(dir.join("ours.csv"), format!("attempt,kind,units\n{text}")).unwrap();
}

const PROJECTED: [&str; 10] = [
    "resource_id",
    "tags",
    "x_class",
    "x_resource_kind",
    "service_name",
    "sub_account_id",
    "x_line_type",
    "charge_period_start",
    "charge_period_end",
    "billed_cost",
];

/// Decodes the columns that the operator reads, and does nothing with them.
pub(crate) fn decode(dir: &Path, strings: Strings) {
    let files = files(dir);
    let groups: Vec<(PathBuf, usize)> = files
        .iter()
        .flat_map(|file| {
            let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap();
            (0..builder.metadata().num_row_groups()).map(|group| (file.clone(), group)).collect::<Vec<_>>()
        })
        .collect();
    let rows: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|worker| {
                let mine: Vec<_> = groups.iter().skip(worker).step_by(THREADS).cloned().collect();
                scope.spawn(move || {
                    mine.iter().map(|(file, group)| decode_group(file, *group, strings)).sum::<usize>()
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    let name = if strings == Strings::Plain {
        "mere decode, plain strings"
    } else {
        "mere decode, dictionaries kept"
    };
    report(name, &[("rows", rows.to_string())]);
}

fn decode_group(file: &Path, group: usize, strings: Strings) -> usize {
    let schema = sources::charges::schema();
    let plain: Vec<Field> = schema
        .fields()
        .iter()
        .map(|field| match field.data_type() {
            DataType::Dictionary(..) => Field::new(field.name(), DataType::Utf8, field.is_nullable()),
            _ => field.as_ref().clone(),
        })
        .collect();
    let wanted = if strings == Strings::Plain { Arc::new(Schema::new(plain)) } else { schema };
    let options = ArrowReaderOptions::new().with_schema(wanted);
    let builder =
        ParquetRecordBatchReaderBuilder::try_new_with_options(File::open(file).unwrap(), options).unwrap();
    let mask = ProjectionMask::columns(builder.parquet_schema(), PROJECTED);
    let reader = builder
        .with_row_groups(vec![group])
        .with_projection(mask)
        .with_batch_size(16 * 1024)
        .build()
        .unwrap();
    reader.map(|batch| batch.unwrap().num_rows()).sum()
}
