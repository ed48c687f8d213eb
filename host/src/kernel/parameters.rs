//! What a kernel function's parameters may be, and how each is made from a frame.

use std::{fmt, marker::PhantomData, ops::Deref};

use super::{
    frame::{KernelFrame, ScalarFrame},
    signature::{KernelSignature, TypeSpec},
};
use crate::{
    async_value::{AsyncValue, AsyncValueRef},
    context::ExecutionContext,
    diagnostic::{Diagnostic, ErrorCode},
    program::FunctionRef,
    value::Value,
};

/// Where the next parameter of each sort comes from.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Cursor {
    pub(super) argument: usize,
    pub(super) attribute: usize,
    pub(super) function: usize,
}

/// Why a parameter could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum ParameterError {
    MissingArgument(usize),
    /// The argument has another type than this.
    ArgumentType(usize, &'static str),
    MissingAttribute(usize),
    Attribute(usize),
    MissingFunction(usize),
}

impl ParameterError {
    /// Makes it the error of the whole call.
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

/// A type that may be a kernel's parameter.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel parameter",
    note = "use a `Value` by value, `Arg<T>` to borrow one, `Attr<T>` for an attribute, `Rest<T>` for further \
            arguments, or `&ExecutionContext`"
)]
pub trait KernelParameter {
    /// `Self`, alive as long as the frame.
    type Item<'f>;
    /// Adds the parameter to the signature.
    fn describe(signature: &mut KernelSignature);
    /// Whether it is an argument that lives in a handle.
    #[doc(hidden)]
    const SCALAR: bool = false;
    /// Makes the parameter of a kernel of scalars.
    #[doc(hidden)]
    #[inline]
    fn fetch_scalar<'f>(_frame: &ScalarFrame<'f>, _index: usize) -> Option<Self::Item<'f>> {
        None
    }
    /// Makes the parameter.
    #[doc(hidden)]
    fn fetch<'f>(frame: &'f KernelFrame<'f>, cursor: &mut Cursor) -> Result<Self::Item<'f>, ParameterError>;
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

impl<T: Value + Clone> KernelParameter for T {
    type Item<'f> = T;
    const SCALAR: bool = T::INLINE;

    #[inline]
    fn fetch_scalar(frame: &ScalarFrame<'_>, index: usize) -> Option<T> {
        frame.argument(index)
    }

    fn describe(signature: &mut KernelSignature) {
        signature.arguments.push(TypeSpec::Named(T::TYPE_NAME));
    }

    #[inline]
    fn fetch<'f>(frame: &'f KernelFrame<'f>, cursor: &mut Cursor) -> Result<T, ParameterError> {
        borrow::<T>(frame, cursor).cloned()
    }
}

/// A borrowed argument: `Arg<MyTensor>`, or `Arg<AsyncValue>` for one of any type, which in a non-strict kernel
/// may be pending or an error.
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

/// What [`Arg`] and [`Rest`] may name: a value type, or [`AsyncValue`] for any.
pub trait ArgumentType: Sized {
    /// The type the program must have there.
    const SPEC: TypeSpec;
    /// What an error says is expected: the type, unless `Self` is one form of it.
    const EXPECTED: &'static str = match Self::SPEC {
        TypeSpec::Named(name) => name,
        TypeSpec::Any => "any",
    };
    #[doc(hidden)]
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

/// A shared argument, for kernels that keep it, or that are non-strict and wait for it themselves.
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

/// All further arguments, each a `T`; `Rest<AsyncValue>` takes any.
pub struct Rest<'f, T> {
    frame: &'f KernelFrame<'f>,
    first: usize,
    marker: PhantomData<fn() -> T>,
}

impl<'f, T: ArgumentType + 'f> Rest<'f, T> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.frame.argument_count().saturating_sub(self.first)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidArgument`] if it does not exist or is of another type.
    pub fn get(&self, index: usize) -> Result<&'f T, Diagnostic> {
        let index = self.first + index;
        let handle = self.frame.argument_if_any(index).ok_or(ParameterError::MissingArgument(index));
        handle
            .and_then(|handle| T::from_handle(handle).ok_or(ParameterError::ArgumentType(index, T::EXPECTED)))
            .map_err(|error| error.diagnose(self.frame))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Result<&'f T, Diagnostic>> {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl Rest<'_, AsyncValue> {
    /// Handles of all of them, to keep.
    pub fn to_vec(&self) -> Vec<AsyncValue> {
        self.frame.arguments().skip(self.first).cloned().collect()
    }
}

impl<T: ArgumentType + 'static> KernelParameter for Rest<'_, T> {
    type Item<'f> = Rest<'f, T>;

    fn describe(signature: &mut KernelSignature) {
        signature.rest_arguments = Some(T::SPEC);
    }

    fn fetch<'f>(frame: &'f KernelFrame<'f>, cursor: &mut Cursor) -> Result<Rest<'f, T>, ParameterError> {
        Ok(Rest { frame, first: cursor.argument, marker: PhantomData })
    }
}

/// A callee or region.
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

/// How many results the op has: for kernels that give a variable number.
#[derive(Clone, Copy, Debug)]
pub struct ResultCount(pub usize);

impl KernelParameter for ResultCount {
    type Item<'f> = ResultCount;

    fn describe(_: &mut KernelSignature) {}

    fn fetch<'f>(frame: &'f KernelFrame<'f>, _: &mut Cursor) -> Result<ResultCount, ParameterError> {
        Ok(ResultCount(frame.result_count()))
    }
}

impl KernelParameter for &ExecutionContext {
    type Item<'f> = &'f ExecutionContext;

    fn describe(_: &mut KernelSignature) {}

    #[inline]
    fn fetch<'f>(frame: &'f KernelFrame<'f>, _: &mut Cursor) -> Result<&'f ExecutionContext, ParameterError> {
        Ok(frame.cx)
    }
}
