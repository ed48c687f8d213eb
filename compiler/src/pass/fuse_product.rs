//! Fuses matrix products with their bias and an activation, and makes plain products of batched
//! ones by one matrix. On the host, products with constant matrices become convolutions.

use tfrt_host::DType;
use tfrt_ir::{Attribute, OpId};

use super::fuse_convolution::{ACTIVATION, FUSED as CONVOLUTION};
use super::rewrite::{Pattern, Rewriter, apply};
use super::transpose::merge_reshapes;
use crate::{Evaluator, Graph};

/// The fused product.
const FUSED: &str = "tf._FusedMatMul";
/// Its attribute with the names of what follows the product.
const FUSED_OPS: &str = "fused_ops";

/// Products of so few rows read the matrix where it lies.
const FEW_ROWS: u64 = 4;

/// The patterns that do not make convolutions.
const FUSIONS: &[Pattern] =
    &[flatten_batches, move_bias_before_reshape, fuse_bias, move_activation_before_reshape, fuse_activation];

/// Fuses products and makes convolutions of those with constant matrices.
pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    apply(graph, evaluator, FUSIONS);
    apply(graph, evaluator, &[make_convolution, merge_reshapes, fuse_residual]);
}

/// Fuses products, which device libraries compute faster than convolutions.
pub(super) fn run_for_devices(graph: &mut Graph, evaluator: &Evaluator) {
    apply(graph, evaluator, FUSIONS);
    apply(graph, evaluator, &[merge_reshapes]);
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

/// An activation may be applied before a reshape. The product then applies it.
fn move_activation_before_reshape(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    activation_of(rewriter.op(op).name.as_str())?;
    let value = rewriter.op(op).operands[0];
    let reshape = rewriter.defined_by(value, "tf.Reshape")?;
    let (source, shape) = (rewriter.op(reshape).operands[0], rewriter.op(reshape).operands[1]);
    let product = rewriter.defined_by(source, FUSED)?;
    let steps = rewriter.op(product).attr(FUSED_OPS)?.as_array()?.len();
    if steps != 1 || !rewriter.has_one_use(value) || !rewriter.has_one_use(source) {
        return None;
    }
    let name = rewriter.op(op).name.clone();
    let activated = rewriter.create(name.as_str(), &[source], none())?;
    let result = rewriter.create("tf.Reshape", &[activated, shape], none())?;
    rewriter.replace(op, &[result])
}

/// A product of many rows and a constant matrix is a convolution of pixels, whose filter is laid
/// out once.
fn make_convolution(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    let steps: Vec<_> = match operation.name.as_str() {
        "tf.MatMul" => Vec::new(),
        FUSED => {
            let steps = operation.attr(FUSED_OPS)?.as_array()?.iter();
            steps.map(|step| Some(step.as_str()?.to_owned())).collect::<Option<_>>()?
        }
        _ => return None,
    };
    let activation = match &steps.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["BiasAdd"] => "",
        ["BiasAdd", activation] => *activation,
        _ => return None,
    };
    let operands = operation.operands.clone();
    let constant = rewriter.constant(operands[1])?;
    if rewriter.flag(op, "transpose_a") || constant.dtype() != DType::F32 || constant.shape().rank() != 2 {
        return None;
    }
    let rows = *rewriter.ty(operands[0])?.dims?.first()?;
    if rows.is_some_and(|rows| rows <= FEW_ROWS) {
        return None;
    }
    let mut matrix = operands[1];
    if rewriter.flag(op, "transpose_b") {
        let order = rewriter.create_integers(&[1, 0])?;
        matrix = rewriter.create("tf.Transpose", &[matrix, order], none())?;
    }
    let dims = rewriter.ty(matrix)?.static_dims()?;
    let (depth, columns) = (i64::try_from(dims[0]).ok()?, i64::try_from(dims[1]).ok()?);
    if depth == 0 || columns == 0 {
        return None;
    }
    let reshape = |rewriter: &mut Rewriter<'_>, value, dims: &[i64]| {
        let shape = rewriter.create_integers(dims)?;
        rewriter.create("tf.Reshape", &[value, shape], none())
    };
    let rows = rows.map_or(Some(-1), |rows| i64::try_from(rows).ok())?;
    let filter = reshape(rewriter, matrix, &[1, 1, depth, columns])?;
    let pixels = reshape(rewriter, operands[0], &[1, 1, rows, depth])?;
    let bias = match operands.get(2) {
        Some(&bias) => bias,
        None => {
            let (shape, zero) =
                (rewriter.create_integers(&[columns])?, rewriter.create_number(DType::F32, 0.0)?);
            rewriter.create("tf.Fill", &[shape, zero], none())?
        }
    };
    let ones = Attribute::array([1, 1, 1, 1].map(Attribute::i64));
    let attributes = [
        (ACTIVATION, Attribute::string(activation)),
        ("padding", Attribute::string("VALID")),
        ("strides", ones),
    ];
    let product = rewriter.create(CONVOLUTION, &[pixels, filter, bias], attributes)?;
    let result = reshape(rewriter, product, &[rows, columns])?;
    rewriter.replace(op, &[result])
}

/// What is added to a product that became a convolution is its residual.
fn fuse_residual(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != "tf.AddV2" {
        return None;
    }
    let operands = operation.operands.clone();
    let ty = rewriter.ty(rewriter.result(op)?)?;
    ty.static_dims()?;
    for (value, residual) in [(operands[0], operands[1]), (operands[1], operands[0])] {
        let Some(reshape) = rewriter.defined_by(value, "tf.Reshape") else { continue };
        let (inner, shape) = (rewriter.op(reshape).operands[0], rewriter.op(reshape).operands[1]);
        let Some(convolution) = rewriter.defined_by(inner, CONVOLUTION) else { continue };
        let own = rewriter.op(convolution).operands.clone();
        let activation = rewriter.op(convolution).attr(ACTIVATION).and_then(Attribute::as_str);
        let is_free = own.len() == 3 && activation == Some("");
        let is_alone = rewriter.has_one_use(value) && rewriter.has_one_use(inner) && value != residual;
        let are_alike = [value, residual].iter().all(|&value| rewriter.ty(value).as_ref() == Some(&ty));
        if !is_free || !is_alone || !are_alike {
            continue;
        }
        let dims = rewriter.ty(inner)?.static_dims()?;
        let dims = dims.into_iter().map(|dim| i64::try_from(dim).ok()).collect::<Option<Vec<_>>>()?;
        let flat = rewriter.create_integers(&dims)?;
        let flat = rewriter.create("tf.Reshape", &[residual, flat], none())?;
        let attributes = rewriter.op(convolution).attributes.entries().to_vec();
        let sum = rewriter.create(CONVOLUTION, &[own[0], own[1], own[2], flat], attributes)?;
        rewriter.set_location_of(convolution);
        let result = rewriter.create("tf.Reshape", &[sum, shape], none())?;
        return rewriter.replace(op, &[result]);
    }
    None
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

/// Returns what the fused product calls the activation that an op is.
fn activation_of(name: &str) -> Option<&'static str> {
    match name {
        "tf.Relu" => Some("Relu"),
        "tf.Relu6" => Some("Relu6"),
        "tf.Tanh" => Some("Tanh"),
        "tf.Sigmoid" => Some("Sigmoid"),
        _ => None,
    }
}

fn fuse_activation(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    let activation = activation_of(operation.name.as_str())?;
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
