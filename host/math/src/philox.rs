//! Philox 4×32-10, a counter-based random number generator.
//!
//! From Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3" (SC 2011). The
//! numbers at any position are computed without those before, so blocks of an output can be
//! computed in any order. Not suitable for cryptography.

/// A generator at a position: a key, and a counter of blocks of four numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Philox {
    key: [u32; 2],
    counter: u128,
}

impl Philox {
    /// The number of numbers in each block.
    pub const BLOCK: usize = 4;

    /// Returns the generator with this key, at this counter.
    pub fn new(key: u64, counter: u128) -> Self {
        Self { key: [key as u32, (key >> 32) as u32], counter }
    }

    /// Returns the key.
    pub fn key(&self) -> u64 {
        u64::from(self.key[0]) | u64::from(self.key[1]) << 32
    }

    /// Returns the counter.
    pub fn counter(&self) -> u128 {
        self.counter
    }

    /// Returns the four numbers `skip` blocks ahead.
    #[inline]
    pub fn block(&self, skip: u64) -> [u32; Self::BLOCK] {
        const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
        let counter = self.counter.wrapping_add(u128::from(skip));
        let mut x = [0, 32, 64, 96].map(|shift| (counter >> shift) as u32);
        let mut key = self.key;
        for _ in 0..10 {
            let (a, b) = (u64::from(x[0]) * 0xD251_1F53, u64::from(x[2]) * 0xCD9E_8D57);
            x = [(b >> 32) as u32 ^ x[1] ^ key[0], b as u32, (a >> 32) as u32 ^ x[3] ^ key[1], a as u32];
            key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        }
        x
    }
}

/// The distribution of random floating-point numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distribution {
    /// Uniform in `[0, 1)`.
    Uniform,
    /// Normal with mean 0 and deviation 1.
    Normal,
    /// Normal with mean 0 and deviation 1, without values that are 2 or more away from the mean.
    Truncated,
}

/// Random integers in `low .. low + range`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RandomIntegers {
    /// Of 32 bits.
    I32 {
        /// The least.
        low: i32,
        /// The number of different values.
        range: u32,
    },
    /// Of 64 bits.
    I64 {
        /// The least.
        low: i64,
        /// The number of different values.
        range: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers of the authors' Random123 library.
    #[test]
    fn published_numbers() {
        assert_eq!(Philox::new(0, 0).block(0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            Philox::new(u64::MAX, u128::MAX).block(0),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        let counter = 0x0370_7344_1319_8a2e_85a3_08d3_243f_6a88;
        assert_eq!(
            Philox::new(0x299f_31d0_a409_3822, counter).block(0),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
        assert_eq!(Philox::new(7, 5).block(3), Philox::new(7, 8).block(0));
        let generator = Philox::new(u64::MAX - 1, counter);
        assert_eq!((generator.key(), generator.counter()), (u64::MAX - 1, counter));
    }
}
