//! Attributes as kernels take them: `Attr<i32>`, `Attr<str>`, `Attr<[i64]>`,
//! `Attr<DenseAttribute>`.
//!
//! Their bytes stay in the program. Loading the program reads scalars and the bounds of strings and
//! arrays, so that a call neither searches nor checks.

use half::{bf16, f16};
use tfrt_bef::{AggregateAttribute, DType, DenseAttribute, RawAttribute, ShapeAttribute};

use super::{
    parameters::{Cursor, KernelParameter, ParameterError},
    sealed,
    signature::{AttributeParameter, AttributeSpec, KernelSignature},
};
use crate::{
    diagnostic::Diagnostic,
    program::{AttributeCell, BefFile, KernelFrame},
};

impl AttributeCell {
    /// Reads what a call will need of the attribute at `offset`.
    ///
    /// # Errors
    /// A message when the attribute's bytes are not what `spec` says.
    pub(crate) fn resolve(raw: RawAttribute<'_>, offset: u32, spec: AttributeSpec) -> Result<Self, String> {
        let mut cell = Self { offset, bits: 0 };
        let checked = match spec {
            AttributeSpec::Scalar(DType::I1) => raw.boolean().map(|b| cell.bits = u64::from(b)),
            AttributeSpec::Scalar(dtype) => scalar_bits(raw, dtype).map(|bits| cell.bits = bits),
            AttributeSpec::Type => raw.data_type().map(|t| cell.bits = u64::from(t.code())),
            AttributeSpec::String => raw.string().map(drop),
            AttributeSpec::Array(DType::I1) => raw.booleans().map(drop),
            AttributeSpec::Array(dtype) => {
                raw.view(tfrt_bef::AttributeKind::DataArray(dtype), false).map(drop)
            }
            AttributeSpec::TypeArray => raw.data_types().map(drop),
            AttributeSpec::Shape => raw.shape().map(drop),
            AttributeSpec::Dense => raw.dense().map(drop),
            AttributeSpec::Aggregate => raw.aggregate().map(|list| cell.bits = list.len() as u64),
            AttributeSpec::Any => Ok(()),
        };
        checked.map(|()| cell).map_err(|error| error.message().to_owned())
    }
}

fn scalar_bits(raw: RawAttribute<'_>, dtype: DType) -> Result<u64, tfrt_bef::BefError> {
    match dtype.size() {
        Some(1) => raw.scalar::<u8>().map(u64::from),
        Some(2) => raw.scalar::<u16>().map(u64::from),
        Some(4) => raw.scalar::<u32>().map(u64::from),
        _ => raw.scalar::<u64>(),
    }
}

/// A type that an attribute parameter may hold; see [`Attr`].
///
/// The trait is sealed: it names the kinds of attributes that programs have.
pub trait AttributeType: sealed::Attribute {
    /// The type that the kernel receives.
    type Borrowed<'f>;
    /// The kind of attribute that a program must have there.
    const SPEC: AttributeSpec;
    /// Reads the attribute, which was checked against `SPEC` when the program was loaded.
    #[doc(hidden)]
    fn read<'f>(program: &'f BefFile, cell: &'f AttributeCell) -> Option<Self::Borrowed<'f>>;
}

/// An attribute parameter, such as `Attr<i32>`, `Attr<str>`, `Attr<[f32]>` or
/// `Attr<DenseAttribute>`. Its value is the field `.0`.
pub struct Attr<'f, T: AttributeType + ?Sized>(pub T::Borrowed<'f>);

/// All attributes after the fixed ones, each read as a `T`.
pub struct RestAttrs<'f, T: AttributeType + ?Sized>(pub Vec<T::Borrowed<'f>>);

macro_rules! scalar_attributes {
    ($($type:ty, $dtype:ident, |$bits:ident| $convert:expr;)*) => {$(
        impl sealed::Attribute for $type {}
        impl AttributeType for $type {
            type Borrowed<'f> = $type;
            const SPEC: AttributeSpec = AttributeSpec::Scalar(DType::$dtype);
            #[inline]
            fn read<'f>(_: &'f BefFile, cell: &'f AttributeCell) -> Option<$type> {
                let $bits = cell.bits;
                Some($convert)
            }
        }
    )*};
}

macro_rules! array_attributes {
    ($($type:ty, $dtype:ident;)*) => {$(
        impl sealed::Attribute for [$type] {}
        impl AttributeType for [$type] {
            type Borrowed<'f> = &'f [$type];
            const SPEC: AttributeSpec = AttributeSpec::Array(DType::$dtype);
            fn read<'f>(program: &'f BefFile, cell: &'f AttributeCell) -> Option<&'f [$type]> {
                program.bef().attribute(cell.offset).array::<$type>().ok()
            }
        }
    )*};
}

macro_rules! borrowed_attributes {
    ($($type:ty => $borrowed:ty, $spec:expr, |$raw:ident| $read:expr;)*) => {$(
        impl sealed::Attribute for $type {}
        impl AttributeType for $type {
            type Borrowed<'f> = $borrowed;
            const SPEC: AttributeSpec = $spec;
            fn read<'f>(program: &'f BefFile, cell: &'f AttributeCell) -> Option<$borrowed> {
                let $raw = program.bef().attribute(cell.offset);
                $read
            }
        }
    )*};
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "the low bytes are the scalar"
)]
mod scalars {
    use super::*;

    scalar_attributes! {
        bool, I1, |bits| bits != 0;
        i8, I8, |bits| bits as i8;
        i16, I16, |bits| bits as i16;
        i32, I32, |bits| bits as i32;
        i64, I64, |bits| bits as i64;
        u8, UI8, |bits| bits as u8;
        u16, UI16, |bits| bits as u16;
        u32, UI32, |bits| bits as u32;
        u64, UI64, |bits| bits;
        f16, F16, |bits| f16::from_bits(bits as u16);
        bf16, BF16, |bits| bf16::from_bits(bits as u16);
        f32, F32, |bits| f32::from_bits(bits as u32);
        f64, F64, |bits| f64::from_bits(bits);
    }
}

array_attributes! {
    i8, I8;
    i16, I16;
    i32, I32;
    i64, I64;
    u8, UI8;
    u16, UI16;
    u32, UI32;
    u64, UI64;
    f16, F16;
    bf16, BF16;
    f32, F32;
    f64, F64;
}

borrowed_attributes! {
    str => &'f str, AttributeSpec::String, |raw| raw.string().ok();
    [bool] => Vec<bool>, AttributeSpec::Array(DType::I1), |raw| raw.booleans().ok().map(|b| b.iter().map(|&b| b != 0).collect());
    DType => DType, AttributeSpec::Type, |raw| raw.data_type().ok();
    [DType] => Vec<DType>, AttributeSpec::TypeArray, |raw| raw.data_types().ok().map(|t| t.iter().collect());
    ShapeAttribute<'_> => ShapeAttribute<'f>, AttributeSpec::Shape, |raw| raw.shape().ok();
    DenseAttribute<'_> => DenseAttribute<'f>, AttributeSpec::Dense, |raw| raw.dense().ok();
    RawAttribute<'_> => RawAttribute<'f>, AttributeSpec::Any, |raw| Some(raw);
}

impl sealed::Attribute for AggregateAttribute<'_> {}
impl AttributeType for AggregateAttribute<'_> {
    type Borrowed<'f> = AggregateAttribute<'f>;
    const SPEC: AttributeSpec = AttributeSpec::Aggregate;
    fn read<'f>(program: &'f BefFile, cell: &'f AttributeCell) -> Option<AggregateAttribute<'f>> {
        // Most ops have no attributes, and an empty list needs no look at the program.
        if cell.bits == 0 {
            return Some(AggregateAttribute::empty());
        }
        program.bef().attribute(cell.offset).aggregate().ok()
    }
}

fn fetch<'f, T: AttributeType + ?Sized>(
    frame: &'f KernelFrame<'f>,
    index: usize,
) -> Result<T::Borrowed<'f>, ParameterError> {
    let cell = frame.attributes().get(index).ok_or(ParameterError::MissingAttribute(index))?;
    T::read(frame.program(), cell).ok_or(ParameterError::Attribute(index))
}

impl<'f> KernelFrame<'f> {
    /// Returns the attribute with this number. The kernel's signature must say that it is a `T`.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorCode::InvalidArgument) if there is no such attribute, or it
    /// is of another kind.
    pub fn attribute<T: AttributeType + ?Sized>(&self, index: usize) -> Result<T::Borrowed<'f>, Diagnostic> {
        let cell = self.attributes().get(index);
        cell.and_then(|cell| T::read(self.program(), cell)).ok_or_else(|| {
            Diagnostic::invalid_argument(format!("attribute {index} is missing or of another kind"))
        })
    }
}

impl<T: AttributeType + ?Sized> sealed::Parameter for Attr<'_, T> {}
impl<T: AttributeType + ?Sized> KernelParameter for Attr<'_, T> {
    type Item<'f> = Attr<'f, T>;

    fn describe(signature: &mut KernelSignature) {
        let name = ATTRIBUTE_NAMES.get(signature.attributes.len()).copied().unwrap_or("value");
        signature.attributes.push(AttributeParameter { name, alias: None, spec: T::SPEC });
    }

    #[inline]
    fn fetch<'f>(frame: &'f KernelFrame<'f>, cursor: &mut Cursor) -> Result<Self::Item<'f>, ParameterError> {
        let index = cursor.attribute;
        cursor.attribute += 1;
        fetch::<T>(frame, index).map(Attr)
    }
}

/// Names of attributes whose registration gives none: `value`, then `value1`, …
const ATTRIBUTE_NAMES: [&str; 8] =
    ["value", "value1", "value2", "value3", "value4", "value5", "value6", "value7"];

impl<T: AttributeType + ?Sized> sealed::Parameter for RestAttrs<'_, T> {}
impl<T: AttributeType + ?Sized> KernelParameter for RestAttrs<'_, T> {
    type Item<'f> = RestAttrs<'f, T>;

    fn describe(signature: &mut KernelSignature) {
        signature.rest_attributes = Some(T::SPEC);
    }

    fn fetch<'f>(frame: &'f KernelFrame<'f>, cursor: &mut Cursor) -> Result<Self::Item<'f>, ParameterError> {
        let rest = cursor.attribute..frame.attributes().len();
        cursor.attribute = rest.end;
        rest.map(|index| fetch::<T>(frame, index)).collect::<Result<_, _>>().map(RestAttrs)
    }
}
