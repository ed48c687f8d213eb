//! Reading and writing the format's primitive values: bytes, variable-length integers and padding.

use crate::error::{At, BefError};
use crate::table::{PADDING, SectionId};

/// A position in the bytes of a section or file, which advances as values are read. Every read is
/// checked.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
    section: Option<SectionId>,
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(section: Option<SectionId>, bytes: &'a [u8], offset: usize) -> Self {
        Self { bytes, offset, section }
    }

    pub(crate) const fn at(&self) -> At {
        At(self.section, self.offset)
    }

    pub(crate) const fn offset(&self) -> usize {
        self.offset
    }

    pub(crate) const fn is_at_end(&self) -> bool {
        self.offset >= self.bytes.len()
    }

    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.offset)
    }

    pub(crate) fn byte(&mut self, what: &str) -> Result<u8, BefError> {
        let Some(&byte) = self.bytes.get(self.offset) else {
            return Err(self.at().malformed(format!("ends within {what}")));
        };
        self.offset += 1;
        Ok(byte)
    }

    /// Reads a variable-length integer: seven bits per byte, highest first. The top bit is set on
    /// all bytes but the last.
    pub(crate) fn integer(&mut self, what: &str) -> Result<u64, BefError> {
        let start = self.at();
        let mut value = 0_u64;
        loop {
            let byte = self.byte(what)?;
            if value >> (u64::BITS - 7) != 0 {
                return Err(start.malformed(format!("{what} does not fit in 64 bits")));
            }
            value = value << 7 | u64::from(byte & 0x7F);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
    }

    /// Reads a variable-length integer that must fit in 32 bits.
    pub(crate) fn integer32(&mut self, what: &str) -> Result<u32, BefError> {
        let start = self.at();
        let value = self.integer(what)?;
        u32::try_from(value)
            .map_err(|_| start.malformed(format!("{what} is {value}, which does not fit in 32 bits")))
    }

    /// Reads the number of following items, each of at least `bytes_each` bytes. A count that
    /// exceeds the remaining bytes is an error, so that callers can safely reserve memory for it.
    pub(crate) fn count(&mut self, what: &str, bytes_each: usize) -> Result<usize, BefError> {
        let start = self.at();
        let count = self.integer32(what)? as usize;
        if count.checked_mul(bytes_each).is_none_or(|bytes| bytes > self.remaining()) {
            return Err(
                start.out_of_bounds(format!("{what} is {count}, but only {} bytes follow", self.remaining()))
            );
        }
        Ok(count)
    }

    /// Reads `count` variable-length integers of 32 bits.
    pub(crate) fn integers(&mut self, count: usize, what: &str) -> Result<Vec<u32>, BefError> {
        (0..count).map(|_| self.integer32(what)).collect()
    }

    /// Advances until the offset plus `base` is a multiple of `alignment`.
    pub(crate) fn align(&mut self, base: usize, alignment: usize) -> Result<(), BefError> {
        let padding = (base + self.offset).next_multiple_of(alignment) - (base + self.offset);
        if padding > self.remaining() {
            return Err(self.at().malformed("ends within padding"));
        }
        self.offset += padding;
        Ok(())
    }

    /// Takes the next `len` bytes.
    pub(crate) fn take(&mut self, len: u64, what: &str) -> Result<&'a [u8], BefError> {
        let rest = self.bytes.get(self.offset..).unwrap_or(&[]);
        match usize::try_from(len).ok().and_then(|len| rest.get(..len)) {
            Some(taken) => {
                self.offset += taken.len();
                Ok(taken)
            }
            None => Err(self
                .at()
                .out_of_bounds(format!("{what} is {len} bytes long, but only {} follow", rest.len()))),
        }
    }

    /// Returns an error unless everything was read.
    pub(crate) fn finish(&self) -> Result<(), BefError> {
        if self.is_at_end() {
            Ok(())
        } else {
            Err(self.at().malformed(format!("{} unexpected bytes at the end", self.remaining())))
        }
    }
}

/// Appends a variable-length integer.
pub(crate) fn put_integer(out: &mut Vec<u8>, value: u64) {
    let groups = (u64::BITS - value.leading_zeros()).div_ceil(7).max(1);
    for group in (0..groups).rev() {
        let more = if group == 0 { 0 } else { 0x80 };
        out.push((value >> (7 * group) & 0x7F) as u8 | more);
    }
}

/// Appends padding up to a multiple of `alignment`.
pub(crate) fn put_alignment(out: &mut Vec<u8>, alignment: usize) {
    out.resize(out.len().next_multiple_of(alignment), PADDING);
}

/// Appends a little-endian 32-bit word.
pub(crate) fn put_word(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_round_trip() {
        let values = (0..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit]).chain([u64::MAX, 300, 0]);
        for value in values {
            let mut bytes = Vec::new();
            put_integer(&mut bytes, value);
            let mut cursor = Cursor::new(None, &bytes, 0);
            assert_eq!(cursor.integer("value").unwrap(), value);
            assert!(cursor.is_at_end());
        }
        let mut bytes = Vec::new();
        put_integer(&mut bytes, 300);
        assert_eq!(bytes, [0x82, 0x2C]);
    }

    #[test]
    fn overlong_integers_are_read_and_too_large_ones_refused() {
        assert_eq!(Cursor::new(None, &[0x80, 0x80, 0x05], 0).integer("value").unwrap(), 5);
        assert!(Cursor::new(None, &[0xFF; 10], 0).integer("value").is_err());
        assert!(Cursor::new(None, &[0x80], 0).integer("value").is_err());
        assert!(Cursor::new(None, &[0x90, 0x80, 0x80, 0x80, 0x00], 0).integer32("value").is_err());
    }

    #[test]
    fn counts_are_bounded_by_what_follows() {
        assert!(Cursor::new(None, &[3, 0, 0, 0], 0).count("count", 1).is_ok());
        assert!(Cursor::new(None, &[4, 0, 0, 0], 0).count("count", 1).is_err());
        assert!(Cursor::new(None, &[2, 0, 0, 0], 0).count("count", 2).is_err());
    }
}
