//! What ops are on a device: our CUDA kernels, its BLAS and its DNN library. The ops' names,
//! attributes and metadata functions are those of the neighbouring files.
//!
//! Narrow integers are computed in wider ones, and complex numbers of two `f32` in those of two
//! `f64`, where these alone have kernels. Types that a device has none for are errors of the call.

mod arrays;
mod attention;
mod diagonal;
mod einsum;
mod elementwise;
mod expression;
mod fused;
mod fused_elementwise;
mod gradients;
mod image;
mod linear;
mod moves;
mod network;
mod normalization;
mod onnx;
mod order;
mod random;
mod scatter;
mod sequences;
pub(super) mod test_ops;
mod variable;

use smallvec::SmallVec;
use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_tensor::HostTensor;

use super::support::{Computed, invalid};
use crate::{
    CpuCall, DeviceArgument, DeviceCall, DeviceOpResult, DeviceTensor, OpRegistry, OpResult,
    registry::wrong_count, tensor_handle::host_tensor,
};

type Queued = DeviceOpResult<OpResult>;

/// A tensor's extents, as kernels take them.
fn extents(tensor: &DeviceTensor) -> SmallVec<[u64; 6]> {
    tensor.shape().dims().iter().map(|&dim| dim as u64).collect()
}

/// How many elements a tensor has.
fn count(tensor: &DeviceTensor) -> u64 {
    tensor.dense().elements() as u64
}

/// The error of an op for a data type that a device has no kernel for.
#[cold]
fn unsupported(op: &str, dtype: DType) -> Diagnostic {
    invalid(format!("{op} does not support tensors of {dtype} on a device"))
}

/// That a type is one of those that kernels have as floating-point numbers.
fn check_floats(dtype: DType, op: &str) -> Result<(), Diagnostic> {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Ok(()),
        other => Err(unsupported(op, other)),
    }
}

/// That a type is one of those of indices.
fn check_indices(dtype: DType, known: &[DType], op: &str) -> Result<(), Diagnostic> {
    if known.contains(&dtype) { Ok(()) } else { Err(unsupported(&format!("{op} by indices"), dtype)) }
}

/// The arguments, which are all in host memory.
fn all_on_host<'c>(call: &'c DeviceCall<'_>) -> Result<SmallVec<[&'c HostTensor; 6]>, Diagnostic> {
    (0..call.arguments.len()).map(|index| call.host(index)).collect()
}

/// The same, of which there must be `N`.
fn on_host<'c, const N: usize>(call: &'c DeviceCall<'_>) -> Result<[&'c HostTensor; N], Diagnostic> {
    all_on_host(call)?.as_slice().try_into().map_err(|_| wrong_count(N, call.arguments.len()))
}

/// What an op gives that computes its results on the host at once, from arguments that are there.
/// They stay there.
fn computed_on_host(call: &DeviceCall<'_>, compute: fn(CpuCall<'_>) -> Computed) -> Queued {
    let arguments = all_on_host(call)?;
    let (attrs, results) = (call.attrs, call.results);
    Ok(compute(CpuCall { cx: call.cx, arguments: &arguments, attrs, results, given_up: 0 })?)
}

/// The same, of results that are brought to the device.
fn made_on_host(call: &DeviceCall<'_>, make: fn(CpuCall<'_>) -> Computed) -> Queued {
    let made = computed_on_host(call, make)?;
    let mut tensors = SmallVec::new();
    for tensor in made.tensors {
        let tensor = call.upload(host_tensor(&tensor).map_err(Diagnostic::from)?)?;
        tensors.push(AsyncValue::new(tensor));
    }
    Ok(OpResult { tensors, done: None })
}

/// The first argument, wherever it is, as the result.
fn identity(call: &DeviceCall<'_>) -> Queued {
    match call.arguments {
        [DeviceArgument::Device(tensor)] => Ok(DeviceTensor::clone(tensor).into()),
        arguments => Err(wrong_count(1, arguments.len()).into()),
    }
}

/// Adds the implementations to ops that are already defined.
pub(super) fn register(ops: &mut OpRegistry) {
    arrays::register(ops);
    attention::register(ops);
    diagonal::register(ops);
    einsum::register(ops);
    elementwise::register(ops);
    fused::register(ops);
    fused_elementwise::register(ops);
    gradients::register(ops);
    image::register(ops);
    linear::register(ops);
    moves::register(ops);
    network::register(ops);
    normalization::register(ops);
    onnx::register(ops);
    order::register(ops);
    random::register(ops);
    scatter::register(ops);
    sequences::register(ops);
    test_ops::register(ops);
    variable::register(ops);
    for name in ["tf.Identity", "tf.StopGradient", "tf.PreventGradient", "tf.Snapshot", "tf.EnsureShape"] {
        ops.extend(name).device(identity);
    }
    ops.extend("tf.Const").device(|call| made_on_host(call, super::constant::constant));
}
