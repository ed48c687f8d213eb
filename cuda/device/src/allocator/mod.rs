//! Allocates device memory from cached segments, over any backend.
//!
//! Memory is taken from the device in large segments, which are cut into blocks. A released block
//! is joined with its free neighbours and kept for later requests. The next request of the same
//! size and stream receives it unchanged. A block may be released as soon as the last work that
//! uses it is *queued*. The stream it was granted for may reuse it at once, because a stream runs
//! its work in order. For other streams the allocator inserts exactly the waits that make reuse
//! safe. A stream that uses a block of another stream is recorded with
//! [`CachingAllocator::record_use`].
//!
//! Requests are granted in order. A request that does not fit waits until released memory is no
//! longer in use. Then cached segments are returned to the device, which is asked again. If that
//! fails, the request fails with a table of the memory's holders. No compute thread waits for
//! memory: see [`CachingAllocator::allocate_with`].
//!
//! The allocator never accesses the memory, never waits on the host unless asked to, and orders
//! nothing but reuse. The users of one block must order themselves.
//!
//! | file | idea |
//! |---|---|
//! | `backing` | the requirements on a device |
//! | `blocks` | segments cut into blocks |
//! | `bins` | the latest released blocks, by exact size |
//! | `free_list` | best fit |
//! | `streams` | points of streams, fences, waits |
//! | `pool` | granting and releasing blocks |
//! | `search` | the search if nothing fits |
//! | `pages` | new segments from pages of free blocks |
//! | `out_of_memory`, `statistics`, `timeline`, `page`, `origin` | reports |

mod backing;
mod bins;
mod blocks;
mod free_list;
mod hash;
mod origin;
mod out_of_memory;
mod page;
mod pages;
mod pool;
mod search;
mod statistics;
mod streams;
mod timeline;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak, mpsc};

use parking_lot::{Mutex, MutexGuard};
use tfrt_host::{Diagnostic, ErrorCode};

pub use backing::{Backing, End, Pages};
pub use origin::Origin;
pub use page::write_timeline;
pub use statistics::Statistics;
pub use timeline::{EventKind, MemoryEvent, MemoryLog};

use pool::Pool;
use search::{Asking, Outcome, Until};
use timeline::Recorder;

/// The granularity of block sizes, in bytes.
const GRANULE: u64 = 512;

/// The alignment of all addresses, in bytes.
pub const ALIGNMENT: u64 = 256;

/// The size of a red zone ([`Options::red_zone_bytes`]), large enough to contain an access one
/// element past the end of a buffer.
pub const RED_ZONE: u64 = GRANULE;

/// Options of an allocator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// The maximum number of bytes to hold from the device. Without it, only the device limits
    /// them.
    pub bytes_limit: Option<u64>,
    /// Takes memory in contiguous segments even if the device has pages. Free blocks of different
    /// segments then cannot be combined.
    pub in_segments: bool,
    /// The number of bytes after each buffer that belong to no buffer, so that a checker can
    /// distinguish an access past the end from one to the neighbour. They do not count against
    /// `bytes_limit`.
    pub red_zone_bytes: u64,
}

/// A request for memory.
#[derive(Debug, Clone)]
pub struct Request<'a, S> {
    /// The stream that will use the memory, in work queued after the grant.
    pub stream: &'a S,
    /// The number of bytes. A size of zero is allowed and returns a unique address.
    pub bytes: u64,
    /// The requester, for errors and timelines.
    pub origin: Origin,
}

/// Allocated memory. Dropping it does not release it: [`CachingAllocator::free`] does.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "memory is released with `CachingAllocator::free`"]
pub struct Allocation {
    address: u64,
    bytes: u64,
    serial: u64,
    block: u32,
    allocator: u32,
}

impl Allocation {
    /// Returns the address on the device, a multiple of [`ALIGNMENT`].
    #[inline]
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Returns the requested number of bytes.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of this grant, counted from 1.
    #[inline]
    pub fn serial(&self) -> u64 {
        self.serial
    }
}

/// Receives the outcome of a request.
type Then = Box<dyn FnOnce(Result<Allocation, Diagnostic>) + Send>;

struct Waiting<S> {
    stream: S,
    bytes: u64,
    asking: Asking,
    then: Then,
}

struct Shared<B: Backing> {
    pool: Pool<B>,
    /// Requests that cannot be granted yet, oldest first.
    waiting: VecDeque<Waiting<B::Stream>>,
    /// The outcomes that were not delivered yet, and whether a thread is delivering them.
    outcomes: VecDeque<(Then, Result<Allocation, Diagnostic>)>,
    telling: bool,
}

/// A request that has to wait, with the lock under which this was decided.
struct Later<'a, B: Backing> {
    shared: MutexGuard<'a, Shared<B>>,
    stream: &'a B::Stream,
    bytes: u64,
    asking: Asking,
    until: Until<B::Fence>,
}

/// A caching allocator, shared by all threads.
pub struct CachingAllocator<B: Backing> {
    backing: Arc<B>,
    shared: Mutex<Shared<B>>,
    me: Weak<Self>,
}

impl<B: Backing> fmt::Debug for CachingAllocator<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachingAllocator").field("statistics", &self.statistics()).finish_non_exhaustive()
    }
}

impl<B: Backing> CachingAllocator<B> {
    /// Creates an allocator that holds no memory.
    pub fn new(backing: Arc<B>, options: Options) -> Arc<Self> {
        /// Identifies allocators, so that memory of one is not released to another.
        static NEXT_ID: AtomicU32 = AtomicU32::new(0);
        let pool = Pool::new(backing.clone(), options, NEXT_ID.fetch_add(1, Ordering::Relaxed));
        let shared = Shared { pool, waiting: VecDeque::new(), outcomes: VecDeque::new(), telling: false };
        Arc::new_cyclic(|me| Self { backing, shared: Mutex::new(shared), me: me.clone() })
    }

    /// Returns the source of its memory.
    pub fn backing(&self) -> &Arc<B> {
        &self.backing
    }

    /// Allocates memory and passes it, or the error, to `then` exactly once. Usually this happens
    /// before the call returns; if streams must finish first, it happens later, on another thread.
    /// The calling thread never waits.
    #[inline]
    pub fn allocate_with(
        &self,
        mut request: Request<'_, B::Stream>,
        then: impl FnOnce(Result<Allocation, Diagnostic>) + Send + 'static,
    ) {
        let mut shared = self.shared.lock();
        if let Some(allocation) = shared.allocate_cached(&mut request) {
            drop(shared);
            return then(Ok(allocation));
        }
        match Self::allocate_now(shared, request) {
            Ok(outcome) => then(outcome),
            Err(later) => self.wait_in_line(later, Box::new(then)),
        }
    }

    /// Allocates memory. Blocks the calling thread if streams must finish first.
    ///
    /// # Errors
    /// [`ErrorCode::OutOfMemory`] with a table of who holds what, or the device's error.
    #[inline]
    pub fn allocate(&self, mut request: Request<'_, B::Stream>) -> Result<Allocation, Diagnostic> {
        let mut shared = self.shared.lock();
        if let Some(allocation) = shared.allocate_cached(&mut request) {
            return Ok(allocation);
        }
        Self::allocate_now(shared, request).unwrap_or_else(|later| self.wait_for(later))
    }

    /// Allocates memory if it is available now. Returns `None` if streams must finish first.
    #[inline]
    pub fn try_allocate(
        &self,
        mut request: Request<'_, B::Stream>,
    ) -> Option<Result<Allocation, Diagnostic>> {
        let mut shared = self.shared.lock();
        if let Some(allocation) = shared.allocate_cached(&mut request) {
            return Some(Ok(allocation));
        }
        match Self::allocate_now(shared, request) {
            Ok(outcome) => Some(outcome),
            Err(Later { shared, until, .. }) => {
                drop(shared);
                // Memory it could wait for is watched anyway, because a caller that asks again
                // relies on it.
                self.watch(until);
                None
            }
        }
    }

    /// Grants or refuses a request that need not wait.
    #[inline(never)]
    fn allocate_now<'a>(
        mut shared: MutexGuard<'a, Shared<B>>,
        request: Request<'a, B::Stream>,
    ) -> Result<Result<Allocation, Diagnostic>, Later<'a, B>> {
        let Request { stream, bytes, origin } = request;
        let asking = Asking::new(origin);
        if !shared.waiting.is_empty() {
            let until = Until { fences: Vec::new(), given_back: None };
            return Err(Later { shared, stream, bytes, asking, until });
        }
        let slot = shared.pool.streams.find_or_add(stream);
        match shared.pool.allocate(slot, bytes, asking) {
            Outcome::Granted(allocation) => Ok(Ok(allocation)),
            Outcome::Failed(error) => Ok(Err(error)),
            Outcome::Wait(until, asking) => Err(Later { shared, stream, bytes, asking, until }),
        }
    }

    #[cold]
    fn wait_in_line(&self, later: Later<'_, B>, then: Then) {
        let Later { mut shared, stream, bytes, asking, until } = later;
        shared.waiting.push_back(Waiting { stream: stream.clone(), bytes, asking, then });
        drop(shared);
        self.watch(until);
    }

    #[cold]
    fn wait_for(&self, later: Later<'_, B>) -> Result<Allocation, Diagnostic> {
        let (sender, receiver) = mpsc::sync_channel(1);
        // The receiver exists until it has received.
        self.wait_in_line(later, Box::new(move |outcome| drop(sender.send(outcome))));
        receiver.recv().unwrap_or_else(|_| Err(abandoned()))
    }

    /// Releases memory. All work that uses it has been queued, but need not have run.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidArgument`] if it belongs to another allocator.
    #[inline]
    pub fn free(&self, allocation: Allocation) -> Result<(), Diagnostic> {
        let mut shared = self.shared.lock();
        shared.pool.give_back(&allocation)?;
        if shared.pool.is_source_cached || !shared.waiting.is_empty() {
            return self.freed(shared);
        }
        Ok(())
    }

    /// Offers released memory to waiting requests.
    #[cold]
    fn freed(&self, mut shared: MutexGuard<'_, Shared<B>>) -> Result<(), Diagnostic> {
        let released = if shared.pool.is_source_cached { shared.pool.release_done() } else { Ok(()) };
        let somebody_waits = !shared.waiting.is_empty();
        drop(shared);
        if somebody_waits {
            self.progress();
        }
        released
    }

    /// Records that work on another stream than the one of the request uses the memory.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidArgument`] if it belongs to another allocator.
    pub fn record_use(&self, allocation: &Allocation, stream: &B::Stream) -> Result<(), Diagnostic> {
        self.shared.lock().pool.record_use(allocation, stream)
    }

    /// Records that a stream is about to be destroyed and takes no more work. Memory that it used
    /// is reused when its work is done.
    ///
    /// # Errors
    /// Any error of the device. Memory used by the stream is then kept until the allocator is
    /// dropped.
    pub fn forget_stream(&self, stream: &B::Stream) -> Result<(), Diagnostic> {
        let shared = &mut *self.shared.lock();
        shared.pool.streams.forget(&shared.pool.backing, stream)
    }

    /// Returns all cached segments to the device, after blocking until streams that may use them
    /// are done. Returns their size in bytes.
    ///
    /// # Errors
    /// Any error of the device.
    pub fn clear_cache(&self) -> Result<u64, Diagnostic> {
        let fences = self.shared.lock().pool.last_fences()?;
        for fence in fences {
            self.backing.synchronize(&fence)?;
        }
        let released = self.shared.lock().pool.release_unused();
        self.backing.finish_giving_back();
        released
    }

    /// Returns the current statistics.
    pub fn statistics(&self) -> Statistics {
        self.shared.lock().pool.statistics()
    }

    /// Starts a recording, which begins with the memory that is already held.
    pub fn start_recording(&self) {
        self.shared.lock().pool.start_recording();
    }

    /// Returns what was recorded since the last call.
    pub fn take_recording(&self) -> MemoryLog {
        self.shared.lock().pool.recorder.as_mut().map(Recorder::take).unwrap_or_default()
    }

    /// Registers with the backing to retry the waiting requests.
    #[cold]
    fn watch(&self, until: Until<B::Fence>) {
        let again = || {
            let me = self.me.clone();
            Box::new(move || {
                if let Some(me) = me.upgrade() {
                    me.progress();
                }
            })
        };
        for fence in until.fences {
            self.backing.when_reached(&fence, again());
        }
        if let Some(times) = until.given_back {
            self.backing.when_given_back(times, again());
        }
    }

    /// Retries the waiting requests in order, and delivers the outcomes.
    #[cold]
    fn progress(&self) {
        let mut shared = self.shared.lock();
        let until = shared.settle_waiting();
        // A thread that is already delivering will deliver these too, in order.
        if !mem::replace(&mut shared.telling, true) {
            while let Some((then, outcome)) = shared.outcomes.pop_front() {
                drop(shared);
                then(outcome);
                shared = self.shared.lock();
            }
            shared.telling = false;
        }
        drop(shared);
        if let Some(until) = until {
            self.watch(until);
        }
    }
}

impl<B: Backing> Shared<B> {
    /// Grants a request of which the stream gave back just such a block, if nobody is before it.
    // Wherever it is called from, so that the grant stays in registers.
    #[inline(always)]
    fn allocate_cached(&mut self, request: &mut Request<'_, B::Stream>) -> Option<Allocation> {
        if !self.waiting.is_empty() {
            return None;
        }
        let slot = self.pool.streams.find(request.stream)?;
        self.pool.allocate_cached(slot, request.bytes, &mut request.origin)
    }

    /// Grants, in order, what can be granted now. If requests remain, returns what to wait for
    /// next.
    fn settle_waiting(&mut self) -> Option<Until<B::Fence>> {
        while let Some(Waiting { stream, bytes, asking, then }) = self.waiting.pop_front() {
            let outcome = match self.pool.streams.find(&stream) {
                Some(slot) => self.pool.allocate(slot, bytes, asking),
                None => Outcome::Failed(Diagnostic::invalid_argument(
                    "the stream was destroyed while a request for its memory was waiting",
                )),
            };
            match outcome {
                Outcome::Granted(allocation) => self.outcomes.push_back((then, Ok(allocation))),
                Outcome::Failed(error) => self.outcomes.push_back((then, Err(error))),
                Outcome::Wait(until, asking) => {
                    self.waiting.push_front(Waiting { stream, bytes, asking, then });
                    return Some(until);
                }
            }
        }
        None
    }
}

fn abandoned() -> Diagnostic {
    Diagnostic::new(ErrorCode::Abandoned, "the allocator was dropped before the memory was granted")
}

impl<B: Backing> Drop for CachingAllocator<B> {
    /// Releases everything: now if all streams are done, else when they are, on a thread that may
    /// wait.
    fn drop(&mut self) {
        let shared = self.shared.get_mut();
        for Waiting { then, .. } in shared.waiting.drain(..) {
            then(Err(abandoned()));
        }
        let options = shared.pool.options;
        let mut pool = mem::replace(&mut shared.pool, Pool::new(self.backing.clone(), options, 0));
        let ends = pool.ends();
        // A failure could not be reported. A device that fails here fails everywhere.
        if ends.is_empty() {
            drop(pool.tear_down());
        } else {
            self.backing.run_after(ends, Box::new(move || drop(pool.tear_down())));
        }
    }
}
