//! Whether the values of a field meet a condition.

use std::cmp::Ordering;

use super::field::normalised_word;
use super::{Comparison, Condition, Moment, Test, Value};

impl Condition {
    pub(super) fn holds(&self, values: &dyn Fn(&str) -> Vec<String>) -> bool {
        match self {
            Self::All(conditions) => conditions.iter().all(|condition| condition.holds(values)),
            Self::Any(conditions) => conditions.iter().any(|condition| condition.holds(values)),
            Self::Not(condition) => !condition.holds(values),
            Self::Test { field, test } => test.holds(&values(field.name)),
        }
    }
}

impl Test {
    fn holds(&self, values: &[String]) -> bool {
        let any = |test: &dyn Fn(&str) -> bool| values.iter().any(|value| test(value));
        match self {
            Self::Compare(Comparison::NotEqual, wanted) => {
                !any(&|value| wanted.place(value) == Some(Ordering::Equal))
            }
            Self::Compare(comparison, wanted) => {
                any(&|value| wanted.place(value).is_some_and(|place| comparison.accepts(place)))
            }
            Self::In(wanted) => {
                any(&|value| wanted.iter().any(|wanted| wanted.place(value) == Some(Ordering::Equal)))
            }
            Self::Like(pattern) => any(&|value| like(&value.to_lowercase(), pattern)),
            Self::Contains(part) => any(&|value| value.to_lowercase().contains(part.as_str())),
        }
    }
}

impl Comparison {
    fn accepts(self, place: Ordering) -> bool {
        match self {
            Self::Equal => place.is_eq(),
            Self::NotEqual => place.is_ne(),
            Self::Less => place.is_lt(),
            Self::LessOrEqual => place.is_le(),
            Self::Greater => place.is_gt(),
            Self::GreaterOrEqual => place.is_ge(),
        }
    }
}

impl Value {
    /// Where a field's value lies: below, at or above this one; `None` if they cannot be compared.
    fn place(&self, value: &str) -> Option<Ordering> {
        match self {
            Self::Text(own) => Some(value.cmp(own)),
            Self::Word(own) => Some(normalised_word(value).cmp(own)),
            Self::Number(own) => value.parse::<i64>().ok().map(|number| number.cmp(own)),
            Self::Moment(own) => Moment::read(value).map(|moment| own.place(moment.start())),
        }
    }
}

/// SQL's `like` without escape; both sides are in lower case.
fn like(text: &str, pattern: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let pattern: Vec<char> = pattern.chars().collect();
    let (mut at, mut next) = (0, 0);
    // Where to go on if what follows the last `%` does not fit: one character later.
    let mut retry: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(next) {
            Some('%') => {
                retry = Some((at, next));
                next += 1;
            }
            Some(wanted) if *wanted == '_' || text.get(at) == Some(wanted) => {
                at += 1;
                next += 1;
            }
            Some(_) | None => {
                let Some((from, percent)) = retry else { return false };
                retry = Some((from + 1, percent));
                at = from + 1;
                next = percent + 1;
            }
        }
    }
    pattern.iter().skip(next).all(|left| *left == '%')
}
