//! Runs the block plans of `tfrt-math` on the host's work queue.
//!
//! No thread waits for a plan. A plan of one block is computed at once. A larger plan gives its
//! blocks to the work queue, together with the guards of its tensors. When the last block ends, the
//! guards are released and the kernel's result becomes available. Cancelling the request skips the
//! blocks that have not begun.
//!
//! A kernel that needs a plan's output before it can continue runs the plan [`OnQueue`]: its thread
//! computes blocks too.

use std::{
    any::Any,
    ops::{Deref, DerefMut, Range},
    sync::Arc,
};

use parking_lot::{Mutex, RwLock};
use self_cell::{MutBorrow, self_cell};
use tfrt_host::{
    AsyncValueRef, Diagnostic, ErrorCode, ExecutionContext, Promise, Value, tracing,
    work_queue::{parallel_for, parallel_for_scoped},
};
use tfrt_math::{BlockOp, Element, ParallelFor, Pieces, Reduce, Reduction, ShapeError};

/// Computes the blocks of a range.
type Body<'a> = Box<dyn Fn(Range<usize>) + Send + Sync + 'a>;

/// Computes a block.
type RunBlock<'a> = Box<dyn Fn(usize) -> Result<(), ShapeError> + Send + Sync + 'a>;

/// A plan and what it is computed on: guards, or values made for the purpose.
struct Planned<P: BlockOp, R, W> {
    plan: P,
    reads: R,
    writes: W,
    input: for<'a> fn(&'a R) -> P::Input<'a>,
    output: for<'a> fn(&'a mut W) -> P::Output<'a>,
}

/// A [`Planned`] of one kind or another. There are hundreds of kinds, so that what hands out their
/// blocks does not know them.
trait Work: Any + Send + Sync {
    fn block_count(&self) -> usize;

    /// Computes all blocks on the calling thread.
    fn run_in_turn(&mut self) -> Result<(), ShapeError>;

    /// Returns what computes each block.
    fn blocks(&mut self) -> Result<RunBlock<'_>, ShapeError>;
}

impl<P, R, W> Work for Planned<P, R, W>
where
    P: BlockOp + Send + 'static,
    R: Send + Sync + 'static,
    W: Send + Sync + 'static,
{
    fn block_count(&self) -> usize {
        self.plan.block_count()
    }

    fn run_in_turn(&mut self) -> Result<(), ShapeError> {
        self.plan.run_in_turn((self.input)(&self.reads), (self.output)(&mut self.writes))
    }

    fn blocks(&mut self) -> Result<RunBlock<'_>, ShapeError> {
        let Self { plan, reads, writes, input, output } = self;
        let (input, pieces) = (input(reads), Pieces::new(plan.split(output(writes))?));
        Ok(Box::new(move |block| match pieces.take(block) {
            Some(piece) => plan.run_block(block, input, piece),
            None => Ok(()),
        }))
    }
}

/// What comes after the blocks: it gets the work back, or what went wrong.
type Then = Box<dyn FnOnce(Result<Box<dyn Work>, Diagnostic>) + Send>;

self_cell!(
    /// Work, and blocks that borrow from it.
    struct Job {
        owner: MutBorrow<Box<dyn Work>>,
        #[not_covariant]
        dependent: Body,
    }
);

/// The error of the lowest-numbered block that failed.
#[derive(Default)]
struct Failure(Mutex<Option<(usize, Diagnostic)>>);

impl Failure {
    fn record(&self, block: usize, error: Diagnostic) {
        let mut first = self.0.lock();
        if first.as_ref().is_none_or(|(lowest, _)| block < *lowest) {
            *first = Some((block, error));
        }
    }
}

/// Converts a shape error into the diagnostic that programs see.
pub fn shape_error(error: ShapeError) -> Diagnostic {
    Diagnostic::invalid_argument(error.to_string())
}

/// Returns about how many threads compute at a time. Plans are cut for this number.
pub fn workers(cx: &ExecutionContext) -> usize {
    cx.host().work_queue().parallelism()
}

/// Runs a plan on the work queue of a context's host and returns when it is done, for a stage whose
/// output the next stage of the same kernel needs. The calling thread computes blocks too, and
/// waits only for blocks that other threads have begun.
pub struct OnQueue<'a>(pub &'a ExecutionContext);

impl ParallelFor for OnQueue<'_> {
    fn parallel_for(&self, total: usize, min_block: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
        parallel_for_scoped(&**self.0.host().work_queue(), total, min_block, body);
    }

    fn parallelism(&self) -> usize {
        workers(self.0)
    }
}

/// Computes `plan` on the operands and returns `value` once that is done. The operands, and with
/// them the guards they hold, are dropped before the value becomes available.
///
/// # Errors
/// `InvalidArgument` if `plan` is a shape error.
pub fn run<P, R, W, V>(
    cx: &ExecutionContext,
    plan: Result<P, ShapeError>,
    (reads, writes): (R, W),
    input: for<'a> fn(&'a R) -> P::Input<'a>,
    output: for<'a> fn(&'a mut W) -> P::Output<'a>,
    value: V,
) -> Result<AsyncValueRef<V>, Diagnostic>
where
    P: BlockOp + Send + 'static,
    R: Send + Sync + 'static,
    W: Send + Sync + 'static,
    V: Value,
{
    let mut work = Planned { plan: plan.map_err(shape_error)?, reads, writes, input, output };
    if runs_at_once(cx, &mut work)? {
        drop(work);
        return Ok(AsyncValueRef::available(value));
    }
    let (then, result) = give_after(cx, value);
    hand_out(cx, Box::new(work), then);
    Ok(result)
}

/// Computes `plan` as [`run`] does and passes the operands to `then`, for kernels of several
/// stages.
pub fn run_then<P, R, W>(
    cx: &ExecutionContext,
    plan: P,
    (reads, writes): (R, W),
    input: for<'a> fn(&'a R) -> P::Input<'a>,
    output: for<'a> fn(&'a mut W) -> P::Output<'a>,
    then: impl FnOnce(Result<(R, W), Diagnostic>) + Send + 'static,
) where
    P: BlockOp + Send + 'static,
    R: Send + Sync + 'static,
    W: Send + Sync + 'static,
{
    let mut work = Planned { plan, reads, writes, input, output };
    match runs_at_once(cx, &mut work) {
        Ok(true) => return then(Ok((work.reads, work.writes))),
        Ok(false) => {}
        Err(error) => {
            drop(work);
            return then(Err(error));
        }
    }
    let then = move |work: Result<Box<dyn Work>, Diagnostic>| {
        let work = work.map(|work| (work as Box<dyn Any>).downcast::<Planned<P, R, W>>());
        then(work.map(|work| match work {
            Ok(work) => (work.reads, work.writes),
            Err(_) => unreachable!("the work was boxed below"),
        }));
    };
    hand_out(cx, Box::new(work), Box::new(then));
}

/// Computes a reduction and returns `value` once that is done. A reduction with few results is cut
/// along its operand instead, and the partial results are combined at the end. The guards of both
/// tensors are dropped before the value becomes available.
///
/// # Errors
/// `InvalidArgument` if `plan` is a shape error.
pub fn run_reduction<T, R, X, O, V>(
    cx: &ExecutionContext,
    plan: Result<Reduce<T, R>, ShapeError>,
    (x, out): (X, O),
    value: V,
) -> Result<AsyncValueRef<V>, Diagnostic>
where
    T: Element,
    R: Reduction<T>,
    X: Deref<Target = [T]> + Send + Sync + 'static,
    O: DerefMut<Target = [T]> + Send + Sync + 'static,
    V: Value,
{
    let plan = plan.map_err(shape_error)?;
    let Some(parts) = plan.partials() else { return run(cx, Ok(plan), (x, out), |x| x, |out| out, value) };
    let partials = vec![R::IDENTITY; parts.len()];
    let (promise, result) = Promise::new();
    let caller = cx.clone();
    let finish = move |operands: Result<(X, Vec<R::Acc>), Diagnostic>| {
        let mut out = out;
        let finished =
            operands.and_then(|(_, partials)| plan.finish(&partials, &mut out).map_err(shape_error));
        drop(out);
        caller.settle(promise, finished.map(|()| value));
    };
    run_then(cx, parts, (x, partials), |x| x, |partials| partials, finish);
    Ok(result)
}

/// Computes a plan of one block, or any plan if there is no other thread. Returns whether it has.
fn runs_at_once(cx: &ExecutionContext, work: &mut dyn Work) -> Result<bool, Diagnostic> {
    let is_at_once = work.block_count() <= 1 || cx.host().work_queue().is_single_threaded();
    if is_at_once {
        work.run_in_turn().map_err(shape_error)?;
    }
    Ok(is_at_once)
}

fn hand_out(cx: &ExecutionContext, work: Box<dyn Work>, then: Then) {
    let blocks = work.block_count();
    let failure = Arc::new(Failure::default());
    let job = Job::try_new(MutBorrow::new(work), |work| -> Result<Body<'_>, ShapeError> {
        let run_block = work.borrow_mut().blocks()?;
        let (cx, failure) = (cx.clone(), failure.clone());
        Ok(Box::new(move |range| run_range(&cx, &failure, range, &*run_block)))
    });
    match job {
        Ok(job) => queue(cx, blocks, job, failure, then),
        Err(error) => then(Err(shape_error(error))),
    }
}

/// Returns what gives `value` after the blocks, and the result that receives it.
fn give_after<V: Value>(cx: &ExecutionContext, value: V) -> (Then, AsyncValueRef<V>) {
    let (promise, result) = Promise::new();
    let caller = cx.clone();
    let then = move |work: Result<Box<dyn Work>, Diagnostic>| {
        // The guards go before the result is known.
        let outcome = work.map(drop);
        caller.settle(promise, outcome.map(|()| value));
    };
    (Box::new(then), result)
}

/// Hands a job's blocks to the work queue, and then its work, or the first error, to `then`.
fn queue(cx: &ExecutionContext, blocks: usize, job: Job, failure: Arc<Failure>, then: Then) {
    let job = Arc::new(RwLock::new(Some(job)));
    let running = job.clone();
    let name = tracing::current_name();
    let work = move |range: Range<usize>| {
        let _span = name.as_ref().and_then(|name| tracing::span("blocks", || name.clone()));
        if let Some(job) = &*running.read() {
            job.with_dependent(|_, body| body(range));
        }
    };
    parallel_for(cx.host().work_queue(), blocks, 1, Arc::new(work), move |outcome| {
        // No block is running any more, so that the lock is free.
        let work = job.write().take().map(|job| job.into_owner().into_inner());
        let failed = failure.0.lock().take();
        // The guards go before the kernel's result is known, also where it is an error.
        let outcome = match (outcome, failed, work) {
            (Err(panic), ..) => Err(Diagnostic::new(ErrorCode::Internal, panic.message)),
            (Ok(()), Some((_, error)), _) => Err(error),
            (Ok(()), None, Some(work)) => Ok(work),
            (Ok(()), None, None) => unreachable!("the job is taken only here"),
        };
        then(outcome);
    });
}

/// Computes the blocks of a range, unless the request has been cancelled.
fn run_range(
    cx: &ExecutionContext,
    failure: &Failure,
    range: Range<usize>,
    run_block: &dyn Fn(usize) -> Result<(), ShapeError>,
) {
    for block in range {
        if let Some(reason) = cx.request().cancellation() {
            return failure.record(block, Diagnostic::clone(reason));
        }
        if let Err(error) = run_block(block) {
            failure.record(block, shape_error(error));
        }
    }
}
