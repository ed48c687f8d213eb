//! Weights with other people's names: both namings of one network, a network of Keras's as Keras
//! computes it, and files with something wrong.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use tfrt::tools::Outcome;
use tfrt_models::resnet50::{
    self, Form, Layer, NamedTensors, ProgramOptions, Then, Variant, Weights, convert, layers_of,
};
use tfrt_tensor::files::{npy, safetensors};
use tfrt_tensor::{DenseHostTensor, TensorShape};

use super::{BATCH, EXTENT, ME, SEED, Tool, difference, expected, scores_with, written};

/// Scale, offset, mean and variance of a layer's normalization, as
/// `tests/reference/resnet50_keras.py` makes them.
fn normalization(at: usize, layer: &Layer) -> [Vec<f32>; 4] {
    let each = |f: &dyn Fn(usize) -> f64| (0..layer.out_channels).map(|c| f(c) as f32).collect();
    [
        each(&|c| 0.75 + ((c * 7 + at) % 11) as f64 / 20.0),
        each(&|c| (((c * 5 + at) % 13) as f64 - 6.0) / 50.0),
        each(&|c| (((c * 3 + at) % 7) as f64 - 3.0) / 20.0),
        each(&|c| 0.5 + ((c * 11 + at) % 17) as f64 / 16.0),
    ]
}

fn tensor(shape: &[usize], values: Vec<f32>) -> DenseHostTensor {
    DenseHostTensor::from_vec(TensorShape::new(shape).expect("a shape"), values).expect("a tensor")
}

/// `HWIO` as `OIHW`.
fn to_oihw([rows, columns, inputs, outputs]: [usize; 4], filter: &[f32]) -> Vec<f32> {
    let at = |o: usize, i: usize, tap: usize| filter[(tap * inputs + i) * outputs + o];
    let taps = rows * columns;
    (0..outputs)
        .flat_map(|o| (0..inputs).flat_map(move |i| (0..taps).map(move |tap| (o, i, tap))))
        .map(|(o, i, tap)| at(o, i, tap))
        .collect()
}

/// Seeded weights with Keras's names.
fn keras() -> NamedTensors {
    let mut tensors = NamedTensors::new();
    for (at, layer) in layers_of(Variant::Keras).iter().enumerate() {
        let Weights { filter, bias } = resnet50::seeded_weights(layer, at, SEED);
        let outputs = layer.out_channels;
        if layer.then == Then::Scores {
            tensors.insert("predictions/kernel".into(), tensor(&[layer.in_channels, outputs], filter));
            tensors.insert("predictions/bias".into(), tensor(&[outputs], bias));
            continue;
        }
        let name = match layer.name.strip_prefix("layer") {
            None => layer.name.clone(),
            Some(rest) => {
                let parts: Vec<&str> = rest.split('.').collect();
                let number = |text: &str| text.parse::<usize>().expect("a number") + 1;
                let convolution = parts[2].strip_prefix("conv").unwrap_or("0");
                format!("conv{}_block{}_{convolution}", number(parts[0]), number(parts[1]))
            }
        };
        tensors.insert(format!("{name}_conv/kernel"), tensor(&layer.filter_extents(), filter));
        tensors.insert(format!("{name}_conv/bias"), tensor(&[outputs], bias));
        let parts = ["gamma", "beta", "moving_mean", "moving_variance"];
        for (part, values) in parts.into_iter().zip(normalization(at, layer)) {
            tensors.insert(format!("{name}_bn/{part}"), tensor(&[outputs], values));
        }
    }
    tensors
}

/// The same weights with torchvision's names. Its convolutions have no bias, so that the mean takes
/// it.
fn torchvision() -> NamedTensors {
    let mut tensors = NamedTensors::new();
    for (at, layer) in layers_of(Variant::Torchvision).iter().enumerate() {
        let Weights { filter, bias } = resnet50::seeded_weights(layer, at, SEED);
        let (outputs, name) = (layer.out_channels, &layer.name);
        let [rows, columns, inputs, _] = layer.filter_extents();
        let turned = to_oihw(layer.filter_extents(), &filter);
        if layer.then == Then::Scores {
            tensors.insert(format!("{name}.weight"), tensor(&[outputs, inputs], turned));
            tensors.insert(format!("{name}.bias"), tensor(&[outputs], bias));
            continue;
        }
        tensors.insert(format!("{name}.weight"), tensor(&[outputs, inputs, rows, columns], turned));
        let [scale, offset, mean, variance] = normalization(at, layer);
        let mean = mean.iter().zip(&bias).map(|(mean, bias)| mean - bias).collect();
        // Keras adds a thousandth more.
        let variance = variance.iter().map(|v| (f64::from(*v) + 1e-8) as f32).collect();
        let norm = name.replace("downsample.0", "downsample.1").replace("conv", "bn");
        let parts = ["weight", "bias", "running_mean", "running_var"];
        for (part, values) in parts.into_iter().zip([scale, offset, mean, variance]) {
            tensors.insert(format!("{norm}.{part}"), tensor(&[outputs], values));
        }
        let batches = DenseHostTensor::from_vec(TensorShape::scalar(), vec![3i64]).expect("a tensor");
        tensors.insert(format!("{norm}.num_batches_tracked"), batches);
    }
    tensors
}

#[test]
fn both_namings_of_a_network_become_the_same() {
    let (keras, torchvision) = (convert(&keras()), convert(&torchvision()));
    let (keras, torchvision) = (keras.expect("Keras's"), torchvision.expect("torchvision's"));
    assert_eq!((keras.variant, torchvision.variant), (Variant::Keras, Variant::Torchvision));
    for (a, b) in keras.layers.iter().zip(&torchvision.layers) {
        assert!(difference(&a.filter, &b.filter) < 1e-6);
        assert!(difference(&a.bias, &b.bias) < 1e-6);
    }
    assert_eq!(keras.parameters(), 25_530_472);
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let mut tensors = torchvision();
    tensors.remove("layer3.4.conv2.weight");
    tensors.insert("layer1.0.bn1.bias".into(), tensor(&[65], vec![0.0; 65]));
    tensors.insert("bn1.running_var".into(), tensor(&[64], vec![-1.0; 64]));
    tensors.insert("extra.weight".into(), tensor(&[1], vec![0.0]));
    tensors.insert("fc.bias".into(), DenseHostTensor::from_vec([1000], vec![0i32; 1000]).expect("a tensor"));
    let mut problems = convert(&tensors).expect_err("much is wrong");
    problems.sort();
    assert_eq!(
        problems,
        [
            "'bn1.running_var' has something that is no variance at 0",
            "'extra.weight' is no part of the network",
            "'fc.bias': its elements are i32, no floats",
            "'layer1.0.bn1.bias' has the shape [65], not [64]",
            "'layer3.4.conv2.weight' is missing",
        ]
    );
    let mut tensors = torchvision();
    for (name, at, value) in [("fc.weight", 5, f32::NAN), ("bn1.running_var", 3, f32::INFINITY)] {
        let mut values = tensors[name].read::<f32>(&ME).expect("of f32").to_vec();
        values[at] = value;
        let broken = DenseHostTensor::from_vec(tensors[name].shape().clone(), values).expect("a tensor");
        tensors.insert(name.into(), broken);
    }
    let large = DenseHostTensor::from_vec([1000], vec![1e300f64; 1000]).expect("a tensor");
    tensors.insert("fc.bias".into(), large);
    tensors.insert("layer1.0.bn1.weight".into(), tensor(&[64], vec![f32::MAX; 64]));
    tensors.insert("layer1.0.bn1.running_var".into(), tensor(&[64], vec![0.0; 64]));
    tensors.insert("module.bn1.weight".into(), tensor(&[64], vec![1.0; 64]));
    let mut problems = convert(&tensors).expect_err("much is beyond f32");
    problems.sort();
    assert_eq!(
        problems,
        [
            "'bn1.running_var' has something that is not finite in f32 at 3",
            "'fc.bias' has something that is not finite in f32 at 0",
            "'fc.weight' has something that is not finite in f32 at 5",
            "'layer1.0.conv1.weight' is not finite in f32 once it is normalized",
            "'module.bn1.weight' is there twice, as another name for 'bn1.weight'",
        ]
    );
    let strangers = NamedTensors::from([("x".to_owned(), tensor(&[1], vec![0.0]))]);
    assert!(convert(&strangers).expect_err("nothing is known")[0].starts_with("none of its tensors"));
}

fn write_safetensors(file: &Path, tensors: &NamedTensors) {
    let tensors: Vec<_> = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    safetensors::write(file, &tensors, &ME).expect("a file");
}

fn write_npz(file: &Path, tensors: &NamedTensors) {
    let mut archive = zip::ZipWriter::new(std::fs::File::create(file).expect("a file"));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, tensor) in tensors {
        archive.start_file(format!("{name}.npy"), options).expect("a place");
        archive.write_all(&npy::encode(tensor, &ME).expect("an array")).expect("space");
    }
    archive.finish().expect("a file");
}

#[test]
fn a_network_of_keras_computes_what_keras_computes() {
    let dir = tempfile::tempdir().expect("a folder");
    let (npz, weights) = (dir.path().join("keras.npz"), dir.path().join("weights.safetensors"));
    write_npz(&npz, &keras());
    let tool = Tool::run(["resnet50", "convert"].map(OsString::from).into_iter().chain([
        npz.into(),
        "-o".into(),
        weights.clone().into(),
    ]));
    assert_eq!(tool.outcome, Outcome::Fine, "{}", tool.error);
    assert_eq!(tool.output, "keras's ResNet-50: 54 layers, 25530472 numbers\n");
    let expected = expected(include_str!("../reference/resnet50_keras.txt"));
    for form in Form::ALL {
        let options = ProgramOptions { variant: Variant::Keras, ..ProgramOptions::new(form) };
        let found = scores_with(&options.with_extent(EXTENT).with_batch(BATCH), "mstd:2", Some(&weights));
        let off = difference(&found.expect("scores"), &expected);
        assert!(off <= 1e-4, "{form:?}: off by {off} of the largest score");
    }
    // Weights of one variant are none for a program of the other.
    let options = ProgramOptions::new(Form::Host).with_extent(EXTENT);
    let error = scores_with(&options, "s", Some(&weights)).expect_err("another network");
    assert!(error.message.contains("has the weights of keras's ResNet-50"), "{error}");
}

#[test]
fn an_image_is_classified_with_weights_from_a_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).into_os_string();
    write_safetensors(Path::new(&path("torchvision.safetensors")), &torchvision());
    let convert = ["resnet50".into(), "convert".into(), path("torchvision.safetensors"), "-o".into()];
    let tool = Tool::run(convert.into_iter().chain([path("w.safetensors")]));
    assert_eq!(tool.outcome, Outcome::Fine, "{}", tool.error);
    let labels: String = (0..1000).map(|class| format!("class number {class}\n")).collect();
    std::fs::write(path("labels.txt"), labels).expect("a file");
    let mut answers = Vec::new();
    for form in Form::ALL {
        let program = written(&ProgramOptions::new(form).with_extent(32));
        std::fs::write(path("program.mlir"), program).expect("a file");
        let run = ["run".into(), path("program.mlir"), "-i".into(), "@tests/images/shapes.jpg".into()];
        let options = ["--weights".into(), path("w.safetensors"), "--labels".into(), path("labels.txt")];
        let tool = Tool::run(run.into_iter().chain(options));
        assert_eq!(tool.outcome, Outcome::Fine, "{}", tool.error);
        assert_eq!(tool.output.lines().count(), 5, "{}", tool.output);
        let class = tool.output.split_whitespace().nth(3).expect("a class");
        assert!(tool.output.lines().next().expect("a line").ends_with(&format!("class number {class}")));
        answers.push(class.to_owned());
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
}

#[test]
fn files_that_are_none_are_errors() {
    let dir = tempfile::tempdir().expect("a folder");
    for name in ["none.npz", "none.safetensors"] {
        let file = dir.path().join(name);
        std::fs::write(&file, "nothing of the kind").expect("a file");
        let arguments = ["resnet50".into(), "convert".into(), file.into(), "-o".into(), "/dev/null".into()];
        let tool = Tool::run(arguments);
        assert_eq!(tool.outcome, Outcome::Failed);
        assert!(tool.error.contains(name), "{}", tool.error);
    }
}
