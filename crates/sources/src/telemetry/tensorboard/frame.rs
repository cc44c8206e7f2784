//! Records of an event file: length, its checksum, content, its checksum.

use std::io::{self, BufRead, Read};

use crate::telemetry::attempts::Refusal;
use crate::telemetry::shared::framed::{Frame, Framed};

/// Largest record that is held, in bytes; images and graphs may be larger, and are passed over.
const MAX_RECORD: u64 = 64 * 1024 * 1024;

/// The records of a file.
#[derive(Debug)]
pub(super) struct Frames<R> {
    input: R,
    content: Vec<u8>,
    /// True once the length of a record could not be trusted: what follows cannot be found.
    lost: bool,
}

impl<R: BufRead> Framed for Frames<R> {
    fn frame(&mut self) -> io::Result<Frame<'_>> {
        if self.lost || self.input.fill_buf()?.is_empty() {
            return Ok(Frame::End);
        }
        let mut head = [0_u8; 12];
        if !self.fill(&mut head)? {
            return Ok(Frame::CutShort);
        }
        let (length, sum) = head.split_at(8);
        if masked_crc32c(length) != little_endian(sum) {
            self.lost = true;
            let expected = "a length with its CRC-32C: what follows in this file is not read";
            return Ok(Frame::Refused(Refusal::of_record("row::not_a_record", &hex(&head), expected)));
        }
        let length = u64::from_le_bytes(length.try_into().unwrap_or_default());
        if length > MAX_RECORD {
            let rest = length.saturating_add(4);
            if io::copy(&mut self.input.by_ref().take(rest), &mut io::sink())? < rest {
                return Ok(Frame::CutShort);
            }
            let expected = format!("a record of at most {MAX_RECORD} bytes");
            return Ok(Frame::Refused(Refusal::of_record("row::too_long", &length.to_string(), expected)));
        }
        self.content.clear();
        let read = self.input.by_ref().take(length).read_to_end(&mut self.content)?;
        let mut sum = [0_u8; 4];
        if u64::try_from(read).unwrap_or_default() < length || !self.fill(&mut sum)? {
            return Ok(Frame::CutShort);
        }
        if masked_crc32c(&self.content) != u32::from_le_bytes(sum) {
            let start = self.content.get(..16).unwrap_or(&self.content);
            let expected = "content that its CRC-32C agrees with";
            return Ok(Frame::Refused(Refusal::of_record("row::checksum", &hex(start), expected)));
        }
        Ok(Frame::Record(&self.content))
    }
}

impl<R: BufRead> Frames<R> {
    pub(super) const fn new(input: R) -> Self {
        Self { input, content: Vec::new(), lost: false }
    }

    /// Fills the bytes; false if the file ends before.
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<bool> {
        match self.input.read_exact(bytes) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}

/// The checksum as it is stored: rotated and shifted, so that checksums of checksums stay good ones.
fn masked_crc32c(bytes: &[u8]) -> u32 {
    let sum = bytes.iter().fold(u32::MAX, |sum, byte| {
        let place = (sum ^ u32::from(*byte)) & 0xff;
        let step = usize::try_from(place).ok().and_then(|place| CRC32C.get(place)).copied();
        (sum >> 8) ^ step.unwrap_or_default()
    });
    (!sum).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// The remainders of all bytes by the polynomial of Castagnoli, reflected.
static CRC32C: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let (mut place, mut start) = (0, 0_u32);
    while place < 256 {
        let (mut sum, mut bit) = (start, 0);
        while bit < 8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0x82f6_3b78 } else { sum >> 1 };
            bit += 1;
        }
        table[place] = sum;
        place += 1;
        start += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        // RFC 3720, B.4: 32 zeros have the CRC 0x8a9136aa.
        let unmasked = masked_crc32c(&[0; 32]).wrapping_sub(0xa282_ead8).rotate_left(15);
        assert_eq!(unmasked, 0x8a91_36aa);
    }
}
