//! Files: a GraphDef in the binary or text form, or the folder of a SavedModel.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    path::Path,
};

use bytes::Bytes;
use prost::Message;
use tfrt_host::MappedFile;
use tfrt_ir::{Diagnostic, Diagnostics, FunctionType, Location, ValueId};

use super::{
    Frame, Importer,
    body::{Body, Source},
    file_name,
    node::{ImportError, Imported, Value},
    ops,
    proto::{Attr, GraphDef, NodeDef},
    saved_model, schema, tensor, text,
};
use crate::{Dims, Evaluator, Graph, MAIN, Port, TensorType, import::ImportOptions};

/// Whether a path is the folder of a SavedModel.
pub fn is_saved_model(path: &Path) -> bool {
    path.is_dir() && (path.join("saved_model.pb").exists() || path.join("saved_model.pbtxt").exists())
}

/// Whether a path is a GraphDef by its name, or a folder, which a SavedModel is.
pub fn is_tensorflow(path: &Path) -> bool {
    let is = |extension: &std::ffi::OsStr| {
        ["pb", "pbtxt"].iter().any(|known| extension.eq_ignore_ascii_case(known))
    };
    path.is_dir() || path.extension().is_some_and(is)
}

/// Reads a GraphDef (`.pb` or `.pbtxt`), or a SavedModel's folder.
///
/// # Errors
/// Everything that cannot be imported, each with its node; a file that cannot be read or is
/// malformed.
pub fn read(
    path: &Path,
    options: &ImportOptions,
    evaluator: &Evaluator,
) -> Result<(Graph, Diagnostics), Diagnostics> {
    if path.is_dir() {
        return saved_model::read(path, options, evaluator);
    }
    let file = file_name(path);
    let mut graph: GraphDef = decode(path, schema::graph()).map_err(|message| failure(&file, message))?;
    let mut importer = Importer::new(file, options, evaluator, &mut graph)?;
    importer.folder = path.parent().map(Path::to_owned).unwrap_or_default();
    importer.import_graph(&graph)
}

/// Reads a GraphDef that is in memory, in the text form if its name ends in `.pbtxt`.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(
    name: &str,
    bytes: &[u8],
    options: &ImportOptions,
    evaluator: &Evaluator,
) -> Result<(Graph, Diagnostics), Diagnostics> {
    let decoded = decode_bytes(Path::new(name), Bytes::copy_from_slice(bytes), schema::graph());
    let mut graph: GraphDef = decoded.map_err(|message| failure(name, message))?;
    Importer::new(name.to_owned(), options, evaluator, &mut graph)?.import_graph(&graph)
}

/// One error about a file.
pub(super) fn failure(file: &str, message: String) -> Diagnostics {
    let mut errors = Diagnostics::new();
    errors.push(Diagnostic::error(Location::file(file, 0, 0), message));
    errors
}

/// The message that a file holds, in the text form if its name says so.
pub(super) fn decode<M: Message + Default>(path: &Path, schema: schema::Schema) -> Result<M, String> {
    let mapped = MappedFile::open(path).map_err(|error| error.message)?;
    decode_bytes(path, Bytes::from_owner(mapped), schema)
}

fn decode_bytes<M: Message + Default>(
    path: &Path,
    bytes: Bytes,
    schema: schema::Schema,
) -> Result<M, String> {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pbtxt")) {
        let text = std::str::from_utf8(&bytes).map_err(|_| "the file is not valid UTF-8".to_owned())?;
        let bytes = text::encode(text, schema)?;
        return M::decode(Bytes::from(bytes)).map_err(|error| error.to_string());
    }
    M::decode(bytes).map_err(|error| format!("the file is not a {} of TensorFlow: {error}", schema.name))
}

/// Something to be given to the graph or taken from it, by the name that callers use.
pub(super) struct End {
    pub(super) name: String,
    pub(super) source: Source,
}

/// A node that is imported before the outputs, with texts that tensors stand for.
pub(super) struct Preparation {
    pub(super) node: usize,
    pub(super) texts: HashMap<Source, String>,
}

impl Importer<'_> {
    /// Imports a GraphDef. Placeholders are its inputs; its outputs are those that the options
    /// name, or what nothing uses.
    pub(super) fn import_graph(mut self, graph: &GraphDef) -> Result<(Graph, Diagnostics), Diagnostics> {
        let place = self.file.clone();
        let body = match Body::of_graph(&graph.node, &self.functions) {
            Ok(body) => body,
            Err(error) => {
                self.structure_error(&graph.node, &place, error);
                return Err(self.diagnostics);
            }
        };
        let outputs = match self.graph_outputs(&body) {
            Ok(outputs) => outputs,
            Err(message) => return Err(failure(&self.file, message)),
        };
        let frame = Frame::new(body, place);
        let inputs = match frame.order(outputs.iter().filter_map(node_of)) {
            Ok(order) => Self::placeholders(&graph.node, &order),
            Err(error) => {
                self.structure_error(frame.body.nodes, &frame.place, error);
                return Err(self.diagnostics);
            }
        };
        self.import_main(frame, &inputs, &outputs, &[])
    }

    /// The placeholders among these nodes, in the order of the file.
    fn placeholders(nodes: &[NodeDef], order: &[usize]) -> Vec<End> {
        let mut numbers: Vec<_> =
            order.iter().copied().filter(|&node| ops::is_graph_input(&nodes[node].op)).collect();
        numbers.sort_unstable();
        let end = |node: usize| End { name: nodes[node].name.clone(), source: Source::Output(node, 0) };
        numbers.into_iter().map(end).collect()
    }

    fn graph_outputs(&self, body: &Body<'_>) -> Result<Vec<End>, String> {
        if !self.options.outputs.is_empty() {
            let end = |name: &String| {
                let missing = || {
                    let names = Self::sinks(body).into_iter().map(|end| end.name).collect();
                    format!("the graph has no tensor '{name}'; its outputs are {}", listed(names))
                };
                let source = body.source(name).map_err(|_| missing())?;
                match source {
                    Source::Output(node, output) if output < body.outputs(node) => {
                        Ok(End { name: name.clone(), source })
                    }
                    _ => Err(missing()),
                }
            };
            return self.options.outputs.iter().map(end).collect();
        }
        let ends = Self::sinks(body);
        if ends.is_empty() {
            return Err("the graph has no outputs; name a tensor with -o NAME=FILE".to_owned());
        }
        Ok(ends)
    }

    /// What nothing in a graph uses.
    fn sinks(body: &Body<'_>) -> Vec<End> {
        let is_end = |node: &usize| {
            let op = &body.nodes[*node].op;
            !ops::is_graph_input(op) && op != "Const" && body.outputs(*node) > 0
        };
        let sinks: Vec<usize> = body.sinks().into_iter().filter(is_end).collect();
        // Nodes of control flow are outputs if there are no others; most of those that nothing uses
        // are dead.
        let is_plain = |node: &usize| !ops::is_v1_control_flow(&body.nodes[*node].op);
        let has_plain = sinks.iter().any(is_plain);
        let mut ends = Vec::new();
        for node in sinks.into_iter().filter(|node| !has_plain || is_plain(node)) {
            let proto = &body.nodes[node];
            let count = body.outputs(node);
            for output in 0..count {
                let name = if count == 1 { proto.name.clone() } else { format!("{}:{output}", proto.name) };
                ends.push(End { name, source: Source::Output(node, output) });
            }
        }
        ends
    }

    /// Imports the function [`MAIN`]: first what these nodes do, one after the other, then the
    /// outputs.
    pub(super) fn import_main(
        mut self,
        mut frame: Frame<'_>,
        inputs: &[End],
        outputs: &[End],
        before: &[Preparation],
    ) -> Result<(Graph, Diagnostics), Diagnostics> {
        match self.import_all(&mut frame, inputs, outputs, before) {
            Err(error) if !error.is_reported() => self.error(error.0),
            _ => {}
        }
        if self.diagnostics.has_errors() { Err(self.diagnostics) } else { Ok((self.graph, self.diagnostics)) }
    }

    fn import_all(
        &mut self,
        frame: &mut Frame<'_>,
        inputs: &[End],
        outputs: &[End],
        before: &[Preparation],
    ) -> Imported<()> {
        let ports = inputs.iter().map(|end| self.port(frame, end)).collect::<Imported<Vec<_>>>()?;
        self.options.check_names(&ports, &BTreeSet::new())?;
        let types = ports.iter().map(|port| port.ty.to_ir()).collect();
        let ty = FunctionType { inputs: types, results: Vec::new() };
        let (function, block) = self.graph.module.add_function(MAIN, ty, self.location.clone());
        self.block = block;
        let arguments = self.graph.module.block(block).arguments.clone();
        self.check_all(frame, inputs, outputs, before)?;
        for step in before {
            for (source, text) in &step.texts {
                let value = self.string_constant(text)?.remove(0);
                frame.given.insert(*source, value);
            }
            let order = self.ordered(frame, [step.node])?;
            self.run(frame, &order)?;
            // What was imported for one purpose is imported again for the next, which may find
            // variables changed.
            frame.values.clear();
            frame.given.clear();
        }
        self.restore_by_name()?;
        for (end, argument) in inputs.iter().zip(arguments) {
            frame.given.insert(end.source, argument.into());
        }
        let order = self.ordered(frame, outputs.iter().filter_map(node_of))?;
        frame.ends = outputs.iter().map(|end| end.source).collect();
        let has_any = |wanted: fn(&NodeDef) -> bool| {
            order.iter().any(|&node| wanted(frame.node(node)))
                || self.functions.values().any(|function| function.node_def.iter().any(wanted))
        };
        let has_uneven = has_any(ops::needs_uneven_lists) && !has_any(ops::needs_even_lists);
        let has_states = has_any(ops::needs_array_state);
        (self.has_array_states, self.has_uneven_lists) = (has_states, has_uneven);
        self.run(frame, &order)?;
        self.location = Location::file(self.file.as_str(), 0, 0);
        let mut results = Vec::new();
        for end in outputs {
            let value = frame.value(end.source).cloned();
            let value = value.ok_or_else(|| ImportError(format!("'{}' does not exist", end.name)))?;
            results.push(self.tensor_of(&value)?);
        }
        self.finish_main(function, ports, outputs, results)
    }

    fn finish_main(
        &mut self,
        function: tfrt_ir::OpId,
        inputs: Vec<Port>,
        outputs: &[End],
        results: Vec<ValueId>,
    ) -> Imported<()> {
        let results = self.checked(results)?;
        let port = |(end, &value): (&End, &ValueId)| {
            let ty = self.graph.tensor_type(value);
            let ty = ty.ok_or_else(|| ImportError(format!("output '{}' is not a tensor", end.name)))?;
            Ok(Port { name: end.name.clone(), ty })
        };
        let outputs = outputs.iter().zip(&results).map(port).collect::<Imported<Vec<_>>>()?;
        self.finish_function(function, results);
        (self.graph.inputs, self.graph.outputs) = (inputs, outputs);
        Ok(())
    }

    fn ordered(
        &mut self,
        frame: &Frame<'_>,
        targets: impl IntoIterator<Item = usize>,
    ) -> Imported<Vec<usize>> {
        frame.order(targets).map_err(|error| self.structure_error(frame.body.nodes, &frame.place, error))
    }

    /// Reports all ops that are not known, before anything is imported.
    fn check_all(
        &mut self,
        frame: &mut Frame<'_>,
        inputs: &[End],
        outputs: &[End],
        before: &[Preparation],
    ) -> Imported<()> {
        let mut targets: HashSet<usize> = outputs.iter().filter_map(node_of).collect();
        targets.extend(before.iter().map(|step| step.node));
        // Any value can stand for an input here.
        let mark = Value::Resource("".into());
        frame.given.extend(inputs.iter().map(|end| (end.source, mark.clone())));
        let given = before.iter().flat_map(|step| step.texts.keys());
        frame.given.extend(given.map(|source| (*source, mark.clone())));
        let order = self.ordered(frame, targets)?;
        self.check_ops(frame, &order, &mut HashSet::new(), 0);
        frame.given.clear();
        if self.diagnostics.has_errors() { Err(ImportError::reported()) } else { Ok(()) }
    }

    /// What is known of an input: its node's attributes, and what the caller says.
    fn port(&self, frame: &Frame<'_>, end: &End) -> Imported<Port> {
        let name = end.name.clone();
        let Source::Output(node, _) = end.source else {
            return Err(format!("input '{name}' is not a node").into());
        };
        let declared = declared(frame.node(node)).map_err(|message| format!("input '{name}': {message}"))?;
        let Some(dims) = self.options.input_shapes.get(&name) else { return Ok(Port { name, ty: declared }) };
        let given = TensorType::ranked(declared.dtype, dims.clone());
        match declared.merge(&given) {
            Some(ty) => Ok(Port { name, ty }),
            None => Err(format!("input '{name}' is declared as {declared}, and {given} is given").into()),
        }
    }
}

/// Names for a message: the first ones, and how many there are besides.
fn listed(mut names: Vec<String>) -> String {
    const MAX_NAMES: usize = 20;
    let rest = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    let all = names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    match (names.is_empty(), rest) {
        (true, _) => "not known".to_owned(),
        (_, 0) => all,
        (_, rest) => format!("{all} and {rest} more"),
    }
}

pub(super) fn node_of(end: &End) -> Option<usize> {
    match end.source {
        Source::Output(node, _) => Some(node),
        Source::Argument(_) => None,
    }
}

/// What a node declares of its first output.
pub(super) fn declared(node: &NodeDef) -> Result<TensorType, String> {
    let attr = |name: &str| node.attr.get(name).and_then(|attr| attr.value.as_ref());
    let Some(Attr::Type(number)) = attr("dtype").or_else(|| attr("T")) else {
        return Err("its node has no type".to_owned());
    };
    let dtype = tensor::dtype(*number)?;
    let shapes = match (attr("shape"), attr("_output_shapes")) {
        (Some(Attr::Shape(shape)), _) => tensor::dims(Some(shape)),
        (_, Some(Attr::List(list))) => tensor::dims(list.shape.first()),
        _ => None,
    };
    let dims: Dims = shapes;
    Ok(TensorType { dtype, dims })
}
