//! The device that the caching allocator needs: raw memory, and fences in the order of streams.
//!
//! The allocator only knows this trait, so it works with every backend and with a simulation.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use tfrt_host::Diagnostic;

/// The end of what is queued on a stream.
pub enum End<B: Backing + ?Sized> {
    /// It is where this fence is.
    Fence(Arc<B::Fence>),
    /// No fence could be recorded there; the stream is idle when it is reached. Nothing is queued
    /// on the stream afterwards.
    Unmarked(B::Stream),
}

/// A source of device memory and of fences on streams.
///
/// The allocator calls it while it holds its lock, so an implementation must not call the allocator
/// back. The exception is [`Backing::when_reached`], which is called without the lock and may call
/// its closure at once. Addresses must be multiples of [`super::ALIGNMENT`].
pub trait Backing: Send + Sync + 'static {
    /// A name of a stream. Streams that are alive at the same time have different names.
    type Stream: Clone + Eq + Hash + Debug + Send + 'static;
    /// A point in a stream's work, reached when everything queued before it is done.
    type Fence: Send + Sync + 'static;

    /// Allocates at least `bytes` bytes of raw memory.
    /// [`OutOfMemory`](tfrt_host::ErrorCode::OutOfMemory) says that there is none; any other error
    /// fails the request at once.
    ///
    /// # Errors
    /// Any error of the device.
    fn allocate(&self, bytes: u64) -> Result<u64, Diagnostic>;

    /// Releases memory from [`Backing::allocate`] that no queued work uses any more. Does not wait;
    /// see [`Backing::is_giving_back`].
    ///
    /// # Errors
    /// Any error of the device. The memory then still belongs to the allocator.
    fn free(&self, address: u64, bytes: u64) -> Result<(), Diagnostic>;

    /// Returns whether the source caches memory itself. The allocator then requests exactly what it
    /// needs and returns unused memory at once.
    fn is_cached(&self) -> bool {
        false
    }

    /// Records a fence behind all work queued on `stream` so far.
    ///
    /// # Errors
    /// Any error of the device.
    fn record(&self, stream: &Self::Stream) -> Result<Self::Fence, Diagnostic>;

    /// Returns true if all work queued on `stream` is known to be done. This is cheaper than a
    /// fence.
    fn is_idle(&self, _stream: &Self::Stream) -> bool {
        false
    }

    /// Returns whether the fence is reached. Once true, it stays true.
    ///
    /// # Errors
    /// Any error of the device.
    fn is_reached(&self, fence: &Self::Fence) -> Result<bool, Diagnostic>;

    /// Makes work queued on `stream` from now on wait for the fence. The host does not wait.
    ///
    /// # Errors
    /// Any error of the device.
    fn wait(&self, stream: &Self::Stream, fence: &Self::Fence) -> Result<(), Diagnostic>;

    /// Blocks the calling thread until the fence is reached.
    ///
    /// # Errors
    /// Any error of the device.
    fn synchronize(&self, fence: &Self::Fence) -> Result<(), Diagnostic>;

    /// Calls `then` once when the fence is reached or the device has failed, possibly at once. Does
    /// not wait.
    fn when_reached(&self, fence: &Self::Fence, then: Box<dyn FnOnce() + Send>);

    /// Calls `job`, which releases memory and may wait for the device, when all ends are reached or
    /// the device has failed. Does not wait.
    fn run_after(&self, ends: Vec<End<Self>>, job: Box<dyn FnOnce() + Send>);

    /// Releases memory that the device's libraries cache, unless that could not serve a request of
    /// `bytes` bytes anyway. Returns whether there was any. It may still be on its way to the
    /// device. Does not wait.
    fn trim_libraries(&self, _bytes: u64) -> bool {
        false
    }

    /// Returns whether released memory is still on its way to the device.
    fn is_giving_back(&self) -> bool {
        false
    }

    /// Returns how often released memory has reached the device so far.
    fn times_given_back(&self) -> u64 {
        0
    }

    /// Calls `then` once when [`Backing::times_given_back`] exceeds `times`; at once if nothing is
    /// on its way.
    fn when_given_back(&self, _times: u64, then: Box<dyn FnOnce() + Send>) {
        then();
    }

    /// Blocks the calling thread until all released memory has reached the device.
    fn finish_giving_back(&self) {}

    /// Returns the device's pages, if it has any. All memory is then taken in pages, unless
    /// [`in_segments`](super::Options::in_segments) is set.
    fn pages(&self) -> Option<&dyn Pages> {
        None
    }
}

/// Maps memory in pages. Any page can be mapped at any address, and at several at once.
pub trait Pages: Send + Sync {
    /// Returns the size of a page in bytes, a power of two. Each reserved range starts at a
    /// multiple of it.
    fn page_bytes(&self) -> u64;

    /// Reserves a range of addresses without memory. `bytes` is a multiple of the page size.
    ///
    /// # Errors
    /// Any error of the device.
    fn reserve_range(&self, bytes: u64) -> Result<u64, Diagnostic>;

    /// Releases a whole reserved range in which nothing is mapped.
    ///
    /// # Errors
    /// Any error of the device. The range then still exists.
    fn release_range(&self, address: u64, bytes: u64) -> Result<(), Diagnostic>;

    /// Creates `count` pages, or none if there is an error. A lack of memory is reported as in
    /// [`Backing::allocate`].
    ///
    /// # Errors
    /// Any error of the device.
    fn create_pages(&self, count: u64) -> Result<Vec<u64>, Diagnostic>;

    /// Destroys a page. Its memory stays alive where it is still mapped.
    ///
    /// # Errors
    /// Any error of the device. The page then still exists.
    fn destroy_page(&self, page: u64) -> Result<(), Diagnostic>;

    /// Maps pages contiguously from `address` on in a reserved range, or none if there is an error.
    ///
    /// # Errors
    /// Any error of the device.
    fn map(&self, address: u64, pages: &[u64]) -> Result<(), Diagnostic>;

    /// Unmaps whole pages at addresses that no queued work uses any more.
    ///
    /// # Errors
    /// Any error of the device. The pages are then still mapped.
    fn unmap(&self, address: u64, bytes: u64) -> Result<(), Diagnostic>;
}
