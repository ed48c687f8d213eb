//! Fuses products of dequantized tensors into products of bytes.
//!
//! Exporters write a quantized model as one of `f32` numbers in which tensors are quantized and
//! dequantized again. Dequantization is moved behind what only moves elements, and quantization
//! before it, so that they meet the products.

use tfrt_host::DType;
use tfrt_ir::{AttrDict, Attribute, OpId, ValueId};
use tfrt_tensor::Accessor;

use super::{
    byte_tables::tabulate,
    quantized_elements::{fuse_mean, fuse_pair, hoist_over_concat, sink_below_pool},
    rewrite::{Rewriter, apply},
};
use crate::{Evaluator, Graph, TensorType};

static READ: Accessor = Accessor::new("fusion of quantized products");

const QUANTIZE: &str = "onnx.QuantizeLinear";
pub(super) const DEQUANTIZE: &str = "onnx.DequantizeLinear";
const PRODUCT: &str = "tfrt.QuantizedMatMul";
const CONVOLUTION: &str = "tfrt.QuantizedConv2D";
/// The greatest number of products of two bytes whose sum an `i32` holds in any case.
const MAX_DEPTH: u64 = i32::MAX as u64 / (255 * 255);

/// Ops that move the elements of their first operand.
const MOVES: &[&str] = &["tf.ExpandDims", "tf.Reshape", "tf.Squeeze", "tf.Transpose"];

/// Fuses products.
pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    apply(
        graph,
        evaluator,
        &[
            sink_dequantization,
            sink_below_pool,
            hoist_quantization,
            hoist_over_concat,
            drop_relu,
            fuse_product,
            fuse_convolution,
            fuse_scale,
            add_bias,
            quantize_result,
            tabulate,
            fuse_pair,
            fuse_mean,
        ],
    );
}

/// A tensor of bytes with what they stand for.
pub(super) struct Quantized {
    pub(super) bytes: ValueId,
    pub(super) scale: ValueId,
    /// What stands for zero, if that is not the number zero.
    zero: Option<ValueId>,
    dtype: DType,
    /// The dimension along which there is a scale for each position; `None` if there is one scale.
    pub(super) axis: Option<usize>,
}

impl Quantized {
    /// What stands for zero, which is created if it is not given.
    pub(super) fn zero(&self, rewriter: &mut Rewriter<'_>) -> Option<ValueId> {
        self.zero.or_else(|| rewriter.create_number(self.dtype, 0.0))
    }
}

/// The operands of an op that quantizes or dequantizes by one scale, or by one for each position
/// along a dimension: a tensor, the scale, and the zero, which has this type.
fn scaled(rewriter: &Rewriter<'_>, op: OpId, dtype: DType) -> Option<Quantized> {
    let operation = rewriter.op(op);
    let operands = &operation.operands;
    let is_in_blocks = operation.attr("block_size").and_then(Attribute::as_int).unwrap_or(0) != 0;
    let axis = operation.attr("axis").and_then(Attribute::as_int).unwrap_or(1);
    let (bytes, scale) = (*operands.first()?, *operands.get(1)?);
    let (rank, scales) = (rewriter.ty(bytes)?.rank()?, rewriter.ty(scale)?);
    let count = scales.static_dims()?.iter().product::<u64>();
    if is_in_blocks || scales.dtype != DType::F32 || !matches!(dtype, DType::I8 | DType::UI8) {
        return None;
    }
    let axis = if axis < 0 { axis + i128::try_from(rank).ok()? } else { axis };
    let axis = if count == 1 { None } else { Some(usize::try_from(axis).ok()?) };
    Some(Quantized { bytes, scale, zero: operands.get(2).copied(), dtype, axis })
}

/// The bytes that a value is dequantized from, as `f32` numbers.
pub(super) fn dequantized(rewriter: &Rewriter<'_>, value: ValueId) -> Option<Quantized> {
    let op = rewriter.defined_by(value, DEQUANTIZE)?;
    if rewriter.ty(value)?.dtype != DType::F32 {
        return None;
    }
    let dtype = rewriter.ty(*rewriter.op(op).operands.first()?)?.dtype;
    scaled(rewriter, op, dtype)
}

/// The `f32` numbers that an op quantizes by one scale.
pub(super) fn quantization(rewriter: &Rewriter<'_>, op: OpId) -> Option<Quantized> {
    if rewriter.op(op).name != *QUANTIZE {
        return None;
    }
    let (x, result) = (rewriter.op(op).operands[0], rewriter.result(op)?);
    if rewriter.ty(x)?.dtype != DType::F32 {
        return None;
    }
    let dtype = rewriter.ty(result)?.dtype;
    scaled(rewriter, op, dtype).filter(|quantized| quantized.axis.is_none())
}

/// Creates an op that quantizes or dequantizes as another one does, along another dimension.
pub(super) fn scale_like(
    rewriter: &mut Rewriter<'_>,
    op: OpId,
    value: ValueId,
    axis: Option<usize>,
) -> Option<ValueId> {
    let operation = rewriter.op(op);
    let (name, mut operands) = (operation.name.as_str().to_owned(), operation.operands.clone());
    let mut attributes = operation.attributes.clone();
    operands[0] = value;
    if let Some(axis) = axis {
        attributes.set("axis", Attribute::i64(i64::try_from(axis).ok()?));
    }
    let dims = rewriter.ty(value)?.dims;
    let ty = TensorType { dims, ..rewriter.ty(rewriter.result(op)?)? };
    Some(rewriter.create_typed(&name, &operands, attributes, ty.to_ir()))
}

/// Where a dimension is after an op moved the elements of its operand.
fn moved_axis(rewriter: &Rewriter<'_>, op: OpId, axis: usize) -> Option<usize> {
    let operation = rewriter.op(op);
    let own = || rewriter.integers(*operation.operands.get(1)?);
    match operation.name.as_str() {
        "tf.Transpose" => own()?.iter().position(|&from| usize::try_from(from) == Ok(axis)),
        "tf.ExpandDims" => {
            let at = usize::try_from(*own()?.first()?).ok()?;
            Some(if at <= axis { axis + 1 } else { axis })
        }
        _ => None,
    }
}

/// Whether an op moves the elements of its first operand.
pub(super) fn is_move(rewriter: &Rewriter<'_>, op: OpId) -> bool {
    MOVES.contains(&rewriter.op(op).name.as_str())
}

/// Bytes are moved or chosen instead of the numbers that they stand for.
fn sink_dequantization(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if !is_move(rewriter, op) && rewriter.op(op).name != "tf.GatherV2" {
        return None;
    }
    let mut operands = rewriter.op(op).operands.clone();
    let inner = rewriter.defined_by(operands[0], DEQUANTIZE)?;
    if !rewriter.has_one_use(operands[0]) {
        return None;
    }
    let quantized = dequantized(rewriter, operands[0])?;
    let axis = match quantized.axis {
        None => None,
        Some(axis) => Some(moved_axis(rewriter, op, axis)?),
    };
    operands[0] = quantized.bytes;
    let moved = rewriter.create_like(op, &operands)?[0];
    let result = scale_like(rewriter, inner, moved, axis)?;
    rewriter.replace(op, &[result])
}

/// The bytes that stand for numbers are moved instead of these.
fn hoist_quantization(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let quantized = quantization(rewriter, op)?;
    let inner = rewriter.graph.module.defining_op(quantized.bytes)?;
    if !is_move(rewriter, inner) || !rewriter.has_one_use(quantized.bytes) {
        return None;
    }
    let mut operands = rewriter.op(inner).operands.clone();
    operands[0] = scale_like(rewriter, op, operands[0], None)?;
    let moved = rewriter.create_like(inner, &operands)?[0];
    rewriter.replace(op, &[moved])
}

/// Numbers below zero become the least byte anyway if that stands for zero.
fn drop_relu(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let quantized = quantization(rewriter, op)?;
    let relu = rewriter.defined_by(quantized.bytes, "tf.Relu")?;
    let is_least = match quantized.zero {
        None => quantized.dtype == DType::UI8,
        Some(zero) => {
            let zero = rewriter.constant(zero)?.dense().ok()?;
            match zero.dtype() {
                DType::I8 => zero.read::<i8>(&READ).ok()?.first() == Some(&i8::MIN),
                DType::UI8 => zero.read::<u8>(&READ).ok()?.first() == Some(&u8::MIN),
                _ => false,
            }
        }
    };
    if !is_least || !rewriter.has_one_use(quantized.bytes) {
        return None;
    }
    let result = scale_like(rewriter, op, rewriter.op(relu).operands[0], None)?;
    rewriter.replace(op, &[result])
}

/// The attribute that says which of nine operands are given.
fn given(operands: [bool; 9]) -> (&'static str, Attribute) {
    ("operand_segment_sizes", Attribute::array(operands.map(|is_given| Attribute::i64(is_given.into()))))
}

const FIRST_SIX: [bool; 9] = [true, true, true, true, true, true, false, false, false];

/// Creates a product of bytes whose result has the type of another op's.
fn create_product(
    rewriter: &mut Rewriter<'_>,
    (name, like): (&str, OpId),
    [a, b]: [&Quantized; 2],
    mut attributes: AttrDict,
) -> Option<ValueId> {
    let (segments, sizes) = given(FIRST_SIX);
    attributes.set(segments, sizes);
    let ty = rewriter.graph.module.value_type(rewriter.result(like)?).clone();
    let (a_zero, b_zero) = (a.zero(rewriter)?, b.zero(rewriter)?);
    let operands = [a.bytes, a.scale, a_zero, b.bytes, b.scale, b_zero];
    Some(rewriter.create_typed(name, &operands, attributes, ty))
}

fn fuse_product(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    let (adjoint_a, transposes_b) = match operation.name.as_str() {
        "tf.MatMul" => (rewriter.flag(op, "transpose_a"), rewriter.flag(op, "transpose_b")),
        "tf.BatchMatMulV2" => (rewriter.flag(op, "adj_x"), rewriter.flag(op, "adj_y")),
        _ => return None,
    };
    let (left, right) = (operation.operands[0], operation.operands[1]);
    let a = dequantized(rewriter, left).filter(|a| a.axis.is_none() && !adjoint_a)?;
    let mut b = dequantized(rewriter, right)?;
    let dims = rewriter.ty(right)?.dims.filter(|dims| dims.len() >= 2)?;
    let [rows, columns] = [dims.len() - 2, dims.len() - 1];
    let (depth, scales) = if transposes_b { (columns, rows) } else { (rows, columns) };
    if b.axis.is_some_and(|axis| axis != scales) || dims[depth].is_none_or(|depth| depth > MAX_DEPTH) {
        return None;
    }
    if transposes_b {
        let mut order: Vec<i64> = (0..i64::try_from(dims.len()).ok()?).collect();
        order.swap(rows, columns);
        let order = rewriter.create_integers(&order)?;
        b.bytes = rewriter.create("tf.Transpose", &[b.bytes, order], none())?;
    }
    let result = create_product(rewriter, (PRODUCT, op), [&a, &b], AttrDict::default())?;
    rewriter.replace(op, &[result])
}

fn fuse_convolution(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != "tf.Conv2D" {
        return None;
    }
    let format = operation.attr("data_format").and_then(Attribute::as_str);
    if format.is_some_and(|format| format != "NHWC") {
        return None;
    }
    let (left, right, mut attributes) =
        (operation.operands[0], operation.operands[1], operation.attributes.clone());
    let a = dequantized(rewriter, left).filter(|a| a.axis.is_none())?;
    let b = dequantized(rewriter, right).filter(|b| b.axis.is_none_or(|axis| axis == 3))?;
    let dims = rewriter.ty(right)?.static_dims().filter(|dims| dims.len() == 4)?;
    if dims[..3].iter().product::<u64>() > MAX_DEPTH {
        return None;
    }
    attributes.remove("data_format");
    let result = create_product(rewriter, (CONVOLUTION, op), [&a, &b], attributes)?;
    rewriter.replace(op, &[result])
}

/// Sums of a product of integers that become numbers and are scaled, as exporters write the product
/// of a tensor that is quantized by its own range.
fn fuse_scale(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if rewriter.op(op).name != "tf.Mul" {
        return None;
    }
    let factors = [rewriter.op(op).operands[0], rewriter.op(op).operands[1]];
    let is_sum = |&value: &ValueId| rewriter.defined_by(value, "tf.Cast").is_some();
    let place = factors.iter().position(is_sum)?;
    let (sums, scale) = (factors[place], factors[1 - place]);
    let cast = rewriter.op(rewriter.defined_by(sums, "tf.Cast")?).operands[0];
    let product = rewriter.defined_by(cast, "onnx.MatMulInteger")?;
    let is_alone = rewriter.has_one_use(sums) && rewriter.has_one_use(cast);
    let operands = rewriter.op(product).operands.clone();
    let [a, b, a_zero, b_zero] = operands[..] else { return None };
    let count = |rewriter: &Rewriter<'_>, value| -> Option<u64> {
        let dims = rewriter.ty(value)?.static_dims().filter(|dims| dims.len() <= 1)?;
        Some(dims.into_iter().product())
    };
    let columns = rewriter.ty(b)?.dims?.last().copied().flatten()?;
    let is_f32 =
        [sums, scale].iter().all(|&value| rewriter.ty(value).is_some_and(|ty| ty.dtype == DType::F32));
    let dtype = |value| rewriter.ty(value).map(|ty| ty.dtype);
    if dtype(a) != dtype(a_zero) || dtype(b) != dtype(b_zero) {
        return None;
    }
    let fits = |count: u64| count == 1 || count == columns;
    let (zeros, scales) = (count(rewriter, b_zero)?, count(rewriter, scale)?);
    if !is_alone || !is_f32 || count(rewriter, a_zero)? != 1 || !fits(zeros) || !fits(scales) {
        return None;
    }
    let (a_type, b_type) = (rewriter.ty(a)?.dtype, rewriter.ty(b)?.dtype);
    let one = rewriter.create_number(DType::F32, 1.0)?;
    let [a_scale, b_scale] = if scales == 1 { [scale, one] } else { [one, scale] };
    let a = Quantized { bytes: a, scale: a_scale, zero: Some(a_zero), dtype: a_type, axis: None };
    let b = Quantized { bytes: b, scale: b_scale, zero: Some(b_zero), dtype: b_type, axis: None };
    let result = create_product(rewriter, (PRODUCT, op), [&a, &b], AttrDict::default())?;
    rewriter.replace(op, &[result])
}

/// The product of bytes that gives a value of `f32` numbers which nothing else uses.
fn free_product(rewriter: &Rewriter<'_>, value: ValueId) -> Option<OpId> {
    let op = rewriter.graph.module.defining_op(value)?;
    let is_product = matches!(rewriter.op(op).name.as_str(), PRODUCT | CONVOLUTION);
    let is_free = rewriter.ty(value)?.dtype == DType::F32 && rewriter.has_one_use(value);
    (is_product && is_free).then_some(op)
}

/// Replaces an op by the product before with more operands, of which these are given then.
fn extend_product(
    rewriter: &mut Rewriter<'_>,
    (product, op): (OpId, OpId),
    more: &[ValueId],
    sizes: [bool; 9],
) -> Option<()> {
    let (name, mut operands) =
        (rewriter.op(product).name.as_str().to_owned(), rewriter.op(product).operands.clone());
    operands.extend_from_slice(more);
    let mut attributes = rewriter.op(product).attributes.clone();
    let (segments, sizes) = given(sizes);
    attributes.set(segments, sizes);
    let ty = rewriter.graph.module.value_type(rewriter.result(op)?).clone();
    let result = rewriter.create_typed(&name, &operands, attributes, ty);
    rewriter.set_location_of(product);
    rewriter.replace(op, &[result])
}

/// A constant that is added to each column is the bias of the product before.
fn add_bias(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    let (a, b) = match operation.name.as_str() {
        "tf.AddV2" | "tf.BiasAdd" => (operation.operands[0], operation.operands[1]),
        _ => return None,
    };
    let format = operation.attr("data_format").and_then(Attribute::as_str);
    if format.is_some_and(|format| format != "NHWC") {
        return None;
    }
    let (value, bias) = if rewriter.constant(b).is_some() { (a, b) } else { (b, a) };
    let product = free_product(rewriter, value)?;
    let columns = rewriter.ty(value)?.dims?.last().copied().flatten()?;
    let dims = rewriter.constant(bias)?.shape().dims().to_vec();
    if rewriter.op(product).operands.len() != 6 || dims.len() != 1 || dims[0] as u64 != columns {
        return None;
    }
    let mut sizes = FIRST_SIX;
    sizes[6] = true;
    extend_product(rewriter, (product, op), &[bias], sizes)
}

/// Sums become bytes at once.
fn quantize_result(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let quantized = quantization(rewriter, op)?;
    let product = free_product(rewriter, quantized.bytes)?;
    let mut sizes = FIRST_SIX;
    sizes[6] = rewriter.op(product).operands.len() == 7;
    sizes[7..].fill(true);
    let zero = quantized.zero(rewriter)?;
    extend_product(rewriter, (product, op), &[quantized.scale, zero], sizes)
}

fn none() -> [(&'static str, Attribute); 0] {
    []
}
