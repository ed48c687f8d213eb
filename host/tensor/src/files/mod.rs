//! Tensors in files: BTF, safetensors, `.npy` and `.npz`.
//!
//! Files are mapped into memory and read in place (but for `.npz`, which is packed): the tensors
//! that a file hands out point into the map, are read-only, and keep it alive. A
//! [`deep_copy`](crate::DenseHostTensor::deep_copy) of one can be written, and so can the tensors of
//! a file that [`read_file`] has read. Every number in a file is checked before it is used, and a bad
//! one is an error that names the file and the place.

pub mod btf;
mod map;
pub mod npy;
pub mod npz;
mod read;
pub mod safetensors;

pub use map::in_temporary_file;
pub use read::read_file;

use std::{fs::File, io::Write, path::Path};

use tfrt_host::{DType, Diagnostic, ErrorCode, host_buffer::HostBuffer};

use crate::{accessor::Accessor, dense::DenseHostTensor, elements, metadata::TensorMetadata};

static READER: Accessor = Accessor::new("tensor file reader");

/// What is wrong at a place in a file.
#[cold]
fn malformed(file: &str, offset: usize, what: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::invalid_argument(format!("{file}: at byte {offset}: {what}"))
}

/// The tensor whose elements are a file's bytes. Of all data types only booleans have bytes that
/// are no value.
fn tensor_of(metadata: TensorMetadata, bytes: HostBuffer) -> Result<DenseHostTensor, Diagnostic> {
    if metadata.dtype == DType::I1 {
        let read = elements::read(&bytes, &READER)?;
        if let Some(at) = read.iter().position(|&byte| byte > 1) {
            let message = format!("element {at} is {}, but a boolean is 0 or 1", read[at]);
            return Err(Diagnostic::invalid_argument(message));
        }
    }
    DenseHostTensor::from_buffer(metadata, bytes)
}

/// Writes a file that consists of these parts.
fn write_file(path: &Path, parts: &[&[u8]]) -> Result<(), Diagnostic> {
    let mut file = File::create(path).map_err(|error| not_written(path, &error))?;
    parts.iter().try_for_each(|part| file.write_all(part)).map_err(|error| not_written(path, &error))
}

#[cold]
fn not_written(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::new(ErrorCode::Io, format!("failed to write file {}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
