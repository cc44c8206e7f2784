//! Links that people set by hand, which outrank what records say.

use std::collections::BTreeMap;

use ledger::{Attempt, AttemptLink, Confidence, LinkDecision, LinkMethod};

use super::Note;

/// Decisions by the key that each names.
pub(super) type Decisions<'a> = BTreeMap<&'a str, Vec<&'a LinkDecision>>;

/// Applies the latest decision on each attempt. A decision names an attempt by its key, or by another name that no other
/// attempt has. One that was taken back leaves the link to the records.
pub(super) fn decide(attempts: &mut [Attempt], decisions: &Decisions<'_>) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut by_attempt: BTreeMap<usize, Vec<&LinkDecision>> = BTreeMap::new();
    for (key, of_key) in decisions {
        match meant(attempts, key).as_slice() {
            [only] => by_attempt.entry(*only).or_default().extend(of_key),
            found => notes.push(without_attempt(key, found.len())),
        }
    }
    for (index, of_attempt) in by_attempt {
        let Some(attempt) = attempts.get_mut(index) else { continue };
        let Some(last) = of_attempt.iter().copied().max() else { continue };
        notes.extend(at_odds(&attempt.canonical_key, &of_attempt, last));
        if let Some(experiment) = &last.experiment {
            attempt.link = AttemptLink {
                experiment: experiment.clone(),
                method: LinkMethod::Manual,
                confidence: Confidence::CERTAIN,
                decision: Some(last.clone()),
            };
        }
    }
    notes
}

/// The attempts of a key: the one whose key it is, else those that have it among their names.
fn meant(attempts: &[Attempt], key: &str) -> Vec<usize> {
    if let Some(exact) = attempts.iter().position(|attempt| attempt.canonical_key == key) {
        return vec![exact];
    }
    let has_name = |attempt: &Attempt| attempt.aliases.iter().any(|alias| alias == key);
    attempts.iter().enumerate().filter(|(_, attempt)| has_name(attempt)).map(|(index, _)| index).collect()
}

fn without_attempt(key: &str, found: usize) -> Note {
    let why = match found {
        0 => "no attempt has that name".to_owned(),
        several => format!("{several} attempts have that name"),
    };
    Note {
        code: "attempt::link_without_attempt",
        key: key.to_owned(),
        message: format!("a link by hand is kept, but {why}"),
    }
}

/// Decisions of one instant that say different things: neither is later, so the choice is ours and is told.
fn at_odds(key: &str, all: &[&LinkDecision], last: &LinkDecision) -> Option<Note> {
    let other = all.iter().find(|one| one.at == last.at && one.experiment != last.experiment)?;
    let said = |decision: &LinkDecision| match &decision.experiment {
        Some(experiment) => format!("`{experiment}` by {}", decision.by),
        None => format!("taken back by {}", decision.by),
    };
    Some(Note {
        code: "attempt::links_at_odds",
        key: key.to_owned(),
        message: format!(
            "linked twice at {}: {} and {}; the first holds until one is set again",
            last.at,
            said(last),
            said(other)
        ),
    })
}
