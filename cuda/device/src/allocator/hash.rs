//! A fast hash for keys that are small numbers or pointers: one multiplication.
//!
//! The keys come from the runtime, so nobody can choose them to collide.

use std::hash::Hasher;

/// 2^64 divided by the golden ratio, made odd.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Hashes by one multiplication; see the module documentation.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct MultiplyHasher(u64);

impl Hasher for MultiplyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(FACTOR);
        // The table uses both the high and the low bits.
        self.0 ^= self.0 >> 32;
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}
