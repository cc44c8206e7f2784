//! Rates a volume: its size for as long as it is there, by the part of each calendar month.

use ledger::{BillingPeriod, Evidence, PriceUnit, Rule};
use money::Ratio;

use super::machine::by_month;
use super::usage::Volume;
use super::{Draft, Outcome, RatedLine, RatingRule};
use crate::attribution::{Claim, Landing, Place, Timeline};
use crate::price_book::{PriceBook, Rate, Unpriced};

/// The lines of one volume: one for each month and rate.
pub(super) fn lines<'a>(book: &'a PriceBook, volume: &Volume) -> Vec<RatedLine<'a>> {
    let timeline = Timeline::of(&volume.holders);
    let owner =
        |index| Landing::of(Place::Attempt { index, rule: Rule::ResourceTime, evidence: Evidence::Modelled });
    let claim = Claim::Shared { timeline: &timeline, rest: volume.owner.map_or(Landing::IDLE, owner) };
    let mut lines = Vec::new();
    for month in by_month(volume.interval) {
        let month_micros = BillingPeriod::of(month.start).interval().micros();
        for (interval, rate) in book.component_rates(&volume.wanted, month) {
            let draft = Draft {
                resource_id: &volume.resource_id,
                interval,
                billed_micros: interval.micros(),
                rule: RatingRule::SizeByMonth,
                month_micros,
            };
            let sized = rate.and_then(|rate| size(volume, &rate).map(|size| (rate, size)));
            lines.push(match sized {
                Ok((rate, size)) => draft.at_rate(rate, size, &claim),
                Err(reason) => draft.came_to(Outcome::Unpriced(reason)),
            });
        }
    }
    lines
}

/// The volume's size in the unit of its price.
fn size(volume: &Volume, rate: &Rate<'_>) -> Result<Ratio, Unpriced> {
    let unit = rate.parts.first().map(|part| part.row.key.unit);
    let bytes_of_unit = match unit {
        Some(PriceUnit::GigabyteMonth) => 1_000_000_000,
        Some(PriceUnit::GibibyteMonth | PriceUnit::GibibyteHour) => 1 << 30,
        Some(PriceUnit::Hour | PriceUnit::Second) => return Ok(Ratio::ONE),
        None => return Err(Unpriced::OutOfRange { item: volume.wanted.item.clone() }),
    };
    Ratio::new(u128::from(volume.bytes), bytes_of_unit)
        .map_err(|_| Unpriced::OutOfRange { item: volume.wanted.item.clone() })
}
