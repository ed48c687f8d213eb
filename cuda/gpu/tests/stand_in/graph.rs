//! Captures and graphs.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::state::Answer;
use super::stream::{Body, Event, Stream};

/// The last operations on a stream. All others come before them.
pub(crate) type Frontier = BTreeSet<usize>;

#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) kind: &'static str,
    pub(crate) body: Body,
    pub(crate) before: Frontier,
}

pub(crate) struct Capture {
    pub(crate) id: u64,
    origin: usize,
    /// Whether the capture was invalidated by a call that is not allowed during it.
    pub(crate) spoiled: AtomicBool,
    ended: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    nodes: Vec<Node>,
    frontiers: HashMap<usize, Frontier>,
    joined: Vec<Arc<Stream>>,
}

/// CUDA_ERROR_STREAM_CAPTURE_*.
const UNMATCHED: i32 = 903;
const UNJOINED: i32 = 904;
const MERGE: i32 = 902;
const INVALIDATED: i32 = 901;
/// CUDA_ERROR_CAPTURED_EVENT
const CAPTURED_EVENT: i32 = 907;

impl Capture {
    pub(crate) fn begin(stream: &Stream) -> Answer {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut capture = stream.capture.lock();
        if capture.is_some() {
            // CUDA_ERROR_ILLEGAL_STATE
            return Err(401);
        }
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        *capture = Some(Arc::new(Self {
            id,
            origin: stream.id(),
            spoiled: AtomicBool::default(),
            ended: AtomicBool::default(),
            state: Mutex::default(),
        }));
        Ok(())
    }

    pub(crate) fn add(&self, stream: usize, kind: &'static str, body: Body) {
        let State { nodes, frontiers, .. } = &mut *self.state.lock();
        let frontier = frontiers.entry(stream).or_default();
        let before = std::mem::replace(frontier, [nodes.len()].into());
        nodes.push(Node { kind, body, before });
    }

    /// Invalidates the capture because of a call that queries it, and returns the error.
    pub(crate) fn spoil(&self) -> i32 {
        self.spoiled.store(true, Ordering::SeqCst);
        CAPTURED_EVENT
    }

    pub(crate) fn check(&self) -> Answer {
        if self.spoiled.load(Ordering::SeqCst) { Err(INVALIDATED) } else { Ok(()) }
    }

    pub(crate) fn frontier(&self, stream: usize) -> Frontier {
        self.state.lock().frontiers.get(&stream).cloned().unwrap_or_default()
    }

    /// Makes a stream that waits for an event of the capture take part in it.
    pub(crate) fn join(me: &Arc<Self>, stream: &Arc<Stream>, event: &Frontier) -> Answer {
        if me.ended.load(Ordering::SeqCst) {
            return Err(CAPTURED_EVENT);
        }
        let mut capture = stream.capture.lock();
        match &*capture {
            Some(other) if !Arc::ptr_eq(other, me) => return Err(MERGE),
            Some(_) => {}
            None => {
                *capture = Some(me.clone());
                me.state.lock().joined.push(stream.clone());
            }
        }
        me.state.lock().frontiers.entry(stream.id()).or_default().extend(event);
        Ok(())
    }

    /// Ends the capture that began on a stream and returns its nodes.
    pub(crate) fn end(stream: &Stream) -> Answer<Vec<Node>> {
        let capture = stream.capture.lock().take().ok_or(401)?;
        capture.ended.store(true, Ordering::SeqCst);
        let mut state = capture.state.lock();
        for joined in std::mem::take(&mut state.joined) {
            *joined.capture.lock() = None;
        }
        if capture.origin != stream.id() {
            return Err(UNMATCHED);
        }
        capture.check()?;
        // Everything before the end of the stream that the capture began on.
        let mut before = state.frontiers.get(&capture.origin).cloned().unwrap_or_default();
        for node in (0..state.nodes.len()).rev() {
            if before.contains(&node) {
                before.extend(state.nodes[node].before.clone());
            }
        }
        if before.len() < state.nodes.len() {
            return Err(UNJOINED);
        }
        Ok(std::mem::take(&mut state.nodes))
    }
}

/// An executable graph.
pub(crate) struct Instance {
    nodes: Mutex<Vec<Node>>,
    last_launch: Arc<Event>,
}

impl Instance {
    pub(crate) fn new(nodes: Vec<Node>) -> Self {
        Self { nodes: Mutex::new(nodes), last_launch: Arc::new(Event::new(false)) }
    }

    /// Queues its nodes after those of earlier launches, on whichever streams.
    pub(crate) fn launch(&self, stream: &Arc<Stream>) -> Answer {
        let nodes = self.nodes.lock().clone();
        stream.wait(&self.last_launch)?;
        for node in nodes {
            let body = node.body;
            stream.submit(node.kind, move || body())?;
        }
        stream.record(&self.last_launch);
        Ok(())
    }

    /// Replaces the nodes. The error is the driver's number for the reason why the graphs do not
    /// match.
    pub(crate) fn update(&self, nodes: &[Node]) -> Result<(), i32> {
        let mut known = self.nodes.lock();
        let places = |nodes: &[Node]| nodes.iter().map(|node| node.before.clone()).collect::<Vec<_>>();
        if places(&known) != places(nodes) {
            return Err(2);
        }
        if known.iter().zip(nodes).any(|(old, new)| old.kind != new.kind) {
            return Err(3);
        }
        *known = nodes.to_vec();
        Ok(())
    }
}
