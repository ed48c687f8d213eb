//! [`DeviceTensor`]: a tensor in device memory, and its ways to and from the host and other devices.

use std::sync::{Arc, mpsc};

use tfrt_device::{
    DenseGpuTensor,
    front::{DeviceBuffer, Transferred},
};
use tfrt_host::{
    AsyncValue, AsyncValueRef, DType, Diagnostic, ExecutionContext, Promise, value_type, work_queue::Task,
};
use tfrt_tensor::{DenseHostTensor, HostTensor, TensorMetadata, TensorShape};

use super::{DeviceOpError, DeviceOpResult, DeviceQueue};

/// A dense tensor in device memory, and the queue whose work computes it. Cheap to clone; clones
/// share the elements.
#[derive(Clone, Debug)]
pub struct DeviceTensor {
    tensor: DenseGpuTensor,
    queue: Arc<DeviceQueue>,
}

value_type!(DeviceTensor, "!corert.devicetensor");

impl DeviceTensor {
    /// Creates a tensor that work on `queue` computes.
    pub fn new(tensor: DenseGpuTensor, queue: Arc<DeviceQueue>) -> Self {
        Self { tensor, queue }
    }

    /// Returns a tensor whose elements are still to be computed.
    pub(super) fn allocate(
        metadata: &TensorMetadata,
        queue: &Arc<DeviceQueue>,
        may_block: bool,
    ) -> DeviceOpResult<Self> {
        let tensor = DenseGpuTensor::allocate(metadata, |bytes| queue.allocate(bytes, may_block))?;
        Ok(Self::new(tensor, queue.clone()))
    }

    /// Returns the tensor as device kernels know it.
    pub fn dense(&self) -> &DenseGpuTensor {
        &self.tensor
    }

    /// Returns its memory.
    pub fn buffer(&self) -> &DeviceBuffer {
        self.tensor.buffer()
    }

    /// Returns its shape.
    pub fn shape(&self) -> &TensorShape {
        self.tensor.shape()
    }

    /// Type of its elements.
    pub fn dtype(&self) -> DType {
        self.tensor.dtype()
    }

    /// Shape and type.
    pub fn metadata(&self) -> &TensorMetadata {
        self.tensor.metadata()
    }

    /// Returns the queue whose work computes it.
    pub fn queue(&self) -> &Arc<DeviceQueue> {
        &self.queue
    }

    /// Returns the same elements under another shape.
    ///
    /// # Errors
    /// InvalidArgument if the numbers of elements differ.
    pub fn reshape(&self, shape: &TensorShape) -> Result<Self, Diagnostic> {
        Ok(Self::new(self.tensor.reshape(shape)?, self.queue.clone()))
    }

    /// Returns the same memory as elements of another type, as many bytes in all.
    ///
    /// # Errors
    /// InvalidArgument if these are other numbers of bytes.
    pub fn reinterpret(&self, metadata: &TensorMetadata) -> Result<Self, Diagnostic> {
        Ok(Self::new(self.tensor.reinterpret(metadata.dtype, &metadata.shape)?, self.queue.clone()))
    }

    /// Queues a copy to the host. The tensor comes when the copy is done.
    ///
    /// # Errors
    /// OutOfMemory, or the device's.
    pub fn to_host(&self, cx: &ExecutionContext) -> Result<AsyncValueRef<HostTensor>, Diagnostic> {
        let copy = DenseHostTensor::allocate(self.metadata().clone(), cx.host().allocator())?;
        let bytes = copy.size_bytes() as u64;
        let transfer = self.queue.stream().copy_to_host(copy.buffer(), 0, self.buffer(), 0, bytes)?;
        let copy = HostTensor::from(copy);
        let Transferred::Later(register) = transfer else { return Ok(AsyncValueRef::available(copy)) };
        let (promise, tensor) = Promise::new();
        let (caller, work) = (cx.clone(), cx.host().external_work());
        register(Box::new(move |outcome| {
            // What waits for the tensor runs on the work queue, not on the thread that tells.
            let host = caller.host().clone();
            host.add_task(Task::new(move || {
                caller.settle(promise, outcome.map(|()| copy).map_err(Diagnostic::from));
            }));
            drop(work);
        }))?;
        Ok(tensor)
    }

    /// Queues a copy of a host tensor to a device.
    ///
    /// # Errors
    /// OutOfMemory, or the device's; InvalidArgument for strings.
    pub fn transfer_from(
        tensor: &HostTensor,
        queue: &Arc<DeviceQueue>,
        cx: &ExecutionContext,
    ) -> Result<AsyncValue, Diagnostic> {
        super::call::bring(AsyncValue::new(tensor.clone()), queue, cx)
    }

    /// Returns the tensor for work on another queue: itself if it may be used there, a copy if it
    /// is on another device.
    ///
    /// # Errors
    /// OutOfMemory, or the device's.
    pub fn transfer_to(
        &self,
        queue: &Arc<DeviceQueue>,
        cx: &ExecutionContext,
    ) -> Result<AsyncValue, Diagnostic> {
        super::call::bring(AsyncValue::new(self.clone()), queue, cx)
    }

    /// Queues a copy from the host.
    pub(super) fn from_host(
        tensor: &DenseHostTensor,
        queue: &Arc<DeviceQueue>,
        may_block: bool,
    ) -> DeviceOpResult<Self> {
        let copy = Self::allocate(tensor.metadata(), queue, may_block)?;
        let bytes = tensor.size_bytes() as u64;
        // The copy holds the source for as long as it needs it.
        queue.stream().copy_from_host(copy.buffer(), 0, tensor.buffer(), 0, bytes)?;
        Ok(copy)
    }

    /// Returns the tensor for work on `queue`: itself if it may be used there, a copy if it is on
    /// another device.
    pub(super) fn on_queue(
        &self,
        queue: &Arc<DeviceQueue>,
        cx: &ExecutionContext,
        may_block: bool,
    ) -> DeviceOpResult<Self> {
        if Arc::ptr_eq(&self.queue, queue) {
            return Ok(self.clone());
        }
        if self.queue.context().id() == queue.context().id() {
            queue.follow(&self.queue)?;
            return Ok(self.clone());
        }
        let (from, to) = (self.queue.context().device(), queue.context().device());
        if from.ordinal() != to.ordinal() && !from.can_access_peer(to)? {
            return if may_block { self.by_host(queue, cx) } else { Err(DeviceOpError::Later) };
        }
        let copy = Self::allocate(self.metadata(), queue, may_block)?;
        queue.follow(&self.queue)?;
        queue.stream().copy((copy.buffer(), 0), (self.buffer(), 0), self.buffer().len(), true)?;
        Ok(copy)
    }

    /// Returns a copy on another device, by way of the host, for which this thread waits: where one
    /// device cannot reach the other's memory, its streams may know nothing of the other's either.
    fn by_host(&self, queue: &Arc<DeviceQueue>, cx: &ExecutionContext) -> DeviceOpResult<Self> {
        let copy = DenseHostTensor::allocate(self.metadata().clone(), cx.host().allocator())?;
        let bytes = copy.size_bytes() as u64;
        let transfer = self.queue.stream().copy_to_host(copy.buffer(), 0, self.buffer(), 0, bytes)?;
        if let Transferred::Later(register) = transfer {
            let (tell, told) = mpsc::channel();
            register(Box::new(move |outcome| drop(tell.send(outcome))))?;
            let lost = |_| Diagnostic::internal("nobody told of a copy's end");
            told.recv().map_err(lost)?.map_err(Diagnostic::from)?;
        }
        Self::from_host(&copy, queue, true)
    }
}
