//! Compiles models into programs: imports them as an op graph, rewrites it and lowers it to a
//! kernel graph.
//!
//! The op graph is a [`Graph`]: functions of `tf.*` and `onnx.*` operations over tensors in
//! [`tfrt_ir`], with large constants beside the text. [`import`] makes one of a model, [`pass`]
//! improves it, [`lower`] turns it into kernels. The result is a [`CompiledModel`]: a BEF file, its
//! weights, and the names of its inputs and outputs.
//!
//! The compiler never runs a model. It evaluates single ops on constants, through the same
//! implementations that the program would call.

pub mod analysis;
mod attributes;
mod builder;
pub mod chains;
pub mod dialect;
mod elementwise;
mod evaluate;
mod executor;
mod graph;
pub mod import;
pub mod lower;
mod model;
pub mod pass;
pub mod plan;
pub mod proof;
mod shapes;
mod tensor_type;
mod text;

pub use builder::GraphBuilder;
pub use evaluate::Evaluator;
pub use graph::{ConstantId, Constants, Graph, MAIN, Port};
pub use model::{
    CompileOptions, CompiledModel, IMPORT, LOWER, Observer, PASSES, Stage, Target, Timing, compile,
    compile_graph, compile_observed, import_model,
};
pub use tensor_type::{Dims, TensorType};
pub use text::is_op_graph;
