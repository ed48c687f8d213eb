//! The parameters that a kernel function may have, and how each is read from a frame.

#![expect(unsafe_code, reason = "scalar arguments are read without comparing their number with the count")]

use std::{fmt, marker::PhantomData, ops::Deref};

use super::{
    sealed,
    signature::{KernelSignature, TypeSpec},
};
use crate::{
    async_value::{AsyncValue, AsyncValueRef},
    context::ExecutionContext,
    diagnostic::{Diagnostic, ErrorCode},
    program::{FunctionRef, KernelFrame, ScalarFrame},
    value::Value,
};

/// Numbers of the next argument, attribute and function to read.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Cursor {
    pub(super) argument: usize,
    pub(super) attribute: usize,
    pub(super) function: usize,
}

/// The reason why a parameter could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum ParameterError {
    MissingArgument(usize),
    /// The argument with this number does not have this type.
    ArgumentType(usize, &'static str),
    MissingAttribute(usize),
    Attribute(usize),
    MissingFunction(usize),
}

impl ParameterError {
    /// Makes every result of the call this error.
    #[cold]
    pub(super) fn report(self, frame: &mut KernelFrame<'_>) {
        let error = self.diagnose(frame);
        frame.fail(error);
    }

    fn diagnose(self, frame: &KernelFrame<'_>) -> Diagnostic {
        let message = match self {
            Self::ArgumentType(index, expected) => {
                let got = frame.argument_if_any(index).map_or("nothing", AsyncValue::type_name);
                format!("argument {index} should be of type {expected}, got {got}")
            }
            Self::MissingArgument(index) => format!("argument {index} is missing"),
            Self::MissingAttribute(index) => format!("attribute {index} is missing"),
            Self::Attribute(index) => format!("attribute {index} cannot be read"),
            Self::MissingFunction(index) => format!("function {index} is missing"),
        };
        Diagnostic::new(ErrorCode::InvalidArgument, message)
    }
}

/// A type that a kernel function may have as a parameter.
///
/// The trait is sealed: the set of parameter types is fixed, and value types take part through
/// [`Value`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel parameter",
    note = "use a `Value` by value, `Arg<T>` to borrow one, `Attr<T>` for an attribute, `Rest<T>` for further \
            arguments, or `&ExecutionContext`"
)]
pub trait KernelParameter: sealed::Parameter + Sized {
    /// `Self` with the lifetime of the frame.
    type Item<'f>;
    /// How to read the parameter if it is an argument that lives in its handle.
    #[doc(hidden)]
    const SCALAR: Option<ScalarArgument<Self>> = None;
    /// Adds the parameter to the signature.
    fn describe(signature: &mut KernelSignature);
    /// Reads the parameter from a frame.
    #[doc(hidden)]
    fn fetch<'f>(frame: &'f KernelFrame<'f>, cursor: &mut Cursor) -> Result<Self::Item<'f>, ParameterError>;
}

/// Reads a scalar argument of type `T`.
///
/// Only the implementation for scalars makes one, so that a parameter with a `ScalarArgument` is
/// exactly one argument.
#[doc(hidden)]
pub struct ScalarArgument<T>(unsafe fn(&ScalarFrame<'_>, usize) -> Option<T>);

impl<T> ScalarArgument<T> {
    /// Reads the argument with this number; `None` if it is not a scalar of the expected type.
    ///
    /// # Safety
    /// The frame was made with more than `index` operands.
    #[inline(always)]
    pub(super) unsafe fn fetch(self, frame: &ScalarFrame<'_>, index: usize) -> Option<T> {
        // SAFETY: the function is `scalar_argument`, which demands what this function demands.
        unsafe { (self.0)(frame, index) }
    }
}

impl<T> fmt::Debug for ScalarArgument<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScalarArgument")
    }
}

#[inline]
fn next_argument<'f>(
    frame: &'f KernelFrame<'f>,
    cursor: &mut Cursor,
) -> Result<&'f AsyncValue, ParameterError> {
    let index = cursor.argument;
    cursor.argument += 1;
    frame.argument_if_any(index).ok_or(ParameterError::MissingArgument(index))
}

#[inline]
fn borrow<'f, T: Value>(frame: &'f KernelFrame<'f>, cursor: &mut Cursor) -> Result<&'f T, ParameterError> {
    let index = cursor.argument;
    next_argument(frame, cursor)?.get::<T>().ok_or(ParameterError::ArgumentType(index, T::TYPE_NAME))
}

/// As [`ScalarFrame::argument`], for frames of any lifetime.
///
/// # Safety
/// The frame was made with more than `index` operands.
#[inline(always)]
unsafe fn scalar_argument<T: Value + Clone>(frame: &ScalarFrame<'_>, index: usize) -> Option<T> {
    // SAFETY: the operand exists, as this function demands.
    unsafe { frame.argument(index) }
}

impl<T: Value + Clone> sealed::Parameter for T {}
impl<T: Value + Clone> KernelParameter for T {
    type Item<'f> = T;
    const SCALAR: Option<ScalarArgument<T>> =
        if T::INLINE { Some(ScalarArgument(scalar_argument::<T>)) } else { None };

    fn describe(signature: &mut KernelSignature) {
        signature.arguments.push(TypeSpec::Named(T::TYPE_NAME));
    }

    #[inline]
    fn fetch<'f>(frame: &'f KernelFrame<'f>, cursor: &mut Cursor) -> Result<T, ParameterError> {
        borrow::<T>(frame, cursor).cloned()
    }
}

/// A borrowed argument, such as `Arg<MyTensor>`.
///
/// `Arg<AsyncValue>` accepts a value of any type. In a non-strict kernel that value may be pending
/// or an error.
pub struct Arg<'f, T>(&'f T);

impl<T> Deref for Arg<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Arg<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A type that [`Arg`] and [`Rest`] may name: a value type, one form of a value type, or
/// [`AsyncValue`] for any value.
pub trait ArgumentType: Sized {
    /// The type that a program must pass.
    const SPEC: TypeSpec;
    /// The type as error messages name it. It differs from `SPEC` if `Self` is one form of a value
    /// type.
    const EXPECTED: &'static str = match Self::SPEC {
        TypeSpec::Named(name) => name,
        TypeSpec::Any => "any",
    };
    /// Returns the payload if the value is available and has this type.
    fn from_handle(handle: &AsyncValue) -> Option<&Self>;
}

impl<T: Value> ArgumentType for T {
    const SPEC: TypeSpec = TypeSpec::Named(T::TYPE_NAME);
    #[inline]
    fn from_handle(handle: &AsyncValue) -> Option<&T> {
        handle.get::<T>()
    }
}

impl ArgumentType for AsyncValue {
    const SPEC: TypeSpec = TypeSpec::Any;
    fn from_handle(handle: &AsyncValue) -> Option<&AsyncValue> {
        Some(handle)
    }
}

impl<T: ArgumentType + 'static> sealed::Parameter for Arg<'_, T> {}
impl<T: ArgumentType + 'static> KernelParameter for Arg<'_, T> {
    type Item<'f> = Arg<'f, T>;

    fn describe(signature: &mut KernelSignature) {
        signature.arguments.push(T::SPEC);
    }

    #[inline]
    fn fetch<'f>(frame: &'f KernelFrame<'f>, cursor: &mut Cursor) -> Result<Arg<'f, T>, ParameterError> {
        let index = cursor.argument;
        let handle = next_argument(frame, cursor)?;
        T::from_handle(handle).map(Arg).ok_or(ParameterError::ArgumentType(index, T::EXPECTED))
    }
}

impl<T: Value> sealed::Parameter for AsyncValueRef<T> {}
/// A shared argument, for kernels that keep it, and for non-strict kernels that wait for it
/// themselves.
impl<T: Value> KernelParameter for AsyncValueRef<T> {
    type Item<'f> = AsyncValueRef<T>;

    fn describe(signature: &mut KernelSignature) {
        signature.arguments.push(TypeSpec::Named(T::TYPE_NAME));
    }

    fn fetch<'f>(
        frame: &'f KernelFrame<'f>,
        cursor: &mut Cursor,
    ) -> Result<AsyncValueRef<T>, ParameterError> {
        next_argument(frame, cursor).map(|handle| AsyncValueRef::from_untyped(handle.clone()))
    }
}

/// All remaining arguments, each of type `T`. `Rest<AsyncValue>` accepts values of any type.
pub struct Rest<'f, T> {
    frame: &'f KernelFrame<'f>,
    first: usize,
    marker: PhantomData<fn() -> T>,
}

impl<'f, T: ArgumentType + 'f> Rest<'f, T> {
    /// Returns the number of remaining arguments.
    pub fn len(&self) -> usize {
        self.frame.argument_count().saturating_sub(self.first)
    }

    /// Returns whether no argument remains.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the remaining argument with this number.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidArgument`] if it does not exist or has another type.
    pub fn get(&self, index: usize) -> Result<&'f T, Diagnostic> {
        let index = self.first + index;
        let handle = self.frame.argument_if_any(index).ok_or(ParameterError::MissingArgument(index));
        handle
            .and_then(|handle| T::from_handle(handle).ok_or(ParameterError::ArgumentType(index, T::EXPECTED)))
            .map_err(|error| error.diagnose(self.frame))
    }

    /// Iterates over the remaining arguments.
    ///
    /// # Errors
    /// Each item is an error if that argument has another type.
    pub fn iter(&self) -> impl Iterator<Item = Result<&'f T, Diagnostic>> {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl Rest<'_, AsyncValue> {
    /// Returns handles of the remaining arguments, which may outlive the call.
    pub fn to_vec(&self) -> Vec<AsyncValue> {
        self.frame.arguments().skip(self.first).cloned().collect()
    }
}

impl<T: ArgumentType + 'static> sealed::Parameter for Rest<'_, T> {}
impl<T: ArgumentType + 'static> KernelParameter for Rest<'_, T> {
    type Item<'f> = Rest<'f, T>;

    fn describe(signature: &mut KernelSignature) {
        signature.rest_arguments = Some(T::SPEC);
    }

    fn fetch<'f>(frame: &'f KernelFrame<'f>, cursor: &mut Cursor) -> Result<Rest<'f, T>, ParameterError> {
        Ok(Rest { frame, first: cursor.argument, marker: PhantomData })
    }
}

impl sealed::Parameter for FunctionRef<'_> {}
/// A function that the op names: a callee or a region.
impl KernelParameter for FunctionRef<'_> {
    type Item<'f> = FunctionRef<'f>;

    fn describe(signature: &mut KernelSignature) {
        signature.functions += 1;
    }

    fn fetch<'f>(frame: &'f KernelFrame<'f>, cursor: &mut Cursor) -> Result<FunctionRef<'f>, ParameterError> {
        let index = cursor.function;
        cursor.function += 1;
        let function = frame.functions().get(index).ok_or(ParameterError::MissingFunction(index))?;
        Ok(FunctionRef::new(frame.program(), *function))
    }
}

/// The number of results that the op has, for kernels with a variable number of results.
#[derive(Clone, Copy, Debug)]
pub struct ResultCount(pub usize);

impl sealed::Parameter for ResultCount {}
impl KernelParameter for ResultCount {
    type Item<'f> = ResultCount;

    fn describe(_: &mut KernelSignature) {}

    fn fetch<'f>(frame: &'f KernelFrame<'f>, _: &mut Cursor) -> Result<ResultCount, ParameterError> {
        Ok(ResultCount(frame.result_count()))
    }
}

impl sealed::Parameter for &ExecutionContext {}
impl KernelParameter for &ExecutionContext {
    type Item<'f> = &'f ExecutionContext;

    fn describe(_: &mut KernelSignature) {}

    #[inline]
    fn fetch<'f>(frame: &'f KernelFrame<'f>, _: &mut Cursor) -> Result<&'f ExecutionContext, ParameterError> {
        Ok(frame.context())
    }
}
