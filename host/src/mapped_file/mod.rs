//! [`MappedFile`]: a file that is read in place.

#![expect(unsafe_code, reason = "the operating system maps files without promising that nobody changes them")]

mod truncation;

use std::{
    fs::File,
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use memmap2::Mmap;
#[cfg(unix)]
use memmap2::UncheckedAdvice;
use parking_lot::Mutex;

use self::truncation::Watched;
use crate::diagnostic::{Diagnostic, ErrorCode};

/// The bytes of a file, mapped read-only. Opening copies nothing, and only the parts that are
/// accessed are read. A file that cannot be mapped, such as a pipe, is read to its end.
///
/// If another program changes the file meanwhile, the bytes change too. If it truncates the file,
/// the lost bytes read as zeros, and [`MappedFile::check`] and [`check_mapped_files`] return an
/// error, whether or not the lost bytes were read. The first mapping of the process installs a
/// handler of SIGBUS, which passes every other fault on.
#[derive(Debug)]
pub struct MappedFile(Contents);

#[derive(Debug)]
enum Contents {
    Mapped(Arc<Mapping>),
    Read(Vec<u8>),
}

/// A mapping in use. The order of the fields matters: what is unmapped must not be watched any
/// more.
#[derive(Debug)]
struct Mapping {
    watched: Watched,
    map: Mmap,
    /// The file, unless it is a temporary one without a name, which nobody can truncate.
    file: Option<File>,
    path: PathBuf,
}

impl Mapping {
    /// Returns whether the file is shorter than its map, or was when its end was read.
    fn is_truncated(&self) -> bool {
        let is_short = |file: &File| file.metadata().is_ok_and(|now| now.len() < self.map.len() as u64);
        self.watched.is_truncated() || self.file.as_ref().is_some_and(is_short)
    }

    fn check(&self) -> Result<(), Diagnostic> {
        if !self.is_truncated() {
            return Ok(());
        }
        let message = format!("file {} became shorter while it was read", self.path.display());
        Err(Diagnostic::new(ErrorCode::Io, message))
    }
}

/// The mappings of the process.
static MAPPINGS: Mutex<Vec<Weak<Mapping>>> = Mutex::new(Vec::new());

/// The number of mappings in use whose files have names, so that others can truncate them.
static NAMED: AtomicUsize = AtomicUsize::new(0);

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.file.is_some() {
            NAMED.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// Checks that no file that the process has mapped, and still uses, has become shorter. If one has,
/// results may have been computed from zeros. The check costs one system call per mapped file.
///
/// # Errors
/// [`ErrorCode::Io`], with the name of the file.
pub fn check_mapped_files() -> Result<(), Diagnostic> {
    if NAMED.load(Ordering::Acquire) == 0 {
        return Ok(());
    }
    let mappings: Vec<_> = MAPPINGS.lock().iter().filter_map(Weak::upgrade).collect();
    mappings.iter().try_for_each(|mapping| mapping.check())
}

/// The mapping that these bytes are part of.
fn mapping_of(bytes: &[u8]) -> Option<Arc<Mapping>> {
    let range = bytes.as_ptr_range();
    let holds = |mapping: &Arc<Mapping>| {
        let whole = mapping.map.as_ptr_range();
        whole.start <= range.start && range.end <= whole.end
    };
    MAPPINGS.lock().iter().filter_map(Weak::upgrade).find(holds)
}

/// Returns whether these bytes are part of a mapped file.
pub fn is_in_mapped_file(bytes: &[u8]) -> bool {
    mapping_of(bytes).is_some()
}

/// Gives the memory of these bytes back to the system, if they are part of a mapped file: what was
/// computed from them takes their place. They can still be read, and are then read from the file
/// again. Bytes elsewhere stay as they are.
pub fn release_mapped_pages(bytes: &[u8]) {
    #[cfg(unix)]
    {
        let range = bytes.as_ptr_range();
        let Some(mapping) = mapping_of(bytes) else { return };
        // Only whole pages: what lies beside the bytes may be in use.
        let start = (range.start.addr() - mapping.map.as_ptr().addr()).next_multiple_of(MAX_PAGE_BYTES);
        let end = (range.end.addr() - mapping.map.as_ptr().addr()) / MAX_PAGE_BYTES * MAX_PAGE_BYTES;
        if start < end {
            // SAFETY: the pages are a read-only map of a file, which is never written through. So
            // the next access reads the same bytes from the file, and nothing is lost. Where the
            // file was truncated, zeros were mapped, and zeros are read again.
            let advised =
                unsafe { mapping.map.unchecked_advise_range(UncheckedAdvice::DontNeed, start, end - start) };
            // It is advice: if the system does not take it, the pages just stay.
            drop(advised);
        }
    }
    #[cfg(not(unix))]
    let _ = bytes;
}

/// The greatest size of a page of memory on the systems that files are mapped on.
#[cfg(unix)]
const MAX_PAGE_BYTES: usize = 64 * 1024;

/// The most bytes that are read from a pipe or a device, which may never end.
const MAX_STREAM_BYTES: u64 = 4 << 30;

impl MappedFile {
    /// Maps the file at `path`. A pipe or a device is read into memory, 4 GiB at most.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] or [`ErrorCode::Io`], with the name of the file;
    /// [`ErrorCode::ResourceExhausted`] if a pipe or a device has more bytes than that.
    pub fn open(path: &Path) -> Result<Self, Diagnostic> {
        Self::open_at_most(path, u64::MAX)
    }

    /// As [`MappedFile::open`], if the file has at most `max_bytes` bytes.
    ///
    /// # Errors
    /// Those of [`MappedFile::open`], and [`ErrorCode::ResourceExhausted`] if the file is larger.
    pub fn open_at_most(path: &Path, max_bytes: u64) -> Result<Self, Diagnostic> {
        Self::map(path, max_bytes).map_err(|error| {
            let code = match error.kind() {
                ErrorKind::NotFound => ErrorCode::NotFound,
                ErrorKind::FileTooLarge => ErrorCode::ResourceExhausted,
                _ => ErrorCode::Io,
            };
            Diagnostic::new(code, format!("failed to open file {} for reading: {error}", path.display()))
        })
    }

    fn map(path: &Path, max_bytes: u64) -> io::Result<Self> {
        let too_large = |max_bytes: u64| {
            io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {max_bytes} bytes"))
        };
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        // An empty file has nothing to map.
        if !metadata.is_file() || metadata.len() == 0 {
            let max_bytes = max_bytes.min(MAX_STREAM_BYTES);
            let mut bytes = Vec::new();
            file.take(max_bytes + 1).read_to_end(&mut bytes)?;
            if bytes.len() as u64 > max_bytes {
                return Err(too_large(max_bytes));
            }
            return Ok(Self(Contents::Read(bytes)));
        }
        if metadata.len() > max_bytes {
            return Err(too_large(max_bytes));
        }
        let map = Self::map_all(&file)?;
        Ok(Self::watch(map, Some(file), path.to_owned()))
    }

    /// Writes bytes to a temporary file without a name, and maps that.
    ///
    /// # Errors
    /// Those of the system, such as a full disk; `bytes` must not be empty.
    pub fn temporary(bytes: &[u8]) -> io::Result<Self> {
        let mut file = tempfile::tempfile()?;
        file.write_all(bytes)?;
        let map = Self::map_all(&file)?;
        Ok(Self::watch(map, None, "a temporary file".into()))
    }

    fn map_all(file: &File) -> io::Result<Mmap> {
        // SAFETY: the map is only read, so it is valid as long as nobody changes the file. A temporary
        // file has no name, and `temporary` closes its only handle. A file with a name must not be
        // changed while it is mapped: this type documents that requirement, and any reader of mapped
        // files has it.
        unsafe { Mmap::map(file) }
    }

    /// Adds a map to those that are checked.
    fn watch(map: Mmap, file: Option<File>, path: PathBuf) -> Self {
        if file.is_some() {
            NAMED.fetch_add(1, Ordering::AcqRel);
        }
        let mapping = Arc::new(Mapping { watched: Watched::new(&map), map, file, path });
        let mut all = MAPPINGS.lock();
        all.retain(|known| known.strong_count() > 0);
        all.push(Arc::downgrade(&mapping));
        Self(Contents::Mapped(mapping))
    }

    /// Checks that the file has not become shorter than it was when it was mapped. Code that copies
    /// or decodes a file calls this afterwards.
    ///
    /// # Errors
    /// [`ErrorCode::Io`], with the name of the file.
    pub fn check(&self) -> Result<(), Diagnostic> {
        match &self.0 {
            Contents::Mapped(mapping) => mapping.check(),
            Contents::Read(_) => Ok(()),
        }
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
            Contents::Mapped(mapping) => &mapping.map,
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
    fn larger_files_than_allowed_are_refused() {
        let path = Path::new("Cargo.toml");
        let size = std::fs::metadata(path).unwrap().len();
        assert!(MappedFile::open_at_most(path, size).is_ok());
        let error = MappedFile::open_at_most(path, size - 1).unwrap_err();
        assert_eq!(error.code, ErrorCode::ResourceExhausted);
        let ending = format!("Cargo.toml for reading: it has more than {} bytes", size - 1);
        assert!(error.message.ends_with(&ending), "{}", error.message);
        // A device that never ends.
        let error = MappedFile::open_at_most(Path::new("/dev/zero"), 1000).unwrap_err();
        assert_eq!(error.code, ErrorCode::ResourceExhausted);
    }

    #[test]
    fn a_file_is_read_in_place() {
        let file = MappedFile::open(Path::new("Cargo.toml")).unwrap();
        assert!(file.as_ref().starts_with(b"[package]"));
    }

    #[test]
    fn temporary_files_are_mapped() {
        let contents: Vec<u8> = (0..1_000_000u32).map(|i| (i % 251) as u8).collect();
        let file = MappedFile::temporary(&contents).unwrap();
        assert!(is_in_mapped_file(&file.as_ref()[5..]) && !is_in_mapped_file(&contents));
        release_mapped_pages(file.as_ref());
        assert!(file.as_ref() == contents);
    }

    #[test]
    fn released_bytes_are_read_again() {
        let path = std::env::temp_dir().join(format!("tfrt-released-{}", std::process::id()));
        let contents: Vec<u8> = (0..1_000_000u32).map(|i| (i % 251) as u8).collect();
        std::fs::write(&path, &contents).unwrap();
        let file = MappedFile::open(&path).unwrap();
        assert!(file.as_ref() == contents);
        release_mapped_pages(&file.as_ref()[1000..900_001]);
        release_mapped_pages(&file.as_ref()[5..5]);
        release_mapped_pages(&contents);
        assert!(file.as_ref() == contents);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_truncated_file_reads_as_zeros_and_is_an_error() {
        let path = std::env::temp_dir().join(format!("tfrt-truncated-{}", std::process::id()));
        std::fs::write(&path, vec![7; 100_000]).unwrap();
        let (file, other) = (MappedFile::open(&path).unwrap(), MappedFile::open(&path).unwrap());
        let whole = MappedFile::open(Path::new("Cargo.toml")).unwrap();
        assert_eq!(file.as_ref()[99_999], 7);
        File::options().write(true).open(&path).unwrap().set_len(10_000).unwrap();
        assert_eq!(file.as_ref()[9_999], 7);
        // Nothing behind the new end has been read.
        assert!(file.check().is_err() && check_mapped_files().is_err());
        assert!(file.as_ref()[20_000..].iter().all(|&byte| byte == 0));
        // Zeros stay zeros if the file grows again.
        File::options().write(true).open(&path).unwrap().set_len(100_000).unwrap();
        let message = file.check().unwrap_err().message;
        assert!(message.ends_with("became shorter while it was read"), "{message}");
        assert!(check_mapped_files().is_err());
        // The other map has lost nothing that it has read.
        assert!(other.check().is_ok() && whole.check().is_ok());
        drop((file, other));
        assert!(check_mapped_files().is_ok());
        std::fs::remove_file(&path).unwrap();
    }
}
