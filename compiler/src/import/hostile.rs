//! What tests of files that nobody should write share.
//!
//! `TFRT_HOSTILE_ROUNDS` makes the tests run longer than the default.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use tfrt_ir::Diagnostics;

use crate::{Evaluator, Graph, pass::verify_op_graph};

/// An import that takes longer is a finding.
const MAX_TIME: Duration = Duration::from_secs(20);

/// Numbers that are the same each time.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(super) fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A file with a few bytes changed or its end missing.
    pub(super) fn damaged(&mut self, file: &[u8]) -> Vec<u8> {
        let mut bytes = file.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(3) {
                0 => bytes[at] = self.next() as u8,
                1 => bytes.truncate(at.max(1)),
                _ => bytes[at] ^= 1 << self.below(8),
            }
        }
        bytes
    }
}

pub(super) fn rounds(default: usize) -> usize {
    std::env::var("TFRT_HOSTILE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(default)
}

/// Imports a file. Gives whether that is possible, or what is wrong with the importer.
pub(super) fn check(
    evaluator: &Evaluator,
    import: impl FnOnce() -> Result<(Graph, Diagnostics), Diagnostics>,
) -> Result<bool, String> {
    let start = Instant::now();
    let imported = catch_unwind(AssertUnwindSafe(|| match import() {
        Ok((graph, _)) => {
            verify_op_graph(&graph, evaluator).map(|()| true).map_err(|errors| errors.to_string())
        }
        Err(_) => Ok(false),
    }));
    match imported {
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
            Err(format!("it panics: {}", text.unwrap_or_default()))
        }
        Ok(Err(errors)) => Err(format!("the graph is wrong: {errors}")),
        Ok(Ok(_)) if start.elapsed() > MAX_TIME => Err(format!("it takes {:?}", start.elapsed())),
        Ok(Ok(is_imported)) => Ok(is_imported),
    }
}
