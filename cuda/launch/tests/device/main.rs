//! The CUDA kernels, on whichever device there is, against plain Rust.
//!
//! Inputs are random but the same in every run. Lengths are chosen around the pack and block sizes,
//! so that tails and unaligned buffers take part.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod attend;
mod attention;
mod complex;
mod diagonals;
mod elementwise;
mod generated;
mod layout;
mod local_response;
mod moves;
mod narrow;
mod normalize;
mod products;
mod quantize;
mod random;
mod recurrent;
mod reduce;
mod resample;
mod rows;
mod sampling;
mod scan;
mod scatter;
mod steps;
mod training;
mod volume;
mod window;

use std::sync::OnceLock;

use bytemuck::Pod;
use tfrt_cpu::CpuOptions;
use tfrt_device::allocator::Options;
use tfrt_device::front::{Context, DeviceAllocator, DeviceBuffer, Platform, Stream};
use tfrt_device::hal::StreamOptions;
use tfrt_host::host_buffer::HostBuffer;
use tfrt_launch::DeviceKernels;

/// A device and the kernels on it.
struct Device {
    _platform: Platform,
    context: Context,
    stream: Stream,
    allocator: DeviceAllocator,
    kernels: DeviceKernels,
}

/// The device that all tests share: the one that `TFRT_TEST_DEVICE` names (`cuda` or `cpu`), else a
/// GPU if there is one. The same tests hold on both.
fn device() -> &'static Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let options = CpuOptions { memory_bytes: 256 << 20, ..CpuOptions::default() };
        let backend = match std::env::var("TFRT_TEST_DEVICE").as_deref() {
            Err(_) => tfrt_gpu::find().or_else(|_| tfrt_cpu::open(&options)),
            Ok("cpu") => tfrt_cpu::open(&options),
            // Never another one instead.
            Ok(_) => tfrt_gpu::find(),
        };
        let platform = Platform::new(backend.unwrap());
        let context = platform.device(0).unwrap().create_context().unwrap();
        let stream = context.create_stream(StreamOptions::default()).unwrap();
        let allocator = context.create_allocator(Options::default());
        let kernels = DeviceKernels::new(&context);
        Device { _platform: platform, context, stream, allocator, kernels }
    })
}

impl Device {
    /// A buffer of so many bytes with arbitrary contents.
    fn allocate(&self, bytes: usize) -> DeviceBuffer {
        self.allocator.allocate(&self.stream, bytes.max(1) as i64, "test").unwrap()
    }

    /// A buffer with these elements.
    fn upload<T: Pod + Send + Sync>(&self, elements: &[T]) -> DeviceBuffer {
        let bytes = size_of_val(elements);
        let buffer = self.allocate(bytes);
        let host = HostBuffer::from_vec(elements.to_vec());
        self.stream.copy_from_host(&buffer, 0, &host, 0, bytes as u64).unwrap();
        self.stream.synchronize().unwrap();
        buffer
    }

    /// A buffer for so many elements of a type.
    fn room<T: Pod>(&self, elements: usize) -> DeviceBuffer {
        self.allocate(elements * size_of::<T>())
    }

    /// The first elements of a buffer.
    fn download<T: Pod>(&self, buffer: &DeviceBuffer, elements: usize) -> Vec<T> {
        let bytes = elements * size_of::<T>();
        let host = HostBuffer::from_vec(vec![0u8; bytes]);
        let copied = self.stream.copy_to_host(&host, 0, buffer, 0, bytes as u64).unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        copied.when_done(move |outcome| sender.send(outcome).unwrap()).unwrap();
        receiver.recv().unwrap().unwrap();
        let guard = host.read(0).unwrap();
        bytemuck::pod_collect_to_vec(&guard)
    }
}

/// Random numbers, the same for one seed.
struct Random(fastrand::Rng);

impl Random {
    fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    fn f32s(&mut self, count: usize, low: f32, high: f32) -> Vec<f32> {
        (0..count).map(|_| low + (high - low) * self.0.f32()).collect()
    }

    fn halves(&mut self, count: usize, low: f32, high: f32) -> Vec<half::f16> {
        self.f32s(count, low, high).into_iter().map(half::f16::from_f32).collect()
    }

    fn i32s(&mut self, count: usize, range: std::ops::Range<i32>) -> Vec<i32> {
        (0..count).map(|_| self.0.i32(range.clone())).collect()
    }
}

/// That two lists are equal up to a relative and absolute error, NaN being equal to NaN and
/// infinity to itself alone.
#[track_caller]
fn assert_close(actual: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(actual.len(), expected.len());
    for (index, (&a, &e)) in actual.iter().zip(expected).enumerate() {
        let same = a == e || (a.is_nan() && e.is_nan()) || (a - e).abs() < tolerance * e.abs().max(1.0);
        assert!(same, "element {index}: {a} instead of {e}");
    }
}

fn widened(halves: &[half::f16]) -> Vec<f32> {
    halves.iter().map(|half| half.to_f32()).collect()
}

/// Every kernel there is has been taken by the device.
#[test]
fn every_module_loads() {
    let (major, minor) = device().context.device().properties().compute_capability;
    for source in tfrt_launch::SOURCES.iter().filter(|source| source.capability <= major * 10 + minor) {
        for kernel in source.kernels() {
            device().kernels.function(kernel).unwrap();
        }
    }
    assert!(device().kernels.function("no_such_kernel").is_err());
}

#[test]
fn buffers_that_are_too_small_are_refused() {
    let d = device();
    let (small, large) = (d.room::<f32>(3), d.room::<f32>(4));
    let fill = |buffer| d.kernels.fill(&d.stream, tfrt_host::DType::F32, buffer, 4, 1.0);
    fill(&large).unwrap();
    let error = fill(&small).unwrap_err();
    assert!(error.detail.contains("too few for 4 elements of f32"), "{error}");
}
