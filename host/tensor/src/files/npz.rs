//! `.npz`, NumPy's file of several arrays: a ZIP archive of `.npy` files, stored or deflated.

use std::io::{Cursor, ErrorKind, Read};
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
/// How many bytes DEFLATE makes of one at most.
const DEFLATE_RATIO_MAX: u64 = 1032;
const WRONG_SIZE: &str = "it has not as many bytes as the archive says";
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
        // What cannot be in so few bytes need not be looked for.
        if size > file.compressed_size().saturating_mul(DEFLATE_RATIO_MAX) {
            return Err(malformed(&member_name, 0, WRONG_SIZE));
        }
        let no_memory =
            || Diagnostic::new(ErrorCode::OutOfMemory, format!("{member_name}: no memory for {size} bytes"));
        let buffer = usize::try_from(size).ok();
        let buffer = buffer.and_then(|size| HostBuffer::allocate_unset(size, ALIGNMENT, allocator));
        let mut unpacked = buffer.ok_or_else(no_memory)?;
        unpack(file, &mut unpacked).map_err(|error| malformed(&member_name, 0, error))?;
        let tensor = npy::read_buffer(&member_name, &unpacked, allocator)?;
        arrays.push((member.strip_suffix(".npy").unwrap_or(&member).to_owned(), tensor));
    }
    Ok(arrays)
}

/// All bytes of a file, which are to be as many as the buffer, that nobody else has, has room for.
fn unpack(mut file: impl Read, to: &mut HostBuffer) -> Result<(), String> {
    let Some(bytes) = to.get_mut() else { return Err("its memory is shared".to_owned()) };
    file.read_exact(bytes).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => WRONG_SIZE.to_owned(),
        _ => error.to_string(),
    })?;
    // Until the end is reached the sum is not checked.
    match file.read(&mut [0]).map_err(|error| error.to_string())? {
        0 => Ok(()),
        _ => Err(WRONG_SIZE.to_owned()),
    }
}
