//! What every reader of price lists takes and gives, and how doubtful prices are kept apart.
//!
//! A reader counts prices: `prices + quarantined + rejected + passed over = rows`. A price that cannot be read, or that
//! contradicts another one of the same thing, is rejected; a price that nobody can mean, such as 0 or 9999999, is
//! quarantined with the reason and never used; what is outside of what trainbill rates is passed over and counted.

mod csv;
mod doubt;
mod gather;
mod stream;

use std::collections::BTreeMap;

use ledger::{Increment, PriceRow, Timestamp};
use money::{Amount, Currency};

use crate::Rejection;
use crate::telemetry::Warning;

pub use doubt::Doubt;

pub(crate) use csv::{Fields, Table};
pub(crate) use gather::{Gather, Refusal, amount};
pub(crate) use stream::{Documents, EachElement, EachEntry, Guard, Meter, Stop, documents, io_fault};

/// How to read a price list.
#[derive(Debug, Clone)]
pub struct PriceOptions {
    /// Name of the file for places in messages.
    pub file: String,
    /// The source, by which the order of sources names it.
    pub source: String,
    /// Provider in lower case, for lists that do not tell it.
    pub provider: Option<String>,
    /// Since when prices hold that carry no date.
    pub in_force_from: Option<Timestamp>,
    /// In which steps use is billed, for providers of which it is not known.
    pub increment: Option<Increment>,
    /// What a price can be.
    pub plausible: Plausible,
    /// What an input may cost.
    pub limits: PriceLimits,
}

impl PriceOptions {
    /// Options with the usual bounds.
    pub fn new(file: impl Into<String>, source: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            source: source.into(),
            provider: None,
            in_force_from: None,
            increment: None,
            plausible: Plausible::default(),
            limits: PriceLimits::default(),
        }
    }
}

/// Bounds past which a price is a placeholder; they hold for prices in their own currency only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plausible {
    /// Currency of the bounds.
    pub currency: Currency,
    /// Most that an hour of a machine costs.
    pub machine_hour: Amount,
    /// Most that an hour of one accelerator costs.
    pub accelerator_hour: Amount,
    /// Most that an hour of a machine or accelerator costs and is still a placeholder.
    pub placeholder_hour: Amount,
}

impl Default for Plausible {
    fn default() -> Self {
        let whole =
            |units: i128| Amount::from_units(units * 10_i128.pow(money::SCALE)).unwrap_or(Amount::ZERO);
        Self {
            currency: "USD".parse().unwrap_or(Currency::NONE),
            machine_hour: whole(2_000),
            accelerator_hour: whole(100),
            placeholder_hour: Amount::from_units(10_i128.pow(money::SCALE - 4)).unwrap_or(Amount::ZERO),
        }
    }
}

/// What an untrusted list may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceLimits {
    /// Largest file, unpacked, in bytes.
    pub file_bytes: u64,
    /// Largest record of a file, in bytes.
    pub record_bytes: u64,
    /// Most products of a list that are remembered until their prices come.
    pub products: usize,
    /// Most prices.
    pub prices: usize,
    /// Rejections kept with their place; all are counted.
    pub rejections: usize,
}

impl Default for PriceLimits {
    fn default() -> Self {
        Self {
            file_bytes: 16 << 30,
            record_bytes: 4 << 20,
            products: 1_000_000,
            prices: 1_000_000,
            rejections: 200,
        }
    }
}

/// A price that is kept apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// The price as read.
    pub row: PriceRow,
    /// Why nobody can mean it.
    pub doubt: Doubt,
}

/// What a price list held.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PriceList {
    /// Prices read: `prices + quarantined + rejected + passed over`.
    pub rows: u64,
    /// Prices that may be used.
    pub prices: Vec<PriceRow>,
    /// Prices that may not.
    pub quarantined: Vec<Quarantined>,
    /// Prices that could not be read or contradict each other.
    pub rejected: u64,
    /// The first of them with their places.
    pub rejections: Vec<Rejection>,
    /// Prices outside of what trainbill rates, by why.
    pub passed_over: BTreeMap<&'static str, u64>,
    /// The newest date of publication that the list tells.
    pub published_at: Option<Timestamp>,
    /// What the user should know.
    pub warnings: Vec<Warning>,
}
