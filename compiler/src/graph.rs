//! [`Graph`]: a model as operations on tensors, with its constants.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use tfrt_ir::{Attribute, Module, OpId, ValueDef, ValueId};
use tfrt_tensor::{HostTensor, files::in_temporary_file};

use crate::TensorType;

/// The name of the function that is the model.
pub const MAIN: &str = "main";
/// The name of operations that are constants.
pub(crate) const CONST: &str = "tf.Const";
/// The attribute of a constant that says which of [`Constants`] it is.
pub(crate) const CONSTANT: &str = "constant";

/// The elements of a small tensor of integers, each as far as it is known.
pub(crate) type KnownElements = Vec<Option<i64>>;

/// The number of a constant of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstantId(pub(crate) usize);

/// The constants of a graph. They are kept beside the module, so that weights are never copied into
/// text.
#[derive(Clone, Debug, Default)]
pub struct Constants {
    tensors: Vec<(String, HostTensor)>,
}

impl Constants {
    /// Adds a constant. `name` is what the model calls it, or empty. Its elements become read-only,
    /// which tells ops that they may keep what they compute from them. Many elements that are not in
    /// the model's file move to a temporary file, if one can be had.
    pub fn add(&mut self, name: &str, mut tensor: HostTensor) -> ConstantId {
        if let HostTensor::Dense(dense) = &mut tensor {
            // Elements that somebody else can access stay as they are.
            if dense.make_readonly()
                && let Ok(Some(moved)) = in_temporary_file(dense)
            {
                *dense = moved;
            }
        }
        self.tensors.push((name.to_owned(), tensor));
        ConstantId(self.tensors.len() - 1)
    }

    /// A constant.
    pub fn tensor(&self, id: ConstantId) -> Option<&HostTensor> {
        self.tensors.get(id.0).map(|(_, tensor)| tensor)
    }

    /// What the model calls a constant, or the empty string.
    pub fn name(&self, id: ConstantId) -> &str {
        self.tensors.get(id.0).map_or("", |(name, _)| name)
    }
}

/// An input or output of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// What the model calls it.
    pub name: String,
    /// Its type as far as it is known.
    pub ty: TensorType,
}

/// A model as operations on tensors: a module whose function [`MAIN`] is the model, and its
/// constants.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The functions.
    pub module: Module,
    /// The constants.
    pub constants: Constants,
    /// What the model takes, in order.
    pub inputs: Vec<Port>,
    /// What the model gives, in order.
    pub outputs: Vec<Port>,
    /// Elements of small integer tensors as far as they are known: shapes that depend on unknown
    /// extents.
    pub(crate) known_elements: HashMap<ValueId, KnownElements>,
    /// The nodes whose ops stay as they are when the model is narrowed, by their places as
    /// [`narrowed_nodes`](crate::pass::narrowed_nodes) gives them.
    pub wide_nodes: Arc<BTreeSet<String>>,
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// The type of a value; `None` for values that are no tensors.
    pub fn tensor_type(&self, value: ValueId) -> Option<TensorType> {
        TensorType::from_ir(self.module.value_type(value))
    }

    /// The constant that an operation is.
    pub fn constant_id(&self, op: OpId) -> Option<ConstantId> {
        let op = self.module.op(op);
        let number =
            if op.name == CONST { op.attr(CONSTANT).and_then(Attribute::as_int)? } else { return None };
        usize::try_from(number).ok().map(ConstantId)
    }

    /// The tensor that a value is, if that is a constant.
    pub fn constant(&self, value: ValueId) -> Option<&HostTensor> {
        let ValueDef::Result { op, .. } = self.module.value(value).def else { return None };
        self.constants.tensor(self.constant_id(op)?)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tfrt_host::allocator::SystemAllocator;
    use tfrt_tensor::{DenseHostTensor, SharedAllocator, TensorShape};

    use super::*;

    #[test]
    fn constants_are_readonly() {
        let shape = TensorShape::new(&[2]).unwrap();
        let allocator: SharedAllocator = Arc::new(SystemAllocator);
        let tensor = DenseHostTensor::from_slice(shape, &[1.0f32, 2.0], &allocator).unwrap();
        assert!(tensor.buffer().is_writable());
        let mut constants = Constants::default();
        let id = constants.add("weights", tensor.into());
        let constant = constants.tensor(id).unwrap().dense().unwrap();
        assert!(!constant.buffer().is_writable());
    }
}
