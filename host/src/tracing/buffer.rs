//! The buffers that hold recorded events.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use parking_lot::Mutex;

use super::trace::{Event, Trace, TrackTrace};

/// The most events that a thread or track keeps between two calls of [`super::take`], about 16 MiB.
pub const MAX_EVENTS_PER_TRACK: usize = 1 << 18;

/// The events of one track. Its own thread and the collector lock it.
#[derive(Debug)]
struct Buffer {
    id: u64,
    name: String,
    recorded: Mutex<Recorded>,
}

#[derive(Debug, Default)]
struct Recorded {
    events: Vec<Event>,
    dropped: u64,
}

impl Buffer {
    fn record(&self, event: Event) {
        let mut recorded = self.recorded.lock();
        if recorded.events.len() < MAX_EVENTS_PER_TRACK {
            recorded.events.push(event);
        } else {
            recorded.dropped += 1;
        }
    }
}

/// All buffers, and the id of the next one.
struct Registry {
    buffers: Vec<Arc<Buffer>>,
    next_id: u64,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { buffers: Vec::new(), next_id: 1 });

fn register(name: impl FnOnce(u64) -> String) -> Arc<Buffer> {
    let mut registry = REGISTRY.lock();
    let id = registry.next_id;
    registry.next_id += 1;
    let buffer = Arc::new(Buffer { id, name: name(id), recorded: Mutex::default() });
    registry.buffers.push(buffer.clone());
    buffer
}

thread_local! {
    static HERE: OnceCell<Arc<Buffer>> = const { OnceCell::new() };
    /// The names of this thread's open spans, the innermost last.
    static OPEN: RefCell<Vec<Cow<'static, str>>> = const { RefCell::new(Vec::new()) };
}

/// Opens a span of this thread.
pub(super) fn open(name: Cow<'static, str>) {
    let _ = OPEN.try_with(|open| open.borrow_mut().push(name));
}

/// Closes the innermost span of this thread and returns its name.
pub(super) fn close() -> Cow<'static, str> {
    OPEN.try_with(|open| open.borrow_mut().pop()).ok().flatten().unwrap_or_default()
}

/// Returns the name of the innermost open span of this thread.
pub(super) fn innermost() -> Option<Cow<'static, str>> {
    OPEN.try_with(|open| open.borrow().last().cloned()).ok().flatten()
}

/// Records on this thread's track. Events of a thread that is already ending are lost.
pub(super) fn record_here(event: Event) {
    let _ = HERE.try_with(|here| {
        let new = || {
            let thread = std::thread::current();
            register(|id| thread.name().map_or_else(|| format!("thread {id}"), str::to_owned))
        };
        here.get_or_init(new).record(event);
    });
}

/// A sequence of events outside this process's threads, such as those of a device's stream. Clones
/// share it.
#[derive(Debug, Clone)]
pub struct Track {
    buffer: Arc<Buffer>,
}

impl Track {
    /// Creates a track. Its name is for people and need not be unique.
    pub fn new(name: &str) -> Self {
        Self { buffer: register(|_| name.to_owned()) }
    }

    /// Records an event from `start_ns` to `end_ns`, by the clock of [`super::now_ns`], if tracing
    /// is on.
    pub fn record(
        &self,
        category: &'static str,
        name: impl Into<Cow<'static, str>>,
        start_ns: u64,
        end_ns: u64,
    ) {
        if super::is_enabled() {
            let duration_ns = Some(end_ns.saturating_sub(start_ns));
            let event = Event { category, name: name.into(), start_ns, duration_ns, value: None };
            self.buffer.record(event);
        }
    }

    /// Records the value that the counter `name` has from now on, if tracing is on.
    pub fn count(&self, category: &'static str, name: impl Into<Cow<'static, str>>, value: u64) {
        if super::is_enabled() {
            let (name, start_ns, value) = (name.into(), super::now_ns(), Some(value));
            self.buffer.record(Event { category, name, start_ns, duration_ns: None, value });
        }
    }
}

/// Collects all events; see [`super::take`].
pub(super) fn take() -> Trace {
    let mut registry = REGISTRY.lock();
    let mut tracks = Vec::new();
    registry.buffers.retain(|buffer| {
        let Recorded { events, dropped } = std::mem::take(&mut *buffer.recorded.lock());
        if !events.is_empty() || dropped != 0 {
            tracks.push(TrackTrace { id: buffer.id, name: buffer.name.clone(), events, dropped });
        }
        // Only the registry refers to the buffer of a thread that has ended.
        Arc::strong_count(buffer) > 1
    });
    Trace { tracks }
}
