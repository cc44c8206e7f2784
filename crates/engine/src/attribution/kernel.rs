//! The inner loop: batches of charges in, partial sums out; nothing is exploded to rows.

use std::sync::{Arc, PoisonError};

use arrow::array::{Array, Decimal128Array, RecordBatch};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use costing::attribution::{
    AttributionPlan, Claim, Landing, NamedBy, Resource, Scratch, TagClaim, Timeline, Window, claim, divide,
    divide_window,
};
use ledger::{LineClass, ResourceKind};

use super::columns::{Columns, Meanings};
use super::dimensions::{Dimensions, Dims};
use super::groups::{Groups, Overflow};
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

/// What one thread remembers of a resource: the rows of a bill come by the hour, so the segments of the last interval
/// and the groups of the last rows mostly serve again.
#[derive(Debug, Clone, Copy)]
struct Memory {
    /// For intervals inside this one, `window` and `single` hold.
    steady: (i64, i64),
    window: Window,
    single: Option<Landing>,
    groups: [(u64, Option<Landing>, u32); 2],
}

impl Memory {
    const NONE: Self = Self {
        steady: (i64::MAX, i64::MIN),
        window: Window::NONE,
        single: None,
        groups: [(0, None, 0), (0, None, 0)],
    };

    /// The group of these dimensions and landing, found in memory or in the table.
    fn group(&mut self, table: &mut Groups, dims: u64, landing: Landing) -> usize {
        if let Some((_, _, group)) = self.groups.iter().find(|(d, l, _)| *d == dims && *l == Some(landing)) {
            return *group as usize;
        }
        let group = table.group(dims, landing);
        self.groups.swap(0, 1);
        self.groups[0] = (dims, Some(landing), u32::try_from(group).unwrap_or(u32::MAX));
        group
    }
}

/// One thread's part of a run.
#[derive(Debug)]
pub(crate) struct Kernel {
    operator: Arc<Operator>,
    lookup: Lookup,
    kinds: Meanings<u32>,
    services: Meanings<u32>,
    sub_accounts: Meanings<u32>,
    line_types: Meanings<u32>,
    scratch: Scratch,
    memories: Vec<Memory>,
    pub(crate) groups: Groups,
    witness: Witness,
}

impl Kernel {
    pub(crate) fn new(operator: Arc<Operator>) -> Self {
        let measures = operator.measures.names().len();
        let witness = Witness { rows: 0, read: vec![0; measures] };
        let memories = vec![Memory::NONE; operator.plan.timelines()];
        Self {
            operator,
            memories,
            lookup: Lookup::new(),
            kinds: Meanings::new(ResourceKind::Other as u32),
            services: Meanings::new(0),
            sub_accounts: Meanings::new(0),
            line_types: Meanings::new(0),
            scratch: Scratch::default(),
            groups: Groups::new(measures),
            witness,
        }
    }

    fn fit(&mut self, columns: &Columns<'_>) -> Result<(), EngineError> {
        let d = &self.operator.dimensions;
        self.lookup.fit(columns, &self.operator.plan, d)?;
        self.kinds.fit(columns.text("x_resource_kind")?, |word| {
            let kind = ResourceKind::from_word(word);
            kind.map(|kind| kind as u32)
                .ok_or_else(|| EngineError::Column { column: "x_resource_kind".to_owned() })
        })?;
        self.services.fit(columns.text("service_name")?, |text| d.services.number(text))?;
        self.sub_accounts.fit(columns.text("sub_account_id")?, |text| d.sub_accounts.number(text))?;
        self.line_types.fit(columns.text("x_line_type")?, |text| d.line_types.number(text))
    }

    /// Adds what this thread read to the run's witness.
    pub(crate) fn tell_witness(&self) -> Result<(), EngineError> {
        self.operator.witness.lock().unwrap_or_else(PoisonError::into_inner).merge(&self.witness)
    }

    /// Takes a batch in.
    pub(crate) fn process(&mut self, batch: &RecordBatch) -> Result<(), EngineError> {
        let columns = Columns(batch);
        self.fit(&columns)?;
        let operator = Arc::clone(&self.operator);
        let names = operator.measures.names();
        let costs = names.iter().map(|name| columns.money(name)).collect::<Result<Vec<_>, _>>()?;
        let (starts, ends) = (columns.instant("charge_period_start")?, columns.instant("charge_period_end")?);
        let resources = columns.text("resource_id")?.keys;
        let (tags, classes) = (columns.text("tags")?.keys, columns.text("x_class")?.keys);
        let (kinds, services) = (columns.text("x_resource_kind")?.keys, columns.text("service_name")?.keys);
        let (accounts, lines) = (columns.text("sub_account_id")?.keys, columns.text("x_line_type")?.keys);
        for row in 0..batch.num_rows() {
            let interval = (starts.value(row), ends.value(row));
            let dims = Dims {
                kind: self.kinds.of(kinds, row),
                service: self.services.of(services, row),
                sub_account: self.sub_accounts.of(accounts, row),
                line_type: self.line_types.of(lines, row),
                day: day(interval),
            };
            let class = self.lookup.classes.of(classes, row);
            let claims = (class, self.lookup.tags.of(tags, row), self.lookup.resources.of(resources, row));
            let (class, tag, resource) = claims;
            let claim = claim(&operator.plan, class, tag, resource);
            let taken = match (&claim, resource) {
                (Claim::Shared { timeline, rest }, Resource::Held(index) | Resource::ManagedJob(index)) => {
                    self.held(row, &costs, (timeline, *rest, index as usize), (interval, dims.pack()))
                }
                _ => self.row(row, &costs, &claim, (interval, dims.pack())),
            };
            taken.map_err(|overflow| EngineError::OutOfRange { measure: names[overflow.measure] })?;
        }
        self.witness.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// A row of a resource with a timeline, by the thread's memory of it.
    fn held(
        &mut self,
        row: usize,
        costs: &[&Decimal128Array],
        (timeline, rest, index): (&Timeline, Landing, usize),
        (interval, dims): ((i64, i64), u64),
    ) -> Result<(), Overflow> {
        let Some(memory) = self.memories.get_mut(index) else { return Ok(()) };
        // An empty interval at a border belongs to the segment after it, which the closed comparison cannot tell.
        let empty = interval.0 == interval.1;
        if empty || interval.0 < memory.steady.0 || interval.1 > memory.steady.1 {
            memory.window = timeline.window(memory.window, interval);
            memory.single = timeline.single(memory.window, interval, rest);
            memory.steady = timeline.steady(memory.window, interval);
        }
        let unpriced = costs.iter().any(|cost| cost.is_null(row));
        let groups = &mut self.groups;
        if let Some(landing) = memory.single {
            let group = memory.group(groups, dims, landing);
            groups.count(group, unpriced);
            return add_whole(groups, &mut self.witness, group, (costs, row));
        }
        let mut fault = None;
        for (measure, cost) in costs.iter().enumerate() {
            let units = units(cost, row);
            self.witness.add(measure, units)?;
            if units == 0 && measure > 0 {
                continue;
            }
            let mut counted: Option<Landing> = None;
            let whole = (timeline, memory.window);
            divide_window(whole, rest, (interval, units), &mut self.scratch, &mut |landing, part| {
                let group = memory.group(groups, dims, landing);
                if measure == 0 && counted != Some(landing) {
                    groups.count(group, unpriced);
                    counted = Some(landing);
                }
                fault = fault.or(groups.add(group, measure, part).err());
            });
        }
        fault.map_or(Ok(()), Err)
    }

    /// Empties the table into a batch of partial sums; what is remembered of groups goes with it.
    pub(crate) fn drain(&mut self, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        for memory in &mut self.memories {
            memory.groups = Memory::NONE.groups;
        }
        self.groups.drain(schema)
    }

    fn row(
        &mut self,
        row: usize,
        costs: &[&Decimal128Array],
        claim: &Claim<'_>,
        (interval, dims): ((i64, i64), u64),
    ) -> Result<(), Overflow> {
        let unpriced = costs.iter().any(|cost| cost.is_null(row));
        let whole = claim.single(interval);
        let groups = &mut self.groups;
        if let Some(landing) = whole {
            let group = groups.group(dims, landing);
            groups.count(group, unpriced);
            return add_whole(groups, &mut self.witness, group, (costs, row));
        }
        let mut fault = None;
        for (measure, cost) in costs.iter().enumerate() {
            let units = units(cost, row);
            self.witness.add(measure, units)?;
            if units == 0 && measure > 0 {
                continue;
            }
            let mut counted: Option<Landing> = None;
            divide(claim, interval, units, &mut self.scratch, &mut |landing, part| {
                let group = groups.group(dims, landing);
                if measure == 0 && counted != Some(landing) {
                    groups.count(group, unpriced);
                    counted = Some(landing);
                }
                fault = fault.or(groups.add(group, measure, part).err());
            });
        }
        fault.map_or(Ok(()), Err)
    }
}

/// Adds a row that lands whole to its group and to the witness.
fn add_whole(
    groups: &mut Groups,
    witness: &mut Witness,
    group: usize,
    (costs, row): (&[&Decimal128Array], usize),
) -> Result<(), Overflow> {
    for (measure, cost) in costs.iter().enumerate() {
        let units = units(cost, row);
        groups.add(group, measure, units)?;
        witness.add(measure, units)?;
    }
    Ok(())
}

/// An absent price counts as no money here and as unpriced beside it.
fn units(cost: &Decimal128Array, row: usize) -> i128 {
    if cost.is_null(row) { 0 } else { cost.value(row) }
}

/// The day of usage plus one, or 0 for a row that spans more than a day.
fn day((start, end): (i64, i64)) -> u32 {
    if end - start > MICROS_PER_DAY {
        return 0;
    }
    u32::try_from(start.div_euclid(MICROS_PER_DAY) + 1).unwrap_or(0)
}
