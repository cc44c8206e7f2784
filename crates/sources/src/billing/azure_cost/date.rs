//! The dates of an Azure export: ISO, or month/day/year as the exports of most account types write them.

use ledger::{BillingPeriod, Day, Interval, Timestamp};

use super::column::Column;
use crate::billing::table::cell::{Cell, CellFault, Cells};
use crate::billing::table::row::{Fault, Row};

/// Whose month a row belongs to, and its day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dates {
    pub(super) period: BillingPeriod,
    pub(super) billing: Interval,
    /// The day of the charge; exports are daily.
    pub(super) charge: Interval,
}

impl Dates {
    /// Reads the dates of a row.
    ///
    /// # Errors
    /// A date that is missing or cannot be read.
    pub(super) fn of<C: Cells>(row: &Row<'_, Column, C>) -> Result<Self, Fault<Column>> {
        let date = instant(row, Column::Date)?;
        let date = date.ok_or_else(|| Fault::missing(Column::Date, "the day of the charge"))?;
        let stated = instant(row, Column::BillingPeriodStart)?;
        let last = instant(row, Column::BillingPeriodEnd)?;
        let period = BillingPeriod::of(stated.unwrap_or(date));
        let billing = match (stated, last) {
            (Some(start), Some(last)) if last >= start => Interval { start, end: after(start, last) },
            (_, _) => period.interval(),
        };
        let charge = Interval { start: date, end: Timestamp(date.0.saturating_add(DAY)) };
        Ok(Self { period, billing, charge })
    }
}

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// The end of a billing period whose last day is given. An end on the same day of a later month as the start is the
/// next period's start already.
fn after(start: Timestamp, last: Timestamp) -> Timestamp {
    let day_of = |instant: Timestamp| instant.day().civil().2;
    if last > start && day_of(last) == day_of(start) { last } else { Day(last.day().0 + 1).start() }
}

fn instant<C: Cells>(row: &Row<'_, Column, C>, column: Column) -> Result<Option<Timestamp>, Fault<Column>> {
    match row.cell(column) {
        Cell::Text(text) if text.contains('/') => match month_day_year(text.trim()) {
            Some(day) => Ok(Some(day.start())),
            None => Err(Fault::unreadable(column, Cell::Text(text), CellFault::NotATime)),
        },
        _ => row.instant(column),
    }
}

/// Reads `9/2/2023` and `09/02/2023`; a day that the month does not have is no date.
fn month_day_year(text: &str) -> Option<Day> {
    let mut parts = text.split('/');
    let mut number = |digits: std::ops::RangeInclusive<usize>| {
        let part = parts.next()?;
        let plain = digits.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        if plain { part.parse::<u32>().ok() } else { None }
    };
    let (month, day, year) = (number(1..=2)?, number(1..=2)?, number(4..=4)?);
    let year = i32::try_from(year).ok()?;
    if parts.next().is_some() || !(1..=12).contains(&month) {
        return None;
    }
    let date = Day::from_civil(year, month, day);
    (date.civil() == (year, month, day)).then_some(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_month_day_year_or_none() {
        let shown = |text| month_day_year(text).map_or_else(|| "none".to_owned(), |day| day.to_string());
        assert_eq!(shown("9/2/2023"), "2023-09-02");
        assert_eq!(shown("02/29/2024"), "2024-02-29");
        for text in
            ["13/02/2021", "2/30/2024", "3/1/21", "1/2", "1/2/2023/4", "/2/2023", "+1/2/2023", "1/2/2023 5"]
        {
            assert_eq!(shown(text), "none", "for {text}");
        }
    }

    #[test]
    fn a_period_ends_after_its_last_day() {
        let day = |year, month, day| Day::from_civil(year, month, day).start();
        assert_eq!(after(day(2023, 9, 1), day(2023, 9, 30)), day(2023, 10, 1));
        assert_eq!(after(day(2023, 9, 1), day(2023, 10, 1)), day(2023, 10, 1));
        assert_eq!(after(day(2023, 9, 15), day(2023, 10, 14)), day(2023, 10, 15));
    }
}
