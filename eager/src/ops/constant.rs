//! Tensors created from attributes and numbers: constants, zeros, ones, ranges, one-hot rows.

use tfrt_host::{DType, Diagnostic};
use tfrt_math::{Float, Number};
use tfrt_tensor::{
    Accessor, Complex, DenseHostTensor, Element, HostTensor, ScalarHostTensor, StringHostTensor,
    TensorMetadata, TensorShape, bf16, f16, with_element,
};

use super::strings::{copied, copies, string};
use super::support::{
    Computed, Described, allocate, check_one, compute, int_attr, integer, integers, integers_or, invalid,
    one, product, room_for, shape_of, take, unsupported, value, value_within, with_float, with_number,
    with_type,
};
use super::types;
use crate::{AttrValue, CpuCall, Forms, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("tf constant op");

fn const_metadata(call: MetadataCall<'_>) -> Described {
    call.take::<0>()?;
    let Some(AttrValue::Dense(constant)) = call.attrs.get("value") else {
        // Existing programs expect this text.
        return Err(invalid("tf.Const needs a `value` dense attribute"));
    };
    if call.attrs.optional::<DType>("dtype")?.is_some_and(|dtype| dtype != constant.dtype()) {
        return Err(invalid("dtype attribute mismatch with expected tensor dtype"));
    }
    one(constant.metadata().clone())
}

/// Returns a copy, because a result may be overwritten and a constant may not.
pub(super) fn constant(call: CpuCall<'_>) -> Computed {
    let constant: &DenseHostTensor = call.attrs.required("value")?;
    Ok(constant.deep_copy(&ME, call.cx.host().allocator())?.into())
}

/// Returns the shape of the first argument with the data type of attribute `T`, if there is one.
fn like_metadata(call: MetadataCall<'_>) -> Described {
    let [argument] = call.take()?;
    let dtype = call.attrs.optional::<DType>("T")?.unwrap_or(argument.dtype);
    one(TensorMetadata::new(dtype, argument.shape.clone()))
}

/// Returns a tensor with `number` in each place.
fn everywhere(metadata: &TensorMetadata, number: u8, op: &str) -> Computed {
    let shape = metadata.shape.clone();
    match metadata.dtype {
        DType::I1 => Ok(ScalarHostTensor::new(shape, number != 0).into()),
        DType::Complex64 => Ok(ScalarHostTensor::new(shape, Complex::new(f32::from(number), 0.0)).into()),
        DType::Complex128 => Ok(ScalarHostTensor::new(shape, Complex::new(f64::from(number), 0.0)).into()),
        DType::String if number == 0 => Ok(StringHostTensor::empty_strings(shape)?.into()),
        dtype => with_number!(dtype, op, |T| {
            Ok(ScalarHostTensor::new(shape, <T as Number>::from_count(usize::from(number))).into())
        }),
    }
}

/// Returns the shape of a tensor that is filled with a value. As in TensorFlow, a number counts as
/// a vector of one element, and such a vector as a scalar.
pub(super) fn fill_shape(dims: &HostTensor, value: &TensorShape) -> Result<TensorShape, Diagnostic> {
    check_one(value, "value", 1)?;
    if dims.shape().rank() > 1 {
        return Err(invalid(format!("dims must be a vector, got a tensor of shape {}", dims.shape())));
    }
    shape_of(&integers(dims, "dims")?)
}

fn fill(call: CpuCall<'_>) -> Computed {
    let [dims, value] = take(&call)?;
    let shape = fill_shape(dims, value.shape())?;
    if value.dtype() == DType::String {
        let texts = copies(string(value, "value", 1)?, shape.num_elements()?)?;
        return Ok(StringHostTensor::new(shape, texts)?.into());
    }
    with_element!(
        value.dtype(),
        |T| Ok(ScalarHostTensor::new(shape, value_within::<T>(value, "value", 1)?).into()),
        else Err(unsupported("tf.Fill", value.dtype()))
    )
}

/// A number type of ranges.
pub(super) trait RangeNumber: Element + Number {
    /// Returns how many numbers there are from `start` to `limit`, exclusive, in steps of `delta`.
    fn count(start: Self, limit: Self, delta: Self) -> u128;
}

macro_rules! range_integers {
    ($($t:ty),*) => {$(
        impl RangeNumber for $t {
            fn count(start: Self, limit: Self, delta: Self) -> u128 {
                let span = (i128::from(limit) - i128::from(start)).unsigned_abs();
                span.div_ceil(i128::from(delta).unsigned_abs())
            }
        }
    )*};
}

macro_rules! range_floats {
    ($($t:ty),*) => {$(
        impl RangeNumber for $t {
            fn count(start: Self, limit: Self, delta: Self) -> u128 {
                // Saturates, which is then rejected as too many.
                ((limit.to_f64() - start.to_f64()) / delta.to_f64()).abs().ceil() as u128
            }
        }
    )*};
}

range_integers!(i8, i16, i32, i64, u8, u16, u32);
range_floats!(f16, bf16, f32, f64);

/// Returns the first number of a range, the step and the count.
pub(super) fn range_parts<T: RangeNumber>(
    [start, limit, delta]: [&HostTensor; 3],
) -> Result<(T, T, usize), Diagnostic> {
    let (start, limit) = (value_within::<T>(start, "start", 1)?, value_within::<T>(limit, "limit", 1)?);
    let (delta, zero) = (value_within::<T>(delta, "delta", 1)?, <T as Number>::ZERO);
    if delta == zero || delta.is_nan() {
        return Err(invalid(format!("Requires delta != 0: {delta:?}")));
    }
    if delta > zero && start > limit {
        return Err(invalid(format!("Requires start <= limit when delta > 0: {start:?}/{limit:?}")));
    }
    if delta < zero && start < limit {
        return Err(invalid(format!("Requires start >= limit when delta < 0: {start:?}/{limit:?}")));
    }
    let count =
        usize::try_from(T::count(start, limit, delta)).map_err(|_| invalid("too many numbers in a range"))?;
    Ok((start, delta, count))
}

fn range_of<T: RangeNumber>(call: &CpuCall<'_>) -> Computed {
    let (start, delta, count) = range_parts::<T>(take(call)?)?;
    let out = allocate(call, T::DTYPE, &[count])?;
    compute(call, &ME, out, (count, 1, 1), move |range, out: &mut [T]| {
        out.iter_mut().zip(range).for_each(|(out, i)| *out = start.plus(T::from_count(i).times(delta)));
        Ok(())
    })
}

fn range(call: CpuCall<'_>) -> Computed {
    let dtype = call.arguments.first().map_or(DType::I32, |tensor| tensor.dtype());
    with_type!(
        dtype, "tf.Range", |T| range_of::<T>(&call),
        I8 i8, I16 i16, I32 i32, I64 i64, UI8 u8, UI16 u16, UI32 u32, F16 f16, BF16 bf16, F32 f32, F64 f64
    )
}

/// A count of equally spaced floating-point numbers from `start` to `stop`, both inclusive,
/// computed in `f64`.
pub(super) struct Between<T> {
    pub(super) start: T,
    pub(super) stop: T,
    pub(super) step: f64,
    pub(super) count: usize,
}

impl<T: Element + Float> Between<T> {
    pub(super) fn new([start, stop, count]: [&HostTensor; 3]) -> Result<Self, Diagnostic> {
        let count = usize::try_from(integer(count, "num")?).ok().filter(|&count| count > 0);
        let count = count.ok_or_else(|| invalid("Requires num > 0"))?;
        let (start, stop) = (value::<T>(start, "start")?, value::<T>(stop, "stop")?);
        let step = (stop.to_f64() - start.to_f64()) / (count - 1).max(1) as f64;
        Ok(Self { start, stop, step, count })
    }
}

fn linspace_of<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let Between { start, stop, step, count } = Between::<T>::new(take(call)?)?;
    let out = allocate(call, T::DTYPE, &[count])?;
    compute(call, &ME, out, (count, 1, 1), move |range, out: &mut [T]| {
        out.iter_mut().zip(range).for_each(|(out, i)| {
            // Both ends are exactly those of the program, regardless of rounding in between.
            *out = match i {
                0 => start,
                i if i + 1 == count => stop,
                i => T::from_f64(start.to_f64() + step * i as f64),
            };
        });
        Ok(())
    })
}

fn linspace(call: CpuCall<'_>) -> Computed {
    let dtype = call.arguments.first().map_or(DType::F32, |tensor| tensor.dtype());
    with_float!(dtype, "tf.LinSpace", |T| linspace_of::<T>(&call))
}

/// Returns the result's extents, and the axis of its rows of `depth` elements.
pub(super) fn one_hot_shape(
    indices: &[usize],
    depth: i64,
    attrs: &OpAttrs,
) -> Result<(Vec<usize>, usize), Diagnostic> {
    let depth =
        usize::try_from(depth).map_err(|_| invalid(format!("depth must be non-negative, got: {depth}")))?;
    let axis = match int_attr(attrs, "axis")?.unwrap_or(-1) {
        -1 => indices.len(),
        axis => usize::try_from(axis).ok().filter(|&axis| axis <= indices.len()).ok_or_else(|| {
            invalid(format!(
                "Expected axis to be -1 or between [0, {}), but received {axis}",
                indices.len() + 1
            ))
        })?,
    };
    let mut dims = indices.to_vec();
    dims.insert(axis, depth);
    Ok((dims, axis))
}

/// Returns rows of `off` with one `on` each, at the index. A row whose index is out of range has
/// none.
fn one_hot(call: CpuCall<'_>) -> Computed {
    let [indices, depth, on, off] = take(&call)?;
    let (dims, axis) = one_hot_shape(indices.shape().dims(), integer(depth, "depth")?, call.attrs)?;
    let (depth, inner) = (dims[axis], product(&dims[axis + 1..]));
    if on.dtype() != off.dtype() {
        return Err(invalid(format!(
            "on_value and off_value differ in type: {} and {}",
            on.dtype(),
            off.dtype()
        )));
    }
    let indices: Vec<i64> = match indices.dtype() {
        DType::UI8 => indices.dense()?.read::<u8>(&ME)?.iter().map(|&i| i64::from(i)).collect(),
        _ => integers_or(indices, "indices", DType::I8)?.to_vec(),
    };
    // Returns whether the element at a place of the result is the one at its row's index.
    let is_on = move |i: usize| {
        let (place, rest) = (i / inner % depth, i / inner / depth * inner + i % inner);
        indices[rest] == place as i64
    };
    if on.dtype() == DType::String {
        let (on, off) = (string(on, "on_value", 0)?, string(off, "off_value", 0)?);
        let shape = TensorShape::new(&dims)?;
        let mut texts = room_for(shape.num_elements()?)?;
        for i in 0..shape.num_elements()? {
            texts.push(copied(if is_on(i) { on } else { off })?);
        }
        return Ok(StringHostTensor::new(shape, texts)?.into());
    }
    with_element!(
        on.dtype(),
        |T| {
            let (on, off) = (value::<T>(on, "on_value")?, value::<T>(off, "off_value")?);
            let out = allocate(&call, T::DTYPE, &dims)?;
            let units = out.num_elements();
            compute(&call, &ME, out, (units, 1, 2), move |range, out: &mut [T]| {
                out.iter_mut().zip(range).for_each(|(out, i)| *out = if is_on(i) { on } else { off });
                Ok(())
            })
        },
        else Err(unsupported("tf.OneHot", on.dtype()))
    )
}

const RANGED: &[DType] = &[
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::UI8,
    DType::UI16,
    DType::UI32,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.Const")
        .types(types::ELEMENTS)
        .attrs([attr::dense("value"), attr::dtype("dtype").optional()])
        .metadata(const_metadata)
        .cpu(constant);
    ops.add("tf.ZerosLike")
        .types(types::ANY)
        .attrs([attr::dtype("T").optional()])
        .metadata(like_metadata)
        .cpu(|call| everywhere(call.result(0)?, 0, "tf.ZerosLike"))
        .forms(Forms::ANY);
    ops.add("tf.OnesLike")
        .types(types::ELEMENTS)
        .attrs([attr::dtype("T").optional()])
        .metadata(like_metadata)
        .cpu(|call| everywhere(call.result(0)?, 1, "tf.OnesLike"))
        .forms(Forms::ANY);
    ops.add("tf.Fill").types(types::ANY).cpu(fill).forms(Forms::SCALAR_OR_STRING);
    ops.add("tf.Range").types(RANGED).cpu(range).forms(Forms::SCALAR);
    ops.add("tf.LinSpace").types(types::FLOATS).cpu(linspace).forms(Forms::SCALAR);
    ops.add("tf.OneHot")
        .types(types::ANY)
        .attrs([attr::int_or("axis", -1)])
        .cpu(one_hot)
        .forms(Forms::SCALAR_OR_STRING);
}
