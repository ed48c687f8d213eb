//! Writes files: [`BefBuilder`] builds files, [`FunctionBuilder`] function bodies, and
//! [`Attribute`] values.
//!
//! Strings, locations and attributes are interned: the same one returns the same offset. The
//! builder derives register numbers, use counts, used-by lists and operand counts. It never panics:
//! it stores the first error, which [`BefBuilder::finish`] returns.

mod attribute;
mod function;

use std::collections::{HashMap, HashSet};

pub use attribute::Attribute;
pub use function::{FunctionBuilder, KernelSpec, Register};

use crate::cursor::{put_alignment, put_integer};
use crate::error::{At, BefError};
use crate::table::{FunctionKind, MAGIC, SectionId, VERSION};

macro_rules! ids {
    ($($(#[doc = $doc:literal])+ $name:ident;)+) => {
        $($(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// Returns the number that identifies it in the file.
            pub const fn get(self) -> u32 { self.0 }
        })+
    };
}

ids! {
    /// A kernel name: its index in the Kernels section.
    KernelId;
    /// A type name: its index in the Types section.
    TypeId;
    /// A place in a source file: its offset in the LocationPositions section.
    LocationId;
    /// An attribute: its offset in the Attributes section.
    AttributeId;
    /// An attribute's name: its offset in the Strings section.
    NameId;
    /// A function: its index in the FunctionIndex section.
    FunctionId;
}

/// Whether to write the sections that are only used for conversion back to MLIR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionalSections {
    /// Write AttributeTypes, AttributeNames and RegisterTypes.
    Keep,
    /// Omit them.
    Drop,
}

/// NUL-terminated strings without duplicates.
#[derive(Debug, Default)]
struct StringTable {
    bytes: Vec<u8>,
    known: HashMap<String, u32>,
}

/// Names listed by offset, without duplicates.
#[derive(Debug, Default)]
struct NameTable {
    offsets: Vec<u32>,
    known: HashMap<u32, u32>,
}

#[derive(Debug)]
struct FunctionEntry {
    name: u32,
    /// `None` until it is defined.
    definition: Option<Definition>,
}

#[derive(Debug)]
struct Definition {
    kind: FunctionKind,
    offset: u32,
    argument_types: Vec<TypeId>,
    result_types: Vec<TypeId>,
}

/// Builds a file.
#[derive(Debug)]
pub struct BefBuilder {
    optional: OptionalSections,
    strings: StringTable,
    filenames: StringTable,
    filename_count: u32,
    filename_indices: HashMap<u32, u32>,
    positions: Vec<u8>,
    known_positions: HashMap<(u32, u32, u32), LocationId>,
    kernels: NameTable,
    types: NameTable,
    attributes: Vec<u8>,
    attribute_alignment: usize,
    known_attributes: HashMap<(Attribute, bool), AttributeId>,
    attribute_types: Vec<u8>,
    functions: Vec<FunctionEntry>,
    function_names: HashSet<u32>,
    bodies: Vec<u8>,
    /// The tables of the AttributeNames and RegisterTypes sections, for each function.
    name_tables: Vec<Vec<u8>>,
    type_tables: Vec<Vec<u8>>,
    extra_sections: Vec<(u8, usize, Vec<u8>)>,
    first_error: Option<BefError>,
}

impl BefBuilder {
    /// Creates an empty file.
    pub fn new(optional: OptionalSections) -> Self {
        Self {
            optional,
            strings: StringTable::default(),
            filenames: StringTable::default(),
            filename_count: 0,
            filename_indices: HashMap::new(),
            positions: Vec::new(),
            known_positions: HashMap::new(),
            kernels: NameTable::default(),
            types: NameTable::default(),
            attributes: Vec::new(),
            attribute_alignment: 1,
            known_attributes: HashMap::new(),
            attribute_types: Vec::new(),
            functions: Vec::new(),
            function_names: HashSet::new(),
            bodies: Vec::new(),
            name_tables: Vec::new(),
            type_tables: Vec::new(),
            extra_sections: Vec::new(),
            first_error: None,
        }
    }

    /// Records the first error.
    pub(crate) fn fail(&mut self, error: BefError) {
        self.first_error.get_or_insert(error);
    }

    /// Returns a position in a section as a 32-bit number.
    fn offset(&mut self, section: SectionId, offset: usize) -> u32 {
        u32::try_from(offset).unwrap_or_else(|_| {
            self.fail(At(Some(section), offset).limit("it is longer than 32-bit offsets reach"));
            0
        })
    }

    fn intern(&mut self, section: SectionId, text: &str) -> u32 {
        let table = if section == SectionId::Strings { &mut self.strings } else { &mut self.filenames };
        if let Some(&offset) = table.known.get(text) {
            return offset;
        }
        let start = table.bytes.len();
        table.bytes.extend_from_slice(text.as_bytes());
        table.bytes.push(0);
        table.known.insert(text.to_owned(), start as u32);
        if text.contains('\0') {
            self.fail(At(Some(section), start).malformed(format!("{text:?} contains a NUL character")));
        }
        self.offset(section, start)
    }

    /// Adds a kernel name.
    pub fn kernel(&mut self, name: &str) -> KernelId {
        let offset = self.intern(SectionId::Strings, name);
        KernelId(self.kernels.index(offset))
    }

    /// Adds a type name.
    pub fn type_name(&mut self, name: &str) -> TypeId {
        let offset = self.intern(SectionId::Strings, name);
        TypeId(self.types.index(offset))
    }

    /// Adds a place in a source file. Line and column count from 1; 0 means unknown.
    pub fn location(&mut self, file: &str, line: u32, column: u32) -> LocationId {
        let filename = self.filename(file);
        if let Some(&known) = self.known_positions.get(&(filename, line, column)) {
            return known;
        }
        let location = self.put_location(filename, line, column);
        self.known_positions.insert((filename, line, column), location);
        location
    }

    /// Adds a place in a source file that differs from all other locations, even equal ones. For
    /// programs that distinguish kernels by their locations.
    pub fn unique_location(&mut self, file: &str, line: u32, column: u32) -> LocationId {
        let filename = self.filename(file);
        self.put_location(filename, line, column)
    }

    fn filename(&mut self, file: &str) -> u32 {
        let offset = self.intern(SectionId::LocationFilenames, file);
        *self.filename_indices.entry(offset).or_insert_with(|| {
            self.filename_count += 1;
            self.filename_count - 1
        })
    }

    fn put_location(&mut self, filename: u32, line: u32, column: u32) -> LocationId {
        let location = LocationId(self.offset(SectionId::LocationPositions, self.positions.len()));
        for part in [filename, line, column] {
            put_integer(&mut self.positions, u64::from(part));
        }
        location
    }

    /// Adds an attribute's value. `typed` requests a header even if the kind does not require one,
    /// for kernels that do not know the kinds of their attributes.
    pub fn attribute(&mut self, attribute: &Attribute, typed: bool) -> AttributeId {
        let key = (attribute.clone(), typed);
        if let Some(&known) = self.known_attributes.get(&key) {
            return known;
        }
        let offset = match attribute.write(typed, &mut self.attributes, &mut self.attribute_alignment) {
            Ok(offset) => self.offset(SectionId::Attributes, offset),
            Err(error) => {
                self.fail(error);
                0
            }
        };
        put_integer(&mut self.attribute_types, u64::from(offset));
        put_integer(&mut self.attribute_types, u64::from(attribute.kind().code()) << 1 | u64::from(typed));
        self.known_attributes.insert(key, AttributeId(offset));
        AttributeId(offset)
    }

    /// Adds an attribute's name. It is written only with the optional sections.
    pub fn attribute_name(&mut self, name: &str) -> NameId {
        match self.optional {
            OptionalSections::Keep => NameId(self.intern(SectionId::Strings, name)),
            OptionalSections::Drop => NameId(0),
        }
    }

    /// Declares a function, so that kernels can refer to it before it is defined. The bodies of
    /// regions have no name.
    pub fn declare_function(&mut self, name: &str) -> FunctionId {
        let name_offset = self.intern(SectionId::Strings, name);
        if !name.is_empty() && !self.function_names.insert(name_offset) {
            let at = At(Some(SectionId::FunctionIndex), self.functions.len());
            self.fail(at.inconsistent(format!("there is a second function '{name}'")));
        }
        let id = FunctionId(self.functions.len() as u32);
        self.functions.push(FunctionEntry { name: name_offset, definition: None });
        self.name_tables.push(Vec::new());
        self.type_tables.push(Vec::new());
        id
    }

    /// Declares a function of the host program.
    pub fn native_function(&mut self, name: &str, arguments: &[TypeId], results: &[TypeId]) -> FunctionId {
        let id = self.declare_function(name);
        if name.is_empty() {
            let at = At(Some(SectionId::FunctionIndex), id.0 as usize);
            self.fail(at.inconsistent("a native function has no name"));
        }
        let offset = self.offset(SectionId::Functions, self.bodies.len());
        self.functions[id.0 as usize].definition = Some(Definition {
            kind: FunctionKind::Native,
            offset,
            argument_types: arguments.to_vec(),
            result_types: results.to_vec(),
        });
        id
    }

    /// Defines the body of a declared function and the registers of its results.
    pub fn define_function(
        &mut self,
        id: FunctionId,
        kind: FunctionKind,
        function: &FunctionBuilder,
        results: &[Register],
    ) {
        let at = At(Some(SectionId::FunctionIndex), id.0 as usize);
        if kind == FunctionKind::Native {
            self.fail(at.inconsistent("a native function has no body"));
            return;
        }
        if self.functions.get(id.0 as usize).is_none_or(|entry| entry.definition.is_some()) {
            self.fail(at.inconsistent("a function is defined twice, or was never declared"));
            return;
        }
        let start = self.bodies.len();
        match function.write(results, &mut self.bodies) {
            Ok(()) => {}
            Err(error) => self.fail(error),
        }
        let definition = Definition {
            kind,
            offset: self.offset(SectionId::Functions, start),
            argument_types: function.argument_types().to_vec(),
            result_types: results.iter().filter_map(|&register| function.register_type(register)).collect(),
        };
        self.functions[id.0 as usize].definition = Some(definition);
        if self.optional == OptionalSections::Keep {
            self.name_tables[id.0 as usize] = function.name_table();
            self.type_tables[id.0 as usize] = function.type_table();
        }
    }

    /// Adds a section that the format does not define. Readers skip it.
    pub fn unknown_section(&mut self, code: u8, alignment: u8, data: &[u8]) {
        if SectionId::from_code(code).is_some() || !alignment.is_power_of_two() {
            self.fail(At(None, 0).malformed(format!(
                "{code} is the code of a known section, or {alignment} is not an alignment"
            )));
            return;
        }
        self.extra_sections.push((code, usize::from(alignment), data.to_vec()));
    }

    /// Returns the file.
    ///
    /// # Errors
    /// The first error of any call.
    pub fn finish(mut self) -> Result<Vec<u8>, BefError> {
        let function_index = self.function_index();
        if let Some(error) = self.first_error {
            return Err(error);
        }
        let tables = |tables: &[Vec<u8>]| {
            let mut section = Vec::new();
            put_integer(&mut section, tables.len() as u64);
            tables.iter().for_each(|table| section.extend_from_slice(table));
            section
        };
        let mut attribute_types = Vec::new();
        put_integer(&mut attribute_types, self.known_attributes.len() as u64);
        attribute_types.extend_from_slice(&self.attribute_types);
        let mut out = MAGIC.to_vec();
        for &id in SectionId::ALL {
            let (alignment, data) = match id {
                SectionId::FormatVersion => (1, vec![VERSION]),
                SectionId::LocationFilenames => (1, std::mem::take(&mut self.filenames.bytes)),
                SectionId::LocationPositions => (1, std::mem::take(&mut self.positions)),
                SectionId::Strings => (1, std::mem::take(&mut self.strings.bytes)),
                SectionId::Attributes => (self.attribute_alignment, std::mem::take(&mut self.attributes)),
                SectionId::Kernels => (1, self.kernels.section()),
                SectionId::Types => (1, self.types.section()),
                SectionId::Functions => (crate::table::KERNEL_ALIGNMENT, std::mem::take(&mut self.bodies)),
                SectionId::FunctionIndex => (1, function_index.clone()),
                _ if self.optional == OptionalSections::Drop => continue,
                SectionId::AttributeTypes => (1, std::mem::take(&mut attribute_types)),
                SectionId::AttributeNames => (1, tables(&self.name_tables)),
                SectionId::RegisterTypes => (1, tables(&self.type_tables)),
            };
            put_section(&mut out, id.code(), alignment, &data);
        }
        for (code, alignment, data) in &self.extra_sections {
            put_section(&mut out, *code, *alignment, data);
        }
        Ok(out)
    }

    fn function_index(&mut self) -> Vec<u8> {
        let mut section = Vec::new();
        put_integer(&mut section, self.functions.len() as u64);
        let mut undefined = None;
        for (index, entry) in self.functions.iter().enumerate() {
            let Some(definition) = &entry.definition else {
                undefined.get_or_insert(index);
                continue;
            };
            section.push(definition.kind.code());
            put_integer(&mut section, u64::from(definition.offset));
            put_integer(&mut section, u64::from(entry.name));
            for types in [&definition.argument_types, &definition.result_types] {
                put_integer(&mut section, types.len() as u64);
                types.iter().for_each(|id| put_integer(&mut section, u64::from(id.0)));
            }
        }
        if let Some(index) = undefined {
            let at = At(Some(SectionId::FunctionIndex), index);
            self.fail(at.inconsistent(format!("function {index} was declared, but not defined")));
        }
        section
    }
}

impl NameTable {
    fn index(&mut self, offset: u32) -> u32 {
        *self.known.entry(offset).or_insert_with(|| {
            self.offsets.push(offset);
            self.offsets.len() as u32 - 1
        })
    }

    fn section(&self) -> Vec<u8> {
        let mut section = Vec::new();
        put_integer(&mut section, self.offsets.len() as u64);
        self.offsets.iter().for_each(|&offset| put_integer(&mut section, u64::from(offset)));
        section
    }
}

fn put_section(out: &mut Vec<u8>, code: u8, alignment: usize, data: &[u8]) {
    out.push(code);
    put_integer(out, (data.len() as u64) << 1 | u64::from(alignment > 1));
    if alignment > 1 {
        out.push(alignment as u8);
        put_alignment(out, alignment);
    }
    out.extend_from_slice(data);
}
