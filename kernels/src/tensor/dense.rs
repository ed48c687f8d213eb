//! Creation of dense and scalar tensors.

use tfrt_host::{Arg, Attr, AttributeType, Chain, DType, Diagnostic, ExecutionContext, KernelRegistry};
use tfrt_tensor::{
    DenseHostTensor, Element, HostTensor, ScalarHostTensor, TensorMetadata, TensorShape, bf16, f16,
};

use super::DENSE_DTYPES;

/// The ranks with a separate kernel.
const RANKS: std::ops::RangeInclusive<usize> = 0..=4;

/// Creates a tensor with zero elements, so that it never reveals old contents of the process's
/// memory. Programs must not rely on the zeros. The rank of the shape is used, even if the kernel's
/// name has another one, as in some existing programs.
fn create_uninitialized(
    dtype: DType,
    shape: &[i64],
    cx: &ExecutionContext,
) -> Result<DenseHostTensor, Diagnostic> {
    let shape = TensorShape::from_signed(shape)?;
    DenseHostTensor::allocate(TensorMetadata::new(dtype, shape), cx.host().allocator())
}

/// Creates a tensor filled with one value.
fn create_dense<T>(
    shape: Attr<[i64]>,
    values: Attr<[T]>,
    cx: &ExecutionContext,
) -> Result<DenseHostTensor, Diagnostic>
where
    T: Element,
    [T]: AttributeType,
    for<'f> <[T] as AttributeType>::Borrowed<'f>: AsRef<[T]>,
{
    let shape = TensorShape::from_signed(shape.0)?;
    match values.0.as_ref() {
        &[value] => DenseHostTensor::full(shape, value, cx.host().allocator()),
        values => DenseHostTensor::from_slice(shape, values, cx.host().allocator()),
    }
}

fn create_from_scalar<T>(shape: Attr<[i64]>, value: Attr<T>) -> Result<ScalarHostTensor, Diagnostic>
where
    T: Element + for<'f> AttributeType<Borrowed<'f> = T>,
{
    Ok(ScalarHostTensor::new(TensorShape::from_signed(shape.0)?, value.0))
}

fn tensor_shape(tensor: Arg<HostTensor>) -> TensorShape {
    tensor.shape().clone()
}

fn no_op(_tensor: Arg<DenseHostTensor>) -> Chain {
    Chain
}

macro_rules! with_values {
    ($registry:ident, $($type:ty => $suffix:literal)*) => {$(
        $registry
            .add(concat!("tfrt_dht_sync.create_dense_tensor.", $suffix), create_dense::<$type>)
            .attributes(&["shape", "values"])
            .attribute_alias("values", "value")
            .doc("A tensor of these values, or of one value everywhere.");
        $registry
            .add(concat!("tfrt_dht_sync.create_from_scalar.", $suffix), create_from_scalar::<$type>)
            .attributes(&["shape", "value"])
            .doc("A scalar tensor: one value in every place of a shape, stored once.");
    )*};
}

pub(super) fn register(registry: &mut KernelRegistry) {
    for (dtype, suffix) in DENSE_DTYPES {
        for rank in RANKS {
            for dialect in ["tfrt_dht", "tfrt_dht_sync"] {
                registry
                    .add(
                        format!("{dialect}.create_uninitialized_tensor.{suffix}.{rank}"),
                        move |shape: Attr<[i64]>, cx: &ExecutionContext| {
                            create_uninitialized(dtype, shape.0, cx)
                        },
                    )
                    .attributes(&["shape"])
                    .doc("A dense tensor whose elements are yet to be written.");
            }
        }
    }
    for dialect in ["tfrt_dht", "tfrt_dht_sync"] {
        registry
            .add(format!("{dialect}.get_tensor_shape"), tensor_shape)
            .reads(&[])
            .doc("The shape of a tensor.");
    }
    registry.add("tfrt_dht.no_op_ht", no_op).reads(&[]).doc("Takes a tensor and gives a chain.");
    with_values!(registry,
        bool => "bool" i8 => "i8" i16 => "i16" i32 => "i32" i64 => "i64"
        u8 => "ui8" u16 => "ui16" u32 => "ui32" u64 => "ui64"
        f16 => "f16" bf16 => "bf16" f32 => "f32" f64 => "f64");
}
