//! [`MappedFile`]: a file that is read in place.

#![expect(unsafe_code, reason = "the operating system maps files without promising that nobody changes them")]

use std::{
    fs::File,
    io::{self, ErrorKind, Read},
    path::Path,
};

use memmap2::Mmap;

use crate::diagnostic::{Diagnostic, ErrorCode};

/// The bytes of a file, mapped read-only. Opening copies nothing, and only the parts that are
/// accessed are read. A file that cannot be mapped, such as a pipe, is read to its end.
///
/// If another program changes the file meanwhile, the bytes change too. If it truncates the file,
/// the operating system stops this process. Nothing in this process does either.
#[derive(Debug)]
pub struct MappedFile(Contents);

#[derive(Debug)]
enum Contents {
    Mapped(Mmap),
    Read(Vec<u8>),
}

impl MappedFile {
    /// Maps the file at `path`.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] or [`ErrorCode::Io`], with the name of the file.
    pub fn open(path: &Path) -> Result<Self, Diagnostic> {
        Self::map(path).map_err(|error| {
            let code = if error.kind() == ErrorKind::NotFound { ErrorCode::NotFound } else { ErrorCode::Io };
            Diagnostic::new(code, format!("failed to open file {} for reading: {error}", path.display()))
        })
    }

    fn map(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        // An empty file has nothing to map.
        if !metadata.is_file() || metadata.len() == 0 {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            return Ok(Self(Contents::Read(bytes)));
        }
        // SAFETY: the map is only read. That the file does not change meanwhile is a documented
        // requirement of this type, as for every reader of mapped files.
        unsafe { Mmap::map(&file) }.map(|map| Self(Contents::Mapped(map)))
    }
}

/// Bytes that were read elsewhere, for instance from standard input.
impl From<Vec<u8>> for MappedFile {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Contents::Read(bytes))
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            Contents::Mapped(map) => map,
            Contents::Read(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_mapped_is_named() {
        let error = MappedFile::open(Path::new("no/such/file")).unwrap_err();
        assert_eq!(error.code, ErrorCode::NotFound);
        assert!(
            error.message.starts_with("failed to open file no/such/file for reading"),
            "{}",
            error.message
        );
        assert_eq!(MappedFile::open(Path::new(".")).unwrap_err().code, ErrorCode::Io);
    }

    #[test]
    fn a_file_is_read_in_place() {
        let file = MappedFile::open(Path::new("Cargo.toml")).unwrap();
        assert!(file.as_ref().starts_with(b"[package]"));
    }
}
