//! The query engine: scans, the attribution operator inside DataFusion's plan, and the user's own SQL.
//!
//! This is the only crate that names DataFusion. Nothing here decides how money is split: the operator calls
//! `costing::attribution`, and every run of it returns a [`Witness`] that must tie to what was read.

mod attribution;
mod detail;
mod error;
mod prescan;
mod resource_facts;
mod running;
mod session;
mod sql;
mod unlisted;

pub use attribution::{Attributed, Charges, Group, MEASURES, Measures, Run, Witness, attribute};
pub use detail::{ChargeRow, scan_charges};
pub use error::EngineError;
pub use prescan::{capacity_blocks, split_shares};
pub use resource_facts::{ResourceFacts, resource_facts};
pub use running::{InstanceTime, instance_times, running_times};
pub use session::Limits;
pub use sql::{QueryResult, Table, query};
pub use unlisted::{Sold, UnlistedCharge, UnlistedKinds, unlisted_charges, unlisted_kinds};
