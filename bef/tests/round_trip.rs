//! What is written is read back.

mod common;

use common::{attributes, file, read_all, small_file};
use tfrt_bef::{
    Attribute, AttributeKind, AttributeView, BefBuilder, BefError, FunctionBuilder, FunctionKind, KernelSpec,
    Location, OptionalSections, SectionId, ShapeAttribute, VerifiedBef,
};

/// The value a view shows.
fn owned(view: &AttributeView<'_>) -> Attribute {
    match view {
        AttributeView::Data(dtype, bytes) => Attribute::Data(*dtype, bytes.to_vec()),
        AttributeView::String(bytes) => Attribute::String(bytes.to_vec()),
        AttributeView::Type(dtype) => Attribute::Type(*dtype),
        AttributeView::Shape(ShapeAttribute::Unranked) => Attribute::Shape(None),
        AttributeView::Shape(ShapeAttribute::Ranked(dimensions)) => {
            Attribute::Shape(Some(dimensions.to_vec()))
        }
        AttributeView::DataArray(array) => Attribute::DataArray(array.dtype(), array.bytes().to_vec()),
        AttributeView::TypeArray(types) => Attribute::TypeArray(types.iter().collect()),
        AttributeView::Dense(dense) => {
            Attribute::Dense(dense.dtype, dense.shape.to_vec(), dense.elements.to_vec())
        }
        AttributeView::Aggregate(aggregate) => Attribute::Aggregate(
            aggregate.iter().map(|element| owned(&element.expect("elements decode"))).collect(),
        ),
        AttributeView::Function(name) => Attribute::Function((*name).to_owned()),
    }
}

#[test]
fn everything_is_read_back() {
    let attributes = attributes();
    let bef = VerifiedBef::new(file(OptionalSections::Keep, &attributes)).unwrap();
    let names: Vec<_> =
        bef.functions().iter().map(|function| (function.name.as_str(), function.kind)).collect();
    let expected = [
        ("host_function", FunctionKind::Native),
        ("main", FunctionKind::Async),
        ("", FunctionKind::Async),
        ("sync", FunctionKind::Sync),
    ];
    assert_eq!(names, expected);
    assert!(bef.function(0).is_none());
    assert_eq!(bef.function_named("sync"), Some(3));

    let main = bef.function(1).unwrap();
    assert_eq!(bef.location(main.location()), Some(Location { file: "b.mlir", line: 1, column: 200 }));
    assert_eq!(main.register_use_counts(), [1, 1, 2, 3, 0]);
    assert_eq!(main.result_registers(), [3, 0, 3]);
    let kernels: Vec<_> = main.kernels().collect();
    assert_eq!(kernels.len(), 5);
    assert_eq!(kernels[0].results(), [5, 0, 1]);
    assert_eq!(kernels[0].used_bys(0), [1, 4]);
    assert_eq!(kernels[0].used_bys(1), []);
    assert_eq!(kernels[0].used_bys(2), [3]);
    assert_eq!(bef.kernel_name(kernels[1].kernel_code() as usize), "tfrt.constant");
    assert_eq!(kernels[1].used_bys(0), [2, 2]);
    assert_eq!((kernels[2].arguments(), kernels[2].operand_count()), (&[2, 2][..], 2));
    assert_eq!(kernels[2].functions(), [2, 1]);
    assert!(kernels[3].nonstrict());
    assert_eq!(kernels[3].operand_count(), 1);
    assert_eq!(kernels[4].operand_count(), 0);
    let types: Vec<_> =
        bef.register_types(1).unwrap().iter().map(|&index| bef.type_name(index as usize)).collect();
    assert_eq!(types, ["i32", "!tfrt.chain", "i32", "i32", "!tfrt.chain"]);
    assert!(bef.attribute_names(1, 2).unwrap().all(|name| name == "value"));

    for (kernel, typed) in [(kernels[1], false), (kernels[2], true)] {
        assert_eq!(kernel.attributes().len(), attributes.len());
        for (&offset, attribute) in kernel.attributes().iter().zip(&attributes) {
            let (view, is_typed) = bef.attribute_view(offset).unwrap();
            assert_eq!(&owned(&view), attribute);
            assert_eq!(is_typed, typed);
            assert_eq!(bef.attribute_kind(offset), Some(attribute.kind()));
        }
    }
}

/// Files are made for other programs as well; their bytes do not change by accident.
#[test]
fn bytes_are_those_of_the_format() {
    let bytes = small_file(&Attribute::scalar(7_i32), false);
    #[rustfmt::skip]
    let expected = [
        0x0B, 0xEF,
        0, 2, 0, // FormatVersion
        1, 4, b'f', 0, // LocationFilenames
        2, 6, 0, 1, 2, // LocationPositions
        3, 18, b'k', 0, b't', 0, b'm', 0, 0, b'a', 0, // Strings
        4, 9, 4, 7, 0, 0, 0, // Attributes
        5, 4, 1, 0, // Kernels
        6, 4, 1, 2, // Types
        7, 0x83, 9, 4, // Functions: of 196 bytes, aligned to 4
        0, 2, 1, 1, // @m: location, two registers and their use counts
        3, 0, 0, 40, 0, 88, 1, // three kernels: offsets and operands
        1, // the result
        0xAB, 0xAB, 0xAB, 0xAB, 0xCD, 0xCD, 0xCD, 0xCD,
    ];
    assert_eq!(bytes[..expected.len()], expected);
    #[rustfmt::skip]
    let index = [
        8, 30, 2, // FunctionIndex
        0, 0, 4, 0, 1, 0, // @m() -> t
        0, 0x81, 16, 6, 1, 0, 1, 0, // the region
        9, 6, 1, 0, 16, // AttributeTypes: an i32
        10, 16, 2, 3, 0, 0, 7, 0, 1, 0, // AttributeNames
        11, 12, 2, 2, 0, 0, 1, 0, // RegisterTypes
    ];
    assert_eq!(bytes[bytes.len() - index.len()..], index);
}

#[test]
fn plain_attributes_are_read_without_their_kinds() {
    let attributes = [
        Attribute::scalar(-5_i64),
        Attribute::scalar(true),
        Attribute::string("hello"),
        Attribute::array(&[1.5_f64, 2.5]),
        Attribute::array::<f32>(&[]),
        Attribute::Shape(Some(vec![4, -1])),
        Attribute::dense(&[2], &[1_i32, 2]),
        Attribute::Aggregate(vec![Attribute::string("a")]),
    ];
    let bef = VerifiedBef::new(file(OptionalSections::Drop, &attributes)).unwrap();
    let kernel = bef.function(1).unwrap().kernel(1).unwrap();
    let raw = |index: usize| bef.attribute(kernel.attributes()[index]);
    assert_eq!(raw(0).scalar::<i64>().unwrap(), -5);
    assert!(raw(1).boolean().unwrap());
    assert_eq!(raw(2).string().unwrap(), "hello");
    assert_eq!(raw(3).array::<f64>().unwrap(), [1.5, 2.5]);
    assert_eq!(raw(4).array::<f32>().unwrap(), [] as [f32; 0]);
    assert!(raw(4).aggregate().unwrap().is_empty());
    assert_eq!(raw(5).shape().unwrap(), ShapeAttribute::Ranked(&[4, -1]));
    assert_eq!(raw(6).dense().unwrap().values::<i32>().unwrap(), [1, 2]);
    assert_eq!(raw(7).aggregate().unwrap().get(0).unwrap().string(), Some("a"));
    assert!(raw(6).shape().is_err());
    assert!(raw(7).aggregate().unwrap().get(1).is_err());
    assert_eq!(bef.attribute_kind(kernel.attributes()[0]), None);
}

#[test]
fn optional_sections_can_be_dropped() {
    let kept = VerifiedBef::new(file(OptionalSections::Keep, &attributes())).unwrap();
    let dropped = VerifiedBef::new(file(OptionalSections::Drop, &attributes())).unwrap();
    assert!(kept.has_section(SectionId::RegisterTypes) && !dropped.has_section(SectionId::RegisterTypes));
    assert!(dropped.bytes().len() < kept.bytes().len());
    assert!(dropped.register_types(1).is_none() && dropped.attribute_names(1, 1).is_none());
    assert!(read_all(&kept) > read_all(&dropped));
}

#[test]
fn equal_things_are_written_once() {
    let mut bef = BefBuilder::new(OptionalSections::Keep);
    assert_eq!(bef.kernel("k"), bef.kernel("k"));
    assert_eq!(bef.type_name("t"), bef.type_name("t"));
    assert_eq!(bef.location("f", 1, 2), bef.location("f", 1, 2));
    assert_ne!(bef.location("f", 1, 2), bef.location("g", 1, 2));
    assert_ne!(bef.unique_location("f", 1, 2), bef.unique_location("f", 1, 2));
    let value = Attribute::scalar(1_i32);
    assert_eq!(bef.attribute(&value, false), bef.attribute(&value, false));
    assert_ne!(bef.attribute(&value, false), bef.attribute(&value, true));
    assert_ne!(bef.attribute(&Attribute::string(""), false), bef.attribute(&Attribute::scalar(true), false));
}

#[test]
fn what_cannot_be_written_is_reported() {
    let check = |build: &dyn Fn(&mut BefBuilder), expected: &str| {
        let mut bef = BefBuilder::new(OptionalSections::Keep);
        build(&mut bef);
        let message = bef.finish().unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    };
    check(
        &|bef| {
            _ = bef.kernel("a\0b");
        },
        "NUL",
    );
    check(
        &|bef| {
            _ = bef.declare_function("f");
        },
        "not defined",
    );
    check(
        &|bef| {
            _ = [bef.native_function("f", &[], &[]), bef.native_function("f", &[], &[])];
        },
        "second",
    );
    check(
        &|bef| {
            _ = bef.attribute(&Attribute::Dense(tfrt_bef::DType::I32, vec![3], vec![0; 8]), false);
        },
        "fill",
    );
    check(
        &|bef| {
            _ = bef.attribute(&Attribute::Shape(Some(vec![-2])), false);
        },
        "shape",
    );
    check(&|bef| bef.unknown_section(3, 1, &[]), "known section");
}

#[test]
fn registers_of_other_functions_are_refused() {
    let mut bef = BefBuilder::new(OptionalSections::Keep);
    let (kernel, location, ty) = (bef.kernel("k"), bef.location("f", 1, 1), bef.type_name("t"));
    let other = FunctionBuilder::new(location, &[ty]).arguments()[0];
    let mut body = FunctionBuilder::new(location, &[]);
    let spec = KernelSpec {
        kernel,
        location,
        arguments: &[other],
        attributes: &[],
        functions: &[],
        result_types: &[ty],
        nonstrict: false,
    };
    body.kernel(&spec);
    let id = bef.declare_function("f");
    bef.define_function(id, FunctionKind::Async, &body, &[]);
    assert!(matches!(bef.finish(), Err(BefError::Inconsistent(_))));
}

#[test]
fn misaligned_bytes_are_read_alike() {
    struct Shifted(Vec<u8>);
    impl AsRef<[u8]> for Shifted {
        fn as_ref(&self) -> &[u8] {
            &self.0[1..]
        }
    }
    let bytes = file(OptionalSections::Keep, &attributes());
    let straight = VerifiedBef::new(bytes.clone()).unwrap();
    let shifted = VerifiedBef::new(Shifted([&[0][..], &bytes].concat())).unwrap();
    assert_eq!(straight.inspect(), shifted.inspect());
    assert_eq!(read_all(&straight), read_all(&shifted));
}

#[test]
fn inspection_lists_sections_and_functions() {
    let bef = VerifiedBef::new(file(OptionalSections::Keep, &attributes())).unwrap();
    let inspection = bef.inspect();
    assert_eq!(inspection.sections.len(), 13);
    let strings = inspection.sections.iter().find(|section| section.name == Some("Strings")).unwrap();
    assert_eq!(strings.entries, Some(10));
    let unknown = inspection.sections.last().unwrap();
    assert_eq!((unknown.code, unknown.name, unknown.bytes, unknown.alignment), (200, None, 7, 16));
    assert_eq!(bef.unknown_section(200), Some(&b"skip me"[..]));
    assert_eq!((bef.unknown_section(201), bef.unknown_section(3)), (None, None));
    assert_eq!(inspection.functions[1].kernels, 4);
    assert_eq!(inspection.functions[1].arguments, ["i32", "!tfrt.chain"]);
    assert_eq!(bef.attribute_kind(u32::MAX), None::<AttributeKind>);
}
