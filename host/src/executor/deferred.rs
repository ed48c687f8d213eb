//! A kernel that left the walk: it waits for its arguments, then runs wherever the last of them was produced.
//!
//! It waits for one argument at a time, so one link and no counter do for any number of arguments: when it is
//! woken it goes on to the next argument that is still pending. While it waits, the list it is on owns it.

#![expect(unsafe_code, reason = "the kernel is a link of intrusive waiter lists")]

use std::{
    panic::{self, AssertUnwindSafe},
    ptr::{self, NonNull},
};

use super::panic_diagnostic;
use crate::{
    async_value::{
        AsyncValue, IndirectPromise, Status, more_ready,
        state::{Enqueue, Waiter},
    },
    context::ExecutionContext,
    kernel::{
        KernelFrame, Placement,
        frame::{Operand, RegisterFile},
    },
    pool::PoolBox,
    program::{Body, Dispatch, FunctionRef, Plan},
    tracing,
    work_queue::Task,
};

/// Arguments and results of most kernels.
const FEW: usize = 4;

#[repr(C)]
pub(super) struct Deferred {
    link: Waiter,
    cx: ExecutionContext,
    function: u32,
    step: u32,
    /// Arguments before this one have been seen available.
    next: u32,
    argument_count: u32,
    /// Arguments, then room for the results: in `few` if they fit, else in `many`.
    count: u32,
    few: [AsyncValue; FEW],
    many: Vec<AsyncValue>,
    /// The first result's producer, and those of further results.
    promise: Option<IndirectPromise>,
    promises: Vec<IndirectPromise>,
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
    /// A kernel whose arguments are still to be filled in.
    pub(super) fn new(
        cx: ExecutionContext,
        function: u32,
        step: usize,
        argument_count: usize,
        result_count: usize,
    ) -> PoolBox<Self> {
        let count = argument_count + result_count;
        let mut many = Vec::new();
        if count > FEW {
            many.resize(count, AsyncValue::EMPTY);
        }
        PoolBox::new(Self {
            link: Waiter { next: ptr::null_mut(), run: Self::woken },
            cx,
            function,
            step: step as u32,
            next: 0,
            argument_count: argument_count as u32,
            count: count as u32,
            few: [AsyncValue::EMPTY; FEW],
            many,
            promise: None,
            promises: Vec::new(),
        })
    }

    fn registers(&self) -> &[AsyncValue] {
        if self.many.is_empty() { &self.few[..self.count as usize] } else { &self.many }
    }

    fn registers_mut(&mut self) -> &mut [AsyncValue] {
        if self.many.is_empty() { &mut self.few[..self.count as usize] } else { &mut self.many }
    }

    /// The places of the arguments.
    pub(super) fn arguments_mut(&mut self) -> &mut [AsyncValue] {
        let count = self.argument_count as usize;
        &mut self.registers_mut()[..count]
    }

    /// The next result, pending.
    pub(super) fn promise(&mut self) -> AsyncValue {
        let (promise, value) = IndirectPromise::new();
        if self.promise.is_none() {
            self.promise = Some(promise);
        } else {
            self.promises.push(promise);
        }
        value
    }

    /// # Safety
    /// `link` is the first field of a `PoolBox<Deferred>` that a list owned and now gives up.
    unsafe fn woken(link: *mut Waiter) {
        // SAFETY: by contract; `link` is the first field of a `repr(C)` struct.
        let deferred = unsafe { PoolBox::from_raw(NonNull::new_unchecked(link).cast::<Self>()) };
        Self::advance(deferred);
    }

    /// Waits for the next pending argument, or runs.
    pub(super) fn advance(mut this: PoolBox<Self>) {
        while let Some(number) = this.next_pending() {
            this.next = number as u32;
            let Some(list) = this.registers()[number].wait_list() else { continue };
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

    fn next_pending(&self) -> Option<usize> {
        let arguments = self.next as usize..self.argument_count as usize;
        arguments.into_iter().find(|&number| self.registers()[number].status() == Status::Pending)
    }

    fn dispatch(mut this: PoolBox<Self>) {
        let dispatch = this.plan().map_or(Dispatch::Inline, |plan| plan.steps[this.step as usize].dispatch);
        if dispatch == Dispatch::Blocking {
            let host = this.cx.host().clone();
            // A task that is refused is dropped, which makes the results errors.
            drop(host.work_queue().add_blocking_task(Task::new(move || this.run()), true));
        } else if dispatch == Dispatch::Queue || more_ready() && this.is_long() {
            // If others are ready on this thread too, the queue spreads what is long.
            let host = this.cx.host().clone();
            host.add_task(Task::new(move || this.run()));
        } else {
            this.run();
        }
    }

    fn is_long(&self) -> bool {
        self.cx.program().kernel(self.cx.kernel).placement() == Placement::Parallel
    }

    fn plan(&self) -> Option<&Plan> {
        match FunctionRef::new(self.cx.program(), self.function).body() {
            Body::Async(plan) | Body::Sync(plan) => Some(plan),
            Body::Native(_) => None,
        }
    }

    fn run(&mut self) {
        let cancellation = self.cx.request().cancellation().cloned();
        let arguments = &self.registers()[..self.argument_count as usize];
        let failed = cancellation.or_else(|| arguments.iter().find_map(AsyncValue::error));
        if let Some(error) = failed {
            let error = AsyncValue::from_error(error);
            return self.produce(|_| error.clone());
        }
        let ran = panic::catch_unwind(AssertUnwindSafe(|| self.call()));
        if let Err(payload) = ran {
            let error = AsyncValue::from_error(self.cx.emit(panic_diagnostic(&*payload)));
            return self.produce(|_| error.clone());
        }
        // The arguments go first: a result's waiters may ask whether they are the only ones to hold them.
        self.arguments_mut().fill(AsyncValue::EMPTY);
        self.produce(AsyncValue::take);
    }

    /// Makes each result what `value` makes of its register.
    fn produce(&mut self, mut value: impl FnMut(&mut AsyncValue) -> AsyncValue) {
        let first = self.argument_count as usize;
        let promises = self.promise.take().into_iter().chain(std::mem::take(&mut self.promises));
        for (promise, register) in promises.zip(&mut self.registers_mut()[first..]) {
            promise.forward_to(value(register));
        }
    }

    fn call(&mut self) {
        let Self { cx, few, many, .. } = self;
        let registers = if many.is_empty() { &mut few[..self.count as usize] } else { &mut many[..] };
        let (Body::Async(plan) | Body::Sync(plan)) = FunctionRef::new(cx.program(), self.function).body()
        else {
            return;
        };
        let numbered: Vec<Operand>;
        let operands = if registers.len() <= IN_ORDER.len() {
            &IN_ORDER[..registers.len()]
        } else {
            numbered = (0..self.count).map(Operand::new).collect();
            &numbered
        };
        let step = &plan.steps[self.step as usize];
        let _span = tracing::is_enabled()
            .then(|| tracing::span("kernel", || cx.kernel_name().unwrap_or("?").to_owned()));
        // SAFETY: the operands number these registers through.
        let registers = unsafe { RegisterFile::new(registers) };
        let operands = operands.split_at(self.argument_count as usize);
        (step.run)(&mut KernelFrame::new(registers, operands, plan, step, cx));
    }
}

// SAFETY: every field but the link may be sent; the link's pointer is owned by whichever list the kernel is on,
// and unused while it is on none.
unsafe impl Send for Deferred {}
