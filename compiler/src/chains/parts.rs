//! Parts of contents: kernels that access disjoint parts of one operand need no order.
//!
//! A [`Class`] stands for contents that may be the same. Where a body makes parts of one value, at
//! offsets and of sizes that the text says, the class is cut into pieces at the ends of all parts.
//! An access of a part is then one of its pieces, and any other access one of the whole class.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Range,
};

use tfrt_ir::{Attribute, BlockId, Module, Operation, ValueId};

use super::effects::{Effects, Purpose};
use crate::plan::order::{Access, Class};

/// The most pieces of a class. An access of the whole accesses each of them.
const MAX_PIECES: usize = 1000;

/// What offsets and sizes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Bytes,
    Elements,
}

/// A part of a value, or all of it.
#[derive(Clone, Debug)]
struct Part {
    of: ValueId,
    range: Option<(Unit, Range<i128>)>,
}

/// The values that are parts of one value, and what they cover of it.
type Ranges = Vec<(ValueId, Range<i128>)>;

/// The pieces of the contents that a body accesses.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// For each value that is a part the pieces of its class.
    of_part: HashMap<ValueId, Vec<Class>>,
    /// For each class that has pieces all of them, but for the contents in no part.
    of_class: HashMap<Class, Vec<Class>>,
    /// The class of each piece.
    classes: HashMap<Class, Class>,
}

impl Pieces {
    /// Finds the pieces. There are none where chains are inserted, because the order of whole contents
    /// is simpler to read.
    pub(super) fn new(effects: &Effects<'_>, block: BlockId) -> Pieces {
        let mut pieces = Pieces::default();
        if effects.purpose == Purpose::Insert {
            return pieces;
        }
        let mut ranges: BTreeMap<(Class, ValueId, Unit), Ranges> = BTreeMap::new();
        for (value, part) in parts(effects.module, block) {
            if let Some((unit, range)) = part.range {
                ranges.entry((effects.class_of(value), part.of, unit)).or_default().push((value, range));
            }
        }
        // Nothing is known of how parts of two values of a class lie, so that only those of one value
        // have pieces: those of the value with the most.
        let mut chosen: BTreeMap<Class, Ranges> = BTreeMap::new();
        for ((class, ..), parts) in ranges {
            let best = chosen.entry(class).or_default();
            if parts.len() > best.len() {
                *best = parts;
            }
        }
        let mut next = effects.class_count();
        for (class, parts) in chosen {
            let ends: BTreeSet<i128> = parts.iter().flat_map(|(_, range)| [range.start, range.end]).collect();
            let ends: Vec<i128> = ends.into_iter().collect();
            if parts.len() < 2 || ends.len() > MAX_PIECES {
                continue;
            }
            let first = next;
            next += ends.len() - 1;
            for (value, range) in parts {
                let within = ends.iter().enumerate().filter(|(_, end)| range.contains(end));
                pieces.of_part.insert(value, within.map(|(index, _)| first + index).collect());
            }
            pieces.of_class.insert(class, (first..next).collect());
            pieces.classes.extend((first..next).map(|piece| (piece, class)));
        }
        pieces
    }

    /// Returns the accesses of a class, through a value if that is known, as accesses of pieces.
    pub(super) fn split(&self, access: Access, value: Option<ValueId>) -> Vec<Access> {
        let Some(all) = self.of_class.get(&access.class) else { return vec![access] };
        let piece = |&class: &Class| Access { class, ..access };
        match value.and_then(|value| self.of_part.get(&value)) {
            Some(part) => part.iter().map(piece).collect(),
            None => all.iter().map(piece).chain([access]).collect(),
        }
    }

    /// Returns the class that a piece belongs to.
    pub(super) fn class_of(&self, piece: Class) -> Class {
        self.classes.get(&piece).copied().unwrap_or(piece)
    }
}

/// The values of a block that are parts of others, or all of them.
fn parts(module: &Module, block: BlockId) -> HashMap<ValueId, Part> {
    let mut parts: HashMap<ValueId, Part> = HashMap::new();
    for (_, data) in module.ops_in(block) {
        let Some((range, value)) = taken(module, data).zip(data.results.first()) else { continue };
        let Some(&whole) = data.operands.first() else { continue };
        let outer = parts.get(&whole).cloned().unwrap_or(Part { of: whole, range: None });
        let range = match (outer.range, range) {
            (None, inner) => inner,
            (Some((unit, outer)), Some((inner_unit, inner))) if unit == inner_unit => {
                Some((unit, outer.start + inner.start..outer.start + inner.end))
            }
            // Whatever the other unit says, it is within the outer part.
            (outer, _) => outer,
        };
        parts.insert(*value, Part { of: outer.of, range });
    }
    parts
}

/// Returns the part of its first operand that the first result of an operation is, if the operation
/// is one that makes parts. The part is `None` if it is all of the operand, or not known.
#[expect(clippy::option_option, reason = "no part, all of it, or a range")]
fn taken(module: &Module, data: &Operation) -> Option<Option<(Unit, Range<i128>)>> {
    let number = |name: &str| data.attr(name).and_then(Attribute::as_int);
    let constant = |operand: usize| {
        let op = module.op(module.defining_op(*data.operands.get(operand)?)?);
        op.name.starts_with("tfrt.constant.").then(|| op.attr("value")?.as_int())?
    };
    let range = |unit: Unit, offset: Option<i128>, size: Option<i128>| {
        let (offset, size) = (offset?, size?);
        let end = offset.checked_add(size)?;
        (offset >= 0 && size >= 0).then_some((unit, offset..end))
    };
    let part = match data.name.as_str() {
        "tfrt_dht.get_buffer" => return Some(None),
        "tfrt_cuda.mem.slice" => range(Unit::Bytes, number("offset"), number("size")),
        "tfrt_dht.get_buffer_slice" | "tfrt_dht_sync.get_buffer_slice" => {
            range(Unit::Bytes, constant(1), constant(2))
        }
        "tfrt_dist.bucket_part" => {
            let dims = data.attr("shape").and_then(Attribute::as_array);
            let size = dims
                .and_then(|dims| dims.iter().try_fold(1_i128, |size, dim| size.checked_mul(dim.as_int()?)));
            range(Unit::Elements, number("offset"), size)
        }
        _ => return None,
    };
    // A part that the text does not say is part of nothing that is known.
    part.map(Some)
}
