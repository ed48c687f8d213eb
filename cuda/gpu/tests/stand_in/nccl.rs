//! NCCL: communicators within one process. Ranks meet on the threads of their streams, which wait
//! for each other.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use parking_lot::{Condvar, Mutex};

use super::blas::{numbers, put_numbers};
use super::driver::{entry_points, put};
use super::state::{Answer, Context, check_range, find, forget, keep, load, store, violation};
use super::stream::Stream;

const INVALID_ARGUMENT: c_int = 4;
const INVALID_USAGE: c_int = 5;
const REMOTE_ERROR: c_int = 6;
const IN_PROGRESS: c_int = 7;

/// `ncclUniqueId`, passed by value.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct UniqueId([u8; 128]);

/// The first fields of `ncclConfig_t`.
#[repr(C)]
pub(crate) struct Config {
    size: usize,
    magic: u32,
    version: u32,
    blocking: c_int,
}

struct Meeting {
    ranks: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The device of each rank that has joined.
    come: Vec<Option<usize>>,
    /// The contributions of the ranks to each call.
    rounds: HashMap<u64, Vec<Option<Vec<f64>>>>,
    left: HashMap<u64, usize>,
    messages: HashMap<(usize, usize, u64), Vec<f64>>,
    /// The ranks that have called a collective. The first collective connects the ranks, which
    /// needs all of them.
    called: HashSet<usize>,
    /// Whether a rank was aborted.
    aborted: bool,
}

struct Communicator {
    meeting: Arc<Meeting>,
    rank: usize,
    /// Whether this communicator was aborted, so that its calls stop waiting.
    aborted: Arc<AtomicBool>,
    calls: AtomicU64,
    sent: Mutex<HashMap<usize, u64>>,
    received: Mutex<HashMap<usize, u64>>,
    /// The group that waits for other ranks before it is queued.
    unconnected: Mutex<Option<Arc<Group>>>,
}

/// A group whose calls are queued once all ranks of its communicators have called.
struct Group {
    communicators: Vec<Arc<Communicator>>,
    calls: Mutex<Vec<Queued>>,
}

impl Communicator {
    fn is_connected(&self) -> bool {
        self.meeting.state.lock().called.len() == self.meeting.ranks
    }
}

impl Group {
    /// Queues the calls if all ranks have called.
    fn queue(&self) -> Answer {
        if !self.communicators.iter().all(|communicator| communicator.is_connected()) {
            return Err(IN_PROGRESS);
        }
        let calls = std::mem::take(&mut *self.calls.lock());
        // Calls that wait for nothing come first, because no call of a group waits for another of
        // it.
        let (waiting, others): (Vec<_>, Vec<_>) = calls.into_iter().partition(|call| call.waits);
        others.into_iter().chain(waiting).try_for_each(|call| (call.queue)())
    }
}

static MEETINGS: LazyLock<Mutex<HashMap<UniqueId, Arc<Meeting>>>> = LazyLock::new(Mutex::default);

/// A call of a group.
struct Queued {
    /// Whether it waits for other ranks.
    waits: bool,
    communicator: Arc<Communicator>,
    /// Whether all ranks take part.
    connects: bool,
    queue: Box<dyn FnOnce() -> Answer + Send>,
}

thread_local! {
    /// The calls of the current group, which NCCL collects for each thread.
    static GROUP: RefCell<Option<Vec<Queued>>> = const { RefCell::new(None) };
}

/// Adds a call to the thread's group, which is queued when the group ends.
fn queue(
    communicator: &Arc<Communicator>,
    (waits, connects): (bool, bool),
    work: impl FnOnce() -> Answer + Send + 'static,
) -> Answer {
    let communicator = communicator.clone();
    GROUP.with_borrow_mut(|group| match group {
        Some(calls) => {
            calls.push(Queued { waits, communicator, connects, queue: Box::new(work) });
            Ok(())
        }
        // Two ranks on one thread would wait for each other.
        None => violation("a collective outside of a group"),
    })
}

/// Reads elements of an `ncclDataType_t`. f64 represents the 64-bit integers that tests use.
fn elements(dtype: c_int, address: u64, count: usize) -> Answer<Vec<f64>> {
    Ok(match dtype {
        0 => load::<i8>(address, count)?.into_iter().map(f64::from).collect(),
        1 => load::<u8>(address, count)?.into_iter().map(f64::from).collect(),
        2 => load::<i32>(address, count)?.into_iter().map(f64::from).collect(),
        3 => load::<u32>(address, count)?.into_iter().map(f64::from).collect(),
        4 => load::<i64>(address, count)?.into_iter().map(|value| value as f64).collect(),
        5 => load::<u64>(address, count)?.into_iter().map(|value| value as f64).collect(),
        6 => numbers(2, address, count)?,
        7 => numbers(0, address, count)?,
        8 => numbers(1, address, count)?,
        9 => numbers(14, address, count)?,
        _ => return Err(INVALID_ARGUMENT),
    })
}

fn put_elements(dtype: c_int, address: u64, values: &[f64]) -> Answer {
    match dtype {
        0 => store(address, &values.iter().map(|&value| value as i8).collect::<Vec<_>>()),
        1 => store(address, &values.iter().map(|&value| value as u8).collect::<Vec<_>>()),
        2 => store(address, &values.iter().map(|&value| value as i32).collect::<Vec<_>>()),
        3 => store(address, &values.iter().map(|&value| value as u32).collect::<Vec<_>>()),
        4 => store(address, &values.iter().map(|&value| value as i64).collect::<Vec<_>>()),
        5 => store(address, &values.iter().map(|&value| value as u64).collect::<Vec<_>>()),
        6 => put_numbers(2, address, values),
        7 => put_numbers(0, address, values),
        8 => put_numbers(1, address, values),
        9 => put_numbers(14, address, values),
        _ => Err(INVALID_ARGUMENT),
    }
}

fn size(dtype: c_int) -> Answer<u64> {
    match dtype {
        0 | 1 => Ok(1),
        6 | 9 => Ok(2),
        2 | 3 | 7 => Ok(4),
        4 | 5 | 8 => Ok(8),
        _ => Err(INVALID_ARGUMENT),
    }
}

fn combine(op: c_int, parts: &[Vec<f64>]) -> Answer<Vec<f64>> {
    let count = parts.len() as f64;
    let combined = |i: usize| {
        let all = parts.iter().map(|part| part[i]);
        Some(match op {
            0 => all.sum(),
            1 => all.product(),
            2 => all.fold(f64::NEG_INFINITY, f64::max),
            3 => all.fold(f64::INFINITY, f64::min),
            4 => all.sum::<f64>() / count,
            _ => return None,
        })
    };
    (0..parts[0].len()).map(combined).collect::<Option<_>>().ok_or(INVALID_ARGUMENT)
}

impl Meeting {
    /// Waits until `find` returns something. Returns `None` if the communicator was aborted.
    fn wait_for<T>(&self, aborted: &AtomicBool, mut find: impl FnMut(&mut State) -> Option<T>) -> Option<T> {
        let mut state = self.state.lock();
        loop {
            if let Some(found) = find(&mut state) {
                return Some(found);
            }
            if aborted.load(Ordering::SeqCst) {
                return None;
            }
            self.changed.wait(&mut state);
        }
    }

    /// Contributes a part and returns the parts of all ranks.
    fn exchange(
        &self,
        aborted: &AtomicBool,
        call: u64,
        rank: usize,
        part: Vec<f64>,
    ) -> Option<Vec<Vec<f64>>> {
        self.state.lock().rounds.entry(call).or_insert_with(|| vec![None; self.ranks])[rank] = Some(part);
        self.changed.notify_all();
        let all = self.wait_for(aborted, |state| {
            let all = state.rounds.get(&call)?.iter().cloned().collect::<Option<Vec<_>>>()?;
            let left = state.left.entry(call).or_insert(self.ranks);
            *left -= 1;
            if *left == 0 {
                state.rounds.remove(&call);
                state.left.remove(&call);
            }
            Some(all)
        });
        // A rank that is gone has contributed nothing.
        if all.is_none()
            && let Some(parts) = self.state.lock().rounds.get_mut(&call)
        {
            parts[rank] = None;
        }
        all
    }
}

/// Queues a collective of all ranks, with a function from the contributions to this rank's result.
fn collective(
    (communicator, stream): (*mut c_void, *mut c_void),
    (send, sent): (u64, usize),
    (receive, received): (u64, usize),
    dtype: c_int,
    result: impl Fn(usize, &[Vec<f64>]) -> Answer<Vec<f64>> + Send + Sync + 'static,
) -> Answer {
    let (communicator, stream) = (find::<Communicator>(communicator, "NCCL"), find::<Stream>(stream, "NCCL"));
    for (address, count) in [(send, sent), (receive, received)] {
        if count > 0 {
            check_range(address, count as u64 * size(dtype)?).map_err(|_| INVALID_ARGUMENT)?;
        }
    }
    queue(&communicator.clone(), (true, true), move || {
        let call = communicator.calls.fetch_add(1, Ordering::SeqCst);
        let (meeting, rank) = (communicator.meeting.clone(), communicator.rank);
        let aborted = communicator.aborted.clone();
        stream.submit("collective", move || {
            let part = elements(dtype, send, sent)?;
            // An aborted call leaves its results unchanged.
            let Some(all) = meeting.exchange(&aborted, call, rank, part) else { return Ok(()) };
            if received > 0 { put_elements(dtype, receive, &result(rank, &all)?) } else { Ok(()) }
        })
    })
}

fn ranks(communicator: *mut c_void) -> (usize, usize) {
    let communicator = find::<Communicator>(communicator, "NCCL");
    (communicator.meeting.ranks, communicator.rank)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn ncclGetLastError(_communicator: *mut c_void) -> *const c_char {
    c"the stand-in knows no more".as_ptr()
}

entry_points! {
    fn ncclGetUniqueId(id: *mut UniqueId) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut bytes = [7; 128];
        bytes[..8].copy_from_slice(&NEXT.fetch_add(1, Ordering::SeqCst).to_le_bytes());
        put(id, UniqueId(bytes))
    }
    fn ncclCommInitRankConfig(
        communicator: *mut *mut c_void, count: c_int, id: UniqueId, rank: c_int, config: *mut Config,
    ) {
        let context = Context::working("ncclCommInitRankConfig")?;
        // SAFETY: the caller's configuration is valid for the call.
        let config = unsafe { &*config };
        if (config.magic, config.blocking) != (0xcafe_beef, 0) || config.size < 64 || config.version < 22_800 {
            violation("a configuration of NCCL that is none, or that blocks");
        }
        if count <= 0 || rank < 0 || rank >= count {
            return Err(INVALID_ARGUMENT);
        }
        let (ranks, rank) = (count as usize, rank as usize);
        let meeting = MEETINGS.lock().entry(id).or_insert_with(|| {
            let state = State { come: vec![None; ranks], ..State::default() };
            let state = Mutex::new(state);
            Arc::new(Meeting { ranks, state, changed: Condvar::new() })
        }).clone();
        {
            let mut state = meeting.state.lock();
            if meeting.ranks != ranks || state.come[rank].is_some() || state.come.contains(&Some(context.device)) {
                // Two ranks must not share a device.
                return Err(INVALID_USAGE);
            }
            state.come[rank] = Some(context.device);
        }
        let made = Communicator { meeting, rank, aborted: Arc::default(), calls: AtomicU64::new(0), sent: Mutex::default(), received: Mutex::default(),
            unconnected: Mutex::default(),
        };
        put(communicator, keep(context, "communicator", Arc::new(made)))?;
        Err(IN_PROGRESS)
    }
    fn ncclCommGetAsyncError(communicator: *mut c_void, error: *mut c_int) {
        let communicator = find::<Communicator>(communicator, "ncclCommGetAsyncError");
        let (all, aborted) = {
            let state = communicator.meeting.state.lock();
            (state.come.iter().all(Option::is_some), state.aborted)
        };
        let group = communicator.unconnected.lock().clone();
        let queued = group.map_or(Ok(()), |group| group.queue());
        if queued.is_ok() {
            *communicator.unconnected.lock() = None;
        }
        put(error, match queued {
            _ if aborted => REMOTE_ERROR,
            Ok(()) if all => 0,
            Ok(()) => IN_PROGRESS,
            Err(status) => status,
        })
    }
    fn ncclCommAbort(communicator: *mut c_void) {
        let communicator = forget::<Communicator>(communicator, "ncclCommAbort");
        communicator.aborted.store(true, Ordering::SeqCst);
        communicator.meeting.state.lock().aborted = true;
        // The group refers to its communicators.
        *communicator.unconnected.lock() = None;
        communicator.meeting.changed.notify_all();
        Ok(())
    }
    fn ncclCommDestroy(communicator: *mut c_void) {
        drop(forget::<Communicator>(communicator, "ncclCommDestroy"));
        Ok(())
    }
    fn ncclGroupStart() {
        GROUP.with_borrow_mut(|group| match group {
            None => {
                *group = Some(Vec::new());
                Ok(())
            }
            Some(_) => violation("a group within a group"),
        })
    }
    fn ncclGroupEnd() {
        let calls = GROUP.take().unwrap_or_else(|| violation("a group that was not begun"));
        let mut communicators: Vec<Arc<Communicator>> = Vec::new();
        for call in calls.iter().filter(|call| call.connects) {
            call.communicator.meeting.state.lock().called.insert(call.communicator.rank);
            communicators.push(call.communicator.clone());
        }
        let group = Arc::new(Group { communicators, calls: Mutex::new(calls) });
        let queued = group.queue();
        if queued == Err(IN_PROGRESS) {
            for communicator in &group.communicators {
                *communicator.unconnected.lock() = Some(group.clone());
            }
        }
        queued
    }
    fn ncclAllReduce(
        send: u64, receive: u64, count: usize, dtype: c_int, op: c_int, communicator: *mut c_void, stream: *mut c_void,
    ) {
        collective((communicator, stream), (send, count), (receive, count), dtype, move |_, all| combine(op, all))
    }
    fn ncclAllGather(
        send: u64, receive: u64, count: usize, dtype: c_int, communicator: *mut c_void, stream: *mut c_void,
    ) {
        let (ranks, _) = ranks(communicator);
        collective((communicator, stream), (send, count), (receive, count * ranks), dtype, |_, all| Ok(all.concat()))
    }
    fn ncclReduceScatter(
        send: u64, receive: u64, count: usize, dtype: c_int, op: c_int, communicator: *mut c_void, stream: *mut c_void,
    ) {
        let (ranks, _) = ranks(communicator);
        collective((communicator, stream), (send, count * ranks), (receive, count), dtype, move |rank, all| {
            Ok(combine(op, all)?[rank * count..(rank + 1) * count].to_vec())
        })
    }
    fn ncclBroadcast(
        send: u64, receive: u64, count: usize, dtype: c_int, root: c_int, communicator: *mut c_void,
        stream: *mut c_void,
    ) {
        let sent = if ranks(communicator).1 == root as usize { count } else { 0 };
        collective((communicator, stream), (send, sent), (receive, count), dtype, move |_, all| {
            Ok(all[root as usize].clone())
        })
    }
    fn ncclReduce(
        send: u64, receive: u64, count: usize, dtype: c_int, op: c_int, root: c_int, communicator: *mut c_void,
        stream: *mut c_void,
    ) {
        let received = if ranks(communicator).1 == root as usize { count } else { 0 };
        collective((communicator, stream), (send, count), (receive, received), dtype, move |_, all| combine(op, all))
    }
    fn ncclSend(
        send: u64, count: usize, dtype: c_int, peer: c_int, communicator: *mut c_void, stream: *mut c_void,
    ) {
        let (communicator, stream) = (find::<Communicator>(communicator, "ncclSend"), find::<Stream>(stream, "ncclSend"));
        check_range(send, count as u64 * size(dtype)?).map_err(|_| INVALID_ARGUMENT)?;
        queue(&communicator.clone(), (false, false), move || {
            let peer = peer as usize;
            let number = count_up(&communicator.sent, peer);
            let (meeting, rank) = (communicator.meeting.clone(), communicator.rank);
            stream.submit("send", move || {
                let message = elements(dtype, send, count)?;
                meeting.state.lock().messages.insert((rank, peer, number), message);
                meeting.changed.notify_all();
                Ok(())
            })
        })
    }
    fn ncclRecv(
        receive: u64, count: usize, dtype: c_int, peer: c_int, communicator: *mut c_void, stream: *mut c_void,
    ) {
        let (communicator, stream) = (find::<Communicator>(communicator, "ncclRecv"), find::<Stream>(stream, "ncclRecv"));
        check_range(receive, count as u64 * size(dtype)?).map_err(|_| INVALID_ARGUMENT)?;
        queue(&communicator.clone(), (true, false), move || {
            let peer = peer as usize;
            let number = count_up(&communicator.received, peer);
            let (meeting, rank) = (communicator.meeting.clone(), communicator.rank);
            let aborted = communicator.aborted.clone();
            stream.submit("receive", move || {
                let message = meeting.wait_for(&aborted, |state| state.messages.remove(&(peer, rank, number)));
                message.map_or(Ok(()), |message| put_elements(dtype, receive, &message))
            })
        })
    }
}

fn count_up(counts: &Mutex<HashMap<usize, u64>>, peer: usize) -> u64 {
    let mut counts = counts.lock();
    let count = counts.entry(peer).or_default();
    *count += 1;
    *count
}
