//! Kernels that call ops: `corert.executeop` and related kernels.
//!
//! A result becomes available when its tensor does, so that kernels that use it need not wait
//! again. If the tensor is an error, so is the result. Arguments without later uses are passed with
//! their memory.

use std::borrow::Cow;

use smallvec::SmallVec;
use tfrt_host::{
    Arg, AsyncValue, AsyncValueRef, Attr, AttributeParameter, AttributeSpec, Chain, Diagnostic,
    ExecutionContext, FunctionRef, KernelFrame, KernelRegistry, KernelSignature, Promise, Status, TypeSpec,
    Value, bef::AggregateAttribute,
};

use crate::{
    CompositeOp, CoreRuntime, CoreRuntimeOp, OpAttrs, OpInvocation, Results, TensorHandle,
    op_handler::HandlerRef,
};

/// The differences between the kernels of this file.
#[derive(Clone, Copy)]
struct Form {
    /// Whether the first argument is a handler, and an attribute the op's name. Otherwise it is the
    /// op itself.
    by_name: bool,
    /// Whether a chain is taken and returned.
    chained: bool,
    /// Whether there are function attributes.
    functions: bool,
    /// Whether results are returned as soon as there is a handle, as synchronous functions require.
    synchronous: bool,
}

const EXECUTE: Form = Form { by_name: true, chained: false, functions: true, synchronous: false };
const EXECUTE_SEQ: Form = Form { chained: true, ..EXECUTE };
const EXECUTE_SYNC: Form = Form { functions: false, synchronous: true, ..EXECUTE };
const EXECUTE_OP: Form = Form { by_name: false, ..EXECUTE };

impl Form {
    fn signature(self) -> KernelSignature {
        let chain = self.chained.then_some(TypeSpec::Named(Chain::TYPE_NAME));
        let first = if self.by_name { HandlerRef::TYPE_NAME } else { CoreRuntimeOp::TYPE_NAME };
        let attribute = |name, spec| AttributeParameter { name, alias: None, spec };
        let mut attributes = vec![attribute("op_attrs", AttributeSpec::Aggregate)];
        if self.functions {
            attributes.push(attribute("op_func_attrs", AttributeSpec::Aggregate));
        }
        if self.by_name {
            attributes.push(attribute("op_name", AttributeSpec::Any));
        }
        KernelSignature {
            arguments: std::iter::once(TypeSpec::Named(first)).chain(chain).collect(),
            rest_arguments: Some(TypeSpec::Named(TensorHandle::TYPE_NAME)),
            attributes,
            results: chain.into_iter().collect(),
            rest_results: Some(TypeSpec::Named(TensorHandle::TYPE_NAME)),
            ..KernelSignature::default()
        }
    }

    fn run(self, frame: &mut KernelFrame<'_>) {
        match self.call(frame) {
            Ok((results, chain)) => {
                if let Some(chain) = chain {
                    frame.set_result(0, chain.into_untyped());
                }
                let first = usize::from(self.chained);
                for (index, handle) in results.into_iter().enumerate() {
                    let value =
                        if self.synchronous { AsyncValue::new(handle) } else { with_its_tensor(handle) };
                    frame.set_result(first + index, value);
                }
            }
            Err(error) => frame.fail(error),
        }
    }

    fn call(
        self,
        frame: &mut KernelFrame<'_>,
    ) -> Result<(Results, Option<AsyncValueRef<Chain>>), Diagnostic> {
        let cx = frame.context();
        let op = self.op(frame)?;
        let made;
        let attrs = match frame.prepared() {
            Some(attrs) => attrs,
            None => {
                made = self.attrs(frame)?;
                // Tensors are not kept, because they are memory of the host that runs the program.
                if made.has_no_tensors() {
                    frame.prepare::<OpAttrs>(made.clone());
                }
                &made
            }
        };
        let fixed = 1 + usize::from(self.chained);
        let mut chain = self.chained.then(|| AsyncValueRef::from_untyped(frame.take_argument(1)));
        let mut values = SmallVec::<[_; 4]>::new();
        values.extend((fixed..frame.argument_count()).map(|index| frame.take_argument(index)));
        let mut arguments = SmallVec::new();
        for (index, value) in (fixed..).zip(&mut values) {
            arguments.push(if value.is_unique() {
                let handle = handle(index, value)?.clone();
                // The op gets the handle, and may reuse its memory if there is no other user.
                *value = AsyncValue::new(Chain);
                Cow::Owned(handle)
            } else {
                Cow::Borrowed(handle(index, value)?)
            });
        }
        let result_count = frame.result_count() - usize::from(self.chained);
        let results = op.call(OpInvocation { cx, arguments, attrs, result_count, chain: chain.as_mut() });
        Ok((results, chain))
    }

    fn op(self, frame: &KernelFrame<'_>) -> Result<CoreRuntimeOp, Diagnostic> {
        let first = frame.argument(0);
        if !self.by_name {
            return first.get::<CoreRuntimeOp>().cloned().ok_or_else(|| wrong_argument(0, first));
        }
        let handler = first.get::<HandlerRef>().ok_or_else(|| wrong_argument(0, first))?;
        let name = frame.attribute::<tfrt_host::bef::RawAttribute<'_>>(1 + usize::from(self.functions))?;
        let name = name.typed().ok().and_then(|name| name.string());
        handler.0.make_op(name.ok_or_else(|| Diagnostic::invalid_argument("op_name is not a string"))?)
    }

    fn attrs(self, frame: &KernelFrame<'_>) -> Result<OpAttrs, Diagnostic> {
        let allocator = frame.context().host().allocator();
        let mut attrs = OpAttrs::new();
        attrs.extend_from_program(frame.attribute::<AggregateAttribute<'_>>(0)?, false, allocator)?;
        if self.functions {
            attrs.extend_from_program(frame.attribute::<AggregateAttribute<'_>>(1)?, true, allocator)?;
        }
        Ok(attrs)
    }
}

/// Returns the tensor handle in an argument.
fn handle(index: usize, value: &AsyncValue) -> Result<&TensorHandle, Diagnostic> {
    value.get::<TensorHandle>().ok_or_else(|| wrong_argument(index, value))
}

#[cold]
fn wrong_argument(index: usize, value: &AsyncValue) -> Diagnostic {
    Diagnostic::invalid_argument(format!("argument {index} of an op must not be a {}", value.type_name()))
}

/// Returns the handle as a value that becomes available with its tensor.
fn with_its_tensor(handle: TensorHandle) -> AsyncValue {
    match handle.tensor().status() {
        Status::Ready => AsyncValue::new(handle),
        Status::Failed => handle.tensor().clone(),
        Status::Pending => {
            let (promise, value) = Promise::new();
            let tensor = handle.tensor().clone();
            tensor.clone().and_then(move || match tensor.error() {
                None => promise.emplace(handle),
                Some(error) => promise.set_error(error),
            });
            value.into_untyped()
        }
    }
}

fn make_composite_op(function: FunctionRef<'_>, cx: &ExecutionContext) -> Result<CoreRuntimeOp, Diagnostic> {
    let device = CoreRuntime::of(cx.host()).host_device().clone();
    Ok(CompositeOp::new(device, function.to_function())?.into_op())
}

fn make_op(handler: Arg<HandlerRef>, name: Attr<str>) -> Result<CoreRuntimeOp, Diagnostic> {
    handler.0.make_op(name.0)
}

pub(super) fn register(registry: &mut KernelRegistry) {
    let forms = [
        ("corert.executeop", EXECUTE, "Runs the op of this name, which has no effects, on a handler."),
        ("corert_sync.executeop", EXECUTE_SYNC, "Runs the op of this name on a handler."),
        ("corert.execute_crt_op", EXECUTE_OP, "Runs an op."),
    ];
    for (name, form, doc) in forms {
        registry.add_raw(name, form.signature(), move |frame| form.run(frame)).typed_attributes().doc(doc);
    }
    registry
        .add_raw("corert.executeop.seq", EXECUTE_SEQ.signature(), |frame| EXECUTE_SEQ.run(frame))
        .side_effecting()
        .typed_attributes()
        .doc("Runs the op of this name, which may have effects, on a handler, ordered by a chain.");
    registry
        .add("corert.make_composite_op", make_composite_op)
        .functions(&["fn"])
        .doc("An op that calls a function.");
    registry
        .add("corert.make_op", make_op)
        .attributes(&["op_name"])
        .doc("The op of this name on a handler, to be run often by corert.execute_crt_op.");
}
