//! Passes over the op graph. Each is a function of the graph with a name; [`PASSES`] is their order.

mod cse;
mod dead_code;
mod fuse_convolution;
mod fuse_product;
mod rewrite;
mod scale;
mod transpose;

use crate::{Evaluator, Graph};

/// A pass over a graph.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// What tools call it.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    run: fn(&mut Graph, &Evaluator),
}

impl Pass {
    /// Runs the pass.
    pub fn run(&self, graph: &mut Graph, evaluator: &Evaluator) {
        (self.run)(graph, evaluator);
    }
}

/// The passes that improve a graph, in the order in which they run.
pub const PASSES: &[Pass] = &[
    Pass { name: "dead-code", summary: "Remove operations whose results nothing uses", run: dead_code::run },
    Pass { name: "cse", summary: "Compute equal operations once", run: cse::run },
    Pass {
        name: "sink-transposes",
        summary: "Move transposes behind what they do not matter to, until they cancel",
        run: transpose::run,
    },
    Pass {
        name: "fold-scales",
        summary: "Fold factors and summands of channels into the filters and biases before them",
        run: scale::run,
    },
    Pass {
        name: "fuse-convolutions",
        summary: "Fuse convolutions with their bias, a residual and an activation",
        run: fuse_convolution::run,
    },
    Pass {
        name: "fuse-products",
        summary: "Fuse matrix products with their bias and an activation",
        run: fuse_product::run,
    },
    Pass { name: "cse-again", summary: "Compute equal operations once", run: cse::run },
    Pass { name: "dead-code-again", summary: "Remove what fusion left over", run: dead_code::run },
];

/// Runs all passes.
pub fn run_all(graph: &mut Graph, evaluator: &Evaluator) {
    for pass in PASSES {
        pass.run(graph, evaluator);
    }
}
