//! Ops of ONNX on devices. Their attributes, and the checks of arguments, are those of
//! `ops/onnx`.
//!
//! Sums, interpolations and cells of narrow floating-point numbers are computed in f32 and rounded
//! once, as on the host.

mod attention;
mod composed_attention;
mod convolution;
mod elements;
mod fourier;
mod integer_products;
mod layer_norm;
mod narrow_matmul;
mod normalization;
mod pooling;
mod quantize;
mod recurrent;
mod resize;
mod rotary;
mod rows;
mod sampling;
mod scatter;
mod shape;

use smallvec::SmallVec;
use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_launch::Binary;
use tfrt_tensor::HostTensor;

use super::{
    Queued,
    expression::{scalar, zip},
};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, OpRegistry, OpResult,
    ops::onnx::arguments::{formal, required},
};

/// Returns the number of the argument that is each formal input.
fn inputs<const N: usize>(call: &DeviceCall<'_>) -> Result<[Option<usize>; N], Diagnostic> {
    let given: SmallVec<[usize; 9]> = (0..call.arguments.len()).collect();
    formal(&given, call.attrs)
}

/// Returns an input in device memory, which must be given.
fn device<'c>(
    call: &'c DeviceCall<'_>,
    input: Option<usize>,
    name: &str,
) -> Result<&'c DeviceTensor, Diagnostic> {
    call.tensor(required(input, name)?)
}

/// Returns an input in device memory, which may be absent.
fn device_if_given<'c>(
    call: &'c DeviceCall<'_>,
    input: Option<usize>,
) -> Result<Option<&'c DeviceTensor>, Diagnostic> {
    input.map(|index| call.tensor(index)).transpose()
}

/// Returns an input in host memory, which may be absent.
fn host_if_given<'c>(
    call: &'c DeviceCall<'_>,
    input: Option<usize>,
) -> Result<Option<&'c HostTensor>, Diagnostic> {
    input.map(|index| call.host(index)).transpose()
}

/// Returns the type that floating-point elements are computed in.
fn wide(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

/// Returns floating-point numbers that are cut to the range of an integer type, if that has at most
/// 32 bits. Other numbers are returned unchanged.
fn saturated(call: &DeviceCall<'_>, x: &DeviceTensor, dtype: DType) -> DeviceOpResult<DeviceTensor> {
    let (least, greatest) = match dtype {
        DType::I8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
        DType::UI8 => (0.0, f64::from(u8::MAX)),
        DType::I16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
        DType::UI16 => (0.0, f64::from(u16::MAX)),
        DType::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
        DType::UI32 => (0.0, f64::from(u32::MAX)),
        _ => return Ok(x.clone()),
    };
    let x = zip(call, Binary::Maximum, x, &scalar(call, x.dtype(), least)?)?;
    zip(call, Binary::Minimum, &x, &scalar(call, x.dtype(), greatest)?)
}

/// Returns several tensors as the results of an op.
fn results(tensors: impl IntoIterator<Item = DeviceTensor>) -> Queued {
    Ok(OpResult { tensors: tensors.into_iter().map(AsyncValue::new).collect(), done: None })
}

pub(super) fn register(ops: &mut OpRegistry) {
    attention::register(ops);
    convolution::register(ops);
    elements::register(ops);
    fourier::register(ops);
    integer_products::register(ops);
    layer_norm::register(ops);
    narrow_matmul::register(ops);
    normalization::register(ops);
    pooling::register(ops);
    quantize::register(ops);
    recurrent::register(ops);
    resize::register(ops);
    rotary::register(ops);
    rows::register(ops);
    sampling::register(ops);
    scatter::register(ops);
    shape::register(ops);
}
