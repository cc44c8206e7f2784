//! Which price is in force: a pure look-up over price lists, with what is missing where there is none.
//!
//! A row holds from its effective date until it ends or the next row of the same thing begins. Where several sources
//! price a machine, the first in the declared order that prices it completely is taken; inside a source a row of the
//! zone goes before one of the region, and the newest publication before an older one.

mod compose;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use ledger::{Day, GpuSpec, Interval, PriceKind, PriceRow, PriceUnit, PurchaseOption, Tenancy, Timestamp};
use money::{Currency, Ratio};

pub use compose::compose;

/// A machine that is to be priced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineWanted {
    /// Provider in lower case.
    pub provider: String,
    /// Region.
    pub region: String,
    /// Zone, where known.
    pub zone: Option<String>,
    /// Machine type.
    pub machine: String,
    /// How it was bought.
    pub option: PurchaseOption,
    /// Whose the hardware is.
    pub tenancy: Tenancy,
    /// Operating system in lower case.
    pub operating_system: String,
    /// Accelerators beside the machine type.
    pub accelerators: Attached,
}

/// What is known of accelerators that are not part of a machine type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attached {
    /// There are none but those of the type.
    None,
    /// These are attached to the machine.
    Gpus(GpuSpec),
    /// The machine has some, and nobody tells which.
    Unknown,
}

/// A volume or another component that is priced by size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentWanted {
    /// Provider in lower case.
    pub provider: String,
    /// Region.
    pub region: String,
    /// Component, such as `gp3`.
    pub item: String,
}

/// What a provider sells under one SKU in one region, on demand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkuWanted {
    shelf: Shelf,
    sku: String,
}

impl SkuWanted {
    /// What a row of a list is of; its SKU is empty where the row has none.
    pub fn of(row: &PriceRow) -> Self {
        Self { shelf: shelf_of(row), sku: row.sku.clone().unwrap_or_default() }
    }
}

/// One price of a machine, and how many of its units the machine has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RatePart<'a> {
    /// The row in force.
    pub row: &'a PriceRow,
    /// How many: 1 of a machine, the GPUs, the processors, the GiB of memory.
    pub count: Ratio,
}

/// What a machine costs while these rows are in force; at least one part, all in one currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rate<'a> {
    /// The prices that add up.
    pub parts: Vec<RatePart<'a>>,
}

impl Rate<'_> {
    /// Currency of all parts.
    pub fn currency(&self) -> Currency {
        self.parts.first().map_or(Currency::NONE, |part| part.row.key.currency)
    }
}

/// Why there is no price; it is never zero.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Unpriced {
    /// No row of the item.
    #[error("no price of `{item}` in `{region}`, {option}, at {at}")]
    NoRow {
        /// What is not priced.
        item: String,
        /// Where.
        region: String,
        /// How it is bought.
        option: PurchaseOption,
        /// When.
        at: Timestamp,
    },
    /// It has accelerators of which nobody tells the model or the count.
    #[error("`{machine}` is priced without its accelerators, and which it has is not known")]
    UnknownAccelerators {
        /// The machine type.
        machine: String,
    },
    /// Accelerators were to be added to a price that holds them.
    #[error("`{machine}` is priced with its accelerators: adding the price of `{accelerator}` is refused")]
    AcceleratorOnBundledMachine {
        /// The machine type.
        machine: String,
        /// What was to be added.
        accelerator: String,
    },
    /// Two rows of the same rank tell different prices.
    #[error("`{item}` has different prices at {first} and {second}")]
    Contradiction {
        /// What is priced twice.
        item: String,
        /// Place of one row.
        first: String,
        /// Place of the other.
        second: String,
    },
    /// The parts of a machine are priced in different currencies.
    #[error("the parts of `{machine}` are priced in {first} and {second}")]
    Currencies {
        /// The machine type.
        machine: String,
        /// Currency of a part.
        first: Currency,
        /// Currency of another.
        second: Currency,
    },
    /// How the machine was bought is not known.
    #[error("nobody tells whether `{machine}` was bought on demand, as spot or reserved")]
    UnknownPurchase {
        /// The machine type.
        machine: String,
    },
    /// Where or of what type the machine was is not known.
    #[error("nobody tells the type and region of `{resource}`")]
    UnknownMachine {
        /// The resource.
        resource: String,
    },
    /// A number leaves its range.
    #[error("the price or the size of `{item}` is out of range")]
    OutOfRange {
        /// What is priced.
        item: String,
    },
}

/// How old a price list was at a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListAge {
    /// When it was published.
    pub published_at: Timestamp,
    /// Whole days since then.
    pub days: i32,
}

/// Rows by what they price, in the order of their effective dates.
#[derive(Debug, Clone, Default)]
pub struct PriceBook {
    /// Sources, the first the strongest.
    precedence: Vec<String>,
    rows: BTreeMap<Shelf, Vec<PriceRow>>,
}

/// Provider, region, item and kind.
type Shelf = (String, String, String, PriceKind);

/// A row is of a source for which no place in the order is declared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the price list `{source_name}` has no place in the order of sources: {}", .known.join(", "))]
pub struct UndeclaredSource {
    /// The source of the row.
    pub source_name: String,
    /// Declared sources.
    pub known: Vec<String>,
}

impl PriceBook {
    /// A book of rows, with the sources in order of precedence, the first the strongest.
    ///
    /// # Errors
    /// The source of a row that is not in the order.
    pub fn new(
        precedence: Vec<String>,
        rows: impl IntoIterator<Item = PriceRow>,
    ) -> Result<Self, UndeclaredSource> {
        let mut book = Self { precedence, rows: BTreeMap::new() };
        for row in rows {
            if !book.precedence.contains(&row.origin.source) {
                let source_name = row.origin.source;
                return Err(UndeclaredSource { source_name, known: book.precedence });
            }
            book.rows.entry(shelf_of(&row)).or_default().push(row);
        }
        for shelf in book.rows.values_mut() {
            shelf.sort_by(|a, b| (&a.key, &a.origin).cmp(&(&b.key, &b.origin)));
        }
        Ok(book)
    }

    /// The prices of a machine over an interval, cut wherever a price begins or ends; an empty interval has the rate of
    /// its instant.
    pub fn machine_rates(
        &self,
        wanted: &MachineWanted,
        interval: Interval,
    ) -> Vec<(Interval, Result<Rate<'_>, Unpriced>)> {
        let edges = self.edges(compose::shelves(wanted).iter(), interval);
        pieces(&edges, |at| compose::rate(self, wanted, at))
    }

    /// The prices of a component over an interval, cut like those of a machine.
    pub fn component_rates(
        &self,
        wanted: &ComponentWanted,
        interval: Interval,
    ) -> Vec<(Interval, Result<Rate<'_>, Unpriced>)> {
        let shelf = component_shelf(wanted);
        let edges = self.edges(std::iter::once(&shelf), interval);
        pieces(&edges, |at| {
            let one = Match { zone: None, option: PurchaseOption::OnDemand, machine: None, sku: None, at };
            let row = self.in_force(&shelf, &one)?.ok_or_else(|| one.missing(&shelf))?;
            Ok(Rate { parts: vec![RatePart { row, count: Ratio::ONE }] })
        })
    }

    /// The on-demand prices of a SKU over an interval, cut like those of a machine.
    pub fn sku_rates(
        &self,
        wanted: &SkuWanted,
        interval: Interval,
    ) -> Vec<(Interval, Result<Rate<'_>, Unpriced>)> {
        let (shelf, sku) = (&wanted.shelf, Some(wanted.sku.as_str()));
        let edges = self.edges(std::iter::once(shelf), interval);
        pieces(&edges, |at| {
            let one = Match { zone: None, option: PurchaseOption::OnDemand, machine: None, sku, at };
            let row = self.in_force(shelf, &one)?.ok_or_else(|| one.missing(shelf))?;
            Ok(Rate { parts: vec![RatePart { row, count: Ratio::ONE }] })
        })
    }

    /// How old the newest list of a source was at an instant; `None` if none was there yet or nobody tells its date.
    pub fn age(&self, source: &str, at: Timestamp) -> Option<ListAge> {
        let of_source = self.rows.values().flatten().filter(|row| row.origin.source == source);
        let published_at =
            of_source.filter_map(|row| row.origin.published_at).filter(|published| *published <= at).max()?;
        let Day(now) = at.day();
        Some(ListAge { published_at, days: now.saturating_sub(published_at.day().0) })
    }

    /// Where an interval is cut: its ends, and the ends inside it of rows that may price it.
    fn edges<'s>(&self, shelves: impl Iterator<Item = &'s Shelf>, interval: Interval) -> Vec<Timestamp> {
        let rows = shelves.filter_map(|shelf| self.rows.get(shelf)).flatten();
        let ends = rows.flat_map(|row| [Some(row.key.effective_from), row.effective_to]).flatten();
        let inside = ends.filter(|at| interval.start < *at && *at < interval.end);
        let edges: BTreeSet<Timestamp> = inside.chain([interval.start, interval.end]).collect();
        edges.into_iter().collect()
    }

    /// The row of a shelf that is in force, or `None` if there is none.
    ///
    /// Where the zone is not known, every zone that has a price must have the same.
    fn in_force(&self, shelf: &Shelf, wanted: &Match<'_>) -> Result<Option<&PriceRow>, Unpriced> {
        let fitting = self.rows.get(shelf).into_iter().flatten().filter(|row| wanted.fits(row));
        let fitting: Vec<&PriceRow> = fitting.collect();
        let Some(strongest) = fitting.iter().map(|row| self.rank(row)).min() else { return Ok(None) };
        let mut by_zone: BTreeMap<Option<&str>, &PriceRow> = BTreeMap::new();
        for row in fitting.into_iter().filter(|row| self.rank(row) == strongest) {
            let age = |row: &PriceRow| (row.key.effective_from, row.origin.published_at);
            let best = by_zone.entry(row.key.zone.as_deref()).or_insert(row);
            match age(row).cmp(&age(best)) {
                Ordering::Greater => *best = row,
                Ordering::Equal => same_price(best, row)?,
                Ordering::Less => {}
            }
        }
        if let Some(of_zone) = wanted.zone.and_then(|zone| by_zone.get(&Some(zone))) {
            return Ok(Some(of_zone));
        }
        let mut rows = by_zone.into_values();
        let Some(first) = rows.next() else { return Ok(None) };
        rows.try_for_each(|other| same_price(first, other))?;
        Ok(Some(first))
    }

    /// Place of a row's source in the order, 0 the strongest.
    fn rank(&self, row: &PriceRow) -> usize {
        self.precedence.iter().position(|source| *source == row.origin.source).unwrap_or(usize::MAX)
    }
}

/// What a row must be, beside its shelf.
struct Match<'w> {
    zone: Option<&'w str>,
    option: PurchaseOption,
    /// Tenancy and operating system, for what has them.
    machine: Option<(Tenancy, &'w str)>,
    /// SKU, where it is looked up by that.
    sku: Option<&'w str>,
    at: Timestamp,
}

impl Match<'_> {
    fn fits(&self, row: &PriceRow) -> bool {
        let key = &row.key;
        // A row of a zone prices a machine of unknown zone too: where the zones differ, the look-up finds two prices.
        let zone = match (self.zone, key.zone.as_deref()) {
            (Some(wanted), Some(known)) => wanted == known,
            (None, _) | (_, None) => true,
        };
        let machine = self.machine.is_none_or(|(tenancy, system)| {
            key.tenancy == tenancy && key.operating_system == system && key.software.is_none()
        });
        let now = key.effective_from <= self.at && row.effective_to.is_none_or(|end| self.at < end);
        let sku = self.sku.is_none_or(|sku| row.sku.as_deref() == Some(sku));
        zone && machine && sku && now && key.option == self.option
    }

    fn missing(&self, (_, region, item, _): &Shelf) -> Unpriced {
        Unpriced::NoRow { item: item.clone(), region: region.clone(), option: self.option, at: self.at }
    }
}

fn same_price(one: &PriceRow, other: &PriceRow) -> Result<(), Unpriced> {
    if (one.price, one.key.unit, one.key.currency) == (other.price, other.key.unit, other.key.currency) {
        return Ok(());
    }
    let (first, second) = (one.origin.to_string(), other.origin.to_string());
    Err(Unpriced::Contradiction { item: one.key.item.clone(), first, second })
}

fn shelf_of(row: &PriceRow) -> Shelf {
    let key = &row.key;
    (key.provider.clone(), key.region.clone(), key.item.clone(), key.kind)
}

fn component_shelf(wanted: &ComponentWanted) -> Shelf {
    (wanted.provider.clone(), wanted.region.clone(), wanted.item.clone(), PriceKind::Component)
}

/// The pieces between the edges, neighbours of one rate joined.
fn pieces<'a>(
    edges: &[Timestamp],
    rate: impl Fn(Timestamp) -> Result<Rate<'a>, Unpriced>,
) -> Vec<(Interval, Result<Rate<'a>, Unpriced>)> {
    let mut pieces: Vec<(Interval, Result<Rate<'a>, Unpriced>)> = Vec::new();
    let single = edges.first().map(|at| (*at, *at));
    let pairs = edges.windows(2).map(|pair| (pair[0], pair[1]));
    for (start, end) in pairs.chain(single.filter(|_| edges.len() == 1)) {
        let found = rate(start);
        match pieces.last_mut() {
            Some((before, known)) if *known == found => before.end = end,
            Some(_) | None => pieces.push((Interval { start, end }, found)),
        }
    }
    pieces
}

/// True for a unit of which a calendar month has one, whatever its length.
pub(crate) const fn is_monthly(unit: PriceUnit) -> bool {
    matches!(unit, PriceUnit::GibibyteMonth | PriceUnit::GigabyteMonth)
}
