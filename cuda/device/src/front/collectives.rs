//! Collectives: operations of several devices, each of which is a *rank* of a communicator.
//!
//! Every rank calls the collectives of its communicator in the same order, and each call is queued
//! on a stream. If a rank never calls, the streams of the others wait until the communicator times
//! out. The time runs from the moment a stream reaches its call. Then the communicator is aborted,
//! and the waiting streams fail with an error that names the missing ranks. On a GPU the library
//! may need the other ranks when the first calls are queued. It then blocks the calling thread, no
//! longer than the timeout. So ranks on one thread call as a group.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tfrt_host::DType;

use super::buffer::DeviceBuffer;
use super::context::{Context, Counted, next_id};
use super::managed::Queueing;
use super::stream::Stream;
use super::{Owned, check};
use crate::error::{DeviceError, Result, Status};
use crate::hal::{self, Collective, Erased, ReleasedOnDrop, Teardown, UniqueId};
use crate::origin::Caller;

/// The most ranks of a communicator.
const MAX_RANKS: u32 = 1 << 16;

/// The id of a communicator, on which all its ranks agree before they create it. A process may send
/// its bytes to others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommunicatorId(UniqueId);

impl CommunicatorId {
    /// Returns its bytes, to be sent to other processes.
    pub fn bytes(&self) -> &[u8; UniqueId::BYTES] {
        &self.0.0
    }

    /// Makes an id from the bytes of another process.
    pub fn from_bytes(bytes: [u8; UniqueId::BYTES]) -> Self {
        Self(UniqueId(bytes))
    }
}

/// One rank of a communicator. Clones share it.
#[derive(Clone)]
pub struct Communicator(Arc<Inner>);

struct Inner {
    hal: ReleasedOnDrop<Erased>,
    ranks: u32,
    rank: u32,
    timeout: Duration,
    destroyed: AtomicBool,
    /// The queued calls that have not ended. A call that its stream has reached has a deadline.
    calls: Mutex<HashMap<u64, Option<Instant>>>,
    /// The group that collects calls instead of the device. A group holds its communicators. A
    /// group without handles can no longer end, so it is over.
    group: Mutex<Weak<Mutex<GroupState>>>,
    counted: Counted,
}

impl Owned for Communicator {
    const KIND: &'static str = "communicator";

    fn context(&self) -> &Context {
        self.0.counted.context()
    }

    fn is_destroyed(&self) -> bool {
        self.0.destroyed.load(Ordering::Acquire)
    }
}

impl Context {
    /// Creates an id for a new communicator.
    ///
    /// # Errors
    /// `NcclNotFound` with what was looked for.
    pub fn communicator_id(&self) -> Result<CommunicatorId> {
        self.hal().collectives_id().map(CommunicatorId)
    }

    /// Creates rank `rank` of `ranks` of a communicator on this context's device. On a GPU this
    /// blocks the calling thread until all ranks have called it, so never call it on a compute
    /// thread.
    ///
    /// # Errors
    /// `InvalidValue` if the rank is out of range or exists already; `NcclFailed` if not all ranks
    /// call within `timeout`, which also bounds later calls.
    pub fn create_communicator(
        &self,
        id: &CommunicatorId,
        ranks: u32,
        rank: u32,
        timeout: Duration,
    ) -> Result<Communicator> {
        if ranks == 0 || ranks > MAX_RANKS || rank >= ranks {
            return Err(DeviceError::invalid_value(format!("rank {rank} is out of range for {ranks} ranks")));
        }
        Ok(Communicator(Arc::new(Inner {
            hal: self.owned(self.hal().create_communicator(&id.0, ranks, rank, timeout)?),
            ranks,
            rank,
            timeout,
            destroyed: AtomicBool::new(false),
            calls: Mutex::default(),
            group: Mutex::default(),
            counted: Counted::new(self, |live| &live.libraries),
        })))
    }
}

/// A checked call with all its operands.
struct Call {
    communicator: Communicator,
    stream: Stream,
    operation: Collective,
    dtype: DType,
    count: u64,
    /// Kept until the call is queued and records their use.
    send: Option<DeviceBuffer>,
    receive: Option<DeviceBuffer>,
    caller: Caller,
}

impl Communicator {
    /// Returns its context.
    pub fn context(&self) -> &Context {
        Owned::context(self)
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> u32 {
        self.0.ranks
    }

    /// Returns the number of this rank.
    pub fn rank(&self) -> u32 {
        self.0.rank
    }

    /// Queues a collective of `count` elements (see [`Collective`]) on a stream of this rank's
    /// device, from the beginning of `send` to the beginning of `receive`, which may be the same
    /// buffer. A buffer that the operation does not need may be omitted. Unless the communicator is
    /// in a group, this may block the calling thread until the other ranks have called, so never
    /// call it on a compute thread.
    ///
    /// # Errors
    /// `NcclFailed` if not all ranks call in time; `InvalidValue` for a missing or too small buffer
    /// or a rank out of range; `InvalidContext` for resources of another device; `NotSupported` for
    /// a type without arithmetic.
    pub fn run(
        &self,
        stream: &Stream,
        operation: Collective,
        dtype: DType,
        count: u64,
        send: Option<&DeviceBuffer>,
        receive: Option<&DeviceBuffer>,
    ) -> Result<()> {
        let call = self.checked(stream, operation, dtype, count, send, receive)?;
        let group = self.0.group.lock().upgrade();
        match group {
            Some(group) => CollectiveGroup(group).add(call),
            None => run(&[call]),
        }
    }

    fn checked(
        &self,
        stream: &Stream,
        operation: Collective,
        dtype: DType,
        count: u64,
        send: Option<&DeviceBuffer>,
        receive: Option<&DeviceBuffer>,
    ) -> Result<Call> {
        check(self, stream.context())?;
        stream.refuse_while_capturing("collectives are not captured")?;
        let name = operation.name();
        if let Some(peer) = operation.peer().filter(|&peer| peer >= self.0.ranks) {
            let detail = format!("{name}: rank {peer} is out of range for {} ranks", self.0.ranks);
            return Err(DeviceError::invalid_value(detail));
        }
        let size = element_size(dtype)?;
        let [sends, receives] = operation.parts(self.0.ranks, self.0.rank);
        let used = |parts: u64, buffer: Option<&DeviceBuffer>, what: &str| -> Result<_> {
            if parts == 0 {
                return Ok(None);
            }
            let missing = || DeviceError::invalid_value(format!("{name}: a buffer is missing for {what}"));
            let buffer = buffer.ok_or_else(missing)?;
            let bytes = parts.checked_mul(count).and_then(|elements| elements.checked_mul(size));
            let bytes =
                bytes.ok_or_else(|| DeviceError::invalid_value(format!("{name}: {what} is too large")))?;
            buffer.check_usable(stream)?;
            buffer.part(0, bytes, what)?;
            Ok(Some(buffer.clone()))
        };
        Ok(Call {
            communicator: self.clone(),
            stream: stream.clone(),
            operation,
            dtype,
            count,
            send: used(sends, send, "what is sent")?,
            receive: used(receives, receive, "what is received")?,
            caller: Caller::here(),
        })
    }

    /// Destroys the communicator. `tell` is called when the queued calls have ended, at the latest
    /// when the communicator's timeout has passed.
    ///
    /// # Errors
    /// `InvalidHandle` if it was destroyed before.
    pub fn destroy(&self, stream: &Stream, tell: impl FnOnce(Result<()>) + Send + 'static) -> Result<()> {
        check(self, stream.context())?;
        if self.0.destroyed.swap(true, Ordering::AcqRel) {
            return Err(DeviceError::new(Status::InvalidHandle, "the communicator was destroyed already"));
        }
        stream.when_done(tell)
    }

    /// Starts to measure the time of the next queued call, and returns its number. Keeps the
    /// communicator alive until the call is over.
    fn expect(&self, stream: &Stream) -> Result<u64> {
        let (number, comes) = (next_id(), self.clone());
        self.0.calls.lock().insert(number, None);
        // The program does not hear of this event, which belongs to the runtime.
        let expected = stream.as_ref().mark(Some(Box::new(move || comes.begin(number))));
        expected.map(|()| number).inspect_err(|_| self.end(number))
    }

    /// Watches for the end of a queued call.
    fn watch(&self, stream: &Stream, number: u64) -> Result<()> {
        let over = self.clone();
        let watched = stream.as_ref().mark(Some(Box::new(move || over.end(number))));
        watched.inspect_err(|_| self.end(number))
    }

    /// Records that the stream has reached a call, which may be over already.
    fn begin(&self, number: u64) {
        match self.0.calls.lock().get_mut(&number) {
            // A deadline that overflows never passes.
            Some(deadline) => *deadline = Instant::now().checked_add(self.0.timeout),
            None => return,
        }
        Watch::add(&self.0);
    }

    /// Records that a call is over.
    fn end(&self, number: u64) {
        self.0.calls.lock().remove(&number);
    }
}

/// Returns the size of an element of a type with arithmetic, in bytes.
fn element_size(dtype: DType) -> Result<u64> {
    use DType::{BF16, F16, F32, F64, I8, I32, I64, UI8, UI32, UI64};
    match dtype {
        F32 | F64 | F16 | BF16 | I8 | UI8 | I32 | UI32 | I64 | UI64 => Ok(dtype.size().unwrap_or(0) as u64),
        other => Err(DeviceError::new(Status::NotSupported, format!("collectives do not take {other}"))),
    }
}

/// Queues calls as one group.
fn run(calls: &[Call]) -> Result<()> {
    let Some(first) = calls.first() else { return Ok(()) };
    let address = |buffer: &Option<DeviceBuffer>| buffer.as_ref().map_or(0, DeviceBuffer::address);
    let hal_calls: Vec<_> = calls
        .iter()
        .map(|call| hal::CollectiveCall {
            communicator: &*call.communicator.0.hal,
            stream: call.stream.hal(),
            operation: call.operation,
            dtype: call.dtype,
            count: call.count,
            send: address(&call.send),
            receive: address(&call.receive),
            caller: &call.caller,
        })
        .collect();
    let mut queueings = Vec::with_capacity(calls.len());
    for call in calls {
        let mut queueing = Queueing::on(&call.stream);
        for buffer in call.send.iter().chain(&call.receive) {
            buffer.used_by(&mut queueing)?;
        }
        queueings.push(queueing);
    }
    let mut numbers = Vec::with_capacity(calls.len());
    let queued = calls.iter().try_for_each(|call| {
        numbers.push(call.communicator.expect(&call.stream)?);
        Ok(())
    });
    let begun: Vec<_> = calls.iter().map(|call| call.stream.begin_work()).collect();
    let queued = queued.and_then(|()| first.communicator.context().hal().run_collectives(&hal_calls));
    drop(queueings);
    if queued.is_err() {
        calls.iter().zip(&numbers).for_each(|(call, &number)| call.communicator.end(number));
        return queued;
    }
    for (call, begun) in calls.iter().zip(begun) {
        call.stream.end_work(begun, || format!("{}, {} elements", call.operation.name(), call.count));
    }
    calls.iter().zip(numbers).try_for_each(|(call, number)| call.communicator.watch(&call.stream, number))
}

/// A group of calls that are queued together, so that none waits for another: calls of several
/// ranks of one program, or messages in both directions. Cloning shares it.
#[derive(Clone)]
pub struct CollectiveGroup(Arc<Mutex<GroupState>>);

#[derive(Default)]
struct GroupState {
    members: Vec<Communicator>,
    calls: Vec<Call>,
    ended: bool,
}

impl CollectiveGroup {
    /// Starts a group. Calls of these communicators are kept until the group ends.
    ///
    /// # Errors
    /// `IllegalState` if one is in a group already; `InvalidContext` if they are not of one
    /// backend.
    pub fn start(communicators: &[Communicator]) -> Result<Self> {
        let group = Self(Arc::default());
        for communicator in communicators {
            let joined = communicators.first().map_or(Ok(()), |first| group.join(first, communicator));
            if let Err(error) = joined {
                group.leave();
                return Err(error);
            }
        }
        Ok(group)
    }

    fn join(&self, first: &Communicator, communicator: &Communicator) -> Result<()> {
        check(communicator, communicator.context())?;
        if !communicator.context().device().is_kin(first.context().device()) {
            return Err(DeviceError::new(
                Status::InvalidContext,
                "the communicators are of different backends",
            ));
        }
        let mut known = communicator.0.group.lock();
        if known.strong_count() > 0 {
            return Err(DeviceError::new(Status::IllegalState, "the communicator is in a group already"));
        }
        *known = Arc::downgrade(&self.0);
        self.0.lock().members.push(communicator.clone());
        Ok(())
    }

    fn add(&self, call: Call) -> Result<()> {
        let mut state = self.0.lock();
        if state.ended {
            return Err(ended());
        }
        state.calls.push(call);
        Ok(())
    }

    /// Removes the communicators from the group and returns the collected calls.
    fn leave(&self) -> Vec<Call> {
        let mut state = self.0.lock();
        state.ended = true;
        let (members, calls) = (std::mem::take(&mut state.members), std::mem::take(&mut state.calls));
        drop(state);
        members.iter().for_each(|member| *member.0.group.lock() = Weak::new());
        calls
    }

    /// Ends the group and queues its calls. This may block the calling thread as
    /// [`Communicator::run`] does.
    ///
    /// # Errors
    /// Any error of the device; `IllegalState` if it was ended before.
    pub fn end(&self) -> Result<()> {
        if self.0.lock().ended {
            return Err(ended());
        }
        run(&self.leave())
    }
}

fn ended() -> DeviceError {
    DeviceError::new(Status::IllegalState, "the group was ended already")
}

/// Watches the deadlines of all communicators. Its thread ends when there are no calls.
#[derive(Default)]
struct Watch {
    /// The communicators with unfinished calls, and the teardown that releases their resources.
    communicators: Vec<(Weak<Inner>, Teardown)>,
    /// Whether a communicator was added since the thread last looked.
    changed: bool,
    runs: bool,
}

static WATCH: Mutex<Watch> = Mutex::new(Watch { communicators: Vec::new(), changed: false, runs: false });
static WATCHED: Condvar = Condvar::new();

impl Watch {
    fn add(communicator: &Arc<Inner>) {
        let mut watch = WATCH.lock();
        let known = watch
            .communicators
            .iter()
            .any(|(known, _)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(communicator)));
        if !known {
            let teardown = communicator.counted.context().teardown().clone();
            watch.communicators.push((Arc::downgrade(communicator), teardown));
            watch.changed = true;
            WATCHED.notify_all();
        }
        if !watch.runs {
            let thread = std::thread::Builder::new().name("tfrt-collectives".to_owned());
            // Without a thread calls never time out, but everything else works.
            watch.runs = thread.spawn(Self::work).is_ok();
        }
    }

    fn work() {
        Teardown::serve_on_this_thread();
        let mut watch = WATCH.lock();
        loop {
            watch.changed = false;
            let (now, mut next) = (Instant::now(), None::<Instant>);
            // Dropped outside of the lock, because these may be the last handles. Waiting for the
            // release of dropped resources includes this.
            let mut seen = Vec::new();
            watch.communicators.retain(|(communicator, teardown)| {
                let promised = teardown.promise();
                let communicator = communicator.upgrade();
                let deadline = communicator.as_ref().and_then(|communicator| communicator.deadline());
                let deadline = deadline.filter(|&deadline| deadline > now);
                next = match (next, deadline) {
                    (Some(next), Some(deadline)) => Some(next.min(deadline)),
                    (next, deadline) => next.or(deadline),
                };
                seen.push((communicator, promised));
                deadline.is_some()
            });
            parking_lot::MutexGuard::unlocked(&mut watch, || {
                seen.drain(..).for_each(|(communicator, promised)| {
                    if let Some(communicator) = communicator {
                        communicator.abort_if_late(now);
                    }
                    drop(promised);
                });
            });
            match next {
                _ if watch.changed => {}
                Some(next) => drop(WATCHED.wait_until(&mut watch, next)),
                None => {
                    watch.runs = false;
                    return;
                }
            }
        }
    }
}

impl Inner {
    /// Returns the first deadline of its calls.
    fn deadline(&self) -> Option<Instant> {
        self.calls.lock().values().copied().flatten().min()
    }

    fn abort_if_late(&self, now: Instant) {
        if self.deadline().is_none_or(|deadline| deadline > now) {
            return;
        }
        let detail = format!("not all ranks called within {:?}", self.timeout);
        let why = DeviceError::new(Status::NcclFailed, detail);
        self.counted.context().hal().abort_communicator(&self.hal, &why);
    }
}

impl fmt::Debug for Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.0.rank, self.0.ranks)
    }
}

impl fmt::Debug for CollectiveGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "group of {} collectives", self.0.lock().calls.len())
    }
}
