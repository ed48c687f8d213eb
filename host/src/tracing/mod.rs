//! What the program did when: spans and instants on the threads of this process and on tracks of others (a device's
//! streams), and counters, to be looked at in a trace viewer.
//!
//! While tracing is off, a span costs one relaxed load. While it is on, each thread records into a buffer of its own,
//! which is bounded: events that no longer fit are counted, not kept. [`take`] collects everybody's events; writing
//! them to a file is [`Trace`]'s business. Nothing here prints, and nothing is written until somebody asks.

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

/// Records from now on.
pub fn enable() {
    // The clock's zero should not lie after the first event.
    now_ns();
    ENABLED.store(true, Ordering::Relaxed);
}

/// Records no new spans; those under way are still recorded when they end.
pub fn disable() {
    ENABLED.store(false, Ordering::Relaxed);
}

/// True while events are recorded. What costs something only to be traced should ask first.
#[inline]
pub fn is_enabled() -> bool {
    ENABLED.load(Ordering::Relaxed)
}

/// The clock of all events: nanoseconds since some moment near the start of the program.
pub fn now_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// The same text for the rest of the program, for names that are not in its source. Equal texts share memory; there
/// should be few different ones.
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

/// Who is told of spans as they begin and end, on their threads, beside what is recorded: a profiler from outside.
#[derive(Clone, Copy, Debug)]
pub struct Listener {
    /// A span of this name begins.
    pub begins: fn(&str),
    /// The span that began last on this thread, of those that have not ended, ends.
    pub ends: fn(),
}

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Has somebody told of the spans that begin from now on, while tracing is on. The first one stays.
pub fn listen(listener: Listener) {
    LISTENER.get_or_init(|| listener);
}

/// Something that takes time on this thread; it ends when dropped. Spans of a thread lie in each other.
#[derive(Debug)]
pub struct Span {
    category: &'static str,
    name: Cow<'static, str>,
    start_ns: u64,
    /// Who was told that it began.
    listener: Option<&'static Listener>,
    /// It ends on the thread it began on.
    _thread: PhantomData<*const ()>,
}

/// Begins a span, if anybody listens; only then is `name` called.
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
        Self { category, name, start_ns: now_ns(), listener, _thread: PhantomData }
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
        buffer::record_here(Event {
            category,
            name: std::mem::take(&mut self.name),
            start_ns,
            duration_ns,
            value: None,
        });
    }
}

/// Records a moment on this thread; `name` is called only if somebody listens.
#[inline]
pub fn instant<N: Into<Cow<'static, str>>>(category: &'static str, name: impl FnOnce() -> N) {
    if is_enabled() {
        let name = name().into();
        buffer::record_here(Event { category, name, start_ns: now_ns(), duration_ns: None, value: None });
    }
}

/// Collects, and forgets, what all threads and tracks recorded so far. Spans under way are not in it.
pub fn take() -> Trace {
    buffer::take()
}

#[cfg(test)]
mod tests;
