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
use tfrt_device::origin::Origin;

use super::context::CpuContext;
use super::module::LAUNCH;
use super::operation::Operation;
use super::stream::{Command, Stream, StreamCore};

/// An instantiated graph.
pub(crate) struct Graph(Mutex<Vec<Node>>);

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
        Ok(Graph(Mutex::new(captured(stream)?)))
    }

    fn end_capture_into(&self, stream: &Stream, graph: &Graph) -> Result<()> {
        let nodes = captured(stream)?;
        let mut known = graph.0.lock();
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
        Ok(graph.0.lock().len())
    }

    fn launch_graph(&self, graph: &Graph, stream: &Stream) -> Result<()> {
        self.device.check()?;
        let operations: Vec<_> = graph.0.lock().iter().map(|node| node.operation.clone()).collect();
        let announced = match &self.device.shared.observer {
            Some(_) => {
                operations.iter().map(|o| stream.core.announce(o, Origin::here)).collect::<Result<_>>()?
            }
            None => Vec::new(),
        };
        stream.core.push(Command::Graph(Arc::new(GraphCore { operations, announced }), 0));
        Ok(())
    }
}
