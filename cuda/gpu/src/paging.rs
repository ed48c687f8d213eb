//! Device memory by the page: the driver's virtual memory management.
//!
//! A page is one physical allocation of the driver's granularity. Pages may be mapped twice at a
//! time, which the driver allows as long as no kernel uses both addresses; the allocator orders
//! those that follow each other.

#![expect(unsafe_code, reason = "calls of the driver's C interface")]

use std::sync::OnceLock;

use cudarc::driver::sys::{
    self, CUdevice_attribute as Attribute, CUmemAccess_flags, CUmemAccessDesc,
    CUmemAllocationGranularity_flags, CUmemAllocationProp, CUmemAllocationType, CUmemLocation,
    CUmemLocationType,
};
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Memory, Paging};

use super::context::{GpuContext, Shared};
use super::device::attribute;
use super::memory::size;

/// The smallest page: with smaller ones, mapping would cost more than it gains.
const MIN_PAGE_BYTES: usize = 2 << 20;

/// Facts about the context's pages, which never change.
#[derive(Default)]
pub(super) struct PagingFacts {
    /// The size of a page, or `None` if pages are not supported.
    page_bytes: OnceLock<Option<u64>>,
    /// Whether a trial page could be used.
    works: OnceLock<bool>,
    access: OnceLock<Vec<CUmemAccessDesc>>,
    total_bytes: OnceLock<usize>,
}

/// Returns the location of a device's memory.
fn location(device: i32) -> CUmemLocation {
    CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: device }
}

/// Returns the properties of pages of the context's device.
fn properties(shared: &Shared) -> CUmemAllocationProp {
    // SAFETY: the struct consists of numbers and a pointer, for which zero is valid and requests
    // nothing special.
    let mut properties: CUmemAllocationProp = unsafe { std::mem::zeroed() };
    properties.type_ = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = location(shared.device);
    properties
}

/// Returns the devices that may access mapped pages: the context's own, and those that can reach
/// its memory.
fn access(shared: &Shared) -> Result<&[CUmemAccessDesc]> {
    if let Some(known) = shared.paging.access.get() {
        return Ok(known);
    }
    let allowed = |device| CUmemAccessDesc {
        location: location(device),
        flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    let mut count = 0;
    // SAFETY: the driver is initialized, and the pointer is valid for the call.
    shared.check(unsafe { sys::cuDeviceGetCount(&raw mut count) }, "cuDeviceGetCount")?;
    let mut access = vec![allowed(shared.device)];
    for device in (0..count).filter(|&device| device != shared.device) {
        let mut can = 0;
        // SAFETY: the driver is initialized, and the pointer is valid for the call.
        let result = unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, device, shared.device) };
        shared.check(result, "cuDeviceCanAccessPeer")?;
        if can != 0 {
            access.push(allowed(device));
        }
    }
    Ok(shared.paging.access.get_or_init(|| access))
}

/// Returns the size of the device's memory, in bytes.
fn total_bytes(shared: &Shared) -> Result<usize> {
    if let Some(&known) = shared.paging.total_bytes.get() {
        return Ok(known);
    }
    let mut bytes = 0;
    // SAFETY: the driver is initialized, and the pointer is valid for the call.
    shared.check(unsafe { sys::cuDeviceTotalMem_v2(&raw mut bytes, shared.device) }, "cuDeviceTotalMem")?;
    Ok(*shared.paging.total_bytes.get_or_init(|| bytes))
}

/// Returns the size of a page, if the device supports virtual memory management.
fn granularity(shared: &Shared) -> Result<Option<u64>> {
    if let Some(&known) = shared.paging.page_bytes.get() {
        return Ok(known);
    }
    let wanted = Attribute::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
    let page_bytes = if attribute(shared.device, wanted)? == 0 {
        None
    } else {
        let (properties, mut bytes) = (properties(shared), 0);
        let which = CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED;
        // SAFETY: the driver is initialized, and both pointers are valid for the call, which needs
        // no context.
        let result =
            unsafe { sys::cuMemGetAllocationGranularity(&raw mut bytes, &raw const properties, which) };
        shared.check(result, "cuMemGetAllocationGranularity")?;
        bytes.max(MIN_PAGE_BYTES).checked_next_power_of_two().map(|bytes| bytes as u64)
    };
    Ok(*shared.paging.page_bytes.get_or_init(|| page_bytes))
}

impl GpuContext {
    /// Returns the page size. It is also known after a failure, because mapped pages must still be
    /// unmapped.
    fn page_size(&self) -> Result<usize> {
        granularity(&self.shared)?.map_or_else(|| Err(Status::NotSupported.into()), size)
    }

    /// Performs every operation on pages once, with a single page.
    fn try_page(&self, bytes: u64) -> Result<()> {
        let address = self.reserve_range(bytes)?;
        let mapped = self.create_pages(1).and_then(|pages| {
            let mapped = self.map_pages(address, &pages).and_then(|()| self.unmap_pages(address, bytes));
            pages.iter().fold(mapped, |result, &page| result.and(self.destroy_page(page)))
        });
        mapped.and(self.release_range(address, bytes))
    }
}

impl Paging for GpuContext {
    /// Returns the page size after a trial: in containers and on virtual GPUs, pages may be
    /// rejected although the device reports support for them. If there is no memory for the trial,
    /// the device's report is trusted.
    fn page_bytes(&self) -> Result<Option<u64>> {
        let Some(bytes) = granularity(self.bound()?)? else { return Ok(None) };
        let works = match self.shared.paging.works.get() {
            Some(&works) => works,
            None => match self.try_page(bytes) {
                Err(error) if error.status == Status::OutOfMemory => true,
                tried => *self.shared.paging.works.get_or_init(|| tried.is_ok()),
            },
        };
        Ok(works.then_some(bytes))
    }

    fn reserve_range(&self, bytes: u64) -> Result<u64> {
        if bytes > total_bytes(self.bound()?)? as u64 {
            let detail = format!("the device has no {bytes} bytes to fill a range with");
            return Err(DeviceError::new(Status::OutOfMemory, detail));
        }
        let (page, shared) = (self.page_size()?, self.bound()?);
        let mut address = 0;
        // SAFETY: the pointer is valid for the call. No particular address and no flags are
        // requested.
        let result = unsafe { sys::cuMemAddressReserve(&raw mut address, size(bytes)?, page, 0, 0) };
        shared.check(result, "cuMemAddressReserve")?;
        shared.allocations.insert(address, bytes);
        Ok(address)
    }

    fn release_range(&self, address: u64, bytes: u64) -> Result<()> {
        self.shared.make_current()?;
        // Removed first, because the driver may then return the addresses to another caller.
        self.shared.allocations.remove(address);
        // SAFETY: the driver checks the range, in which nothing is mapped.
        let result = unsafe { sys::cuMemAddressFree(address, size(bytes)?) };
        self.shared.check(result, "cuMemAddressFree").inspect_err(|_| {
            self.shared.allocations.insert(address, bytes);
        })
    }

    fn create_pages(&self, count: u64) -> Result<Vec<u64>> {
        let page = self.page_size()?;
        // Checked once, instead of creating thousands of pages in vain.
        if self.memory_info()?.free / (page as u64) < count {
            return Err(DeviceError::new(
                Status::OutOfMemory,
                format!("the device has no {count} free pages"),
            ));
        }
        let shared = self.bound()?;
        let properties = properties(shared);
        let mut pages = Vec::new();
        for _ in 0..count {
            let mut handle = 0;
            // SAFETY: both pointers are valid for the call.
            let result = unsafe { sys::cuMemCreate(&raw mut handle, page, &raw const properties, 0) };
            if let Err(error) = shared.check(result, "cuMemCreate") {
                for handle in pages {
                    // SAFETY: the page was created above and is not mapped. The first failure is
                    // reported.
                    let _ = unsafe { sys::cuMemRelease(handle) };
                }
                return Err(error);
            }
            pages.push(handle);
        }
        Ok(pages)
    }

    fn destroy_page(&self, page: u64) -> Result<()> {
        self.shared.make_current()?;
        // SAFETY: the driver keeps the memory alive while it is mapped.
        self.shared.check(unsafe { sys::cuMemRelease(page) }, "cuMemRelease")
    }

    fn map_pages(&self, address: u64, pages: &[u64]) -> Result<()> {
        let (page, shared) = (self.page_size()?, self.bound()?);
        let mut end = address;
        let mut result = Ok(());
        for &handle in pages {
            // SAFETY: the address is in a reserved range in which nothing is mapped, and the handle
            // is a page.
            result = shared.check(unsafe { sys::cuMemMap(end, page, 0, handle, 0) }, "cuMemMap");
            if result.is_err() {
                break;
            }
            end += page as u64;
        }
        let result = result.and_then(|()| access(shared)).and_then(|access| {
            // SAFETY: the whole range is mapped, and the count is that of the descriptions.
            let result =
                unsafe { sys::cuMemSetAccess(address, page * pages.len(), access.as_ptr(), access.len()) };
            shared.check(result, "cuMemSetAccess")
        });
        if result.is_err() {
            // The first failure is reported.
            let _ = self.unmap_pages(address, end - address);
        }
        result
    }

    fn unmap_pages(&self, address: u64, bytes: u64) -> Result<()> {
        let page = self.page_size()?;
        self.shared.make_current()?;
        for address in (address..address + bytes).step_by(page) {
            // SAFETY: the address is that of one mapping of `map_pages`, which nothing uses any
            // more.
            self.shared.check(unsafe { sys::cuMemUnmap(address, page) }, "cuMemUnmap")?;
        }
        Ok(())
    }
}
