//! Bits, remainders and infinities.

use tfrt_ir::Attribute;

use super::Family;
use crate::import::onnx::node::{Imported, Node, type_attribute};

pub(super) const OPS: Family =
    &[("BitCast", bit_cast), ("BitShift", bit_shift), ("IsInf", is_infinite), ("Mod", remainder)];

fn bit_cast(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let to = node.dtype_attribute("to")?.ok_or("attribute 'to' is missing")?;
    let from = node.dtype(x)?;
    if from.size().is_none() || from.size() != to.size() {
        return Err(format!("{from} and {to} are not of one size").into());
    }
    Ok(vec![node.op("tf.Bitcast", &[x], &[("type", type_attribute(to))])?])
}

fn bit_shift(node: &mut Node<'_, '_>) -> Imported {
    let inputs = [node.input(0)?, node.input(1)?];
    let direction = node.string("direction")?.ok_or("attribute 'direction' is missing")?;
    Ok(vec![node.op("onnx.BitShift", &inputs, &[("direction", Attribute::string(direction))])?])
}

/// The result has the sign of the divisor, or with `fmod` that of the dividend.
fn remainder(node: &mut Node<'_, '_>) -> Imported {
    let inputs = [node.input(0)?, node.input(1)?];
    let op = if node.flag("fmod")? { "tf.TruncateMod" } else { "tf.FloorMod" };
    Ok(vec![node.op(op, &inputs, &[])?])
}

fn is_infinite(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let signs = (node.int_or("detect_negative", 1)?, node.int_or("detect_positive", 1)?);
    if signs == (1, 1) {
        return Ok(vec![node.op("tf.IsInf", &[x], &[])?]);
    }
    let attributes =
        [("detect_negative", Attribute::i64(signs.0)), ("detect_positive", Attribute::i64(signs.1))];
    Ok(vec![node.op("onnx.IsInf", &[x], &attributes)?])
}
