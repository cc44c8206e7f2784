//! A charge as a FOCUS row: what each column that is no copy holds.

use std::borrow::Cow;

use ledger::LineClass;
use money::{Amount, Ratio};

use super::batch::{Batch, at};
use super::told::{Told, name};
use super::word::{
    COMMITMENTS, FREQUENCIES, PRICINGS, STATUSES, allowed, commitment_category, resource_type, service,
    service_category, sub_account_type, unit,
};

/// Which part of a charge a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// What is invoiced of a fee that carries amortised cost as well.
    Purchase,
    /// The amortised cost that the fee carries.
    Amortised,
}

/// A charge, or a part of one.
pub(super) struct Charge<'a> {
    pub(super) batch: &'a Batch,
    pub(super) row: usize,
    pub(super) part: Part,
    pub(super) told: Told,
}

type Words<'a> = Option<Cow<'a, str>>;

/// Public prices are told of usage and of purchases.
const PRICED: [&str; 2] = ["Usage", "Purchase"];

impl Charge<'_> {
    fn text(&self, column: usize) -> Option<&str> {
        self.batch.text(column, self.row)
    }

    fn money(&self, column: usize) -> Option<Amount> {
        self.batch.money(column, self.row)
    }

    fn category(&self) -> &str {
        if self.part == Part::Amortised {
            "Usage"
        } else {
            self.text(const { at("charge_category") }).unwrap_or("")
        }
    }

    fn class(&self) -> LineClass {
        self.text(const { at("x_class") }).and_then(LineClass::from_word).unwrap_or(LineClass::Other)
    }

    fn is_usage(&self) -> bool {
        self.category() == "Usage"
    }

    fn commitment(&self) -> Option<&str> {
        self.text(const { at("commitment_discount_id") })
    }

    /// A value as told, where `of` holds one.
    fn told_of(&self, of: usize, name: usize) -> Words<'_> {
        self.text(of)?;
        self.told.get(name).map(Cow::from)
    }

    fn told_money(&self, name: usize) -> Option<Amount> {
        self.told.get(name)?.parse().ok()
    }

    fn told_quantity(&self, name: usize) -> Option<f64> {
        self.told.get(name)?.parse().ok().filter(|value: &f64| value.is_finite())
    }

    pub(super) fn billing_account_type(&self) -> Words<'_> {
        Some(Cow::from(self.told.get(const { name("BillingAccountType") }).unwrap_or("Billing Account")))
    }

    pub(super) fn billed_cost(&self) -> Option<Amount> {
        if self.part == Part::Amortised {
            Some(Amount::ZERO)
        } else {
            self.money(const { at("billed_cost") })
        }
    }

    pub(super) fn capacity_reservation_status(&self) -> Words<'_> {
        self.text(const { at("capacity_reservation_id") }).filter(|_| self.is_usage())?;
        let unused = self.class() == LineClass::UnusedReservation;
        let told = allowed(self.text(const { at("capacity_reservation_status") }), STATUSES);
        Some(Cow::from(told.unwrap_or(if unused { "Unused" } else { "Used" })))
    }

    pub(super) fn charge_category(&self) -> Words<'_> {
        Some(Cow::from(self.category()))
    }

    pub(super) fn charge_class(&self) -> Words<'_> {
        self.text(const { at("charge_class") }).filter(|word| *word == "Correction").map(Cow::from)
    }

    pub(super) fn charge_description(&self) -> Words<'_> {
        if let Some(told) = self.text(const { at("charge_description") }) {
            return Some(Cow::from(told));
        }
        let words = [const { at("service_name") }, const { at("x_line_type") }, const { at("x_usage_type") }];
        let words: Vec<&str> = words.iter().filter_map(|column| self.text(*column)).collect();
        Some(Cow::from(words.join(", ")))
    }

    pub(super) fn charge_frequency(&self) -> Words<'_> {
        let told = allowed(self.told.get(const { name("ChargeFrequency") }), FREQUENCIES);
        let bought = self.category() == "Purchase";
        let line_type = self.text(const { at("x_line_type") }).unwrap_or("");
        let derived = match self.category() {
            "Usage" => "Usage-Based",
            "Purchase" if line_type.ends_with("RecurringFee") || line_type == "RIFee" => "Recurring",
            _ => "One-Time",
        };
        Some(Cow::from(told.filter(|word| !(bought && *word == "Usage-Based")).unwrap_or(derived)))
    }

    pub(super) fn commitment_discount_category(&self) -> Words<'_> {
        self.commitment()?;
        let told = allowed(self.told.get(const { name("CommitmentDiscountCategory") }), COMMITMENTS);
        let kind = self.text(const { at("commitment_discount_type") });
        told.or_else(|| commitment_category(kind)).map(Cow::from)
    }

    pub(super) fn commitment_discount_name(&self) -> Words<'_> {
        self.told_of(const { at("commitment_discount_id") }, const { name("CommitmentDiscountName") })
    }

    pub(super) fn commitment_discount_quantity(&self) -> Option<f64> {
        self.commitment().filter(|_| self.part == Part::Whole)?;
        self.told_quantity(const { name("CommitmentDiscountQuantity") })
    }

    pub(super) fn commitment_discount_unit(&self) -> Words<'_> {
        self.commitment_discount_quantity()?;
        self.told.get(const { name("CommitmentDiscountUnit") }).map(Cow::from)
    }

    pub(super) fn commitment_discount_status(&self) -> Words<'_> {
        self.commitment().filter(|_| self.is_usage())?;
        let told = allowed(self.told.get(const { name("CommitmentDiscountStatus") }), STATUSES);
        // The negation of a savings plan is of class commitment too; it has no effective cost.
        let unused = self.class() == LineClass::Commitment
            && self.effective_cost().is_some_and(|cost| !cost.is_zero());
        Some(Cow::from(told.unwrap_or(if unused { "Unused" } else { "Used" })))
    }

    fn consumes(&self) -> bool {
        self.is_usage() && self.commitment_discount_status().as_deref() != Some("Unused")
    }

    pub(super) fn consumed_quantity(&self) -> Option<f64> {
        if !self.consumes() {
            return None;
        }
        self.told_quantity(const { name("ConsumedQuantity") }).or_else(|| self.pricing_quantity())
    }

    pub(super) fn consumed_unit(&self) -> Words<'_> {
        self.consumed_quantity()?;
        match self.told_quantity(const { name("ConsumedQuantity") }) {
            Some(_) => self.told.get(const { name("ConsumedUnit") }).map(Cow::from),
            None => self.pricing_unit(),
        }
    }

    pub(super) fn contracted_cost(&self) -> Option<Amount> {
        if self.part == Part::Amortised {
            return Some(Amount::ZERO);
        }
        self.money(const { at("contracted_cost") }).or_else(|| match self.is_usage() {
            true if self.commitment().is_some() => self.list_cost(),
            true => self.effective_cost(),
            false => self.billed_cost(),
        })
    }

    pub(super) fn told_contracted_cost(&self) -> Option<Amount> {
        let told = self.money(const { at("contracted_cost") })?;
        Some(if self.part == Part::Amortised { Amount::ZERO } else { told })
    }

    pub(super) fn contracted_unit_price(&self) -> Option<Amount> {
        self.told_price(const { name("ContractedUnitPrice") })
    }

    pub(super) fn effective_cost(&self) -> Option<Amount> {
        if self.part == Part::Purchase {
            Some(Amount::ZERO)
        } else {
            self.money(const { at("effective_cost") })
        }
    }

    pub(super) fn invoice_issuer_name(&self) -> Words<'_> {
        self.text(const { at("invoice_issuer_name") }).map(Cow::from).or_else(|| self.provider())
    }

    pub(super) fn list_cost(&self) -> Option<Amount> {
        if self.is_usage() {
            self.known_list_cost().or_else(|| self.billed_cost())
        } else {
            self.billed_cost()
        }
    }

    pub(super) fn known_list_cost(&self) -> Option<Amount> {
        if self.part == Part::Amortised { Some(Amount::ZERO) } else { self.money(const { at("list_cost") }) }
    }

    pub(super) fn list_unit_price(&self) -> Option<Amount> {
        let priced = PRICED.contains(&self.category()) && self.known_list_cost().is_some();
        if !priced || self.charge_class().is_some() {
            return None;
        }
        let told = self.told_price(const { name("ListUnitPrice") });
        told.or_else(|| unit_price(self.list_cost()?, self.pricing_quantity()?))
    }

    pub(super) fn marginal_cost(&self) -> Option<Amount> {
        if self.part == Part::Amortised {
            Some(Amount::ZERO)
        } else {
            self.money(const { at("x_marginal_cost") })
        }
    }

    pub(super) fn pricing_category(&self) -> Words<'_> {
        if !PRICED.contains(&self.category()) {
            return None;
        }
        let told = allowed(self.told.get(const { name("PricingCategory") }), PRICINGS);
        let spot = || {
            let is_spot =
                |text: Option<&str>| text.is_some_and(|text| text.to_ascii_lowercase().contains("spot"));
            let operation = self.text(const { at("x_operation") });
            operation.is_some_and(|text| text.starts_with("RunInstances:SV"))
                || is_spot(self.text(const { at("x_usage_type") }))
        };
        let derived = || match self.is_usage() {
            true if self.commitment().is_some() => "Committed",
            true if spot() => "Dynamic",
            true | false => "Standard",
        };
        Some(Cow::from(told.unwrap_or_else(derived)))
    }

    pub(super) fn pricing_currency(&self) -> Words<'_> {
        let told = self.told.get(const { name("PricingCurrency") });
        told.or_else(|| self.text(const { at("billing_currency") })).map(Cow::from)
    }

    pub(super) fn pricing_currency_contracted_unit_price(&self) -> Option<Amount> {
        self.told_price(const { name("PricingCurrencyContractedUnitPrice") })
    }

    pub(super) fn pricing_currency_effective_cost(&self) -> Option<Amount> {
        let billing = self.text(const { at("billing_currency") });
        if self.pricing_currency().as_deref() == billing {
            return self.effective_cost();
        }
        self.told_money(const { name("PricingCurrencyEffectiveCost") }).filter(|_| self.part == Part::Whole)
    }

    pub(super) fn pricing_currency_list_unit_price(&self) -> Option<Amount> {
        self.told_price(const { name("PricingCurrencyListUnitPrice") })
    }

    pub(super) fn pricing_quantity(&self) -> Option<f64> {
        if self.category() == "Tax" || self.part == Part::Amortised {
            return None;
        }
        self.batch.quantity(const { at("pricing_quantity") }, self.row)
    }

    pub(super) fn pricing_unit(&self) -> Words<'_> {
        self.pricing_quantity()?;
        self.text(const { at("pricing_unit") }).map(unit)
    }

    fn provider(&self) -> Words<'_> {
        self.text(const { at("provider_name") }).map(Cow::from)
    }

    pub(super) fn publisher_name(&self) -> Words<'_> {
        self.text(const { at("publisher_name") }).map(Cow::from).or_else(|| self.provider())
    }

    pub(super) fn region_name(&self) -> Words<'_> {
        self.told_of(const { at("region_id") }, const { name("RegionName") })
    }

    pub(super) fn resource_name(&self) -> Words<'_> {
        self.told_of(const { at("resource_id") }, const { name("ResourceName") })
    }

    pub(super) fn resource_type(&self) -> Words<'_> {
        let id = self.text(const { at("resource_id") })?;
        let told = self.told.get(const { name("ResourceType") });
        Some(Cow::from(told.unwrap_or_else(|| resource_type(id))))
    }

    fn service(&self) -> (&'static str, &'static str) {
        service(self.text(const { at("service_name") }).unwrap_or(""))
    }

    pub(super) fn service_category(&self) -> Words<'_> {
        let told = service_category(self.told.get(const { name("ServiceCategory") }));
        Some(Cow::from(told.unwrap_or_else(|| self.service().0)))
    }

    pub(super) fn service_subcategory(&self) -> Words<'_> {
        // A sub-category is taken with its category or not at all.
        let told = service_category(self.told.get(const { name("ServiceCategory") }));
        let sub = told.and_then(|_| self.told.get(const { name("ServiceSubcategory") }));
        match (told, sub) {
            (_, Some(sub)) => Some(Cow::from(sub)),
            (Some(category), None) if category != self.service().0 => {
                Some(Cow::from(format!("Other ({category})")))
            }
            (Some(_) | None, None) => Some(Cow::from(self.service().1)),
        }
    }

    pub(super) fn sku_meter(&self) -> Words<'_> {
        self.text(const { at("sku_id") })?;
        self.text(const { at("x_usage_type") }).map(Cow::from)
    }

    pub(super) fn sku_price_details(&self) -> Words<'_> {
        self.text(const { at("sku_price_id") })?;
        if let Some(told) =
            self.told.get(const { name("SkuPriceDetails") }).filter(|text| text.starts_with('{'))
        {
            return Some(Cow::from(told));
        }
        let instance = self.text(const { at("x_instance_type") })?;
        Some(Cow::from(serde_json::json!({ "InstanceType": instance }).to_string()))
    }

    pub(super) fn sub_account_type(&self) -> Words<'_> {
        self.text(const { at("sub_account_id") })?;
        let told = self.told.get(const { name("SubAccountType") });
        told.map(Cow::from).or_else(|| Some(Cow::from(sub_account_type(&self.provider()?))))
    }

    pub(super) fn unmapped(&self) -> Words<'_> {
        self.told.rest().map(Cow::from)
    }

    /// A price as told; FOCUS has none of tax, and none below zero.
    fn told_price(&self, name: usize) -> Option<Amount> {
        if self.category() == "Tax" || self.part != Part::Whole {
            return None;
        }
        self.told_money(name).filter(|price| *price >= Amount::ZERO)
    }
}

/// Cost by quantity, to the last digit that an amount holds; `None` for no quantity, or a price below zero.
fn unit_price(cost: Amount, quantity: f64) -> Option<Amount> {
    // Shortest decimal text, so that 0.1 is a tenth; its digits and their scale make the fraction exact.
    let text = quantity.abs().to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let price = cost.times(Ratio::new(scale, digits).ok()?).ok()?;
    let price = if quantity < 0.0 { price.negated() } else { price };
    (price >= Amount::ZERO).then_some(price)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_price_is_cost_by_quantity() {
        let price =
            |cost: &str, quantity| unit_price(cost.parse().unwrap(), quantity).map(|price| price.to_string());
        assert_eq!(price("0.269", 2.69).as_deref(), Some("0.1"));
        assert_eq!(price("1", 3.0).as_deref(), Some("0.333333333333333333333333"));
        assert_eq!(price("-6", -3.0).as_deref(), Some("2"));
        assert_eq!(price("0", 744.0).as_deref(), Some("0"));
        for (cost, quantity) in [("-6", 3.0), ("1", 0.0), ("1", f64::NAN), ("1", 1e-300), ("1", 1e300)] {
            assert_eq!(price(cost, quantity), None, "for {cost} by {quantity}");
        }
    }
}
