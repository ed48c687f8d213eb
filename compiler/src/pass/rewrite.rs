//! The driver of local rewrites: patterns are tried at each operation until none applies any more.

use std::collections::HashSet;

use tfrt_host::DType;
use tfrt_ir::{AttrDict, Attribute, InsertionPoint, Name, OpId, Operation, Type, ValueId};
use tfrt_tensor::{Element, HostTensor};

use crate::{Evaluator, Graph, GraphBuilder, TensorType, import::onnx::RETURN, shapes};

/// A local rewrite: looks at an operation and replaces it, or does nothing and gives `None`.
pub(super) type Pattern = fn(&mut Rewriter<'_>, OpId) -> Option<()>;

/// How many rewrites there may be for each operation of the graph, so that patterns that undo each
/// other end.
const MAX_REWRITES_PER_OP: usize = 50;

/// What a pattern works with: the graph, and new operations in the place of the one it looks at.
pub(super) struct Rewriter<'g> {
    pub(super) graph: &'g mut Graph,
    evaluator: &'g Evaluator,
    at: OpId,
    created: Vec<OpId>,
}

/// Applies patterns to every function of a graph until none applies.
pub(super) fn apply(graph: &mut Graph, evaluator: &Evaluator, patterns: &[Pattern]) {
    let module = &graph.module;
    let blocks: Vec<_> = module.functions().filter_map(|function| function.body()).collect();
    let mut worklist: Vec<OpId> =
        blocks.iter().flat_map(|&block| module.ops_in(block).map(|(op, _)| op)).collect();
    let mut left = worklist.len().saturating_mul(MAX_REWRITES_PER_OP);
    worklist.reverse();
    let mut queued: HashSet<OpId> = worklist.iter().copied().collect();
    while let Some(op) = worklist.pop() {
        queued.remove(&op);
        if graph.module.is_erased(op) || left == 0 {
            continue;
        }
        let neighbours = neighbours(graph, op);
        for pattern in patterns {
            let mut rewriter = Rewriter { graph, evaluator, at: op, created: Vec::new() };
            if pattern(&mut rewriter, op).is_none() {
                continue;
            }
            left -= 1;
            let created = rewriter.created;
            let around: Vec<_> = created.iter().flat_map(|&op| neighbours_if_alive(graph, op)).collect();
            for op in neighbours.iter().copied().chain(created).chain(around) {
                if !graph.module.is_erased(op) && queued.insert(op) {
                    worklist.push(op);
                }
            }
            break;
        }
    }
}

/// Tries a pattern once at each operation, the last one first.
pub(super) fn visit_backwards(graph: &mut Graph, evaluator: &Evaluator, pattern: Pattern) {
    let module = &graph.module;
    let blocks: Vec<_> = module.functions().filter_map(|function| function.body()).collect();
    let ops: Vec<OpId> = blocks.iter().flat_map(|&block| module.ops_in(block).map(|(op, _)| op)).collect();
    for op in ops.into_iter().rev() {
        if !graph.module.is_erased(op) {
            // What does not apply changes nothing.
            let _ = pattern(&mut Rewriter { graph, evaluator, at: op, created: Vec::new() }, op);
        }
    }
}

fn neighbours_if_alive(graph: &Graph, op: OpId) -> Vec<OpId> {
    if graph.module.is_erased(op) { Vec::new() } else { neighbours(graph, op) }
}

/// The operations that define what an operation uses, and that use what it defines.
fn neighbours(graph: &Graph, op: OpId) -> Vec<OpId> {
    let module = &graph.module;
    let operation = module.op(op);
    let before = operation.operands.iter().filter_map(|&operand| module.defining_op(operand));
    let after = operation.results.iter().flat_map(|&result| module.uses_of(result).map(|used| used.op));
    before.chain(after).collect()
}

impl Rewriter<'_> {
    /// An operation.
    pub(super) fn op(&self, op: OpId) -> &Operation {
        self.graph.module.op(op)
    }

    /// The operation of this name that defines a value.
    pub(super) fn defined_by(&self, value: ValueId, name: &str) -> Option<OpId> {
        let op = self.graph.module.defining_op(value)?;
        (self.op(op).name == *name).then_some(op)
    }

    /// The only result of an operation.
    pub(super) fn result(&self, op: OpId) -> Option<ValueId> {
        match self.op(op).results[..] {
            [result] => Some(result),
            _ => None,
        }
    }

    /// Whether exactly one operand uses a value.
    pub(super) fn has_one_use(&self, value: ValueId) -> bool {
        self.graph.module.has_one_use(value)
    }

    /// The type of a value.
    pub(super) fn ty(&self, value: ValueId) -> Option<TensorType> {
        self.graph.tensor_type(value)
    }

    /// The tensor that a value is, if that is a constant.
    pub(super) fn constant(&self, value: ValueId) -> Option<&HostTensor> {
        self.graph.constant(value)
    }

    /// The elements of a small constant of integers.
    pub(super) fn integers(&self, value: ValueId) -> Option<Vec<i64>> {
        shapes::integers(self.constant(value)?)
    }

    /// An attribute that is a truth value; false if it is missing.
    pub(super) fn flag(&self, op: OpId, name: &str) -> bool {
        self.op(op).attr(name).and_then(Attribute::as_bool).unwrap_or(false)
    }

    /// Creates an operation with one result before the one looked at, and at its location.
    pub(super) fn create<N: Into<Name>>(
        &mut self,
        name: &str,
        operands: &[ValueId],
        attributes: impl IntoIterator<Item = (N, Attribute)>,
    ) -> Option<ValueId> {
        self.build(|builder| builder.op(name, operands, attributes).ok())
    }

    /// Creates an operation with one result of a type that is known.
    pub(super) fn create_typed(
        &mut self,
        name: &str,
        operands: &[ValueId],
        attributes: AttrDict,
        ty: Type,
    ) -> ValueId {
        let location = self.op(self.at).location.clone();
        let mut builder = GraphBuilder::new(self.graph, self.evaluator, InsertionPoint::Before(self.at));
        builder.set_location(location);
        let results = builder.append_op(name, operands, attributes, vec![ty]);
        self.created.extend_from_slice(builder.created());
        results[0]
    }

    /// Creates an operation as another one with these operands.
    pub(super) fn create_like(&mut self, op: OpId, operands: &[ValueId]) -> Option<Vec<ValueId>> {
        let operation = self.op(op);
        let (name, count) = (operation.name.clone(), operation.results.len());
        let attributes: Vec<_> = operation.attributes.entries().to_vec();
        self.build(|builder| builder.ops(&name, operands, attributes, count).ok())
    }

    /// Creates a vector of integers.
    pub(super) fn create_integers(&mut self, elements: &[i64]) -> Option<ValueId> {
        self.build(|builder| builder.add_integers(elements).ok())
    }

    /// Creates a vector.
    pub(super) fn create_elements<T: Element>(&mut self, elements: &[T]) -> Option<ValueId> {
        self.build(|builder| builder.add_elements(&[elements.len()], elements).ok())
    }

    /// Creates a scalar.
    pub(super) fn create_number(&mut self, dtype: DType, value: f64) -> Option<ValueId> {
        self.build(|builder| builder.add_number(dtype, value).ok())
    }

    /// Computes an operation on constants now, whatever the size of its results.
    pub(super) fn evaluate(&mut self, op: OpId) -> Option<Vec<ValueId>> {
        let operation = self.op(op);
        let (name, operands) = (operation.name.as_str().to_owned(), operation.operands.clone());
        let (attributes, count) = (operation.attributes.clone(), operation.results.len());
        self.build(|builder| builder.evaluate(&name, &operands, &attributes, count).ok().flatten())
    }

    /// Computes an operation on constants now, if its results are not too large.
    pub(super) fn fold(&mut self, op: OpId) -> Option<Vec<ValueId>> {
        let operation = self.op(op);
        let (name, operands) = (operation.name.as_str().to_owned(), operation.operands.clone());
        let (attributes, results) = (operation.attributes.clone(), operation.results.clone());
        let types: Vec<_> = results.iter().map(|&result| self.ty(result)).collect::<Option<_>>()?;
        self.build(|builder| builder.fold_op(&name, &operands, &attributes, &types).ok().flatten())
    }

    fn build<T>(&mut self, build: impl FnOnce(&mut GraphBuilder<'_>) -> Option<T>) -> Option<T> {
        let location = self.op(self.at).location.clone();
        let mut builder = GraphBuilder::new(self.graph, self.evaluator, InsertionPoint::Before(self.at));
        builder.set_location(location);
        let built = build(&mut builder);
        let created = builder.created().to_vec();
        self.created.extend(created);
        built
    }

    /// Gives what was created the location of another operation.
    pub(super) fn set_location_of(&mut self, from: OpId) {
        let location = self.op(from).location.clone();
        for &op in &self.created {
            *self.graph.module.op_mut(op).location = location.clone();
        }
    }

    /// Gives values what is known of the results that they replace, which inference may not find
    /// again.
    fn pass_types(&mut self, op: OpId, values: &[ValueId]) {
        let results = self.op(op).results.clone();
        for (result, &value) in results.into_iter().zip(values) {
            let is_result = self.graph.module.defining_op(value).is_some();
            if let (true, Some(old), Some(new)) = (is_result, self.ty(result), self.ty(value))
                && let Some(both) = new.merge(&old)
                && both != new
            {
                self.graph.module.set_value_type(value, both.to_ir());
            }
        }
    }

    /// Replaces an operation by values, and removes what defined its operands if nothing uses that
    /// any more.
    pub(super) fn replace(&mut self, op: OpId, values: &[ValueId]) -> Option<()> {
        let mut unused: Vec<_> = self.op(op).operands.clone();
        self.pass_types(op, values);
        self.graph.module.replace_op(op, values);
        while let Some(value) = unused.pop() {
            if let Some(op) = self.graph.module.defining_op(value)
                && !self.graph.module.has_used_results(op)
                && self.op(op).name != *RETURN
            {
                unused.extend(self.op(op).operands.iter().copied());
                self.graph.module.erase_op(op);
            }
        }
        Some(())
    }
}
