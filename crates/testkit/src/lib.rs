//! For tests and benchmarks only: builders of attempts and charges, the naive oracle of attribution, the reader of
//! scenarios, and what a benchmark's process took.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a test helper fails by panic, and its numbers are small"
)]

pub mod build;
pub mod measure;
pub mod oracle;
pub mod random;
pub mod scenario;
