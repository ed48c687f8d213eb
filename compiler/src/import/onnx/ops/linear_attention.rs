//! Attention without a softmax, and the convolution before it, which both carry a state from call
//! to call.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{Family, convolution::convolve_rows, dims::known_extent};
use crate::import::onnx::node::{Imported, Node};

pub(super) const OPS: Family =
    &[("CausalConvWithState", causal_convolution), ("LinearAttention", linear_attention)];

/// A convolution of each channel over the steps so far. The state is what the next call has to know
/// of them.
fn causal_convolution(node: &mut Node<'_, '_>) -> Imported {
    let (x, filter) = (node.input(0)?, node.input(1)?);
    let kernel = known_extent(node, filter, 2, "the filter's shape")?;
    let channels = known_extent(node, filter, 0, "the filter's shape")?;
    let before = match node.optional(3) {
        Some(state) => {
            let axis = node.add_integer(2)?;
            node.op("tf.ConcatV2", &[state, x, axis], &[])?
        }
        None => {
            let pads = node.builder().add_elements(&[3, 2], &[0, 0, 0, 0, kernel - 1, 0])?;
            let zero = node.add_number_like(x, 0.0)?;
            node.op("tf.PadV2", &[x, pads, zero], &[])?
        }
    };
    let mut y = convolve_rows(node, (before, filter, node.optional(2)), channels)?;
    match node.string_or("activation", "none")?.as_str() {
        "none" => (),
        "silu" | "swish" => y = swish(node, y)?,
        other => return Err(format!("'{other}' is not a value of attribute 'activation'").into()),
    }
    if !node.has_output(1) {
        return Ok(vec![y]);
    }
    let (begin, mask) = if kernel > 1 { (1 - kernel, 7) } else { (0, 3) };
    let begin = node.add_integers(&[0, 0, begin])?;
    let (end, stride) = (node.add_integers(&[0, 0, 0])?, node.add_integers(&[1, 1, 1])?);
    let masks = [("begin_mask", Attribute::i64(3)), ("end_mask", Attribute::i64(mask))];
    Ok(vec![y, node.op("tf.StridedSlice", &[before, begin, end, stride], &masks)?])
}

/// `x * sigmoid(x)`, computed in at least 32 bits.
fn swish(node: &mut Node<'_, '_>, x: ValueId) -> Imported<ValueId> {
    let dtype = node.dtype(x)?;
    let wide = if dtype == DType::F64 { x } else { node.cast(x, DType::F32)? };
    let gate = node.op("tf.Sigmoid", &[wide], &[])?;
    let product = node.op("tf.Mul", &[wide, gate], &[])?;
    node.cast(product, dtype)
}

fn linear_attention(node: &mut Node<'_, '_>) -> Imported {
    let operands: Vec<_> = (0..node.inputs.len()).map(|index| node.optional(index)).collect();
    let attributes = node.forwarded(&["kv_num_heads", "q_num_heads", "scale", "update_rule"])?;
    node.onnx_outputs("onnx.LinearAttention", &operands, &attributes, 2)
}
