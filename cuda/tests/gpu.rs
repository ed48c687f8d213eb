//! The GPU backend over the driver that stands in for a GPU's: what takes several contexts or devices, or their end.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

#[path = "stand_in/build.rs"]
mod build;

use std::process::Command;
use std::thread;
use std::time::Duration;

use tfrt_cuda::allocator::Options;
use tfrt_cuda::error::Status;
use tfrt_cuda::front::{Choice, Context, DeviceOptions, Platform};
use tfrt_cuda::hal::{Collective, Dim3, LaunchConfig, ReduceOp, StreamOptions};
use tfrt_host::DType;

const TRAP: &str = ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry trap() { trap; ret; }";

/// Calls a collective that the other rank never comes to, which ends the context's life, and not that of the device's others.
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

/// A kernel that nobody waits for ends the lives of all contexts of the device.
fn fault(context: &Context) {
    let stream = context.create_stream(StreamOptions::default()).unwrap();
    let function = context.load_module(TRAP.as_bytes()).unwrap().function("trap").unwrap();
    let one = Dim3::from(1);
    let config = LaunchConfig { grid: one, block: one, shared_memory_bytes: 0, cooperative: false };
    stream.launch(&function, &config, &[]).unwrap();
}

/// Whatever ended a context's life is told once at the end of a program, however many contexts the device has.
fn failures_are_told_once() {
    let platform = Platform::new(&DeviceOptions::new(Choice::Cuda(None), 2)).unwrap();
    let told = || platform.take_failures().into_iter().map(|failure| failure.status).collect::<Vec<_>>();
    let context = |ordinal| platform.device(ordinal).unwrap().create_context().unwrap();

    // A failure that the driver knows nothing of, of a context that is gone.
    let [first, second, elsewhere] = [0, 0, 1].map(context);
    wait_in_vain(&first, &elsewhere);
    drop((first, elsewhere));
    assert_eq!(told(), [Status::NcclFailed]);

    // One that it has for all contexts of the device, which are alive and then gone.
    let third = context(0);
    fault(&second);
    assert_eq!(told(), [Status::LaunchFailed]);
    drop((second, third));
    assert_eq!(told(), []);

    // One of all contexts of which the one that failed goes first.
    let [first, second] = [0, 0].map(context);
    fault(&first);
    drop(first);
    drop(second);
    assert_eq!(told(), [Status::LaunchFailed]);
}

/// Where the host must not touch unified memory beside any work, there is none.
fn unified_memory_is_refused_where_the_host_must_wait() {
    let platform = Platform::new(&DeviceOptions::new(Choice::Cuda(None), 2)).unwrap();
    let allocate = |ordinal| platform.device(ordinal).unwrap().create_context().unwrap().allocate_managed(16);
    assert!(allocate(0).is_ok());
    assert_eq!(allocate(1).err().map(|error| error.status), Some(Status::NotSupported));
}

/// The driver is looked for once in a process, so that the test calls itself where it finds the stand-in.
#[test]
fn over_the_stand_in() {
    const CALLED: &str = "TFRT_TEST_ON_THE_STAND_IN";
    if std::env::var_os(CALLED).is_some() {
        failures_are_told_once();
        return unified_memory_is_refused_where_the_host_must_wait();
    }
    let libraries = build::libraries().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = build::found_in(&mut command, libraries.path())
        .env(CALLED, "1")
        .args(["--exact", "over_the_stand_in"])
        .output()
        .unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{errors}");
}
