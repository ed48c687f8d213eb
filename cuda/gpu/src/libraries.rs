//! Finding and loading the libraries beyond the driver.
//!
//! A library is searched for at its first use: in the folders of `TFRT_CUDA_LIBRARY_PATH` (which
//! may name Python's `site-packages`, whose `nvidia` packages are searched), in the toolkit
//! (`CUDA_HOME`, `CUDA_PATH`, `/usr/local/cuda`), and in the system's places. All functions are
//! resolved when the library is loaded, so a library that lacks one fails at once. Statuses are
//! read as numbers: one that the bindings do not know must not become a Rust enum.

#![expect(unsafe_code, reason = "libraries are loaded and their functions called by pointer")]

use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use tfrt_device::error::{DeviceError, Result, Status};

/// The environment variable with folders to search first.
pub(super) const PATH_VARIABLE: &str = "TFRT_CUDA_LIBRARY_PATH";

/// The names of a library to search for.
#[derive(Debug)]
pub(super) struct LibrarySpec {
    /// The name for error messages.
    pub(super) name: &'static str,
    /// File names, in order of preference.
    pub(super) files: &'static [&'static str],
    /// Libraries that this one loads by name at run time. If they are loaded first, they are found
    /// in any folder. If there is no file with exactly this name, it stands for all names that add
    /// a number: `libnvrtc-builtins.so.13` also matches `libnvrtc-builtins.so.13.0`.
    pub(super) companions: &'static [&'static str],
    /// The status if the library is missing.
    pub(super) missing: Status,
}

/// A loaded library. It is never unloaded, because such libraries start threads and register
/// handlers.
#[derive(Debug)]
pub(super) struct Loaded {
    library: Library,
    name: &'static str,
    path: PathBuf,
    missing: Status,
}

impl Loaded {
    /// Searches for the library and loads it.
    ///
    /// # Errors
    /// The error names every file and every folder that was tried.
    pub(super) fn open(spec: &LibrarySpec) -> Result<Self> {
        let folders = folders();
        for companion in spec.companions {
            // The library may work without its companion. If not, it reports that itself.
            for (library, _) in find_companion(companion, &folders) {
                std::mem::forget(library);
            }
        }
        let mut failures = Vec::new();
        let (library, path) = find(spec.files, &folders, &mut failures)
            .ok_or_else(|| DeviceError::new(spec.missing, absence(spec, &folders, &failures)))?;
        Ok(Self { library, name: spec.name, path, missing: spec.missing })
    }

    /// Returns the function with this name.
    ///
    /// # Safety
    /// `F` is a pointer to a function with the signature that the library's header declares.
    pub(super) unsafe fn function<F: Copy>(&self, name: &'static str) -> Result<F> {
        // SAFETY: the caller vouches for the type, and the library stays loaded.
        match unsafe { self.library.get::<F>(name.as_bytes()) } {
            Ok(function) => Ok(*function),
            Err(_) => Err(DeviceError::new(
                self.missing,
                format!("{} at {} has no function '{name}'", self.name, self.path.display()),
            )),
        }
    }
}

/// Returns the folders to search, in order. The system's places are tried after them.
fn folders() -> Vec<PathBuf> {
    let own = std::env::var_os(PATH_VARIABLE);
    let given = own.iter().flat_map(std::env::split_paths).flat_map(|folder| inside(&folder));
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let toolkits = toolkits.chain([PathBuf::from("/usr/local/cuda")]);
    let toolkits = toolkits.flat_map(|toolkit| [toolkit.join("lib64"), toolkit.join("lib")]);
    let mut folders = Vec::new();
    for folder in given.chain(toolkits).filter(|folder| folder.is_dir()) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

/// Returns the folder, its library folders, and those of the NVIDIA packages if it is a Python
/// `site-packages`.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_path_buf(), folder.join("lib"), folder.join("lib64")];
    let mut packages: Vec<_> = std::fs::read_dir(folder.join("nvidia"))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("lib")))
        .collect();
    packages.sort();
    all.append(&mut packages);
    all
}

/// Returns the files in the folder whose names add numbers to this one, in order.
fn numbered(name: &str, folder: &Path) -> Vec<PathBuf> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let adds_numbers = |file: &String| {
        let rest = file.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
        rest.is_some_and(|rest| rest.split('.').all(is_number))
    };
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> =
        files.filter_map(|file| file.file_name().into_string().ok()).filter(adds_numbers).collect();
    names.sort();
    names.iter().map(|name| folder.join(name)).collect()
}

/// Loads a companion from the first folder that has it. A file with exactly this name is preferred
/// where several versions are installed. Otherwise all files that add a number are loaded, because
/// the library may need any of them.
fn find_companion(name: &str, folders: &[PathBuf]) -> Vec<(Library, PathBuf)> {
    let load = |path: PathBuf| Some((open(&path).ok()?, path));
    for folder in folders {
        if let Some(exact) = load(folder.join(name)) {
            return vec![exact];
        }
        let found: Vec<_> = numbered(name, folder).into_iter().filter_map(load).collect();
        if !found.is_empty() {
            return found;
        }
    }
    load(PathBuf::from(name)).into_iter().collect()
}

/// Loads the first of `files` that can be loaded. Adds the reasons for existing files that cannot
/// be loaded to `failures`.
fn find(files: &[&str], folders: &[PathBuf], failures: &mut Vec<String>) -> Option<(Library, PathBuf)> {
    let in_folders = folders.iter().flat_map(|folder| files.iter().map(|file| folder.join(file)));
    for path in in_folders.filter(|path| path.exists()) {
        match open(&path) {
            Ok(library) => return Some((library, path)),
            Err(error) => failures.push(error),
        }
    }
    files.iter().map(PathBuf::from).find_map(|file| Some((open(&file).ok()?, file)))
}

/// Returns the loader's reason for a failure.
pub(super) fn cause(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

fn open(path: &Path) -> Result<Library, String> {
    // SAFETY: the libraries are NVIDIA's, whose initializers may run on any thread.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| {
        let cause = cause(&error);
        // If the loader gives a reason, its text begins with the path.
        if cause.contains(':') { cause } else { format!("{}: {cause}", path.display()) }
    })
}

/// The environment variable that requires tests to find the libraries.
#[cfg(test)]
pub(super) const REQUIRED_VARIABLE: &str = "TFRT_TEST_CUDA_LIBRARIES";

/// Returns whether a library is present, for tests. Otherwise the error says what was searched for,
/// and the test fails if the libraries are required (`ci/gpu/libraries`).
#[cfg(test)]
pub(super) fn is_installed<T>(found: &Result<T>, spec: &LibrarySpec) -> bool {
    let Err(error) = found else { return true };
    assert!(std::env::var_os(REQUIRED_VARIABLE).is_none(), "{error}");
    assert_eq!(error.status, spec.missing, "{error}");
    let looked_for = format!("{} is needed and was not found: looked for {}", spec.name, spec.files[0]);
    assert!(error.detail.contains(&looked_for), "{error}");
    false
}

fn absence(spec: &LibrarySpec, folders: &[PathBuf], failures: &[String]) -> String {
    let files = spec.files.join(" or ");
    let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let mut text = format!("{} is needed and was not found: looked for {files} ", spec.name);
    if !folders.is_empty() {
        text.push_str(&format!("in {} and ", folders.join(", ")));
    }
    text.push_str(&format!("where the system looks; {PATH_VARIABLE} can name more folders"));
    for failure in failures {
        text.push_str(&format!("; {failure}"));
    }
    text
}

/// Declares a library with its functions and file names. `get` loads it once and keeps the result.
macro_rules! library {
    // Functions return a status unless something else is declared.
    (@result) => { std::ffi::c_int };
    (@result $type:ty) => { $type };
    (
        $(#[$doc:meta])*
        $name:ident, $spec:expr;
        $(fn $function:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*
    ) => {
        $(#[$doc])*
        #[expect(non_snake_case, reason = "the functions' own names")]
        pub(super) struct $name {
            $($function:
                unsafe extern "C" fn($($argument: $type),*) -> library!(@result $($result)?),)*
            _library: $crate::libraries::Loaded,
        }

        impl $name {
            /// Returns the library, loaded at the first call.
            pub(super) fn get() -> tfrt_device::error::Result<&'static Self> {
                static LIBRARY: std::sync::OnceLock<tfrt_device::error::Result<$name>> = std::sync::OnceLock::new();
                LIBRARY.get_or_init(Self::load).as_ref().map_err(Clone::clone)
            }

            fn load() -> tfrt_device::error::Result<Self> {
                let library = $crate::libraries::Loaded::open(&$spec)?;
                Ok(Self {
                    // SAFETY: the signatures above are those of the library's header.
                    $($function: unsafe { library.function(stringify!($function))? },)*
                    _library: library,
                })
            }
        }
    };
}
pub(super) use library;

#[cfg(test)]
mod tests {
    use super::*;

    const NOWHERE: LibrarySpec = LibrarySpec {
        name: "cuNothing",
        files: &["libcunothing.so.13", "libcunothing.so"],
        companions: &["libcunothingelse.so"],
        missing: Status::BlasNotInitialized,
    };

    #[test]
    fn absence_names_what_was_looked_for() {
        let error = Loaded::open(&NOWHERE).unwrap_err();
        assert_eq!(error.status, Status::BlasNotInitialized);
        for part in ["cuNothing", "libcunothing.so.13", "libcunothing.so", PATH_VARIABLE] {
            assert!(error.detail.contains(part), "{error}");
        }
    }

    #[test]
    fn site_packages_are_looked_through() {
        let folder = tempfile::tempdir().unwrap();
        let lib = folder.path().join("nvidia/cu13/lib");
        std::fs::create_dir_all(&lib).unwrap();
        assert!(inside(folder.path()).contains(&lib));
    }

    /// Returns the path of a library that can be loaded on every system: the C library.
    fn some_library() -> Option<PathBuf> {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let own =
            maps.lines().find_map(|line| line.split_once('/').filter(|(_, path)| path.contains("libc.so")));
        own.map(|(_, path)| Path::new("/").join(path))
    }

    /// Uses the layouts of the packages of CUDA 12 and 13.
    #[test]
    fn libraries_of_packages_are_loaded_from_where_they_lie() {
        let Some(library) = some_library() else { return };
        for (folder, file) in [
            ("nvidia/nccl/lib", "libnccl.so.2"),
            ("nvidia/cu13/lib", "libcublas.so.13"),
            ("nvidia/cudnn/lib", "libcudnn.so.9"),
            ("lib64", "libnvrtc.so.13"),
        ] {
            let root = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
            let path = root.path().join(folder).join(file);
            std::os::unix::fs::symlink(&library, &path).unwrap();
            let (_, found) = find(&[file], &inside(root.path()), &mut Vec::new()).unwrap();
            assert_eq!(found, path);
        }
    }

    /// Where NVIDIA's packages are installed, each library is found in them by its preferred name.
    #[test]
    fn packages_have_the_libraries_by_their_first_names() {
        if std::env::var_os(REQUIRED_VARIABLE).is_none() {
            return;
        }
        let given = std::env::var_os(PATH_VARIABLE).unwrap();
        for file in
            ["libcublas.so.13", "libcublasLt.so.13", "libcudnn.so.9", "libnccl.so.2", "libnvrtc.so.13"]
        {
            let (_, path) = find(&[file], &folders(), &mut Vec::new()).unwrap();
            assert!(path.starts_with(&given) && path.ends_with(file), "{}", path.display());
        }
        let builtins = "libnvrtc-builtins.so.13";
        assert!(folders().iter().any(|folder| !numbered(builtins, folder).is_empty()));
    }

    #[test]
    fn companions_have_numbers_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let others =
            ["libx.so.13", "libx.so.13.", "libx.so.13..1", "libx.so.13.old", "libx.so.130", "liby.so.13.2"];
        let numbered_names = ["libx.so.13.1.4", "libx.so.13.2"];
        for name in numbered_names.iter().rev().chain(&others) {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(
            numbered("libx.so.13", folder.path()),
            numbered_names.map(|name| folder.path().join(name))
        );
    }

    /// An upgrade may leave the files of the previous version beside the link to the new one.
    #[test]
    fn a_companion_of_just_the_name_comes_before_numbered_ones() {
        let Some(library) = some_library() else { return };
        let found = |files: &[&str]| {
            let folder = tempfile::tempdir().unwrap();
            for file in files {
                std::os::unix::fs::symlink(&library, folder.path().join(file)).unwrap();
            }
            let companions = find_companion("libx.so.13", &[folder.path().to_path_buf()]);
            let names =
                companions.iter().map(|(_, path)| path.file_name().unwrap().to_str().unwrap().to_owned());
            names.collect::<Vec<_>>()
        };
        let numbered = ["libx.so.13.0.0.19", "libx.so.13.1.0.3"];
        assert_eq!(found(&[numbered[0], numbered[1], "libx.so.13"]), ["libx.so.13"]);
        assert_eq!(found(&numbered), numbered);
    }

    #[test]
    fn a_file_that_is_no_library_is_told_of() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("libcunothing.so"), "no library").unwrap();
        let folders = [folder.path().to_path_buf()];
        let mut failures = Vec::new();
        assert!(find(NOWHERE.files, &folders, &mut failures).is_none());
        assert!(absence(&NOWHERE, &folders, &failures).contains("libcunothing.so:"), "{failures:?}");
    }

    #[test]
    fn a_missing_function_is_an_error() {
        let spec = LibrarySpec { name: "the C library", files: &["libc.so.6"], ..NOWHERE };
        let library = Loaded::open(&spec).unwrap();
        // SAFETY: the function does not exist, so no function is called with a wrong type.
        let error = unsafe { library.function::<unsafe extern "C" fn()>("cublasNothing") }.unwrap_err();
        assert!(error.detail.contains("'cublasNothing'"), "{error}");
    }
}
