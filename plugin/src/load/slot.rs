//! Memory that a plug-in fills: a struct of the API with extra space after it.
//!
//! A plug-in compiled with a longer struct may write more than this core knows, although it must
//! not. The extra space receives that. The struct is read only up to the size that the plug-in
//! stated. The exception is descriptions of memory, which some plug-ins return without a size: they
//! are read as a whole ([`Slot::whole`]).

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::sync::Arc;

use crate::abi::Zeroed;

/// The extra space after the struct, in bytes.
const SLACK: usize = 512;

#[repr(C)]
struct Memory<T> {
    value: T,
    slack: [u64; SLACK / 8],
}

/// A struct that a plug-in fills, at a fixed address. Clones share it.
pub(crate) struct Slot<T>(Arc<UnsafeCell<Memory<T>>>);

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

// SAFETY: the structs contain numbers, pointers and functions, and are only read by copying. The
// API requires plug-ins to fill them before anybody else reads them.
unsafe impl<T> Send for Slot<T> {}
// SAFETY: the structs are only read by copying, after the plug-in has filled them.
unsafe impl<T> Sync for Slot<T> {}

impl<T: Zeroed> Slot<T> {
    /// Creates a zeroed struct with this size in its first member.
    pub(crate) fn new(struct_size: usize) -> Self {
        let slot = Self(Arc::new(UnsafeCell::new(Memory { value: T::zeroed(), slack: [0; SLACK / 8] })));
        // SAFETY: every struct of the API begins with its size, and nobody else knows this one yet.
        unsafe { slot.pointer().cast::<usize>().write(struct_size) };
        slot
    }

    /// Returns the pointer to pass to the plug-in.
    pub(crate) fn pointer(&self) -> *mut T {
        self.0.get().cast()
    }

    /// Returns the whole struct, regardless of the stated size. Members that the plug-in did not
    /// set are zero.
    pub(crate) fn whole(&self) -> T {
        // SAFETY: all of this memory is initialized, and any member of the API's structs may be
        // zero.
        unsafe { self.pointer().read() }
    }

    /// Returns the size that the plug-in stated, and the struct up to that size; the rest is zero.
    pub(crate) fn known(&self) -> (usize, T) {
        // SAFETY: the pointer is to this value's memory, which is longer than `T`.
        unsafe { known(self.pointer()) }
    }
}

/// Returns the size that a plug-in stated, and the struct up to that size; the rest is zero.
///
/// # Safety
/// `from` points to a struct of the API that is as long as it states, or at least as long as `T`.
pub(crate) unsafe fn known<T: Zeroed>(from: *const T) -> (usize, T) {
    // SAFETY: the caller promises a struct of the API, which begins with its size.
    let size = unsafe { from.cast::<usize>().read() };
    let mut value = T::zeroed();
    // A size that ends within a pointer or function does not include that member.
    let bytes = (size - size % align_of::<usize>()).min(size_of::<T>());
    // SAFETY: the caller promises this many bytes, and any member of the API's structs may be zero.
    unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), (&raw mut value).cast(), bytes) };
    (size, value)
}

/// Returns a flag at the end of a struct, or false if the stated size does not include it.
///
/// # Safety
/// The requirements of [`known`] hold.
pub(crate) unsafe fn flag<T>(from: *const T, offset: usize, size: usize) -> bool {
    // SAFETY: the offset is within the bytes that the caller promises.
    size > offset && unsafe { from.cast::<u8>().add(offset).read() } != 0
}

/// Checks that a struct is long enough and that its reserved member is null.
pub(crate) fn check(name: &str, size: usize, least: usize, reserved: *mut c_void) -> Result<(), String> {
    if size < least {
        return Err(format!("{name}.struct_size is {size}; at least {least} is required"));
    }
    if !reserved.is_null() {
        return Err(format!("{name}.ext is not null"));
    }
    Ok(())
}
