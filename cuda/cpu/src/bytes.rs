//! Device memory as slices of numbers, for operations that compute.

#![expect(unsafe_code, reason = "device memory is viewed as slices")]

use bytemuck::Pod;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_ptx::Held;

use super::operation::Run;

/// A pointer into host memory that an operation may use.
#[derive(Clone, Copy)]
pub(super) struct HostPtr(pub(super) *mut u8);

// SAFETY: the caller that queued the operation promised that the memory may be used on the thread
// that runs it.
unsafe impl Send for HostPtr {}
// SAFETY: the pointer is only used through the operation that holds it, which one thread runs at a
// time.
unsafe impl Sync for HostPtr {}

impl HostPtr {
    pub(super) fn get(self) -> *mut u8 {
        self.0
    }
}

/// The elements that an operation writes. There is one output for each range that the operation
/// declares to write.
pub(super) struct Output<T> {
    address: u64,
    len: usize,
    held: Held,
    elements: std::marker::PhantomData<*mut T>,
}

impl<T: Pod> Output<T> {
    /// Returns the `len` elements at `address` for writing.
    ///
    /// # Safety
    /// The running operation uses memory as slices ([`Manner::Slices`](super::access::Manner)),
    /// declared to write these elements, and creates no other output that overlaps this one.
    pub(super) unsafe fn new(run: &Run<'_>, address: u64, len: u64) -> Result<Self> {
        let held = resolve::<T>(run, address, len)?;
        held.note_change();
        Ok(Self { address, len: len as usize, held, elements: std::marker::PhantomData })
    }

    /// Returns the elements.
    pub(super) fn get(&mut self) -> &mut [T] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: `resolve` checked bounds and alignment, and any bytes are a `T`. The operation
        // declared to write them as slices, so no launch runs and no other operation uses them. By
        // the contract of `new`, this is its only view of them.
        unsafe { std::slice::from_raw_parts_mut(self.held.pointer().cast(), self.len) }
    }

    /// Returns the `len` elements at `address` for reading while this output is written. They are
    /// copied if they overlap it.
    ///
    /// # Safety
    /// The running operation uses memory as slices and declared to read these elements.
    pub(super) unsafe fn input(&self, run: &Run<'_>, address: u64, len: u64) -> Result<Input<T>> {
        // SAFETY: the caller promises that the running operation declared to read these elements as
        // slices, as `beside` requires. The only range it writes meanwhile is the output's, which
        // is passed as `written`.
        unsafe { Input::beside(run, address, len, &[(self.address, (self.len * size_of::<T>()) as u64)]) }
    }
}

/// Elements that an operation reads.
pub(super) enum Input<T> {
    /// The elements in device memory.
    InPlace(Held, usize),
    /// A copy, because the elements are also written.
    Copied(Vec<T>),
}

impl<T: Pod> Input<T> {
    /// Returns the `len` elements at `address`, copied if they overlap one of the ranges `written`.
    ///
    /// # Safety
    /// The running operation uses memory as slices and declared to read these elements. `written`
    /// contains every range that it writes meanwhile.
    pub(super) unsafe fn beside(
        run: &Run<'_>,
        address: u64,
        len: u64,
        written: &[(u64, u64)],
    ) -> Result<Self> {
        let held = resolve::<T>(run, address, len)?;
        let bytes = len * size_of::<T>() as u64;
        let overlaps =
            written.iter().any(|&(start, count)| start < address + bytes && address < start + count);
        let input = Self::InPlace(held, len as usize);
        Ok(if overlaps { Self::Copied(input.get().to_vec()) } else { input })
    }

    /// Returns the elements.
    pub(super) fn get(&self) -> &[T] {
        match self {
            Self::InPlace(_, 0) => &[],
            // SAFETY: `resolve` checked bounds and alignment, and any bytes are a `T`. The
            // operation declared to read them as slices, so no launch runs and no other operation
            // writes them. Its own outputs do not overlap them (`beside`).
            Self::InPlace(held, len) => unsafe { std::slice::from_raw_parts(held.pointer().cast(), *len) },
            Self::Copied(elements) => elements,
        }
    }
}

fn resolve<T>(run: &Run<'_>, address: u64, len: u64) -> Result<Held> {
    let bytes =
        len.checked_mul(size_of::<T>() as u64).ok_or_else(|| DeviceError::from(Status::InvalidValue))?;
    let held = run.shared.space.resolve(address, bytes)?;
    if len > 0 && !held.pointer().cast::<T>().is_aligned() {
        let detail = format!("{address:#x} is not a multiple of {}", align_of::<T>());
        return Err(DeviceError::new(Status::MisalignedAddress, detail));
    }
    Ok(held)
}
