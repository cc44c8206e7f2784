//! Summaries of a device's samples, one for each hour.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{Coverage, Gauge, Interval, LOW_SHARE, Low, Metric, Timestamp, Utilisation};

use super::HOUR;

const MICROS: i64 = 1_000_000;

/// Samples of one metric, in order of time.
pub(super) type Points = Vec<(Timestamp, u64)>;

/// Where samples are expected.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    /// What was asked for.
    pub(super) asked: Interval,
    /// Seconds from one sample to the next, where known.
    pub(super) step: Option<u32>,
}

impl Grid {
    /// The step in microseconds.
    fn micros(self) -> Option<i64> {
        self.step.map(|step| i64::from(step) * MICROS)
    }
}

/// A summary, and its last sample.
pub(super) struct Summary {
    pub(super) utilisation: Utilisation,
    pub(super) last: Timestamp,
}

/// The hours, counted from 1970, in which there are samples.
pub(super) fn hours(gauges: &BTreeMap<Metric, Points>) -> BTreeSet<i64> {
    gauges.values().flatten().map(|(at, _)| at.seconds().div_euclid(HOUR)).collect()
}

/// The summaries of each hour that has a sample. Its window is from the first sample to the last; but of an hour that is
/// expected to be full of samples, since it is none of those that `others` have, it is what was asked for.
pub(super) fn summaries(
    gauges: &BTreeMap<Metric, Points>,
    others: Option<&BTreeSet<i64>>,
    grid: &Grid,
) -> Vec<Summary> {
    let of_hour = |number: i64| {
        let whole = others.is_some_and(|others| !others.contains(&number));
        let start = Timestamp::from_seconds(number * HOUR);
        let hour = Interval { start, end: Timestamp::from_seconds((number + 1) * HOUR) };
        let inside: BTreeMap<Metric, &[(Timestamp, u64)]> = gauges
            .iter()
            .map(|(metric, points)| (*metric, part(points, hour)))
            .filter(|(_, points)| !points.is_empty())
            .collect();
        summary(&inside, hour, (whole, grid))
    };
    hours(gauges).into_iter().filter_map(of_hour).collect()
}

/// The points inside an interval.
fn part(points: &[(Timestamp, u64)], interval: Interval) -> &[(Timestamp, u64)] {
    let from = points.partition_point(|(at, _)| *at < interval.start);
    let to = points.partition_point(|(at, _)| *at < interval.end);
    points.get(from..to).unwrap_or_default()
}

fn summary(
    gauges: &BTreeMap<Metric, &[(Timestamp, u64)]>,
    hour: Interval,
    (whole, grid): (bool, &Grid),
) -> Option<Summary> {
    let times: BTreeSet<Timestamp> =
        gauges.values().flat_map(|points| points.iter()).map(|(at, _)| *at).collect();
    let (first, last) = (*times.first()?, *times.last()?);
    let until = Timestamp(last.0.saturating_add(grid.micros().unwrap_or(1))).min(hour.end);
    let seen = Interval { start: first, end: until };
    let asked = grid.asked.intersection(hour).filter(|_| whole);
    // What was asked for cannot be less than what came.
    let window = asked
        .map_or(seen, |asked| Interval { start: asked.start.min(seen.start), end: asked.end.max(seen.end) });
    let coverage = grid.step.and_then(|step_seconds| {
        let step = i64::from(step_seconds) * MICROS;
        let seen = u32::try_from(times.len()).ok()?;
        let room = u32::try_from((window.micros() + step - 1).div_euclid(step)).ok()?;
        Some(Coverage { step_seconds, expected: room.max(seen), seen })
    });
    let power = gauges.get(&Metric::Power).copied().unwrap_or_default();
    let told = |(metric, points): (&Metric, &&[(Timestamp, u64)])| {
        let low = match grid.micros() {
            Some(step) if is_share(*metric) => Some(low(points, power, (window, step))),
            _ => None,
        };
        Gauge { low, ..gauge(*metric, points) }
    };
    let utilisation = Utilisation {
        device: String::new(),
        host: None,
        model: None,
        window,
        coverage,
        gauges: gauges.iter().map(told).collect(),
        errors: Vec::new(),
    };
    Some(Summary { utilisation, last })
}

const fn is_share(metric: Metric) -> bool {
    match metric {
        Metric::GpuBusy
        | Metric::EngineActive
        | Metric::SmActive
        | Metric::TensorActive
        | Metric::MemoryActive
        | Metric::CpuBusy => true,
        Metric::MemoryUsed
        | Metric::MemoryTotal
        | Metric::Power
        | Metric::HostMemoryUsed
        | Metric::HostMemoryTotal => false,
    }
}

fn gauge(metric: Metric, points: &[(Timestamp, u64)]) -> Gauge {
    let values = || points.iter().map(|(_, value)| *value);
    let sum: u128 = values().map(u128::from).sum();
    let count = u128::try_from(points.len()).unwrap_or(u128::MAX);
    Gauge {
        samples: u32::try_from(points.len()).ok(),
        mean: sum.checked_div(count).and_then(|mean| u64::try_from(mean).ok()),
        least: values().min(),
        greatest: values().max(),
        ..Gauge::of(metric)
    }
}

/// The time below the least share that is of use; each sample stands for a step, and never for time after the window.
fn low(points: &[(Timestamp, u64)], power: &[(Timestamp, u64)], (window, step): (Interval, i64)) -> Low {
    let mut found = Low { seconds: 0, longest: 0, at_start: 0, at_end: 0, power: None };
    let stands_for = |at: Timestamp| (window.end.0 - at.0).clamp(0, step);
    let seconds = |micros: i64| u32::try_from(micros / MICROS).unwrap_or(u32::MAX);
    let (mut total, mut longest) = (0_i64, 0_i64);
    // The stretch that goes on: its first sample, the end of its last one, and its length.
    let mut stretch: Option<(Timestamp, i64, i64)> = None;
    for (at, value) in points {
        if *value >= LOW_SHARE {
            stretch = None;
            continue;
        }
        let length = stands_for(*at);
        // A distance of half a step more is a late sample; more is a gap.
        let begun = stretch.filter(|(_, end, _)| at.0 - end <= step / 2);
        let (first, before) = begun.map_or((*at, 0), |(first, _, length)| (first, length));
        let now = before.saturating_add(length);
        stretch = Some((first, at.0.saturating_add(length), now));
        total = total.saturating_add(length);
        longest = longest.max(now);
        if first.0 - window.start.0 < step {
            found.at_start = seconds(now);
        }
        let drawn = power.binary_search_by_key(at, |(time, _)| *time).ok().and_then(|index| power.get(index));
        found.power = found.power.max(drawn.map(|(_, power)| *power));
    }
    if let Some((_, end, length)) = stretch
        && window.end.0 <= end
    {
        found.at_end = seconds(length);
    }
    Low { seconds: seconds(total), longest: seconds(longest), ..found }
}
