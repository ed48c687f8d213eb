//! The MD5 digest (RFC 1321), with which long tensors print a fingerprint of their contents. Not
//! for security.

const BLOCK_SIZE: usize = 64;

/// Left rotations of the four rounds, each repeated four times.
const ROTATIONS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// A digest in the making.
pub(crate) struct Md5 {
    state: [u32; 4],
    block: [u8; BLOCK_SIZE],
    /// Bytes so far, modulo 2^64.
    length: u64,
    sines: [u32; 64],
}

impl Md5 {
    pub(crate) fn new() -> Self {
        Self {
            state: [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476],
            block: [0; BLOCK_SIZE],
            length: 0,
            sines: std::array::from_fn(|i| ((i as f64 + 1.0).sin().abs() * 4_294_967_296.0) as u32),
        }
    }

    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let filled = (self.length % BLOCK_SIZE as u64) as usize;
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK_SIZE - filled));
            self.block[filled..filled + now.len()].copy_from_slice(now);
            self.length = self.length.wrapping_add(now.len() as u64);
            if filled + now.len() == BLOCK_SIZE {
                self.compress();
            }
            bytes = later;
        }
    }

    /// The first eight bytes of the digest as a little-endian number.
    pub(crate) fn finish_low(mut self) -> u64 {
        let bits = self.length.wrapping_mul(8);
        self.update(&[0x80]);
        while self.length % BLOCK_SIZE as u64 != BLOCK_SIZE as u64 - 8 {
            self.update(&[0]);
        }
        self.update(&bits.to_le_bytes());
        u64::from(self.state[0]) | u64::from(self.state[1]) << 32
    }

    fn compress(&mut self) {
        let mut words = [0u32; 16];
        for (word, bytes) in words.iter_mut().zip(self.block.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        let [mut a, mut b, mut c, mut d] = self.state;
        for i in 0..64 {
            let (mixed, word) = match i / 16 {
                0 => ((b & c) | (!b & d), i),
                1 => ((d & b) | (!d & c), (5 * i + 1) % 16),
                2 => (b ^ c ^ d, (3 * i + 5) % 16),
                _ => (c ^ (b | !d), 7 * i % 16),
            };
            let sum = a.wrapping_add(mixed).wrapping_add(self.sines[i]).wrapping_add(words[word]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(ROTATIONS[i / 16][i % 4]));
        }
        for (state, value) in self.state.iter_mut().zip([a, b, c, d]) {
            *state = state.wrapping_add(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn low(bytes: &[u8]) -> u64 {
        let mut md5 = Md5::new();
        md5.update(bytes);
        md5.finish_low()
    }

    #[test]
    fn agrees_with_the_vectors_of_the_rfc() {
        for (text, digest) in [
            ("", 0xd41d8cd98f00b204u64),
            ("a", 0x0cc175b9c0f1b6a8),
            ("message digest", 0xf96b697d7cb7938d),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                0x57edf4a22be3c955,
            ),
        ] {
            assert_eq!(low(text.as_bytes()), digest.swap_bytes(), "{text:?}");
        }
    }

    #[test]
    fn pieces_do_not_matter() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
        let mut md5 = Md5::new();
        for piece in bytes.chunks(37) {
            md5.update(piece);
        }
        assert_eq!(md5.finish_low(), low(&bytes));
    }
}
