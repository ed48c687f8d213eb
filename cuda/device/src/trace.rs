//! Work on devices in the program's trace: a row for each stream, on which each launch, copy and
//! library call lasts as long as the device worked on it.
//!
//! A backend that knows when its work begins and ends records it itself. For the others, the front
//! measures with events.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tfrt_host::tracing::Track;

use crate::hal::{Dim3, LaunchConfig};

/// The category of events that are work on a device.
pub const CATEGORY: &str = "device";

/// The size of a piece of work, as a trace shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorkSize {
    /// The name says enough.
    #[default]
    Unknown,
    /// The number of bytes that are copied or set.
    Bytes(u64),
    /// The extents of a launch.
    Launch {
        /// The grid, in blocks.
        grid: Dim3,
        /// A block, in threads.
        block: Dim3,
    },
}

impl From<&LaunchConfig> for WorkSize {
    fn from(config: &LaunchConfig) -> Self {
        Self::Launch { grid: config.grid, block: config.block }
    }
}

impl WorkSize {
    /// Returns the text of a trace for work of this name and size.
    pub fn describe(self, name: &str) -> String {
        format!("{name}{self}")
    }
}

/// Displays as the end of a text that begins with the name of the work.
impl fmt::Display for WorkSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => Ok(()),
            Self::Bytes(bytes) => write!(f, ", {bytes} bytes"),
            Self::Launch { grid, block } => write!(f, ", grid {grid}, block {block}"),
        }
    }
}

/// The row of a stream. It appears in the trace with the first work that is recorded.
#[derive(Debug)]
pub struct StreamRow {
    device: u32,
    number: u32,
    track: OnceLock<Track>,
    /// The end of the latest work.
    end_ns: AtomicU64,
}

impl StreamRow {
    /// Creates the row of a new stream of a device. Streams are numbered from 0 in the order of
    /// their creation.
    pub fn new(device: u32) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { device, number, track: OnceLock::new(), end_ns: AtomicU64::new(0) }
    }

    /// Records work from `start_ns` to `end_ns`, by the clock of [`tfrt_host::tracing::now_ns`].
    /// Calls come in the order of the stream's work. Measured times may overlap by a clock's
    /// inaccuracy, but the work does not, so each begins at the end of the one before or later.
    pub fn record(&self, work: String, start_ns: u64, end_ns: u64) {
        let name = || format!("device {} stream {}", self.device, self.number);
        let track = self.track.get_or_init(|| Track::new(&name()));
        let start_ns = start_ns.max(self.end_ns.load(Ordering::Relaxed));
        let end_ns = end_ns.max(start_ns);
        self.end_ns.store(end_ns, Ordering::Relaxed);
        track.record(CATEGORY, work, start_ns, end_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_described_with_its_size() {
        assert_eq!(WorkSize::Unknown.describe("blas gemm"), "blas gemm");
        assert_eq!(WorkSize::Bytes(64).describe("memory set"), "memory set, 64 bytes");
        let size = WorkSize::Launch { grid: Dim3::new(4, 2, 1), block: Dim3::from(128) };
        assert_eq!(size.describe("launch of f"), "launch of f, grid (4, 2, 1), block (128, 1, 1)");
    }
}
