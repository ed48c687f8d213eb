//! The order of accesses: which of them conflict, which conflicts nothing orders, and the fewest
//! chains that order all.
//!
//! A [`Timeline`] holds the points of a body in program order. A point begins when all points in
//! its `after` have happened. Two accesses conflict if they are of the same class and one of them
//! writes; the earlier one must happen before the later one.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

/// A set of contents that may be the same, such as the elements of a tensor and of all views of it.
pub type Class = usize;

/// A read or a write of contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// The contents.
    pub class: Class,
    /// Whether it changes them.
    pub is_write: bool,
}

/// Something that happens at one time, such as the run of a kernel.
#[derive(Clone, Debug)]
pub struct Point {
    /// Earlier points that have happened when this one begins.
    pub after: Vec<usize>,
    /// The contents that it reads and writes.
    pub accesses: Vec<Access>,
    /// The point, itself or an earlier one, that takes the chains this point waits for.
    pub gate: usize,
    /// The point, itself or a later one, whose chain tells that this point has happened.
    pub chain: usize,
    /// Points of the same group have their order already, such as those inside of one call.
    pub group: usize,
    /// Whether it always happens, after all that conflicts with it: then later accesses need no
    /// order with earlier ones than it.
    pub is_barrier: bool,
    /// Whether later accesses wait for it. A kernel that takes a chain and gives none only waits
    /// for others.
    pub is_awaited: bool,
}

/// The points of a body, in program order.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    points: Vec<Point>,
}

impl Timeline {
    /// Returns a timeline without points.
    pub fn new() -> Timeline {
        Timeline::default()
    }

    /// Adds a point that is its own gate and its own chain, and returns its number.
    pub fn push(
        &mut self,
        group: usize,
        after: Vec<usize>,
        accesses: Vec<Access>,
        is_barrier: bool,
    ) -> usize {
        let index = self.points.len();
        self.points.push(Point {
            after,
            accesses,
            gate: index,
            chain: index,
            group,
            is_barrier,
            is_awaited: true,
        });
        index
    }

    /// Returns a point.
    pub fn point(&self, index: usize) -> &Point {
        &self.points[index]
    }

    /// Changes a point.
    pub fn point_mut(&mut self, index: usize) -> &mut Point {
        &mut self.points[index]
    }

    /// Returns the number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Returns whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Returns the pairs of conflicting accesses that nothing orders, each an earlier and a later
    /// point and the class. Pairs that are ordered once others are, because a third access of the
    /// same class lies between, are left out.
    pub fn unordered(&self) -> Vec<(usize, usize, Class)> {
        let mut found = Vec::new();
        let mut search = Search::new(self.points.len());
        self.visit(|index, conflicts| {
            let Some(&low) = conflicts.keys().next() else { return };
            search.start(low);
            search.reach(&self.points[index].after, |point, next| next.extend(&self.points[point].after));
            for (&earlier, &class) in conflicts {
                if !search.has_reached(earlier) {
                    found.push((earlier, index, class));
                }
            }
        });
        found
    }

    /// Returns the fewest chains that order all conflicts: for each point, the points whose chains
    /// it takes. Nothing is ordered that need not be.
    pub fn chains(&self) -> Vec<Vec<usize>> {
        let mut taken: Vec<Vec<usize>> = vec![Vec::new(); self.points.len()];
        let mut search = Search::new(self.points.len());
        self.visit(|index, conflicts| {
            let sources: BTreeSet<Reverse<(usize, usize)>> =
                conflicts.keys().map(|&earlier| Reverse((self.points[earlier].chain, earlier))).collect();
            let Some(&low) = conflicts.keys().next() else { return };
            let gate = self.points[index].gate;
            search.start(low);
            let mut from = vec![index];
            // The later a chain, the more of the others it implies.
            for Reverse((chain, earlier)) in sources {
                search.reach(&std::mem::take(&mut from), |point, next| {
                    next.extend(&self.points[point].after);
                    next.extend(&taken[point]);
                });
                if !search.has_reached(earlier) {
                    from.push(chain);
                    taken[gate].push(chain);
                }
            }
        });
        self.reduce(&mut taken);
        taken
    }

    /// Drops chains that others at the same gate imply. They come from points behind the gate that
    /// were looked at one by one.
    fn reduce(&self, taken: &mut [Vec<usize>]) {
        let mut search = Search::new(self.points.len());
        for index in 0..taken.len() {
            let mut chains = std::mem::take(&mut taken[index]);
            chains.sort_unstable_by_key(|&chain| Reverse(chain));
            chains.dedup();
            if let (Some(&low), true) = (chains.last(), chains.len() > 1) {
                search.start(low);
                let mut kept = Vec::new();
                let mut from = self.points[index].after.clone();
                for chain in chains {
                    search.reach(&std::mem::take(&mut from), |point, next| {
                        next.extend(&self.points[point].after);
                        next.extend(&taken[point]);
                    });
                    if !search.has_reached(chain) {
                        from.push(chain);
                        kept.push(chain);
                    }
                }
                chains = kept;
            }
            taken[index] = chains;
        }
    }

    /// Calls `visit` for each point, in order, with the earlier points that it conflicts with and
    /// one class in which it does.
    fn visit(&self, mut visit: impl FnMut(usize, &BTreeMap<usize, Class>)) {
        let mut frontier = Frontier::default();
        let mut start = 0;
        while let Some(first) = self.points.get(start) {
            let group = first.group;
            let size = self.points[start..].iter().take_while(|point| point.group == group).count();
            for index in start..start + size {
                visit(index, &frontier.conflicts(&self.points[index].accesses));
            }
            for index in (start..start + size).filter(|&index| self.points[index].is_awaited) {
                frontier.add(index, &self.points[index]);
            }
            start += size;
        }
    }
}

/// The latest accesses of each class.
#[derive(Default)]
struct Frontier(BTreeMap<Class, Latest>);

#[derive(Default)]
struct Latest {
    writes: Vec<usize>,
    /// Reads since the writes.
    reads: Vec<usize>,
}

impl Frontier {
    /// The points that accesses must follow, and one class for each.
    fn conflicts(&self, accesses: &[Access]) -> BTreeMap<usize, Class> {
        let mut conflicts = BTreeMap::new();
        for access in accesses {
            let Some(latest) = self.0.get(&access.class) else { continue };
            let reads = if access.is_write { &latest.reads[..] } else { &[] };
            for &earlier in latest.writes.iter().chain(reads) {
                conflicts.entry(earlier).or_insert(access.class);
            }
        }
        conflicts
    }

    fn add(&mut self, index: usize, point: &Point) {
        for access in &point.accesses {
            let latest = self.0.entry(access.class).or_default();
            if !access.is_write {
                latest.reads.push(index);
                continue;
            }
            if point.is_barrier {
                latest.writes.clear();
                latest.reads.clear();
            }
            latest.writes.push(index);
        }
    }
}

/// A search backwards from a point, over and over in the same memory.
struct Search {
    /// The number of the search that saw a point last.
    seen: Vec<u32>,
    current: u32,
    low: usize,
}

impl Search {
    fn new(count: usize) -> Search {
        Search { seen: vec![0; count], current: 0, low: 0 }
    }

    /// Begins a search that ignores points before `low`.
    fn start(&mut self, low: usize) {
        self.current += 1;
        self.low = low;
    }

    /// Marks these points and all that come before them; `before` appends the points directly
    /// before one.
    fn reach(&mut self, from: &[usize], before: impl Fn(usize, &mut Vec<usize>)) {
        let mut stack = from.to_vec();
        while let Some(point) = stack.pop() {
            if point < self.low || self.seen[point] == self.current {
                continue;
            }
            self.seen[point] = self.current;
            before(point, &mut stack);
        }
    }

    fn has_reached(&self, point: usize) -> bool {
        self.seen[point] == self.current
    }
}
