//! Accelerators that an event saw: how many and of which model; what they did is no part of an attempt.

use super::object::Object;
use crate::telemetry::attempts::Refusal;

/// Accelerators of one machine.
pub(super) struct Gpus {
    /// How many, in thousandths.
    pub(super) count: u64,
    /// Their model, if all are of one.
    pub(super) kind: Option<String>,
}

impl Gpus {
    pub(super) fn of(facets: &Object<'_>) -> Result<Option<Self>, Refusal> {
        let Some(facet) = facets.object("gpuRun_gpus")? else { return Ok(None) };
        let gpus = facet.objects("gpus")?;
        let mut names = Vec::with_capacity(gpus.len());
        for gpu in &gpus {
            names.extend(gpu.owned("name")?);
        }
        names.dedup();
        let kind = if names.len() == 1 { names.pop() } else { None };
        let count = u64::try_from(gpus.len()).unwrap_or(u64::MAX).saturating_mul(1_000);
        Ok((count > 0).then_some(Self { count, kind }))
    }
}
