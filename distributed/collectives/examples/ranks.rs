//! One rank of the tests that `ci/mpi` runs under `mpirun`: `ranks TEST`. It ends with exit code 0
//! if the test passes.
//!
//! - `random`: random sequences of collectives in different orders, against results computed here.
//! - `mismatch`: calls that do not match are errors on all ranks, and the next call works.
//! - `absent`: the last rank does not come; all others report it by name.
//! - `killed`, `stopped`: the last rank dies or stops in a sequence of collectives.
//! - `bench`: times of all-reduces, one line of JSON from rank 0.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of the tests")]

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use tfrt_collectives::engine::{Call, Engine, Operation, Reduction};
use tfrt_collectives::mpi::MpiEngine;
use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{bf16, f16};

const DTYPES: [DType; 6] = [DType::F16, DType::BF16, DType::F32, DType::F64, DType::I32, DType::I64];
const COUNTS: [usize; 6] = [0, 1, 3, 64, 4097, 70_001];
const REDUCTIONS: [Reduction; 3] = [Reduction::Sum, Reduction::Min, Reduction::Max];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) % bound as u64) as usize
    }
}

/// The elements that a rank sends: small integers, so that sums are exact in all types.
fn numbers(seed: usize, rank: usize, count: usize) -> Vec<i64> {
    let mut random = Random((seed * 1009 + rank) as u64);
    (0..count).map(|_| random.next(17) as i64 - 8).collect()
}

fn bytes(numbers: &[i64], dtype: DType) -> Vec<u8> {
    let element = |n: &i64| match dtype {
        DType::F16 => f16::from_f32(*n as f32).to_le_bytes().to_vec(),
        DType::BF16 => bf16::from_f32(*n as f32).to_le_bytes().to_vec(),
        DType::F32 => (*n as f32).to_le_bytes().to_vec(),
        DType::F64 => (*n as f64).to_le_bytes().to_vec(),
        DType::I32 => (*n as i32).to_le_bytes().to_vec(),
        _ => n.to_le_bytes().to_vec(),
    };
    numbers.iter().flat_map(element).collect()
}

fn reduced(reduction: Reduction, seed: usize, ranks: usize, count: usize) -> Vec<i64> {
    let of_ranks: Vec<_> = (0..ranks).map(|rank| numbers(seed, rank, count)).collect();
    let fold = |place: usize| {
        let elements = of_ranks.iter().map(|numbers| numbers[place]);
        match reduction {
            Reduction::Sum => elements.sum(),
            Reduction::Min => elements.min().unwrap(),
            Reduction::Max => elements.max().unwrap(),
        }
    };
    (0..count).map(fold).collect()
}

struct Rank {
    engine: MpiEngine,
    everyone: Arc<[usize]>,
    deadline: Duration,
}

struct Pending {
    key: String,
    result: Receiver<Result<(), Diagnostic>>,
    buffer: HostBuffer,
    expected: Vec<u8>,
    /// What was sent from a buffer of its own, and must not change.
    sent: Option<(HostBuffer, Vec<u8>)>,
}

impl Pending {
    fn wait(self) -> Result<(), Diagnostic> {
        self.result.recv().unwrap()?;
        let found = self.buffer.read_owned(1).unwrap();
        assert!(*found == *self.expected, "the result of '{}' differs", self.key);
        if let Some((buffer, sent)) = self.sent {
            assert!(*buffer.read_owned(1).unwrap() == *sent, "'{}' has changed its input", self.key);
        }
        Ok(())
    }
}

impl Rank {
    /// Starts a collective whose result is known. Each element of a result is computed from what
    /// all ranks send.
    fn start(&self, key: &str, seed: usize, operation: Operation, dtype: DType, count: usize) -> Pending {
        let (rank, ranks) = (self.engine.rank(), self.engine.size());
        let mut sent = bytes(&numbers(seed, rank, count), dtype);
        let mut sends = true;
        let expected = match &operation {
            Operation::AllReduce(reduction) => {
                sends = !seed.is_multiple_of(3);
                bytes(&reduced(*reduction, seed, ranks, count), dtype)
            }
            Operation::Broadcast { root } => {
                sends = false;
                bytes(&numbers(seed, *root, count), dtype)
            }
            Operation::AllGather { counts } => {
                sent = bytes(&numbers(seed, rank, counts[rank]), dtype);
                (0..ranks).flat_map(|rank| bytes(&numbers(seed, rank, counts[rank]), dtype)).collect()
            }
            Operation::ReduceScatter(reduction) => {
                let part = count / ranks;
                bytes(&reduced(*reduction, seed, ranks, count)[rank * part..][..part], dtype)
            }
            Operation::AllToAll => {
                let part = count / ranks;
                let part_of = |from| bytes(&numbers(seed, from, count)[rank * part..][..part], dtype);
                (0..ranks).flat_map(part_of).collect()
            }
            Operation::Barrier => {
                sends = false;
                Vec::new()
            }
        };
        let has_result = operation != Operation::Barrier;
        let buffer = HostBuffer::from_vec(if sends { vec![0; expected.len()] } else { sent.clone() });
        let sent = sends.then(|| (HostBuffer::from_vec(sent.clone()), sent));
        let (tell, result) = channel();
        let call = Call {
            group: "world".into(),
            members: self.everyone.clone(),
            key: key.into(),
            step: Some(seed as i64),
            operation,
            dtype,
            count,
            send: sent.as_ref().map(|(buffer, _)| buffer.read_owned(1).unwrap()),
            receive: has_result.then(|| buffer.write_owned(1).unwrap()),
            deadline: Instant::now() + self.deadline,
        };
        self.engine.start(call, Box::new(move |result| tell.send(result).unwrap()));
        let expected = if has_result { expected } else { Vec::new() };
        let buffer = if has_result { buffer } else { HostBuffer::from_vec(Vec::<u8>::new()) };
        Pending { key: key.into(), result, buffer, expected, sent }
    }

    fn random_call(&self, seed: usize) -> Pending {
        let mut random = Random(seed as u64);
        let ranks = self.engine.size();
        let (dtype, reduction) = (DTYPES[random.next(6)], REDUCTIONS[random.next(3)]);
        let count = COUNTS[random.next(6)];
        let operation = match random.next(6) {
            0 => Operation::AllReduce(reduction),
            1 => Operation::Broadcast { root: random.next(ranks) },
            2 => Operation::AllGather { counts: (0..ranks).map(|_| COUNTS[random.next(5)]).collect() },
            3 => Operation::ReduceScatter(reduction),
            4 => Operation::AllToAll,
            _ => Operation::Barrier,
        };
        let count = match operation {
            Operation::ReduceScatter(_) | Operation::AllToAll => count * ranks,
            _ => count,
        };
        // Keys repeat, as those of a loop do.
        self.start(&format!("key{}", seed % 5), seed, operation, dtype, count)
    }

    /// Keeps up to five collectives in flight, which each rank starts in another order.
    fn random(&self, rounds: usize) {
        for round in 0..rounds {
            let mut order: Vec<_> = (0..5).collect();
            let mut random = Random((round * 31 + self.engine.rank()) as u64);
            (1..5).rev().for_each(|place| order.swap(place, random.next(place + 1)));
            let pending: Vec<_> =
                order.into_iter().map(|place| self.random_call(round * 5 + place)).collect();
            pending.into_iter().for_each(|pending| pending.wait().unwrap());
        }
    }

    fn mismatch(&self) {
        let is_odd = self.engine.rank() == self.engine.size() - 1;
        let sum = || Operation::AllReduce(Reduction::Sum);
        let start = |key: &str, other: Operation, dtype, count| {
            if is_odd {
                self.start(key, 1, other, dtype, count)
            } else {
                self.start(key, 1, sum(), DType::F32, 8)
            }
        };
        for (key, pending) in [
            ("size", start("size", sum(), DType::F32, 9)),
            ("type", start("type", sum(), DType::I32, 8)),
            ("operation", start("operation", Operation::Barrier, DType::F32, 0)),
            ("reduction", start("reduction", Operation::AllReduce(Reduction::Max), DType::F32, 8)),
        ] {
            let error = pending.wait().unwrap_err();
            assert!(
                error.message.contains("the ranks disagree: rank 0 has started allreduce (sum)"),
                "{key}: {error}"
            );
            self.start("after", 2, sum(), DType::F64, 5).wait().unwrap();
        }
        let wrong = HostBuffer::from_vec(vec![0u8; 3]);
        let call = Call {
            group: "world".into(),
            members: self.everyone.clone(),
            key: "buffer".into(),
            step: None,
            operation: sum(),
            dtype: DType::F32,
            count: 1,
            send: None,
            receive: Some(wrong.write_owned(1).unwrap()),
            deadline: Instant::now() + self.deadline,
        };
        let (tell, result) = channel();
        self.engine.start(call, Box::new(move |result| tell.send(result).unwrap()));
        let error = result.recv().unwrap().unwrap_err();
        assert_eq!(error.message, "allreduce (sum) receives in 3 bytes, but needs 4 bytes");
    }

    /// Says what this rank has learnt of another that is lost, and ends with the exit code that tells so.
    fn survives(&self, what: &str) -> ! {
        // In one piece: lines that are written in parts mix with those of other ranks.
        let line = format!("survivor {}: {what}\n", self.engine.rank());
        std::io::stderr().write_all(line.as_bytes()).unwrap();
        std::process::exit(5)
    }

    /// The last rank waits in another collective: all ranks report it, and each names it or itself.
    fn absent(&self) {
        let last = self.engine.size() - 1;
        let key = if self.engine.rank() == last { "elsewhere" } else { "here" };
        let start = Instant::now();
        let error = self.start(key, 7, Operation::Barrier, DType::F32, 0).wait().unwrap_err();
        assert!(start.elapsed() < self.deadline + Duration::from_secs(2), "{:?}", start.elapsed());
        let text = &error.message;
        let is_named = text.contains(&format!("rank {last} on host '{}'", self.engine.hosts()[last]))
            && text.contains("waits in barrier 'elsewhere'")
            || text.contains("rank 0 on host");
        assert!(is_named && text.contains("in step 7"), "{text}");
        let error = self.start("later", 8, Operation::Barrier, DType::F32, 0).wait().unwrap_err();
        assert!(error.message.contains("the job has failed"), "{error}");
    }

    /// The last rank sends itself a signal after some collectives. The others end with an error
    /// within the deadline.
    fn lose(&self, signal: &str) -> Result<(), Diagnostic> {
        for seed in 0.. {
            if seed == 20 && self.engine.rank() == self.engine.size() - 1 {
                let own = std::process::id().to_string();
                std::process::Command::new("kill").args([signal, &own]).status().unwrap();
            }
            let start = Instant::now();
            let result =
                self.start("lost", seed, Operation::AllReduce(Reduction::Sum), DType::F32, 1000).wait();
            if let Err(error) = result {
                assert!(start.elapsed() < self.deadline + Duration::from_secs(2), "{:?}", start.elapsed());
                return Err(error);
            }
        }
        Ok(())
    }

    fn bench(&self) {
        let mut lines = Vec::new();
        for (count, rounds) in [(256, 2000), (16 << 20, 12)] {
            let mut times = Vec::new();
            let data = HostBuffer::from_vec(vec![1f32; count]);
            for _ in 0..rounds {
                let (tell, result) = channel();
                let call = Call {
                    group: "world".into(),
                    members: self.everyone.clone(),
                    key: "bench".into(),
                    step: None,
                    operation: Operation::AllReduce(Reduction::Max),
                    dtype: DType::F32,
                    count,
                    send: None,
                    receive: Some(data.write_owned(1).unwrap()),
                    deadline: Instant::now() + self.deadline,
                };
                let start = Instant::now();
                self.engine.start(call, Box::new(move |result| tell.send(result).unwrap()));
                result.recv().unwrap().unwrap();
                times.push(start.elapsed().as_secs_f64() * 1e6);
            }
            times.sort_by(f64::total_cmp);
            lines.push(format!("\"{}_bytes_us\": {:.1}", count * 4, times[rounds / 2]));
        }
        if self.engine.rank() == 0 {
            println!("{{{}}}", lines.join(", "));
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number =
        |place: usize, default: u64| arguments.get(place).map_or(default, |text| text.parse().unwrap());
    let engine = match MpiEngine::open(Vec::new(), Duration::from_secs(60)) {
        Ok(engine) => engine,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(3);
        }
    };
    let everyone = (0..engine.size()).collect();
    let rank = Rank { engine, everyone, deadline: Duration::from_secs(60) };
    match arguments.get(1).map(String::as_str) {
        Some("random") => rank.random(number(2, 40) as usize),
        Some("mismatch") => rank.mismatch(),
        Some("absent") => {
            let rank = Rank { deadline: Duration::from_secs(2), ..rank };
            rank.absent();
            rank.survives("has reported it")
        }
        Some(test @ ("killed" | "stopped")) => {
            let signal = if test == "killed" { "-KILL" } else { "-STOP" };
            let rank = Rank { deadline: Duration::from_secs(3), ..rank };
            if let Err(error) = rank.lose(signal) {
                rank.survives(&error.to_string())
            }
        }
        Some("bench") => rank.bench(),
        other => {
            eprintln!("there is no test {other:?}");
            std::process::exit(2);
        }
    }
}
