//! Device memory as slices of numbers, for operations that compute.

#![expect(unsafe_code, reason = "device memory is viewed as slices")]

use bytemuck::Pod;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_ptx::Held;

use super::operation::Run;

/// A pointer into host memory that an operation was promised.
#[derive(Clone, Copy)]
pub(super) struct HostPtr(pub(super) *mut u8);

// SAFETY: whoever queued the operation promised that the memory may be used from the thread that runs it.
unsafe impl Send for HostPtr {}
// SAFETY: as above.
unsafe impl Sync for HostPtr {}

impl HostPtr {
    pub(super) fn get(self) -> *mut u8 {
        self.0
    }
}

/// The elements an operation writes. There is one for each range that the operation declares to write.
pub(super) struct Output<T> {
    address: u64,
    len: usize,
    held: Held,
    elements: std::marker::PhantomData<*mut T>,
}

impl<T: Pod> Output<T> {
    /// `len` elements at `address`.
    ///
    /// # Safety
    /// The operation that runs uses memory as slices ([`Manner::Slices`](super::access::Manner)), declared to write these,
    /// and makes no other output that overlaps this one.
    pub(super) unsafe fn new(run: &Run<'_>, address: u64, len: u64) -> Result<Self> {
        let held = resolve::<T>(run, address, len)?;
        Ok(Self { address, len: len as usize, held, elements: std::marker::PhantomData })
    }

    /// The elements.
    pub(super) fn get(&mut self) -> &mut [T] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: in bounds and aligned (`resolve`); any bytes are a `T`; the operation declared to write them as slices,
        // so that no launch runs and no other operation uses them, and this is its one view of them (`new`).
        unsafe { std::slice::from_raw_parts_mut(self.held.pointer().cast(), self.len) }
    }

    /// `len` elements at `address` that are read beside this output: a copy where they overlap it.
    ///
    /// # Safety
    /// The operation that runs uses memory as slices and declared to read them.
    pub(super) unsafe fn input(&self, run: &Run<'_>, address: u64, len: u64) -> Result<Input<T>> {
        // SAFETY: by contract; what overlaps the output is copied before anybody has the output's elements.
        unsafe { Input::beside(run, address, len, &[(self.address, (self.len * size_of::<T>()) as u64)]) }
    }
}

/// Elements that an operation reads.
pub(super) enum Input<T> {
    /// Where they lie.
    InPlace(Held, usize),
    /// Copied, because they are also written.
    Copied(Vec<T>),
}

impl<T: Pod> Input<T> {
    /// `len` elements at `address`, copied where they overlap one of the ranges `written`.
    ///
    /// # Safety
    /// The operation that runs uses memory as slices and declared to read them; what it declares to write is among
    /// `written`.
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

    /// The elements.
    pub(super) fn get(&self) -> &[T] {
        match self {
            Self::InPlace(_, 0) => &[],
            // SAFETY: in bounds and aligned (`resolve`); any bytes are a `T`; the operation declared to read them as
            // slices, so that no launch runs and no other operation writes them; its own outputs are elsewhere (`beside`).
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
