//! A job: its attempts, and what each held.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{
    AttemptView, Binding, BindingKind, Chain, Grade, Interval, JoinMethod, Observation, Phase, PhaseKind,
    RunRecord, RunState, ShareDriver, Timestamp,
};

use super::AwsBatchOptions;
use super::ending::{Ending, Words};
use super::machine::Machine;
use crate::telemetry::attempts::{Labels, Refusal, interruption};
use crate::telemetry::openlineage::Object;

/// 9999-12-31 in milliseconds: what lies beyond is no time.
const MAX_MILLIS: u64 = 253_402_300_799_000;

/// Everything that a job says, given the ids of the jobs beside it.
pub(super) fn observations(
    job: &Object<'_>,
    ids: &BTreeSet<String>,
    machines: &BTreeMap<String, Machine>,
    options: &AwsBatchOptions,
) -> Result<Vec<Observation>, Refusal> {
    let (id, name) = (job.required("jobId")?, job.owned("jobName")?);
    let full = job.text("jobArn")?.unwrap_or(id);
    // A node of a multi-node job has the job's id before `#`, and is a rank of it.
    let (parent, is_rank) = id.split_once('#').map_or((id, false), |(parent, _)| (parent, true));
    let arn = full.split_once('#').map_or(full, |(arn, _)| arn);
    if is_rank && !ids.contains(parent) {
        let expected = "the multi-node job in the same input: describe it together with its nodes";
        return Err(job.refuse("aws_batch::no_parent", "jobId", expected));
    }
    let has_ranks = is_told(ids, &format!("{id}#"));
    let mut told = Vec::new();
    for run in runs(job)? {
        let mut records = Vec::new();
        let view = view(job, &run, (arn, id, name.as_deref()), options)?;
        let held = if has_ranks { None } else { binding(job, &run, machines)? };
        let queued = run.submitted.zip(run.started).and_then(|(from, to)| Interval::new(from, to).ok());
        let queued = queued.filter(|interval| interval.micros() > 0);
        let phase = |interval| Phase { interval, kind: PhaseKind::Queue, grade: Grade::Reported };
        if let (RunState::Ended, Some(ended), false) = (view.state, view.ended_at, is_rank) {
            let signal = view.cause_evidence.first().map(String::as_str);
            records
                .extend(interruption(view.outcome, view.cause, ended, signal).map(RunRecord::Interruption));
        }
        records.extend(held.map(RunRecord::Binding));
        if !is_rank {
            records.extend(queued.map(phase).map(RunRecord::Phase));
            records.insert(0, RunRecord::Attempt(view));
        }
        let modified_at = run.stopped.or(run.started).or(run.submitted);
        let key = format!("batch:{arn}:{}", run.index);
        told.extend(records.into_iter().map(|record| Observation {
            source: options.source.clone(),
            key: key.clone(),
            modified_at,
            record,
        }));
    }
    Ok(told)
}

/// An attempt of a job.
struct Run<'a> {
    index: usize,
    /// The element of `attempts`, or the job's own container where none is listed.
    container: Option<Object<'a>>,
    node: Option<String>,
    submitted: Option<Timestamp>,
    started: Option<Timestamp>,
    stopped: Option<Timestamp>,
    state: RunState,
    ending: Ending,
    exit_code: Option<i32>,
}

/// True for the parent of an array: its children are the jobs.
pub(super) fn is_array(job: &Object<'_>) -> Result<bool, Refusal> {
    let array = job.object("arrayProperties")?;
    Ok(array.is_some_and(|array| array.has("size") && !array.has("index")))
}

/// True if a job is described whose id begins so.
pub(super) fn is_told(ids: &BTreeSet<String>, prefix: &str) -> bool {
    ids.range(prefix.to_owned()..).next().is_some_and(|id| id.starts_with(prefix))
}

fn runs<'a>(job: &Object<'a>) -> Result<Vec<Run<'a>>, Refusal> {
    let status = job.required("status")?;
    let succeeded = status == "SUCCEEDED";
    let has_ended = succeeded || status == "FAILED";
    let is_stopped = job.flag("isCancelled")? == Some(true) || job.flag("isTerminated")? == Some(true);
    let mut listed = job.objects("attempts")?;
    if listed.is_empty() {
        listed = job.objects("eksAttempts")?;
    }
    let mut runs = Vec::new();
    for (index, one) in listed.iter().enumerate() {
        let is_last = has_ended && index + 1 == listed.len();
        let container = match one.object("container")? {
            Some(container) => Some(container),
            None => one.objects("containers")?.into_iter().next(),
        };
        let exit_code = container.as_ref().map_or(Ok(None), |container| container.exit_code("exitCode"))?;
        let reason = container.as_ref().map_or(Ok(None), |container| container.text("reason"))?;
        let words = Words {
            status_reason: one.text("statusReason")?,
            reason,
            exit_code,
            is_stopped: is_stopped && is_last,
        };
        let ending = if is_last && succeeded { Ending::completed() } else { Ending::failed(words) };
        let (started, stopped) = (millis(one, "startedAt")?, millis(one, "stoppedAt")?);
        check(one, started, stopped)?;
        runs.push(Run {
            index,
            container,
            node: one.owned("nodeName")?,
            submitted: if index == 0 { millis(job, "createdAt")? } else { None },
            started,
            stopped,
            state: RunState::Ended,
            ending,
            exit_code,
        });
    }
    if !has_ended || runs.is_empty() {
        runs.push(own(job, runs.len(), (succeeded, has_ended, is_stopped))?);
    }
    Ok(runs)
}

/// The attempt that is not listed: it waits or runs, or the job ended before it had one.
fn own<'a>(
    job: &Object<'a>,
    index: usize,
    (succeeded, has_ended, is_stopped): (bool, bool, bool),
) -> Result<Run<'a>, Refusal> {
    let container = job.object("container")?;
    let exit_code = container.as_ref().map_or(Ok(None), |container| container.exit_code("exitCode"))?;
    let runs = matches!(job.required("status")?, "STARTING" | "RUNNING");
    let started = if runs || has_ended { millis(job, "startedAt")? } else { None };
    let stopped = if has_ended { millis(job, "stoppedAt")? } else { None };
    check(job, started, stopped)?;
    let reason = container.as_ref().map_or(Ok(None), |container| container.text("reason"))?;
    let words = Words { status_reason: job.text("statusReason")?, reason, exit_code, is_stopped };
    let ending = match (has_ended, succeeded) {
        (false, _) => Ending::unknown(),
        (true, true) => Ending::completed(),
        (true, false) => Ending::failed(words),
    };
    let state = match (has_ended, started) {
        (true, _) => RunState::Ended,
        (false, Some(_)) => RunState::Running,
        (false, None) => RunState::Pending,
    };
    let node = match job.at(&["eksProperties", "podProperties"])? {
        Some(pod) => pod.owned("nodeName")?,
        None => None,
    };
    let submitted = if index == 0 { millis(job, "createdAt")? } else { None };
    Ok(Run { index, container, node, submitted, started, stopped, state, ending, exit_code })
}

/// An instant in milliseconds; seconds would lie in the first weeks of 1970, so they are refused.
fn millis(holder: &Object<'_>, name: &str) -> Result<Option<Timestamp>, Refusal> {
    const MIN_MILLIS: u64 = 100_000_000_000;
    let Some(millis) = holder.count(name)? else { return Ok(None) };
    let refuse = || holder.refuse("row::not_a_time", name, "milliseconds since 1970");
    if !(MIN_MILLIS..=MAX_MILLIS).contains(&millis) {
        return Err(refuse());
    }
    i64::try_from(millis).map(|millis| Some(Timestamp(millis * 1_000))).map_err(|_| refuse())
}

fn check(holder: &Object<'_>, started: Option<Timestamp>, stopped: Option<Timestamp>) -> Result<(), Refusal> {
    match (started, stopped) {
        (Some(start), Some(stop)) if stop < start => {
            Err(holder.refuse("row::ends_before_start", "stoppedAt", "a time not before the start"))
        }
        _ => Ok(()),
    }
}

fn view(
    job: &Object<'_>,
    run: &Run<'_>,
    (arn, id, name): (&str, &str, Option<&str>),
    options: &AwsBatchOptions,
) -> Result<AttemptView, Refusal> {
    let tags = Labels::of(job, &["tags"])?;
    let index = job.object("arrayProperties")?.map_or(Ok(None), |array| array.count("index"))?;
    // The children of an array are trials of their own.
    let name = name.map(|name| index.map_or_else(|| name.to_owned(), |index| format!("{name}:{index}")));
    let mut aliases = vec![id.to_owned()];
    if let Some(container) = &run.container {
        aliases.extend(container.owned("taskArn")?);
    }
    let queue = job.text("jobQueue")?.map(|queue| queue.rsplit('/').next().unwrap_or(queue).to_owned());
    let nodes = job.object("nodeProperties")?.map_or(Ok(None), |nodes| nodes.small_count("numNodes"))?;
    let view = AttemptView {
        aliases,
        link: tags.link(&options.experiment_keys),
        chain: Some(Chain { job: format!("batch:{arn}"), resizing: false }),
        name,
        queue,
        submitted_at: run.submitted,
        started_at: run.started,
        ended_at: run.stopped,
        state: run.state,
        outcome: run.ending.outcome,
        cause: run.ending.cause,
        cause_evidence: run.ending.evidence.clone(),
        exit_code: run.exit_code,
        restart_index: u32::try_from(run.index).ok(),
        node_count: nodes,
        ..AttemptView::of_scheduler("aws-batch".to_owned())
    };
    Ok(tags.described(view))
}

/// What an attempt held of its machine.
fn binding(
    job: &Object<'_>,
    run: &Run<'_>,
    machines: &BTreeMap<String, Machine>,
) -> Result<Option<Binding>, Refusal> {
    let Some(start) = run.started else { return Ok(None) };
    let instance = match &run.container {
        Some(container) => container.text("containerInstanceArn")?,
        None => None,
    };
    let machine = instance.and_then(|arn| machines.get(arn));
    let node_name =
        run.node.clone().or_else(|| instance.map(|arn| arn.rsplit('/').next().unwrap_or(arn).to_owned()));
    let taken = run.ending.evidence.first().and_then(|reason| instance_of(reason));
    let instance_id = machine.map(|machine| machine.instance_id.clone()).or(taken);
    if instance_id.is_none() && node_name.is_none() {
        return Ok(None);
    }
    let (gpus, cpus) = requested(job)?;
    let (driver, weight, capacity) = match (gpus, cpus) {
        (Some(gpus), _) => (ShareDriver::Gpu, gpus, machine.and_then(|machine| machine.gpus)),
        (None, Some(cpus)) => (ShareDriver::Cpu, cpus, machine.and_then(|machine| machine.cpus)),
        (None, None) => (ShareDriver::Whole, 1_000, Some(1_000)),
    };
    let (kind, method) = match (machine, &instance_id) {
        (Some(_), _) => (BindingKind::Instance, JoinMethod::InstanceTable),
        (None, Some(_)) => (BindingKind::Instance, JoinMethod::ResourceId),
        (None, None) => (BindingKind::Node, JoinMethod::HostName),
    };
    Ok(Some(Binding {
        kind,
        resource_id: instance_id,
        node_name,
        sku: machine.and_then(|machine| machine.instance_type.clone()),
        start,
        end: run.stopped,
        weight,
        capacity,
        driver,
        gpus: gpus.unwrap_or(0),
        method,
    }))
}

/// The instance in `Host EC2 (instance i-0abc) terminated.`
fn instance_of(reason: &str) -> Option<String> {
    let rest = reason.strip_prefix("Host EC2 (instance ")?;
    rest.split_once(')').map(|(id, _)| id.to_owned()).filter(|id| id.starts_with("i-"))
}

/// Accelerators and processors that a container asks for, in thousandths.
fn requested(job: &Object<'_>) -> Result<(Option<u64>, Option<u64>), Refusal> {
    let (mut gpus, mut cpus) = (None, None);
    if let Some(container) = job.object("container")? {
        cpus = container.thousandths("vcpus")?.filter(|cpus| *cpus > 0);
        for one in container.objects("resourceRequirements")? {
            match one.text("type")? {
                Some("GPU") => gpus = one.thousandths("value")?.filter(|gpus| *gpus > 0),
                Some("VCPU") => cpus = one.thousandths("value")?.filter(|cpus| *cpus > 0).or(cpus),
                Some(_) | None => {}
            }
        }
    }
    Ok((gpus, cpus))
}
