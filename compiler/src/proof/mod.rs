//! Proofs, from the text of a program alone, that it orders all accesses to memory that devices
//! use.
//!
//! A program is followed kernel by kernel (`walk`), without running anything. Each kernel tells
//! what it does to streams, events, graphs and memory (`kernels`). The result is a graph of what
//! happens before what (`order`): work on a stream follows the work that was queued on it *by calls
//! that are known to have returned*, so two calls that no chain orders give no order to a stream.
//! Then all accesses of the same bytes are compared (`memory`). The proof holds for every order in
//! which the host may run kernels, while a checked run sees only one.
//!
//! What a launch accesses comes from its PTX (`launch`), as the parameters through which a kernel
//! reads and writes. Which bytes of a buffer these are is not known, so conflicts of launches are
//! *possible*; others are certain. Where something cannot be followed, there is a [`Doubt`], and
//! nothing is proved.
//!
//! Accesses of the host among each other are the subject of [`chains`].

mod kernels;
mod launch;
mod memory;
mod order;
mod report;
mod values;
mod walk;
mod world;

use std::collections::HashSet;

use tfrt_ir::{Func, Location, Module, OpRegistry};

use self::{
    launch::Sources,
    memory::{Access, Kind},
    order::Past,
    report::Reporter,
    values::Value,
    walk::{Choices, Frame, Walk},
    world::World,
};
use crate::chains::{self, Analysis, Bodies};

/// What is checked: a function, and one that is called once before and gives it its first
/// arguments.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The function that prepares.
    pub setup: Option<&'a str>,
    /// The function.
    pub function: &'a str,
}

/// A mistake in a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What is wrong.
    pub message: String,
    /// Where the later of the two kernels stands.
    pub location: Location,
    /// The two kernels, or the only one.
    pub kernels: Vec<Location>,
    /// The other places, and how to mend the program.
    pub notes: Vec<(Location, String)>,
    /// Whether both kernels access the same bytes in every run. If not, which bytes a launch
    /// accesses is not known.
    pub is_certain: bool,
}

/// Something that the proof cannot follow.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// What it is.
    pub message: String,
    /// Where it is.
    pub location: Location,
}

/// What was found, and how much was looked at.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// The mistakes.
    pub findings: Vec<Finding>,
    /// What is not known.
    pub doubts: Vec<Doubt>,
    /// The operations that the program queues on devices, in all combinations of branches.
    pub operations: usize,
    /// The streams that it makes.
    pub streams: usize,
}

impl Proof {
    /// Returns whether all accesses are in order in every run.
    pub fn holds(&self) -> bool {
        self.findings.is_empty() && self.doubts.is_empty()
    }
}

/// Checks a function; with one that prepares, two calls of it.
///
/// Returns `None` if the module lacks one of the functions.
pub fn check(module: &Module, ops: &OpRegistry, entry: Entry<'_>) -> Option<Proof> {
    let function = module.function(entry.function)?;
    let setup = match entry.setup {
        Some(name) => Some(module.function(name)?),
        None => None,
    };
    let bodies = Bodies::new(module);
    let analysis = Analysis::new(module, ops, &bodies);
    let sources = Sources::default();
    let mut proof = Proof::default();
    let mut choices = Choices::default();
    loop {
        let mut walk = Walk::new((module, ops), &analysis, &sources, choices);
        run(&mut walk, setup, function);
        let (world, followed) = walk.finish();
        conclude(world, module, &mut proof);
        choices = followed;
        match choices.advance() {
            None => break,
            Some(true) => {}
            Some(false) => {
                let message = "too many combinations of branches that depend on data".to_owned();
                proof.doubts.push(Doubt { message, location: function.location().clone() });
                break;
            }
        }
    }
    for name in entry.setup.into_iter().chain([entry.function]) {
        for missing in chains::check_function(module, ops, name) {
            add_missing_chain(missing, &mut proof);
        }
    }
    Some(proof)
}

/// Calls the function. With one that prepares, it is called twice: after each other, unless the
/// program lets calls take turns.
fn run(walk: &mut Walk<'_>, setup: Option<Func<'_>>, function: Func<'_>) {
    let start = Frame::new(order::START, Past::default());
    let Some(setup) = setup else {
        call(walk, function, &[], &start);
        return;
    };
    let prepared = call(walk, setup, &[], &start);
    let takes_turns = prepared.iter().any(|value| matches!(value.kind, values::Kind::Turns(_)));
    let results = call(walk, function, &prepared, &start);
    let next = if takes_turns {
        start
    } else {
        let node = walk.world.graph.join(results.iter().map(|value| value.node));
        Frame::new(node, results.iter().fold(Past::default(), |past, value| past.join(&value.past)))
    };
    call(walk, function, &prepared, &next);
}

fn call(walk: &mut Walk<'_>, function: Func<'_>, prepared: &[Value], frame: &Frame) -> Vec<Value> {
    let Some(body) = function.body() else { return Vec::new() };
    let arguments = function.arguments().iter().enumerate();
    let arguments: Vec<Value> = arguments
        .map(|(index, &argument)| match prepared.get(index) {
            Some(value) => value.clone(),
            None => walk.foreign(walk.module.value_type(argument)),
        })
        .collect();
    let is_sync = function.attr("tfrt.sync").is_some();
    walk.block(body, &arguments, &frame.clone().with_sync(is_sync))
}

/// Compares all accesses of what was followed, and adds what is wrong.
fn conclude(mut world: World, module: &Module, proof: &mut Proof) {
    world.settle_waits();
    world.note_open_captures();
    world.access_anywhere();
    proof.operations += world.operations;
    proof.streams = proof.streams.max(world.stream_count());
    let mut reporter = Reporter::new(module, &world);
    match world.graph.order() {
        None => {
            reporter.doubt(Location::Unknown, "collectives of several ranks wait for each other".to_owned())
        }
        Some(order) => {
            let used = device_roots(&world);
            let accesses: Vec<_> =
                world.accesses.iter().filter(|(_, access)| used.contains(&access.root)).cloned().collect();
            for conflict in memory::conflicts(&accesses, &order) {
                reporter.race(&conflict);
            }
            reporter.early_uses(&accesses, &order);
        }
    }
    reporter.mistakes();
    let (findings, doubts) = reporter.finish();
    for finding in findings {
        if !proof
            .findings
            .iter()
            .any(|known| known.kernels == finding.kernels && known.message == finding.message)
        {
            proof.findings.push(finding);
        }
    }
    for doubt in doubts {
        if !proof.doubts.contains(&doubt) {
            proof.doubts.push(doubt);
        }
    }
}

/// The memory that devices access.
fn device_roots(world: &World) -> HashSet<memory::RootId> {
    let of_device = |node: &order::NodeId| world.sites.get(node).is_some_and(|site| site.stream.is_some());
    let accesses = world.accesses.iter().filter(|(node, _)| of_device(node));
    accesses.map(|(_, access)| access.root).collect()
}

/// Adds a missing chain, unless the same two kernels were found already.
fn add_missing_chain(missing: chains::MissingChain, proof: &mut Proof) {
    let kernels = missing.kernels.to_vec();
    let is_known =
        |known: &Finding| known.kernels == kernels || known.kernels.iter().rev().eq(kernels.iter());
    if proof.findings.iter().any(is_known) {
        return;
    }
    proof.findings.push(Finding {
        message: missing.message,
        location: missing.location,
        kernels,
        notes: missing.notes.into_iter().map(|note| (note.location, note.message)).collect(),
        is_certain: true,
    });
}

impl World {
    /// Lets launches that may access any memory access all that others do.
    fn access_anywhere(&mut self) {
        let roots: Vec<memory::RootId> = device_roots(self).into_iter().collect();
        for node in std::mem::take(&mut self.anywhere) {
            let access = |&root: &memory::RootId| Access::possible(root, Kind::Write, 0..u64::MAX);
            let all: Vec<Access> = roots.iter().map(access).collect();
            self.access(node, all);
        }
    }
}
