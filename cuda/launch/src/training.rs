//! Gradients of activations, and steps of optimizers.

use tfrt_device::error::Result;
use tfrt_device::front::{DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::elementwise::named;
use crate::{DeviceKernels, in_out, input, output, typed};

named! {
    /// The gradient of a function of one element.
    Gradient {
        /// From the result.
        Relu = "relu_gradient",
        /// From the result.
        Relu6 = "relu6_gradient",
        /// From the result.
        Sigmoid = "sigmoid_gradient",
        /// From the result.
        Tanh = "tanh_gradient",
        /// From the result.
        Sqrt = "sqrt_gradient",
        /// From the result.
        Rsqrt = "rsqrt_gradient",
        /// From the result.
        Reciprocal = "reciprocal_gradient",
        /// From the result.
        Elu = "elu_gradient",
        /// From the result.
        Selu = "selu_gradient",
        /// From the argument.
        Softplus = "softplus_gradient",
        /// From the argument.
        Softsign = "softsign_gradient",
        /// From the argument.
        Silu = "silu_gradient",
        /// From the argument.
        Gelu = "gelu_gradient",
        /// From the argument.
        GeluTanh = "gelu_tanh_gradient",
    }
}

/// Gradient descent with momentum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Momentum {
    /// Length of a step.
    pub rate: f32,
    /// How much of the last step goes on.
    pub momentum: f32,
    /// How much of the weight is added to its gradient.
    pub decay: f32,
    /// Whether the gradient is taken as if at the next point.
    pub nesterov: bool,
}

/// Adam with decoupled weight decay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// Length of a step.
    pub rate: f32,
    /// How much of the gradients' mean stays.
    pub beta1: f32,
    /// How much of their squares' mean stays.
    pub beta2: f32,
    /// Added to the root.
    pub epsilon: f32,
    /// How much of the weight is taken off.
    pub decay: f32,
    /// Number of the step, from 1.
    pub step: u32,
}

const FLOATS: &[DType] = &[DType::F32, DType::F16];
const ALL_FLOATS: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64];

impl DeviceKernels {
    /// `dx` from `dy` and the activation's result or argument; `dx` may be `dy`.
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

    /// `w -= rate · (g + decay · w)`. Weights are f32, gradients of type `dtype`.
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

    /// A step with momentum. Weights and velocities are f32, gradients of type `dtype`.
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

    /// A step of Adam. Weights and both means are f32, gradients of type `dtype`.
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
        // How much of each mean the steps so far have filled; f64, as the powers come close to 1.
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
