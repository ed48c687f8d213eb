//! The state of a running check of a module, to which the checks of operations report.

use std::collections::HashMap;

use crate::func::SYM_NAME;
use crate::{Attribute, Diagnostic, Diagnostics, Func, Location, Module, OpId, Operation};

/// A running check. The checks of operations report to it.
#[derive(Debug)]
pub struct Verifier<'m> {
    module: &'m Module,
    /// Whether a missing symbol is an error.
    all_symbols: bool,
    diagnostics: Diagnostics,
    /// By module operation and name.
    symbols: HashMap<OpId, HashMap<&'m str, OpId>>,
    errors: usize,
}

impl<'m> Verifier<'m> {
    pub(crate) fn new(module: &'m Module, all_symbols: bool) -> Verifier<'m> {
        Verifier { module, all_symbols, diagnostics: Diagnostics::new(), symbols: HashMap::new(), errors: 0 }
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

    /// Reports `'name' op message` at an operation, with a note at another location.
    pub(crate) fn report_with_note(&mut self, op: OpId, message: &str, at: &Location, note: &str) {
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

    /// Returns the symbols of a module operation, by name.
    pub(crate) fn symbols(&mut self, scope: OpId) -> &HashMap<&'m str, OpId> {
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

    /// Returns whether further errors would be dropped.
    pub(crate) fn is_full(&self) -> bool {
        self.diagnostics.is_full()
    }

    /// Returns the number of errors so far.
    pub(crate) fn error_count(&self) -> usize {
        self.errors
    }

    /// Returns all errors.
    pub(crate) fn finish(self) -> Diagnostics {
        self.diagnostics
    }

    /// Checks that symbols are unique.
    pub(crate) fn check_symbols(&mut self, scope: OpId) {
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

/// Returns the symbol that an operation defines, if any.
pub(crate) fn symbol_name(op: &Operation) -> Option<&str> {
    op.attr(SYM_NAME).and_then(Attribute::as_str)
}

/// Returns the operations directly inside a module.
fn ops_of(module: &Module, scope: OpId) -> impl Iterator<Item = OpId> {
    let blocks = module.op(scope).regions.iter().flat_map(|&region| &module.region(region).blocks);
    blocks.flat_map(|&block| module.ops_in(block).map(|(op, _)| op))
}
