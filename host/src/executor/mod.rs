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

mod deferred;
mod registers;

use std::{
    any::Any,
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use deferred::Deferred;
use registers::Registers;

use crate::{
    async_value::{AsyncValue, IndirectPromise, Status},
    context::ExecutionContext,
    diagnostic::{Diagnostic, ErrorCode},
    kernel::{KernelFrame, frame::Operand},
    program::{BefFile, Body, Dispatch, FunctionRef, Plan, Step},
    tracing,
    work_queue::Task,
};

/// Nested calls on one thread's stack before a call continues on the work queue.
pub const STACK_DEPTH_MAX: u32 = 64;
/// Nested calls in all.
pub const CALL_DEPTH_MAX: u32 = 100_000;

thread_local!(static STACK_DEPTH: Cell<u32> = const { Cell::new(0) });

/// A call being prepared: first the arguments in order, then [`Invocation::run`].
pub struct Invocation<'f> {
    function: FunctionRef<'f>,
    cx: ExecutionContext,
    registers: Registers,
    arguments: usize,
}

impl<'f> FunctionRef<'f> {
    /// Begins a call of this function from `cx`.
    pub fn call(self, cx: &ExecutionContext) -> Invocation<'f> {
        let registers = match self.body() {
            Body::Async(plan) | Body::Sync(plan) => Registers::take(plan.register_count),
            Body::Native(_) => Registers::take(0),
        };
        Invocation { function: self, cx: cx.enter(self.program()), registers, arguments: 0 }
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
    pub fn run(self, mut result: impl FnMut(usize, AsyncValue)) {
        self.run_into(&mut result);
    }

    fn run_into(self, result: &mut dyn FnMut(usize, AsyncValue)) {
        let expected = self.function.argument_types().len();
        let failure = if self.arguments != expected {
            let name = self.function.name();
            let message = format!("function '{name}' takes {expected} arguments, got {}", self.arguments);
            Some(Diagnostic::invalid_argument(message))
        } else if self.cx.depth > CALL_DEPTH_MAX {
            Some(Diagnostic::new(
                ErrorCode::ResourceExhausted,
                format!("calls nest deeper than {CALL_DEPTH_MAX}"),
            ))
        } else {
            None
        };
        if let Some(failure) = failure {
            let error = self.cx.emit(failure);
            (0..self.function.result_types().len())
                .for_each(|i| result(i, AsyncValue::from_error(error.clone())));
        } else if STACK_DEPTH.get() >= STACK_DEPTH_MAX {
            self.run_later(result);
        } else {
            STACK_DEPTH.set(STACK_DEPTH.get() + 1);
            self.run_here(result);
            STACK_DEPTH.set(STACK_DEPTH.get() - 1);
        }
    }

    /// Continues on the work queue, where the stack is fresh.
    fn run_later(self, result: &mut dyn FnMut(usize, AsyncValue)) {
        let count = self.function.result_types().len();
        let (promises, values): (Vec<_>, Vec<_>) = (0..count).map(|_| IndirectPromise::new()).unzip();
        let host = self.cx.host().clone();
        let function = self.function.to_function();
        let Invocation { cx, registers, arguments, .. } = self;
        host.add_task(Task::new(move || {
            let call = Invocation { function: function.as_ref(), cx, registers, arguments };
            let mut promises = promises.into_iter();
            call.run_into(&mut |_, value| {
                if let Some(promise) = promises.next() {
                    promise.forward_to(value);
                }
            });
        }));
        values.into_iter().enumerate().for_each(|(index, value)| result(index, value));
    }

    fn run_here(mut self, result: &mut dyn FnMut(usize, AsyncValue)) {
        let _span = tracing::span("function", || self.function.name().to_owned());
        match self.function.body() {
            Body::Async(plan) => {
                self.walk(plan, false);
                self.give(plan, result);
            }
            Body::Sync(plan) => match self.walk(plan, true) {
                None => self.give(plan, result),
                Some(error) => {
                    (0..plan.returns.len()).for_each(|index| result(index, error.clone()));
                    self.registers.clear();
                }
            },
            Body::Native(function) => {
                let count = self.function.result_types().len();
                let values = function(&self.cx, &self.registers, count);
                self.registers.clear();
                if values.len() == count {
                    values.into_iter().enumerate().for_each(|(index, value)| result(index, value));
                } else {
                    let message =
                        format!("the native function gave {} results, it has {count}", values.len());
                    let error = self.cx.emit(Diagnostic::internal(message));
                    (0..count).for_each(|i| result(i, AsyncValue::from_error(error.clone())));
                }
            }
        }
        self.registers.put_back();
    }

    /// Hands the results over.
    fn give(&mut self, plan: &Plan, result: &mut dyn FnMut(usize, AsyncValue)) {
        for (index, operand) in plan.returns.iter().enumerate() {
            let register = &mut self.registers[operand.register()];
            let value = if operand.is_last_use() {
                std::mem::replace(register, AsyncValue::EMPTY)
            } else {
                register.clone()
            };
            result(index, value);
        }
    }

    /// The pass over the kernels. With `stop_at_error` (synchronous functions) it ends at the first error, which
    /// it returns.
    fn walk(&mut self, plan: &Plan, stop_at_error: bool) -> Option<AsyncValue> {
        let program = self.function.program().clone();
        let mut walk = Walk {
            plan,
            program: &program,
            cx: &mut self.cx,
            registers: &mut self.registers,
            function: self.function.index(),
            traced: tracing::is_enabled(),
        };
        let mut next = 0;
        loop {
            // A panicking kernel is an error like any other; the walk goes on behind it.
            let walked = panic::catch_unwind(AssertUnwindSafe(|| walk.run(&mut next, stop_at_error)));
            match walked {
                Ok(error) => return error,
                Err(payload) => {
                    let error = walk.panicked(next - 1, &*payload);
                    if stop_at_error {
                        return Some(error);
                    }
                }
            }
        }
    }
}

/// The state of one pass.
struct Walk<'w> {
    plan: &'w Plan,
    program: &'w Arc<BefFile>,
    cx: &'w mut ExecutionContext,
    registers: &'w mut [AsyncValue],
    function: u32,
    traced: bool,
}

/// What a step's arguments allow.
enum Readiness {
    Ready,
    Pending,
    /// All available; this one is the first error.
    Failed(Operand),
}

impl Walk<'_> {
    /// Goes on from step `next`, which is always one beyond the step at hand.
    fn run(&mut self, next: &mut usize, stop_at_error: bool) -> Option<AsyncValue> {
        while *next + 1 < self.plan.steps.len() {
            let number = *next;
            *next += 1;
            let step = &self.plan.steps[number];
            let arguments = self.plan.arguments_of(number);
            if self.cx.request().is_cancelled() {
                self.cancel(number);
            } else {
                match self.readiness(step, arguments) {
                    Readiness::Ready if step.dispatch <= Dispatch::Inline || stop_at_error => {
                        self.call(number)
                    }
                    Readiness::Pending if stop_at_error => self.refuse_pending(number),
                    Readiness::Ready | Readiness::Pending => self.defer(number),
                    Readiness::Failed(argument) => self.skip(number, argument),
                }
            }
            for argument in arguments {
                if argument.is_last_use() && !self.registers[argument.register()].is_inline() {
                    self.registers[argument.register()] = AsyncValue::EMPTY;
                }
            }
            for result in self.plan.results_of(number) {
                let register = &mut self.registers[result.register()];
                if stop_at_error && register.status() == Status::Failed {
                    return Some(register.clone());
                }
                if result.is_last_use() {
                    *register = AsyncValue::EMPTY;
                }
            }
        }
        None
    }

    #[inline]
    fn readiness(&self, step: &Step, arguments: &[Operand]) -> Readiness {
        let mut failed = None;
        if step.dispatch == Dispatch::NonStrict {
            return Readiness::Ready;
        }
        for &argument in arguments {
            let value = &self.registers[argument.register()];
            if value.is_inline() {
                continue;
            }
            match value.status() {
                Status::Ready => {}
                Status::Pending => return Readiness::Pending,
                Status::Failed => {
                    failed.get_or_insert(argument);
                }
            }
        }
        failed.map_or(Readiness::Ready, Readiness::Failed)
    }

    #[inline]
    fn call(&mut self, number: usize) {
        let step = &self.plan.steps[number];
        self.cx.location = step.location;
        self.cx.kernel = step.kernel;
        let kernel = self.program.kernel(step.kernel);
        let _span = self.traced.then(|| tracing::span("kernel", || kernel.name().to_owned()));
        kernel.function()(&mut KernelFrame {
            arguments: self.plan.arguments_of(number),
            results: self.plan.results_of(number),
            attributes: self.plan.attributes_of(number),
            functions: self.plan.functions_of(number),
            registers: self.registers,
            cx: self.cx,
        });
    }

    /// Moves the kernel and its arguments out of the walk.
    #[cold]
    fn defer(&mut self, number: usize) {
        let step = &self.plan.steps[number];
        self.cx.location = step.location;
        self.cx.kernel = step.kernel;
        let registers = &mut *self.registers;
        let arguments = self.plan.arguments_of(number).iter().map(|operand| {
            let register = &mut registers[operand.register()];
            if operand.is_last_use() {
                std::mem::replace(register, AsyncValue::EMPTY)
            } else {
                register.clone()
            }
        });
        let results = self.plan.results_of(number);
        let (deferred, values) =
            Deferred::new(self.cx.clone(), self.function, number, arguments, results.len());
        for (operand, value) in results.iter().zip(values) {
            self.registers[operand.register()] = value;
        }
        deferred.advance();
    }

    #[cold]
    fn skip(&mut self, number: usize, argument: Operand) {
        let error = self.registers[argument.register()].error();
        let error =
            AsyncValue::from_error(error.unwrap_or_else(|| Arc::new(Diagnostic::internal("no error"))));
        self.fail(number, &error);
    }

    #[cold]
    fn cancel(&mut self, number: usize) {
        if let Some(reason) = self.cx.request().cancellation() {
            let error = AsyncValue::from_error(reason.clone());
            self.fail(number, &error);
        }
    }

    #[cold]
    fn refuse_pending(&mut self, number: usize) {
        self.cx.location = self.plan.steps[number].location;
        self.cx.kernel = self.plan.steps[number].kernel;
        let error =
            self.cx.error(ErrorCode::FailedPrecondition, "a synchronous function got a pending value");
        self.fail(number, &error);
    }

    fn fail(&mut self, number: usize, error: &AsyncValue) {
        for result in self.plan.results_of(number) {
            self.registers[result.register()] = error.clone();
        }
    }

    /// Makes a panic in step `number` the error of its results.
    fn panicked(&mut self, number: usize, payload: &(dyn Any + Send)) -> AsyncValue {
        let error = AsyncValue::from_error(self.cx.emit(panic_diagnostic(payload)));
        self.fail(number, &error);
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
