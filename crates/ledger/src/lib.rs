//! The canonical records of trainbill as plain data: what was billed, what ran, and how an amount is qualified.
//!
//! No IO, no serialisation, no clock: readers make these records, the store keeps them, the costing rules read them.

mod account;
mod attempt;
mod basis;
mod binding;
mod charge;
mod confidence;
mod experiment;
mod figure;
mod id;
mod observation;
mod period;
mod posting;
mod price;
mod quality;
mod rate;
mod resource;
mod stored;
mod tag;
mod telemetry;
mod utilisation;

pub use account::Account;
pub use attempt::{Attempt, Capacity, Cause, Outcome, RunState};
pub use basis::{CostBasis, CreditTreatment, Evidence, Scope, Settlement};
pub use binding::{Binding, BindingKind, JoinMethod, ShareDriver};
pub use charge::{Charge, ChargeCategory, LineClass, SplitRole};
pub use confidence::Confidence;
pub use experiment::{AttemptLink, Experiment, ExperimentLink, LinkDecision, LinkMethod};
pub use figure::{Figure, Measure, UnlikeAmounts};
pub use id::{AttemptId, DeliveryId, ExperimentId, SourceId};
pub use observation::{Observation, ObservationId, RunRecord};
pub use period::{BillingPeriod, Day, Interval, PeriodError, Span, Timestamp};
pub use posting::{Posting, Rule, Step};
pub use price::{
    GpuSpec, Increment, PriceKey, PriceKind, PriceOrigin, PriceRow, PriceUnit, PurchaseOption, Tenancy,
};
pub use quality::{Direction, QualityResult, Reduction};
pub use rate::DatedRate;
pub use resource::ResourceKind;
pub use stored::StoredBytes;
pub use tag::normalised_key;
pub use telemetry::{
    Artifact, ArtifactKind, AttemptView, Chain, Checkpoint, Grade, Initiator, Interruption, NodePeriod,
    Phase, PhaseKind, Snapshot,
};
pub use utilisation::{Coverage, DeviceError, Gauge, LOW_SHARE, Low, Metric, Utilisation, WHOLE_SHARE};
