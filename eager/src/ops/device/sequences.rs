//! Numbers in steps, between bounds that the host has: `tf.Range` and `tf.LinSpace`.

use tfrt_host::{DType, Diagnostic};
use tfrt_launch::{Linspace, Sequence};
use tfrt_math::Float;
use tfrt_tensor::{Element, HostTensor, TensorMetadata};

use super::{
    Queued,
    expression::{cast, computed_as, is_integer},
    on_host,
};
use crate::{
    DeviceCall, HostArguments, OpRegistry,
    ops::{
        constant::{Between, RangeNumber, range_parts},
        support::{with_float, with_type},
    },
};

/// A range of integers, in a type of 32 or 64 bits, of which the low ones are the narrower types'
/// own.
fn integers<T: RangeNumber + Into<i64>>(
    arguments: [&HostTensor; 3],
    wide: DType,
) -> Result<(Sequence, usize), Diagnostic> {
    let (start, step, count) = range_parts::<T>(arguments)?;
    let (start, step) = (start.into(), step.into());
    let sequence = match wide {
        DType::I64 => Sequence::I64 { start, step },
        _ => Sequence::I32 { start: start as i32, step: step as i32 },
    };
    Ok((sequence, count))
}

fn floats<T: RangeNumber + Float>(arguments: [&HostTensor; 3]) -> Result<(Sequence, usize), Diagnostic> {
    let (start, step, count) = range_parts::<T>(arguments)?;
    Ok((Sequence::Float { dtype: T::DTYPE, start: start.to_f64(), step: step.to_f64() }, count))
}

fn range(call: &DeviceCall<'_>) -> Queued {
    let arguments = on_host::<3>(call)?;
    let dtype = arguments[0].dtype();
    let (sequence, count) = match is_integer(dtype) {
        true => with_type!(
            dtype, "tf.Range", |T| integers::<T>(arguments, computed_as(dtype)),
            I8 i8, I16 i16, I32 i32, I64 i64, UI8 u8, UI16 u16, UI32 u32
        ),
        false => with_float!(dtype, "tf.Range", |T| floats::<T>(arguments)),
    }?;
    let y = call.allocate_as(&TensorMetadata::new(sequence.dtype(), [count]))?;
    call.queue.kernels().sequence(call.queue.stream(), sequence, y.buffer(), count as u64)?;
    Ok(cast(call, &y, dtype, false)?.into())
}

fn between<T: Element + Float>(arguments: [&HostTensor; 3]) -> Result<(Linspace, usize), Diagnostic> {
    let Between { start, stop, step, count } = Between::<T>::new(arguments)?;
    Ok((Linspace { start: start.to_f64(), stop: stop.to_f64(), step }, count))
}

fn linspace(call: &DeviceCall<'_>) -> Queued {
    let arguments = on_host::<3>(call)?;
    let dtype = arguments[0].dtype();
    let (numbers, count) = with_float!(dtype, "tf.LinSpace", |T| between::<T>(arguments))?;
    let y = call.allocate_as(&TensorMetadata::new(dtype, [count]))?;
    call.queue.kernels().linspace(call.queue.stream(), numbers, dtype, y.buffer(), count as u64)?;
    Ok(y.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    let all = HostArguments::at(&[0, 1, 2]);
    ops.extend("tf.Range").device_with(range, all);
    ops.extend("tf.LinSpace").device_with(linspace, all);
}
