//! Reads AWS price lists: the bulk offer file of a service as JSON, and documents of `GetProducts`.
//!
//! # What it reads
//!
//! The offer file of EC2 (`https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current/REGION/index.json`),
//! of any size, one product and one term at a time; or the documents of `aws pricing get-products`, one after another:
//!
//! ```text
//! aws pricing get-products --service-code AmazonEC2 --query 'PriceList[]' --output json | jq -r '.[] | fromjson'
//! ```
//!
//! # How a row becomes a price
//!
//! A price dimension of an on-demand term is a price, in force from the term's `effectiveDate`. Instances are
//! `bundled_machine`, since EC2 never sells a GPU apart; a volume is a `component`, by its `volumeApiName`, for 2³⁰ bytes
//! and a month. The key holds region, tenancy, operating system (Windows under the user's own licence is
//! `windows-byol`) and pre-installed software, so none of them stands in for another.
//!
//! `marketoption` `CapacityBlock` is the purchase option `capacity_block`; its hours are $0, since its fee pays them, and
//! kept apart. `capacitystatus` `UnusedCapacityReservation` is the option `capacity_reservation`: what a reserved
//! instance costs while none runs in it. The $0 of an `AllocatedCapacityReservation` is kept apart.
//!
//! Linux and Windows are billed by the second and at least a minute, other systems by the full hour.
//!
//! Reserved terms, other product families and local zones are passed over and counted. A price whose amount depends on
//! how much is used (more than one range) is kept apart.
//!
//! # What it cannot tell
//!
//! Spot prices and fees of capacity blocks are on no list. The list has no model of a GPU: the catalogue of machine
//! types knows it. An offer file that has its terms before its products is refused.
//!
//! # References
//!
//! * <https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-the-aws-price-list-bulk-api-fetching-price-list-files-manually.html>
//! * <https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html>
//! * <https://aws.amazon.com/ec2/pricing/on-demand/>

mod product;
mod term;

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::rc::Rc;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};

use self::product::{Product, RawProduct};
use self::term::Term;
use crate::price_list::{Documents, EachEntry, Gather, Meter, PriceList, PriceOptions, Stop, documents};
use crate::{SourceError, Zone, instant};

/// Reads one file.
///
/// # Errors
/// `prices::not_json`, `prices::too_large`, `prices::unreadable`, `prices::too_many`, `prices::terms_before_products`,
/// `prices::no_prices`.
pub fn read(input: impl Read, options: &PriceOptions) -> Result<PriceList, SourceError> {
    let meter = Meter::new(&options.limits);
    let mut offers = Offers { gather: Gather::new(options), meter: Rc::clone(&meter), stopped_by: None };
    documents(input, &options.file, &meter, &mut offers)?;
    offers.gather.finish()
}

/// The documents of one file.
struct Offers<'o> {
    gather: Gather<'o>,
    meter: Rc<Meter>,
    stopped_by: Option<SourceError>,
}

impl Documents for Offers<'_> {
    fn document<'de, D: Deserializer<'de>>(&mut self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(Offer { offers: self, products: BTreeMap::new(), shape: Shape::Unknown })
    }

    fn stopped_by(&mut self) -> Option<SourceError> {
        self.stopped_by.take()
    }
}

/// How the terms of a document are nested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Unknown,
    /// `products`, and terms by SKU.
    Bulk,
    /// One `product` and its terms.
    Single,
}

/// One document while it is read.
struct Offer<'a, 'o> {
    offers: &'a mut Offers<'o>,
    products: BTreeMap<String, Product>,
    shape: Shape,
}

impl<'de> Visitor<'de> for Offer<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an AWS price list")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let position = self.offers.gather.position();
        let mut published = None;
        while let Some(key) = map.next_key::<String>()? {
            self.offers.meter.mark();
            match key.as_str() {
                "products" => {
                    self.shape = Shape::Bulk;
                    self.bulk_products(&mut map)?;
                }
                "product" => {
                    self.shape = Shape::Single;
                    let product: RawProduct = map.next_value()?;
                    self.products.insert(product.sku.clone(), product::of(product));
                }
                "terms" => map.next_value_seed(Terms { offer: &mut self })?,
                "publicationDate" => published = Some(map.next_value::<String>()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if let Some(at) = published.and_then(|text| instant(&text, &Zone::Utc).ok()) {
            self.offers.gather.publish(position, at);
        }
        Ok(())
    }
}

impl Offer<'_, '_> {
    fn bulk_products<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        let Self { offers, products, .. } = self;
        let Offers { gather, meter, stopped_by } = &mut **offers;
        let options = gather.options;
        map.next_value_seed(EachEntry::new(meter, |sku, product: RawProduct| {
            products.insert(sku, product::of(product));
            if products.len() <= options.limits.products {
                return Ok(());
            }
            let message = format!("the file holds more than {} products", options.limits.products);
            *stopped_by = Some(
                SourceError::new("prices::too_many", message)
                    .at(&options.file)
                    .help("read the list of one region, or raise the limit in the configuration"),
            );
            Err(Stop)
        }))
    }

    /// Takes the terms of one SKU.
    fn take(&mut self, is_on_demand: bool, terms: impl Iterator<Item = Term>) -> Result<(), Stop> {
        let gather = &mut self.offers.gather;
        for term in terms {
            if !is_on_demand {
                term.dimensions().for_each(|_| gather.pass_over("terms of reserved instances"));
                continue;
            }
            let product = self.products.get(&term.sku);
            if let Err(error) = term::take(gather, &term, product) {
                self.offers.stopped_by = Some(error);
                return Err(Stop);
            }
        }
        Ok(())
    }
}

/// The `terms` of a document.
struct Terms<'t, 'a, 'o> {
    offer: &'t mut Offer<'a, 'o>,
}

impl<'de> DeserializeSeed<'de> for Terms<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Terms<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the terms of a price list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let offer = self.offer;
        let meter = Rc::clone(&offer.offers.meter);
        while let Some(kind) = map.next_key::<String>()? {
            let is_on_demand = kind == "OnDemand";
            match offer.shape {
                Shape::Bulk => map
                    .next_value_seed(EachEntry::new(&meter, |_, terms: BTreeMap<String, Term>| {
                        offer.take(is_on_demand, terms.into_values())
                    }))?,
                Shape::Single => map.next_value_seed(EachEntry::new(&meter, |_, term: Term| {
                    offer.take(is_on_demand, std::iter::once(term))
                }))?,
                Shape::Unknown => {
                    offer.offers.stopped_by = Some(
                        SourceError::new(
                            "prices::terms_before_products",
                            "the list has its terms before its products",
                        )
                        .at(&offer.offers.gather.options.file)
                        .help("fetch the list as AWS publishes it, with `products` first"),
                    );
                    return Err(serde::de::Error::custom(Stop));
                }
            }
        }
        Ok(())
    }
}
