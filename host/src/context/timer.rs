//! Runs closures at a given time: deadlines, and kernels that answer late. One thread, started when
//! first needed; what is still waiting when the timer is dropped is dropped with it.

use std::{
    cmp::Ordering,
    collections::BinaryHeap,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Instant,
};

use parking_lot::{Condvar, Mutex};

use crate::diagnostic::{Diagnostic, ErrorCode};

struct Entry {
    at: Instant,
    sequence: u64,
    action: Box<dyn FnOnce() + Send>,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    /// The heap gives its greatest: the earliest, then the first added.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}

#[derive(Default)]
struct State {
    entries: BinaryHeap<Entry>,
    sequence: u64,
    stopping: bool,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Timer(Arc<Inner>);

impl Timer {
    /// Calls `action` on the timer's thread at `at` or soon after; it must be short.
    ///
    /// # Errors
    /// [`ErrorCode::ResourceExhausted`] if the thread cannot be started.
    pub(crate) fn schedule(
        &self,
        at: Instant,
        action: impl FnOnce() + Send + 'static,
    ) -> Result<(), Diagnostic> {
        let mut state = self.0.state.lock();
        if state.thread.is_none() {
            let inner = self.0.clone();
            let started = thread::Builder::new().name("tfrt-timer".into()).spawn(move || inner.run());
            state.thread = Some(started.map_err(|error| {
                Diagnostic::new(
                    ErrorCode::ResourceExhausted,
                    format!("cannot start the timer thread: {error}"),
                )
            })?);
        }
        let sequence = state.sequence;
        state.sequence += 1;
        state.entries.push(Entry { at, sequence, action: Box::new(action) });
        drop(state);
        self.0.changed.notify_one();
        Ok(())
    }
}

impl Inner {
    fn run(&self) {
        let mut state = self.state.lock();
        while !state.stopping {
            let Some(at) = state.entries.peek().map(|entry| entry.at) else {
                self.changed.wait(&mut state);
                continue;
            };
            if at > Instant::now() {
                self.changed.wait_until(&mut state, at);
            } else if let Some(entry) = state.entries.pop() {
                drop(state);
                (entry.action)();
                state = self.state.lock();
            }
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.stopping = true;
        let thread = state.thread.take();
        drop(state);
        self.0.changed.notify_one();
        // An action may hold the last handle to the host; the timer's thread cannot wait for
        // itself.
        if let Some(thread) = thread.filter(|t| t.thread().id() != thread::current().id()) {
            // A panicking action has already been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use super::*;

    #[test]
    fn actions_run_in_order_of_time() {
        let timer = Timer::default();
        let (sender, receiver) = mpsc::channel();
        let start = Instant::now();
        for (delay_ms, name) in [(20, "late"), (5, "early"), (0, "now")] {
            let sender = sender.clone();
            timer
                .schedule(start + Duration::from_millis(delay_ms), move || sender.send(name).unwrap())
                .unwrap();
        }
        let got: Vec<_> = receiver.iter().take(3).collect();
        assert_eq!(got, ["now", "early", "late"]);
    }

    #[test]
    fn waiting_actions_are_dropped_with_the_timer() {
        let timer = Timer::default();
        let token = Arc::new(());
        let held = token.clone();
        timer.schedule(Instant::now() + Duration::from_secs(3600), move || drop(held)).unwrap();
        drop(timer);
        assert_eq!(Arc::strong_count(&token), 1);
    }
}
