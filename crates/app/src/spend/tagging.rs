//! Whether a charge carries a tag of runs; and if not, whether it is missing on the resource or not on the bill at all.

use std::collections::BTreeSet;

use costing::attribution::Reason;
use ledger::{Account, BillingPeriod, Posting, Rule, SourceId, normalised_key};

use crate::books::{Books, Origin};
use crate::provider::provider_of;
use crate::{AppError, Context, Meta};

/// The bills on which no tag of runs is activated.
#[derive(Debug, Default)]
pub(super) struct Tagging {
    not_activated: BTreeSet<(SourceId, BillingPeriod)>,
}

/// The word for usage of a bill on which no tag of runs is activated.
pub(super) const NOT_ACTIVATED: &str = "not activated";

impl Tagging {
    /// Reads which bills carry a tag of runs in any row, or have a column for one.
    pub(super) fn read(context: &Context<'_>, books: &Books, meta: &Meta) -> Result<Self, AppError> {
        let keys: Vec<&String> = context.keys.experiment.iter().chain(&context.keys.attempt).collect();
        let is_activated_by_column = |columns: &BTreeSet<String>| {
            columns.iter().any(|column| {
                let column = normalised_key(column);
                keys.iter().any(|key| normalised_key(key) == column)
            })
        };
        let mut not_activated: BTreeSet<(SourceId, BillingPeriod)> = books
            .current
            .iter()
            // Other providers put every label of a resource on its rows: there is nothing to activate.
            .filter(|delivery| provider_of(delivery).is_some_and(|provider| provider.id == "aws"))
            .filter(|delivery| !is_activated_by_column(&delivery.details.tag_columns))
            .map(|delivery| (delivery.source.clone(), delivery.period))
            .collect();
        books.billed_postings(meta, |delivery, posting| {
            if is_tagged(&posting) {
                not_activated.remove(&(delivery.source.clone(), delivery.period));
            }
            Ok(())
        })?;
        Ok(Self { not_activated })
    }

    /// The row of a posting, with why.
    pub(super) fn key(&self, origin: &Origin<'_>, posting: &Posting) -> (usize, String, Option<String>) {
        let is_usage = matches!(
            posting.account,
            Account::Attempt | Account::Experiment | Account::Idle | Account::Shared | Account::Unattributed
        );
        let of_bill = origin.period.map(|period| (origin.source.clone(), period));
        let (place, key, why) = match (of_bill, posting.rule) {
            (None, _) => (4, "(not billed yet)", String::new()),
            (Some(_), _) if !is_usage => (5, "(no usage)", String::new()),
            (Some(_), _) if is_tagged(posting) => (0, "tagged", String::new()),
            (Some(_), Rule::ManagedJob) => (1, "not needed", "the resource is the run's own".to_owned()),
            (Some(_), Rule::SplitRows) => {
                (1, "not needed", "split rows of the provider name the run".to_owned())
            }
            (Some(bill), _) if self.not_activated.contains(&bill) => {
                let why = format!("no row and no column of the bill of {} has the key of a run", bill.0);
                (2, NOT_ACTIVATED, why)
            }
            (Some(_), _) => (3, "missing", "the row carries no tag of a run".to_owned()),
        };
        (place, key.to_owned(), (!why.is_empty()).then_some(why))
    }
}

/// True if the charges carry a tag that names a run, known or not.
fn is_tagged(posting: &Posting) -> bool {
    posting.rule == Rule::Tag || posting.reason == Reason::UnknownAttempt.text()
}
