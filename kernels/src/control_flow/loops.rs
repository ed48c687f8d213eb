//! `tfrt.repeat.i32` and `tfrt.while`: call a body repeatedly, each time with the results of the
//! last call.
//!
//! An iteration starts when the previous one has been *called*, not when its results are available,
//! so bodies are pipelined as far as their data allows. Three limits bound a loop of any length:
//! - with [`MAX_IN_FLIGHT`] iterations whose results are pending, the loop suspends until those of
//!   the last one are available;
//! - after [`MAX_ITERATIONS`] iterations without a pause, it goes to the end of the work queue, so
//!   that work that bodies started gets its turn;
//! - a suspended loop resumes inside the waiter that wakes it only to a depth of [`MAX_RESUMES`],
//!   and through the work queue beyond.

use std::cell::Cell;

use tfrt_host::{
    AsyncValue, Diagnostic, ExecutionContext, Function, KernelFrame, KernelRegistry, Status, work_queue::Task,
};

use super::{
    branch::read,
    call::{Results, check_results, propagate},
    signature,
};

/// The greatest number of iterations in flight.
const MAX_IN_FLIGHT: u32 = 32;
/// The greatest number of iterations before the loop returns to the work queue.
const MAX_ITERATIONS: u32 = 8192;
/// The greatest depth of loops that resume inside each other on one stack.
const MAX_RESUMES: u32 = 8;

thread_local!(static RESUMES: Cell<u32> = const { Cell::new(0) });

pub(super) fn register(registry: &mut KernelRegistry) {
    registry.add_raw("tfrt.repeat.i32", signature(&["i32"], 1), |frame| start(frame, Test::Count)).doc(
        "Runs the body so many times; its results are its next arguments, and in the end the loop's results.",
    );
    registry
        .add_raw("tfrt.while", signature(&["i1"], 1), |frame| start(frame, Test::Condition))
        .functions(&["body_fn"])
        .doc("Runs the body while the condition holds. The body's last result is the next condition, the others are \
              its next arguments, and in the end the loop's results.");
}

/// The test that decides whether the body runs again.
enum Test {
    /// The number of iterations, which may be pending.
    Count(AsyncValue),
    /// The number of remaining iterations.
    Remaining(u32),
    /// A condition, which may be pending, and which each iteration replaces.
    Condition(AsyncValue),
}

impl Test {
    /// Returns the number of results of the body besides the loop's.
    fn extra_results(&self) -> usize {
        usize::from(matches!(self, Self::Condition(_)))
    }

    /// Returns whether to continue, or why that is not known.
    fn decide(&mut self, cx: &ExecutionContext) -> Result<bool, Pause> {
        if let Self::Count(value) = self {
            let count = available::<i32>(value, cx)?;
            let remaining = u32::try_from(count).map_err(|_| {
                Pause::Failed(AsyncValue::from_error(
                    cx.emit(Diagnostic::invalid_argument(format!("cannot repeat {count} times"))),
                ))
            })?;
            *self = Self::Remaining(remaining);
        }
        match self {
            Self::Remaining(remaining) => {
                let more = *remaining > 0;
                *remaining = remaining.saturating_sub(1);
                Ok(more)
            }
            Self::Condition(value) | Self::Count(value) => available::<bool>(value, cx),
        }
    }
}

fn available<T: tfrt_host::Value + Copy>(value: &AsyncValue, cx: &ExecutionContext) -> Result<T, Pause> {
    match value.status() {
        Status::Ready => {
            read::<T>(value).map_err(|error| Pause::Failed(AsyncValue::from_error(cx.emit(error))))
        }
        Status::Failed => Err(Pause::Failed(value.clone())),
        Status::Pending => Err(Pause::Pending(value.clone())),
    }
}

/// The reason why a loop stops iterating.
enum Pause {
    /// It has finished, and the carried values are its results.
    Done,
    /// It has failed with this error.
    Failed(AsyncValue),
    /// It continues when this value is available.
    Pending(AsyncValue),
    /// It continues when the work queue gets to it.
    Turn,
}

struct Loop {
    cx: ExecutionContext,
    body: Function,
    test: Test,
    /// The next arguments of the body.
    values: Vec<AsyncValue>,
    /// The number of iterations called since all values were last available.
    in_flight: u32,
}

/// Runs the loop as far as possible immediately, and the rest later.
fn start(frame: &mut KernelFrame<'_>, test: impl FnOnce(AsyncValue) -> Test) {
    let Some(body) = frame.function(0).filter(|_| frame.argument_count() > 0) else {
        return frame
            .fail(Diagnostic::invalid_argument("a loop needs a body and something to count or decide by"));
    };
    let test = test(frame.take_argument(0));
    let carried = frame.argument_count() - 1;
    let wrong = if carried == frame.result_count() {
        check_results(body, carried + test.extra_results()).err()
    } else {
        let results = frame.result_count();
        Some(Diagnostic::invalid_argument(format!(
            "a loop over {carried} values cannot have {results} results"
        )))
    };
    if let Some(error) = wrong {
        return frame.fail(error);
    }
    let mut iteration = Loop {
        cx: frame.context().clone(),
        body: body.to_function(),
        test,
        values: (1..=carried).map(|index| frame.take_argument(index)).collect(),
        in_flight: 0,
    };
    match iteration.advance() {
        Pause::Done => frame.set_results(iteration.values),
        Pause::Failed(error) => propagate(frame, &error),
        pause => {
            let results = Results::suspend(frame);
            iteration.pause(pause, results);
        }
    }
}

impl Loop {
    /// Iterates until there is a reason to stop.
    fn advance(&mut self) -> Pause {
        for _ in 0..MAX_ITERATIONS {
            if self.in_flight >= MAX_IN_FLIGHT {
                if let Some(pending) = self.pending() {
                    return Pause::Pending(pending.clone());
                }
                self.in_flight = 0;
            }
            match self.test.decide(&self.cx) {
                Ok(true) => {}
                Ok(false) => return Pause::Done,
                Err(pause) => return pause,
            }
            if let Some(reason) = self.cx.request().cancellation() {
                return Pause::Failed(AsyncValue::from_error(reason.clone()));
            }
            self.iterate();
        }
        Pause::Turn
    }

    fn pending(&self) -> Option<&AsyncValue> {
        self.values.iter().find(|value| value.status() == Status::Pending)
    }

    fn iterate(&mut self) {
        let mut call = self.body.as_ref().call(&self.cx);
        self.values.drain(..).for_each(|value| call.argument(value));
        call.run(|_, value| self.values.push(value));
        if let Test::Condition(condition) = &mut self.test
            && let Some(next) = self.values.pop()
        {
            *condition = next;
        }
        self.in_flight = if self.pending().is_some() { self.in_flight + 1 } else { 0 };
    }

    /// Arranges for the loop to continue or finish.
    fn pause(self, pause: Pause, results: Results) {
        match pause {
            Pause::Done => results.set(self.values),
            Pause::Failed(error) => results.fail(&error),
            Pause::Pending(value) => value.and_then(move || self.resume(results)),
            Pause::Turn => self.requeue(results),
        }
    }

    fn resume(mut self, results: Results) {
        // A value may become available just before the loop waits for it. Then this runs inside
        // `pause`, and that may happen many times in a row.
        let depth = RESUMES.get();
        if depth >= MAX_RESUMES {
            return self.requeue(results);
        }
        let _depth = Depth::enter(depth);
        let pause = self.advance();
        self.pause(pause, results);
    }

    fn requeue(mut self, results: Results) {
        let host = self.cx.host().clone();
        host.add_task(Task::new(move || {
            let pause = self.advance();
            self.pause(pause, results);
        }));
    }
}

/// Counts one level of [`RESUMES`] while it is alive, even if there is a panic.
struct Depth(u32);

impl Depth {
    fn enter(outer: u32) -> Self {
        RESUMES.set(outer + 1);
        Self(outer)
    }
}

impl Drop for Depth {
    fn drop(&mut self) {
        RESUMES.set(self.0);
    }
}
