//! Subgraphs of control flow as functions.
//!
//! A subgraph sees the names of the graphs around it. As a function it takes what it uses of them
//! as arguments, behind those of its own; constants are made again inside, so that they stay known
//! there.

use std::collections::HashSet;

use tfrt_ir::{Attribute, FunctionType, OpId, ValueId};

use super::{
    Importer, MAX_DEPTH,
    node::{ImportError, Imported},
    proto::{GraphProto, NodeProto},
};
use crate::TensorType;

/// A subgraph as a function.
pub(super) struct Subgraph {
    /// The function's name.
    pub(super) name: String,
    /// The types of what it returns.
    pub(super) results: Vec<TensorType>,
    op: OpId,
}

/// The values of outer graphs that subgraphs use, but for constants: what their functions take
/// behind their own arguments.
#[derive(Default)]
pub(super) struct Captures {
    names: Vec<String>,
    pub(super) values: Vec<ValueId>,
    constants: Vec<(String, ValueId)>,
    /// The names of sequences, with the place among `values` of the first of their two tensors.
    sequences: Vec<(String, usize)>,
}

impl Captures {
    /// What these subgraphs use of the graphs around them.
    pub(super) fn new(importer: &mut Importer<'_>, graphs: &[&GraphProto]) -> Imported<Self> {
        let mut free = Vec::new();
        let mut seen = HashSet::new();
        for graph in graphs {
            find_free(graph, &mut Vec::new(), &mut seen, &mut free, 0);
        }
        let mut captures = Self::default();
        let mut sequences = Vec::new();
        for name in free {
            // A name that is not defined is reported where it is used.
            let Some(value) = importer.scope.find(&name) else { continue };
            if importer.graph.constant(value).is_some() {
                captures.constants.push((name, value));
            } else if importer.is_sequence(value) {
                sequences.push((name, value));
            } else {
                captures.names.push(name);
                captures.values.push(value);
            }
        }
        for (name, value) in sequences {
            captures.sequences.push((name, captures.values.len()));
            captures.values.extend(importer.packed(value)?);
        }
        Ok(captures)
    }

    /// Adds values that functions take behind the others and that have no name.
    pub(super) fn add(&mut self, values: &[ValueId]) {
        self.values.extend(values);
    }
}

/// The names that a graph uses and does not define.
pub(super) fn free_names(graph: &GraphProto) -> Vec<String> {
    let mut free = Vec::new();
    find_free(graph, &mut Vec::new(), &mut HashSet::new(), &mut free, 0);
    free
}

/// Lists the names that a graph uses and does not define.
fn find_free(
    graph: &GraphProto,
    outer: &mut Vec<HashSet<String>>,
    seen: &mut HashSet<String>,
    free: &mut Vec<String>,
    depth: usize,
) {
    if depth > MAX_DEPTH {
        return;
    }
    let mut defined: HashSet<String> = graph.input.iter().map(|input| input.name.clone()).collect();
    defined.extend(graph.initializer.iter().map(|tensor| tensor.name.clone()));
    let sparse = graph.sparse_initializer.iter().filter_map(|tensor| tensor.values.as_ref());
    defined.extend(sparse.map(|values| values.name.clone()));
    defined.extend(graph.node.iter().flat_map(|node: &NodeProto| node.output.iter().cloned()));
    outer.push(defined);
    let used = graph.node.iter().flat_map(|node| &node.input);
    for name in used.chain(graph.output.iter().map(|output| &output.name)) {
        let is_defined = name.is_empty() || outer.iter().any(|defined| defined.contains(name));
        if !is_defined && seen.insert(name.clone()) {
            free.push(name.clone());
        }
    }
    for attribute in graph.node.iter().flat_map(|node| &node.attribute) {
        if let Some(graph) = &attribute.g {
            find_free(graph, outer, seen, free, depth + 1);
        }
    }
    outer.pop();
}

impl Importer<'_> {
    /// Imports a subgraph in the place of a node, with its inputs standing for these values.
    pub(super) fn import_inline(&mut self, graph: &GraphProto, inputs: &[ValueId]) -> Imported {
        self.enter_subgraph()?;
        // The subgraph is a part of the current function, so that it sees what that sees.
        let mut inner = self.scope.nested();
        for name in free_names(graph) {
            if let Some(value) = self.scope.find(&name) {
                inner.define(&name, value);
            }
        }
        for (input, &value) in graph.input.iter().zip(inputs) {
            inner.define(&input.name, value);
        }
        let (outer, location) = (std::mem::replace(&mut self.scope, inner), self.location.clone());
        let results = self.import_body(graph);
        self.scope = outer;
        self.location = location;
        self.depth -= 1;
        results
    }

    /// Imports a subgraph into the current function. `captured` is what that was given for the
    /// values that the subgraph captures.
    pub(super) fn import_captured(
        &mut self,
        graph: &GraphProto,
        inputs: &[ValueId],
        captures: &Captures,
        captured: &[ValueId],
    ) -> Imported {
        self.enter_subgraph()?;
        let mut inner = self.scope.nested();
        for (name, &value) in captures.names.iter().zip(captured) {
            inner.define(name, value);
        }
        for (name, first) in &captures.sequences {
            if let Some(&[data, shapes]) = captured.get(*first..first + 2) {
                let sequence = self.mark_packed([data, shapes]);
                inner.define(name, sequence);
            }
        }
        for (name, value) in &captures.constants {
            if let Some(tensor) = self.graph.constant(*value).cloned() {
                let again = self.builder().add_constant(name, tensor);
                inner.define(name, again);
            }
        }
        for (input, &value) in graph.input.iter().zip(inputs) {
            inner.define(&input.name, value);
        }
        let (outer, location) = (std::mem::replace(&mut self.scope, inner), self.location.clone());
        let results = self.import_body(graph);
        self.scope = outer;
        self.location = location;
        self.depth -= 1;
        results
    }

    /// Imports a subgraph without inputs as a function of what it captures. Sequences among its
    /// results are two tensors each; says which results were sequences.
    pub(super) fn import_branch(
        &mut self,
        graph: &GraphProto,
        captures: &Captures,
    ) -> Imported<(Subgraph, Vec<bool>)> {
        let mut kinds = Vec::new();
        let function = self.make_function(&[], captures, |importer, arguments| {
            let results = importer.import_captured(graph, &[], captures, arguments)?;
            kinds = results.iter().map(|&result| importer.is_sequence(result)).collect();
            importer.flattened(&results)
        })?;
        Ok((function, kinds))
    }

    /// Values with two tensors in the place of each sequence.
    pub(super) fn flattened(&mut self, values: &[ValueId]) -> Imported {
        let mut flat = Vec::new();
        for &value in values {
            match self.is_sequence(value) {
                true => flat.extend(self.packed(value)?),
                false => flat.push(value),
            }
        }
        Ok(flat)
    }

    /// Values with a sequence in the place of two tensors each, where `kinds` says that there is
    /// one.
    pub(super) fn unflattened(&mut self, flat: &[ValueId], kinds: &[bool]) -> Imported {
        let mut flat = flat.iter().copied();
        let mut next = || flat.next().ok_or_else(|| ImportError("a subgraph has too few values".into()));
        let mut values = Vec::new();
        for &is_sequence in kinds {
            let first = next()?;
            values.push(if is_sequence { self.mark_packed([first, next()?]) } else { first });
        }
        Ok(values)
    }

    /// Makes a function that fails with this message, in the place of one with results of these
    /// types.
    pub(super) fn import_failure(
        &mut self,
        captures: &Captures,
        results: &[TensorType],
        message: &str,
    ) -> Imported<Subgraph> {
        self.make_function(&[], captures, |importer, _| {
            // What the other branch gives says nothing of shapes here.
            let types = results.iter().map(|ty| TensorType::unranked(ty.dtype).to_ir());
            let attributes = [("message", Attribute::string(message))].into_iter().collect();
            Ok(importer.builder().append_op("tfrt.Fail", &[], attributes, types.collect()))
        })
    }

    /// Makes a function of arguments of these types and of captures, whose results `finish`
    /// appends.
    pub(super) fn make_function(
        &mut self,
        types: &[TensorType],
        captures: &Captures,
        finish: impl FnOnce(&mut Self, &[ValueId]) -> Imported,
    ) -> Imported<Subgraph> {
        let (name, op, arguments, outer_block) = self.begin_function(types, captures);
        let results = finish(self, &arguments).and_then(|results| self.end_function(op, results));
        self.block = outer_block;
        match results {
            Ok(results) => Ok(Subgraph { name, results, op }),
            Err(error) => {
                self.remove_since(op);
                Err(error)
            }
        }
    }

    /// Removes a function again, with those made since.
    pub(super) fn remove_function(&mut self, subgraph: &Subgraph) {
        self.remove_since(subgraph.op);
    }

    fn remove_since(&mut self, first: OpId) {
        let functions: Vec<_> = self.graph.module.functions().map(|function| function.op()).collect();
        let since = functions.iter().position(|&op| op == first).unwrap_or(functions.len());
        for &op in &functions[since..] {
            self.graph.module.erase_op(op);
        }
    }

    fn enter_subgraph(&mut self) -> Imported<()> {
        if self.depth >= MAX_DEPTH {
            return Err(ImportError(format!("subgraphs nest deeper than {MAX_DEPTH}")));
        }
        self.depth += 1;
        Ok(())
    }

    /// Begins a function and moves into it.
    fn begin_function(
        &mut self,
        types: &[TensorType],
        captures: &Captures,
    ) -> (String, OpId, Vec<ValueId>, tfrt_ir::BlockId) {
        self.function_count += 1;
        let name = format!("subgraph.{}", self.function_count);
        let mut inputs: Vec<_> = types.iter().map(TensorType::to_ir).collect();
        inputs.extend(self.graph.module.types_of(&captures.values));
        let ty = FunctionType { inputs, results: Vec::new() };
        let (op, block) = self.graph.module.add_function(name.as_str(), ty, self.location.clone());
        let outer = std::mem::replace(&mut self.block, block);
        (name, op, self.graph.module.block(block).arguments.clone(), outer)
    }

    fn end_function(&mut self, op: OpId, results: Vec<ValueId>) -> Imported<Vec<TensorType>> {
        let types = results.iter().map(|&result| self.graph.tensor_type(result)).collect::<Option<Vec<_>>>();
        let types = types.ok_or("an output of a subgraph is not a tensor")?;
        self.finish_function(op, results);
        Ok(types)
    }
}
