//! The books as they stand: deliveries, attempts and the postings of every current delivery.

use std::collections::{BTreeMap, BTreeSet};

use costing::attempts::{experiments, fold};
use ledger::{
    Account, Attempt, BillingPeriod, CostBasis, CreditTreatment, Day, Evidence, Experiment, ExperimentId,
    Figure, Measure, Posting, Settlement, SourceId, Step,
};
use money::{Amount, AmountError, Currency};
use store::{DeliveryRecord, EstimateRecord, SettlementRecord, Store};

use crate::estimate::{self, is_billed};
use crate::{AppError, Context, Meta, Query};

/// Where a posting comes from.
pub(crate) struct Origin<'a> {
    pub(crate) source: &'a SourceId,
    /// The month in which it is invoiced; `None` for an estimate.
    pub(crate) period: Option<BillingPeriod>,
}

/// The source under which estimates stand.
pub(crate) const ESTIMATES: &str = "estimates";

/// Everything that reading verbs start from.
pub(crate) struct Books {
    pub(crate) store: Store,
    pub(crate) deliveries: Vec<DeliveryRecord>,
    pub(crate) current: Vec<DeliveryRecord>,
    pub(crate) settlements: Vec<SettlementRecord>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) experiments: Vec<Experiment>,
    /// Estimates as they were made, those of days that a bill covers now included.
    pub(crate) estimates: Vec<EstimateRecord>,
}

impl Books {
    /// Opens the books of the context's store.
    pub(crate) async fn open(context: &Context<'_>) -> Result<Self, AppError> {
        let store = Store::open(&context.store).await?;
        let deliveries = store.deliveries().await?;
        let current = deliveries.iter().filter(|delivery| delivery.current).cloned().collect();
        let settlements = store.settlements().await?;
        let attempts = fold(&store.observations().await?).attempts;
        let experiments = experiments(&attempts);
        let estimates = store.estimates().await?;
        Ok(Self { store, deliveries, current, settlements, attempts, experiments, estimates })
    }

    /// The estimates of days that no bill covers.
    pub(crate) fn open_estimates(&self) -> impl Iterator<Item = &EstimateRecord> {
        self.estimates.iter().filter(|estimate| !is_billed(&self.current, &estimate.provider, estimate.day))
    }

    /// Every currency that a current delivery bills in, or an estimate is in where nothing is billed.
    pub(crate) fn currencies(&self) -> BTreeSet<Currency> {
        let billed = self.current.iter().map(|delivery| delivery.currency);
        billed.chain(self.open_estimates().map(|estimate| estimate.currency)).collect()
    }

    /// What stands above an answer; refuses what this question cannot be answered under.
    pub(crate) async fn meta(&self, query: &Query) -> Result<Meta, AppError> {
        query.answerable()?;
        let held = self.currencies();
        let currency = match (query.currency, held.len()) {
            (Some(asked), _) if held.is_empty() || held.contains(&asked) => Some(asked),
            (Some(asked), _) => return Err(no_such_currency(asked, &held)),
            (None, 0) => None,
            (None, 1) => held.first().copied(),
            (None, _) => return Err(several_currencies(&held)),
        };
        self.refuse_withheld(query, currency)?;
        let imports = self.store.imports().await?;
        Ok(Meta {
            basis: query.basis,
            scope: query.scope,
            credits: query.credits,
            currency,
            since: query.since,
            until: query.until,
            as_of: imports.iter().map(|import| import.arrived_at).max(),
            policy: None,
            complete_to: self.complete_to(),
        })
    }

    /// Refuses a basis that a delivery in question cannot be read under, by the name of both.
    fn refuse_withheld(&self, query: &Query, currency: Option<Currency>) -> Result<(), AppError> {
        let asked = |delivery: &&DeliveryRecord| {
            let period = delivery.period.interval();
            Some(delivery.currency) == currency
                && query.since.is_none_or(|since| period.end > since)
                && query.until.is_none_or(|until| period.start < until)
        };
        for delivery in self.current.iter().filter(asked) {
            let Some(quality) = delivery.details.withheld(query.basis) else { continue };
            let usable =
                [CostBasis::Effective, CostBasis::List, CostBasis::Marginal].into_iter().find(|basis| {
                    self.current.iter().filter(asked).all(|d| d.details.withheld(*basis).is_none())
                });
            let help = match usable {
                Some(basis) => format!("take another basis: trainbill ls --basis {basis}"),
                None => "ask for a time without that delivery: --since and --until".to_owned(),
            };
            let (basis, source, period) = (query.basis, &delivery.source, delivery.period);
            let message =
                format!("{basis} cost of {source} for {period} cannot be shown: {}", quality.message);
            return Err(AppError::new("query::basis_withheld", message)
                .at(format!("{} ({} rows)", quality.code, quality.rows))
                .help(help));
        }
        Ok(())
    }

    /// The last day for which every source has usage billed.
    fn complete_to(&self) -> Option<Day> {
        let mut last: BTreeMap<&SourceId, Day> = BTreeMap::new();
        for delivery in &self.current {
            if let Some(day) = delivery.last_day {
                let held = last.entry(&delivery.source).or_insert(day);
                *held = (*held).max(day);
            }
        }
        last.into_values().min()
    }

    /// How far the bill for an attempt's time has come.
    pub(crate) fn settlement(&self, attempt: &Attempt) -> Settlement {
        let (Some(start), end) = (attempt.started_at, attempt.ended_at) else {
            // What ended without a start held nothing, so no bill will speak of it.
            return if attempt.ended_at.is_some() { Settlement::Final } else { Settlement::AwaitingBill };
        };
        let last = end.map_or(start, |end| ledger::Timestamp(end.0 - 1).max(start)).day();
        let covering: Vec<&DeliveryRecord> = self
            .current
            .iter()
            .filter(|delivery| delivery.days.iter().any(|day| (start.day()..=last).contains(day)))
            .collect();
        let covered = |day: Day| covering.iter().any(|delivery| delivery.days.contains(&day));
        if covering.is_empty() || !covered(last) || end.is_none() {
            return Settlement::AwaitingBill;
        }
        if covering.iter().any(|delivery| !delivery.is_final) {
            return Settlement::Open;
        }
        if covering.iter().any(|delivery| self.restates(delivery)) {
            return Settlement::Restated;
        }
        Settlement::Final
    }

    /// True if an earlier delivery of the same period was final and came to other totals.
    pub(crate) fn restates(&self, delivery: &DeliveryRecord) -> bool {
        self.deliveries.iter().any(|earlier| {
            earlier.source == delivery.source
                && earlier.period == delivery.period
                && earlier.sequence < delivery.sequence
                && earlier.is_final
                && earlier.totals() != delivery.totals()
        })
    }

    /// Hands every posting of the question's currency and window to `sink`, with its source, and the estimates of what
    /// is not billed yet; the bill's own side is left out.
    pub(crate) fn postings(
        &self,
        meta: &Meta,
        mut sink: impl FnMut(&Origin<'_>, Posting) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        self.billed_postings(meta, |delivery, posting| {
            sink(&Origin { source: &delivery.source, period: Some(delivery.period) }, posting)
        })?;
        let experiments: BTreeMap<_, _> = self.attempts.iter().map(|a| (a.id, &a.link.experiment)).collect();
        let estimates = SourceId(ESTIMATES.to_owned());
        for estimate in self.open_estimates() {
            let day = estimate.day.start().0;
            if Some(estimate.currency) == meta.currency && in_window(meta, day, day + 1) {
                let experiment = experiments.get(&estimate.attempt).map(|id| (*id).clone());
                sink(&Origin { source: &estimates, period: None }, estimate::posting(estimate, experiment))?;
            }
        }
        Ok(())
    }

    /// [`Self::postings`] of the bills alone, with their deliveries.
    pub(crate) fn billed_postings(
        &self,
        meta: &Meta,
        mut sink: impl FnMut(&DeliveryRecord, Posting) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        let mut fault = None;
        for settlement in &self.settlements {
            let Some(delivery) = self.current.iter().find(|held| held.id == settlement.delivery) else {
                continue;
            };
            let period = settlement.period.interval();
            self.store.read_postings(settlement, &mut |posting| {
                let inside = match posting.usage_day {
                    Some(day) => in_window(meta, day.start().0, day.start().0 + 1),
                    None => in_window(meta, period.start.0, period.end.0),
                };
                let wanted = Some(posting.currency) == meta.currency
                    && posting.account != Account::Bill
                    && (posting.step != Step::Credits || meta.credits == CreditTreatment::NetOfCredits);
                if inside && wanted && fault.is_none() {
                    fault = sink(delivery, posting).err();
                }
            })?;
        }
        fault.map_or(Ok(()), Err)
    }

    /// The experiment that a name or a unique beginning of one means.
    pub(crate) fn experiment(
        &self,
        name: &str,
        billed: &BTreeSet<ExperimentId>,
    ) -> Result<ExperimentId, AppError> {
        let known: BTreeSet<&ExperimentId> =
            self.experiments.iter().map(|experiment| &experiment.id).chain(billed).collect();
        if let Some(exact) = known.iter().find(|id| id.0 == name) {
            return Ok((**exact).clone());
        }
        let starting: Vec<&&ExperimentId> = known.iter().filter(|id| id.0.starts_with(name)).collect();
        match starting.as_slice() {
            [only] => Ok((**only).clone()),
            [] => Err(AppError::new("query::no_such_experiment", format!("no experiment is named `{name}`"))
                .help("trainbill ls")),
            many => {
                let names: Vec<&str> = many.iter().take(5).map(|id| id.0.as_str()).collect();
                let message = format!("`{name}` begins {} experiments: {}, …", many.len(), names.join(", "));
                Err(AppError::new("query::ambiguous_experiment", message)
                    .help(format!("trainbill show {}", names[0])))
            }
        }
    }
}

pub(crate) fn in_window(meta: &Meta, start: i64, end: i64) -> bool {
    meta.since.is_none_or(|since| start >= since.0) && meta.until.is_none_or(|until| end <= until.0)
}

fn words(currencies: &BTreeSet<Currency>) -> String {
    currencies.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn several_currencies(held: &BTreeSet<Currency>) -> AppError {
    let message = format!("the store has bills in {} and no rate to convert them", words(held));
    let first = held.first().map_or("USD", Currency::code);
    AppError::new("query::several_currencies", message).help(format!("trainbill ls --currency {first}"))
}

fn no_such_currency(asked: Currency, held: &BTreeSet<Currency>) -> AppError {
    let message = format!("no bill is in {asked} (there are: {}) and no rate is declared", words(held));
    let first = held.first().map_or("USD", Currency::code);
    AppError::new("query::no_such_currency", message).help(format!("trainbill ls --currency {first}"))
}

/// The measure of every figure under a question.
pub(crate) fn measure(meta: &Meta) -> Measure {
    Measure { currency: meta.currency.unwrap_or(Currency::NONE), basis: meta.basis, credits: meta.credits }
}

/// The cost of a posting under a basis.
pub(crate) const fn cost(posting: &Posting, basis: CostBasis) -> Amount {
    match basis {
        CostBasis::Billed => posting.billed_cost,
        CostBasis::List => posting.list_cost,
        CostBasis::Effective => posting.effective_cost,
        CostBasis::Marginal => posting.marginal_cost,
    }
}

/// Adds a posting to a figure; a marginal cost is a counterfactual, so it is always modelled.
pub(crate) fn add(figure: &mut Figure, posting: &Posting) -> Result<(), AmountError> {
    let basis = figure.measure.basis;
    let evidence = if basis == CostBasis::Marginal { Evidence::Modelled } else { posting.evidence };
    let held = figure.by_evidence.entry(evidence).or_default();
    *held = held.checked_add(cost(posting, basis))?;
    if basis == CostBasis::List {
        figure.unpriced += posting.unpriced;
    }
    Ok(())
}
