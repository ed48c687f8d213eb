//! Memory under programs of any order: several streams that lag behind, buffers that go as soon as
//! their last use is queued, less memory than is asked for.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tfrt_device::allocator::Options;
use tfrt_device::front::{Context, DeviceAllocator, DeviceBuffer, Event, Stream};
use tfrt_device::hal::{EventOptions, Pattern, StreamOptions};
use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{Diagnostic, ErrorCode};

use super::Case;
use super::support::{counts_memory_exactly, elements, numbers, zeros};

pub(crate) const CASES: &[Case] = &[
    ("reuse/programs_of_any_order", |context| programs(context, false)),
    ("reuse/programs_of_any_order_in_segments", |context| programs(context, true)),
];

/// The most that an allocator may reserve.
const LIMIT: u64 = 24 << 20;
/// The most that is asked for at once.
const MAX_BYTES: f32 = 5e6;
const STREAMS: usize = 3;
const STEPS: usize = 200;

fn programs(context: &Context, in_segments: bool) {
    // What others gave back is on its way.
    let free = || {
        context.device().finish_teardown();
        context.memory_info().map(|info| info.free).ok()
    };
    for seed in 1..=3 {
        let before = free();
        let options = Options { bytes_limit: Some(LIMIT), in_segments, ..Options::default() };
        let mut program = Program::new(context, options);
        let mut random = Random(numbers(6 * STEPS, seed).into_iter());
        for _ in 0..STEPS {
            program.step(&mut random);
        }
        program.finish();
        if counts_memory_exactly(context) {
            assert_eq!(free(), before, "seed {seed}: memory is left");
        }
    }
}

/// Choices that are the same each time.
struct Random(std::vec::IntoIter<f32>);

impl Random {
    fn below(&mut self, end: f32) -> f32 {
        (self.0.next().unwrap() + 1.0) / 2.0 * end
    }

    fn choose(&mut self, count: usize) -> usize {
        (self.below(count as f32) as usize).min(count - 1)
    }
}

/// A buffer that is full of one number.
struct Held {
    number: usize,
    stream: usize,
    buffer: DeviceBuffer,
}

type Outcomes = Arc<Mutex<Vec<(usize, Result<DeviceBuffer, Diagnostic>)>>>;

struct Program {
    allocator: DeviceAllocator,
    streams: Vec<Stream>,
    event: Event,
    held: Vec<Held>,
    /// What buffers held when their streams came to it, by their numbers.
    copies: Vec<(usize, HostBuffer)>,
    /// For which stream and of how many bytes, by number.
    requests: Vec<(usize, u64)>,
    told: Vec<bool>,
    outcomes: Outcomes,
    settled: usize,
}

impl Program {
    fn new(context: &Context, options: Options) -> Self {
        let stream = |_| context.create_stream(StreamOptions::default()).unwrap();
        Self {
            allocator: context.create_allocator(options),
            streams: (0..STREAMS).map(stream).collect(),
            event: context.create_event(EventOptions::default()).unwrap(),
            held: Vec::new(),
            copies: Vec::new(),
            requests: Vec::new(),
            told: Vec::new(),
            outcomes: Arc::default(),
            settled: 0,
        }
    }

    fn step(&mut self, random: &mut Random) {
        match random.choose(8) {
            0..4 => {
                let (stream, size) = (random.choose(STREAMS), random.below(1.0));
                let bytes = 1 + (size * size * MAX_BYTES) as u64;
                self.request(stream, bytes);
            }
            4..7 if !self.held.is_empty() => {
                let which = random.choose(self.held.len());
                let reader = random.choose(STREAMS);
                self.read_and_drop(which, reader);
            }
            _ => {
                let delay = Duration::from_micros(random.below(500.0) as u64);
                self.streams[random.choose(STREAMS)].host_callback(move || thread::sleep(delay)).unwrap();
            }
        }
        self.collect();
    }

    fn request(&mut self, stream: usize, bytes: u64) {
        let (number, outcomes) = (self.requests.len(), self.outcomes.clone());
        self.requests.push((stream, bytes));
        self.told.push(false);
        self.allocator.allocate_with(&self.streams[stream], bytes as i64, "reuse", move |outcome| {
            outcomes.lock().push((number, outcome));
        });
    }

    /// Has a stream read a buffer, which is dropped before that has happened.
    fn read_and_drop(&mut self, which: usize, reader: usize) {
        let Held { number, stream, buffer } = self.held.swap_remove(which);
        if reader != stream {
            self.event.record(&self.streams[stream]).unwrap();
            self.streams[reader].wait(&self.event).unwrap();
        }
        let copy = zeros(buffer.len() as usize);
        self.streams[reader].copy_to_host(&copy, 0, &buffer, 0, buffer.len()).unwrap();
        self.copies.push((number, copy));
    }

    /// Takes what was granted and fills it.
    fn collect(&mut self) {
        for (number, outcome) in std::mem::take(&mut *self.outcomes.lock()) {
            let (stream, bytes) = self.requests[number];
            assert!(!std::mem::replace(&mut self.told[number], true), "request {number} is settled once");
            self.settled += 1;
            match outcome {
                Ok(buffer) => {
                    assert_eq!(buffer.len(), bytes);
                    self.streams[stream].set(&buffer, 0, Pattern::U8(number as u8), bytes).unwrap();
                    self.held.push(Held { number, stream, buffer });
                }
                Err(error) => assert_eq!(error.code, ErrorCode::OutOfMemory, "{error}"),
            }
        }
        let end = |buffer: &DeviceBuffer| buffer.address() + buffer.len();
        self.held.sort_unstable_by_key(|held| held.buffer.address());
        assert!(self.held.windows(2).all(|pair| end(&pair[0].buffer) <= pair[1].buffer.address()));
        let statistics = self.allocator.statistics();
        assert!(statistics.bytes_reserved <= LIMIT);
        // Else somebody may have been granted something just now.
        if self.settled == self.requests.len() {
            let bytes: u64 = self.held.iter().map(|held| held.buffer.len()).sum();
            assert_eq!((statistics.num_live, statistics.bytes_requested), (self.held.len() as u64, bytes));
            assert!(bytes <= statistics.bytes_in_use && statistics.bytes_in_use <= statistics.bytes_reserved);
        }
    }

    /// Lets everything end: all were told, no buffer held what another's user wrote, nothing is
    /// left.
    fn finish(mut self) {
        let start = Instant::now();
        while self.settled < self.requests.len() || !self.held.is_empty() {
            assert!(start.elapsed() < Duration::from_secs(120), "somebody waits for ever");
            for which in (0..self.held.len()).rev() {
                self.read_and_drop(which, which % STREAMS);
            }
            thread::yield_now();
            self.collect();
        }
        self.streams.iter().for_each(|stream| stream.synchronize().unwrap());
        for (number, copy) in &self.copies {
            let expected = vec![*number as u8; copy.len()];
            assert!(elements::<u8>(copy) == expected, "buffer {number} of {:?}", self.requests[*number]);
        }
        assert!(self.copies.len() > STEPS / 10, "{} buffers", self.copies.len());
        self.allocator.clear_cache().unwrap();
        let statistics = self.allocator.statistics();
        assert_eq!((statistics.bytes_in_use, statistics.bytes_reserved, statistics.num_live), (0, 0, 0));
    }
}
