//! Makes the attempts of one key: its lanes, their sessions, and the records that belong to each.

use std::cmp::Reverse;

use ledger::{
    Attempt, AttemptId, AttemptLink, AttemptView, Capacity, Cause, Chain, Confidence, ExperimentId,
    ExperimentLink, LinkMethod, Outcome, Phase, RunState, Timestamp,
};

use super::gather::{Group, Said};
use super::lane::{Lane, lanes};
use super::node::NodeTable;
use super::phase::{Span, partition};
use super::presence::Presence;
use super::session::{Session, sessions};
use super::{Note, holding, record};
use crate::phases::held;

/// What is known beside the records of a key.
#[derive(Debug)]
pub(super) struct Surroundings<'a> {
    pub(super) nodes: NodeTable,
    pub(super) presence: Presence<'a>,
}

/// An attempt, before its segments are joined.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) attempt: Attempt,
    pub(super) chain: Option<Chain>,
    pub(super) capacities: Vec<Capacity>,
}

/// A session with its key.
struct Run<'a> {
    key: String,
    lane: usize,
    session: Session<'a>,
    evidence: Vec<String>,
}

/// The attempts of one key; more than one if ids collided or the source overwrote itself.
pub(super) fn drafts(
    key: &str,
    group: &Group<'_>,
    surroundings: &Surroundings<'_>,
    notes: &mut Vec<Note>,
) -> Vec<Draft> {
    let mut lanes = lanes(&group.own);
    let mut runs = runs(key, &mut lanes, notes);
    let sources = group.own.views.iter().map(|said| said.source).collect();
    if let Some(lost) = surroundings.presence.lost_at(key, &sources, seen(group)) {
        runs.iter_mut().for_each(|run| run.session.lose(lost));
    }
    let places: Vec<holding::Place> = runs
        .iter()
        .map(|run| {
            let ended = run.session.state == RunState::Ended;
            holding::Place { lane: run.lane, end: run.session.ended_at, ended }
        })
        .collect();
    let mut held = holding::shares(group, &lanes, &places);
    held.reverse();
    let link = link(key, group);
    runs.into_iter()
        .map(|run| {
            let mut attempt = described(&run, group, link.clone());
            let mine = held.pop().unwrap_or_default();
            let mut bindings = mine.bindings();
            for binding in &mut bindings {
                // What nobody saw end is held until it was last seen, or it would be held for ever.
                if binding.end.is_none() && matches!(run.session.state, RunState::Ended | RunState::Lost) {
                    binding.end = run.session.ended_at.map(|end| end.max(binding.start));
                }
            }
            let resolved = surroundings.nodes.resolve(attempt.cluster.as_deref(), bindings);
            attempt.bindings = resolved.bindings;
            let elapsed = run.session.latest(|view| view.elapsed_seconds);
            attempt.phases = record::phases(&mine.records.phases);
            attempt.phases.extend(holding::suspended(&attempt, elapsed));
            attempt.checkpoints = record::checkpoints(&mine.records.checkpoints);
            attempt.interruptions = record::interruptions(&mine.records.interruptions);
            attempt.quality = record::quality(&mine.records.quality);
            attempt.artifacts = record::artifacts(&mine.records.artifacts);
            holding::count_accelerators(&mut attempt, elapsed);
            let chain = run.session.latest(|view| view.chain.clone());
            Draft { attempt, chain, capacities: resolved.capacities }
        })
        .collect()
}

/// The latest time at which any view of the attempt tells of it.
fn seen(group: &Group<'_>) -> Option<Timestamp> {
    let views = group.own.views.iter().chain(&group.companions.views);
    views.filter_map(|said| said.modified_at.max(said.record.ended_at).max(said.record.started_at)).max()
}

/// The sessions of every lane, with their keys and the notes that they give rise to.
fn runs<'a>(key: &str, lanes: &mut [Lane<'a>], notes: &mut Vec<Note>) -> Vec<Run<'a>> {
    let collision = collision(key, lanes);
    notes.extend(collision.iter().map(|message| note("attempt::id_collision", key, message)));
    let mut runs = Vec::new();
    for (lane, of_lane) in lanes.iter_mut().enumerate() {
        let lane_key = match (lane, of_lane.first()) {
            (1.., Some(first)) => format!("{key}@{}", first.start.seconds()),
            _ => key.to_owned(),
        };
        for (index, session) in sessions(std::mem::take(&mut of_lane.views)).into_iter().enumerate() {
            let key = if index == 0 { lane_key.clone() } else { format!("{lane_key}#{}", index + 1) };
            if session.overwrote && index > 0 {
                let message =
                    format!("the source overwrote the end of `{lane_key}`; what followed is `{key}`");
                notes.push(note("attempt::source_overwrote", &key, &message));
            }
            runs.push(Run { key, lane, session, evidence: collision.iter().cloned().collect() });
        }
    }
    runs
}

fn note(code: &'static str, key: &str, message: &str) -> Note {
    Note { code, key: key.to_owned(), message: message.to_owned() }
}

fn collision(key: &str, lanes: &[Lane<'_>]) -> Option<String> {
    if lanes.len() < 2 {
        return None;
    }
    let executions: Vec<String> = lanes
        .iter()
        .filter_map(Lane::first)
        .map(|first| {
            let hosts: Vec<&str> = first.hosts.iter().copied().collect();
            format!("from {} on {}", first.start, hosts.join(", "))
        })
        .collect();
    Some(format!("id collision: `{key}` names {} executions: {}", lanes.len(), executions.join("; ")))
}

/// The surest link of all views; of equally sure ones that of the stronger method, then the attempt's own before
/// companions', then the newest. A companion's link is no surer than that it is one.
fn link(key: &str, group: &Group<'_>) -> AttemptLink {
    let own = group.own.views.iter().rev().filter_map(|said| said.record.link.as_ref());
    let own = own.map(|link| (link, Confidence::CERTAIN));
    let links = own.chain(group.companion_links.iter().rev().copied());
    let sure = |(link, join): &(&ExperimentLink, Confidence)| link.method.confidence().min(*join);
    if let Some((link, join)) = links.min_by_key(|link| (Reverse(sure(link)), link.0.method)) {
        return AttemptLink { confidence: sure(&(link, join)), ..link.clone().into() };
    }
    let job =
        group.own.views.iter().find_map(|said| said.record.chain.as_ref()).map(|chain| chain.job.clone());
    let experiment = ExperimentId(job.unwrap_or_else(|| key.to_owned()));
    ExperimentLink { experiment, method: LinkMethod::OwnJob }.into()
}

/// Everything but the records: fields are the newest told, a companion fills what the attempt's own source leaves out.
fn described(run: &Run<'_>, group: &Group<'_>, link: AttemptLink) -> Attempt {
    let session = &run.session;
    let told = Told { session, companions: &group.companions.views };
    let mut aliases: Vec<String> = told.views().flat_map(|view| view.aliases.iter().cloned()).collect();
    aliases.extend(group.companion_keys.iter().map(|companion| (*companion).to_owned()));
    let evidence = told.any(|v| (!v.cause_evidence.is_empty()).then(|| v.cause_evidence.clone()));
    let mut cause_evidence = evidence.unwrap_or_default();
    cause_evidence.extend(run.evidence.iter().cloned());
    let cause = match session.outcome {
        Outcome::Completed => None,
        _ => told.any(|v| (v.cause != Cause::Unknown).then_some(v.cause)),
    };
    let capacity = told.any(|v| (v.capacity != Capacity::Unknown).then_some(v.capacity));
    Attempt {
        id: AttemptId::of_key(&run.key),
        canonical_key: run.key.clone(),
        aliases,
        link,
        ordinal: 0,
        scheduler: told.any(|v| (!v.scheduler.is_empty()).then(|| v.scheduler.clone())).unwrap_or_default(),
        cluster: told.any(|v| v.cluster.clone()),
        namespace: told.any(|v| v.namespace.clone()),
        name: told.any(|v| v.name.clone()),
        user: told.any(|v| v.user.clone()),
        team: told.any(|v| v.team.clone()),
        queue: told.any(|v| v.queue.clone()),
        submitted_at: session.submitted_at,
        started_at: session.started_at(),
        ended_at: session.ended_at,
        state: session.state,
        outcome: session.outcome,
        cause: cause.unwrap_or(Cause::Unknown),
        cause_evidence,
        exit_code: session.latest(|v| v.exit_code),
        restart_index: session.latest(|v| v.restart_index),
        gpu_count: told.any(|v| v.gpu_count),
        gpu_kind: told.any(|v| v.gpu_kind.clone()),
        gpu_milliseconds: None,
        node_count: told.any(|v| v.node_count),
        capacity: capacity.unwrap_or(Capacity::Unknown),
        model_version: told.any(|v| v.model_version.clone()),
        config_version: told.any(|v| v.config_version.clone()),
        dataset_snapshot: told.any(|v| v.dataset_snapshot.clone()),
        bindings: Vec::new(),
        phases: Vec::new(),
        checkpoints: Vec::new(),
        interruptions: Vec::new(),
        quality: Vec::new(),
        artifacts: Vec::new(),
        utilisation: Vec::new(),
        source_overwrote: session.overwrote,
    }
}

struct Told<'s, 'a> {
    session: &'s Session<'a>,
    companions: &'s [Said<'a, AttemptView>],
}

impl<'a> Told<'_, 'a> {
    /// The attempt's own views, newest first, then those of companions.
    fn views(&self) -> impl Iterator<Item = &'a AttemptView> {
        let own = self.session.views.iter().rev();
        own.chain(self.companions.iter().rev()).map(|said| said.record)
    }

    fn any<T>(&self, of: impl Fn(&'a AttemptView) -> Option<T>) -> Option<T> {
        self.views().find_map(of)
    }
}

impl Draft {
    /// The attempt with what follows from all its segments.
    pub(super) fn finished(self) -> Attempt {
        let Self { mut attempt, capacities, .. } = self;
        if attempt.capacity == Capacity::Unknown {
            let mut bought = capacities.into_iter();
            let first = bought.next().unwrap_or(Capacity::Unknown);
            if bought.all(|other| other == first) {
                attempt.capacity = first;
            }
        }
        attempt.aliases.retain(|alias| *alias != attempt.canonical_key);
        attempt.aliases.sort();
        attempt.aliases.dedup();
        let span =
            Span { submitted: attempt.submitted_at, started: attempt.started_at, ended: attempt.ended_at };
        let told: Vec<Phase> = std::mem::take(&mut attempt.phases);
        attempt.phases = partition(span, &told, &held(&attempt));
        attempt
    }
}
