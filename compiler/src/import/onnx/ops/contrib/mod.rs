//! The domain `com.microsoft`: ops that ONNX Runtime's optimizer and quantizer write, as ops of the
//! default domain.

mod attention;
mod blocks;
mod experts;
mod fused;
mod gates;
mod grouped;
mod images;
mod linear;
mod positions;
mod quantized;
mod sequences;
mod texts;

use tfrt_ir::ValueId;

use super::Family;
use crate::import::onnx::{
    MAX_OPSET,
    node::{ImportError, Imported, Node},
    proto::{AttributeProto, AttributeType, NodeProto},
};

pub(super) use fused::STANDARD;

pub(super) const FAMILIES: &[Family] = &[
    attention::OPS,
    blocks::OPS,
    experts::OPS,
    fused::OPS,
    gates::OPS,
    grouped::OPS,
    images::OPS,
    linear::OPS,
    positions::OPS,
    quantized::OPS,
    sequences::OPS,
    texts::OPS,
];

/// An attribute that is an integer.
fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        i: value,
        r#type: AttributeType::Int as i32,
        ..AttributeProto::default()
    }
}

/// An attribute that is a number.
fn float(name: &str, value: f32) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        f: value,
        r#type: AttributeType::Float as i32,
        ..AttributeProto::default()
    }
}

/// An attribute that is a text.
fn text(name: &str, value: &'static str) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        s: value.into(),
        r#type: AttributeType::String as i32,
        ..AttributeProto::default()
    }
}

impl Node<'_, '_> {
    /// Imports an op of the default domain in the place of this node.
    fn standard(
        &mut self,
        op: &str,
        inputs: &[Option<ValueId>],
        attribute: Vec<AttributeProto>,
        outputs: usize,
    ) -> Imported {
        let output = (0..outputs).map(|index| format!("y{index}")).collect();
        let proto = NodeProto { op_type: op.to_owned(), output, attribute, ..self.proto.clone() };
        let import = super::find("", op).ok_or_else(|| ImportError(format!("unsupported op '{op}'")))?;
        let inputs = inputs.to_vec();
        import(&mut Node { importer: &mut *self.importer, proto: &proto, opset: MAX_OPSET, inputs })
    }

    /// As [`Self::standard`], for an op of one result and with the attributes of this node.
    fn standard_alike(&mut self, op: &str, inputs: &[Option<ValueId>]) -> Imported<ValueId> {
        let attributes = self.proto.attribute.clone();
        Ok(self.standard(op, inputs, attributes, 1)?[0])
    }
}
