//! [`ForeignTensor`]: a tensor of another task, of which ops here take copies.

use std::{any::Any, fmt, sync::Arc};

use tfrt_host::{AsyncValueRef, Diagnostic, ExecutionContext, value_type};
use tfrt_tensor::{HostTensor, TensorMetadata};

/// A tensor that this process cannot reach, except by copying it.
pub trait Foreign: Any + Send + Sync {
    /// Returns its data type and shape.
    fn metadata(&self) -> &TensorMetadata;

    /// Copies it to host memory.
    ///
    /// # Errors
    /// If the copy cannot be started. The value may be an error, too.
    fn to_host(&self, cx: &ExecutionContext) -> Result<AsyncValueRef<HostTensor>, Diagnostic>;
}

/// A tensor of another task. Cloning shares it.
#[derive(Clone)]
pub struct ForeignTensor(Arc<dyn Foreign>);

value_type!(ForeignTensor, "!corert.foreigntensor");

impl ForeignTensor {
    /// Wraps a tensor.
    pub fn new(tensor: impl Foreign) -> Self {
        Self(Arc::new(tensor))
    }

    /// Returns its data type and shape.
    pub fn metadata(&self) -> &TensorMetadata {
        self.0.metadata()
    }

    /// Copies it to host memory.
    ///
    /// # Errors
    /// If the copy cannot be started. The value may be an error, too.
    pub fn to_host(&self, cx: &ExecutionContext) -> Result<AsyncValueRef<HostTensor>, Diagnostic> {
        self.0.to_host(cx)
    }

    /// Returns the tensor as a `T`, if that is what was wrapped.
    pub fn downcast<T: Foreign>(&self) -> Option<&T> {
        let tensor: &dyn Any = &*self.0;
        tensor.downcast_ref()
    }
}

impl fmt::Debug for ForeignTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ForeignTensor({})", self.metadata())
    }
}
