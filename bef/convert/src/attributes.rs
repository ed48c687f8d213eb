//! Attribute values and data types, both ways.

use tfrt_bef::{Attribute as BefAttribute, AttributeView, DType, ShapeAttribute};
use tfrt_ir::{Attribute, DenseData, DenseElements, Signedness, Type};

/// The dialect of shape attributes and of types without elements.
const CORERT: &str = "corert";

/// The data type an MLIR type stands for as the type of an element, if there is one. Signed
/// integers count as signless ones.
pub fn data_type(ty: &Type) -> Option<DType> {
    match ty {
        Type::Integer { width, signedness: Signedness::Unsigned } => match width {
            8 => Some(DType::UI8),
            16 => Some(DType::UI16),
            32 => Some(DType::UI32),
            64 => Some(DType::UI64),
            _ => None,
        },
        Type::Integer { width, .. } => match width {
            1 => Some(DType::I1),
            8 => Some(DType::I8),
            16 => Some(DType::I16),
            32 => Some(DType::I32),
            64 => Some(DType::I64),
            _ => None,
        },
        Type::F16 => Some(DType::F16),
        Type::BF16 => Some(DType::BF16),
        Type::F32 => Some(DType::F32),
        Type::F64 => Some(DType::F64),
        Type::Complex(part) => match **part {
            Type::F32 => Some(DType::Complex64),
            Type::F64 => Some(DType::Complex128),
            _ => None,
        },
        Type::Dialect(symbol) if symbol.dialect == CORERT => match symbol.body.as_str() {
            "string" => Some(DType::String),
            "resource" => Some(DType::Resource),
            "variant" => Some(DType::Variant),
            _ => None,
        },
        _ => None,
    }
}

/// The MLIR type of a data type.
pub fn type_of(dtype: DType) -> Type {
    match dtype {
        DType::UI8 => Type::uint(8),
        DType::UI16 => Type::uint(16),
        DType::UI32 => Type::uint(32),
        DType::UI64 => Type::uint(64),
        DType::I1 => Type::i1(),
        DType::I8 => Type::int(8),
        DType::I16 => Type::int(16),
        DType::I32 => Type::int(32),
        DType::I64 => Type::int(64),
        DType::F16 => Type::F16,
        DType::BF16 => Type::BF16,
        DType::F32 => Type::F32,
        DType::F64 => Type::F64,
        DType::Complex64 => Type::complex(Type::F32),
        DType::Complex128 => Type::complex(Type::F64),
        DType::String => Type::dialect(CORERT, "string"),
        DType::Resource => Type::dialect(CORERT, "resource"),
        DType::Variant => Type::dialect(CORERT, "variant"),
    }
}

/// The attribute as the format encodes it; `None` where it cannot.
///
/// Recursion ends at the depth to which attributes of the module nest, which its parser bounds.
pub(crate) fn to_bef(attribute: &Attribute) -> Option<BefAttribute> {
    match attribute {
        Attribute::Bool(_) | Attribute::Integer { .. } | Attribute::Float { .. } => {
            let (dtype, bits) = element(attribute)?;
            Some(BefAttribute::Data(dtype, bits.to_le_bytes().get(..dtype.size()?)?.to_vec()))
        }
        Attribute::String(bytes) => Some(BefAttribute::String(bytes.to_vec())),
        Attribute::TypedString(pair) => Some(BefAttribute::String(pair.0.to_vec())),
        Attribute::Type(ty) => Some(BefAttribute::Type(data_type(ty)?)),
        Attribute::Array(elements) => array(elements),
        Attribute::Dense(dense) => dense_elements(dense),
        Attribute::Dialect(symbol) if symbol.dialect == CORERT => {
            Some(BefAttribute::Shape(parse_shape(&symbol.body)?))
        }
        _ => None,
    }
}

/// One element: its data type and its memory form, in the low bytes.
fn element(attribute: &Attribute) -> Option<(DType, u128)> {
    let (ty, bits) = match attribute {
        Attribute::Bool(value) => return Some((DType::I1, u128::from(*value))),
        Attribute::Integer { value, ty } => (ty, *value as u128),
        Attribute::Float { bits, ty } => (ty, u128::from(*bits)),
        _ => return None,
    };
    match data_type(ty)? {
        // A boolean, whatever its sign.
        DType::I1 => Some((DType::I1, bits & 1)),
        dtype => Some((dtype, bits)),
    }
}

/// Elements of one data type make an array; anything else is an aggregate.
fn array(elements: &[Attribute]) -> Option<BefAttribute> {
    let Some(first) = elements.first() else { return Some(BefAttribute::DataArray(DType::I32, Vec::new())) };
    if let Attribute::Type(_) = first {
        let types =
            elements.iter().map(|element| element.as_type().and_then(data_type)).collect::<Option<Vec<_>>>();
        if let Some(types) = types {
            return Some(BefAttribute::TypeArray(types));
        }
    }
    if let Some((dtype, _)) = element(first)
        && let Some(size) = dtype.size()
    {
        let mut bytes = Vec::with_capacity(elements.len() * size);
        let alike = elements.iter().all(|attribute| match element(attribute) {
            Some((other, bits)) if other == dtype => {
                bytes.extend(bits.to_le_bytes().iter().take(size));
                true
            }
            _ => false,
        });
        if alike {
            return Some(BefAttribute::DataArray(dtype, bytes));
        }
    }
    elements.iter().map(to_bef).collect::<Option<Vec<_>>>().map(BefAttribute::Aggregate)
}

fn dense_elements(dense: &DenseElements) -> Option<BefAttribute> {
    let Type::Tensor(shaped) = dense.ty() else { return None };
    let shape =
        shaped.static_shape()?.iter().map(|&size| i64::try_from(size).ok()).collect::<Option<Vec<_>>>()?;
    let dtype = data_type(&shaped.element)?;
    dtype.size()?;
    if let DenseData::Strings(_) = dense.data() {
        return None;
    }
    Some(BefAttribute::Dense(dtype, shape, dense.to_bytes()?.into_owned()))
}

/// Reads `shape<*>` or `shape<2x?x3>`: `Some(None)` is unranked, `None` is no shape at all.
fn parse_shape(body: &str) -> Option<Option<Vec<i64>>> {
    let dimensions = body.strip_prefix("shape<")?.strip_suffix('>')?;
    if dimensions == "*" {
        return Some(None);
    }
    if dimensions.is_empty() {
        return Some(Some(Vec::new()));
    }
    let dimension = |text: &str| match text {
        "?" => Some(-1),
        _ if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    };
    dimensions.split('x').map(dimension).collect::<Option<Vec<i64>>>().map(Some)
}

fn print_shape(shape: ShapeAttribute<'_>) -> String {
    match shape {
        ShapeAttribute::Unranked => "shape<*>".to_owned(),
        ShapeAttribute::Ranked(dimensions) => {
            let dimension = |&size: &i64| if size < 0 { "?".to_owned() } else { size.to_string() };
            format!("shape<{}>", dimensions.iter().map(dimension).collect::<Vec<_>>().join("x"))
        }
    }
}

/// The attribute as MLIR has it; `None` for values MLIR has no attribute for, such as single
/// complex numbers.
///
/// Recursion ends at [`tfrt_bef::MAX_AGGREGATE_DEPTH`].
pub(crate) fn from_bef(view: &AttributeView<'_>) -> Option<Attribute> {
    match view {
        AttributeView::Data(dtype, bytes) => element_attribute(*dtype, bytes),
        AttributeView::String(bytes) => Some(Attribute::string(bytes)),
        AttributeView::Type(dtype) => Some(Attribute::Type(type_of(*dtype))),
        AttributeView::Shape(shape) => Some(Attribute::dialect(CORERT, print_shape(*shape).as_str())),
        AttributeView::DataArray(array) if array.is_empty() => Some(Attribute::array([])),
        AttributeView::DataArray(array) => {
            let elements = array.bytes().chunks_exact(array.dtype().size()?);
            let elements =
                elements.map(|bytes| element_attribute(array.dtype(), bytes)).collect::<Option<Vec<_>>>();
            elements.map(Attribute::array)
        }
        AttributeView::TypeArray(types) => Some(Attribute::array(
            types.iter().map(|dtype| Attribute::Type(type_of(dtype))).collect::<Vec<_>>(),
        )),
        AttributeView::Dense(dense) => {
            let shape =
                dense.shape.iter().map(|&size| u64::try_from(size).ok()).collect::<Option<Vec<_>>>()?;
            let ty = Type::tensor(&shape, type_of(dense.dtype));
            Some(Attribute::Dense(DenseElements::numbers(ty, dense.elements).ok()?.into()))
        }
        AttributeView::Aggregate(aggregate) => {
            let elements =
                aggregate.iter().map(|element| from_bef(&element.ok()?)).collect::<Option<Vec<_>>>();
            elements.map(Attribute::array)
        }
        AttributeView::Function(name) => Some(Attribute::symbol(*name)),
    }
}

fn element_attribute(dtype: DType, bytes: &[u8]) -> Option<Attribute> {
    let ty = type_of(dtype);
    if dtype == DType::I1 {
        return Some(Attribute::Bool(*bytes.first()? != 0));
    }
    let mut word = [0; 8];
    word.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let bits = u64::from_le_bytes(word);
    if ty.is_float() {
        return Some(Attribute::Float { bits, ty });
    }
    let unused = 64 - 8 * bytes.len() as u32;
    let value =
        if ty.is_unsigned() { i128::from(bits) } else { i128::from((bits << unused) as i64 >> unused) };
    Attribute::int(value, ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_types_and_types_correspond() {
        for &dtype in DType::ALL {
            assert_eq!(data_type(&type_of(dtype)), Some(dtype));
            assert_eq!(type_of(dtype).to_string(), dtype.mlir_name());
        }
        for text in
            ["i7", "ui1", "index", "none", "complex<i32>", "tensor<1xf32>", "!tfrt.chain", "!corert.shape"]
        {
            let ty = Type::parse(text).unwrap();
            assert_eq!(data_type(&ty), None, "{text}");
        }
    }

    #[test]
    fn shapes_are_read_and_printed() {
        for body in ["shape<*>", "shape<>", "shape<3>", "shape<2x?x3>"] {
            let shape = parse_shape(body).unwrap();
            let view = shape.as_deref().map_or(ShapeAttribute::Unranked, ShapeAttribute::Ranked);
            assert_eq!(print_shape(view), body);
        }
        for body in [
            "shape",
            "shape<",
            "shape<x>",
            "shape<-2>",
            "shape<2x>",
            "shape<99999999999999999999>",
            "type<2>",
        ] {
            assert_eq!(parse_shape(body), None, "{body}");
        }
    }
}
