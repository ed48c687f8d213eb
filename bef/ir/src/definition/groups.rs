//! Divides operands or results among the specifications of a definition.
//!
//! A single variadic specification takes what the others leave. With several, an attribute gives
//! the size of each group, as in MLIR: `operand_segment_sizes = dense<[1, 2, 0]> : vector<3xi32>`.

use std::ops::Range;

use super::{OpDefinition, ValueSpec};
use crate::{AttrDict, Attribute, DenseElements, Operation, Type, ValueId};

/// The attribute with the sizes of operand groups, for operations with several variadic groups.
pub const OPERAND_SEGMENT_SIZES: &str = "operand_segment_sizes";
/// The attribute with the sizes of result groups, for operations with several variadic groups.
pub const RESULT_SEGMENT_SIZES: &str = "result_segment_sizes";

/// Creates the attribute with the sizes of groups; see [`OPERAND_SEGMENT_SIZES`].
pub fn segment_sizes(sizes: &[usize]) -> Attribute {
    let sizes: Vec<i32> = sizes.iter().map(|&size| i32::try_from(size).unwrap_or(i32::MAX)).collect();
    Attribute::Dense(DenseElements::i32_vector(&sizes).into())
}

/// Reads the attribute with the sizes of groups.
fn sizes_of(attribute: &Attribute) -> Option<Vec<usize>> {
    let Attribute::Dense(dense) = attribute else { return None };
    if *dense.element_type() != Type::int(32) || dense.shape().len() != 1 {
        return None;
    }
    let bytes = dense.to_bytes()?;
    let sizes = bytes.chunks_exact(4).map(|size| <[u8; 4]>::try_from(size).ok().map(i32::from_le_bytes));
    sizes.map(|size| usize::try_from(size?).ok()).collect()
}

/// Returns whether the number of values does not determine the sizes of the groups.
pub(crate) fn has_several_variadic(specs: &[ValueSpec]) -> bool {
    specs.iter().filter(|spec| spec.variadic).count() > 1
}

/// The values of an operation, divided among the specifications of its definition.
#[derive(Debug)]
pub(crate) struct Groups<'a> {
    specs: &'a [ValueSpec],
    sizes: Sizes,
}

#[derive(Debug)]
enum Sizes {
    /// Sizes are one each, except that the single variadic group, if any, has this size.
    OneVariadic(usize),
    /// One size for each specification.
    Given(Vec<usize>),
}

impl<'a> Groups<'a> {
    /// Divides `count` values. `attribute` gives the sizes if the count alone does not.
    ///
    /// # Errors
    /// The unmet requirement, as the end of a sentence that begins with the operation's name.
    /// `what` is "operand" or "result".
    pub(crate) fn new(
        specs: &'a [ValueSpec],
        count: usize,
        attributes: &AttrDict,
        attribute: &str,
        what: &str,
    ) -> Result<Groups<'a>, String> {
        let single = specs.iter().filter(|spec| !spec.variadic).count();
        if specs.len() - single > 1 {
            let sizes = attributes.get(attribute).and_then(sizes_of).filter(|sizes| {
                let single_fit = |(spec, size): (&ValueSpec, &usize)| spec.variadic || *size == 1;
                sizes.len() == specs.len()
                    && specs.iter().zip(sizes).all(single_fit)
                    && sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size)) == Some(count)
            });
            let sizes = sizes.ok_or_else(|| {
                let expected = format!("{} group sizes that add up to its {count} {what}s", specs.len());
                format!("requires attribute '{attribute}' with {expected}")
            })?;
            return Ok(Groups { specs, sizes: Sizes::Given(sizes) });
        }
        let has_variadic = single < specs.len();
        if count < single || (count > single && !has_variadic) {
            let least = if has_variadic { "at least " } else { "" };
            let plural = if single == 1 { "" } else { "s" };
            return Err(format!("requires {least}{single} {what}{plural}, but has {count}"));
        }
        Ok(Groups { specs, sizes: Sizes::OneVariadic(count - single) })
    }

    fn size(&self, index: usize) -> usize {
        match &self.sizes {
            Sizes::Given(sizes) => sizes.get(index).copied().unwrap_or(0),
            Sizes::OneVariadic(spare) => match self.specs.get(index) {
                Some(spec) if spec.variadic => *spare,
                Some(_) => 1,
                None => 0,
            },
        }
    }

    /// Returns the positions of the values of specification `index`.
    pub(crate) fn range(&self, index: usize) -> Range<usize> {
        let start: usize = (0..index).map(|index| self.size(index)).sum();
        start..start + self.size(index)
    }

    /// Returns each specification with its part of the values.
    pub(crate) fn pairs<'v>(
        &'v self,
        values: &'v [ValueId],
    ) -> impl Iterator<Item = (&'a ValueSpec, &'v [ValueId])> {
        let mut rest = values;
        self.specs.iter().enumerate().map(move |(index, spec)| {
            let (group, others) = rest.split_at(self.size(index).min(rest.len()));
            rest = others;
            (spec, group)
        })
    }
}

impl OpDefinition {
    /// Divides the operands of an operation among the definition's specifications.
    pub(crate) fn operand_groups(&self, op: &Operation) -> Result<Groups<'_>, String> {
        let count = op.operands.len();
        Groups::new(&self.operands, count, &op.attributes, OPERAND_SEGMENT_SIZES, "operand")
    }

    /// Divides the results of an operation among the definition's specifications.
    pub(crate) fn result_groups(&self, op: &Operation) -> Result<Groups<'_>, String> {
        Groups::new(&self.results, op.results.len(), &op.attributes, RESULT_SEGMENT_SIZES, "result")
    }

    /// Returns the operands of specification `index`, or `None` if the operation does not fit the
    /// definition.
    pub fn operand_group<'m>(&self, op: &'m Operation, index: usize) -> Option<&'m [ValueId]> {
        op.operands.get(self.operand_groups(op).ok()?.range(index))
    }

    /// Returns the results of specification `index`, or `None` if the operation does not fit the
    /// definition.
    pub fn result_group<'m>(&self, op: &'m Operation, index: usize) -> Option<&'m [ValueId]> {
        op.results.get(self.result_groups(op).ok()?.range(index))
    }
}
