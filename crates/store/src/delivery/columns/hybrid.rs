//! The hybrid of runs and packed bits in which Parquet holds levels and the places of values in a dictionary.

/// Values are packed in groups; a run begins where a group would.
const GROUP: usize = 8;

/// The bits that every value up to the greatest fits.
pub(super) const fn width_of(greatest: u32) -> u32 {
    u32::BITS - greatest.leading_zeros()
}

/// Appends values that each fit `width` bits.
pub(super) fn put(out: &mut Vec<u8>, values: &[u32], width: u32) {
    let (mut packed, mut at) = (0, 0);
    while at < values.len() {
        let run = run_at(&values[at..]);
        if run < GROUP {
            at = (at + GROUP).min(values.len());
            continue;
        }
        put_packed(out, &values[packed..at], width);
        put_run(out, values[at], run, width);
        at += run;
        packed = at;
    }
    put_packed(out, &values[packed..], width);
}

/// Appends one value that repeats.
pub(super) fn put_run(out: &mut Vec<u8>, value: u32, count: usize, width: u32) {
    if count > 0 {
        put_unsigned(out, (count as u64) << 1);
        out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
    }
}

/// How often the first value repeats.
fn run_at(values: &[u32]) -> usize {
    let Some((first, rest)) = values.split_first() else { return 0 };
    1 + rest.iter().take_while(|value| *value == first).count()
}

/// Appends values packed in whole groups; what lacks of the last one is zero.
fn put_packed(out: &mut Vec<u8>, values: &[u32], width: u32) {
    if values.is_empty() {
        return;
    }
    let groups = values.len().div_ceil(GROUP);
    put_unsigned(out, (groups as u64) << 1 | 1);
    let end = out.len() + groups * width as usize;
    let (mut bits, mut filled) = (0_u64, 0);
    for value in values {
        bits |= u64::from(*value) << filled;
        filled += width;
        if filled >= u32::BITS {
            out.extend_from_slice(&bits.to_le_bytes()[..4]);
            bits >>= u32::BITS;
            filled -= u32::BITS;
        }
    }
    out.extend_from_slice(&bits.to_le_bytes()[..filled.div_ceil(8) as usize]);
    out.resize(end, 0);
}

/// Appends an integer in groups of seven bits, the lowest first.
pub(super) fn put_unsigned(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            out.push(low & 0x7f);
            return;
        }
        out.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_of(values: &[u32], width: u32) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, values, width);
        out
    }

    #[test]
    fn runs_and_packed_bits_are_those_of_the_format() {
        // The example of the format's own description: 0 to 7 in three bits.
        assert_eq!(put_of(&[0, 1, 2, 3, 4, 5, 6, 7], 3), [0b11, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
        assert_eq!(put_of(&[5; 100], 3), [200, 1, 5]);
        assert_eq!(put_of(&[0; 9], 0), [18]);
        // A group, a run, and what is left, filled up.
        let mixed: Vec<u32> = (0..8).chain([1; 8]).chain([6, 7]).collect();
        assert_eq!(
            put_of(&mixed, 3),
            [0b11, 0b1000_1000, 0b1100_0110, 0b1111_1010, 16, 1, 3, 0b11_1110, 0, 0]
        );
        assert_eq!((width_of(0), width_of(1), width_of(255), width_of(256)), (0, 1, 8, 9));
        assert!(put_of(&[], 3).is_empty());
    }
}
