//! `onnx.Resize`: nearest, linear and cubic interpolation along any dimensions.
//!
//! Interpolation is separable, so that it is done along one dimension after the other, each output
//! coordinate being a sum of weighted input elements.

mod coordinates;

use std::borrow::Cow;

use tfrt_host::{DType, Diagnostic};
use tfrt_math::Float;
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorShape};

pub(in crate::ops) use self::coordinates::Taps;
use self::coordinates::{Axis, Interpolation, Transformation, pairs};
use super::arguments::{OPERANDS, dense, extents_of, formal, ints_attr, text_or, unknown};
use super::parallel::for_units;
use crate::ops::moves::{Axis as Steps, Moves};
use crate::ops::support::{
    Computed, allocate, axis_of, float_attr, integers, invalid, product, room_for, shape_of, values,
    with_type,
};
use crate::ops::types;
use crate::{AttrSpec, CpuCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx.Resize");

/// Numbers of a small tensor of floating-point numbers.
pub(super) fn floats(tensor: &HostTensor, name: &str) -> Result<Vec<f64>, Diagnostic> {
    match tensor.dtype() {
        DType::F32 => Ok(values::<f32>(tensor)?.iter().map(|&x| x.into()).collect()),
        DType::F64 => Ok(values::<f64>(tensor)?.to_vec()),
        DType::F16 => Ok(values::<tfrt_tensor::f16>(tensor)?.iter().map(|x| x.to_f64()).collect()),
        DType::BF16 => Ok(values::<tfrt_tensor::bf16>(tensor)?.iter().map(|x| x.to_f64()).collect()),
        other => Err(invalid(format!("{name} must have floating-point elements, got {other}"))),
    }
}

/// The axes that the other inputs speak of.
fn axes(attrs: &OpAttrs, rank: usize) -> Result<Vec<usize>, Diagnostic> {
    match ints_attr(attrs, "axes")? {
        Some(axes) => axes.iter().map(|&axis| axis_of(axis, rank, "axes")).collect(),
        None => Ok((0..rank).collect()),
    }
}

/// A tensor whose elements are not to be ignored.
fn given(tensor: Option<&HostTensor>) -> Result<Option<&HostTensor>, Diagnostic> {
    match tensor {
        Some(tensor) if tensor.shape().num_elements()? > 0 => Ok(Some(tensor)),
        _ => Ok(None),
    }
}

/// An extent times a scale, rounded down. The product is one of `f32`, as in ONNX's shape inference:
/// `10 * 0.7` is 7 there, and less in `f64`. Extents that `f32` cannot hold are exact.
fn scaled(extent: usize, scale: f64) -> f64 {
    if extent < 1 << f32::MANTISSA_DIGITS {
        f64::from((extent as f32 * scale as f32).floor())
    } else {
        (extent as f64 * scale).floor()
    }
}

/// Scales and output extents of all dimensions.
fn extents(
    attrs: &OpAttrs,
    dims: &[usize],
    axes: &[usize],
    scales: Option<&HostTensor>,
    sizes: Option<&HostTensor>,
) -> Result<Vec<(f64, usize)>, Diagnostic> {
    let mut extents: Vec<(f64, usize)> = dims.iter().map(|&dim| (1.0, dim)).collect();
    let check = |count: usize, name: &str| match count == axes.len() {
        true => Ok(()),
        false => Err(invalid(format!("{name} must have {} numbers, got {count}", axes.len()))),
    };
    let too_large = || invalid("the resized tensor is too large");
    match (scales, sizes) {
        (Some(scales), None) => {
            let scales = floats(scales, "scales")?;
            check(scales.len(), "scales")?;
            for (&axis, &scale) in axes.iter().zip(&scales) {
                let output = scaled(dims[axis], scale);
                if !(scale > 0.0 && output < MAX_EXTENT) {
                    return Err(too_large());
                }
                extents[axis] = (scale, output as usize);
            }
        }
        (None, Some(sizes)) => {
            let sizes = extents_of(&integers(sizes, "sizes")?)?;
            check(sizes.len(), "sizes")?;
            let scale = |(&axis, &size): (&usize, &usize)| size as f64 / dims[axis].max(1) as f64;
            let scales = axes.iter().zip(&sizes).map(scale);
            let common = match text_or(attrs, "keep_aspect_ratio_policy", "stretch")? {
                "stretch" => None,
                "not_larger" => scales.clone().reduce(f64::min),
                "not_smaller" => scales.clone().reduce(f64::max),
                other => return Err(unknown("keep_aspect_ratio_policy", other)),
            };
            for ((&axis, &size), scale) in axes.iter().zip(&sizes).zip(scales) {
                let output = common.map_or(size as f64, |common| (common * dims[axis] as f64 + 0.5).floor());
                if output >= MAX_EXTENT {
                    return Err(too_large());
                }
                extents[axis] = (common.unwrap_or(scale), output as usize);
            }
        }
        _ => return Err(invalid("either 'scales' or 'sizes' must be given")),
    }
    Ok(extents)
}

/// Beyond this no extent fits.
const MAX_EXTENT: f64 = (1u64 << 48) as f64;

/// What a call resizes.
pub(in crate::ops) struct Resizing {
    /// The shape of the result.
    pub(in crate::ops) shape: TensorShape,
    /// What each coordinate along each dimension is made of; nothing if the result is empty.
    pub(in crate::ops) plans: Vec<Vec<Taps>>,
    /// The value outside of the region to resize.
    pub(in crate::ops) outside: f64,
    /// Whether each element of the result is one of the argument.
    pub(in crate::ops) only_moves: bool,
}

impl Resizing {
    /// Reads the attributes and the inputs besides the tensor, whose shape is `x`: the region, the
    /// scales and the sizes.
    pub(in crate::ops) fn of(
        attrs: &OpAttrs,
        x: &TensorShape,
        [roi, scales, sizes]: [Option<&HostTensor>; 3],
    ) -> Result<Self, Diagnostic> {
        let dims = x.dims();
        let axes = axes(attrs, dims.len())?;
        let extents = extents(attrs, dims, &axes, given(scales)?, given(sizes)?)?;
        let transformation =
            Transformation::named(text_or(attrs, "coordinate_transformation_mode", "half_pixel")?)?;
        let mut regions = vec![[0.0, 1.0]; dims.len()];
        if transformation == Transformation::CropAndResize {
            let roi = floats(roi.ok_or_else(|| invalid("input 'roi' is missing"))?, "roi")?;
            if roi.len() != 2 * axes.len() {
                return Err(invalid(format!("roi must have {} numbers, got {}", 2 * axes.len(), roi.len())));
            }
            axes.iter().enumerate().for_each(|(i, &axis)| regions[axis] = [roi[i], roi[axes.len() + i]]);
        }
        let signed: Vec<i64> = extents.iter().map(|&(_, output)| output as i64).collect();
        let shape = shape_of(&signed)?;
        let mut plans = Vec::new();
        let outside = float_attr(attrs, "extrapolation_value")?.unwrap_or(0.0);
        if shape.num_elements()? == 0 {
            return Ok(Self { shape, plans, outside, only_moves: true });
        }
        if x.num_elements()? == 0 {
            return Err(invalid(format!("a tensor of shape {x} has no elements to resize")));
        }
        let interpolation = Interpolation::of(attrs)?;
        for ((&input, &(scale, output)), &region) in dims.iter().zip(&extents).zip(&regions) {
            let axis = Axis { input, output, scale, region };
            plans.push(axis.taps(transformation, interpolation)?);
        }
        let extrapolates = plans.iter().any(|plan| plan.iter().any(|taps| taps.weights.is_empty()));
        Ok(Self { shape, plans, outside, only_moves: interpolation.is_nearest() && !extrapolates })
    }
}

fn resize(call: &CpuCall<'_>) -> Computed {
    let [x, roi, scales, sizes] = formal(call.arguments, call.attrs)?;
    let x = dense(x, "X")?;
    let dims = x.shape().dims();
    let Resizing { shape, plans, outside, only_moves } =
        Resizing::of(call.attrs, x.shape(), [roi, scales, sizes])?;
    if shape.num_elements()? == 0 {
        return Ok(allocate(call, x.dtype(), shape.dims())?.into());
    }
    if only_moves {
        let places = plans.iter().zip(dims).map(|(plan, &input)| match is_identity(plan, input) {
            true => Steps::whole(input),
            false => Steps::Table(plan.iter().map(Taps::first).collect()),
        });
        let moves = Moves::new(dims, places.collect());
        return moves.apply(call, &HostTensor::from(x.clone()), shape.dims());
    }
    with_type!(x.dtype(), "onnx.Resize", |T| interpolate::<T>(call, x, &plans, shape.dims(), outside),
        I8 i8, I16 i16, I32 i32, I64 i64, UI8 u8, UI16 u16, UI32 u32, UI64 u64,
        F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32, F64 f64)
}

/// An element type that is interpolated in another one.
trait Interpolated: Element {
    type Work: Float + bytemuck::Pod;
    fn widen(self) -> Self::Work;
    fn narrow(sum: Self::Work) -> Self;
    /// Elements as those of the other type, if it is the same.
    fn as_work(_: &[Self]) -> Option<&[Self::Work]> {
        None
    }
    /// Elements as those of the other type, if it is the same.
    fn as_work_mut(_: &mut [Self]) -> Option<&mut [Self::Work]> {
        None
    }
}

macro_rules! interpolated_in_itself {
    ($($t:ty)*) => {$(
        impl Interpolated for $t {
            type Work = Self;
            fn widen(self) -> Self { self }
            fn narrow(sum: Self) -> Self { sum }
            fn as_work(elements: &[Self]) -> Option<&[Self]> { Some(elements) }
            fn as_work_mut(elements: &mut [Self]) -> Option<&mut [Self]> { Some(elements) }
        }
    )*};
}

interpolated_in_itself!(f32 f64);

macro_rules! interpolated {
    ($($t:ty => $work:ty, |$x:ident| $widen:expr, |$y:ident| $narrow:expr;)*) => {$(
        impl Interpolated for $t {
            type Work = $work;
            fn widen(self) -> $work { let $x = self; $widen }
            fn narrow($y: $work) -> Self { $narrow }
        }
    )*};
}

interpolated! {
    tfrt_tensor::f16 => f32, |x| x.to_f32(), |y| Self::from_f32(y);
    tfrt_tensor::bf16 => f32, |x| x.to_f32(), |y| Self::from_f32(y);
    i8 => f32, |x| x.into(), |y| y as Self;
    u8 => f32, |x| x.into(), |y| y as Self;
    i16 => f32, |x| x.into(), |y| y as Self;
    u16 => f32, |x| x.into(), |y| y as Self;
    i32 => f64, |x| x.into(), |y| y as Self;
    u32 => f64, |x| x.into(), |y| y as Self;
    i64 => f64, |x| x as f64, |y| y as Self;
    u64 => f64, |x| x as f64, |y| y as Self;
}

/// Returns the dimensions to interpolate along, those that shrink most first.
pub(in crate::ops) fn order_of(plans: &[Vec<Taps>], extents: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> =
        (0..plans.len()).filter(|&axis| !is_identity(&plans[axis], extents[axis])).collect();
    order.sort_by(|&a, &b| {
        let ratio = |axis: usize| plans[axis].len() as f64 / extents[axis] as f64;
        ratio(a).total_cmp(&ratio(b))
    });
    order
}

fn interpolate<T: Interpolated>(
    call: &CpuCall<'_>,
    x: &DenseHostTensor,
    plans: &[Vec<Taps>],
    dims: &[usize],
    outside: f64,
) -> Computed {
    let mut extents = x.shape().dims().to_vec();
    let elements = x.read::<T>(&ME)?;
    let mut values = match T::as_work(&elements) {
        Some(values) => Cow::Borrowed(values),
        None => {
            let mut wide = room_for(elements.len())?;
            wide.extend(elements.iter().map(|&x| x.widen()));
            Cow::Owned(wide)
        }
    };
    let order = order_of(plans, &extents);
    let mut out = allocate(call, T::DTYPE, dims)?;
    let results = out.elements_mut::<T>()?;
    for (number, &axis) in order.iter().enumerate() {
        let (outer, inner) = (product(&extents[..axis]), product(&extents[axis + 1..]));
        let (input, plan) = (extents[axis], &plans[axis]);
        let step = Step { plan, pairs: pairs(plan), input, inner, outside: T::Work::from_f64(outside) };
        extents[axis] = plan.len();
        if number + 1 == order.len()
            && let Some(results) = T::as_work_mut(results)
        {
            step.run(call, &values, results);
            return Ok(out.into());
        }
        let count = outer.checked_mul(plan.len()).and_then(|count| count.checked_mul(inner));
        let mut next = room_for(count.ok_or_else(|| invalid("the resized tensor is too large"))?)?;
        next.resize(outer * plan.len() * inner, T::Work::default());
        step.run(call, &values, &mut next);
        values = Cow::Owned(next);
    }
    results.iter_mut().zip(&*values).for_each(|(out, &value)| *out = T::narrow(value));
    Ok(out.into())
}

/// The interpolation along one dimension.
struct Step<'a, W> {
    plan: &'a [Taps],
    /// The plan, if each output coordinate is made of two elements.
    pairs: Option<Vec<[(usize, W); 2]>>,
    input: usize,
    /// How many elements the dimensions after this one have.
    inner: usize,
    outside: W,
}

impl<W: Float> Step<'_, W> {
    fn run(&self, call: &CpuCall<'_>, values: &[W], out: &mut [W]) {
        let (from, to) = (self.input * self.inner, self.plan.len() * self.inner);
        for_units(call.cx, out, (to, to * 4), &|unit, out| {
            let x = &values[unit * from..][..from];
            match &self.pairs {
                Some(pairs) if self.inner == 1 => {
                    for (out, &[(a, v), (b, w)]) in out.iter_mut().zip(pairs) {
                        *out = v.times(x[a]).plus(w.times(x[b]));
                    }
                }
                _ if self.inner == 1 => {
                    out.iter_mut().zip(self.plan).for_each(|(out, taps)| *out = taps.sum(x, self.outside));
                }
                _ => {
                    let rows = out.chunks_exact_mut(self.inner).zip(self.plan);
                    rows.for_each(|(out, taps)| taps.sum_rows(x, out, self.outside));
                }
            }
        });
    }
}

/// Whether a dimension stays as it is.
fn is_identity(plan: &[Taps], input: usize) -> bool {
    plan.len() == input && plan.iter().enumerate().all(|(i, taps)| taps.is_only(i))
}

const ATTRIBUTES: [AttrSpec; 10] = [
    attr::int_or("antialias", 0),
    attr::ints("axes").optional(),
    attr::string_or("coordinate_transformation_mode", "half_pixel"),
    attr::float_or("cubic_coeff_a", -0.75),
    attr::int_or("exclude_outside", 0),
    attr::float_or("extrapolation_value", 0.0),
    attr::string_or("keep_aspect_ratio_policy", "stretch"),
    attr::string_or("mode", "nearest"),
    attr::string_or("nearest_mode", "round_prefer_floor"),
    OPERANDS,
];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.Resize").types(types::NUMBERS).attrs(ATTRIBUTES).cpu(|call| resize(&call));
}
