//! Programs with a plan for each of several batch sizes.
//!
//! Each plan is a program of its own, whose functions' names end in its batch size. The common
//! functions call them: `setup` prepares all of them, and `main` looks at an input and calls the
//! one for its batch size. All plans share one block of constants.

use std::collections::{HashMap, HashSet};

use tfrt_ir::{
    Attribute, BlockId, Diagnostics, FUNC, FunctionType, Location, Module, OpState, SYM_NAME, Type, ValueId,
};

use tfrt_tensor::{HostTensor, TensorMetadata};

use super::{
    CudaOptions,
    emit::{CONSTANTS, Made, are_equal, emit, tensor},
    nodes::{Content, DeviceGraph, checksum},
    planned::{ALIGNMENT, Planned, Sharing},
};
use crate::{
    Evaluator, Graph, MAIN,
    import::onnx::RETURN,
    lower::{SETUP, corert::Lowered, write_signature},
};

/// A plan of the program.
struct Variant {
    size: u64,
    /// What its function for setup gives.
    prepared: Vec<Type>,
}

/// Lowers the graphs of one model for several batch sizes. `model` describes its inputs and
/// outputs, and `input` is the number of an input whose first extent is the batch size.
///
/// # Errors
/// As [`lower`](super::lower).
pub fn lower_batches(
    model: &Graph,
    graphs: Vec<(u64, Graph)>,
    input: usize,
    evaluator: &Evaluator,
    options: &CudaOptions,
) -> Result<Lowered, Diagnostics> {
    let mut made = Made::default();
    write_signature(model, &mut made.module);
    let mut parts = Vec::new();
    for (size, mut graph) in graphs {
        rename_functions(&mut graph.module, &suffix(size));
        let (device_graph, planned) = super::plan(&graph, evaluator, options)?;
        parts.push(Part { size, graph, device_graph, planned });
    }
    share_constants(&mut parts);
    let (mut variants, mut plan) = (Vec::new(), None);
    for Part { size, graph, device_graph, planned } in parts {
        let parts = (&device_graph, &planned);
        let prepared = emit(&mut made, &graph, parts, evaluator, (options, &suffix(size)))?;
        variants.push(Variant { size, prepared });
        // Reports show the largest batch.
        plan = Some(super::report(&device_graph, planned));
    }
    let mut common = Common { module: made.module, variants };
    common.emit_setup();
    common.emit_main(model, input);
    Ok(Lowered { module: common.module, weights: made.weights, plan })
}

/// The graph of a batch size, and its plan.
struct Part {
    size: u64,
    graph: Graph,
    device_graph: DeviceGraph,
    planned: Planned,
}

/// The block of constants that all plans share, while their places are chosen.
#[derive(Default)]
struct SharedBlock<'g> {
    bytes: u64,
    /// The constants and their places, by their types and the checksums of their elements.
    places: HashMap<(&'g TensorMetadata, u32), Vec<(&'g HostTensor, u64)>>,
}

impl<'g> SharedBlock<'g> {
    fn reserve(&mut self, bytes: u64) -> u64 {
        let offset = self.bytes;
        self.bytes += bytes.next_multiple_of(ALIGNMENT);
        offset
    }

    /// Returns the place of a constant, and whether an equal one of an earlier plan lies there.
    fn place(&mut self, tensor: Option<&'g HostTensor>, bytes: u64) -> (u64, bool) {
        let Some((tensor, checksum)) = tensor.zip(tensor.and_then(checksum)) else {
            return (self.reserve(bytes), false);
        };
        let key = (tensor.metadata(), checksum);
        let mut alike = self.places.get(&key).into_iter().flatten();
        if let Some(&(_, offset)) = alike.find(|(known, _)| are_equal(known, tensor)) {
            return (offset, true);
        }
        let offset = self.reserve(bytes);
        self.places.entry(key).or_default().push((tensor, offset));
        (offset, false)
    }
}

/// Places the constants of all plans in one block. The first plan that has a constant uploads it.
fn share_constants(parts: &mut [Part]) {
    let mut block = SharedBlock::default();
    for (index, Part { graph, device_graph, planned, .. }) in parts.iter_mut().enumerate() {
        planned.sharing = if index == 0 { Sharing::First } else { Sharing::Later };
        for (number, buffer) in device_graph.buffers.iter().enumerate() {
            let Content::Constant(id) = buffer.content else { continue };
            let (offset, is_known) = block.place(graph.constants.tensor(id), buffer.bytes);
            planned.buffers[number].offset = offset;
            if is_known {
                planned.uploaded_before.insert(number);
            }
        }
        for kept in planned.kept.iter_mut().flatten() {
            kept.offset = block.reserve(kept.bytes);
        }
    }
    let bytes = block.bytes;
    parts.iter_mut().for_each(|part| part.planned.constant_bytes = bytes);
}

/// What the names of the functions of a plan end in.
fn suffix(size: u64) -> String {
    format!("_batch_{size}")
}

/// Renames all functions but the model, so that those of several graphs can be in one module.
fn rename_functions(module: &mut Module, suffix: &str) {
    let functions = module.functions().filter(|function| function.name() != MAIN);
    let names: HashSet<String> = functions.map(|function| function.name().to_owned()).collect();
    let renamed = |value: &Attribute| {
        let name = value.as_flat_symbol()?.as_str().to_owned();
        names.contains(&name).then(|| Attribute::symbol(format!("{name}{suffix}")))
    };
    let is_named = |value: &Attribute| renamed(value).is_some();
    let ops: Vec<_> = module.walk(module.root()).collect();
    for op in ops {
        let is_function = module.op(op).name == FUNC;
        for (name, value) in module.op(op).attributes.entries().to_vec() {
            let new = if is_function && name.as_bytes() == SYM_NAME.as_bytes() {
                let old = value.as_str().filter(|old| names.contains(*old));
                old.map(|old| Attribute::string(format!("{old}{suffix}")))
            } else if let Some(elements) = value.as_array().filter(|elements| elements.iter().any(is_named)) {
                let new = elements.iter().map(|element| renamed(element).unwrap_or_else(|| element.clone()));
                Some(Attribute::array(new.collect::<Vec<_>>()))
            } else {
                renamed(&value)
            };
            if let Some(new) = new {
                module.op_mut(op).attributes.set(name, new);
            }
        }
    }
}

/// The functions that choose a plan.
struct Common {
    module: Module,
    variants: Vec<Variant>,
}

impl Common {
    fn append(&mut self, block: BlockId, state: OpState) -> Vec<ValueId> {
        let op = self.module.create_op(state);
        self.module.append_op(block, op);
        self.module.op(op).results.clone()
    }

    fn call(&mut self, block: BlockId, name: &str, operands: &[ValueId], results: Vec<Type>) -> Vec<ValueId> {
        let state = OpState::new("tfrt.call")
            .attr("callee", Attribute::symbol(name))
            .operands(operands)
            .results(results);
        self.append(block, state)
    }

    fn prepared(&self) -> Vec<Type> {
        self.variants.iter().flat_map(|variant| variant.prepared.clone()).collect()
    }

    /// `func @setup() -> (…)`: what each plan prepares, one behind the other.
    fn emit_setup(&mut self) {
        let function = FunctionType { inputs: vec![], results: self.prepared() };
        let (_, block) = self.module.add_function(SETUP, function, Location::Unknown);
        let (mut returned, mut passed) = (Vec::new(), Vec::new());
        for number in 0..self.variants.len() {
            let Variant { size, prepared } = &self.variants[number];
            let (name, mut results) = (format!("{SETUP}{}", suffix(*size)), prepared.clone());
            results.push(Type::chain());
            let mut made = self.call(block, &name, &passed, results);
            let chain = made.pop();
            passed = made.get(CONSTANTS).copied().into_iter().chain(chain).collect();
            returned.extend(made);
        }
        self.append(block, OpState::new(RETURN).operands(returned));
    }

    /// `func @main(…, inputs…: !t.tensor) -> (!t.tensor, …)`, and a function for each plan that
    /// passes on what it takes.
    fn emit_main(&mut self, model: &Graph, input: usize) {
        let mut inputs = self.prepared();
        let prepared = inputs.len();
        inputs.resize(prepared + model.inputs.len(), tensor());
        let results = vec![tensor(); model.outputs.len()];
        let function = FunctionType { inputs, results: results.clone() };
        let mut first = 0;
        for number in 0..self.variants.len() {
            let name = format!("run{}", choice(self.variants[number].size));
            let (_, block) = self.module.add_function(name, function.clone(), Location::Unknown);
            let arguments = self.module.block(block).arguments.clone();
            let end = first + self.variants[number].prepared.len();
            let operands = [&arguments[first..end], &arguments[prepared..]].concat();
            let main = format!("{MAIN}{}", suffix(self.variants[number].size));
            let returned = self.call(block, &main, &operands, results.clone());
            self.append(block, OpState::new(RETURN).operands(returned));
            first = end;
        }
        let (_, block) = self.module.add_function(MAIN, function, Location::Unknown);
        let arguments = self.module.block(block).arguments.clone();
        let sizes = self.variants.iter().map(|variant| Attribute::i64(variant.size.cast_signed()));
        let name = model.inputs.get(input).map_or("", |input| &input.name);
        let state = OpState::new("tfrt_model.batch_number")
            .operands([arguments[prepared + input]])
            .attr("name", Attribute::string(name))
            .attr("sizes", Attribute::array(sizes.collect::<Vec<_>>()))
            .results([Type::int(32)]);
        let number = self.append(block, state);
        let choices = self.variants.iter().map(|variant| format!("run{}", choice(variant.size)));
        let choices = choices.map(Attribute::symbol).collect::<Vec<_>>();
        let state = OpState::new("tfrt.case")
            .operands([number, arguments].concat())
            .attr("branches", Attribute::array(choices))
            .attr("bef.nonstrict", Attribute::Unit)
            .results(results);
        let returned = self.append(block, state);
        self.append(block, OpState::new(RETURN).operands(returned));
    }
}

/// What the name of the function that calls a plan ends in.
fn choice(size: u64) -> String {
    format!("_if_batch_{size}")
}
