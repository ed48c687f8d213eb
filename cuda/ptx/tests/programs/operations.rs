//! The instructions of random programs: text, kinds, and what they compute, written in the plainest
//! way.

use super::Kind::{self, B16, B32, B64, F32, F64, Pred};

/// An instruction without memory.
pub(crate) struct Operation {
    /// The opcode with its modifiers.
    pub(crate) text: &'static str,
    /// The kind of the result.
    pub(crate) result: Kind,
    /// The kinds of the operands.
    pub(crate) operands: &'static [Kind],
    /// What it computes.
    pub(crate) evaluate: fn(&[u64]) -> u64,
}

const fn op(
    text: &'static str,
    result: Kind,
    operands: &'static [Kind],
    evaluate: fn(&[u64]) -> u64,
) -> Operation {
    Operation { text, result, operands, evaluate }
}

fn s16(x: u64) -> i16 {
    x as i16
}
fn s32(x: u64) -> i32 {
    x as i32
}
fn u32_(x: u64) -> u32 {
    x as u32
}
fn s64(x: u64) -> i64 {
    x as i64
}
fn f32_(x: u64) -> f32 {
    f32::from_bits(x as u32)
}
fn f64_(x: u64) -> f64 {
    f64::from_bits(x)
}
fn to_f32(x: f32) -> u64 {
    u64::from(if x.is_nan() { 0x7fff_ffff } else { x.to_bits() })
}
/// A NaN of `f64` keeps the payload of the first operand that has one.
fn to_f64(x: f64, operands: &[u64]) -> u64 {
    if !x.is_nan() {
        return x.to_bits();
    }
    let first = operands.iter().copied().find(|&bits| f64_(bits).is_nan());
    first.map_or(0xfff8_0000_0000_0000, |bits| bits | 1 << 51)
}
fn ftz(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}
fn sat(x: f32) -> f32 {
    if x > 1.0 {
        1.0
    } else if x > 0.0 {
        x
    } else {
        0.0
    }
}
fn h(x: u64) -> f64 {
    half::f16::from_bits(x as u16).to_f64()
}
fn to_h(x: f64) -> u64 {
    // Sums and products of two halves are exact in f64.
    u64::from(if x.is_nan() { 0x7fff } else { half::f16::from_f64(x).to_bits() })
}
fn s(x: impl Into<i64>) -> u64 {
    x.into() as u64
}

/// All of them.
pub(crate) const OPERATIONS: &[Operation] = &[
    // 32-bit integers.
    op("add.u32", B32, &[B32, B32], |v| v[0] + v[1]),
    op("add.sat.s32", B32, &[B32, B32], |v| {
        s((s64(s(s32(v[0]))) + i64::from(s32(v[1]))).clamp(-1 << 31, (1 << 31) - 1))
    }),
    op("sub.s32", B32, &[B32, B32], |v| v[0].wrapping_sub(v[1])),
    op("sub.sat.s32", B32, &[B32, B32], |v| {
        s((i64::from(s32(v[0])) - i64::from(s32(v[1]))).clamp(-1 << 31, (1 << 31) - 1))
    }),
    op("mul.lo.s32", B32, &[B32, B32], |v| v[0].wrapping_mul(v[1])),
    op("mul.hi.s32", B32, &[B32, B32], |v| s((i64::from(s32(v[0])) * i64::from(s32(v[1]))) >> 32)),
    op("mul.hi.u32", B32, &[B32, B32], |v| (v[0] * v[1]) >> 32),
    op("mad.lo.u32", B32, &[B32, B32, B32], |v| v[0].wrapping_mul(v[1]).wrapping_add(v[2])),
    op("mad.hi.s32", B32, &[B32, B32, B32], |v| {
        s(((i64::from(s32(v[0])) * i64::from(s32(v[1]))) >> 32) + i64::from(s32(v[2])))
    }),
    op("mul24.lo.s32", B32, &[B32, B32], |v| {
        s(i64::from(s32(v[0] << 8) >> 8) * i64::from(s32(v[1] << 8) >> 8))
    }),
    op("mul24.hi.u32", B32, &[B32, B32], |v| ((v[0] & 0xff_ffff) * (v[1] & 0xff_ffff)) >> 16),
    op("sad.s32", B32, &[B32, B32, B32], |v| v[2] + s((i64::from(s32(v[0])) - i64::from(s32(v[1]))).abs())),
    op("div.u32", B32, &[B32, B32], |v| v[0].checked_div(v[1]).unwrap_or(u64::MAX)),
    op("div.s32", B32, &[B32, B32], |v| {
        if v[1] == 0 { u64::MAX } else { s(i64::from(s32(v[0])) / i64::from(s32(v[1]))) }
    }),
    op("rem.u32", B32, &[B32, B32], |v| v[0].checked_rem(v[1]).unwrap_or(u64::MAX)),
    op("rem.s32", B32, &[B32, B32], |v| {
        if v[1] == 0 { u64::MAX } else { s(i64::from(s32(v[0])) % i64::from(s32(v[1]))) }
    }),
    op("abs.s32", B32, &[B32], |v| s(i64::from(s32(v[0])).abs())),
    op("neg.s32", B32, &[B32], |v| v[0].wrapping_neg()),
    op("min.s32", B32, &[B32, B32], |v| s(s32(v[0]).min(s32(v[1])))),
    op("min.u32", B32, &[B32, B32], |v| v[0].min(v[1])),
    op("max.s32", B32, &[B32, B32], |v| s(s32(v[0]).max(s32(v[1])))),
    op("max.u32", B32, &[B32, B32], |v| v[0].max(v[1])),
    op("and.b32", B32, &[B32, B32], |v| v[0] & v[1]),
    op("or.b32", B32, &[B32, B32], |v| v[0] | v[1]),
    op("xor.b32", B32, &[B32, B32], |v| v[0] ^ v[1]),
    op("not.b32", B32, &[B32], |v| !v[0]),
    op("cnot.b32", B32, &[B32], |v| u64::from(v[0] == 0)),
    op("shl.b32", B32, &[B32, B32], |v| if v[1] > 31 { 0 } else { v[0] << v[1] }),
    op("shr.u32", B32, &[B32, B32], |v| if v[1] > 31 { 0 } else { v[0] >> v[1] }),
    op("shr.s32", B32, &[B32, B32], |v| s(i64::from(s32(v[0])) >> v[1].min(63))),
    op("shf.l.wrap.b32", B32, &[B32, B32, B32], |v| ((v[1] << 32 | v[0]) << (v[2] % 32)) >> 32),
    op("shf.r.clamp.b32", B32, &[B32, B32, B32], |v| (v[1] << 32 | v[0]) >> v[2].min(32)),
    op("bfe.u32", B32, &[B32, B32, B32], |v| {
        let (position, length) = (v[1] & 255, v[2] & 255);
        (0..32).filter(|i| *i < length && position + i < 32).map(|i| (v[0] >> (position + i) & 1) << i).sum()
    }),
    op("bfi.b32", B32, &[B32, B32, B32, B32], |v| {
        let (position, length) = (v[2] & 255, v[3] & 255);
        let field = |i: u64| i >= position && i < position + length;
        (0..32).map(|i| (if field(i) { v[0] >> (i - position) } else { v[1] >> i } & 1) << i).sum()
    }),
    op("popc.b32", B32, &[B32], |v| v[0].count_ones().into()),
    op("popc.b64", B32, &[B64], |v| v[0].count_ones().into()),
    op("clz.b32", B32, &[B32], |v| u32_(v[0]).leading_zeros().into()),
    op("clz.b64", B32, &[B64], |v| v[0].leading_zeros().into()),
    op("brev.b32", B32, &[B32], |v| u32_(v[0]).reverse_bits().into()),
    op("bfind.u32", B32, &[B32], |v| 31u64.wrapping_sub(u32_(v[0]).leading_zeros().into())),
    op("bfind.s32", B32, &[B32], |v| {
        let x = s32(v[0]);
        31u64.wrapping_sub(if x < 0 { !x } else { x }.leading_zeros().into())
    }),
    op("prmt.b32", B32, &[B32, B32, B32], |v| {
        let bytes = (v[1] << 32 | v[0]).to_le_bytes();
        (0..4)
            .map(|i| {
                let control = (v[2] >> (4 * i)) as usize & 15;
                let byte = bytes[control & 7];
                u64::from(if control > 7 { if byte > 127 { 255 } else { 0 } } else { byte }) << (8 * i)
            })
            .sum()
    }),
    op("dp4a.s32.u32", B32, &[B32, B32, B32], |v| {
        let terms = (0..4).map(|i| i64::from((v[0] >> (8 * i)) as i8) * i64::from((v[1] >> (8 * i)) as u8));
        s(terms.sum::<i64>() + i64::from(s32(v[2])))
    }),
    op("cvt.u32.u16", B32, &[B16], |v| v[0]),
    op("cvt.s32.s16", B32, &[B16], |v| s(s16(v[0]))),
    op("cvt.s32.s8", B32, &[B32], |v| s(v[0] as i8)),
    op("cvt.u32.u64", B32, &[B64], |v| v[0]),
    op("cvt.sat.s32.s64", B32, &[B64], |v| s(s64(v[0]).clamp(-1 << 31, (1 << 31) - 1))),
    op("cvt.rzi.s32.f32", B32, &[F32], |v| s(f32_(v[0]) as i32)),
    op("cvt.rmi.s32.f32", B32, &[F32], |v| s(f32_(v[0]).floor() as i32)),
    op("cvt.rpi.u32.f32", B32, &[F32], |v| (f32_(v[0]).ceil() as u32).into()),
    op("cvt.rni.s32.f64", B32, &[F64], |v| {
        let x = f64_(v[0]);
        if x.is_nan() { 1 << 31 } else { s(x.round_ties_even() as i32) }
    }),
    op("selp.b32", B32, &[B32, B32, Pred], |v| if v[2] == 1 { v[0] } else { v[1] }),
    op("slct.b32.s32", B32, &[B32, B32, B32], |v| if s32(v[2]) >= 0 { v[0] } else { v[1] }),
    op("set.lt.u32.s32", B32, &[B32, B32], |v| if s32(v[0]) < s32(v[1]) { u64::MAX } else { 0 }),
    op("set.gtu.u32.f32", B32, &[F32, F32], |v| if f32_(v[0]) <= f32_(v[1]) { 0 } else { u64::MAX }),
    op("mov.b32", B32, &[B32], |v| v[0]),
    op("mov.b32", B32, &[F32], |v| v[0]),
    op("add.f16x2", B32, &[B32, B32], |v| {
        to_h(h(v[0]) + h(v[1])) | to_h(h(v[0] >> 16) + h(v[1] >> 16)) << 16
    }),
    op("mul.f16x2", B32, &[B32, B32], |v| {
        to_h(h(v[0]) * h(v[1])) | to_h(h(v[0] >> 16) * h(v[1] >> 16)) << 16
    }),
    // 16-bit integers and halves.
    op("add.u16", B16, &[B16, B16], |v| v[0] + v[1]),
    op("sub.s16", B16, &[B16, B16], |v| v[0].wrapping_sub(v[1])),
    op("mul.lo.u16", B16, &[B16, B16], |v| v[0] * v[1]),
    op("mul.hi.s16", B16, &[B16, B16], |v| s((i32::from(s16(v[0])) * i32::from(s16(v[1]))) >> 16)),
    op("mul.wide.s16", B32, &[B16, B16], |v| s(i32::from(s16(v[0])) * i32::from(s16(v[1])))),
    op("min.s16", B16, &[B16, B16], |v| s(s16(v[0]).min(s16(v[1])))),
    op("and.b16", B16, &[B16, B16], |v| v[0] & v[1]),
    op("not.b16", B16, &[B16], |v| !v[0]),
    op("shl.b16", B16, &[B16, B32], |v| if v[1] > 15 { 0 } else { v[0] << v[1] }),
    op("shr.s16", B16, &[B16, B32], |v| s(i64::from(s16(v[0])) >> v[1].min(63))),
    op("cvt.u16.u32", B16, &[B32], |v| v[0]),
    op("cvt.rn.f16.f32", B16, &[F32], |v| {
        let x = f32_(v[0]);
        u64::from(if x.is_nan() { 0x7fff } else { half::f16::from_f32(x).to_bits() })
    }),
    op("add.f16", B16, &[B16, B16], |v| to_h(h(v[0]) + h(v[1]))),
    op("sub.f16", B16, &[B16, B16], |v| to_h(h(v[0]) - h(v[1]))),
    op("mul.f16", B16, &[B16, B16], |v| to_h(h(v[0]) * h(v[1]))),
    op("neg.f16", B16, &[B16], |v| v[0] ^ 0x8000),
    op("selp.b16", B16, &[B16, B16, Pred], |v| if v[2] == 1 { v[0] } else { v[1] }),
    // 64-bit integers.
    op("add.s64", B64, &[B64, B64], |v| v[0].wrapping_add(v[1])),
    op("sub.u64", B64, &[B64, B64], |v| v[0].wrapping_sub(v[1])),
    op("mul.lo.u64", B64, &[B64, B64], |v| v[0].wrapping_mul(v[1])),
    op("mul.hi.u64", B64, &[B64, B64], |v| ((u128::from(v[0]) * u128::from(v[1])) >> 64) as u64),
    op("mul.hi.s64", B64, &[B64, B64], |v| ((i128::from(s64(v[0])) * i128::from(s64(v[1]))) >> 64) as u64),
    op("mul.wide.u32", B64, &[B32, B32], |v| v[0] * v[1]),
    op("mul.wide.s32", B64, &[B32, B32], |v| s(i64::from(s32(v[0])) * i64::from(s32(v[1])))),
    op("mad.wide.u32", B64, &[B32, B32, B64], |v| (v[0] * v[1]).wrapping_add(v[2])),
    op("mad.lo.s64", B64, &[B64, B64, B64], |v| v[0].wrapping_mul(v[1]).wrapping_add(v[2])),
    op(
        "div.s64",
        B64,
        &[B64, B64],
        |v| if v[1] == 0 { u64::MAX } else { s(s64(v[0]).wrapping_div(s64(v[1]))) },
    ),
    op("rem.u64", B64, &[B64, B64], |v| v[0].checked_rem(v[1]).unwrap_or(u64::MAX)),
    op("min.s64", B64, &[B64, B64], |v| s(s64(v[0]).min(s64(v[1])))),
    op("max.u64", B64, &[B64, B64], |v| v[0].max(v[1])),
    op("xor.b64", B64, &[B64, B64], |v| v[0] ^ v[1]),
    op("shl.b64", B64, &[B64, B32], |v| if v[1] > 63 { 0 } else { v[0] << v[1] }),
    op("shr.u64", B64, &[B64, B32], |v| if v[1] > 63 { 0 } else { v[0] >> v[1] }),
    op("shr.s64", B64, &[B64, B32], |v| s(s64(v[0]) >> v[1].min(63))),
    op("brev.b64", B64, &[B64], |v| v[0].reverse_bits()),
    op("cvt.u64.u32", B64, &[B32], |v| v[0]),
    op("cvt.s64.s32", B64, &[B32], |v| s(s32(v[0]))),
    op("cvt.rzi.s64.f32", B64, &[F32], |v| {
        let x = f32_(v[0]);
        if x.is_nan() { 1 << 63 } else { s(x as i64) }
    }),
    op("mov.b64", B64, &[F64], |v| v[0]),
    op("selp.b64", B64, &[B64, B64, Pred], |v| if v[2] == 1 { v[0] } else { v[1] }),
    // Single precision.
    op("add.rn.f32", F32, &[F32, F32], |v| to_f32(f32_(v[0]) + f32_(v[1]))),
    op("add.ftz.f32", F32, &[F32, F32], |v| to_f32(ftz(ftz(f32_(v[0])) + ftz(f32_(v[1]))))),
    op("add.rn.sat.f32", F32, &[F32, F32], |v| to_f32(sat(f32_(v[0]) + f32_(v[1])))),
    op("sub.rn.f32", F32, &[F32, F32], |v| to_f32(f32_(v[0]) - f32_(v[1]))),
    op("mul.rn.f32", F32, &[F32, F32], |v| to_f32(f32_(v[0]) * f32_(v[1]))),
    op("mul.rn.ftz.f32", F32, &[F32, F32], |v| to_f32(ftz(ftz(f32_(v[0])) * ftz(f32_(v[1]))))),
    op("fma.rn.f32", F32, &[F32, F32, F32], |v| to_f32(f32_(v[0]).mul_add(f32_(v[1]), f32_(v[2])))),
    op("div.rn.f32", F32, &[F32, F32], |v| to_f32(f32_(v[0]) / f32_(v[1]))),
    op("rcp.rn.f32", F32, &[F32], |v| to_f32(1.0 / f32_(v[0]))),
    op("sqrt.rn.f32", F32, &[F32], |v| to_f32(f32_(v[0]).sqrt())),
    op("neg.f32", F32, &[F32], |v| v[0] ^ 1 << 31),
    op("abs.f32", F32, &[F32], |v| v[0] & !(1 << 31)),
    op("min.f32", F32, &[F32, F32], |v| minimum(v[0], v[1])),
    op("max.f32", F32, &[F32, F32], |v| {
        minimum(v[0] ^ 1 << 31, v[1] ^ 1 << 31) ^ if both_nan(v) { 0 } else { 1 << 31 }
    }),
    op("copysign.f32", F32, &[F32, F32], |v| (v[0] & 1 << 31) | (v[1] & !(1 << 31))),
    op("cvt.rn.f32.s32", F32, &[B32], |v| to_f32(s32(v[0]) as f32)),
    op("cvt.rn.f32.u64", F32, &[B64], |v| to_f32(v[0] as f32)),
    op("cvt.rn.f32.f64", F32, &[F64], |v| to_f32(f64_(v[0]) as f32)),
    op("cvt.f32.f16", F32, &[B16], |v| to_f32(h(v[0]) as f32)),
    op("cvt.rmi.f32.f32", F32, &[F32], |v| to_f32(f32_(v[0]).floor())),
    op("cvt.sat.f32.f32", F32, &[F32], |v| to_f32(sat(f32_(v[0])))),
    op("selp.f32", F32, &[F32, F32, Pred], |v| if v[2] == 1 { v[0] } else { v[1] }),
    op("slct.f32.f32", F32, &[F32, F32, F32], |v| if f32_(v[2]) >= 0.0 { v[0] } else { v[1] }),
    op("mov.b32", F32, &[B32], |v| v[0]),
    // Double precision.
    op("add.rn.f64", F64, &[F64, F64], |v| to_f64(f64_(v[0]) + f64_(v[1]), v)),
    op("mul.rn.f64", F64, &[F64, F64], |v| to_f64(f64_(v[0]) * f64_(v[1]), v)),
    op("fma.rn.f64", F64, &[F64, F64, F64], |v| to_f64(f64_(v[0]).mul_add(f64_(v[1]), f64_(v[2])), v)),
    op("div.rn.f64", F64, &[F64, F64], |v| to_f64(f64_(v[0]) / f64_(v[1]), v)),
    op("sqrt.rn.f64", F64, &[F64], |v| to_f64(f64_(v[0]).sqrt(), v)),
    op("neg.f64", F64, &[F64], |v| v[0] ^ 1 << 63),
    op("cvt.rn.f64.s64", F64, &[B64], |v| (s64(v[0]) as f64).to_bits()),
    op("cvt.rn.f64.u32", F64, &[B32], |v| (v[0] as f64).to_bits()),
    op("selp.f64", F64, &[F64, F64, Pred], |v| if v[2] == 1 { v[0] } else { v[1] }),
    // Predicates.
    op("setp.eq.s32", Pred, &[B32, B32], |v| (v[0] == v[1]).into()),
    op("setp.lt.s32", Pred, &[B32, B32], |v| (s32(v[0]) < s32(v[1])).into()),
    op("setp.hi.u32", Pred, &[B32, B32], |v| (v[0] > v[1]).into()),
    op("setp.ge.u64", Pred, &[B64, B64], |v| (v[0] >= v[1]).into()),
    op("setp.ne.b16", Pred, &[B16, B16], |v| (v[0] != v[1]).into()),
    op("setp.le.s16", Pred, &[B16, B16], |v| (s16(v[0]) <= s16(v[1])).into()),
    op("setp.lt.f32", Pred, &[F32, F32], |v| (f32_(v[0]) < f32_(v[1])).into()),
    op("setp.geu.f32", Pred, &[F32, F32], |v| {
        (!matches!(f32_(v[0]).partial_cmp(&f32_(v[1])), Some(std::cmp::Ordering::Less))).into()
    }),
    op("setp.ne.f32", Pred, &[F32, F32], |v| (f32_(v[0]) < f32_(v[1]) || f32_(v[0]) > f32_(v[1])).into()),
    op("setp.nan.f64", Pred, &[F64, F64], |v| (f64_(v[0]).is_nan() || f64_(v[1]).is_nan()).into()),
    op("setp.lt.and.s32", Pred, &[B32, B32, Pred], |v| u64::from(s32(v[0]) < s32(v[1])) & v[2]),
    op("setp.gt.xor.f32", Pred, &[F32, F32, Pred], |v| u64::from(f32_(v[0]) > f32_(v[1])) ^ v[2]),
    op("and.pred", Pred, &[Pred, Pred], |v| v[0] & v[1]),
    op("or.pred", Pred, &[Pred, Pred], |v| v[0] | v[1]),
    op("xor.pred", Pred, &[Pred, Pred], |v| v[0] ^ v[1]),
    op("not.pred", Pred, &[Pred], |v| v[0] ^ 1),
    op("testp.finite.f32", Pred, &[F32], |v| f32_(v[0]).is_finite().into()),
];

fn both_nan(v: &[u64]) -> bool {
    f32_(v[0]).is_nan() && f32_(v[1]).is_nan()
}

/// `min.f32` by the manual's definition.
fn minimum(a: u64, b: u64) -> u64 {
    match (f32_(a).is_nan(), f32_(b).is_nan()) {
        (true, true) => 0x7fff_ffff,
        (true, false) => b,
        (false, true) => a,
        _ if f32_(a) == 0.0 && f32_(b) == 0.0 => a | b,
        _ if f32_(a) < f32_(b) => a,
        _ => b,
    }
}
