//! BTF, the Binary Tensor Format: a file of dense and sparse tensors.
//!
//! All numbers are little-endian. A file is `count: u64`, then `count` offsets (`u64`, multiples of
//! 8, from the start of the file), then the records they point at:
//!
//! ```text
//! record   = rank: u64, dtype: u8, layout: u8, six zero bytes, payload, padding to a multiple of 8
//! payload  = dense                              layout 0
//!          | extents: u64 x rank, indices, values    layout 1 (the format's document says 2; both are read)
//! dense    = extents: u64 x rank, elements, row-major
//! indices  = a dense payload of rank 2: I64 [n, rank]
//! values   = a dense payload of rank 1: [n] elements
//! ```

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{DType, Diagnostic, ErrorCode};

use super::{malformed, map, not_written, tensor_of};
use crate::accessor::Accessor;
use crate::coo::CooHostTensor;
use crate::dense::DenseHostTensor;
use crate::elements;
use crate::host_tensor::HostTensor;
use crate::metadata::{TensorMetadata, element_size};
use crate::shape::{MAX_RANK, TensorShape};

static READER: Accessor = Accessor::new("BTF reader");

/// The data types of the format, by their numbers in a file.
const DTYPES: [DType; 10] = [
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F32,
    DType::F64,
    DType::UI8,
    DType::UI16,
    DType::UI32,
    DType::UI64,
];

const ALIGNMENT: usize = 8;

/// How a record stores its tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Every element, row-major.
    Dense,
    /// Coordinates and values of the elements that are not zero.
    Coo,
}

impl Layout {
    fn code(self) -> u8 {
        match self {
            Self::Dense => 0,
            Self::Coo => 1,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Dense),
            1 | 2 => Some(Self::Coo),
            _ => None,
        }
    }

    /// What the layout is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dense => "Row-Major Dense tensor",
            Self::Coo => "COOrdinate list sparse tensor",
        }
    }
}

/// What a record says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    /// Where the record begins, in bytes from the start of the file.
    pub offset: usize,
    /// Number of dimensions.
    pub rank: usize,
    /// Data type of the elements.
    pub dtype: DType,
    /// How the elements are stored.
    pub layout: Layout,
}

/// A BTF file, open for reading.
#[derive(Debug)]
pub struct BtfFile {
    name: Arc<str>,
    bytes: HostBuffer,
    count: usize,
}

impl BtfFile {
    /// Maps the file at `path`. Records are checked when they are read.
    ///
    /// # Errors
    /// NotFound or Io if the file cannot be read; InvalidArgument if it is too short for its table
    /// of records.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Diagnostic> {
        let path = path.as_ref();
        Self::from_buffer(&path.display().to_string(), map::map_file(path)?)
    }

    /// Reads a file that is in memory already; `name` is what errors call it.
    ///
    /// # Errors
    /// InvalidArgument if it is too short for its table of records.
    pub fn from_buffer(name: &str, bytes: HostBuffer) -> Result<Self, Diagnostic> {
        let mut file = Self { name: name.into(), bytes, count: 0 };
        file.count =
            file.parse(0, |cursor| {
                let count = cursor.number("the number of tensors")?;
                match count.checked_mul(8).and_then(|size| cursor.bytes[cursor.at..].get(..size)) {
                    Some(_) => Ok(count),
                    None => Err(cursor
                        .bad_at(0, format_args!("the file is too short for a table of {count} tensors"))),
                }
            })?;
        Ok(file)
    }

    /// Number of tensors.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no tensors.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What the record of tensor `index` says of itself.
    ///
    /// # Errors
    /// OutOfRange if there is no such tensor; InvalidArgument if the record is malformed.
    pub fn header(&self, index: usize) -> Result<RecordHeader, Diagnostic> {
        self.parse(self.table_entry(index)?, record_header)
    }

    /// Tensor `index`, read-only and in place.
    ///
    /// # Errors
    /// OutOfRange if there is no such tensor; InvalidArgument if the record is malformed.
    pub fn tensor(&self, index: usize) -> Result<HostTensor, Diagnostic> {
        self.parse(self.table_entry(index)?, |cursor| {
            let header = record_header(cursor)?;
            Ok(match header.layout {
                Layout::Dense => cursor.dense(header.dtype, header.rank)?.into(),
                Layout::Coo => cursor.coo(&header)?.into(),
            })
        })
    }

    /// Where the offset of tensor `index` is written.
    fn table_entry(&self, index: usize) -> Result<usize, Diagnostic> {
        if index < self.count {
            return Ok(8 * (index + 1));
        }
        Err(Diagnostic::new(
            ErrorCode::OutOfRange,
            format!(
                "invalid tensor index {index} to read tensor from path {} which contains {} tensors",
                self.name, self.count
            ),
        ))
    }

    fn parse<R>(
        &self,
        at: usize,
        parse: impl FnOnce(&mut Cursor<'_>) -> Result<R, Diagnostic>,
    ) -> Result<R, Diagnostic> {
        let bytes = elements::read(&self.bytes, &READER)?;
        parse(&mut Cursor { name: &self.name, buffer: &self.bytes, bytes: &bytes, at })
    }
}

/// A place in a file.
struct Cursor<'a> {
    name: &'a str,
    buffer: &'a HostBuffer,
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    #[cold]
    fn bad_at(&self, offset: usize, what: impl fmt::Display) -> Diagnostic {
        malformed(self.name, offset, what)
    }

    #[cold]
    fn ends_within(&self, what: &str) -> Diagnostic {
        self.bad_at(self.at, format_args!("the file ends before {what}"))
    }

    fn take<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Diagnostic> {
        let taken = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<N>);
        let taken = *taken.ok_or_else(|| self.ends_within(what))?;
        self.at += N;
        Ok(taken)
    }

    fn number(&mut self, what: &str) -> Result<usize, Diagnostic> {
        let at = self.at;
        let number = u64::from_le_bytes(self.take(what)?);
        i64::try_from(number)
            .ok()
            .and_then(|number| usize::try_from(number).ok())
            .ok_or_else(|| self.bad_at(at, format_args!("{what} is {number}, more than 63 bits hold")))
    }

    fn shape(&mut self, rank: usize) -> Result<TensorShape, Diagnostic> {
        let dims = (0..rank).map(|_| self.number("an extent of a tensor")).collect::<Result<Vec<_>, _>>()?;
        TensorShape::new(&dims)
    }

    fn dense(&mut self, dtype: DType, rank: usize) -> Result<DenseHostTensor, Diagnostic> {
        let at = self.at;
        let metadata = TensorMetadata { dtype, shape: self.shape(rank)? };
        let size = metadata.size_bytes().map_err(|error| self.bad_at(at, error.message))?;
        let elements = self
            .buffer
            .slice(self.at, size)
            .ok_or_else(|| self.ends_within("the end of a tensor's elements"))?;
        self.at += size;
        tensor_of(metadata, elements).map_err(|error| self.bad_at(at, error.message))
    }

    fn coo(&mut self, header: &RecordHeader) -> Result<CooHostTensor, Diagnostic> {
        let shape = self.shape(header.rank)?;
        let indices = self.dense(DType::I64, 2)?;
        let values = self.dense(header.dtype, 1)?;
        CooHostTensor::new(shape, indices, values)
            .and_then(|tensor| tensor.check_coordinates(&READER).map(|()| tensor))
            .map_err(|error| self.bad_at(header.offset, error.message))
    }
}

/// Reads the header of the record whose offset is written here.
fn record_header(cursor: &mut Cursor<'_>) -> Result<RecordHeader, Diagnostic> {
    let entry = cursor.at;
    let offset = cursor.number("the offset of a tensor")?;
    if !offset.is_multiple_of(ALIGNMENT) {
        return Err(cursor.bad_at(entry, format_args!("a tensor's offset {offset} is not a multiple of 8")));
    }
    cursor.at = offset;
    let rank = cursor.number("the rank of a tensor")?;
    if rank > MAX_RANK {
        return Err(cursor.bad_at(offset, format_args!("rank {rank} is higher than {MAX_RANK}")));
    }
    let codes_at = cursor.at;
    let [dtype, layout, reserved @ ..] = cursor.take::<8>("the dtype and layout of a tensor")?;
    if reserved != [0; 6] {
        return Err(cursor.bad_at(codes_at, "reserved bytes that are not zero"));
    }
    let dtype = *DTYPES
        .get(usize::from(dtype))
        .ok_or_else(|| cursor.bad_at(codes_at, format_args!("unknown dtype {dtype}")))?;
    let layout = Layout::from_code(layout)
        .ok_or_else(|| cursor.bad_at(codes_at + 1, format_args!("unknown layout {layout}")))?;
    Ok(RecordHeader { offset, rank, dtype, layout })
}

/// The bytes of a BTF file of these tensors. Scalar tensors are written out dense.
///
/// # Errors
/// InvalidArgument for tensors the format cannot hold (strings, `bool`, half precision, complex
/// numbers); DataRace.
pub fn encode(tensors: &[HostTensor], accessor: &Accessor) -> Result<Vec<u8>, Diagnostic> {
    let mut file = Vec::new();
    put_file(tensors, accessor, &mut |bytes| {
        file.extend_from_slice(bytes);
        Ok(())
    })?;
    Ok(file)
}

/// Writes a BTF file, without its bytes in memory.
///
/// # Errors
/// As [`encode`]; Io.
pub fn write(path: impl AsRef<Path>, tensors: &[HostTensor], accessor: &Accessor) -> Result<(), Diagnostic> {
    let path = path.as_ref();
    let failed = |error: io::Error| not_written(path, &error);
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    put_file(tensors, accessor, &mut |bytes| file.write_all(bytes).map_err(failed))?;
    file.flush().map_err(failed)
}

/// Takes the next bytes of a file.
type Put<'p> = dyn FnMut(&[u8]) -> Result<(), Diagnostic> + 'p;

fn put_file(tensors: &[HostTensor], accessor: &Accessor, put: &mut Put<'_>) -> Result<(), Diagnostic> {
    put_number(tensors.len(), put)?;
    let mut offset = 8 * (tensors.len() + 1);
    let mut sizes = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        put_number(offset, put)?;
        let size = record_size(tensor)?;
        offset = size
            .checked_add(offset)
            .and_then(|end| end.checked_next_multiple_of(ALIGNMENT))
            .ok_or_else(|| Diagnostic::invalid_argument("the size of the file overflows"))?;
        sizes.push(size);
    }
    for (index, (tensor, size)) in tensors.iter().zip(sizes).enumerate() {
        put_record(tensor, accessor, put)?;
        if index + 1 < tensors.len() {
            put(&[0; ALIGNMENT][..size.next_multiple_of(ALIGNMENT) - size])?;
        }
    }
    Ok(())
}

/// The number of a tensor's data type in a file.
fn dtype_code(tensor: &HostTensor) -> Result<u8, Diagnostic> {
    let dtype = tensor.dtype();
    let code = DTYPES.iter().position(|&known| known == dtype);
    code.map(|code| code as u8)
        .ok_or_else(|| Diagnostic::invalid_argument(format!("BTF has no tensors of dtype {dtype:?}")))
}

/// The size of a tensor's record without its padding, in bytes.
fn record_size(tensor: &HostTensor) -> Result<usize, Diagnostic> {
    dtype_code(tensor)?;
    let dense =
        |metadata: &TensorMetadata| Ok::<_, Diagnostic>((metadata.shape.rank(), metadata.size_bytes()?));
    let (numbers, bytes) = match tensor {
        HostTensor::Coo(coo) => {
            let (indices, values) = (dense(coo.indices().metadata())?, dense(coo.values().metadata())?);
            (coo.shape().rank() + indices.0 + values.0, indices.1.saturating_add(values.1))
        }
        _ => dense(tensor.metadata())?,
    };
    // The rank and the codes come first.
    Ok(bytes.saturating_add(8 * (2 + numbers)))
}

fn put_record(tensor: &HostTensor, accessor: &Accessor, put: &mut Put<'_>) -> Result<(), Diagnostic> {
    /// About the number of bytes that are written at a time where all elements are the same.
    const BLOCK_BYTES: usize = 1 << 16;
    let metadata = tensor.metadata();
    let layout = if matches!(tensor, HostTensor::Coo(_)) { Layout::Coo } else { Layout::Dense };
    put_number(metadata.shape.rank(), put)?;
    put(&[dtype_code(tensor)?, layout.code(), 0, 0, 0, 0, 0, 0])?;
    match tensor {
        HostTensor::Dense(dense) => put_dense(dense, accessor, put)?,
        HostTensor::Scalar(scalar) => {
            put_dims(scalar.shape(), put)?;
            let value = scalar.value_bytes()?;
            let block = value.repeat(BLOCK_BYTES / element_size(metadata.dtype)?);
            let mut left = metadata.size_bytes()?;
            while left > 0 {
                let part = &block[..left.min(block.len())];
                put(part)?;
                left -= part.len();
            }
        }
        HostTensor::Coo(coo) => {
            put_dims(coo.shape(), put)?;
            put_dense(coo.indices(), accessor, put)?;
            put_dense(coo.values(), accessor, put)?;
        }
        HostTensor::String(_) => {}
    }
    Ok(())
}

fn put_dense(tensor: &DenseHostTensor, accessor: &Accessor, put: &mut Put<'_>) -> Result<(), Diagnostic> {
    put_dims(tensor.shape(), put)?;
    put(&elements::read(tensor.buffer(), accessor)?)
}

fn put_dims(shape: &TensorShape, put: &mut Put<'_>) -> Result<(), Diagnostic> {
    shape.dims().iter().try_for_each(|&dim| put_number(dim, put))
}

fn put_number(number: usize, put: &mut Put<'_>) -> Result<(), Diagnostic> {
    put(&(number as u64).to_le_bytes())
}
