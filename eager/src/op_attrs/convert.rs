//! Attributes from programs, and attributes as the types that ops ask for.

use std::sync::Arc;

use half::{bf16, f16};
use tfrt_host::{
    DType, Diagnostic,
    bef::{AggregateAttribute, AttributeView, BefError, ShapeAttribute},
};
use tfrt_tensor::dense_from_attribute;
use tfrt_tensor::{DenseHostTensor, PartialTensorShape, SharedAllocator};

use super::{AttrValue, OpAttrs, Stored};

/// A type that an op may read an attribute as.
pub trait FromAttr<'a>: Sized {
    /// What is expected, for errors.
    const EXPECTED: &'static str;
    /// Returns the value, if the attribute holds one.
    fn from_attr(value: AttrValue<'a>) -> Option<Self>;
}

macro_rules! scalars {
    ($($type:ty, $dtype:ident, $name:literal;)*) => {$(
        impl<'a> FromAttr<'a> for $type {
            const EXPECTED: &'static str = $name;
            fn from_attr(value: AttrValue<'a>) -> Option<Self> {
                value.scalar(DType::$dtype)
            }
        }

        impl<'a> FromAttr<'a> for &'a [$type] {
            const EXPECTED: &'static str = concat!("an array of ", $name);
            fn from_attr(value: AttrValue<'a>) -> Option<Self> {
                match value {
                    // An empty array has lost its type.
                    AttrValue::Array(_, []) => Some(&[]),
                    AttrValue::Array(DType::$dtype, bytes) => bytemuck::try_cast_slice(bytes).ok(),
                    AttrValue::Aggregate(elements) if elements.0.is_empty() => Some(&[]),
                    _ => None,
                }
            }
        }
    )*};
}

scalars! {
    i8, I8, "i8";
    i16, I16, "i16";
    i32, I32, "i32";
    i64, I64, "i64";
    u8, UI8, "ui8";
    u16, UI16, "ui16";
    u32, UI32, "ui32";
    u64, UI64, "ui64";
    f16, F16, "f16";
    bf16, BF16, "bf16";
    f32, F32, "f32";
    f64, F64, "f64";
}

macro_rules! others {
    ($($type:ty, $expected:literal, $pattern:pat => $value:expr;)*) => {$(
        impl<'a> FromAttr<'a> for $type {
            const EXPECTED: &'static str = $expected;
            fn from_attr(value: AttrValue<'a>) -> Option<Self> {
                match value {
                    $pattern => Some($value),
                    _ => None,
                }
            }
        }
    )*};
}

others! {
    bool, "i1", AttrValue::Scalar(DType::I1, bytes) => bytes != [0];
    &'a str, "a string", AttrValue::String(text) => text;
    DType, "a type", AttrValue::Type(dtype) => dtype;
    &'a PartialTensorShape, "a shape", AttrValue::Shape(shape) => shape;
    &'a DenseHostTensor, "a tensor", AttrValue::Dense(tensor) => tensor;
}

impl OpAttrs {
    /// Adds the attributes of an `executeop`: pairs of a name and a value. `functions` says that
    /// the values are names of functions.
    ///
    /// # Errors
    /// InvalidArgument for malformed pairs, kinds of attributes that ops cannot have, and names set
    /// twice.
    pub fn extend_from_program(
        &mut self,
        pairs: AggregateAttribute<'_>,
        functions: bool,
        allocator: &SharedAllocator,
    ) -> Result<(), Diagnostic> {
        for pair in pairs.iter() {
            let AttributeView::Aggregate(pair) = pair.map_err(malformed)? else { return Err(no_pair()) };
            if pair.len() != 2 {
                return Err(no_pair());
            }
            let name = pair.get(0).map_err(malformed)?;
            let name = name.string().ok_or_else(no_pair)?;
            let value = pair.get(1).map_err(malformed)?;
            match (functions, value) {
                (true, value) => self.set_function(name, value.string().ok_or_else(no_pair)?)?,
                (false, value) => self.set_view(name, value, allocator)?,
            }
        }
        Ok(())
    }

    /// Sets an attribute as a program holds it.
    ///
    /// # Errors
    /// InvalidArgument for a kind that ops cannot have, and for names set twice; OutOfMemory.
    pub fn set_view(
        &mut self,
        name: &str,
        value: AttributeView<'_>,
        allocator: &SharedAllocator,
    ) -> Result<(), Diagnostic> {
        match value {
            AttributeView::Data(dtype, bytes) => self.set_scalar_bytes(name, dtype, bytes),
            AttributeView::String(_) => {
                let text = value.string().ok_or_else(|| {
                    Diagnostic::invalid_argument(format!("attribute '{name}' is not UTF-8"))
                })?;
                self.set_string(name, text)
            }
            AttributeView::Type(dtype) => self.set_type(name, dtype),
            AttributeView::DataArray(array) => self.set_array_bytes(name, array.dtype(), array.bytes()),
            AttributeView::Shape(ShapeAttribute::Unranked) => {
                self.set_shape(name, PartialTensorShape::unranked())
            }
            AttributeView::Shape(ShapeAttribute::Ranked(dims)) => {
                self.set_shape(name, PartialTensorShape::ranked(dims)?)
            }
            AttributeView::Dense(dense) => self.set_dense(name, dense_from_attribute(&dense, allocator)?),
            AttributeView::Function(function) => self.set_function(name, function),
            AttributeView::TypeArray(types) => {
                let elements = types.iter().map(|dtype| {
                    let mut element = OpAttrs::new();
                    element.set_type("", dtype).map(|()| element)
                });
                self.set_aggregate(name, elements)
            }
            AttributeView::Aggregate(aggregate) => {
                let elements = aggregate.iter().map(|value| {
                    let mut element = OpAttrs::new();
                    element.set_view("", value.map_err(malformed)?, allocator).map(|()| element)
                });
                self.set_aggregate(name, elements)
            }
        }
    }

    /// Sets a list. Each element is a set of one attribute without a name.
    ///
    /// # Errors
    /// See [`set`](Self::set); those of the elements, and InvalidArgument if one has not exactly
    /// one attribute.
    pub fn set_aggregate(
        &mut self,
        name: &str,
        elements: impl Iterator<Item = Result<OpAttrs, Diagnostic>>,
    ) -> Result<(), Diagnostic> {
        let elements: Arc<[OpAttrs]> = elements.collect::<Result<Vec<_>, _>>()?.into();
        if elements.iter().any(|element| element.len() != 1) {
            return Err(Diagnostic::invalid_argument(format!("an element of '{name}' is not one value")));
        }
        self.insert(name, |_| Stored::Aggregate(elements))
    }
}

fn malformed(error: BefError) -> Diagnostic {
    Diagnostic::invalid_argument(error.message().to_owned())
}

fn no_pair() -> Diagnostic {
    Diagnostic::invalid_argument("each attribute of an op should be a pair of a name and a value")
}
