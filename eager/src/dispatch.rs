//! Calls ops, in host memory or on a device.
//!
//! If an argument is an error, it becomes every result. Otherwise the metadata function runs, and
//! what it rejects is an error of the call. If all arguments are available, the implementation runs
//! next. If not, the call is kept with its arguments and attributes until the last of them is
//! available, and its results are promises. Ops with effects also wait for the caller's chain, and
//! return a new one.
//!
//! Tensors in device memory that the op needs on the host are copied first, which is another reason
//! to wait. The other direction needs no waiting: see [`on_device`](crate::on_device).

use std::{borrow::Cow, sync::Arc};

use smallvec::SmallVec;
use tfrt_host::{
    AsyncValue, AsyncValueRef, Chain, Diagnostic, ExecutionContext, IndirectPromise, Promise, Status, tracing,
};
use tfrt_tensor::{Accessor, HostTensor, TensorMetadata};

use crate::{
    CoreRuntime, CpuCall, Device, DeviceArgument, DeviceQueue, DeviceTensor, ForeignTensor, Forms,
    MetadataCall, OpAttrs, OpInvocation, OpResult, Results, TensorHandle, on_device,
    op::fail,
    registry::{MetadataFn, Op, given_up_at},
    tensor_handle::host_tensor,
};

static CONVERT: Accessor = Accessor::new("conversion to a dense tensor");

type Metadata = SmallVec<[TensorMetadata; 2]>;
type HostTensors<'a> = SmallVec<[&'a HostTensor; 4]>;
type DeviceArguments<'a> = SmallVec<[DeviceArgument<'a>; 4]>;

/// Returns whether an op on this device takes an argument from host memory.
fn takes_from_host(op: &Op, device: &Device, index: usize, count: usize) -> bool {
    match (device.queue(), &op.device) {
        (Some(_), Some((_, host_arguments))) => host_arguments.must_be_on_host(index, count),
        _ => true,
    }
}

/// Returns the available argument if it is on a device but must be on the host.
fn to_fetch<'a>(
    op: &Op,
    device: &Device,
    (index, count): (usize, usize),
    argument: &'a AsyncValue,
) -> Option<&'a DeviceTensor> {
    argument.get::<DeviceTensor>().filter(|_| takes_from_host(op, device, index, count))
}

/// Queues the copies of available arguments that are on a device but must be on the host, and of
/// those of other tasks.
fn fetch(
    op: &Op,
    device: &Device,
    arguments: &mut [AsyncValue],
    cx: &ExecutionContext,
) -> Result<(), Diagnostic> {
    let count = arguments.len();
    for (index, argument) in arguments.iter_mut().enumerate() {
        if let Some(tensor) = to_fetch(op, device, (index, count), argument) {
            *argument = tensor.to_host(cx)?.into_untyped();
        } else if let Some(tensor) = argument.get::<ForeignTensor>() {
            *argument = tensor.to_host(cx)?.into_untyped();
        }
    }
    Ok(())
}

/// Returns a bit for each argument that the caller gives up.
pub(crate) fn given_up<T>(arguments: &[T], is_given_up: impl Fn(&T) -> bool) -> u64 {
    let bits =
        arguments.iter().enumerate().map(|(index, argument)| given_up_at(index, is_given_up(argument)));
    bits.fold(0, |all, bit| all | bit)
}

/// Returns a bit for each handle that is passed with its tensor.
fn handed_over(arguments: &[Cow<'_, TensorHandle>]) -> u64 {
    given_up(arguments, |argument| matches!(argument, Cow::Owned(handle) if handle.tensor().is_unique()))
}

/// Returns the host's device if there are strings among the arguments, because an op on strings
/// must run in host memory.
fn place_of_strings(op: &Op, arguments: &[Cow<'_, TensorHandle>]) -> Option<Device> {
    let is_string = |handle: &&Cow<'_, TensorHandle>| {
        let tensor = handle.known().and_then(|tensor| tensor.get::<HostTensor>());
        matches!(tensor, Some(HostTensor::String(_))) && handle.device().queue().is_none()
    };
    let strings = arguments.iter().find(is_string).filter(|_| op.runs_on_host())?;
    Some(strings.device().clone())
}

/// Calls `op` on `device`.
pub(crate) fn execute(op: &Arc<Op>, device: &Device, mut invocation: OpInvocation<'_>) -> Results {
    if device.queue().is_some()
        && let Some(host) = place_of_strings(op, &invocation.arguments)
    {
        return execute(op, &host, invocation);
    }
    let chain = invocation.chain.take().filter(|_| op.is_side_effecting());
    if chain.as_ref().is_some_and(|chain| chain.status() != Status::Ready) {
        return execute_in_general(op, device, invocation, chain);
    }
    // The usual case: all arguments are available where the op needs them, and their metadata is
    // known.
    let (cx, attrs, count) = (invocation.cx, invocation.attrs, invocation.result_count);
    let handles = &invocation.arguments;
    match (device.queue(), op.device) {
        (None, _) => {
            let mut arguments = HostTensors::new();
            if all(handles, |_, tensor| tensor.get::<HostTensor>(), &mut arguments) {
                let given_up = handed_over(handles);
                return execute_at_once(op, device, &invocation, chain, metadata_of(&arguments), |results| {
                    compute(op, cx, (&arguments, given_up), (attrs, results))
                });
            }
        }
        (Some(queue), Some(implementation @ (_, host_arguments))) => {
            let in_place = |index, tensor| match DeviceArgument::available(tensor)? {
                DeviceArgument::Device(_) if host_arguments.must_be_on_host(index, handles.len()) => None,
                argument => Some(argument),
            };
            let mut arguments = DeviceArguments::new();
            if all(handles, in_place, &mut arguments) {
                let (given_up, values) = (handed_over(handles), handles.iter().map(|handle| handle.tensor()));
                let known = arguments.iter().map(DeviceArgument::metadata);
                return execute_at_once(op, device, &invocation, chain, known, |results| {
                    let on = (implementation, queue);
                    run_on_device(op, on, cx, (&arguments, given_up), values, (attrs, results, count))
                });
            }
        }
        (Some(_), None) => {}
    }
    execute_in_general(op, device, invocation, chain)
}

/// Collects the available tensors for an op, or returns false if one is not available.
// Here and below, lists are filled and read in place: reading recently written data elsewhere costs
// more than the rest.
#[inline]
fn all<'a, T>(
    handles: &'a [Cow<'_, TensorHandle>],
    is: impl Fn(usize, &'a AsyncValue) -> Option<T>,
    arguments: &mut SmallVec<[T; 4]>,
) -> bool {
    handles.iter().enumerate().all(|(index, handle)| {
        let argument = handle.known().and_then(|tensor| is(index, tensor));
        argument.is_some_and(|argument| {
            arguments.push(argument);
            true
        })
    })
}

/// Calls an op with available arguments, with the metadata that the metadata function returns.
fn execute_at_once<'t>(
    op: &Op,
    device: &Device,
    invocation: &OpInvocation<'_>,
    chain: Option<&mut AsyncValueRef<Chain>>,
    known: impl Iterator<Item = &'t TensorMetadata>,
    run: impl FnOnce(Option<&[TensorMetadata]>) -> Result<OpResult, Diagnostic>,
) -> Results {
    let (cx, count) = (invocation.cx, invocation.result_count);
    let Some(function) = op.metadata else {
        return finish(op, (cx, device), run(None), None, count, chain);
    };
    let described = describe(function, known, invocation.attrs);
    let metadata = match &described {
        Ok(metadata) if metadata.len() == count => Some(&**metadata),
        Ok(metadata) => return fail(cx, device, count, miscounted(op, metadata.len(), count), chain),
        Err(error) => return fail(cx, device, count, error.clone(), chain),
    };
    finish(op, (cx, device), run(metadata), metadata, count, chain)
}

fn metadata_of<'t>(tensors: &[&'t HostTensor]) -> impl Iterator<Item = &'t TensorMetadata> {
    tensors.iter().map(|tensor| tensor.metadata())
}

/// Calls an op in all other cases: the arguments may be anywhere and may be pending.
fn execute_in_general(
    op: &Arc<Op>,
    device: &Device,
    invocation: OpInvocation<'_>,
    chain: Option<&mut AsyncValueRef<Chain>>,
) -> Results {
    let OpInvocation { cx, arguments, attrs, result_count: count, .. } = invocation;
    let failed = arguments.iter().find_map(|argument| argument.error());
    if let Some(error) = failed.or_else(|| chain.as_ref()?.as_untyped().error()) {
        return fail(cx, device, count, error, chain);
    }
    // An argument that has failed since then is reported where its elements are read.
    let known =
        arguments.iter().map(|argument| argument.metadata()?.ok()).collect::<Option<SmallVec<[_; 4]>>>();
    let described =
        op.metadata.zip(known).map(|(function, known)| metadata(op, function, &known, attrs, count));
    let metadata = match described.transpose() {
        Ok(metadata) => metadata,
        Err(error) => return fail(cx, device, count, error, chain),
    };
    let chain_is_there = chain.as_ref().is_none_or(|chain| chain.status() == Status::Ready);
    let must_wait = |(index, argument): (usize, &Cow<'_, TensorHandle>)| {
        let value = argument.tensor();
        value.status() == Status::Pending
            || to_fetch(op, device, (index, arguments.len()), value).is_some()
            || value.get::<ForeignTensor>().is_some()
    };
    if chain_is_there && !arguments.iter().enumerate().any(must_wait) {
        let values: SmallVec<[_; 4]> = arguments.iter().map(|argument| argument.tensor()).collect();
        let given_up = handed_over(&arguments);
        let outcome = run(op, device, cx, (&values, given_up), (attrs, metadata.as_deref(), count));
        return finish(op, (cx, device), outcome, metadata.as_deref(), count, chain);
    }
    let mut arguments: SmallVec<[_; 4]> =
        arguments.into_iter().map(|argument| argument.into_owned().into_tensor()).collect();
    if let Err(error) = fetch(op, device, &mut arguments, cx) {
        return fail(cx, device, count, error, chain);
    }
    defer(op, device, (cx, arguments, attrs), metadata, chain, count)
}

/// Returns the metadata of the results, if the op has a metadata function.
fn describe<'t>(
    function: MetadataFn,
    arguments: impl IntoIterator<Item = &'t TensorMetadata>,
    attrs: &OpAttrs,
) -> Result<Metadata, Diagnostic> {
    let mut known = SmallVec::<[_; 4]>::new();
    for argument in arguments {
        known.push(argument);
    }
    function(MetadataCall { arguments: &known, attrs })
}

/// Returns the metadata of `count` results from the op's metadata function.
fn metadata<'t>(
    op: &Op,
    function: MetadataFn,
    arguments: impl IntoIterator<Item = &'t TensorMetadata>,
    attrs: &OpAttrs,
    count: usize,
) -> Result<Metadata, Diagnostic> {
    let metadata = describe(function, arguments, attrs)?;
    if metadata.len() == count { Ok(metadata) } else { Err(miscounted(op, metadata.len(), count)) }
}

#[cold]
fn miscounted(op: &Op, given: usize, expected: usize) -> Diagnostic {
    Diagnostic::invalid_argument(format!("'{}' gives {given} results, expected {expected}", op.name()))
}

/// Returns the results of an op that ran immediately.
fn finish(
    op: &Op,
    (cx, device): (&ExecutionContext, &Device),
    outcome: Result<OpResult, Diagnostic>,
    metadata: Option<&[TensorMetadata]>,
    count: usize,
    chain: Option<&mut AsyncValueRef<Chain>>,
) -> Results {
    match outcome {
        Ok(result) => handles(&results_on(op, device, cx), result, metadata, chain),
        Err(error) => fail(cx, device, count, error, chain),
    }
}

// Not inlined, so that the handles are created in the caller's memory.
#[inline(never)]
fn handles(
    results_on: &Device,
    result: OpResult,
    metadata: Option<&[TensorMetadata]>,
    chain: Option<&mut AsyncValueRef<Chain>>,
) -> Results {
    if let (Some(chain), Some(done)) = (chain, result.done) {
        *chain = done;
    }
    let known = |index| metadata.and_then(|metadata| metadata.get(index));
    let mut handles = Results::new();
    for (index, tensor) in result.tensors.into_iter().enumerate() {
        handles.push(handle(results_on, known(index), tensor));
    }
    handles
}

/// Returns the device of the results.
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

/// Computes the results on the given device. Every argument is available.
fn run(
    op: &Op,
    device: &Device,
    cx: &ExecutionContext,
    (values, given_up): (&[&AsyncValue], u64),
    (attrs, known, count): (&OpAttrs, Option<&[TensorMetadata]>, usize),
) -> Result<OpResult, Diagnostic> {
    let later;
    if let (Some(queue), Some(implementation)) = (device.queue(), op.device) {
        let arguments: DeviceArguments<'_> =
            values.iter().map(|value| DeviceArgument::of(value)).collect::<Result<_, _>>()?;
        let results = match op.metadata {
            Some(function) if known.is_none() => {
                let arguments = arguments.iter().map(DeviceArgument::metadata);
                later = metadata(op, function, arguments, attrs, count)?;
                Some(&*later)
            }
            _ => known,
        };
        let (on, values) = ((implementation, queue), values.iter().copied());
        return run_on_device(op, on, cx, (&arguments, given_up), values, (attrs, results, count));
    }
    let arguments: HostTensors<'_> =
        values.iter().map(|value| host_tensor(value)).collect::<Result<_, _>>()?;
    let results = match op.metadata {
        Some(function) if known.is_none() => {
            later = metadata(op, function, metadata_of(&arguments), attrs, count)?;
            Some(&*later)
        }
        _ => known,
    };
    compute(op, cx, (&arguments, given_up), (attrs, results))
}

/// Queues the computation of the results on a device.
fn run_on_device<'v>(
    op: &Op,
    on: (on_device::Implementation, &Arc<DeviceQueue>),
    cx: &ExecutionContext,
    arguments: (&[DeviceArgument<'_>], u64),
    values: impl Iterator<Item = &'v AsyncValue>,
    (attrs, metadata, count): (&OpAttrs, Option<&[TensorMetadata]>, usize),
) -> Result<OpResult, Diagnostic> {
    check_wanted(cx)?;
    let _span = span(op, cx);
    on_device::run(on, cx, arguments, values, (attrs, metadata.unwrap_or_default(), count))
}

/// Returns an error if the request was cancelled.
fn check_wanted(cx: &ExecutionContext) -> Result<(), Diagnostic> {
    match cx.request().cancellation() {
        Some(reason) => Err(reason.clone().into()),
        None => Ok(()),
    }
}

/// Begins a span with the op's name and origin, if tracing is on.
#[inline]
fn span(op: &Op, cx: &ExecutionContext) -> Option<tracing::Span> {
    tracing::span("op", || match cx.location() {
        Some(location) => format!("{} at {location}", op.name()),
        None => op.name().to_owned(),
    })
}

/// Computes the results in host memory.
fn compute(
    op: &Op,
    cx: &ExecutionContext,
    (arguments, given_up): (&[&HostTensor], u64),
    (attrs, metadata): (&OpAttrs, Option<&[TensorMetadata]>),
) -> Result<OpResult, Diagnostic> {
    check_wanted(cx)?;
    let Some(function) = op.cpu else {
        return Err(Diagnostic::internal(format!("'{}' has no implementation here", op.name())));
    };
    let _span = span(op, cx);
    let results = metadata.unwrap_or_default();
    let takes = |tensor: &HostTensor| takes(op.forms, tensor);
    if arguments.iter().all(|tensor| takes(tensor)) {
        return function(CpuCall { cx, arguments, attrs, results, given_up });
    }
    let convert = |tensor: &&HostTensor| match takes(tensor) {
        true => Ok(None),
        false => converted(tensor, cx).map(Some),
    };
    let other: SmallVec<[_; 4]> = arguments.iter().map(convert).collect::<Result<_, Diagnostic>>()?;
    let (mut all, mut given_up) = (HostTensors::new(), given_up);
    for (index, (&tensor, other)) in arguments.iter().zip(&other).enumerate() {
        given_up |= given_up_at(index, other.is_some());
        all.push(other.as_ref().unwrap_or(tensor));
    }
    function(CpuCall { cx, arguments: &all, attrs, results, given_up })
}

/// Returns whether an op accepts the form of a tensor.
fn takes(forms: Forms, tensor: &HostTensor) -> bool {
    match tensor {
        HostTensor::Dense(_) => true,
        HostTensor::Scalar(_) => forms.scalar,
        HostTensor::Coo(_) => forms.coo,
        HostTensor::String(_) => forms.string,
    }
}

/// Returns the tensor in the form that all ops accept.
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
    /// Waits for pending arguments one by one, and for copies to the host, then runs the op.
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
        // An error of a pending argument is passed on unchanged, like one that was available at
        // once.
        let chain = chain.as_ref().map(AsyncValueRef::as_untyped);
        let failed = arguments.iter().chain(chain).find_map(AsyncValue::error);
        let outcome = match failed {
            Some(error) => Err(error),
            None => fetched
                .and_then(|()| {
                    let values: SmallVec<[_; 4]> = arguments.iter().collect();
                    let given_up = given_up(&arguments, AsyncValue::is_unique);
                    let values = (&*values, given_up);
                    run(&op, &device, &cx, values, (&attrs, metadata.as_deref(), results.len()))
                })
                .map_err(|error| cx.emit(error)),
        };
        keep(&cx, results, done, outcome);
    }
}

/// Fulfils the promises of an op that ran later than it was called.
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

/// Fulfils the promise of a chain when the op is done.
fn settle(promise: Option<Promise<Chain>>, done: Option<AsyncValueRef<Chain>>) {
    let Some(promise) = promise else { return };
    done.unwrap_or(Chain.into()).then(move |outcome| match outcome {
        Ok(_) => promise.emplace(Chain),
        Err(error) => promise.set_error(error),
    });
}
