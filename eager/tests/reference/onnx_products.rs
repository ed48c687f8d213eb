//! Ops of ONNX on a device against those of the host: quantized numbers, attention, samples of images
//! and Fourier transforms.

use crate::onnx_devices::{Comparison, FLOATS, literal, tensor};

#[test]
fn quantized_numbers() {
    let mut compared = Comparison::new();
    let block = "block_size=i:2 axis=i:1";
    for dtype in ["f32", "f16", "bf16"] {
        let x = literal(dtype, &[2, 3], &["NaN", "300", "-1.75", "2.25", "-500", "inf"]);
        let (one, each) = (literal(dtype, &[], &["0.5"]), literal(dtype, &[3], &["0.5", "2", "0.25"]));
        let blocks = literal(dtype, &[2, 2], &["0.5", "2", "0.25", "1"]);
        for quantized in ["i8", "ui8", "i16", "ui16"] {
            let zeros = literal(quantized, &[3], &[3, 0, 7]);
            let in_blocks = literal(quantized, &[2, 2], &[3, 0, 7, 1]);
            for call in [
                format!("{{output_dtype=t:{quantized}}} {x}; {one}"),
                format!("{{}} {x}; {one}; {quantized}[] 5"),
                format!("{{axis=i:-1}} {x}; {each}; {zeros}"),
                format!("{{{block}}} {x}; {blocks}; {in_blocks}"),
            ] {
                compared.check(&format!("onnx.QuantizeLinear {call}"), 1);
            }
        }
        for quantized in ["i8", "ui8", "i16", "ui16", "i32"] {
            let x = tensor(quantized, &[2, 3], 1);
            let zeros = literal(quantized, &[3], &[3, 0, 7]);
            let in_blocks = literal(quantized, &[2, 2], &[3, 0, 7, 1]);
            compared.check(&format!("onnx.DequantizeLinear {{}} {x}; {one}"), 1);
            compared.check(&format!("onnx.DequantizeLinear {{}} {x}; {each}; {zeros}"), 1);
            compared.check(&format!("onnx.DequantizeLinear {{{block}}} {x}; {blocks}; {in_blocks}"), 1);
        }
    }
    compared.check("onnx.QuantizeLinear {} i32[2] 7 -7; f32[] 2; i8[] 1", 1);
    compared.check("onnx.DequantizeLinear {} i32[2] 2147483647 -2147483648; f32[] 0.5; i32[] -7", 1);
    for x in ["f32[4] -1.5 0.5 3 2", "f32[2,2] 1 2 3 4", "f32[2] 0 0", "f32[0]", "f32[1] -7"] {
        compared.check(&format!("onnx.DynamicQuantizeLinear {{}} {x}"), 3);
    }
    compared.refuses("onnx.QuantizeLinear {} f32[2] 1 2; f32[3] 1 2 3");
    compared.refuses("onnx.QuantizeLinear {output_dtype=t:f32} f32[2] 1 2; f32[] 1");
    compared.refuses("onnx.DequantizeLinear {} i8[2] 1 2; f32[] 1; ui8[] 1");
    compared.end();
}

#[test]
fn products_of_integers() {
    let mut compared = Comparison::new();
    for (a, b) in [("ui8", "i8"), ("i8", "ui8"), ("ui8", "ui8"), ("i8", "i8")] {
        let (x, y) = (tensor(a, &[2, 3, 4], 1), tensor(b, &[4, 5], 2));
        let rows = literal(a, &[3], &[1, 0, 2]);
        let columns = literal(b, &[5], &[1, 0, 2, 3, 0]);
        for call in [
            format!("onnx.MatMulInteger {{}} {x}; {y}"),
            format!("onnx.MatMulInteger {{}} {x}; {y}; {a}[] 3; {b}[] 2"),
            format!("onnx.MatMulInteger {{}} {x}; {y}; {rows}; {columns}"),
            format!("onnx.MatMulInteger {{}} {}; {y}", tensor(a, &[4], 3)),
            format!("onnx.MatMulInteger {{}} {x}; {}", tensor(b, &[4], 3)),
            format!("onnx.MatMulInteger {{}} {}; {}", tensor(a, &[4], 3), tensor(b, &[4], 4)),
            format!("onnx.MatMulInteger {{}} {}; {}", tensor(a, &[1, 2, 0], 3), tensor(b, &[0, 4], 4)),
            format!("onnx.ConvInteger {{}} {}; {}", tensor(a, &[1, 2, 5], 3), tensor(b, &[3, 2, 2], 4)),
            format!(
                "onnx.ConvInteger {{pads=li:1,1,1,1 group=i:2}} {}; {}; {a}[] 3; {}",
                tensor(a, &[2, 4, 3, 3], 3),
                tensor(b, &[2, 2, 2, 2], 4),
                literal(b, &[2], &[1, 2])
            ),
        ] {
            compared.check(&call, 1);
        }
        let scales = "f32[] 0.5";
        compared.check(
            &format!("onnx.QLinearMatMul {{}} {x}; {scales}; {a}[] 3; {y}; f32[5] 0.5 1 2 0.25 1; {columns}; f32[] 0.75; {a}[] 9"),
            1,
        );
        let images = format!("{}; f32[] 0.5; {a}[] 3", tensor(a, &[1, 2, 5, 4], 3));
        let filter = format!("{}; f32[3] 0.5 1 0.125; {b}[] 2", tensor(b, &[3, 2, 2, 2], 4));
        let result = format!("f32[] 0.75; {a}[] 9");
        compared.check(&format!("onnx.QLinearConv {{pads=li:1,0,0,1}} {images}; {filter}; {result}"), 1);
        compared.check(
            &format!("onnx.QLinearConv {{strides=li:2,1}} {images}; {filter}; {result}; i32[3] 5 -20 100"),
            1,
        );
    }
    // A zero that is no byte of the images' type is subtracted all the same.
    compared.check("onnx.ConvInteger {pads=li:1,1} ui8[1,1,3] 1 2 250; i8[1,1,2] 3 -4; i8[] -5", 1);
    compared.refuses("onnx.MatMulInteger {} i8[2,3] 1 2 3 4 5 6; i8[2,3] 1 2 3 4 5 6");
    compared.refuses("onnx.MatMulInteger {} i8[2,1] 1 2; i8[1,2] 1 2; i8[3] 1 2 3");
    compared.refuses("onnx.ConvInteger {} i8[1,1,3] 1 2 3; i8[1,2,2] 1 2 3 4");
    compared.refuses(
        "onnx.QLinearConv {} i8[1,1,3] 1 2 3; f32[] 1; i8[] 0; i8[1,1,2] 1 2; f32[2] 1 2; i8[] 0; f32[] 1; i8[] 0",
    );
    compared.end();
}

#[test]
fn attention_and_rotations() {
    let mut compared = Comparison::new();
    for dtype in FLOATS {
        let [q, k, v] = [(4, 1), (2, 2), (2, 3)].map(|(heads, seed)| tensor(dtype, &[2, heads, 3, 4], seed));
        let packed = format!(
            "{}; {}; {}",
            tensor(dtype, &[2, 3, 16], 1),
            tensor(dtype, &[2, 3, 8], 2),
            tensor(dtype, &[2, 3, 6], 3)
        );
        let past = [4, 5].map(|seed| tensor(dtype, &[2, 2, 2, 4], seed)).join("; ");
        let mask = tensor(dtype, &[3, 3], 6);
        let seen = "i1[2,1,3,2] 1 0 1 1 0 1 1 1 1 0 1 1";
        let heads = "q_num_heads=i:4 kv_num_heads=i:2";
        for call in [
            format!("{{}} {q}; {k}; {v}"),
            format!("{{{heads} scale=f:0.25 softcap=f:2}} {packed}"),
            format!("{{is_causal=i:1}} {q}; {k}; {v}"),
            format!("{{}} {q}; {k}; {v}; {mask}"),
            format!("{{}} {q}; {k}; {v}; {seen}"),
            format!("{{operand_segment_sizes=li:1,1,1,0,0,0,1}} {q}; {k}; {v}; i64[2] 2 3"),
        ] {
            compared.check(&format!("onnx.Attention {call}"), 1);
        }
        for mode in [0, 1, 2, 3] {
            let sizes = "operand_segment_sizes=li:1,1,1,0,1,1 result_segment_sizes=li:1,1,1,1";
            let attrs = format!("is_causal=i:1 softcap=f:3 qk_matmul_output_mode=i:{mode} {sizes}");
            compared.check(&format!("onnx.Attention {{{attrs}}} {q}; {k}; {v}; {past}"), 4);
        }
        let empty = tensor(dtype, &[0, 2, 3, 4], 1);
        compared.check(&format!("onnx.Attention {{}} {empty}; {empty}; {empty}"), 1);
        for interleaved in [0, 1] {
            let x = tensor(dtype, &[2, 3, 4, 6], 1);
            let caches = [2, 3].map(|seed| tensor(dtype, &[5, 3], seed)).join("; ");
            let at = "i64[2,4] 0 1 2 3 4 3 2 1";
            let attrs = format!("interleaved=i:{interleaved}");
            compared.check(&format!("onnx.RotaryEmbedding {{{attrs}}} {x}; {caches}; {at}"), 1);
            let caches = [2, 3].map(|seed| tensor(dtype, &[2, 4, 2], seed)).join("; ");
            let attrs = format!("{attrs} rotary_embedding_dim=i:4");
            compared.check(&format!("onnx.RotaryEmbedding {{{attrs}}} {x}; {caches}"), 1);
            let x = tensor(dtype, &[2, 4, 18], 1);
            compared.check(&format!("onnx.RotaryEmbedding {{{attrs} num_heads=i:3}} {x}; {caches}"), 1);
        }
    }
    let [q, k] = [(3, 1), (2, 2)].map(|(heads, seed)| tensor("f32", &[1, heads, 3, 4], seed));
    compared.refuses(&format!("onnx.Attention {{}} {q}; {k}; {k}"));
    compared.refuses(&format!("onnx.Attention {{}} {k}; {k}; {k}; f32[3,4] 1 2 3 4 5 6 7 8 9 10 11 12"));
    compared.refuses(&format!("onnx.RotaryEmbedding {{}} {q}; f32[2,2] 1 2 3 4; f32[2,2] 1 2 3 4"));
    compared.refuses(&format!(
        "onnx.RotaryEmbedding {{rotary_embedding_dim=i:3}} {q}; f32[3,1] 1 2 3; f32[3,1] 1 2 3"
    ));
    compared.end();
}

#[test]
fn samples_of_images() {
    let mut compared = Comparison::new();
    for dtype in FLOATS {
        let x = tensor(dtype, &[2, 2, 4, 3], 1);
        let numbers: Vec<f64> = (0..36).map(|i| (i * 7 % 23) as f64 / 8.0 - 1.4).collect();
        let grid = literal("f32", &[2, 3, 3, 2], &numbers);
        let volume = tensor(dtype, &[1, 2, 3, 2, 4], 2);
        let in_volume = literal("f64", &[1, 1, 3, 4, 3], &numbers);
        let line = tensor(dtype, &[1, 2, 5], 2);
        let in_line = literal("f32", &[1, 6, 1], &numbers[..6]);
        for mode in ["nearest", "linear", "cubic"] {
            for padding in ["zeros", "border", "reflection"] {
                for aligned in [0, 1] {
                    let attrs = format!("mode=s:{mode} padding_mode=s:{padding} align_corners=i:{aligned}");
                    compared.check(&format!("onnx.GridSample {{{attrs}}} {x}; {grid}"), 1);
                    compared.check(&format!("onnx.GridSample {{{attrs}}} {volume}; {in_volume}"), 1);
                    compared.check(&format!("onnx.GridSample {{{attrs}}} {line}; {in_line}"), 1);
                }
            }
        }
        let far = "f32[1,1,3,2] NaN 0 inf -inf 1e30 0";
        let image = tensor(dtype, &[1, 1, 3, 3], 1);
        compared.check(&format!("onnx.GridSample {{}} {image}; {far}"), 1);
        let theta = tensor(dtype, &[2, 2, 3], 1);
        for aligned in [0, 1] {
            let attrs = format!("align_corners=i:{aligned}");
            compared.check(&format!("onnx.AffineGrid {{{attrs}}} {theta}; i64[4] 2 3 4 1"), 1);
            let theta = tensor(dtype, &[1, 3, 4], 1);
            compared.check(&format!("onnx.AffineGrid {{{attrs}}} {theta}; i64[5] 1 1 2 3 2"), 1);
        }
        let regions = literal(dtype, &[2, 4], &["0", "0.5", "2.5", "3", "-1", "1", "6", "2.25"]);
        for (attrs, mode) in [("", "avg"), ("sampling_ratio=i:2", "avg"), ("spatial_scale=f:0.5", "max")] {
            for transformation in ["half_pixel", "output_half_pixel"] {
                let attrs = format!(
                    "{attrs} mode=s:{mode} coordinate_transformation_mode=s:{transformation} output_height=i:2 output_width=i:3"
                );
                compared.check(&format!("onnx.RoiAlign {{{attrs}}} {x}; {regions}; i64[2] 1 0"), 1);
            }
        }
    }
    let x = tensor("f32", &[1, 1, 3, 3], 1);
    compared.refuses(&format!("onnx.GridSample {{}} {x}; f32[1,1,1,3] 0 0 0"));
    compared.refuses(&format!("onnx.GridSample {{mode=s:fuzzy}} {x}; f32[1,1,1,2] 0 0"));
    compared.refuses("onnx.GridSample {} f32[1,1,0,2]; f32[1,1,1,2] 0 0");
    compared.refuses("onnx.AffineGrid {} f32[1,2,3] 1 2 3 4 5 6; i64[3] 1 1 2");
    compared.refuses(&format!("onnx.RoiAlign {{mode=s:sum}} {x}; f32[1,4] 0 0 1 1; i64[1] 0"));
    compared.refuses(&format!("onnx.RoiAlign {{}} {x}; f32[1,3] 0 0 1; i64[1] 0"));
    compared.end();
}

#[test]
fn fourier_transforms() {
    let mut compared = Comparison::new();
    for dtype in FLOATS {
        let (real, complex) = (tensor(dtype, &[2, 5, 3, 1], 1), tensor(dtype, &[2, 5, 3, 2], 1));
        for call in [
            format!("onnx.DFT {{operand_segment_sizes=li:1,0,1}} {real}; i64[] 1"),
            format!("onnx.DFT {{operand_segment_sizes=li:1,0,1 onesided=i:1}} {real}; i64[] 1"),
            format!("onnx.DFT {{onesided=i:1}} {real}; i64[] 4; i64[] 1"),
            format!("onnx.DFT {{}} {complex}; i64[] 7; i64[] -3"),
            format!("onnx.DFT {{inverse=i:1}} {complex}"),
            format!("onnx.DFT {{inverse=i:1 onesided=i:1}} {complex}; i64[] 8; i64[] 1"),
            format!("onnx.DFT {{inverse=i:1 onesided=i:1}} {complex}; i64[] 9; i64[] 1"),
            format!("onnx.DFT {{inverse=i:1 onesided=i:1}} {complex}; i64[] 3; i64[] 1"),
        ] {
            compared.check(&call, 1);
        }
        let signal = tensor(dtype, &[2, 12, 1], 1);
        let window = literal(dtype, &[4], &["0.5", "1", "0.75", "0.25"]);
        for call in [
            format!("onnx.STFT {{}} {signal}; i64[] 3; {window}"),
            format!("onnx.STFT {{onesided=i:0}} {signal}; i64[] 2; {window}; i64[] 6"),
            format!("onnx.STFT {{operand_segment_sizes=li:1,1,0,1}} {signal}; i64[] 5; i64[] 4"),
            format!("onnx.STFT {{}} {}; i64[] 4; {window}", tensor(dtype, &[1, 12, 2], 3)),
            format!("onnx.STFT {{}} {}; i64[] 4; {window}", tensor(dtype, &[1, 3], 3)),
        ] {
            compared.check(&call, 1);
        }
    }
    let x = tensor("f32", &[2, 5, 1], 1);
    compared.refuses(&format!("onnx.DFT {{}} {x}; i64[] 0"));
    compared.refuses("onnx.DFT {} f32[2,3] 1 2 3 4 5 6");
    compared.refuses(&format!("onnx.STFT {{}} {x}; i64[] 0; f32[2] 1 1"));
    compared.refuses(&format!("onnx.STFT {{}} {x}; i64[] 1"));
    compared.end();
}

#[test]
fn products_by_narrow_integers() {
    let mut compared = Comparison::new();
    for (bits, block, depth, cols) in [(4, 16, 40, 7), (4, 32, 64, 33), (8, 16, 20, 5), (2, 32, 70, 4)] {
        let blocks = usize::div_ceil(depth, block);
        let matrix = tensor("ui8", &[cols, blocks, block * bits / 8], 1);
        let (scales, zeros) =
            (tensor("f32", &[cols, blocks], 2), tensor("ui8", &[cols, usize::div_ceil(blocks * bits, 8)], 3));
        let bias = tensor("f32", &[cols], 4);
        for rows in [1, 5, 20, 0] {
            let a = tensor("f32", &[rows, depth], 5);
            let attrs = format!("bits=i:{bits} block_size=i:{block}");
            let skips = "operand_segment_sizes=li:1,1,1,0,1";
            for call in [
                format!("{{{attrs}}} {a}; {matrix}; {scales}"),
                format!("{{{attrs}}} {a}; {matrix}; {scales}; {zeros}"),
                format!("{{{attrs}}} {a}; {matrix}; {scales}; {zeros}; {bias}"),
                format!("{{{attrs} {skips}}} {a}; {matrix}; {scales}; {bias}"),
            ] {
                compared.check(&format!("tfrt.NarrowMatMul {call}"), 1);
            }
        }
        compared.refuses(&format!(
            "tfrt.NarrowMatMul {{bits=i:3 block_size=i:{block}}} {bias}; {matrix}; {scales}"
        ));
    }
    compared.end();
}
