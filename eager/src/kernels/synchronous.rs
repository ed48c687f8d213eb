//! `tf_sync.*`: TensorFlow's ops as kernels of synchronous functions. They compute where they are
//! called, in f32, and write into a tensor that the caller gives.

use tfrt_compute::shape_error;
use tfrt_host::{
    Arg, Attr, Diagnostic, ExecutionContext, KernelRegistry, Rest,
    bef::{AggregateAttribute, DenseAttribute},
};
use tfrt_math::{Activation, Binary, BlockOp, LogSoftmax, MatMul, MatMulInput, Softmax, Unary, ops};
use tfrt_tensor::dense_from_attribute;
use tfrt_tensor::{Accessor, HostTensor};

use crate::ops::{
    concat::concat_into,
    layout::tiled,
    matmul::{layout, oriented},
    support::{Operand, check_shape, integers, invalid, spread},
};

static ME: Accessor = Accessor::new("tf_sync kernel");

type Done = Result<(), Diagnostic>;
type OfOne = fn(f32) -> f32;
type OfTwo = fn(f32, f32) -> f32;

fn unary(x: &HostTensor, result: &HostTensor, f: OfOne) -> Done {
    let x = x.dense()?;
    check_shape(result, x.shape().dims())?;
    let plan = Unary::new(f, x.num_elements()).map_err(shape_error)?;
    // Reading first, so that a tensor that is to be computed from itself is refused.
    let (x, mut out) = (x.read::<f32>(&ME)?, result.dense()?.write::<f32>(&ME)?);
    plan.run_in_turn(&x, &mut out).map_err(shape_error)
}

fn binary(a: &HostTensor, b: &HostTensor, result: &HostTensor, f: OfTwo, cx: &ExecutionContext) -> Done {
    let dims = tfrt_math::broadcast_shapes(a.shape().dims(), b.shape().dims()).map_err(shape_error)?;
    check_shape(result, &dims)?;
    let (a, b) = (spread(a, b, &dims, cx)?, spread(b, a, &dims, cx)?);
    let ((x, x_dims), (y, y_dims)) = (Operand::<f32>::new(&a, &ME)?, Operand::<f32>::new(&b, &ME)?);
    let mut out = result.dense()?.write::<f32>(&ME)?;
    let plan = Binary::new(f, x_dims, y_dims).map_err(shape_error)?;
    plan.run_in_turn((&x, &y), &mut out).map_err(shape_error)
}

fn softmax(x: &HostTensor, result: &HostTensor, log: bool) -> Done {
    let x = x.dense()?;
    check_shape(result, x.shape().dims())?;
    let columns = x.shape().dims().last().copied().unwrap_or(1);
    let rows = x.num_elements().checked_div(columns).unwrap_or(0);
    let (x, mut out) = (x.read::<f32>(&ME)?, result.dense()?.write::<f32>(&ME)?);
    if log {
        LogSoftmax::new(rows, columns).and_then(|plan| plan.run_in_turn(&x, &mut out))
    } else {
        Softmax::new(rows, columns).and_then(|plan| plan.run_in_turn(&x, &mut out))
    }
    .map_err(shape_error)
}

/// Returns the tensors one after another along an axis; the last one is the result.
fn concat(axis: i32, tensors: Rest<'_, HostTensor>) -> Done {
    let tensors = tensors.iter().collect::<Result<Vec<&HostTensor>, Diagnostic>>()?;
    let Some((result, tensors)) = tensors.split_last() else {
        return Err(invalid("a concatenation takes a tensor at least, and one for the result"));
    };
    concat_into::<f32>(tensors, axis.into(), result)
}

fn constant(result: Arg<HostTensor>, value: Attr<DenseAttribute<'_>>, cx: &ExecutionContext) -> Done {
    let value = dense_from_attribute(&value.0, cx.host().allocator())?;
    if value.dtype() != result.dtype() {
        return Err(invalid(format!("a constant of {} for a tensor of {}", value.dtype(), result.dtype())));
    }
    check_shape(&result, value.shape().dims())?;
    result.dense()?.write_bytes(&ME)?.copy_from_slice(&value.read_bytes(&ME)?);
    Ok(())
}

/// `a · b`, and what the attribute names after it: `BiasAdd`, then perhaps `Relu`.
fn fused_matmul(
    a: Arg<HostTensor>,
    b: Arg<HostTensor>,
    result: Arg<HostTensor>,
    further: Rest<'_, HostTensor>,
    fused: Attr<AggregateAttribute<'_>>,
    transpose_a: Attr<bool>,
    transpose_b: Attr<bool>,
) -> Done {
    let names: Vec<_> =
        fused.0.iter().map(|name| name.ok()?.string()).collect::<Option<_>>().unwrap_or_default();
    let relu = match names.as_slice() {
        ["BiasAdd"] => false,
        ["BiasAdd", "Relu"] => true,
        other => return Err(invalid(format!("a product followed by {other:?} is not known"))),
    };
    let further = further.iter().collect::<Result<Vec<_>, _>>()?;
    let [bias] = *further else {
        return Err(invalid(format!("the product takes one bias, got {}", further.len())));
    };
    let (a, b, bias) = (a.dense()?, b.dense()?, bias.dense()?);
    for matrix in [a, b] {
        if matrix.shape().rank() != 2 {
            return Err(invalid(format!(
                "a product takes matrices, got a tensor of shape {}",
                matrix.shape()
            )));
        }
    }
    let [m, k] = oriented(a.shape(), transpose_a.0);
    let [inner, n] = oriented(b.shape(), transpose_b.0);
    if k != inner || bias.shape().dims() != [n] {
        let shapes = format!("{}, {} and {}", a.shape(), b.shape(), bias.shape());
        return Err(invalid(format!("matrices and bias do not go together: {shapes}")));
    }
    check_shape(&result, &[m, n])?;
    let plan = MatMul::<f32>::new(m, k, n, 1)
        .and_then(|plan| plan.operands(layout(transpose_a.0, [m, k]), layout(transpose_b.0, [k, n])))
        .map_err(shape_error)?
        .activated(if relu { Activation::Relu } else { Activation::None });
    let (a, b, bias) = (a.read::<f32>(&ME)?, b.read::<f32>(&ME)?, bias.read::<f32>(&ME)?);
    let mut out = result.dense()?.write::<f32>(&ME)?;
    let input = MatMulInput { bias: Some(&bias), ..MatMulInput::new(&a, &b) };
    plan.run_in_turn(input, &mut out).map_err(shape_error)
}

/// Returns the tensor as often along each axis as the second one says.
fn tile(x: Arg<HostTensor>, multiples: Arg<HostTensor>, result: Arg<HostTensor>) -> Done {
    let x = x.dense()?;
    let moves = tiled(x.shape().dims(), &integers(&multiples, "multiples")?)?;
    check_shape(&result, moves.dims())?;
    let (x, mut out) = (x.read::<f32>(&ME)?, result.dense()?.write::<f32>(&ME)?);
    moves.copy_all(&x, &mut out);
    Ok(())
}

/// Returns the strings as often along each axis as the result's shape says.
fn tile_strings(x: Arg<HostTensor>, result: Arg<HostTensor>) -> Done {
    let (x, result) = (x.string()?, result.string()?);
    let (from, to) = (x.shape().dims(), result.shape().dims());
    let multiple = |(&extent, &dim): (&usize, &usize)| match extent.checked_div(dim) {
        Some(times) if times * dim == extent => Some(times as i64),
        None if extent == 0 => Some(1),
        _ => None,
    };
    let multiples: Option<Vec<_>> = to.iter().zip(from).map(multiple).collect();
    let multiples = multiples.filter(|multiples| multiples.len() == from.len() && to.len() == from.len());
    let multiples = multiples
        .ok_or_else(|| invalid(format!("strings of shape {} do not tile {}", x.shape(), result.shape())))?;
    result.fill(tiled(from, &multiples)?.strings_of(x)?)
}

pub(super) fn register(registry: &mut KernelRegistry) {
    const UNARY: &[(&str, OfOne)] =
        &[("Log", f32::ln), ("Log1p", f32::ln_1p), ("Rsqrt", |x| 1.0 / x.sqrt()), ("Sigmoid", ops::sigmoid)];
    const BINARY: &[(&str, OfTwo)] =
        &[("AddV2", ops::add), ("Sub", ops::sub), ("Mul", ops::mul), ("RealDiv", ops::div)];
    for &(name, f) in UNARY {
        registry
            .add(format!("tf_sync.{name}.f32"), move |x: Arg<HostTensor>, result: Arg<HostTensor>| {
                unary(&x, &result, f)
            })
            .side_effecting()
            .doc("The op of this name, element by element, into the last tensor.");
    }
    for &(name, f) in BINARY {
        registry
            .add(
                format!("tf_sync.{name}.f32"),
                move |a: Arg<HostTensor>,
                      b: Arg<HostTensor>,
                      result: Arg<HostTensor>,
                      cx: &ExecutionContext| { binary(&a, &b, &result, f, cx) },
            )
            .side_effecting()
            .doc("The op of this name with broadcasting, into the last tensor.");
    }
    for (name, log) in [("Softmax", false), ("LogSoftmax", true)] {
        registry
            .add(format!("tf_sync.{name}.f32"), move |x: Arg<HostTensor>, result: Arg<HostTensor>| {
                softmax(&x, &result, log)
            })
            .side_effecting()
            .doc("The op of this name for each row, into the last tensor.");
    }
    registry
        .add("tf_sync.ConcatV2.f32", concat)
        .side_effecting()
        .doc("Tensors one after another along an axis, into the last tensor.");
    registry
        .add("tf_sync.Const", constant)
        .attributes(&["value"])
        .side_effecting()
        .doc("Copies a constant into a tensor.");
    registry
        .add("tf_sync._FusedMatMul.f32", fused_matmul)
        .attributes(&["fused_ops", "transpose_a", "transpose_b"])
        .side_effecting()
        .doc("A product of matrices with bias and activation, into the third tensor.");
    registry
        .add("tf_sync.Tile.f32", tile)
        .side_effecting()
        .doc("A tensor repeated along its axes, into the last tensor.");
    registry
        .add("tf_sync.Tile.string", tile_strings)
        .side_effecting()
        .doc("Strings repeated along their axes until they fill the last tensor, which has none yet.");
}
