//! Numbers the rows of a run so that rows which are alike in some columns have the same number, and what is judged by
//! those columns needs be judged once for each number.

use crate::places::hash_numbers;

/// Rows by number.
#[derive(Debug, Default)]
pub(in crate::billing) struct Alike {
    numbers: Vec<u32>,
    /// The first row of each number.
    firsts: Vec<usize>,
    slots: Vec<Slot>,
    age: u64,
}

/// The number that rows of this key have got; of another age, nothing.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    age: u64,
    key: u64,
    number: u32,
}

impl Alike {
    /// So many rows, none of which differs from another yet.
    pub(in crate::billing) fn begin(&mut self, rows: usize) {
        self.numbers.clear();
        self.numbers.resize(rows, 0);
        self.firsts.clear();
        self.firsts.extend((rows > 0).then_some(0));
        let slots = (rows * 2).next_power_of_two();
        if self.slots.len() < slots {
            self.slots = vec![Slot::default(); slots];
            self.age = 0;
        }
    }

    /// Tells rows apart by one code more.
    pub(in crate::billing) fn tell_apart(&mut self, codes: impl Iterator<Item = u32> + Clone) {
        let first = codes.clone().next();
        if codes.clone().all(|code| Some(code) == first) {
            return;
        }
        self.age += 1;
        self.firsts.clear();
        let mask = self.slots.len().saturating_sub(1);
        for (row, (number, code)) in self.numbers.iter_mut().zip(codes).enumerate() {
            let key = u64::from(*number) << 32 | u64::from(code);
            let mut at = hash_numbers(&[key]) as usize & mask;
            // There are more slots than rows, so a free one is met.
            while let Some(slot) = self.slots.get_mut(at) {
                if slot.age != self.age {
                    let next = u32::try_from(self.firsts.len()).unwrap_or(u32::MAX);
                    *slot = Slot { age: self.age, key, number: next };
                    self.firsts.push(row);
                }
                if slot.key == key {
                    *number = slot.number;
                    break;
                }
                at = (at + 1) & mask;
            }
        }
    }

    /// The number of each row.
    pub(in crate::billing) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// The first row of each number.
    pub(in crate::billing) fn firsts(&self) -> &[usize] {
        &self.firsts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_have_one_number_if_they_have_the_same_codes(
            runs in proptest::collection::vec(proptest::collection::vec([0_u32..4, 0_u32..3, 0_u32..2], 0..60), 1..4),
        ) {
            let mut alike = Alike::default();
            for rows in runs {
                alike.begin(rows.len());
                for column in 0..3 {
                    alike.tell_apart(rows.iter().map(|row| row[column]));
                }
                let mut seen: Vec<[u32; 3]> = Vec::new();
                for (row, codes) in rows.iter().enumerate() {
                    let number = alike.numbers()[row] as usize;
                    if number == seen.len() {
                        prop_assert_eq!(alike.firsts()[number], row);
                        seen.push(*codes);
                    }
                    prop_assert_eq!(&seen[number], codes);
                }
                prop_assert_eq!(alike.firsts().len(), seen.len());
                prop_assert!((1..seen.len()).all(|at| !seen[..at].contains(&seen[at])));
            }
        }
    }
}
