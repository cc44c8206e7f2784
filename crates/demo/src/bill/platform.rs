//! Rows of shared platforms: gateways, the Kubernetes control plane with split data, monitoring, model APIs.

use money::Amount;

use super::Window;
use super::line::{Line, Split};
use crate::DemoError;
use crate::company::{Company, EKS, EVALUATION, Payer};
use crate::desk::{DeskMachine, Pod};
use crate::exact::{Used, amount, share, split, times};
use crate::random::Stream;
use crate::span::{LAST, Span, moment};

/// Capacity of the Kubernetes node: accelerators, processors, GiB.
const NODE_CAPACITY: [u64; 3] = [4, 48, 192];
/// Published weights of accelerator, processor and memory: 9 : 1, and within the rest 9 : 1, times ten.
const SPLIT_WEIGHTS: [u64; 3] = [90, 9, 1];
const SPLIT_ROWS: [(&str, &str); 3] = [
    ("USE1-EKS-EC2-Accelerator-Hours", "Accelerator-Hours"),
    ("USE1-EKS-EC2-vCPU-Hours", "vCPU-Hours"),
    ("USE1-EKS-EC2-GB-Hours", "GB-Hours"),
];
/// When the Kubernetes cluster was there.
const KUBERNETES: Span = Span::new(moment(30, 0), LAST);

/// The NAT gateway of the cluster.
pub(crate) fn network(company: &Company, window: Window) -> Result<Vec<Line>, DemoError> {
    let mut stream = Stream::new(company.seed, "nat");
    let gateway = "arn:aws:ec2:us-east-1:111122223333:natgateway/nat-0d3m0a7e";
    let rate = amount("0.045")?;
    let mut lines = Vec::new();
    for hour in window.covered.hours() {
        let gigabytes = u64::from(stream.between(0, 24));
        lines.push(
            Line::usage("AmazonEC2", "NatGateway-Hours", "NatGateway", hour)
                .on(gateway)
                .used(Used::whole(1), "Hrs")
                .costing(rate)
                .described("$0.045 per NAT Gateway Hour"),
        );
        lines.push(
            Line::usage("AmazonEC2", "NatGateway-Bytes", "NatGateway", hour)
                .on(gateway)
                .used(Used::whole(gigabytes), "GB")
                .costing(times(rate, gigabytes)?)
                .described("$0.045 per GB Data Processed by NAT Gateways"),
        );
    }
    Ok(lines)
}

/// The control plane's fee, and split rows for every pod-hour.
pub(crate) fn kubernetes(company: &Company, window: Window) -> Result<Vec<Line>, DemoError> {
    let mut lines = Vec::new();
    for hour in KUBERNETES.within(window.covered).hours() {
        let mut line = Line::usage("AmazonEKS", "USE1-AmazonEKS-Hours:perCluster", "CreateOperation", hour)
            .on(EKS)
            .used(Used::whole(1), "Hours")
            .costing(amount("0.1")?)
            .described("Amazon EKS cluster usage in US East (N. Virginia)");
        line.account = EVALUATION;
        lines.push(line);
    }
    let node = &company.desk.node;
    for hour in node.up.iter().flat_map(|up| up.within(window.covered).hours()) {
        let pods: Vec<&Pod> = company.desk.pods.iter().filter(|p| !p.ran.within(hour).is_empty()).collect();
        lines.extend(split_hour(node, (hour, &pods))?);
    }
    Ok(lines)
}

/// The node's cost of an hour, split over what each pod reserved for how long; the idle rest in the same proportion.
fn split_hour(node: &DeskMachine, (hour, pods): (Span, &[&Pod])) -> Result<Vec<Line>, DemoError> {
    let cost = share(amount(node.kind.1)?, hour.seconds(), 3600)?;
    let mut used = Vec::new();
    for pod in pods {
        let seconds = pod.ran.within(hour).seconds();
        for ((reserved, weight), row) in pod.reserved.into_iter().zip(SPLIT_WEIGHTS).zip(SPLIT_ROWS) {
            used.push((*pod, row, u64::from(reserved) * seconds, u64::from(reserved) * seconds * weight));
        }
    }
    let weights: Vec<u64> = used.iter().map(|(_, _, _, weight)| *weight).collect();
    let taken: u64 = weights.iter().sum();
    if taken == 0 {
        return Ok(Vec::new());
    }
    let whole: u64 =
        NODE_CAPACITY.iter().zip(SPLIT_WEIGHTS).map(|(capacity, weight)| capacity * weight).sum();
    let used_cost = share(cost, taken, whole * hour.seconds())?;
    let costs = split(used_cost, &weights)?;
    let idle = split(cost.checked_sub(used_cost)?, &weights)?;
    let mut lines = Vec::new();
    for (((pod, (usage_type, unit), amount_seconds, _), cost), unused) in
        used.into_iter().zip(costs).zip(idle)
    {
        let reserved = Used::part(1, amount_seconds, 3600);
        let mut line = Line::usage("AmazonEKS", usage_type, "EKSPod-EC2", hour.clock_hour())
            .on(pod.arn.clone())
            .used(reserved, unit)
            .tagged("aws_eks_cluster_name", "eval")
            .tagged("user_experiment_id", pod.experiment);
        line.account = EVALUATION;
        line.split = Some(Split { parent: node.id.clone(), cost, unused, reserved });
        lines.push(line);
    }
    Ok(lines)
}

/// Metrics and logs: one row under the free tier, whose public cost is above zero, and one that is paid.
pub(crate) fn monitoring(company: &Company, payer: &Payer, window: Window) -> Result<Vec<Line>, DemoError> {
    let mut stream = Stream::new(company.seed, &format!("monitoring {}", payer.id));
    let mut lines = Vec::new();
    for day in window.covered.days() {
        let megabytes = u64::from(stream.between(20, 160));
        let public = share(amount("0.5")?, megabytes, 1000)?;
        let mut free = Line::usage("AmazonCloudWatch", "USE1-DataProcessing-Bytes", "PutLogEvents", day)
            .on("/hpc1/slurmctld")
            .used(Used::part(megabytes, 1, 1000), "GB")
            .described("First 5GB-mo per month of log data ingested is free");
        free.public = Some(public);
        lines.push(free);
        let metrics = Line::usage("AmazonCloudWatch", "CW:MetricMonitorUsage", "MetricStorage", day)
            .used(Used::whole(40), "Metrics")
            .costing(share(amount("12")?, day.seconds(), window.month.seconds())?)
            .described("$0.30 per metric-month for the first 10,000 metrics");
        lines.push(metrics);
    }
    Ok(lines)
}

/// Inference on model APIs.
pub(crate) fn model_api(company: &Company, window: Window) -> Result<Vec<Line>, DemoError> {
    let mut stream = Stream::new(company.seed, "bedrock");
    let mut lines = Vec::new();
    for day in window.covered.days() {
        for (kind, rate, most) in [("input", "0.003", 9_000), ("output", "0.015", 1_200)] {
            let thousands = u64::from(stream.between(200, most));
            lines.push(tokens(kind, (amount(rate)?, thousands), day)?);
        }
    }
    Ok(lines)
}

fn tokens(kind: &str, (rate, thousands): (Amount, u64), day: Span) -> Result<Line, DemoError> {
    Ok(Line::usage("AmazonBedrock", format!("USE1-DemoModel-{kind}-tokens"), "InvokeModelInference", day)
        .on("arn:aws:bedrock:us-east-1::foundation-model/demo.model-v1")
        .used(Used::whole(thousands), "1K tokens")
        .costing(times(rate, thousands)?)
        .described(format!("${rate} per 1K {kind} tokens for demo.model-v1")))
}
