//! The statistics of an allocator. The first names are those of the StreamExecutor API.

use std::fmt;

/// The statistics of an allocator at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The number of grants so far.
    pub num_allocs: u64,
    /// The bytes of live blocks, rounded up.
    pub bytes_in_use: u64,
    /// The peak of these bytes.
    pub peak_bytes_in_use: u64,
    /// The largest request granted, in bytes.
    pub largest_alloc_size: u64,
    /// The maximum number of bytes that the allocator may reserve.
    pub bytes_limit: Option<u64>,
    /// The bytes held from the device, live or cached.
    pub bytes_reserved: u64,
    /// The peak of these bytes.
    pub peak_bytes_reserved: u64,
    /// The size of the largest free block, in bytes.
    pub largest_free_block_bytes: u64,
    /// The bytes of live blocks, as requested.
    pub bytes_requested: u64,
    /// The peak of these bytes.
    pub peak_bytes_requested: u64,
    /// The number of live blocks.
    pub num_live: u64,
    /// The number of segments held from the device.
    pub num_segments: u64,
    /// The number of successful allocations from the device.
    pub num_device_allocs: u64,
    /// The number of waits inserted to reuse memory of one stream on another.
    pub num_waits: u64,
}

impl Statistics {
    /// Counts a grant.
    #[inline]
    pub(super) fn granted(&mut self, bytes: u64, requested: u64) {
        self.num_allocs += 1;
        self.num_live += 1;
        self.bytes_in_use += bytes;
        self.bytes_requested += requested;
        // Rare, so it is not written each time.
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

    /// Counts a release.
    #[inline]
    pub(super) fn freed(&mut self, bytes: u64, requested: u64) {
        self.num_live -= 1;
        self.bytes_in_use -= bytes;
        self.bytes_requested -= requested;
    }

    /// Counts memory allocated from the device.
    pub(super) fn reserved(&mut self, bytes: u64) {
        self.bytes_reserved += bytes;
        self.peak_bytes_reserved = self.peak_bytes_reserved.max(self.bytes_reserved);
    }

    /// Counts memory returned to the device.
    pub(super) fn released(&mut self, bytes: u64) {
        self.bytes_reserved -= bytes;
    }

    /// Returns the peak of reserved bytes divided by the peak of requested bytes. 1 is perfect, and
    /// the value before the first request.
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
