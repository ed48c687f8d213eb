//! Models that nobody should write: nodes of every op with odd inputs and attributes, and files
//! with changed bytes. Each is an error or an op graph that is well formed; none ends the process
//! or takes long.
//!
//! `TFRT_HOSTILE_ROUNDS` makes the tests run longer than the default.

use std::path::Path;

use prost::Message;

use super::{
    proto::{AttributeProto, AttributeType, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto},
    read_bytes,
    schemas::SCHEMAS,
    tests::{floats, graph_of, host, model, node},
};
use crate::{
    Evaluator,
    import::{
        ImportOptions,
        hostile::{Random, check, rounds},
    },
};

fn try_import(bytes: &[u8], evaluator: &Evaluator) -> Result<bool, String> {
    check(evaluator, || read_bytes("in.onnx", bytes, &ImportOptions::default(), evaluator))
}

const NUMBERS: &[i64] =
    &[i64::MIN, i64::MAX, -(1 << 40), 1 << 40, 1 << 31, -3, -2, -1, 0, 1, 2, 3, 4, 7, 9, 10, 16];
const NAMES: &[&str] = &[
    "axis",
    "axes",
    "keepdims",
    "perm",
    "pads",
    "kernel_shape",
    "strides",
    "dilations",
    "group",
    "to",
    "blocksize",
    "num_outputs",
    "split",
    "new_axis",
    "hidden_size",
    "direction",
    "mode",
    "dtype",
    "shape",
    "value",
    "k",
    "largest",
    "sorted",
    "batch_dims",
    "start",
    "end",
    "exclusive",
    "reverse",
    "ceil_mode",
    "auto_pad",
    "output_shape",
    "output_padding",
    "output_height",
    "output_width",
    "sampling_ratio",
    "num_heads",
    "kv_num_heads",
    "q_num_heads",
    "block_size",
    "size",
    "equation",
    "epsilon",
    "alpha",
    "beta",
    "bias",
    "lambd",
    "depth",
    "num_scan_inputs",
    "scan_input_axes",
    "fmod",
    "transA",
    "transB",
    "starts",
    "ends",
    "time_axis",
    "batch_axis",
    "p",
    "allowzero",
    "coordinate_transformation_mode",
    "nearest_mode",
    "onesided",
    "seed",
    "sample_size",
    "layout",
    "keepdims",
];
const TEXTS: &[&str] = &[
    "",
    "linear",
    "constant",
    "SAME_UPPER",
    "VALID",
    "bidirectional",
    "cubic",
    "ij,jk->ik",
    "...i->i",
    "->",
    "é",
    "DCR",
];

fn attribute(random: &mut Random) -> AttributeProto {
    let name = random.choose(NAMES).to_owned();
    let numbers =
        |random: &mut Random| (0..random.below(7)).map(|_| random.choose(NUMBERS)).collect::<Vec<_>>();
    let plain = AttributeProto { name, ..AttributeProto::default() };
    match random.below(5) {
        0 | 1 => AttributeProto { i: random.choose(NUMBERS), r#type: AttributeType::Int as i32, ..plain },
        2 => AttributeProto { ints: numbers(random), r#type: AttributeType::Ints as i32, ..plain },
        3 => {
            let text = random.choose(TEXTS).as_bytes();
            AttributeProto { s: text.into(), r#type: AttributeType::String as i32, ..plain }
        }
        _ => {
            let f = random.choose(&[f32::NAN, f32::INFINITY, -1.0, 0.0, 1e30, 0.5]);
            AttributeProto { f, r#type: AttributeType::Float as i32, ..plain }
        }
    }
}

/// Constants of odd shapes and elements.
fn constants(random: &mut Random) -> Vec<TensorProto> {
    let integers = |name: &str, dims: Vec<i64>, count: usize, random: &mut Random| TensorProto {
        name: name.to_owned(),
        dims,
        data_type: 7,
        int64_data: (0..count).map(|_| random.choose(NUMBERS)).collect(),
        ..TensorProto::default()
    };
    let count = random.below(6);
    vec![
        integers("i0", vec![], 1, random),
        integers("i1", vec![count as i64], count, random),
        integers("i2", vec![2, 2], 4, random),
        floats("f1", &[1.0, f32::NAN, -3.0, 1e30]),
        TensorProto { dims: vec![0, 3], ..floats("f2", &[]) },
        TensorProto { dims: vec![2, 1, 2, 2], ..floats("f4", &[1.0; 8]) },
        TensorProto { dims: vec![], ..floats("f0", &[2.0]) },
    ]
}

/// A model of a few nodes.
fn odd_model(op: &str, random: &mut Random) -> ModelProto {
    let initializer = constants(random);
    let mut names: Vec<String> = initializer.iter().map(|tensor| tensor.name.clone()).collect();
    names.extend(["x".to_owned(), "a".to_owned(), String::new()]);
    // What the odd node takes and gives is fine, so that the model is refused only for the node
    // itself.
    let first = random.choose(&["Identity", "Shape", "SequenceConstruct", "Relu"]);
    let mut nodes = vec![node(first, &["x"], &["a"])];
    let random_node = |op: &str, outputs: &[&str], random: &mut Random| {
        let inputs: Vec<_> = (0..random.below(6)).map(|_| names[random.below(names.len())].clone()).collect();
        let attribute = (0..random.below(5)).map(|_| attribute(random)).collect();
        let body = graph_of(vec![node("Identity", &[random.choose(&["x", "i0", "f4"])], &["y"])], vec![]);
        let mut made = NodeProto { input: inputs, attribute, ..node(op, &[], outputs) };
        for name in ["body", "then_branch", "else_branch"] {
            made.attribute.push(AttributeProto {
                name: name.to_owned(),
                g: Some(Box::new(GraphProto { input: vec![], ..body.clone() })),
                r#type: AttributeType::Graph as i32,
                ..AttributeProto::default()
            });
        }
        made
    };
    nodes.push(random_node(op, &["b", "c"], random));
    nodes.push(node("Identity", &["x"], &["y"]));
    let mut made = model(graph_of(nodes, initializer));
    made.opset_import[0].version = random.choose(&[6, 9, 11, 13, 17, 21, 27]);
    made
}

#[test]
fn nodes_of_every_op_with_odd_inputs_are_errors_or_imported() {
    let evaluator = Evaluator::new(&host()).unwrap();
    let (mut findings, mut imported) = (Vec::new(), 0);
    for round in 0..rounds(2) {
        for (number, (op, _)) in SCHEMAS.iter().enumerate() {
            let seed = (round * SCHEMAS.len() + number) as u64;
            let made = odd_model(op, &mut Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
            match try_import(&made.encode_to_vec(), &evaluator) {
                Ok(is_imported) => imported += usize::from(is_imported),
                Err(finding) => findings.push(format!("{op}, seed {seed}: {finding}")),
            }
        }
    }
    findings.dedup_by_key(|finding| finding.split(", seed").next().unwrap_or_default().to_owned());
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    assert!(imported > 0, "every model is refused, so that nothing is tested");
}

#[test]
fn files_with_changed_bytes_are_errors_or_imported() {
    let evaluator = Evaluator::new(&host()).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/models");
    let mut files: Vec<Vec<u8>> = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "onnx") {
            files.push(std::fs::read(path).unwrap());
        }
    }
    for seed in 0..200 {
        files.push(odd_model("If", &mut Random(seed)).encode_to_vec());
    }
    let mut imported = 0;
    for round in 0..rounds(2) {
        for (number, file) in files.iter().enumerate() {
            let mut random = Random((round * files.len() + number) as u64 + 77);
            let bytes = random.damaged(file);
            match try_import(&bytes, &evaluator) {
                Ok(is_imported) => imported += usize::from(is_imported),
                Err(finding) => panic!("file {number}, round {round}: {finding}"),
            }
        }
    }
    assert!(imported > 0, "every file is refused, so that nothing is tested");
}

/// A call of a model's own function.
fn call(name: &str, input: &str, output: &str) -> NodeProto {
    NodeProto { domain: "my".to_owned(), ..node(name, &[input], &[output]) }
}

/// Returns what is wrong with a model that calls the first of some functions.
fn errors_of_functions(functions: impl IntoIterator<Item = (String, Vec<NodeProto>)>) -> String {
    let function = |(name, node)| FunctionProto {
        name,
        domain: "my".to_owned(),
        input: vec!["x".to_owned()],
        output: vec!["y".to_owned()],
        node,
        ..FunctionProto::default()
    };
    let functions: Vec<_> = functions.into_iter().map(function).collect();
    let first = call(&functions[0].name, "x", "y");
    let made = ModelProto { functions, ..model(graph_of(vec![first], vec![])) };
    let evaluator = Evaluator::new(&host()).unwrap();
    let imported = read_bytes("in.onnx", &made.encode_to_vec(), &ImportOptions::default(), &evaluator);
    imported.unwrap_err().to_string()
}

#[test]
fn a_function_that_calls_itself_is_an_error() {
    let errors = errors_of_functions([("Again".to_owned(), vec![call("Again", "x", "y")])]);
    assert!(errors.contains("nest deeper than"), "{errors}");
}

/// Each function calls the next one twice, so that the nodes double from one to the next.
#[test]
fn functions_that_stand_for_too_many_nodes_are_an_error() {
    let twice = |at: usize| {
        let next = format!("F{}", at + 1);
        (format!("F{at}"), vec![call(&next, "x", "a"), call(&next, "a", "y")])
    };
    let last = ("F31".to_owned(), vec![node("Relu", &["x"], &["y"])]);
    let errors = errors_of_functions((0..31).map(twice).chain([last]));
    assert!(errors.contains("stand for more than"), "{errors}");
}
