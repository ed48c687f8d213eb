//! Batch normalization.

use tfrt_device::error::Result;
use tfrt_device::hal::{BatchNormMode, BatchNormOperands, Scaling, TensorLayout};
use tfrt_math::{
    Activation, BatchNormBackward, BatchNormBackwardInput, BatchNormGradients, BatchNormOutput,
    BatchNormTraining, BlockOp, ScaleShift, ScaleShiftInput, fold_batch_norm,
};

use super::shape_error;
use super::tensor::{Owned, Work};
use crate::operation::Run;

/// The parameters that all three operations share: images, the result, and the layout of the
/// statistics.
pub(super) struct Job {
    mode: BatchNormMode,
    pub(super) x: Owned,
    pub(super) y: Owned,
    parameters: TensorLayout,
    epsilon: f64,
}

impl Job {
    pub(super) fn new(operands: BatchNormOperands<'_>, y: Owned) -> Self {
        Self {
            mode: operands.mode,
            x: Owned::new(operands.x),
            y,
            parameters: operands.parameters.clone(),
            epsilon: operands.epsilon,
        }
    }

    pub(super) fn parameter(&self, address: u64) -> Owned {
        Owned::like(&self.parameters, address)
    }

    /// Returns the number of rows that a mean covers, and of columns with separate means, for the
    /// dense images.
    fn matrix(&self) -> Result<(usize, usize)> {
        let [batch, height, width, channels] = self.x.nhwc()?;
        Ok(match self.mode {
            BatchNormMode::Spatial => (batch * height * width, channels),
            BatchNormMode::PerActivation => (batch, height * width * channels),
        })
    }
}

pub(super) fn inference<W: Work>(
    run: &Run<'_>,
    job: &Job,
    scaling: Scaling,
    parameters: &[Owned; 4],
) -> Result<()> {
    let (rows, cols) = job.matrix()?;
    let [scale, bias, mean, variance] = [0, 1, 2, 3].map(|index| parameters[index].load::<W>(run));
    let (multiplier, addend) =
        fold_batch_norm(&scale?, &bias?, &mean?, &variance?, job.epsilon).map_err(shape_error)?;
    let x = job.x.load::<W>(run)?;
    let mut y = vec![W::ZERO; x.len()];
    let input = ScaleShiftInput { x: &x, multiplier: &multiplier, addend: &addend, residual: None };
    let plan = ScaleShift::new(rows, cols, Activation::None).map_err(shape_error)?;
    plan.run(&run.shared.pool, input, &mut y).map_err(shape_error)?;
    job.y.store(run, &y, scaling)
}

pub(super) fn training<W: Work>(
    run: &Run<'_>,
    job: &Job,
    scaling: Scaling,
    parameters: &[Owned; 2],
    running: Option<&([Owned; 2], f64)>,
    saved: Option<&[Owned; 2]>,
) -> Result<()> {
    let (rows, cols) = job.matrix()?;
    let (scale, bias) = (parameters[0].load::<W>(run)?, parameters[1].load::<W>(run)?);
    let x = job.x.load::<W>(run)?;
    let (mut y, mut mean, mut variance) = (vec![W::ZERO; x.len()], vec![W::ZERO; cols], vec![W::ZERO; cols]);
    let plan = BatchNormTraining::<W>::new(rows, cols, job.epsilon, Activation::None).map_err(shape_error)?;
    let output = BatchNormOutput { y: &mut y, mean: &mut mean, variance: &mut variance };
    plan.run(&run.shared.pool, &x, &scale, &bias, output).map_err(shape_error)?;
    job.y.store(run, &y, scaling)?;
    if let Some((tensors, factor)) = running {
        let moving = Scaling { alpha: *factor, beta: 1.0 - factor };
        let unbiased = if rows > 1 { rows as f64 / (rows - 1) as f64 } else { 1.0 };
        let correction = W::from_f64(unbiased);
        let corrected: Vec<W> = variance.iter().map(|&v| v.times(correction)).collect();
        tensors[0].store(run, &mean, moving)?;
        tensors[1].store(run, &corrected, moving)?;
    }
    if let Some(tensors) = saved {
        let inverse = |&v: &W| W::from_f64(1.0 / (v.to_f64() + job.epsilon).sqrt());
        tensors[0].store(run, &mean, Scaling::ONE)?;
        tensors[1].store(run, &variance.iter().map(inverse).collect::<Vec<_>>(), Scaling::ONE)?;
    }
    Ok(())
}

/// Returns the mean and biased variance, saved by training or computed again.
fn statistics<W: Work>(
    run: &Run<'_>,
    job: &Job,
    x: &[W],
    saved: Option<&[Owned; 2]>,
) -> Result<(Vec<W>, Vec<W>)> {
    let (rows, cols) = job.matrix()?;
    if let Some(tensors) = saved {
        let variance = |inverse: W| {
            let inverse = inverse.to_f64();
            W::from_f64(1.0 / (inverse * inverse) - job.epsilon)
        };
        let inverse = tensors[1].load::<W>(run)?;
        return Ok((tensors[0].load(run)?, inverse.into_iter().map(variance).collect()));
    }
    let plan = BatchNormTraining::<W>::new(rows, cols, job.epsilon, Activation::None).map_err(shape_error)?;
    let (mut y, mut mean, mut variance) = (vec![W::ZERO; x.len()], vec![W::ZERO; cols], vec![W::ZERO; cols]);
    let output = BatchNormOutput { y: &mut y, mean: &mut mean, variance: &mut variance };
    let (scale, bias) = (vec![W::ONE; cols], vec![W::ZERO; cols]);
    plan.run(&run.shared.pool, x, &scale, &bias, output).map_err(shape_error)?;
    Ok((mean, variance))
}

pub(super) fn backward<W: Work>(
    run: &Run<'_>,
    job: &Job,
    scaling: [Scaling; 2],
    dy: &Owned,
    scale: &Owned,
    gradients: &[Owned; 2],
    saved: Option<&[Owned; 2]>,
) -> Result<()> {
    let (rows, cols) = job.matrix()?;
    let (x, dy, scale) = (job.x.load::<W>(run)?, dy.load::<W>(run)?, scale.load::<W>(run)?);
    let (mean, variance) = statistics(run, job, &x, saved)?;
    let (mut dx, mut dscale, mut doffset) =
        (vec![W::ZERO; x.len()], vec![W::ZERO; cols], vec![W::ZERO; cols]);
    let plan = BatchNormBackward::<W>::new(rows, cols, job.epsilon).map_err(shape_error)?;
    let input = BatchNormBackwardInput { x: &x, dy: &dy, scale: &scale, mean: &mean, variance: &variance };
    let output = BatchNormGradients { dx: &mut dx, dscale: &mut dscale, doffset: &mut doffset };
    BatchNormBackward::run(&plan, &run.shared.pool, input, output).map_err(shape_error)?;
    job.y.store(run, &dx, scaling[0])?;
    gradients[0].store(run, &dscale, scaling[1])?;
    gradients[1].store(run, &doffset, scaling[1])
}
