//! Graphs, SavedModels and checkpoints with changed bytes, and control flow of the first version
//! that nobody should write. Each is an error or an op graph that is well formed; none ends the
//! process or takes long.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{find_unsupported, read, read_bytes};
use crate::{
    Evaluator,
    evaluate::test_host,
    import::{
        ImportOptions,
        hostile::{Random, check, rounds},
    },
};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/tensorflow/cases")
}

/// The files below a folder that are not larger than most.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
    found.sort();
}

#[test]
fn graphs_with_changed_bytes_are_errors_or_imported() {
    let evaluator = Evaluator::new(&test_host()).unwrap();
    let mut paths = Vec::new();
    files(&cases(), &mut paths);
    paths.retain(|path| path.file_stem().is_some_and(|stem| stem == "graph"));
    assert!(!paths.is_empty());
    let (mut imported, mut random) = (0, Random(7));
    for round in 0..rounds(12) {
        for path in &paths {
            let name = path.file_name().unwrap().to_str().unwrap();
            let bytes = random.damaged(&fs::read(path).unwrap());
            let found = check(&evaluator, || read_bytes(name, &bytes, &ImportOptions::default(), &evaluator));
            imported +=
                usize::from(found.unwrap_or_else(|why| panic!("{}, round {round}: {why}", path.display())));
        }
    }
    assert!(imported > 0, "every graph is refused, so that nothing is tested");
}

#[test]
fn saved_models_with_changed_files_are_errors_or_imported() {
    let evaluator = Evaluator::new(&test_host()).unwrap();
    let (mut imported, mut random) = (0, Random(11));
    for case in ["first_variables", "saved_state", "saved_table"] {
        let model = cases().join(case).join("saved_model");
        let mut paths = Vec::new();
        files(&model, &mut paths);
        let copy = tempfile::tempdir().unwrap();
        for path in &paths {
            let to = copy.path().join(path.strip_prefix(&model).unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(path, to).unwrap();
        }
        for round in 0..rounds(6) {
            for path in &paths {
                let to = copy.path().join(path.strip_prefix(&model).unwrap());
                let bytes = fs::read(path).unwrap();
                if bytes.is_empty() {
                    continue;
                }
                fs::write(&to, random.damaged(&bytes)).unwrap();
                let found = check(&evaluator, || read(copy.path(), &ImportOptions::default(), &evaluator));
                imported += usize::from(
                    found.unwrap_or_else(|why| panic!("{}, round {round}: {why}", path.display())),
                );
                fs::write(&to, &bytes).unwrap();
            }
        }
    }
    assert!(imported > 0, "every model is refused, so that nothing is tested");
}

/// A node in the text form. Inputs are separated by spaces.
fn node(name: &str, op: &str, inputs: &str, attributes: &str) -> String {
    let inputs: String = inputs.split_whitespace().map(|input| format!(" input: \"{input}\"")).collect();
    format!("node {{ name: \"{name}\" op: \"{op}\"{inputs} {attributes} }}\n")
}

fn attr(name: &str, value: &str) -> String {
    format!("attr {{ key: \"{name}\" value {{ {value} }} }} ")
}

/// A graph of random nodes of control flow, in any order and with any edges.
fn odd_graph(random: &mut Random) -> String {
    let float = attr("dtype", "type: DT_FLOAT");
    let value = attr("value", "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 1.5 }");
    let truth = attr("value", "tensor { dtype: DT_BOOL tensor_shape { } bool_val: true }");
    let mut names = vec!["x".to_owned(), "p".to_owned(), "c".to_owned(), "t".to_owned()];
    let mut text = node("x", "Placeholder", "", &float)
        + &node("p", "Placeholder", "", &(attr("dtype", "type: DT_BOOL") + &attr("shape", "shape { }")))
        + &node("c", "Const", "", &(float + &value))
        + &node("t", "Const", "", &(attr("dtype", "type: DT_BOOL") + &truth));
    let count = 3 + random.below(9);
    for number in 0..count {
        names.push(format!("n{number}"));
    }
    // Nodes of two outputs.
    let mut splits = Vec::new();
    for number in 0..count {
        let op = random.choose(&[
            "Switch",
            "Switch",
            "Merge",
            "Merge",
            "Enter",
            "Exit",
            "NextIteration",
            "LoopCond",
            "Identity",
            "AddV2",
            "NoOp",
            "ControlTrigger",
            "Less",
            "_SwitchN",
            "VariableV2",
            "Assign",
            "TensorArrayV3",
            "TensorArrayWriteV3",
            "TensorArrayGradV3",
            "StackV2",
            "StackPushV2",
            "StackPopV2",
        ]);
        if matches!(op, "Merge" | "Switch") {
            splits.push(format!("n{number}"));
        }
        // Mostly as many as the op takes, which is refused with fewer.
        let fewest = match op {
            "AddV2" | "Assign" | "Less" | "Switch" | "_SwitchN" => 2,
            "Enter" | "Exit" | "Identity" | "LoopCond" | "Merge" | "NextIteration" => 1,
            _ => 0,
        };
        let fewest = if random.below(8) == 0 { 0 } else { fewest };
        let mut inputs = String::new();
        for place in 0..random.below(4).max(fewest) {
            // Mostly what stands before it, as in graphs that are right.
            let bound = if random.below(6) == 0 { names.len() } else { 4 + number };
            let mut name = names[random.below(bound)].clone();
            if place == 1 && op == "Switch" && random.below(3) > 0 {
                name = random.choose(&["p", "t"]).to_owned();
            }
            let suffix = match (splits.contains(&name), random.below(24)) {
                (_, 0) => ":2",
                (true, _) => random.choose(&["", ":1"]),
                (false, _) => "",
            };
            inputs += &match random.below(8) {
                0 if place >= fewest => format!("^{name} "),
                _ => format!("{name}{suffix} "),
            };
        }
        let attributes = attr("frame_name", "s: \"f\"")
            + &attr("is_constant", random.choose(&["b: true", "b: false"]))
            + &attr("num_outs", random.choose(&["i: 2", "i: 0", "i: -1", "i: 9999999999"]))
            + &attr("dtype", "type: DT_FLOAT");
        text += &node(&format!("n{number}"), op, &inputs, &attributes);
    }
    text
}

#[test]
fn control_flow_that_makes_no_sense_is_an_error_or_imported() {
    let evaluator = Evaluator::new(&test_host()).unwrap();
    let mut imported = 0;
    for seed in 0..rounds(1) * 2000 {
        let text = odd_graph(&mut Random(seed as u64 * 7919 + 3));
        let found = check(&evaluator, || {
            read_bytes("in.pbtxt", text.as_bytes(), &ImportOptions::default(), &evaluator)
        });
        imported += usize::from(found.unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}")));
    }
    assert!(imported > 20, "{imported} graphs are imported, so that nearly nothing is tested");
}

#[test]
fn volumes_of_any_size_take_no_memory() {
    let sizes = "tensor { dtype: DT_INT32 tensor_shape { dim { size: 5 } } int_val: 1 }";
    let shape = "shape { dim { size: 1 } dim { size: 1 } dim { size: 1 } dim { size: 1 } dim { size: 1 } }";
    let list = |window: i64| format!("list {{ i: 1 i: {window} i: {window} i: {window} i: 1 }}");
    for window in [1 << 20, 1 << 40, -1] {
        let text = node("s", "Const", "", &(attr("dtype", "type: DT_INT32") + &attr("value", sizes)))
            + &node("g", "Placeholder", "", &(attr("dtype", "type: DT_FLOAT") + &attr("shape", shape)))
            + &node(
                "y",
                "AvgPool3DGrad",
                "s g",
                &(attr("ksize", &list(window))
                    + &attr("strides", &list(1))
                    + &attr("padding", "s: \"SAME\"")),
            );
        let errors = errors(&text);
        assert!(errors.contains("too large") || errors.contains("is not supported"), "{window}: {errors}");
    }
}

#[test]
fn too_few_inputs_are_an_error_of_the_node() {
    let float = attr("dtype", "type: DT_FLOAT");
    for op in ["Pad", "PadV2", "Squeeze", "Mean"] {
        let text = node("x", "Placeholder", "", &float) + &node("y", op, "", &attr("T", "type: DT_FLOAT"));
        let errors = errors(&text);
        assert!(errors.contains("argument") || errors.contains("input"), "{op}: {errors}");
        assert!(errors.contains("'y'"), "{op}: {errors}");
    }
}

/// The errors of a graph.
fn errors(text: &str) -> String {
    let evaluator = Evaluator::new(&test_host()).unwrap();
    read_bytes("in.pbtxt", text.as_bytes(), &ImportOptions::default(), &evaluator).unwrap_err().to_string()
}

#[test]
fn errors_of_control_flow_name_the_node() {
    let x = node("x", "Placeholder", "", &attr("dtype", "type: DT_FLOAT"));
    let p = node("p", "Placeholder", "", &attr("dtype", "type: DT_BOOL"));
    let lonely =
        node("m", "Merge", "n", "") + &node("n", "NextIteration", "m", "") + &node("y", "Identity", "m", "");
    let error = errors(&(x.clone() + &lonely));
    assert!(error.contains("node 'm' (Merge)") && error.contains("nothing enters the loop"), "{error}");
    let assigned = node("v", "VariableV2", "", "")
        + &node("s", "Switch", "x p", "")
        + &node("a", "Assign", "v s:1", "")
        + &node("r", "Switch", "a p", "")
        + &node("y", "Identity", "r", "");
    let error = errors(&(x.clone() + &p + &assigned));
    assert!(error.contains("variable 'v' is assigned under control flow"), "{error}");
    let received = node("r", "_Recv", "", &attr("tensor_name", "s: \"edge\""));
    let error = errors(&(x + &received));
    assert!(error.contains("nothing in the graph sends 'edge'"), "{error}");
}

#[test]
fn one_value_may_be_carried_to_two_merges() {
    let evaluator = Evaluator::new(&test_host()).unwrap();
    let float = attr("T", "type: DT_FLOAT");
    let enter = |name: &str, input: &str, dtype: &str| {
        let frame = attr("frame_name", "s: \"loop\"");
        node(name, "Enter", input, &(attr("T", &format!("type: {dtype}")) + &frame))
    };
    let graph = node("x", "Placeholder", "", &attr("dtype", "type: DT_FLOAT"))
        + &node("p", "Placeholder", "", &attr("dtype", "type: DT_BOOL"))
        + &enter("e1", "x", "DT_FLOAT")
        + &enter("e2", "x", "DT_FLOAT")
        + &enter("ep", "p", "DT_BOOL")
        + &node("m1", "Merge", "e1 n", &float)
        + &node("m2", "Merge", "e2 n", &float)
        + &node("c", "LoopCond", "ep", "")
        + &node("s1", "Switch", "m1 c", &float)
        + &node("s2", "Switch", "m2 c", &float)
        + &node("sum", "AddV2", "s1:1 s2:1", &float)
        + &node("n", "NextIteration", "sum", &float)
        + &node("y1", "Exit", "s1", &float)
        + &node("y2", "Exit", "s2", &float);
    let imported = || read_bytes("in.pbtxt", graph.as_bytes(), &ImportOptions::default(), &evaluator);
    assert_eq!(check(&evaluator, imported), Ok(true));
}

#[test]
fn all_nodes_that_cannot_be_imported_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.pbtxt");
    let x = node("x", "Placeholder", "", &attr("dtype", "type: DT_FLOAT"));
    fs::write(&path, x + &node("a", "NoSuchOp", "x", "") + &node("b", "NorThis", "x", "")).unwrap();
    let evaluator = Evaluator::new(&test_host()).unwrap();
    let found = find_unsupported(&path, &ImportOptions::default(), &evaluator).unwrap();
    let found: Vec<_> = found.iter().map(|found| (found.node.as_str(), found.op.as_str())).collect();
    assert_eq!(found, [("a", "NoSuchOp"), ("b", "NorThis")]);
    let transfer = cases().join("transfer/graph.pbtxt");
    assert_eq!(find_unsupported(&transfer, &ImportOptions::default(), &evaluator).unwrap(), []);
}

#[test]
fn an_output_that_does_not_exist_is_answered_by_those_that_do() {
    let x = node("x", "Placeholder", "", &attr("dtype", "type: DT_FLOAT"));
    let text = x + &node("a", "Neg", "x", "") + &node("b", "Abs", "a", "") + &node("c", "Sign", "a", "");
    let evaluator = Evaluator::new(&test_host()).unwrap();
    let options = ImportOptions { outputs: vec!["y".to_owned()], ..ImportOptions::default() };
    let error = read_bytes("in.pbtxt", text.as_bytes(), &options, &evaluator).unwrap_err().to_string();
    assert!(error.contains("the graph has no tensor 'y'; its outputs are 'b', 'c'"), "{error}");
}

#[test]
fn every_output_of_a_called_function_is_an_output() {
    let outputs = "output_arg { name: \"a\" type: DT_FLOAT } output_arg { name: \"b\" type: DT_FLOAT } }";
    let ret = |name: &str| format!("ret {{ key: \"{name}\" value: \"{name}:y:0\" }} ");
    let body = inner("a", "Neg", "x") + &inner("b", "Abs", "x") + &ret("a") + &ret("b");
    let float = attr("dtype", "type: DT_FLOAT");
    let text = node("x", "Placeholder", "", &float)
        + &node("y", "f", "x", "")
        + &function(&(outputs.to_owned() + &body));
    let evaluator = Evaluator::new(&test_host()).unwrap();
    let (graph, _) = read_bytes("in.pbtxt", text.as_bytes(), &ImportOptions::default(), &evaluator).unwrap();
    let names: Vec<_> = graph.outputs.iter().map(|port| port.name.as_str()).collect();
    assert_eq!(names, ["y:0", "y:1"]);
}

#[test]
fn constants_that_do_not_fit_memory_are_errors() {
    let huge = attr("dtype", "type: DT_FLOAT")
        + &attr(
            "value",
            "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 99999999999 } } float_val: 1.0 }",
        );
    let error = errors(&(node("c", "Const", "", &huge) + &node("y", "Neg", "c", "")));
    assert!(error.contains("node 'c' (Const)") && error.contains("do not fit memory"), "{error}");
}

/// A function named `f` of one argument `x`, with what else is given.
fn function(rest: &str) -> String {
    let signature = "signature { name: \"f\" input_arg { name: \"x\" type: DT_FLOAT }";
    format!("library {{ function {{ {signature} {rest} }} }}\n")
}

/// A node of a function.
fn inner(name: &str, op: &str, inputs: &str) -> String {
    node(name, op, inputs, "").replacen("node", "node_def", 1)
}

#[test]
fn faults_of_functions_that_nothing_calls_are_errors() {
    let y = "output_arg { name: \"y\" type: DT_FLOAT } }";
    let ret = |source: &str| format!("ret {{ key: \"y\" value: \"{source}\" }}");
    let given = |nodes: &str, source: &str| y.to_owned() + nodes + &ret(source);
    let neg = inner("a", "Neg", "x");
    let control = "output_arg { name: \"y\" type: DT_FLOAT } control_output: \"c\" }";
    let data = "output_arg { name: \"y\" type: DT_RESOURCE handle_data { } } }";
    let cases = [
        (given(&inner("a", "", "x"), "a:y"), "the node has no op"),
        (given(&inner("x", "Neg", "x"), "x:y"), "two of its arguments and nodes have the name 'x'"),
        (given(&(neg.clone() + &neg), "a:y"), "two of its arguments and nodes have the name 'a'"),
        (given(&inner("a", "Neg", "b:y:0"), "a:y"), "its input 'b:y:0' does not exist"),
        (given(&inner("a", "Neg", "x ^b"), "a:y"), "its input '^b' does not exist"),
        (given(&inner("a", "Neg", "x:y:99999999999"), "a:y"), "its input 'x:y:99999999999' does not exist"),
        (given(&node("a", "Neg", "x", &attr("", "i: 1")).replacen("node", "node_def", 1), "a:y"), "no name"),
        (given(&neg, ""), "its output 'y' is '', which does not exist"),
        (given(&neg, "b:y"), "its output 'y' is 'b:y', which does not exist"),
        (y.to_owned() + &neg, "its output 'y' is not given"),
        (control.to_owned() + &neg + &ret("a:y"), "its control output 'c' is not given"),
        (given(&neg, "a:y") + &attr("", "i: 1"), "one of its attributes has no name"),
        (data.to_owned() + &neg + &ret("a:y"), "the resource 'y' holds tensors of no type"),
    ];
    let x = node("x", "Placeholder", "", &attr("dtype", "type: DT_FLOAT")) + &node("y", "Neg", "x", "");
    assert!(errors(&(x.clone() + &function("}").replace("\"f\"", "\"\""))).contains("has no name"));
    let twice = function("}") + &function(&("}".to_owned() + &neg));
    assert!(errors(&(x.clone() + &twice)).contains("two functions of this name"));
    for (rest, expected) in cases {
        let error = errors(&(x.clone() + &function(&rest)));
        assert!(
            error.contains(expected) && error.contains("function 'f' of in.pbtxt"),
            "{expected}: {error}"
        );
    }
}

#[test]
fn faults_of_nodes_are_errors_before_their_ops_are_looked_at() {
    let float = attr("dtype", "type: DT_FLOAT");
    let x = node("x", "Placeholder", "", &float);
    for (text, expected) in [
        (node("y", "", "x", ""), "the node has no op"),
        (node("y", "Neg", "x:y:0", ""), "its input 'x:y:0' does not exist"),
        (node("a", "Neg", "x", "") + &node("y", "Neg", "a:1", ""), "an output that does not exist"),
        (node("y", "NoSuchOp", "x", &attr("f", "func { attr { } }")), "one of its attributes has no name"),
        (
            node("y", "PartitionedCall", "x", &attr("Tout", "list { shape { } }")),
            "attribute 'Tout' must be a number or a list of types",
        ),
    ] {
        let error = errors(&(x.clone() + &text));
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

/// TensorFlow's own broken graphs, from a checkout that `TFRT_TENSORFLOW_SOURCE` names.
#[test]
fn broken_graphs_of_tensorflow_are_errors() {
    let Some(root) = std::env::var_os("TFRT_TENSORFLOW_SOURCE") else {
        eprintln!("skipped: TFRT_TENSORFLOW_SOURCE names no checkout of TensorFlow");
        return;
    };
    let mut paths = Vec::new();
    files(&Path::new(&root).join("tensorflow/core/ir/importexport/tests/graphdef_to_mlir"), &mut paths);
    paths.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("invalid_")));
    assert!(paths.len() >= 28, "the checkout has {} broken graphs", paths.len());
    let x = node("given", "Placeholder", "", &attr("dtype", "type: DT_FLOAT"))
        + &node("taken", "Neg", "given", "");
    for path in paths {
        // What is added makes a model of each file, so that nothing but its fault is an error.
        let text = fs::read_to_string(&path).unwrap() + "\n" + &x;
        let evaluator = Evaluator::new(&test_host()).unwrap();
        let read = read_bytes("in.pbtxt", text.as_bytes(), &ImportOptions::default(), &evaluator);
        assert!(read.is_err(), "{} is imported", path.display());
    }
}
