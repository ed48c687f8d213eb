//! Ops of the default domain on models made by hand, run op by op: the cases that the suite of the
//! `onnx` package does not have, as ONNX Runtime computes them.

use std::collections::HashMap;

use prost::Message;
use tfrt_ir::ValueId;
use tfrt_tensor::HostTensor;

use super::{
    RETURN,
    contrib_tests::{elements, integers, tensor},
    proto::{
        AttributeProto, AttributeType, GraphProto, ModelProto, NodeProto, TensorProto, TypeValue,
        ValueInfoProto,
    },
    read_bytes,
    tensor::TensorReader,
    tests::{attribute, floats, graph_of, host, import, int, integers as longs, model, node, value},
};
use crate::{Evaluator, attributes::to_op_attrs, import::ImportOptions};

/// Computes the first output of a node of an operator set: of inputs of unknown extents, and of
/// constants.
fn run(call: &NodeProto, opset: i64, inputs: &[TensorProto], constants: &[TensorProto]) -> HostTensor {
    let declared = |tensor: &TensorProto| {
        let mut info = value(&tensor.name, &vec![-1; tensor.dims.len()]);
        if let Some(TypeValue::Tensor(ty)) = info.r#type.as_mut().and_then(|ty| ty.value.as_mut()) {
            ty.elem_type = tensor.data_type;
        }
        info
    };
    let output = ValueInfoProto { name: "y".to_owned(), r#type: None };
    let mut model = model(GraphProto {
        input: inputs.iter().map(declared).collect(),
        output: vec![output],
        ..graph_of(vec![call.clone()], constants.to_vec())
    });
    model.opset_import[0].version = opset;
    let graph = import(&model).unwrap();

    let evaluator = Evaluator::new(&host()).unwrap();
    let mut reader = TensorReader::new(None, evaluator.allocator().clone());
    let body = graph.module.function("main").unwrap().body().unwrap();
    let arguments = graph.module.block(body).arguments.iter().copied();
    let mut values: HashMap<ValueId, HostTensor> =
        arguments.zip(inputs.iter().map(|input| reader.read(input).unwrap())).collect();
    for (id, op) in graph.module.ops_in(body) {
        let operand = |value: &ValueId| graph.constant(*value).or_else(|| values.get(value)).unwrap().clone();
        let operands: Vec<_> = op.operands.iter().map(operand).collect();
        if op.name == RETURN {
            return operands[0].clone();
        }
        if graph.constant_id(id).is_none() {
            let attrs = to_op_attrs(&op.attributes, evaluator.allocator()).unwrap();
            let results = evaluator.run(op.name.as_str(), &operands, &attrs, op.results.len()).unwrap();
            values.extend(op.results.iter().copied().zip(results));
        }
    }
    panic!("the function does not return");
}

fn with(attribute: Vec<AttributeProto>, call: NodeProto) -> NodeProto {
    NodeProto { attribute, ..call }
}

fn ints(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto { ints: ints.to_vec(), ..attribute(name, AttributeType::Ints) }
}

fn text(name: &str, text: &'static str) -> AttributeProto {
    AttributeProto { s: text.into(), ..attribute(name, AttributeType::String) }
}

fn numbers(result: &HostTensor) -> Vec<f32> {
    elements(result.dense().unwrap())
}

fn whole_numbers(result: &HostTensor) -> Vec<i64> {
    elements(result.dense().unwrap())
}

const BOOL: i32 = 9;
const UI32: i32 = 12;
const UI64: i32 = 13;

#[test]
fn axes_that_turn_out_to_be_empty_are_all_axes() {
    let x = tensor("x", &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let reduced = |op: &str, opset: i64, axes: &[i64], is_noop: i64| {
        let axes = longs("axes", &[axes.len() as i64], axes);
        let call = with(vec![int("noop_with_empty_axes", is_noop)], node(op, &["x", "axes"], &["y"]));
        numbers(&run(&call, opset, &[x.clone(), axes], &[]))
    };
    assert_eq!(reduced("ReduceSum", 17, &[], 0), [21.0]);
    assert_eq!(reduced("ReduceMean", 18, &[], 0), [3.5]);
    assert_eq!(reduced("ReduceSum", 17, &[-1], 0), [6.0, 15.0]);
    assert_eq!(reduced("ReduceSum", 17, &[], 1), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn roots_and_logarithms_of_integers_are_cut_off() {
    let x = longs("x", &[2, 3], &[0, 1, 2, 3, 4, 5]);
    for (op, expected) in [("ReduceL2", 7), ("ReduceLogSum", 2), ("ReduceLogSumExp", 5)] {
        let result = run(&node(op, &["x"], &["y"]), 18, std::slice::from_ref(&x), &[]);
        assert_eq!(whole_numbers(&result), [expected], "{op}");
    }
}

#[test]
fn integers_and_truths_become_texts() {
    let call = with(vec![int("to", 8)], node("Cast", &["x"], &["y"]));
    let texts = |x: TensorProto| match run(&call, 17, &[x], &[]) {
        HostTensor::String(texts) => texts.strings().iter().map(ToString::to_string).collect(),
        other => vec![format!("{other:?}")],
    };
    assert_eq!(texts(longs("x", &[2], &[1, -2])), ["1", "-2"]);
    assert_eq!(texts(integers("x", BOOL, &[2], &[1, 0])), ["1", "0"]);
    assert_eq!(texts(tensor("x", &[2], &[1.5, -2.0])), ["1.5", "-2"]);
}

#[test]
fn open_dimensions_are_split_unevenly() {
    let part = |outputs: &[&str], extent: i64| {
        let x = tensor("x", &[extent], &(0..extent).map(|i| i as f32).collect::<Vec<_>>());
        let call = with(vec![int("num_outputs", outputs.len() as i64)], node("Split", &["x"], outputs));
        numbers(&run(&call, 18, &[x], &[]))
    };
    assert_eq!(part(&["y", "b"], 3), [0.0, 1.0]);
    assert_eq!(part(&["a", "y"], 3), [2.0]);
    assert_eq!(part(&["a", "b", "c", "y"], 5), [0.0; 0]);
}

#[test]
fn ranges_whose_steps_lead_away_are_empty() {
    let call = node("Range", &["start", "limit", "delta"], &["y"]);
    for (bounds, expected) in
        [([5, 3, 1], [].as_slice()), ([3, 5, -1], &[]), ([0, 5, 2], &[0, 2, 4]), ([5, 0, -2], &[5, 3, 1])]
    {
        let [start, limit, delta] = bounds;
        let (start, limit, delta) =
            (longs("start", &[], &[start]), longs("limit", &[], &[limit]), longs("delta", &[], &[delta]));
        let all_open = run(&call, 17, &[start.clone(), limit.clone(), delta.clone()], &[]);
        assert_eq!(whole_numbers(&all_open), expected, "{bounds:?}");
        let open_limit = run(&call, 17, &[limit], &[start, delta]);
        assert_eq!(whole_numbers(&open_limit), expected, "{bounds:?}");
    }
}

#[test]
fn unsigned_integers_have_products() {
    let call = node("MatMul", &["x", "w"], &["y"]);
    let of = |name: &str, data_type: i32, dims: [i64; 2], elements: &[u64]| TensorProto {
        data_type,
        float_data: vec![],
        uint64_data: elements.to_vec(),
        ..tensor(name, &dims, &[])
    };
    let factors =
        |data_type, large| [of("x", data_type, [1, 2], &[large, 5]), of("w", data_type, [2, 1], &[1, 2])];
    let small = run(&call, 17, &factors(UI32, 4_000_000_000), &[]);
    assert_eq!(elements::<u32>(small.dense().unwrap()), [4_000_000_010]);
    let large = run(&call, 17, &factors(UI64, u64::MAX - 20), &[]);
    assert_eq!(elements::<u64>(large.dense().unwrap()), [u64::MAX - 10]);
}

#[test]
fn blocks_of_one_pixel_change_nothing() {
    let x = tensor("x", &[1, 2, 1, 2], &[1.0, 2.0, 3.0, 4.0]);
    for op in ["DepthToSpace", "SpaceToDepth"] {
        let call = with(vec![int("blocksize", 1)], node(op, &["x"], &["y"]));
        assert_eq!(numbers(&run(&call, 17, std::slice::from_ref(&x), &[])), [1.0, 2.0, 3.0, 4.0], "{op}");
    }
}

#[test]
fn steps_back_from_before_the_first_element_begin_at_it() {
    let call = node("Slice", &["x", "starts", "ends", "axes", "steps"], &["y"]);
    let x = tensor("x", &[3], &[7.0, 8.0, 9.0]);
    let one = |name: &str, number: i64| longs(name, &[1], &[number]);
    for (start, end, expected) in [(-5, i64::MIN, [7.0].as_slice()), (-5, 1, &[]), (5, -9, &[9.0, 8.0, 7.0])]
    {
        let how = [one("starts", start), one("ends", end), one("axes", 0), one("steps", -1)];
        let known = [std::slice::from_ref(&x), how.as_slice()].concat();
        assert_eq!(numbers(&run(&call, 17, &[], &known)), expected, "{start}");
        assert_eq!(numbers(&run(&call, 17, std::slice::from_ref(&x), &how)), expected, "{start}");
        assert_eq!(numbers(&run(&call, 17, &known, &[])), expected, "{start}");
    }
}

#[test]
fn windows_that_begin_in_the_input_count_when_rounded_up() {
    let x = tensor("x", &[1, 1, 2], &[1.0, 2.0]);
    for (op, expected) in [("MaxPool", 2.0), ("AveragePool", 1.5)] {
        let attributes = vec![ints("kernel_shape", &[3]), ints("strides", &[3]), int("ceil_mode", 1)];
        let call = with(attributes, node(op, &["x"], &["y"]));
        assert_eq!(numbers(&run(&call, 17, std::slice::from_ref(&x), &[])), [expected], "{op}");
    }
}

#[test]
fn windows_without_a_place_are_errors() {
    let pooled = |dilation: i64| {
        let attributes = vec![ints("kernel_shape", &[3]), ints("dilations", &[dilation])];
        let call = with(attributes, node("MaxPool", &["x"], &["y"]));
        import(&model(GraphProto { input: vec![value("x", &[1, 1, 5])], ..graph_of(vec![call], vec![]) }))
    };
    assert!(pooled(2).is_ok());
    assert!(pooled(3).is_err());
    let error = pooled(1 << 20).unwrap_err();
    assert!(
        error.contains("a window over 2097153 elements does not fit 5 padded ones of dimension 2"),
        "{error}"
    );
}

#[test]
fn a_kernel_shape_that_contradicts_the_filter_is_an_error() {
    let convolved = |kernel: &[i64]| {
        let call = with(vec![ints("kernel_shape", kernel)], node("Conv", &["x", "w"], &["y"]));
        let filter = tensor("w", &[2, 1, 3, 3], &[0.5; 18]);
        let input = vec![value("x", &[1, 1, 4, 4])];
        import(&model(GraphProto { input, ..graph_of(vec![call], vec![filter]) }))
    };
    assert!(convolved(&[3, 3]).is_ok());
    for wrong in [[0, 0], [-1, -1], [3, 1]] {
        let error = convolved(&wrong).unwrap_err();
        let expected = format!("attribute 'kernel_shape' is {wrong:?}, but the filter is 2x1x3x3xf32");
        assert!(error.contains(&expected) && error.contains("node 'Conv node'"), "{error}");
    }
}

#[test]
fn the_only_sample_of_a_symmetric_window_is_one() {
    for op in ["HannWindow", "HammingWindow", "BlackmanWindow"] {
        let call = with(vec![int("periodic", 0)], node(op, &["size"], &["y"]));
        assert_eq!(numbers(&run(&call, 17, &[], &[longs("size", &[], &[1])])), [1.0], "{op}");
    }
}

#[test]
fn symmetric_half_pixels_are_rounded_as_floats() {
    let attributes = vec![
        text("mode", "nearest"),
        text("nearest_mode", "ceil"),
        text("coordinate_transformation_mode", "half_pixel_symmetric"),
    ];
    let call = with(attributes, node("Resize", &["x", "", "", "sizes"], &["y"]));
    let result = run(&call, 19, &[floats("x", &[0.0, 1.0, 2.0])], &[longs("sizes", &[1], &[7])]);
    assert_eq!(numbers(&result), [0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
}

#[test]
fn a_machine_of_two_classes_gives_the_decision_to_the_second() {
    let numbers_of = |name: &str, floats: &[f32]| AttributeProto {
        floats: floats.to_vec(),
        ..attribute(name, AttributeType::Floats)
    };
    let attributes = vec![
        numbers_of("coefficients", &[0.5, -0.25]),
        numbers_of("support_vectors", &[1.0, 0.0, 0.0, 1.0]),
        numbers_of("rho", &[0.25]),
        ints("vectors_per_class", &[1, 1]),
        ints("classlabels_ints", &[3, 7]),
    ];
    let call = |outputs: &[&str]| NodeProto {
        domain: "ai.onnx.ml".to_owned(),
        ..with(attributes.clone(), node("SVMClassifier", &["x"], outputs))
    };
    let x = tensor("x", &[2, 2], &[1.0, 1.0, -1.0, 0.0]);
    let scores = run(&call(&["label", "y"]), 17, std::slice::from_ref(&x), &[]);
    assert_eq!(numbers(&scores), [-0.5, 0.5, 0.25, -0.25]);
    assert_eq!(whole_numbers(&run(&call(&["y", "scores"]), 17, &[x], &[])), [3, 7]);
}

#[test]
fn declared_types_of_values_that_are_wrong_are_warned_of() {
    let nodes = vec![node("Neg", &["x"], &["h"]), node("Abs", &["h"], &["i"]), node("Relu", &["i"], &["y"])];
    let warnings = |declared: &[ValueInfoProto]| {
        let graph = GraphProto { value_info: declared.to_vec(), ..graph_of(nodes.clone(), vec![]) };
        let bytes = ModelProto::encode_to_vec(&model(graph));
        let evaluator = Evaluator::new(&host()).unwrap();
        let (_, warnings) = read_bytes("m.onnx", &bytes, &ImportOptions::default(), &evaluator).unwrap();
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(warnings(&[value("h", &[5, 4]), value("i", &[-1, -1])]), [""; 0]);
    let found = warnings(&[value("h", &[5, 5]), value("i", &[5])]).concat();
    assert!(found.contains("node 'Neg node' (Neg) of m.onnx"), "{found}");
    assert!(found.contains("'h' is declared as 5x5xf32, but its type is ?x4xf32"), "{found}");
    assert!(found.contains("the declared type of 1 other value is wrong, too"), "{found}");
}
