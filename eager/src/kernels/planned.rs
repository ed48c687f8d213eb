//! `tfrt_cuda.op.*`: ops in programs that plan streams and memory beforehand.
//!
//! `tfrt_cuda.op.run` queues the device form of an op: its results go to memory that the program
//! names, and nothing is allocated. So any op that runs on devices can be part of a program that is
//! recorded as a graph.

use std::{fmt, sync::Arc};

use smallvec::SmallVec;
use tfrt_device::{
    front::{DeviceBuffer, Stream},
    hal::F32Math,
    origin,
};
use tfrt_host::{
    Arg, AsyncValue, Attr, Chain, Diagnostic, ErrorCode, ExecutionContext, KernelRegistry, Rest,
    bef::{AggregateAttribute, RawAttribute},
    value_type,
};
use tfrt_tensor::{HostTensor, TensorMetadata};

use crate::{
    CoreRuntime, DeviceArgument, DeviceCall, DeviceFn, DeviceOpError, DeviceQueue, DeviceTensor, OpAttrs,
    OpResult, Place, TensorHandle,
    on_device::{CallMemory, PlannedMemory},
};

/// A stream with the libraries and CUDA kernels that ops use there.
#[derive(Clone, Debug)]
struct OpQueue(Arc<DeviceQueue>);

value_type!(OpQueue, "!tfrt_cuda.op_queue");

impl fmt::Display for OpQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

fn queue(stream: &Stream, math: F32Math) -> OpQueue {
    OpQueue(Arc::new(DeviceQueue::on_stream_with(stream.clone(), math)))
}

/// The types of an op's arguments and results: `(1x3xf32, 3x4xf32) -> (1x4xf32)`.
struct Types {
    arguments: Vec<TensorMetadata>,
    results: Vec<TensorMetadata>,
}

impl Types {
    fn parse(text: &str) -> Result<Self, Diagnostic> {
        let bad = || Diagnostic::invalid_argument(format!("'{text}' is not a list of types"));
        let list = |text: &str| {
            let inner = text.trim().strip_prefix('(')?.strip_suffix(')')?.trim();
            let types = inner.split(',').filter(|_| !inner.is_empty());
            types.map(|ty| TensorMetadata::from_mlir_name(ty.trim())).collect::<Option<Vec<_>>>()
        };
        let (arguments, results) = text.split_once("->").ok_or_else(bad)?;
        Ok(Self { arguments: list(arguments).ok_or_else(bad)?, results: list(results).ok_or_else(bad)? })
    }
}

/// An argument of a call.
enum Given<'a> {
    Device(DeviceTensor),
    Host(&'a HostTensor),
}

impl Given<'_> {
    fn as_argument(&self) -> DeviceArgument<'_> {
        match self {
            Self::Device(tensor) => DeviceArgument::Device(tensor),
            Self::Host(tensor) => DeviceArgument::Host(tensor),
        }
    }
}

fn argument<'a>(
    index: usize,
    value: &'a AsyncValue,
    ty: &TensorMetadata,
    queue: &Arc<DeviceQueue>,
) -> Result<Given<'a>, Diagnostic> {
    if let Some(buffer) = value.get::<DeviceBuffer>() {
        return Ok(Given::Device(on_buffer(buffer, ty, queue)?));
    }
    let tensor = match value.get::<TensorHandle>() {
        Some(handle) => handle.tensor().get::<HostTensor>(),
        None => value.get::<HostTensor>(),
    };
    tensor.map(Given::Host).ok_or_else(|| {
        let found = value.type_name();
        Diagnostic::invalid_argument(format!(
            "argument {index} must be a buffer or a host tensor, not a {found}"
        ))
    })
}

fn on_buffer(
    buffer: &DeviceBuffer,
    ty: &TensorMetadata,
    queue: &Arc<DeviceQueue>,
) -> Result<DeviceTensor, Diagnostic> {
    let tensor = tfrt_device::DenseGpuTensor::on_buffer(ty, buffer.clone())?;
    Ok(DeviceTensor::new(tensor, queue.clone()))
}

fn buffers(values: &[&AsyncValue]) -> Result<SmallVec<[DeviceBuffer; 4]>, Diagnostic> {
    let buffer = |value: &&AsyncValue| {
        value.get::<DeviceBuffer>().cloned().ok_or_else(|| {
            let found = value.type_name();
            Diagnostic::invalid_argument(format!("a result must be a buffer, not a {found}"))
        })
    };
    values.iter().map(buffer).collect()
}

fn text<'a>(attribute: &RawAttribute<'a>, name: &str) -> Result<&'a str, Diagnostic> {
    let typed = attribute.typed().ok();
    typed
        .and_then(|value| value.string())
        .ok_or_else(|| Diagnostic::invalid_argument(format!("attribute '{name}' is not a string")))
}

/// How much memory of each kind the places name: results, scratch memory, memory that is kept.
fn parse_places(text: &str) -> Result<(SmallVec<[Place; 4]>, [usize; 2]), Diagnostic> {
    let places = text.split(',').filter(|_| !text.is_empty());
    let places = places.map(|place| place.trim().parse()).collect::<Result<SmallVec<[Place; 4]>, _>>()?;
    let has_scratch = places.iter().any(|place| matches!(place, Place::Scratch { .. }));
    let has_kept = places.iter().any(|place| matches!(place, Place::Kept { .. }));
    Ok((places, [has_scratch.into(), has_kept.into()]))
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn run(
    queue: Arg<OpQueue>,
    _chain: Chain,
    values: Rest<'_, AsyncValue>,
    memory: Attr<RawAttribute<'_>>,
    op_attrs: Attr<AggregateAttribute<'_>>,
    op_name: Attr<RawAttribute<'_>>,
    types: Attr<RawAttribute<'_>>,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let (queue, name) = (&queue.0, text(&op_name.0, "op_name")?);
    let mut attrs = OpAttrs::new();
    attrs.extend_from_program(op_attrs.0, false, cx.host().allocator())?;
    let types = Types::parse(text(&types.0, "types")?)?;
    let (places, [scratch, kept]) = parse_places(text(&memory.0, "memory")?)?;
    let values = values.iter().collect::<Result<SmallVec<[&AsyncValue; 8]>, _>>()?;
    let expected = types.arguments.len() + types.results.len() + scratch + kept;
    if values.len() != expected {
        let message = format!("'{name}' takes {expected} tensors and buffers here, found {}", values.len());
        return Err(Diagnostic::invalid_argument(message));
    }
    let (given, own) = values.split_at(types.arguments.len());
    let given = given.iter().zip(&types.arguments).enumerate();
    let given = given.map(|(index, (value, ty))| argument(index, value, ty, queue));
    let given = given.collect::<Result<SmallVec<[Given<'_>; 4]>, _>>()?;
    let arguments: SmallVec<[_; 4]> = given.iter().map(Given::as_argument).collect();
    let own = buffers(own)?;
    let (results, parts) = own.split_at(types.results.len());
    let (scratch, kept) = parts.split_at(scratch);
    // What is copied from the host is not copied again when the program is recorded.
    let copies = !queue.stream().is_capturing();
    let planned = PlannedMemory::new(&places, results, [scratch.first(), kept.first()], copies);
    let memory = CallMemory::Planned(&planned);
    let call = DeviceCall::planned(cx, queue, &arguments, (&attrs, &types.results), memory);
    let _entered = origin::enter(cx);
    let made = device_form(name, cx)?(&call).map_err(|error| match error {
        DeviceOpError::Failed(error) => error,
        DeviceOpError::Later => Diagnostic::internal("an op of a planned program waits for memory"),
    })?;
    move_results(&made, results, queue)?;
    Ok(Chain)
}

fn device_form(name: &str, cx: &ExecutionContext) -> Result<DeviceFn, Diagnostic> {
    let core = CoreRuntime::of(cx.host());
    let device = core.ops().op(name).and_then(|op| op.device);
    let missing = || Diagnostic::new(ErrorCode::NotFound, format!("no op '{name}' runs on devices"));
    device.map(|(function, _)| function).ok_or_else(missing)
}

/// Copies results that the op left elsewhere, such as in an argument's memory.
fn move_results(
    made: &OpResult,
    results: &[DeviceBuffer],
    queue: &Arc<DeviceQueue>,
) -> Result<(), Diagnostic> {
    if made.tensors.len() != results.len() {
        let (made, expected) = (made.tensors.len(), results.len());
        return Err(Diagnostic::internal(format!("an op has {made} results instead of {expected}")));
    }
    for (made, result) in made.tensors.iter().zip(results) {
        let made = made
            .get::<DeviceTensor>()
            .ok_or_else(|| Diagnostic::internal("an op of a planned program has a result in host memory"))?;
        if made.buffer().address() != result.address() {
            queue.stream().copy((result, 0), (made.buffer(), 0), result.len(), false)?;
        }
    }
    Ok(())
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_cuda.op.queue", |stream: Arg<Stream>| queue(&stream, F32Math::F32))
        .doc("Returns a stream with the libraries and CUDA kernels that ops use there.");
    registry.add("tfrt_cuda.op.queue_with_tf32", |stream: Arg<Stream>| queue(&stream, F32Math::Tf32)).doc(
        "As 'op.queue', and products and convolutions of f32 may round their operands to TF32, of 11 significant bits.",
    );
    registry
        .add("tfrt_cuda.op.run", run)
        .attributes(&["memory", "op_attrs", "op_name", "types"])
        .typed_attributes()
        .side_effecting()
        .doc(
            "Queues an op on tensors in memory that the program planned: the arguments, the results, then scratch memory and \
             memory that the op keeps, if `memory` names any. Nothing is allocated.",
        );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_parsed() {
        let types = Types::parse("(1x3xf32, complex<f32>, 2xcomplex<f64>) -> (i1)").unwrap();
        let shown = |types: &[TensorMetadata]| types.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(shown(&types.arguments), ["F32 [1, 3]", "Complex64 []", "Complex128 [2]"]);
        assert_eq!(shown(&types.results), ["I1 []"]);
        assert!(Types::parse("() -> ()").is_ok());
        for bad in ["", "(f32)", "(f32) -> f32", "(1xx3xf32) -> ()", "(?xf32) -> ()"] {
            assert!(Types::parse(bad).is_err(), "{bad}");
        }
    }
}
