//! The threads that compute for all CPU devices: one for each core, regardless of the number of
//! streams.
//!
//! A stream with work is put on the ready list once. A free thread takes the most urgent one and
//! advances it. Loops within an operation are shared with all free threads.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_host::work_queue::{ConcurrentWorkQueue, MultiThreadedWorkQueue, Task, parallel_for_scoped};

use super::stream::StreamCore;

/// The thread pool; see the module documentation.
pub(crate) struct Pool {
    queue: MultiThreadedWorkQueue,
    ready: Arc<Mutex<Ready>>,
}

/// The streams with work, by urgency, and in the order of their arrival.
#[derive(Default)]
struct Ready(BTreeMap<i32, VecDeque<Arc<StreamCore>>>);

impl Ready {
    fn take(&mut self) -> Option<Arc<StreamCore>> {
        let mut most_urgent = self.0.first_entry()?;
        let stream = most_urgent.get_mut().pop_front();
        if most_urgent.get().is_empty() {
            most_urgent.remove();
        }
        stream
    }
}

impl Pool {
    pub(crate) fn new(threads: usize) -> io::Result<Self> {
        Ok(Self { queue: MultiThreadedWorkQueue::new(threads, 1)?, ready: Arc::default() })
    }

    /// Returns the number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.queue.parallelism()
    }

    /// Waits until no stream can advance.
    pub(super) fn quiesce(&self) {
        self.queue.quiesce();
    }

    /// Schedules one advance of a stream.
    pub(super) fn schedule(&self, stream: Arc<StreamCore>) {
        self.ready.lock().0.entry(stream.priority()).or_default().push_back(stream);
        let ready = self.ready.clone();
        // There are as many tasks as entries. A task chooses its entry when it runs.
        self.queue.add_task(Task::new(move || {
            let stream = ready.lock().take();
            if let Some(stream) = stream {
                stream.advance();
            }
        }));
    }

    /// Lets idle threads search longer for work before they sleep, until the result is dropped.
    pub(super) fn expect_work(&self) -> ExpectedWork<'_> {
        self.queue.begin_loop();
        ExpectedWork(self)
    }

    /// Calls `body` for ranges that together cover `0..total`, on this and other threads, and
    /// returns when all are done.
    pub(crate) fn parallel_for(&self, total: usize, block_min: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
        parallel_for_scoped(&self.queue, total, block_min, body);
    }
}

/// See [`Pool::expect_work`].
pub(super) struct ExpectedWork<'a>(&'a Pool);

impl Drop for ExpectedWork<'_> {
    fn drop(&mut self) {
        self.0.queue.end_loop();
    }
}

impl tfrt_math::ParallelFor for Pool {
    fn parallel_for(&self, total: usize, min_block: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
        Pool::parallel_for(self, total, min_block, body);
    }

    fn parallelism(&self) -> usize {
        self.threads()
    }
}
