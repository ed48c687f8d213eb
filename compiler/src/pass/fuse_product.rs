//! Fuses matrix products with their bias and an activation, and makes plain products of batched ones by one matrix.

use tfrt_ir::{Attribute, OpId};

use super::rewrite::{Rewriter, apply};
use crate::{Evaluator, Graph};

/// The fused product.
const FUSED: &str = "tf._FusedMatMul";
/// Its attribute with the names of what follows the product.
const FUSED_OPS: &str = "fused_ops";

/// Fuses products.
pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    apply(graph, evaluator, &[flatten_batches, move_bias_before_reshape, fuse_bias, fuse_activation]);
}

fn none() -> [(&'static str, Attribute); 0] {
    []
}

/// Every matrix of a batch times one constant matrix is a product of all rows.
fn flatten_batches(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != "tf.BatchMatMulV2" || rewriter.flag(op, "adj_x") {
        return None;
    }
    let (x, matrix) = (operation.operands[0], operation.operands[1]);
    let is_transposed = rewriter.flag(op, "adj_y");
    let (ty, result) = (rewriter.ty(x)?, rewriter.ty(rewriter.result(op)?)?);
    if rewriter.constant(matrix)?.shape().rank() != 2 || ty.rank()? < 3 {
        return None;
    }
    let depth = i64::try_from((*ty.dims?.last()?)?).ok()?;
    // One extent of the result may be left to be inferred.
    let extent = |dim: &Option<u64>| dim.map_or(Some(-1), |dim| i64::try_from(dim).ok());
    let shape = result.dims?.iter().map(extent).collect::<Option<Vec<_>>>()?;
    if shape.iter().filter(|&&extent| extent == -1).count() > 1 || depth == 0 || shape.contains(&0) {
        return None;
    }
    let rows = rewriter.create_integers(&[-1, depth])?;
    let flat = rewriter.create("tf.Reshape", &[x, rows], none())?;
    let attributes = [("transpose_b", Attribute::Bool(is_transposed))];
    let product = rewriter.create("tf.MatMul", &[flat, matrix], attributes)?;
    let shape = rewriter.create_integers(&shape)?;
    let result = rewriter.create("tf.Reshape", &[product, shape], none())?;
    rewriter.replace(op, &[result])
}

/// A bias of the last dimension may be added before a reshape that leaves that as it is.
fn move_bias_before_reshape(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != "tf.AddV2" {
        return None;
    }
    let (a, b) = (operation.operands[0], operation.operands[1]);
    let (value, bias) = if rewriter.constant(b).is_some() { (a, b) } else { (b, a) };
    let reshape = rewriter.defined_by(value, "tf.Reshape")?;
    let (source, shape) = (rewriter.op(reshape).operands[0], rewriter.op(reshape).operands[1]);
    rewriter.defined_by(source, "tf.MatMul")?;
    let columns = |value| rewriter.ty(value).and_then(|ty| ty.dims?.last().copied().flatten());
    let is_vector = rewriter.constant(bias)?.shape().dims().iter().map(|&dim| dim as u64).eq(columns(value));
    if !is_vector
        || columns(source) != columns(value)
        || !rewriter.has_one_use(value)
        || !rewriter.has_one_use(source)
    {
        return None;
    }
    let sum = rewriter.create("tf.BiasAdd", &[source, bias], none())?;
    let result = rewriter.create("tf.Reshape", &[sum, shape], none())?;
    rewriter.replace(op, &[result])
}

fn fuse_bias(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != "tf.BiasAdd" {
        return None;
    }
    let (value, bias) = (operation.operands[0], operation.operands[1]);
    let inner = rewriter.defined_by(value, "tf.MatMul")?;
    let is_float = rewriter.ty(value)?.dtype.mlir_name().contains('f');
    if !rewriter.has_one_use(value) || !is_float {
        return None;
    }
    let own = rewriter.op(inner).operands.clone();
    let mut attributes = rewriter.op(inner).attributes.clone();
    attributes.set(FUSED_OPS, Attribute::array([Attribute::string("BiasAdd")]));
    let result = rewriter.create(FUSED, &[own[0], own[1], bias], attributes.entries().to_vec())?;
    rewriter.set_location_of(inner);
    rewriter.replace(op, &[result])
}

fn fuse_activation(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    let activation = match operation.name.as_str() {
        "tf.Relu" => "Relu",
        "tf.Relu6" => "Relu6",
        "tf.Tanh" => "Tanh",
        "tf.Sigmoid" => "Sigmoid",
        _ => return None,
    };
    let value = operation.operands[0];
    let inner = rewriter.defined_by(value, FUSED)?;
    let steps = rewriter.op(inner).attr(FUSED_OPS)?.as_array()?.len();
    if steps != 1 || !rewriter.has_one_use(value) {
        return None;
    }
    let own = rewriter.op(inner).operands.clone();
    let mut attributes = rewriter.op(inner).attributes.clone();
    attributes
        .set(FUSED_OPS, Attribute::array([Attribute::string("BiasAdd"), Attribute::string(activation)]));
    let result = rewriter.create(FUSED, &own, attributes.entries().to_vec())?;
    rewriter.set_location_of(inner);
    rewriter.replace(op, &[result])
}
