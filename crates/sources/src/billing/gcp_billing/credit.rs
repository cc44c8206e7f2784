//! The credits on a row: which are part of the price that was paid, and which are a charge of their own.

use money::{Amount, AmountError};

use super::column::Column;
use super::row::{Fault, Row};
use crate::billing::table::cell::{Cell, CellFault, Cells, Money};
use crate::billing::tally::Tally;

/// Credits, or labels of any kind, on one row at most; the provider puts a handful on it, and allows 64 labels.
pub(super) const RECORDS: usize = 1_000;

/// The type of a credit that states none, in the provider's own word.
const UNSPECIFIED: &str = "CREDIT_TYPE_UNSPECIFIED";

/// One credit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Credit {
    /// The provider's type, never mapped away.
    pub(super) kind: String,
    /// Its full name, else its name.
    pub(super) name: Option<String>,
    /// Negative, or positive where it takes an earlier credit back.
    pub(super) amount: Amount,
}

/// The credits on one row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Credits(pub(super) Vec<Credit>);

impl Credit {
    /// True for discounts: what is paid for the usage is its cost less these. Free tiers, promotions and types that are
    /// not known here are money given, and are told apart from the price.
    pub(super) fn is_price(&self) -> bool {
        self.is_commitment()
            || matches!(
                self.kind.as_str(),
                "SUSTAINED_USAGE_DISCOUNT"
                    | "DISCOUNT"
                    | "SPENDING_BASED_DISCOUNT"
                    | "RESELLER_MARGIN"
                    | "SUBSCRIPTION_BENEFIT"
            )
    }

    /// True for what a commitment paid.
    pub(super) fn is_commitment(&self) -> bool {
        matches!(self.kind.as_str(), "COMMITTED_USAGE_DISCOUNT" | "COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE")
            || self.is_fee_offset()
    }

    /// True for the part of a commitment's fee that its usage has already paid.
    pub(super) fn is_fee_offset(&self) -> bool {
        self.kind == "FEE_UTILIZATION_OFFSET"
    }
}

impl Credits {
    /// Reads the credits of a row; a single one need not stand in a list.
    pub(super) fn of<C: Cells>(row: &Row<'_, C>, tally: &mut Tally) -> Result<Self, Fault> {
        let Some(column) = row.layout.at(Column::Credits) else { return Ok(Self::default()) };
        let mut reading = Reading::default();
        let are_records = row.cells.records(column, &mut |at, name, value| reading.take(at, name, value));
        if !are_records {
            let mut found = String::new();
            row.cells.cell(column).write_to(&mut found);
            let expected = "a list of credits, each with a type and an amount";
            return Err(Fault { code: "row::not_records", column: Column::Credits, found, expected });
        }
        reading.finish(tally)
    }

    /// Σ of all credits.
    pub(super) fn total(&self) -> Result<Amount, AmountError> {
        Amount::sum(self.0.iter().map(|credit| credit.amount))
    }

    /// Σ of the credits that are part of the price.
    pub(super) fn price(&self) -> Result<Amount, AmountError> {
        Amount::sum(self.0.iter().filter(|credit| credit.is_price()).map(|credit| credit.amount))
    }

    /// True if any credit is so.
    pub(super) fn any(&self, is: impl Fn(&Credit) -> bool) -> bool {
        self.0.iter().any(is)
    }
}

/// A credit as far as its fields were seen.
#[derive(Debug, Default)]
struct Draft {
    kind: String,
    name: String,
    full_name: String,
    amount: Option<Money>,
}

#[derive(Debug, Default)]
struct Reading {
    drafts: Vec<Draft>,
    /// Position of the record that the last draft is of.
    at: usize,
    fault: Option<Fault>,
}

impl Reading {
    fn take(&mut self, at: usize, name: &str, value: Cell<'_>) {
        if self.drafts.is_empty() || self.at != at {
            self.at = at;
            if self.drafts.len() >= RECORDS {
                self.fault.get_or_insert_with(|| too_many(Column::Credits));
                return;
            }
            self.drafts.push(Draft::default());
        }
        let Some(draft) = self.drafts.last_mut() else { return };
        match name {
            "type" => value.write_to(&mut draft.kind),
            "name" => value.write_to(&mut draft.name),
            "full_name" => value.write_to(&mut draft.full_name),
            "amount" if draft.amount.is_some() => {
                self.fault.get_or_insert(unreadable(value, CellFault::NotADecimal));
            }
            "amount" => match value.money() {
                Ok(amount) => draft.amount = amount,
                Err(fault) => {
                    self.fault.get_or_insert(unreadable(value, fault));
                }
            },
            _ => {}
        }
    }

    fn finish(self, tally: &mut Tally) -> Result<Credits, Fault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let mut credits = Vec::with_capacity(self.drafts.len());
        for draft in self.drafts {
            let missing = || Fault::missing(Column::Credits, "an amount in every credit");
            let amount = tally.counted(draft.amount.ok_or_else(missing)?);
            let kind = if draft.kind.is_empty() { UNSPECIFIED.to_owned() } else { draft.kind };
            let name = [draft.full_name, draft.name].into_iter().find(|name| !name.is_empty());
            credits.push(Credit { kind, name, amount });
        }
        Ok(Credits(credits))
    }
}

/// The fault of a column with more records than any provider puts on a row.
pub(super) fn too_many(column: Column) -> Fault {
    let found = format!("more than {RECORDS}");
    Fault { code: "row::too_many_records", column, found, expected: "at most 1000 records on a row" }
}

fn unreadable(value: Cell<'_>, fault: CellFault) -> Fault {
    Fault::unreadable(Column::Credits, value, fault)
}
