//! Checkpoints by their parts: when each was complete, if it is.

use std::collections::BTreeMap;

use ledger::{Artifact, ArtifactKind, Checkpoint, Observation, RunRecord, SourceId, Timestamp};

use super::Object;
use super::name::{Named, Part};
use crate::SourceError;
use crate::telemetry::TelemetryRead;

/// Checkpoints, models and runs of one import together.
const MAX_CHECKPOINTS: usize = 1_000_000;

/// The runs of all buckets, by bucket and folder.
#[derive(Debug, Default)]
pub(super) struct Runs {
    runs: BTreeMap<(String, String), Run>,
    models: BTreeMap<(String, String), Option<Timestamp>>,
    count: usize,
}

/// What lies in the folder of a run.
#[derive(Debug, Default)]
struct Run {
    checkpoints: BTreeMap<String, Found>,
    /// When the newest checkpoint was last named.
    latest: Option<Timestamp>,
}

/// The objects of a checkpoint.
#[derive(Debug, Default)]
struct Found {
    step: Option<u64>,
    bytes: u64,
    newest: Option<Timestamp>,
    /// When its own marker was written.
    marked: Option<Timestamp>,
}

impl Runs {
    /// Adds an object, if it is of a checkpoint or a model.
    ///
    /// # Errors
    /// There are more than can be held.
    pub(super) fn take(&mut self, object: Object<'_>) -> Result<(), SourceError> {
        let of = |folder: &str| (object.bucket.to_owned(), folder.to_owned());
        match Named::of(object.key) {
            Named::Part(Part { run, checkpoint, step, is_marker }) => {
                let run = self.runs.entry(of(run)).or_default();
                let known = run.checkpoints.len();
                let found = run.checkpoints.entry(checkpoint.to_owned()).or_default();
                found.step = step;
                found.bytes = found.bytes.saturating_add(object.bytes);
                found.newest = found.newest.max(object.modified);
                if is_marker {
                    found.marked = found.marked.max(object.modified);
                }
                self.count += run.checkpoints.len() - known;
            }
            Named::Latest(folder) => {
                let run = self.runs.entry(of(folder)).or_default();
                run.latest = run.latest.max(object.modified);
            }
            Named::Model(folder) => {
                let newest = self.models.entry(of(folder)).or_default();
                *newest = (*newest).max(object.modified);
            }
            Named::Other => return Ok(()),
        }
        if self.count + self.runs.len() + self.models.len() > MAX_CHECKPOINTS {
            return Err(SourceError::new(
                "s3_inventory::too_many_checkpoints",
                "there are too many checkpoints",
            )
            .expected(format!("at most {MAX_CHECKPOINTS}"), "more")
            .help("list a prefix at a time"));
        }
        Ok(())
    }

    /// Tells every checkpoint and model, in order.
    pub(super) fn finish(self, read: &mut TelemetryRead, source: &SourceId) {
        let mut incomplete = 0;
        for ((bucket, folder), run) in self.runs {
            let key = place(&bucket, &folder);
            let mut say = |modified_at, record| {
                read.observations.push(Observation {
                    source: source.clone(),
                    key: key.clone(),
                    modified_at,
                    record,
                });
            };
            let has_markers = run.checkpoints.values().any(|found| found.marked.is_some());
            for (name, found) in &run.checkpoints {
                let completed_at = found.completed(has_markers, run.latest);
                let uri = format!("s3://{bucket}/{name}");
                incomplete += u64::from(completed_at.is_none());
                let checkpoint = Checkpoint {
                    step: found.step,
                    started_at: None,
                    completed_at,
                    durable: completed_at.is_some(),
                    bytes: Some(found.bytes),
                    uri: Some(uri.clone()),
                };
                say(completed_at.or(found.newest), RunRecord::Checkpoint(checkpoint));
                if completed_at.is_some() {
                    let artifact = Artifact { kind: ArtifactKind::Checkpoint, uri, version: None };
                    say(completed_at, RunRecord::Artifact(artifact));
                }
            }
        }
        for ((bucket, folder), modified_at) in self.models {
            let key = place(&bucket, &folder);
            let artifact = Artifact { kind: ArtifactKind::Model, uri: format!("{key}/"), version: None };
            let record = RunRecord::Artifact(artifact);
            read.observations.push(Observation { source: source.clone(), key, modified_at, record });
        }
        let told = "checkpoint(s) are not complete: nothing can go on from them";
        let help = "nothing needs to be done, unless one is still being written: then list again";
        read.warn_of(incomplete, "s3_inventory::incomplete_checkpoint", (told, help));
    }
}

impl Found {
    /// When it was complete: by its own marker; where others have one and it has not, it is not; by the marker beside
    /// it, if nothing in it is newer; else by the newest of its objects.
    fn completed(&self, has_markers: bool, latest: Option<Timestamp>) -> Option<Timestamp> {
        if self.marked.is_some() || has_markers {
            return self.marked;
        }
        self.newest.filter(|newest| latest.is_none_or(|latest| *newest <= latest))
    }
}

fn place(bucket: &str, folder: &str) -> String {
    if folder.is_empty() { format!("s3://{bucket}") } else { format!("s3://{bucket}/{folder}") }
}
