//! The text of what was found.

use std::collections::{HashMap, HashSet};

use tfrt_ir::{Location, Module, OpId};

use super::{
    Doubt, Finding,
    memory::{Access, Conflict, Kind, RootId, Use},
    order::{NodeId, Order},
    world::{Memory, Mistake, Site, Step, World},
};

/// Collects what was found in one way through a program.
pub(super) struct Reporter<'w> {
    module: &'w Module,
    world: &'w World,
    findings: Vec<Finding>,
    doubts: Vec<Doubt>,
    /// The kernels of races that were reported.
    reported: HashMap<[(OpId, Option<OpId>); 2], usize>,
}

impl<'w> Reporter<'w> {
    pub(super) fn new(module: &'w Module, world: &'w World) -> Reporter<'w> {
        Reporter { module, world, findings: Vec::new(), doubts: Vec::new(), reported: HashMap::new() }
    }

    pub(super) fn doubt(&mut self, location: Location, message: String) {
        self.doubts.push(Doubt { message, location });
    }

    /// Returns what was found: certain mistakes first, each group in the order of the text.
    pub(super) fn finish(mut self) -> (Vec<Finding>, Vec<Doubt>) {
        for (step, message) in &self.world.doubts {
            self.doubts.push(Doubt { message: message.clone(), location: self.location(step) });
        }
        self.findings.sort_by_key(|finding| !finding.is_certain);
        (self.findings, self.doubts)
    }

    fn location(&self, step: &Step) -> Location {
        self.module.op(step.op).location.clone()
    }

    /// A kernel with its place.
    fn name(&self, op: OpId) -> String {
        let data = self.module.op(op);
        match data.location.file_position() {
            Some((file, line, column)) => format!("'{}' at {file}:{line}:{column}", data.name),
            None => format!("'{}'", data.name),
        }
    }

    fn kernel(&self, site: &Site) -> String {
        let name = &self.module.op(site.step.op).name;
        match site.stream {
            Some(stream) => format!("'{name}' on stream {stream}"),
            None => format!("'{name}' on the host"),
        }
    }

    /// What an operation belongs to from outside: the launch of its graph and the calls around it.
    fn context(&self, step: &Step) -> Vec<(Location, String)> {
        let mut notes = Vec::new();
        let location = |op: OpId| self.module.op(op).location.clone();
        if let Some(launch) = step.launched_by {
            let text = format!(
                "{} is part of the graph that is launched by {}",
                self.name(step.op),
                self.name(launch)
            );
            notes.push((location(launch), text));
        }
        if let Some(&call) = step.calls.last() {
            notes.push((location(call), format!("{} is called by {}", self.name(step.op), self.name(call))));
        }
        notes
    }

    /// Reports a conflict, the first time that these two kernels have one.
    pub(super) fn race(&mut self, conflict: &Conflict) {
        let (Some(first), Some(second)) =
            (self.world.sites.get(&conflict.first.node), self.world.sites.get(&conflict.second.node))
        else {
            return;
        };
        // What the host does with its memory is the subject of chains.
        if first.stream.is_none() && second.stream.is_none() {
            return;
        }
        let key = [first, second].map(|site| (site.step.op, site.step.launched_by));
        let finding = self.describe(conflict, first, second);
        match self.reported.get(&key) {
            Some(&place) if finding.is_certain && !self.findings[place].is_certain => {
                self.findings[place] = finding
            }
            Some(_) => {}
            None => {
                self.reported.insert(key, self.findings.len());
                self.findings.push(finding);
            }
        }
    }

    fn describe(&self, conflict: &Conflict, first: &Site, second: &Site) -> Finding {
        let is_certain = conflict.is_certain();
        let verb = |of: Use| match (of.kind, is_certain) {
            (Kind::Read, true) => "reads",
            (Kind::Read, false) => "may read",
            (_, true) => "writes",
            (_, false) => "may write",
        };
        let message = format!(
            "{} {} bytes that {} {}, and nothing orders the two{}",
            self.kernel(second),
            verb(conflict.second),
            self.kernel(first),
            verb(conflict.first),
            self.whose(conflict.root),
        );
        let done = if conflict.first.kind == Kind::Read { "read" } else { "written" };
        let mut notes = vec![(self.location(&first.step), format!("{done} by {}", self.name(first.step.op)))];
        if !is_certain {
            let why = "which bytes of its arguments a launch accesses is not known before it runs".to_owned();
            notes.push((self.location(&second.step), why));
        }
        notes.extend(self.context(&first.step));
        notes.extend(self.context(&second.step));
        notes.push((self.location(&second.step), self.advice(first, second)));
        notes.extend(self.loose_waits(second));
        let location = self.location(&second.step);
        let kernels = vec![self.location(&first.step), location.clone()];
        Finding { message, location, kernels, notes, is_certain }
    }

    /// How to order two operations.
    fn advice(&self, first: &Site, second: &Site) -> String {
        let (from, to) = (self.name(first.step.op), self.name(second.step.op));
        match (first.stream, second.stream) {
            (Some(a), Some(b)) if a == b => {
                format!("pass the chain of {from} to {to}, because nothing orders the two calls")
            }
            (Some(a), Some(b)) => {
                format!(
                    "record an event on stream {a} after {from}, and let stream {b} wait for it before {to}"
                )
            }
            (Some(a), None) => {
                format!("let {to} wait for stream {a}, or for an event recorded there after {from}")
            }
            (None, _) => format!("pass the chain of {from} to {to}"),
        }
    }

    /// Waits of a stream that order nothing, because no chain orders them and the record.
    fn loose_waits(&self, second: &Site) -> Vec<(Location, String)> {
        let loose = self.world.loose_waits.iter().filter(|loose| loose.stream == second.stream);
        let mut seen = HashSet::new();
        let mut notes = Vec::new();
        for loose in loose.filter(|loose| seen.insert((loose.wait.op, loose.record.op))) {
            let text = format!(
                "no chain orders {} and {}, so the wait may not see that record",
                self.name(loose.record.op),
                self.name(loose.wait.op)
            );
            notes.push((self.location(&loose.wait), text));
        }
        notes
    }

    /// Describes memory.
    fn whose(&self, root: RootId) -> String {
        let root = &self.world.roots[root];
        let what = match root.memory {
            Memory::Device => "a buffer",
            Memory::Pinned => "pinned host memory",
            Memory::Pageable => "host memory",
            Memory::Unified => "unified memory",
        };
        let size = root.bytes.map_or_else(String::new, |bytes| format!(" of {bytes} bytes"));
        match &root.made_by {
            Some(step) => format!(" ({what}{size} made by {})", self.name(step.op)),
            None => format!(" ({what}{size} from outside of the function)"),
        }
    }

    /// Reports uses of memory that do not follow the work which its allocation follows.
    pub(super) fn early_uses(&mut self, accesses: &[(NodeId, Access)], order: &Order) {
        let mut reported = HashSet::new();
        for (node, access) in accesses {
            let Some((stream, after)) = self.world.granted_late(access.root) else { continue };
            let Some(site) = self.world.sites.get(node) else { continue };
            let is_late = after.iter().all(|&first| first == *node || order.is_before(first, *node));
            if is_late || site.stream == Some(stream) || !reported.insert((site.step.op, access.root)) {
                continue;
            }
            let Some(made_by) = &self.world.roots[access.root].made_by else { continue };
            let message = format!(
                "{} uses a buffer that was allocated for stream {stream}, and is not ordered behind its allocation",
                self.kernel(site)
            );
            let (from, to) = (self.name(made_by.op), self.name(site.step.op));
            let mut notes = vec![(self.location(made_by), format!("allocated by {from}"))];
            notes.extend(self.context(&site.step));
            let wait = site.stream.map_or_else(|| "the host".to_owned(), |stream| format!("stream {stream}"));
            let advice = format!(
                "record an event on stream {stream} after {from}, and let {wait} wait for it before {to}"
            );
            notes.push((self.location(&site.step), advice));
            let kernels = vec![self.location(made_by), self.location(&site.step)];
            let location = self.location(&site.step);
            self.findings.push(Finding { message, location, kernels, notes, is_certain: true });
        }
    }

    /// Reports waits for nothing, and captures that are left open.
    pub(super) fn mistakes(&mut self) {
        for mistake in &self.world.mistakes {
            let (step, other, message, advice) = match mistake {
                Mistake::NeverRecorded(step) => (
                    step,
                    None,
                    format!(
                        "{} waits for an event that is not recorded before, so it does not wait",
                        self.name(step.op)
                    ),
                    "record the event before something waits for it",
                ),
                Mistake::MayBeCaptured(step, stream, began) => (
                    step,
                    Some(began),
                    format!("{} may use stream {stream} while a graph is recorded on it", self.name(step.op)),
                    "pass it a chain behind the end of the capture, or let the capture begin behind it",
                ),
                Mistake::OpenCapture(step, stream) => (
                    step,
                    None,
                    format!("the capture on stream {stream} never ends, so nothing of it runs"),
                    "end the capture and launch the graph",
                ),
            };
            let location = self.location(step);
            let mut notes = self.context(step);
            let other = other.map(|other| (self.location(other), self.name(other.op)));
            notes.extend(
                other.iter().map(|(at, name)| (at.clone(), format!("the recording begins with {name}"))),
            );
            notes.push((location.clone(), advice.to_owned()));
            let kernels = other.into_iter().map(|(at, _)| at).chain([location.clone()]).collect();
            let finding = Finding { message, location, kernels, notes, is_certain: true };
            if !self.findings.contains(&finding) {
                self.findings.push(finding);
            }
        }
    }
}
