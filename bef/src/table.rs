//! The table of the format: sections, data types, attribute kinds and function kinds with their
//! numbers, names and documentation.
//!
//! The reader, the writer, the verifier and `inspect` take every code from here, and [`describe`]
//! converts the table to text. So nothing about the numbering is written twice. This module touches
//! no byte of a file.

use std::fmt;

/// A row of [`describe`]: a code of the format, its name and its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// The enumeration of the code: `section`, `data type`, `attribute kind` or `function kind`.
    pub group: &'static str,
    /// The number in the file.
    pub code: u16,
    /// The name, as `inspect` and error messages print it.
    pub name: String,
    /// The meaning.
    pub doc: &'static str,
}

macro_rules! format_table {
    (
        sections { $($(#[doc = $section_doc:literal])+ $section:ident = $section_code:literal $presence:ident,)+ }
        data_types { $($(#[doc = $type_doc:literal])+ $dtype:ident = $type_code:literal, $mlir:literal, $short:literal, $size:expr;)+ }
        data_type_attribute_kinds { $($(#[doc = $family_doc:literal])+ $family:ident = $family_flag:literal, $open:literal, $close:literal;)+ }
        attribute_kinds { $($(#[doc = $kind_doc:literal])+ $kind:ident = $kind_code:literal, $kind_name:literal;)+ }
        function_kinds { $($(#[doc = $function_doc:literal])+ $function:ident = $function_code:literal, $function_name:literal;)+ }
    ) => {
        /// A section that the format defines. Files may contain others, which readers skip.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum SectionId { $($(#[doc = $section_doc])+ $section = $section_code,)+ }

        impl SectionId {
            /// Every section, ordered by number, which is the order in which they are written.
            pub const ALL: &[Self] = &[$(Self::$section),+];

            /// Returns the section's number in the file.
            pub const fn code(self) -> u8 { self as u8 }

            /// Returns the section with this number, if the format defines one.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($section_code => Some(Self::$section),)+ _ => None }
            }

            /// Returns the section's name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$section => stringify!($section),)+ }
            }

            /// Returns the contents of the section, in words.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$section => concat!($($section_doc),+),)+ }
            }

            pub(crate) const fn presence(self) -> Presence {
                match self { $(Self::$section => Presence::$presence,)+ }
            }
        }

        /// The type of one element of data.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum DType { $($(#[doc = $type_doc])+ $dtype = $type_code,)+ }

        impl DType {
            /// Every data type, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$dtype),+];

            /// Returns the type's number in the file.
            pub const fn code(self) -> u8 { self as u8 }

            /// Returns the data type with this number.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($type_code => Some(Self::$dtype),)+ _ => None }
            }

            /// Returns the name of the type in MLIR, such as `ui8` or `complex<f32>`.
            pub const fn mlir_name(self) -> &'static str {
                match self { $(Self::$dtype => $mlir,)+ }
            }

            /// Returns the data type with this MLIR name.
            pub fn from_mlir_name(name: &str) -> Option<Self> {
                match name { $($mlir => Some(Self::$dtype),)+ _ => None }
            }

            /// Returns the name of the type in the runtime's output, such as `u8` or `complex64`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$dtype => $short,)+ }
            }

            /// Returns the size of one element in bytes, or `None` for types without a plain memory
            /// form (strings, resources, variants).
            pub const fn size(self) -> Option<usize> {
                match self { $(Self::$dtype => $size,)+ }
            }

            /// Returns the meaning of the type, in words.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$dtype => concat!($($type_doc),+),)+ }
            }
        }

        /// The encoding of an attribute.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum AttributeKind {
            $($(#[doc = $family_doc])+ $family(DType),)+
            $($(#[doc = $kind_doc])+ $kind,)+
        }

        impl AttributeKind {
            /// Returns the kind's number in the file.
            pub const fn code(self) -> u16 {
                match self {
                    $(Self::$family(dtype) => $family_flag | dtype.code() as u16,)+
                    $(Self::$kind => $kind_code,)+
                }
            }

            /// Returns the kind with this number.
            pub const fn from_code(code: u16) -> Option<Self> {
                match code { $($kind_code => return Some(Self::$kind),)+ _ => {} }
                let Some(dtype) = DType::from_code((code & 0xFF) as u8) else { return None };
                match code & !0xFF { $($family_flag => Some(Self::$family(dtype)),)+ _ => None }
            }
        }

        impl fmt::Display for AttributeKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$family(dtype) => write!(f, concat!($open, "{}", $close), dtype.mlir_name()),)+
                    $(Self::$kind => f.write_str($kind_name),)+
                }
            }
        }

        /// The kind of a function in the FunctionIndex section.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum FunctionKind { $($(#[doc = $function_doc])+ $function = $function_code,)+ }

        impl FunctionKind {
            /// Returns the kind's number in the file.
            pub const fn code(self) -> u8 { self as u8 }

            /// Returns the function kind with this number.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($function_code => Some(Self::$function),)+ _ => None }
            }

            /// Returns the kind's name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$function => $function_name,)+ }
            }
        }

        /// Returns the whole table as rows, for listings and generated documentation.
        pub fn describe() -> Vec<TableRow> {
            let row = |group, code, name: String, doc: &'static str| TableRow { group, code, name, doc: doc.trim() };
            vec![
                $(row("section", $section_code, stringify!($section).to_owned(), concat!($($section_doc),+)),)+
                $(row("data type", $type_code, $mlir.to_owned(), concat!($($type_doc),+)),)+
                $(row("attribute kind", $family_flag, concat!($open, "…", $close).to_owned(), concat!($($family_doc),+)),)+
                $(row("attribute kind", $kind_code, $kind_name.to_owned(), concat!($($kind_doc),+)),)+
                $(row("function kind", $function_code, $function_name.to_owned(), concat!($($function_doc),+)),)+
            ]
        }
    };
}

/// Whether a file must hold a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// A file without it is malformed.
    Required,
    /// A missing section is read as an empty one.
    Defaulted,
    /// Not needed for execution; only conversion back to MLIR uses it.
    Optional,
}

format_table! {
    sections {
        /// One byte: the version of the format.
        FormatVersion = 0 Required,
        /// File names of locations: NUL-terminated strings, referred to by position in the list.
        LocationFilenames = 1 Defaulted,
        /// Locations: (file name index, line, column) triples, referred to by byte offset.
        LocationPositions = 2 Defaulted,
        /// NUL-terminated names of kernels, types, functions and attributes, referred to by byte
        /// offset.
        Strings = 3 Defaulted,
        /// Attribute values in memory form, referred to by byte offset.
        Attributes = 4 Defaulted,
        /// Kernel names: a count, then as many offsets into Strings.
        Kernels = 5 Required,
        /// Type names: a count, then as many offsets into Strings.
        Types = 6 Required,
        /// Function bodies, referred to by byte offset.
        Functions = 7 Defaulted,
        /// The functions: a count, then kind, body, name, argument types and result types of each.
        FunctionIndex = 8 Required,
        /// The kind of each attribute: a count, then (offset, tag) pairs.
        AttributeTypes = 9 Optional,
        /// The names of each kernel's attributes, function by function.
        AttributeNames = 10 Optional,
        /// The type of each register, function by function.
        RegisterTypes = 11 Optional,
    }
    data_types {
        /// Unsigned 8-bit integer.
        UI8 = 1, "ui8", "u8", Some(1);
        /// Unsigned 16-bit integer.
        UI16 = 2, "ui16", "u16", Some(2);
        /// Unsigned 32-bit integer.
        UI32 = 3, "ui32", "u32", Some(4);
        /// Unsigned 64-bit integer.
        UI64 = 4, "ui64", "u64", Some(8);
        /// Boolean, one byte holding 0 or 1.
        I1 = 5, "i1", "bool", Some(1);
        /// Signed 8-bit integer.
        I8 = 6, "i8", "i8", Some(1);
        /// Signed 16-bit integer.
        I16 = 7, "i16", "i16", Some(2);
        /// Signed 32-bit integer.
        I32 = 8, "i32", "i32", Some(4);
        /// Signed 64-bit integer.
        I64 = 9, "i64", "i64", Some(8);
        /// IEEE 754 single precision.
        F32 = 10, "f32", "f32", Some(4);
        /// IEEE 754 double precision.
        F64 = 11, "f64", "f64", Some(8);
        /// Two `f32`: real and imaginary part.
        Complex64 = 12, "complex<f32>", "complex64", Some(8);
        /// Two `f64`: real and imaginary part.
        Complex128 = 13, "complex<f64>", "complex128", Some(16);
        /// IEEE 754 half precision.
        F16 = 14, "f16", "f16", Some(2);
        /// The upper half of an `f32`.
        BF16 = 15, "bf16", "bf16", Some(2);
        /// A string of bytes.
        String = 16, "!corert.string", "str", None;
        /// A TensorFlow resource handle.
        Resource = 17, "!corert.resource", "resource", None;
        /// A TensorFlow variant.
        Variant = 18, "!corert.variant", "variant", None;
    }
    data_type_attribute_kinds {
        /// One value of a data type (the low byte).
        Data = 0x000, "", "";
        /// A list of values of one data type (the low byte).
        DataArray = 0x100, "array<", ">";
        /// A tensor: shape and elements of one data type (the low byte).
        Dense = 0x200, "dense<", ">";
    }
    attribute_kinds {
        /// A data type, as one byte.
        Type = 0x14, "type";
        /// A tensor shape, ranked or unranked.
        Shape = 0x15, "shape";
        /// A list of data types, one byte each.
        TypeArray = 0x114, "array<type>";
        /// A list of attributes of any kinds, each with its own header.
        Aggregate = 0x400, "aggregate";
        /// The name of a function.
        Function = 0x401, "function";
    }
    function_kinds {
        /// A kernel graph the executor runs asynchronously.
        Async = 0, "async";
        /// A function of the host program; it has no body in the file.
        Native = 1, "native";
        /// A kernel graph that is interpreted in order.
        Sync = 2, "sync";
    }
}

impl DType {
    /// Returns the alignment of one element in bytes: its size, at most 8, or `None` for types
    /// without a plain memory form.
    pub const fn alignment(self) -> Option<usize> {
        match self.size() {
            Some(size) if size > MAX_ALIGNMENT => Some(MAX_ALIGNMENT),
            other => other,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mlir_name())
    }
}

impl fmt::Display for SectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl AttributeKind {
    /// Returns true for kinds that always have a header, and so can be read without knowing the
    /// kind.
    pub const fn is_always_typed(self) -> bool {
        matches!(self, Self::Dense(_) | Self::Shape | Self::Aggregate | Self::Function)
    }
}

/// The first two bytes of a file.
pub const MAGIC: [u8; 2] = [0x0B, 0xEF];
/// The version of the format this crate reads and writes.
pub const VERSION: u8 = 0;
/// The strictest alignment of anything in a file, in bytes.
pub const MAX_ALIGNMENT: usize = 8;
/// The alignment of kernel records, in bytes.
pub(crate) const KERNEL_ALIGNMENT: usize = 4;
/// The bit of a kernel's special metadata that says that the kernel starts as soon as one argument
/// is available.
pub(crate) const NONSTRICT_BIT: u32 = 1;
/// The value of padding bytes.
pub(crate) const PADDING: u8 = 0xCC;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip_and_unknown_codes_are_none() {
        for code in 0..=u8::MAX {
            assert!(SectionId::from_code(code).is_none_or(|section| section.code() == code));
            assert!(DType::from_code(code).is_none_or(|dtype| dtype.code() == code));
            assert!(FunctionKind::from_code(code).is_none_or(|kind| kind.code() == code));
        }
        for code in 0..=u16::MAX {
            assert!(AttributeKind::from_code(code).is_none_or(|kind| kind.code() == code));
        }
        assert_eq!(SectionId::ALL.len(), 12);
        assert_eq!(DType::ALL.len(), 18);
        assert_eq!(DType::from_code(0), None);
        assert_eq!(DType::from_code(19), None);
        assert_eq!(AttributeKind::from_code(0x13), None);
        assert_eq!(AttributeKind::from_code(0x300 | 8), None);
    }

    /// Other programs rely on these numbers.
    #[test]
    fn numbering_is_fixed() {
        assert_eq!(AttributeKind::Data(DType::String).code(), 16);
        assert_eq!(AttributeKind::Type.code(), 20);
        assert_eq!(AttributeKind::Shape.code(), 21);
        assert_eq!(AttributeKind::DataArray(DType::I32).code(), 264);
        assert_eq!(AttributeKind::TypeArray.code(), 276);
        assert_eq!(AttributeKind::Dense(DType::F32).code(), 522);
        assert_eq!(AttributeKind::Aggregate.code(), 1024);
        assert_eq!(AttributeKind::Function.code(), 1025);
    }

    #[test]
    fn mlir_names_round_trip() {
        for &dtype in DType::ALL {
            assert_eq!(DType::from_mlir_name(dtype.mlir_name()), Some(dtype));
        }
        assert_eq!(DType::from_mlir_name("i7"), None);
    }

    #[test]
    fn description_lists_everything() {
        let rows = describe();
        assert_eq!(rows.len(), 12 + 18 + 3 + 5 + 3);
        assert!(rows.iter().all(|row| !row.doc.is_empty() && !row.name.is_empty()));
    }
}
