//! Training ops besides products: gradients of elementwise functions, biases, convolution and
//! pooling, and losses with their gradients.

use smallvec::smallvec;
use tfrt_device::hal::Scaling;
use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_launch::{
    Binary, Comparison, CrossEntropyBuffers, Gradient, LabelType, Reduction, Rows, Unary, loss_type,
};
use tfrt_math::Conv2dShape;
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::{
    Queued,
    arrays::{permuted, reduced},
    count,
    expression::{
        broadcast, cast, computed_as, conjugate, constant, is_integer, map, moved, one_minus, ordered,
        scalar, scaled, zip,
    },
    network::{
        Plan, convolution_window, filter_extents, from_nhwc, images, operands, pooled, pooling_window,
        to_nhwc,
    },
    unsupported,
};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, HostArguments, OpRegistry, OpResult,
    ops::{
        activation::leak,
        convolution::{Kind, check_gradient as check_convolved, convolution, convolved_shape},
        moves::{Axis, Moves},
        pooling::{check_gradient as check_pooled, pooling},
        reduce::channels,
        support::{invalid, is_complex, shape_of, vector},
        window::Layout,
    },
};

/// Returns the gradient of a function from `dy`, argument `at`, and the function's operand or
/// result, the other argument.
fn gradient(call: &DeviceCall<'_>, gradient: Gradient, at: usize) -> Queued {
    let arguments = call.tensors::<2>()?;
    let (dy, value) = (arguments[at], arguments[1 - at]);
    let dx = call.reuse(&[0, 1], 0)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let operands = [dy.buffer(), value.buffer()];
    kernels.activation_gradient(stream, gradient, dx.dtype(), dx.buffer(), operands, count(&dx))?;
    Ok(dx.into())
}

/// Returns `dy` where the function, `tf.Relu` or `tf.Relu6`, rises, and zero elsewhere.
fn relu(call: &DeviceCall<'_>, function: Gradient) -> Queued {
    let [dy, x] = call.tensors()?;
    if !is_integer(x.dtype()) {
        return gradient(call, function, 0);
    }
    // Not zero where the function rises.
    let rising = match function {
        Gradient::Relu6 => {
            let y = map(call, Unary::Relu6, x)?;
            zip(call, Binary::Mul, &y, &zip(call, Binary::Sub, &scalar(call, y.dtype(), 6.0)?, &y)?)?
        }
        _ => map(call, Unary::Relu, x)?,
    };
    let (rising, zero) = (cast(call, &rising, DType::I1, false)?, constant(call, x.metadata(), 0.0)?);
    let (kernels, stream, dx) = (call.queue.kernels(), call.queue.stream(), call.allocate(0)?);
    let [rising, dy, zero] = [&rising, dy, &zero].map(DeviceTensor::buffer);
    kernels.select(stream, x.dtype(), dx.buffer(), rising, dy, zero, count(x))?;
    Ok(dx.into())
}

/// Returns `dy`, multiplied by the function's slope for negative numbers.
fn leaky_relu(call: &DeviceCall<'_>) -> Queued {
    let ([dy, x], dx) = (call.tensors()?, call.allocate(0)?);
    let (kernels, stream, n) = (call.queue.kernels(), call.queue.stream(), count(dy));
    let zero = constant(call, x.metadata(), 0.0)?;
    let rising = call.allocate_as(&TensorMetadata::new(DType::I1, x.shape().clone()))?;
    kernels.compare(stream, Comparison::Less, x.dtype(), rising.buffer(), zero.buffer(), x.buffer(), n)?;
    let falling = scaled(call, dy, leak(call.attrs)?)?;
    kernels.select(stream, dx.dtype(), dx.buffer(), rising.buffer(), dy.buffer(), falling.buffer(), n)?;
    Ok(dx.into())
}

/// Returns the gradient of a function of floating-point or complex numbers from its result `y` and
/// the gradient `dy`. For complex ones, `of_complex` gets both in double precision.
fn gradient_of_result(
    call: &DeviceCall<'_>,
    kernel: Gradient,
    of_complex: fn(&DeviceCall<'_>, &DeviceTensor, &DeviceTensor) -> DeviceOpResult<DeviceTensor>,
) -> Queued {
    let [y, dy] = call.tensors()?;
    let metadata = call.result(0)?;
    if !is_complex(metadata.dtype) {
        return gradient(call, kernel, 1);
    }
    let wide = |x| cast(call, x, DType::Complex128, false);
    let dx = of_complex(call, &wide(y)?, &wide(dy)?.reshape(y.shape())?)?;
    Ok(cast(call, &dx, metadata.dtype, false)?.into())
}

fn bias(call: &DeviceCall<'_>) -> Queued {
    let [dy] = call.tensors()?;
    let rank = dy.shape().rank();
    let kept = channels(&call.attrs.optional("data_format")?, rank)?;
    let axes: Vec<usize> = (0..rank).filter(|&axis| axis != kept).collect();
    Ok(reduced(call, Reduction::Sum, dy, &axes, false)?.into())
}

/// Returns the shape in an argument in host memory.
fn sized(call: &DeviceCall<'_>, at: usize) -> Result<TensorShape, Diagnostic> {
    shape_of(&vector(call.host(at)?, "sizes")?)
}

fn convolution_input(call: &DeviceCall<'_>, (op, kind): (&str, Kind)) -> Queued {
    let (filter, dy) = (call.tensor(1)?, call.tensor(2)?);
    let dims = convolved_shape(call.attrs, sized(call, 0)?, filter.shape(), dy.shape())?;
    let (shape, output) = convolution(call.attrs, kind, &dims, filter.shape())?;
    check_convolved(dy.shape(), &output)?;
    if filter.dtype() == DType::I32 {
        return integer_convolution_input(call, &shape, [filter, dy]);
    }
    let plan = Plan::new(&shape, filter.dtype(), op)?;
    let result = TensorMetadata::new(filter.dtype(), dims);
    if result.shape.num_elements()? == 0 || count(dy) == 0 || count(filter) == 0 {
        return Ok(constant(call, &result, 0.0)?.into());
    }
    let [top, bottom, left, right] = plan.border.unwrap_or_default();
    let (height, width) = (shape.input.height, shape.input.width);
    let around =
        TensorShape::new(&[shape.batch, height + top + bottom, width + left + right, shape.in_channels])?;
    let dx = call.allocate_as(&TensorMetadata::new(filter.dtype(), around))?;
    let filter = filter.reshape(&TensorShape::new(&filter_extents(&shape))?)?;
    let (dy, filter) = (to_nhwc(call, dy)?, permuted(call, &filter, &[3, 0, 1, 2])?);
    let layouts = [images(&dx)?, images(&filter)?, images(&dy)?];
    let operands = operands(&layouts, [&dx, &filter, &dy]);
    call.queue.dnn()?.convolution_backward_data(&plan.geometry, Scaling::ONE, operands)?;
    // Without the border, whose gradient is not needed.
    let part = |start, count| Axis::Steps { start, step: 1, count };
    let axes =
        vec![Axis::whole(shape.batch), part(top, height), part(left, width), Axis::whole(shape.in_channels)];
    let inner = Moves::new(dx.shape().dims(), axes);
    let dx = moved(call, &dx, &inner, &[shape.batch, height, width, shape.in_channels])?;
    Ok(from_nhwc(call, dx)?.into())
}

/// Returns the gradient of the images of an integer convolution, which the library does not
/// support.
fn integer_convolution_input(
    call: &DeviceCall<'_>,
    shape: &Conv2dShape,
    [filter, dy]: [&DeviceTensor; 2],
) -> Queued {
    if dy.dtype() != filter.dtype() {
        let (filter, dy) = (filter.dtype(), dy.dtype());
        return Err(invalid(format!("the filter is of type {filter}, out_backprop of {dy}")).into());
    }
    let (window, channels) = convolution_window(shape)?;
    let images = [shape.batch, shape.input.height, shape.input.width, shape.in_channels];
    let dx = call.allocate_as(&TensorMetadata::new(filter.dtype(), TensorShape::new(&images)?))?;
    let dy = to_nhwc(call, dy)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.convolution_gradient(stream, dx.buffer(), [dy.buffer(), filter.buffer()], channels, &window)?;
    Ok(from_nhwc(call, dx)?.into())
}

fn convolution_filter(call: &DeviceCall<'_>, (op, kind): (&str, Kind)) -> Queued {
    let (x, dy, dims) = (call.tensor(0)?, call.tensor(2)?, sized(call, 1)?);
    let (shape, output) = convolution(call.attrs, kind, x.shape(), &dims)?;
    check_convolved(dy.shape(), &output)?;
    let plan = Plan::new(&shape, x.dtype(), op)?;
    if dims.num_elements()? == 0 || count(dy) == 0 || count(x) == 0 {
        return Ok(constant(call, &TensorMetadata::new(x.dtype(), dims), 0.0)?.into());
    }
    let [rows, columns, inputs, outputs] = filter_extents(&shape);
    let dw = call
        .allocate_as(&TensorMetadata::new(x.dtype(), TensorShape::new(&[outputs, rows, columns, inputs])?))?;
    let (x, dy) = (plan.with_border(call, to_nhwc(call, x)?)?, to_nhwc(call, dy)?);
    let layouts = [images(&x)?, images(&dw)?, images(&dy)?];
    let operands = operands(&layouts, [&x, &dw, &dy]);
    call.queue.dnn()?.convolution_backward_filter(&plan.geometry, Scaling::ONE, operands)?;
    Ok(permuted(call, &dw, &[1, 2, 3, 0])?.reshape(&dims)?.into())
}

fn max_pool(call: &DeviceCall<'_>) -> Queued {
    let [x, _, dy] = call.tensors()?;
    let window = pooling_window(&pooling(call.attrs, x.shape())?.0)?;
    let (dtype, computed) = (x.dtype(), computed_as(x.dtype()));
    // Integers are converted to a type with the same order, and their sums wrap as in the type
    // itself.
    let x = to_nhwc(call, &ordered(call, x)?)?;
    let dy = to_nhwc(call, &cast(call, dy, computed, false)?)?;
    let (y, dx) = (pooled(call, &window, computed)?, call.allocate_as(x.metadata())?);
    let positions = pooled(call, &window, DType::UI32)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.max_pool(stream, computed, y.buffer(), Some(positions.buffer()), x.buffer(), &window)?;
    let (dx_buffer, dy_buffer) = (dx.buffer(), dy.buffer());
    kernels.max_pool_gradient(stream, computed, dx_buffer, dy_buffer, positions.buffer(), &window)?;
    Ok(from_nhwc(call, cast(call, &dx, dtype, false)?)?.into())
}

fn average_pool(call: &DeviceCall<'_>) -> Queued {
    let (dims, dy) = (sized(call, 0)?, call.tensor(1)?);
    let (shape, expected) = pooling(call.attrs, &dims)?;
    check_pooled(dy.shape(), &expected)?;
    let window = pooling_window(&shape)?;
    let [batch, height, width, channels] = Layout::of(call.attrs)?.images(&dims, "orig_input_shape")?;
    let nhwc = TensorShape::new(&[batch, height, width, channels])?;
    let (dy, dx) = (to_nhwc(call, dy)?, call.allocate_as(&TensorMetadata::new(dy.dtype(), nhwc))?);
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.average_pool_gradient(stream, dx.dtype(), dx.buffer(), dy.buffer(), false, &window)?;
    Ok(from_nhwc(call, dx)?.into())
}

/// Rows of classes.
fn rows(logits: &TensorShape) -> Result<Rows, Diagnostic> {
    match *logits.dims() {
        [rows, columns] => Ok(Rows { rows: rows as u64, columns: columns as u64 }),
        _ => Err(invalid(format!("logits must be 2-D, but got shape {logits}"))),
    }
}

/// Returns the losses in the logits' type, which may differ from that of the kernels.
fn losses_of(
    call: &DeviceCall<'_>,
    labels: LabelType,
    [logits, classes]: [&DeviceTensor; 2],
    gradient: Option<&DeviceTensor>,
) -> DeviceOpResult<DeviceTensor> {
    let loss =
        call.allocate_as(&TensorMetadata::new(loss_type(logits.dtype()), call.result(0)?.shape.clone()))?;
    let buffers = CrossEntropyBuffers {
        loss: Some(loss.buffer()),
        gradient: gradient.map(DeviceTensor::buffer),
        logits: logits.buffer(),
        labels: classes.buffer(),
    };
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.cross_entropy(stream, logits.dtype(), labels, buffers, rows(logits.shape())?, 1.0)?;
    cast(call, &loss, logits.dtype(), false)
}

fn both(losses: DeviceTensor, gradient: DeviceTensor) -> OpResult {
    OpResult { tensors: smallvec![AsyncValue::new(losses), AsyncValue::new(gradient)], done: None }
}

/// Returns losses and gradients for one class for each row. An invalid class makes its row NaN.
fn sparse_losses(call: &DeviceCall<'_>) -> Queued {
    let [logits, labels] = call.tensors()?;
    let kind = match labels.dtype() {
        DType::I32 => LabelType::I32,
        DType::I64 => LabelType::I64,
        other => return Err(unsupported("labels", other).into()),
    };
    let gradient = call.allocate(1)?;
    Ok(both(losses_of(call, kind, [logits, labels], Some(&gradient))?, gradient))
}

/// Returns losses and gradients for a probability of each class of each row. The gradient assumes
/// labels whose sum is 1.
fn losses(call: &DeviceCall<'_>) -> Queued {
    let ([logits, labels], shape) = (call.tensors()?, &call.result(1)?.shape);
    let (logits, labels) = (broadcast(call, logits, shape)?, broadcast(call, labels, shape)?);
    let losses = losses_of(call, LabelType::Dense, [&logits, &labels], None)?;
    let likely = call.allocate(1)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.softmax(stream, logits.dtype(), false, likely.buffer(), logits.buffer(), rows(shape)?)?;
    Ok(both(losses, zip(call, Binary::Sub, &likely, &labels)?))
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("tf.ReluGrad").device(|call| relu(call, Gradient::Relu));
    ops.extend("tf.Relu6Grad").device(|call| relu(call, Gradient::Relu6));
    ops.extend("tf.EluGrad").device(|call| gradient(call, Gradient::Elu, 0));
    ops.extend("tf.SeluGrad").device(|call| gradient(call, Gradient::Selu, 0));
    ops.extend("tf.SoftplusGrad").device(|call| gradient(call, Gradient::Softplus, 0));
    ops.extend("tf.SoftsignGrad").device(|call| gradient(call, Gradient::Softsign, 0));
    ops.extend("tf.LeakyReluGrad").device(leaky_relu);
    ops.extend("tf.SigmoidGrad").device(|call| {
        gradient_of_result(call, Gradient::Sigmoid, |call, y, dy| {
            zip(call, Binary::Mul, &zip(call, Binary::Mul, dy, y)?, &one_minus(call, y)?)
        })
    });
    ops.extend("tf.TanhGrad").device(|call| {
        gradient_of_result(call, Gradient::Tanh, |call, y, dy| {
            zip(call, Binary::Mul, dy, &one_minus(call, &zip(call, Binary::Mul, y, y)?)?)
        })
    });
    ops.extend("tf.SqrtGrad").device(|call| {
        gradient_of_result(call, Gradient::Sqrt, |call, y, dy| {
            zip(call, Binary::Div, &scaled(call, dy, 0.5)?, &conjugate(call, y)?)
        })
    });
    ops.extend("tf.RsqrtGrad").device(|call| {
        gradient_of_result(call, Gradient::Rsqrt, |call, y, dy| {
            let y = conjugate(call, y)?;
            let once = zip(call, Binary::Mul, &scaled(call, dy, -0.5)?, &y)?;
            zip(call, Binary::Mul, &zip(call, Binary::Mul, &once, &y)?, &y)
        })
    });
    for name in ["tf.ReciprocalGrad", "tf.InvGrad"] {
        ops.extend(name).device(|call| {
            gradient_of_result(call, Gradient::Reciprocal, |call, y, dy| {
                let y = conjugate(call, y)?;
                let once = zip(call, Binary::Mul, &map(call, Unary::Neg, dy)?, &y)?;
                zip(call, Binary::Mul, &once, &y)
            })
        });
    }
    ops.extend("tf.BiasAddGrad").device(bias);
    ops.extend("tf.Conv2DBackpropInput").device_with(
        |call| convolution_input(call, ("tf.Conv2DBackpropInput", Kind::Full)),
        HostArguments::at(&[0]),
    );
    ops.extend("tf.Conv2DBackpropFilter").device_with(
        |call| convolution_filter(call, ("tf.Conv2DBackpropFilter", Kind::Full)),
        HostArguments::at(&[1]),
    );
    ops.extend("tf.DepthwiseConv2dNativeBackpropInput").device_with(
        |call| convolution_input(call, ("tf.DepthwiseConv2dNativeBackpropInput", Kind::Depthwise)),
        HostArguments::at(&[0]),
    );
    ops.extend("tf.DepthwiseConv2dNativeBackpropFilter").device_with(
        |call| convolution_filter(call, ("tf.DepthwiseConv2dNativeBackpropFilter", Kind::Depthwise)),
        HostArguments::at(&[1]),
    );
    ops.extend("tf.MaxPoolGrad").device(max_pool);
    ops.extend("tf.AvgPoolGrad").device_with(average_pool, HostArguments::at(&[0]));
    ops.extend("tf.SparseSoftmaxCrossEntropyWithLogits").device(sparse_losses);
    ops.extend("tf.SoftmaxCrossEntropyWithLogits").device(losses);
}
