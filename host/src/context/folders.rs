//! Which files programs may read.

use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, ErrorCode};

/// The folders whose files programs may read by name: all of them, unless the host names some.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadableFolders(Option<Vec<PathBuf>>);

impl ReadableFolders {
    /// Files in these folders alone.
    pub(super) fn only(folders: Vec<PathBuf>) -> Self {
        Self(Some(folders))
    }

    /// Checks that a program may read a file. Links are followed first, so that none leads out of a
    /// folder.
    pub(super) fn check(&self, path: &Path) -> Result<(), Diagnostic> {
        let Some(folders) = &self.0 else { return Ok(()) };
        let refused = || {
            let message = format!("programs on this host may not read '{}'", path.display());
            Diagnostic::new(ErrorCode::FailedPrecondition, message)
        };
        // Whether a file outside of the folders exists is not said.
        let real = path.canonicalize().map_err(|_| refused())?;
        let is_in = |folder: &PathBuf| folder.canonicalize().is_ok_and(|folder| real.starts_with(folder));
        if folders.iter().any(is_in) { Ok(()) } else { Err(refused()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_outside_of_the_folders_are_refused() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folders = ReadableFolders::only(vec![here.join("src")]);
        assert!(folders.check(&here.join("src/lib.rs")).is_ok());
        for other in ["Cargo.toml", "src/../Cargo.toml", "src/no_such_file"] {
            assert!(folders.check(&here.join(other)).is_err(), "{other}");
        }
        assert!(ReadableFolders::default().check(Path::new("anything")).is_ok());
    }
}
