//! Files that are not what they should be: converting back gives an error or a module, never a
//! panic.

mod common;

use common::print;
use tfrt_bef::{
    Attribute, BefBuilder, FunctionBuilder, FunctionId, FunctionKind, KernelSpec, OptionalSections,
};
use tfrt_convert::{ConvertOptions, bef_to_mlir, mlir_to_bef};
use tfrt_ir::{Location, Module, OpRegistry, ParseOptions, Source, parse_module};

fn parse(text: &str) -> Module {
    let source = Source::new("program.mlir", text);
    parse_module(&source, &OpRegistry::new(), &ParseOptions::default()).expect("the program is well-formed")
}

fn convert(bytes: Vec<u8>) -> Result<String, String> {
    match bef_to_mlir(bytes, &OpRegistry::new(), &Location::file("f.bef", 0, 0)) {
        Ok(converted) => Ok(print(&converted.module)),
        Err(errors) => Err(errors.to_string()),
    }
}

#[test]
fn every_byte_set_to_every_value() {
    let program = r#"
    func @f(%a: i32) -> i32 {
      %b = "k"(%a) ( { "tfrt.return"() : () -> () }) {c = @f, v = [1 : i32, "s"], w = #corert.shape<2>} : (i32) -> i32
      "tfrt.return"(%b) : (i32) -> ()
    }"#;
    let original = mlir_to_bef(&parse(program), &OpRegistry::new(), ConvertOptions::default())
        .expect("it can be encoded");
    let mut read = 0;
    for index in 0..original.len() {
        for value in 0..=u8::MAX {
            let mut bytes = original.clone();
            bytes[index] = value;
            read += usize::from(convert(bytes).is_ok());
        }
    }
    assert!(read > original.len(), "at least what was not changed is read");
}

#[test]
fn every_truncation() {
    let program = r#"func @f() { "k"() {v = 1 : i32} : () -> () "tfrt.return"() : () -> () }"#;
    let original = mlir_to_bef(&parse(program), &OpRegistry::new(), ConvertOptions::default())
        .expect("it can be encoded");
    for len in 0..original.len() {
        let _ = convert(original[..len].to_vec());
    }
}

/// A file of functions that each have one kernel that refers to others; a name makes a function, no
/// name a region.
fn file(functions: &[(&str, &[usize])]) -> Vec<u8> {
    let mut bef = BefBuilder::new(OptionalSections::Keep);
    let (kernel, location) = (bef.kernel("k"), bef.location("f", 1, 1));
    let ids: Vec<FunctionId> = functions.iter().map(|(name, _)| bef.declare_function(name)).collect();
    for (&id, (_, callees)) in ids.iter().zip(functions) {
        let mut body = FunctionBuilder::new(location, &[]);
        let callees: Vec<_> = callees.iter().map(|&callee| ids[callee]).collect();
        body.kernel(&KernelSpec {
            kernel,
            location,
            arguments: &[],
            attributes: &[],
            functions: &callees,
            result_types: &[],
            nonstrict: false,
        });
        bef.define_function(id, FunctionKind::Async, &body, &[]);
    }
    bef.finish().expect("it can be written")
}

#[test]
fn unnamed_functions_that_are_no_regions_are_refused() {
    assert!(convert(file(&[("f", &[1]), ("", &[2]), ("", &[])])).is_ok());
    let shared = convert(file(&[("f", &[1, 1]), ("", &[])])).unwrap_err();
    assert!(shared.contains("two kernels"), "{shared}");
    let orphan = convert(file(&[("f", &[]), ("", &[])])).unwrap_err();
    assert!(orphan.contains("no kernel"), "{orphan}");
    let own = convert(file(&[("f", &[]), ("", &[1])])).unwrap_err();
    assert!(own.contains("no kernel"), "{own}");
    assert!(convert(file(&[("f", &[]), ("", &[2]), ("", &[1])])).is_err());
}

#[test]
fn deep_regions_are_refused() {
    let callees: Vec<[usize; 1]> = (1..2001).map(|callee| [callee]).collect();
    let mut functions: Vec<(&str, &[usize])> = callees.iter().map(|callee| ("", &callee[..])).collect();
    functions.push(("", &[]));
    functions[0].0 = "f";
    let deep = convert(file(&functions)).unwrap_err();
    assert!(deep.contains("deeper"), "{deep}");
}

#[test]
fn types_that_are_none_are_refused() {
    let mut bef = BefBuilder::new(OptionalSections::Keep);
    bef.type_name("tensor<");
    let error = convert(bef.finish().expect("it can be written")).unwrap_err();
    assert!(error.starts_with("f.bef: error: Invalid Types section."), "{error}");
}

/// Values MLIR has no attribute for, and two references of one name.
#[test]
fn what_mlir_lacks_is_replaced() {
    let mut bef = BefBuilder::new(OptionalSections::Keep);
    let (kernel, location) = (bef.kernel("k"), bef.location("f", 1, 1));
    let value = Attribute::Data(tfrt_bef::DType::Complex64, vec![0; 8]);
    let attributes = [(bef.attribute_name("c"), bef.attribute(&value, false))];
    let id = bef.declare_function("f");
    let mut body = FunctionBuilder::new(location, &[]);
    body.kernel(&KernelSpec {
        kernel,
        location,
        arguments: &[],
        attributes: &attributes,
        functions: &[id, id],
        result_types: &[],
        nonstrict: false,
    });
    bef.define_function(id, FunctionKind::Async, &body, &[]);
    let text = convert(bef.finish().expect("it can be written")).expect("it can be read");
    assert!(text.contains("{c = -559038737 : i32, callee = @f, callee_ = @f}"), "{text}");
}
