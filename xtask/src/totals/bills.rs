//! The bills that are summed: every fixture of a reader, every bill of the demo, and the samples beside the project.

use std::path::{Path, PathBuf};

/// Folders with samples that may lie beside the project, and the readers for them.
const SAMPLES: &str = "../shared/data/billing";

/// The samples that are bills in a form that a reader takes, below [`SAMPLES`].
///
/// Left out are Azure exports without a currency or in one that does not exist: every row of these is refused.
const OF_OTHERS: &[(&str, &str)] = &[
    ("aws-cur", "aws_cur/focus_converters_sample-anonymous-aws-export-dataset.csv"),
    ("aws-cur", "aws_cur/koku_2023-06-01-not-final.csv"),
    ("aws-cur", "aws_cur/koku_2023-06-01.csv"),
    ("aws-cur", "aws_cur/koku_test_cur.csv"),
    ("azure-cost", "azure/focus_converters_sample-anonymous-ea-export-dataset.csv"),
    ("azure-cost", "azure/koku_azure_camelCased.csv"),
    ("azure-cost", "azure/koku_camel_azure_version_2.csv"),
    ("azure-cost", "azure/koku_costreport_a243c6f2-199f-4074-9a2c-40e671cf1584.csv"),
    ("azure-cost", "azure/opencost_Enterprise.csv"),
    ("azure-cost", "azure/opencost_EnterpriseCamel.csv"),
    ("azure-cost", "azure/opencost_PayAsYouGo.csv"),
    ("focus", "focus/focus_1.0_sample_1000.csv"),
    ("gcp-billing", "gcp/koku_2022-08-01_resource.csv"),
];

/// The forms in which bills arrive.
const ENDINGS: [&str; 4] = [".csv", ".csv.gz", ".parquet", ".jsonl"];

/// A bill: what is imported, and the raw files that it consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bill {
    pub(super) name: String,
    /// Its reader, as the command line names it.
    pub(super) reader: &'static str,
    pub(super) place: PathBuf,
    pub(super) files: Vec<PathBuf>,
}

/// The readers of bills.
const READERS: [&str; 4] = ["aws-cur", "azure-cost", "focus", "gcp-billing"];

/// Every bill, given the folder of the demo's exports.
pub(super) fn all(root: &Path, exports: &Path) -> Result<Vec<Bill>, String> {
    let mut bills = Vec::new();
    for reader in READERS {
        let folder = root.join("crates/sources/testdata").join(reader.replace('-', "_"));
        let found = files(&folder)?;
        if found.is_empty() {
            return Err(format!("{}: no bill", folder.display()));
        }
        bills.extend(found.into_iter().map(|file| Bill::file(root, reader, file)));
    }
    bills.extend(generated(exports)?);
    let samples = root.join(SAMPLES);
    if samples.is_dir() {
        bills.extend(OF_OTHERS.iter().map(|(reader, file)| Bill::file(&samples, reader, samples.join(file))));
    } else {
        eprintln!("totals: no samples of others in {SAMPLES}; the project's own bills are summed alone");
    }
    Ok(bills)
}

impl Bill {
    fn file(root: &Path, reader: &'static str, file: PathBuf) -> Self {
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
        Self { name, reader, place: file.clone(), files: vec![file] }
    }
}

/// The folders of the demo, each copied from a bucket with the exports of a payer: one import, several periods.
fn generated(exports: &Path) -> Result<Vec<Bill>, String> {
    let mut bills = Vec::new();
    for payer in entries(exports)?.iter().filter(|path| name(path).starts_with("aws-")) {
        for copy in entries(payer)? {
            let name = format!("demo {}/{}", name(payer), name(&copy));
            bills.push(Bill { name, reader: "aws-cur", files: files(&copy)?, place: copy });
        }
    }
    if bills.is_empty() {
        return Err(format!("{}: the demo has no bill", exports.display()));
    }
    Ok(bills)
}

/// The data files below a folder, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for path in entries(folder)? {
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if ENDINGS.iter().any(|ending| name(&path).ends_with(ending)) {
            found.push(path);
        }
    }
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let read = std::fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()
    });
    let mut paths = read.map_err(|error| format!("{}: {error}", folder.display()))?;
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
