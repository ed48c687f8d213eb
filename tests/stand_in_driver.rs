//! Programs on the `gpu` backend, over a CUDA driver that stands in for a GPU's
//! (`cuda/gpu/tests/stand_in`): the tools find it as they find a driver, and the MNIST programs
//! compute on it what they compute on the CPU device.

#[path = "../cuda/gpu/tests/stand_in/build.rs"]
mod build;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

fn libraries() -> TempDir {
    build::libraries().expect("Cargo is here")
}

fn tfrt(libraries: &Path, arguments: &[&str]) -> Output {
    build::found_in(&mut Command::new(env!("CARGO_BIN_EXE_tfrt")), libraries)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("tfrt runs")
}

#[track_caller]
fn succeeded(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{}\n{text}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// How many of the images a program read right, and that it says where.
#[track_caller]
fn correct(output: &Output, device: &str) -> i64 {
    let text = succeeded(output);
    let line = text.lines().find(|line| line.starts_with("accuracy:"));
    assert!(line.is_some_and(|line| line.contains(&format!("images/s, on {device}"))), "{text}");
    let number = line.and_then(|line| line.split_once('(')?.1.split(' ').next()?.parse().ok());
    number.expect("an accuracy")
}

fn program(name: &str) -> String {
    PathBuf::from("models/mnist").join(name).to_string_lossy().into_owned()
}

#[test]
fn devices_are_found_and_chosen() {
    let libraries = libraries();
    let text = succeeded(&tfrt(libraries.path(), &["devices"]));
    assert!(text.contains("Stand-in GPU 0") && text.contains("Stand-in GPU 1"), "{text}");
    let none = tfrt(libraries.path(), &["run", &program("device_inference.mlir"), "--device", "cuda:2"]);
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(
        !none.status.success() && said.contains("there is no cuda device 2; the number of devices is 2"),
        "{said}"
    );
}

#[test]
fn mnist_computes_what_it_computes_on_the_cpu_device() {
    let libraries = libraries();
    // One stream; two, and events between them.
    for name in ["device_train.mlir", "device_train_prefetch.mlir"] {
        let run = |device: &str, called: &str| {
            let file = program(name);
            let arguments =
                ["run", &file, "--device", device, "--function", "train", "-i", "20", "-i", "2560"];
            correct(&tfrt(libraries.path(), &arguments), called)
        };
        let (gpu, cpu) = (run("cuda", "Stand-in GPU 0"), run("cpu", "CPU device ("));
        // The same arithmetic, rounded elsewhere: a few images are near the border.
        assert!(
            (gpu - cpu).abs() <= 20 && gpu > 5000,
            "{name}: {gpu} of 10000 on the stand-in, {cpu} on the CPU"
        );
    }
}

/// The calls of each entry point of the stand-in that one more call of a function makes.
fn calls_of_one_more(libraries: &Path, arguments: &[&str]) -> BTreeMap<String, i64> {
    let work = tempfile::tempdir().expect("a folder");
    let counts = |calls: &str| {
        let file = work.path().join(calls);
        let output = build::found_in(&mut Command::new(env!("CARGO_BIN_EXE_tfrt")), libraries)
            .args(["bench", "--device", "cuda", "--deterministic", "--warm-up", "1", "--calls", calls])
            .args(arguments)
            .env("TFRT_STAND_IN_CALLS", &file)
            .output()
            .expect("tfrt runs");
        succeeded(&output);
        let text = std::fs::read_to_string(file).expect("counts");
        let count = |line: &str| {
            let (name, count) = line.split_once(' ').expect("a name and a count");
            (name.to_owned(), count.parse::<i64>().expect("a count"))
        };
        text.lines().map(count).collect::<BTreeMap<_, _>>()
    };
    let (few, more) = (counts("1"), counts("3"));
    more.into_iter()
        .map(|(name, count)| {
            let before = few.get(&name).copied().unwrap_or(0);
            (name, (count - before) / 2)
        })
        .filter(|(_, count)| *count != 0)
        .collect()
}

/// ResNet-50 gives the CPU device's scores, in each form, and a call makes no more calls of the
/// driver and of the libraries than it needs.
#[test]
fn resnet50_computes_what_it_computes_on_the_cpu_device() {
    let (libraries, work) = (libraries(), tempfile::tempdir().expect("a folder"));
    let path = |name: &str| work.path().join(name).to_string_lossy().into_owned();
    let (program, scores) = (path("resnet50.mlir"), path("scores.npy"));
    let image = "1x32x32x3xf32=random(3)";
    let written = ["resnet50", "program", "--form", "device", "--extent", "32", "-o", &program];
    succeeded(&tfrt(libraries.path(), &written));
    let call = [&program, "--setup", "setup", "--function", "infer", "-i", image];
    let run = |arguments: &[&str]| {
        succeeded(&tfrt(libraries.path(), &[&["run"], &call[..], arguments].concat()));
    };
    run(&["--device", "cpu", "-o", &scores]);
    let expected = format!("0=@{scores}");
    run(&["--device", "cuda", "--deterministic", "--expected-output", &expected, "--tolerance", "1e-3"]);

    let calls = calls_of_one_more(libraries.path(), &call);
    let of = |name: &str| calls.get(name).copied().unwrap_or(0);
    for name in ["cuGraphLaunch", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2"] {
        assert_eq!(of(name), 1, "{name}: {calls:?}");
    }
    for name in [
        "cudnnBackendExecute",
        "cuLaunchKernelEx",
        "cudnnBackendCreateDescriptor",
        "cudnnSetStream",
        "cuStreamGetCaptureInfo_v3",
        "cuMemGetInfo_v2",
        "cuMemAlloc_v2",
        "cuStreamSynchronize",
    ] {
        assert_eq!(of(name), 0, "{name}: {calls:?}");
    }
}

/// A model that multiplies by one.
const BY_ONE: &str = r#"
func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %one = "tf.Const"() {value = dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0 = "tf.MatMul"(%x, %one) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  tfrt.return %0 : tensor<2x2xf32>
}
"#;

/// A program in TF32 rounds operands on CUDA devices, and another one does not.
#[test]
fn programs_in_tf32_round_operands() {
    let (libraries, work) = (libraries(), tempfile::tempdir().expect("a folder"));
    let path = |name: &str| work.path().join(name).to_string_lossy().into_owned();
    let (model, program) = (path("model.mlir"), path("program.mlir"));
    std::fs::write(&model, BY_ONE).expect("written");
    // One and 2⁻¹², which f32 holds and TF32 does not.
    let input = "2x2xf32=1.000244140625";
    for (precision, on_cuda) in [("f32", "1.0002441"), ("tf32", "1")] {
        let compile = ["compile", &model, "--target", "cuda", "--precision", precision, "-o", &program];
        succeeded(&tfrt(libraries.path(), &compile));
        for (device, expected) in [("cuda", on_cuda), ("cpu", "1.0002441")] {
            let run = ["run", &program, "--device", device, "--json", "-i", input];
            let text = succeeded(&tfrt(libraries.path(), &run));
            let values = text.split_once("\"values\"").expect("values").1;
            let found: Vec<&str> = values.split(|c: char| !(c.is_ascii_digit() || c == '.')).collect();
            let found: Vec<&&str> = found.iter().filter(|number| !number.is_empty()).take(4).collect();
            assert!(found.iter().all(|number| **number == expected), "{precision} on {device}: {text}");
        }
    }
    let refused = tfrt(libraries.path(), &["compile", &model, "--precision", "tf32", "-o", &program]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("add --target cuda"), "{said}");
}

/// Says how wide a warp of the first device is.
const PROGRAM: &str = r#"
func @main() -> (i64, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %first = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %first, %ch1
  %warp, %ch3 = tfrt_cuda.device.attribute %device, %ch2 "warp_size"
  tfrt.return %warp, %ch3 : i64, !tfrt.chain
}
"#;

/// The failure of a kernel that nothing waits for is reported, even if its context is gone by then.
#[test]
fn faults_that_nobody_waits_for_are_told_of() {
    let libraries = libraries();
    let output = |function: &str| {
        let program = "tests/mlir/cuda/unwaited.mlir";
        tfrt(libraries.path(), &["run", program, "--device", "cuda", "--function", function])
    };
    for function in ["fault", "fault_of_all"] {
        let output = output(function);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{function}");
        assert!(
            said.contains("CUDA_ERROR_LAUNCH_FAILED")
                && said.contains("no kernel of the program waited for this work"),
            "{function}: {said}"
        );
    }
    succeeded(&output("fine"));
}

/// What a function of `unwaited.mlir` with a kernel that never ends said, on the output and else,
/// when its time was up.
#[track_caller]
fn ended_late(libraries: &Path, function: &str, options: &[&str]) -> (String, String) {
    let work = tempfile::tempdir().expect("a folder");
    let file = |name: &str| std::fs::File::create(work.path().join(name)).expect("a file");
    let mut run = build::found_in(&mut Command::new(env!("CARGO_BIN_EXE_tfrt")), libraries)
        .args(["run", "tests/mlir/cuda/unwaited.mlir", "--device", "cuda", "--deadline", "500ms"])
        .args(["--function", function])
        .args(options)
        .stdout(file("output"))
        .stderr(file("errors"))
        .spawn()
        .expect("tfrt runs");
    let start = std::time::Instant::now();
    while run.try_wait().expect("a status").is_none() {
        if start.elapsed() > std::time::Duration::from_secs(300) {
            run.kill().expect("it is stopped");
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // One that held the process was killed, and has no exit code.
    let ended = run.wait().expect("a status");
    let text = |name: &str| std::fs::read_to_string(work.path().join(name)).expect("text");
    let (output, errors) = (text("output"), text("errors"));
    assert_eq!(ended.code(), Some(1), "{function}: {output}\n{errors}");
    (output, errors)
}

/// What is said of work that nobody could stop.
const GOES_ON: &str = "the deadline of 500 ms has passed, and work is still running";

/// A GPU cannot be stopped: a program whose time is up ends all the same, and says so, also where
/// it had its results in time.
#[test]
fn a_kernel_that_never_ends_does_not_hold_the_process() {
    let libraries = libraries();
    for function in ["endless", "endless_and_forgotten"] {
        let (_, errors) = ended_late(libraries.path(), function, &[]);
        assert!(errors.contains(GOES_ON), "{function}: {errors}");
    }
}

/// If some work has not finished at the deadline, the results and errors so far are reported.
#[test]
fn results_so_far_are_reported_at_the_deadline() {
    let libraries = libraries();
    let failure = "something bad happened";
    let (output, errors) = ended_late(libraries.path(), "endless_beside", &[]);
    assert_eq!(output, "result 0: i32 = 7\n");
    assert!(
        errors.contains(failure) && errors.contains("unwaited.mlir:") && errors.contains(GOES_ON),
        "{errors}"
    );
    let (output, _) = ended_late(libraries.path(), "endless_beside", &["--json"]);
    let told: serde_json::Value = serde_json::from_str(&output).expect("one JSON value");
    assert_eq!(told["results"][0]["value"], 7, "{told}");
    let messages: Vec<_> =
        told["errors"].as_array().into_iter().flatten().map(|error| &error["message"]).collect();
    assert_eq!(messages, [failure, GOES_ON], "{told}");
}

/// Golden programs that name no device run on a GPU if there is one.
#[test]
fn golden_programs_hold_on_a_gpu() {
    let (libraries, work) = (libraries(), tempfile::tempdir().expect("a folder"));
    let file = work.path().join("program.bef").to_string_lossy().into_owned();
    for (name, options) in [("devices", &[][..]), ("launch", &[]), ("fault", &["--functions=fault"])] {
        let text = format!("tests/mlir/cuda/{name}.mlir");
        succeeded(&tfrt(libraries.path(), &["translate", "--mlir-to-bef", &text, "-o", &file]));
        let executor = env!("CARGO_BIN_EXE_bef_executor");
        let output = build::found_in(&mut Command::new(executor), libraries.path())
            .args(options)
            .args(["--device=cuda", &file])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("it runs");
        succeeded(&output);
    }
}

/// Kernels are ranges of the thread that runs them in the profiler that asks for them; without one
/// nothing is different.
#[test]
fn kernels_are_ranges_in_a_profiler() {
    let (libraries, work) = (libraries(), tempfile::tempdir().expect("a folder"));
    let path = |name: &str| work.path().join(name).to_string_lossy().into_owned();
    let (text, ranges) = (path("warp.mlir"), path("ranges"));
    std::fs::write(&text, PROGRAM).expect("a file");
    let profiler = libraries.path().join("libcuda.so");
    for profiler in [Some(&*profiler), None, Some(std::path::Path::new("/nowhere/libprofiler.so"))] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tfrt"));
        command.env_remove("NVTX_INJECTION64_PATH").env("TFRT_STAND_IN_NVTX", &ranges);
        let output = command
            .args(["run", &text, "--device", "cpu", "--nvtx", "--work-queue", "s"])
            .envs(profiler.map(|library| ("NVTX_INJECTION64_PATH", library)))
            .output()
            .expect("tfrt runs");
        assert!(succeeded(&output).contains("32"));
    }
    let written = std::fs::read_to_string(&ranges).expect("ranges");
    let count = |what: &str| written.lines().filter(|line| line.contains(what)).count();
    assert_eq!(count(" begins tfrt_cuda.device.attribute"), 1, "{written}");
    assert!(count(" begins ") >= 4 && count(" begins ") == count(" ends "), "{written}");
}

/// Without a driver, or with one that finds no device, every command works, and a request for a GPU
/// fails with what was found.
#[test]
fn without_a_device_commands_work_and_say_what_was_found() {
    let (with_driver, without) = (libraries(), tempfile::tempdir().expect("a folder"));
    let work = tempfile::tempdir().expect("a folder");
    let path = |name: &str| work.path().join(name).to_string_lossy().into_owned();
    let (text, file) = (path("warp.mlir"), path("warp.bef"));
    std::fs::write(&text, PROGRAM).expect("a file");
    for (folder, found) in [
        (with_driver.path(), "there is a CUDA driver, but it finds no device"),
        (without.path(), "there is no CUDA driver: libcuda.so.1 is not where the system looks"),
    ] {
        let call = |program: &str, arguments: &[&str]| {
            build::found_in(&mut Command::new(program), folder)
                .args(arguments)
                .env("TFRT_STAND_IN_WITHOUT_DEVICE", "1")
                .output()
                .expect("it runs")
        };
        let (tfrt, executor) = (env!("CARGO_BIN_EXE_tfrt"), env!("CARGO_BIN_EXE_bef_executor"));
        let devices = succeeded(&call(tfrt, &["devices"]));
        assert!(devices.contains("cpu:0  CPU device") && devices.contains(found), "{devices}");
        succeeded(&call(tfrt, &["translate", "--mlir-to-bef", &text, "-o", &file]));
        for arguments in [&[][..], &["--device", "auto"], &["--device", "cpu"]] {
            let run = succeeded(&call(tfrt, &[&["run", &text], arguments].concat()));
            assert!(run.contains("32"), "{run}");
            let bench = ["bench", &file, "--calls", "2", "--warm-up", "0"];
            succeeded(&call(tfrt, &[&bench, arguments].concat()));
        }
        succeeded(&call(executor, &[&file]));
        succeeded(&call(executor, &["--device=auto", &file]));
        for device in ["cuda", "gpu", "cuda:1"] {
            let calls = [
                call(tfrt, &["run", &text, "--device", device]),
                call(tfrt, &["bench", &text, "--device", device, "--calls", "2"]),
                call(executor, &[&format!("--device={device}"), &file]),
            ];
            for output in calls {
                let said = [output.stdout, output.stderr].concat();
                let said = String::from_utf8_lossy(&said);
                assert!(!output.status.success() && said.contains(found), "{}: {said}", output.status);
            }
        }
    }
}
