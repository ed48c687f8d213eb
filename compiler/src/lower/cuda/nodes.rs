//! [`DeviceGraph`]: the ops of a model as nodes that read and write buffers.
//!
//! Each op is tried on a device that does nothing, which tells where its results lie and what other memory it needs. An op
//! whose results are its arguments' memory, such as a reshape, is no node.

use std::collections::HashMap;

use tfrt_eager::{Footprint, Op, OpAttrs, ResultOrigin, Trial, TrialArgument};
use tfrt_host::Diagnostic as HostDiagnostic;
use tfrt_ir::{Attribute, Diagnostic, Diagnostics, Func, Location, OpId, Operation, ValueId};
use tfrt_tensor::{HostTensor, TensorMetadata};

use crate::{
    ConstantId, Evaluator, Graph, MAIN, TensorType, analysis::cost::flops, attributes::to_op_attrs,
    import::onnx::RETURN,
};

/// The number of a buffer of a [`DeviceGraph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct BufferId(pub(super) usize);

/// What a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// The input of the model with this number.
    Input(usize),
    /// A constant.
    Constant(ConstantId),
    /// A result of a node.
    Computed,
}

/// A tensor in device memory, or several of the same bytes.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    pub(super) content: Content,
    pub(super) ty: TensorMetadata,
    pub(super) bytes: u64,
    /// What reports call it.
    pub(super) label: String,
}

/// What a node takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Buffer(BufferId),
    /// A constant in host memory.
    Host(ConstantId),
}

/// An op that is queued on a device.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) location: Location,
    /// The op's attributes, as pairs of a name and a value.
    pub(super) attrs: Attribute,
    pub(super) operands: Vec<Operand>,
    pub(super) results: Vec<BufferId>,
    /// The types of the operands and results: `(1x3xf32, 3x4xf32) -> (1x4xf32)`.
    pub(super) types: String,
    pub(super) footprint: Footprint,
    /// The arithmetic operations of a call.
    pub(super) flops: u64,
}

impl Node {
    /// Returns what reports call the node: its place in the model, or else its op.
    pub(super) fn label(&self) -> String {
        match &self.location {
            Location::Named { name, .. } => name.to_string(),
            _ => self.name.clone(),
        }
    }
}

/// A model as nodes and buffers.
#[derive(Debug, Default)]
pub(super) struct DeviceGraph {
    pub(super) buffers: Vec<Buffer>,
    pub(super) nodes: Vec<Node>,
    pub(super) outputs: Vec<(BufferId, TensorMetadata)>,
}

/// Collects the nodes of a model.
///
/// # Errors
/// Every operation that cannot run on a device.
pub(super) fn collect(graph: &Graph, evaluator: &Evaluator) -> Result<DeviceGraph, Diagnostics> {
    let mut errors = Diagnostics::new();
    let trial = match Trial::new() {
        Ok(trial) => trial,
        Err(error) => {
            errors.push(Diagnostic::error(Location::Unknown, error.message));
            return Err(errors);
        }
    };
    let mut collector = Collector {
        graph,
        evaluator,
        trial,
        made: DeviceGraph::default(),
        values: HashMap::new(),
        constants: HashMap::new(),
        errors,
    };
    collector.collect_main();
    if collector.errors.has_errors() { Err(collector.errors) } else { Ok(collector.made) }
}

struct Collector<'g> {
    graph: &'g Graph,
    evaluator: &'g Evaluator,
    trial: Trial,
    made: DeviceGraph,
    values: HashMap<ValueId, BufferId>,
    constants: HashMap<ConstantId, BufferId>,
    errors: Diagnostics,
}

type Outcome<T> = Result<T, HostDiagnostic>;

fn invalid(message: impl Into<String>) -> HostDiagnostic {
    HostDiagnostic::invalid_argument(message.into())
}

impl<'g> Collector<'g> {
    fn collect_main(&mut self) {
        let module = &self.graph.module;
        let main = module.functions().find(|function| function.name() == MAIN);
        let Some(body) = main.as_ref().and_then(Func::body) else {
            self.errors.push(Diagnostic::error(Location::Unknown, "the model has no function 'main'"));
            return;
        };
        for (number, &argument) in module.block(body).arguments.iter().enumerate() {
            match self.metadata(argument) {
                Ok(ty) => {
                    let name = self.graph.inputs.get(number).map_or("", |input| &input.name);
                    let id = self.add_buffer(Content::Input(number), ty, format!("input '{name}'"));
                    self.values.insert(argument, id);
                }
                Err(error) => {
                    let name = self.graph.inputs.get(number).map_or("", |input| &input.name);
                    let message = format!("input '{name}': {}; state it with --input-shape", error.message);
                    self.errors.push(Diagnostic::error(Location::Unknown, message));
                }
            }
        }
        if self.errors.has_errors() {
            return;
        }
        let ops: Vec<OpId> = module.ops_in(body).map(|(op, _)| op).collect();
        for id in ops {
            let op = module.op(id);
            let outcome = match op.name.as_str() {
                RETURN => self.collect_outputs(op),
                _ if self.graph.constant_id(id).is_some() => Ok(()),
                _ => self.collect_op(id),
            };
            if let Err(error) = outcome {
                self.errors.push(Diagnostic::error(op.location.clone(), error.message));
                // Later ops miss this one's results, which says nothing new.
                for &result in &op.results {
                    if let Ok(ty) = self.metadata(result) {
                        let id = self.add_buffer(Content::Computed, ty, String::new());
                        self.values.insert(result, id);
                    }
                }
            }
        }
    }

    fn metadata(&self, value: ValueId) -> Outcome<TensorMetadata> {
        let ty = self.graph.tensor_type(value).ok_or_else(|| invalid("a value is not a tensor"))?;
        let metadata = ty.metadata();
        metadata.ok_or_else(|| invalid(format!("a device program needs static shapes, and {ty} is not")))
    }

    fn add_buffer(&mut self, content: Content, ty: TensorMetadata, label: String) -> BufferId {
        let bytes = ty.size_bytes().map_or(0, |bytes| bytes as u64);
        self.made.buffers.push(Buffer { content, ty, bytes, label });
        BufferId(self.made.buffers.len() - 1)
    }

    /// Returns the constant that a value is.
    fn constant(&self, value: ValueId) -> Option<(ConstantId, &'g HostTensor)> {
        let tfrt_ir::ValueDef::Result { op, .. } = self.graph.module.value(value).def else { return None };
        let id = self.graph.constant_id(op)?;
        Some((id, self.graph.constants.tensor(id)?))
    }

    /// Returns the buffer that holds a value.
    fn buffer(&mut self, value: ValueId) -> Outcome<BufferId> {
        let Some((constant, tensor)) = self.constant(value) else {
            let known = self.values.get(&value).copied();
            return known.ok_or_else(|| invalid("it uses a value that no device computes"));
        };
        if let Some(&id) = self.constants.get(&constant) {
            return Ok(id);
        }
        if matches!(tensor, HostTensor::String(_)) {
            return Err(invalid("strings cannot be in device memory"));
        }
        let label = self.graph.constants.name(constant).to_owned();
        let id = self.add_buffer(Content::Constant(constant), tensor.metadata().clone(), label);
        self.constants.insert(constant, id);
        Ok(id)
    }

    fn collect_outputs(&mut self, op: &Operation) -> Outcome<()> {
        for &operand in &op.operands {
            let (ty, id) = (self.metadata(operand)?, self.buffer(operand)?);
            self.made.outputs.push((id, ty));
        }
        Ok(())
    }

    fn collect_op(&mut self, id: OpId) -> Outcome<()> {
        let op = self.graph.module.op(id);
        let evaluator = self.evaluator;
        let known = evaluator.op(op.name.as_str());
        let known = known.ok_or_else(|| invalid(format!("{} has no form for devices", op.name)))?;
        let attrs = to_op_attrs(&op.attributes, evaluator.allocator())?;
        let operand_types = op.operands.iter().map(|&operand| self.metadata(operand));
        let operand_types = operand_types.collect::<Outcome<Vec<_>>>()?;
        let results = op.results.iter().map(|&result| self.metadata(result)).collect::<Outcome<Vec<_>>>()?;
        let host = self.host_arguments(op, known);
        let footprint = self.try_op(known, &attrs, &operand_types, &host, &results)?;

        let operands = op.operands.iter().zip(&host).map(|(&operand, host)| match host {
            Some((constant, _)) => Ok(Operand::Host(*constant)),
            None => self.buffer(operand).map(Operand::Buffer),
        });
        let operands = operands.collect::<Outcome<Vec<_>>>()?;
        if self.is_view(&footprint, &operands) {
            for (&result, origin) in op.results.iter().zip(&footprint.results) {
                if let ResultOrigin::Argument(index) = *origin
                    && let Some(&Operand::Buffer(id)) = operands.get(index)
                {
                    self.values.insert(result, id);
                }
            }
            return Ok(());
        }
        let list = |types: &[TensorMetadata]| {
            types.iter().map(|ty| TensorType::of(ty).to_string()).collect::<Vec<_>>().join(", ")
        };
        let types = format!("({}) -> ({})", list(&operand_types), list(&results));
        let mut ids = Vec::new();
        for (&result, ty) in op.results.iter().zip(results) {
            let id = self.add_buffer(Content::Computed, ty, format!("a result of {}", op.name));
            self.values.insert(result, id);
            ids.push(id);
        }
        let pairs = op
            .attributes
            .iter()
            .map(|(name, value)| Attribute::array([Attribute::string(name.as_bytes()), value.clone()]));
        self.made.nodes.push(Node {
            name: op.name.as_str().to_owned(),
            location: op.location.clone(),
            attrs: Attribute::array(pairs.collect::<Vec<_>>()),
            operands,
            results: ids,
            types,
            footprint,
            flops: flops(self.graph, id).unwrap_or(0),
        });
        Ok(())
    }

    /// Returns the constant of each operand that the op takes from host memory.
    fn host_arguments(&self, op: &Operation, known: &Op) -> Vec<Option<(ConstantId, &'g HostTensor)>> {
        let count = op.operands.len();
        let host = |(index, &operand): (usize, &ValueId)| {
            if known.takes_from_device(index, count) { None } else { self.constant(operand) }
        };
        op.operands.iter().enumerate().map(host).collect()
    }

    /// Tries an op on a device that does nothing.
    fn try_op(
        &self,
        known: &Op,
        attrs: &OpAttrs,
        types: &[TensorMetadata],
        host: &[Option<(ConstantId, &HostTensor)>],
        results: &[TensorMetadata],
    ) -> Outcome<Footprint> {
        let arguments = types.iter().zip(host).map(|(ty, host)| match host {
            Some((_, tensor)) => TrialArgument::Host(tensor),
            None => TrialArgument::Device(ty),
        });
        let arguments: Vec<_> = arguments.collect();
        if let Some(index) = arguments.iter().enumerate().position(|(index, argument)| {
            matches!(argument, TrialArgument::Device(_)) && !known.takes_from_device(index, arguments.len())
        }) {
            let message =
                format!("{} takes operand {index} from the host, and it is no constant", known.name());
            return Err(invalid(message));
        }
        self.trial.run(self.evaluator.context(), known, attrs, &arguments, results)
    }

    /// Returns whether all results of an op are its arguments' memory.
    fn is_view(&self, footprint: &Footprint, operands: &[Operand]) -> bool {
        let is_operand = |origin: &ResultOrigin| match *origin {
            ResultOrigin::Argument(index) => matches!(operands.get(index), Some(Operand::Buffer(_))),
            ResultOrigin::Computed => false,
        };
        footprint.places.is_empty() && footprint.results.iter().all(is_operand)
    }
}
