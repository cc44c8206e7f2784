//! Partial sums by landing and dimensions, held by one thread.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Decimal128Array, RecordBatch, UInt32Array, UInt64Array};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use costing::attribution::Landing;
use rustc_hash::FxBuildHasher;

/// Sums of up to four costs by (dimensions, landing).
#[derive(Debug)]
pub(crate) struct Groups {
    measures: usize,
    index: HashMap<(u64, u32), u32, FxBuildHasher>,
    keys: Vec<(u64, u32)>,
    sums: Vec<i128>,
    charges: Vec<u64>,
    unpriced: Vec<u64>,
}

/// A sum that left the range of 128 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overflow {
    pub(crate) measure: usize,
}

impl Groups {
    pub(crate) fn new(measures: usize) -> Self {
        Self {
            measures,
            index: HashMap::default(),
            keys: Vec::new(),
            sums: Vec::new(),
            charges: Vec::new(),
            unpriced: Vec::new(),
        }
    }

    /// How many groups are held.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The number of a group, made if it is new.
    #[inline]
    pub(crate) fn group(&mut self, dims: u64, landing: Landing) -> usize {
        let key = (dims, landing.code());
        if let Some(group) = self.index.get(&key) {
            return *group as usize;
        }
        let group = self.keys.len();
        // Tables are drained long before 2³² groups.
        self.index.insert(key, u32::try_from(group).unwrap_or(u32::MAX));
        self.keys.push(key);
        self.sums.resize(self.sums.len() + self.measures, 0);
        self.charges.push(0);
        self.unpriced.push(0);
        group
    }

    /// Adds to one cost of a group.
    #[inline]
    pub(crate) fn add(&mut self, group: usize, measure: usize, units: i128) -> Result<(), Overflow> {
        let sum = &mut self.sums[group * self.measures + measure];
        *sum = sum.checked_add(units).ok_or(Overflow { measure })?;
        Ok(())
    }

    /// Counts a charge in a group.
    #[inline]
    pub(crate) fn count(&mut self, group: usize, unpriced: bool) {
        self.charges[group] += 1;
        self.unpriced[group] += u64::from(unpriced);
    }

    /// Empties the table into a batch of partial sums.
    pub(crate) fn drain(&mut self, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        let landings: UInt32Array = self.keys.iter().map(|(_, landing)| *landing).collect::<Vec<_>>().into();
        let dims: UInt64Array = self.keys.iter().map(|(dims, _)| *dims).collect::<Vec<_>>().into();
        let mut columns: Vec<arrow::array::ArrayRef> = vec![Arc::new(landings), Arc::new(dims)];
        for measure in 0..self.measures {
            let sums = self.sums.iter().skip(measure).step_by(self.measures).copied();
            let sums = Decimal128Array::from_iter_values(sums).with_precision_and_scale(38, 24)?;
            columns.push(Arc::new(sums));
        }
        columns.push(Arc::new(UInt64Array::from(std::mem::take(&mut self.charges))));
        columns.push(Arc::new(UInt64Array::from(std::mem::take(&mut self.unpriced))));
        self.index = HashMap::default();
        self.keys = Vec::new();
        self.sums = Vec::new();
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}
