//! Prints types.

use std::fmt;

use crate::types::{DialectSymbol, FunctionType, ShapedType, Signedness, Type};

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Integer { width, signedness } => {
                let prefix = match signedness {
                    Signedness::Signless => "i",
                    Signedness::Signed => "si",
                    Signedness::Unsigned => "ui",
                };
                write!(f, "{prefix}{width}")
            }
            Type::Index => f.write_str("index"),
            Type::F16 => f.write_str("f16"),
            Type::BF16 => f.write_str("bf16"),
            Type::F32 => f.write_str("f32"),
            Type::F64 => f.write_str("f64"),
            Type::None => f.write_str("none"),
            Type::Complex(element) => write!(f, "complex<{element}>"),
            Type::Function(function) => function.fmt(f),
            Type::Tuple(elements) => write!(f, "tuple<{}>", TypeList(elements)),
            Type::Tensor(shaped) => write!(f, "tensor<{shaped}>"),
            Type::Vector(shaped) => write!(f, "vector<{shaped}>"),
            Type::Opaque(text) => f.write_str(text),
            Type::Dialect(symbol) => write!(f, "!{symbol}"),
        }
    }
}

impl fmt::Display for DialectSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.dialect)?;
        super::attrs::dialect_body(f, &self.body)
    }
}

impl fmt::Display for ShapedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.dims {
            None => f.write_str("*x")?,
            Some(dims) => {
                for dim in dims {
                    match dim {
                        Some(size) => write!(f, "{size}x")?,
                        None => f.write_str("?x")?,
                    }
                }
            }
        }
        self.element.fmt(f)
    }
}

impl fmt::Display for FunctionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}) -> {}", TypeList(&self.inputs), ResultTypes(&self.results))
    }
}

/// Types that print separated by `, `.
pub(crate) struct TypeList<'a>(pub(crate) &'a [Type]);

impl fmt::Display for TypeList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, ty) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{ty}")?;
        }
        Ok(())
    }
}

/// Result types. They print in parentheses unless there is exactly one that is not a function type.
pub(crate) struct ResultTypes<'a>(pub(crate) &'a [Type]);

impl fmt::Display for ResultTypes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [single] if !matches!(single, Type::Function(_)) => single.fmt(f),
            types => write!(f, "({})", TypeList(types)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_print_as_written() {
        let table = [
            (Type::int(32), "i32"),
            (Type::uint(8), "ui8"),
            (Type::sint(16), "si16"),
            (Type::complex(Type::F32), "complex<f32>"),
            (Type::tensor(&[2, 3], Type::F32), "tensor<2x3xf32>"),
            (Type::tensor(&[], Type::F32), "tensor<f32>"),
            (Type::unranked_tensor(Type::BF16), "tensor<*xbf16>"),
            (Type::function([], []), "() -> ()"),
            (Type::function([Type::int(1)], [Type::F64]), "(i1) -> f64"),
            (Type::function([], [Type::function([], [])]), "() -> (() -> ())"),
            (Type::tuple([Type::Index, Type::None]), "tuple<index, none>"),
            (Type::chain(), "!tfrt.chain"),
        ];
        for (ty, text) in table {
            assert_eq!(ty.to_string(), text);
            assert_eq!(Type::parse(text), Ok(ty));
        }
    }
}
