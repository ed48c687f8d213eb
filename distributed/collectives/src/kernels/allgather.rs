//! Collectives that join the tensors of all ranks along an axis.

use std::sync::Arc;

use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{Arg, AsyncValueRef, Chain, DType, Diagnostic, ExecutionContext, KernelRegistry, Promise};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, MAX_RANK, TensorMetadata, bf16, f16};

use super::collective::{Collective, Data, check_dtype};
use crate::DistributedContext;
use crate::engine::Operation;

static ALLGATHER: Accessor = Accessor::new("tfrt_dist.cpu.allgather");

type Context<'a> = Arg<'a, DistributedContext>;
type Text<'a> = Arg<'a, String>;
type Tensor<'a> = Arg<'a, DenseHostTensor>;
type Done = Result<AsyncValueRef<Chain>, Diagnostic>;

/// Tensors of all ranks, to be joined along an axis.
#[derive(Clone)]
struct Join {
    /// The product of the extents before the axis.
    outer: usize,
    /// The bytes of a slice of each rank's tensor: the axis and the extents behind it.
    slices: Vec<usize>,
    /// The number of elements of each rank.
    counts: Arc<[usize]>,
    /// The extents of the result.
    dims: Vec<usize>,
}

impl Join {
    /// Plans the join of tensors that have the extents of `dims` but for the axis, where each has
    /// its own.
    fn new(dims: &[usize], axis: usize, extents: &[usize], dtype: DType) -> Self {
        let outer: usize = dims[..axis].iter().product();
        let inner: usize = dims[axis + 1..].iter().product();
        let mut joined = dims.to_vec();
        joined[axis] = extents.iter().sum();
        let size = dtype.size().unwrap_or(0);
        Self {
            outer,
            slices: extents.iter().map(|extent| extent * inner * size).collect(),
            counts: extents.iter().map(|extent| outer * extent * inner).collect(),
            dims: joined,
        }
    }

    /// Starts to gather into the output, or into memory between if slices of the ranks alternate in
    /// the output.
    fn start(
        self,
        collective: &Collective,
        input: &DenseHostTensor,
        output: &DenseHostTensor,
        cx: &ExecutionContext,
    ) -> Done {
        let data = |buffer: &HostBuffer| {
            Ok::<_, Diagnostic>(Data {
                dtype: input.dtype(),
                count: input.num_elements(),
                send: Some(ALLGATHER.read_owned(input.buffer())?),
                receive: Some(ALLGATHER.write_owned(buffer)?),
            })
        };
        let operation = Operation::AllGather { counts: self.counts.clone() };
        if self.outer <= 1 || self.slices.len() == 1 {
            return collective.run(operation, data(output.buffer())?, cx, || Ok(Chain));
        }
        let gathered = DenseHostTensor::allocate_unset(output.metadata().clone(), cx.host().allocator())?;
        let output = output.clone();
        collective.run(operation, data(gathered.buffer())?, cx, move || {
            let from = gathered.read_bytes(&ALLGATHER)?;
            let mut to = output.write_bytes(&ALLGATHER)?;
            self.interleave(&from, &mut to);
            Ok(Chain)
        })
    }

    /// Copies tensors that lie one behind the other to where their slices belong.
    fn interleave(&self, from: &[u8], to: &mut [u8]) {
        let row: usize = self.slices.iter().sum();
        let (mut from, mut column) = (from, 0);
        for &slice in &self.slices {
            let (tensor, rest) = from.split_at(slice * self.outer);
            for (place, bytes) in tensor.chunks_exact(slice.max(1)).enumerate() {
                to[place * row + column..][..slice].copy_from_slice(bytes);
            }
            (from, column) = (rest, column + slice);
        }
    }
}

fn axis_of(axis: u64, dims: &[usize]) -> Result<usize, Diagnostic> {
    usize::try_from(axis).ok().filter(|axis| *axis < dims.len()).ok_or_else(|| {
        Diagnostic::invalid_argument(format!("a tensor of rank {} has no axis {axis}", dims.len()))
    })
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn fixed_shape<T: Element>(
    context: Context,
    group: Text,
    key: Text,
    input: Tensor,
    output: Tensor,
    axis: u64,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    check_dtype(&input, T::DTYPE, "input")?;
    check_dtype(&output, T::DTYPE, "output")?;
    let collective = Collective::new(&context, &group, &key)?;
    let dims = input.shape().dims().to_vec();
    let axis = axis_of(axis, &dims)?;
    let join = Join::new(&dims, axis, &vec![dims[axis]; collective.size()], T::DTYPE);
    if output.shape().dims() != join.dims {
        return Err(Diagnostic::invalid_argument(format!(
            "the output has shape {}, but {} inputs of shape {} joined along axis {axis} have shape {:?}",
            output.shape(),
            collective.size(),
            input.shape(),
            join.dims
        )));
    }
    join.start(&collective, &input, &output, cx)
}

/// The shape of a tensor as numbers, of which all ranks have the same count: the rank, then the
/// extents.
fn encode_shape(dims: &[usize]) -> Vec<i64> {
    let mut numbers = vec![0; MAX_RANK + 1];
    numbers[0] = dims.len() as i64;
    numbers[1..].iter_mut().zip(dims).for_each(|(number, extent)| *number = *extent as i64);
    numbers
}

/// Returns the extents along the axis of all ranks.
fn extents_of(shapes: &[i64], dims: &[usize], axis: usize) -> Result<Vec<usize>, Diagnostic> {
    let own = encode_shape(dims);
    let extent = |(rank, shape): (usize, &[i64])| {
        let differs = (0..own.len()).any(|place| place != axis + 1 && shape[place] != own[place]);
        if differs {
            let count = usize::try_from(shape[0]).unwrap_or(0).min(MAX_RANK);
            return Err(Diagnostic::invalid_argument(format!(
                "the tensor of rank {rank} has shape {:?}, which cannot be joined with shape {dims:?} along axis {axis}",
                &shape[1..][..count]
            )));
        }
        Ok(usize::try_from(shape[axis + 1]).unwrap_or(0))
    };
    shapes.chunks_exact(own.len()).enumerate().map(extent).collect()
}

fn any_shape<T: Element>(
    context: Context,
    group: Text,
    key: Text,
    input: Tensor,
    axis: u64,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<(AsyncValueRef<Chain>, AsyncValueRef<HostTensor>), Diagnostic> {
    check_dtype(&input, T::DTYPE, "input")?;
    let collective = Collective::new(&context, &group, &key)?;
    let dims = input.shape().dims().to_vec();
    let axis = axis_of(axis, &dims)?;
    // The shapes of all ranks first.
    let own = HostBuffer::from_vec(encode_shape(&dims));
    let all = HostBuffer::from_vec(vec![0i64; collective.size() * (MAX_RANK + 1)]);
    let data = Data {
        dtype: DType::I64,
        count: MAX_RANK + 1,
        send: Some(ALLGATHER.read_owned(&own)?),
        receive: Some(ALLGATHER.write_owned(&all)?),
    };
    let counts = vec![MAX_RANK + 1; collective.size()].into();
    let shapes = Collective::new(&context, &group, &format!("{} (shapes)", *key))?;
    let shapes = shapes.run(Operation::AllGather { counts }, data, cx, || Ok(Chain))?;
    let (chain, chain_value) = Promise::new();
    let (tensor, tensor_value) = Promise::new();
    let (input, cx) = (input.clone(), cx.clone());
    shapes.then(move |result| {
        let started = result.map_err(Diagnostic::from).and_then(|_| {
            let bytes = ALLGATHER.read_owned(&all)?;
            let extents = extents_of(bytemuck::cast_slice(&bytes), &dims, axis)?;
            let join = Join::new(&dims, axis, &extents, T::DTYPE);
            let metadata = TensorMetadata::new(T::DTYPE, tfrt_tensor::TensorShape::new(&join.dims)?);
            let output = DenseHostTensor::allocate_unset(metadata, cx.host().allocator())?;
            Ok((join.start(&collective, &input, &output, &cx)?, output))
        });
        match started {
            Err(error) => {
                let error = cx.emit(error);
                chain.set_error(error.clone());
                tensor.set_error(error);
            }
            Ok((gathered, output)) => gathered.then(move |result| match result {
                Ok(_) => {
                    chain.emplace(Chain);
                    tensor.emplace(HostTensor::Dense(output));
                }
                Err(error) => {
                    chain.set_error(error.clone());
                    tensor.set_error(error);
                }
            }),
        }
    });
    Ok((chain_value, tensor_value))
}

fn register_for<T: Element>(registry: &mut KernelRegistry, suffix: &str) {
    registry
        .add(format!("tfrt_dist.cpu.allgather_fixed_shape.{suffix}"), fixed_shape::<T>)
        .mutates(&[4])
        .doc("Joins tensors of the same shape of all ranks of a group along an axis, in the order of the ranks.");
    registry.add(format!("tfrt_dist.cpu.allgather_any_shape.{suffix}"), any_shape::<T>).side_effecting().doc(
        "Joins the tensors of all ranks of a group along an axis, in which they may differ, in the order of the ranks.",
    );
}

pub(super) fn register(registry: &mut KernelRegistry) {
    register_for::<f16>(registry, "f16");
    register_for::<bf16>(registry, "bf16");
    register_for::<f32>(registry, "f32");
    register_for::<f64>(registry, "f64");
    register_for::<i32>(registry, "i32");
    register_for::<i64>(registry, "i64");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_the_ranks_alternate() {
        let join = Join::new(&[2, 2], 1, &[2, 1, 0], DType::I64);
        assert_eq!((join.dims.as_slice(), &*join.counts), ([2, 3].as_slice(), [4, 2, 0].as_slice()));
        let gathered: Vec<i64> = vec![0, 1, 2, 3, 40, 60];
        let mut joined = vec![0i64; 6];
        join.interleave(bytemuck::cast_slice(&gathered), bytemuck::cast_slice_mut(&mut joined));
        assert_eq!(joined, [0, 1, 40, 2, 3, 60]);
    }

    #[test]
    fn shapes_must_agree_but_for_the_axis() {
        let shapes: Vec<i64> = [encode_shape(&[2, 2]), encode_shape(&[2, 1])].concat();
        assert_eq!(extents_of(&shapes, &[2, 2], 1).unwrap(), [2, 1]);
        let error = extents_of(&shapes, &[2, 2], 0).unwrap_err();
        assert_eq!(
            error.message,
            "the tensor of rank 1 has shape [2, 1], which cannot be joined with shape [2, 2] along axis 0"
        );
    }
}
