//! What a kernel function may return, and how it reaches the registers.

use super::{
    frame::{KernelFrame, ScalarFrame},
    signature::{KernelSignature, TypeSpec},
};
use crate::{
    async_value::{AsyncValue, AsyncValueRef},
    diagnostic::Diagnostic,
    value::Value,
};

/// One result of a kernel that may fail result by result: `(Out<i32>, Out<i32>)`.
#[derive(Debug)]
pub struct Out<T>(pub Result<T, Diagnostic>);

/// A type that may be one result.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel's result",
    note = "return a `Value`, an `AsyncValueRef<T>` for work finished later, an `Out<T>` that may fail alone, a tuple \
            of these, `()`, or a `Result` of any of them"
)]
pub trait ResultValue {
    /// The result's type.
    const SPEC: TypeSpec;
    /// Whether it is a value that lives in a handle.
    #[doc(hidden)]
    const SCALAR: bool = false;
    #[doc(hidden)]
    #[inline]
    fn store_scalar(self, _frame: &mut ScalarFrame<'_>, _index: usize)
    where
        Self: Sized,
    {
    }
    #[doc(hidden)]
    fn into_handle(self, frame: &KernelFrame<'_>) -> AsyncValue;
}

impl<T: Value> ResultValue for T {
    const SPEC: TypeSpec = TypeSpec::Named(T::TYPE_NAME);
    const SCALAR: bool = T::INLINE;
    #[inline]
    fn store_scalar(self, frame: &mut ScalarFrame<'_>, index: usize) {
        frame.set_result(index, self);
    }
    #[inline]
    fn into_handle(self, _: &KernelFrame<'_>) -> AsyncValue {
        AsyncValue::new(self)
    }
}

impl<T: Value> ResultValue for AsyncValueRef<T> {
    const SPEC: TypeSpec = TypeSpec::Named(T::TYPE_NAME);
    fn into_handle(self, _: &KernelFrame<'_>) -> AsyncValue {
        self.into_untyped()
    }
}

impl ResultValue for AsyncValue {
    const SPEC: TypeSpec = TypeSpec::Any;
    fn into_handle(self, _: &KernelFrame<'_>) -> AsyncValue {
        self
    }
}

impl<T: ResultValue> ResultValue for Out<T> {
    const SPEC: TypeSpec = T::SPEC;
    fn into_handle(self, frame: &KernelFrame<'_>) -> AsyncValue {
        match self.0 {
            Ok(value) => value.into_handle(frame),
            Err(error) => AsyncValue::from_error(frame.context().emit(error)),
        }
    }
}

/// A type that may be all results of a kernel.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a kernel returns",
    note = "return a `Value`, an `AsyncValueRef<T>` for work finished later, an `Out<T>` that may fail alone, a tuple \
            of these, `()`, or a `Result` of any of them"
)]
pub trait KernelResult {
    /// Adds the results to the signature.
    fn describe(signature: &mut KernelSignature);
    /// Whether it is one value that lives in a handle.
    #[doc(hidden)]
    const SCALAR: bool = false;
    #[doc(hidden)]
    #[inline]
    fn store_scalar(self, _frame: &mut ScalarFrame<'_>, _index: usize)
    where
        Self: Sized,
    {
    }
    #[doc(hidden)]
    fn store(self, frame: &mut KernelFrame<'_>);
}

impl<T: ResultValue> KernelResult for T {
    const SCALAR: bool = T::SCALAR;

    fn describe(signature: &mut KernelSignature) {
        signature.results.push(T::SPEC);
    }

    #[inline]
    fn store_scalar(self, frame: &mut ScalarFrame<'_>, index: usize) {
        ResultValue::store_scalar(self, frame, index);
    }

    #[inline]
    fn store(self, frame: &mut KernelFrame<'_>) {
        let handle = self.into_handle(frame);
        frame.set_result(0, handle);
    }
}

impl<R: KernelResult, E: Into<Diagnostic>> KernelResult for Result<R, E> {
    fn describe(signature: &mut KernelSignature) {
        R::describe(signature);
    }

    #[inline]
    fn store(self, frame: &mut KernelFrame<'_>) {
        match self {
            Ok(results) => results.store(frame),
            Err(error) => frame.fail(error),
        }
    }
}

/// A variable number of results, as many as the op has.
impl KernelResult for Vec<AsyncValue> {
    fn describe(signature: &mut KernelSignature) {
        signature.rest_results = Some(TypeSpec::Any);
    }

    fn store(self, frame: &mut KernelFrame<'_>) {
        frame.set_results(self);
    }
}

macro_rules! tuples {
    ($(($($part:ident $index:tt),*);)*) => {$(
        impl<$($part: ResultValue),*> KernelResult for ($($part,)*) {
            fn describe(signature: &mut KernelSignature) {
                $(signature.results.push($part::SPEC);)*
            }

            #[inline]
            fn store(self, frame: &mut KernelFrame<'_>) {
                $(
                    let handle = self.$index.into_handle(frame);
                    frame.set_result($index, handle);
                )*
            }
        }
    )*};
}

impl KernelResult for () {
    fn describe(_: &mut KernelSignature) {}
    #[inline]
    fn store(self, _: &mut KernelFrame<'_>) {}
}

tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, G 5);
}
