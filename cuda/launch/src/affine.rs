//! Sums over rows of channels with an activation: bias, residual, and batch normalization with
//! known statistics.

use tfrt_device::error::Result;
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::elementwise::HALVES_TOO;
use crate::{DeviceKernels, input, optional, output, product, typed};

/// A function that is applied to a sum. The numbers are those of `activation.cuh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Activation {
    /// The sum itself.
    #[default]
    Identity = 0,
    /// max(x, 0).
    Relu = 1,
    /// min(max(x, 0), 6).
    Relu6 = 2,
    /// 1 / (1 + e⁻ˣ).
    Sigmoid = 3,
    /// tanh x.
    Tanh = 4,
    /// x · Φ(x).
    Gelu = 5,
    /// The approximation of GELU by tanh.
    GeluTanh = 6,
    /// x · sigmoid x.
    Silu = 7,
}

/// The operands of a sum over rows of channels, besides its input.
#[derive(Clone, Copy)]
pub struct Affine<'a> {
    /// The number of rows: images times pixels.
    pub rows: u64,
    /// The number of elements of a row.
    pub channels: u64,
    /// A buffer that is added element by element, if any.
    pub residual: Option<&'a DeviceBuffer>,
    /// The function that is applied last.
    pub activation: Activation,
}

impl DeviceKernels {
    /// Computes `y = activation(x + bias + residual)` over rows of channels. `bias` is f32.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn bias_activation(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        bias: &DeviceBuffer,
        affine: Affine<'_>,
    ) -> Result<()> {
        self.affine(stream, "bias_activation", dtype, [y, x], &[bias], affine)
    }

    /// Computes `y = activation((x - mean) · factor + offset + residual)` over rows of channels:
    /// batch normalization with known statistics ([`DeviceKernels::normalization_factor`]).
    /// `parameters` are mean, factor and offset, in f32.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn normalize_activation(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        parameters: [&DeviceBuffer; 3],
        affine: Affine<'_>,
    ) -> Result<()> {
        self.affine(stream, "normalize_activation", dtype, [y, x], &parameters, affine)
    }

    fn affine(
        &self,
        stream: &Stream,
        function: &'static str,
        dtype: DType,
        [y, x]: [&DeviceBuffer; 2],
        parameters: &[&DeviceBuffer],
        affine: Affine<'_>,
    ) -> Result<()> {
        let Affine { rows, channels, residual, activation } = affine;
        let n = product(&[rows, channels])?;
        let mut arguments = vec![output(y, n, dtype, "the result")?, input(x, n, dtype, "the operand")?];
        for parameter in parameters {
            arguments.push(input(parameter, channels, DType::F32, "a parameter of the channels")?);
        }
        arguments.push(optional(residual.map(|residual| input(residual, n, dtype, "the residual")))?);
        arguments.extend([Argument::from(rows), channels.into(), (activation as u32).into()]);
        self.launch(stream, typed(function, dtype, HALVES_TOO)?, n, &arguments)
    }

    /// Computes `factor = scale / √(variance + epsilon)` for each channel, the factor of a batch
    /// normalization. All are f32.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn normalization_factor(
        &self,
        stream: &Stream,
        factor: &DeviceBuffer,
        [variance, scale]: [&DeviceBuffer; 2],
        channels: u64,
        epsilon: f32,
    ) -> Result<()> {
        let arguments = [
            output(factor, channels, DType::F32, "the factors")?,
            input(variance, channels, DType::F32, "the variances")?,
            input(scale, channels, DType::F32, "the scales")?,
            channels.into(),
            epsilon.into(),
        ];
        self.launch(stream, "normalization_factor_f32", channels, &arguments)
    }
}
