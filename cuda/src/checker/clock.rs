//! Vector clocks: for each stream, how many of its operations are known to be done.

/// See the module. Streams are numbered from zero; those not mentioned stand at zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Clock(Vec<u32>);

impl Clock {
    /// How many operations of the stream are known to be done.
    pub(super) fn of(&self, stream: usize) -> u32 {
        self.0.get(stream).copied().unwrap_or(0)
    }

    /// One more operation of the stream; its number.
    pub(super) fn tick(&mut self, stream: usize) -> u32 {
        if self.0.len() <= stream {
            self.0.resize(stream + 1, 0);
        }
        self.0[stream] += 1;
        self.0[stream]
    }

    /// Learns what the other knows.
    pub(super) fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// True if it knows all that the other knows.
    pub(super) fn knows(&self, other: &Self) -> bool {
        other.0.iter().enumerate().all(|(stream, &count)| count <= self.of(stream))
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
}
