//! Streams a list of any size: bytes are counted, and neither a record nor the file grows past its limit.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufReader, Read};
use std::marker::PhantomData;
use std::rc::Rc;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::PriceLimits;
use crate::SourceError;

const BUFFER_BYTES: usize = 1 << 16;

/// What has been read of a file.
#[derive(Debug)]
pub(crate) struct Meter {
    read: Cell<u64>,
    /// Value of `read` when the record in hand began.
    record_start: Cell<u64>,
    limits: PriceLimits,
}

impl Meter {
    pub(crate) fn new(limits: &PriceLimits) -> Rc<Self> {
        Rc::new(Self { read: Cell::new(0), record_start: Cell::new(0), limits: *limits })
    }

    /// Says that a record begins here.
    pub(crate) fn mark(&self) {
        self.record_start.set(self.read.get());
    }
}

/// Counts bytes and stops a record or a file that is too large.
#[derive(Debug)]
pub(crate) struct Guard<R> {
    inner: R,
    meter: Rc<Meter>,
}

impl<R: Read> Guard<R> {
    pub(crate) fn new(inner: R, meter: &Rc<Meter>) -> Self {
        Self { inner, meter: Rc::clone(meter) }
    }
}

/// Which bound an input broke.
#[derive(Debug, Clone, Copy, thiserror::Error)]
enum Bound {
    #[error("a record is larger than {0} bytes")]
    Record(u64),
    #[error("the file is larger than {0} bytes")]
    File(u64),
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let (meter, limits) = (&self.meter, &self.meter.limits);
        let total = meter.read.get() + read as u64;
        meter.read.set(total);
        if total - meter.record_start.get() > limits.record_bytes + BUFFER_BYTES as u64 {
            return Err(io::Error::other(Bound::Record(limits.record_bytes)));
        }
        if total > limits.file_bytes {
            return Err(io::Error::other(Bound::File(limits.file_bytes)));
        }
        Ok(read)
    }
}

/// Takes the JSON documents of a list one by one.
pub(crate) trait Documents {
    /// Reads one document.
    fn document<'de, D: Deserializer<'de>>(&mut self, input: D) -> Result<(), D::Error>;

    /// Why the reading was stopped, if not by the input itself.
    fn stopped_by(&mut self) -> Option<SourceError>;
}

/// Reads every JSON document of an input: one, several after another, or one a line.
///
/// # Errors
/// `prices::not_json`, `prices::too_large`, `prices::unreadable`, or what stopped the reader.
pub(crate) fn documents(
    input: impl Read,
    file: &str,
    meter: &Rc<Meter>,
    reader: &mut impl Documents,
) -> Result<(), SourceError> {
    let guarded = BufReader::with_capacity(BUFFER_BYTES, Guard::new(input, meter));
    let mut deserializer = serde_json::Deserializer::from_reader(guarded);
    while deserializer.end().is_err() {
        meter.mark();
        if let Err(error) = reader.document(&mut deserializer) {
            return Err(reader.stopped_by().unwrap_or_else(|| fault(file, error)));
        }
    }
    Ok(())
}

/// Shows the entries of a JSON object one at a time, so that the object is never in memory as a whole.
pub(crate) struct EachEntry<'m, T, F> {
    meter: &'m Meter,
    each: F,
    value: PhantomData<T>,
}

impl<'m, T, F> EachEntry<'m, T, F> {
    pub(crate) const fn new(meter: &'m Meter, each: F) -> Self {
        Self { meter, each, value: PhantomData }
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(String, T) -> Result<(), Stop>> DeserializeSeed<'de>
    for EachEntry<'_, T, F>
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(String, T) -> Result<(), Stop>> Visitor<'de> for EachEntry<'_, T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        self.meter.mark();
        while let Some((key, value)) = map.next_entry::<String, T>()? {
            (self.each)(key, value).map_err(serde::de::Error::custom)?;
            self.meter.mark();
        }
        Ok(())
    }
}

/// Shows the elements of a JSON list one at a time.
pub(crate) struct EachElement<'m, T, F> {
    meter: &'m Meter,
    each: F,
    value: PhantomData<T>,
}

impl<'m, T, F> EachElement<'m, T, F> {
    pub(crate) const fn new(meter: &'m Meter, each: F) -> Self {
        Self { meter, each, value: PhantomData }
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), Stop>> DeserializeSeed<'de>
    for EachElement<'_, T, F>
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), Stop>> Visitor<'de> for EachElement<'_, T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        self.meter.mark();
        while let Some(value) = list.next_element::<T>()? {
            (self.each)(value).map_err(serde::de::Error::custom)?;
            self.meter.mark();
        }
        Ok(())
    }
}

/// The reading stops; [`Documents::stopped_by`] tells why.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("stopped")]
pub(crate) struct Stop;

/// The error of an input that is not JSON, cannot be read or is too large.
fn fault(file: &str, error: serde_json::Error) -> SourceError {
    let place = format!("{file}:{}:{}", error.line(), error.column());
    let message = error.to_string();
    if error.is_io() {
        return io_fault(file, &error.into());
    }
    SourceError::new("prices::not_json", format!("the file is no JSON of this format: {message}"))
        .at(place)
        .help("fetch the list again; the copy is damaged or of another format")
}

/// The error of an input that cannot be read or is too large.
pub(crate) fn io_fault(file: &str, error: &io::Error) -> SourceError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Bound>()) {
        Some(bound) => SourceError::new("prices::too_large", bound.to_string())
            .at(file)
            .help("check that the file is a price list; raise the limit in the configuration if it is"),
        None => SourceError::new("prices::unreadable", format!("the file cannot be read: {error}")).at(file),
    }
}
