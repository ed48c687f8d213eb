//! [`PlannedMemory`]: the memory of an op in a program whose memory was planned when it was compiled.
//!
//! A device implementation asks for the memory of its results, for scratch memory and for copies of
//! small host tensors. For given arguments it always makes the same requests in the same order. A
//! [`Trial`](super::Trial) notes them, the compiler plans their places, and the program repeats the
//! places as text: `result 0`, `scratch 256 1024` or `kept 0 64`, the last two with an offset and a
//! size in bytes.

use std::{cell::Cell, fmt, str::FromStr};

use tfrt_device::front::DeviceBuffer;
use tfrt_host::Diagnostic;

/// Where the memory of one request lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the memory of the result with this number.
    Result(usize),
    /// In scratch memory, which the op may overwrite at each call.
    Scratch {
        /// The first byte.
        offset: u64,
        /// The size.
        bytes: u64,
    },
    /// In memory that nothing else uses. It holds a copy of a host tensor, which the first call
    /// makes.
    Kept {
        /// The first byte.
        offset: u64,
        /// The size.
        bytes: u64,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Result(index) => write!(f, "result {index}"),
            Self::Scratch { offset, bytes } => write!(f, "scratch {offset} {bytes}"),
            Self::Kept { offset, bytes } => write!(f, "kept {offset} {bytes}"),
        }
    }
}

impl FromStr for Place {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self, Diagnostic> {
        let bad = || Diagnostic::invalid_argument(format!("'{text}' is not a place in memory"));
        let mut words = text.split_whitespace();
        let kind = words.next().ok_or_else(bad)?;
        let numbers = words.map(|word| word.parse::<u64>().map_err(|_| bad()));
        let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
        match (kind, &numbers[..]) {
            ("result", &[index]) => Ok(Self::Result(usize::try_from(index).map_err(|_| bad())?)),
            ("scratch", &[offset, bytes]) => Ok(Self::Scratch { offset, bytes }),
            ("kept", &[offset, bytes]) => Ok(Self::Kept { offset, bytes }),
            _ => Err(bad()),
        }
    }
}

/// The memory that a call of an op may use, instead of an allocator's.
pub(crate) struct PlannedMemory<'a> {
    pub(crate) places: &'a [Place],
    pub(crate) results: &'a [DeviceBuffer],
    pub(crate) scratch: Option<&'a DeviceBuffer>,
    pub(crate) kept: Option<&'a DeviceBuffer>,
    /// Whether host tensors are copied now, rather than at an earlier call.
    pub(crate) copies: bool,
    next: Cell<usize>,
}

impl<'a> PlannedMemory<'a> {
    /// Makes the memory of one call.
    pub(crate) fn new(
        places: &'a [Place],
        results: &'a [DeviceBuffer],
        [scratch, kept]: [Option<&'a DeviceBuffer>; 2],
        copies: bool,
    ) -> Self {
        Self { places, results, scratch, kept, copies, next: Cell::new(0) }
    }

    /// Returns the memory of the next request.
    ///
    /// # Errors
    /// FailedPrecondition if the program was compiled for other requests.
    pub(crate) fn take(&self, bytes: u64) -> Result<DeviceBuffer, Diagnostic> {
        let number = self.next.replace(self.next.get() + 1);
        let other = || {
            let message = format!(
                "the program plans other memory for this op: request {number} is for {bytes} bytes, and its place is {}",
                self.places.get(number).map_or_else(|| "missing".to_owned(), Place::to_string)
            );
            Diagnostic::new(tfrt_host::ErrorCode::FailedPrecondition, message)
        };
        let (whole, offset) = match *self.places.get(number).ok_or_else(other)? {
            Place::Result(index) => (self.results.get(index), 0),
            Place::Scratch { offset, bytes: planned } if planned == bytes => (self.scratch, offset),
            Place::Kept { offset, bytes: planned } if planned == bytes => (self.kept, offset),
            Place::Scratch { .. } | Place::Kept { .. } => return Err(other()),
        };
        let whole = whole.ok_or_else(other)?;
        if offset == 0 && whole.len() == bytes {
            return Ok(whole.clone());
        }
        Ok(whole.slice(offset, bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_are_written() {
        for place in
            [Place::Result(2), Place::Scratch { offset: 256, bytes: 7 }, Place::Kept { offset: 0, bytes: 64 }]
        {
            assert_eq!(place.to_string().parse::<Place>().unwrap(), place);
        }
        for text in ["", "result", "result 1 2", "scratch 1", "elsewhere 1 2", "kept -1 2"] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }
}
