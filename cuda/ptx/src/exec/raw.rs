//! Accesses to bytes that other threads may access at the same time.
//!
//! Interpreted programs may race on global memory. An error of a program may yield a wrong value,
//! but never undefined behaviour here. Scalar accesses are relaxed atomics. Rows of neighbouring
//! lanes are copied by volatile 16-byte loads and stores, which the compiler neither removes nor
//! bases assumptions on; the processor gives each byte some value that was stored. Miri models the
//! language and no processor, so it gets atomics there too.
//!
//! Nothing here checks a bound or an alignment: callers did.

#![expect(unsafe_code, reason = "raw accesses to checked addresses")]

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// An integer that memory is accessed in units of.
pub(crate) trait Word: Copy + Default + 'static {
    /// Loads a value.
    ///
    /// # Safety
    /// `at` is valid for reads of the integer's size and aligned to it.
    unsafe fn load(at: *const u8) -> Self;
    /// Stores a value.
    ///
    /// # Safety
    /// `at` is valid for writes of the integer's size and aligned to it.
    unsafe fn store(at: *mut u8, value: Self);
    /// Replaces `current` by `new` and returns `current`, or returns the different value found as
    /// an error.
    ///
    /// # Safety
    /// As for `load` and `store`.
    unsafe fn compare_exchange(at: *mut u8, current: Self, new: Self) -> Result<Self, Self>;
}

macro_rules! word {
    ($($integer:ty, $atomic:ty;)*) => {$(
        impl Word for $integer {
            #[inline(always)]
            unsafe fn load(at: *const u8) -> Self {
                // SAFETY: the caller promises that `at` is valid and aligned. Other threads access
                // program memory only through the functions of this file, whose accesses are atomic
                // or volatile.
                unsafe { <$atomic>::from_ptr(at.cast_mut().cast()) }.load(Ordering::Relaxed)
            }
            #[inline(always)]
            unsafe fn store(at: *mut u8, value: Self) {
                // SAFETY: the caller promises that `at` is valid and aligned. Other threads access
                // it only through the functions of this file.
                unsafe { <$atomic>::from_ptr(at.cast()) }.store(value, Ordering::Relaxed);
            }
            #[inline(always)]
            unsafe fn compare_exchange(at: *mut u8, current: Self, new: Self) -> Result<Self, Self> {
                // SAFETY: the caller promises that `at` is valid and aligned. Other threads access
                // it only through the functions of this file.
                let atomic = unsafe { <$atomic>::from_ptr(at.cast()) };
                atomic.compare_exchange(current, new, Ordering::SeqCst, Ordering::SeqCst)
            }
        }
    )*};
}
word! { u8, AtomicU8; u16, AtomicU16; u32, AtomicU32; u64, AtomicU64; }

/// Copies `bytes` bytes, a multiple of 16, from shared to private memory.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `bytes` bytes. `from` is aligned to 4 bytes. No
/// other thread accesses `to`.
#[inline(always)]
pub(crate) unsafe fn load_row(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for at in (0..bytes).step_by(16) {
        use std::arch::x86_64::__m128i;
        // SAFETY: the caller promises that both ranges are valid, and `bytes` is a multiple of 16.
        // The packed wrapper needs no alignment.
        unsafe {
            let value = from.add(at).cast::<Unaligned<__m128i>>().read_volatile();
            to.add(at).cast::<Unaligned<__m128i>>().write(value);
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    // SAFETY: the caller promises that both ranges are valid.
    unsafe {
        copy_out_words(from, to, bytes);
    }
}

/// Copies `bytes` bytes, a multiple of 16, from private to shared memory.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `bytes` bytes. `to` is aligned to 4 bytes. No
/// other thread writes `from`.
#[inline(always)]
pub(crate) unsafe fn store_row(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for at in (0..bytes).step_by(16) {
        use std::arch::x86_64::__m128i;
        // SAFETY: the caller promises that both ranges are valid, and `bytes` is a multiple of 16.
        // The packed wrapper needs no alignment.
        unsafe {
            let value = from.add(at).cast::<Unaligned<__m128i>>().read();
            to.add(at).cast::<Unaligned<__m128i>>().write_volatile(value);
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    // SAFETY: the caller promises that both ranges are valid.
    unsafe {
        copy_in_words(from, to, bytes);
    }
}

/// A value without alignment.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Unaligned<T>(T);

/// Copies a range from shared to private memory, by the widest words that its alignment allows.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `bytes` bytes. No other thread accesses `to`.
#[inline(always)]
unsafe fn copy_out_words(from: *const u8, to: *mut u8, bytes: usize) {
    let mut at = 0;
    while at < bytes {
        // SAFETY: at least a word's size is left between `at` and `bytes`, so the word is inside
        // both ranges. It is loaded at its natural alignment.
        unsafe {
            let source = from.add(at);
            if source.addr() % 8 == 0 && bytes - at >= 8 {
                to.add(at).cast::<u64>().write_unaligned(u64::load(source));
                at += 8;
            } else if source.addr() % 2 == 0 && bytes - at >= 2 {
                to.add(at).cast::<u16>().write_unaligned(u16::load(source));
                at += 2;
            } else {
                to.add(at).write(u8::load(source));
                at += 1;
            }
        }
    }
}

/// Copies a range from private to shared memory, by the widest words that its alignment allows.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `bytes` bytes. No other thread writes `from`.
#[inline(always)]
unsafe fn copy_in_words(from: *const u8, to: *mut u8, bytes: usize) {
    let mut at = 0;
    while at < bytes {
        // SAFETY: at least a word's size is left between `at` and `bytes`, so the word is inside
        // both ranges. It is stored at its natural alignment.
        unsafe {
            let target = to.add(at);
            if target.addr() % 8 == 0 && bytes - at >= 8 {
                u64::store(target, from.add(at).cast::<u64>().read_unaligned());
                at += 8;
            } else if target.addr() % 2 == 0 && bytes - at >= 2 {
                u16::store(target, from.add(at).cast::<u16>().read_unaligned());
                at += 2;
            } else {
                u8::store(target, from.add(at).read());
                at += 1;
            }
        }
    }
}

/// Copies a few bytes into shared memory.
///
/// # Safety
/// `to` is valid for writes of `bytes.len()` bytes.
pub(crate) unsafe fn copy_in(to: *mut u8, bytes: &[u8]) {
    // SAFETY: the caller promises that `to` is valid, and `bytes` is borrowed.
    unsafe { copy_in_words(bytes.as_ptr(), to, bytes.len()) }
}

/// Copies a few bytes out of shared memory.
///
/// # Safety
/// `from` is valid for reads of `bytes.len()` bytes.
pub(crate) unsafe fn copy_out(from: *const u8, bytes: &mut [u8]) {
    // SAFETY: the caller promises that `from` is valid, and `bytes` is borrowed mutably.
    unsafe { copy_out_words(from, bytes.as_mut_ptr(), bytes.len()) }
}

/// Copies `bytes` bytes between ranges that may overlap, either of which may be shared.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `bytes` bytes.
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // If the target begins inside the source, copies parts that do not overlap, the last one first.
    let distance = to.addr().wrapping_sub(from.addr());
    let (mut left, part) = (bytes, if distance == 0 { bytes } else { distance.min(bytes) });
    while left > 0 {
        let more = part.min(left);
        left -= more;
        // SAFETY: `left + more` is at most `bytes`, so the part is inside both ranges.
        unsafe { copy_forward(from.add(left), to.add(left), more) };
    }
}

/// Copies forward, from the first byte to the last.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `bytes` bytes.
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn copy_forward(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller promises that both ranges are valid. The instruction moves bytes in order.
    // It is no access of the language, so it may race: each byte read is some byte that was stored.
    unsafe {
        std::arch::asm!("rep movsb", inout("rcx") bytes => _, inout("rsi") from => _, inout("rdi") to => _,
                        options(nostack, preserves_flags));
    }
}

/// Copies forward, from the first byte to the last, by the widest words that the alignment of both
/// ranges allows.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `bytes` bytes.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn copy_forward(from: *const u8, to: *mut u8, bytes: usize) {
    let mut at = 0;
    while at < bytes {
        // SAFETY: at least a word's size is left between `at` and `bytes`, so the word is inside
        // both ranges. It is accessed at its natural alignment.
        unsafe {
            let (source, target) = (from.add(at), to.add(at));
            if (source.addr() | target.addr()) % 8 == 0 && bytes - at >= 8 {
                u64::store(target, u64::load(source));
                at += 8;
            } else {
                u8::store(target, u8::load(source));
                at += 1;
            }
        }
    }
}

/// Fills `bytes` bytes of shared memory with copies of a pattern.
///
/// # Safety
/// `to` is valid for writes of `bytes` bytes, a multiple of the pattern's length.
pub(crate) unsafe fn fill(to: *mut u8, pattern: &[u8], bytes: usize) {
    let first = pattern.len().min(bytes);
    if first == 0 {
        return;
    }
    // SAFETY: `done + more` is at most `bytes`, so every copy is inside the range that the caller
    // promises. The copies read only the bytes before `done`, which are already written.
    unsafe {
        copy_forward(pattern.as_ptr(), to, first);
        let mut done = first;
        while done < bytes {
            let more = done.min(bytes - done);
            copy_forward(to, to.add(done), more);
            done += more;
        }
    }
}
