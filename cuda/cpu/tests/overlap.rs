//! Tests which operations may overlap on the CPU device, and which memory launches may access.
#![expect(clippy::unwrap_used, reason = "tests end that way")]

use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tfrt_cpu::CpuOptions;
use tfrt_device::allocator::Options;
use tfrt_device::error::Status;
use tfrt_device::front::{Argument, Context, DeviceAllocator, DeviceBuffer, Platform, Stream};
use tfrt_device::hal::{Dim3, LaunchConfig, Pattern, StreamOptions};
use tfrt_host::DType;
use tfrt_host::allocator::{HostAllocator, SystemAllocator};
use tfrt_host::host_buffer::HostBuffer;

/// A kernel that signals its start, waits for a flag, and copies a number.
const COURIER: &str = r"
.version 6.4
.target sm_52
.address_size 64
.visible .entry courier(.param .u64 begun, .param .u64 go, .param .u64 from, .param .u64 to)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [begun];
  ld.param.u64 %rd2, [go];
  ld.param.u64 %rd3, [from];
  ld.param.u64 %rd4, [to];
  mov.u32 %r1, 1;
  st.volatile.global.u32 [%rd1], %r1;
WAIT:
  ld.volatile.global.u32 %r2, [%rd2];
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra WAIT;
  ld.global.u32 %r3, [%rd3];
  st.global.u32 [%rd4], %r3;
  ret;
}
";

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(120);

struct Bench {
    context: Context,
    stream: Stream,
    allocator: DeviceAllocator,
}

impl Bench {
    fn new() -> Self {
        let options = CpuOptions { threads: 4, ..CpuOptions::default() };
        let platform = Platform::new(tfrt_cpu::open(&options).unwrap());
        let context = platform.device(0).unwrap().create_context().unwrap();
        let (stream, allocator) = (stream(&context), context.create_allocator(Options::default()));
        Self { context, stream, allocator }
    }

    /// Allocates a buffer of four numbers.
    fn buffer(&self, value: u32) -> DeviceBuffer {
        let buffer = self.allocator.allocate(&self.stream, 16, "test").unwrap();
        self.stream.set(&buffer, 0, Pattern::U32(value), 4).unwrap();
        self.stream.synchronize().unwrap();
        buffer
    }

    fn first(&self, buffer: &DeviceBuffer) -> u32 {
        let system: Arc<dyn HostAllocator> = Arc::new(SystemAllocator);
        let host = HostBuffer::allocate(4, 64, &system).unwrap();
        let copy = self.stream.copy_to_host(&host, 0, buffer, 0, 4).unwrap();
        finishes(|tell| copy.when_done(tell).unwrap());
        let bytes = host.read(0).unwrap();
        u32::from_le_bytes(bytes[..4].try_into().unwrap())
    }

    /// Launches the courier on a new stream and waits until it has started.
    fn send(&self, go: Argument<'_>, from: Argument<'_>, to: &DeviceBuffer) -> Stream {
        let begun = self.buffer(0);
        let courier = self.context.load_module(COURIER.as_bytes()).unwrap().function("courier").unwrap();
        let one = Dim3::from(1);
        let config = LaunchConfig { grid: one, block: one, shared_memory_bytes: 0, cooperative: false };
        let stream = stream(&self.context);
        stream.launch(&courier, &config, &[(&begun).into(), go, from, to.into()]).unwrap();
        let start = Instant::now();
        while self.first(&begun) == 0 {
            assert!(start.elapsed() < LONG, "the launch does not begin");
        }
        stream
    }
}

fn stream(context: &Context) -> Stream {
    context.create_stream(StreamOptions::default()).unwrap()
}

/// Waits for a callback, for a long but limited time.
fn finishes(register: impl FnOnce(Box<dyn FnOnce(Result<(), tfrt_device::error::DeviceError>) + Send>)) {
    let (sender, receiver) = mpsc::channel();
    register(Box::new(move |outcome| drop(sender.send(outcome))));
    receiver.recv_timeout(LONG).unwrap().unwrap();
}

/// A launch and a fill on another stream that the program does not order may access the same bytes
/// at the same time, declared or not: the launch sees what the fill writes.
#[test]
fn copies_run_beside_launches_on_the_same_bytes() {
    for declared in [true, false] {
        let bench = Bench::new();
        let (go, from, to) = (bench.buffer(0), bench.buffer(5), bench.buffer(0));
        let given = if declared { Argument::from(&go) } else { Argument::from(go.address()) };
        let launch = bench.send(given, (&from).into(), &to);
        bench.stream.set(&go, 0, Pattern::U32(1), 1).unwrap();
        finishes(|tell| launch.when_done(tell).unwrap());
        assert_eq!(bench.first(&to), 5);
    }
}

/// BLAS computes on slices, and a launch may access any byte, so the two never overlap, whatever is
/// declared.
#[test]
fn slices_and_launches_take_turns() {
    let bench = Bench::new();
    let (go, from, to) = (bench.buffer(0), bench.buffer(5), bench.buffer(0));
    let (x, y) = (bench.buffer(1.0f32.to_bits()), bench.buffer(2.0f32.to_bits()));
    let launch = bench.send(go.address().into(), from.address().into(), &to);
    let (blas, other) = (bench.context.create_blas().unwrap(), stream(&bench.context));
    blas.set_stream(&other).unwrap();
    blas.axpy(DType::F32, 4, 3.0, (&x, 1), (&y, 1)).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    assert!(!other.query().unwrap() && !launch.query().unwrap());
    bench.stream.set(&go, 0, Pattern::U32(1), 1).unwrap();
    finishes(|tell| other.when_done(tell).unwrap());
    finishes(|tell| launch.when_done(tell).unwrap());
    assert_eq!(f32::from_bits(bench.first(&y)), 5.0);
}

/// Memory that is freed while a launch that does not declare it is running stays valid until the
/// launch has finished.
#[test]
fn memory_that_a_launch_accesses_outlives_the_launch() {
    let bench = Bench::new();
    let apart = bench.context.create_allocator(Options::default());
    let from = apart.allocate(&bench.stream, 64 << 20, "test").unwrap();
    bench.stream.set(&from, 0, Pattern::U32(7), 16 << 20).unwrap();
    bench.stream.synchronize().unwrap();
    let (go, to) = (bench.buffer(0), bench.buffer(0));
    let launch = bench.send((&go).into(), (from.address() + (32 << 20)).into(), &to);
    drop(from);
    assert!(apart.clear_cache().unwrap() >= 64 << 20);
    bench.stream.set(&go, 0, Pattern::U32(1), 1).unwrap();
    finishes(|tell| launch.when_done(tell).unwrap());
    assert_eq!(bench.first(&to), 7);
}

/// A failed context computes nothing any more: operations that were running at the time of the
/// failure end.
#[test]
fn a_failure_ends_what_runs_beside_it() {
    const KERNELS: &str = ".version 7.0 .target sm_80 .address_size 64
        .visible .entry endless() { LOOP: bra LOOP; }
        .visible .entry fails() { trap; }";
    let bench = Bench::new();
    let module = bench.context.load_module(KERNELS.as_bytes()).unwrap();
    let one = Dim3::from(1);
    let config = LaunchConfig { grid: one, block: one, shared_memory_bytes: 0, cooperative: false };
    let launch = |name: &str| {
        let (stream, function) = (stream(&bench.context), module.function(name).unwrap());
        stream.launch(&function, &config, &[]).unwrap();
        stream
    };
    let streams = [launch("endless"), launch("fails")];
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in streams {
            drop(sender.send(stream.synchronize()));
        }
    });
    for _ in 0..2 {
        let outcome = receiver.recv_timeout(LONG).unwrap();
        assert_eq!(outcome.unwrap_err().status, Status::LaunchFailed);
    }
}
