//! Convolution with filters that are prepared once: laid out as the processor reads them, with
//! batch normalization folded in where there is any.

use std::sync::Arc;

use tfrt_compute::{run, shape_error, workers};
use tfrt_host::{
    Arg, AsyncValueRef, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry, bef::RawAttribute,
    value_type,
};
use tfrt_math::{Activation, Conv2d, Conv2dInput, PackedFilter, fold_batch_norm};
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor};

use super::{check, conv::convolution};

static ME: Accessor = Accessor::new("tfrt_math.conv2d");

type NewTensor = Result<AsyncValueRef<HostTensor>, Diagnostic>;

/// A filter ready for use, with a bias for each of its output channels.
#[derive(Debug, Clone)]
pub(super) struct Conv2dFilter(Arc<Prepared>);

#[derive(Debug)]
struct Prepared {
    /// Rows, columns, input channels, output channels.
    extents: [usize; 4],
    packed: PackedFilter<f32>,
    bias: Vec<f32>,
}

value_type!(Conv2dFilter, "!tfrt_math.conv2d_filter");

impl Conv2dFilter {
    /// Prepares an `HWIO` filter.
    fn new(extents: [usize; 4], filter: &[f32], bias: Vec<f32>) -> Result<Self, Diagnostic> {
        let packed = PackedFilter::new(extents, filter).map_err(shape_error)?;
        Ok(Self(Arc::new(Prepared { extents, packed, bias })))
    }
}

fn pack(
    filter: Arg<DenseHostTensor>,
    bias: Arg<DenseHostTensor>,
    _chain: Chain,
) -> Result<Conv2dFilter, Diagnostic> {
    let extents = filter.shape().fixed::<4>()?.0;
    check::shape_is(("bias shape", &bias), "the filter's output channels", &extents[3..])?;
    Conv2dFilter::new(extents, &filter.read::<f32>(&ME)?, bias.read::<f32>(&ME)?.to_vec())
}

/// Batch normalization multiplies each output channel by a number and adds another, which is as
/// well done by the filter and a bias. Where a channel's mean nearly cancels its results, that
/// rounds differently from normalizing afterwards.
fn pack_batch_norm(
    filter: Arg<DenseHostTensor>,
    scale: Arg<DenseHostTensor>,
    offset: Arg<DenseHostTensor>,
    mean: Arg<DenseHostTensor>,
    variance: Arg<DenseHostTensor>,
    _chain: Chain,
    epsilon: Attr<RawAttribute>,
) -> Result<Conv2dFilter, Diagnostic> {
    let extents = filter.shape().fixed::<4>()?.0;
    for (name, tensor) in [("scale", &scale), ("offset", &offset), ("mean", &mean), ("variance", &variance)] {
        check::shape_is((name, tensor), "the filter's output channels", &extents[3..])?;
    }
    let [scale, offset, mean, variance] = [&scale, &offset, &mean, &variance].map(|t| t.read::<f32>(&ME));
    let epsilon = f64::from(check::epsilon(epsilon.0)?);
    let (factors, bias) =
        fold_batch_norm(&scale?, &offset?, &mean?, &variance?, epsilon).map_err(shape_error)?;
    let mut folded = filter.read::<f32>(&ME)?.to_vec();
    for row in folded.chunks_exact_mut(extents[3].max(1)) {
        row.iter_mut().zip(&factors).for_each(|(weight, factor)| *weight *= factor);
    }
    Conv2dFilter::new(extents, &folded, bias)
}

/// `activation(conv(input, filter) + bias + residual)` as a new tensor.
fn conv2d(
    (input, filter, residual): (&DenseHostTensor, &Conv2dFilter, Option<&DenseHostTensor>),
    (padding, strides, relu): (&[i64], &[i64], bool),
    cx: &ExecutionContext,
) -> NewTensor {
    let padding = check::explicit_padding("Conv2D", padding)?;
    let (shape, output) = convolution(input.shape().fixed::<4>()?.0, filter.0.extents, padding, strides)?;
    if let Some(residual) = residual {
        check::shape_is(("residual shape", residual), "computed output shape", &output)?;
    }
    let activation = if relu { Activation::Relu } else { Activation::None };
    let plan = Conv2d::<f32>::for_kept_filters(&shape, activation, workers(cx));
    let out = check::allocate::<f32>(&output, cx)?;
    let residual = residual.map(|residual| residual.read_owned::<f32>(&ME)).transpose()?;
    let reads = (input.read_owned::<f32>(&ME)?, filter.clone(), residual);
    let operands = (reads, out.write_owned::<f32>(&ME)?);
    let result = HostTensor::from(out);
    run(
        cx,
        plan,
        operands,
        |(x, filter, residual)| Conv2dInput {
            bias: Some(&filter.0.bias),
            residual: residual.as_deref(),
            ..Conv2dInput::new(x, &filter.0.packed)
        },
        |out| out,
        result,
    )
}

pub(super) fn register(registry: &mut KernelRegistry) {
    type Tensor<'a> = Arg<'a, DenseHostTensor>;
    registry.add("tfrt_math.conv2d.pack.f32", pack).parallel().doc(
        "Prepares a filter (HWIO) and a bias for each of its output channels for `tfrt_math.conv2d.f32`.",
    );
    registry
        .add("tfrt_math.conv2d.pack.batch_norm.f32", pack_batch_norm)
        .attributes(&["epsilon"])
        .parallel()
        .doc(
            "Prepares a filter (HWIO) for convolution and batch normalization with known scale, offset, mean and variance.",
        );
    registry
        .add(
            "tfrt_math.conv2d.f32",
            |input: Tensor,
             filter: Arg<Conv2dFilter>,
             _: Chain,
             padding: Attr<[i64]>,
             relu: Attr<bool>,
             strides: Attr<[i64]>,
             cx: &ExecutionContext| {
                conv2d((&input, &filter, None), (padding.0, strides.0, relu.0), cx)
            },
        )
        .attributes(&["padding", "relu", "strides"])
        .doc("Convolution of images (NHWC), padded above, below, left and right, by a prepared filter, plus its bias; with `relu`, no less than zero. With strides of 1, 3 × 3 filters from and to at least 32 channels (multiples of 8, at most 65536 pairs of them) and images of at least 48 squares of 2 × 2 results, a square takes 16 products a pair of channels in place of 36, and is rounded otherwise; the same bits whatever threads and batch.");
    registry
        .add(
            "tfrt_math.conv2d.residual.f32",
            |input: Tensor,
             filter: Arg<Conv2dFilter>,
             residual: Tensor,
             _: Chain,
             padding: Attr<[i64]>,
             relu: Attr<bool>,
             strides: Attr<[i64]>,
             cx: &ExecutionContext| {
                conv2d((&input, &filter, Some(&residual)), (padding.0, strides.0, relu.0), cx)
            },
        )
        .attributes(&["padding", "relu", "strides"])
        .doc("As `tfrt_math.conv2d.f32`, with a tensor of the result's shape added before negative elements become zero.");
    for name in ["conv2d.pack.f32", "conv2d.pack.batch_norm.f32", "conv2d.f32", "conv2d.residual.f32"] {
        registry.add_chain_form(&format!("tfrt_math.{name}"));
    }
}
