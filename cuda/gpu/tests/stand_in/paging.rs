//! The driver's virtual memory management, on top of the host's.
//!
//! Pages are pieces of one file in memory. A reserved range is host addresses without memory.
//! Mapping a page maps its piece of the file there, so that one page can be at two addresses.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, LazyLock};

use cudarc::driver::sys::{CUmemAccessDesc, CUmemAllocationProp};
use parking_lot::{Mutex, RwLock, RwLockReadGuard};

use super::driver::{entry_points, put};
use super::state::{Answer, Context, INVALID_VALUE, MEMORY, OUT_OF_MEMORY, free_bytes, violation};

/// Makes the driver refuse to map pages, as some systems do although their devices report support
/// for them.
static REFUSES_PAGES: LazyLock<bool> =
    LazyLock::new(|| std::env::var_os("TFRT_STAND_IN_REFUSES_PAGES").is_some());
const NOT_SUPPORTED: c_int = 801;

/// The size of a page, in bytes.
const PAGE: usize = 2 << 20;
/// The first address of a range.
const FIRST_ADDRESS: u64 = 1 << 50;

/// A range of device addresses, and its location on the host.
struct Range {
    bytes: usize,
    host: usize,
}

struct Page {
    device: usize,
    /// The piece of the file that the page is.
    piece: usize,
    released: bool,
    mapped: usize,
}

#[derive(Default)]
struct Paging {
    next_address: u64,
    ranges: BTreeMap<u64, Range>,
    pages: BTreeMap<u64, Page>,
    next_handle: u64,
    pieces: usize,
    spare_pieces: Vec<usize>,
    /// The page at each mapped address.
    mapped: BTreeMap<u64, u64>,
    /// The runs of adjacent mapped pages that the devices may use: the size in bytes by the first
    /// address.
    runs: BTreeMap<u64, usize>,
}

static PAGING: LazyLock<Mutex<Paging>> =
    LazyLock::new(|| Mutex::new(Paging { next_address: FIRST_ADDRESS, ..Paging::default() }));

/// Held shared by every use of memory, and exclusively while a page is removed, because the
/// adjacent pages are briefly missing then.
static USES: RwLock<()> = RwLock::new(());

/// The file whose pieces are the pages.
static FILE: LazyLock<c_int> = LazyLock::new(|| {
    // SAFETY: the name ends with a zero.
    let file = unsafe { libc::memfd_create(c"stand-in pages".as_ptr(), libc::MFD_CLOEXEC) };
    if file < 0 { violation("the system has no file in memory") } else { file }
});

/// Maps a piece of the file, or nothing, at host addresses of a reserved range.
fn place(host: usize, piece: Option<usize>) -> Answer {
    let at = std::ptr::with_exposed_provenance_mut::<c_void>(host);
    let shared = libc::MAP_FIXED | libc::MAP_SHARED;
    let nothing = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: the addresses are a page of a range that `cuMemAddressReserve` reserved and has not
    // freed. Nothing uses them, because they are in no run. The file has the piece.
    let placed = unsafe {
        match piece {
            Some(piece) => {
                let access = libc::PROT_READ | libc::PROT_WRITE;
                libc::mmap(at, PAGE, access, shared, *FILE, (piece * PAGE) as libc::off_t)
            }
            None => libc::mmap(at, PAGE, libc::PROT_NONE, nothing, -1, 0),
        }
    };
    if placed == libc::MAP_FAILED { Err(OUT_OF_MEMORY) } else { Ok(()) }
}

impl Paging {
    /// Returns the host address of a device address in a reserved range, if `bytes` bytes of the
    /// range follow it.
    fn host(&self, address: u64, bytes: usize) -> Answer<usize> {
        let (start, range) = self.ranges.range(..=address).next_back().ok_or(INVALID_VALUE)?;
        let offset = (address - start) as usize;
        if offset + bytes <= range.bytes { Ok(range.host + offset) } else { Err(INVALID_VALUE) }
    }

    /// Makes mapped pages visible to the devices.
    fn show(&mut self, address: u64, bytes: usize) -> Answer {
        let host = std::ptr::with_exposed_provenance_mut::<u8>(self.host(address, bytes)?);
        // SAFETY: the whole range is mapped, readable and writable. It stays so until `hide`
        // removes it from `MEMORY` while it holds `USES` exclusively. Every use of this memory by
        // its address holds `USES` (`stay`) from before the address is looked up.
        unsafe { MEMORY.register(address, host, bytes as u64, "pages", Arc::new(())) }
            .map_err(|_| INVALID_VALUE)?;
        self.runs.insert(address, bytes);
        Ok(())
    }

    /// Hides a page from the devices, and makes the rest of its run visible again.
    fn hide(&mut self, address: u64) -> Answer {
        let Some((start, bytes)) = self.run_of(address) else { return Ok(()) };
        self.runs.remove(&start);
        // Running kernels, on any stream, see all memory. As in a driver, they finish first.
        let _alone = USES.write();
        MEMORY.free(start).map_err(|_| INVALID_VALUE)?;
        let (end, after) = (start + bytes, address + PAGE as u64);
        if start < address {
            self.show(start, (address - start) as usize)?;
        }
        if after < end {
            self.show(after, (end - after) as usize)?;
        }
        Ok(())
    }

    /// Returns the run that contains an address.
    fn run_of(&self, address: u64) -> Option<(u64, u64)> {
        let (&start, &bytes) = self.runs.range(..=address).next_back()?;
        (address < start + bytes as u64).then_some((start, bytes as u64))
    }

    /// Forgets a page that has no mapping and no handle.
    fn settle(&mut self, handle: u64) {
        if self.pages.get(&handle).is_some_and(|page| page.released && page.mapped == 0)
            && let Some(page) = self.pages.remove(&handle)
        {
            self.spare_pieces.push(page.piece);
        }
    }

    fn page(&mut self, handle: u64, call: &str) -> &mut Page {
        match self.pages.get_mut(&handle) {
            Some(page) if !page.released => page,
            _ => violation(format_args!("{call} of a page that is gone")),
        }
    }
}

/// Keeps pages from being removed until the result is dropped.
pub(crate) fn stay() -> RwLockReadGuard<'static, ()> {
    // Kernels may wait for each other, so a new one only waits while a page is being removed.
    USES.read_recursive()
}

/// Returns the number of bytes of a device's pages.
pub(crate) fn used_bytes(device: usize) -> u64 {
    let pages = PAGING.lock().pages.values().filter(|page| page.device == device).count();
    (pages * PAGE) as u64
}

/// Returns whether a device has no pages.
pub(crate) fn is_clean(device: usize) -> bool {
    PAGING.lock().pages.values().all(|page| page.device != device)
}

/// Returns the run that contains an address.
pub(crate) fn run_of(address: u64) -> Option<(u64, u64)> {
    PAGING.lock().run_of(address)
}

fn whole_pages(bytes: usize) -> Answer<usize> {
    if bytes > 0 && bytes.is_multiple_of(PAGE) { Ok(bytes / PAGE) } else { Err(INVALID_VALUE) }
}

/// Returns the device that the pages are for.
fn device(properties: *const CUmemAllocationProp) -> Answer<usize> {
    // SAFETY: the caller's description is valid for the call.
    let properties = unsafe { &*properties };
    Ok(Context::of_device(properties.location.id)?.device)
}

entry_points! {
    fn cuMemGetAllocationGranularity(bytes: *mut usize, properties: *const CUmemAllocationProp, _which: c_int) {
        device(properties)?;
        put(bytes, PAGE)
    }
    fn cuMemAddressReserve(address: *mut u64, bytes: usize, alignment: usize, wanted: u64, flags: u64) {
        Context::working("cuMemAddressReserve")?;
        whole_pages(bytes)?;
        if wanted != 0 || flags != 0 || !alignment.is_power_of_two() {
            return Err(INVALID_VALUE);
        }
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: requests new addresses, which the system chooses.
        let host = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
        if host == libc::MAP_FAILED {
            return Err(OUT_OF_MEMORY);
        }
        let paging = &mut *PAGING.lock();
        let start = paging.next_address.next_multiple_of(alignment.max(PAGE) as u64);
        paging.next_address = start + (bytes + PAGE) as u64;
        paging.ranges.insert(start, Range { bytes, host: host.expose_provenance() });
        put(address, start)
    }
    fn cuMemAddressFree(address: u64, bytes: usize) {
        let paging = &mut *PAGING.lock();
        if paging.mapped.range(address..address + bytes as u64).next().is_some() {
            violation("cuMemAddressFree of a range where pages are mapped");
        }
        match paging.ranges.remove(&address) {
            Some(range) if range.bytes == bytes => {
                let host = std::ptr::with_exposed_provenance_mut::<c_void>(range.host);
                // SAFETY: `cuMemAddressReserve` reserved the range, and no run is left in it.
                unsafe { libc::munmap(host, bytes) };
                Ok(())
            }
            _ => violation("cuMemAddressFree of what is no range"),
        }
    }
    fn cuMemCreate(handle: *mut u64, bytes: usize, properties: *const CUmemAllocationProp, flags: u64) {
        let context = Context::of_device(device(properties)? as c_int)?;
        Context::working("cuMemCreate")?;
        if whole_pages(bytes)? != 1 || flags != 0 {
            violation("a page of another size than the granularity");
        }
        if free_bytes(context) < PAGE {
            return Err(OUT_OF_MEMORY);
        }
        let paging = &mut *PAGING.lock();
        let piece = match paging.spare_pieces.pop() {
            Some(piece) => piece,
            None => {
                paging.pieces += 1;
                // SAFETY: the file is open, and only grows.
                if unsafe { libc::ftruncate(*FILE, (paging.pieces * PAGE) as libc::off_t) } != 0 {
                    return Err(OUT_OF_MEMORY);
                }
                paging.pieces - 1
            }
        };
        paging.next_handle += 1;
        let number = paging.next_handle;
        paging.pages.insert(number, Page { device: context.device, piece, released: false, mapped: 0 });
        put(handle, number)
    }
    fn cuMemRelease(handle: u64) {
        let paging = &mut *PAGING.lock();
        paging.page(handle, "cuMemRelease").released = true;
        paging.settle(handle);
        Ok(())
    }
    fn cuMemMap(address: u64, bytes: usize, offset: usize, handle: u64, flags: u64) {
        if *REFUSES_PAGES {
            return Err(NOT_SUPPORTED);
        }
        let paging = &mut *PAGING.lock();
        let host = paging.host(address, bytes)?;
        if bytes != PAGE || offset != 0 || flags != 0 || !address.is_multiple_of(PAGE as u64) {
            return Err(INVALID_VALUE);
        }
        if paging.mapped.contains_key(&address) {
            violation("cuMemMap where a page is mapped");
        }
        let page = paging.page(handle, "cuMemMap");
        place(host, Some(page.piece))?;
        page.mapped += 1;
        paging.mapped.insert(address, handle);
        Ok(())
    }
    fn cuMemSetAccess(address: u64, bytes: usize, access: *const CUmemAccessDesc, count: usize) {
        let paging = &mut *PAGING.lock();
        // SAFETY: the caller's array has `count` descriptions.
        let access = unsafe { std::slice::from_raw_parts(access, count) };
        for at in (address..address + (whole_pages(bytes)? * PAGE) as u64).step_by(PAGE) {
            let handle = *paging.mapped.get(&at).ok_or(INVALID_VALUE)?;
            let owner = paging.pages[&handle].device;
            if !access.iter().any(|allowed| allowed.location.id as usize == owner) {
                violation("pages that their own device may not use");
            }
        }
        paging.show(address, bytes)
    }
    fn cuMemUnmap(address: u64, bytes: usize) {
        let paging = &mut *PAGING.lock();
        if bytes != PAGE {
            return Err(INVALID_VALUE);
        }
        let Some(handle) = paging.mapped.remove(&address) else {
            violation("cuMemUnmap where nothing is mapped");
        };
        paging.hide(address)?;
        place(paging.host(address, bytes)?, None)?;
        if let Some(page) = paging.pages.get_mut(&handle) {
            page.mapped -= 1;
        }
        paging.settle(handle);
        Ok(())
    }
}
