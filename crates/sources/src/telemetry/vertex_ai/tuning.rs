//! Tuning jobs: which custom job each trial was, and how good it was.

use std::collections::BTreeMap;

use ledger::Direction;

use crate::telemetry::attempts::Refusal;
use crate::telemetry::openlineage::Object;

/// A trial.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    /// Name of the tuning job, for the experiment.
    pub(super) tuning: String,
    pub(super) metrics: Vec<Metric>,
}

/// A final measurement.
#[derive(Debug, Clone)]
pub(super) struct Metric {
    pub(super) name: String,
    pub(super) value: f64,
    pub(super) step: Option<u64>,
    pub(super) direction: Option<Direction>,
}

/// The trials of a tuning job that name their custom job, by its name; none of any other resource.
pub(super) fn trials(resource: &Object<'_>) -> Result<BTreeMap<String, Trial>, Refusal> {
    let mut trials = BTreeMap::new();
    let Some(name) = resource.text("name")? else { return Ok(trials) };
    let tuning = resource.text("displayName")?.unwrap_or(name).to_owned();
    let mut goals = BTreeMap::new();
    if let Some(study) = resource.object("studySpec")? {
        for metric in study.objects("metrics")? {
            let direction = match metric.text("goal")? {
                Some("MAXIMIZE") => Some(Direction::Maximise),
                Some("MINIMIZE") => Some(Direction::Minimise),
                Some(_) | None => None,
            };
            goals.insert(metric.required("metricId")?.to_owned(), direction);
        }
    }
    for trial in resource.objects("trials")? {
        let Some(job) = trial.owned("customJob")? else { continue };
        let mut metrics = Vec::new();
        if let Some(last) = trial.object("finalMeasurement")? {
            for metric in last.objects("metrics")? {
                let name = metric.required("metricId")?.to_owned();
                let direction = goals.get(&name).copied().flatten();
                metrics.push(Metric {
                    name,
                    value: metric.number("value")?,
                    step: last.count("stepCount")?,
                    direction,
                });
            }
        }
        trials.insert(job, Trial { tuning: tuning.clone(), metrics });
    }
    Ok(trials)
}
