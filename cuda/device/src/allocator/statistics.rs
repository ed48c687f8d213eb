//! What an allocator counts. The names are those of the StreamExecutor API; those behind them are ours.

use std::fmt;

/// The counts of an allocator at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Grants ever made.
    pub num_allocs: u64,
    /// Bytes of live blocks, as they were rounded up.
    pub bytes_in_use: u64,
    /// The most of them at once.
    pub peak_bytes_in_use: u64,
    /// The largest request ever granted.
    pub largest_alloc_size: u64,
    /// The most bytes the allocator may reserve.
    pub bytes_limit: Option<u64>,
    /// Bytes held from the device, live or cached.
    pub bytes_reserved: u64,
    /// The most of them at once.
    pub peak_bytes_reserved: u64,
    /// The largest free block, whoever may have it.
    pub largest_free_block_bytes: u64,
    /// Bytes of live blocks, as they were asked for.
    pub bytes_requested: u64,
    /// The most of them at once.
    pub peak_bytes_requested: u64,
    /// Live blocks.
    pub num_live: u64,
    /// Segments held from the device.
    pub num_segments: u64,
    /// How often the device was asked for memory, and gave some.
    pub num_device_allocs: u64,
    /// Waits inserted so that memory of one stream could be reused on another.
    pub num_waits: u64,
}

impl Statistics {
    /// Counts a block handed out.
    #[inline]
    pub(super) fn granted(&mut self, bytes: u64, requested: u64) {
        self.num_allocs += 1;
        self.num_live += 1;
        self.bytes_in_use += bytes;
        self.bytes_requested += requested;
        // Rare, and so not written each time.
        if self.bytes_in_use > self.peak_bytes_in_use {
            self.peak_bytes_in_use = self.bytes_in_use;
        }
        if self.bytes_requested > self.peak_bytes_requested {
            self.peak_bytes_requested = self.bytes_requested;
        }
        if requested > self.largest_alloc_size {
            self.largest_alloc_size = requested;
        }
    }

    /// Counts a block given back.
    #[inline]
    pub(super) fn freed(&mut self, bytes: u64, requested: u64) {
        self.num_live -= 1;
        self.bytes_in_use -= bytes;
        self.bytes_requested -= requested;
    }

    /// Counts memory taken from the device.
    pub(super) fn reserved(&mut self, bytes: u64) {
        self.bytes_reserved += bytes;
        self.peak_bytes_reserved = self.peak_bytes_reserved.max(self.bytes_reserved);
    }

    /// Counts memory given back to the device.
    pub(super) fn released(&mut self, bytes: u64) {
        self.bytes_reserved -= bytes;
    }

    /// The most reserved against the most asked for at once: 1 is perfect. 1 too before the first request.
    pub fn fragmentation(&self) -> f64 {
        if self.peak_bytes_requested == 0 {
            return 1.0;
        }
        self.peak_bytes_reserved as f64 / self.peak_bytes_requested as f64
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "num_allocs: {}", self.num_allocs)?;
        writeln!(f, "bytes_in_use: {}", self.bytes_in_use)?;
        writeln!(f, "peak_bytes_in_use: {}", self.peak_bytes_in_use)?;
        writeln!(f, "largest_alloc_size: {}", self.largest_alloc_size)?;
        if let Some(limit) = self.bytes_limit {
            writeln!(f, "bytes_limit: {limit}")?;
        }
        writeln!(f, "bytes_reserved: {}", self.bytes_reserved)?;
        writeln!(f, "peak_bytes_reserved: {}", self.peak_bytes_reserved)?;
        write!(f, "largest_free_block_bytes: {}", self.largest_free_block_bytes)
    }
}
