//! Memory by the page: the driver's virtual memory management, by that of the host.
//!
//! Pages are pieces of one file in memory. A reserved range is addresses of the host's without memory, and a page that is
//! mapped lies there by a mapping of the file, so that one page can be at two addresses.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, LazyLock};

use cudarc::driver::sys::{CUmemAccessDesc, CUmemAllocationProp};
use parking_lot::{Mutex, RwLock, RwLockReadGuard};

use super::driver::{entry_points, put};
use super::state::{Answer, Context, INVALID_VALUE, MEMORY, OUT_OF_MEMORY, free_bytes, violation};

/// Makes the driver refuse to map pages, as some machines do although their devices say that they can.
static REFUSES_PAGES: LazyLock<bool> =
    LazyLock::new(|| std::env::var_os("TFRT_STAND_IN_REFUSES_PAGES").is_some());
const NOT_SUPPORTED: c_int = 801;

/// Bytes of a page.
const PAGE: usize = 2 << 20;
/// The first address of a range.
const FIRST_ADDRESS: u64 = 1 << 50;

/// Addresses, and where they lie on the host.
struct Range {
    bytes: usize,
    host: usize,
}

struct Page {
    device: usize,
    /// Which piece of the file it is.
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
    /// The page that lies at an address.
    mapped: BTreeMap<u64, u64>,
    /// Mapped pages side by side that the devices may use: how many bytes, by the first address.
    runs: BTreeMap<u64, usize>,
}

static PAGING: LazyLock<Mutex<Paging>> =
    LazyLock::new(|| Mutex::new(Paging { next_address: FIRST_ADDRESS, ..Paging::default() }));

/// Held by whatever uses memory, and alone by whoever takes a page away, while the pages beside it are not there.
static USES: RwLock<()> = RwLock::new(());

/// The file whose pieces pages are.
static FILE: LazyLock<c_int> = LazyLock::new(|| {
    // SAFETY: the name ends with a zero.
    let file = unsafe { libc::memfd_create(c"stand-in pages".as_ptr(), libc::MFD_CLOEXEC) };
    if file < 0 { violation("the system has no file in memory") } else { file }
});

/// Puts something at addresses of the host's that a reserved range has: a piece of the file, or nothing.
fn place(host: usize, piece: Option<usize>) -> Answer {
    let at = std::ptr::with_exposed_provenance_mut::<c_void>(host);
    let shared = libc::MAP_FIXED | libc::MAP_SHARED;
    let nothing = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: the addresses are a page of a range that `cuMemAddressReserve` took from the system and has not given back;
    // nothing uses them, as they are in no run. The file has the piece.
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
    /// Where an address of a reserved range lies on the host, if as many bytes of the range follow.
    fn host(&self, address: u64, bytes: usize) -> Answer<usize> {
        let (start, range) = self.ranges.range(..=address).next_back().ok_or(INVALID_VALUE)?;
        let offset = (address - start) as usize;
        if offset + bytes <= range.bytes { Ok(range.host + offset) } else { Err(INVALID_VALUE) }
    }

    /// Lets the devices use mapped pages.
    fn show(&mut self, address: u64, bytes: usize) -> Answer {
        let host = std::ptr::with_exposed_provenance_mut::<u8>(self.host(address, bytes)?);
        // SAFETY: all of it is mapped, readable and writable, and stays so until `hide` takes it out of `MEMORY`, while it has
        // `USES` alone: all that uses this memory by its address holds that (`stay`), from before it looks an address up.
        unsafe { MEMORY.register(address, host, bytes as u64, "pages", Arc::new(())) }
            .map_err(|_| INVALID_VALUE)?;
        self.runs.insert(address, bytes);
        Ok(())
    }

    /// Takes a page away from the devices, and shows the rest of its run again.
    fn hide(&mut self, address: u64) -> Answer {
        let Some((start, bytes)) = self.run_of(address) else { return Ok(()) };
        self.runs.remove(&start);
        // Kernels that run, of whatever stream, see all memory: as in a driver, they end first.
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

    /// The run that an address lies in.
    fn run_of(&self, address: u64) -> Option<(u64, u64)> {
        let (&start, &bytes) = self.runs.range(..=address).next_back()?;
        (address < start + bytes as u64).then_some((start, bytes as u64))
    }

    /// Forgets a page that nobody has any more.
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

/// While the result is there, no page is taken away.
pub(crate) fn stay() -> RwLockReadGuard<'static, ()> {
    // Kernels may wait for each other: one that begins waits only while a page is being taken away.
    USES.read_recursive()
}

/// Bytes of a device's pages.
pub(crate) fn used_bytes(device: usize) -> u64 {
    let pages = PAGING.lock().pages.values().filter(|page| page.device == device).count();
    (pages * PAGE) as u64
}

/// Whether a device has no pages.
pub(crate) fn is_clean(device: usize) -> bool {
    PAGING.lock().pages.values().all(|page| page.device != device)
}

/// The run that an address lies in.
pub(crate) fn run_of(address: u64) -> Option<(u64, u64)> {
    PAGING.lock().run_of(address)
}

fn whole_pages(bytes: usize) -> Answer<usize> {
    if bytes > 0 && bytes.is_multiple_of(PAGE) { Ok(bytes / PAGE) } else { Err(INVALID_VALUE) }
}

/// The device on which pages are wanted.
fn device(properties: *const CUmemAllocationProp) -> Answer<usize> {
    // SAFETY: an entry point's description, which its caller keeps for the call.
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
        // SAFETY: new addresses, wherever the system has some.
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
                // SAFETY: taken from the system by `cuMemAddressReserve`; no run is left there.
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
        // SAFETY: the caller's array of so many descriptions.
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
