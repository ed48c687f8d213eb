//! Products of bytes against the same computed by parts: dequantized, multiplied, and quantized
//! again. All numbers are small multiples of powers of two, so that both are exact.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test ends that way")]

mod support;

use support::{Case, Runner};
use tfrt_eager::TensorHandle;
use tfrt_host::DType;
use tfrt_tensor::Accessor;

static ME: Accessor = Accessor::new("test of quantized products");

/// Bytes without a pattern.
fn literal(dtype: &str, dims: &[usize], seed: usize) -> String {
    let count: usize = dims.iter().product();
    let number = |i: usize| {
        let value = (i * 37 + i / 7 * 11 + seed * 13) % 200;
        if dtype == "ui8" { value.to_string() } else { (value as i64 - 100).to_string() }
    };
    let dims = dims.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    format!("{dtype}[{dims}] {}", (0..count).map(number).collect::<Vec<_>>().join(" "))
}

/// A vector of as many elements, which repeat.
fn repeated(dtype: &str, elements: &[&str], count: usize) -> String {
    let all: Vec<&str> = elements.iter().copied().cycle().take(count).collect();
    format!("{dtype}[{count}] {}", all.join(" "))
}

/// Calls an op with tensors that are written out, and with results of other calls before them.
fn call(runner: &Runner, before: &[&TensorHandle], line: &str) -> TensorHandle {
    let case = Case::parse(&format!("{line} -> error")).unwrap_or_else(|error| panic!("{line}: {error}"));
    let written = case.arguments.iter().map(|tensor| runner.handle(tensor.clone()));
    let arguments = before.iter().map(|&handle| handle.clone()).chain(written);
    runner.call(&case.op, arguments, &case.attrs, 1).remove(0)
}

fn numbers(runner: &Runner, handle: &TensorHandle) -> Vec<f64> {
    let result = runner.brought(handle);
    let tensor = result.host_tensor().unwrap().unwrap_or_else(|error| panic!("{error}"));
    let tensor = tensor.dense().unwrap();
    match tensor.dtype() {
        DType::F32 => tensor.read::<f32>(&ME).unwrap().iter().map(|&x| x.into()).collect(),
        DType::I8 => tensor.read::<i8>(&ME).unwrap().iter().map(|&x| x.into()).collect(),
        _ => tensor.read::<u8>(&ME).unwrap().iter().map(|&x| x.into()).collect(),
    }
}

/// The product `op` with these attributes, by parts and at once.
struct Product<'a> {
    ops: [&'a str; 2],
    attributes: &'a str,
    /// Bytes with their type.
    operands: [(&'a str, &'a [usize]); 2],
    columns: usize,
    /// The dimension of the right operand that its scales belong to.
    axis: usize,
}

fn compare(runner: &Runner, product: &Product<'_>) {
    let [(a_type, a_dims), (b_type, b_dims)] = product.operands;
    let (a, b) = (literal(a_type, a_dims, 1), literal(b_type, b_dims, 2));
    let bias = repeated("f32", &["1", "-2.5", "0.25"], product.columns);
    let of_each = [
        repeated("f32", &["0.5", "0.25", "2"], product.columns),
        repeated(b_type, &["3", "0", "7"], product.columns),
    ];
    for [b_scale, b_zero] in [["f32[] 0.25".to_owned(), format!("{b_type}[] 5")], of_each] {
        let a_scaled = format!("{a}; f32[] 0.5; {a_type}[] 9");
        let b_scaled = format!("{b}; {b_scale}; {b_zero}");
        let left = call(runner, &[], &format!("onnx.DequantizeLinear {{}} {a_scaled}"));
        let axis = format!("axis=i:{}", product.axis);
        let right = call(runner, &[], &format!("onnx.DequantizeLinear {{{axis}}} {b_scaled}"));
        let [by_parts, at_once] = product.ops;
        let products = call(runner, &[&left, &right], &format!("{by_parts} {{{}}}", product.attributes));
        let sums = call(runner, &[&products], &format!("tf.BiasAdd {{}} {bias}"));
        for (given, more, expected) in [
            ("1,1,1,1,1,1", String::new(), numbers(runner, &products)),
            ("1,1,1,1,1,1,1", format!("; {bias}"), numbers(runner, &sums)),
            (
                "1,1,1,1,1,1,1,1,1",
                format!("; {bias}; f32[] 16; i8[] -3"),
                numbers(runner, &call(runner, &[&sums], "onnx.QuantizeLinear {} f32[] 16; i8[] -3")),
            ),
            (
                "1,1,1,1,1,1,0,1,1",
                "; f32[] 16; ui8[] 100".to_owned(),
                numbers(runner, &call(runner, &[&products], "onnx.QuantizeLinear {} f32[] 16; ui8[] 100")),
            ),
        ] {
            let attributes = format!("operand_segment_sizes=li:{given} {}", product.attributes);
            let found =
                call(runner, &[], &format!("{at_once} {{{attributes}}} {a_scaled}; {b_scaled}{more}"));
            assert_eq!(numbers(runner, &found), expected, "{at_once} {attributes} {a_type} {b_type}");
        }
    }
}

#[test]
fn products_at_once_are_those_by_parts() {
    let runner = Runner::new("mstd:2");
    for (a_type, b_type) in [("ui8", "i8"), ("i8", "i8"), ("ui8", "ui8"), ("i8", "ui8")] {
        for (a, b) in [
            (&[3, 5][..], &[5, 4][..]),
            (&[2, 3, 70], &[70, 33]),
            (&[2, 17, 6], &[2, 6, 20]),
            (&[1, 3, 6], &[4, 6, 2]),
        ] {
            compare(
                &runner,
                &Product {
                    ops: ["tf.BatchMatMulV2", "tfrt.QuantizedMatMul"],
                    attributes: "",
                    operands: [(a_type, a), (b_type, b)],
                    columns: b[b.len() - 1],
                    axis: b.len() - 1,
                },
            );
        }
        for (attributes, images, filter) in [
            ("padding=s:SAME strides=li:1,1,1,1", [2, 5, 6, 3], [3, 3, 3, 8]),
            ("padding=s:VALID strides=li:1,2,1,1 dilations=li:1,1,2,1", [1, 7, 9, 4], [3, 2, 2, 6]),
            ("padding=s:SAME strides=li:1,2,2,1", [1, 6, 6, 12], [3, 3, 1, 12]),
        ] {
            compare(
                &runner,
                &Product {
                    ops: ["tf.Conv2D", "tfrt.QuantizedConv2D"],
                    attributes,
                    operands: [(a_type, &images), (b_type, &filter)],
                    columns: filter[3],
                    axis: 3,
                },
            );
        }
    }
}

#[test]
fn elements_at_once_are_those_by_parts() {
    let runner = Runner::new("mstd:2");
    for (a_type, b_type) in [("ui8", "i8"), ("i8", "i8"), ("ui8", "ui8"), ("i8", "ui8")] {
        for (a, b) in [
            (&[3, 5][..], &[3, 5][..]),
            (&[2, 17, 9, 33], &[2, 17, 9, 33]),
            (&[2, 17, 9, 33], &[2, 1, 1, 33]),
            (&[1, 120, 130, 20], &[1, 1, 1, 20]),
            (&[4, 7, 3], &[3]),
            (&[4, 7, 3], &[4, 7, 1]),
            (&[4, 7, 3], &[1, 1, 1]),
            (&[4, 7, 3], &[]),
            (&[2, 0, 3], &[2, 1, 3]),
            (&[], &[]),
        ] {
            let (a, b) = (literal(a_type, a, 1), literal(b_type, b, 2));
            let operands =
                [format!("{a}; f32[] 0.5; {a_type}[] 9"), format!("{b}; f32[] 0.25; {b_type}[] 5")];
            let [left, right] =
                [0, 1].map(|at| call(&runner, &[], &format!("onnx.DequantizeLinear {{}} {}", operands[at])));
            for (op, at_once, result) in [
                ("tf.AddV2", "tfrt.QuantizedAdd", "f32[] 0.25; ui8[] 100"),
                ("tf.AddV2", "tfrt.QuantizedAdd", "f32[] 1; i8[] -128"),
                ("tf.Mul", "tfrt.QuantizedMul", "f32[] 8; i8[] -3"),
                ("tf.Mul", "tfrt.QuantizedMul", "f32[] 0.5; ui8[] 0"),
            ] {
                let numbers_of = call(&runner, &[&left, &right], &format!("{op} {{}}"));
                let expected = call(&runner, &[&numbers_of], &format!("onnx.QuantizeLinear {{}} {result}"));
                let found = format!("{at_once} {{}} {}; {}; {result}", operands[0], operands[1]);
                let found = call(&runner, &[], &found);
                assert_eq!(numbers(&runner, &found), numbers(&runner, &expected), "{at_once} {result}");
            }
        }
    }
}

#[test]
fn means_at_once_are_those_by_parts() {
    let runner = Runner::new("mstd:2");
    for dtype in ["ui8", "i8"] {
        for dims in [&[2, 4, 8, 37][..], &[1, 64, 128, 70], &[3, 1, 1, 5], &[0, 2, 2, 3], &[1, 2, 2, 0]] {
            let operand = format!("{}; f32[] 0.5; {dtype}[] 9", literal(dtype, dims, 1));
            let x = call(&runner, &[], &format!("onnx.DequantizeLinear {{}} {operand}"));
            for (keeps, result) in [("true", "f32[] 0.125; ui8[] 100"), ("false", "f32[] 2; i8[] -3")] {
                let means = call(&runner, &[&x], &format!("tf.Mean {{keep_dims=b:{keeps}}} i32[2] 1 2"));
                let expected = call(&runner, &[&means], &format!("onnx.QuantizeLinear {{}} {result}"));
                let found = format!("tfrt.QuantizedMean {{keep_dims=b:{keeps}}} {operand}; {result}");
                let found = call(&runner, &[], &found);
                assert_eq!(numbers(&runner, &found), numbers(&runner, &expected), "{dtype} {dims:?}");
            }
        }
    }
}

#[test]
fn elements_that_do_not_fit_are_errors() {
    let runner = Runner::new("s");
    let scales = |shape: &str| format!("ui8[{shape}]; f32[] 1; ui8[] 0; f32[] 1; ui8[] 0");
    let pair = "ui8[1,2] 1 2; f32[] 1; ui8[] 0; ui8[1,2] 1 2; f32[] 1; ui8[] 0; f32[] 1; ui8[] 0";
    for (op, operands) in [
        ("tfrt.QuantizedAdd", pair.replace("ui8[] 0; ui8[1,2] 1 2", "i8[] 0; ui8[1,2] 1 2")),
        (
            "tfrt.QuantizedAdd",
            pair.replace("ui8[1,2] 1 2; f32[] 1; ui8[] 0; f32", "ui8[2] 1 2; f32[2] 1 1; ui8[] 0; f32"),
        ),
        ("tfrt.QuantizedMul", pair.replace("ui8[] 0; ui8[1,2] 1 2", "ui8[] 0; ui8[2,2] 1 2 3 4")),
        (
            "tfrt.QuantizedMul",
            pair.replace(
                "ui8[1,2] 1 2; f32[] 1; ui8[] 0; ui8[1,2]",
                "ui8[2] 1 2; f32[] 1; ui8[] 0; ui8[1,2]",
            ),
        ),
        ("tfrt.QuantizedMul", pair.replace("; f32[] 1; ui8[] 0; f32[] 1", "; f32[] 1; ui8[] 0; ui8[] 1")),
        ("tfrt.QuantizedMean", scales("1,0,2,3")),
        ("tfrt.QuantizedMean", scales("0,2")),
    ] {
        let handle = runner.brought(&call(&runner, &[], &format!("{op} {{}} {operands}")));
        assert!(handle.host_tensor().unwrap().is_err(), "{op} {operands}");
    }
}

#[test]
fn bytes_are_looked_up_by_their_bits() {
    let runner = Runner::new("s");
    let table: Vec<String> = (0..256).map(|at| (127 - at / 2).to_string()).collect();
    let table = format!("i8[256] {}", table.join(" "));
    let found = call(&runner, &[], &format!("tfrt.ByteTable {{}} ui8[2,2] 0 3 254 255; {table}"));
    assert_eq!(numbers(&runner, &found), [127.0, 126.0, 0.0, 0.0]);
    // Negative numbers are in the second half.
    let found = call(&runner, &[], &format!("tfrt.ByteTable {{}} i8[3] 127 -128 -1; {table}"));
    assert_eq!(numbers(&runner, &found), [64.0, 63.0, 0.0]);
    let short = runner.brought(&call(&runner, &[], "tfrt.ByteTable {} ui8[1] 1; ui8[2] 1 2"));
    assert!(short.host_tensor().unwrap().is_err());
}

#[test]
fn operands_that_do_not_fit_are_errors() {
    let runner = Runner::new("s");
    let operands = "ui8[1,2] 1 2; f32[] 1; ui8[] 0; i8[2,3] 1 2 3 4 5 6; f32[] 1; i8[] 0";
    for (given, operands) in [
        ("", operands.replace("ui8[] 0", "i8[] 0")),
        ("", operands.replace("i8[2,3] 1 2 3 4 5 6", "i8[3,2] 1 2 3 4 5 6")),
        ("", operands.replace("f32[] 1; i8[] 0", "f32[2] 1 2; i8[] 0")),
        ("", format!("{operands}; f32[2] 1 2")),
        ("operand_segment_sizes=li:1,1,1,1,1,1,0,1", format!("{operands}; f32[] 1")),
        ("", operands.replace("f32[] 1; ui8[] 0", "f32[2] 1 1; ui8[] 0")),
    ] {
        let handle = call(&runner, &[], &format!("tfrt.QuantizedMatMul {{{given}}} {operands}"));
        let handle = runner.brought(&handle);
        assert!(handle.host_tensor().unwrap().is_err(), "{operands}");
    }
}

#[test]
fn products_by_narrow_integers_check_their_operands() {
    let runner = Runner::new("s");
    let operands = "f32[3,16] 0.5; ui8[2,8] 99; f32[2,1] 2; ui8[2] 1";
    let is_error = |attributes: &str, operands: &str| {
        let operands = operands.split("; ").map(|operand| {
            let (ty, number) = operand.split_once(' ').unwrap();
            let dims = ty.split_once('[').unwrap().1.trim_end_matches(']');
            let count = dims.split(',').map(|dim| dim.parse::<usize>().unwrap()).product();
            format!("{ty} {}", vec![number; count].join(" "))
        });
        let operands = operands.collect::<Vec<_>>().join("; ");
        let handle = call(&runner, &[], &format!("tfrt.NarrowMatMul {{{attributes}}} {operands}"));
        runner.brought(&handle).host_tensor().unwrap().is_err()
    };
    let four = "bits=i:4 block_size=i:16";
    assert!(!is_error(four, operands) && !is_error("bits=i:4 block_size=i:16 rounded=b:true", operands));
    assert!(!is_error("bits=i:8 block_size=i:16", "f32[3,8] 0.5; ui8[2,16] 99; f32[2,1] 2"));
    for (attributes, operands) in [
        ("bits=i:3 block_size=i:16", operands.to_owned()),
        ("bits=i:4 block_size=i:24", operands.to_owned()),
        ("bits=i:4 block_size=i:-16", operands.to_owned()),
        ("bits=i:4", operands.to_owned()),
        (four, operands.replace("f32[3,16]", "f64[3,16]")),
        (four, operands.replace("f32[3,16]", "f32[3,17]")),
        (four, operands.replace("ui8[2,8]", "i8[2,8]")),
        (four, operands.replace("ui8[2,8]", "ui8[2,9]")),
        (four, operands.replace("f32[2,1]", "f32[3,1]")),
        (four, operands.replace("ui8[2]", "ui8[3]")),
        (four, format!("{operands}; f32[3] 1")),
    ] {
        assert!(is_error(attributes, &operands), "{attributes} {operands}");
    }
}
