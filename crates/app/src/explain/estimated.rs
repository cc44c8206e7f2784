//! The estimates behind a figure, for what is not billed yet.

use engine::ChargeRow;
use ledger::{BillingPeriod, CostBasis, Day, DeliveryId, Evidence, LineClass, Rule, SourceId};
use money::Amount;

use super::{ExplainLine, Selection, wanted_attempts};
use crate::books::{Books, ESTIMATES};
use crate::estimate::amount_of;
use crate::{AppError, Meta};

/// The estimates in the figure, each with the place of its price.
pub(super) fn lines(books: &Books, meta: &Meta, selection: &Selection) -> Result<Vec<ExplainLine>, AppError> {
    let wanted = wanted_attempts(books, selection)?;
    let mut lines = Vec::new();
    for estimate in books.open_estimates() {
        let day = (estimate.day.start().0, Day(estimate.day.0 + 1).start().0);
        let asked = wanted.contains(&estimate.attempt)
            && meta.takes(estimate.currency)
            && meta.has_day(estimate.day)
            && selection.kind.is_none_or(|kind| kind == estimate.resource_kind);
        if !asked {
            continue;
        }
        let cost = amount_of(estimate, meta.basis);
        if cost.is_none() && meta.basis != CostBasis::List {
            continue;
        }
        let attempt = books.attempts.iter().find(|attempt| attempt.id == estimate.attempt);
        lines.push(ExplainLine {
            source: SourceId(ESTIMATES.to_owned()),
            period: BillingPeriod::of(estimate.day.start()),
            delivery: DeliveryId(format!("made {}", estimate.made_at)),
            charge_cost: cost,
            attempt: attempt.map(|attempt| attempt.ordinal),
            rule: Rule::ResourceTime,
            evidence: Evidence::Estimated,
            overlaps: Vec::new(),
            shared_micros: None,
            amount: cost.unwrap_or_default(),
            currency: estimate.currency,
            rate_day: estimate.day,
            note: Some("estimated until the bill is here: time held × price".to_owned()),
            charge: ChargeRow {
                row: 0,
                file: estimate.price.clone(),
                line_item_id: String::new(),
                line_type: "Estimate".to_owned(),
                class: LineClass::Usage,
                resource_kind: estimate.resource_kind,
                service_name: String::new(),
                usage_type: String::new(),
                description: format!("machines of {} held on {}", estimate.provider, estimate.day),
                resource_id: None,
                tags: None,
                interval: day,
                costs: [
                    None,
                    estimate.list_cost.map(Amount::units),
                    estimate.effective_cost.map(Amount::units),
                    None,
                ],
                sold: engine::Sold::default(),
            },
        });
    }
    Ok(lines)
}
