//! What a counting allocator tells, and how it reads as text.

use std::fmt;

/// How many live blocks have a size, or how many allocations fell into a class of sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeClass {
    /// Size in bytes; of a class, its upper bound, inclusive.
    pub size_bytes: usize,
    /// How many.
    pub count: u64,
}

/// The counts of an allocator at one moment. Counts are exact once no other thread allocates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllocatorReport {
    /// Blocks alive.
    pub allocations_current: u64,
    /// The most blocks alive at once.
    pub allocations_max: u64,
    /// Blocks ever handed out.
    pub allocations_total: u64,
    /// Bytes alive.
    pub bytes_current: u64,
    /// The most bytes alive at once.
    pub bytes_max: u64,
    /// Allocations ever served, by powers of two of their size; empty classes are left out.
    pub histogram: Vec<SizeClass>,
    /// Live blocks by exact size, smallest first; `None` when the allocator does not follow single blocks. What is
    /// here after the last user has gone is a leak.
    pub live: Option<Vec<SizeClass>>,
}

impl AllocatorReport {
    /// True if single blocks are followed and some are alive.
    pub fn has_leak(&self) -> bool {
        self.live.is_some() && self.allocations_current != 0
    }
}

impl fmt::Display for AllocatorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "HostAllocator profile:")?;
        writeln!(f, "Current number of allocations = {}", self.allocations_current)?;
        writeln!(f, "Max number of allocations = {}", self.allocations_max)?;
        writeln!(f, "Total number of allocations = {}", self.allocations_total)?;
        writeln!(f, "Current number of bytes allocated = {}", self.bytes_current)?;
        write!(f, "Max number of bytes allocated = {}", self.bytes_max)?;
        if self.has_leak() {
            write!(
                f,
                "\nMemory leak detected: {} alive allocations, {} alive bytes",
                self.allocations_current, self.bytes_current
            )?;
            for class in self.live.iter().flatten() {
                write!(f, "\n  {} x {} bytes", class.count, class.size_bytes)?;
            }
        }
        Ok(())
    }
}
