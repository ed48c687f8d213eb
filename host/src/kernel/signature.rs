//! What a kernel's Rust signature says, as data: the source of the verifier's types, of the custom assembly
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
    /// The MLIR spelling, if the type is fixed.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Any => None,
        }
    }
}

/// What an attribute holds.
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
    /// Whatever is written there.
    Any,
}

/// Name and kind of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeParameter {
    /// Name in MLIR text. Attributes reach a kernel in the order of their names.
    pub name: &'static str,
    /// Another name that programs may use.
    pub alias: Option<&'static str>,
    /// What it holds.
    pub spec: AttributeSpec,
}

/// Parameters and results of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelSignature {
    /// Fixed arguments.
    pub arguments: Vec<TypeSpec>,
    /// Type of any further arguments, if the kernel takes them.
    pub rest_arguments: Option<TypeSpec>,
    /// Fixed attributes.
    pub attributes: Vec<AttributeParameter>,
    /// Kind of any further attributes, if the kernel takes them.
    pub rest_attributes: Option<AttributeSpec>,
    /// Number of functions (callees and regions).
    pub functions: usize,
    /// Whether the kernel takes any further functions.
    pub rest_functions: bool,
    /// Fixed results.
    pub results: Vec<TypeSpec>,
    /// Type of any further results, if the kernel gives them.
    pub rest_results: Option<TypeSpec>,
}

impl KernelSignature {
    /// The signature of a kernel that looks at its frame itself: anything goes.
    pub fn any() -> Self {
        Self {
            rest_arguments: Some(TypeSpec::Any),
            rest_attributes: Some(AttributeSpec::Any),
            rest_functions: true,
            rest_results: Some(TypeSpec::Any),
            ..Self::default()
        }
    }

    /// Why an op with these numbers of operands does not fit, if so.
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
