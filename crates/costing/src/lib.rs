//! The rules of cost, pure: valuation, attribution, postings, statements; no IO, no clock, no floating point.

pub mod attempts;
pub mod attribution;
pub mod capacity_block;
pub mod instance_types;
pub mod postings;
