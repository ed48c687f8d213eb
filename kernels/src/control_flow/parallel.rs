//! `tfrt.parallel_for.i32` and `tfrt.parallel_call.i32`: a range, cut into blocks that run side by
//! side.
//!
//! The threads that take part fetch one block after the other from a common counter, so the work
//! under way is bounded by their number and not by the number of blocks. A body that finishes later
//! says so with a chain; of such blocks at most [`MAX_IN_FLIGHT`], and one more for each thread,
//! are under way at once.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering},
};

use parking_lot::Mutex;
use tfrt_host::{
    AsyncValue, AsyncValueRef, Chain, Diagnostic, ExecutionContext, Function, FunctionRef, KernelRegistry,
    Promise, Rest, Status, work_queue::Task,
};

/// Blocks whose chain is awaited while further ones are started.
const MAX_IN_FLIGHT: u32 = 256;

pub(super) fn register(registry: &mut KernelRegistry) {
    let doc = "Runs the body for each block of the range from the first argument up to, not including, the second, in \
               blocks of the third. The body gets a block's bounds and the further arguments; it gives nothing, or a \
               chain if it finishes later. The result is available when all blocks are done; of their errors it is the \
               first.";
    registry.add("tfrt.parallel_for.i32", parallel_for).side_effecting().doc(doc);
    registry.add("tfrt.parallel_call.i32", parallel_for).functions(&["callee"]).side_effecting().doc(doc);
}

fn parallel_for(
    start: i32,
    end: i32,
    block_size: i32,
    arguments: Rest<'_, AsyncValue>,
    body: FunctionRef<'_>,
    cx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>, Diagnostic> {
    if body.result_types().len() > 1 {
        return Err(Diagnostic::invalid_argument("Invalid parallel body function result types"));
    }
    let block_size = u64::try_from(block_size).ok().filter(|&size| size > 0);
    let block_size =
        block_size.ok_or_else(|| Diagnostic::invalid_argument("the block size must be positive"))?;
    let total = u64::try_from(i64::from(end) - i64::from(start))
        .map_err(|_| Diagnostic::invalid_argument(format!("the range from {start} to {end} is negative")))?;
    let blocks = total.div_ceil(block_size);
    if blocks == 0 {
        return Ok(Chain.into());
    }
    let (promise, done) = Promise::new();
    let range = Arc::new(Range {
        cx: cx.clone(),
        body: body.to_function(),
        arguments: arguments.to_vec(),
        start,
        end,
        block_size,
        blocks,
        next: AtomicU64::new(0),
        unfinished: AtomicU64::new(blocks),
        in_flight: AtomicU32::new(0),
        first_error: Mutex::new(None),
        done: Mutex::new(Some(promise)),
    });
    let queue = cx.host().work_queue();
    // This thread is one of those that take part.
    let others = queue
        .parallelism()
        .saturating_sub(usize::from(queue.is_worker_thread() || queue.is_single_threaded()));
    for _ in 0..others.min(usize::try_from(blocks - 1).unwrap_or(usize::MAX)) {
        let range = range.clone();
        queue.add_task(Task::new(move || range.run()));
    }
    range.run();
    Ok(done)
}

struct Range {
    cx: ExecutionContext,
    body: Function,
    arguments: Vec<AsyncValue>,
    start: i32,
    end: i32,
    block_size: u64,
    blocks: u64,
    /// The first block nobody has taken. It grows beyond `blocks`.
    next: AtomicU64,
    /// Blocks not done yet. Who brings it to zero makes the result available.
    unfinished: AtomicU64,
    /// Blocks under way that nobody waits for before taking the next one.
    in_flight: AtomicU32,
    /// The error of the lowest block that failed.
    first_error: Mutex<Option<(u64, AsyncValue)>>,
    done: Mutex<Option<Promise<Chain>>>,
}

impl Range {
    /// Takes blocks until there are no more, or one has to be waited for.
    fn run(self: Arc<Self>) {
        loop {
            let block = self.next.fetch_add(1, Ordering::Relaxed);
            if block >= self.blocks {
                return;
            }
            if let Some(reason) = self.cx.request().cancellation() {
                return self.abandon(block, &AsyncValue::from_error(reason.clone()));
            }
            let Some(chain) = self.call(block) else {
                self.finish(1);
                continue;
            };
            match chain.status() {
                Status::Pending if self.in_flight.fetch_add(1, Ordering::Relaxed) >= MAX_IN_FLIGHT => {
                    return self.wait_then_run(block, chain);
                }
                Status::Pending => {
                    let range = self.clone();
                    chain.clone().and_then(move || range.arrived(block, &chain));
                }
                Status::Ready | Status::Failed => {
                    self.note(block, &chain);
                    self.finish(1);
                }
            }
        }
    }

    fn wait_then_run(self: Arc<Self>, block: u64, chain: AsyncValue) {
        chain.clone().and_then(move || {
            let host = self.cx.host().clone();
            let range = self.clone();
            self.arrived(block, &chain);
            host.add_task(Task::new(move || range.run()));
        });
    }

    fn arrived(&self, block: u64, chain: &AsyncValue) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.note(block, chain);
        self.finish(1);
    }

    /// Calls the body for a block; its chain, if it gives one.
    fn call(&self, block: u64) -> Option<AsyncValue> {
        let mut call = self.body.as_ref().call(&self.cx);
        call.argument(AsyncValue::new(self.bound(block)));
        call.argument(AsyncValue::new(self.bound(block + 1)));
        self.arguments.iter().for_each(|argument| call.argument(argument.clone()));
        let mut chain = None;
        call.run(|_, value| chain = Some(value));
        chain
    }

    /// Where a block begins, and the one before it ends.
    fn bound(&self, block: u64) -> i32 {
        let offset = i64::try_from(block * self.block_size).unwrap_or(i64::MAX);
        i32::try_from(i64::from(self.start).saturating_add(offset))
            .map_or(self.end, |bound| bound.min(self.end))
    }

    /// Remembers the error of a block, if it has one and it is the lowest so far.
    fn note(&self, block: u64, chain: &AsyncValue) {
        if chain.status() == Status::Failed {
            let mut first = self.first_error.lock();
            if first.as_ref().is_none_or(|&(lowest, _)| block < lowest) {
                *first = Some((block, chain.clone()));
            }
        }
    }

    /// Gives up this block and all that nobody has taken.
    #[cold]
    fn abandon(&self, block: u64, reason: &AsyncValue) {
        self.note(block, reason);
        let untaken = self.blocks.saturating_sub(self.next.swap(self.blocks, Ordering::Relaxed));
        self.finish(1 + untaken);
    }

    /// Counts blocks as done.
    fn finish(&self, count: u64) {
        // Release: what the blocks did happens before the result; acquire: for all blocks.
        if self.unfinished.fetch_sub(count, Ordering::AcqRel) != count {
            return;
        }
        let promise = self.done.lock().take();
        let error = self.first_error.lock().take().and_then(|(_, error)| error.error());
        match (promise, error) {
            (Some(promise), Some(error)) => promise.set_error(error),
            (Some(promise), None) => promise.emplace(Chain),
            (None, _) => {}
        }
    }
}
