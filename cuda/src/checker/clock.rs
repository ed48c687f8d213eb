//! Vector clocks: for each stream, how many of its operations are known to be done.
//!
//! What a collective teaches those who take part is settled when the last of them is queued, which may be long after the
//! first. Until then their clocks only say that they will know it: an [`Exchange`].

use std::sync::{Arc, OnceLock};

use crate::observer::Id;

/// What all know who learn in one exchange of a line, where each comes after the one before.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exchange {
    pub(super) line: Id,
    pub(super) number: u64,
    /// Once everybody has told. Nothing in it is waited for that was settled before this.
    pub(super) told: OnceLock<Clock>,
}

/// See the module. Streams are numbered from zero; those not mentioned stand at zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Clock {
    done: Vec<u32>,
    /// What it knows besides, and that was not settled when it learned it; of each line the last.
    open: Vec<Arc<Exchange>>,
}

impl Clock {
    /// How many operations of the stream are known to be done.
    pub(super) fn of(&self, stream: usize) -> u32 {
        self.done.get(stream).copied().unwrap_or(0)
    }

    /// One more operation of the stream; its number.
    pub(super) fn tick(&mut self, stream: usize) -> u32 {
        if self.done.len() <= stream {
            self.done.resize(stream + 1, 0);
        }
        self.done[stream] += 1;
        self.done[stream]
    }

    /// Learns what the other knows.
    pub(super) fn join(&mut self, other: &Self) {
        if self.done.len() < other.done.len() {
            self.done.resize(other.done.len(), 0);
        }
        for (mine, theirs) in self.done.iter_mut().zip(&other.done) {
            *mine = (*mine).max(*theirs);
        }
        other.open.iter().for_each(|exchange| self.learn(exchange));
    }

    /// Learns what is told in an exchange, when that is.
    pub(super) fn learn(&mut self, exchange: &Arc<Exchange>) {
        if self.open.iter().any(|known| Arc::ptr_eq(known, exchange)) {
            return;
        }
        let is_open_of_line = |known: &&mut Arc<Exchange>| {
            known.line == exchange.line && known.told.get().is_none() && exchange.told.get().is_none()
        };
        match self.open.iter_mut().find(is_open_of_line) {
            // The later one begins with what the earlier one tells.
            Some(known) if known.number < exchange.number => *known = exchange.clone(),
            Some(_) => {}
            None => self.open.push(exchange.clone()),
        }
    }

    /// Takes in what was settled meanwhile.
    pub(super) fn settle(&mut self) {
        let told = |exchange: &Arc<Exchange>| exchange.told.get().is_some();
        while let Some(place) = self.open.iter().position(told) {
            let exchange = self.open.swap_remove(place);
            if let Some(clock) = exchange.told.get() {
                self.join(clock);
            }
        }
    }

    /// Forgets what it waits for of an exchange: what is told there cannot be learned there first.
    pub(super) fn forget(&mut self, exchange: &Arc<Exchange>) {
        self.open.retain(|known| !Arc::ptr_eq(known, exchange));
    }

    /// True if it knows of all operations that the other knows of.
    pub(super) fn knows(&self, other: &Self) -> bool {
        other.done.iter().enumerate().all(|(stream, &count)| count <= self.of(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_learns_and_forgets_nothing() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        a.tick(2);
        b.tick(0);
        b.tick(0);
        assert!(!a.knows(&b) && !b.knows(&a) && a.knows(&Clock::default()));
        a.join(&b);
        assert!(a.knows(&b) && !b.knows(&a));
        assert_eq!((a.of(0), a.of(1), a.of(2), a.of(9)), (2, 0, 1, 0));
    }

    #[test]
    fn what_is_told_later_is_learned_later() {
        let exchange = |line, number| Arc::new(Exchange { line, number, told: OnceLock::new() });
        let (first, second, other) = (exchange(1, 1), exchange(1, 2), exchange(2, 1));
        let mut clock = Clock::default();
        [&first, &second, &first, &other, &other].into_iter().for_each(|e| clock.learn(e));
        clock.settle();
        assert_eq!((clock.of(0), clock.open.len()), (0, 2));
        // The second, of which `other` is a part.
        let (mut told, mut last) = (Clock::default(), Clock::default());
        told.tick(0);
        told.learn(&other);
        second.told.set(told).unwrap();
        last.tick(1);
        other.told.set(last).unwrap();
        clock.settle();
        assert_eq!((clock.of(0), clock.of(1), clock.open.len()), (1, 1, 0));
    }
}
