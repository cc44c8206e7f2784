//! Sessions of one key: a source that overwrites the end of a run opens a further one, and the ended one is kept.

use std::collections::BTreeSet;

use ledger::{AttemptView, Outcome, RunState, SourceId, Timestamp};

use super::gather::Said;

/// Views of one execution, in the order in which they were reported, and what follows from that order.
#[derive(Debug)]
pub(super) struct Session<'a> {
    /// In the order of reporting.
    pub(super) views: Vec<Said<'a, AttemptView>>,
    /// Earliest submission told.
    pub(super) submitted_at: Option<Timestamp>,
    /// Latest reported end.
    pub(super) ended_at: Option<Timestamp>,
    /// Where it stands.
    pub(super) state: RunState,
    /// How it ended.
    pub(super) outcome: Outcome,
    /// True if the source changed the history of this session after its end, or of the one before.
    pub(super) overwrote: bool,
    /// True if the last view says that the job goes on in another segment.
    resizing: bool,
    reported_start: Option<Timestamp>,
    /// First report of running again, where the source kept the old start.
    seen_again_at: Option<Timestamp>,
    /// End of the session before: nothing earlier belongs here.
    floor: Option<Timestamp>,
    ended_by: BTreeSet<&'a SourceId>,
    end_reported_at: Timestamp,
}

/// Splits views of one key into sessions, the earliest first.
pub(super) fn sessions<'a>(mut views: Vec<Said<'a, AttemptView>>) -> Vec<Session<'a>> {
    views.sort_by(|a, b| report_order(a).cmp(&report_order(b)));
    let mut done: Vec<Session<'a>> = Vec::new();
    for view in views {
        match done.last_mut() {
            None => done.push(Session::opened(None, view)),
            Some(current) if current.is_left_by(&view) => {
                let overwrites = !current.resizing;
                current.overwrote |= overwrites;
                let floor = current.ended_at.unwrap_or(current.end_reported_at);
                let mut next = Session::opened(Some(floor), view);
                next.overwrote = overwrites;
                done.push(next);
            }
            Some(current) => current.take(view),
        }
    }
    done
}

/// When a view was reported: what the source says, else not before the latest time that it tells.
fn reported_at(said: &Said<'_, AttemptView>) -> Timestamp {
    let view = said.record;
    let latest = view.ended_at.max(view.started_at).max(view.submitted_at);
    said.modified_at.or(latest).unwrap_or(Timestamp(i64::MIN))
}

type ReportOrder<'a> = (Timestamp, u8, &'a AttemptView, &'a SourceId);

/// On a tie the less final view is the older one.
fn report_order<'a>(said: &Said<'a, AttemptView>) -> ReportOrder<'a> {
    let finality = match said.record.state {
        RunState::Pending => 0,
        RunState::Running => 1,
        RunState::Lost => 2,
        RunState::Ended => 3,
    };
    (reported_at(said), finality, said.record, said.source)
}

impl<'a> Session<'a> {
    fn opened(floor: Option<Timestamp>, view: Said<'a, AttemptView>) -> Self {
        let mut session = Self {
            views: Vec::with_capacity(1),
            submitted_at: None,
            ended_at: None,
            state: RunState::Pending,
            outcome: Outcome::Unknown,
            overwrote: false,
            resizing: false,
            reported_start: None,
            seen_again_at: None,
            floor,
            ended_by: BTreeSet::new(),
            end_reported_at: Timestamp(i64::MIN),
        };
        if floor.is_some() && view.record.state == RunState::Running {
            // A record without any time tells not when it was seen again.
            session.seen_again_at = view.modified_at.max(floor).filter(|at| *at > Timestamp(i64::MIN));
        }
        session.take(view);
        session
    }

    /// When it started; for a session that the source opened by overwriting, no earlier than it was seen again.
    pub(super) fn started_at(&self) -> Option<Timestamp> {
        self.reported_start.or(self.seen_again_at)
    }

    /// The newest value told.
    pub(super) fn latest<T>(&self, of: impl Fn(&'a AttemptView) -> Option<T>) -> Option<T> {
        self.views.iter().rev().find_map(|said| of(said.record))
    }

    /// It was last seen then, and is not there any more; what has ended stays as it is.
    pub(super) fn lose(&mut self, seen: Timestamp) {
        if matches!(self.state, RunState::Pending | RunState::Running) {
            self.state = RunState::Lost;
            self.ended_at = Some(self.started_at().map_or(seen, |start| seen.max(start)));
        }
    }

    fn is_left_by(&self, view: &Said<'a, AttemptView>) -> bool {
        if self.state != RunState::Ended {
            return false;
        }
        let said = view.record;
        let starts_after_the_end = said.started_at.is_some_and(|start| {
            self.ended_at.is_some_and(|end| start >= end) && Some(start) > self.reported_start
        });
        if starts_after_the_end {
            return true;
        }
        // Only the source that reported the end can take it back; another one may lag behind.
        if !self.ended_by.contains(view.source) {
            return false;
        }
        let success_over_failure = said.state == RunState::Ended
            && said.outcome == Outcome::Completed
            && !matches!(self.outcome, Outcome::Completed | Outcome::Unknown)
            && self.ended_at.is_some_and(|end| said.ended_at > Some(end));
        said.state == RunState::Running || success_over_failure
    }

    fn take(&mut self, view: Said<'a, AttemptView>) {
        let said = view.record;
        self.reported_start = earliest(self.reported_start, self.since_floor(said.started_at));
        self.submitted_at = earliest(self.submitted_at, self.since_floor(said.submitted_at));
        match said.state {
            RunState::Ended => {
                self.state = RunState::Ended;
                self.ended_at = said.ended_at.or(self.ended_at);
                self.ended_by.insert(view.source);
                self.end_reported_at = reported_at(&view);
                if said.outcome != Outcome::Unknown {
                    self.outcome = said.outcome;
                }
            }
            RunState::Lost if self.state != RunState::Ended => {
                self.state = RunState::Lost;
                self.ended_at = said.ended_at.or(self.ended_at);
            }
            // It was seen again: the end at which it was lost sight of does not hold.
            RunState::Running if self.state != RunState::Ended => {
                self.state = RunState::Running;
                self.ended_at = None;
            }
            RunState::Pending | RunState::Running | RunState::Lost => {}
        }
        if let Some(chain) = &said.chain {
            self.resizing = chain.resizing;
        }
        self.views.push(view);
    }

    fn since_floor(&self, time: Option<Timestamp>) -> Option<Timestamp> {
        time.filter(|time| self.floor.is_none_or(|floor| *time >= floor))
    }
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}
