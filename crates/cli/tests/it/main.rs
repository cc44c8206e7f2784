//! Runs the built program: usage, exit codes, settings, manual, and an empty store.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::format_collect,
    reason = "helpers of a test may stop it"
)]

mod cases;
mod drift;
mod filter;
mod manual;
mod program;
mod scenarios;
mod settings;
mod usage;
mod why;
