//! Ragged tensors as variants: whole, or a variant for each row, which a loop takes one after the
//! other.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::tensorflow::node::{Imported, Node, Value, type_attribute};

pub(super) const OPS: Family =
    &[("RaggedTensorFromVariant", from_variant), ("RaggedTensorToVariant", to_variant)];

/// How many dimensions of a ragged tensor may vary.
const MAX_RANK: usize = 254;

fn to_variant(node: &mut Node<'_, '_>) -> Imported {
    let inputs = node.inputs_from(0)?;
    let op = match (&inputs[..], node.flag("batched_input")?) {
        ([], _) => return Err("the op lacks inputs".into()),
        // The rows of a tensor are a tensor.
        ([values], true) => return Ok(vec![(*values).into()]),
        (_, true) => "tfrt.RaggedToVariants",
        (_, false) => "tfrt.ToVariant",
    };
    Ok(vec![node.op(op, &inputs, &[])?.into()])
}

/// Whether a tensor is a string that holds a ragged tensor. A row of strings has a dimension.
fn is_variant(node: &Node<'_, '_>, value: ValueId) -> Imported<bool> {
    let ty = node.ty(value)?;
    let is_scalar = ty.rank() == Some(0);
    Ok(ty.dtype == DType::String && (is_scalar || node.type_attr("Tvalues")? != Some(DType::String)))
}

/// The ragged tensor that a variant is, or whose rows variants are.
fn from_variant(node: &mut Node<'_, '_>) -> Imported {
    let (variants, rank) = (node.input(0)?, node.int("output_ragged_rank")?.unwrap_or(0));
    if rank == 0 && !is_variant(node, variants)? {
        return Ok(vec![variants.into()]);
    }
    let count = usize::try_from(rank).ok().filter(|&count| count <= MAX_RANK);
    let count = count.ok_or_else(|| format!("output_ragged_rank must be 0 to {MAX_RANK}, got {rank}"))?;
    let dtype = node.type_attr("Tvalues")?.ok_or("attribute 'Tvalues' is missing")?;
    let splits = node.type_attr("Tsplits")?.unwrap_or(DType::I64);
    let attributes = [
        ("dtype", type_attribute(dtype)),
        ("ragged_rank", Attribute::i64(rank)),
        ("splits_dtype", type_attribute(splits)),
    ];
    let mut results = node.ops("tfrt.RaggedFromVariants", &[variants], &attributes, count + 1)?;
    // The values are the last output.
    results.rotate_left(1);
    Ok(results.into_iter().map(Value::from).collect())
}
