//! What MLflow says of a run, whichever way it was asked.

use std::collections::BTreeMap;

use ledger::{Outcome, RunState, Timestamp, normalised_key};

use crate::telemetry::attempts::Refusal;
use crate::telemetry::shared::clock;
use crate::telemetry::shared::series::{History, MAX_METRICS, Point};

/// Tags of one run.
const MAX_TAGS: usize = 10_000;

/// A run's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Running,
    Scheduled,
    Finished,
    Failed,
    Killed,
}

impl Status {
    /// The word of the REST interface, or the number of the file store.
    pub(super) fn of(text: &str) -> Option<Self> {
        match text {
            "RUNNING" | "1" => Some(Self::Running),
            "SCHEDULED" | "2" => Some(Self::Scheduled),
            "FINISHED" | "3" => Some(Self::Finished),
            "FAILED" | "4" => Some(Self::Failed),
            "KILLED" | "5" => Some(Self::Killed),
            _ => None,
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Running => "RUNNING",
            Self::Scheduled => "SCHEDULED",
            Self::Finished => "FINISHED",
            Self::Failed => "FAILED",
            Self::Killed => "KILLED",
        }
    }

    pub(super) const fn stands(self) -> (RunState, Outcome) {
        match self {
            Self::Running => (RunState::Running, Outcome::Unknown),
            Self::Scheduled => (RunState::Pending, Outcome::Unknown),
            Self::Finished => (RunState::Ended, Outcome::Completed),
            Self::Failed => (RunState::Ended, Outcome::Failed),
            Self::Killed => (RunState::Ended, Outcome::Cancelled),
        }
    }
}

/// A dataset that a run read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Dataset {
    pub(super) name: String,
    pub(super) digest: String,
    pub(super) uri: Option<String>,
}

/// One view of a run.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) id: String,
    pub(super) experiment_id: String,
    pub(super) name: Option<String>,
    pub(super) user: Option<String>,
    pub(super) status: Status,
    pub(super) start: Option<Timestamp>,
    pub(super) end: Option<Timestamp>,
    pub(super) artifact_uri: Option<String>,
    pub(super) datasets: Vec<Dataset>,
    pub(super) history: History,
    tags: BTreeMap<String, String>,
    /// The last value of each metric, as the record of the run has it.
    last_values: Vec<(String, Point)>,
    /// Last time and step of each metric.
    steps: BTreeMap<String, (Timestamp, u64)>,
    went_back: bool,
}

/// Texts of a run's record, absent or empty where it says nothing.
#[derive(Debug, Default)]
pub(super) struct Fields<'a> {
    pub(super) id: Option<&'a str>,
    pub(super) experiment_id: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    pub(super) user: Option<&'a str>,
    pub(super) status: Option<String>,
    pub(super) start: Option<String>,
    pub(super) end: Option<String>,
    pub(super) artifact_uri: Option<&'a str>,
}

impl Facts {
    /// The run of a record.
    pub(super) fn of(fields: &Fields<'_>) -> Result<Self, Refusal> {
        let owned = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
        let missing = |name, expected| Refusal::new("row::missing_value", name, "", expected);
        let word = fields.status.as_deref().ok_or_else(|| missing("status", "the status of a run"))?;
        let expected = "RUNNING, SCHEDULED, FINISHED, FAILED or KILLED";
        let status =
            Status::of(word).ok_or_else(|| Refusal::new("row::unknown_word", "status", word, expected))?;
        Ok(Self {
            id: owned(fields.id).ok_or_else(|| missing("run_id", "the id of a run"))?,
            experiment_id: owned(fields.experiment_id).unwrap_or_default(),
            name: owned(fields.name),
            user: owned(fields.user).filter(|user| user != "unknown"),
            status,
            start: time("start_time", fields.start.as_deref())?,
            end: time("end_time", fields.end.as_deref())?,
            artifact_uri: owned(fields.artifact_uri),
            datasets: Vec::new(),
            history: History::default(),
            tags: BTreeMap::new(),
            last_values: Vec::new(),
            steps: BTreeMap::new(),
            went_back: false,
        })
    }

    /// Takes a tag.
    pub(super) fn tag(&mut self, key: &str, value: &str) {
        if self.tags.len() < MAX_TAGS && !value.trim().is_empty() {
            self.tags.insert(normalised_key(key), value.trim().to_owned());
        }
    }

    /// The value of a tag, by its normalised key.
    pub(super) fn told(&self, key: &str) -> Option<&str> {
        self.tags.get(key).map(String::as_str)
    }

    /// All tags by their normalised keys.
    pub(super) fn tags(&self) -> impl Iterator<Item = (&str, &str)> {
        self.tags.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Takes a value of a metric.
    pub(super) fn measured(&mut self, metric: &str, point: Point) {
        if let Some(step) = point.step
            && (self.steps.len() < MAX_METRICS || self.steps.contains_key(metric))
        {
            let (at, reached) = self.steps.entry(metric.to_owned()).or_insert((point.at, step));
            // A step that nobody gave is logged as 0.
            self.went_back |= step > 0 && step < *reached && point.at > *at;
            (*at, *reached) = (point.at.max(*at), step.max(*reached));
        }
        self.history.note(metric, None, point);
    }

    /// Takes the last value of a metric, which a history may have as well.
    pub(super) fn last_value(&mut self, metric: String, point: Point) {
        if self.last_values.len() < MAX_METRICS.saturating_mul(2) {
            self.last_values.push((metric, point));
        }
    }

    /// Puts the last values behind the histories: equal ones are one.
    pub(super) fn take_last_values(&mut self) {
        for (metric, point) in std::mem::take(&mut self.last_values) {
            self.measured(&metric, point);
        }
    }

    /// True if it runs with an end: it had ended, and was resumed.
    pub(super) fn was_resumed(&self) -> bool {
        self.status == Status::Running && self.end.is_some()
    }

    /// True if a metric was logged at a later time for an earlier step.
    pub(super) const fn went_back(&self) -> bool {
        self.went_back
    }

    /// True for the same view of the same run, as from two equal answers.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let newest = |facts: &Self| facts.last_values.iter().map(|(_, point)| point.at).max();
        (self.status, self.start, self.end, newest(self), &self.tags)
            == (other.status, other.start, other.end, newest(other), &other.tags)
    }
}

/// Milliseconds since 1970.
pub(super) fn time(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Refusal> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    let time = text.parse().ok().filter(|millis| *millis >= 0).and_then(clock::of_millis);
    time.map(Some).ok_or_else(|| Refusal::new("row::not_a_time", name, text, "milliseconds since 1970"))
}

/// A number as MLflow writes it: `"NaN"`, `inf`, or the largest double for what SQL cannot hold.
pub(super) fn number(text: &str) -> Option<f64> {
    let value: f64 = text.trim().parse().ok()?;
    if value.abs() >= f64::MAX {
        return Some(f64::INFINITY.copysign(value));
    }
    Some(value)
}
