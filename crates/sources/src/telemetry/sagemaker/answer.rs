//! Which answer a document is, and what is gathered from all of them.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{Direction, Observation};
use serde_json::Value;

use super::SageMakerOptions;
use super::{job, node};
use crate::telemetry::attempts::Refusal;
use crate::telemetry::openlineage::Object;
use crate::telemetry::{TelemetryRead, Warning};

/// Lists whose elements say nothing of a run.
const NOTHING: [&str; 2] = ["ClusterSummaries", "HyperParameterTuningJobSummaries"];

/// The metric that a tuning job looks at, and which way is better.
pub(super) type Objective = (String, Direction);

/// What is gathered while answers are read.
pub(super) struct Import<'o> {
    options: &'o SageMakerOptions,
    read: TelemetryRead,
    /// Name and direction of the objective, by the ARN of the tuning job.
    pub(super) objectives: BTreeMap<String, Objective>,
    described: BTreeSet<String>,
    listed: BTreeSet<String>,
    billed: job::Billed,
}

impl<'o> Import<'o> {
    pub(super) fn new(options: &'o SageMakerOptions) -> Self {
        Self {
            options,
            read: TelemetryRead::default(),
            objectives: BTreeMap::new(),
            described: BTreeSet::new(),
            listed: BTreeSet::new(),
            billed: job::Billed::default(),
        }
    }

    /// Notes which way is better for a tuning job, whose training jobs may stand before it.
    pub(super) fn objectives(&mut self, answer: &Value) {
        let Some(answer) = answer.as_object().map(Object::root) else { return };
        let Ok(answer) = unwrapped(answer) else { return };
        if let Ok(Some((arn, objective))) = objective(&answer) {
            self.objectives.insert(arn, objective);
        }
    }

    /// Takes an answer.
    pub(super) fn answer(&mut self, answer: &Value) {
        let not_an_answer =
            || Refusal::of_record("sagemaker::unknown_answer", &answer.to_string(), "an answer of SageMaker");
        let object = answer.as_object().map(Object::root).ok_or_else(not_an_answer);
        match object.and_then(unwrapped) {
            Ok(answer) => self.object(&answer).unwrap_or_else(|refusal| self.settle(Err(refusal))),
            Err(refusal) => self.settle(Err(refusal)),
        }
    }

    fn object(&mut self, answer: &Object<'_>) -> Result<(), Refusal> {
        if answer.is_told("TrainingJobSummaries") {
            for summary in answer.objects("TrainingJobSummaries")? {
                let arn = summary.required("TrainingJobArn").map(|arn| self.listed.insert(arn.to_owned()));
                self.settle(arn.map(|_| Vec::new()));
            }
            return Ok(());
        }
        if let Some(list) = NOTHING.into_iter().find(|list| answer.is_told(list)) {
            for _ in answer.objects(list)? {
                self.settle(Ok(Vec::new()));
            }
            return Ok(());
        }
        if answer.is_told("ClusterNodeSummaries") {
            for summary in answer.objects("ClusterNodeSummaries")? {
                self.settle(node::observation(&summary, self.options).map(|seen| vec![seen]));
            }
            return Ok(());
        }
        let records = if let Some(details) = answer.object("NodeDetails")? {
            node::observation(&details, self.options).map(|seen| vec![seen])
        } else if answer.has("TrainingJobArn") {
            self.described.extend(answer.owned("TrainingJobArn")?);
            job::observations(answer, self.options, &self.objectives).map(|(records, billed)| {
                self.billed.add(&billed);
                records
            })
        } else if answer.has("HyperParameterTuningJobArn") || answer.has("ClusterArn") {
            Ok(Vec::new())
        } else {
            let names: Vec<&str> = answer.names().take(4).collect();
            let expected = "an answer of describe-training-job or list-cluster-nodes";
            Err(Refusal::of_record("sagemaker::unknown_answer", &names.join(", "), expected))
        };
        self.settle(records);
        Ok(())
    }

    pub(super) fn settle(&mut self, records: Result<Vec<Observation>, Refusal>) {
        self.read.settle(records, &self.options.file);
    }

    pub(super) fn finished(mut self) -> TelemetryRead {
        let missing = self.listed.difference(&self.described).count();
        if missing > 0 {
            self.read.warnings.push(Warning {
                code: "sagemaker::not_described",
                message: format!(
                    "{missing} training job(s) are listed and not described, so they are not imported"
                ),
                help: "run `aws sagemaker describe-training-job` for each, and import the answers".to_owned(),
            });
        }
        self.read.warnings.extend(self.billed.warning());
        self.read
    }
}

/// The answer inside what a recorder wrapped around it.
fn unwrapped(answer: Object<'_>) -> Result<Object<'_>, Refusal> {
    match answer.object("data")? {
        Some(data) if answer.has("status_code") => Ok(data),
        _ => Ok(answer),
    }
}

/// The objective of a tuning job: of its configuration, else of the first of its definitions.
fn objective(answer: &Object<'_>) -> Result<Option<(String, Objective)>, Refusal> {
    let Some(arn) = answer.owned("HyperParameterTuningJobArn")? else { return Ok(None) };
    let config = answer.at(&["HyperParameterTuningJobConfig", "HyperParameterTuningJobObjective"])?;
    let config = match config {
        Some(config) => Some(config),
        None => match answer.objects("TrainingJobDefinitions")?.first() {
            Some(definition) => definition.object("TuningObjective")?,
            None => None,
        },
    };
    let Some(config) = config else { return Ok(None) };
    let direction = match config.text("Type")? {
        Some("Maximize") => Direction::Maximise,
        Some("Minimize") => Direction::Minimise,
        Some(_) | None => return Ok(None),
    };
    Ok(config.owned("MetricName")?.map(|metric| (arn, (metric, direction))))
}
