//! Convolution and transposed convolution of `NCHW` tensors in one to three spatial dimensions.
//!
//! In one and two dimensions the products are those of `tfrt-math`, which takes `NHWC`; in three,
//! or with padding that crops, each output plane is summed up row by row.

use std::sync::Arc;

use tfrt_compute::{OnQueue, shape_error, workers};
use tfrt_host::Diagnostic;
use tfrt_math::{
    Activation, BlockOp, Conv2d, Conv2dInput, Conv2dShape, ConvBackwardInput, ConvElement, Extent2, Float,
    PackedFilter, Padding, Transpose, zip_in_place,
};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, TensorMetadata, TensorShape};

use super::arguments::{
    OPERANDS, check_dims, check_same_type, count_or, dense, extents_of, formal, ints_attr, optional_dense,
    required, text_or, unknown,
};
use super::parallel::for_units;
use super::window::{Axis, MAX_SPATIAL, Window, extents, pads};
use crate::ops::images::{compute_nchw, to_nhwc};
use crate::ops::support::{Computed, Described, allocate, compute, invalid, one, room_for, with_float};
use crate::ops::types;
use crate::ops::window::Layout;
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx convolution");

/// Extents of a convolution: batch, input channels, output channels, groups, and the window from
/// the input to the output. For a transposed convolution it is the window of the convolution in the
/// opposite direction.
#[derive(Clone, Debug)]
pub(in crate::ops) struct Geometry {
    pub(in crate::ops) batch: usize,
    pub(in crate::ops) channels: usize,
    pub(in crate::ops) outputs: usize,
    pub(in crate::ops) groups: usize,
    pub(in crate::ops) window: Window,
}

/// The kernel of a filter `[outputs, channels / groups, kernel...]`, which the attribute may
/// repeat.
fn kernel<'w>(attrs: &OpAttrs, filter: &'w TensorShape) -> Result<&'w [usize], Diagnostic> {
    let kernel = filter.dims().get(2..).unwrap_or_default();
    if kernel.is_empty() || filter.dims().contains(&0) {
        return Err(invalid(format!(
            "the filter must have at least 3 dimensions and no empty one, got shape {filter}"
        )));
    }
    if let Some(given) = ints_attr(attrs, "kernel_shape")? {
        check_dims("kernel_shape", &extents_of(&given)?, kernel)?;
    }
    Ok(kernel)
}

/// The number of groups, of which there is at least one.
fn groups(attrs: &OpAttrs) -> Result<usize, Diagnostic> {
    let groups = count_or(attrs, "group", 1)?;
    if groups == 0 { Err(invalid("attribute 'group' must be positive")) } else { Ok(groups) }
}

/// Batch, channels and spatial extents of an input.
fn images(input: &TensorShape) -> Result<(usize, usize, &[usize]), Diagnostic> {
    match input.dims() {
        [batch, channels, spatial @ ..] if !spatial.is_empty() => Ok((*batch, *channels, spatial)),
        _ => Err(invalid(format!("the input must have at least 3 dimensions, got shape {input}"))),
    }
}

impl Geometry {
    pub(in crate::ops) fn of(
        attrs: &OpAttrs,
        input: &TensorShape,
        filter: &TensorShape,
    ) -> Result<Self, Diagnostic> {
        let ((batch, channels, spatial), kernel) = (images(input)?, kernel(attrs, filter)?);
        let (groups, outputs) = (groups(attrs)?, filter.dims()[0]);
        if filter.dims()[1].checked_mul(groups) != Some(channels) || outputs % groups != 0 {
            return Err(invalid(format!(
                "an input of {channels} channels does not fit a filter of shape {filter} in {groups} groups"
            )));
        }
        Ok(Self { batch, channels, outputs, groups, window: Window::new(attrs, spatial, kernel, true)? })
    }

    /// The shape of the result.
    pub(in crate::ops) fn dims(&self) -> Vec<usize> {
        [vec![self.batch, self.outputs], self.window.output()].concat()
    }

    /// The convolution as `tfrt-math` has it, if it has it.
    pub(super) fn in_two_dimensions(&self) -> Option<Conv2dShape> {
        let [z, y, x] = &self.window.axes;
        let is_plain = |axis: &Axis| axis.pads.iter().all(|&pad| pad >= 0);
        if *z != Axis::UNIT || !is_plain(y) || !is_plain(x) {
            return None;
        }
        let pad = |axis: &Axis, side: usize| axis.pads[side] as usize;
        let padding =
            Padding::Explicit { top: pad(y, 0), bottom: pad(y, 1), left: pad(x, 0), right: pad(x, 1) };
        let shape = Conv2dShape {
            groups: self.groups,
            strides: Extent2::new(y.stride, x.stride),
            dilations: Extent2::new(y.dilation, x.dilation),
            ..Conv2dShape::new(
                (self.batch, Extent2::new(y.input, x.input), self.channels),
                (Extent2::new(y.kernel, x.kernel), self.outputs),
                padding,
            )
        };
        (shape.output() == Ok(Extent2::new(y.output, x.output))).then_some(shape)
    }
}

/// The input of a convolution in two dimensions.
pub(super) fn flat(tensor: &DenseHostTensor, geometry: &Geometry) -> Result<DenseHostTensor, Diagnostic> {
    let [_, y, x] = &geometry.window.axes;
    tensor.reshape(TensorShape::new(&[geometry.batch, geometry.channels, y.input, x.input])?)
}

fn conv_metadata(call: MetadataCall<'_>) -> Described {
    let [x, w, b] = formal(call.arguments, call.attrs)?;
    let (x, w) = (required(x, "X")?, required(w, "W")?);
    check_same_type(("X", x), ("W", w))?;
    let geometry = Geometry::of(call.attrs, &x.shape, &w.shape)?;
    check_bias(b, x, geometry.outputs)?;
    one(TensorMetadata::new(x.dtype, TensorShape::new(&geometry.dims())?))
}

fn check_bias(bias: Option<&TensorMetadata>, x: &TensorMetadata, outputs: usize) -> Result<(), Diagnostic> {
    let Some(bias) = bias else { return Ok(()) };
    check_same_type(("X", x), ("B", bias))?;
    check_dims("B", bias.shape.dims(), &[outputs])
}

fn conv(call: &CpuCall<'_>) -> Computed {
    let [x, w, b] = formal(call.arguments, call.attrs)?;
    let (x, w, b) = (dense(x, "X")?, dense(w, "W")?, optional_dense(b)?);
    let geometry = Geometry::of(call.attrs, x.shape(), w.shape())?;
    let out = call.allocate_unset(0)?;
    if out.num_elements() == 0 {
        return Ok(out.into());
    }
    with_float!(x.dtype(), "onnx.Conv", |T| match geometry.in_two_dimensions() {
        Some(shape) if x.num_elements() > 0 => {
            conv_2d::<T>(call, &geometry, &shape, [x, w], b, out)
        }
        _ => conv_planes::<T>(call, geometry, [x, w], b, out),
    })
}

/// A filter that [`Conv2d`] takes, made of one in ONNX's layout. It is kept with the filter.
struct FromOihw<T: ConvElement>(PackedFilter<T>);

fn conv_2d<T: Element + ConvElement>(
    call: &CpuCall<'_>,
    geometry: &Geometry,
    shape: &Conv2dShape,
    [x, w]: [&DenseHostTensor; 2],
    bias: Option<&DenseHostTensor>,
    out: DenseHostTensor,
) -> Computed {
    let [_, y, x_axis] = &geometry.window.axes;
    let plan = Conv2d::<T>::new(shape, Activation::None, workers(call.cx)).map_err(shape_error)?;
    let extents =
        [geometry.outputs, geometry.channels / geometry.groups, shape.filter.height, shape.filter.width];
    let pack = |filter: &[T]| {
        let turn = Transpose::<T>::new(&extents, &[2, 3, 1, 0])?;
        let mut turned = vec![T::default(); filter.len()];
        turn.run(&OnQueue(call.cx), filter, &mut turned)?;
        plan.pack_filter(&turned).map(FromOihw)
    };
    let filter: Arc<FromOihw<T>> =
        w.read::<T>(&ME)?.derived(|packed: &FromOihw<T>| plan.takes(&packed.0), pack).map_err(shape_error)?;
    let bias = bias.map(|bias| bias.read_owned::<T>(&ME)).transpose()?;
    let x = to_nhwc(call, Layout::Nchw, &flat(x, geometry)?)?.read_owned::<T>(&ME)?;
    let dims = [geometry.batch, y.output, x_axis.output, geometry.outputs];
    compute_nchw::<T, _, _>(call, plan, ((x, filter, bias), out), dims, |(x, filter, bias)| Conv2dInput {
        bias: bias.as_deref(),
        ..Conv2dInput::new(x, &filter.0)
    })
}

/// The general case: output planes, each the sum of rows of input planes.
fn conv_planes<T: Element + Float>(
    call: &CpuCall<'_>,
    geometry: Geometry,
    [x, w]: [&DenseHostTensor; 2],
    bias: Option<&DenseHostTensor>,
    out: DenseHostTensor,
) -> Computed {
    let (x, w) = (x.read_owned::<T>(&ME)?, w.read_owned::<T>(&ME)?);
    let bias = bias.map(|bias| bias.read_owned::<T>(&ME)).transpose()?;
    let Geometry { batch, channels, outputs, groups, window } = geometry;
    let (plane, taps, depth) = (window.output_len(), window.tap_count(), channels / groups);
    let cost = plane.saturating_mul(taps).saturating_mul(depth);
    compute(call, &ME, out, (batch * outputs, plane, cost), move |planes, out: &mut [T]| {
        let mut sums = vec![<T::Acc>::default(); plane];
        for (index, out) in planes.zip(out.chunks_exact_mut(plane.max(1))) {
            let (image, output) = (index / outputs, index % outputs);
            sums.fill(bias.as_ref().map_or(T::ZERO, |bias| bias[output]).to_acc());
            for channel in 0..depth {
                let input = image * channels + output / (outputs / groups) * depth + channel;
                let x = &x[input * window.input_len()..][..window.input_len()];
                let w = &w[(output * depth + channel) * taps..][..taps];
                add_plane::<T>(&window, x, w, &mut sums);
            }
            out.iter_mut().zip(&sums).for_each(|(out, &sum)| *out = T::from_acc(sum));
        }
        Ok(())
    })
}

/// Adds what one input plane gives under one kernel.
fn add_plane<T: Float>(window: &Window, x: &[T], w: &[T], sums: &mut [T::Acc]) {
    use tfrt_math::Number;
    window.rows(|row| {
        let (factor, step) = (w[row.tap].to_acc(), window.row_step());
        let sums = &mut sums[row.output..][..row.count];
        let x = x[row.input..].iter().step_by(step);
        sums.iter_mut().zip(x).for_each(|(sum, &x)| *sum = sum.plus(factor.times(x.to_acc())));
    });
}

/// The convolution of integers, whose sums wrap.
pub(super) fn integers(
    call: &CpuCall<'_>,
    geometry: &Geometry,
    x: &[i32],
    w: &[i32],
) -> Result<Vec<i32>, Diagnostic> {
    let &Geometry { batch, channels, outputs, groups, ref window } = geometry;
    let (plane, taps, depth) = (window.output_len(), window.tap_count(), channels / groups);
    let count = batch.checked_mul(outputs).and_then(|planes| planes.checked_mul(plane));
    let mut sums: Vec<i32> = room_for(count.ok_or_else(|| invalid("the result is too large"))?)?;
    sums.resize(batch * outputs * plane, 0);
    let cost = plane.saturating_mul(taps).saturating_mul(depth);
    for_units(call.cx, &mut sums, (plane, cost), &|index, sums| {
        let (image, output) = (index / outputs, index % outputs);
        for channel in 0..depth {
            let input = image * channels + output / (outputs / groups) * depth + channel;
            let x = &x[input * window.input_len()..][..window.input_len()];
            let w = &w[(output * depth + channel) * taps..][..taps];
            window.rows(|row| {
                let x = x[row.input..].iter().step_by(window.row_step());
                let sums = sums[row.output..][..row.count].iter_mut().zip(x);
                sums.for_each(|(sum, x)| *sum = sum.wrapping_add(w[row.tap].wrapping_mul(*x)));
            });
        }
    });
    Ok(sums)
}

/// How a transposed convolution places its output: the extents, and the padding that is cut off on
/// either side.
struct Placement {
    output: Vec<usize>,
    pads: Vec<[i64; 2]>,
}

impl Placement {
    fn of(attrs: &OpAttrs, spatial: &[usize], kernel: &[usize]) -> Result<Self, Diagnostic> {
        let rank = spatial.len();
        if rank > MAX_SPATIAL || kernel.len() != rank {
            return Err(invalid(format!(
                "the op takes one to {MAX_SPATIAL} spatial dimensions and a kernel of as many, got {rank} and {}",
                kernel.len()
            )));
        }
        let (strides, dilations) =
            (extents(attrs, "strides", rank, 1)?, extents(attrs, "dilations", rank, 1)?);
        let added = list(attrs, "output_padding", rank)?.unwrap_or_else(|| vec![0; rank]);
        let wanted = list(attrs, "output_shape", rank)?;
        let auto_pad = text_or(attrs, "auto_pad", "NOTSET")?;
        let mut placement = Self { output: Vec::new(), pads: pads(attrs, rank)? };
        for axis in 0..rank {
            let full = full_extent(spatial[axis], strides[axis], kernel[axis], dilations[axis], added[axis])
                .ok_or_else(|| invalid("the transposed convolution is too large"))?;
            let same = (spatial[axis].saturating_mul(strides[axis])) as i64;
            let (output, pads) = match (auto_pad, &wanted) {
                ("NOTSET" | "", None) => {
                    let [before, after] = placement.pads[axis];
                    (full.saturating_sub(before).saturating_sub(after), [before, after])
                }
                ("VALID", None) => (full, [0; 2]),
                ("SAME_UPPER" | "SAME_LOWER", None) => (same, halves(full.saturating_sub(same), auto_pad)),
                ("NOTSET" | "" | "VALID" | "SAME_UPPER" | "SAME_LOWER", Some(wanted)) => {
                    (wanted[axis], halves(full.saturating_sub(wanted[axis]), auto_pad))
                }
                (other, _) => return Err(unknown("auto_pad", other)),
            };
            placement.pads[axis] = pads;
            placement.output.push(usize::try_from(output).unwrap_or(0));
        }
        Ok(placement)
    }
}

/// The extent of everything that the windows cover.
fn full_extent(input: usize, stride: usize, kernel: usize, dilation: usize, added: i64) -> Option<i64> {
    let covered = kernel.checked_sub(1)?.checked_mul(dilation)?.checked_add(1)?;
    let full = input.saturating_sub(1).checked_mul(stride)?.checked_add(covered)?;
    i64::try_from(full).ok()?.checked_add(added)
}

/// Padding in total, cut off on both sides: the odd one after the output, or before it for
/// `SAME_LOWER` and explicit shapes.
fn halves(total: i64, auto_pad: &str) -> [i64; 2] {
    let total = total.max(0);
    let (less, more) = (total / 2, total - total / 2);
    if auto_pad == "SAME_UPPER" { [less, more] } else { [more, less] }
}

/// A list of one number for each axis.
fn list(attrs: &OpAttrs, name: &str, rank: usize) -> Result<Option<Vec<i64>>, Diagnostic> {
    let Some(values) = ints_attr(attrs, name)? else { return Ok(None) };
    if values.len() != rank || values.iter().any(|&value| value < 0) {
        return Err(invalid(format!(
            "attribute '{name}' must have {rank} numbers that are not negative, got {:?}",
            values.as_slice()
        )));
    }
    Ok(Some(values.to_vec()))
}

/// The convolution from the output of a transposed one to its input, with filters `[channels,
/// outputs / groups, kernel...]`.
pub(in crate::ops) fn transposed(
    attrs: &OpAttrs,
    input: &TensorShape,
    filter: &TensorShape,
) -> Result<Geometry, Diagnostic> {
    let ((batch, channels, spatial), kernel) = (images(input)?, kernel(attrs, filter)?);
    let groups = groups(attrs)?;
    if filter.dims()[0] != channels || !channels.is_multiple_of(groups) {
        return Err(invalid(format!(
            "an input of {channels} channels does not fit a filter of shape {filter} in {groups} groups"
        )));
    }
    let outputs =
        filter.dims()[1].checked_mul(groups).ok_or_else(|| invalid("there are too many channels"))?;
    let placement = Placement::of(attrs, spatial, kernel)?;
    let (strides, dilations) =
        (extents(attrs, "strides", spatial.len(), 1)?, extents(attrs, "dilations", spatial.len(), 1)?);
    let axes = (0..spatial.len()).map(|axis| Axis {
        input: placement.output[axis],
        output: spatial[axis],
        kernel: kernel[axis],
        stride: strides[axis],
        dilation: dilations[axis],
        pads: placement.pads[axis],
    });
    Ok(Geometry { batch, channels, outputs, groups, window: Window::of_axes(&axes.collect::<Vec<_>>())? })
}

fn conv_transpose_metadata(call: MetadataCall<'_>) -> Described {
    let [x, w, b] = formal(call.arguments, call.attrs)?;
    let (x, w) = (required(x, "X")?, required(w, "W")?);
    check_same_type(("X", x), ("W", w))?;
    let geometry = transposed(call.attrs, &x.shape, &w.shape)?;
    check_bias(b, x, geometry.outputs)?;
    let axes = &geometry.window.axes[MAX_SPATIAL - geometry.window.rank..];
    let dims: Vec<usize> =
        [geometry.batch, geometry.outputs].into_iter().chain(axes.iter().map(|axis| axis.input)).collect();
    one(TensorMetadata::new(x.dtype, TensorShape::new(&dims)?))
}

fn conv_transpose(call: &CpuCall<'_>) -> Computed {
    let [x, w, b] = formal(call.arguments, call.attrs)?;
    let (x, w, b) = (dense(x, "X")?, dense(w, "W")?, optional_dense(b)?);
    let geometry = transposed(call.attrs, x.shape(), w.shape())?;
    let out = call.allocate_unset(0)?;
    if out.num_elements() == 0 {
        return Ok(out.into());
    }
    with_float!(x.dtype(), "onnx.ConvTranspose", |T| {
        // Seen from the output, whose channels are the inputs of that convolution.
        let forward = Geometry { channels: geometry.outputs, outputs: geometry.channels, ..geometry.clone() };
        // Matrices of one row and column are slower than the rows of planes.
        let is_depthwise = geometry.channels == geometry.groups && geometry.outputs == geometry.groups;
        match forward.in_two_dimensions() {
            Some(shape) if x.num_elements() > 0 && !(is_depthwise && geometry.groups > 1) => {
                conv_transpose_2d::<T>(call, &geometry, &shape, [x, w], b, out)
            }
            _ => conv_transpose_planes::<T>(call, geometry, [x, w], b, out),
        }
    })
}

fn conv_transpose_2d<T: Element + ConvElement + Float>(
    call: &CpuCall<'_>,
    geometry: &Geometry,
    shape: &Conv2dShape,
    [x, w]: [&DenseHostTensor; 2],
    bias: Option<&DenseHostTensor>,
    out: DenseHostTensor,
) -> Computed {
    let [_, y, columns] = &geometry.window.axes;
    let queue = OnQueue(call.cx);
    let plan = ConvBackwardInput::<T>::new(shape, workers(call.cx)).map_err(shape_error)?;
    let extents =
        [geometry.channels, geometry.outputs / geometry.groups, shape.filter.height, shape.filter.width];
    let filter = {
        let turn = Transpose::<T>::new(&extents, &[2, 3, 1, 0]).map_err(shape_error)?;
        let filter = w.read::<T>(&ME)?;
        let mut turned = vec![T::default(); filter.len()];
        turn.run(&queue, &filter, &mut turned).map_err(shape_error)?;
        plan.pack_filter(&turned).map_err(shape_error)?
    };
    let x = x.reshape(TensorShape::new(&[geometry.batch, geometry.channels, y.output, columns.output])?)?;
    let x = to_nhwc(call, Layout::Nchw, &x)?.read_owned::<T>(&ME)?;
    let dims = [geometry.batch, y.input, columns.input, geometry.outputs];
    let inner = allocate(call, T::DTYPE, &dims)?;
    {
        let mut inner = inner.write::<T>(&ME)?;
        plan.run(&queue, (&x, &filter), &mut inner).map_err(shape_error)?;
        if let Some(bias) = bias {
            let bias = bias.read::<T>(&ME)?;
            for pixel in inner.chunks_exact_mut(bias.len()) {
                pixel.iter_mut().zip(bias.iter()).for_each(|(out, &bias)| *out = out.plus(bias));
            }
        }
    }
    let back = Transpose::<T>::new(&dims, &[0, 3, 1, 2]).map_err(shape_error)?;
    back.run(&queue, &inner.read::<T>(&ME)?, &mut out.write::<T>(&ME)?).map_err(shape_error)?;
    Ok(out.into())
}

/// The general case: each input row is added to the output rows that its window covers.
fn conv_transpose_planes<T: Element + Float>(
    call: &CpuCall<'_>,
    geometry: Geometry,
    [x, w]: [&DenseHostTensor; 2],
    bias: Option<&DenseHostTensor>,
    out: DenseHostTensor,
) -> Computed {
    use tfrt_math::Number;
    let (x, w) = (x.read_owned::<T>(&ME)?, w.read_owned::<T>(&ME)?);
    let bias = bias.map(|bias| bias.read_owned::<T>(&ME)).transpose()?;
    let Geometry { batch, channels, outputs, groups, window } = geometry;
    // The window's output is the op's input.
    let (plane, given, taps) = (window.input_len(), window.output_len(), window.tap_count());
    let (per_group, depth) = (outputs / groups, channels / groups);
    let cost = given.saturating_mul(taps).saturating_mul(depth).max(plane);
    // Every `step`-th element of a row belongs to one lane, in which those that a tap writes are next
    // to each other.
    let (step, width) = (window.row_step(), window.axes[2].input);
    let lane = width.div_ceil(step);
    compute(call, &ME, out, (batch * outputs, plane, cost), move |planes, out: &mut [T]| {
        let mut sums = vec![<T::Acc>::default(); plane.checked_div(width).unwrap_or(0) * step * lane];
        for (index, out) in planes.zip(out.chunks_exact_mut(plane.max(1))) {
            let (image, output) = (index / outputs, index % outputs);
            sums.fill(bias.as_ref().map_or(T::ZERO, |bias| bias[output]).to_acc());
            for channel in output / per_group * depth..(output / per_group + 1) * depth {
                let x = &x[(image * channels + channel) * given..][..given];
                let w = &w[(channel * per_group + output % per_group) * taps..][..taps];
                window.rows(|row| {
                    let (factor, column) = (w[row.tap].to_acc(), row.input % width);
                    let first = (row.input / width * step + column % step) * lane + column / step;
                    let x = &x[row.output..][..row.count];
                    let add = |sum: T::Acc, x: T| sum.plus(factor.times(x.to_acc()));
                    zip_in_place(&mut sums[first..][..row.count], x, add);
                });
            }
            for (out, sums) in out.chunks_exact_mut(width.max(1)).zip(sums.chunks_exact(step * lane)) {
                for (first, sums) in sums.chunks_exact(lane).enumerate() {
                    let out = out[first.min(width)..].iter_mut().step_by(step);
                    out.zip(sums).for_each(|(out, &sum)| *out = T::from_acc(sum));
                }
            }
        }
        Ok(())
    })
}

pub(super) const WINDOW: [AttrSpec; 7] = [
    attr::string_or("auto_pad", "NOTSET"),
    attr::ints_or_each("dilations", 1),
    attr::int_or("group", 1),
    attr::ints("kernel_shape").optional(),
    attr::ints_or_each("pads", 0),
    attr::ints_or_each("strides", 1),
    OPERANDS,
];

const TRANSPOSED: [AttrSpec; 9] = [
    attr::string_or("auto_pad", "NOTSET"),
    attr::ints_or_each("dilations", 1),
    attr::int_or("group", 1),
    attr::ints("kernel_shape").optional(),
    attr::ints_or_each("output_padding", 0),
    attr::ints("output_shape").optional(),
    attr::ints_or_each("pads", 0),
    attr::ints_or_each("strides", 1),
    OPERANDS,
];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.Conv").types(types::FLOATS).attrs(WINDOW).metadata(conv_metadata).cpu(|call| conv(&call));
    ops.add("onnx.ConvTranspose")
        .types(types::FLOATS)
        .attrs(TRANSPOSED)
        .metadata(conv_transpose_metadata)
        .cpu(|call| conv_transpose(&call));
}
