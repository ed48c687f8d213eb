//! Files that a model brings along, in its folder: they are read when the model is compiled.

use std::path::{Component, Path};

use tfrt_tensor::{HostTensor, StringHostTensor, TensorShape};

use super::Family;
use crate::import::tensorflow::node::{Imported, Node};

pub(super) const OPS: Family = &[("ReadFile", read_file)];

/// The most bytes of a file.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// The contents of a file, as a string.
fn read_file(node: &mut Node<'_, '_>) -> Imported {
    let bytes = read(node, 0)?;
    let contents = StringHostTensor::new(TensorShape::scalar(), vec![bytes])?;
    Ok(vec![node.builder().add_constant("", contents).into()])
}

/// Returns the bytes of the file that an input names. The name must be a constant and the file lie in
/// the model's folder or below it.
pub(super) fn read(node: &mut Node<'_, '_>, input: usize) -> Imported<Vec<u8>> {
    let name = node.input(input)?;
    match node.constant(name) {
        Some(HostTensor::String(names)) if names.strings().len() == 1 => {
            let name = names.strings()[0].to_string();
            read_inside(&node.importer.folder, Path::new(&name))
        }
        _ => Err("the name of the file is not known".into()),
    }
}

/// The bytes of a file that must be in a folder or below it.
fn read_inside(folder: &Path, file: &Path) -> Imported<Vec<u8>> {
    let shown = file.display();
    let outside = || format!("'{shown}' lies outside of the model's folder");
    let cannot = |error| format!("cannot read '{shown}': {error}");
    if file.components().any(|part| part == Component::ParentDir) {
        return Err(outside().into());
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let (real, folder) = (file.canonicalize().map_err(cannot)?, folder.canonicalize().map_err(cannot)?);
    if !real.starts_with(&folder) {
        return Err(outside().into());
    }
    if std::fs::metadata(&real).map_err(cannot)?.len() > MAX_FILE_BYTES {
        return Err(format!("'{shown}' has more than {MAX_FILE_BYTES} bytes").into());
    }
    Ok(std::fs::read(&real).map_err(cannot)?)
}
