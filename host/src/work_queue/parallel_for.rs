//! Loops whose iterations run in parallel, on top of any work queue.
//!
//! [`parallel_for`] returns at once and calls back when all iterations are done, for kernels that
//! finish later. [`parallel_for_scoped`] returns when all iterations are done, so its body may
//! borrow; kernels that compute use it. The calling thread does its share and never waits for a
//! task that has not started, so compute threads may call it.
#![expect(
    unsafe_code,
    reason = "a borrowed closure is lent to tasks that outlive the call, but do not use it then"
)]

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;

use super::{ConcurrentWorkQueue, Latch, Task, TaskPanic};

/// The fewest blocks per thread. With several blocks, a late or slow thread leaves part of its
/// share to others, yet blocks stay large enough to be worth a task.
const BLOCKS_PER_THREAD: usize = 16;

/// How often a scoped loop checks for the end of its last blocks before its thread sleeps: first
/// at once, for a few microseconds, then between offers of its core to other threads, for up to
/// about 50 µs. The last block of a large loop takes about as long, and so may waking the thread.
const SPINS: u32 = 100;
const YIELDS: u32 = 100;

/// Returns the size and the number of the blocks that `0..total` is cut into. Blocks have at least
/// `block_min` elements, except that the last may be smaller.
fn blocks(queue: &dyn ConcurrentWorkQueue, total: usize, block_min: usize) -> (usize, usize) {
    let threads = if queue.is_single_threaded() { 1 } else { queue.parallelism() };
    if threads == 1 {
        return (total, usize::from(total != 0));
    }
    let size = (total / (threads * BLOCKS_PER_THREAD)).max(block_min).max(1);
    (size, total.div_ceil(size))
}

type Body = dyn Fn(Range<usize>) + Send + Sync;
type Done = Box<dyn FnOnce(Result<(), TaskPanic>) + Send>;

/// Calls `body` on ranges that together cover `0..total`, as tasks of the queue. Ranges have at
/// least `block_min` elements, except the last. The thread that finishes last calls `done`, with
/// the first panic if `body` panicked or if the queue ended before all ranges had run. A loop of
/// one block runs before this function returns.
pub fn parallel_for(
    queue: &Arc<dyn ConcurrentWorkQueue>,
    total: usize,
    block_min: usize,
    body: Arc<Body>,
    done: impl FnOnce(Result<(), TaskPanic>) + Send + 'static,
) {
    let (block_size, blocks) = blocks(&**queue, total, block_min);
    let shared = Arc::new(Loop {
        queue: queue.clone(),
        body,
        total,
        block_size,
        done: Mutex::new((None, Some(Box::new(done)))),
        _under_way: (blocks > 1).then(|| UnderWay::new(queue)),
    });
    if blocks != 0 {
        Blocks { shared, range: 0..blocks }.run();
    }
}

/// A running loop. It is done when its last reference is dropped.
struct Loop {
    queue: Arc<dyn ConcurrentWorkQueue>,
    body: Arc<Body>,
    total: usize,
    block_size: usize,
    /// The first panic, and the callback.
    done: Mutex<(Option<TaskPanic>, Option<Done>)>,
    /// Dropped after the call of `done`, because the next thing is often another loop.
    _under_way: Option<UnderWay>,
}

/// Announces a loop to the queue until it is dropped.
struct UnderWay(Arc<dyn ConcurrentWorkQueue>);

impl UnderWay {
    fn new(queue: &Arc<dyn ConcurrentWorkQueue>) -> Self {
        queue.begin_loop();
        Self(queue.clone())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.end_loop();
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let (panic, done) = std::mem::take(self.done.get_mut());
        if let Some(done) = done {
            done(panic.map_or(Ok(()), Err));
        }
    }
}

impl Loop {
    fn fail(&self, panic: impl FnOnce() -> TaskPanic) {
        self.done.lock().0.get_or_insert_with(panic);
    }
}

/// Blocks of a loop that have not run yet. If they are dropped, the loop fails.
struct Blocks {
    shared: Arc<Loop>,
    range: Range<usize>,
}

impl Blocks {
    /// Adds half of the remaining blocks as a task, again and again, and runs the first block.
    fn run(mut self) {
        while self.range.len() > 1 {
            let middle = self.range.start + self.range.len() / 2;
            let half = Self { shared: self.shared.clone(), range: middle..self.range.end };
            self.range.end = middle;
            self.shared.queue.add_task(Task::new(move || half.run()));
        }
        let shared = &*self.shared;
        let start = self.range.start * shared.block_size;
        let range = start..shared.total.min(start.saturating_add(shared.block_size));
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| (shared.body)(range))) {
            shared.fail(|| TaskPanic::new(&*payload));
            std::mem::forget(payload);
        }
        self.range.start = self.range.end;
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        if !self.range.is_empty() {
            self.shared.fail(|| TaskPanic {
                message: "the work queue ended before the loop did".to_owned(),
                thread: std::thread::current().name().unwrap_or("(unnamed)").to_owned(),
            });
        }
    }
}

/// Calls `body` on ranges that together cover `0..total`, partly on this thread, and returns when
/// all calls have returned. Ranges have at least `block_min` elements, except the last.
///
/// # Panics
/// With the first panic of `body`, after all calls have returned.
pub fn parallel_for_scoped(
    queue: &dyn ConcurrentWorkQueue,
    total: usize,
    block_min: usize,
    body: &(dyn Fn(Range<usize>) + Sync),
) {
    let (block_size, blocks) = blocks(queue, total, block_min);
    if blocks <= 1 {
        if blocks == 1 {
            body(0..total);
        }
        return;
    }
    // SAFETY: only the lifetime changes. The pointer is used only for claimed blocks. This function
    // returns or unwinds only after every claimed block has finished and no more can be claimed.
    let body = unsafe {
        std::mem::transmute::<*const (dyn Fn(Range<usize>) + Sync + '_), *const (dyn Fn(Range<usize>) + Sync)>(
            body,
        )
    };
    let shares = blocks.min(queue.parallelism());
    let shared = Arc::new(Scoped {
        body,
        total,
        block_size,
        blocks,
        claimed: (0..shares).map(|_| CachePadded::default()).collect(),
        unfinished: Latch::new(blocks),
        panic: Mutex::new(None),
    });
    // If the queue panics, this call must still wait until the tasks it took no longer use the
    // body.
    let added = catch_unwind(AssertUnwindSafe(|| {
        for share in 1..shares {
            let shared = shared.clone();
            queue.add_task(Task::new(move || shared.run_blocks(share)));
        }
    }));
    shared.run_blocks(0);
    // The remaining blocks are running on other threads and will probably finish soon.
    for check in 0..SPINS + YIELDS {
        if shared.unfinished.is_open() {
            break;
        }
        if check < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
    shared.unfinished.wait();
    if let Err(payload) = added {
        resume_unwind(payload);
    }
    let panic = shared.panic.lock().take();
    if let Some(payload) = panic {
        resume_unwind(payload);
    }
}

struct Scoped {
    body: *const (dyn Fn(Range<usize>) + Sync),
    total: usize,
    block_size: usize,
    blocks: usize,
    /// How many blocks of each thread's share are claimed. It exceeds the share when threads try to
    /// claim after the last one. Neighbouring blocks tend to read the same memory, so each thread
    /// begins with a share of neighbours.
    claimed: Box<[CachePadded<AtomicUsize>]>,
    unfinished: Latch,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: the body is `Sync`, so that it may be called from any thread.
unsafe impl Send for Scoped {}
// SAFETY: the body is `Sync`, so that threads may call it at the same time; the other fields are
// `Sync`.
unsafe impl Sync for Scoped {}

impl Scoped {
    /// Claims and runs blocks until none are left: those of one share, then those of the others.
    fn run_blocks(&self, first: usize) {
        let shares = self.claimed.len();
        for share in (first..shares).chain(0..first) {
            let blocks = share * self.blocks / shares..(share + 1) * self.blocks / shares;
            self.run_share(blocks, &self.claimed[share]);
        }
    }

    fn run_share(&self, blocks: Range<usize>, claimed: &AtomicUsize) {
        loop {
            // Relaxed: passing the task to another thread orders what the caller did before, and
            // the latch orders what the blocks do.
            let block = blocks.start + claimed.fetch_add(1, Ordering::Relaxed);
            if block >= blocks.end {
                return;
            }
            let start = block * self.block_size;
            let range = start..self.total.min(start.saturating_add(self.block_size));
            // SAFETY: a block is claimed and not finished, so `parallel_for_scoped` has not
            // returned and the body is alive.
            let body = unsafe { &*self.body };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| body(range))) {
                self.panic.lock().get_or_insert(payload);
            }
            self.unfinished.count_down();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::AtomicU8;

    use super::*;
    use crate::work_queue::from_str;

    /// Totals with the smallest block size.
    const CASES: [(usize, usize); 7] = [(0, 1), (1, 1), (7, 100), (100, 0), (100, 7), (1000, 1), (4097, 16)];

    fn counters(total: usize) -> Arc<Vec<AtomicU8>> {
        Arc::new((0..total).map(|_| AtomicU8::new(0)).collect())
    }

    fn visit(counters: &[AtomicU8], range: Range<usize>, block_min: usize) {
        assert!(range.len() >= block_min || range.end == counters.len(), "{range:?}");
        for counter in &counters[range] {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn assert_visited_once(counters: &[AtomicU8]) {
        assert!(counters.iter().all(|counter| counter.load(Ordering::Relaxed) == 1));
    }

    #[test]
    fn every_element_is_visited_once() {
        for description in ["s", "mstd:1", "mstd:3"] {
            let queue = from_str(description).unwrap();
            for (total, block_min) in CASES {
                let counters = counters(total);
                let latch = Arc::new(Latch::new(1));
                let (inner, done) = (counters.clone(), latch.clone());
                parallel_for(
                    &queue,
                    total,
                    block_min,
                    Arc::new(move |range| visit(&inner, range, block_min)),
                    move |result| {
                        assert_eq!(result, Ok(()));
                        done.count_down();
                    },
                );
                queue.await_latch(&latch);
                assert_visited_once(&counters);
                assert!(queue.take_panics().is_empty());
            }
        }
    }

    #[test]
    fn scoped_loops_borrow_and_visit_every_element_once() {
        for description in ["s", "mstd:1", "mstd:3"] {
            let queue = from_str(description).unwrap();
            for (total, block_min) in CASES {
                let counters = counters(total);
                parallel_for_scoped(&*queue, total, block_min, &|range| visit(&counters, range, block_min));
                assert_visited_once(&counters);
            }
        }
    }

    #[test]
    fn scoped_loops_nest_on_compute_threads_without_deadlock() {
        let queue = from_str("mstd:2").unwrap();
        let (latch, sum) = (Arc::new(Latch::new(20)), Arc::new(AtomicUsize::new(0)));
        for _ in 0..20 {
            let (inner, latch, sum) = (queue.clone(), latch.clone(), sum.clone());
            queue.add_task(Task::new(move || {
                parallel_for_scoped(&*inner, 10, 1, &|outer| {
                    for _ in outer {
                        parallel_for_scoped(&*inner, 10, 1, &|range| {
                            sum.fetch_add(range.len(), Ordering::Relaxed);
                        });
                    }
                });
                latch.count_down();
            }));
        }
        queue.await_latch(&latch);
        assert_eq!(sum.load(Ordering::Relaxed), 2000);
        assert_eq!(queue.take_panics(), []);
    }

    #[test]
    fn a_panic_reaches_the_one_who_asked() {
        let body = |range: Range<usize>| assert!(!range.contains(&70), "seventy");
        for description in ["s", "mstd:2"] {
            let queue = from_str(description).unwrap();
            let (sender, receiver) = std::sync::mpsc::channel();
            parallel_for(&queue, 100, 1, Arc::new(body), move |result| sender.send(result).unwrap());
            queue.quiesce();
            assert_eq!(receiver.recv().unwrap().unwrap_err().message, "seventy");
            let scoped = AssertUnwindSafe(|| parallel_for_scoped(&*queue, 100, 1, &body));
            assert!(catch_unwind(scoped).is_err());
        }
    }

    #[test]
    fn blocks_that_never_run_fail_the_loop() {
        // A queue that drops its tasks.
        struct Nowhere;
        impl ConcurrentWorkQueue for Nowhere {
            fn name(&self) -> String {
                "nowhere".to_owned()
            }
            fn add_task(&self, task: Task) {
                drop(task);
            }
            fn add_blocking_task(&self, task: Task, _: bool) -> Result<(), Task> {
                Err(task)
            }
            fn await_latch(&self, _: &Latch) {}
            fn quiesce(&self) {}
            fn parallelism(&self) -> usize {
                2
            }
            fn is_worker_thread(&self) -> bool {
                false
            }
            fn take_panics(&self) -> Vec<TaskPanic> {
                Vec::new()
            }
        }
        let queue: Arc<dyn ConcurrentWorkQueue> = Arc::new(Nowhere);
        let (sender, receiver) = std::sync::mpsc::channel();
        parallel_for(&queue, 100, 1, Arc::new(|_| {}), move |result| sender.send(result).unwrap());
        assert!(receiver.recv().unwrap().unwrap_err().message.contains("ended before"));
    }
}
