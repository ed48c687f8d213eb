//! Failing each device call of the MNIST program in turn: whatever the call, the program ends with
//! an error value, nothing is left behind, and the next program runs. And programs that do not wait
//! for their device any longer.

use std::{
    path::Path,
    sync::{Arc, LazyLock, Mutex},
    time::{Duration, Instant},
};

use tfrt::{
    Choice, DeviceOptions, Runtime, RuntimeBuilder,
    device::{
        Devices,
        error::Status,
        front::{Event, LiveCounts},
        noop::NoopFault,
    },
    host::{AsyncValue, Chain, Diagnostic, ErrorCode, ExecutionContext, Status as ValueStatus},
};
use tfrt_models::digits::{self, DigitSet, PIXELS};
use tfrt_tensor::DenseHostTensor;

use crate::support::{Census, QUEUES, builder, load};

/// Digits for training and testing. Drawing them takes far longer than the tests, so all runs share
/// them.
static DIGITS: LazyLock<[DigitSet; 2]> =
    LazyLock::new(|| [digits::generate(1, 0..128), digits::generate(1, 1_000_000..1_010_000)]);

type Loaded = Result<(DenseHostTensor, DenseHostTensor, DenseHostTensor, DenseHostTensor), Diagnostic>;

/// As 'tfrt_mnist.load'.
fn digits_drawn_once(_train: i32, _test: i32, _chain: Chain) -> Loaded {
    let tensors = |set: &DigitSet| -> Result<_, Diagnostic> {
        let labels: Vec<i32> = set.labels.iter().map(|&label| label.into()).collect();
        let images = DenseHostTensor::from_vec([set.len(), PIXELS], set.images_f32())?;
        Ok((images, DenseHostTensor::from_vec([set.len()], labels)?))
    };
    let ((images, labels), (test_images, test_labels)) = (tensors(&DIGITS[0])?, tensors(&DIGITS[1])?);
    Ok((images, labels, test_images, test_labels))
}

fn with_digits(builder: RuntimeBuilder) -> RuntimeBuilder {
    builder.kernels(|registry| {
        registry.add("fault.digits", digits_drawn_once);
    })
}

/// Trains for a few steps on noop devices with this fault; the errors among the results.
fn train(runtime: &Runtime, steps: i32) -> Vec<AsyncValue> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/mnist/device_train.mlir");
    let text = std::fs::read_to_string(&path).expect("the program is there");
    let text = text.replace(
        "\"tfrt_mnist.load\"(%train_count, %test_count, %ch0) {seed = 1 : i64}",
        "\"fault.digits\"(%train_count, %test_count, %ch0)",
    );
    assert!(text.contains("fault.digits"));
    let program = load(runtime, &text);
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
    let runtime = with_digits(builder(queue)).devices(options).build().expect("a runtime");
    let results = train(&runtime, 2);
    let errors: Vec<_> = results.iter().filter_map(AsyncValue::error).collect();
    assert!(results.iter().all(|value| value.status() != ValueStatus::Pending), "{fault:?}");
    for error in &errors {
        assert!(error.location.is_some(), "{fault:?}: {error}");
        let known = ["CUDA_ERROR_UNKNOWN", "CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_DEVICE_UNAVAILABLE"];
        // An allocator tells of its own failure, and in a note of that of the device.
        let is_known = |text: &String| known.iter().any(|name| text.contains(name));
        assert!(is_known(&error.message) || error.notes.iter().any(is_known), "{fault:?}: {error}");
    }
    let failed = !errors.is_empty();
    drop((results, errors));
    if failed && !matches!(fault, NoopFault::Lose(_)) {
        let platform = Devices::of(runtime.host()).platform().expect("noop devices");
        // Memory that the program released may still be returned asynchronously.
        platform.finish_teardown();
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
    // A call that only speeds up a later one may fail without anybody noticing; so the end is where
    // several do not matter.
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

/// Runs a function of a program with this fault; whether the fault came to pass and was told of.
fn run_function(text: &str, function: &str, fault: NoopFault) -> bool {
    let census = Census::take();
    let mut options = DeviceOptions::new(Choice::Noop, 4);
    options.fault = fault;
    let told = Arc::new(Mutex::new(Vec::new()));
    let errors = told.clone();
    let runtime = builder("s")
        .devices(options)
        .diagnostics(move |error| errors.lock().expect("a lock").push(error.clone()))
        .build()
        .expect("a runtime");
    let results = load(&runtime, text).call(function, []).expect("a function without arguments");
    runtime.host().quiesce().expect("not on a compute thread");
    assert!(
        results.iter().all(|value| value.status() != ValueStatus::Pending),
        "{fault:?} in {function}: somebody waits for ever"
    );
    assert!(runtime.host().work_queue().take_panics().is_empty(), "{fault:?} in {function}");
    drop((results, runtime));
    // The context's thread releases copies that nothing waited for.
    let end = Instant::now() + Duration::from_secs(30);
    while census.newly_alive() != (0, 0) {
        assert!(Instant::now() < end, "{fault:?} in {function} leaves {:?}", census.newly_alive());
        std::thread::sleep(Duration::from_millis(1));
    }
    let errors = std::mem::take(&mut *told.lock().expect("a lock"));
    assert!(errors.iter().all(|error| error.location.is_some()), "{fault:?} in {function}: {errors:?}");
    errors.iter().any(|error| error.message.contains("injected fault"))
}

/// Some of the golden programs for devices.
#[test]
fn each_failed_call_of_many_programs_is_an_error_value() {
    for name in ["globals", "host_access", "memory", "pipeline", "unified"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/mlir/cuda/{name}.mlir"));
        let text = std::fs::read_to_string(&path).expect("the program is there");
        let functions = text.lines().filter_map(|line| line.strip_prefix("func @")?.split_once("()"));
        for (function, _) in functions {
            let (mut calls, mut nth) = (0, 1);
            while nth <= calls + 5 {
                if run_function(&text, function, NoopFault::Fail(nth, Status::Unknown)) {
                    calls = nth;
                }
                nth += 1;
            }
            assert!(calls > 0, "no call of {function} in {name} failed");
        }
    }
}

#[test]
fn a_device_that_is_lost_is_an_error_value() {
    for nth in [1, 2, 5, 11, 23, 47] {
        assert!(run("s", NoopFault::Lose(nth)), "call {nth}");
    }
}

/// A long launch: it reads the clock until this many nanoseconds have passed. A program continues
/// after it.
const SLOW: &str = r#"
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.create %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %bytes = tfrt.constant.i64 262144
  %buffer, %ch6 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch5
  %module, %ch7 = tfrt_cuda.module.load %context, %ch6 ".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry slow(.param .u64 ns)\n{\n.reg .pred %p<2>;\n.reg .b64 %rd<6>;\nld.param.u64 %rd1, [ns];\nmov.u64 %rd2, %globaltimer;\nWAIT:\nmov.u64 %rd3, %globaltimer;\nsub.u64 %rd4, %rd3, %rd2;\nsetp.lt.u64 %p1, %rd4, %rd1;\n@%p1 bra WAIT;\nret;\n}\n"
  %slow, %ch8 = tfrt_cuda.function.get %module, %ch7 "slow"
  %one = tfrt.constant.ui32 1
  %none = tfrt.constant.ui32 0
  %ns = tfrt.constant.i64 3000000000
  %ch9 = tfrt_cuda.function.launch %slow %one %one %one %one %one %one %none %stream %ch8 { cooperative = false } (%ns) : (i64)
  %event, %ch10 = tfrt_cuda.event.create %context, %ch9
  %ch11 = tfrt_cuda.event.record %event, %stream, %ch10
"#;

/// What waits for the launch without a thread of the host's.
const ASKING: &str = r#"
  %polled = tfrt_cuda.event.poll %event, %ch11
  %synchronized = tfrt_cuda.stream.synchronize %stream, %ch11
  %tensor = tfrt_dht.create_uninitialized_tensor.i8.1 [262144 : i64]
  %host, %ch12 = tfrt_dht.get_buffer %tensor, %ch11
  %copied = tfrt_cuda.mem.copy_device_to_host %context, %host, %buffer, %bytes, %stream, %ch12
  tfrt.return %polled, %synchronized, %copied, %ch11, %event, %allocator
    : !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt_cuda.event, !tfrt_cuda.allocator
}
"#;

/// Waits for the launch on a thread of the blocking pool, to return the memory that was used after
/// it.
const CLEARING: &str = r#"
  %ch12 = tfrt.call @borrow(%allocator, %stream, %bytes, %ch11) : (!tfrt_cuda.allocator, !tfrt_cuda.stream, i64, !tfrt.chain) -> !tfrt.chain
  %freed, %cleared = tfrt_cuda.allocator.clear_cache %allocator, %ch12
  tfrt.return %freed, %cleared, %ch11, %event, %buffer, %allocator
    : i64, !tfrt.chain, !tfrt.chain, !tfrt_cuda.event, !tfrt_cuda.buffer, !tfrt_cuda.allocator
}

func @borrow(%allocator: !tfrt_cuda.allocator, %stream: !tfrt_cuda.stream, %bytes: i64, %ch0: !tfrt.chain) -> !tfrt.chain {
  %buffer, %ch1 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch0
  tfrt.return %ch1 : !tfrt.chain
}
"#;

/// At its deadline a program gets errors for everything that it waits for on its device, and the
/// device continues its work.
#[test]
fn a_deadline_waits_for_no_device() {
    let types = "!tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt_cuda.event, !tfrt_cuda.allocator";
    // One thread cannot wait and go on.
    let threads: Vec<_> = QUEUES.into_iter().filter(|queue| *queue != "s").collect();
    run_late(&format!("func @main() -> ({types}) {{{SLOW}{ASKING}"), 3, &QUEUES);
    let types = "i64, !tfrt.chain, !tfrt.chain, !tfrt_cuda.event, !tfrt_cuda.buffer, !tfrt_cuda.allocator";
    run_late(&format!("func @main() -> ({types}) {{{SLOW}{CLEARING}"), 2, &threads);
}

/// Runs a program whose first results are late; the next one says that the launch is queued, and
/// the event behind that is reached when it is over.
fn run_late(text: &str, late: usize, queues: &[&str]) {
    for queue in queues {
        let census = Census::take();
        let runtime = builder(queue).devices(DeviceOptions::new(Choice::Cpu, 1)).build().expect("a runtime");
        let program = load(&runtime, text);
        let (request, start) = (runtime.request(), Instant::now());
        let cx = ExecutionContext::new(request.clone(), program.file().clone());
        let results = program.file().function("main").expect("main").execute(&cx, []);
        // The time that a busy machine takes to reach the launch is not measured.
        runtime.host().await_values(&results[late..=late]).expect("not on a compute thread");
        request.set_deadline(Duration::from_millis(300)).expect("a timer");
        runtime.host().await_values(&results).expect("not on a compute thread");
        let event = results[late + 1].get::<Event>().expect("an event");
        assert_eq!(event.query(), Ok(false), "the launch was waited for, {:?} on {queue}", start.elapsed());
        for result in &results[..late] {
            assert_eq!(result.error().expect("an error").code, ErrorCode::DeadlineExceeded);
        }
        // What waits keeps what it uses until the launch before it is over.
        runtime.host().quiesce().expect("not on a compute thread");
        assert!(start.elapsed() >= Duration::from_secs(3), "{:?} on {queue}", start.elapsed());
        drop((results, cx, request, program, runtime));
        assert_eq!(census.newly_alive(), (0, 0), "{queue}");
    }
}
