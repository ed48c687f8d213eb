//! Sequences and optional values, which are known when the model is compiled: a sequence is the list of its elements, and no
//! value of a program.
//!
//! In the op graph a sequence is an operation [`SEQUENCE`] with its elements as operands. Ops on sequences look through it,
//! and it is removed at the end of the import. A sequence that reaches a loop, a branch or an output is an error.

use tfrt_ir::{AttrDict, Attribute, OpId, Type, ValueDef, ValueId};

use super::Family;
use crate::import::onnx::{
    Importer,
    node::{ImportError, Imported, Node, ints},
};

pub(super) const OPS: Family = &[
    ("ConcatFromSequence", concat),
    ("Optional", optional),
    ("OptionalGetElement", optional_element),
    ("OptionalHasElement", optional_has_element),
    ("SequenceAt", at),
    ("SequenceConstruct", construct),
    ("SequenceEmpty", |node| make(node, Vec::new())),
    ("SequenceErase", erase),
    ("SequenceInsert", insert),
    ("SequenceLength", length),
    ("SequenceMap", map),
    ("SplitToSequence", split),
];

/// The operation that stands for a sequence.
const SEQUENCE: &str = "onnx.Sequence";

impl Importer<'_> {
    /// Removes sequences that nothing uses any more.
    ///
    /// # Errors
    /// A sequence that is used otherwise than by an op on sequences.
    pub(in crate::import::onnx) fn remove_sequences(&mut self) -> Imported<()> {
        let module = &mut self.graph.module;
        let is_sequence = |op: &OpId| module.op(*op).name == SEQUENCE;
        let mut sequences: Vec<_> = module.walk(module.root()).filter(is_sequence).collect();
        // Backwards, so that sequences of sequences go before their elements.
        sequences.reverse();
        for op in sequences {
            if module.has_used_results(op) {
                self.location = module.op(op).location.clone();
                return Err(
                    "the sequence is given to a loop, a branch or an output, which is not supported".into()
                );
            }
            module.erase_op(op);
        }
        Ok(())
    }
}

fn make(node: &mut Node<'_, '_>, elements: Vec<ValueId>) -> Imported {
    let ty = Type::dialect("onnx", "sequence");
    Ok(node.builder().append_op(SEQUENCE, &elements, AttrDict::new(), vec![ty]))
}

/// The elements of an input, if it is a sequence that is known.
fn known(node: &Node<'_, '_>, value: ValueId) -> Option<Vec<ValueId>> {
    let module = &node.importer.graph.module;
    let ValueDef::Result { op, .. } = module.value(value).def else { return None };
    let op = module.op(op);
    (op.name == SEQUENCE).then(|| op.operands.clone())
}

fn elements(node: &Node<'_, '_>, input: usize) -> Imported<Vec<ValueId>> {
    known(node, node.input(input)?).ok_or_else(|| {
        ImportError("the elements of the sequence are not known when the model is compiled".into())
    })
}

/// A position in a sequence of `count` places, counted from the end if it is negative; `None` if the model computes it.
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

fn known_position(node: &mut Node<'_, '_>, input: usize, count: usize) -> Imported<usize> {
    let place = position(node, input, count)?;
    place.ok_or_else(|| ImportError("a position that the model computes is not supported".into()))
}

fn construct(node: &mut Node<'_, '_>) -> Imported {
    let elements = node.all_inputs()?;
    make(node, elements)
}

fn at(node: &mut Node<'_, '_>) -> Imported {
    let elements = elements(node, 0)?;
    if let Some(place) = position(node, 1, elements.len())? {
        return Ok(vec![elements[place]]);
    }
    // Tensors of one shape can be chosen while the program runs.
    let types = elements.iter().map(|&element| node.ty(element)).collect::<Imported<Vec<_>>>()?;
    let is_uniform = types.windows(2).all(|pair| pair[0] == pair[1]) && !types.is_empty();
    if !is_uniform || types[0].static_dims().is_none() {
        return Err("a position that the model computes needs elements of one known shape".into());
    }
    let packed = node.op("tf.Pack", &elements, &[("axis", Attribute::i64(0))])?;
    let (count, axis) = (node.add_number_like(node.input(1)?, elements.len() as f64)?, node.add_integer(0)?);
    let place = node.op("tf.FloorMod", &[node.input(1)?, count], &[])?;
    Ok(vec![node.op("tf.GatherV2", &[packed, place, axis], &[])?])
}

fn erase(node: &mut Node<'_, '_>) -> Imported {
    let mut elements = elements(node, 0)?;
    let place = match node.optional(1) {
        None => elements.len().checked_sub(1).ok_or("an empty sequence has no last element")?,
        Some(_) => known_position(node, 1, elements.len())?,
    };
    elements.remove(place);
    make(node, elements)
}

fn insert(node: &mut Node<'_, '_>) -> Imported {
    let mut elements = elements(node, 0)?;
    let place = match node.optional(2) {
        None => elements.len(),
        // A position may also be the end, and negative ones count from the end of what is there.
        Some(value) => match node.integers(value).as_deref() {
            Some([place]) if *place == elements.len() as i64 => elements.len(),
            _ => known_position(node, 2, elements.len())?,
        },
    };
    elements.insert(place, node.input(1)?);
    make(node, elements)
}

fn length(node: &mut Node<'_, '_>) -> Imported {
    let count = elements(node, 0)?.len();
    Ok(vec![node.add_integer(count as i64)?])
}

fn concat(node: &mut Node<'_, '_>) -> Imported {
    let mut elements = elements(node, 0)?;
    let axis = node.int("axis")?.ok_or("attribute 'axis' is missing")?;
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
    let chunks = |chunk: i64| {
        let extent =
            extent.ok_or("the extent of what is split is not known; give its shape with --input-shape")?;
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
