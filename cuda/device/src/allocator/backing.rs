//! What the caching allocator needs of a device: raw memory, and fences in the order of streams.
//!
//! The allocator is written against this trait alone, so that every backend and a simulation serve it alike.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use tfrt_host::Diagnostic;

/// A source of device memory, and of fences on streams.
///
/// The allocator calls it while it holds its lock; an implementation never calls the allocator back from within these
/// functions, except that [`Backing::when_reached`] may call its closure at once, because it is called without the
/// lock. An address must be a multiple of [`super::ALIGNMENT`].
pub trait Backing: Send + Sync + 'static {
    /// Names a stream. Two streams that are alive at the same time differ.
    type Stream: Clone + Eq + Hash + Debug + Send + 'static;
    /// A place in a stream's work, reached when everything queued before it is done.
    type Fence: Send + Sync + 'static;

    /// Raw memory of at least `bytes` bytes. That there is none is said with
    /// [`OutOfMemory`](tfrt_host::ErrorCode::OutOfMemory); every other error ends the request at hand.
    ///
    /// # Errors
    /// The device's.
    fn allocate(&self, bytes: u64) -> Result<u64, Diagnostic>;

    /// Gives back what [`Backing::allocate`] gave. No queued work uses it any more. It does not wait; see
    /// [`Backing::is_giving_back`].
    ///
    /// # Errors
    /// The device's. The memory then still belongs to the allocator.
    fn free(&self, address: u64, bytes: u64) -> Result<(), Diagnostic>;

    /// Whether the source has a strategy of its own: memory is then taken as it is asked for, and given back as soon as
    /// nobody uses it.
    fn is_cached(&self) -> bool {
        false
    }

    /// A fence behind everything that is queued on `stream` now.
    ///
    /// # Errors
    /// The device's.
    fn record(&self, stream: &Self::Stream) -> Result<Self::Fence, Diagnostic>;

    /// True if everything that was queued on `stream` is known to be done, which costs less to ask than a fence.
    fn is_idle(&self, _stream: &Self::Stream) -> bool {
        false
    }

    /// True once the fence is reached, and ever after.
    ///
    /// # Errors
    /// The device's.
    fn is_reached(&self, fence: &Self::Fence) -> Result<bool, Diagnostic>;

    /// Lets everything queued on `stream` from now on wait for the fence. The host does not wait.
    ///
    /// # Errors
    /// The device's.
    fn wait(&self, stream: &Self::Stream, fence: &Self::Fence) -> Result<(), Diagnostic>;

    /// Blocks the calling thread until the fence is reached.
    ///
    /// # Errors
    /// The device's.
    fn synchronize(&self, fence: &Self::Fence) -> Result<(), Diagnostic>;

    /// Calls `then` once, when the fence is reached or the device has failed; at once if that is so already. The
    /// calling thread does not wait.
    fn when_reached(&self, fence: &Self::Fence, then: Box<dyn FnOnce() + Send>);

    /// Calls `job`, which gives memory back and may wait for the device, when all fences are reached or the device has
    /// failed. The calling thread does not wait.
    fn afterwards(&self, fences: Vec<Arc<Self::Fence>>, job: Box<dyn FnOnce() + Send>);

    /// Lets the device's libraries give back what they keep to be faster, unless a request of `bytes` bytes could not be served
    /// even so. Whether there was something: it is on its way then, or has come already. It does not wait.
    fn trim_libraries(&self, _bytes: u64) -> bool {
        false
    }

    /// Whether memory that was given back, here or by others, is still on its way to the device.
    fn is_giving_back(&self) -> bool {
        false
    }

    /// How often some of that has come to the device so far.
    fn times_given_back(&self) -> u64 {
        0
    }

    /// Calls `then` once, when more of that has come to the device than when it had come so often; at once if nothing is on
    /// its way.
    fn when_given_back(&self, _times: u64, then: Box<dyn FnOnce() + Send>) {
        then();
    }

    /// Blocks the calling thread until the device has what was given back.
    fn finish_giving_back(&self) {}

    /// Memory by the page, if the device has that. All memory is taken that way then, unless it is wanted
    /// [`in_segments`](super::Options::in_segments).
    fn pages(&self) -> Option<&dyn Pages> {
        None
    }
}

/// Memory by the page: any page may be put at any address, and at several at once.
pub trait Pages: Send + Sync {
    /// Bytes of a page, a power of two. Each reserved range starts at a multiple of it.
    fn page_bytes(&self) -> u64;

    /// Addresses without memory; how many is a multiple of the page size.
    ///
    /// # Errors
    /// The device's.
    fn reserve_range(&self, bytes: u64) -> Result<u64, Diagnostic>;

    /// Gives back a whole range, of which nothing is mapped.
    ///
    /// # Errors
    /// The device's. The range is then still there.
    fn release_range(&self, address: u64, bytes: u64) -> Result<(), Diagnostic>;

    /// So many pages; all of them or, with an error, none. That there are not enough is said as in [`Backing::allocate`].
    ///
    /// # Errors
    /// The device's.
    fn create_pages(&self, count: u64) -> Result<Vec<u64>, Diagnostic>;

    /// Gives a page back. Where it is still mapped, its memory remains until it is unmapped there.
    ///
    /// # Errors
    /// The device's. The page is then still there.
    fn destroy_page(&self, page: u64) -> Result<(), Diagnostic>;

    /// Maps pages side by side, from `address` on, in a reserved range; all of them or, with an error, none.
    ///
    /// # Errors
    /// The device's.
    fn map(&self, address: u64, pages: &[u64]) -> Result<(), Diagnostic>;

    /// Unmaps whole pages. No queued work uses these addresses any more.
    ///
    /// # Errors
    /// The device's. They are then still mapped.
    fn unmap(&self, address: u64, bytes: u64) -> Result<(), Diagnostic>;
}
