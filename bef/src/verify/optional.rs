//! Verifies the AttributeNames and RegisterTypes sections, which have one table for each function
//! with a body.

use crate::contents::{AttributeNames, Contents, FunctionBody, FunctionInfo};
use crate::cursor::Cursor;
use crate::error::BefError;
use crate::kernel::KernelRecord;
use crate::table::SectionId;
use crate::verify::Errors;
use crate::verify::tables::Strings;

/// Reads both sections, if the file has them.
pub(super) fn read(bytes: &[u8], contents: &mut Contents, strings: &Strings, errors: &mut Errors) {
    let mut bodies = std::mem::take(&mut contents.bodies);
    if contents.has_section(SectionId::AttributeNames) {
        errors.note(read_names(bytes, contents, &mut bodies, strings));
    }
    if contents.has_section(SectionId::RegisterTypes) {
        errors.note(read_types(bytes, contents, &mut bodies));
    }
    contents.bodies = bodies;
}

fn read_names(
    bytes: &[u8],
    contents: &Contents,
    bodies: &mut [Option<FunctionBody>],
    strings: &Strings,
) -> Result<(), BefError> {
    let section = contents.section(bytes, SectionId::AttributeNames);
    let mut cursor = Cursor::new(Some(SectionId::AttributeNames), section, 0);
    expect_count(&mut cursor, "functions", contents.functions.len())?;
    for body in bodies.iter_mut().flatten() {
        expect_count(&mut cursor, "kernels", body.kernels.len())?;
        let records = bytes.get(body.records.clone()).unwrap_or(&[]);
        let words = bytemuck::try_cast_slice(records).unwrap_or(&[]);
        let mut names = AttributeNames::default();
        for entry in &body.kernels {
            let record = KernelRecord::read(words, entry.start, entry.operand_count).unwrap_or_default();
            let at = cursor.at();
            let special = cursor.byte("a kernel's special attribute")?;
            if u32::from(special) != record.special_metadata() {
                return Err(at.inconsistent("a special attribute disagrees with the kernel's record"));
            }
            for _ in record.attributes() {
                let at = cursor.at();
                names.names.push(strings.find(cursor.integer32("an attribute's name")?, at)?);
            }
            names.ends.push(names.names.len() as u32);
        }
        body.attribute_names = Some(names);
    }
    cursor.finish()
}

fn read_types(
    bytes: &[u8],
    contents: &Contents,
    bodies: &mut [Option<FunctionBody>],
) -> Result<(), BefError> {
    let section = contents.section(bytes, SectionId::RegisterTypes);
    let mut cursor = Cursor::new(Some(SectionId::RegisterTypes), section, 0);
    expect_count(&mut cursor, "functions", contents.functions.len())?;
    for (body, info) in bodies.iter_mut().zip(&contents.functions) {
        let Some(body) = body else { continue };
        let at = cursor.at();
        expect_count(&mut cursor, "registers", body.register_use_counts.len())?;
        let types = cursor.integers(body.register_use_counts.len(), "a register's type")?;
        if let Some(index) = types.iter().find(|&&index| index as usize >= contents.types.len()) {
            return Err(at.out_of_bounds(format!("there is no type {index}")));
        }
        if !agrees_with_index(bytes, body, info, &types) {
            return Err(at.inconsistent(format!(
                "the types of arguments or results of function '{}' are not those of the FunctionIndex section",
                info.name
            )));
        }
        body.register_types = Some(types);
    }
    cursor.finish()
}

fn agrees_with_index(bytes: &[u8], body: &FunctionBody, info: &FunctionInfo, types: &[u32]) -> bool {
    let records = bytes.get(body.records.clone()).unwrap_or(&[]);
    let words = bytemuck::try_cast_slice(records).unwrap_or(&[]);
    let pseudo =
        body.kernels.first().and_then(|entry| KernelRecord::read(words, entry.start, entry.operand_count));
    let arguments = pseudo.unwrap_or_default().results();
    let same = |registers: &[u32], expected: &[u32]| {
        registers
            .iter()
            .zip(expected)
            .all(|(&register, expected)| types.get(register as usize) == Some(expected))
    };
    same(arguments.get(1..).unwrap_or(&[]), &info.argument_types)
        && same(&body.result_registers, &info.result_types)
}

fn expect_count(cursor: &mut Cursor<'_>, what: &str, expected: usize) -> Result<(), BefError> {
    let at = cursor.at();
    let count = cursor.integer32(&format!("the number of {what}"))?;
    if count as usize == expected {
        Ok(())
    } else {
        Err(at.inconsistent(format!("it lists {count} {what}, but the file has {expected}")))
    }
}
