//! Local response normalization, and its gradient.

use tfrt_device::error::Result;
use tfrt_device::front::{DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, input, output, typed};

/// The parameters of local response normalization: `x · (bias + alpha · Σ x²)^-beta`, where the sum
/// is over neighbouring channels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalResponse {
    /// The largest distance of these channels.
    pub radius: u64,
    /// The number added to the sum.
    pub bias: f32,
    /// The weight of the sum.
    pub alpha: f32,
    /// The exponent.
    pub beta: f32,
}

const HALVES_TOO: &[DType] = &[DType::F32, DType::F16, DType::BF16];

impl DeviceKernels {
    /// Normalizes `n` elements in pixels of `depth` channels.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn local_response(
        &self,
        stream: &Stream,
        response: LocalResponse,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        [n, depth]: [u64; 2],
    ) -> Result<()> {
        let arguments = [
            output(y, n, dtype, "the result")?,
            input(x, n, dtype, "the operand")?,
            n.into(),
            depth.into(),
            response.radius.into(),
            response.bias.into(),
            response.alpha.into(),
            response.beta.into(),
        ];
        self.launch(stream, typed("lrn", dtype, HALVES_TOO)?, n, &arguments)
    }

    /// Computes the gradient `dx` with respect to `x` from the result `y` and its gradient `dy`.
    /// `shares` is scratch memory for `n` numbers of type `f32`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    #[expect(
        clippy::too_many_arguments,
        reason = "two buffers besides the operands, with their shape and type"
    )]
    pub fn local_response_gradient(
        &self,
        stream: &Stream,
        response: LocalResponse,
        dtype: DType,
        dx: &DeviceBuffer,
        [dy, x, y]: [&DeviceBuffer; 3],
        shares: &DeviceBuffer,
        [n, depth]: [u64; 2],
    ) -> Result<()> {
        let LocalResponse { radius, bias, alpha, beta } = response;
        let arguments = [
            output(shares, n, DType::F32, "the scratch memory")?,
            input(dy, n, dtype, "the gradient of the result")?,
            input(x, n, dtype, "the operand")?,
            input(y, n, dtype, "the result")?,
            n.into(),
            depth.into(),
            radius.into(),
            bias.into(),
            alpha.into(),
        ];
        self.launch(stream, typed("lrn_shares", dtype, HALVES_TOO)?, n, &arguments)?;
        let arguments = [
            output(dx, n, dtype, "the gradient of the operand")?,
            input(dy, n, dtype, "the gradient of the result")?,
            input(x, n, dtype, "the operand")?,
            input(shares, n, DType::F32, "the scratch memory")?,
            n.into(),
            depth.into(),
            radius.into(),
            bias.into(),
            alpha.into(),
            beta.into(),
        ];
        self.launch(stream, typed("lrn_gradient", dtype, HALVES_TOO)?, n, &arguments)
    }
}
