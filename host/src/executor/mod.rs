//! Runs the functions of a loaded program.
//!
//! # One pass and deferred kernels
//! The file lists a function's kernels in an order of their dependences, which verification proves.
//! So the executor walks them once, in that order. A kernel whose arguments are available runs at
//! once: no ready count, no queue, no allocation, and scalars stay in the registers' handles.
//!
//! A kernel with a pending argument is *deferred*. It moves with its arguments into a
//! [`deferred::Deferred`] that waits for them. Its results become pending values, which in turn
//! defer the kernels that use them. So the data, not the walk, decides when a kernel runs. The walk
//! never waits. When it ends, the function's registers are free again although its deferred kernels
//! live on.
//!
//! Kernels that compute for long move to the work queue if the plan shows that other kernels could
//! run beside them. Kernels that may wait always move to the blocking pool.
//!
//! # Errors
//! A strict kernel with an error among its arguments is skipped, and its results become the first
//! such error. Once the request is cancelled, kernels that have not started return the
//! cancellation.
//!
//! # Bounds
//! Calls nest on the stack up to [`MAX_STACK_DEPTH`]. Deeper ones continue on the work queue with a
//! fresh stack. Beyond [`MAX_CALL_DEPTH`] in all, calls fail.

#![expect(unsafe_code, reason = "register numbers are verified once, not at every use")]

mod deferred;
mod nesting;
mod registers;

use std::{
    any::Any,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
    thread,
};

use deferred::Deferring;
pub use nesting::{MAX_CALL_DEPTH, MAX_STACK_DEPTH};
use registers::Registers;

use crate::{
    async_value::{AsyncValue, IndirectPromise, Status},
    context::{BorrowedContext, ExecutionContext, RequestContext},
    diagnostic::{Diagnostic, ErrorCode},
    panics::kernel_panic,
    program::{
        Body, Dispatch, FunctionRef, KernelFrame, NativeFn, Operand, Plan, RegisterFile, ScalarFrame, Step,
    },
    tracing,
    work_queue::Task,
};

/// The number of scalar kernels between two checks for cancellation.
const CANCELLATION_INTERVAL: usize = 64;

/// A prepared call: first pass the arguments in order, then call [`Invocation::run`].
pub struct Invocation<'f> {
    function: FunctionRef<'f>,
    body: &'f Body,
    caller: &'f ExecutionContext,
    registers: Registers,
    arguments: usize,
}

impl<'f> FunctionRef<'f> {
    /// Prepares a call of this function from `cx`.
    #[inline]
    pub fn call(self, cx: &'f ExecutionContext) -> Invocation<'f> {
        let body = self.body();
        let registers = match body {
            Body::Async(plan) | Body::Sync(plan) => Registers::take(plan.register_count),
            Body::Native(_) => Registers::take(0),
        };
        Invocation { function: self, body, caller: cx, registers, arguments: 0 }
    }

    /// Calls the function. Arguments and results may be pending. A wrong number of arguments makes
    /// the results errors.
    pub fn execute(
        self,
        cx: &ExecutionContext,
        arguments: impl IntoIterator<Item = AsyncValue>,
    ) -> Vec<AsyncValue> {
        let mut call = self.call(cx);
        arguments.into_iter().for_each(|argument| call.argument(argument));
        let mut results = Vec::with_capacity(self.result_types().len());
        call.run(|_, value| results.push(value));
        results
    }
}

impl Invocation<'_> {
    /// Adds the next argument.
    #[inline]
    pub fn argument(&mut self, value: AsyncValue) {
        match self.body {
            Body::Async(plan) | Body::Sync(plan) => {
                if let Some(parameter) = plan.parameters.get(self.arguments)
                    && !parameter.is_last_use()
                {
                    self.registers.set(parameter.register(), value);
                }
            }
            Body::Native(_) => self.registers.push(value),
        }
        self.arguments += 1;
    }

    /// Runs the function. `result` receives each result with its number, in order.
    #[inline]
    pub fn run(self, mut result: impl FnMut(usize, AsyncValue)) {
        let Self { function, body, caller, registers, arguments } = self;
        run(function, body, caller, registers, arguments, &mut result);
    }

    /// Returns the context in which the function runs.
    #[inline]
    fn enter(&self) -> BorrowedContext<'_> {
        BorrowedContext::enter(self.caller, self.function.program())
    }

    /// Makes all results this error.
    #[cold]
    fn fail(&self, error: &AsyncValue, result: &mut dyn FnMut(usize, AsyncValue)) {
        (0..self.function.result_types().len()).for_each(|index| result(index, error.clone()));
    }

    /// The slow path: native functions, traced calls, and calls that must move to the work queue.
    #[inline(never)]
    fn run_slowly(mut self, result: &mut dyn FnMut(usize, AsyncValue)) {
        let expected = match self.body {
            Body::Async(plan) | Body::Sync(plan) => plan.parameters.len(),
            Body::Native(_) => self.function.argument_types().len(),
        };
        let depth = nesting::stack_depth();
        if self.arguments != expected || self.caller.depth >= MAX_CALL_DEPTH {
            return self.refuse(expected, result);
        }
        if depth >= MAX_STACK_DEPTH {
            return self.run_later(result);
        }
        let caller = self.caller;
        let run = || {
            let _span = tracing::span("function", || self.function.name().to_owned());
            match self.body {
                Body::Async(plan) | Body::Sync(plan) => self.run_on(plan, 0, Ok(()), result),
                Body::Native(function) => self.run_native(&**function, result),
            }
        };
        // SAFETY: `depth` was just read and is below the bound.
        unsafe { nesting::nest(caller, depth, run) };
    }

    /// Makes the results errors that say why the call is refused.
    #[cold]
    fn refuse(&self, expected: usize, result: &mut dyn FnMut(usize, AsyncValue)) {
        let failure = if self.arguments != expected {
            let (name, got) = (self.function.name(), self.arguments);
            Diagnostic::invalid_argument(format!("function '{name}' takes {expected} arguments, got {got}"))
        } else {
            nesting::too_deep()
        };
        self.fail(&AsyncValue::from_error(self.enter().emit(failure)), result);
    }

    /// Continues on the work queue, where the stack is fresh.
    #[cold]
    fn run_later(self, result: &mut dyn FnMut(usize, AsyncValue)) {
        let Self { function, caller, registers, arguments, .. } = self;
        let count = function.result_types().len();
        let (promises, values): (Vec<_>, Vec<_>) = (0..count).map(|_| IndirectPromise::new()).unzip();
        let host = caller.host().clone();
        let (function, caller) = (function.to_function(), caller.clone());
        if !caller.request().begin_call() {
            nesting::refuse_more_calls(&caller);
        }
        let pending = PendingCall(caller.request().clone());
        host.add_task(Task::new(move || {
            drop(pending);
            let function = function.as_ref();
            let mut promises = promises.into_iter();
            run(function, function.body(), &caller, registers, arguments, &mut |_, value| {
                if let Some(promise) = promises.next() {
                    promise.forward_to(value);
                }
            });
        }));
        values.into_iter().enumerate().for_each(|(index, value)| result(index, value));
    }

    fn run_native(&mut self, function: &NativeFn, result: &mut dyn FnMut(usize, AsyncValue)) {
        let count = self.function.result_types().len();
        let cx = self.enter();
        let values = function(&cx, &self.registers, count);
        if values.len() == count {
            values.into_iter().enumerate().for_each(|(index, value)| result(index, value));
        } else {
            let message = format!("the native function returned {} results instead of {count}", values.len());
            self.fail(&AsyncValue::from_error(cx.emit(Diagnostic::internal(message))), result);
        }
    }

    /// Continues from step `next`. `ended` says how the steps before it ended.
    #[inline(never)]
    fn run_on(
        &mut self,
        plan: &Plan,
        next: usize,
        ended: thread::Result<()>,
        result: &mut dyn FnMut(usize, AsyncValue),
    ) {
        match self.walk(plan, next, ended) {
            None => give(plan, &mut register_file(&mut self.registers, plan), result),
            Some(error) => self.fail(&error, result),
        }
    }

    /// Walks the kernels from step `next`. In a synchronous function the walk ends at the first
    /// error, which it returns.
    fn walk(&mut self, plan: &Plan, mut next: usize, mut ended: thread::Result<()>) -> Option<AsyncValue> {
        let mut cx = BorrowedContext::enter(self.caller, self.function.program());
        let mut walk = Walk {
            plan,
            cx: &mut cx,
            request: self.caller.request(),
            registers: register_file(&mut self.registers, plan),
            function: self.function,
            deferring: None,
            traced: tracing::is_enabled(),
            stop_at_error: matches!(self.body, Body::Sync(_)),
        };
        loop {
            // A panic becomes an error like any other, and the walk continues with the next step.
            if let Err(payload) = ended {
                let error = walk.panicked(&plan.steps[next - 1], &*payload);
                if walk.stop_at_error {
                    return Some(error);
                }
            }
            match panic::catch_unwind(AssertUnwindSafe(|| walk.run(&mut next))) {
                Ok(error) => return error,
                Err(payload) => ended = Err(payload),
            }
        }
    }
}

/// Counts a call that is pending on the work queue.
struct PendingCall(Arc<RequestContext>);

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.0.end_call();
    }
}

/// Runs a function with the arguments in its registers.
// Not a method, so that its parameters are passed in machine registers.
fn run(
    function: FunctionRef<'_>,
    body: &Body,
    caller: &ExecutionContext,
    mut registers: Registers,
    arguments: usize,
    result: &mut dyn FnMut(usize, AsyncValue),
) {
    let depth = nesting::stack_depth();
    if let Body::Async(plan) | Body::Sync(plan) = body
        && arguments == plan.parameters.len()
        && caller.depth < MAX_CALL_DEPTH
        && depth < MAX_STACK_DEPTH
        && !tracing::is_enabled()
    {
        let run = || {
            let mut file = register_file(&mut registers, plan);
            // Many functions compute only with scalars and end here.
            let mut ended = Ok(());
            let next = run_scalars(plan, &mut file, caller.request(), 0, &mut ended);
            if next == plan.steps.len() && ended.is_ok() {
                give(plan, &mut file, result);
                // The kernels here used and set only scalars, and the results were moved out.
                registers.give_back();
            } else {
                Invocation { function, body, caller, registers, arguments }.run_on(plan, next, ended, result);
            }
        };
        // SAFETY: `depth` was just read and is below the bound.
        unsafe { nesting::nest(caller, depth, run) };
    } else {
        Invocation { function, body, caller, registers, arguments }.run_slowly(result);
    }
}

/// Returns the register file of an invocation of `plan`.
#[inline]
fn register_file<'r>(registers: &'r mut Registers, plan: &Plan) -> RegisterFile<'r> {
    assert!(registers.len() >= plan.register_count, "registers were taken for this plan");
    // SAFETY: the operands of a plan name registers below its register count.
    unsafe { RegisterFile::new(registers) }
}

/// Passes the results to `result`.
#[inline]
fn give(plan: &Plan, registers: &mut RegisterFile<'_>, result: &mut dyn FnMut(usize, AsyncValue)) {
    for (index, &operand) in plan.returns.iter().enumerate() {
        result(index, registers.use_up(operand));
    }
}

/// Runs the scalar kernels from step `next` as long as their arguments are available. Returns the
/// first step that is something else, or the step after the first one that panics, with the panic
/// in `panicked`.
// Instantiated twice, so that the function that runs whole calls keeps its state in machine
// registers.
#[inline(always)]
fn run_scalars(
    plan: &Plan,
    registers: &mut RegisterFile<'_>,
    request: &RequestContext,
    mut next: usize,
    panicked: &mut thread::Result<()>,
) -> usize {
    while next < plan.steps.len() && !request.is_cancelled() {
        let end = plan.steps.len().min(next + CANCELLATION_INTERVAL);
        let ran = panic::catch_unwind(AssertUnwindSafe(|| {
            for step in &plan.steps[next..end] {
                let Some(scalar) = step.scalar else { break };
                // SAFETY: the step belongs to this plan, and `scalar` belongs to the step. The
                // loader checked that the step has the operands that the kernel's signature
                // declares: arguments, then results.
                if !unsafe { scalar(ScalarFrame::new(registers.reborrow(), plan.all_operands_of(step))) } {
                    break;
                }
                next += 1;
            }
        }));
        if let Err(payload) = ran {
            *panicked = Err(payload);
            return next + 1;
        }
        if next != end {
            break;
        }
    }
    next
}

/// The arguments and results of a step.
type Operands<'p> = (&'p [Operand], &'p [Operand]);

/// The state of a step's arguments.
struct Arrived {
    /// Some of them are reference-counted values, not scalars.
    are_counted: bool,
    /// The number of leading arguments to wait for; none after them is pending.
    pending: usize,
    /// The first error among the available ones.
    failed: Option<Operand>,
}

/// The state of one walk.
struct Walk<'w> {
    plan: &'w Plan,
    cx: &'w mut ExecutionContext,
    /// The request of `cx`.
    request: &'w RequestContext,
    registers: RegisterFile<'w>,
    function: FunctionRef<'w>,
    /// The state that the deferred kernels of this call share, once there are any.
    deferring: Option<Deferring>,
    traced: bool,
    stop_at_error: bool,
}

impl<'w> Walk<'w> {
    /// Continues from step `next`, which is always one after the current step.
    fn run(&mut self, next: &mut usize) -> Option<AsyncValue> {
        let plan = self.plan;
        loop {
            let number = *next;
            let step = plan.steps.get(number)?;
            *next += 1;
            // SAFETY: the step belongs to this plan.
            let (arguments, results) = unsafe { plan.operands_of_unchecked(step) };
            let Arrived { are_counted, pending, failed } = self.look_at(arguments);
            if !are_counted && step.scalar.is_some() && !self.traced && self.run_scalars(next) {
                continue;
            }
            let goes_on = !self.request.is_cancelled();
            let is_ready = pending == 0 && failed.is_none() && step.dispatch <= Dispatch::Long && goes_on;
            let waits = pending != 0 && step.dispatch != Dispatch::NonStrict && goes_on;
            if waits && !self.stop_at_error {
                self.defer(number, pending, (arguments, results));
            } else if is_ready || self.consider(step, number, pending, failed) {
                self.call(step, (arguments, results));
                if are_counted {
                    self.release(arguments);
                }
            }
            if self.stop_at_error
                && let Some(&failed) =
                    results.iter().find(|&&r| self.registers.get(r).status() == Status::Failed)
            {
                return Some(self.registers.get(failed).clone());
            }
            if step.has_unused_result {
                self.release(results);
            }
        }
    }

    /// Runs the scalar kernels from the one before step `next`. Returns false if there is none.
    #[inline(never)]
    fn run_scalars(&mut self, next: &mut usize) -> bool {
        let (first, mut ended) = (*next - 1, Ok(()));
        let end = run_scalars(self.plan, &mut self.registers, self.request, first, &mut ended);
        if end != first {
            *next = end;
        }
        if let Err(payload) = ended {
            panic::resume_unwind(payload);
        }
        end != first
    }

    /// Returns the state of a step's arguments.
    #[inline]
    fn look_at(&self, arguments: &[Operand]) -> Arrived {
        let (mut are_counted, mut pending, mut failed) = (false, 0, None);
        for (number, &argument) in arguments.iter().enumerate() {
            let value = self.registers.get(argument);
            if value.is_inline() {
                continue;
            }
            are_counted = true;
            if value.is_pending() {
                pending = number + 1;
            } else if failed.is_none() && value.status() == Status::Failed {
                failed = Some(argument);
            }
        }
        Arrived { are_counted, pending, failed }
    }

    /// Decides what happens to step `number`, which is neither simply ready nor simply waiting. Its
    /// first `pending` arguments may be pending, and `failed` is an error among the others. Returns
    /// true if the step is to be called now.
    // Out of line, so that the loop around it keeps its state in machine registers.
    #[inline(never)]
    fn consider(&mut self, step: &'w Step, number: usize, pending: usize, failed: Option<Operand>) -> bool {
        let (arguments, results) = self.plan.operands_of(step);
        let error = if let Some(reason) = self.request.cancellation() {
            AsyncValue::from_error(reason.clone())
        } else if step.dispatch == Dispatch::NonStrict {
            return true;
        } else if pending != 0 && self.stop_at_error {
            (self.cx.location, self.cx.kernel) = (step.location, step.kernel);
            self.cx.error(ErrorCode::FailedPrecondition, "a synchronous function received a pending value")
        } else if failed.is_none() && step.dispatch > Dispatch::Long && !self.stop_at_error {
            self.defer(number, pending, (arguments, results));
            return false;
        } else if let Some(argument) = failed {
            self.registers.get(argument).clone()
        } else {
            return true;
        };
        self.fail(results, &error);
        self.release(arguments);
        false
    }

    /// Moves the kernel and its arguments, of which the first `pending` may be pending, out of the
    /// walk. Arguments that are used for the last time are moved instead of shared.
    #[inline]
    fn defer(&mut self, number: usize, pending: usize, operands: Operands<'w>) {
        let deferring = self.deferring.get_or_insert_with(|| Deferring::new(self.cx, self.function));
        deferring.defer(number, pending, &mut self.registers, operands);
    }

    #[inline]
    fn call(&mut self, step: &'w Step, operands: Operands<'w>) {
        (self.cx.location, self.cx.kernel) = (step.location, step.kernel);
        if self.traced {
            return self.call_traced(step, operands);
        }
        (step.run)(&mut KernelFrame::new(self.registers.reborrow(), operands, self.plan, step, self.cx));
    }

    #[cold]
    fn call_traced(&mut self, step: &'w Step, operands: Operands<'w>) {
        let _span = tracing::span("kernel", || self.cx.kernel_name().unwrap_or("?").to_owned());
        (step.run)(&mut KernelFrame::new(self.registers.reborrow(), operands, self.plan, step, self.cx));
    }

    /// Releases the registers that are used for the last time.
    fn release(&mut self, operands: &[Operand]) {
        for &operand in operands {
            if operand.is_last_use() {
                *self.registers.get_mut(operand) = AsyncValue::EMPTY;
            }
        }
    }

    fn fail(&mut self, results: &[Operand], error: &AsyncValue) {
        for &result in results {
            *self.registers.get_mut(result) = error.clone();
        }
    }

    /// Makes a panic in a step the error of its results.
    fn panicked(&mut self, step: &Step, payload: &(dyn Any + Send)) -> AsyncValue {
        (self.cx.location, self.cx.kernel) = (step.location, step.kernel);
        let error = AsyncValue::from_error(self.cx.emit(kernel_panic(payload)));
        let (arguments, results) = self.plan.operands_of(step);
        self.fail(results, &error);
        self.release(arguments);
        error
    }
}
