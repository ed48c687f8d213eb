//! Functions of a graph's library: calls, which are inlined, and functions of the op graph that
//! control flow calls.

use std::sync::Arc;

use tfrt_ir::{Attribute, BlockId, FUNC_TYPE, FunctionType, OpId, OpState, Type, ValueId};

use super::{
    Frame, Importer, MAX_DEPTH, State,
    body::{Body, BodyError, Source},
    node::{Attrs, ImportError, Imported, Node, Value},
    ops,
    proto::{Attr, FunctionDef, NameAttrList, NodeDef},
};
use crate::{TensorType, import::onnx::RETURN};

/// The names of the functions that a node calls.
pub(super) fn callees(node: &NodeDef) -> Vec<String> {
    let of = |attr: &Attr| match attr {
        Attr::Func(function) => vec![function.name.clone()],
        Attr::List(list) => list.func.iter().map(|function| function.name.clone()).collect(),
        _ => Vec::new(),
    };
    let mut names: Vec<_> = node.attr.values().filter_map(|attr| attr.value.as_ref()).flat_map(of).collect();
    names.push(node.op.clone());
    names
}

/// The nodes of a function that a call runs: those of its results, and those that do something.
pub(super) fn targets(body: &Body<'_>, function: &FunctionDef) -> Result<Vec<usize>, BodyError> {
    let mut targets = Vec::new();
    for name in function.ret.values() {
        if let Source::Output(node, _) = body.source(name).map_err(|message| (None, message))? {
            targets.push(node);
        }
    }
    for name in function.control_ret.values() {
        let missing = || (None, format!("its control output '{name}' does not exist"));
        targets.push(body.find(name).ok_or_else(missing)?);
    }
    targets.extend((0..body.nodes.len()).filter(|&node| ops::has_effects(&body.nodes[node].op)));
    Ok(targets)
}

/// A node whose op is a function.
pub(super) fn call_by_name(node: &mut Node<'_, '_>) -> Imported {
    let call = NameAttrList { name: node.proto.op.clone(), attr: node.proto.attr.clone() };
    let inputs = node.inputs.clone();
    node.importer.call(&call, inputs)
}

impl Importer<'_> {
    /// The function of this name.
    pub(super) fn function(&self, name: &str) -> Imported<Arc<FunctionDef>> {
        let function = self.functions.get(name).cloned();
        function.ok_or_else(|| ImportError(format!("the graph has no function '{name}'")))
    }

    /// Imports the nodes of a function in the place of a call.
    pub(super) fn call(&mut self, call: &NameAttrList, arguments: Vec<Value>) -> Imported {
        let function = self.function(&call.name)?;
        if self.depth >= MAX_DEPTH {
            return Err(format!("calls of functions nest deeper than {MAX_DEPTH}").into());
        }
        let signature = function.signature.clone().unwrap_or_default();
        if signature.input_arg.len() != arguments.len() {
            return Err(format!(
                "function '{}' takes {} arguments, and {} are given",
                call.name,
                signature.input_arg.len(),
                arguments.len()
            )
            .into());
        }
        self.depth += 1;
        let location = self.location.clone();
        let results = self.import_function(&function, &call.attr, arguments);
        self.location = location;
        self.depth -= 1;
        results
    }

    fn import_function(&mut self, function: &FunctionDef, attrs: &Attrs, arguments: Vec<Value>) -> Imported {
        let signature = function.signature.clone().unwrap_or_default();
        let place = self.place_of(&signature.name);
        let prepared = Body::of_function(function, &self.functions).and_then(|body| {
            let targets = targets(&body, function)?;
            let frame = Frame::new(body, place.clone());
            let order = frame.order(targets)?;
            Ok((frame, order))
        });
        let (mut frame, order) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return Err(self.structure_error(&function.node_def, &place, error)),
        };
        frame.arguments = arguments;
        frame.attrs = function.attr.clone();
        frame.attrs.extend(attrs.clone());
        frame.ends = function.ret.values().filter_map(|name| frame.body.source(name).ok()).collect();
        self.run(&mut frame, &order)?;
        let mut results = Vec::new();
        for output in &signature.output_arg {
            let missing =
                || format!("function '{}' does not give its output '{}'", signature.name, output.name);
            let source = function.ret.get(&output.name).ok_or_else(missing)?;
            let source = frame.body.source(source).map_err(|_| missing())?;
            results.push(frame.value(source).cloned().ok_or_else(missing)?);
        }
        Ok(results)
    }

    /// Which results of a function are always the argument of the same number.
    pub(super) fn invariants(&self, name: &str) -> Imported<Vec<bool>> {
        let function = self.function(name)?;
        let signature = function.signature.clone().unwrap_or_default();
        let Ok(body) = Body::of_function(&function, &self.functions) else {
            return Ok(vec![false; signature.output_arg.len()]);
        };
        let is_invariant = |(index, output): (usize, &super::proto::ArgDef)| {
            let mut source = body.source(function.ret.get(&output.name)?).ok()?;
            // At most as many identities as there are nodes lie between an argument and a result.
            for _ in 0..=body.nodes.len() {
                match source {
                    Source::Argument(argument) => return Some(argument == index),
                    Source::Output(node, 0) if body.nodes[node].op == "Identity" => {
                        source = *body.inputs(node).first()?;
                    }
                    Source::Output(..) => return Some(false),
                }
            }
            Some(false)
        };
        let outputs = signature.output_arg.iter().enumerate();
        Ok(outputs.map(|output| is_invariant(output).unwrap_or(false)).collect())
    }
}

/// A function of the op graph that is being imported.
pub(super) struct Open {
    pub(super) name: String,
    pub(super) arguments: Vec<ValueId>,
    op: OpId,
    block: BlockId,
    /// Where the importer was before.
    outer: (BlockId, State, Vec<(ValueId, String)>),
}

impl Importer<'_> {
    /// Begins a function of arguments of these types and moves into it. No variable has a value
    /// there.
    pub(super) fn begin_function(&mut self, types: &[TensorType]) -> Open {
        self.function_count += 1;
        let name = format!("function.{}", self.function_count);
        let inputs = types.iter().map(TensorType::to_ir).collect();
        let ty = FunctionType { inputs, results: Vec::new() };
        let (op, block) = self.graph.module.add_function(name.as_str(), ty, self.location.clone());
        let arguments = self.graph.module.block(block).arguments.clone();
        let (tables, table_types) = (self.state.tables.clone(), self.state.table_types.clone());
        let inner = State { tables, table_types, arrays: self.state.arrays.clone(), ..State::default() };
        let outer = (
            std::mem::replace(&mut self.block, block),
            std::mem::replace(&mut self.state, inner),
            std::mem::take(&mut self.checks),
        );
        Open { name, arguments, op, block, outer }
    }

    /// Moves out of a function, which can be given its results later. Gives what variables hold at
    /// its end.
    pub(super) fn leave_function(&mut self, open: &mut Open) -> State {
        self.block = open.outer.0;
        let state = std::mem::replace(&mut self.state, std::mem::take(&mut open.outer.1));
        // What must hold is kept for the end of the function.
        std::mem::swap(&mut self.checks, &mut open.outer.2);
        state
    }

    /// Ends a function that was left with these results. Gives their types.
    pub(super) fn end_function(&mut self, open: Open, results: Vec<ValueId>) -> Imported<Vec<TensorType>> {
        let outer = std::mem::replace(&mut self.block, open.block);
        let outer_checks = std::mem::replace(&mut self.checks, open.outer.2);
        let results = self.checked(results);
        self.checks = outer_checks;
        let results = results?;
        let types = results.iter().map(|&result| self.graph.tensor_type(result)).collect::<Option<Vec<_>>>();
        self.finish_function(open.op, results);
        self.block = outer;
        types.ok_or_else(|| "a result of a function is not a tensor".into())
    }

    /// Removes a function again, with those that were made since.
    pub(super) fn remove_function(&mut self, open: &Open) {
        let functions: Vec<_> = self.graph.module.functions().map(|function| function.op()).collect();
        let since = functions.iter().position(|&op| op == open.op).unwrap_or(functions.len());
        for &op in &functions[since..] {
            self.graph.module.erase_op(op);
        }
    }

    /// The results of the current function, which are errors if a condition does not hold.
    pub(super) fn checked(&mut self, mut results: Vec<ValueId>) -> Imported<Vec<ValueId>> {
        for (condition, message) in std::mem::take(&mut self.checks) {
            for result in &mut results {
                let attributes = [("message", Attribute::string(&message))];
                *result = self.builder().op("tfrt.Require", &[*result, condition], attributes)?;
            }
        }
        Ok(results)
    }

    /// Ends the current block with a return and gives the function its type.
    pub(super) fn finish_function(&mut self, function: OpId, results: Vec<ValueId>) {
        let module = &mut self.graph.module;
        let result_types = module.types_of(&results);
        let op = module.create_op(OpState::new(RETURN).operands(results).at(self.location.clone()));
        module.append_op(self.block, op);
        let inputs = module.types_of(&module.block(self.block).arguments.clone());
        let ty = Type::function(inputs, result_types);
        module.op_mut(function).attributes.set(FUNC_TYPE, Attribute::Type(ty));
    }
}
