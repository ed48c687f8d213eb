//! Kernels from a shared library work as built-in ones do.

use std::{path::PathBuf, process::Command};

use tfrt::{
    Runtime,
    host::{AsyncValue, ErrorCode},
};

/// Cargo without what it tells the tests that it runs. Build scripts that look at it would run again
/// here and in the next build, and their crates would be compiled again.
fn cargo() -> Command {
    let mut command = Command::new(env!("CARGO"));
    let names = std::env::vars_os().map(|(name, _)| name);
    let is_about_this = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    names.filter(|name| name.to_str().is_some_and(is_about_this)).for_each(|name| {
        command.env_remove(name);
    });
    command
}

/// Builds the kernel library that is this example, and returns its path.
fn library(example: &str) -> PathBuf {
    // For the whole workspace, as the tools under test are built: types of another build do not
    // match.
    let built = cargo()
        .args(["build", "--quiet", "--locked", "--workspace", "--example", example])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo runs");
    assert!(built.success(), "the example builds");
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).parent().expect("a target folder").to_owned();
    target.join(format!("debug/examples/lib{example}.so"))
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
    let runtime =
        Runtime::builder().shared_library(library("kernel_library")).build().expect("the library loads");
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

const PANICS: &str = r#"
func @panicking_native(%a: i64) -> i64 attributes {tfrt.native}
func @panics(%a: i64) -> (i64, !tfrt.string, i64, i64, i64, i64, i64, i64, i64) {
  %scalar = "panicking.scalar"(%a) : (i64) -> i64
  %boxed = "panicking.boxed"(%a) : (i64) -> !tfrt.string
  %raw = "panicking.raw"(%a) : (i64) -> i64
  %blocking = "panicking.blocking"(%a) : (i64) -> i64
  %spawn = "panicking.spawn"(%a) : (i64) -> i64
  %native = tfrt.call @panicking_native(%a) : (i64) -> i64
  %task = "panicking.task"(%a) : (i64) -> i64
  %waiter = "panicking.waiter"(%a) : (i64) -> i64
  %c0 = tfrt.constant.i64 0
  %sum = tfrt.add.i64 %a, %c0
  tfrt.return %scalar, %boxed, %raw, %blocking, %spawn, %native, %task, %waiter, %sum
      : i64, !tfrt.string, i64, i64, i64, i64, i64, i64, i64
}
"#;

#[test]
fn panics_in_a_library_are_errors_of_their_kernels() {
    let runtime = Runtime::builder().shared_library(library("panicking_library")).build().expect("it loads");
    let program = runtime.load("panics.mlir", PANICS.into()).expect("the program loads");
    for _ in 0..3 {
        let results = program.call("panics", [AsyncValue::new(7i64)]).expect("the call starts");
        let texts = ["no number 7", "no text", "no frame", "no waiting", "no spawning", "no function"];
        for (number, text) in texts.into_iter().enumerate() {
            let error = results[number].error().expect("an error");
            assert_eq!(
                (error.code, &*error.message),
                (ErrorCode::Internal, &*format!("the kernel panicked: {text}"))
            );
            assert_eq!(error.location.as_ref().expect("a place").line as usize, number + 4);
        }
        for result in &results[6..8] {
            assert_eq!(
                result.error().expect("an error").message,
                "the value was never produced: its producer panicked"
            );
        }
        assert_eq!(results[8].get::<i64>(), Some(&7));
    }
}

#[test]
fn other_libraries_are_rejected() {
    let error = Runtime::builder().shared_library("no/such/library.so").build().expect_err("nothing there");
    assert!(error.to_string().contains("couldn't load library 'no/such/library.so'"), "{error}");
    let libc = "/lib/x86_64-linux-gnu/libc.so.6";
    if std::path::Path::new(libc).exists() {
        let error = Runtime::builder().shared_library(libc).build().expect_err("no kernels there");
        assert!(error.to_string().contains("not a kernel library"), "{error}");
    }
    let path = library("kernel_library");
    let twice =
        Runtime::builder().shared_library(&path).shared_library(&path).build().expect_err("names are taken");
    assert!(twice.to_string().contains("registered twice: example.fraction"), "{twice}");
}

#[test]
fn every_tool_that_knows_kernels_loads_a_library() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = library("kernel_library");
    std::fs::write(folder.path().join("sum.mlir"), PROGRAM).expect("a file");
    std::fs::copy(&library, folder.path().join("library.so")).expect("a copy");
    let tfrt = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_tfrt")).args(arguments).current_dir(&folder).output();
        let output = output.expect("tfrt runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    // A name without a folder is a file of the current one.
    for arguments in [
        &["opt", "sum.mlir"][..],
        &["translate", "--mlir-to-bef", "sum.mlir", "-o", "sum.bef"],
        &["inspect", "sum.mlir"],
        &["kernels", "example.fraction.add"],
        &["run", "sum.mlir", "-i=1", "-i=2", "-i=3"],
    ] {
        let (succeeds, output, complaint) = tfrt(&[arguments, &["--kernels", "library.so"]].concat());
        assert!(succeeds, "{arguments:?}: {output}{complaint}");
    }
    let (succeeds, _, complaint) = tfrt(&["opt", "sum.mlir", "--kernels", "missing.so"]);
    assert!(!succeeds && complaint.contains("missing.so: cannot open shared object file"), "{complaint}");
    let (succeeds, _, complaint) = tfrt(&["opt", "sum.mlir"]);
    assert!(!succeeds && complaint.contains("'example.fraction'"), "{complaint}");
}
