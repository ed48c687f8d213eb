//! Inputs of models: tensors as for any program, pictures in the form that the model takes, and
//! random numbers.

use std::sync::Arc;

use tfrt_compiler::TensorType;
use tfrt_host::{AsyncValue, DType, Diagnostic, allocator::HostAllocator};
use tfrt_models::image::{CHANNELS, Image, Preparation};
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor, StringHostTensor, TensorShape, files::npy};

use super::{Failure, values};
use crate::Console;

static READ: Accessor = Accessor::new("inputs of a model");

/// The mean and the standard deviation of ImageNet's pixels, from 0 to 1, by which most models of
/// pictures were trained.
const MEAN: [f32; CHANNELS] = [0.485, 0.456, 0.406];
const STD: [f32; CHANNELS] = [0.229, 0.224, 0.225];
/// The shorter side is scaled to this many pixels for a crop of [`CROP`], and in proportion for
/// others.
const SIDE: usize = 256;
const CROP: usize = 224;

/// How pictures become inputs of a model.
#[derive(clap::Args)]
pub(super) struct ImageArgs {
    /// Subtract this mean from the channels of pictures, in numbers from 0 to 1 [default:
    /// ImageNet's, 0.485,0.456,0.406; models that take bytes get the pixels as they are]
    #[arg(long, value_name = "R,G,B", value_parser = triple)]
    mean: Option<[f32; CHANNELS]>,
    /// Divide the channels of pictures by this standard deviation [default: ImageNet's,
    /// 0.229,0.224,0.225]
    #[arg(long, value_name = "R,G,B", value_parser = triple)]
    std: Option<[f32; CHANNELS]>,
    /// Order of a picture's dimensions [default: as the model's input has its three channels]
    #[arg(long, value_enum, value_name = "LAYOUT")]
    layout: Option<ImageLayout>,
}

/// Where a picture's channels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ImageLayout {
    Nchw,
    Nhwc,
}

/// Parses one number for each channel.
fn triple(text: &str) -> Result<[f32; CHANNELS], String> {
    let numbers = text.split(',').map(|number| number.trim().parse::<f32>());
    let numbers: Vec<f32> =
        numbers.collect::<Result<_, _>>().map_err(|_| "write three numbers: R,G,B".to_owned())?;
    numbers.try_into().map_err(|numbers: Vec<f32>| format!("{} numbers, not R,G,B", numbers.len()))
}

type Allocator = Arc<dyn HostAllocator>;

fn wrong(message: impl Into<String>) -> Diagnostic {
    Diagnostic::invalid_argument(message)
}

/// Reads an input of this type: as for any program, which `read` does, `random(SEED)` for random
/// numbers, a picture for a model that takes numbers, or any file for one that takes strings.
pub(super) fn parse(
    text: &str,
    ty: Option<&TensorType>,
    args: &ImageArgs,
    allocator: &Allocator,
    console: &mut Console,
    read: impl FnOnce(&str, &str) -> Result<AsyncValue, Failure>,
) -> Result<AsyncValue, Failure> {
    if let Some(seed) = values::random::seed(text).map_err(|error| Failure::Usage(error.message))?
        && let Some(ty) = ty
    {
        return Ok(random(ty, seed, allocator)?);
    }
    if let Some(file) = text.strip_prefix('@')
        && let Some(ty) = ty.filter(|ty| ty.dtype == DType::String && !values::is_number_file(file))
    {
        // A string is the bytes of a file.
        let shape = TensorShape::new(&vec![1; ty.rank().unwrap_or(0)])?;
        let tensor = StringHostTensor::new(shape, vec![values::file_bytes(file)?])?;
        return Ok(AsyncValue::new(HostTensor::from(tensor)));
    }
    let value = read(text, <HostTensor as tfrt_host::Value>::TYPE_NAME)?;
    let is_image = text.strip_prefix('@').is_some_and(values::is_image_file);
    let Some(ty) = ty.filter(|ty| is_image && ty.rank() == Some(4)) else { return Ok(value) };
    let Some(pixels) = value.get::<HostTensor>() else { return Ok(value) };
    let tensor = image_tensor(pixels.dense()?, ty, args, allocator, console)?;
    Ok(AsyncValue::new(HostTensor::from(tensor)))
}

/// Returns the shape of an input that is given as a text, if it is a tensor in full or a `.npy` file.
pub(super) fn given_shape(text: &str, allocator: &Allocator) -> Option<Vec<u64>> {
    let dims = |shape: &TensorShape| shape.dims().iter().map(|&dim| dim as u64).collect();
    match text.strip_prefix('@') {
        Some(file) => npy::read(file, allocator).ok().map(|tensor| dims(tensor.shape())),
        None => TensorType::parse(text.split_once('=')?.0)?.dims?.into_iter().collect(),
    }
}

/// A picture as a tensor of a model's input type.
fn image_tensor(
    pixels: &DenseHostTensor,
    ty: &TensorType,
    args: &ImageArgs,
    allocator: &Allocator,
    console: &mut Console,
) -> Result<DenseHostTensor, Diagnostic> {
    let dims = ty.dims.clone().unwrap_or_default();
    let layout = match (args.layout, dims[1], dims[3]) {
        (Some(layout), ..) => layout,
        (None, Some(3), _) => ImageLayout::Nchw,
        (None, _, Some(3)) => ImageLayout::Nhwc,
        _ => {
            return Err(wrong(format!(
                "the model's input {ty} has no dimension of three channels; use --layout"
            )));
        }
    };
    let [height, width] = if layout == ImageLayout::Nchw { [dims[2], dims[3]] } else { [dims[1], dims[2]] };
    let crop = match (height, width) {
        (Some(height), Some(width)) if height != width => {
            return Err(wrong(format!(
                "pictures are scaled to squares, and the model's input is {height} by {width}; pass a .npy file"
            )));
        }
        (Some(side), _) | (_, Some(side)) => {
            usize::try_from(side).map_err(|_| wrong(format!("a picture cannot have {side} rows")))?
        }
        (None, None) => CROP,
    };
    let takes_bytes = ty.dtype == DType::UI8;
    let (mean, std) = match takes_bytes {
        true => ([0.0; CHANNELS], [1.0 / 255.0; CHANNELS]),
        false => (args.mean.unwrap_or(MEAN), args.std.unwrap_or(STD)),
    };
    let preparation = Preparation {
        side: (crop * SIDE).div_ceil(CROP).max(crop),
        crop,
        bgr: false,
        mean: mean.map(|mean| mean * 255.0),
        deviation: std.map(|deviation| deviation * 255.0),
    };
    let numbers = match takes_bytes {
        true => "pixels as they are".to_owned(),
        false => format!("mean {mean:?}, std {std:?}"),
    };
    let order = if layout == ImageLayout::Nchw { "NCHW" } else { "NHWC" };
    console.complain(format_args!(
        "picture: shorter side scaled to {}, {crop} x {crop} cut from the middle, {numbers}, {order}",
        preparation.side
    ));
    let &[rows, columns, _] = pixels.shape().dims() else {
        return Err(wrong("the picture is not rows of pixels"));
    };
    let bytes = pixels.read::<u8>(&READ)?;
    let image = Image::new(rows, columns, &bytes[..]).map_err(|error| wrong(error.to_string()))?;
    let mut prepared = vec![0.0; crop * crop * CHANNELS];
    preparation.apply(&image, &mut prepared).map_err(|error| wrong(error.to_string()))?;
    let (shape, numbers) = match layout {
        ImageLayout::Nhwc => ([1, crop, crop, CHANNELS], prepared),
        ImageLayout::Nchw => {
            let planes =
                (0..CHANNELS).flat_map(|channel| prepared.iter().skip(channel).step_by(CHANNELS).copied());
            ([1, CHANNELS, crop, crop], planes.collect())
        }
    };
    let shape = TensorShape::new(&shape)?;
    if takes_bytes {
        let pixels: Vec<u8> = numbers.iter().map(|number| number.round() as u8).collect();
        return DenseHostTensor::from_slice(shape, &pixels, allocator);
    }
    values::random::of_numbers(ty.dtype, shape, &numbers, allocator)
}

/// Random numbers for an input of this type, the same for the same seed: floating-point ones from
/// -1 to 1, others 0 or 1. Extents that are not known are 1.
///
/// # Errors
/// InvalidArgument for types that have no numbers.
pub(super) fn random(ty: &TensorType, seed: u64, allocator: &Allocator) -> Result<AsyncValue, Diagnostic> {
    let dims = ty.dims.as_ref().ok_or_else(|| wrong(format!("the shape of an input {ty} is not known")))?;
    let dims = dims.iter().map(|dim| usize::try_from(dim.unwrap_or(1)).unwrap_or(usize::MAX));
    let shape = TensorShape::new(&dims.collect::<Vec<_>>())?;
    Ok(AsyncValue::new(HostTensor::from(values::random::tensor(ty.dtype, shape, seed, allocator)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_for_each_channel_is_asked_for() {
        assert_eq!(triple("0.5, 1,2e-1"), Ok([0.5, 1.0, 0.2]));
        for wrong in ["0.5", "1,2,3,4", "1,2,x", ""] {
            assert!(triple(wrong).is_err(), "{wrong}");
        }
    }
}
