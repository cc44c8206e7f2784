//! Reads the history of AWS spot prices, as `describe-spot-price-history` prints it.
//!
//! # What it reads
//!
//! ```text
//! aws ec2 describe-spot-price-history --start-time 2026-07-01T00:00:00Z --instance-types p4d.24xlarge \
//!   --availability-zone us-east-1a --product-descriptions Linux/UNIX > spot.json
//! ```
//!
//! | field of `SpotPriceHistory[]` | meaning |
//! |---|---|
//! | `AvailabilityZone` | zone; its region is the part of the name before the zone's letter |
//! | `InstanceType` | machine type |
//! | `ProductDescription` | operating system: `Linux/UNIX`, `Red Hat Enterprise Linux`, `SUSE Linux` or `Windows` |
//! | `SpotPrice` | US dollars for an hour of the whole machine |
//! | `Timestamp` | since when it holds |
//!
//! Several documents may follow one another, as pages do.
//!
//! # How a row becomes a price
//!
//! An entry is a spot price of a `bundled_machine` in one zone, in force from its `Timestamp` to the next entry of the same
//! zone, type and system; AWS tells the price at the start of the window too. The list's date of publication is the newest
//! `Timestamp`, since the call itself is not dated. Linux and Windows are billed by the second and at least a minute, other
//! systems by the full hour. `(Amazon VPC)` after a system names the network, not another price.
//!
//! # What it cannot tell
//!
//! In which zone a run was: where the history has several zones and their prices differ, a machine of unknown zone has no
//! price, so fetch the zone of the runs. What a spot instance really cost is on the bill, and takes the estimate's place.
//!
//! # References
//!
//! * <https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSpotPriceHistory.html>
//! * <https://docs.aws.amazon.com/cli/latest/reference/ec2/describe-spot-price-history.html>

use std::fmt;
use std::io::Read;
use std::rc::Rc;

use ledger::{
    Increment, PriceKey, PriceKind, PriceRow, PriceUnit, PurchaseOption, ResourceKind, Tenancy, Timestamp,
};
use money::Currency;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::price_list::{
    Documents, EachElement, Gather, Meter, PriceList, PriceOptions, Refusal, Stop, amount, documents,
};
use crate::telemetry::Warning;
use crate::{SourceError, Zone, instant};

/// Reads one file.
///
/// # Errors
/// `prices::not_json`, `prices::too_large`, `prices::unreadable`, `prices::too_many`, `prices::no_prices`.
pub fn read(input: impl Read, options: &PriceOptions) -> Result<PriceList, SourceError> {
    let meter = Meter::new(&options.limits);
    let mut history = History {
        gather: Gather::new(options),
        meter: Rc::clone(&meter),
        stopped_by: None,
        newest: None,
        next_page: String::new(),
    };
    documents(input, &options.file, &meter, &mut history)?;
    let History { mut gather, newest, next_page, .. } = history;
    if let Some(at) = newest {
        gather.publish((0, 0), at);
    }
    if !next_page.is_empty() {
        gather.warn(Warning {
            code: "prices::more_pages",
            message: format!("the history goes on after the last page of {}", options.file),
            help: "fetch it without --max-items, or append the pages that follow by `NextToken`".to_owned(),
        });
    }
    gather.finish()
}

/// The documents of one file.
struct History<'o> {
    gather: Gather<'o>,
    meter: Rc<Meter>,
    stopped_by: Option<SourceError>,
    /// The newest change of a price.
    newest: Option<Timestamp>,
    /// What the last document says of the one after it; empty if there is none.
    next_page: String,
}

impl Documents for History<'_> {
    fn document<'de, D: Deserializer<'de>>(&mut self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(Page { history: self })
    }

    fn stopped_by(&mut self) -> Option<SourceError> {
        self.stopped_by.take()
    }
}

struct Page<'a, 'o> {
    history: &'a mut History<'o>,
}

impl<'de> Visitor<'de> for Page<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a history of spot prices")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let History { gather, meter, stopped_by, newest, next_page } = self.history;
        next_page.clear();
        while let Some(key) = map.next_key::<String>()? {
            meter.mark();
            match key.as_str() {
                "SpotPriceHistory" => map.next_value_seed(EachElement::new(meter, |entry: Entry| {
                    let number = gather.next_origin().row;
                    let price = row(gather, &entry);
                    *newest =
                        price.as_ref().map_or(*newest, |row| (*newest).max(Some(row.key.effective_from)));
                    gather.take(number, price).map_err(|error| {
                        *stopped_by = Some(error);
                        Stop
                    })
                }))?,
                "NextToken" => *next_page = map.next_value::<Option<String>>()?.unwrap_or_default(),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// An entry as AWS prints it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Entry {
    availability_zone: Option<String>,
    instance_type: Option<String>,
    product_description: Option<String>,
    spot_price: Option<String>,
    timestamp: Option<String>,
}

fn row(gather: &Gather<'_>, entry: &Entry) -> Result<PriceRow, Refusal> {
    let zone = told(entry.availability_zone.as_deref(), "AvailabilityZone")?;
    let operating_system = system(told(entry.product_description.as_deref(), "ProductDescription")?)?;
    let by_second = matches!(operating_system, "linux" | "windows");
    Ok(PriceRow {
        key: PriceKey {
            provider: "aws".to_owned(),
            region: region_of_zone(zone).ok_or_else(|| {
                Refusal::new("row::not_a_zone", "AvailabilityZone", zone, "a zone such as us-east-1a")
            })?,
            zone: Some(zone.to_owned()),
            item: told(entry.instance_type.as_deref(), "InstanceType")?.to_owned(),
            kind: PriceKind::BundledMachine,
            option: PurchaseOption::Spot,
            unit: PriceUnit::Hour,
            currency: "USD".parse().unwrap_or(Currency::NONE),
            tenancy: Tenancy::Shared,
            operating_system: operating_system.to_owned(),
            software: None,
            effective_from: since(told(entry.timestamp.as_deref(), "Timestamp")?)?,
        },
        effective_to: None,
        price: amount(told(entry.spot_price.as_deref(), "SpotPrice")?, "SpotPrice")?,
        sku: None,
        resource_kind: ResourceKind::Compute,
        increment: if by_second { Increment::SECOND } else { Increment::HOUR },
        gpus: None,
        origin: gather.next_origin(),
    })
}

fn told<'e>(value: Option<&'e str>, column: &str) -> Result<&'e str, Refusal> {
    let missing = || Refusal::new("row::missing_value", column, "", "a value");
    value.map(str::trim).filter(|text| !text.is_empty()).ok_or_else(missing)
}

fn since(text: &str) -> Result<Timestamp, Refusal> {
    let expected = "a time such as 2026-07-01T00:00:00Z";
    instant(text, &Zone::Utc).map_err(|_| Refusal::new("row::not_a_time", "Timestamp", text, expected))
}

/// The words by which the AWS offer file names the same systems, in lower case.
fn system(text: &str) -> Result<&'static str, Refusal> {
    match text.trim_end_matches("(Amazon VPC)").trim_end() {
        "Linux/UNIX" => Ok("linux"),
        "Red Hat Enterprise Linux" => Ok("rhel"),
        "SUSE Linux" => Ok("suse"),
        "Windows" => Ok("windows"),
        _ => {
            let expected = "one of Linux/UNIX, Red Hat Enterprise Linux, SUSE Linux, Windows";
            Err(Refusal::new("row::unknown_word", "ProductDescription", text, expected))
        }
    }
}

/// `us-east-1` of `us-east-1a`, and `us-west-2` of the local zone `us-west-2-lax-1a`.
pub fn region_of_zone(zone: &str) -> Option<String> {
    let mut region: Vec<&str> = Vec::new();
    for part in zone.split('-') {
        let number = part.trim_end_matches(|c: char| c.is_ascii_lowercase());
        if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && !region.is_empty() {
            region.push(number);
            return Some(region.join("-"));
        }
        region.push(part);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_tells_its_region() {
        for (zone, expect) in [
            ("us-east-1a", "us-east-1"),
            ("us-gov-west-1b", "us-gov-west-1"),
            ("us-west-2-lax-1a", "us-west-2"),
            ("us-east-1-wl1-bos-wlz-1", "us-east-1"),
        ] {
            assert_eq!(region_of_zone(zone).as_deref(), Some(expect));
        }
        for zone in ["use1-az1", "nowhere", "1a", ""] {
            assert_eq!(region_of_zone(zone), None);
        }
    }
}
