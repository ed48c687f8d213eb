//! Kernels that tests of the core runtime use.

use tfrt_host::{Arg, AsyncValue, Chain, Diagnostic, ExecutionContext, KernelRegistry, Rest};
use tfrt_tensor::HostTensor;

use super::attrs::{FrozenAttrs, GrowingAttrs};
use crate::{CoreRuntime, TensorHandle};

fn failed_metadata(tensor: Arg<HostTensor>, _: Rest<Chain>, cx: &ExecutionContext) -> TensorHandle {
    let error = cx.emit(Diagnostic::from("invalid tensor metadata"));
    let device = CoreRuntime::of(cx.host()).host_device().clone();
    TensorHandle::with_failed_metadata(device, error, AsyncValue::new(HostTensor::clone(&tensor)))
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_test.tensorhandle_with_error_metadata", failed_metadata)
        .reads(&[])
        .aliases(0, 0)
        .doc("A tensor that is there but whose metadata is an error.");
    registry
        .add(
            "tfrt_test.corert.op_attrs_print",
            |attrs: Arg<GrowingAttrs>, chain: Chain, cx: &ExecutionContext| {
                cx.host().print(format_args!("{}", &*attrs));
                chain
            },
        )
        .side_effecting()
        .doc("Prints a set of attributes.");
    registry
        .add("tfrt_test.corert.op_attrs_freeze", |attrs: Arg<GrowingAttrs>, chain: Chain| {
            (attrs.freeze(), chain)
        })
        .doc("A set of attributes as it is now.");
    registry
        .add(
            "tfrt_test.corert.op_attrs_ref_print",
            |attrs: Arg<FrozenAttrs>, chain: Chain, cx: &ExecutionContext| {
                cx.host().print(format_args!("{}", &*attrs));
                chain
            },
        )
        .side_effecting()
        .doc("Prints a set of attributes that changes no more.");
}
