//! [`DeviceGraph`]: the ops of a model as nodes that read and write buffers.
//!
//! Each op is tried on a device that does nothing, which tells where its results lie and what other
//! memory it needs. An op whose results are its arguments' memory, such as a reshape, is no node.
//!
//! An op that no device can run in planned memory runs on the host. Such ops divide the program:
//! step 0 of the host runs before region 0 of the device, which runs before step 1 of the host, and
//! so on. Every op runs in the first region or step that its operands allow, so that there are as
//! few regions as the dependences allow.

use std::collections::HashMap;

use tfrt_eager::{Footprint, Op, OpAttrs, ResultOrigin, Trial, TrialArgument, elementwise_program};
use tfrt_host::Diagnostic as HostDiagnostic;
use tfrt_ir::{Attribute, Diagnostic, Diagnostics, Func, Location, OpId, Operation, ValueId};
use tfrt_launch::{Generated, GeneratedLaunch};
use tfrt_tensor::{HostTensor, TensorMetadata};

use super::{
    emit::{READ, are_equal},
    host::HostSide,
};
use crate::{
    ConstantId, Evaluator, Graph, MAIN, TensorType, analysis::cost::flops, attributes::to_op_attrs,
    builder::is_random, import::onnx::RETURN, pass::effects::callees,
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
    /// A value that the host computes.
    Uploaded,
}

/// A tensor in device memory, or several of the same bytes.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    pub(super) content: Content,
    pub(super) ty: TensorMetadata,
    pub(super) bytes: u64,
    /// The first region in which it can be read.
    pub(super) region: usize,
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
    /// The launch of a generated kernel that computes the op, if there is one.
    pub(super) launch: Option<GeneratedLaunch>,
    /// The arithmetic operations of a call.
    pub(super) flops: u64,
    /// The part of the program in which it runs.
    pub(super) region: usize,
}

impl Node {
    /// Returns what reports call the node: its place in the model, or else its op.
    pub(super) fn label(&self) -> String {
        label(&self.location, &self.name)
    }
}

/// Returns the place of an op in the model, or else its name.
pub(super) fn label(location: &Location, name: &str) -> String {
    match location {
        Location::Named { name, .. } => name.to_string(),
        _ => name.to_owned(),
    }
}

/// A result of the model.
#[derive(Debug)]
pub(super) enum Output {
    /// In device memory.
    Device(BufferId, TensorMetadata),
    /// A value that the host computes.
    Host(ValueId),
}

/// A model as nodes and buffers.
#[derive(Debug, Default)]
pub(super) struct DeviceGraph {
    pub(super) buffers: Vec<Buffer>,
    /// By their regions.
    pub(super) nodes: Vec<Node>,
    pub(super) host: HostSide,
    pub(super) outputs: Vec<Output>,
    pub(super) generated: Generated,
    /// The generated kernels as PTX, if there are any.
    pub(super) ptx: Option<String>,
    /// Why kernels could not be generated.
    pub(super) generator_error: Option<String>,
}

impl DeviceGraph {
    /// How many regions the program has.
    pub(super) fn region_count(&self) -> usize {
        self.nodes.iter().map(|node| node.region + 1).max().unwrap_or(0)
    }
}

/// How nodes are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Whether no op may run on the host.
    pub(super) is_strict: bool,
    /// Whether kernels are generated.
    pub(super) generates: bool,
}

/// Collects the nodes of a model.
///
/// # Errors
/// Every operation that can run neither on a device nor on the host. If the program is strict,
/// every operation that would run on the host, too.
pub(super) fn collect(
    graph: &Graph,
    evaluator: &Evaluator,
    rules: Rules,
) -> Result<DeviceGraph, Diagnostics> {
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
        alike: HashMap::new(),
        inputs: HashMap::new(),
        effect_step: 0,
        rules,
        errors,
    };
    collector.collect_main();
    collector.made.nodes.sort_by_key(|node| node.region);
    if collector.errors.has_errors() { Err(collector.errors) } else { Ok(collector.made) }
}

struct Collector<'g> {
    graph: &'g Graph,
    evaluator: &'g Evaluator,
    trial: Trial,
    made: DeviceGraph,
    values: HashMap<ValueId, Home>,
    constants: HashMap<ConstantId, BufferId>,
    /// The constants with a buffer, by their types and the checksums of their elements.
    alike: HashMap<(TensorMetadata, u32), Vec<ConstantId>>,
    /// The buffers of the inputs that devices read.
    inputs: HashMap<usize, BufferId>,
    /// The latest step with an effect. Effects keep their order.
    effect_step: usize,
    rules: Rules,
    errors: Diagnostics,
}

/// Where a value is.
#[derive(Clone, Copy, Debug)]
enum Home {
    /// An input of the model, which both sides can read from the beginning.
    Input(usize),
    Device(BufferId),
    /// In host memory, from this step on.
    Host(usize),
}

/// An op that a device can run in planned memory.
struct OnDevice<'g> {
    types: String,
    results: Vec<TensorMetadata>,
    host: Vec<Option<(ConstantId, &'g HostTensor)>>,
    footprint: Footprint,
    launch: Option<GeneratedLaunch>,
}

/// Returns a checksum of a tensor's elements. Equal constants have the same one.
pub(super) fn checksum(tensor: &HostTensor) -> Option<u32> {
    let bytes = tensor.dense().ok()?.read_bytes(&READ).ok()?;
    Some(crc32c::crc32c(&bytes))
}

/// The types of an op: `(1x3xf32, 3x4xf32) -> (1x4xf32)`.
fn types_of(operands: &[TensorMetadata], results: &[TensorMetadata]) -> String {
    let list = |types: &[TensorMetadata]| {
        types.iter().map(|ty| TensorType::of(ty).to_string()).collect::<Vec<_>>().join(", ")
    };
    format!("({}) -> ({})", list(operands), list(results))
}

/// Results of at most this many bytes stay on the host if all operands are there: they are shapes
/// and the like.
const MAX_KEPT_ON_HOST_BYTES: u64 = 4096;

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
            if let Err(error) = self.metadata(argument) {
                let name = self.graph.inputs.get(number).map_or("", |input| &input.name);
                let message = format!("input '{name}': {}; state it with --input-shape", error.message);
                self.errors.push(Diagnostic::error(Location::Unknown, message));
            }
            self.values.insert(argument, Home::Input(number));
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
                    let home = match self.metadata(result) {
                        Ok(ty) => Home::Device(self.add_buffer(Content::Computed, ty, 0, String::new())),
                        Err(_) => Home::Host(0),
                    };
                    self.values.insert(result, home);
                }
            }
        }
    }

    fn metadata(&self, value: ValueId) -> Outcome<TensorMetadata> {
        let ty = self.graph.tensor_type(value).ok_or_else(|| invalid("a value is not a tensor"))?;
        let metadata = ty.metadata();
        metadata.ok_or_else(|| invalid(format!("a device program needs static shapes, and {ty} is not")))
    }

    fn add_buffer(&mut self, content: Content, ty: TensorMetadata, region: usize, label: String) -> BufferId {
        let bytes = ty.size_bytes().map_or(0, |bytes| bytes as u64);
        self.made.buffers.push(Buffer { content, ty, bytes, region, label });
        BufferId(self.made.buffers.len() - 1)
    }

    /// Returns the constant that a value is.
    fn constant(&self, value: ValueId) -> Option<(ConstantId, &'g HostTensor)> {
        let tfrt_ir::ValueDef::Result { op, .. } = self.graph.module.value(value).def else { return None };
        let id = self.graph.constant_id(op)?;
        Some((id, self.graph.constants.tensor(id)?))
    }

    /// Returns the buffer that holds a value. A value of the host is copied there.
    fn buffer(&mut self, value: ValueId) -> Outcome<BufferId> {
        let Some((constant, tensor)) = self.constant(value) else {
            return match self.values.get(&value) {
                Some(&Home::Device(id)) => Ok(id),
                Some(&Home::Input(number)) => self.input_buffer(value, number),
                Some(&Home::Host(step)) => self.upload(value, step),
                None => Err(invalid("it uses a value of another function")),
            };
        };
        if let Some(&id) = self.constants.get(&constant) {
            return Ok(id);
        }
        if matches!(tensor, HostTensor::String(_)) {
            return Err(invalid("strings cannot be in device memory"));
        }
        let id = self.equal_constant(constant, tensor).unwrap_or_else(|| {
            let label = self.graph.constants.name(constant).to_owned();
            self.add_buffer(Content::Constant(constant), tensor.metadata().clone(), 0, label)
        });
        self.constants.insert(constant, id);
        Ok(id)
    }

    /// Returns the buffer of a constant with the same type and elements, or else remembers this one.
    fn equal_constant(&mut self, constant: ConstantId, tensor: &HostTensor) -> Option<BufferId> {
        let alike = self.alike.entry((tensor.metadata().clone(), checksum(tensor)?)).or_default();
        let mut tensors = alike.iter().map(|&id| (id, self.graph.constants.tensor(id)));
        let known = tensors.find(|(_, known)| known.is_some_and(|known| are_equal(known, tensor)));
        match known {
            Some((id, _)) => self.constants.get(&id).copied(),
            None => {
                alike.push(constant);
                None
            }
        }
    }

    fn input_buffer(&mut self, value: ValueId, number: usize) -> Outcome<BufferId> {
        if let Some(&id) = self.inputs.get(&number) {
            return Ok(id);
        }
        let ty = self.metadata(value)?;
        let name = self.graph.inputs.get(number).map_or("", |input| &input.name);
        let id = self.add_buffer(Content::Input(number), ty, 0, format!("input '{name}'"));
        self.inputs.insert(number, id);
        Ok(id)
    }

    /// Copies a value of the host to a buffer, behind the step that computes it.
    fn upload(&mut self, value: ValueId, step: usize) -> Outcome<BufferId> {
        if let Some(id) = self.made.host.uploaded(value) {
            return Ok(id);
        }
        let id =
            self.add_buffer(Content::Uploaded, self.metadata(value)?, step, "a value of the host".to_owned());
        self.made.host.add_upload(value, id, step);
        Ok(id)
    }

    fn collect_outputs(&mut self, op: &Operation) -> Outcome<()> {
        for &operand in &op.operands {
            let output = match self.values.get(&operand) {
                Some(Home::Host(_)) => Output::Host(operand),
                _ => Output::Device(self.buffer(operand)?, self.metadata(operand)?),
            };
            self.made.outputs.push(output);
        }
        Ok(())
    }

    /// Plans an op where it can run.
    fn collect_op(&mut self, id: OpId) -> Outcome<()> {
        if self.rules.generates
            && let Some(op) = self.generate(id)
        {
            return self.add_node(id, op);
        }
        match self.try_on_device(id) {
            Ok(op) => self.add_node(id, op),
            Err(reason) if self.rules.is_strict => Err(reason),
            Err(reason) => self.add_host_op(id, reason),
        }
    }

    /// Says what an op needs on a device, or why it runs on the host.
    fn try_on_device(&self, id: OpId) -> Outcome<OnDevice<'g>> {
        let op = self.graph.module.op(id);
        if !callees(&self.graph.module, id).is_empty() {
            return Err(invalid(format!("{} calls functions", op.name)));
        }
        let known = self.evaluator.op(op.name.as_str());
        let known = known.filter(|known| known.runs_on_devices());
        let known = known.ok_or_else(|| invalid(format!("{} has no form for devices", op.name)))?;
        if is_random(&op.name) || !known.is_deterministic() {
            // A graph would repeat the numbers that it was recorded with.
            return Err(invalid(format!("{} gives other results in each run", op.name)));
        }
        let attrs = to_op_attrs(&op.attributes, self.evaluator.allocator())?;
        let operands = op.operands.iter().map(|&operand| self.metadata(operand));
        let operands = operands.collect::<Outcome<Vec<_>>>()?;
        let results = op.results.iter().map(|&result| self.metadata(result)).collect::<Outcome<Vec<_>>>()?;
        if !self.rules.is_strict && known.runs_on_host() && self.stays_on_host(op, &results) {
            return Err(invalid("its operands are on the host, and its results are small"));
        }
        let host = self.host_arguments(op, known);
        let footprint = self.try_op(known, &attrs, &operands, &host, &results)?;
        let types = types_of(&operands, &results);
        Ok(OnDevice { types, results, host, footprint, launch: None })
    }

    /// Generates a kernel that computes an op, if it is one that can be. A single function of few
    /// instructions is as fast in the runtime's own kernel, unless an argument is repeated.
    fn generate(&mut self, id: OpId) -> Option<OnDevice<'g>> {
        let op = self.graph.module.op(id);
        let attrs = to_op_attrs(&op.attributes, self.evaluator.allocator()).ok()?;
        let program = elementwise_program(op.name.as_str(), &attrs, op.operands.len())?.ok()?;
        let metadata = |values: &[ValueId]| values.iter().map(|&value| self.metadata(value).ok()).collect();
        let (operands, results): (Option<Vec<_>>, Option<Vec<_>>) =
            (metadata(&op.operands), metadata(&op.results));
        let (operands, results) = (operands?, results?);
        let result = results.first().filter(|_| !self.stays_on_host(op, &results))?;
        if program.cost() == 1 && operands.iter().all(|operand| operand == result) {
            return None;
        }
        let extents: Vec<&[usize]> = operands.iter().map(|operand| operand.shape.dims()).collect();
        let launch = self.made.generated.add(&program, result.dtype, &extents, result.shape.dims())?;
        let is_whole = |&index: &usize| operands[index] == *result;
        let footprint = Footprint {
            results: vec![ResultOrigin::Computed],
            places: Vec::new(),
            scratch_bytes: 0,
            kept_bytes: 0,
            in_place: (0..operands.len()).filter(is_whole).map(|index| (0, index)).collect(),
        };
        let (types, host) = (types_of(&operands, &results), vec![None; operands.len()]);
        Some(OnDevice { types, results, host, footprint, launch: Some(launch) })
    }

    /// Returns whether an op computes a shape or the like from values of the host.
    fn stays_on_host(&self, op: &Operation, results: &[TensorMetadata]) -> bool {
        let mut homes = op.operands.iter().filter(|&&operand| self.constant(operand).is_none());
        let is_on_host = |operand: &ValueId| matches!(self.values.get(operand), Some(Home::Host(_)));
        let bytes = results.iter().map(|ty| ty.size_bytes().map_or(u64::MAX, |bytes| bytes as u64));
        let is_small = bytes.fold(0, u64::saturating_add) <= MAX_KEPT_ON_HOST_BYTES;
        let has_operands = homes.clone().next().is_some();
        is_small && has_operands && homes.all(is_on_host)
    }

    fn add_node(&mut self, id: OpId, on_device: OnDevice<'g>) -> Outcome<()> {
        let op = self.graph.module.op(id);
        let OnDevice { types, results, host, footprint, launch } = on_device;
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
                    self.values.insert(result, Home::Device(id));
                }
            }
            return Ok(());
        }
        let region = |operand: &Operand| match *operand {
            Operand::Buffer(id) => self.made.buffers[id.0].region,
            Operand::Host(_) => 0,
        };
        let region = operands.iter().map(region).max().unwrap_or(0);
        let mut ids = Vec::new();
        for (&result, ty) in op.results.iter().zip(results) {
            let id = self.add_buffer(Content::Computed, ty, region, format!("a result of {}", op.name));
            self.values.insert(result, Home::Device(id));
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
            launch,
            flops: flops(self.graph, id).unwrap_or(0),
            region,
        });
        Ok(())
    }

    /// Adds an op to the first step of the host that has its operands.
    fn add_host_op(&mut self, id: OpId, reason: HostDiagnostic) -> Outcome<()> {
        let op = self.graph.module.op(id);
        let known = self.evaluator.op(op.name.as_str());
        let calls = !callees(&self.graph.module, id).is_empty();
        if !calls && !known.is_some_and(Op::runs_on_host) {
            return Err(reason);
        }
        let mut step = 0;
        let mut copied = Vec::new();
        for &operand in &op.operands {
            match self.values.get(&operand) {
                Some(&Home::Host(other)) => step = step.max(other),
                Some(&Home::Device(buffer)) => {
                    let Buffer { content, region, .. } = self.made.buffers[buffer.0];
                    let is_early = matches!(content, Content::Input(_) | Content::Constant(_));
                    step = step.max(if is_early { 0 } else { region + 1 });
                    copied.push((operand, buffer));
                }
                Some(Home::Input(_)) => {}
                None if self.constant(operand).is_some() => {}
                None => return Err(invalid("it uses a value of another function")),
            }
        }
        if calls || known.is_some_and(Op::is_side_effecting) {
            step = step.max(self.effect_step);
            self.effect_step = step;
        }
        for (operand, buffer) in copied {
            let ty = self.metadata(operand)?;
            self.made.host.add_download(operand, buffer, ty, step);
        }
        self.values.extend(op.results.iter().map(|&result| (result, Home::Host(step))));
        self.made.host.add_op(id, step, label(&op.location, &op.name), reason.message);
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
            matches!(argument, TrialArgument::Device(_))
                && !known.takes_from_device(index, arguments.len())
                && !known.plans_host_arguments()
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
