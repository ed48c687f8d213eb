//! Gradients of convolutions and poolings of volumes. That of a convolution's input is also the
//! transposed convolution.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{
    Family,
    volumes::{TO_FIRST, TO_LAST, is_channels_last, padding, spatial, transposed},
};
use crate::import::tensorflow::node::{Imported, Node, ints, type_attribute};

pub(super) const OPS: Family = &[
    ("AvgPool3DGrad", average_pool_gradient),
    ("Conv3DBackpropFilter", |node| {
        let (x, filter) = (node.input(0)?, node.input(1)?);
        let sizes = node.op("tf.Shape", &[filter], &[])?;
        filter_gradient(node, x, sizes)
    }),
    ("Conv3DBackpropFilterV2", |node| {
        let (x, sizes) = (node.input(0)?, node.input(1)?);
        filter_gradient(node, x, sizes)
    }),
    ("Conv3DBackpropInput", |node| {
        let x = node.input(0)?;
        let sizes = node.op("tf.Shape", &[x], &[])?;
        input_gradient(node, sizes)
    }),
    ("Conv3DBackpropInputV2", |node| {
        let sizes = node.input(0)?;
        input_gradient(node, sizes)
    }),
    ("MaxPool3DGrad", max_pool_gradient),
];

/// Where the windows of a dimension lie.
#[derive(Clone, Copy)]
struct Windows {
    /// The extents of the input and of the output.
    input: i64,
    output: i64,
    window: i64,
    stride: i64,
}

impl Windows {
    /// How many elements of padding lie before the input.
    fn before(self, is_same: bool) -> i64 {
        if is_same { ((self.output - 1) * self.stride + self.window - self.input).max(0) / 2 } else { 0 }
    }

    /// How far the last window reaches beyond the input; negative if elements at the end are in no
    /// window.
    fn after(self, is_same: bool) -> i64 {
        (self.output - 1) * self.stride + self.window - self.input - self.before(is_same)
    }

    /// How many elements of the input an output's window covers.
    fn covered(self, is_same: bool, output: i64) -> i64 {
        let start = output * self.stride - self.before(is_same);
        (start + self.window).min(self.input) - start.max(0)
    }
}

fn known<const N: usize>(extents: Option<&[Option<i64>]>, what: &str) -> Imported<[i64; N]> {
    let extents: Option<Vec<i64>> = extents.and_then(|extents| extents.iter().copied().collect());
    extents
        .and_then(|extents| extents.try_into().ok())
        .ok_or_else(|| format!("the spatial extents of {what} are not known").into())
}

/// The spatial extents of a tensor.
fn extents(node: &Node<'_, '_>, value: ValueId, what: &str) -> Imported<[i64; 3]> {
    let dims = node.ty(value)?.dims.filter(|dims| dims.len() == 5);
    let first = if is_channels_last(node)? { 1 } else { 2 };
    let dims: Option<Vec<Option<i64>>> =
        dims.map(|dims| dims[first..first + 3].iter().map(|dim| dim.map(|dim| dim as i64)).collect());
    known(dims.as_deref(), what)
}

/// The spatial extents in a vector of sizes.
fn sizes(node: &mut Node<'_, '_>, vector: ValueId, first: usize) -> Imported<[i64; 3]> {
    let elements = node.builder().known_elements(vector).filter(|elements| elements.len() == 5);
    known(elements.as_deref().map(|elements| &elements[first..first + 3]), "the input")
}

/// The greatest extent of a volume.
const MAX_EXTENT: i64 = 1 << 30;

fn windows(node: &Node<'_, '_>, input: [i64; 3], output: [i64; 3], window: &[i64]) -> Imported<[Windows; 3]> {
    let strides = spatial(node, "strides")?;
    if spatial(node, "dilations")?.iter().any(|&dilation| dilation != 1) {
        return Err("dilated gradients are not supported".into());
    }
    let extents = [&input, &output, window, &strides].into_iter().flatten();
    if let Some(extent) = extents.copied().find(|extent| !(0..=MAX_EXTENT).contains(extent)) {
        return Err(format!("an extent, window or stride of {extent} is not supported").into());
    }
    Ok(std::array::from_fn(|axis| Windows {
        input: input[axis],
        output: output[axis],
        window: window[axis],
        stride: strides[axis],
    }))
}

fn is_same(node: &Node<'_, '_>) -> Imported<bool> {
    Ok(padding(node)? == Attribute::string("SAME_UPPER"))
}

/// The attributes of a transposed convolution whose result has the extents of the input.
fn transposed_attributes(windows: &[Windows; 3], is_same: bool) -> Vec<(&'static str, Attribute)> {
    let before = windows.iter().map(|windows| windows.before(is_same));
    let after = windows.iter().map(|windows| windows.after(is_same).max(0));
    let pads: Vec<i64> = before.chain(after).collect();
    let more: Vec<i64> = windows.iter().map(|windows| (-windows.after(is_same)).max(0)).collect();
    vec![
        ("pads", ints(&pads)),
        ("output_padding", ints(&more)),
        ("strides", ints(&windows.map(|windows| windows.stride))),
    ]
}

/// What the inputs of a convolution contribute to its outputs.
fn input_gradient(node: &mut Node<'_, '_>, input_sizes: ValueId) -> Imported {
    let (filter, mut gradient) = (node.input(1)?, node.input(2)?);
    let (is_last, is_same) = (is_channels_last(node)?, is_same(node)?);
    let input = sizes(node, input_sizes, if is_last { 1 } else { 2 })?;
    let output = extents(node, gradient, "the gradient")?;
    let window = node.ty(filter)?.static_dims().ok_or("the shape of the filter is not known")?;
    let window: Vec<i64> = window.iter().map(|&dim| dim as i64).collect();
    let windows = windows(node, input, output, &window)?;
    if is_last {
        gradient = transposed(node, gradient, &TO_FIRST)?;
    }
    let filter = transposed(node, filter, &[4, 3, 0, 1, 2])?;
    let attributes = transposed_attributes(&windows, is_same);
    let sums = node.op("onnx.ConvTranspose", &[gradient, filter], &attributes)?;
    Ok(vec![if is_last { transposed(node, sums, &TO_LAST)? } else { sums }.into()])
}

/// What the elements of a filter contribute: a convolution of the input with the gradient, whose
/// batch and channels change places.
fn filter_gradient(node: &mut Node<'_, '_>, mut x: ValueId, filter_sizes: ValueId) -> Imported {
    let mut gradient = node.input(2)?;
    let (is_last, is_same) = (is_channels_last(node)?, is_same(node)?);
    let window = sizes(node, filter_sizes, 0)?;
    let (input, output) = (extents(node, x, "the input")?, extents(node, gradient, "the gradient")?);
    let windows = windows(node, input, output, &window)?;
    let exchanged: &[i64] = if is_last { &[4, 0, 1, 2, 3] } else { &[1, 0, 2, 3, 4] };
    x = transposed(node, x, exchanged)?;
    gradient = transposed(node, gradient, exchanged)?;
    // Elements that no window reaches are cut off.
    let mut builder = node.builder();
    let start = builder.add_integers(&[0; 5])?;
    let reached = windows.map(|windows| windows.input + windows.after(is_same).min(0));
    let size = builder.add_integers(&[-1, -1, reached[0], reached[1], reached[2]])?;
    x = node.op("tf.Slice", &[x, start, size], &[])?;
    let before = windows.iter().map(|windows| windows.before(is_same));
    let after = windows.iter().map(|windows| windows.after(is_same).max(0));
    let pads: Vec<i64> = before.chain(after).collect();
    let attributes = [("pads", ints(&pads)), ("dilations", ints(&windows.map(|windows| windows.stride)))];
    let sums = node.op("onnx.Conv", &[x, gradient], &attributes)?;
    Ok(vec![transposed(node, sums, &[2, 3, 4, 0, 1])?.into()])
}

/// Each gradient belongs to the first greatest element of its window.
fn max_pool_gradient(node: &mut Node<'_, '_>) -> Imported {
    let (mut x, mut gradient) = (node.input(0)?, node.input(2)?);
    let is_last = is_channels_last(node)?;
    if is_last {
        x = transposed(node, x, &TO_FIRST)?;
        gradient = transposed(node, gradient, &TO_FIRST)?;
    }
    let attributes = [
        ("auto_pad", padding(node)?),
        ("kernel_shape", ints(&spatial(node, "ksize")?)),
        ("strides", ints(&spatial(node, "strides")?)),
        ("result_segment_sizes", ints(&[1, 1])),
    ];
    let places = node.ops("onnx.MaxPool", &[x], &attributes, 2)?[1];
    let wide = [("out_type", type_attribute(DType::I64))];
    let flat = node.builder().add_integers(&[-1])?;
    let (places, gradient) =
        (node.op("tf.Reshape", &[places, flat], &[])?, node.op("tf.Reshape", &[gradient, flat], &[])?);
    let (shape, count) = (node.op("tf.Shape", &[x], &wide)?, node.op("tf.Size", &[x], &wide)?);
    let sums = node.op("tf.UnsortedSegmentSum", &[gradient, places, count], &[])?;
    let sums = node.op("tf.Reshape", &[sums, shape], &[])?;
    Ok(vec![if is_last { transposed(node, sums, &TO_LAST)? } else { sums }.into()])
}

/// The greatest number of elements of a volume whose windows are counted.
const MAX_ELEMENTS: i64 = 1 << 24;

/// Each gradient is shared by the elements of its window.
fn average_pool_gradient(node: &mut Node<'_, '_>) -> Imported {
    let (input_sizes, mut gradient) = (node.input(0)?, node.input(1)?);
    let (is_last, is_same) = (is_channels_last(node)?, is_same(node)?);
    let input = sizes(node, input_sizes, if is_last { 1 } else { 2 })?;
    let output = extents(node, gradient, "the gradient")?;
    let windows = windows(node, input, output, &spatial(node, "ksize")?)?;
    for extents in
        [windows.each_ref().map(|windows| windows.output), windows.each_ref().map(|windows| windows.window)]
    {
        let count = extents.iter().try_fold(1i64, |count, &extent| count.checked_mul(extent));
        if !count.is_some_and(|count| (0..=MAX_ELEMENTS).contains(&count)) {
            return Err(format!("volumes of extents {extents:?} are too large").into());
        }
    }
    if is_last {
        gradient = transposed(node, gradient, &TO_FIRST)?;
    }
    let shape = node.op("tf.Shape", &[gradient], &[("out_type", type_attribute(DType::I64))])?;
    let mut counts = vec![1.0];
    for windows in windows {
        let each = |&count: &f64| {
            (0..windows.output).map(move |output| count * windows.covered(is_same, output) as f64)
        };
        counts = counts.iter().flat_map(each).collect();
    }
    let dtype = node.dtype(gradient)?;
    let mut builder = node.builder();
    let counts = builder.add_elements(&windows.map(|windows| windows.output as usize), &counts)?;
    let counts = builder.cast(counts, dtype)?;
    let shares = node.op("tf.RealDiv", &[gradient, counts], &[])?;
    // Each channel of each image is an image with one channel.
    let mut builder = node.builder();
    let planes = [&[-1, 1][..], &output].concat();
    let planes = builder.add_integers(&planes)?;
    let window: Vec<usize> = windows.iter().map(|windows| windows.window as usize).collect();
    let ones = vec![1.0f32; window.iter().product()];
    let ones = builder.add_elements(&[&[1, 1][..], &window].concat(), &ones)?;
    let ones = builder.cast(ones, dtype)?;
    let shares = node.op("tf.Reshape", &[shares, planes], &[])?;
    let attributes = transposed_attributes(&windows, is_same);
    let sums = node.op("onnx.ConvTranspose", &[shares, ones], &attributes)?;
    let mut builder = node.builder();
    let (start, count, axis) =
        (builder.add_integers(&[0])?, builder.add_integers(&[2])?, builder.add_integer(0)?);
    let inner = builder.add_integers(&input)?;
    let outer = node.op("tf.Slice", &[shape, start, count], &[])?;
    let form = node.op("tf.ConcatV2", &[outer, inner, axis], &[])?;
    let sums = node.op("tf.Reshape", &[sums, form], &[])?;
    Ok(vec![if is_last { transposed(node, sums, &TO_LAST)? } else { sums }.into()])
}
