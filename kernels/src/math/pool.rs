//! Maximum and average pooling of images.

use tfrt_compute::{run, shape_error};
use tfrt_host::{Arg, AsyncValueRef, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry};
use tfrt_math::{AvgPool, BlockOp, Extent2, MaxPool, PoolShape, ShapeError};
use tfrt_tensor::{Accessor, DenseHostTensor, FixedRankShape, HostTensor};

use super::check;

static MAX_POOL: Accessor = Accessor::new("max_pooling_2d");
static POOL: Accessor = Accessor::new("tfrt_math pooling");

type Done = Result<AsyncValueRef<Chain>, Diagnostic>;

/// The greatest element under each window, for each channel (`NHWC`).
fn max_pool<I: Copy + TryInto<usize>>(
    (input, output): (&DenseHostTensor, &DenseHostTensor),
    padding: &str,
    pool_size: &[I],
    strides: &[I],
    cx: &ExecutionContext,
) -> Done {
    let [batch, height, width, channels] = input.shape().fixed::<4>()?.0;
    let shape = PoolShape {
        batch,
        input: Extent2::new(height, width),
        channels,
        window: check::extent2("MaxPool2D", "pool_size", pool_size)?,
        strides: check::extent2("MaxPool2D", "strides", strides)?,
        padding: check::padding(padding).ok_or_else(|| {
            Diagnostic::invalid_argument(format!("MaxPool2D padding '{padding}' is not recognized"))
        })?,
    };
    let pooled = shape.output().map_err(shape_error)?;
    let expected = FixedRankShape([batch, pooled.height, pooled.width, channels]);
    if output.shape().dims() != expected.0 {
        return Err(Diagnostic::invalid_argument(format!(
            "MaxPool2D output shape {} does not match the expected output shape {expected}",
            output.shape()
        )));
    }
    let operands = (input.read_owned::<f32>(&MAX_POOL)?, output.write_owned::<f32>(&MAX_POOL)?);
    run(cx, MaxPool::new(&shape), operands, |x| x, |out| out, Chain)
}

/// A pooling whose result is a new tensor.
fn pooled<P>(
    input: &DenseHostTensor,
    (padding, strides, window): (&[i64], &[i64], &[i64]),
    plan: fn(&PoolShape) -> Result<P, ShapeError>,
    cx: &ExecutionContext,
) -> Result<AsyncValueRef<HostTensor>, Diagnostic>
where
    P: for<'a> BlockOp<Input<'a> = &'a [f32], Output<'a> = &'a mut [f32]> + Send + 'static,
{
    let [batch, height, width, channels] = input.shape().fixed::<4>()?.0;
    let shape = PoolShape {
        batch,
        input: Extent2::new(height, width),
        channels,
        window: check::extent2("Pool2D", "window", window)?,
        strides: check::extent2("Pool2D", "strides", strides)?,
        padding: check::explicit_padding("Pool2D", padding)?,
    };
    let extent = shape.output().map_err(shape_error)?;
    let out = check::allocate::<f32>(&[batch, extent.height, extent.width, channels], cx)?;
    let operands = (input.read_owned::<f32>(&POOL)?, out.write_owned::<f32>(&POOL)?);
    run(cx, plan(&shape), operands, |x| x, |out| out, HostTensor::from(out))
}

pub(super) fn register(registry: &mut KernelRegistry) {
    macro_rules! new_tensors {
        ($($name:literal, $plan:expr, $doc:literal;)*) => {$(
            registry
                .add(
                    $name,
                    |input: Arg<DenseHostTensor>,
                     _: Chain,
                     padding: Attr<[i64]>,
                     strides: Attr<[i64]>,
                     window: Attr<[i64]>,
                     cx: &ExecutionContext| {
                        pooled(&input, (padding.0, strides.0, window.0), $plan, cx)
                    },
                )
                .attributes(&["padding", "strides", "window"])
                .doc($doc);
            registry.add_chain_form($name);
        )*};
    }
    new_tensors! {
        "tfrt_math.max_pool_2d.f32", MaxPool::<f32>::new,
            "The greatest element under each window, for each channel (NHWC); padding above, below, left and right never wins.";
        "tfrt_math.avg_pool_2d.f32", |shape| AvgPool::<f32>::new(shape, false),
            "The mean of the elements under each window, for each channel (NHWC); padding does not count.";
    }

    const DOC: &str = "The greatest element under each window of `pool_size`, for each channel (NHWC); padding is 'same' or 'valid'.";
    macro_rules! poolings {
        ($($name:literal => $index:ty)*) => {$(
            registry
                .add(
                    $name,
                    |input: Arg<DenseHostTensor>,
                     output: Arg<DenseHostTensor>,
                     _: Chain,
                     padding: Attr<str>,
                     pool_size: Attr<[$index]>,
                     strides: Attr<[$index]>,
                     cx: &ExecutionContext| {
                        max_pool((&input, &output), padding.0, pool_size.0, strides.0, cx)
                    },
                )
                .attributes(&["padding", "pool_size", "strides"])
                .mutates(&[1])
                .doc(DOC);
        )*};
    }
    poolings! {
        "tfrt_test.max_pooling_2d.f32" => i32
        "eigen.max_pooling_2d.f32" => i64
    }
}
