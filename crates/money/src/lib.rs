//! Exact money: decimal amounts from the text of a source to the edge of the screen.
//!
//! This is the only crate in which money is parsed, divided or rounded. An [`Amount`] is an integer count of
//! 10⁻²⁴ of a currency unit, so sums never round; [`apportion`] splits an amount into parts that sum to it;
//! [`Amount::times`] multiplies a rate by a [`Ratio`] of use, and rounds past the last digit only; an [`Exchange`] makes
//! an amount of one currency one of another; rounding for display happens in [`rounding`] alone. No floating point exists here.

mod amount;
mod apportion;
mod currency;
mod quantity;
mod rate;
mod ratio;
pub mod rounding;

pub use amount::{Amount, AmountError, SCALE};
pub use apportion::{ApportionError, apportion, apportion_into, apportion_two};
pub use currency::{Currency, CurrencyError};
pub use quantity::{Quantity, QuantityError};
pub use rate::{Exchange, Rate, RateError};
pub use ratio::{Ratio, RatioError};
