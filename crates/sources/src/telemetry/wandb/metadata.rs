//! `wandb-metadata.json`: the machine of a run, as programs before version 0.20 keep it only there.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::item::text;
use super::record::Environment;

/// Largest file, in bytes.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// The machine of the file, or nothing: it only adds to what the run's own records say.
pub(super) fn read(path: &Path) -> Environment {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_FILE).read_to_end(&mut bytes));
    let metadata: Value = read.ok().and_then(|_| serde_json::from_slice(&bytes).ok()).unwrap_or(Value::Null);
    let slurm = metadata.get("slurm").and_then(Value::as_object);
    let of_list = metadata.pointer("/gpu_nvidia/0/name").and_then(Value::as_str);
    let kind = metadata.get("gpu").and_then(Value::as_str).or(of_list);
    Environment {
        gpu_kind: kind.filter(|kind| !kind.is_empty()).map(str::to_owned),
        gpu_count: metadata.get("gpu_count").and_then(Value::as_u64).filter(|count| *count > 0),
        slurm: slurm
            .into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.clone(), text(value)?)))
            .collect(),
        commit: metadata.pointer("/git/commit").and_then(Value::as_str).map(str::to_owned),
    }
}
