//! The engine against the naive oracle on generated bills, and the laws of its answers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panic")]

mod generated;
mod sql;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use costing::attribution::{AttributionPlan, Place, TagKeys, plan};
use engine::{Attributed, Charges, Limits, Measures, Run, attribute};
use ledger::Attempt;
use testkit::build::{HOUR, JULY};
use testkit::oracle::Landed;

fn limits() -> Limits {
    Limits { threads: 2, memory_bytes: 256 << 20 }
}

fn write(folder: &Path, name: &str, batch: &RecordBatch) -> PathBuf {
    let path = folder.join(name);
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    path
}

fn plan_of(attempts: &[Attempt]) -> AttributionPlan {
    plan(attempts, &[], TagKeys::documented(), JULY + 744 * HOUR).unwrap()
}

fn run(files: Vec<PathBuf>, attempts: &[Attempt]) -> (AttributionPlan, Attributed) {
    let plan = plan_of(attempts);
    let run = Run {
        files,
        plan: Arc::new(plan.clone()),
        charges: Charges::All,
        measures: Measures::All,
        limits: limits(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    (plan, runtime.block_on(attribute(run)).unwrap())
}

/// The engine's groups as the oracle tells them.
fn sums(
    plan: &AttributionPlan,
    attributed: &Attributed,
    attempts: &[Attempt],
) -> BTreeMap<Landed, [i128; 4]> {
    let key = |index: u32| {
        let id = plan.attempts[index as usize];
        attempts.iter().find(|attempt| attempt.id == id).unwrap().canonical_key.clone()
    };
    let mut sums: BTreeMap<Landed, [i128; 4]> = BTreeMap::new();
    for group in attributed.groups() {
        let landed = match group.landing.place() {
            Place::Attempt { index, .. } => Landed::Attempt(key(index)),
            Place::Experiment { index, .. } => {
                Landed::Experiment(attributed.experiments[index as usize].clone())
            }
            Place::Idle => Landed::Idle,
            Place::Unattributed(_) => Landed::Unattributed,
            Place::Class(class) => Landed::Class(class),
        };
        let held = sums.entry(landed).or_default();
        for (sum, units) in held.iter_mut().zip(&group.units) {
            *sum += units;
        }
    }
    sums.retain(|_, costs| costs.iter().any(|cost| *cost != 0));
    sums
}
