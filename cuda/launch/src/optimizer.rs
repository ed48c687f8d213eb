//! Steps of optimizers whose numbers (rates, momenta) are in device memory, and of the weights' type.

use tfrt_device::error::Result;
use tfrt_device::front::{DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, in_out, input, typed};

/// What a step of Adam changes.
#[derive(Clone, Copy)]
pub struct AdamBuffers<'a> {
    /// The weights.
    pub weights: &'a DeviceBuffer,
    /// The gradients' means.
    pub means: &'a DeviceBuffer,
    /// The squares' means.
    pub squares: &'a DeviceBuffer,
}

/// One number each.
#[derive(Clone, Copy)]
pub struct AdamNumbers<'a> {
    /// `beta1` to the number of the step.
    pub power1: &'a DeviceBuffer,
    /// `beta2` to the number of the step.
    pub power2: &'a DeviceBuffer,
    /// Length of a step.
    pub rate: &'a DeviceBuffer,
    /// How much of the gradients' mean stays.
    pub beta1: &'a DeviceBuffer,
    /// How much of their squares' mean stays.
    pub beta2: &'a DeviceBuffer,
    /// Added to the root.
    pub epsilon: &'a DeviceBuffer,
}

const FLOATS: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64];

impl DeviceKernels {
    /// `w -= rate · g`, all of one type; `rate` is one element.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn apply_gradient_descent(
        &self,
        stream: &Stream,
        dtype: DType,
        w: &DeviceBuffer,
        [g, rate]: [&DeviceBuffer; 2],
        n: u64,
    ) -> Result<()> {
        let arguments = [
            in_out(w, n, dtype, "the weights")?,
            input(g, n, dtype, "the gradients")?,
            n.into(),
            input(rate, 1, dtype, "the rate")?,
        ];
        self.launch(stream, typed("apply_gradient_descent", dtype, FLOATS)?, n, &arguments)
    }

    /// `v = momentum · v + g`, `w -= rate · v`, or `rate · (g + momentum · v)` by Nesterov's method; all of one type, rate and
    /// momentum one element each.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn apply_momentum(
        &self,
        stream: &Stream,
        dtype: DType,
        [w, v]: [&DeviceBuffer; 2],
        [g, rate, momentum]: [&DeviceBuffer; 3],
        n: u64,
        nesterov: bool,
    ) -> Result<()> {
        let arguments = [
            in_out(w, n, dtype, "the weights")?,
            in_out(v, n, dtype, "the velocities")?,
            input(g, n, dtype, "the gradients")?,
            n.into(),
            input(rate, 1, dtype, "the rate")?,
            input(momentum, 1, dtype, "the momentum")?,
            u32::from(nesterov).into(),
        ];
        self.launch(stream, typed("apply_momentum", dtype, FLOATS)?, n, &arguments)
    }

    /// Kingma and Ba's step, see `optimizer.cu`; all of one type.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    #[expect(clippy::too_many_arguments, reason = "buffers and numbers with their type")]
    pub fn apply_adam(
        &self,
        stream: &Stream,
        dtype: DType,
        changed: AdamBuffers<'_>,
        g: &DeviceBuffer,
        numbers: AdamNumbers<'_>,
        n: u64,
        nesterov: bool,
    ) -> Result<()> {
        let mut arguments = vec![
            in_out(changed.weights, n, dtype, "the weights")?,
            in_out(changed.means, n, dtype, "the gradients' means")?,
            in_out(changed.squares, n, dtype, "the squares' means")?,
            input(g, n, dtype, "the gradients")?,
            n.into(),
        ];
        let AdamNumbers { power1, power2, rate, beta1, beta2, epsilon } = numbers;
        for number in [power1, power2, rate, beta1, beta2, epsilon] {
            arguments.push(input(number, 1, dtype, "a number of the optimizer")?);
        }
        arguments.push(u32::from(nesterov).into());
        self.launch(stream, typed("apply_adam", dtype, FLOATS)?, n, &arguments)
    }
}
