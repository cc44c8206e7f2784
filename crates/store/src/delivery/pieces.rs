//! Cuts batches of any size into pieces of one size, so that the bytes of a table depend on its rows alone.

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::error::ArrowError;

/// Rows of a piece. A table writer ends its pages where a batch ends, so every batch but the last has this length.
pub(crate) const PIECE_ROWS: usize = 8192;

/// Rows that do not yet make a piece.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    pending: Vec<RecordBatch>,
    rows: usize,
}

impl Pieces {
    /// Takes a batch and gives the pieces that are now whole; those inside the batch are not copied.
    pub(crate) fn push(&mut self, batch: &RecordBatch) -> Result<Vec<RecordBatch>, ArrowError> {
        let mut whole = Vec::with_capacity(batch.num_rows() / PIECE_ROWS + 1);
        let mut offset = 0;
        while offset < batch.num_rows() {
            let length = (PIECE_ROWS - self.rows).min(batch.num_rows() - offset);
            self.pending.push(batch.slice(offset, length));
            self.rows += length;
            offset += length;
            if self.rows == PIECE_ROWS {
                whole.extend(self.take()?);
            }
        }
        Ok(whole)
    }

    /// The rows that are left, if any.
    pub(crate) fn take(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let pending = std::mem::take(&mut self.pending);
        self.rows = 0;
        match pending.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(only.clone())),
            [first, ..] => concat_batches(&first.schema(), &pending).map(Some),
        }
    }
}
