//! The values of a metric over a run, within bounds: trackers log a million of them, and an attempt keeps what tells
//! how it went.

use std::collections::BTreeMap;

use ledger::{QualityResult, Timestamp};

use crate::telemetry::Warning;

/// Values kept of one metric of one attempt, beside the first, the last, the least and the greatest.
pub(in crate::telemetry) const MAX_POINTS: usize = 1_000;

/// Metrics kept of one attempt.
pub(in crate::telemetry) const MAX_METRICS: usize = 1_000;

/// Longest name of a metric, in characters; a longer one is cut.
const MAX_NAME: usize = 250;

/// One value.
#[derive(Debug, Clone, Copy)]
pub(in crate::telemetry) struct Point {
    pub(in crate::telemetry) at: Timestamp,
    pub(in crate::telemetry) step: Option<u64>,
    pub(in crate::telemetry) value: f64,
}

impl Point {
    /// The same value, bit for bit, at the same time and step.
    fn is_same(&self, other: &Self) -> bool {
        (self.at, self.step, self.value.to_bits()) == (other.at, other.step, other.value.to_bits())
    }
}

/// A point with its place among those logged.
type Placed = (u64, Point);

/// Every value up to the limit; then every second, every fourth and so on, evenly over the whole run.
#[derive(Debug, Default)]
struct Series {
    kept: Vec<Placed>,
    /// Every how many values one is kept, less one.
    skipped: u64,
    seen: u64,
    last: Option<Placed>,
    least: Option<Placed>,
    greatest: Option<Placed>,
}

impl Series {
    fn push(&mut self, point: Point) {
        if self.last.is_some_and(|(_, last)| last.is_same(&point)) {
            return;
        }
        let placed = (self.seen, point);
        if self.seen.checked_rem(self.skipped.saturating_add(1)) == Some(0) {
            self.kept.push(placed);
        }
        if self.kept.len() > MAX_POINTS {
            self.skipped = self.skipped.saturating_mul(2).saturating_add(1);
            let every = self.skipped.saturating_add(1);
            self.kept.retain(|(place, _)| place.checked_rem(every) == Some(0));
        }
        self.seen = self.seen.saturating_add(1);
        self.last = Some(placed);
        if !point.value.is_nan() {
            if self.least.is_none_or(|(_, least)| point.value < least.value) {
                self.least = Some(placed);
            }
            if self.greatest.is_none_or(|(_, greatest)| point.value > greatest.value) {
                self.greatest = Some(placed);
            }
        }
    }

    /// What is kept, in the order of logging, and how many values are not.
    fn finished(self) -> (Vec<Point>, u64) {
        let ends = [self.last, self.least, self.greatest].into_iter().flatten();
        let kept: BTreeMap<u64, Point> = self.kept.into_iter().chain(ends).collect();
        let left_out = self.seen.saturating_sub(u64::try_from(kept.len()).unwrap_or(u64::MAX));
        (kept.into_values().collect(), left_out)
    }
}

/// All metrics of one attempt.
#[derive(Debug, Default)]
pub(in crate::telemetry) struct History {
    series: BTreeMap<(String, Option<String>), Series>,
    /// Values of metrics beyond the limit.
    beyond: u64,
    newest: Option<Timestamp>,
}

impl History {
    /// Takes a value of a metric, on a data split where one is told.
    pub(in crate::telemetry) fn note(&mut self, metric: &str, split: Option<&str>, point: Point) {
        self.newest = self.newest.max(Some(point.at));
        let key = (metric.chars().take(MAX_NAME).collect::<String>(), split.map(str::to_owned));
        if self.series.len() >= MAX_METRICS && !self.series.contains_key(&key) {
            self.beyond = self.beyond.saturating_add(1);
            return;
        }
        self.series.entry(key).or_default().push(point);
    }

    /// When the newest value was logged.
    pub(in crate::telemetry) const fn newest(&self) -> Option<Timestamp> {
        self.newest
    }

    /// True if a metric of that name has a value.
    pub(in crate::telemetry) fn has(&self, metric: &str) -> bool {
        self.series.keys().any(|(name, _)| name == metric)
    }

    /// The results, by metric and time; `is_final` marks the last of each where the source calls it so.
    pub(in crate::telemetry) fn results(self, is_final: bool, thinned: &mut Thinned) -> Vec<QualityResult> {
        let mut results = Vec::new();
        thinned.beyond = thinned.beyond.saturating_add(self.beyond);
        for ((metric, split), series) in self.series {
            let (points, left_out) = series.finished();
            thinned.values = thinned.values.saturating_add(left_out);
            thinned.metrics = thinned.metrics.saturating_add(u64::from(left_out > 0));
            let last = points.len().saturating_sub(1);
            results.extend(points.into_iter().enumerate().map(|(place, point)| QualityResult {
                metric: metric.clone(),
                value: point.value,
                direction: None,
                split: split.clone(),
                step: point.step,
                at: point.at,
                protocol: None,
                is_final: is_final && place == last,
            }));
        }
        results
    }
}

/// What the bounds left out, over all attempts of an import.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::telemetry) struct Thinned {
    values: u64,
    metrics: u64,
    beyond: u64,
}

impl Thinned {
    /// What the user should know of it.
    pub(in crate::telemetry) fn warnings(self, code: &'static str) -> Option<Warning> {
        (self.values > 0 || self.beyond > 0).then(|| Warning {
            code,
            message: format!(
                "{} value(s) of {} metric series are thinned out evenly to at most {MAX_POINTS} each, beside the last, the least \
                 and the greatest; {} value(s) of metrics beyond the first {MAX_METRICS} of an attempt are not kept",
                self.values, self.metrics, self.beyond
            ),
            help: "log what decides, such as a validation metric, under a name of its own and less often".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(count: u64, value: impl Fn(u64) -> f64) -> (Vec<Point>, u64) {
        let mut series = Series::default();
        for step in 0..count {
            let at = Timestamp::from_seconds(i64::try_from(step).unwrap());
            series.push(Point { at, step: Some(step), value: value(step) });
        }
        series.finished()
    }

    #[test]
    fn all_values_are_kept_up_to_the_limit() {
        let (points, left_out) = logged(1_000, |step| step as f64);
        assert_eq!((points.len(), left_out), (1_000, 0));
    }

    #[test]
    fn beyond_the_limit_the_first_last_least_and_greatest_are_kept_and_the_rest_is_counted() {
        let peak = |step: u64| match step {
            777_777 => 9.0,
            333_333 => -9.0,
            _ => f64::NAN,
        };
        let (points, left_out) = logged(1_000_001, peak);
        assert!(points.len() <= MAX_POINTS + 3, "{}", points.len());
        assert_eq!(points.len() as u64 + left_out, 1_000_001);
        let steps: Vec<u64> = points.iter().filter_map(|point| point.step).collect();
        for step in [0, 333_333, 777_777, 1_000_000] {
            assert!(steps.contains(&step), "{step} is not kept");
        }
        assert!(steps.is_sorted());
    }

    #[test]
    fn a_value_that_is_logged_twice_at_once_is_one() {
        let mut history = History::default();
        let point = Point { at: Timestamp(1), step: Some(1), value: f64::NAN };
        for _ in 0..8 {
            history.note("loss", None, point);
        }
        let mut thinned = Thinned::default();
        assert_eq!(history.results(false, &mut thinned).len(), 1);
        assert!(thinned.warnings("x").is_none());
    }

    #[test]
    fn metrics_beyond_the_limit_are_counted() {
        let mut history = History::default();
        for metric in 0..1_002 {
            history.note(&format!("m{metric}"), None, Point { at: Timestamp(1), step: None, value: 0.0 });
        }
        let mut thinned = Thinned::default();
        assert_eq!(history.results(true, &mut thinned).len(), 1_000);
        assert!(thinned.warnings("x").unwrap().message.contains("2 value(s) of metrics beyond"));
    }
}
