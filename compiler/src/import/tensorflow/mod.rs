//! The TensorFlow importer: a GraphDef or a SavedModel as a [`Graph`] of `tf.*` operations.
//!
//! Nodes are imported in an order that their inputs and control edges allow, each through a
//! function of its op (`ops`). What the outputs do not need is left out. Calls of functions are
//! inlined; the functions of `If`, `Case` and `While` become functions of the graph.
//!
//! Variables and tables are followed while nodes are imported: a variable stands for the value that
//! was assigned to it last, a table for its entries. A checkpoint is restored by importing the
//! nodes that TensorFlow would run for that, so that variables which nothing changes are constants.

mod body;
mod bundle;
mod control_flow;
mod describe;
mod executor;
mod function;
#[cfg(test)]
mod hostile_tests;
mod model;
mod node;
mod ops;
mod outputs;
mod proto;
mod saved_model;
mod schema;
mod slices;
mod structure;
mod table;
mod tensor;
mod text;
mod unsupported;

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use tfrt_host::DType;
use tfrt_ir::{BlockId, Diagnostic, Diagnostics, InsertionPoint, Location, Severity, ValueId};
use tfrt_tensor::HostTensor;

use self::{
    body::{Body, BodyError, Source},
    bundle::Bundle,
    node::{Attrs, ImportError, Imported, Node, Value},
    proto::{GraphDef, NodeDef},
};
use super::ImportOptions;
use crate::{Evaluator, Graph, GraphBuilder, TensorType};

pub use describe::{ModelSummary, SignatureSummary, TensorSummary, describe};
pub use model::{is_saved_model, is_tensorflow, read, read_bytes};
pub use ops::names as op_names;
pub use unsupported::find_unsupported;

/// How deep calls of functions may nest.
const MAX_DEPTH: usize = 64;
/// How many bytes constants may take that are larger in memory than in their files.
const MAX_EXPANDED_BYTES: usize = 1 << 31;
/// How many nodes may be imported, those of a function once for each call.
const MAX_NODES: usize = 4_000_000;

/// The entries of a table.
#[derive(Clone)]
struct Table {
    keys: HostTensor,
    values: HostTensor,
}

/// What variables and tables hold at the place that is being imported, by their names.
#[derive(Clone, Default)]
struct State {
    variables: HashMap<Arc<str>, ValueId>,
    tables: HashMap<Arc<str>, Table>,
    /// The types of tables' keys and values.
    table_types: HashMap<Arc<str>, (DType, DType)>,
    /// The types of the elements of arrays of tensors.
    arrays: HashMap<Arc<str>, TensorType>,
}

/// The nodes of a graph or of a call of a function, with the values that were imported so far.
struct Frame<'p> {
    body: Body<'p>,
    attrs: Attrs,
    /// What errors call it, such as `function 'f' of graph.pb`.
    place: String,
    arguments: Vec<Value>,
    /// Values that stand for outputs of nodes.
    given: HashMap<Source, Value>,
    /// What is wanted of the nodes in the end.
    ends: Vec<Source>,
    values: HashMap<usize, Vec<Value>>,
    failed: HashSet<usize>,
}

impl<'p> Frame<'p> {
    fn new(body: Body<'p>, place: String) -> Self {
        Self {
            body,
            place,
            attrs: Attrs::new(),
            arguments: Vec::new(),
            given: HashMap::new(),
            ends: Vec::new(),
            values: HashMap::new(),
            failed: HashSet::new(),
        }
    }

    /// What a source gives; `None` if its node has not been imported.
    fn value(&self, source: Source) -> Option<&Value> {
        if let Some(given) = self.given.get(&source) {
            return Some(given);
        }
        match source {
            Source::Argument(index) => self.arguments.get(index),
            Source::Output(node, output) => self.values.get(&node)?.get(output),
        }
    }

    fn node(&self, number: usize) -> &'p NodeDef {
        &self.body.nodes[number]
    }

    fn order(&self, targets: impl IntoIterator<Item = usize>) -> Result<Vec<usize>, BodyError> {
        self.body
            .order(targets, |source| self.given.contains_key(&source))
            .map_err(|node| (Some(node), "the node is part of a cycle".to_owned()))
    }
}

/// Where a node is, for messages.
fn location_of(node: &NodeDef, place: &str) -> Location {
    let text = format!("node '{}' ({}) of {place}", node.name, node.op);
    Location::file(text.as_str(), 0, 0)
}

/// Imports one model.
struct Importer<'g> {
    file: String,
    options: &'g ImportOptions,
    evaluator: &'g Evaluator,
    functions: body::Library,
    graph: Graph,
    block: BlockId,
    location: Location,
    state: State,
    /// Whether arrays of tensors are state, and not lists.
    has_array_states: bool,
    /// Whether lists of tensors may have elements of different shapes.
    has_uneven_lists: bool,
    /// Conditions that must hold for the results of the current function to be right, with what to
    /// say otherwise.
    checks: Vec<(ValueId, String)>,
    /// The files of the tensors that name one, by node.
    assets: HashMap<String, PathBuf>,
    folder: PathBuf,
    checkpoint: Option<Bundle>,
    /// How many more bytes constants may take that are larger in memory than in their files.
    expansion_room: usize,
    depth: usize,
    node_count: usize,
    function_count: usize,
    diagnostics: Diagnostics,
}

impl<'g> Importer<'g> {
    /// Takes the functions of a graph, whose structure is checked.
    fn new(
        file: String,
        options: &'g ImportOptions,
        evaluator: &'g Evaluator,
        graph: &mut GraphDef,
    ) -> Result<Self, Diagnostics> {
        let faults = structure::check(graph, &file);
        if faults.has_errors() {
            return Err(faults);
        }
        let library = graph.library.take().unwrap_or_default();
        let functions = library.function.into_iter().filter_map(|function| {
            let name = function.signature.as_ref()?.name.clone();
            Some((name, Arc::new(function)))
        });
        let graph = Graph::new();
        let block = graph.module.body();
        Ok(Self {
            location: Location::file(file.as_str(), 0, 0),
            file,
            options,
            evaluator,
            functions: functions.collect(),
            graph,
            block,
            state: State::default(),
            has_array_states: false,
            has_uneven_lists: false,
            checks: Vec::new(),
            assets: HashMap::new(),
            folder: PathBuf::new(),
            checkpoint: None,
            expansion_room: MAX_EXPANDED_BYTES,
            depth: 0,
            node_count: 0,
            function_count: 0,
            diagnostics: Diagnostics::new(),
        })
    }

    fn error(&mut self, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(self.location.clone(), message));
    }

    fn warn(&mut self, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(Severity::Warning, self.location.clone(), message));
    }

    fn builder(&mut self) -> GraphBuilder<'_> {
        let mut builder = GraphBuilder::new(&mut self.graph, self.evaluator, InsertionPoint::End(self.block));
        builder.set_location(self.location.clone());
        builder
    }

    /// The tensor that a value is. A variable of the first version of TensorFlow stands for what it
    /// holds.
    fn tensor_of(&self, value: &Value) -> Imported<ValueId> {
        match value {
            Value::Tensor(value) => Ok(*value),
            Value::Resource(name) => self.read_variable(name),
            Value::Missing(why) => Err(ImportError(why.to_string())),
        }
    }

    /// What a variable holds.
    fn read_variable(&self, name: &str) -> Imported<ValueId> {
        self.state.variables.get(name).copied().ok_or_else(|| {
            ImportError(format!("variable '{name}' has no value; freeze the graph, or use a SavedModel"))
        })
    }

    /// Reports a fault of a graph's structure.
    fn structure_error(&mut self, nodes: &[NodeDef], place: &str, (node, message): BodyError) -> ImportError {
        self.location = match node.and_then(|node| nodes.get(node)) {
            Some(node) => location_of(node, place),
            None => Location::file(place, 0, 0),
        };
        self.error(message);
        ImportError::reported()
    }

    /// Reports every node that is needed and whose op is not known, those in functions too.
    fn check_ops(&mut self, frame: &Frame<'_>, order: &[usize], seen: &mut HashSet<String>, depth: usize) {
        for &number in order {
            let node = frame.node(number);
            if !ops::is_known(self.evaluator, &node.op) && !self.functions.contains_key(&node.op) {
                self.location = location_of(node, &frame.place);
                self.error(ops::unsupported(&node.op));
            }
            for function in function::callees(node) {
                self.check_function(&function, seen, depth + 1);
            }
        }
    }

    fn check_function(&mut self, name: &str, seen: &mut HashSet<String>, depth: usize) {
        // A function that is missing, and one that calls itself, are reported where they are
        // called.
        let Some(function) = self.functions.get(name).cloned() else { return };
        if depth > MAX_DEPTH || !seen.insert(name.to_owned()) {
            return;
        }
        let place = self.place_of(name);
        let checked = Body::of_function(&function, &self.functions).and_then(|body| {
            let frame = Frame::new(body, place.clone());
            let order = frame.order(function::targets(&frame.body, &function)?)?;
            Ok((frame, order))
        });
        match checked {
            Ok((frame, order)) => self.check_ops(&frame, &order, seen, depth),
            Err(error) => {
                self.structure_error(&function.node_def, &place, error);
            }
        }
    }

    /// What errors call a function.
    fn place_of(&self, function: &str) -> String {
        format!("function '{function}' of {}", self.file)
    }

    /// Imports nodes in this order, each by `import`. What fails is reported, and what depends on
    /// it is left out.
    fn run_each<'p>(
        &mut self,
        frame: &mut Frame<'p>,
        order: &[usize],
        import: &mut dyn FnMut(&mut Self, &mut Frame<'p>, usize) -> Imported<()>,
    ) -> Imported<()> {
        let mut has_failed = false;
        for &number in order {
            let node = frame.node(number);
            self.location = location_of(node, &frame.place);
            self.node_count += 1;
            if self.node_count > MAX_NODES {
                return Err(format!("the model has more than {MAX_NODES} nodes with its calls").into());
            }
            let sources = frame.body.inputs(number);
            let depends =
                |source: &Source| matches!(source, Source::Output(node, _) if frame.failed.contains(node));
            if sources.iter().any(depends) {
                frame.failed.insert(number);
                continue;
            }
            if let Err(error) = import(self, frame, number) {
                if !error.is_reported() {
                    self.location = location_of(node, &frame.place);
                    self.error(error.0);
                }
                has_failed = true;
                frame.failed.insert(number);
            }
        }
        if has_failed { Err(ImportError::reported()) } else { Ok(()) }
    }

    /// Imports a node with these inputs. Returns its outputs.
    fn import_node(&mut self, frame: &Frame<'_>, number: usize, inputs: Vec<Value>) -> Imported {
        let proto = frame.node(number);
        if let Some(path) = self.assets.get(&proto.name).filter(|_| self.depth == 0) {
            let text = path.to_string_lossy().into_owned();
            return self.string_constant(&text);
        }
        let mut node = Node { importer: self, proto, outer: &frame.attrs, inputs };
        match ops::find(&proto.op) {
            Some(import) => import(&mut node),
            None if node.importer.functions.contains_key(&proto.op) => function::call_by_name(&mut node),
            None => ops::generic(&mut node),
        }
    }

    fn string_constant(&mut self, text: &str) -> Imported {
        let shape = tfrt_tensor::TensorShape::scalar();
        let tensor = tfrt_tensor::StringHostTensor::new(shape, vec![text.to_owned()])?;
        Ok(vec![self.builder().add_constant("", tensor).into()])
    }
}

/// The name of a file for messages.
fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy()).into_owned()
}
