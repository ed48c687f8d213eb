//! Collectives.

use std::time::Duration;

use tfrt_device::front::{CollectiveGroup, Communicator, CommunicatorId, Context, DeviceBuffer, Stream};
use tfrt_device::hal::{Collective, ReduceOp};
use tfrt_host::{
    Arg, AsyncValue, AsyncValueRef, Attr, Chain, DType, Diagnostic, ExecutionContext, KernelRegistry, Rest,
};

use crate::{Done, follow, from, later, unsigned, waiting};

fn unique_id(context: Arg<Context>, _chain: Chain) -> Result<(CommunicatorId, Chain), Diagnostic> {
    Ok((context.communicator_id()?, Chain))
}

fn rank(what: &str, number: i32) -> Result<u32, Diagnostic> {
    u32::try_from(number).map_err(|_| Diagnostic::invalid_argument(format!("{what} is {number}")))
}

fn create(
    context: Arg<Context>,
    id: Arg<CommunicatorId>,
    ranks: i32,
    number: i32,
    _chain: Chain,
    timeout_ms: Attr<i64>,
    cx: &ExecutionContext,
) -> Result<(AsyncValueRef<Communicator>, AsyncValueRef<Chain>), Diagnostic> {
    let (ranks, number) = (rank("the number of ranks", ranks)?, rank("the rank", number)?);
    let timeout = Duration::from_millis(unsigned("the timeout", timeout_ms.0)?);
    let (context, id) = (context.clone(), *id);
    let create = move |_: &ExecutionContext| Ok(context.create_communicator(&id, ranks, number, timeout)?);
    let communicator = waiting(cx, create);
    let chain = follow(&communicator);
    Ok((communicator, chain))
}

fn destroy(
    communicator: Arg<Communicator>,
    stream: Arg<Stream>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    later(cx, |then| communicator.destroy(&stream, then))
}

fn element_type(name: &str) -> Result<DType, Diagnostic> {
    let unknown = || Diagnostic::invalid_argument(format!("there is no element type '{name}'"));
    DType::from_mlir_name(name).ok_or_else(unknown)
}

fn reduce_op(name: &str) -> Result<ReduceOp, Diagnostic> {
    match name {
        "sum" => Ok(ReduceOp::Sum),
        "prod" => Ok(ReduceOp::Product),
        "max" => Ok(ReduceOp::Maximum),
        "min" => Ok(ReduceOp::Minimum),
        "avg" => Ok(ReduceOp::Average),
        _ => Err(Diagnostic::invalid_argument(format!("'{name}' is none of sum, prod, max, min, avg"))),
    }
}

/// What all collectives have in common.
struct Call<'a> {
    communicator: &'a Communicator,
    stream: &'a Stream,
    count: i64,
    element: &'a str,
}

impl Call<'_> {
    fn run(
        &self,
        cx: &ExecutionContext,
        operation: Collective,
        send: Option<&DeviceBuffer>,
        receive: Option<&DeviceBuffer>,
    ) -> Done {
        let (count, dtype) = (unsigned("the count", self.count)?, element_type(self.element)?);
        let (communicator, stream) = (self.communicator.clone(), self.stream.clone());
        let (send, receive) = (send.cloned(), receive.cloned());
        Ok(waiting(cx, move |cx| {
            let run = || communicator.run(&stream, operation, dtype, count, send.as_ref(), receive.as_ref());
            from(cx, stream.context(), run)?;
            Ok(Chain)
        }))
    }
}

fn reducing(
    operation: fn(ReduceOp) -> Collective,
) -> impl Fn(&Communicator, &DeviceBuffer, &DeviceBuffer, i64, &Stream, &str, &str, &ExecutionContext) -> Done
{
    move |communicator, send, receive, count, stream, op, element, cx| {
        let operation = operation(reduce_op(op)?);
        Call { communicator, stream, count, element }.run(cx, operation, Some(send), Some(receive))
    }
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn all_gather(
    communicator: Arg<Communicator>,
    send: Arg<DeviceBuffer>,
    receive: Arg<DeviceBuffer>,
    count: i64,
    stream: Arg<Stream>,
    _chain: Chain,
    element: Attr<str>,
    cx: &ExecutionContext,
) -> Done {
    let call = Call { communicator: &communicator, stream: &stream, count, element: element.0 };
    call.run(cx, Collective::AllGather, Some(&send), Some(&receive))
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn broadcast(
    communicator: Arg<Communicator>,
    send: Arg<DeviceBuffer>,
    receive: Arg<DeviceBuffer>,
    count: i64,
    root: i32,
    stream: Arg<Stream>,
    _chain: Chain,
    element: Attr<str>,
    cx: &ExecutionContext,
) -> Done {
    let call = Call { communicator: &communicator, stream: &stream, count, element: element.0 };
    call.run(cx, Collective::Broadcast(rank("the root", root)?), Some(&send), Some(&receive))
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn reduce(
    communicator: Arg<Communicator>,
    send: Arg<DeviceBuffer>,
    receive: Arg<DeviceBuffer>,
    count: i64,
    root: i32,
    stream: Arg<Stream>,
    _chain: Chain,
    op: Attr<str>,
    element: Attr<str>,
    cx: &ExecutionContext,
) -> Done {
    let call = Call { communicator: &communicator, stream: &stream, count, element: element.0 };
    let operation = Collective::Reduce(reduce_op(op.0)?, rank("the root", root)?);
    call.run(cx, operation, Some(&send), Some(&receive))
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn send(
    communicator: Arg<Communicator>,
    buffer: Arg<DeviceBuffer>,
    count: i64,
    peer: i32,
    stream: Arg<Stream>,
    _chain: Chain,
    element: Attr<str>,
    cx: &ExecutionContext,
) -> Done {
    let call = Call { communicator: &communicator, stream: &stream, count, element: element.0 };
    call.run(cx, Collective::Send(rank("the peer", peer)?), Some(&buffer), None)
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn receive(
    communicator: Arg<Communicator>,
    buffer: Arg<DeviceBuffer>,
    count: i64,
    peer: i32,
    stream: Arg<Stream>,
    _chain: Chain,
    element: Attr<str>,
    cx: &ExecutionContext,
) -> Done {
    let call = Call { communicator: &communicator, stream: &stream, count, element: element.0 };
    call.run(cx, Collective::Receive(rank("the peer", peer)?), None, Some(&buffer))
}

fn group_start(
    _chain: Chain,
    communicators: Rest<AsyncValue>,
) -> Result<(CollectiveGroup, Chain), Diagnostic> {
    let mut members = Vec::new();
    for (index, value) in communicators.iter().enumerate() {
        let value = value?;
        let communicator = value.get::<Communicator>().ok_or_else(|| {
            Diagnostic::invalid_argument(format!(
                "argument {index} is a {}, not a communicator",
                value.type_name()
            ))
        })?;
        members.push(communicator.clone());
    }
    Ok((CollectiveGroup::start(&members)?, Chain))
}

fn group_end(group: Arg<CollectiveGroup>, _chain: Chain, cx: &ExecutionContext) -> AsyncValueRef<Chain> {
    let group = group.clone();
    waiting(cx, move |_| Ok(group.end().map(|()| Chain)?))
}

fn register_reductions(registry: &mut KernelRegistry) {
    macro_rules! reductions {
        ($($name:literal, $operation:path, $doc:literal;)*) => {$(
            let run = reducing($operation);
            registry
                .add(
                    $name,
                    move |communicator: Arg<Communicator>,
                          send: Arg<DeviceBuffer>,
                          receive: Arg<DeviceBuffer>,
                          count: i64,
                          stream: Arg<Stream>,
                          _chain: Chain,
                          op: Attr<str>,
                          element: Attr<str>,
                          cx: &ExecutionContext| {
                        run(&communicator, &send, &receive, count, &stream, op.0, element.0, cx)
                    },
                )
                .attributes(&["op", "type"])
                .side_effecting()
                .mutates(&[2])
                .doc($doc);
        )*};
    }
    reductions! {
        "tfrt_cuda.ccl.all_reduce", Collective::AllReduce,
            "Queues a reduction (sum, prod, max, min, avg) of so many elements over all ranks, which all receive.";
        "tfrt_cuda.ccl.reduce_scatter", Collective::ReduceScatter,
            "Queues a reduction over all ranks, of which each receives so many elements: its part.";
    }
    registry
        .add("tfrt_cuda.ccl.reduce", reduce)
        .attributes(&["op", "type"])
        .side_effecting()
        .mutates(&[2])
        .doc("Queues a reduction of so many elements over all ranks, which the root receives.");
}

pub(crate) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_cuda.ccl.unique_id", unique_id)
        .side_effecting()
        .doc("An id for a communicator: all its ranks are made with it.");
    registry.add("tfrt_cuda.ccl.create", create).attributes(&["timeout_ms"]).side_effecting().doc(
        "The communicator of one of so many ranks (NCCL's, on a GPU). A collective for which not all ranks come within the \
         timeout fails.",
    );
    registry.add("tfrt_cuda.ccl.destroy", destroy).side_effecting().doc(
        "Ends a communicator; the chain comes when what its rank has queued on a stream is done, or has failed.",
    );
    register_reductions(registry);
    registry
        .add("tfrt_cuda.ccl.all_gather", all_gather)
        .attributes(&["type"])
        .side_effecting()
        .mutates(&[2])
        .doc(
            "Queues that all ranks receive the so many elements that each sends, in the order of the ranks.",
        );
    registry
        .add("tfrt_cuda.ccl.broadcast", broadcast)
        .attributes(&["type"])
        .side_effecting()
        .mutates(&[2])
        .doc("Queues that all ranks receive so many elements that the root sends.");
    registry
        .add("tfrt_cuda.ccl.send", send)
        .attributes(&["type"])
        .side_effecting()
        .doc("Queues that so many elements are sent to another rank, which receives them.");
    registry
        .add("tfrt_cuda.ccl.recv", receive)
        .attributes(&["type"])
        .side_effecting()
        .mutates(&[1])
        .doc("Queues that so many elements are received from another rank, which sends them.");
    registry
        .add("tfrt_cuda.ccl.group_start", group_start)
        .side_effecting()
        .doc("From now on, collectives of these communicators are kept until the group ends.");
    registry
        .add("tfrt_cuda.ccl.group_end", group_end)
        .side_effecting()
        .doc("Queues the collectives of a group as one: none waits for another of them.");
}
