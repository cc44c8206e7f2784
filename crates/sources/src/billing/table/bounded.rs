//! Readers of text with bounds on the length of a row and on what a small file may unpack to.

use std::cell::Cell as Shared;
use std::fs::File;
use std::io::{self, Read};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

use super::unreadable;
use crate::SourceError;
use crate::billing::{BillFile, BillLimits};

/// Size of the buffers; a row is refused at the latest this far past its limit.
pub(super) const BUFFER_BYTES: usize = 1 << 17;

/// Plain text within the limits of the meter.
pub(super) fn plain(open: File, meter: &Rc<Meter>) -> impl Read + use<> {
    Bounded { inner: Counted { inner: open, meter: Rc::clone(meter) }, meter: Rc::clone(meter) }
}

/// Text under gzip, several members in one file included, within the limits of the meter.
pub(super) fn unpacked(open: File, meter: &Rc<Meter>) -> impl Read + use<> {
    let counted = Counted { inner: open, meter: Rc::clone(meter) };
    let packed = io::BufReader::with_capacity(BUFFER_BYTES, counted);
    Bounded { inner: MultiGzDecoder::new(packed), meter: Rc::clone(meter) }
}

/// What has gone through the readers of one file.
pub(super) struct Meter {
    packed: Shared<u64>,
    unpacked: Shared<u64>,
    /// Value of `unpacked` when the last row ended.
    row_start: Shared<u64>,
    limits: BillLimits,
}

impl Meter {
    /// Nothing read yet.
    pub(super) fn new(limits: &BillLimits) -> Rc<Self> {
        Rc::new(Self {
            packed: Shared::new(0),
            unpacked: Shared::new(0),
            row_start: Shared::new(0),
            limits: *limits,
        })
    }

    /// Says that a row starts here.
    pub(super) fn start_row(&self) {
        self.row_start.set(self.unpacked.get());
    }

    /// Bytes of the file itself that were read.
    pub(super) fn packed(&self) -> u64 {
        self.packed.get()
    }
}

/// Counts the bytes of the file itself.
struct Counted<R> {
    inner: R,
    meter: Rc<Meter>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.meter.packed.set(self.meter.packed.get() + read as u64);
        Ok(read)
    }
}

/// Counts unpacked bytes and refuses a row or a file that is too large.
struct Bounded<R> {
    inner: R,
    meter: Rc<Meter>,
}

/// Which bound an input broke.
#[derive(Debug, Clone, Copy, thiserror::Error)]
enum Bound {
    #[error("a row is longer than {0} bytes")]
    Row(u64),
    #[error("the file unpacks to more than {0} times its size")]
    Ratio(u64),
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let (meter, limits) = (&self.meter, &self.meter.limits);
        let unpacked = meter.unpacked.get() + read as u64;
        meter.unpacked.set(unpacked);
        if unpacked - meter.row_start.get() > limits.row_bytes + BUFFER_BYTES as u64 {
            return Err(io::Error::other(Bound::Row(limits.row_bytes)));
        }
        let allowed = meter.packed.get().saturating_mul(limits.unpack_ratio).max(limits.unpack_floor_bytes);
        if unpacked > allowed {
            return Err(io::Error::other(Bound::Ratio(limits.unpack_ratio)));
        }
        Ok(read)
    }
}

/// The error of a file of text that broke a bound, is damaged, or that the operating system does not give.
pub(super) fn unsound(file: &BillFile, fault: &io::Error) -> SourceError {
    if let Some(bound) = fault.get_ref().and_then(|inner| inner.downcast_ref::<Bound>()) {
        return SourceError::new("bill::too_large", bound.to_string())
            .at(&file.name)
            .help("check that the file is a bill; raise the limit in the source's configuration if it is");
    }
    let again = "fetch the file again; the copy is damaged";
    match fault.kind() {
        io::ErrorKind::UnexpectedEof => {
            SourceError::new("bill::truncated_gzip", "the file ends before its content does")
                .at(&file.name)
                .help(again)
        }
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            SourceError::new("bill::bad_gzip", format!("the file is no sound gzip: {fault}"))
                .at(&file.name)
                .help(again)
        }
        _ => unreadable(file, fault),
    }
}
