//! Softmax, cross-entropy and positions of extremes, row by row.

use tfrt_device::error::{DeviceError, Result};
use tfrt_device::front::{DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, THREADS, input, name_of, optional, output, product, typed};

/// A matrix whose rows are processed independently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The number of rows.
    pub rows: u64,
    /// The number of elements of each row.
    pub columns: u64,
}

impl Rows {
    pub(crate) fn elements(self) -> Result<u64> {
        product(&[self.rows, self.columns])
    }

    /// Returns the threads that work on all rows at once: a warp for each short row, a block for
    /// each long one.
    pub(crate) fn threads(self) -> u64 {
        let each = if self.columns <= MAX_WARP_COLUMNS { 32 } else { THREADS.into() };
        self.rows.saturating_mul(each)
    }
}

/// The form of the labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelType {
    /// A probability for each class, in the logits' type.
    Dense,
    /// A class number.
    I32,
    /// A class number.
    I64,
}

/// The buffers of a cross-entropy.
#[derive(Clone, Copy)]
pub struct CrossEntropyBuffers<'a> {
    /// The losses, one number of [`loss_type`] per row, if wanted.
    pub loss: Option<&'a DeviceBuffer>,
    /// The gradient with respect to the logits, if wanted.
    pub gradient: Option<&'a DeviceBuffer>,
    /// The logits.
    pub logits: &'a DeviceBuffer,
    /// The labels.
    pub labels: &'a DeviceBuffer,
}

/// The columns of the longest row that a warp works on, as in `rows.cuh`.
const MAX_WARP_COLUMNS: u64 = 512;

pub(crate) const FLOATS: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64];

/// Returns the type of the losses for a type of logits.
pub fn loss_type(logits: DType) -> DType {
    if logits == DType::F64 { DType::F64 } else { DType::F32 }
}

impl DeviceKernels {
    /// Computes the softmax of each row, or its logarithm; `y` may be `x`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn softmax(
        &self,
        stream: &Stream,
        dtype: DType,
        log: bool,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        rows: Rows,
    ) -> Result<()> {
        let n = rows.elements()?;
        let function = if log { "log_softmax" } else { "softmax" };
        let arguments = [
            output(y, n, dtype, "the result")?,
            input(x, n, dtype, "the operand")?,
            rows.rows.into(),
            rows.columns.into(),
        ];
        self.launch(stream, typed(function, dtype, FLOATS)?, rows.threads(), &arguments)
    }

    /// Computes the gradient of [`DeviceKernels::softmax`] from its result `y` and the result's
    /// gradient `dy`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn softmax_gradient(
        &self,
        stream: &Stream,
        dtype: DType,
        log: bool,
        dx: &DeviceBuffer,
        [y, dy]: [&DeviceBuffer; 2],
        rows: Rows,
    ) -> Result<()> {
        let n = rows.elements()?;
        let function = if log { "log_softmax_gradient" } else { "softmax_gradient" };
        let arguments = [
            output(dx, n, dtype, "the gradient")?,
            input(y, n, dtype, "the result")?,
            input(dy, n, dtype, "the result's gradient")?,
            rows.rows.into(),
            rows.columns.into(),
        ];
        self.launch(stream, typed(function, dtype, FLOATS)?, rows.threads(), &arguments)
    }

    /// Computes the cross-entropy of each row's logits with its label, and the gradient times
    /// `scale`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn cross_entropy(
        &self,
        stream: &Stream,
        dtype: DType,
        labels: LabelType,
        buffers: CrossEntropyBuffers<'_>,
        rows: Rows,
        scale: f32,
    ) -> Result<()> {
        let n = rows.elements()?;
        let sparse = |labels: DType| {
            let name = typed("sparse_cross_entropy", dtype, FLOATS)?;
            Ok::<_, DeviceError>(format!("{name}_{}", name_of(labels)).into())
        };
        let (name, label_type, label_count) = match labels {
            LabelType::Dense => (typed("cross_entropy", dtype, FLOATS)?, dtype, n),
            LabelType::I32 => (sparse(DType::I32)?, DType::I32, rows.rows),
            LabelType::I64 => (sparse(DType::I64)?, DType::I64, rows.rows),
        };
        let loss = buffers.loss.map(|loss| output(loss, rows.rows, loss_type(dtype), "the loss"));
        let gradient = buffers.gradient.map(|gradient| output(gradient, n, dtype, "the gradient"));
        let arguments = [
            optional(loss)?,
            optional(gradient)?,
            input(buffers.logits, n, dtype, "the logits")?,
            input(buffers.labels, label_count, label_type, "the labels")?,
            rows.rows.into(),
            rows.columns.into(),
            scale.into(),
        ];
        self.launch(stream, name, rows.threads(), &arguments)
    }

    /// Writes the position (i32) of each row's greatest or least element.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`]; `InvalidValue` for rows without elements, or with more than i32
    /// counts.
    pub fn arg_extreme(
        &self,
        stream: &Stream,
        dtype: DType,
        least: bool,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        rows: Rows,
    ) -> Result<()> {
        if rows.columns == 0 || rows.columns > i32::MAX as u64 {
            let detail = format!("positions in a row of {} elements need more than 32 bits", rows.columns);
            return Err(DeviceError::invalid_value(detail));
        }
        let function = if least { "argmin" } else { "argmax" };
        let arguments = [
            output(y, rows.rows, DType::I32, "the positions")?,
            input(x, rows.elements()?, dtype, "the operand")?,
            rows.rows.into(),
            rows.columns.into(),
        ];
        let name = typed(function, dtype, &[DType::F32, DType::F16, DType::I32])?;
        self.launch(stream, name, rows.threads(), &arguments)
    }
}
