//! Ops of a model's main function that are computed once, before the first call: those that depend
//! on constants alone and are too large to be folded into the program.

use std::collections::{BTreeSet, HashSet};

use tfrt_ir::{OpId, ValueId};

use crate::{ConstantId, Evaluator, Graph, MAIN, builder::is_random};

/// What the setup function computes for `main`.
#[derive(Default)]
pub(super) struct Hoisted {
    /// The constants and ops, in order.
    pub(super) ops: Vec<OpId>,
    /// The constants that they take.
    pub(super) constants: BTreeSet<ConstantId>,
    /// The results that other ops of `main` take, in order.
    pub(super) values: Vec<ValueId>,
    /// The ops, without the constants.
    computed: HashSet<OpId>,
    /// The constants that no other op takes.
    own_constants: BTreeSet<ConstantId>,
}

impl Hoisted {
    /// Finds the ops of `main` that depend on constants alone.
    pub(super) fn find(graph: &Graph, evaluator: &Evaluator) -> Self {
        let mut hoisted = Self::default();
        let module = &graph.module;
        let Some(block) = module.function(MAIN).and_then(|function| function.body()) else { return hoisted };
        let mut known = HashSet::new();
        for (id, op) in module.ops_in(block) {
            let is_constant = graph.constant_id(id).is_some();
            let is_computed = !is_constant
                && !op.operands.is_empty()
                && op.operands.iter().all(|operand| known.contains(operand))
                && !is_random(&op.name)
                && evaluator.op(&op.name).is_some_and(|op| op.runs_on_host() && !op.is_side_effecting());
            if is_computed {
                hoisted.computed.insert(id);
            }
            if is_computed || is_constant {
                known.extend(op.results.iter().copied());
                hoisted.ops.push(id);
            }
        }
        hoisted.find_uses(graph);
        hoisted
    }

    /// Finds what crosses from setup to `main`, and drops the constants that setup does not need.
    fn find_uses(&mut self, graph: &Graph) {
        let Self { ops, constants, values, computed, own_constants } = self;
        let module = &graph.module;
        ops.retain(|&id| {
            let users = |value: &ValueId| module.uses_of(*value).map(|used| computed.contains(&used.op));
            let results = &module.op(id).results;
            let Some(constant) = graph.constant_id(id) else {
                values.extend(results.iter().filter(|value| users(value).any(|is_computed| !is_computed)));
                return true;
            };
            let is_taken = results.iter().flat_map(users).any(|is_computed| is_computed);
            if is_taken {
                constants.insert(constant);
                if results.iter().flat_map(users).all(|is_computed| is_computed) {
                    own_constants.insert(constant);
                }
            }
            is_taken
        });
    }

    /// Whether an op of `main` is computed before the first call.
    pub(super) fn contains(&self, op: OpId) -> bool {
        self.computed.contains(&op)
    }

    /// Whether `main` needs no constant of this number, because only hoisted ops take it.
    pub(super) fn owns(&self, constant: ConstantId) -> bool {
        self.own_constants.contains(&constant)
    }
}
