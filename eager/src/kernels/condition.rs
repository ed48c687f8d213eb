//! Tensors that control a program: conditions and branch indices, which may be on a device or
//! pending.

use tfrt_host::{AsyncValue, DType, Diagnostic, ErrorCode, ExecutionContext, Status};
use tfrt_tensor::{Accessor, Element, HostTensor, with_element};

use crate::{DeviceTensor, TensorHandle, tensor_handle::in_host_memory};

static CONDITION: Accessor = Accessor::new("the condition of control flow");

/// Returns whether a tensor is true.
fn truth(tensor: &HostTensor) -> Result<bool, Diagnostic> {
    let wrong = |what: &str| {
        Diagnostic::invalid_argument(format!("a condition must be a tensor of one element, not {what}"))
    };
    match tensor {
        HostTensor::String(strings) => Ok(strings.strings().first().is_some_and(|text| !text.is_empty())),
        HostTensor::Dense(dense) => with_element!(
            dense.dtype(),
            |T| match &*dense.read::<T>(&CONDITION)? {
                [value] => Ok(!value.is_zero()),
                elements => Err(wrong(&format!("of {}", elements.len()))),
            },
            else Err(wrong("one of this data type"))
        ),
        HostTensor::Scalar(scalar) => {
            with_element!(scalar.dtype(), |T| Ok(!scalar.value::<T>()?.is_zero()), else Err(wrong("one of this data type")))
        }
        HostTensor::Coo(_) => Err(wrong("a sparse one")),
    }
}

/// The decision of a tensor, if it is available.
pub(crate) enum Verdict<T> {
    Known(T),
    /// The decision is available once this value is: a handle, or a tensor.
    Pending(AsyncValue),
    Failed(AsyncValue),
}

/// Decides whether a handle or a tensor is true. If it is on a device, it is copied to the host.
pub(crate) fn verdict(condition: &AsyncValue, cx: &ExecutionContext) -> Verdict<bool> {
    decide(condition, cx, truth)
}

/// Returns the integer in a handle or a tensor. If it is on a device, it is copied to the host.
pub(crate) fn number(tensor: &AsyncValue, cx: &ExecutionContext) -> Verdict<i64> {
    decide(tensor, cx, integer)
}

fn integer(tensor: &HostTensor) -> Result<i64, Diagnostic> {
    let wrong =
        || Diagnostic::invalid_argument("the number of a branch must be an i32 or i64 tensor of one element");
    match tensor {
        HostTensor::Dense(dense) => match dense.dtype() {
            DType::I32 => dense.read::<i32>(&CONDITION)?.first().map(|&number| number.into()),
            DType::I64 => dense.read::<i64>(&CONDITION)?.first().copied(),
            _ => None,
        },
        HostTensor::Scalar(scalar) => match scalar.dtype() {
            DType::I32 => Some(scalar.value::<i32>()?.into()),
            DType::I64 => Some(scalar.value::<i64>()?),
            _ => None,
        },
        HostTensor::String(_) | HostTensor::Coo(_) => None,
    }
    .ok_or_else(wrong)
}

fn decide<T>(
    value: &AsyncValue,
    cx: &ExecutionContext,
    read: fn(&HostTensor) -> Result<T, Diagnostic>,
) -> Verdict<T> {
    match value.status() {
        Status::Pending => return Verdict::Pending(value.clone()),
        Status::Failed => return Verdict::Failed(value.clone()),
        Status::Ready => {}
    }
    if let Some(handle) = value.get::<TensorHandle>() {
        return match handle.error() {
            Some(error) => Verdict::Failed(AsyncValue::from_error(error)),
            None => decide(handle.tensor(), cx, read),
        };
    }
    if value.get::<DeviceTensor>().is_some() {
        return decide(&in_host_memory(value.clone(), cx), cx, read);
    }
    let Some(tensor) = value.get::<HostTensor>() else {
        let message = format!("a condition must be a tensor, got {}", value.type_name());
        return Verdict::Failed(cx.error(ErrorCode::InvalidArgument, message));
    };
    match read(tensor) {
        Ok(decided) => Verdict::Known(decided),
        Err(error) => Verdict::Failed(AsyncValue::from_error(cx.emit(error))),
    }
}
