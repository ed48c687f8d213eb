//! Lowering to a device program: an op graph of static shapes as `tfrt_cuda.*` kernels.
//!
//! The program asks for memory twice, in its function [`SETUP`](super::SETUP): one block holds the constants, the other one,
//! the arena, all tensors that it computes. The function `run` queues every op in its place. `setup` calls it once to
//! prepare everything that ops prepare, and once to record it as a graph. [`MAIN`](crate::MAIN) copies the inputs, launches
//! the graph and copies the outputs.

mod emit;
mod nodes;
mod planned;

use tfrt_ir::{Diagnostic, Diagnostics, Location};

use super::corert::Lowered;
use crate::{
    Evaluator, Graph,
    plan::{Plan, Problem, Streams},
};

/// How device programs are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaOptions {
    /// Whether the program is recorded as a graph and launched as one.
    pub records_graph: bool,
    /// How many streams it uses.
    pub streams: Streams,
}

/// The plan of a device program, for reports.
#[derive(Clone, Debug)]
pub struct DevicePlan {
    /// What was planned: an op for each kernel that the program queues, and the buffers.
    pub problem: Problem,
    /// Streams and memory.
    pub plan: Plan,
}

impl Default for CudaOptions {
    fn default() -> Self {
        Self { records_graph: true, streams: Streams::Auto }
    }
}

/// Lowers a graph to a device program.
///
/// # Errors
/// Every operation that has no form for devices or whose shapes are not known, each where it stands.
pub fn lower(graph: &Graph, evaluator: &Evaluator, options: CudaOptions) -> Result<Lowered, Diagnostics> {
    let device_graph = nodes::collect(graph, evaluator)?;
    let planned = planned::Planned::new(&device_graph, options.streams).map_err(|error| {
        let mut errors = Diagnostics::new();
        errors.push(Diagnostic::error(Location::Unknown, format!("the program cannot be planned: {error}")));
        errors
    })?;
    let lowered = emit::emit(graph, (&device_graph, &planned), evaluator, options)?;
    Ok(Lowered { plan: Some(DevicePlan { problem: planned.problem, plan: planned.plan }), ..lowered })
}
