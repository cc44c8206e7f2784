//! The cluster's accounting as `sacct -a -D -X -P --noconvert` and `sacctmgr show instance -P` print it.

use std::fmt::Write as _;

use super::partition::Shape;
use super::plan::{Ending, Submission};
use super::schedule::{Cluster, ClusterAttempt, Instance};
use crate::random::Stream;
use crate::span::LAST;

/// Name of the cluster.
pub(crate) const CLUSTER: &str = "hpc1";

const COLUMNS: &str = "Cluster|JobID|JobIDRaw|Account|User|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|State|\
    ExitCode|DerivedExitCode|NNodes|NCPUS|ReqTRES|AllocTRES|NodeList|Reason|Restarts|FailedNode|DBIndex|SLUID|\
    OriginalSLUID|Comment|AdminComment|Extra|JobName\n";

/// The text of `sacct`, times as seconds since the epoch.
pub(crate) fn accounting(cluster: &Cluster, seed: u64) -> String {
    let mut stream = Stream::new(seed, "sacct");
    let mut text = String::from(COLUMNS);
    for (number, attempt) in cluster.attempts.iter().enumerate() {
        let sluid = format!("s2Y1{}00", stream.letters(8, b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"));
        let number = u64::try_from(number).unwrap_or(0);
        let index = 3_388_546_022_428_150_784 + number * 4096 + u64::from(stream.between(0, 4000));
        let fields: Vec<String> = [identity(attempt), times(attempt), resources(attempt)]
            .into_iter()
            .flatten()
            .chain([index.to_string(), sluid.clone(), sluid])
            .chain(carriers(attempt))
            .collect();
        text.push_str(&fields.join("|"));
        text.push('\n');
    }
    text
}

/// The text of `sacctmgr show instance`, times as seconds since the epoch.
pub(crate) fn instances(cluster: &Cluster) -> String {
    let mut text = String::from("Cluster|NodeName|TimeStart|TimeEnd|InstanceId|InstanceType|Extra\n");
    for Instance { partition, node, id, requested, terminated, .. } in cluster.instances.iter().rev() {
        let end = terminated.map_or("Unknown".to_owned(), |end| end.to_string());
        let (name, kind, market) = (partition.name, partition.instance_type, partition.market.word());
        let zone = if partition.region == "us-east-1" { "use1-az4" } else { "use2-az1" };
        // Writing to a string cannot fail.
        let _written = writeln!(
            text,
            "{CLUSTER}|{name}-{}|{requested}|{end}|{id}|{kind}|az={zone};market={market}",
            node + 1
        );
    }
    text
}

fn identity(attempt: &ClusterAttempt) -> Vec<String> {
    let job = attempt.job;
    let shown = job.task.map_or(job.raw.to_string(), |(array, task)| format!("{array}_{task}"));
    let qos = if attempt.planned.ending == Ending::Preempted { "scavenge" } else { "normal" };
    let experiment = attempt.experiment;
    [
        CLUSTER,
        &shown,
        &job.raw.to_string(),
        experiment.team,
        experiment.user,
        attempt.planned.shape.partition.name,
        qos,
    ]
    .map(str::to_owned)
    .into()
}

fn times(attempt: &ClusterAttempt) -> Vec<String> {
    let known =
        |time: Option<i64>, otherwise: &str| time.map_or(otherwise.to_owned(), |time| time.to_string());
    let elapsed = attempt.started.map_or(0, |start| attempt.ended.unwrap_or(LAST) - start);
    let (state, exit) = state(attempt.planned.ending);
    vec![
        attempt.submitted.to_string(),
        attempt.eligible.to_string(),
        known(attempt.started, "None"),
        known(attempt.ended, "Unknown"),
        elapsed.to_string(),
        state.to_owned(),
        exit.to_owned(),
        "0:0".to_owned(),
    ]
}

/// State and exit code; only the state tells how it ended.
const fn state(ending: Ending) -> (&'static str, &'static str) {
    match ending {
        Ending::Completed => ("COMPLETED", "0:0"),
        Ending::Failed => ("FAILED", "1:0"),
        Ending::Killed => ("FAILED", "137:0"),
        Ending::OutOfMemory => ("OUT_OF_MEMORY", "0:125"),
        Ending::Timeout => ("TIMEOUT", "0:0"),
        Ending::Cancelled | Ending::Withdrawn => ("CANCELLED by 1004", "0:0"),
        Ending::NodeFail | Ending::SpotTaken => ("NODE_FAIL", "1:0"),
        Ending::Preempted => ("PREEMPTED", "0:0"),
        Ending::Requeued => ("REQUEUED", "0:0"),
        Ending::Running => ("RUNNING", "0:0"),
    }
}

fn resources(attempt: &ClusterAttempt) -> Vec<String> {
    let shape = attempt.planned.shape;
    let allocated = if attempt.started.is_some() { tres(shape) } else { String::new() };
    let failed = match (attempt.planned.ending, attempt.nodes.first()) {
        (Ending::NodeFail | Ending::SpotTaken, Some(node)) => {
            format!("{}-{}", shape.partition.name, node + 1)
        }
        _ => String::new(),
    };
    vec![
        shape.nodes.to_string(),
        shape.cpus().to_string(),
        tres(shape),
        allocated,
        node_list(attempt),
        "None".to_owned(),
        attempt.restarts.to_string(),
        failed,
    ]
}

fn tres(shape: Shape) -> String {
    let (cpus, gpus, model) = (shape.cpus(), shape.gpus(), shape.partition.gpu_model);
    format!(
        "billing={cpus},cpu={cpus},gres/gpu:{model}={gpus},gres/gpu={gpus},mem={}M,node={}",
        shape.memory_mib(),
        shape.nodes
    )
}

fn node_list(attempt: &ClusterAttempt) -> String {
    let name = attempt.planned.shape.partition.name;
    let numbers: Vec<String> = attempt.nodes.iter().map(|node| (node + 1).to_string()).collect();
    match numbers.as_slice() {
        [] => "None assigned".to_owned(),
        [one] => format!("{name}-{one}"),
        many => format!("{name}-[{}]", many.join(",")),
    }
}

/// Comment, `AdminComment`, Extra and `JobName`: half of the teams name the experiment in one, half in the other.
fn carriers(attempt: &ClusterAttempt) -> Vec<String> {
    let experiment = attempt.experiment;
    let [model, config, dataset] = experiment.versions;
    let named = format!("experiment={};config={config};dataset={dataset};model={model}", experiment.name);
    let (comment, extra) =
        if experiment.team == "nlp" { (String::new(), named) } else { (named, String::new()) };
    let admin = if attempt.planned.ending == Ending::SpotTaken { "spot interruption" } else { "" };
    let name = match attempt.planned.submission {
        Submission::Seed => format!("{}-s{}", experiment.name, attempt.position),
        // A bar in a job's name is printed as it is.
        Submission::New if experiment.name == "resnet-long" => "resnet-long|warmup".to_owned(),
        Submission::New | Submission::Requeue | Submission::Task => experiment.name.to_owned(),
    };
    vec![comment, admin.to_owned(), extra, name]
}
