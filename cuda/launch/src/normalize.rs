//! Normalization of rows.

use tfrt_device::error::Result;
use tfrt_device::front::{DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::rows::FLOATS;
use crate::{DeviceKernels, Rows, input, optional, output, typed};

/// How rows are normalized.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normalization {
    /// The rows.
    pub rows: Rows,
    /// The number of rows after which the scale begins again.
    pub period: u64,
    /// The number of adjacent elements that share an element of the scale.
    pub plane: u64,
    /// What is added to the variance.
    pub epsilon: f32,
    /// Whether the mean is subtracted.
    pub centered: bool,
}

/// The buffers of a normalization; all but the statistics are of its type.
#[derive(Clone, Copy)]
pub struct NormalizationBuffers<'a> {
    /// The normalized rows.
    pub y: &'a DeviceBuffer,
    /// The mean of each row (f32), if wanted.
    pub means: Option<&'a DeviceBuffer>,
    /// What each row is multiplied by (f32), if wanted.
    pub factors: Option<&'a DeviceBuffer>,
    /// The rows.
    pub x: &'a DeviceBuffer,
    /// What the normalized elements are multiplied by: `period * columns / plane` elements.
    pub scale: &'a DeviceBuffer,
    /// What is added then, as many elements, if anything.
    pub shift: Option<&'a DeviceBuffer>,
}

impl DeviceKernels {
    /// Computes `y = (x - mean) / sqrt(variance + epsilon) * scale + shift`, where mean and variance
    /// are those of each row; `y` may be `x`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn normalize(
        &self,
        stream: &Stream,
        dtype: DType,
        buffers: NormalizationBuffers<'_>,
        how: Normalization,
    ) -> Result<()> {
        let Normalization { rows, period, plane, epsilon, centered } = how;
        let n = rows.elements()?;
        let (period, plane) = (period.max(1), plane.max(1));
        let coefficients = Rows { rows: period, columns: rows.columns }.elements()? / plane;
        let means = buffers.means.map(|means| output(means, rows.rows, DType::F32, "the means"));
        let factors = buffers.factors.map(|factors| output(factors, rows.rows, DType::F32, "the factors"));
        let shift = buffers.shift.map(|shift| input(shift, coefficients, dtype, "the shift"));
        let arguments = [
            output(buffers.y, n, dtype, "the result")?,
            optional(means)?,
            optional(factors)?,
            input(buffers.x, n, dtype, "the operand")?,
            input(buffers.scale, coefficients, dtype, "the scale")?,
            optional(shift)?,
            rows.rows.into(),
            rows.columns.into(),
            period.into(),
            plane.into(),
            epsilon.into(),
            u32::from(centered).into(),
        ];
        self.launch(stream, typed("normalize", dtype, FLOATS)?, rows.threads(), &arguments)
    }
}
