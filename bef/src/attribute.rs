//! Attributes that are read in place without knowing their kind. The caller says what it expects,
//! and every read is checked.
//!
//! There are two encodings. *Plain* attributes are bare values: scalars and data types in natural
//! alignment, strings and arrays with their length in front of them. *Typed* attributes start with
//! a header that contains kind and size. Dense elements, shapes and aggregates are always typed;
//! other kinds are typed where a kernel requires it. This module interprets plain attributes,
//! [`crate::view`] typed ones.

use bytemuck::AnyBitPattern;

use crate::error::{At, BefError};
use crate::table::{AttributeKind, DType, SectionId};
use crate::view::{AggregateAttribute, AttributeView, DataArray, DataTypes, DenseAttribute, ShapeAttribute};

/// The deepest nesting of aggregates.
pub const MAX_AGGREGATE_DEPTH: u8 = 32;

/// An uninterpreted attribute at an offset of the Attributes section or inside an aggregate.
#[derive(Clone, Copy)]
pub struct RawAttribute<'a> {
    pub(crate) section: &'a [u8],
    pub(crate) offset: usize,
    pub(crate) depth: u8,
}

impl std::fmt::Debug for RawAttribute<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawAttribute").field("offset", &self.offset).finish_non_exhaustive()
    }
}

impl<'a> RawAttribute<'a> {
    pub(crate) const fn new(section: &'a [u8], offset: usize) -> Self {
        Self { section, offset, depth: 0 }
    }

    /// Returns the offset from the start of the Attributes section, in bytes.
    pub const fn offset(self) -> usize {
        self.offset
    }

    pub(crate) const fn at(self) -> At {
        At(Some(SectionId::Attributes), self.offset)
    }

    /// Returns `len` bytes, `start` bytes after the attribute's offset.
    pub(crate) fn slice(self, start: usize, len: usize) -> Result<&'a [u8], BefError> {
        self.offset
            .checked_add(start)
            .and_then(|start| self.section.get(start..start.checked_add(len)?))
            .ok_or_else(|| self.at().out_of_bounds(format!("the attribute's {len} bytes exceed the section")))
    }

    /// Reads one value of a plain scalar attribute: an integer, a float or a complex number.
    ///
    /// # Errors
    /// If the value exceeds the section.
    pub fn scalar<T: AnyBitPattern>(self) -> Result<T, BefError> {
        Ok(bytemuck::pod_read_unaligned(self.slice(0, size_of::<T>())?))
    }

    /// Reads a plain boolean.
    ///
    /// # Errors
    /// If the byte is neither 0 nor 1, or exceeds the section.
    pub fn boolean(self) -> Result<bool, BefError> {
        match self.scalar::<u8>()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.at().attribute(format!("{other} is not a boolean"))),
        }
    }

    /// Reads a plain data type.
    ///
    /// # Errors
    /// If the byte is not the number of a data type, or exceeds the section.
    pub fn data_type(self) -> Result<DType, BefError> {
        let code = self.scalar::<u8>()?;
        DType::from_code(code).ok_or_else(|| self.at().attribute(format!("{code} is not a data type")))
    }

    /// Reads the number of elements of a plain array, or of bytes of a plain string. It is a
    /// variable-length integer that ends in front of the elements and is read backwards.
    ///
    /// # Errors
    /// If the length exceeds the section or does not fit in 32 bits.
    pub fn length(self) -> Result<usize, BefError> {
        Ok(self.length_and_its_size()?.0)
    }

    pub(crate) fn length_and_its_size(self) -> Result<(usize, usize), BefError> {
        let mut value = 0_u64;
        for size in 1..=5 {
            let byte = self
                .offset
                .checked_sub(size)
                .and_then(|at| self.section.get(at))
                .ok_or_else(|| self.at().out_of_bounds("the attribute's length exceeds the section"))?;
            value = value << 7 | u64::from(byte & 0x7F);
            if byte & 0x80 == 0 && u32::try_from(value).is_ok() {
                return Ok((value as usize, size));
            }
        }
        Err(self.at().attribute("the attribute's length does not fit in 32 bits"))
    }

    /// Reads the bytes of a plain string, which need not be text.
    ///
    /// # Errors
    /// If they exceed the section.
    pub fn bytes(self) -> Result<&'a [u8], BefError> {
        self.slice(0, self.length()?)
    }

    /// Reads a plain string.
    ///
    /// # Errors
    /// If it exceeds the section or is not UTF-8.
    pub fn string(self) -> Result<&'a str, BefError> {
        self.utf8(self.bytes()?)
    }

    pub(crate) fn utf8(self, bytes: &'a [u8]) -> Result<&'a str, BefError> {
        std::str::from_utf8(bytes)
            .map_err(|error| self.at().attribute(format!("the string is not UTF-8: {error}")))
    }

    /// Reads the elements of a plain array. `bool` and [`DType`] cannot have any bit pattern; use
    /// [`Self::booleans`] and [`Self::data_types`] for them.
    ///
    /// # Errors
    /// If the elements exceed the section or are not aligned for `T`.
    pub fn array<T: AnyBitPattern>(self) -> Result<&'a [T], BefError> {
        let len = self.length()?;
        self.elements(0, len)
    }

    /// Reads `len` values of `T`, `start` bytes after the attribute's offset.
    pub(crate) fn elements<T: AnyBitPattern>(self, start: usize, len: usize) -> Result<&'a [T], BefError> {
        let bytes = self.slice(start, self.byte_len(len, size_of::<T>())?)?;
        if bytes.is_empty() {
            return Ok(&[]);
        }
        bytemuck::try_cast_slice(bytes)
            .map_err(|error| self.at().attribute(format!("the elements cannot be read in place: {error}")))
    }

    pub(crate) fn byte_len(self, len: usize, size: usize) -> Result<usize, BefError> {
        len.checked_mul(size).ok_or_else(|| self.at().out_of_bounds("the elements exceed the section"))
    }

    /// Reads the elements of a plain array of booleans, as bytes that are 0 or 1.
    ///
    /// # Errors
    /// If they exceed the section or one is neither 0 nor 1.
    pub fn booleans(self) -> Result<&'a [u8], BefError> {
        let bytes = self.bytes()?;
        self.check_booleans(bytes)?;
        Ok(bytes)
    }

    pub(crate) fn check_booleans(self, bytes: &[u8]) -> Result<(), BefError> {
        match bytes.iter().find(|&&byte| byte > 1) {
            Some(byte) => Err(self.at().attribute(format!("{byte} is not a boolean"))),
            None => Ok(()),
        }
    }

    /// Reads the elements of a plain array of data types.
    ///
    /// # Errors
    /// If they exceed the section or one is not the number of a data type.
    pub fn data_types(self) -> Result<DataTypes<'a>, BefError> {
        DataTypes::new(self, self.bytes()?)
    }

    /// Reads a shape.
    ///
    /// # Errors
    /// If the attribute is not a well-formed shape.
    pub fn shape(self) -> Result<ShapeAttribute<'a>, BefError> {
        match self.typed()? {
            AttributeView::Shape(shape) => Ok(shape),
            other => Err(self.at().attribute(format!("expected a shape, found {}", other.kind()))),
        }
    }

    /// Reads dense elements.
    ///
    /// # Errors
    /// If the attribute is not a well-formed tensor.
    pub fn dense(self) -> Result<DenseAttribute<'a>, BefError> {
        match self.typed()? {
            AttributeView::Dense(dense) => Ok(dense),
            other => Err(self.at().attribute(format!("expected dense elements, found {}", other.kind()))),
        }
    }

    /// Reads a list of attributes. An empty array counts as one, because MLIR does not distinguish
    /// the two.
    ///
    /// # Errors
    /// If the attribute is not a well-formed aggregate.
    pub fn aggregate(self) -> Result<AggregateAttribute<'a>, BefError> {
        match self.typed()? {
            AttributeView::Aggregate(aggregate) => Ok(aggregate),
            AttributeView::DataArray(array) if array.is_empty() => Ok(AggregateAttribute::empty()),
            other => Err(self.at().attribute(format!("expected an aggregate, found {}", other.kind()))),
        }
    }

    /// Reads a typed attribute, whose header says its kind.
    ///
    /// # Errors
    /// If the header or the value is malformed. Elements of an aggregate are checked when they are
    /// read.
    pub fn typed(self) -> Result<AttributeView<'a>, BefError> {
        AttributeView::read_typed(self)
    }

    /// Reads the attribute as a value of `kind`. `typed` says whether it has a header even if its
    /// kind does not require one.
    ///
    /// # Errors
    /// If the attribute does not decode as that kind.
    pub fn view(self, kind: AttributeKind, typed: bool) -> Result<AttributeView<'a>, BefError> {
        if typed || kind.is_always_typed() {
            let view = self.typed()?;
            return if view.kind() == kind {
                Ok(view)
            } else {
                Err(self.at().attribute(format!("is listed as {kind}, but its header says {}", view.kind())))
            };
        }
        match kind {
            AttributeKind::Data(DType::String) => Ok(AttributeView::String(self.bytes()?)),
            AttributeKind::Data(dtype) => {
                let bytes = self.slice(0, self.element_size(dtype)?)?;
                self.check_elements(dtype, bytes)?;
                Ok(AttributeView::Data(dtype, bytes))
            }
            AttributeKind::Type => Ok(AttributeView::Type(self.data_type()?)),
            AttributeKind::DataArray(dtype) => {
                let len = self.length()?;
                Ok(AttributeView::DataArray(DataArray::new(self, dtype, 0, len)?))
            }
            AttributeKind::TypeArray => Ok(AttributeView::TypeArray(self.data_types()?)),
            AttributeKind::Dense(_)
            | AttributeKind::Shape
            | AttributeKind::Aggregate
            | AttributeKind::Function => self.typed(),
        }
    }

    pub(crate) fn element_size(self, dtype: DType) -> Result<usize, BefError> {
        dtype.size().ok_or_else(|| self.at().attribute(format!("{dtype} has no plain form")))
    }

    /// Checks what kernels rely on when they read elements of `dtype` in place: alignment, and that
    /// booleans are 0 or 1.
    pub(crate) fn check_elements(self, dtype: DType, bytes: &[u8]) -> Result<(), BefError> {
        let alignment = dtype.alignment().unwrap_or(1);
        if !bytes.is_empty() && !bytes.as_ptr().addr().is_multiple_of(alignment) {
            return Err(self.at().attribute(format!("{dtype} data is not aligned to {alignment} bytes")));
        }
        if dtype == DType::I1 { self.check_booleans(bytes) } else { Ok(()) }
    }
}
