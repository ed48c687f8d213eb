//! Inserts chains: decides what bodies take and give, then writes the chains down.

use std::collections::HashSet;

use tfrt_ir::{BlockId, Diagnostic, Diagnostics, Module, OpId, OpRegistry};

use super::{
    bodies::{Bodies, Control, results_of},
    body::{BodyTimeline, Interface, Role},
    check::unordered_iterations,
    effects::{Effects, Purpose},
    forms, strip,
    write::Writer,
};

/// Inserts the fewest chains that order all conflicting pairs of kernels as the text has them:
/// effects beyond operands and results, and accesses of the same contents one of which is a write.
/// Kernels without conflict stay unordered. Functions, branches and loops take and give chains
/// where that is needed. Chains that are there stay.
///
/// Operations may lack the chains of their definitions: they get them. Kernels that have none are
/// replaced by their chain forms. A chain that a function gives to the outside and that orders
/// nothing, as one from `tfrt.new.chain`, becomes one that is available when the function's effects
/// are done.
///
/// # Errors
/// The operations that must be ordered and that no chain can order. The module is then partly
/// changed.
pub fn insert(module: &mut Module, ops: &OpRegistry) -> Result<(), Diagnostics> {
    complete(module, ops);
    let bodies = Bodies::new(module);
    let plan = Planner::new(module, ops, &bodies).plan()?;
    let mut writer = Writer::new(module, ops, &plan.interfaces);
    for body in plan.bodies {
        writer.write(body);
    }
    let errors = writer.errors;
    for body in bodies.list() {
        strip::remove_unused(module, body.block);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Gives operations that lack their chains new ones, which order nothing.
fn complete(module: &mut Module, ops: &OpRegistry) {
    for body in Bodies::new(module).list() {
        let mut trivial = None;
        let in_block: Vec<OpId> = module.ops_in(body.block).map(|(op, _)| op).collect();
        for op in in_block {
            let Some(definition) = ops.get(&module.op(op).name) else { continue };
            let first =
                module.first_op(body.block).and_then(|first| module.op(first).results.first().copied());
            let probe = trivial.or(first);
            let is_complete = probe
                .is_some_and(|probe| forms::complete(module, definition, module.op(op), probe).is_none());
            if is_complete {
                continue;
            }
            let chain = *trivial.get_or_insert_with(|| strip::new_chain(module, body.block));
            let Some((operands, types, places)) = forms::complete(module, definition, module.op(op), chain)
            else {
                continue;
            };
            let name = module.op(op).name.clone();
            forms::rebuild(module, op, name, operands, types, |index| places[index]);
        }
    }
}

/// The chains of a body, to be written down.
#[derive(Debug)]
pub(super) struct BodyPlan {
    pub(super) index: usize,
    pub(super) owner: OpId,
    pub(super) block: BlockId,
    pub(super) is_sync: bool,
    pub(super) roles: Vec<Role>,
    /// For each point the points whose chains it takes.
    pub(super) taken: Vec<Vec<usize>>,
    /// The operations that run bodies, and which.
    pub(super) calls: Vec<(OpId, Control, usize)>,
    /// Whether parallel loops run the body, whose only result, if there is one, is then a chain.
    pub(super) is_parallel: bool,
}

struct Plan {
    interfaces: Vec<Interface>,
    bodies: Vec<BodyPlan>,
}

struct Planner<'m> {
    effects: Effects<'m>,
    module: &'m Module,
    bodies: &'m Bodies,
    interfaces: Vec<Interface>,
    errors: Diagnostics,
    refused: HashSet<OpId>,
}

impl<'m> Planner<'m> {
    fn new(module: &'m Module, ops: &'m OpRegistry, bodies: &'m Bodies) -> Planner<'m> {
        let effects = Effects::new(module, ops, bodies, Purpose::Insert);
        let interfaces = vec![Interface::default(); bodies.list().len()];
        Planner { effects, module, bodies, interfaces, errors: Diagnostics::new(), refused: HashSet::new() }
    }

    fn plan(mut self) -> Result<Plan, Diagnostics> {
        for (_, invocation) in self.bodies.invocations() {
            for &callee in &invocation.callees {
                self.interfaces[callee].before_last |= invocation.control == Control::While;
            }
        }
        loop {
            let before = self.interfaces.clone();
            for body in 0..self.bodies.list().len() {
                self.demand(body);
            }
            while self.agree() {}
            if self.interfaces == before {
                break;
            }
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let bodies = (0..self.bodies.list().len()).map(|body| self.body_plan(body)).collect();
        Ok(Plan { interfaces: self.interfaces, bodies })
    }

    /// The chains of a body with the interfaces so far.
    fn body_plan(&self, index: usize) -> BodyPlan {
        let body = &self.bodies.list()[index];
        let mut plan = BodyPlan {
            index,
            owner: body.owner,
            block: body.block,
            is_sync: body.is_sync,
            roles: Vec::new(),
            taken: Vec::new(),
            calls: Vec::new(),
            is_parallel: self.bodies.invocations().any(|(_, invocation)| {
                invocation.control == Control::Parallel && invocation.callees.contains(&index)
            }),
        };
        for (op, _) in self.module.ops_in(body.block) {
            if let Some(invocation) = self.bodies.invocation(op) {
                plan.calls.push((op, invocation.control, invocation.callees[0]));
            }
        }
        if body.is_sync {
            return plan;
        }
        let points = BodyTimeline::new(&self.effects, index, &self.interfaces);
        plan.taken = points.timeline.chains();
        plan.roles = points.roles;
        if !self.needs_exit(index)
            && let Some(exit) = plan.taken.last_mut()
        {
            exit.clear();
        }
        plan
    }

    /// Whether the body returns a chain that tells of all its effects.
    fn needs_exit(&self, index: usize) -> bool {
        let block = self.bodies.list()[index].block;
        let is_trivial = |&value: &tfrt_ir::ValueId| {
            *self.module.value_type(value) == tfrt_ir::Type::chain() && forms::is_trivial(self.module, value)
        };
        self.interfaces[index].gives || results_of(self.module, block).iter().any(is_trivial)
    }

    /// Notes what the operations of a body must take and give.
    fn demand(&mut self, index: usize) {
        let plan = self.body_plan(index);
        for (point, chains) in plan.taken.iter().enumerate() {
            if let (Role::Inner(op, _), false) = (plan.roles[point], chains.is_empty()) {
                self.change(op, |interface| interface.takes = true);
            }
            for &chain in chains {
                if let Role::Inner(op, _) = plan.roles[chain] {
                    self.change(op, |interface| interface.gives = true);
                }
            }
        }
        for (op, control, _) in plan.calls {
            if control.is_loop() && !plan.is_sync && !unordered_iterations(&self.effects, op).is_empty() {
                self.change(op, |interface| (interface.takes, interface.gives) = (true, true));
            }
        }
    }

    fn change(&mut self, op: OpId, change: impl Fn(&mut Interface)) {
        let Some(invocation) = self.bodies.invocation(op) else { return };
        for &callee in &invocation.callees {
            if self.bodies.list()[callee].is_opaque {
                if self.refused.insert(op) {
                    let data = self.module.op(op);
                    let message = format!(
                        "no chain can order '{}', because an operation of unknown meaning refers to what it runs",
                        data.name
                    );
                    self.errors.push(Diagnostic::error(data.location.clone(), message));
                }
                continue;
            }
            change(&mut self.interfaces[callee]);
        }
    }

    /// Makes bodies that stand for each other take and give the same. Whether anything changed.
    fn agree(&mut self) -> bool {
        let before = self.interfaces.clone();
        for (_, invocation) in self.bodies.invocations() {
            let mut common = Interface::default();
            for &callee in &invocation.callees {
                common = common.or(self.interfaces[callee]);
            }
            if invocation.control.is_loop() {
                common.takes |= common.gives;
                common.gives = common.takes;
            }
            for &callee in &invocation.callees {
                self.interfaces[callee] = common;
            }
        }
        for (body, interface) in self.bodies.list().iter().zip(&mut self.interfaces) {
            // A synchronous function has no other chain to give than the one that it takes.
            interface.takes |= interface.gives && body.is_sync;
        }
        self.interfaces != before
    }
}
