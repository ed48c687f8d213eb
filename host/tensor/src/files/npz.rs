//! `.npz`, NumPy's file of several arrays: a ZIP archive of `.npy` files, stored or deflated.

use std::io::{self, Cursor, ErrorKind, Read};
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
const MAX_BYTES: u64 = 1 << 32;
/// How many bytes DEFLATE makes of one at most.
const MAX_DEFLATE_RATIO: u64 = 1032;
const WRONG_SIZE: &str = "it has not as many bytes as the archive says";
/// Longest header of an array. NumPy's have some hundred bytes.
const MAX_HEADER: usize = 1 << 16;
/// Alignment of the bytes of an array that is read.
const ALIGNMENT: usize = 64;

/// The arrays of the file at `path` by their names, in the order of the file: copies in memory of
/// `allocator`.
///
/// # Errors
/// NotFound or Io if the file cannot be read; InvalidArgument if it is malformed, has one name
/// twice, or holds what tensors cannot; ResourceExhausted if the arrays have more than 4 GiB;
/// OutOfMemory.
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
    let (mut arrays, mut left) = (Vec::with_capacity(archive.len()), MAX_BYTES);
    for index in 0..archive.len() {
        let file = archive.by_index(index).map_err(|error| broken(&error))?;
        let member = file.name().map_err(|error| broken(&error))?.into_owned();
        let member_name = format!("{name}: {member}");
        let size = file.size();
        left = left.checked_sub(size).ok_or_else(|| {
            let message = format!("{name}: its arrays have more than {MAX_BYTES} bytes");
            Diagnostic::new(ErrorCode::ResourceExhausted, message)
        })?;
        // What cannot be in so few bytes need not be looked for.
        if size > file.compressed_size().saturating_mul(MAX_DEFLATE_RATIO) {
            return Err(malformed(&member_name, 0, WRONG_SIZE));
        }
        let unpacked = unpack(file, size, allocator).map_err(|error| match error {
            Unpack::NoMemory => {
                Diagnostic::new(ErrorCode::OutOfMemory, format!("{member_name}: no memory for {size} bytes"))
            }
            Unpack::Malformed(error) => malformed(&member_name, 0, error),
        })?;
        let tensor = npy::read_buffer(&member_name, &unpacked, allocator)?;
        arrays.push((member.strip_suffix(".npy").unwrap_or(&member).to_owned(), tensor));
    }
    Ok(arrays)
}

/// Why an array cannot be unpacked.
enum Unpack {
    NoMemory,
    Malformed(String),
}

impl From<io::Error> for Unpack {
    fn from(error: io::Error) -> Self {
        Self::Malformed(match error.kind() {
            ErrorKind::UnexpectedEof => WRONG_SIZE.to_owned(),
            _ => error.to_string(),
        })
    }
}

impl From<&str> for Unpack {
    fn from(message: &str) -> Self {
        Self::Malformed(message.to_owned())
    }
}

impl From<String> for Unpack {
    fn from(message: String) -> Self {
        Self::Malformed(message)
    }
}

/// Unpacks an `.npy` file of `size` bytes.
///
/// The header is unpacked and checked first, so that no memory is taken for a file whose header
/// does not announce that size.
fn unpack(mut file: impl Read, size: u64, allocator: &SharedAllocator) -> Result<HostBuffer, Unpack> {
    let size = usize::try_from(size).map_err(|_| Unpack::NoMemory)?;
    let mut start = vec![0; npy::PREFIX_SIZE.min(size)];
    file.read_exact(&mut start)?;
    let header_end = npy::elements_start(&start)?;
    if header_end > MAX_HEADER.min(size) {
        return Err(Unpack::from("the header is longer than the file, or than any header"));
    }
    let read = start.len();
    if header_end > read {
        start.resize(header_end, 0);
        file.read_exact(&mut start[read..])?;
    }
    if npy::declared_size(&start)? != size {
        return Err(Unpack::from(WRONG_SIZE));
    }
    let mut unpacked = HostBuffer::allocate_unset(size, ALIGNMENT, allocator).ok_or(Unpack::NoMemory)?;
    let bytes = unpacked.get_mut().ok_or("its memory is shared")?;
    let (head, rest) = bytes.split_at_mut(start.len());
    head.copy_from_slice(&start);
    file.read_exact(rest)?;
    // The checksum is compared when the end is reached.
    match file.read(&mut [0])? {
        0 => Ok(unpacked),
        _ => Err(Unpack::from(WRONG_SIZE)),
    }
}
