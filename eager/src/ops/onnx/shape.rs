//! Shapes that a model computes: `onnx.Reshape`, `onnx.Expand`, `onnx.Slice`, `onnx.Squeeze` and
//! `onnx.Unsqueeze`.

use smallvec::SmallVec;
use tfrt_host::Diagnostic;
use tfrt_tensor::{HostTensor, TensorShape};

use super::arguments::{OPERANDS, flag, formal, required};
use crate::ops::layout::broadcast_moves;
use crate::ops::moves::{Axis, Moves};
use crate::ops::shape::{inferred_shape, reshaped};
use crate::ops::support::{Computed, axis_of, integers, invalid, product, shape_of, take, vector};
use crate::ops::types;
use crate::{CpuCall, Forms, OpAttrs, OpRegistry, attr};

/// The extent that is -1 in a shape with zeros, if the tensor has no elements either. ONNX leaves it
/// open; ONNX Runtime takes the zeros to be the same dimensions on both sides, so that it follows
/// from the others. Exporters write such shapes for batches, which may be empty.
fn extent_beside_zeros(from: &TensorShape, to: &[i64]) -> Option<i64> {
    if !from.dims().contains(&0) {
        return None;
    }
    let own = from
        .dims()
        .iter()
        .filter(|dim| **dim > 0)
        .try_fold(1i64, |product, &dim| product.checked_mul(i64::try_from(dim).ok()?))?;
    let wanted =
        to.iter().filter(|dim| **dim > 0).try_fold(1i64, |product, &dim| product.checked_mul(dim))?;
    (own % wanted == 0).then_some(own / wanted)
}

/// Returns the shape of a reshaped tensor. Zeros copy the extent in their place, unless `allowzero`
/// is set.
pub(in crate::ops) fn reshaped_to(
    x: &TensorShape,
    shape: &HostTensor,
    attrs: &OpAttrs,
) -> Result<TensorShape, Diagnostic> {
    let mut dims = vector(shape, "shape")?;
    if flag(attrs, "allowzero", false)? {
        if let Some(place) = dims.iter().position(|&dim| dim == -1)
            && dims.contains(&0)
        {
            let error = || invalid(format!("shape {dims:?} has both a 0 and a -1, and allowzero is set"));
            dims[place] = extent_beside_zeros(x, &dims).ok_or_else(error)?;
        }
    } else {
        let own = x.dims();
        for (place, extent) in dims.iter_mut().enumerate().filter(|(_, extent)| **extent == 0) {
            let copied = own.get(place).copied().and_then(|dim| i64::try_from(dim).ok());
            *extent = copied.ok_or_else(|| {
                invalid(format!("dimension {place} is to be copied from a tensor of shape {x}"))
            })?;
        }
    }
    inferred_shape(x, dims)
}

fn reshape(call: &CpuCall<'_>) -> Computed {
    let [x, shape] = take(call)?;
    reshaped(x, reshaped_to(x.shape(), shape, call.attrs)?)
}

/// Returns the shape that a tensor and a shape have if they are broadcast together.
pub(in crate::ops) fn expanded_to(x: &TensorShape, shape: &HostTensor) -> Result<TensorShape, Diagnostic> {
    let (own, wanted) = (x.dims(), vector(shape, "shape")?);
    let rank = own.len().max(wanted.len());
    let mut dims: SmallVec<[i64; 8]> = SmallVec::from_elem(1, rank);
    dims[rank - wanted.len()..].copy_from_slice(&wanted);
    for (extent, &own) in dims[rank - own.len()..].iter_mut().zip(own) {
        // An extent of 1 of the argument is repeated, and one of the shape changes nothing.
        if *extent == 1 {
            *extent = own as i64;
        }
    }
    shape_of(&dims)
}

fn expand(call: &CpuCall<'_>) -> Computed {
    let [x, shape] = take(call)?;
    let (own, to) = (x.shape().dims(), expanded_to(x.shape(), shape)?);
    if to.dims() == own || matches!(x, HostTensor::Scalar(_)) {
        return reshaped(x, to);
    }
    let moves = broadcast_moves(own, to.dims())
        .ok_or_else(|| invalid(format!("a tensor of shape {} cannot be expanded to {}", x.shape(), to)))?;
    moves.apply(call, x, to.dims())
}

/// What a start, an end and a step choose of a dimension. Bounds beyond it are cut to it.
fn chosen(dim: usize, (start, end, step): (i64, i64, i64)) -> Result<Axis, Diagnostic> {
    if step == 0 {
        return Err(invalid("a step must not be 0"));
    }
    let extent = dim as i64;
    let from_front = |place: i64| if place < 0 { place.saturating_add(extent) } else { place };
    let (least, most) = if step > 0 { (0, extent) } else { (-1, extent - 1) };
    // A start before the first element is that element, if there is any.
    let (start, end) = (from_front(start).max(0).min(most), from_front(end).clamp(least, most));
    let span = if step > 0 { end - start } else { start - end };
    let count = span.max(0).unsigned_abs().div_ceil(step.unsigned_abs()) as usize;
    Ok(Axis::Steps { start: start.max(0) as usize, step: step as isize, count })
}

/// Returns what starts, ends, axes and steps choose of a tensor of extents `dims`.
pub(in crate::ops) fn sliced(dims: &[usize], how: [Option<&HostTensor>; 4]) -> Result<Moves, Diagnostic> {
    let [starts, ends, axes, steps] = how;
    let (starts, ends) =
        (vector(required(starts, "starts")?, "starts")?, vector(required(ends, "ends")?, "ends")?);
    let axes = match axes {
        Some(axes) => vector(axes, "axes")?,
        None => (0..starts.len() as i64).collect(),
    };
    let steps = match steps {
        Some(steps) => vector(steps, "steps")?,
        None => SmallVec::from_elem(1, starts.len()),
    };
    if [ends.len(), axes.len(), steps.len()].iter().any(|&count| count != starts.len()) {
        return Err(invalid(format!(
            "starts, ends, axes and steps must have one length, got {}, {}, {} and {}",
            starts.len(),
            ends.len(),
            axes.len(),
            steps.len()
        )));
    }
    let mut parts: Vec<Axis> = dims.iter().map(|&dim| Axis::whole(dim)).collect();
    for (index, &axis) in axes.iter().enumerate() {
        let axis = axis_of(axis, dims.len(), "axes")?;
        parts[axis] = chosen(dims[axis], (starts[index], ends[index], steps[index]))?;
    }
    Ok(Moves::new(dims, parts))
}

fn slice(call: &CpuCall<'_>) -> Computed {
    let [x, starts, ends, axes, steps] = formal(call.arguments, call.attrs)?;
    let x: &HostTensor = required(x, "data")?;
    let dims = x.shape().dims();
    let moves = sliced(dims, [starts, ends, axes, steps])?;
    let to = TensorShape::new(moves.dims())?;
    if moves.is_identity(product(dims)) || matches!(x, HostTensor::Scalar(_)) {
        return reshaped(x, to);
    }
    moves.apply(call, x, to.dims())
}

/// Returns a shape without dimensions of extent 1: those of `axes`, or all.
pub(in crate::ops) fn squeezed_to(
    x: &TensorShape,
    axes: Option<&HostTensor>,
) -> Result<TensorShape, Diagnostic> {
    let dims = x.dims();
    let mut is_removed: Vec<bool> = dims.iter().map(|&dim| axes.is_none() && dim == 1).collect();
    if let Some(axes) = axes {
        for &axis in &integers(axes, "axes")? {
            let place = axis_of(axis, dims.len(), "axes")?;
            if dims[place] != 1 {
                return Err(invalid(format!("dimension {place} of shape {x} is not 1")));
            }
            is_removed[place] = true;
        }
    }
    let kept = dims.iter().zip(is_removed).filter(|(_, is_removed)| !is_removed).map(|(&dim, _)| dim);
    TensorShape::new(&kept.collect::<SmallVec<[usize; 8]>>())
}

fn squeeze(call: &CpuCall<'_>) -> Computed {
    let [x, axes] = formal(call.arguments, call.attrs)?;
    let x: &HostTensor = required(x, "data")?;
    reshaped(x, squeezed_to(x.shape(), axes)?)
}

/// Returns a shape with further dimensions of extent 1, at places counted in the result.
pub(in crate::ops) fn unsqueezed_to(x: &TensorShape, axes: &HostTensor) -> Result<TensorShape, Diagnostic> {
    let axes = integers(axes, "axes")?;
    let mut dims: SmallVec<[usize; 8]> = SmallVec::from_elem(0, x.rank() + axes.len());
    for &axis in &axes {
        let place = axis_of(axis, dims.len(), "axes")?;
        if std::mem::replace(&mut dims[place], 1) == 1 {
            return Err(invalid(format!("axis {axis} is given twice")));
        }
    }
    // Zeros stand for the places of the argument's own dimensions.
    let mut own = x.dims().iter();
    for dim in dims.iter_mut().filter(|dim| **dim == 0) {
        *dim = own.next().copied().unwrap_or(1);
    }
    TensorShape::new(&dims)
}

fn unsqueeze(call: &CpuCall<'_>) -> Computed {
    let [x, axes] = take(call)?;
    reshaped(x, unsqueezed_to(x.shape(), axes)?)
}

pub(super) fn register(ops: &mut OpRegistry) {
    let forms = Forms::SCALAR_OR_STRING;
    ops.add("onnx.Reshape")
        .types(types::ANY)
        .attrs([attr::int_or("allowzero", 0)])
        .cpu(|call| reshape(&call))
        .forms(forms);
    ops.add("onnx.Expand").types(types::ANY).cpu(|call| expand(&call)).forms(forms);
    ops.add("onnx.Slice").types(types::ANY).attrs([OPERANDS]).cpu(|call| slice(&call)).forms(forms);
    ops.add("onnx.Squeeze").types(types::ANY).attrs([OPERANDS]).cpu(|call| squeeze(&call)).forms(forms);
    ops.add("onnx.Unsqueeze").types(types::ANY).cpu(|call| unsqueeze(&call)).forms(forms);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_cut_to_the_dimension() {
        let steps = |bounds| match chosen(5, bounds) {
            Ok(Axis::Steps { start, step, count }) => Some((start, step, count)),
            _ => None,
        };
        assert_eq!(steps((1, i64::MAX, 2)), Some((1, 2, 2)));
        assert_eq!(steps((-1, i64::MIN, -2)), Some((4, -2, 3)));
        assert_eq!(steps((9, 2, 1)), Some((5, 1, 0)));
        assert_eq!(steps((-9, i64::MIN, -1)), Some((0, -1, 1)));
        assert_eq!(steps((0, 5, 0)), None);
    }
}
