//! Printing tensors.

use tfrt_host::{Arg, Chain, Diagnostic, ExecutionContext, KernelRegistry};
use tfrt_tensor::{Accessor, HostTensor};

static PRINT: Accessor = Accessor::new("tfrt_dht.print_tensor");

fn print(tensor: Arg<HostTensor>, cx: &ExecutionContext) -> Result<(), Diagnostic> {
    let text = tensor.print(&PRINT)?;
    cx.host().print(format_args!("{text}\n"));
    Ok(())
}

fn print_chained(tensor: Arg<HostTensor>, chain: Chain, cx: &ExecutionContext) -> Result<Chain, Diagnostic> {
    print(tensor, cx).map(|()| chain)
}

fn print_shape(tensor: Arg<HostTensor>, chain: Chain, cx: &ExecutionContext) -> Chain {
    cx.host().print(format_args!("{}\n", tensor.shape()));
    chain
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
