//! Any bytes as a BEF file: what the verifier lets through can be read, converted and loaded
//! without a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tfrt_bef::{AttributeView, ShapeAttribute, VerifiedBef};
use tfrt_convert::{ConvertOptions, bef_to_mlir, mlir_to_bef};
use tfrt_fuzz::{KERNELS, OPS};
use tfrt_host::BefFile;
use tfrt_ir::{Location, PrintOptions, print_module};

fuzz_target!(|bytes: &[u8]| {
    let Ok(bef) = VerifiedBef::new(bytes.to_vec()) else { return };
    read(&bef);
    let _ = BefFile::load(bef, &KERNELS);
    if let Ok(converted) = bef_to_mlir(bytes.to_vec(), &OPS, &Location::Unknown) {
        print_module(&converted.module, &OPS, PrintOptions::default());
        if let Ok(again) = mlir_to_bef(&converted.module, &OPS, ConvertOptions::default()) {
            VerifiedBef::new(again).expect("the writer writes what the verifier accepts");
        }
    }
});

/// Everything the file says, through every accessor.
fn read(bef: &VerifiedBef) {
    let inspection = bef.inspect();
    for section in &inspection.sections {
        bef.unknown_section(section.code);
    }
    for (index, info) in bef.functions().iter().enumerate() {
        bef.function_named(&info.name);
        let Some(function) = bef.function(index) else { continue };
        bef.location(function.location());
        let registers = function.register_use_counts().len();
        assert!(bef.register_types(index).is_none_or(|types| types.len() == registers));
        assert!(function.result_registers().iter().all(|&register| (register as usize) < registers));
        for (number, kernel) in function.kernels().enumerate() {
            read_kernel(bef, &kernel, number, function.kernel_count(), registers);
            if let Some(names) = bef.attribute_names(index, number) {
                assert_eq!(names.count(), kernel.attributes().len());
            }
        }
    }
}

/// What the executor relies on without looking again.
fn read_kernel(
    bef: &VerifiedBef,
    kernel: &tfrt_bef::KernelRecord<'_>,
    number: usize,
    kernels: usize,
    registers: usize,
) {
    assert!(kernel.arguments().iter().all(|&register| (register as usize) < registers));
    let own = usize::from(number == 0);
    assert!(kernel.results().iter().skip(own).all(|&register| (register as usize) < registers));
    for (_, users) in kernel.uses() {
        assert!(users.iter().all(|&user| (user as usize) < kernels && user as usize > number));
    }
    if number > 0 {
        assert!((kernel.kernel_code() as usize) < bef.kernel_count());
        bef.location(kernel.location());
    }
    assert!(kernel.functions().iter().all(|&function| (function as usize) < bef.functions().len()));
    for &offset in kernel.attributes() {
        read_attribute(bef, offset);
    }
}

/// An attribute, as what it is said to be and as what else a kernel could take it for.
fn read_attribute(bef: &VerifiedBef, offset: u32) {
    let raw = bef.attribute(offset);
    let _ = (raw.scalar::<u64>(), raw.boolean(), raw.data_type(), raw.length(), raw.bytes(), raw.string());
    let _ = (raw.array::<u64>(), raw.array::<u16>(), raw.booleans());
    if let Ok(types) = raw.data_types() {
        assert_eq!(types.iter().count(), types.len());
    }
    let views = [
        raw.shape().ok().map(AttributeView::Shape),
        raw.dense().ok().map(AttributeView::Dense),
        raw.aggregate().ok().map(AttributeView::Aggregate),
        raw.typed().ok(),
        bef.attribute_view(offset).map(|(view, _)| view),
    ];
    views.iter().flatten().for_each(read_view);
}

fn read_view(view: &AttributeView<'_>) {
    view.kind();
    view.string();
    view.scalar::<u32>();
    match view {
        AttributeView::Shape(ShapeAttribute::Ranked(dimensions)) => {
            assert!(dimensions.iter().all(|&dimension| dimension >= -1));
        }
        AttributeView::DataArray(array) => {
            assert!(array.elements::<u32>().is_none_or(|elements| elements.len() == array.len()));
        }
        AttributeView::Dense(dense) => {
            let count: i64 = dense.shape.iter().product();
            assert!(dense.values::<f32>().is_none_or(|values| values.len() as i64 == count));
        }
        AttributeView::Aggregate(aggregate) => aggregate.iter().flatten().for_each(|inner| read_view(&inner)),
        _ => {}
    }
}
