//! Tests of plans for described devices, which need cuDNN but no GPU. `ci/gpu/libraries` downloads
//! cuDNN. Engines that are compiled when a plan is made need a driver library, even one without a
//! device, and are only tested where there is one.

use tfrt_device::hal::{Activation, ActivationMode, Convolution, NanPropagation, Scaling, TensorLayout};

use super::*;
use crate::dnn::SPEC;
use crate::dnn::convolution::Kind;
use crate::libraries::{REQUIRED_VARIABLE, is_installed};

/// A device: name, version, multiprocessors, shared memory of a block, memory and cache in bytes.
type Device = (&'static str, u32, u32, u32, u64, u32);

const A100: Device = ("NVIDIA A100-SXM4-40GB", 800, 108, 166_912, 42_298_834_944, 41_943_040);
const H100: Device = ("NVIDIA H100 80GB HBM3", 900, 132, 232_448, 85_017_755_648, 52_428_800);
const B200: Device = ("NVIDIA B200", 1000, 148, 232_448, 191_502_483_456, 132_644_864);

fn describe(library: &'static Cudnn, device: Device) -> Target {
    let (name, version, multiprocessors, shared, memory, cache) = device;
    let json = format!(
        r#"{{"maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536,
        "multiProcessorCount": {multiprocessors}, "warpSize": 32, "maxSharedMemoryPerBlock": 49152,
        "maxSharedMemoryPerBlockOptin": {shared}, "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536,
        "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "pciDeviceId": 0, "isTccDriver": 0,
        "supportCoopLaunch": 1, "totalGlobalMem": {memory}, "smClockRateKHz": 1980000, "memClockRateKHz": 2619000,
        "l2CacheSize": {cache}, "cudaDeviceId": 0, "deviceVer": {version}, "driverVer": 13000,
        "deviceName": "{name}"}}"#
    );
    Target::described(library, &json).unwrap()
}

fn cudnn() -> Option<&'static Cudnn> {
    let found = Cudnn::get();
    is_installed(&found, &SPEC).then(|| found.unwrap())
}

fn plans(library: &'static Cudnn, device: Device) -> Plans {
    Plans::with_cache(library, describe(library, device), None)
}

/// The tensors of a convolution.
struct Shape {
    convolution: Convolution,
    x: TensorLayout,
    w: TensorLayout,
    y: TensorLayout,
    bias: TensorLayout,
}

fn layout(dtype: DType, dims: &[u64], channels_last: bool) -> TensorLayout {
    let spatial = (2..dims.len()).rev();
    // The innermost direction comes first.
    let order: Vec<_> = if channels_last {
        std::iter::once(1).chain(spatial).chain([0]).collect()
    } else {
        spatial.chain([1, 0]).collect()
    };
    let (mut strides, mut next) = (vec![0; dims.len()], 1);
    for axis in order {
        strides[axis] = next;
        next *= dims[axis];
    }
    TensorLayout { dtype, dims: dims.into(), strides }
}

impl Shape {
    /// Creates the shape from the extents of images and filter, and padding, stride and dilation in
    /// every direction.
    fn new(
        dtype: DType,
        channels_last: bool,
        x: &[u64],
        w: &[u64],
        [padding, stride, dilation]: [u64; 3],
    ) -> Self {
        let rank = x.len() - 2;
        let convolution = Convolution {
            padding: vec![padding; rank],
            strides: vec![stride; rank],
            dilations: vec![dilation; rank],
            groups: x[1] / w[1],
            cross_correlation: true,
            compute: match dtype {
                DType::F64 => DType::F64,
                DType::I8 => DType::I32,
                _ => DType::F32,
            },
            algorithm: -1,
        };
        let windows = |(&x, &w): (&u64, &u64)| (x + 2 * padding - (w - 1) * dilation - 1) / stride + 1;
        let y: Vec<_> = [x[0], w[0]].into_iter().chain(x.iter().zip(w).skip(2).map(windows)).collect();
        let mut bias = vec![1; x.len()];
        bias[1] = w[0];
        let [x, w, y, bias] = [x, w, &y, &bias].map(|dims| layout(dtype, dims, channels_last));
        Self { convolution, x, w, y, bias }
    }

    fn problem(&self, kind: Kind, alignment: u32) -> Problem<'_> {
        Problem {
            kind,
            convolution: &self.convolution,
            scaling: Scaling::ONE,
            tensors: [(&self.x, alignment), (&self.w, alignment), (&self.y, alignment)],
            bias: None,
            residual: None,
            activation: None,
        }
    }

    fn with_epilogue(&self, mode: ActivationMode) -> Problem<'_> {
        Problem {
            bias: Some((&self.bias, 16)),
            residual: Some((&self.y, 16, 0.5)),
            activation: Some(activation(mode)),
            ..self.problem(Kind::Forward, 16)
        }
    }
}

fn activation(mode: ActivationMode) -> Activation {
    Activation { mode, coefficient: 6.0, nan: NanPropagation::Propagate }
}

/// Returns shapes of one type: those of networks, and unusual ones.
fn shapes(dtype: DType, channels_last: bool) -> Vec<Shape> {
    let new = |x: &[u64], w: &[u64], geometry| Shape::new(dtype, channels_last, x, w, geometry);
    let mut flipped = new(&[8, 64, 28, 28], &[64, 64, 3, 3], [1, 1, 1]);
    flipped.convolution.cross_correlation = false;
    vec![
        flipped,
        new(&[8, 3, 224, 224], &[64, 3, 7, 7], [3, 2, 1]),
        new(&[8, 64, 56, 56], &[64, 64, 3, 3], [1, 1, 1]),
        new(&[8, 256, 56, 56], &[128, 256, 1, 1], [0, 2, 1]),
        new(&[2, 3, 17, 19], &[5, 3, 3, 3], [1, 1, 1]),
        // Dilated, strided and dilated, in groups, with one filter for each channel.
        new(&[8, 64, 28, 28], &[64, 64, 3, 3], [2, 1, 2]),
        new(&[2, 8, 20, 20], &[8, 8, 3, 3], [0, 2, 2]),
        new(&[8, 64, 28, 28], &[64, 16, 3, 3], [1, 1, 1]),
        new(&[8, 64, 28, 28], &[64, 1, 3, 3], [1, 1, 1]),
        new(&[1, 1, 28, 28], &[1, 1, 5, 5], [0, 1, 1]),
        // Along one direction, and along three.
        new(&[8, 64, 128], &[64, 64, 3], [1, 1, 1]),
        new(&[2, 16, 12, 12, 12], &[16, 16, 3, 3, 3], [1, 1, 1]),
    ]
}

/// Returns the properties of a plan's engine.
fn notes(plans: &Plans, plan: &Plan) -> Vec<c_int> {
    let configuration = Descriptor::new(plans.library, Object::CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).unwrap();
    let name = Name::CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG;
    plan.descriptor.get(name, &mut [configuration.reference()]).unwrap();
    plans.notes(&configuration).unwrap()
}

/// Checks the engine of a plan.
fn check(plans: &Plans, problem: &Problem<'_>, plan: &Plan) {
    let notes = notes(plans, plan);
    let differs = notes.contains(&(Note::CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC as c_int));
    assert!(
        !differs && !notes.iter().any(|&note| loses_precision(note, problem, GpuOptions::default())),
        "{notes:?}"
    );
}

#[test]
fn convolutions_have_plans_that_keep_their_precision_and_their_bits() {
    let Some(library) = cudnn() else { return };
    for device in [A100, H100, B200] {
        let plans = plans(library, device);
        let types = [DType::F32, DType::F64, DType::F16, DType::BF16].into_iter();
        // Both half types use the same engines, so one of them is enough where kernels are
        // compiled.
        let types = types.filter(|&dtype| dtype != DType::BF16 || device == H100);
        for (dtype, channels_last) in types.flat_map(|dtype| [(dtype, false), (dtype, true)]) {
            for shape in shapes(dtype, channels_last) {
                let alignments = [16, dtype.size().unwrap() as u32];
                let alone = [Kind::Forward, Kind::BackwardData, Kind::BackwardFilter]
                    .into_iter()
                    .flat_map(|kind| alignments.map(|alignment| shape.problem(kind, alignment)));
                for problem in alone.chain([shape.with_epilogue(ActivationMode::Relu)]) {
                    let plan = plans.get(&problem).unwrap_or_else(|error| {
                        panic!("{}, {dtype}, {:?}: {error}", device.0, problem.tensors)
                    });
                    check(&plans, &problem, &plan);
                }
            }
        }
    }
}

/// With TF32 allowed, the best engine for an ordinary f32 convolution runs on tensor cores.
#[test]
fn tensor_cores_compute_f32_where_tf32_is_allowed() {
    let Some(library) = cudnn() else { return };
    let allowed = GpuOptions { allows_tf32: true, ..GpuOptions::default() };
    let shape = Shape::new(DType::F32, true, &[8, 64, 28, 28], &[64, 64, 3, 3], [1, 1, 1]);
    let problem = shape.with_epilogue(ActivationMode::Relu);
    let plans = Plans { options: allowed, ..plans(library, H100) };
    let notes = notes(&plans, &plans.get(&problem).unwrap());
    assert!(notes.contains(&(Note::CUDNN_NUMERICAL_NOTE_TENSOR_CORE as c_int)), "{notes:?}");
    assert!(Key::new(&problem, allowed) != Key::new(&problem, GpuOptions::default()));
}

#[test]
fn epilogues_have_a_plan_or_are_refused() {
    let Some(library) = cudnn() else { return };
    let plans = plans(library, H100);
    for dtype in [DType::F32, DType::F64, DType::F16] {
        for channels_last in [false, true] {
            let shape = Shape::new(dtype, channels_last, &[8, 64, 28, 28], &[64, 64, 3, 3], [1, 1, 1]);
            let whole = shape.with_epilogue(ActivationMode::Relu);
            let biased = Problem { residual: None, ..whole };
            let mut problems = vec![
                (true, whole),
                (true, biased),
                (true, Problem { activation: None, ..biased }),
                (true, Problem { scaling: Scaling { alpha: 2.0, beta: 0.0 }, ..whole }),
                (
                    true,
                    Problem {
                        scaling: Scaling { alpha: 2.0, beta: 3.0 },
                        ..shape.problem(Kind::Forward, 16)
                    },
                ),
                // Convolutions that no engine supports are computed step by step.
                (false, Problem { residual: None, bias: None, ..whole }),
                (false, Problem { activation: None, bias: None, ..whole }),
            ];
            for mode in [
                ActivationMode::Sigmoid,
                ActivationMode::Tanh,
                ActivationMode::Elu,
                ActivationMode::ClippedRelu,
            ] {
                problems.push((false, Problem { residual: None, ..shape.with_epilogue(mode) }));
            }
            for (must, problem) in problems {
                match plans.get(&problem) {
                    Ok(plan) => check(&plans, &problem, &plan),
                    Err(error) => {
                        assert!(
                            !must && error.status == Status::DnnNotSupported,
                            "{dtype} {channels_last}: {error}"
                        );
                    }
                }
            }
        }
    }
}

/// Needs an engine that is compiled when the plan is made.
#[test]
fn an_epilogue_of_an_activation_alone_is_compiled() {
    let Some(library) = cudnn() else { return };
    let folder = tempfile::tempdir().unwrap();
    let plans = Plans::with_cache(library, describe(library, H100), Some(folder.path().into()));
    let shape = Shape::new(DType::F16, true, &[8, 64, 28, 28], &[64, 64, 3, 3], [1, 1, 1]);
    let problem = Problem { residual: None, bias: None, ..shape.with_epilogue(ActivationMode::Relu) };
    match plans.get(&problem) {
        // There is no driver.
        Err(error) if std::env::var_os(REQUIRED_VARIABLE).is_none() => {
            assert_eq!(error.status, Status::DnnNotSupported);
        }
        plan => {
            let key = Key::new(&problem, GpuOptions::default());
            let kept = plans.load(&describe(library, H100), &key).unwrap();
            assert_eq!(kept.workspace_bytes, plan.unwrap().workspace_bytes);
        }
    }
}

#[test]
fn plans_are_kept_on_disk() {
    let Some(library) = cudnn() else { return };
    let folder = tempfile::tempdir().unwrap();
    let plans = Plans::with_cache(library, describe(library, H100), Some(folder.path().into()));
    let shape = Shape::new(DType::F16, false, &[8, 64, 28, 28], &[64, 64, 3, 3], [1, 1, 1]);
    let problem = shape.with_epilogue(ActivationMode::Relu);
    let found = plans.get(&problem).unwrap();
    assert!(found.workspace_bytes > 0);

    let key = Key::new(&problem, GpuOptions::default());
    let load = |device| plans.load(&describe(library, device), &key).map(|plan| plan.workspace_bytes);
    assert_eq!(load(H100), Some(found.workspace_bytes));
    // The plan of another device is rejected, and a new one is found.
    assert_eq!(load(A100), None);
    let (name, version, _, shared, memory, cache) = H100;
    assert_eq!(load((name, version, 114, shared, memory, cache)), None);
    // Files of another problem, damaged ones, and truncated ones.
    let path = plans.path(&key).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let other = Key::new(&shape.problem(Kind::Forward, 16), GpuOptions::default());
    std::fs::copy(&path, plans.path(&other).unwrap()).unwrap();
    assert!(plans.load(&describe(library, H100), &other).is_none());
    for broken in [text.replacen("[8,64,", "[4,64,", 1), text[..text.len() - 2].to_owned(), String::new()] {
        assert_ne!(broken, text);
        std::fs::write(&path, broken).unwrap();
        assert_eq!(load(H100), None);
    }
    // A file that the library cannot read does no harm.
    let json = r#"{"engine": 1}"#;
    std::fs::write(&path, format!("{}\n{json}", head_of(&key, json))).unwrap();
    assert_eq!(load(H100), None);
    let again = Plans::with_cache(library, describe(library, H100), Some(folder.path().into()));
    assert_eq!(again.get(&problem).unwrap().workspace_bytes, found.workspace_bytes);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn an_algorithm_is_one_of_the_engines() {
    let Some(library) = cudnn() else { return };
    let plans = plans(library, H100);
    let mut shape = Shape::new(DType::F32, false, &[8, 64, 28, 28], &[64, 64, 3, 3], [1, 1, 1]);
    let mut jsons = Vec::new();
    for algorithm in [-1, 0, 1] {
        shape.convolution.algorithm = algorithm;
        jsons.push(plans.get(&shape.problem(Kind::Forward, 16)).unwrap().json().unwrap());
    }
    assert_eq!(jsons[0], jsons[1]);
    assert_ne!(jsons[0], jsons[2]);
    shape.convolution.algorithm = 10_000;
    let error = plans.get(&shape.problem(Kind::Forward, 16)).map(|_| ()).unwrap_err();
    assert_eq!(error.status, Status::DnnNotSupported, "{error}");
}

#[test]
fn graphs_that_do_not_fit_are_refused() {
    let Some(library) = cudnn() else { return };
    let mut shape = Shape::new(DType::F16, true, &[8, 64, 28, 28], &[64, 64, 3, 3], [1, 1, 1]);
    shape.y.dims[2] = 27;
    let plans = plans(library, H100);
    let error = plans.get(&shape.problem(Kind::Forward, 16)).map(|_| ()).unwrap_err();
    assert_eq!(error.status, Status::DnnBadParam, "{error}");
    assert!(error.detail.contains("finalizing"), "{error}");
}

#[test]
fn keys_tell_problems_apart() {
    let convolution = Convolution {
        padding: vec![1, 1],
        strides: vec![2, 2],
        dilations: vec![1, 1],
        groups: 1,
        cross_correlation: true,
        compute: DType::F32,
        algorithm: -1,
    };
    let other = Convolution { padding: vec![1, 2], ..convolution.clone() };
    let x = TensorLayout { dtype: DType::F32, dims: vec![1, 2, 3, 4], strides: vec![24, 12, 4, 1] };
    let problem = Problem {
        kind: Kind::Forward,
        convolution: &convolution,
        scaling: Scaling::ONE,
        tensors: [(&x, 16), (&x, 16), (&x, 16)],
        bias: None,
        residual: None,
        activation: None,
    };
    let problems = [
        problem,
        Problem { kind: Kind::BackwardData, ..problem },
        Problem { convolution: &other, ..problem },
        Problem { tensors: [(&x, 16), (&x, 4), (&x, 16)], ..problem },
        Problem { bias: Some((&x, 16)), ..problem },
        Problem { residual: Some((&x, 16, 0.0)), ..problem },
        Problem { residual: Some((&x, 16, 1.0)), ..problem },
    ];
    let texts: std::collections::HashSet<_> =
        problems.iter().map(|p| Key::new(p, GpuOptions::default()).text()).collect();
    let hashes: std::collections::HashSet<_> =
        problems.iter().map(|p| Key::new(p, GpuOptions::default()).hash()).collect();
    assert_eq!((texts.len(), hashes.len()), (problems.len(), problems.len()));
}

#[test]
fn files_are_written_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b.plan");
    write_whole(&path, "first").unwrap();
    write_whole(&path, "second").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "second");
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}
