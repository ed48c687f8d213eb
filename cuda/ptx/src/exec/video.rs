//! Video instructions: arithmetic on parts of registers.

#![expect(unsafe_code, reason = "reads and writes registers")]

use super::lanes::Line;
use super::machine::{Flow, Machine};
use super::program::Inst;
use super::slots::Reg;
use crate::arith::video::{MultiplyAdd, Scalar, Simd};

/// The form of a video instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// `vadd` and similar instructions.
    Scalar(Scalar),
    /// `vadd2`, `vadd4` and similar instructions.
    Simd(Simd),
    /// `vmad`.
    MultiplyAdd(MultiplyAdd),
}

/// Computes `dst` from `a`, `b`, `c`; `imm` is the [`Form`].
pub(crate) unsafe fn compute(m: &mut Machine<'_>, i: &Inst<Reg<u32>, Reg<u32>, Reg<u32>, Reg<u32>>) -> Flow {
    let form = &m.launch.program.videos[i.imm as usize];
    // SAFETY: registers are those of the current window, see `Handler`.
    unsafe {
        let (a, b, c) = (m.read(i.a), m.read(i.b), m.read(i.c));
        let result = Line::from_fn(|lane| {
            let (a, b, c) = (a.0[lane], b.0[lane], c.0[lane]);
            match form {
                Form::Scalar(form) => form.execute(a, b, c),
                Form::Simd(form) => form.execute(a, b, c),
                Form::MultiplyAdd(form) => form.execute(a, b, c),
            }
        });
        m.write(i.dst, &result);
    }
    Flow::Next
}
