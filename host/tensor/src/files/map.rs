//! Files as buffers, through memory maps.

use std::path::Path;

use tfrt_host::{Diagnostic, ErrorCode, MappedFile, host_buffer::HostBuffer, is_in_mapped_file};

use super::READER;
use crate::dense::DenseHostTensor;

/// Tensors of fewer bytes stay in memory.
const MIN_FILE_BYTES: usize = 1 << 20;

/// The bytes of the file at `path`, read-only.
///
/// # Errors
/// NotFound or Io, naming the file.
pub(super) fn map_file(path: &Path) -> Result<HostBuffer, Diagnostic> {
    MappedFile::open(path).map(HostBuffer::from_readonly)
}

/// Returns a read-only copy of a tensor of 1 MiB or more in a mapped temporary file, which has no
/// name and ends with the copy. The system frees its pages where memory is short, or after
/// [`release_mapped_pages`](tfrt_host::release_mapped_pages). Returns `None` for a smaller tensor,
/// and for one that is in a mapped file already.
///
/// # Errors
/// Io if the file cannot be written or mapped; DataRace while somebody writes the tensor.
pub fn in_temporary_file(tensor: &DenseHostTensor) -> Result<Option<DenseHostTensor>, Diagnostic> {
    let bytes = tensor.read_bytes(&READER)?;
    if bytes.len() < MIN_FILE_BYTES || is_in_mapped_file(&bytes) {
        return Ok(None);
    }
    let file = MappedFile::temporary(&bytes).map_err(|error| {
        Diagnostic::new(ErrorCode::Io, format!("failed to write a temporary file: {error}"))
    })?;
    DenseHostTensor::from_buffer(tensor.metadata().clone(), HostBuffer::from_readonly(file)).map(Some)
}
