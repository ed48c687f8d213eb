//! Pages of the noop backend, which are only counted.

use std::sync::atomic::Ordering;

use super::{NEXT_ADDRESS, NoopContext};
use crate::error::{Result, Status};
use crate::hal::Paging;

/// The size of a page in bytes.
const PAGE_BYTES: u64 = 2 << 20;

impl Paging for NoopContext {
    fn page_bytes(&self) -> Result<Option<u64>> {
        self.call()?;
        Ok(Some(PAGE_BYTES))
    }

    fn reserve_range(&self, bytes: u64) -> Result<u64> {
        self.call()?;
        let span = bytes.checked_add(2 * PAGE_BYTES).ok_or(Status::OutOfMemory)?;
        let address = NEXT_ADDRESS.fetch_add(span, Ordering::Relaxed).next_multiple_of(PAGE_BYTES);
        self.allocations.lock().insert(address, bytes);
        Ok(address)
    }

    fn release_range(&self, address: u64, _bytes: u64) -> Result<()> {
        self.allocations.lock().remove(&address).map(drop).ok_or_else(|| Status::InvalidValue.into())
    }

    fn create_pages(&self, count: u64) -> Result<Vec<u64>> {
        self.call()?;
        let total = self.memory_bytes;
        let take = |used: u64| used.checked_add(count.checked_mul(PAGE_BYTES)?).filter(|&sum| sum <= total);
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(_) => Ok((0..count).collect()),
            Err(_) => Err(Status::OutOfMemory.into()),
        }
    }

    fn destroy_page(&self, _page: u64) -> Result<()> {
        self.used.fetch_sub(PAGE_BYTES, Ordering::Relaxed);
        Ok(())
    }

    fn map_pages(&self, _address: u64, _pages: &[u64]) -> Result<()> {
        self.call()
    }

    fn unmap_pages(&self, _address: u64, _bytes: u64) -> Result<()> {
        Ok(())
    }
}
