//! Dominators in a graph.

/// Stands for "no node".
pub(super) const NOWHERE: usize = usize::MAX;

/// Returns the immediate dominator of each node, seen from `root`, or [`NOWHERE`] for the root and
/// for nodes that cannot be reached. Uses the algorithm of Lengauer and Tarjan with path
/// compression, which takes n log n time for every graph.
pub(super) fn immediate_dominators(successors: &[Vec<usize>], root: usize) -> Vec<usize> {
    let mut forest = Forest::new(successors, root);
    let order = std::mem::take(&mut forest.order);
    let mut predecessors = vec![Vec::new(); successors.len()];
    for &node in &order {
        for &successor in &successors[node] {
            predecessors[successor].push(node);
        }
    }
    let mut immediate = vec![NOWHERE; successors.len()];
    let mut buckets = vec![Vec::new(); successors.len()];
    for &node in order.iter().skip(1).rev() {
        for &predecessor in &predecessors[node] {
            let best = forest.best(predecessor);
            forest.semi[node] = forest.semi[node].min(forest.semi[best]);
        }
        buckets[order[forest.semi[node]]].push(node);
        let parent = forest.parent[node];
        forest.ancestor[node] = parent;
        for other in std::mem::take(&mut buckets[parent]) {
            let best = forest.best(other);
            immediate[other] = if forest.semi[best] < forest.semi[other] { best } else { parent };
        }
    }
    for &node in order.iter().skip(1) {
        if immediate[node] != order[forest.semi[node]] {
            immediate[node] = immediate[immediate[node]];
        }
    }
    immediate
}

/// The nodes in depth-first order, and what is known of their semidominators.
struct Forest {
    order: Vec<usize>,
    parent: Vec<usize>,
    /// The number in `order` of the node's semidominator found so far; at first the node's own
    /// number.
    semi: Vec<usize>,
    /// The parent, for nodes whose semidominator is known.
    ancestor: Vec<usize>,
    /// The node with the lowest semidominator on the compressed path to the root.
    label: Vec<usize>,
}

impl Forest {
    fn new(successors: &[Vec<usize>], root: usize) -> Forest {
        let count = successors.len();
        let mut forest = Forest {
            order: Vec::new(),
            parent: vec![NOWHERE; count],
            semi: vec![NOWHERE; count],
            ancestor: vec![NOWHERE; count],
            label: (0..count).collect(),
        };
        let mut stack = vec![(root, NOWHERE)];
        while let Some((node, parent)) = stack.pop() {
            if forest.semi[node] != NOWHERE {
                continue;
            }
            forest.semi[node] = forest.order.len();
            forest.parent[node] = parent;
            forest.order.push(node);
            stack.extend(successors[node].iter().rev().map(|&successor| (successor, node)));
        }
        forest
    }

    /// Returns the node with the lowest semidominator between `node` and the root of its tree.
    fn best(&mut self, node: usize) -> usize {
        if self.ancestor[node] == NOWHERE {
            return node;
        }
        let mut way = Vec::new();
        let mut at = node;
        while self.ancestor[self.ancestor[at]] != NOWHERE {
            way.push(at);
            at = self.ancestor[at];
        }
        for &at in way.iter().rev() {
            let above = self.ancestor[at];
            if self.semi[self.label[above]] < self.semi[self.label[at]] {
                self.label[at] = self.label[above];
            }
            self.ancestor[at] = self.ancestor[above];
        }
        self.label[node]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns which nodes can be reached without passing `left_out`.
    fn reached(successors: &[Vec<usize>], root: usize, left_out: usize) -> Vec<bool> {
        let mut seen = vec![false; successors.len()];
        let mut stack = vec![root];
        while let Some(node) = stack.pop() {
            if node != left_out && !std::mem::replace(&mut seen[node], true) {
                stack.extend(&successors[node]);
            }
        }
        seen
    }

    /// Finds immediate dominators by their definition: a node's dominators are the nodes without
    /// which it cannot be reached, and the immediate one is dominated by all others.
    fn by_definition(successors: &[Vec<usize>], root: usize) -> Vec<usize> {
        let count = successors.len();
        let all = reached(successors, root, NOWHERE);
        let dominators = |node: usize| -> Vec<usize> {
            (0..count).filter(|&d| d != node && all[d] && !reached(successors, root, d)[node]).collect()
        };
        let immediate = |node: usize| {
            let list = dominators(node);
            list.iter().copied().find(|&d| dominators(d).len() + 1 == list.len()).unwrap_or(NOWHERE)
        };
        (0..count).map(|node| if all[node] { immediate(node) } else { NOWHERE }).collect()
    }

    #[test]
    fn random_graphs_by_definition() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..if cfg!(miri) { 20 } else { 2000 } {
            let count = random.usize(1..10);
            let mut successors = vec![Vec::new(); count];
            for _ in 0..random.usize(..2 * count + 1) {
                successors[random.usize(..count)].push(random.usize(..count));
            }
            let root = random.usize(..count);
            assert_eq!(
                immediate_dominators(&successors, root),
                by_definition(&successors, root),
                "{successors:?} from {root}"
            );
        }
    }
}
