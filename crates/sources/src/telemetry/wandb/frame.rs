//! Records of a `.wandb` file: pieces in blocks of 32 KiB, as LevelDB writes its log, with plain CRC-32.

use std::io::{self, BufRead, Read};

use flate2::Crc;

use crate::telemetry::attempts::Refusal;
use crate::telemetry::shared::framed::{Frame, Framed};

const HEADER: [u8; 7] = [b':', b'W', b'&', b'B', 0xe1, 0xbe, 0];
const BLOCK: usize = 32 * 1024;
const PIECE_HEADER: usize = 7;

/// Largest record that is held, in bytes.
const MAX_RECORD: usize = 64 * 1024 * 1024;

/// A piece of a record.
enum Piece {
    Whole,
    First,
    Middle,
    Last,
    /// Filling up to the end of the block.
    Padding,
    Broken(&'static str),
    CutShort,
    End,
}

/// The records of a file.
#[derive(Debug)]
pub(super) struct Frames<R> {
    input: R,
    /// Place in the block.
    at: usize,
    piece: Vec<u8>,
    record: Vec<u8>,
    /// True inside a record of several pieces.
    open: bool,
    /// True while the pieces of a record that is too large are passed over.
    passing: bool,
}

impl<R: BufRead> Framed for Frames<R> {
    fn frame(&mut self) -> io::Result<Frame<'_>> {
        loop {
            let piece = self.piece()?;
            match piece {
                Piece::End if self.open => {
                    self.open = false;
                    return Ok(Frame::CutShort);
                }
                Piece::End => return Ok(Frame::End),
                Piece::CutShort => return Ok(Frame::CutShort),
                Piece::Padding => {}
                Piece::Broken(expected) => {
                    self.open = false;
                    self.skip_block()?;
                    let found = format!("{} bytes", self.piece.len());
                    return Ok(Frame::Refused(Refusal::of_record("row::checksum", &found, expected)));
                }
                Piece::Whole | Piece::First => {
                    self.record.clear();
                    self.record.extend_from_slice(&self.piece);
                    (self.open, self.passing) = (matches!(piece, Piece::First), false);
                    if !self.open {
                        return Ok(Frame::Record(&self.record));
                    }
                }
                // Without a beginning, which was refused before.
                Piece::Middle | Piece::Last if !self.open => {}
                Piece::Middle | Piece::Last => {
                    self.passing |= self.record.len().saturating_add(self.piece.len()) > MAX_RECORD;
                    if !self.passing {
                        self.record.extend_from_slice(&self.piece);
                    }
                    if matches!(piece, Piece::Last) {
                        self.open = false;
                        return Ok(self.joined());
                    }
                }
            }
        }
    }
}

impl<R: BufRead> Frames<R> {
    pub(super) const fn new(input: R) -> Self {
        Self { input, at: 0, piece: Vec::new(), record: Vec::new(), open: false, passing: false }
    }

    /// Reads the header of the file; true if it is that of W&B.
    pub(super) fn has_header(&mut self) -> io::Result<bool> {
        self.take(HEADER.len())?;
        Ok(self.piece == HEADER)
    }

    fn joined(&self) -> Frame<'_> {
        if self.passing {
            let expected = format!("a record of at most {MAX_RECORD} bytes");
            return Frame::Refused(Refusal::of_record("row::too_long", "more", expected));
        }
        Frame::Record(&self.record)
    }

    fn piece(&mut self) -> io::Result<Piece> {
        let left = BLOCK.saturating_sub(self.at);
        if left < PIECE_HEADER {
            let padding = self.take(left)?;
            return Ok(if padding { Piece::Padding } else { Piece::End });
        }
        if self.input.fill_buf()?.is_empty() {
            return Ok(Piece::End);
        }
        if !self.take(PIECE_HEADER)? {
            return Ok(Piece::CutShort);
        }
        let Some((sum, rest)) = self.piece.split_first_chunk::<4>() else { return Ok(Piece::CutShort) };
        let Some((length, kind)) = rest.split_first_chunk::<2>() else { return Ok(Piece::CutShort) };
        let (sum, length) = (u32::from_le_bytes(*sum), usize::from(u16::from_le_bytes(*length)));
        let kind = kind.first().copied().unwrap_or_default();
        if (sum, length, kind) == (0, 0, 0) {
            self.skip_block()?;
            return Ok(Piece::Padding);
        }
        if length > BLOCK.saturating_sub(self.at) {
            self.piece.clear();
            return Ok(Piece::Broken("a length that fits into the block"));
        }
        if !self.take(length)? {
            return Ok(Piece::CutShort);
        }
        let mut crc = Crc::new();
        crc.update(&[kind]);
        crc.update(&self.piece);
        if crc.sum() != sum {
            return Ok(Piece::Broken(
                "content that its CRC-32 agrees with; the rest of its block is passed over",
            ));
        }
        Ok(match kind {
            1 => Piece::Whole,
            2 => Piece::First,
            3 => Piece::Middle,
            4 => Piece::Last,
            _ => Piece::Broken("a piece of type 1 to 4"),
        })
    }

    /// Reads bytes of the block into `piece`; false if the file ends before.
    fn take(&mut self, length: usize) -> io::Result<bool> {
        self.piece.clear();
        let limit = u64::try_from(length).unwrap_or(u64::MAX);
        let read = self.input.by_ref().take(limit).read_to_end(&mut self.piece)?;
        let place = self.at.saturating_add(read);
        self.at = if place >= BLOCK { 0 } else { place };
        Ok(read == length)
    }

    fn skip_block(&mut self) -> io::Result<()> {
        let left = u64::try_from(BLOCK.saturating_sub(self.at)).unwrap_or(u64::MAX);
        if self.at > 0 {
            io::copy(&mut self.input.by_ref().take(left), &mut io::sink())?;
        }
        self.at = 0;
        Ok(())
    }
}
