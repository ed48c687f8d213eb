//! Recurrent cells, whose gates are results, too.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::tensorflow::node::{Imported, Node};

pub(super) const OPS: Family = &[
    ("BlockLSTM", |node| lstm(node, "tf.BlockLSTM")),
    ("BlockLSTMV2", |node| lstm(node, "tf.BlockLSTMV2")),
    ("GRUBlockCell", gru_cell),
    ("LSTMBlockCell", lstm_cell),
];

/// The number of results of an LSTM.
const LSTM_RESULTS: usize = 7;

/// An LSTM over all steps. It is computed in `f32`.
fn lstm(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let count = node.input(0)?;
    let operands = node.inputs_from(1)?;
    let made = blocks(node, op, count, operands)?;
    Ok(made.into_iter().map(Into::into).collect())
}

/// The results of an LSTM for its inputs behind the number of steps, in their type.
fn blocks(
    node: &mut Node<'_, '_>,
    op: &str,
    count: ValueId,
    mut operands: Vec<ValueId>,
) -> Imported<Vec<ValueId>> {
    let first = *operands.first().ok_or("the op lacks inputs")?;
    let dtype = node.dtype(first)?;
    for operand in &mut operands {
        *operand = node.builder().cast(*operand, DType::F32)?;
    }
    operands.insert(0, count);
    let attributes = node.forwarded(op)?;
    let made = node.ops(op, &operands, &attributes, LSTM_RESULTS)?;
    made.into_iter().map(|value| Ok(node.builder().cast(value, dtype)?)).collect()
}

/// One step of an LSTM.
fn lstm_cell(node: &mut Node<'_, '_>) -> Imported {
    let mut operands = node.inputs_from(0)?;
    let first = operands.first_mut().ok_or("the op lacks inputs")?;
    let mut builder = node.builder();
    let (count, axis) = (builder.add_integer(1)?, builder.add_integer(0)?);
    *first = node.op("tf.ExpandDims", &[*first, axis], &[])?;
    let mut results = Vec::new();
    for value in blocks(node, "tf.BlockLSTM", count, operands)? {
        let only = node.builder().add_integer(0)?;
        results.push(node.op("tf.GatherV2", &[value, only, axis], &[])?.into());
    }
    Ok(results)
}

/// A product of a concatenation with a matrix, and a bias.
fn dense(node: &mut Node<'_, '_>, parts: [ValueId; 2], matrix: ValueId, bias: ValueId) -> Imported<ValueId> {
    let axis = node.builder().add_integer(1)?;
    let joined = node.op("tf.ConcatV2", &[parts[0], parts[1], axis], &[])?;
    let product = node.op("tf.MatMul", &[joined, matrix], &[])?;
    node.op("tf.AddV2", &[product, bias], &[])
}

/// One step of a GRU.
fn gru_cell(node: &mut Node<'_, '_>) -> Imported {
    let [x, state, gate_matrix, matrix] = [node.input(0)?, node.input(1)?, node.input(2)?, node.input(3)?];
    let (gate_bias, bias) = (node.input(4)?, node.input(5)?);
    let gates = dense(node, [x, state], gate_matrix, gate_bias)?;
    let gates = node.op("tf.Sigmoid", &[gates], &[])?;
    let axis = node.builder().add_integer(1)?;
    let parts = node.ops("tf.Split", &[axis, gates], &[("num_split", Attribute::i64(2))], 2)?;
    let (reset, update) = (parts[0], parts[1]);
    let kept = node.op("tf.Mul", &[state, reset], &[])?;
    let new = dense(node, [x, kept], matrix, bias)?;
    let new = node.op("tf.Tanh", &[new], &[])?;
    // (1 - update) * new + update * state
    let difference = node.op("tf.Sub", &[state, new], &[])?;
    let change = node.op("tf.Mul", &[update, difference], &[])?;
    let next = node.op("tf.AddV2", &[new, change], &[])?;
    Ok(vec![reset.into(), update.into(), new.into(), next.into()])
}
