//! Ops that move elements: slices and their gradients, repetitions, mirrored borders, blocks of
//! pixels, concatenation and splitting, selection by indices and conditions, and tensors of one
//! value.

use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_launch::{Band as MatrixBand, Gather, GatherNd, Move, OneHot};
use tfrt_tensor::{DenseHostTensor, HostTensor, TensorMetadata, TensorShape};

use super::{
    Queued,
    arrays::{padded, permuted},
    check_indices, count,
    expression::{broadcast, cast, constant, given_back, moved},
    extents, made_on_host, unsupported,
};
use crate::{
    DeviceArgument, DeviceCall, DeviceOpResult, DeviceTensor, HostArguments, OpRegistry, OpResult,
    ops::{
        band::Band,
        blocks::{
            Rearranged, RearrangementPlan, batch_to_space, depth_to_space, space_to_batch, space_to_depth,
        },
        compare::{positions, row_condition},
        concat::Joined,
        constant::{fill_shape, one_hot_shape},
        gather::{GatherNdShape, GatherShape, batch_dims},
        layout::{broadcast_to, mirror_pad, tiled},
        moves::{MovePlan, Moved},
        scatter::ignores_bad_indices,
        shape::numbers,
        slice::{reverse, reversed_parts, roll, slice, sliced, split, split_sizes, strided_slice, unpack},
        support::{axis_of, int_attr, integer, integer_within, invalid, product, vector},
    },
    registry::wrong_count,
};

/// Returns the results of an op that moves the elements of argument `at`, controlled by the other
/// arguments, which are on the host.
fn planned(call: &DeviceCall<'_>, at: usize, plan: MovePlan) -> Queued {
    let x = call.tensor(at)?;
    let others = (0..call.arguments.len()).filter(|&index| index != at).map(|index| call.host(index));
    let others: Vec<_> = others.collect::<Result<_, Diagnostic>>()?;
    let mut results = OpResult::default();
    for Moved { moves, dims } in plan(x.shape().dims(), &others, call.attrs)? {
        results.tensors.push(AsyncValue::new(moved(call, x, &moves, &dims)?));
    }
    Ok(results)
}

/// The most repeated dimensions that every move can take: two axes for each, and one for the
/// dimensions before them.
const MAX_REPEATED: usize = 2;

/// Repeats the first argument along its dimensions, in several moves if it has too many axes for
/// one.
fn repeated(call: &DeviceCall<'_>) -> Queued {
    let (mut x, multiples) = (call.tensor(0)?.clone(), vector(call.host(1)?, "multiples")?);
    let whole = tiled(x.shape().dims(), &multiples)?;
    if whole.boxes().iter().all(|part| Move::new(part.starts, &part.axes).is_ok()) {
        return Ok(moved(call, &x, &whole, whole.dims())?.into());
    }
    let axes: Vec<usize> = (0..multiples.len()).filter(|&axis| multiples[axis] != 1).collect();
    for axes in axes.chunks(MAX_REPEATED) {
        let mut some = vec![1; multiples.len()];
        axes.iter().for_each(|&axis| some[axis] = multiples[axis]);
        let moves = tiled(x.shape().dims(), &some)?;
        x = moved(call, &x, &moves, moves.dims())?;
    }
    Ok(x.into())
}

fn strided_slice_gradient(call: &DeviceCall<'_>) -> Queued {
    let how = [call.host(0)?, call.host(1)?, call.host(2)?, call.host(3)?];
    let dy = call.tensor(4)?;
    let (shape, moves) = sliced(how, dy.shape(), call.attrs)?;
    Ok(given_back(call, dy, &moves, &shape)?.into())
}

/// The greatest number of groups of axes that a permutation moves.
const MAX_GROUPS: usize = 6;

/// Rearranges the axes of the first argument, controlled by the others, which are on the host.
fn rearranged(call: &DeviceCall<'_>, plan: RearrangementPlan) -> Queued {
    let mut x = call.tensor(0)?.clone();
    let others = (1..call.arguments.len()).map(|index| call.host(index));
    let plan = plan(x.shape().dims(), &others.collect::<Result<Vec<_>, _>>()?, call.attrs)?;
    let (Rearranged { padding, view, order, merged, resting, .. }, dims) = (&plan, plan.dims());
    if dims.contains(&0) {
        return Ok(call.allocate_as(&TensorMetadata::new(x.dtype(), TensorShape::new(&dims)?))?.into());
    }
    // The axes that do not change stay adjacent.
    if view.len() - resting + resting.min(&1) > MAX_GROUPS {
        let (places, unit) = plan.places(x.shape().dims())?;
        return Ok(picked(call, &x, (1, unit), &places, &dims)?.into());
    }
    if padding.iter().any(|&padding| padding != (0, 0)) {
        x = padded(call, &x, padding, None)?;
    }
    let turned = permuted(call, &x.reshape(&TensorShape::new(view)?)?, order)?;
    let whole = turned.reshape(&TensorShape::new(merged)?)?;
    Ok(moved(call, &whole, &plan.crop(merged.len()), &dims)?.into())
}

/// Returns a tensor of units of `x`, which are runs of elements. The host knows their positions,
/// which are the same in each of `outer` rows. [`NOWHERE`] stands for zeros.
pub(super) fn picked(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    (outer, unit): (usize, usize),
    places: &[usize],
    dims: &[usize],
) -> DeviceOpResult<DeviceTensor> {
    let y = call.allocate_as(&TensorMetadata::new(x.dtype(), TensorShape::new(dims)?))?;
    if count(&y) == 0 {
        return Ok(y);
    }
    let size = x.dtype().size().ok_or_else(|| unsupported("an op that moves elements", x.dtype()))?;
    // [`NOWHERE`] becomes an index out of range.
    let indices: Vec<i64> = places.iter().map(|&place| place as i64).collect();
    let indices = DenseHostTensor::from_slice([indices.len()], &indices, call.cx.host().allocator())?;
    let indices = call.upload(&indices.into())?;
    let gather = Gather {
        batches: 1,
        outer: outer as u64,
        extent: x.shape().num_elements()?.checked_div(outer * unit).unwrap_or(0) as u64,
        count: places.len() as u64,
        width: (unit * size) as u64,
    };
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.gather(stream, y.buffer(), x.buffer(), (indices.buffer(), DType::I64), gather)?;
    Ok(y)
}

fn reverse_sequence(call: &DeviceCall<'_>) -> Queued {
    let x = call.tensor(0)?;
    let (places, unit) = reversed_parts(x.shape().dims(), call.host(1)?, call.attrs)?;
    Ok(picked(call, x, (1, unit), &places, x.shape().dims())?.into())
}

/// Returns all arguments but some, as tensors on the device.
fn tensors<'c>(
    call: &'c DeviceCall<'_>,
    range: std::ops::Range<usize>,
) -> Result<Vec<&'c DeviceTensor>, Diagnostic> {
    range.map(|index| call.tensor(index)).collect()
}

/// Concatenates tensors: a copy of rows for each.
fn join(call: &DeviceCall<'_>, tensors: &[&DeviceTensor], joined: &Joined) -> Queued {
    let y = call.allocate_as(&TensorMetadata::new(joined.dtype, TensorShape::new(&joined.dims)?))?;
    if count(&y) == 0 {
        // The extents of empty tensors are arbitrary.
        return Ok(y.into());
    }
    let size = joined.dtype.size().ok_or_else(|| unsupported("a concatenation", joined.dtype))? as u64;
    let (row, rows) = (joined.row() as u64 * size, joined.rows(y.shape().num_elements()?) as u64);
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let mut offset = 0;
    for (tensor, &run) in tensors.iter().zip(&joined.runs) {
        let width = run as u64 * size;
        kernels.copy_rows(stream, (y.buffer(), offset, row), (tensor.buffer(), 0, width), width, rows)?;
        offset += width;
    }
    Ok(y.into())
}

fn concatenated(call: &DeviceCall<'_>, tensors: &[&DeviceTensor], axis: i64) -> Queued {
    let metadata: Vec<_> = tensors.iter().map(|tensor| tensor.metadata()).collect();
    join(call, tensors, &Joined::along(&metadata, axis)?)
}

fn concat_v2(call: &DeviceCall<'_>) -> Queued {
    let last = call.arguments.len().checked_sub(1).ok_or_else(|| invalid("tf.ConcatV2 needs an axis"))?;
    concatenated(call, &tensors(call, 0..last)?, integer_within(call.host(last)?, "axis", 1)?)
}

fn concat(call: &DeviceCall<'_>) -> Queued {
    concatenated(
        call,
        &tensors(call, 1..call.arguments.len())?,
        integer_within(call.host(0)?, "concat_dim", 1)?,
    )
}

fn pack(call: &DeviceCall<'_>) -> Queued {
    let tensors = tensors(call, 0..call.arguments.len())?;
    let metadata: Vec<_> = tensors.iter().map(|tensor| tensor.metadata()).collect();
    let axis = int_attr(call.attrs, "axis")?.unwrap_or(0);
    join(call, &tensors, &Joined::stacked(&metadata, axis)?)
}

/// Returns indices, with narrow types converted to `i32`.
pub(super) fn widened(call: &DeviceCall<'_>, indices: &DeviceTensor) -> DeviceOpResult<DeviceTensor> {
    match indices.dtype() {
        DType::I8 | DType::I16 => cast(call, indices, DType::I32, false),
        _ => Ok(indices.clone()),
    }
}

/// Returns slices of the first argument along an axis, at the indices in the second one. Invalid
/// indices give zeros.
fn gather(call: &DeviceCall<'_>, axis: usize, batch: usize) -> Queued {
    let (params, indices) = (call.tensor(0)?, widened(call, call.tensor(1)?)?);
    check_indices(indices.dtype(), &[DType::I32, DType::I64], "gathering")?;
    let shape = GatherShape::new(params.shape(), indices.shape(), axis, batch)?;
    let y = call.allocate_as(&TensorMetadata::new(params.dtype(), TensorShape::new(&shape.dims)?))?;
    if count(&y) == 0 {
        return Ok(y.into());
    }
    if shape.extent == 0 {
        return Err(
            invalid(format!("params have no slices that indices could choose: {}", params.shape())).into()
        );
    }
    let size = params.dtype().size().ok_or_else(|| unsupported("tf.Gather", params.dtype()))?;
    let gather = Gather {
        batches: shape.batches as u64,
        outer: shape.outer as u64,
        extent: shape.extent as u64,
        count: shape.each as u64,
        width: (shape.unit * size) as u64,
    };
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.gather(stream, y.buffer(), params.buffer(), (indices.buffer(), indices.dtype()), gather)?;
    Ok(y.into())
}

fn gather_v2(call: &DeviceCall<'_>) -> Queued {
    let axis = axis_of(integer(call.host(2)?, "axis")?, call.tensor(0)?.shape().rank(), "axis")?;
    gather(call, axis, batch_dims(call.attrs, call.tensor(1)?.shape().rank())?)
}

/// Returns pieces of the first argument at the coordinates in the second one. Invalid coordinates
/// give zeros.
fn gather_nd(call: &DeviceCall<'_>) -> Queued {
    let [params, indices] = call.tensors()?;
    let indices = widened(call, indices)?;
    check_indices(indices.dtype(), &[DType::I32, DType::I64], "gathering")?;
    // Out-of-bounds coordinates give zeros here, whether they are ignored or not.
    ignores_bad_indices(call.attrs)?;
    let shape = GatherNdShape::new(params.shape(), indices.shape())?;
    let y = call.allocate_as(&TensorMetadata::new(params.dtype(), TensorShape::new(&shape.dims)?))?;
    if count(&y) == 0 {
        return Ok(y.into());
    }
    let size = params.dtype().size().ok_or_else(|| unsupported("tf.GatherNd", params.dtype()))?;
    let gather = GatherNd {
        extents: &extents(params)[..shape.depth],
        count: shape.count as u64,
        width: (shape.unit * size) as u64,
    };
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.gather_nd(stream, y.buffer(), params.buffer(), (indices.buffer(), indices.dtype()), gather)?;
    Ok(y.into())
}

fn one_hot(call: &DeviceCall<'_>) -> Queued {
    let [indices, on, off] = [call.tensor(0)?, call.tensor(2)?, call.tensor(3)?];
    let indices = &widened(call, indices)?;
    check_indices(indices.dtype(), &[DType::UI8, DType::I32, DType::I64], "tf.OneHot")?;
    for (tensor, what) in [(on, "on_value"), (off, "off_value")] {
        if tensor.shape().rank() != 0 || tensor.dtype() != on.dtype() {
            let metadata = tensor.metadata();
            return Err(
                invalid(format!("{what} must be a scalar of type {}, got {metadata}", on.dtype())).into()
            );
        }
    }
    let (dims, axis) = one_hot_shape(indices.shape().dims(), integer(call.host(1)?, "depth")?, call.attrs)?;
    let rows = OneHot {
        outer: product(&dims[..axis]) as u64,
        depth: dims[axis] as u64,
        inner: product(&dims[axis + 1..]) as u64,
    };
    let y = call.allocate_as(&TensorMetadata::new(on.dtype(), TensorShape::new(&dims)?))?;
    if count(&y) > 0 {
        let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
        let index = (indices.buffer(), indices.dtype());
        kernels.one_hot(stream, y.dtype(), y.buffer(), index, [on.buffer(), off.buffer()], rows)?;
    }
    Ok(y.into())
}

/// Selects between two tensors. With `by_row`, a condition of one dimension selects rows.
fn select(call: &DeviceCall<'_>, by_row: bool) -> Queued {
    let [condition, x, y] = call.tensors()?;
    let metadata = call.result(0)?;
    let condition = match by_row {
        true => condition
            .reshape(&TensorShape::new(&row_condition(condition.shape().dims(), metadata.shape.rank()))?)?,
        false => condition.clone(),
    };
    let whole = |tensor: &DeviceTensor| broadcast(call, tensor, &metadata.shape);
    let (condition, x, y) = (whole(&condition)?, whole(x)?, whole(y)?);
    let out = call.allocate(0)?;
    let (kernels, stream, n) = (call.queue.kernels(), call.queue.stream(), count(&out));
    kernels.select(stream, out.dtype(), out.buffer(), condition.buffer(), x.buffer(), y.buffer(), n)?;
    Ok(out.into())
}

/// Returns matrices reduced to a band.
fn band_part(call: &DeviceCall<'_>) -> Queued {
    let x = call.tensor(0)?;
    let band = Band::new(x.shape(), call.host(1)?, call.host(2)?)?;
    let [rows, columns] = [band.rows, band.columns].map(|number| number as u64);
    let [lower, upper] = [band.lower, band.upper].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
    let matrices = count(x).checked_div(rows.saturating_mul(columns)).unwrap_or(0);
    let band = MatrixBand { count: matrices, rows, columns, lower, upper };
    let y = call.reuse(&[0], 0)?;
    call.queue.kernels().band(call.queue.stream(), y.dtype(), y.buffer(), x.buffer(), band)?;
    Ok(y.into())
}

fn fill(call: &DeviceCall<'_>) -> Queued {
    let (shape, value) = (fill_shape(call.host(0)?, call.tensor(1)?.shape())?, call.tensor(1)?);
    Ok(broadcast(call, &value.reshape(&TensorShape::scalar())?, &shape)?.into())
}

/// Returns a tensor like the argument that is filled with `number`.
fn everywhere(call: &DeviceCall<'_>, number: f64) -> Queued {
    Ok(constant(call, call.result(0)?, number)?.into())
}

fn identities(call: &DeviceCall<'_>) -> Queued {
    let tensors = call.arguments.iter().map(|argument| match argument {
        DeviceArgument::Device(tensor) => Ok(AsyncValue::new(DeviceTensor::clone(tensor))),
        DeviceArgument::Host(_) => Err(Diagnostic::internal("an argument is not in device memory")),
    });
    Ok(OpResult { tensors: tensors.collect::<Result<_, _>>()?, done: None })
}

/// Returns the extents, the number of elements or the rank of each argument, in host memory.
fn described(call: &DeviceCall<'_>, values: fn(&TensorShape) -> Result<Vec<usize>, Diagnostic>) -> Queued {
    let (arguments, results) = (call.arguments, call.results);
    if arguments.len() != results.len() {
        return Err(wrong_count(results.len(), arguments.len()).into());
    }
    let described = |(argument, result): (&DeviceArgument<'_>, &TensorMetadata)| {
        let values = match argument {
            DeviceArgument::Device(tensor) => values(tensor.shape()),
            DeviceArgument::Host(tensor) => values(tensor.shape()),
        }?;
        Ok(AsyncValue::new(HostTensor::from(numbers(result, call.cx, &values)?)))
    };
    let tensors = arguments.iter().zip(results).map(described).collect::<Result<_, Diagnostic>>()?;
    Ok(OpResult { tensors, done: None })
}

pub(super) fn register(ops: &mut OpRegistry) {
    let host = HostArguments::at;
    ops.extend("tf.Slice").device_with(|call| planned(call, 0, slice), host(&[1, 2]));
    ops.extend("tf.StridedSlice").device_with(|call| planned(call, 0, strided_slice), host(&[1, 2, 3]));
    ops.extend("tf.StridedSliceGrad").device_with(strided_slice_gradient, host(&[0, 1, 2, 3]));
    ops.extend("tf.Split").device_with(|call| planned(call, 1, split), host(&[0]));
    ops.extend("tf.SplitV").device_with(|call| planned(call, 0, split_sizes), host(&[1, 2]));
    ops.extend("tf.Unpack").device(|call| planned(call, 0, unpack));
    ops.extend("tf.ReverseV2").device_with(|call| planned(call, 0, reverse), host(&[1]));
    ops.extend("tf.ReverseSequence").device_with(reverse_sequence, host(&[1]));
    ops.extend("tf.Roll").device_with(|call| planned(call, 0, roll), host(&[1, 2]));
    ops.extend("tf.Tile").device_with(repeated, host(&[1]));
    ops.extend("tf.BroadcastTo").device_with(|call| planned(call, 0, broadcast_to), host(&[1]));
    ops.extend("tf.MirrorPad").device_with(|call| planned(call, 0, mirror_pad), host(&[1]));
    ops.extend("tf.SpaceToBatchND").device_with(|call| rearranged(call, space_to_batch), host(&[1, 2]));
    ops.extend("tf.BatchToSpaceND").device_with(|call| rearranged(call, batch_to_space), host(&[1, 2]));
    ops.extend("tf.SpaceToDepth").device(|call| rearranged(call, space_to_depth));
    ops.extend("tf.DepthToSpace").device(|call| rearranged(call, depth_to_space));
    ops.extend("tf.ConcatV2").device_with(concat_v2, HostArguments::LAST);
    ops.extend("tf.Concat").device_with(concat, host(&[0]));
    ops.extend("tf.Pack").device(pack);
    ops.extend("tf.Gather").device(|call| gather(call, 0, 0));
    ops.extend("tf.GatherV2").device_with(gather_v2, host(&[2]));
    ops.extend("tf.GatherNd").device(gather_nd);
    // The result's size depends on the elements of the condition, which are therefore copied to the
    // host.
    ops.extend("tf.Where").device_with(|call| made_on_host(call, positions), host(&[0]));
    ops.extend("tf.MatrixBandPart").device_with(band_part, host(&[1, 2]));
    ops.extend("tf.OneHot").device_with(one_hot, host(&[1]));
    ops.extend("tf.Select").device(|call| select(call, true));
    ops.extend("tf.SelectV2").device(|call| select(call, false));
    ops.extend("tf.Fill").device_with(fill, host(&[0]));
    ops.extend("tf.ZerosLike").device(|call| everywhere(call, 0.0));
    ops.extend("tf.OnesLike").device(|call| everywhere(call, 1.0));
    ops.extend("tf.IdentityN").device(identities);
    for name in ["tf.Shape", "tf.ShapeN"] {
        ops.extend(name)
            .device_with(|call| described(call, |shape| Ok(shape.dims().to_vec())), HostArguments::ANY)
            .results_on_host();
    }
    ops.extend("tf.Size")
        .device_with(|call| described(call, |shape| Ok(vec![shape.num_elements()?])), HostArguments::ANY)
        .results_on_host();
    ops.extend("tf.Rank")
        .device_with(|call| described(call, |shape| Ok(vec![shape.rank()])), HostArguments::ANY)
        .results_on_host();
}
