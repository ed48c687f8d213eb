//! Contexts, handles and memory.

use std::any::Any;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use parking_lot::{Condvar, Mutex};

use super::paging;

pub(crate) const SUCCESS: c_int = 0;
pub(crate) const INVALID_VALUE: c_int = 1;
pub(crate) const OUT_OF_MEMORY: c_int = 2;
pub(crate) const ILLEGAL_ADDRESS: c_int = 700;

/// The result of a call.
pub(crate) type Answer<T = ()> = Result<T, c_int>;

/// The number of devices.
pub(crate) const DEVICES: usize = 2;
/// The size of each device's memory, in bytes.
pub(crate) const DEVICE_BYTES: usize = 4 << 30;
/// What a context allocates for itself at its first launch, and keeps, as drivers do.
const DRIVER_BYTES: usize = 24 << 20;

/// Ends the process because the backend broke a rule. Returning an error would not be enough,
/// because the backend ignores errors where it cannot return them.
#[expect(clippy::print_stderr, reason = "the last words of the process")]
pub(crate) fn violation(what: impl std::fmt::Display) -> ! {
    eprintln!("stand-in driver: {what}");
    std::process::abort();
}

/// Converts a result to an entry point's status.
pub(crate) fn answer(result: Answer) -> c_int {
    result.err().unwrap_or(SUCCESS)
}

#[derive(Default)]
pub(crate) struct Context {
    pub(crate) device: usize,
    retained: AtomicUsize,
    failure: Mutex<Option<c_int>>,
    /// Whether a kernel was launched.
    launched: AtomicBool,
    /// The amount of unfinished work, including that of destroyed streams.
    queued: Mutex<usize>,
    done: Condvar,
}

static CONTEXTS: LazyLock<[Context; DEVICES]> =
    LazyLock::new(|| std::array::from_fn(|device| Context { device, ..Context::default() }));

thread_local! {
    static CURRENT: Cell<Option<usize>> = const { Cell::new(None) };
}

impl Context {
    pub(crate) fn of_device(device: c_int) -> Answer<&'static Self> {
        usize::try_from(device).ok().and_then(|device| CONTEXTS.get(device)).ok_or(101)
    }

    /// Returns the driver's handle.
    pub(crate) fn raw(&'static self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    pub(crate) fn from_raw(raw: *mut c_void) -> &'static Self {
        CONTEXTS
            .iter()
            .find(|context| context.raw() == raw)
            .unwrap_or_else(|| violation("no context has this handle"))
    }

    /// Returns the calling thread's context, which almost every call needs.
    pub(crate) fn current(call: &str) -> &'static Self {
        let context = CURRENT.get().map(|device| &CONTEXTS[device]);
        let context = context.unwrap_or_else(|| violation(format_args!("{call} without a current context")));
        if context.retained.load(Ordering::SeqCst) == 0 {
            violation(format_args!("{call} in a context that was released"));
        }
        context
    }

    /// Returns the calling thread's context, or its failure.
    pub(crate) fn working(call: &str) -> Answer<&'static Self> {
        let context = Self::current(call);
        context.failure.lock().map_or(Ok(context), Err)
    }

    pub(crate) fn current_raw() -> *mut c_void {
        CURRENT.get().map_or(std::ptr::null_mut(), |device| CONTEXTS[device].raw())
    }

    pub(crate) fn make_current(&self) {
        CURRENT.set(Some(self.device));
    }

    pub(crate) fn retain(&self) {
        self.retained.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn release(&self) {
        match self.retained.fetch_sub(1, Ordering::SeqCst) {
            0 => violation("a context is released that was not retained"),
            1 => {
                let left: Vec<_> =
                    HANDLES.lock().values().filter(|h| h.device == self.device).map(|h| h.kind).collect();
                let blocks = BLOCKS.lock().values().filter(|block| block.device == self.device).count();
                if !left.is_empty() || blocks > 0 || !paging::is_clean(self.device) {
                    violation(format_args!(
                        "a context is released with {left:?}, {blocks} blocks of memory, or pages left"
                    ));
                }
                // What a fault broke stays broken for as long as the process.
                self.launched.store(false, Ordering::SeqCst);
            }
            _ => {}
        }
    }

    /// Notes that a kernel was launched.
    pub(crate) fn launch(&self) {
        self.launched.store(true, Ordering::SeqCst);
    }

    /// Returns the size of what the driver has allocated for itself.
    fn own_bytes(&self) -> usize {
        if self.launched.load(Ordering::SeqCst) { DRIVER_BYTES } else { 0 }
    }

    /// Notes that work was queued.
    pub(crate) fn begin_work(&self) {
        *self.queued.lock() += 1;
    }

    /// Notes that work has finished.
    pub(crate) fn end_work(&self) {
        *self.queued.lock() -= 1;
        self.done.notify_all();
    }

    /// Waits until all work has finished.
    pub(crate) fn synchronize(&self) {
        let mut queued = self.queued.lock();
        while *queued > 0 {
            self.done.wait(&mut queued);
        }
    }

    pub(crate) fn failure(&self) -> Option<c_int> {
        *self.failure.lock()
    }

    pub(crate) fn fail(&self, status: c_int) {
        self.failure.lock().get_or_insert(status);
    }
}

struct Handle {
    device: usize,
    kind: &'static str,
    object: Arc<dyn Any + Send + Sync>,
}

/// The live objects, by the driver's handles.
static HANDLES: LazyLock<Mutex<HashMap<usize, Handle>>> = LazyLock::new(Mutex::default);

/// Creates a handle for an object.
pub(crate) fn keep<T: Any + Send + Sync>(
    context: &Context,
    kind: &'static str,
    object: Arc<T>,
) -> *mut c_void {
    let raw = Arc::as_ptr(&object).cast_mut().cast::<c_void>();
    HANDLES.lock().insert(raw.addr(), Handle { device: context.device, kind, object });
    raw
}

fn known<T: Any + Send + Sync>(raw: *mut c_void, call: &str) -> (usize, Arc<T>) {
    let handles = HANDLES.lock();
    let handle =
        handles.get(&raw.addr()).unwrap_or_else(|| violation(format_args!("{call}: a handle that is gone")));
    let object = Arc::clone(&handle.object).downcast();
    (handle.device, object.unwrap_or_else(|_| violation(format_args!("{call} of a {}", handle.kind))))
}

/// Returns the object of a handle, of any context.
pub(crate) fn find<T: Any + Send + Sync>(raw: *mut c_void, call: &str) -> Arc<T> {
    known(raw, call).1
}

/// Returns the object of a handle of the current context.
pub(crate) fn own<T: Any + Send + Sync>(raw: *mut c_void, call: &str) -> Arc<T> {
    let (device, object) = known(raw, call);
    if device != Context::current(call).device {
        violation(format_args!("{call} in the context of another device"));
    }
    object
}

/// Destroys a handle and returns its object.
pub(crate) fn forget<T: Any + Send + Sync>(raw: *mut c_void, call: &str) -> Arc<T> {
    let object = own(raw, call);
    HANDLES.lock().remove(&raw.addr());
    object
}

/// Returns all objects of a type that a context has.
pub(crate) fn all<T: Any + Send + Sync>(context: &Context) -> Vec<Arc<T>> {
    let handles = HANDLES.lock();
    let own = handles.values().filter(|handle| handle.device == context.device);
    own.filter_map(|handle| Arc::clone(&handle.object).downcast().ok()).collect()
}

struct Block {
    device: usize,
    bytes: u64,
}

/// The memory of the devices.
pub(crate) static MEMORY: LazyLock<tfrt_ptx::Memory> = LazyLock::new(tfrt_ptx::Memory::new);
static BLOCKS: Mutex<BTreeMap<u64, Block>> = Mutex::new(BTreeMap::new());

pub(crate) fn allocate(context: &Context, bytes: usize) -> Answer<u64> {
    if bytes == 0 {
        return Err(INVALID_VALUE);
    }
    if bytes > free_bytes(context) {
        return Err(OUT_OF_MEMORY);
    }
    let address = MEMORY.allocate(bytes as u64).map_err(|_| OUT_OF_MEMORY)?;
    // Fresh memory is not zero.
    MEMORY.write(address, &vec![0xa5; bytes.min(1 << 20)]).map_err(|_| OUT_OF_MEMORY)?;
    BLOCKS.lock().insert(address, Block { device: context.device, bytes: bytes as u64 });
    Ok(address)
}

/// Allocates unified memory, at one address for both sides.
pub(crate) fn allocate_managed(context: &Context, bytes: usize) -> Answer<u64> {
    /// Bytes with the driver's alignment.
    #[repr(align(256))]
    struct Line {
        _bytes: [u8; 256],
    }
    if bytes == 0 {
        return Err(INVALID_VALUE);
    }
    if bytes > free_bytes(context) {
        // A real driver may hang the GPU.
        violation(format_args!("cuMemAllocManaged of {bytes} bytes, more than are free"));
    }
    // Fresh memory is not zero.
    let mut lines: Vec<Line> = (0..bytes.div_ceil(256)).map(|_| Line { _bytes: [0xa5; 256] }).collect();
    let storage = lines.as_mut_ptr().cast::<u8>();
    let address = storage.expose_provenance() as u64;
    // SAFETY: the owner keeps the storage alive, and the host does not touch it while work runs
    // that may.
    let registered = unsafe { MEMORY.register(address, storage, bytes as u64, "unified", Arc::new(lines)) };
    registered.map_err(|_| OUT_OF_MEMORY)?;
    BLOCKS.lock().insert(address, Block { device: context.device, bytes: bytes as u64 });
    Ok(address)
}

pub(crate) fn free_bytes(context: &Context) -> usize {
    let blocks = BLOCKS.lock();
    let used: u64 =
        blocks.values().filter(|block| block.device == context.device).map(|block| block.bytes).sum();
    let used = (used + paging::used_bytes(context.device)) as usize;
    DEVICE_BYTES.saturating_sub(used + context.own_bytes())
}

pub(crate) fn free(address: u64) -> Answer {
    let Some(block) = BLOCKS.lock().remove(&address) else {
        violation("memory is freed that is not allocated");
    };
    if block.device != Context::current("cuMemFree").device {
        violation("memory is freed in the context of another device");
    }
    MEMORY.free(address).map_err(|_| INVALID_VALUE)
}

/// Returns the block that contains an address.
pub(crate) fn block_of(address: u64) -> Option<(u64, u64)> {
    let blocks = BLOCKS.lock();
    let found = blocks.range(..=address).next_back().map(|(&start, block)| (start, block.bytes));
    found.filter(|(start, bytes)| address < start + bytes).or_else(|| paging::run_of(address))
}

/// A variable of a module, in the module's own memory.
struct Variable {
    bytes: u64,
    ptx: tfrt_ptx::Module,
    module: usize,
}

static VARIABLES: Mutex<BTreeMap<u64, Variable>> = Mutex::new(BTreeMap::new());

/// Registers a variable of a module that the program has asked for.
pub(crate) fn add_variable(module: *mut c_void, ptx: &tfrt_ptx::Module, address: u64, bytes: u64) {
    VARIABLES.lock().insert(address, Variable { bytes, ptx: ptx.clone(), module: module.addr() });
}

/// Forgets a module's variables.
pub(crate) fn forget_variables(module: *mut c_void) {
    VARIABLES.lock().retain(|_, variable| variable.module != module.addr());
}

/// Returns the module with the variable that contains a range.
fn variable_at(address: u64, bytes: u64) -> Option<tfrt_ptx::Module> {
    let variables = VARIABLES.lock();
    let (&start, variable) = variables.range(..=address).next_back()?;
    let end = address.checked_add(bytes)?;
    (end <= start + variable.bytes).then(|| variable.ptx.clone())
}

/// Checks that a range of device memory may be an end of a copy.
pub(crate) fn check_range(address: u64, bytes: u64) -> Answer {
    if variable_at(address, bytes).is_some() {
        return Ok(());
    }
    let fits = block_of(address).is_some_and(|(start, length)| bytes <= length - (address - start));
    if fits { Ok(()) } else { Err(INVALID_VALUE) }
}

pub(crate) fn read(address: u64, bytes: usize) -> Answer<Vec<u8>> {
    let mut buffer = vec![0; bytes];
    if let Some(module) = variable_at(address, bytes as u64) {
        return module.read(address, &mut buffer).map(|()| buffer).map_err(|_| ILLEGAL_ADDRESS);
    }
    let _pages = paging::stay();
    MEMORY.read(address, &mut buffer).map_err(|_| ILLEGAL_ADDRESS)?;
    Ok(buffer)
}

pub(crate) fn write(address: u64, bytes: &[u8]) -> Answer {
    if let Some(module) = variable_at(address, bytes.len() as u64) {
        return module.write(address, bytes).map_err(|_| ILLEGAL_ADDRESS);
    }
    let _pages = paging::stay();
    MEMORY.write(address, bytes).map_err(|_| ILLEGAL_ADDRESS)
}

/// Reads elements of device memory.
pub(crate) fn load<T: bytemuck::Pod>(address: u64, count: usize) -> Answer<Vec<T>> {
    Ok(bytemuck::pod_collect_to_vec(&read(address, count * size_of::<T>())?))
}

pub(crate) fn store<T: bytemuck::Pod>(address: u64, elements: &[T]) -> Answer {
    write(address, bytemuck::cast_slice(elements))
}

/// Pinned host memory: the size by the address, and whether it was registered.
pub(crate) static PINNED: Mutex<BTreeMap<usize, (usize, bool)>> = Mutex::new(BTreeMap::new());

/// Checks that the host's end of an asynchronous copy is pinned.
pub(crate) fn check_pinned(memory: usize, bytes: usize, call: &str) {
    let pinned = PINNED.lock();
    let found = pinned.range(..=memory).next_back();
    if found.is_none_or(|(&start, &(length, _))| memory + bytes > start + length) {
        violation(format_args!("{call} of host memory that is not pinned"));
    }
}
