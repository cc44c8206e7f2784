//! Reads custom jobs and tuning jobs of Vertex AI.
//!
//! # What it reads
//!
//! Resources as the API or `gcloud` prints them, one after another or in a list; and the lists of the API,
//! `customJobs` and `hyperparameterTuningJobs`. Fields that are not named here are not read.
//!
//! ```text
//! gcloud ai custom-jobs list --region=us-central1 --format=json > jobs.json
//! ```
//!
//! | field | what it becomes |
//! |---|---|
//! | `name` | the key, and the resource |
//! | `createTime`, `startTime`, `endTime` | submission, start and end |
//! | `state`, `error.code`, `error.message` | how it ended, and why |
//! | `displayName` | name |
//! | `labels` | experiment, team, user and versions, by key |
//! | `jobSpec.experiment` | the experiment, before any label |
//! | `jobSpec.workerPoolSpecs[].machineSpec`, `replicaCount` | machine types, accelerators, number of nodes |
//! | `jobSpec.scheduling.strategy` | what was bought |
//! | `jobSpec.baseOutputDirectory.outputUriPrefix` | an artifact |
//! | `updateTime` | orders corrections |
//! | `trials[].finalMeasurement.metrics[]` of a tuning job | final quality of the trial's custom job |
//!
//! # How a record becomes an attempt
//!
//! A job is one attempt, `vertex:{name}:0`, bound to the job's own name from its start to its end. Its outcome is that
//! of the state; `EXPIRED` is a timeout, and code 8 or 14 of an error, where it never started, a launch failure. A
//! tuning job is the experiment of the jobs that its trials name.
//!
//! # What it cannot tell
//!
//! * Restarts of workers, also after a spot machine was taken back: only Cloud Logging has them, so one attempt hides
//!   them. A warning counts the jobs that may have been restarted.
//! * Machines: the bill names a job by its labels, `goog-vertex-…`, and not by machines.
//! * What a persistent resource costs while no job runs on it.
//!
//! # References
//!
//! * <https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.customJobs>
//! * <https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.hyperparameterTuningJobs>
//! * <https://cloud.google.com/vertex-ai/docs/reference/rest/v1/JobState>

mod job;
mod tuning;

use std::collections::BTreeMap;
use std::io::BufRead;

use ledger::{Observation, SourceId};
use serde_json::Value;

use super::attempts::{Codes, Refusal, values};
use super::openlineage::Object;
use super::{TelemetryRead, Warning};
use crate::SourceError;

/// What the user says beside the file.
#[derive(Debug, Clone)]
pub struct VertexAiOptions {
    /// Name of the file for places in messages.
    pub file: String,
    /// The source of the records.
    pub source: SourceId,
    /// Normalised keys of labels whose value names an experiment, the strongest first.
    pub experiment_keys: Vec<String>,
}

const CODES: Codes = Codes {
    cannot_read: "vertex_ai::cannot_read",
    too_large: "vertex_ai::too_large",
    not_json: "vertex_ai::not_json",
};

/// Lists of the API.
const LISTS: [&str; 2] = ["customJobs", "hyperparameterTuningJobs"];

/// Reads one file of resources.
///
/// # Errors
/// A coded error where the file as a whole cannot be read.
pub fn read(input: impl BufRead, options: &VertexAiOptions) -> Result<TelemetryRead, SourceError> {
    let found = values(input, &options.file, &CODES)?;
    let mut import =
        Import { options, read: TelemetryRead::default(), trials: BTreeMap::new(), restartable: 0 };
    // A tuning job may stand behind the jobs of its trials.
    for document in &found.documents {
        for resource in resources(document).unwrap_or_default() {
            import.trials.extend(tuning::trials(&resource).unwrap_or_default());
        }
    }
    for document in &found.documents {
        match resources(document) {
            Ok(resources) => {
                for resource in resources {
                    let records = import.resource(&resource);
                    import.settle(records);
                }
            }
            Err(refusal) => import.settle(Err(refusal)),
        }
    }
    if let Some(refusal) = found.broken {
        import.settle(Err(refusal));
    }
    Ok(import.finished())
}

/// The resources of a document: those of a list, or itself.
fn resources(document: &Value) -> Result<Vec<Object<'_>>, Refusal> {
    let not_a_resource = || {
        Refusal::of_record(
            "vertex_ai::unknown_resource",
            &document.to_string(),
            "a custom job or a list of them",
        )
    };
    let document = document.as_object().map(Object::root).ok_or_else(not_a_resource)?;
    match LISTS.iter().find(|list| document.is_told(list)) {
        Some(list) => document.objects(list),
        None => Ok(vec![document]),
    }
}

/// What is gathered while resources are read.
struct Import<'o> {
    options: &'o VertexAiOptions,
    read: TelemetryRead,
    /// By the name of the custom job.
    trials: BTreeMap<String, tuning::Trial>,
    restartable: u64,
}

impl Import<'_> {
    fn resource(&mut self, resource: &Object<'_>) -> Result<Vec<Observation>, Refusal> {
        let name = resource.required("name")?;
        if name.contains("/hyperparameterTuningJobs/") {
            tuning::trials(resource)?;
            return Ok(Vec::new());
        }
        if !name.contains("/customJobs/") {
            return Err(resource.refuse("vertex_ai::unknown_resource", "name", "projects/…/customJobs/…"));
        }
        self.restartable += u64::from(job::may_restart(resource)?);
        job::observations(resource, self.trials.get(name), self.options)
    }

    fn settle(&mut self, records: Result<Vec<Observation>, Refusal>) {
        self.read.settle(records, &self.options.file);
    }

    fn finished(mut self) -> TelemetryRead {
        if self.restartable > 0 {
            self.read.warnings.push(Warning {
                code: "vertex_ai::restarts_hidden",
                message: format!(
                    "{} job(s) ran on spot machines or restart with their workers; restarts are not told",
                    self.restartable
                ),
                help: "let the program send run events, one run for each start".to_owned(),
            });
        }
        self.read
    }
}
