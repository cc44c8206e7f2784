//! What a unit of one currency was worth in another on a day.

use money::{Currency, Rate};

use crate::Day;

/// One rate of a list: on `day`, one unit of `from` was worth `rate` units of `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatedRate {
    /// The day for which it is published.
    pub day: Day,
    /// The currency of the one unit.
    pub from: Currency,
    /// The currency of the rate.
    pub to: Currency,
    /// The rate; `None` where the list has one that cannot be used, which is not the same as having none.
    pub rate: Option<Rate>,
}
