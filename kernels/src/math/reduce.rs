//! Reductions and their opposite, broadcasting.

use tfrt_compute::{run, run_reduction};
use tfrt_host::{Arg, AsyncValueRef, Chain, Diagnostic, ExecutionContext, KernelRegistry};
use tfrt_math::{ArgExtreme, Binary, Mean, Number, Reduce, Reduction, Sum};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorShape};

use super::check;

static BROADCAST: Accessor = Accessor::new("tfrt_test.broadcast");
static BROADCAST_2D: Accessor = Accessor::new("tfrt_test.broadcast_2d");
static ARGMAX: Accessor = Accessor::new("tfrt_test.argmax");
static REDUCE_MEAN: Accessor = Accessor::new("tfrt_test.reduce_mean");
static MEAN_AXIS_ZERO: Accessor = Accessor::new("tfrt_test.mean_axis_zero");
static GLOBAL_AVERAGE: Accessor = Accessor::new("tfrt_test.global_average_pooling");
static COLUMN_SUMS: Accessor = Accessor::new("tfrt_math.column_sums");
static COUNT_EQUAL: Accessor = Accessor::new("tfrt_math.count_equal");

type Done = Result<AsyncValueRef<Chain>, Diagnostic>;
type NewTensor = Result<AsyncValueRef<HostTensor>, Diagnostic>;

/// `out = x` under broadcasting, in a plan of two operands whose second adds nothing but its shape.
fn spread<T: Element + Number, V: tfrt_host::Value>(
    (x, dims): (&DenseHostTensor, &[usize]),
    out: &DenseHostTensor,
    me: &Accessor,
    cx: &ExecutionContext,
    value: V,
) -> Result<AsyncValueRef<V>, Diagnostic> {
    // An operand of one element for each place that only the output has.
    let template: Vec<usize> =
        dims.iter().zip(out.shape().dims()).map(|(&from, &to)| if from == to { 1 } else { to }).collect();
    let count = template.iter().product();
    let plan = Binary::new(|x: T, _: T| x, dims, &template);
    let reads = (x.read_owned::<T>(me)?, vec![T::ZERO; count]);
    run(cx, plan, (reads, out.write_owned::<T>(me)?), |(x, template)| (x, template), |out| out, value)
}

/// A vector repeated along all axes but the last.
fn broadcast<T: Element + Number, const N: usize>(
    vector: Arg<DenseHostTensor>,
    shape: Arg<TensorShape>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> NewTensor {
    let (from, to) = (vector.shape().fixed::<1>()?, shape.fixed::<N>()?);
    if to.0.last() != from.0.last() {
        return Err(Diagnostic::invalid_argument(format!(
            "broadcast input tensor dimension and target shape mismatch: {from} vs. {to}"
        )));
    }
    let out = check::allocate::<T>(&to.0, cx)?;
    let mut dims = [1; N];
    dims[N - 1] = from.0[0];
    spread::<T, _>((&vector, &dims), &out, &BROADCAST, cx, out.clone().into())
}

/// `NC` to `NHWC`.
fn broadcast_2d(
    input: Arg<DenseHostTensor>,
    output: Arg<DenseHostTensor>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    let ([batch, channels], [n, _, _, c]) = (input.shape().fixed::<2>()?.0, output.shape().fixed::<4>()?.0);
    if [batch, channels] != [n, c] {
        return Err(Diagnostic::invalid_argument(format!(
            "Broadcast2D output shape {} does not match the input shape {}",
            output.shape(),
            input.shape()
        )));
    }
    spread::<f32, _>((&input, &[batch, 1, 1, channels]), &output, &BROADCAST_2D, cx, Chain)
}

/// The position of the greatest element of each row.
fn argmax<T: Element + Number>(
    input: Arg<DenseHostTensor>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> NewTensor {
    let [rows, cols] = input.shape().fixed::<2>()?.0;
    let out = check::allocate::<i32>(&[rows], cx)?;
    let plan = ArgExtreme::<T, i32>::argmax(&[rows, cols], 1);
    let operands = (input.read_owned::<T>(&ARGMAX)?, out.write_owned::<i32>(&ARGMAX)?);
    run(cx, plan, operands, |x| x, |out| out, out.clone().into())
}

fn reduce_mean<T: Element + Number>(
    input: Arg<DenseHostTensor>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> NewTensor {
    let [len] = input.shape().fixed::<1>()?.0;
    let out = check::allocate::<T>(&[], cx)?;
    let plan = Reduce::<T, Mean>::new(&[len], &[0]);
    let operands = (input.read_owned::<T>(&REDUCE_MEAN)?, out.write_owned::<T>(&REDUCE_MEAN)?);
    run_reduction(cx, plan, operands, out.clone().into())
}

/// Reduces `axes` of a tensor that is seen as one of shape `dims`.
fn reduce_into<R: Reduction<f32> + 'static>(
    (input, dims, axes): (&DenseHostTensor, &[usize], &[usize]),
    output: &DenseHostTensor,
    me: &Accessor,
    cx: &ExecutionContext,
) -> Done {
    let plan = Reduce::<f32, R>::new(dims, axes);
    run_reduction(cx, plan, (input.read_owned::<f32>(me)?, output.write_owned::<f32>(me)?), Chain)
}

fn mean_axis_zero(
    input: Arg<DenseHostTensor>,
    output: Arg<DenseHostTensor>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    let (input_shape, output_shape) = (input.shape().fixed::<2>()?, output.shape().fixed::<1>()?);
    if input_shape.0[1] != output_shape.0[0] {
        return Err(Diagnostic::invalid_argument(format!(
            "MeanAxisZero output shape {output_shape} does not match the input shape {input_shape}"
        )));
    }
    reduce_into::<Mean>((&input, &input_shape.0, &[0]), &output, &MEAN_AXIS_ZERO, cx)
}

fn column_sums(
    input: Arg<DenseHostTensor>,
    output: Arg<DenseHostTensor>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    let dims = input.shape().fixed::<2>()?.0;
    check::shape_is(("output", &output), "the input's width", &[dims[1]])?;
    reduce_into::<Sum>((&input, &dims, &[0]), &output, &COLUMN_SUMS, cx)
}

/// `NHWC` to `NC`.
fn global_average_pooling(
    input: Arg<DenseHostTensor>,
    output: Arg<DenseHostTensor>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    let dims = input.shape().fixed::<4>()?.0;
    check::shape_is(("output", &output), "the input's batch and channels", &[dims[0], dims[3]])?;
    reduce_into::<Mean>((&input, &dims, &[1, 2]), &output, &GLOBAL_AVERAGE, cx)
}

/// In how many places two tensors are equal.
fn count_equal(
    a: Arg<DenseHostTensor>,
    b: Arg<DenseHostTensor>,
    chain: Chain,
) -> Result<(i32, Chain), Diagnostic> {
    check::same_shape(("right operand", &b), ("left operand", &a))?;
    let (a, b) = (a.read::<i32>(&COUNT_EQUAL)?, b.read::<i32>(&COUNT_EQUAL)?);
    let count = a.iter().zip(b.iter()).filter(|(a, b)| a == b).count();
    let count = i32::try_from(count).map_err(|_| Diagnostic::invalid_argument("too many places to count"))?;
    Ok((count, chain))
}

fn register_for<T: Element + Number>(registry: &mut KernelRegistry, suffix: &str) {
    const BROADCAST_DOC: &str =
        "A tensor of this shape in which a vector is repeated along all axes but the last.";
    registry.add(format!("tfrt_test.broadcast.{suffix}.2"), broadcast::<T, 2>).doc(BROADCAST_DOC);
    registry.add(format!("tfrt_test.broadcast.{suffix}.3"), broadcast::<T, 3>).doc(BROADCAST_DOC);
    registry
        .add(format!("tfrt_test.argmax.{suffix}.2"), argmax::<T>)
        .doc("The position of the greatest element of each row, the first of equal ones.");
    registry
        .add(format!("tfrt_test.reduce_mean.{suffix}.1"), reduce_mean::<T>)
        .doc("The mean of a vector, as a tensor of rank 0.");
    for kernel in ["broadcast.{}.2", "broadcast.{}.3", "argmax.{}.2", "reduce_mean.{}.1"] {
        registry.add_chain_form(&format!("tfrt_test.{}", kernel.replace("{}", suffix)));
    }
}

pub(super) fn register(registry: &mut KernelRegistry) {
    register_for::<f32>(registry, "f32");
    register_for::<i32>(registry, "i32");
    register_for::<i64>(registry, "i64");
    registry
        .add("tfrt_test.broadcast_2d.f32", broadcast_2d)
        .mutates(&[1])
        .doc("Repeats each row of a matrix (NC) over an image (NHWC).");
    registry
        .add("tfrt_test.mean_axis_zero.f32", mean_axis_zero)
        .mutates(&[1])
        .doc("The mean of each column of a matrix.");
    registry
        .add("tfrt_math.column_sums.f32", column_sums)
        .mutates(&[1])
        .doc("The sum of each column of a matrix.");
    registry
        .add("tfrt_test.global_average_pooling.f32", global_average_pooling)
        .mutates(&[1])
        .doc("The mean of each channel of each image (NHWC to NC).");
    registry
        .add("tfrt_math.count_equal.i32", count_equal)
        .doc("In how many places two tensors of one shape are equal.");
}
