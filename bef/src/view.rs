//! Attributes of known kind: typed attributes with their header, and interpreted plain ones.
//!
//! Nothing is copied; values refer to the file.

use bytemuck::AnyBitPattern;

use crate::attribute::{MAX_AGGREGATE_DEPTH, RawAttribute};
use crate::error::BefError;
use crate::table::{AttributeKind, DType};

/// An attribute of known kind.
#[derive(Clone, Copy, Debug)]
pub enum AttributeView<'a> {
    /// One element and its bytes in memory form, little-endian.
    Data(DType, &'a [u8]),
    /// A string, which need not be text.
    String(&'a [u8]),
    /// A data type.
    Type(DType),
    /// A shape.
    Shape(ShapeAttribute<'a>),
    /// Elements of one data type.
    DataArray(DataArray<'a>),
    /// Data types.
    TypeArray(DataTypes<'a>),
    /// A tensor.
    Dense(DenseAttribute<'a>),
    /// A list of attributes.
    Aggregate(AggregateAttribute<'a>),
    /// A function's name.
    Function(&'a str),
}

/// The sizes of headers in bytes, and the offsets of their fields.
mod layout {
    /// Kind (2 bytes), upper 16 bits of the byte count, lower 32 bits of it.
    pub(super) const BASE: usize = 8;
    /// Base, number of elements, offset of the elements.
    pub(super) const ARRAY: usize = 16;
    /// Base, ranked or not, a byte of padding, rank.
    pub(super) const SHAPE: usize = 12;
    /// Shape, four bytes of padding, then the dimensions.
    pub(super) const SHAPE_DIMENSIONS: usize = 16;
    /// Base, rank, offset of the shape, number of elements, offset of the elements.
    pub(super) const DENSE: usize = 20;
    /// Base, number of elements, then the offset of each.
    pub(super) const AGGREGATE: usize = 12;
}

/// The start of every typed attribute.
#[derive(Clone, Copy)]
struct Header {
    kind: AttributeKind,
    /// The size of the whole attribute in bytes, including the header.
    byte_count: usize,
}

impl Header {
    fn read(raw: RawAttribute<'_>) -> Result<Self, BefError> {
        if !raw.offset.is_multiple_of(4) {
            return Err(raw.at().attribute("a typed attribute is not aligned to 4 bytes"));
        }
        let code = raw.field::<u16>(0)?;
        let kind = AttributeKind::from_code(code)
            .ok_or_else(|| raw.at().unsupported(format!("unknown attribute kind {code}")))?;
        let byte_count = u64::from(raw.field::<u16>(2)?) << 32 | u64::from(raw.field::<u32>(4)?);
        let byte_count = usize::try_from(byte_count).unwrap_or(usize::MAX);
        if byte_count < layout::BASE {
            return Err(raw.at().attribute("a typed attribute is smaller than its header"));
        }
        raw.slice(0, byte_count)?;
        Ok(Self { kind, byte_count })
    }
}

impl<'a> RawAttribute<'a> {
    fn field<T: AnyBitPattern>(self, start: usize) -> Result<T, BefError> {
        Ok(bytemuck::pod_read_unaligned(self.slice(start, size_of::<T>())?))
    }

    /// Returns the size of a typed attribute according to its header.
    pub(crate) fn typed_byte_count(self) -> Result<usize, BefError> {
        Ok(Header::read(self)?.byte_count)
    }

    /// Returns the attribute as if the section ended with it, so that nothing inside can refer to
    /// bytes beyond it.
    fn confined(self, header: Header) -> Self {
        let end = self.offset.saturating_add(header.byte_count).min(self.section.len());
        Self { section: self.section.get(..end).unwrap_or(&[]), ..self }
    }
}

impl<'a> AttributeView<'a> {
    pub(crate) fn read_typed(raw: RawAttribute<'a>) -> Result<Self, BefError> {
        let header = Header::read(raw)?;
        let raw = raw.confined(header);
        let payload = raw.slice(layout::BASE, header.byte_count - layout::BASE)?;
        Ok(match header.kind {
            AttributeKind::Data(DType::String) => Self::String(payload),
            AttributeKind::Data(dtype) => {
                let bytes = raw.slice(layout::BASE, raw.element_size(dtype)?)?;
                raw.check_elements(dtype, bytes)?;
                Self::Data(dtype, bytes)
            }
            AttributeKind::Type => {
                let code = raw.field::<u8>(layout::BASE)?;
                let dtype = DType::from_code(code);
                Self::Type(dtype.ok_or_else(|| raw.at().attribute(format!("{code} is not a data type")))?)
            }
            AttributeKind::Shape => Self::Shape(ShapeAttribute::read(raw)?),
            AttributeKind::DataArray(dtype) => {
                let (start, len) = raw.array_extent()?;
                Self::DataArray(DataArray::new(raw, dtype, start, len)?)
            }
            AttributeKind::TypeArray => {
                let (start, len) = raw.array_extent()?;
                Self::TypeArray(DataTypes::new(raw, raw.slice(start, len)?)?)
            }
            AttributeKind::Dense(dtype) => Self::Dense(DenseAttribute::read(raw, dtype)?),
            AttributeKind::Aggregate => Self::Aggregate(AggregateAttribute::read(raw, header)?),
            AttributeKind::Function => Self::Function(raw.utf8(payload)?),
        })
    }

    /// Returns the kind of the attribute.
    pub const fn kind(&self) -> AttributeKind {
        match self {
            Self::Data(dtype, _) => AttributeKind::Data(*dtype),
            Self::String(_) => AttributeKind::Data(DType::String),
            Self::Type(_) => AttributeKind::Type,
            Self::Shape(_) => AttributeKind::Shape,
            Self::DataArray(array) => AttributeKind::DataArray(array.dtype),
            Self::TypeArray(_) => AttributeKind::TypeArray,
            Self::Dense(dense) => AttributeKind::Dense(dense.dtype),
            Self::Aggregate(_) => AttributeKind::Aggregate,
            Self::Function(_) => AttributeKind::Function,
        }
    }

    /// Returns the value of an attribute that is one element with the size of `T`.
    pub fn scalar<T: AnyBitPattern>(&self) -> Option<T> {
        match self {
            Self::Data(_, bytes) => bytemuck::try_pod_read_unaligned(bytes).ok(),
            _ => None,
        }
    }

    /// Returns the text of a string attribute, if it is UTF-8.
    pub fn string(&self) -> Option<&'a str> {
        match self {
            Self::String(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }
}

impl RawAttribute<'_> {
    /// Returns the start and number of the elements of a typed array.
    fn array_extent(self) -> Result<(usize, usize), BefError> {
        let len = self.field::<u32>(layout::BASE)? as usize;
        let start = self.field::<u32>(layout::BASE + 4)? as usize;
        if start < layout::ARRAY {
            return Err(self.at().attribute("the elements of an array overlap its header"));
        }
        Ok((start, len))
    }
}

/// The elements of an array attribute.
#[derive(Clone, Copy, Debug)]
pub struct DataArray<'a> {
    dtype: DType,
    len: usize,
    bytes: &'a [u8],
}

impl<'a> DataArray<'a> {
    pub(crate) fn new(
        raw: RawAttribute<'a>,
        dtype: DType,
        start: usize,
        len: usize,
    ) -> Result<Self, BefError> {
        let bytes = raw.slice(start, raw.byte_len(len, raw.element_size(dtype)?)?)?;
        raw.check_elements(dtype, bytes)?;
        Ok(Self { dtype, len, bytes })
    }

    /// Returns the data type of the elements. It has no meaning if there are none.
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the number of elements.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the elements in memory form.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the elements as values of `T`, if `T` has the right size.
    pub fn elements<T: AnyBitPattern>(&self) -> Option<&'a [T]> {
        cast_elements(self.bytes, self.dtype)
    }
}

fn cast_elements<T: AnyBitPattern>(bytes: &[u8], dtype: DType) -> Option<&[T]> {
    if bytes.is_empty() {
        return Some(&[]);
    }
    if dtype.size() != Some(size_of::<T>()) {
        return None;
    }
    bytemuck::try_cast_slice(bytes).ok()
}

/// The data types of an array attribute.
#[derive(Clone, Copy, Debug)]
pub struct DataTypes<'a> {
    codes: &'a [u8],
}

impl<'a> DataTypes<'a> {
    pub(crate) fn new(raw: RawAttribute<'a>, codes: &'a [u8]) -> Result<Self, BefError> {
        match codes.iter().find(|&&code| DType::from_code(code).is_none()) {
            Some(code) => Err(raw.at().attribute(format!("{code} is not a data type"))),
            None => Ok(Self { codes }),
        }
    }

    /// Returns the number of data types.
    pub const fn len(&self) -> usize {
        self.codes.len()
    }

    /// Returns true if there are no data types.
    pub const fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Returns the data types in order.
    pub fn iter(&self) -> impl Iterator<Item = DType> + use<'a> {
        self.codes.iter().filter_map(|&code| DType::from_code(code))
    }
}

/// A tensor shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeAttribute<'a> {
    /// The shape is unknown, including the rank.
    Unranked,
    /// The dimensions; −1 stands for an unknown one.
    Ranked(&'a [i64]),
}

impl<'a> ShapeAttribute<'a> {
    fn read(raw: RawAttribute<'a>) -> Result<Self, BefError> {
        match raw.field::<u8>(layout::BASE)? {
            0 => Ok(Self::Unranked),
            1 => {
                let rank = usize::from(raw.field::<u16>(layout::SHAPE - 2)?);
                let dimensions =
                    if rank == 0 { &[] } else { raw.elements::<i64>(layout::SHAPE_DIMENSIONS, rank)? };
                match dimensions.iter().find(|&&dimension| dimension < -1) {
                    Some(dimension) => Err(raw.at().attribute(format!("a shape has dimension {dimension}"))),
                    None => Ok(Self::Ranked(dimensions)),
                }
            }
            other => Err(raw.at().unsupported(format!("unknown form {other} of shape"))),
        }
    }
}

/// A tensor: data type, shape and elements.
#[derive(Clone, Copy, Debug)]
pub struct DenseAttribute<'a> {
    /// The elements' data type.
    pub dtype: DType,
    /// The dimensions, none negative; their product is the number of elements.
    pub shape: &'a [i64],
    /// The elements in memory form, in row-major order.
    pub elements: &'a [u8],
}

impl<'a> DenseAttribute<'a> {
    fn read(raw: RawAttribute<'a>, dtype: DType) -> Result<Self, BefError> {
        let rank = usize::from(raw.field::<u16>(layout::BASE)?);
        let shape_start = usize::from(raw.field::<u16>(layout::BASE + 2)?);
        let count = raw.field::<u32>(layout::BASE + 4)? as usize;
        let start = raw.field::<u32>(layout::BASE + 8)? as usize;
        if shape_start < layout::DENSE || start < layout::DENSE {
            return Err(raw.at().attribute("the shape or the elements of a tensor overlap its header"));
        }
        let shape = raw.elements::<i64>(shape_start, rank)?;
        let product = shape
            .iter()
            .try_fold(1_usize, |product, &dimension| product.checked_mul(usize::try_from(dimension).ok()?));
        if product != Some(count) {
            return Err(raw
                .at()
                .attribute(format!("{count} elements do not fill a tensor of shape {shape:?}")));
        }
        let elements = raw.slice(start, raw.byte_len(count, raw.element_size(dtype)?)?)?;
        raw.check_elements(dtype, elements)?;
        Ok(Self { dtype, shape, elements })
    }

    /// Returns the elements as values of `T`, if `T` has the right size.
    pub fn values<T: AnyBitPattern>(&self) -> Option<&'a [T]> {
        cast_elements(self.elements, self.dtype)
    }
}

/// A list of typed attributes.
#[derive(Clone, Copy, Debug)]
pub struct AggregateAttribute<'a> {
    raw: RawAttribute<'a>,
    /// Bytes from the start of the aggregate.
    offsets: &'a [u32],
}

impl<'a> AggregateAttribute<'a> {
    /// Creates a list without elements.
    pub const fn empty() -> Self {
        Self { raw: RawAttribute::new(&[], 0), offsets: &[] }
    }

    /// Reads an aggregate. Its elements must not overlap, so that reading all of them costs no more
    /// than the file's size.
    fn read(raw: RawAttribute<'a>, header: Header) -> Result<Self, BefError> {
        if raw.depth >= MAX_AGGREGATE_DEPTH {
            return Err(raw.at().limit(format!("aggregates nest deeper than {MAX_AGGREGATE_DEPTH}")));
        }
        let len = raw.field::<u32>(layout::BASE)? as usize;
        let offsets = raw.elements::<u32>(layout::AGGREGATE, len)?;
        let aggregate = Self { raw, offsets };
        let mut free_from = layout::AGGREGATE + size_of_val(offsets);
        for &offset in offsets {
            let offset = offset as usize;
            if offset < free_from {
                return Err(raw.at().attribute("the elements of an aggregate overlap"));
            }
            free_from = offset.saturating_add(aggregate.element(offset).typed_byte_count()?);
        }
        if free_from > header.byte_count.max(layout::AGGREGATE) {
            return Err(raw.at().attribute("the elements of an aggregate exceed it"));
        }
        Ok(aggregate)
    }

    fn element(&self, offset: usize) -> RawAttribute<'a> {
        RawAttribute {
            section: self.raw.section,
            offset: self.raw.offset.saturating_add(offset),
            depth: self.raw.depth.saturating_add(1),
        }
    }

    /// Returns the number of elements.
    pub const fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Returns true if there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// Returns the element at `index`.
    ///
    /// # Errors
    /// If there is no such element or it is malformed.
    pub fn get(&self, index: usize) -> Result<AttributeView<'a>, BefError> {
        let offset = self.offsets.get(index).ok_or_else(|| {
            self.raw.at().attribute(format!("an aggregate of {} has no element {index}", self.len()))
        })?;
        self.element(*offset as usize).typed()
    }

    /// Returns the elements in order.
    pub fn iter(&self) -> impl Iterator<Item = Result<AttributeView<'a>, BefError>> + use<'a> {
        let aggregate = *self;
        (0..self.len()).map(move |index| aggregate.get(index))
    }
}
