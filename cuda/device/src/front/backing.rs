//! A context as the source of memory for the caching allocator: its raw memory, its pages, and
//! fences on its streams.

use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_host::Diagnostic;

use super::completion::{SharedContext, release_later};
use super::stream::StreamRef;
use crate::allocator::{Backing, End, Pages};
use crate::error::Result;
use crate::hal::{Erased, EventOptions, Teardown};

/// The memory and the streams of a context, in the form that the caching allocator uses.
pub(super) struct HalBacking {
    pub(super) hal: SharedContext,
    pub(super) teardown: Teardown,
    pub(super) completions: std::sync::Weak<super::completion::Completions>,
    /// The size of a page, if memory is taken in pages.
    pub(super) page_bytes: Option<u64>,
}

/// A fence: an event that was recorded once. Its stream's context need not be the allocator's.
pub(super) struct Fence {
    hal: SharedContext,
    event: Erased,
}

impl Backing for HalBacking {
    type Stream = StreamRef;
    type Fence = Arc<Fence>;

    fn allocate(&self, bytes: u64) -> Result<u64, Diagnostic> {
        Ok(self.hal.allocate(bytes)?)
    }

    fn free(&self, address: u64, _bytes: u64) -> Result<(), Diagnostic> {
        Ok(self.hal.free(address)?)
    }

    fn is_cached(&self) -> bool {
        self.hal.is_cached()
    }

    fn record(&self, stream: &StreamRef) -> Result<Arc<Fence>, Diagnostic> {
        Ok(stream.fence()?)
    }

    fn is_idle(&self, stream: &StreamRef) -> bool {
        stream.is_idle()
    }

    fn is_reached(&self, fence: &Arc<Fence>) -> Result<bool, Diagnostic> {
        Ok(fence.query()?)
    }

    fn wait(&self, stream: &StreamRef, fence: &Arc<Fence>) -> Result<(), Diagnostic> {
        Ok(stream.wait(fence)?)
    }

    fn synchronize(&self, fence: &Arc<Fence>) -> Result<(), Diagnostic> {
        Ok(fence.synchronize()?)
    }

    fn when_reached(&self, fence: &Arc<Fence>, then: Box<dyn FnOnce() + Send>) {
        let Some(completions) = self.completions.upgrade() else {
            // The context and the thread that watches its fences are gone.
            let (fence, mut then) = (fence.clone(), Some(then));
            return self.teardown.hand_over_until(move || {
                let is_reached = fence.query().unwrap_or(true);
                if is_reached && let Some(then) = then.take() {
                    // A failed device has nothing left to wait for.
                    drop(fence.synchronize());
                    then();
                }
                is_reached
            });
        };
        let then = Arc::new(Mutex::new(Some(then)));
        let call = then.clone();
        let tell = Box::new(move |_| {
            let then = call.lock().take();
            if let Some(then) = then {
                then();
            }
        });
        if completions.when_fence(fence.clone(), tell).is_err() {
            let then = then.lock().take();
            if let Some(then) = then {
                then();
            }
        }
    }

    fn run_after(&self, ends: Vec<End<Self>>, job: Box<dyn FnOnce() + Send>) {
        /// Hands over the job when the last waiter for an end is gone.
        struct Last(Mutex<Option<Box<dyn FnOnce() + Send>>>, Teardown);
        impl Drop for Last {
            fn drop(&mut self) {
                if let Some(job) = self.0.get_mut().take() {
                    self.1.hand_over(job);
                }
            }
        }
        let promised = self.teardown.promise();
        let job = Box::new(move || {
            job();
            drop(promised);
        });
        let last = Arc::new(Last(Mutex::new(Some(job)), self.teardown.clone()));
        for end in ends {
            let last = last.clone();
            let reached = Box::new(move || drop(last));
            match end {
                End::Fence(fence) => self.when_reached(&fence, reached),
                End::Unmarked(stream) => release_later(&self.hal, &self.teardown, &stream, reached),
            }
        }
    }

    fn trim_libraries(&self, bytes: u64) -> bool {
        self.hal.memory_info().map_or(true, |memory| bytes <= memory.total) && self.hal.trim()
    }

    fn is_giving_back(&self) -> bool {
        self.teardown.is_busy()
    }

    fn times_given_back(&self) -> u64 {
        self.teardown.times_progressed()
    }

    fn when_given_back(&self, times: u64, then: Box<dyn FnOnce() + Send>) {
        self.teardown.when_progressed(times, then);
    }

    fn finish_giving_back(&self) {
        self.teardown.finish_handed_over();
    }

    fn pages(&self) -> Option<&dyn Pages> {
        self.page_bytes.is_some().then_some(self)
    }
}

impl Pages for HalBacking {
    fn page_bytes(&self) -> u64 {
        self.page_bytes.unwrap_or(0)
    }

    fn reserve_range(&self, bytes: u64) -> Result<u64, Diagnostic> {
        Ok(self.hal.reserve_range(bytes)?)
    }

    fn release_range(&self, address: u64, bytes: u64) -> Result<(), Diagnostic> {
        Ok(self.hal.release_range(address, bytes)?)
    }

    fn create_pages(&self, count: u64) -> Result<Vec<u64>, Diagnostic> {
        Ok(self.hal.create_pages(count)?)
    }

    fn destroy_page(&self, page: u64) -> Result<(), Diagnostic> {
        Ok(self.hal.destroy_page(page)?)
    }

    fn map(&self, address: u64, pages: &[u64]) -> Result<(), Diagnostic> {
        Ok(self.hal.map_pages(address, pages)?)
    }

    fn unmap(&self, address: u64, bytes: u64) -> Result<(), Diagnostic> {
        Ok(self.hal.unmap_pages(address, bytes)?)
    }
}

impl Fence {
    /// Records a fence behind all work of the stream, which must not be captured.
    pub(super) fn record(hal: &SharedContext, stream: &Erased) -> Result<Arc<Self>> {
        let event = hal.create_event(EventOptions { internal: true, ..EventOptions::default() })?;
        hal.record_event(&event, stream)?;
        Ok(Arc::new(Self { hal: hal.clone(), event }))
    }

    pub(super) fn hal(&self) -> &Erased {
        &self.event
    }

    /// Returns whether the fence stands on a stream of this context.
    pub(super) fn is_of(&self, hal: &SharedContext) -> bool {
        Arc::ptr_eq(&self.hal, hal)
    }

    pub(super) fn query(&self) -> Result<bool> {
        self.hal.query_event(&self.event)
    }

    pub(super) fn synchronize(&self) -> Result<()> {
        self.hal.synchronize_event(&self.event)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;
    use std::sync::{Weak, mpsc};
    use std::time::Duration;

    use super::*;
    use crate::front::Platform;
    use crate::hal::StreamOptions;
    use crate::noop;

    #[test]
    fn fences_are_waited_for_when_the_context_went() {
        let (backend, held) = noop::open_held();
        let context = Platform::new(backend).device(0).unwrap().create_context().unwrap();
        let stream = context.create_stream(StreamOptions::default()).unwrap();
        let backing = HalBacking {
            hal: context.hal_shared().clone(),
            teardown: context.teardown().clone(),
            completions: Weak::new(),
            page_bytes: None,
        };
        held.store(true, Ordering::Relaxed);
        let fence = backing.record(stream.as_ref()).unwrap();
        let (tell, told) = mpsc::channel();
        backing.when_reached(&fence, Box::new(move || tell.send(()).unwrap()));
        let early = told.recv_timeout(Duration::from_millis(50));
        assert_eq!(early, Err(mpsc::RecvTimeoutError::Timeout));
        held.store(false, Ordering::Relaxed);
        assert_eq!(told.recv(), Ok(()));
    }
}
