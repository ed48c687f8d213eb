//! Effects of operations besides their results: contents that they read, change and share.

use super::{AttrKind, OpDefinition};
use crate::Name;

/// A result that shares its contents with an operand, so that changing one changes the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alias {
    /// Position of the result in the definition.
    pub result: usize,
    /// Position of the operand in the definition.
    pub operand: usize,
}

/// The effects of an operation besides its results. Positions are those of the definition's
/// specifications; a variadic one stands for all its values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Whether it has effects beyond its operands and results, such as output, so that something
    /// must order its calls.
    pub side_effecting: bool,
    /// Operands whose contents it may read, such as the elements of a tensor.
    pub reads: Vec<usize>,
    /// Operands whose contents it changes.
    pub mutates: Vec<usize>,
    /// Results that share contents with an operand.
    pub aliases: Vec<Alias>,
}

impl Effects {
    /// Returns whether calls need no order among others. Pure operations have no side effects,
    /// change nothing, and read nothing that others could change.
    pub fn is_pure(&self) -> bool {
        !self.side_effecting && self.reads.is_empty() && self.mutates.is_empty()
    }
}

/// An attribute that names functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionAttr<'a> {
    /// Its name.
    pub name: &'a Name,
    /// Whether it is an array of references rather than one reference.
    pub is_list: bool,
}

impl OpDefinition {
    /// Returns the attributes that name functions, sorted by name. A kernel sees its functions in
    /// this order.
    pub fn function_attributes(&self) -> Vec<FunctionAttr<'_>> {
        let mut found: Vec<FunctionAttr<'_>> = Vec::new();
        for attribute in &self.attributes {
            let is_list = match &attribute.kind {
                AttrKind::Symbol => false,
                AttrKind::Array(element) if **element == AttrKind::Symbol => true,
                _ => continue,
            };
            found.push(FunctionAttr { name: &attribute.name, is_list });
        }
        found.sort_by_key(|attribute| attribute.name);
        found
    }
}
