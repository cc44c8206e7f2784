//! The company's bills: rows of AWS data exports and the files in which they are delivered.

pub(crate) mod amortised;
pub(crate) mod columns;
pub(crate) mod commitment;
pub(crate) mod compute;
pub(crate) mod delivery;
pub(crate) mod line;
pub(crate) mod managed;
pub(crate) mod platform;
pub(crate) mod settlement;
pub(crate) mod storage;
pub(crate) mod table;
pub(crate) mod text;

use ledger::BillingPeriod;

use crate::DemoError;
use crate::company::{Company, PLATFORM, Payer, TRAINING};
use crate::span::{DAY, LAST, Span};
use line::Line;

/// What a delivery covers: a billing period up to the last hour that the provider has metered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// The billing period.
    pub(crate) period: BillingPeriod,
    /// The whole month.
    pub(crate) month: Span,
    /// The metered part of it.
    pub(crate) covered: Span,
    /// True for a bill before its end: no invoice, no settlement, some rows still to come.
    pub(crate) early: bool,
}

impl Window {
    /// A period as far as the demo goes.
    pub(crate) fn full(period: BillingPeriod) -> Self {
        let month = Span::of_period(period);
        Self { period, month, covered: month.within(Span::new(month.start, LAST)), early: false }
    }

    /// A period two days before its end.
    pub(crate) fn early(period: BillingPeriod) -> Self {
        let month = Span::of_period(period);
        Self { period, month, covered: Span::new(month.start, month.end - 2 * DAY), early: true }
    }
}

/// Every row of a payer's bill.
pub(crate) fn lines(company: &Company, payer: &Payer, window: Window) -> Result<Vec<Line>, DemoError> {
    let mut lines = Vec::new();
    if *payer == TRAINING {
        lines.extend(compute::cluster(company, window)?);
        lines.extend(commitment::lines(company, window)?);
        lines.extend(storage::volumes(company, window)?);
        lines.extend(storage::objects(company, window)?);
        lines.extend(platform::network(company, window)?);
    }
    if *payer == PLATFORM {
        lines.extend(managed::jobs(company, window)?);
        lines.extend(compute::desk(company, window)?);
        lines.extend(platform::kubernetes(company, window)?);
        lines.extend(platform::model_api(company, window)?);
    }
    lines.extend(platform::monitoring(company, payer, window)?);
    if !window.early {
        let settlement = settlement::lines(payer, window, &lines)?;
        lines.extend(settlement);
    }
    for line in lines.iter_mut().filter(|line| line.account.is_empty()) {
        line.account = payer.id;
    }
    lines.sort_by_key(|line| line.span);
    Ok(lines)
}
