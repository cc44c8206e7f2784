//! Reads the fields of protobuf messages, so that the few that matter here need no generated code.

use std::borrow::Cow;

/// A value as it lies on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::telemetry) enum Field<'a> {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 1.
    Fixed64(u64),
    /// Wire type 2: text, bytes, a message or packed numbers.
    Bytes(&'a [u8]),
    /// Wire type 5.
    Fixed32(u32),
}

impl<'a> Field<'a> {
    /// Text, of which what is no UTF-8 is replaced.
    pub(in crate::telemetry) fn text(self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes())
    }

    /// The content; empty for a number.
    pub(in crate::telemetry) const fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Varint(_) | Self::Fixed64(_) | Self::Fixed32(_) => &[],
        }
    }

    /// A message inside.
    pub(in crate::telemetry) const fn message(self) -> Message<'a> {
        Message { rest: self.bytes() }
    }

    /// A whole number; negative ones are written as their complement.
    pub(in crate::telemetry) const fn whole(self) -> Option<i64> {
        match self {
            Self::Varint(number) | Self::Fixed64(number) => Some(number.cast_signed()),
            Self::Fixed32(number) => Some(number as i64),
            Self::Bytes(_) => None,
        }
    }

    /// True for a boolean that is set.
    pub(in crate::telemetry) const fn is_set(self) -> bool {
        matches!(self, Self::Varint(1..))
    }
}

/// A message: an iterator over its fields, which ends after the first one that is broken.
#[derive(Debug, Clone)]
pub(in crate::telemetry) struct Message<'a> {
    rest: &'a [u8],
}

/// The bytes are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::telemetry) struct Broken;

impl<'a> Message<'a> {
    /// The message in these bytes.
    pub(in crate::telemetry) const fn of(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn field(&mut self) -> Option<(u32, Field<'a>)> {
        let tag = varint(&mut self.rest)?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| *number > 0)?;
        let field = match tag & 7 {
            0 => Field::Varint(varint(&mut self.rest)?),
            1 => Field::Fixed64(u64::from_le_bytes(*self.take(8)?.first_chunk()?)),
            2 => {
                let length = usize::try_from(varint(&mut self.rest)?).ok()?;
                Field::Bytes(self.take(length)?)
            }
            5 => Field::Fixed32(u32::from_le_bytes(*self.take(4)?.first_chunk()?)),
            // Groups are not written any more.
            _ => return None,
        };
        Some((number, field))
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }
}

impl<'a> Iterator for Message<'a> {
    type Item = Result<(u32, Field<'a>), Broken>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field().ok_or(Broken);
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// The next number of seven bits a byte, from the front of the bytes.
pub(in crate::telemetry) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wire_type_is_read() {
        let bytes = [
            0x08, 0x96, 0x01, // 1: 150
            0x11, 1, 0, 0, 0, 0, 0, 0, 0, // 2: fixed 1
            0x1a, 2, b'h', b'i', // 3: hi
            0x25, 2, 0, 0, 0, // 4: fixed 2
            0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, // 5: -1
        ];
        let fields: Vec<_> = Message::of(&bytes).collect::<Result<_, _>>().unwrap();
        assert_eq!(fields[0], (1, Field::Varint(150)));
        assert_eq!(fields[1], (2, Field::Fixed64(1)));
        assert_eq!(fields[2].1.text(), "hi");
        assert_eq!(fields[3], (4, Field::Fixed32(2)));
        assert_eq!(fields[4].1.whole(), Some(-1));
    }

    #[test]
    fn what_breaks_off_or_has_no_known_type_is_broken() {
        for bytes in
            [&[0x08][..], &[0x08, 0x80], &[0x1a, 5, b'h'], &[0x25, 1], &[0x0b], &[0x00, 0x01], &[0xff; 12]]
        {
            let last = Message::of(bytes).last();
            assert_eq!(last, Some(Err(Broken)), "for {bytes:?}");
        }
        assert_eq!(Message::of(&[]).next(), None);
    }
}
