//! The first pass: which functions there are, and whether all of the module can be encoded.

use std::collections::HashSet;

use tfrt_bef::FunctionKind;
use tfrt_ir::{BlockId, Diagnostics, Func, Module, OpId, RegionId, ValueDef};

use crate::to_bef::{error_at, references};
use crate::{NATIVE, NONSTRICT, RETURN, SYNC, attributes};

/// A function of the file: one of the module's or an op's region.
pub(super) struct FunctionEntry {
    /// Empty for regions.
    pub(super) name: String,
    pub(super) kind: FunctionKind,
    /// The op that holds the region.
    pub(super) op: OpId,
    /// `None` for native functions.
    pub(super) body: Option<(RegionId, BlockId)>,
}

/// Lists the functions in the order of the file: regions come before the function they are in.
/// Everything that cannot be encoded is reported.
pub(super) fn collect(module: &Module, errors: &mut Diagnostics) -> Vec<FunctionEntry> {
    let symbols: HashSet<&str> = module.functions().map(|function| function.name()).collect();
    let mut collector = Collector { module, errors, symbols, functions: Vec::new() };
    for op in post_order(module) {
        collector.visit(op);
    }
    collector.functions
}

/// All operations but the module itself, those in an op's regions before the op.
fn post_order(module: &Module) -> Vec<OpId> {
    // Operations before what is in them and backwards, turned round.
    let mut order = Vec::new();
    let mut stack = vec![module.root()];
    while let Some(op) = stack.pop() {
        order.push(op);
        for &region in &module.op(op).regions {
            for &block in &module.region(region).blocks {
                stack.extend(module.ops_in(block).map(|(op, _)| op));
            }
        }
    }
    order.reverse();
    order.pop();
    order
}

struct Collector<'a> {
    module: &'a Module,
    errors: &'a mut Diagnostics,
    symbols: HashSet<&'a str>,
    functions: Vec<FunctionEntry>,
}

impl<'a> Collector<'a> {
    fn error(&mut self, op: OpId, message: impl Into<String>) {
        error_at(self.module, op, self.errors, message);
    }

    fn visit(&mut self, op: OpId) {
        let operation = self.module.op(op);
        if operation.name == "module_terminator" {
            return;
        }
        if operation.name == RETURN {
            let last = operation.parent.and_then(|block| self.module.last_op(block));
            if last != Some(op) {
                self.error(op, "return op must be at the end of its block");
            }
            self.check_operands(op);
            return;
        }
        let at_top = self.module.parent_op(op) == Some(self.module.root());
        match self.module.as_function(op) {
            Some(function) if at_top => self.visit_function(function),
            Some(_) => self.error(op, "BEF files cannot encode a function inside another op"),
            None if at_top => {
                let message = format!("BEF files cannot encode '{}' outside of functions", operation.name);
                self.error(op, message);
            }
            None => self.visit_kernel(op),
        }
    }

    fn visit_function(&mut self, function: Func<'a>) {
        let op = function.op();
        let name = function.name().to_owned();
        if function.attr(NATIVE).is_some() {
            self.functions.push(FunctionEntry { name, kind: FunctionKind::Native, op, body: None });
            return;
        }
        if function.is_external() {
            self.error(op, "external functions are not allowed");
            return;
        }
        let Some(region) = function.region() else { return };
        let kind = if function.attr(SYNC).is_some() { FunctionKind::Sync } else { FunctionKind::Async };
        if let Some(block) = self.visit_region(op, region)
            && kind == FunctionKind::Sync
        {
            self.check_sync_results(block);
        }
        self.add_body(name, kind, op, region);
    }

    fn add_body(&mut self, name: String, kind: FunctionKind, op: OpId, region: RegionId) {
        let body = self.module.entry_block(region).map(|block| (region, block));
        self.functions.push(FunctionEntry { name, kind, op, body });
    }

    /// Checks that the region is one block that ends with a return; gives the block.
    fn visit_region(&mut self, op: OpId, region: RegionId) -> Option<BlockId> {
        let &[block] = &self.module.region(region).blocks[..] else {
            self.error(op, "multi-block regions cannot be emitted to BEF files");
            return None;
        };
        let last = self.module.last_op(block);
        if last.is_none_or(|last| self.module.op(last).name != RETURN) {
            self.error(last.unwrap_or(op), "all functions need to have a tfrt.return");
            return None;
        }
        Some(block)
    }

    /// A synchronous function hands each of its results over, so that each must be its own.
    fn check_sync_results(&mut self, block: BlockId) {
        let Some(last) = self.module.last_op(block) else { return };
        let mut returned = HashSet::new();
        for (index, &operand) in self.module.op(last).operands.iter().enumerate() {
            if let ValueDef::Argument { .. } = self.module.value(operand).def {
                self.error(last, format!("return value {index} is an argument in a sync function"));
            } else if !returned.insert(operand) {
                self.error(last, format!("return value {index} is duplicated in a sync function"));
            }
        }
    }

    fn visit_kernel(&mut self, op: OpId) {
        self.check_operands(op);
        self.check_attributes(op);
        let module = self.module;
        for &region in &module.op(op).regions {
            self.visit_region(op, region);
            self.add_body(String::new(), FunctionKind::Async, op, region);
        }
    }

    /// Operands come from the region the op is in: a region is a function of its own, and sees no
    /// other's registers.
    fn check_operands(&mut self, op: OpId) {
        let operation = self.module.op(op);
        let block_of = |def: ValueDef| match def {
            ValueDef::Result { op, .. } => self.module.op(op).parent,
            ValueDef::Argument { block, .. } => Some(block),
            ValueDef::Undefined => None,
        };
        let outside = operation.operands.iter().any(|&operand| {
            let def = block_of(self.module.value(operand).def);
            def.is_none() || def != operation.parent
        });
        if outside {
            self.error(op, "BEF executor only supports references to kernels within the current region");
        }
    }

    fn check_attributes(&mut self, op: OpId) {
        let module = self.module;
        for (name, attribute) in module.op(op).attributes.iter() {
            if name == NONSTRICT {
                continue;
            }
            if let Some(references) = references(attribute) {
                for reference in references {
                    match reference.as_flat_symbol() {
                        Some(symbol) if self.symbols.contains(symbol.as_str()) => {}
                        Some(_) => self.error(op, format!("function {reference} not defined")),
                        None => self.error(op, format!("BEF files cannot encode the '{name}' attribute")),
                    }
                }
            } else if attributes::to_bef(attribute).is_none() {
                self.error(op, format!("BEF files cannot encode the '{name}' attribute"));
            }
        }
    }
}
