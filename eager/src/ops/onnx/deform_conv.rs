//! `onnx.DeformConv`: a convolution whose taps are moved by offsets that the model computes.
//!
//! The input is sampled into a matrix with a row for each tap of each channel, which is multiplied
//! by the filter.

use tfrt_compute::{OnQueue, shape_error, workers};
use tfrt_host::Diagnostic;
use tfrt_math::{BlockOp, Float, MatMul, MatMulElement, MatMulInput};
use tfrt_tensor::{Accessor, Element, TensorMetadata, TensorShape};

use super::arguments::{
    OPERANDS, check_dims, check_same_type, count_or, dense, extents_of, formal, ints_attr, optional_dense,
    required,
};
use super::parallel::for_units;
use super::window::{MAX_SPATIAL, Window};
use crate::ops::support::{Computed, Described, invalid, one, room_for, with_float};
use crate::ops::types;
use crate::{CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx.DeformConv");

/// The extents of a call.
#[derive(Clone, Debug)]
struct Geometry {
    batch: usize,
    channels: usize,
    outputs: usize,
    groups: usize,
    /// Groups of channels that share offsets.
    offset_groups: usize,
    window: Window,
}

impl Geometry {
    fn of(attrs: &OpAttrs, x: &TensorShape, w: &TensorShape) -> Result<Self, Diagnostic> {
        let ([batch, channels, spatial @ ..], [outputs, depth, kernel @ ..]) = (x.dims(), w.dims()) else {
            return Err(invalid(format!("X and W must have at least 3 dimensions, got shapes {x} and {w}")));
        };
        if let Some(given) = ints_attr(attrs, "kernel_shape")? {
            check_dims("kernel_shape", &extents_of(&given)?, kernel)?;
        }
        let (groups, offset_groups) = (count_or(attrs, "group", 1)?, count_or(attrs, "offset_group", 1)?);
        let is_divided =
            groups > 0 && outputs.is_multiple_of(groups) && depth.checked_mul(groups) == Some(*channels);
        if !is_divided || offset_groups == 0 || !channels.is_multiple_of(offset_groups) || kernel.contains(&0)
        {
            return Err(invalid(format!(
                "an input of {channels} channels does not fit a filter of shape {w} in {groups} groups and \
                 {offset_groups} groups of offsets"
            )));
        }
        let window = Window::new(attrs, spatial, kernel, true)?;
        Ok(Self { batch: *batch, channels: *channels, outputs: *outputs, groups, offset_groups, window })
    }

    /// `count` numbers for each output position.
    fn by_position(&self, count: usize) -> Vec<usize> {
        [vec![self.batch, count], self.window.output()].concat()
    }

    /// The taps of all channels.
    fn rows(&self) -> usize {
        self.channels.saturating_mul(self.window.tap_count())
    }
}

fn metadata(call: MetadataCall<'_>) -> Described {
    let [x, w, offset, bias, mask]: [_; 5] = formal(call.arguments, call.attrs)?;
    let (x, w, offset) = (required(x, "X")?, required(w, "W")?, required(offset, "offset")?);
    let geometry = Geometry::of(call.attrs, &x.shape, &w.shape)?;
    let taps = geometry.offset_groups.saturating_mul(geometry.window.tap_count());
    let offsets = geometry.by_position(taps.saturating_mul(geometry.window.rank));
    let expected = [
        ("W", Some(w), w.shape.dims().to_vec()),
        ("offset", Some(offset), offsets),
        ("B", bias, vec![geometry.outputs]),
        ("mask", mask, geometry.by_position(taps)),
    ];
    for (name, tensor, dims) in expected {
        let Some(tensor) = tensor else { continue };
        check_same_type(("X", x), (name, tensor))?;
        check_dims(name, tensor.shape.dims(), &dims)?;
    }
    one(TensorMetadata::new(x.dtype, TensorShape::new(&geometry.by_position(geometry.outputs))?))
}

/// An image's planes, and the offsets and factors of its taps.
struct Image<'a, T> {
    geometry: &'a Geometry,
    x: &'a [T],
    offsets: &'a [T],
    mask: Option<&'a [T]>,
}

impl<T: Float> Image<'_, T> {
    /// Samples a channel at each tap of each output position.
    fn sample(&self, channel: usize, out: &mut [T]) {
        let Geometry { channels, offset_groups, window, .. } = self.geometry;
        let (positions, taps) = (window.output_len(), window.tap_count());
        let plane = &self.x[channel * window.input_len()..][..window.input_len()];
        let group = channel / (channels / offset_groups);
        for (tap, out) in out.chunks_exact_mut(positions.max(1)).enumerate() {
            let tap_number = group * taps + tap;
            let offsets = &self.offsets[tap_number * window.rank * positions..];
            let mask = self.mask.map(|mask| &mask[tap_number * positions..][..positions]);
            for (position, out) in out.iter_mut().enumerate() {
                let at = place(window, tap, position, |axis| offsets[axis * positions + position].to_f64());
                let factor = mask.map_or(1.0, |mask| mask[position].to_f64());
                *out = T::from_f64(factor * interpolated(window, plane, at));
            }
        }
    }
}

/// Where a tap at an output position reads, with an offset for each spatial dimension.
fn place(window: &Window, tap: usize, position: usize, offset: impl Fn(usize) -> f64) -> [f64; MAX_SPATIAL] {
    let (mut tap, mut position, mut at) = (tap, position, [0.0; MAX_SPATIAL]);
    for (index, axis) in window.axes.iter().enumerate().rev() {
        at[index] = axis.position(position % axis.output.max(1), tap % axis.kernel) as f64;
        (tap, position) = (tap / axis.kernel, position / axis.output.max(1));
        if let Some(spatial) = index.checked_sub(MAX_SPATIAL - window.rank) {
            at[index] += offset(spatial);
        }
    }
    at
}

/// The value of a plane between its elements, by linear interpolation; zero outside.
fn interpolated<T: Float>(window: &Window, plane: &[T], at: [f64; MAX_SPATIAL]) -> f64 {
    // The two neighbours along each dimension, with their weights.
    let sides = [0, 1, 2].map(|index| {
        let low = at[index].floor();
        let weight = at[index] - low;
        let inside =
            |place: f64| (place >= 0.0 && place < window.axes[index].input as f64).then_some(place as usize);
        [(inside(low), 1.0 - weight), (inside(low + 1.0), weight)]
    });
    let mut sum = 0.0;
    for (z, z_weight) in sides[0] {
        for (y, y_weight) in sides[1] {
            let (Some(z), Some(y), true) = (z, y, z_weight * y_weight != 0.0) else { continue };
            let row = (z * window.axes[1].input + y) * window.axes[2].input;
            for (x, x_weight) in sides[2] {
                if let (Some(x), true) = (x, x_weight != 0.0) {
                    sum += z_weight * y_weight * x_weight * plane[row + x].to_f64();
                }
            }
        }
    }
    sum
}

fn deform_conv<T: Element + Float + MatMulElement>(call: &CpuCall<'_>) -> Computed {
    let [x, w, offset, bias, mask]: [_; 5] = formal(call.arguments, call.attrs)?;
    let (x, w, offset) = (dense(x, "X")?, dense(w, "W")?, dense(offset, "offset")?);
    let geometry = Geometry::of(call.attrs, x.shape(), w.shape())?;
    let mut out = call.allocate_unset(0)?;
    let elements = out.elements_mut::<T>()?;
    let (x, w, offset) = (x.read::<T>(&ME)?, w.read::<T>(&ME)?, offset.read::<T>(&ME)?);
    let bias = optional_dense(bias)?.map(|bias| bias.read::<T>(&ME)).transpose()?;
    let mask = optional_dense(mask)?.map(|mask| mask.read::<T>(&ME)).transpose()?;
    let (positions, per_group) = (geometry.window.output_len(), geometry.outputs / geometry.groups);
    if elements.is_empty() {
        return Ok(out.into());
    }
    for (plane, out) in elements.chunks_exact_mut(positions).enumerate() {
        out.fill(bias.as_ref().map_or(T::ZERO, |bias| bias[plane % geometry.outputs]));
    }
    let rows = geometry.rows();
    let count = rows.checked_mul(positions).ok_or_else(|| invalid("the samples are too many"))?;
    let mut columns: Vec<T> = room_for(count)?;
    columns.resize(count, T::ZERO);
    let unit = geometry.window.tap_count() * positions;
    let depth = rows / geometry.groups;
    for (batch, out) in elements.chunks_exact_mut(geometry.outputs * positions).enumerate() {
        let share = |whole: &[T]| {
            let length = whole.len() / geometry.batch;
            batch * length..(batch + 1) * length
        };
        let image = Image {
            geometry: &geometry,
            x: &x[share(&x)],
            offsets: &offset[share(&offset)],
            mask: mask.as_ref().map(|mask| &mask[share(mask)]),
        };
        for_units(call.cx, &mut columns, (unit, 16 * unit), &|channel, out| image.sample(channel, out));
        for (group, out) in out.chunks_exact_mut(per_group * positions).enumerate() {
            let input = MatMulInput::new(
                &w[group * per_group * depth..][..per_group * depth],
                &columns[group * depth * positions..][..depth * positions],
            );
            let plan = MatMul::new(per_group, depth, positions, workers(call.cx));
            let plan = plan.map(|plan| plan.scaled(T::ONE, T::ONE));
            plan.and_then(|plan| plan.run(&OnQueue(call.cx), input, out)).map_err(shape_error)?;
        }
    }
    Ok(out.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.DeformConv")
        .types(types::FLOATS)
        .attrs([
            attr::ints_or_each("dilations", 1),
            attr::int_or("group", 1),
            attr::ints("kernel_shape").optional(),
            attr::int_or("offset_group", 1),
            attr::ints_or_each("pads", 0),
            attr::ints_or_each("strides", 1),
            OPERANDS,
        ])
        .metadata(metadata)
        .cpu(|call| with_float!(call.result(0)?.dtype, "onnx.DeformConv", |T| deform_conv::<T>(&call)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::onnx::window::Axis;

    #[test]
    fn values_between_elements_are_interpolated_and_zero_outside() {
        let axis = Axis { input: 2, ..Axis::UNIT };
        let window = Window::of_axes(&[axis, axis]).unwrap();
        let plane = [1.0f32, 2.0, 3.0, 4.0];
        for (at, expected) in [
            ([0.0, 0.0, 0.0], 1.0),
            ([0.0, 0.5, 0.5], 2.5),
            ([0.0, 1.0, 1.5], 2.0),
            ([0.0, -0.5, 0.0], 0.5),
            ([0.0, 2.0, 0.0], 0.0),
            ([0.0, f64::INFINITY, 0.0], 0.0),
        ] {
            assert_eq!(interpolated(&window, &plane, at), expected, "{at:?}");
        }
    }
}
