//! Rows of commitments: the savings plan with its covered usage, the reservation, the capacity block's fee.

use std::collections::BTreeMap;

use money::Amount;

use super::Window;
use super::compute::{boxed, hourly, on_demand};
use super::line::{Line, PlanFee, ReservationFee, Reserved};
use crate::DemoError;
use crate::cluster::partition::{BLOCK_END, BLOCK_START, Market};
use crate::cluster::schedule::Instance;
use crate::company::{CAPACITY_BLOCK, Company, RESERVATION, SAVINGS_PLAN};
use crate::exact::{Used, amount, share, sum, times};
use crate::span::Span;

/// Commitment an hour, half of it paid upfront a year before.
const COMMITMENT: &str = "12";
const HALF_COMMITMENT: &str = "6";
/// Savings-plan rate an hour of a `p4d.24xlarge`: an hour of one instance is more than the commitment.
const PLAN_RATE: &str = "13.1745852";
/// Recurring rate an hour of the reservation, and as much again is paid upfront.
const RESERVED_RATE: &str = "1.9";
const RESERVED_HOURS_OF_TERM: u64 = 8760;
const PLAN_USAGE_TYPE: &str = "EC2SP:p4d.1yrPartialUpfront";
/// Fee of the capacity block: two instances for three days at 31.464 an hour.
const BLOCK_FEE: &str = "4530.816";

/// All rows of commitments.
pub(crate) fn lines(company: &Company, window: Window) -> Result<Vec<Line>, DemoError> {
    let mut lines = plan(company, window)?;
    lines.extend(reservation(company, window)?);
    if window.covered.start <= BLOCK_START && BLOCK_START < window.covered.end {
        let mut fee = Line::usage(
            "AmazonEC2",
            "USE2-CapacityBlockFee:p5.48xlarge",
            "",
            Span::new(BLOCK_START, BLOCK_END),
        )
        .on(CAPACITY_BLOCK)
        .costing(amount(BLOCK_FEE)?)
        .described("Upfront fee for a Capacity Block of 2 p5.48xlarge for 72 hours");
        (fee.line_type, fee.bill_type, fee.region, fee.block) =
            ("Fee", "Purchase", "us-east-2", CAPACITY_BLOCK);
        lines.push(fee);
    }
    Ok(lines)
}

type Pieces<'a> = Vec<(&'a Instance, Span)>;

/// Hour by hour: covered usage up to the commitment, its negation, on-demand usage beyond it, and the fee.
fn plan(company: &Company, window: Window) -> Result<Vec<Line>, DemoError> {
    let mut by_hour: BTreeMap<i64, Pieces<'_>> = BTreeMap::new();
    for instance in company.cluster.instances.iter().filter(|i| i.partition.instance_type == "p4d.24xlarge") {
        for piece in instance.billed.within(window.covered).hours() {
            by_hour.entry(piece.clock_hour().start).or_default().push((instance, piece));
        }
    }
    let mut lines = Vec::new();
    for hour in window.covered.hours() {
        let used = by_hour.get(&hour.start).map_or(Ok(Amount::ZERO), |pieces| cover(&mut lines, pieces))?;
        let recurring = amount(HALF_COMMITMENT)?;
        let mut fee = Line::usage("ComputeSavingsPlans", PLAN_USAGE_TYPE, "", hour)
            .used(Used::whole(1), "Hrs")
            .described("1 year Partial Upfront p4d EC2 Instance Savings Plan");
        fee.line_type = "SavingsPlanRecurringFee";
        fee.plan = SAVINGS_PLAN;
        fee.cost = recurring;
        fee.plan_fee = Some(PlanFee { total: amount(COMMITMENT)?, used, recurring, upfront: recurring });
        lines.push(fee);
    }
    Ok(lines)
}

/// Rows of one hour; returns how much of the commitment they use.
fn cover(lines: &mut Vec<Line>, pieces: &Pieces<'_>) -> Result<Amount, DemoError> {
    let rate = amount(PLAN_RATE)?;
    let mut left = amount(COMMITMENT)?;
    let mut negated = Vec::new();
    for (instance, piece) in pieces {
        // Whole seconds that the commitment still pays for: a count, not money.
        let paid = u64::try_from(left.units() * 3600 / rate.units()).unwrap_or(0);
        let seconds = i64::try_from(piece.seconds().min(paid)).unwrap_or(0);
        let border = piece.start + seconds;
        let (under, beyond) = (Span::new(piece.start, border), Span::new(border, piece.end));
        if !under.is_empty() {
            let mut line = hourly(instance, under)?;
            let effective = share(rate, under.seconds(), 3600)?;
            left = left.checked_sub(effective)?;
            negated.push(line.cost);
            line.line_type = "SavingsPlanCoveredUsage";
            line.plan = SAVINGS_PLAN;
            line.plan_effective = Some(effective);
            lines.push(line);
        }
        if !beyond.is_empty() {
            lines.push(hourly(instance, beyond)?);
        }
    }
    if let Some((_, piece)) = pieces.first() {
        lines.push(negation(piece.clock_hour(), sum(negated)?));
    }
    Ok(amount(COMMITMENT)?.checked_sub(left)?)
}

fn negation(hour: Span, covered: Amount) -> Line {
    let mut line = Line::usage("AmazonEC2", "BoxUsage:p4d.24xlarge", "RunInstances", hour)
        .used(Used::whole(1), "Hrs")
        .costing(covered.negated())
        .described("SavingsPlanNegation used by AccountId : 111122223333 and UsageSku : DEMOP4D24XL");
    line.line_type = "SavingsPlanNegation";
    line.plan = SAVINGS_PLAN;
    line.instance_type = "p4d.24xlarge";
    line
}

/// Discounted usage, the monthly fee with its unused part, and the purchase itself in the first month.
fn reservation(company: &Company, window: Window) -> Result<Vec<Line>, DemoError> {
    let rate = amount(RESERVED_RATE)?;
    let mut lines = Vec::new();
    let mut effective = Vec::new();
    let mut seconds = 0;
    for instance in company.cluster.instances.iter().filter(|i| i.partition.market == Market::Reserved) {
        for piece in instance.billed.within(window.covered).hours() {
            let part = share(rate, piece.seconds(), 3600)?;
            let mut line =
                boxed(instance, piece).described("Linux/UNIX (Amazon VPC), g5.12xlarge reserved instance");
            line.public = Some(share(amount(on_demand("g5.12xlarge"))?, piece.seconds(), 3600)?);
            line.line_type = "DiscountedUsage";
            line.reservation = RESERVATION;
            line.reserved = Some(Reserved { upfront: part, recurring: part });
            effective.push(part);
            seconds += piece.seconds();
            lines.push(line);
        }
    }
    lines.push(monthly_fee(window, sum(effective)?, seconds)?);
    if window.period.month == 9 {
        let mut purchase = Line::usage("AmazonEC2", "HeavyUsage:g5.12xlarge", "RunInstances", window.month)
            .described("Sign up charge for subscription: demo, planId: demo");
        purchase.cost = times(rate, RESERVED_HOURS_OF_TERM)?;
        (purchase.line_type, purchase.bill_type, purchase.reservation) = ("Fee", "Purchase", RESERVATION);
        purchase.instance_type = "g5.12xlarge";
        lines.push(purchase);
    }
    Ok(lines)
}

/// The fee to date: the provider updates this one row of the month every day.
fn monthly_fee(window: Window, used: Amount, used_seconds: u64) -> Result<Line, DemoError> {
    let to_date = window.covered.seconds();
    let total = times(amount(RESERVED_RATE)?, to_date / 3600)?;
    let unused = total.checked_sub(used)?;
    let mut fee = Line::usage("AmazonEC2", "HeavyUsage:g5.12xlarge", "RunInstances", window.month)
        .used(Used::whole(to_date / 3600), "Hrs")
        .described("USD 1.9 hourly fee per Linux/UNIX (Amazon VPC), g5.12xlarge instance");
    fee.line_type = "RIFee";
    fee.reservation = RESERVATION;
    fee.instance_type = "g5.12xlarge";
    fee.cost = total;
    fee.reservation_fee = Some(ReservationFee {
        unused: Reserved { upfront: unused, recurring: unused },
        upfront: total,
        unused_hours: Used::part(1, to_date.saturating_sub(used_seconds), 3600),
    });
    Ok(fee)
}
