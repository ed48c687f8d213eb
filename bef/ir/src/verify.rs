//! Checks a module beyond its syntax. One walk in program order collects all errors:
//!
//! - Every value is used after its definition, in its block or a region inside it. No region of an
//!   isolated operation, such as a function, uses a value from outside.
//! - Operations fit their definitions: operands, results, attributes, regions, and the check of the
//!   definition.
//! - A terminator is at the end of its block, and a body of known operations ends in a terminator.
//! - Symbols are unique in their module. Functions have a type that fits their arguments.

use std::collections::{HashMap, HashSet};

use crate::definition::Groups;
use crate::func::{FUNC, FUNC_TYPE, SYM_NAME};
use crate::{
    Attribute, BlockId, Diagnostic, Diagnostics, Func, Location, Module, OpDefinition, OpId, OpRegistry,
    Operation, ValueDef, ValueId,
};

/// Checks a module against the known operations and returns all errors.
pub fn verify(module: &Module, registry: &OpRegistry) -> Diagnostics {
    let mut verifier = Verifier::new(module, registry);
    verifier.run(&HashSet::new());
    verifier.diagnostics
}

/// Checks a parsed module, except the operations in `broken`. Undefined values were reported by the
/// parser. If `all_symbols` is false, some functions did not parse, and references to unknown
/// functions are not reported.
pub(crate) fn verify_parsed(
    module: &Module,
    registry: &OpRegistry,
    broken: &HashSet<OpId>,
    all_symbols: bool,
) -> Diagnostics {
    let mut verifier = Verifier { all_symbols, all_values: false, ..Verifier::new(module, registry) };
    verifier.run(broken);
    verifier.diagnostics
}

/// A running check. The checks of operations report to it.
#[derive(Debug)]
pub struct Verifier<'m> {
    module: &'m Module,
    registry: &'m OpRegistry,
    /// Whether a missing symbol is an error.
    all_symbols: bool,
    /// Whether an undefined value is an error.
    all_values: bool,
    diagnostics: Diagnostics,
    /// By value: the isolated region of its definition, while the value is visible.
    visible: Vec<Option<u32>>,
    /// By module operation and name.
    symbols: HashMap<OpId, HashMap<&'m str, OpId>>,
    errors: usize,
}

/// A block that is being walked.
struct Frame {
    block: BlockId,
    next: Option<OpId>,
    /// The operation whose regions are being walked. Its results become visible afterwards.
    open: Option<OpId>,
    /// The isolated region that contains this block.
    isolation: u32,
    defined: Vec<ValueId>,
}

impl<'m> Verifier<'m> {
    fn new(module: &'m Module, registry: &'m OpRegistry) -> Verifier<'m> {
        Verifier {
            module,
            registry,
            all_symbols: true,
            all_values: true,
            diagnostics: Diagnostics::new(),
            visible: vec![None; module.value_id_count()],
            symbols: HashMap::new(),
            errors: 0,
        }
    }

    /// Returns the module.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// Returns an operation.
    pub fn op(&self, op: OpId) -> &'m Operation {
        self.module.op(op)
    }

    /// Reports `'name' op message` at an operation.
    pub fn error(&mut self, op: OpId, message: impl AsRef<str>) {
        let data = self.module.op(op);
        self.report(&data.location, format!("'{}' op {}", data.name, message.as_ref()));
    }

    /// Reports a message unchanged.
    pub fn report(&mut self, location: &Location, message: impl Into<String>) {
        self.errors += 1;
        self.diagnostics.push(Diagnostic::error(location.clone(), message));
    }

    fn report_with_note(&mut self, op: OpId, message: &str, at: &Location, note: &str) {
        let data = self.module.op(op);
        self.errors += 1;
        let message = format!("'{}' op {message}", data.name);
        self.diagnostics.push(Diagnostic::error(data.location.clone(), message).note(at.clone(), note));
    }

    /// Returns the function that attribute `attr` of `op` names, and reports if there is none.
    pub fn callee(&mut self, op: OpId, attr: &str) -> Option<Func<'m>> {
        let Some(name) = self.op(op).attr(attr).and_then(Attribute::as_flat_symbol) else {
            self.error(op, format!("requires a '{attr}' symbol reference attribute"));
            return None;
        };
        self.function(op, name)
    }

    /// Returns the function with this name as seen from `op`, and reports if there is none.
    pub fn function(&mut self, op: OpId, name: &str) -> Option<Func<'m>> {
        let mut scope = op;
        while self.op(scope).name != "module" {
            scope = self.module.parent_op(scope)?;
        }
        let found = self.symbols(scope).get(name).copied();
        let func = found.and_then(|found| self.module.as_function(found));
        if func.is_none() && self.all_symbols {
            let hint = crate::suggest::hint(name, self.symbols(scope).keys().copied());
            self.error(op, format!("'{name}' does not reference a valid function{hint}"));
        }
        func
    }

    fn symbols(&mut self, scope: OpId) -> &HashMap<&'m str, OpId> {
        let module = self.module;
        self.symbols.entry(scope).or_insert_with(|| {
            let mut symbols = HashMap::new();
            for op in ops_of(module, scope) {
                if let Some(name) = symbol_name(module.op(op)) {
                    symbols.entry(name).or_insert(op);
                }
            }
            symbols
        })
    }

    fn run(&mut self, broken: &HashSet<OpId>) {
        let mut next_isolation = 0;
        let mut stack = Vec::new();
        self.enter(self.module.root(), 0, &mut next_isolation, &mut stack);
        self.check_symbols(self.module.root());
        while let Some(frame) = stack.last_mut() {
            if let Some(done) = frame.open.take() {
                for &result in &self.module.op(done).results {
                    self.visible[result.index()] = Some(frame.isolation);
                    frame.defined.push(result);
                }
            }
            let Some(op) = frame.next else {
                let Some(frame) = stack.pop() else { break };
                for value in frame.defined {
                    self.visible[value.index()] = None;
                }
                self.check_block_end(frame.block);
                continue;
            };
            frame.next = self.module.next_op(op);
            let is_last = frame.next.is_none();
            frame.open = Some(op);
            if broken.contains(&op) || self.diagnostics.is_full() {
                continue;
            }
            let isolation = frame.isolation;
            self.check_op(op, isolation, is_last);
            self.enter(op, isolation, &mut next_isolation, &mut stack);
        }
    }

    /// Starts the walk of the blocks of an operation's regions.
    fn enter(&mut self, op: OpId, isolation: u32, next_isolation: &mut u32, stack: &mut Vec<Frame>) {
        let data = self.module.op(op);
        if data.regions.is_empty() {
            return;
        }
        let isolated = self.registry.get(&data.name).is_some_and(|definition| definition.isolated);
        let mut isolation = isolation;
        if isolated || matches!(&*data.name, FUNC | "module") {
            *next_isolation += 1;
            isolation = *next_isolation;
        }
        for &region in data.regions.iter().rev() {
            for &block in self.module.region(region).blocks.iter().rev() {
                let arguments = self.module.block(block).arguments.clone();
                for argument in &arguments {
                    self.visible[argument.index()] = Some(isolation);
                }
                stack.push(Frame {
                    block,
                    next: self.module.first_op(block),
                    open: None,
                    isolation,
                    defined: arguments,
                });
            }
        }
    }

    fn check_op(&mut self, op: OpId, isolation: u32, is_last: bool) {
        let before = self.errors;
        self.check_operands_visible(op, isolation);
        let data = self.module.op(op);
        match &*data.name {
            FUNC => self.check_func(op),
            "module" => self.check_symbols(op),
            name => {
                let registry = self.registry;
                if let Some(definition) = registry.get(name) {
                    self.check_definition(op, definition, is_last);
                    if let (Some(check), true) = (definition.verify, self.errors == before) {
                        check(self, op);
                    }
                }
            }
        }
    }

    fn check_operands_visible(&mut self, op: OpId, isolation: u32) {
        let module = self.module;
        for (index, &operand) in module.op(op).operands.iter().enumerate() {
            let visible = self.visible[operand.index()];
            if visible == Some(isolation) {
                continue;
            }
            let def = match module.value(operand).def {
                ValueDef::Result { op, .. } => Some(op),
                ValueDef::Argument { block, .. } => module.block_owner(block),
                ValueDef::Undefined => {
                    if self.all_values {
                        self.error(op, format!("uses an undefined value as operand #{index}"));
                    }
                    continue;
                }
            };
            let at = def.map_or(&Location::Unknown, |def| &module.op(def).location);
            let message = match visible {
                Some(_) => format!("using value defined outside the region as operand #{index}"),
                None => format!("operand #{index} does not dominate this use"),
            };
            self.report_with_note(op, &message, at, "operand defined here");
        }
    }

    fn check_definition(&mut self, op: OpId, definition: &OpDefinition, is_last: bool) {
        let data = self.module.op(op);
        self.check_values(op, "operand", definition.operand_groups(data), &data.operands);
        self.check_values(op, "result", definition.result_groups(data), &data.results);
        for spec in &definition.attributes {
            let alias = || spec.alias.as_ref().and_then(|alias| data.attr(alias));
            match data.attr(&spec.name).or_else(alias) {
                None if spec.optional => {}
                None => self.error(op, format!("requires attribute '{}'", spec.name)),
                Some(value) if spec.kind.admits(value) => {}
                Some(value) => {
                    let kind = spec.kind.describe();
                    self.error(op, format!("attribute '{}' must be {kind}, but is {value}", spec.name));
                }
            }
        }
        let (required, count) = (definition.regions, data.regions.len());
        if count < required || (count > required && !definition.more_regions) {
            let at_least = if definition.more_regions { "at least " } else { "" };
            self.error(op, format!("requires {at_least}{required} regions, but has {count}"));
        }
        if definition.terminator && !is_last {
            self.error(op, "must be the last operation in the parent block");
        }
    }

    fn check_values(&mut self, op: OpId, what: &str, groups: Result<Groups<'_>, String>, values: &[ValueId]) {
        let groups = match groups {
            Ok(groups) => groups,
            Err(message) => return self.error(op, message),
        };
        let mut index = 0;
        for (spec, group) in groups.pairs(values) {
            for &value in group {
                let ty = self.module.value_type(value);
                if !spec.constraint.admits(ty) {
                    let expected = spec.constraint.describe();
                    self.error(op, format!("{what} #{index} must be {expected}, but got '{ty}'"));
                }
                index += 1;
            }
        }
    }

    /// Checks that a body ends in a terminator, unless its last operation is unknown and may be
    /// one.
    fn check_block_end(&mut self, block: BlockId) {
        let Some(owner) = self.module.block_owner(block) else { return };
        let name = &self.module.op(owner).name;
        if name != FUNC && self.registry.get(name).is_none_or(|definition| definition.regions == 0) {
            return;
        }
        let Some(last) = self.module.last_op(block) else {
            self.error(owner, "has an empty block, which needs at least a terminator");
            return;
        };
        if self.registry.get(&self.module.op(last).name).is_some_and(|definition| !definition.terminator) {
            self.error(
                last,
                format!("ends the body of '{name}', but is not a terminator such as tfrt.return"),
            );
        }
    }

    fn check_func(&mut self, op: OpId) {
        let module = self.module;
        let data = module.op(op);
        if symbol_name(data).is_none_or(str::is_empty) {
            self.error(op, format!("requires a '{SYM_NAME}' string attribute"));
        }
        let Some(ty) = module.as_function(op).and_then(|func| func.ty()) else {
            self.error(op, format!("requires a '{FUNC_TYPE}' attribute with a function type"));
            return;
        };
        let [region] = data.regions[..] else {
            self.error(op, "requires one region");
            return;
        };
        let Some(entry) = module.entry_block(region) else { return };
        let arguments = &module.block(entry).arguments;
        if arguments.len() != ty.inputs.len() {
            let message =
                format!("has {} inputs, but its body has {} arguments", ty.inputs.len(), arguments.len());
            self.error(op, message);
            return;
        }
        for (index, (&argument, input)) in arguments.iter().zip(&ty.inputs).enumerate() {
            let found = module.value_type(argument);
            if found != input {
                self.error(
                    op,
                    format!("argument {index} of the body has type '{found}', but input {index} '{input}'"),
                );
            }
        }
    }

    /// Checks that symbols are unique.
    fn check_symbols(&mut self, scope: OpId) {
        let module = self.module;
        for op in ops_of(module, scope) {
            let Some(name) = symbol_name(module.op(op)) else { continue };
            let first = self.symbols(scope).get(name).copied();
            if let Some(first) = first.filter(|&first| first != op) {
                let at = &module.op(first).location;
                let message = format!("redefinition of symbol named '{name}'");
                self.errors += 1;
                let error = Diagnostic::error(module.op(op).location.clone(), message);
                self.diagnostics.push(error.note(at.clone(), "see existing symbol definition here"));
            }
        }
    }
}

fn symbol_name(op: &Operation) -> Option<&str> {
    op.attr(SYM_NAME).and_then(Attribute::as_str)
}

/// Returns the operations directly inside a module.
fn ops_of(module: &Module, scope: OpId) -> impl Iterator<Item = OpId> {
    let blocks = module.op(scope).regions.iter().flat_map(|&region| &module.region(region).blocks);
    blocks.flat_map(|&block| module.ops_in(block).map(|(op, _)| op))
}
