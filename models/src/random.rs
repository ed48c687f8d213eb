//! Random numbers whose sequence is part of data sets and weights, and therefore must never change.

/// The increment of the generator for each number: 2⁶⁴ divided by the golden ratio.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The SplitMix64 generator (Steele, Lea and Flood, 2014).
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Creates a generator for one stream of a seed.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut mixed = Self(seed);
        Self(mixed.next() ^ stream.wrapping_mul(0xD1B5_4A32_D192_ED03))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Skips this many numbers.
    pub(crate) fn skip(&mut self, count: usize) {
        self.0 = self.0.wrapping_add(STEP.wrapping_mul(count as u64));
    }

    /// Returns a number in 0..1.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u32 << 24) as f32
    }

    /// Returns a number in -1..1 with a bell-shaped distribution: the mean of three numbers, with a
    /// standard deviation of a third.
    pub(crate) fn bell(&mut self) -> f32 {
        let bits = self.next();
        // Three fields of 21 bits from one draw.
        let field = |shift: u32| ((bits >> shift) & 0x1F_FFFF) as f32 / 1_048_576.0 - 1.0;
        (field(0) + field(21) + field(42)) / 3.0
    }

    /// Returns an integer below `bound`, which must be small compared with 2³².
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (((self.next() >> 32) * bound as u64) >> 32) as usize
    }
}
