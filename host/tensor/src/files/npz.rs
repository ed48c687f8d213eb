//! `.npz`, NumPy's file of several arrays: a ZIP archive of `.npy` files, stored or deflated.

use std::io::{Cursor, Read};
use std::path::Path;

use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{Diagnostic, ErrorCode};
use zip::ZipArchive;

use super::{malformed, map, npy};
use crate::accessor::Accessor;
use crate::dense::{DenseHostTensor, SharedAllocator};
use crate::elements;

static READER: Accessor = Accessor::new("npz reader");

/// Bytes of all arrays at most, so that a small file cannot ask for all memory there is.
const BYTES_MAX: u64 = 1 << 32;
/// What the bytes of an array that is read are aligned to.
const ALIGNMENT: usize = 64;

/// The arrays of the file at `path` by their names, in the order of the file: copies in memory of `allocator`.
///
/// # Errors
/// NotFound or Io if the file cannot be read; InvalidArgument if it is malformed, has one name twice, or holds what tensors
/// cannot; ResourceExhausted if the arrays have more than 4 GiB; OutOfMemory.
pub fn read(
    path: impl AsRef<Path>,
    allocator: &SharedAllocator,
) -> Result<Vec<(String, DenseHostTensor)>, Diagnostic> {
    let path = path.as_ref();
    read_buffer(&path.display().to_string(), &map::map_file(path)?, allocator)
}

/// As [`read`], for a file that is in memory already; `name` is what errors call it.
///
/// # Errors
/// As [`read`], but for those of reading.
pub fn read_buffer(
    name: &str,
    buffer: &HostBuffer,
    allocator: &SharedAllocator,
) -> Result<Vec<(String, DenseHostTensor)>, Diagnostic> {
    let bytes = elements::read(buffer, &READER)?;
    let broken =
        |error: &dyn std::fmt::Display| malformed(name, 0, format_args!("not an .npz file: {error}"));
    let mut archive = ZipArchive::new(Cursor::new(&bytes[..])).map_err(|error| broken(&error))?;
    if archive.has_duplicate_names() {
        return Err(broken(&"two arrays have one name"));
    }
    let (mut arrays, mut left) = (Vec::with_capacity(archive.len()), BYTES_MAX);
    for index in 0..archive.len() {
        let file = archive.by_index(index).map_err(|error| broken(&error))?;
        let member = file.name().map_err(|error| broken(&error))?.into_owned();
        let member_name = format!("{name}: {member}");
        let size = file.size();
        left = left.checked_sub(size).ok_or_else(|| {
            let message = format!("{name}: its arrays have more than {BYTES_MAX} bytes");
            Diagnostic::new(ErrorCode::ResourceExhausted, message)
        })?;
        let unpacked = unpack(file, size).map_err(|error| malformed(&member_name, 0, error))?;
        let no_memory =
            || Diagnostic::new(ErrorCode::OutOfMemory, format!("{member_name}: no memory for {size} bytes"));
        let unpacked = HostBuffer::copy_from_slice(&unpacked, ALIGNMENT, allocator).ok_or_else(no_memory)?;
        let tensor = npy::read_buffer(&member_name, &unpacked, allocator)?;
        arrays.push((member.strip_suffix(".npy").unwrap_or(&member).to_owned(), tensor));
    }
    Ok(arrays)
}

/// All bytes of a file, which are to be `size`.
fn unpack(mut file: impl Read, size: u64) -> Result<Vec<u8>, String> {
    let size = usize::try_from(size).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|error| error.to_string())?;
    // One more than there are, so that the end is reached and with it the check of the sum.
    file.by_ref().take(size as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() == size {
        return Ok(bytes);
    }
    Err(format!("it has not the {size} bytes that the archive says"))
}
