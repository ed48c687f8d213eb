//! Utilities of ops: dispatch by data type, arguments as plain values, and results computed in
//! runs.

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

/// The result of an implementation.
pub(super) type Computed = Result<OpResult, Diagnostic>;
/// The result of a metadata function.
pub(super) type Described = Result<SmallVec<[TensorMetadata; 2]>, Diagnostic>;

/// Evaluates `$body` with `$T` as the number type of a [`DType`]. For other types, returns an error
/// that names the op.
macro_rules! with_number {
    ($dtype:expr, $op:expr, |$T:ident| $body:expr) => {
        $crate::ops::support::with_type!($dtype, $op, |$T| $body,
            I8 i8, I16 i16, I32 i32, I64 i64, UI8 u8, UI16 u16, UI32 u32, UI64 u64,
            F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32, F64 f64)
    };
}
pub(super) use with_number;

/// Like `with_number`, for floating-point numbers only.
macro_rules! with_float {
    ($dtype:expr, $op:expr, |$T:ident| $body:expr) => {
        $crate::ops::support::with_type!($dtype, $op, |$T| $body,
            F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32, F64 f64)
    };
}
pub(super) use with_float;

/// Like `with_number`, for integers only.
macro_rules! with_integer {
    ($dtype:expr, $op:expr, |$T:ident| $body:expr) => {
        $crate::ops::support::with_type!($dtype, $op, |$T| $body,
            I8 i8, I16 i16, I32 i32, I64 i64, UI8 u8, UI16 u16, UI32 u32, UI64 u64)
    };
}
pub(super) use with_integer;

/// Like `with_number`, for complex numbers only.
macro_rules! with_complex {
    ($dtype:expr, $op:expr, |$T:ident| $body:expr) => {
        $crate::ops::support::with_type!($dtype, $op, |$T| $body,
            Complex64 tfrt_tensor::Complex<f32>, Complex128 tfrt_tensor::Complex<f64>)
    };
}
pub(super) use with_complex;

/// Like `with_number`, with `$complex` for complex numbers.
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

/// Like `with_number`, for floating-point and complex numbers.
macro_rules! with_field {
    ($dtype:expr, $op:expr, |$T:ident| $body:expr) => {
        $crate::ops::support::with_type!($dtype, $op, |$T| $body,
            F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32, F64 f64,
            Complex64 tfrt_tensor::Complex<f32>, Complex128 tfrt_tensor::Complex<f64>)
    };
}
pub(super) use with_field;

/// Returns whether a data type is complex.
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

/// Returns the error of an op for an unsupported data type.
#[cold]
pub(super) fn unsupported(op: &str, dtype: DType) -> Diagnostic {
    Diagnostic::invalid_argument(format!("{op} does not support tensors of {dtype}"))
}

/// Returns the metadata of a single result.
pub(super) fn one(metadata: TensorMetadata) -> Described {
    Ok(smallvec![metadata])
}

/// Returns an error for invalid arguments.
#[cold]
pub(crate) fn invalid(message: impl Into<String>) -> Diagnostic {
    Diagnostic::invalid_argument(message.into())
}

/// Returns the metadata of the only argument.
pub(super) fn same(call: MetadataCall<'_>) -> Described {
    let [argument] = call.take()?;
    one(argument.clone())
}

/// A tensor's elements, or the single value of all of them.
pub(crate) enum Operand<T: Element> {
    /// One value for each element.
    Dense(Elements<T, HostBuffer>),
    /// One value for all elements.
    One([T; 1]),
}

impl<T: Element> Operand<T> {
    /// Returns the elements of a dense or scalar tensor, with the shape in which they are
    /// broadcast.
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

/// Returns a tensor that is broadcast together with `other` to these extents. A scalar tensor is
/// expanded if only its shape defines some extent of the result.
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

/// How many units of how many elements a result has, and what a unit costs, in elements of
/// streaming.
type Sizes = (usize, usize, usize);

/// Computes the elements of `out`: `count` units of `unit` elements, each of which costs as much as
/// `cost` elements of streaming. `f` sets the units of a range. It is dropped before the result is
/// available. Small results are computed immediately, others on the work queue.
pub(super) fn compute<O: Element>(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    out: impl Into<Output>,
    (count, unit, cost): Sizes,
    f: impl Fn(Range<usize>, &mut [O]) -> Result<(), ShapeError> + Send + Sync + 'static,
) -> Computed {
    match is_small(count, unit, cost) {
        true => compute_now(me, out.into(), (count, unit), &f),
        false => compute_later(call, me, out.into(), (count, unit, cost), Box::new(f)),
    }
}

// The functions below take a function as an object, so that their loops are compiled once: there
// are thousands of functions.

/// A result, and as what its elements are set.
pub(super) enum Output {
    /// As elements of its type.
    Elements(DenseHostTensor),
    /// As [bits](DenseHostTensor::as_bits), by a function that only moves elements.
    Bits(DenseHostTensor),
}

impl From<DenseHostTensor> for Output {
    fn from(out: DenseHostTensor) -> Self {
        Self::Elements(out)
    }
}

impl Output {
    /// The tensor whose elements are set.
    fn target(&self) -> Cow<'_, DenseHostTensor> {
        match self {
            Self::Elements(out) => Cow::Borrowed(out),
            Self::Bits(out) => Cow::Owned(out.as_bits()),
        }
    }

    fn into_result(self) -> HostTensor {
        let (Self::Elements(out) | Self::Bits(out)) = self;
        out.into()
    }
}

/// Whether a result is computed immediately.
fn is_small(count: usize, unit: usize, cost: usize) -> bool {
    count == 0 || unit == 0 || Runs::<u8>::is_one(count, cost)
}

fn compute_now<O: Element>(
    me: &'static Accessor,
    out: Output,
    (count, unit): (usize, usize),
    f: &dyn RunFn<O>,
) -> Computed {
    // Without elements, the number and size of units are arbitrary.
    if count != 0 && unit != 0 {
        f.compute(0..count, &mut out.target().write::<O>(me)?).map_err(shape_error)?;
    }
    Ok(out.into_result().into())
}

fn compute_later<O: Element>(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    out: Output,
    (count, unit, cost): Sizes,
    f: Box<dyn RunFn<O>>,
) -> Computed {
    let plan = Runs::new(count, unit, cost, f);
    let elements = out.target().write_owned::<O>(me)?;
    run(call.cx, plan, ((), elements), |_| (), |out| out, out.into_result()).map(OpResult::from)
}

/// Allocates a tensor whose shape only the op's implementation knows, for an op that sets all its
/// elements.
pub(super) fn allocate(
    call: &CpuCall<'_>,
    dtype: DType,
    dims: &[usize],
) -> Result<DenseHostTensor, Diagnostic> {
    let metadata = TensorMetadata::new(dtype, TensorShape::new(dims)?);
    DenseHostTensor::allocate_unset(metadata, call.cx.host().allocator())
}

/// Returns the product of extents, or at most `usize::MAX` for an empty tensor, whose other extents
/// are arbitrary.
pub(super) fn product(dims: &[usize]) -> usize {
    dims.iter().fold(1, |product: usize, &dim| product.saturating_mul(dim))
}

/// Checks that a tensor given for a result has the result's shape.
pub(crate) fn check_shape(result: &HostTensor, dims: &[usize]) -> Result<(), Diagnostic> {
    if result.shape().dims() == dims {
        return Ok(());
    }
    Err(invalid(format!("the result has shape {dims:?}, the tensor for it {}", result.shape())))
}

/// Returns an empty list with room for `count` items.
pub(crate) fn room_for<T>(count: usize) -> Result<Vec<T>, Diagnostic> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| no_room(count))?;
    Ok(list)
}

#[cold]
fn no_room(count: usize) -> Diagnostic {
    Diagnostic::new(ErrorCode::OutOfMemory, format!("Cannot allocate a list of {count} items"))
}

/// Returns the arguments, of which there must be `N`.
pub(super) fn take<'c, const N: usize>(call: &CpuCall<'c>) -> Result<[&'c HostTensor; N], Diagnostic> {
    call.arguments.try_into().map_err(|_| wrong_count(N, call.arguments.len()))
}

/// Returns tensors that become available when `done` does.
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

/// Returns the elements of a tensor of 32- or 64-bit integers: an axis, a shape, sizes. `what` is
/// its name in errors.
pub(crate) fn integers(tensor: &HostTensor, what: &str) -> Result<SmallVec<[i64; 8]>, Diagnostic> {
    integers_or(tensor, what, None)
}

/// Returns the elements like [`integers`], for an op that also accepts a narrower type.
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

/// Checks that [`integers_or`] accepts a type, for a tensor whose elements are not read.
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

/// Returns the elements like [`integers`], for a tensor that must be a vector.
pub(super) fn vector(tensor: &HostTensor, what: &str) -> Result<SmallVec<[i64; 8]>, Diagnostic> {
    vector_or(tensor, what, None)
}

/// Returns the elements like [`vector`], for an op that also accepts a narrower type.
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

/// Checks that a tensor has one element, and at most `rank` dimensions.
pub(super) fn check_one(shape: &TensorShape, what: &str, rank: usize) -> Result<(), Diagnostic> {
    if shape.num_elements()? != 1 || shape.rank() > rank {
        return Err(invalid(format!("{what} must be a scalar, got a tensor of shape {shape}")));
    }
    Ok(())
}

/// Returns the integer in a scalar.
pub(super) fn integer(tensor: &HostTensor, what: &str) -> Result<i64, Diagnostic> {
    integer_or(tensor, what, None)
}

/// Returns the integer like [`integer`], for an op that also accepts a narrower type.
pub(super) fn integer_or(
    tensor: &HostTensor,
    what: &str,
    narrow: impl Into<Option<DType>>,
) -> Result<i64, Diagnostic> {
    check_one(tensor.shape(), what, 0)?;
    first(&integers_or(tensor, what, narrow)?, what)
}

/// Returns the integer like [`integer`], for an op that also accepts tensors with one element and
/// up to `rank` dimensions.
pub(super) fn integer_within(tensor: &HostTensor, what: &str, rank: usize) -> Result<i64, Diagnostic> {
    check_one(tensor.shape(), what, rank)?;
    first(&integers(tensor, what)?, what)
}

fn first<T: Copy>(values: &[T], what: &str) -> Result<T, Diagnostic> {
    values.first().copied().ok_or_else(|| invalid(format!("{what} is empty")))
}

/// Returns all elements of a small tensor.
pub(super) fn values<T: Element>(tensor: &HostTensor) -> Result<SmallVec<[T; 8]>, Diagnostic> {
    match tensor {
        HostTensor::Scalar(scalar) => {
            // The shape of a tensor of one value may be arbitrarily large.
            let count = scalar.shape().num_elements()?;
            let mut values = SmallVec::new();
            values.try_reserve(count).map_err(|_| no_room(count))?;
            values.resize(count, scalar.value::<T>()?);
            Ok(values)
        }
        tensor => Ok(SmallVec::from_slice(&tensor.dense()?.read::<T>(&VALUES)?)),
    }
}

/// Returns the element of a scalar.
pub(super) fn value<T: Element>(tensor: &HostTensor, what: &str) -> Result<T, Diagnostic> {
    value_within(tensor, what, 0)
}

/// Returns the element like [`value`], for an op that also accepts tensors with one element and up
/// to `rank` dimensions.
pub(super) fn value_within<T: Element>(
    tensor: &HostTensor,
    what: &str,
    rank: usize,
) -> Result<T, Diagnostic> {
    check_one(tensor.shape(), what, rank)?;
    first(&values::<T>(tensor)?, what)
}

/// Returns an axis counted from the front. A negative one counts from the end of `rank` dimensions.
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

/// Returns a shape given as a list of extents.
pub(super) fn shape_of(dims: &[i64]) -> Result<TensorShape, Diagnostic> {
    let shape = TensorShape::from_signed(dims)?;
    shape.num_elements()?;
    Ok(shape)
}

/// Returns an integer attribute of any width.
pub(super) fn int_attr(attrs: &OpAttrs, name: &str) -> Result<Option<i64>, Diagnostic> {
    match attrs.get(name) {
        Some(AttrValue::Scalar(DType::I32, _)) => Ok(attrs.optional::<i32>(name)?.map(i64::from)),
        _ => attrs.optional::<i64>(name),
    }
}

/// Returns a floating-point attribute of any width.
pub(super) fn float_attr(attrs: &OpAttrs, name: &str) -> Result<Option<f64>, Diagnostic> {
    match attrs.get(name) {
        Some(AttrValue::Scalar(DType::F64, _)) => attrs.optional::<f64>(name),
        _ => Ok(attrs.optional::<f32>(name)?.map(f64::from)),
    }
}

/// Returns the data type of the first of two arguments.
pub(super) fn operand_type(call: &CpuCall<'_>) -> Result<DType, Diagnostic> {
    call.arguments
        .first()
        .map(|tensor| tensor.dtype())
        .ok_or_else(|| invalid("the op takes 2 arguments, got 0"))
}
