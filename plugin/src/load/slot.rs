//! Memory that a plug-in fills: a struct of the API with room behind it.
//!
//! A plug-in that was compiled with a longer struct may write more than this core knows of, even though it must not; the
//! room behind the struct takes that. What it says is read only as far as the size that it gave reaches; of memory, which some
//! give without a size, all is read ([`Slot::whole`]).

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::sync::Arc;

use crate::abi::Zeroed;

/// Bytes behind the struct.
const SLACK: usize = 512;

#[repr(C)]
struct Memory<T> {
    value: T,
    slack: [u64; SLACK / 8],
}

/// A struct that a plug-in fills, at a fixed address. Cloning shares it.
pub(crate) struct Slot<T>(Arc<UnsafeCell<Memory<T>>>);

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

// SAFETY: structs of numbers, pointers and functions, which are only read by copying; the API has plug-ins fill them
// before anybody else looks.
unsafe impl<T> Send for Slot<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Slot<T> {}

impl<T: Zeroed> Slot<T> {
    /// A zeroed struct that says how long it is.
    pub(crate) fn new(struct_size: usize) -> Self {
        let slot = Self(Arc::new(UnsafeCell::new(Memory { value: T::zeroed(), slack: [0; SLACK / 8] })));
        // SAFETY: every struct of the API begins with its size, and nobody else knows this one yet.
        unsafe { slot.pointer().cast::<usize>().write(struct_size) };
        slot
    }

    /// What the plug-in is given.
    pub(crate) fn pointer(&self) -> *mut T {
        self.0.get().cast()
    }

    /// All of the struct, whatever size the plug-in gave; what it did not set is zero.
    pub(crate) fn whole(&self) -> T {
        // SAFETY: this memory, all of which is set, and a struct of the API may have any of its members zero.
        unsafe { self.pointer().read() }
    }

    /// The size the plug-in gave, and as much of the struct as that covers; the rest is zero.
    pub(crate) fn known(&self) -> (usize, T) {
        // SAFETY: this memory.
        unsafe { known(self.pointer()) }
    }
}

/// The size a plug-in gave, and as much of the struct as that covers; the rest is zero.
///
/// # Safety
/// `from` points to a struct of the API that is as long as it says, or as `T` if it is longer.
pub(crate) unsafe fn known<T: Zeroed>(from: *const T) -> (usize, T) {
    // SAFETY: it begins with its size.
    let size = unsafe { from.cast::<usize>().read() };
    let mut value = T::zeroed();
    // A size that ends within a pointer or a function does not cover it.
    let bytes = (size - size % align_of::<usize>()).min(size_of::<T>());
    // SAFETY: the caller promises so many bytes, and a struct of the API may have any of its members zero.
    unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), (&raw mut value).cast(), bytes) };
    (size, value)
}

/// A flag at the end of a struct, false if the size the plug-in gave does not reach it.
///
/// # Safety
/// As for [`known`].
pub(crate) unsafe fn flag<T>(from: *const T, offset: usize, size: usize) -> bool {
    // SAFETY: within what the caller promises.
    size > offset && unsafe { from.cast::<u8>().add(offset).read() } != 0
}

/// That a struct is long enough and its reserved member is null.
pub(crate) fn check(name: &str, size: usize, least: usize, reserved: *mut c_void) -> Result<(), String> {
    if size < least {
        return Err(format!("{name}.struct_size is {size}; at least {least} is needed"));
    }
    if !reserved.is_null() {
        return Err(format!("{name}.ext is not null"));
    }
    Ok(())
}
