//! What the compiler makes of sums, products and means of dequantized tensors that are quantized
//! again.
//!
//! `tfrt.QuantizedAdd` and `tfrt.QuantizedMul` take `a`, `a_scale`, `a_zero`, `b`, `b_scale`, `b_zero`,
//! `y_scale` and `y_zero`: two tensors of bytes, and the scales and the integers that stand for zero
//! of these and of the result, one number each. The result has the shape of `a`. Of `b` some adjacent
//! dimensions may have an extent of 1, and leading ones may be missing.
//!
//! `tfrt.QuantizedMean` takes images `x`, `NHWC`, and `x_scale`, `x_zero`, `y_scale` and `y_zero`. It
//! gives the means over all pixels of an image.

use tfrt_host::{DType, Diagnostic};
use tfrt_math::{ByteElements, ByteOperation, ByteScale, Bytes, mean_of_bytes};
use tfrt_tensor::{Accessor, DenseHostTensor, TensorMetadata, TensorShape};

use super::onnx::bytes::{Held, zeros_of};
use super::support::{Computed, Described, Output, compute, invalid, one};
use crate::{AttrSpec, CpuCall, MetadataCall, OpRegistry, attr};

static ME: Accessor = Accessor::new("tfrt op of quantized elements");

const TYPES: &[DType] = &[DType::I8, DType::UI8, DType::F32];
/// How many sums of channels take as long as one.
const SIDE_BY_SIDE: usize = 64;
const KEEP_DIMS: AttrSpec = attr::boolean_or("keep_dims", false);

/// Checks the scale and the zero of bytes of a type.
fn check_scale(dtype: DType, [scale, zero]: [&TensorMetadata; 2], name: &str) -> Result<(), Diagnostic> {
    if !matches!(dtype, DType::I8 | DType::UI8) || zero.dtype != dtype || scale.dtype != DType::F32 {
        return Err(invalid(format!(
            "{name} and its zero must be bytes of one type and its scale f32, got {dtype}, {} and {}",
            zero.dtype, scale.dtype
        )));
    }
    for (part, of) in [(scale, "scale"), (zero, "zero")] {
        if part.shape.num_elements()? != 1 {
            return Err(invalid(format!("the {of} of {name} must be one number, got shape {}", part.shape)));
        }
    }
    Ok(())
}

/// How often the elements of `b` repeat: for each of some parts of `a`, and within them.
#[derive(Clone, Copy)]
struct Repeats {
    /// The elements of a part of `a`.
    part: usize,
    /// The elements of `b` that belong to a part.
    own: usize,
}

fn repeats(a: &TensorShape, b: &TensorShape) -> Result<Repeats, Diagnostic> {
    let wrong = || invalid(format!("b must have the shape of a or repeat in it, got shapes {b} and {a}"));
    let (a, b) = (a.dims(), b.dims());
    let missing = a.len().checked_sub(b.len()).ok_or_else(wrong)?;
    let extents: Vec<_> =
        a.iter().enumerate().map(|(at, &a)| (a, if at < missing { 1 } else { b[at - missing] })).collect();
    let differs = |&(a, b): &(usize, usize)| a != b;
    let first = extents.iter().position(differs).unwrap_or(0);
    let end = extents.iter().rposition(differs).map_or(0, |last| last + 1);
    if extents[first..end].iter().any(|&(_, b)| b != 1) {
        return Err(wrong());
    }
    let count = |extents: &[(usize, usize)]| extents.iter().map(|&(a, _)| a).product();
    Ok(Repeats { part: count(&extents[first..]), own: count(&extents[end..]) })
}

fn pair_metadata(call: MetadataCall<'_>) -> Described {
    let [a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero] = call.take()?;
    check_scale(a.dtype, [a_scale, a_zero], "a")?;
    check_scale(b.dtype, [b_scale, b_zero], "b")?;
    check_scale(y_zero.dtype, [y_scale, y_zero], "the result")?;
    repeats(&a.shape, &b.shape)?;
    one(TensorMetadata::new(y_zero.dtype, a.shape.clone()))
}

fn mean_metadata(call: MetadataCall<'_>) -> Described {
    let [x, x_scale, x_zero, y_scale, y_zero] = call.take()?;
    check_scale(x.dtype, [x_scale, x_zero], "x")?;
    check_scale(y_zero.dtype, [y_scale, y_zero], "the result")?;
    let &[batch, height, width, channels] = x.shape.dims() else {
        return Err(invalid(format!("x must have four dimensions, got shape {}", x.shape)));
    };
    if height == 0 || width == 0 {
        return Err(invalid(format!("images must have pixels, got shape {}", x.shape)));
    }
    let shape = match call.attrs.optional(KEEP_DIMS.name)?.unwrap_or(false) {
        true => TensorShape::new(&[batch, 1, 1, channels])?,
        false => TensorShape::new(&[batch, channels])?,
    };
    one(TensorMetadata::new(y_zero.dtype, shape))
}

/// What bytes stand for whose zero has their type.
fn scale_of([scale, zero]: [&DenseHostTensor; 2]) -> Result<ByteScale, Diagnostic> {
    let first = scale.read::<f32>(&ME)?.first().copied();
    Ok(ByteScale {
        scale: first.ok_or_else(|| invalid("a scale is empty"))?,
        zero: zeros_of(Some(zero))?[0],
        is_signed: zero.dtype() == DType::I8,
    })
}

fn combine(call: &CpuCall<'_>, operation: ByteOperation) -> Computed {
    let [a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero] = call.dense()?;
    let [a_scale, b_scale, y_scale] =
        [scale_of([a_scale, a_zero])?, scale_of([b_scale, b_zero])?, scale_of([y_scale, y_zero])?];
    let elements = ByteElements::new(operation, a_scale, b_scale, y_scale);
    let Repeats { part, own } = repeats(a.shape(), b.shape())?;
    let count = a.shape().num_elements()?;
    let (a, b, out) = (Held::new(a)?, Held::new(b)?, call.allocate_unset(0)?);
    compute(call, &ME, Output::Bits(out), (count, 1, 1), move |range, out: &mut [u8]| {
        let mut at = range.start;
        while at < range.end {
            // Parts have as many elements each.
            let (number, within) = (at / part, at % part);
            let end = range.end.min((number + 1) * part);
            let b = b.bytes().part(number * own..(number + 1) * own)?;
            let out = &mut out[at - range.start..end - range.start];
            elements.run(a.bytes().part(at..end)?, (b, within % own.max(1)), out);
            at = end;
        }
        Ok(())
    })
}

fn mean(call: &CpuCall<'_>) -> Computed {
    let [x, x_scale, x_zero, y_scale, y_zero] = call.dense()?;
    let (from, to) = (scale_of([x_scale, x_zero])?, scale_of([y_scale, y_zero])?);
    let &[batch, height, width, channels] = x.shape().dims() else {
        return Err(invalid("x must have four dimensions"));
    };
    let (pixels, x, out) = (height * width, Held::new(x)?, call.allocate_unset(0)?);
    // Channels are added up side by side, so that a block has many of them.
    let cost = pixels.div_ceil(SIDE_BY_SIDE);
    compute(call, &ME, Output::Bits(out), (batch * channels, 1, cost), move |range, out: &mut [u8]| {
        let mut at = range.start;
        while at < range.end {
            let (image, first) = (at / channels, at % channels);
            let end = range.end.min((image + 1) * channels);
            let own: Bytes<'_> =
                x.bytes().part(image * pixels * channels..(image + 1) * pixels * channels)?;
            let out = &mut out[at - range.start..end - range.start];
            mean_of_bytes((own, channels), first..first + (end - at), (from, to), out);
            at = end;
        }
        Ok(())
    })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tfrt.QuantizedAdd")
        .types(TYPES)
        .metadata(pair_metadata)
        .cpu(|call| combine(&call, ByteOperation::Add));
    ops.add("tfrt.QuantizedMul")
        .types(TYPES)
        .metadata(pair_metadata)
        .cpu(|call| combine(&call, ByteOperation::Multiply));
    ops.add("tfrt.QuantizedMean")
        .types(TYPES)
        .attrs([KEEP_DIMS])
        .metadata(mean_metadata)
        .cpu(|call| mean(&call));
}
