//! Ops of ONNX Runtime's domain, on models made by hand.

use std::ops::ControlFlow;

use tfrt_tensor::{DenseHostTensor, Element};

use super::{
    proto::{
        AttributeProto, AttributeType, ModelProto, NodeProto, OperatorSetIdProto, TensorProto, TypeValue,
    },
    tests::{ME, attribute, floats, graph_of, host, import, int, model, node, value},
};
use crate::{
    Evaluator,
    pass::{self, PASSES, PassOptions},
};

/// A model with nodes of the domain `com.microsoft`.
fn contributed(nodes: Vec<NodeProto>, constants: Vec<TensorProto>) -> ModelProto {
    let domain = || "com.microsoft".to_owned();
    let nodes = nodes.into_iter().map(|node| match node.domain.as_str() {
        "" => NodeProto { domain: domain(), ..node },
        _ => node,
    });
    let mut model = model(graph_of(nodes.collect(), constants));
    model.opset_import.push(OperatorSetIdProto { domain: domain(), version: 1 });
    model
}

/// What a node computes of constants: its first output.
fn computed(call: NodeProto, constants: &[TensorProto]) -> DenseHostTensor {
    let graph = import(&contributed(vec![call], constants.to_vec())).unwrap();
    let body = graph.module.function("main").unwrap().body().unwrap();
    let (_, last) = graph.module.ops_in(body).next_back().unwrap();
    graph.constant(last.operands[0]).unwrap().dense().unwrap().clone()
}

pub(super) fn elements<T: Element>(tensor: &DenseHostTensor) -> Vec<T> {
    tensor.read::<T>(&ME).unwrap().to_vec()
}

/// Floats of a shape.
pub(super) fn tensor(name: &str, dims: &[i64], numbers: &[f32]) -> TensorProto {
    TensorProto { dims: dims.to_vec(), ..floats(name, numbers) }
}

/// Integers of a shape and of the data type of this number.
pub(super) fn integers(name: &str, data_type: i32, dims: &[i64], elements: &[i32]) -> TensorProto {
    TensorProto { data_type, float_data: vec![], int32_data: elements.to_vec(), ..tensor(name, dims, &[]) }
}

const UI8: i32 = 2;
const I32: i32 = 6;

#[test]
fn quantized_choices_have_scales_of_their_own() {
    let constants = [
        integers("c", 9, &[2], &[1, 0]),
        integers("a", UI8, &[2], &[12, 20]),
        tensor("half", &[], &[0.5]),
        integers("two", UI8, &[], &[2]),
        integers("b", UI8, &[2], &[30, 40]),
        tensor("one", &[], &[1.0]),
        integers("zero", UI8, &[], &[0]),
    ];
    let inputs = ["c", "a", "half", "two", "b", "one", "zero", "one", "zero"];
    let result = computed(node("QLinearWhere", &inputs, &["y"]), &constants);
    assert_eq!(elements::<u8>(&result), [5, 40]);
}

#[test]
fn a_quantized_lstm_is_that_of_its_numbers() {
    // One direction, two columns of inputs, and four gates of one row.
    let weights: [i32; 8] = [12, 9, 14, 3, 10, 200, 0, 7];
    let scales = [0.5, 0.25, 0.1, 0.2_f32];
    let number = |column: usize, gate: usize| (weights[column * 4 + gate] - 10) as f32 * scales[gate];
    let rows: Vec<f32> =
        (0..4).flat_map(|gate| (0..2).map(move |column| (column, gate))).map(|(c, g)| number(c, g)).collect();
    let hidden = [integers("r", UI8, &[1, 1, 4], &[3, 1, 2, 0]), tensor("r_scale", &[1], &[0.125])];
    let hidden_rows = [0.375, 0.125, 0.25, 0.0].map(|number: f32| number);
    let constants = vec![
        tensor("in", &[2, 1, 2], &[1.0, -1.0, 0.5, 2.0]),
        integers("w", UI8, &[1, 2, 4], &weights),
        tensor("w_scale", &[1, 4], &scales),
        integers("w_zero", UI8, &[1, 4], &[10; 4]),
        tensor("numbers", &[1, 4, 2], &rows),
        tensor("hidden_numbers", &[1, 4, 1], &hidden_rows),
    ];
    let constants = [constants, hidden.to_vec()].concat();
    let result = |call: NodeProto| {
        let call = NodeProto { attribute: vec![int("hidden_size", 1)], ..call };
        let result = computed(call, &constants);
        (result.shape().dims().to_vec(), elements::<f32>(&result))
    };
    let weights = ["w_scale", "w_zero", "r_scale"];
    let inputs = [&["in", "w", "r", "", "", "", "", ""][..], &weights].concat();
    let found = result(node("DynamicQuantizeLSTM", &inputs, &["y"]));
    let plain = NodeProto {
        domain: "ai.onnx".to_owned(),
        ..node("LSTM", &["in", "numbers", "hidden_numbers"], &["y"])
    };
    assert_eq!(found, result(plain));
}

/// A product by two columns of 20 integers of four bits, in blocks of 16, and the same integers,
/// scales and zeros one by one.
#[test]
fn products_by_narrow_integers_are_those_of_their_numbers() {
    let packed: Vec<i32> = (0..32).map(|i| (i * 37 + 11) % 256).collect();
    let weight = |column: usize, k: usize| (packed[column * 16 + k / 2] >> (k % 2 * 4) & 15) as f32;
    let (scales, left) = ([0.5, 0.25, 1.0, 2.0], (0..20).map(|k| k as f32 - 7.0).collect::<Vec<_>>());
    let of_each: Vec<i32> = (0..20).map(|k| k % 2).collect();
    let constants = vec![
        tensor("a", &[1, 20], &left),
        integers("b", UI8, &[2, 2, 8], &packed),
        tensor("scales", &[2, 2], &scales),
        integers("zeros", UI8, &[2, 1], &[0x37, 0x62]),
        tensor("halves", &[2, 2], &[7.0, 3.5, 2.0, 6.0]),
        integers("blocks", I32, &[20], &of_each),
        tensor("bias", &[2], &[10.0, -10.0]),
    ];
    for (inputs, zeros, has_blocks) in [
        (&["a", "b", "scales"][..], [8.0; 4], false),
        (&["a", "b", "scales", "zeros"], [7.0, 3.0, 2.0, 6.0], false),
        (&["a", "b", "scales", "halves"], [7.0, 3.5, 2.0, 6.0], false),
        (&["a", "b", "scales", "zeros", "", "bias"], [7.0, 3.0, 2.0, 6.0], false),
        (&["a", "b", "scales", "zeros", "blocks", "bias"], [7.0, 3.0, 2.0, 6.0], true),
        (&["a", "b", "scales", "", "blocks"], [8.0; 4], true),
    ] {
        let attribute = vec![int("K", 20), int("N", 2), int("bits", 4), int("block_size", 16)];
        let call = NodeProto { attribute, ..node("MatMulNBits", inputs, &["y"]) };
        let result = computed(call, &constants);
        let expected: Vec<f32> = (0..2)
            .map(|column| {
                let product = |k: usize| {
                    let block = column * 2 + if has_blocks { of_each[k] as usize } else { k / 16 };
                    left[k] * (weight(column, k) - zeros[block]) * scales[block]
                };
                let bias = if inputs.contains(&"bias") { [10.0, -10.0][column] } else { 0.0 };
                (0..20).map(product).sum::<f32>() + bias
            })
            .collect();
        assert_eq!(elements::<f32>(&result), expected, "{inputs:?}");
    }
}

/// Codes of 4 bits, in blocks that do not end with rows.
#[test]
fn products_by_codes_are_those_of_their_numbers() {
    let constants = [
        tensor("a", &[1, 2], &[1.0, 100.0]),
        integers("b", UI8, &[9], &[0x0f, 0x7f, 0x00, 0x10, 0, 0, 0, 0, 0x3b]),
        tensor("factors", &[2], &[2.0, 4.0]),
    ];
    let call = |quant_type| {
        let attributes = [("K", 2), ("N", 9), ("block_size", 16), ("quant_type", quant_type)];
        let attribute = attributes.map(|(name, value)| int(name, value)).to_vec();
        NodeProto { attribute, ..node("MatMulBnb4", &["a", "b", "factors"], &["y"]) }
    };
    let normal = elements::<f32>(&computed(call(1), &constants));
    assert_eq!(normal[..3], [198.0, 200.0, -202.0]);
    // The last row is of the second block.
    assert!((normal[8] - 4.0 * (33.791_524 - 0.394_917_5)).abs() < 1e-4, "{}", normal[8]);
    let float = elements::<f32>(&computed(call(0), &constants));
    assert_eq!(float[..3], [-50.0, -49.5, 0.0]);
    assert_eq!(float[8], 4.0 - 400.0);
}

#[test]
fn quantized_attention_is_that_of_its_numbers() {
    let (x, weights): (Vec<i32>, Vec<i32>) =
        ((0..12).map(|i| i * 29 % 251).collect(), (0..24).map(|i| i * 53 % 247).collect());
    let numbers = |integers: &[i32], zero: i32, scale: f32| -> Vec<f32> {
        integers.iter().map(|&integer| (integer - zero) as f32 * scale).collect()
    };
    let bias = [0.5, -0.25, 0.125, 0.0, 1.0, -1.0];
    let constants = [
        integers("x", UI8, &[1, 3, 4], &x),
        integers("w", UI8, &[4, 6], &weights),
        tensor("bias", &[6], &bias),
        tensor("x_scale", &[], &[0.0625]),
        tensor("w_scale", &[], &[0.03125]),
        integers("counts", I32, &[1], &[2]),
        integers("x_zero", UI8, &[], &[100]),
        integers("w_zero", UI8, &[], &[120]),
        tensor("x_numbers", &[1, 3, 4], &numbers(&x, 100, 0.0625)),
        tensor("w_numbers", &[4, 6], &numbers(&weights, 120, 0.03125)),
        tensor("past", &[2, 1, 2, 2, 1], &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]),
    ];
    let attribute = vec![int("num_heads", 2), int("unidirectional", 1)];
    let result = |op: &str, inputs: &[&str]| {
        let call = NodeProto { attribute: attribute.clone(), ..node(op, inputs, &["y"]) };
        elements::<f32>(&computed(call, &constants))
    };
    let quantized = ["x", "w", "bias", "x_scale", "w_scale", "counts", "x_zero", "w_zero", "past"];
    let expected = result("Attention", &["x_numbers", "w_numbers", "bias", "counts", "past"]);
    for (found, expected) in result("QAttention", &quantized).into_iter().zip(expected) {
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
}

/// One head of one number, five steps: a cache of three that drops two at once gives what a whole
/// one with the same window gives.
#[test]
fn a_sliding_cache_keeps_what_the_window_needs() {
    let steps = [0.5, -1.0, 0.25, 2.0];
    let constants = [
        tensor("x", &[1, 1, 1], &[1.5]),
        tensor("all", &[1, 1, 4, 1], &steps),
        tensor("last", &[1, 1, 3, 1], &[steps[2], steps[3], f32::NAN]),
        integers("count", I32, &[1], &[4]),
        integers("total", I32, &[], &[5]),
    ];
    let heads = [int("num_heads", 1), int("kv_num_heads", 1), int("local_window_size", 2)];
    let result = |past: &str, slides: i64, outputs: &[&str]| {
        let attribute = [heads.as_slice(), &[int("sliding_window_cache", slides)]].concat();
        let inputs = ["x", "x", "x", past, past, "count", "total"];
        let call = NodeProto { attribute, ..node("GroupQueryAttention", &inputs, outputs) };
        elements::<f32>(&computed(call, &constants))
    };
    assert_eq!(result("last", 1, &["y"]), result("all", 0, &["y"]));
    assert_eq!(result("last", 1, &["", "y"]), [0.25, 2.0, 1.5]);
}

/// Two heads whose only key has the score 0: a sink of 0 takes half of the sum, one of ln 3 three
/// parts of four.
#[test]
fn sinks_take_part_in_the_sum_alone() {
    let constants = [
        tensor("zero", &[1, 1, 2], &[0.0, 0.0]),
        tensor("value", &[1, 1, 1], &[8.0]),
        tensor("key", &[1, 1, 1], &[1.0]),
        integers("count", I32, &[1], &[0]),
        integers("total", I32, &[], &[1]),
        tensor("sinks", &[2], &[0.0, 3.0_f32.ln()]),
    ];
    let result = |sinks: &str, is_smooth: i64| {
        let attribute = vec![int("num_heads", 2), int("kv_num_heads", 1), int("smooth_softmax", is_smooth)];
        let inputs = ["zero", "key", "value", "", "", "count", "total", "", "", "", "", sinks];
        let call = NodeProto { attribute, ..node("GroupQueryAttention", &inputs, &["y"]) };
        elements::<f32>(&computed(call, &constants)).into_iter().map(f32::round).collect::<Vec<_>>()
    };
    assert_eq!(result("sinks", 0), [4.0, 2.0]);
    assert_eq!(result("", 1), [4.0, 4.0]);
    assert_eq!(result("", 0), [8.0, 8.0]);
}

/// Three experts that multiply by 1, 10 and 100 and add 1: the two with the highest scores count,
/// by the softmax of all scores, or of theirs alone.
#[test]
fn experts_are_chosen_by_their_scores() {
    let text = |name: &str, text: &'static str| AttributeProto {
        s: text.into(),
        ..attribute(name, AttributeType::String)
    };
    let logarithms = |parts: [f32; 3]| parts.map(f32::ln);
    let constants = [
        tensor("x", &[2, 1], &[2.0, 3.0]),
        tensor("scores", &[2, 3], &[logarithms([1.0, 4.0, 3.0]), logarithms([5.0, 1.0, 3.0])].concat()),
        tensor("first", &[3, 1, 1], &[1.0, 10.0, 100.0]),
        tensor("first_bias", &[3, 1], &[1.0; 3]),
        tensor("second", &[3, 1, 1], &[1.0; 3]),
    ];
    let result = |normalizes: i64| {
        let attribute = vec![
            int("k", 2),
            int("normalize_routing_weights", normalizes),
            text("activation_type", "identity"),
        ];
        let inputs = ["x", "scores", "first", "first_bias", "second"];
        let call = NodeProto { attribute, ..node("MoE", &inputs, &["y"]) };
        elements::<f32>(&computed(call, &constants))
    };
    let near = |found: Vec<f32>, expected: [f32; 2]| {
        let is_near =
            found.iter().zip(expected).all(|(found, expected)| (found / expected - 1.0).abs() < 1e-5);
        assert!(is_near, "{found:?} {expected:?}");
    };
    near(result(0), [(4.0 * 21.0 + 3.0 * 201.0) / 8.0, (5.0 * 4.0 + 3.0 * 301.0) / 9.0]);
    near(result(1), [(4.0 * 21.0 + 3.0 * 201.0) / 7.0, (5.0 * 4.0 + 3.0 * 301.0) / 8.0]);
}

/// In NHWC and in NCHW, with the sum and its activation.
#[test]
fn group_normalizations_take_channels_last_and_first() {
    // Two groups of one channel, of two pixels.
    let constants = [
        tensor("last", &[1, 1, 2, 2], &[1.0, 10.0, 3.0, 30.0]),
        tensor("first", &[1, 2, 1, 2], &[1.0, 3.0, 10.0, 30.0]),
        tensor("scale", &[2], &[1.0, 2.0]),
        tensor("offset", &[2], &[0.0, 1.0]),
        tensor("skip", &[1, 2], &[5.0, 7.0]),
    ];
    let result = |op: &str, inputs: &[&str], is_last: i64, activation: i64| {
        let attribute = vec![
            int("groups", 2),
            int("channels_last", is_last),
            int("activation", activation),
            attribute("epsilon", AttributeType::Float),
        ];
        let found =
            elements::<f32>(&computed(NodeProto { attribute, ..node(op, inputs, &["y"]) }, &constants));
        found.into_iter().map(|number| (number * 1e4).round() / 1e4).collect::<Vec<_>>()
    };
    let names = |x| [x, "scale", "offset"];
    assert_eq!(result("GroupNorm", &names("last"), 1, 0), [-1.0, -1.0, 1.0, 3.0]);
    assert_eq!(result("GroupNorm", &names("first"), 0, 0), [-1.0, 1.0, -1.0, 3.0]);
    // x * sigmoid(x).
    assert_eq!(result("GroupNorm", &names("last"), 1, 1), [-0.2689, -0.2689, 0.7311, 2.8577]);
    // One number for each channel changes no group of one channel.
    let skipped = ["last", "scale", "offset", "skip"];
    assert_eq!(result("SkipGroupNorm", &skipped, 1, 0), [-1.0, -1.0, 1.0, 3.0]);
    let skipped = ["first", "scale", "offset", "skip"];
    assert_eq!(result("SkipGroupNorm", &skipped, 0, 0), [-1.0, 1.0, -1.0, 3.0]);
}

/// Images and filters of different types are an error of the run. Until then, the passes keep what
/// is known of the result.
#[test]
fn passes_keep_types_that_inference_does_not_find_again() {
    let filter = tensor("w", &[5, 8, 3, 3], &[0.0; 360]);
    let mut model = contributed(vec![node("NhwcConv", &["x", "w"], &["y"])], vec![filter]);
    let mut images = value("x", &[-1, 6, 7, 8]);
    if let Some(TypeValue::Tensor(ty)) = images.r#type.as_mut().and_then(|ty| ty.value.as_mut()) {
        ty.elem_type = 3;
    }
    model.graph.as_mut().unwrap().input = vec![images];
    let mut graph = import(&model).unwrap();
    let options = PassOptions { verify_each: true, ..PassOptions::default() };
    let evaluator = Evaluator::new(&host()).unwrap();
    let flow = pass::run(PASSES, &mut graph, &evaluator, options, &mut |_, _, _| ControlFlow::Continue(()));
    assert!(flow.unwrap().is_continue());
}

#[test]
fn repeated_runs_of_words_are_forbidden() {
    // "1 2" was followed by 3, "2" by 3 and by nothing.
    let constants =
        [integers("words", I32, &[1, 5], &[1, 2, 3, 1, 2]), tensor("scores", &[1, 4], &[0.0, 1.0, 2.0, 3.0])];
    for (size, allowed) in [(1, [0].as_slice()), (2, &[0, 1, 2]), (3, &[0, 1, 2]), (4, &[0, 1, 2, 3])] {
        let attribute = vec![int("ngram_size", size)];
        let call = NodeProto { attribute, ..node("NGramRepeatBlock", &["words", "scores"], &["y"]) };
        let scores = elements::<f32>(&computed(call, &constants));
        let expected: Vec<f32> = (0..4)
            .map(|word| if allowed.contains(&word) { word as f32 } else { f32::NEG_INFINITY })
            .collect();
        assert_eq!(scores, expected, "{size}");
    }
}

#[test]
fn positions_of_three_kinds_rotate_pairs_of_their_own() {
    let table: Vec<f32> = (0..12).map(|i| i as f32).collect();
    let row = |place: usize| &table[place * 4..][..4];
    let constants = [
        // One head of four pairs, whose first elements are 1 and whose second ones are 0.
        tensor("x", &[1, 1, 8], &[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
        TensorProto {
            int64_data: vec![0, 1, 2],
            int32_data: vec![],
            ..integers("places", 7, &[3, 1, 1], &[])
        },
        tensor("cosines", &[3, 4], &table),
        tensor("sines", &[3, 4], &[0.0; 12]),
    ];
    let sections = AttributeProto { ints: vec![2, 1, 1], ..attribute("mrope_section", AttributeType::Ints) };
    for (layout, kinds) in [(0, [0, 0, 1, 2]), (1, [0, 1, 2, 0])] {
        let attribute = vec![sections.clone(), int("mrope_layout", layout), int("num_heads", 1)];
        let inputs = ["x", "places", "cosines", "sines"];
        let call = NodeProto { attribute, ..node("MRotaryEmbedding", &inputs, &["y"]) };
        let expected: Vec<f32> = kinds.iter().enumerate().map(|(pair, &kind)| row(kind)[pair]).collect();
        assert_eq!(elements::<f32>(&computed(call, &constants))[..4], expected, "{layout}");
    }
}

#[test]
fn layouts_of_one_processor_are_named() {
    let mut model = contributed(vec![node("ReorderInput", &["x"], &["y"])], vec![]);
    model.graph.as_mut().unwrap().node[0].domain = "com.microsoft.nchwc".to_owned();
    let error = import(&model).unwrap_err();
    assert!(error.contains("save it with ORT_ENABLE_EXTENDED"), "{error}");
}
