//! `tfrt.if`, `tfrt.cond` and `tfrt.case`: one of several functions runs, chosen by the first
//! argument.

use tfrt_host::{
    AsyncValue, Diagnostic, ErrorCode, ExecutionContext, Function, FunctionRef, KernelFrame, KernelRegistry,
    Status, Value,
};

use super::{
    call::{Results, call, propagate},
    signature,
};

pub(super) fn register(registry: &mut KernelRegistry) {
    let doc = "Runs the first function if the condition holds, else the second, with the other arguments.";
    registry.add_raw("tfrt.if", signature(&["i1"], 2), |frame| branch(frame, by_condition)).doc(doc);
    registry
        .add_raw("tfrt.cond", signature(&["i1"], 2), |frame| branch(frame, by_condition))
        .functions(&["a_true_fn", "b_false_fn"])
        .doc(doc);
    let mut case = signature(&["i32"], 1);
    case.rest_functions = true;
    registry
        .add_raw("tfrt.case", case, |frame| branch(frame, by_number))
        .function_list("branches")
        .doc("Runs the function of this number, or the last one if there is none, with the other arguments.");
}

/// Says which of `count` functions a selector chooses.
type Choose = fn(selector: &AsyncValue, count: usize) -> Result<usize, Diagnostic>;

fn by_condition(selector: &AsyncValue, _: usize) -> Result<usize, Diagnostic> {
    read::<bool>(selector).map(|condition| usize::from(!condition))
}

fn by_number(selector: &AsyncValue, count: usize) -> Result<usize, Diagnostic> {
    let last = count.saturating_sub(1);
    read::<i32>(selector).map(|number| usize::try_from(number).map_or(last, |number| number.min(last)))
}

/// The payload of an available value.
pub(super) fn read<T: Value + Copy>(value: &AsyncValue) -> Result<T, Diagnostic> {
    value.get::<T>().copied().ok_or_else(|| {
        let (expected, got) = (T::TYPE_NAME, value.type_name());
        Diagnostic::invalid_argument(format!("argument 0 should be of type {expected}, got {got}"))
    })
}

fn branch(frame: &mut KernelFrame<'_>, choose: Choose) {
    if frame.argument_count() == 0 {
        return frame.fail(Diagnostic::invalid_argument("there is nothing to choose by"));
    }
    let selector = frame.take_argument(0);
    match selector.status() {
        Status::Ready => {
            let chosen = choose(&selector, frame.function_count());
            match chosen.and_then(|number| frame.function(number).ok_or_else(no_function)) {
                Ok(function) => call(frame, function, 1),
                Err(error) => frame.fail(error),
            }
        }
        Status::Failed => propagate(frame, &selector),
        Status::Pending => Suspended::new(frame, choose).wait_for(selector),
    }
}

fn no_function() -> Diagnostic {
    Diagnostic::new(ErrorCode::OutOfRange, "there is no function of the chosen number")
}

/// A branch whose selector is still pending.
struct Suspended {
    cx: ExecutionContext,
    functions: Vec<Function>,
    arguments: Vec<AsyncValue>,
    results: Results,
    choose: Choose,
}

impl Suspended {
    fn new(frame: &mut KernelFrame<'_>, choose: Choose) -> Self {
        let functions = (0..frame.function_count()).filter_map(|number| frame.function(number));
        Self {
            cx: frame.context().clone(),
            functions: functions.map(FunctionRef::to_function).collect(),
            arguments: (1..frame.argument_count()).map(|index| frame.take_argument(index)).collect(),
            results: Results::suspend(frame),
            choose,
        }
    }

    fn wait_for(self, selector: AsyncValue) {
        selector.clone().and_then(move || self.go_on(&selector));
    }

    fn go_on(self, selector: &AsyncValue) {
        let Self { cx, functions, arguments, results, choose } = self;
        if selector.status() == Status::Failed {
            return results.fail(selector);
        }
        let chosen = choose(selector, functions.len());
        match chosen.and_then(|number| functions.get(number).ok_or_else(no_function)) {
            Ok(function) => results.call(function.as_ref(), &cx, arguments),
            Err(error) => results.fail(&AsyncValue::from_error(cx.emit(error))),
        }
    }
}
