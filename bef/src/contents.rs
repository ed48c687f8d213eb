//! The results of verification that readers need again: decoded tables, and the places of
//! everything else.
//!
//! All of it takes memory of at most a small multiple of the file's size. Strings, kernel records
//! and attribute values are read in place and not stored here.

use std::ops::Range;

use crate::table::{AttributeKind, FunctionKind, SectionId};

/// The place of a string in its section, without the terminating NUL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StringSpan {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

/// A section of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SectionSpan {
    pub(crate) code: u8,
    /// The byte range in the file.
    pub(crate) data: Range<usize>,
    pub(crate) alignment: usize,
}

/// A location as it is in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocationEntry {
    pub(crate) offset: u32,
    pub(crate) filename: u32,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// The entry of the AttributeTypes section for one attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttributeEntry {
    pub(crate) offset: u32,
    pub(crate) kind: AttributeKind,
    pub(crate) typed: bool,
}

/// A function as listed by the FunctionIndex section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionInfo {
    /// The name, which is empty for the bodies of regions.
    pub name: String,
    /// The kind of function, and whether it has a body.
    pub kind: FunctionKind,
    /// The argument types, as indices into the types.
    pub argument_types: Vec<u32>,
    /// The result types, as indices into the types.
    pub result_types: Vec<u32>,
    /// The offset of the body in the Functions section, in bytes. Meaningless for native functions.
    pub offset: u32,
}

/// An entry of a function's kernel table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelEntry {
    /// The start of the record, in 32-bit words of the function's kernel area.
    pub(crate) start: u32,
    /// The number of arguments that must be available before the kernel starts.
    pub(crate) operand_count: u32,
}

/// A function's decoded tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct FunctionBody {
    pub(crate) location: u32,
    pub(crate) register_use_counts: Vec<u32>,
    pub(crate) kernels: Vec<KernelEntry>,
    pub(crate) result_registers: Vec<u32>,
    /// The byte range of the kernel records in the file.
    pub(crate) records: Range<usize>,
    pub(crate) attribute_names: Option<AttributeNames>,
    pub(crate) register_types: Option<Vec<u32>>,
}

/// The attribute names of a function's kernels.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttributeNames {
    pub(crate) names: Vec<StringSpan>,
    /// For each kernel, the end of its names in `names`.
    pub(crate) ends: Vec<u32>,
}

/// All results of verification.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    pub(crate) version: u8,
    /// All sections in the order of the file, including unknown ones.
    pub(crate) sections: Vec<SectionSpan>,
    /// The known sections, by code.
    pub(crate) known: [Option<(usize, usize)>; SectionId::ALL.len()],
    pub(crate) kernels: Vec<StringSpan>,
    pub(crate) types: Vec<StringSpan>,
    pub(crate) filenames: Vec<StringSpan>,
    /// Ordered by offset.
    pub(crate) locations: Vec<LocationEntry>,
    pub(crate) functions: Vec<FunctionInfo>,
    /// One per function, `None` for native ones.
    pub(crate) bodies: Vec<Option<FunctionBody>>,
    /// Ordered by offset.
    pub(crate) attributes: Vec<AttributeEntry>,
}

impl Contents {
    pub(crate) fn section_range(&self, id: SectionId) -> Option<Range<usize>> {
        self.known.get(usize::from(id.code())).copied().flatten().map(|(start, end)| start..end)
    }

    /// Returns the bytes of a section, which are empty if the file lacks it.
    pub(crate) fn section<'a>(&self, bytes: &'a [u8], id: SectionId) -> &'a [u8] {
        self.section_range(id).and_then(|range| bytes.get(range)).unwrap_or(&[])
    }

    pub(crate) fn has_section(&self, id: SectionId) -> bool {
        self.section_range(id).is_some()
    }
}
