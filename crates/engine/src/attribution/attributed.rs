//! What a run gives: its groups as the aggregation left them, in order and read one at a time, so that they are held once.

use arrow::array::{Array, AsArray, Decimal128Array};
use arrow::datatypes::{Decimal128Type, UInt32Type, UInt64Type};
use arrow::record_batch::RecordBatch;
use costing::attribution::Landing;
use ledger::{Day, ResourceKind};

use super::dimensions::{Dimensions, Dims};
use super::run::{MEASURES, Witness};
use crate::EngineError;

/// One group of parts that landed in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group<'a> {
    /// Where.
    pub landing: Landing,
    /// Kind of resource.
    pub resource_kind: ResourceKind,
    /// Service.
    pub service_name: &'a str,
    /// Account that used it, empty if not told.
    pub sub_account_id: &'a str,
    /// Line type.
    pub line_type: &'a str,
    /// Day of usage; `None` for rows that span more than a day.
    pub usage_day: Option<Day>,
    /// Sum of each cost of the run, in units of 10⁻²⁴; those that it did not split are 0.
    pub units: [i128; MEASURES.len()],
    /// Charges behind the sums.
    pub charges: u64,
    /// Charges without a price.
    pub unpriced: u64,
}

/// What a run gives.
#[derive(Debug)]
pub struct Attributed {
    sums: Sums,
    /// The groups, in order.
    places: Vec<Place>,
    texts: Ranks,
    /// What was read.
    pub witness: Witness,
    /// The experiments that landings count: those of the plan, then those that only tags name.
    pub experiments: Vec<String>,
}

/// A group's fields, and where its sums lie. Groups are ordered by landing, day, kind and texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    landing: u32,
    row: u32,
    /// The dimensions with the rank of each text for its number.
    ranked: u64,
}

/// Sums as they came, without the fields that [`Place`] holds.
#[derive(Debug, Default)]
pub(super) struct Sums {
    batches: Vec<RecordBatch>,
    /// Rows up to the end of each batch.
    ends: Vec<usize>,
    measures: usize,
    places: Vec<Place>,
}

impl Sums {
    pub(super) fn new(measures: usize) -> Self {
        Self { measures, ..Self::default() }
    }

    /// Takes a batch of landing, dimensions, the sum of each cost and the two counts.
    ///
    /// # Errors
    /// If the groups are more than 2³², or the batch is not of that form.
    pub(super) fn take(&mut self, batch: &RecordBatch) -> Result<(), EngineError> {
        let before = self.ends.last().copied().unwrap_or(0);
        let end = before + batch.num_rows();
        u32::try_from(end)
            .map_err(|_| EngineError::TooManyValues { column: "groups", limit: u32::MAX as usize })?;
        let landings = batch.column(0).as_primitive::<UInt32Type>().values();
        let dims = batch.column(1).as_primitive::<UInt64Type>().values();
        self.places.extend(landings.iter().zip(dims).zip(before..end).map(|((landing, dims), row)| Place {
            landing: *landing,
            row: u32::try_from(row).unwrap_or(u32::MAX),
            ranked: *dims,
        }));
        let sums: Vec<usize> = (2..self.measures + 4).collect();
        self.batches.push(batch.project(&sums).map_err(datafusion::error::DataFusionError::from)?);
        self.ends.push(end);
        Ok(())
    }

    /// The sums, the charges and the unpriced charges of a row.
    fn of(&self, row: usize) -> ([i128; MEASURES.len()], u64, u64) {
        let mut units = [0; MEASURES.len()];
        let at = self.ends.partition_point(|end| *end <= row);
        let Some(batch) = self.batches.get(at) else { return (units, 0, 0) };
        let row = row - at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let sum = |array: &Decimal128Array| if array.is_null(row) { 0 } else { array.value(row) };
        for (measure, units) in units.iter_mut().enumerate().take(self.measures) {
            *units = sum(batch.column(measure).as_primitive::<Decimal128Type>());
        }
        let count = |column: usize| batch.column(column).as_primitive::<UInt64Type>().value(row);
        (units, count(self.measures), count(self.measures + 1))
    }
}

/// The texts of the dimensions in order, so that their places in it stand for them.
#[derive(Debug)]
struct Ranks {
    services: Vec<String>,
    sub_accounts: Vec<String>,
    line_types: Vec<String>,
}

impl Attributed {
    /// Orders the groups and checks that nothing was lost.
    ///
    /// # Errors
    /// `Witness` if what came out is not what went in, `OutOfRange` if a total overflows.
    pub(super) fn of(
        mut sums: Sums,
        dimensions: &Dimensions,
        witness: Witness,
        experiments: Vec<String>,
    ) -> Result<Self, EngineError> {
        let ranked = |texts: Vec<String>| {
            let mut order: Vec<usize> = (0..texts.len()).collect();
            order.sort_by(|a, b| texts[*a].cmp(&texts[*b]));
            let mut ranks = vec![0_u32; texts.len()];
            for (rank, number) in (0..).zip(&order) {
                ranks[*number] = rank;
            }
            (ranks, order.into_iter().map(|number| texts[number].clone()).collect::<Vec<String>>())
        };
        let (service_ranks, services) = ranked(dimensions.services.texts());
        let (account_ranks, sub_accounts) = ranked(dimensions.sub_accounts.texts());
        let (line_ranks, line_types) = ranked(dimensions.line_types.texts());
        let rank = |ranks: &[u32], number: u32| ranks.get(number as usize).copied().unwrap_or_default();
        let mut places = std::mem::take(&mut sums.places);
        for place in &mut places {
            let dims = Dims::unpack(place.ranked);
            place.ranked = Dims {
                service: rank(&service_ranks, dims.service),
                sub_account: rank(&account_ranks, dims.sub_account),
                line_type: rank(&line_ranks, dims.line_type),
                ..dims
            }
            .pack();
        }
        places.sort_unstable_by_key(|place| (place.landing, place.ranked));
        let texts = Ranks { services, sub_accounts, line_types };
        let attributed = Self { sums, places, texts, witness, experiments };
        attributed.check()?;
        Ok(attributed)
    }

    /// The groups, by landing, day, kind, service, account and line type.
    pub fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        self.places.iter().map(|place| {
            let dims = Dims::unpack(place.ranked);
            let (units, charges, unpriced) = self.sums.of(place.row as usize);
            Group {
                landing: Landing::from_code(place.landing),
                resource_kind: ResourceKind::ALL[dims.kind as usize],
                service_name: text(&self.texts.services, dims.service),
                sub_account_id: text(&self.texts.sub_accounts, dims.sub_account),
                line_type: text(&self.texts.line_types, dims.line_type),
                usage_day: i32::try_from(dims.day).ok().filter(|day| *day > 0).map(|day| Day(day - 1)),
                units,
                charges,
                unpriced,
            }
        })
    }

    /// What came out must be what went in, cost by cost.
    fn check(&self) -> Result<(), EngineError> {
        for (index, measure) in MEASURES.iter().enumerate().take(self.sums.measures) {
            let mut posted = 0_i128;
            for batch in &self.sums.batches {
                for units in batch.column(index).as_primitive::<Decimal128Type>().iter().flatten() {
                    posted = posted.checked_add(units).ok_or(EngineError::OutOfRange { measure })?;
                }
            }
            if posted != self.witness.read[index] {
                return Err(EngineError::Witness { measure, read: self.witness.read[index], posted });
            }
        }
        Ok(())
    }
}

fn text(texts: &[String], rank: u32) -> &str {
    texts.get(rank as usize).map_or("", String::as_str)
}
