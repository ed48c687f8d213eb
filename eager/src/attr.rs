//! [`AttrSpec`]: the attributes that an op declares where it is registered, as data that tools and compilers query.
//!
//! The functions of this module make specifications: [`int`] for an attribute that a call must
//! give, [`int_or`] for one with a default value.

use std::fmt;

use tfrt_host::DType;

/// One attribute of an op.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttrSpec {
    /// The name that calls use.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: AttrKind,
    /// What holds if a call does not give it.
    pub default: AttrDefault,
}

/// The kind of an attribute's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrKind {
    /// A truth value.
    Bool,
    /// An integer.
    Int,
    /// A list of integers.
    Ints,
    /// A floating-point number.
    Float,
    /// A list of floating-point numbers.
    Floats,
    /// A text.
    String,
    /// A list of texts.
    Strings,
    /// A data type.
    Type,
    /// A shape, which may be partial.
    Shape,
    /// A constant tensor.
    Dense,
}

/// What holds if a call does not give an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrDefault {
    /// The call is an error.
    Required,
    /// The op works without the attribute, or derives its value from the arguments.
    Absent,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A list of integers.
    Ints(&'static [i64]),
    /// A list of as many integers as the op needs, each of this value.
    EachInt(i64),
    /// A floating-point number.
    Float(f64),
    /// A text.
    String(&'static str),
    /// A list of texts.
    Strings(&'static [&'static str]),
    /// A data type.
    Type(DType),
}

impl AttrSpec {
    const fn new(name: &'static str, kind: AttrKind, default: AttrDefault) -> Self {
        Self { name, kind, default }
    }

    /// Makes the attribute optional without a default value.
    #[must_use]
    pub const fn optional(self) -> Self {
        Self { default: AttrDefault::Absent, ..self }
    }

    /// Returns whether a call without the attribute is an error.
    pub fn is_required(&self) -> bool {
        self.default == AttrDefault::Required
    }
}

macro_rules! required {
    ($($(#[$doc:meta])* $function:ident $kind:ident;)*) => {$(
        $(#[$doc])*
        pub const fn $function(name: &'static str) -> AttrSpec {
            AttrSpec::new(name, AttrKind::$kind, AttrDefault::Required)
        }
    )*};
}

required! {
    /// A required truth value.
    boolean Bool;
    /// A required integer.
    int Int;
    /// A required list of integers.
    ints Ints;
    /// A required floating-point number.
    float Float;
    /// A required list of floating-point numbers.
    floats Floats;
    /// A required text.
    string String;
    /// A required list of texts.
    strings Strings;
    /// A required data type.
    dtype Type;
    /// A required shape.
    shape Shape;
    /// A required constant tensor.
    dense Dense;
}

macro_rules! with_default {
    ($($(#[$doc:meta])* $function:ident($type:ty) $kind:ident $default:ident;)*) => {$(
        $(#[$doc])*
        pub const fn $function(name: &'static str, default: $type) -> AttrSpec {
            AttrSpec::new(name, AttrKind::$kind, AttrDefault::$default(default))
        }
    )*};
}

with_default! {
    /// A truth value with a default.
    boolean_or(bool) Bool Bool;
    /// An integer with a default.
    int_or(i64) Int Int;
    /// A list of integers with a default.
    ints_or(&'static [i64]) Ints Ints;
    /// A list of integers, by default as many of one value as the op needs.
    ints_or_each(i64) Ints EachInt;
    /// A floating-point number with a default.
    float_or(f64) Float Float;
    /// A text with a default.
    string_or(&'static str) String String;
    /// A list of texts with a default.
    strings_or(&'static [&'static str]) Strings Strings;
    /// A data type with a default.
    dtype_or(DType) Type Type;
}

impl fmt::Display for AttrKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Ints => "[int]",
            Self::Float => "float",
            Self::Floats => "[float]",
            Self::String => "string",
            Self::Strings => "[string]",
            Self::Type => "type",
            Self::Shape => "shape",
            Self::Dense => "dense",
        })
    }
}

/// Writes `name: kind` for a required attribute, `name?: kind` for an optional one and `name: kind
/// = value` for one with a default.
impl fmt::Display for AttrSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, kind, default } = self;
        match default {
            AttrDefault::Required => write!(f, "{name}: {kind}"),
            AttrDefault::Absent => write!(f, "{name}?: {kind}"),
            AttrDefault::Bool(value) => write!(f, "{name}: {kind} = {value}"),
            AttrDefault::Int(value) => write!(f, "{name}: {kind} = {value}"),
            AttrDefault::Ints(values) => write!(f, "{name}: {kind} = {values:?}"),
            AttrDefault::EachInt(value) => write!(f, "{name}: {kind} = [{value}, ..]"),
            AttrDefault::Float(value) => write!(f, "{name}: {kind} = {value}"),
            AttrDefault::String(value) => write!(f, "{name}: {kind} = {value:?}"),
            AttrDefault::Strings(values) => write!(f, "{name}: {kind} = {values:?}"),
            AttrDefault::Type(DType::String) => write!(f, "{name}: {kind} = string"),
            AttrDefault::Type(value) => write!(f, "{name}: {kind} = {}", value.mlir_name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifications_print_their_kind_and_default() {
        let printed = |spec: AttrSpec| spec.to_string();
        assert_eq!(printed(ints("strides")), "strides: [int]");
        assert_eq!(printed(int("num").optional()), "num?: int");
        assert_eq!(printed(ints_or_each("dilations", 1)), "dilations: [int] = [1, ..]");
        assert_eq!(printed(string_or("unit", "BYTE")), "unit: string = \"BYTE\"");
        assert_eq!(printed(dtype_or("out_type", DType::I32)), "out_type: type = i32");
        assert!(ints("strides").is_required() && !int("num").optional().is_required());
    }
}
