//! The results that a kernel function may return, and how they reach the registers.

#![expect(unsafe_code, reason = "a scalar result is stored without comparing its number with the count")]

use std::fmt;

use super::{
    sealed,
    signature::{KernelSignature, TypeSpec},
};
use crate::{
    async_value::{AsyncValue, AsyncValueRef},
    diagnostic::Diagnostic,
    program::{KernelFrame, ScalarFrame},
    value::Value,
};

/// A result that may fail on its own, while other results of the kernel succeed: `(Out<i32>,
/// Out<i32>)`.
#[derive(Debug)]
pub struct Out<T>(pub Result<T, Diagnostic>);

/// A type that a kernel function may return as one result.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel's result",
    note = "return a `Value`, an `AsyncValueRef<T>` for work finished later, an `Out<T>` that may fail alone, a tuple \
            of these, `()`, or a `Result` of any of them"
)]
pub trait ResultValue: Sized {
    /// The result's type in programs.
    const SPEC: TypeSpec;
    /// How to store the result if it is a value that lives in its handle.
    #[doc(hidden)]
    const SCALAR: Option<ScalarResult<Self>> = None;
    /// Makes the handle that goes into the result's register.
    fn into_handle(self, frame: &KernelFrame<'_>) -> AsyncValue;
}

/// Stores a scalar result of type `R`.
///
/// Only the implementation for scalars makes one, so that a function with a `ScalarResult` has
/// exactly one result.
#[doc(hidden)]
pub struct ScalarResult<R>(unsafe fn(R, &mut ScalarFrame<'_>, usize));

impl<R> ScalarResult<R> {
    /// Stores the result with this number.
    ///
    /// # Safety
    /// The frame was made with more than `index` operands.
    #[inline(always)]
    pub(super) unsafe fn store(self, result: R, frame: &mut ScalarFrame<'_>, index: usize) {
        // SAFETY: the function is `store_scalar`, which demands what this function demands.
        unsafe { (self.0)(result, frame, index) }
    }
}

impl<R> fmt::Debug for ScalarResult<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScalarResult")
    }
}

/// As [`ScalarFrame::set_result`], with the result first.
///
/// # Safety
/// The frame was made with more than `index` operands.
#[inline(always)]
unsafe fn store_scalar<T: Value>(result: T, frame: &mut ScalarFrame<'_>, index: usize) {
    // SAFETY: the operand exists, as this function demands.
    unsafe { frame.set_result(index, result) };
}

impl<T: Value> ResultValue for T {
    const SPEC: TypeSpec = TypeSpec::Named(T::TYPE_NAME);
    const SCALAR: Option<ScalarResult<T>> =
        if T::INLINE { Some(ScalarResult(store_scalar::<T>)) } else { None };
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

/// A type that a kernel function may return: all its results.
///
/// The trait is sealed: types take part through [`ResultValue`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a kernel returns",
    note = "return a `Value`, an `AsyncValueRef<T>` for work finished later, an `Out<T>` that may fail alone, a tuple \
            of these, `()`, or a `Result` of any of them"
)]
pub trait KernelResult: sealed::Results + Sized {
    /// How to store the result if it is one value that lives in its handle.
    #[doc(hidden)]
    const SCALAR: Option<ScalarResult<Self>> = None;
    /// Adds the results to the signature.
    fn describe(signature: &mut KernelSignature);
    /// Stores the results in their registers.
    #[doc(hidden)]
    fn store(self, frame: &mut KernelFrame<'_>);
}

impl<T: ResultValue> sealed::Results for T {}
impl<T: ResultValue> KernelResult for T {
    const SCALAR: Option<ScalarResult<T>> = <T as ResultValue>::SCALAR;

    fn describe(signature: &mut KernelSignature) {
        signature.results.push(T::SPEC);
    }

    #[inline]
    fn store(self, frame: &mut KernelFrame<'_>) {
        let handle = self.into_handle(frame);
        frame.set_result(0, handle);
    }
}

impl<R: KernelResult, E: Into<Diagnostic>> sealed::Results for Result<R, E> {}
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

impl sealed::Results for Vec<AsyncValue> {}
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
        impl<$($part: ResultValue),*> sealed::Results for ($($part,)*) {}
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

impl sealed::Results for () {}
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
