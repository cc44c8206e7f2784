//! Splits an amount by weights so that the parts sum to the whole, to the last unit.

use crate::{Amount, AmountError};

/// Why an amount cannot be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApportionError {
    /// No weight is above zero, so no receiver can take anything.
    #[error("nothing to split over: every weight is zero")]
    NoWeight,
    /// The weights sum past 2⁶³.
    #[error("the weights sum past 2^63")]
    WeightOverflow,
}

/// Splits `total` over `weights` by the method of largest remainder.
///
/// Every part is the exact share rounded towards zero, and the units then left go one each to the parts with the
/// largest remainders, the earlier part first on a tie; the parts sum to `total` exactly. A zero weight takes nothing.
///
/// # Errors
/// `NoWeight` if all weights are zero, `WeightOverflow` if they sum past 2⁶³.
pub fn apportion(total: Amount, weights: &[u64]) -> Result<Vec<Amount>, ApportionError> {
    let mut parts = vec![0_i128; weights.len()];
    let mut remainders = vec![0_u64; weights.len()];
    apportion_into(total.units(), weights, &mut parts, &mut remainders)?;
    let amounts: Result<Vec<_>, AmountError> = parts.into_iter().map(Amount::from_units).collect();
    // Invariant: no part is larger in magnitude than the total, which is in range.
    amounts.map_err(|_| ApportionError::WeightOverflow)
}

/// The allocation-free form of [`apportion`] for inner loops; `parts` and `remainders` are as long as `weights`.
///
/// # Errors
/// As [`apportion`].
#[inline]
pub fn apportion_into(
    total: i128,
    weights: &[u64],
    parts: &mut [i128],
    remainders: &mut [u64],
) -> Result<(), ApportionError> {
    let mut sum = 0_u64;
    for weight in weights {
        sum = sum.checked_add(*weight).ok_or(ApportionError::WeightOverflow)?;
    }
    if sum == 0 {
        return Err(ApportionError::NoWeight);
    }
    if sum > 1 << 63 {
        return Err(ApportionError::WeightOverflow);
    }
    let magnitude = total.unsigned_abs();
    let given = match u32::try_from(sum) {
        Ok(sum) => shares_of_small(magnitude, u64::from(sum), weights, (parts, remainders)),
        Err(_) => shares_of_large(magnitude, sum, weights, (parts, remainders)),
    };
    let mut left = magnitude - given;
    while left > 0 {
        let Some(best) = largest(remainders) else { break };
        parts[best] += 1;
        remainders[best] = 0;
        left -= 1;
    }
    if total < 0 {
        for part in parts.iter_mut() {
            *part = -*part;
        }
    }
    Ok(())
}

/// [`apportion_into`] for two weights, the commonest split: a holder and the rest. `None` where both weights are zero or
/// their sum is 2³² or more.
#[inline]
pub fn apportion_two(total: i128, first: u64, second: u64) -> Option<(i128, i128)> {
    let sum = u64::from(u32::try_from(first.checked_add(second)?).ok()?);
    let magnitude = total.unsigned_abs();
    let quotient = magnitude.checked_div(u128::from(sum))?;
    let rest = u64::try_from(magnitude - quotient * u128::from(sum)).ok()?;
    // The two remainders sum to the divisor or are both zero, so one unit at most is left over.
    let (share, remainder) = (rest * first / sum, rest * first % sum);
    let takes_rest = remainder > 0 && remainder >= sum - remainder;
    let part = (quotient * u128::from(first) + u128::from(share) + u128::from(takes_rest)).cast_signed();
    let part = if total < 0 { -part } else { part };
    Some((part, total - part))
}

/// Where the rounded shares and their remainders go, one for each weight.
type Shares<'a> = (&'a mut [i128], &'a mut [u64]);

/// The shares rounded towards zero; gives their sum. total·w/sum = quotient·w + rest·w/sum, whose products stay inside
/// 127 bits for any total and weights.
fn shares_of_large(magnitude: u128, sum: u64, weights: &[u64], (parts, remainders): Shares<'_>) -> u128 {
    let divisor = u128::from(sum);
    let (quotient, rest) = (magnitude / divisor, magnitude % divisor);
    let mut given = 0;
    for ((weight, part), remainder) in weights.iter().zip(parts).zip(remainders) {
        let product = rest * u128::from(*weight);
        let share = quotient * u128::from(*weight) + product / divisor;
        given += share;
        *part = share.cast_signed();
        *remainder = u64::try_from(product % divisor).unwrap_or(u64::MAX);
    }
    given
}

/// [`shares_of_large`] for weights that sum to less than 2³², as units and seconds mostly do: rest·w fits 64 bits, whose
/// division costs a fraction of that of 128.
#[inline]
fn shares_of_small(magnitude: u128, sum: u64, weights: &[u64], (parts, remainders): Shares<'_>) -> u128 {
    let quotient = magnitude / u128::from(sum);
    let rest = u64::try_from(magnitude - quotient * u128::from(sum)).unwrap_or(u64::MAX);
    let mut given = 0;
    for ((weight, part), remainder) in weights.iter().zip(parts).zip(remainders) {
        let product = rest * *weight;
        let share = quotient * u128::from(*weight) + u128::from(product / sum);
        given += share;
        *part = share.cast_signed();
        *remainder = product % sum;
    }
    given
}

/// The first index with the largest remainder above zero.
fn largest(remainders: &[u64]) -> Option<usize> {
    let mut best: Option<(usize, u64)> = None;
    for (index, remainder) in remainders.iter().enumerate() {
        if *remainder > best.map_or(0, |(_, r)| r) {
            best = Some((index, *remainder));
        }
    }
    best.map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(total: &str, weights: &[u64]) -> Vec<String> {
        apportion(total.parse().unwrap(), weights).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_cent_is_never_lost() {
        assert_eq!(parts("10", &[1, 1]), ["5", "5"]);
        assert_eq!(parts("1", &[1, 1, 1])[0], "0.333333333333333333333334");
        assert_eq!(parts("0.000000000000000000000001", &[1, 1]), ["0.000000000000000000000001", "0"]);
        assert_eq!(parts("-0.000000000000000000000003", &[1, 1])[0], "-0.000000000000000000000002");
        assert_eq!(parts("300", &[1; 6]), ["50"; 6]);
        assert_eq!(parts("7", &[0, 5]), ["0", "7"]);
    }

    #[test]
    fn no_weight_is_refused() {
        assert_eq!(apportion(Amount::ZERO, &[0, 0]), Err(ApportionError::NoWeight));
        assert_eq!(apportion(Amount::ZERO, &[]), Err(ApportionError::NoWeight));
        assert_eq!(apportion(Amount::ZERO, &[u64::MAX, 1]), Err(ApportionError::WeightOverflow));
    }

    proptest! {
        #[test]
        fn parts_sum_to_the_whole(
            units in -(10_i128.pow(38) - 1)..10_i128.pow(38),
            weights in proptest::collection::vec(0_u64..1 << 58, 1..20),
        ) {
            let total = Amount::from_units(units).unwrap();
            prop_assume!(weights.iter().any(|w| *w > 0));
            let parts = apportion(total, &weights).unwrap();
            prop_assert_eq!(Amount::sum(parts.iter().copied()).unwrap(), total);
            for (part, weight) in parts.iter().zip(&weights) {
                prop_assert!(*weight > 0 || part.is_zero());
                prop_assert!(part.is_zero() || (part.units() < 0) == (units < 0));
            }
        }

        #[test]
        fn two_parts_are_shared_as_any_number_is(
            total in any::<i64>(), scale in 0_i128..1 << 60, first in 0_u64..1 << 33, second in 0_u64..1 << 33, shift in 0..33,
        ) {
            let (total, first, second) = (i128::from(total) * scale, first >> shift, second >> shift);
            let (mut parts, mut remainders) = ([0; 2], [0; 2]);
            let shared = apportion_into(total, &[first, second], &mut parts, &mut remainders);
            match apportion_two(total, first, second) {
                Some(two) => prop_assert_eq!(two, (parts[0], parts[1])),
                None => prop_assert!(shared.is_err() || first + second > u64::from(u32::MAX)),
            }
        }

        #[test]
        fn small_weights_share_as_large_ones_do(
            magnitude in 0_u128..10_u128.pow(38),
            weights in proptest::collection::vec(0_u64..1 << 28, 1..16),
        ) {
            let sum: u64 = weights.iter().sum();
            prop_assume!(sum > 0);
            let share = |how: fn(u128, u64, &[u64], Shares<'_>) -> u128| {
                let (mut parts, mut remainders) = (vec![0; weights.len()], vec![0; weights.len()]);
                let given = how(magnitude, sum, &weights, (&mut parts, &mut remainders));
                (given, parts, remainders)
            };
            prop_assert_eq!(share(shares_of_small), share(shares_of_large));
        }

        #[test]
        fn no_part_is_a_unit_off_its_exact_share(
            units in -1_000_000_i128..1_000_000,
            weights in proptest::collection::vec(1_u64..1000, 1..8),
        ) {
            let sum: u64 = weights.iter().sum();
            let parts = apportion(Amount::from_units(units).unwrap(), &weights).unwrap();
            for (part, weight) in parts.iter().zip(&weights) {
                let exact_times_sum = units * i128::from(*weight);
                let off = (part.units() * i128::from(sum) - exact_times_sum).abs();
                prop_assert!(off < i128::from(sum));
            }
        }
    }
}
