//! [`Frames`]: which frame each node runs in.
//!
//! A node runs in the frame that its inputs are in. Enter puts its output into a frame within that,
//! Exit into the one around it. A node without inputs runs outside of all frames.

use std::collections::HashMap;

use tfrt_ir::{Attribute, Module};

use super::{Kind, Nodes, Output};
use crate::dialect::tf_executor::{DEFAULT_PARALLEL_ITERATIONS, FRAME_NAME, PARALLEL_ITERATIONS};

/// What is outside of all frames that Enter makes.
pub(crate) const ROOT: usize = 0;
/// How often the nodes are gone through. Each time finds the frames of loops one level further in.
const MAX_ROUNDS: usize = 256;

/// A frame.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) parent: Option<usize>,
    pub(crate) parallel_iterations: u32,
}

/// The frames of a graph.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    pub(crate) list: Vec<Frame>,
    /// The frame in which each node runs.
    pub(crate) of: Vec<usize>,
    /// The frame in which each node's outputs are.
    pub(crate) outputs: Vec<usize>,
}

/// A node that cannot be, and why.
pub(crate) type Misplaced = (usize, String);

struct Search<'a> {
    module: &'a Module,
    nodes: &'a Nodes,
    list: Vec<Frame>,
    names: HashMap<(usize, String), usize>,
    of: Vec<Option<usize>>,
    outputs: Vec<Option<usize>>,
}

impl Frames {
    /// Finds the frames.
    ///
    /// # Errors
    /// A node whose inputs are in several frames, or in none that can be told, or that leaves a
    /// frame where there is none.
    pub(crate) fn find(module: &Module, nodes: &Nodes) -> Result<Self, Misplaced> {
        let count = nodes.list.len();
        let root = Frame { parent: None, parallel_iterations: 1 };
        let mut search = Search {
            module,
            nodes,
            list: vec![root],
            names: HashMap::new(),
            of: vec![None; count],
            outputs: vec![None; count],
        };
        let mut rounds = 0;
        while search.round()? {
            rounds += 1;
            if rounds > MAX_ROUNDS {
                return Err((0, format!("loops nest deeper than {MAX_ROUNDS}")));
            }
        }
        let unknown = search.outputs.iter().position(Option::is_none);
        if let Some(node) = unknown {
            let message = "belongs to no frame: nothing that it depends on comes from outside of its loop";
            return Err((node, message.to_owned()));
        }
        let all =
            |frames: Vec<Option<usize>>| frames.into_iter().map(|frame| frame.unwrap_or(ROOT)).collect();
        Ok(Self { list: search.list, of: all(search.of), outputs: all(search.outputs) })
    }
}

impl Search<'_> {
    /// Goes through all nodes once; whether that found anything.
    fn round(&mut self) -> Result<bool, Misplaced> {
        let nodes = self.nodes;
        let mut has_changed = false;
        for (number, node) in nodes.list.iter().enumerate() {
            if node.kind == Kind::Source || self.of[number].is_some() {
                continue;
            }
            let Some(frame) = self.frame_of_inputs(number)? else { continue };
            has_changed = true;
            self.of[number] = Some(frame);
            self.outputs[number] = Some(match node.kind {
                Kind::Enter { .. } => self.entered(number, frame),
                Kind::Exit => self.list[frame].parent.ok_or_else(|| {
                    (number, "is in no frame that it could leave; lead its input through an Enter".to_owned())
                })?,
                _ => frame,
            });
            if let Kind::Sink(source) = node.kind {
                self.of[source] = Some(frame);
                self.outputs[source] = Some(frame);
            }
        }
        if !has_changed {
            for number in 0..nodes.list.len() {
                self.frame_of_inputs(number)?;
            }
        }
        Ok(has_changed)
    }

    /// The frame that the inputs of a node are in, as far as it is known.
    fn frame_of_inputs(&self, number: usize) -> Result<Option<usize>, Misplaced> {
        let node = &self.nodes.list[number];
        let data = node.inputs.iter().filter_map(|input| match input {
            Output::Of(node, _) => Some(*node),
            Output::Outer(_) => None,
        });
        let mut inputs = data.chain(node.controls.iter().copied()).peekable();
        if inputs.peek().is_none() {
            return Ok(Some(ROOT));
        }
        let mut found = self.of[number];
        for frame in inputs.filter_map(|input| self.outputs[input]) {
            if found.is_some_and(|found| found != frame) {
                let message =
                    "takes inputs from several frames; lead those from outside of its loop through Enter";
                return Err((number, message.to_owned()));
            }
            found = Some(frame);
        }
        Ok(found)
    }

    /// The frame that an Enter leads into from `outer`.
    fn entered(&mut self, number: usize, outer: usize) -> usize {
        let op = self.module.op(self.nodes.list[number].op);
        let name = op.attr(FRAME_NAME).and_then(Attribute::as_str).unwrap_or_default().to_owned();
        let parallel = op.attr(PARALLEL_ITERATIONS).and_then(Attribute::as_int);
        let parallel_iterations =
            parallel.and_then(|count| u32::try_from(count).ok()).unwrap_or(DEFAULT_PARALLEL_ITERATIONS);
        let next = self.list.len();
        let frame = *self.names.entry((outer, name)).or_insert(next);
        if frame == next {
            self.list.push(Frame { parent: Some(outer), parallel_iterations });
        }
        frame
    }
}
