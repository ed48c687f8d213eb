//! The direct executor of graphs with TensorFlow's semantics: live and dead values, frames and
//! iterations.
//!
//! A compiler writes a graph into the program as a table ([`GraphPlan`]) with a function for each
//! island. `execute` runs it. No other part of the runtime knows dead values: they exist between
//! the nodes of one graph alone.

mod layout;
mod plan;
mod rendezvous;
mod run;
mod state;

pub use plan::{GraphFrame, GraphNode, GraphPlan, Input, NodeKind};
pub(crate) use run::{Call, execute};
