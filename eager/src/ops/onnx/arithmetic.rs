//! `onnx.BitShift`, `onnx.Mod` and `onnx.IsInf`.

use tfrt_host::DType;
use tfrt_math::{Float, Number, ops};
use tfrt_tensor::{Accessor, Element};

use super::arguments::{flag, text_or, unknown};
use crate::ops::elementwise::{binary, broadcast_metadata, retyped, unary};
use crate::ops::support::{Computed, with_float, with_number, with_type};
use crate::ops::types;
use crate::{CpuCall, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx arithmetic");

fn shift<T: Element + Into<u64> + TryFrom<u64> + Copy>(call: &CpuCall<'_>) -> Computed {
    let is_left = match text_or(call.attrs, "direction", "")? {
        "LEFT" => true,
        "RIGHT" => false,
        other => return Err(unknown("direction", other)),
    };
    let mask = u64::MAX >> (64 - 8 * size_of::<T>());
    binary::<T>(call, &ME, move |x, by| {
        let by = u32::try_from(by.into()).unwrap_or(u32::MAX);
        let x: u64 = x.into();
        let shifted = if is_left { x.checked_shl(by) } else { x.checked_shr(by) };
        T::try_from(shifted.unwrap_or(0) & mask).unwrap_or_default()
    })
}

fn remainder<T: Element + Number>(call: &CpuCall<'_>) -> Computed {
    match flag(call.attrs, "fmod", false)? {
        true => binary::<T>(call, &ME, T::remainder),
        false => binary::<T>(call, &ME, ops::floor_mod),
    }
}

fn is_infinite<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let (negative, positive) =
        (flag(call.attrs, "detect_negative", true)?, flag(call.attrs, "detect_positive", true)?);
    unary::<T, bool>(call, &ME, move |x| (negative && x == T::LOWEST) || (positive && x == T::HIGHEST))
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.BitShift")
        .types(&[DType::UI8, DType::UI16, DType::UI32, DType::UI64])
        .attrs([attr::string("direction")])
        .metadata(broadcast_metadata)
        .cpu(|call| {
            with_type!(call.result(0)?.dtype, "onnx.BitShift", |T| shift::<T>(&call),
                UI8 u8, UI16 u16, UI32 u32, UI64 u64)
        });
    ops.add("onnx.Mod")
        .types(types::NUMBERS)
        .attrs([attr::int_or("fmod", 0)])
        .metadata(broadcast_metadata)
        .cpu(|call| with_number!(call.result(0)?.dtype, "onnx.Mod", |T| remainder::<T>(&call)));
    ops.add("onnx.IsInf")
        .types(types::FLOATS)
        .attrs([attr::int_or("detect_negative", 1), attr::int_or("detect_positive", 1)])
        .metadata(|call| retyped(&call, DType::I1))
        .cpu(|call| {
            let dtype = call.arguments.first().map_or(DType::F32, |tensor| tensor.dtype());
            with_float!(dtype, "onnx.IsInf", |T| is_infinite::<T>(&call))
        });
}
