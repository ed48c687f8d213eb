//! Constraints: the types that a value may have, and the values that an attribute may have.

use crate::{Attribute, Name, Type};

/// The types that a value may have.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TypeConstraint {
    /// This type alone. Text may leave it out.
    Exactly(Type),
    /// Any type.
    Any,
    /// Any integer, of any signedness, or `index`.
    AnyInteger,
    /// Any float.
    AnyFloat,
    /// A type that fits one of these.
    OneOf(Vec<TypeConstraint>),
}

impl TypeConstraint {
    /// Returns whether a value of this type fits.
    pub fn admits(&self, ty: &Type) -> bool {
        match self {
            TypeConstraint::Exactly(exact) => exact == ty,
            TypeConstraint::Any => true,
            TypeConstraint::AnyInteger => ty.is_integer(),
            TypeConstraint::AnyFloat => ty.is_float(),
            TypeConstraint::OneOf(options) => options.iter().any(|option| option.admits(ty)),
        }
    }

    /// Returns the type if only one fits.
    pub fn exact(&self) -> Option<&Type> {
        match self {
            TypeConstraint::Exactly(ty) => Some(ty),
            _ => None,
        }
    }

    /// Describes the types that fit, for messages.
    pub fn describe(&self) -> String {
        match self {
            TypeConstraint::Exactly(ty @ Type::Dialect(_)) => format!("{ty} type"),
            TypeConstraint::Exactly(ty) => ty.to_string(),
            TypeConstraint::Any => "any type".to_owned(),
            TypeConstraint::AnyInteger => "integer".to_owned(),
            TypeConstraint::AnyFloat => "floating-point".to_owned(),
            TypeConstraint::OneOf(options) => {
                options.iter().map(TypeConstraint::describe).collect::<Vec<_>>().join(" or ")
            }
        }
    }
}

impl From<Type> for TypeConstraint {
    fn from(ty: Type) -> TypeConstraint {
        TypeConstraint::Exactly(ty)
    }
}

/// The values that an attribute may have.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AttrKind {
    /// Any attribute.
    Any,
    /// An integer or float of this type; written without it, as `$value`.
    Number(Type),
    /// `true` or `false`.
    Bool,
    /// A string.
    String,
    /// A unit, whose presence is its meaning.
    Unit,
    /// A type.
    Type,
    /// A flat symbol reference.
    Symbol,
    /// Dense elements.
    Elements,
    /// A dictionary.
    Dictionary,
    /// An array each of whose elements is of this kind.
    Array(Box<AttrKind>),
    /// A dialect attribute of this dialect whose body begins with this word: `("corert", "shape")`.
    Dialect(Name, Name),
}

impl AttrKind {
    /// Returns an array of elements of any kind.
    pub fn array() -> AttrKind {
        AttrKind::Array(Box::new(AttrKind::Any))
    }

    /// Returns an array of numbers of this type.
    pub fn array_of(ty: Type) -> AttrKind {
        AttrKind::Array(Box::new(AttrKind::Number(ty)))
    }

    /// Returns whether a value fits.
    pub fn admits(&self, value: &Attribute) -> bool {
        match self {
            AttrKind::Any => true,
            AttrKind::Number(ty) => {
                matches!(value, Attribute::Bool(_) | Attribute::Integer { .. } | Attribute::Float { .. })
                    && value.ty().as_ref() == Some(ty)
            }
            AttrKind::Bool => matches!(value, Attribute::Bool(_)),
            AttrKind::String => matches!(value, Attribute::String(_)),
            AttrKind::Unit => *value == Attribute::Unit,
            AttrKind::Type => matches!(value, Attribute::Type(_)),
            AttrKind::Symbol => value.as_flat_symbol().is_some(),
            AttrKind::Elements => matches!(value, Attribute::Dense(_)),
            AttrKind::Dictionary => matches!(value, Attribute::Dictionary(_)),
            AttrKind::Array(kind) => {
                value.as_array().is_some_and(|elements| elements.iter().all(|element| kind.admits(element)))
            }
            AttrKind::Dialect(dialect, word) => match value {
                Attribute::Dialect(symbol) => {
                    symbol.dialect == *dialect && symbol.body.starts_with(word.as_str())
                }
                _ => false,
            },
        }
    }

    /// Describes a value of this kind with its article, for messages.
    pub fn describe(&self) -> String {
        match self {
            AttrKind::Any => "any attribute".to_owned(),
            AttrKind::Number(ty) => format!("a number of type {ty}"),
            AttrKind::Bool => "a bool".to_owned(),
            AttrKind::String => "a string".to_owned(),
            AttrKind::Unit => "a unit".to_owned(),
            AttrKind::Type => "a type".to_owned(),
            AttrKind::Symbol => "a symbol reference".to_owned(),
            AttrKind::Elements => "dense elements".to_owned(),
            AttrKind::Dictionary => "a dictionary".to_owned(),
            AttrKind::Array(kind) if **kind == AttrKind::Any => "an array".to_owned(),
            AttrKind::Array(kind) => format!("an array, each element {}", kind.describe()),
            AttrKind::Dialect(dialect, word) => format!("a #{dialect}.{word} attribute"),
        }
    }
}
