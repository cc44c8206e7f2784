//! The values of a column of which many rows may have none.

use arrow::array::BooleanBufferBuilder;
use arrow::buffer::NullBuffer;

/// A column that grows row by row. Rows without a value cost nothing until the next one with a value.
#[derive(Debug, Default)]
pub(super) struct Sparse<T> {
    values: Vec<T>,
    /// Rows without a value, before the last one with a value.
    gaps: Vec<Gap>,
}

#[derive(Debug, Clone, Copy)]
struct Gap {
    start: usize,
    end: usize,
}

impl<T: Copy + Default> Sparse<T> {
    /// Gives the row of this number, from 0 and rising, a value.
    #[inline]
    pub(super) fn set(&mut self, row: usize, value: T) {
        self.fill(row);
        self.values.push(value);
    }

    /// Gives the rows from this number on the same value.
    pub(super) fn set_all(&mut self, row: usize, rows: usize, value: T) {
        self.fill(row);
        self.values.resize(row + rows, value);
    }

    /// Gives the rows from this number on a value each.
    pub(super) fn set_each(&mut self, row: usize, values: &[T]) {
        self.fill(row);
        self.values.extend_from_slice(values);
    }

    /// True if no row has a value.
    pub(super) const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Changes every value that is there.
    ///
    /// # Errors
    /// What `change` returns.
    pub(super) fn try_change<E>(&mut self, mut change: impl FnMut(&mut T) -> Result<(), E>) -> Result<(), E> {
        let mut start = 0;
        let ends = self.gaps.iter().map(|gap| (gap.start, gap.end));
        for (end, next) in ends.chain([(self.values.len(), 0)]) {
            self.values.get_mut(start..end).into_iter().flatten().try_for_each(&mut change)?;
            start = next;
        }
        Ok(())
    }

    /// The values of so many rows, and which of them are there; a new column begins.
    pub(super) fn finish(&mut self, rows: usize) -> (Vec<T>, Option<NullBuffer>) {
        self.fill(rows);
        let values = std::mem::take(&mut self.values);
        if self.gaps.is_empty() {
            return (values, None);
        }
        let mut valid = BooleanBufferBuilder::new(rows);
        for gap in self.gaps.drain(..) {
            valid.append_n(gap.start - valid.len(), true);
            valid.append_n(gap.end - gap.start, false);
        }
        valid.append_n(rows - valid.len(), true);
        (values, Some(NullBuffer::new(valid.finish())))
    }

    #[inline]
    fn fill(&mut self, rows: usize) {
        if self.values.len() < rows {
            self.gaps.push(Gap { start: self.values.len(), end: rows });
            self.values.resize(rows, T::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_values_that_are_there_are_changed() {
        let mut column = Sparse::default();
        column.set_all(1, 2, 5);
        column.set_each(4, &[6, 7]);
        column
            .try_change(|value| {
                *value += 1;
                Ok::<(), ()>(())
            })
            .unwrap();
        let (values, nulls) = column.finish(8);
        assert_eq!(values, [0, 6, 6, 0, 7, 8, 0, 0]);
        assert_eq!(
            nulls.unwrap().iter().collect::<Vec<_>>(),
            [false, true, true, false, true, true, false, false]
        );
    }

    proptest! {
        #[test]
        fn what_was_set_is_there_and_nothing_else(rows in proptest::collection::vec(proptest::option::of(1_i32..9), 0..200)) {
            let mut column = Sparse::default();
            rows.iter().enumerate().for_each(|(row, value)| value.iter().for_each(|value| column.set(row, *value)));
            let (values, nulls) = column.finish(rows.len());
            let found: Vec<Option<i32>> = values
                .iter()
                .enumerate()
                .map(|(row, value)| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)).then_some(*value))
                .collect();
            prop_assert_eq!(found, rows);
        }
    }
}
