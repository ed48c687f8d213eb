//! Survives that a mapped file becomes shorter.
//!
//! The system answers an access behind the end of a mapped file with SIGBUS, whose default action
//! ends the process. The handler here replaces the lost part of a mapping by zeros and marks the
//! mapping, whose readers then report an error. Every other SIGBUS goes to the handler that was
//! there before.

use std::{
    ffi::c_void,
    mem, ptr,
    sync::{
        Once,
        atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering},
    },
};

/// A watched mapping. Entries are reused and never freed, since the handler may look at them at any
/// time.
#[derive(Debug)]
pub(super) struct Entry {
    /// The address of the first byte; 0 if the entry is free.
    start: AtomicUsize,
    /// The address behind the last byte.
    end: AtomicUsize,
    is_truncated: AtomicBool,
    /// The entry that was made before this one.
    next: Option<&'static Entry>,
}

/// The latest entry.
static ENTRIES: AtomicPtr<Entry> = AtomicPtr::new(ptr::null_mut());

/// A mapping that the handler watches, until this is dropped.
#[derive(Debug)]
pub(super) struct Watched(&'static Entry);

impl Watched {
    /// Watches the bytes of a mapping. The mapping must outlive the result.
    pub(super) fn new(bytes: &[u8]) -> Self {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(install);
        let range = bytes.as_ptr_range();
        let (start, end) = (range.start as usize, range.end as usize);
        let claim = |entry: &&Entry| {
            entry.start.compare_exchange(0, start, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        if let Some(free) = entries().find(claim) {
            free.end.store(end, Ordering::Release);
            return Self(free);
        }
        let new = Box::leak(Box::new(Entry {
            start: AtomicUsize::new(start),
            end: AtomicUsize::new(end),
            is_truncated: AtomicBool::new(false),
            next: None,
        }));
        let mut latest = ENTRIES.load(Ordering::Acquire);
        loop {
            new.next = dereference(latest);
            match ENTRIES.compare_exchange_weak(latest, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Self(new),
                Err(other) => latest = other,
            }
        }
    }

    /// Returns whether an access has found that the file became shorter.
    pub(super) fn is_truncated(&self) -> bool {
        self.0.is_truncated.load(Ordering::Acquire)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // An end of 0 hides the entry from the handler before the entry is free.
        self.0.end.store(0, Ordering::Release);
        self.0.is_truncated.store(false, Ordering::Release);
        self.0.start.store(0, Ordering::Release);
    }
}

fn entries() -> impl Iterator<Item = &'static Entry> {
    std::iter::successors(dereference(ENTRIES.load(Ordering::Acquire)), |entry| entry.next)
}

/// Returns the entry that a value of [`ENTRIES`] points to.
fn dereference(latest: *const Entry) -> Option<&'static Entry> {
    // SAFETY: `ENTRIES` is null or points to an entry that `Watched::new` has leaked after
    // initializing it, and which it does not write to any more.
    unsafe { latest.as_ref() }
}

/// Replaces what is left of the mapping behind `address` by zeros. Returns whether `address` is
/// inside a mapping. Async-signal-safe: it uses atomics and system calls alone.
fn replace(address: usize) -> bool {
    let is_inside = |entry: &&Entry| {
        (entry.start.load(Ordering::Acquire)..entry.end.load(Ordering::Acquire)).contains(&address)
    };
    let Some(entry) = entries().find(is_inside) else { return false };
    // SAFETY: `sysconf` reads a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Ok(page) = usize::try_from(page) else { return false };
    let first = address - address % page;
    let bytes = entry.end.load(Ordering::Acquire).saturating_sub(first);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: the pages from `first` to the mapping's end belong to the mapping, which is read-only
    // and which its owner unmaps as a whole after `Watched` is dropped. None of them can be read
    // any more: the file ends before the page of `address`.
    let replaced = unsafe { libc::mmap(first as *mut c_void, bytes, libc::PROT_READ, flags, -1, 0) };
    if replaced == libc::MAP_FAILED {
        return false;
    }
    entry.is_truncated.store(true, Ordering::Release);
    true
}

type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut c_void);

/// The handler that was there before: its address, and whether it takes the signal's information.
static PREVIOUS: (AtomicUsize, AtomicBool) = (AtomicUsize::new(libc::SIG_DFL), AtomicBool::new(false));

fn install() {
    // SAFETY: all bytes zero are a valid `sigaction`: no flags, and an empty mask.
    let (mut action, mut previous): (libc::sigaction, libc::sigaction) = unsafe { mem::zeroed() };
    action.sa_sigaction = on_sigbus as Handler as usize;
    // As the standard library's own handler, on the alternate stack where a thread has one.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
    // SAFETY: reads the current action into a local, and changes nothing.
    let is_known = unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut previous) } == 0;
    if is_known {
        PREVIOUS.0.store(previous.sa_sigaction, Ordering::Release);
        PREVIOUS.1.store(previous.sa_flags & libc::SA_SIGINFO != 0, Ordering::Release);
        // SAFETY: `action` is initialized, and its handler is async-signal-safe. Should the call
        // fail, a truncated file ends the process as it would without the handler.
        unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) };
    }
}

extern "C" fn on_sigbus(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a valid `siginfo_t` to handlers with SA_SIGINFO, and SIGBUS carries
    // an address.
    let address = unsafe { (*info).si_addr() } as usize;
    if replace(address) {
        return;
    }
    match PREVIOUS.0.load(Ordering::Acquire) {
        libc::SIG_IGN => {}
        libc::SIG_DFL => {
            // SAFETY: all bytes zero are a valid `sigaction`, which names the default action. The
            // access is repeated after the return and ends the process.
            unsafe {
                let action: libc::sigaction = mem::zeroed();
                libc::sigaction(signal, &raw const action, ptr::null_mut());
            }
        }
        handler if PREVIOUS.1.load(Ordering::Acquire) => {
            // SAFETY: the address is that of a handler that was installed with SA_SIGINFO.
            let handler: Handler = unsafe { mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: the address is that of a handler that was installed without SA_SIGINFO.
            let handler: extern "C" fn(libc::c_int) = unsafe { mem::transmute(handler) };
            handler(signal);
        }
    }
}
