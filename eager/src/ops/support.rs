//! What many ops have in common: choice by data type, arguments as plain values, and results computed in runs.

use std::borrow::Cow;
use std::ops::{Deref, Range};

use smallvec::{SmallVec, smallvec};
use tfrt_compute::{run, shape_error};
use tfrt_host::{
    AsyncValue, AsyncValueRef, Chain, DType, Diagnostic, ErrorCode, ExecutionContext, Promise,
    host_buffer::HostBuffer,
};
use tfrt_math::{RunFn, Runs, ShapeError};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, Elements, HostTensor, TensorMetadata, TensorShape};

use crate::{AttrValue, CpuCall, MetadataCall, OpAttrs, OpResult, registry::wrong_count};

/// What an implementation gives.
pub(super) type Computed = Result<OpResult, Diagnostic>;
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

/// As `with_number`, for floating-point numbers alone.
macro_rules! with_float {
    ($dtype:expr, $op:expr, |$T:ident| $body:expr) => {
        $crate::ops::support::with_type!($dtype, $op, |$T| $body,
            F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32, F64 f64)
    };
}
pub(super) use with_float;

/// As `with_number`, for integers alone.
macro_rules! with_integer {
    ($dtype:expr, $op:expr, |$T:ident| $body:expr) => {
        $crate::ops::support::with_type!($dtype, $op, |$T| $body,
            I8 i8, I16 i16, I32 i32, I64 i64, UI8 u8, UI16 u16, UI32 u32, UI64 u64)
    };
}
pub(super) use with_integer;

/// As `with_number`, for complex numbers alone.
macro_rules! with_complex {
    ($dtype:expr, $op:expr, |$T:ident| $body:expr) => {
        $crate::ops::support::with_type!($dtype, $op, |$T| $body,
            Complex64 tfrt_tensor::Complex<f32>, Complex128 tfrt_tensor::Complex<f64>)
    };
}
pub(super) use with_complex;

/// As `with_number`, and `$complex` for complex numbers.
macro_rules! with_number_or_complex {
    ($dtype:expr, $op:expr, |$T:ident| $number:expr, $complex:expr) => {
        match $dtype {
            dtype if $crate::ops::support::is_complex(dtype) => {
                $crate::ops::support::with_complex!(dtype, $op, |$T| $complex)
            }
            dtype => $crate::ops::support::with_number!(dtype, $op, |$T| $number),
        }
    };
}
pub(super) use with_number_or_complex;

/// As `with_number`, for floating-point and complex numbers.
macro_rules! with_field {
    ($dtype:expr, $op:expr, |$T:ident| $body:expr) => {
        $crate::ops::support::with_type!($dtype, $op, |$T| $body,
            F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32, F64 f64,
            Complex64 tfrt_tensor::Complex<f32>, Complex128 tfrt_tensor::Complex<f64>)
    };
}
pub(super) use with_field;

/// Whether a data type is one of complex numbers.
pub(super) fn is_complex(dtype: DType) -> bool {
    matches!(dtype, DType::Complex64 | DType::Complex128)
}

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

/// An error of arguments that do not fit.
#[cold]
pub(crate) fn invalid(message: impl Into<String>) -> Diagnostic {
    Diagnostic::invalid_argument(message.into())
}

/// The metadata of the one argument.
pub(super) fn same(call: MetadataCall<'_>) -> Described {
    let [argument] = call.take()?;
    one(argument.clone())
}

/// A tensor's elements, or the one value that all of them are.
pub(crate) enum Operand<T: Element> {
    /// All of them.
    Dense(Elements<T, HostBuffer>),
    /// One for all.
    One([T; 1]),
}

impl<T: Element> Operand<T> {
    /// The elements of a dense or scalar tensor, with the shape in which they are to be broadcast.
    pub(crate) fn new<'t>(
        tensor: &'t HostTensor,
        me: &'static Accessor,
    ) -> Result<(Self, &'t [usize]), Diagnostic> {
        match tensor {
            HostTensor::Scalar(scalar) => Ok((Self::One([scalar.value()?]), &[])),
            tensor => {
                let dense = tensor.dense()?;
                Ok((Self::Dense(dense.read_owned(me)?), dense.shape().dims()))
            }
        }
    }
}

/// A tensor as it is broadcast together with `other` to these extents. Scalar tensors have all their elements where their shape
/// may be all that the result has of some dimension.
pub(crate) fn spread<'t>(
    tensor: &'t HostTensor,
    other: &HostTensor,
    dims: &[usize],
    cx: &ExecutionContext,
) -> Result<Cow<'t, HostTensor>, Diagnostic> {
    match tensor {
        HostTensor::Scalar(scalar)
            if matches!(other, HostTensor::Scalar(_)) || other.shape().dims() != dims =>
        {
            Ok(Cow::Owned(scalar.to_dense(cx.host().allocator())?.into()))
        }
        tensor => Ok(Cow::Borrowed(tensor)),
    }
}

impl<T: Element> Deref for Operand<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Dense(elements) => elements,
            Self::One(value) => value,
        }
    }
}

/// Computes the elements of `out`: `count` units of `unit` elements, each as dear as `cost` elements of streaming. `f`
/// sets the units of a range, and is gone with all it holds before the result is there. Small results are computed at
/// once, others on the work queue.
pub(super) fn compute<O: Element>(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    out: DenseHostTensor,
    (count, unit, cost): (usize, usize, usize),
    f: impl Fn(Range<usize>, &mut [O]) -> Result<(), ShapeError> + Send + Sync + 'static,
) -> Computed {
    if count == 0 || unit == 0 {
        // Without elements there may be any number of units of any size.
        return Ok(out.into());
    }
    if Runs::<O>::is_one(count, cost) {
        return compute_now(me, out, count, &f);
    }
    compute_later(call, me, out, (count, unit, cost), Box::new(f))
}

// Each takes the function as an object, so that its loops exist once: there are thousands of them.

fn compute_now<O: Element>(
    me: &'static Accessor,
    out: DenseHostTensor,
    count: usize,
    f: &dyn RunFn<O>,
) -> Computed {
    f.compute(0..count, &mut out.write::<O>(me)?).map_err(shape_error)?;
    Ok(out.into())
}

fn compute_later<O: Element>(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    out: DenseHostTensor,
    (count, unit, cost): (usize, usize, usize),
    f: Box<dyn RunFn<O>>,
) -> Computed {
    let plan = Runs::new(count, unit, cost, f);
    let result = HostTensor::from(out.clone());
    run(call.cx, plan, ((), out.write_owned::<O>(me)?), |_| (), |out| out, result).map(OpResult::from)
}

/// A new tensor whose shape only the op's implementation knows, for an op that sets all its elements.
pub(super) fn allocate(
    call: &CpuCall<'_>,
    dtype: DType,
    dims: &[usize],
) -> Result<DenseHostTensor, Diagnostic> {
    let metadata = TensorMetadata::new(dtype, TensorShape::new(dims)?);
    DenseHostTensor::allocate_unset(metadata, call.cx.host().allocator())
}

/// The product of extents; of those of an empty tensor, which may be of any size, at most `usize::MAX`.
pub(super) fn product(dims: &[usize]) -> usize {
    dims.iter().fold(1, |product: usize, &dim| product.saturating_mul(dim))
}

/// That a tensor given for a result has the result's shape.
pub(crate) fn check_shape(result: &HostTensor, dims: &[usize]) -> Result<(), Diagnostic> {
    if result.shape().dims() == dims {
        return Ok(());
    }
    Err(invalid(format!("the result has shape {dims:?}, the tensor for it {}", result.shape())))
}

/// An empty list with room for `count` items.
pub(crate) fn room_for<T>(count: usize) -> Result<Vec<T>, Diagnostic> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| no_room(count))?;
    Ok(list)
}

#[cold]
fn no_room(count: usize) -> Diagnostic {
    Diagnostic::new(ErrorCode::OutOfMemory, format!("Cannot allocate a list of {count} items"))
}

/// The arguments, of which there must be `N`.
pub(super) fn take<'c, const N: usize>(call: &CpuCall<'c>) -> Result<[&'c HostTensor; N], Diagnostic> {
    call.arguments.try_into().map_err(|_| wrong_count(N, call.arguments.len()))
}

/// Tensors that are complete when `done` is.
pub(super) fn tensors_after(
    done: AsyncValueRef<Chain>,
    tensors: impl IntoIterator<Item = DenseHostTensor>,
) -> OpResult {
    let after = |tensor: DenseHostTensor| match done.get() {
        Some(Ok(_)) => AsyncValue::new(HostTensor::from(tensor)),
        Some(Err(error)) => AsyncValue::from_error(error),
        None => {
            let (promise, value) = Promise::new();
            done.clone().then(move |outcome| match outcome {
                Ok(_) => promise.emplace(HostTensor::from(tensor)),
                Err(error) => promise.set_error(error),
            });
            value.into_untyped()
        }
    };
    OpResult { tensors: tensors.into_iter().map(after).collect(), done: None }
}

static VALUES: Accessor = Accessor::new("arguments that are read when an op is called");

/// The elements of a tensor of 32- or 64-bit integers: an axis, a shape, sizes. `what` is its name in errors.
pub(crate) fn integers(tensor: &HostTensor, what: &str) -> Result<SmallVec<[i64; 8]>, Diagnostic> {
    integers_or(tensor, what, None)
}

/// As [`integers`], for an op that takes a narrower type too.
pub(super) fn integers_or(
    tensor: &HostTensor,
    what: &str,
    narrow: impl Into<Option<DType>>,
) -> Result<SmallVec<[i64; 8]>, Diagnostic> {
    fn widened<T: Element + Into<i64>>(tensor: &HostTensor) -> Result<SmallVec<[i64; 8]>, Diagnostic> {
        Ok(values::<T>(tensor)?.iter().map(|&value| value.into()).collect())
    }
    let narrow = narrow.into();
    match tensor.dtype() {
        DType::I32 => widened::<i32>(tensor),
        DType::I64 => widened::<i64>(tensor),
        DType::I8 if narrow == Some(DType::I8) => widened::<i8>(tensor),
        DType::I16 if narrow == Some(DType::I16) => widened::<i16>(tensor),
        other => Err(no_integers(other, what, narrow)),
    }
}

/// That [`integers_or`] takes a type, of a tensor whose elements need not be read.
pub(super) fn check_integers(dtype: DType, what: &str, narrow: DType) -> Result<(), Diagnostic> {
    match [DType::I32, DType::I64, narrow].contains(&dtype) {
        true => Ok(()),
        false => Err(no_integers(dtype, what, Some(narrow))),
    }
}

#[cold]
fn no_integers(dtype: DType, what: &str, narrow: Option<DType>) -> Diagnostic {
    let narrow = narrow.map(|dtype| format!("{dtype}, ")).unwrap_or_default();
    invalid(format!("{what} must be of type {narrow}i32 or i64, got {dtype}"))
}

/// As [`integers`], of a tensor that must be a vector.
pub(super) fn vector(tensor: &HostTensor, what: &str) -> Result<SmallVec<[i64; 8]>, Diagnostic> {
    vector_or(tensor, what, None)
}

/// As [`vector`], for an op that takes a narrower type too.
pub(super) fn vector_or(
    tensor: &HostTensor,
    what: &str,
    narrow: impl Into<Option<DType>>,
) -> Result<SmallVec<[i64; 8]>, Diagnostic> {
    if tensor.shape().rank() != 1 {
        return Err(invalid(format!("{what} must be a vector, got a tensor of shape {}", tensor.shape())));
    }
    integers_or(tensor, what, narrow)
}

/// That a tensor has one element, and no more dimensions than `rank`.
pub(super) fn check_one(shape: &TensorShape, what: &str, rank: usize) -> Result<(), Diagnostic> {
    if shape.num_elements()? != 1 || shape.rank() > rank {
        return Err(invalid(format!("{what} must be a scalar, got a tensor of shape {shape}")));
    }
    Ok(())
}

/// The element of a scalar, which is an integer.
pub(super) fn integer(tensor: &HostTensor, what: &str) -> Result<i64, Diagnostic> {
    integer_or(tensor, what, None)
}

/// As [`integer`], for an op that takes a narrower type too.
pub(super) fn integer_or(
    tensor: &HostTensor,
    what: &str,
    narrow: impl Into<Option<DType>>,
) -> Result<i64, Diagnostic> {
    check_one(tensor.shape(), what, 0)?;
    first(&integers_or(tensor, what, narrow)?, what)
}

/// As [`integer`], for an op that takes the one element of tensors of up to `rank` dimensions for a scalar.
pub(super) fn integer_within(tensor: &HostTensor, what: &str, rank: usize) -> Result<i64, Diagnostic> {
    check_one(tensor.shape(), what, rank)?;
    first(&integers(tensor, what)?, what)
}

fn first<T: Copy>(values: &[T], what: &str) -> Result<T, Diagnostic> {
    values.first().copied().ok_or_else(|| invalid(format!("{what} is empty")))
}

/// All elements, of a tensor that has few.
pub(super) fn values<T: Element>(tensor: &HostTensor) -> Result<SmallVec<[T; 8]>, Diagnostic> {
    match tensor {
        HostTensor::Scalar(scalar) => {
            // The shape of a tensor of one value may be of any size.
            let count = scalar.shape().num_elements()?;
            let mut values = SmallVec::new();
            values.try_reserve(count).map_err(|_| no_room(count))?;
            values.resize(count, scalar.value::<T>()?);
            Ok(values)
        }
        tensor => Ok(SmallVec::from_slice(&tensor.dense()?.read::<T>(&VALUES)?)),
    }
}

/// The element of a scalar.
pub(super) fn value<T: Element>(tensor: &HostTensor, what: &str) -> Result<T, Diagnostic> {
    value_within(tensor, what, 0)
}

/// As [`value`], for an op that takes the one element of tensors of up to `rank` dimensions for a scalar.
pub(super) fn value_within<T: Element>(
    tensor: &HostTensor,
    what: &str,
    rank: usize,
) -> Result<T, Diagnostic> {
    check_one(tensor.shape(), what, rank)?;
    first(&values::<T>(tensor)?, what)
}

/// An axis counted from the front; a negative one counts from the back of `rank` dimensions.
pub(crate) fn axis_of(axis: i64, rank: usize, what: &str) -> Result<usize, Diagnostic> {
    let signed = rank as i64;
    if axis < -signed || axis >= signed {
        return Err(Diagnostic::new(
            ErrorCode::InvalidArgument,
            format!("{what}: expected an axis in the range [{}, {signed}), but got {axis}", -signed),
        ));
    }
    Ok(if axis < 0 { axis + signed } else { axis } as usize)
}

/// A shape given as a tensor or list of extents.
pub(super) fn shape_of(dims: &[i64]) -> Result<TensorShape, Diagnostic> {
    let shape = TensorShape::from_signed(dims)?;
    shape.num_elements()?;
    Ok(shape)
}

/// An integer attribute, of whichever width a program wrote.
pub(super) fn int_attr(attrs: &OpAttrs, name: &str) -> Result<Option<i64>, Diagnostic> {
    match attrs.get(name) {
        Some(AttrValue::Scalar(DType::I32, _)) => Ok(attrs.optional::<i32>(name)?.map(i64::from)),
        _ => attrs.optional::<i64>(name),
    }
}

/// A floating-point attribute, of whichever width a program wrote.
pub(super) fn float_attr(attrs: &OpAttrs, name: &str) -> Result<Option<f64>, Diagnostic> {
    match attrs.get(name) {
        Some(AttrValue::Scalar(DType::F64, _)) => attrs.optional::<f64>(name),
        _ => Ok(attrs.optional::<f32>(name)?.map(f64::from)),
    }
}

/// The data type of the first of two arguments.
pub(super) fn operand_type(call: &CpuCall<'_>) -> Result<DType, Diagnostic> {
    call.arguments
        .first()
        .map(|tensor| tensor.dtype())
        .ok_or_else(|| invalid("the op takes 2 arguments, got 0"))
}
