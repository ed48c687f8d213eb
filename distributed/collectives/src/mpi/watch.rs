//! The collectives in flight, so that each is reported once, even if MPI never returns from a call.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tfrt_host::{Diagnostic, ErrorCode};

use crate::engine::Done;

/// How long after its deadline a collective is reported although the thread that calls MPI has not
/// done so. That thread knows more about the reason, and may only wait for a processor.
const GRACE: Duration = Duration::from_secs(2);
/// How often deadlines are compared with the clock.
const PERIOD: Duration = Duration::from_millis(500);

struct Entry {
    deadline: Instant,
    place: String,
    done: Done,
}

#[derive(Default)]
struct State {
    next: u64,
    entries: HashMap<u64, Entry>,
    is_over: bool,
}

/// See the module.
#[derive(Default)]
pub(super) struct Watch {
    /// Which rank this is, in words.
    pub(super) own: OnceLock<String>,
    state: Mutex<State>,
    changed: Condvar,
}

impl Watch {
    /// Adds a collective and returns its number.
    pub(super) fn add(&self, deadline: Instant, place: String, done: Done) -> u64 {
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        state.entries.insert(number, Entry { deadline, place, done });
        number
    }

    /// Reports a collective, unless that was done.
    pub(super) fn finish(&self, number: u64, result: Result<(), Diagnostic>) {
        let entry = self.state.lock().entries.remove(&number);
        if let Some(entry) = entry {
            (entry.done)(result);
        }
    }

    /// Reports late collectives until [`Watch::stop`] is called.
    pub(super) fn run(self: &Arc<Self>) {
        let mut state = self.state.lock();
        while !state.is_over {
            self.changed.wait_for(&mut state, PERIOD);
            let now = Instant::now();
            let late = state.entries.iter().filter(|(_, entry)| entry.deadline + GRACE <= now);
            let late: Vec<u64> = late.map(|(number, _)| *number).collect();
            for number in late {
                let Some(entry) = state.entries.remove(&number) else { continue };
                let own = self.own.get().map_or("this rank", String::as_str);
                let text = format!(
                    "{own}: {}: MPI did not return from a call before the deadline: another rank, or the network \
                     to it, has failed",
                    entry.place
                );
                parking_lot::MutexGuard::unlocked(&mut state, || {
                    (entry.done)(Err(Diagnostic::new(ErrorCode::DeadlineExceeded, text)));
                });
            }
        }
    }

    pub(super) fn stop(&self) {
        self.state.lock().is_over = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn late_collectives_are_reported_once() {
        let watch = Arc::new(Watch::default());
        watch.own.set("rank 0 of 2 on host 'a'".to_owned()).unwrap();
        let running = watch.clone();
        let thread = std::thread::spawn(move || running.run());
        let (sender, receiver) = mpsc::channel();
        let past = Instant::now().checked_sub(2 * GRACE).unwrap_or_else(Instant::now);
        let number =
            watch.add(past, "barrier 'b'".into(), Box::new(move |result| sender.send(result).unwrap()));
        let error = receiver.recv_timeout(Duration::from_secs(20)).unwrap().unwrap_err();
        let expected =
            "rank 0 of 2 on host 'a': barrier 'b': MPI did not return from a call before the deadline";
        assert!(error.message.starts_with(expected), "{error}");
        watch.finish(number, Ok(()));
        assert!(receiver.recv().is_err());
        watch.stop();
        thread.join().unwrap();
    }
}
