//! Which of the fields that tie a run to its cost and its result are known of an attempt, and what would supply the rest.
//!
//! A field is `known`, `missing`, or `not_due`: a running attempt has no end, a completed one no reason of failure, one
//! that did not complete no final metric and no model, a scheduler without namespaces none, an attempt that never started
//! no machine. The score is known of due: it counts fields, and says nothing of how good they are.
//!
//! [`coverage`] sums over attempts: of how many, and of how much money, each field is missing. Both functions are pure; a
//! caller says what the bill tells of each attempt ([`FromBill`]), since an attempt does not know who pays for it.

mod remedy;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use ledger::{
    Attempt, AttemptId, Binding, Cause, Figure, LinkMethod, Measure, Outcome, RunState, UnlikeAmounts,
};

pub use remedy::Remedy;

/// The fields that a complete record has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The experiment, named by anything but the job itself.
    Experiment,
    /// The attempt's own id.
    Attempt,
    /// Model version.
    ModelVersion,
    /// Configuration version.
    ConfigVersion,
    /// Dataset snapshot.
    DatasetSnapshot,
    /// The provider's account that pays for it.
    CloudAccount,
    /// Region of its machines.
    Region,
    /// Cluster.
    Cluster,
    /// Namespace of the cluster.
    Namespace,
    /// Instance type or another SKU of every machine that it held.
    Sku,
    /// Accelerators over all nodes.
    GpuCount,
    /// When it was handed in.
    SubmittedAt,
    /// When it started.
    StartedAt,
    /// When it ended.
    EndedAt,
    /// How it ended.
    Status,
    /// Why it did not complete.
    FailureReason,
    /// The final validation metric.
    FinalMetric,
    /// Where what it made lies.
    ArtifactLocation,
}

impl Field {
    /// Every field, in the order in which they are shown.
    pub const ALL: &'static [Self] = &[
        Self::Experiment,
        Self::Attempt,
        Self::ModelVersion,
        Self::ConfigVersion,
        Self::DatasetSnapshot,
        Self::CloudAccount,
        Self::Region,
        Self::Cluster,
        Self::Namespace,
        Self::Sku,
        Self::GpuCount,
        Self::SubmittedAt,
        Self::StartedAt,
        Self::EndedAt,
        Self::Status,
        Self::FailureReason,
        Self::FinalMetric,
        Self::ArtifactLocation,
    ];

    /// The field's name in tables and files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Experiment => "experiment",
            Self::Attempt => "attempt",
            Self::ModelVersion => "model_version",
            Self::ConfigVersion => "config_version",
            Self::DatasetSnapshot => "dataset_snapshot",
            Self::CloudAccount => "cloud_account",
            Self::Region => "region",
            Self::Cluster => "cluster",
            Self::Namespace => "namespace",
            Self::Sku => "sku",
            Self::GpuCount => "gpu_count",
            Self::SubmittedAt => "submitted_at",
            Self::StartedAt => "started_at",
            Self::EndedAt => "ended_at",
            Self::Status => "status",
            Self::FailureReason => "failure_reason",
            Self::FinalMetric => "final_metric",
            Self::ArtifactLocation => "artifact_location",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// How a field of an attempt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It is told.
    Known,
    /// It should be told, and is not.
    Missing,
    /// There is nothing to tell, or not yet.
    NotDue,
}

/// What the bill tells of an attempt's charges; nothing of it is known without a bill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FromBill {
    /// A charge of the attempt names the account.
    pub account: bool,
    /// A charge of the attempt names the region.
    pub region: bool,
    /// A compute charge of the attempt names its SKU.
    pub sku: bool,
}

/// The fields of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completeness {
    /// The attempt.
    pub attempt: AttemptId,
    /// Every field with how it stands, in the order of [`Field::ALL`].
    pub fields: Vec<(Field, Standing)>,
    /// What would supply each missing field, in the same order.
    pub remedies: Vec<Remedy>,
}

impl Completeness {
    /// How a field stands.
    pub fn standing(&self, field: Field) -> Standing {
        let found = self.fields.iter().find(|(known, _)| *known == field);
        found.map_or(Standing::NotDue, |(_, standing)| *standing)
    }

    /// Fields known, of fields due.
    pub fn score(&self) -> (usize, usize) {
        let count = |wanted: Standing| self.fields.iter().filter(|(_, standing)| *standing == wanted).count();
        let known = count(Standing::Known);
        (known, known + count(Standing::Missing))
    }
}

/// How complete the record of an attempt is.
pub fn completeness(attempt: &Attempt, bill: FromBill) -> Completeness {
    let fields: Vec<(Field, Standing)> =
        Field::ALL.iter().map(|field| (*field, standing(attempt, bill, *field))).collect();
    let missing = fields.iter().filter(|(_, standing)| *standing == Standing::Missing);
    let remedies = missing.map(|(field, _)| remedy::of(*field, attempt)).collect();
    Completeness { attempt: attempt.id, fields, remedies }
}

fn standing(attempt: &Attempt, bill: FromBill, field: Field) -> Standing {
    let has_started = attempt.started_at.is_some();
    let is_over = matches!(attempt.state, RunState::Ended | RunState::Lost);
    let has_completed = attempt.outcome == Outcome::Completed;
    let has_failed = is_over && !matches!(attempt.outcome, Outcome::Completed | Outcome::Unknown);
    let told = |is_known: bool| if is_known { Standing::Known } else { Standing::Missing };
    let if_due = |is_due: bool, is_known: bool| {
        if is_known || is_due { told(is_known) } else { Standing::NotDue }
    };
    match field {
        Field::Experiment => told(attempt.link.method != LinkMethod::OwnJob),
        Field::Attempt => Standing::Known,
        Field::ModelVersion => told(attempt.model_version.is_some()),
        Field::ConfigVersion => told(attempt.config_version.is_some()),
        Field::DatasetSnapshot => told(attempt.dataset_snapshot.is_some()),
        Field::CloudAccount => if_due(has_started, bill.account || arn_part(attempt, 4)),
        Field::Region => if_due(has_started, bill.region || arn_part(attempt, 3)),
        Field::Cluster => if_due(remedy::has_clusters(attempt), attempt.cluster.is_some()),
        Field::Namespace => if_due(remedy::has_namespaces(attempt), attempt.namespace.is_some()),
        Field::Sku => if_due(has_started, bill.sku || names_every_machine(attempt)),
        Field::GpuCount => if_due(has_started, attempt.gpu_count.is_some()),
        Field::SubmittedAt => told(attempt.submitted_at.is_some()),
        // What ended without a start never ran.
        Field::StartedAt => if_due(!is_over && attempt.state != RunState::Pending, has_started),
        Field::EndedAt => if_due(is_over, attempt.ended_at.is_some()),
        Field::Status => if_due(is_over, attempt.outcome != Outcome::Unknown),
        Field::FailureReason => if_due(has_failed, attempt.cause != Cause::Unknown),
        Field::FinalMetric => if_due(has_completed, attempt.quality.iter().any(|quality| quality.is_final)),
        Field::ArtifactLocation => if_due(has_completed, !attempt.artifacts.is_empty()),
    }
}

fn machines(attempt: &Attempt) -> impl Iterator<Item = &Binding> {
    attempt.bindings.iter().filter(|binding| binding.kind.is_machine())
}

fn names_every_machine(attempt: &Attempt) -> bool {
    machines(attempt).next().is_some() && machines(attempt).all(|binding| binding.sku.is_some())
}

/// True if the id of a machine is an Amazon resource name that has this part: 3 is the region, 4 the account.
fn arn_part(attempt: &Attempt, part: usize) -> bool {
    machines(attempt)
        .filter_map(|binding| binding.resource_id.as_deref())
        .any(|id| id.starts_with("arn:") && id.split(':').nth(part).is_some_and(|text| !text.is_empty()))
}

/// Of how many attempts and of how much money a field is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldCoverage {
    /// The field.
    pub field: Field,
    /// Attempts of which it is known.
    pub known: u64,
    /// Attempts of which it is missing.
    pub missing: u64,
    /// Attempts that have nothing to tell.
    pub not_due: u64,
    /// The cost of the attempts of which it is missing.
    pub missing_cost: Figure,
    /// Attempts among the missing whose cost is not known: their cost is not in `missing_cost`, and is not nothing.
    pub missing_without_cost: u64,
}

/// Completeness over attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Attempts.
    pub attempts: u64,
    /// Their cost, of those whose cost is known.
    pub cost: Figure,
    /// Attempts whose cost is not known.
    pub without_cost: u64,
    /// Every field, in the order of [`Field::ALL`]; known, missing and not due are all attempts.
    pub fields: Vec<FieldCoverage>,
}

/// Sums the completeness of attempts; `costs` has the cost of each attempt that has one, in this measure.
///
/// # Errors
/// `UnlikeAmounts` if a cost is of another measure, or a sum leaves the range of an amount.
pub fn coverage(
    all: &[Completeness],
    costs: &BTreeMap<AttemptId, Figure>,
    measure: Measure,
) -> Result<Coverage, UnlikeAmounts> {
    let (cost, without_cost) = sum(all.iter(), costs, measure)?;
    let fields = Field::ALL.iter().map(|field| {
        let of = |wanted: Standing| all.iter().filter(move |one| one.standing(*field) == wanted);
        let count = |wanted: Standing| u64::try_from(of(wanted).count()).unwrap_or(u64::MAX);
        let (missing_cost, missing_without_cost) = sum(of(Standing::Missing), costs, measure)?;
        Ok(FieldCoverage {
            field: *field,
            known: count(Standing::Known),
            missing: count(Standing::Missing),
            not_due: count(Standing::NotDue),
            missing_cost,
            missing_without_cost,
        })
    });
    Ok(Coverage {
        attempts: u64::try_from(all.len()).unwrap_or(u64::MAX),
        cost,
        without_cost,
        fields: fields.collect::<Result<_, UnlikeAmounts>>()?,
    })
}

/// The cost of attempts, and how many have none.
fn sum<'a>(
    mut attempts: impl Iterator<Item = &'a Completeness>,
    costs: &BTreeMap<AttemptId, Figure>,
    measure: Measure,
) -> Result<(Figure, u64), UnlikeAmounts> {
    attempts.try_fold((Figure::nothing(measure), 0), |(sum, without), one| match costs.get(&one.attempt) {
        Some(cost) => Ok((sum.checked_add(cost)?, without)),
        None => Ok((sum, without + 1)),
    })
}
