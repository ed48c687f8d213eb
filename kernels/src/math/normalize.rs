//! Batch normalization of images (`NHWC`) over channels, and its gradients.

use tfrt_host::bef::RawAttribute;
use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{Arg, AsyncValueRef, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry, Promise};
use tfrt_math::{
    Activation, BatchNormBackward, BatchNormBackwardInput, BlockOp, Coefficients, ShapeError, ops,
};
use tfrt_tensor::{Accessor, DenseHostTensor, Elements, ElementsMut};

use super::{check, run};

static BATCH_NORM: Accessor = Accessor::new("eigen.batch_norm");
static GRADIENT: Accessor = Accessor::new("eigen.batch_norm.grad");

type Done = Result<AsyncValueRef<Chain>, Diagnostic>;
type ThreeChains = (AsyncValueRef<Chain>, AsyncValueRef<Chain>, AsyncValueRef<Chain>);
type Read = Elements<f32, HostBuffer>;
type Write = ElementsMut<f32, HostBuffer>;

/// Elements in a block of work in place: about 10 µs of streaming.
const BLOCK: usize = 32 * 1024;

/// For each channel: mean, factor, addend.
pub(super) type Channels = Vec<[f32; 3]>;

/// `x[r, c] = (x[r, c] - mean[c]) · factor[c] + addend[c]`, in place, and then the activation.
pub(super) struct Normalize {
    pub(super) rows: usize,
    pub(super) channels: usize,
    pub(super) activation: Activation,
}

/// Mean, scale, offset and variance of each channel, which are as many as `scale` has, in the form [`Normalize`] takes.
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
    run::run(cx, Ok(plan), (table, input.write_owned::<f32>(&BATCH_NORM)?), |table| table, |x| x, Chain)
}

/// What both stages of the gradient read.
struct Operands {
    x: Read,
    dy: Read,
    scale: Read,
    mean: Read,
    variance: Read,
}

impl Operands {
    fn input(&self) -> BatchNormBackwardInput<'_, f32> {
        BatchNormBackwardInput {
            x: &self.x,
            dy: &self.dy,
            scale: &self.scale,
            mean: &self.mean,
            variance: &self.variance,
        }
    }
}

/// What the gradient writes.
struct Gradients {
    dx: Write,
    dscale: Write,
    doffset: Write,
}

/// The stage between the two parallel ones, and the start of the second.
fn second_stage(
    cx: &ExecutionContext,
    plan: &BatchNormBackward<f32>,
    operands: Operands,
    partials: &[f64],
    mut gradients: Gradients,
    promise: Promise<Chain>,
) {
    let coefficients = plan.finish(operands.input(), partials, &mut gradients.dscale, &mut gradients.doffset);
    let coefficients: Coefficients<f32> = match coefficients {
        Ok(coefficients) => coefficients,
        Err(error) => return cx.settle(promise, Err(run::shape_error(error))),
    };
    let caller = cx.clone();
    run::run_then(
        cx,
        plan.input_gradient.clone(),
        ((operands, coefficients), gradients),
        |(operands, coefficients)| (&operands.dy, &operands.x, coefficients),
        |gradients| &mut gradients.dx,
        move |outcome| {
            let outcome = outcome.map(drop);
            caller.settle(promise, outcome.map(|()| Chain));
        },
    );
}

#[expect(clippy::too_many_arguments, reason = "each is a value or an attribute of the program")]
fn batch_norm_gradient(
    output_gradient: Arg<DenseHostTensor>,
    input: Arg<DenseHostTensor>,
    gamma: Arg<DenseHostTensor>,
    mean: Arg<DenseHostTensor>,
    variance: Arg<DenseHostTensor>,
    _chain: Chain,
    input_gradient: Arg<DenseHostTensor>,
    gamma_gradient: Arg<DenseHostTensor>,
    beta_gradient: Arg<DenseHostTensor>,
    epsilon: Attr<RawAttribute>,
    cx: &ExecutionContext,
) -> Result<ThreeChains, Diagnostic> {
    let [batch, height, width, channels] = input_gradient.shape().fixed::<4>()?.0;
    check::same_shape(("output_grad shape", &output_gradient), ("input_grad shape", &input_gradient))?;
    check::same_shape(("input shape", &input), ("input_grad shape", &input_gradient))?;
    for (name, tensor) in [
        ("gamma shape", &gamma),
        ("mean shape", &mean),
        ("variance shape", &variance),
        ("gamma_grad shape", &gamma_gradient),
        ("beta_grad shape", &beta_gradient),
    ] {
        check::shape_is((name, tensor), "channels dimension size", &[channels])?;
    }
    let epsilon = check::epsilon(epsilon.0)?;
    let plan = BatchNormBackward::<f32>::new(batch * height * width, channels, f64::from(epsilon))
        .map_err(run::shape_error)?;
    let me = &GRADIENT;
    let operands = Operands {
        x: input.read_owned(me)?,
        dy: output_gradient.read_owned(me)?,
        scale: gamma.read_owned(me)?,
        mean: mean.read_owned(me)?,
        variance: variance.read_owned(me)?,
    };
    let gradients = Gradients {
        dx: input_gradient.write_owned(me)?,
        dscale: gamma_gradient.write_owned(me)?,
        doffset: beta_gradient.write_owned(me)?,
    };
    let (promise, done) = Promise::new();
    let partials = vec![0.0f64; plan.partials_len()];
    let (caller, stages) = (cx.clone(), plan.clone());
    run::run_then(
        cx,
        plan,
        (operands, partials),
        |operands| operands.input(),
        |partials| partials,
        move |outcome| match outcome {
            Ok((operands, partials)) => {
                second_stage(&caller, &stages, operands, &partials, gradients, promise);
            }
            Err(error) => {
                drop(gradients);
                caller.settle(promise, Err(error));
            }
        },
    );
    Ok((done.clone(), done.clone(), done))
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("eigen.batch_norm.f32", batch_norm)
        .attributes(&["epsilon"])
        .side_effecting()
        .mutates(&[0])
        .doc("Batch normalization of images (NHWC) with known statistics, in place.");
    registry
        .add("eigen.batch_norm.grad.f32", batch_norm_gradient)
        .attributes(&["epsilon"])
        .side_effecting()
        .mutates(&[6, 7, 8])
        .doc("The gradients of batch normalization with respect to its input, its scale and its offset.");
}
