//! What verification learns about a file and the reader needs again: the decoded tables, and where the rest lies.
//!
//! Everything here is at most a small multiple of the file in size. Strings, kernel records and attribute values are not
//! here; they are read in place.

use std::ops::Range;

use crate::table::{AttributeKind, FunctionKind, SectionId};

/// Where a string lies in its section, without the terminating NUL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StringSpan {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

/// A section of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SectionSpan {
    pub(crate) code: u8,
    /// Bytes of the file.
    pub(crate) data: Range<usize>,
    pub(crate) alignment: usize,
}

/// A location, as the file has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocationEntry {
    pub(crate) offset: u32,
    pub(crate) filename: u32,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// What the AttributeTypes section says of one attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttributeEntry {
    pub(crate) offset: u32,
    pub(crate) kind: AttributeKind,
    pub(crate) typed: bool,
}

/// A function as the FunctionIndex section lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionInfo {
    /// The name; empty for the bodies of regions.
    pub name: String,
    /// Whether and how the function has a body.
    pub kind: FunctionKind,
    /// Indices into the types.
    pub argument_types: Vec<u32>,
    /// Indices into the types.
    pub result_types: Vec<u32>,
    /// Where the body starts, in bytes of the Functions section; without meaning for native functions.
    pub offset: u32,
}

/// An entry of a function's kernel table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelEntry {
    /// Where the record starts, in 32-bit words of the function's kernel area.
    pub(crate) start: u32,
    /// How many arguments must be available before the kernel starts.
    pub(crate) operand_count: u32,
}

/// A function's decoded tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct FunctionBody {
    pub(crate) location: u32,
    pub(crate) register_use_counts: Vec<u32>,
    pub(crate) kernels: Vec<KernelEntry>,
    pub(crate) result_registers: Vec<u32>,
    /// Bytes of the file that hold the kernel records.
    pub(crate) records: Range<usize>,
    pub(crate) attribute_names: Option<AttributeNames>,
    pub(crate) register_types: Option<Vec<u32>>,
}

/// The attribute names of a function's kernels.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttributeNames {
    pub(crate) names: Vec<StringSpan>,
    /// Where each kernel's names end in `names`.
    pub(crate) ends: Vec<u32>,
}

/// Everything verification keeps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    pub(crate) version: u8,
    /// All sections, unknown ones included, in the order of the file.
    pub(crate) sections: Vec<SectionSpan>,
    /// Where the known sections lie, by their codes.
    pub(crate) known: [Option<(usize, usize)>; SectionId::ALL.len()],
    pub(crate) kernels: Vec<StringSpan>,
    pub(crate) types: Vec<StringSpan>,
    pub(crate) filenames: Vec<StringSpan>,
    /// In order of their offsets.
    pub(crate) locations: Vec<LocationEntry>,
    pub(crate) functions: Vec<FunctionInfo>,
    /// One a function; `None` for native ones.
    pub(crate) bodies: Vec<Option<FunctionBody>>,
    /// In order of their offsets.
    pub(crate) attributes: Vec<AttributeEntry>,
}

impl Contents {
    pub(crate) fn section_range(&self, id: SectionId) -> Option<Range<usize>> {
        self.known.get(usize::from(id.code())).copied().flatten().map(|(start, end)| start..end)
    }

    /// The bytes of a section; none where the file lacks it.
    pub(crate) fn section<'a>(&self, bytes: &'a [u8], id: SectionId) -> &'a [u8] {
        self.section_range(id).and_then(|range| bytes.get(range)).unwrap_or(&[])
    }

    pub(crate) fn has_section(&self, id: SectionId) -> bool {
        self.section_range(id).is_some()
    }
}
