//! Printing tensors.

use tfrt_host::{Arg, AsyncValue, Chain, Diagnostic, ExecutionContext, KernelRegistry};
use tfrt_tensor::{Accessor, HostTensor, TensorShape};

static PRINT: Accessor = Accessor::new("tfrt_dht.print_tensor");

fn print(tensor: Arg<HostTensor>, cx: &ExecutionContext) -> Result<(), Diagnostic> {
    let text = tensor.print(&PRINT)?;
    cx.host().print(format_args!("{text}\n"));
    Ok(())
}

fn print_chained(tensor: Arg<HostTensor>, chain: Chain, cx: &ExecutionContext) -> Result<Chain, Diagnostic> {
    print(tensor, cx).map(|()| chain)
}

/// Prints the shape of a tensor, or a shape: existing programs give either.
fn print_shape(value: Arg<AsyncValue>, chain: Chain, cx: &ExecutionContext) -> Result<Chain, Diagnostic> {
    let shape = value.get::<HostTensor>().map(HostTensor::shape).or_else(|| value.get::<TensorShape>());
    let wrong =
        || Diagnostic::invalid_argument(format!("expected a tensor or a shape, got {}", value.type_name()));
    cx.host().print(format_args!("{}\n", shape.ok_or_else(wrong)?));
    Ok(chain)
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_dht.print_tensor", print_chained)
        .side_effecting()
        .doc("Prints a tensor of any form: data type, shape and its first 32 elements.");
    registry
        .add("tfrt_dht_sync.print_tensor", print)
        .side_effecting()
        .doc("Prints a tensor of any form: data type, shape and its first 32 elements.");
    registry.add("tfrt_dht.print_tensor_shape", print_shape).side_effecting().doc("Prints a tensor's shape.");
}
