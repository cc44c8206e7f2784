//! Whole numbers as packed differences (`DELTA_BINARY_PACKED`), for row numbers.

use super::hybrid::put_unsigned;

/// Differences of a block, which share their least one.
const BLOCK: usize = 128;
/// Differences that share a width; a block holds four times as many.
const SHARED: usize = 32;

/// Appends numbers.
pub(super) fn put(out: &mut Vec<u8>, values: &[i64]) {
    put_unsigned(out, BLOCK as u64);
    put_unsigned(out, (BLOCK / SHARED) as u64);
    put_unsigned(out, values.len() as u64);
    put_signed(out, values.first().copied().unwrap_or(0));
    let mut differences = [0_i64; BLOCK];
    // A block begins with the last value of the one before.
    for start in (1..values.len()).step_by(BLOCK) {
        let end = (start + BLOCK).min(values.len());
        let filled = &mut differences[..end - start];
        for (difference, pair) in filled.iter_mut().zip(values[start - 1..end].windows(2)) {
            *difference = pair[1].wrapping_sub(pair[0]);
        }
        put_block(out, filled);
    }
}

fn put_block(out: &mut Vec<u8>, differences: &[i64]) {
    let least = differences.iter().copied().min().unwrap_or(0);
    put_signed(out, least);
    let above = |difference: &i64| difference.wrapping_sub(least).cast_unsigned();
    let mut widths = [0_u8; BLOCK / SHARED];
    for (width, shared) in widths.iter_mut().zip(differences.chunks(SHARED)) {
        let all = shared.iter().map(above).fold(0, |all, value| all | value);
        [*width, ..] = (u64::BITS - all.leading_zeros()).to_le_bytes();
    }
    out.extend_from_slice(&widths);
    for (width, shared) in widths.into_iter().zip(differences.chunks(SHARED)) {
        put_packed(out, shared.iter().map(above), width);
    }
}

/// Appends as many values as share a width; what lacks is zero.
fn put_packed(out: &mut Vec<u8>, values: impl Iterator<Item = u64>, width: u8) {
    let end = out.len() + SHARED * usize::from(width) / 8;
    let (mut bits, mut filled) = (0_u128, 0);
    for value in values {
        bits |= u128::from(value) << filled;
        filled += usize::from(width);
        let whole = filled / 8;
        out.extend_from_slice(&bits.to_le_bytes()[..whole]);
        bits >>= whole * 8;
        filled %= 8;
    }
    if filled > 0 {
        out.extend_from_slice(&bits.to_le_bytes()[..1]);
    }
    out.resize(end, 0);
}

fn put_signed(out: &mut Vec<u8>, value: i64) {
    put_unsigned(out, (value << 1 ^ value >> 63).cast_unsigned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_those_of_the_format() {
        let put_of = |values: &[i64]| {
            let mut out = Vec::new();
            put(&mut out, values);
            out
        };
        // Both examples of the format's own description, in its blocks of 128 by 32.
        assert_eq!(put_of(&[1, 2, 3, 4, 5]), [128, 1, 4, 5, 2, 2, 0, 0, 0, 0]);
        let second = put_of(&[7, 5, 3, 1, 2, 3, 4, 5]);
        assert_eq!(second, [128, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0b1100_0000, 0b11_1111, 0, 0, 0, 0, 0, 0]);
        assert_eq!(put_of(&[]), [128, 1, 4, 0, 0]);
        assert_eq!(put_of(&[-1]), [128, 1, 4, 1, 1]);
    }
}
