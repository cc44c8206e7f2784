//! `link`: a person says to which experiment an attempt belongs; it is a record like any other, and the attempts are
//! folded anew.

use std::path::PathBuf;

use costing::attempts::fold;
use ledger::{Attempt, ExperimentId, LinkDecision, Observation, RunRecord, SourceId, Timestamp};
use sources::telemetry::TelemetryRead;
use store::Store;

use super::ImportReport;
use super::runs::take_in;
use crate::{AppError, Context};

/// The source of decisions by hand.
const BY_HAND: &str = "link";

/// A decision on the experiment of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The attempt: its id, its key, one of its other names, or `experiment#2` for the second of an experiment.
    pub attempt: String,
    /// The experiment; `None` takes an earlier decision back, so that records decide again.
    pub experiment: Option<String>,
    /// Who decides.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
}

/// Keeps a decision and attributes the charges anew.
///
/// # Errors
/// `link::no_such_attempt`, `link::several_attempts`, `link::no_experiment`; else of the store, which is then as it was.
pub async fn link(context: &Context<'_>, decision: &Decision) -> Result<ImportReport, AppError> {
    if decision.experiment.as_deref().is_some_and(|name| name.trim().is_empty()) {
        return Err(AppError::new("link::no_experiment", "the experiment has no name")
            .help("trainbill link ATTEMPT EXPERIMENT, or --undo to take a decision back"));
    }
    let store = Store::open(&context.store).await?;
    let known = store.observations().await?;
    let attempts = fold(&known).attempts;
    let key = named(&attempts, &decision.attempt)?.canonical_key.clone();
    let earlier = known.iter().filter_map(|seen| match &seen.record {
        RunRecord::Link(earlier) if seen.key == key => Some(earlier.at),
        _ => None,
    });
    // What is decided after another decision is later than it, whatever the clock says.
    let after = earlier.max().map(|at| Timestamp(at.0.saturating_add(1)));
    let record = RunRecord::Link(LinkDecision {
        at: after.map_or(context.now, |after| after.max(context.now)),
        experiment: decision.experiment.clone().map(ExperimentId),
        by: decision.by.clone(),
        reason: decision.reason.clone(),
    });
    let observation =
        Observation { source: SourceId(BY_HAND.to_owned()), key, modified_at: Some(context.now), record };
    let read =
        TelemetryRead { observations: vec![observation], rows: 1, accepted: 1, ..TelemetryRead::default() };
    take_in(context, "link", &[PathBuf::from(&decision.attempt)], read).await
}

/// The one attempt that a person means.
fn named<'a>(attempts: &'a [Attempt], name: &str) -> Result<&'a Attempt, AppError> {
    let by_ordinal = name.rsplit_once('#').and_then(|(experiment, ordinal)| {
        let ordinal: u32 = ordinal.parse().ok()?;
        attempts.iter().find(|one| one.link.experiment.0 == experiment && one.ordinal == ordinal)
    });
    let is_meant = |one: &&Attempt| {
        one.canonical_key == name
            || one.id.to_string() == name
            || one.aliases.iter().any(|alias| alias == name)
    };
    let mut found: Vec<&Attempt> = attempts.iter().filter(is_meant).collect();
    if found.is_empty() {
        found.extend(by_ordinal);
    }
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(AppError::new("link::no_such_attempt", format!("no attempt is called `{name}`"))
            .help("trainbill sql \"select experiment, ordinal, canonical_key from attempts\"")),
        several => {
            let keys: Vec<&str> = several.iter().map(|one| one.canonical_key.as_str()).collect();
            let message = format!("`{name}` is a name of several attempts: {}", keys.join(", "));
            Err(AppError::new("link::several_attempts", message).help("name one of them by its key"))
        }
    }
}
