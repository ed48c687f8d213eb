//! Pooling, softmax, batch normalization, activations and sums, by cuDNN's older calls.

#![expect(unsafe_code, reason = "calls of cuDNN's C interface")]

use std::ffi::{c_int, c_void};

use cudarc::cudnn::sys::{self as sys};
use tfrt_device::error::Result;
use tfrt_device::hal::{Activation, BatchNormMode, BatchNormOperands, Pooling, Scaling, SoftmaxMode, Tensor};
use tfrt_host::DType;

use super::DnnHandle;
use super::descriptors::{activation_descriptor, pooling_descriptor, tensor};
use crate::stream::Stream;

/// Alpha and beta in the type that the library reads: f64 for f64 tensors, else f32.
struct Factors {
    wide: [f64; 2],
    narrow: [f32; 2],
    is_wide: bool,
}

impl Factors {
    fn new(scaling: Scaling, dtype: DType) -> Self {
        let wide = [scaling.alpha, scaling.beta];
        Self { wide, narrow: wide.map(|factor| factor as f32), is_wide: dtype == DType::F64 }
    }

    fn pointer(&self, index: usize) -> *const c_void {
        if self.is_wide {
            (&raw const self.wide[index]).cast()
        } else {
            (&raw const self.narrow[index]).cast()
        }
    }

    fn alpha(&self) -> *const c_void {
        self.pointer(0)
    }

    fn beta(&self) -> *const c_void {
        self.pointer(1)
    }
}

fn softmax_mode(mode: SoftmaxMode) -> (c_int, c_int) {
    use sys::{cudnnSoftmaxAlgorithm_t as Algorithm, cudnnSoftmaxMode_t as Mode};
    let algorithm = match mode {
        SoftmaxMode { log: true, .. } => Algorithm::CUDNN_SOFTMAX_LOG,
        SoftmaxMode { fast: true, .. } => Algorithm::CUDNN_SOFTMAX_FAST,
        _ => Algorithm::CUDNN_SOFTMAX_ACCURATE,
    };
    let over =
        if mode.per_pixel { Mode::CUDNN_SOFTMAX_MODE_CHANNEL } else { Mode::CUDNN_SOFTMAX_MODE_INSTANCE };
    (algorithm as c_int, over as c_int)
}

fn batch_norm_mode(mode: BatchNormMode) -> c_int {
    match mode {
        BatchNormMode::PerActivation => sys::cudnnBatchNormMode_t::CUDNN_BATCHNORM_PER_ACTIVATION as c_int,
        BatchNormMode::Spatial => sys::cudnnBatchNormMode_t::CUDNN_BATCHNORM_SPATIAL as c_int,
    }
}

impl DnnHandle {
    pub(super) fn pooling_forward(
        &self,
        stream: &Stream,
        pooling: &Pooling,
        scaling: Scaling,
        x: Tensor<'_>,
        y: Tensor<'_>,
    ) -> Result<()> {
        let library = self.library;
        let pooling = pooling_descriptor(library, pooling)?;
        let (x_layout, y_layout) = (tensor(library, x.0)?, tensor(library, y.0)?);
        let factors = Factors::new(scaling, x.0.dtype);
        self.on(stream, |handle| {
            // SAFETY: the front checked the tensors. Descriptors and factors outlive the call,
            // which reads them.
            let status = unsafe {
                (library.cudnnPoolingForward)(
                    handle,
                    pooling.raw,
                    factors.alpha(),
                    x_layout.raw,
                    x.1,
                    factors.beta(),
                    y_layout.raw,
                    y.1,
                )
            };
            library.check(status, "cudnnPoolingForward")
        })
    }

    pub(super) fn pooling_backward(
        &self,
        stream: &Stream,
        pooling: &Pooling,
        scaling: Scaling,
        tensors: [Tensor<'_>; 4],
    ) -> Result<()> {
        let library = self.library;
        let pooling = pooling_descriptor(library, pooling)?;
        let [y, dy, x, dx] = tensors.map(|(layout, address)| (tensor(library, layout), address));
        let (y, dy, x, dx) = ((y.0?, y.1), (dy.0?, dy.1), (x.0?, x.1), (dx.0?, dx.1));
        let factors = Factors::new(scaling, tensors[0].0.dtype);
        self.on(stream, |handle| {
            // SAFETY: the front checked the tensors. Descriptors and factors outlive the call,
            // which reads them.
            let status = unsafe {
                (library.cudnnPoolingBackward)(
                    handle,
                    pooling.raw,
                    factors.alpha(),
                    y.0.raw,
                    y.1,
                    dy.0.raw,
                    dy.1,
                    x.0.raw,
                    x.1,
                    factors.beta(),
                    dx.0.raw,
                    dx.1,
                )
            };
            library.check(status, "cudnnPoolingBackward")
        })
    }

    pub(super) fn softmax_forward(
        &self,
        stream: &Stream,
        mode: SoftmaxMode,
        scaling: Scaling,
        x: Tensor<'_>,
        y: Tensor<'_>,
    ) -> Result<()> {
        let library = self.library;
        let (algorithm, over) = softmax_mode(mode);
        let (x_layout, y_layout) = (tensor(library, x.0)?, tensor(library, y.0)?);
        let factors = Factors::new(scaling, x.0.dtype);
        self.on(stream, |handle| {
            // SAFETY: the front checked the tensors. Descriptors and factors outlive the call,
            // which reads them.
            let status = unsafe {
                (library.cudnnSoftmaxForward)(
                    handle,
                    algorithm,
                    over,
                    factors.alpha(),
                    x_layout.raw,
                    x.1,
                    factors.beta(),
                    y_layout.raw,
                    y.1,
                )
            };
            library.check(status, "cudnnSoftmaxForward")
        })
    }

    pub(super) fn softmax_backward(
        &self,
        stream: &Stream,
        mode: SoftmaxMode,
        scaling: Scaling,
        [y, dy, dx]: [Tensor<'_>; 3],
    ) -> Result<()> {
        let library = self.library;
        let (algorithm, over) = softmax_mode(mode);
        let (y_layout, dy_layout, dx_layout) =
            (tensor(library, y.0)?, tensor(library, dy.0)?, tensor(library, dx.0)?);
        let factors = Factors::new(scaling, y.0.dtype);
        self.on(stream, |handle| {
            // SAFETY: the front checked the tensors. Descriptors and factors outlive the call,
            // which reads them.
            let status = unsafe {
                (library.cudnnSoftmaxBackward)(
                    handle,
                    algorithm,
                    over,
                    factors.alpha(),
                    y_layout.raw,
                    y.1,
                    dy_layout.raw,
                    dy.1,
                    factors.beta(),
                    dx_layout.raw,
                    dx.1,
                )
            };
            library.check(status, "cudnnSoftmaxBackward")
        })
    }

    pub(super) fn activation_forward(
        &self,
        stream: &Stream,
        activation: Activation,
        scaling: Scaling,
        x: Tensor<'_>,
        y: Tensor<'_>,
    ) -> Result<()> {
        let library = self.library;
        let Some(activation) = activation_descriptor(library, activation)? else {
            return self.add_tensor(stream, scaling, x, y);
        };
        let (x_layout, y_layout) = (tensor(library, x.0)?, tensor(library, y.0)?);
        let factors = Factors::new(scaling, x.0.dtype);
        self.on(stream, |handle| {
            // SAFETY: the front checked the tensors. Descriptors and factors outlive the call,
            // which reads them.
            let status = unsafe {
                (library.cudnnActivationForward)(
                    handle,
                    activation.raw,
                    factors.alpha(),
                    x_layout.raw,
                    x.1,
                    factors.beta(),
                    y_layout.raw,
                    y.1,
                )
            };
            library.check(status, "cudnnActivationForward")
        })
    }

    pub(super) fn activation_backward(
        &self,
        stream: &Stream,
        activation: Activation,
        scaling: Scaling,
        [y, dy, x, dx]: [Tensor<'_>; 4],
    ) -> Result<()> {
        let library = self.library;
        let Some(activation) = activation_descriptor(library, activation)? else {
            return self.add_tensor(stream, scaling, dy, dx);
        };
        let (y_layout, dy_layout) = (tensor(library, y.0)?, tensor(library, dy.0)?);
        let (x_layout, dx_layout) = (tensor(library, x.0)?, tensor(library, dx.0)?);
        let factors = Factors::new(scaling, y.0.dtype);
        self.on(stream, |handle| {
            // SAFETY: the front checked the tensors. Descriptors and factors outlive the call,
            // which reads them.
            let status = unsafe {
                (library.cudnnActivationBackward)(
                    handle,
                    activation.raw,
                    factors.alpha(),
                    y_layout.raw,
                    y.1,
                    dy_layout.raw,
                    dy.1,
                    x_layout.raw,
                    x.1,
                    factors.beta(),
                    dx_layout.raw,
                    dx.1,
                )
            };
            library.check(status, "cudnnActivationBackward")
        })
    }

    pub(super) fn add_tensor(
        &self,
        stream: &Stream,
        scaling: Scaling,
        a: Tensor<'_>,
        c: Tensor<'_>,
    ) -> Result<()> {
        let library = self.library;
        let (a_layout, c_layout) = (tensor(library, a.0)?, tensor(library, c.0)?);
        let factors = Factors::new(scaling, c.0.dtype);
        self.on(stream, |handle| {
            // SAFETY: the front checked the tensors. Descriptors and factors outlive the call,
            // which reads them.
            let status = unsafe {
                (library.cudnnAddTensor)(
                    handle,
                    factors.alpha(),
                    a_layout.raw,
                    a.1,
                    factors.beta(),
                    c_layout.raw,
                    c.1,
                )
            };
            library.check(status, "cudnnAddTensor")
        })
    }

    pub(super) fn batch_norm_inference(
        &self,
        stream: &Stream,
        scaling: Scaling,
        operands: BatchNormOperands<'_>,
        [scale, bias, mean, variance]: [u64; 4],
        y: Tensor<'_>,
    ) -> Result<()> {
        let library = self.library;
        let x = operands.x;
        let (x_layout, y_layout) = (tensor(library, x.0)?, tensor(library, y.0)?);
        let parameters = tensor(library, operands.parameters)?;
        let factors = Factors::new(scaling, x.0.dtype);
        self.on(stream, |handle| {
            // SAFETY: the front checked the tensors. Descriptors and factors outlive the call,
            // which reads them.
            let status = unsafe {
                (library.cudnnBatchNormalizationForwardInference)(
                    handle,
                    batch_norm_mode(operands.mode),
                    factors.alpha(),
                    factors.beta(),
                    x_layout.raw,
                    x.1,
                    y_layout.raw,
                    y.1,
                    parameters.raw,
                    scale,
                    bias,
                    mean,
                    variance,
                    operands.epsilon,
                )
            };
            library.check(status, "cudnnBatchNormalizationForwardInference")
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the operation's tensors")]
    pub(super) fn batch_norm_training(
        &self,
        stream: &Stream,
        scaling: Scaling,
        operands: BatchNormOperands<'_>,
        [scale, bias]: [u64; 2],
        running: Option<([u64; 2], f64)>,
        saved: Option<[u64; 2]>,
        y: Tensor<'_>,
    ) -> Result<()> {
        let library = self.library;
        let x = operands.x;
        let (x_layout, y_layout) = (tensor(library, x.0)?, tensor(library, y.0)?);
        let parameters = tensor(library, operands.parameters)?;
        let factors = Factors::new(scaling, x.0.dtype);
        // Null pointers mean that running statistics are not updated.
        let ([running_mean, running_variance], factor) = running.unwrap_or_default();
        let [saved_mean, saved_deviation] = saved.unwrap_or_default();
        self.on(stream, |handle| {
            // SAFETY: the front checked the tensors. Descriptors and factors outlive the call,
            // which reads them.
            let status = unsafe {
                (library.cudnnBatchNormalizationForwardTraining)(
                    handle,
                    batch_norm_mode(operands.mode),
                    factors.alpha(),
                    factors.beta(),
                    x_layout.raw,
                    x.1,
                    y_layout.raw,
                    y.1,
                    parameters.raw,
                    scale,
                    bias,
                    factor,
                    running_mean,
                    running_variance,
                    operands.epsilon,
                    saved_mean,
                    saved_deviation,
                )
            };
            library.check(status, "cudnnBatchNormalizationForwardTraining")
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the operation's tensors")]
    pub(super) fn batch_norm_backward(
        &self,
        stream: &Stream,
        [data, gradient]: [Scaling; 2],
        operands: BatchNormOperands<'_>,
        [dy, dx]: [Tensor<'_>; 2],
        scale: u64,
        [scale_gradient, bias_gradient]: [u64; 2],
        saved: Option<[u64; 2]>,
    ) -> Result<()> {
        let library = self.library;
        let x = operands.x;
        let (x_layout, dy_layout, dx_layout) =
            (tensor(library, x.0)?, tensor(library, dy.0)?, tensor(library, dx.0)?);
        let parameters = tensor(library, operands.parameters)?;
        let (data, gradient) = (Factors::new(data, x.0.dtype), Factors::new(gradient, x.0.dtype));
        let [saved_mean, saved_deviation] = saved.unwrap_or_default();
        self.on(stream, |handle| {
            // SAFETY: the front checked the tensors. Descriptors and factors outlive the call,
            // which reads them.
            let status = unsafe {
                (library.cudnnBatchNormalizationBackward)(
                    handle,
                    batch_norm_mode(operands.mode),
                    data.alpha(),
                    data.beta(),
                    gradient.alpha(),
                    gradient.beta(),
                    x_layout.raw,
                    x.1,
                    dy_layout.raw,
                    dy.1,
                    dx_layout.raw,
                    dx.1,
                    parameters.raw,
                    scale,
                    scale_gradient,
                    bias_gradient,
                    operands.epsilon,
                    saved_mean,
                    saved_deviation,
                )
            };
            library.check(status, "cudnnBatchNormalizationBackward")
        })
    }
}
