//! [`DeviceCall`]: a call of an op's implementation on a device.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};
use tfrt_device::{DenseGpuTensor, error::DeviceError, front::DeviceBuffer, origin};
use tfrt_host::{AsyncValue, Diagnostic, ExecutionContext, IndirectPromise, Promise, work_queue::Task};
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor, TensorMetadata};

use super::{DeviceQueue, DeviceTensor, PlannedMemory, trial::Requests};
use crate::{
    OpAttrs, OpResult,
    dispatch::{given_up, keep},
    registry::{given_up_at, is_given_up, wrong_count},
    tensor_handle::host_tensor,
};

static UPLOAD: Accessor = Accessor::new("copy to a device");

/// Computes an op's results on a device: checks its arguments, requests memory, queues the work and
/// returns. It may be called again for the same results if memory was not available, so it must not
/// change anything but its results.
pub type DeviceFn = fn(&DeviceCall<'_>) -> DeviceOpResult<OpResult>;

/// The arguments of an op that stay in host memory when it runs on a device: those that control the
/// computation, such as axes and paddings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostArguments {
    bits: u32,
    /// Whether programs with planned memory may have them in device memory.
    or_planned: bool,
}

impl HostArguments {
    /// All arguments: the op accepts tensors in any location.
    pub const ANY: Self = Self { bits: u32::MAX, or_planned: false };

    /// The last argument.
    pub const LAST: Self = Self { bits: 1 << 31, or_planned: false };

    /// Returns the arguments at these positions, each below 31.
    pub const fn at(positions: &[u32]) -> Self {
        let (mut bits, mut index) = (0, 0);
        while index < positions.len() {
            bits |= 1 << positions[index];
            index += 1;
        }
        Self { bits, or_planned: false }
    }

    /// Returns the same arguments for an op that also takes them from device memory. In programs
    /// with planned memory, no host looks at what a device computes, so that only constants are on
    /// the host there.
    pub const fn or_planned_on_device(self) -> Self {
        Self { or_planned: true, ..self }
    }

    /// Returns whether programs with planned memory may have them in device memory.
    pub(crate) fn may_be_planned(self) -> bool {
        self.or_planned
    }

    /// Returns whether an argument must be in host memory. It never must for ops that accept any
    /// location.
    pub(crate) fn must_be_on_host(self, index: usize, count: usize) -> bool {
        self != Self::ANY && self.stays(index, count)
    }

    fn stays(self, index: usize, count: usize) -> bool {
        self == Self::ANY
            || (self == Self::LAST && index + 1 == count)
            || (index < 31 && self.bits >> index & 1 == 1)
    }
}

/// The reason why an op did not queue its work.
#[derive(Debug)]
pub enum DeviceOpError {
    /// The op failed.
    Failed(Diagnostic),
    /// Memory, or an argument that passes through the host, is only available after work in flight,
    /// and this thread may not wait.
    Later,
}

impl From<Diagnostic> for DeviceOpError {
    fn from(error: Diagnostic) -> Self {
        Self::Failed(error)
    }
}

impl From<DeviceError> for DeviceOpError {
    fn from(error: DeviceError) -> Self {
        Self::Failed(error.into())
    }
}

/// The result of a step of a device implementation.
pub type DeviceOpResult<T> = Result<T, DeviceOpError>;

/// An argument of a device implementation.
#[derive(Clone, Copy, Debug)]
pub enum DeviceArgument<'a> {
    /// In memory of the queue's device, ready for work on its stream.
    Device(&'a DeviceTensor),
    /// In host memory.
    Host(&'a HostTensor),
}

impl<'a> DeviceArgument<'a> {
    /// Returns an available tensor in any location, or `None`.
    pub(crate) fn available(value: &'a AsyncValue) -> Option<Self> {
        match value.get::<DeviceTensor>() {
            Some(tensor) => Some(Self::Device(tensor)),
            None => value.get::<HostTensor>().map(Self::Host),
        }
    }

    /// Returns an available tensor in any location.
    pub(crate) fn of(value: &'a AsyncValue) -> Result<Self, Diagnostic> {
        match Self::available(value) {
            Some(argument) => Ok(argument),
            None => Ok(Self::Host(host_tensor(value)?)),
        }
    }

    /// Returns the data type and shape.
    pub(crate) fn metadata(&self) -> &'a TensorMetadata {
        match self {
            Self::Device(tensor) => tensor.metadata(),
            Self::Host(tensor) => tensor.metadata(),
        }
    }
}

/// A call of an op's implementation on a device. Every argument is in the location that the op
/// needs.
pub struct DeviceCall<'a> {
    /// The caller and its origin.
    pub cx: &'a ExecutionContext,
    /// The queue for the op's work.
    pub queue: &'a Arc<DeviceQueue>,
    /// The arguments. The memory of some may be reused, see [`reuse`](Self::reuse).
    pub arguments: &'a [DeviceArgument<'a>],
    /// The attributes.
    pub attrs: &'a OpAttrs,
    /// The results' metadata from the metadata function; empty for an op without one.
    pub results: &'a [TensorMetadata],
    /// A bit for each of the first 64 arguments whose elements have no other user.
    given_up: u64,
    memory: CallMemory<'a>,
}

/// Where a call takes memory from.
#[derive(Clone, Copy)]
pub(crate) enum CallMemory<'a> {
    /// From the queue's allocator. The flag says whether the call may wait for memory.
    Allocator { may_block: bool },
    /// From memory that was planned.
    Planned(&'a PlannedMemory<'a>),
    /// From the queue's allocator, and each request is noted.
    Trial(&'a Requests),
}

impl CallMemory<'_> {
    fn may_block(self) -> bool {
        matches!(self, Self::Allocator { may_block: true } | Self::Trial(_))
    }
}

impl<'a> DeviceCall<'a> {
    /// Makes a call whose results and scratch memory lie where `memory` says.
    pub(crate) fn planned(
        cx: &'a ExecutionContext,
        queue: &'a Arc<DeviceQueue>,
        arguments: &'a [DeviceArgument<'a>],
        (attrs, results): (&'a OpAttrs, &'a [TensorMetadata]),
        memory: CallMemory<'a>,
    ) -> Self {
        Self { cx, queue, arguments, attrs, results, given_up: 0, memory }
    }
}

impl DeviceCall<'_> {
    /// Returns the arguments, which must be `N` tensors in device memory. `N` is at least one.
    ///
    /// # Errors
    /// InvalidArgument if there are more or fewer, or one is not in device memory.
    pub fn tensors<const N: usize>(&self) -> Result<[&DeviceTensor; N], Diagnostic> {
        if self.arguments.len() != N {
            return Err(wrong_count(N, self.arguments.len()));
        }
        let mut tensors = [self.tensor(0)?; N];
        for (index, tensor) in tensors.iter_mut().enumerate() {
            *tensor = self.tensor(index)?;
        }
        Ok(tensors)
    }

    /// Returns an argument in device memory.
    ///
    /// # Errors
    /// InvalidArgument if it does not exist or is not in device memory.
    pub fn tensor(&self, index: usize) -> Result<&DeviceTensor, Diagnostic> {
        match self.arguments.get(index) {
            Some(DeviceArgument::Device(tensor)) => Ok(tensor),
            Some(DeviceArgument::Host(_)) => {
                Err(Diagnostic::invalid_argument(format!("argument {index} is not in device memory")))
            }
            None => Err(wrong_count(index + 1, self.arguments.len())),
        }
    }

    /// Returns an argument in host memory.
    ///
    /// # Errors
    /// InvalidArgument if it does not exist or is not in host memory.
    pub fn host(&self, index: usize) -> Result<&HostTensor, Diagnostic> {
        match self.arguments.get(index) {
            Some(DeviceArgument::Host(tensor)) => Ok(tensor),
            Some(DeviceArgument::Device(_)) => {
                Err(Diagnostic::invalid_argument(format!("argument {index} is not in host memory")))
            }
            None => Err(wrong_count(index + 1, self.arguments.len())),
        }
    }

    /// Returns the metadata of a result.
    ///
    /// # Errors
    /// Internal for an op without a metadata function.
    pub fn result(&self, index: usize) -> Result<&TensorMetadata, Diagnostic> {
        self.results.get(index).ok_or_else(|| Diagnostic::internal("the op has no metadata function"))
    }

    /// Allocates a tensor for a result, with uninitialized elements.
    ///
    /// # Errors
    /// OutOfMemory.
    pub fn allocate(&self, index: usize) -> DeviceOpResult<DeviceTensor> {
        self.allocate_as(self.result(index)?)
    }

    /// Allocates a tensor with the given metadata.
    ///
    /// # Errors
    /// OutOfMemory.
    pub fn allocate_as(&self, metadata: &TensorMetadata) -> DeviceOpResult<DeviceTensor> {
        let tensor = DenseGpuTensor::allocate(metadata, |bytes| self.scratch(bytes))?;
        Ok(DeviceTensor::new(tensor, self.queue.clone()))
    }

    /// Allocates memory that the work queued by this call uses.
    ///
    /// # Errors
    /// OutOfMemory.
    pub fn scratch(&self, bytes: u64) -> DeviceOpResult<DeviceBuffer> {
        let CallMemory::Planned(planned) = self.memory else {
            let buffer = self.queue.allocate(bytes, self.memory.may_block())?;
            if let CallMemory::Trial(requests) = self.memory {
                requests.note(&buffer, false);
            }
            return Ok(buffer);
        };
        Ok(planned.take(bytes)?)
    }

    /// Returns a copy of a host tensor in device memory.
    ///
    /// # Errors
    /// OutOfMemory; InvalidArgument for strings.
    pub fn upload(&self, tensor: &HostTensor) -> DeviceOpResult<DeviceTensor> {
        let CallMemory::Planned(planned) = self.memory else {
            let copy = upload(tensor, self.queue, self.cx, self.memory.may_block())?;
            if let CallMemory::Trial(requests) = self.memory {
                requests.note(copy.buffer(), true);
            }
            return Ok(copy);
        };
        let dense = dense(tensor, self.cx)?;
        let buffer = planned.take(dense.size_bytes() as u64)?;
        if planned.copies {
            self.queue.stream().copy_from_host(&buffer, 0, dense.buffer(), 0, buffer.len())?;
        }
        let copy = DenseGpuTensor::on_buffer(dense.metadata(), buffer)?;
        Ok(DeviceTensor::new(copy, self.queue.clone()))
    }

    /// Returns a tensor for work on the queue: the tensor itself if it may be used there, else a
    /// copy.
    ///
    /// # Errors
    /// OutOfMemory, or any error of the device.
    pub fn here(&self, tensor: &DeviceTensor) -> DeviceOpResult<DeviceTensor> {
        tensor.on_queue(self.queue, self.cx, self.memory.may_block())
    }

    /// Returns a copy of a tensor in new memory.
    ///
    /// # Errors
    /// OutOfMemory, or any error of the device.
    pub fn copy(&self, tensor: &DeviceTensor) -> DeviceOpResult<DeviceTensor> {
        let tensor = self.here(tensor)?;
        let copy = self.allocate_as(tensor.metadata())?;
        let bytes = copy.metadata().size_bytes()? as u64;
        self.queue.stream().copy((copy.buffer(), 0), (tensor.buffer(), 0), bytes, true)?;
        Ok(copy)
    }

    /// Returns the memory of one of these arguments for a result, if it has no other user and the
    /// right size, else new memory. The op may then read the argument and write the result element
    /// by element.
    ///
    /// # Errors
    /// OutOfMemory.
    pub fn reuse(&self, arguments: &[usize], result: usize) -> DeviceOpResult<DeviceTensor> {
        let metadata = self.result(result)?;
        for &argument in arguments {
            let tensor = self.tensor(argument)?;
            if let CallMemory::Trial(requests) = self.memory {
                if tensor.metadata() == metadata {
                    requests.note_in_place(result, argument);
                }
                continue;
            }
            if is_given_up(self.given_up, argument)
                && tensor.buffer().is_exclusive()
                && Arc::ptr_eq(tensor.queue(), self.queue)
                && tensor.dtype() == metadata.dtype
                && tensor.dense().elements() == metadata.shape.num_elements()?
            {
                return Ok(tensor.reshape(&metadata.shape)?);
            }
        }
        self.allocate(result)
    }
}

fn upload(
    tensor: &HostTensor,
    queue: &Arc<DeviceQueue>,
    cx: &ExecutionContext,
    may_block: bool,
) -> DeviceOpResult<DeviceTensor> {
    DeviceTensor::from_host(&dense(tensor, cx)?, queue, may_block)
}

fn dense(tensor: &HostTensor, cx: &ExecutionContext) -> Result<DenseHostTensor, Diagnostic> {
    if matches!(tensor, HostTensor::String(_)) {
        return Err(Diagnostic::invalid_argument("strings cannot be in device memory"));
    }
    tensor.to_dense(&UPLOAD, cx.host().allocator())
}

impl From<DeviceTensor> for OpResult {
    fn from(tensor: DeviceTensor) -> Self {
        Self { tensors: smallvec![AsyncValue::new(tensor)], done: None }
    }
}

/// The implementation of an op on devices, and the arguments that stay on the host.
pub(crate) type Implementation = (DeviceFn, HostArguments);

/// Copies the arguments to the device, unless they are there, and queues the op's work.
fn attempt(
    (function, host_arguments): Implementation,
    queue: &Arc<DeviceQueue>,
    cx: &ExecutionContext,
    (arguments, mut given_up): (&[DeviceArgument<'_>], u64),
    (attrs, results): (&OpAttrs, &[TensorMetadata]),
    may_block: bool,
) -> DeviceOpResult<OpResult> {
    let _entered = origin::enter(cx);
    let mut brought = SmallVec::<[_; 2]>::new();
    for (index, argument) in arguments.iter().enumerate() {
        if host_arguments.stays(index, arguments.len()) {
            continue;
        }
        brought.push(match *argument {
            DeviceArgument::Host(tensor) => (index, upload(tensor, queue, cx, may_block)?),
            DeviceArgument::Device(tensor) if Arc::ptr_eq(tensor.queue(), queue) => continue,
            DeviceArgument::Device(tensor) => (index, tensor.on_queue(queue, cx, may_block)?),
        });
        given_up |= given_up_at(index, true);
    }
    let memory = CallMemory::Allocator { may_block };
    let call = DeviceCall { cx, queue, arguments, attrs, results, given_up, memory };
    if brought.is_empty() {
        return function(&call);
    }
    let mut here = SmallVec::<[_; 4]>::from_slice(arguments);
    for (index, tensor) in &brought {
        here[*index] = DeviceArgument::Device(tensor);
    }
    function(&DeviceCall { arguments: &here, ..call })
}

/// Runs an op on a device. If it must wait for memory or arguments, it runs later on a thread that
/// may block. The bits say which arguments belong to this call alone; `values` are the arguments
/// again, to be kept alive.
pub(crate) fn run<'v>(
    (implementation, queue): (Implementation, &Arc<DeviceQueue>),
    cx: &ExecutionContext,
    arguments: (&[DeviceArgument<'_>], u64),
    values: impl Iterator<Item = &'v AsyncValue>,
    (attrs, results, result_count): (&OpAttrs, &[TensorMetadata], usize),
) -> Result<OpResult, Diagnostic> {
    match attempt(implementation, queue, cx, arguments, (attrs, results), false) {
        Ok(result) => Ok(result),
        Err(DeviceOpError::Failed(error)) => Err(error),
        Err(DeviceOpError::Later) => {
            let values = values.cloned().collect();
            Ok(run_later(implementation, queue, cx, values, (attrs, results), result_count))
        }
    }
}

#[cold]
fn run_later(
    implementation: Implementation,
    queue: &Arc<DeviceQueue>,
    cx: &ExecutionContext,
    values: SmallVec<[AsyncValue; 4]>,
    (attrs, results): (&OpAttrs, &[TensorMetadata]),
    result_count: usize,
) -> OpResult {
    let (promises, tensors): (SmallVec<[_; 2]>, _) =
        (0..result_count).map(|_| IndirectPromise::new()).unzip();
    let (done, chain) = Promise::new();
    let (queue, caller, attrs) = (queue.clone(), cx.clone(), attrs.clone());
    let results = SmallVec::<[_; 2]>::from(results);
    let task = Task::new(move || {
        let arguments = values.iter().map(DeviceArgument::of).collect::<Result<SmallVec<[_; 4]>, _>>();
        let outcome = arguments.map_err(DeviceOpError::from).and_then(|arguments| {
            let arguments = (&*arguments, given_up(&values, AsyncValue::is_unique));
            attempt(implementation, &queue, &caller, arguments, (&attrs, &results), true)
        });
        let outcome = outcome.map_err(|error| match error {
            DeviceOpError::Failed(error) => caller.emit(error),
            DeviceOpError::Later => caller.emit(Diagnostic::internal("what was waited for did not come")),
        });
        // Dropped early, because the next user of the results may need the arguments' memory.
        drop(values);
        keep(&caller, promises, Some(done), outcome);
    });
    // A rejected task is dropped, which turns its promises into errors.
    drop(cx.host().work_queue().add_blocking_task(task, true));
    OpResult { tensors, done: Some(chain) }
}

/// Returns a tensor for work on `queue`, which may become available later.
pub(super) fn bring(
    tensor: AsyncValue,
    queue: &Arc<DeviceQueue>,
    cx: &ExecutionContext,
) -> Result<AsyncValue, Diagnostic> {
    let itself: DeviceFn = |call| Ok(call.tensor(0)?.clone().into());
    let (implementation, attrs) = ((itself, HostArguments::default()), OpAttrs::new());
    let arguments = [DeviceArgument::of(&tensor)?];
    let values = std::iter::once(&tensor);
    let mut result = run((implementation, queue), cx, (&arguments, 0), values, (&attrs, &[], 1))?;
    result.tensors.pop().ok_or_else(|| Diagnostic::internal("a copy has no result"))
}
