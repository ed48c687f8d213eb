//! Allocators, buffers and copies.

use tfrt_device::allocator::Options;
use tfrt_device::front::{Context, DeviceAllocator, DeviceBuffer, Stream};
use tfrt_device::hal::Pattern;
use tfrt_device::origin;
use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{Arg, AsyncValueRef, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry};
use tfrt_tensor::DenseHostTensor;

use crate::{Awaited, Done, follow, from, transferred, unsigned, waiting};

fn allocator_create(context: Arg<Context>, _chain: Chain) -> (DeviceAllocator, Chain) {
    (context.create_allocator(Options::default()), Chain)
}

fn allocator_create_with_limit(
    context: Arg<Context>,
    bytes: i64,
    _chain: Chain,
) -> Result<(DeviceAllocator, Chain), Diagnostic> {
    let bytes_limit = Some(unsigned("the limit", bytes)?);
    Ok((context.create_allocator(Options { bytes_limit, ..Options::default() }), Chain))
}

fn allocator_destroy(allocator: Arg<DeviceAllocator>, _chain: Chain) -> Result<Chain, Diagnostic> {
    allocator.destroy()?;
    Ok(Chain)
}

/// It waits for streams.
fn clear_cache(
    allocator: Arg<DeviceAllocator>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> (AsyncValueRef<i64>, AsyncValueRef<Chain>) {
    let allocator = allocator.clone();
    let released = waiting(cx, move |_| Ok(i64::try_from(allocator.clear_cache()?).unwrap_or(i64::MAX)));
    let chain = follow(&released);
    (released, chain)
}

fn stats(allocator: Arg<DeviceAllocator>, _chain: Chain) -> (i64, i64, i64, i64, Chain) {
    let statistics = allocator.statistics();
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    (
        signed(statistics.num_allocs),
        signed(statistics.bytes_in_use),
        signed(statistics.peak_bytes_in_use),
        signed(statistics.bytes_reserved),
        Chain,
    )
}

/// The name of the kernel that allocates, for reports.
const ALLOCATE: &str = "tfrt_cuda.mem.allocate";

type Allocated = (AsyncValueRef<DeviceBuffer>, AsyncValueRef<Chain>);

/// Asks for memory. In the ordinary case, both results are available at once.
fn allocate(
    allocator: Arg<DeviceAllocator>,
    stream: Arg<Stream>,
    bytes: i64,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Allocated, Diagnostic> {
    // The origin is always recorded, because the report of an out-of-memory error lists which
    // kernels hold memory.
    let _entered = origin::enter(cx);
    Ok(match allocator.try_allocate(&stream, bytes, ALLOCATE)? {
        Some(buffer) => (AsyncValueRef::available(buffer), AsyncValueRef::available(Chain)),
        None => allocate_later(&allocator, &stream, bytes, cx),
    })
}

/// Asks for memory that queued work must return first. Both results come later, so that requests
/// that follow the chain are made later too and stay in order.
#[cold]
fn allocate_later(
    allocator: &DeviceAllocator,
    stream: &Stream,
    bytes: i64,
    cx: &ExecutionContext,
) -> Allocated {
    let (awaited, buffer, hook) = Awaited::new(cx);
    let work = cx.host().external_work();
    allocator.allocate_with(stream, bytes, ALLOCATE, move |granted| {
        // Kernels that wait for the buffer run on the work queue, not on the thread that tells of
        // it.
        awaited.on_queue(|cx, promise| cx.settle(promise, granted));
        drop((awaited, hook, work));
    });
    let chain = follow(&buffer);
    (buffer, chain)
}

/// The bytes of a part. Its size is an attribute, because the compiler plans slices.
fn slice(buffer: Arg<DeviceBuffer>, offset: Attr<i64>, size: Attr<i64>) -> Result<DeviceBuffer, Diagnostic> {
    Ok(buffer.slice(unsigned("the offset", offset.0)?, unsigned("the size", size.0)?)?)
}

fn print_metadata(buffer: Arg<DeviceBuffer>, _chain: Chain, cx: &ExecutionContext) -> Chain {
    cx.host().print(format_args!("{}\n", *buffer));
    Chain
}

/// Sizes that programs get wrong, in the words they know.
fn check_sizes(kernel: &str, destination: u64, source: u64, bytes: i64) -> Result<u64, Diagnostic> {
    let count = u64::try_from(bytes).map_err(|_| {
        Diagnostic::invalid_argument(format!("{kernel} failed: the number of bytes to copy is {bytes}"))
    })?;
    for (what, size) in [("destination", destination), ("source", source)] {
        if size < count {
            return Err(Diagnostic::invalid_argument(format!(
                "{kernel} failed: {what} buffer size ({size}) is less than number of bytes to copy ({bytes})"
            )));
        }
    }
    Ok(count)
}

fn host_to_device(
    context: Arg<Context>,
    dst: Arg<DeviceBuffer>,
    src: Arg<HostBuffer>,
    bytes: i64,
    stream: Arg<Stream>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    let bytes = check_sizes("tfrt_cuda.mem.copy_host_to_device", dst.len(), src.len() as u64, bytes)?;
    context.check_stream(&stream)?;
    transferred(cx, from(cx, &context, || stream.copy_from_host(&dst, 0, &src, 0, bytes))?)
}

fn device_to_host(
    context: Arg<Context>,
    dst: Arg<HostBuffer>,
    src: Arg<DeviceBuffer>,
    bytes: i64,
    stream: Arg<Stream>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    let bytes = check_sizes("tfrt_cuda.mem.copy_device_to_host", dst.len() as u64, src.len(), bytes)?;
    context.check_stream(&stream)?;
    transferred(cx, from(cx, &context, || stream.copy_to_host(&dst, 0, &src, 0, bytes))?)
}

fn device_to_device(
    context: Arg<Context>,
    dst: Arg<DeviceBuffer>,
    src: Arg<DeviceBuffer>,
    bytes: i64,
    stream: Arg<Stream>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let bytes = check_sizes("tfrt_cuda.mem.copy_device_to_device", dst.len(), src.len(), bytes)?;
    context.check_stream(&stream)?;
    from(cx, &context, || stream.copy((&dst, 0), (&src, 0), bytes, false))?;
    Ok(Chain)
}

fn peer(
    dst: Arg<DeviceBuffer>,
    src: Arg<DeviceBuffer>,
    bytes: i64,
    stream: Arg<Stream>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let bytes = check_sizes("tfrt_cuda.mem.copy_peer", dst.len(), src.len(), bytes)?;
    from(cx, stream.context(), || stream.copy((&dst, 0), (&src, 0), bytes, true))?;
    Ok(Chain)
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn copy_2d(
    context: Arg<Context>,
    dst: Arg<DeviceBuffer>,
    dst_pitch: i64,
    src: Arg<DeviceBuffer>,
    src_pitch: i64,
    width: i64,
    height: i64,
    stream: Arg<Stream>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    context.check_stream(&stream)?;
    let [dst_pitch, src_pitch, width, height] = rows(dst_pitch, src_pitch, width, height)?;
    from(cx, &context, || stream.copy_2d((&dst, 0, dst_pitch), (&src, 0, src_pitch), width, height))?;
    Ok(Chain)
}

/// Pitches, width and height of a copy of rows.
fn rows(dst_pitch: i64, src_pitch: i64, width: i64, height: i64) -> Result<[u64; 4], Diagnostic> {
    Ok([
        unsigned("the destination's pitch", dst_pitch)?,
        unsigned("the source's pitch", src_pitch)?,
        unsigned("the width", width)?,
        unsigned("the height", height)?,
    ])
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn copy_2d_host_to_device(
    context: Arg<Context>,
    dst: Arg<DeviceBuffer>,
    dst_pitch: i64,
    src: Arg<HostBuffer>,
    src_pitch: i64,
    width: i64,
    height: i64,
    stream: Arg<Stream>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    context.check_stream(&stream)?;
    let [dst_pitch, src_pitch, width, height] = rows(dst_pitch, src_pitch, width, height)?;
    let copy = || stream.copy_2d_from_host((&dst, 0, dst_pitch), (&src, 0, src_pitch), width, height);
    transferred(cx, from(cx, &context, copy)?)
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn copy_2d_device_to_host(
    context: Arg<Context>,
    dst: Arg<HostBuffer>,
    dst_pitch: i64,
    src: Arg<DeviceBuffer>,
    src_pitch: i64,
    width: i64,
    height: i64,
    stream: Arg<Stream>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Done {
    context.check_stream(&stream)?;
    let [dst_pitch, src_pitch, width, height] = rows(dst_pitch, src_pitch, width, height)?;
    let copy = || stream.copy_2d_to_host((&dst, 0, dst_pitch), (&src, 0, src_pitch), width, height);
    transferred(cx, from(cx, &context, copy)?)
}

fn set<T: Copy + 'static>(
    pattern: fn(T) -> Pattern,
) -> impl Fn(&Context, &DeviceBuffer, T, i64, &Stream, &ExecutionContext) -> Result<Chain, Diagnostic> {
    move |context, buffer, value, count, stream, cx| {
        context.check_stream(stream)?;
        let count = unsigned("the count", count)?;
        from(cx, context, || stream.set(buffer, 0, pattern(value), count))?;
        Ok(Chain)
    }
}

fn allocate_host(
    context: Arg<Context>,
    bytes: i64,
    _chain: Chain,
) -> Result<(HostBuffer, Chain), Diagnostic> {
    let bytes = unsigned("the size", bytes)?;
    let bytes = usize::try_from(bytes)
        .map_err(|_| Diagnostic::invalid_argument(format!("a host buffer cannot have {bytes} bytes")))?;
    Ok((context.allocate_pinned(bytes)?, Chain))
}

fn allocate_managed(
    context: Arg<Context>,
    bytes: i64,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<(DeviceBuffer, HostBuffer, Chain), Diagnostic> {
    let bytes = unsigned("the size", bytes)?;
    let (device, host) = from(cx, &context, || context.allocate_managed(bytes))?;
    Ok((device, host, Chain))
}

fn register_host(context: Arg<Context>, buffer: Arg<HostBuffer>, _chain: Chain) -> Result<Chain, Diagnostic> {
    context.register_host(&buffer)?;
    Ok(Chain)
}

fn unregister_host(
    context: Arg<Context>,
    buffer: Arg<HostBuffer>,
    _chain: Chain,
) -> Result<Chain, Diagnostic> {
    context.unregister_host(&buffer)?;
    Ok(Chain)
}

/// Allocates and copies: for tests. On the blocking pool, because both may wait.
fn copy_tensor_host_to_device(
    context: Arg<Context>,
    allocator: Arg<DeviceAllocator>,
    stream: Arg<Stream>,
    src: Arg<DenseHostTensor>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<(DeviceBuffer, AsyncValueRef<Chain>), Diagnostic> {
    context.check_stream(&stream)?;
    let size = src.size_bytes();
    let bytes = i64::try_from(size).unwrap_or(i64::MAX);
    from(cx, &context, || {
        let buffer = allocator.allocate(&stream, bytes, "tfrt_cuda_test.copy_tensor_host_to_device")?;
        let copy = stream.copy_from_host(&buffer, 0, src.buffer(), 0, size as u64)?;
        Ok((buffer, transferred(cx, copy)?))
    })
}

fn register_allocators(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_cuda.allocator.create", allocator_create)
        .side_effecting()
        .doc("A caching allocator of a context's memory.");
    registry
        .add("tfrt_cuda.allocator.create_with_limit", allocator_create_with_limit)
        .side_effecting()
        .doc("A caching allocator that holds at most so many bytes.");
    registry
        .add("tfrt_cuda.allocator.destroy", allocator_destroy)
        .side_effecting()
        .doc("Ends an allocator: it hands nothing out any more. Buffers that are there stay.");
    registry.add("tfrt_cuda.allocator.clear_cache", clear_cache).side_effecting().doc(
        "Gives cached memory back to the device, after waiting for work that may use it; how many bytes.",
    );
    registry
        .add("tfrt_cuda.allocator.stats", stats)
        .side_effecting()
        .doc("Allocations so far, bytes in use, their peak, and bytes held from the device.");
    registry.add("tfrt_cuda.mem.allocate", allocate).side_effecting().doc(
        "Memory for work on a stream. Requests are granted in order; the buffer comes when the memory does.",
    );
    registry.add("tfrt_cuda.mem.slice", slice).attributes(&["offset", "size"]).reads(&[]).aliases(0, 0).doc(
        "Returns a part of a buffer. It shares the memory, keeps it alive, and is accepted wherever a buffer is.",
    );
    registry
        .add("tfrt_cuda.mem.print_metadata", print_metadata)
        .side_effecting()
        .reads(&[])
        .doc("Prints a buffer's address and size.");
}

fn register_sets(registry: &mut KernelRegistry) {
    macro_rules! sets {
        ($($name:literal, $type:ty, $pattern:path;)*) => {$(
            let fill = set::<$type>($pattern);
            registry
                .add(
                    $name,
                    move |context: Arg<Context>,
                          buffer: Arg<DeviceBuffer>,
                          value: $type,
                          count: i64,
                          stream: Arg<Stream>,
                          _chain: Chain,
                          cx: &ExecutionContext| fill(&context, &buffer, value, count, &stream, cx),
                )
                .side_effecting()
                .mutates(&[1])
                .doc("Fills a buffer's beginning with so many copies of a number.");
        )*};
    }
    sets! {
        "tfrt_cuda.mem.set.ui8", u8, Pattern::U8;
        "tfrt_cuda.mem.set.ui16", u16, Pattern::U16;
        "tfrt_cuda.mem.set.ui32", u32, Pattern::U32;
    }
    registry
        .add(
            "tfrt_cuda.mem.set.f32",
            |context: Arg<Context>,
             buffer: Arg<DeviceBuffer>,
             value: f32,
             count: i64,
             stream: Arg<Stream>,
             _chain: Chain,
             cx: &ExecutionContext| {
                set(|value: f32| Pattern::U32(value.to_bits()))(&context, &buffer, value, count, &stream, cx)
            },
        )
        .side_effecting()
        .mutates(&[1])
        .doc("Fills a buffer's beginning with so many copies of a number.");
}

pub(crate) fn register(registry: &mut KernelRegistry) {
    register_allocators(registry);
    register_sets(registry);
    registry
        .add("tfrt_cuda.mem.copy_host_to_device", host_to_device)
        .side_effecting()
        .mutates(&[1])
        .doc("Copies bytes from the host. The chain says when the source may be changed.");
    registry
        .add("tfrt_cuda.mem.copy_device_to_host", device_to_host)
        .side_effecting()
        .mutates(&[1])
        .doc("Copies bytes to the host. The chain says when they are there, unless the memory is pinned.");
    registry
        .add("tfrt_cuda.mem.copy_device_to_device", device_to_device)
        .side_effecting()
        .mutates(&[1])
        .doc("Copies bytes on one device.");
    registry
        .add("tfrt_cuda.mem.copy_peer", peer)
        .side_effecting()
        .mutates(&[0])
        .doc("Copies bytes from one device to another, on a stream of whichever device reaches both.");
    registry
        .add("tfrt_cuda.mem.copy_2d", copy_2d)
        .side_effecting()
        .mutates(&[1])
        .doc("Copies rows of bytes: destination and its pitch, source and its pitch, width, height.");
    registry
        .add("tfrt_cuda.mem.copy_2d_host_to_device", copy_2d_host_to_device)
        .side_effecting()
        .mutates(&[1])
        .doc("Copies rows of bytes from the host. The chain says when the source may be changed.");
    registry
        .add("tfrt_cuda.mem.copy_2d_device_to_host", copy_2d_device_to_host)
        .side_effecting()
        .mutates(&[1])
        .doc("Copies rows of bytes to the host. The chain says when they are there, unless the memory is pinned.");
    registry
        .add("tfrt_cuda.mem.allocate_host", allocate_host)
        .side_effecting()
        .blocking()
        .doc("Pinned host memory, which copies use directly. They do not hold their chains up.");
    registry
        .add("tfrt_cuda.mem.allocate_managed", allocate_managed)
        .side_effecting()
        .blocking()
        .doc(
            "Unified memory: a buffer for work on streams, and the same bytes as a buffer of the host's. The host may use \
             them until work is queued that may, launches of any kind above all, and again when it has waited for that \
             work.",
        );
    registry
        .add("tfrt_cuda.mem.register", register_host)
        .side_effecting()
        .blocking()
        .doc("Pins a host buffer's memory.");
    registry
        .add("tfrt_cuda.mem.unregister", unregister_host)
        .side_effecting()
        .blocking()
        .doc("Ends the pinning of a host buffer.");
    registry
        .add("tfrt_cuda_test.copy_tensor_host_to_device", copy_tensor_host_to_device)
        .side_effecting()
        .blocking()
        .doc("A new buffer with a copy of a host tensor's bytes.");
}
