//! `tf_executor.graph` operations as nodes in frames: what functionalization and lowering read.

mod frames;
mod nodes;

pub(crate) use frames::{Frames, ROOT};
pub(crate) use nodes::{Kind, Node, Nodes, Output};
