//! The inner loop: batches of charges in, partial sums out; nothing is exploded to rows.

use std::sync::{Arc, PoisonError};

use arrow::array::{Array, Decimal128Array, RecordBatch};
use arrow::buffer::NullBuffer;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use costing::attribution::{AttributionPlan, Claim, NamedBy, Resource, Scratch, TagClaim, claim};
use ledger::{LineClass, ResourceKind};

use super::columns::{Columns, Meanings, Rows};
use super::dimensions::{Dimensions, Dims, Numbers};
use super::groups::{Groups, Overflow};
use super::memory::Memory;
use super::node::Operator;
use super::run::{Charges, Witness};
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
    fn fit(&mut self, columns: &Columns<'_>, operator: &Operator) -> Result<(), EngineError> {
        let Operator { plan, resources, dimensions, charges, .. } = operator;
        let resource = |id: &str| Ok(resources.get(id).copied().unwrap_or(Resource::Unknown));
        self.resources.fit(columns.text("resource_id")?, resource)?;
        self.tags.fit(columns.text("tags")?, |tags| tag_claim(tags, plan, dimensions))?;
        self.classes.fit(columns.text("x_class")?, |word| {
            let class = LineClass::from_word(word);
            class
                .map(|class| match (class, charges) {
                    (LineClass::Credit, Charges::Credits) => LineClass::Usage,
                    (class, _) => class,
                })
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
    values: Vec<&'a [i128]>,
    /// The nulls of each column, if any column has one.
    nulls: Option<Vec<Option<&'a NullBuffer>>>,
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
        self.lookup.fit(&columns, operator)?;
        self.dims.fit(&columns, &operator.dimensions)?;
        let names = operator.measures.names();
        let costs = names.iter().map(|name| columns.money(name)).collect::<Result<Vec<_>, _>>()?;
        let overflow = |overflow: Overflow| EngineError::OutOfRange { measure: names[overflow.measure] };
        self.witness.read(&costs, batch.num_rows()).map_err(overflow)?;
        let costs = Costs::of(&costs);
        let starts = columns.instant("charge_period_start")?.values();
        let ends = columns.instant("charge_period_end")?.values();
        let dims = self.dims.rows(&columns, (starts, ends))?;
        let classes = self.lookup.classes.rows(columns.text("x_class")?);
        let tags = self.lookup.tags.rows(columns.text("tags")?);
        let resources = self.lookup.resources.rows(columns.text("resource_id")?);
        for (row, (start, end)) in starts.iter().zip(ends).enumerate() {
            let claims = (classes.of(row), tags.of(row), resources.of(row));
            self.state
                .add(&operator.plan, (row, &costs), claims, ((*start, *end), dims.of(row)))
                .map_err(overflow)?;
        }
        Ok(())
    }
}

impl State {
    #[inline(always)]
    fn add(
        &mut self,
        plan: &AttributionPlan,
        (row, costs): (usize, &Costs<'_>),
        (class, tag, resource): (LineClass, TagClaim, Resource),
        (interval, dims): ((i64, i64), u32),
    ) -> Result<(), Overflow> {
        let claimed = || claim(plan, class, tag, resource);
        // Usage of a machine that says nothing of its run is most of a bill: its claim is made when it is not remembered.
        let (index, only) = match (class, tag, resource) {
            (LineClass::Usage, TagClaim::None, Resource::Held(index)) => (index, None),
            _ => match (claimed(), resource) {
                (Claim::Whole(landing), _) => {
                    let group = self.groups.group(dims, landing);
                    return add_whole(&mut self.groups, group, costs, row);
                }
                (
                    Claim::SharedWithin { experiment, .. },
                    Resource::Held(index) | Resource::ManagedJob(index),
                ) => (index, Some(experiment)),
                (_, Resource::Held(index) | Resource::ManagedJob(index)) => (index, None),
                // Invariant: only a resource with a timeline is shared.
                (_, Resource::Absent | Resource::Unknown) => return Ok(()),
            },
        };
        let groups = &mut self.groups;
        let known = self.memory.of((index as usize, only), claimed, (interval, dims), groups);
        let Some(known) = known else { return Ok(()) };
        if let [group] = known.groups {
            return add_whole(groups, *group, costs, row);
        }
        let unpriced = costs.unpriced(row);
        for group in known.groups {
            groups.count(*group, unpriced);
        }
        for measure in 0..costs.values.len() {
            let units = costs.units(measure, row);
            if units == 0 {
                continue;
            }
            if let ([first, second], Some(parts)) = (known.groups, known.split.in_two(units)) {
                groups.add(*first, measure, parts.0)?;
                groups.add(*second, measure, parts.1)?;
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
#[inline(always)]
fn add_whole(groups: &mut Groups, group: u32, costs: &Costs<'_>, row: usize) -> Result<(), Overflow> {
    groups.count(group, costs.unpriced(row));
    for measure in 0..costs.values.len() {
        groups.add(group, measure, costs.units(measure, row))?;
    }
    Ok(())
}

impl<'a> Costs<'a> {
    fn of(columns: &[&'a Decimal128Array]) -> Self {
        let values = columns.iter().copied().map(|cost| &**cost.values()).collect();
        let has_nulls = columns.iter().any(|cost| cost.null_count() > 0);
        let nulls = has_nulls.then(|| columns.iter().copied().map(Array::nulls).collect());
        Self { values, nulls }
    }

    /// An absent price counts as no money here and as unpriced beside it.
    #[inline(always)]
    fn units(&self, measure: usize, row: usize) -> i128 {
        match &self.nulls {
            Some(nulls) if nulls[measure].is_some_and(|nulls| nulls.is_null(row)) => 0,
            Some(_) | None => self.values[measure][row],
        }
    }

    #[inline(always)]
    fn unpriced(&self, row: usize) -> bool {
        match &self.nulls {
            Some(nulls) => nulls.iter().flatten().any(|nulls| nulls.is_null(row)),
            None => false,
        }
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
        let numbers = &mut self.numbers;
        self.rows.clear();
        let columns = [kinds, services, sub_accounts, line_types];
        let mut varying = columns.iter().filter(|column| !column.is_same());
        let same_day = same(starts) && same(ends);
        match (varying.next(), varying.next()) {
            _ if starts.is_empty() => {}
            (None, _) if same_day => return Ok(RowDims::Same(numbers.number(of(0).pack()))),
            // One column tells the rows apart: what its values mean is worked out once each.
            (Some(Rows::Each(meanings, keys, None)), None) if same_day => {
                let mut known = vec![None; meanings.len()];
                for (row, key) in keys.iter().enumerate() {
                    let key = usize::try_from(*key).unwrap_or(usize::MAX);
                    let held = known.get(key).copied().flatten();
                    let number = held.unwrap_or_else(|| numbers.number(of(row).pack()));
                    if held.is_none()
                        && let Some(place) = known.get_mut(key)
                    {
                        *place = Some(number);
                    }
                    self.rows.push(number);
                }
            }
            _ => self.rows.extend((0..starts.len()).map(|row| numbers.number(of(row).pack()))),
        }
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
