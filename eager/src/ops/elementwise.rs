//! Elementwise computation, with and without broadcasting, which reuses the memory of arguments
//! without other users.

use std::ops::Range;

use smallvec::SmallVec;
use tfrt_compute::shape_error;
use tfrt_host::{DType, Diagnostic};
use tfrt_math::{BinaryLoop, Broadcast, Function, Runs, UnaryLoop, with_left, with_right};
use tfrt_tensor::{Accessor, Element, HostTensor, ScalarHostTensor, TensorMetadata, TensorShape};

use super::support::{Computed, Described, Operand, compute, invalid, one, spread, take, unsupported};
use crate::{CpuCall, MetadataCall};

/// The cost of an elementwise function, in elements of streaming.
pub(super) const COST: usize = 1;

/// Returns the shape that two shapes are broadcast to.
pub(super) fn broadcast_shape(left: &TensorShape, right: &TensorShape) -> Result<TensorShape, Diagnostic> {
    if left == right {
        return Ok(left.clone());
    }
    let shape = tfrt_math::broadcast_shapes(left.dims(), right.dims())
        .map_err(|_| invalid(format!("Incompatible shapes: {left} vs. {right}")))?;
    TensorShape::new(&shape)
}

/// Returns the metadata of a function of two tensors of the same data type.
pub(super) fn broadcast_metadata(call: MetadataCall<'_>) -> Described {
    let [left, right] = call.take()?;
    if left.dtype != right.dtype {
        let (left, right) = (left.dtype, right.dtype);
        return Err(invalid(format!("incompatible dtypes for binary operation: {left} and {right}")));
    }
    one(TensorMetadata::new(left.dtype, broadcast_shape(&left.shape, &right.shape)?))
}

/// Returns the metadata of a comparison of two tensors.
pub(super) fn comparison_metadata(call: MetadataCall<'_>) -> Described {
    let mut results = broadcast_metadata(call)?;
    results.iter_mut().for_each(|result| result.dtype = DType::I1);
    Ok(results)
}

/// Applies `f` to each element of the only argument.
pub(super) fn unary<A: Element, B: Element>(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    f: impl Fn(A) -> B + Send + Sync + 'static,
) -> Computed {
    unary_loop(call, me, Box::new(f))
}

/// Applies a function like [`unary`]. Argument and result have the same type, so the result may
/// reuse the argument's memory.
pub(super) fn map<T: Element>(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    f: impl Fn(T) -> T + Send + Sync + 'static,
) -> Computed {
    map_loop(call, me, Box::new(f))
}

/// Applies a function of one number in single precision, and rounds once, or in double precision to
/// elements of that type.
pub(super) fn single(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    name: &str,
    function: Function,
    wide: impl Fn(f64) -> f64 + Send + Sync + 'static,
) -> Computed {
    match call.result(0)?.dtype {
        DType::F16 => map_loop::<tfrt_tensor::f16>(call, me, Box::new(function)),
        DType::BF16 => map_loop::<tfrt_tensor::bf16>(call, me, Box::new(function)),
        DType::F32 => map_loop::<f32>(call, me, Box::new(function)),
        DType::F64 => map::<f64>(call, me, wide),
        other => Err(unsupported(name, other)),
    }
}

/// Applies `f` to each pair of elements with broadcasting. If both are scalar tensors, so is the
/// result.
pub(super) fn combine<A: Element, B: Element>(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    f: impl Fn(A, A) -> B + Send + Sync + 'static,
) -> Computed {
    combine_two::<A, A, B>(call, me, f)
}

/// Applies a function like [`combine`], to arguments of different types.
pub(super) fn combine_two<A: Element, B: Element, O: Element>(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    f: impl Fn(A, B) -> O + Send + Sync + 'static,
) -> Computed {
    combine_loop::<A, B, O>(call, me, Box::new(f))
}

/// Applies a function like [`combine`]. All types are the same, so the result may reuse an
/// argument's memory.
pub(super) fn binary<T: Element>(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    f: impl Fn(T, T) -> T + Send + Sync + 'static,
) -> Computed {
    binary_loop(call, me, Box::new(f))
}

// The functions below take the loops of a function as an object. There are hundreds of functions,
// and separate copies for each would make up most of a program.

type Map<A, B> = Box<dyn UnaryLoop<A, B> + Send + Sync>;
type Zip<A, B, O> = Box<dyn BinaryLoop<A, B, O> + Send + Sync>;

fn unary_loop<A: Element, B: Element>(call: &CpuCall<'_>, me: &'static Accessor, f: Map<A, B>) -> Computed {
    let [x] = call.dense()?;
    let count = x.num_elements();
    if Runs::<B>::is_one(count, COST) {
        let mut out = call.allocate_unset(0)?;
        f.map(out.elements_mut::<B>()?, &x.read::<A>(me)?);
        return Ok(out.into());
    }
    let x = x.read_owned::<A>(me)?;
    compute(call, me, call.allocate_unset(0)?, (count, 1, COST), move |range, out| {
        f.map(out, &x[range]);
        Ok(())
    })
}

/// Applies a loop like [`map`].
pub(super) fn map_loop<T: Element>(call: &CpuCall<'_>, me: &'static Accessor, f: Map<T, T>) -> Computed {
    let Some(out) = call.reuse(0, 0) else { return unary_loop(call, me, f) };
    let count = out.num_elements();
    compute(call, me, out, (count, 1, COST), move |_, out| {
        in_pieces(out, |_, out, old| f.map(out, old));
        Ok(())
    })
}

fn combine_loop<A: Element, B: Element, O: Element>(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    f: Zip<A, B, O>,
) -> Computed {
    let [left, right] = take(call)?;
    if let (HostTensor::Scalar(left), HostTensor::Scalar(right)) = (left, right) {
        let mut value = [O::default()];
        f.zip(&mut value, &[left.value()?], &[right.value()?]);
        return Ok(ScalarHostTensor::new(call.result(0)?.shape.clone(), value[0]).into());
    }
    let mut out = call.allocate_unset(0)?;
    let count = out.num_elements();
    if let (HostTensor::Dense(a), HostTensor::Dense(b)) = (left, right)
        && a.num_elements() == count
        && b.num_elements() == count
        && Runs::<O>::is_one(count, COST)
    {
        f.zip(out.elements_mut::<O>()?, &a.read::<A>(me)?, &b.read::<B>(me)?);
        return Ok(out.into());
    }
    let dims = out.shape().dims();
    let (left, right) = (spread(left, right, dims, call.cx)?, spread(right, left, dims, call.cx)?);
    let ((a, a_dims), (b, b_dims)) = (Operand::<A>::new(&left, me)?, Operand::<B>::new(&right, me)?);
    if a.len() == count && b.len() == count {
        return compute(call, me, out, (count, 1, COST), move |range, out| {
            f.zip(out, &a[range.clone()], &b[range]);
            Ok(())
        });
    }
    let plan = Broadcast::new(a_dims, b_dims).map_err(shape_error)?;
    compute(call, me, out, (count, 1, COST), move |range, out| plan.combine(&*f, range, (&a, &b), out))
}

fn binary_loop<T: Element>(call: &CpuCall<'_>, me: &'static Accessor, f: Zip<T, T, T>) -> Computed {
    let &[left, right] = call.arguments else { return combine_loop(call, me, f) };
    // One value for all elements, or one for each.
    let fits = |other: &HostTensor, count| {
        matches!(other, HostTensor::Scalar(_))
            || other.dense().is_ok_and(|other| [1, count].contains(&other.num_elements()))
    };
    let reused = |index, other| call.reuse(index, 0).filter(|out| fits(other, out.num_elements()));
    let (out, other, is_left) = match (reused(0, right), left) {
        (Some(out), _) => (out, right, true),
        (None, left) => match reused(1, left) {
            Some(out) => (out, left, false),
            None => return combine_loop(call, me, f),
        },
    };
    let (count, (operand, _)) = (out.num_elements(), Operand::<T>::new(other, me)?);
    compute(call, me, out, (count, 1, COST), move |range, out| {
        let operand = match &*operand {
            one @ [_] => one,
            all => &all[range],
        };
        in_pieces(out, |at, out, old| match (operand, is_left) {
            (&[value], true) => with_right(&*f, out, old, value),
            (&[value], false) => with_left(&*f, out, value, old),
            (operand, true) => f.zip(out, old, &operand[at]),
            (operand, false) => f.zip(out, &operand[at], old),
        });
        Ok(())
    })
}

/// The number of elements that are copied or converted at a time before they are computed with: they
/// stay in the first-level cache.
pub(super) const PIECE: usize = 512;

/// Calls `f` for all of `out` piece by piece, with the range of the piece and a copy of its
/// contents.
fn in_pieces<T: Element>(out: &mut [T], f: impl Fn(Range<usize>, &mut [T], &[T])) {
    let mut old = SmallVec::<[T; PIECE]>::new();
    for (piece, out) in out.chunks_mut(PIECE).enumerate() {
        old.clear();
        old.extend_from_slice(out);
        f(piece * PIECE..piece * PIECE + out.len(), out, &old);
    }
}

/// Returns the metadata of a function of one tensor with another data type.
pub(super) fn retyped(call: &MetadataCall<'_>, dtype: DType) -> Described {
    let [argument] = call.take()?;
    one(TensorMetadata::new(dtype, argument.shape.clone()))
}
