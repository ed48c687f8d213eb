//! References of `convert.cu`.

use half::{bf16, f16};

use crate::support::{
    Gpu, args,
    compare::{Same, assert_same},
    floats::{BF16, E4M3, E5M2, F16, F32, F64, Format, MODES, Mode, round, to_f16},
    kernels,
};

kernels! { convert: compute_75 compute_80 compute_90 => [
    float_to_int double_to_int int_to_float between_floats half_to_int between_ints
] }

mod from_80 {
    use super::{kernels, packed_pairs};
    kernels! { convert: compute_80 compute_90 => [packed_pairs] }
}

mod from_90 {
    use super::{eight_bit_floats, kernels};
    kernels! { convert: compute_90 => [eight_bit_floats] }
}

/// To a whole number in a mode, then into a range; NaN is 0, or `1 << 63` where that is the upper
/// bit.
fn whole(x: f64, mode: Mode, low: i128, high: i128) -> i64 {
    if x.is_nan() && high > i128::from(u32::MAX) {
        return i64::MIN;
    }
    let rounded = match mode {
        Mode::Nearest => x.round_ties_even(),
        Mode::Zero => x.trunc(),
        Mode::Up => x.ceil(),
        Mode::Down => x.floor(),
    };
    // The cast saturates, and makes 0 of NaN.
    (rounded as i128).clamp(low, high) as i64
}

const I32: (i128, i128) = (i32::MIN as i128, i32::MAX as i128);
const U32: (i128, i128) = (0, u32::MAX as i128);
const I64: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);
const U64: (i128, i128) = (0, u64::MAX as i128);

/// Floats among which many are near the bounds of integer types.
fn near_bounds(gpu: &mut Gpu, n: usize) -> Vec<f64> {
    let mut x = gpu.any_f64(n);
    for x in x.iter_mut().step_by(3) {
        let power = [7, 8, 15, 16, 31, 32, 63, 64][gpu.rng.usize(..8)];
        let near = 2f64.powi(power) + f64::from(gpu.rng.i8(..)) / 4.0;
        *x = if gpu.rng.bool() { near } else { -near };
    }
    x
}

fn float_to_int(gpu: &mut Gpu) {
    let n = 500;
    let x: Vec<f32> = near_bounds(gpu, n).iter().map(|&x| x as f32).collect();
    let (dx, out) = (gpu.upload(&x), gpu.uninit::<[i64; 16]>(n));
    gpu.launch("float_to_int", n.div_ceil(64) as u32, 64, args![dx, out, n as i32]);
    let value = |x: &f32| {
        let to = |mode, (low, high): (i128, i128)| whole((*x).into(), mode, low, high);
        let [rn, rz, ru, rd] = MODES;
        [
            to(rn, I32),
            to(rz, I32),
            to(ru, I32),
            to(rd, I32),
            to(rn, U32),
            to(rz, U32),
            to(ru, U32),
            to(rd, U32),
            to(rn, I64),
            to(rz, I64),
            to(ru, U64),
            to(rd, U64),
            to(rn, (-128, 127)),
            to(rz, (0, 255)),
            to(rd, (-32768, 32767)),
            to(ru, (0, 65535)),
        ]
    };
    assert_same(&gpu.read(out), &x.iter().map(value).collect::<Vec<_>>());
}

fn double_to_int(gpu: &mut Gpu) {
    let n = 500;
    let x = near_bounds(gpu, n);
    let (dx, out) = (gpu.upload(&x), gpu.uninit::<[i64; 8]>(n));
    gpu.launch("double_to_int", n.div_ceil(64) as u32, 64, args![dx, out, n as i32]);
    let value = |x: &f64| {
        // Of doubles, NaN is the upper bit of narrower integers too.
        let to = |mode, (low, high): (i128, i128)| match x.is_nan() && high <= U32.1 {
            true if low < 0 => i32::MIN.into(),
            true => 1 << 31,
            false => whole(*x, mode, low, high),
        };
        let [rn, rz, ru, rd] = MODES;
        [
            to(rn, I32),
            to(rz, I32),
            to(ru, U32),
            to(rd, U32),
            to(rn, I64),
            to(rd, I64),
            to(rz, U64),
            to(ru, U64),
        ]
    };
    assert_same(&gpu.read(out), &x.iter().map(value).collect::<Vec<_>>());
}

/// An integer rounded to a format: its value in double precision, and what that lacks.
fn float(x: i128, format: Format, mode: Mode) -> f64 {
    let near = x as f64;
    round(near, (x - near as i128) as f64, format, mode)
}

fn int_to_float(gpu: &mut Gpu) {
    let n = 400;
    let x: Vec<i64> = (0..n).map(|_| gpu.rng.i64(..) >> gpu.rng.u32(..64)).collect();
    let (dx, out, wide) = (gpu.upload(&x), gpu.uninit::<[f32; 16]>(n), gpu.uninit::<[f64; 8]>(n));
    gpu.launch("int_to_float", n.div_ceil(64) as u32, 64, args![dx, out, wide, n as i32]);
    let [rn, rz, ru, rd] = MODES;
    let sources = |v: i64| [i128::from(v as i32), i128::from(v as u32), i128::from(v), i128::from(v as u64)];
    let single = |&v: &i64| {
        let [s, u, l, ul] = sources(v);
        let f = |x, mode| float(x, F32, mode) as f32;
        [
            f(s, rn),
            f(s, rz),
            f(s, ru),
            f(s, rd),
            f(u, rn),
            f(u, rz),
            f(u, ru),
            f(u, rd),
            f(l, rn),
            f(l, rz),
            f(l, ru),
            f(l, rd),
            f(ul, rn),
            f(ul, rd),
            f32::from(v as i8),
            f32::from(v as u16),
        ]
    };
    assert_same(&gpu.read(out), &x.iter().map(single).collect::<Vec<_>>());
    let double = |&v: &i64| {
        let [s, u, l, ul] = sources(v);
        let f = |x, mode| float(x, F64, mode);
        [f(s, rn), f(u, rn), f(l, rn), f(l, rz), f(l, ru), f(l, rd), f(ul, rn), f(ul, ru)]
    };
    assert_same(&gpu.read(wide), &x.iter().map(double).collect::<Vec<_>>());
}

fn between_floats(gpu: &mut Gpu) {
    let n = 500;
    let mut x = gpu.any_f64(n);
    // Some halfway between two halves, some between two singles.
    x.iter_mut().step_by(5).for_each(|x| *x = 1.0 + f64::from(gpu.rng.u16(..)) / 2048.0);
    let (dx, single, halves) = (gpu.upload(&x), gpu.uninit::<[f32; 4]>(n), gpu.uninit::<[f16; 5]>(n));
    let (brains, back) = (gpu.uninit::<[bf16; 2]>(n), gpu.uninit::<[f64; 3]>(n));
    gpu.launch(
        "between_floats",
        n.div_ceil(64) as u32,
        64,
        args![dx, single, halves, brains, back, n as i32],
    );
    let to = |x: f64, format, mode| round(x, 0.0, format, mode) as f32;
    assert_same(
        &gpu.read(single),
        &x.iter().map(|&x| MODES.map(|mode| to(x, F32, mode))).collect::<Vec<_>>(),
    );
    let half = |&x: &f64| {
        let near = f64::from(x as f32);
        let [rn, rz, ru, rd] = MODES.map(|mode| f16::from_f32(to(near, F16, mode)));
        [rn, rz, ru, rd, to_f16(x)]
    };
    assert_same(&gpu.read(halves), &x.iter().map(half).collect::<Vec<_>>());
    let brain = |&x: &f64| {
        [Mode::Nearest, Mode::Zero].map(|mode| bf16::from_f32(to(f64::from(x as f32), BF16, mode)))
    };
    assert_same(&gpu.read(brains), &x.iter().map(brain).collect::<Vec<_>>());
    let returned = |x: &f64| [f64::from(*x as f32), half(x)[0].into(), brain(x)[0].into()];
    assert_same(&gpu.read(back), &x.iter().map(returned).collect::<Vec<_>>());
}

fn half_to_int(gpu: &mut Gpu) {
    let n = 400usize;
    let x: Vec<f16> = (0..n).map(|_| f16::from_bits(gpu.rng.u16(..))).collect();
    let (dx, out, back) = (gpu.upload(&x), gpu.uninit::<[i64; 6]>(n), gpu.uninit::<[f16; 3]>(n));
    gpu.launch("half_to_int", n.div_ceil(64) as u32, 64, args![dx, out, back, n as i32]);
    let [rn, rz, ru, rd] = MODES;
    let value = |x: &f16| {
        let to = |mode, (low, high): (i128, i128)| whole((*x).into(), mode, low, high);
        [
            to(rn, I32),
            to(rz, U32),
            to(ru, (-32768, 32767)),
            to(rd, (0, 65535)),
            to(rz, I64),
            to(rz, (-128, 127)),
        ]
    };
    let want: Vec<_> = x.iter().map(value).collect();
    assert_same(&gpu.read(out), &want);
    let half = |x: i128, mode| f16::from_f32(float(x, F16, mode) as f32);
    let returned = |i: usize| {
        let wide = i as i128;
        let nearest = (want[i][0] as i32).wrapping_mul(3).into();
        [half(nearest, rn), half((wide * 37) & 0xffff, rz), half(wide * 12345 - 65000, ru)]
    };
    assert_same(&gpu.read(back), &(0..n).map(returned).collect::<Vec<_>>());
}

fn between_ints(gpu: &mut Gpu) {
    let n = 400;
    let x: Vec<i64> = (0..n).map(|_| gpu.rng.i64(..) >> gpu.rng.u32(..64)).collect();
    let (dx, out) = (gpu.upload(&x), gpu.uninit::<[i64; 10]>(n));
    gpu.launch("between_ints", n.div_ceil(64) as u32, 64, args![dx, out, n as i32]);
    let value = |&v: &i64| {
        [
            (v as i8).into(),
            (v as u8).into(),
            (v as i16).into(),
            (v as u16).into(),
            (v as i32).into(),
            (v as u32).into(),
            v.clamp(-128, 127),
            v.clamp(0, 65535),
            v.clamp(i32::MIN.into(), i32::MAX.into()),
            v.clamp(0, u32::MAX.into()),
        ]
    };
    assert_same(&gpu.read(out), &x.iter().map(value).collect::<Vec<_>>());
}

/// A pair of results beside each other: the first operand goes to the upper half.
#[track_caller]
fn assert_pairs<T: Same>(
    got: impl Iterator<Item = u32>,
    from: fn(u16) -> T,
    want: impl Iterator<Item = [T; 2]>,
) {
    let got: Vec<[T; 2]> = got.map(|word| [from((word >> 16) as u16), from(word as u16)]).collect();
    assert_same(&got, &want.collect::<Vec<_>>());
}

fn relu(x: f32) -> f64 {
    if x <= 0.0 { 0.0 } else { x.into() }
}

fn packed_pairs(gpu: &mut Gpu) {
    let n = 500;
    let (x, y) = (gpu.any_f32(n), gpu.any_f32(n));
    let (dx, dy, out) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<[u32; 6]>(n));
    gpu.launch("packed_pairs", n.div_ceil(64) as u32, 64, args![dx, dy, out, n as i32]);
    let got = gpu.read(out);
    let column = |k: usize| got.iter().map(move |o| o[k]);
    let pairs = || x.iter().zip(&y).map(|(&x, &y)| [x, y]);
    let half = |x: f64, mode| f16::from_f32(round(x, 0.0, F16, mode) as f32);
    let brain = |x: f64, mode| bf16::from_f32(round(x, 0.0, BF16, mode) as f32);
    assert_pairs(column(0), f16::from_bits, pairs().map(|p| p.map(|x| half(x.into(), Mode::Nearest))));
    assert_pairs(column(1), f16::from_bits, pairs().map(|p| p.map(|x| half(x.into(), Mode::Zero))));
    assert_pairs(column(2), f16::from_bits, pairs().map(|p| p.map(|x| half(relu(x), Mode::Nearest))));
    assert_pairs(column(3), bf16::from_bits, pairs().map(|p| p.map(|x| brain(x.into(), Mode::Nearest))));
    assert_pairs(column(4), bf16::from_bits, pairs().map(|p| p.map(|x| brain(relu(x), Mode::Zero))));
    // TF32 keeps ten bits, ties away from zero; the rest of the register is open.
    let tf32 = |x: f32| if x.is_finite() { f32::from_bits((x.to_bits() + 0x1000) & !0x1fff) } else { x };
    let kept: Vec<f32> = column(5).map(|bits| f32::from_bits(bits & !0x1fff)).collect();
    let finite =
        |v: Vec<f32>| v.into_iter().zip(&x).filter(|(_, x)| !x.is_nan()).map(|(v, _)| v).collect::<Vec<_>>();
    assert_same(&finite(kept), &finite(x.iter().map(|&x| tf32(x)).collect()));
}

/// To an eight-bit float and back; too large ones become the largest.
fn through(x: f64, format: Format) -> f64 {
    let rounded = round(x, 0.0, format, Mode::Nearest);
    // Infinity saturates as well.
    if rounded.is_infinite() { round(f64::MAX.copysign(x), 0.0, format, Mode::Zero) } else { rounded }
}

fn eight_bit_floats(gpu: &mut Gpu) {
    let n = 500;
    let (x, y) = (gpu.any_f32(n), gpu.any_f32(n));
    let (dx, dy, out) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<[u32; 5]>(n));
    gpu.launch("eight_bit_floats", n.div_ceil(64) as u32, 64, args![dx, dy, out, n as i32]);
    let got = gpu.read(out);
    let column = |k: usize| got.iter().map(move |o| o[k]);
    let pairs = || x.iter().zip(&y).map(|(&x, &y)| [x, y]);
    let half = |x: f64| f16::from_f32(x as f32);
    assert_pairs(column(0), f16::from_bits, pairs().map(|p| p.map(|x| half(through(x.into(), E4M3)))));
    assert_pairs(column(1), f16::from_bits, pairs().map(|p| p.map(|x| half(through(x.into(), E5M2)))));
    // The bits themselves: sign, exponent, fraction.
    let code = |x: f32, format: Format, fraction: i32, bias: i32| -> u32 {
        let value = through(x.into(), format);
        if value.is_nan() {
            return 0x7f;
        }
        let exponent = if value == 0.0 { 0 } else { (value.abs().log2().floor() as i32 + bias).max(0) };
        let unit = 2f64.powi(exponent.max(1) - bias - fraction);
        let digits = (value.abs() / unit) as u32;
        let body =
            if exponent == 0 { digits } else { digits - (1 << fraction) + ((exponent as u32) << fraction) };
        u32::from(value.is_sign_negative()) << 7 | body
    };
    let join = |[x, y]: [f32; 2], format, fraction, bias| {
        code(x, format, fraction, bias) << 8 | code(y, format, fraction, bias)
    };
    assert_same(&column(2).collect::<Vec<_>>(), &pairs().map(|p| join(p, E4M3, 3, 7)).collect::<Vec<_>>());
    assert_same(&column(3).collect::<Vec<_>>(), &pairs().map(|p| join(p, E5M2, 2, 15)).collect::<Vec<_>>());
    let again = |p: [f32; 2]| join(p.map(|x| relu(through(x.into(), E5M2) as f32) as f32), E4M3, 3, 7);
    assert_same(&column(4).collect::<Vec<_>>(), &pairs().map(again).collect::<Vec<_>>());
}
