//! Checks a module beyond its syntax. One walk in program order collects all errors:
//!
//! - Every value is used after its definition, in its block or a region inside it. No region of an
//!   isolated operation, such as a function, uses a value from outside.
//! - Operations fit their definitions: operands, results, attributes, regions, and the check of the
//!   definition.
//! - A terminator is at the end of its block, and a body of known operations ends in a terminator.
//! - Symbols are unique in their module. Functions have a type that fits their arguments.

use std::collections::HashSet;

use crate::definition::Groups;
use crate::func::{FUNC, FUNC_TYPE, SYM_NAME};
use crate::verifier::{Verifier, symbol_name};
use crate::{BlockId, Diagnostics, Location, Module, OpDefinition, OpId, OpRegistry, ValueDef, ValueId};

/// Checks a module against the known operations and returns all errors.
pub fn verify(module: &Module, registry: &OpRegistry) -> Diagnostics {
    ModuleCheck::new(module, registry, true, true).run(&HashSet::new())
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
    ModuleCheck::new(module, registry, all_symbols, false).run(broken)
}

/// A check of a module, which walks its operations in program order.
struct ModuleCheck<'m> {
    module: &'m Module,
    registry: &'m OpRegistry,
    verifier: Verifier<'m>,
    /// Whether an undefined value is an error.
    all_values: bool,
    /// By value: the isolated region of its definition, while the value is visible.
    visible: Vec<Option<u32>>,
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

impl<'m> ModuleCheck<'m> {
    fn new(
        module: &'m Module,
        registry: &'m OpRegistry,
        all_symbols: bool,
        all_values: bool,
    ) -> ModuleCheck<'m> {
        ModuleCheck {
            module,
            registry,
            verifier: Verifier::new(module, all_symbols),
            all_values,
            visible: vec![None; module.value_id_count()],
        }
    }

    fn run(mut self, broken: &HashSet<OpId>) -> Diagnostics {
        let mut next_isolation = 0;
        let mut stack = Vec::new();
        self.enter(self.module.root(), 0, &mut next_isolation, &mut stack);
        self.verifier.check_symbols(self.module.root());
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
            if broken.contains(&op) || self.verifier.is_full() {
                continue;
            }
            let isolation = frame.isolation;
            self.check_op(op, isolation, is_last);
            self.enter(op, isolation, &mut next_isolation, &mut stack);
        }
        self.verifier.finish()
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
        let before = self.verifier.error_count();
        self.check_operands_visible(op, isolation);
        let data = self.module.op(op);
        match &*data.name {
            FUNC => self.check_func(op),
            "module" => self.verifier.check_symbols(op),
            name => {
                let registry = self.registry;
                if let Some(definition) = registry.get(name) {
                    self.check_definition(op, definition, is_last);
                    if let (Some(check), true) = (definition.verify, self.verifier.error_count() == before) {
                        check(&mut self.verifier, op);
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
                        self.verifier.error(op, format!("uses an undefined value as operand #{index}"));
                    }
                    continue;
                }
            };
            let at = def.map_or(&Location::Unknown, |def| &module.op(def).location);
            let message = match visible {
                Some(_) => format!("using value defined outside the region as operand #{index}"),
                None => format!("operand #{index} does not dominate this use"),
            };
            self.verifier.report_with_note(op, &message, at, "operand defined here");
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
                None => self.verifier.error(op, format!("requires attribute '{}'", spec.name)),
                Some(value) if spec.kind.admits(value) => {}
                Some(value) => {
                    let kind = spec.kind.describe();
                    self.verifier
                        .error(op, format!("attribute '{}' must be {kind}, but is {value}", spec.name));
                }
            }
        }
        let (required, count) = (definition.regions, data.regions.len());
        if count < required || (count > required && !definition.more_regions) {
            let at_least = if definition.more_regions { "at least " } else { "" };
            self.verifier.error(op, format!("requires {at_least}{required} regions, but has {count}"));
        }
        if definition.terminator && !is_last {
            self.verifier.error(op, "must be the last operation in the parent block");
        }
    }

    fn check_values(&mut self, op: OpId, what: &str, groups: Result<Groups<'_>, String>, values: &[ValueId]) {
        let groups = match groups {
            Ok(groups) => groups,
            Err(message) => return self.verifier.error(op, message),
        };
        let mut index = 0;
        for (spec, group) in groups.pairs(values) {
            for &value in group {
                let ty = self.module.value_type(value);
                if !spec.constraint.admits(ty) {
                    let expected = spec.constraint.describe();
                    self.verifier.error(op, format!("{what} #{index} must be {expected}, but got '{ty}'"));
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
            self.verifier.error(owner, "has an empty block, which needs at least a terminator");
            return;
        };
        if self.registry.get(&self.module.op(last).name).is_some_and(|definition| !definition.terminator) {
            self.verifier.error(
                last,
                format!("ends the body of '{name}', but is not a terminator such as tfrt.return"),
            );
        }
    }

    fn check_func(&mut self, op: OpId) {
        let module = self.module;
        let data = module.op(op);
        if symbol_name(data).is_none_or(str::is_empty) {
            self.verifier.error(op, format!("requires a '{SYM_NAME}' string attribute"));
        }
        let Some(ty) = module.as_function(op).and_then(|func| func.ty()) else {
            self.verifier.error(op, format!("requires a '{FUNC_TYPE}' attribute with a function type"));
            return;
        };
        let [region] = data.regions[..] else {
            self.verifier.error(op, "requires one region");
            return;
        };
        let Some(entry) = module.entry_block(region) else { return };
        let arguments = &module.block(entry).arguments;
        if arguments.len() != ty.inputs.len() {
            let message =
                format!("has {} inputs, but its body has {} arguments", ty.inputs.len(), arguments.len());
            self.verifier.error(op, message);
            return;
        }
        for (index, (&argument, input)) in arguments.iter().zip(&ty.inputs).enumerate() {
            let found = module.value_type(argument);
            if found != input {
                self.verifier.error(
                    op,
                    format!("argument {index} of the body has type '{found}', but input {index} '{input}'"),
                );
            }
        }
    }
}
