//! [`TensorHandle`]: a tensor that ops take and return, which may still be pending.

use std::{fmt, sync::Arc};

use tfrt_host::{
    AsyncValue, AsyncValueRef, DType, Diagnostic, ErrorCode, ExecutionContext, IndirectPromise, Promise,
    Status, value_type,
};
use tfrt_tensor::{HostTensor, TensorMetadata, TensorShape};

use crate::{Device, DeviceTensor, ForeignTensor};

/// The greatest rank for which metadata with 32-bit extents needs no heap memory.
const RANK_INLINE: usize = TensorShape::RANK_INLINE;

/// A tensor on a device. Its elements may become available later; its data type and shape are
/// usually known immediately. Cloning shares the elements.
#[derive(Clone)]
pub struct TensorHandle {
    tensor: AsyncValue,
    metadata: Metadata,
    device: Device,
}

value_type!(TensorHandle, "!corert.tensorhandle");

const _: () = assert!(size_of::<TensorHandle>() <= 64);

/// A tensor's metadata in its most compact form.
#[derive(Clone)]
enum Metadata {
    /// The metadata of the tensor, which is available.
    OfTensor,
    Small(Kind, [u32; RANK_INLINE]),
    Large(Arc<TensorMetadata>),
    Later(AsyncValueRef<SharedMetadata>),
}

/// The data type and rank, as wide as an extent, so that the metadata consists of words only.
#[derive(Clone, Copy)]
#[repr(align(4))]
struct Kind {
    dtype: DType,
    rank: u8,
}

/// Metadata that became available later.
#[derive(Clone, Debug)]
pub(crate) struct SharedMetadata(pub(crate) TensorMetadata);

value_type!(SharedMetadata, "!corert.tensormetadata");

impl From<&TensorMetadata> for Metadata {
    fn from(metadata: &TensorMetadata) -> Self {
        let mut small = [0; RANK_INLINE];
        let dims = metadata.shape.dims();
        let fits = dims.len() <= RANK_INLINE
            && dims
                .iter()
                .zip(&mut small)
                .all(|(&dim, small)| u32::try_from(dim).map(|dim| *small = dim).is_ok());
        if fits {
            Self::Small(Kind { dtype: metadata.dtype, rank: dims.len() as u8 }, small)
        } else {
            Self::Large(Arc::new(metadata.clone()))
        }
    }
}

impl TensorHandle {
    /// Creates a tensor with known metadata. `tensor` becomes a [`HostTensor`], a [`DeviceTensor`],
    /// a [`ForeignTensor`] or an error.
    pub fn new(device: Device, metadata: &TensorMetadata, tensor: AsyncValue) -> Self {
        let metadata = match tensor.status() {
            Status::Ready => Metadata::OfTensor,
            _ => metadata.into(),
        };
        Self { tensor, metadata, device }
    }

    /// Creates a tensor in host memory.
    pub fn from_host(device: Device, tensor: impl Into<HostTensor>) -> Self {
        Self { tensor: AsyncValue::new(tensor.into()), metadata: Metadata::OfTensor, device }
    }

    /// Creates a pending tensor with unknown metadata.
    pub fn from_pending(device: Device, tensor: AsyncValue) -> Self {
        if tensor.status() == Status::Ready && metadata_of(&tensor).is_ok() {
            return Self { tensor, metadata: Metadata::OfTensor, device };
        }
        let (promise, metadata) = Promise::new();
        let value = tensor.clone();
        tensor.and_then(move || match metadata_of(&value) {
            Ok(metadata) => promise.emplace(SharedMetadata(metadata)),
            Err(error) => promise.set_error(error),
        });
        Self { tensor, metadata: Metadata::Later(metadata), device }
    }

    /// Creates a tensor whose metadata is an error, although its elements may not be.
    pub fn with_failed_metadata(device: Device, error: Arc<Diagnostic>, tensor: AsyncValue) -> Self {
        Self { tensor, metadata: Metadata::Later(AsyncValueRef::from_error(error)), device }
    }

    /// Creates a tensor that is an error.
    pub fn from_error(device: Device, error: Arc<Diagnostic>) -> Self {
        let tensor = AsyncValue::from_error(error.clone());
        Self { tensor, metadata: Metadata::Later(AsyncValueRef::from_error(error)), device }
    }

    /// Returns a pending tensor, and the promise for it.
    pub(crate) fn promised(device: Device, metadata: Option<&TensorMetadata>) -> (IndirectPromise, Self) {
        let (promise, tensor) = IndirectPromise::new();
        let handle = match metadata {
            Some(metadata) => Self::new(device, metadata, tensor),
            None => Self::from_pending(device, tensor),
        };
        (promise, handle)
    }

    /// Returns the device of its elements.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the data type and shape, if they are known.
    pub fn metadata(&self) -> Option<Result<TensorMetadata, Arc<Diagnostic>>> {
        match &self.metadata {
            Metadata::OfTensor => Some(metadata_of(&self.tensor)),
            Metadata::Small(Kind { dtype, rank }, dims) => {
                let wide = dims.map(|dim| dim as usize);
                // The rank is small enough for a shape.
                let shape = TensorShape::new(&wide[..usize::from(*rank)]).unwrap_or(TensorShape::scalar());
                Some(Ok(TensorMetadata { dtype: *dtype, shape }))
            }
            Metadata::Large(metadata) => Some(Ok(TensorMetadata::clone(metadata))),
            Metadata::Later(later) => Some(later.get()?.map(|metadata| metadata.0.clone())),
        }
    }

    /// Calls `then` when the metadata is known or an error.
    pub fn when_metadata(&self, then: impl FnOnce() + Send + 'static) {
        match &self.metadata {
            Metadata::Later(later) => later.and_then(then),
            _ => then(),
        }
    }

    /// Returns the elements, which may be pending.
    pub fn tensor(&self) -> &AsyncValue {
        &self.tensor
    }

    /// Returns the elements and gives up this handle's share of them.
    pub fn into_tensor(self) -> AsyncValue {
        self.tensor
    }

    /// Returns the tensor, unless its metadata is an error or pending.
    pub(crate) fn known(&self) -> Option<&AsyncValue> {
        match &self.metadata {
            Metadata::Later(later) => later.get()?.ok().map(|_| &self.tensor),
            _ => Some(&self.tensor),
        }
    }

    /// Returns the error of the tensor or of its metadata, if there is one.
    pub fn error(&self) -> Option<Arc<Diagnostic>> {
        let of_metadata = match &self.metadata {
            Metadata::Later(later) => later.as_untyped().error(),
            _ => None,
        };
        of_metadata.or_else(|| self.tensor.error())
    }

    /// Returns whether the elements, or an error, are available.
    pub fn is_available(&self) -> bool {
        self.tensor.status() != Status::Pending
    }

    /// Returns the elements if they are in host memory, or `None` while they are pending.
    pub fn host_tensor(&self) -> Option<Result<&HostTensor, Arc<Diagnostic>>> {
        self.is_available().then(|| host_tensor(&self.tensor))
    }
}

/// Returns the data type and shape of an available tensor.
fn metadata_of(value: &AsyncValue) -> Result<TensorMetadata, Arc<Diagnostic>> {
    if let Some(tensor) = value.get::<DeviceTensor>() {
        return Ok(tensor.metadata().clone());
    }
    match value.get::<ForeignTensor>() {
        Some(tensor) => Ok(tensor.metadata().clone()),
        None => host_tensor(value).map(|tensor| tensor.metadata().clone()),
    }
}

/// Returns the host tensor in an available value.
pub(crate) fn host_tensor(value: &AsyncValue) -> Result<&HostTensor, Arc<Diagnostic>> {
    if let Some(tensor) = value.get::<HostTensor>() {
        return Ok(tensor);
    }
    Err(value.error().unwrap_or_else(|| {
        let message = format!("expected a tensor in host memory, got {}", value.type_name());
        Arc::new(Diagnostic::new(ErrorCode::InvalidArgument, message))
    }))
}

/// Returns an available tensor in host memory, which may become available later: the tensor itself,
/// or a copy of a device's or another task's.
pub(crate) fn in_host_memory(value: AsyncValue, cx: &ExecutionContext) -> AsyncValue {
    match copy_to_host(&value, cx) {
        None => value,
        Some(Ok(copy)) => copy.into_untyped(),
        Some(Err(error)) => AsyncValue::from_error(cx.emit(error)),
    }
}

/// Begins to copy an available tensor to host memory, if it is elsewhere.
fn copy_to_host(
    value: &AsyncValue,
    cx: &ExecutionContext,
) -> Option<Result<AsyncValueRef<HostTensor>, Diagnostic>> {
    match value.get::<DeviceTensor>() {
        Some(tensor) => Some(tensor.to_host(cx)),
        None => value.get::<ForeignTensor>().map(|tensor| tensor.to_host(cx)),
    }
}

impl fmt::Debug for TensorHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TensorHandle")
            .field("device", &self.device.name())
            .field("metadata", &self.metadata())
            .field("tensor", &self.tensor)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_survives_packing() {
        let device = Device::new("CPU:0");
        for dims in [&[][..], &[0, 3], &[1, 2, 3, 4, 5, 6], &[1, 2, 3, 4, 5, 6, 7], &[5_000_000_000, 2]] {
            let metadata = TensorMetadata::new(DType::F32, TensorShape::new(dims).unwrap());
            let (_promise, handle) = TensorHandle::promised(device.clone(), Some(&metadata));
            assert_eq!(handle.metadata(), Some(Ok(metadata)));
            assert!(!handle.is_available() && handle.error().is_none());
        }
    }

    #[test]
    fn metadata_that_comes_later_comes_with_the_tensor() {
        let (promise, handle) = TensorHandle::promised(Device::new("CPU:0"), None);
        assert_eq!(handle.metadata(), None);
        let tensor = HostTensor::from(tfrt_tensor::ScalarHostTensor::new([2, 3], 1i32));
        promise.emplace(tensor.clone());
        assert_eq!(handle.metadata(), Some(Ok(tensor.metadata().clone())));
    }

    #[test]
    fn a_dropped_producer_is_an_error() {
        let (promise, handle) = TensorHandle::promised(Device::new("CPU:0"), None);
        drop(promise);
        assert_eq!(handle.error().unwrap().code, ErrorCode::Abandoned);
        assert!(handle.metadata().unwrap().is_err());
    }
}
