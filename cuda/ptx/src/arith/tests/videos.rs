//! Tests video instructions: selections of bytes and halves, and the operations on them.

use crate::arith::compare::Comparison;
use crate::arith::video::{MultiplyAdd, Part, Scalar, Second, Simd, Video};

const WORD: (Part, bool) = (Part::Word, true);

fn scalar(operation: Video) -> Scalar {
    Scalar { operation, signed: true, a: WORD, b: WORD, saturate: false, second: Second::None }
}

#[test]
fn scalar_operations() {
    let byte = |index| (Part::Byte(index), true);
    let half = |index| (Part::Half(index), false);
    let table: &[(&str, Scalar, [u32; 3], u32)] = &[
        ("vadd", scalar(Video::Add), [3, 4, 0], 7),
        ("vadd.sat", Scalar { saturate: true, ..scalar(Video::Add) }, [0x7fff_ffff, 1, 0], 0x7fff_ffff),
        ("vsub.u32.sat", Scalar { saturate: true, signed: false, ..scalar(Video::Subtract) }, [1, 2, 0], 0),
        (
            "parts",
            Scalar { a: byte(3), b: half(1), ..scalar(Video::Add) },
            [0xff00_0000, 0x8000_1234, 0],
            0x7fff,
        ),
        ("vabsdiff", scalar(Video::AbsoluteDifference), [-5i32 as u32, 7, 0], 12),
        ("vmin.add", Scalar { second: Second::Add, ..scalar(Video::Min) }, [-5i32 as u32, 7, 10], 5),
        (
            "vmax.max",
            Scalar { second: Second::Max, ..scalar(Video::Max) },
            [-5i32 as u32, 7, -1i32 as u32],
            7,
        ),
        ("vmax.min", Scalar { second: Second::Min, ..scalar(Video::Max) }, [5, 7, -1i32 as u32], u32::MAX),
        (
            "merge.sat",
            Scalar { saturate: true, second: Second::Merge(Part::Byte(1)), ..scalar(Video::Add) },
            [100, 100, 0x1111_1111],
            0x1111_7f11,
        ),
        (
            "merge",
            Scalar { second: Second::Merge(Part::Half(1)), ..scalar(Video::Add) },
            [0x1_2345, 0, 7],
            0x2345_0007,
        ),
        ("vshl.clamp", scalar(Video::ShiftLeft { clamp: true }), [1, 40, 0], 0),
        ("vshl.wrap", scalar(Video::ShiftLeft { clamp: false }), [1, 33, 0], 2),
        ("vshr", scalar(Video::ShiftRight { clamp: true }), [-8i32 as u32, 1, 0], -4i32 as u32),
        ("vset", Scalar { signed: false, ..scalar(Video::Compare(Comparison::Less)) }, [1, 2, 0], 1),
    ];
    for (name, instruction, [a, b, c], expected) in table {
        assert_eq!(instruction.execute(*a, *b, *c), *expected, "{name}");
    }
}

#[test]
fn parallel_operations() {
    let bytes = Simd {
        operation: Video::AbsoluteDifference,
        lanes: 4,
        signed: false,
        a: ([0, 1, 2, 3], false),
        b: ([4, 5, 6, 7], false),
        saturate: false,
        mask: 0b1111,
        accumulate: false,
    };
    assert_eq!(bytes.execute(0x01_ff_05_80, 0x03_00_05_01, 0), 0x02_ff_00_7f);
    assert_eq!(
        Simd { accumulate: true, ..bytes }.execute(0x01_ff_05_80, 0x03_00_05_01, 1),
        1 + 2 + 255 + 127
    );
    assert_eq!(Simd { mask: 0b0010, ..bytes }.execute(0x0900, 0, 0x1111_1111), 0x1111_0911);
    let halves = Simd {
        operation: Video::Add,
        lanes: 2,
        signed: true,
        a: ([1, 0, 0, 0], true),
        b: ([2, 3, 0, 0], true),
        saturate: true,
        mask: 0b11,
        accumulate: false,
    };
    assert_eq!(halves.execute(0x7fff_8000, 0xffff_0001, 0), 0x8000_7fff);
    let average = Simd { operation: Video::Average, saturate: false, a: ([0, 1, 0, 0], true), ..halves };
    assert_eq!(average.execute(0xfffd_0003, 0x0000_0004, 0), 0xfffe_0004);
}

#[test]
fn multiply_and_add() {
    let unsigned = (Part::Word, false);
    let plain = MultiplyAdd {
        a: unsigned,
        b: unsigned,
        negate_product: false,
        negate_c: false,
        plus_one: false,
        shift: 0,
        saturate: false,
    };
    assert_eq!(plain.execute(3, 5, 7), 22);
    assert_eq!(MultiplyAdd { plus_one: true, ..plain }.execute(3, 5, 7), 23);
    assert_eq!(MultiplyAdd { negate_product: true, ..plain }.execute(3, 5, 7) as i32, -8);
    assert_eq!(MultiplyAdd { negate_c: true, ..plain }.execute(3, 5, 7), 8);
    assert_eq!(MultiplyAdd { saturate: true, ..plain }.execute(u32::MAX, 2, 0), u32::MAX);
    assert_eq!(MultiplyAdd { shift: 15, ..plain }.execute(1 << 20, 1 << 5, 0), 1 << 10);
    let signed = MultiplyAdd { a: WORD, b: WORD, saturate: true, ..plain };
    assert_eq!(signed.execute(0x8000_0000, 2, 0), 0x8000_0000);
    assert_eq!(MultiplyAdd { shift: 7, saturate: false, ..signed }.execute(-256i32 as u32, 1, 0) as i32, -2);
}
