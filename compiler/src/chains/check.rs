//! Finds missing chains: accesses of the same contents, one of them a write, that nothing orders.

use std::collections::BTreeSet;

use tfrt_ir::{FUNC, Location, Module, OpId, OpRegistry, ValueDef, ValueId};

use super::{
    bodies::{Bodies, Control},
    body::{BodyTimeline, Interface, Role},
    effects::{Effects, OuterAccess, Place, Purpose},
};
use crate::plan::order::Class;

/// Two kernels that access the same contents, and that no chain orders.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingChain {
    /// What is wrong.
    pub message: String,
    /// Where the later kernel stands.
    pub location: Location,
    /// The places of the two kernels.
    pub kernels: [Location; 2],
    /// The other places, and how to mend the program.
    pub notes: Vec<Note>,
}

/// An explanation of a missing chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The explanation, which names the places.
    pub message: String,
    /// The place that it is about.
    pub location: Location,
}

/// Finds the missing chains of all functions of a kernel graph.
pub fn check(module: &Module, ops: &OpRegistry) -> Vec<MissingChain> {
    let bodies = Bodies::new(module);
    let all = 0..bodies.list().len();
    Checker::new(module, ops, &bodies).check(all)
}

/// Finds the missing chains of a function and of all that it calls; none if there is no such
/// function.
pub fn check_function(module: &Module, ops: &OpRegistry, function: &str) -> Vec<MissingChain> {
    let bodies = Bodies::new(module);
    let Some(body) = bodies.function(function) else { return Vec::new() };
    let reachable = bodies.reachable(module, body);
    Checker::new(module, ops, &bodies).check(reachable)
}

struct Checker<'m> {
    effects: Effects<'m>,
    module: &'m Module,
    found: Vec<MissingChain>,
}

/// One of two accesses: the kernel, and the operation of the body around it that runs the kernel.
#[derive(Clone, Copy)]
struct Site {
    kernel: OpId,
    op: OpId,
    is_write: bool,
}

impl<'m> Checker<'m> {
    fn new(module: &'m Module, ops: &'m OpRegistry, bodies: &'m Bodies) -> Checker<'m> {
        Checker { effects: Effects::new(module, ops, bodies, Purpose::Check), module, found: Vec::new() }
    }

    fn check(mut self, bodies: impl IntoIterator<Item = usize>) -> Vec<MissingChain> {
        for body in bodies {
            if !self.effects.bodies.list()[body].is_sync {
                self.check_body(body);
            }
        }
        self.found
    }

    fn check_body(&mut self, body: usize) {
        let none = vec![Interface::default(); self.effects.bodies.list().len()];
        let points = BodyTimeline::new(&self.effects, body, &none);
        let mut reported = BTreeSet::new();
        for (earlier, later, piece) in points.timeline.unordered() {
            let class = points.pieces.class_of(piece);
            let site = |point: usize| {
                let access =
                    points.timeline.point(point).accesses.iter().find(|access| access.class == piece)?;
                let (op, kernel) = match points.roles[point] {
                    Role::Kernel(op) => (op, op),
                    Role::Inner(op, kernel) => (op, kernel),
                    _ => return None,
                };
                Some(Site { kernel, op, is_write: access.is_write })
            };
            let (Some(first), Some(second)) = (site(earlier), site(later)) else { continue };
            if reported.insert((first.kernel, second.kernel, first.op, second.op)) {
                let missing = self.describe(first, second, class, None);
                self.found.push(missing);
            }
        }
        let block = self.effects.bodies.list()[body].block;
        let loops: Vec<OpId> = self
            .module
            .ops_in(block)
            .filter(|&(op, _)| {
                self.effects.bodies.invocation(op).is_some_and(|found| found.control.is_loop())
            })
            .map(|(op, _)| op)
            .collect();
        for op in loops {
            self.check_loop(op);
        }
    }

    /// Checks the accesses of one iteration against those of the next.
    fn check_loop(&mut self, op: OpId) {
        for (first, second, class) in unordered_iterations(&self.effects, op) {
            let site = |access: (&OuterAccess, OpId)| Site {
                kernel: access.1,
                op: access.1,
                is_write: access.0.is_write,
            };
            let (first, second) = (site((&first.0, first.1)), site((&second.0, second.1)));
            let missing = self.describe(first, second, class, Some(op));
            self.found.push(missing);
        }
    }

    /// Describes a missing chain, in an iteration of `next_of` after the one of the first access if
    /// that is given.
    fn describe(&self, first: Site, second: Site, class: Class, next_of: Option<OpId>) -> MissingChain {
        let verb = |site: Site| if site.is_write { "writes" } else { "reads" };
        let (first_kernel, second_kernel) = (self.kernel_name(first), self.kernel_name(second));
        let contents = self.effects.first_of(class);
        let ty = contents.map_or_else(String::new, |value| self.module.value_type(value).to_string());
        let origin = contents.map_or_else(String::new, |value| format!(" ({ty} {})", self.origin(value)));
        let next =
            next_of.map_or_else(String::new, |op| format!(" in the iteration of {} before", self.name(op)));
        let message = format!(
            "{second_kernel} {} a {ty} that {first_kernel} {}{next}, and no chain orders the two{origin}",
            verb(second),
            verb(first),
        );
        let done = if first.is_write { "written" } else { "read" };
        let location = |op: OpId| self.module.op(op).location.clone();
        let note = |message: String, op: OpId| Note { message, location: location(op) };
        let mut notes = vec![note(format!("{done} by {}", self.name(first.kernel)), first.kernel)];
        for site in [first, second].into_iter().filter(|site| site.op != site.kernel) {
            let message = format!("{} is called by {}", self.name(site.kernel), self.name(site.op));
            notes.push(note(message, site.op));
        }
        let advice = format!("pass the chain of {} to {}", self.name(first.op), self.name(second.op));
        notes.push(note(advice, second.op));
        let kernels = [location(first.kernel), location(second.kernel)];
        let location = location(second.kernel);
        MissingChain { message, location, kernels, notes }
    }

    fn kernel_name(&self, site: Site) -> String {
        format!("'{}'", self.module.op(site.kernel).name)
    }

    /// An operation with its place.
    fn name(&self, op: OpId) -> String {
        let data = self.module.op(op);
        format!("'{}'{}", data.name, place(&data.location))
    }

    /// Where a value comes from.
    fn origin(&self, value: ValueId) -> String {
        match self.module.value(value).def {
            ValueDef::Result { op, .. } => format!("made by {}", self.name(op)),
            ValueDef::Argument { block, index } => {
                let owner = self.module.block_owner(block);
                let of = owner.map_or_else(String::new, |owner| match self.module.as_function(owner) {
                    Some(function) if self.module.op(owner).name == FUNC => {
                        format!(" of '{}'", function.name())
                    }
                    _ => format!(" of {}", self.name(owner)),
                });
                format!("that is argument {index}{of}")
            }
            ValueDef::Undefined => "of unknown origin".to_owned(),
        }
    }
}

fn place(location: &Location) -> String {
    match location.file_position() {
        Some((file, line, column)) => format!(" at {file}:{line}:{column}"),
        None => String::new(),
    }
}

type Iteration = (OuterAccess, OpId);

/// Accesses of one iteration of a loop, and accesses of the next that conflict and are not ordered.
/// The class is one of the loop's body.
pub(super) fn unordered_iterations(effects: &Effects<'_>, op: OpId) -> Vec<(Iteration, Iteration, Class)> {
    let Some(invocation) = effects.bodies.invocation(op) else { return Vec::new() };
    let block = effects.bodies.list()[invocation.callees[0]].block;
    let summary = effects.summary(invocation.callees[0]);
    let results = super::bodies::results_of(effects.module, block);
    let arguments = &effects.module.block(block).arguments;
    let condition = (invocation.control == Control::While).then(|| results.len().saturating_sub(1));
    let class_inside = |place: Place| match place {
        Place::External => Some(super::effects::EXTERNAL),
        Place::Argument(index) => Some(effects.class_of(*arguments.get(index)?)),
        Place::Result(index) => Some(effects.class_of(*results.get(index)?)),
    };
    let mut found = Vec::new();
    for (first, &first_op) in &summary.accesses {
        let Some(class) = class_inside(first.place) else { continue };
        for (second, &second_op) in &summary.accesses {
            // The next iteration's argument is this one's result.
            let is_same = match second.place {
                Place::External => first.place == Place::External,
                Place::Argument(index) => {
                    results.get(index).is_some_and(|&result| effects.class_of(result) == class)
                }
                Place::Result(_) => false,
            };
            let is_ordered = condition.is_some_and(|condition| first.told_by.contains(&condition))
                || first.told_by.iter().any(|result| second.waits_for.contains(result));
            if is_same && (first.is_write || second.is_write) && !is_ordered {
                found.push(((first.clone(), first_op), (second.clone(), second_op), class));
            }
        }
    }
    found
}
