//! Numbers that are rounded to a few steps, as networks that were trained for small integers do.

use tfrt_host::DType;
use tfrt_ir::ValueId;

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
    ("FakeQuantWithMinMaxVars", fake_between),
    ("FakeQuantWithMinMaxVarsPerChannel", fake_between),
    ("QuantizeAndDequantizeV2", quantize_and_back),
    ("QuantizeAndDequantizeV4", quantize_and_back),
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
struct Chain<'n, 'i, 'g>(&'n mut Node<'i, 'g>);

impl Chain<'_, '_, '_> {
    fn op(&mut self, op: &str, a: ValueId, b: ValueId) -> Imported<ValueId> {
        self.0.op(op, &[a, b], &[])
    }

    fn number(&mut self, like: ValueId, value: f64) -> Imported<ValueId> {
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

/// The nearest of equidistant steps, of which one is zero.
fn fake(node: &mut Node<'_, '_>, x: ValueId, low: ValueId, high: ValueId) -> Imported {
    let bits = node.int("num_bits")?.unwrap_or(8).clamp(2, 16);
    let first = if node.flag("narrow_range")? { 1.0 } else { 0.0 };
    let last = ((1i64 << bits) - 1) as f64;
    let mut chain = Chain(node);
    let (first_step, last_step) = (chain.number(x, first)?, chain.number(x, last)?);
    let count = chain.number(x, last - first)?;
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
    let inside = chain.clamped(x, low, high)?;
    let shifted = chain.op("tf.Sub", inside, low)?;
    let inverse = chain.0.op("tf.Inv", &[step], &[])?;
    let steps = chain.op("tf.Mul", shifted, inverse)?;
    let steps = chain.rounded(steps)?;
    let value = chain.op("tf.Mul", steps, step)?;
    Ok(vec![chain.op("tf.AddV2", value, low)?.into()])
}

/// Rounds to the steps of an integer that cover a range, and back.
fn quantize_and_back(node: &mut Node<'_, '_>) -> Imported {
    let [x, mut low, mut high] = [node.input(0)?, node.input(1)?, node.input(2)?];
    if node.int("axis")?.is_some_and(|axis| axis >= 0) {
        return Err("ranges for each channel are not supported".into());
    }
    let is_set = |name: &str, default: bool| match node.attr(name) {
        Some(Attr::B(value)) => *value,
        _ => default,
    };
    let (is_signed, is_given, is_narrow) =
        (is_set("signed_input", true), is_set("range_given", false), is_set("narrow_range", false));
    let rounding = node.string("round_mode")?.unwrap_or_else(|| "HALF_TO_EVEN".to_owned());
    let bits = node.int("num_bits")?.unwrap_or(8).clamp(1, 62);
    let (least, most) = match is_signed {
        true => (
            -((1i64 << (bits - 1)) as f64) + f64::from(u8::from(is_narrow)),
            ((1i64 << (bits - 1)) - 1) as f64,
        ),
        false => (0.0, ((1i64 << bits) - 1) as f64),
    };
    let mut chain = Chain(node);
    if !is_given {
        let axes = chain.0.builder().add_integers(&[-1])?;
        let flat = chain.0.op("tf.Reshape", &[x, axes], &[])?;
        let axes = chain.0.builder().add_integers(&[0])?;
        low = chain.op("tf.Min", flat, axes)?;
        high = chain.op("tf.Max", flat, axes)?;
    }
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
    let keep = [("keep_dims", tfrt_ir::Attribute::Bool(true))];
    let mean = node.op("tf.Mean", &[wide, axes], &keep)?;
    let mut chain = Chain(node);
    let difference = chain.op("tf.Sub", wide, mean)?;
    let scaled = chain.op("tf.Mul", difference, factor)?;
    let value = chain.op("tf.AddV2", scaled, mean)?;
    Ok(vec![chain.0.builder().cast(value, dtype)?.into()])
}
