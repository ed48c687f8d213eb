//! [`compile`]: from a model's file to a program.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use tfrt_convert::{ConvertOptions, mlir_to_bef, operations};
use tfrt_host::{HostContext, KernelRegistry};
use tfrt_ir::{Diagnostic, Diagnostics, Location, Module, OpRegistry};
use tfrt_tensor::HostTensor;

use crate::{
    Evaluator, Port,
    import::{ImportOptions, onnx},
    lower, pass,
};

/// How to compile a model.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// What the caller says of the model's inputs.
    pub import: ImportOptions,
}

/// How long each phase of a compilation took, in order.
#[derive(Clone, Debug, Default)]
pub struct Timing(pub Vec<(&'static str, Duration)>);

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
    /// What was noticed on the way.
    pub warnings: Diagnostics,
    /// How long each phase took.
    pub timing: Timing,
}

/// Compiles an ONNX file for the core runtime.
///
/// # Errors
/// A file that cannot be read, and every node that cannot be imported or lowered.
pub fn compile(
    path: &Path,
    options: &CompileOptions,
    host: &Arc<HostContext>,
) -> Result<CompiledModel, Diagnostics> {
    let mut timing = Timing::default();
    let mut start = Instant::now();
    let mut measured = |phase: &'static str| {
        timing.0.push((phase, start.elapsed()));
        start = Instant::now();
    };
    let evaluator = Evaluator::new(host).map_err(|error| {
        let mut errors = Diagnostics::new();
        errors.push(Diagnostic::error(Location::Unknown, error.message));
        errors
    })?;
    let (mut graph, warnings) = onnx::read_file(path, &options.import, &evaluator)?;
    measured("import");
    pass::run_all(&mut graph, &evaluator);
    measured("passes");
    let lowered = lower::corert::lower(&graph, evaluator.allocator())?;
    measured("lower");
    let bef = mlir_to_bef(&lowered.module, &kernel_ops()?, ConvertOptions::default())?;
    measured("encode");
    Ok(CompiledModel {
        bef,
        module: lowered.module,
        weights: lowered.weights,
        inputs: graph.inputs,
        outputs: graph.outputs,
        warnings,
        timing,
    })
}

/// Returns the definitions of the ops that lowered programs use, from the kernels of the core runtime.
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
