//! PTX programs drawn from the input's bytes: the engine computes what an evaluator of the
//! programs' trees does.

#![no_main]

use libfuzzer_sys::fuzz_target;
use programs::generate::{Choices, program};
use programs::run::run;

#[path = "../../cuda/ptx/tests/programs/mod.rs"]
mod programs;

/// Statements of a program at most.
const STATEMENTS_MAX: usize = 120;

/// Bytes as decisions. When they end, every choice is the first.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> usize {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first.into()
    }
}

impl Choices for Bytes<'_> {
    fn below(&mut self, bound: usize) -> usize {
        let high = if bound > 256 { self.next() << 8 } else { 0 };
        (high | self.next()) % bound
    }

    fn bits(&mut self) -> u64 {
        (0..8).fold(0, |bits, _| bits << 8 | self.next() as u64)
    }
}

fuzz_target!(|bytes: &[u8]| {
    let program = program(&mut Bytes(bytes), (bytes.len() / 4).min(STATEMENTS_MAX));
    if let Err(reason) = run(&program) {
        panic!("{reason}");
    }
});
