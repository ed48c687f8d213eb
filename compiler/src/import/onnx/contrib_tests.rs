//! Ops of ONNX Runtime's domain, on models made by hand.

use super::{
    proto::{ModelProto, NodeProto, OperatorSetIdProto, TensorProto},
    tests::{ME, floats, graph_of, import, int, model, node},
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

#[test]
fn quantized_choices_have_scales_of_their_own() {
    let bytes = |name: &str, data_type: i32, elements: &[i32]| TensorProto {
        dims: vec![elements.len() as i64],
        data_type,
        float_data: vec![],
        int32_data: elements.to_vec(),
        ..floats(name, &[])
    };
    let scalar = |tensor: TensorProto| TensorProto { dims: vec![], ..tensor };
    let constants = vec![
        bytes("c", 9, &[1, 0]),
        bytes("a", 2, &[12, 20]),
        scalar(floats("half", &[0.5])),
        scalar(bytes("two", 2, &[2])),
        bytes("b", 2, &[30, 40]),
        scalar(floats("one", &[1.0])),
        scalar(bytes("zero", 2, &[0])),
    ];
    let inputs = ["c", "a", "half", "two", "b", "one", "zero", "one", "zero"];
    let graph = import(&contributed(vec![node("QLinearWhere", &inputs, &["y"])], constants)).unwrap();
    let body = graph.module.function("main").unwrap().body().unwrap();
    let (_, last) = graph.module.ops_in(body).next_back().unwrap();
    let result = graph.constant(last.operands[0]).unwrap();
    assert_eq!(*result.dense().unwrap().read::<u8>(&ME).unwrap(), [5, 40]);
}

#[test]
fn a_quantized_lstm_is_that_of_its_numbers() {
    let tensor = |name: &str, dims: &[i64], numbers: &[f32]| TensorProto {
        dims: dims.to_vec(),
        ..floats(name, numbers)
    };
    let bytes = |name: &str, dims: &[i64], elements: &[i32]| TensorProto {
        data_type: 2,
        float_data: vec![],
        int32_data: elements.to_vec(),
        ..tensor(name, dims, &[])
    };
    // One direction, two columns of inputs, and four gates of one row.
    let integers: [i32; 8] = [12, 9, 14, 3, 10, 200, 0, 7];
    let scales = [0.5, 0.25, 0.1, 0.2_f32];
    let number = |column: usize, gate: usize| (integers[column * 4 + gate] - 10) as f32 * scales[gate];
    let rows: Vec<f32> =
        (0..4).flat_map(|gate| (0..2).map(move |column| (column, gate))).map(|(c, g)| number(c, g)).collect();
    let hidden = [bytes("r", &[1, 1, 4], &[3, 1, 2, 0]), tensor("r_scale", &[1], &[0.125])];
    let hidden_rows = [0.375, 0.125, 0.25, 0.0].map(|number: f32| number);
    let constants = vec![
        tensor("in", &[2, 1, 2], &[1.0, -1.0, 0.5, 2.0]),
        bytes("w", &[1, 2, 4], &integers),
        tensor("w_scale", &[1, 4], &scales),
        bytes("w_zero", &[1, 4], &[10; 4]),
        tensor("numbers", &[1, 4, 2], &rows),
        tensor("hidden_numbers", &[1, 4, 1], &hidden_rows),
    ];
    let constants = [constants, hidden.to_vec()].concat();
    let result = |call: NodeProto| {
        let call = NodeProto { attribute: vec![int("hidden_size", 1)], ..call };
        let graph = import(&contributed(vec![call], constants.clone())).unwrap();
        let body = graph.module.function("main").unwrap().body().unwrap();
        let (_, last) = graph.module.ops_in(body).next_back().unwrap();
        let result = graph.constant(last.operands[0]).unwrap().dense().unwrap();
        (result.shape().dims().to_vec(), result.read::<f32>(&ME).unwrap().to_vec())
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
    let tensor = |name: &str, dims: &[i64], numbers: &[f32]| TensorProto {
        dims: dims.to_vec(),
        ..floats(name, numbers)
    };
    let integers = |name: &str, data_type: i32, dims: &[i64], elements: &[i32]| TensorProto {
        data_type,
        float_data: vec![],
        int32_data: elements.to_vec(),
        ..tensor(name, dims, &[])
    };
    let packed: Vec<i32> = (0..32).map(|i| (i * 37 + 11) % 256).collect();
    let weight = |column: usize, k: usize| (packed[column * 16 + k / 2] >> (k % 2 * 4) & 15) as f32;
    let (scales, left) = ([0.5, 0.25, 1.0, 2.0], (0..20).map(|k| k as f32 - 7.0).collect::<Vec<_>>());
    let of_each: Vec<i32> = (0..20).map(|k| k % 2).collect();
    let constants = vec![
        tensor("a", &[1, 20], &left),
        integers("b", 2, &[2, 2, 8], &packed),
        tensor("scales", &[2, 2], &scales),
        integers("zeros", 2, &[2, 1], &[0x37, 0x62]),
        tensor("halves", &[2, 2], &[7.0, 3.5, 2.0, 6.0]),
        integers("blocks", 6, &[20], &of_each),
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
        let graph = import(&contributed(vec![call], constants.clone())).unwrap();
        let body = graph.module.function("main").unwrap().body().unwrap();
        let (_, last) = graph.module.ops_in(body).next_back().unwrap();
        let result = graph.constant(last.operands[0]).unwrap().dense().unwrap();
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
        assert_eq!(*result.read::<f32>(&ME).unwrap(), expected, "{inputs:?}");
    }
}

#[test]
fn layouts_of_one_processor_are_named() {
    let mut model = contributed(vec![node("ReorderInput", &["x"], &["y"])], vec![]);
    model.graph.as_mut().unwrap().node[0].domain = "com.microsoft.nchwc".to_owned();
    let error = import(&model).unwrap_err();
    assert!(error.contains("save it with ORT_ENABLE_EXTENDED"), "{error}");
}
