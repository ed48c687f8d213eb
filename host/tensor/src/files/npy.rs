//! `.npy`, NumPy's file of one array (format versions 1, 2 and 3).
//!
//! A file is the magic `\x93NUMPY`, a major and a minor version byte, the header's length
//! (little-endian, 2 bytes in version 1, else 4), the header (a Python dictionary with the keys
//! `descr`, `fortran_order` and `shape`), and the elements. Only little-endian elements of the
//! plain data types and of strings are read; arrays of records and objects are errors.

mod strings;

use std::io::{self, Read};
use std::path::Path;

use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{DType, Diagnostic, ErrorCode};

use super::read::{Expected, read_expected};
use super::{malformed, map, tensor_of, write_file};
use crate::accessor::Accessor;
use crate::dense::{DenseHostTensor, SharedAllocator};
use crate::elements;
use crate::host_tensor::HostTensor;
use crate::metadata::{TensorMetadata, element_align};
use crate::shape::TensorShape;

static READER: Accessor = Accessor::new("npy reader");

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// What the elements' offset is a multiple of in the files written here, as in NumPy's.
const ALIGNMENT: usize = 64;

/// The data types by the names NumPy gives them.
const DTYPES: [(DType, &str); 14] = [
    (DType::I1, "|b1"),
    (DType::I8, "|i1"),
    (DType::UI8, "|u1"),
    (DType::I16, "<i2"),
    (DType::I32, "<i4"),
    (DType::I64, "<i8"),
    (DType::UI16, "<u2"),
    (DType::UI32, "<u4"),
    (DType::UI64, "<u8"),
    (DType::F16, "<f2"),
    (DType::F32, "<f4"),
    (DType::F64, "<f8"),
    (DType::Complex64, "<c8"),
    (DType::Complex128, "<c16"),
];

/// Reads the file at `path`: read-only and in place if it is row-major and aligned, else a copy in
/// memory of `allocator`.
///
/// # Errors
/// NotFound or Io if the file cannot be read; InvalidArgument if it is malformed or holds what
/// tensors cannot.
pub fn read(path: impl AsRef<Path>, allocator: &SharedAllocator) -> Result<DenseHostTensor, Diagnostic> {
    let path = path.as_ref();
    read_buffer(&path.display().to_string(), &map::map_file(path)?, allocator)
}

/// Reads the file at `path`, of at most `max_bytes` bytes, into memory that may be changed: numbers
/// or strings.
///
/// # Errors
/// As [`read_file`](super::read_file) and [`read_tensor`].
pub fn read_file(
    path: impl AsRef<Path>,
    max_bytes: u64,
    allocator: &SharedAllocator,
) -> Result<HostTensor, Diagnostic> {
    let path = path.as_ref();
    let buffer = read_expected(path, max_bytes, Expected::Npy, allocator)?;
    read_tensor(&path.display().to_string(), &buffer, allocator)
}

/// As [`read`], for a file that is in memory already; `name` is what errors call it.
///
/// # Errors
/// InvalidArgument if the file is malformed or holds what dense tensors cannot.
pub fn read_buffer(
    name: &str,
    buffer: &HostBuffer,
    allocator: &SharedAllocator,
) -> Result<DenseHostTensor, Diagnostic> {
    match read_tensor(name, buffer, allocator)? {
        HostTensor::Dense(tensor) => Ok(tensor),
        _ => Err(malformed(name, MAGIC.len(), "expected numbers, found strings")),
    }
}

/// As [`read_buffer`], for arrays of strings, too.
///
/// # Errors
/// InvalidArgument if the file is malformed or holds what tensors cannot.
pub fn read_tensor(
    name: &str,
    buffer: &HostBuffer,
    allocator: &SharedAllocator,
) -> Result<HostTensor, Diagnostic> {
    let bytes = elements::read(buffer, &READER)?;
    let (header, start) = split_header(&bytes).map_err(|what| malformed(name, 0, what))?;
    let header = Header::parse(header).map_err(|what| malformed(name, MAGIC.len(), what))?;
    let metadata = TensorMetadata { dtype: header.elements.dtype(), shape: header.shape.clone() };
    let size = header.size_bytes().map_err(|what| malformed(name, MAGIC.len(), what))?;
    if bytes.len() - start != size {
        let has = bytes.len() - start;
        return Err(malformed(
            name,
            start,
            format_args!("{metadata} takes {size} bytes, the file has {has}"),
        ));
    }
    if header.elements.dtype() == DType::String {
        let strings =
            strings::decode(&bytes[start..], &header).map_err(|what| malformed(name, start, what))?;
        return Ok(strings.into());
    }
    let no_memory = || Diagnostic::new(ErrorCode::OutOfMemory, format!("Cannot allocate tensor {metadata}"));
    let align = element_align(metadata.dtype);
    let part = if header.fortran_order && metadata.shape.rank() > 1 && size > 0 {
        let mut row_major = HostBuffer::allocate_unset(size, align, allocator).ok_or_else(no_memory)?;
        let to = row_major.get_mut().ok_or_else(no_memory)?;
        from_column_major(&bytes[start..], (header.elements.size(), metadata.shape.dims()), to);
        row_major
    } else {
        match buffer.slice(start, size) {
            Some(part) if part.as_ptr().addr().is_multiple_of(align) => part,
            _ => HostBuffer::copy_from_slice(&bytes[start..], align, allocator).ok_or_else(no_memory)?,
        }
    };
    let tensor = tensor_of(metadata, part).map_err(|error| malformed(name, start, error.message))?;
    Ok(tensor.into())
}

/// Bytes at the start of a file that say how long its header is.
pub(super) const PREFIX_SIZE: usize = 12;

/// Returns where the elements begin in a file that starts with `prefix`, of [`PREFIX_SIZE`] bytes
/// or the whole file.
///
/// # Errors
/// A message if it is not the start of an `.npy` file.
pub(super) fn elements_start(prefix: &[u8]) -> Result<usize, &'static str> {
    let rest = prefix.strip_prefix(MAGIC).ok_or("not an .npy file")?;
    match *rest {
        [1, _, a, b, ..] => Ok(MAGIC.len() + 4 + usize::from(u16::from_le_bytes([a, b]))),
        [2 | 3, _, a, b, c, d, ..] => Ok(MAGIC.len() + 6 + u32::from_le_bytes([a, b, c, d]) as usize),
        _ => Err("a version of the format that is not known"),
    }
}

/// Returns how many bytes a file has, elements included, whose header `start` contains.
///
/// # Errors
/// A message if the header is malformed, or a file of that size cannot be.
pub(super) fn declared_size(start: &[u8]) -> Result<usize, String> {
    let (header, elements_start) = split_header(start)?;
    let elements = Header::parse(header)?.size_bytes()?;
    elements_start.checked_add(elements).ok_or_else(|| "its size overflows".to_owned())
}

/// Reads the start of a stream, up to the elements. Returns it with the size that it declares. A
/// start that is malformed is returned as far as it was read, and as the whole.
pub(super) fn read_start(stream: &mut impl Read, max_bytes: u64) -> io::Result<(Vec<u8>, u64)> {
    let mut start = Vec::new();
    stream.take(PREFIX_SIZE as u64).read_to_end(&mut start)?;
    if let Ok(header_end) = elements_start(&start) {
        let rest = (header_end as u64).min(max_bytes).saturating_sub(start.len() as u64);
        stream.take(rest).read_to_end(&mut start)?;
    }
    let size = declared_size(&start).unwrap_or(start.len());
    Ok((start, size as u64))
}

/// The header's text and where the elements begin.
fn split_header(bytes: &[u8]) -> Result<(&str, usize), &'static str> {
    let start = elements_start(bytes)?;
    let header = bytes.get(..start).ok_or("the file ends within its header")?;
    let version = header[MAGIC.len()];
    let header = &header[MAGIC.len() + if version == 1 { 4 } else { 6 }..];
    let header = std::str::from_utf8(header).map_err(|_| "the header is not text")?;
    Ok((header, start))
}

/// What an array holds.
#[derive(Clone, Copy, Debug)]
enum Elements {
    Numbers(DType),
    /// Text: the greatest number of characters, of four bytes each. Zeros fill up shorter ones.
    Text(usize),
    /// Strings: the greatest number of bytes. Zeros fill up shorter ones.
    Bytes(usize),
}

impl Elements {
    fn parse(descr: &str) -> Option<Self> {
        let number = DTYPES.iter().find(|(_, name)| {
            *name == descr || name.strip_prefix('|').is_some_and(|n| descr.get(1..) == Some(n))
        });
        if let Some(&(dtype, _)) = number {
            return Some(Self::Numbers(dtype));
        }
        let length = |text: &str| text.parse::<usize>().ok();
        if let Some(text) = descr.strip_prefix("<U") {
            // A size of four bytes for each must not overflow.
            return length(text).filter(|&length| length <= usize::MAX / CHARACTER_SIZE).map(Self::Text);
        }
        length(descr.strip_prefix("|S")?).map(Self::Bytes)
    }

    fn dtype(self) -> DType {
        match self {
            Self::Numbers(dtype) => dtype,
            Self::Text(_) | Self::Bytes(_) => DType::String,
        }
    }

    /// The size of one in the file, in bytes.
    fn size(self) -> usize {
        match self {
            Self::Numbers(dtype) => dtype.size().unwrap_or(1),
            Self::Text(length) => length * CHARACTER_SIZE,
            Self::Bytes(length) => length,
        }
    }
}

/// The size of a character of text, in bytes.
const CHARACTER_SIZE: usize = 4;

#[derive(Debug)]
struct Header {
    elements: Elements,
    fortran_order: bool,
    shape: TensorShape,
}

impl Header {
    /// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`, keys in any order.
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let text =
            text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).ok_or("the header is no dictionary")?;
        let descr = quoted(value_of(text, "descr")?).ok_or("arrays of records are not supported")?;
        let elements =
            Elements::parse(descr).ok_or_else(|| format!("elements of type '{descr}' are not supported"))?;
        let order = value_of(text, "fortran_order")?;
        let fortran_order = match () {
            () if order.starts_with("True") => true,
            () if order.starts_with("False") => false,
            () => return Err("fortran_order is neither True nor False".to_owned()),
        };
        let shape = value_of(text, "shape")?;
        let shape = shape.strip_prefix('(').and_then(|t| t.split_once(')')).ok_or("the shape is no tuple")?.0;
        let dims = shape
            .split(',')
            .map(str::trim)
            .filter(|dim| !dim.is_empty())
            .map(|dim| dim.parse::<usize>().map_err(|_| format!("'{dim}' is no extent")))
            .collect::<Result<Vec<_>, _>>()?;
        let shape = TensorShape::new(&dims).map_err(|error| error.message)?;
        Ok(Self { elements, fortran_order, shape })
    }

    /// The size of all elements, in bytes.
    fn size_bytes(&self) -> Result<usize, String> {
        let count = self.shape.num_elements().map_err(|error| error.message)?;
        count.checked_mul(self.elements.size()).ok_or_else(|| "the size of the array overflows".to_owned())
    }
}

/// What follows `'key':`.
fn value_of<'a>(dictionary: &'a str, key: &str) -> Result<&'a str, String> {
    ['\'', '"']
        .into_iter()
        .find_map(|quote| {
            let (_, rest) = dictionary.split_once(&format!("{quote}{key}{quote}"))?;
            rest.trim_start().strip_prefix(':').map(str::trim_start)
        })
        .ok_or_else(|| format!("the header has no '{key}'"))
}

/// The string literal at the start of `text`.
fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote).map(|(inner, _)| inner)
}

/// Writes to `row_major` the elements, of `size` bytes each, in row-major order. `elements`, of
/// which there are some, has the first coordinate run fastest.
fn from_column_major(elements: &[u8], (size, dims): (usize, &[usize]), row_major: &mut [u8]) {
    let strides: Vec<usize> = dims
        .iter()
        .scan(size, |stride, dim| {
            let this = *stride;
            *stride *= dim;
            Some(this)
        })
        .collect();
    let mut index = vec![0; dims.len()];
    let mut at = 0;
    for element in row_major.chunks_exact_mut(size) {
        element.copy_from_slice(&elements[at..at + size]);
        for axis in (0..dims.len()).rev() {
            index[axis] += 1;
            at += strides[axis];
            if index[axis] < dims[axis] {
                break;
            }
            at -= strides[axis] * dims[axis];
            index[axis] = 0;
        }
    }
}

/// The bytes of an `.npy` file of this tensor.
///
/// # Errors
/// InvalidArgument for a data type that NumPy does not have (bf16); DataRace while somebody writes.
pub fn encode(tensor: &DenseHostTensor, accessor: &Accessor) -> Result<Vec<u8>, Diagnostic> {
    let mut file = header_of(tensor, tensor.size_bytes())?;
    file.extend_from_slice(&tensor.read_bytes(accessor)?);
    Ok(file)
}

/// Returns the header of a tensor's file. The vector has capacity for `room_bytes` more bytes.
fn header_of(tensor: &DenseHostTensor, room_bytes: usize) -> Result<Vec<u8>, Diagnostic> {
    let (_, descr) = DTYPES.iter().find(|(dtype, _)| *dtype == tensor.dtype()).ok_or_else(|| {
        Diagnostic::invalid_argument(format!(".npy has no arrays of dtype {:?}", tensor.dtype()))
    })?;
    header(descr, tensor.shape(), room_bytes)
}

/// Returns the header of a file: what precedes the elements. The vector has capacity for `size_bytes`
/// bytes of elements.
fn header(descr: &str, shape: &TensorShape, size_bytes: usize) -> Result<Vec<u8>, Diagnostic> {
    let dims: Vec<String> = shape.dims().iter().map(usize::to_string).collect();
    // A tuple of one element needs its comma.
    let comma = if dims.len() == 1 { "," } else { "" };
    let dictionary =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}{comma}), }}", dims.join(", "));
    // Version 1 always does: 255 extents of 20 digits fill a tenth of its longest header.
    let prefix = MAGIC.len() + 2 + 2;
    let padded = (prefix + dictionary.len() + 1).next_multiple_of(ALIGNMENT) - prefix;
    let length = u16::try_from(padded).map_err(|_| Diagnostic::internal("an .npy header of 64 KiB"))?;
    let mut file = Vec::with_capacity(prefix + padded + size_bytes);
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&[1, 0]);
    file.extend_from_slice(&length.to_le_bytes());
    file.extend_from_slice(dictionary.as_bytes());
    file.resize(prefix + padded - 1, b' ');
    file.push(b'\n');
    Ok(file)
}

/// The bytes of an `.npy` file of a tensor of numbers or strings.
///
/// # Errors
/// As [`encode`]; InvalidArgument for a string that ends with a zero, which NumPy drops.
pub fn encode_tensor(
    tensor: &HostTensor,
    accessor: &Accessor,
    allocator: &SharedAllocator,
) -> Result<Vec<u8>, Diagnostic> {
    match tensor {
        HostTensor::String(tensor) => strings::encode(tensor),
        _ => encode(&tensor.to_dense(accessor, allocator)?, accessor),
    }
}

/// Writes an `.npy` file of numbers or strings. Numbers go from the tensor to the file, without a
/// copy in memory.
///
/// # Errors
/// As [`encode_tensor`]; Io.
pub fn write(
    path: impl AsRef<Path>,
    tensor: &HostTensor,
    accessor: &Accessor,
    allocator: &SharedAllocator,
) -> Result<(), Diagnostic> {
    let path = path.as_ref();
    if let HostTensor::String(tensor) = tensor {
        return write_file(path, &[&strings::encode(tensor)?]);
    }
    let tensor = tensor.to_dense(accessor, allocator)?;
    write_file(path, &[&header_of(&tensor, 0)?, &tensor.read_bytes(accessor)?])
}
