//! Host memory: the [`HostAllocator`] trait and the allocators that come with the runtime.
//!
//! An allocator hands out raw blocks and takes them back. It does not abort when memory is short,
//! and it never prints: callers receive its reports and messages.
#![expect(unsafe_code, reason = "raw blocks of memory are what this module deals in")]

mod failing;
mod fixed_size;
mod limited;
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
pub use limited::LimitedAllocator;
pub use profiled::{LeakCheckAllocator, ProfiledAllocator};
pub use recycling::RecyclingAllocator;
pub use report::{AllocatorReport, SizeClass};

/// Receives the messages of an allocator, one line each, without a line end.
pub type MessageSink = Arc<dyn Fn(&str) + Send + Sync>;

/// A source of host memory. All threads share it.
///
/// # Safety
/// A block has at least `layout.size()` bytes, is aligned to `layout.align()`, and is readable and
/// writable. Nobody else uses it until it is deallocated. [`HostAllocator::allocate_zeroed`]
/// returns it filled with zeros, [`HostAllocator::allocate_unset`] with all bytes initialized. Safe
/// code ([`crate::host_buffer::HostBuffer`]) relies on this.
pub unsafe trait HostAllocator: Send + Sync {
    /// Allocates a block for `layout`, with arbitrary contents. Returns `None` if memory is short.
    /// A size of zero is allowed; the block then has no bytes.
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>>;

    /// Allocates a block for `layout`, with every byte zero.
    fn allocate_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        let block = self.allocate(layout)?;
        // SAFETY: `allocate` returned a block of `layout.size()` writable bytes that nobody else
        // knows yet.
        unsafe { block.write_bytes(0, layout.size()) };
        Some(block)
    }

    /// Allocates a block for `layout`, with every byte initialized to whatever is cheapest. For
    /// callers that overwrite all of them.
    fn allocate_unset(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.allocate_zeroed(layout)
    }

    /// Frees a block.
    ///
    /// # Safety
    /// `block` came from this allocator for the same `layout`, has not been freed, and is not used
    /// again.
    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout);

    /// Frees the blocks that the allocator keeps for reuse. For the end of a phase after which blocks
    /// of other sizes are asked for.
    fn trim(&self) {}

    /// Returns the allocator's counts, if it counts.
    fn report(&self) -> Option<AllocatorReport> {
        None
    }
}

/// Rust's global allocator: `malloc` unless the program chose another.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemAllocator;

/// Blocks up to this size, in bytes, are allocated and then filled. The GNU library's `calloc` does
/// not use the blocks that a thread keeps, so `calloc` and the `free` after it take several times
/// as long.
const SMALL_BYTES: usize = 1024;
/// The byte that small blocks are filled with. It is not zero, because the compiler would turn that
/// into a call of `calloc`.
const UNSET: u8 = 0xff;

/// Returns the block for a layout without bytes: a pointer that is aligned and never read.
fn empty_block(layout: Layout) -> NonNull<u8> {
    NonNull::without_provenance(
        std::num::NonZero::new(layout.align()).unwrap_or(std::num::NonZero::<usize>::MIN),
    )
}

// SAFETY: blocks of the global allocator fit the layout. A block without bytes only needs an
// address.
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
        // SAFETY: the block has that many writable bytes, and nobody else knows it yet.
        unsafe { block.write_bytes(UNSET, layout.size()) };
        Some(block)
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        if layout.size() != 0 {
            // SAFETY: the caller of this function promises that the block came from `allocate` with
            // this layout, and layouts with bytes are served by the global allocator.
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
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Malloc, Self::Recycling, Self::TestFixedSize1k, Self::Profiled, Self::LeakCheck];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Malloc => "malloc",
            Self::Recycling => "recycling_allocator",
            Self::TestFixedSize1k => "test_fixed_size_1k",
            Self::Profiled => "profiled_allocator",
            Self::LeakCheck => "leak_check_allocator",
        }
    }

    /// Creates the allocator. `sink` receives the messages of [`FixedSizeAllocator`].
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

/// The error for a name that belongs to no allocator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownAllocator(String);

impl fmt::Display for UnknownAllocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown host allocator `{}`; expected one of", self.0)?;
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
                // SAFETY: the block has that many bytes, which are zero.
                let bytes = unsafe { std::slice::from_raw_parts(block.as_ptr(), layout.size()) };
                assert!(bytes.iter().all(|&b| b == 0));
                // SAFETY: the block was allocated above with the same layout and is not used again.
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
            "unknown host allocator `jemalloc`; expected one of malloc, recycling_allocator, test_fixed_size_1k, \
             profiled_allocator, leak_check_allocator"
        );
    }

    #[test]
    // Miri ends the program instead of refusing.
    #[cfg(not(miri))]
    fn impossible_sizes_are_refused() {
        let huge = layout(isize::MAX as usize - 63, 64);
        for kind in HostAllocatorKind::ALL {
            assert!(kind.create(Arc::new(|_| {})).allocate(huge).is_none(), "{kind}");
        }
    }
}
