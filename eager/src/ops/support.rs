//! What many ops have in common: choice by data type, and elementwise computation that reuses memory nobody else sees.

use smallvec::{SmallVec, smallvec};
use tfrt_host::{AsyncValueRef, DType, Diagnostic};
use tfrt_kernels::math::run::run;
use tfrt_math::{Binary, Unary, Update};
use tfrt_tensor::{Accessor, Element, HostTensor, TensorMetadata};

use crate::{CpuCall, CpuResult};

/// The tensors an op gives, computed at once or later.
pub(super) type NewTensor = Result<AsyncValueRef<HostTensor>, Diagnostic>;
/// What a metadata function gives.
pub(super) type Described = Result<SmallVec<[TensorMetadata; 2]>, Diagnostic>;

/// `$body` with `$T` as the number type of a [`DType`]; an error that names the op for other types.
macro_rules! with_number {
    ($dtype:expr, $op:expr, |$T:ident| $body:expr) => {
        $crate::ops::support::with_type!($dtype, $op, |$T| $body,
            I8 i8, I16 i16, I32 i32, I64 i64, UI8 u8, UI16 u16, UI32 u32, UI64 u64,
            F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32, F64 f64)
    };
}
pub(super) use with_number;

macro_rules! with_type {
    ($dtype:expr, $op:expr, |$T:ident| $body:expr, $($name:ident $type:ty),+) => {
        match $dtype {
            $(tfrt_host::DType::$name => {
                type $T = $type;
                $body
            })+
            other => Err($crate::ops::support::unsupported($op, other)),
        }
    };
}
pub(super) use with_type;

/// The error of an op for a data type it does not know.
#[cold]
pub(super) fn unsupported(op: &str, dtype: DType) -> Diagnostic {
    Diagnostic::invalid_argument(format!("{op} does not support tensors of {dtype}"))
}

/// One result.
pub(super) fn one(metadata: TensorMetadata) -> Described {
    Ok(smallvec![metadata])
}

/// `f` of each element of the one argument, in the argument's memory if it may be.
pub(super) fn unary<A: Element, B: Element>(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    f: impl Fn(A) -> B + Send + Sync + 'static,
) -> Result<CpuResult, Diagnostic> {
    let [x] = call.dense()?;
    let out = call.allocate(0)?;
    let plan = Unary::new(f, x.num_elements());
    let operands = (x.read_owned::<A>(me)?, out.write_owned::<B>(me)?);
    run(call.cx, plan, operands, |x| x, |out| out, HostTensor::from(out.clone())).map(CpuResult::from)
}

/// As [`unary`], where arguments and results have one type, so that the result may take the argument's memory.
pub(super) fn map<T: Element>(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    f: impl Fn(T) -> T + Send + Sync + 'static,
) -> Result<CpuResult, Diagnostic> {
    let Some(out) = call.reuse(0, 0) else { return unary(call, me, f) };
    let count = out.num_elements();
    let plan = Update::new(move |y: T, (): ()| f(y), count);
    let operands = (vec![(); count], out.write_owned::<T>(me)?);
    run(call.cx, plan, operands, |units| units, |out| out, HostTensor::from(out.clone())).map(CpuResult::from)
}

/// `f` of each pair of elements under broadcasting.
pub(super) fn combine<A: Element, B: Element>(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    f: impl Fn(A, A) -> B + Send + Sync + 'static,
) -> NewTensor {
    let [x, y] = call.dense()?;
    let out = call.allocate(0)?;
    let plan = Binary::new(f, x.shape().dims(), y.shape().dims());
    let operands = ((x.read_owned::<A>(me)?, y.read_owned::<A>(me)?), out.write_owned::<B>(me)?);
    run(call.cx, plan, operands, |(x, y)| (x, y), |out| out, HostTensor::from(out.clone()))
}

/// As [`combine`], where all have one type: the result may take an argument's memory.
pub(super) fn binary<T: Element>(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    f: impl Fn(T, T) -> T + Copy + Send + Sync + 'static,
) -> Result<CpuResult, Diagnostic> {
    let [x, y] = call.dense()?;
    let same_shape = x.shape() == y.shape();
    let (out, operand, f): (_, _, Box<dyn Fn(T, T) -> T + Send + Sync>) =
        if let Some(out) = call.reuse(0, 0).filter(|_| same_shape) {
            (out, y, Box::new(f))
        } else if let Some(out) = call.reuse(1, 0).filter(|_| same_shape) {
            (out, x, Box::new(move |old, x| f(x, old)))
        } else {
            return combine(call, me, f).map(CpuResult::from);
        };
    let plan = Update::new(f, out.num_elements());
    let operands = (operand.read_owned::<T>(me)?, out.write_owned::<T>(me)?);
    run(call.cx, plan, operands, |x| x, |out| out, HostTensor::from(out.clone())).map(CpuResult::from)
}
