//! A kernel that left the walk: it waits for its arguments, then runs wherever the last of them was produced.
//!
//! It waits for one argument at a time, so one link and no counter do for any number of arguments: when it is
//! woken it goes on to the next argument that is still pending. While it waits, the list it is on owns it.

#![expect(unsafe_code, reason = "the kernel is a link of intrusive waiter lists")]

use std::{
    panic::{self, AssertUnwindSafe},
    ptr::{self, NonNull},
};

use smallvec::SmallVec;

use super::panic_diagnostic;
use crate::{
    async_value::{
        AsyncValue, IndirectPromise, Status, more_ready,
        state::{Enqueue, Waiter},
    },
    context::ExecutionContext,
    kernel::{KernelFrame, frame::Operand},
    program::{Body, Dispatch, FunctionRef, Plan},
    tracing,
    work_queue::Task,
};

#[repr(C)]
pub(super) struct Deferred {
    link: Waiter,
    cx: ExecutionContext,
    function: u32,
    step: u32,
    /// Arguments before this one have been seen available.
    next: u32,
    argument_count: u32,
    /// Arguments, then room for the results.
    registers: SmallVec<[AsyncValue; 4]>,
    promises: SmallVec<[IndirectPromise; 2]>,
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
    /// A kernel with its arguments, and the pending values that will be its results.
    pub(super) fn new(
        cx: ExecutionContext,
        function: u32,
        step: usize,
        arguments: impl ExactSizeIterator<Item = AsyncValue>,
        results: usize,
    ) -> (Box<Self>, SmallVec<[AsyncValue; 2]>) {
        let argument_count = arguments.len();
        let mut registers: SmallVec<[AsyncValue; 4]> = SmallVec::with_capacity(argument_count + results);
        registers.extend(arguments);
        registers.resize(argument_count + results, AsyncValue::EMPTY);
        let (promises, values) = (0..results).map(|_| IndirectPromise::new()).unzip();
        let deferred = Box::new(Self {
            link: Waiter { next: ptr::null_mut(), run: Self::woken },
            cx,
            function,
            step: step as u32,
            next: 0,
            argument_count: argument_count as u32,
            registers,
            promises,
        });
        (deferred, values)
    }

    /// # Safety
    /// `link` is the first field of a `Box<Deferred>` that a list owned and now gives up.
    unsafe fn woken(link: *mut Waiter) {
        // SAFETY: by contract; `link` is the first field of a `repr(C)` struct.
        let deferred = unsafe { Box::from_raw(link.cast::<Self>()) };
        deferred.advance();
    }

    /// Waits for the next pending argument, or runs.
    pub(super) fn advance(mut self: Box<Self>) {
        while let Some(number) = self.next_pending() {
            self.next = number as u32;
            let value = self.registers[number].clone();
            let raw = Box::into_raw(self);
            // SAFETY: the box is leaked; once pushed, the list owns it and `woken` takes it back. The value is a
            // handle of its own, so it outlives the push even if the kernel runs elsewhere meanwhile.
            if unsafe { value.enqueue(NonNull::new_unchecked(raw).cast::<Waiter>()) } == Enqueue::Pushed {
                return;
            }
            // SAFETY: the list did not take it.
            self = unsafe { Box::from_raw(raw) };
        }
        self.dispatch();
    }

    fn next_pending(&self) -> Option<usize> {
        let arguments = self.next as usize..self.argument_count as usize;
        arguments.into_iter().find(|&number| self.registers[number].status() == Status::Pending)
    }

    fn dispatch(self: Box<Self>) {
        let host = self.cx.host().clone();
        let dispatch = self.plan().map(|plan| plan.steps[self.step as usize].dispatch);
        match dispatch {
            Some(Dispatch::Blocking) => {
                // A task that is refused is dropped, which makes the results errors.
                drop(host.work_queue().add_blocking_task(Task::new(move || self.run()), true));
            }
            Some(Dispatch::Queue) => host.add_task(Task::new(move || self.run())),
            // Others are ready on this thread: let the queue spread what is long.
            _ if more_ready() && self.is_long() => host.add_task(Task::new(move || self.run())),
            _ => self.run(),
        }
    }

    fn is_long(&self) -> bool {
        self.cx.program().kernel(self.cx.kernel).placement() == crate::kernel::Placement::Parallel
    }

    fn plan(&self) -> Option<&Plan> {
        match FunctionRef::new(self.cx.program(), self.function).body() {
            Body::Async(plan) | Body::Sync(plan) => Some(plan),
            Body::Native(_) => None,
        }
    }

    #[expect(clippy::boxed_local, reason = "the box is what lists and tasks hold")]
    fn run(mut self: Box<Self>) {
        let count = self.argument_count as usize;
        let failed = self.registers[..count].iter().find_map(AsyncValue::error);
        if let Some(error) = self.cx.request().cancellation().cloned().or(failed) {
            return self.promises.into_iter().for_each(|promise| promise.set_error(error.clone()));
        }
        let ran = panic::catch_unwind(AssertUnwindSafe(|| self.call()));
        if let Err(payload) = ran {
            let error = self.cx.emit(panic_diagnostic(&*payload));
            self.registers[count..].fill(AsyncValue::from_error(error));
        }
        let Self { registers, promises, .. } = *self;
        let mut registers = registers.into_iter();
        // The arguments go first: a result's waiters may ask whether they are the only ones to hold them.
        registers.by_ref().take(count).for_each(drop);
        for (promise, value) in promises.into_iter().zip(registers) {
            promise.forward_to(value);
        }
    }

    fn call(&mut self) {
        let program = self.cx.program().clone();
        let (Body::Async(plan) | Body::Sync(plan)) = FunctionRef::new(&program, self.function).body() else {
            return;
        };
        let numbers: SmallVec<[Operand; 0]>;
        let in_order = if self.registers.len() <= IN_ORDER.len() {
            &IN_ORDER[..self.registers.len()]
        } else {
            numbers = (0..self.registers.len() as u32).map(Operand::new).collect();
            &numbers
        };
        let (arguments, results) = in_order.split_at(self.argument_count as usize);
        let kernel = program.kernel(self.cx.kernel);
        let _span = tracing::is_enabled().then(|| tracing::span("kernel", || kernel.name().to_owned()));
        kernel.function()(&mut KernelFrame {
            registers: &mut self.registers,
            arguments,
            results,
            attributes: plan.attributes_of(self.step as usize),
            functions: plan.functions_of(self.step as usize),
            cx: &self.cx,
        });
    }
}

// SAFETY: every field but the link may be sent; the link's pointer is owned by whichever list the kernel is on,
// and unused while it is on none.
unsafe impl Send for Deferred {}
