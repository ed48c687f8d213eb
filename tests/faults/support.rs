//! Runtimes that are watched, and the text they run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tfrt::{
    Program, Runtime, RuntimeBuilder,
    host::{
        AsyncValue, Diagnostic,
        allocator::{HostAllocator, LeakCheckAllocator, SystemAllocator},
        host_buffer::HostBuffer,
        work_queue,
    },
};

/// Both kinds of queue.
pub(crate) const QUEUES: [&str; 2] = ["s", "mstd:2"];

/// The counts of live values are the process's, so that tests that compare them run one at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// What lives in this process; nothing else runs while it is watched.
pub(crate) struct Census {
    values: usize,
    buffers: usize,
    _alone: MutexGuard<'static, ()>,
}

impl Census {
    pub(crate) fn take() -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        Self { values: AsyncValue::live_count(), buffers: HostBuffer::live_count(), _alone: alone }
    }

    /// Values and buffers made since and still alive.
    pub(crate) fn newly_alive(&self) -> (usize, usize) {
        (AsyncValue::live_count() - self.values, HostBuffer::live_count() - self.buffers)
    }
}

/// A builder of silent runtimes on this queue.
pub(crate) fn builder(queue: &str) -> RuntimeBuilder {
    Runtime::builder().work_queue(work_queue::from_str(queue).expect("a queue")).output(std::io::sink())
}

/// An allocator that knows its live blocks.
pub(crate) fn leak_check() -> Arc<dyn HostAllocator> {
    Arc::new(LeakCheckAllocator::new(SystemAllocator))
}

pub(crate) fn load(runtime: &Runtime, text: &str) -> Program {
    match runtime.load("fault.mlir", text.as_bytes().to_vec()) {
        Ok(program) => program,
        Err(errors) => unreachable!("{errors}"),
    }
}

/// Runs `main` and waits for all it started.
pub(crate) fn run(runtime: &Runtime, text: &str) -> Vec<AsyncValue> {
    let results = load(runtime, text).call("main", []).expect("main without arguments");
    runtime.host().quiesce().expect("not on a compute thread");
    results
}

/// The error a value is.
pub(crate) fn error_of(value: &AsyncValue) -> Arc<Diagnostic> {
    value.error().expect("an error")
}
