//! Attributes read in place, without knowing their kind: the caller says what it expects, and every read is checked.
//!
//! Two encodings exist. *Plain* attributes are the bare value: scalars and data types in natural alignment, strings and
//! arrays with their length in front of them. *Typed* attributes start with a header that tells kind and size; dense
//! elements, shapes and aggregates are always typed, and the other kinds are where a kernel asks for it. This module
//! interprets plain attributes; [`crate::view`] interprets typed ones.

use bytemuck::AnyBitPattern;

use crate::error::{At, BefError};
use crate::table::{AttributeKind, DType, SectionId};
use crate::view::{AggregateAttribute, AttributeView, DataArray, DataTypes, DenseAttribute, ShapeAttribute};

/// How deep aggregates may nest.
pub const MAX_AGGREGATE_DEPTH: u8 = 32;

/// An attribute at an offset of the Attributes section (or inside an aggregate), not yet interpreted.
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

    /// Bytes from the start of the Attributes section.
    pub const fn offset(self) -> usize {
        self.offset
    }

    pub(crate) const fn at(self) -> At {
        At(Some(SectionId::Attributes), self.offset)
    }

    /// `len` bytes, `start` bytes after the attribute's offset.
    pub(crate) fn slice(self, start: usize, len: usize) -> Result<&'a [u8], BefError> {
        self.offset
            .checked_add(start)
            .and_then(|start| self.section.get(start..start.checked_add(len)?))
            .ok_or_else(|| {
                self.at().out_of_bounds(format!("the attribute's {len} bytes do not lie in the section"))
            })
    }

    /// One value of a plain scalar attribute: an integer, a float or a complex number.
    ///
    /// # Errors
    /// When the value does not lie in the section.
    pub fn scalar<T: AnyBitPattern>(self) -> Result<T, BefError> {
        Ok(bytemuck::pod_read_unaligned(self.slice(0, size_of::<T>())?))
    }

    /// A plain boolean.
    ///
    /// # Errors
    /// When the byte is neither 0 nor 1, or does not lie in the section.
    pub fn boolean(self) -> Result<bool, BefError> {
        match self.scalar::<u8>()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.at().attribute(format!("{other} is not a boolean"))),
        }
    }

    /// A plain data type.
    ///
    /// # Errors
    /// When the byte is no data type's number, or does not lie in the section.
    pub fn data_type(self) -> Result<DType, BefError> {
        let code = self.scalar::<u8>()?;
        DType::from_code(code).ok_or_else(|| self.at().attribute(format!("{code} is not a data type")))
    }

    /// The number of elements of a plain array, or of bytes of a plain string: a variable-length integer that ends in
    /// front of the elements and is read backwards.
    ///
    /// # Errors
    /// When the length does not lie in the section or does not fit in 32 bits.
    pub fn length(self) -> Result<usize, BefError> {
        Ok(self.length_and_its_size()?.0)
    }

    pub(crate) fn length_and_its_size(self) -> Result<(usize, usize), BefError> {
        let mut value = 0_u64;
        for size in 1..=5 {
            let byte =
                self.offset.checked_sub(size).and_then(|at| self.section.get(at)).ok_or_else(|| {
                    self.at().out_of_bounds("the attribute's length does not lie in the section")
                })?;
            value = value << 7 | u64::from(byte & 0x7F);
            if byte & 0x80 == 0 && u32::try_from(value).is_ok() {
                return Ok((value as usize, size));
            }
        }
        Err(self.at().attribute("the attribute's length does not fit in 32 bits"))
    }

    /// The bytes of a plain string, which need not be text.
    ///
    /// # Errors
    /// When they do not lie in the section.
    pub fn bytes(self) -> Result<&'a [u8], BefError> {
        self.slice(0, self.length()?)
    }

    /// A plain string.
    ///
    /// # Errors
    /// When it does not lie in the section or is not UTF-8.
    pub fn string(self) -> Result<&'a str, BefError> {
        self.utf8(self.bytes()?)
    }

    pub(crate) fn utf8(self, bytes: &'a [u8]) -> Result<&'a str, BefError> {
        std::str::from_utf8(bytes)
            .map_err(|error| self.at().attribute(format!("the string is not UTF-8: {error}")))
    }

    /// The elements of a plain array. `bool` and [`DType`] are no bit patterns; use [`Self::booleans`] and
    /// [`Self::data_types`] for them.
    ///
    /// # Errors
    /// When the elements do not lie in the section or are not aligned for `T`.
    pub fn array<T: AnyBitPattern>(self) -> Result<&'a [T], BefError> {
        let len = self.length()?;
        self.elements(0, len)
    }

    /// `len` values of `T`, `start` bytes after the attribute's offset.
    pub(crate) fn elements<T: AnyBitPattern>(self, start: usize, len: usize) -> Result<&'a [T], BefError> {
        let bytes = self.slice(start, self.byte_len(len, size_of::<T>())?)?;
        if bytes.is_empty() {
            return Ok(&[]);
        }
        bytemuck::try_cast_slice(bytes)
            .map_err(|error| self.at().attribute(format!("the elements cannot be read in place: {error}")))
    }

    pub(crate) fn byte_len(self, len: usize, size: usize) -> Result<usize, BefError> {
        len.checked_mul(size).ok_or_else(|| self.at().out_of_bounds("the elements do not lie in the section"))
    }

    /// The elements of a plain array of booleans, as bytes that are 0 or 1.
    ///
    /// # Errors
    /// When they do not lie in the section or one is neither 0 nor 1.
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

    /// The elements of a plain array of data types.
    ///
    /// # Errors
    /// When they do not lie in the section or one is no data type's number.
    pub fn data_types(self) -> Result<DataTypes<'a>, BefError> {
        DataTypes::new(self, self.bytes()?)
    }

    /// A shape.
    ///
    /// # Errors
    /// When the attribute is not a well-formed shape.
    pub fn shape(self) -> Result<ShapeAttribute<'a>, BefError> {
        match self.typed()? {
            AttributeView::Shape(shape) => Ok(shape),
            other => Err(self.at().attribute(format!("expected a shape, found {}", other.kind()))),
        }
    }

    /// Dense elements.
    ///
    /// # Errors
    /// When the attribute is not a well-formed tensor.
    pub fn dense(self) -> Result<DenseAttribute<'a>, BefError> {
        match self.typed()? {
            AttributeView::Dense(dense) => Ok(dense),
            other => Err(self.at().attribute(format!("expected dense elements, found {}", other.kind()))),
        }
    }

    /// A list of attributes. An empty array counts as one, because the two cannot be told apart in MLIR.
    ///
    /// # Errors
    /// When the attribute is not a well-formed aggregate.
    pub fn aggregate(self) -> Result<AggregateAttribute<'a>, BefError> {
        match self.typed()? {
            AttributeView::Aggregate(aggregate) => Ok(aggregate),
            AttributeView::DataArray(array) if array.is_empty() => Ok(AggregateAttribute::empty()),
            other => Err(self.at().attribute(format!("expected an aggregate, found {}", other.kind()))),
        }
    }

    /// A typed attribute of whatever kind its header says.
    ///
    /// # Errors
    /// When the header or what follows it is malformed. Elements of an aggregate are not looked at here, but when they are
    /// taken out of it.
    pub fn typed(self) -> Result<AttributeView<'a>, BefError> {
        AttributeView::read_typed(self)
    }

    /// The attribute as a value of `kind`; `typed` says whether it has a header even if its kind does not call for one.
    ///
    /// # Errors
    /// When the attribute does not decode as that kind.
    pub fn view(self, kind: AttributeKind, typed: bool) -> Result<AttributeView<'a>, BefError> {
        if typed || kind.is_always_typed() {
            let view = self.typed()?;
            return if view.kind() == kind {
                Ok(view)
            } else {
                Err(self.at().attribute(format!("is said to be {kind}, but its header says {}", view.kind())))
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

    /// Checks what a kernel relies on when it reads elements of `dtype` in place: alignment, and booleans being 0 or 1.
    pub(crate) fn check_elements(self, dtype: DType, bytes: &[u8]) -> Result<(), BefError> {
        let alignment = dtype.alignment().unwrap_or(1);
        if !bytes.is_empty() && !bytes.as_ptr().addr().is_multiple_of(alignment) {
            return Err(self.at().attribute(format!("{dtype} data is not aligned to {alignment} bytes")));
        }
        if dtype == DType::I1 { self.check_booleans(bytes) } else { Ok(()) }
    }
}
