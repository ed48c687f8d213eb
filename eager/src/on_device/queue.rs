//! [`DeviceQueue`]: one stream of a device, and the libraries and memory that ops use on it.

use std::{fmt, sync::OnceLock};

use tfrt_device::{
    allocator::Options,
    error::Result,
    front::{BlasHandle, Context, Device, DeviceAllocator, DeviceBuffer, DnnHandle, Stream},
    hal::{EventOptions, F32Math, StreamOptions},
};
use tfrt_launch::DeviceKernels;

use super::{DeviceOpError, DeviceOpResult};

/// A stream of a device for ops, with their memory and libraries.
pub struct DeviceQueue {
    stream: Stream,
    allocator: DeviceAllocator,
    kernels: DeviceKernels,
    math: F32Math,
    blas: OnceLock<BlasHandle>,
    dnn: OnceLock<DnnHandle>,
}

impl DeviceQueue {
    /// Creates a queue on a new stream, in the device's shared context.
    ///
    /// # Errors
    /// Any error of the device.
    pub fn new(device: &Device) -> Result<Self> {
        let context = device.primary_context()?;
        let stream = context.create_stream(StreamOptions::default())?;
        Ok(Self::on_stream(stream))
    }

    /// Creates a queue on the caller's stream, which may also be used for other work.
    pub fn on_stream(stream: Stream) -> Self {
        Self::on_stream_with(stream, F32Math::default())
    }

    /// Creates a queue on the caller's stream, whose libraries compute f32 in this way.
    pub fn on_stream_with(stream: Stream, math: F32Math) -> Self {
        let context = stream.context();
        let (allocator, kernels) =
            (context.create_allocator(Options::default()), DeviceKernels::new(context));
        Self { allocator, kernels, math, blas: OnceLock::new(), dnn: OnceLock::new(), stream }
    }

    /// Returns the stream's context.
    pub fn context(&self) -> &Context {
        self.stream.context()
    }

    /// Returns the stream.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Returns our CUDA kernels.
    pub fn kernels(&self) -> &DeviceKernels {
        &self.kernels
    }

    /// Returns the device's BLAS library on this stream, started at the first call.
    ///
    /// # Errors
    /// `BlasNotInitialized` with what was searched for.
    pub fn blas(&self) -> Result<&BlasHandle> {
        if let Some(blas) = self.blas.get() {
            return Ok(blas);
        }
        let blas = self.context().create_blas_with(self.math)?;
        blas.set_stream(&self.stream)?;
        Ok(self.blas.get_or_init(|| blas))
    }

    /// Returns the device's DNN library on this stream, started at the first call.
    ///
    /// # Errors
    /// `DnnNotInitialized` with what was searched for.
    pub fn dnn(&self) -> Result<&DnnHandle> {
        if let Some(dnn) = self.dnn.get() {
            return Ok(dnn);
        }
        let dnn = self.context().create_dnn_with(self.math)?;
        dnn.set_stream(&self.stream)?;
        Ok(self.dnn.get_or_init(|| dnn))
    }

    /// Orders work that is queued from now on after everything that is queued on `other`.
    ///
    /// # Errors
    /// Any error of the device; `InvalidContext` for a queue of another backend.
    pub fn follow(&self, other: &Self) -> Result<()> {
        let event = other.context().create_event(EventOptions::default())?;
        event.record(&other.stream)?;
        self.stream.wait(&event)
    }

    /// Allocates memory for work on this stream. Waits for work in flight only if the caller may
    /// block.
    pub(super) fn allocate(&self, bytes: u64, may_block: bool) -> DeviceOpResult<DeviceBuffer> {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        if may_block {
            return Ok(self.allocator.allocate(&self.stream, bytes, LABEL)?);
        }
        self.allocator.try_allocate(&self.stream, bytes, LABEL)?.ok_or(DeviceOpError::Later)
    }
}

/// The requester's name in the allocator's reports.
const LABEL: &str = "a tensor of an op";

impl fmt::Debug for DeviceQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceQueue").field("stream", &self.stream).finish_non_exhaustive()
    }
}
