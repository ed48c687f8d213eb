//! Files as buffers, through memory maps.

use std::path::Path;

use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{Diagnostic, MappedFile};

/// The bytes of the file at `path`, read-only.
///
/// # Errors
/// NotFound or Io, naming the file.
pub(super) fn map_file(path: &Path) -> Result<HostBuffer, Diagnostic> {
    MappedFile::open(path).map(HostBuffer::from_readonly)
}
