//! Any bytes as the recipe of a program, which is written, loaded and run: it computes what the
//! recipe says, whatever the order in which its values become available.

#![no_main]

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use libfuzzer_sys::fuzz_target;
use tfrt_bef::{
    Attribute, BefBuilder, FunctionBuilder, FunctionId, FunctionKind, KernelSpec, OptionalSections, Register,
    VerifiedBef,
};
use tfrt_host::{
    AsyncValue, Attr, BefFile, ExecutionContext, HostContext, KernelRegistry, KernelSignature, Promise,
    RequestContext, ResourceContext, allocator::SystemAllocator, work_queue, work_queue::Task,
};

const FUNCTIONS_MAX: usize = 4;
const KERNELS_MAX: usize = 40;
/// Calls in one function; each goes to a function behind it, so that a program has at most the cube
/// of this many.
const CALLS_MAX: usize = 4;

fuzz_target!(|bytes: &[u8]| {
    let mut recipe = Recipe(bytes);
    let host = if recipe.byte() % 4 == 0 { &THREADS } else { &SERIAL };
    let functions = functions(&mut recipe);
    let bef = VerifiedBef::new(write(&functions)).expect("the writer writes what the verifier accepts");
    let program = BefFile::load(bef, &KERNELS).expect("its kernels are known");
    let request = RequestContext::new(Arc::clone(host), Arc::new(ResourceContext::new()));
    let context = ExecutionContext::new(request, Arc::clone(&program));
    let arguments: Vec<i32> = (0..functions[0].arguments).map(|_| i32::from(recipe.byte())).collect();
    let values = arguments.iter().map(|&value| AsyncValue::new(value));
    let results = program.function("f0").expect("it was written").execute(&context, values);
    host.await_values(&results).expect("no kernel waits");
    let arguments: Vec<_> = arguments.into_iter().map(Some).collect();
    let found: Vec<_> = results.iter().map(|value| value.get::<i32>().copied()).collect();
    assert_eq!(found, compute(&functions, 0, &arguments));
    host.quiesce().expect("no kernel waits");
});

/// Bytes that decide; zeros where there are none left.
struct Recipe<'a>(&'a [u8]);

impl Recipe<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }
}

#[derive(Debug)]
enum Step {
    Constant(i32),
    Add(usize, usize),
    Divide(usize, usize),
    AddLater(usize, usize),
    /// Gives its argument on, and a copy of it.
    Same(usize),
    Call(usize, Vec<usize>),
}

#[derive(Debug, Default)]
struct Function {
    arguments: usize,
    steps: Vec<Step>,
    results: Vec<usize>,
}

fn functions(recipe: &mut Recipe<'_>) -> Vec<Function> {
    // Those behind come first, as one must know what a callee takes and gives.
    let count = 1 + recipe.below(FUNCTIONS_MAX);
    let mut functions: BTreeMap<usize, Function> = BTreeMap::new();
    for index in (0..count).rev() {
        let mut function = Function { arguments: recipe.below(4), ..Function::default() };
        let mut values = function.arguments;
        let mut calls = 0;
        for _ in 0..recipe.below(KERNELS_MAX) {
            let step = step(recipe, values, index, &functions, calls < CALLS_MAX);
            calls += usize::from(matches!(step, Step::Call(..)));
            values += match &step {
                Step::Same(_) => 2,
                Step::Call(callee, _) => functions[callee].results.len(),
                _ => 1,
            };
            function.steps.push(step);
        }
        let results = if values == 0 { 0 } else { recipe.below(4) };
        function.results = (0..results).map(|_| recipe.below(values)).collect();
        functions.insert(index, function);
    }
    functions.into_values().collect()
}

fn step(
    recipe: &mut Recipe<'_>,
    values: usize,
    caller: usize,
    functions: &BTreeMap<usize, Function>,
    may_call: bool,
) -> Step {
    if values == 0 {
        return Step::Constant(i32::from(recipe.byte()));
    }
    let kind = recipe.below(8);
    let mut value = || recipe.below(values);
    match kind {
        0 => Step::Constant(i32::from(recipe.byte())),
        1 | 2 => Step::Add(value(), value()),
        3 => Step::Divide(value(), value()),
        4 | 5 => Step::AddLater(value(), value()),
        6 if may_call && !functions.is_empty() => {
            let callee = caller + 1 + value() % functions.len();
            Step::Call(callee, (0..functions[&callee].arguments).map(|_| value()).collect())
        }
        _ => Step::Same(value()),
    }
}

/// What the program gives; `None` is an error.
fn compute(functions: &[Function], index: usize, arguments: &[Option<i32>]) -> Vec<Option<i32>> {
    let function = &functions[index];
    let mut values = arguments.to_vec();
    for step in &function.steps {
        let both = |a: usize, b: usize| values[a].zip(values[b]);
        let results = match step {
            Step::Constant(value) => vec![Some(*value)],
            Step::Add(a, b) | Step::AddLater(a, b) => vec![both(*a, *b).map(|(a, b)| a.wrapping_add(b))],
            Step::Divide(a, b) => vec![both(*a, *b).and_then(|(a, b)| a.checked_div(b))],
            Step::Same(a) => vec![values[*a]; 2],
            Step::Call(callee, chosen) => {
                let arguments: Vec<_> = chosen.iter().map(|&value| values[value]).collect();
                compute(functions, *callee, &arguments)
            }
        };
        values.extend(results);
    }
    function.results.iter().map(|&result| values[result]).collect()
}

fn write(functions: &[Function]) -> Vec<u8> {
    let mut bef = BefBuilder::new(OptionalSections::Keep);
    let ids: Vec<_> = (0..functions.len()).map(|index| bef.declare_function(&format!("f{index}"))).collect();
    for (function, &id) in functions.iter().zip(&ids) {
        let (location, ty) = (bef.location("recipe", 1, 1), bef.type_name("i32"));
        let mut body = FunctionBuilder::new(location, &vec![ty; function.arguments]);
        let mut registers = body.arguments();
        for step in &function.steps {
            registers.extend(write_step(&mut bef, &mut body, step, &registers, functions, &ids));
        }
        let results: Vec<_> = function.results.iter().map(|&result| registers[result]).collect();
        bef.define_function(id, FunctionKind::Async, &body, &results);
    }
    bef.finish().expect("a small program")
}

fn write_step(
    bef: &mut BefBuilder,
    body: &mut FunctionBuilder,
    step: &Step,
    registers: &[Register],
    functions: &[Function],
    ids: &[FunctionId],
) -> Vec<Register> {
    let (name, arguments, results) = match step {
        Step::Constant(_) => ("constant", vec![], 1),
        Step::Add(a, b) => ("add", vec![*a, *b], 1),
        Step::Divide(a, b) => ("divide", vec![*a, *b], 1),
        Step::AddLater(a, b) => ("add_later", vec![*a, *b], 1),
        Step::Same(a) => ("same", vec![*a], 2),
        Step::Call(callee, arguments) => ("call", arguments.clone(), functions[*callee].results.len()),
    };
    let attributes = match step {
        Step::Constant(value) => {
            vec![(bef.attribute_name("value"), bef.attribute(&Attribute::scalar(*value), false))]
        }
        _ => vec![],
    };
    let callees = match step {
        Step::Call(callee, _) => vec![ids[*callee]],
        _ => vec![],
    };
    let arguments: Vec<_> = arguments.into_iter().map(|argument| registers[argument]).collect();
    body.kernel(&KernelSpec {
        kernel: bef.kernel(name),
        location: bef.location("recipe", 1, 1),
        arguments: &arguments,
        attributes: &attributes,
        functions: &callees,
        result_types: &vec![bef.type_name("i32"); results],
        nonstrict: matches!(step, Step::Call(..)),
    })
}

static SERIAL: LazyLock<Arc<HostContext>> = LazyLock::new(|| host("s"));
static THREADS: LazyLock<Arc<HostContext>> = LazyLock::new(|| host("mstd:2"));

fn host(queue: &str) -> Arc<HostContext> {
    let queue = work_queue::from_str(queue).expect("a queue");
    HostContext::builder(queue, Arc::new(SystemAllocator)).build()
}

static KERNELS: LazyLock<KernelRegistry> = LazyLock::new(|| {
    let mut registry = KernelRegistry::new();
    registry.add("constant", |value: Attr<i32>| value.0);
    registry.add("add", |a: i32, b: i32| a.wrapping_add(b));
    registry.add("divide", |a: i32, b: i32| a.checked_div(b).ok_or("no quotient"));
    registry.add("add_later", |a: i32, b: i32, context: &ExecutionContext| {
        let (promise, value) = Promise::new();
        context.host().add_task(Task::new(move || promise.emplace(a.wrapping_add(b))));
        value
    });
    registry.add_raw("same", KernelSignature::any(), |frame| {
        let Some(argument) = frame.arguments().next().cloned() else { return };
        frame.set_results([argument.clone(), argument]);
    });
    registry
        .add_raw("call", KernelSignature::any(), |frame| {
            let Some(function) = frame.function(0) else { return };
            let results = function.execute(frame.context(), frame.arguments().cloned());
            frame.set_results(results);
        })
        .non_strict();
    registry
});
