//! Writes planned chains into a module.

use std::collections::{HashMap, HashSet};

use tfrt_ir::{
    Builder, Diagnostic, Diagnostics, InsertionPoint, Module, OpId, OpRegistry, OpState, Type, ValueId,
};

use super::bodies::{Control, results_of};
use super::{
    MERGE_CHAINS,
    body::{Interface, Role},
    forms,
    insert::BodyPlan,
    strip::{new_chain, retype},
};

pub(super) struct Writer<'m> {
    module: &'m mut Module,
    ops: &'m OpRegistry,
    interfaces: &'m [Interface],
    pub(super) errors: Diagnostics,
}

/// What is known while the chains of one body are written.
struct State {
    plan: BodyPlan,
    /// The chains of points.
    values: HashMap<usize, ValueId>,
    /// Points whose chains others take.
    sources: HashSet<usize>,
    /// A chain that orders nothing.
    trivial: Option<ValueId>,
    /// Chains of several.
    merged: HashMap<Vec<ValueId>, ValueId>,
}

impl<'m> Writer<'m> {
    pub(super) fn new(
        module: &'m mut Module,
        ops: &'m OpRegistry,
        interfaces: &'m [Interface],
    ) -> Writer<'m> {
        Writer { module, ops, interfaces, errors: Diagnostics::new() }
    }

    /// Writes the chains of a body.
    pub(super) fn write(&mut self, plan: BodyPlan) {
        let interface = self.interfaces[plan.index];
        let argument = interface.takes.then(|| self.module.add_argument(plan.block, Type::chain()));
        let sources = plan.taken.iter().flatten().copied().collect();
        let mut state =
            State { plan, values: HashMap::new(), sources, trivial: None, merged: HashMap::new() };
        self.write_entry(&mut state, argument);
        let mut points: HashMap<OpId, Vec<usize>> = HashMap::new();
        for (point, role) in state.plan.roles.iter().enumerate() {
            if let Role::Kernel(op) | Role::Gate(op) | Role::Done(op) = role {
                points.entry(*op).or_default().push(point);
            }
        }
        let calls: HashMap<OpId, (Control, usize)> =
            state.plan.calls.iter().map(|&(op, control, callee)| (op, (control, callee))).collect();
        let ops: Vec<OpId> = self.module.ops_in(state.plan.block).map(|(op, _)| op).collect();
        for op in ops {
            let points = points.get(&op).map_or(&[][..], Vec::as_slice);
            match calls.get(&op) {
                Some(&(control, callee)) => self.write_call(&mut state, op, control, callee, points),
                None => {
                    if let [point] = *points {
                        self.write_kernel(&mut state, op, point);
                    }
                }
            }
        }
        self.write_return(&mut state, interface, argument);
        retype(self.module, state.plan.owner, state.plan.block);
    }

    /// Finds the chain that stands for all that comes before the body.
    fn write_entry(&mut self, state: &mut State, argument: Option<ValueId>) {
        let Some(entry) = state.plan.roles.iter().position(|role| *role == Role::Entry) else { return };
        if let Some(argument) = argument {
            state.values.insert(entry, argument);
            return;
        }
        if !state.sources.contains(&entry) {
            return;
        }
        let arguments = self.module.block(state.plan.block).arguments.iter().copied();
        let chains: Vec<ValueId> =
            arguments.filter(|&argument| *self.module.value_type(argument) == Type::chain()).collect();
        let chain = match chains[..] {
            [chain] => chain,
            _ => {
                let point = InsertionPoint::Start(state.plan.block);
                let merge = OpState::new(MERGE_CHAINS).operands(chains);
                Builder::new(self.module, point).create_value(merge, Type::chain())
            }
        };
        state.values.insert(entry, chain);
    }

    /// The chain of all these points, if there are any, for use by `op`.
    fn chain_of(
        &mut self,
        state: &mut State,
        op: OpId,
        point: usize,
        other: Option<ValueId>,
    ) -> Option<ValueId> {
        let taken = state.plan.taken[point].iter().filter_map(|chain| state.values.get(chain).copied());
        let mut chains: Vec<ValueId> = taken.chain(other).collect();
        chains.sort_unstable();
        chains.dedup();
        if let [] | [_] = chains[..] {
            return chains.first().copied();
        }
        if let Some(&merged) = state.merged.get(&chains) {
            return Some(merged);
        }
        let merge = OpState::new(MERGE_CHAINS).operands(chains.clone());
        let value = Builder::before(self.module, op).create_value(merge, Type::chain());
        state.merged.insert(chains, value);
        Some(value)
    }

    fn trivial(&mut self, state: &mut State) -> ValueId {
        *state.trivial.get_or_insert_with(|| new_chain(self.module, state.plan.block))
    }

    /// Gives a kernel the chains that it takes, and finds the one that it gives.
    fn write_kernel(&mut self, state: &mut State, op: OpId, point: usize) {
        let mut op = op;
        let needs_operand = !state.plan.taken[point].is_empty();
        let needs_result = state.sources.contains(&point);
        if !needs_operand && !needs_result {
            return;
        }
        let has_result = !needs_result || forms::chain_result(self.module, self.ops, op).is_some();
        let has_operand = !needs_operand || forms::chain_operand(self.module, self.ops, op).is_some();
        if !(has_result && has_operand) {
            match self.chain_form(state, op) {
                Some(form) => op = form,
                None => return self.refuse(op),
            }
        }
        if needs_operand && let Some(position) = forms::chain_operand(self.module, self.ops, op) {
            let old = self.module.op(op).operands[position];
            let other = (!forms::is_trivial(self.module, old)).then_some(old);
            if let Some(chain) = self.chain_of(state, op, point, other) {
                self.module.set_operand(op, position, chain);
            }
        }
        if needs_result && let Some(result) = forms::chain_result(self.module, self.ops, op) {
            state.values.insert(point, result);
        }
    }

    /// Replaces a kernel by the one that does the same with a chain.
    fn chain_form(&mut self, state: &mut State, op: OpId) -> Option<OpId> {
        let data = self.module.op(op);
        let form = self.ops.get(self.ops.get(&data.name)?.chain_form.as_ref()?)?.name.clone();
        let mut operands = data.operands.clone();
        let mut types = self.module.result_types(op);
        types.push(Type::chain());
        let has_chain = operands.last().is_some_and(|&last| *self.module.value_type(last) == Type::chain());
        if !has_chain {
            operands.push(self.trivial(state));
        }
        Some(forms::rebuild(self.module, op, form, operands, types, |index| index))
    }

    fn refuse(&mut self, op: OpId) {
        let data = self.module.op(op);
        let message = format!("'{}' must be ordered, but takes or gives no chain", data.name);
        self.errors.push(Diagnostic::error(data.location.clone(), message));
    }

    /// Adds the chains that an operation with bodies takes and gives.
    fn write_call(&mut self, state: &mut State, op: OpId, control: Control, callee: usize, points: &[usize]) {
        let interface = self.interfaces[callee];
        let of_role = |wanted: fn(&Role) -> bool| {
            points.iter().copied().find(|&point| wanted(&state.plan.roles[point]))
        };
        let gate = of_role(|role| matches!(role, Role::Gate(_)));
        let done = of_role(|role| matches!(role, Role::Done(_)));
        if !interface.takes && !interface.gives {
            return;
        }
        let mut operands = self.module.op(op).operands.clone();
        if interface.takes {
            let chain = gate.and_then(|gate| self.chain_of(state, op, gate, None));
            let chain = chain.unwrap_or_else(|| self.trivial(state));
            operands.push(chain);
        }
        let mut types = self.module.result_types(op);
        let mut place = 0;
        let adds_result = interface.gives && control != Control::Parallel;
        if adds_result {
            // The condition of a loop is a result of the body and not of the loop.
            let is_last = interface.before_last && control != Control::While;
            place = types.len().saturating_sub(usize::from(is_last));
            types.insert(place, Type::chain());
        }
        let name = self.module.op(op).name.clone();
        let moved = |index| if adds_result && index >= place { index + 1 } else { index };
        let op = forms::rebuild(self.module, op, name, operands, types, moved);
        if let Some(done) = done {
            state.values.insert(done, self.module.op(op).results[place]);
        }
    }

    /// Returns the chain that tells of all effects, if the body gives one.
    fn write_return(&mut self, state: &mut State, interface: Interface, argument: Option<ValueId>) {
        let Some(last) = self.module.last_op(state.plan.block) else { return };
        let exit = state.plan.taken.len().checked_sub(1);
        let chain = exit.and_then(|exit| self.chain_of(state, last, exit, None));
        let mut results = results_of(self.module, state.plan.block).to_vec();
        let is_given = |module: &Module, value: ValueId| {
            *module.value_type(value) == Type::chain() && forms::is_trivial(module, value)
        };
        if interface.gives {
            let chain = chain.or(argument).unwrap_or_else(|| self.trivial(state));
            if state.plan.is_parallel && results.len() == 1 {
                results[0] = self.join(last, results[0], chain);
            } else {
                let place = results.len().saturating_sub(usize::from(interface.before_last));
                results.insert(place, chain);
            }
        } else if let Some(chain) = chain {
            for result in &mut results {
                if is_given(self.module, *result) {
                    *result = chain;
                }
            }
        }
        if results != results_of(self.module, state.plan.block) {
            self.module.set_operands(last, results);
        }
    }

    /// A chain of two, the first of which may order nothing.
    fn join(&mut self, op: OpId, first: ValueId, second: ValueId) -> ValueId {
        if first == second || forms::is_trivial(self.module, first) {
            return second;
        }
        let merge = OpState::new(MERGE_CHAINS).operands([first, second]);
        Builder::before(self.module, op).create_value(merge, Type::chain())
    }
}
