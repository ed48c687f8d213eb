//! Collectives: as many ranks as there are devices, each on its own.

use std::time::Duration;

use half::f16;
use tfrt_device::error::{DeviceError, Status};
use tfrt_device::front::{CollectiveGroup, Communicator, Context, DeviceBuffer};
use tfrt_device::hal::{Collective, Pattern, ReduceOp};
use tfrt_host::DType;

use super::DevicesCase;
use super::support::{Bench, fails, outcome};

pub(crate) const CASES: &[DevicesCase] = &[
    ("collectives/reductions", reductions),
    ("collectives/types", types),
    ("collectives/gather_scatter_broadcast", gather_scatter_broadcast),
    ("collectives/messages", messages),
    ("collectives/many_in_a_row", many_in_a_row),
    ("collectives/calls_of_several_threads", calls_of_several_threads),
    ("collectives/missing_rank", missing_rank),
    ("collectives/time_of_other_work_does_not_count", time_of_other_work_does_not_count),
    ("collectives/calls_that_differ", calls_that_differ),
    ("collectives/ranks_are_taken_once", ranks_are_taken_once),
    ("collectives/misuse", misuse),
];

/// A rank: its device and its communicator.
struct Rank {
    bench: Bench,
    communicator: Communicator,
}

const LONG: Duration = Duration::from_secs(60);

/// The ranks of a communicator. They are made at the same time, as some backends wait for all.
fn ranks(contexts: &[Context], timeout: Duration) -> Result<Vec<Rank>, DeviceError> {
    let id = contexts[0].communicator_id()?;
    std::thread::scope(|scope| {
        let make = |(rank, context): (usize, &Context)| {
            let (context, count) = (context.clone(), contexts.len() as u32);
            scope.spawn(move || {
                let communicator = context.create_communicator(&id, count, rank as u32, timeout)?;
                Ok(Rank { bench: Bench::new(&context), communicator })
            })
        };
        let threads: Vec<_> = contexts.iter().enumerate().map(make).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The ranks; none where the backend's library is missing, which the error says.
fn all_ranks(contexts: &[Context]) -> Option<Vec<Rank>> {
    match ranks(contexts, LONG) {
        Ok(ranks) => Some(ranks),
        Err(error) => {
            assert_eq!(error.status, Status::NcclNotFound, "{error}");
            assert!(error.detail.contains("libnccl.so.2"), "{error}");
            None
        }
    }
}

/// All ranks call the collective, as one group.
fn together(
    ranks: &[Rank],
    operation: Collective,
    (dtype, count): (DType, u64),
    send: &[DeviceBuffer],
    receive: &[DeviceBuffer],
) {
    let members: Vec<_> = ranks.iter().map(|rank| rank.communicator.clone()).collect();
    let group = CollectiveGroup::start(&members).unwrap();
    for (rank, (send, receive)) in ranks.iter().zip(send.iter().zip(receive)) {
        let stream = &rank.bench.stream;
        rank.communicator.run(stream, operation, dtype, count, Some(send), Some(receive)).unwrap();
    }
    group.end().unwrap();
}

fn upload<T: bytemuck::Pod + Send + Sync>(
    ranks: &[Rank],
    elements: impl Fn(usize) -> Vec<T>,
) -> Vec<DeviceBuffer> {
    ranks.iter().enumerate().map(|(number, rank)| rank.bench.upload(&elements(number))).collect()
}

fn download<T: bytemuck::Pod + Send + Sync>(
    ranks: &[Rank],
    buffers: &[DeviceBuffer],
    count: usize,
) -> Vec<Vec<T>> {
    ranks.iter().zip(buffers).map(|(rank, buffer)| rank.bench.download(buffer, count)).collect()
}

/// Each operation, to all and to one, in place and not.
fn reductions(contexts: &[Context]) {
    let Some(ranks) = all_ranks(contexts) else { return };
    let n = ranks.len() as f32;
    let expected = |op: ReduceOp, index: usize| {
        let of = |rank: f32| rank + 1.0 + index as f32;
        let all = (0..ranks.len()).map(|rank| of(rank as f32));
        match op {
            ReduceOp::Sum => all.sum(),
            ReduceOp::Product => all.product(),
            ReduceOp::Maximum => of(n - 1.0),
            ReduceOp::Minimum => of(0.0),
            ReduceOp::Average => all.sum::<f32>() / n,
        }
    };
    let operand = |rank: usize| (0..100).map(|index| (rank + 1 + index) as f32).collect::<Vec<_>>();
    for op in [ReduceOp::Sum, ReduceOp::Product, ReduceOp::Maximum, ReduceOp::Minimum, ReduceOp::Average] {
        let result: Vec<_> = (0..100).map(|index| expected(op, index)).collect();
        let (send, receive) = (upload(&ranks, operand), upload(&ranks, |_| vec![0f32; 100]));
        together(&ranks, Collective::AllReduce(op), (DType::F32, 100), &send, &receive);
        for received in download::<f32>(&ranks, &receive, 100) {
            assert_eq!(received, result, "{op:?}");
        }
        let root = ranks.len() - 1;
        together(&ranks, Collective::Reduce(op, root as u32), (DType::F32, 100), &send, &send);
        for (rank, received) in download::<f32>(&ranks, &send, 100).into_iter().enumerate() {
            let kept = if rank == root { result.clone() } else { operand(rank) };
            assert_eq!(received, kept, "{op:?}, rank {rank}");
        }
    }
}

fn types(contexts: &[Context]) {
    let Some(ranks) = all_ranks(contexts) else { return };
    let n = ranks.len();
    macro_rules! sums {
        ($($dtype:path, $type:ty, $from:expr;)*) => {$(
            let buffers = upload(&ranks, |rank| vec![$from(rank as u8 + 1); 5]);
            let sum = AllReduce(ReduceOp::Sum);
            together(&ranks, sum, ($dtype, 5), &buffers, &buffers);
            for received in download::<$type>(&ranks, &buffers, 5) {
                assert_eq!(received, [$from((n * (n + 1) / 2) as u8); 5], "{}", stringify!($type));
            }
        )*};
    }
    use Collective::AllReduce;
    sums! {
        DType::F64, f64, f64::from;
        DType::F16, f16, f16::from;
        DType::BF16, half::bf16, half::bf16::from;
        DType::I8, i8, |byte: u8| byte as i8;
        DType::UI8, u8, u8::from;
        DType::I32, i32, i32::from;
        DType::UI32, u32, u32::from;
        DType::I64, i64, i64::from;
        DType::UI64, u64, u64::from;
    }
}

fn gather_scatter_broadcast(contexts: &[Context]) {
    let Some(ranks) = all_ranks(contexts) else { return };
    let n = ranks.len();
    let mine = |rank: usize| (0..3).map(|index| (10 * rank + index) as i32).collect::<Vec<_>>();
    let all: Vec<_> = (0..n).flat_map(mine).collect();
    let (send, receive) = (upload(&ranks, mine), upload(&ranks, |_| vec![-1i32; 3 * n]));
    together(&ranks, Collective::AllGather, (DType::I32, 3), &send, &receive);
    for received in download::<i32>(&ranks, &receive, 3 * n) {
        assert_eq!(received, all);
    }
    // Every rank has the same now: each receives its part, as many times as there are ranks.
    together(&ranks, Collective::ReduceScatter(ReduceOp::Sum), (DType::I32, 3), &receive, &send);
    for (rank, received) in download::<i32>(&ranks, &send, 3).into_iter().enumerate() {
        assert_eq!(received, mine(rank).iter().map(|value| value * n as i32).collect::<Vec<_>>());
    }
    let send = upload(&ranks, mine);
    for root in 0..n {
        together(&ranks, Collective::Broadcast(root as u32), (DType::I32, 3), &send, &receive);
        for received in download::<i32>(&ranks, &receive, 3) {
            assert_eq!(received, mine(root));
        }
    }
}

/// Round the ring, in both directions at once.
fn messages(contexts: &[Context]) {
    let Some(ranks) = all_ranks(contexts) else { return };
    let n = ranks.len();
    let send = upload(&ranks, |rank| vec![rank as u64; 4]);
    let from_left = upload(&ranks, |_| vec![99u64; 4]);
    let members: Vec<_> = ranks.iter().map(|rank| rank.communicator.clone()).collect();
    let group = CollectiveGroup::start(&members).unwrap();
    for (number, rank) in ranks.iter().enumerate() {
        let (right, left) = (((number + 1) % n) as u32, ((number + n - 1) % n) as u32);
        let (stream, communicator) = (&rank.bench.stream, &rank.communicator);
        communicator
            .run(stream, Collective::Receive(left), DType::UI64, 4, None, Some(&from_left[number]))
            .unwrap();
        communicator.run(stream, Collective::Send(right), DType::UI64, 4, Some(&send[number]), None).unwrap();
    }
    group.end().unwrap();
    for (number, received) in download::<u64>(&ranks, &from_left, 4).into_iter().enumerate() {
        assert_eq!(received, [((number + n - 1) % n) as u64; 4]);
    }
}

/// Ranks that run at their own pace, each on a thread; and buffers that are written again as soon
/// as a call is queued.
fn many_in_a_row(contexts: &[Context]) {
    // Whatever time they have.
    let Ok(ranks) = ranks(contexts, Duration::MAX) else { return };
    let n = ranks.len() as u32;
    std::thread::scope(|scope| {
        for rank in &ranks {
            scope.spawn(move || {
                let (bench, number) = (&rank.bench, rank.communicator.rank());
                let (buffer, sum) = (bench.upload(&[0u32; 64]), bench.upload(&[0u32; 64]));
                for round in 0..100 {
                    bench.stream.set(&buffer, 0, Pattern::U32(round + number), 64).unwrap();
                    let call = Collective::AllReduce(ReduceOp::Sum);
                    rank.communicator
                        .run(&bench.stream, call, DType::UI32, 64, Some(&buffer), Some(&sum))
                        .unwrap();
                    if round % 10 == number {
                        let expected = n * round + n * (n - 1) / 2;
                        assert_eq!(bench.download::<u32>(&sum, 64), [expected; 64], "round {round}");
                    }
                }
                bench.stream.synchronize().unwrap();
            });
        }
    });
}

/// Calls of one rank that nothing orders, on one stream: any of them may come first.
fn calls_of_several_threads(contexts: &[Context]) {
    const THREADS: usize = 3;
    let Some(ranks) = all_ranks(contexts) else { return };
    std::thread::scope(|scope| {
        for rank in ranks.iter().flat_map(|rank| [rank; THREADS]) {
            scope.spawn(move || {
                let bench = &rank.bench;
                let (one, sum) = (bench.upload(&[1u32]), bench.upload(&[0u32]));
                for _ in 0..200 {
                    let call = Collective::AllReduce(ReduceOp::Sum);
                    rank.communicator
                        .run(&bench.stream, call, DType::UI32, 1, Some(&one), Some(&sum))
                        .unwrap();
                }
                assert_eq!(bench.download::<u32>(&sum, 1), [contexts.len() as u32]);
            });
        }
    });
}

/// A rank that does not call: the streams of the others fail, in time, and say who was missing.
/// What is queued on other streams of theirs is done.
fn missing_rank(contexts: &[Context]) {
    if contexts.len() < 2 {
        return;
    }
    let Ok(ranks) = ranks(contexts, Duration::from_millis(300)) else { return };
    let Rank { bench, communicator } = &ranks[0];
    let buffer = bench.upload(&[1f32; 8]);
    let other = Bench::new(&bench.context);
    let call = Collective::AllReduce(ReduceOp::Sum);
    let error = std::thread::scope(|scope| {
        // Some backends wait for the other ranks before they queue the first call.
        let called = scope.spawn(|| {
            communicator.run(&bench.stream, call, DType::F32, 8, Some(&buffer), Some(&buffer))?;
            outcome(|then| bench.stream.when_done(then))
        });
        let beside = other.upload(&[5u32; 4]);
        assert_eq!(other.download::<u32>(&beside, 4), [5; 4]);
        called.join().unwrap().unwrap_err()
    });
    assert_eq!(error.status, Status::NcclFailed, "{error}");
    assert!(error.detail.contains("not all ranks called within 300"), "{error}");
    // The context is of no use any more, whichever way it was found out.
    fails(outcome(|then| communicator.destroy(&bench.stream, then)), Status::NcclFailed);
    fails(
        communicator.run(&bench.stream, call, DType::F32, 8, Some(&buffer), Some(&buffer)),
        Status::InvalidHandle,
    );
    // The other rank learns of it when it calls, or when its own time is up.
    let Rank { bench, communicator } = &ranks[1];
    let buffer = bench.buffer(32);
    let called = communicator.run(&bench.stream, call, DType::F32, 8, Some(&buffer), Some(&buffer));
    fails(called.and_then(|()| outcome(|then| bench.stream.when_done(then))), Status::NcclFailed);
}

/// A call's time runs from when its stream comes to it: what was queued before it takes as long as
/// it takes.
fn time_of_other_work_does_not_count(contexts: &[Context]) {
    let Ok(ranks) = ranks(contexts, Duration::from_millis(200)) else { return };
    if crate::suite::ranks_per_device() > 1 {
        // Ranks that share a device may run their callbacks one after the other.
        return;
    }
    let buffers = upload(&ranks, |_| vec![1f32; 8]);
    for rank in &ranks {
        rank.bench.stream.host_callback(|| std::thread::sleep(Duration::from_millis(500))).unwrap();
    }
    for _ in 0..3 {
        together(&ranks, Collective::AllReduce(ReduceOp::Sum), (DType::F32, 8), &buffers, &buffers);
    }
    let n = ranks.len() as f32;
    for received in download::<f32>(&ranks, &buffers, 8) {
        assert_eq!(received, [n * n * n; 8]);
    }
}

fn calls_that_differ(contexts: &[Context]) {
    let ranks = all_ranks(contexts).unwrap();
    let buffers: Vec<_> = ranks.iter().map(|rank| rank.bench.upload(&[0f32; 8])).collect();
    let called: Vec<_> = ranks
        .iter()
        .zip(&buffers)
        .map(|(rank, buffer)| {
            let count = 4 + u64::from(rank.communicator.rank() % 2);
            let call = Collective::AllReduce(ReduceOp::Sum);
            rank.communicator.run(&rank.bench.stream, call, DType::F32, count, Some(buffer), Some(buffer))
        })
        .collect();
    for (rank, called) in ranks.iter().zip(called) {
        // The streams may have come to the calls before the last one returns, which then says so
        // itself.
        let error = called.and_then(|()| rank.bench.stream.synchronize()).unwrap_err();
        assert_eq!(error.status, Status::NcclFailed);
        assert!(error.detail.contains("of 4 f32") && error.detail.contains("of 5 f32"), "{error}");
    }
}

fn ranks_are_taken_once(contexts: &[Context]) {
    let id = contexts[0].communicator_id().unwrap();
    let first = contexts[0].create_communicator(&id, 2, 0, LONG).unwrap();
    fails(contexts[0].create_communicator(&id, 2, 0, LONG), Status::InvalidValue);
    fails(contexts[0].create_communicator(&id, 3, 1, LONG), Status::InvalidValue);
    drop(first);
    contexts[0].create_communicator(&id, 2, 0, LONG).unwrap();
}

fn misuse(contexts: &[Context]) {
    let Some(ranks) = all_ranks(contexts) else { return };
    let (n, id) = (ranks.len() as u32, contexts[0].communicator_id().unwrap());
    fails(contexts[0].create_communicator(&id, n, n, LONG), Status::InvalidValue);
    fails(contexts[0].create_communicator(&id, 0, 0, LONG), Status::InvalidValue);
    let Rank { bench, communicator } = &ranks[0];
    let buffer = bench.buffer(32);
    let run = |operation, dtype, count, send, receive| {
        communicator.run(&bench.stream, operation, dtype, count, send, receive)
    };
    let sum = Collective::AllReduce(ReduceOp::Sum);
    let both = (Some(&buffer), Some(&buffer));
    fails(run(sum, DType::F32, 9, both.0, both.1), Status::InvalidValue);
    fails(run(sum, DType::F32, u64::MAX, both.0, both.1), Status::InvalidValue);
    fails(run(sum, DType::F32, 8, None, both.1), Status::InvalidValue);
    fails(run(sum, DType::F32, 8, both.0, None), Status::InvalidValue);
    fails(run(sum, DType::Complex64, 1, both.0, both.1), Status::NotSupported);
    fails(run(Collective::Send(n), DType::F32, 8, both.0, None), Status::InvalidValue);
    fails(run(Collective::Broadcast(n), DType::F32, 8, both.0, both.1), Status::InvalidValue);
    let elsewhere = Bench::new(&contexts[0].device().create_context().unwrap());
    fails(communicator.run(&elsewhere.stream, sum, DType::F32, 8, both.0, both.1), Status::InvalidContext);
    let foreign = elsewhere.buffer(32);
    fails(run(sum, DType::F32, 8, Some(&foreign), both.1), Status::InvalidContext);
    bench.stream.begin_capture().unwrap();
    fails(run(sum, DType::F32, 8, both.0, both.1), Status::StreamCaptureUnsupported);
    bench.stream.end_capture().unwrap();
    let group = CollectiveGroup::start(std::slice::from_ref(communicator)).unwrap();
    fails(CollectiveGroup::start(std::slice::from_ref(communicator)), Status::IllegalState);
    group.end().unwrap();
    fails(group.end(), Status::IllegalState);
    // One that nobody can end any more is over, with what was kept in it.
    let forgotten = CollectiveGroup::start(std::slice::from_ref(communicator)).unwrap();
    run(sum, DType::F32, 8, both.0, both.1).unwrap();
    drop(forgotten);
    CollectiveGroup::start(std::slice::from_ref(communicator)).unwrap().end().unwrap();
    outcome(|then| communicator.destroy(&bench.stream, then)).unwrap();
    fails(communicator.destroy(&bench.stream, |_| ()), Status::InvalidHandle);
    fails(run(sum, DType::F32, 8, both.0, both.1), Status::InvalidHandle);
}
