//! Reads the price catalogue of Google Cloud: answers of the Cloud Billing API's `services.skus.list` for Compute Engine.
//!
//! # What it reads
//!
//! One or more answers, each a JSON object with `skus`, one after another in one file. The pages of an answer are
//! followed by `nextPageToken`; a warning says where the last one of the file is not the last one of the catalogue.
//!
//! ```text
//! https://cloudbilling.googleapis.com/v1/services/6F81-5844-456A/skus?currencyCode=USD&pageSize=5000
//! ```
//!
//! # How a row becomes a price
//!
//! A SKU is a price in each of its regions and for each of its dates, `units` plus `nanos` of 10⁻⁹. A machine is never a
//! SKU: its processors are `a2-core`, per hour, its memory `a2-ram`, per GiB and hour, and its GPUs `accelerator`s by model.
//! The price of an A2, A3 or G2 machine is the sum of the three, that of an N1 with a GPU likewise; the SKU of an A4's
//! slice holds the host too. Volumes are `pd-standard`, `pd-balanced`, `pd-ssd`, `pd-extreme` and `local-ssd`, per GiB and
//! month. Compute is billed by the second, and at least a minute.
//!
//! Spot is what `usageType` calls `Preemptible`, or what the description begins with: some spot SKUs are `OnDemand` by
//! mistake. Commitments, DWS, sole tenancy, custom machines, virtual workstations and SKUs that are no part of a GPU
//! machine are passed over and counted. A SKU of several tiers is kept apart, since its price depends on the account.
//!
//! # What it cannot tell
//!
//! What a machine consists of: the catalogue of machine types knows it. The discount of sustained use is not in a list.
//!
//! # References
//!
//! * <https://cloud.google.com/billing/docs/reference/rest/v1/services.skus/list>
//! * <https://cloud.google.com/compute/vm-instance-pricing>
//! * <https://cloud.google.com/compute/gpus-pricing>

mod sku;

use std::fmt;
use std::io::Read;
use std::rc::Rc;

use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};

use self::sku::Sku;
use crate::SourceError;
use crate::price_list::{Documents, EachElement, Gather, Meter, PriceList, PriceOptions, Stop, documents};
use crate::telemetry::Warning;

/// Reads one file.
///
/// # Errors
/// `prices::not_json`, `prices::too_large`, `prices::unreadable`, `prices::too_many`, `prices::no_prices`.
pub fn read(input: impl Read, options: &PriceOptions) -> Result<PriceList, SourceError> {
    let meter = Meter::new(&options.limits);
    let mut pages = Pages {
        gather: Gather::new(options),
        meter: Rc::clone(&meter),
        stopped_by: None,
        next_page: String::new(),
    };
    documents(input, &options.file, &meter, &mut pages)?;
    if !pages.next_page.is_empty() {
        pages.gather.warn(Warning {
            code: "prices::more_pages",
            message: format!("the catalogue goes on after the last page of {}", options.file),
            help: "fetch the pages that follow by `nextPageToken` and append them to the file".to_owned(),
        });
    }
    pages.gather.finish()
}

/// The pages of one file.
struct Pages<'o> {
    gather: Gather<'o>,
    meter: Rc<Meter>,
    stopped_by: Option<SourceError>,
    /// What the last page says of the page after it; empty if there is none.
    next_page: String,
}

impl Documents for Pages<'_> {
    fn document<'de, D: Deserializer<'de>>(&mut self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(Page { pages: self })
    }

    fn stopped_by(&mut self) -> Option<SourceError> {
        self.stopped_by.take()
    }
}

struct Page<'a, 'o> {
    pages: &'a mut Pages<'o>,
}

impl<'de> Visitor<'de> for Page<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a page of a price catalogue")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Pages { gather, meter, stopped_by, next_page } = self.pages;
        next_page.clear();
        while let Some(key) = map.next_key::<String>()? {
            meter.mark();
            match key.as_str() {
                "skus" => map.next_value_seed(EachElement::new(meter, |sku: Sku| {
                    sku::take(gather, &sku).map_err(|error| {
                        *stopped_by = Some(error);
                        Stop
                    })
                }))?,
                "nextPageToken" => *next_page = map.next_value::<Option<String>>()?.unwrap_or_default(),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}
