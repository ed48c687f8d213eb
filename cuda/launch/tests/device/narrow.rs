//! Products by matrices of narrow integers.

use tfrt_launch::Narrow;

use super::{Random, assert_close, device};

#[test]
fn narrow_matrices_are_multiplied() {
    let (d, mut random) = (device(), Random::new(87));
    for (bits, block, rows, depth, cols) in [
        (4usize, 32usize, 1usize, 300usize, 7usize),
        (4, 16, 6, 64, 33),
        (8, 32, 5, 40, 3),
        (2, 64, 4, 130, 5),
    ] {
        let blocks = depth.div_ceil(block);
        let (bytes, stride) = (blocks * block * bits / 8, (blocks * bits).div_ceil(8));
        let mut packed = |count: usize| -> Vec<u8> {
            random.f32s(count, 0.0, 255.0).into_iter().map(|x| x as u8).collect()
        };
        let (matrix, zeros) = (packed(cols * bytes), packed(cols * stride));
        let (a, scales) = (random.f32s(rows * depth, -1.0, 1.0), random.f32s(cols * blocks, -0.1, 0.1));
        let integer = |bytes: &[u8], at: usize| {
            f32::from(bytes[at * bits / 8] >> (at * bits % 8) & (u8::MAX >> (8 - bits)))
        };
        let (da, dmatrix) = (d.upload(&a), d.upload(&matrix));
        let (dscales, dzeros) = (d.upload(&scales), d.upload(&zeros));
        for has_zeros in [true, false] {
            let narrow = Narrow {
                matrix: &dmatrix,
                scales: &dscales,
                zeros: has_zeros.then_some(&dzeros),
                depth: depth as u64,
                cols: cols as u64,
                block: block as u64,
                bits: bits as u64,
            };
            let weight = |col: usize, k: usize| {
                let zero = match has_zeros {
                    true => integer(&zeros[col * stride..], k / block),
                    false => f32::from(1u8 << (bits - 1)),
                };
                (integer(&matrix[col * bytes..], k) - zero) * scales[col * blocks + k / block]
            };
            let weights: Vec<f32> = (0..cols * depth).map(|i| weight(i / depth, i % depth)).collect();
            let dy = d.room::<f32>(cols * depth);
            d.kernels.narrow_values(&d.stream, &dy, narrow).unwrap();
            assert_close(&d.download(&dy, cols * depth), &weights, 1e-6);
            let expected: Vec<f32> = (0..rows * cols)
                .map(|i| {
                    let (row, weights) = (&a[i / cols * depth..][..depth], &weights[i % cols * depth..]);
                    row.iter().zip(weights).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>() as f32
                })
                .collect();
            let dy = d.room::<f32>(rows * cols);
            d.kernels.narrow_rows(&d.stream, &dy, (&da, rows as u64), narrow).unwrap();
            assert_close(&d.download(&dy, rows * cols), &expected, 1e-5);
            let wrong = [
                Narrow { bits: 3, ..narrow },
                Narrow { block: 24, ..narrow },
                Narrow { cols: 1 << 20, ..narrow },
                Narrow { depth: u64::MAX - 7, ..narrow },
            ];
            for wrong in wrong {
                assert!(d.kernels.narrow_rows(&d.stream, &dy, (&da, rows as u64), wrong).is_err());
            }
        }
    }
}
