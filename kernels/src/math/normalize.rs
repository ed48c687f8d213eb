//! Batch normalization of images (`NHWC`) over channels, with known statistics.

use tfrt_compute::run;
use tfrt_host::{
    Arg, AsyncValueRef, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry, bef::RawAttribute,
};
use tfrt_math::{Activation, BlockOp, ShapeError, ops};
use tfrt_tensor::{Accessor, DenseHostTensor};

use super::check;

static BATCH_NORM: Accessor = Accessor::new("eigen.batch_norm");

type Done = Result<AsyncValueRef<Chain>, Diagnostic>;

/// Elements in a block of work in place: about 10 µs of streaming.
pub(super) const BLOCK: usize = 32 * 1024;

/// For each channel: mean, factor, addend.
pub(super) type Channels = Vec<[f32; 3]>;

/// `x[r, c] = (x[r, c] - mean[c]) · factor[c] + addend[c]`, in place, and then the activation.
pub(super) struct Normalize {
    pub(super) rows: usize,
    pub(super) channels: usize,
    pub(super) activation: Activation,
}

/// Mean, scale, offset and variance of each channel, which are as many as `scale` has, in the form
/// [`Normalize`] takes.
pub(super) fn fold([scale, offset, mean, variance]: [&[f32]; 4], epsilon: f32) -> Channels {
    let channels = scale.iter().zip(offset).zip(mean.iter().zip(variance));
    channels
        .map(|((scale, offset), (mean, variance))| [*mean, scale / (variance + epsilon).sqrt(), *offset])
        .collect()
}

impl Normalize {
    fn rows_per_block(&self) -> usize {
        (BLOCK / self.channels.max(1)).max(1)
    }
}

impl BlockOp for Normalize {
    type Input<'a> = &'a Channels;
    type Output<'a> = &'a mut [f32];
    type Piece<'a> = &'a mut [f32];

    fn block_count(&self) -> usize {
        if self.channels == 0 { 0 } else { self.rows.div_ceil(self.rows_per_block()) }
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        Ok(output.chunks_mut((self.rows_per_block() * self.channels).max(1)).collect())
    }

    fn run_block(&self, _: usize, channels: &Channels, piece: &mut [f32]) -> Result<(), ShapeError> {
        for row in piece.chunks_exact_mut(self.channels) {
            for (x, [mean, factor, addend]) in row.iter_mut().zip(channels) {
                *x = (*x - mean) * factor + addend;
            }
            if self.activation == Activation::Relu {
                row.iter_mut().for_each(|x| *x = ops::relu(*x));
            }
        }
        Ok(())
    }
}

#[expect(clippy::too_many_arguments, reason = "each is a value or an attribute of the program")]
fn batch_norm(
    input: Arg<DenseHostTensor>,
    scale: Arg<DenseHostTensor>,
    bias: Arg<DenseHostTensor>,
    mean: Arg<DenseHostTensor>,
    variance: Arg<DenseHostTensor>,
    _chain: Chain,
    epsilon: Attr<RawAttribute>,
    cx: &ExecutionContext,
) -> Done {
    let [batch, height, width, channels] = input.shape().fixed::<4>()?.0;
    for (name, tensor) in [("scale", &scale), ("bias", &bias), ("mean", &mean), ("variance", &variance)] {
        check::shape_is((name, tensor), "the input's channels", &[channels])?;
    }
    let [scale, bias, mean, variance] = [&scale, &bias, &mean, &variance].map(|t| t.read::<f32>(&BATCH_NORM));
    let (scale, bias, mean, variance) = (scale?, bias?, mean?, variance?);
    let table = fold([&scale, &bias, &mean, &variance], check::epsilon(epsilon.0)?);
    let plan = Normalize { rows: batch * height * width, channels, activation: Activation::None };
    run(cx, Ok(plan), (table, input.write_owned::<f32>(&BATCH_NORM)?), |table| table, |x| x, Chain)
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("eigen.batch_norm.f32", batch_norm)
        .attributes(&["epsilon"])
        .mutates(&[0])
        .doc("Batch normalization of images (NHWC) with known statistics, in place.");
}
