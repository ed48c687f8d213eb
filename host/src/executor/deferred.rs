//! A kernel that left the walk: it waits for its arguments, then runs wherever the last of them was produced.
//!
//! It waits for one argument at a time, so one link and no counter do for any number of arguments: when it is
//! woken it goes on to the next argument that is still pending. It begins with the last one, which is often the last to
//! be produced too: then the others are there by the time it is woken. While it waits, the list it is on owns it.
//!
//! A million of them may wait at once, so they are small: what all deferred kernels of a call have in common is in
//! one [`Frame`], and what the plan knows is asked of the plan.

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

/// What the deferred kernels of one call share.
struct Frame {
    /// Kernels that still hold it, and [`WALK`] while the walk goes on.
    holders: AtomicUsize,
    plan: NonNull<Plan>,
    cx: ExecutionContext,
}

/// What the walk counts for: more than all kernels it can defer.
const WALK: usize = 1 << (usize::BITS - 2);

/// The walk's side of a frame. It counts the kernels it defers on its own and settles with the others at the end.
pub(super) struct Deferring {
    frame: NonNull<Frame>,
    deferred: usize,
}

impl Deferring {
    /// The frame of a call of `function` in `cx`.
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

    /// Defers step `number`, of which the first `pending` arguments may be pending, with what its operands say in
    /// `registers`.
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
            // What is replaced here is nothing, which is not worth the code to drop it.
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

/// Makes a result pending.
#[inline(always)]
fn promise(registers: &mut RegisterFile<'_>, result: Operand) -> IndirectPromise {
    let (promise, value) = IndirectPromise::new();
    *registers.get_mut(result) = value;
    promise
}

impl Drop for Deferring {
    fn drop(&mut self) {
        // SAFETY: the walk held the frame for as much as is given back here.
        unsafe { Frame::release(self.frame, WALK - self.deferred) };
    }
}

impl Frame {
    /// # Safety
    /// The caller holds the frame `count` times and gives all of them back.
    #[inline]
    unsafe fn release(frame: NonNull<Self>, count: usize) {
        // SAFETY: alive, because the caller holds it.
        if unsafe { frame.as_ref() }.holders.fetch_sub(count, Ordering::Release) == count {
            fence(Ordering::Acquire);
            // SAFETY: nobody holds it any more; `Deferring::new` took it out of such a box.
            let frame = unsafe { PoolBox::from_raw(frame) };
            frame.cx.request().end_call();
        }
    }
}

/// A deferred kernel's share of its frame.
struct FrameRef(NonNull<Frame>);

impl FrameRef {
    #[inline]
    fn get(&self) -> &Frame {
        // SAFETY: held.
        unsafe { self.0.as_ref() }
    }

    #[inline]
    fn plan(&self) -> &Plan {
        // SAFETY: the plan is part of the program that the frame's context keeps, and does not move or change.
        unsafe { self.get().plan.as_ref() }
    }

    /// The context of a call of this step.
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
        // SAFETY: held once, by this.
        unsafe { Frame::release(self.0, 1) };
    }
}

/// Arguments and results of most kernels.
const FEW: usize = 3;

#[repr(C)]
pub(super) struct Deferred {
    link: Waiter,
    frame: FrameRef,
    step: u32,
    /// So many arguments may be pending; those behind have been seen available.
    pending: u32,
    /// The producer of the result, if there is one and it fits here.
    promise: Option<IndirectPromise>,
    /// What does not fit here.
    many: Option<Box<Many>>,
    /// Arguments, then room for the result.
    few: [AsyncValue; FEW],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Deferred>() == 96, "see the module");

/// Registers of a kernel that has more than a few, or several results: arguments, then results, with their producers.
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

/// Register numbers of deferred kernels: arguments and results are numbered through.
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
        // SAFETY: `link` leads to a `PoolBox<Deferred>` that is now ours, as this function demands, because it is the first
        // field of a `repr(C)` struct.
        let deferred = unsafe { PoolBox::from_raw(NonNull::new_unchecked(link).cast::<Self>()) };
        Self::advance(deferred);
    }

    /// Waits for the next pending argument, or runs.
    fn advance(mut this: PoolBox<Self>) {
        while let Some(list) = this.next_pending() {
            let raw = this.into_raw();
            // SAFETY: the box is given up; once pushed, the list owns it and `woken` takes it back. Its argument is a
            // handle to the value until then.
            if unsafe { list.push(raw.cast::<Waiter>()) } == Enqueue::Pushed {
                return;
            }
            // SAFETY: the list did not take it.
            this = unsafe { PoolBox::from_raw(raw) };
        }
        Self::dispatch(this);
    }

    /// Where to wait for the next argument that is pending.
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
            // If others are ready on this thread too, the queue spreads what is long.
            Dispatch::Long | Dispatch::Queue => {
                let host = this.frame.get().cx.host().clone();
                host.add_task(Task::new(move || Self::run(this)));
            }
        }
    }

    /// Runs a kernel on the blocking pool. If the request is cancelled meanwhile, its results are errors at once, and what
    /// it returns is dropped.
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
        // A task that is refused is dropped, which makes the results errors.
        drop(cx.host().work_queue().add_blocking_task(Task::new(move || Self::run(this)), true));
    }

    fn run(mut this: PoolBox<Self>) {
        let failed = match this.call_with_scalars() {
            Some(Ok(result)) => {
                let (frame, promise) = (this.frame.0, this.promise.take());
                // Nothing is left in it but the frame.
                this.forget();
                // SAFETY: the share of the kernel that was just forgotten.
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

    /// Calls a kernel of few scalars that are there, and gives its result. `None` if it is another sort of kernel, or is
    /// to be skipped or traced: then nothing was done.
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
            // SAFETY: the operands used with this file are those of `IN_ORDER[..FEW]`, which number these registers.
            let registers = unsafe { RegisterFile::new(few) };
            let frame = ScalarFrame::new(registers, &IN_ORDER[..FEW]);
            // SAFETY: `scalar` is the step's own. The step has at most `FEW` operands, or `many` would hold them
            // (`Deferring::defer`); in `few` they are in order: arguments, then the result.
            unsafe { scalar(frame) }
        };
        match panic::catch_unwind(AssertUnwindSafe(run)) {
            Ok(true) => Some(Ok(few[arguments].take())),
            Ok(false) => None,
            Err(payload) => Some(Err(payload)),
        }
    }

    /// What a panic in the kernel gives.
    #[cold]
    fn panicked(&self, payload: &(dyn Any + Send)) -> AsyncValue {
        let cx = self.frame.context(self.step());
        AsyncValue::from_error(cx.emit(kernel_panic(payload)))
    }

    /// Calls the kernel. Gives what the results are instead if it cannot.
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

    /// Makes the results available: what the kernel set, or `failed`.
    fn produce(&mut self, failed: Option<AsyncValue>) {
        let arguments = self.step().operand_counts().0;
        let Self { promise, many, few, .. } = self;
        let (registers, promises) = match many {
            Some(many) => (&mut many.registers[..], Some(&mut many.promises)),
            None => (&mut few[..], None),
        };
        let (arguments, results) = registers.split_at_mut(arguments);
        // The arguments go first: a result's waiters may ask whether they are the only ones to hold them.
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

/// Calls the kernel of a step with registers of its own: arguments, then results.
fn call(registers: &mut [AsyncValue], plan: &Plan, step: &Step, cx: &ExecutionContext) {
    let numbered: Vec<Operand>;
    let operands = match IN_ORDER.get(..registers.len()) {
        Some(operands) => operands,
        None => {
            numbered = (0..registers.len() as u32).map(Operand::new).collect();
            &numbered
        }
    };
    // SAFETY: the operands used with this file are the numbers below `registers.len()`, made above.
    let registers = unsafe { RegisterFile::new(registers) };
    let _span = tracing::span("kernel", || cx.kernel_name().unwrap_or("?").to_owned());
    let operands = operands.split_at(step.operand_counts().0);
    (step.run)(&mut KernelFrame::new(registers, operands, plan, step, cx));
}

// SAFETY: every field but the link and the frame may be sent. The link's pointer is owned by whichever list the kernel
// is on, and unused while it is on none; the frame is counted atomically, and what it holds may be shared.
unsafe impl Send for Deferred {}
