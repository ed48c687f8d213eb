//! Tensors padded, repeated and turned: `tf.Pad`, `tf.PadV2`, `tf.MirrorPad`, `tf.Tile`,
//! `tf.BroadcastTo`, `tf.Transpose`.

use tfrt_compute::{run, shape_error};
use tfrt_host::Diagnostic;
use tfrt_math::{BlockOp, Pad, Transpose};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, StringHostTensor, TensorShape, with_bits};

use super::moves::{Axis, Moved, Moves, how, moved, no_memory_form};
use super::shape::reshaped;
use super::strings::{copied, string};
use super::support::{Computed, allocate, integers, invalid, room_for, shape_of, take, value, vector};
use super::types;
use crate::{CpuCall, Forms, OpAttrs, OpRegistry, OpResult, attr};

static ME: Accessor = Accessor::new("tf layout op");

/// How much is put before and after each dimension.
pub(super) fn paddings(
    shape: &TensorShape,
    paddings: &HostTensor,
) -> Result<Vec<(usize, usize)>, Diagnostic> {
    let rank = shape.rank();
    let [rows, columns] = *paddings.shape().dims() else {
        return Err(invalid(format!(
            "tf.Pad paddings must be a matrix with 2 columns. Actual shape: {}",
            paddings.shape()
        )));
    };
    if columns != 2 {
        return Err(invalid(format!(
            "tf.Pad paddings must be a matrix with 2 columns. Actual shape: {}",
            paddings.shape()
        )));
    }
    if rows != rank {
        return Err(invalid(format!(
            "For tf.Pad operation, the first dimension of paddings must equal to the rank of inputs. Input shape: {}. \
             Paddings shape: {}",
            shape,
            paddings.shape()
        )));
    }
    let pairs = integers(paddings, "paddings")?;
    let pair = |pair: &[i64]| match (usize::try_from(pair[0]), usize::try_from(pair[1])) {
        (Ok(before), Ok(after)) => Ok((before, after)),
        _ => Err(invalid(format!("Paddings must be non-negative: {} {}", pair[0], pair[1]))),
    };
    pairs.chunks_exact(2).map(pair).collect()
}

fn pad(call: CpuCall<'_>) -> Computed {
    let (tensor, padding, constant) = match *call.arguments {
        [tensor, padding] => (tensor, padding, None),
        [tensor, padding, constant] => (tensor, padding, Some(constant)),
        _ => {
            return Err(invalid(format!(
                "the op takes a tensor and paddings, got {} arguments",
                call.arguments.len()
            )));
        }
    };
    let padding = paddings(tensor.shape(), padding)?;
    if let HostTensor::String(strings) = tensor {
        return pad_strings(strings, &padding, constant);
    }
    let constant = constant.map(|constant| constant.as_bits_of(tensor.dtype())).transpose()?;
    with_bits!(
        tensor.dtype(),
        |T| {
            let constant = constant.as_ref().map_or(Ok(T::default()), |constant| value(constant, "constant_values"))?;
            pad_with::<T>(&call, tensor.dense()?, &padding, constant)
        },
        else Err(no_memory_form(tensor.dtype()))
    )
}

/// Pads strings with a string, by default empty ones.
fn pad_strings(
    tensor: &StringHostTensor,
    padding: &[(usize, usize)],
    constant: Option<&HostTensor>,
) -> Computed {
    let constant = constant.map_or(Ok(&b""[..]), |constant| string(constant, "constant_values", 0))?;
    // By position, as strings are not copied twice; a position that there is not stands for
    // padding.
    let positions: Vec<usize> = (0..tensor.strings().len()).collect();
    let plan = Pad::new(tensor.shape().dims(), padding, usize::MAX).map_err(shape_error)?;
    let shape = TensorShape::new(plan.shape())?;
    let mut places = room_for(shape.num_elements()?)?;
    places.resize(shape.num_elements()?, usize::MAX);
    plan.run_in_turn(&positions, &mut places).map_err(shape_error)?;
    let mut padded = room_for(places.len())?;
    for place in places {
        padded.push(copied(tensor.strings().get(place).map_or(constant, |string| string))?);
    }
    Ok(StringHostTensor::new(shape, padded)?.into())
}

fn pad_with<T: Element>(
    call: &CpuCall<'_>,
    tensor: &DenseHostTensor,
    padding: &[(usize, usize)],
    constant: T,
) -> Computed {
    let plan = Pad::new(tensor.shape().dims(), padding, constant).map_err(shape_error)?;
    let out = allocate(call, tensor.dtype(), plan.shape())?;
    let operands = (tensor.as_bits().read_owned::<T>(&ME)?, out.as_bits().write_owned::<T>(&ME)?);
    run(call.cx, Ok(plan), operands, |x| x, |out| out, HostTensor::from(out)).map(OpResult::from)
}

/// Pads with what lies on the other side of the edge: without the edge for `REFLECT`, with it for
/// `SYMMETRIC`.
pub(super) fn mirror_pad(
    dims: &[usize],
    others: &[&HostTensor],
    attrs: &OpAttrs,
) -> Result<Vec<Moved>, Diagnostic> {
    let [padding] = how(others)?;
    let edge = match attrs.required("mode")? {
        "REFLECT" => 1,
        "SYMMETRIC" => 0,
        other => return Err(invalid(format!("mode must be either REFLECT or SYMMETRIC, got {other}"))),
    };
    let axes =
        paddings(&TensorShape::new(dims)?, padding)?.into_iter().zip(dims).map(|((before, after), &dim)| {
            if before + edge > dim || after + edge > dim {
                return Err(invalid(format!(
                    "paddings must be no greater than the dimension size: {before}, {after} greater than {}",
                    dim.saturating_sub(edge)
                )));
            }
            let front = (0..before).map(|i| before - 1 - i + edge);
            let back = (0..after).map(|i| dim - 1 - i - edge);
            let mut table = room_for(before.saturating_add(dim).saturating_add(after))?;
            table.extend(front.chain(0..dim).chain(back));
            Ok::<_, Diagnostic>(Axis::Table(table))
        });
    Ok(vec![Moves::new(dims, axes.collect::<Result<_, _>>()?).into()])
}

/// A tensor of shape `dims`, as often along each dimension as `multiples` says.
pub(crate) fn tiled(dims: &[usize], multiples: &[i64]) -> Result<Moves, Diagnostic> {
    if multiples.len() != dims.len() {
        return Err(invalid("Tile multiples must have the same size as input rank"));
    }
    let axes = dims.iter().zip(multiples).enumerate().map(|(i, (&dim, &multiple))| {
        let count = usize::try_from(multiple)
            .map_err(|_| invalid(format!("Expected multiples[{i}] >= 0, but got {multiple}")))?;
        let count = dim.checked_mul(count).ok_or_else(|| invalid("a tile of too many elements"))?;
        Ok(if count == dim { Axis::whole(dim) } else { Axis::Repeated { extent: dim, count } })
    });
    Ok(Moves::new(dims, axes.collect::<Result<_, Diagnostic>>()?))
}

pub(super) fn tile(dims: &[usize], others: &[&HostTensor], _: &OpAttrs) -> Result<Vec<Moved>, Diagnostic> {
    let [multiples] = how(others)?;
    Ok(vec![tiled(dims, &vector(multiples, "multiples")?)?.into()])
}

/// What a tensor of shape `from` is, broadcast to `to`; nothing if that cannot be.
pub(super) fn broadcast_moves(from: &[usize], to: &[usize]) -> Option<Moves> {
    let missing = to.len().checked_sub(from.len())?;
    let padded: Vec<usize> = std::iter::repeat_n(1, missing).chain(from.iter().copied()).collect();
    let axes = padded.iter().zip(to).map(|(&dim, &extent)| match dim {
        _ if dim == extent => Some(Axis::whole(dim)),
        1 => Some(Axis::Steps { start: 0, step: 0, count: extent }),
        _ => None,
    });
    Some(Moves::new(&padded, axes.collect::<Option<_>>()?))
}

pub(super) fn broadcast_to(
    dims: &[usize],
    others: &[&HostTensor],
    _: &OpAttrs,
) -> Result<Vec<Moved>, Diagnostic> {
    let [shape] = how(others)?;
    let shape = shape_of(&vector(shape, "shape")?)?;
    let moves = broadcast_moves(dims, shape.dims());
    Ok(vec![moves.ok_or_else(|| invalid(format!("Incompatible shapes: {dims:?} vs. {shape}")))?.into()])
}

/// The order of axes that a tensor names.
pub(super) fn axis_order(permutation: &HostTensor, rank: usize) -> Result<Vec<usize>, Diagnostic> {
    let permutation = vector(permutation, "perm")?;
    if permutation.len() != rank {
        return Err(invalid(format!(
            "transpose expects a vector of size {rank}. But got a vector of size {}",
            permutation.len()
        )));
    }
    let axes = permutation.iter().map(|&axis| {
        let axis = if axis < 0 { axis + rank as i64 } else { axis };
        usize::try_from(axis).ok().filter(|&axis| axis < rank)
    });
    let list = permutation.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let axes: Vec<usize> = axes
        .collect::<Option<_>>()
        .ok_or_else(|| invalid(format!("an axis of {{{list}}} is out of range")))?;
    if let Some(missing) = (0..rank).find(|axis| !axes.contains(axis)) {
        return Err(invalid(format!("{missing} is missing from {{{list}}}.")));
    }
    Ok(axes)
}

/// Whether a transpose moves only dimensions of one, so that it is a reshape.
fn keeps_elements_in_order(dims: &[usize], axes: &[usize]) -> bool {
    axes.iter().filter(|&&axis| dims[axis] != 1).is_sorted()
}

fn transpose(call: CpuCall<'_>) -> Computed {
    let [tensor, permutation] = take(&call)?;
    let axes = axis_order(permutation, tensor.shape().rank())?;
    if keeps_elements_in_order(tensor.shape().dims(), &axes) {
        let dims: Vec<_> = axes.iter().map(|&axis| tensor.shape().dims()[axis]).collect();
        return reshaped(tensor, TensorShape::new(&dims)?);
    }
    if let HostTensor::String(strings) = tensor {
        return transpose_strings(&call, strings.shape(), tensor, &axes);
    }
    let dense = tensor.dense()?;
    with_bits!(
        tensor.dtype(),
        |T| {
            let plan = Transpose::<T>::new(dense.shape().dims(), &axes).map_err(shape_error)?;
            let out = allocate(&call, dense.dtype(), plan.shape())?;
            let operands = (dense.as_bits().read_owned::<T>(&ME)?, out.as_bits().write_owned::<T>(&ME)?);
            run(call.cx, Ok(plan), operands, |x| x, |out| out, HostTensor::from(out)).map(OpResult::from)
        },
        else Err(no_memory_form(tensor.dtype()))
    )
}

fn transpose_strings(
    call: &CpuCall<'_>,
    shape: &TensorShape,
    tensor: &HostTensor,
    axes: &[usize],
) -> Computed {
    let places: Vec<usize> = (0..shape.num_elements()?).collect();
    let plan = Transpose::<usize>::new(shape.dims(), axes).map_err(shape_error)?;
    let mut turned = vec![0; places.len()];
    plan.run_in_turn(&places, &mut turned).map_err(shape_error)?;
    super::pick::pick(call, tensor, turned, 1, plan.shape())
}

pub(super) fn register(ops: &mut OpRegistry) {
    let forms = Forms::STRING;
    ops.add("tf.Pad").types(types::ANY).cpu(pad).forms(forms);
    ops.add("tf.PadV2").types(types::ANY).cpu(pad).forms(forms);
    ops.add("tf.MirrorPad")
        .types(types::ANY)
        .attrs([attr::string("mode")])
        .cpu(|call| moved(&call, 0, mirror_pad))
        .forms(forms);
    ops.add("tf.Tile").types(types::ANY).cpu(|call| moved(&call, 0, tile)).forms(forms);
    ops.add("tf.BroadcastTo").types(types::ANY).cpu(|call| moved(&call, 0, broadcast_to)).forms(forms);
    ops.add("tf.Transpose").types(types::ANY).cpu(transpose).forms(forms);
}
