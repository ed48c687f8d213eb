//! References of `half.cu`: every result rounded once, from an exact one.

use half::{bf16, f16};

use crate::support::{
    Gpu, args,
    compare::{assert_close, assert_same},
    floats::{to_bf16, to_f16},
    kernels,
};

kernels! { half: compute_75 compute_80 compute_90 => [arithmetic_f16 arithmetic_f16x2 compare_f16 functions_f16] }

mod from_80 {
    use super::{arithmetic_bf16, kernels, newer_f16};
    kernels! { half: compute_80 compute_90 => [newer_f16 arithmetic_bf16] }
}

/// Halves of every kind.
fn any_f16(gpu: &mut Gpu, n: usize) -> Vec<f16> {
    let draw = |_| match gpu.rng.u8(..3) {
        0 => f16::from_bits(gpu.rng.u16(..)),
        1 => {
            f16::from_f32([0.0, -0.0, 1.0, f32::INFINITY, -f32::INFINITY, f32::NAN, 6e-8][gpu.rng.usize(..7)])
        }
        _ => f16::from_f32(gpu.rng.f32() * 8.0 - 4.0),
    };
    (0..n).map(draw).collect()
}

fn saturate(x: f64) -> f64 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

/// The fused product and sum of halves is exact in double precision unless the sum is far larger
/// than the product, where the product counts as a trace. Rounding to odd keeps that trace.
fn fused(a: f64, b: f64, c: f64) -> f64 {
    let (sum, rest) = crate::support::floats::two_sum(a * b, c);
    if !sum.is_finite() || rest == 0.0 {
        return sum;
    }
    if sum.to_bits() & 1 == 1 {
        return sum;
    }
    f64::from_bits(if (rest > 0.0) == (sum > 0.0) { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

fn arithmetic_f16(gpu: &mut Gpu) {
    let n = gpu.len(600);
    let (x, y, z) = (any_f16(gpu, n), any_f16(gpu, n), any_f16(gpu, n));
    let (dx, dy, dz, out) = (gpu.upload(&x), gpu.upload(&y), gpu.upload(&z), gpu.uninit::<[f16; 12]>(n));
    gpu.launch("arithmetic_f16", n.div_ceil(64) as u32, 64, args![dx, dy, dz, out, n as i32]);
    let got = gpu.read(out);
    let exact = |i: usize| {
        let [a, b, c] = [x[i], y[i], z[i]].map(f64::from);
        [a + b, a - b, a * b, fused(a, b, c)].map(to_f16)
    };
    let signs = |i: usize| [f16::from_bits(x[i].to_bits() ^ 0x8000), f16::from_bits(x[i].to_bits() & 0x7fff)];
    let saturated = |i: usize| {
        let [a, b, c] = [x[i], y[i], z[i]].map(f64::from);
        [a + b, a * b, fused(a, b, c)].map(|v| to_f16(saturate(v)))
    };
    let part =
        |from: usize, len: usize| got.iter().flat_map(|o| o[from..from + len].to_vec()).collect::<Vec<_>>();
    assert_same(&part(0, 4), &(0..n).flat_map(exact).collect::<Vec<_>>());
    assert_same(&part(5, 2), &(0..n).flat_map(signs).collect::<Vec<_>>());
    assert_same(&part(7, 3), &(0..n).flat_map(saturated).collect::<Vec<_>>());
    // Quotient, root and reciprocal come from approximations: near the exact one by a unit.
    for (i, o) in got.iter().enumerate() {
        let [a, b] = [x[i], y[i]].map(f64::from);
        near_f16(o[4], a / b);
        near_f16(o[10], a.abs().sqrt());
        near_f16(o[11], 1.0 / b);
    }
}

/// At most one step of the format from the nearest half.
#[track_caller]
fn near_f16(got: f16, want: f64) {
    let nearest = to_f16(want);
    let order = |v: f16| {
        if v.to_bits() >> 15 == 1 { -i32::from(v.to_bits() & 0x7fff) } else { i32::from(v.to_bits()) }
    };
    let close = got.is_nan() && nearest.is_nan()
        || !got.is_nan() && !nearest.is_nan() && (order(got) - order(nearest)).abs() <= 1;
    assert!(close, "{got:e}, not {want:e}");
}

fn arithmetic_f16x2(gpu: &mut Gpu) {
    let n = gpu.len(400);
    let (x, y, z) = (any_f16(gpu, 2 * n), any_f16(gpu, 2 * n), any_f16(gpu, 2 * n));
    let (dx, dy, dz, out) = (gpu.upload(&x), gpu.upload(&y), gpu.upload(&z), gpu.uninit::<[f16; 14]>(n));
    gpu.launch("arithmetic_f16x2", n.div_ceil(64) as u32, 64, args![dx, dy, dz, out, n as i32]);
    let value = |i: usize| {
        let each = |f: fn(f64, f64, f64) -> f64| {
            [0, 1].map(|k| to_f16(f(x[2 * i + k].into(), y[2 * i + k].into(), z[2 * i + k].into())))
        };
        let negative = [0, 1].map(|k| f16::from_bits(x[2 * i + k].to_bits() | 0x8000));
        let [low, high] = each(|a, b, _| saturate(a + b));
        let pairs = [
            each(|a, b, _| a + b),
            each(|a, b, _| a - b),
            each(|a, b, _| a * b),
            each(fused),
            negative,
            [high, low],
            [x[2 * i + 1], y[2 * i]],
        ];
        let mut flat = [f16::ZERO; 14];
        flat.copy_from_slice(pairs.as_flattened());
        flat
    };
    assert_same(&gpu.read(out), &(0..n).map(value).collect::<Vec<_>>());
}

fn compare_f16(gpu: &mut Gpu) {
    let n = gpu.len(500);
    let (x, mut y) = (any_f16(gpu, 2 * n), any_f16(gpu, 2 * n));
    y[..n].copy_from_slice(&x[..n]);
    let (dx, dy, out) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<[u32; 2]>(n));
    gpu.launch("compare_f16", n.div_ceil(64) as u32, 64, args![dx, dy, out, n as i32]);
    let value = |i: usize| {
        let [[a, b], [c, d]] = [0, 1].map(|k| [f64::from(x[2 * i + k]), f64::from(y[2 * i + k])]);
        let unordered = a.is_nan() || b.is_nan();
        let equal_or_not = |a: f64, b: f64| a == b || a.is_nan() || b.is_nan();
        let bits = [
            a < b,
            a == b,
            a >= b,
            a != b && !unordered,
            a < b || unordered,
            equal_or_not(a, b),
            a.is_nan(),
            a > b && c > d,
            equal_or_not(a, b) && equal_or_not(c, d),
        ];
        let word = bits.iter().enumerate().fold(0, |w, (k, &bit)| w | u32::from(bit) << k);
        // Masks of two halves are 1.0 where true.
        [word, if a <= b { 0x3c00 } else { 0 } | if c <= d { 0x3c00_0000 } else { 0 }]
    };
    assert_same(&gpu.read(out), &(0..n).map(value).collect::<Vec<_>>());
}

fn functions_f16(gpu: &mut Gpu) {
    let n = gpu.len(400);
    let x: Vec<f16> = (0..n).map(|_| f16::from_f32(gpu.rng.f32() * 16.0 - 8.0)).collect();
    let (dx, out) = (gpu.upload(&x), gpu.uninit::<[f16; 9]>(n));
    gpu.launch("functions_f16", n.div_ceil(64) as u32, 64, args![dx, out, n as i32]);
    let functions: [fn(f64) -> f64; 8] = [
        f64::exp,
        f64::exp2,
        |x| x.abs().ln(),
        |x| x.abs().log2(),
        |x| 1.0 / x.abs().sqrt(),
        f64::floor,
        f64::round_ties_even,
        f64::trunc,
    ];
    for (x, o) in x.iter().zip(gpu.read(out)) {
        for (got, f) in o.into_iter().zip(functions) {
            near_f16(got, f(f64::from(*x)));
        }
        assert_close(&[o[8]], &[f64::from(*x).sin()], 2e-3, 1e-4);
    }
}

fn newer_f16(gpu: &mut Gpu) {
    let n = gpu.len(400);
    let (x, y, z) = (any_f16(gpu, 2 * n), any_f16(gpu, 2 * n), any_f16(gpu, 2 * n));
    let (dx, dy, dz, out) = (gpu.upload(&x), gpu.upload(&y), gpu.upload(&z), gpu.uninit::<[f16; 14]>(n));
    gpu.launch("newer_f16", n.div_ceil(64) as u32, 64, args![dx, dy, dz, out, n as i32]);
    for (i, o) in gpu.read(out).iter().enumerate() {
        for k in 0..2 {
            let [a, b, c] = [x[2 * i + k], y[2 * i + k], z[2 * i + k]];
            let exact = [
                min_max(a.into(), b.into(), false, false),
                min_max(a.into(), b.into(), true, false),
                min_max(a.into(), b.into(), false, true),
                min_max(a.into(), b.into(), true, true),
                relu(fused(a.into(), b.into(), c.into())),
            ];
            let got: [f16; 5] = std::array::from_fn(|j| o[2 * j + k]);
            assert_same(&got, &exact.map(to_f16));
            let wide = f64::from(a);
            assert_close(&[o[10 + k]], &[wide.tanh()], 1e-3, 2e-7);
            assert_close(&[o[12 + k]], &[f64::from(to_f16(wide.exp2()))], 2e-3, 6e-8);
        }
    }
}

/// The less or the greater, -0 below +0; of a number and NaN the number, or NaN.
fn min_max(a: f64, b: f64, max: bool, nan: bool) -> f64 {
    if a.is_nan() || b.is_nan() {
        return if nan {
            f64::NAN
        } else if a.is_nan() {
            b
        } else {
            a
        };
    }
    let less = a < b || a == b && a.is_sign_negative();
    if less == max { b } else { a }
}

/// Negative numbers become 0; NaN stays one.
fn relu(x: f64) -> f64 {
    if x <= 0.0 { 0.0 } else { x }
}

fn arithmetic_bf16(gpu: &mut Gpu) {
    let n = gpu.len(400);
    let mut draw = || -> Vec<bf16> {
        let number = |gpu: &mut Gpu| match gpu.rng.u8(..3) {
            0 => f32::from_bits(gpu.rng.u32(..)),
            1 => [0.0, -0.0, f32::INFINITY, f32::NAN, -1.0][gpu.rng.usize(..5)],
            _ => gpu.rng.f32() * 8.0 - 4.0,
        };
        (0..2 * n).map(|_| bf16::from_f32(number(gpu))).collect()
    };
    let (x, y, z) = (draw(), draw(), draw());
    let (dx, dy, dz, out) = (gpu.upload(&x), gpu.upload(&y), gpu.upload(&z), gpu.uninit::<[bf16; 18]>(n));
    gpu.launch("arithmetic_bf16", n.div_ceil(64) as u32, 64, args![dx, dy, dz, out, n as i32]);
    let wide = |v: &[bf16], i: usize| f64::from(v[i]);
    let value = |i: usize| {
        let each = |f: fn(f64, f64, f64) -> f64| {
            [2 * i, 2 * i + 1].map(|at| to_bf16(f(wide(&x, at), wide(&y, at), wide(&z, at))))
        };
        let negative = [0, 1].map(|k| bf16::from_bits(x[2 * i + k].to_bits() | 0x8000));
        let (low, high) = (2 * i, 2 * i + 1);
        let mixed = [
            to_bf16(fused(wide(&x, low), 1.0, wide(&y, high))),
            to_bf16(fused(wide(&x, high), wide(&y, low), wide(&z, low))),
        ];
        let pairs = [
            each(|a, b, _| fused(a, 1.0, b)),
            each(|a, b, _| fused(a, 1.0, -b)),
            each(|a, b, _| a * b),
            each(fused),
            each(|a, b, _| min_max(a, b, false, false)),
            each(|a, b, _| min_max(a, b, true, true)),
            negative,
            each(|a, b, c| relu(fused(a, b, c))),
            mixed,
        ];
        let mut flat = [bf16::ZERO; 18];
        flat.copy_from_slice(pairs.as_flattened());
        flat
    };
    assert_same(&gpu.read(out), &(0..n).map(value).collect::<Vec<_>>());
}
