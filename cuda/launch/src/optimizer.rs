//! Optimizer steps whose numbers (rates, momenta) are in device memory and have the type of the
//! weights.

use tfrt_device::error::Result;
use tfrt_device::front::{DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, in_out, input, typed};

/// The buffers that a step of Adam changes.
#[derive(Clone, Copy)]
pub struct AdamBuffers<'a> {
    /// The weights.
    pub weights: &'a DeviceBuffer,
    /// The means of the gradients.
    pub means: &'a DeviceBuffer,
    /// The means of the squared gradients.
    pub squares: &'a DeviceBuffer,
}

/// The numbers of a step of Adam, one element each.
#[derive(Clone, Copy)]
pub struct AdamNumbers<'a> {
    /// `beta1` to the power of the step's number.
    pub power1: &'a DeviceBuffer,
    /// `beta2` to the power of the step's number.
    pub power2: &'a DeviceBuffer,
    /// The learning rate.
    pub rate: &'a DeviceBuffer,
    /// The decay of the gradients' mean.
    pub beta1: &'a DeviceBuffer,
    /// The decay of the mean of their squares.
    pub beta2: &'a DeviceBuffer,
    /// The number added to the root.
    pub epsilon: &'a DeviceBuffer,
}

const FLOATS: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64];

impl DeviceKernels {
    /// Computes `w -= rate · g`, all of one type; `rate` is one element.
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

    /// Computes `v = momentum · v + g`, then `w -= rate · v`, or with Nesterov's method `w -= rate
    /// · (g + momentum · v)`. All have one type; rate and momentum are one element each.
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

    /// Computes a step of Adam (Kingma and Ba), see `optimizer.cu`. All have one type.
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
