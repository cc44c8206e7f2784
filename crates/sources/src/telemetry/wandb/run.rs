//! One run, gathered from its records.

use std::collections::BTreeMap;

use ledger::{
    Artifact, ArtifactKind, AttemptView, Cause, ExperimentId, ExperimentLink, LinkMethod, Observation,
    Outcome, QualityResult, RunRecord as Said, RunState, SourceId, Timestamp, normalised_key,
};

use super::WandbOptions;
use super::item::{Item, text};
use super::record::{ArtifactRecord, Environment, Record, RunRecord};
use crate::telemetry::attempts::interruption;
use crate::telemetry::shared::clock;
use crate::telemetry::shared::series::{History, MAX_METRICS, Point, Thinned};
use crate::telemetry::slurm::{Named, experiment_of_name};

/// Artifacts kept of one run.
const MAX_ARTIFACTS: usize = 10_000;

/// Other names kept of one run.
const MAX_ALIASES: usize = 16;

/// Which attempt a run is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    /// Entity, project and run id.
    pub(super) run: String,
    pub(super) start: Timestamp,
    entity: String,
    project: String,
}

/// What the records of one run say.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) record: RunRecord,
    pub(super) named: Named,
    pub(super) aliases: Vec<String>,
    environment: Environment,
    history: History,
    /// Chosen values, by metric.
    summary: BTreeMap<String, f64>,
    /// True if the summary is all that is told of the metrics, so that it holds last values and no chosen ones.
    is_export: bool,
    artifacts: Vec<Artifact>,
    used: Vec<String>,
    preempting: bool,
    pub(super) standing: Option<Standing>,
    pub(super) last_seen: Option<Timestamp>,
}

/// Where a run stands, as it is told.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    pub(super) state: RunState,
    pub(super) outcome: Outcome,
    pub(super) exit_code: Option<i32>,
    /// The source's own words.
    pub(super) words: String,
}

impl Run {
    /// A run of the API.
    pub(super) fn exported() -> Self {
        Self { is_export: true, ..Self::default() }
    }

    /// Takes a record.
    pub(super) fn take(&mut self, record: Record) {
        match record {
            Record::Run(run) => {
                self.configured(&run.config);
                self.tagged(&run.tags);
                // A record that is sent again when something changes keeps the first start.
                let start = self.record.start.or(run.start);
                self.record = RunRecord { start, ..*run };
            }
            Record::History(items, step) => self.logged(&items, step),
            Record::Summary(items) => self.summed_up(&items),
            Record::Config(items) => self.configured(&items),
            Record::Stats(at) => self.last_seen = self.last_seen.max(Some(at)),
            Record::Exit(code, runtime) => self.exited(code, runtime),
            Record::Preempting => self.preempting = true,
            Record::Environment(environment) => self.told_beside(environment),
            Record::Artifact(artifact) => self.made(&artifact),
            Record::Used(kind, name) if kind == "dataset" && self.used.len() < 16 => self.used.push(name),
            Record::Used(..) | Record::Other => {}
        }
    }

    /// Adds what is told of the machine.
    pub(super) fn told_beside(&mut self, told: Environment) {
        let known = &mut self.environment;
        known.gpu_kind = known.gpu_kind.take().or(told.gpu_kind);
        known.gpu_count = known.gpu_count.or(told.gpu_count);
        known.commit = known.commit.take().or(told.commit);
        if known.slurm.is_empty() {
            known.slurm = told.slurm;
        }
    }

    pub(super) fn configured(&mut self, items: &[Item]) {
        for item in items {
            self.configure(&item.key, &item.value());
        }
    }

    /// Takes a value of the configuration.
    pub(super) fn configure(&mut self, key: &str, value: &serde_json::Value) {
        let Some(value) = text(value) else { return };
        self.named.put(key, &value);
        self.name_as(key, &value);
    }

    /// Takes the tags, of which only `attempt_alias=…` is read: `trainbill exec` sets it.
    pub(super) fn tagged(&mut self, tags: &[String]) {
        for (key, value) in tags.iter().filter_map(|tag| tag.split_once('=')) {
            self.name_as(key, value);
        }
    }

    /// Takes other names of the attempt, if the key says that the value has them.
    fn name_as(&mut self, key: &str, value: &str) {
        if normalised_key(key) == "attempt_alias" {
            let named = value.split(';').map(str::trim).filter(|alias| !alias.is_empty());
            let new: Vec<String> = named
                .filter(|alias| !self.aliases.iter().any(|known| known == alias))
                .map(str::to_owned)
                .collect();
            self.aliases.extend(new.into_iter().take(MAX_ALIASES.saturating_sub(self.aliases.len())));
        }
    }

    fn logged(&mut self, items: &[Item], step: Option<u64>) {
        let number = |key: &str| items.iter().find(|item| item.key == key).and_then(Item::number);
        let since_start = || {
            let start = self.record.start?;
            let runtime = number("_runtime").and_then(clock::of_seconds)?;
            start.0.checked_add(runtime.0).map(Timestamp)
        };
        let at = number("_timestamp").and_then(clock::of_seconds).or_else(since_start).or(self.record.start);
        let Some(at) = at else { return };
        self.last_seen = self.last_seen.max(Some(at));
        for item in items.iter().filter(|item| !item.key.starts_with('_')) {
            if let Some(value) = item.number() {
                self.history.note(&item.key, None, Point { at, step, value });
            }
        }
    }

    fn summed_up(&mut self, items: &[Item]) {
        for item in items {
            if let Some(value) = item.number() {
                self.sum_up(&item.key, value);
            }
        }
    }

    /// Takes a value of the summary.
    pub(super) fn sum_up(&mut self, key: &str, value: f64) {
        if !key.starts_with('_') && (self.summary.len() < MAX_METRICS || self.summary.contains_key(key)) {
            self.summary.insert(key.to_owned(), value);
        }
    }

    fn exited(&mut self, code: i32, runtime: Option<i64>) {
        let outcome = if code == 0 { Outcome::Completed } else { Outcome::Failed };
        let words = format!("exit code {code}");
        self.standing = Some(Standing { state: RunState::Ended, outcome, exit_code: Some(code), words });
        let end =
            runtime.and_then(|seconds| self.record.start?.0.checked_add(seconds.checked_mul(1_000_000)?));
        self.last_seen = self.last_seen.max(end.map(Timestamp));
    }

    fn made(&mut self, artifact: &ArtifactRecord) {
        let lower = artifact.kind.to_lowercase();
        let kind = match lower.as_str() {
            "dataset" | "data" => ArtifactKind::Dataset,
            "model" => ArtifactKind::Model,
            kind if kind.contains("checkpoint") || kind.contains("ckpt") => ArtifactKind::Checkpoint,
            // Code, jobs, tables and histories are no result of the training.
            _ => return,
        };
        let version = Some(artifact.digest.clone()).filter(|digest| !digest.is_empty());
        let own =
            format!("wandb-artifact://{}/{}/{}", self.record.entity, self.record.project, artifact.name);
        let places = if artifact.references.is_empty() { vec![own] } else { artifact.references.clone() };
        let room = MAX_ARTIFACTS.saturating_sub(self.artifacts.len());
        let of = |uri| Artifact { kind, uri, version: version.clone() };
        self.artifacts.extend(places.into_iter().take(room).map(of));
    }

    /// The last time that any record tells.
    pub(super) const fn last_seen(&self) -> Option<Timestamp> {
        self.last_seen
    }

    pub(super) fn host(&self) -> &str {
        &self.record.host
    }

    /// Which attempt it is, if the records say so.
    pub(super) fn identity(&self, options: &WandbOptions) -> Option<Identity> {
        let told = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let entity = told(&self.record.entity).or_else(|| options.entity.clone()).unwrap_or_default();
        let project = told(&self.record.project).or_else(|| options.project.clone()).unwrap_or_default();
        let run = format!("{entity}/{project}/{}", told(&self.record.id)?);
        Some(Identity { run, start: self.record.start?, entity, project })
    }

    /// Everything that the run says.
    pub(super) fn observations(
        self,
        identity: &Identity,
        source: &SourceId,
        thinned: &mut Thinned,
    ) -> Vec<Observation> {
        let key = format!("wandb:{}:{}", identity.run, identity.start);
        let view = self.view(identity);
        let end = view.ended_at.or(self.last_seen).unwrap_or(identity.start);
        let mut records = Vec::new();
        records.extend(interruption(view.outcome, view.cause, end, None).map(Said::Interruption));
        let chosen: Vec<QualityResult> = self
            .summary
            .iter()
            .filter(|(metric, _)| !self.history.has(metric))
            .map(|(m, v)| QualityResult { is_final: !self.is_export, ..chosen(m, *v, end) })
            .collect();
        records.extend(self.history.results(false, thinned).into_iter().map(Said::Quality));
        records.extend(chosen.into_iter().map(Said::Quality));
        records.extend(self.artifacts.into_iter().map(Said::Artifact));
        records.insert(0, Said::Attempt(view));
        let observed =
            |record| Observation { source: source.clone(), key: key.clone(), modified_at: Some(end), record };
        records.into_iter().map(observed).collect()
    }

    fn view(&self, identity: &Identity) -> AttemptView {
        let standing = self.standing();
        let failed_by_itself = standing.outcome == Outcome::Failed && standing.exit_code == Some(1);
        let slurm = |name: &str| {
            // Newer versions keep the variable, older ones its name without the prefix.
            let variable = format!("SLURM_{name}");
            let of_name = |(key, _): &&(String, String)| {
                key.eq_ignore_ascii_case(&variable) || key.eq_ignore_ascii_case(name)
            };
            self.environment.slurm.iter().find(of_name).map(|(_, value)| value.clone())
        };
        let mut aliases = self.aliases.clone();
        // The job's executions have keys that begin like this.
        aliases.extend(slurm("JOB_ID").map(|job| match slurm("CLUSTER_NAME") {
            Some(cluster) => format!("slurm:{cluster}:{job}"),
            None => format!("job_id={job}"),
        }));
        let over = matches!(standing.state, RunState::Ended | RunState::Lost);
        let evidence = Some(standing.words).filter(|_| over && standing.outcome != Outcome::Completed);
        let told = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        AttemptView {
            aliases,
            link: Some(self.link(identity)),
            cluster: slurm("CLUSTER_NAME"),
            name: told(&self.record.name),
            team: told(&identity.entity),
            started_at: Some(identity.start),
            ended_at: over.then(|| self.last_seen.unwrap_or(identity.start).max(identity.start)),
            state: standing.state,
            outcome: standing.outcome,
            cause: if failed_by_itself { Cause::AppError } else { Cause::Unknown },
            cause_evidence: evidence.into_iter().collect(),
            exit_code: standing.exit_code,
            gpu_count: self.environment.gpu_count.and_then(|count| count.checked_mul(1_000)),
            gpu_kind: self.environment.gpu_kind.clone(),
            model_version: self.named.model.clone(),
            config_version: self
                .named
                .config
                .clone()
                .or_else(|| told(&self.record.commit))
                .or_else(|| self.environment.commit.clone()),
            dataset_snapshot: self
                .named
                .dataset
                .clone()
                .or_else(|| Some(self.used.join(";")).filter(|used| !used.is_empty())),
            ..AttemptView::of_scheduler("wandb".to_owned())
        }
    }

    fn standing(&self) -> Standing {
        let told = self.standing.clone().unwrap_or_else(|| Standing {
            state: RunState::Lost,
            outcome: Outcome::Unknown,
            exit_code: None,
            words: "no exit record".to_owned(),
        });
        if self.preempting && told.outcome != Outcome::Completed {
            let words = format!("preempting, {}", told.words);
            return Standing { state: RunState::Ended, outcome: Outcome::Preempted, words, ..told };
        }
        told
    }

    /// The group is the experiment; attempts of one run id without any name share that of the run.
    fn link(&self, identity: &Identity) -> ExperimentLink {
        let told = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let sweep = told(&self.record.sweep)
            .map(|sweep| format!("wandb:{}/{}/sweeps/{sweep}", identity.entity, identity.project));
        let ways = [
            (told(&self.record.group), LinkMethod::Tracker),
            (self.named.experiment.clone(), LinkMethod::Label),
            (sweep, LinkMethod::Tracker),
            (experiment_of_name(&self.record.name).map(str::to_owned), LinkMethod::NameRule),
        ];
        let found = ways.into_iter().find_map(|(experiment, method)| Some((experiment?, method)));
        let (experiment, method) =
            found.unwrap_or_else(|| (format!("wandb:{}", identity.run), LinkMethod::OwnJob));
        ExperimentLink { experiment: ExperimentId(experiment), method }
    }
}

/// A value that the program itself chose as the run's result.
fn chosen(metric: &str, value: f64, at: Timestamp) -> QualityResult {
    QualityResult {
        metric: metric.to_owned(),
        value,
        direction: None,
        split: None,
        step: None,
        at,
        protocol: None,
        is_final: true,
    }
}
