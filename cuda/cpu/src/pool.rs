//! The threads that compute for all CPU devices: one a core, however many streams there are.
//!
//! A stream that has something to do is put on the ready list once; a free thread takes the most urgent one and lets it
//! advance. Within an operation, loops are shared with whichever threads are free.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_host::work_queue::{ConcurrentWorkQueue, MultiThreadedWorkQueue, Task, parallel_for_scoped};

use super::stream::StreamCore;

/// See the module.
pub(crate) struct Pool {
    queue: MultiThreadedWorkQueue,
    ready: Arc<Mutex<Ready>>,
}

/// Streams with something to do, most urgent first, in the order they came.
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

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.queue.parallelism()
    }

    /// Waits until no stream can advance.
    pub(super) fn quiesce(&self) {
        self.queue.quiesce();
    }

    /// Lets a stream advance soon. Each call is for one advance.
    pub(super) fn schedule(&self, stream: Arc<StreamCore>) {
        self.ready.lock().0.entry(stream.priority()).or_default().push_back(stream);
        let ready = self.ready.clone();
        // There are as many tasks as entries; which entry a task takes is decided when it runs.
        self.queue.add_task(Task::new(move || {
            let stream = ready.lock().take();
            if let Some(stream) = stream {
                stream.advance();
            }
        }));
    }

    /// Calls `body` for ranges that together are `0..total`, on this and other threads, and returns when all are done.
    pub(crate) fn parallel_for(&self, total: usize, block_min: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
        parallel_for_scoped(&self.queue, total, block_min, body);
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
