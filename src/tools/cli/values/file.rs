//! Tensors in files: reads and writes them.

use std::{io, path::Path};

use tfrt_host::{AsyncValue, Diagnostic, ErrorCode, MappedFile, Value};
use tfrt_models::image::{CHANNELS, Image};
use tfrt_tensor::{
    DenseHostTensor, HostTensor,
    files::{btf::BtfFile, npy, read_file, safetensors::SafeTensorsFile},
};

use super::{Allocator, ME, wrong};
use crate::{
    files::{check_output_path, replace_file},
    tools::cli::{Failure, file_error, program::enumerate_names},
};

/// A tensor in a file: `file.npy`, `file.btf#INDEX`, `file.safetensors#NAME`, or an image, whose
/// pixels are `ui8` of height × width × 3.
pub(super) enum TensorFile<'t> {
    Npy(&'t str),
    Btf(&'t str, usize),
    SafeTensors(&'t str, Option<&'t str>),
    Image(&'t str),
}

impl<'t> TensorFile<'t> {
    pub(super) fn parse(text: &'t str) -> Result<Self, Failure> {
        // The name of any file may contain '#'.
        let (file, part) = match text.split_once('#') {
            Some((file, part)) if is_tensor_file(file) => (file, Some(part)),
            _ => (text, None),
        };
        let whole = |found: Self| match part {
            None => Ok(found),
            Some(part) => Err(Failure::Usage(format!("'{file}' holds one tensor, so '#{part}' names none"))),
        };
        match &*extension(file) {
            "npy" => whole(Self::Npy(file)),
            "jpg" | "jpeg" | "png" => whole(Self::Image(file)),
            "btf" => match part.map_or(Ok(0), str::parse) {
                Ok(index) => Ok(Self::Btf(file, index)),
                Err(_) => Err(Failure::Usage(format!("'{}' is not an index", part.unwrap_or_default()))),
            },
            "safetensors" => Ok(Self::SafeTensors(file, part)),
            _ => Err(Failure::Usage(format!("'{file}' is neither .npy, .btf, .safetensors, .jpg nor .png"))),
        }
    }

    /// Reads the tensor into memory that the program may change, from a file of at most `max_bytes`
    /// bytes.
    pub(super) fn read(&self, max_bytes: u64, allocator: &Allocator) -> Result<HostTensor, Diagnostic> {
        self.read_whole(max_bytes, allocator).map_err(|mut error| {
            if error.code == ErrorCode::ResourceExhausted {
                error.message.push_str("; raise --max-input-bytes to read it");
            }
            error
        })
    }

    fn read_whole(&self, max_bytes: u64, allocator: &Allocator) -> Result<HostTensor, Diagnostic> {
        match *self {
            Self::Npy(file) => npy::read_file(file, max_bytes, allocator),
            Self::Btf(file, index) => {
                let bytes = read_file(file, max_bytes, allocator)?;
                let file_bytes = bytes.len();
                let tensor = BtfFile::from_buffer(file, bytes)?.tensor(index)?;
                without_rest(tensor, file_bytes, allocator)
            }
            Self::SafeTensors(file, part) => {
                let bytes = read_file(file, max_bytes, allocator)?;
                let file_bytes = bytes.len();
                let opened = SafeTensorsFile::from_buffer(file, bytes)?;
                let name = match part {
                    Some(name) => name.to_owned(),
                    None => only_name(&opened)?,
                };
                without_rest(opened.tensor(&name, allocator)?.into(), file_bytes, allocator)
            }
            Self::Image(file) => image_file(file, max_bytes.min(MAX_IMAGE_BYTES), allocator),
        }
    }
}

/// Copies a tensor that is a small part of its file, so that the rest of the file leaves memory.
fn without_rest(
    tensor: HostTensor,
    file_bytes: usize,
    allocator: &Allocator,
) -> Result<HostTensor, Diagnostic> {
    match &tensor {
        HostTensor::Dense(dense) if dense.size_bytes() < file_bytes / 2 => {
            Ok(dense.deep_copy(&ME, allocator)?.into())
        }
        _ => Ok(tensor),
    }
}

fn is_tensor_file(file: &str) -> bool {
    ["npy", "btf", "safetensors", "jpg", "jpeg", "png"].contains(&&*extension(file))
}

/// Whether a file is an image, by its name.
pub(in crate::tools::cli) fn is_image_file(file: &str) -> bool {
    ["jpg", "jpeg", "png"].contains(&&*extension(file))
}

/// Whether a file holds tensors of numbers, by its name.
pub(in crate::tools::cli) fn is_number_file(file: &str) -> bool {
    is_tensor_file(file.split_once('#').map_or(file, |(file, _)| file)) && !is_image_file(file)
}

/// The most bytes of an image file.
const MAX_IMAGE_BYTES: u64 = 1 << 28;

/// The most bytes of a file that becomes a string.
const MAX_STRING_BYTES: u64 = 1 << 28;

/// The bytes of a file, as a string of a model.
pub(in crate::tools::cli) fn file_bytes(file: &str) -> Result<Vec<u8>, Diagnostic> {
    let mapped = MappedFile::open_at_most(Path::new(file), MAX_STRING_BYTES)?;
    let bytes = mapped.as_ref().to_vec();
    mapped.check()?;
    Ok(bytes)
}

fn image_file(file: &str, max_bytes: u64, allocator: &Allocator) -> Result<HostTensor, Diagnostic> {
    let bytes = MappedFile::open_at_most(Path::new(file), max_bytes)?;
    let image = Image::decode(bytes.as_ref()).map_err(|error| wrong(format!("'{file}': {error}")))?;
    bytes.check()?;
    let shape = [image.height(), image.width(), CHANNELS];
    Ok(DenseHostTensor::from_slice(shape, image.pixels(), allocator)?.into())
}

fn only_name(file: &SafeTensorsFile) -> Result<String, Diagnostic> {
    let names: Vec<_> = file.names().collect();
    match names[..] {
        [only] => Ok(only.to_owned()),
        _ => Err(wrong(format!(
            "the file holds several tensors; add '#' and one of {}",
            enumerate_names(names.into_iter())
        ))),
    }
}

/// Returns a file's extension in lower case, since cameras write `.JPG`.
fn extension(file: &str) -> String {
    let extension = Path::new(file).extension().and_then(|extension| extension.to_str());
    extension.unwrap_or_default().to_ascii_lowercase()
}

/// The formats that tensors are written in.
enum Format {
    Npy,
    Btf,
    SafeTensors,
}

impl Format {
    fn of(file: &str) -> Result<Self, Diagnostic> {
        match &*extension(file) {
            "npy" => Ok(Self::Npy),
            "btf" => Ok(Self::Btf),
            "safetensors" => Ok(Self::SafeTensors),
            _ => Err(wrong(format!("'{file}' is neither .npy nor .btf nor .safetensors"))),
        }
    }
}

/// Checks that a result of type `ty` can be written to `file`, as far as that is known before the
/// run.
///
/// # Errors
/// [`Failure::Usage`] if the type is not a tensor or the name's extension is not a format,
/// [`Failure::Errors`] if the folder does not exist.
pub(in crate::tools::cli) fn check_output(file: &str, ty: &str) -> Result<(), Failure> {
    if ty != HostTensor::TYPE_NAME {
        return Err(Failure::Usage(format!("'{file}': only tensors can be written to a file, not {ty}")));
    }
    Format::of(file).map_err(|error| Failure::Usage(error.message))?;
    Ok(check_output_path(Path::new(file)).map_err(|error| file_error("write", file, error))?)
}

/// Writes a tensor to a `.npy`, `.btf` or `.safetensors` file.
///
/// # Errors
/// If the value is not a tensor, the name's extension is not a format, or the file cannot be
/// written.
pub(in crate::tools::cli) fn write(
    value: &AsyncValue,
    file: &str,
    allocator: &Allocator,
) -> Result<(), Diagnostic> {
    let tensor = value.get::<HostTensor>().ok_or_else(|| wrong("only tensors can be written to a file"))?;
    let format = Format::of(file)?;
    let write = |temporary: &Path| -> Result<(), WriteError> {
        Ok(match format {
            Format::Npy => npy::write(temporary, tensor, &ME, allocator),
            Format::Btf => tfrt_tensor::files::btf::write(temporary, std::slice::from_ref(tensor), &ME),
            Format::SafeTensors => {
                let dense = tensor.to_dense(&ME, allocator)?;
                tfrt_tensor::files::safetensors::write(temporary, &[("output", &dense)], &ME)
            }
        }?)
    };
    replace_file(Path::new(file), write).map_err(|error| match error {
        WriteError::System(error) => file_error("write", file, error),
        WriteError::Format(mut error) => {
            // The format's writer knows the temporary file alone.
            error.message = format!("cannot write '{file}': {}", error.message);
            error
        }
    })
}

/// An error of writing a tensor: of the file system, or of the file's format.
enum WriteError {
    System(io::Error),
    Format(Diagnostic),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl From<Diagnostic> for WriteError {
    fn from(error: Diagnostic) -> Self {
        Self::Format(error)
    }
}
