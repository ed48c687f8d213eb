//! Progress on the error stream, shown on terminals alone.

use std::{
    sync::mpsc::{self, Sender},
    thread::{self, JoinHandle},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tfrt_models::kernels::Progress;

/// Creates a progress bar on the error stream.
pub(super) fn bar() -> Progress {
    let bar = ProgressBar::new(0);
    let bar = match ProgressStyle::with_template("{msg} {bar:40} {percent}%, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    };
    Progress::new(move |done, total, label| {
        if bar.length() != Some(total) {
            bar.set_length(total);
            bar.set_message(label.to_owned());
        }
        bar.set_position(done);
        if done >= total {
            bar.finish_and_clear();
        }
    })
}

/// Work that takes less time than this shows no progress.
const DELAY: Duration = Duration::from_secs(1);
/// The time between two pictures of a spinner.
const INTERVAL: Duration = Duration::from_millis(100);

/// Shows that work is going on, once it has taken a second, until it is dropped.
pub(super) struct Spinner {
    bar: ProgressBar,
    /// Dropping it ends the thread.
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Spinner {
    /// Begins work. Nothing is shown if the error stream is not a terminal.
    pub(super) fn new(is_terminal: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let mut spinner = Self { bar: bar.clone(), done: None, thread: None };
        if is_terminal {
            let (done, is_done) = mpsc::channel();
            let show = move || {
                if is_done.recv_timeout(DELAY) == Err(mpsc::RecvTimeoutError::Timeout) {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(INTERVAL);
                }
            };
            // Without a thread there is no picture, and the work is done all the same.
            spinner.thread = thread::Builder::new().name("progress".to_owned()).spawn(show).ok();
            spinner.done = Some(done);
        }
        spinner
    }

    /// Says what is being done.
    pub(super) fn say(&self, what: String) {
        self.bar.set_message(what);
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            // The thread cannot panic in a way that matters here.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spinner_of_short_work_ends_at_once() {
        let start = std::time::Instant::now();
        let spinner = Spinner::new(true);
        spinner.say("importing".to_owned());
        drop(spinner);
        assert!(start.elapsed() < DELAY);
    }
}
