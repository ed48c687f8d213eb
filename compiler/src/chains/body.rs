//! A body as a timeline.

use std::collections::HashMap;

use tfrt_ir::{OpId, Type, ValueId};

use super::{
    bodies::results_of,
    effects::{EXTERNAL, Effects, Event, Positions, Purpose, once},
    forms,
    parts::Pieces,
};
use crate::plan::order::{Access, Class, Timeline};

/// The chains that a body takes and gives beside those it has in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Interface {
    /// Whether it takes a chain, which all its accesses follow.
    pub(super) takes: bool,
    /// Whether it gives a chain, which follows all its accesses.
    pub(super) gives: bool,
    /// Whether the chain that it gives stands before its last result, which is the condition of a
    /// loop.
    pub(super) before_last: bool,
}

impl Interface {
    /// What two bodies take and give together.
    pub(super) fn or(self, other: Interface) -> Interface {
        Interface {
            takes: self.takes || other.takes,
            gives: self.gives || other.gives,
            before_last: self.before_last || other.before_last,
        }
    }
}

/// What a point stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// An argument or a result.
    Value,
    /// The chains that the body takes.
    Entry,
    /// A run of an operation without bodies.
    Kernel(OpId),
    /// An access in a body of an operation, made by a kernel.
    Inner(OpId, OpId),
    /// The chain that an operation with bodies takes.
    Gate(OpId),
    /// The chain that an operation with bodies gives.
    Done(OpId),
    /// The chain that the body gives.
    Exit,
}

/// The points of a body.
pub(super) struct BodyTimeline {
    pub(super) timeline: Timeline,
    /// For each point.
    pub(super) roles: Vec<Role>,
    /// What the classes of accesses are cut into.
    pub(super) pieces: Pieces,
    points: HashMap<ValueId, usize>,
}

impl BodyTimeline {
    /// Builds the timeline of a body. `interfaces` are those of all bodies.
    pub(super) fn new(effects: &Effects<'_>, body: usize, interfaces: &[Interface]) -> BodyTimeline {
        let block = effects.bodies.list()[body].block;
        let mut builder = BodyTimeline {
            timeline: Timeline::new(),
            roles: Vec::new(),
            pieces: Pieces::new(effects, block),
            points: HashMap::new(),
        };
        builder.add_arguments(effects, body, interfaces[body].takes);
        let ops = effects.module.ops_in(block).enumerate();
        for (number, (op, data)) in ops {
            let group = number + 1;
            if let Some(invocation) = effects.bodies.invocation(op) {
                builder.add_invocation(effects, op, interfaces[invocation.callees[0]], group);
                continue;
            }
            let after = if effects.is_strict(data) { builder.points_of(&data.operands) } else { Vec::new() };
            let accesses = builder.split(effects.accesses_by_value(data));
            let point = builder.push(Role::Kernel(op), group, after, accesses, true);
            // A kernel without effects on contents that gives no chain only waits for others.
            let accesses = &builder.timeline.point(point).accesses;
            let has_contents = accesses.iter().any(|access| access.class != EXTERNAL);
            builder.timeline.point_mut(point).is_awaited = effects.purpose == Purpose::Check
                || has_contents
                || forms::gives_chain(effects.module, effects.ops, op);
            builder.points.extend(data.results.iter().map(|&result| (result, point)));
        }
        let group = effects.module.op_count(block) + 1;
        let visible = builder.visible(effects, body);
        builder.push(Role::Exit, group, Vec::new(), visible, true);
        builder
    }

    /// Accesses as those of pieces, each once.
    fn split(&self, accesses: impl IntoIterator<Item = (Access, Option<ValueId>)>) -> Vec<Access> {
        once(accesses.into_iter().flat_map(|(access, value)| self.pieces.split(access, value)))
    }

    /// Writes to all that others can see of a body's effects.
    fn visible(&self, effects: &Effects<'_>, body: usize) -> Vec<Access> {
        self.split(visible(effects, body).into_iter().map(|access| (access, None)))
    }

    fn push(
        &mut self,
        role: Role,
        group: usize,
        after: Vec<usize>,
        accesses: Vec<Access>,
        is_barrier: bool,
    ) -> usize {
        self.roles.push(role);
        self.timeline.push(group, after, accesses, is_barrier)
    }

    fn points_of(&self, values: &[ValueId]) -> Vec<usize> {
        values.iter().filter_map(|value| self.points.get(value).copied()).collect()
    }

    fn add_arguments(&mut self, effects: &Effects<'_>, body: usize, takes: bool) {
        let info = &effects.bodies.list()[body];
        let arguments = &effects.module.block(info.block).arguments;
        let chain = Type::chain();
        let is_chain = |value: ValueId| *effects.module.value_type(value) == chain;
        // A caller outside the module gives the function chains that everything may have to follow.
        let is_entry = !info.is_called && arguments.iter().any(|&argument| is_chain(argument));
        let entry = (takes || is_entry).then(|| {
            let visible = self.visible(effects, body);
            self.push(Role::Entry, 0, Vec::new(), visible, true)
        });
        for &argument in arguments {
            let point = match entry.filter(|_| is_entry && is_chain(argument)) {
                Some(entry) => entry,
                None => self.push(Role::Value, 0, Vec::new(), Vec::new(), false),
            };
            self.points.insert(argument, point);
        }
    }

    fn add_invocation(&mut self, effects: &Effects<'_>, op: OpId, interface: Interface, group: usize) {
        let data = effects.module.op(op);
        let events = effects.events(op);
        let gate = interface.takes.then(|| self.push(Role::Gate(op), group, Vec::new(), Vec::new(), false));
        let events = if interface.takes {
            join_events(events)
        } else {
            let one = |event: Event| {
                let accesses = self.split([(event.access, event.value)]);
                (event, accesses)
            };
            events.into_iter().map(one).collect()
        };
        let mut inner: Vec<(usize, Positions)> = Vec::new();
        for (event, accesses) in events {
            let operands: Vec<ValueId> = event.waits_for.iter().map(|&index| data.operands[index]).collect();
            let mut after = self.points_of(&operands);
            after.extend(gate);
            let is_barrier = interface.takes && interface.gives;
            let point = self.push(Role::Inner(op, event.kernel), group, after, accesses, is_barrier);
            self.timeline.point_mut(point).gate = gate.unwrap_or(point);
            inner.push((point, event.told_by));
        }
        if interface.gives {
            let after = inner.iter().map(|&(point, _)| point).chain(gate).collect();
            let done = self.push(Role::Done(op), group, after, Vec::new(), false);
            inner.iter().for_each(|&(point, _)| self.timeline.point_mut(point).chain = done);
        }
        for (index, &result) in data.results.iter().enumerate() {
            let awaited: Vec<ValueId> =
                effects.awaited_operands(op, index).iter().map(|&operand| data.operands[operand]).collect();
            let mut after = self.points_of(&awaited);
            after.extend(
                inner.iter().filter(|(_, told_by)| told_by.contains(&index)).map(|&(point, _)| point),
            );
            let point = self.push(Role::Value, group, after, Vec::new(), false);
            self.points.insert(result, point);
        }
    }
}

/// All accesses of a call as one: it waits for what all wait for, and is told by what tells of all.
fn join_events(events: Vec<Event>) -> Vec<(Event, Vec<Access>)> {
    let mut accesses: HashMap<Class, bool> = HashMap::new();
    for event in &events {
        *accesses.entry(event.access.class).or_default() |= event.access.is_write;
    }
    let joined = events.into_iter().reduce(|mut joined, event| {
        joined.waits_for.retain(|operand| event.waits_for.contains(operand));
        joined.told_by.retain(|result| event.told_by.contains(result));
        joined
    });
    let accesses = accesses.into_iter().map(|(class, is_write)| Access { class, is_write }).collect();
    joined.map(|joined| (joined, accesses)).into_iter().collect()
}

/// Writes to all that others can see of a body's effects.
fn visible(effects: &Effects<'_>, body: usize) -> Vec<Access> {
    let block = effects.bodies.list()[body].block;
    let arguments = effects.module.block(block).arguments.iter();
    let values = arguments.chain(results_of(effects.module, block));
    let mut classes: Vec<Class> = values.map(|&value| effects.class_of(value)).collect();
    classes.push(EXTERNAL);
    classes.sort_unstable();
    classes.dedup();
    classes.into_iter().map(|class| Access { class, is_write: true }).collect()
}
