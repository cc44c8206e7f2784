//! The fields that a filter may name.

use ledger::{Capacity, Cause, Outcome};

/// How the values of a field are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Any text, compared as it stands.
    Text,
    /// One of the words of [`Field::words`]; case does not matter, and `-`, `_` and space are the same.
    Word,
    /// A whole number.
    Number,
    /// An instant in UTC.
    Time,
}

/// A field that a filter may name.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// How it is compared.
    pub kind: FieldKind,
    /// What it is.
    pub meaning: &'static str,
}

/// Every field, in the order of the manual.
pub const FIELDS: &[Field] = &[
    Field { name: "experiment", kind: FieldKind::Text, meaning: "name of the experiment" },
    Field { name: "team", kind: FieldKind::Text, meaning: "team or accounting group of its attempts" },
    Field { name: "user", kind: FieldKind::Text, meaning: "who ran its attempts" },
    Field { name: "status", kind: FieldKind::Word, meaning: "where the experiment stands" },
    Field { name: "capacity", kind: FieldKind::Word, meaning: "what was bought for its attempts" },
    Field { name: "cluster", kind: FieldKind::Text, meaning: "cluster of its attempts" },
    Field { name: "queue", kind: FieldKind::Text, meaning: "partition or queue of its attempts" },
    Field { name: "scheduler", kind: FieldKind::Text, meaning: "what launched its attempts, such as slurm" },
    Field { name: "outcome", kind: FieldKind::Word, meaning: "how its attempts ended" },
    Field { name: "cause", kind: FieldKind::Word, meaning: "why its attempts did not complete" },
    Field { name: "name", kind: FieldKind::Text, meaning: "job names of its attempts" },
    Field { name: "attempts", kind: FieldKind::Number, meaning: "number of its attempts" },
    Field { name: "started", kind: FieldKind::Time, meaning: "when its attempts started" },
];

const STATUSES: &[&str] = &["completed", "running", "failed", "pending", "no attempts"];

impl Field {
    /// The field of a name; case does not matter.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        FIELDS.iter().find(|field| field.name.eq_ignore_ascii_case(name))
    }

    /// The words that the field may have; none unless it is of kind `Word`.
    pub fn words(&self) -> Vec<&'static str> {
        match self.name {
            "status" => STATUSES.to_vec(),
            "capacity" => Capacity::ALL.iter().map(|capacity| capacity.word()).chain(["mixed"]).collect(),
            "outcome" => Outcome::ALL.iter().map(|outcome| outcome.word()).collect(),
            "cause" => Cause::ALL.iter().map(|cause| cause.word()).collect(),
            _ => Vec::new(),
        }
    }
}

/// A word in its one form for comparison.
pub(super) fn normalised_word(word: &str) -> String {
    word.trim().to_lowercase().replace(['-', ' '], "_")
}

/// The known name that is nearest to what was typed, if one is near.
pub(crate) fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = normalised_word(typed);
    let near = known.into_iter().map(|name| (distance(&typed, &normalised_word(name)), name));
    let (edits, name) = near.min_by_key(|(edits, _)| *edits)?;
    (edits <= 2 && edits < typed.chars().count()).then_some(name)
}

/// Edits of one character between two texts (Levenshtein).
fn distance(left: &str, right: &str) -> usize {
    // A name is short; cut what is typed so that a long text costs no time.
    let right: Vec<char> = right.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, from) in left.chars().take(64).enumerate() {
        let mut diagonal = line;
        let mut before = line + 1;
        for (slot, to) in row.iter_mut().skip(1).zip(&right) {
            let edits = (diagonal + usize::from(from != *to)).min(before + 1).min(*slot + 1);
            diagonal = *slot;
            *slot = edits;
            before = edits;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}
