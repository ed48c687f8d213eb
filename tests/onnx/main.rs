//! Runs the test suite that comes with the `onnx` package: single nodes, exported operators and
//! small models. Plans its whole networks for a device.
//!
//! `TFRT_ONNX_DATA` names the folder `onnx/backend/test/data` of that package; `ci/onnx` installs
//! it and calls this. Without the variable nothing runs. With `TFRT_ONNX_TARGET=cuda`, the cases
//! run as device programs, on the CPU device. `failures.txt` lists the cases that fail and why: a
//! case that fails and is not listed there is a failure of this test, and so is one that is listed
//! and passes.

mod plans;

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use libtest_mimic::{Arguments, Failed, Trial};
use tfrt::{Choice, DeviceOptions, Runtime, host::AsyncValue};
use tfrt_compiler::{CompileOptions, Target, import::onnx::read_tensor_file, lower::cuda::CudaOptions};
use tfrt_host::{DType, RequestContext, ResourceContext};
use tfrt_models::kernels::{MODEL_WEIGHTS, ModelWeights};
use tfrt_tensor::{Accessor, HostTensor, bf16, f16};

static ME: Accessor = Accessor::new("tests of ONNX");

/// The parts of the suite.
const PARTS: [&str; 4] = ["node", "pytorch-converted", "pytorch-operator", "simple"];
/// Cases whose results are random numbers: only their types and shapes are compared.
const RANDOM: [&str; 10] = [
    "node/test_bernoulli",
    "node/test_bernoulli_double",
    "node/test_bernoulli_double_expanded",
    "node/test_bernoulli_expanded",
    "node/test_bernoulli_seed",
    "node/test_bernoulli_seed_expanded",
    "node/test_training_dropout",
    "node/test_training_dropout_default",
    "node/test_training_dropout_default_mask",
    "node/test_training_dropout_mask",
];
/// How far results may be from the expected ones, relative to them and absolutely: the bounds of
/// the suite itself.
const RELATIVE: f64 = 1e-3;
const ABSOLUTE: f64 = 1e-6;

fn main() {
    let mut arguments = Arguments::from_args();
    // Each case uses the runtime's threads.
    arguments.test_threads.get_or_insert(1);
    let Some(data) = std::env::var_os("TFRT_ONNX_DATA").map(PathBuf::from) else {
        let skipped = Trial::test("TFRT_ONNX_DATA is not set", || Ok(())).with_ignored_flag(true);
        libtest_mimic::run(&arguments, vec![skipped]).exit();
    };
    let is_device = std::env::var_os("TFRT_ONNX_TARGET").is_some_and(|target| target == "cuda");
    let devices = if is_device { DeviceOptions::new(Choice::Cpu, 1) } else { DeviceOptions::default() };
    let runtime = Runtime::builder().devices(devices).build().expect("a runtime");
    let listed: Arc<HashMap<String, String>> = Arc::new(listed());
    let mut trials = Vec::new();
    for part in PARTS {
        let mut cases: Vec<_> = fs::read_dir(data.join(part)).expect("the suite").flatten().collect();
        cases.sort_by_key(fs::DirEntry::file_name);
        for case in cases {
            let name = format!("{part}/{}", case.file_name().to_string_lossy());
            let (runtime, listed, key) = (runtime.clone(), listed.clone(), name.clone());
            trials.push(Trial::test(name, move || {
                judge(&key, &listed, run_case(&runtime, &key, &case.path(), is_device))
            }));
        }
    }
    trials.extend(plans::trials(&runtime, &data.join("light")));
    libtest_mimic::run(&arguments, trials).exit();
}

/// Cases that are known to fail, and why.
fn listed() -> HashMap<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx/failures.txt");
    let text = fs::read_to_string(path).expect("the list of failures");
    let entries = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
    entries.map(|(name, why)| (name.to_owned(), why.to_owned())).collect()
}

fn judge(name: &str, listed: &HashMap<String, String>, outcome: Result<(), String>) -> Result<(), Failed> {
    match (outcome, listed.get(name)) {
        (Ok(()), None) | (Err(_), Some(_)) => Ok(()),
        (Ok(()), Some(why)) => Err(format!("passes, but is listed as failing: {why}").into()),
        (Err(error), None) => Err(error.into()),
    }
}

/// Compiles the model of a case's folder and runs it on each of its data sets.
fn run_case(runtime: &Runtime, name: &str, folder: &Path, is_device: bool) -> Result<(), String> {
    let mut options = CompileOptions::default();
    if is_device {
        options.target = Target::Cuda(CudaOptions::default());
        options.import.input_shapes = input_shapes(runtime, folder)?;
    }
    let model =
        runtime.compile_model(folder.join("model.onnx"), &options).map_err(|errors| errors.to_string())?;
    let program = runtime.load("model", model.bef).map_err(|errors| errors.to_string())?;
    let weights = ModelWeights::Tensors(model.weights.into_iter().collect());
    let mut sets = 0;
    while let set = folder.join(format!("test_data_set_{sets}"))
        && set.is_dir()
    {
        let resources = ResourceContext::new();
        resources.insert(MODEL_WEIGHTS, weights.clone());
        let request = RequestContext::new(runtime.host().clone(), Arc::new(resources));
        let call = |function: &str, arguments: Vec<AsyncValue>| {
            let results = program.call_in(&request, function, arguments).map_err(|error| error.message)?;
            match results.iter().find_map(AsyncValue::error) {
                Some(error) => Err(error.message.clone()),
                None => Ok(results),
            }
        };
        let mut arguments = call("setup", Vec::new())?;
        for tensor in tensors(runtime, &set, "input")? {
            arguments.push(AsyncValue::new(tensor));
        }
        let results = call("main", arguments)?;
        let expected = tensors(runtime, &set, "output")?;
        for (number, (result, expected)) in results.iter().zip(&expected).enumerate() {
            let result = result.get::<HostTensor>().ok_or("a result is not a tensor")?;
            let compared = compare_metadata(result, expected).and_then(|()| match RANDOM.contains(&name) {
                true => Ok(()),
                false => compare_elements(result, expected, runtime),
            });
            compared.map_err(|why| format!("output {number}: {why}"))?;
        }
        sets += 1;
    }
    if sets == 0 { Err("the case has no data".to_owned()) } else { Ok(()) }
}

/// The shapes of the inputs of a case's first data set, by name.
fn input_shapes(runtime: &Runtime, folder: &Path) -> Result<HashMap<String, Vec<Option<u64>>>, String> {
    let model = runtime.compile_model(folder.join("model.onnx"), &CompileOptions::default());
    let model = model.map_err(|errors| errors.to_string())?;
    let inputs = tensors(runtime, &folder.join("test_data_set_0"), "input")?;
    let dims = |tensor: &HostTensor| tensor.shape().dims().iter().map(|&dim| Some(dim as u64)).collect();
    Ok(model.inputs.into_iter().map(|port| port.name).zip(inputs.iter().map(dims)).collect())
}

fn tensors(runtime: &Runtime, set: &Path, kind: &str) -> Result<Vec<HostTensor>, String> {
    let mut tensors = Vec::new();
    while let path = set.join(format!("{kind}_{}.pb", tensors.len()))
        && path.exists()
    {
        tensors.push(read_tensor_file(&path, runtime.host().allocator())?);
    }
    Ok(tensors)
}

fn compare_metadata(result: &HostTensor, expected: &HostTensor) -> Result<(), String> {
    if result.dtype() != expected.dtype() || result.shape() != expected.shape() {
        return Err(format!("got {}, expected {}", result.metadata(), expected.metadata()));
    }
    Ok(())
}

/// Compares tensors of one type and shape.
fn compare_elements(result: &HostTensor, expected: &HostTensor, runtime: &Runtime) -> Result<(), String> {
    if let (HostTensor::String(result), HostTensor::String(expected)) = (result, expected) {
        let (result, expected) = (result.strings(), expected.strings());
        return if result == expected {
            Ok(())
        } else {
            Err(format!("got {result:?}, expected {expected:?}"))
        };
    }
    let (result, expected) = (numbers(result, runtime)?, numbers(expected, runtime)?);
    for (index, (&a, &b)) in result.iter().zip(&expected).enumerate() {
        let is_close = a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= ABSOLUTE + RELATIVE * b.abs();
        if !is_close {
            return Err(format!("element {index} is {a}, expected {b}"));
        }
    }
    Ok(())
}

fn numbers(tensor: &HostTensor, runtime: &Runtime) -> Result<Vec<f64>, String> {
    let dense = tensor.to_dense(&ME, runtime.host().allocator()).map_err(|error| error.message)?;
    macro_rules! read {
        ($type:ty, $convert:expr) => {
            Ok(dense.read::<$type>(&ME).map_err(|error| error.message)?.iter().flat_map($convert).collect())
        };
    }
    match dense.dtype() {
        DType::F32 => read!(f32, |&x| [f64::from(x)]),
        DType::F64 => read!(f64, |&x| [x]),
        DType::F16 => read!(f16, |x| [x.to_f64()]),
        DType::BF16 => read!(bf16, |x| [x.to_f64()]),
        DType::I8 => read!(i8, |&x| [f64::from(x)]),
        DType::UI8 => read!(u8, |&x| [f64::from(x)]),
        DType::I16 => read!(i16, |&x| [f64::from(x)]),
        DType::UI16 => read!(u16, |&x| [f64::from(x)]),
        DType::I32 => read!(i32, |&x| [f64::from(x)]),
        DType::UI32 => read!(u32, |&x| [f64::from(x)]),
        DType::I64 => read!(i64, |&x| [x as f64]),
        DType::UI64 => read!(u64, |&x| [x as f64]),
        DType::I1 => read!(bool, |&x| [f64::from(u8::from(x))]),
        DType::Complex64 => read!(tfrt_tensor::Complex<f32>, |x| [f64::from(x.re), f64::from(x.im)]),
        DType::Complex128 => read!(tfrt_tensor::Complex<f64>, |x| [x.re, x.im]),
        other => Err(format!("elements of type {other} cannot be compared")),
    }
}
