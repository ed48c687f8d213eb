//! cuDNN. Convolutions use its graph interface, where bias, residual and activation are part of one
//! kernel ([`convolution`]). The other primitives use the older calls ([`primitives`]).

#![expect(unsafe_code, reason = "calls of cuDNN's C interface")]

mod backend;
mod convolution;
mod descriptors;
mod graph;
mod key;
mod plans;
mod primitives;
mod target;
mod timing;
mod variants;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, LazyLock};

use cudarc::cudnn::sys::{
    self as sys, cudnnActivationDescriptor_t, cudnnBackendDescriptor_t, cudnnHandle_t,
    cudnnPoolingDescriptor_t, cudnnTensorDescriptor_t,
};
use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Dnn, DnnOperation, F32Math, Scaling};
use tfrt_host::DType;

use self::convolution::Kind;
use self::plans::Plans;
use self::target::Target;
use super::context::{GpuContext, Shared};
use super::libraries::{LibrarySpec, library};
use super::stream::Stream;

const SPEC: LibrarySpec = LibrarySpec {
    name: "cuDNN",
    files: &["libcudnn.so.9", "libcudnn.so"],
    companions: &["libcublasLt.so.13", "libcublas.so.13", "libnvrtc-builtins.so.13", "libnvrtc.so.13"],
    missing: Status::DnnNotInitialized,
};

type Factor = *const c_void;

library! {
    /// cuDNN.
    Cudnn, SPEC;
    fn cudnnGetProperty(property: c_int, value: *mut c_int);
    fn cudnnGetLastErrorString(message: *mut c_char, bytes: usize) -> ();
    fn cudnnCreate(handle: *mut cudnnHandle_t);
    fn cudnnDestroy(handle: cudnnHandle_t);
    fn cudnnSetStream(handle: cudnnHandle_t, stream: *mut c_void);
    fn cudnnCreateTensorDescriptor(descriptor: *mut cudnnTensorDescriptor_t);
    fn cudnnSetTensorNdDescriptor(descriptor: cudnnTensorDescriptor_t, dtype: c_int, rank: c_int, extents: *const c_int,
        strides: *const c_int);
    fn cudnnDestroyTensorDescriptor(descriptor: cudnnTensorDescriptor_t);
    fn cudnnCreatePoolingDescriptor(descriptor: *mut cudnnPoolingDescriptor_t);
    fn cudnnSetPoolingNdDescriptor(descriptor: cudnnPoolingDescriptor_t, mode: c_int, nan: c_int, rank: c_int,
        window: *const c_int, padding: *const c_int, strides: *const c_int);
    fn cudnnDestroyPoolingDescriptor(descriptor: cudnnPoolingDescriptor_t);
    fn cudnnCreateActivationDescriptor(descriptor: *mut cudnnActivationDescriptor_t);
    fn cudnnSetActivationDescriptor(descriptor: cudnnActivationDescriptor_t, mode: c_int, nan: c_int, coefficient: f64);
    fn cudnnDestroyActivationDescriptor(descriptor: cudnnActivationDescriptor_t);
    fn cudnnPoolingForward(handle: cudnnHandle_t, pooling: cudnnPoolingDescriptor_t, alpha: Factor,
        x_layout: cudnnTensorDescriptor_t, x: u64, beta: Factor, y_layout: cudnnTensorDescriptor_t, y: u64);
    fn cudnnPoolingBackward(handle: cudnnHandle_t, pooling: cudnnPoolingDescriptor_t, alpha: Factor,
        y_layout: cudnnTensorDescriptor_t, y: u64, dy_layout: cudnnTensorDescriptor_t, dy: u64,
        x_layout: cudnnTensorDescriptor_t, x: u64, beta: Factor, dx_layout: cudnnTensorDescriptor_t, dx: u64);
    fn cudnnActivationForward(handle: cudnnHandle_t, activation: cudnnActivationDescriptor_t, alpha: Factor,
        x_layout: cudnnTensorDescriptor_t, x: u64, beta: Factor, y_layout: cudnnTensorDescriptor_t, y: u64);
    fn cudnnActivationBackward(handle: cudnnHandle_t, activation: cudnnActivationDescriptor_t, alpha: Factor,
        y_layout: cudnnTensorDescriptor_t, y: u64, dy_layout: cudnnTensorDescriptor_t, dy: u64,
        x_layout: cudnnTensorDescriptor_t, x: u64, beta: Factor, dx_layout: cudnnTensorDescriptor_t, dx: u64);
    fn cudnnSoftmaxForward(handle: cudnnHandle_t, algorithm: c_int, mode: c_int, alpha: Factor,
        x_layout: cudnnTensorDescriptor_t, x: u64, beta: Factor, y_layout: cudnnTensorDescriptor_t, y: u64);
    fn cudnnSoftmaxBackward(handle: cudnnHandle_t, algorithm: c_int, mode: c_int, alpha: Factor,
        y_layout: cudnnTensorDescriptor_t, y: u64, dy_layout: cudnnTensorDescriptor_t, dy: u64, beta: Factor,
        dx_layout: cudnnTensorDescriptor_t, dx: u64);
    fn cudnnBatchNormalizationForwardInference(handle: cudnnHandle_t, mode: c_int, alpha: Factor, beta: Factor,
        x_layout: cudnnTensorDescriptor_t, x: u64, y_layout: cudnnTensorDescriptor_t, y: u64,
        parameters: cudnnTensorDescriptor_t, scale: u64, bias: u64, mean: u64, variance: u64, epsilon: f64);
    fn cudnnBatchNormalizationForwardTraining(handle: cudnnHandle_t, mode: c_int, alpha: Factor, beta: Factor,
        x_layout: cudnnTensorDescriptor_t, x: u64, y_layout: cudnnTensorDescriptor_t, y: u64,
        parameters: cudnnTensorDescriptor_t, scale: u64, bias: u64, factor: f64, running_mean: u64,
        running_variance: u64, epsilon: f64, saved_mean: u64, saved_deviation: u64);
    fn cudnnBatchNormalizationBackward(handle: cudnnHandle_t, mode: c_int, data_alpha: Factor, data_beta: Factor,
        parameter_alpha: Factor, parameter_beta: Factor, x_layout: cudnnTensorDescriptor_t, x: u64,
        dy_layout: cudnnTensorDescriptor_t, dy: u64, dx_layout: cudnnTensorDescriptor_t, dx: u64,
        parameters: cudnnTensorDescriptor_t, scale: u64, scale_gradient: u64, bias_gradient: u64, epsilon: f64,
        saved_mean: u64, saved_deviation: u64);
    fn cudnnAddTensor(handle: cudnnHandle_t, alpha: Factor, a_layout: cudnnTensorDescriptor_t, a: u64, beta: Factor,
        c_layout: cudnnTensorDescriptor_t, c: u64);
    fn cudnnBackendCreateDescriptor(kind: c_int, descriptor: *mut cudnnBackendDescriptor_t);
    fn cudnnBackendDestroyDescriptor(descriptor: cudnnBackendDescriptor_t);
    fn cudnnBackendFinalize(descriptor: cudnnBackendDescriptor_t);
    fn cudnnBackendSetAttribute(descriptor: cudnnBackendDescriptor_t, name: c_int, kind: c_int, count: i64,
        values: *const c_void);
    fn cudnnBackendGetAttribute(descriptor: cudnnBackendDescriptor_t, name: c_int, kind: c_int, wanted: i64,
        count: *mut i64, values: *mut c_void);
    fn cudnnBackendExecute(handle: cudnnHandle_t, plan: cudnnBackendDescriptor_t, variant: cudnnBackendDescriptor_t);
}

impl Cudnn {
    /// Converts the status that cuDNN returned from `call`, with its own description.
    fn check(&self, status: c_int, call: &str) -> Result<()> {
        self.check_with(status, || call.to_owned())
    }

    /// Does the same as [`Self::check`] for a name that is only built if the call failed.
    fn check_with(&self, status: c_int, call: impl FnOnce() -> String) -> Result<()> {
        let status = match status {
            0 => return Ok(()),
            1001..=1999 => Status::DnnNotInitialized,
            // CUDNN_STATUS_INTERNAL_ERROR_{HOST,DEVICE}_ALLOCATION_FAILED
            4003 | 4004 => Status::OutOfMemory,
            2000..=2999 => Status::DnnBadParam,
            3000..=3999 => Status::DnnNotSupported,
            _ => Status::DnnExecutionFailed,
        };
        let mut message = [0u8; 512];
        // SAFETY: the buffer has the length that is given.
        unsafe { (self.cudnnGetLastErrorString)(message.as_mut_ptr().cast(), message.len()) };
        let message = CStr::from_bytes_until_nul(&message).unwrap_or_default().to_string_lossy();
        let message = if message.is_empty() { status.message().into() } else { message };
        Err(DeviceError::new(status, format!("{} ({})", message.trim(), call())))
    }

    /// Returns the version, such as `9.19.0`.
    fn version(&self) -> Result<String> {
        let mut parts = [0; 3];
        for (property, part) in parts.iter_mut().enumerate() {
            // SAFETY: the pointer is valid for the call. The properties are numbered major, minor,
            // patch.
            let status = unsafe { (self.cudnnGetProperty)(property as c_int, part) };
            self.check(status, "cudnnGetProperty")?;
        }
        Ok(parts.map(|part| part.to_string()).join("."))
    }
}

/// The library's state.
pub(crate) struct DnnHandle {
    shared: Arc<Shared>,
    library: &'static Cudnn,
    /// Serializes calls, because the stream is set on the handle.
    current: Mutex<Current>,
    plans: Plans,
}

/// A handle, and the stream that was set on it last.
struct Current {
    handle: Handle,
    stream: Option<u64>,
}

struct Handle(cudnnHandle_t);

impl Handle {
    /// Creates a handle. The context must be current.
    fn new(library: &Cudnn) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: a context is current, and the pointer is valid for the call.
        library.check(unsafe { (library.cudnnCreate)(&raw mut raw) }, "cudnnCreate")?;
        Ok(Self(raw))
    }
}

// SAFETY: the handle may be used on any thread, by one thread at a time, which the mutex ensures.
unsafe impl Send for Handle {}

impl Drop for DnnHandle {
    fn drop(&mut self) {
        if self.shared.make_current().is_ok() {
            // Plans refer to the handle that they were found with, so they are destroyed before it.
            let targets = self.plans.clear();
            for handle in targets.iter().filter_map(Target::handle).chain([&self.current.get_mut().handle]) {
                // SAFETY: the handle is alive and this is its only owner.
                let _ = unsafe { (self.library.cudnnDestroy)(handle.0) };
            }
        }
    }
}

impl DnnHandle {
    /// Calls `call` with the handle set to the stream. The context must be current.
    fn on(&self, stream: &Stream, call: impl FnOnce(cudnnHandle_t) -> Result<()>) -> Result<()> {
        let mut current = self.current.lock();
        let handle = current.handle.0;
        // Not by the driver's handle, which a later stream may get again.
        if current.stream != Some(stream.id()) {
            current.stream = None;
            // SAFETY: handle and stream are alive.
            let status = unsafe { (self.library.cudnnSetStream)(handle, stream.raw().cast()) };
            self.library.check(status, "cudnnSetStream")?;
            current.stream = Some(stream.id());
        }
        call(handle)?;
        self.shared.launches.add(stream.raw().addr(), &WHAT);
        Ok(())
    }
}

/// The description of this library's work in errors.
static WHAT: LazyLock<Arc<str>> = LazyLock::new(|| "a call of cuDNN".into());

/// Returns the library's number for an element type.
fn data_type(dtype: DType) -> Result<c_int> {
    use sys::cudnnDataType_t as T;
    let number = match dtype {
        DType::F32 => T::CUDNN_DATA_FLOAT,
        DType::F64 => T::CUDNN_DATA_DOUBLE,
        DType::F16 => T::CUDNN_DATA_HALF,
        DType::BF16 => T::CUDNN_DATA_BFLOAT16,
        DType::I8 => T::CUDNN_DATA_INT8,
        DType::UI8 => T::CUDNN_DATA_UINT8,
        DType::I32 => T::CUDNN_DATA_INT32,
        DType::I64 => T::CUDNN_DATA_INT64,
        other => {
            return Err(DeviceError::new(
                Status::DnnNotSupported,
                format!("cuDNN does not take {other} here"),
            ));
        }
    };
    Ok(number as c_int)
}

impl Dnn for GpuContext {
    fn create_dnn(&self, math: F32Math) -> Result<DnnHandle> {
        self.bound()?;
        let library = Cudnn::get()?;
        let plans = Plans::new(library, &self.shared, math)?;
        let current = Mutex::new(Current { handle: Handle::new(library)?, stream: None });
        Ok(DnnHandle { shared: Arc::clone(&self.shared), library, current, plans })
    }

    fn run_dnn(
        &self,
        dnn: &DnnHandle,
        stream: &Stream,
        operation: DnnOperation<'_>,
        scaling: Scaling,
    ) -> Result<()> {
        use DnnOperation as Op;
        self.bound()?;
        match operation {
            Op::PoolingForward { pooling, x, y } => dnn.pooling_forward(stream, pooling, scaling, x, y),
            Op::PoolingBackward { pooling, y, dy, x, dx } => {
                dnn.pooling_backward(stream, pooling, scaling, [y, dy, x, dx])
            }
            Op::ConvolutionForward { convolution, operands, epilogue } => {
                dnn.convolve_with_epilogue(stream, convolution, scaling, operands, epilogue)
            }
            Op::ConvolutionBackwardData { convolution, operands } => {
                dnn.convolve(stream, Kind::BackwardData, convolution, scaling, operands)
            }
            Op::ConvolutionBackwardFilter { convolution, operands } => {
                dnn.convolve(stream, Kind::BackwardFilter, convolution, scaling, operands)
            }
            Op::BatchNormInference { operands, parameters, y } => {
                dnn.batch_norm_inference(stream, scaling, operands, parameters, y)
            }
            Op::BatchNormTraining { operands, parameters, running, saved, y } => {
                dnn.batch_norm_training(stream, scaling, operands, parameters, running, saved, y)
            }
            Op::BatchNormBackward { operands, dy, dx, scale, gradients, gradient_scaling, saved } => {
                let scaling = [scaling, gradient_scaling];
                dnn.batch_norm_backward(stream, scaling, operands, [dy, dx], scale, gradients, saved)
            }
            Op::SoftmaxForward { mode, x, y } => dnn.softmax_forward(stream, mode, scaling, x, y),
            Op::SoftmaxBackward { mode, y, dy, dx } => {
                dnn.softmax_backward(stream, mode, scaling, [y, dy, dx])
            }
            Op::ActivationForward { activation, x, y } => {
                dnn.activation_forward(stream, activation, scaling, x, y)
            }
            Op::ActivationBackward { activation, y, dy, x, dx } => {
                dnn.activation_backward(stream, activation, scaling, [y, dy, x, dx])
            }
            Op::AddTensor { a, c } => dnn.add_tensor(stream, scaling, a, c),
        }
    }
}
