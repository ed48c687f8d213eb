//! NCCL.
//!
//! Communicators are non-blocking: a call that needs other ranks returns "in progress", and is
//! polled until it has finished or the communicator's timeout has passed. So a missing rank is an
//! error and not a hang. Work may be queued after a call only once the call has finished, so the
//! calling thread waits. Only the first calls of a communicator need the other ranks, to which they
//! connect.

#![expect(unsafe_code, reason = "calls of NCCL's C interface")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::nccl::sys::{ncclComm_t, ncclConfig_t, ncclUniqueId};
use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Collective, CollectiveCall, Collectives, ReduceOp, UniqueId};
use tfrt_host::DType;

use super::context::{GpuContext, Shared};
use super::libraries::{LibrarySpec, library};
use super::stream::Stream;

const SPEC: LibrarySpec = LibrarySpec {
    name: "NCCL",
    files: &["libnccl.so.2", "libnccl.so"],
    companions: &[],
    missing: Status::NcclNotFound,
};

library! {
    /// NCCL.
    Nccl, SPEC;
    fn ncclGetUniqueId(id: *mut ncclUniqueId);
    fn ncclCommInitRankConfig(communicator: *mut ncclComm_t, ranks: c_int, id: ncclUniqueId, rank: c_int,
        config: *mut ncclConfig_t);
    fn ncclCommGetAsyncError(communicator: ncclComm_t, error: *mut c_int);
    fn ncclCommAbort(communicator: ncclComm_t);
    fn ncclCommDestroy(communicator: ncclComm_t);
    fn ncclGetLastError(communicator: ncclComm_t) -> *const c_char;
    fn ncclGroupStart();
    fn ncclGroupEnd();
    fn ncclAllReduce(send: u64, receive: u64, count: usize, dtype: c_int, op: c_int, communicator: ncclComm_t,
        stream: *mut c_void);
    fn ncclAllGather(send: u64, receive: u64, count: usize, dtype: c_int, communicator: ncclComm_t,
        stream: *mut c_void);
    fn ncclReduceScatter(send: u64, receive: u64, count: usize, dtype: c_int, op: c_int, communicator: ncclComm_t,
        stream: *mut c_void);
    fn ncclBroadcast(send: u64, receive: u64, count: usize, dtype: c_int, root: c_int, communicator: ncclComm_t,
        stream: *mut c_void);
    fn ncclReduce(send: u64, receive: u64, count: usize, dtype: c_int, op: c_int, root: c_int,
        communicator: ncclComm_t, stream: *mut c_void);
    fn ncclSend(send: u64, count: usize, dtype: c_int, peer: c_int, communicator: ncclComm_t, stream: *mut c_void);
    fn ncclRecv(receive: u64, count: usize, dtype: c_int, peer: c_int, communicator: ncclComm_t,
        stream: *mut c_void);
}

const SUCCESS: c_int = 0;
const IN_PROGRESS: c_int = 7;
/// `NCCL_CONFIG_INITIALIZER` of NCCL 2.28, whose configuration the bindings declare.
const CONFIG_MAGIC: u32 = 0xcafe_beef;
const CONFIG_VERSION: u32 = 22_800;
const CONFIG_UNDEFINED: c_int = c_int::MIN;

/// The pause between two polls.
const PAUSE: Duration = Duration::from_micros(50);

/// A rank's part in a communicator.
pub(crate) struct Communicator {
    shared: Arc<Shared>,
    library: &'static Nccl,
    timeout: Duration,
    /// The communicator, or `None` once it was aborted. NCCL allows one call at a time.
    raw: Mutex<Option<Raw>>,
}

#[derive(Clone, Copy)]
struct Raw(ncclComm_t);

// SAFETY: NCCL allows the use of a communicator on any thread, by one thread at a time, which the
// mutex ensures.
unsafe impl Send for Raw {}

impl Drop for Communicator {
    fn drop(&mut self) {
        // The front keeps a communicator until its work has finished, so NCCL waits here for other
        // ranks of this machine at most.
        if let Some(raw) = self.raw.get_mut().take()
            && self.shared.make_current().is_ok()
        {
            // SAFETY: the communicator is alive and this is its only owner. A failure could not be
            // returned to a caller.
            let _ = unsafe { (self.library.ncclCommDestroy)(raw.0) };
        }
    }
}

/// Returns the meaning of an error status of NCCL (`ncclResult_t`).
fn meaning(status: c_int) -> &'static str {
    match status {
        1 => "a call of the CUDA driver failed",
        2 => "a call of the system failed",
        3 => "something inside failed",
        4 => "an argument is invalid",
        5 => "the calls do not fit together",
        6 => "another rank failed, or is gone",
        IN_PROGRESS => "it is still in progress",
        _ => "the status is not a known one",
    }
}

/// Converts NCCL's status for `call`. The text is the library's own, for its latest failure.
fn check(library: &Nccl, status: c_int, call: &str) -> Result<()> {
    if status == SUCCESS {
        return Ok(());
    }
    let meaning = meaning(status);
    // SAFETY: NCCL accepts a null communicator here.
    let text = unsafe { (library.ncclGetLastError)(std::ptr::null_mut()) };
    let text = if text.is_null() {
        String::new()
    } else {
        // SAFETY: the text is a C string of NCCL, read before the next call.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned()
    };
    let separator = if text.is_empty() { "" } else { ": " };
    Err(DeviceError::new(Status::NcclFailed, format!("{meaning} ({call}, status {status}){separator}{text}")))
}

/// Returns NCCL's number for an element type.
fn data_type(dtype: DType) -> Result<c_int> {
    Ok(match dtype {
        DType::I8 => 0,
        DType::UI8 => 1,
        DType::I32 => 2,
        DType::UI32 => 3,
        DType::I64 => 4,
        DType::UI64 => 5,
        DType::F16 => 6,
        DType::F32 => 7,
        DType::F64 => 8,
        DType::BF16 => 9,
        other => {
            return Err(DeviceError::new(Status::NotSupported, format!("NCCL does not take {other}")));
        }
    })
}

/// Returns NCCL's number for a reduction.
fn reduction(op: ReduceOp) -> c_int {
    match op {
        ReduceOp::Sum => 0,
        ReduceOp::Product => 1,
        ReduceOp::Maximum => 2,
        ReduceOp::Minimum => 3,
        ReduceOp::Average => 4,
    }
}

impl Communicator {
    /// Waits until nothing is in progress or the communicator's timeout has passed.
    fn settle(&self, raw: Raw, status: c_int, call: &str) -> Result<()> {
        let (start, mut state) = (Instant::now(), status);
        while state == IN_PROGRESS {
            // SAFETY: the communicator is alive, and the pointer is valid for the call.
            let status = unsafe { (self.library.ncclCommGetAsyncError)(raw.0, &raw mut state) };
            check(self.library, status, "ncclCommGetAsyncError")?;
            if state == IN_PROGRESS {
                if start.elapsed() >= self.timeout {
                    let time = self.timeout;
                    return Err(DeviceError::new(
                        Status::NcclFailed,
                        format!("not all ranks called within {time:?} ({call})"),
                    ));
                }
                std::thread::sleep(PAUSE);
            }
        }
        check(self.library, state, call)
    }

    /// Aborts the communicator, including calls in progress.
    fn abort(&self, raw: &mut Option<Raw>) {
        if let Some(raw) = raw.take()
            && self.shared.make_current().is_ok()
        {
            // SAFETY: the communicator is alive. It was taken out, so this is its last use. A
            // failure could not be returned to a caller.
            let _ = unsafe { (self.library.ncclCommAbort)(raw.0) };
        }
    }

    /// Aborts the communicator and makes its context unusable. Aborted work finishes without a
    /// failure of its stream, so this is what keeps unwritten results from being used.
    fn give_up(&self, raw: &mut Option<Raw>, why: &DeviceError) {
        self.shared.fail(why);
        self.abort(raw);
    }

    /// Calls NCCL for one collective.
    fn call(&self, raw: Raw, call: &CollectiveCall<'_, Self, Stream>) -> Result<c_int> {
        let library = self.library;
        let (dtype, stream) = (data_type(call.dtype)?, call.stream.raw().cast::<c_void>());
        let count = usize::try_from(call.count)
            .map_err(|_| DeviceError::new(Status::NcclFailed, "a count does not fit"))?;
        let (send, receive, raw) = (call.send, call.receive, raw.0);
        let rank = |rank: u32| c_int::try_from(rank).unwrap_or(c_int::MAX);
        // SAFETY: communicator and stream are alive. The front checked that the buffers hold the
        // elements that the collective sends and receives, keeps them alive, and orders their reuse
        // by their streams.
        Ok(unsafe {
            match call.operation {
                Collective::AllReduce(op) => {
                    (library.ncclAllReduce)(send, receive, count, dtype, reduction(op), raw, stream)
                }
                Collective::AllGather => (library.ncclAllGather)(send, receive, count, dtype, raw, stream),
                Collective::ReduceScatter(op) => {
                    (library.ncclReduceScatter)(send, receive, count, dtype, reduction(op), raw, stream)
                }
                Collective::Broadcast(root) => {
                    (library.ncclBroadcast)(send, receive, count, dtype, rank(root), raw, stream)
                }
                Collective::Reduce(op, root) => {
                    (library.ncclReduce)(send, receive, count, dtype, reduction(op), rank(root), raw, stream)
                }
                Collective::Send(peer) => (library.ncclSend)(send, count, dtype, rank(peer), raw, stream),
                Collective::Receive(peer) => {
                    (library.ncclRecv)(receive, count, dtype, rank(peer), raw, stream)
                }
            }
        })
    }
}

/// Calls NCCL for all calls as one group. Returns whether the group is in progress.
fn group(
    library: &Nccl,
    calls: &[CollectiveCall<'_, Communicator, Stream>],
    raw: impl Fn(&Communicator) -> Option<Raw>,
) -> Result<c_int> {
    // SAFETY: only this thread begins and ends the group.
    check(library, unsafe { (library.ncclGroupStart)() }, "ncclGroupStart")?;
    let queued: Result<()> = calls.iter().try_for_each(|call| {
        call.communicator.shared.bind()?;
        let Some(raw) = raw(call.communicator) else { return Ok(()) };
        match call.communicator.call(raw, call)? {
            IN_PROGRESS => Ok(()),
            status => check(library, status, call.operation.name()),
        }
    });
    // SAFETY: only this thread begins and ends the group, which must end even after a failure.
    let ended = unsafe { (library.ncclGroupEnd)() };
    queued?;
    if ended != IN_PROGRESS {
        check(library, ended, "ncclGroupEnd")?;
    }
    Ok(ended)
}

/// Returns NCCL's default configuration, but non-blocking.
fn configuration() -> ncclConfig_t {
    ncclConfig_t {
        size: size_of::<ncclConfig_t>(),
        magic: CONFIG_MAGIC,
        version: CONFIG_VERSION,
        blocking: 0,
        cgaClusterSize: CONFIG_UNDEFINED,
        minCTAs: CONFIG_UNDEFINED,
        maxCTAs: CONFIG_UNDEFINED,
        netName: std::ptr::null(),
        splitShare: CONFIG_UNDEFINED,
        trafficClass: CONFIG_UNDEFINED,
        commName: std::ptr::null(),
        collnetEnable: CONFIG_UNDEFINED,
        CTAPolicy: CONFIG_UNDEFINED,
        shrinkShare: CONFIG_UNDEFINED,
        nvlsCTAs: CONFIG_UNDEFINED,
        nChannelsPerNetPeer: CONFIG_UNDEFINED,
        nvlinkCentricSched: CONFIG_UNDEFINED,
    }
}

impl Collectives for GpuContext {
    fn collectives_id(&self) -> Result<UniqueId> {
        self.bound()?;
        let library = Nccl::get()?;
        let mut id = ncclUniqueId { internal: [0; UniqueId::BYTES] };
        // SAFETY: the pointer is valid for the call.
        check(library, unsafe { (library.ncclGetUniqueId)(&raw mut id) }, "ncclGetUniqueId")?;
        Ok(UniqueId(bytemuck::cast(id.internal)))
    }

    fn create_communicator(
        &self,
        id: &UniqueId,
        ranks: u32,
        rank: u32,
        timeout: Duration,
    ) -> Result<Communicator> {
        self.bound()?;
        let library = Nccl::get()?;
        let number = |value: u32| {
            c_int::try_from(value)
                .map_err(|_| DeviceError::invalid_value(format!("{value} ranks are too many")))
        };
        let (ranks, rank) = (number(ranks)?, number(rank)?);
        let id = ncclUniqueId { internal: bytemuck::cast(id.0) };
        let (mut raw, mut config) = (std::ptr::null_mut(), configuration());
        // SAFETY: the context is current; the pointers are valid for the call, which copies the
        // configuration.
        let status =
            unsafe { (library.ncclCommInitRankConfig)(&raw mut raw, ranks, id, rank, &raw mut config) };
        if raw.is_null() {
            check(library, status, "ncclCommInitRankConfig")?;
            return Err(DeviceError::new(Status::NcclFailed, "NCCL gives no communicator"));
        }
        let shared = Arc::clone(&self.shared);
        // From here on the communicator is aborted or destroyed on every path.
        let communicator = Communicator { shared, library, timeout, raw: Mutex::new(Some(Raw(raw))) };
        let settled = communicator.settle(Raw(raw), status, "ncclCommInitRankConfig");
        if settled.is_err() {
            communicator.abort(&mut communicator.raw.lock());
        }
        settled.map(|()| communicator)
    }

    fn run_collectives(&self, calls: &[CollectiveCall<'_, Communicator, Stream>]) -> Result<()> {
        let Some(first) = calls.first() else { return Ok(()) };
        self.bound()?;
        // Each communicator is locked once, in an order that is the same for all groups.
        let mut communicators: Vec<_> = calls.iter().map(|call| call.communicator).collect();
        communicators.sort_by_key(|communicator| std::ptr::from_ref(*communicator).addr());
        communicators.dedup_by(|a, b| std::ptr::eq(*a, *b));
        let mut locked = Vec::with_capacity(communicators.len());
        for communicator in communicators {
            let raw = communicator.raw.lock();
            let Some(known) = *raw else {
                return Err(DeviceError::new(Status::NcclFailed, "the communicator was aborted"));
            };
            locked.push((communicator, raw, known));
        }
        // If one call cannot be made, no call of the group is made.
        locked.iter().try_for_each(|(communicator, ..)| communicator.shared.check_usable())?;
        let status = group(first.communicator.library, calls, |wanted| {
            locked.iter().find(|(known, ..)| std::ptr::eq(*known, wanted)).map(|(.., raw)| *raw)
        });
        // The work is queued once nothing is in progress.
        let settled = status.and_then(|status| {
            let mut all = locked.iter();
            all.try_for_each(|(communicator, _, raw)| communicator.settle(*raw, status, "ncclGroupEnd"))
        });
        settled.inspect_err(|why| {
            for (communicator, raw, _) in &mut locked {
                communicator.give_up(raw, why);
            }
        })
    }

    fn abort_communicator(&self, communicator: &Communicator, why: &DeviceError) {
        communicator.give_up(&mut communicator.raw.lock(), why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libraries::is_installed;

    /// Where NCCL is installed, it has every function that is called, and functions that need no
    /// device work.
    #[test]
    fn the_library_is_there_or_told_of() {
        let found = Nccl::get();
        let Some(library) = found.as_ref().ok().filter(|_| is_installed(&found, &SPEC)) else { return };
        let mut ids = [ncclUniqueId { internal: [0; UniqueId::BYTES] }; 2];
        for id in &mut ids {
            // SAFETY: the pointer is valid for the call.
            check(library, unsafe { (library.ncclGetUniqueId)(&raw mut *id) }, "ncclGetUniqueId").unwrap();
        }
        assert_ne!(ids[0].internal, ids[1].internal);
    }

    /// Compares with the names that the library's header gives to the numbers.
    #[test]
    fn statuses_mean_what_the_header_says() {
        use cudarc::nccl::sys::ncclResult_t as R;
        for (status, said) in [
            (R::ncclUnhandledCudaError, "CUDA driver"),
            (R::ncclSystemError, "the system"),
            (R::ncclInternalError, "inside"),
            (R::ncclInvalidArgument, "argument"),
            (R::ncclInvalidUsage, "do not fit together"),
            (R::ncclRemoteError, "another rank"),
            (R::ncclInProgress, "in progress"),
            (R::ncclNumResults, "not a known one"),
        ] {
            assert!(meaning(status as c_int).contains(said), "{status:?}: {}", meaning(status as c_int));
        }
        assert_eq!((R::ncclSuccess as c_int, R::ncclInProgress as c_int), (SUCCESS, IN_PROGRESS));
    }

    #[test]
    fn types_have_numbers_or_are_refused() {
        assert_eq!(data_type(DType::F32), Ok(7));
        assert!(data_type(DType::String).is_err());
    }
}
