//! Kernels that are generated for a model's elementwise functions, where NVRTC is installed. Where it
//! is not, the runtime's own kernels compute the same. `ci/gpu/libraries` sees to it that it is.

use std::{fs, path::Path};

use super::{devices::assert_close, output};

/// What `--explain` says of kernels.
fn kernels(explained: &str) -> &str {
    explained.lines().find_map(|line| line.strip_prefix("kernels ")).expect("a line for kernels").trim()
}

#[test]
fn generated_kernels_compute_what_fixed_ones_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("elementwise.mlir");
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/elementwise.mlir");
    let (model, program) = (model.to_str().expect("a path"), program.to_str().expect("a path"));
    let inputs = ["-i", "2x6x16xf32=random(1)", "-i", "16x16xf32=random(2)", "--json"];
    let expected = output(&[&["run", model][..], &inputs].concat());
    // Products are rounded in the narrow types, and the exponential function magnifies that.
    for (precision, tolerance) in [("f32", 1e-4), ("f16", 1e-2), ("bf16", 0.1)] {
        let mut results = Vec::new();
        for options in [&["--fixed-kernels"][..], &[], &["--no-graph"], &["--streams=2"]] {
            let compile = ["compile", model, "--target=cuda", "--explain", "--precision", precision];
            let explained = output(&[&compile[..], options, &["-o", program]].concat());
            let text = fs::read_to_string(program).expect("a program");
            let is_generated = text.contains("tfrt_cuda.function.launch_strided");
            let is_fixed = text.contains("op_name = \"tfrt.FusedElementwise\"");
            assert_ne!(is_generated, is_fixed, "{text}");
            match (kernels(&explained), options) {
                (said, ["--fixed-kernels"]) => assert_eq!(said, "the runtime's own alone: --fixed-kernels"),
                (said, _) if is_generated || std::env::var_os("TFRT_TEST_CUDA_LIBRARIES").is_some() => {
                    assert!(said.contains(" generated for "), "{said}")
                }
                (said, _) => assert!(said.contains("NVRTC is needed and was not found"), "{said}"),
            }
            assert!(output(&["check", program]).contains("all in order"));
            let run = ["run", program, "--device=cpu", "--check"];
            results.push(output(&[&run[..], &inputs].concat()));
        }
        for found in &results {
            assert_close(found, &expected, tolerance);
        }
    }
}
