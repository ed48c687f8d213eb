//! Seeds of the targets of the runtime. Programs are the golden tests and what stands between `r#"`
//! and `"#` in tests of the parser and the kernels; what of that does not parse is a seed too.

use std::{error::Error, fs, path::Path};

use tfrt_convert::{ConvertOptions, mlir_to_bef};
use tfrt_fuzz::{OPS, READER, allocator, join_saved_model_parts};
use tfrt_ir::{ParseOptions, Source, parse_module};
use tfrt_tensor::{
    CooHostTensor, DType, DenseHostTensor, HostTensor, TensorMetadata,
    files::{btf, npy, safetensors},
};

use super::{PROGRAM_BYTES_MAX, Seeds, files};

/// Where programs are, and in what.
const PROGRAMS: &[(&str, &str)] =
    &[("tests", "mlir"), ("bef/ir/tests", "rs"), ("bef/convert/tests", "rs"), ("kernels/tests", "rs")];

/// Adds programs and tensors.
pub(crate) fn add(repository: &Path, seeds: &mut Seeds) -> Result<(), Box<dyn Error>> {
    programs(repository, seeds)?;
    models(repository, seeds)?;
    tensorflow_models(repository, seeds)?;
    tensors(repository, seeds)
}

/// Small models: those of the tests, and those of the suite of the `onnx` package where `ci/onnx`
/// has fetched it.
fn models(repository: &Path, seeds: &mut Seeds) -> Result<(), Box<dyn Error>> {
    let mut paths = Vec::new();
    files(&repository.join("tests/models"), "onnx", &mut paths)?;
    let suite = repository.join("target/onnx");
    if suite.is_dir() {
        files(&suite, "onnx", &mut paths)?;
    }
    for path in paths {
        let bytes = fs::read(&path)?;
        if bytes.len() <= PROGRAM_BYTES_MAX {
            seeds.add("onnx", &bytes)?;
        }
    }
    Ok(())
}

/// Small models of TensorFlow.
fn tensorflow_models(repository: &Path, seeds: &mut Seeds) -> Result<(), Box<dyn Error>> {
    let mut folders = vec![repository.join("tests/tensorflow/cases")];
    folders.extend(Some(repository.join("target/tensorflow/cases")).filter(|folder| folder.is_dir()));
    for folder in folders {
        for (extension, form) in [("pb", 0), ("pbtxt", 1)] {
            let mut paths = Vec::new();
            files(&folder, extension, &mut paths)?;
            for path in paths {
                let bytes = fs::read(&path)?;
                if bytes.len() > 2 * PROGRAM_BYTES_MAX {
                    continue;
                }
                let is_graph = path.file_stem().is_some_and(|stem| stem == "graph");
                if is_graph {
                    seeds.add("graphdef", &[&[form][..], &bytes].concat())?;
                } else if let Some(model) = path.parent() {
                    let read = |name: &str| fs::read(model.join("variables").join(name)).unwrap_or_default();
                    let (index, data) = (read("variables.index"), read("variables.data-00000-of-00001"));
                    if let Some(joined) = join_saved_model_parts([&bytes, &index, &data]) {
                        seeds.add("saved_model", &joined)?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn programs(repository: &Path, seeds: &mut Seeds) -> Result<(), Box<dyn Error>> {
    for (folder, extension) in PROGRAMS {
        let mut paths = Vec::new();
        files(&repository.join(folder), extension, &mut paths)?;
        for path in paths {
            let text = fs::read_to_string(&path)?;
            let programs: Vec<&str> = match *extension {
                "rs" => text.split("r#\"").skip(1).filter_map(|rest| rest.split("\"#").next()).collect(),
                _ => text.split("// -----").collect(),
            };
            for program in programs.into_iter().filter(|program| program.len() <= PROGRAM_BYTES_MAX) {
                let program = without_checks(program);
                seeds.add("mlir", program.as_bytes())?;
                convert(&program, seeds)?;
            }
        }
    }
    Ok(())
}

/// The program without comments, which would only take the room of what matters.
fn without_checks(program: &str) -> String {
    program
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect()
}

fn convert(program: &str, seeds: &mut Seeds) -> std::io::Result<()> {
    let source = Source::new("seed.mlir", program);
    let Ok(module) = parse_module(&source, &OPS, &ParseOptions::default()) else { return Ok(()) };
    for disable_optional_sections in [false, true] {
        if let Ok(bytes) = mlir_to_bef(&module, &OPS, ConvertOptions { disable_optional_sections }) {
            seeds.add("bef", &bytes)?;
        }
    }
    Ok(())
}

fn tensors(repository: &Path, seeds: &mut Seeds) -> Result<(), Box<dyn Error>> {
    let mut paths = Vec::new();
    files(&repository.join("tests"), "btf", &mut paths)?;
    for path in paths {
        seeds.add("btf", &fs::read(path)?)?;
    }
    let numbers = DenseHostTensor::from_slice([2, 3], &[0.0_f32, 1.5, 0.0, 0.0, 0.0, -2.0], &allocator())?;
    let bytes = DenseHostTensor::from_slice([3], &[1_u8, 2, 3], &allocator())?;
    let empty = DenseHostTensor::allocate(TensorMetadata::new(DType::I64, [0, 4]), &allocator())?;
    let sparse = CooHostTensor::from_dense(&numbers, &READER, &allocator())?;
    let all: Vec<HostTensor> =
        vec![numbers.clone().into(), sparse.into(), bytes.clone().into(), empty.clone().into()];
    seeds.add("btf", &btf::encode(&all, &READER)?)?;
    for tensor in all {
        seeds.add("btf", &btf::encode(&[tensor], &READER)?)?;
    }
    for tensor in [&numbers, &bytes, &empty] {
        seeds.add("npy", &npy::encode(tensor, &READER)?)?;
    }
    let named = [("a", &numbers), ("b.weight", &bytes), ("c", &empty)];
    seeds.add("safetensors", &safetensors::encode(&named, &READER)?)?;
    seeds.add("safetensors", &safetensors::encode(&named[1..], &READER)?)?;
    Ok(())
}
