//! Verifies the list of sections.

use crate::contents::{Contents, SectionSpan};
use crate::cursor::Cursor;
use crate::error::{At, BefError};
use crate::table::{MAGIC, Presence, SectionId, VERSION};
use crate::verify::Errors;

/// The largest alignment that a section header can contain.
const MAX_SECTION_ALIGNMENT: u8 = 128;

/// Reads the section headers. No code may occur twice, so there are at most 256.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<SectionSpan>, BefError> {
    if bytes.get(..MAGIC.len()) != Some(&MAGIC[..]) {
        return Err(At(None, 0).malformed("it does not start with the bytes 0B EF"));
    }
    let mut cursor = Cursor::new(None, bytes, MAGIC.len());
    let mut sections = Vec::new();
    let mut is_known = [false; 1 << u8::BITS];
    while !cursor.is_at_end() {
        let at = cursor.at();
        let code = cursor.byte("a section header")?;
        let length = cursor.integer("a section's length")?;
        let mut alignment = 1;
        if length & 1 != 0 {
            alignment = cursor.byte("a section's alignment")?;
            if !alignment.is_power_of_two() || alignment > MAX_SECTION_ALIGNMENT {
                return Err(at.malformed(format!("a section is aligned to {alignment} bytes")));
            }
            cursor.align(0, usize::from(alignment))?;
        }
        let start = cursor.offset();
        if std::mem::replace(&mut is_known[usize::from(code)], true) {
            let id = SectionId::ALL.iter().find(|id| id.code() == code);
            let name = id.map_or_else(|| code.to_string(), ToString::to_string);
            return Err(At(None, start).malformed(format!("a second {name} section")));
        }
        cursor.take(length >> 1, "a section")?;
        sections.push(SectionSpan { code, data: start..cursor.offset(), alignment: usize::from(alignment) });
    }
    Ok(sections)
}

/// Checks that the required sections exist, and the version.
pub(super) fn check(bytes: &[u8], contents: &mut Contents, errors: &mut Errors) {
    for &id in SectionId::ALL {
        let first = contents.sections.iter().find(|section| section.code == id.code());
        contents.known[usize::from(id.code())] = first.map(|section| (section.data.start, section.data.end));
        if first.is_none() && id.presence() == Presence::Required {
            errors.push(At(None, bytes.len()).malformed(format!("there is no {id} section")));
        }
    }
    if contents.has_section(SectionId::FormatVersion) {
        match *contents.section(bytes, SectionId::FormatVersion) {
            [VERSION] => contents.version = VERSION,
            [version, ..] if version != VERSION => {
                errors.push(At(Some(SectionId::FormatVersion), 0).unsupported(format!(
                    "version {version} is unknown; only version {VERSION} can be read"
                )));
            }
            _ => errors.push(At(Some(SectionId::FormatVersion), 0).malformed("it must be one byte long")),
        }
    }
}
