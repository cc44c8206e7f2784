//! What a run becomes.

use ledger::{
    Artifact, ArtifactKind, AttemptView, ExperimentLink, Observation, Outcome, RunRecord, RunState, Timestamp,
};

use super::MlflowOptions;
use super::facts::Facts;
use crate::telemetry::shared::series::Thinned;
use crate::telemetry::slurm::Named;

/// A millisecond, in microseconds: the least by which MLflow's times differ.
const MILLISECOND: i64 = 1_000;

/// Everything that a view of a run says, with its experiment and its team.
pub(super) fn observations(
    facts: Facts,
    (link, team): (ExperimentLink, Option<String>),
    options: &MlflowOptions,
    thinned: &mut Thinned,
) -> Vec<Observation> {
    let key = format!("mlflow:{}:{}:0", options.tracking, facts.id);
    let seen = facts.history.newest().max(facts.start);
    let view = view(&facts, link, team);
    let said = |modified_at, record| Observation {
        source: options.source.clone(),
        key: key.clone(),
        modified_at,
        record,
    };
    let mut observations = Vec::new();
    let (state, outcome) = facts.status.stands();
    let modified_at = match facts.end.filter(|_| facts.was_resumed()) {
        Some(end) => {
            // What ended at that time is over, however it ended; a view of it from before says more.
            let ended = AttemptView {
                ended_at: Some(end),
                state: RunState::Ended,
                cause_evidence: vec!["resumed: RUNNING with an end_time".to_owned()],
                ..view.clone()
            };
            observations.push(said(Some(end), RunRecord::Attempt(ended)));
            seen.max(Some(Timestamp(end.0.saturating_add(MILLISECOND))))
        }
        None => seen.max(facts.end),
    };
    let ended_at = facts.end.filter(|_| state == RunState::Ended);
    let failed = state == RunState::Ended && outcome != Outcome::Completed;
    let cause_evidence = failed.then(|| format!("status {}", facts.status.word())).into_iter().collect();
    let now = AttemptView { ended_at, state, outcome, cause_evidence, ..view };
    observations.push(said(modified_at, RunRecord::Attempt(now)));
    for dataset in &facts.datasets {
        if let Some(uri) = &dataset.uri {
            let version = Some(dataset.digest.clone()).filter(|digest| !digest.is_empty());
            let artifact = Artifact { kind: ArtifactKind::Dataset, uri: uri.clone(), version };
            observations.push(said(modified_at, RunRecord::Artifact(artifact)));
        }
    }
    if let Some(uri) = &facts.artifact_uri {
        let artifact = Artifact { kind: ArtifactKind::Model, uri: uri.clone(), version: None };
        observations.push(said(modified_at, RunRecord::Artifact(artifact)));
    }
    let results = facts.history.results(false, thinned);
    observations.extend(results.into_iter().map(|result| said(modified_at, RunRecord::Quality(result))));
    observations
}

/// What does not depend on how the run stands.
fn view(facts: &Facts, link: ExperimentLink, team: Option<String>) -> AttemptView {
    let mut named = Named::default();
    for (key, value) in facts.tags() {
        named.put(key, value);
    }
    let told = |key: &str| facts.told(key).map(str::to_owned);
    let names = [("slurm_job_id", "job_id"), ("pod_uid", "pod_uid"), ("k8s_pod_uid", "pod_uid")];
    let mut aliases: Vec<String> =
        names.iter().filter_map(|(tag, name)| Some(format!("{name}={}", facts.told(tag)?))).collect();
    let listed = facts.told("attempt_alias").unwrap_or_default().split(';').map(str::trim);
    aliases.extend(listed.filter(|alias| !alias.is_empty()).map(str::to_owned));
    let digests: Vec<String> =
        facts.datasets.iter().map(|dataset| format!("{}@{}", dataset.name, dataset.digest)).collect();
    AttemptView {
        aliases,
        link: Some(link),
        name: facts.name.clone(),
        user: facts.user.clone().or_else(|| told("mlflow_user")),
        team: told("team").or(team),
        started_at: facts.start,
        model_version: named.model,
        config_version: named.config.or_else(|| told("mlflow_source_git_commit")),
        dataset_snapshot: named.dataset.or_else(|| Some(digests.join(";")).filter(|all| !all.is_empty())),
        ..AttemptView::of_scheduler("mlflow".to_owned())
    }
}
