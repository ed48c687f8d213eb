//! Bytes that are not what they should be: an error, never a panic, and what is accepted can be
//! read.

mod common;

use common::{attributes, file, read_all, small_file};
use proptest::prelude::*;
use tfrt_bef::{
    Attribute, AttributeView, BefError, MAX_AGGREGATE_DEPTH, OptionalSections, SectionId, VerifiedBef,
};

/// Verifies and, if that succeeds, reads everything.
fn try_read(bytes: Vec<u8>) -> Result<usize, Vec<BefError>> {
    let result = VerifiedBef::new(bytes).map(|bef| read_all(&bef));
    if let Err(errors) = &result {
        assert!(!errors.is_empty() && errors.iter().all(|error| !error.to_string().is_empty()));
    }
    result
}

#[test]
fn zeros_behind_the_magic_end_at_the_second_section() {
    let mut bytes = vec![0; 1 << 20];
    bytes[..2].copy_from_slice(&tfrt_bef::MAGIC);
    let errors = try_read(bytes).unwrap_err();
    let [error] = &errors[..] else { unreachable!("one error, got {}", errors.len()) };
    assert!(error.to_string().contains("a second FormatVersion section"), "{error}");
    // The same code again and again, of a section that nobody knows.
    let errors = try_read([&tfrt_bef::MAGIC[..], &[200, 0].repeat(1000)].concat()).unwrap_err();
    assert!(errors[0].to_string().contains("a second 200 section"), "{}", errors[0]);
}

#[test]
fn every_byte_set_to_every_value() {
    let nested = Attribute::Aggregate(vec![Attribute::array(&[1_i32]), Attribute::Aggregate(vec![])]);
    for (attribute, typed) in [(Attribute::string("s"), false), (nested, true)] {
        let original = small_file(&attribute, typed);
        for index in 0..original.len() {
            for value in 0..=u8::MAX {
                let mut bytes = original.clone();
                bytes[index] = value;
                let _ = try_read(bytes);
            }
        }
    }
}

#[test]
fn every_byte_of_every_attribute_kind_changed() {
    let original = file(OptionalSections::Keep, &attributes());
    for index in 0..original.len() {
        for change in [1, 4, 0x40, 0xFF] {
            let mut bytes = original.clone();
            bytes[index] ^= change;
            let _ = try_read(bytes);
        }
    }
}

#[test]
fn every_truncation_is_an_error_or_drops_optional_sections() {
    let original = file(OptionalSections::Keep, &attributes());
    let complete = VerifiedBef::new(original.clone()).unwrap();
    let needed = complete
        .inspect()
        .sections
        .iter()
        .find(|section| section.name == Some("FunctionIndex"))
        .unwrap()
        .clone();
    for len in 0..original.len() {
        let result = try_read(original[..len].to_vec());
        assert!(result.is_err() || len >= needed.offset + needed.bytes, "{len} bytes are not a file");
    }
}

proptest! {
    #[test]
    fn random_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(try_read(bytes).is_err());
    }

    #[test]
    fn random_sections_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let header = [0x0B, 0xEF, 0, 2, 0];
        let _ = try_read([&header[..], &bytes].concat());
    }

    #[test]
    fn several_changes_at_once(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = file(OptionalSections::Keep, &attributes());
        for (index, value) in changes {
            let index = index.index(bytes.len());
            bytes[index] = value;
        }
        let _ = try_read(bytes);
    }
}

/// Replaces the data of a section.
fn with_section(original: &[u8], id: SectionId, edit: impl Fn(&mut [u8])) -> Vec<u8> {
    let bef = VerifiedBef::new(original.to_vec()).expect("the original is well-formed");
    let section = bef.inspect().sections.into_iter().find(|section| section.name == Some(id.name()));
    let section = section.expect("the original has the section");
    let mut bytes = original.to_vec();
    edit(&mut bytes[section.offset..section.offset + section.bytes]);
    bytes
}

#[test]
fn errors_name_section_and_reason() {
    let original = file(OptionalSections::Keep, &attributes());
    let check = |bytes: Vec<u8>, section: Option<SectionId>, expected: &str| {
        let errors = VerifiedBef::new(bytes).unwrap_err();
        assert_eq!(errors[0].section(), section, "{errors:?}");
        assert!(errors[0].message().contains(expected), "{errors:?}");
    };
    check(b"MLIR".to_vec(), None, "0B EF");
    check(vec![0x0B, 0xEF], None, "no FormatVersion section");
    check([&original[..], &[0, 2, 0]].concat(), None, "second FormatVersion");
    let version = with_section(&original, SectionId::FormatVersion, |data| data[0] = 9);
    check(version, Some(SectionId::FormatVersion), "version 9 is unknown");
    let strings = with_section(&original, SectionId::Strings, |data| data[0] = 0xFF);
    check(strings, Some(SectionId::Strings), "UTF-8");
    let unterminated = with_section(&original, SectionId::Strings, |data| *data.last_mut().unwrap() = b'x');
    check(unterminated, Some(SectionId::Strings), "not terminated");
    let kernels = with_section(&original, SectionId::Kernels, |data| data[1] += 1);
    check(kernels, Some(SectionId::Kernels), "no string starts");
    let repeated = with_section(&original, SectionId::Types, |data| data[2] = data[1]);
    check(repeated, Some(SectionId::Types), "repeats");
    let kind = with_section(&original, SectionId::FunctionIndex, |data| data[1] = 7);
    check(kind, Some(SectionId::FunctionIndex), "unknown function kind 7");
    let uses = with_section(&original, SectionId::Functions, |data| data[2] += 1);
    check(uses, Some(SectionId::Functions), "uses");
    let tag = with_section(&original, SectionId::AttributeTypes, |data| data[2] = 0x7E);
    check(tag, Some(SectionId::AttributeTypes), "unknown attribute kind");
}

/// A chain of aggregates, each the only element of the one before, deeper than readers follow.
#[test]
fn deep_aggregates_are_refused() {
    const DEPTH: u32 = 100_000;
    let words = (0..DEPTH).rev().flat_map(|inner| [0x400, 16 * (inner + 1), u32::from(inner > 0), 16]);
    let attribute = Attribute::array(&words.collect::<Vec<_>>());
    let bef = VerifiedBef::new(file(OptionalSections::Drop, &[attribute])).unwrap();
    let offset = bef.function(1).unwrap().kernel(1).unwrap().attributes()[0];
    let mut view = bef.attribute(offset).typed().unwrap();
    let mut depth = 1;
    let error = loop {
        let AttributeView::Aggregate(aggregate) = view else { panic!("{view:?}") };
        match aggregate.get(0) {
            Ok(inner) => view = inner,
            Err(error) => break error,
        }
        depth += 1;
    };
    assert!(matches!(error, BefError::Limit(_)), "{error}");
    assert_eq!(depth, MAX_AGGREGATE_DEPTH);
}

/// Functions, records and attributes may not share bytes, or a small file could expand into much
/// work.
#[test]
fn aliased_bodies_are_refused() {
    let original = file(OptionalSections::Drop, &[]);
    // The synchronous function is the last of the index; its offset is the byte after its kind.
    let aliased = with_section(&original, SectionId::FunctionIndex, |data| {
        let sync = data.len() - 6;
        assert_eq!(data[sync], 2);
        data[sync + 1..sync + 3].copy_from_slice(&[0x80, 0]);
    });
    let errors = VerifiedBef::new(aliased).unwrap_err();
    assert!(matches!(errors[..], [BefError::Limit(_)]), "{errors:?}");
}
