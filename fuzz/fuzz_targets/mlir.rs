//! Any text as MLIR: a module prints to text that parses to the same, and converts to a file that
//! the verifier accepts and that converts back.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tfrt_bef::VerifiedBef;
use tfrt_convert::{ConvertOptions, bef_to_mlir, mlir_to_bef};
use tfrt_fuzz::OPS;
use tfrt_ir::{
    Diagnostics, Location, Module, ParseOptions, PrintOptions, Source, parse_module, print_module, render,
    verify,
};

fuzz_target!(|text: &[u8]| {
    let source = Source::new("in.mlir", text);
    let unchecked = ParseOptions { verify: false, ..ParseOptions::default() };
    match parse_module(&source, &OPS, &unchecked) {
        Ok(module) => {
            if !verify(&module, &OPS).has_errors() {
                check(&module);
            }
        }
        Err(errors) => {
            assert!(errors.has_errors());
            render(&errors, &[&source], false);
        }
    }
});

fn print(module: &Module, generic: bool) -> String {
    print_module(module, &OPS, PrintOptions { generic, ..PrintOptions::default() })
}

fn parse(text: &str) -> Result<Module, Diagnostics> {
    parse_module(&Source::new("again.mlir", text), &OPS, &ParseOptions::default())
}

fn check(module: &Module) {
    for generic in [false, true] {
        let text = print(module, generic);
        match parse(&text) {
            Ok(again) => assert_eq!(text, print(&again, generic), "it prints to other text"),
            Err(errors) => panic!("it does not parse again:\n{text}\n{errors}"),
        }
    }
    for disable_optional_sections in [false, true] {
        let Ok(bytes) = mlir_to_bef(module, &OPS, ConvertOptions { disable_optional_sections }) else { continue };
        VerifiedBef::new(bytes.clone()).expect("the writer writes what the verifier accepts");
        let back = bef_to_mlir(bytes, &OPS, &Location::Unknown).expect("what was written can be read").module;
        if disable_optional_sections {
            continue;
        }
        let bytes = mlir_to_bef(&back, &OPS, ConvertOptions::default()).expect("it can be encoded again");
        let again = bef_to_mlir(bytes, &OPS, &Location::Unknown).expect("what was written can be read").module;
        assert_eq!(print(&back, true), print(&again, true), "it changes with every conversion");
    }
}
