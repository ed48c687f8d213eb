//! [`Node`]: what an importer of an op sees of a node, and how it appends operations to the graph.

use tfrt_host::{DType, Diagnostic};
use tfrt_ir::{Attribute, ValueId};
use tfrt_tensor::HostTensor;

use super::{
    Importer,
    narrow::{self, Narrow},
    proto::{AttributeProto, AttributeType, NodeProto},
};
use crate::{GraphBuilder, TensorType};

/// Why a node cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ImportError(pub(super) String);

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
pub(super) type Imported<T = Vec<ValueId>> = Result<T, ImportError>;

/// A node to be imported: its inputs as values, its attributes, and the graph that its operations
/// are appended to.
pub(super) struct Node<'i, 'g> {
    pub(super) importer: &'i mut Importer<'g>,
    pub(super) proto: &'i NodeProto,
    /// The version of the op's operator set that the model uses.
    pub(super) opset: i64,
    pub(super) inputs: Vec<Option<ValueId>>,
}

impl Node<'_, '_> {
    /// An input that must be there.
    pub(super) fn input(&self, index: usize) -> Imported<ValueId> {
        self.optional(index).ok_or_else(|| ImportError(format!("input {index} is missing")))
    }

    /// An input that may be absent.
    pub(super) fn optional(&self, index: usize) -> Option<ValueId> {
        self.inputs.get(index).copied().flatten()
    }

    /// All inputs, none of which may be absent.
    pub(super) fn all_inputs(&self) -> Imported<Vec<ValueId>> {
        (0..self.inputs.len()).map(|index| self.input(index)).collect()
    }

    /// How many outputs the node has.
    pub(super) fn output_count(&self) -> usize {
        self.proto.output.len()
    }

    /// Whether an output is used by name.
    pub(super) fn has_output(&self, index: usize) -> bool {
        self.proto.output.get(index).is_some_and(|name| !name.is_empty())
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

    /// Notes extents that the op demands of a value of unknown rank: it fails for any other tensor.
    pub(super) fn refine(&mut self, value: ValueId, dims: Vec<Option<u64>>) -> Imported<()> {
        let ty = self.ty(value)?;
        if ty.rank().is_none() {
            let ty = TensorType { dims: Some(dims), ..ty };
            self.importer.graph.module.set_value_type(value, ty.to_ir());
        }
        Ok(())
    }

    /// The data type of a value.
    pub(super) fn dtype(&self, value: ValueId) -> Imported<DType> {
        Ok(self.ty(value)?.dtype)
    }

    /// The number of dimensions of a value, which must be known.
    pub(super) fn rank(&self, value: ValueId) -> Imported<usize> {
        self.ty(value)?.rank().ok_or_else(|| {
            ImportError(
                "the number of dimensions of an input is not known; give its shape with --input-shape".into(),
            )
        })
    }

    /// The extents of a value, each as far as it is known; the rank must be.
    pub(super) fn dims(&self, value: ValueId) -> Imported<Vec<Option<u64>>> {
        self.rank(value)?;
        Ok(self.ty(value)?.dims.unwrap_or_default())
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
    ) -> Imported {
        Ok(self.builder().ops(name, operands, attributes.iter().cloned(), result_count)?)
    }

    /// Appends an op of the `onnx` dialect whose formal inputs may be absent. Which are there is
    /// said by the attribute `operand_segment_sizes`.
    pub(super) fn onnx_ops(
        &mut self,
        name: &str,
        operands: &[Option<ValueId>],
        attributes: &[(&str, Attribute)],
        result_count: usize,
    ) -> Imported {
        let mut attributes = attributes.to_vec();
        let given: Vec<_> = operands.iter().copied().flatten().collect();
        // Inputs that are absent at the end need not be said.
        if operands.iter().take(given.len()).any(Option::is_none) {
            let sizes = operands.iter().map(|operand| Attribute::i64(operand.is_some().into()));
            attributes.push(("operand_segment_sizes", Attribute::array(sizes.collect::<Vec<_>>())));
        }
        self.ops(name, &given, &attributes, result_count)
    }

    /// Appends an op of the `onnx` dialect of which only the outputs that the node names are
    /// wanted, out of `formal` ones.
    pub(super) fn onnx_outputs(
        &mut self,
        name: &str,
        operands: &[Option<ValueId>],
        attributes: &[(&str, Attribute)],
        formal: usize,
    ) -> Imported {
        let wanted: Vec<bool> = (0..formal).map(|index| self.has_output(index)).collect();
        let count = wanted.iter().filter(|is_wanted| **is_wanted).count();
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut attributes = attributes.to_vec();
        let sizes = wanted.iter().map(|&is_wanted| Attribute::i64(is_wanted.into()));
        attributes.push(("result_segment_sizes", Attribute::array(sizes.collect::<Vec<_>>())));
        let results = self.onnx_ops(name, operands, &attributes, count)?;
        // Any value can stand in the place of an output without a name.
        let (first, mut results) = (results[0], results.into_iter());
        Ok(wanted
            .iter()
            .map(|is_wanted| if *is_wanted { results.next() } else { None }.unwrap_or(first))
            .collect())
    }

    /// Appends a vector of integers.
    pub(super) fn add_integers(&mut self, elements: &[i64]) -> Imported<ValueId> {
        Ok(self.builder().add_integers(elements)?)
    }

    /// Appends an integer.
    pub(super) fn add_integer(&mut self, value: i64) -> Imported<ValueId> {
        Ok(self.builder().add_integer(value)?)
    }

    /// Appends a scalar of the data type of `like`.
    pub(super) fn add_number_like(&mut self, like: ValueId, value: f64) -> Imported<ValueId> {
        let dtype = self.dtype(like)?;
        Ok(self.builder().add_number(dtype, value)?)
    }

    /// Appends a cast, if the value has another data type.
    pub(super) fn cast(&mut self, value: ValueId, dtype: DType) -> Imported<ValueId> {
        Ok(self.builder().cast(value, dtype)?)
    }

    /// Appends a transposition.
    pub(super) fn transpose(&mut self, value: ValueId, order: &[i64]) -> Imported<ValueId> {
        let order = self.add_integers(order)?;
        self.op("tf.Transpose", &[value, order], &[])
    }

    /// Appends a reshape to extents of which one may be -1.
    pub(super) fn reshape(&mut self, value: ValueId, dims: &[i64]) -> Imported<ValueId> {
        let dims = self.add_integers(dims)?;
        self.op("tf.Reshape", &[value, dims], &[])
    }

    /// An axis counted from the front, of `rank` dimensions.
    pub(super) fn axis(&self, axis: i64, rank: usize) -> Imported<usize> {
        let counted = if axis < 0 { axis + rank as i64 } else { axis };
        match usize::try_from(counted) {
            Ok(counted) if counted < rank => Ok(counted),
            _ => Err(ImportError(format!("axis {axis} is outside of the range [-{rank}, {rank})"))),
        }
    }

    fn attribute(&self, name: &str, ty: AttributeType) -> Imported<Option<&AttributeProto>> {
        let Some(attribute) = self.proto.attribute.iter().find(|attribute| attribute.name == name) else {
            return Ok(None);
        };
        // Files of the first versions do not say the type.
        match attribute.r#type() {
            found if found == ty || found == AttributeType::Undefined => Ok(Some(attribute)),
            found => Err(ImportError(format!("attribute '{name}' is of type {found:?} instead of {ty:?}"))),
        }
    }

    /// Whether the node has an attribute.
    pub(super) fn has_attribute(&self, name: &str) -> bool {
        self.proto.attribute.iter().any(|attribute| attribute.name == name)
    }

    pub(super) fn int(&self, name: &str) -> Imported<Option<i64>> {
        Ok(self.attribute(name, AttributeType::Int)?.map(|attribute| attribute.i))
    }

    pub(super) fn int_or(&self, name: &str, default: i64) -> Imported<i64> {
        Ok(self.int(name)?.unwrap_or(default))
    }

    /// An attribute that is 0 or 1.
    pub(super) fn flag(&self, name: &str) -> Imported<bool> {
        Ok(self.int_or(name, 0)? != 0)
    }

    pub(super) fn ints(&self, name: &str) -> Imported<Option<Vec<i64>>> {
        Ok(self.attribute(name, AttributeType::Ints)?.map(|attribute| attribute.ints.clone()))
    }

    pub(super) fn float(&self, name: &str) -> Imported<Option<f32>> {
        Ok(self.attribute(name, AttributeType::Float)?.map(|attribute| attribute.f))
    }

    pub(super) fn float_or(&self, name: &str, default: f32) -> Imported<f32> {
        Ok(self.float(name)?.unwrap_or(default))
    }

    pub(super) fn floats(&self, name: &str) -> Imported<Option<Vec<f32>>> {
        Ok(self.attribute(name, AttributeType::Floats)?.map(|attribute| attribute.floats.clone()))
    }

    pub(super) fn string(&self, name: &str) -> Imported<Option<String>> {
        match self.attribute(name, AttributeType::String)? {
            None => Ok(None),
            Some(attribute) => match std::str::from_utf8(&attribute.s) {
                Ok(text) => Ok(Some(text.to_owned())),
                Err(_) => Err(ImportError(format!("attribute '{name}' is not valid UTF-8"))),
            },
        }
    }

    pub(super) fn string_or(&self, name: &str, default: &str) -> Imported<String> {
        Ok(self.string(name)?.unwrap_or_else(|| default.to_owned()))
    }

    pub(super) fn strings(&self, name: &str) -> Imported<Option<Vec<String>>> {
        let Some(attribute) = self.attribute(name, AttributeType::Strings)? else { return Ok(None) };
        let texts = attribute.strings.iter().map(|text| String::from_utf8(text.to_vec()));
        let texts = texts.collect::<Result<Vec<_>, _>>();
        texts.map(Some).map_err(|_| ImportError(format!("attribute '{name}' is not valid UTF-8")))
    }

    /// Those of the named attributes that the node has, as an op of the `onnx` dialect takes them.
    pub(super) fn forwarded(&self, names: &[&'static str]) -> Imported<Vec<(&'static str, Attribute)>> {
        let mut attributes = Vec::new();
        for &name in names {
            let Some(proto) = self.proto.attribute.iter().find(|attribute| attribute.name == name) else {
                continue;
            };
            let value = match proto.r#type() {
                AttributeType::Int => Attribute::i64(proto.i),
                AttributeType::Float => Attribute::f32(proto.f),
                AttributeType::String => Attribute::string(self.string_or(name, "")?),
                AttributeType::Ints => ints(&proto.ints),
                AttributeType::Floats => Attribute::array(
                    proto.floats.iter().map(|&value| Attribute::f32(value)).collect::<Vec<_>>(),
                ),
                AttributeType::Strings => {
                    let texts = self.strings(name)?.unwrap_or_default();
                    Attribute::array(texts.into_iter().map(Attribute::string).collect::<Vec<_>>())
                }
                other => return Err(ImportError(format!("attribute '{name}' is of type {other:?}"))),
            };
            attributes.push((name, value));
        }
        Ok(attributes)
    }

    /// A constant tensor.
    pub(super) fn tensor(&mut self, name: &str) -> Imported<Option<HostTensor>> {
        let proto = self.proto;
        let Some(attribute) = proto.attribute.iter().find(|attribute| attribute.name == name) else {
            return Ok(None);
        };
        let tensor =
            attribute.t.as_deref().ok_or_else(|| ImportError(format!("attribute '{name}' is no tensor")))?;
        Ok(Some(self.importer.tensors.read(tensor)?))
    }

    /// A data type by its number.
    pub(super) fn dtype_attribute(&self, name: &str) -> Imported<Option<DType>> {
        match self.int(name)? {
            None => Ok(None),
            Some(number) => Ok(Some(super::tensor::dtype(i32::try_from(number).unwrap_or(-1))?)),
        }
    }

    /// A narrow data type by its number; `None` for other types.
    pub(super) fn narrow_attribute(&self, name: &str) -> Imported<Option<&'static Narrow>> {
        Ok(self.int(name)?.and_then(|number| narrow::find(i32::try_from(number).ok()?)))
    }

    /// Axes as the op's version gives them: by an attribute before `since`, later as an input,
    /// which must be known. `None` if neither is there.
    pub(super) fn axes(&mut self, input: usize, since: i64) -> Imported<Option<Vec<i64>>> {
        if self.opset < since {
            return self.ints("axes");
        }
        match self.optional(input) {
            None => Ok(None),
            Some(value) => match self.integers(value) {
                Some(axes) => Ok(Some(axes)),
                None => Err("axes that are computed by the model are not supported".into()),
            },
        }
    }
}

/// An attribute of integers.
pub(super) fn ints(values: &[i64]) -> Attribute {
    Attribute::array(values.iter().map(|&value| Attribute::i64(value)).collect::<Vec<_>>())
}

/// An attribute that is a data type.
pub(super) fn type_attribute(dtype: DType) -> Attribute {
    Attribute::Type(tfrt_convert::type_of(dtype))
}
