//! Attribution: which run a charge belongs to, by the first rule that claims it.
//!
//! 1. a tag on the charge names an attempt or an experiment;
//! 2. the charge's resource is a managed job's own;
//! 3. the provider's split rows tell the parts of the resource;
//! 4. *(allocation shares of a container cluster: not read yet)*;
//! 5. attempts held the resource at the time;
//! 6. *(ownership of storage: not read yet)*; 7. *(shared pools: not read yet)*;
//! 8. otherwise the charge is unattributed, with the reason.
//!
//! Rows that are no usage (tax, credits, commitments, support, …) go to their own accounts before any rule.

mod builder;
mod claim;
mod landing;
mod plan;
mod split;
#[cfg(test)]
mod tests;
mod timeline;

pub use builder::{PlanBuilder, PlanError, plan};
pub use claim::{Claim, Resource, TagClaim, claim};
pub use landing::{Landing, Place, Reason, class_account};
pub use plan::{AttributionPlan, NamedBy, SplitShare, TagKeys};
pub use split::{Overlap, Scratch, Split, divide, overlaps, shared_time};
pub use timeline::{Holder, RunningTime, Segment, Share, Timeline, Window};

/// A count that a plan's limit on attempts keeps far below 2³²; past it, it stays at the largest number.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
