//! What attention does besides products and softmax: masks of scores, and rotations of pairs.

use tfrt_device::error::{DeviceError, Result};
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, bits, input, optional, output, product, typed};

/// A mask that is added to scores, of their type.
#[derive(Clone, Copy)]
pub struct ScoreMask<'a> {
    /// Its elements.
    pub buffer: &'a DeviceBuffer,
    /// The distances between its elements along batch, heads, rows and columns; zero repeats it.
    pub strides: [u64; 4],
    /// The number of columns it has. Later ones are hidden.
    pub columns: u64,
}

/// What changes scores before their softmax.
#[derive(Clone, Copy)]
pub struct Scores<'a> {
    /// The extents: batch, heads, rows, columns.
    pub extents: [u64; 4],
    /// The mask to add.
    pub mask: Option<ScoreMask<'a>>,
    /// The number of columns (i64) of each of the batch.
    pub lengths: Option<&'a DeviceBuffer>,
    /// If above zero, the bound that scores approach by the hyperbolic tangent.
    pub cap: f64,
    /// If row `r` has only `r + 1` columns and some more, the number of these.
    pub causal: Option<u64>,
}

/// A rotation of pairs of elements in the rows of heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// The number of sequences.
    pub batch: u64,
    /// The number of heads.
    pub heads: u64,
    /// The number of places of a sequence.
    pub length: u64,
    /// The number of elements of a row.
    pub size: u64,
    /// The number of pairs of a row that are rotated.
    pub half: u64,
    /// The number of rows of the tables of cosines and sines.
    pub cached: u64,
    /// Whether places come before heads.
    pub packed: bool,
    /// Whether pairs are neighbours.
    pub interleaved: bool,
}

impl DeviceKernels {
    /// Caps, masks and hides scores; `y` may be `x`. What is hidden is minus infinity.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn attention_scores(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        scores: Scores<'_>,
    ) -> Result<()> {
        let [batch, heads, rows, columns] = scores.extents;
        let n = product(&scores.extents)?;
        let mask = match scores.mask.filter(|_| n > 0) {
            Some(ScoreMask { buffer, strides, columns }) => {
                // One past the last element that is read.
                let extents = [batch, heads, rows, columns];
                let mut ends = extents
                    .iter()
                    .zip(strides)
                    .map(|(&extent, stride)| extent.saturating_sub(1).checked_mul(stride));
                let last = ends.try_fold(0u64, |sum, end| sum.checked_add(end?));
                let last = last.ok_or_else(|| DeviceError::invalid_value("a mask is too large"))?;
                Some(input(buffer, if columns == 0 { 0 } else { last + 1 }, dtype, "the mask"))
            }
            None => None,
        };
        let (strides, seen) = scores.mask.map_or(([0; 4], 0), |mask| (mask.strides, mask.columns));
        let lengths = scores.lengths.map(|lengths| input(lengths, batch, DType::I64, "the lengths"));
        let mut arguments = vec![
            output(y, n, dtype, "the result")?,
            input(x, n, dtype, "the scores")?,
            optional(mask)?,
            optional(lengths)?,
            n.into(),
            heads.into(),
            rows.into(),
            columns.into(),
            seen.into(),
        ];
        arguments.extend(strides.map(|stride| Argument::from(stride as i64)));
        arguments.extend([
            bits(scores.cap, dtype)?,
            scores.causal.unwrap_or(0).into(),
            u32::from(scores.causal.is_some()).into(),
        ]);
        self.launch(stream, typed("scores", dtype, &[DType::F32, DType::F64])?, n, &arguments)
    }

    /// Rotates pairs of elements of `x` by angles whose cosines and sines are in tables of rows. The
    /// row of a place is its number in `positions` (i64), or its own number; one that does not exist
    /// counts as zeros. `y` must not overlap `x`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`]; `InvalidValue` if rows are shorter than what is rotated.
    pub fn rotary(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        [x, cos, sin]: [&DeviceBuffer; 3],
        positions: Option<&DeviceBuffer>,
        rotation: Rotation,
    ) -> Result<()> {
        let Rotation { batch, heads, length, size, half, cached, packed, interleaved } = rotation;
        if half.checked_mul(2).is_none_or(|rotated| rotated > size) {
            let detail = format!("a row of {size} elements does not have {half} pairs");
            return Err(DeviceError::invalid_value(detail));
        }
        let (n, table) = (product(&[batch, heads, length, size])?, product(&[cached, half])?);
        let places = product(&[batch, length])?;
        let positions = positions.map(|positions| input(positions, places, DType::I64, "the positions"));
        let arguments = [
            output(y, n, dtype, "the result")?,
            input(x, n, dtype, "the operand")?,
            input(cos, table, dtype, "the cosines")?,
            input(sin, table, dtype, "the sines")?,
            optional(positions)?,
            n.into(),
            size.into(),
            heads.into(),
            length.into(),
            half.into(),
            cached.into(),
            u32::from(packed).into(),
            u32::from(interleaved).into(),
        ];
        let types = &[DType::F32, DType::F16, DType::BF16, DType::F64];
        self.launch(stream, typed("rotary", dtype, types)?, n, &arguments)
    }
}
