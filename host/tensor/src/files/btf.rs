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
use std::path::Path;
use std::sync::Arc;

use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{DType, Diagnostic, ErrorCode};

use super::{malformed, map, tensor_of, write_file};
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
    let mut file = vec![0; 8 * (tensors.len() + 1)];
    file[..8].copy_from_slice(&(tensors.len() as u64).to_le_bytes());
    for (i, tensor) in tensors.iter().enumerate() {
        file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
        let offset = file.len() as u64;
        file[8 * (i + 1)..][..8].copy_from_slice(&offset.to_le_bytes());
        encode_record(tensor, accessor, &mut file)?;
    }
    Ok(file)
}

/// Writes a BTF file.
///
/// # Errors
/// As [`encode`]; Io.
pub fn write(path: impl AsRef<Path>, tensors: &[HostTensor], accessor: &Accessor) -> Result<(), Diagnostic> {
    write_file(path.as_ref(), &encode(tensors, accessor)?)
}

fn encode_record(tensor: &HostTensor, accessor: &Accessor, file: &mut Vec<u8>) -> Result<(), Diagnostic> {
    let metadata = tensor.metadata();
    let code = DTYPES.iter().position(|&dtype| dtype == metadata.dtype).ok_or_else(|| {
        Diagnostic::invalid_argument(format!("BTF has no tensors of dtype {:?}", metadata.dtype))
    })?;
    let layout = if matches!(tensor, HostTensor::Coo(_)) { Layout::Coo } else { Layout::Dense };
    push_number(file, metadata.shape.rank());
    file.extend([code as u8, layout.code(), 0, 0, 0, 0, 0, 0]);
    match tensor {
        HostTensor::Dense(dense) => push_dense(dense, accessor, file)?,
        HostTensor::Scalar(scalar) => {
            push_dims(scalar.shape(), file);
            let value = scalar.value_bytes()?;
            let elements = metadata.size_bytes()? / element_size(metadata.dtype)?;
            (0..elements).for_each(|_| file.extend(value));
        }
        HostTensor::Coo(coo) => {
            push_dims(coo.shape(), file);
            push_dense(coo.indices(), accessor, file)?;
            push_dense(coo.values(), accessor, file)?;
        }
        HostTensor::String(_) => {}
    }
    Ok(())
}

fn push_dense(tensor: &DenseHostTensor, accessor: &Accessor, file: &mut Vec<u8>) -> Result<(), Diagnostic> {
    push_dims(tensor.shape(), file);
    file.extend_from_slice(&elements::read(tensor.buffer(), accessor)?);
    Ok(())
}

fn push_dims(shape: &TensorShape, file: &mut Vec<u8>) {
    for &dim in shape.dims() {
        push_number(file, dim);
    }
}

fn push_number(file: &mut Vec<u8>, number: usize) {
    file.extend((number as u64).to_le_bytes());
}
