//! Tests corner cases of the manual in tables, 16-bit formats exhaustively, and the rest against
//! independent references.

mod approximate;
mod conversions;
mod floats;
mod halves;
mod integers;
mod matrices;
mod reference;
mod videos;

use super::Rounding;

const ROUNDINGS: [Rounding; 4] = [Rounding::NearestEven, Rounding::Zero, Rounding::Down, Rounding::Up];

/// Returns an `f32` operand that is likely to reveal errors: a special value, random bits, or a
/// neighbouring exponent.
fn operand(random: &mut fastrand::Rng) -> f32 {
    const SPECIAL: [u32; 14] = [
        0,
        1,
        0x007f_ffff,
        0x0080_0000,
        0x0080_0001,
        0x3f80_0000,
        0x3f80_0001,
        0x3f7f_ffff,
        0x4b00_0000,
        0x4b80_0001,
        0x7f7f_ffff,
        0x7f7f_fffe,
        0x3f00_0000,
        0x1a80_0000,
    ];
    let sign = random.u32(..) & 0x8000_0000;
    let bits = match random.u32(0..4) {
        0 => SPECIAL[random.usize(..SPECIAL.len())],
        1 => random.u32(..0x7f80_0000),
        2 => random.u32(0x3e00_0000..0x4100_0000),
        // Few bits set: ties and exact results.
        _ => random.u32(0..255) << 23 | random.u32(0..8) << 20 | random.u32(0..4),
    };
    f32::from_bits(bits | sign)
}

/// Returns an `f64` operand of the same kinds.
fn operand_f64(random: &mut fastrand::Rng) -> f64 {
    const SPECIAL: [u64; 10] = [
        0,
        1,
        0x000f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0x3ff0_0000_0000_0000,
        0x3ff0_0000_0000_0001,
        0x7fef_ffff_ffff_ffff,
        0x4330_0000_0000_0000,
        0x43e0_0000_0000_0000,
        0x1e00_0000_0000_0000,
    ];
    let sign = random.u64(..) & 1 << 63;
    let bits = match random.u32(0..4) {
        0 => SPECIAL[random.usize(..SPECIAL.len())],
        1 => random.u64(..0x7ff0_0000_0000_0000),
        2 => random.u64(0x3fc0_0000_0000_0000..0x4020_0000_0000_0000),
        _ => random.u64(0..2047) << 52 | random.u64(0..8) << 49 | random.u64(0..4),
    };
    f64::from_bits(bits | sign)
}
