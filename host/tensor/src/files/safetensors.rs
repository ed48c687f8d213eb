//! The safetensors format of model weights: named dense tensors behind a JSON header.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use ::safetensors::SafeTensorError;
use ::safetensors::tensor::{Dtype, SafeTensors, TensorView};
use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{DType, Diagnostic, ErrorCode};

use super::{malformed, map, tensor_of};
use crate::accessor::Accessor;
use crate::dense::{DenseHostTensor, SharedAllocator};
use crate::elements;
use crate::metadata::{TensorMetadata, element_align};
use crate::shape::TensorShape;

static READER: Accessor = Accessor::new("safetensors reader");

/// The data types both sides know.
const DTYPES: [(DType, Dtype); 14] = [
    (DType::I1, Dtype::BOOL),
    (DType::I8, Dtype::I8),
    (DType::I16, Dtype::I16),
    (DType::I32, Dtype::I32),
    (DType::I64, Dtype::I64),
    (DType::UI8, Dtype::U8),
    (DType::UI16, Dtype::U16),
    (DType::UI32, Dtype::U32),
    (DType::UI64, Dtype::U64),
    (DType::F16, Dtype::F16),
    (DType::BF16, Dtype::BF16),
    (DType::F32, Dtype::F32),
    (DType::F64, Dtype::F64),
    (DType::Complex64, Dtype::C64),
];

/// How the header of a file with texts begins: they are an object of JSON.
const TEXTS: &[u8] = br#"{"__metadata__":"#;

#[derive(Debug)]
struct Entry {
    dtype: Dtype,
    shape: Vec<usize>,
    /// Where the elements are, in bytes from the start of the file.
    start: usize,
    size: usize,
}

/// A safetensors file, open for reading. Cloning shares it.
#[derive(Clone, Debug)]
pub struct SafeTensorsFile {
    name: Arc<str>,
    bytes: HostBuffer,
    entries: Arc<BTreeMap<String, Entry>>,
    /// What the file says of itself.
    texts: Arc<HashMap<String, String>>,
}

impl SafeTensorsFile {
    /// Maps the file at `path` and checks its header.
    ///
    /// # Errors
    /// NotFound or Io if the file cannot be read; InvalidArgument if it is malformed.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Diagnostic> {
        let path = path.as_ref();
        Self::from_buffer(&path.display().to_string(), map::map_file(path)?)
    }

    /// Reads a file that is in memory already; `name` is what errors call it.
    ///
    /// # Errors
    /// InvalidArgument if it is malformed.
    pub fn from_buffer(name: &str, buffer: HostBuffer) -> Result<Self, Diagnostic> {
        let bytes = elements::read(&buffer, &READER)?;
        // Checks that all tensors lie within the file, whose header says how many bytes it has
        // itself.
        let (header, metadata) =
            SafeTensors::read_metadata(&bytes).map_err(|error| malformed(name, 0, error))?;
        let data = size_of::<u64>() + header;
        let entries = metadata
            .tensors()
            .into_iter()
            .map(|(tensor, info)| {
                let (start, end) = info.data_offsets;
                let entry = Entry {
                    dtype: info.dtype,
                    shape: info.shape.clone(),
                    start: data + start,
                    size: end - start,
                };
                (tensor, entry)
            })
            .collect();
        let texts = metadata.metadata().clone().unwrap_or_default();
        drop(bytes);
        Ok(Self { name: name.into(), bytes: buffer, entries: Arc::new(entries), texts: Arc::new(texts) })
    }

    /// What the file is called in errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the file says of itself under this key.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.texts.get(key).map(String::as_str)
    }

    /// The tensors' names, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The tensor of that name: read-only and in place if the file aligns it, else a copy in memory
    /// of `allocator`.
    ///
    /// # Errors
    /// NotFound if there is none of that name; InvalidArgument for a data type that the runtime
    /// does not know.
    pub fn tensor(&self, name: &str, allocator: &SharedAllocator) -> Result<DenseHostTensor, Diagnostic> {
        let entry = self.entries.get(name).ok_or_else(|| {
            Diagnostic::new(ErrorCode::NotFound, format!("{} holds no tensor '{name}'", self.name))
        })?;
        let bad = |what: String| malformed(&self.name, entry.start, format_args!("tensor '{name}': {what}"));
        let (dtype, _) = *DTYPES
            .iter()
            .find(|(_, theirs)| *theirs == entry.dtype)
            .ok_or_else(|| bad(format!("elements of type {:?} are not supported", entry.dtype)))?;
        let metadata = TensorMetadata { dtype, shape: TensorShape::new(&entry.shape)? };
        let mut elements = self
            .bytes
            .slice(entry.start, entry.size)
            .ok_or_else(|| bad("lies outside the file".to_owned()))?;
        let align = element_align(dtype);
        if !elements.as_ptr().addr().is_multiple_of(align) {
            let bytes = elements::read(&self.bytes, &READER)?;
            let unaligned = &bytes[entry.start..][..entry.size];
            elements = HostBuffer::copy_from_slice(unaligned, align, allocator).ok_or_else(|| {
                Diagnostic::new(ErrorCode::OutOfMemory, format!("Cannot allocate tensor {metadata}"))
            })?;
        }
        tensor_of(metadata, elements).map_err(|error| bad(error.message))
    }
}

/// The bytes of a safetensors file of these tensors.
///
/// # Errors
/// InvalidArgument for a data type or a name that the format cannot hold; DataRace while somebody
/// writes to a tensor.
pub fn encode(tensors: &[(&str, &DenseHostTensor)], accessor: &Accessor) -> Result<Vec<u8>, Diagnostic> {
    encode_with(tensors, &[], accessor)
}

/// As [`encode`], for a file that says this of itself: keys and texts. The same tensors and texts
/// give the same bytes.
///
/// # Errors
/// As [`encode`].
pub fn encode_with(
    tensors: &[(&str, &DenseHostTensor)],
    texts: &[(&str, &str)],
    accessor: &Accessor,
) -> Result<Vec<u8>, Diagnostic> {
    with_views(tensors, accessor, |views| {
        let texts: BTreeMap<_, _> = texts.iter().copied().collect();
        let mut bytes = ::safetensors::serialize(views, unordered(&texts)).map_err(refused)?;
        if !texts.is_empty() {
            order_texts(&mut bytes, &texts)?;
        }
        Ok(bytes)
    })
}

/// Calls `then` with a view of each tensor, which nobody may write to meanwhile.
fn with_views<R>(
    tensors: &[(&str, &DenseHostTensor)],
    accessor: &Accessor,
    then: impl FnOnce(BTreeMap<&str, TensorView<'_>>) -> Result<R, Diagnostic>,
) -> Result<R, Diagnostic> {
    let guards =
        tensors.iter().map(|(_, tensor)| tensor.read_bytes(accessor)).collect::<Result<Vec<_>, _>>()?;
    let mut views = BTreeMap::new();
    for (&(name, tensor), bytes) in tensors.iter().zip(&guards) {
        let (_, dtype) = *DTYPES.iter().find(|(ours, _)| *ours == tensor.dtype()).ok_or_else(|| {
            Diagnostic::invalid_argument(format!("safetensors has no tensors of dtype {:?}", tensor.dtype()))
        })?;
        let view = TensorView::new(dtype, tensor.shape().dims().to_vec(), bytes)
            .map_err(|error| Diagnostic::internal(format!("tensor '{name}': {error}")))?;
        if views.insert(name, view).is_some() {
            return Err(Diagnostic::invalid_argument(format!("two tensors are called '{name}'")));
        }
    }
    then(views)
}

fn unordered(texts: &BTreeMap<&str, &str>) -> Option<HashMap<String, String>> {
    let unordered = texts.iter().map(|(&key, &text)| (key.to_owned(), text.to_owned()));
    Some(unordered.collect::<HashMap<_, _>>()).filter(|texts| !texts.is_empty())
}

fn refused(error: SafeTensorError) -> Diagnostic {
    match error {
        SafeTensorError::IoError(error) => Diagnostic::new(ErrorCode::Io, error.to_string()),
        error => Diagnostic::invalid_argument(error.to_string()),
    }
}

/// Puts the texts of a file into alphabetical order, which are in that of a hash map, and so in
/// another each time.
fn order_texts(bytes: &mut [u8], texts: &BTreeMap<&str, &str>) -> Result<(), Diagnostic> {
    let ordered = serde_json::to_string(texts).map_err(|error| Diagnostic::internal(error.to_string()))?;
    let header = bytes.get_mut(size_of::<u64>()..).and_then(|bytes| {
        let (begin, rest) = bytes.split_at_mut_checked(TEXTS.len())?;
        (*begin == *TEXTS).then_some(rest)?.get_mut(..ordered.len())
    });
    let header = header.ok_or_else(|| Diagnostic::internal("the header does not begin with its texts"))?;
    header.copy_from_slice(ordered.as_bytes());
    Ok(())
}

/// Writes a safetensors file, without its bytes in memory.
///
/// # Errors
/// As [`encode`]; Io.
pub fn write(
    path: impl AsRef<Path>,
    tensors: &[(&str, &DenseHostTensor)],
    accessor: &Accessor,
) -> Result<(), Diagnostic> {
    write_with(path.as_ref(), tensors, &[], accessor)
}

/// Writes the file that [`encode_with`] describes, without its bytes in memory.
///
/// # Errors
/// As [`encode`]; Io.
pub fn write_with(
    path: &Path,
    tensors: &[(&str, &DenseHostTensor)],
    texts: &[(&str, &str)],
    accessor: &Accessor,
) -> Result<(), Diagnostic> {
    let texts: BTreeMap<_, _> = texts.iter().copied().collect();
    with_views(tensors, accessor, |views| {
        ::safetensors::serialize_to_file(views, unordered(&texts), path).map_err(refused)
    })?;
    if texts.is_empty() {
        return Ok(());
    }
    let failed = |error: std::io::Error| Diagnostic::new(ErrorCode::Io, error.to_string());
    let mut file = File::options().read(true).write(true).open(path).map_err(failed)?;
    let mut size = [0; size_of::<u64>()];
    file.read_exact(&mut size).map_err(failed)?;
    let header_bytes =
        size.len().saturating_add(usize::try_from(u64::from_le_bytes(size)).unwrap_or(usize::MAX));
    let mut header = vec![0; header_bytes.min(file.metadata().map_err(failed)?.len() as usize)];
    file.rewind().map_err(failed)?;
    file.read_exact(&mut header).map_err(failed)?;
    order_texts(&mut header, &texts)?;
    file.rewind().map_err(failed)?;
    file.write_all(&header).map_err(failed)
}
