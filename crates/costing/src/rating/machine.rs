//! Rates a machine: its runs by the increments of its price, free where the provider says so, nothing while stopped.

use ledger::{BillingPeriod, Interval, PurchaseOption};
use money::Ratio;

use super::usage::{Machine, MachineState};
use super::{Draft, Outcome, RatedLine, RatingRule};
use crate::attribution::{Claim, Landing, Timeline};
use crate::price_book::{MachineWanted, PriceBook, Rate, Unpriced, is_monthly};

const FIRST_HOUR_MICROS: i64 = 3_600_000_000;
const MICROS_PER_SECOND: i64 = 1_000_000;

/// The lines of one machine.
pub(super) fn lines<'a>(book: &'a PriceBook, machine: &Machine) -> Vec<RatedLine<'a>> {
    let timeline = Timeline::of(&machine.holders);
    let claim = Claim::Shared { timeline: &timeline, rest: Landing::IDLE };
    let mut lines = Vec::new();
    for interval in stays(machine, MachineState::Stopped) {
        lines.push(draft(machine, (interval, 0), RatingRule::Stopped).came_to(Outcome::Free));
    }
    for run in stays(machine, MachineState::Running) {
        match &machine.wanted {
            Err(reason) => {
                let draft = draft(machine, (run, run.micros()), RatingRule::TimeUsed);
                lines.push(draft.came_to(Outcome::Unpriced(reason.clone())));
            }
            Ok(wanted) if is_free(machine, wanted, run) => {
                let draft = draft(machine, (run, 0), RatingRule::InterruptedInFirstHour);
                lines.push(draft.came_to(Outcome::Free));
            }
            Ok(wanted) => run_lines(&mut lines, (machine, run, &claim), book.machine_rates(wanted, run)),
        }
    }
    lines
}

/// The times in a state, neighbours joined: each time in the running state is one start.
fn stays(machine: &Machine, state: MachineState) -> Vec<Interval> {
    let mut all: Vec<Interval> =
        machine.stays.iter().filter(|stay| stay.state == state).map(|stay| stay.interval).collect();
    all.sort_unstable();
    let mut joined: Vec<Interval> = Vec::new();
    for next in all {
        match joined.last_mut() {
            Some(last) if next.start <= last.end => last.end = last.end.max(next.end),
            Some(_) | None => joined.push(next),
        }
    }
    joined
}

/// EC2 bills nothing for a Linux spot instance that it interrupts itself in the first hour
/// (docs.aws.amazon.com/AWSEC2/latest/UserGuide/billing-for-interrupted-spot-instances.html).
fn is_free(machine: &Machine, wanted: &MachineWanted, run: Interval) -> bool {
    let is_ec2_spot = wanted.provider == "aws" && wanted.option == PurchaseOption::Spot;
    let interrupted = machine.interruptions.iter().any(|at| run.start <= *at && *at <= run.end);
    is_ec2_spot && wanted.operating_system == "linux" && interrupted && run.micros() < FIRST_HOUR_MICROS
}

/// The lines of one start: a line for each rate, and one for what is billed past the end.
fn run_lines<'a>(
    lines: &mut Vec<RatedLine<'a>>,
    (machine, run, claim): (&Machine, Interval, &Claim<'_>),
    rates: Vec<(Interval, Result<Rate<'a>, Unpriced>)>,
) {
    let last = rates.last().and_then(|(_, rate)| rate.as_ref().ok()).cloned();
    for (piece, rate) in rates {
        let monthly = rate.as_ref().is_ok_and(|rate| rate.parts.iter().any(|p| is_monthly(p.row.key.unit)));
        for piece in if monthly { by_month(piece) } else { vec![piece] } {
            if piece.micros() == 0 {
                continue;
            }
            let draft = draft(machine, (piece, piece.micros()), RatingRule::TimeUsed);
            lines.push(match &rate {
                Ok(rate) => draft.at_rate(rate.clone(), Ratio::ONE, claim),
                Err(reason) => draft.came_to(Outcome::Unpriced(reason.clone())),
            });
        }
    }
    let Some(rate) = last else { return };
    let (rule, surplus) = surplus(&rate, run.micros());
    if surplus > 0 {
        let draft = draft(machine, (run, surplus), rule);
        lines.push(draft.at_rate(rate, Ratio::ONE, claim));
    }
}

/// What a start bills beyond its time, and why.
fn surplus(rate: &Rate<'_>, micros: i64) -> (RatingRule, i64) {
    let Some(increment) = rate.parts.first().map(|part| part.row.increment) else {
        return (RatingRule::RoundedUp, 0);
    };
    let minimum = i64::from(increment.minimum_seconds) * MICROS_PER_SECOND;
    if micros < minimum {
        return (RatingRule::MinimumCharge, minimum - micros);
    }
    let step = i64::from(increment.seconds.max(1)) * MICROS_PER_SECOND;
    (RatingRule::RoundedUp, (step - micros % step) % step)
}

/// The parts of an interval in each calendar month.
pub(super) fn by_month(interval: Interval) -> Vec<Interval> {
    let mut parts = Vec::new();
    let mut from = interval.start;
    while from < interval.end {
        let end = BillingPeriod::of(from).interval().end.min(interval.end);
        parts.push(Interval { start: from, end });
        from = end;
    }
    parts
}

fn draft(machine: &Machine, (interval, billed_micros): (Interval, i64), rule: RatingRule) -> Draft<'_> {
    let month_micros = BillingPeriod::of(interval.start).interval().micros();
    Draft { resource_id: &machine.resource_id, interval, billed_micros, rule, month_micros }
}
