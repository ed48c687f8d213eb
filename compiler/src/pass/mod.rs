//! Passes over the op graph. Each is a function of the graph with a name; [`PASSES`] is their
//! order.

mod batch;
mod byte_tables;
mod coarsen_islands;
mod cse;
mod dead_code;
pub(crate) mod effects;
mod expand_cases;
mod fold_dequantized;
mod fold_fills;
pub mod functionalize;
mod fuse_attention;
mod fuse_convolution;
mod fuse_elementwise;
mod fuse_gelu;
mod fuse_product;
mod fuse_quantized;
mod lay_out_filters;
pub(crate) mod outline_islands;
mod outline_regions;
mod precision;
mod prune_graphs;
mod quantized_elements;
mod rewrite;
mod scalar_loops;
mod scale;
mod share_heads;
#[cfg(test)]
mod tests;
mod transpose;
mod verify;

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

use tfrt_host::DType;
use tfrt_ir::Diagnostics;

use crate::{Evaluator, Graph};

pub(crate) use fuse_elementwise::STEP_OPS;
pub use precision::narrowed_nodes;
pub use verify::{verify_kernel_graph, verify_op_graph};

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

/// The name of the pass that makes functions of graphs.
const FUNCTIONALIZE: &str = "functionalize";
/// The names of the passes that narrow a model.
pub const NARROW_TO_F16: &str = "narrow-to-f16";
/// As [`NARROW_TO_F16`].
pub const NARROW_TO_BF16: &str = "narrow-to-bf16";
/// The name of the pass that widens a model.
const WIDEN_TO_F32: &str = "widen-to-f32";
/// The name of the pass whose ops have no device form.
const FUSE_QUANTIZED: &str = "fuse-quantized";
/// The name of the pass that makes elementwise operations a part of convolutions.
const END_CONVOLUTIONS: &str = "end-convolutions";
/// The name of the pass that computes filled tensors for device programs.
const FOLD_FILLS: &str = "fold-fills";
/// The name of the pass that makes convolutions of products.
const FUSE_PRODUCTS: &str = "fuse-products";
/// The name of the pass that leaves products as they are.
const FUSE_DEVICE_PRODUCTS: &str = "fuse-device-products";
/// The name of the pass for device libraries.
const LAY_OUT_FILTERS: &str = "lay-out-filters";

/// The passes that improve a graph, in the order in which they run.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "outline-regions",
        summary: "Make functions of the regions of conditionals, cases and loops",
        run: outline_regions::run,
    },
    Pass { name: "expand-cases", summary: "Make conditionals of cases", run: expand_cases::run },
    Pass {
        name: "prune-graphs",
        summary: "Remove nodes of graphs that are not needed",
        run: prune_graphs::run,
    },
    Pass {
        name: FUNCTIONALIZE,
        summary: "Make tf.If and tf.While of the Switches, Merges and frames of graphs",
        run: functionalize::run,
    },
    Pass { name: "scalar-loops", summary: "Make one op of each loop over scalars", run: scalar_loops::run },
    Pass {
        name: "coarsen-islands",
        summary: "Make one island of islands that always run together",
        run: coarsen_islands::run,
    },
    Pass {
        name: "outline-islands",
        summary: "Make functions of the islands of graphs that stay",
        run: outline_islands::run,
    },
    Pass { name: "dead-code", summary: "Remove operations whose results nothing uses", run: dead_code::run },
    Pass { name: "cse", summary: "Compute equal operations once", run: cse::run },
    Pass { name: FOLD_FILLS, summary: "Compute filled tensors, for device programs", run: fold_fills::run },
    Pass {
        name: "fold-dequantized",
        summary: "Dequantize constants that no product takes",
        run: fold_dequantized::run,
    },
    Pass {
        name: WIDEN_TO_F32,
        summary: "Compute in f32 what the model computes in f16 or bf16, for models that run in host memory",
        run: precision::to_f32,
    },
    Pass {
        name: "sink-transposes",
        summary: "Move transposes behind what they do not matter to, until they cancel",
        run: transpose::run,
    },
    Pass {
        name: FUSE_QUANTIZED,
        summary: "Multiply bytes instead of the numbers that they stand for, for models that run in host memory",
        run: fuse_quantized::run,
    },
    Pass {
        name: "fold-dequantized-again",
        summary: "Dequantize all constants",
        run: fold_dequantized::run_again,
    },
    Pass {
        name: "fold-scales",
        summary: "Fold factors and summands of channels into the filters and biases before them",
        run: scale::run,
    },
    Pass {
        name: "fuse-attention",
        summary: "Make one op of the products, the scale, the mask and the softmax of attention",
        run: fuse_attention::run,
    },
    Pass {
        name: NARROW_TO_F16,
        summary: "Compute products and convolutions of f32 in f16, with --precision=f16",
        run: precision::to_f16,
    },
    Pass {
        name: NARROW_TO_BF16,
        summary: "Compute products and convolutions of f32 in bf16, with --precision=bf16",
        run: precision::to_bf16,
    },
    Pass {
        name: "fuse-gelu",
        summary: "Make one op of Gaussian error linear units, which exporters write in parts",
        run: fuse_gelu::run,
    },
    Pass {
        name: "fuse-convolutions",
        summary: "Fuse convolutions with their bias, a residual and an activation",
        run: fuse_convolution::run,
    },
    Pass {
        name: FUSE_PRODUCTS,
        summary: "Fuse matrix products with their bias and an activation, for host memory",
        run: fuse_product::run,
    },
    Pass {
        name: FUSE_DEVICE_PRODUCTS,
        summary: "Fuse matrix products with their bias and an activation, for devices",
        run: fuse_product::run_for_devices,
    },
    Pass {
        name: "fuse-elementwise",
        summary: "Fuse elementwise operations with each other",
        run: fuse_elementwise::run,
    },
    Pass {
        name: END_CONVOLUTIONS,
        summary: "Fuse elementwise operations with the convolution before them, for all but device programs",
        run: fuse_elementwise::end_convolutions,
    },
    Pass {
        name: LAY_OUT_FILTERS,
        summary: "Store the filters of fused convolutions as device libraries read them, for models that run on devices",
        run: lay_out_filters::run,
    },
    Pass { name: "cse-again", summary: "Compute equal operations once", run: cse::run },
    Pass { name: "dead-code-again", summary: "Remove what fusion left over", run: dead_code::run },
];

/// The first pass of this name.
pub fn find(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|pass| pass.name == name)
}

/// How passes are run.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassOptions {
    /// Verify the graph after each pass, in release builds too.
    pub verify_each: bool,
    /// Leave graphs of Switch, Merge and frames to the direct executor.
    pub keep_graphs: bool,
    /// The type in which products and convolutions of f32 are computed, if it is another one: f16
    /// or bf16.
    pub narrow: Option<DType>,
    /// Prepare the graph for device programs.
    pub for_devices: bool,
    /// Store filters as device libraries read them, because the model will run on a device. Device
    /// programs always do.
    pub lay_out_filters: bool,
}

impl PassOptions {
    /// Returns whether devices run the model, in a device program or op by op.
    fn runs_on_devices(self) -> bool {
        self.for_devices || self.lay_out_filters
    }

    fn includes(self, pass: &Pass) -> bool {
        match pass.name {
            FUNCTIONALIZE => !self.keep_graphs,
            NARROW_TO_F16 => self.narrow == Some(DType::F16),
            NARROW_TO_BF16 => self.narrow == Some(DType::BF16),
            // In a device program they are a kernel in either case, which may be generated.
            END_CONVOLUTIONS => !self.for_devices,
            FOLD_FILLS => self.for_devices,
            FUSE_PRODUCTS => !self.runs_on_devices(),
            FUSE_DEVICE_PRODUCTS => self.runs_on_devices(),
            LAY_OUT_FILTERS => self.runs_on_devices(),
            FUSE_QUANTIZED => !self.runs_on_devices(),
            WIDEN_TO_F32 => !self.runs_on_devices() && self.narrow.is_none(),
            _ => true,
        }
    }
}

/// The passes that improve a model, in order.
pub fn pipeline(options: PassOptions) -> Vec<Pass> {
    PASSES.iter().filter(|pass| options.includes(pass)).copied().collect()
}

/// Runs passes in order and calls `after` behind each with the time that it took. Ends early if
/// `after` says so.
///
/// # Errors
/// What is wrong with the graph that a pass left, if graphs are verified.
pub fn run(
    passes: &[Pass],
    graph: &mut Graph,
    evaluator: &Evaluator,
    options: PassOptions,
    after: &mut dyn FnMut(&Pass, &Graph, Duration) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, Diagnostics> {
    for pass in passes.iter().filter(|pass| !options.keep_graphs || pass.name != FUNCTIONALIZE) {
        let start = Instant::now();
        pass.run(graph, evaluator);
        let time = start.elapsed();
        if options.verify_each || cfg!(debug_assertions) {
            verify_op_graph(graph, evaluator).map_err(|errors| blame(pass, &errors))?;
        }
        if after(pass, graph, time).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Says which pass left the errors.
fn blame(pass: &Pass, errors: &Diagnostics) -> Diagnostics {
    let mut blamed = Diagnostics::new();
    for mut error in errors.iter().cloned() {
        error.message = format!("after the pass '{}': {}", pass.name, error.message);
        blamed.push(error);
    }
    blamed
}
