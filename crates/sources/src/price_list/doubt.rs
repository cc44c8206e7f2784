//! Prices that nobody can mean: zeros, placeholders and what is a thousand times its peers.

use std::collections::BTreeMap;
use std::fmt;

use ledger::{PriceKind, PriceRow, PriceUnit};
use money::{Amount, Quantity, Ratio};

use super::Plausible;

/// Why a price is kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// It is 0, which no machine is.
    Zero,
    /// Hours of a capacity block are 0 on the list: their price is the block's fee.
    PaidByFee,
    /// It is a placeholder, such as 0.0001 or 9999999.
    Placeholder,
    /// It is above what an hour of a machine or of one accelerator can cost.
    AboveBound,
    /// It is more than a thousand times the median of its peers.
    Outlier,
    /// It depends on how much the whole account uses.
    Tiered,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zero => "is 0",
            Self::PaidByFee => "is 0, since the fee of the capacity block pays it",
            Self::Placeholder => "is a placeholder",
            Self::AboveBound => "is above what an hour can cost",
            Self::Outlier => "is more than a thousand times the median of its peers",
            Self::Tiered => "depends on how much the whole account uses",
        })
    }
}

/// What is doubtful in a price by itself.
pub(super) fn of(row: &PriceRow, plausible: &Plausible) -> Option<Doubt> {
    if row.price.is_zero() {
        let by_fee = row.key.option == ledger::PurchaseOption::CapacityBlock;
        return Some(if by_fee { Doubt::PaidByFee } else { Doubt::Zero });
    }
    if is_all_nines(row.price) {
        return Some(Doubt::Placeholder);
    }
    let bound = match row.key.kind {
        PriceKind::BundledMachine | PriceKind::HostOnly => plausible.machine_hour,
        PriceKind::Accelerator => plausible.accelerator_hour,
        PriceKind::Component => return None,
    };
    let seconds = if row.key.unit == PriceUnit::Second { 3600 } else { 1 };
    let hour = Ratio::new(seconds, 1).ok().and_then(|hour| row.price.times(hour).ok());
    if row.key.currency != plausible.currency {
        return None;
    }
    match hour {
        None => Some(Doubt::AboveBound),
        Some(hour) if hour > bound || is_above_for_each(row, hour, plausible) => Some(Doubt::AboveBound),
        Some(hour) if hour <= plausible.placeholder_hour => Some(Doubt::Placeholder),
        Some(_) => None,
    }
}

/// A machine whose accelerators are told must not cost more than its accelerators can.
fn is_above_for_each(row: &PriceRow, hour: Amount, plausible: &Plausible) -> bool {
    let count = row.gpus.as_ref().map(|gpus| gpus.count).filter(|count: &Quantity| !count.is_zero());
    let most = count.and_then(|count| Ratio::try_from(count).ok());
    // A part of an accelerator has a host of its own, which costs too.
    let most = most.and_then(|count| plausible.accelerator_hour.times(count).ok());
    most.is_some_and(|most| hour > most.max(plausible.accelerator_hour))
}

/// `9999`, `9999999`, `9999.99`: at least four digits and nothing but nines.
fn is_all_nines(price: Amount) -> bool {
    let text = price.to_string();
    let mut digits = text.chars().filter(|c| *c != '.');
    text.chars().filter(char::is_ascii_digit).count() >= 4
        && price.units() >= 999 * 10_i128.pow(money::SCALE)
        && digits.all(|c| c == '9')
}

/// The fewest prices of which a median says anything.
const PEERS: usize = 3;

/// Prices of one kind, unit, currency and family: `p4d` of `p4d.24xlarge`, `a2` of `a2-highgpu-1g`.
type Family = (String, PriceKind, PriceUnit, String, String);

/// Every price, with the doubt that its peers throw on it.
pub(super) fn among_peers(prices: Vec<PriceRow>) -> Vec<(PriceRow, Option<Doubt>)> {
    let mut families: BTreeMap<Family, Vec<Amount>> = BTreeMap::new();
    for row in &prices {
        families.entry(family(row)).or_default().push(row.price);
    }
    let thousand = Ratio::new(1_000, 1).unwrap_or(Ratio::ONE);
    let mut bounds: BTreeMap<Family, Amount> = BTreeMap::new();
    for (family, mut amounts) in families {
        amounts.sort_unstable();
        let median = amounts.get((amounts.len() - 1) / 2).filter(|_| amounts.len() >= PEERS);
        if let Some(Ok(bound)) = median.map(|median| median.times(thousand)) {
            bounds.insert(family, bound);
        }
    }
    let judged = |row: PriceRow| {
        let above = bounds.get(&family(&row)).is_some_and(|bound| row.price > *bound);
        (row, above.then_some(Doubt::Outlier))
    };
    prices.into_iter().map(judged).collect()
}

fn family(row: &PriceRow) -> Family {
    let key = &row.key;
    let family = match key.kind {
        PriceKind::BundledMachine | PriceKind::HostOnly => {
            key.item.split(['.', '-', '_']).next().unwrap_or_default().to_owned()
        }
        PriceKind::Accelerator | PriceKind::Component => key.item.clone(),
    };
    (key.provider.clone(), key.kind, key.unit, key.currency.code().to_owned(), family)
}
