//! Random programs through the engine and through the evaluator; `ci/fuzz 600 ptx_execute` goes on for longer.

use crate::programs::generate::{Random, program};
use crate::programs::run::run;

/// Programs of a test run.
const PROGRAMS: u64 = 300;

#[test]
fn random_programs_compute_what_the_evaluator_does() {
    for seed in 0..PROGRAMS {
        let mut random = Random(fastrand::Rng::with_seed(seed));
        let size = 10 + seed as usize % 90;
        let program = program(&mut random, size);
        if let Err(reason) = run(&program) {
            panic!("program {seed}: {reason}");
        }
    }
}
