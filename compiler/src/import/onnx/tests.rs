//! Models made by hand: what is imported, and how broken files end.

use std::{fs, path::Path, sync::Arc};

use prost::Message;
use tfrt_host::{HostContext, allocator::SystemAllocator, work_queue};
use tfrt_tensor::Accessor;

use super::{
    proto::{
        AttributeProto, AttributeType, DimensionProto, DimensionValue, EXTERNAL, FunctionProto, GraphProto,
        ModelProto, NodeProto, OperatorSetIdProto, StringStringEntryProto, TensorProto, TensorShapeProto,
        TensorTypeProto, TypeProto, TypeValue, ValueInfoProto,
    },
    read_bytes, read_file,
};
use crate::{Evaluator, Graph, import::ImportOptions};

pub(super) static ME: Accessor = Accessor::new("ONNX import test");

pub(super) fn host() -> Arc<HostContext> {
    HostContext::builder(work_queue::from_str("s").unwrap(), Arc::new(SystemAllocator)).build()
}

pub(super) fn node(op: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    NodeProto {
        name: format!("{op} node"),
        op_type: op.to_owned(),
        input: inputs.iter().map(|&name| name.to_owned()).collect(),
        output: outputs.iter().map(|&name| name.to_owned()).collect(),
        ..NodeProto::default()
    }
}

/// A value of f32 of these extents; -1 for one that is not known.
pub(super) fn value(name: &str, dims: &[i64]) -> ValueInfoProto {
    let dim = |&extent: &i64| DimensionProto {
        value: Some(match extent {
            -1 => DimensionValue::Parameter("n".to_owned()),
            extent => DimensionValue::Value(extent),
        }),
    };
    let shape = TensorShapeProto { dim: dims.iter().map(dim).collect() };
    let ty = TensorTypeProto { elem_type: 1, shape: Some(shape) };
    ValueInfoProto { name: name.to_owned(), r#type: Some(TypeProto { value: Some(TypeValue::Tensor(ty)) }) }
}

pub(super) fn model(graph: GraphProto) -> ModelProto {
    let opset = OperatorSetIdProto { domain: String::new(), version: 17 };
    ModelProto { ir_version: 8, opset_import: vec![opset], graph: Some(graph), ..ModelProto::default() }
}

pub(super) fn graph_of(nodes: Vec<NodeProto>, initializer: Vec<TensorProto>) -> GraphProto {
    GraphProto {
        node: nodes,
        initializer,
        input: vec![value("x", &[-1, 4])],
        output: vec![value("y", &[-1, 4])],
        ..GraphProto::default()
    }
}

/// The imported graph, or all errors as text.
fn import_in(folder: &Path, model: &ModelProto) -> Result<Graph, String> {
    let path = folder.join("model.onnx");
    fs::write(&path, model.encode_to_vec()).unwrap();
    let evaluator = Evaluator::new(&host()).unwrap();
    match read_file(&path, &ImportOptions::default(), &evaluator) {
        Ok((graph, _)) => Ok(graph),
        Err(errors) => Err(errors.iter().map(|error| format!("{error}\n")).collect()),
    }
}

pub(super) fn import(model: &ModelProto) -> Result<Graph, String> {
    import_in(tempfile::tempdir().unwrap().path(), model)
}

pub(super) fn floats(name: &str, numbers: &[f32]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        dims: vec![numbers.len() as i64],
        data_type: 1,
        float_data: numbers.to_vec(),
        ..TensorProto::default()
    }
}

#[test]
fn inputs_with_a_default_are_constants_unless_they_are_given() {
    let mut graph = graph_of(vec![node("Add", &["x", "b"], &["y"])], vec![floats("b", &[1.0; 4])]);
    graph.input.push(value("b", &[4]));
    let model = model(graph).encode_to_vec();
    let evaluator = Evaluator::new(&host()).unwrap();
    let inputs = |options: &ImportOptions| {
        let (graph, _) = read_bytes("model.onnx", &model, options, &evaluator).unwrap();
        graph.inputs.iter().map(|port| format!("{}: {}", port.name, port.ty)).collect::<Vec<_>>()
    };
    let given = |name: &str| ImportOptions { given: [name.to_owned()].into(), ..ImportOptions::default() };
    assert_eq!(inputs(&ImportOptions::default()), ["x: ?x4xf32"]);
    assert_eq!(inputs(&given("b")), ["x: ?x4xf32", "b: 4xf32"]);
    assert_eq!(inputs(&given("another")), ["x: ?x4xf32"]);
    let shapes = [("b".to_owned(), vec![Some(4)])].into();
    assert_eq!(inputs(&ImportOptions { input_shapes: shapes, ..ImportOptions::default() }).len(), 2);
}

#[test]
fn ports_have_names_and_open_extents() {
    let nodes = vec![node("Add", &["x", "b"], &["s"]), node("Relu", &["s"], &["y"])];
    let graph = import(&model(graph_of(nodes, vec![floats("b", &[1.0, 2.0, 3.0, 4.0])]))).unwrap();
    let ports = |ports: &[crate::Port]| {
        ports.iter().map(|port| format!("{}: {}", port.name, port.ty)).collect::<Vec<_>>()
    };
    assert_eq!(ports(&graph.inputs), ["x: ?x4xf32"]);
    assert_eq!(ports(&graph.outputs), ["y: ?x4xf32"]);
}

#[test]
fn all_unsupported_nodes_are_named_at_once() {
    let nodes =
        vec![node("Frobnicate", &["x"], &["s"]), node("Relu", &["s"], &["t"]), node("Quux", &["t"], &["y"])];
    let errors = import(&model(graph_of(nodes, vec![]))).unwrap_err();
    assert!(errors.contains("node 'Frobnicate node' (Frobnicate) of model.onnx"), "{errors}");
    assert!(errors.contains("unsupported op 'Quux' (operator set ai.onnx 17)"), "{errors}");
}

#[test]
fn errors_do_not_hide_each_other() {
    let nodes = vec![
        node("Add", &["x", "missing"], &["a"]),
        node("Relu", &["a"], &["b"]),
        node("Concat", &["x", "nowhere"], &["y"]),
    ];
    let errors = import(&model(graph_of(nodes, vec![]))).unwrap_err();
    assert!(errors.contains("input 'missing' is not defined"), "{errors}");
    assert!(errors.contains("input 'nowhere' is not defined"), "{errors}");
}

#[test]
fn shapes_that_do_not_fit_are_errors_of_the_node() {
    let errors =
        import(&model(graph_of(vec![node("Add", &["x", "b"], &["y"])], vec![floats("b", &[1.0; 3])])))
            .unwrap_err();
    assert!(errors.contains("(Add) of model.onnx") && errors.contains("cannot be broadcast"), "{errors}");
}

#[test]
fn a_cycle_is_an_error() {
    let nodes =
        vec![node("Add", &["x", "b"], &["a"]), node("Relu", &["a"], &["b"]), node("Relu", &["b"], &["y"])];
    let errors = import(&model(graph_of(nodes, vec![]))).unwrap_err();
    assert!(errors.contains("input 'b' is not defined by any node before it"), "{errors}");
}

#[test]
fn names_that_two_nodes_define_are_errors() {
    let nodes = vec![node("Relu", &["x"], &["y"]), node("Abs", &["x"], &["y"])];
    let error = import(&model(graph_of(nodes, vec![]))).unwrap_err();
    assert!(error.contains("output 'y' is also one of a node before it"), "{error}");
}

#[test]
fn tensors_that_lie_about_their_size_are_errors() {
    let lies = [
        TensorProto { dims: vec![1 << 40, 1 << 40], ..floats("b", &[1.0]) },
        TensorProto { dims: vec![-4], ..floats("b", &[1.0]) },
        TensorProto { dims: vec![1000], raw_data: vec![0u8; 16].into(), ..floats("b", &[]) },
        TensorProto { data_type: 999, ..floats("b", &[1.0]) },
    ];
    for lie in lies {
        let errors = import(&model(graph_of(vec![node("Add", &["x", "b"], &["y"])], vec![lie]))).unwrap_err();
        assert!(errors.contains("initializer 'b'"), "{errors}");
    }
}

#[test]
fn external_data_stays_in_the_folder() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("model");
    fs::create_dir(&folder).unwrap();
    fs::write(outer.path().join("secret"), [0u8; 16]).unwrap();
    fs::write(folder.join("data"), 1.5f32.to_le_bytes().repeat(4)).unwrap();
    let external = |location: &str| {
        let entry =
            |key: &str, value: &str| StringStringEntryProto { key: key.to_owned(), value: value.to_owned() };
        TensorProto {
            dims: vec![4],
            data_location: EXTERNAL,
            external_data: vec![entry("location", location), entry("length", "16")],
            ..floats("b", &[])
        }
    };
    let run_in = |folder: &Path, location: &str| {
        import_in(folder, &model(graph_of(vec![node("Add", &["x", "b"], &["y"])], vec![external(location)])))
    };
    let run = |location| run_in(&folder, location);
    run("data").unwrap();
    for outside in ["../secret", "/etc/passwd", "a/../../secret"] {
        let errors = run(outside).unwrap_err();
        assert!(errors.contains("lies outside of the model's folder"), "{errors}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outer.path().join("secret"), folder.join("link")).unwrap();
        let errors = run("link").unwrap_err();
        assert!(errors.contains("lies outside of the model's folder"), "{errors}");
    }
    // In the cache of Hugging Face, the model and its data are links to files in another folder.
    #[cfg(unix)]
    {
        let [files, links] = ["files", "links"].map(|name| outer.path().join(name));
        for folder in [&files, &links] {
            fs::create_dir(folder).unwrap();
        }
        fs::copy(folder.join("data"), files.join("b")).unwrap();
        for (link, file) in [("model.onnx", "a"), ("data", "b")] {
            std::os::unix::fs::symlink(files.join(file), links.join(link)).unwrap();
        }
        run_in(&links, "data").unwrap();
    }
    fs::create_dir(folder.join("no_file")).unwrap();
    let errors = run("no_file").unwrap_err();
    assert!(errors.contains("external data at 'no_file' is not a file"), "{errors}");
}

#[test]
fn subgraphs_nest_only_so_deep() {
    let mut graph = graph_of(vec![node("Relu", &["x"], &["y"])], vec![]);
    for _ in 0..30 {
        let branch = |name: &str| AttributeProto {
            name: name.to_owned(),
            g: Some(Box::new(GraphProto { input: vec![], ..graph.clone() })),
            r#type: AttributeType::Graph as i32,
            ..AttributeProto::default()
        };
        let attribute = vec![branch("then_branch")];
        graph = graph_of(vec![NodeProto { attribute, ..node("If", &["x"], &["y"]) }], vec![]);
    }
    // Protobuf's own bound on nesting ends it before ours does.
    let errors = import(&model(graph)).unwrap_err();
    assert!(!errors.is_empty());
}

/// The errors of attention whose scores a subgraph changes.
fn flex_attention_errors(extents: &[i64], modifier: GraphProto) -> String {
    let attribute = AttributeProto {
        name: "score_mod".to_owned(),
        g: Some(Box::new(modifier)),
        r#type: AttributeType::Graph as i32,
        ..AttributeProto::default()
    };
    let domain = "ai.onnx.preview".to_owned();
    let attention = NodeProto {
        domain: domain.clone(),
        attribute: vec![attribute],
        ..node("FlexAttention", &["x", "x", "x"], &["y"])
    };
    let graph = GraphProto { input: vec![value("x", extents)], ..graph_of(vec![attention], vec![]) };
    let mut model = model(graph);
    model.opset_import.push(OperatorSetIdProto { domain, version: 1 });
    import(&model).map(drop).unwrap_err()
}

#[test]
fn modifiers_of_attention_take_and_give_one_tensor_of_a_type() {
    let modifier = |node: NodeProto, inputs: &[&str]| GraphProto {
        input: inputs.iter().map(|name| value(name, &[1, 2, 3, 3])).collect(),
        output: node.output.iter().map(|name| value(name, &[1, 2, 3, 3])).collect(),
        node: vec![node],
        ..GraphProto::default()
    };
    let heads = [1, 2, 3, 4];
    let relu = || node("Relu", &["s"], &["t"]);
    let errors = flex_attention_errors(&heads, modifier(relu(), &["s", "u"]));
    assert!(errors.contains("'score_mod' has 2 inputs instead of one"), "{errors}");
    let errors = flex_attention_errors(&heads, modifier(node("TopK", &["s", "s"], &["t", "u"]), &["s"]));
    assert!(errors.contains("FlexAttention node"), "{errors}");
    let errors = flex_attention_errors(&heads, modifier(node("IsNaN", &["s"], &["t"]), &["s"]));
    assert!(errors.contains("'score_mod' takes elements of type f32 and gives"), "{errors}");
    let errors = flex_attention_errors(&heads[1..], modifier(relu(), &["s"]));
    assert!(errors.contains("the queries have 3 dimensions instead of 4"), "{errors}");
}

#[test]
fn files_that_are_no_models_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    let evaluator = Evaluator::new(&host()).unwrap();
    for bytes in [&b""[..], b"not a model", &[0xff; 64], &[0x08, 0x08]] {
        fs::write(&path, bytes).unwrap();
        let errors = read_file(&path, &ImportOptions::default(), &evaluator).map(drop).unwrap_err();
        assert!(errors.iter().any(|error| error.message.contains("not an ONNX model")), "{errors:?}");
    }
    assert!(read_file(&folder.path().join("none.onnx"), &ImportOptions::default(), &evaluator).is_err());
}

#[test]
fn sequences_are_their_elements() {
    let nodes = vec![
        node("SequenceConstruct", &["x", "b"], &["two"]),
        node("SequenceInsert", &["two", "x", "one"], &["three"]),
        node("SequenceErase", &["three", "zero"], &["rest"]),
        node("SequenceAt", &["rest", "zero"], &["first"]),
        node("SequenceLength", &["rest"], &["count"]),
        node("Cast", &["count"], &["number"]),
        node("Add", &["first", "number"], &["y"]),
    ];
    let mut nodes = nodes;
    nodes[5].attribute.push(AttributeProto {
        name: "to".to_owned(),
        i: 1,
        r#type: AttributeType::Int as i32,
        ..AttributeProto::default()
    });
    let integer = |name: &str, value: i64| TensorProto {
        dims: vec![],
        data_type: 7,
        float_data: vec![],
        int64_data: vec![value],
        ..floats(name, &[])
    };
    let constants = vec![floats("b", &[1.0; 4]), integer("zero", 0), integer("one", 1)];
    let graph = import(&model(graph_of(nodes, constants))).unwrap();
    let body = graph.module.function("main").unwrap().body().unwrap();
    let ops: Vec<_> = graph.module.ops_in(body).map(|(_, op)| op.name.as_str().to_owned()).collect();
    assert!(ops.iter().all(|op| ["tf.Const", "tf.AddV2", "tfrt.return"].contains(&op.as_str())), "{ops:?}");
}

#[test]
fn a_sequence_that_is_a_result_becomes_its_elements() {
    let nodes = vec![node("Neg", &["x"], &["z"]), node("SequenceConstruct", &["x", "z"], &["y"])];
    let graph = import(&model(graph_of(nodes, vec![]))).unwrap();
    let names: Vec<_> = graph.outputs.iter().map(|port| port.name.as_str()).collect();
    assert_eq!(names, ["y.0", "y.1"]);
}

pub(super) fn attribute(name: &str, ty: AttributeType) -> AttributeProto {
    AttributeProto { name: name.to_owned(), r#type: ty as i32, ..AttributeProto::default() }
}

pub(super) fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto { i: value, ..attribute(name, AttributeType::Int) }
}

pub(super) fn integers(name: &str, dims: &[i64], elements: &[i64]) -> TensorProto {
    let dims = dims.to_vec();
    TensorProto { dims, data_type: 7, float_data: vec![], int64_data: elements.to_vec(), ..floats(name, &[]) }
}

/// The types of the outputs.
fn outputs(graph: &Graph) -> Vec<String> {
    graph.outputs.iter().map(|port| port.ty.to_string()).collect()
}

/// The names of the operations of all functions but constants.
fn op_names(graph: &Graph) -> Vec<String> {
    let module = &graph.module;
    let names = module.walk(module.root()).map(|op| module.op(op).name.as_str().to_owned());
    names
        .filter(|name| name.starts_with("onnx.") || (name.starts_with("tf.") && name != "tf.Const"))
        .collect()
}

#[test]
fn convolutions_of_volumes_are_those_of_images() {
    let filter = TensorProto { dims: vec![6, 2, 3, 3, 3], ..floats("w", &[0.5; 324]) };
    let list = |name: &str, ints: &[i64]| AttributeProto {
        ints: ints.to_vec(),
        ..attribute(name, AttributeType::Ints)
    };
    let attributes = vec![
        list("strides", &[2, 1, 2]),
        list("dilations", &[1, 2, 1]),
        list("pads", &[1, 0, 2, 1, 0, 0]),
        int("group", 2),
    ];
    let mut graph = graph_of(
        vec![NodeProto { attribute: attributes, ..node("Conv", &["x", "w"], &["y"]) }],
        vec![filter],
    );
    graph.input = vec![value("x", &[-1, 4, 7, 9, 8])];
    graph.output = vec![value("y", &[])];
    let imported = import(&model(graph.clone())).unwrap();
    let names = op_names(&imported);
    assert!(names.contains(&"tf.Conv2D".to_owned()) && !names.contains(&"onnx.Conv".to_owned()), "{names:?}");
    assert_eq!(outputs(&imported), ["?x6x4x5x4xf32"]);
    graph.input = vec![value("x", &[1, 4, 0, 9, 8])];
    let error = import(&model(graph)).unwrap_err();
    assert!(error.contains("a window over 3 planes does not fit 2 padded ones"), "{error}");
}

#[test]
fn attention_needs_no_known_number_of_heads() {
    for (key_heads, reshapes) in [(-1, 4), (2, 4), (4, 0), (3, 0)] {
        let graph = GraphProto {
            node: vec![node("Attention", &["q", "k", "v"], &["y"])],
            input: vec![
                value("q", &[-1, 4, -1, 8]),
                value("k", &[-1, key_heads, -1, 8]),
                value("v", &[-1, key_heads, -1, 6]),
            ],
            output: vec![value("y", &[])],
            ..GraphProto::default()
        };
        let mut model = model(graph);
        model.opset_import[0].version = 23;
        let graph = import(&model);
        if key_heads == 3 {
            assert!(graph.unwrap_err().contains("4 heads of queries cannot share 3 of keys"));
            continue;
        }
        let graph = graph.unwrap();
        assert_eq!(outputs(&graph), ["?x4x?x6xf32"]);
        let found = op_names(&graph).iter().filter(|name| *name == "tf.Reshape").count();
        assert_eq!(found, reshapes, "{key_heads}");
    }
}

#[test]
fn loops_carry_sequences_as_two_tensors() {
    let body = GraphProto {
        node: vec![node("SequenceInsert", &["list", "x"], &["more"]), node("Identity", &["go"], &["on"])],
        input: ["i", "go", "list"].map(|name| value(name, &[])).to_vec(),
        output: ["on", "more"].map(|name| value(name, &[])).to_vec(),
        ..GraphProto::default()
    };
    let body = AttributeProto { g: Some(Box::new(body)), ..attribute("body", AttributeType::Graph) };
    let nodes = vec![
        node("SequenceEmpty", &[], &["none"]),
        NodeProto { attribute: vec![body], ..node("Loop", &["times", "", "none"], &["all"]) },
        NodeProto { attribute: vec![int("axis", 0)], ..node("ConcatFromSequence", &["all"], &["y"]) },
    ];
    let graph = import(&model(graph_of(nodes, vec![integers("times", &[], &[3])]))).unwrap();
    let names = op_names(&graph);
    for name in ["tf.While", "onnx.SequenceInsert", "onnx.ConcatFromSequence"] {
        assert!(names.iter().any(|other| other == name), "{name}: {names:?}");
    }
    // The first element tells how many dimensions the others have.
    assert_eq!(outputs(&graph), ["?x?xf32"]);
}

#[test]
fn a_product_has_the_columns_of_a_matrix_whatever_its_rows() {
    let weights = TensorProto { dims: vec![4, 2], ..floats("w", &[0.5; 8]) };
    let nodes = vec![
        node("Shape", &["x"], &["shape"]),
        node("Concat", &["one", "shape"], &["dims"]),
        node("Expand", &["x", "dims"], &["e"]),
        node("Reshape", &["e", "to"], &["r"]),
        node("MatMul", &["r", "w"], &["y"]),
    ];
    let mut nodes = nodes;
    nodes[1].attribute.push(int("axis", 0));
    let constants = vec![weights, integers("one", &[1], &[1]), integers("to", &[3], &[1, 0, -1])];
    let graph = import(&model(graph_of(nodes, constants))).unwrap();
    assert_eq!(outputs(&graph), ["1x?x2xf32"]);
}

#[test]
fn functions_are_found_by_their_overload() {
    let function = |overload: &str, op: &str| FunctionProto {
        name: "F".to_owned(),
        domain: "own".to_owned(),
        overload: overload.to_owned(),
        input: vec!["a".to_owned()],
        output: vec!["b".to_owned()],
        node: vec![node(op, &["a"], &["b"])],
        ..FunctionProto::default()
    };
    let call =
        NodeProto { domain: "own".to_owned(), overload: "second".to_owned(), ..node("F", &["x"], &["y"]) };
    let functions = vec![function("first", "Relu"), function("second", "Abs")];
    let model = ModelProto { functions, ..model(graph_of(vec![call], vec![])) };
    assert_eq!(op_names(&import(&model).unwrap()), ["tf.Abs"]);
}

#[test]
fn a_call_may_leave_out_inputs_of_a_function() {
    let function = |nodes: Vec<NodeProto>| FunctionProto {
        name: "F".to_owned(),
        domain: "own".to_owned(),
        input: ["a", "low", "high"].map(str::to_owned).to_vec(),
        output: vec!["b".to_owned()],
        node: nodes,
        ..FunctionProto::default()
    };
    let call = |inputs: &[&str], nodes: Vec<NodeProto>| {
        let call = NodeProto { domain: "own".to_owned(), ..node("F", inputs, &["y"]) };
        import(&ModelProto { functions: vec![function(nodes)], ..model(graph_of(vec![call], vec![])) })
    };
    let clip = || node("Clip", &["a", "low", "high"], &["b"]);
    for inputs in [&["x"][..], &["x", ""], &["x", "", ""]] {
        assert_eq!(outputs(&call(inputs, vec![clip()]).unwrap()), ["?x4xf32"], "{inputs:?}");
    }
    // A subgraph of the function sees that the input is left out.
    let branch = || GraphProto {
        node: vec![node("Clip", &["a", "low"], &["inner"])],
        output: vec![value("inner", &[-1, 4])],
        ..GraphProto::default()
    };
    let graph =
        |name: &str| AttributeProto { g: Some(Box::new(branch())), ..attribute(name, AttributeType::Graph) };
    let nodes = vec![
        node("ReduceSum", &["a"], &["sum"]),
        NodeProto { attribute: vec![int("to", 9)], ..node("Cast", &["sum"], &["flag"]) },
        NodeProto {
            attribute: vec![graph("then_branch"), graph("else_branch")],
            ..node("If", &["flag"], &["b"])
        },
    ];
    assert_eq!(outputs(&call(&["x"], nodes).unwrap()), ["?x4xf32"]);
    // An input that an op must have is still missing.
    let error = call(&["x"], vec![node("Add", &["a", "low"], &["b"])]).unwrap_err();
    assert!(error.contains("input 1 is missing"), "{error}");
}

#[test]
fn shapes_need_the_name_of_an_input_or_a_dimension() {
    let evaluator = Evaluator::new(&host()).unwrap();
    let bytes = model(graph_of(vec![node("Relu", &["x"], &["y"])], vec![])).encode_to_vec();
    let read = |name: &str, is_extent: bool| {
        let mut options = ImportOptions::default();
        options.input_shapes.insert(name.to_owned(), vec![Some(8); if is_extent { 1 } else { 2 }]);
        if is_extent {
            options.dimensions.insert(name.to_owned(), 8);
        }
        super::read_bytes("m.onnx", &bytes, &options, &evaluator).map_err(|errors| format!("{errors:?}"))
    };
    assert!(read("x", false).is_ok());
    assert!(read("n", true).is_ok());
    for (name, is_extent) in [("n", false), ("m", true), ("y", false)] {
        let error = read(name, is_extent).unwrap_err();
        let expected = format!(
            "the model has no input and no named dimension '{name}'; inputs: 'x' (?x4xf32); named dimensions: 'n'"
        );
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn a_declared_rank_helps_where_inference_finds_none() {
    let nodes = vec![
        node("Reshape", &["x", "shape"], &["r"]),
        NodeProto { attribute: vec![int("axis", 1)], ..node("Flatten", &["r"], &["y"]) },
    ];
    let mut shape = value("shape", &[-1]);
    if let Some(TypeValue::Tensor(ty)) = shape.r#type.as_mut().and_then(|ty| ty.value.as_mut()) {
        ty.elem_type = 7;
    }
    let graph = graph_of(nodes, vec![]);
    let input = [graph.input.clone(), vec![shape]].concat();
    let open = model(GraphProto { input: input.clone(), ..graph.clone() });
    assert!(import(&open).unwrap_err().contains("number of dimensions"));
    let declared = GraphProto { input, value_info: vec![value("r", &[-1, 4, 4])], ..graph };
    assert_eq!(outputs(&import(&model(declared)).unwrap()), ["?x?xf32"]);
}

#[test]
fn trees_that_refer_to_what_is_not_there_are_errors() {
    let ints = |name: &str, ints: &[i64]| AttributeProto {
        ints: ints.to_vec(),
        ..attribute(name, AttributeType::Ints)
    };
    let tree = |child: i64, feature: i64| {
        let modes = ["BRANCH_LEQ", "LEAF"].map(|mode| bytes::Bytes::from_static(mode.as_bytes())).to_vec();
        let attribute = vec![
            AttributeProto { strings: modes, ..attribute("nodes_modes", AttributeType::Strings) },
            ints("nodes_treeids", &[0, 0]),
            ints("nodes_nodeids", &[0, 1]),
            ints("nodes_featureids", &[feature, 0]),
            ints("nodes_truenodeids", &[child, 0]),
            ints("nodes_falsenodeids", &[1, 0]),
        ];
        let domain = "ai.onnx.ml".to_owned();
        import(&model(graph_of(
            vec![NodeProto { domain, attribute, ..node("TreeEnsembleRegressor", &["x"], &["y"]) }],
            vec![],
        )))
    };
    assert_eq!(outputs(&tree(1, 3).unwrap()), ["?x1xf32"]);
    assert!(tree(7, 3).unwrap_err().contains("has a child 7, which is not there"));
    assert!(tree(1, -1).unwrap_err().contains("a feature -1"));
}
