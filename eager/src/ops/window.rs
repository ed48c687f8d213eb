//! What ops with sliding windows have in common: strides, paddings and layouts as TensorFlow writes
//! them.

use tfrt_host::Diagnostic;
use tfrt_math::{Extent2, Padding};
use tfrt_tensor::TensorShape;

use super::support::invalid;
use crate::OpAttrs;

/// The order of a tensor of images' dimensions, as attribute `data_format` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Batch, height, width, channels.
    Nhwc,
    /// Batch, channels, height, width.
    Nchw,
}

impl Layout {
    /// The layout an op's attributes name: `NHWC` without one.
    ///
    /// # Errors
    /// InvalidArgument for other names.
    pub(super) fn of(attrs: &OpAttrs) -> Result<Self, Diagnostic> {
        match attrs.optional("data_format")? {
            None | Some("NHWC") => Ok(Self::Nhwc),
            Some("NCHW") => Ok(Self::Nchw),
            Some(other) => Err(invalid(format!("'{other}' is no data_format: NHWC and NCHW are"))),
        }
    }

    /// What is given for each dimension of this layout, in the order batch, height, width,
    /// channels.
    fn ordered<T>(self, [first, second, third, last]: [T; 4]) -> [T; 4] {
        match self {
            Self::Nhwc => [first, second, third, last],
            Self::Nchw => [first, third, last, second],
        }
    }

    /// Batch, height, width and channels of a tensor of images.
    ///
    /// # Errors
    /// InvalidArgument unless it has four dimensions.
    pub(super) fn images(self, shape: &TensorShape, what: &str) -> Result<[usize; 4], Diagnostic> {
        four(shape, what).map(|dims| self.ordered(dims))
    }

    /// The shape of a tensor of images.
    ///
    /// # Errors
    /// InvalidArgument if it has too many elements.
    pub(super) fn shape(
        self,
        [batch, height, width, channels]: [usize; 4],
    ) -> Result<TensorShape, Diagnostic> {
        match self {
            Self::Nhwc => TensorShape::new(&[batch, height, width, channels]),
            Self::Nchw => TensorShape::new(&[batch, channels, height, width]),
        }
    }
}

/// The four dimensions of a tensor.
///
/// # Errors
/// InvalidArgument unless it has four.
pub(super) fn four(shape: &TensorShape, what: &str) -> Result<[usize; 4], Diagnostic> {
    shape
        .dims()
        .try_into()
        .map_err(|_| invalid(format!("{what} must be 4-dimensional, got a tensor of shape {shape}")))
}

/// Height and width of an attribute that has a number for each dimension, of which those of batch
/// and channels must be 1. Without the attribute both are 1 if `is_optional`.
///
/// # Errors
/// InvalidArgument for other numbers of numbers, and for ones below 1.
pub(super) fn extent(attrs: &OpAttrs, name: &str, is_optional: bool) -> Result<Extent2, Diagnostic> {
    let values = match attrs.optional::<&[i64]>(name)? {
        Some(values) => values,
        None if is_optional => return Ok(Extent2::new(1, 1)),
        None => return Err(invalid(format!("attribute '{name}' is missing"))),
    };
    let &[first, second, third, last] = values else {
        return Err(invalid(format!("'{name}' must have 4 elements, got {}", values.len())));
    };
    let [batch, height, width, channels] = Layout::of(attrs)?.ordered([first, second, third, last]);
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
            let pair = |at: usize| {
                let side = |at: usize| explicit.get(at).and_then(|&n| usize::try_from(n).ok());
                Some([side(at)?, side(at + 1)?])
            };
            let pairs = Layout::of(attrs)?.ordered([pair(0), pair(2), pair(4), pair(6)]);
            return match (explicit.len(), pairs) {
                (8, [Some([0, 0]), Some([top, bottom]), Some([left, right]), Some([0, 0])]) => {
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

/// Whether a window fits at least nearly into the padded image: TensorFlow allows results without
/// pixels, but not windows that miss the image by a stride or more.
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
