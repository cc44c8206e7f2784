//! One execution, gathered from its events.

use std::collections::{BTreeMap, BTreeSet};

use ledger::{
    AttemptView, Grade, Interval, Observation, Outcome, Phase, PhaseKind, QualityResult, RunRecord, RunState,
    Timestamp,
};

use super::line::Event;
use super::system::Teller;
use super::{MlperfOptions, benchmark};
use crate::telemetry::shared::series::{History, Point, Thinned};

/// Longest text kept of a name or a status, in characters.
const MAX_TEXT: usize = 200;

/// What the events of one execution say.
#[derive(Debug)]
pub(super) struct Run {
    first: Timestamp,
    last: Timestamp,
    init_start: Option<Timestamp>,
    run_start: Option<Timestamp>,
    run_stop: Option<Timestamp>,
    statuses: BTreeSet<String>,
    submission: BTreeMap<String, String>,
    history: History,
}

impl Run {
    /// An execution of which an event at that time is known.
    pub(super) fn from(at: Timestamp) -> Self {
        Self {
            first: at,
            last: at,
            init_start: None,
            run_start: None,
            run_stop: None,
            statuses: BTreeSet::new(),
            submission: BTreeMap::new(),
            history: History::default(),
        }
    }

    /// True if the event begins another execution.
    pub(super) fn is_left_by(&self, event: &Event) -> bool {
        let begins = matches!(event.key.as_str(), "init_start" | "run_start");
        begins && self.run_stop.is_some_and(|stop| event.at > stop)
    }

    /// True if a `run_stop` was logged.
    pub(super) const fn has_stopped(&self) -> bool {
        self.run_stop.is_some()
    }

    /// What was logged as `submission_{name}`.
    pub(super) fn submission(&self, name: &str) -> Option<&str> {
        self.submission.get(name).map(String::as_str)
    }

    /// Takes an event; several processes may log the same one.
    pub(super) fn take(&mut self, event: &Event) {
        self.first = self.first.min(event.at);
        self.last = self.last.max(event.at);
        let earliest = |known: Option<Timestamp>| Some(known.map_or(event.at, |known| known.min(event.at)));
        match event.key.as_str() {
            "init_start" => self.init_start = earliest(self.init_start),
            "run_start" => self.run_start = earliest(self.run_start),
            "run_stop" => {
                self.run_stop = self.run_stop.max(Some(event.at));
                self.statuses.extend(event.told("status").map(cut).filter(|_| self.statuses.len() < 8));
            }
            key => {
                if let (Some(name), Some(value)) = (key.strip_prefix("submission_"), event.value.as_str())
                    && self.submission.len() < 64
                {
                    self.submission.entry(cut(name)).or_insert_with(|| cut(value));
                }
                if let (Some(value), true) = (event.value.as_f64(), is_quality(key)) {
                    let point = Point { at: event.at, step: event.step(), value };
                    self.history.note(event.told("metric").unwrap_or(key), None, point);
                }
            }
        }
    }

    fn start(&self) -> Timestamp {
        self.init_start.or(self.run_start).unwrap_or(self.first)
    }

    fn end(&self) -> Timestamp {
        self.run_stop.unwrap_or(self.last).max(self.start())
    }

    /// Everything that the log says of the attempt.
    pub(super) fn observations(
        self,
        teller: &Teller,
        options: &MlperfOptions,
        thinned: &mut Thinned,
    ) -> Vec<Observation> {
        let key = format!("mlperf:{}:{}", teller.key, self.start().0.div_euclid(1_000));
        let modified_at = Some(self.last);
        let mut records = vec![RunRecord::Attempt(self.view(teller))];
        records.extend(self.phases().into_iter().map(RunRecord::Phase));
        let results = self.history.results(self.run_stop.is_some(), thinned);
        let judged = results.into_iter().map(|result| QualityResult {
            direction: benchmark::direction(teller.benchmark.as_deref(), &result.metric),
            protocol: benchmark::protocol(teller.benchmark.as_deref(), options.round.as_deref()),
            ..result
        });
        records.extend(judged.map(RunRecord::Quality));
        let said =
            |record| Observation { source: options.source.clone(), key: key.clone(), modified_at, record };
        records.into_iter().map(said).collect()
    }

    fn view(&self, teller: &Teller) -> AttemptView {
        let (state, outcome) = match (self.run_stop, self.statuses.contains("aborted")) {
            (None, _) => (RunState::Lost, Outcome::Unknown),
            (Some(_), true) => (RunState::Ended, Outcome::Failed),
            (Some(_), false) if self.statuses.contains("success") => (RunState::Ended, Outcome::Completed),
            (Some(_), false) => (RunState::Ended, Outcome::Unknown),
        };
        let mut evidence: Vec<String> = Vec::new();
        if outcome != Outcome::Completed {
            evidence.extend(self.statuses.iter().map(|status| format!("run_stop status {status}")));
        }
        if state == RunState::Lost {
            evidence.push("no run_stop".to_owned());
        }
        AttemptView {
            link: teller.link.clone(),
            cluster: teller.system.clone(),
            name: teller.benchmark.clone(),
            team: teller.org.clone(),
            started_at: Some(self.start()),
            ended_at: Some(self.end()),
            state,
            outcome,
            cause_evidence: evidence,
            gpu_count: teller.gpus,
            gpu_kind: teller.kind.clone(),
            node_count: teller.nodes,
            ..AttemptView::of_scheduler("mlperf".to_owned())
        }
    }

    /// Initialisation, then training; the end of a log that breaks off is derived.
    fn phases(&self) -> Vec<Phase> {
        let end_grade = if self.has_stopped() { Grade::Measured } else { Grade::Derived };
        let init_end = self.run_start.map_or((self.end(), end_grade), |at| (at, Grade::Measured));
        let phase = |kind, start: Option<Timestamp>, (end, grade): (Timestamp, Grade)| {
            let interval = Interval::new(start?, end).ok()?;
            (interval.start < interval.end).then_some(Phase { interval, kind, grade })
        };
        let init = phase(PhaseKind::Init, self.init_start, init_end);
        let train = phase(PhaseKind::Train, self.run_start, (self.end(), end_grade));
        init.into_iter().chain(train).collect()
    }
}

/// True for the keys under which results of an evaluation are logged.
fn is_quality(key: &str) -> bool {
    key.starts_with("eval_") && !matches!(key, "eval_start" | "eval_stop" | "eval_samples")
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}
