//! The state of the devices while a program is followed: streams, events, captures, graphs and
//! memory.

use std::{collections::HashMap, rc::Rc};

use tfrt_ir::OpId;

use super::{
    memory::{Access, RootId},
    order::{Graph, Lines, NodeId, Past, Place, START, Tails},
};

/// A kernel that runs, and the calls around it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) op: OpId,
    /// The calls of functions around it, the outermost one first.
    pub(super) calls: Rc<[OpId]>,
    /// The launch of the graph that it was recorded in.
    pub(super) launched_by: Option<OpId>,
}

/// A kernel that runs, as the device sees it.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    pub(super) step: Step,
    /// What happens before and with the call.
    pub(super) node: NodeId,
    /// The calls that have returned when this one returns.
    pub(super) past: Past,
    pub(super) place: Place,
}

#[derive(Debug)]
struct Stream {
    tails: Tails,
    /// The capture that it takes part in.
    capture: Option<usize>,
}

/// A record of an event.
#[derive(Clone, Debug)]
struct Record {
    place: Place,
    past: Past,
    node: NodeId,
    /// The capture, in which the node is one of its own.
    capture: Option<usize>,
    step: Step,
}

/// A wait that followed one record of an event.
#[derive(Clone, Debug)]
struct Wait {
    place: Place,
    record: NodeId,
    node: NodeId,
}

#[derive(Debug, Default)]
struct Event {
    records: Vec<Record>,
    waits: Vec<Wait>,
    /// Whether it comes from outside of the program, and may be recorded there.
    is_foreign: bool,
}

/// A library's handle: the streams that were set.
#[derive(Debug, Default)]
struct Handle(Vec<(Place, Past, usize)>);

/// A recorded operation, or a point of the recording.
#[derive(Clone, Debug)]
struct Recorded {
    after: Vec<NodeId>,
    accesses: Vec<Access>,
    step: Option<(Step, usize)>,
}

/// What was recorded between the beginning and the end of a capture. Its nodes are numbered from 1.
#[derive(Debug)]
struct Capture {
    nodes: Vec<Recorded>,
    tails: HashMap<usize, Tails>,
    began: Step,
    began_at: Place,
    on_stream: usize,
    /// The call that ended it.
    ended_at: Option<Place>,
}

impl Capture {
    fn is_over(&self) -> bool {
        self.ended_at.is_some()
    }
}

/// Memory.
#[derive(Debug)]
pub(super) struct Root {
    /// The kernel that allocated it.
    pub(super) made_by: Option<Step>,
    pub(super) bytes: Option<u64>,
    pub(super) memory: Memory,
    /// The work that an allocation for a stream follows.
    granted_after: Vec<NodeId>,
    granted_for: Option<usize>,
}

/// Whose memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    Device,
    /// Of the host, and copies use it directly.
    Pinned,
    /// Of the host, and copies hold it until they are done.
    Pageable,
    /// Of both.
    Unified,
}

/// What an operation that a program queues is, for reports.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) step: Step,
    /// The stream; `None` for what the host does.
    pub(super) stream: Option<usize>,
}

/// A mistake that is seen while the program is followed.
#[derive(Clone, Debug)]
pub(super) enum Mistake {
    /// A wait for an event that is not recorded before.
    NeverRecorded(Step),
    /// A capture that nothing ends.
    OpenCapture(Step, usize),
    /// A use of a stream that may come while a graph is recorded on it, and the call with which the
    /// stream's part in the capture began.
    MayBeCaptured(Step, usize, Step),
}

/// A wait of which it is not known which record it sees.
#[derive(Clone, Debug)]
pub(super) struct LooseWait {
    pub(super) wait: Step,
    pub(super) record: Step,
    pub(super) stream: Option<usize>,
}

/// The devices, and the graph of all that happened.
#[derive(Debug)]
pub(super) struct World {
    pub(super) graph: Graph,
    lines: Lines,
    streams: Vec<Stream>,
    events: Vec<Event>,
    handles: Vec<Handle>,
    captures: Vec<Capture>,
    /// The capture of each graph.
    graphs: Vec<Option<usize>>,
    /// The calls that gave turns back.
    turns: Vec<Vec<(NodeId, Past)>>,
    pub(super) roots: Vec<Root>,
    pub(super) accesses: Vec<(NodeId, Access)>,
    /// Launches that may access any memory of devices.
    pub(super) anywhere: Vec<NodeId>,
    pub(super) sites: HashMap<NodeId, Site>,
    pub(super) mistakes: Vec<Mistake>,
    pub(super) loose_waits: Vec<LooseWait>,
    /// Waits, the record that each follows, and another one that it may see instead.
    alternatives: Vec<(NodeId, NodeId, NodeId)>,
    /// What the analysis does not follow.
    pub(super) doubts: Vec<(Step, String)>,
    pub(super) operations: usize,
}

impl World {
    pub(super) fn new() -> World {
        World {
            graph: Graph::new(),
            lines: Lines::default(),
            streams: Vec::new(),
            events: Vec::new(),
            handles: Vec::new(),
            captures: Vec::new(),
            graphs: Vec::new(),
            turns: Vec::new(),
            roots: Vec::new(),
            accesses: Vec::new(),
            anywhere: Vec::new(),
            sites: HashMap::new(),
            mistakes: Vec::new(),
            loose_waits: Vec::new(),
            alternatives: Vec::new(),
            doubts: Vec::new(),
            operations: 0,
        }
    }

    /// Gives a call its place behind all that it waits for.
    pub(super) fn call(&mut self, step: Step, node: NodeId, past: &Past) -> Caller {
        let (place, past) = self.lines.place(past);
        Caller { step, node, past, place }
    }

    pub(super) fn doubt(&mut self, step: &Step, message: impl Into<String>) {
        let message = message.into();
        if !self.doubts.iter().any(|(known, text)| known.op == step.op && *text == message) {
            self.doubts.push((step.clone(), message));
        }
    }

    pub(super) fn stream_count(&self) -> usize {
        self.streams.len()
    }

    pub(super) fn add_stream(&mut self) -> usize {
        self.streams.push(Stream { tails: Tails::default(), capture: None });
        self.streams.len() - 1
    }

    pub(super) fn add_event(&mut self, is_foreign: bool) -> usize {
        self.events.push(Event { is_foreign, ..Event::default() });
        self.events.len() - 1
    }

    pub(super) fn add_handle(&mut self) -> usize {
        self.handles.push(Handle::default());
        self.handles.len() - 1
    }

    pub(super) fn add_turns(&mut self) -> usize {
        self.turns.push(Vec::new());
        self.turns.len() - 1
    }

    pub(super) fn add_root(&mut self, made_by: Option<Step>, bytes: Option<u64>, memory: Memory) -> RootId {
        self.roots.push(Root { made_by, bytes, memory, granted_after: Vec::new(), granted_for: None });
        self.roots.len() - 1
    }

    /// Allocates memory for work that follows what is on a stream.
    pub(super) fn grant(&mut self, caller: &Caller, stream: usize, bytes: Option<u64>) -> RootId {
        let root = self.add_root(Some(caller.step.clone()), bytes, Memory::Device);
        let after = self.streams[stream].tails.seen_by(&caller.past);
        after.iter().for_each(|&node| self.graph.mark(node));
        self.roots[root].granted_after = after;
        self.roots[root].granted_for = Some(stream);
        root
    }

    /// The stream that memory was allocated for, if work there precedes it that is not done when a
    /// step begins.
    pub(super) fn granted_late(&self, root: RootId) -> Option<(usize, &[NodeId])> {
        Some((self.roots[root].granted_for?, &self.roots[root].granted_after))
    }

    /// Notes that a node accesses memory.
    pub(super) fn access(&mut self, node: NodeId, accesses: impl IntoIterator<Item = Access>) {
        self.graph.mark(node);
        self.accesses.extend(accesses.into_iter().map(|access| (node, access)));
    }

    /// Notes what the host does when it calls a kernel.
    pub(super) fn host_access(&mut self, step: &Step, node: NodeId, accesses: Vec<Access>) {
        self.sites.insert(node, Site { step: step.clone(), stream: None });
        self.access(node, accesses);
    }

    /// Queues an operation on a stream. Returns its node, or `None` if it is recorded instead.
    pub(super) fn queue(&mut self, caller: &Caller, stream: usize, accesses: Vec<Access>) -> Option<NodeId> {
        if let Some(capture) = self.streams[stream].capture {
            self.check_captured(caller, capture);
            let step = Some((caller.step.clone(), stream));
            self.record(capture, caller, stream, Recorded { after: Vec::new(), accesses, step });
            return None;
        }
        self.check_not_captured(caller, stream);
        let mut after = self.streams[stream].tails.seen_by(&caller.past);
        after.push(caller.node);
        self.operations += 1;
        let node = self.graph.add(after);
        self.sites.insert(node, Site { step: caller.step.clone(), stream: Some(stream) });
        self.access(node, accesses);
        self.streams[stream].tails.add(caller.place, node);
        Some(node)
    }

    /// Queues a launch that may access any memory of devices.
    pub(super) fn queue_anywhere(&mut self, caller: &Caller, stream: usize, accesses: Vec<Access>) {
        match self.queue(caller, stream, accesses) {
            Some(node) => self.anywhere.push(node),
            None => self.doubt(&caller.step, "the graph's launch may access any memory"),
        }
    }

    /// Returns what is done when all work on a stream is that calls before have queued.
    pub(super) fn end_of(&mut self, caller: &Caller, stream: usize) -> NodeId {
        self.check_not_captured(caller, stream);
        let mut after = self.streams[stream].tails.seen_by(&caller.past);
        after.push(caller.node);
        self.graph.join(after)
    }

    /// Lets a stream's further work follow a node.
    pub(super) fn follow(&mut self, caller: &Caller, stream: usize, node: NodeId) {
        let after = self.streams[stream].tails.seen_by(&caller.past);
        let node = self.graph.add(after.into_iter().chain([caller.node, node]));
        self.streams[stream].tails.add(caller.place, node);
    }

    /// Whether a stream takes part in a capture.
    pub(super) fn is_capturing(&self, stream: usize) -> bool {
        self.streams[stream].capture.is_some()
    }
}

/// Events.
impl World {
    pub(super) fn record_event(&mut self, caller: &Caller, event: usize, stream: usize) {
        let capture = self.streams[stream].capture;
        let node = match capture {
            Some(capture) => {
                let after = self.captured_tail(capture, stream, caller);
                self.add_recorded(capture, Recorded { after, accesses: Vec::new(), step: None })
            }
            None => self.end_of(caller, stream),
        };
        let (place, past, step) = (caller.place, caller.past.clone(), caller.step.clone());
        // A wait that does not come before this record may see it.
        for wait in &self.events[event].waits {
            if !caller.past.includes(wait.place) && capture.is_none() {
                self.alternatives.push((wait.node, wait.record, node));
            }
        }
        self.events[event].records.push(Record { place, past, node, capture, step });
    }

    /// The record that a call sees, if there is just one, and none that it may see.
    fn latest(&mut self, caller: &Caller, event: usize, stream: Option<usize>) -> Option<Record> {
        let records = &self.events[event].records;
        let (seen, unordered): (Vec<_>, Vec<_>) =
            records.iter().partition(|record| caller.past.includes(record.place));
        let is_last = |record: &&&Record| {
            !seen.iter().any(|other| other.place != record.place && other.past.includes(record.place))
        };
        let last: Vec<&&Record> = seen.iter().filter(is_last).collect();
        let other = unordered.first().copied().or_else(|| last.get(1).map(|record| **record));
        if let Some(other) = other {
            let (wait, record) = (caller.step.clone(), other.step.clone());
            self.loose_waits.push(LooseWait { wait, record, stream });
            return None;
        }
        if let Some(&&record) = last.first() {
            return Some(record.clone());
        }
        if !self.events[event].is_foreign {
            self.mistakes.push(Mistake::NeverRecorded(caller.step.clone()));
        }
        None
    }

    /// Lets a stream wait for an event.
    pub(super) fn wait(&mut self, caller: &Caller, stream: usize, event: usize) {
        let Some(record) = self.latest(caller, event, Some(stream)) else { return };
        match (record.capture, self.streams[stream].capture) {
            (None, None) => {
                self.check_not_captured(caller, stream);
                let mut after = self.streams[stream].tails.seen_by(&caller.past);
                after.extend([caller.node, record.node]);
                let node = self.graph.add(after);
                self.streams[stream].tails.add(caller.place, node);
                let wait = Wait { place: caller.place, record: record.node, node };
                self.events[event].waits.push(wait);
            }
            (Some(capture), joined) if joined.is_none_or(|joined| joined == capture) => {
                if self.captures[capture].is_over() {
                    return;
                }
                if joined.is_none() {
                    self.join_capture(caller, stream, capture);
                }
                let mut after = self.captured_tail(capture, stream, caller);
                after.push(record.node);
                let point = Recorded { after, accesses: Vec::new(), step: None };
                self.record(capture, caller, stream, point);
            }
            _ => self.doubt(&caller.step, "a capture waits for an event from outside of it"),
        }
    }

    /// Returns what is done when the host has seen an event.
    pub(super) fn seen_event(&mut self, caller: &Caller, event: usize) -> NodeId {
        let Some(record) = self.latest(caller, event, None) else { return caller.node };
        if record.capture.is_some() {
            return caller.node;
        }
        let node = self.graph.add([caller.node, record.node]);
        let wait = Wait { place: caller.place, record: record.node, node };
        self.events[event].waits.push(wait);
        node
    }

    /// Undoes the waits that may see another record than the one that they follow, unless that one
    /// is later on its stream.
    pub(super) fn settle_waits(&mut self) {
        for (wait, followed, other) in std::mem::take(&mut self.alternatives) {
            if !self.graph.leads_to(followed, other) {
                self.graph.disconnect(followed, wait);
            }
        }
    }
}

/// Graphs.
impl World {
    pub(super) fn begin_capture(&mut self, caller: &Caller, stream: usize) {
        let start = Recorded { after: Vec::new(), accesses: Vec::new(), step: None };
        let mut tails = HashMap::new();
        tails.insert(stream, Tails::from_iter([(caller.place, START)]));
        self.captures.push(Capture {
            nodes: vec![start],
            tails,
            began: caller.step.clone(),
            began_at: caller.place,
            on_stream: stream,
            ended_at: None,
        });
        self.join_capture(caller, stream, self.captures.len() - 1);
    }

    /// Lets a stream take part in a capture, and notes what may be queued on it meanwhile.
    fn join_capture(&mut self, caller: &Caller, stream: usize, capture: usize) {
        self.streams[stream].capture = Some(capture);
        for node in self.streams[stream].tails.not_in(&caller.past) {
            let step = self.sites.get(&node).map_or(&caller.step, |site| &site.step).clone();
            self.mistakes.push(Mistake::MayBeCaptured(step, stream, caller.step.clone()));
        }
    }

    /// Ends the capture that began on a stream.
    pub(super) fn end_capture(&mut self, caller: &Caller, stream: usize) -> Option<usize> {
        let capture = self.streams[stream].capture?;
        self.check_captured(caller, capture);
        let is_ordered = self.captures[capture].tails.values().all(|tails| tails.are_all_in(&caller.past));
        if !is_ordered {
            self.doubt(&caller.step, "nothing orders the end of the capture and what it records");
        }
        self.captures[capture].ended_at = Some(caller.place);
        for stream in &mut self.streams {
            stream.capture = stream.capture.filter(|&joined| joined != capture);
        }
        Some(capture)
    }

    pub(super) fn add_graph(&mut self, capture: Option<usize>) -> usize {
        self.graphs.push(capture);
        self.graphs.len() - 1
    }

    pub(super) fn update_graph(&mut self, graph: usize, capture: Option<usize>) {
        self.graphs[graph] = capture;
    }

    fn check_captured(&mut self, caller: &Caller, capture: usize) {
        if !caller.past.includes(self.captures[capture].began_at) {
            self.doubt(
                &caller.step,
                "nothing orders this call and the beginning of the capture on its stream",
            );
        }
    }

    /// Notes a use of a stream that may come while a capture that is over was under way.
    fn check_not_captured(&mut self, caller: &Caller, stream: usize) {
        for capture in &self.captures {
            let Some(ended_at) = capture.ended_at.filter(|_| capture.tails.contains_key(&stream)) else {
                continue;
            };
            if !caller.past.includes(ended_at) {
                let (step, began) = (caller.step.clone(), capture.began.clone());
                self.mistakes.push(Mistake::MayBeCaptured(step, stream, began));
            }
        }
    }

    fn add_recorded(&mut self, capture: usize, recorded: Recorded) -> NodeId {
        self.captures[capture].nodes.push(recorded);
        self.captures[capture].nodes.len() - 1
    }

    fn captured_tail(&self, capture: usize, stream: usize, caller: &Caller) -> Vec<NodeId> {
        let tails = self.captures[capture].tails.get(&stream);
        tails.map_or_else(Vec::new, |tails| tails.seen_by(&caller.past))
    }

    /// Adds a node of a capture at the end of a stream.
    fn record(&mut self, capture: usize, caller: &Caller, stream: usize, mut recorded: Recorded) {
        recorded.after.extend(self.captured_tail(capture, stream, caller));
        let node = self.add_recorded(capture, recorded);
        self.captures[capture].tails.entry(stream).or_default().add(caller.place, node);
    }

    /// Queues all that a graph has recorded.
    pub(super) fn launch(&mut self, caller: &Caller, graph: usize, stream: usize) {
        let Some(capture) = self.graphs[graph] else {
            return self.doubt(&caller.step, "it is not known what the graph has recorded");
        };
        self.check_not_captured(caller, stream);
        let mut base = self.streams[stream].tails.seen_by(&caller.past);
        base.push(caller.node);
        let mut nodes: Vec<NodeId> = Vec::new();
        for recorded in self.captures[capture].nodes.clone() {
            let inner = recorded.after.iter().map(|&node| nodes[node]).filter(|&node| node != START);
            let after: Vec<NodeId> = inner.collect();
            let node = match recorded.step {
                None if after.is_empty() => self.graph.join(base.iter().copied()),
                None => self.graph.join(after),
                Some((step, on_stream)) => {
                    let node = self.graph.add(if after.is_empty() { base.clone() } else { after });
                    let step = Step { launched_by: Some(caller.step.op), ..step };
                    self.sites.insert(node, Site { step, stream: Some(on_stream) });
                    self.access(node, recorded.accesses);
                    self.operations += 1;
                    node
                }
            };
            nodes.push(node);
        }
        let end = self.graph.add(nodes.into_iter().chain(base));
        self.streams[stream].tails.add(caller.place, end);
    }

    /// Notes captures that nothing ended.
    pub(super) fn note_open_captures(&mut self) {
        for capture in self.captures.iter().filter(|capture| !capture.is_over()) {
            self.mistakes.push(Mistake::OpenCapture(capture.began.clone(), capture.on_stream));
        }
    }
}

/// Libraries and turns.
impl World {
    pub(super) fn set_stream(&mut self, caller: &Caller, handle: usize, stream: usize) {
        self.handles[handle].0.push((caller.place, caller.past.clone(), stream));
    }

    /// The stream of a library's handle, if one is known.
    pub(super) fn stream_of(&self, past: &Past, handle: usize) -> Option<usize> {
        let set = &self.handles[handle].0;
        if let Some((.., only)) = set.first().filter(|_| set.len() == 1) {
            return Some(*only);
        }
        let seen: Vec<_> = set.iter().filter(|(place, ..)| past.includes(*place)).collect();
        let is_last = |at: &Place| !seen.iter().any(|(place, after, _)| place != at && after.includes(*at));
        let mut last = seen.iter().filter(|(place, ..)| is_last(place));
        let found = last.next().map(|(.., stream)| *stream);
        (seen.len() == set.len() && last.next().is_none()).then_some(found).flatten()
    }

    /// Takes a turn, behind all that gave one back. Returns what is done then.
    pub(super) fn take_turn(&mut self, caller: &Caller, turns: usize) -> (NodeId, Past) {
        let back = self.turns[turns].last().cloned();
        let (given, past) = back.unwrap_or((START, Past::default()));
        (self.graph.join([caller.node, given]), caller.past.join(&past))
    }

    pub(super) fn give_turn_back(&mut self, caller: &Caller, turns: usize) {
        self.turns[turns].push((caller.node, caller.past.clone()));
    }
}
