//! Sparse tensors: `coo.*`.

use tfrt_host::{Arg, Chain, Diagnostic, ExecutionContext, KernelRegistry};
use tfrt_tensor::{Accessor, CooHostTensor, DType, DenseHostTensor, Element, TensorMetadata};

use super::compare;

static TO_DENSE: Accessor = Accessor::new("coo.convert_coo_to_dht");
static FROM_DENSE: Accessor = Accessor::new("coo.convert_dht_to_coo");
static EQUAL: Accessor = Accessor::new("coo.tensor_equal");

/// # Errors
/// InvalidArgument unless the tensor has the data type and rank that the kernel's name says.
fn check(metadata: &TensorMetadata, dtype: DType, rank: usize) -> Result<(), Diagnostic> {
    if metadata.dtype == dtype && metadata.shape.rank() == rank {
        return Ok(());
    }
    Err(Diagnostic::invalid_argument(format!(
        "expected a tensor of dtype {dtype:?} and rank {rank}, got {metadata}"
    )))
}

fn equal<T: Element>(a: &CooHostTensor, b: &CooHostTensor) -> Result<bool, Diagnostic> {
    Ok(a.shape() == b.shape()
        && compare::all::<T>(a.values(), b.values(), &EQUAL, |x, y| x == y)?
        && compare::all::<i64>(a.indices(), b.indices(), &EQUAL, |x, y| x == y)?)
}

fn register_for<T: Element>(registry: &mut KernelRegistry, suffix: &str) {
    for rank in 0..=3 {
        registry
            .add(
                format!("coo.convert_coo_to_dht.{suffix}.{rank}"),
                move |tensor: Arg<CooHostTensor>, chain: Chain, cx: &ExecutionContext| {
                    check(tensor.metadata(), T::DTYPE, rank)?;
                    tensor.to_dense(&TO_DENSE, cx.host().allocator()).map(|dense| (dense, chain))
                },
            )
            .doc("A sparse tensor with its zeros written out.");
        registry
            .add(
                format!("coo.convert_dht_to_coo.{suffix}.{rank}"),
                move |tensor: Arg<DenseHostTensor>, chain: Chain, cx: &ExecutionContext| {
                    check(tensor.metadata(), T::DTYPE, rank)?;
                    CooHostTensor::from_dense(&tensor, &FROM_DENSE, cx.host().allocator())
                        .map(|sparse| (sparse, chain))
                },
            )
            .doc("The elements of a dense tensor that are not zero.");
        registry
            .add(
                format!("coo.tensor_equal.{suffix}.{rank}"),
                move |a: Arg<CooHostTensor>, b: Arg<CooHostTensor>, chain: Chain| {
                    check(a.metadata(), T::DTYPE, rank)?;
                    equal::<T>(&a, &b).map(|equal| (equal, chain))
                },
            )
            .doc("Whether two sparse tensors list the same elements in the same order.");
    }
}

pub(super) fn register(registry: &mut KernelRegistry) {
    register_for::<f32>(registry, "f32");
    register_for::<i32>(registry, "i32");
}
