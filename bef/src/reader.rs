//! Verified files, in the form that the executor and the tools read.
//!
//! Nothing here checks the format again, because [`VerifiedBef::new`] did. The remaining checks are
//! bounds that the type system requires. They fail only if the storage changes its bytes, and then
//! return empty data.

use std::sync::Arc;

use crate::attribute::RawAttribute;
use crate::contents::{Contents, FunctionBody, FunctionInfo, StringSpan};
use crate::error::BefError;
use crate::kernel::KernelRecord;
use crate::storage::{AlignedBytes, Storage};
use crate::table::{AttributeKind, SectionId};
use crate::verify;
use crate::view::AttributeView;

/// A file that passed all checks of [`crate::verify`]. Clones share it.
#[derive(Clone)]
pub struct VerifiedBef {
    file: Arc<File>,
}

struct File {
    bytes: AlignedBytes,
    contents: Contents,
}

/// A place in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// The source file's name, as given to the compiler.
    pub file: &'a str,
    /// The line, from 1, or 0 if unknown.
    pub line: u32,
    /// The column, from 1, or 0 if unknown.
    pub column: u32,
}

impl std::fmt::Debug for VerifiedBef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VerifiedBef")
            .field("bytes", &self.bytes().len())
            .field("functions", &self.functions().len())
            .finish_non_exhaustive()
    }
}

impl VerifiedBef {
    /// Verifies a file. Storage whose bytes do not start at a multiple of eight is copied.
    ///
    /// # Errors
    /// All errors in the file, up to a limit.
    pub fn new(storage: impl Storage) -> Result<Self, Vec<BefError>> {
        let bytes = AlignedBytes::new(storage);
        let contents = verify::verify(bytes.bytes())?;
        Ok(Self { file: Arc::new(File { bytes, contents }) })
    }

    /// Returns the whole file.
    pub fn bytes(&self) -> &[u8] {
        self.file.bytes.bytes()
    }

    pub(crate) fn contents(&self) -> &Contents {
        &self.file.contents
    }

    fn section(&self, id: SectionId) -> &[u8] {
        self.contents().section(self.bytes(), id)
    }

    fn string(&self, section: SectionId, span: StringSpan) -> &str {
        let start = span.start as usize;
        let bytes = self.section(section).get(start..start + span.len as usize).unwrap_or(&[]);
        std::str::from_utf8(bytes).unwrap_or("")
    }

    /// Returns the version of the format.
    pub fn version(&self) -> u8 {
        self.contents().version
    }

    /// Returns true if the file has that section.
    pub fn has_section(&self, id: SectionId) -> bool {
        self.contents().has_section(id)
    }

    /// Returns the data of a section that the format does not define, or of the first one with this
    /// number.
    pub fn unknown_section(&self, code: u8) -> Option<&[u8]> {
        if SectionId::from_code(code).is_some() {
            return None;
        }
        let section = self.contents().sections.iter().find(|section| section.code == code)?;
        self.bytes().get(section.data.clone())
    }

    /// Returns the number of kernel names.
    pub fn kernel_count(&self) -> usize {
        self.contents().kernels.len()
    }

    /// Returns the kernel name with this index, or an empty text if there is none.
    pub fn kernel_name(&self, index: usize) -> &str {
        self.contents().kernels.get(index).map_or("", |&span| self.string(SectionId::Strings, span))
    }

    /// Returns the number of type names.
    pub fn type_count(&self) -> usize {
        self.contents().types.len()
    }

    /// Returns the type name with this index, or an empty text if there is none.
    pub fn type_name(&self, index: usize) -> &str {
        self.contents().types.get(index).map_or("", |&span| self.string(SectionId::Strings, span))
    }

    /// Returns all functions, including the unnamed bodies of regions.
    pub fn functions(&self) -> &[FunctionInfo] {
        &self.contents().functions
    }

    /// Returns the index of the function with this name.
    pub fn function_named(&self, name: &str) -> Option<usize> {
        if name.is_empty() {
            return None;
        }
        self.functions().iter().position(|function| function.name == name)
    }

    /// Returns the body of a function, or `None` for native functions and indices out of range.
    pub fn function(&self, index: usize) -> Option<Function<'_>> {
        let info = self.functions().get(index)?;
        let body = self.contents().bodies.get(index)?.as_ref()?;
        let records = self.bytes().get(body.records.clone()).unwrap_or(&[]);
        let words = bytemuck::try_cast_slice(records).unwrap_or(&[]);
        Some(Function { info, body, words })
    }

    /// Returns the location at an offset of the LocationPositions section.
    pub fn location(&self, offset: u32) -> Option<Location<'_>> {
        let locations = &self.contents().locations;
        let entry = locations.get(locations.binary_search_by_key(&offset, |entry| entry.offset).ok()?)?;
        let span = *self.contents().filenames.get(entry.filename as usize)?;
        let file = self.string(SectionId::LocationFilenames, span);
        Some(Location { file, line: entry.line, column: entry.column })
    }

    /// Returns the attribute at an offset of the Attributes section.
    pub fn attribute(&self, offset: u32) -> RawAttribute<'_> {
        RawAttribute::new(self.section(SectionId::Attributes), offset as usize)
    }

    /// Returns the kind of the attribute at an offset, if the AttributeTypes section exists and
    /// lists it.
    pub fn attribute_kind(&self, offset: u32) -> Option<AttributeKind> {
        self.attribute_entry(offset).map(|(kind, _)| kind)
    }

    fn attribute_entry(&self, offset: u32) -> Option<(AttributeKind, bool)> {
        let attributes = &self.contents().attributes;
        let index = attributes.binary_search_by_key(&offset, |entry| entry.offset).ok()?;
        attributes.get(index).map(|entry| (entry.kind, entry.typed))
    }

    /// Returns the attribute at an offset and whether it has a header, if the AttributeTypes
    /// section exists and lists it.
    pub fn attribute_view(&self, offset: u32) -> Option<(AttributeView<'_>, bool)> {
        let (kind, typed) = self.attribute_entry(offset)?;
        Some((self.attribute(offset).view(kind, typed).ok()?, typed))
    }

    /// Returns the attribute names of kernel `kernel` of function `function`, if the file has an
    /// AttributeNames section.
    pub fn attribute_names(
        &self,
        function: usize,
        kernel: usize,
    ) -> Option<impl ExactSizeIterator<Item = &str>> {
        let names = self.contents().bodies.get(function)?.as_ref()?.attribute_names.as_ref()?;
        let end = *names.ends.get(kernel)? as usize;
        let start =
            kernel.checked_sub(1).and_then(|before| names.ends.get(before)).map_or(0, |&end| end as usize);
        let spans = names.names.get(start..end)?;
        Some(spans.iter().map(|&span| self.string(SectionId::Strings, span)))
    }

    /// Returns the type index of each register of a function, if the file has a RegisterTypes
    /// section.
    pub fn register_types(&self, function: usize) -> Option<&[u32]> {
        self.contents().bodies.get(function)?.as_ref()?.register_types.as_deref()
    }
}

/// A function's body.
#[derive(Clone, Copy)]
pub struct Function<'a> {
    info: &'a FunctionInfo,
    body: &'a FunctionBody,
    words: &'a [u32],
}

impl std::fmt::Debug for Function<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Function").field("name", &self.info.name).finish_non_exhaustive()
    }
}

impl<'a> Function<'a> {
    /// Returns the name, kind and types.
    pub const fn info(&self) -> &'a FunctionInfo {
        self.info
    }

    /// Returns the function's place in the source, for [`VerifiedBef::location`].
    pub const fn location(&self) -> u32 {
        self.body.location
    }

    /// Returns how often kernels and the function's results read each register.
    pub fn register_use_counts(&self) -> &'a [u32] {
        &self.body.register_use_counts
    }

    /// Returns the registers that are the function's results.
    pub fn result_registers(&self) -> &'a [u32] {
        &self.body.result_registers
    }

    /// Returns the number of kernels, including the pseudo kernel that defines the arguments.
    pub fn kernel_count(&self) -> usize {
        self.body.kernels.len()
    }

    /// Returns the kernel with this index. Index 0 is the pseudo kernel, whose results are the
    /// function's arguments.
    pub fn kernel(&self, index: usize) -> Option<KernelRecord<'a>> {
        let entry = self.body.kernels.get(index)?;
        KernelRecord::read(self.words, entry.start, entry.operand_count)
    }

    /// Returns all kernels. Each comes after those whose results it reads; the first is the pseudo
    /// kernel.
    pub fn kernels(&self) -> impl ExactSizeIterator<Item = KernelRecord<'a>> + use<'a> {
        let words = self.words;
        self.body
            .kernels
            .iter()
            .map(move |entry| KernelRecord::read(words, entry.start, entry.operand_count).unwrap_or_default())
    }
}
