//! The ONNX importer: a `ModelProto` as a [`Graph`] of `tf.*` and `onnx.*` operations.
//!
//! Each node becomes one or more operations through a function of its op (`ops`). Values are named
//! in ONNX; here they are found by name in a `Scope` and nowhere else. Subgraphs of control flow
//! become functions, functions of the model are inlined. What cannot be imported is collected: one
//! run names every such node.

#[cfg(test)]
mod contrib_tests;
mod declared;
mod describe;
#[cfg(test)]
mod hostile_tests;
mod narrow;
mod node;
#[cfg(test)]
mod op_tests;
mod ops;
mod order;
#[cfg(test)]
mod program_tests;
mod proto;
mod schemas;
mod scope;
mod subgraph;
mod tensor;
#[cfg(test)]
mod tests;
mod unsupported;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    path::Path,
    sync::Arc,
};

use bytes::Bytes;
use prost::Message;
use tfrt_host::{Diagnostic as HostDiagnostic, MappedFile};
use tfrt_ir::{
    BlockId, Diagnostic, Diagnostics, FunctionType, InsertionPoint, Location, OpState, Severity, ValueId,
};
use tfrt_tensor::{HostTensor, SharedAllocator};

use self::{
    declared::Declared,
    narrow::Narrow,
    node::{ImportError, Imported, Node},
    proto::{
        AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeValue,
        ValueInfoProto,
    },
    scope::Scope,
    tensor::TensorReader,
    unsupported::unknown_op,
};
use super::ImportOptions;
use crate::{Evaluator, Graph, GraphBuilder, MAIN, Port, TensorType};

pub use describe::{ModelFile, OpSupport, describe_file, op_support, other_domains};
pub use unsupported::{Unsupported, find_unsupported};

/// The versions of the default operator set whose ops are known.
pub const MIN_OPSET: i64 = 6;
/// The newest version of the default operator set whose ops are known; ops of later ones are taken
/// for the same.
pub const MAX_OPSET: i64 = 27;
/// How deep subgraphs and calls of functions may nest.
const MAX_DEPTH: usize = 64;
/// How many nodes the calls of a model's functions may stand for. Functions that call the next one
/// twice would double them.
const MAX_INLINED_NODES: usize = 200_000;

/// The error behind those of single nodes.
const INCOMPLETE: &str = "the model cannot be imported";

/// The operation that ends a function of the graph.
pub(crate) const RETURN: &str = "tfrt.return";

/// Reads an ONNX file.
///
/// # Errors
/// Everything that cannot be imported, each with its node; a file that cannot be read or is
/// malformed.
pub fn read_file(
    path: &Path,
    options: &ImportOptions,
    evaluator: &Evaluator,
) -> Result<(Graph, Diagnostics), Diagnostics> {
    let (file, model, tensors) = open(path, evaluator)?;
    Importer::new(file.clone(), &model, options, evaluator, tensors)
        .map_err(|message| file_error(&file, message))?
        .import(&model)
}

/// Reads an ONNX model from memory; `name` is what messages call it. External data is refused.
///
/// # Errors
/// As [`read_file`].
pub fn read_bytes(
    name: &str,
    bytes: &[u8],
    options: &ImportOptions,
    evaluator: &Evaluator,
) -> Result<(Graph, Diagnostics), Diagnostics> {
    let model = decode(name, Bytes::copy_from_slice(bytes))?;
    let tensors = TensorReader::new(None, evaluator.allocator().clone());
    Importer::new(name.to_owned(), &model, options, evaluator, tensors)
        .map_err(|message| file_error(name, message))?
        .import(&model)
}

fn decode(name: &str, bytes: Bytes) -> Result<ModelProto, Diagnostics> {
    ModelProto::decode(bytes.clone()).map_err(|error| {
        let format = super::foreign_format(&bytes).map(|format| format!("the file is {format}"));
        file_error(name, format.unwrap_or_else(|| format!("the file is not an ONNX model: {error}")))
    })
}

/// An error of a whole file.
fn file_error(file: &str, message: String) -> Diagnostics {
    let mut errors = Diagnostics::new();
    errors.push(Diagnostic::error(Location::file(file, 0, 0), message));
    errors
}

/// Maps and decodes a file. Returns its name, the model, and a reader of its constants.
fn open(path: &Path, evaluator: &Evaluator) -> Result<(String, ModelProto, TensorReader), Diagnostics> {
    let file =
        path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy()).into_owned();
    let mapped = MappedFile::open(path).map_err(|error: HostDiagnostic| file_error(&file, error.message))?;
    let model = decode(&file, Bytes::from_owner(mapped))?;
    let tensors = TensorReader::new(Some(path), evaluator.allocator().clone());
    Ok((file, model, tensors))
}

/// Reads a file that is one tensor, as test suites hold inputs and outputs.
///
/// # Errors
/// What is wrong with the file.
pub fn read_tensor_file(path: &Path, allocator: &SharedAllocator) -> Result<HostTensor, String> {
    let mapped = MappedFile::open(path).map_err(|error| error.message)?;
    let proto = TensorProto::decode(Bytes::from_owner(mapped)).map_err(|error| error.to_string())?;
    TensorReader::new(None, allocator.clone()).read(&proto)
}

/// The operator set of a domain: the default one has two names.
fn domain_of(domain: &str) -> &str {
    if domain == "ai.onnx" { "" } else { domain }
}

/// Domain, name and overload of a function.
type FunctionKey = (String, String, String);

/// The function that a node would call.
fn function_key(node: &NodeProto) -> FunctionKey {
    (domain_of(&node.domain).to_owned(), node.op_type.clone(), node.overload.clone())
}

/// Imports one model.
struct Importer<'g> {
    file: String,
    options: &'g ImportOptions,
    evaluator: &'g Evaluator,
    tensors: TensorReader,
    /// The model's functions, by domain, name and overload.
    functions: HashMap<FunctionKey, Arc<FunctionProto>>,
    opsets: HashMap<String, i64>,
    graph: Graph,
    block: BlockId,
    location: Location,
    scope: Scope,
    depth: usize,
    /// The nodes of all functions that were imported in the place of their calls.
    inlined_count: usize,
    function_count: usize,
    /// What the file declares of values between nodes.
    declared: Declared,
    /// Values whose elements stand for those of a narrow type.
    narrow: HashMap<ValueId, &'static Narrow>,
    diagnostics: Diagnostics,
    /// The nodes whose ops are not known.
    unknown: Vec<Unsupported>,
}

impl<'g> Importer<'g> {
    fn new(
        file: String,
        model: &ModelProto,
        options: &'g ImportOptions,
        evaluator: &'g Evaluator,
        tensors: TensorReader,
    ) -> Result<Self, String> {
        let opsets = opsets(&model.opset_import);
        if model.graph.is_none() || opsets.is_empty() {
            return Err("the file is not an ONNX model: it has no graph or no operator set".to_owned());
        }
        let functions = model.functions.iter().map(|function| {
            let key =
                (domain_of(&function.domain).to_owned(), function.name.clone(), function.overload.clone());
            (key, Arc::new(function.clone()))
        });
        let graph = Graph::new();
        let block = graph.module.body();
        Ok(Self {
            location: Location::file(file.as_str(), 0, 0),
            file,
            options,
            evaluator,
            tensors,
            functions: functions.collect(),
            opsets,
            graph,
            block,
            scope: Scope::default(),
            depth: 0,
            inlined_count: 0,
            function_count: 0,
            declared: Declared::default(),
            narrow: HashMap::new(),
            diagnostics: Diagnostics::new(),
            unknown: Vec::new(),
        })
    }

    fn import(mut self, model: &ModelProto) -> Result<(Graph, Diagnostics), Diagnostics> {
        let graph = model.graph.clone().unwrap_or_default();
        self.check_opset();
        self.check_ops(&graph.node, &mut HashSet::new(), 0);
        for unknown in std::mem::take(&mut self.unknown) {
            self.diagnostics.push(Diagnostic::error(unknown.location, unknown.reason));
        }
        if self.diagnostics.has_errors() {
            return Err(self.diagnostics);
        }
        let imported = self.import_main(&graph).and_then(|()| self.remove_sequences());
        self.warn_of_disagreement();
        if let Err(ImportError(message)) = imported {
            self.error(message);
        }
        if self.diagnostics.has_errors() { Err(self.diagnostics) } else { Ok((self.graph, self.diagnostics)) }
    }

    fn check_opset(&mut self) {
        let Some(&version) = self.opsets.get("") else { return };
        if version < MIN_OPSET {
            self.error(format!(
                "the model uses operator set {version}; {MIN_OPSET} is the oldest that is supported (convert the model \
                 with onnx.version_converter)"
            ));
        } else if version > MAX_OPSET {
            self.warn(format!(
                "the model uses operator set {version}, and {MAX_OPSET} is the newest that is known; its ops are taken \
                 for those of {MAX_OPSET}"
            ));
        }
    }

    fn error(&mut self, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(self.location.clone(), message));
    }

    fn warn(&mut self, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(Severity::Warning, self.location.clone(), message));
    }

    /// Reports every node whose op is not known, those in subgraphs and functions too.
    fn check_ops(&mut self, nodes: &[NodeProto], seen: &mut HashSet<FunctionKey>, depth: usize) {
        if depth > MAX_DEPTH {
            return self.error(format!("subgraphs and functions nest deeper than {MAX_DEPTH}"));
        }
        for node in nodes {
            let key = function_key(node);
            let function = self.functions.get(&key).cloned();
            if ops::find(&key.0, &key.1).is_none() && function.is_none() {
                let unknown = self.unsupported(node, unknown_op(&key.0, &key.1, self.opset(&key.0)));
                self.unknown.push(unknown);
            }
            for attribute in &node.attribute {
                if let Some(graph) = &attribute.g {
                    self.check_ops(&graph.node, seen, depth + 1);
                }
            }
            if let Some(function) = function
                && seen.insert(key)
            {
                self.check_ops(&function.node, seen, depth + 1);
            }
        }
    }

    /// The version of a domain's operator set.
    fn opset(&self, domain: &str) -> Option<i64> {
        self.opsets.get(domain_of(domain)).copied()
    }

    /// Where a node is, for messages.
    fn location_of(&self, node: &NodeProto) -> Location {
        let output = node.output.iter().find(|name| !name.is_empty());
        let name = if node.name.is_empty() { output.map_or("", String::as_str) } else { &node.name };
        let text = format!("node '{name}' ({}) of {}", node.op_type, self.file);
        Location::file(text.as_str(), 0, 0)
    }

    fn builder(&mut self) -> GraphBuilder<'_> {
        let mut builder = GraphBuilder::new(&mut self.graph, self.evaluator, InsertionPoint::End(self.block));
        builder.set_location(self.location.clone());
        builder
    }

    fn import_main(&mut self, proto: &GraphProto) -> Imported<()> {
        let constants = proto.initializer.iter().map(|tensor| tensor.name.as_str());
        let constants: HashSet<&str> = constants.filter(|name| !self.is_given(name)).collect();
        let inputs = proto.input.iter().filter(|input| !constants.contains(input.name.as_str()));
        let dimensions = inputs.clone().flat_map(dimension_names).collect();
        let inputs: Vec<Port> = inputs.map(|input| self.input_port(input)).collect::<Imported<_>>()?;
        self.options.check_names(&inputs, &dimensions)?;
        let types: Vec<_> = inputs.iter().map(|port| port.ty.to_ir()).collect();
        let ty = FunctionType { inputs: types, results: Vec::new() };
        let (function, block) = self.graph.module.add_function(MAIN, ty, self.location.clone());
        self.block = block;
        let arguments = self.graph.module.block(block).arguments.clone();
        for (port, argument) in inputs.iter().zip(arguments) {
            let info = proto.input.iter().find(|info| info.name == port.name);
            let narrow = info.and_then(element_number).and_then(narrow::find);
            self.narrow.extend(narrow.map(|narrow| (argument, narrow)));
            self.scope.define(&port.name, argument);
        }
        let results = self.import_body(proto)?;
        let mut outputs = Vec::new();
        let mut values = Vec::new();
        for (info, value) in proto.output.iter().zip(results) {
            for (name, value) in self.output_tensors(&info.name, value)? {
                let ty = self.graph.tensor_type(value);
                let ty = ty.ok_or_else(|| format!("output '{name}' is not a tensor"))?;
                self.compare_declared(info, &ty);
                outputs.push(Port { name, ty });
                values.push(value);
            }
        }
        self.finish_function(function, values);
        (self.graph.inputs, self.graph.outputs) = (inputs, outputs);
        Ok(())
    }

    /// Whether the caller gives an input, even if the model has a value for it.
    fn is_given(&self, name: &str) -> bool {
        self.options.given.contains(name) || self.options.input_shapes.contains_key(name)
    }

    /// Ends the current block with a return and gives the function its type.
    fn finish_function(&mut self, function: tfrt_ir::OpId, results: Vec<ValueId>) {
        let module = &mut self.graph.module;
        let result_types = module.types_of(&results);
        let state = OpState::new(RETURN).operands(results).at(self.location.clone());
        let op = module.create_op(state);
        module.append_op(self.block, op);
        let inputs = module.types_of(&module.block(self.block).arguments.clone());
        let ty = tfrt_ir::Type::function(inputs, result_types);
        module.op_mut(function).attributes.set(tfrt_ir::FUNC_TYPE, tfrt_ir::Attribute::Type(ty));
    }

    /// What a model declares of an input, with what the caller says of it.
    fn input_port(&self, info: &ValueInfoProto) -> Imported<Port> {
        let name = info.name.clone();
        let declared =
            self.declared(info)?.ok_or_else(|| format!("input '{name}' has no type that is supported"))?;
        let Some(dims) = self.options.input_shapes.get(&name) else { return Ok(Port { name, ty: declared }) };
        let given = TensorType::ranked(declared.dtype, dims.clone());
        match declared.rank() {
            Some(rank) if rank != dims.len() => {
                Err(format!("input '{name}' is declared as {declared}, and {given} is given").into())
            }
            _ => Ok(Port { name, ty: given }),
        }
    }

    /// Imports constants and nodes of a graph into the current block, and gives its outputs.
    fn import_body(&mut self, proto: &GraphProto) -> Imported {
        for tensor in &proto.initializer {
            if self.is_given(&tensor.name) && self.scope.find(&tensor.name).is_some() {
                // It is an input.
                continue;
            }
            let read = self.tensors.read(tensor);
            let read = read.map_err(|message| format!("initializer '{}': {message}", tensor.name))?;
            let value = self.builder().add_constant(&tensor.name, read);
            self.narrow.extend(narrow::find(tensor.data_type).map(|narrow| (value, narrow)));
            self.scope.define(&tensor.name, value);
        }
        for tensor in &proto.sparse_initializer {
            let name = tensor.values.as_ref().map_or("", |values| values.name.as_str()).to_owned();
            let dense = ops::constant::dense_of_sparse(self, tensor)?;
            let value = self.builder().add_constant(&name, dense);
            self.scope.define(&name, value);
        }
        self.note_declared(proto);
        self.import_nodes(&proto.node, None)?;
        let outer = Location::file(self.file.as_str(), 0, 0);
        self.location = outer;
        let find = |info: &ValueInfoProto| {
            self.scope
                .find(&info.name)
                .ok_or_else(|| ImportError(format!("output '{}' is not defined by any node", info.name)))
        };
        if self.diagnostics.has_errors() {
            return Err(INCOMPLETE.into());
        }
        proto.output.iter().map(find).collect()
    }

    /// Imports nodes in order. What fails is reported, and what depends on it is left out.
    fn import_nodes(
        &mut self,
        nodes: &[NodeProto],
        attributes: Option<&HashMap<String, AttributeProto>>,
    ) -> Imported<()> {
        let mut defined = HashSet::new();
        for node in order::sorted(nodes) {
            let again = node.output.iter().find(|name| !name.is_empty() && !defined.insert(name.as_str()));
            let resolved;
            let node = match attributes {
                None => node,
                Some(attributes) => {
                    resolved = resolve(node, attributes);
                    &resolved
                }
            };
            self.location = self.location_of(node);
            if let Some(name) = again {
                self.error(format!("output '{name}' is also one of a node before it"));
                continue;
            }
            if node.input.iter().any(|name| self.scope.has_failed(name)) {
                self.scope.fail(&node.output);
                continue;
            }
            match self.import_node(node) {
                Ok(values) => {
                    for (name, value) in node.output.iter().zip(values) {
                        self.compare_with_declared(name, value);
                        self.scope.define(name, value);
                    }
                }
                Err(ImportError(message)) => {
                    self.error(message);
                    self.scope.fail(&node.output);
                }
            }
        }
        Ok(())
    }

    fn import_node(&mut self, proto: &NodeProto) -> Imported {
        let find = |name: &String| match (self.scope.is_absent(name), self.scope.find(name)) {
            (true, _) => Ok(None),
            (false, Some(value)) => Ok(Some(value)),
            (false, None) => Err(ImportError(format!("input '{name}' is not defined by any node before it"))),
        };
        let inputs = proto.input.iter().map(find).collect::<Imported<Vec<_>>>()?;
        let domain = domain_of(&proto.domain).to_owned();
        if let Some(function) = self.functions.get(&function_key(proto)).cloned() {
            return self.inline(&function, proto, &inputs);
        }
        let import = ops::find(&domain, &proto.op_type)
            .ok_or_else(|| ImportError(format!("unsupported op '{}'", proto.op_type)))?;
        let opset = self.opsets.get(&domain).copied().unwrap_or(1);
        let mut node = Node { importer: self, proto, opset, inputs };
        let values = import(&mut node)?;
        node.pass_narrow(&values);
        let used = proto.output.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1);
        if values.len() < used {
            return Err(format!("output {} is not supported", values.len()).into());
        }
        Ok(values)
    }

    /// Imports the nodes of a function of the model in the place of a call.
    fn inline(&mut self, function: &FunctionProto, call: &NodeProto, inputs: &[Option<ValueId>]) -> Imported {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("calls of functions nest deeper than {MAX_DEPTH}").into());
        }
        self.inlined_count += function.node.len();
        if self.inlined_count > MAX_INLINED_NODES {
            let message = format!("the model's functions stand for more than {MAX_INLINED_NODES} nodes");
            return Err(message.into());
        }
        let mut attributes: HashMap<_, _> = function
            .attribute_proto
            .iter()
            .map(|attribute| (attribute.name.clone(), attribute.clone()))
            .collect();
        attributes.extend(call.attribute.iter().map(|attribute| (attribute.name.clone(), attribute.clone())));
        let mut scope = Scope::default();
        for (index, name) in function.input.iter().enumerate() {
            match inputs.get(index) {
                Some(Some(value)) => scope.define(name, *value),
                _ => scope.leave_out(name),
            }
        }
        let scope = std::mem::replace(&mut self.scope, scope);
        // The function's values have names of their own.
        let declared = self.declared.set_aside();
        let location = self.location.clone();
        let own = opsets(&function.opset_import);
        let opsets = if own.is_empty() { None } else { Some(std::mem::replace(&mut self.opsets, own)) };
        let imported = self.import_nodes(&function.node, Some(&attributes));
        let inner = std::mem::replace(&mut self.scope, scope);
        self.declared.bring_back(declared);
        if let Some(opsets) = opsets {
            self.opsets = opsets;
        }
        self.location = location;
        self.depth -= 1;
        imported?;
        let find = |name: &String| {
            inner
                .find(name)
                .ok_or_else(|| ImportError(format!("the function does not define its output '{name}'")))
        };
        function.output.iter().take(call.output.len()).map(find).collect()
    }
}

/// The number of the declared type of a tensor's elements.
fn element_number(info: &ValueInfoProto) -> Option<i32> {
    match info.r#type.as_ref()?.value.as_ref()? {
        TypeValue::Tensor(ty) => Some(ty.elem_type),
        _ => None,
    }
}

/// The names of the dimensions of a value.
fn dimension_names(info: &ValueInfoProto) -> BTreeSet<String> {
    let Some(TypeValue::Tensor(ty)) = info.r#type.as_ref().and_then(|ty| ty.value.as_ref()) else {
        return BTreeSet::new();
    };
    let names = ty.shape.iter().flat_map(|shape| &shape.dim).filter_map(|dim| match &dim.value {
        Some(proto::DimensionValue::Parameter(name)) => Some(name.clone()),
        _ => None,
    });
    names.collect()
}

/// Versions by domain.
fn opsets(imports: &[proto::OperatorSetIdProto]) -> HashMap<String, i64> {
    imports.iter().map(|set| (domain_of(&set.domain).to_owned(), set.version)).collect()
}

/// The node with the attributes that refer to those of a function's call replaced by them, in its
/// subgraphs too.
fn resolve(node: &NodeProto, attributes: &HashMap<String, AttributeProto>) -> NodeProto {
    let mut node = node.clone();
    let resolve = |mut attribute: AttributeProto| match attribute.ref_attr_name.as_str() {
        "" => {
            if let Some(graph) = &mut attribute.g {
                graph.node = graph.node.iter().map(|node| resolve(node, attributes)).collect();
            }
            Some(attribute)
        }
        outer => attributes.get(outer).map(|value| AttributeProto { name: attribute.name, ..value.clone() }),
    };
    node.attribute = std::mem::take(&mut node.attribute).into_iter().filter_map(resolve).collect();
    node
}
