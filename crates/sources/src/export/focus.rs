//! FOCUS 1.2 from canonical charges, in two forms: *enriched*, a row a charge, and *allocated*, a row a posting.
//!
//! # Rules
//!
//! [`FOCUS`], [`ENRICHED`] and [`ALLOCATED`] say of each column how it is filled. What a bill told in FOCUS's own words,
//! and the canonical schema has no column for, is taken from there, unless it is no word that FOCUS allows; what can be
//! derived from canonical columns is derived; everything else is null. Where FOCUS demands a cost that is not known,
//! such as the list cost of spot capacity, another cost of the row stands in for it, and the column of the same name
//! with `x_` is null.
//!
//! * `x_ListCost`, `EffectiveCost`, `BilledCost` and `x_MarginalCost` sum to the four totals of the bill, to the last
//!   digit. The FOCUS reader knows the columns that an enriched export adds, and reads it back to the same totals.
//! * A fee that carries amortised cost, such as the unused part of a commitment on AWS or the fee of a capacity block,
//!   becomes two rows, as FOCUS wants it: the purchase with what is invoiced and an effective cost of nothing, and usage
//!   that is not invoiced and has the effective cost; for a commitment its status is Unused. All other charges are one
//!   row.
//! * Rows of savings plans keep what AWS bills: the covered usage has its on-demand cost as `BilledCost`, and the
//!   negation beside it takes it back.
//! * Rows of provider split data have no money; their parts are in `x_SplitCost` and `x_SplitUnusedCost`.
//! * In the allocated form nothing but the postings is known: no tags, SKUs, resources or regions.
//!
//! # Conformance
//!
//! `cargo xtask validate-focus FILE.parquet` installs the FinOps Foundation's validator (focus-validator 2.2.1) and runs
//! the rules of FOCUS 1.2 on a file; `cargo run -p sources --example focus_export` makes one. One rule fails always:
//! of `InvoiceId-C-004-C` and `InvoiceId-C-005-C` the validator demands of all rows that they have no invoice, and that
//! they have one. It also wants the effective cost of every purchase to be zero, where FOCUS means commitments, so a bill
//! with a domain or another one-time fee fails `EffectiveCost-C-005-C`.
//!
//! # References
//!
//! * Specification: <https://focus.finops.org/focus-specification/v1-2/>
//! * Validator: <https://pypi.org/project/focus-validator/>

mod allocated;
mod batch;
mod charge;
mod column;
mod enriched;
mod table;
mod told;
mod word;

pub use allocated::{AllocatedBill, AllocatedPart, allocated, allocated_schema};
pub use column::{ALLOCATED, ENRICHED, FOCUS};
pub use enriched::{enriched, enriched_schema};
