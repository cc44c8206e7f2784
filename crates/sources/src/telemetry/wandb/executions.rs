//! Finds run ids that two programs used at the same time.

use std::collections::BTreeMap;

use ledger::Timestamp;

use super::run::{Identity, Run};
use crate::telemetry::Warning;

/// One start of a program under a run id.
#[derive(Debug)]
struct Execution {
    start: Timestamp,
    end: Timestamp,
    host: String,
}

/// All executions by their run.
#[derive(Debug, Default)]
pub(super) struct Executions {
    by_run: BTreeMap<String, Vec<Execution>>,
}

impl Executions {
    pub(super) fn note(&mut self, identity: &Identity, run: &Run) {
        let end = run.last_seen().unwrap_or(identity.start);
        let execution = Execution { start: identity.start, end, host: run.host().to_owned() };
        self.by_run.entry(identity.run.clone()).or_default().push(execution);
    }

    /// What the user should know of ids that several hosts used at once.
    pub(super) fn warning(&self) -> Option<Warning> {
        let meets = |all: &[Execution]| {
            all.iter().any(|a| all.iter().any(|b| a.host != b.host && a.start <= b.start && b.start < a.end))
        };
        let shared: Vec<&str> =
            self.by_run.iter().filter(|(_, all)| meets(all)).map(|(run, _)| run.as_str()).collect();
        (!shared.is_empty()).then(|| Warning {
            code: "wandb::run_id_shared",
            message: format!(
                "{} run id(s) were used on several hosts at the same time; each is an attempt of its own: {}",
                shared.len(),
                shared.iter().take(5).copied().collect::<Vec<_>>().join(", ")
            ),
            help: "give each trial an id of its own; ranks of one job should log from one rank only"
                .to_owned(),
        })
    }
}
