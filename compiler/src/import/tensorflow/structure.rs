//! What must hold of every graph and function, whether or not the model needs it: names, edges and
//! results. All faults are found at once. Whether an op has an output of the name that an edge gives
//! is seen when the node is imported.

use std::collections::{BTreeMap, HashMap, HashSet};

use tfrt_ir::{Diagnostic, Diagnostics, Location};

use super::{
    location_of, outputs,
    proto::{ArgDef, Attr, AttrValue, FunctionDef, GraphDef, NodeDef, OpDef},
};

/// The faults of a graph and of its functions. `file` is what errors call it.
pub(super) fn check(graph: &GraphDef, file: &str) -> Diagnostics {
    let mut checker = Checker { place: file.to_owned(), faults: Diagnostics::new() };
    for node in &graph.node {
        checker.check_node(node);
    }
    let unnamed = OpDef::default();
    let mut functions: HashMap<&str, &FunctionDef> = HashMap::new();
    for function in graph.library.iter().flat_map(|library| &library.function) {
        let signature = function.signature.as_ref().unwrap_or(&unnamed);
        checker.place = format!("function '{}' of {file}", signature.name);
        if signature.name.is_empty() {
            checker.place = file.to_owned();
            checker.fault("a function of the graph has no name");
        } else if functions.insert(&signature.name, function).is_some_and(|other| other != function) {
            checker.fault("the graph has two functions of this name");
        }
        checker.check_function(function, signature);
    }
    checker.faults
}

struct Checker {
    /// What errors call the graph or the function.
    place: String,
    faults: Diagnostics,
}

impl Checker {
    fn fault(&mut self, message: impl Into<String>) {
        self.faults.push(Diagnostic::error(Location::file(self.place.as_str(), 0, 0), message));
    }

    fn check_node(&mut self, node: &NodeDef) {
        let mut messages = Vec::new();
        if node.op.is_empty() {
            messages.push("the node has no op".to_owned());
        }
        if node.input.iter().any(String::is_empty) {
            messages.push("one of its inputs has no name".to_owned());
        }
        if has_unnamed(&node.attr) {
            messages.push("one of its attributes has no name".to_owned());
        }
        if let Some(name) = outputs::wrong_count(node) {
            messages.push(format!("attribute '{name}' must be a number or a list of types"));
        }
        let location = location_of(node, &self.place);
        for message in messages {
            self.faults.push(Diagnostic::error(location.clone(), message));
        }
    }

    fn check_function(&mut self, function: &FunctionDef, signature: &OpDef) {
        let mut names = HashSet::new();
        let arguments = signature.input_arg.iter().map(|argument| &argument.name);
        for name in arguments.chain(function.node_def.iter().map(|node| &node.name)) {
            if !names.insert(name.as_str()) {
                self.fault(format!("two of its arguments and nodes have the name '{name}'"));
            }
        }
        for node in &function.node_def {
            self.check_node(node);
            for input in node.input.iter().filter(|input| !input.is_empty() && !is_edge(input, &names)) {
                let message = format!("its input '{input}' does not exist");
                self.faults.push(Diagnostic::error(location_of(node, &self.place), message));
            }
        }
        if has_unnamed(&function.attr) {
            self.fault("one of its attributes has no name");
        }
        let types = |argument: &&ArgDef| argument.handle_data.iter().any(|data| data.dtype == 0);
        if let Some(argument) = signature.input_arg.iter().chain(&signature.output_arg).find(types) {
            self.fault(format!("the resource '{}' holds tensors of no type", argument.name));
        }
        for output in &signature.output_arg {
            self.check_result("output", &output.name, &function.ret, &names);
        }
        for output in &signature.control_output {
            self.check_result("control output", output, &function.control_ret, &names);
        }
    }

    fn check_result(
        &mut self,
        kind: &str,
        name: &str,
        given: &BTreeMap<String, String>,
        names: &HashSet<&str>,
    ) {
        match given.get(name) {
            None => self.fault(format!("its {kind} '{name}' is not given")),
            Some(source) if source.is_empty() || !is_edge(source, names) => {
                self.fault(format!("its {kind} '{name}' is '{source}', which does not exist"));
            }
            Some(_) => {}
        }
    }
}

/// Whether an edge of a function, such as `node:output:1` or `^node`, comes from one of these names.
fn is_edge(edge: &str, names: &HashSet<&str>) -> bool {
    let mut parts = edge.strip_prefix('^').unwrap_or(edge).split(':');
    let name = parts.next().unwrap_or_default();
    let index = parts.nth(1).map_or(Ok(0), str::parse::<usize>);
    names.contains(name) && parts.next().is_none() && index.is_ok_and(|index| index < outputs::MAX_OUTPUTS)
}

/// Whether an attribute has no name, also one of a function that is an attribute's value.
fn has_unnamed(attributes: &BTreeMap<String, AttrValue>) -> bool {
    attributes.contains_key("")
        || attributes.values().filter_map(|attr| attr.value.as_ref()).any(|value| match value {
            Attr::Func(function) => has_unnamed(&function.attr),
            Attr::List(list) => list.func.iter().any(|function| has_unnamed(&function.attr)),
            _ => false,
        })
}
