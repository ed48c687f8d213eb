//! Bytes that attributes share: owned, or a range of something larger such as a mapped file.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Of longer bytes, only this many at either end and a few samples in between enter the hash.
const MAX_HASHED_END_BYTES: usize = 128;
/// The number of bytes between the ends that enter the hash.
const HASHED_SAMPLE_COUNT: usize = 16;

/// A shared sequence of immutable bytes. A clone shares the storage.
///
/// Comparison looks at addresses first, then at bytes. The hash of a long sequence covers its
/// length, its ends and some bytes in between, so that a table of large constants does not read all
/// of them.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_ir::{Attribute, DenseElements, SharedBytes, Type};
///
/// let file: Arc<Vec<u8>> = Arc::new(vec![0; 64]); // or a mapped file
/// let weights = SharedBytes::from_owner(file, 16..48).expect("the file is longer");
/// let dense = DenseElements::shared(Type::tensor(&[2, 4], Type::F32), weights)?;
/// assert_eq!(dense.to_bytes().map(|bytes| bytes.len()), Some(32));
/// # let _ = Attribute::Dense(dense.into());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone)]
pub struct SharedBytes {
    storage: Storage,
}

#[derive(Clone)]
enum Storage {
    Whole(Arc<[u8]>),
    Part { owner: Arc<dyn AsRef<[u8]> + Send + Sync>, range: Range<usize> },
}

impl SharedBytes {
    /// Returns a range of the bytes of `owner`, which lives as long as the range is in use. Returns
    /// `None` if the owner has fewer bytes.
    pub fn from_owner(owner: Arc<dyn AsRef<[u8]> + Send + Sync>, range: Range<usize>) -> Option<SharedBytes> {
        (*owner).as_ref().get(range.clone())?;
        Some(SharedBytes { storage: Storage::Part { owner, range } })
    }

    /// Returns part of these bytes without copying them, or `None` if it is out of bounds.
    pub fn slice(&self, range: Range<usize>) -> Option<SharedBytes> {
        self.get(range.clone())?;
        match &self.storage {
            Storage::Whole(bytes) => SharedBytes::from_owner(Arc::new(Arc::clone(bytes)), range),
            Storage::Part { owner, range: outer } => {
                let range = outer.start + range.start..outer.start + range.end;
                SharedBytes::from_owner(Arc::clone(owner), range)
            }
        }
    }
}

impl Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.storage {
            Storage::Whole(bytes) => bytes,
            // If an owner's bytes change in number, the result is empty instead of a panic.
            Storage::Part { owner, range } => (**owner).as_ref().get(range.clone()).unwrap_or_default(),
        }
    }
}

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<&[u8]> for SharedBytes {
    fn from(bytes: &[u8]) -> SharedBytes {
        SharedBytes { storage: Storage::Whole(bytes.into()) }
    }
}

impl From<Vec<u8>> for SharedBytes {
    fn from(bytes: Vec<u8>) -> SharedBytes {
        SharedBytes { storage: Storage::Whole(bytes.into()) }
    }
}

impl PartialEq for SharedBytes {
    fn eq(&self, other: &SharedBytes) -> bool {
        std::ptr::eq::<[u8]>(&**self, &**other) || **self == **other
    }
}

impl Eq for SharedBytes {}

impl Hash for SharedBytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let bytes: &[u8] = self;
        bytes.len().hash(state);
        if bytes.len() <= 2 * MAX_HASHED_END_BYTES + HASHED_SAMPLE_COUNT {
            state.write(bytes);
            return;
        }
        let (front, rest) = bytes.split_at(MAX_HASHED_END_BYTES);
        let (middle, back) = rest.split_at(rest.len() - MAX_HASHED_END_BYTES);
        state.write(front);
        state.write(back);
        for &byte in middle.iter().step_by(middle.len().div_ceil(HASHED_SAMPLE_COUNT)) {
            state.write_u8(byte);
        }
    }
}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedBytes({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, RandomState};

    use super::*;

    #[test]
    fn parts_equal_copies_and_keep_their_owner() {
        let owner: Arc<Vec<u8>> = Arc::new((0..=255).cycle().take(4096).collect());
        let part = SharedBytes::from_owner(owner.clone(), 1000..3000).unwrap();
        let copy = SharedBytes::from(&owner[1000..3000]);
        let hasher = RandomState::new();
        assert_eq!(part, copy);
        assert_eq!(hasher.hash_one(&part), hasher.hash_one(&copy));
        assert_eq!(part.as_ptr(), owner[1000..].as_ptr(), "nothing was copied");
        let inner = part.slice(10..20).unwrap();
        assert_eq!((&*inner, inner.as_ptr()), (&owner[1010..1020], owner[1010..].as_ptr()));
        assert_eq!(copy.slice(10..20).unwrap(), inner);
        assert_ne!(part, part.slice(0..1999).unwrap());
        assert!(part.slice(0..2001).is_none());
        assert!(SharedBytes::from_owner(owner, 4000..4097).is_none());
    }

    #[test]
    fn a_byte_in_the_middle_makes_a_difference() {
        let bytes = vec![0; 100_000];
        let mut other = bytes.clone();
        other[50_001] = 1;
        assert_ne!(SharedBytes::from(bytes), SharedBytes::from(other));
    }
}
