//! Structs of the core's, filled as far as they reach.

/// A struct's size, which is its first member.
///
/// # Safety
/// `to` is a struct of the API.
pub(crate) unsafe fn size_of_core<T>(to: *const T) -> usize {
    // SAFETY: it begins with its size.
    unsafe { to.cast::<usize>().read() }
}

/// Writes a struct into a core's, as much as both have, and says how much that is. `size` is ours.
///
/// # Safety
/// `to` is a struct of the API that is as long as it says.
pub(crate) unsafe fn fill<T>(to: *mut T, value: &T, size: usize) {
    // SAFETY: it is as long as it says; `value` is as long as its type.
    unsafe {
        let both = size_of_core(to).min(size).min(size_of::<T>());
        std::ptr::copy_nonoverlapping(std::ptr::from_ref(value).cast::<u8>(), to.cast::<u8>(), both);
        to.cast::<usize>().write(both);
    }
}
