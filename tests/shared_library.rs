//! Kernels from a shared library work as built-in ones do.

use std::{path::PathBuf, process::Command};

use tfrt::{
    Runtime,
    host::{AsyncValue, ErrorCode},
};

/// Builds the example beside this test and says where it is.
fn library() -> PathBuf {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--example", "kernel_library"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo runs");
    assert!(built.success(), "the example builds");
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).parent().expect("a target folder").to_owned();
    target.join("debug/examples/libkernel_library.so")
}

const PROGRAM: &str = r#"
func @sum(%a: i64, %b: i64, %c: i64) -> (!tfrt.string, !tfrt.string) {
  %x = "example.fraction"(%a, %b) : (i64, i64) -> !example.fraction
  %y = "example.fraction"(%a, %c) : (i64, i64) -> !example.fraction
  %z = "example.fraction.add"(%x, %y) : (!example.fraction, !example.fraction) -> !example.fraction
  %text = "example.fraction.describe"(%z) : (!example.fraction) -> !tfrt.string
  %hello = "example.greeting"() {name = "you"} : () -> !tfrt.string
  tfrt.return %text, %hello : !tfrt.string, !tfrt.string
}
"#;

#[test]
fn a_program_uses_the_kernels_of_a_library() {
    let before = AsyncValue::live_count();
    let runtime = Runtime::builder().shared_library(library()).build().expect("the library loads");
    let program = runtime.load("sum.mlir", PROGRAM.into()).expect("the program loads");
    let call = |a: i64, b: i64, c: i64| {
        program.call("sum", [a, b, c].map(AsyncValue::new)).expect("the call starts")
    };

    let results = call(1, 2, 3);
    assert_eq!(results[0].get::<String>().expect("a string"), "5/6");
    assert_eq!(results[1].get::<String>().expect("a string"), "hello, you");
    drop(results);

    let results = call(1, 2, 0);
    let error = results[0].error().expect("an error");
    assert_eq!(
        (error.code, &*error.message),
        (ErrorCode::InvalidArgument, "a fraction's denominator is zero")
    );
    assert_eq!(error.location.as_ref().expect("a place").line, 4);
    drop(results);
    assert_eq!(AsyncValue::live_count(), before, "values the library made are counted by the host");
}

#[test]
fn what_is_no_kernel_library_is_refused() {
    let error = Runtime::builder().shared_library("no/such/library.so").build().expect_err("nothing there");
    assert!(error.to_string().contains("couldn't load library 'no/such/library.so'"), "{error}");
    let libc = "/lib/x86_64-linux-gnu/libc.so.6";
    if std::path::Path::new(libc).exists() {
        let error = Runtime::builder().shared_library(libc).build().expect_err("no kernels there");
        assert!(error.to_string().contains("not a kernel library"), "{error}");
    }
    let path = library();
    let twice =
        Runtime::builder().shared_library(&path).shared_library(&path).build().expect_err("names are taken");
    assert!(twice.to_string().contains("registered twice: example.fraction"), "{twice}");
}
