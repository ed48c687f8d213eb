//! The typed handle.

use std::{fmt, marker::PhantomData, sync::Arc};

use super::{AsyncValue, Status};
use crate::{diagnostic::Diagnostic, value::Value};

/// A value of type `T`, available or pending.
pub struct AsyncValueRef<T: Value> {
    value: AsyncValue,
    marker: PhantomData<fn() -> T>,
}

impl<T: Value> AsyncValueRef<T> {
    /// Makes an available value.
    pub fn available(value: T) -> Self {
        Self::from_untyped_unchecked(AsyncValue::new(value))
    }

    /// Makes a value that is an error.
    pub fn from_error(error: impl Into<Arc<Diagnostic>>) -> Self {
        Self::from_untyped_unchecked(AsyncValue::from_error(error))
    }

    /// Gives an untyped value a type. A value that turns out to have another type reads as an
    /// error.
    pub fn from_untyped(value: AsyncValue) -> Self {
        Self::from_untyped_unchecked(value)
    }

    pub(super) fn from_untyped_unchecked(value: AsyncValue) -> Self {
        Self { value, marker: PhantomData }
    }

    /// Returns the payload or the error, or `None` while the value is pending.
    pub fn get(&self) -> Option<Result<&T, Arc<Diagnostic>>> {
        if let Some(payload) = self.value.get::<T>() {
            return Some(Ok(payload));
        }
        match self.value.status() {
            Status::Pending => None,
            Status::Failed => self.value.error().map(Err),
            Status::Ready => Some(Err(Arc::new(Diagnostic::invalid_argument(format!(
                "expected a value of type {}, got {}",
                T::TYPE_NAME,
                self.value.type_name()
            ))))),
        }
    }

    /// Calls `waiter` when the value is available; see [`AsyncValue::and_then`].
    pub fn and_then(&self, waiter: impl FnOnce() + Send + 'static) {
        self.value.and_then(waiter);
    }

    /// Calls `waiter` with the payload or the error when the value is available.
    pub fn then(self, waiter: impl FnOnce(Result<&T, Arc<Diagnostic>>) + Send + 'static) {
        let value = self.value.clone();
        value.and_then(move || {
            if let Some(result) = self.get() {
                waiter(result);
            }
        });
    }

    /// Returns whether the value is available.
    pub fn status(&self) -> Status {
        self.value.status()
    }

    /// Returns the untyped handle.
    pub fn as_untyped(&self) -> &AsyncValue {
        &self.value
    }

    /// Turns this into the untyped handle.
    pub fn into_untyped(self) -> AsyncValue {
        self.value
    }
}

impl<T: Value> Clone for AsyncValueRef<T> {
    fn clone(&self) -> Self {
        Self::from_untyped_unchecked(self.value.clone())
    }
}

impl<T: Value> From<T> for AsyncValueRef<T> {
    fn from(value: T) -> Self {
        Self::available(value)
    }
}

impl<T: Value> fmt::Debug for AsyncValueRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}
