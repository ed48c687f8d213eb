//! Types of values. Built-in types are structured, dialect types are balanced text. The meaning of
//! dialect types is unknown here.

use std::sync::Arc;

use crate::Name;

/// The sign of an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Signedness {
    /// `iN`: the operations decide.
    Signless,
    /// `siN`.
    Signed,
    /// `uiN`.
    Unsigned,
}

/// The widest integer type that MLIR allows, in bits.
pub const MAX_INTEGER_WIDTH: u32 = (1 << 24) - 1;

/// The type of a value. It is cheap to clone and compared by structure.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Type {
    /// `i32`, `si8`, `ui64`, …
    Integer {
        /// The width in bits, 1 to [`MAX_INTEGER_WIDTH`].
        width: u32,
        /// Signless, signed or unsigned.
        signedness: Signedness,
    },
    /// `index`.
    Index,
    /// `f16`, IEEE binary16.
    F16,
    /// `bf16`, the upper half of an IEEE binary32.
    BF16,
    /// `f32`.
    F32,
    /// `f64`.
    F64,
    /// `none`.
    None,
    /// `complex<f32>`.
    Complex(Arc<Type>),
    /// `(i32) -> f32`.
    Function(Arc<FunctionType>),
    /// `tuple<i32, f32>`.
    Tuple(Arc<[Type]>),
    /// `tensor<2x?xf32>` or `tensor<*xf32>`.
    Tensor(Arc<ShapedType>),
    /// `vector<4xf32>`.
    Vector(Arc<ShapedType>),
    /// A built-in type kept as text, such as `memref<4xf32>`.
    Opaque(Name),
    /// `!tfrt.chain`, `!foo.bar<…>`.
    Dialect(Arc<DialectSymbol>),
}

/// Inputs and results of a function type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FunctionType {
    /// Types of the arguments.
    pub inputs: Vec<Type>,
    /// Types of the results.
    pub results: Vec<Type>,
}

/// Shape and element type of a tensor or vector type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ShapedType {
    /// The dimensions, outermost first; `None` for an unranked tensor.
    pub dims: Option<Vec<Dim>>,
    /// Type of one element.
    pub element: Type,
}

/// One dimension of a shape: a size, or `None` for `?`.
pub type Dim = Option<u64>;

impl ShapedType {
    /// Returns the sizes, if the shape is ranked and each size is known.
    pub fn static_shape(&self) -> Option<Vec<u64>> {
        self.dims.as_ref()?.iter().copied().collect()
    }

    /// Returns the number of elements; `None` when the shape is not static or the product
    /// overflows.
    pub fn num_elements(&self) -> Option<u64> {
        self.dims.as_ref()?.iter().try_fold(1u64, |product, dim| product.checked_mul((*dim)?))
    }
}

/// A dialect symbol kept as text: `dialect.body` without the leading `!` or `#`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DialectSymbol {
    /// The namespace before the first dot: `tfrt` of `!tfrt.chain`.
    pub dialect: Name,
    /// The text after the first dot: `chain`, `shape<1x?x3>`.
    pub body: Name,
}

impl Type {
    /// Creates a signless integer `iN`. Widths outside 1 to [`MAX_INTEGER_WIDTH`] are clamped.
    pub fn int(width: u32) -> Type {
        Type::integer(width, Signedness::Signless)
    }

    /// Creates an unsigned integer `uiN`. Widths are clamped as in [`Type::int`].
    pub fn uint(width: u32) -> Type {
        Type::integer(width, Signedness::Unsigned)
    }

    /// Creates a signed integer `siN`. Widths are clamped as in [`Type::int`].
    pub fn sint(width: u32) -> Type {
        Type::integer(width, Signedness::Signed)
    }

    /// Creates an integer type. Widths are clamped as in [`Type::int`].
    pub fn integer(width: u32, signedness: Signedness) -> Type {
        Type::Integer { width: width.clamp(1, MAX_INTEGER_WIDTH), signedness }
    }

    /// Creates the boolean type, `i1`.
    pub fn i1() -> Type {
        Type::int(1)
    }

    /// Creates a dialect type from its namespace and body: `("tfrt", "chain")` is `!tfrt.chain`.
    pub fn dialect(dialect: impl Into<Name>, body: impl Into<Name>) -> Type {
        Type::Dialect(Arc::new(DialectSymbol { dialect: dialect.into(), body: body.into() }))
    }

    /// Creates `!tfrt.chain`.
    pub fn chain() -> Type {
        Type::dialect("tfrt", "chain")
    }

    /// Creates `complex<element>`.
    pub fn complex(element: Type) -> Type {
        Type::Complex(Arc::new(element))
    }

    /// Creates a function type.
    pub fn function(inputs: impl Into<Vec<Type>>, results: impl Into<Vec<Type>>) -> Type {
        Type::Function(Arc::new(FunctionType { inputs: inputs.into(), results: results.into() }))
    }

    /// Creates `tuple<…>`.
    pub fn tuple(elements: impl Into<Vec<Type>>) -> Type {
        Type::Tuple(elements.into().into())
    }

    /// Creates a ranked tensor type of static shape.
    pub fn tensor(shape: &[u64], element: Type) -> Type {
        let dims = shape.iter().map(|&size| Some(size)).collect();
        Type::Tensor(Arc::new(ShapedType { dims: Some(dims), element }))
    }

    /// Creates `tensor<*xelement>`.
    pub fn unranked_tensor(element: Type) -> Type {
        Type::Tensor(Arc::new(ShapedType { dims: None, element }))
    }

    /// Creates `vector<…>` of static shape.
    pub fn vector(shape: &[u64], element: Type) -> Type {
        let dims = shape.iter().map(|&size| Some(size)).collect();
        Type::Vector(Arc::new(ShapedType { dims: Some(dims), element }))
    }

    /// Width in bits of an integer, float or `index` (64) type.
    pub fn bit_width(&self) -> Option<u32> {
        match self {
            Type::Integer { width, .. } => Some(*width),
            Type::F16 | Type::BF16 => Some(16),
            Type::F32 => Some(32),
            Type::F64 | Type::Index => Some(64),
            _ => None,
        }
    }

    /// Returns whether this is an integer or `index`.
    pub fn is_integer(&self) -> bool {
        matches!(self, Type::Integer { .. } | Type::Index)
    }

    /// Returns whether this is one of the four floating-point types.
    pub fn is_float(&self) -> bool {
        matches!(self, Type::F16 | Type::BF16 | Type::F32 | Type::F64)
    }

    /// Returns whether this is signless `i1`.
    pub fn is_i1(&self) -> bool {
        matches!(self, Type::Integer { width: 1, signedness: Signedness::Signless })
    }

    /// Returns whether this is an unsigned integer.
    pub fn is_unsigned(&self) -> bool {
        matches!(self, Type::Integer { signedness: Signedness::Unsigned, .. })
    }

    /// Returns whether this is the dialect type `!dialect.body`.
    pub fn is_dialect(&self, dialect: &str, body: &str) -> bool {
        matches!(self, Type::Dialect(symbol) if symbol.dialect == *dialect && symbol.body == *body)
    }

    /// Returns the function type, if it is one.
    pub fn as_function(&self) -> Option<&FunctionType> {
        match self {
            Type::Function(function) => Some(function),
            _ => None,
        }
    }

    /// Shape and element of a tensor or vector type.
    pub fn as_shaped(&self) -> Option<&ShapedType> {
        match self {
            Type::Tensor(shaped) | Type::Vector(shaped) => Some(shaped),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_counts_do_not_overflow() {
        let huge = Type::tensor(&[u64::MAX, 2], Type::F32);
        assert_eq!(huge.as_shaped().and_then(ShapedType::num_elements), None);
    }
}
