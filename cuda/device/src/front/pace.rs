//! How a thread waits that looks again and again: it spins while the end is likely to be near, and
//! sleeps otherwise.

#![expect(unsafe_code, reason = "a call of the system")]

use std::time::{Duration, Instant};

/// Waits that are usually shorter are waited for by spinning alone.
const MAX_SPIN: Duration = Duration::from_micros(400);
/// The time to spin at the beginning of every wait.
const MIN_SPIN: Duration = Duration::from_micros(20);
/// The bounds of one sleep.
const MIN_SLEEP: Duration = Duration::from_micros(5);
const MAX_SLEEP: Duration = Duration::from_micros(100);

/// The pace of one thread, which follows the duration of its latest waits.
#[derive(Debug)]
pub(super) struct Pace {
    /// The usual duration of a wait: a moving average.
    usual: Duration,
    /// The beginning of the present wait.
    start: Option<Instant>,
}

/// What to do before the next look.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Spin,
    Sleep(Duration),
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { usual: MIN_SPIN, start: None }
    }

    /// Ends the present wait, because something was found.
    pub(super) fn found(&mut self) {
        if let Some(start) = self.start.take() {
            self.note(start.elapsed());
        }
    }

    /// Forgets the present wait, because there is nothing to wait for.
    pub(super) fn stop(&mut self) {
        self.start = None;
    }

    fn note(&mut self, waited: Duration) {
        self.usual = (self.usual * 3 + waited) / 4;
    }

    /// Returns what to do before the next look.
    pub(super) fn next(&mut self) -> Step {
        let waited = self.start.get_or_insert_with(Instant::now).elapsed();
        self.step(waited)
    }

    fn step(&self, waited: Duration) -> Step {
        let spin = if self.usual <= MAX_SPIN { (self.usual * 2).clamp(MIN_SPIN, MAX_SPIN) } else { MIN_SPIN };
        if waited < spin {
            return Step::Spin;
        }
        // Half of what is left until the usual end; later, a small part of what was waited.
        let left = self.usual.saturating_sub(waited) / 2;
        let time = if left < MIN_SLEEP { waited / 16 } else { left };
        Step::Sleep(time.clamp(MIN_SLEEP, MAX_SLEEP))
    }
}

/// Lets sleeps of this thread end on time. By default the system may delay them by 50 µs, which is
/// longer than many waits for a device.
pub(super) fn sleep_exactly() {
    const SLACK_NS: libc::c_ulong = 1;
    if cfg!(miri) {
        // It does not know this option.
        return;
    }
    // SAFETY: this option takes a number and concerns the calling thread alone. If it is refused,
    // sleeps take longer.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, SLACK_NS) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(waits: &[u64]) -> Pace {
        let mut pace = Pace::new();
        waits.iter().for_each(|&us| pace.note(Duration::from_micros(us)));
        pace
    }

    fn slept(pace: &Pace, waited_us: u64) -> Option<u64> {
        match pace.step(Duration::from_micros(waited_us)) {
            Step::Spin => None,
            Step::Sleep(time) => Some(time.as_micros() as u64),
        }
    }

    #[test]
    fn short_waits_are_spun_through() {
        let pace = after(&[150; 20]);
        assert_eq!(slept(&pace, 280), None);
        assert!(slept(&pace, 500).is_some());
    }

    #[test]
    fn long_waits_are_slept_through_and_met() {
        let pace = after(&[10_000; 40]);
        assert_eq!(slept(&pace, 10), None);
        assert_eq!(slept(&pace, 1000), Some(100));
        // Near the usual end, sleeps become short.
        assert!(slept(&pace, 9_950).is_some_and(|us| us <= 30));
        // Much later, they are long again.
        assert_eq!(slept(&pace, 60_000), Some(100));
    }

    #[test]
    fn the_pace_follows_a_change() {
        let pace = after(&[[10_000; 20], [100; 20]].concat());
        assert_eq!(slept(&pace, 150), None);
        let pace = after(&[[100; 20], [10_000; 20]].concat());
        assert!(slept(&pace, 150).is_some());
    }

    #[test]
    fn no_wait_spins_for_longer_than_the_bound() {
        for usual in [0, 1, 50, 399, 401, 5_000, 1_000_000] {
            assert!(slept(&after(&[usual; 60]), 400).is_some(), "{usual}");
        }
    }

    #[test]
    fn sleeps_of_such_a_thread_end_on_time() {
        std::thread::spawn(|| {
            sleep_exactly();
            // SAFETY: this option takes nothing and concerns the calling thread alone.
            let slack_ns = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) };
            assert_eq!(slack_ns, 1);
        })
        .join()
        .unwrap();
    }
}
