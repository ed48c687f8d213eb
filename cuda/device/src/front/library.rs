//! The common part of library handles: their stream and their end.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::blas::BlasHandle;
use super::context::{Context, Counted};
use super::dnn::DnnHandle;
use super::stream::Stream;
use super::{Owned, check};
use crate::error::{DeviceError, Result, Status};
use crate::hal::{Erased, F32Math, ReleasedOnDrop};

/// A library that is used through handles.
pub trait Library: Send + Sync + 'static {
    /// The name of a handle in messages.
    const KIND: &'static str;
}

impl Context {
    /// Starts the BLAS library, for products as the backend computes them by default.
    ///
    /// # Errors
    /// As [`Context::create_blas_with`].
    pub fn create_blas(&self) -> Result<BlasHandle> {
        self.create_blas_with(F32Math::default())
    }

    /// Starts the DNN library, for convolutions as the backend computes them by default.
    ///
    /// # Errors
    /// As [`Context::create_dnn_with`].
    pub fn create_dnn(&self) -> Result<DnnHandle> {
        self.create_dnn_with(F32Math::default())
    }
}

/// A handle of a library, with the stream on which its calls are queued. Clones share it.
pub struct LibraryHandle<L>(Arc<Inner<L>>);

struct Inner<L> {
    hal: ReleasedOnDrop<Erased>,
    stream: Mutex<Option<Stream>>,
    destroyed: AtomicBool,
    library: L,
    counted: Counted,
}

impl<L> Clone for LibraryHandle<L> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<L: Library> Owned for LibraryHandle<L> {
    const KIND: &'static str = L::KIND;

    fn context(&self) -> &Context {
        self.0.counted.context()
    }

    fn is_destroyed(&self) -> bool {
        self.0.destroyed.load(Ordering::Acquire)
    }
}

impl<L: Library> LibraryHandle<L> {
    pub(super) fn new(context: &Context, hal: Erased, library: L) -> Self {
        Self(Arc::new(Inner {
            hal: context.owned(hal),
            stream: Mutex::default(),
            destroyed: AtomicBool::new(false),
            library,
            counted: Counted::new(context, |live| &live.libraries),
        }))
    }

    /// Returns the backend's state.
    pub(super) fn hal(&self) -> &Erased {
        &self.0.hal
    }

    pub(super) fn library(&self) -> &L {
        &self.0.library
    }

    /// Returns its context.
    pub fn context(&self) -> &Context {
        Owned::context(self)
    }

    /// Checks that the handle belongs to this context and was not destroyed. Kernels name both.
    ///
    /// # Errors
    /// `InvalidHandle` or `InvalidContext`.
    pub fn check_context(&self, context: &Context) -> Result<()> {
        check(self, context)
    }

    /// Sets the stream on which later calls are queued.
    ///
    /// # Errors
    /// `InvalidContext` for a stream of another context.
    pub fn set_stream(&self, stream: &Stream) -> Result<()> {
        check(self, stream.context())?;
        *self.0.stream.lock() = Some(stream.clone());
        Ok(())
    }

    /// Returns the stream that was set. There is no default stream.
    ///
    /// # Errors
    /// `IllegalState` if none was set.
    pub fn stream(&self) -> Result<Stream> {
        check(self, self.context())?;
        let stream = self.0.stream.lock().clone();
        stream.ok_or_else(|| {
            DeviceError::new(Status::IllegalState, format!("no stream was set for the {}", L::KIND))
        })
    }

    /// Destroys the handle.
    ///
    /// # Errors
    /// `InvalidHandle` if it was destroyed before.
    pub fn destroy(&self) -> Result<()> {
        if self.0.destroyed.swap(true, Ordering::AcqRel) {
            let detail = format!("the {} was destroyed already", L::KIND);
            return Err(DeviceError::new(Status::InvalidHandle, detail));
        }
        Ok(())
    }
}

impl<L: Library> fmt::Debug for LibraryHandle<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(L::KIND)
    }
}
