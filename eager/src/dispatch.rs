//! What happens when an op with an implementation in host memory is called.
//!
//! An error among the arguments becomes every result. Then the metadata function runs, and what it refuses is an error of
//! the call. If all arguments are there, so is the implementation's turn; else the call is kept, with its arguments and
//! attributes, until the last of them is, and its results are promised. Ops that do something beyond their results also
//! wait for the caller's chain, and leave one behind.

use std::sync::Arc;

use smallvec::SmallVec;
use tfrt_host::{
    AsyncValue, AsyncValueRef, Chain, Diagnostic, ExecutionContext, IndirectPromise, Promise, Status,
};
use tfrt_tensor::{Accessor, HostTensor, TensorMetadata};

use crate::{
    CpuCall, CpuResult, Device, Forms, MetadataCall, OpAttrs, OpInvocation, Results, TensorHandle, op::fail,
    registry::Op, tensor_handle::host_tensor,
};

static CONVERT: Accessor = Accessor::new("conversion to a dense tensor");

type Metadata = SmallVec<[TensorMetadata; 2]>;

/// Calls `op` on tensors of the host `device`.
pub(crate) fn execute(op: &Arc<Op>, device: &Device, mut invocation: OpInvocation<'_>) -> Results {
    let (cx, count) = (invocation.cx, invocation.result_count);
    let mut chain = invocation.chain.take().filter(|_| op.side_effecting);
    let failed = invocation.arguments.iter().find_map(TensorHandle::error);
    if let Some(error) = failed.or_else(|| chain.as_ref()?.as_untyped().error()) {
        return fail(cx, device, count, error, chain);
    }
    let metadata = match known_metadata(op, &invocation) {
        Ok(metadata) => metadata,
        Err(error) => return fail(cx, device, count, error, chain),
    };
    if metadata.as_ref().is_some_and(|metadata| metadata.len() != count) {
        let got = metadata.map_or(0, |metadata| metadata.len());
        let message = format!("'{}' gives {got} results, expected {count}", op.name());
        return fail(cx, device, count, Diagnostic::invalid_argument(message), chain);
    }
    let begins_at_once = invocation.arguments.iter().all(TensorHandle::is_available)
        && chain.as_ref().is_none_or(|chain| chain.status() == Status::Ready);
    let arguments = invocation.arguments.drain(..).map(TensorHandle::into_tensor).collect();
    if !begins_at_once {
        return defer(op, device, (cx, arguments, invocation.attrs), metadata, chain, count);
    }
    match run(op, cx, arguments, invocation.attrs, metadata.as_deref()) {
        Ok(result) => {
            if let (Some(chain), Some(done)) = (chain.as_mut(), result.done) {
                **chain = done;
            }
            let handles = result.tensors.into_iter().enumerate();
            let known = |index| metadata.as_ref().map(|metadata| &metadata[index]);
            handles.map(|(index, tensor)| handle(device, known(index), tensor)).collect()
        }
        Err(error) => fail(cx, device, count, error, chain),
    }
}

fn handle(device: &Device, metadata: Option<&TensorMetadata>, tensor: AsyncValue) -> TensorHandle {
    match metadata {
        Some(metadata) => TensorHandle::new(device.clone(), metadata, tensor),
        None => TensorHandle::from_pending(device.clone(), tensor),
    }
}

/// What the op's metadata function says; `None` if it has none, or if an argument's metadata is still to come.
fn known_metadata(op: &Op, invocation: &OpInvocation<'_>) -> Result<Option<Metadata>, Diagnostic> {
    let Some(function) = op.metadata else { return Ok(None) };
    let mut arguments = SmallVec::<[_; 4]>::new();
    for argument in &invocation.arguments {
        match argument.metadata() {
            Some(metadata) => arguments.push(metadata?),
            None => return Ok(None),
        }
    }
    function(MetadataCall { arguments: &arguments, attrs: invocation.attrs }).map(Some)
}

/// Computes the results: every argument is available.
fn run(
    op: &Op,
    cx: &ExecutionContext,
    arguments: SmallVec<[AsyncValue; 4]>,
    attrs: &OpAttrs,
    metadata: Option<&[TensorMetadata]>,
) -> Result<CpuResult, Diagnostic> {
    if let Some(reason) = cx.request().cancellation() {
        return Err(reason.clone().into());
    }
    let mut tensors = SmallVec::<[_; 4]>::new();
    for value in arguments {
        // The value goes at once: if it was the last one, its tensor is this call's alone.
        tensors.push(convert(host_tensor(&value)?.clone(), op.forms, cx)?);
    }
    let later;
    let results = match (metadata, op.metadata) {
        (Some(metadata), _) => metadata,
        (None, Some(function)) => {
            let arguments: SmallVec<[_; 4]> =
                tensors.iter().map(|tensor| tensor.metadata().clone()).collect();
            later = function(MetadataCall { arguments: &arguments, attrs })?;
            &later
        }
        (None, None) => &[],
    };
    let Some(function) = op.cpu else {
        return Err(Diagnostic::internal(format!("'{}' has no implementation here", op.name())));
    };
    function(CpuCall { cx, arguments: tensors, attrs, results })
}

/// The tensor in a form that the op takes.
fn convert(tensor: HostTensor, forms: Forms, cx: &ExecutionContext) -> Result<HostTensor, Diagnostic> {
    let is_taken = match &tensor {
        HostTensor::Dense(_) => true,
        HostTensor::Scalar(_) => forms.scalar,
        HostTensor::Coo(_) => forms.coo,
        HostTensor::String(_) => forms.string,
    };
    if is_taken {
        return Ok(tensor);
    }
    if matches!(tensor, HostTensor::String(_)) {
        // Existing programs expect this spelling.
        return Err(Diagnostic::invalid_argument("Cannot implictly convert StringHost to DenseHost"));
    }
    tensor.to_dense(&CONVERT, cx.host().allocator()).map(HostTensor::from)
}

/// A call that waits for its arguments.
struct Waiting {
    op: Arc<Op>,
    cx: ExecutionContext,
    arguments: SmallVec<[AsyncValue; 4]>,
    attrs: OpAttrs,
    metadata: Option<Metadata>,
    results: SmallVec<[IndirectPromise; 2]>,
    chain: Option<AsyncValueRef<Chain>>,
    done: Option<Promise<Chain>>,
}

fn defer(
    op: &Arc<Op>,
    device: &Device,
    (cx, arguments, attrs): (&ExecutionContext, SmallVec<[AsyncValue; 4]>, &OpAttrs),
    metadata: Option<Metadata>,
    chain: Option<&mut AsyncValueRef<Chain>>,
    count: usize,
) -> Results {
    let known = |index| metadata.as_ref().map(|metadata| &metadata[index]);
    let (results, handles): (_, Results) =
        (0..count).map(|index| TensorHandle::promised(device.clone(), known(index))).unzip();
    let (mut before, mut done) = (None, None);
    if let Some(chain) = chain {
        let (promise, after) = Promise::new();
        before = Some(std::mem::replace(chain, after));
        done = Some(promise);
    }
    Waiting {
        op: op.clone(),
        cx: cx.clone(),
        arguments,
        attrs: attrs.clone(),
        metadata,
        results,
        chain: before,
        done,
    }
    .advance();
    handles
}

impl Waiting {
    /// Waits for what is still pending, one after the other, then runs.
    fn advance(self) {
        let chain = self.chain.as_ref().map(AsyncValueRef::as_untyped);
        let pending = self.arguments.iter().chain(chain).find(|value| value.status() == Status::Pending);
        match pending.cloned() {
            Some(value) => value.and_then(move || self.advance()),
            None => self.run(),
        }
    }

    fn run(self) {
        let Self { op, cx, arguments, attrs, metadata, results, chain, done } = self;
        // An error that came later is handed on as it is, like one that was there at once.
        let chain = chain.as_ref().map(AsyncValueRef::as_untyped);
        let failed = arguments.iter().chain(chain).find_map(AsyncValue::error);
        let outcome = match failed {
            Some(error) => Err(error),
            None => run(&op, &cx, arguments, &attrs, metadata.as_deref()).map_err(|error| cx.emit(error)),
        };
        match outcome {
            Ok(result) if result.tensors.len() == results.len() => {
                results
                    .into_iter()
                    .zip(result.tensors)
                    .for_each(|(promise, tensor)| promise.forward_to(tensor));
                settle(done, result.done);
            }
            outcome => {
                let error = outcome.err().unwrap_or_else(|| {
                    let message = format!("'{}' does not give {} results", op.name(), results.len());
                    cx.emit(Diagnostic::invalid_argument(message))
                });
                results.into_iter().for_each(|promise| promise.set_error(error.clone()));
                settle(done, Some(AsyncValueRef::from_error(error)));
            }
        }
    }
}

/// Keeps the promise of a chain when the op is done.
fn settle(promise: Option<Promise<Chain>>, done: Option<AsyncValueRef<Chain>>) {
    let Some(promise) = promise else { return };
    done.unwrap_or(Chain.into()).then(move |outcome| match outcome {
        Ok(_) => promise.emplace(Chain),
        Err(error) => promise.set_error(error),
    });
}
