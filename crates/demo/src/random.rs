//! A small deterministic stream of numbers, so that one seed always gives the same company.

/// `SplitMix64` (public domain, S. Vigna); streams of different labels do not disturb each other.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    state: u64,
}

impl Stream {
    /// The stream of a seed that belongs to a label.
    pub(crate) fn new(seed: u64, label: &str) -> Self {
        // FNV-1a, so that adding a label elsewhere changes nothing here.
        let hash = label.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut stream = Self { state: seed ^ hash };
        stream.next();
        stream
    }

    /// Sixty-four bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        let width = u64::from(high.saturating_sub(low)) + 1;
        let step = u32::try_from(self.next() % width).unwrap_or(0);
        low + step
    }

    /// The same as [`Stream::between`], as seconds or another signed count.
    pub(crate) fn span(&mut self, low: u32, high: u32) -> i64 {
        i64::from(self.between(low, high))
    }

    /// Sixteen hexadecimal digits that begin with zero, as in ids of instances and volumes.
    pub(crate) fn hex(&mut self) -> String {
        format!("0{:016x}", self.next())
    }

    /// `length` characters of `alphabet`.
    pub(crate) fn letters(&mut self, length: usize, alphabet: &[u8]) -> String {
        let size = u64::try_from(alphabet.len()).unwrap_or(1).max(1);
        let mut text = String::with_capacity(length);
        let mut bits = 0_u64;
        for position in 0..length {
            if position % 12 == 0 {
                bits = self.next();
            }
            let index = usize::try_from(bits % size).unwrap_or(0);
            text.push(alphabet.get(index).map_or('a', |byte| char::from(*byte)));
            bits /= size;
        }
        text
    }

    /// A UUID in its usual form.
    pub(crate) fn uuid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | ((low >> 50) & 0x3fff),
            low & 0xffff_ffff_ffff,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_a_function_of_seed_and_label() {
        let take = |seed, label| Stream::new(seed, label).uuid();
        assert_eq!(take(1, "a"), take(1, "a"));
        assert_ne!(take(1, "a"), take(1, "b"));
        assert_ne!(take(1, "a"), take(2, "a"));
        assert_eq!(take(1, "a").len(), 36);
    }
}
