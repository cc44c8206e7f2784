//! The rules of cost, pure: rating, attribution, postings, statements; no IO, no clock, no floating point.

pub mod attempts;
pub mod attribution;
pub mod capacity_block;
pub mod completeness;
pub mod conversion;
pub mod gpu_catalogue;
pub mod list_price;
pub mod lost_work;
pub mod phases;
pub mod postings;
pub mod price_book;
pub mod rating;
