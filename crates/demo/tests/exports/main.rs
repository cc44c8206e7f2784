//! The demo exports read back from their files: sums, counts and every trap that they are to hold.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

mod bill;
mod reading;
mod rented;
mod runs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use demo::{DemoExports, ImportKind};
use tempfile::TempDir;

/// The exports of seed 7, written once.
static WRITTEN: LazyLock<(TempDir, DemoExports)> = LazyLock::new(|| {
    let dir = TempDir::new().unwrap();
    let exports = demo::write(dir.path(), 7).unwrap();
    (dir, exports)
});

fn paths(kind: ImportKind) -> Vec<&'static PathBuf> {
    WRITTEN.1.imports.iter().filter(|import| import.kind == kind).flat_map(|import| &import.paths).collect()
}

fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    reading::files_under(root)
        .into_iter()
        .map(|path| (path.strip_prefix(root).unwrap().to_owned(), std::fs::read(&path).unwrap()))
        .collect()
}

#[test]
fn one_seed_gives_the_same_bytes_and_another_does_not() {
    let (again, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    demo::write(again.path(), 7).unwrap();
    demo::write(other.path(), 8).unwrap();
    let first = files(WRITTEN.0.path());
    assert!(first == files(again.path()), "the same seed gives other bytes");
    let other = files(other.path());
    for (path, bytes) in &first {
        assert!(other.get(path) != Some(bytes), "{} does not depend on the seed", path.display());
    }
}

#[test]
fn the_company_has_forty_experiments_and_a_hundred_and_forty_attempts() {
    let expected = &WRITTEN.1.expected;
    assert!((40..=45).contains(&expected.experiments), "{} experiments", expected.experiments);
    assert!((130..=150).contains(&expected.attempts), "{} attempts", expected.attempts);
    assert_eq!(expected.attempts, runs::count_of_records());
}

#[test]
fn the_imports_come_in_an_order_that_restates_a_period() {
    use ImportKind::{Attempts, AwsCur, Focus, GcpBilling, OpenLineage, PriceTable, Rates, Slurm};
    let kinds: Vec<ImportKind> = WRITTEN.1.imports.iter().map(|import| import.kind).collect();
    assert_eq!(
        kinds,
        [AwsCur, AwsCur, AwsCur, Focus, GcpBilling, PriceTable, Rates, Slurm, OpenLineage, Attempts]
    );
    let early = WRITTEN.1.expected.restated.first().unwrap();
    let last = WRITTEN.1.expected.bills.first().unwrap();
    assert_eq!((&early.payer, early.period), (&last.payer, last.period));
    assert!(early.rows < last.rows && early.billed != last.billed);
}
