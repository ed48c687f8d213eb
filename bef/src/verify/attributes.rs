//! Verifies the AttributeTypes section, and that each attribute decodes as its kind.

use crate::attribute::RawAttribute;
use crate::contents::{AttributeEntry, Contents};
use crate::cursor::Cursor;
use crate::error::{At, BefError};
use crate::table::{AttributeKind, DType, SectionId};
use crate::verify::Errors;
use crate::view::AttributeView;

/// Reads the section and checks every attribute it lists.
pub(super) fn read(bytes: &[u8], contents: &mut Contents, errors: &mut Errors) {
    if !contents.has_section(SectionId::AttributeTypes) {
        return;
    }
    let section = contents.section(bytes, SectionId::AttributeTypes);
    let Some(mut entries) = errors.note(read_entries(section)) else { return };
    let attributes = contents.section(bytes, SectionId::Attributes);
    if errors.note(check_overlap(attributes, &entries)).is_none() {
        return;
    }
    for entry in &entries {
        let raw = RawAttribute::new(attributes, entry.offset as usize);
        errors.note(raw.view(entry.kind, entry.typed).and_then(|view| check_elements(&view)));
    }
    // An empty string and the attribute after it may share an offset. The first entry counts.
    entries.dedup_by_key(|entry| entry.offset);
    contents.attributes = entries;
}

/// Reads the entries, ordered by offset.
fn read_entries(section: &[u8]) -> Result<Vec<AttributeEntry>, BefError> {
    let mut cursor = Cursor::new(Some(SectionId::AttributeTypes), section, 0);
    let count = cursor.count("the number of attributes", 2)?;
    let mut entries = Vec::with_capacity(count);
    for _ in 0..count {
        let offset = cursor.integer32("an attribute's offset")?;
        let at = cursor.at();
        // The tag is the kind, shifted by a bit that says whether there is a header.
        let tag = cursor.integer32("an attribute's tag")?;
        let kind = u16::try_from(tag >> 1).ok().and_then(AttributeKind::from_code);
        let kind = kind.ok_or_else(|| at.unsupported(format!("unknown attribute kind {}", tag >> 1)))?;
        entries.push(AttributeEntry { offset, kind, typed: tag & 1 != 0 });
    }
    cursor.finish()?;
    entries.sort_by_key(|entry| entry.offset);
    Ok(entries)
}

/// Checks that no two attributes share bytes. Otherwise a small file could hold very many large
/// attributes.
fn check_overlap(attributes: &[u8], entries: &[AttributeEntry]) -> Result<(), BefError> {
    let mut extents = entries
        .iter()
        .map(|entry| extent(RawAttribute::new(attributes, entry.offset as usize), entry))
        .collect::<Result<Vec<_>, _>>()?;
    extents.sort_unstable();
    for pair in extents.windows(2) {
        if let &[(_, end), (start, _)] = pair
            && start < end
        {
            return Err(At(Some(SectionId::Attributes), start).limit("two attributes overlap"));
        }
    }
    Ok(())
}

/// Returns the range of bytes that an attribute occupies in the section: start and end.
fn extent(raw: RawAttribute<'_>, entry: &AttributeEntry) -> Result<(usize, usize), BefError> {
    let end = |len: usize| raw.offset.saturating_add(len);
    if entry.typed || entry.kind.is_always_typed() {
        return Ok((raw.offset, end(raw.typed_byte_count()?)));
    }
    match entry.kind {
        AttributeKind::Data(DType::String) | AttributeKind::TypeArray => {
            let (len, size) = raw.length_and_its_size()?;
            Ok((raw.offset - size, end(len)))
        }
        AttributeKind::DataArray(dtype) => {
            let (len, size) = raw.length_and_its_size()?;
            Ok((raw.offset - size, end(raw.byte_len(len, raw.element_size(dtype)?)?)))
        }
        AttributeKind::Data(dtype) => Ok((raw.offset, end(raw.element_size(dtype)?))),
        _ => Ok((raw.offset, end(1))),
    }
}

/// Checks the elements of aggregates. Recursion ends at [`crate::MAX_AGGREGATE_DEPTH`], which
/// reading an aggregate enforces.
fn check_elements(view: &AttributeView<'_>) -> Result<(), BefError> {
    if let AttributeView::Aggregate(aggregate) = view {
        for element in aggregate.iter() {
            check_elements(&element?)?;
        }
    }
    Ok(())
}
