//! Runs random programs with the engine and with the evaluator. `ci/fuzz 600 ptx_execute` runs more
//! of them.

use crate::programs::generate::{Choices, program};
use crate::programs::run::run;

/// Programs of a test run; few and short ones under Miri.
const PROGRAMS: u64 = if cfg!(miri) { 2 } else { 200 };

/// A seed as decisions.
struct Random(fastrand::Rng);

impl Choices for Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0.usize(..bound)
    }

    fn bits(&mut self) -> u64 {
        self.0.u64(..)
    }
}

#[test]
fn random_programs_compute_what_the_evaluator_does() {
    for seed in 0..PROGRAMS {
        let size = 10 + seed as usize % 90;
        let program = program(&mut Random(fastrand::Rng::with_seed(seed)), size);
        if let Err(reason) = run(&program) {
            panic!("program {seed}: {reason}");
        }
    }
}
