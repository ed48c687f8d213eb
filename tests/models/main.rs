//! `tfrt` and models: an ONNX file is run, measured and compiled.

mod devices;
mod generated;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// A product by a matrix of 3 by 40, a bias and an activation; `make.py` writes it.
fn model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/layer.onnx")
}

fn tfrt(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tfrt")).args(arguments).output().expect("tfrt runs")
}

fn output(arguments: &[&str]) -> String {
    let output = tfrt(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn errors(arguments: &[&str], code: i32) -> String {
    let output = tfrt(arguments);
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn a_model_runs_with_inputs_by_name_or_in_order() {
    let model = model();
    let model = model.to_str().expect("a path");
    // Each row of the matrix is 40 more than the one before.
    let sum = |input: &str| output(&["run", model, "-i", input, "--json"]);
    assert_eq!(sum("x=1x3xf32=[0,-1,1]"), sum("1x3xf32=[0,-1,1]"));
    assert!(sum("x=1x3xf32=[0,-1,1]").contains("40.5"));
    let json: serde_json::Value = serde_json::from_str(&sum("x=1x3xf32=[0,-1,1]")).expect("JSON");
    assert_eq!((&json["results"][0]["name"], &json["results"][0]["shape"][1]), (&"y".into(), &40.into()));
    let shown = output(&["run", model, "-i", "x=2x3xf32=0", "--device=cpu"]);
    assert!(shown.starts_with("y: 2x40xf32 = [0.5, 0.5, ") && shown.ends_with(", ...]\n"), "{shown}");
}

#[test]
fn a_file_is_a_string_for_a_model_that_decodes_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let graph = folder.path().join("graph.pbtxt");
    let text = r#"
        node { name: "file" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } }
               attr { key: "shape" value { shape {} } } }
        node { name: "pixels" op: "DecodePng" input: "file" attr { key: "channels" value { i: 1 } }
               attr { key: "dtype" value { type: DT_UINT8 } } }
        node { name: "shape" op: "Shape" input: "pixels" attr { key: "T" value { type: DT_UINT8 } }
               attr { key: "out_type" value { type: DT_INT64 } } }
    "#;
    fs::write(&graph, text).expect("a graph");
    let graph = graph.to_str().expect("a path");
    let shape = output(&["run", graph, "-i", "file=@tests/images/shapes_16_12.png"]);
    assert_eq!(shape, "shape: 3xi64 = [12, 12, 1]\n");
    let other = errors(&["run", graph, "-i", "file=@tests/models/layer.onnx"], 1);
    assert!(other.contains("Unknown image file format") && other.contains("pixels"), "{other}");
}

#[test]
fn unknown_outputs_are_named_before_the_run() {
    let model = model();
    let model = model.to_str().expect("a path");
    for option in ["-o", "--expected-output"] {
        // The input is refused, too, but only by the run.
        let unknown = errors(&["run", model, "-i", "x=1x2xf32=0", option, "z=z.npy"], 2);
        assert!(unknown.contains("the model has no output 'z', its outputs are 'y' (?x40xf32)"), "{unknown}");
    }
    let typed = tfrt(&["run", model, "-i", "x=1x3xf32=0", "--expected-output", "1x40xf32=0.5"]);
    assert!(typed.status.success(), "{}", String::from_utf8_lossy(&typed.stderr));
}

#[test]
fn files_of_other_formats_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes, expected) in [
        ("model.pt", &b"PK\x03\x04\x14\0"[..], "is a zip archive, as PyTorch and Keras write"),
        ("model.onnx", b"version https://git-lfs.github.com/spec/v1\n", "is a pointer of Git LFS"),
        ("model.tflite", b"\x1c\0\0\0TFL3", "is a model of TensorFlow Lite"),
        ("model", b"\x08\x08\x12\x04", "is neither MLIR text nor a BEF file"),
    ] {
        let file = folder.path().join(name);
        fs::write(&file, bytes).expect("a file");
        let error = errors(&["run", file.to_str().expect("a path")], 1);
        assert!(error.contains(expected), "{error}");
    }
    let error = errors(&["run", folder.path().to_str().expect("a path")], 1);
    assert!(error.contains("is a folder without a SavedModel"), "{error}");
}

#[test]
fn missing_and_wrong_inputs_are_named() {
    let model = model();
    let model = model.to_str().expect("a path");
    let missing = errors(&["run", model], 2);
    assert!(missing.contains("the model needs input 'x' (?x3xf32)"), "{missing}");
    let unknown = errors(&["run", model, "-i", "y=1x3xf32=0"], 2);
    assert!(unknown.contains("the model has no input 'y', its inputs are 'x' (?x3xf32)"), "{unknown}");
    let wrong = errors(&["run", model, "-i", "x=1x2xf32=0"], 1);
    assert!(wrong.contains("declares input 'x' as ?x3xf32, and a tensor"), "{wrong}");
    assert!(wrong.contains("node 'dense' (MatMul) of layer.onnx"), "{wrong}");
    assert!(!wrong.contains("layer.onnx:0"), "{wrong}");
    let kind = errors(&["run", model, "-i", "x=1x3xf64=0"], 1);
    let expected = "input 'x' (?x3xf32): its elements must be of type f32, and those given are of type f64";
    assert!(kind.contains(expected) && !kind.contains("MatMul"), "{kind}");
    let surplus = errors(&["run", model, "-i", "x=1x3xf32=0", "-i", "z=1x3xf32=0"], 2);
    assert!(surplus.contains("the model has no input 'z'"), "{surplus}");
    let twice = errors(&["run", model, "-i", "x=1x3xf32=0", "-i", "x=1x3xf32=0"], 2);
    assert!(twice.contains("input 'x' (?x3xf32) is given twice"), "{twice}");
    let dimension = errors(&["run", model, "-i", "x=1x3xf32=0", "--input-shape", "bacth=1"], 1);
    let expected = "no named dimension 'bacth'; inputs: 'x' (?x3xf32); named dimensions: 'batch'";
    assert!(dimension.contains(expected), "{dimension}");
    let shape = errors(&["run", model, "--input-shape", "x=1x7"], 1);
    assert!(shape.contains("node 'dense' (MatMul) of layer.onnx"), "{shape}");
}

#[test]
fn a_compiled_model_brings_its_weights_along() {
    let folder = tempfile::tempdir().expect("a folder");
    let [program, weights, other] =
        ["model.bef", "model.safetensors", "other.bef"].map(|name| folder.path().join(name));
    let (model, text) = (model(), |path: &PathBuf| path.to_str().expect("a path").to_owned());
    output(&["compile", &text(&model), "-o", &text(&program)]);
    let run = ["run", &text(&program), "-i", "x=1x3xf32=[0,-1,1]"].map(str::to_owned);
    let run: Vec<&str> = run.iter().map(String::as_str).collect();
    assert_eq!(output(&run), output(&["run", &text(&model), "-i", "x=1x3xf32=[0,-1,1]"]));
    // Another program's weights are not taken for its own.
    output(&["compile", &text(&model), "--input-shape", "batch=1", "-o", &text(&other)]);
    fs::copy(other.with_extension("safetensors"), &weights).expect("a copy");
    let wrong = errors(&run, 1);
    assert!(wrong.contains("they were written for another program"), "{wrong}");
    fs::remove_file(&weights).expect("removed");
    let missing = errors(&run, 1);
    assert!(missing.contains("its weights are not loaded"), "{missing}");
}

#[test]
fn inputs_that_are_not_given_are_random_when_measuring() {
    let model = model();
    let figures =
        output(&["bench", model.to_str().expect("a path"), "--calls", "2", "--input-shape", "batch=8"]);
    assert!(figures.contains("of 2 calls"), "{figures}");
}

#[test]
fn measuring_keeps_calls_in_flight_and_shows_where_time_goes() {
    let model = model();
    let path = model.to_str().expect("a path");
    let shape = ["--input-shape", "batch=8", "--calls", "20", "--json", "--profile"];
    let text = output(&[&["bench", path, "--concurrency", "3"][..], &shape].concat());
    let figures: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(figures["calls"], 20);
    let profile = figures["profile"].as_array().expect("a list");
    let product = profile.iter().find(|row| row["name"] == "tfrt.FusedConv2D").expect("the op is listed");
    assert!(product["us"].as_f64() > Some(0.) && product["count"] == 1.0, "{product}");
    assert!(product["place"].as_str().is_some_and(|place| place.contains("layer.onnx")), "{product}");
}

#[test]
fn measuring_launches_graphs_and_makes_calls_ahead_of_their_results() {
    let model = model();
    let path = model.to_str().expect("a path");
    let bench = ["bench", path, "--input-shape", "batch=8", "--calls", "12", "--warm-up", "0", "--json"];
    let measured = |options: &[&str]| {
        let text = output(&[&bench[..], options].concat());
        let figures: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        figures["calls"].clone()
    };
    for graph in [&["--device", "cpu"][..], &["--device", "cpu", "--graph"]] {
        assert_eq!(measured(graph), 12, "{graph:?}");
        assert_eq!(measured(&[graph, &["--pipeline", "--concurrency", "4"]].concat()), 12, "{graph:?}");
    }
    // One launch of the graph a call, and its results.
    let run = ["run", path, "--input-shape", "batch=8", "-i", "x=8x3xf32=random(1)", "--device", "cpu"];
    assert_eq!(output(&[&run[..], &["--graph"]].concat()), output(&run));
    let profile = output(&[&bench[..8], &["--device", "cpu", "--graph", "--profile"]].concat());
    assert!(profile.contains("tfrt_cuda.graph.launch"), "{profile}");
}

#[test]
fn each_step_of_the_compiler_can_be_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().join("graph.mlir");
    let (model, text) = (model(), text.to_str().expect("a path"));
    let model = model.to_str().expect("a path");
    let imported = output(&["compile", model, "--stop-after=import"]);
    assert!(imported.contains(r#"(%arg0: tensor<?x3xf32> {name = "x"})"#), "{imported}");
    assert!(imported.contains("tf.BiasAdd") || imported.contains("tf.AddV2"), "{imported}");
    let lowered = output(&["compile", model, "--stop-after=lower"]);
    assert!(lowered.contains("corert.executeop") && lowered.contains("tfrt.FusedConv2D"), "{lowered}");
    // What a file holds is complete: the other passes run over it.
    output(&["compile", model, "--stop-after=import", "-o", text]);
    let fused = output(&["opt", "--fold-scales", "--fuse-products", text]);
    assert!(fused.contains("tfrt.FusedConv2D"), "{fused}");
    let program = folder.path().join("model.bef");
    let program = program.to_str().expect("a path");
    let run = tfrt(&["compile", model, "-o", program, "--print-ir-after=fuse-products", "--timing"]);
    let log = String::from_utf8(run.stderr).expect("text");
    for shown in ["// After fuse-products", "tfrt.FusedConv2D", "import: ", "passes: ", "  fuse-products: "] {
        assert!(log.contains(shown), "{shown}: {log}");
    }
    let wrong = errors(&["compile", model, "--stop-after=nothing"], 2);
    assert!(wrong.contains("the steps are import, outline-regions"), "{wrong}");
}

#[test]
fn a_model_is_described_with_its_arithmetic_and_memory() {
    let model = model();
    let model = model.to_str().expect("a path");
    let text = output(&["inspect", model]);
    for shown in [
        "operator sets ai.onnx 17",
        "x: batch x 3 x f32",
        "y: batch x 40 x f32",
        "MatMul",
        "parameters: 160 (640 B)",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    assert!(text.contains("1 ops of unknown shapes; set them with --input-shape"), "{text}");
    let json = output(&["inspect", model, "--input-shape", "batch=2", "--json"]);
    // Two rows of 40 sums of three products.
    for shown in [r#""flops": 480"#, r#""peak_bytes": 320"#, r#""unknown_shapes": 0"#, r#""MatMul": 1"#] {
        assert!(json.contains(shown), "{shown}: {json}");
    }
    let picture = output(&["inspect", model, "--graph", "dot"]);
    assert!(picture.contains("tfrt.FusedConv2D") && picture.contains("\\\"w\\\""), "{picture}");
}

#[test]
fn a_compiled_model_is_described_with_its_weights() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("model.bef");
    let (model, program) = (model(), program.to_str().expect("a path"));
    output(&["compile", model.to_str().expect("a path"), "-o", program]);
    let text = output(&["inspect", program]);
    for shown in
        ["compiled from a model", "x: ?x3xf32", "tfrt.FusedConv2D", "parameters: 120 (480 B)", "sections"]
    {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    assert!(output(&["inspect", program, "--json"]).contains(r#""parameter_bytes": 480"#));
}

#[test]
fn unsupported_models_in_a_folder_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("inner")).expect("a folder");
    fs::copy(model(), folder.path().join("inner/fine.onnx")).expect("a copy");
    fs::write(folder.path().join("broken.onnx"), b"no model").expect("a file");
    let odd = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/unsupported.onnx");
    fs::copy(odd, folder.path().join("odd.onnx")).expect("a copy");
    let path = folder.path().to_str().expect("a path");
    let text = output(&["inspect", "--unsupported", path]);
    for shown in [
        "node 'odd' (Frobnicate, ai.onnx 17): unsupported op 'Frobnicate'",
        "node 'other' (Quux, com.example 1): unsupported op 'Quux'",
        "node 'product' (MatMul, ai.onnx 17): ",
        "broken.onnx",
        "ai.onnx MatMul: 1 nodes of 1 models",
        "1 of 3 models can be imported",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    let json = output(&["inspect", "--unsupported", path, "--json"]);
    assert!(json.contains(r#""op": "Quux""#), "{json}");
}

#[test]
fn random_inputs_are_the_same_for_the_same_seed() {
    let model = model();
    let model = model.to_str().expect("a path");
    let run = |input: &str| output(&["run", model, "-i", input, "--json"]);
    assert_eq!(run("x=2x3xf32=random(5)"), run("2x3xf32=random(5)"));
    assert_ne!(run("x=2x3xf32=random(5)"), run("x=2x3xf32=random(6)"));
    // Without a type, the input's own is used, with 1 in the place of extents that are not known.
    assert_eq!(run("x=random(5)"), run("x=1x3xf32=random(5)"));
    let wrong = errors(&["run", model, "-i", "x=random"], 2);
    assert!(wrong.contains("random numbers are written as random(SEED)"), "{wrong}");
}

#[test]
fn renamed_weights_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let [program, weights, moved] =
        ["model.bef", "model.safetensors", "moved"].map(|name| folder.path().join(name));
    let text = |path: &PathBuf| path.to_str().expect("a path").to_owned();
    output(&["compile", &text(&model()), "-o", &text(&program)]);
    let run = ["run", &text(&program), "-i", "x=random(1)"].map(str::to_owned);
    let run: Vec<&str> = run.iter().map(String::as_str).collect();
    let expected = output(&run);
    fs::rename(&weights, &moved).expect("renamed");
    assert_eq!(output(&[&run[..], &["--weights", &text(&moved)]].concat()), expected);
    let missing = errors(&[&run[..], &["--weights", &text(&weights)]].concat(), 1);
    assert!(missing.contains("model.safetensors"), "{missing}");
    // The shapes of a program are what it was compiled for.
    let shape = errors(&[&run[..], &["--input-shape", "batch=2"]].concat(), 2);
    assert!(shape.contains("--input-shape is for models"), "{shape}");
}

#[test]
fn a_model_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("model.onnx");
    fs::copy(model(), &copy).expect("a copy");
    let copy = copy.to_str().expect("a path");
    let refused = errors(&["compile", copy, "-o", copy], 2);
    assert!(refused.contains("write FILE.bef or FILE.mlir"), "{refused}");
    output(&["compile", copy, "--stop-after=import", "-o", &format!("{copy}.txt")]);
}

#[test]
fn shapes_that_a_model_leaves_open_are_those_of_its_inputs() {
    let open = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/models/open_rank.onnx");
    let open = open.to_str().expect("a path");
    for input in ["x=1x2x2xf32=[1,2,3,4]", "1x2x2xf32=[1,2,3,4]"] {
        assert_eq!(output(&["run", open, "-i", input]), "y: 1x4xf32 = [1, 2, 3, 4]\n");
    }
    let unknown = errors(&["run", open, "-i", "x=random(1)"], 1);
    assert!(unknown.contains("node 'flat'"), "{unknown}");
}

#[test]
fn changed_weights_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let [program, weights] = ["model.bef", "model.safetensors"].map(|name| folder.path().join(name));
    let text = |path: &PathBuf| path.to_str().expect("a path").to_owned();
    output(&["compile", &text(&model()), "-o", &text(&program)]);
    let (program, run) = (text(&program), ["-i", "x=random(1)"]);
    output(&["run", &program, run[0], run[1], "--verify-weights"]);
    let original = fs::read(&weights).expect("the weights");
    let mut changed = original.clone();
    *changed.last_mut().expect("a byte") ^= 1;
    fs::write(&weights, &changed).expect("written");
    let wrong = errors(&["run", &program, run[0], run[1]], 1);
    assert!(wrong.contains("their elements have changed"), "{wrong}");
    // A weight of another name is another weight.
    let at = original.windows(3).position(|bytes| bytes == b"\"w.").expect("the name");
    let mut renamed = original;
    renamed[at + 1] = b'v';
    fs::write(&weights, &renamed).expect("written");
    let wrong = errors(&["run", &program, run[0], run[1]], 1);
    assert!(wrong.contains("their names or types have changed"), "{wrong}");
}

#[test]
fn ops_that_a_device_lacks_are_named_on_request() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/determinant.onnx");
    let model = model.to_str().expect("a path");
    let run = tfrt(&["run", model, "-i", "x=random(1)", "--device=cpu", "-v"]);
    let log = String::from_utf8(run.stderr).expect("text");
    assert!(run.status.success(), "{log}");
    let line =
        "onnx.Det has no form for devices and runs in host memory: 1 calls, first node 'determinants' (Det)";
    assert!(log.contains(line), "{log}");
    assert_eq!(errors_of_success(&["run", model, "-i", "x=random(1)", "--device=cpu"]), "");
}

fn errors_of_success(arguments: &[&str]) -> String {
    let output = tfrt(arguments);
    assert!(output.status.success());
    String::from_utf8(output.stderr).expect("text")
}
