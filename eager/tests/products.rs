//! Products of many rows by one matrix, which is laid out once and kept with its elements if these
//! are read-only.

#![expect(clippy::unwrap_used, reason = "a test ends that way")]

mod support;

use support::Runner;
use tfrt_eager::{OpAttrs, TensorHandle};
use tfrt_host::host_buffer::{HostBuffer, ReadGuard};
use tfrt_tensor::{Accessor, DenseHostTensor, TensorShape};

static ME: Accessor = Accessor::new("test of products");

/// Small whole numbers, whose products and sums are exact.
fn value(place: usize, modulus: usize) -> f32 {
    (place % modulus) as f32 - 3.0
}

fn tensor(dims: &[usize], modulus: usize) -> DenseHostTensor {
    let values: Vec<f32> = (0..dims.iter().product()).map(|place| value(place, modulus)).collect();
    DenseHostTensor::from_slice(TensorShape::new(dims).unwrap(), &values, &support::allocator()).unwrap()
}

/// Memory that is lent for reading, as the weights of a model are.
struct Lent(ReadGuard<HostBuffer>);

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The same numbers in memory that cannot be written.
fn weights(dims: &[usize], modulus: usize) -> DenseHostTensor {
    let tensor = tensor(dims, modulus);
    let bytes = HostBuffer::from_readonly(Lent(tensor.buffer().read_owned(0).unwrap()));
    DenseHostTensor::from_buffer(tensor.metadata().clone(), bytes).unwrap()
}

fn elements(runner: &Runner, handle: &TensorHandle) -> Vec<f32> {
    let result = runner.brought(handle);
    let tensor = result.host_tensor().unwrap().unwrap();
    tensor.dense().unwrap().read::<f32>(&ME).unwrap().to_vec()
}

fn flags(names: &[&str]) -> OpAttrs {
    let mut attrs = OpAttrs::new();
    for name in names {
        attrs.set(name, true).unwrap();
    }
    attrs
}

/// `a · b`, where each says whether it is transposed, by the definition.
fn expected([rows, depth, columns]: [usize; 3], transposed: [bool; 2]) -> Vec<f32> {
    let a = |i: usize, k: usize| value(if transposed[0] { k * rows + i } else { i * depth + k }, 7);
    let b = |k: usize, j: usize| value(if transposed[1] { j * depth + k } else { k * columns + j }, 5);
    let element = |place: usize| {
        let (i, j) = (place / columns, place % columns);
        (0..depth).map(|k| a(i, k) * b(k, j)).sum()
    };
    (0..rows * columns).map(element).collect()
}

#[test]
fn products_of_any_number_of_rows_are_those_of_the_definition() {
    let runner = Runner::new("mstd:2");
    for rows in [1, 15, 16, 17, 200] {
        for (depth, columns) in [(1, 1), (5, 130), (70, 33), (130, 1)] {
            for transposed in [[false, false], [false, true], [true, false], [true, true]] {
                let a = if transposed[0] { [depth, rows] } else { [rows, depth] };
                let b = if transposed[1] { [columns, depth] } else { [depth, columns] };
                let attrs: Vec<_> = [("transpose_a", transposed[0]), ("transpose_b", transposed[1])]
                    .into_iter()
                    .filter_map(|(name, is_set)| is_set.then_some(name))
                    .collect();
                let factors = [tensor(&a, 7), weights(&b, 5)].map(|tensor| runner.handle(tensor));
                let result = runner.call("tf.MatMul", factors, &flags(&attrs), 1);
                assert_eq!(
                    elements(&runner, &result[0]),
                    expected([rows, depth, columns], transposed),
                    "{rows}x{depth}x{columns} {attrs:?}"
                );
            }
        }
    }
}

#[test]
fn one_matrix_serves_as_it_is_and_transposed() {
    let runner = Runner::new("mstd:2");
    let (a, b) = (runner.handle(tensor(&[20, 30], 7)), runner.handle(weights(&[30, 30], 5)));
    for is_transposed in [false, true, false] {
        let names: &[&str] = if is_transposed { &["transpose_b"] } else { &[] };
        let result = runner.call("tf.MatMul", [a.clone(), b.clone()], &flags(names), 1);
        assert_eq!(elements(&runner, &result[0]), expected([20, 30, 30], [false, is_transposed]));
    }
}

#[test]
fn one_matrix_serves_all_of_a_batch() {
    let runner = Runner::new("mstd:2");
    for (names, is_transposed) in [(&[][..], false), (&["adj_y"], true)] {
        let b: &[usize] = if is_transposed { &[33, 20] } else { &[20, 33] };
        let factors = [tensor(&[3, 8, 20], 7), weights(b, 5)].map(|tensor| runner.handle(tensor));
        let result = runner.call("tf.BatchMatMulV2", factors, &flags(names), 1);
        assert_eq!(elements(&runner, &result[0]), expected([24, 20, 33], [false, is_transposed]));
    }
    // Where it is the other one that serves all, the result has more rows than the first operand.
    let factors = [tensor(&[16, 20], 7), tensor(&[1, 20, 33], 5)].map(|tensor| runner.handle(tensor));
    let result = runner.call("tf.BatchMatMulV2", factors, &OpAttrs::new(), 1);
    assert_eq!(elements(&runner, &result[0]), expected([16, 20, 33], [false; 2]));
}

#[test]
fn biases_and_activations_are_applied() {
    let runner = Runner::new("mstd:2");
    type Case = (&'static [&'static str], fn(f32) -> f32);
    let functions: [Case; 4] = [
        (&["BiasAdd"], |x| x),
        (&["BiasAdd", "Relu"], |x| x.max(0.0)),
        (&["BiasAdd", "Relu6"], |x| x.clamp(0.0, 6.0)),
        (&["BiasAdd", "AddOne"], |x| x + 1.0),
    ];
    for (names, function) in functions {
        for rows in [3, 40] {
            let mut attrs = OpAttrs::new();
            attrs.set_strings("fused_ops", names.iter().copied()).unwrap();
            let operands = [tensor(&[rows, 9], 7), weights(&[9, 50], 5), tensor(&[50], 11)];
            let result = runner.call("tf._FusedMatMul", operands.map(|t| runner.handle(t)), &attrs, 1);
            let products = expected([rows, 9, 50], [false; 2]);
            let wanted: Vec<f32> =
                (0..).zip(products).map(|(place, x)| function(x + value(place % 50, 11))).collect();
            assert_eq!(elements(&runner, &result[0]), wanted, "{names:?}, {rows} rows");
        }
    }
}

#[test]
fn a_matrix_that_changes_in_place_is_multiplied_as_it_is_now() {
    let runner = Runner::new("mstd:2");
    let (a, b) = (runner.handle(tensor(&[40, 30], 7)), tensor(&[30, 20], 5));
    let multiply = || {
        let factors = [a.clone(), runner.handle(b.clone())];
        elements(&runner, &runner.call("tf.MatMul", factors, &OpAttrs::new(), 1)[0])
    };
    let before = multiply();
    assert_eq!(before, multiply());
    b.write::<f32>(&ME).unwrap().iter_mut().for_each(|x| *x *= 2.0);
    let doubled: Vec<f32> = before.iter().map(|x| x * 2.0).collect();
    assert_eq!(multiply(), doubled);
}
