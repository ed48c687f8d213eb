//! Control flow of TensorFlow's first version: Switch, Merge and frames become one
//! `tf_executor.graph`.
//!
//! The graph holds the nodes that depend on such a node and that such a node depends on. Nodes
//! before them are imported before the graph, nodes behind them after it. Each node of the graph
//! that is no control flow becomes an island. An island makes constants again that it takes, so
//! that they stay known in it, and waits for the nodes that they came from.
//!
//! Variables, tables and other resources are no values of the graph. A token in their place says
//! whether they are live.

mod graph;
mod nodes;

use std::collections::{HashMap, HashSet};

use self::graph::GraphImport;
use super::{
    Frame, Importer,
    body::Source,
    node::{ImportError, Imported},
    ops,
};
use crate::TensorType;

/// How often a graph is imported, with less known of what its loops carry each time.
const MAX_ATTEMPTS: usize = 6;

/// Nodes by where they are imported, each in the order of their import.
struct Parts {
    before: Vec<usize>,
    graph: Vec<usize>,
    after: Vec<usize>,
}

/// Divides nodes if there is control flow of the first version among them.
fn divide(frame: &Frame<'_>, order: &[usize]) -> Option<Parts> {
    let is_control_flow = |node: usize| ops::is_v1_control_flow(&frame.node(node).op);
    if !order.iter().any(|&node| is_control_flow(node)) {
        return None;
    }
    let mut depends = HashSet::new();
    for &node in order {
        if is_control_flow(node) || frame.body.dependencies(node).any(|before| depends.contains(&before)) {
            depends.insert(node);
        }
    }
    // What a function does beyond its results may be done on one branch alone.
    let is_kept = |node: usize| frame.body.is_function() && ops::has_effects(&frame.node(node).op);
    let mut leads = HashSet::new();
    for &node in order.iter().rev() {
        if is_control_flow(node) || is_kept(node) {
            leads.insert(node);
        }
        if leads.contains(&node) {
            leads.extend(frame.body.dependencies(node));
        }
    }
    let mut parts = Parts { before: Vec::new(), graph: Vec::new(), after: Vec::new() };
    for &node in order {
        let part = match (depends.contains(&node), leads.contains(&node)) {
            (false, _) => &mut parts.before,
            (true, true) => &mut parts.graph,
            (true, false) => &mut parts.after,
        };
        part.push(node);
    }
    Some(parts)
}

impl Importer<'_> {
    /// Imports nodes in this order. What fails is reported, and what depends on it is left out.
    pub(super) fn run(&mut self, frame: &mut Frame<'_>, order: &[usize]) -> Imported<()> {
        let Some(parts) = divide(frame, order) else { return self.run_plain(frame, order) };
        self.run_plain(frame, &parts.before)?;
        self.run_graph(frame, &parts)?;
        self.run_plain(frame, &parts.after)
    }

    fn run_plain(&mut self, frame: &mut Frame<'_>, order: &[usize]) -> Imported<()> {
        self.run_each(frame, order, &mut |importer, frame, number| {
            let mut inputs = Vec::new();
            for (place, &source) in frame.body.inputs(number).iter().enumerate() {
                inputs.push(frame.value(source).cloned().ok_or_else(|| missing_input(place))?);
            }
            let values = importer.import_node(frame, number, inputs)?;
            frame.values.insert(number, values);
            Ok(())
        })
    }

    /// Imports a graph until what its loops carry has types that each iteration agrees with.
    fn run_graph(&mut self, frame: &mut Frame<'_>, parts: &Parts) -> Imported<()> {
        let fetched = fetched(frame, parts);
        let mut types: HashMap<usize, TensorType> = HashMap::new();
        for attempt in 1..=MAX_ATTEMPTS {
            let function_count = self.graph.module.functions().count();
            let (arrays, warnings) = (self.state.arrays.clone(), self.diagnostics.clone());
            let mut graph = GraphImport::new(self, &types);
            let outer = std::mem::replace(&mut self.block, graph.block);
            let run = self.run_each(frame, &parts.graph, &mut |importer, frame, number| {
                graph.import(importer, frame, number)
            });
            self.block = outer;
            run?;
            let Some(wider) = graph.wider_types(self)? else {
                return graph.finish(self, frame, &fetched);
            };
            graph.discard(self);
            let made: Vec<_> = self.graph.module.functions().skip(function_count).map(|f| f.op()).collect();
            made.into_iter().for_each(|function| self.graph.module.erase_op(function));
            (self.state.arrays, self.diagnostics) = (arrays, warnings);
            types.extend(wider);
            if attempt + 1 == MAX_ATTEMPTS {
                types.values_mut().for_each(|ty| ty.dims = None);
            }
        }
        Err("the types of a loop do not settle".into())
    }
}

fn missing_input(place: usize) -> ImportError {
    ImportError(format!("input {place} names an output that does not exist"))
}

/// The outputs of the graph's nodes that are used outside of it.
fn fetched(frame: &Frame<'_>, parts: &Parts) -> Vec<Source> {
    let inside: HashSet<usize> = parts.graph.iter().copied().collect();
    let used = parts.after.iter().flat_map(|&node| frame.body.inputs(node)).chain(&frame.ends);
    let mut seen = HashSet::new();
    let is_fetched = |source: &Source| matches!(source, Source::Output(node, _) if inside.contains(node));
    used.copied().filter(|source| is_fetched(source) && seen.insert(*source)).collect()
}
