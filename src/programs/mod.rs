//! Device programs that come with the runtime, compiled from op graphs.
//!
//! Their weights come from kernels and not from a file beside the program, so that a run can choose
//! them.

mod mnist;
mod resnet50;

pub use mnist::mnist_inference;
pub use resnet50::resnet50;

use std::collections::HashMap;

use tfrt_compiler::{
    CompileOptions, CompiledModel, Evaluator, Graph, MAIN, Target, compile_graph,
    lower::{
        SETUP, SIGNATURE, WEIGHT,
        cuda::{CudaOptions, DOWNLOAD, LAUNCH, UPLOAD},
    },
    pass::PassOptions,
};
use tfrt_host::{AsyncValue, Diagnostic};
use tfrt_ir::{
    Attribute, Builder, InsertionPoint, Module, OpId, OpState, ParseOptions, PrintOptions, SYM_NAME, Source,
    ValueId, parse_module, print_module,
};
use tfrt_tensor::HostTensor;

use crate::{Errors, Runtime};

/// The name of the function that computes, in place of [`MAIN`].
const INFER: &str = "infer";
/// The function of a text that provides weights.
const WEIGHTS: &str = "weights";

/// Kernels that provide weights: those of a function `@weights`, which take nothing.
struct Weights {
    module: Module,
    /// What they return.
    tensors: Vec<HostTensor>,
}

impl Weights {
    fn new(text: &str, runtime: &Runtime) -> Result<Self, Errors> {
        let ops = crate::operations(runtime.registry())?;
        let source = Source::new(WEIGHTS, text.as_bytes().to_vec());
        let module = parse_module(&source, &ops, &ParseOptions::default())?;
        let results = runtime.load(WEIGHTS, text.as_bytes().to_vec())?.call(WEIGHTS, [])?;
        if let Some(error) = results.iter().find_map(AsyncValue::error) {
            return Err((*error).clone().into());
        }
        let tensors = results.iter().filter_map(AsyncValue::get::<HostTensor>).cloned().collect();
        Ok(Self { module, tensors })
    }

    /// The tensors, each with its number as a name.
    fn named(&self) -> Vec<(String, HostTensor)> {
        let named = self.tensors.iter().enumerate();
        named.map(|(number, tensor)| (number.to_string(), tensor.clone())).collect()
    }

    /// Lets a program call the kernels where it asks for weights by the names of [`Self::named`].
    fn take_place_in(&self, program: &mut Module) -> Result<(), Diagnostic> {
        let lacks = |name: &str| Diagnostic::internal(format!("the program has no function '{name}'"));
        let body = |module: &Module, name: &str| module.function(name).and_then(|function| function.body());
        let setup = body(program, SETUP).ok_or_else(|| lacks(SETUP))?;
        let weights = body(&self.module, WEIGHTS).ok_or_else(|| lacks(WEIGHTS))?;
        let mut copies: HashMap<ValueId, ValueId> = HashMap::new();
        let (mut returned, mut loading) = (Vec::new(), Vec::new());
        let mut builder = Builder::new(program, InsertionPoint::Start(setup));
        for (_, op) in self.module.ops_in(weights) {
            if !op.operands.is_empty() {
                returned = op.operands.iter().filter_map(|value| copies.get(value)).copied().collect();
                break;
            }
            let types = self.module.types_of(&op.results);
            let mut state = OpState::new(op.name.clone()).results(types);
            state.attributes = op.attributes.clone();
            let copy = builder.create(state);
            loading.push(copy);
            copies.extend(op.results.iter().copied().zip(builder.module().op(copy).results.clone()));
        }
        let asks = |&op: &OpId| program.op(op).name == WEIGHT;
        let asking: Vec<_> = program.walk(program.root()).filter(asks).collect();
        for op in asking {
            let name = program.op(op).attr("name").and_then(Attribute::as_str).unwrap_or_default();
            let value = name.parse::<usize>().ok().and_then(|number| returned.get(number).copied());
            let value = value.ok_or_else(|| {
                Diagnostic::internal(format!("no kernel provides the program's constant '{name}'"))
            })?;
            program.replace_op(op, &[value]);
        }
        // What the compiler had no use for.
        for op in loading.into_iter().filter(|&op| !program.has_used_results(op)).collect::<Vec<_>>() {
            program.erase_op(op);
        }
        Ok(())
    }
}

/// A compiled device program.
struct Compiled {
    /// Its functions as text: `setup`, `infer`, and those between an upload and a download.
    functions: String,
    /// The types of what `setup` returns.
    prepared: Vec<String>,
}

/// Compiles a graph whose constants kernels provide.
fn compile(
    graph: Graph,
    passes: PassOptions,
    weights: &Weights,
    (runtime, evaluator): (&Runtime, &Evaluator),
) -> Result<Compiled, Errors> {
    let cuda = CudaOptions { separates_copies: true, provided: weights.named(), ..CudaOptions::default() };
    let options = CompileOptions { passes, target: Target::Cuda(cuda), ..CompileOptions::default() };
    let CompiledModel { mut module, weights: others, .. } = compile_graph(graph, &options, evaluator)?;
    if let Some((name, tensor)) = others.first() {
        let message = format!("no kernel provides the constant '{name}', {}", tensor.metadata());
        return Err(Diagnostic::internal(message).into());
    }
    weights.take_place_in(&mut module)?;
    if let Some(signature) = module.function(SIGNATURE).map(|function| function.op()) {
        module.erase_op(signature);
    }
    if let Some(main) = module.function(MAIN).map(|function| function.op()) {
        module.op_mut(main).attributes.set(SYM_NAME, Attribute::string(INFER));
    }
    let ty = module.function(SETUP).and_then(|setup| setup.ty().cloned());
    let prepared = ty.map_or(Vec::new(), |ty| ty.results.iter().map(ToString::to_string).collect());
    let ops = crate::operations(runtime.registry())?;
    let options = PrintOptions { debug_info: true, ..PrintOptions::default() };
    let text = print_module(&module, &ops, options).replace(" loc(unknown)", "");
    Ok(Compiled { functions: described(&text), prepared })
}

/// What is said of each function.
const DESCRIPTIONS: [(&str, &str); 6] = [
    (SETUP, "Weights, memory, and the graph that is launched."),
    ("run", "Queues all ops, for the graph to record them."),
    (INFER, "From host memory to host memory."),
    (UPLOAD, "Copies the inputs to the device."),
    (LAUNCH, "Computes on the device."),
    (DOWNLOAD, "Copies the outputs to the host."),
];

/// Returns the functions of a module's text with a comment each, without the module around them.
fn described(text: &str) -> String {
    let mut described = String::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("  ")) {
        if let Some(function) = line.strip_prefix("func @") {
            let about = DESCRIPTIONS.iter().find(|(name, _)| function.starts_with(&format!("{name}(")));
            described += &about.map_or("\n".to_owned(), |(_, about)| format!("\n// {about}\n"));
        }
        described += line;
        described.push('\n');
    }
    described
}
