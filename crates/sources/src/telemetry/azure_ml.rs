//! Reads jobs of Azure Machine Learning.
//!
//! # What it reads
//!
//! Jobs as the resource manager answers them, one after another or in a list, and its pages with a list `value`. Other
//! resources in such a list are accepted and say nothing. Fields that are not named here are not read.
//!
//! ```text
//! az rest --url "https://management.azure.com$WORKSPACE/jobs?api-version=2023-04-01" > jobs.json
//! ```
//!
//! | field | what it becomes |
//! |---|---|
//! | `id` | the key |
//! | `systemData.createdAt` | submission |
//! | `systemData.lastModifiedAt` | orders corrections |
//! | `properties.status` | where the job stands and how it ended |
//! | `properties.experimentName` | the experiment, before any tag |
//! | `properties.displayName`, else `name` | name |
//! | `properties.tags`, then `properties.properties` | experiment, team, user and versions, by key |
//! | `properties.resources.instanceCount` | number of nodes |
//! | `properties.queueSettings.jobTier` | spot, where it says so |
//! | `properties.computeId` | queue |
//! | `properties.outputs` | artifacts with a `uri` |
//! | `properties.objective` of a sweep | nothing: its trials are jobs of their own |
//!
//! # How a record becomes an attempt
//!
//! A job is one attempt, `azureml:{id in lower case}:0`. A sweep or a pipeline is no attempt: its children are.
//! `Completed` is completed, `Failed` failed with an unknown cause, `Canceled` cancelled by a user; everything else
//! has not ended.
//!
//! # What it cannot tell
//!
//! * When a job started and ended, and so what it held: the resource manager does not say. The workspace's MLflow
//!   tracking API does, under the job's name as the run's id.
//! * Why a job failed.
//!
//! # References
//!
//! * <https://learn.microsoft.com/en-us/rest/api/azureml/jobs/list>
//! * <https://learn.microsoft.com/en-us/azure/machine-learning/how-to-use-mlflow-cli-runs>

mod job;

use std::io::BufRead;

use ledger::SourceId;
use serde_json::Value;

use super::TelemetryRead;
use super::attempts::{Codes, Refusal, values};
use super::openlineage::Object;
use crate::SourceError;

/// What the user says beside the file.
#[derive(Debug, Clone)]
pub struct AzureMlOptions {
    /// Name of the file for places in messages.
    pub file: String,
    /// The source of the records.
    pub source: SourceId,
    /// Normalised keys of tags whose value names an experiment, the strongest first.
    pub experiment_keys: Vec<String>,
}

const CODES: Codes = Codes {
    cannot_read: "azure_ml::cannot_read",
    too_large: "azure_ml::too_large",
    not_json: "azure_ml::not_json",
};

/// Reads one file of answers.
///
/// # Errors
/// A coded error where the file as a whole cannot be read.
pub fn read(input: impl BufRead, options: &AzureMlOptions) -> Result<TelemetryRead, SourceError> {
    let found = values(input, &options.file, &CODES)?;
    let mut read = TelemetryRead::default();
    for document in &found.documents {
        match resources(document) {
            Ok(resources) => {
                for resource in resources {
                    read.settle(job::observations(&resource, options), &options.file);
                }
            }
            Err(refusal) => read.settle(Err(refusal), &options.file),
        }
    }
    if let Some(refusal) = found.broken {
        read.settle(Err(refusal), &options.file);
    }
    Ok(read)
}

/// The resources of a document: those of a page, or itself.
fn resources(document: &Value) -> Result<Vec<Object<'_>>, Refusal> {
    let not_a_job =
        || Refusal::of_record("azure_ml::unknown_answer", &document.to_string(), "a job or a page of jobs");
    let document = document.as_object().map(Object::root).ok_or_else(not_a_job)?;
    if document.is_told("value") { document.objects("value") } else { Ok(vec![document]) }
}
