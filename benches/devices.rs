//! What a device kernel costs the host: launches, and events recorded and waited for, on a device
//! that does nothing, from the executor's dispatch to the driver's call.

use std::{fmt::Write as _, sync::Arc};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tfrt::{
    Choice, DeviceOptions, Program, Runtime,
    host::{AsyncValue, RequestContext, Status, work_queue},
};

/// Operations of one call.
const COUNT: usize = 1000;

/// A context, a stream, an event and a buffer, and a module in the table.
const OPEN: &str = r#"
func @open() -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.event, !tfrt_cuda.buffer, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %event, %ch5 = tfrt_cuda.event.create %context, %ch4
  %allocator, %ch6 = tfrt_cuda.allocator.create %context, %ch5
  %bytes = tfrt.constant.i64 1024
  %buffer, %ch7 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch6
  %ch8 = tfrt_cuda.module.load_static %context, %ch7
    { modules = [".version 6.0"], funcs_per_module = [1 : i32], functions = ["f"] }
  tfrt.return %context, %stream, %event, %buffer, %ch8
    : !tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.event, !tfrt_cuda.buffer, !tfrt.chain
}
"#;

/// A function that does an operation many times, chained; `line` writes one, from chain `c{i}` to
/// chain `c{i + 1}`.
fn function(name: &str, line: impl Fn(usize) -> String) -> String {
    let mut text = format!(
        "func @{name}(%context : !tfrt_cuda.context, %stream : !tfrt_cuda.stream, %event : !tfrt_cuda.event,\n\
         %buffer : !tfrt_cuda.buffer, %c0 : !tfrt.chain) -> !tfrt.chain {{\n\
         %one = tfrt.constant.ui32 1\n%none = tfrt.constant.ui32 0\n%n = tfrt.constant.i32 256\n"
    );
    for i in 0..COUNT {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", line(i));
    }
    let _ = writeln!(text, "tfrt.return %c{COUNT} : !tfrt.chain\n}}");
    text
}

fn launches() -> String {
    function("launches", |i| {
        format!(
            "%c{} = tfrt_cuda.launch %c{i} %context %one %one %one %one %one %one %none %stream \
             {{function_handle = 0 : ui64}} (%n, %buffer, %buffer) : (i32, !tfrt_cuda.buffer, !tfrt_cuda.buffer)",
            i + 1
        )
    })
}

fn events() -> String {
    function("events", |i| {
        format!(
            "%d{i} = tfrt_cuda.event.record %event, %stream, %c{i}\n\
             %c{} = tfrt_cuda.stream.wait %stream, %event, %d{i}",
            i + 1
        )
    })
}

fn call(
    program: &Program,
    request: &Arc<RequestContext>,
    name: &str,
    arguments: &[AsyncValue],
) -> Vec<AsyncValue> {
    let results =
        program.call_in(request, name, arguments.iter().cloned()).expect("a function of the program");
    assert!(results.iter().all(|result| result.status() == Status::Ready), "{:?}", results[0].error());
    results
}

fn devices(c: &mut Criterion) {
    let queue = work_queue::from_str("s").expect("a queue");
    let options = DeviceOptions::new(Choice::Noop, 1);
    let runtime = Runtime::builder().work_queue(queue).devices(options).build().expect("a runtime");
    let text = [OPEN, &launches(), &events()].concat();
    let program = match runtime.load("devices.mlir", text.into_bytes()) {
        Ok(program) => program,
        Err(errors) => unreachable!("{errors}"),
    };
    let request = runtime.request();
    let arguments = call(&program, &request, "open", &[]);
    let mut group = c.benchmark_group("devices");
    group.throughput(Throughput::Elements(COUNT as u64));
    for (name, function) in [("launch", "launches"), ("record and wait", "events")] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| call(&program, &request, function, &arguments));
        });
    }
    group.finish();
}

criterion_group!(benches, devices);
criterion_main!(benches);
