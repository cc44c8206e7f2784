//! What a bill told in FOCUS's own words and the canonical schema has no column for; it rests in `x_unmapped`.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::batch::same;
use super::column::ENRICHED;
use crate::SourceError;
use crate::billing::squashed;

/// Names of FOCUS under which a bill may tell more than a charge has columns for.
const NAMES: &[&str] = &[
    "BillingAccountType",
    "ChargeFrequency",
    "CommitmentDiscountCategory",
    "CommitmentDiscountName",
    "CommitmentDiscountQuantity",
    "CommitmentDiscountStatus",
    "CommitmentDiscountUnit",
    "ConsumedQuantity",
    "ConsumedUnit",
    "ContractedUnitPrice",
    "ListUnitPrice",
    "PricingCategory",
    "PricingCurrency",
    "PricingCurrencyContractedUnitPrice",
    "PricingCurrencyEffectiveCost",
    "PricingCurrencyListUnitPrice",
    "RegionName",
    "ResourceName",
    "ResourceType",
    "ServiceCategory",
    "ServiceSubcategory",
    "SkuPriceDetails",
    "SubAccountType",
];

/// Under which an enriched export that was read again keeps what it had no place for.
const REST: &str = "xunmapped";

/// The place of a name; one that is none does not compile.
pub(super) const fn name(text: &str) -> usize {
    let mut place = 0;
    while place < NAMES.len() {
        if same(NAMES[place].as_bytes(), text.as_bytes()) {
            return place;
        }
        place += 1;
    }
    assert!(place < NAMES.len(), "no such name");
    place
}

/// What becomes of a key of `x_unmapped`.
#[derive(Debug, Clone, Copy)]
enum Use {
    /// It is the value of a name.
    Name(usize),
    /// It repeats a column of the export.
    Repeats,
    /// It holds what an export had no place for.
    Rest,
    /// It goes on as it is.
    Kept,
}

/// Knows what becomes of the keys seen so far.
#[derive(Debug, Default)]
pub(super) struct Keys(BTreeMap<String, Use>);

/// What one row told.
#[derive(Debug, Default)]
pub(super) struct Told {
    values: Vec<Option<String>>,
    rest: Option<String>,
}

impl Told {
    /// Reads `x_unmapped` of a row.
    ///
    /// # Errors
    /// `export::not_canonical` if it is no JSON object.
    pub(super) fn read(unmapped: Option<&str>, keys: &mut Keys) -> Result<Self, SourceError> {
        let Some(unmapped) = unmapped else { return Ok(Self::default()) };
        let mut told = Self { values: vec![None; NAMES.len()], rest: None };
        let mut rest: BTreeMap<String, &RawValue> = BTreeMap::new();
        for (key, value) in object(unmapped)? {
            match keys.of(&key) {
                Use::Name(place) => told.values[place] = Some(text_of(value)),
                Use::Repeats => {}
                Use::Rest => rest.extend(object(value.get())?),
                Use::Kept => {
                    rest.insert(key, value);
                }
            }
        }
        if !rest.is_empty() {
            told.rest = serde_json::to_string(&rest).ok();
        }
        Ok(told)
    }

    /// The value of a name, by its place.
    pub(super) fn get(&self, name: usize) -> Option<&str> {
        self.values.get(name)?.as_deref().filter(|text| !text.is_empty())
    }

    /// The members of `x_unmapped` without a place in the export, as a JSON object.
    pub(super) fn rest(&self) -> Option<&str> {
        self.rest.as_deref()
    }
}

impl Keys {
    fn of(&mut self, key: &str) -> Use {
        if let Some(known) = self.0.get(key) {
            return *known;
        }
        let name = squashed(key);
        let place = NAMES.iter().position(|known| squashed(known) == name);
        let found = match place {
            Some(place) => Use::Name(place),
            None if name == REST => Use::Rest,
            None if ENRICHED.iter().any(|column| squashed(column.name) == name) => Use::Repeats,
            None => Use::Kept,
        };
        self.0.insert(key.to_owned(), found);
        found
    }
}

fn object(json: &str) -> Result<BTreeMap<String, &RawValue>, SourceError> {
    serde_json::from_str(json).map_err(|fault| {
        SourceError::new("export::not_canonical", format!("`x_unmapped` is no JSON object: {fault}"))
    })
}

/// The text of a JSON value: without quotes, or the value as it stands.
fn text_of(value: &RawValue) -> String {
    serde_json::from_str::<String>(value.get()).unwrap_or_else(|_| value.get().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_in_any_spelling_and_the_rest_stays() {
        let json = r#"{"region_name":"Ohio","SkuPriceDetails":{"GpuCount":"8"},"Id":7,"x_Class":"usage"}"#;
        let told = Told::read(Some(json), &mut Keys::default()).unwrap();
        assert_eq!(told.get(const { name("RegionName") }), Some("Ohio"));
        assert_eq!(told.get(const { name("SkuPriceDetails") }), Some(r#"{"GpuCount":"8"}"#));
        assert_eq!(told.get(const { name("ResourceName") }), None);
        assert_eq!(told.rest(), Some(r#"{"Id":7}"#));
    }

    #[test]
    fn what_an_export_had_no_place_for_does_not_nest_deeper() {
        let json = r#"{"Id":"1","x_Unmapped":{"Old":"2"}}"#;
        let told = Told::read(Some(json), &mut Keys::default()).unwrap();
        assert_eq!(told.rest(), Some(r#"{"Id":"1","Old":"2"}"#));
        let fault = Told::read(Some("[1]"), &mut Keys::default()).unwrap_err();
        assert_eq!(fault.code, "export::not_canonical");
    }
}
