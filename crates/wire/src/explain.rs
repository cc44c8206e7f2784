//! `why`: the charges behind a figure, each with its part.

use std::collections::BTreeMap;

use app::{ConvertedPart, ExplainLine, Explanation};
use ledger::Timestamp;
use money::{Amount, AmountError, Currency, Exchange};
use serde::Serialize;

use crate::{Empty, Figure, Meta};

/// The charges that add up to a figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainAnswer {
    /// What the figures are.
    pub meta: Meta,
    /// The experiment.
    pub experiment: String,
    /// The attempt's ordinal; `null` for all.
    pub attempt: Option<u32>,
    /// The resource kind; `null` for all.
    pub resource_kind: Option<&'static str>,
    /// The parts of charges, which sum to the total.
    pub rows: Vec<ExplainRow>,
    /// How the parts of each currency and day became part of the total; empty if nothing is converted.
    pub conversions: Vec<ConvertedRow>,
    /// What lies past the limit.
    pub not_shown: ExplainRest,
    /// The figure.
    pub total: Figure,
}

/// The parts past the limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainRest {
    /// How many.
    pub rows: usize,
    /// Their sums, one a currency.
    pub sums: Vec<ExplainSum>,
}

/// What parts sum to in one currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainSum {
    /// The sum.
    pub amount: String,
    /// Currency code.
    pub currency: String,
}

/// What was billed in one currency for one day, in the currency of the total.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ConvertedRow {
    /// Currency code of the bill.
    pub from: String,
    /// The day whose rate it takes; `null` for what is billed in the currency of the total.
    pub day: Option<String>,
    /// The sum of its parts, as billed.
    pub amount: String,
    /// The day for which the rate is published.
    pub rate_day: Option<String>,
    /// The rate by which is multiplied.
    pub times: Option<String>,
    /// The rate by which is divided.
    pub over: Option<String>,
    /// Amounts that were converted, each rounded once past its last digit.
    pub roundings: u64,
    /// The sum of the converted amounts.
    pub converted: String,
}

/// A part of one charge.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ExplainRow {
    /// The part, as billed.
    pub amount: String,
    /// Currency code of the part and of the charge.
    pub amount_currency: String,
    /// The attempt's ordinal; `null` for the experiment as a whole.
    pub attempt: Option<u32>,
    /// The rule that claimed the charge.
    pub rule: &'static str,
    /// How the amount was got.
    pub evidence: &'static str,
    /// The whole charge under the basis.
    pub charge_cost: Option<String>,
    /// `priced`, `unpriced`, or what the amount is a part of instead.
    pub charge_state: String,
    /// First instant of the charge.
    pub charge_start: String,
    /// First instant after it.
    pub charge_end: String,
    /// When the resource was held, and how much of it.
    pub overlaps: Vec<OverlapRow>,
    /// Microseconds over which the charge is shared out: held time and the billed rest; `null` for a whole charge.
    pub shared_micros: Option<u64>,
    /// Resource kind.
    pub resource_kind: &'static str,
    /// Resource, as the bill names it.
    pub resource_id: Option<String>,
    /// Service.
    pub service_name: String,
    /// Usage type.
    pub usage_type: String,
    /// Provider's line type.
    pub line_type: String,
    /// Provider's description.
    pub description: String,
    /// Provider's id of the row.
    pub line_item_id: String,
    /// Source of the bill.
    pub source: String,
    /// Month billed.
    pub billing_period: String,
    /// The delivery: the version of the source.
    pub delivery: String,
    /// File of the delivery.
    pub file: Option<String>,
    /// Row of the file, from 1 after the header.
    pub row: Option<i64>,
}

/// A time in which a part of the resource was held.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct OverlapRow {
    /// First instant.
    pub start: String,
    /// First instant after it.
    pub end: String,
    /// Units held.
    pub weight: u64,
    /// Units that were shared out.
    pub of: u64,
}

/// The public shape of `why`, with at most `limit` rows.
///
/// # Errors
/// `OutOfRange` on overflow.
pub fn why(explanation: &Explanation, limit: Option<usize>) -> Result<ExplainAnswer, AmountError> {
    let lines = &explanation.lines;
    let shown = limit.unwrap_or(lines.len()).min(lines.len());
    let (shown, hidden) = lines.split_at(shown);
    let mut rest: BTreeMap<Currency, Amount> = BTreeMap::new();
    for line in hidden {
        let sum = rest.entry(line.currency).or_default();
        *sum = sum.checked_add(line.amount)?;
    }
    let sums = rest
        .into_iter()
        .map(|(currency, amount)| ExplainSum { amount: amount.to_string(), currency: currency.to_string() });
    Ok(ExplainAnswer {
        meta: Meta::from(&explanation.meta),
        experiment: explanation.selection.experiment.clone(),
        attempt: explanation.selection.attempt,
        resource_kind: explanation.selection.kind.map(|kind| kind.word()),
        rows: shown.iter().map(ExplainRow::of).collect(),
        conversions: explanation.conversions.iter().map(ConvertedRow::of).collect(),
        not_shown: ExplainRest { rows: hidden.len(), sums: sums.collect() },
        total: Figure::of(&explanation.total, Empty::NoCharges)?,
    })
}

impl ConvertedRow {
    fn of(part: &ConvertedPart) -> Self {
        let exchange = part.rate.map(|rate| rate.exchange);
        Self {
            from: part.currency.to_string(),
            day: part.day.map(|day| day.to_string()),
            amount: part.amount.to_string(),
            rate_day: part.rate.map(|rate| rate.published.to_string()),
            times: exchange.and_then(Exchange::times).map(|rate| rate.to_string()),
            over: exchange.and_then(Exchange::over).map(|rate| rate.to_string()),
            roundings: part.roundings,
            converted: part.converted.to_string(),
        }
    }
}

impl ExplainRow {
    fn of(line: &ExplainLine) -> Self {
        let charge = &line.charge;
        let time = |micros: i64| Timestamp(micros).to_string();
        let in_file = !charge.file.is_empty();
        let state = match (line.charge_cost, line.note.as_deref()) {
            (_, Some(note)) => note,
            (Some(_), None) => "priced",
            (None, None) => "unpriced",
        };
        let overlaps = line.overlaps.iter().map(|overlap| OverlapRow {
            start: time(overlap.start),
            end: time(overlap.end),
            weight: overlap.weight,
            of: overlap.of,
        });
        Self {
            amount: line.amount.to_string(),
            amount_currency: line.currency.to_string(),
            attempt: line.attempt,
            rule: line.rule.word(),
            evidence: line.evidence.word(),
            charge_cost: line.charge_cost.map(|cost| cost.to_string()),
            charge_state: state.to_owned(),
            charge_start: time(charge.interval.0),
            charge_end: time(charge.interval.1),
            overlaps: overlaps.collect(),
            shared_micros: line.shared_micros,
            resource_kind: charge.resource_kind.word(),
            resource_id: charge.resource_id.clone(),
            service_name: charge.service_name.clone(),
            usage_type: charge.usage_type.clone(),
            line_type: charge.line_type.clone(),
            description: charge.description.clone(),
            line_item_id: charge.line_item_id.clone(),
            source: line.source.to_string(),
            billing_period: line.period.to_string(),
            delivery: line.delivery.to_string(),
            file: in_file.then(|| charge.file.clone()),
            row: (in_file && charge.row > 0).then_some(charge.row),
        }
    }
}

impl ExplainAnswer {
    /// The rows for a flat file, with a row a currency for what is not shown, so that each currency's column sums to what
    /// was billed in it, and to the total where nothing is converted.
    pub fn flat_rows(&self) -> Vec<ExplainRow> {
        let rest = self.not_shown.sums.iter().map(|sum| ExplainRow {
            amount: sum.amount.clone(),
            amount_currency: sum.currency.clone(),
            charge_state: format!("(not shown: {})", self.not_shown.rows),
            ..ExplainRow::default()
        });
        self.rows.iter().cloned().chain(rest).collect()
    }
}
