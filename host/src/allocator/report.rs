//! The report of a counting allocator, and its text form.

use std::fmt;

/// The number of live blocks of one size, or of allocations in one class of sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeClass {
    /// The size in bytes. For a class, the largest size in it.
    pub size_bytes: usize,
    /// The number of blocks or allocations.
    pub count: u64,
}

/// The counts of an allocator at one moment. They are exact if no other thread allocates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllocatorReport {
    /// The number of live blocks.
    pub allocations_current: u64,
    /// The largest number of blocks alive at once.
    pub allocations_max: u64,
    /// The number of blocks ever allocated.
    pub allocations_total: u64,
    /// The number of live bytes.
    pub bytes_current: u64,
    /// The largest number of bytes alive at once.
    pub bytes_max: u64,
    /// All allocations by powers of two of their size, without empty classes.
    pub histogram: Vec<SizeClass>,
    /// Live blocks by exact size, smallest first, or `None` if the allocator does not track single
    /// blocks. A block that is still listed after its last user has ended is a leak.
    pub live: Option<Vec<SizeClass>>,
}

impl AllocatorReport {
    /// Returns true if single blocks are tracked and some are alive.
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
