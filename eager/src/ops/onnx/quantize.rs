//! `onnx.QuantizeLinear`, `onnx.DequantizeLinear` and `onnx.DynamicQuantizeLinear`, with one scale,
//! one for each position along a dimension, or one for each block.

use std::ops::Range;

use tfrt_host::{DType, Diagnostic};
use tfrt_math::{Float, Scaling, range_with_zero};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, TensorMetadata, TensorShape};

use super::arguments::{
    OPERANDS, check_dims, check_same_type, count_or, dense, formal, int_or, optional_dense, required,
};
use super::two::results;
use crate::ops::support::{
    Computed, Described, allocate, axis_of, compute, invalid, one, product, room_for, with_type,
};
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx quantization");

/// The assignment of scales to elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) struct Blocks {
    /// The extent of the dimension, and the number of elements in those after it.
    pub(in crate::ops) extent: usize,
    pub(in crate::ops) inner: usize,
    /// The number of scales along the dimension, and the number of positions for each of them.
    pub(in crate::ops) count: usize,
    pub(in crate::ops) block: usize,
    /// Whether the dimensions before and after have separate scales.
    pub(in crate::ops) is_blocked: bool,
}

impl Blocks {
    pub(in crate::ops) fn new(
        attrs: &OpAttrs,
        x: &TensorShape,
        scale: &TensorShape,
    ) -> Result<Self, Diagnostic> {
        let unfit = || invalid(format!("scales of shape {scale} do not fit a tensor of shape {x}"));
        let size = count_or(attrs, "block_size", 0)?;
        if size == 0 && scale.num_elements()? == 1 {
            return Ok(Self { extent: 1, inner: 1, count: 1, block: 1, is_blocked: false });
        }
        let dims = x.dims();
        let axis = axis_of(int_or(attrs, "axis", 1)?, dims.len(), "axis")?;
        let (extent, inner) = (dims[axis], product(&dims[axis + 1..]));
        if size == 0 {
            let whole = Self { extent, inner, count: extent, block: 1, is_blocked: false };
            return if scale.dims() == [extent] { Ok(whole) } else { Err(unfit()) };
        }
        let mut expected = dims.to_vec();
        expected[axis] = extent.div_ceil(size);
        if scale.dims() != expected {
            return Err(unfit());
        }
        Ok(Self { extent, inner, count: expected[axis], block: size, is_blocked: true })
    }

    /// Returns the index of an element's scale.
    fn of(&self, element: usize) -> usize {
        let place = element / self.inner % self.extent / self.block;
        if !self.is_blocked {
            return place;
        }
        (element / (self.inner * self.extent) * self.count + place) * self.inner + element % self.inner
    }
}

/// The scales and zeros of a tensor whose elements have them run by run.
struct Runs {
    blocks: Blocks,
    scales: Vec<f32>,
    zeros: Vec<i32>,
}

impl Runs {
    /// Returns those of a tensor that is not cut into blocks.
    fn new(
        blocks: Blocks,
        scales: &DenseHostTensor,
        zeros: Option<&DenseHostTensor>,
    ) -> Result<Self, Diagnostic> {
        let scales = scales.read::<f32>(&ME)?.to_vec();
        let zeros = zeros.map_or_else(|| Ok(vec![0; scales.len()]), integers_of)?;
        Ok(Self { blocks, scales, zeros })
    }

    /// The number of elements in a run.
    fn unit(&self) -> usize {
        match self.blocks {
            Blocks { count: 1, .. } => 1,
            // A run has all scales.
            Blocks { inner: 1, extent, .. } => extent,
            Blocks { inner, .. } => inner,
        }
    }

    /// Calls `f` for each of the runs `units`, which `x` and `out` hold, or for all of them at once.
    fn each<A, B>(
        &self,
        units: Range<usize>,
        (x, out): (&[A], &mut [B]),
        f: impl Fn(Scaling<'_>, &[A], &mut [B]),
    ) {
        let all = Scaling { scales: &self.scales, zeros: &self.zeros };
        let unit = self.unit();
        if self.blocks.count == 1 {
            return f(all, x, out);
        }
        for (index, (x, out)) in units.zip(x.chunks_exact(unit).zip(out.chunks_exact_mut(unit))) {
            if self.blocks.inner == 1 {
                f(all, x, out);
            } else {
                let place = index % self.blocks.extent;
                let own = Scaling { scales: &self.scales[place..=place], zeros: &self.zeros[place..=place] };
                f(own, x, out);
            }
        }
    }
}

/// A type of quantized numbers.
trait Quantized: Element {
    const LEAST: f64;
    const GREATEST: f64;
    /// Returns the number as an integer.
    fn integer(self) -> i32;
    /// Converts an integral number within the range.
    fn from_whole(number: f64) -> Self;
}

macro_rules! quantized {
    ($($t:ty),*) => {$(
        impl Quantized for $t {
            const LEAST: f64 = <$t>::MIN as f64;
            const GREATEST: f64 = <$t>::MAX as f64;
            fn integer(self) -> i32 { self as i32 }
            fn from_whole(number: f64) -> Self { number as Self }
        }
    )*};
}

quantized!(i8, u8, i16, u16, i32);

/// Clamps a number to a type's range.
pub(super) fn saturated(number: f64, dtype: DType) -> f64 {
    let (least, greatest) = match dtype {
        DType::I8 => (i8::LEAST, i8::GREATEST),
        DType::UI8 => (u8::LEAST, u8::GREATEST),
        DType::I16 => (i16::LEAST, i16::GREATEST),
        DType::UI16 => (u16::LEAST, u16::GREATEST),
        _ => (i32::LEAST, i32::GREATEST),
    };
    if number.is_nan() { 0.0 } else { number.clamp(least, greatest) }
}

/// Returns the integers of a tensor of quantized numbers.
pub(super) fn integers_of(tensor: &DenseHostTensor) -> Result<Vec<i32>, Diagnostic> {
    let mut integers = room_for(tensor.num_elements())?;
    with_type!(tensor.dtype(), "onnx quantization", |T| {
        integers.extend(tensor.read::<T>(&ME)?.iter().map(|&x| x.integer()));
        Ok::<_, Diagnostic>(())
    }, I8 i8, UI8 u8, I16 i16, UI16 u16, I32 i32)?;
    Ok(integers)
}

/// Returns the numbers of a floating-point tensor.
pub(super) fn floats_of(tensor: &DenseHostTensor) -> Result<Vec<f64>, Diagnostic> {
    let mut floats = room_for(tensor.num_elements())?;
    with_type!(tensor.dtype(), "onnx quantization", |T| {
        floats.extend(tensor.read::<T>(&ME)?.iter().map(|x| x.to_f64()));
        Ok::<_, Diagnostic>(())
    }, F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32, F64 f64)?;
    Ok(floats)
}

/// Returns a tensor of quantized numbers.
pub(super) fn quantized_tensor(
    call: &CpuCall<'_>,
    dtype: DType,
    dims: &[usize],
    numbers: impl Iterator<Item = f64>,
) -> Result<DenseHostTensor, Diagnostic> {
    let mut out = allocate(call, dtype, dims)?;
    with_type!(dtype, "onnx quantization", |T| {
        out.elements_mut::<T>()?.iter_mut().zip(numbers).for_each(|(out, number)| {
            *out = T::from_whole(saturated(number, dtype));
        });
        Ok::<_, Diagnostic>(())
    }, I8 i8, UI8 u8, I16 i16, UI16 u16, I32 i32)?;
    Ok(out)
}

/// Checks the zero points of a tensor of scales.
fn check_zeros(scale: &TensorMetadata, zeros: Option<&TensorMetadata>) -> Result<(), Diagnostic> {
    let Some(zeros) = zeros else { return Ok(()) };
    if scale.shape.num_elements()? == 1 && zeros.shape.num_elements()? == 1 {
        return Ok(());
    }
    check_dims("zero_point", zeros.shape.dims(), scale.shape.dims())
}

fn quantize_metadata(call: MetadataCall<'_>) -> Described {
    let inputs: [Option<&TensorMetadata>; 3] = formal(call.arguments, call.attrs)?;
    let [x, scale, zeros] = inputs;
    let (x, scale) = (required(x, "x")?, required(scale, "y_scale")?);
    Blocks::new(call.attrs, &x.shape, &scale.shape)?;
    check_zeros(scale, zeros)?;
    let wanted = call.attrs.optional::<DType>("output_dtype")?;
    let dtype = match (zeros, wanted) {
        (Some(zeros), Some(wanted)) if zeros.dtype != wanted => {
            return Err(invalid(format!(
                "output_dtype is {wanted}, but the zero points are {}",
                zeros.dtype
            )));
        }
        (Some(zeros), _) => zeros.dtype,
        (None, wanted) => wanted.unwrap_or(DType::UI8),
    };
    if !matches!(dtype, DType::I8 | DType::UI8 | DType::I16 | DType::UI16) {
        return Err(invalid(format!("onnx.QuantizeLinear does not give tensors of {dtype}")));
    }
    one(TensorMetadata::new(dtype, x.shape.clone()))
}

fn quantize<S: Element + Float, Q: Quantized>(call: &CpuCall<'_>) -> Computed {
    let [x, scale, zeros] = formal(call.arguments, call.attrs)?;
    let (x, scale) = (dense(x, "x")?, dense(scale, "y_scale")?);
    let blocks = Blocks::new(call.attrs, x.shape(), scale.shape())?;
    let zeros = optional_dense(zeros)?.map(integers_of).transpose()?;
    let (out, count) = (call.allocate_unset(0)?, x.num_elements());
    let x: Vec<S> = match x.dtype() {
        DType::I32 => x.read::<i32>(&ME)?.iter().map(|&x| S::from_f64(x.into())).collect(),
        dtype if dtype == S::DTYPE => x.read::<S>(&ME)?.to_vec(),
        _ => floats_of(x)?.into_iter().map(S::from_f64).collect(),
    };
    let scale = scale.read_owned::<S>(&ME)?;
    compute(call, &ME, out, (count, 1, 4), move |range, out: &mut [Q]| {
        for (element, out) in range.zip(out) {
            let place = blocks.of(element);
            let quotient = x[element].over(scale[place]).to_f64().round_ties_even();
            let zero = zeros.as_ref().map_or(0, |zeros| zeros[place]);
            let number = quotient + f64::from(zero);
            *out = Q::from_whole(if number.is_nan() { 0.0 } else { number.clamp(Q::LEAST, Q::GREATEST) });
        }
        Ok(())
    })
}

/// Computes each run of the elements of `x` by `f`.
fn in_runs<A: Element, B: Element>(
    call: &CpuCall<'_>,
    x: &DenseHostTensor,
    runs: Runs,
    f: fn(Scaling<'_>, &[A], &mut [B]),
) -> Computed {
    let (out, unit, x) = (call.allocate_unset(0)?, runs.unit(), x.read_owned::<A>(&ME)?);
    let units = x.len().checked_div(unit).unwrap_or(0);
    compute(call, &ME, out, (units, unit, unit), move |units, out: &mut [B]| {
        let x = &x[units.start * unit..units.end * unit];
        runs.each(units, (x, out), f);
        Ok(())
    })
}

fn dequantize_metadata(call: MetadataCall<'_>) -> Described {
    let inputs: [Option<&TensorMetadata>; 3] = formal(call.arguments, call.attrs)?;
    let [x, scale, zeros] = inputs;
    let (x, scale) = (required(x, "x")?, required(scale, "x_scale")?);
    Blocks::new(call.attrs, &x.shape, &scale.shape)?;
    check_zeros(scale, zeros)?;
    if let Some(zeros) = zeros {
        check_same_type(("x", x), ("x_zero_point", zeros))?;
    }
    let dtype = call.attrs.optional::<DType>("output_dtype")?.unwrap_or(scale.dtype);
    one(TensorMetadata::new(dtype, x.shape.clone()))
}

fn dequantize<O: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let [x, scale, zeros] = formal(call.arguments, call.attrs)?;
    let (x, scale) = (dense(x, "x")?, dense(scale, "x_scale")?);
    let blocks = Blocks::new(call.attrs, x.shape(), scale.shape())?;
    let zeros = optional_dense(zeros)?.map(integers_of).transpose()?;
    let (out, count) = (call.allocate_unset(0)?, x.num_elements());
    let (x, scale) = (integers_of(x)?, floats_of(scale)?);
    compute(call, &ME, out, (count, 1, 4), move |range, out: &mut [O]| {
        for (element, out) in range.zip(out) {
            let place = blocks.of(element);
            let zero = zeros.as_ref().map_or(0, |zeros| zeros[place]);
            *out = O::from_f64((f64::from(x[element]) - f64::from(zero)) * scale[place]);
        }
        Ok(())
    })
}

fn dynamic_metadata(call: MetadataCall<'_>) -> Described {
    let [x] = call.take()?;
    let scalar = |dtype| TensorMetadata::new(dtype, TensorShape::scalar());
    let y = TensorMetadata::new(DType::UI8, x.shape.clone());
    Ok([y, scalar(DType::F32), scalar(DType::UI8)].into_iter().collect())
}

fn dynamic(call: &CpuCall<'_>) -> Computed {
    let [x] = call.dense()?;
    let x = x.read::<f32>(&ME)?;
    let (least, greatest) = range_with_zero(&x);
    let range = greatest - least;
    let scale = if range == 0.0 { 1.0 / 255.0 } else { range / 255.0 };
    let zero = (0.0 - least / scale).clamp(0.0, 255.0).round_ties_even();
    let y = allocate(call, DType::UI8, call.result(0)?.shape.dims())?;
    let scaling = Scaling { scales: &[scale], zeros: &[zero as i32] };
    <u8 as tfrt_math::Quantized>::quantize(scaling, &x, &mut y.write::<u8>(&ME)?);
    let allocator = call.cx.host().allocator();
    let scale = DenseHostTensor::from_slice(TensorShape::scalar(), &[scale], allocator)?;
    let zero = DenseHostTensor::from_slice(TensorShape::scalar(), &[zero as u8], allocator)?;
    Ok(results([y, scale, zero]))
}

fn quantize_any(call: &CpuCall<'_>) -> Computed {
    let [x, scale, zeros] = formal(call.arguments, call.attrs)?;
    let (x, scale) = (dense(x, "x")?, dense(scale, "y_scale")?);
    let (blocks, dtype) = (Blocks::new(call.attrs, x.shape(), scale.shape())?, call.result(0)?.dtype);
    if x.dtype() == DType::F32 && scale.dtype() == DType::F32 && !blocks.is_blocked {
        let runs = Runs::new(blocks, scale, optional_dense(zeros)?)?;
        return with_type!(dtype, "onnx.QuantizeLinear", |Q| in_runs(call, x, runs, <Q as tfrt_math::Quantized>::quantize),
            I8 i8, UI8 u8, I16 i16, UI16 u16);
    }
    with_type!(scale.dtype(), "onnx.QuantizeLinear", |S| with_type!(
        dtype, "onnx.QuantizeLinear", |Q| quantize::<S, Q>(call),
        I8 i8, UI8 u8, I16 i16, UI16 u16
    ), F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32)
}

fn dequantize_any(call: &CpuCall<'_>) -> Computed {
    let [x, scale, zeros] = formal(call.arguments, call.attrs)?;
    let (x, scale) = (dense(x, "x")?, dense(scale, "x_scale")?);
    let (blocks, dtype) = (Blocks::new(call.attrs, x.shape(), scale.shape())?, call.result(0)?.dtype);
    let is_whole = x.dtype() == DType::I32;
    if dtype == DType::F32 && scale.dtype() == DType::F32 && !blocks.is_blocked && !is_whole {
        let runs = Runs::new(blocks, scale, optional_dense(zeros)?)?;
        return with_type!(x.dtype(), "onnx.DequantizeLinear", |Q| in_runs(call, x, runs, <Q as tfrt_math::Quantized>::dequantize),
            I8 i8, UI8 u8, I16 i16, UI16 u16);
    }
    with_type!(dtype, "onnx.DequantizeLinear", |O| dequantize::<O>(call),
        F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32)
}

const QUANTIZE: [AttrSpec; 6] = [
    attr::int_or("axis", 1),
    attr::int_or("block_size", 0),
    attr::dtype("output_dtype").optional(),
    attr::int_or("precision", 0),
    attr::int_or("saturate", 1),
    OPERANDS,
];

const DEQUANTIZE: [AttrSpec; 4] = [
    attr::int_or("axis", 1),
    attr::int_or("block_size", 0),
    attr::dtype("output_dtype").optional(),
    OPERANDS,
];

pub(super) fn register(ops: &mut OpRegistry) {
    const QUANTIZED: &[DType] =
        &[DType::I8, DType::I16, DType::I32, DType::UI8, DType::UI16, DType::F16, DType::BF16, DType::F32];
    ops.add("onnx.QuantizeLinear")
        .types(QUANTIZED)
        .attrs(QUANTIZE)
        .metadata(quantize_metadata)
        .cpu(|call| quantize_any(&call));
    ops.add("onnx.DequantizeLinear")
        .types(QUANTIZED)
        .attrs(DEQUANTIZE)
        .metadata(dequantize_metadata)
        .cpu(|call| dequantize_any(&call));
    ops.add("onnx.DynamicQuantizeLinear")
        .types(&[DType::UI8, DType::F32])
        .metadata(dynamic_metadata)
        .cpu(|call| dynamic(&call));
}
