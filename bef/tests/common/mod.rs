//! Files for tests, and reading everything in a file.

use tfrt_bef::{
    Attribute, AttributeView, BefBuilder, DType, FunctionBuilder, FunctionKind, KernelSpec, OptionalSections,
    VerifiedBef,
};

/// One attribute of every kind.
pub(crate) fn attributes() -> Vec<Attribute> {
    vec![
        Attribute::scalar(true),
        Attribute::scalar(-3_i8),
        Attribute::scalar(40_000_u16),
        Attribute::scalar(-70_000_i32),
        Attribute::scalar(u64::MAX),
        Attribute::scalar(0.5_f32),
        Attribute::scalar(-0.25_f64),
        Attribute::scalar(half::f16::from_f32(1.5)),
        Attribute::scalar(half::bf16::from_f32(2.5)),
        Attribute::string(""),
        Attribute::string("text"),
        Attribute::String(vec![0, 0xFF, b'"', 0]),
        Attribute::string(&"long ".repeat(40)),
        Attribute::Type(DType::Complex64),
        Attribute::Shape(None),
        Attribute::Shape(Some(vec![])),
        Attribute::Shape(Some(vec![2, -1, 3])),
        Attribute::array::<i32>(&[]),
        Attribute::array(&[true, false]),
        Attribute::array(&[1_i64, -1]),
        Attribute::array(&[1.0_f32]),
        Attribute::TypeArray(vec![DType::I32, DType::String]),
        Attribute::dense(&[2, 2], &[1.0_f32, 2.0, 3.0, 4.0]),
        Attribute::dense(&[], &[7_i64]),
        Attribute::dense::<u8>(&[0, 3], &[]),
        Attribute::dense(&[1], &[num_complex::Complex::new(1.0_f64, 2.0)]),
        Attribute::Aggregate(vec![]),
        Attribute::Aggregate(vec![
            Attribute::scalar(1_i32),
            Attribute::Aggregate(vec![Attribute::scalar(2.0_f64), Attribute::string("inner")]),
            Attribute::Function("callee".to_owned()),
            Attribute::dense(&[1], &[5_i32]),
        ]),
        Attribute::Function("callee".to_owned()),
    ]
}

/// A program that uses the format up: a native function, a synchronous one, a region, non-strict
/// kernels, registers read twice, and the given attributes.
pub(crate) fn file(optional: OptionalSections, attributes: &[Attribute]) -> Vec<u8> {
    let mut bef = BefBuilder::new(optional);
    let (i32_type, chain) = (bef.type_name("i32"), bef.type_name("!tfrt.chain"));
    let (add, print, constant) =
        (bef.kernel("tfrt.add.i32"), bef.kernel("tfrt.print.i32"), bef.kernel("tfrt.constant"));
    let native = bef.native_function("host_function", &[i32_type], &[i32_type]);
    let main = bef.declare_function("main");
    let region = bef.declare_function("");
    let sync = bef.declare_function("sync");

    let here = bef.location("a.mlir", 3, 5);
    let there = bef.location("b.mlir", 1, 200);
    let spec = KernelSpec {
        kernel: add,
        location: here,
        arguments: &[],
        attributes: &[],
        functions: &[],
        result_types: &[],
        nonstrict: false,
    };

    let mut body = FunctionBuilder::new(there, &[i32_type, chain]);
    let arguments = body.arguments();
    let name = bef.attribute_name("value");
    let plain: Vec<_> = attributes.iter().map(|attribute| (name, bef.attribute(attribute, false))).collect();
    let typed: Vec<_> = attributes.iter().map(|attribute| (name, bef.attribute(attribute, true))).collect();
    let value =
        body.kernel(&KernelSpec { kernel: constant, attributes: &plain, result_types: &[i32_type], ..spec });
    let sum = body.kernel(&KernelSpec {
        arguments: &[value[0], value[0]],
        attributes: &typed,
        functions: &[region, main],
        result_types: &[i32_type, chain],
        ..spec
    });
    body.kernel(&KernelSpec {
        kernel: print,
        arguments: &[sum[0], arguments[1]],
        functions: &[native],
        nonstrict: true,
        ..spec
    });
    body.kernel(&KernelSpec { kernel: print, nonstrict: true, ..spec });
    bef.define_function(main, FunctionKind::Async, &body, &[sum[0], arguments[0], sum[0]]);

    let body = FunctionBuilder::new(here, &[i32_type]);
    let arguments = body.arguments();
    bef.define_function(region, FunctionKind::Async, &body, &arguments);
    let body = FunctionBuilder::new(here, &[]);
    bef.define_function(sync, FunctionKind::Sync, &body, &[]);
    bef.unknown_section(200, 16, b"skip me");
    bef.finish().expect("the sample file can be written")
}

/// A program small enough to change each of its bytes to every value: two kernels, an attribute, a
/// region.
pub(crate) fn small_file(attribute: &Attribute, typed: bool) -> Vec<u8> {
    let mut bef = BefBuilder::new(OptionalSections::Keep);
    let (kernel, ty, location) = (bef.kernel("k"), bef.type_name("t"), bef.location("f", 1, 2));
    let (main, region) = (bef.declare_function("m"), bef.declare_function(""));
    let attributes = [(bef.attribute_name("a"), bef.attribute(attribute, typed))];
    let spec = KernelSpec {
        kernel,
        location,
        arguments: &[],
        attributes: &attributes,
        functions: &[region],
        result_types: &[ty],
        nonstrict: false,
    };
    let mut body = FunctionBuilder::new(location, &[]);
    let value = body.kernel(&spec);
    let result = body.kernel(&KernelSpec { arguments: &value, attributes: &[], ..spec });
    bef.define_function(main, FunctionKind::Async, &body, &result);
    let body = FunctionBuilder::new(location, &[ty]);
    bef.define_function(region, FunctionKind::Async, &body, &body.arguments());
    bef.finish().expect("the sample file can be written")
}

/// Reads everything a file has, in every way it can be read; gives a number that depends on all of
/// it.
pub(crate) fn read_all(bef: &VerifiedBef) -> usize {
    let mut sum = usize::from(bef.version()) + format!("{:?}", bef.inspect()).len();
    sum += (0..=bef.kernel_count()).map(|index| bef.kernel_name(index).len()).sum::<usize>();
    sum += (0..=bef.type_count()).map(|index| bef.type_name(index).len()).sum::<usize>();
    for (index, info) in bef.functions().iter().enumerate() {
        sum += info.name.len() + bef.function_named(&info.name).unwrap_or(0);
        let Some(function) = bef.function(index) else { continue };
        sum += bef.location(function.location()).map_or(0, |location| location.file.len());
        sum += function.register_use_counts().len() + function.result_registers().len();
        sum += bef.register_types(index).map_or(0, <[u32]>::len);
        for (kernel_index, kernel) in function.kernels().enumerate() {
            sum += bef.location(kernel.location()).map_or(0, |location| location.line as usize);
            sum += kernel.arguments().len() + kernel.functions().len() + usize::from(kernel.nonstrict());
            sum += (0..kernel.results().len()).map(|result| kernel.used_bys(result).len()).sum::<usize>();
            sum += kernel.attributes().iter().map(|&offset| read_attribute(bef, offset)).sum::<usize>();
            if let Some(names) = bef.attribute_names(index, kernel_index) {
                assert_eq!(names.len(), kernel.attributes().len());
                sum += names.map(str::len).sum::<usize>();
            }
        }
    }
    sum
}

fn read_attribute(bef: &VerifiedBef, offset: u32) -> usize {
    let raw = bef.attribute(offset);
    let results = [
        raw.scalar::<i64>().is_ok(),
        raw.boolean().is_ok(),
        raw.data_type().is_ok(),
        raw.string().is_ok(),
        raw.bytes().is_ok(),
        raw.array::<i64>().is_ok(),
        raw.booleans().is_ok(),
        raw.data_types().is_ok(),
        raw.shape().is_ok(),
        raw.dense().is_ok(),
        raw.aggregate().is_ok(),
    ];
    if bef.attribute_kind(offset).is_some() {
        assert!(bef.attribute_view(offset).is_some(), "a listed attribute decodes");
    }
    results.iter().filter(|&&ok| ok).count()
        + raw.typed().map_or(0, |view| read_view(&view))
        + bef.attribute_view(offset).map_or(0, |(view, _)| read_view(&view))
}

fn read_view(view: &AttributeView<'_>) -> usize {
    match view {
        AttributeView::Aggregate(aggregate) => {
            aggregate.iter().map(|element| element.map_or(0, |element| read_view(&element))).sum()
        }
        other => format!("{other:?}").len(),
    }
}
