//! A kernel's Rust signature as data: the source of the verifier's types, of the custom assembly
//! and of the kernel reference.

use tfrt_bef::DType;

/// The type of an argument or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeSpec {
    /// A type with this MLIR spelling.
    Named(&'static str),
    /// Any type.
    Any,
}

impl TypeSpec {
    /// Returns the MLIR spelling, if the type is fixed.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Any => None,
        }
    }
}

/// The kind of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttributeSpec {
    /// One number.
    Scalar(DType),
    /// Numbers of one type.
    Array(DType),
    /// UTF-8 text.
    String,
    /// A type, such as `f32`.
    Type,
    /// Types.
    TypeArray,
    /// A tensor shape.
    Shape,
    /// A constant tensor.
    Dense,
    /// A list of attributes of any kind.
    Aggregate,
    /// An attribute of any kind.
    Any,
}

/// Name and kind of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeParameter {
    /// Name in MLIR text. Programs pass attributes to a kernel in the order of their names.
    pub name: &'static str,
    /// Alternative name that programs may use.
    pub alias: Option<&'static str>,
    /// Kind of the attribute.
    pub spec: AttributeSpec,
}

/// An attribute that refers to functions which the kernel calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionAttribute {
    /// Name in MLIR text.
    pub name: &'static str,
    /// Whether the attribute is a list of references to functions rather than a single one.
    pub is_list: bool,
}

/// A result that shares its contents with an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alias {
    /// Number of the result.
    pub result: usize,
    /// Number of the argument.
    pub argument: usize,
}

/// Parameters and results of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelSignature {
    /// Types of the fixed arguments.
    pub arguments: Vec<TypeSpec>,
    /// Type of further arguments, if the kernel takes any.
    pub rest_arguments: Option<TypeSpec>,
    /// Fixed attributes.
    pub attributes: Vec<AttributeParameter>,
    /// Kind of further attributes, if the kernel takes any.
    pub rest_attributes: Option<AttributeSpec>,
    /// Number of functions (callees and regions).
    pub functions: usize,
    /// Whether the kernel takes further functions.
    pub rest_functions: bool,
    /// Types of the fixed results.
    pub results: Vec<TypeSpec>,
    /// Type of further results, if the kernel has any.
    pub rest_results: Option<TypeSpec>,
}

impl KernelSignature {
    /// Returns a signature that every call fits, for kernels that read their frame themselves.
    pub fn any() -> Self {
        Self {
            rest_arguments: Some(TypeSpec::Any),
            rest_attributes: Some(AttributeSpec::Any),
            rest_functions: true,
            rest_results: Some(TypeSpec::Any),
            ..Self::default()
        }
    }

    /// Returns why an op with these numbers of operands does not fit, if it does not.
    pub(crate) fn mismatch(
        &self,
        arguments: usize,
        attributes: usize,
        functions: usize,
        results: usize,
    ) -> Option<String> {
        let checks = [
            ("arguments", arguments, self.arguments.len(), self.rest_arguments.is_some()),
            ("attributes", attributes, self.attributes.len(), self.rest_attributes.is_some()),
            ("functions", functions, self.functions, self.rest_functions),
            ("results", results, self.results.len(), self.rest_results.is_some()),
        ];
        checks.into_iter().find_map(|(what, got, want, more)| {
            let at_least = if more { "at least " } else { "" };
            (got < want || got > want && !more)
                .then(|| format!("expected {at_least}{want} {what}, got {got}"))
        })
    }
}
