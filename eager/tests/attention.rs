//! `onnx.Attention` of `f32`, which is planned, and that of devices against that of `f64`, which is
//! computed head by head; `tfrt.FusedAttention` of narrow types and of devices against that of `f32`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test ends that way")]

mod support;

use support::{Case, Runner};
use tfrt_eager::TensorHandle;
use tfrt_host::DType;
use tfrt_tensor::{Accessor, bf16, f16};

static ME: Accessor = Accessor::new("test of attention");

/// Numbers without a pattern, of which some are negative.
fn literal(dtype: &str, dims: &[usize], seed: usize) -> String {
    let count: usize = dims.iter().product();
    let number = |i: usize| ((i * 37 + i / 7 * 11 + seed * 13) % 64) as f64 / 16.0 - 2.0;
    let numbers: Vec<String> = (0..count).map(|i| number(i).to_string()).collect();
    let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
    format!("{dtype}[{}] {}", dims.join(","), numbers.join(" "))
}

/// The extents of a call, and which operands it has.
struct Call<'a> {
    batch: usize,
    heads: [usize; 2],
    steps: [usize; 2],
    past: usize,
    sizes: [usize; 2],
    is_packed: bool,
    mask: Option<&'a [usize]>,
    lengths: Option<&'a [i64]>,
    is_causal: bool,
}

impl Call<'_> {
    /// The results of a call in this type.
    fn run(&self, runner: &Runner, dtype: &str) -> Vec<Vec<f64>> {
        let &Call { batch, heads, steps, past, sizes, is_packed, mask, lengths, is_causal } = self;
        let of = |heads: usize, steps: usize, size: usize, seed: usize| match is_packed {
            true => literal(dtype, &[batch, steps, heads * size], seed),
            false => literal(dtype, &[batch, heads, steps, size], seed),
        };
        let mut operands = vec![
            of(heads[0], steps[0], sizes[0], 1),
            of(heads[1], steps[1], sizes[0], 2),
            of(heads[1], steps[1], sizes[1], 3),
        ];
        operands.extend(mask.map(|dims| literal(dtype, dims, 4)));
        if past > 0 {
            operands.push(literal(dtype, &[batch, heads[1], past, sizes[0]], 5));
            operands.push(literal(dtype, &[batch, heads[1], past, sizes[1]], 6));
        }
        operands.extend(lengths.map(|lengths| {
            let numbers: Vec<String> = lengths.iter().map(ToString::to_string).collect();
            format!("i64[{}] {}", numbers.len(), numbers.join(" "))
        }));
        let given = [true, true, true, mask.is_some(), past > 0, past > 0, lengths.is_some()];
        let given = given.map(|is_given| u8::from(is_given).to_string()).join(",");
        let attributes = format!(
            "operand_segment_sizes=li:{given} result_segment_sizes=li:1,1,1,0 q_num_heads=i:{} kv_num_heads=i:{} is_causal=i:{}",
            heads[0],
            heads[1],
            u8::from(is_causal)
        );
        let line = format!("onnx.Attention {{{attributes}}} {} -> error", operands.join("; "));
        let case = Case::parse(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let arguments = case.arguments.iter().map(|tensor| runner.handle(tensor.clone()));
        let results = runner.call(&case.op, arguments, &case.attrs, 3);
        results.iter().map(|handle| numbers(runner, handle, &line)).collect()
    }

    #[track_caller]
    fn compare(&self, runner: &Runner, tolerance: f64) {
        assert_close(&self.run(runner, "f32"), &self.run(runner, "f64"), tolerance);
    }

    /// Compares what a device gives with what the host does.
    #[track_caller]
    fn compare_on_device(&self, [device, host]: [&Runner; 2]) {
        let expected = self.run(host, "f64");
        for (dtype, tolerance) in NARROW {
            assert_close(&self.run(device, dtype), &expected, tolerance);
        }
    }
}

/// The types with kernels of devices, and how far their results may be from exact ones below 2.
const NARROW: [(&str, f64); 3] = [("f32", 4e-6), ("f16", 3e-3), ("bf16", 2e-2)];

/// The elements of a result.
fn numbers(runner: &Runner, handle: &TensorHandle, line: &str) -> Vec<f64> {
    let result = runner.brought(handle);
    let tensor = result.host_tensor().unwrap().unwrap_or_else(|error| panic!("{line}: {error}"));
    let tensor = tensor.dense().unwrap();
    match tensor.dtype() {
        DType::F16 => tensor.read::<f16>(&ME).unwrap().iter().map(|x| x.to_f64()).collect(),
        DType::BF16 => tensor.read::<bf16>(&ME).unwrap().iter().map(|x| x.to_f64()).collect(),
        DType::F32 => tensor.read::<f32>(&ME).unwrap().iter().map(|&x| x.into()).collect(),
        _ => tensor.read::<f64>(&ME).unwrap().to_vec(),
    }
}

#[track_caller]
fn assert_close(found: &[Vec<f64>], expected: &[Vec<f64>], tolerance: f64) {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < tolerance, "{found}, not {expected}");
        }
    }
}

/// Calls `check` with calls of all kinds.
fn with_calls(check: impl Fn(&Call<'_>)) {
    for is_packed in [false, true] {
        for (batch, heads, steps, past) in [
            (1, [4, 2], [1, 1], 9),
            (2, [6, 2], [1, 1], 3),
            (2, [4, 4], [5, 5], 0),
            (2, [6, 3], [3, 3], 4),
            (1, [4, 1], [12, 12], 20),
            (2, [2, 2], [4, 7], 0),
        ] {
            let (rows, keys) = (steps[0], steps[1] + past);
            let lengths: Vec<i64> = (0..batch as i64).map(|index| keys as i64 - index).collect();
            let masks: [Option<&[usize]>; 6] = [
                None,
                Some(&[keys]),
                Some(&[rows, keys]),
                Some(&[1, 1, rows, keys]),
                Some(&[batch, heads[0], 1, keys]),
                Some(&[batch, 1, rows, keys.min(2)]),
            ];
            for mask in masks {
                for lengths in [None, Some(&lengths[..])] {
                    for is_causal in [false, true] {
                        let sizes = [8, 5];
                        let call =
                            Call { batch, heads, steps, past, sizes, is_packed, mask, lengths, is_causal };
                        check(&call);
                    }
                }
            }
        }
    }
}

#[test]
fn planned_attention_is_that_of_doubles() {
    let runner = Runner::new("mstd:2");
    with_calls(|call| call.compare(&runner, 2e-6));
}

#[test]
fn attention_on_a_device_is_that_of_doubles() {
    let (device, host) = (Runner::on_device("mstd:2"), Runner::new("mstd:2"));
    with_calls(|call| call.compare_on_device([&device, &host]));
}

/// A call of `tfrt.FusedAttention`: the shapes of queries, keys, values and perhaps a mask, and the
/// orders of their axes and of those of the result.
struct Fused<'a> {
    shapes: &'a [&'a [usize]],
    orders: [&'a [usize]; 4],
}

impl Fused<'_> {
    fn run(&self, runner: &Runner, dtype: &str, mask_dtype: &str) -> Vec<f64> {
        let operands = self
            .shapes
            .iter()
            .enumerate()
            .map(|(index, dims)| literal(if index == 3 { mask_dtype } else { dtype }, dims, index + 1));
        let operands: Vec<_> = operands.collect();
        let orders = ["query_order", "key_order", "value_order", "output_order"].iter().zip(self.orders);
        let orders = orders.map(|(name, order)| {
            let axes: Vec<String> = order.iter().map(ToString::to_string).collect();
            format!("{name}=li:{}", axes.join(","))
        });
        let orders: Vec<_> = orders.collect();
        let line = format!(
            "tfrt.FusedAttention {{{} scale=f:0.25}} {} -> error",
            orders.join(" "),
            operands.join("; ")
        );
        let case = Case::parse(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let arguments = case.arguments.iter().map(|tensor| runner.handle(tensor.clone()));
        let results = runner.call(&case.op, arguments, &case.attrs, 1);
        numbers(runner, &results[0], &line)
    }
}

#[test]
fn fused_attention_reads_operands_in_any_order() {
    let (device, host) = (Runner::on_device("mstd:2"), Runner::new("mstd:2"));
    let (by_row, by_head): (&[usize], &[usize]) = (&[0, 2, 1, 3], &[0, 1, 2, 3]);
    let calls = [
        // Matrices alone, and a batch of them whose keys and values are columns.
        Fused { shapes: &[&[3, 8], &[5, 8], &[5, 6]], orders: [&[0, 1]; 4] },
        Fused {
            shapes: &[&[2, 3, 8], &[2, 8, 5], &[2, 6, 5], &[5]],
            orders: [&[0, 1, 2], &[0, 2, 1], &[0, 2, 1], &[1, 0, 2]],
        },
        // Heads behind rows, and a mask of each row and of each of the batch.
        Fused { shapes: &[&[2, 3, 4, 8], &[2, 7, 4, 8], &[2, 7, 4, 8], &[3, 7]], orders: [by_row; 4] },
        Fused {
            shapes: &[&[2, 3, 4, 8], &[2, 4, 7, 8], &[2, 7, 4, 8], &[2, 1, 1, 7]],
            orders: [by_row, by_head, by_row, by_head],
        },
        // All heads have the same keys, or one query serves for all.
        Fused { shapes: &[&[2, 4, 3, 8], &[2, 1, 7, 8], &[2, 1, 7, 8]], orders: [by_head; 4] },
        Fused { shapes: &[&[1, 1, 1, 8], &[2, 4, 7, 8], &[2, 4, 7, 8], &[3, 1]], orders: [by_head; 4] },
        // Heads in groups, of which each has its keys, and a mask of each of the batch.
        Fused {
            shapes: &[&[2, 5, 2, 3, 8], &[2, 2, 1, 7, 8], &[2, 2, 1, 7, 8], &[2, 1, 1, 1, 7]],
            orders: [&[0, 2, 3, 1, 4], &[0, 1, 2, 3, 4], &[0, 1, 2, 3, 4], &[0, 3, 1, 2, 4]],
        },
        Fused {
            shapes: &[&[2, 2, 3, 5, 8], &[2, 2, 1, 7, 8], &[2, 2, 1, 7, 8], &[2, 3, 5, 7]],
            orders: [&[0, 1, 2, 3, 4]; 4],
        },
        // More axes than the kernel takes.
        Fused {
            shapes: &[&[3, 2, 4, 3, 8], &[2, 3, 7, 4, 8], &[1, 3, 4, 7, 8], &[2, 1, 4, 1, 7]],
            orders: [&[1, 0, 2, 3, 4], &[0, 1, 3, 2, 4], &[0, 1, 2, 3, 4], &[1, 3, 0, 2, 4]],
        },
        Fused { shapes: &[&[2, 0, 8], &[2, 5, 8], &[2, 5, 8]], orders: [&[0, 1, 2]; 4] },
    ];
    for (index, call) in calls.iter().enumerate() {
        let expected = [call.run(&host, "f32", "f32")];
        for (dtype, tolerance) in NARROW {
            for (runner, mask) in [(&host, "f32"), (&device, "f32"), (&host, dtype), (&device, dtype)] {
                let found = [call.run(runner, dtype, mask)];
                assert!(!found[0].is_empty() || index + 1 == calls.len());
                assert_close(&found, &expected, tolerance);
            }
        }
    }
}

/// There are keys enough for several threads, and the sizes fill vectors.
#[test]
fn long_attention_is_that_of_doubles() {
    let runner = Runner::new("mstd:2");
    for (steps, past) in [(1, 2100), (70, 40), (40, 0)] {
        let call = Call {
            batch: 1,
            heads: [8, 2],
            steps: [steps, steps],
            past,
            sizes: [32, 48],
            is_packed: true,
            mask: None,
            lengths: None,
            is_causal: true,
        };
        // Scores are as great as 100, and their rounding shows in the exponentials.
        call.compare(&runner, 3e-5);
    }
}
