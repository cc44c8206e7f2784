//! Numbers that look random and are the same on every machine, for what a benchmark or a bill is made of.

/// A small generator (splitmix64); the number that it is made of is its seed.
#[derive(Debug, Clone, Copy)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The next number below a limit above zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.draw() % limit
    }
}
