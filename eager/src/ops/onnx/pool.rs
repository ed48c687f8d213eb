//! Pooling of `NCHW` tensors under windows in one to three spatial dimensions.

use tfrt_host::{DType, Diagnostic};
use tfrt_math::{Float, Number, ops};
use tfrt_tensor::{Accessor, Element, TensorMetadata, TensorShape};

use super::arguments::{RESULTS, extents_of, flag, int_or, ints_attr, pick, wanted};
use super::two::{compute_two, second};
use super::window::{Fold, MAX_SPATIAL, Window};
use crate::ops::support::{
    Computed, Described, allocate, compute, float_attr, invalid, product, with_float, with_type,
};
use crate::ops::types;
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx pooling");

/// The window of a pooling op over an input.
pub(in crate::ops) fn window(attrs: &OpAttrs, input: &TensorShape) -> Result<Window, Diagnostic> {
    let spatial = input.dims().get(2..).unwrap_or_default();
    let kernel =
        ints_attr(attrs, "kernel_shape")?.ok_or_else(|| invalid("attribute 'kernel_shape' is missing"))?;
    let kernel = extents_of(&kernel)?;
    if kernel.contains(&0) {
        return Err(invalid(format!("attribute 'kernel_shape' must be positive, got {kernel:?}")));
    }
    Window::new(attrs, spatial, &kernel, true)
}

fn metadata(call: MetadataCall<'_>) -> Described {
    let [x] = call.take()?;
    let window = window(call.attrs, &x.shape)?;
    let dims = [&x.shape.dims()[..2], &window.output()].concat();
    let values = TensorMetadata::new(x.dtype, TensorShape::new(&dims)?);
    Ok(smallvec::smallvec![values])
}

fn max_metadata(call: MetadataCall<'_>) -> Described {
    let values = metadata(call)?.remove(0);
    let indices = TensorMetadata::new(DType::I64, values.shape.clone());
    Ok(pick([values, indices], wanted(call.attrs, [true, false])?))
}

/// Planes of a tensor `[batch, channels, ...]`.
fn plane_count(shape: &TensorShape) -> usize {
    product(shape.dims().get(..2).unwrap_or_default())
}

/// Computes each output plane from the input plane of the same number.
fn by_plane<T: Element + Number>(
    call: &CpuCall<'_>,
    window: Window,
    f: impl Fn(&Window, &[T], &mut [T]) + Send + Sync + 'static,
) -> Computed {
    let ([x], out) = (call.dense()?, call.allocate_unset(0)?);
    let (planes, input, output) = (plane_count(x.shape()), window.input_len(), window.output_len());
    if out.num_elements() == 0 {
        return Ok(out.into());
    }
    let (x, cost) = (x.read_owned::<T>(&ME)?, output.saturating_mul(window.tap_count()));
    compute(call, &ME, out, (planes, output, cost), move |planes, out: &mut [T]| {
        for (plane, out) in planes.zip(out.chunks_exact_mut(output)) {
            f(&window, &x[plane * input..][..input], out);
        }
        Ok(())
    })
}

fn max_pool<T: Element + Number>(call: &CpuCall<'_>, window: Window) -> Computed {
    let wanted = wanted(call.attrs, [true, false])?;
    if wanted[1] {
        return max_pool_with_indices::<T>(call, window, wanted[0]);
    }
    by_plane::<T>(call, window, |window, x, out| {
        let fold = Fold { identity: T::LOWEST, load: |x: T| x, merge: ops::maximum::<T> };
        window.combine(x, &fold, |row, values| {
            out[row * values.len()..][..values.len()].copy_from_slice(values);
        });
    })
}

fn max_pool_with_indices<T: Element + Number>(
    call: &CpuCall<'_>,
    window: Window,
    with_values: bool,
) -> Computed {
    let [x] = call.dense()?;
    let (planes, input, output) = (plane_count(x.shape()), window.input_len(), window.output_len());
    let is_column_major = int_or(call.attrs, "storage_order", 0)? == 1;
    let outputs = (
        allocate(call, T::DTYPE, call.result(0)?.shape.dims())?,
        allocate(call, DType::I64, call.result(0)?.shape.dims())?,
    );
    let (x, cost) = (x.read_owned::<T>(&ME)?, output.saturating_mul(window.tap_count()).saturating_mul(2));
    let units = (planes, [output; 2], cost);
    let result =
        compute_two(call, &ME, outputs, units, move |planes, values: &mut [T], indices: &mut [i64]| {
            let outputs = values.chunks_exact_mut(output.max(1)).zip(indices.chunks_exact_mut(output.max(1)));
            for (plane, (values, indices)) in planes.zip(outputs) {
                max_plane(&window, &x[plane * input..][..input], values, indices);
                for index in indices {
                    let place = *index as usize;
                    let place = if is_column_major { column_major(&window, place) } else { place };
                    *index = (plane * input + place) as i64;
                }
            }
            Ok(())
        })?;
    Ok(if with_values { result } else { second(result) })
}

/// The greatest elements of a plane under a window, and where in the plane the first of each is.
fn max_plane<T: Number>(window: &Window, x: &[T], values: &mut [T], indices: &mut [i64]) {
    indices.fill(-1);
    values.fill(T::LOWEST);
    window.rows(|row| {
        let outputs = values[row.output..].iter_mut().zip(&mut indices[row.output..]);
        for (i, (value, index)) in outputs.take(row.count).enumerate() {
            let place = row.input + i * window.row_step();
            let candidate = x[place];
            if *index < 0 || candidate > *value || (candidate.is_nan() && !value.is_nan()) {
                (*value, *index) = (candidate, place as i64);
            }
        }
    });
    // Windows that lie in the padding alone.
    indices.iter_mut().filter(|index| **index < 0).for_each(|index| *index = 0);
}

/// The place of an element if the first spatial dimension is the one whose neighbours are adjacent.
fn column_major(window: &Window, place: usize) -> usize {
    let extents = window.axes.map(|axis| axis.input);
    let (z, y, x) = (place / (extents[1] * extents[2]), place / extents[2] % extents[1], place % extents[2]);
    z + extents[0] * (y + extents[1] * x)
}

fn average_pool<T: Element + Float>(call: &CpuCall<'_>, window: Window) -> Computed {
    let includes_padding = flag(call.attrs, "count_include_pad", false)?;
    by_plane::<T>(call, window, move |window, x, out| {
        let counts: [Vec<usize>; MAX_SPATIAL] = window
            .axes
            .map(|axis| (0..axis.output).map(|output| axis.taps(output, includes_padding).len()).collect());
        let [depths, heights, widths] = &counts;
        let fold = Fold { identity: <T::Acc>::default(), load: |x: T| x.to_acc(), merge: ops::add::<T::Acc> };
        // Those of a row. Most rows have the same as the one before.
        let (mut divisors, mut counted) = (Vec::new(), None);
        window.combine(x, &fold, |row, sums| {
            let count = depths[row / heights.len()] * heights[row % heights.len()];
            if counted != Some(count) {
                divisors.clear();
                divisors.extend(widths.iter().map(|width| <T::Acc as Number>::from_count(count * width)));
                counted = Some(count);
            }
            let out = out[row * sums.len()..].iter_mut().zip(sums);
            for ((out, &sum), &divisor) in out.zip(&divisors) {
                *out = T::from_acc(sum.over(divisor));
            }
        });
    })
}

fn lp_pool<T: Element + Float>(call: &CpuCall<'_>, window: Window) -> Computed {
    let power = float_attr_or_int(call.attrs, "p", 2.0)?;
    by_plane::<T>(call, window, move |window, x, out| {
        let fold = Fold { identity: 0.0, load: |x: T| powered(x.to_f64(), power), merge: ops::add::<f64> };
        window.combine(x, &fold, |row, sums| {
            let out = out[row * sums.len()..].iter_mut();
            out.zip(sums).for_each(|(out, &sum)| *out = T::from_f64(root(sum, power)));
        });
    })
}

/// A number that newer models give as an integer.
pub(in crate::ops) fn float_attr_or_int(
    attrs: &OpAttrs,
    name: &str,
    default: f64,
) -> Result<f64, Diagnostic> {
    match attrs.get(name) {
        Some(crate::AttrValue::Scalar(DType::I32 | DType::I64, _)) => Ok(int_or(attrs, name, 0)? as f64),
        _ => Ok(float_attr(attrs, name)?.unwrap_or(default)),
    }
}

/// The absolute value to a power.
pub(super) fn powered(x: f64, power: f64) -> f64 {
    if power == 2.0 { x * x } else { x.abs().powf(power) }
}

/// The root of a sum of powers.
pub(super) fn root(sum: f64, power: f64) -> f64 {
    if power == 2.0 { sum.sqrt() } else { sum.powf(1.0 / power) }
}

const MAX: [AttrSpec; 8] = [
    attr::string_or("auto_pad", "NOTSET"),
    attr::int_or("ceil_mode", 0),
    attr::ints_or_each("dilations", 1),
    attr::ints("kernel_shape"),
    attr::ints_or_each("pads", 0),
    attr::int_or("storage_order", 0),
    attr::ints_or_each("strides", 1),
    RESULTS,
];

const AVERAGE: [AttrSpec; 7] = [
    attr::string_or("auto_pad", "NOTSET"),
    attr::int_or("ceil_mode", 0),
    attr::int_or("count_include_pad", 0),
    attr::ints_or_each("dilations", 1),
    attr::ints("kernel_shape"),
    attr::ints_or_each("pads", 0),
    attr::ints_or_each("strides", 1),
];

const LP: [AttrSpec; 7] = [
    attr::string_or("auto_pad", "NOTSET"),
    attr::int_or("ceil_mode", 0),
    attr::ints_or_each("dilations", 1),
    attr::ints("kernel_shape"),
    attr::int_or("p", 2),
    attr::ints_or_each("pads", 0),
    attr::ints_or_each("strides", 1),
];

/// The types of which ONNX has greatest elements.
const COMPARED: &[DType] = &[DType::I8, DType::UI8, DType::F16, DType::BF16, DType::F32, DType::F64];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.MaxPool").types(COMPARED).attrs(MAX).metadata(max_metadata).cpu(|call| {
        let [x] = call.dense()?;
        let window = window(call.attrs, x.shape())?;
        with_type!(x.dtype(), "onnx.MaxPool", |T| max_pool::<T>(&call, window),
            I8 i8, UI8 u8, F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32, F64 f64)
    });
    ops.add("onnx.AveragePool").types(types::FLOATS).attrs(AVERAGE).metadata(metadata).cpu(|call| {
        let [x] = call.dense()?;
        let window = window(call.attrs, x.shape())?;
        with_float!(x.dtype(), "onnx.AveragePool", |T| average_pool::<T>(&call, window))
    });
    ops.add("onnx.LpPool").types(types::FLOATS).attrs(LP).metadata(metadata).cpu(|call| {
        let [x] = call.dense()?;
        let window = window(call.attrs, x.shape())?;
        with_float!(x.dtype(), "onnx.LpPool", |T| lp_pool::<T>(&call, window))
    });
}
