//! A training job: its attempts, what they held, what they made.

use std::collections::BTreeMap;

use ledger::{
    Artifact, ArtifactKind, AttemptView, Binding, BindingKind, Capacity, Chain, ExperimentId, ExperimentLink,
    Grade, Interval, JoinMethod, LinkMethod, Observation, Phase, PhaseKind, QualityResult, RunRecord,
    RunState, ShareDriver, Timestamp,
};
use serde_json::Value;

use super::SageMakerOptions;
use super::answer::Objective;
use super::ending::Ending;
use super::split::{Transition, attempts, interrupted_at, phases, transitions, worked_from};
use crate::telemetry::Warning;
use crate::telemetry::attempts::{Labels, Refusal, interruption, moment};
use crate::telemetry::openlineage::Object;

/// Longest wait for an instance and longest warm pool that are believed, in seconds.
const MAX_SECONDS: u64 = 366 * 86_400;

/// What jobs are billed, in seconds of one instance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Billed {
    jobs: u64,
    seconds: u64,
    warm: u64,
}

impl Billed {
    pub(super) const fn add(&mut self, other: &Self) {
        self.jobs += other.jobs;
        self.seconds = self.seconds.saturating_add(other.seconds);
        self.warm = self.warm.saturating_add(other.warm);
    }

    /// What the records say of the bill, to be compared with it.
    pub(super) fn warning(&self) -> Option<Warning> {
        (self.jobs > 0).then(|| Warning {
            code: "sagemaker::billed_seconds",
            message: format!(
                "{} job(s) say that {} instance-seconds are billed, and {} more of warm pools",
                self.jobs, self.seconds, self.warm
            ),
            help: "import the bill: it tells what they cost".to_owned(),
        })
    }
}

/// A job, as far as all its attempts share it.
struct Job<'a> {
    answer: &'a Object<'a>,
    options: &'a SageMakerOptions,
    arn: String,
    created: Timestamp,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    modified: Option<Timestamp>,
    nodes: Option<u32>,
    sku: Option<String>,
    warm: u64,
}

/// Everything that a job says, and what it is billed.
pub(super) fn observations(
    answer: &Object<'_>,
    options: &SageMakerOptions,
    objectives: &BTreeMap<String, Objective>,
) -> Result<(Vec<Observation>, Billed), Refusal> {
    let job = Job::of(answer, options)?;
    let mut told = Vec::new();
    let parts = attempts(transitions(answer, &options.zone)?);
    let count = parts.len();
    for (index, part) in parts.iter().enumerate() {
        let (is_first, is_last) = (index == 0, index + 1 == count);
        let next = parts.get(index + 1).and_then(|next| next.first()).map(|one| one.start);
        let attempt = job.attempt(part, next, (is_first, is_last))?;
        let mut records = vec![RunRecord::Attempt(job.view(&attempt, index)?)];
        records.extend(job.bindings(&attempt, is_last).into_iter().map(RunRecord::Binding));
        records.extend(phases(part, attempt.started, attempt.ended).into_iter().map(RunRecord::Phase));
        if is_last {
            records.extend(job.warm_phase(&attempt).map(RunRecord::Phase));
            records.extend(job.made(objectives)?);
        }
        if let (RunState::Ended, Some(ended)) = (attempt.ending.state, attempt.ended) {
            let signal = attempt.ending.evidence.first().map(String::as_str);
            let found = interruption(attempt.ending.outcome, attempt.ending.cause, ended, signal);
            records.extend(found.map(RunRecord::Interruption));
        }
        let key = format!("sm:{}:{}", job.arn, index + 1);
        told.extend(records.into_iter().map(|record| Observation {
            source: options.source.clone(),
            key: key.clone(),
            modified_at: job.modified,
            record,
        }));
    }
    Ok((told, job.billed()?))
}

/// An attempt inside a job.
struct Attempt {
    submitted: Timestamp,
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    ending: Ending,
}

impl<'a> Job<'a> {
    fn of(answer: &'a Object<'a>, options: &'a SageMakerOptions) -> Result<Self, Refusal> {
        let time = |name: &str| moment(answer, name, &options.zone);
        let missing = || answer.refuse("row::missing_value", "CreationTime", "a time");
        let (started, ended) = (time("TrainingStartTime")?, time("TrainingEndTime")?);
        if started.is_some_and(|start| ended.is_some_and(|end| end < start)) {
            return Err(answer.refuse(
                "row::ends_before_start",
                "TrainingEndTime",
                "a time not before the start",
            ));
        }
        let config = answer.object("ResourceConfig")?;
        let (mut nodes, mut skus) = (None, Vec::new());
        if let Some(config) = &config {
            nodes = config.small_count("InstanceCount")?;
            skus.extend(config.owned("InstanceType")?);
            let groups = config.objects("InstanceGroups")?;
            for group in &groups {
                let count = group.small_count("InstanceCount")?.unwrap_or(0);
                nodes = Some(nodes.unwrap_or(0).saturating_add(count));
                skus.extend(group.owned("InstanceType")?);
            }
        }
        skus.sort();
        skus.dedup();
        let pool = answer.object("WarmPoolStatus")?;
        let warm = pool.map_or(Ok(None), |pool| seconds(&pool, "ResourceRetainedBillableTimeInSeconds"))?;
        Ok(Self {
            answer,
            options,
            arn: answer.required("TrainingJobArn")?.to_owned(),
            created: time("CreationTime")?.ok_or_else(missing)?,
            started,
            ended,
            modified: time("LastModifiedTime")?,
            nodes,
            sku: (!skus.is_empty()).then(|| skus.join("+")),
            warm: warm.unwrap_or(0),
        })
    }

    fn attempt(
        &self,
        part: &[Transition],
        next: Option<Timestamp>,
        (is_first, is_last): (bool, bool),
    ) -> Result<Attempt, Refusal> {
        let submitted = if is_first { Some(self.created) } else { part.first().map(|one| one.start) };
        let worked = worked_from(part);
        let started = if is_first { self.started.or(worked) } else { worked };
        let ending = if is_last {
            Ending::of_job(self.answer, part, started.is_some())?
        } else {
            Ending::of_earlier(part)
        };
        let stop = interrupted_at(part);
        let ended = match (ending.state, is_last) {
            (RunState::Ended, true) => {
                stop.or(self.ended).or_else(|| part.last().and_then(|one| one.end.or(Some(one.start))))
            }
            (RunState::Ended, false) => stop.or_else(|| part.last().and_then(|one| one.end)).or(next),
            (RunState::Pending | RunState::Running | RunState::Lost, _) => None,
        };
        Ok(Attempt {
            submitted: submitted.unwrap_or(self.created),
            started,
            ended: ended.map(|end| started.map_or(end, |start| end.max(start))),
            ending,
        })
    }

    fn view(&self, attempt: &Attempt, index: usize) -> Result<AttemptView, Refusal> {
        let answer = self.answer;
        let settings = Settings::of(answer)?;
        let view = AttemptView {
            aliases: vec![self.arn.clone()],
            link: self.link(&settings)?,
            chain: Some(Chain { job: format!("sm:{}", self.arn), resizing: false }),
            name: answer.owned("TrainingJobName")?,
            submitted_at: Some(attempt.submitted),
            started_at: attempt.started,
            ended_at: attempt.ended,
            state: attempt.ending.state,
            outcome: attempt.ending.outcome,
            cause: attempt.ending.cause,
            cause_evidence: attempt.ending.evidence.clone(),
            restart_index: u32::try_from(index).ok(),
            node_count: self.nodes,
            capacity: self.capacity()?,
            config_version: settings.hash.clone(),
            dataset_snapshot: self.inputs()?,
            ..AttemptView::of_scheduler("sagemaker".to_owned())
        };
        Ok(settings.labels.described(view))
    }

    fn capacity(&self) -> Result<Capacity, Refusal> {
        let plan = self.answer.object("ResourceConfig")?;
        if plan.map_or(Ok(None), |config| config.text("TrainingPlanArn"))?.is_some() {
            return Ok(Capacity::Reserved);
        }
        Ok(match self.answer.flag("EnableManagedSpotTraining")? {
            Some(true) => Capacity::Spot,
            Some(false) => Capacity::OnDemand,
            None => Capacity::Unknown,
        })
    }

    fn link(&self, settings: &Settings) -> Result<Option<ExperimentLink>, Refusal> {
        let named = self.answer.object("ExperimentConfig")?;
        let named = named.map_or(Ok(None), |config| config.owned("ExperimentName"))?;
        let explicit = match named {
            Some(name) => Some(name),
            // A tuning job is the experiment of its training jobs.
            None => {
                self.answer.text("TuningJobArn")?.map(|arn| arn.rsplit('/').next().unwrap_or(arn).to_owned())
            }
        };
        if let Some(name) = explicit {
            return Ok(Some(ExperimentLink { experiment: ExperimentId(name), method: LinkMethod::Explicit }));
        }
        Ok(settings.labels.link(&self.options.experiment_keys))
    }

    /// Where the data came from, in the order of the channels' text.
    fn inputs(&self) -> Result<Option<String>, Refusal> {
        let mut uris = Vec::new();
        for channel in self.answer.objects("InputDataConfig")? {
            if let Some(source) = channel.at(&["DataSource", "S3DataSource"])? {
                uris.extend(source.owned("S3Uri")?);
            }
        }
        uris.sort();
        uris.dedup();
        Ok((!uris.is_empty()).then(|| uris.join(";")))
    }

    /// The job's own resource, while it was held; and the warm pool after it.
    fn bindings(&self, attempt: &Attempt, is_last: bool) -> Vec<Binding> {
        let Some(start) = attempt.started else { return Vec::new() };
        let held = Binding {
            kind: BindingKind::ManagedJob,
            resource_id: Some(self.arn.clone()),
            node_name: None,
            sku: self.sku.clone(),
            start,
            end: attempt.ended,
            weight: 1_000,
            capacity: Some(1_000),
            driver: ShareDriver::Whole,
            gpus: 0,
            method: JoinMethod::ResourceId,
        };
        let warm = self.warm_interval(attempt).filter(|_| is_last).map(|interval| Binding {
            start: interval.start,
            end: Some(interval.end),
            ..held.clone()
        });
        std::iter::once(held).chain(warm).collect()
    }

    fn warm_interval(&self, attempt: &Attempt) -> Option<Interval> {
        let start = attempt.ended.filter(|_| self.warm > 0)?;
        let micros = i64::try_from(self.warm).ok()?.checked_mul(1_000_000)?;
        Some(Interval { start, end: Timestamp(start.0.checked_add(micros)?) })
    }

    fn warm_phase(&self, attempt: &Attempt) -> Option<Phase> {
        let interval = self.warm_interval(attempt)?;
        Some(Phase { interval, kind: PhaseKind::Idle, grade: Grade::Reported })
    }

    /// Final metrics and artifacts.
    fn made(&self, objectives: &BTreeMap<String, Objective>) -> Result<Vec<RunRecord>, Refusal> {
        let mut records = Vec::new();
        let objective = self.answer.text("TuningJobArn")?.and_then(|arn| objectives.get(arn));
        for one in self.answer.objects("FinalMetricDataList")? {
            let metric = one.required("MetricName")?.to_owned();
            let missing = || one.refuse("row::missing_value", "Timestamp", "a time");
            records.push(RunRecord::Quality(QualityResult {
                direction: objective.filter(|(name, _)| *name == metric).map(|(_, direction)| *direction),
                metric,
                value: one.number("Value")?,
                split: None,
                step: None,
                at: moment(&one, "Timestamp", &self.options.zone)?.ok_or_else(missing)?,
                protocol: None,
                is_final: true,
            }));
        }
        for (kind, holder, name) in [
            (ArtifactKind::Model, "ModelArtifacts", "S3ModelArtifacts"),
            (ArtifactKind::Checkpoint, "CheckpointConfig", "S3Uri"),
        ] {
            let uri = self.answer.object(holder)?.map_or(Ok(None), |holder| holder.owned(name))?;
            records.extend(uri.map(|uri| RunRecord::Artifact(Artifact { kind, uri, version: None })));
        }
        Ok(records)
    }

    /// One number tells the billed time of one instance: all of them run as long.
    fn billed(&self) -> Result<Billed, Refusal> {
        let count = u64::from(self.nodes.unwrap_or(1));
        let Some(seconds) = seconds(self.answer, "BillableTimeInSeconds")? else {
            return Ok(Billed::default());
        };
        Ok(Billed { jobs: 1, seconds: seconds.saturating_mul(count), warm: self.warm.saturating_mul(count) })
    }
}

fn seconds(holder: &Object<'_>, name: &str) -> Result<Option<u64>, Refusal> {
    let seconds = holder.count(name)?;
    if seconds.is_some_and(|seconds| seconds > MAX_SECONDS) {
        return Err(holder.refuse("row::not_a_number", name, "seconds of at most a year"));
    }
    Ok(seconds)
}

/// Variables and hyper-parameters, by normalised key.
struct Settings {
    labels: Labels,
    /// Of the hyper-parameters, in the order of their names.
    hash: Option<String>,
}

impl Settings {
    fn of(answer: &Object<'_>) -> Result<Self, Refusal> {
        let mut labels = Labels::default();
        let mut told = BTreeMap::new();
        for holder in ["Environment", "HyperParameters"] {
            let Some(settings) = answer.object(holder)? else { continue };
            for name in settings.names() {
                let Some(value) = settings.get(name) else { continue };
                // Hyper-parameters are text, which the SDK quotes once more.
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let plain = serde_json::from_str::<Value>(&text).ok();
                let plain = plain.as_ref().and_then(Value::as_str).map_or(text.as_str(), |plain| plain);
                labels.add(name, plain);
                if holder == "HyperParameters" {
                    told.insert(name.to_owned(), text);
                }
            }
        }
        let hash = (!told.is_empty()).then(|| {
            let mut hasher = blake3::Hasher::new();
            for (name, value) in &told {
                hasher.update(name.as_bytes()).update(&[0]).update(value.as_bytes()).update(&[0]);
            }
            let text = hasher.finalize().to_hex();
            format!("hyperparameters-{}", text.get(..16).unwrap_or_default())
        });
        Ok(Self { labels, hash })
    }
}
