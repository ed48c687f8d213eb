//! Device memory as slices of numbers, for operations that compute.

#![expect(unsafe_code, reason = "device memory is viewed as slices")]

use bytemuck::Pod;

use super::memory::Resolved;
use super::operation::Run;
use crate::error::{DeviceError, Result, Status};

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
    resolved: Resolved,
    elements: std::marker::PhantomData<*mut T>,
}

impl<T: Pod> Output<T> {
    /// `len` elements at `address`.
    ///
    /// # Safety
    /// The operation that runs declared to write them, and makes no other output that overlaps this one.
    pub(super) unsafe fn new(run: &Run<'_>, address: u64, len: u64) -> Result<Self> {
        let resolved = resolve::<T>(run, address, len)?;
        Ok(Self { address, len: len as usize, resolved, elements: std::marker::PhantomData })
    }

    /// The elements.
    pub(super) fn get(&mut self) -> &mut [T] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: resolved and aligned; any bytes are a `T`; the operation declared to write them, so that no other
        // operation uses them, and this is its one view of them (`new`).
        unsafe { std::slice::from_raw_parts_mut(self.resolved.pointer.cast(), self.len) }
    }

    /// `len` elements at `address` that are read beside this output: a copy where they overlap it.
    ///
    /// # Safety
    /// The operation that runs declared to read them.
    pub(super) unsafe fn input(&self, run: &Run<'_>, address: u64, len: u64) -> Result<Input<T>> {
        // SAFETY: by contract; what overlaps the output is copied before anybody has the output's elements.
        unsafe { Input::beside(run, address, len, &[(self.address, (self.len * size_of::<T>()) as u64)]) }
    }
}

/// Elements that an operation reads.
pub(super) enum Input<T> {
    /// Where they lie.
    InPlace(Resolved, usize),
    /// Copied, because they are also written.
    Copied(Vec<T>),
}

impl<T: Pod> Input<T> {
    /// `len` elements at `address`, copied where they overlap one of the ranges `written`.
    ///
    /// # Safety
    /// The operation that runs declared to read them, and what it declares to write is among `written`.
    pub(super) unsafe fn beside(
        run: &Run<'_>,
        address: u64,
        len: u64,
        written: &[(u64, u64)],
    ) -> Result<Self> {
        let resolved = resolve::<T>(run, address, len)?;
        let bytes = len * size_of::<T>() as u64;
        let overlaps =
            written.iter().any(|&(start, count)| start < address + bytes && address < start + count);
        let input = Self::InPlace(resolved, len as usize);
        Ok(if overlaps { Self::Copied(input.get().to_vec()) } else { input })
    }

    /// The elements.
    pub(super) fn get(&self) -> &[T] {
        match self {
            Self::InPlace(_, 0) => &[],
            // SAFETY: resolved and aligned; any bytes are a `T`; the operation declared to read them, so that no other
            // operation writes them, and its own outputs are elsewhere (`beside`).
            Self::InPlace(resolved, len) => unsafe {
                std::slice::from_raw_parts(resolved.pointer.cast(), *len)
            },
            Self::Copied(elements) => elements,
        }
    }
}

fn resolve<T>(run: &Run<'_>, address: u64, len: u64) -> Result<Resolved> {
    let bytes =
        len.checked_mul(size_of::<T>() as u64).ok_or_else(|| DeviceError::from(Status::InvalidValue))?;
    let resolved = run.shared.space.resolve(address, bytes)?;
    if !resolved.pointer.cast::<T>().is_aligned() {
        let detail = format!("{address:#x} is not a multiple of {}", align_of::<T>());
        return Err(DeviceError::new(Status::MisalignedAddress, detail));
    }
    Ok(resolved)
}
