//! Streams and events.

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

use super::graph::{Capture, Frontier};
use super::state::{Answer, Context, SUCCESS};

/// A piece of work, which graphs run repeatedly.
pub(crate) type Body = Arc<dyn Fn() -> Answer + Send + Sync>;

enum Work {
    Run(Body),
    Record(Arc<Event>, u64),
    Wait(Arc<Event>, u64),
    Host(unsafe extern "C" fn(*mut c_void), usize),
}

/// The greatest amount of work that is queued on a stream.
const MAX_QUEUE: u64 = 1024;

pub(crate) struct Stream {
    pub(crate) context: &'static Context,
    sender: Mutex<Sender<Work>>,
    progress: Arc<Progress>,
    pub(crate) capture: Mutex<Option<Arc<Capture>>>,
}

#[derive(Default)]
struct Progress {
    counts: Mutex<[u64; 2]>,
    changed: Condvar,
}

impl Stream {
    pub(crate) fn new(context: &'static Context) -> Self {
        let (sender, receiver) = channel();
        let progress = Arc::<Progress>::default();
        let seen = progress.clone();
        std::thread::spawn(move || work(context, &receiver, &seen));
        Self { context, sender: Mutex::new(sender), progress, capture: Mutex::default() }
    }

    fn push(&self, work: Work) {
        let sender = self.sender.lock();
        self.progress.counts.lock()[0] += 1;
        self.context.begin_work();
        // The thread ends when the last sender is dropped.
        drop(sender.send(work));
    }

    /// Queues work, or adds it to the capture.
    pub(crate) fn submit(
        &self,
        kind: &'static str,
        body: impl Fn() -> Answer + Send + Sync + 'static,
    ) -> Answer {
        if let Some(status) = self.context.failure() {
            return Err(status);
        }
        let capture = self.capture.lock().clone();
        match capture {
            Some(capture) => {
                capture.check()?;
                capture.add(self.id(), kind, Arc::new(body));
            }
            None => self.run(Arc::new(body)),
        }
        Ok(())
    }

    /// Queues work. As in a driver, the caller waits while much is queued.
    pub(crate) fn run(&self, body: Body) {
        let mut counts = self.progress.counts.lock();
        while counts[0] - counts[1] >= MAX_QUEUE {
            self.progress.changed.wait(&mut counts);
        }
        drop(counts);
        self.push(Work::Run(body));
    }

    pub(crate) fn id(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    pub(crate) fn record(&self, event: &Arc<Event>) {
        let capture = self.capture.lock().clone();
        let mut state = event.state.lock();
        state.captured = capture.map(|capture| (capture.clone(), capture.frontier(self.id())));
        if state.captured.is_none() {
            state.recorded += 1;
            let number = state.recorded;
            state.ahead.push(number);
            drop(state);
            self.push(Work::Record(event.clone(), number));
        }
    }

    pub(crate) fn wait(self: &Arc<Self>, event: &Arc<Event>) -> Answer {
        let (captured, recorded) = {
            let state = event.state.lock();
            (state.captured.clone(), state.recorded)
        };
        if let Some((capture, frontier)) = captured {
            return Capture::join(&capture, self, &frontier);
        }
        if self.capture.lock().is_some() {
            // CUDA_ERROR_STREAM_CAPTURE_ISOLATION
            return Err(905);
        }
        if recorded > 0 {
            self.push(Work::Wait(event.clone(), recorded));
        }
        Ok(())
    }

    pub(crate) fn call_host(&self, function: unsafe extern "C" fn(*mut c_void), data: *mut c_void) {
        self.push(Work::Host(function, data.expose_provenance()));
    }

    pub(crate) fn is_idle(&self) -> bool {
        let [queued, done] = *self.progress.counts.lock();
        queued == done
    }

    pub(crate) fn synchronize(&self) {
        let mut counts = self.progress.counts.lock();
        let queued = counts[0];
        while counts[1] < queued {
            self.progress.changed.wait(&mut counts);
        }
    }
}

/// Runs a stream's thread.
fn work(context: &'static Context, receiver: &Receiver<Work>, progress: &Progress) {
    for work in receiver {
        match work {
            // Like a driver, calls no functions in a failed context.
            Work::Run(_) | Work::Host(..) if context.failure().is_some() => {}
            Work::Run(body) => {
                if let Err(status) = body() {
                    context.fail(status);
                }
            }
            Work::Record(event, number) => event.reach(number),
            Work::Wait(event, number) => event.wait(number),
            Work::Host(function, data) => {
                // SAFETY: the caller of `cuLaunchHostFunc` keeps its function callable, once, with
                // this argument.
                unsafe { function(std::ptr::with_exposed_provenance_mut(data)) }
            }
        }
        progress.counts.lock()[1] += 1;
        progress.changed.notify_all();
        context.end_work();
    }
}

pub(crate) struct Event {
    pub(crate) timing: bool,
    state: Mutex<EventState>,
    changed: Condvar,
}

#[derive(Default)]
struct EventState {
    recorded: u64,
    /// The recordings that have not been reached.
    ahead: Vec<u64>,
    time: Option<Instant>,
    captured: Option<(Arc<Capture>, Frontier)>,
}

impl Event {
    pub(crate) fn new(timing: bool) -> Self {
        Self { timing, state: Mutex::default(), changed: Condvar::new() }
    }

    fn reach(&self, number: u64) {
        let mut state = self.state.lock();
        state.ahead.retain(|ahead| *ahead != number);
        if number == state.recorded {
            state.time = Some(Instant::now());
        }
        self.changed.notify_all();
    }

    fn wait(&self, number: u64) {
        let mut state = self.state.lock();
        while state.ahead.contains(&number) {
            self.changed.wait(&mut state);
        }
    }

    /// Returns whether the latest recording has been reached. A recording in a capture cannot be
    /// queried.
    pub(crate) fn query(&self) -> Answer<bool> {
        let state = self.state.lock();
        match &state.captured {
            Some((capture, _)) => Err(capture.spoil()),
            None => Ok(!state.ahead.contains(&state.recorded)),
        }
    }

    pub(crate) fn synchronize(&self) -> Answer {
        self.query()?;
        let number = self.state.lock().recorded;
        self.wait(number);
        Ok(())
    }

    /// Returns the time at which the event was reached, or the reason why it is unknown.
    pub(crate) fn time(&self) -> Answer<Instant> {
        let state = self.state.lock();
        match state.time {
            _ if !self.timing || state.recorded == 0 => Err(400),
            Some(time) if !state.ahead.contains(&state.recorded) => Ok(time),
            _ => Err(600),
        }
    }
}

/// Returns the failure of a context as a status.
pub(crate) fn status(context: &Context) -> c_int {
    context.failure().unwrap_or(SUCCESS)
}
