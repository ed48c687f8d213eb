//! Lowering to a device program: an op graph of static shapes as `tfrt_cuda.*` kernels.
//!
//! The program asks for memory twice, in its function [`SETUP`](super::SETUP): one block holds the
//! constants, the other one, the arena, all tensors that it computes. The function `run` queues
//! every op in its place. `setup` calls it once to prepare everything that ops prepare, and once to
//! record it as a graph. [`MAIN`](crate::MAIN) copies the inputs, launches the graph and copies the
//! outputs.
//!
//! Elementwise functions that were fused are kernels of the program's own, where there is a compiler
//! for CUDA C++ when it is made: `setup` loads their PTX, which is part of the program.
//!
//! Ops that no device can run in planned memory run on the host, in steps between the regions of
//! the device. Each region is a function and a graph of its own.

mod batches;
mod emit;
mod emit_host;
mod emit_parts;
mod emit_run;
mod host;
mod nodes;
mod planned;

pub use batches::lower_batches;

use std::{fmt, sync::Arc};

use tfrt_ir::{Diagnostic, Diagnostics, Location};
use tfrt_launch::Generated;
use tfrt_tensor::HostTensor;

use super::{corert::Lowered, write_signature};
use crate::{
    Evaluator, Graph,
    plan::{
        Plan, Problem, Streams,
        cost::{Costs, MACHINES, Machine},
    },
};

/// How device programs are made.
#[derive(Clone, Debug)]
pub struct CudaOptions {
    /// Whether the program is recorded as a graph and launched as one.
    pub records_graph: bool,
    /// How many streams it uses.
    pub streams: Streams,
    /// Whether ops that would run on the host are errors.
    pub is_strict: bool,
    /// The device whose times are predicted.
    pub machine: &'static Machine,
    /// Measured times, which replace predicted ones.
    pub costs: Option<Arc<Costs>>,
    /// Whether products and convolutions of f32 may round their operands to TF32, on devices with
    /// units for that.
    pub allows_tf32: bool,
    /// The batch sizes for which there is a plan each, if the model's first extent is open. A run
    /// chooses by its inputs.
    pub batches: Vec<u64>,
    /// Whether the copies of inputs and outputs are functions, too, for callers that keep tensors
    /// on the device: [`UPLOAD`], [`LAUNCH`] and [`DOWNLOAD`]. The host can then take no part in
    /// the program.
    pub separates_copies: bool,
    /// Constants that kernels of the caller provide. The program asks for each by its name here,
    /// however small it is, and they are not among the weights.
    pub provided: Vec<(String, HostTensor)>,
    /// What compiles kernels that are generated for the program's elementwise functions. Without it,
    /// or if it fails, the runtime's own kernels compute them.
    pub generator: Option<Generator>,
}

/// Compiles CUDA C++ to PTX that every device runs.
#[derive(Clone)]
pub struct Generator(Arc<Compile>);

/// Takes a source and options of NVRTC, and gives PTX, or says why not.
type Compile = dyn Fn(&str, &[String]) -> Result<Vec<u8>, String> + Send + Sync;

impl Generator {
    /// Makes a generator that compiles by a function, which takes a source and options of NVRTC, and
    /// gives PTX or says why not.
    pub fn new(compile: impl Fn(&str, &[String]) -> Result<Vec<u8>, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(compile))
    }

    /// Compiles kernels to PTX as text.
    fn compile(&self, kernels: &Generated) -> Result<String, String> {
        let mut options = vec!["--gpu-architecture=compute_75".to_owned()];
        options.extend(Generated::OPTIONS.iter().map(|&option| option.to_owned()));
        let ptx = (self.0)(&kernels.source(), &options)?;
        let ptx = String::from_utf8(ptx).map_err(|_| "the compiler's result is no text".to_owned())?;
        Ok(ptx.trim_end_matches('\0').to_owned())
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Generator")
    }
}

/// The function of a device program that copies the inputs to the device, with
/// [`CudaOptions::separates_copies`].
pub const UPLOAD: &str = "upload";
/// The function that queues the ops.
pub const LAUNCH: &str = "launch";
/// The function that copies the outputs to the host.
pub const DOWNLOAD: &str = "download";

/// An op of a device program that runs on the host.
#[derive(Clone, Debug)]
pub struct HostOp {
    /// Its place in the model, or its name.
    pub label: String,
    /// Why it does not run on the device.
    pub reason: String,
    /// The number of the step in which it runs.
    pub step: usize,
}

/// The plan of a device program, for reports.
#[derive(Clone, Debug)]
pub struct DevicePlan {
    /// What was planned: an op for each kernel that the program queues, and the buffers.
    pub problem: Problem,
    /// Streams and memory.
    pub plan: Plan,
    /// How many parts of the program the host divides it into.
    pub region_count: usize,
    /// What runs on the host.
    pub host_ops: Vec<HostOp>,
    /// The bytes that each run copies to the host for its ops, and back.
    pub copied_bytes: [u64; 2],
    /// The number of generated kernels.
    pub kernel_count: usize,
    /// The number of ops that they compute.
    pub generated_ops: usize,
    /// Why the generated kernels could not be compiled.
    pub generator_error: Option<String>,
}

impl Default for CudaOptions {
    fn default() -> Self {
        Self {
            records_graph: true,
            streams: Streams::Auto,
            is_strict: false,
            machine: &MACHINES[0],
            costs: None,
            allows_tf32: false,
            batches: Vec::new(),
            separates_copies: false,
            provided: Vec::new(),
            generator: None,
        }
    }
}

/// Lowers a graph to a device program.
///
/// # Errors
/// Every operation that can run neither on a device nor on the host, and every input whose shape is
/// not known. With [`CudaOptions::is_strict`], also every operation that would run on the host.
pub fn lower(graph: &Graph, evaluator: &Evaluator, options: &CudaOptions) -> Result<Lowered, Diagnostics> {
    let (device_graph, planned) = plan(graph, evaluator, options)?;
    let mut made = emit::Made::default();
    write_signature(graph, &mut made.module);
    let parts = (&device_graph, &planned);
    emit::emit(&mut made, graph, parts, evaluator, (options, ""))?;
    let emit::Made { module, weights } = made;
    Ok(Lowered { module, weights, plan: Some(report(&device_graph, planned)) })
}

fn plan(
    graph: &Graph,
    evaluator: &Evaluator,
    options: &CudaOptions,
) -> Result<(nodes::DeviceGraph, planned::Planned), Diagnostics> {
    let device_graph = collect(graph, evaluator, options)?;
    let planned = planned::Planned::new(&device_graph, options).map_err(|error| {
        let mut errors = Diagnostics::new();
        errors.push(Diagnostic::error(Location::Unknown, format!("the program cannot be planned: {error}")));
        errors
    })?;
    Ok((device_graph, planned))
}

/// Collects the nodes of a model and compiles the kernels that are generated for them. If that
/// fails, the nodes do without.
fn collect(
    graph: &Graph,
    evaluator: &Evaluator,
    options: &CudaOptions,
) -> Result<nodes::DeviceGraph, Diagnostics> {
    let rules = nodes::Rules { is_strict: options.is_strict, generates: options.generator.is_some() };
    let mut device_graph = nodes::collect(graph, evaluator, rules)?;
    let Some(generator) = options.generator.as_ref().filter(|_| !device_graph.generated.is_empty()) else {
        return Ok(device_graph);
    };
    match generator.compile(&device_graph.generated) {
        Ok(ptx) => device_graph.ptx = Some(ptx),
        Err(error) => {
            device_graph = nodes::collect(graph, evaluator, nodes::Rules { generates: false, ..rules })?;
            device_graph.generator_error = Some(error);
        }
    }
    Ok(device_graph)
}

fn report(graph: &nodes::DeviceGraph, planned: planned::Planned) -> DevicePlan {
    let host = &graph.host;
    let bytes = |id: nodes::BufferId| graph.buffers[id.0].bytes;
    let host_ops = host.ops.iter().map(|op| {
        let (label, reason, step) = (op.label.clone(), op.reason.clone(), op.step);
        HostOp { label, reason, step }
    });
    DevicePlan {
        problem: planned.problem,
        plan: planned.plan,
        region_count: graph.region_count(),
        host_ops: host_ops.collect(),
        copied_bytes: [
            host.downloads.iter().map(|download| bytes(download.buffer)).sum(),
            host.uploads.iter().map(|upload| bytes(upload.buffer)).sum(),
        ],
        kernel_count: graph.generated.len(),
        generated_ops: graph.nodes.iter().filter(|node| node.launch.is_some()).count(),
        generator_error: graph.generator_error.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{CompileOptions, Target, compile, evaluate::test_host};

    /// Compiles a model with elementwise functions and returns its plan, and whether the program
    /// launches generated kernels.
    fn compiled(answer: Result<&'static str, &'static str>) -> (DevicePlan, bool) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/models/elementwise.mlir");
        let generator = Generator::new(move |source, options| {
            assert!(source.contains("KERNEL fused_0(f32 *y") && options.iter().any(|o| o == "--std=c++17"));
            answer.map(|ptx| ptx.as_bytes().to_vec()).map_err(str::to_owned)
        });
        let cuda = CudaOptions { generator: Some(generator), ..CudaOptions::default() };
        let options = CompileOptions { target: Target::Cuda(cuda), ..CompileOptions::default() };
        let compiled = compile(&path, &options, &test_host()).unwrap();
        let mut ops = compiled.module.walk(compiled.module.root());
        let launches = ops.any(|op| compiled.module.op(op).name == "tfrt_cuda.function.launch_strided");
        (compiled.plan.unwrap(), launches)
    }

    #[test]
    fn kernels_that_do_not_compile_are_done_without() {
        let (plan, launches) = compiled(Ok(".version 9.0\0"));
        assert!(launches && plan.kernel_count > 0 && plan.generated_ops >= plan.kernel_count);
        assert_eq!(plan.generator_error, None);
        let (plan, launches) = compiled(Err("no compiler today"));
        assert!(!launches);
        assert_eq!((plan.kernel_count, plan.generated_ops), (0, 0));
        assert_eq!(plan.generator_error.as_deref(), Some("no compiler today"));
    }

    #[test]
    fn equal_constants_are_uploaded_once() {
        let constant = |name, value| {
            let ty = "tensor<8x8xf32>";
            format!("%{name} = \"tf.Const\"() {{value = dense<{value}> : {ty}}} : () -> {ty}\n")
        };
        let product = |result, x, w| {
            let ty = "tensor<8x8xf32>";
            format!("%{result} = \"tf.MatMul\"(%{x}, %{w}) : ({ty}, {ty}) -> {ty}\n")
        };
        let text = [
            "func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {\n".to_owned(),
            constant("a", "0.5") + &constant("b", "0.5") + &constant("c", "0.25"),
            product("p", "x", "a") + &product("q", "p", "b") + &product("r", "q", "c"),
            "tfrt.return %r : tensor<8x8xf32>\n}".to_owned(),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shared.mlir");
        std::fs::write(&path, text.concat()).unwrap();
        let target = Target::Cuda(CudaOptions::default());
        let options = CompileOptions { target, ..CompileOptions::default() };
        let compiled = compile(&path, &options, &test_host()).unwrap();
        assert_eq!(compiled.plan.unwrap().plan.layout.constant_bytes, 2 * 8 * 8 * 4);
        let module = &compiled.module;
        let is_upload = |&op: &tfrt_ir::OpId| module.op(op).name == "tfrt_cuda.tensor.upload";
        // Two constants in `setup`, and the input in `main`.
        assert_eq!(module.walk(module.root()).filter(is_upload).count(), 3);
    }
}
