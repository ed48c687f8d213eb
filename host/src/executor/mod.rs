//! Runs the functions of a loaded program.
//!
//! # One pass, and what is left over
//! A function's kernels stand in the file in an order of their dependences (verification proves it), so the
//! executor walks them once, in that order. A kernel whose arguments are there runs on the spot: no ready
//! count, no queue, no allocation; scalars stay in the handles that registers are. A kernel with an argument
//! still pending is *deferred*: it moves, with its arguments, into a [`deferred::Deferred`] of its own that
//! waits for them, and its results become pending values, which in turn defer the kernels that use them. So
//! the data, not the walk, decides when a kernel runs; nothing waits, and when the walk is over the function's
//! registers are free again although its deferred kernels live on.
//!
//! Kernels that compute for long leave the walk through the work queue when the plan shows that others could
//! run beside them; kernels that may wait always leave it, through the blocking pool.
//!
//! # Errors
//! A strict kernel with an error among its arguments is skipped and hands on the first one. Once the request
//! is cancelled, kernels not yet started give the cancellation.
//!
//! # Bounds
//! Calls nest on the stack up to [`STACK_DEPTH_MAX`]; deeper ones continue on the work queue with a fresh
//! stack, up to [`CALL_DEPTH_MAX`] in all, beyond which they fail.

#![expect(unsafe_code, reason = "register numbers are verified once, not at every use")]

mod deferred;
mod registers;

use std::{
    any::Any,
    cell::Cell,
    mem,
    panic::{self, AssertUnwindSafe},
    thread,
};

use deferred::Deferring;
use registers::Registers;

use crate::{
    async_value::{AsyncValue, IndirectPromise, Status},
    context::{BorrowedContext, ExecutionContext},
    diagnostic::{Diagnostic, ErrorCode},
    kernel::{
        KernelFrame, NativeFn, ScalarFrame,
        frame::{Operand, RegisterFile},
    },
    program::{Body, Dispatch, FunctionRef, Plan, Step},
    tracing,
    work_queue::Task,
};

/// Nested calls on one thread's stack before a call continues on the work queue.
pub const STACK_DEPTH_MAX: u32 = 64;
/// Nested calls in all.
pub const CALL_DEPTH_MAX: u32 = 100_000;

/// Kernels of scalars between two looks at whether the request was cancelled.
const CANCELLATION_INTERVAL: usize = 64;

thread_local!(static STACK_DEPTH: Cell<u32> = const { Cell::new(0) });

/// A call being prepared: first the arguments in order, then [`Invocation::run`].
pub struct Invocation<'f> {
    function: FunctionRef<'f>,
    cx: BorrowedContext<'f>,
    registers: Registers,
    arguments: usize,
}

impl<'f> FunctionRef<'f> {
    /// Begins a call of this function from `cx`.
    #[inline]
    pub fn call(self, cx: &'f ExecutionContext) -> Invocation<'f> {
        let registers = match self.body() {
            Body::Async(plan) | Body::Sync(plan) => Registers::take(plan.register_count),
            Body::Native(_) => Registers::take(0),
        };
        Invocation { function: self, cx: BorrowedContext::enter(cx, self.program()), registers, arguments: 0 }
    }

    /// Calls the function. Arguments and results may be pending; a wrong number of arguments makes the results
    /// errors.
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
    /// The next argument.
    #[inline]
    pub fn argument(&mut self, value: AsyncValue) {
        match self.function.body() {
            Body::Async(plan) | Body::Sync(plan) => {
                if let Some(parameter) = plan.parameters.get(self.arguments)
                    && !parameter.is_last_use()
                {
                    self.registers[parameter.register()] = value;
                }
            }
            Body::Native(_) => self.registers.push(value),
        }
        self.arguments += 1;
    }

    /// Runs the function; `result` gets each result with its number, in order.
    // Inlined, so that the call is not moved once more.
    #[inline(always)]
    pub fn run(mut self, mut result: impl FnMut(usize, AsyncValue)) {
        self.run_into(&mut result);
    }

    fn run_into(&mut self, result: &mut dyn FnMut(usize, AsyncValue)) {
        let expected = match self.function.body() {
            Body::Async(plan) | Body::Sync(plan) => plan.parameters.len(),
            Body::Native(_) => self.function.argument_types().len(),
        };
        let depth = STACK_DEPTH.get();
        if self.arguments != expected || self.cx.depth > CALL_DEPTH_MAX {
            self.refuse(expected, result);
        } else if depth >= STACK_DEPTH_MAX {
            self.run_later(result);
        } else {
            STACK_DEPTH.set(depth + 1);
            self.run_here(result);
            STACK_DEPTH.set(depth);
        }
    }

    /// Makes the results errors that say why the call cannot be.
    #[cold]
    fn refuse(&self, expected: usize, result: &mut dyn FnMut(usize, AsyncValue)) {
        let failure = if self.arguments != expected {
            let (name, got) = (self.function.name(), self.arguments);
            Diagnostic::invalid_argument(format!("function '{name}' takes {expected} arguments, got {got}"))
        } else {
            Diagnostic::new(ErrorCode::ResourceExhausted, format!("calls nest deeper than {CALL_DEPTH_MAX}"))
        };
        let error = AsyncValue::from_error(self.cx.emit(failure));
        (0..self.function.result_types().len()).for_each(|index| result(index, error.clone()));
    }

    /// Continues on the work queue, where the stack is fresh.
    #[cold]
    fn run_later(&mut self, result: &mut dyn FnMut(usize, AsyncValue)) {
        let count = self.function.result_types().len();
        let (promises, values): (Vec<_>, Vec<_>) = (0..count).map(|_| IndirectPromise::new()).unzip();
        let host = self.cx.host().clone();
        let function = self.function.to_function();
        let cx = self.cx.clone();
        let (registers, arguments) = (mem::take(&mut self.registers), self.arguments);
        host.add_task(Task::new(move || {
            let cx = BorrowedContext::same(&cx);
            let mut call = Invocation { function: function.as_ref(), cx, registers, arguments };
            let mut promises = promises.into_iter();
            call.run_into(&mut |_, value| {
                if let Some(promise) = promises.next() {
                    promise.forward_to(value);
                }
            });
        }));
        values.into_iter().enumerate().for_each(|(index, value)| result(index, value));
    }

    fn run_here(&mut self, result: &mut dyn FnMut(usize, AsyncValue)) {
        let _span = tracing::span("function", || self.function.name().to_owned());
        match self.function.body() {
            Body::Async(plan) => {
                self.walk(plan, false);
                self.give(plan, result);
            }
            Body::Sync(plan) => match self.walk(plan, true) {
                None => self.give(plan, result),
                Some(error) => (0..plan.returns.len()).for_each(|index| result(index, error.clone())),
            },
            Body::Native(function) => self.run_native(&**function, result),
        }
    }

    fn run_native(&mut self, function: &NativeFn, result: &mut dyn FnMut(usize, AsyncValue)) {
        let count = self.function.result_types().len();
        let values = function(&self.cx, &self.registers, count);
        if values.len() == count {
            values.into_iter().enumerate().for_each(|(index, value)| result(index, value));
        } else {
            let message = format!("the native function gave {} results, it has {count}", values.len());
            let error = AsyncValue::from_error(self.cx.emit(Diagnostic::internal(message)));
            (0..count).for_each(|index| result(index, error.clone()));
        }
    }

    /// Hands the results over.
    fn give(&mut self, plan: &Plan, result: &mut dyn FnMut(usize, AsyncValue)) {
        for (index, operand) in plan.returns.iter().enumerate() {
            let register = &mut self.registers[operand.register()];
            let value = if operand.is_last_use() { register.take() } else { register.clone() };
            result(index, value);
        }
    }

    /// The pass over the kernels. With `stop_at_error` (synchronous functions) it ends at the first error, which
    /// it returns.
    fn walk(&mut self, plan: &Plan, stop_at_error: bool) -> Option<AsyncValue> {
        assert!(self.registers.len() >= plan.register_count, "registers were taken for this plan");
        let mut next = 0;
        let mut scalars = Ok(());
        if !tracing::is_enabled() {
            // Many functions compute with nothing but scalars, and are done here.
            let request = self.cx.request();
            // SAFETY: a plan's operands name registers below its register count.
            let mut registers = unsafe { RegisterFile::new(&mut self.registers) };
            scalars = panic::catch_unwind(AssertUnwindSafe(|| {
                while !request.is_cancelled() && run_scalars(plan, &mut registers, &mut next) {}
            }));
            if scalars.is_ok() && next == plan.steps.len() {
                return None;
            }
        }
        self.walk_on(plan, stop_at_error, next, scalars)
    }

    /// Goes on from step `next`; what comes before it ended like this.
    #[inline(never)]
    fn walk_on(
        &mut self,
        plan: &Plan,
        stop_at_error: bool,
        mut next: usize,
        mut ended: thread::Result<()>,
    ) -> Option<AsyncValue> {
        let mut walk = Walk {
            plan,
            cx: &mut self.cx,
            // SAFETY: a plan's operands name registers below its register count, as `walk` asserts.
            registers: unsafe { RegisterFile::new(&mut self.registers) },
            function: self.function,
            deferring: None,
            traced: tracing::is_enabled(),
            stop_at_error,
        };
        loop {
            // A panicking kernel is an error like any other; the walk goes on behind it.
            if let Err(payload) = ended {
                let error = walk.panicked(&plan.steps[next - 1], &*payload);
                if stop_at_error {
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

/// Runs the kernels of scalars from step `next` on, as far as their arguments are there: to the first step that is
/// something else, or up to [`CANCELLATION_INTERVAL`] of them, which gives true.
#[inline]
fn run_scalars(plan: &Plan, registers: &mut RegisterFile<'_>, next: &mut usize) -> bool {
    let end = plan.steps.len().min(*next + CANCELLATION_INTERVAL);
    for step in &plan.steps[*next..end] {
        let Some(scalar) = step.scalar else { return false };
        // Before the call: a panic is that of the step before `next`.
        *next += 1;
        // SAFETY: the step was loaded with as many operands as its kernel has arguments and results.
        let frame = unsafe { ScalarFrame::new(registers.reborrow(), plan.all_operands_of(step)) };
        if !scalar(frame) {
            *next -= 1;
            return false;
        }
    }
    *next < plan.steps.len()
}

/// Arguments and results of a step.
type Operands<'p> = (&'p [Operand], &'p [Operand]);

/// What is there of a step's arguments.
struct Arrived {
    /// Some are more than scalars.
    are_counted: bool,
    /// So many of the first are to be waited for; none behind them is pending.
    pending: usize,
    /// The first error among those that are there.
    failed: Option<Operand>,
}

impl Arrived {
    fn is_all(&self) -> bool {
        self.pending == 0 && self.failed.is_none()
    }
}

/// The state of one pass.
struct Walk<'w> {
    plan: &'w Plan,
    cx: &'w mut ExecutionContext,
    registers: RegisterFile<'w>,
    function: FunctionRef<'w>,
    /// What the deferred kernels of this call share, once there are any.
    deferring: Option<Deferring>,
    traced: bool,
    stop_at_error: bool,
}

impl<'w> Walk<'w> {
    /// Goes on from step `next`, which is always one beyond the step at hand.
    fn run(&mut self, next: &mut usize) -> Option<AsyncValue> {
        let plan = self.plan;
        loop {
            let step = plan.steps.get(*next)?;
            let first = *next;
            if step.scalar.is_some()
                && self.is_plain()
                && (run_scalars(plan, &mut self.registers, next) || *next != first)
            {
                // Others may cancel the request while nothing but scalars are computed.
                continue;
            }
            *next += 1;
            let (arguments, results) = plan.operands_of(step);
            let arrived = self.look_at(arguments);
            if arrived.is_all() && step.dispatch <= Dispatch::Inline && !self.cx.request().is_cancelled() {
                self.call(step, (arguments, results));
                if arrived.are_counted {
                    self.release(arguments);
                }
            } else {
                self.consider(step, *next - 1, (arguments, results), arrived);
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

    /// Whether steps may be called without looking at the request or recording them.
    #[inline]
    fn is_plain(&self) -> bool {
        !self.traced && !self.cx.request().is_cancelled()
    }

    /// What is there of a step's arguments.
    #[inline]
    fn look_at(&self, arguments: &[Operand]) -> Arrived {
        let mut arrived = Arrived { are_counted: false, pending: 0, failed: None };
        for (number, &argument) in arguments.iter().enumerate() {
            let value = self.registers.get(argument);
            if !value.is_inline() {
                arrived.are_counted = true;
                match value.status() {
                    Status::Ready => {}
                    Status::Pending => arrived.pending = number + 1,
                    Status::Failed => arrived.failed = arrived.failed.or(Some(argument)),
                }
            }
        }
        arrived
    }

    /// Decides what becomes of a step that cannot simply be called.
    // Out of line, so that the loop around it keeps its state in machine registers.
    #[inline(never)]
    fn consider(
        &mut self,
        step: &'w Step,
        number: usize,
        (arguments, results): Operands<'w>,
        arrived: Arrived,
    ) {
        let Arrived { pending, failed, .. } = arrived;
        if let Some(reason) = self.cx.request().cancellation() {
            let error = AsyncValue::from_error(reason.clone());
            self.fail(results, &error);
        } else if step.dispatch == Dispatch::NonStrict {
            self.call(step, (arguments, results));
        } else if pending != 0 && self.stop_at_error {
            (self.cx.location, self.cx.kernel) = (step.location, step.kernel);
            let error =
                self.cx.error(ErrorCode::FailedPrecondition, "a synchronous function got a pending value");
            self.fail(results, &error);
        } else if pending != 0 || failed.is_none() && step.dispatch > Dispatch::Inline && !self.stop_at_error
        {
            // The arguments that are not used again go with the kernel.
            return self.defer(number, pending, (arguments, results));
        } else if let Some(argument) = failed {
            let error = self.registers.get(argument).clone();
            self.fail(results, &error);
        } else {
            self.call(step, (arguments, results));
        }
        self.release(arguments);
    }

    #[inline]
    fn call(&mut self, step: &'w Step, operands: Operands<'w>) {
        (self.cx.location, self.cx.kernel) = (step.location, step.kernel);
        let _span = if self.traced { self.span() } else { None };
        (step.run)(&mut KernelFrame::new(self.registers.reborrow(), operands, self.plan, step, self.cx));
    }

    #[cold]
    fn span(&self) -> Option<tracing::Span> {
        tracing::span("kernel", || self.cx.kernel_name().unwrap_or("?").to_owned())
    }

    /// Moves the kernel and its arguments, of which the first `pending` may be pending, out of the walk.
    fn defer(&mut self, number: usize, pending: usize, operands: Operands<'w>) {
        let deferring = self.deferring.get_or_insert_with(|| Deferring::new(self.cx, self.function));
        deferring.defer(number, pending, &mut self.registers, operands);
    }

    /// Gives up what is not used again.
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
        let error = AsyncValue::from_error(self.cx.emit(panic_diagnostic(payload)));
        let (arguments, results) = self.plan.operands_of(step);
        self.fail(results, &error);
        self.release(arguments);
        error
    }
}

/// What a kernel that panicked gives.
fn panic_diagnostic(payload: &(dyn Any + Send)) -> Diagnostic {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    Diagnostic::internal(format!("the kernel panicked: {}", text.unwrap_or("no message")))
}
