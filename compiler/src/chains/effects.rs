//! The effects of bodies: what they read and change, what of it waits for which argument, and what
//! result tells that it is done.
//!
//! The summaries of functions that call each other are a fixed point. Operations without the
//! attribute `bef.nonstrict` wait for all operands; the others are calls and control flow, which
//! hand their operands on.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tfrt_ir::{BlockId, Module, OpDefinition, OpId, OpRegistry, Operation, Type, TypeConstraint, ValueId};

use super::bodies::{Bodies, Control, Invocation, results_of};
use crate::plan::order::{Access, Class};

/// The class of effects beyond operands and results, such as output.
pub(super) const EXTERNAL: Class = 0;

/// The attribute of operations that do not wait for their operands.
const NONSTRICT: &str = "bef.nonstrict";

/// The most accesses that a summary tells apart.
const MAX_ACCESSES: usize = 1000;

/// Positions of arguments or results.
pub(crate) type Positions = BTreeSet<usize>;

/// Which contents an access of a summary is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// None: an effect beyond operands and results.
    External,
    /// Those of an argument of the body.
    Argument(usize),
    /// Those of a result of the body.
    Result(usize),
}

/// An access that a body makes, as seen from outside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OuterAccess {
    /// The contents.
    pub(super) place: Place,
    /// Whether it changes them.
    pub(super) is_write: bool,
    /// The arguments of the body that must be available before.
    pub(super) waits_for: Positions,
    /// The results of the body that are available only after.
    pub(super) told_by: Positions,
}

/// What is known of a body from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Summary {
    /// For each result the arguments that it waits for.
    pub(super) flow: Vec<Positions>,
    /// The accesses, each with one kernel that makes it.
    pub(super) accesses: BTreeMap<OuterAccess, OpId>,
}

/// What the analysis assumes where a program leaves it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To find missing chains: only accesses of contents count that kernels may read and write at
    /// the same time with undefined results, and what may be in order is.
    Check,
    /// To insert chains: all effects count, and what may be out of order is.
    Insert,
}

/// The effects of all bodies of a module.
#[derive(Debug)]
pub(super) struct Effects<'m> {
    pub(super) module: &'m Module,
    pub(super) ops: &'m OpRegistry,
    pub(super) bodies: &'m Bodies,
    pub(super) purpose: Purpose,
    classes: Classes,
    /// For each body.
    summaries: Vec<Summary>,
}

impl<'m> Effects<'m> {
    /// Analyzes a module.
    pub(super) fn new(
        module: &'m Module,
        ops: &'m OpRegistry,
        bodies: &'m Bodies,
        purpose: Purpose,
    ) -> Effects<'m> {
        let (general, actual) = Classes::new(module, ops, bodies);
        let mut effects = Effects { module, ops, bodies, purpose, classes: general, summaries: Vec::new() };
        effects.summaries = bodies.list().iter().map(|body| effects.initial(body.block)).collect();
        // First what waits for what, then who accesses what: the second depends on the first and
        // not the other way round.
        while effects.narrow_flow() {}
        while effects.add_accesses() {}
        effects.classes = actual;
        effects
    }

    /// Assumes that each result waits for all arguments.
    fn initial(&self, block: BlockId) -> Summary {
        let all: Positions = (0..self.module.block(block).arguments.len()).collect();
        let flow = vec![all; results_of(self.module, block).len()];
        Summary { flow, accesses: BTreeMap::new() }
    }

    /// The summary of a body.
    pub(super) fn summary(&self, body: usize) -> &Summary {
        &self.summaries[body]
    }

    /// The class of a value's contents.
    pub(super) fn class_of(&self, value: ValueId) -> Class {
        self.classes.class_of(value)
    }

    /// The first value, in program order, of a class.
    pub(super) fn first_of(&self, class: Class) -> Option<ValueId> {
        self.classes.first_of(class)
    }

    /// Whether an operation waits for its operands before it runs.
    pub(super) fn is_strict(&self, op: &Operation) -> bool {
        op.attr(NONSTRICT).is_none() && self.ops.get(&op.name).is_none_or(|definition| !definition.nonstrict)
    }

    /// Returns the number of classes, whose numbers are less.
    pub(super) fn class_count(&self) -> usize {
        self.classes.first.len() + 1
    }

    /// What an operation that runs no bodies reads and writes, each once.
    pub(super) fn accesses_of(&self, op: &Operation) -> Vec<Access> {
        once(self.accesses_by_value(op).into_iter().map(|(access, _)| access))
    }

    /// The same, with the value through which it does, once for each value.
    pub(super) fn accesses_by_value(&self, op: &Operation) -> Vec<(Access, Option<ValueId>)> {
        let mut found: Vec<(Access, Option<ValueId>)> = Vec::new();
        let mut add = |value: Option<ValueId>, is_write| {
            let class = value.map_or(EXTERNAL, |value| self.class_of(value));
            found.push((Access { class, is_write }, value));
        };
        let definition = self.ops.get(&op.name);
        match definition.and_then(|definition| Some((definition, definition.effects.as_ref()?))) {
            Some((definition, effects)) => {
                let of = |positions: &[usize]| -> Vec<ValueId> {
                    let groups = positions.iter().filter_map(|&index| definition.operand_group(op, index));
                    groups.flatten().copied().collect()
                };
                of(&effects.reads).into_iter().for_each(|value| add(Some(value), false));
                of(&effects.mutates).into_iter().for_each(|value| add(Some(value), true));
                if effects.side_effecting && can_be_ordered(definition) {
                    add(None, true);
                }
            }
            None if definition.is_some() => {}
            // Nothing is known of it.
            None => add(None, true),
        }
        if self.purpose == Purpose::Insert
            && self.calls_unknown_bodies(op)
            && definition.is_none_or(can_be_ordered)
        {
            add(None, true);
            let mutable = op.operands.iter().filter(|&&operand| self.has_contents(operand));
            mutable.for_each(|&operand| add(Some(operand), true));
        }
        found.retain(|(access, _)| self.counts(access.class));
        found
    }

    fn calls_unknown_bodies(&self, op: &Operation) -> bool {
        let definition = self.ops.get(&op.name);
        !op.regions.is_empty() || definition.is_some_and(|found| !found.function_attributes().is_empty())
    }

    /// Whether the value is of a type whose contents kernels may change.
    pub(super) fn has_contents(&self, value: ValueId) -> bool {
        self.ops.is_mutable_type(self.module.value_type(value))
    }

    fn counts(&self, class: Class) -> bool {
        match self.purpose {
            Purpose::Insert => true,
            Purpose::Check => self.classes.is_mutable(class),
        }
    }

    /// Recomputes what results wait for; whether anything changed. Sets only shrink.
    fn narrow_flow(&mut self) -> bool {
        let mut has_changed = false;
        for (index, body) in self.bodies.list().iter().enumerate() {
            if body.is_sync {
                continue;
            }
            let waits = self.waits_of(body.block);
            let results = results_of(self.module, body.block).iter();
            let flow: Vec<Positions> =
                results.map(|result| waits.get(result).cloned().unwrap_or_default()).collect();
            if flow != self.summaries[index].flow {
                self.summaries[index].flow = flow;
                has_changed = true;
            }
        }
        has_changed
    }

    /// For each value of a block the arguments that it waits for.
    fn waits_of(&self, block: BlockId) -> HashMap<ValueId, Positions> {
        let arguments = self.module.block(block).arguments.iter().enumerate();
        let mut waits: HashMap<ValueId, Positions> =
            arguments.map(|(index, &argument)| (argument, Positions::from([index]))).collect();
        for (op, data) in self.module.ops_in(block) {
            for (index, &result) in data.results.iter().enumerate() {
                let operands = self.awaited_operands(op, index);
                let of_operand = |operand: usize| waits.get(&data.operands[operand]);
                let all = operands.into_iter().filter_map(of_operand).flatten().copied().collect();
                waits.insert(result, all);
            }
        }
        waits
    }

    /// The operands that a result of an operation waits for.
    pub(super) fn awaited_operands(&self, op: OpId, result: usize) -> Positions {
        let data = self.module.op(op);
        let all = || (0..data.operands.len()).collect();
        if self.is_strict(data) {
            return all();
        }
        let Some(invocation) = self.bodies.invocation(op) else { return Positions::new() };
        let mut common: Option<Positions> = None;
        for &callee in &invocation.callees {
            let flow = &self.summaries[callee].flow;
            let of_result = flow.get(result).cloned().unwrap_or_default();
            let of_result = match invocation.control {
                // Without a single run the result is the argument.
                control if control.is_loop() => {
                    of_result.into_iter().filter(|&from| from == result).collect()
                }
                _ => of_result,
            };
            common = Some(match common {
                Some(common) => common.intersection(&of_result).copied().collect(),
                None => of_result,
            });
        }
        let arguments = common.unwrap_or_default().into_iter();
        let mut operands: Positions = arguments.map(|argument| invocation.operand_of(argument)).collect();
        operands.extend(invocation.has_decision().then_some(0));
        operands
    }

    /// Recomputes the accesses of bodies; whether there are new ones.
    fn add_accesses(&mut self) -> bool {
        let mut has_changed = false;
        for (index, body) in self.bodies.list().iter().enumerate() {
            let accesses = self.outer_accesses(body);
            let known = &mut self.summaries[index].accesses;
            if known.len() < MAX_ACCESSES {
                let count = known.len();
                for (access, op) in accesses {
                    known.entry(access).or_insert(op);
                }
                has_changed |= known.len() > count;
            }
        }
        has_changed
    }

    /// The accesses of a body that others can see.
    fn outer_accesses(&self, body: &super::bodies::Body) -> Vec<(OuterAccess, OpId)> {
        let places = self.places(body.block);
        let waits = self.waits_of(body.block);
        let told = Told::new(self, body.block);
        let everything = |values: &[ValueId]| (0..values.len()).collect::<Positions>();
        let arguments = &self.module.block(body.block).arguments;
        let results = results_of(self.module, body.block);
        let mut found = Vec::new();
        for (op, data) in self.module.ops_in(body.block) {
            for event in self.events(op) {
                let operands =
                    event.waits_for.iter().filter_map(|&operand| waits.get(&data.operands[operand]));
                let mut waits_for: Positions = operands.flatten().copied().collect();
                let mut told_by: Positions =
                    event.told_by.iter().flat_map(|&result| told.by(data.results[result])).copied().collect();
                if body.is_sync {
                    (waits_for, told_by) = (everything(arguments), everything(results));
                }
                for &place in places.get(&event.access.class).into_iter().flatten() {
                    let (waits_for, told_by) = (waits_for.clone(), told_by.clone());
                    let is_write = event.access.is_write;
                    found.push((OuterAccess { place, is_write, waits_for, told_by }, event.kernel));
                }
            }
        }
        found
    }

    /// What others call the classes of a block.
    fn places(&self, block: BlockId) -> HashMap<Class, Vec<Place>> {
        let mut places: HashMap<Class, Vec<Place>> = HashMap::from([(EXTERNAL, vec![Place::External])]);
        for (index, &argument) in self.module.block(block).arguments.iter().enumerate() {
            places.entry(self.class_of(argument)).or_default().push(Place::Argument(index));
        }
        for (index, &result) in results_of(self.module, block).iter().enumerate() {
            let place = places.entry(self.class_of(result)).or_default();
            // Arguments are known around the call under their own names.
            if !place.iter().any(|place| matches!(place, Place::Argument(_))) {
                place.push(Place::Result(index));
            }
        }
        places
    }

    /// The accesses that an operation makes, itself or in its bodies.
    pub(super) fn events(&self, op: OpId) -> Vec<Event> {
        let data = self.module.op(op);
        let Some(invocation) = self.bodies.invocation(op) else {
            let is_strict = self.is_strict(data);
            let operands = 0..if is_strict { data.operands.len() } else { 0 };
            let event = |access| Event {
                access,
                value: None,
                waits_for: operands.clone().collect(),
                told_by: (0..data.results.len()).collect(),
                kernel: op,
            };
            return self.accesses_of(data).into_iter().map(event).collect();
        };
        let mut events = Vec::new();
        for &callee in &invocation.callees {
            for (access, &kernel) in &self.summaries[callee].accesses {
                events.extend(self.event_of_call(op, invocation, callee, access, kernel));
            }
        }
        events
    }

    fn event_of_call(
        &self,
        op: OpId,
        invocation: &Invocation,
        callee: usize,
        access: &OuterAccess,
        kernel: OpId,
    ) -> Option<Event> {
        let data = self.module.op(op);
        let value = match access.place {
            Place::External => None,
            Place::Argument(index) => Some(*data.operands.get(invocation.operand_of(index))?),
            Place::Result(index) => Some(*data.results.get(index)?),
        };
        let class = value.map_or(EXTERNAL, |value| self.class_of(value));
        let flow = &self.summaries[callee].flow;
        let mut waits_for = access.waits_for.clone();
        let mut told_by = access.told_by.clone();
        let result_count = data.results.len();
        match invocation.control {
            control if control.is_loop() => {
                if told_by.contains(&result_count) {
                    // The loop ends only after the access has decided so.
                    told_by = (0..result_count).collect();
                } else {
                    told_by =
                        lasting(told_by, |kept, result| flow[result].iter().any(|from| kept.contains(from)));
                }
                waits_for = lasting(waits_for, |kept, argument| {
                    kept.iter().any(|&result| flow.get(result).is_some_and(|from| from.contains(&argument)))
                });
            }
            // A body that returns nothing is done when it returns.
            Control::Parallel if flow.is_empty() && self.purpose == Purpose::Check => {
                told_by = Positions::from([0])
            }
            _ => {}
        }
        let mut waits_for: Positions =
            waits_for.into_iter().map(|argument| invocation.operand_of(argument)).collect();
        waits_for.extend(invocation.has_decision().then_some(0));
        if self.is_strict(data) {
            waits_for = (0..data.operands.len()).collect();
        }
        told_by.retain(|&result| result < result_count);
        Some(Event { access: Access { class, is_write: access.is_write }, value, waits_for, told_by, kernel })
    }
}

/// Accesses of each class once, in the order of the classes.
pub(super) fn once(accesses: impl IntoIterator<Item = Access>) -> Vec<Access> {
    let mut found: BTreeMap<Class, bool> = BTreeMap::new();
    for access in accesses {
        *found.entry(access.class).or_default() |= access.is_write;
    }
    found.into_iter().map(|(class, is_write)| Access { class, is_write }).collect()
}

/// Whether chains can order calls of an operation.
fn can_be_ordered(definition: &OpDefinition) -> bool {
    let chain = TypeConstraint::Exactly(Type::chain());
    definition.chain_form.is_some() || definition.operands.iter().any(|spec| spec.constraint == chain)
}

/// The largest subset each of whose positions `stays` in it.
fn lasting(mut kept: Positions, stays: impl Fn(&Positions, usize) -> bool) -> Positions {
    loop {
        let next: Positions = kept.iter().copied().filter(|&position| stays(&kept, position)).collect();
        if next.len() == kept.len() {
            return kept;
        }
        kept = next;
    }
}

/// An access that an operation makes.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// What it accesses.
    pub(super) access: Access,
    /// The operand or result of the call through which it does.
    pub(super) value: Option<ValueId>,
    /// The operands that it waits for.
    pub(super) waits_for: Positions,
    /// The results that are available only after it.
    pub(super) told_by: Positions,
    /// The kernel that makes it, which may be in a body.
    pub(super) kernel: OpId,
}

/// Which results of a block wait for which of its values.
struct Told(HashMap<ValueId, Positions>);

impl Told {
    fn new(effects: &Effects<'_>, block: BlockId) -> Told {
        let mut told: HashMap<ValueId, Positions> = HashMap::new();
        for (index, &result) in results_of(effects.module, block).iter().enumerate() {
            told.entry(result).or_default().insert(index);
        }
        for (op, data) in effects.module.ops_in(block).rev() {
            for (index, result) in data.results.iter().enumerate() {
                let Some(by) = told.get(result).cloned() else { continue };
                for operand in effects.awaited_operands(op, index) {
                    told.entry(data.operands[operand]).or_default().extend(&by);
                }
            }
        }
        Told(told)
    }

    fn by(&self, value: ValueId) -> impl Iterator<Item = &usize> {
        self.0.get(&value).into_iter().flatten()
    }
}

/// Values by the contents that they share.
#[derive(Clone, Debug)]
struct Classes {
    /// For each value the first one that shares its contents.
    first: Vec<usize>,
    /// The values by number.
    values: Vec<Option<ValueId>>,
    /// For each first value whether kernels may change the contents.
    is_mutable: Vec<bool>,
}

impl Classes {
    /// Returns the classes as bodies see them under any caller, and the classes under the module's
    /// own calls.
    fn new(module: &Module, ops: &OpRegistry, bodies: &Bodies) -> (Classes, Classes) {
        let mut sets = UnionFind((0..module.value_id_count()).collect());
        for body in bodies.list() {
            module.ops_in(body.block).for_each(|(_, data)| join_views(ops, data, &mut sets));
        }
        while join_calls(module, bodies, &mut sets, Side::Outside) {}
        let general = Classes::of_sets(module, ops, &mut sets);
        while join_calls(module, bodies, &mut sets, Side::Inside) {}
        (general, Classes::of_sets(module, ops, &mut sets))
    }

    fn of_sets(module: &Module, ops: &OpRegistry, sets: &mut UnionFind) -> Classes {
        let count = module.value_id_count();
        let first: Vec<usize> = (0..count).map(|value| sets.find(value)).collect();
        let mut classes = Classes { first, values: vec![None; count], is_mutable: vec![false; count] };
        let of_block = |block: &BlockId| {
            let results = module.ops_in(*block).flat_map(|(_, data)| data.results.iter().copied());
            module.block(*block).arguments.iter().copied().chain(results).collect::<Vec<_>>()
        };
        for op in module.walk(module.root()) {
            let blocks = module.op(op).regions.iter().flat_map(|&region| &module.region(region).blocks);
            for value in blocks.flat_map(of_block) {
                classes.values[value.index()] = Some(value);
                let first = classes.first[value.index()];
                classes.is_mutable[first] |= ops.is_mutable_type(module.value_type(value));
            }
        }
        classes
    }

    fn class_of(&self, value: ValueId) -> Class {
        self.first[value.index()] + 1
    }

    fn first_of(&self, class: Class) -> Option<ValueId> {
        self.values.get(class.checked_sub(1)?).copied().flatten()
    }

    fn is_mutable(&self, class: Class) -> bool {
        class.checked_sub(1).is_some_and(|first| self.is_mutable[first])
    }
}

/// Joins the operands and results of an operation that share contents.
fn join_views(ops: &OpRegistry, data: &Operation, sets: &mut UnionFind) {
    let Some(definition) = ops.get(&data.name) else { return };
    for alias in definition.effects.iter().flat_map(|effects| &effects.aliases) {
        let operands = definition.operand_group(data, alias.operand).unwrap_or_default();
        let results = definition.result_group(data, alias.result).unwrap_or_default();
        for (operand, result) in operands.iter().flat_map(|o| results.iter().map(move |r| (o, r))) {
            sets.join(operand.index(), result.index());
        }
    }
}

/// Where values are joined because their counterparts on the other side of a call are.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    /// Operands and results of calls, because they are one in the body.
    Outside,
    /// Arguments of bodies, because a call passes the same twice.
    Inside,
}

/// Joins what shares contents because of calls. Whether anything changed.
fn join_calls(module: &Module, bodies: &Bodies, sets: &mut UnionFind, side: Side) -> bool {
    let mut has_changed = false;
    for (op, invocation) in bodies.invocations() {
        let data = module.op(op);
        if invocation.control.is_loop() {
            for (result, operand) in data.results.iter().zip(data.operands.iter().skip(1)) {
                has_changed |= sets.join(result.index(), operand.index());
            }
        }
        for &callee in &invocation.callees {
            let block = bodies.list()[callee].block;
            let arguments = module.block(block).arguments.iter().enumerate().filter_map(|(index, inner)| {
                Some((*inner, *data.operands.get(invocation.operand_of(index))?))
            });
            let results = results_of(module, block).iter().copied().zip(data.results.iter().copied());
            // One value on the `from` side and the first of its counterparts.
            let mut counterparts: HashMap<usize, usize> = HashMap::new();
            for (inside, outside) in arguments.chain(results) {
                let (from, to) = match side {
                    Side::Outside => (inside.index(), outside.index()),
                    Side::Inside => (outside.index(), inside.index()),
                };
                let first = *counterparts.entry(sets.find(from)).or_insert(to);
                has_changed |= sets.join(first, to);
            }
        }
    }
    has_changed
}

/// Disjoint sets of numbers; each is represented by its least one.
struct UnionFind(Vec<usize>);

impl UnionFind {
    fn find(&mut self, mut number: usize) -> usize {
        while self.0[number] != number {
            self.0[number] = self.0[self.0[number]];
            number = self.0[number];
        }
        number
    }

    /// Joins the sets of two numbers; whether they were apart.
    fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
        a != b
    }
}
