//! A fast hash for tables whose names come from the program and not from its input: short names
//! take a few instructions.
//!
//! The hash is not keyed. It must not be used for names that come from a text, because an adversary
//! could make them collide.

use std::hash::{BuildHasherDefault, Hasher};

/// Builds [`NameHasher`]s.
pub(crate) type BuildNameHasher = BuildHasherDefault<NameHasher>;

/// Hashes by multiplying and rotating eight bytes at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NameHasher(u64);

impl NameHasher {
    fn add(&mut self, word: u64) {
        // An odd number without a pattern: the fraction of the golden ratio.
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for &word in words {
            self.add(u64::from_le_bytes(word));
        }
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.add(byte.into());
    }

    fn finish(&self) -> u64 {
        // Tables use the low bits, which depend on few bits of the words.
        self.0 ^ self.0 >> 32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn similar_names_spread() {
        let hasher = BuildNameHasher::default();
        let names = (0..4096).map(|number| format!("tfrt_test.kernel{number}.f32"));
        let buckets: HashSet<u64> = names.map(|name| hasher.hash_one(name.as_str()) % 4096).collect();
        // Random numbers would fill 63 % of the buckets.
        assert!(buckets.len() > 2200, "{}", buckets.len());
    }
}
