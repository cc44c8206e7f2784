//! For tests only: builders of attempts and charges, the naive oracle of attribution, and the reader of scenarios.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test helper fails by panic")]

pub mod build;
pub mod oracle;
pub mod scenario;
