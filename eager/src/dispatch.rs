//! What happens when an op is called: in host memory, or on a device.
//!
//! An error among the arguments becomes every result. Then the metadata function runs, and what it refuses is an error of
//! the call. If all arguments are there, so is the implementation's turn; else the call is kept, with its arguments and
//! attributes, until the last of them is, and its results are promised. Ops that do something beyond their results also
//! wait for the caller's chain, and leave one behind.
//!
//! Tensors that are in device memory while the op takes them from the host are copied first, which is one more thing to wait
//! for. The other way needs no waiting: see [`on_device`](crate::on_device).

use std::{borrow::Cow, sync::Arc};

use smallvec::SmallVec;
use tfrt_host::{
    AsyncValue, AsyncValueRef, Chain, Diagnostic, ExecutionContext, IndirectPromise, Promise, Status,
};
use tfrt_tensor::{Accessor, HostTensor, TensorMetadata};

use crate::{
    CoreRuntime, CpuCall, Device, DeviceArgument, DeviceTensor, Forms, MetadataCall, OpAttrs, OpInvocation,
    OpResult, Results, TensorHandle, on_device, op::fail, registry::Op, tensor_handle::host_tensor,
};

static CONVERT: Accessor = Accessor::new("conversion to a dense tensor");

type Metadata = SmallVec<[TensorMetadata; 2]>;

/// Whether an op on this device takes an argument from host memory.
fn takes_from_host(op: &Op, device: &Device, index: usize, count: usize) -> bool {
    match (device.queue(), &op.device) {
        (Some(_), Some((_, host_arguments))) => host_arguments.must_be_on_host(index, count),
        _ => true,
    }
}

/// Queues the copies of available arguments that are on a device and should not be.
fn fetch(
    op: &Op,
    device: &Device,
    arguments: &mut [AsyncValue],
    cx: &ExecutionContext,
) -> Result<(), Diagnostic> {
    let count = arguments.len();
    for (index, argument) in arguments.iter_mut().enumerate() {
        if let Some(tensor) = argument.get::<DeviceTensor>()
            && takes_from_host(op, device, index, count)
        {
            *argument = tensor.to_host(cx)?.into_untyped();
        }
    }
    Ok(())
}

/// Calls `op` on `device`.
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
    let chain_is_there = chain.as_ref().is_none_or(|chain| chain.status() == Status::Ready);
    let known = (invocation.attrs, metadata.as_deref(), count);
    let outcome = if chain_is_there && are_in_host_memory(device, &invocation) {
        // The usual case, which makes no list of them first.
        run(op, device, cx, invocation.arguments.drain(..).map(TensorHandle::into_tensor), known)
    } else {
        let mut arguments: SmallVec<[_; 4]> =
            invocation.arguments.drain(..).map(TensorHandle::into_tensor).collect();
        if let Err(error) = fetch(op, device, &mut arguments, cx) {
            return fail(cx, device, count, error, chain);
        }
        if !chain_is_there || arguments.iter().any(|argument| argument.status() == Status::Pending) {
            return defer(op, device, (cx, arguments, invocation.attrs), metadata, chain, count);
        }
        run(op, device, cx, arguments, known)
    };
    match outcome {
        Ok(result) => {
            if let (Some(chain), Some(done)) = (chain.as_mut(), result.done) {
                **chain = done;
            }
            let results_on = results_on(op, device, cx);
            let handles = result.tensors.into_iter().enumerate();
            let known = |index| metadata.as_ref().map(|metadata| &metadata[index]);
            handles.map(|(index, tensor)| handle(&results_on, known(index), tensor)).collect()
        }
        Err(error) => fail(cx, device, count, error, chain),
    }
}

/// Whether an op that runs in host memory finds all its arguments there.
fn are_in_host_memory(device: &Device, invocation: &OpInvocation<'_>) -> bool {
    let is_there = |handle: &TensorHandle| handle.tensor().get::<HostTensor>().is_some();
    device.queue().is_none() && invocation.arguments.iter().all(is_there)
}

/// Where the results are.
fn results_on<'d>(op: &Op, device: &'d Device, cx: &ExecutionContext) -> Cow<'d, Device> {
    match op.results_on_host && device.queue().is_some() {
        true => Cow::Owned(CoreRuntime::of(cx.host()).host_device().clone()),
        false => Cow::Borrowed(device),
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
    device: &Device,
    cx: &ExecutionContext,
    arguments: impl IntoIterator<Item = AsyncValue>,
    (attrs, metadata, count): (&OpAttrs, Option<&[TensorMetadata]>, usize),
) -> Result<OpResult, Diagnostic> {
    if let Some(reason) = cx.request().cancellation() {
        return Err(reason.clone().into());
    }
    if let (Some(queue), Some(implementation)) = (device.queue(), op.device) {
        let arguments: SmallVec<[_; 4]> =
            arguments.into_iter().map(device_argument).collect::<Result<_, _>>()?;
        let metadata_of = |argument: &DeviceArgument| match argument {
            DeviceArgument::Device(tensor) => tensor.metadata(),
            DeviceArgument::Host(tensor) => tensor.metadata().clone(),
        };
        let later;
        let results = match metadata {
            Some(metadata) => metadata,
            None => {
                later = late_metadata(op, arguments.iter().map(metadata_of), attrs)?;
                &later
            }
        };
        return on_device::run(implementation, queue, cx, arguments, (attrs, results), count);
    }
    let Some(function) = op.cpu else {
        return Err(Diagnostic::internal(format!("'{}' has no implementation here", op.name())));
    };
    let later;
    // The tensors are written where the call has them: they are large.
    let mut call = CpuCall { cx, arguments: SmallVec::new(), attrs, results: metadata.unwrap_or_default() };
    for value in arguments {
        // The value goes at once: if it was the last one, its tensor is this call's alone.
        let tensor = host_tensor(&value)?;
        match takes(op.forms, tensor) {
            true => call.arguments.push(tensor.clone()),
            false => call.arguments.push(converted(tensor, cx)?),
        }
    }
    if metadata.is_none() {
        later = late_metadata(op, call.arguments.iter().map(|tensor| tensor.metadata().clone()), attrs)?;
        call.results = &later;
    }
    function(call)
}

/// What the metadata function says once all arguments are there; nothing if there is none.
fn late_metadata(
    op: &Op,
    arguments: impl Iterator<Item = TensorMetadata>,
    attrs: &OpAttrs,
) -> Result<Metadata, Diagnostic> {
    let Some(function) = op.metadata else { return Ok(Metadata::new()) };
    let arguments: SmallVec<[_; 4]> = arguments.collect();
    function(MetadataCall { arguments: &arguments, attrs })
}

/// An available tensor, wherever it is. The value goes at once: if it was the last one, its tensor is this call's alone.
fn device_argument(value: AsyncValue) -> Result<DeviceArgument, Diagnostic> {
    Ok(match value.get::<DeviceTensor>() {
        Some(tensor) => DeviceArgument::Device(tensor.clone()),
        None => DeviceArgument::Host(host_tensor(&value)?.clone()),
    })
}

/// Whether an op takes a tensor as it is.
fn takes(forms: Forms, tensor: &HostTensor) -> bool {
    match tensor {
        HostTensor::Dense(_) => true,
        HostTensor::Scalar(_) => forms.scalar,
        HostTensor::Coo(_) => forms.coo,
        HostTensor::String(_) => forms.string,
    }
}

/// The tensor in the form that all ops take.
fn converted(tensor: &HostTensor, cx: &ExecutionContext) -> Result<HostTensor, Diagnostic> {
    if matches!(tensor, HostTensor::String(_)) {
        // Existing programs expect this spelling.
        return Err(Diagnostic::invalid_argument("Cannot implictly convert StringHost to DenseHost"));
    }
    tensor.to_dense(&CONVERT, cx.host().allocator()).map(HostTensor::from)
}

/// A call that waits for its arguments.
struct Waiting {
    op: Arc<Op>,
    device: Device,
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
    let results_on = results_on(op, device, cx);
    let (results, handles): (_, Results) =
        (0..count).map(|index| TensorHandle::promised(Device::clone(&results_on), known(index))).unzip();
    let (mut before, mut done) = (None, None);
    if let Some(chain) = chain {
        let (promise, after) = Promise::new();
        before = Some(std::mem::replace(chain, after));
        done = Some(promise);
    }
    Waiting {
        op: op.clone(),
        device: device.clone(),
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
    /// Waits for what is still pending, one after the other, and for copies to the host, then runs.
    fn advance(mut self) {
        let chain = self.chain.as_ref().map(AsyncValueRef::as_untyped);
        let pending = self.arguments.iter().chain(chain).find(|value| value.status() == Status::Pending);
        if let Some(value) = pending.cloned() {
            return value.and_then(move || self.advance());
        }
        match fetch(&self.op, &self.device, &mut self.arguments, &self.cx) {
            Ok(()) if self.arguments.iter().any(|value| value.status() == Status::Pending) => self.advance(),
            fetched => self.run(fetched),
        }
    }

    fn run(self, fetched: Result<(), Diagnostic>) {
        let Self { op, device, cx, arguments, attrs, metadata, results, chain, done } = self;
        // An error that came later is handed on as it is, like one that was there at once.
        let chain = chain.as_ref().map(AsyncValueRef::as_untyped);
        let failed = arguments.iter().chain(chain).find_map(AsyncValue::error);
        let outcome = match failed {
            Some(error) => Err(error),
            None => fetched
                .and_then(|()| {
                    run(&op, &device, &cx, arguments, (&attrs, metadata.as_deref(), results.len()))
                })
                .map_err(|error| cx.emit(error)),
        };
        keep(&cx, results, done, outcome);
    }
}

/// Keeps the promises of an op that ran later than it was called.
pub(crate) fn keep(
    cx: &ExecutionContext,
    results: SmallVec<[IndirectPromise; 2]>,
    done: Option<Promise<Chain>>,
    outcome: Result<OpResult, Arc<Diagnostic>>,
) {
    match outcome {
        Ok(result) if result.tensors.len() == results.len() => {
            results.into_iter().zip(result.tensors).for_each(|(promise, tensor)| promise.forward_to(tensor));
            settle(done, result.done);
        }
        outcome => {
            let error = outcome.err().unwrap_or_else(|| {
                let message = format!("the op does not give {} results", results.len());
                cx.emit(Diagnostic::invalid_argument(message))
            });
            results.into_iter().for_each(|promise| promise.set_error(error.clone()));
            settle(done, Some(AsyncValueRef::from_error(error)));
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
