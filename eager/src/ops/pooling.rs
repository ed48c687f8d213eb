//! Maximum and average pooling, and their gradients.

use tfrt_compute::{OnQueue, shape_error};
use tfrt_host::Diagnostic;
use tfrt_math::{
    AvgPool, AvgPoolBackward, BlockOp, Extent2, MaxPool, MaxPoolBackward, MaxPoolWithArgmax, Number, Padding,
    PoolShape,
};
use tfrt_tensor::{Accessor, Element, HostTensor, TensorMetadata, TensorShape};

use super::images::{compute_images, to_nhwc};
use super::support::{
    Computed, Described, allocate, invalid, one, shape_of, vector, with_float, with_number,
};
use super::types;
use super::window::{Layout, check_fit, extent, padding};
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("tf pooling");

/// The pooling of images of this shape under an op's attributes, and the shape of its result.
pub(super) fn pooling(attrs: &OpAttrs, input: &TensorShape) -> Result<(PoolShape, TensorShape), Diagnostic> {
    let layout = Layout::of(attrs)?;
    let [batch, height, width, channels] = layout.images(input, "tensor_in")?;
    let shape = PoolShape {
        batch,
        input: Extent2::new(height, width),
        channels,
        window: extent(attrs, "ksize", false)?,
        strides: extent(attrs, "strides", false)?,
        padding: padding(attrs)?,
    };
    if let Padding::Explicit { top, bottom, left, right } = shape.padding
        && (top.max(bottom) >= shape.window.height || left.max(right) >= shape.window.width)
    {
        return Err(invalid("explicit padding must be smaller than the window"));
    }
    check_fit(shape.input, shape.window, shape.strides, shape.padding)?;
    let output = shape.output().map_err(shape_error)?;
    Ok((shape, layout.shape([batch, output.height, output.width, channels])?))
}

fn forward_metadata(call: MetadataCall<'_>) -> Described {
    let [input] = call.take()?;
    one(TensorMetadata::new(input.dtype, pooling(call.attrs, &input.shape)?.1))
}

/// Runs a plan from the one argument's elements to the result's.
fn forward<T: Element + Number, P>(call: &CpuCall<'_>, plan: Result<P, tfrt_math::ShapeError>) -> Computed
where
    P: for<'a> BlockOp<Input<'a> = &'a [T], Output<'a> = &'a mut [T]> + Send + 'static,
{
    let (layout, [input], out) = (Layout::of(call.attrs)?, call.dense()?, call.allocate_unset(0)?);
    let x = to_nhwc(call, layout, input)?.read_owned::<T>(&ME)?;
    compute_images::<T, _, _>(call, layout, plan.map_err(shape_error)?, (x, out), |x| x)
}

fn max_pool(call: &CpuCall<'_>) -> Computed {
    let [input] = call.dense()?;
    let (shape, _) = pooling(call.attrs, input.shape())?;
    with_number!(input.dtype(), "tf.MaxPool", |T| forward::<T, _>(call, MaxPool::<T>::of_numbers(&shape)))
}

fn avg_pool(call: &CpuCall<'_>) -> Computed {
    let [input] = call.dense()?;
    let (shape, _) = pooling(call.attrs, input.shape())?;
    with_float!(input.dtype(), "tf.AvgPool", |T| forward::<T, _>(call, AvgPool::<T>::new(&shape, false)))
}

pub(super) fn check_gradient(gradient: &TensorShape, expected: &TensorShape) -> Result<(), Diagnostic> {
    if gradient == expected {
        return Ok(());
    }
    Err(invalid(format!("the gradient has shape {gradient}, but the pooling gives {expected}")))
}

fn max_pool_grad_metadata(call: MetadataCall<'_>) -> Described {
    let [input, output, gradient] = call.take()?;
    let (_, expected) = pooling(call.attrs, &input.shape)?;
    check_gradient(&output.shape, &expected)?;
    check_gradient(&gradient.shape, &expected)?;
    if input.dtype != output.dtype || input.dtype != gradient.dtype {
        return Err(invalid(format!("types differ: {input}, {output} and {gradient}")));
    }
    one(input.clone())
}

fn max_pool_grad(call: &CpuCall<'_>) -> Computed {
    let [input, _, gradient] = call.dense()?;
    let (shape, pooled) = pooling(call.attrs, input.shape())?;
    let (layout, out) = (Layout::of(call.attrs)?, call.allocate_unset(0)?);
    with_number!(input.dtype(), "tf.MaxPoolGrad", |T| {
        let count = pooled.num_elements()?;
        let (mut maxima, mut positions) = (vec![T::ZERO; count], vec![0u32; count]);
        let winners = MaxPoolWithArgmax::<T>::new(&shape).map_err(shape_error)?;
        let x = to_nhwc(call, layout, input)?;
        let outputs = (&mut maxima[..], &mut positions[..]);
        winners.run(&OnQueue(call.cx), &x.read::<T>(&ME)?, outputs).map_err(shape_error)?;
        let dy = to_nhwc(call, layout, gradient)?.read_owned::<T>(&ME)?;
        let plan = MaxPoolBackward::<T>::new(&shape).map_err(shape_error)?;
        compute_images::<T, _, _>(call, layout, plan, ((dy, positions), out), |(dy, at)| (dy, at))
    })
}

fn avg_pool_grad(call: &CpuCall<'_>) -> Computed {
    let [sizes, gradient] = call.dense()?;
    let input = shape_of(&vector(&HostTensor::from(sizes.clone()), "orig_input_shape")?)?;
    let (shape, expected) = pooling(call.attrs, &input)?;
    check_gradient(gradient.shape(), &expected)?;
    let out = allocate(call, gradient.dtype(), input.dims())?;
    let layout = Layout::of(call.attrs)?;
    with_float!(gradient.dtype(), "tf.AvgPoolGrad", |T| {
        let dy = to_nhwc(call, layout, gradient)?.read_owned::<T>(&ME)?;
        let plan = AvgPoolBackward::<T>::new(&shape, false).map_err(shape_error)?;
        compute_images::<T, _, _>(call, layout, plan, (dy, out), |dy| dy)
    })
}

const POOLING: [AttrSpec; 5] = [
    attr::ints("ksize"),
    attr::ints("strides"),
    attr::string("padding"),
    attr::ints_or("explicit_paddings", &[]),
    attr::string_or("data_format", "NHWC"),
];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.MaxPool")
        .types(types::NUMBERS)
        .attrs(POOLING)
        .metadata(forward_metadata)
        .cpu(|call| max_pool(&call));
    ops.add("tf.AvgPool")
        .types(types::FLOATS)
        .attrs(POOLING)
        .metadata(forward_metadata)
        .cpu(|call| avg_pool(&call));
    ops.add("tf.MaxPoolGrad")
        .types(types::NUMBERS)
        .attrs(POOLING)
        .metadata(max_pool_grad_metadata)
        .cpu(|call| max_pool_grad(&call));
    ops.add("tf.AvgPoolGrad").types(types::FLOATS).attrs(POOLING).cpu(|call| avg_pool_grad(&call));
}
