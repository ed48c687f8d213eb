//! Loops: the nodes of a frame as a condition and a body.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use tfrt_ir::{Module, OpId, ValueId};

use super::Obstacle;
use crate::{
    Evaluator,
    executor::{Frames, Kind, Nodes, Output, ROOT},
    graph::CONST,
};

/// A part of a graph at one level: a node, or a whole loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Item {
    Node(usize),
    /// The loop that a frame is.
    Loop(usize),
}

/// A value that a loop carries from one iteration to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    pub(super) merge: usize,
    /// What enters the loop.
    pub(super) init: Output,
    /// What goes to the next iteration.
    pub(super) next: Output,
}

/// A frame as a loop.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) carried: Vec<Carried>,
    pub(super) condition: Output,
    pub(super) loop_cond: usize,
    /// Exit nodes, with the carried value that each one gives.
    pub(super) exits: Vec<(usize, usize)>,
    /// What decides whether there is another iteration.
    pub(super) head: Vec<Item>,
    /// What runs in each iteration.
    pub(super) body: Vec<Item>,
    /// What the loop waits for: the values and control inputs of its Enter nodes.
    inputs: Vec<Output>,
    controls: Vec<usize>,
}

/// What a graph consists of.
pub(super) struct Structure<'a> {
    pub(super) nodes: &'a Nodes,
    frames: &'a Frames,
    pub(super) loops: BTreeMap<usize, Loop>,
    /// The items outside of all loops.
    pub(super) top: Vec<Item>,
    /// Switches that end iterations.
    loop_switches: HashSet<usize>,
    /// Nodes that may run more often than the graph says.
    pure: Vec<bool>,
    /// Islands that hold one constant.
    constant: Vec<bool>,
    /// Islands that forward one value, with that.
    identity: HashMap<usize, Output>,
    /// Merges whose `value_index` is used.
    pub(super) indexed: HashSet<usize>,
}

impl<'a> Structure<'a> {
    /// Finds the loops of a graph.
    pub(super) fn find(
        module: &Module,
        nodes: &'a Nodes,
        frames: &'a Frames,
        evaluator: &Evaluator,
    ) -> Result<Self, Obstacle> {
        let mut structure = Self {
            nodes,
            frames,
            loops: BTreeMap::new(),
            top: Vec::new(),
            loop_switches: HashSet::new(),
            pure: Vec::new(),
            constant: Vec::new(),
            identity: HashMap::new(),
            indexed: HashSet::new(),
        };
        structure.read(module, evaluator)?;
        // Frames within others have larger numbers.
        for frame in (1..frames.list.len()).rev() {
            let found = structure.analyze(frame)?;
            structure.loops.insert(frame, found);
        }
        structure.top = structure.items(ROOT);
        Ok(structure)
    }

    /// Reads what the module says of each node.
    fn read(&mut self, module: &Module, evaluator: &Evaluator) -> Result<(), Obstacle> {
        for (number, node) in self.nodes.list.iter().enumerate() {
            let (ops, yielded) = match node.kind {
                Kind::Island => self.nodes.island(module, number),
                Kind::SwitchN | Kind::Send | Kind::Recv => {
                    return Err((node.op, "has no functional form".to_owned()));
                }
                _ => (Vec::new(), &[][..]),
            };
            self.pure.push(ops.iter().all(|&op| is_pure(module, op, evaluator)));
            self.constant.push(matches!(ops[..], [op] if module.op(op).name == CONST));
            if let Some(input) = forwarded(module, &ops, yielded, &node.inputs) {
                self.identity.insert(number, input);
            }
            if node.kind == Kind::Switch
                && let Some(&Output::Of(predicate, _)) = node.inputs.get(1)
                && self.nodes.list[predicate].kind == Kind::LoopCond
            {
                self.loop_switches.insert(number);
            }
            if node.kind == Kind::Merge
                && module.op(node.op).results.get(1).is_some_and(|&index| module.has_uses(index))
            {
                self.indexed.insert(number);
            }
        }
        Ok(())
    }

    pub(super) fn obstacle(&self, node: usize, why: &str) -> Obstacle {
        (self.nodes.list[node].op, why.to_owned())
    }

    fn kind(&self, node: usize) -> Kind {
        self.nodes.list[node].kind
    }

    /// Whether a Merge joins what enters a loop with what comes from its last iteration.
    pub(super) fn is_loop_merge(&self, node: usize) -> bool {
        self.kind(node) == Kind::Merge && self.source_of(node).is_some()
    }

    fn source_of(&self, merge: usize) -> Option<usize> {
        self.nodes.list[merge].inputs.iter().find_map(|input| match input {
            Output::Of(source, _) if self.kind(*source) == Kind::Source => Some(*source),
            _ => None,
        })
    }

    pub(super) fn is_loop_switch(&self, node: usize) -> bool {
        self.loop_switches.contains(&node)
    }

    /// Whether a value is a constant, which every function can make again.
    pub(super) fn is_constant(&self, value: Output) -> Option<usize> {
        match value {
            Output::Of(node, _) if self.constant[node] => Some(node),
            _ => None,
        }
    }

    /// The value that is forwarded: Switch, LoopCond and constant Enter give what they take.
    pub(super) fn resolve(&self, mut value: Output) -> Output {
        while let Output::Of(node, _) = value {
            let forwards = match self.kind(node) {
                Kind::Switch | Kind::LoopCond => true,
                Kind::Enter { is_constant } => is_constant,
                _ => false,
            };
            match self.nodes.list[node].inputs.first() {
                Some(&input) if forwards => value = input,
                _ => break,
            }
        }
        value
    }

    /// The value that decides, behind ops that forward it.
    pub(super) fn predicate(&self, value: Output) -> Output {
        let mut value = self.resolve(value);
        while let Output::Of(node, _) = value
            && let Some(&input) = self.identity.get(&node)
        {
            value = self.resolve(input);
        }
        value
    }

    /// The item that makes a value; `None` for values from outside and of loops' merges, which are
    /// arguments.
    pub(super) fn maker(&self, value: Output) -> Option<Item> {
        let Output::Of(node, _) = value else { return None };
        match self.kind(node) {
            Kind::Exit => Some(Item::Loop(self.frames.of[node])),
            Kind::Source | Kind::Enter { .. } | Kind::LoopCond => None,
            Kind::Merge if self.is_loop_merge(node) => None,
            Kind::Switch if self.is_loop_switch(node) => None,
            _ => Some(Item::Node(node)),
        }
    }

    /// The values that an item takes, as its nodes name them.
    pub(super) fn inputs(&self, item: Item) -> &[Output] {
        match item {
            Item::Node(node) => &self.nodes.list[node].inputs,
            Item::Loop(frame) => &self.loops[&frame].inputs,
        }
    }

    /// The items that an item waits for without taking a value.
    pub(super) fn controls(&self, item: Item) -> impl Iterator<Item = Item> {
        let controls = match item {
            Item::Node(node) => &self.nodes.list[node].controls,
            Item::Loop(frame) => &self.loops[&frame].controls,
        };
        controls.iter().filter_map(|&node| self.maker(Output::Of(node, 0)))
    }

    /// What must run before an item.
    pub(super) fn dependencies(&self, item: Item) -> impl Iterator<Item = Item> {
        let made = self.inputs(item).iter().filter_map(|&input| self.maker(self.behind_enter(input)));
        made.chain(self.controls(item))
    }

    /// What a node that is no item forwards.
    fn behind_enter(&self, value: Output) -> Output {
        match value {
            Output::Of(node, _)
                if matches!(self.kind(node), Kind::Enter { .. } | Kind::LoopCond)
                    || self.is_loop_switch(node) =>
            {
                self.resolve(value)
            }
            other => other,
        }
    }

    /// The items that run in a frame.
    fn items(&self, frame: usize) -> Vec<Item> {
        let nodes = (0..self.nodes.list.len()).filter(|&node| self.frames.of[node] == frame);
        let items = nodes.filter(|&node| match self.kind(node) {
            Kind::Island | Kind::ControlTrigger => true,
            Kind::Switch => !self.is_loop_switch(node),
            Kind::Merge => !self.is_loop_merge(node),
            _ => false,
        });
        let inner = self.loops.keys().filter(|&&inner| self.frames.list[inner].parent == Some(frame));
        items.map(Item::Node).chain(inner.map(|&inner| Item::Loop(inner))).collect()
    }

    fn analyze(&self, frame: usize) -> Result<Loop, Obstacle> {
        let in_frame: Vec<usize> =
            (0..self.nodes.list.len()).filter(|&node| self.frames.of[node] == frame).collect();
        let enters: Vec<usize> = (0..self.nodes.list.len())
            .filter(|&node| {
                matches!(self.kind(node), Kind::Enter { .. }) && self.frames.outputs[node] == frame
            })
            .collect();
        let first = enters.first().copied().unwrap_or_default();
        let mut conditions = in_frame.iter().filter(|&&node| self.kind(node) == Kind::LoopCond);
        let (Some(&loop_cond), None) = (conditions.next(), conditions.next()) else {
            return Err(self.obstacle(first, "begins a loop that does not have one LoopCond"));
        };
        let carried = self.carried(&in_frame)?;
        self.check_enters(&enters, &carried)?;
        let exits = self.exits(&in_frame, &carried)?;
        let (head, body) = self.divide(frame, &in_frame)?;
        let inputs = enters.iter().flat_map(|&enter| self.nodes.list[enter].inputs.iter().copied()).collect();
        let controls =
            enters.iter().flat_map(|&enter| self.nodes.list[enter].controls.iter().copied()).collect();
        let condition = self.nodes.list[loop_cond].inputs[0];
        Ok(Loop { carried, condition, loop_cond, exits, head, body, inputs, controls })
    }

    /// The values that a loop carries.
    fn carried(&self, in_frame: &[usize]) -> Result<Vec<Carried>, Obstacle> {
        let mut sinks = HashMap::new();
        for &node in in_frame {
            if let Kind::Sink(source) = self.kind(node) {
                sinks.insert(source, node);
            }
        }
        let mut carried = Vec::new();
        for &merge in in_frame {
            let Some(source) = self.source_of(merge).filter(|_| self.kind(merge) == Kind::Merge) else {
                continue;
            };
            let others: Vec<_> = self.nodes.list[merge]
                .inputs
                .iter()
                .filter(|&&input| input != Output::Of(source, 0))
                .collect();
            let init = match others[..] {
                [&Output::Of(enter, 0)] if matches!(self.kind(enter), Kind::Enter { .. }) => {
                    self.nodes.list[enter].inputs[0]
                }
                _ => return Err(self.obstacle(merge, "does not join an Enter with a NextIteration")),
            };
            if self.indexed.contains(&merge) {
                return Err(self.obstacle(merge, "has a 'value_index' that is used"));
            }
            let Some(&sink) = sinks.get(&source) else {
                return Err(self.obstacle(source, "has no Sink in its frame"));
            };
            carried.push(Carried { merge, init, next: self.nodes.list[sink].inputs[0] });
        }
        Ok(carried)
    }

    /// What enters is constant, or carried and used by nothing else.
    fn check_enters(&self, enters: &[usize], carried: &[Carried]) -> Result<(), Obstacle> {
        let merges: HashSet<usize> = carried.iter().map(|carried| carried.merge).collect();
        let single: HashSet<usize> = enters
            .iter()
            .copied()
            .filter(|&enter| self.kind(enter) == Kind::Enter { is_constant: false })
            .collect();
        for (user, node) in self.nodes.list.iter().enumerate() {
            for input in &node.inputs {
                if let Output::Of(enter, 0) = input
                    && single.contains(enter)
                    && !merges.contains(&user)
                {
                    return Err(self.obstacle(user, "uses what enters a loop in its first iteration alone"));
                }
            }
        }
        Ok(())
    }

    /// The exits, each of a carried value.
    fn exits(&self, in_frame: &[usize], carried: &[Carried]) -> Result<Vec<(usize, usize)>, Obstacle> {
        let numbers: HashMap<usize, usize> =
            carried.iter().enumerate().map(|(number, carried)| (carried.merge, number)).collect();
        let exits = in_frame.iter().filter(|&&node| self.kind(node) == Kind::Exit);
        exits
            .map(|&exit| {
                let number = match self.nodes.list[exit].inputs[..] {
                    [Output::Of(switch, 0)] if self.is_loop_switch(switch) => {
                        match self.nodes.list[switch].inputs[0] {
                            Output::Of(merge, 0) => numbers.get(&merge),
                            _ => None,
                        }
                    }
                    _ => None,
                };
                let number = number
                    .ok_or_else(|| self.obstacle(exit, "gives something else than what its loop carries"))?;
                Ok((exit, *number))
            })
            .collect()
    }

    /// Divides the items of a frame into those before its Switches and those behind.
    fn divide(&self, frame: usize, in_frame: &[usize]) -> Result<(Vec<Item>, Vec<Item>), Obstacle> {
        let is_end = |input: &Output| matches!(input, Output::Of(switch, 0) if self.is_loop_switch(*switch));
        for &node in in_frame.iter().filter(|&&node| self.kind(node) != Kind::Exit) {
            if self.nodes.list[node].inputs.iter().any(is_end) {
                return Err(
                    self.obstacle(node, "runs when its loop ends, but does not leave it through an Exit")
                );
            }
        }
        let items = self.items(frame);
        let begins = |item: &Item| {
            self.inputs(*item)
                .iter()
                .any(|input| matches!(input, Output::Of(switch, 1) if self.is_loop_switch(*switch)))
        };
        let mut body: BTreeSet<Item> = items.iter().copied().filter(begins).collect();
        let mut users: HashMap<Item, Vec<Item>> = HashMap::new();
        for &item in &items {
            for dependency in self.dependencies(item) {
                users.entry(dependency).or_default().push(item);
            }
        }
        let mut worklist: Vec<Item> = body.iter().copied().collect();
        while let Some(item) = worklist.pop() {
            for &user in users.get(&item).into_iter().flatten() {
                if body.insert(user) {
                    worklist.push(user);
                }
            }
        }
        let (body, head) = items.into_iter().partition(|item| body.contains(item));
        Ok((head, body))
    }

    /// Whether an item may run more often than the graph says.
    pub(super) fn is_pure(&self, item: Item) -> bool {
        match item {
            Item::Node(node) => self.pure[node],
            Item::Loop(frame) => {
                let found = &self.loops[&frame];
                found.head.iter().chain(&found.body).all(|&item| self.is_pure(item))
            }
        }
    }
}

/// Whether an operation does nothing but make its results, the same ones each time.
fn is_pure(module: &Module, op: OpId, evaluator: &Evaluator) -> bool {
    let name = &module.op(op).name;
    let is_known = evaluator.op(name).is_some_and(|op| !op.is_side_effecting());
    name == CONST || (is_known && !crate::builder::is_random(name))
}

/// The value that an island gives unchanged, if it does nothing else.
fn forwarded(module: &Module, ops: &[OpId], yielded: &[ValueId], inputs: &[Output]) -> Option<Output> {
    let &[given] = yielded else { return None };
    let &[input] = inputs else { return None };
    match ops {
        [] => Some(input),
        [op] => {
            let op = module.op(*op);
            (op.name == "tf.Identity" && op.operands.len() == 1 && op.results == [given]).then_some(input)
        }
        _ => None,
    }
}
