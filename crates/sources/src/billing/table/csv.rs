//! Reads CSV, plain or under gzip, with bounds on row length and on what a small file may unpack to.
//!
//! Unpacking and splitting run in a thread of their own, a few blocks of rows ahead of what is made of them.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};

use super::bounded::{BUFFER_BYTES, Meter, plain, unpacked, unsound};
use super::{BrokenRow, PROGRESS_ROWS, Visitor};
use crate::SourceError;
use crate::ahead::ahead;
use crate::billing::{BillFile, BillLimits};

mod block;

use block::{Block, Splitter};

/// Blocks that wait to be looked at; one is looked at and one is filled besides.
const BLOCKS_AHEAD: usize = 2;

/// Reads plain text.
pub(in crate::billing) fn visit_plain(
    file: &BillFile,
    open: File,
    limits: &BillLimits,
    visitor: &mut impl Visitor,
) -> Result<(), SourceError> {
    visit(file, limits, |meter: &Rc<Meter>| plain(open, meter), visitor)
}

/// Reads text under gzip, several members in one file included.
pub(in crate::billing) fn visit_gzip(
    file: &BillFile,
    open: File,
    limits: &BillLimits,
    visitor: &mut impl Visitor,
) -> Result<(), SourceError> {
    visit(file, limits, |meter: &Rc<Meter>| unpacked(open, meter), visitor)
}

/// Splits what `input` opens in a thread of its own and shows it in this one.
fn visit<R: Read>(
    file: &BillFile,
    limits: &BillLimits,
    input: impl FnOnce(&Rc<Meter>) -> R + Send,
    visitor: &mut impl Visitor,
) -> Result<(), SourceError> {
    let (give_back, spare) = channel();
    let split = move |give: Give| {
        let meter = Meter::new(limits);
        let splitter = Splitter::new(BufReader::with_capacity(BUFFER_BYTES, input(&meter)));
        let mut table = Table { file, limits, meter, splitter };
        let fault = table.split((&give, &spare)).err();
        // A receiver that is gone wants to know of no fault either.
        fault.map(|fault| give.send(Err(fault)).ok());
    };
    let ((), shown) = ahead(BLOCKS_AHEAD, split, |pieces| show(file, &pieces, &give_back, visitor));
    shown
}

/// What the splitting thread hands on, and the way back of the buffers.
type Give = SyncSender<Result<Piece, SourceError>>;

enum Piece {
    Headers(Vec<String>),
    Rows(Block),
}

/// Shows the rows to a visitor.
fn show(
    file: &BillFile,
    pieces: &Receiver<Result<Piece, SourceError>>,
    give_back: &Sender<Block>,
    visitor: &mut impl Visitor,
) -> Result<(), SourceError> {
    let (mut row, mut progress) = (0_u64, 0);
    for piece in pieces {
        let block = match piece? {
            Piece::Rows(block) => block,
            Piece::Headers(headers) => match visitor.header(file, &headers)? {
                Some(_) => continue,
                None => return Ok(()),
            },
        };
        row = show_block(file, &block, row, visitor)?;
        if row / PROGRESS_ROWS > progress {
            progress = row / PROGRESS_ROWS;
            visitor.progress(row, block.packed);
        }
        // Where nobody splits any more, the buffers are not wanted.
        give_back.send(block).ok();
    }
    visitor.progress(row, file.bytes);
    Ok(())
}

/// Shows the rows of a block and gives the rows shown so far.
fn show_block(
    file: &BillFile,
    block: &Block,
    before: u64,
    visitor: &mut impl Visitor,
) -> Result<u64, SourceError> {
    let text = block.text().map_err(|fault| {
        SourceError::new("bill::bad_csv", format!("the rows are no text: {fault}")).at(&file.name)
    })?;
    if let Some(note) = &block.note {
        visitor.note("bill::short_rows", note.clone());
    }
    visitor.block(&|column| block.is_occupied(column));
    let mut row = before;
    for line in &block.lines {
        row += 1;
        match block.row(text, line) {
            Ok(cells) => visitor.row(row, &cells)?,
            Err(broken) => visitor.broken(row, broken.clone()),
        }
    }
    Ok(row)
}

struct Table<'a, R> {
    file: &'a BillFile,
    limits: &'a BillLimits,
    meter: Rc<Meter>,
    splitter: Splitter<R>,
}

impl<R: io::BufRead> Table<'_, R> {
    /// Hands on the headers and then the rows, until nobody takes them.
    fn split(&mut self, (give, spare): (&Give, &Receiver<Block>)) -> Result<(), SourceError> {
        let headers = self.headers()?;
        let mut widths = Widths { header: headers.len(), short: None };
        if give.send(Ok(Piece::Headers(headers))).is_err() {
            return Ok(());
        }
        let mut first = true;
        loop {
            let mut block = spare.try_recv().unwrap_or_default();
            block.clear();
            let filled = self.fill(&mut block, &mut widths, first);
            block.check_text();
            block.packed = self.meter.packed();
            first &= block.lines.is_empty();
            let taken = block.lines.is_empty() || give.send(Ok(Piece::Rows(block))).is_ok();
            match filled {
                Ok(true) if taken => {}
                Ok(_) => return Ok(()),
                Err(fault) => return Err(self.fault(&fault)),
            }
        }
    }

    /// Fills a block; false at the end of the text.
    fn fill(&mut self, block: &mut Block, widths: &mut Widths, first: bool) -> io::Result<bool> {
        while !block.is_full() {
            self.meter.start_row();
            let Some(placed) = self.splitter.next_row(block)? else { return Ok(false) };
            if first && block.lines.is_empty() && placed.fields < widths.header {
                widths.short = Some(placed.fields);
                block.note = Some(widths.note(&self.file.name));
            }
            if widths.fit(placed.fields) {
                block.keep(placed);
            } else {
                let found = format!("{} fields", placed.fields);
                let expected = widths.header.to_string();
                block.refuse(&placed, BrokenRow { code: "row::field_count", found, expected });
            }
        }
        Ok(true)
    }

    fn headers(&mut self) -> Result<Vec<String>, SourceError> {
        let mut block = Block::default();
        let read = self.splitter.next_row(&mut block).map_err(|fault| self.fault(&fault))?;
        if read.is_none() {
            return Err(SourceError::new("bill::empty_file", "the file is empty").at(&self.file.name));
        }
        let fields = block.fields();
        if fields.len() > self.limits.columns {
            let message = format!("the file has {} columns, more than {}", fields.len(), self.limits.columns);
            return Err(SourceError::new("bill::too_large", message).at(&self.file.name));
        }
        let text =
            |field: &[u8]| String::from_utf8_lossy(field).trim_start_matches('\u{feff}').trim().to_owned();
        Ok(fields.map(text).collect())
    }

    fn fault(&self, fault: &io::Error) -> SourceError {
        unsound(self.file, fault)
    }
}

/// How many fields a row may have: as many as the header, or as few as the first row has.
struct Widths {
    header: usize,
    short: Option<usize>,
}

impl Widths {
    fn fit(&self, fields: usize) -> bool {
        fields == self.header || self.short == Some(fields)
    }

    fn note(&self, file: &str) -> String {
        let short = self.short.unwrap_or(0);
        format!(
            "{file}: rows have {short} fields where the header has {}; the last columns are empty",
            self.header
        )
    }
}
