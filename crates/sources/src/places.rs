//! Finds text among the values already seen: what a look-up of every cell of a bill has to be fast at.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

/// Where the keys of values are found by the values' hash: open addressing, at most half full.
#[derive(Debug, Default)]
pub struct Places {
    /// A hash and a key; a negative key is a free place. As many as a power of two.
    slots: Vec<(u32, i32)>,
    used: usize,
}

const FREE: (u32, i32) = (0, -1);

impl Places {
    /// The key whose value `is` the one of this hash.
    #[inline]
    pub fn find(&self, hash: u32, is: impl Fn(i32) -> bool) -> Option<i32> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        loop {
            let (known, key) = self.slots.get(at).copied().unwrap_or(FREE);
            if key < 0 {
                return None;
            }
            if known == hash && is(key) {
                return Some(key);
            }
            at = (at + 1) & mask;
        }
    }

    /// The first key of this hash, if there is one; its value is most likely, but not surely, the one looked for. To ask
    /// for several and only then look at their values lets the memory answer for all of them at once.
    #[inline]
    pub fn likely(&self, hash: u32) -> Option<i32> {
        self.find(hash, |_| true)
    }

    /// Adds a key that is not negative and whose value is not here yet.
    pub fn add(&mut self, hash: u32, key: i32) {
        if self.used * 2 >= self.slots.len() {
            let larger = vec![FREE; (self.slots.len() * 4).max(64)];
            let known = std::mem::replace(&mut self.slots, larger);
            known.into_iter().filter(|slot| slot.1 >= 0).for_each(|(hash, key)| self.place(hash, key));
        }
        self.place(hash, key);
        self.used += 1;
    }

    /// Forgets every key.
    pub fn clear(&mut self) {
        self.slots.fill(FREE);
        self.used = 0;
    }

    fn place(&mut self, hash: u32, key: i32) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(slot) = self.slots.get_mut(at) {
            if slot.1 < 0 {
                *slot = (hash, key);
                return;
            }
            at = (at + 1) & mask;
        }
    }
}

/// Differs from run to run, so that no file can be made whose values all fall on one place.
static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());

const MIX: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];

/// A hash of short texts: sixteen bytes a step, each step the folded product of two words.
pub fn hash(text: &[u8]) -> u32 {
    let mut state = *SEED ^ text.len() as u64;
    let mut rest = text;
    while let Some((head, tail)) = rest.split_first_chunk::<16>() {
        if tail.is_empty() {
            break;
        }
        state = step(state, *head);
        rest = tail;
    }
    // The last sixteen bytes, which may overlap the step before; a shorter text is filled up.
    let last = text.last_chunk::<16>().copied().unwrap_or_else(|| {
        let mut short = [0; 16];
        short.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
        short
    });
    half(step(state, last))
}

/// A hash of a few numbers.
#[inline]
pub(crate) fn hash_numbers(numbers: &[u64]) -> u32 {
    let mut state = *SEED ^ numbers.len() as u64;
    for pair in numbers.chunks(2) {
        let (first, second) = (pair.first().copied().unwrap_or(0), pair.get(1).copied().unwrap_or(0));
        state = fold(first ^ MIX[0] ^ state, second ^ MIX[1]);
    }
    half(state)
}

/// The halves are as good as the whole, and half is as much as a batch needs.
fn half(mixed: u64) -> u32 {
    u32::try_from((mixed ^ (mixed >> 32)) & 0xffff_ffff).unwrap_or(0)
}

fn step(state: u64, bytes: [u8; 16]) -> u64 {
    let whole = u128::from_le_bytes(bytes);
    let (low, high) = (low_half(whole), low_half(whole >> 64));
    fold(low ^ MIX[0] ^ state, high ^ MIX[1])
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    low_half(product) ^ low_half(product >> 64)
}

fn low_half(value: u128) -> u64 {
    u64::try_from(value & u128::from(u64::MAX)).unwrap_or(0)
}

/// Equality without a call for the short texts of bills.
pub fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if let (Some(a_head), Some(b_head)) = (a.first_chunk::<8>(), b.first_chunk::<8>())
        && a.len() <= 16
    {
        // Head and tail overlap where there are fewer than sixteen.
        return a_head == b_head && a.last_chunk::<8>() == b.last_chunk::<8>();
    }
    if a.len() < 8 {
        return a.iter().zip(b).all(|(a, b)| a == b);
    }
    a == b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_depends_on_every_byte() {
        for length in 0..40 {
            let text = vec![b'a'; length];
            assert!(same(&text, &text.clone()) && !same(&text, &vec![b'a'; length + 1]));
            for at in 0..length {
                let mut other = text.clone();
                other[at] = b'b';
                assert!(!same(&text, &other), "byte {at} of {length}");
            }
        }
    }

    #[test]
    fn a_hash_depends_on_every_byte() {
        for length in [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100] {
            let text = vec![b'a'; length];
            let mut seen = std::collections::BTreeSet::from([hash(&text)]);
            for at in 0..length {
                let mut other = text.clone();
                other[at] = b'b';
                seen.insert(hash(&other));
            }
            assert_eq!(seen.len(), length + 1, "for {length} bytes");
        }
    }
}
