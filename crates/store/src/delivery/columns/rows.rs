//! The rows of a page before it is encoded: which have a value, and the places of the values in the dictionary.

use super::hybrid;

/// Rows of a page of a dictionary column. A value or a gap that repeats costs nothing a row.
#[derive(Debug, Default)]
pub(super) struct PageRows {
    present: Runs,
    rows: usize,
    nulls: usize,
    /// The value of all rows so far, if they have but one.
    same: u32,
    same_rows: usize,
    /// The values, once two differ.
    mixed: Vec<u32>,
}

/// Lengths of the runs of rows with and without value, in turn, those with a value first.
#[derive(Debug, Default)]
struct Runs(Vec<usize>);

impl PageRows {
    /// Rows so far.
    pub(super) const fn rows(&self) -> usize {
        self.rows
    }

    /// Rows without a value.
    pub(super) const fn nulls(&self) -> usize {
        self.nulls
    }

    /// Rows with a value.
    pub(super) const fn values(&self) -> usize {
        self.rows - self.nulls
    }

    /// Adds rows without a value.
    pub(super) fn add_nulls(&mut self, count: usize) {
        self.present.add(false, count);
        self.rows += count;
        self.nulls += count;
    }

    /// Adds rows with a value that is told elsewhere.
    pub(super) fn add_present(&mut self, count: usize) {
        self.present.add(true, count);
        self.rows += count;
    }

    /// Tells the value of so many rows that have been added as present.
    #[inline]
    pub(super) fn tell(&mut self, value: u32, count: usize) {
        if self.mixed.is_empty() {
            if self.same_rows == 0 || self.same == value {
                self.same = value;
                self.same_rows += count;
                return;
            }
            self.mixed.resize(self.same_rows, self.same);
        }
        if count == 1 {
            self.mixed.push(value);
        } else {
            self.mixed.extend(std::iter::repeat_n(value, count));
        }
    }

    /// Tells the values of rows that have been added as present.
    #[inline]
    pub(super) fn tell_each(&mut self, values: &[u32]) {
        if self.mixed.is_empty() {
            let Some(first) = values.first() else { return };
            let same = if self.same_rows == 0 { *first } else { self.same };
            if values.iter().all(|value| *value == same) {
                self.same = same;
                self.same_rows += values.len();
                return;
            }
            self.mixed.resize(self.same_rows, self.same);
        }
        self.mixed.extend_from_slice(values);
    }

    /// The values told, each with how often it stands there in a row.
    pub(super) fn told(&self) -> impl Iterator<Item = (u32, usize)> {
        let same = if self.mixed.is_empty() { self.same_rows } else { 0 };
        self.mixed.iter().map(|value| (*value, 1)).chain((same > 0).then_some((self.same, same)))
    }

    /// Appends which rows have a value, with the length before, as a data page begins.
    pub(super) fn put_levels(&self, out: &mut Vec<u8>, scratch: &mut Vec<u32>) {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        self.present.put(out, scratch);
        let length = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
        out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    }

    /// Appends the places in the dictionary, with their width before.
    pub(super) fn put_places(&self, out: &mut Vec<u8>) {
        let greatest =
            if self.mixed.is_empty() { self.same } else { self.mixed.iter().copied().max().unwrap_or(0) };
        let width = hybrid::width_of(greatest);
        out.extend_from_slice(&width.to_le_bytes()[..1]);
        if self.mixed.is_empty() {
            hybrid::put_run(out, self.same, self.same_rows, width);
        } else {
            hybrid::put(out, &self.mixed, width);
        }
    }

    /// No rows again.
    pub(super) fn clear(&mut self) {
        self.present.0.clear();
        (self.rows, self.nulls, self.same, self.same_rows) = (0, 0, 0, 0);
        self.mixed.clear();
    }
}

impl Runs {
    fn add(&mut self, present: bool, count: usize) {
        if count == 0 {
            return;
        }
        let last_is_present = self.0.len() % 2 == 1;
        match self.0.last_mut() {
            Some(last) if last_is_present == present => *last += count,
            None if !present => self.0.extend([0, count]),
            _ => self.0.push(count),
        }
    }

    fn put(&self, out: &mut Vec<u8>, scratch: &mut Vec<u32>) {
        match self.0.as_slice() {
            [] => {}
            [all] => hybrid::put_run(out, 1, *all, 1),
            [0, none] => hybrid::put_run(out, 0, *none, 1),
            runs => {
                scratch.clear();
                for pair in runs.chunks(2) {
                    scratch.extend(std::iter::repeat_n(1, pair[0]));
                    scratch.extend(std::iter::repeat_n(0, pair.get(1).copied().unwrap_or(0)));
                }
                hybrid::put(out, scratch, 1);
            }
        }
    }
}
