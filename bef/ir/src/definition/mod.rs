//! Definitions of operations: types of operands and results, attributes, effects and text.

mod constraint;
mod effects;
mod groups;

pub use constraint::{AttrKind, TypeConstraint};
pub use effects::{Alias, Effects, FunctionAttr};
pub(crate) use groups::{Groups, has_several_variadic};
pub use groups::{OPERAND_SEGMENT_SIZES, RESULT_SEGMENT_SIZES, segment_sizes};

use std::sync::Arc;

use crate::assembly::{Assembly, CustomAssembly, Format};
use crate::verifier::Verifier;
use crate::{Name, OpId};

/// An operand or result of a definition, or a group of them.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueSpec {
    /// The name in a format (`$name`); may be empty.
    pub name: Name,
    /// The types it may have.
    pub constraint: TypeConstraint,
    /// Whether it stands for any number of values. If several operands or several results do, an
    /// attribute of the operation gives the size of each group; see [`OPERAND_SEGMENT_SIZES`].
    pub variadic: bool,
}

/// One attribute of a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct AttrSpec {
    /// The name.
    pub name: Name,
    /// An alternative name.
    pub alias: Option<Name>,
    /// The values it may have.
    pub kind: AttrKind,
    /// Whether it may be absent.
    pub optional: bool,
}

/// The definition of an operation: its operands, results, attributes, regions, effects and text.
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
    /// The full name.
    pub name: Name,
    /// Operands, in order.
    pub operands: Vec<ValueSpec>,
    /// Results, in order.
    pub results: Vec<ValueSpec>,
    /// The attributes. Operations may have others, too.
    pub attributes: Vec<AttrSpec>,
    /// The number of regions.
    pub regions: usize,
    /// Whether it may have more regions than that.
    pub more_regions: bool,
    /// Whether it must be the last operation of its block.
    pub terminator: bool,
    /// Whether it may run before its operands are available: its custom form adds `bef.nonstrict`.
    pub nonstrict: bool,
    /// Whether its regions may use only values defined inside them.
    pub isolated: bool,
    /// Its effects besides its results, or `None` if they are unknown.
    pub effects: Option<Effects>,
    /// The operation that does the same but takes a chain as its last operand and returns one as
    /// its last result.
    pub chain_form: Option<Name>,
    /// Whether programs state the kind of each attribute, because its kernel does not know the
    /// kinds.
    pub typed_attributes: bool,
    /// Whether results are printed with the names given here, as MLIR does for some operations.
    pub names_results: bool,
    /// Its text form.
    pub assembly: Assembly,
    /// A check of requirements that this definition cannot express.
    pub verify: Option<fn(&mut Verifier<'_>, OpId)>,
}

impl OpDefinition {
    /// Returns the definition of an operation without operands, results, attributes and regions.
    pub fn new(name: impl Into<Name>) -> OpDefinition {
        OpDefinition {
            name: name.into(),
            operands: Vec::new(),
            results: Vec::new(),
            attributes: Vec::new(),
            regions: 0,
            more_regions: false,
            terminator: false,
            nonstrict: false,
            isolated: false,
            effects: None,
            chain_form: None,
            typed_attributes: false,
            names_results: false,
            assembly: Assembly::Default,
            verify: None,
        }
    }

    /// Adds an operand.
    #[must_use]
    pub fn operand(self, constraint: impl Into<TypeConstraint>) -> OpDefinition {
        self.named_operand("", constraint)
    }

    /// Adds an operand with a name for formats (`$name`).
    #[must_use]
    pub fn named_operand(
        mut self,
        name: impl Into<Name>,
        constraint: impl Into<TypeConstraint>,
    ) -> OpDefinition {
        self.operands.push(ValueSpec { name: name.into(), constraint: constraint.into(), variadic: false });
        self
    }

    /// Adds a group of any number of operands under one constraint.
    #[must_use]
    pub fn variadic_operands(
        mut self,
        name: impl Into<Name>,
        constraint: impl Into<TypeConstraint>,
    ) -> OpDefinition {
        self.operands.push(ValueSpec { name: name.into(), constraint: constraint.into(), variadic: true });
        self
    }

    /// Adds a result.
    #[must_use]
    pub fn result(self, constraint: impl Into<TypeConstraint>) -> OpDefinition {
        self.named_result("", constraint)
    }

    /// Adds a result with a name for formats (`$name`).
    #[must_use]
    pub fn named_result(
        mut self,
        name: impl Into<Name>,
        constraint: impl Into<TypeConstraint>,
    ) -> OpDefinition {
        self.results.push(ValueSpec { name: name.into(), constraint: constraint.into(), variadic: false });
        self
    }

    /// Adds a group of any number of results under one constraint.
    #[must_use]
    pub fn variadic_results(
        mut self,
        name: impl Into<Name>,
        constraint: impl Into<TypeConstraint>,
    ) -> OpDefinition {
        self.results.push(ValueSpec { name: name.into(), constraint: constraint.into(), variadic: true });
        self
    }

    /// Adds a required attribute.
    #[must_use]
    pub fn attr(mut self, name: impl Into<Name>, kind: AttrKind) -> OpDefinition {
        self.attributes.push(AttrSpec { name: name.into(), alias: None, kind, optional: false });
        self
    }

    /// Gives the last added attribute a second name that programs may use.
    #[must_use]
    pub fn or_named(mut self, alias: impl Into<Name>) -> OpDefinition {
        if let Some(attribute) = self.attributes.last_mut() {
            attribute.alias = Some(alias.into());
        }
        self
    }

    /// Adds an optional attribute.
    #[must_use]
    pub fn optional_attr(mut self, name: impl Into<Name>, kind: AttrKind) -> OpDefinition {
        self.attributes.push(AttrSpec { name: name.into(), alias: None, kind, optional: true });
        self
    }

    /// Makes printed text use the names of results: `%out_chain, %values:2 = …`. The names are
    /// words.
    #[must_use]
    pub fn names_results(mut self) -> OpDefinition {
        self.names_results = true;
        self
    }

    /// Sets the number of regions, which may also use values from outside the operation.
    #[must_use]
    pub fn capturing_regions(mut self, count: usize) -> OpDefinition {
        self.regions = count;
        self
    }

    /// Lets the operation have more regions than the number set.
    #[must_use]
    pub fn or_more_regions(mut self) -> OpDefinition {
        self.more_regions = true;
        self
    }

    /// Sets the number of regions, which may use only values defined inside them.
    #[must_use]
    pub fn regions(mut self, count: usize) -> OpDefinition {
        self.regions = count;
        self.isolated = true;
        self
    }

    /// Sets the format of the operation's text; see [`Format`]. Call this after all operands,
    /// results and attributes are added.
    ///
    /// # Errors
    /// The mistake in the format.
    pub fn format(mut self, text: &str) -> Result<OpDefinition, String> {
        self.assembly = Assembly::Format(Arc::new(Format::compile(text, &self)?));
        Ok(self)
    }

    /// Allows only the generic form.
    #[must_use]
    pub fn generic(mut self) -> OpDefinition {
        self.assembly = Assembly::Generic;
        self
    }

    /// Sets a grammar in code for the text form.
    #[must_use]
    pub fn custom(mut self, assembly: impl CustomAssembly + 'static) -> OpDefinition {
        self.assembly = Assembly::Custom(Arc::new(assembly));
        self
    }

    /// Adds a check in code. It runs if the operation meets all other requirements of this
    /// definition.
    #[must_use]
    pub fn verified_by(mut self, verify: fn(&mut Verifier<'_>, OpId)) -> OpDefinition {
        self.verify = Some(verify);
        self
    }

    /// Makes the operation a terminator, which ends a block.
    #[must_use]
    pub fn terminator(mut self) -> OpDefinition {
        self.terminator = true;
        self
    }

    /// Lets the operation run before its operands are available.
    #[must_use]
    pub fn nonstrict(mut self) -> OpDefinition {
        self.nonstrict = true;
        self
    }
}
