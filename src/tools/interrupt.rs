//! Interruption of a running program by SIGINT, as Ctrl-C sends it.
//!
//! The first signal cancels the requests of the running session, so that its tool still writes the
//! trace, the timeline and the figures so far. A second signal, and one that comes while no session
//! runs, ends the process as it would without this module.

use std::{
    io,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use parking_lot::Mutex;
use signal_hook::{consts::SIGINT, iterator::Signals, low_level::emulate_default_handler};

/// The watches of all sessions, and whether the thread that waits for signals runs.
static WATCHES: Mutex<Watches> = Mutex::new(Watches { is_listening: false, watches: Vec::new() });

struct Watches {
    is_listening: bool,
    watches: Vec<Weak<Watch>>,
}

type Handler = Box<dyn Fn() + Send>;

/// Observes the process's interruption for one session.
#[derive(Default)]
pub(crate) struct Watch {
    is_interrupted: AtomicBool,
    handler: Mutex<Option<Handler>>,
}

impl Watch {
    /// Starts to observe interruptions.
    ///
    /// # Errors
    /// If the system registers no signal handler or starts no thread.
    pub(crate) fn start() -> io::Result<Arc<Self>> {
        let watch = Arc::new(Self::default());
        let mut all = WATCHES.lock();
        if !all.is_listening {
            let mut signals = Signals::new([SIGINT])?;
            let listen = move || signals.forever().for_each(interrupt);
            thread::Builder::new().name("interrupt".to_owned()).spawn(listen)?;
            all.is_listening = true;
        }
        all.watches.retain(|known| known.strong_count() > 0);
        all.watches.push(Arc::downgrade(&watch));
        Ok(watch)
    }

    /// Returns whether the process was interrupted since the watch was started.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::Acquire)
    }

    /// Calls `handler` at an interruption: at once if it has happened already. A later handler
    /// replaces an earlier one.
    pub(crate) fn on_interrupt(&self, handler: impl Fn() + Send + 'static) {
        let mut kept = self.handler.lock();
        if self.is_interrupted() {
            handler();
        }
        *kept = Some(Box::new(handler));
    }

    /// Marks the watch and calls its handler. Returns whether this is its first interruption.
    fn interrupt(&self) -> bool {
        let handler = self.handler.lock();
        let is_first = !self.is_interrupted.swap(true, Ordering::AcqRel);
        if is_first && let Some(handler) = &*handler {
            handler();
        }
        is_first
    }
}

/// Interrupts all sessions. Ends the process if there are none or they were interrupted before.
fn interrupt(signal: i32) {
    let watches: Vec<_> = WATCHES.lock().watches.iter().filter_map(Weak::upgrade).collect();
    let interrupted = watches.iter().filter(|watch| watch.interrupt()).count();
    if interrupted == 0 {
        // If the default action cannot be restored, the signal has no effect.
        let _ = emulate_default_handler(signal);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn handlers_run_once_even_if_they_come_late() {
        let count = Arc::new(AtomicU32::new(0));
        let handler = || {
            let count = count.clone();
            move || {
                count.fetch_add(1, Ordering::Relaxed);
            }
        };
        let watch = Watch::default();
        watch.on_interrupt(handler());
        assert!(!watch.is_interrupted());
        assert!(watch.interrupt() && watch.is_interrupted());
        assert!(!watch.interrupt());
        assert_eq!(count.load(Ordering::Relaxed), 1);
        watch.on_interrupt(handler());
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }
}
