//! Attribute values for writing, and their two encodings.

use bytemuck::NoUninit;

use crate::attribute::MAX_AGGREGATE_DEPTH;
use crate::element::Element;
use crate::error::{At, BefError};
use crate::table::{AttributeKind, DType, MAX_ALIGNMENT, PADDING, SectionId};

/// The value of an attribute.
///
/// Elements are in memory form, little-endian and contiguous. Booleans are bytes that are 0 or 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// One element.
    Data(DType, Vec<u8>),
    /// A string of any bytes.
    String(Vec<u8>),
    /// A data type.
    Type(DType),
    /// A shape: `None` is unranked; a dimension of −1 is unknown.
    Shape(Option<Vec<i64>>),
    /// A list of elements.
    DataArray(DType, Vec<u8>),
    /// A list of data types.
    TypeArray(Vec<DType>),
    /// A tensor: element type, dimensions, elements.
    Dense(DType, Vec<i64>, Vec<u8>),
    /// A list of attributes.
    Aggregate(Vec<Attribute>),
    /// A function's name.
    Function(String),
}

/// Bytes and the alignment they need.
pub(super) struct Encoded {
    pub(super) bytes: Vec<u8>,
    pub(super) alignment: usize,
}

impl Attribute {
    /// Creates one element.
    pub fn scalar<T: Element>(value: T) -> Self {
        Self::Data(T::DTYPE, bytemuck::bytes_of(&value).to_vec())
    }

    /// Creates a string.
    pub fn string(text: &str) -> Self {
        Self::String(text.as_bytes().to_vec())
    }

    /// Creates a list of elements.
    pub fn array<T: Element>(values: &[T]) -> Self {
        Self::DataArray(T::DTYPE, memory_form(values))
    }

    /// Creates a tensor of these dimensions.
    pub fn dense<T: Element>(shape: &[i64], values: &[T]) -> Self {
        Self::Dense(T::DTYPE, shape.to_vec(), memory_form(values))
    }

    /// Returns the kind of the attribute.
    pub fn kind(&self) -> AttributeKind {
        match self {
            Self::Data(dtype, _) => AttributeKind::Data(*dtype),
            Self::String(_) => AttributeKind::Data(DType::String),
            Self::Type(_) => AttributeKind::Type,
            Self::Shape(_) => AttributeKind::Shape,
            // An empty list has no element type. Readers rely on this kind for every empty list.
            Self::DataArray(_, bytes) if bytes.is_empty() => AttributeKind::DataArray(DType::I32),
            Self::DataArray(dtype, _) => AttributeKind::DataArray(*dtype),
            Self::TypeArray(types) if types.is_empty() => AttributeKind::DataArray(DType::I32),
            Self::TypeArray(_) => AttributeKind::TypeArray,
            Self::Dense(dtype, ..) => AttributeKind::Dense(*dtype),
            Self::Aggregate(_) => AttributeKind::Aggregate,
            Self::Function(_) => AttributeKind::Function,
        }
    }

    /// Appends the attribute to the section and returns its offset. Omits the header if the kind
    /// allows that.
    pub(super) fn write(
        &self,
        typed: bool,
        section: &mut Vec<u8>,
        alignment: &mut usize,
    ) -> Result<usize, BefError> {
        let kind = self.kind();
        let (encoded, len) =
            if typed || kind.is_always_typed() { (self.typed(0)?, None) } else { self.plain()? };
        *alignment = encoded.alignment.max(*alignment);
        if let Some(len) = len {
            let length = reversed_integer(len);
            let offset = (section.len() + length.len()).next_multiple_of(encoded.alignment);
            section.resize(offset - length.len(), PADDING);
            section.extend_from_slice(&length);
        } else {
            section.resize(section.len().next_multiple_of(encoded.alignment), PADDING);
        }
        let offset = section.len();
        section.extend_from_slice(&encoded.bytes);
        if encoded.bytes.is_empty() {
            // No other attribute may start here, because offsets identify attributes.
            section.push(PADDING);
        }
        Ok(offset)
    }

    /// Returns the bare value, and the length in front of it if there is one.
    fn plain(&self) -> Result<(Encoded, Option<usize>), BefError> {
        let (dtype, bytes, has_length) = match self {
            Self::Data(dtype, bytes) => (Some(*dtype), bytes.clone(), false),
            Self::Type(dtype) => (None, vec![dtype.code()], false),
            Self::String(bytes) => (None, bytes.clone(), true),
            Self::DataArray(_, bytes) if bytes.is_empty() => return Ok((empty_array(), Some(0))),
            Self::TypeArray(types) if types.is_empty() => return Ok((empty_array(), Some(0))),
            Self::DataArray(dtype, bytes) => (Some(*dtype), bytes.clone(), true),
            Self::TypeArray(types) => (None, types.iter().map(|dtype| dtype.code()).collect(), true),
            Self::Shape(_) | Self::Dense(..) | Self::Aggregate(_) | Self::Function(_) => {
                return Ok((self.typed(0)?, None));
            }
        };
        let size = dtype.map_or(Ok(1), element_size)?;
        check_elements(dtype, &bytes)?;
        if !has_length && bytes.len() != size {
            return Err(fault(format!("{} bytes are not one element of {size} bytes", bytes.len())));
        }
        let len = has_length.then(|| bytes.len() / size);
        let alignment = dtype.and_then(DType::alignment).unwrap_or(1);
        Ok((Encoded { bytes, alignment }, len))
    }

    /// Returns the value after a header with its kind and size. `depth` counts the enclosing
    /// aggregates.
    fn typed(&self, depth: u8) -> Result<Encoded, BefError> {
        let mut out = Typed::new();
        match self {
            Self::Data(..) | Self::Type(_) => out.append(&self.plain()?.0),
            Self::String(bytes) => out.bytes.extend_from_slice(bytes),
            Self::Function(name) => out.bytes.extend_from_slice(name.as_bytes()),
            Self::Shape(shape) => out.shape(shape.as_deref())?,
            Self::DataArray(dtype, bytes) => {
                check_elements(Some(*dtype), bytes)?;
                out.array(bytes.len() / element_size(*dtype)?, dtype.alignment().unwrap_or(1), bytes)?;
            }
            Self::TypeArray(types) => {
                out.array(types.len(), 1, &types.iter().map(|dtype| dtype.code()).collect::<Vec<_>>())?;
            }
            Self::Dense(dtype, shape, elements) => out.dense(*dtype, shape, elements)?,
            Self::Aggregate(elements) => out.aggregate(elements, depth)?,
        }
        out.finish(self.kind())
    }
}

fn memory_form<T: NoUninit>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}

fn fault(message: String) -> BefError {
    At(Some(SectionId::Attributes), 0).attribute(message)
}

fn element_size(dtype: DType) -> Result<usize, BefError> {
    dtype.size().ok_or_else(|| fault(format!("{dtype} has no plain form")))
}

fn check_elements(dtype: Option<DType>, bytes: &[u8]) -> Result<(), BefError> {
    let size = dtype.map_or(Ok(1), element_size)?;
    if !bytes.len().is_multiple_of(size) {
        return Err(fault(format!(
            "{} bytes are not a multiple of the element size, {size} bytes",
            bytes.len()
        )));
    }
    if dtype == Some(DType::I1) && bytes.iter().any(|&byte| byte > 1) {
        return Err(fault("a boolean is neither 0 nor 1".to_owned()));
    }
    Ok(())
}

/// Encodes a length in front of strings and arrays, which is read backwards from its last byte.
fn reversed_integer(value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    crate::cursor::put_integer(&mut bytes, value as u64);
    // Reading backwards starts at the last byte, so the order of the bytes is reversed.
    bytes.reverse();
    bytes
}

/// Creates a plain array without elements. It is stored as a typed one, so that it can also be read
/// as an aggregate.
fn empty_array() -> Encoded {
    let mut out = Typed::new();
    out.bytes.extend_from_slice(&0_u32.to_le_bytes());
    out.bytes.extend_from_slice(&(Typed::ARRAY_HEADER as u32).to_le_bytes());
    out.seal(AttributeKind::DataArray(DType::I32))
}

/// A typed attribute that is being built.
struct Typed {
    bytes: Vec<u8>,
    alignment: usize,
}

impl Typed {
    const BASE: usize = 8;
    const ARRAY_HEADER: usize = 16;
    const DENSE_SHAPE: usize = 24;

    fn new() -> Self {
        Self { bytes: vec![PADDING; Self::BASE], alignment: 4 }
    }

    fn align(&mut self, alignment: usize) {
        self.alignment = self.alignment.max(alignment);
        self.bytes.resize(self.bytes.len().next_multiple_of(alignment), PADDING);
    }

    fn append(&mut self, encoded: &Encoded) {
        self.align(encoded.alignment);
        self.bytes.extend_from_slice(&encoded.bytes);
    }

    fn word(&mut self, value: usize) -> Result<(), BefError> {
        let value = u32::try_from(value).map_err(|_| fault(format!("{value} does not fit in 32 bits")))?;
        self.bytes.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    fn half(&mut self, value: usize) -> Result<(), BefError> {
        let value = u16::try_from(value).map_err(|_| fault(format!("{value} does not fit in 16 bits")))?;
        self.bytes.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    fn array(&mut self, len: usize, alignment: usize, elements: &[u8]) -> Result<(), BefError> {
        self.word(len)?;
        self.word(Self::ARRAY_HEADER)?;
        self.align(alignment);
        self.bytes.extend_from_slice(elements);
        Ok(())
    }

    fn shape(&mut self, shape: Option<&[i64]>) -> Result<(), BefError> {
        self.bytes.extend_from_slice(&[u8::from(shape.is_some()), PADDING]);
        let Some(dimensions) = shape else {
            self.bytes.extend_from_slice(&u16::MAX.to_le_bytes());
            return Ok(());
        };
        self.half(dimensions.len())?;
        if dimensions.iter().any(|&dimension| dimension < -1) {
            return Err(fault(format!("{dimensions:?} is not a shape")));
        }
        if !dimensions.is_empty() {
            self.align(MAX_ALIGNMENT);
            self.bytes.extend_from_slice(bytemuck::cast_slice(dimensions));
        }
        Ok(())
    }

    fn dense(&mut self, dtype: DType, shape: &[i64], elements: &[u8]) -> Result<(), BefError> {
        check_elements(Some(dtype), elements)?;
        let count = elements.len() / element_size(dtype)?;
        let product = shape
            .iter()
            .try_fold(1_usize, |product, &dimension| product.checked_mul(usize::try_from(dimension).ok()?));
        if product != Some(count) {
            return Err(fault(format!("{count} elements do not fill a tensor of shape {shape:?}")));
        }
        self.half(shape.len())?;
        self.half(Self::DENSE_SHAPE)?;
        self.word(count)?;
        let elements_start =
            (Self::DENSE_SHAPE + size_of_val(shape)).next_multiple_of(dtype.alignment().unwrap_or(1));
        self.word(elements_start)?;
        self.align(MAX_ALIGNMENT);
        self.bytes.extend_from_slice(bytemuck::cast_slice(shape));
        self.align(dtype.alignment().unwrap_or(1));
        self.bytes.extend_from_slice(elements);
        Ok(())
    }

    fn aggregate(&mut self, elements: &[Attribute], depth: u8) -> Result<(), BefError> {
        if depth >= MAX_AGGREGATE_DEPTH {
            let message = format!("aggregates nest deeper than {MAX_AGGREGATE_DEPTH}");
            return Err(At(Some(SectionId::Attributes), 0).limit(message));
        }
        self.word(elements.len())?;
        let table = self.bytes.len();
        // Room for at least one entry, as in the header's type.
        self.bytes.resize(table + 4 * elements.len().max(1), PADDING);
        for (index, element) in elements.iter().enumerate() {
            let encoded = element.typed(depth + 1)?;
            self.align(encoded.alignment);
            let offset =
                u32::try_from(self.bytes.len()).map_err(|_| fault("an aggregate is too long".to_owned()))?;
            self.bytes[table + 4 * index..][..4].copy_from_slice(&offset.to_le_bytes());
            self.bytes.extend_from_slice(&encoded.bytes);
        }
        Ok(())
    }

    fn finish(self, kind: AttributeKind) -> Result<Encoded, BefError> {
        if self.bytes.len() as u64 >> 48 != 0 {
            return Err(fault("an attribute is longer than 48-bit counts reach".to_owned()));
        }
        Ok(self.seal(kind))
    }

    /// Writes the header.
    fn seal(mut self, kind: AttributeKind) -> Encoded {
        let byte_count = self.bytes.len() as u64;
        self.bytes[..2].copy_from_slice(&kind.code().to_le_bytes());
        self.bytes[2..4].copy_from_slice(&((byte_count >> 32) as u16).to_le_bytes());
        self.bytes[4..8].copy_from_slice(&(byte_count as u32).to_le_bytes());
        Encoded { bytes: self.bytes, alignment: self.alignment }
    }
}
