//! Numbers as multiples of scales, counted from zero points.

use tfrt_device::error::Result;
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, input, name_of, no_kernel, optional, output, product};

/// Which scale and zero point each element has, by its position along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleBlocks {
    /// The product of the extents after the dimension.
    pub inner: u64,
    /// The extent of the dimension.
    pub extent: u64,
    /// The number of positions that share a scale.
    pub block: u64,
    /// The number of scales along the dimension.
    pub count: u64,
    /// The number of places before the dimension if these, and those after it, have separate scales.
    pub outer: Option<u64>,
}

/// The scales and the zero points, which are zero if they are not given.
#[derive(Clone, Copy)]
pub struct Scales<'a> {
    /// The scales.
    pub scale: &'a DeviceBuffer,
    /// The zero points, of the type of quantized numbers.
    pub zero: Option<&'a DeviceBuffer>,
    /// Which of them each element has.
    pub blocks: ScaleBlocks,
}

const FLOATS: &[DType] = &[DType::F32, DType::F16, DType::BF16];
const NARROW: &[DType] = &[DType::I8, DType::UI8, DType::I16, DType::UI16];

impl ScaleBlocks {
    /// Returns the number of scales.
    fn scales(&self) -> Result<u64> {
        match self.outer {
            Some(outer) => product(&[outer, self.count, self.inner]),
            None => Ok(self.count),
        }
    }

    fn numbers(&self) -> [Argument<'static>; 5] {
        let Self { inner, extent, block, count, outer } = *self;
        [inner.into(), extent.into(), block.into(), count.into(), u32::from(outer.is_some()).into()]
    }
}

impl DeviceKernels {
    /// Divides `n` numbers of type `from` by scales of their type and rounds them to integers of
    /// type `to`, which are cut to its range.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn quantize(
        &self,
        stream: &Stream,
        (to, y): (DType, &DeviceBuffer),
        (from, x): (DType, &DeviceBuffer),
        scales: Scales<'_>,
        n: u64,
    ) -> Result<()> {
        if !FLOATS.contains(&from) || !NARROW.contains(&to) {
            return Err(no_kernel("quantize", if FLOATS.contains(&from) { to } else { from }));
        }
        let name = format!("quantize_{}_{}", name_of(from), name_of(to));
        self.scale(stream, name, [(to, y), (from, x)], (scales, from, to), n)
    }

    /// Multiplies the distances of `n` integers of type `from` from their zero points by scales
    /// (f32).
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn dequantize(
        &self,
        stream: &Stream,
        (to, y): (DType, &DeviceBuffer),
        (from, x): (DType, &DeviceBuffer),
        scales: Scales<'_>,
        n: u64,
    ) -> Result<()> {
        let has_it = NARROW.contains(&from) || from == DType::I32;
        if !FLOATS.contains(&to) || !has_it {
            return Err(no_kernel("dequantize", if has_it { to } else { from }));
        }
        let name = format!("dequantize_{}_{}", name_of(from), name_of(to));
        self.scale(stream, name, [(to, y), (from, x)], (scales, DType::F32, from), n)
    }

    /// Launches a kernel with scales and zero points of these types.
    fn scale(
        &self,
        stream: &Stream,
        name: String,
        [(to, y), (from, x)]: [(DType, &DeviceBuffer); 2],
        (scales, scale_type, zero_type): (Scales<'_>, DType, DType),
        n: u64,
    ) -> Result<()> {
        let Scales { scale, zero, blocks } = scales;
        let count = blocks.scales()?;
        let mut arguments = vec![
            output(y, n, to, "the result")?,
            input(x, n, from, "the operand")?,
            input(scale, count, scale_type, "the scales")?,
            optional(zero.map(|zero| input(zero, count, zero_type, "the zero points")))?,
            n.into(),
        ];
        arguments.extend(blocks.numbers());
        self.launch(stream, name, n, &arguments)
    }
}
