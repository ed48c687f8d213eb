//! What is known about operations: the types they take and give, their attributes, and how they are written.

use std::collections::HashMap;
use std::sync::Arc;

use crate::assembly::{Assembly, CustomAssembly, Format};
use crate::verify::Verifier;
use crate::{Attribute, Name, OpId, Type};

/// Which types a value may have.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TypeConstraint {
    /// This type alone; the text need not say it.
    Exactly(Type),
    /// Any type.
    Any,
    /// Any integer, of any signedness, or `index`.
    AnyInteger,
    /// Any float.
    AnyFloat,
    /// A type one of these admits.
    OneOf(Vec<TypeConstraint>),
}

impl TypeConstraint {
    /// Whether a value of this type fits.
    pub fn admits(&self, ty: &Type) -> bool {
        match self {
            TypeConstraint::Exactly(exact) => exact == ty,
            TypeConstraint::Any => true,
            TypeConstraint::AnyInteger => ty.is_integer(),
            TypeConstraint::AnyFloat => ty.is_float(),
            TypeConstraint::OneOf(options) => options.iter().any(|option| option.admits(ty)),
        }
    }

    /// The one type it admits, if it is so.
    pub fn exact(&self) -> Option<&Type> {
        match self {
            TypeConstraint::Exactly(ty) => Some(ty),
            _ => None,
        }
    }

    /// What a message calls the types it admits.
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

/// One operand or result of a definition, or a run of them.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueSpec {
    /// What a format calls it (`$name`); may be empty.
    pub name: Name,
    /// Which types it may have.
    pub constraint: TypeConstraint,
    /// Whether it stands for any number of values. At most one operand and one result may.
    pub variadic: bool,
}

/// Which values an attribute may have.
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
    /// A present unit.
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
    /// An array of elements of any kind.
    pub fn array() -> AttrKind {
        AttrKind::Array(Box::new(AttrKind::Any))
    }

    /// An array of numbers of this type.
    pub fn array_of(ty: Type) -> AttrKind {
        AttrKind::Array(Box::new(AttrKind::Number(ty)))
    }

    /// Whether a value fits.
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

    /// What a message calls a value of this kind, with its article.
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
            AttrKind::Array(kind) => format!("an array, each element of it {}", kind.describe()),
            AttrKind::Dialect(dialect, word) => format!("a #{dialect}.{word} attribute"),
        }
    }
}

/// One attribute of a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct AttrSpec {
    /// Its name.
    pub name: Name,
    /// Another name for it.
    pub alias: Option<Name>,
    /// Which values it may have.
    pub kind: AttrKind,
    /// Whether it may be absent.
    pub optional: bool,
}

/// What is known about an operation.
///
/// ```
/// use tfrt_ir::{AttrKind, OpDefinition, Type};
///
/// // %z = tfrt.add.i32 %x, %y
/// let add = OpDefinition::new("tfrt.add.i32").operand(Type::int(32)).operand(Type::int(32)).result(Type::int(32));
/// // %t = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
/// let create = OpDefinition::new("tfrt_dht.create_uninitialized_tensor.f32.1")
///     .attr("shape", AttrKind::array())
///     .result(Type::dialect("t", "tensor"));
/// # let _ = (add, create);
/// ```
#[derive(Clone, Debug)]
pub struct OpDefinition {
    /// Full name.
    pub name: Name,
    /// Operands, in order.
    pub operands: Vec<ValueSpec>,
    /// Results, in order.
    pub results: Vec<ValueSpec>,
    /// Attributes; others are allowed.
    pub attributes: Vec<AttrSpec>,
    /// The number of regions.
    pub regions: usize,
    /// Whether it must end its block and nothing else may.
    pub terminator: bool,
    /// Whether it may run before its operands are available: its custom form adds `bef.nonstrict`.
    pub nonstrict: bool,
    /// Whether its regions may use only what is defined inside.
    pub isolated: bool,
    /// Whether printed text calls several results by the names given here, as MLIR does for some operations.
    pub names_results: bool,
    /// How it is written.
    pub assembly: Assembly,
    /// What must hold of it beyond this definition.
    pub verify: Option<fn(&mut Verifier<'_>, OpId)>,
}

impl OpDefinition {
    /// An operation without operands, results, attributes and regions.
    pub fn new(name: impl Into<Name>) -> OpDefinition {
        OpDefinition {
            name: name.into(),
            operands: Vec::new(),
            results: Vec::new(),
            attributes: Vec::new(),
            regions: 0,
            terminator: false,
            nonstrict: false,
            isolated: false,
            names_results: false,
            assembly: Assembly::Default,
            verify: None,
        }
    }

    /// With one more operand.
    #[must_use]
    pub fn operand(self, constraint: impl Into<TypeConstraint>) -> OpDefinition {
        self.named_operand("", constraint)
    }

    /// With one more operand that a format may call `$name`.
    #[must_use]
    pub fn named_operand(
        mut self,
        name: impl Into<Name>,
        constraint: impl Into<TypeConstraint>,
    ) -> OpDefinition {
        self.operands.push(ValueSpec { name: name.into(), constraint: constraint.into(), variadic: false });
        self
    }

    /// With any number of operands more, all under one constraint.
    #[must_use]
    pub fn variadic_operands(
        mut self,
        name: impl Into<Name>,
        constraint: impl Into<TypeConstraint>,
    ) -> OpDefinition {
        self.operands.push(ValueSpec { name: name.into(), constraint: constraint.into(), variadic: true });
        self
    }

    /// With one more result.
    #[must_use]
    pub fn result(self, constraint: impl Into<TypeConstraint>) -> OpDefinition {
        self.named_result("", constraint)
    }

    /// With one more result that a format may call `$name`.
    #[must_use]
    pub fn named_result(
        mut self,
        name: impl Into<Name>,
        constraint: impl Into<TypeConstraint>,
    ) -> OpDefinition {
        self.results.push(ValueSpec { name: name.into(), constraint: constraint.into(), variadic: false });
        self
    }

    /// With any number of results more, all under one constraint.
    #[must_use]
    pub fn variadic_results(
        mut self,
        name: impl Into<Name>,
        constraint: impl Into<TypeConstraint>,
    ) -> OpDefinition {
        self.results.push(ValueSpec { name: name.into(), constraint: constraint.into(), variadic: true });
        self
    }

    /// With one more attribute, required.
    #[must_use]
    pub fn attr(mut self, name: impl Into<Name>, kind: AttrKind) -> OpDefinition {
        self.attributes.push(AttrSpec { name: name.into(), alias: None, kind, optional: false });
        self
    }

    /// The attribute added last may be called by another name too.
    #[must_use]
    pub fn or_named(mut self, alias: impl Into<Name>) -> OpDefinition {
        if let Some(attribute) = self.attributes.last_mut() {
            attribute.alias = Some(alias.into());
        }
        self
    }

    /// With one more attribute that may be absent.
    #[must_use]
    pub fn optional_attr(mut self, name: impl Into<Name>, kind: AttrKind) -> OpDefinition {
        self.attributes.push(AttrSpec { name: name.into(), alias: None, kind, optional: true });
        self
    }

    /// With results that printed text calls by their names: `%out_chain, %values:2 = …`. Names are words.
    #[must_use]
    pub fn names_results(mut self) -> OpDefinition {
        self.names_results = true;
        self
    }

    /// With this many regions, which may use only what is defined inside them.
    #[must_use]
    pub fn regions(mut self, count: usize) -> OpDefinition {
        self.regions = count;
        self.isolated = true;
        self
    }

    /// Written by this format; see [`Format`]. Comes after all operands, results and attributes.
    ///
    /// # Errors
    /// What is wrong with the format.
    pub fn format(mut self, text: &str) -> Result<OpDefinition, String> {
        self.assembly = Assembly::Format(Arc::new(Format::compile(text, &self)?));
        Ok(self)
    }

    /// Written in generic form only.
    #[must_use]
    pub fn generic(mut self) -> OpDefinition {
        self.assembly = Assembly::Generic;
        self
    }

    /// Written by a grammar in code.
    #[must_use]
    pub fn custom(mut self, assembly: impl CustomAssembly + 'static) -> OpDefinition {
        self.assembly = Assembly::Custom(Arc::new(assembly));
        self
    }

    /// With a check of its own, run if all that this definition says holds.
    #[must_use]
    pub fn verified_by(mut self, verify: fn(&mut Verifier<'_>, OpId)) -> OpDefinition {
        self.verify = Some(verify);
        self
    }

    /// As the end of a block.
    #[must_use]
    pub fn terminator(mut self) -> OpDefinition {
        self.terminator = true;
        self
    }

    /// Allowed to run before its operands are available.
    #[must_use]
    pub fn nonstrict(mut self) -> OpDefinition {
        self.nonstrict = true;
        self
    }
}

/// The operations that are known, by name.
#[derive(Clone, Debug, Default)]
pub struct OpRegistry {
    ops: HashMap<Name, OpDefinition>,
    /// The dialects that have an operation here, and whether each is closed.
    dialects: HashMap<Name, bool>,
}

impl OpRegistry {
    /// One that knows only `func` and `module`.
    pub fn new() -> OpRegistry {
        OpRegistry::default()
    }

    /// Adds a definition, or replaces that of the same name.
    pub fn add(&mut self, mut definition: OpDefinition) {
        if matches!(definition.assembly, Assembly::Default) {
            definition.assembly = Assembly::Format(Arc::new(Format::default_of(&definition)));
        }
        self.dialects.entry(dialect_of(&definition.name).into()).or_insert(false);
        self.ops.insert(definition.name.clone(), definition);
    }

    /// Closes a dialect: it has no operations but those added here. Others may have more, as kernels need no
    /// definition.
    pub fn close_dialect(&mut self, dialect: impl Into<Name>) {
        self.dialects.insert(dialect.into(), true);
    }

    /// Whether a text may use this operation in generic form: it is known, or its dialect is and not closed, or its
    /// dialect is unknown and `allow_unregistered`.
    pub fn accepts(&self, name: &str, allow_unregistered: bool) -> bool {
        self.ops.contains_key(name)
            || match self.dialects.get(dialect_of(name)) {
                Some(closed) => !closed,
                None => allow_unregistered,
            }
    }

    /// The definition of an operation.
    pub fn get(&self, name: &str) -> Option<&OpDefinition> {
        self.ops.get(name)
    }

    /// The names of the operations, in no order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.ops.keys().map(Name::as_str)
    }

    /// How many operations are known.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether no operation is known.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }
}

/// The text before the first dot; empty if there is none.
fn dialect_of(name: &str) -> &str {
    name.split_once('.').map_or("", |(dialect, _)| dialect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects_are_open_until_closed() {
        let mut registry = OpRegistry::new();
        registry.add(OpDefinition::new("a.known"));
        assert!(registry.accepts("a.other", false));
        assert!(!registry.accepts("b.other", false) && registry.accepts("b.other", true));
        registry.close_dialect("a");
        assert!(registry.accepts("a.known", false) && !registry.accepts("a.other", true));
    }
}
