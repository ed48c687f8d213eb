//! Neural network primitives.
//!
//! A tensor is a layout and a buffer; the layout must lie in the buffer. Pooling alone takes layouts that describe more than
//! the buffer holds, because existing programs do so and rely on what lies inside: such an operation is done on scratch
//! memory of the layout's size, whose missing part reads as zeros, and what it computes for elements that do not exist is
//! dropped.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::buffer::{DeviceAllocator, DeviceBuffer, out_of_memory};
use super::context::{Context, Counted};
use super::stream::Stream;
use super::{Owned, check};
use crate::error::{DeviceError, Result, Status};
use crate::hal::{
    Activation, BatchNormMode, BatchNormOperands, Convolution, ConvolutionEpilogue, ConvolutionOperands,
    DynContext, Erased, Pattern, Pooling, Scaling, SoftmaxMode, TensorLayout,
};

/// A DNN library's state, with the stream its calls are queued on. Cloning shares it.
#[derive(Clone)]
pub struct DnnHandle(Arc<Inner>);

struct Inner {
    hal: Erased,
    stream: Mutex<Option<Stream>>,
    destroyed: AtomicBool,
    /// Scratch memory.
    scratch: DeviceAllocator,
    counted: Counted,
}

impl Owned for DnnHandle {
    const KIND: &'static str = "DNN handle";

    fn context(&self) -> &Context {
        self.0.counted.context()
    }

    fn is_destroyed(&self) -> bool {
        self.0.destroyed.load(Ordering::Acquire)
    }
}

/// A tensor: how it lies, and where.
#[derive(Clone, Copy, Debug)]
pub struct DnnTensor<'a> {
    /// How it lies.
    pub layout: &'a TensorLayout,
    /// Where.
    pub buffer: &'a DeviceBuffer,
}

impl<'a> DnnTensor<'a> {
    /// A tensor.
    pub fn new(layout: &'a TensorLayout, buffer: &'a DeviceBuffer) -> Self {
        Self { layout, buffer }
    }

    fn hal(&self) -> (&'a TensorLayout, u64) {
        (self.layout, self.buffer.address())
    }

    fn fits(&self) -> bool {
        self.layout.bytes() <= self.buffer.len()
    }
}

impl Context {
    /// Starts the DNN library.
    ///
    /// # Errors
    /// `DnnNotInitialized` with what was looked for.
    pub fn create_dnn(&self) -> Result<DnnHandle> {
        let inner = Inner {
            hal: self.hal().create_dnn()?,
            stream: Mutex::default(),
            destroyed: AtomicBool::new(false),
            scratch: self.create_allocator(crate::allocator::Options::default()),
            counted: Counted::new(self, |live| &live.libraries),
        };
        Ok(DnnHandle(Arc::new(inner)))
    }
}

fn bad(detail: String) -> DeviceError {
    DeviceError::new(Status::DnnBadParam, detail)
}

/// That the extents are these.
fn check_dims(name: &str, layout: &TensorLayout, expected: &[u64]) -> Result<()> {
    if layout.dims != expected {
        return Err(bad(format!("{name} has extents {:?}, and should have {expected:?}", layout.dims)));
    }
    Ok(())
}

/// The extent of an operation's result along one direction.
fn windows(input: u64, window: u64, padding: u64, stride: u64, dilation: u64) -> Option<u64> {
    let covered = window.checked_sub(1)?.checked_mul(dilation)?.checked_add(1)?;
    let padded = input.checked_add(padding.checked_mul(2)?)?;
    padded.checked_sub(covered)?.checked_div(stride)?.checked_add(1)
}

/// The extents a convolution of these layouts gives.
fn convolved(convolution: &Convolution, x: &TensorLayout, w: &TensorLayout) -> Result<Vec<u64>> {
    let spatial = x.dims.len().saturating_sub(2);
    let lists = [&convolution.padding, &convolution.strides, &convolution.dilations];
    if spatial == 0 || w.dims.len() != x.dims.len() || lists.iter().any(|list| list.len() != spatial) {
        return Err(bad(format!(
            "images of {} dimensions, filters of {}, and a convolution of {} do not go together",
            x.dims.len(),
            w.dims.len(),
            convolution.padding.len()
        )));
    }
    let groups = convolution.groups;
    if groups == 0 || w.dims[1].checked_mul(groups) != Some(x.dims[1]) || !w.dims[0].is_multiple_of(groups) {
        return Err(bad(format!(
            "{} channels, filters of {} channels and {} outputs do not go together in {groups} groups",
            x.dims[1], w.dims[1], w.dims[0]
        )));
    }
    let mut dims = vec![x.dims[0], w.dims[0]];
    for axis in 0..spatial {
        let (padding, stride) = (convolution.padding[axis], convolution.strides[axis]);
        let dilation = convolution.dilations[axis];
        if stride == 0 || dilation == 0 {
            return Err(bad("strides and dilations are at least 1".to_owned()));
        }
        let extent = windows(x.dims[axis + 2], w.dims[axis + 2], padding, stride, dilation);
        dims.push(
            extent.ok_or_else(|| bad(format!("the filter does not fit the images along axis {axis}")))?,
        );
    }
    Ok(dims)
}

/// The extents a pooling gives.
fn pooled(pooling: &Pooling, x: &TensorLayout) -> Result<Vec<u64>> {
    let spatial = x.dims.len().saturating_sub(2);
    let lists = [&pooling.window, &pooling.padding, &pooling.strides];
    if spatial == 0 || lists.iter().any(|list| list.len() != spatial) {
        return Err(bad(format!(
            "images of {} dimensions and windows of {} do not go together",
            x.dims.len(),
            pooling.window.len()
        )));
    }
    let mut dims = vec![x.dims[0], x.dims[1]];
    for axis in 0..spatial {
        let extent =
            windows(x.dims[axis + 2], pooling.window[axis], pooling.padding[axis], pooling.strides[axis], 1);
        let extent = extent.filter(|_| pooling.strides[axis] > 0 && pooling.window[axis] > 0);
        dims.push(
            extent.ok_or_else(|| bad(format!("the window does not fit the images along axis {axis}")))?,
        );
    }
    Ok(dims)
}

/// What a call of the library's gets: its context, its state, and the stream.
struct Call<'a> {
    hal: &'a DynContext,
    dnn: &'a Erased,
    stream: &'a Stream,
}

impl DnnHandle {
    /// Its context.
    pub fn context(&self) -> &Context {
        Owned::context(self)
    }

    /// Calls are queued on this stream from now on.
    ///
    /// # Errors
    /// `InvalidContext` for a stream of another context.
    pub fn set_stream(&self, stream: &Stream) -> Result<()> {
        check(self, stream.context())?;
        *self.0.stream.lock() = Some(stream.clone());
        Ok(())
    }

    /// The stream that was set. There is no default: a stream is never chosen here.
    ///
    /// # Errors
    /// `IllegalState` if none was set.
    pub fn stream(&self) -> Result<Stream> {
        check(self, self.context())?;
        let stream = self.0.stream.lock().clone();
        stream.ok_or_else(|| DeviceError::new(Status::IllegalState, "no stream was set for the DNN handle"))
    }

    /// Ends the library's use.
    ///
    /// # Errors
    /// `InvalidHandle` if that was done before.
    pub fn destroy(&self) -> Result<()> {
        if self.0.destroyed.swap(true, Ordering::AcqRel) {
            return Err(DeviceError::new(Status::InvalidHandle, "the DNN handle was destroyed already"));
        }
        Ok(())
    }

    fn call<'a>(&'a self, stream: &'a Stream) -> Call<'a> {
        Call { hal: self.context().hal(), dnn: &self.0.hal, stream }
    }

    /// That the tensors may be used and lie in their buffers.
    fn check(&self, stream: &Stream, tensors: &[(&str, DnnTensor<'_>)]) -> Result<()> {
        for (name, tensor) in tensors {
            self.check_usable(stream, name, *tensor)?;
            if !tensor.fits() {
                return Err(bad(format!(
                    "{name} takes {} bytes, and its buffer has {}",
                    tensor.layout.bytes(),
                    tensor.buffer.len()
                )));
            }
        }
        Ok(())
    }

    fn check_usable(&self, stream: &Stream, name: &str, tensor: DnnTensor<'_>) -> Result<()> {
        tensor.buffer.used_on(stream)?;
        let size = tensor.layout.dtype.size().unwrap_or(0) as u64;
        if size == 0 || !tensor.buffer.address().is_multiple_of(size) {
            return Err(bad(format!(
                "{name} is not aligned to its elements of type {}",
                tensor.layout.dtype
            )));
        }
        Ok(())
    }

    /// The same type for all.
    fn check_types(tensors: &[(&str, DnnTensor<'_>)]) -> Result<()> {
        let Some(((_, first), rest)) = tensors.split_first() else { return Ok(()) };
        for (name, tensor) in rest {
            if tensor.layout.dtype != first.layout.dtype {
                return Err(bad(format!(
                    "{name} is of type {}, the others of type {}",
                    tensor.layout.dtype, first.layout.dtype
                )));
            }
        }
        Ok(())
    }

    /// Scratch memory of a layout's size that begins with what the buffer holds.
    fn widened(&self, stream: &Stream, tensor: DnnTensor<'_>) -> Result<DeviceBuffer> {
        let bytes = tensor.layout.bytes();
        let size = i64::try_from(bytes).map_err(|_| bad("a tensor is too large".to_owned()))?;
        let scratch =
            self.0.scratch.allocate(stream, size, "scratch of a DNN call").map_err(out_of_memory)?;
        stream.set(&scratch, 0, Pattern::U8(0), bytes)?;
        stream.copy((&scratch, 0), (tensor.buffer, 0), tensor.buffer.len().min(bytes), false)?;
        Ok(scratch)
    }

    /// Calls `run` with tensors that lie in their buffers, the last of which is written.
    fn widening<const N: usize>(
        &self,
        stream: &Stream,
        tensors: [DnnTensor<'_>; N],
        run: impl FnOnce([DnnTensor<'_>; N]) -> Result<()>,
    ) -> Result<()> {
        if tensors.iter().all(DnnTensor::fits) {
            return run(tensors);
        }
        let mut scratch = Vec::with_capacity(N);
        for tensor in tensors {
            scratch.push(if tensor.fits() { tensor.buffer.clone() } else { self.widened(stream, tensor)? });
        }
        let mut wide = tensors;
        wide.iter_mut().zip(&scratch).for_each(|(tensor, buffer)| tensor.buffer = buffer);
        run(wide)?;
        match (tensors.last(), scratch.last()) {
            (Some(result), Some(computed)) if !result.fits() => {
                stream.copy((result.buffer, 0), (computed, 0), result.buffer.len(), false)
            }
            _ => Ok(()),
        }
    }

    /// Pools `x` to `y`.
    ///
    /// # Errors
    /// `DnnBadParam` if the extents do not go together.
    pub fn pooling_forward(
        &self,
        pooling: &Pooling,
        scaling: Scaling,
        x: DnnTensor<'_>,
        y: DnnTensor<'_>,
    ) -> Result<()> {
        let stream = self.stream()?;
        check_dims("y", y.layout, &pooled(pooling, x.layout)?)?;
        Self::check_types(&[("x", x), ("y", y)])?;
        for (name, tensor) in [("x", x), ("y", y)] {
            self.check_usable(&stream, name, tensor)?;
        }
        let call = self.call(&stream);
        self.widening(&stream, [x, y], |[x, y]| {
            call.hal.pooling_forward(call.dnn, call.stream.hal(), pooling, scaling, x.hal(), y.hal())
        })
    }

    /// The gradient of pooling `x` to `y`, from `dy` to `dx`.
    ///
    /// # Errors
    /// `DnnBadParam` if the extents do not go together.
    pub fn pooling_backward(
        &self,
        pooling: &Pooling,
        scaling: Scaling,
        [y, dy, x, dx]: [DnnTensor<'_>; 4],
    ) -> Result<()> {
        let stream = self.stream()?;
        let dims = pooled(pooling, x.layout)?;
        check_dims("y", y.layout, &dims)?;
        check_dims("dy", dy.layout, &dims)?;
        check_dims("dx", dx.layout, &x.layout.dims)?;
        let named = [("y", y), ("dy", dy), ("x", x), ("dx", dx)];
        Self::check_types(&named)?;
        for (name, tensor) in named {
            self.check_usable(&stream, name, tensor)?;
        }
        let call = self.call(&stream);
        self.widening(&stream, [y, dy, x, dx], |[y, dy, x, dx]| {
            let stream = call.stream.hal();
            let (y, dy, x, dx) = (y.hal(), dy.hal(), x.hal(), dx.hal());
            call.hal.pooling_backward(call.dnn, stream, pooling, scaling, y, dy, x, dx)
        })
    }

    fn check_convolution(
        &self,
        stream: &Stream,
        convolution: &Convolution,
        [x, w, y]: [DnnTensor<'_>; 3],
    ) -> Result<()> {
        check_dims("y", y.layout, &convolved(convolution, x.layout, w.layout)?)?;
        let named = [("x", x), ("w", w), ("y", y)];
        Self::check_types(&named)?;
        self.check(stream, &named)
    }

    /// `y = activation(alpha · (x convolved by w) + factor · residual + bias) + beta · y`. Residual and activation are
    /// optional, and so is the bias.
    ///
    /// # Errors
    /// `DnnBadParam` if the extents do not go together.
    pub fn convolution_forward(
        &self,
        convolution: &Convolution,
        scaling: Scaling,
        [x, w, y]: [DnnTensor<'_>; 3],
        bias: Option<DnnTensor<'_>>,
        residual: Option<(DnnTensor<'_>, f64)>,
        activation: Option<Activation>,
    ) -> Result<()> {
        let stream = self.stream()?;
        self.check_convolution(&stream, convolution, [x, w, y])?;
        if let Some(bias) = bias {
            let mut expected = vec![1; y.layout.dims.len()];
            expected[1] = y.layout.dims[1];
            check_dims("the bias", bias.layout, &expected)?;
            self.check(&stream, &[("the bias", bias)])?;
        }
        if let Some((residual, _)) = residual {
            check_dims("the residual", residual.layout, &y.layout.dims)?;
            self.check(&stream, &[("the residual", residual)])?;
        }
        let epilogue = ConvolutionEpilogue {
            bias: bias.as_ref().map(DnnTensor::hal),
            residual: residual.as_ref().map(|(tensor, factor)| (tensor.hal(), *factor)),
            activation,
        };
        let operands = ConvolutionOperands { x: x.hal(), w: w.hal(), y: y.hal() };
        let call = self.call(&stream);
        call.hal.convolution_forward(call.dnn, stream.hal(), convolution, scaling, operands, epilogue)
    }

    /// The gradient with respect to `x`: from `y` and `w` to `x`.
    ///
    /// # Errors
    /// `DnnBadParam` if the extents do not go together.
    pub fn convolution_backward_data(
        &self,
        convolution: &Convolution,
        scaling: Scaling,
        [x, w, y]: [DnnTensor<'_>; 3],
    ) -> Result<()> {
        let stream = self.stream()?;
        self.check_convolution(&stream, convolution, [x, w, y])?;
        let operands = ConvolutionOperands { x: x.hal(), w: w.hal(), y: y.hal() };
        let call = self.call(&stream);
        call.hal.convolution_backward_data(call.dnn, stream.hal(), convolution, scaling, operands)
    }

    /// The gradient with respect to `w`: from `x` and `y` to `w`.
    ///
    /// # Errors
    /// `DnnBadParam` if the extents do not go together.
    pub fn convolution_backward_filter(
        &self,
        convolution: &Convolution,
        scaling: Scaling,
        [x, w, y]: [DnnTensor<'_>; 3],
    ) -> Result<()> {
        let stream = self.stream()?;
        self.check_convolution(&stream, convolution, [x, w, y])?;
        let operands = ConvolutionOperands { x: x.hal(), w: w.hal(), y: y.hal() };
        let call = self.call(&stream);
        call.hal.convolution_backward_filter(call.dnn, stream.hal(), convolution, scaling, operands)
    }

    /// The extents of scale, bias, mean and variance.
    fn statistics_dims(mode: BatchNormMode, x: &TensorLayout) -> Vec<u64> {
        let keep = |axis: usize| match mode {
            BatchNormMode::Spatial => axis == 1,
            BatchNormMode::PerActivation => axis > 0,
        };
        x.dims.iter().enumerate().map(|(axis, &dim)| if keep(axis) { dim } else { 1 }).collect()
    }

    fn check_batch_norm(
        &self,
        stream: &Stream,
        mode: BatchNormMode,
        [x, y]: [DnnTensor<'_>; 2],
        layout: &TensorLayout,
        parameters: &[(&str, &DeviceBuffer)],
        epsilon: f64,
    ) -> Result<()> {
        check_dims("the result", y.layout, &x.layout.dims)?;
        check_dims("the parameters", layout, &Self::statistics_dims(mode, x.layout))?;
        if epsilon.is_nan() || epsilon <= 0.0 {
            return Err(bad(format!("epsilon is {epsilon}")));
        }
        self.check(stream, &[("x", x), ("the result", y)])?;
        for (name, buffer) in parameters {
            self.check(stream, &[(name, DnnTensor::new(layout, buffer))])?;
        }
        Ok(())
    }

    /// Batch normalization with known statistics. `parameters`: scale, bias, mean, variance.
    ///
    /// # Errors
    /// `DnnBadParam` if the extents do not go together.
    #[expect(clippy::too_many_arguments, reason = "the operation's tensors")]
    pub fn batch_norm_inference(
        &self,
        mode: BatchNormMode,
        scaling: Scaling,
        x: DnnTensor<'_>,
        y: DnnTensor<'_>,
        layout: &TensorLayout,
        parameters: [&DeviceBuffer; 4],
        epsilon: f64,
    ) -> Result<()> {
        let stream = self.stream()?;
        let [scale, bias, mean, variance] = parameters;
        let named =
            [("the scale", scale), ("the bias", bias), ("the mean", mean), ("the variance", variance)];
        self.check_batch_norm(&stream, mode, [x, y], layout, &named, epsilon)?;
        let operands = BatchNormOperands { mode, x: x.hal(), parameters: layout, epsilon };
        let addresses = parameters.map(DeviceBuffer::address);
        let call = self.call(&stream);
        call.hal.batch_norm_inference(call.dnn, stream.hal(), scaling, operands, addresses, y.hal())
    }

    /// Batch normalization with the batch's statistics. `parameters`: scale, bias. `running`: mean and variance, which move
    /// by the factor; `saved`: where mean and inverse deviation go.
    ///
    /// # Errors
    /// `DnnBadParam` if the extents do not go together.
    #[expect(clippy::too_many_arguments, reason = "the operation's tensors")]
    pub fn batch_norm_training(
        &self,
        mode: BatchNormMode,
        scaling: Scaling,
        x: DnnTensor<'_>,
        y: DnnTensor<'_>,
        layout: &TensorLayout,
        parameters: [&DeviceBuffer; 2],
        running: Option<([&DeviceBuffer; 2], f64)>,
        saved: Option<[&DeviceBuffer; 2]>,
        epsilon: f64,
    ) -> Result<()> {
        let stream = self.stream()?;
        let mut named = vec![("the scale", parameters[0]), ("the bias", parameters[1])];
        if let Some(([mean, variance], _)) = running {
            named.extend([("the running mean", mean), ("the running variance", variance)]);
        }
        if let Some([mean, deviation]) = saved {
            named.extend([("the saved mean", mean), ("the saved inverse deviation", deviation)]);
        }
        self.check_batch_norm(&stream, mode, [x, y], layout, &named, epsilon)?;
        let operands = BatchNormOperands { mode, x: x.hal(), parameters: layout, epsilon };
        let addresses = parameters.map(DeviceBuffer::address);
        let running = running.map(|(buffers, factor)| (buffers.map(DeviceBuffer::address), factor));
        let saved = saved.map(|buffers| buffers.map(DeviceBuffer::address));
        let call = self.call(&stream);
        let y = y.hal();
        call.hal.batch_norm_training(call.dnn, stream.hal(), scaling, operands, addresses, running, saved, y)
    }

    /// The gradient of training: from `dy` to `dx`, and to the gradients of scale and bias.
    ///
    /// # Errors
    /// `DnnBadParam` if the extents do not go together.
    #[expect(clippy::too_many_arguments, reason = "the operation's tensors")]
    pub fn batch_norm_backward(
        &self,
        mode: BatchNormMode,
        scaling: [Scaling; 2],
        [x, dy, dx]: [DnnTensor<'_>; 3],
        layout: &TensorLayout,
        scale: &DeviceBuffer,
        gradients: [&DeviceBuffer; 2],
        saved: Option<[&DeviceBuffer; 2]>,
        epsilon: f64,
    ) -> Result<()> {
        let stream = self.stream()?;
        let mut named = vec![
            ("the scale", scale),
            ("the scale's gradient", gradients[0]),
            ("the bias's gradient", gradients[1]),
        ];
        if let Some([mean, deviation]) = saved {
            named.extend([("the saved mean", mean), ("the saved inverse deviation", deviation)]);
        }
        self.check_batch_norm(&stream, mode, [x, dx], layout, &named, epsilon)?;
        check_dims("dy", dy.layout, &x.layout.dims)?;
        self.check(&stream, &[("dy", dy)])?;
        let operands = BatchNormOperands { mode, x: x.hal(), parameters: layout, epsilon };
        let gradients = gradients.map(DeviceBuffer::address);
        let saved = saved.map(|buffers| buffers.map(DeviceBuffer::address));
        let call = self.call(&stream);
        let (dy, dx, scale) = (dy.hal(), dx.hal(), scale.address());
        call.hal.batch_norm_backward(
            call.dnn,
            stream.hal(),
            scaling,
            operands,
            dy,
            dx,
            scale,
            gradients,
            saved,
        )
    }

    /// That tensors have the same extents and types, and lie in their buffers.
    fn check_alike(&self, stream: &Stream, tensors: &[(&str, DnnTensor<'_>)]) -> Result<()> {
        if let Some(((_, first), rest)) = tensors.split_first() {
            for (name, tensor) in rest {
                check_dims(name, tensor.layout, &first.layout.dims)?;
            }
        }
        Self::check_types(tensors)?;
        self.check(stream, tensors)
    }

    /// Softmax of `x` to `y`.
    ///
    /// # Errors
    /// `DnnBadParam` if the extents do not go together.
    pub fn softmax_forward(
        &self,
        mode: SoftmaxMode,
        scaling: Scaling,
        x: DnnTensor<'_>,
        y: DnnTensor<'_>,
    ) -> Result<()> {
        let stream = self.stream()?;
        self.check_alike(&stream, &[("x", x), ("y", y)])?;
        let call = self.call(&stream);
        call.hal.softmax_forward(call.dnn, stream.hal(), mode, scaling, x.hal(), y.hal())
    }

    /// The gradient of softmax, from its result `y` and `dy` to `dx`.
    ///
    /// # Errors
    /// `DnnBadParam` if the extents do not go together.
    pub fn softmax_backward(
        &self,
        mode: SoftmaxMode,
        scaling: Scaling,
        [y, dy, dx]: [DnnTensor<'_>; 3],
    ) -> Result<()> {
        let stream = self.stream()?;
        self.check_alike(&stream, &[("y", y), ("dy", dy), ("dx", dx)])?;
        let call = self.call(&stream);
        call.hal.softmax_backward(call.dnn, stream.hal(), mode, scaling, y.hal(), dy.hal(), dx.hal())
    }

    /// A function of each element.
    ///
    /// # Errors
    /// `DnnBadParam` if the extents do not go together.
    pub fn activation_forward(
        &self,
        activation: Activation,
        scaling: Scaling,
        x: DnnTensor<'_>,
        y: DnnTensor<'_>,
    ) -> Result<()> {
        let stream = self.stream()?;
        self.check_alike(&stream, &[("x", x), ("y", y)])?;
        let call = self.call(&stream);
        call.hal.activation_forward(call.dnn, stream.hal(), activation, scaling, x.hal(), y.hal())
    }

    /// Its gradient, from `y`, `dy` and `x` to `dx`.
    ///
    /// # Errors
    /// `DnnBadParam` if the extents do not go together.
    pub fn activation_backward(
        &self,
        activation: Activation,
        scaling: Scaling,
        [y, dy, x, dx]: [DnnTensor<'_>; 4],
    ) -> Result<()> {
        let stream = self.stream()?;
        self.check_alike(&stream, &[("y", y), ("dy", dy), ("x", x), ("dx", dx)])?;
        let call = self.call(&stream);
        let (y, dy, x, dx) = (y.hal(), dy.hal(), x.hal(), dx.hal());
        call.hal.activation_backward(call.dnn, stream.hal(), activation, scaling, y, dy, x, dx)
    }

    /// `c = alpha · a + beta · c`, where extents of 1 in `a` are repeated.
    ///
    /// # Errors
    /// `DnnBadParam` if the extents do not go together.
    pub fn add_tensor(&self, scaling: Scaling, a: DnnTensor<'_>, c: DnnTensor<'_>) -> Result<()> {
        let stream = self.stream()?;
        let (small, large) = (&a.layout.dims, &c.layout.dims);
        if small.len() != large.len() || small.iter().zip(large).any(|(&a, &c)| a != c && a != 1) {
            return Err(bad(format!("extents {small:?} cannot be repeated to {large:?}")));
        }
        Self::check_types(&[("a", a), ("c", c)])?;
        self.check(&stream, &[("a", a), ("c", c)])?;
        let call = self.call(&stream);
        call.hal.add_tensor(call.dnn, stream.hal(), scaling, a.hal(), c.hal())
    }
}

impl fmt::Debug for DnnHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DNN handle")
    }
}
