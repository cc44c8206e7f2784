//! The books as they stand: deliveries, attempts and the postings of every current delivery.

use std::collections::{BTreeMap, BTreeSet};

use costing::attempts::{experiments, fold};
use costing::conversion::resting;
use ledger::{
    Account, Attempt, AttemptId, BillingPeriod, CostBasis, CreditTreatment, Day, Evidence, Experiment,
    ExperimentId, Figure, Measure, Posting, Settlement, SourceId, Step,
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

/// Which estimates an answer speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Estimated {
    /// Those of days that no bill covers.
    Open,
    /// All that were ever made.
    Ever,
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
    /// Attempts with machines of which no bill has come yet.
    estimated: BTreeSet<AttemptId>,
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
        let estimated = BTreeSet::new();
        let mut books =
            Self { store, deliveries, current, settlements, attempts, experiments, estimates, estimated };
        books.estimated = books.open_estimates().map(|estimate| estimate.attempt).collect();
        Ok(books)
    }

    /// The estimates of days that no bill covers.
    pub(crate) fn open_estimates(&self) -> impl Iterator<Item = &EstimateRecord> {
        self.estimates.iter().filter(|estimate| !is_billed(&self.current, &estimate.provider, estimate.day))
    }

    /// Every currency that a current delivery bills in, or an estimate is in.
    fn currencies(&self, estimated: Estimated) -> BTreeSet<Currency> {
        let billed = self.current.iter().map(|delivery| delivery.currency);
        let open = self.open_estimates().map(|estimate| estimate.currency);
        let ever = self.estimates.iter().map(|estimate| estimate.currency);
        match estimated {
            Estimated::Open => billed.chain(open).collect(),
            Estimated::Ever => billed.chain(ever).collect(),
        }
    }

    /// What stands above an answer; refuses what this question cannot be answered under.
    pub(crate) async fn meta(&self, query: &Query) -> Result<Meta, AppError> {
        self.meta_of(query, Estimated::Open).await
    }

    /// [`Self::meta`] of an answer that speaks of these estimates.
    pub(crate) async fn meta_of(&self, query: &Query, estimated: Estimated) -> Result<Meta, AppError> {
        query.answerable()?;
        let held = self.currencies(estimated);
        let currency = match (query.convert_to.or(query.currency), held.len()) {
            (Some(asked), _) if held.is_empty() || held.contains(&asked) || query.convert_to.is_some() => {
                Some(asked)
            }
            (Some(asked), _) => return Err(no_such_currency(asked, &held)),
            (None, 0) => None,
            (None, 1) => held.first().copied(),
            (None, _) => return Err(several_currencies(&held)),
        };
        let imports = self.store.imports().await?;
        let mut meta = Meta {
            basis: query.basis,
            scope: query.scope,
            credits: query.credits,
            currency,
            conversion: None,
            since: query.since,
            until: query.until,
            as_of: imports.iter().map(|import| import.arrived_at).max(),
            policy: None,
            complete_to: self.complete_to(),
        };
        if let Some(to) = query.convert_to.filter(|to| held.iter().any(|currency| currency != to)) {
            meta.conversion = Some(self.conversion((query, to), &meta, estimated).await?);
        }
        self.refuse_withheld(&meta)?;
        Ok(meta)
    }

    /// Refuses a basis that a delivery in question cannot be read under, by the name of both.
    fn refuse_withheld(&self, meta: &Meta) -> Result<(), AppError> {
        let asked = |delivery: &&DeliveryRecord| {
            let period = delivery.period.interval();
            meta.takes(delivery.currency)
                && meta.since.is_none_or(|since| period.end > since)
                && meta.until.is_none_or(|until| period.start < until)
        };
        for delivery in self.current.iter().filter(asked) {
            let Some(quality) = delivery.details.withheld(meta.basis) else { continue };
            let usable =
                [CostBasis::Effective, CostBasis::List, CostBasis::Marginal].into_iter().find(|basis| {
                    self.current.iter().filter(asked).all(|d| d.details.withheld(*basis).is_none())
                });
            let help = match usable {
                Some(basis) => format!("take another basis: trainbill ls --basis {basis}"),
                None => "ask for a time without that delivery: --since and --until".to_owned(),
            };
            let (basis, source, period) = (meta.basis, &delivery.source, delivery.period);
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
        // Another provider's bill for the same days says nothing of these machines.
        if self.estimated.contains(&attempt.id) {
            return Settlement::AwaitingBill;
        }
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
        self.originals(meta, |origin, day, posting| sink(origin, meta.converted(posting, day)?))
    }

    /// [`Self::postings`] in the currencies in which they are billed, with the day whose rate each takes.
    pub(crate) fn originals(
        &self,
        meta: &Meta,
        mut sink: impl FnMut(&Origin<'_>, Day, Posting) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        self.billed_originals(meta, |delivery, day, posting| {
            sink(&Origin { source: &delivery.source, period: Some(delivery.period) }, day, posting)
        })?;
        let experiments: BTreeMap<_, _> = self.attempts.iter().map(|a| (a.id, &a.link.experiment)).collect();
        let estimates = SourceId(ESTIMATES.to_owned());
        let origin = Origin { source: &estimates, period: None };
        for estimate in self.open_estimates() {
            let is_told =
                estimate::amount_of(estimate, meta.basis).is_some() || meta.basis == CostBasis::List;
            if is_told && meta.takes(estimate.currency) && meta.has_day(estimate.day) {
                let experiment = experiments.get(&estimate.attempt).map(|id| (*id).clone());
                sink(&origin, estimate.day, estimate::posting(estimate, experiment))?;
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
        self.billed_originals(meta, |delivery, day, posting| sink(delivery, meta.converted(posting, day)?))
    }

    fn billed_originals(
        &self,
        meta: &Meta,
        mut sink: impl FnMut(&DeliveryRecord, Day, Posting) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        for settlement in &self.settlements {
            let Some(delivery) = self.current.iter().find(|held| held.id == settlement.delivery) else {
                continue;
            };
            let mut to_sink = |posting: Posting| {
                let day = posting.usage_day.unwrap_or_else(|| last_day(delivery));
                sink(delivery, day, posting)
            };
            if meta.converts(delivery.currency) {
                // What is converted is what rests in a place, for money that only passed through has no rest.
                let mut held = Vec::new();
                self.read(meta, settlement, |posting| {
                    held.push(posting);
                    Ok(())
                })?;
                resting(held)?.into_iter().try_for_each(to_sink)?;
            } else {
                self.read(meta, settlement, &mut to_sink)?;
            }
        }
        Ok(())
    }

    /// Hands the postings of a settlement to `sink` that the question asks for.
    fn read(
        &self,
        meta: &Meta,
        settlement: &SettlementRecord,
        mut sink: impl FnMut(Posting) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        let mut fault = None;
        let period = settlement.period.interval();
        self.store.read_postings(settlement, &mut |posting| {
            let inside = match posting.usage_day {
                Some(day) => meta.has_day(day),
                None => meta.has(period.start.0, period.end.0),
            };
            let wanted = meta.takes(posting.currency)
                && posting.account != Account::Bill
                && (posting.step != Step::Credits || meta.credits == CreditTreatment::NetOfCredits)
                && (posting.step != Step::Valuation || meta.basis == CostBasis::List);
            if inside && wanted && fault.is_none() {
                fault = sink(posting).err();
            }
        })?;
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

/// The day whose rate an amount takes that is for more than a day: the last one that its delivery has usage of.
pub(crate) fn last_day(delivery: &DeliveryRecord) -> Day {
    delivery.last_day.unwrap_or_else(|| Day(delivery.period.interval().end.day().0 - 1))
}

fn words(currencies: &BTreeSet<Currency>) -> String {
    currencies.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn several_currencies(held: &BTreeSet<Currency>) -> AppError {
    let message =
        format!("the store has bills in {}, and amounts of two currencies are never added", words(held));
    let first = held.first().map_or("USD", Currency::code);
    let help = format!(
        "trainbill ls --convert-to {first}, by a list of day rates (import rates); or --currency {first} for its bills alone"
    );
    AppError::new("query::several_currencies", message).help(help)
}

fn no_such_currency(asked: Currency, held: &BTreeSet<Currency>) -> AppError {
    let message = format!("no bill is in {asked} (there are: {})", words(held));
    let first = held.first().map_or("USD", Currency::code);
    let help = format!(
        "trainbill ls --currency {first}; or --convert-to {asked}, by a list of day rates (import rates)"
    );
    AppError::new("query::no_such_currency", message).help(help)
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
