//! Files of framed records: each stands behind its length and is checked by a checksum.

use std::io;

use crate::telemetry::attempts::Refusal;

/// A record, or why there is none.
#[derive(Debug)]
pub(in crate::telemetry) enum Frame<'f> {
    /// A record whose checksums hold.
    Record(&'f [u8]),
    /// A record that cannot be taken.
    Refused(Refusal),
    /// The file breaks off inside a record.
    CutShort,
    /// Nothing more.
    End,
}

/// The records of a file.
pub(in crate::telemetry) trait Framed {
    /// What stands next.
    fn frame(&mut self) -> io::Result<Frame<'_>>;
}

/// Takes every record, with its number from 1; true if the file breaks off inside one.
pub(in crate::telemetry) fn each(
    frames: &mut impl Framed,
    mut take: impl FnMut(u64, Result<&[u8], Refusal>),
) -> io::Result<bool> {
    let mut number = 0;
    loop {
        number += 1;
        match frames.frame()? {
            Frame::Record(bytes) => take(number, Ok(bytes)),
            Frame::Refused(refusal) => take(number, Err(refusal)),
            Frame::CutShort => return Ok(true),
            Frame::End => return Ok(false),
        }
    }
}
