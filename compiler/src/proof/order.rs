//! The order of a program's steps: a graph of what happens before what, and the clocks that answer
//! for all pairs.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap},
    rc::Rc,
};

/// A step of the program, or a point at which several are done. Nodes are numbered as the host
/// comes to them.
pub(super) type NodeId = usize;

/// What happens before everything else.
pub(super) const START: NodeId = 0;

/// The place of a call among those that come one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    line: usize,
    number: u32,
}

/// Calls that have returned: how many of each line.
#[derive(Clone, Debug, Default)]
pub(super) struct Past(Rc<[u32]>);

impl Past {
    fn of(&self, line: usize) -> u32 {
        self.0.get(line).copied().unwrap_or(0)
    }

    /// Returns whether a call is among them.
    pub(super) fn includes(&self, place: Place) -> bool {
        self.of(place.line) >= place.number
    }

    fn includes_all(&self, other: &Past) -> bool {
        other.0.iter().enumerate().all(|(line, &number)| self.of(line) >= number)
    }

    /// Returns the calls of both.
    pub(super) fn join(&self, other: &Past) -> Past {
        if self.includes_all(other) {
            return self.clone();
        }
        let lines = self.0.len().max(other.0.len());
        Past((0..lines).map(|line| self.of(line).max(other.of(line))).collect())
    }

    fn with(&self, place: Place) -> Past {
        let mut all = self.0.to_vec();
        if all.len() <= place.line {
            all.resize(place.line + 1, 0);
        }
        all[place.line] = all[place.line].max(place.number);
        Past(all.into())
    }
}

/// The lines of calls. A call continues a line if it comes after the last call of that line.
#[derive(Debug, Default)]
pub(super) struct Lines(Vec<u32>);

impl Lines {
    /// Places a call that comes after others. Returns its place, and what has returned when it has.
    pub(super) fn place(&mut self, past: &Past) -> (Place, Past) {
        let line = self.0.iter().enumerate().position(|(line, &last)| past.of(line) == last);
        let line = line.unwrap_or_else(|| {
            self.0.push(0);
            self.0.len() - 1
        });
        self.0[line] += 1;
        let place = Place { line, number: self.0[line] };
        (place, past.with(place))
    }
}

/// The ends of a stream's work, for each line of calls: the number and the node of each call.
#[derive(Clone, Debug, Default)]
pub(super) struct Tails(Vec<(usize, Vec<(u32, NodeId)>)>);

impl Tails {
    /// Adds what a call has queued.
    pub(super) fn add(&mut self, place: Place, node: NodeId) {
        match self.0.iter_mut().find(|(line, _)| *line == place.line) {
            Some((_, calls)) => calls.push((place.number, node)),
            None => self.0.push((place.line, vec![(place.number, node)])),
        }
    }

    /// Returns what the last call of each line has queued, of those that have returned.
    pub(super) fn seen_by(&self, past: &Past) -> Vec<NodeId> {
        let last = |(line, calls): &(usize, Vec<(u32, NodeId)>)| {
            let count = calls.partition_point(|&(number, _)| number <= past.of(*line));
            Some(calls[count.checked_sub(1)?].1)
        };
        self.0.iter().filter_map(last).collect()
    }

    /// Returns whether all calls have returned.
    pub(super) fn are_all_in(&self, past: &Past) -> bool {
        self.not_in(past).next().is_none()
    }

    /// Returns what calls that have not returned have queued, one node for each line.
    pub(super) fn not_in(&self, past: &Past) -> impl Iterator<Item = NodeId> {
        let last = self.0.iter().filter_map(|(line, calls)| Some((*line, *calls.last()?)));
        last.filter(|(line, (number, _))| *number > past.of(*line)).map(|(_, (_, node))| node)
    }
}

impl FromIterator<(Place, NodeId)> for Tails {
    fn from_iter<I: IntoIterator<Item = (Place, NodeId)>>(calls: I) -> Tails {
        let mut tails = Tails::default();
        calls.into_iter().for_each(|(place, node)| tails.add(place, node));
        tails
    }
}

#[derive(Debug, Default)]
struct Node {
    after: Vec<NodeId>,
    /// Whether others ask if it happens before them.
    is_marked: bool,
}

/// The graph: each node and those that it directly follows.
#[derive(Debug)]
pub(super) struct Graph(Vec<Node>);

impl Graph {
    pub(super) fn new() -> Graph {
        Graph(vec![Node::default()])
    }

    /// Adds a node that follows others.
    pub(super) fn add(&mut self, after: impl IntoIterator<Item = NodeId>) -> NodeId {
        let after: BTreeSet<NodeId> = after.into_iter().filter(|&node| node != START).collect();
        self.0.push(Node { after: after.into_iter().collect(), is_marked: false });
        self.0.len() - 1
    }

    /// Returns a node that follows these: the only one of them, or a new one.
    pub(super) fn join(&mut self, nodes: impl IntoIterator<Item = NodeId>) -> NodeId {
        let nodes: BTreeSet<NodeId> = nodes.into_iter().filter(|&node| node != START).collect();
        match nodes.len() {
            0 => START,
            1 => nodes.first().copied().unwrap_or(START),
            _ => self.add(nodes),
        }
    }

    /// Lets a node follow another one.
    pub(super) fn connect(&mut self, first: NodeId, second: NodeId) {
        if first != START && !self.0[second].after.contains(&first) {
            self.0[second].after.push(first);
        }
    }

    /// Undoes [`Graph::connect`].
    pub(super) fn disconnect(&mut self, first: NodeId, second: NodeId) {
        self.0[second].after.retain(|&node| node != first);
    }

    /// Lets [`Order::is_before`] answer for a node as the first one.
    pub(super) fn mark(&mut self, node: NodeId) {
        self.0[node].is_marked = true;
    }

    /// Returns whether a node comes before another, or is it, by following the edges back.
    pub(super) fn leads_to(&self, first: NodeId, second: NodeId) -> bool {
        let mut is_seen = vec![false; self.0.len()];
        let mut stack = vec![second];
        while let Some(node) = stack.pop() {
            if node == first {
                return true;
            }
            let is_new = !std::mem::replace(&mut is_seen[node], true);
            if is_new {
                stack.extend(&self.0[node].after);
            }
        }
        first == START
    }

    /// Computes the order of all nodes; `None` if some wait for each other.
    pub(super) fn order(&self) -> Option<Order> {
        let mut followers: Vec<Vec<NodeId>> = vec![Vec::new(); self.0.len()];
        let mut waits: Vec<usize> = self.0.iter().map(|node| node.after.len()).collect();
        for (node, data) in self.0.iter().enumerate() {
            data.after.iter().for_each(|&first| followers[first].push(node));
        }
        let ready = waits.iter().enumerate().filter(|(_, waits)| **waits == 0);
        // As the text has them, as far as possible.
        let mut ready: BinaryHeap<Reverse<NodeId>> = ready.map(|(node, _)| Reverse(node)).collect();
        let mut order = Order {
            sequence: Vec::with_capacity(self.0.len()),
            places: vec![None; self.0.len()],
            pasts: vec![Past::default(); self.0.len()],
        };
        let mut lines = Lines::default();
        while let Some(Reverse(node)) = ready.pop() {
            let mut past = Past::default();
            for &first in &self.0[node].after {
                past = past.join(&order.pasts[first]);
            }
            if self.0[node].is_marked {
                let (place, with_it) = lines.place(&past);
                order.places[node] = Some(place);
                past = with_it;
            }
            order.pasts[node] = past;
            order.sequence.push(node);
            for &next in &followers[node] {
                waits[next] -= 1;
                if waits[next] == 0 {
                    ready.push(Reverse(next));
                }
            }
        }
        (order.sequence.len() == self.0.len()).then_some(order)
    }
}

/// The order of all nodes.
#[derive(Debug)]
pub(super) struct Order {
    /// The nodes, each behind those that it follows.
    pub(super) sequence: Vec<NodeId>,
    /// The places of marked nodes.
    places: Vec<Option<Place>>,
    /// For each node the marked ones that are done when it is, with itself.
    pasts: Vec<Past>,
}

impl Order {
    /// Returns whether a marked node is done before another one begins.
    pub(super) fn is_before(&self, first: NodeId, second: NodeId) -> bool {
        first != second && self.places[first].is_some_and(|place| self.pasts[second].includes(place))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn clocks_agree_with_following_edges(edges in prop::collection::vec(prop::collection::vec(0usize..40, 0..4), 1..40)) {
            let mut graph = Graph::new();
            for (index, after) in edges.iter().enumerate() {
                let node = graph.add(after.iter().map(|&first| first % (index + 1)));
                graph.mark(node);
            }
            let order = graph.order().unwrap();
            for second in 1..=edges.len() {
                for first in 1..=edges.len() {
                    let expected = first != second && graph.leads_to(first, second);
                    prop_assert_eq!(order.is_before(first, second), expected, "{} {}", first, second);
                }
            }
        }
    }

    #[test]
    fn a_circle_has_no_order() {
        let mut graph = Graph::new();
        let first = graph.add([]);
        let second = graph.add([first]);
        assert!(graph.order().is_some());
        graph.connect(second, first);
        assert!(graph.order().is_none());
    }
}
