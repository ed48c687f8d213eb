//! Verifies strings, locations, kernel names, type names and the function index.

use std::collections::HashSet;

use crate::contents::{Contents, FunctionInfo, LocationEntry, StringSpan};
use crate::cursor::Cursor;
use crate::error::{At, BefError};
use crate::table::{FunctionKind, SectionId};
use crate::verify::Errors;

/// The strings of a section, in order.
pub(super) struct Strings {
    spans: Vec<StringSpan>,
}

impl Strings {
    fn read(section: SectionId, bytes: &[u8]) -> Result<Self, BefError> {
        if u32::try_from(bytes.len()).is_err() {
            return Err(At(Some(section), 0).limit("it is longer than 32-bit offsets reach"));
        }
        if let Err(error) = std::str::from_utf8(bytes) {
            return Err(At(Some(section), error.valid_up_to()).malformed("it is not UTF-8"));
        }
        let Some((&last, _)) = bytes.split_last() else { return Ok(Self { spans: Vec::new() }) };
        if last != 0 {
            return Err(At(Some(section), bytes.len() - 1).malformed("the last string is not terminated"));
        }
        let mut spans = Vec::new();
        let mut start = 0;
        for string in bytes.split(|&byte| byte == 0) {
            spans.push(StringSpan { start, len: string.len() as u32 });
            start += string.len() as u32 + 1;
        }
        // The part that `split` returns after the last terminator is not a string.
        spans.pop();
        Ok(Self { spans })
    }

    /// Returns the string that starts at an offset. `at` is the place where the offset was read.
    pub(super) fn find(&self, offset: u32, at: At) -> Result<StringSpan, BefError> {
        match self.spans.binary_search_by_key(&offset, |span| span.start) {
            Ok(index) => Ok(self.spans[index]),
            Err(_) => {
                Err(at.out_of_bounds(format!("no string starts at byte {offset} of the Strings section")))
            }
        }
    }
}

/// Reads every table that depends on no table except the strings.
pub(super) fn read(bytes: &[u8], contents: &mut Contents, errors: &mut Errors) -> Strings {
    let strings = Strings::read(SectionId::Strings, contents.section(bytes, SectionId::Strings));
    let strings = errors.note(strings).unwrap_or(Strings { spans: Vec::new() });
    let filenames =
        Strings::read(SectionId::LocationFilenames, contents.section(bytes, SectionId::LocationFilenames));
    if let Some(filenames) = errors.note(filenames) {
        let positions = contents.section(bytes, SectionId::LocationPositions);
        contents.locations =
            errors.note(read_locations(positions, filenames.spans.len())).unwrap_or_default();
        contents.filenames = filenames.spans;
    }
    contents.kernels =
        errors.note(read_names(bytes, contents, SectionId::Kernels, &strings)).unwrap_or_default();
    contents.types = errors.note(read_names(bytes, contents, SectionId::Types, &strings)).unwrap_or_default();
    strings
}

fn read_locations(bytes: &[u8], filename_count: usize) -> Result<Vec<LocationEntry>, BefError> {
    let mut cursor = Cursor::new(Some(SectionId::LocationPositions), bytes, 0);
    let mut locations = Vec::new();
    while !cursor.is_at_end() {
        let at = cursor.at();
        let offset = u32::try_from(at.1).map_err(|_| at.limit("it is longer than 32-bit offsets reach"))?;
        let filename = cursor.integer32("a file name's index")?;
        let line = cursor.integer32("a line number")?;
        let column = cursor.integer32("a column number")?;
        if filename as usize >= filename_count {
            return Err(at.out_of_bounds(format!("there is no file name {filename}")));
        }
        locations.push(LocationEntry { offset, filename, line, column });
    }
    Ok(locations)
}

/// Reads the Kernels or the Types section.
fn read_names(
    bytes: &[u8],
    contents: &Contents,
    section: SectionId,
    strings: &Strings,
) -> Result<Vec<StringSpan>, BefError> {
    let mut cursor = Cursor::new(Some(section), contents.section(bytes, section), 0);
    let count = cursor.count("the number of entries", 1)?;
    let mut names = Vec::with_capacity(count);
    let mut seen = HashSet::with_capacity(count);
    for index in 0..count {
        let at = cursor.at();
        let offset = cursor.integer32("a name's offset")?;
        names.push(strings.find(offset, at)?);
        // Each name may occur once. Otherwise a small file could name a long string very often.
        if !seen.insert(offset) {
            return Err(at.inconsistent(format!("entry {index} repeats the name of another")));
        }
    }
    cursor.finish()?;
    Ok(names)
}

/// Reads the FunctionIndex section.
pub(super) fn read_functions(bytes: &[u8], contents: &mut Contents, strings: &Strings, errors: &mut Errors) {
    let section = contents.section(bytes, SectionId::FunctionIndex);
    let mut cursor = Cursor::new(Some(SectionId::FunctionIndex), section, 0);
    let Some(count) = errors.note(cursor.count("the number of functions", 5)) else { return };
    let mut functions: Vec<FunctionInfo> = Vec::with_capacity(count);
    let mut seen = HashSet::new();
    for _ in 0..count {
        let at = cursor.at();
        let Some(function) = errors.note(read_function(&mut cursor, bytes, contents, strings)) else {
            return;
        };
        if !function.name.is_empty() && !seen.insert(function.name.clone()) {
            errors.push(at.inconsistent(format!("there is a second function '{}'", function.name)));
            return;
        }
        functions.push(function);
    }
    errors.note(cursor.finish());
    contents.functions = functions;
}

fn read_function(
    cursor: &mut Cursor<'_>,
    bytes: &[u8],
    contents: &Contents,
    strings: &Strings,
) -> Result<FunctionInfo, BefError> {
    let at = cursor.at();
    let code = cursor.byte("a function's kind")?;
    let kind = FunctionKind::from_code(code)
        .ok_or_else(|| at.unsupported(format!("unknown function kind {code}")))?;
    let offset = cursor.integer32("a function's offset")?;
    let name_at = cursor.at();
    let span = strings.find(cursor.integer32("a function's name")?, name_at)?;
    let start = span.start as usize;
    let name =
        contents.section(bytes, SectionId::Strings).get(start..start + span.len as usize).unwrap_or(&[]);
    let name = String::from_utf8_lossy(name).into_owned();
    if kind == FunctionKind::Native && name.is_empty() {
        return Err(name_at.inconsistent("a native function has no name"));
    }
    let argument_types = read_types(cursor, contents.types.len(), "the number of arguments")?;
    let result_types = read_types(cursor, contents.types.len(), "the number of results")?;
    Ok(FunctionInfo { name, kind, argument_types, result_types, offset })
}

fn read_types(cursor: &mut Cursor<'_>, type_count: usize, what: &str) -> Result<Vec<u32>, BefError> {
    let at = cursor.at();
    let count = cursor.count(what, 1)?;
    let types = cursor.integers(count, "a type's index")?;
    match types.iter().find(|&&index| index as usize >= type_count) {
        Some(index) => Err(at.out_of_bounds(format!("there is no type {index}"))),
        None => Ok(types),
    }
}
