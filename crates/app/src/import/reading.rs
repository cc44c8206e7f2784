//! Reads what of a bill's place is new since the import before, and says what the next import may leave alone.

use std::collections::BTreeMap;

use ledger::BillingPeriod;
use sources::SourceError;
use sources::billing::{BillBatch, BillInput, BillOptions, BillSummary};
use sources::place::{self, Known, Opened, PlaceLimits, StatedPeriods};
use store::{
    DeliveryFacts, DeliveryKey, DeliveryRecord, DeliveryWriter, PlaceKey, PlaceRead, StagedDelivery, Store,
};

use super::ImportWarning;
use super::bill::Bill;
use crate::{AppError, Context};

pub(super) type Writers = BTreeMap<(String, BillingPeriod), DeliveryWriter>;

/// What was read of a place, and what was known of it.
pub(super) struct Reading {
    pub(super) summary: BillSummary,
    pub(super) writers: Writers,
    opened: Opened,
    key: PlaceKey,
    known: Known,
    /// What an import before remembers, as far as it still stands.
    memory: Option<PlaceRead>,
    /// True if rows may stand in another billing period than their file.
    astray: bool,
}

/// Reads the parts of a place that changed since its last import; all of it if that cannot be told.
///
/// # Errors
/// Of the place, the reader or the store.
pub(super) async fn read(
    context: &Context<'_>,
    store: &Store,
    current: &[DeliveryRecord],
    bill: Bill<'_>,
) -> Result<Reading, AppError> {
    let source = bill.options.source.clone().unwrap_or_default();
    let key = PlaceKey { reader: bill.reader.id.to_owned(), source, place: place::name(bill.place) };
    // A new release may make other charges of the same rows, even where a reader's formulae stay.
    let reader = format!("{} of trainbill {}", bill.reader.version, env!("CARGO_PKG_VERSION"));
    let nothing = Known { reader, now: context.now, ..Known::default() };
    let memory = if bill.options.replace { None } else { store.place_read(&key).await? };
    let known = memory.as_ref().map_or_else(|| nothing.clone(), |memory| standing(&nothing, memory, current));
    let begun = Reading {
        summary: BillSummary::default(),
        writers: Writers::new(),
        opened: open(context, bill, &known)?,
        key,
        known,
        memory,
        astray: false,
    };
    let reading = begun.through(context, store, bill)?;
    // Rows in a period of which not all files were read would take the place of those that rest.
    if reading.astray && reading.opened.parts.iter().any(|part| !part.changed) {
        let whole = Reading {
            opened: open(context, bill, &nothing)?,
            known: nothing,
            memory: None,
            writers: Writers::new(),
            ..reading
        };
        return whole.through(context, store, bill);
    }
    Ok(reading)
}

fn open(context: &Context<'_>, bill: Bill<'_>, known: &Known) -> Result<Opened, AppError> {
    context.progress.stage("finding files");
    Ok(place::open_changed(bill.place, &PlaceLimits::default(), known)?)
}

/// What is known of a place: what was made of it must still be what figures come from.
fn standing(nothing: &Known, memory: &PlaceRead, current: &[DeliveryRecord]) -> Known {
    let stands = |key: &DeliveryKey| current.iter().any(|held| held.key() == *key);
    let all_stand = memory.deliveries.iter().all(stands);
    if all_stand {
        let PlaceRead { listing, parts, apart, .. } = memory.clone();
        return Known { listing, parts, apart, ..nothing.clone() };
    }
    if !memory.apart {
        return nothing.clone();
    }
    let fell = |period: Option<BillingPeriod>| {
        memory.deliveries.iter().any(|key| Some(key.period) == period && !stands(key))
    };
    let mut parts = memory.parts.clone();
    parts.retain(|period, _| !fell(*period));
    Known { parts, apart: true, ..nothing.clone() }
}

impl Reading {
    /// Reads the files that were opened.
    fn through(mut self, context: &Context<'_>, store: &Store, bill: Bill<'_>) -> Result<Self, AppError> {
        if self.opened.input.files.is_empty() {
            self.summary.warnings.clone_from(&self.opened.warnings);
            return Ok(self);
        }
        context.progress.stage("reading the bill");
        (self.summary, self.writers, self.astray) = through(context, store, &self.opened.input, bill)?;
        Ok(self)
    }

    /// The deliveries of the parts that were not read.
    pub(super) fn unread<'c>(&self, current: &'c [DeliveryRecord]) -> Vec<&'c DeliveryRecord> {
        let Some(memory) = &self.memory else { return Vec::new() };
        let is_unread = |period: BillingPeriod| {
            let mut parts = self.opened.parts.iter();
            if self.known.apart {
                parts.any(|part| part.period == Some(period) && !part.changed)
            } else {
                parts.all(|part| !part.changed)
            }
        };
        let of_place =
            |held: &&DeliveryRecord| memory.deliveries.contains(&held.key()) && is_unread(held.period);
        current.iter().filter(of_place).collect()
    }

    /// What is to be said of the place, of what was read, and again of what was not.
    pub(super) fn warnings(&self) -> Vec<ImportWarning> {
        let said = |code: &str, message: &str| ImportWarning {
            code: code.to_owned(),
            message: message.to_owned(),
            help: None,
        };
        let now = self.summary.warnings.iter().map(|warning| said(warning.code, &warning.message));
        let before = self.kept().into_iter().flat_map(|memory| &memory.warnings);
        now.chain(before.map(|(code, message)| said(code, message))).collect()
    }

    /// What stays remembered: parts of the same place are read together where there is anything to say of them.
    fn kept(&self) -> Option<&PlaceRead> {
        self.memory.as_ref().filter(|_| self.opened.parts.iter().any(|part| !part.changed))
    }

    /// What the next import may know, after these deliveries were made of what was read.
    pub(super) fn remembered(
        &self,
        context: &Context<'_>,
        staged: &[(StagedDelivery, DeliveryFacts)],
        current: &[DeliveryRecord],
    ) -> PlaceRead {
        // Which part a rejected row belongs to is not known, and it is told each time.
        let whole = self.summary.rejected == 0;
        let parts: BTreeMap<_, _> = (self.opened.parts.iter())
            .filter(|part| whole || !part.changed)
            .filter_map(|part| Some((part.period, part.fingerprint.clone()?)))
            .collect();
        let of_reader = |warning: &&sources::billing::BillWarning| !self.opened.warnings.contains(warning);
        let read = self.summary.warnings.iter().filter(of_reader);
        let read = read.map(|warning| (warning.code.to_owned(), warning.message.clone()));
        let kept = self.kept().map(|memory| memory.warnings.clone()).unwrap_or_default();
        let warnings: Vec<(String, String)> = kept.into_iter().chain(read).collect();
        let unread = self.unread(current).into_iter().map(DeliveryRecord::key);
        let made = staged.iter().map(|(delivery, _)| delivery.key()).filter(|_| whole);
        let deliveries: Vec<DeliveryKey> = unread.chain(made).collect();
        let stated = self.opened.parts.iter().all(|part| part.period.is_some());
        let nothing_read = self.opened.input.files.is_empty();
        let apart =
            if nothing_read { self.known.apart } else { stated && !self.astray && warnings.is_empty() };
        let all = parts.len() == self.opened.parts.len() && self.opened.warnings.is_empty();
        PlaceRead {
            key: self.key.clone(),
            read_at: context.now,
            listing: self.opened.listing.clone().filter(|_| all),
            // What made nothing is looked at again.
            parts: if deliveries.is_empty() { BTreeMap::new() } else { parts },
            apart,
            deliveries,
            warnings,
        }
    }
}

/// Reads files into deliveries; true if rows may stand in another billing period than their file.
fn through(
    context: &Context<'_>,
    store: &Store,
    input: &BillInput,
    bill: Bill<'_>,
) -> Result<(BillSummary, Writers, bool), AppError> {
    let mut writers = Writers::new();
    let mut fault: Option<AppError> = None;
    let stated = StatedPeriods::of(input);
    let mut astray = false;
    let mut sink = |batch: BillBatch| -> Result<(), SourceError> {
        context.progress.rows(batch.batch.num_rows() as u64);
        astray |= !stated.hold_in(&batch);
        let key = (batch.payer.clone(), batch.period);
        let written = match writers.entry(key) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut().append(&batch.batch),
            std::collections::btree_map::Entry::Vacant(entry) => store
                .begin_delivery(&bill.source_id(&batch.payer), batch.period)
                .and_then(|writer| entry.insert(writer).append(&batch.batch)),
        };
        written.map_err(|error| {
            let code = "store::write";
            let refusal = SourceError::new(code, error.to_string());
            fault = Some(error.into());
            refusal
        })
    };
    let read = (bill.reader.read)(input, &BillOptions::default(), &mut sink);
    match (read, fault) {
        (_, Some(fault)) => Err(fault),
        (Err(error), None) => Err(error.into()),
        (Ok(summary), None) => Ok((summary, writers, astray)),
    }
}
