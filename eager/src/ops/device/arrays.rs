//! Reductions, transpositions, paddings, softmax, and changes of shape.
//!
//! The controlling argument (axes, paddings, an order) is the op's second one, which stays on the
//! host. In the folded form `_tf.NAME` it is a constant among the attributes.

use crate::attr;
use tfrt_device::front::Argument;
use tfrt_host::{DType, Diagnostic};
use tfrt_launch::{Binary, Padded, Permutation, Reduction, ReductionShape, Rows, Scan, Unary};
use tfrt_tensor::{Complex, DenseHostTensor, HostTensor, TensorMetadata, TensorShape};

use super::{
    Queued, check_floats, computed_on_host, count,
    expression::{
        broadcast, cast, computed_as, constant, from_ordered, given_back, least_of_narrow, map, moved,
        ordered, parts, put, scalar, scaled, zip,
    },
    extents, unsupported,
};
use crate::{
    DeviceArgument, DeviceCall, DeviceOpResult, DeviceTensor, HostArguments, MetadataCall, OpRegistry,
    ops::{
        gradients::invert_permutation,
        layout::{axis_order, paddings},
        moves::{Axis, Moves},
        reduce::{axes_of, reduced_shape},
        shape::{expanded_shape, reshaped_shape},
        support::{Described, invalid, one, product, value, with_number},
    },
    registry::wrong_count,
};

const SECOND_ON_HOST: HostArguments = HostArguments::at(&[1]);

/// Returns the controlling argument.
fn instructions(call: &DeviceCall<'_>, attribute: &str) -> Result<HostTensor, Diagnostic> {
    match call.arguments.len() {
        1 => Ok(call.attrs.required::<&DenseHostTensor>(attribute)?.clone().into()),
        _ => call.host(1).cloned(),
    }
}

/// Returns a tensor with its axes in another order.
pub(super) fn permuted(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    order: &[usize],
) -> DeviceOpResult<DeviceTensor> {
    let dims: Vec<usize> = order.iter().map(|&axis| x.shape().dims()[axis]).collect();
    let y = call.allocate_as(&TensorMetadata::new(x.dtype(), TensorShape::new(&dims)?))?;
    let permutation = Permutation::new(&extents(x), order)?;
    call.queue.kernels().permute(call.queue.stream(), x.dtype(), y.buffer(), x.buffer(), &permutation)?;
    Ok(y)
}

fn transpose(call: &DeviceCall<'_>) -> Queued {
    let x = call.tensor(0)?;
    let order = axis_order(&instructions(call, "perm")?, x.shape().rank())?;
    Ok(permuted(call, x, &order)?.into())
}

/// Returns the shape of a tensor padded by this many elements before and after each dimension.
fn padded_shape(shape: &TensorShape, padding: &[(usize, usize)]) -> Result<TensorShape, Diagnostic> {
    let dims = shape.dims().iter().zip(padding).map(|(dim, &(a, b))| dim.checked_add(a)?.checked_add(b));
    let dims: Option<Vec<usize>> = dims.collect();
    TensorShape::new(&dims.ok_or_else(|| invalid("a padded tensor of too many elements"))?)
}

/// Returns a tensor padded by this many elements before and after each dimension, with this value
/// or zeros.
pub(super) fn padded(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    padding: &[(usize, usize)],
    value: Option<Argument<'_>>,
) -> DeviceOpResult<DeviceTensor> {
    let shape = padded_shape(x.shape(), padding)?;
    if x.dtype() == DType::Complex128 && value.is_none() {
        return given_back(call, x, &inside(x.shape(), padding, &shape), &shape);
    }
    let y = call.allocate_as(&TensorMetadata::new(x.dtype(), shape))?;
    let padding: Vec<_> = padding.iter().map(|&(before, after)| (before as u64, after as u64)).collect();
    let shape = Padded::new(&extents(x), &padding)?;
    call.queue.kernels().pad(call.queue.stream(), x.dtype(), y.buffer(), x.buffer(), &shape, value)?;
    Ok(y)
}

/// Returns the position of a tensor within a padded one.
fn inside(shape: &TensorShape, padding: &[(usize, usize)], padded: &TensorShape) -> Moves {
    let axes = shape.dims().iter().zip(padding);
    let axes = axes.map(|(&count, &(start, _))| Axis::Steps { start, step: 1, count });
    Moves::new(padded.dims(), axes.collect())
}

/// Pads a tensor with a number that is too wide for the parameter of a kernel.
pub(super) fn padded_widely(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    padding: &[(usize, usize)],
    number: &HostTensor,
) -> DeviceOpResult<DeviceTensor> {
    value::<Complex<f64>>(number, "constant_values")?;
    let shape = padded_shape(x.shape(), padding)?;
    let number = call.upload(number)?.reshape(&TensorShape::scalar())?;
    let y = broadcast(call, &number, &shape)?;
    put(call, &y, x, &inside(x.shape(), padding, &shape))?;
    Ok(y)
}

/// Returns the value that `tf.PadV2` pads with.
pub(super) fn padding_value(constant: &HostTensor, dtype: DType) -> Result<Argument<'static>, Diagnostic> {
    let what = "constant_values";
    if constant.dtype() != dtype {
        return Err(invalid(format!("{what} must be of type {dtype}, got {}", constant.dtype())));
    }
    match dtype {
        DType::I1 => Ok(value::<bool>(constant, what)?.into()),
        DType::Complex64 => {
            let parts = value::<Complex<f32>>(constant, what)?;
            Ok((u64::from(parts.im.to_bits()) << 32 | u64::from(parts.re.to_bits())).into())
        }
        dtype => with_number!(dtype, "tf.PadV2", |T| Ok(value::<T>(constant, what)?.into())),
    }
}

fn pad(call: &DeviceCall<'_>) -> Queued {
    let x = call.tensor(0)?;
    let padding = paddings(x.shape(), &instructions(call, "paddings")?)?;
    let value = match call.arguments {
        [_] | [_, _] => None,
        [_, _, DeviceArgument::Host(number)] if x.dtype() == DType::Complex128 => {
            return Ok(padded_widely(call, x, &padding, number)?.into());
        }
        [_, _, DeviceArgument::Host(constant)] => Some(padding_value(constant, x.dtype())?),
        more => return Err(wrong_count(2, more.len()).into()),
    };
    Ok(padded(call, x, &padding, value)?.into())
}

fn reduce(call: &DeviceCall<'_>, reduction: Reduction, op: &str) -> Queued {
    let x = call.tensor(0)?;
    let axes = axes_of(&instructions(call, "reduction_indices")?, x.shape().rank(), op)?;
    let keeps = call.attrs.optional("keep_dims")?.unwrap_or(false);
    Ok(reduced(call, reduction, x, &axes, keeps)?.into())
}

/// Returns the maxima or minima along some axes. Truth values and complex numbers have none; for
/// truth values, the same kernels compute "all" and "any".
fn extremes(call: &DeviceCall<'_>, reduction: Reduction, op: &str) -> Queued {
    match call.tensor(0)?.dtype() {
        dtype @ (DType::I1 | DType::Complex64 | DType::Complex128) => Err(unsupported(op, dtype).into()),
        _ => reduce(call, reduction, op),
    }
}

/// Returns whether all elements along some axes are true, or whether any is.
fn truths(call: &DeviceCall<'_>, reduction: Reduction, op: &str) -> Queued {
    match call.tensor(0)?.dtype() {
        DType::I1 => reduce(call, reduction, op),
        other => Err(unsupported(op, other).into()),
    }
}

/// Reduces a tensor over these axes; `keeps` says whether they remain with an extent of 1. For
/// truth values, the maximum is "any" and the minimum is "all", and there are no other reductions.
/// The sum in a mean of integers wraps only beyond 64 bits. The mean of no complex numbers is zero.
pub(super) fn reduced(
    call: &DeviceCall<'_>,
    reduction: Reduction,
    x: &DeviceTensor,
    axes: &[usize],
    keeps: bool,
) -> DeviceOpResult<DeviceTensor> {
    use DType::{Complex64, Complex128, I1, I8, I16, I32, UI8, UI16, UI32, UI64};
    let (dtype, wide) = (x.dtype(), computed_as(x.dtype()));
    let reduce = |reduction, x: &DeviceTensor| reduced_as_it_is(call, reduction, x, axes, keeps);
    match (reduction, dtype) {
        (_, I1) => reduce(reduction, x),
        (Reduction::Product, Complex64 | Complex128) => {
            cast(call, &complex_product(call, &cast(call, x, wide, false)?, axes, keeps)?, dtype, false)
        }
        (Reduction::Sum | Reduction::Mean, Complex64 | Complex128) => {
            let shape = TensorShape::new(&reduced_shape(x.shape(), axes, keeps))?;
            if count(x) == 0 {
                return constant(call, &TensorMetadata::new(dtype, shape), 0.0);
            }
            let sum = reduce(reduction, &parts(&cast(call, x, wide, false)?)?)?;
            cast(call, &sum.reinterpret(&TensorMetadata::new(wide, shape))?, dtype, false)
        }
        (Reduction::Mean, UI64) => {
            let reduced: Vec<_> = axes.iter().map(|&axis| x.shape().dims()[axis]).collect();
            let extent = product(&reduced);
            let sum = cast(call, &reduce(Reduction::Sum, &cast(call, x, wide, false)?)?, dtype, false)?;
            zip(call, Binary::Div, &sum, &scalar(call, dtype, extent as f64)?)
        }
        (Reduction::Mean, I8 | I16 | I32 | UI8 | UI16 | UI32) => {
            cast(call, &reduce(reduction, &cast(call, x, DType::I64, false)?)?, dtype, false)
        }
        (Reduction::Sum | Reduction::Product | Reduction::Mean, _) => {
            cast(call, &reduce(reduction, &cast(call, x, wide, false)?)?, dtype, false)
        }
        (Reduction::Maximum | Reduction::Minimum, _) => match least_of_narrow(dtype) {
            // The extremes of no elements are the type's least and greatest numbers.
            Some(least) if count(x) == 0 => {
                let shape = TensorShape::new(&reduced_shape(x.shape(), axes, keeps))?;
                let extreme = if reduction == Reduction::Maximum { least } else { -1.0 - least };
                constant(call, &TensorMetadata::new(dtype, shape), extreme)
            }
            _ => from_ordered(call, &reduce(reduction, &ordered(call, x)?)?, dtype),
        },
    }
}

/// Returns the product of complex numbers in double precision along axes: the last of their running
/// products.
fn complex_product(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    axes: &[usize],
    keeps: bool,
) -> DeviceOpResult<DeviceTensor> {
    let shape = TensorShape::new(&reduced_shape(x.shape(), axes, keeps))?;
    if count(x) == 0 {
        return constant(call, &TensorMetadata::new(x.dtype(), shape), 1.0);
    }
    let kept = (0..x.shape().rank()).filter(|axis| !axes.contains(axis));
    let order: Vec<usize> = kept.chain(axes.iter().copied()).collect();
    let rows = product(shape.dims());
    let columns = x.shape().num_elements()? / rows;
    let lines = permuted(call, x, &order)?.reshape(&TensorShape::new(&[rows, columns])?)?;
    let running = call.allocate_as(lines.metadata())?;
    let scan = Scan { multiplies: true, exclusive: false, reverse: false };
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let along = ReductionShape::new(&extents(&lines), 1..2)?;
    kernels.scan(stream, scan, x.dtype(), running.buffer(), lines.buffer(), along)?;
    let last = vec![Axis::whole(rows), Axis::Steps { start: columns - 1, step: 1, count: 1 }];
    moved(call, &running, &Moves::new(&[rows, columns], last), shape.dims())
}

/// Reduces like [`reduced`], for types that kernels support directly.
fn reduced_as_it_is(
    call: &DeviceCall<'_>,
    reduction: Reduction,
    x: &DeviceTensor,
    axes: &[usize],
    keeps: bool,
) -> DeviceOpResult<DeviceTensor> {
    let (rank, mut axes) = (x.shape().rank(), axes.to_vec());
    axes.sort_unstable();
    let shape = TensorShape::new(&reduced_shape(x.shape(), &axes, keeps))?;
    let (Some(&first), Some(&last)) = (axes.first(), axes.last()) else {
        return Ok(x.clone());
    };
    let y = call.allocate_as(&TensorMetadata::new(x.dtype(), shape))?;
    if last + 1 - first == axes.len() {
        reduce_neighbours(call, reduction, &y, x, first..last + 1)?;
    } else {
        let kept = (0..rank).filter(|axis| !axes.contains(axis));
        let order: Vec<usize> = kept.chain(axes.iter().copied()).collect();
        let turned = permuted(call, x, &order)?;
        reduce_neighbours(call, reduction, &y, &turned, rank - axes.len()..rank)?;
    }
    Ok(y)
}

/// Returns half the sum of all squares.
fn l2_loss(call: &DeviceCall<'_>) -> Queued {
    let [x] = call.tensors()?;
    check_floats(x.dtype(), "tf.L2Loss")?;
    let axes: Vec<usize> = (0..x.shape().rank()).collect();
    let sum = reduced(call, Reduction::Sum, &map(call, Unary::Square, x)?, &axes, false)?;
    Ok(scaled(call, &sum, 0.5)?.into())
}

/// Queues a reduction over adjacent axes.
pub(super) fn reduce_neighbours(
    call: &DeviceCall<'_>,
    reduction: Reduction,
    y: &DeviceTensor,
    x: &DeviceTensor,
    axes: std::ops::Range<usize>,
) -> DeviceOpResult<()> {
    let shape = ReductionShape::new(&extents(x), axes)?;
    let scratch = match shape.scratch_bytes()? {
        0 => None,
        bytes => Some(call.scratch(bytes)?),
    };
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    Ok(kernels.reduce(stream, reduction, x.dtype(), y.buffer(), x.buffer(), scratch.as_ref(), shape)?)
}

fn softmax(call: &DeviceCall<'_>, log: bool) -> Queued {
    let [x] = call.tensors()?;
    let columns = x.shape().dims().last().map_or(1, |&columns| columns as u64);
    let rows = Rows { rows: count(x).checked_div(columns).unwrap_or(0), columns };
    let y = call.reuse(&[0], 0)?;
    call.queue.kernels().softmax(call.queue.stream(), x.dtype(), log, y.buffer(), x.buffer(), rows)?;
    Ok(y.into())
}

fn reshape(call: &DeviceCall<'_>) -> Queued {
    let x = call.tensor(0)?;
    Ok(x.reshape(&reshaped_shape(x.shape(), call.host(1)?)?)?.into())
}

fn expand_dims(call: &DeviceCall<'_>) -> Queued {
    let x = call.tensor(0)?;
    Ok(x.reshape(&expanded_shape(x.shape(), call.host(1)?)?)?.into())
}

/// Returns the metadata of a folded op from its attributes and argument. Such ops run on devices
/// only.
fn folded(
    call: MetadataCall<'_>,
    attribute: &str,
    shape: impl FnOnce(&TensorShape, &HostTensor) -> Result<TensorShape, Diagnostic>,
) -> Described {
    let [x] = call.take()?;
    // Existing programs expect this text.
    let missing = || Diagnostic::invalid_argument(format!("the op needs a `{attribute}` dense attribute"));
    let how = call.attrs.optional::<&DenseHostTensor>(attribute)?.ok_or_else(missing)?;
    one(TensorMetadata::new(x.dtype, shape(&x.shape, &how.clone().into())?))
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("tf.Transpose").device_with(transpose, SECOND_ON_HOST);
    // `tf.Transpose` takes the order from the host.
    ops.extend("tf.InvertPermutation")
        .device_with(|call| computed_on_host(call, invert_permutation), HostArguments::at(&[0]))
        .results_on_host();
    ops.extend("tf.Pad").device_with(pad, SECOND_ON_HOST);
    ops.extend("tf.PadV2").device_with(pad, HostArguments::at(&[1, 2]));
    ops.extend("tf.Mean").device_with(|call| reduce(call, Reduction::Mean, "tf.Mean"), SECOND_ON_HOST);
    ops.extend("tf.Sum").device_with(|call| reduce(call, Reduction::Sum, "tf.Sum"), SECOND_ON_HOST);
    ops.extend("tf.Prod").device_with(|call| reduce(call, Reduction::Product, "tf.Prod"), SECOND_ON_HOST);
    ops.extend("tf.All").device_with(|call| truths(call, Reduction::Minimum, "tf.All"), SECOND_ON_HOST);
    ops.extend("tf.Any").device_with(|call| truths(call, Reduction::Maximum, "tf.Any"), SECOND_ON_HOST);
    ops.extend("tf.L2Loss").device(l2_loss);
    ops.extend("tf.Max").device_with(|call| extremes(call, Reduction::Maximum, "tf.Max"), SECOND_ON_HOST);
    ops.extend("tf.Min").device_with(|call| extremes(call, Reduction::Minimum, "tf.Min"), SECOND_ON_HOST);
    ops.extend("tf.Reshape").device_with(reshape, SECOND_ON_HOST);
    ops.extend("tf.ExpandDims").device_with(expand_dims, SECOND_ON_HOST);
    ops.extend("tf.Squeeze").device(|call| Ok(call.tensor(0)?.reshape(&call.result(0)?.shape)?.into()));
    ops.extend("tf.Softmax").device(|call| softmax(call, false));
    ops.extend("tf.LogSoftmax").device(|call| softmax(call, true));
    ops.add("_tf.Transpose")
        .attrs([attr::dense("perm")])
        .metadata(|call| {
            folded(call, "perm", |x, order| {
                let order = axis_order(order, x.rank())?;
                TensorShape::new(&order.iter().map(|&axis| x.dims()[axis]).collect::<Vec<_>>())
            })
        })
        .device(transpose);
    ops.add("_tf.Pad")
        .attrs([attr::dense("paddings")])
        .metadata(|call| folded(call, "paddings", |x, padding| padded_shape(x, &paddings(x, padding)?)))
        .device(pad);
    ops.add("_tf.Mean")
        .attrs([attr::dense("reduction_indices"), attr::boolean_or("keep_dims", false)])
        .metadata(|call| {
            let keeps = call.attrs.optional("keep_dims")?.unwrap_or(false);
            folded(call, "reduction_indices", |x, axes| {
                TensorShape::new(&reduced_shape(x, &axes_of(axes, x.rank(), "_tf.Mean")?, keeps))
            })
        })
        .device(|call| reduce(call, Reduction::Mean, "_tf.Mean"));
}
