//! Every kind of error, and how a program or a caller comes by it.

#![expect(clippy::panic, reason = "one kernel panics on purpose")]

use std::{sync::Arc, time::Duration};

use tfrt::{
    RuntimeBuilder,
    host::{
        AsyncValue, Diagnostic, ErrorCode, ExecutionContext, Promise,
        allocator::{HostAllocatorKind, SystemAllocator},
    },
};
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor};

use crate::support::{Census, builder, error_of, load, run};

/// Makes an error of this kind come up. The match is exhaustive: a new code needs a way to reach
/// it.
fn reach(code: ErrorCode) -> Diagnostic {
    match code {
        ErrorCode::InvalidArgument => first_error(
            "%ch0 = tfrt.new.chain
             %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
             %x = tfrt_dht.set_tensor_with_constant_values.i32 %t, %ch0 [1 : i32]",
            "!tfrt.chain",
        ),
        ErrorCode::NotFound => {
            let runtime = builder("s").build().expect("a runtime");
            let text = b"func @main() {\n  \"no.such.kernel\"() : () -> ()\n  tfrt.return\n}";
            runtime.load("fault.mlir", text.to_vec()).expect_err("unknown kernel").0.remove(0)
        }
        // A worker that waited for its own queue would wait for itself.
        ErrorCode::FailedPrecondition => first_error_of(
            builder("mstd:1").kernels(|registry| {
                registry.add("fault.kernel", |cx: &ExecutionContext| {
                    let inner = cx.clone();
                    cx.spawn(move || inner.host().quiesce().map(|()| 0i32))
                });
            }),
            "%x = \"fault.kernel\"() : () -> i32",
            "i32",
        ),
        ErrorCode::OutOfRange => first_error(
            "%eight = tfrt.constant.i64 8
             %buffer = tfrt_dht.allocate_buffer %eight, %eight
             %x = tfrt_dht.get_buffer_slice %buffer, %eight, %eight",
            "!ht.host_buffer",
        ),
        ErrorCode::OutOfMemory => first_error_of(
            builder("s").allocator(HostAllocatorKind::TestFixedSize1k.create(Arc::new(|_| ()))),
            "%x = tfrt_dht.create_uninitialized_tensor.f32.1 [1024 : i64]",
            "!t.tensor",
        ),
        ErrorCode::ResourceExhausted => first_error("%x = tfrt.call @main() : () -> i32", "i32"),
        ErrorCode::Cancelled => first_error(
            "%ch0 = tfrt.new.chain
             %zero, %ch1 = \"tfrt_test.cancel\"(%ch0) : (!tfrt.chain) -> (i32, !tfrt.chain)
             %x = tfrt.add.i32 %zero, %zero",
            "i32",
        ),
        ErrorCode::DeadlineExceeded => {
            let runtime = builder("s").build().expect("a runtime");
            let program = load(&runtime, &main_of("%x = tfrt.constant.i32 1", "i32"));
            let request = runtime.request();
            request.set_deadline(Duration::ZERO).expect("a timer");
            while !request.is_cancelled() {
                std::thread::yield_now();
            }
            Diagnostic::clone(&error_of(&program.call_in(&request, "main", []).expect("main")[0]))
        }
        ErrorCode::DataRace => data_race(),
        ErrorCode::Io => {
            let runtime = builder("s").build().expect("a runtime");
            // A folder opens as a file does, and cannot be read.
            runtime.load_file("tests").expect_err("a folder").0.remove(0)
        }
        ErrorCode::Unknown => first_error("%x = \"tfrt_test.fail\"() : () -> i32", "i32"),
        // No CPU loses itself: a kernel of this test stands for a device that does.
        ErrorCode::DeviceLost => from_kernel(|| Err(Diagnostic::new(ErrorCode::DeviceLost, "gone"))),
        ErrorCode::Abandoned => first_error_of(
            builder("s").kernels(|registry| {
                registry.add("fault.kernel", || Promise::<i32>::new().1);
            }),
            "%x = \"fault.kernel\"() : () -> i32",
            "i32",
        ),
        ErrorCode::Internal => from_kernel(|| std::panic::panic_any("a panic on purpose")),
    }
}

fn main_of(body: &str, result: &str) -> String {
    format!("func @main() -> {result} {{\n  {body}\n  tfrt.return %x : {result}\n}}\n")
}

/// The error that `%x` is.
fn first_error(body: &str, result: &str) -> Diagnostic {
    first_error_of(builder("s"), body, result)
}

fn first_error_of(builder: RuntimeBuilder, body: &str, result: &str) -> Diagnostic {
    let runtime = builder.build().expect("a runtime");
    Diagnostic::clone(&error_of(&run(&runtime, &main_of(body, result))[0]))
}

fn from_kernel(kernel: impl Fn() -> Result<i32, Diagnostic> + Send + Sync + 'static) -> Diagnostic {
    let builder = builder("s").kernels(|registry| {
        registry.add("fault.kernel", kernel);
    });
    first_error_of(builder, "%x = \"fault.kernel\"() : () -> i32", "i32")
}

/// A program writes to a tensor that its caller is reading.
fn data_race() -> Diagnostic {
    static READER: Accessor = Accessor::new("the caller");
    let runtime = builder("s").allocator(Arc::new(SystemAllocator)).build().expect("a runtime");
    let text = "func @main(%t: !t.tensor) -> !tfrt.chain {
      %ch0 = tfrt.new.chain
      %x = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch0 0.0 : f32
      tfrt.return %x : !tfrt.chain
    }";
    let tensor = DenseHostTensor::from_slice([2], &[1f32, 2.0], runtime.host().allocator()).expect("memory");
    let guard = tensor.read::<f32>(&READER).expect("nobody else has it");
    let results =
        load(&runtime, text).call("main", [AsyncValue::new(HostTensor::from(tensor.clone()))]).expect("main");
    let error = Diagnostic::clone(&error_of(&results[0]));
    assert_eq!(guard[..], [1.0, 2.0]);
    assert!(error.message.contains("the caller"), "{error}");
    error
}

#[test]
fn every_code_is_reached() {
    let census = Census::take();
    for code in ErrorCode::ALL {
        let error = reach(code);
        assert_eq!(error.code, code, "{error}");
        assert!(!error.message.is_empty());
        assert_eq!(census.newly_alive(), (0, 0), "{error}");
    }
}

#[test]
fn errors_of_kernels_name_their_place() {
    let _census = Census::take();
    let of_kernels =
        [ErrorCode::InvalidArgument, ErrorCode::OutOfMemory, ErrorCode::Unknown, ErrorCode::Internal];
    for code in of_kernels {
        let error = reach(code);
        assert_eq!(error.location.as_ref().map(|at| &*at.file), Some("fault.mlir"), "{error}");
        assert!(error.notes.iter().any(|note| note.starts_with("in kernel '")), "{error}");
    }
}

#[test]
fn a_context_outlives_what_it_ran() {
    let census = Census::take();
    let runtime = builder("s").build().expect("a runtime");
    let program = load(&runtime, &main_of("%x = tfrt.constant.i32 1", "i32"));
    let cx = ExecutionContext::new(runtime.request(), program.file().clone());
    let results = program.file().function("main").expect("main").execute(&cx, []);
    drop((program, runtime, cx));
    assert_eq!(results[0].get(), Some(&1));
    assert_eq!(census.newly_alive(), (0, 0));
}
