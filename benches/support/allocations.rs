//! Traces of allocations, made by the same rules every time, and what they are replayed on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tfrt_cuda::allocator::{Allocation, Backing, CachingAllocator, Options, Origin, Request, Statistics};
use tfrt_host::Diagnostic;

/// One step of a trace. Buffers are numbered; a number is used again once its buffer is freed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    Allocate {
        buffer: u32,
        bytes: u64,
        stream: u32,
    },
    /// Work on another stream uses it.
    Use {
        buffer: u32,
        stream: u32,
    },
    Free {
        buffer: u32,
    },
}

/// A program, as far as memory is concerned.
#[derive(Debug)]
pub(crate) struct Trace {
    pub(crate) name: &'static str,
    pub(crate) ops: Vec<Op>,
    vacant: Vec<u32>,
    buffers: u32,
}

impl Trace {
    fn new(name: &'static str) -> Self {
        Self { name, ops: Vec::new(), vacant: Vec::new(), buffers: 0 }
    }

    fn allocate(&mut self, stream: u32, bytes: u64) -> u32 {
        let buffer = self.vacant.pop().unwrap_or_else(|| {
            self.buffers += 1;
            self.buffers - 1
        });
        self.ops.push(Op::Allocate { buffer, bytes, stream });
        buffer
    }

    fn free(&mut self, buffer: u32) {
        self.ops.push(Op::Free { buffer });
        self.vacant.push(buffer);
    }

    fn scratch(&mut self, stream: u32, bytes: u64) {
        let buffer = self.allocate(stream, bytes);
        self.free(buffer);
    }

    fn free_all(mut self, buffers: impl IntoIterator<Item = u32>) -> Self {
        buffers.into_iter().for_each(|buffer| self.free(buffer));
        self
    }

    /// Buffers alive at once at most.
    pub(crate) fn buffers(&self) -> usize {
        self.buffers as usize
    }

    /// Pairs of an allocation and its free.
    pub(crate) fn pairs(&self) -> u64 {
        self.ops.iter().filter(|op| matches!(op, Op::Allocate { .. })).count() as u64
    }

    /// The most bytes alive at once.
    pub(crate) fn peak_live(&self) -> u64 {
        let mut sizes = vec![0; self.buffers()];
        let (mut live, mut peak) = (0, 0);
        for op in &self.ops {
            match *op {
                Op::Allocate { buffer, bytes, .. } => {
                    sizes[buffer as usize] = bytes;
                    live += bytes;
                }
                Op::Free { buffer } => live -= sizes[buffer as usize],
                Op::Use { .. } => {}
            }
            peak = peak.max(live);
        }
        peak
    }
}

/// All traces.
pub(crate) fn traces() -> Vec<Trace> {
    vec![resnet50_training(), ragged_sequences(), many_streams(), serving()]
}

/// One convolution of ResNet-50: channels in and out, kernel, and the height (and width) of what it gives.
#[derive(Clone, Copy)]
struct Convolution {
    input: u64,
    output: u64,
    kernel: u64,
    size: u64,
}

fn resnet50() -> Vec<Convolution> {
    let mut layers = vec![Convolution { input: 3, output: 64, kernel: 7, size: 112 }];
    let mut input = 64;
    for (blocks, width, size) in [(3, 64, 56), (4, 128, 28), (6, 256, 14), (3, 512, 7)] {
        for block in 0..blocks {
            let first_size = if block == 0 && size != 56 { 2 * size } else { size };
            layers.push(Convolution { input, output: width, kernel: 1, size: first_size });
            layers.push(Convolution { input: width, output: width, kernel: 3, size });
            layers.push(Convolution { input: width, output: 4 * width, kernel: 1, size });
            if block == 0 {
                layers.push(Convolution { input, output: 4 * width, kernel: 1, size });
            }
            input = 4 * width;
        }
    }
    layers
}

/// Training in f32, batch 32: weights and momentum stay, activations live until their backward step, gradients until
/// the end of the step, workspaces for one call.
fn resnet50_training() -> Trace {
    const BATCH: u64 = 32;
    const STEPS: usize = 8;
    let mut trace = Trace::new("ResNet-50 training");
    let layers = resnet50();
    let weight_bytes = |c: &Convolution| 4 * c.input * c.output * c.kernel * c.kernel;
    let activation_bytes = |c: &Convolution| 4 * BATCH * c.output * c.size * c.size;
    let workspace_bytes =
        |c: &Convolution| if c.kernel == 1 { 0 } else { activation_bytes(c) / 2 + (c.output << 14) };
    let mut kept = Vec::new();
    for c in &layers {
        // The weights and their momentum; scale, shift, mean and variance of the normalization behind.
        kept.extend([weight_bytes(c); 2].map(|bytes| trace.allocate(0, bytes)));
        kept.extend([4 * c.output; 6].map(|bytes| trace.allocate(0, bytes)));
    }
    for _ in 0..STEPS {
        let input = trace.allocate(0, 4 * BATCH * 3 * 224 * 224);
        let mut forward = Vec::new();
        for c in &layers {
            let convolved = trace.allocate(0, activation_bytes(c));
            trace.scratch(0, workspace_bytes(c));
            let statistics = trace.allocate(0, 8 * c.output);
            let normalized = trace.allocate(0, activation_bytes(c));
            forward.push((convolved, statistics, normalized));
        }
        let mut weight_gradients = Vec::new();
        let mut gradient = trace.allocate(0, activation_bytes(&layers[layers.len() - 1]));
        for (i, c) in layers.iter().enumerate().rev() {
            let (convolved, statistics, normalized) = forward[i];
            let through = trace.allocate(0, activation_bytes(c));
            trace.free(gradient);
            trace.free(normalized);
            trace.free(statistics);
            weight_gradients.push(trace.allocate(0, weight_bytes(c)));
            trace.scratch(0, workspace_bytes(c));
            let below = i.checked_sub(1).map_or(1024, |i| activation_bytes(&layers[i]));
            gradient = trace.allocate(0, below);
            trace.scratch(0, workspace_bytes(c));
            trace.free(through);
            trace.free(convolved);
        }
        trace.free(gradient);
        trace.free(input);
        weight_gradients.into_iter().for_each(|buffer| trace.free(buffer));
    }
    trace.free_all(kept)
}

/// Training of a transformer on batches of sequences whose length differs from step to step.
fn ragged_sequences() -> Trace {
    const STEPS: usize = 60;
    const LAYERS: usize = 12;
    const BATCH: u64 = 8;
    const HEADS: u64 = 12;
    const WIDTH: u64 = 768;
    let mut random = fastrand::Rng::with_seed(1);
    let mut trace = Trace::new("ragged sequences");
    let kept: Vec<_> = (0..LAYERS)
        .flat_map(|_| [3 * WIDTH * WIDTH, WIDTH * WIDTH, 4 * WIDTH * WIDTH, 4 * WIDTH * WIDTH, WIDTH])
        .map(|elements| trace.allocate(0, 4 * elements))
        .collect();
    for _ in 0..STEPS {
        let length = random.u64(16..=512);
        let tokens = BATCH * length;
        let sizes = [
            4 * tokens * WIDTH * 3,
            4 * BATCH * HEADS * length * length,
            4 * tokens * WIDTH,
            4 * tokens * WIDTH,
            4 * tokens * WIDTH * 4,
            4 * tokens * WIDTH,
            8 * tokens,
        ];
        let mut layers = Vec::new();
        for _ in 0..LAYERS {
            layers.push(sizes.map(|bytes| trace.allocate(0, bytes)));
            trace.scratch(0, sizes[1]);
        }
        while let Some(layer) = layers.pop() {
            for (buffer, bytes) in layer.into_iter().zip(sizes).rev() {
                let gradient = trace.allocate(0, bytes);
                trace.free(buffer);
                trace.free(gradient);
            }
        }
    }
    trace.free_all(kept)
}

/// Eight streams with buffers of all sizes and lifetimes; one in five is used on a second stream as well.
fn many_streams() -> Trace {
    const STREAMS: u32 = 8;
    const ALLOCATIONS: usize = 20_000;
    const ALIVE: usize = 300;
    let mut random = fastrand::Rng::with_seed(2);
    let mut trace = Trace::new("many streams");
    let mut alive: Vec<u32> = Vec::new();
    for _ in 0..ALLOCATIONS {
        let bytes = (2f64.powf(6.0 + 18.0 * random.f64())) as u64;
        let buffer = trace.allocate(random.u32(0..STREAMS), bytes);
        if random.u8(0..5) == 0 {
            trace.ops.push(Op::Use { buffer, stream: random.u32(0..STREAMS) });
        }
        alive.push(buffer);
        if alive.len() > ALIVE {
            let oldest_half = random.usize(0..ALIVE / 2);
            trace.free(alive.remove(oldest_half));
        }
    }
    trace.free_all(alive)
}

/// Inference in batches of any size on four streams; a request's buffers are freed as soon as the next layer has them.
fn serving() -> Trace {
    const STREAMS: u32 = 4;
    const REQUESTS: usize = 400;
    let mut random = fastrand::Rng::with_seed(3);
    let mut trace = Trace::new("serving");
    let layers = resnet50();
    let weights: Vec<_> = layers
        .iter()
        .map(|c| 4 * c.input * c.output * c.kernel * c.kernel)
        .map(|bytes| trace.allocate(0, bytes))
        .collect();
    // Requests overlap: each stream has one under way, and they advance by turns.
    let mut under_way: Vec<(usize, u64, Option<u32>)> = vec![(layers.len(), 0, None); STREAMS as usize];
    let mut started = 0;
    while started < REQUESTS || under_way.iter().any(|(_, _, buffer)| buffer.is_some()) {
        let stream = random.u32(0..STREAMS);
        let (layer, batch, buffer) = &mut under_way[stream as usize];
        if *layer == layers.len() {
            if let Some(done) = buffer.take() {
                trace.free(done);
            }
            if started < REQUESTS {
                started += 1;
                (*layer, *batch) = (0, random.u64(1..=32));
                *buffer = Some(trace.allocate(stream, 4 * *batch * 3 * 224 * 224));
            }
            continue;
        }
        let c = layers[*layer];
        let next = trace.allocate(stream, 4 * *batch * c.output * c.size * c.size);
        if let Some(previous) = buffer.replace(next) {
            trace.free(previous);
        }
        *layer += 1;
    }
    trace.free_all(weights)
}

/// A device with memory without end, whose streams lag behind the host by a number of calls.
#[derive(Debug, Default)]
pub(crate) struct LaggingDevice {
    lag: u64,
    now: AtomicU64,
    next_address: AtomicU64,
}

impl LaggingDevice {
    pub(crate) fn new(lag: u64) -> Self {
        Self { lag, ..Self::default() }
    }
}

impl Backing for LaggingDevice {
    type Stream = u32;
    type Fence = u64;

    fn allocate(&self, bytes: u64) -> Result<u64, Diagnostic> {
        Ok((1 << 40) + self.next_address.fetch_add(bytes.next_multiple_of(512), Ordering::Relaxed))
    }

    fn free(&self, _address: u64, _bytes: u64) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn record(&self, _stream: &u32) -> Result<u64, Diagnostic> {
        Ok(self.now.load(Ordering::Relaxed) + self.lag)
    }

    fn is_reached(&self, fence: &u64) -> Result<bool, Diagnostic> {
        Ok(self.now.load(Ordering::Relaxed) >= *fence)
    }

    fn wait(&self, _stream: &u32, _fence: &u64) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn synchronize(&self, fence: &u64) -> Result<(), Diagnostic> {
        self.now.fetch_max(*fence, Ordering::Relaxed);
        Ok(())
    }

    fn when_reached(&self, fence: &u64, then: Box<dyn FnOnce() + Send>) {
        self.now.fetch_max(*fence, Ordering::Relaxed);
        then();
    }
}

/// Something a trace can be replayed on.
pub(crate) trait Replay {
    /// Does what the trace says. The device is at the end of its work afterwards.
    fn replay(&mut self, trace: &Trace);
    /// The most bytes reserved so far.
    fn peak_reserved(&self) -> u64;
}

/// Ours.
pub(crate) struct Caching {
    allocator: Arc<CachingAllocator<LaggingDevice>>,
    held: Vec<Option<Allocation>>,
}

impl Caching {
    pub(crate) fn new(lag: u64) -> Self {
        let allocator = CachingAllocator::new(Arc::new(LaggingDevice::new(lag)), Options::default());
        Self { allocator, held: Vec::new() }
    }

    pub(crate) fn statistics(&self) -> Statistics {
        self.allocator.statistics()
    }
}

impl Replay for Caching {
    fn replay(&mut self, trace: &Trace) {
        self.held.resize_with(trace.buffers(), || None);
        let device = self.allocator.backing().clone();
        for op in &trace.ops {
            device.now.store(device.now.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            match *op {
                Op::Allocate { buffer, bytes, stream } => {
                    let request = Request { stream, bytes, origin: Origin::default() };
                    let allocation = self.allocator.allocate(request).expect("memory without end");
                    self.held[buffer as usize] = Some(allocation);
                }
                Op::Use { buffer, stream } => {
                    let allocation = self.held[buffer as usize].as_ref().expect("allocated");
                    self.allocator.record_use(allocation, &stream).expect("its own memory");
                }
                Op::Free { buffer } => {
                    let allocation = self.held[buffer as usize].take().expect("allocated");
                    self.allocator.free(allocation).expect("its own memory");
                }
            }
        }
        device.now.fetch_add(device.lag, Ordering::Relaxed);
    }

    fn peak_reserved(&self) -> u64 {
        self.statistics().peak_bytes_reserved
    }
}

/// The first free range that fits, in one range of addresses that grows at its end. It knows no streams, so what it
/// hands out may still be in use: no safe allocator has that much freedom.
#[derive(Debug, Default)]
pub(crate) struct FirstFit {
    free: BTreeMap<u64, u64>,
    end: u64,
    held: Vec<(u64, u64)>,
}

impl FirstFit {
    fn allocate(&mut self, bytes: u64) -> (u64, u64) {
        let bytes = bytes.max(1).next_multiple_of(512);
        let found = self.free.iter().find(|(_, length)| **length >= bytes);
        let Some((&address, &length)) = found else {
            // What is free at the end is used up, and the rest added.
            let tail = self.free.last_key_value().map(|(&a, &l)| (a, l)).filter(|(a, l)| a + l == self.end);
            let address = tail.map_or(self.end, |(address, _)| address);
            self.free.remove(&address);
            self.end = address + bytes;
            return (address, bytes);
        };
        self.free.remove(&address);
        if length > bytes {
            self.free.insert(address + bytes, length - bytes);
        }
        (address, bytes)
    }

    fn free(&mut self, (mut address, mut bytes): (u64, u64)) {
        if let Some(length) = self.free.remove(&(address + bytes)) {
            bytes += length;
        }
        if let Some((&before, &length)) = self.free.range(..address).next_back()
            && before + length == address
        {
            (address, bytes) = (before, bytes + length);
        }
        self.free.insert(address, bytes);
    }
}

impl Replay for FirstFit {
    fn replay(&mut self, trace: &Trace) {
        self.held.resize(trace.buffers(), (0, 0));
        for op in &trace.ops {
            match *op {
                Op::Allocate { buffer, bytes, .. } => self.held[buffer as usize] = self.allocate(bytes),
                Op::Use { .. } => {}
                Op::Free { buffer } => self.free(self.held[buffer as usize]),
            }
        }
    }

    fn peak_reserved(&self) -> u64 {
        self.end
    }
}

/// Addresses only go up, until nothing is alive.
#[derive(Debug, Default)]
pub(crate) struct Bump {
    end: u64,
    end_max: u64,
    alive: u64,
}

impl Replay for Bump {
    fn replay(&mut self, trace: &Trace) {
        for op in &trace.ops {
            match *op {
                Op::Allocate { bytes, .. } => {
                    self.end += bytes.max(1).next_multiple_of(512);
                    self.end_max = self.end_max.max(self.end);
                    self.alive += 1;
                }
                Op::Use { .. } => {}
                Op::Free { .. } => {
                    self.alive -= 1;
                    if self.alive == 0 {
                        self.end = 0;
                    }
                }
            }
        }
    }

    fn peak_reserved(&self) -> u64 {
        self.end_max
    }
}
