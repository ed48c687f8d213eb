//! [`CoreRuntimeOp`]: an op that a handler has looked up, and [`OpInvocation`], one call of it.

use std::{borrow::Cow, fmt, sync::Arc};

use smallvec::SmallVec;
use tfrt_host::{AsyncValueRef, Chain, Diagnostic, ExecutionContext, value_type};

use crate::{Device, OpAttrs, TensorHandle};

/// The results of one call.
pub type Results = SmallVec<[TensorHandle; 2]>;

/// One call of an op.
pub struct OpInvocation<'a> {
    /// The caller and its origin.
    pub cx: &'a ExecutionContext,
    /// The arguments. If an owned one has no other user, the op may reuse its memory for a result.
    pub arguments: SmallVec<[Cow<'a, TensorHandle>; 4]>,
    /// The attributes.
    pub attrs: &'a OpAttrs,
    /// The number of results that the caller expects.
    pub result_count: usize,
    /// Orders ops with effects: they begin when it is available, and replace it with one that
    /// becomes available when they are done.
    pub chain: Option<&'a mut AsyncValueRef<Chain>>,
}

/// An op of a handler: look it up once and call it often. Cloning is cheap.
#[derive(Clone)]
pub struct CoreRuntimeOp(Arc<Parts<Call>>);

type Call = dyn for<'a> Fn(OpInvocation<'a>) -> Results + Send + Sync;

struct Parts<F: ?Sized> {
    device: Device,
    call: F,
}

value_type!(CoreRuntimeOp, "!corert.op");

impl CoreRuntimeOp {
    /// Creates an op whose results are on `device`. `call` returns as many results as requested,
    /// which may be errors.
    pub fn new(
        device: Device,
        call: impl for<'a> Fn(OpInvocation<'a>) -> Results + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Parts { device, call }))
    }

    /// Returns the device of its results.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Calls the op. Each result may be a separate error. If the number of results is wrong, all of
    /// them are errors.
    // Inlined, so that the invocation is not copied.
    #[inline]
    pub fn call(&self, invocation: OpInvocation<'_>) -> Results {
        let (cx, expected) = (invocation.cx, invocation.result_count);
        let results = (self.0.call)(invocation);
        if results.len() == expected { results } else { self.wrong_number(cx, results.len(), expected) }
    }

    #[cold]
    fn wrong_number(&self, cx: &ExecutionContext, count: usize, expected: usize) -> Results {
        let message = format!("the op gives {count} results, expected {expected}");
        fail(cx, self.device(), expected, Diagnostic::invalid_argument(message), None)
    }
}

/// Returns results and a chain that are all the same error, at the caller's location.
pub(crate) fn fail(
    cx: &ExecutionContext,
    device: &Device,
    result_count: usize,
    error: impl Into<Diagnostic>,
    chain: Option<&mut AsyncValueRef<Chain>>,
) -> Results {
    let error = cx.emit(error.into());
    if let Some(chain) = chain {
        *chain = AsyncValueRef::from_error(error.clone());
    }
    (0..result_count).map(|_| TensorHandle::from_error(device.clone(), error.clone())).collect()
}

impl fmt::Debug for CoreRuntimeOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreRuntimeOp").field("device", self.device()).finish_non_exhaustive()
    }
}

impl fmt::Debug for OpInvocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpInvocation")
            .field("arguments", &self.arguments)
            .field("attrs", &self.attrs)
            .field("result_count", &self.result_count)
            .finish_non_exhaustive()
    }
}
