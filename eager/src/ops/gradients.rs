//! Of what TensorFlow makes gradients besides ops of more general use: the axes along which
//! broadcasting repeated an argument (`tf.BroadcastGradientArgs`), the shape it gives
//! (`tf.BroadcastArgs`), where the parts of a concatenation began (`tf.ConcatOffset`), the shapes
//! of several tensors (`tf.ShapeN`), a transposition undone (`tf.InvertPermutation`).

use smallvec::{SmallVec, smallvec};
use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_tensor::{HostTensor, TensorMetadata};

use super::elementwise::broadcast_shape;
use super::shape::{numbers, out_type};
use super::support::{Computed, Described, integer, invalid, room_for, shape_of, take, vector};
use super::types;
use crate::{CpuCall, Forms, MetadataCall, OpRegistry, OpResult, attr};

fn shapes_metadata(call: MetadataCall<'_>) -> Described {
    let dtype = out_type(call.attrs)?;
    let of = |argument: &TensorMetadata| TensorMetadata::new(dtype, [argument.shape.rank()]);
    Ok(call.arguments.iter().copied().map(of).collect())
}

fn shapes(call: CpuCall<'_>) -> Computed {
    let shape = |(argument, result): (&HostTensor, &TensorMetadata)| {
        let tensor = numbers(result, call.cx, argument.shape().dims())?;
        Ok(AsyncValue::new(HostTensor::from(tensor)))
    };
    let tensors =
        call.arguments.iter().copied().zip(call.results).map(shape).collect::<Result<_, Diagnostic>>()?;
    Ok(OpResult { tensors, done: None })
}

/// A vector of integers of this type.
fn indices(call: &CpuCall<'_>, dtype: DType, values: &[usize]) -> Result<AsyncValue, Diagnostic> {
    let metadata = TensorMetadata::new(dtype, [values.len()]);
    Ok(AsyncValue::new(HostTensor::from(numbers(&metadata, call.cx, values)?)))
}

/// The axes of the result of a broadcast along which each of two shapes has one element and the
/// other perhaps more. Equal shapes are not broadcast, and have none.
fn repeated(shapes: [&[i64]; 2]) -> Option<[Vec<usize>; 2]> {
    let [a, b] = shapes;
    let mut axes = [Vec::new(), Vec::new()];
    if a == b {
        return Some(axes);
    }
    let rank = a.len().max(b.len());
    let extent = |shape: &[i64], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |i| shape[i]);
    for axis in 0..rank {
        let extents = [extent(a, axis), extent(b, axis)];
        if extents[0] != extents[1] && !extents.contains(&1) {
            return None;
        }
        let alone = extents == [1, 1];
        for (axes, extent) in axes.iter_mut().zip(extents) {
            if extent == 1 && (alone || extents[0] != extents[1]) {
                axes.push(axis);
            }
        }
    }
    Some(axes)
}

fn broadcast_gradient_args(call: CpuCall<'_>) -> Computed {
    let [a, b] = take(&call)?;
    let dtype = same_type(&[a, b])?;
    let (first, second) = (vector(a, "In[0]")?, vector(b, "In[1]")?);
    let axes = repeated([&first, &second])
        .ok_or_else(|| invalid(format!("Incompatible shapes: {first:?} vs. {second:?}")))?;
    let tensors = axes.iter().map(|axes| indices(&call, dtype, axes)).collect::<Result<_, _>>()?;
    Ok(OpResult { tensors, done: None })
}

/// The shape that two shapes have when they are broadcast together.
fn broadcast_args(call: CpuCall<'_>) -> Computed {
    let [a, b] = take(&call)?;
    let dtype = same_type(&[a, b])?;
    let (first, second) = (shape_of(&vector(a, "s0")?)?, shape_of(&vector(b, "s1")?)?);
    let shape = broadcast_shape(&first, &second)?;
    Ok(OpResult { tensors: smallvec![indices(&call, dtype, shape.dims())?], done: None })
}

/// The data type that all of some tensors have.
fn same_type(tensors: &[&HostTensor]) -> Result<DType, Diagnostic> {
    let mut types = tensors.iter().map(|tensor| tensor.dtype());
    let first = types.next().ok_or_else(|| invalid("the op takes at least one shape"))?;
    match types.find(|dtype| *dtype != first) {
        Some(other) => Err(invalid(format!("shapes must have one type, not {first} and {other}"))),
        None => Ok(first),
    }
}

fn concat_offset(call: CpuCall<'_>) -> Computed {
    let Some((axis, shapes)) = call.arguments.split_first() else {
        return Err(invalid("tf.ConcatOffset takes an axis and shapes"));
    };
    let dtype = same_type(shapes)?;
    let dims = shapes.iter().map(|shape| vector(shape, "shape")).collect::<Result<Vec<_>, _>>()?;
    let rank = dims[0].len();
    let axis = super::support::axis_of(integer(axis, "concat_dim")?, rank, "concat_dim")?;
    let mut tensors = SmallVec::new();
    let mut offset = vec![0; rank];
    for (number, shape) in dims.iter().enumerate() {
        if shape.len() != rank {
            return Err(invalid(format!(
                "input {number} should contain {rank} elements, but got {}",
                shape.len()
            )));
        }
        if let Some(other) = (0..rank).find(|&i| i != axis && shape[i] != dims[0][i]) {
            return Err(invalid(format!(
                "All dimensions except {axis} must match. Input {number} has shape {shape:?} and doesn't match input 0 with \
                 shape {:?} along {other}",
                dims[0]
            )));
        }
        tensors.push(indices(&call, dtype, &offset)?);
        let extent = usize::try_from(shape[axis]).ok();
        let next = extent.and_then(|extent| offset[axis].checked_add(extent));
        offset[axis] = next.ok_or_else(|| invalid(format!("{shape:?} is no shape of a tensor")))?;
    }
    Ok(OpResult { tensors, done: None })
}

/// What undoes an order of dimensions.
pub(super) fn invert_permutation(call: CpuCall<'_>) -> Computed {
    let [x] = take(&call)?;
    let places = vector(x, "invert_permutation's argument")?;
    let mut inverse = room_for(places.len())?;
    inverse.resize(places.len(), usize::MAX);
    for (index, &place) in places.iter().enumerate() {
        let slot = usize::try_from(place).ok().and_then(|place| inverse.get_mut(place));
        let slot = slot.ok_or_else(|| invalid(format!("{place} is not between 0 and {}", places.len())))?;
        if *slot != usize::MAX {
            return Err(invalid(format!("{place} is duplicated in the input.")));
        }
        *slot = index;
    }
    Ok(OpResult { tensors: SmallVec::from_iter([indices(&call, x.dtype(), &inverse)?]), done: None })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.ShapeN")
        .types(types::ANY)
        .attrs([attr::dtype_or("out_type", DType::I32)])
        .metadata(shapes_metadata)
        .cpu(shapes)
        .forms(Forms::ANY);
    ops.add("tf.BroadcastArgs").types(types::INDICES).cpu(broadcast_args).forms(Forms::SCALAR);
    ops.add("tf.BroadcastGradientArgs")
        .types(types::INDICES)
        .cpu(broadcast_gradient_args)
        .forms(Forms::SCALAR);
    ops.add("tf.ConcatOffset").types(types::INDICES).cpu(concat_offset).forms(Forms::SCALAR);
    ops.add("tf.InvertPermutation").types(types::INDICES).cpu(invert_permutation).forms(Forms::SCALAR);
}
