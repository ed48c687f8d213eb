//! Tests integer arithmetic, shifts and bit fields, at the edges of their types.

use crate::arith::bits::{self, Bits, Permutation};
use crate::arith::compare::{Comparison, compare, selects_first};
use crate::arith::int::{self, Integer};

#[test]
fn products_and_sums() {
    let table: &[(&str, i64, i64)] = &[
        ("mul.hi.s32", i32::MIN.mul_hi(i32::MIN).into(), 0x4000_0000),
        ("mul.hi.u32", u32::MAX.mul_hi(u32::MAX).into(), 0xffff_fffe),
        ("mul.hi.s16", (-300i16).mul_hi(300).into(), -2),
        ("mul.hi.u16", 0xffffu16.mul_hi(0xffff).into(), 0xfffe),
        ("mul.hi.s64", i64::MIN.mul_hi(2), -1),
        ("mul.hi.u64", u64::MAX.mul_hi(u64::MAX) as i64, -2),
        ("mad.lo.s32", i32::MAX.mad_lo(2, 3).into(), 1),
        ("mad.hi.s32", i32::MAX.mad_hi(i32::MAX, i32::MAX).into(), -1_073_741_826),
        ("mad.hi.sat.s32", i32::MAX.mad_hi_sat(i32::MAX, i32::MAX).into(), i32::MAX.into()),
        ("add.sat.s32", i32::MAX.add_sat(1).into(), i32::MAX.into()),
        ("sub.sat.s32", i32::MIN.sub_sat(1).into(), i32::MIN.into()),
        ("sad.s32", i32::MIN.sad(i32::MAX, 1).into(), 0),
        ("sad.u32", 3u32.sad(5, 10).into(), 12),
        ("sad.s16", (-5i16).sad(5, 10).into(), 20),
        ("div.s32", (-7i32).quotient(2).into(), -3),
        ("rem.s32", (-7i32).remainder(2).into(), -1),
        ("div.s32 overflow", i32::MIN.quotient(-1).into(), i32::MIN.into()),
        ("rem.s32 overflow", i32::MIN.remainder(-1).into(), 0),
        ("div.u32 by 0", 5u32.quotient(0).into(), 0xffff_ffff),
        ("rem.s64 by 0", 5i64.remainder(0), -1),
        ("div.u16 by 0", 5u16.quotient(0).into(), 0xffff),
        ("mul24.lo.s32", int::mul24_lo_s32(0x00ff_ffff, 3).into(), -3),
        ("mul24.hi.s32", int::mul24_hi_s32(0x0080_0000, 0x0080_0000).into(), 0x4000_0000),
        ("mul24.lo.u32", int::mul24_lo_u32(0xffff_ffff, 2).into(), 0x01ff_fffe),
        ("mul24.hi.u32", int::mul24_hi_u32(0xff_ffff, 0xff_ffff).into(), 0xffff_fe00),
        ("inc", int::increment(7, 7).into(), 0),
        ("inc above", int::increment(9, 7).into(), 0),
        ("dec of 0", int::decrement(0, 7).into(), 7),
        ("dec above", int::decrement(9, 7).into(), 7),
        ("dec", int::decrement(7, 7).into(), 6),
    ];
    for &(name, got, expected) in table {
        assert_eq!(got, expected, "{name}");
    }
}

#[test]
fn carries() {
    assert_eq!(u32::MAX.add_carry(0, true), (0, true));
    assert_eq!(u32::MAX.add_carry(u32::MAX, true), (u32::MAX, true));
    assert_eq!(1u32.add_carry(2, false), (3, false));
    assert_eq!((-1i32).add_carry(1, false), (0, true));
    assert_eq!(0u64.sub_carry(0, false), (u64::MAX, false));
    assert_eq!(5u64.sub_carry(5, true), (0, true));
    assert_eq!(i32::MIN.sub_carry(1, true), (i32::MAX, true));
    assert_eq!(0i32.sub_carry(-1, false), (0, false));
}

#[test]
fn shifts_past_the_width() {
    for amount in [0, 1, 31, 32, 33, 63, 64, 65, 255, u32::MAX] {
        let wide = amount.min(127);
        assert_eq!(0x8765_4321u32.shift_left(amount), (0x8765_4321u128 << wide) as u32, "{amount}");
        assert_eq!(0x8765_4321u32.shift_right(amount), (0x8765_4321u128 >> wide) as u32, "{amount}");
        assert_eq!((-5i32).shift_right(amount), (-5i128 >> wide) as i32, "{amount}");
        assert_eq!((-5i64).shift_right(amount), (-5i128 >> wide) as i64, "{amount}");
        assert_eq!((-5i16).shift_right(amount), (-5i128 >> wide) as i16, "{amount}");
        assert_eq!(0xffffu16.shift_left(amount), (0xffffu128 << wide) as u16, "{amount}");
        let joined = 0x0123_4567_89ab_cdefu64;
        let (low, high) = (joined as u32, (joined >> 32) as u32);
        assert_eq!(bits::funnel_left(low, high, amount, true), ((joined << amount.min(32)) >> 32) as u32);
        assert_eq!(bits::funnel_left(low, high, amount, false), ((joined << (amount % 32)) >> 32) as u32);
        assert_eq!(bits::funnel_right(low, high, amount, true), (joined >> amount.min(32)) as u32);
        assert_eq!(bits::funnel_right(low, high, amount, false), (joined >> (amount % 32)) as u32);
    }
}

/// Extracts a bit field by the manual's loop, on 64 bits.
fn extract(a: u64, position: u32, length: u32, width: u32, signed: bool) -> u64 {
    let (position, length) = (position & 255, length & 255);
    let bit = |i: u32| a >> i & 1;
    let sign = if signed && length != 0 { bit((position + length - 1).min(width - 1)) } else { 0 };
    (0..width).fold(0, |d, i| {
        let inside = i < length && position + i < width;
        d | (if inside { bit(position + i) } else { sign }) << i
    })
}

fn insert(a: u64, b: u64, position: u32, length: u32, width: u32) -> u64 {
    let (position, length) = (position & 255, length & 255);
    let mut f = b;
    for i in (0..length).take_while(|i| position + i < width) {
        f = f & !(1 << (position + i)) | (a >> i & 1) << (position + i);
    }
    f
}

#[test]
fn bit_fields() {
    let numbers =
        [0, 1, 2, 7, 15, 16, 30, 31, 32, 33, 40, 62, 63, 64, 65, 127, 128, 255, 256, 257, 287, u32::MAX];
    for a in [0, 1, u64::MAX, 0x8000_0000_8000_0000, 0x0123_4567_89ab_cdef] {
        for position in numbers {
            for length in numbers {
                let place = format!("{a:x} {position} {length}");
                let narrow = a as u32;
                assert_eq!(
                    u64::from(narrow.extract(position, length)),
                    extract(narrow.into(), position, length, 32, false),
                    "{place}"
                );
                assert_eq!(
                    u64::from(narrow.extract_signed(position, length)),
                    extract(narrow.into(), position, length, 32, true),
                    "{place}"
                );
                assert_eq!(a.extract(position, length), extract(a, position, length, 64, false), "{place}");
                assert_eq!(
                    a.extract_signed(position, length),
                    extract(a, position, length, 64, true),
                    "{place}"
                );
                let field = 0xfedc_ba98_7654_3210u64;
                assert_eq!(
                    a.insert(field, position, length),
                    insert(field, a, position, length, 64),
                    "{place}"
                );
                let inserted = insert(u64::from(field as u32), narrow.into(), position, length, 32);
                assert_eq!(u64::from(narrow.insert(field as u32, position, length)), inserted, "{place}");
            }
        }
    }
}

#[test]
fn searches() {
    assert_eq!([0u32.find(), 1u32.find(), 0x8000_0000u32.find()], [u32::MAX, 0, 31]);
    assert_eq!(
        [0u32.find_signed(), u32::MAX.find_signed(), 0xffff_fffe_u32.find_signed()],
        [u32::MAX, u32::MAX, 0]
    );
    assert_eq!(
        [0u32.find_shift(), 1u32.find_shift(), 0xffff_0000u32.find_shift_signed()],
        [u32::MAX, 31, 16]
    );
    assert_eq!([0u64.find(), (1u64 << 40).find(), (1u64 << 40).find_shift()], [u32::MAX, 40, 23]);
    assert_eq!([(u64::MAX << 40).find_signed(), u64::MAX.find_shift_signed()], [39, u32::MAX]);
}

/// Finds the n-th set bit by the manual's loop.
fn nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    if offset == 0 {
        return if mask >> base & 1 == 1 { base } else { u32::MAX };
    }
    let (mut position, mut count) = (base as i32, offset.abs() - 1);
    while (0..32).contains(&position) {
        if mask >> position & 1 == 1 {
            if count == 0 {
                return position as u32;
            }
            count -= 1;
        }
        position += offset.signum();
    }
    u32::MAX
}

#[test]
fn nth_set_bit() {
    for mask in [0, 1, u32::MAX, 0xaaaa_aaaa, 0x8000_0001, 0x0012_3400] {
        for base in 0..32 {
            for offset in -34..=34 {
                assert_eq!(
                    bits::find_nth_set(mask, base, offset),
                    nth_set(mask, base, offset),
                    "{mask:x} {base} {offset}"
                );
            }
        }
    }
    assert_eq!(bits::find_nth_set(u32::MAX, 0, i32::MIN), u32::MAX);
    assert_eq!(bits::find_nth_set(u32::MAX, 32, 1), u32::MAX);
}

#[test]
fn permutations() {
    let (a, b) = (0x8382_8180, 0x0706_0504);
    let table: &[(Permutation, u32, u32)] = &[
        (Permutation::Index, 0x3210, a),
        (Permutation::Index, 0x7654, b),
        (Permutation::Index, 0x4b08, 0x04ff_80ff),
        (Permutation::Index, 0xc000, 0x0080_8080),
        (Permutation::Forward4, 0, 0x8382_8180),
        (Permutation::Forward4, 3, 0x0605_0483),
        (Permutation::Backward4, 0, 0x0506_0780),
        (Permutation::Backward4, 3, 0x8081_8283),
        (Permutation::Replicate8, 2, 0x8282_8282),
        (Permutation::EdgeLeft, 1, 0x8382_8181),
        (Permutation::EdgeLeft, 3, 0x8383_8383),
        (Permutation::EdgeRight, 1, 0x8181_8180),
        (Permutation::EdgeRight, 2, 0x8282_8180),
        (Permutation::Replicate16, 0, 0x8180_8180),
        (Permutation::Replicate16, 1, 0x8382_8382),
        (Permutation::Replicate16, 2, 0x8180_8180),
        (Permutation::Forward4, 7, 0x0605_0483),
    ];
    for &(permutation, selector, expected) in table {
        assert_eq!(bits::permute(a, b, selector, permutation), expected, "{permutation:?} {selector:x}");
    }
}

#[test]
fn every_logic_table() {
    let (a, b, c) = (0xf0f0_1234, 0xcccc_5678, 0xaaaa_9abc);
    for table in 0..=u8::MAX {
        let expected = (0..32).fold(0, |d, i| {
            let index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
            d | (u32::from(table) >> index & 1) << i
        });
        assert_eq!(bits::logic3(a, b, c, table), expected, "{table:02x}");
    }
}

#[test]
fn masks_and_extensions() {
    assert_eq!(bits::bit_mask(1, 2, false), 6);
    assert_eq!(bits::bit_mask(4, 32, true), 0xffff_fff0);
    assert_eq!(bits::bit_mask(4, 32, false), 0);
    assert_eq!(bits::bit_mask(32, 4, true), 0);
    assert_eq!(bits::bit_mask(33, 4, false), 0x1e);
    assert_eq!(bits::bit_mask(30, 10, true), 0xc000_0000);
    assert_eq!(bits::bit_mask(0, u32::MAX, true), u32::MAX);
    assert_eq!(bits::zero_extend(0xffff_ffff, 0, false), 0);
    assert_eq!(bits::zero_extend(0xffff_ffff, 32, true), u32::MAX);
    assert_eq!(bits::zero_extend(0xffff_ffff, 33, false), 1);
    assert_eq!(bits::sign_extend(0x0000_0080, 8, true), 0xffff_ff80);
    assert_eq!(bits::sign_extend(0x8000_0000, 40, true), 0x8000_0000);
    assert_eq!(bits::sign_extend(0x0000_0001, 33, false), u32::MAX);
    assert_eq!(bits::sign_extend(0xffff_ffff, 0, true), 0);
}

#[test]
fn dot_products() {
    let (a, b) = (0xff02_8001, 0x0104_ff02);
    // Bytes of a: 1, 128, 2, 255; of b: 2, 255, 4, 1.
    assert_eq!(bits::dot4(a, b, 10, false, false), 10 + 2 + 128 * 255 + 8 + 255);
    assert_eq!(bits::dot4(a, b, 10, true, true) as i32, 10 + 2 + 128 + 8 - 1);
    assert_eq!(bits::dot4(a, b, 10, false, true) as i32, 10 + 2 - 128 + 8 + 255);
    assert_eq!(bits::dot2(0xffff_0003, b, 1, false, true, false) as i32, 1 + 3 * 2 - 255);
    assert_eq!(bits::dot2(0xffff_0003, b, 1, true, false, false), 1 + 3 * 4 + 0xffff);
    assert_eq!(bits::dot4(0x7f7f_7f7f, 0x7f7f_7f7f, u32::MAX, true, true), 4 * 127 * 127 - 1);
}

#[test]
fn comparisons() {
    use Comparison::*;
    let all = [
        Equal,
        NotEqual,
        Less,
        LessOrEqual,
        Greater,
        GreaterOrEqual,
        EqualUnordered,
        NotEqualUnordered,
        LessUnordered,
        LessOrEqualUnordered,
        GreaterUnordered,
        GreaterOrEqualUnordered,
        Number,
        Nan,
    ];
    let row = |a: f32, b: f32| all.map(|comparison| u8::from(compare(a, b, comparison)));
    assert_eq!(row(1.0, 2.0), [0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0]);
    assert_eq!(row(2.0, 2.0), [1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0]);
    assert_eq!(row(3.0, 2.0), [0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0]);
    assert_eq!(row(-0.0, 0.0), row(2.0, 2.0));
    for (a, b) in [(f32::NAN, 1.0), (1.0, f32::NAN), (f32::NAN, f32::NAN)] {
        assert_eq!(row(a, b), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 1]);
    }
    assert!(compare(u32::MAX, 1, Greater) && !compare(-1i32, 1, Greater));
    let minus_tiny = f32::from_bits(0x8000_0001);
    assert_eq!(
        [-0.0, 1.0, -1.0, f32::NAN, minus_tiny].map(|c| selects_first(c, false)),
        [true, true, false, false, false]
    );
    assert!(selects_first(minus_tiny, true));
}

#[test]
fn halves_of_registers() {
    assert_eq!(int::pairwise([0xffff_0001, 0x0001_0001], |[a, b]| a.wrapping_add(b)), 0x0000_0002);
}
