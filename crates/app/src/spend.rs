//! `spend`: all money of the bills, by account or by another dimension; nothing is left out.

mod tagging;

use std::collections::BTreeMap;

use ledger::{Figure, Posting};

use self::tagging::{NOT_ACTIVATED, Tagging};
use crate::books::{Books, Origin, add, measure};
use crate::{AppError, Context, Meta, Query};

/// By what spend is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpendBy {
    /// Account of the cost ledger.
    Account,
    /// Source of the bill.
    Source,
    /// Provider's service.
    Service,
    /// Provider's account that used it.
    SubAccount,
    /// Kind of resource.
    ResourceKind,
    /// UTC day of usage.
    Day,
    /// Month in which it is invoiced, which at a month's border is not that of the usage.
    BillingPeriod,
    /// Team of the run.
    Team,
    /// Experiment.
    Experiment,
    /// Whether the charges carry a tag of runs, and why not.
    Tag,
}

impl SpendBy {
    /// Every dimension.
    pub const ALL: [Self; 10] = [
        Self::Account,
        Self::Source,
        Self::Service,
        Self::SubAccount,
        Self::ResourceKind,
        Self::Day,
        Self::BillingPeriod,
        Self::Team,
        Self::Experiment,
        Self::Tag,
    ];

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Source => "source",
            Self::Service => "service",
            Self::SubAccount => "sub_account",
            Self::ResourceKind => "resource_kind",
            Self::Day => "day",
            Self::BillingPeriod => "billing_period",
            Self::Team => "team",
            Self::Experiment => "experiment",
            Self::Tag => "tag",
        }
    }

    /// The dimension of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|by| by.word() == word)
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendRow {
    /// Value of the dimension; in parentheses where there is none.
    pub key: String,
    /// Why the money is there, for accounts that are not a run's.
    pub reason: Option<String>,
    /// How much.
    pub figure: Figure,
    /// Parts of charges in it: a charge that is split has one in each place that takes some of it.
    pub parts: u64,
}

/// The answer of `spend`.
#[derive(Debug, Clone, PartialEq)]
pub struct SpendTable {
    /// What stands above it.
    pub meta: Meta,
    /// By what it is split.
    pub by: SpendBy,
    /// Rows, in order of the ledger's accounts or of their keys.
    pub rows: Vec<SpendRow>,
    /// Rows in all.
    pub total_rows: usize,
    /// Sum of the rows past the limit.
    pub not_shown: Figure,
    /// Sum of all rows: the bill under this basis.
    pub total: Figure,
}

impl SpendTable {
    /// True if a bill has no tag of runs in any row or column, so that the keys seem not activated for billing.
    pub fn lacks_activation(&self) -> bool {
        self.by == SpendBy::Tag && self.rows.iter().any(|row| row.key == NOT_ACTIVATED)
    }
}

/// All money, split by one dimension.
///
/// # Errors
/// As [`crate::ls`]; a filter on runs is refused, since spend is not only of runs.
pub async fn spend(context: &Context<'_>, query: &Query, by: SpendBy) -> Result<SpendTable, AppError> {
    if query.filter.is_some() {
        let message = "spend is of everything; a filter on runs does not apply to it";
        return Err(AppError::new("query::filter_on_spend", message).help("trainbill ls --where …"));
    }
    let books = Books::open(context).await?;
    let meta = books.meta(query).await?;
    let tagging =
        if by == SpendBy::Tag { Tagging::read(context, &books, &meta)? } else { Tagging::default() };
    let teams: BTreeMap<_, _> = books.attempts.iter().filter_map(|a| Some((a.id, a.team.clone()?))).collect();
    let nothing = Figure::nothing(measure(&meta));
    let mut rows: BTreeMap<(usize, String, Option<String>), (Figure, u64)> = BTreeMap::new();
    books.postings(&meta, |origin, posting| {
        let team = posting.attempt.and_then(|attempt| teams.get(&attempt).cloned());
        let key = key((by, &tagging), origin, &posting, team);
        let (figure, parts) = rows.entry(key).or_insert_with(|| (nothing.clone(), 0));
        add(figure, &posting)?;
        *parts += posting.charges;
        Ok(())
    })?;
    // Money that entered and moved on leaves rows of nothing behind.
    let rows: Vec<SpendRow> = rows
        .into_iter()
        .map(|((_, key, reason), (figure, parts))| SpendRow { key, reason, figure, parts })
        .filter(|row| row.parts > 0 || row.figure.by_evidence.values().any(|amount| !amount.is_zero()))
        .collect();
    table(meta, by, rows, query.limit)
}

fn key(
    (by, tagging): (SpendBy, &Tagging),
    origin: &Origin<'_>,
    posting: &Posting,
    team: Option<String>,
) -> (usize, String, Option<String>) {
    let or_none = |text: &str, none: &str| if text.is_empty() { none.to_owned() } else { text.to_owned() };
    let plain = |text: String| (0, text, None);
    match by {
        SpendBy::Account => {
            let reason = (!posting.reason.is_empty()).then(|| posting.reason.clone());
            (posting.account as usize, posting.account.word().to_owned(), reason)
        }
        SpendBy::Source => plain(origin.source.0.clone()),
        SpendBy::BillingPeriod => {
            plain(origin.period.map_or_else(|| "(not billed yet)".to_owned(), |period| period.to_string()))
        }
        SpendBy::Service => plain(or_none(&posting.service_name, "(no service)")),
        SpendBy::SubAccount => plain(or_none(&posting.sub_account_id, "(no account)")),
        SpendBy::ResourceKind => {
            (posting.resource_kind as usize, posting.resource_kind.word().to_owned(), None)
        }
        SpendBy::Day => {
            plain(posting.usage_day.map_or_else(|| "(more than a day)".to_owned(), |d| d.to_string()))
        }
        SpendBy::Team => plain(team.unwrap_or_else(|| "(no team)".to_owned())),
        SpendBy::Tag => tagging.key(origin, posting),
        SpendBy::Experiment => {
            plain(posting.experiment.as_ref().map_or_else(|| "(no experiment)".to_owned(), |id| id.0.clone()))
        }
    }
}

fn table(meta: Meta, by: SpendBy, rows: Vec<SpendRow>, limit: Option<usize>) -> Result<SpendTable, AppError> {
    let nothing = Figure::nothing(measure(&meta));
    let sum =
        |rows: &[SpendRow]| rows.iter().try_fold(nothing.clone(), |sum, row| sum.checked_add(&row.figure));
    let (total_rows, shown) = (rows.len(), limit.unwrap_or(rows.len()).min(rows.len()));
    let (total, not_shown) = (sum(&rows)?, sum(&rows[shown..])?);
    let rows = rows.into_iter().take(shown).collect();
    Ok(SpendTable { meta, by, rows, total_rows, not_shown, total })
}
