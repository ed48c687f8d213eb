//! Images as networks take them.

use tfrt_host::{Arg, Attr, DType, Diagnostic, ExecutionContext, KernelRegistry};
use tfrt_tensor::{Accessor, DenseHostTensor};

use super::filled;
use crate::image::{CHANNELS, Image, Preparation};

static PREPARE: Accessor = Accessor::new("tfrt_image.prepare.f32");

/// One number for each channel.
fn channels(name: &str, numbers: &[f32]) -> Result<[f32; CHANNELS], Diagnostic> {
    numbers.try_into().map_err(|_| {
        let count = numbers.len();
        Diagnostic::invalid_argument(format!(
            "'{name}' must have {CHANNELS} numbers, one for each channel, not {count}"
        ))
    })
}

fn extent(name: &str, number: i64) -> Result<usize, Diagnostic> {
    usize::try_from(number)
        .map_err(|_| Diagnostic::invalid_argument(format!("'{name}' must not be {number}")))
}

fn prepare(
    image: Arg<DenseHostTensor>,
    bgr: Attr<bool>,
    crop: Attr<i64>,
    deviation: Attr<[f32]>,
    mean: Attr<[f32]>,
    side: Attr<i64>,
    cx: &ExecutionContext,
) -> Result<DenseHostTensor, Diagnostic> {
    let &[height, width, CHANNELS] = image.shape().dims() else {
        return Err(not_an_image(&image));
    };
    if image.dtype() != DType::UI8 {
        return Err(not_an_image(&image));
    }
    let invalid = |error: crate::image::ImageError| Diagnostic::invalid_argument(error.to_string());
    let pixels = image.read::<u8>(&PREPARE)?;
    let image = Image::new(height, width, &*pixels).map_err(invalid)?;
    let preparation = Preparation {
        side: extent("side", side.0)?,
        crop: extent("crop", crop.0)?,
        bgr: bgr.0,
        mean: channels("mean", mean.0)?,
        deviation: channels("deviation", deviation.0)?,
    };
    preparation.check().map_err(invalid)?;
    filled([1, preparation.crop, preparation.crop, CHANNELS], cx, |prepared| {
        preparation.apply(&image, prepared).map_err(invalid)
    })
}

#[cold]
fn not_an_image(tensor: &DenseHostTensor) -> Diagnostic {
    Diagnostic::invalid_argument(format!(
        "an image is a tensor of ui8 with rows, columns and {CHANNELS} channels, not {}",
        tensor.metadata()
    ))
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_image.prepare.f32", prepare)
        .attributes(&["bgr", "crop", "deviation", "mean", "side"])
        .parallel()
        .doc(
            "The middle of an image (ui8, [height, width, 3]: red, green, blue) as f32 of [1, crop, crop, 3], after scaling \
             that gives the shorter side `side` pixels; each channel less its mean, divided by its deviation; with `bgr` the \
             other way round.",
        );
    registry.add_chain_form("tfrt_image.prepare.f32");
}
