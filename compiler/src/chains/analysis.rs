//! [`Analysis`]: what other parts of the compiler ask about the bodies and kernels of a kernel graph.

use tfrt_ir::{BlockId, Module, OpId, OpRegistry, Operation, ValueId};

use super::{
    bodies::{Bodies, Control},
    effects::{Effects, Positions, Purpose},
};

/// An access that an operation makes, itself or in the bodies that it runs.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    /// The class of the contents.
    pub(crate) class: usize,
    /// Whether it changes them.
    pub(crate) is_write: bool,
    /// The operands that it waits for.
    pub(crate) waits_for: Positions,
    /// The results that are available only after it.
    pub(crate) told_by: Positions,
    /// The kernel that makes it.
    pub(crate) kernel: OpId,
}

/// The bodies and the effects of a module.
pub(crate) struct Analysis<'m> {
    effects: Effects<'m>,
    uses_devices: Vec<bool>,
}

impl<'m> Analysis<'m> {
    /// Analyzes a module.
    pub(crate) fn new(module: &'m Module, ops: &'m OpRegistry, bodies: &'m Bodies) -> Analysis<'m> {
        let is_device =
            |block: BlockId| module.ops_in(block).any(|(_, data)| data.name.starts_with("tfrt_cuda"));
        let uses = |body: usize| {
            bodies.reachable(module, body).into_iter().any(|body| is_device(bodies.list()[body].block))
        };
        Analysis {
            effects: Effects::new(module, ops, bodies, Purpose::Check),
            uses_devices: (0..bodies.list().len()).map(uses).collect(),
        }
    }

    /// Returns how an operation runs bodies, and which.
    pub(crate) fn invocation(&self, op: OpId) -> Option<(Control, Vec<usize>)> {
        let invocation = self.effects.bodies.invocation(op)?;
        Some((invocation.control, invocation.callees.clone()))
    }

    /// Returns a body's block, and whether its kernels run one after the other.
    pub(crate) fn body(&self, body: usize) -> (BlockId, bool) {
        let body = &self.effects.bodies.list()[body];
        (body.block, body.is_sync)
    }

    /// Returns whether a body, or one that it runs, has kernels of devices.
    pub(crate) fn uses_devices(&self, body: usize) -> bool {
        self.uses_devices[body]
    }

    /// Returns whether an operation waits for its operands.
    pub(crate) fn is_strict(&self, op: &Operation) -> bool {
        self.effects.is_strict(op)
    }

    /// Returns the operands that a result waits for.
    pub(crate) fn awaited_operands(&self, op: OpId, result: usize) -> Positions {
        self.effects.awaited_operands(op, result)
    }

    /// Returns the class of a value's contents.
    pub(crate) fn class_of(&self, value: ValueId) -> usize {
        self.effects.class_of(value)
    }

    /// Returns the accesses of an operation.
    pub(crate) fn effects(&self, op: OpId) -> Vec<Effect> {
        let events = self.effects.events(op).into_iter();
        let effect = |event: super::effects::Event| Effect {
            class: event.access.class,
            is_write: event.access.is_write,
            waits_for: event.waits_for,
            told_by: event.told_by,
            kernel: event.kernel,
        };
        events.map(effect).collect()
    }

    /// Returns the operand that a result shares its contents with, by the operation's definition.
    pub(crate) fn shared_operand(&self, op: OpId, result: usize) -> Option<usize> {
        let data = self.effects.module.op(op);
        let definition = self.effects.ops.get(&data.name)?;
        let value = data.results.get(result)?;
        let aliases = &definition.effects.as_ref()?.aliases;
        let is_of = |alias: &&tfrt_ir::Alias| {
            definition.result_group(data, alias.result).unwrap_or_default().contains(value)
        };
        let alias = aliases.iter().find(is_of)?;
        let operand = definition.operand_group(data, alias.operand)?.first()?;
        data.operands.iter().position(|other| other == operand)
    }
}
