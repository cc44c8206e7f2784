//! Partial sums by landing and dimensions, held by one thread.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Decimal128Array, RecordBatch, UInt32Array, UInt64Array};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use costing::attribution::Landing;
use rustc_hash::FxBuildHasher;

use super::dimensions::Numbers;

/// Sums of up to four costs by (dimensions, landing).
#[derive(Debug)]
pub(crate) struct Groups {
    measures: usize,
    index: HashMap<(u32, u32), u32, FxBuildHasher>,
    keys: Vec<(u32, u32)>,
    /// The group asked for last.
    recent: ((u32, u32), u32),
    /// One after the other for each group: the sum of each cost and the counts, so that a row touches one place.
    sums: Vec<i128>,
}

/// A sum that left the range of 128 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overflow {
    pub(crate) measure: usize,
}

/// What a priced charge adds to the counts, and what one without a price adds: charges in the low half, those of them
/// that are unpriced in the high half.
const PRICED: i128 = 1;
const UNPRICED: i128 = (1 << 64) + 1;

/// No group: no landing has this code.
const NONE: ((u32, u32), u32) = ((u32::MAX, u32::MAX), u32::MAX);

impl Groups {
    pub(crate) fn new(measures: usize) -> Self {
        Self { measures, index: HashMap::default(), keys: Vec::new(), recent: NONE, sums: Vec::new() }
    }

    /// How many groups are held.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The number of a group, made if it is new.
    #[inline(always)]
    pub(crate) fn group(&mut self, dims: u32, landing: Landing) -> u32 {
        let key = (dims, landing.code());
        if self.recent.0 == key {
            return self.recent.1;
        }
        self.recent = (key, self.search(key));
        self.recent.1
    }

    fn search(&mut self, key: (u32, u32)) -> u32 {
        if let Some(group) = self.index.get(&key) {
            return *group;
        }
        // Tables are drained long before 2³² groups.
        let group = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        self.index.insert(key, group);
        self.keys.push(key);
        self.sums.resize(self.sums.len() + self.measures + 1, 0);
        group
    }

    /// Adds to one cost of a group.
    #[inline(always)]
    pub(crate) fn add(&mut self, group: u32, measure: usize, units: i128) -> Result<(), Overflow> {
        let sum = &mut self.sums[group as usize * (self.measures + 1) + measure];
        *sum = sum.checked_add(units).ok_or(Overflow { measure })?;
        Ok(())
    }

    /// Counts a charge in a group.
    #[inline(always)]
    pub(crate) fn count(&mut self, group: u32, unpriced: bool) {
        let counts = &mut self.sums[group as usize * (self.measures + 1) + self.measures];
        *counts += if unpriced { UNPRICED } else { PRICED };
    }

    /// Empties the table into a batch of partial sums.
    pub(crate) fn drain(&mut self, numbers: &Numbers, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        let keys = std::mem::take(&mut self.keys);
        let sums = std::mem::take(&mut self.sums);
        self.index = HashMap::default();
        self.recent = NONE;
        let landings: UInt32Array = keys.iter().map(|(_, landing)| *landing).collect::<Vec<_>>().into();
        let dims: UInt64Array = keys.iter().map(|(dims, _)| numbers.packed(*dims)).collect::<Vec<_>>().into();
        let mut columns: Vec<arrow::array::ArrayRef> = vec![Arc::new(landings), Arc::new(dims)];
        let slot = |slot: usize| sums.iter().skip(slot).step_by(self.measures + 1).copied();
        for measure in 0..self.measures {
            let sums = Decimal128Array::from_iter_values(slot(measure)).with_precision_and_scale(38, 24)?;
            columns.push(Arc::new(sums));
        }
        for shift in [0, 64] {
            let half = |counts: i128| u64::try_from((counts >> shift) & i128::from(u64::MAX)).unwrap_or(0);
            columns.push(Arc::new(UInt64Array::from_iter_values(slot(self.measures).map(half))));
        }
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}
