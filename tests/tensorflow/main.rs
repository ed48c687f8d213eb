//! Runs models that TensorFlow wrote, and compares the results with TensorFlow's, in host memory
//! and on the CPU device.
//!
//! `cases` holds a few small ones. `TFRT_TENSORFLOW_CASES` names a folder with more;
//! `ci/tensorflow` makes them with `make.py` and calls this.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use libtest_mimic::{Arguments, Trial};
use serde_json::Value as Json;
use tfrt::{Choice, DeviceOptions, Runtime, host::AsyncValue};
use tfrt_compiler::CompileOptions;
use tfrt_host::{DType, RequestContext, ResourceContext};
use tfrt_ir::Module;
use tfrt_models::kernels::{MODEL_WEIGHTS, ModelWeights};
use tfrt_tensor::{Accessor, Complex, HostTensor, StringHostTensor, TensorShape, bf16, f16, files::npy};

static ME: Accessor = Accessor::new("tests of TensorFlow");

/// How far numbers may be from TensorFlow's, relative to the largest of them.
const TOLERANCE: f64 = 1e-5;

fn main() {
    let mut arguments = Arguments::from_args();
    // Each case uses the runtime's threads.
    arguments.test_threads.get_or_insert(1);
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tensorflow/cases");
    let folders = [Some(own), std::env::var_os("TFRT_TENSORFLOW_CASES").map(PathBuf::from)];
    let on_host = Runtime::builder().build().expect("a runtime");
    let devices = DeviceOptions::new(Choice::Cpu, 1);
    let on_device = Runtime::builder().devices(devices).build().expect("a runtime with a CPU device");
    let mut trials = Vec::new();
    for folder in folders.into_iter().flatten() {
        let mut cases: Vec<_> = fs::read_dir(&folder).expect("the cases").flatten().collect();
        cases.sort_by_key(fs::DirEntry::file_name);
        for case in cases {
            for (place, runtime) in [("host", &on_host), ("device", &on_device)] {
                let name = format!("{}/{place}", case.file_name().to_string_lossy());
                let (runtime, path) = (runtime.clone(), case.path());
                trials.push(Trial::test(name, move || Ok(run_case(&runtime, &path, false)?)));
            }
            if fs::read_to_string(case.path().join("case.json")).is_ok_and(|text| text.contains("\"direct\""))
            {
                let name = format!("{}/direct", case.file_name().to_string_lossy());
                let (runtime, path) = (on_host.clone(), case.path());
                trials.push(Trial::test(name, move || Ok(run_case(&runtime, &path, true)?)));
            }
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// Compiles and runs the model of a folder, and compares each of its outputs.
/// `is_direct` says that the direct executor runs its control flow.
fn run_case(runtime: &Runtime, folder: &Path, is_direct: bool) -> Result<(), String> {
    let text = fs::read_to_string(folder.join("case.json")).map_err(|error| error.to_string())?;
    let case: Json = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let outputs = case["outputs"].as_array().ok_or("the case has no outputs")?;
    let model = case["model"].as_str().ok_or("the case has no model")?;
    let mut options = CompileOptions::default();
    options.passes.keep_graphs = is_direct;
    options.import.signature = case["signature"].as_str().map(str::to_owned);
    options.import.outputs = outputs.iter().map(name).collect::<Result<_, _>>()?;
    let model = runtime.compile_model(folder.join(model), &options).map_err(|errors| errors.to_string())?;
    check_path(&model.module, &case, is_direct)?;
    let program = runtime.load("model", model.bef).map_err(|errors| errors.to_string())?;
    let resources = ResourceContext::new();
    resources.insert(MODEL_WEIGHTS, ModelWeights::Tensors(model.weights.into_iter().collect()));
    let request = RequestContext::new(runtime.host().clone(), Arc::new(resources));
    let call = |function: &str, arguments: Vec<AsyncValue>| {
        let results = program.call_in(&request, function, arguments).map_err(|error| error.message)?;
        match results.iter().find_map(AsyncValue::error) {
            Some(error) => Err(error.message.clone()),
            None => Ok(results),
        }
    };
    let mut arguments = call("setup", Vec::new())?;
    let inputs = case["inputs"].as_array().ok_or("the case has no inputs")?;
    for port in &model.inputs {
        let find = |input: &&Json| input["name"].as_str() == Some(&port.name);
        let input = inputs.iter().find(find).ok_or_else(|| format!("input '{}' is not given", port.name))?;
        arguments.push(AsyncValue::new(tensor(runtime, folder, input)?));
    }
    let results = call("main", arguments)?;
    if results.len() != outputs.len() {
        return Err(format!("{} results, expected {}", results.len(), outputs.len()));
    }
    for (result, output) in results.iter().zip(outputs) {
        let result = result.get::<HostTensor>().ok_or("a result is not a tensor")?;
        let expected = tensor(runtime, folder, output)?;
        compare(result, &expected, runtime).map_err(|why| format!("output {}: {why}", output["name"]))?;
    }
    Ok(())
}

/// Checks that the direct executor runs the control flow if it should, and no other.
fn check_path(module: &Module, case: &Json, is_direct: bool) -> Result<(), String> {
    let has_graph = module.walk(module.root()).any(|op| module.op(op).name == "corert.execute_graph");
    // Some graphs have no functional form.
    match has_graph == (is_direct || case["direct"] == "always") {
        true => Ok(()),
        false => Err(format!("a program {} a graph", if has_graph { "with" } else { "without" })),
    }
}

fn name(port: &Json) -> Result<String, String> {
    Ok(port["name"].as_str().ok_or("a tensor has no name")?.to_owned())
}

/// A tensor of a case: a file of numbers, or strings.
fn tensor(runtime: &Runtime, folder: &Path, port: &Json) -> Result<HostTensor, String> {
    if let Some(file) = port["file"].as_str() {
        let tensor =
            npy::read(folder.join(file), runtime.host().allocator()).map_err(|error| error.message)?;
        return Ok(tensor.into());
    }
    let numbers = |list: &Json| list.as_array().map(|list| list.iter().filter_map(Json::as_u64).collect());
    let dims: Vec<u64> = numbers(&port["shape"]).ok_or("strings without a shape")?;
    let dims: Vec<usize> = dims.into_iter().filter_map(|dim| usize::try_from(dim).ok()).collect();
    let strings: Vec<Vec<u8>> = match (port["strings"].as_array(), port["bytes"].as_array()) {
        (Some(texts), _) => texts.iter().filter_map(Json::as_str).map(Vec::from).collect(),
        (None, Some(bytes)) => {
            bytes.iter().filter_map(Json::as_str).map(bytes_of).collect::<Result<_, _>>()?
        }
        (None, None) => return Err("a tensor has neither a file nor strings".to_owned()),
    };
    let shape = TensorShape::new(&dims).map_err(|error| error.message)?;
    Ok(StringHostTensor::new(shape, strings).map_err(|error| error.message)?.into())
}

/// The bytes of hexadecimal digits.
fn bytes_of(digits: &str) -> Result<Vec<u8>, String> {
    let byte = |at: usize| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..digits.len()).step_by(2).map(byte).collect::<Option<_>>().ok_or("no hexadecimal digits".to_owned())
}

fn compare(result: &HostTensor, expected: &HostTensor, runtime: &Runtime) -> Result<(), String> {
    if result.dtype() != expected.dtype() || result.shape() != expected.shape() {
        return Err(format!("got {}, expected {}", result.metadata(), expected.metadata()));
    }
    if let (HostTensor::String(result), HostTensor::String(expected)) = (result, expected) {
        let (result, expected) = (result.strings(), expected.strings());
        let same = result == expected;
        return if same { Ok(()) } else { Err(format!("got {result:?}, expected {expected:?}")) };
    }
    let (result, expected) = (numbers(result, runtime)?, numbers(expected, runtime)?);
    let largest = expected.iter().filter(|x| x.is_finite()).fold(0.0, |largest: f64, x| largest.max(x.abs()));
    for (index, (&a, &b)) in result.iter().zip(&expected).enumerate() {
        let is_close = a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= TOLERANCE * largest;
        if !is_close {
            return Err(format!("element {index} is {a}, expected {b} (the largest is {largest})"));
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
        DType::Complex64 => read!(Complex<f32>, |x| [f64::from(x.re), f64::from(x.im)]),
        DType::Complex128 => read!(Complex<f64>, |x| [x.re, x.im]),
        other => Err(format!("elements of type {other} cannot be compared")),
    }
}
