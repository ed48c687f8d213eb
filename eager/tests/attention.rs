//! `onnx.Attention` of `f32`, which is planned, against that of `f64`, which is computed head by head.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test ends that way")]

mod support;

use support::{Case, Runner};
use tfrt_host::DType;
use tfrt_tensor::Accessor;

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
        results
            .iter()
            .map(|handle| {
                let result = runner.brought(handle);
                let tensor = result.host_tensor().unwrap().unwrap_or_else(|error| panic!("{line}: {error}"));
                let tensor = tensor.dense().unwrap();
                match tensor.dtype() {
                    DType::F32 => tensor.read::<f32>(&ME).unwrap().iter().map(|&x| x.into()).collect(),
                    _ => tensor.read::<f64>(&ME).unwrap().to_vec(),
                }
            })
            .collect()
    }

    fn compare(&self, runner: &Runner, tolerance: f64) {
        let (found, expected) = (self.run(runner, "f32"), self.run(runner, "f64"));
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < tolerance, "{found}, not {expected}");
            }
        }
    }
}

#[test]
fn planned_attention_is_that_of_doubles() {
    let runner = Runner::new("mstd:2");
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
                        call.compare(&runner, 2e-6);
                    }
                }
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
