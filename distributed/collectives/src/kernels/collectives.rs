//! Collectives on host tensors: `tfrt_dist.cpu.*`.

use tfrt_host::{Arg, AsyncValueRef, Attr, Chain, DType, Diagnostic, ExecutionContext, KernelRegistry};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, bf16, f16};

use super::collective::{Collective, Data, check_dtype, guards};
use crate::engine::{Operation, Reduction};
use crate::{DistributedContext, TaskHandle};

static ALLREDUCE: Accessor = Accessor::new("tfrt_dist.cpu.allreduce");
static BROADCAST: Accessor = Accessor::new("tfrt_dist.cpu.broadcast");
static REDUCE_SCATTER: Accessor = Accessor::new("tfrt_dist.cpu.reduce_scatter");
static ALL_TO_ALL: Accessor = Accessor::new("tfrt_dist.cpu.all_to_all");

type Context<'a> = Arg<'a, DistributedContext>;
type Text<'a> = Arg<'a, String>;
type Tensor<'a> = Arg<'a, DenseHostTensor>;
type Done = Result<AsyncValueRef<Chain>, Diagnostic>;

/// A type that means can be computed of.
trait Mean: Element {
    fn divide(self, count: usize) -> Self;
}

macro_rules! mean {
    ($($type:ty: |$value:ident, $count:ident| $divided:expr;)*) => {$(
        impl Mean for $type {
            fn divide(self, $count: usize) -> Self {
                let $value = self;
                $divided
            }
        }
    )*};
}
mean! {
    f16: |value, count| f16::from_f32(value.to_f32() / count as f32);
    bf16: |value, count| bf16::from_f32(value.to_f32() / count as f32);
    f32: |value, count| value / count as f32;
    f64: |value, count| value / count as f64;
    i32: |value, count| value / i32::try_from(count).unwrap_or(i32::MAX);
    i64: |value, count| value / i64::try_from(count).unwrap_or(i64::MAX);
}

/// Returns the reduction and whether the result is divided by the number of ranks.
fn reduction(name: &str) -> Result<(Reduction, bool), Diagnostic> {
    match name {
        "sum" => Ok((Reduction::Sum, false)),
        "mean" => Ok((Reduction::Sum, true)),
        "min" => Ok((Reduction::Min, false)),
        "max" => Ok((Reduction::Max, false)),
        _ => Err(Diagnostic::invalid_argument(format!("'{name}' is none of sum, mean, min, max"))),
    }
}

/// Divides a sum by the number of ranks, if a mean is wanted.
fn finish_mean<T: Mean>(
    output: DenseHostTensor,
    divisor: Option<usize>,
    accessor: &'static Accessor,
) -> impl FnOnce() -> Result<Chain, Diagnostic> + Send + 'static {
    move || {
        if let Some(count) = divisor {
            output.write::<T>(accessor)?.iter_mut().for_each(|element| *element = element.divide(count));
        }
        Ok(Chain)
    }
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn allreduce<T: Mean>(
    context: Context,
    group: Text,
    key: Text,
    input: Tensor,
    output: Tensor,
    _chain: Chain,
    reduction_fn: Attr<str>,
    cx: &ExecutionContext,
) -> Done {
    check_dtype(&input, T::DTYPE, "input")?;
    check_dtype(&output, T::DTYPE, "output")?;
    let collective = Collective::new(&context, &group, &key)?;
    let (reduction, is_mean) = reduction(reduction_fn.0)?;
    let divisor = is_mean.then(|| collective.size());
    let data = guards(&input, &output, &ALLREDUCE)?;
    let finish = finish_mean::<T>(output.clone(), divisor, &ALLREDUCE);
    collective.run(Operation::AllReduce(reduction), data, cx, finish)
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn reduce_scatter<T: Mean>(
    context: Context,
    group: Text,
    key: Text,
    input: Tensor,
    output: Tensor,
    _chain: Chain,
    reduction_fn: Attr<str>,
    cx: &ExecutionContext,
) -> Done {
    check_dtype(&input, T::DTYPE, "input")?;
    check_dtype(&output, T::DTYPE, "output")?;
    let collective = Collective::new(&context, &group, &key)?;
    let (reduction, is_mean) = reduction(reduction_fn.0)?;
    let divisor = is_mean.then(|| collective.size());
    let mut data = guards(&input, &output, &REDUCE_SCATTER)?;
    if data.send.is_none() {
        // With one rank, input and output may be the same memory.
        data.count = 0;
        data.receive = None;
        return collective.run(
            Operation::Barrier,
            data,
            cx,
            finish_mean::<T>(output.clone(), divisor, &REDUCE_SCATTER),
        );
    }
    let finish = finish_mean::<T>(output.clone(), divisor, &REDUCE_SCATTER);
    collective.run(Operation::ReduceScatter(reduction), data, cx, finish)
}

fn all_to_all<T: Element>(
    context: Context,
    group: Text,
    key: Text,
    input: Tensor,
    output: Tensor,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    check_dtype(&input, T::DTYPE, "input")?;
    check_dtype(&output, T::DTYPE, "output")?;
    let collective = Collective::new(&context, &group, &key)?;
    let data = guards(&input, &output, &ALL_TO_ALL)?;
    if data.send.is_none() {
        return Err(Diagnostic::invalid_argument("all_to_all needs different tensors as input and output"));
    }
    collective.run(Operation::AllToAll, data, cx, || Ok(Chain))
}

fn broadcast<T: Element>(
    context: Context,
    group: Text,
    key: Text,
    tensor: Tensor,
    sender: Arg<TaskHandle>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    check_dtype(&tensor, T::DTYPE, "tensor")?;
    let collective = Collective::new(&context, &group, &key)?;
    let root = collective.rank_of(*sender)?;
    let receive = Some(BROADCAST.write_owned(tensor.buffer())?);
    let data = Data { dtype: T::DTYPE, count: tensor.num_elements(), send: None, receive };
    collective.run(Operation::Broadcast { root }, data, cx, || Ok(Chain))
}

fn barrier(context: Context, group: Text, key: Text, _chain: Chain, cx: &ExecutionContext) -> Done {
    let data = Data { dtype: DType::UI8, count: 0, send: None, receive: None };
    Collective::new(&context, &group, &key)?.run(Operation::Barrier, data, cx, || Ok(Chain))
}

fn register_for<T: Mean>(registry: &mut KernelRegistry, suffix: &str) {
    registry
        .add(format!("tfrt_dist.cpu.allreduce.{suffix}"), allreduce::<T>)
        .attributes(&["reduction_fn"])
        .mutates(&[4])
        .doc(
            "Reduces (sum, mean, min, max) the inputs of all ranks of a group into the output of each. Input and output may \
             be the same tensor. All ranks give the collective the same key.",
        );
    registry
        .add(format!("tfrt_dist.cpu.reduce_scatter.{suffix}"), reduce_scatter::<T>)
        .attributes(&["reduction_fn"])
        .mutates(&[4])
        .doc(
            "Reduces (sum, mean, min, max) the inputs of all ranks of a group. The output of each rank is its part, of equal \
             size, in the order of the ranks.",
        );
    registry.add(format!("tfrt_dist.cpu.all_to_all.{suffix}"), all_to_all::<T>).mutates(&[4]).doc(
        "Sends to each rank of a group its part of the input. The output has the parts from all ranks in their order.",
    );
    registry
        .add(format!("tfrt_dist.cpu.broadcast.{suffix}"), broadcast::<T>)
        .mutates(&[3])
        .doc("Copies the sender's tensor into the tensors of the other ranks of a group.");
}

pub(super) fn register(registry: &mut KernelRegistry) {
    register_for::<f16>(registry, "f16");
    register_for::<bf16>(registry, "bf16");
    register_for::<f32>(registry, "f32");
    register_for::<f64>(registry, "f64");
    register_for::<i32>(registry, "i32");
    register_for::<i64>(registry, "i64");
    registry
        .add("tfrt_dist.cpu.barrier", barrier)
        .side_effecting()
        .doc("Completes when all ranks of a group have come to it.");
}
