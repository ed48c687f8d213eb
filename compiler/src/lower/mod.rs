//! Lowering: an op graph as a kernel graph.

mod calls;
pub mod corert;
pub mod cuda;
mod hoist;

use tfrt_ir::{Attribute, FunctionType, Location, Module, OpState, Type};

use crate::{Graph, Port, import::onnx::RETURN};

/// The function of a compiled program that prepares: it takes nothing and gives what
/// [`MAIN`](crate::MAIN) takes first.
pub const SETUP: &str = "setup";
/// The function of a compiled program that describes it: it takes nothing and gives a
/// `!tfrt_model.signature`.
pub const SIGNATURE: &str = "signature";
/// The kernel of a compiled program that returns a weight by its name.
pub const WEIGHT: &str = "tfrt_model.weight";

/// Kernels of programs that other libraries than the core runtime register.
pub(crate) const OTHER_KERNELS: &[&str] = &[
    "tfrt.call",
    "tfrt.case",
    "tfrt.constant.f32",
    "tfrt.constant.i32",
    "tfrt.constant.i64",
    "tfrt.constant.ui32",
    "tfrt.new.chain",
    "tfrt_cuda.allocator.create",
    "tfrt_cuda.context.primary",
    "tfrt_cuda.device.get",
    "tfrt_cuda.event.create",
    "tfrt_cuda.event.record",
    "tfrt_cuda.function.get",
    "tfrt_cuda.function.launch_strided",
    "tfrt_cuda.graph.begin_capture",
    "tfrt_cuda.graph.end_capture",
    "tfrt_cuda.graph.launch",
    "tfrt_cuda.init",
    "tfrt_cuda.mem.allocate",
    "tfrt_cuda.mem.set.f32",
    "tfrt_cuda.mem.slice",
    "tfrt_cuda.module.load",
    "tfrt_cuda.stream.create",
    "tfrt_cuda.stream.synchronize",
    "tfrt_cuda.stream.wait",
    "tfrt_cuda.tensor.download",
    "tfrt_cuda.tensor.upload",
    "tfrt_cuda.turn.create",
    "tfrt_cuda.turn.give_back",
    "tfrt_cuda.turn.take",
    "tfrt_model.batch_number",
    "tfrt_model.signature",
    WEIGHT,
];

/// Adds `func @signature() -> !tfrt_model.signature`.
fn write_signature(graph: &Graph, module: &mut Module) {
    let ty = Type::dialect("tfrt_model", "signature");
    let function = FunctionType { inputs: vec![], results: vec![ty.clone()] };
    let (_, block) = module.add_function(SIGNATURE, function, Location::Unknown);
    let texts =
        |texts: Vec<String>| Attribute::array(texts.into_iter().map(Attribute::string).collect::<Vec<_>>());
    let names = |ports: &[Port]| texts(ports.iter().map(|port| port.name.clone()).collect());
    let types = |ports: &[Port]| texts(ports.iter().map(|port| port.ty.to_string()).collect());
    let state = OpState::new("tfrt_model.signature")
        .attr("input_names", names(&graph.inputs))
        .attr("input_types", types(&graph.inputs))
        .attr("output_names", names(&graph.outputs))
        .attr("output_types", types(&graph.outputs))
        .results([ty]);
    let signature = module.create_op(state);
    module.append_op(block, signature);
    let results = module.op(signature).results.clone();
    let returned = module.create_op(OpState::new(RETURN).operands(results));
    module.append_op(block, returned);
}
