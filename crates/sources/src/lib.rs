//! Foreign formats become ledger records and canonical charge batches; nothing is dropped on the way.
//!
//! A reader returns what it accepted and what it rejected, and `accepted + rejected = rows`. One file per kind of
//! source under `billing/`, `prices/` and `telemetry/`, and one line in [`registry`]. [`export`] goes the other way.

mod ahead;
pub mod batches;
pub mod billing;
pub mod charges;
mod error;
pub mod export;
pub mod place;
pub mod places;
mod price_list;
pub mod prices;
pub mod registry;
mod rejection;
pub mod telemetry;
mod text;
mod time;

pub use error::SourceError;
pub use rejection::Rejection;
pub use text::Text;
pub use time::{Zone, instant};
