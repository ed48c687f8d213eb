//! Programs on a plug-in's devices, through the tool: the sample in `tests/plugin`, built here.
#![cfg(feature = "full")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The sample, built for this test.
fn sample(name: &str) -> PathBuf {
    built("sample.c", name)
}

/// A plug-in of `tests/plugin`, built for one test.
fn built(source: &str, name: &str) -> PathBuf {
    let source = format!("tests/plugin/{source}");
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.so", std::process::id()));
    let built = Command::new("cc")
        .current_dir(ROOT)
        .args(["-std=c11", "-O1", "-shared", "-fPIC", "-pthread", "-Iplugin/include", &source, "-o"])
        .arg(&library)
        .status()
        .expect("a C compiler");
    assert!(built.success());
    library
}

fn tfrt(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tfrt"))
        .current_dir(ROOT)
        .args(arguments)
        .output()
        .expect("the tool runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn devices_are_listed() {
    let sample = sample("listed");
    let listed = tfrt(&["devices", "--plugin", sample.to_str().expect("a name")]);
    let output = text(&listed.stdout);
    for line in
        ["SAMPLE:0  sample platform, 0.2 GiB, plug-in ", "SAMPLE:1  sample platform, 0.2 GiB, plug-in "]
    {
        assert!(output.contains(line), "{output}");
    }
    let missing = tfrt(&["devices", "--plugin", "nothing-there.so"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(&missing.stderr).contains("plug-in 'nothing-there.so': "), "{}", text(&missing.stderr));
    std::fs::remove_file(sample).expect("it is there");
}

/// Nobody can stop a plug-in: a program whose time is up ends all the same, whether it waits for
/// its work or not.
#[test]
fn work_that_never_ends_does_not_hold_the_process() {
    let plugin = built("endless.c", "endless");
    let program = plugin.with_extension("mlir");
    std::fs::write(&program, FORGOTTEN).expect("a file");
    let forgotten = program.to_str().expect("a name");
    for (program, function) in
        [("tests/mlir/cuda/memory.mlir", "copies"), (forgotten, "forgotten"), (forgotten, "kept")]
    {
        let mut run = Command::new(env!("CARGO_BIN_EXE_tfrt"))
            .current_dir(ROOT)
            .args(["run", program, "-f", function, "--deadline", "500ms", "--plugin"])
            .arg(&plugin)
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the tool runs");
        let start = std::time::Instant::now();
        let ended = loop {
            if let Some(status) = run.try_wait().expect("a status") {
                break status;
            }
            if start.elapsed() > std::time::Duration::from_secs(300) {
                run.kill().expect("it is stopped");
                panic!("{function} holds the process");
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        };
        let mut said = String::new();
        let mut errors = run.stderr.take().expect("a pipe");
        std::io::Read::read_to_string(&mut errors, &mut said).expect("text");
        assert_eq!(ended.code(), Some(1), "{function}: {said}");
        assert!(said.contains("the deadline of 500 ms has passed"), "{function}: {said}");
    }
    std::fs::remove_file(program).expect("it is there");
    std::fs::remove_file(plugin).expect("it is there");
}

/// Programs that do not wait for what they queue; the second has the device's memory as its result.
const FORGOTTEN: &str = "
func @set() -> (!tfrt_cuda.buffer, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %allocator, %ch5 = tfrt_cuda.allocator.create %context, %ch4
  %bytes = tfrt.constant.i64 32
  %eight = tfrt.constant.i64 8
  %seven = tfrt.constant.ui32 7
  %buffer, %ch6 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch5
  %ch7 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %eight, %stream, %ch6
  tfrt.return %buffer, %ch7 : !tfrt_cuda.buffer, !tfrt.chain
}

func @forgotten() -> !tfrt.chain {
  %buffer, %ch0 = tfrt.call @set() : () -> (!tfrt_cuda.buffer, !tfrt.chain)
  tfrt.return %ch0 : !tfrt.chain
}

func @kept() -> (!tfrt_cuda.buffer, !tfrt.chain) {
  %buffer, %ch0 = tfrt.call @set() : () -> (!tfrt_cuda.buffer, !tfrt.chain)
  tfrt.return %buffer, %ch0 : !tfrt_cuda.buffer, !tfrt.chain
}
";

#[test]
fn programs_run_on_them() {
    let sample = sample("run");
    let plugin = ["--plugin", sample.to_str().expect("a name")];
    let run = |program: &str, function: &str, arguments: &[&str]| {
        tfrt(&[&["run", program, "-f", function], &plugin[..], arguments].concat())
    };
    let memory = "tests/mlir/cuda/memory.mlir";
    for (program, function) in
        [(memory, "copies"), (memory, "sets"), ("tests/mlir/cuda/devices.mlir", "events")]
    {
        let on_cpu = tfrt(&["run", program, "-f", function, "--device", "cpu"]);
        for device in ["SAMPLE", "SAMPLE:0", "SAMPLE:1"] {
            let here = run(program, function, &["--device", device]);
            // Deliberate errors have the same messages.
            assert_eq!(
                here.status.code(),
                on_cpu.status.code(),
                "{function} on {device}: {}",
                text(&here.stderr)
            );
            assert_eq!(text(&here.stdout), text(&on_cpu.stdout), "{function} on {device}");
            assert_eq!(text(&here.stderr), text(&on_cpu.stderr), "{function} on {device}");
        }
    }
    // Not by a plug-in's own calls, which know one device each.
    let elsewhere = run("tests/mlir/cuda/peers.mlir", "elsewhere", &[]);
    assert_eq!(elsewhere.status.code(), Some(1));
    let error = text(&elsewhere.stderr);
    assert!(error.contains("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED: devices 1 and 0"), "{error}");
    // From one device to another goes by way of the host.
    let transfers = "tests/mlir/core_runtime/devices.mlir";
    let here = run(transfers, "transfers", &["--setup", "register"]);
    let output = text(&here.stdout);
    assert!(output.starts_with("DenseHostTensor dtype = I32, shape = [2], values = [5, 6]\n"), "{output}");
    let timeline = sample.with_extension("html");
    let recorded = run(memory, "copies", &["--memory-timeline", timeline.to_str().expect("a name")]);
    assert!(recorded.status.success() && timeline.exists(), "{}", text(&recorded.stderr));
    for (function, arguments, code, message) in [
        ("copies", ["--device", "SAMPLE:2"], 1, "there is no SAMPLE device 2; the number of devices is 2"),
        ("copies", ["--device", "OTHER"], 1, "there is no device 'OTHER'; the plug-ins provide SAMPLE"),
    ] {
        let refused = run(memory, function, &arguments);
        assert_eq!(refused.status.code(), Some(code));
        assert!(text(&refused.stderr).contains(message), "{}", text(&refused.stderr));
    }
    let launched = run("tests/mlir/cuda/launch.mlir", "saxpy", &[]);
    assert_eq!(launched.status.code(), Some(1));
    let error = text(&launched.stderr);
    assert!(error.contains("plug-in 'sample platform' cannot load modules"), "{error}");
    let unknown = tfrt(&["run", memory, "-f", "copies", "--device", "OTHER"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("'OTHER' is none of auto, cpu"), "{}", text(&unknown.stderr));
    std::fs::remove_file(timeline).expect("it is there");
    std::fs::remove_file(sample).expect("it is there");
}
