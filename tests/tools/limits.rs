//! Inputs that programs change, limits of time and space, and outputs that fail.

use std::{
    fs,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use super::{ENDLESS, Folder, text};

#[test]
fn inputs_from_files_may_be_changed() {
    let folder = Folder::with(
        "func @main(%t: !t.tensor, %ch0: !tfrt.chain) -> (!t.tensor, !tfrt.chain) {
           %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %t, %ch0 7.0 : f32
           tfrt.return %t, %ch1 : !t.tensor, !tfrt.chain
         }",
    );
    for file in ["x.npy", "x.btf", "x.safetensors"] {
        let written = folder.run(&["run", "program.mlir", "-i", "2xf32=1", "-o", file]);
        assert!(written.status.success(), "{written:?}");
        let before = fs::read(folder.file(file)).expect("a file");
        let output = folder.run(&["run", "program.mlir", "-i", &format!("@{file}")]);
        assert!(output.status.success(), "{output:?}");
        assert!(text(&output.stdout).contains("[7.000000e+00, 7.000000e+00]"), "{output:?}");
        assert_eq!(fs::read(folder.file(file)).expect("a file"), before, "the program changes its copy");
    }
}

#[test]
fn no_more_is_read_of_a_device_than_its_header_needs() {
    let folder = Folder::with("func @main(%x: !t.tensor) -> !t.tensor { tfrt.return %x : !t.tensor }");
    std::os::unix::fs::symlink("/dev/zero", folder.file("x.npy")).expect("a link");
    let output = folder.run(&["run", "program.mlir", "-i", "@x.npy"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("not an .npy file"), "{output:?}");
}

#[test]
fn a_blocking_kernel_does_not_outlast_the_deadline() {
    let folder = Folder::with(
        "func @main() -> !tfrt.chain {
           %us = tfrt.constant.i32 60000000
           %ch = \"tfrt_test.blocking.usleep\"(%us) : (i32) -> !tfrt.chain
           tfrt.return %ch : !tfrt.chain
         }",
    );
    assert!(Command::new("mkfifo").arg(folder.file("m.onnx")).status().expect("mkfifo runs").success());
    for (arguments, message) in [
        (&["program.mlir", "--work-queue", "s"][..], "the deadline of 300 ms has passed"),
        (&["program.mlir", "--work-queue", "mstd:2"], "the deadline of 300 ms has passed"),
        (&["m.onnx"], "'m.onnx' is a model, which must be a file or a folder, not a stream"),
    ] {
        let start = Instant::now();
        let output = folder.run(&[&["run", "--deadline", "300ms"], arguments].concat());
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stderr).contains(message), "{output:?}");
        assert!(start.elapsed() < Duration::from_secs(20), "{arguments:?} took {:?}", start.elapsed());
    }
}

#[test]
fn a_full_disk_ends_a_program_that_prints() {
    let folder = Folder::with(ENDLESS);
    assert!(
        folder.run(&["translate", "--mlir-to-bef", "program.mlir", "-o", "program.bef"]).status.success()
    );
    let (tfrt, executor) = (env!("CARGO_BIN_EXE_tfrt"), env!("CARGO_BIN_EXE_bef_executor"));
    for (tool, arguments) in [(tfrt, &["run", "program.mlir"][..]), (executor, &["program.bef"])] {
        let full = fs::File::options().write(true).open("/dev/full").expect("a full device");
        let mut command = Command::new(tool);
        command.args(arguments).current_dir(folder.file("")).stdout(full).stderr(Stdio::piped());
        let output = command.output().expect("the tool runs");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stderr).contains("No space left on device"), "{output:?}");
    }
}

#[test]
fn a_value_without_memory_is_no_wrong_usage() {
    let folder = Folder::with("func @main(%x: !t.tensor) -> !t.tensor { tfrt.return %x : !t.tensor }");
    let output = folder.run(&["run", "program.mlir", "-i", "100000000x100000000xf64=1"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("argument 0 (!t.tensor): "), "{output:?}");
}

#[test]
fn events_that_a_trace_lost_are_counted() {
    let folder = Folder::with(
        "func @main() -> i32 {
           %count = tfrt.constant.i32 300000
           %one = tfrt.constant.i32 1
           %end = tfrt.repeat.i32 %count, %one : i32 {
             %next = tfrt.add.i32 %one, %one
             tfrt.return %next : i32
           }
           tfrt.return %end : i32
         }",
    );
    let run = ["run", "program.mlir", "--work-queue", "s", "--trace", "trace.pftrace"];
    let output = folder.run(&run);
    assert!(output.status.success(), "{output:?}");
    let complaint = text(&output.stderr);
    assert!(complaint.starts_with("warning: ") && complaint.contains(" events of the trace"), "{output:?}");
}

#[test]
fn values_that_come_later_are_no_leaks() {
    let folder = Folder::with(
        "func @main() -> i32 {
           %one = tfrt.constant.i32 1
           %x = \"tfrt_test.async_copy.with_delay.i32\"(%one) : (i32) -> i32
           %y = tfrt.add.i32 %x, %x
           tfrt.return %one : i32
         }",
    );
    assert!(
        folder.run(&["translate", "--mlir-to-bef", "program.mlir", "-o", "program.bef"]).status.success()
    );
    for queue in ["s", "mstd:2"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bef_executor"));
        command.arg(format!("--work_queue_type={queue}")).arg("program.bef").current_dir(folder.file(""));
        let output = command.output().expect("the tool runs");
        assert!(output.status.success(), "{output:?}");
    }
}
