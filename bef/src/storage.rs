//! The bytes of a file, aligned so that records and attributes can be read in place.

use std::sync::Arc;

use crate::table::MAX_ALIGNMENT;

/// An owner of the bytes of a file, such as a `Vec<u8>` or a memory map.
///
/// `as_ref` must return the same unchanged bytes as long as the value lives. Otherwise the bytes
/// that are read differ from those that were verified, but this crate stays sound.
pub trait Storage: AsRef<[u8]> + Send + Sync + 'static {}

impl<T: AsRef<[u8]> + Send + Sync + 'static> Storage for T {}

/// Shared bytes that start at a multiple of [`MAX_ALIGNMENT`].
#[derive(Clone)]
pub(crate) enum AlignedBytes {
    Foreign(Arc<dyn Storage>),
    Copied { words: Arc<[u64]>, len: usize },
}

impl AlignedBytes {
    /// Shares the storage if it is aligned, and copies it otherwise.
    pub(crate) fn new(storage: impl Storage) -> Self {
        // Moved before its address is checked: storage that holds its bytes inline moves them too.
        let storage: Arc<dyn Storage> = Arc::new(storage);
        let bytes = (*storage).as_ref();
        if bytes.as_ptr().addr().is_multiple_of(MAX_ALIGNMENT) {
            return Self::Foreign(storage);
        }
        let mut words = vec![0_u64; bytes.len().div_ceil(size_of::<u64>())];
        bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Self::Copied { len: bytes.len(), words: words.into() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Foreign(storage) => (**storage).as_ref(),
            Self::Copied { words, len } => bytemuck::cast_slice::<u64, u8>(words).get(..*len).unwrap_or(&[]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misaligned_storage_is_copied() {
        struct Shifted(Vec<u8>, usize);
        impl AsRef<[u8]> for Shifted {
            fn as_ref(&self) -> &[u8] {
                &self.0[self.1..]
            }
        }
        for shift in 0..MAX_ALIGNMENT {
            let data: Vec<u8> = (0..100).collect();
            let aligned = AlignedBytes::new(Shifted(data.clone(), shift));
            assert_eq!(aligned.bytes(), &data[shift..]);
            assert!(aligned.bytes().as_ptr().addr().is_multiple_of(MAX_ALIGNMENT));
        }
    }
}
