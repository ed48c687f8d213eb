//! Accesses to bytes that other threads may touch at the same time.
//!
//! Interpreted programs may race on global memory: a program's mistake must stay a wrong value there and
//! never become undefined behaviour here. Scalars are relaxed atomics. Rows of a warp's neighbouring lanes
//! are copied by volatile 16-byte loads and stores, which the compiler may neither split into assumptions
//! nor remove; the processor gives each byte some value that was stored. Miri, which models the language and
//! no processor, gets atomics there too.
//!
//! Nothing here checks a bound or an alignment: callers did.

#![expect(unsafe_code, reason = "raw accesses to checked addresses")]

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// An integer that memory is read and written by.
pub(crate) trait Word: Copy + Default + 'static {
    /// Reads one, at its natural alignment.
    ///
    /// # Safety
    /// `at` is valid for reads of the size and aligned to it.
    unsafe fn load(at: *const u8) -> Self;
    /// Writes one, at its natural alignment.
    ///
    /// # Safety
    /// `at` is valid for writes of the size and aligned to it.
    unsafe fn store(at: *mut u8, value: Self);
    /// Replaces `current` by `new`, or gives the value that was there instead.
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
                // SAFETY: the caller promises that `at` is valid and aligned. Other threads reach program memory by the functions of
                // this file alone, whose accesses are atomic or volatile.
                unsafe { <$atomic>::from_ptr(at.cast_mut().cast()) }.load(Ordering::Relaxed)
            }
            #[inline(always)]
            unsafe fn store(at: *mut u8, value: Self) {
                // SAFETY: the caller promises that `at` is valid and aligned; others reach it by the functions of this file alone.
                unsafe { <$atomic>::from_ptr(at.cast()) }.store(value, Ordering::Relaxed);
            }
            #[inline(always)]
            unsafe fn compare_exchange(at: *mut u8, current: Self, new: Self) -> Result<Self, Self> {
                // SAFETY: the caller promises that `at` is valid and aligned; others reach it by the functions of this file alone.
                let atomic = unsafe { <$atomic>::from_ptr(at.cast()) };
                atomic.compare_exchange(current, new, Ordering::SeqCst, Ordering::SeqCst)
            }
        }
    )*};
}
word! { u8, AtomicU8; u16, AtomicU16; u32, AtomicU32; u64, AtomicU64; }

/// Copies `bytes` bytes, a multiple of 16, from shared memory to memory of our own.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `bytes` bytes; `from` is aligned to 4 bytes; `to` is not
/// shared.
#[inline(always)]
pub(crate) unsafe fn load_row(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for at in (0..bytes).step_by(16) {
        use std::arch::x86_64::__m128i;
        // SAFETY: the caller promises that both ranges are valid, and `bytes` is a multiple of 16; the packed wrapper needs no
        // alignment.
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

/// Copies `bytes` bytes, a multiple of 16, from memory of our own to shared memory.
///
/// # Safety
/// As for [`load_row`], the other way round.
#[inline(always)]
pub(crate) unsafe fn store_row(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for at in (0..bytes).step_by(16) {
        use std::arch::x86_64::__m128i;
        // SAFETY: the caller promises that both ranges are valid, and `bytes` is a multiple of 16; the packed wrapper needs no
        // alignment.
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

/// A value at any address.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Unaligned<T>(T);

/// Copies a range out of shared memory by the widest words its alignment allows.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `bytes` bytes; `to` is not shared.
#[inline(always)]
unsafe fn copy_out_words(from: *const u8, to: *mut u8, bytes: usize) {
    let mut at = 0;
    while at < bytes {
        // SAFETY: `at` is below `bytes` by at least a word's size, so that the word is inside both ranges; it is read at its natural
        // alignment.
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

/// Copies a range into shared memory by the widest words its alignment allows.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `bytes` bytes; `from` is not shared.
#[inline(always)]
unsafe fn copy_in_words(from: *const u8, to: *mut u8, bytes: usize) {
    let mut at = 0;
    while at < bytes {
        // SAFETY: `at` is below `bytes` by at least a word's size, so that the word is inside both ranges; it is written at its
        // natural alignment.
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

/// Copies a few `bytes` into shared memory.
///
/// # Safety
/// `to` is valid for writes of the length.
pub(crate) unsafe fn copy_in(to: *mut u8, bytes: &[u8]) {
    // SAFETY: the caller promises that `to` is valid, and `bytes` is borrowed.
    unsafe { copy_in_words(bytes.as_ptr(), to, bytes.len()) }
}

/// Copies a few bytes of shared memory out to `bytes`.
///
/// # Safety
/// `from` is valid for reads of the length.
pub(crate) unsafe fn copy_out(from: *const u8, bytes: &mut [u8]) {
    // SAFETY: the caller promises that `from` is valid, and `bytes` is borrowed mutably.
    unsafe { copy_out_words(from, bytes.as_mut_ptr(), bytes.len()) }
}

/// Copies `bytes` bytes between ranges that may overlap, either of which may be shared.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `bytes` bytes.
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // Where the target begins within the source, from the end, in parts that do not overlap.
    let distance = to.addr().wrapping_sub(from.addr());
    let (mut left, part) = (bytes, if distance == 0 { bytes } else { distance.min(bytes) });
    while left > 0 {
        let more = part.min(left);
        left -= more;
        // SAFETY: `left + more` is at most `bytes`, so that the part is inside both ranges.
        unsafe { copy_forward(from.add(left), to.add(left), more) };
    }
}

/// Copies from the first byte to the last.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `bytes` bytes.
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn copy_forward(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller promises that both ranges are valid. The instruction moves bytes in their order, and what it does is not a plain access
    // of the language's, so that it may race: each byte read is some byte that was stored.
    unsafe {
        std::arch::asm!("rep movsb", inout("rcx") bytes => _, inout("rsi") from => _, inout("rdi") to => _,
                        options(nostack, preserves_flags));
    }
}

/// Copies from the first byte to the last, by the widest words that the alignment of both allows.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `bytes` bytes.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn copy_forward(from: *const u8, to: *mut u8, bytes: usize) {
    let mut at = 0;
    while at < bytes {
        // SAFETY: `at` is below `bytes` by at least a word's size, so that the word is inside both ranges; it is accessed at its
        // natural alignment.
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

/// Writes copies of a pattern to `bytes` bytes of shared memory.
///
/// # Safety
/// `to` is valid for writes of `bytes` bytes, a multiple of the pattern's.
pub(crate) unsafe fn fill(to: *mut u8, pattern: &[u8], bytes: usize) {
    let first = pattern.len().min(bytes);
    if first == 0 {
        return;
    }
    // SAFETY: `done + more` is at most `bytes`, so that all is inside the range that the caller promises. What is behind the first pattern is copied from it: forward, so that each byte that is
    // read was written before.
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
