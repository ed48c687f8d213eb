//! Graphs of the CPU devices.
//!
//! While a stream is captured, operations are added to a list instead of its queue. Streams that
//! wait for an event recorded in the capture join it. The list is in the order in which the
//! operations were queued, which satisfies their dependences, and a graph runs them in this order.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::Graphs;
use tfrt_device::observer::Observer;
use tfrt_device::origin::Origin;

use super::context::CpuContext;
use super::module::LAUNCH;
use super::operation::{Operation, next_id};
use super::stream::{Command, Stream, StreamCore};

/// An instantiated graph.
pub(crate) struct Graph {
    nodes: Mutex<Vec<Node>>,
    /// What the checker knows branches by, but for the first one, which it takes for a part of the
    /// stream that the graph is launched on. Launches of one graph never overlap, so they share the
    /// branches.
    branches: Mutex<Vec<u64>>,
}

/// An operation of a graph.
#[derive(Clone)]
struct Node {
    operation: Arc<Operation>,
    /// The stream that it was captured on, and the number of operations of each stream that precede
    /// it. Streams are numbered in the order in which they joined, so that two captures of the same
    /// work are equal.
    place: (usize, Vec<usize>),
}

impl Node {
    /// Returns whether one node may replace the other in a graph: what is launched, copied or set
    /// may differ.
    fn is_like(&self, other: &Self) -> bool {
        let (name, other_name) = (&self.operation.name, &other.operation.name);
        let launches = name.starts_with(LAUNCH) && other_name.starts_with(LAUNCH);
        (launches || name == other_name) && self.place == other.place
    }
}

/// One launch of a graph.
pub(super) struct GraphCore {
    pub(super) operations: Vec<Arc<Operation>>,
    /// The numbers of its operations in the checker for this launch; empty without a checker.
    pub(super) announced: Vec<u64>,
}

/// An ongoing capture.
pub(super) struct Capture {
    origin: u64,
    state: Mutex<State>,
}

/// The number of each stream's operations that precede a point.
type Clock = HashMap<u64, usize>;

#[derive(Default)]
struct State {
    nodes: Vec<Node>,
    /// The streams with operations, in the order of their first operation.
    order: Vec<u64>,
    /// For each stream in the capture, the operations that precede its end.
    clocks: HashMap<u64, Clock>,
    streams: Vec<Arc<StreamCore>>,
}

/// The point in a capture that an event marks.
#[derive(Clone)]
pub(super) struct Snapshot {
    pub(super) capture: Arc<Capture>,
    clock: Clock,
}

impl Capture {
    /// Adds an operation of a stream.
    pub(super) fn add(&self, stream: u64, operation: Arc<Operation>) {
        let State { nodes, order, clocks, .. } = &mut *self.state.lock();
        let clock = clocks.entry(stream).or_default();
        let number = order.iter().position(|known| *known == stream).unwrap_or_else(|| {
            order.push(stream);
            order.len() - 1
        });
        let before = order.iter().map(|stream| clock.get(stream).copied().unwrap_or(0)).collect();
        nodes.push(Node { operation, place: (number, before) });
        *clock.entry(stream).or_default() += 1;
    }

    /// Returns the point at the end of a stream.
    pub(super) fn snapshot(self: &Arc<Self>, stream: u64) -> Snapshot {
        let clock = self.state.lock().clocks.get(&stream).cloned().unwrap_or_default();
        Snapshot { capture: self.clone(), clock }
    }

    /// Makes a stream wait for the point that an event marks, and adds it to the capture.
    pub(super) fn join(self: &Arc<Self>, stream: &Arc<StreamCore>, event: &Snapshot) -> Result<()> {
        match stream.capture() {
            Some(other) if !Arc::ptr_eq(&other, self) => {
                return Err(DeviceError::new(
                    Status::StreamCaptureUnsupported,
                    "the event belongs to another capture",
                ));
            }
            Some(_) => {}
            None => drop(stream.set_capture(Some(self.clone()))),
        }
        let mut state = self.state.lock();
        if !state.clocks.contains_key(&stream.id) {
            state.streams.push(stream.clone());
        }
        let clock = state.clocks.entry(stream.id).or_default();
        for (&other, &count) in &event.clock {
            let known = clock.entry(other).or_default();
            *known = count.max(*known);
        }
        Ok(())
    }

    /// Returns whether everything captured precedes the end of the stream that the capture began
    /// on.
    fn is_joined(state: &State, origin: u64) -> bool {
        let empty = Clock::new();
        let known = state.clocks.get(&origin).unwrap_or(&empty);
        state.clocks.iter().all(|(stream, clock)| {
            let count = clock.get(stream).copied().unwrap_or(0);
            *stream == origin || known.get(stream).copied().unwrap_or(0) >= count
        })
    }
}

/// Ends the capture that began on a stream, and returns its nodes.
fn captured(stream: &Stream) -> Result<Vec<Node>> {
    let capture = stream.core.set_capture(None);
    let capture =
        capture.ok_or_else(|| DeviceError::new(Status::IllegalState, "the stream is not being captured"))?;
    let mut state = capture.state.lock();
    for joined in state.streams.drain(..) {
        joined.set_capture(None);
    }
    if capture.origin != stream.core.id {
        return Err(DeviceError::new(Status::IllegalState, "the capture began on another stream"));
    }
    if !Capture::is_joined(&state, capture.origin) {
        return Err(Status::StreamCaptureUnjoined.into());
    }
    Ok(std::mem::take(&mut state.nodes))
}

/// Tells the checker of a launch: each branch is a stream to it, which begins where the launch's
/// stream is, waits for others where the capture did, and is waited for in the end.
struct Announcement<'l> {
    stream: &'l StreamCore,
    observer: &'l dyn Observer,
    /// The streams of the branches.
    branches: Vec<u64>,
    /// For each branch, an event behind each of its operations.
    events: Vec<Vec<u64>>,
}

impl<'l> Announcement<'l> {
    fn new(
        nodes: &[Node],
        known: &mut Vec<u64>,
        stream: &'l StreamCore,
        observer: &'l dyn Observer,
    ) -> Announcement<'l> {
        let count = nodes.iter().map(|node| node.place.0 + 1).max().unwrap_or(0);
        while known.len() + 1 < count {
            let id = next_id();
            observer.stream_created(id, 0, Origin::here());
            // A branch is never left behind, so it counts as destroyed from the beginning.
            observer.stream_destroyed(id);
            known.push(id);
        }
        let others = known.iter().copied().take(count.saturating_sub(1));
        let branches: Vec<u64> = std::iter::once(stream.id).chain(others).collect();
        let events = vec![Vec::new(); branches.len()];
        Self { stream, observer, branches, events }
    }

    fn announce(mut self, nodes: &[Node]) -> Result<Vec<u64>> {
        if self.branches.len() == 1 {
            return nodes.iter().map(|node| self.stream.announce(&node.operation, Origin::here)).collect();
        }
        let start = self.record(0);
        let others = self.branches.iter().skip(1);
        others.clone().try_for_each(|&branch| self.wait(branch, start))?;
        let mut announced = Vec::with_capacity(nodes.len());
        for node in nodes {
            let (number, before) = &node.place;
            for (other, &count) in before.iter().enumerate().filter(|(other, _)| other != number) {
                if let Some(&event) = count.checked_sub(1).and_then(|last| self.events[other].get(last)) {
                    self.wait(self.branches[*number], event)?;
                }
            }
            announced.push(self.stream.announce_on(self.branches[*number], &node.operation, Origin::here)?);
            let event = self.record(*number);
            self.events[*number].push(event);
        }
        let ends: Vec<u64> = self.events.iter().filter_map(|events| events.last().copied()).collect();
        ends.iter().try_for_each(|&end| self.wait(self.stream.id, end))?;
        for event in self.events.into_iter().flatten().chain([start]) {
            self.observer.event_destroyed(event);
        }
        Ok(announced)
    }

    /// Marks the end of a branch so far.
    fn record(&self, branch: usize) -> u64 {
        let event = next_id();
        self.observer.event_recorded(event, self.branches[branch], Origin::here());
        event
    }

    fn wait(&self, branch: u64, event: u64) -> Result<()> {
        self.observer.stream_waits(branch, event, true, Origin::here())
    }
}

impl Graphs for CpuContext {
    fn begin_capture(&self, stream: &Stream) -> Result<()> {
        self.device.check()?;
        if stream.core.capture().is_some() {
            return Err(DeviceError::new(Status::IllegalState, "the stream is being captured already"));
        }
        let capture = Capture { origin: stream.core.id, state: Mutex::default() };
        stream.core.set_capture(Some(Arc::new(capture)));
        Ok(())
    }

    fn end_capture(&self, stream: &Stream) -> Result<Graph> {
        Ok(Graph { nodes: Mutex::new(captured(stream)?), branches: Mutex::default() })
    }

    fn end_capture_into(&self, stream: &Stream, graph: &Graph) -> Result<()> {
        let nodes = captured(stream)?;
        let mut known = graph.nodes.lock();
        if nodes.len() != known.len() {
            let detail =
                format!("the graph has {} operations, and {} were captured", known.len(), nodes.len());
            return Err(DeviceError::new(Status::GraphExecUpdateFailure, detail));
        }
        if let Some((old, new)) = known.iter().zip(&nodes).find(|(old, new)| !old.is_like(new)) {
            let detail = format!(
                "a {} cannot take the place of a {} of the graph, or depends on other operations",
                new.operation.name, old.operation.name
            );
            return Err(DeviceError::new(Status::GraphExecUpdateFailure, detail));
        }
        *known = nodes;
        Ok(())
    }

    fn graph_nodes(&self, graph: &Graph) -> Result<usize> {
        Ok(graph.nodes.lock().len())
    }

    fn launch_graph(&self, graph: &Graph, stream: &Stream) -> Result<()> {
        self.device.check()?;
        let nodes = graph.nodes.lock();
        let operations: Vec<_> = nodes.iter().map(|node| node.operation.clone()).collect();
        let announced = match &self.device.shared.observer {
            Some(observer) => {
                let mut branches = graph.branches.lock();
                Announcement::new(&nodes, &mut branches, &stream.core, &**observer).announce(&nodes)?
            }
            None => Vec::new(),
        };
        drop(nodes);
        stream.core.push(Command::Graph(Arc::new(GraphCore { operations, announced }), 0));
        Ok(())
    }
}
