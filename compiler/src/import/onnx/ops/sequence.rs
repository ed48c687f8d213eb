//! Sequences and optional values.
//!
//! A sequence is no value of a program. Where its elements are known when the model is compiled, it
//! is the list of them: an operation [`SEQUENCE`] in the op graph, with the elements as operands,
//! through which ops on sequences look. A sequence that a loop or a branch makes is two tensors,
//! its elements and their shapes: an operation [`PACKED`] with these as operands. Both operations
//! are removed at the end of the import.

use tfrt_host::DType;
use tfrt_ir::{AttrDict, Attribute, OpId, Type, ValueDef, ValueId};

use super::Family;
use crate::import::onnx::{
    Importer,
    node::{ImportError, Imported, Node, ints, type_attribute},
};

pub(super) const OPS: Family = &[
    ("ConcatFromSequence", concat),
    ("Optional", optional),
    ("OptionalGetElement", optional_element),
    ("OptionalHasElement", optional_has_element),
    ("SequenceAt", at),
    ("SequenceConstruct", construct),
    ("SequenceEmpty", empty),
    ("SequenceErase", erase),
    ("SequenceInsert", insert),
    ("SequenceLength", length),
    ("SequenceMap", map),
    ("SplitToSequence", split),
];

/// The operation that stands for a sequence of known elements.
const SEQUENCE: &str = "onnx.Sequence";
/// The operation that stands for a sequence of two tensors.
const PACKED: &str = "onnx.PackedSequence";
/// The attribute of a sequence without elements that says their data type.
const DTYPE: &str = "dtype";

/// The elements of a sequence, and the shapes of its tensors.
pub(in crate::import::onnx) type Packed = [ValueId; 2];

impl Importer<'_> {
    /// Removes sequences that nothing uses any more.
    ///
    /// # Errors
    /// A sequence that is used otherwise than by an op on sequences.
    pub(in crate::import::onnx) fn remove_sequences(&mut self) -> Imported<()> {
        let module = &mut self.graph.module;
        let is_sequence = |op: &OpId| [SEQUENCE, PACKED].contains(&module.op(*op).name.as_str());
        let mut sequences: Vec<_> = module.walk(module.root()).filter(is_sequence).collect();
        // Backwards, so that sequences of sequences go before their elements.
        sequences.reverse();
        for op in sequences {
            if module.has_used_results(op) {
                self.location = module.op(op).location.clone();
                return Err("the sequence is given to an op that takes none".into());
            }
            module.erase_op(op);
        }
        Ok(())
    }

    /// The operands of the operation of this name that defines a value.
    fn operands_of(&self, value: ValueId, name: &str) -> Option<Vec<ValueId>> {
        let module = &self.graph.module;
        let ValueDef::Result { op, .. } = module.value(value).def else { return None };
        let op = module.op(op);
        (op.name == name).then(|| op.operands.clone())
    }

    /// The elements of a sequence, if they are known.
    fn known_sequence(&self, value: ValueId) -> Option<Vec<ValueId>> {
        self.operands_of(value, SEQUENCE)
    }

    /// Whether a value is a sequence.
    pub(in crate::import::onnx) fn is_sequence(&self, value: ValueId) -> bool {
        [SEQUENCE, PACKED].iter().any(|name| self.operands_of(value, name).is_some())
    }

    /// Whether a value is a sequence that is known to have no elements.
    pub(in crate::import::onnx) fn is_empty_sequence(&self, value: ValueId) -> bool {
        self.known_sequence(value).is_some_and(|elements| elements.is_empty())
    }

    /// A sequence as two tensors.
    pub(in crate::import::onnx) fn packed(&mut self, value: ValueId) -> Imported<Packed> {
        if let Some(packed) = self.operands_of(value, PACKED) {
            return <Packed>::try_from(packed).map_err(|_| "a sequence is not two tensors".into());
        }
        let elements = self.known_sequence(value).ok_or("a value is not a sequence")?;
        let dtype = match elements.first() {
            Some(&first) => {
                self.graph.tensor_type(first).ok_or("an element of a sequence is not a tensor")?.dtype
            }
            None => self.empty_dtype(value),
        };
        let mut packed = self.empty_packed(dtype, 0)?;
        for element in elements {
            let none: [(&str, Attribute); 0] = [];
            let operands = [packed[0], packed[1], element];
            let results = self.builder().ops("onnx.SequenceInsert", &operands, none, 2)?;
            packed = [results[0], results[1]];
        }
        Ok(packed)
    }

    /// The tensors that an output of the model is: itself, or the elements of a sequence, which are
    /// called `name.0`, `name.1` and so on.
    ///
    /// # Errors
    /// A sequence whose length is not known.
    pub(in crate::import::onnx) fn output_tensors(
        &self,
        name: &str,
        value: ValueId,
    ) -> Imported<Vec<(String, ValueId)>> {
        match self.known_sequence(value) {
            Some(elements) => {
                let tensors = elements.into_iter().enumerate();
                let tensors =
                    tensors.map(|(index, element)| self.output_tensors(&format!("{name}.{index}"), element));
                Ok(tensors.collect::<Imported<Vec<_>>>()?.concat())
            }
            None if self.is_sequence(value) => Err(format!(
                "output '{name}' is a sequence whose length is not known before the model runs; join its \
                 elements with ConcatFromSequence"
            )
            .into()),
            None => Ok(vec![(name.to_owned(), value)]),
        }
    }

    fn empty_dtype(&self, value: ValueId) -> DType {
        let module = &self.graph.module;
        let ValueDef::Result { op, .. } = module.value(value).def else { return DType::F32 };
        match module.op(op).attributes.get(DTYPE) {
            Some(Attribute::Type(ty)) => tfrt_convert::data_type(ty).unwrap_or(DType::F32),
            _ => DType::F32,
        }
    }

    /// A sequence without elements, as two tensors.
    pub(in crate::import::onnx) fn empty_packed(&mut self, dtype: DType, rank: usize) -> Imported<Packed> {
        let data = self.builder().add_integers(&[])?;
        let data = self.builder().cast(data, dtype)?;
        let shapes: [i64; 0] = [];
        Ok([data, self.builder().add_elements(&[0, rank], &shapes)?])
    }

    /// The sequence that two tensors are.
    pub(in crate::import::onnx) fn mark_packed(&mut self, packed: Packed) -> ValueId {
        let ty = Type::dialect("onnx", "sequence");
        self.builder().append_op(PACKED, &packed, AttrDict::new(), vec![ty])[0]
    }
}

fn make(node: &mut Node<'_, '_>, elements: Vec<ValueId>) -> Imported {
    let ty = Type::dialect("onnx", "sequence");
    Ok(node.builder().append_op(SEQUENCE, &elements, AttrDict::new(), vec![ty]))
}

fn empty(node: &mut Node<'_, '_>) -> Imported {
    let dtype = node.dtype_attribute("dtype")?.unwrap_or(DType::F32);
    let attributes = [(DTYPE, type_attribute(dtype))].into_iter().collect();
    let ty = Type::dialect("onnx", "sequence");
    Ok(node.builder().append_op(SEQUENCE, &[], attributes, vec![ty]))
}

/// The elements of an input, if it is a sequence that is known.
fn known(node: &Node<'_, '_>, value: ValueId) -> Option<Vec<ValueId>> {
    node.importer.known_sequence(value)
}

fn elements(node: &Node<'_, '_>, input: usize) -> Imported<Vec<ValueId>> {
    known(node, node.input(input)?).ok_or_else(|| {
        ImportError("the elements of the sequence are not known when the model is compiled".into())
    })
}

/// A position in a sequence of `count` places, counted from the end if it is negative; `None` if
/// the model computes it.
fn position(node: &mut Node<'_, '_>, input: usize, count: usize) -> Imported<Option<usize>> {
    let value = node.input(input)?;
    let Some([position]) = node.integers(value).as_deref().and_then(|list| <[i64; 1]>::try_from(list).ok())
    else {
        return Ok(None);
    };
    let counted = if position < 0 { position.saturating_add(count as i64) } else { position };
    match usize::try_from(counted) {
        Ok(place) if place < count => Ok(Some(place)),
        _ => Err(format!("position {position} is outside of a sequence with {count} places").into()),
    }
}

/// Appends an op on the first input as two tensors, whose results are a sequence as two tensors.
fn repacked(node: &mut Node<'_, '_>, op: &str, others: &[Option<ValueId>]) -> Imported {
    let [data, shapes] = node.importer.packed(node.input(0)?)?;
    let operands = [&[Some(data), Some(shapes)], others].concat();
    let results = node.onnx_ops(op, &operands, &[], 2)?;
    Ok(vec![node.importer.mark_packed([results[0], results[1]])])
}

fn construct(node: &mut Node<'_, '_>) -> Imported {
    let elements = node.all_inputs()?;
    make(node, elements)
}

fn at(node: &mut Node<'_, '_>) -> Imported {
    let sequence = node.input(0)?;
    if let Some(elements) = known(node, sequence)
        && let Some(place) = position(node, 1, elements.len())?
    {
        return Ok(vec![elements[place]]);
    }
    let ([data, shapes], place) = (node.importer.packed(sequence)?, node.input(1)?);
    Ok(vec![node.op("onnx.SequenceAt", &[data, shapes, place], &[])?])
}

fn erase(node: &mut Node<'_, '_>) -> Imported {
    let sequence = node.input(0)?;
    let place = node.optional(1);
    let Some(mut elements) = known(node, sequence) else {
        return repacked(node, "onnx.SequenceErase", &[place]);
    };
    let place = match place {
        None => elements.len().checked_sub(1).ok_or("an empty sequence has no last element")?,
        Some(value) => match position(node, 1, elements.len())? {
            Some(place) => place,
            None => return repacked(node, "onnx.SequenceErase", &[Some(value)]),
        },
    };
    elements.remove(place);
    make(node, elements)
}

fn insert(node: &mut Node<'_, '_>) -> Imported {
    let (sequence, tensor, place) = (node.input(0)?, node.input(1)?, node.optional(2));
    let Some(mut elements) = known(node, sequence) else {
        return repacked(node, "onnx.SequenceInsert", &[Some(tensor), place]);
    };
    let place = match place {
        None => elements.len(),
        // A position may also be the end, and negative ones count from the end of what is there.
        Some(value) => match node.integers(value).as_deref() {
            Some([place]) if *place == elements.len() as i64 => elements.len(),
            _ => match position(node, 2, elements.len())? {
                Some(place) => place,
                None => return repacked(node, "onnx.SequenceInsert", &[Some(tensor), Some(value)]),
            },
        },
    };
    elements.insert(place, tensor);
    make(node, elements)
}

fn length(node: &mut Node<'_, '_>) -> Imported {
    let sequence = node.input(0)?;
    if let Some(elements) = known(node, sequence) {
        return Ok(vec![node.add_integer(elements.len() as i64)?]);
    }
    let [_, shapes] = node.importer.packed(sequence)?;
    Ok(vec![super::dims::Extent::Of(shapes, 0).to_scalar(node)?])
}

fn concat(node: &mut Node<'_, '_>) -> Imported {
    let axis = node.int("axis")?.ok_or("attribute 'axis' is missing")?;
    let sequence = node.input(0)?;
    let Some(mut elements) = known(node, sequence) else {
        let [data, shapes] = node.importer.packed(sequence)?;
        let attributes =
            [("axis", Attribute::i64(axis)), ("new_axis", Attribute::i64(node.int_or("new_axis", 0)?))];
        return Ok(vec![node.op("onnx.ConcatFromSequence", &[data, shapes], &attributes)?]);
    };
    if elements.is_empty() {
        return Err("an empty sequence has no data type".into());
    }
    if node.flag("new_axis")? {
        return Ok(vec![node.op("tf.Pack", &elements, &[("axis", Attribute::i64(axis))])?]);
    }
    if let [only] = elements[..] {
        return Ok(vec![only]);
    }
    elements.push(node.add_integer(axis)?);
    Ok(vec![node.op("tf.ConcatV2", &elements, &[])?])
}

/// How many elements a sequence may have that a tensor is split into.
const MAX_PARTS: i64 = 4096;

fn split(node: &mut Node<'_, '_>) -> Imported {
    let (x, sizes) = (node.input(0)?, node.optional(1));
    let (rank, axis) = (node.rank(x)?, node.int_or("axis", 0)?);
    let axis = node.axis(axis, rank)?;
    let extent = node.dims(x)?[axis].and_then(|extent| i64::try_from(extent).ok());
    let is_known = match sizes {
        None => extent.is_some_and(|extent| extent < MAX_PARTS),
        Some(sizes) => match (&node.dims(sizes)?[..], node.integers(sizes)) {
            ([], Some(_)) => extent.is_some(),
            ([count], _) => count.is_some_and(|count| count < MAX_PARTS as u64),
            _ => false,
        },
    };
    if !is_known {
        let attributes = node.forwarded(&["axis", "keepdims"])?;
        let results = node.onnx_ops("onnx.SplitToSequence", &[Some(x), sizes], &attributes, 2)?;
        return Ok(vec![node.importer.mark_packed([results[0], results[1]])]);
    }
    let chunks = |chunk: i64| {
        let extent = extent.unwrap_or(0);
        if chunk <= 0 || extent / chunk >= MAX_PARTS {
            return Err(format!("{extent} elements cannot be split into parts of {chunk}"));
        }
        let rest = extent % chunk;
        let whole = std::iter::repeat_n(chunk, usize::try_from(extent / chunk).unwrap_or(0));
        Ok(whole.chain((rest > 0).then_some(rest)).collect::<Vec<_>>())
    };
    let (sizes, count) = match sizes {
        None => {
            let sizes = chunks(1)?;
            (node.add_integers(&sizes)?, sizes.len())
        }
        Some(value) => match (&node.dims(value)?[..], node.integers(value).as_deref()) {
            ([], Some([chunk])) => {
                let sizes = chunks(*chunk)?;
                (node.add_integers(&sizes)?, sizes.len())
            }
            ([Some(count)], _) if *count < MAX_PARTS as u64 => (value, *count as usize),
            _ => return Err("the number of parts is not known when the model is compiled".into()),
        },
    };
    if count == 0 {
        return make(node, Vec::new());
    }
    let place = node.add_integer(axis as i64)?;
    let attributes = [("num_split", Attribute::i64(count as i64))];
    let mut parts = node.ops("tf.SplitV", &[x, sizes, place], &attributes, count)?;
    if node.optional(1).is_none() && node.int_or("keepdims", 1)? == 0 {
        for part in &mut parts {
            *part = node.op("tf.Squeeze", &[*part], &[("squeeze_dims", ints(&[axis as i64]))])?;
        }
    }
    make(node, parts)
}

/// Imports the body once for each element; inputs that are no sequences are the same for all.
fn map(node: &mut Node<'_, '_>) -> Imported {
    let attribute = node.proto.attribute.iter().find(|attribute| attribute.name == "body");
    let body = attribute.and_then(|attribute| attribute.g.as_deref()).ok_or("attribute 'body' is missing")?;
    let count = elements(node, 0)?.len();
    let inputs = node.all_inputs()?;
    let lists: Vec<_> = inputs.iter().map(|&input| known(node, input)).collect();
    if lists.iter().flatten().any(|list| list.len() != count) {
        return Err("the sequences have different lengths".into());
    }
    let mut outputs = vec![Vec::new(); node.output_count()];
    for place in 0..count {
        let given =
            inputs.iter().zip(&lists).map(|(&input, list)| list.as_ref().map_or(input, |list| list[place]));
        let given: Vec<_> = given.collect();
        let results = node.importer.import_inline(body, &given)?;
        if results.len() < outputs.len() {
            return Err("the body has too few outputs".into());
        }
        outputs.iter_mut().zip(results).for_each(|(output, result)| output.push(result));
    }
    let sequences = outputs.into_iter().map(|elements| Ok(make(node, elements)?[0]));
    sequences.collect()
}

/// A value that is there is the value itself.
fn optional(node: &mut Node<'_, '_>) -> Imported {
    let value = node.optional(0).ok_or("an optional without a value is not supported")?;
    Ok(vec![value])
}

fn optional_element(node: &mut Node<'_, '_>) -> Imported {
    Ok(vec![node.input(0)?])
}

fn optional_has_element(node: &mut Node<'_, '_>) -> Imported {
    let is_there = node.optional(0).is_some();
    Ok(vec![node.builder().add_elements(&[], &[is_there])?])
}
