//! Comparisons with broadcasting, logic, and choice by a condition.

use tfrt_compute::shape_error;
use tfrt_host::{DType, Diagnostic};
use tfrt_math::{Broadcast, broadcast_shapes, ops};
use tfrt_tensor::{
    Accessor, DenseHostTensor, Element, HostTensor, StringHostTensor, TensorMetadata, TensorShape, with_bits,
    with_element,
};

use super::elementwise::{broadcast_metadata, broadcast_shape, combine, comparison_metadata, map};
use super::strings::{broadcast_places, compare, copied};
use super::support::{
    Computed, Described, Output, allocate, compute, invalid, one, operand_type, room_for, same, take,
    unsupported, with_number,
};
use super::types;
use crate::{CpuCall, Forms, MetadataCall, OpRegistry, attr};

static ME: Accessor = Accessor::new("tf comparison op");

fn equality(call: &CpuCall<'_>, name: &str, equal: bool) -> Computed {
    match operand_type(call)? {
        DType::String => compare(call, equal),
        dtype => with_element!(
            dtype,
            |T| combine::<T, bool>(call, &ME, move |x, y| (x == y) == equal),
            else Err(unsupported(name, dtype))
        ),
    }
}

/// Equality's metadata: tensors that cannot be broadcast are unequal where a program allows that.
fn equality_metadata(call: MetadataCall<'_>) -> Described {
    let [left, right] = call.take()?;
    let strict = call.attrs.optional::<bool>("incompatible_shape_error")?.unwrap_or(true);
    if !strict && broadcast_shapes(left.shape.dims(), right.shape.dims()).is_err() {
        return one(TensorMetadata::new(DType::I1, TensorShape::scalar()));
    }
    comparison_metadata(call)
}

fn equal(call: CpuCall<'_>) -> Computed {
    unequal_shapes(&call, false).unwrap_or_else(|| equality(&call, "tf.Equal", true))
}

fn not_equal(call: CpuCall<'_>) -> Computed {
    unequal_shapes(&call, true).unwrap_or_else(|| equality(&call, "tf.NotEqual", false))
}

/// The answer `value` for tensors whose shapes say that they differ.
fn unequal_shapes(call: &CpuCall<'_>, value: bool) -> Option<Computed> {
    let &[x, y] = call.arguments else { return None };
    broadcast_shapes(x.shape().dims(), y.shape().dims()).is_err().then(|| {
        let allocator = call.cx.host().allocator();
        Ok(DenseHostTensor::full(TensorShape::scalar(), value, allocator)?.into())
    })
}

fn logical_metadata(call: MetadataCall<'_>) -> Described {
    match call.arguments.iter().find(|argument| argument.dtype != DType::I1) {
        Some(argument) => Err(invalid(format!("logical ops take tensors of i1, got {}", argument.dtype))),
        None if call.arguments.len() == 1 => same(call),
        None => broadcast_metadata(call),
    }
}

/// `condition ? x : y`, where a condition of rank 1 or 0 may choose whole rows or all.
fn select_metadata(call: MetadataCall<'_>) -> Described {
    let [condition, x, y] = call.take()?;
    check_choice(condition, x, y)?;
    if x.shape != y.shape {
        return Err(invalid(format!(
            "'then' and 'else' must have the same size. but received: {} vs. {}",
            x.shape, y.shape
        )));
    }
    let rows = condition.shape.rank() == 1 && condition.shape.dims().first() == x.shape.dims().first();
    if condition.shape != x.shape && condition.shape.rank() != 0 && !rows {
        return Err(invalid(format!(
            "the condition's shape {} must be that of the choices, {}, or their number of rows, or a scalar",
            condition.shape, x.shape
        )));
    }
    one(x.clone())
}

fn select_v2_metadata(call: MetadataCall<'_>) -> Described {
    let [condition, x, y] = call.take()?;
    check_choice(condition, x, y)?;
    let shape = broadcast_shape(&broadcast_shape(&condition.shape, &x.shape)?, &y.shape)?;
    one(TensorMetadata::new(x.dtype, shape))
}

fn check_choice(
    condition: &TensorMetadata,
    x: &TensorMetadata,
    y: &TensorMetadata,
) -> Result<(), Diagnostic> {
    if condition.dtype != DType::I1 {
        return Err(invalid(format!("the condition must be of type i1, got {}", condition.dtype)));
    }
    if x.dtype != y.dtype {
        return Err(invalid(format!("incompatible dtypes of the choices: {} and {}", x.dtype, y.dtype)));
    }
    Ok(())
}

/// Where the elements of a tensor of shape `from` are in one of shape `to`, to which it is
/// broadcast.
fn spread(from: &[usize], to: &[usize]) -> Result<Broadcast, Diagnostic> {
    Broadcast::new(from, to).map_err(shape_error)
}

/// The extents of a condition that chooses rows of a tensor of `rank` dimensions, if it has one
/// dimension.
pub(super) fn row_condition(dims: &[usize], rank: usize) -> Vec<usize> {
    let mut dims = dims.to_vec();
    if dims.len() == 1 {
        dims.resize(rank.max(1), 1);
    }
    dims
}

/// Chooses; where `by_row`, a condition of one dimension chooses rows.
fn select(call: &CpuCall<'_>, by_row: bool) -> Computed {
    let [condition, x, y] = take(call)?;
    let shape = &call.result(0)?.shape;
    let condition = condition.dense()?;
    let mut dims = condition.shape().dims().to_vec();
    if by_row {
        dims = row_condition(&dims, shape.rank());
    }
    if let (HostTensor::String(x), HostTensor::String(y)) = (x, y) {
        return choose_strings(shape, (condition, &dims), x, y);
    }
    let (x, y) = (x.dense()?, y.dense()?);
    let metadata = call.result(0)?;
    with_bits!(
        metadata.dtype,
        |T| choose::<T>(call, (condition, &dims), x, y),
        else Err(unsupported("tf.SelectV2", metadata.dtype))
    )
}

fn choose_strings(
    shape: &TensorShape,
    (condition, condition_dims): (&DenseHostTensor, &[usize]),
    x: &StringHostTensor,
    y: &StringHostTensor,
) -> Computed {
    let chosen = condition.read::<bool>(&ME)?;
    let c = broadcast_places(condition_dims, shape)?;
    let (i, j) = (broadcast_places(x.shape().dims(), shape)?, broadcast_places(y.shape().dims(), shape)?);
    let mut strings = room_for(c.len())?;
    for (c, (i, j)) in c.into_iter().zip(i.into_iter().zip(j)) {
        strings.push(copied(if chosen[c] { &x.strings()[i] } else { &y.strings()[j] })?);
    }
    Ok(StringHostTensor::new(shape.clone(), strings)?.into())
}

fn choose<T: Element>(
    call: &CpuCall<'_>,
    (condition, condition_dims): (&DenseHostTensor, &[usize]),
    x: &DenseHostTensor,
    y: &DenseHostTensor,
) -> Computed {
    let out = call.allocate_unset(0)?;
    let (count, dims) = (out.num_elements(), out.shape().dims().to_vec());
    let from =
        [spread(condition_dims, &dims)?, spread(x.shape().dims(), &dims)?, spread(y.shape().dims(), &dims)?];
    let (condition, x, y) = (
        condition.read_owned::<bool>(&ME)?,
        x.as_bits_of(out.dtype())?.read_owned::<T>(&ME)?,
        y.as_bits_of(out.dtype())?.read_owned::<T>(&ME)?,
    );
    let is_plain = |len: usize| len == 1 || len == count;
    if is_plain(condition.len()) && is_plain(x.len()) && is_plain(y.len()) {
        return compute(call, &ME, Output::Bits(out), (count, 1, 2), move |range, out: &mut [T]| {
            choose_plain(out, range.start, (&condition, &x, &y));
            Ok(())
        });
    }
    compute(call, &ME, Output::Bits(out), (count, 1, 2), move |range, out: &mut [T]| {
        let units = vec![(); count];
        // First one choice everywhere, then the other, then the condition between the two.
        let mut other = vec![T::default(); out.len()];
        let mut chosen = vec![false; out.len()];
        from[0].combine(&|c, (): ()| c, range.clone(), (&condition, &units), &mut chosen)?;
        from[1].combine(&|x, (): ()| x, range.clone(), (&x, &units), out)?;
        from[2].combine(&|y, (): ()| y, range, (&y, &units), &mut other)?;
        out.iter_mut().zip(other).zip(chosen).for_each(|((out, other), chosen)| {
            *out = if chosen { *out } else { other };
        });
        Ok(())
    })
}

/// Chooses for the elements from `start` on, where each operand has one element for all or one for
/// each.
fn choose_plain<T: Element>(out: &mut [T], start: usize, (condition, x, y): (&[bool], &[T], &[T])) {
    const PIECE: usize = 512;
    fn piece<'a, T: Copy>(all: &'a [T], one: &'a [T; PIECE], start: usize, len: usize) -> &'a [T] {
        if all.len() == 1 { &one[..len] } else { &all[start..][..len] }
    }
    fn repeated<T: Copy + Default>(all: &[T]) -> [T; PIECE] {
        if let [one] = all { [*one; PIECE] } else { [T::default(); PIECE] }
    }
    let ones = (repeated(condition), repeated(x), repeated(y));
    for (number, out) in out.chunks_mut(PIECE).enumerate() {
        let (start, len) = (start + number * PIECE, out.len());
        let (c, x) = (piece(condition, &ones.0, start, len), piece(x, &ones.1, start, len));
        let choices = c.iter().zip(x).zip(piece(y, &ones.2, start, len));
        // A branch would often be predicted wrongly, and keep the loop from being vectorized.
        out.iter_mut()
            .zip(choices)
            .for_each(|(out, ((&c, &x), &y))| *out = std::hint::select_unpredictable(c, x, y));
    }
}

/// The coordinates of the elements that are not zero, I64 of shape `[count, rank]`.
pub(super) fn positions(call: CpuCall<'_>) -> Computed {
    let [x] = call.dense()?;
    let dims = x.shape().dims();
    if dims.is_empty() {
        return Err(invalid("tf.Where takes a tensor of at least one dimension"));
    }
    let offsets: Vec<usize> = with_element!(
        x.dtype(),
        |T| {
            let x = x.read::<T>(&ME)?;
            x.iter().enumerate().filter(|(_, x)| !x.is_zero()).map(|(offset, _)| offset).collect()
        },
        else return Err(unsupported("tf.Where", x.dtype()))
    );
    let mut out = allocate(&call, DType::I64, &[offsets.len(), dims.len()])?;
    let coordinates = out.elements_mut::<i64>()?;
    for (row, offset) in coordinates.chunks_exact_mut(dims.len()).zip(offsets) {
        let mut rest = offset;
        for (coordinate, &dim) in row.iter_mut().zip(dims).rev() {
            *coordinate = (rest % dim) as i64;
            rest /= dim;
        }
    }
    Ok(out.into())
}

macro_rules! comparisons {
    ($ops:expr; $($name:literal => $f:path;)*) => {$(
        $ops.add($name)
            .types(types::NUMBERS)
            .metadata(comparison_metadata)
            .cpu(|call| with_number!(operand_type(&call)?, $name, |T| combine::<T, bool>(&call, &ME, $f)))
            .forms(Forms::SCALAR);
    )*};
}

pub(super) fn register(ops: &mut OpRegistry) {
    comparisons! { ops;
        "tf.Less" => ops::less;
        "tf.LessEqual" => ops::less_equal;
        "tf.Greater" => ops::greater;
        "tf.GreaterEqual" => ops::greater_equal;
    }
    let equality_forms = Forms::SCALAR_OR_STRING;
    ops.add("tf.Equal")
        .types(types::ANY)
        .attrs([attr::boolean_or("incompatible_shape_error", true)])
        .metadata(equality_metadata)
        .cpu(equal)
        .forms(equality_forms);
    ops.add("tf.NotEqual")
        .types(types::ANY)
        .attrs([attr::boolean_or("incompatible_shape_error", true)])
        .metadata(equality_metadata)
        .cpu(not_equal)
        .forms(equality_forms);
    ops.add("tf.LogicalAnd")
        .types(types::BOOL)
        .metadata(logical_metadata)
        .cpu(|call| combine::<bool, bool>(&call, &ME, |x, y| x & y))
        .forms(Forms::SCALAR);
    ops.add("tf.LogicalOr")
        .types(types::BOOL)
        .metadata(logical_metadata)
        .cpu(|call| combine::<bool, bool>(&call, &ME, |x, y| x | y))
        .forms(Forms::SCALAR);
    ops.add("tf.LogicalNot")
        .types(types::BOOL)
        .metadata(logical_metadata)
        .cpu(|call| map::<bool>(&call, &ME, |x| !x));
    let forms = Forms::STRING;
    ops.add("tf.Select")
        .types(types::ANY)
        .metadata(select_metadata)
        .cpu(|call| select(&call, true))
        .forms(forms);
    ops.add("tf.SelectV2")
        .types(types::ANY)
        .metadata(select_v2_metadata)
        .cpu(|call| select(&call, false))
        .forms(forms);
    ops.add("tf.Where").types(types::ELEMENTS).cpu(positions);
}
