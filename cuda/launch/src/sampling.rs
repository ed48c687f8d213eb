//! Images at places that are computed: grids of coordinates, and regions.

use tfrt_device::error::{DeviceError, Result};
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, input, output, product, typed};

/// What lies outside of an image. The numbers are those of `sampling.cu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampledPadding {
    /// Zeros.
    Zeros = 0,
    /// The nearest element of the border.
    Border = 1,
    /// The image, reflected at its borders.
    Reflection = 2,
}

/// How images are interpolated at coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridSampling {
    /// The number of elements that are taken along a dimension: 1, 2 or 4.
    pub taps: u32,
    /// What lies outside of an image.
    pub padding: SampledPadding,
    /// Whether -1 and 1 are the centres of the outermost elements, and not the image's edges.
    pub aligned: bool,
}

/// Images and grids of one to three dimensions. Leading dimensions that they lack have extents of 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledPlanes {
    /// The number of images.
    pub batch: u64,
    /// The number of planes of an image.
    pub channels: u64,
    /// The extents of a plane.
    pub input: [u64; 3],
    /// The extents of a grid.
    pub output: [u64; 3],
    /// The number of dimensions.
    pub rank: u32,
}

/// Regions of images that are resized.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regions {
    /// The number of regions.
    pub count: u64,
    /// The number of images.
    pub batch: u64,
    /// The number of planes of an image.
    pub channels: u64,
    /// The height and width of a plane.
    pub input: [u64; 2],
    /// The height and width of a result.
    pub output: [u64; 2],
    /// What coordinates are multiplied by.
    pub scale: f64,
    /// The number of samples of a result along a dimension; zero for as many as it has elements.
    pub ratio: i64,
    /// Whether coordinates are moved by half an element.
    pub half: bool,
    /// Whether the greatest part of a sample is taken, and not the mean of all samples.
    pub maxima: bool,
}

const FLOATS: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64];

impl DeviceKernels {
    /// Interpolates images at the coordinates of grids (f64).
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`]; `InvalidValue` for planes without elements, or extents or a
    /// sampling that the kernel does not have.
    pub fn grid_sample(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        [x, grid]: [&DeviceBuffer; 2],
        planes: SampledPlanes,
        sampling: GridSampling,
    ) -> Result<()> {
        let SampledPlanes { batch, channels, input: from, output: to, rank } = planes;
        let (plane, points) = (product(&from)?, product(&to)?);
        let n = product(&[batch, channels, points])?;
        let mode = match sampling.taps {
            1 => 0u32,
            2 => 1,
            4 => 2,
            taps => return Err(DeviceError::invalid_value(format!("a sample of {taps} elements"))),
        };
        if (plane == 0 && n > 0) || !(1..=3).contains(&rank) {
            let detail = format!("planes of {plane} elements in {rank} dimensions have no samples");
            return Err(DeviceError::invalid_value(detail));
        }
        let mut arguments = vec![
            output(y, n, dtype, "the result")?,
            input(x, product(&[batch, channels, plane])?, dtype, "the images")?,
            input(grid, product(&[batch, points, rank.into()])?, DType::F64, "the grid")?,
            batch.into(),
            channels.into(),
        ];
        arguments.extend(from.into_iter().chain(to).map(Argument::from));
        let flags = [rank, mode, sampling.padding as u32, u32::from(sampling.aligned)];
        arguments.extend(flags.map(Argument::from));
        self.launch(stream, typed("grid_sample", dtype, FLOATS)?, n, &arguments)
    }

    /// Resizes regions of images. `corners` has two corners (x, y, x, y) of the images' type for each
    /// region, and `images` (i64) the image that it is of. A region of no image gives zeros.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`]; `InvalidValue` for planes without elements.
    pub fn roi_align(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        [x, corners, images]: [&DeviceBuffer; 3],
        regions: Regions,
    ) -> Result<()> {
        let Regions { count, batch, channels, input: [height, width], output: [rows, columns], .. } = regions;
        let n = product(&[count, channels, rows, columns])?;
        if n > 0 && (batch == 0 || height == 0 || width == 0) {
            return Err(DeviceError::invalid_value("images without elements have no regions"));
        }
        let arguments = [
            output(y, n, dtype, "the result")?,
            input(x, product(&[batch, channels, height, width])?, dtype, "the images")?,
            input(corners, product(&[count, 4])?, dtype, "the regions")?,
            input(images, count, DType::I64, "the regions' images")?,
            count.into(),
            batch.into(),
            channels.into(),
            height.into(),
            width.into(),
            rows.into(),
            columns.into(),
            regions.scale.into(),
            regions.ratio.into(),
            u32::from(regions.half).into(),
            u32::from(regions.maxima).into(),
        ];
        self.launch(stream, typed("roi_align", dtype, FLOATS)?, n, &arguments)
    }
}
