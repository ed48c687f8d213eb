//! [`compile`]: from a model's file to a program.

use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use tfrt_convert::{ConvertOptions, mlir_to_bef, operations};
use tfrt_host::{HostContext, KernelRegistry, check_mapped_files};
use tfrt_ir::{Diagnostic, Diagnostics, Location, Module, OpRegistry};
use tfrt_tensor::HostTensor;

use crate::{
    Evaluator, Graph, Port,
    import::{ImportOptions, onnx, tensorflow},
    lower::{
        self,
        corert::{Lowered, Place},
    },
    pass::{self, PassOptions},
    text,
};

/// The kernels that a model becomes.
#[derive(Clone, Debug, Default)]
pub enum Target {
    /// Ops of the core runtime, which run in host memory or on a device.
    #[default]
    CoreRuntime,
    /// The same ops, in host memory even where there is a device.
    Host,
    /// A device program with planned memory, for static shapes.
    Cuda(lower::cuda::CudaOptions),
}

/// How to compile a model.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// What the caller says of the model's inputs.
    pub import: ImportOptions,
    /// How passes are run.
    pub passes: PassOptions,
    /// The nodes whose ops stay as they are when the model is narrowed: [`Graph::wide_nodes`].
    pub wide_nodes: Arc<BTreeSet<String>>,
    /// What the model becomes.
    pub target: Target,
}

/// How long a compilation took.
#[derive(Clone, Debug, Default)]
pub struct Timing {
    /// The phases, in order.
    pub phases: Vec<(&'static str, Duration)>,
    /// The passes, in order: the parts of the phase [`PASSES`].
    pub passes: Vec<(&'static str, Duration)>,
}

/// A compiled model.
#[derive(Debug)]
pub struct CompiledModel {
    /// The program as a BEF file.
    pub bef: Vec<u8>,
    /// The program as a kernel graph.
    pub module: Module,
    /// The weights, by the names that the program asks for.
    pub weights: Vec<(String, HostTensor)>,
    /// What the model takes, in order.
    pub inputs: Vec<Port>,
    /// What the model gives, in order.
    pub outputs: Vec<Port>,
    /// The plan of a device program.
    pub plan: Option<lower::cuda::DevicePlan>,
    /// What was noticed on the way.
    pub warnings: Diagnostics,
    /// How long each phase took.
    pub timing: Timing,
}

/// The name of the phase that reads a model.
pub const IMPORT: &str = "import";
/// The name of the phase that runs the passes.
pub const PASSES: &str = "passes";
/// The name of the phase that makes kernels of ops.
pub const LOWER: &str = "lower";

/// The model after one step of a compilation.
#[derive(Clone, Copy, Debug)]
pub enum Stage<'a> {
    /// After [`IMPORT`] and after each pass.
    Ops(&'a Graph),
    /// After [`LOWER`].
    Kernels(&'a Module),
}

/// Looks at a model after the step of this name, and says whether to continue.
pub type Observer<'o> = &'o mut dyn FnMut(&str, Stage<'_>) -> ControlFlow<()>;

/// Compiles an ONNX file, a GraphDef (`.pb`, `.pbtxt`) or the folder of a SavedModel for the core
/// runtime.
///
/// # Errors
/// A file that cannot be read, and every node that cannot be imported or lowered.
pub fn compile(
    path: &Path,
    options: &CompileOptions,
    host: &Arc<HostContext>,
) -> Result<CompiledModel, Diagnostics> {
    let compiled = compile_observed(path, options, host, &mut |_, _| ControlFlow::Continue(()))?;
    compiled.ok_or_else(|| one_error("the compilation was stopped".to_owned()))
}

/// Compiles a model's file and shows it to `observer` after each step. Returns nothing if the
/// observer stops the compilation.
///
/// # Errors
/// As [`compile`].
pub fn compile_observed(
    path: &Path,
    options: &CompileOptions,
    host: &Arc<HostContext>,
    observer: Observer<'_>,
) -> Result<Option<CompiledModel>, Diagnostics> {
    let mut timing = Timing::default();
    let mut start = Instant::now();
    let evaluator = Evaluator::new(host).map_err(|error| one_error(error.message))?;
    let (graph, warnings) = import_model(path, &options.import, &evaluator)?;
    timing.end(IMPORT, &mut start);
    let mut improve = |graph: Graph| improved(graph, options, &evaluator, (&mut timing, &mut *observer));
    let (inputs, outputs) = (graph.inputs.clone(), graph.outputs.clone());
    let lowered = match &options.target {
        Target::Cuda(cuda) if !cuda.batches.is_empty() => {
            let input = batch_input(&graph)?;
            let mut graphs = Vec::new();
            for &size in &cuda.batches {
                let import = with_batch(&graph, &options.import, size);
                let Some(graph) = improve(import_model(path, &import, &evaluator)?.0)? else {
                    return Ok(None);
                };
                graphs.push((size, graph));
            }
            start = Instant::now();
            lower::cuda::lower_batches(&graph, graphs, input, &evaluator, cuda)?
        }
        _ => {
            let Some(graph) = improve(graph)? else { return Ok(None) };
            start = Instant::now();
            lower_graph(&graph, options, &evaluator)?
        }
    };
    timing.end(LOWER, &mut start);
    verify(&lowered, options)?;
    if observer(LOWER, Stage::Kernels(&lowered.module)).is_break() {
        return Ok(None);
    }
    encode(lowered, [inputs, outputs], (warnings, timing)).map(Some)
}

/// Compiles an op graph that did not come from a file. There is one plan of a device program,
/// whatever batch sizes are asked for.
///
/// # Errors
/// Every operation that cannot be lowered.
pub fn compile_graph(
    graph: Graph,
    options: &CompileOptions,
    evaluator: &Evaluator,
) -> Result<CompiledModel, Diagnostics> {
    let mut timing = Timing::default();
    let mut proceed = |_: &str, _: Stage<'_>| ControlFlow::Continue(());
    let ports = [graph.inputs.clone(), graph.outputs.clone()];
    let graph = improved(graph, options, evaluator, (&mut timing, &mut proceed))?;
    let graph = graph.ok_or_else(|| one_error("the compilation was stopped".to_owned()))?;
    let mut start = Instant::now();
    let lowered = lower_graph(&graph, options, evaluator)?;
    timing.end(LOWER, &mut start);
    verify(&lowered, options)?;
    encode(lowered, ports, (Diagnostics::new(), timing))
}

fn lower_graph(
    graph: &Graph,
    options: &CompileOptions,
    evaluator: &Evaluator,
) -> Result<Lowered, Diagnostics> {
    match &options.target {
        Target::CoreRuntime => lower::corert::lower(graph, evaluator, Place::Default),
        Target::Host => lower::corert::lower(graph, evaluator, Place::Host),
        Target::Cuda(options) => lower::cuda::lower(graph, evaluator, options),
    }
}

fn verify(lowered: &Lowered, options: &CompileOptions) -> Result<(), Diagnostics> {
    if options.passes.verify_each || cfg!(debug_assertions) {
        pass::verify_kernel_graph(&lowered.module, &kernel_ops()?)?;
    }
    Ok(())
}

/// Writes a kernel graph as a BEF file.
fn encode(
    lowered: Lowered,
    [inputs, outputs]: [Vec<Port>; 2],
    (warnings, mut timing): (Diagnostics, Timing),
) -> Result<CompiledModel, Diagnostics> {
    let mut start = Instant::now();
    let bef = mlir_to_bef(&lowered.module, &kernel_ops()?, ConvertOptions::default())?;
    // Constants may have been computed from a file that another process has cut meanwhile.
    check_mapped_files().map_err(|error| one_error(error.message))?;
    timing.end("encode", &mut start);
    let Lowered { module, weights, plan } = lowered;
    Ok(CompiledModel { bef, module, weights, plan, inputs, outputs, warnings, timing })
}

/// Runs the passes on an imported graph. Returns nothing if the observer stops the compilation.
fn improved(
    mut graph: Graph,
    options: &CompileOptions,
    evaluator: &Evaluator,
    (timing, observer): (&mut Timing, Observer<'_>),
) -> Result<Option<Graph>, Diagnostics> {
    if options.passes.verify_each || cfg!(debug_assertions) {
        pass::verify_op_graph(&graph, evaluator)?;
    }
    if observer(IMPORT, Stage::Ops(&graph)).is_break() {
        return Ok(None);
    }
    graph.wide_nodes.clone_from(&options.wide_nodes);
    let mut start = Instant::now();
    let passes = &mut timing.passes;
    let mut after = |pass: &pass::Pass, graph: &Graph, time: Duration| {
        passes.push((pass.name, time));
        observer(pass.name, Stage::Ops(graph))
    };
    let for_devices = matches!(options.target, Target::Cuda(_));
    let chosen = PassOptions { for_devices, ..options.passes };
    if pass::run(&pass::pipeline(chosen), &mut graph, evaluator, chosen, &mut after)?.is_break() {
        return Ok(None);
    }
    timing.end(PASSES, &mut start);
    Ok(Some(graph))
}

/// Returns the number of the first input whose first extent is open.
fn batch_input(graph: &Graph) -> Result<usize, Diagnostics> {
    let is_open = |port: &Port| matches!(port.ty.dims.as_deref(), Some([None, ..]));
    graph.inputs.iter().position(is_open).ok_or_else(|| {
        let inputs = graph.inputs.iter().map(|port| format!("'{}' is {}", port.name, port.ty));
        let inputs = inputs.collect::<Vec<_>>().join(", ");
        one_error(format!("plans for several batches need an input whose first extent is open, but {inputs}"))
    })
}

/// Sets the first extent of every input that leaves it open.
fn with_batch(graph: &Graph, import: &ImportOptions, size: u64) -> ImportOptions {
    let mut import = import.clone();
    for port in &graph.inputs {
        if let Some([None, rest @ ..]) = port.ty.dims.as_deref() {
            let dims = std::iter::once(Some(size)).chain(rest.iter().copied()).collect();
            import.input_shapes.insert(port.name.clone(), dims);
        }
    }
    import
}

impl Timing {
    /// Ends a phase and begins the next one.
    fn end(&mut self, phase: &'static str, start: &mut Instant) {
        self.phases.push((phase, start.elapsed()));
        *start = Instant::now();
    }
}

/// Imports a model's file as an op graph, with what was noticed on the way.
///
/// # Errors
/// A file that cannot be read, and every node that cannot be imported.
pub fn import_model(
    path: &Path,
    options: &ImportOptions,
    evaluator: &Evaluator,
) -> Result<(Graph, Diagnostics), Diagnostics> {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("mlir")) {
        return Ok((text::read_file(path, evaluator)?, Diagnostics::new()));
    }
    let read = if tensorflow::is_tensorflow(path) { tensorflow::read } else { onnx::read_file };
    read(path, options, evaluator)
}

fn one_error(message: String) -> Diagnostics {
    let mut errors = Diagnostics::new();
    errors.push(Diagnostic::error(Location::Unknown, message));
    errors
}

/// Returns the definitions of the ops that lowered programs use, from the kernels of the core
/// runtime.
fn kernel_ops() -> Result<OpRegistry, Diagnostics> {
    let mut kernels = KernelRegistry::new();
    tfrt_eager::kernels::register(&mut kernels);
    operations(&kernels).map_err(|messages| {
        let mut errors = Diagnostics::new();
        for message in messages {
            errors.push(Diagnostic::error(Location::Unknown, message));
        }
        errors
    })
}
