//! A tensor that holds one number.

use crate::telemetry::shared::protobuf::{Broken, Field, Message, varint};

/// Types of numbers, by their number in `types.proto`.
const FLOAT: u64 = 1;
const DOUBLE: u64 = 2;
const INT32: u64 = 3;
const INT64: u64 = 9;
const BFLOAT16: u64 = 14;
const HALF: u64 = 19;

/// The number in a tensor without dimensions; `None` for any other tensor.
pub(super) fn scalar(tensor: Message<'_>) -> Result<Option<f64>, Broken> {
    let mut kind = 0;
    let mut content: &[u8] = &[];
    let mut listed = None;
    for field in tensor {
        match field? {
            (1, Field::Varint(number)) => kind = number,
            (2, shape) => {
                for dimension in shape.message() {
                    if let (2, _) = dimension? {
                        return Ok(None);
                    }
                }
            }
            (4, bytes) => content = bytes.bytes(),
            (5 | 6 | 7 | 10 | 13, value) => listed = Some(value),
            _ => {}
        }
    }
    Ok(listed.map_or_else(|| number(kind, content), |listed| listed_number(kind, listed)))
}

/// A number that is written as bytes.
fn number(kind: u64, bytes: &[u8]) -> Option<f64> {
    match kind {
        FLOAT => Some(f64::from(f32::from_le_bytes(bytes.try_into().ok()?))),
        DOUBLE => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
        INT32 => Some(f64::from(i32::from_le_bytes(bytes.try_into().ok()?))),
        INT64 => Some(i64::from_le_bytes(bytes.try_into().ok()?) as f64),
        BFLOAT16 => Some(of_bfloat16(u16::from_le_bytes(bytes.try_into().ok()?))),
        HALF => Some(of_half(u16::from_le_bytes(bytes.try_into().ok()?))),
        _ => None,
    }
}

/// A number in the list of its type, which is packed or stands alone.
fn listed_number(kind: u64, value: Field<'_>) -> Option<f64> {
    if let (FLOAT | DOUBLE, Field::Bytes(packed)) = (kind, value) {
        return number(kind, packed);
    }
    let whole = match value {
        Field::Fixed32(bits) => return Some(f64::from(f32::from_bits(bits))),
        Field::Fixed64(bits) => return Some(f64::from_bits(bits)),
        Field::Varint(whole) => whole,
        Field::Bytes(mut packed) => {
            let whole = varint(&mut packed)?;
            if !packed.is_empty() {
                return None;
            }
            whole
        }
    };
    match kind {
        INT32 | INT64 => Some(whole.cast_signed() as f64),
        BFLOAT16 => Some(of_bfloat16(u16::try_from(whole).ok()?)),
        HALF => Some(of_half(u16::try_from(whole).ok()?)),
        _ => None,
    }
}

/// The upper half of a 32-bit float.
fn of_bfloat16(bits: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(bits) << 16))
}

/// IEEE 754 binary16.
fn of_half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from((bits >> 10) & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2.0_f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (fraction / 1024.0 + 1.0) * 2.0_f64.powi(exponent.saturating_sub(15)),
    };
    if bits & 0x8000 == 0 { size } else { -size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_the_numbers_that_they_stand_for() {
        for (bits, number) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_953_125),
            (0x0001, 5.960_464_477_539_063e-8),
            (0x7c00, f64::INFINITY),
        ] {
            assert_eq!(of_half(bits).to_bits(), f64::to_bits(number), "for {bits:#x}");
        }
        assert!(of_half(0x7e00).is_nan());
        assert!((of_bfloat16(0x3f80) - 1.0).abs() < 1e-12);
    }
}
