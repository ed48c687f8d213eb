//! Products of rows by the matrices of experts, against those of each row alone. All numbers are
//! small multiples of powers of two, so that both are exact.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test ends that way")]

mod support;

use support::{Case, Runner};
use tfrt_eager::TensorHandle;
use tfrt_tensor::Accessor;

static ME: Accessor = Accessor::new("test of experts");

/// Whole numbers without a pattern.
fn number(place: usize, seed: usize) -> usize {
    (place * 37 + place / 7 * 11 + seed * 13) % 17
}

/// A tensor as a case writes it: all numbers from `first` on.
fn literal(dtype: &str, dims: &[usize], first: usize, seed: usize) -> String {
    let count: usize = dims.iter().product();
    let dims = dims.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let numbers = (first..first + count).map(|place| number(place, seed).to_string());
    format!("{dtype}[{dims}] {}", numbers.collect::<Vec<_>>().join(" "))
}

fn call(runner: &Runner, line: &str) -> TensorHandle {
    let case = Case::parse(&format!("{line} -> error")).unwrap_or_else(|error| panic!("{line}: {error}"));
    let arguments = case.arguments.iter().map(|tensor| runner.handle(tensor.clone()));
    let handle = runner.call(&case.op, arguments, &case.attrs, 1).remove(0);
    runner.brought(&handle)
}

fn elements(handle: &TensorHandle) -> Vec<f32> {
    let tensor = handle.host_tensor().unwrap().unwrap_or_else(|error| panic!("{error}"));
    tensor.dense().unwrap().read::<f32>(&ME).unwrap().to_vec()
}

#[test]
fn each_row_is_multiplied_by_the_matrix_of_its_expert() {
    let runner = Runner::new("mstd");
    let (count, columns, depth) = (5, 33, 48);
    for rows in [1, 2, 7, 40] {
        let experts: Vec<usize> = (0..rows).map(|row| number(row, 5) % count).collect();
        let numbers = experts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let experts_of = format!("i64[{rows}] {numbers}");
        let x = literal("f32", &[rows, depth], 0, 1);
        let (weights, bias) =
            (literal("f32", &[count, columns, depth], 0, 2), literal("f32", &[count, columns], 0, 3));
        let found = call(&runner, &format!("tfrt.ExpertMatMul {{}} {x}; {experts_of}; {weights}; {bias}"));
        let found = elements(&found);
        for (row, &expert) in experts.iter().enumerate() {
            let x = literal("f32", &[1, depth], row * depth, 1);
            let own = literal("f32", &[columns, depth], expert * columns * depth, 2);
            let product = elements(&call(&runner, &format!("tf.MatMul {{transpose_b=b:true}} {x}; {own}")));
            let bias = (0..columns).map(|column| number(expert * columns + column, 3) as f32);
            let expected: Vec<f32> = product.iter().zip(bias).map(|(sum, bias)| sum + bias).collect();
            assert_eq!(found[row * columns..][..columns], expected, "row {row} of {rows}");
        }
    }
}

#[test]
fn each_row_is_multiplied_by_the_integers_of_its_expert() {
    let runner = Runner::new("mstd");
    let (count, columns, depth, block) = (3, 20, 40, 16);
    let blocks = 3;
    for (bits, attributes) in
        [(4, "bits=i:4 block_size=i:16"), (8, "bits=i:8 block_size=i:16 rounded=b:true")]
    {
        let (bytes, zero_bytes) = (blocks * block * bits / 8, usize::div_ceil(blocks * bits, 8));
        let rows = 6;
        let experts: Vec<usize> = (0..rows).map(|row| number(row, 2) % count).collect();
        let numbers = experts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        // The operands of `experts` matrices from the expert `first` on.
        let operands = |first: usize, experts: &[usize]| {
            let part = |dtype, dims: &[usize], seed| {
                let each: usize = dims.iter().product();
                literal(dtype, &[experts, dims].concat(), first * each, seed)
            };
            [
                part("ui8", &[columns, bytes], 4),
                part("f32", &[columns, blocks], 5),
                part("ui8", &[columns, zero_bytes], 6),
                part("f32", &[columns], 7),
            ]
            .join("; ")
        };
        let x = literal("f32", &[rows, depth], 0, 1);
        let line = format!("{{{attributes}}} {x}; i32[{rows}] {numbers}; {}", operands(0, &[count]));
        let found = elements(&call(&runner, &format!("tfrt.NarrowExpertMatMul {line}")));
        for (row, &expert) in experts.iter().enumerate() {
            let x = literal("f32", &[1, depth], row * depth, 1);
            let line = format!("{{{attributes}}} {x}; {}", operands(expert, &[]));
            let expected = elements(&call(&runner, &format!("tfrt.NarrowMatMul {line}")));
            assert_eq!(found[row * columns..][..columns], expected, "row {row} of {bits} bits");
        }
    }
}

#[test]
fn operands_that_do_not_fit_are_errors() {
    let runner = Runner::new("s");
    let operands = "f32[2,3] 1 2 3 4 5 6; i64[2] 0 1; f32[2,1,3] 1 2 3 4 5 6; f32[2,1] 1 2";
    let is_error = |operands: &str| {
        call(&runner, &format!("tfrt.ExpertMatMul {{}} {operands}")).host_tensor().unwrap().is_err()
    };
    assert!(!is_error(operands));
    for (from, to) in [
        ("i64[2] 0 1", "i64[2] 0 2"),
        ("i64[2] 0 1", "i64[2] 0 -1"),
        ("i64[2] 0 1", "i64[3] 0 1 1"),
        ("i64[2] 0 1", "f32[2] 0 1"),
        ("f32[2,1,3] 1 2 3 4 5 6", "f32[2,3] 1 2 3 4 5 6"),
        ("f32[2,1,3] 1 2 3 4 5 6", "f32[3,1,2] 1 2 3 4 5 6"),
        ("f32[2,1,3]", "f64[2,1,3]"),
        ("f32[2,1] 1 2", "f32[3,1] 1 2 3"),
    ] {
        let wrong = operands.replace(from, to);
        assert!(is_error(&wrong), "{wrong}");
    }
}
