//! [`Effects`]: which operations do more than make their results.

use std::collections::{HashMap, HashSet};

use tfrt_ir::{Attribute, Module, OpId};

use crate::Evaluator;

/// The operations and functions with effects.
pub(crate) struct Effects {
    ops: HashSet<OpId>,
    functions: HashSet<String>,
}

impl Effects {
    /// Finds the ops with side effects, and the functions that call them, directly or not.
    pub(super) fn find(module: &Module, evaluator: &Evaluator) -> Self {
        Self::of(module, |name| {
            evaluator.op(name).is_some_and(tfrt_eager::Op::is_side_effecting)
                || name.starts_with("tf_executor.Send")
        })
    }

    /// Finds the ops that read or change resources, and the functions that call them, directly or
    /// not.
    pub(crate) fn of_resources(module: &Module, evaluator: &Evaluator) -> Self {
        Self::of(module, |name| evaluator.op(name).is_some_and(|op| op.effects().has_resources()))
    }

    fn of(module: &Module, is_wanted: impl Fn(&str) -> bool) -> Self {
        let mut effects = Self { ops: HashSet::new(), functions: HashSet::new() };
        let mut calls: HashMap<&str, HashSet<&str>> = HashMap::new();
        for function in module.functions() {
            for op in module.walk(function.op()).skip(1) {
                if is_wanted(&module.op(op).name) {
                    effects.ops.insert(op);
                    effects.functions.insert(function.name().to_owned());
                }
                calls.entry(function.name()).or_default().extend(callees(module, op));
            }
        }
        loop {
            let callers = calls.iter().filter(|(caller, callees)| {
                !effects.functions.contains(**caller)
                    && callees.iter().any(|callee| effects.functions.contains(*callee))
            });
            let callers: Vec<String> = callers.map(|(&caller, _)| caller.to_owned()).collect();
            if callers.is_empty() {
                return effects;
            }
            effects.functions.extend(callers);
        }
    }

    /// Whether an operation that contains no others, or a function that it calls, has effects.
    pub(crate) fn uses(&self, module: &Module, op: OpId) -> bool {
        self.ops.contains(&op) || callees(module, op).iter().any(|name| self.functions.contains(*name))
    }

    /// Whether an operation, anything inside it, or a function that it calls has effects.
    pub(super) fn has_effects(&self, module: &Module, op: OpId) -> bool {
        module.walk(op).any(|inner| self.uses(module, inner))
    }
}

/// The functions that an operation calls.
pub(crate) fn callees(module: &Module, op: OpId) -> Vec<&str> {
    let mut names = Vec::new();
    for (_, value) in module.op(op).attributes.iter() {
        match value {
            Attribute::Array(elements) => {
                names.extend(elements.iter().filter_map(|element| Some(element.as_flat_symbol()?.as_str())));
            }
            other => names.extend(other.as_flat_symbol().map(tfrt_ir::Name::as_str)),
        }
    }
    names
}
