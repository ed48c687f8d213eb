//! Prints operations: value names, blocks, regions, and the form of each operation.

use std::collections::HashSet;
use std::fmt::{self, Display, Write};

use super::attrs::{self, AttrStyle, SymbolName, TypeElision};
use super::names::ValueNames;
use super::types::TypeList;
use crate::assembly::{Assembly, Format};
use crate::func::{FUNC, FUNC_TYPE, SYM_NAME, SYM_VISIBILITY};
use crate::types::FunctionType;
use crate::{
    AttrDict, Attribute, BlockId, Module, OpDefinition, OpId, OpRegistry, Operation, RegionId, ValueId,
};

/// Options for printing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions {
    /// Print all operations in generic form.
    pub generic: bool,
    /// Print the location of each operation after it.
    pub debug_info: bool,
    /// Print dense elements with more elements than this as `dense_resource<__elided__>`, unless
    /// all are equal. Such text does not parse.
    pub max_dense_elements: Option<u64>,
}

/// Prints a module. Unless the options elide something, the text parses back to an equal module,
/// which prints as the same text.
pub fn print_module(module: &Module, registry: &OpRegistry, options: PrintOptions) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail, and no form returns other errors.
    let _ = write_module(&mut text, module, registry, options);
    text
}

/// Writes a module.
///
/// # Errors
/// The errors of the output.
pub fn write_module(
    out: &mut dyn Write,
    module: &Module,
    registry: &OpRegistry,
    options: PrintOptions,
) -> fmt::Result {
    let mut printer = Printer {
        out,
        module,
        registry,
        options,
        names: ValueNames::new(module, registry, module.root()),
        indent: 0,
    };
    printer.statement(module.root())
}

/// Prints operations. Grammars in code print through it.
pub struct Printer<'a> {
    out: &'a mut dyn Write,
    module: &'a Module,
    registry: &'a OpRegistry,
    options: PrintOptions,
    names: ValueNames,
    indent: usize,
}

impl<'a> Printer<'a> {
    /// Returns the module being printed.
    pub fn module(&self) -> &'a Module {
        self.module
    }

    /// Writes text unchanged.
    ///
    /// # Errors
    /// The errors of the output.
    pub fn write(&mut self, text: &str) -> fmt::Result {
        self.out.write_str(text)
    }

    /// Writes formatted text, so that `write!` can write to the printer.
    ///
    /// # Errors
    /// The errors of the output.
    pub fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) -> fmt::Result {
        self.out.write_fmt(arguments)
    }

    /// Writes a value's name.
    ///
    /// # Errors
    /// The errors of the output.
    pub fn value(&mut self, value: ValueId) -> fmt::Result {
        self.names.write(self.out, value)
    }

    /// Writes the names of values, separated by commas.
    ///
    /// # Errors
    /// The errors of the output.
    pub fn values(&mut self, values: &[ValueId]) -> fmt::Result {
        for (index, &value) in values.iter().enumerate() {
            self.write(if index == 0 { "" } else { ", " })?;
            self.value(value)?;
        }
        Ok(())
    }

    /// Writes the types of values, separated by commas.
    ///
    /// # Errors
    /// The errors of the output.
    pub fn types(&mut self, values: &[ValueId]) -> fmt::Result {
        write!(self.out, "{}", TypeList(&self.module.types_of(values)))
    }

    /// Writes an attribute.
    pub(crate) fn attribute(&mut self, attribute: &Attribute, elision: TypeElision) -> fmt::Result {
        write!(self.out, "{}", Attr(attribute, self.style(elision)))
    }

    /// Writes `name = value`, as in a dictionary.
    pub(crate) fn named_attribute(&mut self, name: &str, value: &Attribute) -> fmt::Result {
        write!(self.out, "{}", NamedAttr(name, value, self.style(TypeElision::Never)))
    }

    fn style(&self, types: TypeElision) -> AttrStyle {
        AttrStyle { types, max_dense_elements: self.options.max_dense_elements }
    }

    /// Writes a symbol's name with its `@`.
    ///
    /// # Errors
    /// The errors of the output.
    pub fn symbol(&mut self, name: &str) -> fmt::Result {
        write!(self.out, "{}", SymbolName(name))
    }

    /// Writes ` {…}` with the attributes whose names `keep` accepts, or nothing if there are none.
    ///
    /// # Errors
    /// The errors of the output.
    pub fn optional_attr_dict(&mut self, op: &Operation, keep: impl Fn(&str) -> bool) -> fmt::Result {
        if op.attributes.iter().any(|(name, _)| keep(name)) {
            let style = self.style(TypeElision::Never);
            write!(self.out, " {}", Dict(&op.attributes, style, keep))?;
        }
        Ok(())
    }

    /// Writes a region in braces whose entry arguments have the names of `operands`, as in
    /// `tfrt.if`.
    ///
    /// # Errors
    /// The errors of the output.
    pub fn region_shadowing(&mut self, region: RegionId, operands: &[ValueId]) -> fmt::Result {
        if let Some(block) = self.module.entry_block(region) {
            for (argument, operand) in self.module.block(block).arguments.iter().zip(operands) {
                self.names.alias(*argument, *operand);
            }
        }
        self.region(region, false)
    }

    /// Returns whether [`Self::region_shadowing`] can print regions with these entry arguments.
    /// Each region must have one block with one argument per operand, of the same type. No operand
    /// may occur twice, because one name cannot stand for two arguments.
    pub(crate) fn can_shadow(module: &Module, regions: &[RegionId], operands: &[ValueId]) -> bool {
        let unique: HashSet<&ValueId> = operands.iter().collect();
        unique.len() == operands.len()
            && regions.iter().all(|&region| match module.region(region).blocks[..] {
                [block] => module.types_of(&module.block(block).arguments) == module.types_of(operands),
                _ => false,
            })
    }

    fn newline(&mut self) -> fmt::Result {
        self.write("\n")?;
        for _ in 0..self.indent {
            self.write("  ")?;
        }
        Ok(())
    }

    /// Prints an operation with its result names and location, and at the top level with a line
    /// end.
    fn statement(&mut self, id: OpId) -> fmt::Result {
        let op = self.module.op(id);
        if !op.results.is_empty() {
            self.names.write_results(self.out, &op.results)?;
            self.write(" = ")?;
        }
        self.op(id, op)?;
        if self.options.debug_info {
            write!(self.out, " loc({})", op.location)?;
        }
        if op.parent.is_none() {
            self.write("\n")?;
        }
        Ok(())
    }

    /// Writes the only operation within another one, without the names of its results. Its location
    /// is left out if it is the outer operation's.
    ///
    /// # Errors
    /// Those of the output.
    pub fn wrapped_op(&mut self, op: OpId) -> fmt::Result {
        let data = self.module.op(op);
        self.op(op, data)?;
        let outer = self.module.parent_op(op).map(|outer| &self.module.op(outer).location);
        if self.options.debug_info && outer != Some(&data.location) {
            write!(self.out, " loc({})", data.location)?;
        }
        Ok(())
    }

    /// Writes the string in quotes, with escapes.
    ///
    /// # Errors
    /// Those of the output.
    pub fn string(&mut self, text: &str) -> fmt::Result {
        write!(self.out, "{}", attrs::Quoted(text.as_bytes()))
    }

    /// Writes the types of values as a function type.
    ///
    /// # Errors
    /// Those of the output.
    pub fn function_type(&mut self, inputs: &[ValueId], results: &[ValueId]) -> fmt::Result {
        let ty =
            FunctionType { inputs: self.module.types_of(inputs), results: self.module.types_of(results) };
        write!(self.out, "{ty}")
    }

    fn op(&mut self, id: OpId, op: &Operation) -> fmt::Result {
        if self.options.generic {
            return self.generic_op(op);
        }
        match &*op.name {
            FUNC if self.is_plain_func(op) => return self.func(op),
            "module" if self.is_plain_module(op) => return self.module_op(op),
            _ => {}
        }
        let Some(definition) = self.registry.get(&op.name) else { return self.generic_op(op) };
        match &definition.assembly {
            Assembly::Generic | Assembly::Default => self.generic_op(op),
            Assembly::Custom(custom) if custom.can_print(self.module, id) => {
                self.write(&op.name)?;
                custom.print(self, id)
            }
            Assembly::Custom(_) => self.generic_op(op),
            Assembly::Format(format) => self.formatted(format, definition, id),
        }
    }

    fn formatted(&mut self, format: &Format, definition: &OpDefinition, id: OpId) -> fmt::Result {
        let op = self.module.op(id);
        if format.print(self, definition, id)? { Ok(()) } else { self.generic_op(op) }
    }

    fn generic_op(&mut self, op: &Operation) -> fmt::Result {
        write!(self.out, "{}(", attrs::Quoted(op.name.as_bytes()))?;
        self.values(&op.operands)?;
        self.write(")")?;
        if !op.regions.is_empty() {
            self.write(" (")?;
            for (index, &region) in op.regions.iter().enumerate() {
                self.write(if index == 0 { "" } else { ", " })?;
                self.region(region, true)?;
            }
            self.write(")")?;
        }
        self.optional_attr_dict(op, |_| true)?;
        let function = FunctionType {
            inputs: self.module.types_of(&op.operands),
            results: self.module.types_of(&op.results),
        };
        write!(self.out, " : {function}")
    }

    /// Writes a region in braces. The entry block has a label if `entry_arguments` is set and the
    /// block has arguments or no operations.
    ///
    /// # Errors
    /// The errors of the output.
    /// Those of the output.
    pub fn region(&mut self, region: RegionId, entry_arguments: bool) -> fmt::Result {
        self.write("{")?;
        for (position, &block) in self.module.region(region).blocks.iter().enumerate() {
            let data = self.module.block(block);
            let is_empty = self.module.op_count(block) == 0;
            let needs_label = entry_arguments && (!data.arguments.is_empty() || is_empty);
            if position > 0 || needs_label {
                self.newline()?;
                self.label(position, block)?;
            }
            self.indent += 1;
            for (op, _) in self.module.ops_in(block) {
                self.newline()?;
                self.statement(op)?;
            }
            self.indent -= 1;
        }
        self.newline()?;
        self.write("}")
    }

    fn label(&mut self, position: usize, block: BlockId) -> fmt::Result {
        write!(self.out, "^bb{position}")?;
        let arguments = &self.module.block(block).arguments;
        if !arguments.is_empty() {
            self.write("(")?;
            for (index, &argument) in arguments.iter().enumerate() {
                self.write(if index == 0 { "" } else { ", " })?;
                self.value(argument)?;
                write!(self.out, ": {}", self.module.value_type(argument))?;
            }
            self.write(")")?;
        }
        self.write(":")
    }

    /// Returns whether the custom form can express a `func` operation.
    fn is_plain_func(&self, op: &Operation) -> bool {
        let Some(ty) = op.attr(FUNC_TYPE).and_then(Attribute::as_type).and_then(|ty| ty.as_function()) else {
            return false;
        };
        let named = op.attr(SYM_NAME).and_then(Attribute::as_str).is_some_and(|name| !name.is_empty());
        let visible = match op.attr(SYM_VISIBILITY) {
            None => true,
            Some(value) => matches!(value.as_str(), Some("public" | "private" | "nested")),
        };
        let body_fits = match op.regions[..] {
            [region] => self
                .module
                .entry_block(region)
                .is_none_or(|block| self.module.types_of(&self.module.block(block).arguments) == ty.inputs),
            _ => false,
        };
        named && visible && body_fits && op.operands.is_empty() && op.results.is_empty()
    }

    fn func(&mut self, op: &Operation) -> fmt::Result {
        let Some(ty) = op.attr(FUNC_TYPE).and_then(Attribute::as_type).and_then(|ty| ty.as_function()) else {
            return Ok(());
        };
        self.write("func ")?;
        if let Some(visibility) = op.attr(SYM_VISIBILITY).and_then(Attribute::as_str) {
            write!(self.out, "{visibility} ")?;
        }
        self.symbol(op.attr(SYM_NAME).and_then(Attribute::as_str).unwrap_or_default())?;
        self.write("(")?;
        let entry = op.regions.first().and_then(|&region| self.module.entry_block(region));
        for (index, input) in ty.inputs.iter().enumerate() {
            self.write(if index == 0 { "" } else { ", " })?;
            if let Some(block) = entry {
                self.value(self.module.block(block).arguments[index])?;
                self.write(": ")?;
            }
            write!(self.out, "{input}")?;
            self.signature_attrs(op, "arg", index)?;
        }
        self.write(")")?;
        self.func_results(op, ty)?;
        let in_signature = |name: &str| {
            let numbered = |prefix: &str, count: usize| {
                let index = name.strip_prefix(prefix).and_then(|digits| digits.parse::<usize>().ok());
                index.is_some_and(|index| {
                    index < count
                        && matches!(op.attr(name), Some(Attribute::Dictionary(dict)) if !dict.is_empty())
                })
            };
            matches!(name, SYM_NAME | SYM_VISIBILITY | FUNC_TYPE)
                || numbered("arg", ty.inputs.len())
                || numbered("result", ty.results.len())
        };
        if op.attributes.iter().any(|(name, _)| !in_signature(name)) {
            self.write(" attributes")?;
            self.optional_attr_dict(op, |name| !in_signature(name))?;
        }
        if let (Some(_), Some(&region)) = (entry, op.regions.first()) {
            self.write(" ")?;
            self.region(region, false)?;
        }
        Ok(())
    }

    fn func_results(&mut self, op: &Operation, ty: &FunctionType) -> fmt::Result {
        if ty.results.is_empty() {
            return Ok(());
        }
        self.write(" -> ")?;
        let has_attrs = |index: usize| op.attributes.contains(&format!("result{index}"));
        let plain = matches!(&ty.results[..], [single] if single.as_function().is_none()) && !has_attrs(0);
        self.write(if plain { "" } else { "(" })?;
        for (index, result) in ty.results.iter().enumerate() {
            self.write(if index == 0 { "" } else { ", " })?;
            write!(self.out, "{result}")?;
            self.signature_attrs(op, "result", index)?;
        }
        self.write(if plain { "" } else { ")" })
    }

    /// Prints the attributes of one argument or result.
    fn signature_attrs(&mut self, op: &Operation, prefix: &str, index: usize) -> fmt::Result {
        match op.attr(&format!("{prefix}{index}")) {
            Some(value @ Attribute::Dictionary(dict)) if !dict.is_empty() => {
                self.write(" ")?;
                self.attribute(value, TypeElision::Never)
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the custom form can express a `module` operation.
    fn is_plain_module(&self, op: &Operation) -> bool {
        let named = match op.attr(SYM_NAME) {
            None => true,
            Some(name) => name.as_str().is_some_and(|name| !name.is_empty()),
        };
        let body_fits = match op.regions[..] {
            [region] => match self.module.region(region).blocks[..] {
                [block] => self.module.block(block).arguments.is_empty(),
                _ => false,
            },
            _ => false,
        };
        named && body_fits && op.operands.is_empty() && op.results.is_empty()
    }

    fn module_op(&mut self, op: &Operation) -> fmt::Result {
        self.write("module ")?;
        if let Some(name) = op.attr(SYM_NAME).and_then(Attribute::as_str) {
            self.symbol(name)?;
            self.write(" ")?;
        }
        if op.attributes.iter().any(|(name, _)| name != SYM_NAME) {
            self.write("attributes")?;
            self.optional_attr_dict(op, |name| name != SYM_NAME)?;
            self.write(" ")?;
        }
        match op.regions.first() {
            Some(&region) => self.region(region, false),
            None => Ok(()),
        }
    }
}

/// An attribute with its style.
struct Attr<'a>(&'a Attribute, AttrStyle);

impl Display for Attr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        attrs::attribute(f, self.0, self.1)
    }
}

/// The entries of a dictionary that the predicate accepts.
struct Dict<'a, F>(&'a AttrDict, AttrStyle, F);

impl<F: Fn(&str) -> bool> Display for Dict<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        attrs::dictionary(f, self.0, self.1, &self.2)
    }
}

/// An attribute that prints as `name = value`, as in a dictionary.
struct NamedAttr<'a>(&'a str, &'a Attribute, AttrStyle);

impl Display for NamedAttr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        attrs::named_attribute(f, self.0, self.1, self.2)
    }
}
