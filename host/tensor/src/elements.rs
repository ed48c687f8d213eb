//! [`Elements`] and [`ElementsMut`]: a buffer's bytes as a slice of one Rust type, held for one
//! kernel.
//!
//! They are made only by tensors, which check the buffer's length and alignment; this module checks
//! the bit patterns once and turns bytes into elements.
#![expect(unsafe_code, reason = "checked bytes become a slice of elements here")]

use std::any::Any;
use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use tfrt_host::host_buffer::{Access, HostBuffer, ReadGuard, WriteGuard};
use tfrt_host::{DType, Diagnostic};

use crate::accessor::Accessor;
use crate::element::Element;

/// Elements taken for reading, next to other readers; given back when dropped.
///
/// With `B = HostBuffer` it keeps the buffer alive itself and may move to another thread.
pub struct Elements<T, B: Borrow<HostBuffer>> {
    guard: ReadGuard<B>,
    marker: PhantomData<fn() -> T>,
}

/// Elements taken for writing, alone; given back when dropped.
///
/// With `B = HostBuffer` it keeps the buffer alive itself and may move to another thread.
pub struct ElementsMut<T, B: Borrow<HostBuffer>> {
    guard: WriteGuard<B>,
    marker: PhantomData<fn() -> T>,
}

/// Whether `bytes` are elements of type `T`, one after the other.
///
/// The unsafe code of this module rests on it: it tests length and alignment, and bit patterns
/// unless every one is a value ([`Element`] is sealed, and the claim is checked where it is made).
fn are_elements<T: Element>(bytes: &[u8]) -> bool {
    bytes.len().is_multiple_of(size_of::<T>())
        && (bytes.is_empty() || bytes.as_ptr().cast::<T>().is_aligned())
        && (T::ANY_BITS
            || bytes.is_empty()
            || T::DTYPE == DType::I1 && are_truth_values(bytes)
            || bytemuck::checked::try_cast_slice::<u8, T>(bytes).is_ok())
}

/// Whether each byte is a `bool`. Without a way out of the loop it takes whole vectors at a time.
fn are_truth_values(bytes: &[u8]) -> bool {
    bytes.iter().fold(0, |all, byte| all | byte) <= 1
}

#[cold]
fn not_elements<T: Element>() -> Diagnostic {
    Diagnostic::invalid_argument(format!("the buffer's bytes are not values of dtype {:?}", T::DTYPE))
}

impl<T: Element, B: Borrow<HostBuffer>> Elements<T, B> {
    pub(crate) fn new(guard: ReadGuard<B>) -> Result<Self, Diagnostic> {
        if !are_elements::<T>(&guard) {
            return Err(not_elements::<T>());
        }
        Ok(Self { guard, marker: PhantomData })
    }
}

impl<T: Element, B: Borrow<HostBuffer>> ElementsMut<T, B> {
    pub(crate) fn new(guard: WriteGuard<B>) -> Result<Self, Diagnostic> {
        if !are_elements::<T>(&guard) {
            return Err(not_elements::<T>());
        }
        Ok(Self { guard, marker: PhantomData })
    }
}

impl<T: Element, B: Borrow<HostBuffer>> Elements<T, B> {
    /// What `make` computes from all elements, kept with them until they change: see
    /// [`ReadGuard::derived`].
    ///
    /// # Errors
    /// Those of `make`.
    pub fn derived<D: Any + Send + Sync, E>(
        &self,
        fits: impl FnOnce(&D) -> bool,
        make: impl FnOnce(&[T]) -> Result<D, E>,
    ) -> Result<Arc<D>, E> {
        self.guard.derived(fits, || make(self))
    }
}

impl<T: Element, B: Borrow<HostBuffer>> Deref for Elements<T, B> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        let bytes: &[u8] = &self.guard;
        if bytes.is_empty() {
            return &[];
        }
        // SAFETY: `new` checked that these bytes are aligned, whole and valid elements, and the
        // guard has kept everybody from writing them since.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) }
    }
}

impl<T: Element, B: Borrow<HostBuffer>> Deref for ElementsMut<T, B> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        let bytes: &[u8] = &self.guard;
        if bytes.is_empty() {
            return &[];
        }
        // SAFETY: `new` checked that these bytes are aligned, whole and valid elements, and since
        // then only valid elements were written to them, through `deref_mut`.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) }
    }
}

impl<T: Element, B: Borrow<HostBuffer>> DerefMut for ElementsMut<T, B> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        let bytes: &mut [u8] = &mut self.guard;
        if bytes.is_empty() {
            return &mut [];
        }
        // SAFETY: as in `deref`; the bytes are borrowed mutably, and an `Element` has no padding,
        // so that whatever is written leaves every byte initialized.
        unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len() / size_of::<T>()) }
    }
}

impl<T: Element, B: Borrow<HostBuffer>> fmt::Debug for Elements<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: Element, B: Borrow<HostBuffer>> fmt::Debug for ElementsMut<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// Takes a whole buffer for reading.
#[inline]
pub(crate) fn read<'a>(
    buffer: &'a HostBuffer,
    accessor: &Accessor,
) -> Result<ReadGuard<&'a HostBuffer>, Diagnostic> {
    buffer.read(accessor.number()).map_err(|error| accessor.refused(error, Access::Read))
}

/// Takes a whole buffer for writing.
#[inline]
pub(crate) fn write<'a>(
    buffer: &'a HostBuffer,
    accessor: &Accessor,
) -> Result<WriteGuard<&'a HostBuffer>, Diagnostic> {
    buffer.write(accessor.number()).map_err(|error| accessor.refused(error, Access::Write))
}

/// As [`read`], with a guard that owns the buffer.
pub(crate) fn read_owned(
    buffer: &HostBuffer,
    accessor: &Accessor,
) -> Result<ReadGuard<HostBuffer>, Diagnostic> {
    buffer.read_owned(accessor.number()).map_err(|error| accessor.refused(error, Access::Read))
}

/// As [`write`], with a guard that owns the buffer.
pub(crate) fn write_owned(
    buffer: &HostBuffer,
    accessor: &Accessor,
) -> Result<WriteGuard<HostBuffer>, Diagnostic> {
    buffer.write_owned(accessor.number()).map_err(|error| accessor.refused(error, Access::Write))
}

#[cfg(test)]
mod tests {
    use tfrt_host::ErrorCode;

    use super::*;

    static READER: Accessor = Accessor::new("test.reader");
    static WRITER: Accessor = Accessor::new("test.writer");

    #[test]
    fn bytes_that_are_no_elements_are_refused() {
        let buffer = HostBuffer::from_vec(vec![1u8, 0, 2]);
        let guard = || read(&buffer, &READER).unwrap();
        assert!(Elements::<u16, _>::new(guard()).is_err(), "half an element too much");
        let error = Elements::<bool, _>::new(guard()).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidArgument);
        assert_eq!(error.message, "the buffer's bytes are not values of dtype I1");
        assert_eq!(*Elements::<u8, _>::new(guard()).unwrap(), [1, 0, 2]);
        assert!(ElementsMut::<bool, _>::new(write(&buffer, &WRITER).unwrap()).is_err());

        let words = HostBuffer::from_vec(vec![0u64; 2]);
        let odd = words.slice(1, 8).unwrap();
        assert!(Elements::<u64, _>::new(read(&odd, &READER).unwrap()).is_err(), "misaligned");
    }

    #[test]
    fn empty_buffers_are_empty_slices_of_anything() {
        let buffer = HostBuffer::from_vec(Vec::<u8>::new());
        assert!(Elements::<f64, _>::new(read(&buffer, &READER).unwrap()).unwrap().is_empty());
        assert!(ElementsMut::<bool, _>::new(write(&buffer, &WRITER).unwrap()).unwrap().is_empty());
    }

    #[test]
    fn owned_guards_travel_and_exclude() {
        let buffer = HostBuffer::from_vec(vec![1.0f32, 2.0]);
        let mut owned = ElementsMut::<f32, _>::new(write_owned(&buffer, &WRITER).unwrap()).unwrap();
        let error = read(&buffer, &READER).unwrap_err();
        assert_eq!(error.code, ErrorCode::DataRace);
        assert_eq!(
            error.message,
            "kernel 'test.reader' reads a tensor that kernel 'test.writer' is writing; no chain orders the two"
        );
        std::thread::spawn(move || owned[1] = 7.0).join().unwrap();
        assert_eq!(*Elements::<f32, _>::new(read_owned(&buffer, &READER).unwrap()).unwrap(), [1.0, 7.0]);
    }
}
