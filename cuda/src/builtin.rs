//! Kernels with which programs use our CUDA kernels by name, without carrying their PTX.

use std::sync::Arc;

use tfrt_device::front::{Context, Function};
use tfrt_host::bef::AggregateAttribute;
use tfrt_host::{Arg, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry};
use tfrt_launch::DeviceKernels;

use crate::module::keep_functions;

/// The resource that keeps the modules which a request has loaded.
const LOADED: &str = "cuda_builtin_kernels_resource";

/// The kernels of each context.
#[derive(Default)]
struct Loaded(parking_lot::Mutex<Vec<(u64, Arc<DeviceKernels>)>>);

/// A context's kernels, each module of which is loaded once in a request.
fn kernels_of(context: &Context, cx: &ExecutionContext) -> Result<Arc<DeviceKernels>, Diagnostic> {
    let loaded = cx.resources().get_or_create(LOADED, Loaded::default)?;
    let mut contexts = loaded.0.lock();
    if let Some((_, kernels)) = contexts.iter().find(|(id, _)| *id == context.id()) {
        return Ok(kernels.clone());
    }
    let kernels = Arc::new(DeviceKernels::new(context));
    contexts.push((context.id(), kernels.clone()));
    Ok(kernels)
}

fn function_builtin(
    context: Arg<Context>,
    _chain: Chain,
    name: Attr<str>,
    cx: &ExecutionContext,
) -> Result<(Function, Chain), Diagnostic> {
    Ok((kernels_of(&context, cx)?.function(name.0)?, Chain))
}

fn load_builtin(
    context: Arg<Context>,
    _chain: Chain,
    functions: Attr<AggregateAttribute<'_>>,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let kernels = kernels_of(&context, cx)?;
    let load = |index| {
        let element = functions.0.get(index).ok().and_then(|element| element.string());
        let name = element.ok_or_else(|| {
            Diagnostic::invalid_argument(format!("element {index} of 'functions' is not a string"))
        })?;
        Ok::<_, Diagnostic>(kernels.function(name)?)
    };
    let functions = (0..functions.0.len()).map(load).collect::<Result<Vec<_>, _>>()?;
    keep_functions(cx, &context, functions)?;
    Ok(Chain)
}

pub(crate) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_cuda.function.builtin", function_builtin)
        .attributes(&["name"])
        .side_effecting()
        .doc("One of the runtime's own CUDA kernels (cuda/launch/cuda), by its name: 'softmax_f32'.");
    registry
        .add("tfrt_cuda.module.load_builtin", load_builtin)
        .attributes(&["functions"])
        .side_effecting()
        .doc("Keeps the runtime's own CUDA kernels of these names, for 'launch' to find by number.");
}
