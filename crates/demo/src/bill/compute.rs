//! Rows for instances: on demand, spot, in a capacity block, and the machines outside the cluster.

use super::Window;
use super::line::Line;
use crate::DemoError;
use crate::cluster::partition::Market;
use crate::cluster::sacct::CLUSTER;
use crate::cluster::schedule::Instance;
use crate::company::{CAPACITY_BLOCK, Company, EVALUATION};
use crate::desk::DeskMachine;
use crate::exact::{Used, amount, share};
use crate::random::Stream;
use crate::span::{DAY, FIRST, Span};

/// On-demand rate an hour of the instance types of the cluster; a demo price list.
pub(crate) fn on_demand(instance_type: &str) -> &'static str {
    match instance_type {
        "p4d.24xlarge" => "21.957642",
        "p5.48xlarge" => "55.04",
        "g5.48xlarge" => "16.288",
        _ => "5.672",
    }
}

/// Every instance of the cluster that no savings plan or reservation covers.
pub(crate) fn cluster(company: &Company, window: Window) -> Result<Vec<Line>, DemoError> {
    let mut lines = Vec::new();
    for instance in &company.cluster.instances {
        let covered = instance.partition.instance_type == "p4d.24xlarge";
        for piece in instance.billed.within(window.covered).hours() {
            match instance.partition.market {
                // EC2 charges nothing for Linux spot capacity that it takes back in its first hour.
                Market::Spot if instance.is_free() => {}
                Market::Spot => lines.push(spot(company, instance, piece)?),
                Market::Block => lines.push(block(instance, piece)),
                Market::OnDemand if covered => {}
                Market::OnDemand => lines.push(hourly(instance, piece)?),
                Market::Reserved => {}
            }
        }
    }
    Ok(lines)
}

/// An on-demand row for `piece` of an hour.
pub(crate) fn hourly(instance: &Instance, piece: Span) -> Result<Line, DemoError> {
    let kind = instance.partition.instance_type;
    let cost = share(amount(on_demand(kind))?, piece.seconds(), 3600)?;
    let description = format!("${} per On Demand Linux {kind} Instance Hour", on_demand(kind));
    Ok(boxed(instance, piece).costing(cost).described(description))
}

/// An instance-hour without its cost; the row spans the clock hour, as metering does.
pub(crate) fn boxed(instance: &Instance, piece: Span) -> Line {
    let kind = instance.partition.instance_type;
    let mut line = Line::usage("AmazonEC2", format!("BoxUsage:{kind}"), "RunInstances", piece.clock_hour())
        .on(instance.id.clone())
        .used(Used::part(1, piece.seconds(), 3600), "Hrs")
        .tagged("user_cluster", CLUSTER)
        .tagged("user_partition", instance.partition.name);
    line.instance_type = kind;
    line.region = instance.partition.region;
    line
}

fn spot(company: &Company, instance: &Instance, piece: Span) -> Result<Line, DemoError> {
    let day = (piece.start - FIRST) / DAY;
    let cents = Stream::new(company.seed, &format!("spot {day}")).between(206, 254);
    let kind = instance.partition.instance_type;
    let mut line = boxed(instance, piece);
    line.cost = share(amount(&format!("{}.{:02}", cents / 100, cents % 100))?, piece.seconds(), 3600)?;
    line.usage_type = format!("SpotUsage:{kind}");
    line.operation = "RunInstances:SV001";
    // The product columns of spot rows are empty; the type is the first word of the description.
    line.instance_type = "";
    Ok(line.described(format!("{kind} Linux/UNIX Spot Instance-hour in US East (Virginia) in VPC Zone #4")))
}

fn block(instance: &Instance, piece: Span) -> Line {
    let kind = instance.partition.instance_type;
    let mut line = boxed(instance, piece);
    line.usage_type = format!("USE2-BoxUsage:{kind}");
    line.operation = "RunInstances:CB";
    line.block = CAPACITY_BLOCK;
    line.costing(money::Amount::ZERO)
        .described(format!("$0.00 per Capacity Block Linux {kind} Instance Hour"))
}

/// Evaluation machines, the workstation, the forgotten instance and the Kubernetes node, with their volumes.
pub(crate) fn desk(company: &Company, window: Window) -> Result<Vec<Line>, DemoError> {
    let mut lines = Vec::new();
    for machine in company.desk.machines.iter().chain([&company.desk.node]) {
        for piece in machine.up.iter().flat_map(|up| up.within(window.covered).hours()) {
            lines.push(desk_hour(machine, piece)?);
        }
        for day in machine.volume_kept.within(window.covered).days() {
            let volume = (machine.volume.as_str(), machine.kind.2);
            let mut line = super::storage::volume(volume, day, window)?.tagged("user_team", machine.team);
            line.account = EVALUATION;
            lines.push(line);
        }
    }
    Ok(lines)
}

fn desk_hour(machine: &DeskMachine, piece: Span) -> Result<Line, DemoError> {
    let (kind, rate, _) = machine.kind;
    let mut line = Line::usage("AmazonEC2", format!("BoxUsage:{kind}"), "RunInstances", piece.clock_hour())
        .on(machine.id.clone())
        .used(Used::part(1, piece.seconds(), 3600), "Hrs")
        .costing(share(amount(rate)?, piece.seconds(), 3600)?)
        .described(format!("${rate} per On Demand Linux {kind} Instance Hour"))
        .tagged("user_team", machine.team);
    line.account = EVALUATION;
    line.instance_type = kind;
    Ok(line)
}
