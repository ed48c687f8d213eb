//! ResNet-50 as programs: against ONNX Runtime, for which `tests/reference/resnet50.py` builds the
//! same network with the same seeded weights and writes down the scores it gives; with weights from
//! files; and as somebody runs it.
#![cfg(feature = "full")]

mod weights;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use tfrt::host::{AsyncValue, Diagnostic, RequestContext, ResourceContext};
use tfrt::tools::{self, Outcome};
use tfrt::{Console, Program, Runtime, SharedWriter, programs};
use tfrt_models::kernels::WEIGHTS;
use tfrt_models::resnet50::{self, CLASSES, Form, Precision, ProgramOptions};
use tfrt_tensor::files::safetensors::SafeTensorsFile;
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor};

static ME: Accessor = Accessor::new("ResNet-50 test");

/// The seed of the weights that programs use unless they are given others.
const SEED: u64 = 1;
/// Images of this extent take a twelfth of the time of the usual ones.
const EXTENT: usize = 64;
const BATCH: usize = 2;

/// The results of a function, or the first error among them.
fn call(
    program: &Program,
    request: &Arc<RequestContext>,
    function: &str,
    arguments: Vec<AsyncValue>,
) -> Result<Vec<AsyncValue>, Diagnostic> {
    let results = program.call_in(request, function, arguments)?;
    match results.iter().find_map(AsyncValue::error) {
        Some(error) => Err((*error).clone()),
        None => Ok(results),
    }
}

/// The program for these options.
fn written(options: &ProgramOptions) -> String {
    let runtime = Runtime::builder().build().expect("a runtime");
    programs::resnet50(options, &runtime).expect("a program")
}

/// The scores of seeded images, with the weights of a file or with seeded ones.
fn scores_with(
    options: &ProgramOptions,
    queue: &str,
    weights: Option<&Path>,
) -> Result<Vec<f32>, Diagnostic> {
    scores_by(written(options), options, queue, weights)
}

/// As [`scores_with`], by a program at hand.
fn scores_by(
    text: String,
    options: &ProgramOptions,
    queue: &str,
    weights: Option<&Path>,
) -> Result<Vec<f32>, Diagnostic> {
    let queue = tfrt::host::work_queue::from_str(queue).expect("a queue");
    let runtime = Runtime::builder().work_queue(queue).build().expect("a runtime");
    let program = runtime.load("resnet50.mlir", text.into_bytes()).expect("a program that loads");
    let resources = ResourceContext::new();
    if let Some(file) = weights {
        resources.insert(WEIGHTS, SafeTensorsFile::open(file)?);
    }
    let request = RequestContext::new(runtime.host().clone(), Arc::new(resources));
    let images = resnet50::seeded_images(BATCH, options.extent, SEED);
    let images = DenseHostTensor::from_vec([BATCH, options.extent, options.extent, 3], images)?;
    let mut arguments = call(&program, &request, "setup", Vec::new())?;
    arguments.push(AsyncValue::new(HostTensor::from(images)));
    let results = call(&program, &request, "infer", arguments)?;
    let scores = results[0].get::<HostTensor>().expect("a tensor").dense()?;
    let dims = scores.shape().dims();
    assert_eq!((dims[0], dims[dims.len() - 1], scores.num_elements()), (BATCH, CLASSES, BATCH * CLASSES));
    Ok(scores.read::<f32>(&ME)?.to_vec())
}

/// The numbers of a file of reference.
fn expected(text: &str) -> Vec<f32> {
    text.split_whitespace().map(|number| number.parse().expect("a number")).collect()
}

/// What our tool said.
struct Tool {
    outcome: Outcome,
    output: String,
    error: String,
}

impl Tool {
    /// Runs it with these arguments.
    fn run(arguments: impl IntoIterator<Item = OsString>) -> Self {
        let ((output, printed), (error, complaints)) = (SharedWriter::buffer(), SharedWriter::buffer());
        let console = Console::new(std::io::empty(), output, error);
        let arguments = std::iter::once(OsString::from("tfrt")).chain(arguments);
        let outcome = tools::cli::run(arguments, console);
        let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
        let (output, error) = (text(&printed.lock()), text(&complaints.lock()));
        Self { outcome, output, error }
    }
}

/// How far numbers are off, relative to the largest of those expected.
fn difference(found: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0f32, |most, score| most.max(score.abs()));
    let off = found.iter().zip(expected).map(|(x, y)| (x - y).abs());
    // A number that is none is greater than all others.
    off.fold(0.0, |most, off| if off > most || off.is_nan() { off } else { most }) / largest
}

fn agrees_with_onnx_runtime(form: Form) {
    let expected = expected(include_str!("../reference/resnet50.txt"));
    let options = ProgramOptions::new(form).with_extent(EXTENT).with_batch(BATCH);
    let scores = |queue: &str| scores_with(&options, queue, None).expect("scores");
    let found = scores("mstd:2");
    let off = difference(&found, &expected);
    assert!(off <= 1e-4, "{form:?}: off by {off} of the largest score");
    // Neither the number of threads nor the distribution of work makes a difference. A device has
    // separate threads.
    assert!(form == Form::Device || scores("s") == found, "{form:?}");
}

#[test]
fn the_host_program_agrees_with_onnx_runtime() {
    agrees_with_onnx_runtime(Form::Host);
}

#[test]
fn the_eager_program_agrees_with_onnx_runtime() {
    agrees_with_onnx_runtime(Form::Eager);
}

#[test]
fn the_device_program_agrees_with_onnx_runtime() {
    agrees_with_onnx_runtime(Form::Device);
}

/// Launches between an upload and a download compute what a call computes.
#[test]
fn images_that_stay_on_the_device_have_the_same_scores() {
    let options = ProgramOptions::new(Form::Device).with_extent(32).with_batch(BATCH);
    let runtime = Runtime::builder().build().expect("a runtime");
    let text = written(&options).into_bytes();
    let program = runtime.load("resnet50.mlir", text).expect("a program that loads");
    let request = runtime.request();
    let images = resnet50::seeded_images(BATCH, options.extent, SEED);
    let images =
        DenseHostTensor::from_vec([BATCH, options.extent, options.extent, 3], images).expect("images");
    let prepared = call(&program, &request, "setup", Vec::new()).expect("a network");
    let function = |name: &str, arguments: Vec<AsyncValue>| {
        let arguments = prepared.iter().cloned().chain(arguments).collect();
        call(&program, &request, name, arguments).expect("results")
    };
    let chain = || AsyncValue::new(tfrt::host::Chain);
    let scores = |results: &[AsyncValue]| {
        let tensor = results[0].get::<HostTensor>().expect("a tensor").dense().expect("a dense tensor");
        tensor.read::<f32>(&ME).expect("numbers").to_vec()
    };
    let images = AsyncValue::new(HostTensor::from(images));
    let expected = scores(&function("infer", vec![images.clone()]));
    function("upload", vec![images, chain()]);
    for _ in 0..2 {
        function("launch", vec![chain()]);
        assert_eq!(scores(&function("download", vec![chain()])), expected);
    }
}

/// The eager program with a handler of a device, which leaves what it does not know to the host.
#[test]
fn the_eager_program_runs_on_a_device() {
    let expected = expected(include_str!("../reference/resnet50.txt"));
    let options = ProgramOptions::new(Form::Eager).with_extent(EXTENT).with_batch(BATCH);
    let text = written(&options);
    let on_host = "%handler = \"corert.create_default_op_handler\"() : () -> !corert.ophandler\n";
    let on_device = "%null = \"corert.create_null_op_handler\"() : () -> !corert.ophandler
  %host = \"corert.create_cpu_op_handler\"(%null) : (!corert.ophandler) -> !corert.ophandler
  %zero = tfrt.constant.i32 0
  %handler = \"corert.create_gpu_op_handler\"(%zero, %host) : (i32, !corert.ophandler) -> !corert.ophandler\n";
    assert!(text.contains(on_host));
    let found = scores_by(text.replace(on_host, on_device), &options, "mstd:2", None).expect("scores");
    let off = difference(&found, &expected);
    assert!(off <= 1e-4, "off by {off} of the largest score");
}

/// The product of many rows in single precision takes its matrix in another order.
#[test]
fn device_programs_of_many_images_are_compiled() {
    for precision in Precision::ALL {
        let options = ProgramOptions { precision, ..ProgramOptions::new(Form::Device) };
        let text = written(&options.with_extent(32).with_batch(8));
        let filter = format!("2048x1000x{}", precision.name());
        assert!(text.contains(&format!("{{name = \"fc.filter\", type = \"{filter}\"}}")), "{filter}");
    }
}

/// Half precision has eleven bits; over fifty layers three of them go.
#[test]
fn programs_in_half_precision_come_near() {
    let expected = expected(include_str!("../reference/resnet50.txt"));
    for form in [Form::Eager, Form::Device] {
        let options = ProgramOptions { precision: Precision::F16, ..ProgramOptions::new(form) };
        let options = options.with_extent(EXTENT).with_batch(BATCH);
        let off = difference(&scores_with(&options, "mstd:2", None).expect("scores"), &expected);
        assert!(off <= 4e-3 && off > 1e-5, "{form:?}: off by {off} of the largest score");
    }
}

/// Writes the programs again if the environment says `TFRT_BLESS=1`.
#[test]
fn the_programs_that_come_with_the_runtime_are_those_the_tool_writes() {
    for form in Form::ALL {
        let path = format!("{}/models/resnet50/{}.mlir", env!("CARGO_MANIFEST_DIR"), form.name());
        let tool = Tool::run(["resnet50", "program", "--form", form.name()].map(OsString::from));
        if std::env::var_os("TFRT_BLESS").is_some() {
            std::fs::write(&path, &tool.output).expect("a file");
        }
        assert!(std::fs::read_to_string(&path).expect("a program") == tool.output, "{path} is out of date");
    }
}
