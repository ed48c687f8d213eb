//! A summary of a file, as plain data for listings.

use crate::reader::VerifiedBef;
use crate::table::SectionId;

/// A section of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionSummary {
    /// The number of the section.
    pub code: u8,
    /// The name, or `None` for sections that the format does not define.
    pub name: Option<&'static str>,
    /// The offset of the data in the file, in bytes.
    pub offset: usize,
    /// The length of the data in bytes.
    pub bytes: usize,
    /// The alignment in bytes.
    pub alignment: usize,
    /// The number of strings, locations, attributes, names or functions in it, or `None` if that is
    /// unknown.
    pub entries: Option<usize>,
}

/// A function of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionSummary {
    /// The name, which is empty for the bodies of regions.
    pub name: String,
    /// The kind: `async`, `sync` or `native`.
    pub kind: &'static str,
    /// The names of the argument types.
    pub arguments: Vec<String>,
    /// The names of the result types.
    pub results: Vec<String>,
    /// The number of registers.
    pub registers: usize,
    /// The number of kernels, without the pseudo kernel.
    pub kernels: usize,
    /// The size of the kernel records in bytes.
    pub record_bytes: usize,
}

/// A summary of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// The version of the format.
    pub version: u8,
    /// The length of the file in bytes.
    pub bytes: usize,
    /// The sections, in the order of the file.
    pub sections: Vec<SectionSummary>,
    /// The kernel names.
    pub kernels: Vec<String>,
    /// The type names.
    pub types: Vec<String>,
    /// The functions.
    pub functions: Vec<FunctionSummary>,
}

impl VerifiedBef {
    /// Returns a summary of the file.
    pub fn inspect(&self) -> Inspection {
        let contents = self.contents();
        let sections = contents.sections.iter().map(|section| {
            let id = SectionId::from_code(section.code);
            SectionSummary {
                code: section.code,
                name: id.map(SectionId::name),
                offset: section.data.start,
                bytes: section.data.len(),
                alignment: section.alignment,
                entries: id.and_then(|id| self.entry_count(id)),
            }
        });
        Inspection {
            version: self.version(),
            bytes: self.bytes().len(),
            sections: sections.collect(),
            kernels: (0..self.kernel_count()).map(|index| self.kernel_name(index).to_owned()).collect(),
            types: (0..self.type_count()).map(|index| self.type_name(index).to_owned()).collect(),
            functions: (0..self.functions().len()).map(|index| self.summarize_function(index)).collect(),
        }
    }

    fn entry_count(&self, id: SectionId) -> Option<usize> {
        let contents = self.contents();
        match id {
            SectionId::FormatVersion => Some(1),
            SectionId::LocationFilenames => Some(contents.filenames.len()),
            SectionId::LocationPositions => Some(contents.locations.len()),
            SectionId::Strings => {
                Some(contents.section(self.bytes(), id).iter().filter(|&&byte| byte == 0).count())
            }
            SectionId::Attributes if !contents.has_section(SectionId::AttributeTypes) => None,
            SectionId::Attributes | SectionId::AttributeTypes => Some(contents.attributes.len()),
            SectionId::Kernels => Some(contents.kernels.len()),
            SectionId::Types => Some(contents.types.len()),
            SectionId::Functions => Some(contents.bodies.iter().flatten().count()),
            SectionId::FunctionIndex | SectionId::AttributeNames | SectionId::RegisterTypes => {
                Some(contents.functions.len())
            }
        }
    }

    fn summarize_function(&self, index: usize) -> FunctionSummary {
        let info = &self.functions()[index];
        let names = |types: &[u32]| types.iter().map(|&id| self.type_name(id as usize).to_owned()).collect();
        let body = self.contents().bodies.get(index).and_then(Option::as_ref);
        FunctionSummary {
            name: info.name.clone(),
            kind: info.kind.name(),
            arguments: names(&info.argument_types),
            results: names(&info.result_types),
            registers: body.map_or(0, |body| body.register_use_counts.len()),
            kernels: body.map_or(0, |body| body.kernels.len().saturating_sub(1)),
            record_bytes: body.map_or(0, |body| body.records.len()),
        }
    }
}
