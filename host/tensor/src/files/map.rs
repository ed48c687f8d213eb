//! Files as buffers, through memory maps.
#![expect(unsafe_code, reason = "the operating system maps files without promising that nobody changes them")]

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use memmap2::Mmap;
use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{Diagnostic, ErrorCode};

/// The bytes of the file at `path`, read-only.
///
/// A program that changes a file of ours while we read it changes what we read; one that shortens it makes the
/// operating system stop us. Nothing in this process does either.
///
/// # Errors
/// NotFound or Io, naming the file.
pub(super) fn map_file(path: &Path) -> Result<HostBuffer, Diagnostic> {
    let failed = |error: &std::io::Error| {
        let code = if error.kind() == ErrorKind::NotFound { ErrorCode::NotFound } else { ErrorCode::Io };
        Diagnostic::new(code, format!("failed to open file {} for reading: {error}", path.display()))
    };
    let file = File::open(path).map_err(|error| failed(&error))?;
    let metadata = file.metadata().map_err(|error| failed(&error))?;
    if !metadata.is_file() {
        return Err(failed(&std::io::Error::from(ErrorKind::IsADirectory)));
    }
    if metadata.len() == 0 {
        return Ok(HostBuffer::from_vec(Vec::<u8>::new()));
    }
    // SAFETY: the map is only read, through a buffer that keeps it alive; that the file does not change meanwhile is
    // this function's documented demand on the world, as for every reader of mapped files.
    let map = unsafe { Mmap::map(&file) }.map_err(|error| failed(&error))?;
    Ok(HostBuffer::from_readonly(map))
}
