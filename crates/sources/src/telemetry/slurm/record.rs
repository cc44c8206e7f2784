//! One accounting record, whatever its format, and the observations that it gives.

use ledger::{
    AttemptView, Binding, BindingKind, Capacity, Cause, Chain, Interval, JoinMethod, Observation, Outcome,
    RunRecord, RunState, ShareDriver, SourceId, Timestamp,
};

use super::carrier;
use super::fault::Refusal;
use super::nodes;
use super::state::{self, Span, Standing};
use super::tres::Tres;
use super::{Conventions, GpuAccounting, SlurmOptions};
use crate::telemetry::jobstats::{self, Summarised};

/// Thousandths in one GPU, CPU or node.
const WHOLE: u64 = 1000;

/// An accounting record as far as it is read.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) cluster: String,
    pub(super) job: Job,
    pub(super) submit: Timestamp,
    pub(super) eligible: Option<Timestamp>,
    pub(super) start: Option<Timestamp>,
    pub(super) end: Option<Timestamp>,
    pub(super) elapsed_seconds: Option<u64>,
    /// State words; the first is the base state.
    pub(super) state: Vec<String>,
    /// Who cancelled it.
    pub(super) cancelled_by: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) failed_node: Option<String>,
    pub(super) exit_code: Option<i32>,
    pub(super) exit_signal: Option<u32>,
    pub(super) restarts: Option<u32>,
    pub(super) allocated: Tres,
    pub(super) requested: Tres,
    pub(super) cpus: Option<u64>,
    pub(super) node_list: String,
    pub(super) node_count: Option<u32>,
    pub(super) sluid: Option<String>,
    pub(super) db_index: Option<String>,
    pub(super) name: Option<String>,
    pub(super) user: Option<String>,
    pub(super) account: Option<String>,
    pub(super) partition: Option<String>,
    pub(super) extra: Option<String>,
    pub(super) comment: Option<String>,
    pub(super) admin_comment: Option<String>,
    pub(super) steps: Vec<Step>,
}

/// The names of a job.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Job {
    /// Raw id, or the shown id where the raw one is missing.
    pub(super) id: String,
    /// The id as shown, such as `5_2` or `8+1`, where it differs.
    pub(super) shown: Option<String>,
    /// The first part of a heterogeneous job.
    pub(super) leader: Option<String>,
    /// True for tasks of an array that wait together.
    pub(super) range: bool,
}

/// What a step shows of the cause.
#[derive(Debug)]
pub(super) struct Step {
    /// Its name behind the job id, such as `batch` or `0`.
    pub(super) name: String,
    /// Most memory that a task of it held, in bytes.
    pub(super) max_rss: Option<u64>,
    /// True if it ended as OUT_OF_MEMORY.
    pub(super) out_of_memory: bool,
    /// True if it ended as FAILED.
    pub(super) failed: bool,
}

impl Record {
    /// All records of one job share this.
    pub(super) fn chain(&self) -> String {
        format!("slurm:{}:{}", self.cluster, self.job.id)
    }

    /// GPUs over all nodes, where they are counted.
    pub(super) fn gpus(&self) -> Option<u64> {
        self.allocated.gpus().or_else(|| self.requested.gpus())
    }

    fn span(&self) -> Span {
        match (self.start, self.end) {
            (_, Some(_)) => Span::Closed,
            (Some(_), None) => Span::Open,
            (None, None) => Span::Waiting,
        }
    }
}

/// What the record says: its attempt, and one binding a node. Nothing for a waiting range or a revoked record.
pub(super) fn observations(record: &Record, options: &SlurmOptions) -> Result<Vec<Observation>, Refusal> {
    if record.job.range && record.start.is_none() {
        return Ok(Vec::new());
    }
    let Some(standing) = state::standing(&record.state, record.span())? else { return Ok(Vec::new()) };
    let standing = failed_by_itself(record, standing);
    let held = held(record, &standing)?;
    let nodes = nodes::expand(&record.node_list)?;
    let gpus = record.gpus().or(match options.gpu_accounting {
        GpuAccounting::Complete => Some(0),
        GpuAccounting::AsReported => None,
    });
    let gpus = gpus.map(|gpus| gpus.saturating_mul(WHOLE));
    let bindings = bindings(record, &held, &nodes, gpus);
    let size = AllocatedSize { gpus, nodes: nodes.len() };
    let view = view(record, standing, (&held, size), &options.conventions);
    let source = SourceId(format!("slurm:{}", record.cluster));
    let key = format!("{}:{}", record.chain(), record.submit.seconds());
    let records =
        std::iter::once(RunRecord::Attempt(view)).chain(bindings.into_iter().map(RunRecord::Binding));
    Ok(records
        .map(|record| Observation { source: source.clone(), key: key.clone(), modified_at: None, record })
        .collect())
}

/// A job that is put back into the queue after it failed, by hand or by the cluster's `RequeueExit`, becomes REQUEUED. Its
/// exit code stays that of its failure, and its batch step FAILED; one that is stopped to be put back has neither. (Of 22.05
/// both were seen, of 26.05 the second.)
fn failed_by_itself(record: &Record, standing: Standing) -> Standing {
    let put_back = standing.state == RunState::Ended && standing.cause == Cause::RequeuedByOperator;
    let code = record.exit_code.is_some_and(|code| code != 0) && record.exit_signal.is_none();
    if put_back && (code || batch_failed(record)) {
        return Standing { outcome: Outcome::Failed, cause: Cause::AppError, ..standing };
    }
    standing
}

fn batch_failed(record: &Record) -> bool {
    record.steps.iter().any(|step| step.failed && step.name == "batch")
}

/// The exit code, where one is told: 0 of a job that failed or was ended by a signal is none, and the JSON of 22.05 says 0
/// of every job that failed.
fn exit_code(record: &Record, standing: &Standing) -> Option<i32> {
    let untold = record.exit_signal.is_some() || standing.cause == Cause::AppError;
    record.exit_code.filter(|code| *code != 0 || !untold)
}

/// What jobstats wrote into the comment of the record.
pub(super) fn summary(record: &Record) -> Result<Vec<Observation>, Refusal> {
    let ran = record.start.zip(record.end).and_then(|(start, end)| Interval::new(start, end).ok());
    let summarised = Summarised {
        key: format!("{}:{}", record.chain(), record.submit.seconds()),
        cluster: &record.cluster,
        ran,
        text: record.admin_comment.as_deref().unwrap_or_default(),
    };
    jobstats::observations(&summarised).map_err(|refusal| Refusal {
        code: refusal.code,
        column: refusal.column,
        found: refusal.found,
        expected: refusal.expected,
    })
}

/// From when to when the record held its nodes.
struct Held {
    start: Option<Timestamp>,
    end: Option<Timestamp>,
}

/// How much the record held, as far as it says so.
struct AllocatedSize {
    gpus: Option<u64>,
    nodes: usize,
}

fn held(record: &Record, standing: &Standing) -> Result<Held, Refusal> {
    let (start, end) = match standing.state {
        RunState::Pending => (None, None),
        RunState::Running | RunState::Lost => (record.start, None),
        RunState::Ended => (record.start, record.end),
    };
    if standing.state == RunState::Ended && end.is_none() {
        return Err(Refusal::new(
            "slurm::no_end",
            "End",
            &standing.word,
            "an end time, since the state says it ended",
        ));
    }
    if let (Some(start), Some(end)) = (start, end)
        && end < start
    {
        let found = format!("{start} to {end}");
        return Err(Refusal::new("slurm::ends_before_start", "End", &found, "an end at or after the start"));
    }
    Ok(Held { start, end })
}

fn bindings(record: &Record, held: &Held, nodes: &[String], gpus: Option<u64>) -> Vec<Binding> {
    let Some(start) = held.start else { return Vec::new() };
    let gpus = even(gpus.unwrap_or(0), nodes.len());
    let cpus = record.allocated.cpus.or(record.cpus).filter(|cpus| *cpus > 0);
    let cpus = cpus.map(|cpus| even(cpus.saturating_mul(WHOLE), nodes.len()));
    let share = |at: usize, gpus: u64| match (gpus, &cpus) {
        (0, Some(cpus)) => (cpus.get(at).copied().unwrap_or(0), ShareDriver::Cpu),
        (0, None) => (WHOLE, ShareDriver::Whole),
        (gpus, _) => (gpus, ShareDriver::Gpu),
    };
    nodes
        .iter()
        .zip(&gpus)
        .enumerate()
        .map(|(at, (node, gpus))| {
            let (weight, driver) = share(at, *gpus);
            Binding {
                kind: BindingKind::Node,
                resource_id: None,
                node_name: Some(node.clone()),
                sku: None,
                start,
                end: held.end,
                weight,
                capacity: None,
                driver,
                gpus: *gpus,
                method: JoinMethod::HostName,
            }
        })
        .collect()
}

/// `total` over `count` places so that the parts sum to it; the first places take what is left.
fn even(total: u64, count: usize) -> Vec<u64> {
    let places = u64::try_from(count).unwrap_or(u64::MAX).max(1);
    let (share, left) = (total.div_euclid(places), total.rem_euclid(places));
    (0..places).take(count).map(|place| share + u64::from(place < left)).collect()
}

fn view(
    record: &Record,
    standing: Standing,
    (held, size): (&Held, AllocatedSize),
    conventions: &Conventions,
) -> AttemptView {
    let texts = [record.extra.as_deref(), record.comment.as_deref(), record.admin_comment.as_deref()];
    let named = carrier::named(&texts, conventions);
    let by_name = record.name.as_deref().and_then(|name| conventions.naming.experiment_of(name));
    let own = format!("slurm:{}/{}", record.cluster, record.job.leader.as_ref().unwrap_or(&record.job.id));
    let ended = standing.state == RunState::Ended && !standing.resizing;
    let (cause, cause_evidence) =
        if ended { cause(record, &standing, size.nodes) } else { (Cause::Unknown, Vec::new()) };
    let exit_code = exit_code(record, &standing);
    let counted_nodes = u32::try_from(size.nodes).ok().filter(|count| *count > 0);
    AttemptView {
        aliases: aliases(record),
        link: Some(carrier::link(named.experiment.as_deref(), by_name, &own)),
        chain: Some(Chain { job: record.chain(), resizing: standing.resizing }),
        scheduler: "slurm".to_owned(),
        cluster: Some(record.cluster.clone()),
        name: record.name.clone(),
        user: record.user.clone(),
        team: record.account.clone(),
        queue: record.partition.clone(),
        submitted_at: Some(record.submit),
        started_at: held.start,
        ended_at: held.end,
        state: standing.state,
        outcome: standing.outcome,
        cause,
        cause_evidence,
        exit_code: exit_code.filter(|_| ended),
        restart_index: record.restarts,
        gpu_count: size.gpus,
        gpu_kind: record.allocated.kind().or_else(|| record.requested.kind()),
        // While it runs, the count only tells when the export was made, which nothing here says.
        elapsed_seconds: record.elapsed_seconds.filter(|_| standing.state != RunState::Running),
        node_count: counted_nodes
            .or_else(|| record.node_count.filter(|count| held.start.is_some() && *count > 0)),
        capacity: Capacity::Unknown,
        model_version: named.model,
        config_version: named.config,
        dataset_snapshot: named.dataset,
        namespace: None,
    }
}

fn aliases(record: &Record) -> Vec<String> {
    let named = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("{name}={value}"));
    let aliases = [
        named("job_id", &record.job.shown),
        named("sluid", &record.sluid),
        named("db_index", &record.db_index),
    ];
    aliases.into_iter().flatten().collect()
}

/// Why an ended attempt ended, and in which of the record's words.
fn cause(record: &Record, standing: &Standing, nodes: usize) -> (Cause, Vec<String>) {
    if standing.outcome == Outcome::Completed || standing.word.is_empty() {
        return (standing.cause, Vec::new());
    }
    let cancelled = standing.word == "CANCELLED";
    let by =
        record.cancelled_by.as_ref().filter(|_| cancelled).map(|by| format!(" by {by}")).unwrap_or_default();
    let mut evidence = vec![format!("state {}{by}", standing.word)];
    evidence.extend(record.failed_node.as_ref().map(|node| format!("failed node {node}")));
    evidence.extend(record.exit_code.filter(|code| *code != 0).map(|code| format!("exit code {code}")));
    evidence.extend(record.exit_signal.map(|signal| format!("signal {signal}")));
    let put_back = standing.cause == Cause::AppError && standing.word != "FAILED";
    evidence.extend((put_back && batch_failed(record)).then(|| "step batch FAILED".to_owned()));
    if cancelled && record.start.is_none() && record.reason.as_deref() == Some("DependencyNeverSatisfied") {
        evidence.push("reason DependencyNeverSatisfied".to_owned());
        return (Cause::Dependency, evidence);
    }
    let memory = memory_evidence(record, nodes);
    if standing.cause != Cause::AppError || memory.is_empty() {
        return (standing.cause, evidence);
    }
    evidence.extend(memory);
    (Cause::OomHost, evidence)
}

/// Steps that ran out of memory, by their state or by what they held; a kill for memory can end as plain FAILED.
fn memory_evidence(record: &Record, nodes: usize) -> Vec<String> {
    let places = u64::try_from(nodes).unwrap_or(1).max(1);
    let total = record.allocated.memory.or(record.requested.memory).filter(|memory| *memory > 0);
    let limit = total.map(|memory| memory.div_euclid(places));
    let shown = |step: &Step| {
        if step.out_of_memory {
            return Some(format!("step {} OUT_OF_MEMORY", step.name));
        }
        let (held, limit) = (step.max_rss?, limit?);
        (held > limit).then(|| format!("step {} held {held} bytes of {limit} (MaxRSS)", step.name))
    };
    record.steps.iter().filter_map(shown).collect()
}
