//! Files that are read into memory as a whole, for tensors that may be changed.

use std::{
    fs::File,
    io::{self, ErrorKind, Read},
    path::Path,
};

use tfrt_host::{Diagnostic, ErrorCode, host_buffer::HostBuffer};

use super::npy;
use crate::dense::SharedAllocator;

/// The alignment of a file's bytes in memory.
const ALIGNMENT: usize = 64;

/// The most bytes that are read from a pipe or a device, which may never end.
const MAX_STREAM_BYTES: u64 = 4 << 30;

/// The contents that a stream is expected to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// An `.npy` file, which says at its start how long it is.
    Npy,
    /// Any bytes.
    Anything,
}

/// Reads the file at `path`, of at most `max_bytes` bytes, into memory that may be changed. A
/// regular file is read up to the size that it has when it is opened, a pipe or a device to its end.
///
/// # Errors
/// NotFound or Io if the file cannot be read; ResourceExhausted if it is larger; OutOfMemory. All
/// of them name the file.
pub fn read_file(
    path: impl AsRef<Path>,
    max_bytes: u64,
    allocator: &SharedAllocator,
) -> Result<HostBuffer, Diagnostic> {
    read_expected(path.as_ref(), max_bytes, Expected::Anything, allocator)
}

/// As [`read_file`]. Of a stream no more is read than the expected contents need.
pub(super) fn read_expected(
    path: &Path,
    max_bytes: u64,
    expected: Expected,
    allocator: &SharedAllocator,
) -> Result<HostBuffer, Diagnostic> {
    read(path, max_bytes, expected, allocator).map_err(|error| {
        let code = match error.kind() {
            ErrorKind::NotFound => ErrorCode::NotFound,
            ErrorKind::FileTooLarge => ErrorCode::ResourceExhausted,
            ErrorKind::OutOfMemory => ErrorCode::OutOfMemory,
            _ => ErrorCode::Io,
        };
        Diagnostic::new(code, format!("failed to open file {} for reading: {error}", path.display()))
    })
}

fn read(
    path: &Path,
    max_bytes: u64,
    expected: Expected,
    allocator: &SharedAllocator,
) -> io::Result<HostBuffer> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    // Some files of the system have no size, and contents all the same.
    if !metadata.is_file() || metadata.len() == 0 {
        return read_stream(file, max_bytes.min(MAX_STREAM_BYTES), expected).map(HostBuffer::from_vec);
    }
    if metadata.len() > max_bytes {
        return Err(too_large(max_bytes));
    }
    let no_memory = || io::Error::from(ErrorKind::OutOfMemory);
    let size = usize::try_from(metadata.len()).map_err(|_| no_memory())?;
    let mut buffer = HostBuffer::allocate_unset(size, ALIGNMENT, allocator).ok_or_else(no_memory)?;
    let bytes = buffer.get_mut().ok_or_else(no_memory)?;
    file.read_exact(bytes).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "it became shorter while it was read"),
        _ => error,
    })?;
    Ok(buffer)
}

fn read_stream(mut stream: impl Read, max_bytes: u64, expected: Expected) -> io::Result<Vec<u8>> {
    let (mut bytes, size) = match expected {
        Expected::Npy => npy::read_start(&mut stream, max_bytes)?,
        Expected::Anything => (Vec::new(), u64::MAX),
    };
    // One byte more than may be there shows that the stream is longer.
    let limit = size.min(max_bytes).saturating_add(1);
    stream.take(limit.saturating_sub(bytes.len() as u64)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes || size > max_bytes && size != u64::MAX {
        return Err(too_large(max_bytes));
    }
    Ok(bytes)
}

fn too_large(max_bytes: u64) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {max_bytes} bytes"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tfrt_host::allocator::SystemAllocator;

    use super::*;
    use crate::{Accessor, dense::DenseHostTensor, host_tensor::HostTensor};

    static ME: Accessor = Accessor::new("test");

    fn system() -> SharedAllocator {
        Arc::new(SystemAllocator)
    }

    /// Ones without end, after some bytes.
    fn endless(start: &[u8]) -> impl Read {
        io::Cursor::new(start.to_vec()).chain(io::repeat(1))
    }

    #[test]
    fn files_become_tensors_that_can_be_changed() {
        let path = std::env::temp_dir().join(format!("tfrt-read-{}.npy", std::process::id()));
        let tensor = DenseHostTensor::from_slice([2], &[1.0_f32, 2.0], &system()).unwrap();
        npy::write(&path, &tensor.into(), &ME, &system()).unwrap();
        let size = std::fs::metadata(&path).unwrap().len();
        let read = npy::read_file(&path, size, &system()).unwrap();
        let HostTensor::Dense(dense) = read else { panic!("numbers") };
        dense.write::<f32>(&ME).unwrap()[0] = 3.0;
        assert_eq!(dense.read::<f32>(&ME).unwrap()[..], [3.0, 2.0]);
        let error = npy::read_file(&path, size - 1, &system()).unwrap_err();
        assert_eq!(error.code, ErrorCode::ResourceExhausted);
        assert!(
            error.message.ends_with(&format!("it has more than {} bytes", size - 1)),
            "{}",
            error.message
        );
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read_file(&path, 10, &system()).unwrap_err().code, ErrorCode::NotFound);
    }

    #[test]
    fn no_more_is_read_of_a_stream_than_its_header_declares() {
        let tensor = DenseHostTensor::from_slice([2], &[1.0_f32, 2.0], &system()).unwrap();
        let file = npy::encode(&tensor, &ME).unwrap();
        let read = |stream: Box<dyn Read>, max_bytes| read_stream(stream, max_bytes, Expected::Npy);
        assert_eq!(read(Box::new(io::Cursor::new(file.clone())), 1 << 20).unwrap(), file);
        // One byte too many, which the reader of the format reports.
        assert_eq!(read(Box::new(endless(&file)), 1 << 20).unwrap().len(), file.len() + 1);
        assert!(read(Box::new(endless(&[])), 1 << 20).unwrap().len() < 100);
        let error = read(Box::new(endless(&file)), file.len() as u64 - 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        let error = read_stream(endless(&[]), 1000, Expected::Anything).unwrap_err();
        assert_eq!(error.to_string(), "it has more than 1000 bytes");
    }
}
