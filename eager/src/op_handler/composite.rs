//! Ops made of functions of a program.

use std::fmt;

use tfrt_host::{AsyncValue, AsyncValueRef, Chain, Diagnostic, Function, Value as _};

use crate::{CoreRuntimeOp, Device, OpInvocation, Results, TensorHandle, op::fail};

/// An op that calls a function: it takes a chain and tensors, and gives a chain and tensors.
pub struct CompositeOp {
    device: Device,
    function: Function,
}

impl CompositeOp {
    /// Creates an op that calls `function`, whose results are on `device` where they do not say.
    ///
    /// # Errors
    /// InvalidArgument unless the function's first argument and first result are chains.
    pub fn new(device: Device, function: Function) -> Result<Self, Diagnostic> {
        let borrowed = function.as_ref();
        let chain = Some(Chain::TYPE_NAME);
        if borrowed.argument_types().next() != chain || borrowed.result_types().next() != chain {
            let message = format!(
                "a function that is used as an op takes and gives a chain first; '{}' does not",
                function.as_ref().name()
            );
            return Err(Diagnostic::invalid_argument(message));
        }
        Ok(Self { device, function })
    }

    /// Returns the op.
    pub fn into_op(self) -> CoreRuntimeOp {
        let device = self.device.clone();
        CoreRuntimeOp::new(device, move |invocation| self.call(invocation))
    }

    fn call(&self, invocation: OpInvocation<'_>) -> Results {
        let OpInvocation { cx, arguments, result_count, chain, .. } = invocation;
        let function = self.function.as_ref();
        let takes = function.argument_types().len() - 1;
        if takes != arguments.len() {
            let message = format!("'{}' takes {takes} tensors, got {}", function.name(), arguments.len());
            return fail(cx, &self.device, result_count, Diagnostic::invalid_argument(message), chain);
        }
        let before = chain.as_ref().map_or(AsyncValue::new(Chain), |chain| chain.as_untyped().clone());
        let arguments = std::iter::once(before)
            .chain(arguments.into_iter().map(|argument| AsyncValue::new(argument.into_owned())));
        let mut results = function.execute(cx, arguments).into_iter();
        if let (Some(chain), Some(after)) = (chain, results.next()) {
            *chain = AsyncValueRef::from_untyped(after);
        }
        results.map(|result| self.tensor(result)).collect()
    }

    /// Returns the handle that a result is, or one that forwards to what it will be.
    fn tensor(&self, result: AsyncValue) -> TensorHandle {
        if let Some(handle) = result.get::<TensorHandle>() {
            return handle.clone();
        }
        if let Some(error) = result.error() {
            return TensorHandle::from_error(self.device.clone(), error);
        }
        let (promise, handle) = TensorHandle::promised(self.device.clone(), None);
        AsyncValueRef::<TensorHandle>::from_untyped(result).then(move |result| match result {
            Ok(handle) => promise.forward_to(handle.tensor().clone()),
            Err(error) => promise.set_error(error),
        });
        handle
    }
}

impl fmt::Debug for CompositeOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompositeOp")
            .field("function", &self.function.as_ref().name())
            .finish_non_exhaustive()
    }
}
