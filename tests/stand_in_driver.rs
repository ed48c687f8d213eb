//! Programs on the `gpu` backend, over a CUDA driver that stands in for a GPU's (`cuda/tests/stand_in`): the tools find it
//! as they find a driver, and the MNIST programs compute on it what they compute on the CPU device.

#[path = "../cuda/tests/stand_in/build.rs"]
mod build;

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

/// How many of the images a program read right.
#[track_caller]
fn correct(output: &Output) -> i64 {
    let text = succeeded(output);
    let line = text.lines().find(|line| line.starts_with("accuracy:"));
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
    assert!(!none.status.success() && said.contains("there is no CUDA device 2, but 2 in all"), "{said}");
}

#[test]
fn mnist_computes_what_it_computes_on_the_cpu_device() {
    let libraries = libraries();
    // One stream; two, and events between them.
    for name in ["device_train.mlir", "device_train_prefetch.mlir"] {
        let run = |device: &str| {
            let file = program(name);
            let arguments =
                ["run", &file, "--device", device, "--function", "train", "-i", "20", "-i", "2560"];
            correct(&tfrt(libraries.path(), &arguments))
        };
        let (gpu, cpu) = (run("cuda"), run("cpu"));
        // The same arithmetic, rounded elsewhere: a few images are near the border.
        assert!(
            (gpu - cpu).abs() <= 20 && gpu > 5000,
            "{name}: {gpu} of 10000 on the stand-in, {cpu} on the CPU"
        );
    }
}
