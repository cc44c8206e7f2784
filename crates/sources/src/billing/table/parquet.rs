//! Reads Parquet in batches, every column by its own type, with bounds on what a footer may declare.
//!
//! Decoding runs in a thread of its own, a few batches ahead of what is made of them.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use ::parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use arrow::array::{Array, ArrayRef, AsArray, make_array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Fields};
use arrow::error::ArrowError;

use super::columns::{Columns, RUN_ROWS};
use super::dictionaries::Dictionaries;
use super::typed::Typed;
use super::{DEPTH, Form, PROGRESS_ROWS, Visitor, Wanted, unreadable};
use crate::SourceError;
use crate::ahead::ahead;
use crate::billing::{BillFile, BillLimits};

mod coded;

/// Enough that what a batch costs by itself is little, few enough that a batch of a wide bill stays a few megabytes.
const BATCH_ROWS: usize = 8192;
/// Batches that wait to be looked at.
const BATCHES_AHEAD: usize = 2;
const MAGIC: &[u8; 4] = b"PAR1";
/// Largest footer read; that of a file with 400 columns and 10,000 row groups is far below.
const FOOTER_BYTES_MAX: u64 = 256 << 20;

/// Reads a file.
pub(in crate::billing) fn visit(
    file: &BillFile,
    mut open: File,
    limits: &BillLimits,
    visitor: &mut impl Visitor,
) -> Result<(), SourceError> {
    check_frame(file, &mut open)?;
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let read = guarded(file, || ArrowReaderMetadata::load(&open, options.clone()))?;
    check_declared(file, read.metadata(), limits)?;
    let coded = guarded(file, || coded::with_dictionaries(&read, options))?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(open, coded);
    let columns = columns(builder.schema().fields(), &|path| visitor.keeps_whole(path));
    let headers: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let Some(mut wanted) = visitor.header(file, &headers)? else { return Ok(()) };
    // A projection gives columns in file order, each once.
    wanted.sort_unstable();
    wanted.dedup_by_key(|w| w.column);
    let total_rows = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
    let wanted = Projection::of(&columns, &wanted);
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.roots.iter().copied());
    let width = headers.len();
    let decode = |give: SyncSender<Result<Batch, SourceError>>| {
        let mut reader =
            match guarded(file, || builder.with_projection(mask).with_batch_size(BATCH_ROWS).build()) {
                Ok(reader) => reader,
                Err(fault) => return give.send(Err(fault)).is_ok(),
            };
        let mut known = Dictionaries::default();
        while let Some(batch) = next_batch(file, (&mut reader, &mut known), (&wanted, width)).transpose() {
            let failed = batch.is_err();
            if give.send(batch).is_err() || failed {
                return false;
            }
        }
        true
    };
    let (_, shown) = ahead(BATCHES_AHEAD, decode, |batches| show(file, total_rows, &batches, visitor));
    shown
}

/// A column as a visitor sees it: one of the file's own, or a field inside of a structure.
struct Column {
    name: String,
    /// The column of the file, and the positions of the fields on the way down from it.
    root: usize,
    path: Vec<usize>,
}

/// The columns of a file, structures taken apart into their fields under dotted names.
fn columns(fields: &Fields, keeps_whole: &dyn Fn(&str) -> bool) -> Vec<Column> {
    let mut found = Vec::with_capacity(fields.len());
    for (root, field) in fields.iter().enumerate() {
        let column = Column { name: field.name().clone(), root, path: Vec::new() };
        add_columns(field.data_type(), column, keeps_whole, &mut found);
    }
    found
}

fn add_columns(kind: &DataType, column: Column, keeps_whole: &dyn Fn(&str) -> bool, found: &mut Vec<Column>) {
    let DataType::Struct(fields) = kind else { return found.push(column) };
    if column.path.len() >= DEPTH || keeps_whole(&column.name) {
        return found.push(column);
    }
    for (position, field) in fields.iter().enumerate() {
        let mut path = column.path.clone();
        path.push(position);
        let name = format!("{}.{}", column.name, field.name());
        add_columns(field.data_type(), Column { name, root: column.root, path }, keeps_whole, found);
    }
}

/// What is read of a file, and where in a batch each wanted column lies.
struct Projection<'a> {
    /// The columns of the file that are read, in order.
    roots: Vec<usize>,
    /// Each wanted column with the position of its root among those, and its way down.
    wanted: Vec<(Wanted, usize, &'a [usize])>,
}

impl<'a> Projection<'a> {
    fn of(columns: &'a [Column], wanted: &[Wanted]) -> Self {
        let known = |w: &Wanted| columns.get(w.column).map(|column| (*w, column));
        let mut roots: Vec<usize> = wanted.iter().filter_map(known).map(|(_, column)| column.root).collect();
        roots.sort_unstable();
        roots.dedup();
        let place = |(w, column): (Wanted, &'a Column)| {
            roots.binary_search(&column.root).ok().map(|at| (w, at, column.path.as_slice()))
        };
        let wanted = wanted.iter().filter_map(known).filter_map(place).collect();
        Self { roots, wanted }
    }
}

/// The array at the end of a way down through structures; a field of a missing structure is missing.
fn descend(root: &ArrayRef, path: &[usize]) -> Result<ArrayRef, ArrowError> {
    let mut array = Arc::clone(root);
    for position in path {
        let parent = array.as_struct().clone();
        let field = parent.columns().get(*position);
        let field = field.ok_or_else(|| ArrowError::SchemaError("a structure lacks a field".to_owned()))?;
        array = match parent.nulls() {
            Some(nulls) if nulls.null_count() > 0 => {
                let nulls = NullBuffer::union(Some(nulls), field.nulls());
                make_array(field.to_data().into_builder().nulls(nulls).build()?)
            }
            _ => Arc::clone(field),
        };
    }
    Ok(array)
}

/// A batch as columns by their position in the file.
struct Batch {
    columns: Vec<Typed>,
    rows: usize,
}

/// Decodes a batch.
fn next_batch(
    file: &BillFile,
    (reader, known): (&mut ParquetRecordBatchReader, &mut Dictionaries),
    (projection, width): (&Projection<'_>, usize),
) -> Result<Option<Batch>, SourceError> {
    let Some(batch) = guarded(file, || reader.next().transpose())? else { return Ok(None) };
    let mut columns: Vec<Typed> = (0..width).map(|_| Typed::Absent).collect();
    for (want, root, path) in &projection.wanted {
        let Some(root) = batch.columns().get(*root) else { continue };
        let array = descend(root, path).map_err(|fault| damaged(file, &fault))?;
        if array.logical_null_count() == array.len() {
            continue;
        }
        let typed = Typed::of(&array, known).map_err(|fault| damaged(file, &fault))?;
        if let Some(column) = columns.get_mut(want.column) {
            *column = match want.form {
                Form::Text => typed.into_text(),
                Form::AsIs => typed,
            };
        }
    }
    Ok(Some(Batch { columns, rows: batch.num_rows() }))
}

/// Shows the rows to a visitor.
fn show(
    file: &BillFile,
    total_rows: u64,
    batches: &Receiver<Result<Batch, SourceError>>,
    visitor: &mut impl Visitor,
) -> Result<(), SourceError> {
    let (mut row, mut next_progress) = (0_u64, PROGRESS_ROWS);
    for batch in batches {
        let Batch { columns, rows } = batch?;
        visitor.block(&|column| !matches!(columns.get(column), Some(Typed::Absent) | None));
        for start in (0..rows).step_by(RUN_ROWS) {
            let run = Columns::new(&columns, start..rows.min(start + RUN_ROWS));
            if visitor.run(row + 1, &run)? {
                row += run.len() as u64;
                continue;
            }
            for cells in run.each_row() {
                row += 1;
                visitor.row(row, &cells)?;
            }
        }
        if row >= next_progress {
            next_progress = row + PROGRESS_ROWS;
            let done = u128::from(file.bytes) * u128::from(row) / u128::from(total_rows.max(1));
            visitor.progress(row, u64::try_from(done).unwrap_or(file.bytes).min(file.bytes));
        }
    }
    visitor.progress(row, file.bytes);
    Ok(())
}

/// Checks the marks at both ends before anything is parsed.
fn check_frame(file: &BillFile, open: &mut File) -> Result<(), SourceError> {
    let truncated = || {
        SourceError::new("bill::truncated_parquet", "the Parquet file ends before its footer")
            .at(&file.name)
            .expected("`PAR1` at the end", format!("{} bytes without it", file.bytes))
            .help("fetch the file again; the copy is cut")
    };
    let length = open.seek(SeekFrom::End(0)).map_err(|fault| unreadable(file, &fault))?;
    if length < 12 {
        return Err(truncated());
    }
    let mut tail = [0_u8; 8];
    open.seek(SeekFrom::End(-8))
        .and_then(|_| open.read_exact(&mut tail))
        .map_err(|fault| unreadable(file, &fault))?;
    open.seek(SeekFrom::Start(0)).map_err(|fault| unreadable(file, &fault))?;
    let [a, b, c, d, magic @ ..] = tail;
    let footer = u64::from(u32::from_le_bytes([a, b, c, d]));
    if magic != *MAGIC {
        return Err(truncated());
    }
    if footer > FOOTER_BYTES_MAX || footer + 12 > length {
        return Err(SourceError::new(
            "bill::bad_parquet",
            "the Parquet footer declares an impossible length",
        )
        .at(&file.name)
        .expected(format!("at most {}", length - 12), footer.to_string()));
    }
    Ok(())
}

/// Refuses what no bill declares, before any of it is read.
fn check_declared(
    file: &BillFile,
    metadata: &ParquetMetaData,
    limits: &BillLimits,
) -> Result<(), SourceError> {
    let columns = metadata.file_metadata().schema_descr().num_columns();
    let too_large = |message: String| SourceError::new("bill::too_large", message).at(&file.name);
    if columns > limits.columns {
        return Err(too_large(format!("the file has {columns} columns, more than {}", limits.columns)));
    }
    check_places(file, metadata.row_groups())?;
    let sizes = metadata.row_groups().iter().flat_map(|group| group.columns());
    let unpacked =
        sizes.fold(0_u64, |sum, c| sum.saturating_add(u64::try_from(c.uncompressed_size()).unwrap_or(0)));
    // A dictionary makes a constant column of a billion rows small, so only what it unpacks to is held against it.
    let allowed = file.bytes.saturating_mul(limits.unpack_ratio).max(limits.unpack_floor_bytes);
    if unpacked > allowed {
        return Err(too_large(format!(
            "the file unpacks to more than {} times its size",
            limits.unpack_ratio
        )));
    }
    Ok(())
}

/// Refuses row groups and columns that lie outside the file, before anything is read from where they point.
fn check_places(file: &BillFile, groups: &[RowGroupMetaData]) -> Result<(), SourceError> {
    for group in groups {
        let sound = group.num_rows() >= 0
            && group.columns().iter().all(|column| {
                let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
                let length = u64::try_from(column.compressed_size());
                let end =
                    u64::try_from(start).ok().zip(length.ok()).and_then(|(s, length)| s.checked_add(length));
                column.data_page_offset() >= 0
                    && column.uncompressed_size() >= 0
                    && column.num_values() >= 0
                    && end.is_some_and(|end| end <= file.bytes)
            });
        if !sound {
            return Err(damaged(file, &"its footer points outside the file"));
        }
    }
    Ok(())
}

/// Runs a step of the decoder. The decoder may panic on a footer or page that contradicts itself; a hostile file must
/// not end the program, so such a panic is a fault of the file.
fn guarded<T, E: std::fmt::Display>(
    file: &BillFile,
    step: impl FnOnce() -> Result<T, E>,
) -> Result<T, SourceError> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(step)) {
        Ok(outcome) => outcome.map_err(|fault| damaged(file, &fault)),
        Err(_) => Err(damaged(file, &"it contradicts itself")),
    }
}

fn damaged(file: &BillFile, fault: &impl std::fmt::Display) -> SourceError {
    SourceError::new("bill::bad_parquet", format!("the Parquet file is damaged: {fault}"))
        .at(&file.name)
        .help("fetch the file again")
}
