//! What cases have in common.

use std::sync::Arc;
use std::sync::mpsc;

use tfrt_device::allocator::Options;
use tfrt_device::error::{DeviceError, Status};
use tfrt_device::front::{Context, DeviceAllocator, DeviceBuffer, Function, Stream};
use tfrt_device::hal::{Dim3, LaunchConfig, StreamOptions, TensorLayout};
use tfrt_host::DType;
use tfrt_host::allocator::{HostAllocator, SystemAllocator};
use tfrt_host::host_buffer::HostBuffer;

/// A stream and an allocator of a context.
#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) context: Context,
    pub(crate) stream: Stream,
    pub(crate) allocator: DeviceAllocator,
}

impl Bench {
    pub(crate) fn new(context: &Context) -> Self {
        let stream = context.create_stream(StreamOptions::default()).unwrap();
        Self { context: context.clone(), stream, allocator: context.create_allocator(Options::default()) }
    }

    pub(crate) fn buffer(&self, bytes: usize) -> DeviceBuffer {
        self.allocator.allocate(&self.stream, bytes as i64, "test").unwrap()
    }

    /// A buffer with these elements.
    pub(crate) fn upload<T: bytemuck::Pod + Send + Sync>(&self, elements: &[T]) -> DeviceBuffer {
        let buffer = self.buffer(size_of_val(elements));
        let host = host(elements);
        wait(|then| {
            self.stream.copy_from_host(&buffer, 0, &host, 0, host.len() as u64).unwrap().when_done(then)
        });
        buffer
    }

    /// A buffer's elements, when all work on the stream is done.
    pub(crate) fn download<T: bytemuck::Pod + Send + Sync>(
        &self,
        buffer: &DeviceBuffer,
        count: usize,
    ) -> Vec<T> {
        let host = zeros(count * size_of::<T>());
        let copy = self.stream.copy_to_host(&host, 0, buffer, 0, host.len() as u64).unwrap();
        wait(|then| copy.when_done(then));
        elements(&host)
    }
}

pub(crate) fn zeros(bytes: usize) -> HostBuffer {
    let allocator: Arc<dyn HostAllocator> = Arc::new(SystemAllocator);
    HostBuffer::allocate(bytes, 64, &allocator).unwrap()
}

pub(crate) fn host<T: bytemuck::Pod + Send + Sync>(elements: &[T]) -> HostBuffer {
    HostBuffer::from_vec(elements.to_vec())
}

pub(crate) fn elements<T: bytemuck::Pod>(buffer: &HostBuffer) -> Vec<T> {
    bytemuck::pod_collect_to_vec(&buffer.read(0).unwrap())
}

/// Calls something that tells later, and waits until it has.
pub(crate) fn wait(
    start: impl FnOnce(Box<dyn FnOnce(Result<(), DeviceError>) + Send>) -> Result<(), DeviceError>,
) {
    outcome(start).unwrap();
}

/// As [`wait`], with how it ended.
pub(crate) fn outcome(
    start: impl FnOnce(Box<dyn FnOnce(Result<(), DeviceError>) + Send>) -> Result<(), DeviceError>,
) -> Result<(), DeviceError> {
    let (sender, receiver) = mpsc::channel();
    start(Box::new(move |outcome| sender.send(outcome).unwrap()))?;
    receiver.recv().unwrap()
}

/// That a call fails with this status.
#[track_caller]
pub(crate) fn fails<T: std::fmt::Debug>(result: Result<T, impl std::fmt::Display>, status: Status) {
    let message = match result {
        Ok(value) => panic!("expected {}, got {value:?}", status.name()),
        Err(error) => error.to_string(),
    };
    assert!(message.contains(status.name()), "expected {}, got {message}", status.name());
}

/// A dense layout, the last index fastest.
pub(crate) fn layout(dims: &[u64]) -> TensorLayout {
    let mut strides = vec![1; dims.len()];
    for axis in (0..dims.len().saturating_sub(1)).rev() {
        strides[axis] = strides[axis + 1] * dims[axis + 1];
    }
    TensorLayout { dtype: DType::F32, dims: dims.to_vec(), strides }
}

/// Numbers that look random and are the same each time, between −1 and 1.
pub(crate) fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

#[track_caller]
pub(crate) fn close(actual: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(actual.len(), expected.len());
    for (index, (a, e)) in actual.iter().zip(expected).enumerate() {
        let close = a == e || (a - e).abs() < tolerance * e.abs().max(1.0);
        assert!(close, "element {index}: {a}, expected {e}");
    }
}

pub(crate) fn config(grid: u32, block: u32) -> LaunchConfig {
    LaunchConfig {
        grid: Dim3::from(grid),
        block: Dim3::from(block),
        shared_memory_bytes: 0,
        cooperative: false,
    }
}

/// A function of a PTX module.
pub(crate) fn function(context: &Context, ptx: &str, name: &str) -> Function {
    context.load_module(ptx.as_bytes()).unwrap().function(name).unwrap()
}

/// `y[i] = x[i] + y[i]` for `i` below `n`.
pub(crate) const VECTOR_ADD: &str = r"
.version 6.4
.target sm_52
.address_size 64
.visible .entry vector_add(.param .u32 n, .param .u64 x, .param .u64 y)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  ld.param.u32 %r2, [n];
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r1, %r4, %r3, %r5;
  setp.ge.u32 %p1, %r1, %r2;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd3, %rd2;
  cvta.to.global.u64 %rd4, %rd1;
  mul.wide.u32 %rd5, %r1, 4;
  add.s64 %rd6, %rd4, %rd5;
  add.s64 %rd7, %rd3, %rd5;
  ld.global.f32 %f1, [%rd7];
  ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f2, %f1;
  st.global.f32 [%rd7], %f3;
DONE:
  ret;
}
";

/// Whether the free memory of a device is what programs have left. A driver of a GPU allocates
/// lazily for each context and keeps it, and other processes may use the GPU.
pub(super) fn counts_memory_exactly(context: &Context) -> bool {
    let device = context.device();
    device.backend() != "cuda" || device.properties().name.contains("Stand-in")
}
