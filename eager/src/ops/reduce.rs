//! Reductions over some dimensions: `tf.Sum`, `tf.Mean`, `tf.Max`, `tf.Min`, `tf.Prod`, `tf.All`,
//! `tf.Any`, and sums of biases.

use smallvec::SmallVec;
use tfrt_compute::{OnQueue, run_reduction, shape_error};
use tfrt_host::{DType, Diagnostic};
use tfrt_math::{Float, Max, Mean, Min, Prod, Reduce, Reduction, Sum};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata, TensorShape};

use super::complex::{Average, Product, Total};
use super::elementwise::{combine_two, map};
use super::support::{
    Computed, Described, allocate, axis_of, integers, invalid, one, take, with_float, with_number,
    with_number_or_complex,
};
use super::types;
use crate::{CpuCall, MetadataCall, OpRegistry, OpResult, attr};

static ME: Accessor = Accessor::new("tf reduction");

/// Whether all are true; true of none.
#[derive(Clone, Copy, Debug)]
struct All;
/// Whether any is true; false of none.
#[derive(Clone, Copy, Debug)]
struct Any;

macro_rules! logical {
    ($name:ident, $identity:literal, $op:tt) => {
        impl Reduction<bool> for $name {
            type Acc = bool;
            const IDENTITY: bool = $identity;
            fn fold(acc: bool, x: bool) -> bool {
                acc $op x
            }
            fn merge(a: bool, b: bool) -> bool {
                a $op b
            }
            fn finish(acc: bool, _count: usize) -> bool {
                acc
            }
        }
    };
}

logical!(All, true, &);
logical!(Any, false, |);

/// The dimensions that a tensor names, each once.
pub(super) fn axes_of(axes: &HostTensor, rank: usize, op: &str) -> Result<SmallVec<[usize; 8]>, Diagnostic> {
    let mut seen = SmallVec::<[usize; 8]>::new();
    for &axis in &integers(axes, "reduction_indices")? {
        let axis = axis_of(axis, rank, op).map_err(|_| {
            invalid(format!(
                "{op} reduction index must be in [-input_rank, input_rank) range, got {axis} for rank {rank}"
            ))
        })?;
        if seen.contains(&axis) {
            return Err(invalid(format!("{op} reduction indices must be unique")));
        }
        seen.push(axis);
    }
    Ok(seen)
}

/// The extents that are left of a shape; `keeps`: with 1 for those that are not.
pub(super) fn reduced_shape(shape: &TensorShape, axes: &[usize], keeps: bool) -> SmallVec<[usize; 8]> {
    let dims = shape.dims().iter().enumerate();
    dims.filter_map(|(axis, &dim)| match axes.contains(&axis) {
        true => keeps.then_some(1),
        false => Some(dim),
    })
    .collect()
}

/// The reduction of the first argument over the dimensions that the second one names.
fn reduce<T: Element, R: Reduction<T>>(call: &CpuCall<'_>, op: &str) -> Computed {
    let [tensor, axes] = take(call)?;
    let dense = tensor.dense()?;
    let axes = axes_of(axes, dense.shape().rank(), op)?;
    let keeps = call.attrs.optional("keep_dims")?.unwrap_or(false);
    let dims = reduced_shape(dense.shape(), &axes, keeps);
    reduce_over::<T, R>(call, dense, &axes, allocate(call, T::DTYPE, &dims)?)
}

fn reduce_over<T: Element, R: Reduction<T>>(
    call: &CpuCall<'_>,
    x: &DenseHostTensor,
    axes: &[usize],
    out: DenseHostTensor,
) -> Computed {
    let plan = Reduce::<T, R>::new(x.shape().dims(), axes);
    let operands = (x.read_owned::<T>(&ME)?, out.write_owned::<T>(&ME)?);
    run_reduction(call.cx, plan, operands, HostTensor::from(out)).map(OpResult::from)
}

/// The sums over some dimensions, at once.
pub(super) fn summed(
    call: &CpuCall<'_>,
    x: &DenseHostTensor,
    axes: &[usize],
    op: &str,
) -> Result<DenseHostTensor, Diagnostic> {
    fn over<T: Element, R: Reduction<T>>(
        call: &CpuCall<'_>,
        x: &DenseHostTensor,
        axes: &[usize],
    ) -> Result<DenseHostTensor, Diagnostic> {
        let plan = Reduce::<T, R>::new(x.shape().dims(), axes).map_err(shape_error)?;
        let mut out = allocate(call, T::DTYPE, &reduced_shape(x.shape(), axes, false))?;
        plan.run(&OnQueue(call.cx), &x.read::<T>(&ME)?, out.elements_mut::<T>()?).map_err(shape_error)?;
        Ok(out)
    }
    with_number_or_complex!(x.dtype(), op, |T| over::<T, Sum>(call, x, axes), over::<T, Total>(call, x, axes))
}

/// What is added along the last dimension.
fn bias_metadata(call: MetadataCall<'_>) -> Described {
    let [value, bias] = call.take()?;
    // Existing programs expect these texts.
    if value.dtype != bias.dtype {
        return Err(invalid("incompatible dtypes for tf.BiasAdd"));
    }
    if call.attrs.optional::<&str>("data_format")?.is_some_and(|format| format != "NHWC") {
        return Err(invalid("invalid data format. Currently only support NHWC"));
    }
    if bias.shape.rank() != 1 {
        return Err(invalid("bias must be 1-D"));
    }
    if value.shape.rank() < 2 {
        return Err(invalid(format!("Input tensor must be at least 2D: {}", value.shape)));
    }
    if bias.shape.dims().last() != value.shape.dims().last() {
        return Err(invalid("bias must has the size of the last dimension of value"));
    }
    one(value.clone())
}

fn bias_add(call: CpuCall<'_>) -> Computed {
    with_number_or_complex!(
        call.result(0)?.dtype,
        "tf.BiasAdd",
        |T| combine_two::<T, T, T>(&call, &ME, tfrt_math::ops::add),
        combine_two::<T, T, T>(&call, &ME, |x, bias| x + bias)
    )
}

fn bias_gradient_metadata(call: MetadataCall<'_>) -> Described {
    let [gradient] = call.take()?;
    let rank = gradient.shape.rank();
    if rank < 2 {
        return Err(invalid(format!("Input tensor must be at least 2D: {}", gradient.shape)));
    }
    one(TensorMetadata::new(
        gradient.dtype,
        [gradient.shape.dims()[channels(&call.attrs.optional("data_format")?, rank)?]],
    ))
}

/// The dimension of the channels.
pub(super) fn channels(format: &Option<&str>, rank: usize) -> Result<usize, Diagnostic> {
    match *format {
        None | Some("NHWC") => Ok(rank - 1),
        Some("NCHW") => Ok(1),
        Some(other) => Err(invalid(format!("Invalid data format '{other}'"))),
    }
}

fn bias_gradient(call: CpuCall<'_>) -> Computed {
    let [gradient] = call.dense()?;
    let rank = gradient.shape().rank();
    let kept = channels(&call.attrs.optional("data_format")?, rank)?;
    let axes: SmallVec<[usize; 8]> = (0..rank).filter(|&axis| axis != kept).collect();
    let out = call.allocate_unset(0)?;
    with_number_or_complex!(
        gradient.dtype(),
        "tf.BiasAddGrad",
        |T| reduce_over::<T, Sum>(&call, gradient, &axes, out),
        reduce_over::<T, Total>(&call, gradient, &axes, out)
    )
}

/// Half the sum of all squares.
fn l2_loss_metadata(call: MetadataCall<'_>) -> Described {
    let [argument] = call.take()?;
    one(TensorMetadata::new(argument.dtype, TensorShape::scalar()))
}

fn l2_loss(call: CpuCall<'_>) -> Computed {
    let [x] = call.dense()?;
    let mut out = call.allocate(0)?;
    with_float!(x.dtype(), "tf.L2Loss", |T| {
        let sum: f64 = x.read::<T>(&ME)?.iter().map(|&x| Float::to_f64(x).powi(2)).sum();
        out.elements_mut::<T>()?.fill(<T as Float>::from_f64(0.5 * sum));
        Ok(out.into())
    })
}

/// All arguments have one shape and type.
fn add_n_metadata(call: MetadataCall<'_>) -> Described {
    let [first, rest @ ..] = call.arguments else { return Err(invalid("tf.AddN needs at least one tensor")) };
    if let Some(other) = rest.iter().find(|other| *other != first) {
        return Err(invalid(format!(
            "Inputs to operation AddN must have the same size and shape: {first} and {other}"
        )));
    }
    one(TensorMetadata::clone(first))
}

fn add_n(call: CpuCall<'_>) -> Computed {
    with_number_or_complex!(
        call.result(0)?.dtype,
        "tf.AddN",
        |T| add_all::<T>(&call, tfrt_math::ops::add),
        add_all::<T>(&call, |x, y| x + y)
    )
}

fn add_all<T: Element>(call: &CpuCall<'_>, add: impl Fn(T, T) -> T + Copy) -> Computed {
    if call.arguments.len() == 1 {
        return map::<T>(call, &ME, |x| x);
    }
    let mut out = call.allocate(0)?;
    let sum = out.elements_mut::<T>()?;
    for tensor in call.arguments {
        tfrt_math::zip_in_place(sum, &tensor.dense()?.read::<T>(&ME)?, add);
    }
    Ok(out.into())
}

/// Reductions of the types of numbers that `with` chooses among.
macro_rules! reductions {
    ($ops:expr, $with:ident, $types:ident; $($name:literal => $($reduction:ty),+;)*) => {$(
        $ops.add($name).types(types::$types).attrs([attr::boolean_or("keep_dims", false)]).cpu(|call| {
            let dtype = call.arguments.first().map_or(DType::F32, |tensor| tensor.dtype());
            $with!(dtype, $name, |T| $(reduce::<T, $reduction>(&call, $name)),+)
        });
    )*};
}

pub(super) fn register(ops: &mut OpRegistry) {
    reductions! { ops, with_number_or_complex, FIELDS;
        "tf.Sum" => Sum, Total;
        "tf.Mean" => Mean, Average;
        "tf.Prod" => Prod, Product;
    }
    reductions! { ops, with_number, NUMBERS;
        "tf.Max" => Max;
        "tf.Min" => Min;
    }
    ops.add("tf.All")
        .types(types::BOOL)
        .attrs([attr::boolean_or("keep_dims", false)])
        .cpu(|call| reduce::<bool, All>(&call, "tf.All"));
    ops.add("tf.Any")
        .types(types::BOOL)
        .attrs([attr::boolean_or("keep_dims", false)])
        .cpu(|call| reduce::<bool, Any>(&call, "tf.Any"));
    ops.add("tf.BiasAdd")
        .types(types::FIELDS)
        .attrs([attr::string_or("data_format", "NHWC")])
        .metadata(bias_metadata)
        .cpu(bias_add);
    ops.add("tf.BiasAddGrad")
        .types(types::FIELDS)
        .attrs([attr::string_or("data_format", "NHWC")])
        .metadata(bias_gradient_metadata)
        .cpu(bias_gradient);
    ops.add("tf.L2Loss").types(types::FLOATS).metadata(l2_loss_metadata).cpu(l2_loss);
    ops.add("tf.AddN").types(types::FIELDS).metadata(add_n_metadata).cpu(add_n);
}
