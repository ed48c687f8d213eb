//! Normalization of rows.

use half::f16;
use tfrt_host::DType;
use tfrt_launch::{Normalization, NormalizationBuffers, Rows};

use super::{Random, assert_close, device, widened};

const EPSILON: f32 = 1e-3;

/// Rows, columns, period and plane: rows for warps and for blocks, of whole packs and others, such
/// that registers hold and longer ones, and channels whose planes begin within a pack.
const SHAPES: &[[usize; 4]] = &[
    [5, 10, 1, 1],
    [3, 64, 1, 1],
    [3, 512, 3, 1],
    [2, 1024, 1, 1],
    [3, 1001, 1, 1],
    [2, 4104, 1, 1],
    [4, 24, 2, 6],
    [6, 40, 3, 20],
    [4, 4200, 4, 700],
    [2, 8192, 1, 64],
    [0, 4, 1, 1],
];

/// The normalized rows, their means and their factors.
fn expected(x: &[f32], [scale, shift]: [&[f32]; 2], how: Normalization) -> [Vec<f32>; 3] {
    let (columns, period, plane) = (how.rows.columns as usize, how.period as usize, how.plane as usize);
    let [mut y, mut means, mut factors] = [(); 3].map(|()| Vec::new());
    for (r, row) in x.chunks(columns).enumerate() {
        let mean_of =
            |f: &dyn Fn(f64) -> f64| row.iter().map(|&x| f(x.into())).sum::<f64>() / row.len() as f64;
        let mean = if how.centered { mean_of(&|x| x) } else { 0.0 };
        let factor = 1.0 / (mean_of(&|x| (x - mean).powi(2)) + f64::from(how.epsilon)).sqrt();
        y.extend(row.iter().enumerate().map(|(c, &x)| {
            let p = (r % period * columns + c) / plane;
            ((f64::from(x) - mean) * factor * f64::from(scale[p]) + f64::from(shift[p])) as f32
        }));
        means.push(mean as f32);
        factors.push(factor as f32);
    }
    [y, means, factors]
}

fn how([rows, columns, period, plane]: [usize; 4], centered: bool) -> Normalization {
    let rows = Rows { rows: rows as u64, columns: columns as u64 };
    Normalization { rows, period: period as u64, plane: plane as u64, epsilon: EPSILON, centered }
}

#[test]
fn rows_and_groups_are_normalized() {
    let (d, mut random) = (device(), Random::new(12));
    for &shape in SHAPES {
        let [rows, columns, period, plane] = shape;
        let (n, coefficients) = (rows * columns, period * columns / plane);
        // A mean far from zero, whose square would lose the variance.
        let x = random.f32s(n, 99.0, 101.0);
        let [scale, shift] = [(); 2].map(|()| random.f32s(coefficients, -2.0, 2.0));
        for centered in [true, false] {
            let how = how(shape, centered);
            let [y, means, factors] = [d.room::<f32>(n), d.room::<f32>(rows), d.room::<f32>(rows)];
            let buffers = NormalizationBuffers {
                y: &y,
                means: Some(&means),
                factors: Some(&factors),
                x: &d.upload(&x),
                scale: &d.upload(&scale),
                shift: Some(&d.upload(&shift)),
            };
            d.kernels.normalize(&d.stream, DType::F32, buffers, how).unwrap();
            let expected = expected(&x, [&scale, &shift], how);
            assert_close(&d.download::<f32>(&y, n), &expected[0], 1e-4);
            assert_close(&d.download::<f32>(&means, rows), &expected[1], 1e-4);
            assert_close(&d.download::<f32>(&factors, rows), &expected[2], 1e-4);
        }
    }
}

/// In place, without a shift and without statistics.
#[test]
fn halves_are_normalized_in_place() {
    let (d, mut random) = (device(), Random::new(13));
    for &shape in SHAPES {
        let [rows, columns, period, plane] = shape;
        let n = rows * columns;
        let (x, scale) = (random.halves(n, -2.0, 2.0), random.halves(period * columns / plane, -1.0, 1.0));
        let y = d.upload(&x);
        let buffers = NormalizationBuffers {
            y: &y,
            means: None,
            factors: None,
            x: &y,
            scale: &d.upload(&scale),
            shift: None,
        };
        let how = how(shape, true);
        d.kernels.normalize(&d.stream, DType::F16, buffers, how).unwrap();
        let expected = expected(&widened(&x), [&widened(&scale), &vec![0.0; scale.len()]], how);
        assert_close(&widened(&d.download::<f16>(&y, n)), &expected[0], 4e-3);
    }
}

#[test]
fn a_scale_that_is_too_short_is_an_error() {
    let d = device();
    let (x, scale) = (d.room::<f32>(64), d.room::<f32>(8));
    let buffers =
        NormalizationBuffers { y: &x, means: None, factors: None, x: &x, scale: &scale, shift: None };
    let error = d.kernels.normalize(&d.stream, DType::F32, buffers, how([2, 32, 1, 2], true)).unwrap_err();
    assert!(error.to_string().contains("the scale"), "{error}");
}
