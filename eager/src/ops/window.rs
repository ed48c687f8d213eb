//! What ops with sliding windows have in common: strides, paddings and layouts as TensorFlow writes them.

use tfrt_host::Diagnostic;
use tfrt_math::{Extent2, Padding};
use tfrt_tensor::TensorShape;

use super::support::invalid;
use crate::OpAttrs;

/// Batch, height, width and channels of a tensor of images.
///
/// # Errors
/// InvalidArgument unless it has four dimensions.
pub(super) fn images(shape: &TensorShape, what: &str) -> Result<[usize; 4], Diagnostic> {
    shape
        .dims()
        .try_into()
        .map_err(|_| invalid(format!("{what} must be 4-dimensional, got a tensor of shape {shape}")))
}

/// Whether images are `NHWC`, the only layout these ops compute in host memory.
///
/// # Errors
/// InvalidArgument for other layouts.
pub(super) fn check_layout(attrs: &OpAttrs, op: &str) -> Result<(), Diagnostic> {
    match attrs.optional::<&str>("data_format")? {
        None | Some("NHWC") => Ok(()),
        Some(other) => {
            Err(invalid(format!("{op} supports only data_format NHWC in host memory, got {other}")))
        }
    }
}

/// Height and width of an attribute that has a number for each dimension, of which those of batch and channels must be 1.
/// Without the attribute both are 1 if `is_optional`.
///
/// # Errors
/// InvalidArgument for other numbers of numbers, and for ones below 1.
pub(super) fn extent(attrs: &OpAttrs, name: &str, is_optional: bool) -> Result<Extent2, Diagnostic> {
    let values = match attrs.optional::<&[i64]>(name)? {
        Some(values) => values,
        None if is_optional => return Ok(Extent2::new(1, 1)),
        None => return Err(invalid(format!("attribute '{name}' is missing"))),
    };
    let &[batch, height, width, channels] = values else {
        return Err(invalid(format!("'{name}' must have 4 elements, got {}", values.len())));
    };
    if batch != 1 || channels != 1 {
        return Err(invalid(format!("'{name}' must be 1 in the batch and depth dimensions, got {values:?}")));
    }
    let positive = |value: i64| usize::try_from(value).ok().filter(|&value| value > 0);
    match (positive(height), positive(width)) {
        (Some(height), Some(width)) => Ok(Extent2::new(height, width)),
        _ => Err(invalid(format!("'{name}' must be positive, got {values:?}"))),
    }
}

/// The padding that attributes `padding` and `explicit_paddings` name.
///
/// # Errors
/// InvalidArgument for other names, and for explicit paddings that do not fit.
pub(super) fn padding(attrs: &OpAttrs) -> Result<Padding, Diagnostic> {
    let explicit = attrs.optional::<&[i64]>("explicit_paddings")?.unwrap_or_default();
    let padding = match attrs.required("padding")? {
        "SAME" => Padding::Same,
        "VALID" => Padding::Valid,
        "EXPLICIT" => {
            let side = |at: usize| explicit.get(at).and_then(|&n| usize::try_from(n).ok());
            return match (explicit, side(2), side(3), side(4), side(5)) {
                (&[0, 0, _, _, _, _, 0, 0], Some(top), Some(bottom), Some(left), Some(right)) => {
                    Ok(Padding::Explicit { top, bottom, left, right })
                }
                _ => Err(invalid(format!(
                    "'explicit_paddings' must have 8 elements of at least 0, and 0 in the batch and depth \
                     dimensions, got {explicit:?}"
                ))),
            };
        }
        other => return Err(invalid(format!("'{other}' is no padding"))),
    };
    if !explicit.is_empty() {
        return Err(invalid("'explicit_paddings' must be empty unless 'padding' is EXPLICIT"));
    }
    Ok(padding)
}

/// Whether a window fits at least nearly into the padded image: TensorFlow allows results without pixels, but not windows
/// that miss the image by a stride or more.
///
/// # Errors
/// InvalidArgument if it does not.
pub(super) fn check_fit(
    input: Extent2,
    covered: Extent2,
    strides: Extent2,
    padding: Padding,
) -> Result<(), Diagnostic> {
    let (rows, cols) = match padding {
        Padding::Same => return Ok(()),
        Padding::Valid => (0, 0),
        Padding::Explicit { top, bottom, left, right } => {
            (top.saturating_add(bottom), left.saturating_add(right))
        }
    };
    let fits = |input: usize, pad: usize, covered: usize, stride: usize| {
        input.saturating_add(pad).saturating_add(stride.saturating_mul(2)) > covered
    };
    if fits(input.height, rows, covered.height, strides.height)
        && fits(input.width, cols, covered.width, strides.width)
    {
        return Ok(());
    }
    Err(invalid(format!(
        "Computed output size would be negative: input {}x{}, window {}x{}, stride {}x{}",
        input.height, input.width, covered.height, covered.width, strides.height, strides.width
    )))
}
