//! Tracing: records what the program did and when, to be viewed in a trace viewer. Records are
//! spans and moments on this process's threads and on other tracks, such as a device's streams, and
//! counters.
//!
//! While tracing is off, a span costs one relaxed load. While it is on, each thread records into
//! its own bounded buffer. Events that do not fit are counted and dropped. [`take`] collects the
//! events of all threads, and [`Trace`] writes them to a file. Nothing here prints, and nothing is
//! written without a call.

mod buffer;
#[cfg(feature = "trace-export")]
mod chrome;
#[cfg(feature = "trace-export")]
mod perfetto;
mod trace;

use std::borrow::Cow;
use std::collections::HashSet;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

pub use buffer::{MAX_EVENTS_PER_TRACK, Track};
pub use trace::{Event, Trace, TrackTrace};

static ENABLED: AtomicBool = AtomicBool::new(false);

/// Starts recording.
pub fn enable() {
    // Starts the clock, so that its zero is not after the first event.
    now_ns();
    ENABLED.store(true, Ordering::Relaxed);
}

/// Stops recording new spans. Spans that have begun are still recorded when they end.
pub fn disable() {
    ENABLED.store(false, Ordering::Relaxed);
}

/// Returns true while events are recorded. Callers should ask before they do work only for the
/// trace.
#[inline]
pub fn is_enabled() -> bool {
    ENABLED.load(Ordering::Relaxed)
}

/// Returns the time by the clock of all events, in nanoseconds since a moment near the start of the
/// program.
pub fn now_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Returns a text that lives until the program ends, for names that are not in its source. Equal
/// texts share memory, and there should be few different ones.
pub fn intern(name: &str) -> &'static str {
    static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut names = NAMES.lock();
    let names = names.get_or_insert_default();
    match names.get(name) {
        Some(known) => known,
        None => {
            let name: &'static str = Box::leak(name.into());
            names.insert(name);
            name
        }
    }
}

/// A profiler that is notified when spans begin and end, on their threads, in addition to the
/// recording.
#[derive(Clone, Copy, Debug)]
pub struct Listener {
    /// Called when a span of this name begins.
    pub begins: fn(&str),
    /// Called when the innermost open span of this thread ends.
    pub ends: fn(),
}

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Sets the listener for spans that begin from now on while tracing is on. The first listener
/// stays.
pub fn listen(listener: Listener) {
    LISTENER.get_or_init(|| listener);
}

/// A period of time on this thread, which ends when this value is dropped. The spans of a thread
/// nest.
#[derive(Debug)]
pub struct Span {
    category: &'static str,
    start_ns: u64,
    /// The listener that was notified of its beginning.
    listener: Option<&'static Listener>,
    /// Keeps the span on its thread.
    _thread: PhantomData<*const ()>,
}

/// Begins a span if tracing is on. `name` is called only then.
#[inline]
#[must_use = "a span ends when it is dropped"]
pub fn span<N: Into<Cow<'static, str>>>(category: &'static str, name: impl FnOnce() -> N) -> Option<Span> {
    if is_enabled() { Some(Span::new(category, name().into())) } else { None }
}

impl Span {
    #[cold]
    fn new(category: &'static str, name: Cow<'static, str>) -> Self {
        let listener = LISTENER.get();
        if let Some(listener) = listener {
            (listener.begins)(&name);
        }
        buffer::open(name);
        Self { category, start_ns: now_ns(), listener, _thread: PhantomData }
    }
}

impl Drop for Span {
    #[cold]
    fn drop(&mut self) {
        let duration_ns = Some(now_ns().saturating_sub(self.start_ns));
        if let Some(listener) = self.listener {
            (listener.ends)();
        }
        let Self { category, start_ns, .. } = *self;
        let name = buffer::close();
        buffer::record_here(Event { category, name, start_ns, duration_ns, value: None });
    }
}

/// Returns the name of the innermost open span of this thread, if tracing is on. Work that another
/// thread does for the span can begin a span of the same name there.
#[inline]
pub fn current_name() -> Option<Cow<'static, str>> {
    if is_enabled() { buffer::innermost() } else { None }
}

/// Records a moment on this thread. `name` is called only if tracing is on.
#[inline]
pub fn instant<N: Into<Cow<'static, str>>>(category: &'static str, name: impl FnOnce() -> N) {
    if is_enabled() {
        let name = name().into();
        buffer::record_here(Event { category, name, start_ns: now_ns(), duration_ns: None, value: None });
    }
}

/// Takes the events that all threads and tracks recorded so far, without the open spans.
pub fn take() -> Trace {
    buffer::take()
}

#[cfg(test)]
mod tests;
