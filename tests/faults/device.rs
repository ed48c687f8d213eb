//! Failing each device call of the MNIST program in turn: whatever the call, the program ends with an error value, nothing
//! is left behind, and the next program runs.

use std::path::Path;

use tfrt::{
    Runtime,
    cuda::{
        error::Status,
        front::{Choice, DeviceOptions, LiveCounts, NoopFault},
        kernels::Devices,
    },
    host::{AsyncValue, Status as ValueStatus},
};

use crate::support::{Census, builder};

/// Trains for a few steps on noop devices with this fault; the errors among the results.
fn train(runtime: &Runtime, steps: i32) -> Vec<AsyncValue> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/mnist/device_train.mlir");
    let program = runtime.load_file(&path).unwrap_or_else(|errors| unreachable!("{errors}"));
    let results =
        program.call("train", [AsyncValue::new(steps), AsyncValue::new(128i32)]).expect("two arguments");
    runtime.host().quiesce().expect("not on a compute thread");
    results
}

/// Whether the fault came to pass.
fn run(queue: &str, fault: NoopFault) -> bool {
    let census = Census::take();
    let mut options = DeviceOptions::new(Choice::Noop, 1);
    options.fault = fault;
    let runtime = builder(queue).devices(options).build().expect("a runtime");
    let results = train(&runtime, 2);
    let errors: Vec<_> = results.iter().filter_map(AsyncValue::error).collect();
    assert!(results.iter().all(|value| value.status() != ValueStatus::Pending), "{fault:?}");
    for error in &errors {
        assert!(error.location.is_some(), "{fault:?}: {error}");
        let known = ["CUDA_ERROR_UNKNOWN", "CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_DEVICE_UNAVAILABLE"];
        assert!(known.iter().any(|name| error.message.contains(name)), "{fault:?}: {error}");
    }
    let failed = !errors.is_empty();
    drop((results, errors));
    if failed && !matches!(fault, NoopFault::Lose(_)) {
        let platform = Devices::of(runtime.host()).platform().expect("noop devices");
        let context = platform.device(0).and_then(|device| device.primary_context()).expect("a context");
        assert_eq!(context.live(), LiveCounts::default(), "{fault:?}");
        drop(context);
        // The device is as good as before.
        assert!(train(&runtime, 1).iter().all(|value| value.status() == ValueStatus::Ready), "{fault:?}");
    }
    drop(runtime);
    assert_eq!(census.newly_alive(), (0, 0), "{fault:?} on {queue}");
    failed
}

#[test]
fn each_failed_device_call_is_an_error_value() {
    assert!(!run("s", NoopFault::None));
    // A call that only speeds up a later one may fail without anybody noticing; so the end is where several do not matter.
    let (mut calls, mut nth) = (0, 1);
    while nth <= calls + 5 {
        if run("s", NoopFault::Fail(nth, Status::Unknown)) {
            calls = nth;
        }
        nth += 1;
    }
    assert!(calls > 60, "{calls} calls");
    for nth in (1..=calls).step_by(7) {
        run("mstd:2", NoopFault::Fail(nth, Status::OutOfMemory));
    }
}

#[test]
fn a_device_that_is_lost_is_an_error_value() {
    for nth in [1, 2, 5, 11, 23, 47] {
        assert!(run("s", NoopFault::Lose(nth)), "call {nth}");
    }
}
