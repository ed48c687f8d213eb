//! The weight file beside a compiled program, and the checksums that tie the two.
//!
//! The file holds three checksums: of the program, of the weights' names and types, and of their
//! elements. The first two are checked whenever the program is opened. The elements are read for
//! that only if they are few or the user asks, because a large file is mapped and its pages are
//! read when they are needed.

use std::path::Path;

use tfrt_host::{Diagnostic, ErrorCode};
use tfrt_tensor::{
    Accessor, DenseHostTensor, SharedAllocator,
    files::safetensors::{self, SafeTensorsFile},
};

static ACCESS: Accessor = Accessor::new("weights of a compiled model");

/// The text of a weight file that is the checksum of its program.
const PROGRAM: &str = "tfrt.program";
/// The text of a weight file that is the checksum of the weights' names and types.
const NAMES: &str = "tfrt.names";
/// The text of a weight file that is the checksum of the weights' elements.
const ELEMENTS: &str = "tfrt.elements";

/// Weights of at most this many bytes are always checked.
const MAX_CHECKED_BYTES: usize = 16 << 20;

/// The checksums of weights: of names and types, and of elements.
#[derive(Clone, Default)]
struct Checksums {
    names: crc32fast::Hasher,
    elements: crc32fast::Hasher,
    size_bytes: usize,
}

impl Checksums {
    /// Adds a weight, without its elements.
    fn add(&mut self, name: &str, tensor: &DenseHostTensor) {
        self.names.update(format!("{name}\0{}\0", tensor.metadata()).as_bytes());
        self.size_bytes += tensor.size_bytes();
    }

    fn add_elements(&mut self, tensor: &DenseHostTensor) -> Result<(), Diagnostic> {
        self.elements.update(&tensor.read_bytes(&ACCESS)?);
        Ok(())
    }
}

fn text(hasher: crc32fast::Hasher) -> String {
    hasher.finalize().to_string()
}

/// Writes the weight file of a program.
///
/// # Errors
/// InvalidArgument for a weight that the file cannot hold; Io.
pub(super) fn write(
    file: &Path,
    weights: &[(&str, &DenseHostTensor)],
    program_bytes: &[u8],
) -> Result<(), Diagnostic> {
    let mut weights = weights.to_vec();
    weights.sort_unstable_by_key(|(name, _)| *name);
    let mut checksums = Checksums::default();
    for (name, tensor) in &weights {
        checksums.add(name, tensor);
        checksums.add_elements(tensor)?;
    }
    let texts = [
        (PROGRAM, crc32fast::hash(program_bytes).to_string()),
        (NAMES, text(checksums.names)),
        (ELEMENTS, text(checksums.elements)),
    ];
    let texts: Vec<_> = texts.iter().map(|(key, text)| (*key, text.as_str())).collect();
    safetensors::write_with(file, &weights, &texts, &ACCESS)
}

/// Opens the weight file of a program and checks that the two belong together. `verify_all` checks
/// the elements, however many they are.
///
/// # Errors
/// FailedPrecondition if the weights belong to another program or have changed.
pub(super) fn open(
    file: &Path,
    program: &Path,
    program_bytes: &[u8],
    verify_all: bool,
    allocator: &SharedAllocator,
) -> Result<SafeTensorsFile, Diagnostic> {
    let opened = SafeTensorsFile::open(file)?;
    let refused = |why: &str| {
        let message =
            format!("'{}' does not hold the weights of '{}': {why}", file.display(), program.display());
        Diagnostic::new(ErrorCode::FailedPrecondition, message)
    };
    if opened.text(PROGRAM) != Some(crc32fast::hash(program_bytes).to_string().as_str()) {
        return Err(refused("they were written for another program"));
    }
    let tensors = opened.names().map(|name| Ok((name, opened.tensor(name, allocator)?)));
    let tensors = tensors.collect::<Result<Vec<_>, Diagnostic>>()?;
    let mut checksums = Checksums::default();
    for (name, tensor) in &tensors {
        checksums.add(name, tensor);
    }
    if opened.text(NAMES) != Some(text(checksums.names.clone()).as_str()) {
        return Err(refused("their names or types have changed"));
    }
    if verify_all || checksums.size_bytes <= MAX_CHECKED_BYTES {
        for (_, tensor) in &tensors {
            checksums.add_elements(tensor)?;
        }
        if opened.text(ELEMENTS) != Some(text(checksums.elements).as_str()) {
            return Err(refused("their elements have changed"));
        }
    }
    drop(tensors);
    Ok(opened)
}
