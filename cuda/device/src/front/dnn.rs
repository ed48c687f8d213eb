//! Neural network primitives.
//!
//! A tensor is a layout and a buffer that contains it. Only pooling accepts layouts larger than the
//! buffer, because existing programs use them and rely on the part inside. Such an operation runs
//! on scratch memory of the layout's size, whose missing part reads as zeros, and results for
//! missing elements are dropped.

use super::buffer::{DeviceAllocator, DeviceBuffer, out_of_memory};
use super::context::Context;
use super::library::{Library, LibraryHandle};
use super::managed::Queueing;
use super::stream::Stream;
use crate::error::{DeviceError, Result, Status};
use crate::hal::{
    Activation, BatchNormMode, BatchNormOperands, Convolution, ConvolutionEpilogue, ConvolutionOperands,
    DnnOperation as Op, F32Math, Pattern, Pooling, Scaling, SoftmaxMode, TensorLayout,
};

/// The DNN library of a context.
pub struct Dnn {
    /// Scratch memory.
    scratch: DeviceAllocator,
}

impl Library for Dnn {
    const KIND: &'static str = "DNN handle";
}

/// A handle of the DNN library, with the stream on which its calls are queued. Clones share it.
pub type DnnHandle = LibraryHandle<Dnn>;

/// A tensor: its layout and its buffer.
#[derive(Clone, Copy, Debug)]
pub struct DnnTensor<'a> {
    /// The layout.
    pub layout: &'a TensorLayout,
    /// The buffer.
    pub buffer: &'a DeviceBuffer,
}

impl<'a> DnnTensor<'a> {
    /// Makes a tensor of a layout and a buffer.
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
    /// Starts the DNN library for convolutions of this kind.
    ///
    /// # Errors
    /// `DnnNotInitialized` with what was looked for.
    pub fn create_dnn_with(&self, math: F32Math) -> Result<DnnHandle> {
        let hal = self.hal().create_dnn(math)?;
        let scratch = self.create_allocator(crate::allocator::Options::default());
        Ok(LibraryHandle::new(self, hal, Dnn { scratch }))
    }
}

fn bad(detail: String) -> DeviceError {
    DeviceError::new(Status::DnnBadParam, detail)
}

/// Checks the extents.
fn check_dims(name: &str, layout: &TensorLayout, expected: &[u64]) -> Result<()> {
    if layout.dims != expected {
        return Err(bad(format!("{name} has extents {:?}, but {expected:?} are expected", layout.dims)));
    }
    Ok(())
}

/// Returns the extent of an operation's result along one axis.
fn windows(input: u64, window: u64, padding: u64, stride: u64, dilation: u64) -> Option<u64> {
    let covered = window.checked_sub(1)?.checked_mul(dilation)?.checked_add(1)?;
    let padded = input.checked_add(padding.checked_mul(2)?)?;
    padded.checked_sub(covered)?.checked_div(stride)?.checked_add(1)
}

/// Returns the extents of a convolution's result.
fn convolved(convolution: &Convolution, x: &TensorLayout, w: &TensorLayout) -> Result<Vec<u64>> {
    let spatial = x.dims.len().saturating_sub(2);
    let lists = [&convolution.padding, &convolution.strides, &convolution.dilations];
    if spatial == 0 || w.dims.len() != x.dims.len() || lists.iter().any(|list| list.len() != spatial) {
        return Err(bad(format!(
            "images of {} dimensions, filters of {} and a convolution of {} do not fit together",
            x.dims.len(),
            w.dims.len(),
            convolution.padding.len()
        )));
    }
    let groups = convolution.groups;
    if groups == 0 || w.dims[1].checked_mul(groups) != Some(x.dims[1]) || !w.dims[0].is_multiple_of(groups) {
        return Err(bad(format!(
            "{} channels, filters of {} channels and {} outputs do not fit together in {groups} groups",
            x.dims[1], w.dims[1], w.dims[0]
        )));
    }
    let mut dims = vec![x.dims[0], w.dims[0]];
    for axis in 0..spatial {
        let (padding, stride) = (convolution.padding[axis], convolution.strides[axis]);
        let dilation = convolution.dilations[axis];
        if stride == 0 || dilation == 0 {
            return Err(bad("strides and dilations must be at least 1".to_owned()));
        }
        let extent = windows(x.dims[axis + 2], w.dims[axis + 2], padding, stride, dilation);
        dims.push(
            extent.ok_or_else(|| bad(format!("the filter does not fit the images along axis {axis}")))?,
        );
    }
    Ok(dims)
}

/// Returns the extents of a pooling's result.
fn pooled(pooling: &Pooling, x: &TensorLayout) -> Result<Vec<u64>> {
    let spatial = x.dims.len().saturating_sub(2);
    let lists = [&pooling.window, &pooling.padding, &pooling.strides];
    if spatial == 0 || lists.iter().any(|list| list.len() != spatial) {
        return Err(bad(format!(
            "images of {} dimensions and windows of {} do not fit together",
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

impl DnnHandle {
    fn run(&self, stream: &Stream, operation: Op<'_>, scaling: Scaling) -> Result<()> {
        stream.traced(
            || operation.name().to_owned(),
            || self.context().hal().run_dnn(self.hal(), stream.hal(), operation, scaling),
        )
    }

    /// Checks that the tensors may be used and lie in their buffers.
    fn check(&self, queueing: &mut Queueing<'_>, tensors: &[(&str, DnnTensor<'_>)]) -> Result<()> {
        for (name, tensor) in tensors {
            self.check_usable(queueing, name, *tensor)?;
            if !tensor.fits() {
                return Err(bad(format!(
                    "{name} takes {} bytes, but its buffer has {}",
                    tensor.layout.bytes(),
                    tensor.buffer.len()
                )));
            }
        }
        Ok(())
    }

    fn check_usable(&self, queueing: &mut Queueing<'_>, name: &str, tensor: DnnTensor<'_>) -> Result<()> {
        tensor.buffer.used_by(queueing)?;
        let TensorLayout { dims, strides, .. } = tensor.layout;
        if dims.len() != strides.len() {
            return Err(bad(format!("{name} has {} extents but {} strides", dims.len(), strides.len())));
        }
        // A tensor must not have more elements than places in memory. That also limits the device's
        // work by the available memory.
        let stays = dims.iter().zip(strides).any(|(&dim, &stride)| stride == 0 && dim > 1);
        if stays || tensor.layout.elements() > tensor.layout.span() {
            return Err(bad(format!(
                "elements of {name}, {dims:?} with strides {strides:?}, share an address"
            )));
        }
        let size = tensor.layout.dtype.size().unwrap_or(0) as u64;
        if size == 0 || !tensor.buffer.address().is_multiple_of(size) {
            return Err(bad(format!(
                "{name} is not aligned to its elements of type {}",
                tensor.layout.dtype
            )));
        }
        Ok(())
    }

    /// Checks that all tensors have the same type, and returns it.
    fn check_types(tensors: &[(&str, DnnTensor<'_>)]) -> Result<()> {
        let Some(((_, first), rest)) = tensors.split_first() else { return Ok(()) };
        for (name, tensor) in rest {
            if tensor.layout.dtype != first.layout.dtype {
                return Err(bad(format!(
                    "{name} has type {}, but the others have type {}",
                    tensor.layout.dtype, first.layout.dtype
                )));
            }
        }
        Ok(())
    }

    /// Returns scratch memory of a layout's size that begins with the contents of the buffer.
    fn widened(&self, stream: &Stream, tensor: DnnTensor<'_>) -> Result<DeviceBuffer> {
        let bytes = tensor.layout.bytes();
        let size = i64::try_from(bytes).map_err(|_| bad("a tensor is too large".to_owned()))?;
        let scratch =
            self.library().scratch.allocate(stream, size, "scratch of a DNN call").map_err(out_of_memory)?;
        stream.set(&scratch, 0, Pattern::U8(0), bytes)?;
        stream.copy((&scratch, 0), (tensor.buffer, 0), tensor.buffer.len().min(bytes), false)?;
        Ok(scratch)
    }

    /// Calls `run` with tensors that lie in their buffers. The last of them is written.
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

    /// Queues the pooling of `x` into `y`.
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
        let mut queueing = Queueing::on(&stream);
        check_dims("y", y.layout, &pooled(pooling, x.layout)?)?;
        Self::check_types(&[("x", x), ("y", y)])?;
        for (name, tensor) in [("x", x), ("y", y)] {
            self.check_usable(&mut queueing, name, tensor)?;
        }
        self.widening(&stream, [x, y], |[x, y]| {
            self.run(&stream, Op::PoolingForward { pooling, x: x.hal(), y: y.hal() }, scaling)
        })
    }

    /// Queues the gradient of pooling `x` into `y`, from `dy` to `dx`.
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
        let mut queueing = Queueing::on(&stream);
        let dims = pooled(pooling, x.layout)?;
        check_dims("y", y.layout, &dims)?;
        check_dims("dy", dy.layout, &dims)?;
        check_dims("dx", dx.layout, &x.layout.dims)?;
        let named = [("y", y), ("dy", dy), ("x", x), ("dx", dx)];
        Self::check_types(&named)?;
        for (name, tensor) in named {
            self.check_usable(&mut queueing, name, tensor)?;
        }
        self.widening(&stream, [y, dy, x, dx], |tensors| {
            let [y, dy, x, dx] = tensors.map(|tensor| tensor.hal());
            self.run(&stream, Op::PoolingBackward { pooling, y, dy, x, dx }, scaling)
        })
    }

    fn check_convolution(
        &self,
        queueing: &mut Queueing<'_>,
        convolution: &Convolution,
        [x, w, y]: [DnnTensor<'_>; 3],
    ) -> Result<()> {
        check_dims("y", y.layout, &convolved(convolution, x.layout, w.layout)?)?;
        let named = [("x", x), ("w", w), ("y", y)];
        Self::check_types(&named)?;
        self.check(queueing, &named)
    }

    /// Queues `y = activation(alpha · conv(x, w) + factor · residual + bias) + beta · y`. Bias,
    /// residual and activation are optional.
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
        let mut queueing = Queueing::on(&stream);
        self.check_convolution(&mut queueing, convolution, [x, w, y])?;
        if let Some(bias) = bias {
            let mut expected = vec![1; y.layout.dims.len()];
            expected[1] = y.layout.dims[1];
            check_dims("the bias", bias.layout, &expected)?;
            self.check(&mut queueing, &[("the bias", bias)])?;
        }
        if let Some((residual, _)) = residual {
            check_dims("the residual", residual.layout, &y.layout.dims)?;
            self.check(&mut queueing, &[("the residual", residual)])?;
        }
        let epilogue = ConvolutionEpilogue {
            bias: bias.as_ref().map(DnnTensor::hal),
            residual: residual.as_ref().map(|(tensor, factor)| (tensor.hal(), *factor)),
            activation,
        };
        let operands = ConvolutionOperands { x: x.hal(), w: w.hal(), y: y.hal() };
        self.run(&stream, Op::ConvolutionForward { convolution, operands, epilogue }, scaling)
    }

    /// Queues the gradient of a convolution with respect to `x`, from `y` and `w`.
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
        let mut queueing = Queueing::on(&stream);
        self.check_convolution(&mut queueing, convolution, [x, w, y])?;
        let operands = ConvolutionOperands { x: x.hal(), w: w.hal(), y: y.hal() };
        self.run(&stream, Op::ConvolutionBackwardData { convolution, operands }, scaling)
    }

    /// Queues the gradient of a convolution with respect to `w`, from `x` and `y`.
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
        let mut queueing = Queueing::on(&stream);
        self.check_convolution(&mut queueing, convolution, [x, w, y])?;
        let operands = ConvolutionOperands { x: x.hal(), w: w.hal(), y: y.hal() };
        self.run(&stream, Op::ConvolutionBackwardFilter { convolution, operands }, scaling)
    }

    /// Returns the extents of scale, bias, mean and variance.
    fn statistics_dims(mode: BatchNormMode, x: &TensorLayout) -> Vec<u64> {
        let keep = |axis: usize| match mode {
            BatchNormMode::Spatial => axis == 1,
            BatchNormMode::PerActivation => axis > 0,
        };
        x.dims.iter().enumerate().map(|(axis, &dim)| if keep(axis) { dim } else { 1 }).collect()
    }

    fn check_batch_norm(
        &self,
        queueing: &mut Queueing<'_>,
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
        self.check(queueing, &[("x", x), ("the result", y)])?;
        for (name, buffer) in parameters {
            self.check(queueing, &[(name, DnnTensor::new(layout, buffer))])?;
        }
        Ok(())
    }

    /// Queues a batch normalization with known statistics. `parameters` are scale, bias, mean and
    /// variance.
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
        let mut queueing = Queueing::on(&stream);
        let [scale, bias, mean, variance] = parameters;
        let named =
            [("the scale", scale), ("the bias", bias), ("the mean", mean), ("the variance", variance)];
        self.check_batch_norm(&mut queueing, mode, [x, y], layout, &named, epsilon)?;
        let operands = BatchNormOperands { mode, x: x.hal(), parameters: layout, epsilon };
        let parameters = parameters.map(DeviceBuffer::address);
        self.run(&stream, Op::BatchNormInference { operands, parameters, y: y.hal() }, scaling)
    }

    /// Queues a batch normalization with the statistics of the batch. `parameters` are scale and
    /// bias. `running` are mean and variance, which are updated by the factor. `saved` receives the
    /// mean and the inverse standard deviation.
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
        let mut queueing = Queueing::on(&stream);
        let mut named = vec![("the scale", parameters[0]), ("the bias", parameters[1])];
        if let Some(([mean, variance], _)) = running {
            named.extend([("the running mean", mean), ("the running variance", variance)]);
        }
        if let Some([mean, deviation]) = saved {
            named.extend([("the saved mean", mean), ("the saved inverse deviation", deviation)]);
        }
        self.check_batch_norm(&mut queueing, mode, [x, y], layout, &named, epsilon)?;
        let operands = BatchNormOperands { mode, x: x.hal(), parameters: layout, epsilon };
        let parameters = parameters.map(DeviceBuffer::address);
        let running = running.map(|(buffers, factor)| (buffers.map(DeviceBuffer::address), factor));
        let saved = saved.map(|buffers| buffers.map(DeviceBuffer::address));
        let y = y.hal();
        self.run(&stream, Op::BatchNormTraining { operands, parameters, running, saved, y }, scaling)
    }

    /// Queues the gradient of a batch normalization in training, from `dy` to `dx` and to the
    /// gradients of scale and bias.
    ///
    /// # Errors
    /// `DnnBadParam` if the extents do not go together.
    #[expect(clippy::too_many_arguments, reason = "the operation's tensors")]
    pub fn batch_norm_backward(
        &self,
        mode: BatchNormMode,
        [scaling, gradient_scaling]: [Scaling; 2],
        [x, dy, dx]: [DnnTensor<'_>; 3],
        layout: &TensorLayout,
        scale: &DeviceBuffer,
        gradients: [&DeviceBuffer; 2],
        saved: Option<[&DeviceBuffer; 2]>,
        epsilon: f64,
    ) -> Result<()> {
        let stream = self.stream()?;
        let mut queueing = Queueing::on(&stream);
        let mut named = vec![
            ("the scale", scale),
            ("the scale's gradient", gradients[0]),
            ("the bias's gradient", gradients[1]),
        ];
        if let Some([mean, deviation]) = saved {
            named.extend([("the saved mean", mean), ("the saved inverse deviation", deviation)]);
        }
        self.check_batch_norm(&mut queueing, mode, [x, dx], layout, &named, epsilon)?;
        check_dims("dy", dy.layout, &x.layout.dims)?;
        self.check(&mut queueing, &[("dy", dy)])?;
        let operands = BatchNormOperands { mode, x: x.hal(), parameters: layout, epsilon };
        let gradients = gradients.map(DeviceBuffer::address);
        let saved = saved.map(|buffers| buffers.map(DeviceBuffer::address));
        let (dy, dx, scale) = (dy.hal(), dx.hal(), scale.address());
        let backward = Op::BatchNormBackward { operands, dy, dx, scale, gradients, gradient_scaling, saved };
        self.run(&stream, backward, scaling)
    }

    /// Checks that tensors have the same extents and types and lie in their buffers.
    fn check_alike(&self, queueing: &mut Queueing<'_>, tensors: &[(&str, DnnTensor<'_>)]) -> Result<()> {
        if let Some(((_, first), rest)) = tensors.split_first() {
            for (name, tensor) in rest {
                check_dims(name, tensor.layout, &first.layout.dims)?;
            }
        }
        Self::check_types(tensors)?;
        self.check(queueing, tensors)
    }

    /// Queues the softmax of `x` into `y`.
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
        let mut queueing = Queueing::on(&stream);
        self.check_alike(&mut queueing, &[("x", x), ("y", y)])?;
        self.run(&stream, Op::SoftmaxForward { mode, x: x.hal(), y: y.hal() }, scaling)
    }

    /// Queues the gradient of softmax, from its result `y` and `dy` to `dx`.
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
        let mut queueing = Queueing::on(&stream);
        self.check_alike(&mut queueing, &[("y", y), ("dy", dy), ("dx", dx)])?;
        let [y, dy, dx] = [y, dy, dx].map(|tensor| tensor.hal());
        self.run(&stream, Op::SoftmaxBackward { mode, y, dy, dx }, scaling)
    }

    /// Queues a function of each element of `x` into `y`.
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
        let mut queueing = Queueing::on(&stream);
        self.check_alike(&mut queueing, &[("x", x), ("y", y)])?;
        self.run(&stream, Op::ActivationForward { activation, x: x.hal(), y: y.hal() }, scaling)
    }

    /// Queues the gradient of [`DnnHandle::activation_forward`], from `y`, `dy` and `x` to `dx`.
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
        let mut queueing = Queueing::on(&stream);
        self.check_alike(&mut queueing, &[("y", y), ("dy", dy), ("x", x), ("dx", dx)])?;
        let [y, dy, x, dx] = [y, dy, x, dx].map(|tensor| tensor.hal());
        self.run(&stream, Op::ActivationBackward { activation, y, dy, x, dx }, scaling)
    }

    /// Queues `c = alpha · a + beta · c`. Extents of 1 in `a` are broadcast.
    ///
    /// # Errors
    /// `DnnBadParam` if the extents do not go together.
    pub fn add_tensor(&self, scaling: Scaling, a: DnnTensor<'_>, c: DnnTensor<'_>) -> Result<()> {
        let stream = self.stream()?;
        let mut queueing = Queueing::on(&stream);
        let (small, large) = (&a.layout.dims, &c.layout.dims);
        if small.len() != large.len() || small.iter().zip(large).any(|(&a, &c)| a != c && a != 1) {
            return Err(bad(format!("extents {small:?} cannot be broadcast to {large:?}")));
        }
        Self::check_types(&[("a", a), ("c", c)])?;
        self.check(&mut queueing, &[("a", a), ("c", c)])?;
        self.run(&stream, Op::AddTensor { a: a.hal(), c: c.hal() }, scaling)
    }
}
