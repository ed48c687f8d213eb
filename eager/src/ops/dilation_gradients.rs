//! Gradients of `tf.Dilation2D`: each goes to the pixel and the filter's element whose sum was the
//! greatest of the window, the first one if there are several.

use tfrt_host::Diagnostic;

use super::patches::{Axis, axes};
use super::plain::{of_reals, reals, results};
use super::support::{Computed, invalid, one, room_for, take};
use super::types;
use super::window::four;
use crate::{CpuCall, OpRegistry, attr};

/// The arguments: images, a filter, and gradients of the greatest sums.
struct Dilation {
    image: Vec<f64>,
    filter: Vec<f64>,
    gradient: Vec<f64>,
    dims: [usize; 4],
    filter_dims: [usize; 3],
    rows: Axis,
    columns: Axis,
}

impl Dilation {
    fn new(call: &CpuCall<'_>) -> Result<Self, Diagnostic> {
        let [image, filter, gradient] = take(call)?;
        let dims = four(image.shape(), "input")?;
        let [batch, height, width, channels] = dims;
        let &[tall, wide, depth] = filter.shape().dims() else {
            return Err(invalid(format!("filter must be 3-dimensional, got shape {}", filter.shape())));
        };
        if depth != channels {
            return Err(invalid(format!("input and filter must have the same depth: {channels} vs {depth}")));
        }
        let [rows, columns] = axes(call.attrs, [height, width], Some([tall, wide]), "rates")?;
        let expected = [batch, rows.output, columns.output, channels];
        if gradient.shape().dims() != expected {
            let message = format!("out_backprop must have shape {expected:?}, got {}", gradient.shape());
            return Err(invalid(message));
        }
        let (image, filter, gradient) = (reals(image)?, reals(filter)?, reals(gradient)?);
        Ok(Self { image, filter, gradient, dims, filter_dims: [tall, wide, depth], rows, columns })
    }

    /// Calls `add` with the places in the images and in the filter of each greatest sum, and its
    /// gradient.
    fn for_each(&self, mut add: impl FnMut(usize, usize, f64)) {
        let ([_, height, width, channels], [_, wide, _]) = (self.dims, self.filter_dims);
        for (place, &gradient) in self.gradient.iter().enumerate() {
            let (window, channel) = (place / channels, place % channels);
            let (row, column) = (window / self.columns.output, window % self.columns.output);
            let (number, row) = (row / self.rows.output, row % self.rows.output);
            let mut greatest = f64::MIN;
            let mut best = None;
            for (j, y) in self.rows.inside(row) {
                for (i, x) in self.columns.inside(column) {
                    let pixel = ((number * height + y) * width + x) * channels + channel;
                    let element = (j * wide + i) * channels + channel;
                    let sum = self.image[pixel] + self.filter[element];
                    if sum > greatest {
                        (greatest, best) = (sum, Some((pixel, element)));
                    }
                }
            }
            if let Some((pixel, element)) = best {
                add(pixel, element, gradient);
            }
        }
    }
}

/// The gradients of the images, or of the filter.
fn gradient(call: &CpuCall<'_>, is_filter: bool) -> Computed {
    let dilation = Dilation::new(call)?;
    let count = if is_filter { dilation.filter.len() } else { dilation.image.len() };
    let mut sums: Vec<f64> = room_for(count)?;
    sums.resize(count, 0.0);
    dilation.for_each(|pixel, element, gradient| sums[if is_filter { element } else { pixel }] += gradient);
    let like = call.arguments[usize::from(is_filter)];
    Ok(results([of_reals(call, like.dtype(), like.shape().dims(), &sums)?]))
}

pub(super) fn register(ops: &mut OpRegistry) {
    let attributes = || [attr::string("padding"), attr::ints("rates"), attr::ints("strides")];
    ops.add("tf.Dilation2DBackpropFilter")
        .types(types::NUMBERS)
        .attrs(attributes())
        .metadata(|call| {
            let [_, filter, _] = call.take()?;
            one(filter.clone())
        })
        .cpu(|call| gradient(&call, true));
    ops.add("tf.Dilation2DBackpropInput")
        .types(types::NUMBERS)
        .attrs(attributes())
        .metadata(|call| {
            let [image, _, _] = call.take()?;
            one(image.clone())
        })
        .cpu(|call| gradient(&call, false));
}
