//! Vector clocks: for each stream, the number of its operations that are known to be done.
//!
//! The ranks of a collective learn from each other. What they learn is known only when the last of
//! them is queued, possibly long after the first. Until then their clocks refer to a [`Lesson`].

use std::sync::{Arc, OnceLock};

/// The knowledge that all receivers of one exchange gain once everybody has told. It refers to no
/// lesson that was settled before.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Lesson(pub(super) OnceLock<Clock>);

/// A vector clock. Streams are numbered from zero, and missing ones have the count zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Clock {
    done: Vec<u32>,
    /// Lessons that were not settled when they were learned, by address.
    open: Vec<Arc<Lesson>>,
}

impl Clock {
    /// Returns how many operations of the stream are known to be done.
    pub(super) fn of(&self, stream: usize) -> u32 {
        self.done.get(stream).copied().unwrap_or(0)
    }

    /// Counts one more operation of the stream and returns its number.
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
        other.open.iter().for_each(|lesson| self.learn(lesson));
    }

    /// Learns a lesson when it is settled.
    pub(super) fn learn(&mut self, lesson: &Arc<Lesson>) {
        if let Err(place) = self.find(lesson) {
            self.open.insert(place, lesson.clone());
        }
    }

    /// Learns a lesson of which this much is known already. What that clock waits for, this one
    /// need not wait for itself.
    pub(super) fn learn_with(&mut self, lesson: &Arc<Lesson>, told: &Self) {
        self.open.retain(|known| told.find(known).is_err());
        self.learn(lesson);
    }

    fn find(&self, lesson: &Arc<Lesson>) -> Result<usize, usize> {
        self.open.binary_search_by_key(&Arc::as_ptr(lesson), Arc::as_ptr)
    }

    /// Adds the knowledge of lessons that are settled by now.
    pub(super) fn settle(&mut self) {
        let told = |lesson: &Arc<Lesson>| lesson.0.get().is_some();
        while let Some(place) = self.open.iter().position(told) {
            let lesson = self.open.remove(place);
            if let Some(clock) = lesson.0.get() {
                self.join(clock);
            }
        }
    }

    /// Forgets a lesson of the exchange in which this clock itself tells.
    pub(super) fn forget(&mut self, lesson: &Arc<Lesson>) {
        self.open.retain(|known| !Arc::ptr_eq(known, lesson));
    }

    /// Returns true if this clock knows all operations that the other one knows.
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
    fn late_clocks_are_learned_late() {
        let [first, second, other] = [(); 3].map(|()| Arc::<Lesson>::default());
        let mut clock = Clock::default();
        [&first, &second, &first, &other, &other].into_iter().for_each(|lesson| clock.learn(lesson));
        clock.settle();
        assert_eq!((clock.of(0), clock.open.len()), (0, 3));
        // The second clock, which contains `other`.
        let (mut told, mut last) = (Clock::default(), Clock::default());
        told.tick(0);
        told.learn(&other);
        second.0.set(told).unwrap();
        last.tick(1);
        other.0.set(last).unwrap();
        clock.settle();
        assert_eq!((clock.of(0), clock.of(1), clock.open.len()), (1, 1, 1));
    }

    #[test]
    fn knowledge_in_a_lesson_is_not_stored_twice() {
        let [first, second, other] = [(); 3].map(|()| Arc::<Lesson>::default());
        let mut clock = Clock::default();
        clock.learn(&first);
        let told = clock.clone();
        clock.learn(&other);
        clock.learn_with(&second, &told);
        assert!(clock.find(&first).is_err() && clock.find(&other).is_ok() && clock.find(&second).is_ok());
    }
}
