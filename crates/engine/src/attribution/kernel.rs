//! The inner loop: batches of charges in, partial sums out; nothing is exploded to rows.

use std::sync::{Arc, PoisonError};

use arrow::array::{Array, Decimal128Array, RecordBatch};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use costing::attribution::{AttributionPlan, Claim, NamedBy, Resource, Scratch, TagClaim, claim};
use ledger::{LineClass, ResourceKind};

use super::columns::{Columns, Meanings, Rows};
use super::dimensions::{Dimensions, Dims, Numbers};
use super::groups::{Groups, Overflow};
use super::memory::Memory;
use super::node::Operator;
use super::run::Witness;
use crate::EngineError;

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// What the dictionary values of the claiming columns mean.
#[derive(Debug)]
struct Lookup {
    resources: Meanings<Resource>,
    tags: Meanings<TagClaim>,
    classes: Meanings<LineClass>,
}

impl Lookup {
    fn new() -> Self {
        Self {
            resources: Meanings::new(Resource::Absent),
            tags: Meanings::new(TagClaim::None),
            classes: Meanings::new(LineClass::Other),
        }
    }

    /// Works out the meanings of a batch's dictionaries.
    fn fit(
        &mut self,
        columns: &Columns<'_>,
        plan: &AttributionPlan,
        dimensions: &Dimensions,
    ) -> Result<(), EngineError> {
        self.resources.fit(columns.text("resource_id")?, |id| Ok(plan.resource(id)))?;
        self.tags.fit(columns.text("tags")?, |tags| tag_claim(tags, plan, dimensions))?;
        self.classes.fit(columns.text("x_class")?, |word| {
            LineClass::from_word(word)
                .ok_or_else(|| EngineError::Column { column: format!("x_class = {word}") })
        })
    }
}

fn tag_claim(tags: &str, plan: &AttributionPlan, dimensions: &Dimensions) -> Result<TagClaim, EngineError> {
    Ok(match plan.named_by(&sources::charges::parse_tags(tags)) {
        NamedBy::Nobody => TagClaim::None,
        NamedBy::Attempt(index) => TagClaim::Attempt(index),
        NamedBy::Experiment(index) => TagClaim::Experiment(index),
        NamedBy::UnknownAttempt => TagClaim::UnknownAttempt,
        NamedBy::NewExperiment(name) => {
            let known = u32::try_from(plan.experiments.len()).unwrap_or(u32::MAX);
            TagClaim::Experiment(known.saturating_add(dimensions.experiments.number(&name)? - 1))
        }
    })
}

/// One thread's part of a run.
#[derive(Debug)]
pub(crate) struct Kernel {
    operator: Arc<Operator>,
    lookup: Lookup,
    dims: DimsLookup,
    state: State,
    witness: Witness,
}

/// What rows are added to.
#[derive(Debug)]
struct State {
    memory: Memory,
    groups: Groups,
    scratch: Scratch,
}

/// The amounts of a batch, cost by cost.
struct Costs<'a> {
    columns: Vec<&'a Decimal128Array>,
    nulls: bool,
}

impl Kernel {
    pub(crate) fn new(operator: Arc<Operator>) -> Self {
        let measures = operator.measures.names().len();
        let memory = Memory::new(operator.plan.timelines());
        Self {
            operator,
            lookup: Lookup::new(),
            dims: DimsLookup::new(),
            state: State { memory, groups: Groups::new(measures), scratch: Scratch::default() },
            witness: Witness { rows: 0, read: vec![0; measures] },
        }
    }

    /// How many groups are held.
    pub(crate) fn groups(&self) -> usize {
        self.state.groups.len()
    }

    /// Adds what this thread read to the run's witness.
    pub(crate) fn tell_witness(&self) -> Result<(), EngineError> {
        self.operator.witness.lock().unwrap_or_else(PoisonError::into_inner).merge(&self.witness)
    }

    /// Empties the table into a batch of partial sums; what is remembered of groups goes with it.
    pub(crate) fn drain(&mut self, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        self.state.memory.forget_groups();
        self.state.groups.drain(&self.dims.numbers, schema)
    }

    /// Takes a batch in.
    pub(crate) fn process(&mut self, batch: &RecordBatch) -> Result<(), EngineError> {
        let (columns, operator) = (Columns(batch), &*self.operator);
        self.lookup.fit(&columns, &operator.plan, &operator.dimensions)?;
        self.dims.fit(&columns, &operator.dimensions)?;
        let names = operator.measures.names();
        let costs = names.iter().map(|name| columns.money(name)).collect::<Result<Vec<_>, _>>()?;
        let overflow = |overflow: Overflow| EngineError::OutOfRange { measure: names[overflow.measure] };
        self.witness.read(&costs, batch.num_rows()).map_err(overflow)?;
        let nulls = costs.iter().any(|cost| cost.null_count() > 0);
        let costs = Costs { columns: costs, nulls };
        let starts = columns.instant("charge_period_start")?.values();
        let ends = columns.instant("charge_period_end")?.values();
        let dims = self.dims.rows(&columns, (starts, ends))?;
        let classes = self.lookup.classes.rows(columns.text("x_class")?);
        let tags = self.lookup.tags.rows(columns.text("tags")?);
        let resources = self.lookup.resources.rows(columns.text("resource_id")?);
        for (row, (start, end)) in starts.iter().zip(ends).enumerate() {
            let resource = resources.of(row);
            let claim = claim(&operator.plan, classes.of(row), tags.of(row), resource);
            self.state
                .add((row, &costs), (&claim, resource), ((*start, *end), dims.of(row)))
                .map_err(overflow)?;
        }
        Ok(())
    }
}

impl State {
    #[inline]
    fn add(
        &mut self,
        (row, costs): (usize, &Costs<'_>),
        (claim, resource): (&Claim<'_>, Resource),
        (interval, dims): ((i64, i64), u32),
    ) -> Result<(), Overflow> {
        let only = match claim {
            Claim::Whole(landing) => {
                let group = self.groups.group(dims, *landing);
                return add_whole(&mut self.groups, group, costs, row);
            }
            Claim::Shared { .. } => None,
            Claim::SharedWithin { experiment, .. } => Some(*experiment),
        };
        let (Resource::Held(index) | Resource::ManagedJob(index)) = resource else { return Ok(()) };
        let groups = &mut self.groups;
        let timeline = (index as usize, claim, only);
        let Some(known) = self.memory.of(timeline, (interval, dims), groups) else { return Ok(()) };
        if let [group] = known.groups {
            return add_whole(groups, *group, costs, row);
        }
        let unpriced = costs.unpriced(row);
        for group in known.groups {
            groups.count(*group, unpriced);
        }
        for measure in 0..costs.columns.len() {
            let units = costs.units(measure, row);
            if units == 0 {
                continue;
            }
            let parts = known.split.apply(units, &mut self.scratch);
            for (group, part) in known.groups.iter().zip(parts) {
                groups.add(*group, measure, *part)?;
            }
        }
        Ok(())
    }
}

/// Adds a row that lands whole to its group.
#[inline]
fn add_whole(groups: &mut Groups, group: u32, costs: &Costs<'_>, row: usize) -> Result<(), Overflow> {
    groups.count(group, costs.unpriced(row));
    for measure in 0..costs.columns.len() {
        groups.add(group, measure, costs.units(measure, row))?;
    }
    Ok(())
}

impl Costs<'_> {
    /// An absent price counts as no money here and as unpriced beside it.
    #[inline]
    fn units(&self, measure: usize, row: usize) -> i128 {
        let cost = self.columns[measure];
        if self.nulls && cost.is_null(row) { 0 } else { cost.value(row) }
    }

    #[inline]
    fn unpriced(&self, row: usize) -> bool {
        self.nulls && self.columns.iter().any(|cost| cost.is_null(row))
    }
}

/// What the dictionary values of the columns mean by which postings are kept apart.
#[derive(Debug)]
struct DimsLookup {
    kinds: Meanings<u32>,
    services: Meanings<u32>,
    sub_accounts: Meanings<u32>,
    line_types: Meanings<u32>,
    numbers: Numbers,
    /// The dimensions of the rows of a batch.
    rows: Vec<u32>,
}

/// The dimensions of the rows of a batch.
#[derive(Clone, Copy)]
enum RowDims<'a> {
    Same(u32),
    Each(&'a [u32]),
}

impl RowDims<'_> {
    #[inline]
    fn of(self, row: usize) -> u32 {
        match self {
            Self::Same(dims) => dims,
            Self::Each(rows) => rows[row],
        }
    }
}

impl DimsLookup {
    fn new() -> Self {
        Self {
            kinds: Meanings::new(ResourceKind::Other as u32),
            services: Meanings::new(0),
            sub_accounts: Meanings::new(0),
            line_types: Meanings::new(0),
            numbers: Numbers::new(),
            rows: Vec::new(),
        }
    }

    fn fit(&mut self, columns: &Columns<'_>, d: &Dimensions) -> Result<(), EngineError> {
        self.kinds.fit(columns.text("x_resource_kind")?, |word| {
            let kind = ResourceKind::from_word(word);
            kind.map(|kind| kind as u32)
                .ok_or_else(|| EngineError::Column { column: "x_resource_kind".to_owned() })
        })?;
        self.services.fit(columns.text("service_name")?, |text| d.services.number(text))?;
        self.sub_accounts.fit(columns.text("sub_account_id")?, |text| d.sub_accounts.number(text))?;
        self.line_types.fit(columns.text("x_line_type")?, |text| d.line_types.number(text))
    }

    /// The dimensions of the rows, worked out once where no column changes.
    fn rows(
        &mut self,
        columns: &Columns<'_>,
        (starts, ends): (&[i64], &[i64]),
    ) -> Result<RowDims<'_>, EngineError> {
        let kinds = self.kinds.rows(columns.text("x_resource_kind")?);
        let services = self.services.rows(columns.text("service_name")?);
        let sub_accounts = self.sub_accounts.rows(columns.text("sub_account_id")?);
        let line_types = self.line_types.rows(columns.text("x_line_type")?);
        let of = |row: usize| Dims {
            kind: kinds.of(row),
            service: services.of(row),
            sub_account: sub_accounts.of(row),
            line_type: line_types.of(row),
            day: day((starts[row], ends[row])),
        };
        let all_same = [kinds, services, sub_accounts, line_types].iter().all(Rows::is_same);
        if all_same && same(starts) && same(ends) && !starts.is_empty() {
            return Ok(RowDims::Same(self.numbers.number(of(0).pack())));
        }
        let numbers = &mut self.numbers;
        self.rows.clear();
        self.rows.extend((0..starts.len()).map(|row| numbers.number(of(row).pack())));
        Ok(RowDims::Each(&self.rows))
    }
}

fn same(instants: &[i64]) -> bool {
    instants.first().is_none_or(|first| instants.iter().all(|instant| instant == first))
}

/// The day of usage plus one, or 0 for a row that spans more than a day.
fn day((start, end): (i64, i64)) -> u32 {
    if end - start > MICROS_PER_DAY {
        return 0;
    }
    u32::try_from(start.div_euclid(MICROS_PER_DAY) + 1).unwrap_or(0)
}
