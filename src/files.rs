//! Files of programs and of outputs.
//!
//! An output file is either written as a whole or not changed: a tool that fails or is killed while
//! it writes leaves no half of one behind.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

use tfrt_bef::MAGIC;
use tfrt_host::{Diagnostic, ErrorCode};

/// The most bytes of a BEF file. Larger constants lie in files of their own.
const MAX_BEF_BYTES: u64 = 4 << 30;
/// The most bytes of a text that are read: more than the parser takes, so that it reports the
/// error.
const MAX_TEXT_BYTES: u64 = 513 << 20;

/// Reads a program into memory. A verified program must not change, so that it is not mapped.
///
/// # Errors
/// [`ErrorCode::NotFound`] or [`ErrorCode::Io`], with the name of the file.
pub(crate) fn read_program(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    File::open(path).and_then(read_all).map_err(|error| {
        if error.kind() == io::ErrorKind::IsADirectory {
            let message = format!("'{}' is a folder without a SavedModel", path.display());
            return Diagnostic::new(ErrorCode::Io, message);
        }
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        let code = if is_missing { ErrorCode::NotFound } else { ErrorCode::Io };
        Diagnostic::new(code, format!("failed to open file {} for reading: {error}", path.display()))
    })
}

/// Reads a program to its end, which a device or a pipe may never reach.
pub(crate) fn read_all(source: impl Read) -> io::Result<Vec<u8>> {
    read_at_most(source, MAX_TEXT_BYTES, MAX_BEF_BYTES)
}

fn read_at_most(mut source: impl Read, max_text: u64, max_bef: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.by_ref().take(MAGIC.len() as u64).read_to_end(&mut bytes)?;
    if bytes != MAGIC {
        source.take(max_text).read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    source.take(max_bef).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bef {
        let message = format!("a BEF file has at most {max_bef} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Calls `write` with the path of a temporary file beside `path`, and renames that file to `path`
/// if it succeeds. The file keeps its permissions, or has those of a new one. Devices and pipes such as `/dev/stdout` are written directly, and links are
/// followed.
///
/// # Errors
/// The errors of `write` and of renaming. The temporary file is removed then.
pub(crate) fn replace_file<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return write(path);
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let temporary = temporary_name(&target);
    // Some writers make files that only the user can read.
    let permissions = fs::metadata(&target).or_else(|_| File::create(&temporary)?.metadata())?.permissions();
    let written = write(&temporary).and_then(|()| {
        fs::set_permissions(&temporary, permissions)?;
        Ok(fs::rename(&temporary, &target)?)
    });
    if written.is_err() {
        // The error of the write is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Returns a name in the same folder that no other call and no other process uses. It keeps the
/// extension, from which writers choose a format.
fn temporary_name(target: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = std::ffi::OsString::from(format!(".tfrt-{}-{count}-", process::id()));
    name.push(target.file_name().unwrap_or_default());
    target.with_file_name(name)
}

/// Checks that a file at `path` can be created as far as that is known without creating it: its
/// folder exists, and `path` is not a folder.
///
/// # Errors
/// The system's error for the folder, or [`io::ErrorKind::IsADirectory`].
#[cfg(feature = "full")]
pub(crate) fn check_output_path(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => match fs::metadata(folder)?.is_dir() {
            true => Ok(()),
            false => Err(io::ErrorKind::NotADirectory.into()),
        },
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_without_an_end_are_not_read_forever() {
        for whole in [&b"func"[..], b"\x0b", b"", b"\x0b\xef\0\x01"] {
            assert_eq!(read_all(whole).unwrap(), whole);
        }
        assert_eq!(read_at_most(io::repeat(b' '), 100, 10).unwrap(), [b' '; 102]);
        let endless_bef = (&MAGIC[..]).chain(io::repeat(0));
        let error = read_at_most(endless_bef, 100, 10).unwrap_err();
        assert_eq!(error.to_string(), "a BEF file has at most 10 bytes");
    }

    #[test]
    fn a_failed_write_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out.txt");
        fs::write(&file, "before").unwrap();
        let failed = replace_file(&file, |temporary| {
            fs::write(temporary, "half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_to_string(&file).unwrap(), "before");
        replace_file(&file, |temporary| fs::write(temporary, "after")).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "after");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "before").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        replace_file(&link, |temporary| fs::write(temporary, "after")).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "after");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        replace_file(Path::new("/dev/null"), |device| fs::write(device, "gone")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_the_old_file_or_of_a_new_one() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("file"), folder.path().join("other"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let private = |temporary: &Path| {
            fs::write(temporary, "private")?;
            fs::set_permissions(temporary, fs::Permissions::from_mode(0o600))
        };
        fs::write(&other, "").unwrap();
        replace_file(&file, private).unwrap();
        assert_eq!(mode(&file), mode(&other));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        replace_file(&file, private).unwrap();
        assert_eq!(mode(&file), 0o640);
    }

    #[cfg(feature = "full")]
    #[test]
    fn outputs_need_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let kind = |path: PathBuf| check_output_path(&path).map_err(|error| error.kind());
        assert_eq!(kind(folder.path().join("out.npy")), Ok(()));
        assert_eq!(kind("out.npy".into()), Ok(()));
        assert_eq!(kind(folder.path().join("missing/out.npy")), Err(io::ErrorKind::NotFound));
        assert_eq!(kind(file.join("out.npy")), Err(io::ErrorKind::NotADirectory));
        assert_eq!(kind(folder.path().into()), Err(io::ErrorKind::IsADirectory));
    }
}
