//! A price: one row of a price list, with what it is for, since when it holds and where it stands.

use money::{Amount, Currency, Quantity};

use crate::basis::words;
use crate::{ResourceKind, Timestamp};

words! {
    /// What of a machine a price covers; an accelerator is never added to a bundled machine.
    PriceKind {
        /// A machine with everything in it.
        BundledMachine => "bundled_machine",
        /// A machine without its accelerators.
        HostOnly => "host_only",
        /// One accelerator.
        Accelerator => "accelerator",
        /// A part that is priced by size: a processor, memory, a volume.
        Component => "component",
    }
}

words! {
    /// How capacity is bought.
    PurchaseOption {
        /// On demand.
        OnDemand => "on_demand",
        /// Spot.
        Spot => "spot",
        /// Reserved or committed.
        Reserved => "reserved",
        /// A block of hours that is paid in advance.
        CapacityBlock => "capacity_block",
        /// Capacity that is held without running (`UnusedBox`).
        CapacityReservation => "capacity_reservation",
    }
}

words! {
    /// Whose the hardware is.
    Tenancy {
        /// Shared with other customers.
        Shared => "shared",
        /// One customer's instance.
        Dedicated => "dedicated",
        /// One customer's host.
        Host => "host",
    }
}

words! {
    /// What a price is per.
    PriceUnit {
        /// A second.
        Second => "second",
        /// An hour.
        Hour => "hour",
        /// A gibibyte for an hour, as memory is sold.
        GibibyteHour => "gib_hour",
        /// 10⁹ bytes for a calendar month, whatever its length.
        GigabyteMonth => "gb_month",
        /// 2³⁰ bytes for a calendar month, whatever its length.
        GibibyteMonth => "gib_month",
    }
}

/// The accelerators of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuSpec {
    /// Model in lower case, such as `a100-80gb`.
    pub model: String,
    /// How many; a fraction where a part of one is sold.
    pub count: Quantity,
    /// Memory of one, or of the part, in MiB; `None` where not told.
    pub memory_mib: Option<u64>,
}

/// In which steps use is billed, from each start of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Increment {
    /// Use is rounded up to a multiple of this, in seconds.
    pub seconds: u32,
    /// The least that a start costs, in seconds.
    pub minimum_seconds: u32,
}

impl Increment {
    /// By the second, at least a minute.
    pub const SECOND: Self = Self { seconds: 1, minimum_seconds: 60 };
    /// By the full hour.
    pub const HOUR: Self = Self { seconds: 3600, minimum_seconds: 3600 };
}

/// Where a price stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PriceOrigin {
    /// The source, as the user names it.
    pub source: String,
    /// File.
    pub file: String,
    /// Row in the file, from 1; in JSON the number of the price.
    pub row: u64,
    /// When the list was published or retrieved; `None` where nobody tells.
    pub published_at: Option<Timestamp>,
}

/// `file:row`, as rejections name places.
impl std::fmt::Display for PriceOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.row)
    }
}

/// What tells two prices apart; two rows of one key with different amounts contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PriceKey {
    /// Provider in lower case: `aws`, `gcp`, `azure`, or the name of another.
    pub provider: String,
    /// Region as the provider names it.
    pub region: String,
    /// Zone; `None` for a price of the whole region.
    pub zone: Option<String>,
    /// Instance or machine type, accelerator model, or component such as `a2-core` or `gp3`.
    pub item: String,
    /// What of a machine it covers.
    pub kind: PriceKind,
    /// How it is bought.
    pub option: PurchaseOption,
    /// What the amount is per.
    pub unit: PriceUnit,
    /// Currency of the amount.
    pub currency: Currency,
    /// Whose the hardware is.
    pub tenancy: Tenancy,
    /// Operating system in lower case; `linux` where the list does not tell.
    pub operating_system: String,
    /// Software in the price, in lower case; `None` for none.
    pub software: Option<String>,
    /// First instant at which it holds.
    pub effective_from: Timestamp,
}

/// One price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceRow {
    /// What it is for, how bought and since when.
    pub key: PriceKey,
    /// First instant at which it no longer holds; `None` until the next price of the same thing.
    pub effective_to: Option<Timestamp>,
    /// Price of one unit.
    pub price: Amount,
    /// The provider's id of the SKU, where it has one.
    pub sku: Option<String>,
    /// Kind of resource, as in a statement.
    pub resource_kind: ResourceKind,
    /// In which steps use is billed.
    pub increment: Increment,
    /// Accelerators of a machine or of an accelerator's price, where the list tells them.
    pub gpus: Option<GpuSpec>,
    /// Where it stands.
    pub origin: PriceOrigin,
}
