//! Modules that were assembled ahead of time for one kind of GPU: no driver compiles their PTX.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::Source;

/// The environment variable with the folder of cubins; empty or absent for none. `ci/gpu/cubins`
/// makes such a folder.
const FOLDER_VARIABLE: &str = "TFRT_CUBIN_PATH";

static FOLDER: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    std::env::var_os(FOLDER_VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from)
});

/// The cubin of a module for a compute capability, if there is one of this very PTX.
pub(crate) fn cubin(source: &Source, capability: (u32, u32)) -> Option<Vec<u8>> {
    std::fs::read(path(FOLDER.as_ref()?, source, capability)).ok()
}

/// The file's name has a checksum of the PTX, so that one of another version is never taken.
fn path(folder: &Path, source: &Source, (major, minor): (u32, u32)) -> PathBuf {
    let checksum = crc32fast::hash(source.ptx.as_bytes());
    folder.join(format!("{}.{checksum:08x}.sm_{major}{minor}.cubin", source.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_module_ptx_and_device() {
        let source = Source { name: "fill", ptx: "123456789", capability: 75 };
        assert_eq!(path(Path::new("x"), &source, (9, 0)), Path::new("x/fill.cbf43926.sm_90.cubin"));
    }
}
