//! A pod: where it ran, what it held, and every run of its main container that it still tells of.

use ledger::Timestamp;

use super::meta::{Condition, Meta, conditions, time};
use super::quantity::Units;
use crate::telemetry::attempts::{Labels, Refusal};
use crate::telemetry::openlineage::Object;

/// A pod.
#[derive(Debug, Clone)]
pub(super) struct Pod {
    pub(super) meta: Meta,
    /// Row of the input, for a refusal that comes late.
    pub(super) row: u64,
    pub(super) node: Option<String>,
    pub(super) request: Units,
    pub(super) has_ended: bool,
    pub(super) has_succeeded: bool,
    /// Gone from the cluster.
    pub(super) is_gone: bool,
    /// When it was last there, if it vanished between two lists.
    pub(super) last_seen: Option<Timestamp>,
    pub(super) reason: Option<String>,
    pub(super) message: Option<String>,
    pub(super) disruption: Option<Condition>,
    /// Name of the main container.
    pub(super) container: String,
    /// Its variables.
    pub(super) env: Labels,
    /// Its runs, the first one first; at least one.
    pub(super) runs: Vec<Run>,
    /// The image of the main container, by digest.
    pub(super) image: Option<String>,
    pub(super) latest: Option<Timestamp>,
    scheduled: Option<Timestamp>,
    started: Option<Timestamp>,
    /// The last end of any of its containers.
    finished: Option<Timestamp>,
    not_ready: Option<Timestamp>,
}

/// One run of a container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Run {
    /// Restarts before it.
    pub(super) restart: u32,
    pub(super) started: Option<Timestamp>,
    pub(super) finished: Option<Timestamp>,
    pub(super) end: Option<End>,
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct End {
    pub(super) exit_code: Option<i32>,
    pub(super) reason: Option<String>,
    pub(super) message: Option<String>,
}

impl Pod {
    pub(super) fn of(object: &Object<'_>, latest: Option<Timestamp>, is_gone: bool) -> Result<Self, Refusal> {
        let meta = Meta::of(object)?;
        let spec = object.object("spec")?;
        let spec = spec.ok_or_else(|| object.refuse("row::missing_value", "spec", "a pod with `spec`"))?;
        let status = object.object("status")?;
        let text = |name: &str| status.as_ref().map_or(Ok(None), |status| status.owned(name));
        let conditions = conditions(status.as_ref())?;
        let at = |kind: &str, holds: bool| {
            conditions.iter().find(|c| c.kind == kind && c.holds == holds).and_then(|c| c.at)
        };
        let containers = Containers::of(&spec, status.as_ref(), &meta)?;
        let phase = text("phase")?;
        Ok(Self {
            row: 0,
            node: spec.owned("nodeName")?,
            request: request(&spec)?,
            has_ended: matches!(phase.as_deref(), Some("Succeeded" | "Failed")),
            has_succeeded: phase.as_deref() == Some("Succeeded"),
            is_gone,
            last_seen: None,
            reason: text("reason")?,
            message: text("message")?,
            disruption: conditions.iter().find(|c| c.kind == "DisruptionTarget" && c.holds).cloned(),
            container: containers.main,
            env: containers.env,
            runs: containers.runs,
            image: containers.image,
            latest,
            scheduled: at("PodScheduled", true),
            started: status.as_ref().map_or(Ok(None), |status| time(status, "startTime"))?,
            finished: containers.finished,
            not_ready: at("Ready", false),
            meta,
        })
    }

    /// When its node was held for it first: scheduled, or acknowledged by the node, or seen to run.
    pub(super) fn held_from(&self) -> Option<Timestamp> {
        self.node.as_ref()?;
        let first_run = self.runs.iter().filter_map(|run| run.started).min();
        let told = self.scheduled.or(self.started).or(first_run)?;
        Some(first_run.map_or(told, |run| told.min(run)))
    }

    /// True if it holds nothing any more.
    pub(super) fn is_over(&self) -> bool {
        self.has_ended || self.is_gone
    }

    /// When it let its node go. Where no container tells, it was when the pod was disrupted, or its deletion asked for,
    /// or it ceased to be ready.
    pub(super) fn held_until(&self) -> Option<Timestamp> {
        if !self.is_over() {
            return None;
        }
        let disrupted = self.disruption.as_ref().and_then(|condition| condition.at);
        let ready = if self.has_ended { self.not_ready } else { None };
        let ended = if self.has_ended || self.has_end() { self.finished } else { None };
        let told = ended.or(disrupted).or(self.meta.deleted).or(ready).or(self.last_seen);
        told.map(|end| self.held_from().map_or(end, |start| end.max(start)))
    }

    /// True if the last run of the main container has ended.
    pub(super) fn has_end(&self) -> bool {
        self.runs.last().is_some_and(|run| run.end.is_some())
    }

    /// The last run.
    pub(super) fn last_run(&self) -> Option<&Run> {
        self.runs.last()
    }

    /// Takes what an older view of the same pod tells of runs that this one does not tell of any more.
    pub(super) fn remember(&mut self, older: &Self) {
        for run in &older.runs {
            match self.runs.iter_mut().find(|known| known.restart == run.restart) {
                Some(known) if known.end.is_none() && run.end.is_some() => *known = run.clone(),
                Some(_) => {}
                None => self.runs.push(run.clone()),
            }
        }
        self.runs.sort_by_key(|run| run.restart);
        self.scheduled = self.scheduled.or(older.scheduled);
    }
}

/// What a pod asks for: the sum of its containers and of what runs beside them, or the most that one before them needs.
fn request(spec: &Object<'_>) -> Result<Units, Refusal> {
    let of = |container: &Object<'_>| -> Result<Units, Refusal> {
        let requests = Units::of(container.at(&["resources", "requests"])?.as_ref())?;
        let limits = Units::of(container.at(&["resources", "limits"])?.as_ref())?;
        // A limit alone is also the request; where both are, accelerators are the same and processors as requested.
        let cpus = if requests.cpus > 0 { requests.cpus } else { limits.cpus };
        Ok(requests.max(&limits).with_cpus(cpus))
    };
    let mut sum = Units::default();
    for container in spec.objects("containers")? {
        sum = sum.plus(&of(&container)?);
    }
    let (mut beside, mut most) = (Units::default(), Units::default());
    for container in spec.objects("initContainers")? {
        let own = of(&container)?;
        if container.text("restartPolicy")? == Some("Always") {
            beside = beside.plus(&own);
        } else {
            most = most.max(&beside.clone().plus(&own));
        }
    }
    let overhead = Units::of(spec.object("overhead")?.as_ref())?;
    Ok(sum.plus(&beside).max(&most).plus(&overhead))
}

/// What the containers of a pod tell.
struct Containers {
    main: String,
    env: Labels,
    runs: Vec<Run>,
    image: Option<String>,
    finished: Option<Timestamp>,
}

impl Containers {
    fn of(spec: &Object<'_>, status: Option<&Object<'_>>, meta: &Meta) -> Result<Self, Refusal> {
        let (main, env) = main_container(spec, meta)?;
        let statuses = status.map_or_else(|| Ok(Vec::new()), |status| status.objects("containerStatuses"))?;
        let mut found = Self { main, env, runs: Vec::new(), image: None, finished: None };
        let mut first = None;
        for one in &statuses {
            let runs = runs(one)?;
            found.finished = found.finished.max(runs.iter().filter_map(|run| run.finished).max());
            let image = one.text("imageID")?.and_then(|id| id.rsplit_once('@')).map(|(_, digest)| digest);
            if one.text("name")? == Some(&found.main) {
                found.image = image.map(str::to_owned);
                found.runs = runs;
            } else if first.is_none() {
                first = Some(runs);
            }
        }
        if found.runs.is_empty() {
            found.runs = first.unwrap_or_default();
        }
        if found.runs.is_empty() {
            found.runs.push(Run::default());
        }
        Ok(found)
    }
}

/// The container that holds accelerators, else the one that the pod names, else the first; and its variables.
fn main_container(spec: &Object<'_>, meta: &Meta) -> Result<(String, Labels), Refusal> {
    let containers = spec.objects("containers")?;
    let mut main = None;
    for container in &containers {
        let limits = container.at(&["resources", "limits"])?;
        if Units::of(limits.as_ref())?.has_device() {
            main = Some(container);
            break;
        }
    }
    let named = meta.labels.get("kubectl_kubernetes_io_default_container").map(str::to_owned);
    let by_name = || containers.iter().find(|one| one.text("name").ok().flatten() == named.as_deref());
    let Some(main) = main.or_else(by_name).or(containers.first()) else {
        return Ok((String::new(), Labels::default()));
    };
    let mut env = Labels::default();
    for variable in main.objects("env")? {
        if let (Some(key), Some(value)) = (variable.text("name")?, variable.text("value")?) {
            env.add(key, value);
        }
    }
    Ok((main.owned("name")?.unwrap_or_default(), env))
}

/// The runs that a container's status tells of: the last that ended, and the one that is or was the last.
fn runs(status: &Object<'_>) -> Result<Vec<Run>, Refusal> {
    let restarts = status.small_count("restartCount")?.unwrap_or(0);
    let (state, last) = (status.object("state")?, status.at(&["lastState", "terminated"])?);
    let waits = state.as_ref().is_none_or(|state| !state.has("running") && !state.has("terminated"));
    let mut runs = Vec::new();
    if let Some(last) = last {
        // While it waits to be started again, the last run is still the one that is counted.
        let restart = if waits { restarts } else { restarts.saturating_sub(1) };
        runs.push(ended(&last, restart)?);
    }
    if let Some(state) = state.filter(|_| !waits || runs.is_empty()) {
        match (state.object("terminated")?, state.object("running")?) {
            (Some(terminated), _) => runs.push(ended(&terminated, restarts)?),
            (None, Some(running)) => {
                let started = time(&running, "startedAt")?;
                runs.push(Run { restart: restarts, started, ..Run::default() });
            }
            (None, None) => runs.push(Run { restart: restarts, ..Run::default() }),
        }
    }
    Ok(runs)
}

fn ended(terminated: &Object<'_>, restart: u32) -> Result<Run, Refusal> {
    let (started, finished) = (time(terminated, "startedAt")?, time(terminated, "finishedAt")?);
    if let (Some(started), Some(finished)) = (started, finished)
        && finished < started
    {
        let expected = format!("a time not before {started}");
        return Err(terminated.refuse("row::ends_before_start", "finishedAt", &expected));
    }
    let end = End {
        exit_code: terminated.exit_code("exitCode")?,
        reason: terminated.owned("reason")?,
        message: terminated.owned("message")?,
    };
    Ok(Run { restart, started, finished, end: Some(end) })
}
