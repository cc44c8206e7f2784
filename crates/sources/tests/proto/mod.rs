//! Writes protobuf messages field by field.

#![allow(dead_code, reason = "every test uses some of these")]

/// The start of a field: its number and its wire type.
pub(crate) fn key(number: u64, kind: u64) -> Vec<u8> {
    varint((number << 3) | kind)
}

pub(crate) fn text(number: u64, text: &str) -> Vec<u8> {
    bytes(number, text.as_bytes())
}

/// Bytes, or a message.
pub(crate) fn bytes(number: u64, content: &[u8]) -> Vec<u8> {
    [key(number, 2), varint(content.len() as u64), content.to_vec()].concat()
}

pub(crate) fn whole(number: u64, value: u64) -> Vec<u8> {
    [key(number, 0), varint(value)].concat()
}

pub(crate) fn varint(mut value: u64) -> Vec<u8> {
    let mut written = Vec::new();
    while value > 0x7f {
        written.push(((value & 0x7f) | 0x80).to_le_bytes()[0]);
        value >>= 7;
    }
    written.push(value.to_le_bytes()[0]);
    written
}

/// A reflected CRC of 32 bits, bit by bit.
pub(crate) fn crc(polynomial: u32, content: &[u8]) -> u32 {
    !content.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (polynomial & (sum & 1).wrapping_neg()))
    })
}
