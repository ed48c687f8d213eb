//! Numbers that are rounded to a few steps, as networks that were trained for small integers do.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::tensorflow::{
    node::{Imported, Node},
    proto::Attr,
};

pub(super) const OPS: Family = &[
    ("AdjustContrastv2", adjust_contrast),
    ("Dequantize", dequantize),
    ("FakeQuantWithMinMaxArgs", |node| {
        let x = node.input(0)?;
        let (low, high) = (float(node, "min", -6.0)?, float(node, "max", 6.0)?);
        let (low, high) = (node.add_number_like(x, low)?, node.add_number_like(x, high)?);
        fake(node, x, low, high)
    }),
    ("FakeQuantWithMinMaxArgsGradient", fake_gradient),
    ("FakeQuantWithMinMaxVars", fake_between),
    ("FakeQuantWithMinMaxVarsGradient", fake_gradient_between),
    ("FakeQuantWithMinMaxVarsPerChannel", fake_between),
    ("FakeQuantWithMinMaxVarsPerChannelGradient", fake_gradient_between),
    ("QuantizeAndDequantizeV2", quantize_and_back),
    ("QuantizeAndDequantizeV3", quantize_and_back_by_input),
    ("QuantizeAndDequantizeV4", quantize_and_back),
    ("QuantizeAndDequantizeV4Grad", quantize_and_back_gradient),
    ("QuantizeV2", quantize),
];

fn float(node: &Node<'_, '_>, name: &str, default: f64) -> Imported<f64> {
    match node.attr(name) {
        None => Ok(default),
        Some(Attr::F(value)) => Ok(f64::from(*value)),
        Some(_) => Err(format!("attribute '{name}' is not a number").into()),
    }
}

/// A chain of ops of two operands.
pub(super) struct Chain<'n, 'i, 'g>(pub(super) &'n mut Node<'i, 'g>);

impl Chain<'_, '_, '_> {
    pub(super) fn op(&mut self, op: &str, a: ValueId, b: ValueId) -> Imported<ValueId> {
        self.0.op(op, &[a, b], &[])
    }

    pub(super) fn number(&mut self, like: ValueId, value: f64) -> Imported<ValueId> {
        self.0.add_number_like(like, value)
    }

    fn clamped(&mut self, x: ValueId, low: ValueId, high: ValueId) -> Imported<ValueId> {
        let x = self.op("tf.Maximum", x, low)?;
        self.op("tf.Minimum", x, high)
    }

    /// The nearest integer below a half more.
    fn rounded(&mut self, x: ValueId) -> Imported<ValueId> {
        let half = self.number(x, 0.5)?;
        let x = self.op("tf.AddV2", x, half)?;
        self.0.op("tf.Floor", &[x], &[])
    }
}

fn fake_between(node: &mut Node<'_, '_>) -> Imported {
    let [x, low, high] = [node.input(0)?, node.input(1)?, node.input(2)?];
    fake(node, x, low, high)
}

/// The least and the greatest value of the steps that a node rounds to, one of which is zero, and
/// how far they lie apart.
fn steps_between(node: &mut Node<'_, '_>, low: ValueId, high: ValueId) -> Imported<[ValueId; 3]> {
    let bits = node.int("num_bits")?.unwrap_or(8).clamp(2, 16);
    let first = if node.flag("narrow_range")? { 1.0 } else { 0.0 };
    let last = ((1i64 << bits) - 1) as f64;
    let mut chain = Chain(node);
    let (first_step, last_step) = (chain.number(low, first)?, chain.number(low, last)?);
    let count = chain.number(low, last - first)?;
    let span = chain.op("tf.Sub", high, low)?;
    let step = chain.op("tf.RealDiv", span, count)?;
    let offset = chain.op("tf.RealDiv", low, step)?;
    let zero = chain.op("tf.Sub", first_step, offset)?;
    let zero = chain.clamped(zero, first_step, last_step)?;
    let zero = chain.rounded(zero)?;
    let below = chain.op("tf.Sub", first_step, zero)?;
    let low = chain.op("tf.Mul", below, step)?;
    let above = chain.op("tf.Sub", last_step, zero)?;
    let high = chain.op("tf.Mul", above, step)?;
    Ok([low, high, step])
}

/// The nearest of equidistant steps, of which one is zero.
fn fake(node: &mut Node<'_, '_>, x: ValueId, low: ValueId, high: ValueId) -> Imported {
    let [low, high, step] = steps_between(node, low, high)?;
    let mut chain = Chain(node);
    let inside = chain.clamped(x, low, high)?;
    let shifted = chain.op("tf.Sub", inside, low)?;
    let inverse = chain.0.op("tf.Inv", &[step], &[])?;
    let steps = chain.op("tf.Mul", shifted, inverse)?;
    let steps = chain.rounded(steps)?;
    let value = chain.op("tf.Mul", steps, step)?;
    Ok(vec![chain.op("tf.AddV2", value, low)?.into()])
}

/// The gradients where a condition holds, and zero elsewhere.
fn kept(chain: &mut Chain<'_, '_, '_>, gradient: ValueId, holds: ValueId) -> Imported<ValueId> {
    let zero = chain.number(gradient, 0.0)?;
    chain.0.op("tf.SelectV2", &[holds, gradient, zero], &[])
}

/// The gradients of the values within the range.
fn within(
    chain: &mut Chain<'_, '_, '_>,
    gradient: ValueId,
    x: ValueId,
    [low, high]: [ValueId; 2],
) -> Imported<ValueId> {
    let (above, below) = (chain.op("tf.GreaterEqual", x, low)?, chain.op("tf.LessEqual", x, high)?);
    let holds = chain.op("tf.LogicalAnd", above, below)?;
    kept(chain, gradient, holds)
}

fn fake_gradient(node: &mut Node<'_, '_>) -> Imported {
    let (gradient, x) = (node.input(0)?, node.input(1)?);
    let (low, high) = (float(node, "min", -6.0)?, float(node, "max", 6.0)?);
    let (low, high) = (node.add_number_like(x, low)?, node.add_number_like(x, high)?);
    let [low, high, _] = steps_between(node, low, high)?;
    Ok(vec![within(&mut Chain(node), gradient, x, [low, high])?.into()])
}

/// Values outside of the range contribute to the gradient of its end. A range of one number passes
/// all gradients on.
fn fake_gradient_between(node: &mut Node<'_, '_>) -> Imported {
    let [gradient, x, first, last] = [node.input(0)?, node.input(1)?, node.input(2)?, node.input(3)?];
    let is_per_channel = node.proto.op.contains("PerChannel");
    let rank = node.ty(x)?.rank().ok_or("the rank of the input is not known")? as i64;
    let axes: Vec<i64> = (0..rank - i64::from(is_per_channel)).collect();
    let [low, high, _] = steps_between(node, first, last)?;
    let axes = node.builder().add_integers(&axes)?;
    let mut chain = Chain(node);
    let zero = chain.number(first, 0.0)?;
    let (no_first, no_last) = (chain.op("tf.Equal", first, zero)?, chain.op("tf.Equal", last, zero)?);
    let is_one = chain.op("tf.LogicalAnd", no_first, no_last)?;
    let inside = within(&mut chain, gradient, x, [low, high])?;
    let inside = chain.0.op("tf.SelectV2", &[is_one, gradient, inside], &[])?;
    let mut outputs = vec![inside.into()];
    for (op, end) in [("tf.Less", low), ("tf.Greater", high)] {
        let is_outside = chain.op(op, x, end)?;
        let outside = kept(&mut chain, gradient, is_outside)?;
        let sum = chain.0.op("tf.Sum", &[outside, axes], &[("keep_dims", Attribute::Bool(false))])?;
        let none = chain.number(sum, 0.0)?;
        outputs.push(chain.0.op("tf.SelectV2", &[is_one, none, sum], &[])?.into());
    }
    Ok(outputs)
}

/// The ends of the range have no gradient.
fn quantize_and_back_gradient(node: &mut Node<'_, '_>) -> Imported {
    let [gradient, x, low, high] = [node.input(0)?, node.input(1)?, node.input(2)?, node.input(3)?];
    let ends = [along_axis(node, x, low)?, along_axis(node, x, high)?];
    let inside = within(&mut Chain(node), gradient, x, ends)?;
    let mut outputs = vec![inside.into()];
    for end in [low, high] {
        outputs.push(node.op("tf.ZerosLike", &[end], &[])?.into());
    }
    Ok(outputs)
}

/// The axis whose channels have ranges of their own.
fn channel_axis(node: &Node<'_, '_>) -> Imported<Option<usize>> {
    Ok(node.int("axis")?.and_then(|axis| usize::try_from(axis).ok()))
}

/// An end of a range for each channel, in the form in which it is broadcast to the values.
fn along_axis(node: &mut Node<'_, '_>, x: ValueId, end: ValueId) -> Imported<ValueId> {
    let Some(axis) = channel_axis(node)? else { return Ok(end) };
    let rank = node.ty(x)?.rank().ok_or("the rank of the input is not known")?;
    if axis >= rank {
        return Err(format!("axis {axis} is not one of {rank} dimensions").into());
    }
    let mut form = vec![1; rank];
    form[axis] = -1;
    let form = node.builder().add_integers(&form)?;
    node.op("tf.Reshape", &[end, form], &[])
}

/// The least and the greatest value, of each channel if channels have ranges of their own.
fn range_of(node: &mut Node<'_, '_>, x: ValueId) -> Imported<[ValueId; 2]> {
    let (mut values, mut axes) = (x, vec![0]);
    let axis = channel_axis(node)?;
    match axis {
        Some(axis) => {
            let rank = node.ty(x)?.rank().ok_or("the rank of the input is not known")?;
            axes = (0..rank).filter(|&other| other != axis).map(|other| other as i64).collect();
        }
        None => {
            let flat = node.builder().add_integers(&[-1])?;
            values = node.op("tf.Reshape", &[x, flat], &[])?;
        }
    }
    let axes = node.builder().add_integers(&axes)?;
    let keep = [("keep_dims", Attribute::Bool(axis.is_some()))];
    Ok([node.op("tf.Min", &[values, axes], &keep)?, node.op("tf.Max", &[values, axes], &keep)?])
}

/// The number of bits is an input.
fn quantize_and_back_by_input(node: &mut Node<'_, '_>) -> Imported {
    let bits = node.input(3)?;
    let bits = node.integers(bits).and_then(|bits| bits.first().copied());
    rounded_to_bits(node, bits.ok_or("the number of bits must be a constant")?)
}

fn quantize_and_back(node: &mut Node<'_, '_>) -> Imported {
    let bits = node.int("num_bits")?.unwrap_or(8);
    rounded_to_bits(node, bits)
}

/// Rounds to the steps of an integer that cover a range, and back.
fn rounded_to_bits(node: &mut Node<'_, '_>, bits: i64) -> Imported {
    let [x, mut low, mut high] = [node.input(0)?, node.input(1)?, node.input(2)?];
    if channel_axis(node)?.is_some() {
        (low, high) = (along_axis(node, x, low)?, along_axis(node, x, high)?);
    }
    let is_set = |name: &str, default: bool| match node.attr(name) {
        Some(Attr::B(value)) => *value,
        _ => default,
    };
    let (is_signed, is_given, is_narrow) =
        (is_set("signed_input", true), is_set("range_given", false), is_set("narrow_range", false));
    let rounding = node.string("round_mode")?.unwrap_or_else(|| "HALF_TO_EVEN".to_owned());
    let bits = bits.clamp(1, 62);
    let (least, most) = match is_signed {
        true => (
            -((1i64 << (bits - 1)) as f64) + f64::from(u8::from(is_narrow)),
            ((1i64 << (bits - 1)) - 1) as f64,
        ),
        false => (0.0, ((1i64 << bits) - 1) as f64),
    };
    if !is_given {
        [low, high] = range_of(node, x)?;
    }
    let mut chain = Chain(node);
    // The range that the steps cover: that of the two ends which needs the larger steps.
    let (zero, huge) = (chain.number(x, 0.0)?, chain.number(x, f64::from(f32::MAX))?);
    let mut scales = Vec::new();
    for (end, step) in [(low, least), (high, most)] {
        let step = chain.number(x, step)?;
        let product = chain.op("tf.Mul", end, step)?;
        let fits = chain.op("tf.Greater", product, zero)?;
        let scale = chain.op("tf.RealDiv", step, end)?;
        scales.push(chain.0.op("tf.SelectV2", &[fits, scale, huge], &[])?);
    }
    let scale = chain.op("tf.Minimum", scales[0], scales[1])?;
    let inverse = chain.0.op("tf.Inv", &[scale], &[])?;
    let (least, most) = (chain.number(x, least)?, chain.number(x, most)?);
    let (low, high) = (chain.op("tf.Mul", least, inverse)?, chain.op("tf.Mul", most, inverse)?);
    let inside = chain.clamped(x, low, high)?;
    let steps = chain.op("tf.Mul", inside, scale)?;
    let steps = match rounding.as_str() {
        "HALF_UP" => chain.rounded(steps)?,
        _ => chain.0.op("tf.Round", &[steps], &[])?,
    };
    Ok(vec![chain.op("tf.Mul", steps, inverse)?.into()])
}

/// The least and the greatest value of a quantized type, whose elements are integers here.
fn bounds(dtype: DType) -> Imported<(f64, f64)> {
    Ok(match dtype {
        DType::UI8 => (0.0, 255.0),
        DType::I8 => (-128.0, 127.0),
        DType::UI16 => (0.0, 65_535.0),
        DType::I16 => (-32_768.0, 32_767.0),
        DType::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
        _ => return Err("the type is not quantized".into()),
    })
}

fn check_mode(node: &Node<'_, '_>) -> Imported<()> {
    match node.string("mode")?.as_deref() {
        None | Some("MIN_COMBINED") => {}
        Some(mode) => return Err(format!("mode {mode} is not supported").into()),
    }
    match node.int("axis")? {
        None | Some(-1) => Ok(()),
        Some(_) => Err("ranges for each channel are not supported".into()),
    }
}

/// Integers that cover a range, which contains zero.
fn quantize(node: &mut Node<'_, '_>) -> Imported {
    check_mode(node)?;
    let [x, low, high] = [node.input(0)?, node.input(1)?, node.input(2)?];
    let dtype = node.type_attr("T")?.ok_or("attribute 'T' is missing")?;
    let (least, most) = bounds(dtype)?;
    let mut chain = Chain(node);
    let zero = chain.number(x, 0.0)?;
    let low = chain.op("tf.Minimum", low, zero)?;
    let high = chain.op("tf.Maximum", high, zero)?;
    let span = chain.op("tf.Sub", high, low)?;
    let count = chain.number(x, most - least)?;
    let scale = chain.op("tf.RealDiv", count, span)?;
    let inside = chain.clamped(x, low, high)?;
    let shifted = chain.op("tf.Sub", inside, low)?;
    let mut steps = chain.op("tf.Mul", shifted, scale)?;
    if least < 0.0 {
        let half = chain.number(x, (most - least + 1.0) / 2.0)?;
        steps = chain.op("tf.Sub", steps, half)?;
    }
    let steps = chain.0.op("tf.Round", &[steps], &[])?;
    let (least, most) = (chain.number(x, least)?, chain.number(x, most)?);
    let steps = chain.clamped(steps, least, most)?;
    Ok(vec![chain.0.builder().cast(steps, dtype)?.into(), low.into(), high.into()])
}

fn dequantize(node: &mut Node<'_, '_>) -> Imported {
    check_mode(node)?;
    let [x, low, high] = [node.input(0)?, node.input(1)?, node.input(2)?];
    let dtype = node.dtype(x)?;
    let (least, most) = bounds(dtype)?;
    let wanted = node.type_attr("dtype")?.unwrap_or(DType::F32);
    let steps = node.builder().cast(x, DType::F32)?;
    let mut chain = Chain(node);
    let span = chain.op("tf.Sub", high, low)?;
    let count = chain.number(steps, most - least)?;
    let scale = chain.op("tf.RealDiv", span, count)?;
    let mut steps = steps;
    if least < 0.0 {
        let half = chain.number(steps, (most - least + 1.0) / 2.0)?;
        steps = chain.op("tf.AddV2", steps, half)?;
    }
    let value = chain.op("tf.Mul", steps, scale)?;
    let value = chain.op("tf.AddV2", value, low)?;
    Ok(vec![chain.0.builder().cast(value, wanted)?.into()])
}

/// Pixels moved away from or towards the mean of their channel.
fn adjust_contrast(node: &mut Node<'_, '_>) -> Imported {
    let (x, factor) = (node.input(0)?, node.input(1)?);
    let dtype = node.dtype(x)?;
    let wide = node.builder().cast(x, DType::F32)?;
    let axes = node.builder().add_integers(&[-3, -2])?;
    let keep = [("keep_dims", Attribute::Bool(true))];
    let mean = node.op("tf.Mean", &[wide, axes], &keep)?;
    let mut chain = Chain(node);
    let difference = chain.op("tf.Sub", wide, mean)?;
    let scaled = chain.op("tf.Mul", difference, factor)?;
    let value = chain.op("tf.AddV2", scaled, mean)?;
    Ok(vec![chain.0.builder().cast(value, dtype)?.into()])
}
