//! Shapes whose extents are known numbers or extents of other values.

use tfrt_ir::ValueId;

use super::shape::{extents, shape_of};
use crate::import::onnx::node::{Imported, Node};

/// One extent of a shape.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extent {
    Number(i64),
    /// The extent of a dimension of a value.
    Of(ValueId, usize),
}

impl Extent {
    /// The number, if it is known.
    pub(super) fn known(self, node: &Node<'_, '_>) -> Imported<Option<i64>> {
        match self {
            Self::Number(number) => Ok(Some(number)),
            Self::Of(value, axis) => {
                let dims = node.dims(value)?;
                let dim = dims.get(axis).ok_or_else(|| format!("an input has no dimension {axis}"))?;
                Ok(dim.and_then(|extent| i64::try_from(extent).ok()))
            }
        }
    }

    /// The number as a vector of one element.
    fn to_vector(self, node: &mut Node<'_, '_>) -> Imported<ValueId> {
        match (self.known(node)?, self) {
            (Some(number), _) | (None, Self::Number(number)) => node.add_integers(&[number]),
            (None, Self::Of(value, axis)) => {
                let shape = shape_of(node, value)?;
                extents(node, shape, axis, axis + 1)
            }
        }
    }

    /// The number as a scalar.
    pub(super) fn to_scalar(self, node: &mut Node<'_, '_>) -> Imported<ValueId> {
        let vector = self.to_vector(node)?;
        node.reshape(vector, &[])
    }
}

/// Appends a vector of extents.
pub(super) fn shape(node: &mut Node<'_, '_>, dims: &[Extent]) -> Imported<ValueId> {
    let known = dims.iter().map(|dim| dim.known(node)).collect::<Imported<Option<Vec<i64>>>>()?;
    match known {
        Some(known) => node.add_integers(&known),
        None => {
            let mut parts = dims.iter().map(|dim| dim.to_vector(node)).collect::<Imported<Vec<_>>>()?;
            if let [only] = parts[..] {
                return Ok(only);
            }
            parts.push(node.add_integer(0)?);
            node.op("tf.ConcatV2", &parts, &[])
        }
    }
}

/// Appends a reshape. At most one extent may be the number -1.
pub(super) fn reshape(node: &mut Node<'_, '_>, x: ValueId, dims: &[Extent]) -> Imported<ValueId> {
    let shape = shape(node, dims)?;
    node.op("tf.Reshape", &[x, shape], &[])
}

/// An extent of a value that the importer needs; `what` names it in the error if it is not known.
pub(super) fn known_extent(node: &Node<'_, '_>, x: ValueId, axis: usize, what: &str) -> Imported<i64> {
    let known = Extent::Of(x, axis).known(node)?;
    known.ok_or_else(|| format!("{what} must be known; give the shape of the model's inputs").into())
}
