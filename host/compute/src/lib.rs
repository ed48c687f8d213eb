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

/// What a plan is computed on: guards, or values made for the purpose.
struct Operands<R, W> {
    reads: R,
    writes: W,
}

/// [`Operands`] of one kind or another.
type AnyOperands = Box<dyn Any + Send + Sync>;

/// What comes after the blocks: it gets the operands back, or what went wrong.
type Then = Box<dyn FnOnce(Result<AnyOperands, Diagnostic>) + Send>;

self_cell!(
    /// Operands, and blocks that borrow from them.
    struct Job {
        owner: MutBorrow<AnyOperands>,
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
    let plan = plan.map_err(shape_error)?;
    if runs_at_once(cx, &plan) {
        compute(&plan, (reads, writes), input, output)?;
        return Ok(AsyncValueRef::available(value));
    }
    let (then, result) = give_after(cx, value);
    hand_out(cx, plan, (reads, writes), input, output, then);
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
    if runs_at_once(cx, &plan) {
        return then(compute(&plan, (reads, writes), input, output));
    }
    let then = move |operands: Result<AnyOperands, Diagnostic>| {
        then(operands.map(|operands| match operands.downcast::<Operands<R, W>>() {
            Ok(operands) => (operands.reads, operands.writes),
            Err(_) => unreachable!("the operands were boxed as these"),
        }));
    };
    hand_out(cx, plan, (reads, writes), input, output, Box::new(then));
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

fn runs_at_once<P: BlockOp>(cx: &ExecutionContext, plan: &P) -> bool {
    plan.block_count() <= 1 || cx.host().work_queue().is_single_threaded()
}

fn compute<P: BlockOp, R, W>(
    plan: &P,
    (reads, mut writes): (R, W),
    input: for<'a> fn(&'a R) -> P::Input<'a>,
    output: for<'a> fn(&'a mut W) -> P::Output<'a>,
) -> Result<(R, W), Diagnostic> {
    plan.run_in_turn(input(&reads), output(&mut writes)).map_err(shape_error)?;
    Ok((reads, writes))
}

fn hand_out<P, R, W>(
    cx: &ExecutionContext,
    plan: P,
    (reads, writes): (R, W),
    input: for<'a> fn(&'a R) -> P::Input<'a>,
    output: for<'a> fn(&'a mut W) -> P::Output<'a>,
    then: Then,
) where
    P: BlockOp + Send + 'static,
    R: Send + Sync + 'static,
    W: Send + Sync + 'static,
{
    let blocks = plan.block_count();
    let operands: AnyOperands = Box::new(Operands { reads, writes });
    let make = make_run_block(move |operands| {
        let Some(operands) = operands.downcast_mut::<Operands<R, W>>() else {
            unreachable!("the operands were boxed above")
        };
        let pieces = Pieces::new(plan.split(output(&mut operands.writes))?);
        let input = input(&operands.reads);
        let run_block: RunBlock<'_> = Box::new(move |block| match pieces.take(block) {
            Some(piece) => plan.run_block(block, input, piece),
            None => Ok(()),
        });
        Ok(run_block)
    });
    hand_out_blocks(cx, blocks, operands, make, then);
}

// What follows knows no plan, so that it exists once: there are hundreds of them.

/// Computes a block.
type RunBlock<'a> = Box<dyn Fn(usize) -> Result<(), ShapeError> + Send + Sync + 'a>;

/// Makes the function that computes the blocks of a plan on operands.
type MakeRunBlock = Box<dyn for<'a> FnOnce(&'a mut AnyOperands) -> Result<RunBlock<'a>, ShapeError>>;

fn make_run_block(
    make: impl for<'a> FnOnce(&'a mut AnyOperands) -> Result<RunBlock<'a>, ShapeError> + 'static,
) -> MakeRunBlock {
    Box::new(make)
}

fn hand_out_blocks(
    cx: &ExecutionContext,
    blocks: usize,
    operands: AnyOperands,
    make: MakeRunBlock,
    then: Then,
) {
    let failure = Arc::new(Failure::default());
    let job = Job::try_new(MutBorrow::new(operands), |owner| -> Result<Body<'_>, ShapeError> {
        let run_block = make(owner.borrow_mut())?;
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
    let then = move |operands: Result<AnyOperands, Diagnostic>| {
        // The guards go before the result is known.
        let outcome = operands.map(drop);
        caller.settle(promise, outcome.map(|()| value));
    };
    (Box::new(then), result)
}

/// Hands a job's blocks to the work queue, and then its operands, or the first error, to `then`.
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
        let operands = job.write().take().map(|job| job.into_owner().into_inner());
        let failed = failure.0.lock().take();
        // The guards go before the kernel's result is known, also where it is an error.
        let outcome = match (outcome, failed, operands) {
            (Err(panic), ..) => Err(Diagnostic::new(ErrorCode::Internal, panic.message)),
            (Ok(()), Some((_, error)), _) => Err(error),
            (Ok(()), None, Some(operands)) => Ok(operands),
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
