//! Reads a price list that a team keeps itself, as CSV or TOML: other clouds, machines of its own, negotiated prices.
//!
//! # What it reads
//!
//! A `[` or a `#` or a bare key begins TOML; a first line with commas is the header of a CSV. In TOML every price is a
//! `[[price]]` with the columns as keys, and `[defaults]` fills what a price leaves out. Numbers are read from their text,
//! so they may stand with or without quotes.
//!
//! | column | meaning | unit |
//! |---|---|---|
//! | `provider` | required: provider in lower case, such as `lambda` or `on-prem` | |
//! | `region` | required: region as attempts' machines tell it | |
//! | `zone` | zone, where the price holds in one only | |
//! | `item` | required: machine type, GPU model, or component such as `nvme` | |
//! | `kind` | required: `bundled_machine`, `host_only`, `accelerator` or `component` | |
//! | `option` | `on_demand` if empty, else `spot`, `reserved`, `capacity_block`, `capacity_reservation` | |
//! | `unit` | required: `hour`, `second`, `gib_hour`, `gb_month` (10⁹ bytes) or `gib_month` (2³⁰ bytes) | |
//! | `price` | required: price of one unit of one item: of the whole machine, not of one of its GPUs | `currency` |
//! | `currency` | required: ISO 4217 code | |
//! | `effective_from`, `effective_to` | since when it holds, and until before when; a date is its first instant in UTC | |
//! | `tenancy` | `shared` if empty, else `dedicated` or `host` | |
//! | `operating_system`, `software` | `linux` and none if empty | |
//! | `increment_seconds`, `minimum_seconds` | billing steps, 1 if empty, and what a start costs at least, 0 if empty | s |
//! | `gpu_model`, `gpu_count`, `gpu_memory_mib` | accelerators of the machine; the count may be a fraction | MiB |
//! | `sku` | the provider's id | |
//!
//! ```text
//! [defaults]
//! provider = "on-prem"
//! region = "rack-7"
//! currency = "EUR"
//! effective_from = 2026-01-01
//!
//! [[price]]
//! item = "dgx-h100"
//! kind = "bundled_machine"
//! unit = "hour"
//! price = 41.5
//! gpu_model = "h100"
//! gpu_count = 8
//! ```
//!
//! # How a row becomes a price
//!
//! As it stands. `effective_from` may be told beside the file for rows without one. A history of spot prices is a row for
//! each change: a price holds until the next one of the same thing. Two rows of one thing and date with different prices
//! are both refused.
//!
//! # What it cannot tell
//!
//! Prices that depend on how much is used.
//!
//! # References
//!
//! * <https://toml.io/en/v1.0.0>
//! * <https://www.rfc-editor.org/rfc/rfc4180>

mod document;
mod row;

use std::io::{BufRead, Read};

use crate::SourceError;
use crate::price_list::{Gather, PriceList, PriceOptions, Table, io_fault};

const TABLE: Table = Table {
    columns: &[
        "provider",
        "region",
        "zone",
        "item",
        "kind",
        "option",
        "unit",
        "price",
        "currency",
        "effective_from",
        "effective_to",
        "tenancy",
        "operating_system",
        "software",
        "increment_seconds",
        "minimum_seconds",
        "gpu_model",
        "gpu_count",
        "gpu_memory_mib",
        "sku",
    ],
    required: &["provider", "region", "item", "kind", "unit", "price", "currency"],
};

/// Reads one file.
///
/// # Errors
/// `prices::not_toml`, `prices::missing_column`, `prices::column_twice`, `prices::not_csv`, `prices::too_large`,
/// `prices::unreadable`, `prices::too_many`, `prices::no_prices`.
pub fn read(mut input: impl BufRead, options: &PriceOptions) -> Result<PriceList, SourceError> {
    let mut gather = Gather::new(options);
    let start = first_line(&mut input, options)?;
    let whole = start.as_slice().chain(input);
    if is_csv(&start) {
        TABLE.read(whole, &mut gather, |gather, number, fields| {
            let price = fields.and_then(|fields| row::of(&fields, gather.options, gather.origin(number)));
            gather.take(number, price)
        })?;
    } else {
        document::read(whole, &mut gather)?;
    }
    gather.finish()
}

/// The first line that is not empty, with what stands before it.
fn first_line(input: &mut impl BufRead, options: &PriceOptions) -> Result<Vec<u8>, SourceError> {
    let mut start = Vec::new();
    while start.trim_ascii().is_empty() {
        let mut limited = input.by_ref().take(options.limits.record_bytes);
        let read = limited.read_until(b'\n', &mut start).map_err(|e| io_fault(&options.file, &e))?;
        let too_long = start.len() as u64 >= options.limits.record_bytes;
        if read == 0 || too_long {
            break;
        }
    }
    Ok(start)
}

/// A header names columns between commas, and no line of TOML that begins with a column's name has one before its `=`.
fn is_csv(start: &[u8]) -> bool {
    let line = String::from_utf8_lossy(start);
    let line = line.trim_start_matches('\u{feff}').trim();
    !line.starts_with(['[', '#']) && line.contains(',') && !line.contains('=')
}
