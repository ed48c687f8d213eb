//! Deferred kernels: they left the walk to wait for their arguments.
//!
//! A deferred kernel waits for one argument at a time, so one link suffices for any number of
//! arguments and no counter is needed. When it is woken, it waits for the next argument that is
//! still pending. It starts with the last argument, which is often the last to complete, so the
//! others are usually available when it is woken. While it waits, the list it is on owns it. It
//! runs on the thread that completed its last argument.
//!
//! A million kernels may wait at once, so they are small. The data that all deferred kernels of a
//! call share is in one [`Frame`], and everything the plan knows is read from the plan.

#![expect(unsafe_code, reason = "the kernel is a link of intrusive waiter lists, and shares a counted frame")]

use std::{
    any::Any,
    mem,
    panic::{self, AssertUnwindSafe},
    ptr::{self, NonNull},
    sync::atomic::{AtomicUsize, Ordering, fence},
    thread,
};

use super::nesting;
use crate::{
    async_value::{
        AsyncValue, IndirectPromise, Status, WaitList, more_ready,
        state::{Enqueue, Waiter},
    },
    context::{BorrowedContext, ExecutionContext},
    panics::kernel_panic,
    pool::PoolBox,
    program::{Body, Dispatch, FunctionRef, KernelFrame, Operand, Plan, RegisterFile, ScalarFrame, Step},
    tracing,
    work_queue::Task,
};

/// The data that the deferred kernels of one call share.
struct Frame {
    /// The number of kernels that hold the frame, plus [`WALK`] until the walk ends.
    holders: AtomicUsize,
    plan: NonNull<Plan>,
    cx: ExecutionContext,
}

/// The walk's share of the count: more than all kernels that it can defer.
const WALK: usize = 1 << (usize::BITS - 2);

/// The walk's share of a frame. It counts the kernels that it defers locally, and corrects the
/// shared count at the end.
pub(super) struct Deferring {
    frame: NonNull<Frame>,
    deferred: usize,
}

impl Deferring {
    /// Creates the frame of a call of `function` in `cx`.
    #[inline(never)]
    pub(super) fn new(cx: &ExecutionContext, function: FunctionRef<'_>) -> Self {
        let cx = cx.clone();
        let (Body::Async(plan) | Body::Sync(plan)) = FunctionRef::new(cx.program(), function.index()).body()
        else {
            unreachable!("native functions have no kernels");
        };
        let plan = NonNull::from(plan);
        if !cx.request().begin_call() {
            nesting::refuse_more_calls(&cx);
        }
        let frame = PoolBox::new(|| Frame { holders: AtomicUsize::new(WALK), plan, cx });
        Self { frame: frame.into_raw(), deferred: 0 }
    }

    /// Defers step `number`. Of its arguments the first `pending` may be pending. Its operands
    /// refer to `registers`.
    pub(super) fn defer(
        &mut self,
        number: usize,
        pending: usize,
        registers: &mut RegisterFile<'_>,
        (arguments, results): (&[Operand], &[Operand]),
    ) {
        self.deferred += 1;
        let mut deferred = PoolBox::new(|| Deferred {
            link: Waiter { next: ptr::null_mut(), run: Deferred::woken },
            frame: FrameRef(self.frame),
            step: number as u32,
            pending: pending as u32,
            promise: None,
            many: None,
            few: [AsyncValue::EMPTY; FEW],
        });
        if arguments.len() + results.len() <= FEW && results.len() <= 1 {
            // Dropping the replaced values would do nothing, and `forget` spares the code for it.
            for (place, &argument) in deferred.few.iter_mut().zip(arguments) {
                mem::forget(mem::replace(place, registers.use_up(argument)));
            }
            if let Some(&result) = results.first() {
                mem::forget(deferred.promise.replace(promise(registers, result)));
            }
        } else {
            deferred.many = Some(Box::new(Many::new(registers, (arguments, results))));
        }
        Deferred::advance(deferred);
    }
}

/// Makes a result pending and returns its promise.
#[inline(always)]
fn promise(registers: &mut RegisterFile<'_>, result: Operand) -> IndirectPromise {
    let (promise, value) = IndirectPromise::new();
    *registers.get_mut(result) = value;
    promise
}

impl Drop for Deferring {
    fn drop(&mut self) {
        // SAFETY: the walk holds the frame `WALK` times. Each deferred kernel took over one of
        // them, and this gives back the rest.
        unsafe { Frame::release(self.frame, WALK - self.deferred) };
    }
}

impl Frame {
    /// # Safety
    /// The caller holds the frame `count` times and gives all of them up.
    #[inline]
    unsafe fn release(frame: NonNull<Self>, count: usize) {
        // SAFETY: the frame is alive, because the caller holds it.
        if unsafe { frame.as_ref() }.holders.fetch_sub(count, Ordering::Release) == count {
            fence(Ordering::Acquire);
            // SAFETY: nobody holds the frame any more, and `Deferring::new` took it out of such a
            // box.
            let frame = unsafe { PoolBox::from_raw(frame) };
            frame.cx.request().end_call();
        }
    }
}

/// A deferred kernel's handle to its frame.
struct FrameRef(NonNull<Frame>);

impl FrameRef {
    #[inline]
    fn get(&self) -> &Frame {
        // SAFETY: this handle holds the frame, which keeps it alive.
        unsafe { self.0.as_ref() }
    }

    #[inline]
    fn plan(&self) -> &Plan {
        // SAFETY: the plan is part of the program that the frame's context keeps alive. It neither
        // moves nor changes.
        unsafe { self.get().plan.as_ref() }
    }

    /// Returns the context for a call of this step.
    #[inline]
    fn context(&self, step: &Step) -> BorrowedContext<'_> {
        let mut cx = BorrowedContext::same(&self.get().cx);
        (cx.location, cx.kernel) = (step.location, step.kernel);
        cx
    }
}

impl Drop for FrameRef {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this handle holds the frame once, and is not used again.
        unsafe { Frame::release(self.0, 1) };
    }
}

/// The number of registers that a deferred kernel stores inline: enough for most kernels.
const FEW: usize = 3;

#[repr(C)]
pub(super) struct Deferred {
    link: Waiter,
    frame: FrameRef,
    step: u32,
    /// The number of leading arguments that may be pending. The others have been seen available.
    pending: u32,
    /// The promise of the result, if there is exactly one result and it is stored inline.
    promise: Option<IndirectPromise>,
    /// The registers, if they do not fit inline.
    many: Option<Box<Many>>,
    /// The arguments, then the result.
    few: [AsyncValue; FEW],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Deferred>() == 96, "see the module");

/// The registers of a kernel with too many for inline storage, or with several results: arguments,
/// then results, with the promises.
struct Many {
    registers: Vec<AsyncValue>,
    promises: Vec<IndirectPromise>,
}

impl Many {
    #[cold]
    fn new(file: &mut RegisterFile<'_>, (arguments, results): (&[Operand], &[Operand])) -> Self {
        let mut registers: Vec<_> = arguments.iter().map(|&argument| file.use_up(argument)).collect();
        registers.resize(arguments.len() + results.len(), AsyncValue::EMPTY);
        let promises = results.iter().map(|&result| promise(file, result)).collect();
        Self { registers, promises }
    }
}

/// The operands of deferred kernels: arguments and results are numbered consecutively.
static IN_ORDER: [Operand; 64] = {
    let mut operands = [Operand::new(0); 64];
    let mut number = 0;
    while number < operands.len() {
        operands[number] = Operand::new(number as u32);
        number += 1;
    }
    operands
};

impl Deferred {
    /// # Safety
    /// `link` is the first field of a `PoolBox<Deferred>` that a list owned and now gives up.
    unsafe fn woken(link: *mut Waiter) {
        // SAFETY: `link` is the first field of a `repr(C)` struct, so it points to a
        // `PoolBox<Deferred>`. This function requires that the list gives it up.
        let deferred = unsafe { PoolBox::from_raw(NonNull::new_unchecked(link).cast::<Self>()) };
        Self::advance(deferred);
    }

    /// Waits for the next pending argument, or runs the kernel.
    fn advance(mut this: PoolBox<Self>) {
        while let Some(list) = this.next_pending() {
            let raw = this.into_raw();
            // SAFETY: the box is given up. Once pushed, the list owns it, and `woken` takes it
            // back. Until then its argument keeps the value alive.
            if unsafe { list.push(raw.cast::<Waiter>()) } == Enqueue::Pushed {
                return;
            }
            // SAFETY: the list refused the link, so the box still belongs to this function.
            this = unsafe { PoolBox::from_raw(raw) };
        }
        Self::dispatch(this);
    }

    /// Returns the list of waiters of the next argument that is pending.
    #[inline]
    fn next_pending(&mut self) -> Option<WaitList> {
        let registers = match &self.many {
            Some(many) => &many.registers[..],
            None => &self.few,
        };
        while let Some(last) = self.pending.checked_sub(1) {
            let argument = &registers[last as usize];
            if argument.is_pending() {
                return argument.wait_list();
            }
            self.pending = last;
        }
        None
    }

    #[inline]
    fn step(&self) -> &Step {
        &self.frame.plan().steps[self.step as usize]
    }

    #[inline]
    fn dispatch(this: PoolBox<Self>) {
        match this.step().dispatch {
            Dispatch::Inline | Dispatch::NonStrict => Self::run(this),
            Dispatch::Long if !more_ready() => Self::run(this),
            Dispatch::Blocking => Self::run_blocking(this),
            // If this thread has other kernels ready too, the queue spreads the long ones.
            Dispatch::Long | Dispatch::Queue => {
                let host = this.frame.get().cx.host().clone();
                host.add_task(Task::new(move || Self::run(this)));
            }
        }
    }

    /// Runs a kernel on the blocking pool. If the request is cancelled meanwhile, the results
    /// become errors at once, and the kernel's own results are dropped.
    #[inline(never)]
    fn run_blocking(mut this: PoolBox<Self>) {
        let cx = this.frame.get().cx.clone();
        let until_cancelled = |promise: &mut IndirectPromise| {
            let (inner, value) = IndirectPromise::new();
            let outer = mem::replace(promise, inner);
            let outer = cx.request().until_cancelled(outer, IndirectPromise::set_error);
            value.clone().and_then(move || {
                if let Some(promise) = outer.take() {
                    promise.forward_to(value);
                }
            });
        };
        this.many.iter_mut().flat_map(|many| &mut many.promises).for_each(until_cancelled);
        this.promise.iter_mut().for_each(until_cancelled);
        // A refused task is dropped, which makes the results errors.
        drop(cx.host().work_queue().add_blocking_task(Task::new(move || Self::run(this)), true));
    }

    fn run(mut this: PoolBox<Self>) {
        let failed = match this.call_with_scalars() {
            Some(Ok(result)) => {
                let (frame, promise) = (this.frame.0, this.promise.take());
                // Only the frame's handle is left in it.
                this.forget();
                // SAFETY: this is the handle of the kernel that was just forgotten.
                unsafe { Frame::release(frame, 1) };
                if let Some(promise) = promise {
                    promise.forward_to(result);
                }
                return;
            }
            Some(Err(payload)) => Some(this.panicked(&*payload)),
            None => this.call(),
        };
        this.produce(failed);
    }

    /// Calls a kernel of few scalars that are available, and returns its result. Returns `None`,
    /// without effect, for other kernels and for steps that must be skipped or traced.
    #[inline]
    fn call_with_scalars(&mut self) -> Option<thread::Result<AsyncValue>> {
        let Self { frame, step, many: None, few, .. } = self else { return None };
        let step = &frame.plan().steps[*step as usize];
        let scalar = step.scalar?;
        if tracing::is_enabled() || frame.get().cx.request().is_cancelled() {
            return None;
        }
        let arguments = step.operand_counts().0;
        for argument in &mut few[..arguments] {
            argument.unbox();
        }
        let run = || {
            // SAFETY: the operands used with this file are those of `IN_ORDER[..FEW]`, which number
            // these registers.
            let registers = unsafe { RegisterFile::new(few) };
            let frame = ScalarFrame::new(registers, &IN_ORDER[..FEW]);
            // SAFETY: `scalar` is the step's own. The step has at most `FEW` operands, or `many`
            // would hold them (`Deferring::defer`); in `few` they are in order: arguments, then the
            // result.
            unsafe { scalar(frame) }
        };
        match panic::catch_unwind(AssertUnwindSafe(run)) {
            Ok(true) => Some(Ok(few[arguments].take())),
            Ok(false) => None,
            Err(payload) => Some(Err(payload)),
        }
    }

    /// Returns the error that stands for a panic of the kernel.
    #[cold]
    fn panicked(&self, payload: &(dyn Any + Send)) -> AsyncValue {
        let cx = self.frame.context(self.step());
        AsyncValue::from_error(cx.emit(kernel_panic(payload)))
    }

    /// Calls the kernel. If that is not possible, returns the value that all results become
    /// instead.
    fn call(&mut self) -> Option<AsyncValue> {
        let Self { frame, step, many, few, .. } = self;
        if let Some(reason) = frame.get().cx.request().cancellation() {
            return Some(AsyncValue::from_error(reason.clone()));
        }
        let plan = frame.plan();
        let step = &plan.steps[*step as usize];
        let (arguments, results) = step.operand_counts();
        let registers = match many {
            Some(many) => &mut many.registers[..],
            None => &mut few[..arguments + results],
        };
        registers[..arguments].iter_mut().for_each(AsyncValue::unbox);
        let mut there = registers[..arguments].iter();
        if let Some(failed) = there.find(|argument| argument.status() == Status::Failed) {
            return Some(failed.clone());
        }
        let cx = frame.context(step);
        let ran = panic::catch_unwind(AssertUnwindSafe(|| call(registers, plan, step, &cx)));
        ran.err().map(|payload| AsyncValue::from_error(cx.emit(kernel_panic(&*payload))))
    }

    /// Completes the results with the values that the kernel set, or with `failed`.
    fn produce(&mut self, failed: Option<AsyncValue>) {
        let arguments = self.step().operand_counts().0;
        let Self { promise, many, few, .. } = self;
        let (registers, promises) = match many {
            Some(many) => (&mut many.registers[..], Some(&mut many.promises)),
            None => (&mut few[..], None),
        };
        let (arguments, results) = registers.split_at_mut(arguments);
        // The arguments are dropped first: waiters of a result may ask whether they hold the only
        // handle to an argument.
        arguments.iter_mut().for_each(|argument| *argument = AsyncValue::EMPTY);
        let produce = |promise: IndirectPromise, result: &mut AsyncValue| match &failed {
            None => promise.forward_to(result.take()),
            Some(error) => promise.forward_to(error.clone()),
        };
        if let Some(promise) = promise.take() {
            produce(promise, &mut results[0]);
        }
        if let Some(promises) = promises {
            promises.drain(..).zip(results).for_each(|(promise, result)| produce(promise, result));
        }
    }
}

/// Calls the kernel of a step with its own registers: arguments, then results.
fn call(registers: &mut [AsyncValue], plan: &Plan, step: &Step, cx: &ExecutionContext) {
    let numbered: Vec<Operand>;
    let operands = match IN_ORDER.get(..registers.len()) {
        Some(operands) => operands,
        None => {
            numbered = (0..registers.len() as u32).map(Operand::new).collect();
            &numbered
        }
    };
    // SAFETY: the operands used with this file are the numbers below `registers.len()`, which were
    // made above.
    let registers = unsafe { RegisterFile::new(registers) };
    let _span = tracing::span("kernel", || cx.kernel_name().unwrap_or("?").to_owned());
    let operands = operands.split_at(step.operand_counts().0);
    (step.run)(&mut KernelFrame::new(registers, operands, plan, step, cx));
}

// SAFETY: all fields except the link and the frame are `Send`. The list that the kernel is on owns
// the link's pointer, which is unused otherwise. The frame is counted atomically, and its contents
// may be shared.
unsafe impl Send for Deferred {}
