//! The rows of a ragged tensor as the elements of a list, which a loop takes one after the other.
//!
//! Such a list is a name; where its rows begin and their values are held like the columns of a
//! table.

use std::sync::Arc;

use tfrt_host::DType;
use tfrt_ir::ValueId;

use super::{Family, columns_of, generic, sparse::gather, variables::set};
use crate::import::tensorflow::node::{Imported, Node, Value, type_attribute};

pub(super) const OPS: Family = &[
    ("RaggedTensorFromVariant", from_variant),
    ("RaggedTensorToVariant", to_variant),
    ("TensorListFromTensor", list),
    ("TensorListGetItem", row),
    ("TensorListLength", length),
];

fn to_variant(node: &mut Node<'_, '_>) -> Imported {
    let inputs = node.inputs_from(0)?;
    let [splits @ .., values] = &inputs[..] else { return Err("the op lacks inputs".into()) };
    match splits {
        // One tensor, or its rows, are a tensor.
        [] => Ok(vec![(*values).into()]),
        &[splits] if node.flag("batched_input")? => {
            let splits = node.builder().cast(splits, DType::I64)?;
            let name: Arc<str> = format!("{}/{}", node.importer.node_count, node.proto.name).into();
            for (column, value) in columns_of(&name).into_iter().zip([splits, *values]) {
                set(node, column, value);
            }
            Ok(vec![Value::Resource(name)])
        }
        _ => Err("only ragged tensors with one dimension of varying length are taken apart".into()),
    }
}

/// Where the rows of a list begin, and their values.
fn rows(node: &Node<'_, '_>, name: &str) -> Imported<[ValueId; 2]> {
    let [splits, values] = columns_of(name).map(|column| node.importer.state.variables.get(&column).copied());
    splits.zip(values).map(Into::into).ok_or_else(|| "a list of rows is not known here".into())
}

fn from_variant(node: &mut Node<'_, '_>) -> Imported {
    let rank = node.int("output_ragged_rank")?.unwrap_or(0);
    match (node.value(0)?.clone(), rank) {
        (Value::Resource(name), 1) => {
            let [splits, values] = rows(node, &name)?;
            let dtype = node.type_attr("Tsplits")?.unwrap_or(DType::I64);
            Ok(vec![node.builder().cast(splits, dtype)?.into(), values.into()])
        }
        (Value::Tensor(value), 0) => Ok(vec![value.into()]),
        _ => Err("rows of varying length cannot be put together to a ragged tensor".into()),
    }
}

/// A list whose elements are the rows of a tensor.
fn list(node: &mut Node<'_, '_>) -> Imported {
    match node.value(0)?.clone() {
        rows @ Value::Resource(_) => Ok(vec![rows]),
        _ => generic(node),
    }
}

fn row(node: &mut Node<'_, '_>) -> Imported {
    let Value::Resource(name) = node.value(0)?.clone() else { return generic(node) };
    let [splits, values] = rows(node, &name)?;
    let place = node.input(1)?;
    let mut builder = node.builder();
    let place = builder.cast(place, DType::I64)?;
    let form = builder.add_integers(&[1])?;
    let one = builder.add_integers(&[1])?;
    let place = node.op("tf.Reshape", &[place, form], &[])?;
    let next = node.op("tf.AddV2", &[place, one], &[])?;
    let (start, end) = (gather(node, splits, place)?, gather(node, splits, next)?);
    Ok(vec![node.op("tf.StridedSlice", &[values, start, end, one], &[])?.into()])
}

fn length(node: &mut Node<'_, '_>) -> Imported {
    let Value::Resource(name) = node.value(0)?.clone() else { return generic(node) };
    let [splits, _] = rows(node, &name)?;
    let count = node.op("tf.Size", &[splits], &[("out_type", type_attribute(DType::I32))])?;
    let one = node.builder().add_number(DType::I32, 1.0)?;
    Ok(vec![node.op("tf.Sub", &[count, one], &[])?.into()])
}
