//! Activations, softmax, and addition with broadcasting.

use tfrt_device::error::Result;
use tfrt_device::hal::{Activation, ActivationMode, NanPropagation, Scaling, SoftmaxMode};
use tfrt_math::{BlockOp, LogSoftmax, Softmax};

use super::shape_error;
use super::tensor::{Owned, Work};
use crate::operation::Run;

/// Applies an activation to one element.
pub(super) fn activate<W: Work>(activation: Activation, x: W) -> W {
    let coefficient = W::from_f64(activation.coefficient);
    // Comparisons with NaN are false, so the form of a condition decides which branch NaN takes.
    let propagate = activation.nan == NanPropagation::Propagate && x.is_nan();
    match activation.mode {
        ActivationMode::Identity => x,
        ActivationMode::Sigmoid => tfrt_math::ops::sigmoid(x),
        ActivationMode::Tanh => x.tanh(),
        _ if propagate => x,
        ActivationMode::Relu => {
            if x > W::ZERO {
                x
            } else {
                W::ZERO
            }
        }
        ActivationMode::ClippedRelu => {
            let positive = if x > W::ZERO { x } else { W::ZERO };
            if positive < coefficient { positive } else { coefficient }
        }
        ActivationMode::Elu => {
            if x > W::ZERO {
                x
            } else {
                coefficient.times(x.exp().minus(W::ONE))
            }
        }
    }
}

/// Returns the gradient with respect to `x`, from the result `y` and its gradient.
fn activate_gradient<W: Work>(activation: Activation, y: W, dy: W, x: W) -> W {
    let coefficient = W::from_f64(activation.coefficient);
    match activation.mode {
        ActivationMode::Identity => dy,
        ActivationMode::Sigmoid => dy.times(y).times(W::ONE.minus(y)),
        ActivationMode::Tanh => dy.times(W::ONE.minus(y.times(y))),
        ActivationMode::Relu if x > W::ZERO => dy,
        ActivationMode::ClippedRelu if x > W::ZERO && x < coefficient => dy,
        ActivationMode::Relu | ActivationMode::ClippedRelu => W::ZERO,
        ActivationMode::Elu if x > W::ZERO => dy,
        ActivationMode::Elu => dy.times(y.plus(coefficient)),
    }
}

pub(super) fn activation_forward<W: Work>(
    run: &Run<'_>,
    activation: Activation,
    scaling: Scaling,
    x: &Owned,
    y: &Owned,
) -> Result<()> {
    let mut values = x.load::<W>(run)?;
    values.iter_mut().for_each(|value| *value = activate(activation, *value));
    y.store(run, &values, scaling)
}

pub(super) fn activation_backward<W: Work>(
    run: &Run<'_>,
    activation: Activation,
    scaling: Scaling,
    [y, dy, x]: [&Owned; 3],
    dx: &Owned,
) -> Result<()> {
    let (y, dy, x) = (y.load::<W>(run)?, dy.load::<W>(run)?, x.load::<W>(run)?);
    let terms = y.iter().zip(&dy).zip(&x);
    let gradient: Vec<W> = terms.map(|((&y, &dy), &x)| activate_gradient(activation, y, dy, x)).collect();
    dx.store(run, &gradient, scaling)
}

/// Returns the rows and columns of the dense images that a softmax processes as a matrix.
fn matrix(mode: SoftmaxMode, x: &Owned) -> Result<(usize, usize)> {
    let [batch, height, width, channels] = x.nhwc()?;
    let pixels = height * width;
    Ok(if mode.per_pixel { (batch * pixels, channels) } else { (batch, pixels * channels) })
}

pub(super) fn softmax<W: Work>(
    run: &Run<'_>,
    mode: SoftmaxMode,
    scaling: Scaling,
    x: &Owned,
    y: &Owned,
) -> Result<()> {
    let (rows, cols) = matrix(mode, x)?;
    let values = x.load::<W>(run)?;
    let mut result = vec![W::ZERO; values.len()];
    let done = if mode.log {
        LogSoftmax::new(rows, cols).and_then(|plan| plan.run(&run.shared.pool, &values, &mut result))
    } else {
        Softmax::new(rows, cols).and_then(|plan| plan.run(&run.shared.pool, &values, &mut result))
    };
    done.map_err(shape_error)?;
    y.store(run, &result, scaling)
}

pub(super) fn softmax_gradient<W: Work>(
    run: &Run<'_>,
    mode: SoftmaxMode,
    scaling: Scaling,
    y: &Owned,
    dy: &Owned,
    dx: &Owned,
) -> Result<()> {
    let (_, cols) = matrix(mode, y)?;
    let (y, mut gradient) = (y.load::<W>(run)?, dy.load::<W>(run)?);
    for (y, dy) in y.chunks_exact(cols.max(1)).zip(gradient.chunks_exact_mut(cols.max(1))) {
        let term = |y: W, dy: W| if mode.log { dy } else { dy.times(y) };
        let sum = y.iter().zip(&*dy).fold(W::ZERO, |sum, (&y, &dy)| sum.plus(term(y, dy)));
        for (&y, dy) in y.iter().zip(dy) {
            *dy = if mode.log { dy.minus(y.exp().times(sum)) } else { y.times(dy.minus(sum)) };
        }
    }
    dx.store(run, &gradient, scaling)
}

pub(super) fn add<W: Work>(run: &Run<'_>, scaling: Scaling, a: &Owned, c: &Owned) -> Result<()> {
    // Extents of 1 are broadcast: they get the result's extent and a stride of zero.
    let mut repeated = a.clone();
    for (index, dim) in repeated.layout.dims.iter_mut().enumerate() {
        if *dim == 1 && c.layout.dims[index] != 1 {
            *dim = c.layout.dims[index];
            repeated.layout.strides[index] = 0;
        }
    }
    c.store(run, &repeated.load::<W>(run)?, scaling)
}
