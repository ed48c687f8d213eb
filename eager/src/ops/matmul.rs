//! Matrix products: `tf.MatMul`, `tf.BatchMatMulV2`, and products fused with later ops.

use tfrt_compute::{run, shape_error, workers};
use tfrt_host::Diagnostic;
use tfrt_math::{BlockOp, Float, Layout, MatMul, MatMulElement, MatMulInput, small_matmul};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata, TensorShape};

use super::activation::Activation;
use super::complex::{C, Field, Wide};
use super::fused::{Step, channel_vector, fused_leak, names, run_with_steps};
use super::kept_product::KeptProduct;
use super::layout::broadcast_moves;
use super::support::{
    Computed, Described, compute, float_attr, invalid, is_complex, one, product, with_complex, with_float,
    with_type,
};
use super::types;
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("tf matrix product");

/// Returns which of the two matrices are transposed.
pub(super) fn transposed(attrs: &OpAttrs, names: [&str; 2]) -> Result<[bool; 2], Diagnostic> {
    let flag = |name| Ok::<_, Diagnostic>(attrs.optional(name)?.unwrap_or(false));
    Ok([flag(names[0])?, flag(names[1])?])
}

pub(super) const MATMUL: [&str; 2] = ["transpose_a", "transpose_b"];
pub(super) const BATCHED: [&str; 2] = ["adj_x", "adj_y"];

/// Returns the rows and columns in the last two dimensions.
pub(crate) fn oriented(shape: &TensorShape, transposed: bool) -> [usize; 2] {
    match *shape.dims() {
        [.., rows, columns] if transposed => [columns, rows],
        [.., rows, columns] => [rows, columns],
        _ => [1, 1],
    }
}

pub(crate) fn layout(transposed: bool, [rows, columns]: [usize; 2]) -> Layout {
    if transposed { Layout::transposed(rows, columns) } else { Layout::row_major(rows, columns) }
}

/// Returns the metadata of a product of two matrices, which may have further arguments.
fn matmul_metadata(call: MetadataCall<'_>) -> Described {
    let &[a, b, ..] = call.arguments else {
        return Err(invalid(format!("a product takes 2 arguments, got {}", call.arguments.len())));
    };
    if a.dtype != b.dtype {
        return Err(invalid(format!(
            "incompatible dtypes for MatMul: In[0]: {}, In[1]: {}",
            a.dtype, b.dtype
        )));
    }
    for (number, matrix) in [a, b].iter().enumerate() {
        if matrix.shape.rank() != 2 {
            let rank = matrix.shape.rank();
            return Err(invalid(format!(
                "argument {number} of matmul op is not a rank-2 tensor. Actual rank is {rank}"
            )));
        }
    }
    let flags = transposed(call.attrs, MATMUL)?;
    let ([m, k], [inner, n]) = (oriented(&a.shape, flags[0]), oriented(&b.shape, flags[1]));
    if k != inner {
        return Err(invalid(format!(
            "matmul arguments have incompatible shapes: In[0]: {}, In[1]: {}. transpose_a: {}, transpose_b: {}",
            a.shape,
            b.shape,
            u8::from(flags[0]),
            u8::from(flags[1])
        )));
    }
    one(TensorMetadata::new(a.dtype, [m, n]))
}

fn batch_metadata(call: MetadataCall<'_>, broadcasts: bool) -> Described {
    let [x, y] = call.take()?;
    if x.dtype != y.dtype {
        return Err(invalid(format!(
            "incompatible dtypes for MatMul: In[0]: {}, In[1]: {}",
            x.dtype, y.dtype
        )));
    }
    let (Some(x_batch), Some(y_batch)) = (batch_dims(&x.shape), batch_dims(&y.shape)) else {
        return Err(invalid(format!(
            "In[0] and In[1] must have at least 2 dimensions: {} vs. {}",
            x.shape, y.shape
        )));
    };
    let incompatible = || {
        invalid(format!("In[0] and In[1] must have compatible batch dimensions: {} vs. {}", x.shape, y.shape))
    };
    if !broadcasts && x_batch != y_batch {
        return Err(incompatible());
    }
    let batch = tfrt_math::broadcast_shapes(x_batch, y_batch).map_err(|_| incompatible())?;
    let flags = transposed(call.attrs, BATCHED)?;
    let ([m, k], [inner, n]) = (oriented(&x.shape, flags[0]), oriented(&y.shape, flags[1]));
    if k != inner {
        return Err(invalid(format!("Matrix size-incompatible: In[0]: {}, In[1]: {}", x.shape, y.shape)));
    }
    one(TensorMetadata::new(x.dtype, TensorShape::new(&[batch.as_slice(), &[m, n]].concat())?))
}

/// Returns the dimensions before the last two.
pub(super) fn batch_dims(shape: &TensorShape) -> Option<&[usize]> {
    Some(&shape.dims()[..shape.rank().checked_sub(2)?])
}

/// Evaluates `$body` with `$T` as a type that matrices are multiplied in.
macro_rules! with_factor {
    ($dtype:expr, $op:expr, |$T:ident| $body:expr) => {
        with_type!($dtype, $op, |$T| $body,
            F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32, F64 f64, I32 i32, I64 i64, UI8 u8, I8 i8, I16 i16)
    };
}

/// Plans a product for its operands.
fn plan<T: MatMulElement>(
    call: &CpuCall<'_>,
    (a, b): (&TensorShape, &TensorShape),
    flags: [bool; 2],
) -> Result<MatMul<T>, Diagnostic> {
    let ([m, k], [_, n]) = (oriented(a, flags[0]), oriented(b, flags[1]));
    let plan = MatMul::new(m, k, n, workers(call.cx));
    match flags {
        [false, false] => plan,
        _ => plan.and_then(|plan| plan.operands(layout(flags[0], [m, k]), layout(flags[1], [k, n]))),
    }
    .map_err(shape_error)
}

fn matmul(call: CpuCall<'_>) -> Computed {
    let ([a, b], flags) = (call.dense()?, transposed(call.attrs, MATMUL)?);
    if is_complex(a.dtype()) {
        let out = call.allocate_unset(0)?;
        return with_complex!(a.dtype(), "tf.MatMul", |T| {
            complex_product::<T>(&call, [a, b], out, flags, 1, false)
        });
    }
    with_factor!(a.dtype(), "tf.MatMul", |T| {
        let mut out = call.allocate_unset(0)?;
        if multiply_small::<T>((a, b), flags, &mut out)? {
            return Ok(out.into());
        }
        if let Some(kept) = KeptProduct::new(&call, (a, b), flags, None)? {
            return kept.run(&call, a, None, out);
        }
        multiply(&call, plan::<T>(&call, (a.shape(), b.shape()), flags)?, (a, b), out)
    })
}

/// Computes a product that is small enough to need no plan. Returns whether it did.
fn multiply_small<T: Element + MatMulElement>(
    (a, b): (&DenseHostTensor, &DenseHostTensor),
    flags: [bool; 2],
    out: &mut DenseHostTensor,
) -> Result<bool, Diagnostic> {
    let ([m, k], [_, n]) = (oriented(a.shape(), flags[0]), oriented(b.shape(), flags[1]));
    let layouts = [layout(flags[0], [m, k]), layout(flags[1], [k, n])];
    let (a, b) = (a.read::<T>(&ME)?, b.read::<T>(&ME)?);
    Ok(small_matmul([m, k, n], (&a, layouts[0]), (&b, layouts[1]), out.elements_mut::<T>()?))
}

fn multiply<T: Element + MatMulElement>(
    call: &CpuCall<'_>,
    plan: MatMul<T>,
    (a, b): (&DenseHostTensor, &DenseHostTensor),
    mut out: DenseHostTensor,
) -> Computed {
    if plan.block_count() <= 1 {
        // Nothing else computes at the same time, so no handles are needed.
        let input = (a.read::<T>(&ME)?, b.read::<T>(&ME)?);
        plan.run_in_turn(MatMulInput::new(&input.0, &input.1), out.elements_mut::<T>()?)
            .map_err(shape_error)?;
        return Ok(out.into());
    }
    let reads = (a.read_owned::<T>(&ME)?, b.read_owned::<T>(&ME)?);
    let operands = (reads, out.write_owned::<T>(&ME)?);
    let result = HostTensor::from(out);
    run(call.cx, Ok(plan), operands, |(a, b)| MatMulInput::new(a, b), |c| c, result).map(Into::into)
}

fn batch_matmul(call: CpuCall<'_>) -> Computed {
    let ([x, y], flags, out) = (call.dense()?, transposed(call.attrs, BATCHED)?, call.allocate_unset(0)?);
    let batch = batch_dims(out.shape()).unwrap_or_default().to_vec();
    if batch_dims(x.shape()) == Some(&batch)
        && let Some(kept) = KeptProduct::new(&call, (x, y), flags, None)?
    {
        return kept.run(&call, x, None, out);
    }
    let (x, y) = (spread(&call, x, &batch)?, spread(&call, y, &batch)?);
    products(&call, "tf.BatchMatMulV2", [&x, &y], out, flags, true)
}

/// Computes the products of batches of matrices. Each batch has one matrix for each matrix of the
/// result, or one for all. `conjugates` says whether transposed complex matrices are also
/// conjugated.
pub(super) fn products(
    call: &CpuCall<'_>,
    op: &str,
    [x, y]: [&DenseHostTensor; 2],
    out: DenseHostTensor,
    flags: [bool; 2],
    conjugates: bool,
) -> Computed {
    let count = product(batch_dims(out.shape()).unwrap_or_default());
    if is_complex(x.dtype()) {
        return with_complex!(x.dtype(), op, |T| {
            complex_product::<T>(call, [x, y], out, flags, count, conjugates)
        });
    }
    with_factor!(x.dtype(), op, |T| {
        let ([m, k], [_, n]) = (oriented(x.shape(), flags[0]), oriented(y.shape(), flags[1]));
        let layouts = [batch_layout(x.shape(), flags[0]), batch_layout(y.shape(), flags[1])];
        let plan = MatMul::<T>::new(m, k, n, workers(call.cx))
            .and_then(|plan| plan.operands(layouts[0], layouts[1])?.batched(count))
            .map_err(shape_error)?;
        multiply(call, plan, (x, y), out)
    })
}

/// Returns the layout of the matrices of a batch, which may have one matrix for all.
fn batch_layout(shape: &TensorShape, transposed: bool) -> Layout {
    let layout = layout(transposed, oriented(shape, transposed));
    let single = product(batch_dims(shape).unwrap_or_default()) == 1;
    Layout { batch_stride: if single { 0 } else { layout.batch_stride }, ..layout }
}

/// The number of columns of a row that are summed at a time.
const SUMS: usize = 64;

/// Computes `count` products of complex matrices, row by row in double precision. `conjugates` says
/// whether transposed ones are also conjugated.
fn complex_product<T: Field<Wide = C>>(
    call: &CpuCall<'_>,
    [a, b]: [&DenseHostTensor; 2],
    out: DenseHostTensor,
    flags: [bool; 2],
    count: usize,
    conjugates: bool,
) -> Computed {
    let ([m, k], [_, n]) = (oriented(a.shape(), flags[0]), oriented(b.shape(), flags[1]));
    let (a_at, b_at) = (batch_layout(a.shape(), flags[0]), batch_layout(b.shape(), flags[1]));
    let (a, b) = (a.read_owned::<T>(&ME)?, b.read_owned::<T>(&ME)?);
    let factor = move |x: T, transposed: bool| {
        let x = x.wide();
        if conjugates && transposed { x.conj() } else { x }
    };
    let cost = n.saturating_mul(k).saturating_mul(4);
    compute(call, &ME, out, (count.saturating_mul(m), n, cost), move |rows, out: &mut [T]| {
        for (row, out) in rows.zip(out.chunks_exact_mut(n.max(1))) {
            let (matrix, row) = (row / m, row % m);
            let (a, b) = (&a[matrix * a_at.batch_stride..], &b[matrix * b_at.batch_stride..]);
            for (block, out) in out.chunks_mut(SUMS).enumerate() {
                let mut sums = [C::default(); SUMS];
                for inner in 0..k {
                    let x = factor(a[row * a_at.row_stride + inner * a_at.col_stride], flags[0]);
                    let first = inner * b_at.row_stride + block * SUMS * b_at.col_stride;
                    for (column, sum) in sums[..out.len()].iter_mut().enumerate() {
                        *sum += x * factor(b[first + column * b_at.col_stride], flags[1]);
                    }
                }
                out.iter_mut().zip(&sums).for_each(|(out, &sum)| *out = T::narrow(sum));
            }
        }
        Ok(())
    })
}

/// Returns a batch with a matrix for each place of `batch`, or with one for all.
fn spread(
    call: &CpuCall<'_>,
    tensor: &DenseHostTensor,
    batch: &[usize],
) -> Result<DenseHostTensor, Diagnostic> {
    let own = batch_dims(tensor.shape()).unwrap_or_default();
    if product(own) == 1 || own == batch {
        return Ok(tensor.clone());
    }
    let dims = [batch, &tensor.shape().dims()[own.len()..]].concat();
    let moves = broadcast_moves(tensor.shape().dims(), &dims)
        .ok_or_else(|| invalid(format!("a batch of shape {} has no shape {dims:?}", tensor.shape())))?;
    moves.copy_dense(call, tensor, &dims)
}

/// Returns the steps of a fused product with their arguments.
fn steps<T: Element + Float>(
    attrs: &OpAttrs,
    names: &[&str],
    arguments: &[&HostTensor],
    columns: usize,
) -> Result<Vec<Step<T>>, Diagnostic> {
    let mut rest = arguments.iter().copied();
    let mut vector = |what: &str| channel_vector::<T>(rest.next(), what, columns, &ME);
    let leak = fused_leak(attrs)?;
    let mut steps = Vec::with_capacity(names.len());
    for &name in names {
        steps.push(match name {
            "BiasAdd" => Step::Bias(vector("Bias")?),
            "AddOne" => Step::AddOne,
            "FusedBatchNorm" => {
                let epsilon = float_attr(attrs, "epsilon")?
                    .ok_or_else(|| invalid("missing epsilon attribute for the FusedBatchNorm fusion"))?;
                let scale = vector("Scale")?;
                for what in ["Offset", "Mean", "Variance"] {
                    vector(what)?;
                }
                // Existing programs expect the original's results, which computes with the type of
                // the first of the four, and rounds each step.
                let column = |&v: &T| {
                    let deviation = v.plus(T::from_f64(epsilon)).sqrt();
                    [v, v.times(T::from_f64(1.0 / deviation.to_f64())), v]
                };
                Step::Normalize(scale.iter().map(column).collect())
            }
            name => match Activation::named(name, leak) {
                Some(activation) => Step::Activation(activation),
                None => return Err(invalid(format!("Unsupported fusion type: {name}"))),
            },
        });
    }
    match rest.next() {
        Some(_) => {
            Err(invalid(format!("{} arguments are too many for the fusion {names:?}", arguments.len())))
        }
        None => Ok(steps),
    }
}

fn fused(call: CpuCall<'_>, attribute: &str) -> Computed {
    let [a, b, rest @ ..] = call.arguments else {
        return Err(invalid(format!("a product takes 2 arguments, got {}", call.arguments.len())));
    };
    let (a, b, flags) = (a.dense()?, b.dense()?, transposed(call.attrs, MATMUL)?);
    let names = names(call.attrs, attribute)?;
    if names.is_empty() {
        return Err(invalid("FusedMatMul must specify fused operations"));
    }
    // Many calls add a bias, and apply one activation at most.
    let simple = match (&names[..], rest) {
        (["BiasAdd"], [bias]) => Some((bias, None)),
        (["BiasAdd", name], [bias]) => {
            Activation::named(name, fused_leak(call.attrs)?).map(|activation| (bias, Some(activation)))
        }
        _ => None,
    };
    if let Some((bias, activation)) = simple
        && let Some(kept) = KeptProduct::new(&call, (a, b), flags, activation)?
    {
        return kept.run(&call, a, Some(bias), call.allocate_unset(0)?);
    }
    with_float!(a.dtype(), "tf._FusedMatMul", |T| {
        let (plan, out) = (plan::<T>(&call, (a.shape(), b.shape()), flags)?, call.allocate_unset(0)?);
        let columns = oriented(out.shape(), false)[1];
        let reads = (a.read_owned::<T>(&ME)?, b.read_owned::<T>(&ME)?);
        // The steps that the product itself applies when it stores its results.
        let stored = match simple {
            Some((bias, None)) => Some((tfrt_math::Activation::None, bias)),
            Some((bias, Some(Activation::Relu))) => Some((tfrt_math::Activation::Relu, bias)),
            _ => None,
        };
        if let Some((activation, bias)) = stored {
            let bias = channel_vector::<T>(Some(bias), "Bias", columns, &ME)?;
            let operands = ((reads, bias), out.write_owned::<T>(&ME)?);
            let (plan, result) = (plan.activated(activation), HostTensor::from(out));
            return run(
                call.cx,
                Ok(plan),
                operands,
                |((a, b), bias)| MatMulInput { bias: Some(bias), ..MatMulInput::new(a, b) },
                |c| c,
                result,
            )
            .map(Into::into);
        }
        let steps = steps::<T>(call.attrs, &names, rest, columns)?;
        run_with_steps(&call, plan, (reads, out), |(a, b)| MatMulInput::new(a, b), (steps, columns))
    })
}

const MATRICES: [AttrSpec; 2] =
    [attr::boolean_or("transpose_a", false), attr::boolean_or("transpose_b", false)];

const FUSED_MAT_MUL: [AttrSpec; 5] = [
    attr::strings("fused_ops"),
    attr::boolean_or("transpose_a", false),
    attr::boolean_or("transpose_b", false),
    attr::float("epsilon").optional(),
    attr::float_or("leakyrelu_alpha", 0.2),
];

const JIT_FUSED_MAT_MUL: [AttrSpec; 5] = [
    attr::strings("fusion"),
    attr::boolean_or("transpose_a", false),
    attr::boolean_or("transpose_b", false),
    attr::float("epsilon").optional(),
    attr::float_or("leakyrelu_alpha", 0.2),
];

const BATCH: [AttrSpec; 2] = [attr::boolean_or("adj_x", false), attr::boolean_or("adj_y", false)];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.MatMul").types(types::FACTORS).attrs(MATRICES).metadata(matmul_metadata).cpu(matmul);
    ops.add("tf.BatchMatMul")
        .types(types::FACTORS)
        .attrs(BATCH)
        .metadata(|call| batch_metadata(call, false))
        .cpu(batch_matmul);
    for name in ["tf.BatchMatMulV2", "tf.BatchMatMulV3"] {
        ops.add(name)
            .types(types::FACTORS)
            .attrs(BATCH)
            .metadata(|call| batch_metadata(call, true))
            .cpu(batch_matmul);
    }
    ops.add("tf._FusedMatMul")
        .types(types::FLOATS)
        .attrs(FUSED_MAT_MUL)
        .metadata(matmul_metadata)
        .cpu(|call| fused(call, "fused_ops"));
    ops.add("tf._JitFusedMatMul")
        .types(types::FLOATS)
        .attrs(JIT_FUSED_MAT_MUL)
        .metadata(matmul_metadata)
        .cpu(|call| fused(call, "fusion"));
}
