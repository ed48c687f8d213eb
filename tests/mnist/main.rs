//! The MNIST programs: the real images where they are at hand, and the programs in `models/mnist`
//! on drawn digits.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test ends that way")]

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use tfrt::{
    Runtime,
    host::{AsyncValue, work_queue},
    programs,
};
use tfrt_tensor::{Accessor, HostTensor};

static READ: Accessor = Accessor::new("tests.mnist");

/// Returns a file of real images, or prints that there is none.
#[expect(clippy::print_stderr, reason = "a test that checks nothing should not look like one that passed")]
fn real_data(file: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/mnist");
    let path = folder.join(file);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: '{}' does not exist", path.display());
    None
}

/// Runs a function of a program on one queue.
fn call_on(
    queue: &str,
    output: impl io::Write + Send + 'static,
    (program, function): (&str, &str),
    arguments: Vec<AsyncValue>,
) -> Vec<AsyncValue> {
    let queue = work_queue::from_str(queue).unwrap();
    let runtime = Runtime::builder().work_queue(queue).output(output).build().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(program);
    let results = runtime.load_file(path).unwrap().call(function, arguments).unwrap();
    if let Some(error) = results.iter().find_map(AsyncValue::error) {
        panic!("{program}: {error:?}");
    }
    results
}

fn elements(value: &AsyncValue) -> Vec<f32> {
    let tensor: &HostTensor = value.get().unwrap();
    tensor.dense().unwrap().read::<f32>(&READ).unwrap().to_vec()
}

#[test]
fn real_images_are_read_as_ever() {
    let Some(path) = real_data("mnist_tensors.btf") else { return };
    for queue in ["s", "mstd:2"] {
        let path = AsyncValue::new(path.to_string_lossy().into_owned());
        let program = ("tests/mnist/classify.mlir", "classify");
        let results = call_on(queue, io::sink(), program, vec![path]);
        assert_eq!(results[0].get(), Some(&98i32));
    }
}

#[test]
fn a_real_image_is_learnt_as_ever() {
    let Some(path) = real_data("mnist_metadata.btf") else { return };
    for queue in ["s", "mstd:2"] {
        let path = AsyncValue::new(path.to_string_lossy().into_owned());
        let program = ("tests/mnist/learn.mlir", "learn");
        let results = call_on(queue, io::sink(), program, vec![path]);
        let (said, expected) = (elements(&results[0]), elements(&results[1]));
        assert_eq!(said.len(), 10);
        for (said, expected) in said.iter().zip(&expected) {
            assert!((said - expected).abs() < 1e-5, "{said} {expected}");
        }
    }
}

#[test]
fn training_on_drawn_digits_gets_somewhere() {
    let arguments = [300, 12_800].map(AsyncValue::new::<i32>).to_vec();
    let results = call_on("mstd:2", io::sink(), ("models/mnist/train.mlir", "train"), arguments);
    let correct = *results[0].get::<i32>().unwrap();
    assert!(correct > 8000, "{correct} of 10000");
}

/// Collects the output.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl io::Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_trained_network_reads_drawn_digits() {
    let printed = Printed::default();
    let results = call_on("mstd:2", printed.clone(), ("models/mnist/inference.mlir", "main"), Vec::new());
    assert_eq!(results.len(), 1);
    let text = String::from_utf8(printed.0.lock().clone()).unwrap();
    let accuracy = text.strip_prefix("accuracy: ").and_then(|text| text.split_once(" %"));
    let accuracy: f32 = accuracy.unwrap().0.parse().unwrap();
    assert!(accuracy > 95.0, "{text}");
    assert!(text.ends_with(" images/s, on cpu (2 threads)\n"), "{text}");
}

/// Writes the program again if the environment says `TFRT_BLESS=1`.
#[test]
fn the_device_program_is_what_the_compiler_writes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/mnist/device_inference.mlir");
    let runtime = Runtime::builder().build().unwrap();
    let text = programs::mnist_inference(&runtime).unwrap();
    if std::env::var_os("TFRT_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert!(std::fs::read_to_string(&path).unwrap() == text, "{} is out of date", path.display());
}

/// On the CPU device, where a graph is launched for each of ten passes over the images.
#[test]
fn the_device_program_reads_drawn_digits() {
    let printed = Printed::default();
    let program = ("models/mnist/device_inference.mlir", "main");
    call_on("mstd:2", printed.clone(), program, Vec::new());
    let text = String::from_utf8(printed.0.lock().clone()).unwrap();
    assert!(text.starts_with("accuracy: 97.49 % (9749 of 10000)"), "{text}");
}
