//! Accesses to memory, and the pairs of them that conflict and are not ordered.

use std::{collections::HashMap, ops::Range};

use super::order::{NodeId, Order};

/// Memory that was allocated at once.
pub(super) type RootId = usize;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It reads.
    Read,
    /// It writes, and may read.
    Write,
    /// It accesses by atomic operations alone.
    Atomic,
}

/// An access of a step.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) root: RootId,
    pub(super) kind: Kind,
    /// The bytes that it may touch.
    pub(super) bytes: Range<u64>,
    /// Those of them that it certainly touches.
    pub(super) certain: Range<u64>,
}

impl Access {
    /// Makes an access of all the bytes.
    pub(super) fn exact(root: RootId, kind: Kind, bytes: Range<u64>) -> Access {
        Access { root, kind, certain: bytes.clone(), bytes }
    }

    /// Makes an access that touches the first byte, and may touch the others.
    pub(super) fn from_start(root: RootId, kind: Kind, bytes: Range<u64>) -> Access {
        let certain = bytes.start..bytes.end.min(bytes.start.saturating_add(1));
        Access { root, kind, certain, bytes }
    }

    /// Makes an access of which nothing is certain.
    pub(super) fn possible(root: RootId, kind: Kind, bytes: Range<u64>) -> Access {
        Access { root, kind, certain: bytes.start..bytes.start, bytes }
    }
}

/// One side of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) node: NodeId,
    pub(super) kind: Kind,
    /// Whether it certainly touches the byte.
    pub(super) is_certain: bool,
}

/// Two accesses of the same byte without an order, one of which writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    pub(super) root: RootId,
    /// The one that stands first in the text.
    pub(super) first: Use,
    pub(super) second: Use,
}

impl Conflict {
    pub(super) fn is_certain(&self) -> bool {
        self.first.is_certain && self.second.is_certain
    }
}

/// The last uses of bytes with the same history.
#[derive(Clone, Debug, Default)]
struct Cell(Vec<Use>);

impl Cell {
    /// Adds a use, and returns the uses that conflict with it. Uses before one that is certain need
    /// not be remembered, because what follows that one follows them.
    fn add(&mut self, new: Use, order: &Order) -> Vec<Use> {
        let conflicts = |old: &&Use| {
            let is_harmless = match (old.kind, new.kind) {
                (Kind::Read, Kind::Read) | (Kind::Atomic, Kind::Atomic) => true,
                _ => old.node == new.node,
            };
            !is_harmless && !order.is_before(old.node, new.node)
        };
        let found: Vec<Use> = self.0.iter().filter(conflicts).copied().collect();
        self.0.retain(|old| {
            let is_covered = match new.kind {
                Kind::Write => true,
                kind => old.kind == kind,
            };
            !(is_covered && (new.is_certain || !old.is_certain) && order.is_before(old.node, new.node))
        });
        self.0.push(new);
        found
    }
}

/// Finds the conflicts among accesses of many steps, at most one of each pair of nodes in each
/// memory.
pub(super) fn conflicts(accesses: &[(NodeId, Access)], order: &Order) -> Vec<Conflict> {
    let mut by_root: HashMap<RootId, Vec<(NodeId, &Access)>> = HashMap::new();
    let mut by_node: HashMap<NodeId, Vec<&Access>> = HashMap::new();
    accesses.iter().for_each(|(node, access)| by_node.entry(*node).or_default().push(access));
    for node in &order.sequence {
        for &access in by_node.get(node).into_iter().flatten() {
            by_root.entry(access.root).or_default().push((*node, access));
        }
    }
    let mut roots: Vec<_> = by_root.into_iter().collect();
    roots.sort_unstable_by_key(|(root, _)| *root);
    roots.iter().flat_map(|(root, accesses)| conflicts_of(*root, accesses, order)).collect()
}

fn conflicts_of(root: RootId, accesses: &[(NodeId, &Access)], order: &Order) -> Vec<Conflict> {
    let is_written = accesses.iter().any(|(_, access)| access.kind != Kind::Read);
    if !is_written {
        return Vec::new();
    }
    let ends = |access: &Access| [&access.bytes, &access.certain].map(|bytes| [bytes.start, bytes.end]);
    let mut cuts: Vec<u64> = accesses.iter().flat_map(|(_, access)| ends(access)).flatten().collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut cells = vec![Cell::default(); cuts.len()];
    let mut found: Vec<Conflict> = Vec::new();
    let mut places: HashMap<(NodeId, NodeId), usize> = HashMap::new();
    for &(node, access) in accesses {
        let from = cuts.partition_point(|&cut| cut < access.bytes.start);
        let to = cuts.partition_point(|&cut| cut < access.bytes.end);
        for (cell, &cut) in cells[from..to].iter_mut().zip(&cuts[from..to]) {
            let new = Use { node, kind: access.kind, is_certain: access.certain.contains(&cut) };
            for old in cell.add(new, order) {
                let (first, second) = if old.node < new.node { (old, new) } else { (new, old) };
                let conflict = Conflict { root, first, second };
                let place = *places.entry((first.node, second.node)).or_insert(found.len());
                match found.get_mut(place) {
                    None => found.push(conflict),
                    Some(known) => merge(known, conflict),
                }
            }
        }
    }
    found
}

/// Makes one conflict of two of the same steps: a certain one before others, and a write before a
/// read.
fn merge(known: &mut Conflict, other: Conflict) {
    if other.is_certain() != known.is_certain() {
        if other.is_certain() {
            *known = other;
        }
        return;
    }
    for (known, other) in [(&mut known.first, other.first), (&mut known.second, other.second)] {
        if other.kind == Kind::Write {
            known.kind = Kind::Write;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::order::Graph, *};

    fn access() -> impl Strategy<Value = Access> {
        let kind = prop_oneof![Just(Kind::Read), Just(Kind::Write), Just(Kind::Atomic)];
        (kind, 0u64..12, 0u64..6, 0u64..3, 0u64..6).prop_map(|(kind, start, bytes, skip, certain)| {
            let end = start + bytes;
            let from = (start + skip).min(end);
            Access { root: 0, kind, bytes: start..end, certain: from..(from + certain).min(end) }
        })
    }

    fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
        a.start.max(b.start) < a.end.min(b.end)
    }

    proptest! {
        /// There is a conflict, and a certain one, exactly if comparing all pairs finds one.
        #[test]
        fn cells_find_what_comparing_all_pairs_finds(
            steps in prop::collection::vec((prop::collection::vec(0usize..16, 0..3), access()), 1..16),
        ) {
            let mut graph = Graph::new();
            let mut accesses = Vec::new();
            for (index, (after, access)) in steps.iter().enumerate() {
                let node = graph.add(after.iter().map(|&first| first % (index + 1)));
                graph.mark(node);
                accesses.push((node, access.clone()));
            }
            let order = graph.order().unwrap();
            let found = conflicts(&accesses, &order);
            let mut expected = [false; 2];
            for (index, (second, later)) in accesses.iter().enumerate() {
                for (first, earlier) in &accesses[..index] {
                    let is_harmless = earlier.kind == later.kind && later.kind != Kind::Write;
                    if is_harmless || order.is_before(*first, *second) {
                        continue;
                    }
                    expected[0] |= overlap(&earlier.bytes, &later.bytes);
                    expected[1] |= overlap(&earlier.certain, &later.certain);
                }
            }
            prop_assert_eq!([!found.is_empty(), found.iter().any(Conflict::is_certain)], expected);
        }
    }
}
