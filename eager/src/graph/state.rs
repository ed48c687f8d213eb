//! [`State`]: frames, their iterations, and the inputs that have arrived in each.
//!
//! A frame is created by the first Enter that leads into it, once for each iteration of the
//! enclosing frame. Its iterations end in order. The first one ends when none of its nodes is
//! running or waiting to run and all Enters have arrived; each other one also waits for those
//! before it. The frame ends with its last iteration. Its Exits that never passed a live value then
//! pass dead ones.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tfrt_host::AsyncValue;

use super::layout::{Consumer, Layout};
use super::plan::{Input, NodeKind};
use super::rendezvous::Token;

/// A ready node, and its iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    pub(super) frame: usize,
    pub(super) iteration: u64,
    pub(super) node: u32,
}

/// The inputs of a node that have arrived.
#[derive(Clone, Copy, Debug, Default)]
struct Arrived {
    missing: u32,
    is_dead: bool,
    is_queued: bool,
    /// For a Merge: one more than the index of the live input that arrived first.
    live: u32,
    dead: u32,
}

#[derive(Debug, Default)]
struct Iteration {
    nodes: Vec<Arrived>,
    slots: Vec<Token>,
    /// The number of nodes that are queued or running, and of frames inside.
    outstanding: usize,
}

/// A running frame.
#[derive(Debug)]
struct Frame {
    number: usize,
    parent: Option<(usize, u64)>,
    /// The number of the first iteration that has not ended.
    first: u64,
    iterations: VecDeque<Iteration>,
    enters_missing: u32,
    /// The values that are available in all iterations, by their Enter.
    constants: Vec<(u32, Token)>,
    /// The values for an iteration that may not begin yet, by their source.
    deferred: Vec<(u32, AsyncValue)>,
    has_left: Vec<u32>,
}

/// The state of a running graph.
#[derive(Debug)]
pub(super) struct State {
    pub(super) layout: Arc<Layout>,
    arguments: Vec<AsyncValue>,
    frames: Vec<Option<Frame>>,
    free: Vec<usize>,
    children: HashMap<(usize, u64, u32), usize>,
    pub(super) queue: VecDeque<Ready>,
    /// Iterations in which a node or a frame has ended.
    touched: Vec<usize>,
    /// The fetches that have arrived.
    pub(super) fetched: Vec<Option<Token>>,
    /// The dead nodes whose control outputs the graph needs.
    pub(super) dead_controls: Vec<u32>,
    pub(super) is_done: bool,
    spare: Vec<Iteration>,
}

impl State {
    pub(super) fn new(layout: Arc<Layout>, arguments: Vec<AsyncValue>) -> Self {
        let fetched = layout.plan.fetches.iter().map(|fetch| match *fetch {
            Input::Argument(argument) => Some(arguments.get(argument as usize).cloned()),
            Input::Output(..) => None,
        });
        let mut state = Self {
            fetched: fetched.collect(),
            arguments,
            frames: Vec::new(),
            free: Vec::new(),
            children: HashMap::new(),
            queue: VecDeque::new(),
            touched: Vec::new(),
            dead_controls: Vec::new(),
            is_done: false,
            spare: Vec::new(),
            layout,
        };
        state.add_frame(0, None);
        state.touched.push(0);
        state
    }

    fn add_frame(&mut self, number: usize, parent: Option<(usize, u64)>) -> usize {
        let frame = Frame {
            number,
            parent,
            first: 0,
            iterations: VecDeque::new(),
            enters_missing: self.layout.frames[number].enter_count,
            constants: Vec::new(),
            deferred: Vec::new(),
            has_left: Vec::new(),
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.frames[id] = Some(frame);
                id
            }
            None => {
                self.frames.push(Some(frame));
                self.frames.len() - 1
            }
        };
        self.begin_iteration(id);
        id
    }

    fn frame(&mut self, id: usize) -> Option<&mut Frame> {
        self.frames.get_mut(id)?.as_mut()
    }

    fn iteration(&mut self, id: usize, number: u64) -> Option<&mut Iteration> {
        let frame = self.frame(id)?;
        let offset = usize::try_from(number.checked_sub(frame.first)?).ok()?;
        frame.iterations.get_mut(offset)
    }

    /// Begins the next iteration of a frame, with the values that are available in all of them.
    fn begin_iteration(&mut self, id: usize) {
        let layout = self.layout.clone();
        let mut iteration = self.spare.pop().unwrap_or_default();
        let Some(frame) = self.frame(id) else { return };
        let own = &layout.frames[frame.number];
        iteration.nodes.clear();
        iteration.nodes.extend(
            own.nodes
                .iter()
                .map(|&node| Arrived { missing: layout.locals[node as usize].missing, ..Arrived::default() }),
        );
        iteration.slots.clear();
        iteration.slots.resize(own.slot_count, None);
        iteration.outstanding = 0;
        let number = frame.first + frame.iterations.len() as u64;
        frame.iterations.push_back(iteration);
        let (is_root, constants) = (frame.parent.is_none(), frame.constants.clone());
        if is_root {
            self.begin_nodes(id, &own.nodes);
        }
        for (enter, token) in constants {
            self.deliver(id, number, enter, 0, &token);
            self.deliver_control(id, number, enter, token.is_some());
        }
    }

    /// Queues the nodes that wait for nothing.
    fn begin_nodes(&mut self, id: usize, nodes: &[u32]) {
        let layout = self.layout.clone();
        for &node in nodes {
            let (plan, local) = (&layout.plan.nodes[node as usize], &layout.locals[node as usize]);
            if plan.kind == NodeKind::Merge {
                let argument = plan.inputs.iter().position(|input| matches!(input, Input::Argument(_)));
                if let (Some(argument), Some(iteration)) = (argument, self.iteration(id, 0)) {
                    iteration.nodes[local.index].live = argument as u32 + 1;
                }
            }
            self.queue_if_ready(Ready { frame: id, iteration: 0, node });
        }
    }

    /// Queues a node if all inputs that it waits for have arrived.
    fn queue_if_ready(&mut self, ready: Ready) {
        let layout = self.layout.clone();
        let (plan, local) = (&layout.plan.nodes[ready.node as usize], &layout.locals[ready.node as usize]);
        let is_first = ready.iteration == 0;
        let Some(iteration) = self.iteration(ready.frame, ready.iteration) else { return };
        let arrived = &mut iteration.nodes[local.index];
        let has_all = match plan.kind {
            NodeKind::Source => false,
            NodeKind::Merge => {
                let candidates = local.candidates[usize::from(!is_first)];
                arrived.is_dead || arrived.live > 0 || arrived.dead >= candidates
            }
            _ => true,
        };
        // A Merge with a dead control input need not wait for its data.
        if arrived.missing == 0 && has_all && !arrived.is_queued {
            arrived.is_queued = true;
            iteration.outstanding += 1;
            self.queue.push_back(ready);
        }
    }

    /// Delivers a data output to its consumers, in this iteration.
    fn deliver(&mut self, id: usize, number: u64, from: u32, output: u32, token: &Token) {
        let layout = self.layout.clone();
        for &consumer in layout.locals[from as usize].consumers.get(output as usize).into_iter().flatten() {
            let (node, slot) = match consumer {
                Consumer::Data(node, slot) => (node, slot),
                Consumer::Fetch(index) => {
                    self.fetched[index as usize] = Some(token.clone());
                    continue;
                }
            };
            let local = &layout.locals[node as usize];
            let is_merge = layout.plan.nodes[node as usize].kind == NodeKind::Merge;
            let Some(iteration) = self.iteration(id, number) else { continue };
            let arrived = &mut iteration.nodes[local.index];
            if is_merge {
                match token {
                    None => arrived.dead += 1,
                    Some(_) if arrived.live == 0 => arrived.live = slot + 1,
                    Some(_) => {}
                }
            } else {
                arrived.missing = arrived.missing.saturating_sub(1);
                arrived.is_dead |= token.is_none();
            }
            iteration.slots[local.slots + slot as usize].clone_from(token);
            self.queue_if_ready(Ready { frame: id, iteration: number, node });
        }
    }

    fn deliver_control(&mut self, id: usize, number: u64, from: u32, is_live: bool) {
        let layout = self.layout.clone();
        let local = &layout.locals[from as usize];
        if local.is_fetched && !is_live {
            self.dead_controls.push(from);
        }
        for &node in &local.control_consumers {
            let index = layout.locals[node as usize].index;
            let Some(iteration) = self.iteration(id, number) else { continue };
            let arrived = &mut iteration.nodes[index];
            arrived.missing = arrived.missing.saturating_sub(1);
            arrived.is_dead |= !is_live;
            self.queue_if_ready(Ready { frame: id, iteration: number, node });
        }
    }

    /// Returns whether an input of a node was dead.
    pub(super) fn is_dead(&mut self, ready: Ready) -> bool {
        let index = self.layout.locals[ready.node as usize].index;
        self.iteration(ready.frame, ready.iteration).is_none_or(|iteration| iteration.nodes[index].is_dead)
    }

    /// Returns the live input of a Merge with its index, or `None` if it is dead.
    pub(super) fn merged(&mut self, ready: Ready) -> Option<(u32, AsyncValue)> {
        let index = self.layout.locals[ready.node as usize].index;
        let arrived = self.iteration(ready.frame, ready.iteration)?.nodes[index];
        let number = arrived.live.checked_sub(1).filter(|_| !arrived.is_dead)?;
        Some((number, self.input(ready, number as usize)?))
    }

    /// Returns an input of a node.
    pub(super) fn input(&mut self, ready: Ready, index: usize) -> Option<AsyncValue> {
        match *self.layout.plan.nodes[ready.node as usize].inputs.get(index)? {
            Input::Argument(argument) => self.arguments.get(argument as usize).cloned(),
            Input::Output(..) => {
                let slot = self.layout.locals[ready.node as usize].slots + index;
                self.iteration(ready.frame, ready.iteration)?.slots[slot].clone()
            }
        }
    }

    /// Takes all inputs of a node.
    pub(super) fn take_inputs(&mut self, ready: Ready) -> Vec<AsyncValue> {
        let layout = self.layout.clone();
        let (plan, local) = (&layout.plan.nodes[ready.node as usize], &layout.locals[ready.node as usize]);
        let mut inputs = Vec::with_capacity(plan.inputs.len() + 1);
        for (index, input) in plan.inputs.iter().enumerate() {
            let value = match *input {
                Input::Argument(argument) => self.arguments.get(argument as usize).cloned(),
                Input::Output(..) => self
                    .iteration(ready.frame, ready.iteration)
                    .and_then(|iteration| iteration.slots[local.slots + index].take()),
            };
            inputs.extend(value);
        }
        inputs
    }

    /// Ends a node: delivers its outputs, each live or dead.
    pub(super) fn finish(&mut self, ready: Ready, outputs: &[Token], is_live: bool) {
        let layout = self.layout.clone();
        let Ready { frame, iteration, node } = ready;
        match layout.plan.nodes[node as usize].kind {
            NodeKind::Enter { is_constant } => {
                let token = outputs.first().cloned().flatten().filter(|_| is_live);
                self.enter(ready, layout.plan.nodes[node as usize].output_frame, is_constant, &token);
            }
            NodeKind::Exit => {
                if let Some(parent) = self.frame(frame).filter(|_| is_live).and_then(|frame| {
                    frame.has_left.push(node);
                    frame.parent
                }) {
                    self.leave(parent, node, &outputs.first().cloned().flatten());
                }
            }
            NodeKind::Sink(source) => {
                if let Some(value) = outputs.first().cloned().flatten().filter(|_| is_live) {
                    self.iterate(ready, source, value);
                }
            }
            _ => {
                for output in 0..layout.plan.nodes[node as usize].outputs {
                    let token = outputs.get(output as usize).cloned().flatten().filter(|_| is_live);
                    self.deliver(frame, iteration, node, output, &token);
                }
                self.deliver_control(frame, iteration, node, is_live);
            }
        }
        self.end_one(frame, iteration);
    }

    /// Records the end of a node or frame that an iteration waited for.
    fn end_one(&mut self, id: usize, number: u64) {
        if let Some(iteration) = self.iteration(id, number) {
            iteration.outstanding -= 1;
            if iteration.outstanding == 0 {
                self.touched.push(id);
            }
        }
    }

    fn enter(&mut self, ready: Ready, number: u32, is_constant: bool, token: &Token) {
        let key = (ready.frame, ready.iteration, number);
        let id = match self.children.get(&key) {
            Some(&id) => id,
            None => {
                let id = self.add_frame(number as usize, Some((ready.frame, ready.iteration)));
                self.children.insert(key, id);
                if let Some(iteration) = self.iteration(ready.frame, ready.iteration) {
                    iteration.outstanding += 1;
                }
                id
            }
        };
        let Some(frame) = self.frame(id) else { return };
        frame.enters_missing = frame.enters_missing.saturating_sub(1);
        let (first, mut last) = (frame.first, frame.first);
        if is_constant {
            frame.constants.push((ready.node, token.clone()));
            last += frame.iterations.len().saturating_sub(1) as u64;
        }
        for iteration in first..=last {
            self.deliver(id, iteration, ready.node, 0, token);
            self.deliver_control(id, iteration, ready.node, token.is_some());
        }
        self.touched.push(id);
    }

    fn leave(&mut self, (id, iteration): (usize, u64), exit: u32, token: &Token) {
        self.deliver(id, iteration, exit, 0, token);
        self.deliver_control(id, iteration, exit, token.is_some());
    }

    /// Passes a value to the next iteration, now or when that may begin.
    fn iterate(&mut self, ready: Ready, source: u32, value: AsyncValue) {
        let layout = self.layout.clone();
        let Some(frame) = self.frame(ready.frame) else { return };
        let next = frame.first + frame.iterations.len() as u64;
        if ready.iteration + 1 == next {
            if frame.iterations.len() >= layout.frames[frame.number].parallel_iterations {
                return frame.deferred.push((source, value));
            }
            self.begin_iteration(ready.frame);
        }
        self.feed(ready.frame, ready.iteration + 1, source, value);
    }

    fn feed(&mut self, id: usize, iteration: u64, source: u32, value: AsyncValue) {
        self.deliver(id, iteration, source, 0, &Some(value));
        self.deliver_control(id, iteration, source, true);
    }

    /// Ends iterations and frames with nothing left to do.
    pub(super) fn settle(&mut self) {
        while let Some(id) = self.touched.pop() {
            self.settle_frame(id);
        }
    }

    fn settle_frame(&mut self, id: usize) {
        let layout = self.layout.clone();
        loop {
            let Some(frame) = self.frame(id) else { return };
            let waits = frame.iterations.front().is_none_or(|iteration| iteration.outstanding > 0);
            if waits || (frame.first == 0 && frame.enters_missing > 0) {
                return;
            }
            let ended = frame.iterations.pop_front();
            frame.first += 1;
            let deferred = std::mem::take(&mut frame.deferred);
            let is_last = frame.iterations.is_empty() && deferred.is_empty();
            let (parent, number) = (frame.parent, frame.number);
            // The next iteration comes after those that are in flight.
            let next = frame.first + frame.iterations.len() as u64;
            self.spare.extend(ended);
            if !deferred.is_empty() {
                self.begin_iteration(id);
                for (source, value) in deferred {
                    self.feed(id, next, source, value);
                }
            }
            if is_last {
                return self.end_frame(id, number, parent, &layout);
            }
        }
    }

    fn end_frame(&mut self, id: usize, number: usize, parent: Option<(usize, u64)>, layout: &Layout) {
        let Some(frame) = self.frames[id].take() else { return };
        self.free.push(id);
        let Some(parent) = parent else {
            self.is_done = true;
            return;
        };
        self.children.remove(&(parent.0, parent.1, number as u32));
        for &exit in layout.frames[number].exits.iter().filter(|exit| !frame.has_left.contains(exit)) {
            self.leave(parent, exit, &None);
        }
        self.end_one(parent.0, parent.1);
    }

    /// Returns the path of frames and iterations in which a node runs. It is the same for a Send
    /// and its Recv.
    pub(super) fn path(&mut self, ready: Ready) -> String {
        let mut path = String::new();
        let mut place = Some((ready.frame, ready.iteration));
        while let Some((id, iteration)) = place {
            let Some(frame) = self.frame(id) else { break };
            path.push_str(&format!(";{}:{iteration}", frame.number));
            place = frame.parent;
        }
        path
    }

    /// Returns a node that waits for an input that can never arrive.
    pub(super) fn stuck(&self) -> Option<u32> {
        let frames = self.frames.iter().flatten();
        frames.flat_map(|frame| frame.iterations.iter().map(move |iteration| (frame, iteration))).find_map(
            |(frame, iteration)| {
                let waits = iteration.nodes.iter().position(|node| !node.is_queued && node.missing > 0)?;
                self.layout.frames[frame.number].nodes.get(waits).copied()
            },
        )
    }
}
