//! Tests the GPU backend over the stand-in driver: cases with several contexts or devices, or with
//! their end.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(unsafe_code, reason = "calls of the stand-in's C interface")]

#[path = "../stand_in/build.rs"]
mod build;
mod faults;

use std::ffi::{CStr, c_char};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use tfrt_device::allocator::Options;
use tfrt_device::error::Status;
use tfrt_device::front::{
    BlasHandle, Context, DeviceBuffer, DnnHandle, DnnTensor, Event, GemmArguments, GemmEpilogue, Matrix,
    Platform, Stream, Transferred,
};
use tfrt_device::hal::{
    Activation, ActivationMode, Convolution, EventOptions, F32Math, NanPropagation, Pattern, Scaling,
    StreamOptions, TensorLayout, Transpose,
};
use tfrt_host::DType;
use tfrt_host::host_buffer::HostBuffer;

use faults::{
    failures_are_told_once, failures_name_the_launch_that_caused_them, faults_stay_with_the_process,
};

/// If the host must not touch unified memory while work is running, allocating it fails.
fn unified_memory_is_refused_where_the_host_must_wait() {
    let platform = Platform::new(tfrt_gpu::find().unwrap());
    let allocate = |ordinal| platform.device(ordinal).unwrap().create_context().unwrap().allocate_managed(16);
    assert!(allocate(0).is_ok());
    assert_eq!(allocate(1).err().map(|error| error.status), Some(Status::NotSupported));
}

/// A stream with products to queue on it, each of which uses the stream's workspace.
struct Products {
    stream: Stream,
    blas: BlasHandle,
    matrix: DeviceBuffer,
}

impl Products {
    fn new(context: &Context) -> Self {
        Self::with(context, F32Math::default())
    }

    fn with(context: &Context, math: F32Math) -> Self {
        let stream = context.create_stream(StreamOptions::default()).unwrap();
        let blas = context.create_blas_with(math).unwrap();
        blas.set_stream(&stream).unwrap();
        let matrix = context.create_allocator(Options::default()).allocate(&stream, 16, "matrix").unwrap();
        Self { stream, blas, matrix }
    }

    fn queue(&self) {
        self.multiply([&self.matrix; 3]);
    }

    fn multiply(&self, matrices: [&DeviceBuffer; 3]) {
        let dtype = DType::F32;
        let operand = |buffer| Matrix { buffer, dtype, leading_dimension: 2, batch_stride: 4 };
        let [a, b, c] = matrices.map(operand);
        let product = GemmArguments {
            transpose: [Transpose::None; 2],
            m: 2,
            n: 2,
            k: 2,
            alpha: 1.0,
            a,
            b,
            beta: 0.0,
            c,
            compute: dtype,
            batch: 1,
            algorithm: -1,
            epilogue: GemmEpilogue::default(),
        };
        self.blas.gemm(&product).unwrap();
    }

    /// Blocks the stream until the result is dropped.
    fn hold(&self) -> Sender<()> {
        let (open, closed) = channel();
        self.stream.host_callback(move || assert!(closed.recv().is_err())).unwrap();
        open
    }
}

/// Products of f32 round their operands only if that is allowed, for all handles or for one.
fn f32_is_rounded_where_tf32_is_allowed() {
    let exact = 1.000_244_1;
    for (allows_tf32, math, expected) in
        [(false, F32Math::F32, exact), (true, F32Math::F32, 1.0), (false, F32Math::Tf32, 1.0)]
    {
        let options = tfrt_gpu::GpuOptions { allows_tf32, ..Default::default() };
        let platform = Platform::new(tfrt_gpu::find_with(options).unwrap());
        let context = platform.device(0).unwrap().create_context().unwrap();
        let products = Products::with(&context, math);
        let element = HostBuffer::from_vec(vec![1f32 + f32::powi(2.0, -12), 0.0, 0.0, 1.0]);
        products.stream.copy_from_host(&products.matrix, 0, &element, 0, 16).unwrap();
        let ones = Products::new(&context);
        let identity = HostBuffer::from_vec(vec![1f32, 0.0, 0.0, 1.0]);
        ones.stream.copy_from_host(&ones.matrix, 0, &identity, 0, 16).unwrap();
        ones.stream.synchronize().unwrap();
        let result =
            context.create_allocator(Options::default()).allocate(&products.stream, 16, "c").unwrap();
        products.multiply([&products.matrix, &ones.matrix, &result]);
        let host = HostBuffer::from_vec(vec![0f32; 4]);
        drop(products.stream.copy_to_host(&host, 0, &result, 0, 16).unwrap());
        products.stream.synchronize().unwrap();
        let bytes = host.read(0).unwrap()[..4].try_into().unwrap();
        assert_eq!(f32::from_le_bytes(bytes), expected);
    }
}

/// Bytes that the device has left over, apart from workspaces, one of which is as large.
const MORE: u64 = 8 << 20;
/// The time to wait for something that must not happen.
const NOT_YET: Duration = Duration::from_millis(100);

/// Allocates most of the device's memory, in pages, which use host memory only when they are
/// written.
fn ballast(context: &Context) -> DeviceBuffer {
    let stream = context.create_stream(StreamOptions::default()).unwrap();
    let allocator = context.create_allocator(Options::default());
    let bytes = context.memory_info().unwrap().free - (256 << 20);
    allocator.allocate(&stream, bytes as i64, "ballast").unwrap()
}

/// Idle workspaces are released for an allocation even while other threads make calls, and even if
/// they belong to another context.
fn idle_workspaces_are_given_whatever_else_goes_on(in_segments: bool, are_of_another_context: bool) {
    let platform = Platform::new(tfrt_gpu::find().unwrap());
    let [context, other] = [0, 0].map(|ordinal| platform.device(ordinal).unwrap().create_context().unwrap());
    let _ballast = ballast(&context);
    let (idle, busy) =
        (Products::new(if are_of_another_context { &other } else { &context }), Products::new(&context));
    let free = || context.memory_info().unwrap().free;
    let before = free();
    idle.queue();
    assert!(free() + MORE < before, "it has a workspace");
    idle.stream.synchronize().unwrap();
    busy.queue();
    let held = busy.hold();
    let queued = AtomicUsize::new(0);
    thread::scope(|scope| {
        // Queues more than the driver accepts without waiting. Meanwhile the workspace is in use.
        scope.spawn(|| {
            for _ in 0..1500 {
                busy.queue();
                queued.fetch_add(1, Ordering::SeqCst);
            }
        });
        let mut before = 0;
        while before < 500 || queued.load(Ordering::SeqCst) != before {
            before = queued.load(Ordering::SeqCst);
            thread::sleep(NOT_YET);
        }
        let allocator = context.create_allocator(Options { in_segments, ..Options::default() });
        let stream = context.create_stream(StreamOptions::default()).unwrap();
        let granted = allocator.allocate(&stream, (free() + MORE) as i64, "all");
        drop(held);
        granted.unwrap();
    });
}

/// Memory that queued work uses as a workspace is not reused before the work has finished.
fn workspaces_go_behind_their_work() {
    let platform = Platform::new(tfrt_gpu::find().unwrap());
    let context = platform.device(0).unwrap().create_context().unwrap();
    let _ballast = ballast(&context);
    let allocator = context.create_allocator(Options { in_segments: true, ..Options::default() });
    let products = Products::new(&context);
    let held = products.hold();
    products.queue();
    let stream = context.create_stream(StreamOptions::default()).unwrap();
    let (tell, told) = channel();
    let bytes = (context.memory_info().unwrap().free + MORE) as i64;
    allocator.allocate_with(&stream, bytes, "all", move |granted| tell.send(granted.map(drop)).unwrap());
    assert_eq!(told.recv_timeout(NOT_YET), Err(RecvTimeoutError::Timeout));
    drop(held);
    told.recv().unwrap().unwrap();

    // The end of a stream.
    let other = Products::new(&context);
    let held = other.hold();
    other.queue();
    drop(other);
    thread::sleep(NOT_YET);
    drop(held);

    // The end of a graph.
    products.stream.begin_capture().unwrap();
    products.queue();
    let graph = products.stream.end_capture().unwrap();
    let held = products.hold();
    products.stream.launch_graph(&graph).unwrap();
    drop(graph);
    thread::sleep(NOT_YET);
    drop(held);
    products.stream.synchronize().unwrap();
}

/// Long-running work delays only the release of its own memory.
fn long_work_delays_nobody_elses_memory() {
    let platform = Platform::new(tfrt_gpu::find().unwrap());
    let context = platform.device(0).unwrap().create_context().unwrap();
    let free = || context.memory_info().unwrap().free;
    let before = free();
    let products = Products::new(&context);
    products.stream.begin_capture().unwrap();
    products.queue();
    let graph = products.stream.end_capture().unwrap();
    let held = products.hold();
    products.stream.launch_graph(&graph).unwrap();
    drop(graph);
    let with_graph = free();
    assert!(with_graph < before);

    let other = Products::new(&context);
    other.queue();
    assert!(free() < with_graph);
    other.stream.synchronize().unwrap();
    drop(other);
    while free() < with_graph {
        thread::sleep(Duration::from_millis(1));
    }
    drop((held, products));
    platform.finish_teardown();
    assert_eq!(free(), before);
}

/// Creates as many events as the device supports.
fn all_events(context: &Context) -> Vec<Event> {
    std::iter::from_fn(|| context.create_event(EventOptions::default()).ok()).collect()
}

/// Work after which no event can be recorded does not delay the release of other memory either.
fn unmarked_work_delays_nobody_elses_memory() {
    let platform = Platform::new(tfrt_gpu::find().unwrap());
    let context = platform.device(0).unwrap().create_context().unwrap();
    let free = || context.memory_info().unwrap().free;
    let before = free();
    let products = Products::new(&context);
    let held = products.hold();
    let events = all_events(&context);
    let copied =
        products.stream.copy_to_host(&HostBuffer::from_vec(vec![0f32; 4]), 0, &products.matrix, 0, 16);
    assert!(copied.is_err());
    drop(events);

    let with_matrix = free();
    let other = Products::new(&context);
    other.queue();
    assert!(free() < with_matrix);
    other.stream.synchronize().unwrap();
    drop(other);
    while free() < with_matrix {
        thread::sleep(Duration::from_millis(1));
    }
    drop((held, products));
    platform.finish_teardown();
    assert_eq!(free(), before);
}

/// The end of such work does not disturb a capture that began in the meantime.
fn unmarked_work_leaves_captures_alone() {
    let platform = Platform::new(tfrt_gpu::find().unwrap());
    let context = platform.device(0).unwrap().create_context().unwrap();
    let products = Products::new(&context);
    let held = products.hold();
    let events = all_events(&context);
    let copy = HostBuffer::from_vec(vec![0f32; 4]);
    assert!(products.stream.copy_to_host(&copy, 0, &products.matrix, 0, 16).is_err());
    drop(events);
    products.stream.begin_capture().unwrap();
    drop(held);
    platform.finish_teardown();
    assert!(copy.is_exclusive());
    products.stream.end_capture().unwrap();
}

/// Launches of a graph need no event. Its end needs one, which tells when its workspaces are unused.
fn launches_of_a_graph_need_no_event() {
    let platform = Platform::new(tfrt_gpu::find().unwrap());
    let context = platform.device(0).unwrap().create_context().unwrap();
    let products = Products::new(&context);
    products.stream.begin_capture().unwrap();
    products.queue();
    let graph = products.stream.end_capture().unwrap();
    let events = all_events(&context);
    let calls = Calls::new();
    let records = || calls.of(Some(c"cuEventRecord"));
    let before = records();
    for _ in 0..10 {
        products.stream.launch_graph(&graph).unwrap();
    }
    assert_eq!(records(), before);
    drop(events);
    drop(graph);
    platform.finish_teardown();
    assert_eq!(records(), before + 1);
    products.stream.synchronize().unwrap();
}

/// A call of a program copies its inputs, launches a graph and copies the results. Whatever is
/// released then comes with the event that tells of the results.
fn a_call_records_one_event() {
    let platform = Platform::new(tfrt_gpu::find().unwrap());
    let context = platform.device(0).unwrap().create_context().unwrap();
    let products = Products::new(&context);
    let stream = &products.stream;
    stream.begin_capture().unwrap();
    products.queue();
    let graph = stream.end_capture().unwrap();
    let (input, output) = (HostBuffer::from_vec(vec![1f32; 4]), HostBuffer::from_vec(vec![0f32; 4]));
    let pinned = context.allocate_pinned(16).unwrap();
    let calls = Calls::new();
    let records = || calls.of(Some(c"cuEventRecord"));
    let call = || {
        let before = records();
        for source in [&input, &pinned] {
            let copied = stream.copy_from_host(&products.matrix, 0, source, 0, 16).unwrap();
            assert!(matches!(copied, Transferred::Now));
        }
        stream.launch_graph(&graph).unwrap();
        let copied = stream.copy_to_host(&output, 0, &products.matrix, 0, 16).unwrap();
        let count = records() - before;
        let (tell, told) = channel();
        copied.when_done(move |done| tell.send(done).unwrap()).unwrap();
        told.recv().unwrap().unwrap();
        assert!(pinned.is_exclusive() && output.is_exclusive(), "what the call used is released");
        count
    };
    // A thread that is not run for long needs an event for what waits.
    let counts: Vec<u64> = (0..1000).map(|_| call()).collect();
    assert_eq!(counts.iter().min(), Some(&1), "{counts:?}");

    // Without a result, the release comes by itself.
    drop(stream.copy_from_host(&products.matrix, 0, &pinned, 0, 16).unwrap());
    while !pinned.is_exclusive() {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Without events, nothing can tell when work has finished. The memory that it uses is still not
/// freed earlier, neither with its context nor with the device's last one.
fn memory_without_a_known_last_use_is_kept() {
    let platform = Platform::new(tfrt_gpu::find().unwrap());
    let [context, other] = [0, 0].map(|ordinal| platform.device(ordinal).unwrap().create_context().unwrap());
    let (products, holder) = (Products::new(&context), Products::new(&other));
    let gate = other.create_event(EventOptions::default()).unwrap();
    let held = holder.hold();
    gate.record(&holder.stream).unwrap();
    products.stream.wait(&gate).unwrap();
    products.queue();
    let events = all_events(&other);
    drop((products, context));
    thread::sleep(NOT_YET);
    drop(held);
    drop((events, gate, holder, other));
    platform.finish_teardown();
}

/// If the driver refuses to map pages, memory is allocated in segments, and all of it is released.
fn memory_comes_in_segments_where_pages_are_refused() {
    let platform = Platform::new(tfrt_gpu::find().unwrap());
    let context = platform.device(0).unwrap().create_context().unwrap();
    let free = || context.memory_info().unwrap().free;
    let before = free();
    let products = Products::new(&context);
    products.queue();
    products.stream.synchronize().unwrap();
    assert!(free() < before);
    drop(products);
    platform.finish_teardown();
    assert_eq!(free(), before);
}

/// A convolution of one image with bias, residual and activation.
struct Layer {
    stream: Stream,
    dnn: DnnHandle,
    layout: TensorLayout,
    filter: TensorLayout,
    bias: TensorLayout,
    buffers: [DeviceBuffer; 4],
}

const EXTENT: u64 = 4;

impl Layer {
    fn new(context: &Context) -> Self {
        let dense = |dims: [u64; 4]| {
            let strides = (0..4).map(|axis| dims[axis + 1..].iter().product()).collect();
            TensorLayout { dtype: DType::F32, dims: dims.to_vec(), strides }
        };
        let stream = context.create_stream(StreamOptions::default()).unwrap();
        let dnn = context.create_dnn().unwrap();
        dnn.set_stream(&stream).unwrap();
        let allocator = context.create_allocator(Options::default());
        let (layout, filter, bias) = (dense([1, 1, EXTENT, EXTENT]), dense([1; 4]), dense([1; 4]));
        let buffers = [&layout, &filter, &bias, &layout].map(|layout| {
            let buffer = allocator.allocate(&stream, layout.bytes() as i64, "tensor").unwrap();
            stream.set(&buffer, 0, Pattern::U32(2f32.to_bits()), layout.elements()).unwrap();
            buffer
        });
        Self { stream, dnn, layout, filter, bias, buffers }
    }

    fn queue(&self) {
        let convolution = Convolution {
            padding: vec![0; 2],
            strides: vec![1; 2],
            dilations: vec![1; 2],
            groups: 1,
            cross_correlation: true,
            compute: DType::F32,
            algorithm: -1,
        };
        let [x, w, bias, y] = &self.buffers;
        let x = DnnTensor::new(&self.layout, x);
        let tensors = [x, DnnTensor::new(&self.filter, w), DnnTensor::new(&self.layout, y)];
        let bias = Some(DnnTensor::new(&self.bias, bias));
        let relu =
            Activation { mode: ActivationMode::Relu, coefficient: 0.0, nan: NanPropagation::Propagate };
        self.dnn
            .convolution_forward(&convolution, Scaling::ONE, tensors, bias, Some((x, 0.5)), Some(relu))
            .unwrap();
    }

    fn result(&self) -> Vec<f32> {
        let host = HostBuffer::from_vec(vec![0f32; (EXTENT * EXTENT) as usize]);
        drop(self.stream.copy_to_host(&host, 0, &self.buffers[3], 0, self.layout.bytes()).unwrap());
        self.stream.synchronize().unwrap();
        let bytes = host.read(0).unwrap();
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    }
}

/// The calls that the stand-in has counted: of one entry point, or of all.
struct Calls(libloading::Library);

impl Calls {
    fn new() -> Self {
        // SAFETY: the stand-in is loaded already, under this name.
        Self(unsafe { libloading::Library::new("libcuda.so") }.unwrap())
    }

    fn of(&self, name: Option<&CStr>) -> u64 {
        // SAFETY: the signature is that of the stand-in's function.
        let calls = unsafe { self.0.get::<unsafe extern "C" fn(*const c_char) -> u64>(b"stand_in_calls") };
        // SAFETY: the name ends with a zero, or there is none.
        unsafe { (calls.unwrap())(name.map_or(std::ptr::null(), CStr::as_ptr)) }
    }
}

/// A convolution that was called before calls the library once, and the driver for nothing but the
/// current context.
fn a_repeated_convolution_is_one_call() {
    const RUNS: u64 = 10;
    let platform = Platform::new(tfrt_gpu::find().unwrap());
    let context = platform.device(0).unwrap().create_context().unwrap();
    let layer = Layer::new(&context);
    layer.queue();
    assert_eq!(layer.result(), vec![2.0 * 2.0 + 0.5 * 2.0 + 2.0; (EXTENT * EXTENT) as usize]);
    let calls = Calls::new();
    let counts = || [None, Some(c"cudnnBackendExecute"), Some(c"cuCtxGetCurrent")].map(|name| calls.of(name));
    let before = counts();
    (0..RUNS).for_each(|_| layer.queue());
    let [all, runs, contexts] = counts();
    assert_eq!(runs - before[1], RUNS);
    assert_eq!(all - before[0], runs - before[1] + contexts - before[2]);
    assert!(contexts - before[2] <= 2 * RUNS);

    // Of another stream, the library is told once.
    let other = context.create_stream(StreamOptions::default()).unwrap();
    layer.dnn.set_stream(&other).unwrap();
    let before = calls.of(Some(c"cudnnSetStream"));
    (0..RUNS).for_each(|_| layer.queue());
    assert_eq!(calls.of(Some(c"cudnnSetStream")) - before, 1);
    other.synchronize().unwrap();
}

/// The number of the engine in the only plan that is kept in a folder.
fn kept_engine(folder: &Path) -> Option<u8> {
    let folders: Vec<_> = folder.join("cudnn").read_dir().ok()?.map(|entry| entry.unwrap().path()).collect();
    let files = folders.iter().flat_map(|folder| folder.read_dir().unwrap());
    let texts: Vec<_> = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    assert_eq!(texts.len(), 1);
    // CUDNN_ATTR_ENGINE_GLOBAL_INDEX, as eight bytes of a CUDNN_TYPE_INT64.
    let (_, number) = texts[0].split_once(" 1301 3 8 ")?;
    number.split(' ').next()?.parse().ok()
}

/// The stand-in's engine that is proposed first takes longer than the next one.
const SLOW_ENGINE: u8 = 2;
const FAST_ENGINE: u8 = 3;

/// The fastest engine is taken and kept on disk, unless the choice must not depend on the machine.
fn the_fastest_engine_is_taken(folder: &Path) {
    let calls = Calls::new();
    for (is_deterministic, expected) in [(false, FAST_ENGINE), (true, SLOW_ENGINE)] {
        let options = tfrt_gpu::GpuOptions { is_deterministic, ..Default::default() };
        for is_known in [false, true] {
            let platform = Platform::new(tfrt_gpu::find_with(options).unwrap());
            let context = platform.device(0).unwrap().create_context().unwrap();
            let layer = Layer::new(&context);
            let before = calls.of(Some(c"cuEventElapsedTime_v2"));
            layer.queue();
            let has_timed = calls.of(Some(c"cuEventElapsedTime_v2")) > before;
            assert_eq!(has_timed, !is_deterministic && !is_known);
            assert_eq!(layer.result()[0], 7.0);
        }
        assert_eq!(kept_engine(folder), Some(expected));
        std::fs::remove_dir_all(folder.join("cudnn")).unwrap();
    }
}

/// What runs without a fault, in one process.
fn calm() {
    for (in_segments, are_of_another_context) in [(true, false), (true, true), (false, false), (false, true)]
    {
        idle_workspaces_are_given_whatever_else_goes_on(in_segments, are_of_another_context);
    }
    workspaces_go_behind_their_work();
    long_work_delays_nobody_elses_memory();
    unmarked_work_delays_nobody_elses_memory();
    unmarked_work_leaves_captures_alone();
    launches_of_a_graph_need_no_event();
    a_call_records_one_event();
    memory_without_a_known_last_use_is_kept();
    the_fastest_engine_is_taken(Path::new(&std::env::var_os(CACHE).unwrap()));
    a_repeated_convolution_is_one_call();
    f32_is_rounded_where_tf32_is_allowed();
    unified_memory_is_refused_where_the_host_must_wait();
}

/// The folder in which the plans of convolutions are kept.
const CACHE: &str = "TFRT_CACHE_DIR";

/// What runs in a process of its own: its name, whether the driver refuses pages, and itself. A
/// fault stays with its process.
const PROCESSES: &[(&str, bool, fn())] = &[
    ("calm", false, calm),
    ("segments", true, memory_comes_in_segments_where_pages_are_refused),
    ("told once", false, failures_are_told_once),
    ("stay", false, faults_stay_with_the_process),
    ("named", false, failures_name_the_launch_that_caused_them),
];

/// The driver is searched for once in a process, so the test runs itself in processes that find the
/// stand-in.
#[test]
fn over_the_stand_in() {
    const PROCESS: &str = "TFRT_TEST_ON_THE_STAND_IN";
    if let Some(process) = std::env::var_os(PROCESS) {
        let (_, _, run) = PROCESSES.iter().find(|(name, ..)| *name == process).unwrap();
        return run();
    }
    let libraries = build::libraries().unwrap();
    for (name, refuses_pages, _) in PROCESSES {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let command = build::found_in(&mut command, libraries.path());
        if *refuses_pages {
            command.env("TFRT_STAND_IN_REFUSES_PAGES", "1");
        }
        let plans = tempfile::tempdir().unwrap();
        command.env(CACHE, plans.path()).env("TFRT_STAND_IN_SLOW_ENGINE", "1");
        let output = command.env(PROCESS, name).args(["--exact", "over_the_stand_in"]).output().unwrap();
        let (text, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && text.contains("1 passed"), "{name}: {text}\n{errors}");
    }
}
