//! Failures of a context: what reports them, and what they break.

use std::thread;
use std::time::Duration;

use tfrt_device::allocator::Options;
use tfrt_device::error::Status;
use tfrt_device::front::{Context, Platform};
use tfrt_device::hal::{Collective, Dim3, LaunchConfig, ReduceOp, StreamOptions};
use tfrt_host::DType;

use crate::Products;

const TRAP: &str = ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry trap() { trap; ret; }";

/// Calls a collective that the other rank never joins. This makes the context unusable, but no
/// other context of the device.
fn wait_in_vain(context: &Context, other: &Context) {
    let id = context.communicator_id().unwrap();
    let create = |context: &Context, rank| {
        context.create_communicator(&id, 2, rank, Duration::from_millis(300)).unwrap()
    };
    let (mine, _others) = thread::scope(|scope| {
        let others = scope.spawn(|| create(other, 1));
        (create(context, 0), others.join().unwrap())
    });
    let stream = context.create_stream(StreamOptions::default()).unwrap();
    let buffer = context.create_allocator(Options::default()).allocate(&stream, 4, "sum").unwrap();
    let call = Collective::AllReduce(ReduceOp::Sum);
    let called = mine.run(&stream, call, DType::F32, 1, Some(&buffer), Some(&buffer));
    assert_eq!(called.unwrap_err().status, Status::NcclFailed);
}

/// Runs a faulty kernel that nothing waits for, which makes all contexts of the device unusable.
fn fault(context: &Context) {
    let stream = context.create_stream(StreamOptions::default()).unwrap();
    let function = context.load_module(TRAP.as_bytes()).unwrap().function("trap").unwrap();
    let one = Dim3::from(1);
    let config = LaunchConfig { grid: one, block: one, shared_memory_bytes: 0, cooperative: false };
    stream.launch(&function, &config, &[]).unwrap();
}

/// A failure of a context is reported once at the end of a program, no matter how many contexts the
/// device has.
pub(crate) fn failures_are_told_once() {
    let platform = Platform::new(tfrt_gpu::find().unwrap());
    let told = || platform.take_failures().into_iter().map(|failure| failure.status).collect::<Vec<_>>();
    let context = |ordinal| platform.device(ordinal).unwrap().create_context().unwrap();

    // A failure that the driver does not know, of a context that is gone.
    let [first, second, elsewhere] = [0, 0, 1].map(context);
    wait_in_vain(&first, &elsewhere);
    drop((first, elsewhere));
    assert_eq!(told(), [Status::NcclFailed]);

    // A failure of all contexts of the device, while they are alive and after that.
    let third = context(0);
    fault(&second);
    assert_eq!(told(), [Status::LaunchFailed]);
    drop((second, third));
    assert_eq!(told(), []);
}

/// A failure of all contexts is reported if the context that caused it is destroyed first, and no
/// context of that device works in this process again.
pub(crate) fn faults_stay_with_the_process() {
    let platform = Platform::new(tfrt_gpu::find().unwrap());
    let context = |ordinal| platform.device(ordinal).unwrap().create_context();
    let [first, second] = [0, 0].map(|ordinal| context(ordinal).unwrap());
    fault(&first);
    drop(first);
    drop(second);
    let told: Vec<_> = platform.take_failures().into_iter().map(|failure| failure.status).collect();
    assert_eq!(told, [Status::LaunchFailed]);
    let later = context(0).and_then(|context| context.create_stream(StreamOptions::default()));
    assert_eq!(later.unwrap_err().status, Status::LaunchFailed);
    context(1).unwrap().create_stream(StreamOptions::default()).unwrap();
}

/// After a fault, the driver returns it from every call. Each of these errors names the launch that
/// caused it, and no work that had finished before.
pub(crate) fn failures_name_the_launch_that_caused_them() {
    let platform = Platform::new(tfrt_gpu::find().unwrap());
    let context = platform.device(0).unwrap().create_context().unwrap();
    let products = Products::new(&context);
    products.queue();
    products.stream.synchronize().unwrap();
    fault(&context);
    let error = loop {
        match products.stream.synchronize() {
            Ok(()) => thread::sleep(Duration::from_millis(1)),
            Err(error) => break error,
        }
    };
    let later = context.create_stream(StreamOptions::default()).err().unwrap();
    for error in [error, later, context.failure().unwrap()] {
        assert!(error.detail.ends_with("in the launch of 'trap'"), "{error}");
    }
    // Another device and its context are not affected.
    let elsewhere = Products::new(&platform.device(1).unwrap().create_context().unwrap());
    elsewhere.queue();
    elsewhere.stream.synchronize().unwrap();
    assert_eq!(platform.take_failures().len(), 1);
}
