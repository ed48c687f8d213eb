//! Host memory: the [`HostAllocator`] trait and the allocators that come with the runtime.
//!
//! An allocator hands out raw blocks and takes them back; it never aborts when memory is short, and never prints: reports
//! and messages go to whoever asks for them.
#![expect(unsafe_code, reason = "raw blocks of memory are what this module deals in")]

mod failing;
mod fixed_size;
mod profiled;
mod recycling;
mod report;

use std::alloc::{self, Layout};
use std::fmt;
use std::ptr::NonNull;
use std::str::FromStr;
use std::sync::Arc;

pub use failing::FailingAllocator;
pub use fixed_size::FixedSizeAllocator;
pub use profiled::{LeakCheckAllocator, ProfiledAllocator};
pub use recycling::RecyclingAllocator;
pub use report::{AllocatorReport, SizeClass};

/// Takes the messages of an allocator that has something to say, one line each, without a line end.
pub type MessageSink = Arc<dyn Fn(&str) + Send + Sync>;

/// A source of host memory. Shared by all threads.
///
/// # Safety
/// A block that an implementation hands out has at least `layout.size()` bytes, is aligned to `layout.align()`, is
/// readable and writable, and is nobody else's until it is given back; [`HostAllocator::allocate_zeroed`] hands it out
/// filled with zeros, and [`HostAllocator::allocate_unset`] with all bytes initialized. Safe code
/// ([`crate::host_buffer::HostBuffer`]) relies on it.
pub unsafe trait HostAllocator: Send + Sync {
    /// A block for `layout`, with arbitrary contents. `None` when there is no memory for it. A layout of size zero
    /// is fine: the block then has no bytes.
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>>;

    /// As [`HostAllocator::allocate`], with every byte zero.
    fn allocate_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        let block = self.allocate(layout)?;
        // SAFETY: `allocate` returned a block of `layout.size()` writable bytes that nobody else knows yet.
        unsafe { block.write_bytes(0, layout.size()) };
        Some(block)
    }

    /// As [`HostAllocator::allocate`], with every byte initialized, to whatever costs least: for whoever overwrites all of
    /// them.
    fn allocate_unset(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.allocate_zeroed(layout)
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// `block` came from this allocator, for the same `layout`, has not been given back, and is not used again.
    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout);

    /// What the allocator has counted, if it counts.
    fn report(&self) -> Option<AllocatorReport> {
        None
    }
}

/// The allocator of the Rust program (`malloc` unless the program chose another).
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemAllocator;

/// Up to this size a block is filled here instead of being asked for zeroed: `calloc` of the GNU library looks into none of the
/// blocks that a thread keeps, so that it and the `free` after it take several times as long as filling the block.
const SMALL_BYTES: usize = 1024;
/// What it is filled with. Not zeros, for which the compiler would call `calloc` again.
const UNSET: u8 = 0xff;

/// The block of a layout without bytes: a pointer that is aligned and never read.
fn empty_block(layout: Layout) -> NonNull<u8> {
    NonNull::without_provenance(
        std::num::NonZero::new(layout.align()).unwrap_or(std::num::NonZero::<usize>::MIN),
    )
}

// SAFETY: the global allocator's blocks fit the layout asked for; a block of no bytes needs only an address.
unsafe impl HostAllocator for SystemAllocator {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        if layout.size() == 0 {
            return Some(empty_block(layout));
        }
        // SAFETY: the size is not zero.
        NonNull::new(unsafe { alloc::alloc(layout) })
    }

    fn allocate_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        if layout.size() == 0 {
            return Some(empty_block(layout));
        }
        // SAFETY: the size is not zero.
        NonNull::new(unsafe { alloc::alloc_zeroed(layout) })
    }

    fn allocate_unset(&self, layout: Layout) -> Option<NonNull<u8>> {
        if layout.size() > SMALL_BYTES {
            return self.allocate_zeroed(layout);
        }
        let block = self.allocate(layout)?;
        // SAFETY: the block has that many writable bytes, which nobody else knows yet.
        unsafe { block.write_bytes(UNSET, layout.size()) };
        Some(block)
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        if layout.size() != 0 {
            // SAFETY: by this function's contract the block came from `allocate` above with this layout, and a
            // layout with bytes was served by the global allocator.
            unsafe { alloc::dealloc(block.as_ptr(), layout) };
        }
    }
}

/// The allocators that can be chosen by name on a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HostAllocatorKind {
    /// [`SystemAllocator`].
    Malloc,
    /// [`RecyclingAllocator`] over the system's.
    Recycling,
    /// [`FixedSizeAllocator`] of 1,024 bytes.
    TestFixedSize1k,
    /// [`ProfiledAllocator`] over the system's.
    Profiled,
    /// [`LeakCheckAllocator`] over the system's.
    LeakCheck,
}

impl HostAllocatorKind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::Malloc, Self::Recycling, Self::TestFixedSize1k, Self::Profiled, Self::LeakCheck];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Malloc => "malloc",
            Self::Recycling => "recycling_allocator",
            Self::TestFixedSize1k => "test_fixed_size_1k",
            Self::Profiled => "profiled_allocator",
            Self::LeakCheck => "leak_check_allocator",
        }
    }

    /// Makes the allocator. `sink` gets the messages of those that talk while they work ([`FixedSizeAllocator`]).
    pub fn create(self, sink: MessageSink) -> Arc<dyn HostAllocator> {
        match self {
            Self::Malloc => Arc::new(SystemAllocator),
            Self::Recycling => Arc::new(RecyclingAllocator::new(SystemAllocator)),
            Self::TestFixedSize1k => Arc::new(FixedSizeAllocator::new(1024, sink, SystemAllocator)),
            Self::Profiled => Arc::new(ProfiledAllocator::new(SystemAllocator)),
            Self::LeakCheck => Arc::new(LeakCheckAllocator::new(SystemAllocator)),
        }
    }
}

impl fmt::Display for HostAllocatorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no allocator's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownAllocator(String);

impl fmt::Display for UnknownAllocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown host allocator `{}`; there are", self.0)?;
        for (i, kind) in HostAllocatorKind::ALL.iter().enumerate() {
            write!(f, "{} {kind}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownAllocator {}

impl FromStr for HostAllocatorKind {
    type Err = UnknownAllocator;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "profiled_malloc" => return Ok(Self::Profiled),
            "leak_check_malloc" => return Ok(Self::LeakCheck),
            _ => {}
        }
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| UnknownAllocator(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    #[test]
    fn every_kind_is_found_by_its_name_and_serves_aligned_memory() {
        for kind in HostAllocatorKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            let allocator = kind.create(Arc::new(|_| {}));
            for layout in [layout(0, 64), layout(1, 1), layout(40, 8), layout(300, 128)] {
                let block = allocator.allocate_zeroed(layout).unwrap();
                assert_eq!(block.as_ptr() as usize % layout.align(), 0);
                // SAFETY: the block has that many bytes and they were zeroed.
                let bytes = unsafe { std::slice::from_raw_parts(block.as_ptr(), layout.size()) };
                assert!(bytes.iter().all(|&b| b == 0));
                // SAFETY: allocated above with the same layout, used no more.
                unsafe { allocator.deallocate(block, layout) };
            }
        }
    }

    #[test]
    fn names_of_the_original_enumerators_work_too() {
        assert_eq!("leak_check_malloc".parse(), Ok(HostAllocatorKind::LeakCheck));
        assert_eq!("profiled_malloc".parse(), Ok(HostAllocatorKind::Profiled));
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "jemalloc".parse::<HostAllocatorKind>().unwrap_err().to_string();
        assert_eq!(
            error,
            "unknown host allocator `jemalloc`; there are malloc, recycling_allocator, test_fixed_size_1k, \
             profiled_allocator, leak_check_allocator"
        );
    }

    #[test]
    // Miri ends the program instead.
    #[cfg(not(miri))]
    fn impossible_sizes_are_refused() {
        let huge = layout(isize::MAX as usize - 63, 64);
        for kind in HostAllocatorKind::ALL {
            assert!(kind.create(Arc::new(|_| {})).allocate(huge).is_none(), "{kind}");
        }
    }
}
