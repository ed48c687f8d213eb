//! `corert.cond` and `corert.while`: call functions of the program depending on tensors.
//!
//! A tensor is true if it has one element that is not zero, or a string that is not empty. Neither
//! kernel blocks: a condition that is pending or on a device suspends it.

use tfrt_host::{
    AsyncValue, AttributeSpec, Chain, Diagnostic, ExecutionContext, Function, FunctionRef, IndirectPromise,
    KernelFrame, KernelRegistry, KernelSignature, TypeSpec, Value as _, work_queue::Task,
};

use super::condition::{Verdict, verdict};
use crate::TensorHandle;

/// The number of iterations of a loop before other work gets its turn.
const MAX_ITERATIONS: u32 = 64;

/// The promised results of a kernel.
struct Promised(Vec<IndirectPromise>);

impl Promised {
    fn new(frame: &mut KernelFrame<'_>) -> Self {
        let promises = (0..frame.result_count()).map(|index| {
            let (promise, value) = IndirectPromise::new();
            frame.set_result(index, value);
            promise
        });
        Self(promises.collect())
    }

    fn keep(self, values: impl IntoIterator<Item = AsyncValue>) {
        // A promise without a value becomes an error when it is dropped.
        self.0.into_iter().zip(values).for_each(|(promise, value)| promise.forward_to(value));
    }

    fn fail(self, error: &AsyncValue) {
        self.0.into_iter().for_each(|promise| promise.forward_to(error.clone()));
    }
}

/// Returns a function of the program, after checking its numbers of arguments and results.
fn function(
    frame: &KernelFrame<'_>,
    number: usize,
    arguments: usize,
    results: usize,
) -> Result<Function, Diagnostic> {
    let function =
        frame.function(number).ok_or_else(|| Diagnostic::invalid_argument("a function is missing"))?;
    let (takes, gives) = (function.argument_types().len(), function.result_types().len());
    if (takes, gives) == (arguments, results) {
        return Ok(FunctionRef::to_function(function));
    }
    Err(Diagnostic::invalid_argument(format!(
        "'{}' takes {takes} and gives {gives} values where {arguments} and {results} are needed",
        function.name()
    )))
}

struct Conditional {
    cx: ExecutionContext,
    functions: [Function; 2],
    arguments: Vec<AsyncValue>,
    results: Promised,
}

fn conditional(frame: &mut KernelFrame<'_>) {
    let (arguments, results) = (frame.argument_count().saturating_sub(1), frame.result_count());
    let both = |number| function(frame, number, arguments, results);
    let functions = match both(0).and_then(|first| Ok([first, both(1)?])) {
        Ok(functions) => functions,
        Err(error) => return frame.fail(error),
    };
    let condition = frame.take_argument(0);
    let arguments = (1..=arguments).map(|index| frame.take_argument(index)).collect();
    let results = Promised::new(frame);
    Conditional { cx: frame.context().clone(), functions, arguments, results }.decide(&condition);
}

impl Conditional {
    /// Runs the function that the condition chooses, once it is available.
    fn decide(self, condition: &AsyncValue) {
        match verdict(condition, &self.cx) {
            Verdict::Pending(value) => value.clone().and_then(move || self.decide(&value)),
            Verdict::Failed(error) => self.results.fail(&error),
            Verdict::Known(truth) => {
                let [on_true, on_false] = &self.functions;
                let chosen = if truth { on_true } else { on_false };
                self.results.keep(chosen.as_ref().execute(&self.cx, self.arguments));
            }
        }
    }
}

struct Loop {
    cx: ExecutionContext,
    condition: Function,
    body: Function,
    values: Vec<AsyncValue>,
    results: Promised,
}

fn repeat(frame: &mut KernelFrame<'_>) {
    let (arguments, results) = (frame.argument_count(), frame.result_count());
    let functions = function(frame, 0, arguments, 2)
        .and_then(|condition| Ok((condition, function(frame, 1, arguments, results)?)));
    let (condition, body) = match functions {
        Ok(functions) if arguments == results => functions,
        Ok(_) => return frame.fail(Diagnostic::invalid_argument("a loop gives as many values as it takes")),
        Err(error) => return frame.fail(error),
    };
    let values = (0..arguments).map(|index| frame.take_argument(index)).collect();
    let results = Promised::new(frame);
    Loop { cx: frame.context().clone(), condition, body, values, results }.run();
}

impl Loop {
    fn run(mut self) {
        for _ in 0..MAX_ITERATIONS {
            if let Some(reason) = self.cx.request().cancellation() {
                return self.results.fail(&AsyncValue::from_error(reason.clone()));
            }
            let mut outcome = self.condition.as_ref().execute(&self.cx, self.values.clone());
            // The condition's chain orders its effects; its tensor decides.
            let Some(condition) = outcome.pop() else { return };
            match verdict(&condition, &self.cx) {
                Verdict::Pending(value) => return value.clone().and_then(move || self.go_on(&value)),
                verdict => match self.step(verdict) {
                    Some(next) => self = next,
                    None => return,
                },
            }
        }
        let host = self.cx.host().clone();
        host.add_task(Task::new(move || self.run()));
    }

    /// Continues when the handle or tensor that decides is available.
    fn go_on(self, condition: &AsyncValue) {
        match verdict(condition, &self.cx) {
            Verdict::Pending(value) => value.clone().and_then(move || self.go_on(&value)),
            verdict => {
                if let Some(next) = self.step(verdict) {
                    next.run();
                }
            }
        }
    }

    /// Runs one iteration, or finishes.
    fn step(mut self, verdict: Verdict<bool>) -> Option<Self> {
        match verdict {
            Verdict::Known(true) => {
                self.values = self.body.as_ref().execute(&self.cx, std::mem::take(&mut self.values));
                return Some(self);
            }
            Verdict::Known(false) => self.results.keep(self.values),
            Verdict::Failed(error) => self.results.fail(&error),
            Verdict::Pending(_) => unreachable!("callers wait for what is pending"),
        }
        None
    }
}

pub(super) fn register(registry: &mut KernelRegistry) {
    let signature = |arguments: &[&'static str]| KernelSignature {
        arguments: arguments.iter().map(|&name| TypeSpec::Named(name)).collect(),
        rest_arguments: Some(TypeSpec::Named(TensorHandle::TYPE_NAME)),
        rest_attributes: Some(AttributeSpec::Any),
        functions: 2,
        results: vec![TypeSpec::Named(Chain::TYPE_NAME)],
        rest_results: Some(TypeSpec::Named(TensorHandle::TYPE_NAME)),
        ..KernelSignature::default()
    };
    registry
        .add_raw("corert.cond", signature(&[TensorHandle::TYPE_NAME, Chain::TYPE_NAME]), conditional)
        .functions(&["a_true_fn", "b_false_fn"])
        .doc("Runs the first function if the tensor is true, else the second, with the other arguments.");
    let repeat = registry.add_raw("corert.while", signature(&[Chain::TYPE_NAME]), repeat);
    repeat.functions(&["a_cond_fn", "b_body_fn"]).doc(
        "Runs the second function over and over, for as long as the tensor that the first one gives is true.",
    );
}
