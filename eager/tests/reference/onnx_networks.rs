//! Ops of ONNX on a device against those of the host: recurrent cells, windows, convolutions and normalization.

use crate::onnx_devices::{Comparison, FLOATS, literal, tensor};

/// The operands of a recurrent op with this many gates, in the order of its formal inputs.
struct Recurrent {
    dtype: &'static str,
    gates: usize,
    directions: usize,
    batch_first: bool,
}

impl Recurrent {
    const STEPS: usize = 4;
    const BATCH: usize = 3;
    const HIDDEN: usize = 2;

    fn small(&self, dims: &[usize], seed: usize) -> String {
        let count = dims.iter().product();
        let numbers: Vec<f64> =
            (0..count).map(|i: usize| ((i * 29 + seed * 17) % 31) as f64 / 20.0 - 0.75).collect();
        literal(self.dtype, dims, &numbers)
    }

    fn line(&self, op: &str, attrs: &str, given: [u8; 8]) -> String {
        let &Self { gates, directions, batch_first, .. } = self;
        let (steps, batch, hidden) = (Self::STEPS, Self::BATCH, Self::HIDDEN);
        let of_batch = |a: usize, b: usize| if batch_first { [b, a] } else { [a, b] };
        let state = |seed| {
            let [first, second] = of_batch(directions, batch);
            self.small(&[first, second, hidden], seed)
        };
        let [first, second] = of_batch(steps, batch);
        let all = [
            self.small(&[first, second, 3], 1),
            self.small(&[directions, gates * hidden, 3], 2),
            self.small(&[directions, gates * hidden, hidden], 3),
            self.small(&[directions, 2 * gates * hidden], 4),
            "i32[3] 4 0 2".to_owned(),
            state(5),
            state(6),
            self.small(&[directions, 3 * hidden], 7),
        ];
        let chosen = all.iter().zip(given).filter(|(_, given)| *given == 1);
        let operands = chosen.map(|(operand, _)| operand.clone()).collect::<Vec<_>>().join("; ");
        let sizes = given.map(|given| given.to_string()).join(",");
        let direction = ["forward", "bidirectional"][directions - 1];
        let direction =
            if attrs.contains("direction") { String::new() } else { format!("direction=s:{direction}") };
        let layout = u8::from(batch_first);
        format!(
            "onnx.{op} {{{attrs} {direction} layout=i:{layout} operand_segment_sizes=li:{sizes}}} {operands}"
        )
    }
}

#[test]
fn recurrent_networks() {
    let mut compared = Comparison::new();
    let others = "ScaledTanh,HardSigmoid,Elu";
    for dtype in FLOATS {
        for (directions, batch_first) in [(1, false), (1, true), (2, false), (2, true)] {
            let of = |gates| Recurrent { dtype, gates, directions, batch_first };
            let (rnn, gru, lstm) = (of(1), of(3), of(4));
            let plain = [1, 1, 1, 0, 0, 0, 0, 0];
            compared.check(&rnn.line("RNN", "clip=f:0.5", plain), 2);
            compared.check(&rnn.line("RNN", "", [1, 1, 1, 1, 1, 1, 0, 0]), 2);
            for before in ["", "linear_before_reset=i:1"] {
                compared.check(&gru.line("GRU", before, plain), 2);
                compared.check(&gru.line("GRU", before, [1, 1, 1, 1, 1, 1, 0, 0]), 2);
            }
            compared.check(&lstm.line("LSTM", "", plain), 3);
            compared.check(&lstm.line("LSTM", "input_forget=i:1", [1, 1, 1, 1, 0, 1, 1, 1]), 3);
            compared.check(&lstm.line("LSTM", "clip=f:0.4", [1, 1, 1, 1, 1, 1, 1, 1]), 3);
            let given = vec![others; directions].join(",");
            let activations = format!("activations=ls:{given} activation_alpha=lf:0.5,0.3");
            compared.check(&lstm.line("LSTM", &activations, [1, 1, 1, 1, 0, 1, 1, 0]), 3);
        }
        let of = |gates| Recurrent { dtype, gates, directions: 1, batch_first: false };
        let all = [1, 1, 1, 1, 1, 1, 0, 0];
        compared.check(&of(3).line("GRU", "direction=s:reverse", all), 2);
        for activation in
            ["Relu", "Affine", "LeakyRelu", "ThresholdedRelu", "Softsign", "Softplus", "Sigmoid"]
        {
            let attrs = format!("direction=s:reverse activations=ls:{activation} activation_alpha=lf:0.25");
            compared.check(&of(1).line("RNN", &attrs, all), 2);
        }
    }
    let of = |gates| Recurrent { dtype: "f32", gates, directions: 1, batch_first: false };
    let plain = [1, 1, 1, 0, 0, 0, 0, 0];
    compared.refuses(&of(4).line("LSTM", "activations=ls:Sigmoid,Tanh", plain));
    compared.refuses(&of(4).line("LSTM", "hidden_size=i:3", plain));
    compared.refuses(&of(3).line("LSTM", "", plain));
    compared.refuses(&of(1).line("RNN", "", [1, 1, 1, 0, 0, 0, 1, 0]));
    compared.refuses(&of(3).line("GRU", "direction=s:sideways", plain));
    compared.refuses("onnx.RNN {} f32[1,1,1] 1; f32[1,1,1] 1");
    compared.end();
}

#[test]
fn windows_over_planes() {
    let mut compared = Comparison::new();
    let shapes: [(&[usize], &str); 7] = [
        (&[2, 2, 7], "kernel_shape=li:3"),
        (&[2, 2, 7], "kernel_shape=li:2 strides=li:3 pads=li:1,1 ceil_mode=i:1"),
        (&[1, 2, 5, 6], "kernel_shape=li:2,3 dilations=li:2,1 strides=li:1,2 pads=li:1,0,0,2"),
        (&[1, 2, 5, 6], "kernel_shape=li:3,3 auto_pad=s:SAME_LOWER strides=li:2,2"),
        (&[1, 1, 4, 3, 5], "kernel_shape=li:2,2,3 pads=li:0,1,1,1,0,1 strides=li:1,2,2"),
        (&[1, 0, 4], "kernel_shape=li:2"),
        (&[1, 2, 2], "kernel_shape=li:3 strides=li:3 ceil_mode=i:1"),
    ];
    for dtype in FLOATS.iter().chain(&["i8", "ui8"]) {
        for (number, (dims, attrs)) in shapes.into_iter().enumerate() {
            let x = tensor(dtype, dims, number);
            compared.check(&format!("onnx.MaxPool {{{attrs}}} {x}"), 1);
            for order in [0, 1] {
                let both = format!("{attrs} storage_order=i:{order} result_segment_sizes=li:1,1");
                compared.check(&format!("onnx.MaxPool {{{both}}} {x}"), 2);
            }
            if ["i8", "ui8"].contains(dtype) {
                continue;
            }
            for counts in [0, 1] {
                compared.check(&format!("onnx.AveragePool {{count_include_pad=i:{counts} {attrs}}} {x}"), 1);
            }
            for power in [1, 2, 3] {
                compared.check(&format!("onnx.LpPool {{p=i:{power} {attrs}}} {x}"), 1);
                compared.check(&format!("onnx.GlobalLpPool {{p=i:{power}}} {x}"), 1);
            }
            compared.check(&format!("onnx.GlobalMaxPool {{}} {x}"), 1);
            compared.check(&format!("onnx.GlobalAveragePool {{}} {x}"), 1);
        }
    }
    compared.check("onnx.MaxPool {kernel_shape=li:2} f32[1,1,4] NaN 1 2 NaN", 1);
    compared.check("onnx.GlobalMaxPool {} f32[1,2,3] NaN 1 2 3 4 5", 1);
    let x = tensor("f32", &[1, 2, 5], 1);
    for call in [
        format!("onnx.MaxPool {{}} {x}"),
        format!("onnx.MaxPool {{kernel_shape=li:2,2}} {x}"),
        format!("onnx.AveragePool {{kernel_shape=li:0}} {x}"),
        format!("onnx.LpPool {{kernel_shape=li:2 pads=li:1}} {x}"),
        format!("onnx.AveragePool {{kernel_shape=li:2 auto_pad=s:NONE}} {x}"),
        "onnx.GlobalMaxPool {} f32[2] 1 2".to_owned(),
    ] {
        compared.refuses(&call);
    }
    compared.end();
}

#[test]
fn convolutions() {
    let mut compared = Comparison::new();
    // Images, filters, attributes, and the channels of the result.
    let forward: [(&[usize], &[usize], &str); 6] = [
        (&[2, 4, 7], &[6, 2, 3], "group=i:2 pads=li:2,0"),
        (&[2, 3, 5, 6], &[2, 3, 2, 3], "dilations=li:2,1 strides=li:1,2 pads=li:1,0,0,2"),
        (&[1, 4, 5, 5], &[4, 1, 3, 3], "group=i:4 auto_pad=s:SAME_UPPER strides=li:2,2"),
        (&[1, 2, 4, 3, 5], &[3, 2, 2, 2, 3], "pads=li:0,1,1,1,0,1"),
        (&[1, 2, 6, 6], &[1, 2, 3, 3], "pads=li:-1,0,-1,1"),
        (&[0, 2, 6], &[3, 2, 2], ""),
    ];
    let transposed: [(&[usize], &[usize], &str); 6] = [
        (&[2, 4, 5], &[4, 3, 3], "group=i:2 strides=li:2 output_padding=li:1"),
        (&[2, 3, 4, 3], &[3, 2, 2, 3], "dilations=li:2,1 strides=li:1,2 pads=li:1,0,0,2"),
        (&[1, 2, 3, 3], &[2, 1, 3, 3], "group=i:2 auto_pad=s:SAME_LOWER strides=li:2,2"),
        (&[1, 2, 3, 2, 2], &[2, 3, 2, 2, 3], "strides=li:2,1,2"),
        (&[1, 2, 3], &[2, 1, 3], "output_shape=li:9 strides=li:3"),
        (&[0, 2, 6], &[2, 3, 2], ""),
    ];
    for dtype in FLOATS {
        for (op, cases) in [("Conv", forward), ("ConvTranspose", transposed)] {
            for (number, (x, w, attrs)) in cases.into_iter().enumerate() {
                let groups = if attrs.contains("group=i:2") { 2 } else { 1 };
                let outputs = if op == "Conv" { w[0] } else { w[1] * groups };
                let (x, w) = (tensor(dtype, x, number), tensor(dtype, w, number + 3));
                let bias = tensor(dtype, &[outputs], 4);
                compared.check(&format!("onnx.{op} {{{attrs}}} {x}; {w}"), 1);
                compared.check(&format!("onnx.{op} {{{attrs}}} {x}; {w}; {bias}"), 1);
            }
        }
        let blocks = tensor(dtype, &[1, 10, 16], 2);
        compared.check(&format!("onnx.Col2Im {{}} {blocks}; i64[2] 4 8; i64[2] 1 5"), 1);
        let attrs = "strides=li:2,2 pads=li:1,0,1,0 dilations=li:1,1";
        let blocks = tensor(dtype, &[2, 4, 6], 2);
        compared.check(&format!("onnx.Col2Im {{{attrs}}} {blocks}; i64[2] 4 4; i64[2] 2 2"), 1);
    }
    let (x, w) = (tensor("f32", &[1, 4, 5], 1), tensor("f32", &[2, 3, 2], 1));
    for call in [
        format!("onnx.Conv {{}} {x}; {w}"),
        format!("onnx.Conv {{group=i:0}} {x}; {w}"),
        format!("onnx.ConvTranspose {{}} {x}; {w}"),
        format!("onnx.Conv {{}} {x}; {}; f32[3] 1 2 3", tensor("f32", &[2, 4, 2], 1)),
        format!("onnx.Conv {{kernel_shape=li:3}} {x}; {}", tensor("f32", &[2, 4, 2], 1)),
        "onnx.Col2Im {} f32[1,3,4] 1 2 3 4 5 6 7 8 9 10 11 12; i64[2] 2 2; i64[2] 1 2".to_owned(),
    ] {
        compared.refuses(&call);
    }
    compared.end();
}

#[test]
fn normalized_channels() {
    let mut compared = Comparison::new();
    for dtype in FLOATS {
        for dims in [&[2, 3, 4][..], &[2, 3, 2, 2], &[3, 3], &[0, 3, 2]] {
            let x = tensor(dtype, dims, 1);
            let [scale, bias, mean] = [2, 3, 4].map(|seed| tensor(dtype, &[3], seed));
            let variance = literal(dtype, &[3], &["0.5", "2", "1.25"]);
            let given = format!("{x}; {scale}; {bias}; {mean}; {variance}");
            compared.check(&format!("onnx.BatchNormalization {{}} {given}"), 1);
            compared.check(&format!("onnx.BatchNormalization {{epsilon=f:0.5}} {given}"), 1);
            if dims[0] > 0 {
                let attrs = "training_mode=i:1 momentum=f:0.25";
                compared.check(&format!("onnx.BatchNormalization {{{attrs}}} {given}"), 3);
            }
            for size in [1, 2, 3, 9] {
                let attrs = format!("size=i:{size} alpha=f:0.5 beta=f:0.6 bias=f:2");
                compared.check(&format!("onnx.LRN {{{attrs}}} {x}"), 1);
            }
        }
    }
    let x = tensor("f32", &[2, 3, 4], 1);
    compared.refuses(&format!("onnx.LRN {{size=i:0}} {x}"));
    compared.refuses(&format!(
        "onnx.BatchNormalization {{}} {x}; f32[2] 1 2; f32[3] 1 2 3; f32[3] 1 2 3; f32[3] 1 2 3"
    ));
    compared.end();
}
