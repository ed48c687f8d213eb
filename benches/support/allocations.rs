//! Traces of allocations, made by the same rules every time.

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
    pub(crate) name: String,
    pub(crate) ops: Vec<Op>,
    vacant: Vec<u32>,
    buffers: u32,
}

impl Trace {
    fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ops: Vec::new(), vacant: Vec::new(), buffers: 0 }
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

/// The traces that are measured.
pub(crate) fn traces() -> Vec<Trace> {
    vec![
        resnet50_training("ResNet-50 training", 32, 8),
        ragged_sequences("ragged sequences", 1, 768, 60),
        many_streams("many streams", 2, 8, 24.0),
        serving("serving", 3, 4, 400),
    ]
}

/// Other programs, for what was chosen by looking at [`traces`]: of other shapes, and on one to
/// eight streams.
pub(crate) fn unseen_traces(seed: u64) -> Vec<Trace> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut streams = || random.u32(1..=8);
    let (a, b, c, d) = (streams(), streams(), streams(), streams());
    vec![
        resnet50_training(format!("ResNet-50 training, batch {}", 8 + 7 * seed), 8 + 7 * seed, 3),
        ragged_sequences(format!("ragged sequences, seed {seed}"), seed + 100, 512, 30),
        many_streams(format!("{a} streams, seed {seed}"), seed + 200, a, 26.0),
        serving(format!("serving on {b} streams, seed {seed}"), seed + 300, b, 100),
        growing_caches(format!("growing caches on {c} streams, seed {seed}"), seed + 400, c),
        image_sizes(format!("image sizes on {d} streams, seed {seed}"), seed + 500, d),
        recurrent(format!("ragged LSTM, seed {seed}"), seed + 600),
    ]
}

/// One convolution of ResNet-50: channels in and out, kernel, and the height (and width) of what it
/// gives.
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

/// Training in f32: weights and momentum stay, activations live until their backward step,
/// gradients until the end of the step, workspaces for one call.
fn resnet50_training(name: impl Into<String>, batch: u64, steps: usize) -> Trace {
    let mut trace = Trace::new(name);
    let layers = resnet50();
    let weight_bytes = |c: &Convolution| 4 * c.input * c.output * c.kernel * c.kernel;
    let activation_bytes = |c: &Convolution| 4 * batch * c.output * c.size * c.size;
    let workspace_bytes =
        |c: &Convolution| if c.kernel == 1 { 0 } else { activation_bytes(c) / 2 + (c.output << 14) };
    let mut kept = Vec::new();
    for c in &layers {
        // The weights and their momentum; scale, shift, mean and variance of the normalization
        // behind.
        kept.extend([weight_bytes(c); 2].map(|bytes| trace.allocate(0, bytes)));
        kept.extend([4 * c.output; 6].map(|bytes| trace.allocate(0, bytes)));
    }
    for _ in 0..steps {
        let input = trace.allocate(0, 4 * batch * 3 * 224 * 224);
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
fn ragged_sequences(name: impl Into<String>, seed: u64, width: u64, steps: usize) -> Trace {
    const LAYERS: usize = 12;
    const BATCH: u64 = 8;
    const HEADS: u64 = 12;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut trace = Trace::new(name);
    let kept: Vec<_> = (0..LAYERS)
        .flat_map(|_| [3 * width * width, width * width, 4 * width * width, 4 * width * width, width])
        .map(|elements| trace.allocate(0, 4 * elements))
        .collect();
    for _ in 0..steps {
        let length = random.u64(16..=512);
        let tokens = BATCH * length;
        let sizes = [
            4 * tokens * width * 3,
            4 * BATCH * HEADS * length * length,
            4 * tokens * width,
            4 * tokens * width,
            4 * tokens * width * 4,
            4 * tokens * width,
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

/// Streams with buffers of all sizes, 64 B to 2^`largest`, and lifetimes; one in five is used on a
/// second stream as well.
fn many_streams(name: impl Into<String>, seed: u64, streams: u32, largest: f64) -> Trace {
    const ALLOCATIONS: usize = 20_000;
    const ALIVE: usize = 300;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut trace = Trace::new(name);
    let mut alive: Vec<u32> = Vec::new();
    for _ in 0..ALLOCATIONS {
        let bytes = (2f64.powf(6.0 + (largest - 6.0) * random.f64())) as u64;
        let buffer = trace.allocate(random.u32(0..streams), bytes);
        if random.u8(0..5) == 0 {
            trace.ops.push(Op::Use { buffer, stream: random.u32(0..streams) });
        }
        alive.push(buffer);
        if alive.len() > ALIVE {
            let oldest_half = random.usize(0..ALIVE / 2);
            trace.free(alive.remove(oldest_half));
        }
    }
    trace.free_all(alive)
}

/// Inference in batches of any size on some streams; a request's buffers are freed as soon as the
/// next layer has them.
fn serving(name: impl Into<String>, seed: u64, streams: u32, requests: usize) -> Trace {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut trace = Trace::new(name);
    let layers = resnet50();
    let weights: Vec<_> = layers
        .iter()
        .map(|c| 4 * c.input * c.output * c.kernel * c.kernel)
        .map(|bytes| trace.allocate(0, bytes))
        .collect();
    // Requests overlap: each stream has one under way, and they advance by turns.
    let mut under_way: Vec<(usize, u64, Option<u32>)> = vec![(layers.len(), 0, None); streams as usize];
    let mut started = 0;
    while started < requests || under_way.iter().any(|(_, _, buffer)| buffer.is_some()) {
        let stream = random.u32(0..streams);
        let (layer, batch, buffer) = &mut under_way[stream as usize];
        if *layer == layers.len() {
            if let Some(done) = buffer.take() {
                trace.free(done);
            }
            if started < requests {
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

/// Text generation: each sequence has a cache of keys and one of values for each layer, which move
/// to twice the room when they are full; between that, each step takes scratch memory. Sequences
/// come and go.
fn growing_caches(name: impl Into<String>, seed: u64, streams: u32) -> Trace {
    const LAYERS: usize = 8;
    const TOKEN_BYTES: u64 = 2 * 1024;
    const MIN_TOKENS: u64 = 64;
    const SEQUENCES: usize = 120;
    struct Sequence {
        stream: u32,
        tokens: u64,
        room: u64,
        end: u64,
        caches: Vec<u32>,
    }
    let mut random = fastrand::Rng::with_seed(seed);
    let mut trace = Trace::new(name);
    let weights: Vec<_> = (0..LAYERS).map(|_| trace.allocate(0, 6 << 20)).collect();
    let mut alive: Vec<Sequence> = Vec::new();
    let mut started = 0;
    while started < SEQUENCES || !alive.is_empty() {
        if started < SEQUENCES && alive.len() < 24 {
            started += 1;
            let stream = random.u32(0..streams);
            let caches = (0..2 * LAYERS).map(|_| trace.allocate(stream, MIN_TOKENS * TOKEN_BYTES)).collect();
            let end = random.u64(32..2048);
            alive.push(Sequence { stream, tokens: random.u64(1..32), room: MIN_TOKENS, end, caches });
        }
        let index = random.usize(0..alive.len());
        let sequence = &mut alive[index];
        sequence.tokens += random.u64(1..64);
        trace.scratch(sequence.stream, 4 * sequence.tokens * 12);
        trace.scratch(sequence.stream, TOKEN_BYTES * sequence.tokens);
        while sequence.tokens > sequence.room {
            sequence.room *= 2;
            for cache in &mut sequence.caches {
                let larger = trace.allocate(sequence.stream, sequence.room * TOKEN_BYTES);
                trace.free(*cache);
                *cache = larger;
            }
        }
        if sequence.tokens >= sequence.end {
            let over = alive.swap_remove(index);
            over.caches.into_iter().for_each(|buffer| trace.free(buffer));
        }
    }
    trace.free_all(weights)
}

/// Convolutions over pictures of any size, where a later layer takes up what an earlier one gave.
fn image_sizes(name: impl Into<String>, seed: u64, streams: u32) -> Trace {
    const PICTURES: usize = 150;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut trace = Trace::new(name);
    let weights: Vec<_> = (0..20).map(|i| trace.allocate(0, 40_000 << (i / 3))).collect();
    let mut under_way: Vec<(u32, Vec<u32>)> = Vec::new();
    for _ in 0..PICTURES {
        let stream = random.u32(0..streams);
        let pixels = random.u64(128..1024) * random.u64(128..1024);
        let mut kept = vec![trace.allocate(stream, 3 * pixels)];
        for level in 0..6 {
            let bytes = (4 * 32 * pixels) >> level;
            let first = trace.allocate(stream, bytes);
            trace.scratch(stream, bytes / 3);
            kept.push(trace.allocate(stream, bytes));
            trace.free(first);
        }
        while let Some(skip) = kept.pop() {
            let up = trace.allocate(stream, 4 * pixels);
            trace.free(skip);
            trace.free(up);
        }
        // The answer is kept while other pictures are looked at, and read on another stream.
        let answer = trace.allocate(stream, 4 * pixels);
        trace.ops.push(Op::Use { buffer: answer, stream: random.u32(0..streams) });
        under_way.push((stream, vec![answer]));
        if under_way.len() > 2 * streams as usize {
            let (_, buffers) = under_way.swap_remove(random.usize(0..under_way.len()));
            buffers.into_iter().for_each(|buffer| trace.free(buffer));
        }
    }
    let rest: Vec<u32> = under_way.into_iter().flat_map(|(_, buffers)| buffers).collect();
    trace.free_all(weights.into_iter().chain(rest))
}

/// Training of a recurrent network: many small buffers for each step of time, held until the way
/// back; batches are of any length, and the next one is brought by a second stream.
fn recurrent(name: impl Into<String>, seed: u64) -> Trace {
    const BATCHES: usize = 12;
    const WIDTH: u64 = 1024;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut trace = Trace::new(name);
    let kept: Vec<_> = (0..4).map(|_| trace.allocate(0, 4 * 8 * WIDTH * WIDTH)).collect();
    let mut next = None;
    for _ in 0..BATCHES {
        let (length, sequences) = (random.u64(20..200), random.u64(8..=64));
        let input = trace.allocate(1, 4 * length * sequences * 512);
        trace.ops.push(Op::Use { buffer: input, stream: 0 });
        let input = next.replace(input).unwrap_or_else(|| trace.allocate(1, 4));
        let state = 4 * sequences * WIDTH;
        let steps: Vec<_> = (0..length)
            .map(|_| {
                trace.scratch(0, 4 * state);
                [4 * state, state, state].map(|bytes| trace.allocate(0, bytes))
            })
            .collect();
        for buffers in steps.into_iter().rev() {
            trace.scratch(0, 4 * state);
            buffers.into_iter().for_each(|buffer| trace.free(buffer));
        }
        trace.free(input);
    }
    trace.free_all(kept.into_iter().chain(next))
}
