//! Gathers the prices of a list, sorts out what is doubtful or contradicts, and counts everything.

use std::collections::BTreeMap;

use ledger::{PriceKey, PriceOrigin, PriceRow, Timestamp};
use money::Amount;

use super::doubt;
use super::{PriceList, PriceOptions, Quarantined};
use crate::telemetry::Warning;
use crate::{Rejection, SourceError};

/// Why a price is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    code: &'static str,
    column: String,
    found: String,
    expected: String,
}

impl Refusal {
    /// A refusal of what was found in a column.
    pub(crate) fn new(code: &'static str, column: &str, found: &str, expected: impl Into<String>) -> Self {
        let found = found.chars().take(120).collect();
        Self { code, column: column.to_owned(), found, expected: expected.into() }
    }

    /// The rejection of a row of a file.
    pub(crate) fn at(self, file: &str, row: u64) -> Rejection {
        let Self { code, column, found, expected } = self;
        Rejection { code, file: file.to_owned(), row, column: Some(column), found, expected }
    }
}

/// A price in decimal text.
pub(crate) fn amount(text: &str, column: &str) -> Result<Amount, Refusal> {
    let amount: Amount = text
        .parse()
        .map_err(|_| Refusal::new("row::not_a_price", column, text, "a decimal number such as 21.957642"))?;
    if amount.units() < 0 {
        return Err(Refusal::new("row::negative_price", column, text, "a price of at least 0"));
    }
    Ok(amount)
}

/// Where a key was met.
enum Met {
    /// It has one price so far, at this index.
    Price(usize),
    /// It has several and none is used; the first place is named.
    Refused(PriceOrigin),
}

/// The prices of one list while it is read.
pub(crate) struct Gather<'o> {
    pub(crate) options: &'o PriceOptions,
    list: PriceList,
    /// The list's prices; a price that was contradicted leaves a gap.
    prices: Vec<Option<PriceRow>>,
    met: BTreeMap<PriceKey, Met>,
}

impl<'o> Gather<'o> {
    pub(crate) fn new(options: &'o PriceOptions) -> Self {
        Self { options, list: PriceList::default(), prices: Vec::new(), met: BTreeMap::new() }
    }

    /// Where the next price of the file stands, if the file counts prices.
    pub(crate) fn next_origin(&self) -> PriceOrigin {
        self.origin(self.list.rows + 1)
    }

    /// Where a row of the file stands.
    pub(crate) fn origin(&self, row: u64) -> PriceOrigin {
        PriceOrigin {
            source: self.options.source.clone(),
            file: self.options.file.clone(),
            row,
            published_at: None,
        }
    }

    /// Counts a price that is outside of what trainbill rates.
    pub(crate) fn pass_over(&mut self, why: &'static str) {
        self.list.rows += 1;
        *self.list.passed_over.entry(why).or_default() += 1;
    }

    pub(crate) fn warn(&mut self, warning: Warning) {
        self.list.warnings.push(warning);
    }

    /// Takes a price that stands at `row`.
    pub(crate) fn take(&mut self, row: u64, price: Result<PriceRow, Refusal>) -> Result<(), SourceError> {
        self.list.rows += 1;
        match price {
            Ok(price) => self.keep(price),
            Err(refusal) => {
                self.reject(row, refusal);
                Ok(())
            }
        }
    }

    /// Keeps a price apart for a reason that the reader sees.
    pub(crate) fn quarantine(&mut self, row: PriceRow, doubt: doubt::Doubt) -> Result<(), SourceError> {
        self.list.rows += 1;
        self.put_apart(row, doubt)
    }

    /// The index from which prices are read on, for [`Self::publish`].
    pub(crate) fn position(&self) -> (usize, usize) {
        (self.prices.len(), self.list.quarantined.len())
    }

    /// Says when the prices since a position were published.
    pub(crate) fn publish(&mut self, (price, apart): (usize, usize), at: Timestamp) {
        let prices = self.prices.iter_mut().skip(price).flatten();
        let apart = self.list.quarantined.iter_mut().skip(apart).map(|one| &mut one.row);
        prices.chain(apart).for_each(|row| row.origin.published_at = Some(at));
        self.list.published_at = self.list.published_at.max(Some(at));
    }

    /// The list, once every price is read.
    pub(crate) fn finish(mut self) -> Result<PriceList, SourceError> {
        if self.list.rows == 0 {
            return Err(SourceError::new("prices::no_prices", "the file holds no prices of this format")
                .at(&self.options.file)
                .help("check that the file is the list that the command names"));
        }
        let prices: Vec<PriceRow> = std::mem::take(&mut self.prices).into_iter().flatten().collect();
        for (row, doubt) in doubt::among_peers(prices) {
            match doubt {
                Some(doubt) => self.put_apart(row, doubt)?,
                None => self.list.prices.push(row),
            }
        }
        Ok(self.list)
    }

    fn keep(&mut self, price: PriceRow) -> Result<(), SourceError> {
        if let Some(doubt) = doubt::of(&price, &self.options.plausible) {
            return self.put_apart(price, doubt);
        }
        match self.met.get(&price.key) {
            None => {
                self.met.insert(price.key.clone(), Met::Price(self.prices.len()));
                self.prices.push(Some(price));
                return self.within_limits();
            }
            Some(Met::Refused(first)) => {
                let first = first.clone();
                self.contradicted(&price, &first);
            }
            Some(Met::Price(index)) => {
                let index = *index;
                let Some(known) = self.prices.get(index).and_then(Option::as_ref) else { return Ok(()) };
                if known.price == price.price {
                    *self.list.passed_over.entry("repeats a price of the list").or_default() += 1;
                    return Ok(());
                }
                self.contradict(index, &price);
            }
        }
        Ok(())
    }

    /// Two prices of one thing: neither is used, and each names the place of the other.
    fn contradict(&mut self, index: usize, price: &PriceRow) {
        let Some(known) = self.prices.get_mut(index).and_then(Option::take) else { return };
        self.met.insert(known.key.clone(), Met::Refused(known.origin.clone()));
        self.contradicted(&known, &price.origin);
        self.contradicted(price, &known.origin);
    }

    fn contradicted(&mut self, price: &PriceRow, other: &PriceOrigin) {
        let expected = format!("one price of `{}`: {other} has another", price.key.item);
        let refusal = Refusal::new("row::contradicting_price", "price", &price.price.to_string(), expected);
        self.reject(price.origin.row, refusal);
    }

    fn put_apart(&mut self, row: PriceRow, doubt: doubt::Doubt) -> Result<(), SourceError> {
        self.list.quarantined.push(Quarantined { row, doubt });
        self.within_limits()
    }

    fn reject(&mut self, row: u64, refusal: Refusal) {
        self.list.rejected += 1;
        if self.list.rejections.len() < self.options.limits.rejections {
            self.list.rejections.push(refusal.at(&self.options.file, row));
        }
    }

    fn within_limits(&self) -> Result<(), SourceError> {
        let most = self.options.limits.prices;
        if self.prices.len() + self.list.quarantined.len() <= most {
            return Ok(());
        }
        Err(SourceError::new("prices::too_many", format!("the file holds more than {most} prices"))
            .at(&self.options.file)
            .help("read a list of fewer regions or services, or raise the limit in the configuration"))
    }
}
