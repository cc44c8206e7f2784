//! Readers of price lists, one file a format.

pub mod aws_offer;
pub mod aws_spot_history;
pub mod gcp_catalogue;
pub mod price_table;
pub mod rates;
pub mod skypilot;

pub use crate::price_list::{Doubt, Plausible, PriceLimits, PriceList, PriceOptions, Quarantined};
