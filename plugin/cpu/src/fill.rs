//! Fills structs of the core as far as their stated size allows.

/// Returns a struct's size, which is its first member.
///
/// # Safety
/// `to` is a struct of the API.
pub(crate) unsafe fn size_of_core<T>(to: *const T) -> usize {
    // SAFETY: the caller promises a struct of the API, which begins with its size.
    unsafe { to.cast::<usize>().read() }
}

/// Writes the members that both versions of a struct have, and sets the size of what was written.
/// `size` is the size of our version.
///
/// # Safety
/// `to` is a struct of the API that is as long as it states.
pub(crate) unsafe fn fill<T>(to: *mut T, value: &T, size: usize) {
    // SAFETY: the caller promises that the struct is as long as it states, and `value` is as long
    // as its type.
    unsafe {
        let both = size_of_core(to).min(size).min(size_of::<T>());
        std::ptr::copy_nonoverlapping(std::ptr::from_ref(value).cast::<u8>(), to.cast::<u8>(), both);
        to.cast::<usize>().write(both);
    }
}
