//! Gradients of activations, and optimizer steps.

use tfrt_device::error::Result;
use tfrt_device::front::{DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::functions::named;
use crate::{DeviceKernels, in_out, input, output, typed};

named! {
    /// The gradient of a function of one element.
    Gradient {
        /// Computed from the result.
        Relu = "relu_gradient",
        /// Computed from the result.
        Relu6 = "relu6_gradient",
        /// Computed from the result.
        Sigmoid = "sigmoid_gradient",
        /// Computed from the result.
        Tanh = "tanh_gradient",
        /// Computed from the result.
        Sqrt = "sqrt_gradient",
        /// Computed from the result.
        Rsqrt = "rsqrt_gradient",
        /// Computed from the result.
        Reciprocal = "reciprocal_gradient",
        /// Computed from the result.
        Elu = "elu_gradient",
        /// Computed from the result.
        Selu = "selu_gradient",
        /// Computed from the argument.
        Softplus = "softplus_gradient",
        /// Computed from the argument.
        Softsign = "softsign_gradient",
        /// Computed from the argument.
        Silu = "silu_gradient",
        /// Computed from the argument.
        Gelu = "gelu_gradient",
        /// Computed from the argument.
        GeluTanh = "gelu_tanh_gradient",
    }
}

/// Gradient descent with momentum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Momentum {
    /// The learning rate.
    pub rate: f32,
    /// The decay of the velocity.
    pub momentum: f32,
    /// The factor of the weight that is added to its gradient.
    pub decay: f32,
    /// Whether to use Nesterov's method, with the gradient at the next point.
    pub nesterov: bool,
}

/// Adam with decoupled weight decay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// The learning rate.
    pub rate: f32,
    /// The decay of the gradients' mean.
    pub beta1: f32,
    /// The decay of the mean of their squares.
    pub beta2: f32,
    /// The number added to the root.
    pub epsilon: f32,
    /// The factor of the weight that is subtracted from it.
    pub decay: f32,
    /// The number of the step, from 1.
    pub step: u32,
}

const FLOATS: &[DType] = &[DType::F32, DType::F16];
const ALL_FLOATS: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64];

impl DeviceKernels {
    /// Computes `dx` from `dy` and the activation's result or argument; `dx` may be `dy`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn activation_gradient(
        &self,
        stream: &Stream,
        gradient: Gradient,
        dtype: DType,
        dx: &DeviceBuffer,
        [dy, value]: [&DeviceBuffer; 2],
        n: u64,
    ) -> Result<()> {
        let arguments = [
            output(dx, n, dtype, "the gradient")?,
            input(dy, n, dtype, "the result's gradient")?,
            input(value, n, dtype, "the activation's result or argument")?,
            n.into(),
        ];
        self.launch(stream, typed(gradient.name(), dtype, ALL_FLOATS)?, n, &arguments)
    }

    /// Computes `w -= rate · (g + decay · w)`. Weights are f32, gradients have type `dtype`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn sgd(
        &self,
        stream: &Stream,
        dtype: DType,
        w: &DeviceBuffer,
        g: &DeviceBuffer,
        n: u64,
        [rate, decay]: [f32; 2],
    ) -> Result<()> {
        let arguments = [
            in_out(w, n, DType::F32, "the weights")?,
            input(g, n, dtype, "the gradients")?,
            n.into(),
            rate.into(),
            decay.into(),
        ];
        self.launch(stream, typed("sgd", dtype, FLOATS)?, n, &arguments)
    }

    /// Makes a step with momentum. Weights and velocities are f32, gradients have type `dtype`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn momentum(
        &self,
        stream: &Stream,
        dtype: DType,
        [w, v]: [&DeviceBuffer; 2],
        g: &DeviceBuffer,
        n: u64,
        options: Momentum,
    ) -> Result<()> {
        let arguments = [
            in_out(w, n, DType::F32, "the weights")?,
            in_out(v, n, DType::F32, "the velocities")?,
            input(g, n, dtype, "the gradients")?,
            n.into(),
            options.rate.into(),
            options.momentum.into(),
            options.decay.into(),
            u32::from(options.nesterov).into(),
        ];
        self.launch(stream, typed("momentum", dtype, FLOATS)?, n, &arguments)
    }

    /// Makes a step of Adam. Weights and both means are f32, gradients have type `dtype`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn adam(
        &self,
        stream: &Stream,
        dtype: DType,
        [w, m, v]: [&DeviceBuffer; 3],
        g: &DeviceBuffer,
        n: u64,
        options: Adam,
    ) -> Result<()> {
        // How far the steps so far have filled each mean, in f64 because the powers come close to
        // 1.
        let step = i32::try_from(options.step.max(1)).unwrap_or(i32::MAX);
        let filled = |beta: f32| (1.0 - f64::from(beta).powi(step)) as f32;
        let arguments = [
            in_out(w, n, DType::F32, "the weights")?,
            in_out(m, n, DType::F32, "the gradients' means")?,
            in_out(v, n, DType::F32, "the squares' means")?,
            input(g, n, dtype, "the gradients")?,
            n.into(),
            options.rate.into(),
            options.beta1.into(),
            options.beta2.into(),
            options.epsilon.into(),
            options.decay.into(),
            filled(options.beta1).into(),
            filled(options.beta2).into(),
        ];
        self.launch(stream, typed("adam", dtype, FLOATS)?, n, &arguments)
    }
}
