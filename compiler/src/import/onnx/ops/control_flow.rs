//! Control flow: `If`, `Loop` and `Scan`, as `tf.If` and `tf.While` on functions.

use tfrt_host::DType;
use tfrt_ir::{AttrDict, Attribute, Diagnostics, ValueId};

use super::Family;
use crate::{
    TensorType,
    import::onnx::{
        Importer,
        node::{ImportError, Imported, Node, type_attribute},
        proto::GraphProto,
        subgraph::{Captures, Subgraph},
    },
};

pub(super) const OPS: Family = &[("If", conditional), ("Loop", repeat), ("Scan", scan)];

/// The operator set that took the batch dimension from `Scan`.
pub(super) const MIN_SCAN_OPSET: i64 = 9;

/// What a graph attribute holds, if there is one.
pub(super) fn optional_graph<'n>(node: &Node<'n, '_>, name: &str) -> Option<&'n GraphProto> {
    node.proto.attribute.iter().find(|attribute| attribute.name == name)?.g.as_deref()
}

fn graph<'n>(node: &Node<'n, '_>, name: &str) -> Imported<&'n GraphProto> {
    optional_graph(node, name).ok_or_else(|| ImportError(format!("attribute '{name}' is missing")))
}

fn symbols(names: [(&str, &Subgraph); 2]) -> AttrDict {
    names.into_iter().map(|(name, function)| (name, Attribute::symbol(function.name.as_str()))).collect()
}

fn conditional(node: &mut Node<'_, '_>) -> Imported {
    let condition = node.input(0)?;
    let branches = [graph(node, "then_branch")?, graph(node, "else_branch")?];
    let as_number = node.cast(condition, DType::I64)?;
    if let Some([truth]) = node.integers(as_number).as_deref() {
        return node.importer.import_inline(branches[usize::from(*truth == 0)], &[]);
    }
    let importer = &mut *node.importer;
    let captures = Captures::new(importer, &branches)?;
    let ([on_true, on_false], kinds) = import_branches(importer, branches, &captures)?;
    let both = on_true.results.iter().zip(&on_false.results);
    let types = both.map(|(a, b)| Ok(a.join(b)?.to_ir())).collect::<Imported<Vec<_>>>()?;
    let operands = [&[condition][..], &captures.values].concat();
    let attributes = symbols([("then_branch", &on_true), ("else_branch", &on_false)]);
    let results = importer.builder().append_op("tf.If", &operands, attributes, types);
    importer.unflattened(&results, &kinds)
}

/// Imports both branches. Models keep branches that are never taken for their inputs, and whose
/// shapes do not fit these: a branch that cannot be imported becomes one that fails if it is taken,
/// with a warning.
fn import_branches(
    importer: &mut Importer<'_>,
    branches: [&GraphProto; 2],
    captures: &Captures,
) -> Imported<([Subgraph; 2], Vec<bool>)> {
    let mut attempt = |graph| {
        let outer = std::mem::take(&mut importer.diagnostics);
        let imported = importer.import_branch(graph, captures);
        let inner = std::mem::replace(&mut importer.diagnostics, outer);
        (imported, inner)
    };
    let [(on_true, first), (on_false, second)] = branches.map(&mut attempt);
    let mut refused = |imported: &Subgraph, name: &str, why: Diagnostics, error: ImportError| {
        let why = why.iter().next().map_or(error.0, ToString::to_string);
        let message = format!("the {name} cannot be imported and fails if it is taken: {why}");
        importer.warn(message.clone());
        importer.import_failure(captures, &imported.results, &message)
    };
    match (on_true, on_false) {
        (Ok((on_true, kinds)), Ok((on_false, others))) => {
            importer.diagnostics.extend(first);
            importer.diagnostics.extend(second);
            if kinds != others {
                return Err("one branch gives a sequence where the other one gives a tensor".into());
            }
            Ok(([on_true, on_false], kinds))
        }
        (Ok((on_true, kinds)), Err(error)) => {
            let on_false = refused(&on_true, "else branch", second, error)?;
            importer.diagnostics.extend(first);
            Ok(([on_true, on_false], kinds))
        }
        (Err(error), Ok((on_false, kinds))) => {
            let on_true = refused(&on_false, "then branch", first, error)?;
            importer.diagnostics.extend(second);
            Ok(([on_true, on_false], kinds))
        }
        (Err(error), Err(_)) => {
            importer.diagnostics.extend(first);
            importer.diagnostics.extend(second);
            Err(error)
        }
    }
}

/// A loop on its way into `tf.While`: the iteration, the number of them, whether to go on, what is
/// carried, and lists of what each iteration gives.
struct Loop<'p> {
    body: &'p GraphProto,
    captures: Captures,
    /// Iteration, bound, condition, carried values, lists.
    state: Vec<ValueId>,
    types: Vec<TensorType>,
    /// The number of carried values, with two for each sequence.
    carried: usize,
    /// Which of the values that the body carries are sequences.
    kinds: Vec<bool>,
    /// Places in the state of sequences that are empty at first.
    empty: Vec<usize>,
    /// The types of what is added to the lists, once the body was imported.
    items: Vec<TensorType>,
}

/// Where the carried values begin in a loop's state.
const CARRIED: usize = 3;
/// The most dimensions that a tensor of a sequence has.
const MAX_RANK: usize = 64;
/// How often the body is imported, with less known of the carried values each time.
const MAX_ATTEMPTS: usize = 4;

impl Loop<'_> {
    /// Goes on while there are iterations left and the condition holds.
    fn condition(&self, importer: &mut Importer<'_>) -> Imported<Subgraph> {
        importer.make_function(&self.types, &self.captures, |importer, arguments| {
            let mut builder = importer.builder();
            let none: [(&str, Attribute); 0] = [];
            let is_left = builder.op("tf.Less", &arguments[..2], none.clone())?;
            Ok(vec![builder.op("tf.LogicalAnd", &[is_left, arguments[2]], none)?])
        })
    }

    /// One iteration. `inputs` makes the body's inputs of the state; outputs of the body are the
    /// condition, if it has one, the carried values, and what is added to the lists.
    fn step(
        &mut self,
        importer: &mut Importer<'_>,
        has_condition: bool,
        inputs: impl FnOnce(&mut Importer<'_>, &[ValueId]) -> Imported,
    ) -> Imported<Subgraph> {
        let (carried, count, kinds) = (self.carried, self.types.len(), &self.kinds);
        let mut items = Vec::new();
        let step = importer.make_function(&self.types, &self.captures, |importer, arguments| {
            let own = inputs(importer, arguments)?;
            let results = importer.import_captured(self.body, &own, &self.captures, &arguments[count..])?;
            let mut results = results.into_iter();
            let mut builder = importer.builder();
            let none: [(&str, Attribute); 0] = [];
            let one = builder.add_integer(1)?;
            let next = builder.op("tf.AddV2", &[arguments[0], one], none.clone())?;
            let missing = || ImportError("the body of the loop has too few outputs".to_owned());
            let goes_on = if has_condition { results.next().ok_or_else(missing)? } else { arguments[2] };
            let dims: [i64; 0] = [];
            let scalar = builder.add_integers(&dims)?;
            let goes_on = builder.op("tf.Reshape", &[goes_on, scalar], none.clone())?;
            let mut state = vec![next, arguments[1], goes_on];
            let kept: Vec<_> = results.by_ref().take(kinds.len()).collect();
            if !kept.iter().map(|&value| importer.is_sequence(value)).eq(kinds.iter().copied()) {
                return Err("the body of the loop changes which of its values are sequences".into());
            }
            state.extend(importer.flattened(&kept)?);
            let mut builder = importer.builder();
            for &list in &arguments[CARRIED + carried..count] {
                let item = results.next().ok_or_else(missing)?;
                let ty = builder.ty(list).ok_or_else(missing)?.to_ir();
                items.push(builder.ty(item).ok_or_else(missing)?);
                state.extend(builder.append_op(
                    "tf.TensorListPushBack",
                    &[list, item],
                    AttrDict::new(),
                    vec![ty],
                ));
            }
            state.extend(&arguments[count..]);
            Ok(state)
        })?;
        self.items = items;
        Ok(step)
    }

    /// Makes the lists anew if they are of other data types than what is added to them; whether any
    /// was.
    fn settle_lists(&mut self, importer: &mut Importer<'_>) -> Imported<bool> {
        let mut has_changed = false;
        for (place, item) in (CARRIED + self.carried..).zip(&self.items) {
            if self.types[place].dtype != item.dtype {
                self.state[place] = empty_list(importer, item.dtype)?;
                self.types[place] = TensorType::unranked(item.dtype);
                has_changed = true;
            }
        }
        Ok(has_changed)
    }

    /// Makes the sequences that are empty at first anew, if their first element tells their data
    /// type and rank; whether any was.
    fn settle_sequences(&mut self, importer: &mut Importer<'_>, results: &[TensorType]) -> Imported<bool> {
        let mut has_changed = false;
        for place in std::mem::take(&mut self.empty) {
            let rank = results[place + 1].dims.as_deref().and_then(|dims| *dims.get(1)?);
            let Some(rank) =
                rank.and_then(|rank| usize::try_from(rank).ok()).filter(|&rank| rank <= MAX_RANK)
            else {
                continue;
            };
            let packed = importer.empty_packed(results[place].dtype, rank)?;
            self.state[place..place + 2].copy_from_slice(&packed);
            for (slot, extents) in [(place, vec![None]), (place + 1, vec![None, Some(rank as u64)])] {
                let dtype = results[slot].dtype;
                self.types[slot] = TensorType::ranked(dtype, extents);
            }
            has_changed = true;
        }
        Ok(has_changed)
    }

    /// Appends the loop; gives its state at the end, without what is captured, and the types of
    /// what was added to the lists. `inputs` makes the body's inputs of the state.
    fn run(
        mut self,
        importer: &mut Importer<'_>,
        has_condition: bool,
        inputs: impl Fn(&mut Importer<'_>, &[ValueId]) -> Imported,
    ) -> Imported<(Vec<ValueId>, Vec<TensorType>)> {
        for attempt in 1.. {
            let step = self.step(importer, has_condition, &inputs)?;
            if self.settle_lists(importer)? || self.settle_sequences(importer, &step.results)? {
                importer.remove_function(&step);
                continue;
            }
            let next: Vec<_> = (self.types.iter().zip(&step.results))
                .map(|(before, after)| Ok(before.join(after)?))
                .collect::<Imported<_>>()?;
            if next != self.types && attempt < MAX_ATTEMPTS {
                // The body changes the types of the carried values, so import it again with weaker
                // types.
                importer.remove_function(&step);
                self.types = next;
                if attempt + 1 == MAX_ATTEMPTS {
                    self.types[CARRIED..].iter_mut().for_each(|ty| ty.dims = None);
                }
                continue;
            }
            let condition = self.condition(importer)?;
            let operands = [&self.state[..], &self.captures.values].concat();
            let mut types: Vec<_> = self.types.iter().map(TensorType::to_ir).collect();
            types.extend(importer.graph.module.types_of(&self.captures.values));
            let attributes = symbols([("cond", &condition), ("body", &step)]);
            let mut results = importer.builder().append_op("tf.While", &operands, attributes, types);
            results.truncate(self.state.len());
            return Ok((results, self.items));
        }
        Err("the loop's types do not settle".into())
    }
}

/// An empty list of tensors of a type.
fn empty_list(importer: &mut Importer<'_>, dtype: DType) -> Imported<ValueId> {
    let mut builder = importer.builder();
    let (unknown, none) = (builder.add_integer(-1)?, builder.add_integer(0)?);
    let attributes = [("element_dtype", type_attribute(dtype))].into_iter().collect();
    let ty = TensorType::unranked(dtype).to_ir();
    Ok(builder.append_op("tf.EmptyTensorList", &[unknown, none], attributes, vec![ty])[0])
}

/// A list as a tensor: its elements, of this type, one behind the other.
fn stacked(importer: &mut Importer<'_>, list: ValueId, element: TensorType) -> Imported<ValueId> {
    let TensorType { dtype, dims } = element;
    let mut builder = importer.builder();
    let shape = match &dims {
        Some(dims) => {
            let dims: Vec<i64> =
                dims.iter().map(|dim| dim.and_then(|dim| i64::try_from(dim).ok()).unwrap_or(-1)).collect();
            builder.add_integers(&dims)?
        }
        None => builder.add_integer(-1)?,
    };
    let dims = dims.map(|dims| [vec![None], dims].concat());
    let ty = TensorType { dtype, dims }.to_ir();
    Ok(builder.append_op("tf.TensorListStack", &[list, shape], AttrDict::new(), vec![ty])[0])
}

fn scalar(node: &mut Node<'_, '_>, value: ValueId) -> Imported<ValueId> {
    if node.ty(value)?.rank() == Some(0) { Ok(value) } else { node.reshape(value, &[]) }
}

fn repeat(node: &mut Node<'_, '_>) -> Imported {
    let body = graph(node, "body")?;
    let bound = match node.optional(0) {
        Some(bound) => scalar(node, bound)?,
        None => node.add_integer(i64::MAX)?,
    };
    let goes_on = match node.optional(1) {
        Some(condition) => scalar(node, condition)?,
        None => node.builder().add_elements(&[], &[true])?,
    };
    let initial = (2..node.inputs.len()).map(|index| node.input(index)).collect::<Imported<Vec<_>>>()?;
    let lists =
        body.output.len().checked_sub(1 + initial.len()).ok_or("the body of the loop has too few outputs")?;
    let mut state = vec![node.add_integer(0)?, bound, goes_on];
    let importer = &mut *node.importer;
    let kinds: Vec<bool> = initial.iter().map(|&value| importer.is_sequence(value)).collect();
    let mut empty = Vec::new();
    for &value in &initial {
        if importer.is_empty_sequence(value) {
            empty.push(state.len());
        }
        state.extend(importer.flattened(&[value])?);
    }
    let carried = state.len() - CARRIED;
    for _ in 0..lists {
        state.push(empty_list(importer, DType::F32)?);
    }
    let types = types_of(importer, &state)?;
    let captures = Captures::new(importer, &[body])?;
    let of_body = kinds.clone();
    let inputs = |importer: &mut Importer<'_>, arguments: &[ValueId]| {
        let mut inputs = vec![arguments[0], arguments[2]];
        inputs.extend(importer.unflattened(&arguments[CARRIED..CARRIED + carried], &of_body)?);
        Ok(inputs)
    };
    let repeated =
        Loop { body, captures, state, types, carried, kinds: kinds.clone(), empty, items: Vec::new() };
    let (results, items) = repeated.run(importer, true, inputs)?;
    let outputs = finish(importer, items, &results[CARRIED..], carried, &vec![(0, false); lists])?;
    let mut whole = importer.unflattened(&outputs[..carried], &kinds)?;
    whole.extend(&outputs[carried..]);
    Ok(whole)
}

/// The carried values, and the lists as tensors with their elements along an axis each, from the
/// last one to the first if it is reversed.
fn finish(
    importer: &mut Importer<'_>,
    items: Vec<TensorType>,
    results: &[ValueId],
    carried: usize,
    lists: &[(i64, bool)],
) -> Imported {
    let mut outputs = results[..carried].to_vec();
    for ((&list, &(axis, is_reversed)), element) in results[carried..].iter().zip(lists).zip(items) {
        let mut tensor = stacked(importer, list, element)?;
        let mut builder = importer.builder();
        let none: [(&str, Attribute); 0] = [];
        if is_reversed {
            let axes = builder.add_integers(&[0])?;
            tensor = builder.op("tf.ReverseV2", &[tensor, axes], none.clone())?;
        }
        if axis != 0 {
            let rank = builder.ty(tensor).and_then(|ty| ty.rank());
            let rank = rank.ok_or("a scan output along an axis needs a declared rank")? as i64;
            let axis = if axis < 0 { axis + rank } else { axis };
            let mut order: Vec<i64> = (1..rank).collect();
            order.insert(usize::try_from(axis).unwrap_or(0).min(order.len()), 0);
            let order = builder.add_integers(&order)?;
            tensor = builder.op("tf.Transpose", &[tensor, order], none)?;
        }
        outputs.push(tensor);
    }
    Ok(outputs)
}

fn types_of(importer: &Importer<'_>, values: &[ValueId]) -> Imported<Vec<TensorType>> {
    let types = values.iter().map(|&value| importer.graph.tensor_type(value));
    types.collect::<Option<_>>().ok_or_else(|| ImportError("a value of the loop is not a tensor".to_owned()))
}

fn scan(node: &mut Node<'_, '_>) -> Imported {
    if node.opset < MIN_SCAN_OPSET {
        return Err("Scan of operator set 8, which has a batch dimension, is not supported".into());
    }
    let body = graph(node, "body")?;
    let scanned = node.int("num_scan_inputs")?.and_then(|count| usize::try_from(count).ok());
    let scanned = scanned.filter(|&count| count > 0 && count <= node.inputs.len());
    let scanned = scanned.ok_or("attribute 'num_scan_inputs' does not suit the inputs")?;
    let carried = node.inputs.len() - scanned;
    let lists = body.output.len().checked_sub(carried).ok_or("the body of the scan has too few outputs")?;
    let list = |name: &str, count: usize| -> Imported<Vec<i64>> {
        let values = node.ints(name)?.unwrap_or_else(|| vec![0; count]);
        if values.len() == count {
            Ok(values)
        } else {
            Err(format!("attribute '{name}' needs {count} numbers").into())
        }
    };
    let (axes, directions) = (list("scan_input_axes", scanned)?, list("scan_input_directions", scanned)?);
    let (out_axes, out_directions) =
        (list("scan_output_axes", lists)?, list("scan_output_directions", lists)?);
    // What is scanned lies with its axis first, from its first element to its last.
    let mut sources = Vec::new();
    for (index, (&axis, &direction)) in axes.iter().zip(&directions).enumerate() {
        let mut source = node.input(carried + index)?;
        if axis != 0 {
            let rank = node.rank(source)?;
            let axis = node.axis(axis, rank)?;
            let mut order: Vec<i64> = (0..rank as i64).collect();
            let first = order.remove(axis);
            order.insert(0, first);
            source = node.transpose(source, &order)?;
        }
        if direction != 0 {
            let axes = node.add_integers(&[0])?;
            source = node.op("tf.ReverseV2", &[source, axes], &[])?;
        }
        sources.push(source);
    }
    let shape = super::shape::shape_of(node, sources[0])?;
    let (zero, first) = (node.add_integer(0)?, node.add_integer(0)?);
    let length = node.op("tf.GatherV2", &[shape, first, zero], &[])?;
    let truth = node.builder().add_elements(&[], &[true])?;
    let mut state = vec![node.add_integer(0)?, length, truth];
    for index in 0..carried {
        state.push(node.input(index)?);
    }
    // The sources are carried along unchanged, behind the other values.
    let importer = &mut *node.importer;
    let mut captures = Captures::new(importer, &[body])?;
    captures.add(&sources);
    for _ in 0..lists {
        state.push(empty_list(importer, DType::F32)?);
    }
    let types = types_of(importer, &state)?;
    let first_source = types.len() + captures.values.len() - sources.len();
    let inputs = |importer: &mut Importer<'_>, arguments: &[ValueId]| {
        let mut inputs = arguments[CARRIED..CARRIED + carried].to_vec();
        for &source in &arguments[first_source..] {
            let mut builder = importer.builder();
            let axis = builder.add_integer(0)?;
            let none: [(&str, Attribute); 0] = [];
            inputs.push(builder.op("tf.GatherV2", &[source, arguments[0], axis], none)?);
        }
        Ok(inputs)
    };
    let (kinds, empty) = (vec![false; carried], Vec::new());
    let repeated = Loop { body, captures, state, types, carried, kinds, empty, items: Vec::new() };
    let (results, items) = repeated.run(importer, false, inputs)?;
    let lists: Vec<_> =
        out_axes.iter().zip(&out_directions).map(|(&axis, &direction)| (axis, direction != 0)).collect();
    finish(importer, items, &results[CARRIED..], carried, &lists)
}
