//! Pooling, softmax, batch normalization, activations and sums, by cuDNN's older calls.

#![expect(unsafe_code, reason = "calls of cuDNN's C interface")]

use std::ffi::{c_int, c_void};

use cudarc::cudnn::sys::{self as sys};
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{
    Activation, ActivationMode, BatchNormMode, BatchNormOperands, NanPropagation, Pooling, PoolingMode,
    Scaling, SoftmaxMode, Tensor, TensorLayout,
};
use tfrt_host::DType;

use super::{Cudnn, DnnHandle, data_type};
use crate::stream::Stream;

/// A descriptor, and the function that destroys it.
struct Descriptor<T> {
    raw: *mut T,
    destroy: unsafe extern "C" fn(*mut T) -> c_int,
}

impl<T> Descriptor<T> {
    fn new(
        library: &Cudnn,
        create: unsafe extern "C" fn(*mut *mut T) -> c_int,
        destroy: unsafe extern "C" fn(*mut T) -> c_int,
    ) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer is valid for the call.
        library.check(unsafe { create(&raw mut raw) }, "creating a descriptor")?;
        Ok(Self { raw, destroy })
    }
}

impl<T> Drop for Descriptor<T> {
    fn drop(&mut self) {
        // SAFETY: the descriptor is alive, this is its only owner, and the function is the one for
        // its type.
        let _ = unsafe { (self.destroy)(self.raw) };
    }
}

type TensorDescriptor = Descriptor<sys::cudnnTensorStruct>;
type PoolingDescriptor = Descriptor<sys::cudnnPoolingStruct>;
type ActivationDescriptor = Descriptor<sys::cudnnActivationStruct>;

/// The smallest rank that these calls accept.
const MIN_RANK: usize = 4;

fn ints(values: &[u64]) -> Result<Vec<c_int>> {
    let int = |&value| c_int::try_from(value);
    values
        .iter()
        .map(int)
        .collect::<Result<_, _>>()
        .map_err(|_| DeviceError::new(Status::DnnBadParam, "an extent or stride does not fit 32 bits"))
}

/// Creates a tensor descriptor. Missing dimensions get an extent of one.
fn tensor(library: &Cudnn, layout: &TensorLayout) -> Result<TensorDescriptor> {
    let (mut extents, mut strides) = (ints(&layout.dims)?, ints(&layout.strides)?);
    extents.resize(extents.len().max(MIN_RANK), 1);
    strides.resize(extents.len(), 1);
    let descriptor =
        Descriptor::new(library, library.cudnnCreateTensorDescriptor, library.cudnnDestroyTensorDescriptor)?;
    // SAFETY: the descriptor is alive, and the count is that of both arrays.
    let status = unsafe {
        (library.cudnnSetTensorNdDescriptor)(
            descriptor.raw,
            data_type(layout.dtype)?,
            extents.len() as c_int,
            extents.as_ptr(),
            strides.as_ptr(),
        )
    };
    library.check(status, "cudnnSetTensorNdDescriptor")?;
    Ok(descriptor)
}

fn nan(propagation: NanPropagation) -> c_int {
    match propagation {
        NanPropagation::NotPropagate => sys::cudnnNanPropagation_t::CUDNN_NOT_PROPAGATE_NAN as c_int,
        NanPropagation::Propagate => sys::cudnnNanPropagation_t::CUDNN_PROPAGATE_NAN as c_int,
    }
}

fn pooling_descriptor(library: &Cudnn, pooling: &Pooling) -> Result<PoolingDescriptor> {
    use sys::cudnnPoolingMode_t as Mode;
    let mode = match pooling.mode {
        PoolingMode::Max => Mode::CUDNN_POOLING_MAX,
        PoolingMode::AverageIncludePadding => Mode::CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
        PoolingMode::AverageExcludePadding => Mode::CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
        PoolingMode::MaxDeterministic => Mode::CUDNN_POOLING_MAX_DETERMINISTIC,
    };
    let (mut window, mut padding, mut strides) =
        (ints(&pooling.window)?, ints(&pooling.padding)?, ints(&pooling.strides)?);
    // The number of dimensions of tensors besides N and C.
    let rank = window.len().max(MIN_RANK - 2);
    window.resize(rank, 1);
    padding.resize(rank, 0);
    strides.resize(rank, 1);
    let descriptor = Descriptor::new(
        library,
        library.cudnnCreatePoolingDescriptor,
        library.cudnnDestroyPoolingDescriptor,
    )?;
    // SAFETY: the descriptor is alive, and the front checked that the arrays have the same length.
    let status = unsafe {
        (library.cudnnSetPoolingNdDescriptor)(
            descriptor.raw,
            mode as c_int,
            nan(pooling.nan),
            window.len() as c_int,
            window.as_ptr(),
            padding.as_ptr(),
            strides.as_ptr(),
        )
    };
    library.check(status, "cudnnSetPoolingNdDescriptor")?;
    Ok(descriptor)
}

/// Creates the descriptor of an activation, or `None` for the identity, which these calls do not
/// support.
fn activation_descriptor(library: &Cudnn, activation: Activation) -> Result<Option<ActivationDescriptor>> {
    use sys::cudnnActivationMode_t as Mode;
    let mode = match activation.mode {
        ActivationMode::Sigmoid => Mode::CUDNN_ACTIVATION_SIGMOID,
        ActivationMode::Relu => Mode::CUDNN_ACTIVATION_RELU,
        ActivationMode::Tanh => Mode::CUDNN_ACTIVATION_TANH,
        ActivationMode::ClippedRelu => Mode::CUDNN_ACTIVATION_CLIPPED_RELU,
        ActivationMode::Elu => Mode::CUDNN_ACTIVATION_ELU,
        ActivationMode::Identity => return Ok(None),
    };
    let descriptor = Descriptor::new(
        library,
        library.cudnnCreateActivationDescriptor,
        library.cudnnDestroyActivationDescriptor,
    )?;
    // SAFETY: the descriptor is alive.
    let status = unsafe {
        (library.cudnnSetActivationDescriptor)(
            descriptor.raw,
            mode as c_int,
            nan(activation.nan),
            activation.coefficient,
        )
    };
    library.check(status, "cudnnSetActivationDescriptor")?;
    Ok(Some(descriptor))
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dnn::SPEC;
    use crate::libraries::is_installed;

    /// Where cuDNN is installed, its shape of a pooling's result is the same as ours, including
    /// poolings along one direction.
    #[test]
    fn poolings_go_with_their_tensors() {
        type OutputDim = unsafe extern "C" fn(
            sys::cudnnPoolingDescriptor_t,
            sys::cudnnTensorDescriptor_t,
            c_int,
            *mut c_int,
        ) -> c_int;
        let found = Cudnn::get();
        let Some(library) = found.as_ref().ok().filter(|_| is_installed(&found, &SPEC)) else { return };
        // SAFETY: the signature is that of the header.
        let output_dim: OutputDim =
            unsafe { library._library.function("cudnnGetPoolingNdForwardOutputDim") }.unwrap();
        for rank in 1..=3 {
            let pooling = Pooling {
                mode: PoolingMode::Max,
                nan: NanPropagation::Propagate,
                window: vec![3; rank],
                padding: vec![1; rank],
                strides: vec![2; rank],
            };
            let dims: Vec<_> = [2, 5].into_iter().chain(vec![9; rank]).collect();
            let strides: Vec<_> = (0..dims.len()).map(|i| dims[i + 1..].iter().product()).collect();
            let x = TensorLayout { dtype: DType::F32, dims, strides };
            let (pooling, x) = (pooling_descriptor(library, &pooling).unwrap(), tensor(library, &x).unwrap());
            let mut result = vec![0; (rank + 2).max(MIN_RANK)];
            // SAFETY: both descriptors are alive, and there is room for the requested number of
            // extents.
            let status =
                unsafe { output_dim(pooling.raw, x.raw, result.len() as c_int, result.as_mut_ptr()) };
            library.check(status, "cudnnGetPoolingNdForwardOutputDim").unwrap();
            assert_eq!(result[..rank + 2], [&[2, 5][..], &vec![5; rank]].concat());
        }
    }
}
