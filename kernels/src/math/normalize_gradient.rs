//! The gradients of batch normalization of images (`NHWC`) over channels.
//!
//! With the mean `μ` and variance `σ²` of a channel, `r = 1 / sqrt(σ² + ε)` and means over the
//! batch's pixels: `dscale = Σ dy·(x - μ)·r`, `doffset = Σ dy`, and `dx = scale·r·((dy - mean(dy))
//! - (x - μ)·r²·mean(dy·(x - μ)))`.
//!
//! If a channel has few pixels, the terms of `dx` nearly cancel and the rest is rounding error.
//! Existing programs compare even that, so elements are computed in f32, term by term as above;
//! sums are accumulated in f64.

use std::ops::Range;

use tfrt_compute::run_then;
use tfrt_host::{
    Arg, AsyncValueRef, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry, Promise,
    bef::RawAttribute, host_buffer::HostBuffer,
};
use tfrt_math::{BlockOp, ShapeError};
use tfrt_tensor::{Accessor, DenseHostTensor, Elements, ElementsMut};

use super::{check, normalize::BLOCK};

static GRADIENT: Accessor = Accessor::new("eigen.batch_norm.grad");

type ThreeChains = (AsyncValueRef<Chain>, AsyncValueRef<Chain>, AsyncValueRef<Chain>);
type Read = Elements<f32, HostBuffer>;
type Write = ElementsMut<f32, HostBuffer>;

/// Rows (pixels) of channels, cut into blocks.
#[derive(Clone, Copy)]
struct Rows {
    rows: usize,
    channels: usize,
}

impl Rows {
    fn per_block(self) -> usize {
        (BLOCK / self.channels.max(1)).max(1)
    }

    fn blocks(self) -> usize {
        if self.channels == 0 { 0 } else { self.rows.div_ceil(self.per_block()) }
    }

    /// Returns the elements of a block.
    fn elements(self, block: usize) -> Range<usize> {
        let first = block * self.per_block();
        first * self.channels..(first + self.per_block()).min(self.rows) * self.channels
    }
}

/// For each block and channel, `Σ dy` and `Σ dy·(x - μ)`.
struct Sums(Rows);

impl BlockOp for Sums {
    type Input<'a> = &'a Operands;
    type Output<'a> = &'a mut [[f64; 2]];
    type Piece<'a> = &'a mut [[f64; 2]];

    fn block_count(&self) -> usize {
        self.0.blocks()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        Ok(output.chunks_mut(self.0.channels.max(1)).collect())
    }

    fn run_block(&self, block: usize, input: &Operands, piece: &mut [[f64; 2]]) -> Result<(), ShapeError> {
        let (range, channels) = (self.0.elements(block), self.0.channels);
        let rows = input.x[range.clone()].chunks_exact(channels).zip(input.dy[range].chunks_exact(channels));
        for (x, dy) in rows {
            for ((sums, mean), (x, dy)) in piece.iter_mut().zip(input.mean.iter()).zip(x.iter().zip(dy)) {
                sums[0] += f64::from(*dy);
                sums[1] += f64::from(dy * (x - mean));
            }
        }
        Ok(())
    }
}

/// For each channel: `μ`, `mean(dy)`, `scale·r`, `r²·mean(dy·(x - μ))`.
type Coefficients = Vec<[f32; 4]>;

/// The gradient with respect to the operand.
struct InputGradient(Rows);

impl BlockOp for InputGradient {
    type Input<'a> = (&'a Operands, &'a Coefficients);
    type Output<'a> = &'a mut [f32];
    type Piece<'a> = &'a mut [f32];

    fn block_count(&self) -> usize {
        self.0.blocks()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        Ok(output.chunks_mut((self.0.per_block() * self.0.channels).max(1)).collect())
    }

    fn run_block(
        &self,
        block: usize,
        (input, coefficients): Self::Input<'_>,
        piece: &mut [f32],
    ) -> Result<(), ShapeError> {
        let (range, channels) = (self.0.elements(block), self.0.channels);
        let rows = input.x[range.clone()].chunks_exact(channels).zip(input.dy[range].chunks_exact(channels));
        for (dx, (x, dy)) in piece.chunks_exact_mut(channels).zip(rows) {
            let terms = coefficients.iter().zip(x.iter().zip(dy));
            for (dx, ([mean, dy_mean, factor, slope], (x, dy))) in dx.iter_mut().zip(terms) {
                *dx = factor * ((dy - dy_mean) - (x - mean) * slope);
            }
        }
        Ok(())
    }
}

/// The inputs of both stages.
struct Operands {
    x: Read,
    dy: Read,
    scale: Read,
    mean: Read,
    variance: Read,
    epsilon: f32,
}

/// The outputs.
struct Gradients {
    dx: Write,
    dscale: Write,
    doffset: Write,
}

/// Adds up the sums of the blocks. Computes the gradients of scale and offset, and returns the
/// coefficients of the second stage.
fn combine(rows: Rows, input: &Operands, sums: &[[f64; 2]], gradients: &mut Gradients) -> Coefficients {
    let count = rows.rows as f64;
    let coefficients = (0..rows.channels).map(|c| {
        let of_channel = sums.iter().skip(c).step_by(rows.channels);
        let [sum, product] = of_channel.fold([0.0; 2], |[s, p], [sum, product]| [s + sum, p + product]);
        let inverse = 1.0 / (input.variance[c] + input.epsilon).sqrt();
        gradients.dscale[c] = (product * f64::from(inverse)) as f32;
        gradients.doffset[c] = sum as f32;
        let slope = inverse * inverse * (product / count) as f32;
        [input.mean[c], (sum / count) as f32, input.scale[c] * inverse, slope]
    });
    coefficients.collect()
}

/// Runs the stage between the two parallel ones, and starts the second.
fn second_stage(
    cx: &ExecutionContext,
    rows: Rows,
    operands: Operands,
    sums: &[[f64; 2]],
    mut gradients: Gradients,
    promise: Promise<Chain>,
) {
    let coefficients = combine(rows, &operands, sums, &mut gradients);
    let caller = cx.clone();
    run_then(
        cx,
        InputGradient(rows),
        ((operands, coefficients), gradients),
        |(operands, coefficients)| (operands, coefficients),
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
    let rows = Rows { rows: batch * height * width, channels };
    let me = &GRADIENT;
    let operands = Operands {
        x: input.read_owned(me)?,
        dy: output_gradient.read_owned(me)?,
        scale: gamma.read_owned(me)?,
        mean: mean.read_owned(me)?,
        variance: variance.read_owned(me)?,
        epsilon: check::epsilon(epsilon.0)?,
    };
    let gradients = Gradients {
        dx: input_gradient.write_owned(me)?,
        dscale: gamma_gradient.write_owned(me)?,
        doffset: beta_gradient.write_owned(me)?,
    };
    let (promise, done) = Promise::new();
    let sums = vec![[0.0f64; 2]; rows.blocks() * channels];
    let caller = cx.clone();
    run_then(
        cx,
        Sums(rows),
        (operands, sums),
        |operands| operands,
        |sums| sums,
        move |outcome| match outcome {
            Ok((operands, sums)) => second_stage(&caller, rows, operands, &sums, gradients, promise),
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
        .add("eigen.batch_norm.grad.f32", batch_norm_gradient)
        .attributes(&["epsilon"])
        .mutates(&[6, 7, 8])
        .doc("The gradients of batch normalization with respect to its input, its scale and its offset.");
}
