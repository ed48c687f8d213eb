//! Kernels that make tensors of a program's constants.

use tfrt_host::bef::DenseAttribute;
use tfrt_host::{Attr, Diagnostic, ExecutionContext, KernelRegistry};
use tfrt_tensor::{DenseHostTensor, dense_from_attribute};

fn constant(value: Attr<DenseAttribute<'_>>, cx: &ExecutionContext) -> Result<DenseHostTensor, Diagnostic> {
    dense_from_attribute(&value.0, cx.host().allocator())
}

pub(super) fn register(registry: &mut KernelRegistry) {
    for name in ["tfrt_test.const_dense_attr", "tfrt_test.sync.const_dense_attr"] {
        registry.add(name, constant).doc("A dense tensor of the elements of a constant.");
    }
}
