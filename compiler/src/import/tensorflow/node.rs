//! [`Node`]: what an importer of an op sees of a node, and how it appends operations to the graph.

use std::{collections::BTreeMap, sync::Arc};

use tfrt_eager::attr::AttrKind;
use tfrt_host::{DType, Diagnostic};
use tfrt_ir::{Attribute, ValueId};
use tfrt_tensor::HostTensor;

use super::{
    Importer, outputs,
    proto::{Attr, AttrValue, NameAttrList, NodeDef, TensorShapeProto},
    tensor,
};
use crate::{GraphBuilder, TensorType};

/// Why a node cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ImportError(pub(super) String);

impl ImportError {
    /// What stands for errors that were reported where they are.
    pub(super) fn reported() -> Self {
        Self(String::new())
    }

    /// Whether there is nothing more to report.
    pub(super) fn is_reported(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Diagnostic> for ImportError {
    fn from(error: Diagnostic) -> Self {
        Self(error.message)
    }
}

impl From<String> for ImportError {
    fn from(message: String) -> Self {
        Self(message)
    }
}

impl From<&str> for ImportError {
    fn from(message: &str) -> Self {
        Self(message.to_owned())
    }
}

/// What importing gives.
pub(super) type Imported<T = Vec<Value>> = Result<T, ImportError>;

/// What an output of a node is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A tensor, or a list of tensors.
    Tensor(ValueId),
    /// A variable or a table, by its name.
    Resource(Arc<str>),
    /// What cannot be held here, and why: an error if it is used.
    Missing(Arc<str>),
}

impl From<ValueId> for Value {
    fn from(value: ValueId) -> Self {
        Self::Tensor(value)
    }
}

/// Attributes by name, as a function is called with them.
pub(super) type Attrs = BTreeMap<String, AttrValue>;

/// A node to be imported: its inputs, its attributes, and the graph that its operations are
/// appended to.
pub(super) struct Node<'i, 'g> {
    pub(super) importer: &'i mut Importer<'g>,
    pub(super) proto: &'i NodeDef,
    /// The attributes of the function that the node stands in.
    pub(super) outer: &'i Attrs,
    pub(super) inputs: Vec<Value>,
}

impl Node<'_, '_> {
    /// An input of any kind.
    pub(super) fn value(&self, index: usize) -> Imported<&Value> {
        self.inputs.get(index).ok_or_else(|| ImportError(format!("input {index} is missing")))
    }

    /// An input that is a tensor. A variable of the first version of TensorFlow stands for its
    /// value.
    pub(super) fn input(&self, index: usize) -> Imported<ValueId> {
        self.importer.tensor_of(self.value(index)?)
    }

    /// An input that is a variable or a table.
    pub(super) fn resource(&self, index: usize) -> Imported<Arc<str>> {
        match self.value(index)? {
            Value::Resource(name) => Ok(name.clone()),
            Value::Missing(why) => Err(ImportError(why.to_string())),
            Value::Tensor(_) => Err(ImportError(format!("input {index} is not a resource"))),
        }
    }

    /// All inputs from one on, which must be tensors.
    pub(super) fn inputs_from(&self, start: usize) -> Imported<Vec<ValueId>> {
        (start..self.inputs.len()).map(|index| self.input(index)).collect()
    }

    /// The operations of the graph.
    pub(super) fn builder(&mut self) -> GraphBuilder<'_> {
        self.importer.builder()
    }

    /// The type of a value.
    pub(super) fn ty(&self, value: ValueId) -> Imported<TensorType> {
        self.importer
            .graph
            .tensor_type(value)
            .ok_or_else(|| ImportError("an input is not a tensor".to_owned()))
    }

    /// The data type of a value.
    pub(super) fn dtype(&self, value: ValueId) -> Imported<DType> {
        Ok(self.ty(value)?.dtype)
    }

    /// The tensor that a value is, if that is a constant.
    pub(super) fn constant(&self, value: ValueId) -> Option<&HostTensor> {
        self.importer.graph.constant(value)
    }

    /// The elements of a tensor of integers, if all are known.
    pub(super) fn integers(&mut self, value: ValueId) -> Option<Vec<i64>> {
        self.builder().known_elements(value)?.into_iter().collect()
    }

    /// Appends an op with one result.
    pub(super) fn op(
        &mut self,
        name: &str,
        operands: &[ValueId],
        attributes: &[(&str, Attribute)],
    ) -> Imported<ValueId> {
        Ok(self.builder().op(name, operands, attributes.iter().cloned())?)
    }

    /// Appends an op with several results.
    pub(super) fn ops(
        &mut self,
        name: &str,
        operands: &[ValueId],
        attributes: &[(&str, Attribute)],
        result_count: usize,
    ) -> Imported<Vec<ValueId>> {
        Ok(self.builder().ops(name, operands, attributes.iter().cloned(), result_count)?)
    }

    /// Appends a scalar of the data type of `like`.
    pub(super) fn add_number_like(&mut self, like: ValueId, value: f64) -> Imported<ValueId> {
        let dtype = self.dtype(like)?;
        Ok(self.builder().add_number(dtype, value)?)
    }

    /// How many outputs the node has.
    pub(super) fn output_count(&self) -> usize {
        outputs::count(self.proto)
    }

    /// An attribute; one that refers to an attribute of the function around the node is that.
    pub(super) fn attr(&self, name: &str) -> Option<&Attr> {
        match self.proto.attr.get(name)?.value.as_ref()? {
            Attr::Placeholder(outer) => self.outer.get(outer)?.value.as_ref(),
            value => Some(value),
        }
    }

    fn wrong(name: &str, what: &str) -> ImportError {
        ImportError(format!("attribute '{name}' is not {what}"))
    }

    pub(super) fn int(&self, name: &str) -> Imported<Option<i64>> {
        match self.attr(name) {
            None => Ok(None),
            Some(Attr::I(value)) => Ok(Some(*value)),
            Some(_) => Err(Self::wrong(name, "an integer")),
        }
    }

    pub(super) fn flag(&self, name: &str) -> Imported<bool> {
        match self.attr(name) {
            None => Ok(false),
            Some(Attr::B(value)) => Ok(*value),
            Some(_) => Err(Self::wrong(name, "a truth value")),
        }
    }

    pub(super) fn string(&self, name: &str) -> Imported<Option<String>> {
        match self.attr(name) {
            None => Ok(None),
            Some(Attr::S(text)) => Ok(Some(tensor::text(text)?)),
            Some(_) => Err(Self::wrong(name, "a string")),
        }
    }

    /// A data type that is an attribute.
    pub(super) fn type_attr(&self, name: &str) -> Imported<Option<DType>> {
        match self.attr(name) {
            None => Ok(None),
            Some(Attr::Type(number)) => Ok(Some(tensor::dtype(*number)?)),
            Some(_) => Err(Self::wrong(name, "a type")),
        }
    }

    /// A constant tensor that is an attribute.
    pub(super) fn tensor(&mut self, name: &str) -> Imported<HostTensor> {
        let evaluator = self.importer.evaluator;
        match self.attr(name) {
            Some(Attr::Tensor(proto)) => {
                let expanded = tensor::expanded_bytes(proto)?;
                let tensor = tensor::read(proto, evaluator.allocator());
                let room = self.importer.expansion_room.checked_sub(expanded);
                self.importer.expansion_room = room.ok_or("the constants of the model do not fit memory")?;
                Ok(tensor?)
            }
            _ => Err(Self::wrong(name, "a tensor")),
        }
    }

    /// A function that is an attribute, with the attributes it is called with.
    pub(super) fn function(&self, name: &str) -> Imported<NameAttrList> {
        match self.attr(name) {
            Some(Attr::Func(function)) => Ok(self.resolved(function)),
            _ => Err(Self::wrong(name, "a function")),
        }
    }

    /// Functions that are an attribute.
    pub(super) fn functions(&self, name: &str) -> Imported<Vec<NameAttrList>> {
        match self.attr(name) {
            Some(Attr::List(list)) => Ok(list.func.iter().map(|function| self.resolved(function)).collect()),
            _ => Err(Self::wrong(name, "a list of functions")),
        }
    }

    /// A call of a function whose attributes refer to none of the function around the node.
    fn resolved(&self, function: &NameAttrList) -> NameAttrList {
        let resolve = |(name, value): (&String, &AttrValue)| {
            let value = match &value.value {
                Some(Attr::Placeholder(outer)) => self.outer.get(outer).cloned().unwrap_or_default(),
                _ => value.clone(),
            };
            (name.clone(), value)
        };
        NameAttrList { name: function.name.clone(), attr: function.attr.iter().map(resolve).collect() }
    }

    /// The node's attributes that the op of this name takes, as it takes them.
    pub(super) fn forwarded(&self, op: &str) -> Imported<Vec<(&'static str, Attribute)>> {
        let specs = self.importer.evaluator.op(op).map(|op| op.attributes().to_vec()).unwrap_or_default();
        let mut attributes = Vec::new();
        for spec in specs {
            if let Some(value) = self.attr(spec.name) {
                attributes.push((spec.name, converted(spec.name, spec.kind, value)?));
            }
        }
        Ok(attributes)
    }
}

/// An attribute as an op takes it that declares an attribute of this kind.
fn converted(name: &str, kind: AttrKind, value: &Attr) -> Imported<Attribute> {
    Ok(match (kind, value) {
        (AttrKind::Bool, Attr::B(value)) => Attribute::Bool(*value),
        (AttrKind::Int, Attr::I(value)) => Attribute::i64(*value),
        (AttrKind::Float, Attr::F(value)) => Attribute::f32(*value),
        (AttrKind::String, Attr::S(text)) => Attribute::string(tensor::text(text)?),
        (AttrKind::Type, Attr::Type(number)) => type_attribute(tensor::dtype(*number)?),
        (AttrKind::Ints, Attr::List(list)) => ints(&list.i),
        (AttrKind::Floats, Attr::List(list)) => {
            Attribute::array(list.f.iter().map(|&value| Attribute::f32(value)).collect::<Vec<_>>())
        }
        (AttrKind::Strings, Attr::List(list)) => {
            let texts = list.s.iter().map(|text| tensor::text(text)).collect::<Result<Vec<_>, _>>()?;
            Attribute::array(texts.into_iter().map(Attribute::string).collect::<Vec<_>>())
        }
        (AttrKind::Shape, Attr::Shape(shape)) => shape_attribute(shape),
        (kind, _) => return Err(ImportError(format!("attribute '{name}' is not of kind {kind:?}"))),
    })
}

fn shape_attribute(shape: &TensorShapeProto) -> Attribute {
    dims_attribute(tensor::dims(Some(shape)).as_deref())
}

/// An attribute that is a shape, as far as it is known.
pub(super) fn dims_attribute(dims: Option<&[Option<u64>]>) -> Attribute {
    let body = match dims {
        None => "shape<*>".to_owned(),
        Some(dims) => {
            let dims = dims.iter().map(|dim| dim.map_or("?".to_owned(), |dim| dim.to_string()));
            format!("shape<{}>", dims.collect::<Vec<_>>().join("x"))
        }
    };
    Attribute::dialect("corert", body)
}

/// An attribute of integers.
pub(super) fn ints(values: &[i64]) -> Attribute {
    Attribute::array(values.iter().map(|&value| Attribute::i64(value)).collect::<Vec<_>>())
}

/// An attribute that is a data type.
pub(super) fn type_attribute(dtype: DType) -> Attribute {
    Attribute::Type(tfrt_convert::type_of(dtype))
}
