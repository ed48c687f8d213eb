//! The kernels' PTX.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::FixedState;
use memchr::memmem;

/// A module of kernels.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The name of its `.cu` file, which documents the kernels.
    pub name: &'static str,
    /// Its PTX.
    pub ptx: &'static str,
    /// The least compute capability of devices that run it, the major number times ten: 75 for most.
    pub capability: u32,
}

macro_rules! sources {
    ($($name:literal $(for $capability:literal)?),* $(,)?) => {
        /// All modules.
        pub const SOURCES: &[Source] = &[$(Source {
            name: $name,
            ptx: include_str!(concat!("../cuda/ptx/", $name, ".compute_", sources!(@ $($capability)?), ".ptx")),
            capability: sources!(@ $($capability)?),
        }),*];
    };
    (@) => { 75 };
    (@ $capability:literal) => { $capability };
}

sources!(
    "argmax",
    "attend",
    "attend_tensor" for 80,
    "attention",
    "bias_activation",
    "binary",
    "cast",
    "compare",
    "complex",
    "convolution",
    "copy",
    "diagonal",
    "fill",
    "im2col",
    "local_response",
    "move",
    "narrow",
    "normalize",
    "optimizer",
    "pooling",
    "product",
    "quantize",
    "random",
    "recurrent",
    "reduce",
    "reduce_wide",
    "resample",
    "sampling",
    "scan",
    "scatter",
    "softmax",
    "steps",
    "training",
    "transpose",
    "unary",
    "unary_f64",
    "volume",
);

/// A kernel of a module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    /// Its number among all kernels.
    pub(crate) number: usize,
    /// Its full name.
    pub(crate) name: &'static str,
    /// The module that contains it.
    pub(crate) source: &'static Source,
}

/// All kernels, by the parts of their names.
static KERNELS: LazyLock<HashMap<(&'static str, &'static str), Kernel, FixedState>> = LazyLock::new(|| {
    let all = SOURCES.iter().flat_map(|source| source.kernels().map(move |name| (name, source)));
    all.enumerate().map(|(number, (name, source))| (parts(name), Kernel { number, name, source })).collect()
});

/// Returns the number of kernels.
pub(crate) fn kernel_count() -> usize {
    KERNELS.len()
}

/// Splits a kernel's name at its last `_`: the function and usually the type.
pub(crate) fn parts(name: &str) -> (&str, &str) {
    name.rsplit_once('_').unwrap_or((name, ""))
}

/// Returns the kernel whose name has these parts.
pub(crate) fn kernel_of<'a>(parts: (&'a str, &'a str)) -> Option<Kernel> {
    let kernels: &HashMap<(&'a str, &'a str), Kernel, FixedState> = &KERNELS;
    kernels.get(&parts).copied()
}

/// Returns the full name of a kernel, and the module that has it.
pub fn source_of(kernel: &str) -> Option<(&'static str, &'static Source)> {
    kernel_of(parts(kernel)).map(|kernel| (kernel.name, kernel.source))
}

impl Source {
    /// Returns the names of its kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &'static str> + use<> {
        const ENTRY: &str = ".visible .entry ";
        let ptx: &'static str = self.ptx;
        let entries = memmem::find_iter(ptx.as_bytes(), ENTRY);
        entries.filter_map(move |place| Some(ptx[place + ENTRY.len()..].split_once('(')?.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_found_in_one_module() {
        let count: usize = SOURCES.iter().map(|source| source.kernels().count()).sum();
        assert!(count > 200, "{count}");
        for source in SOURCES {
            for kernel in source.kernels() {
                let (name, found) = source_of(kernel).unwrap();
                assert_eq!((name, found.name), (kernel, source.name));
            }
        }
        assert!(source_of("add").is_none() && source_of("add_f32").is_some());
    }

    /// A `.cu` file that is not listed above would be compiled but never found.
    #[test]
    fn every_file_is_listed() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        files.sort();
        assert_eq!(files, SOURCES.iter().map(|source| source.name).collect::<Vec<_>>());
    }
}
