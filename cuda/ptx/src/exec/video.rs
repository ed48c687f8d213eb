//! Video instructions: lane by lane, by the form that the instruction names.

#![expect(unsafe_code, reason = "instructions read and write registers")]

use super::lanes::Line;
use super::machine::{Flow, Machine};
use crate::code::{Form, Inst};

/// `imm` is the form, `a`, `b` and `c` the sources.
pub(crate) unsafe fn video(m: &mut Machine<'_>, i: &Inst) -> Flow {
    let Some(form) = m.launch.program.forms.get(i.imm as usize).copied() else { return Flow::Next };
    // SAFETY: 32-bit registers, as the translation checked.
    let (a, b, c) = unsafe { (m.read::<u32>(i.a), m.read::<u32>(i.b), m.read::<u32>(i.c)) };
    let (a, b, c) = (&a.0, &b.0, &c.0);
    let result = match form {
        Form::Scalar(form) => Line::from_fn(|lane| form.execute(a[lane], b[lane], c[lane])),
        Form::Simd(form) => Line::from_fn(|lane| form.execute(a[lane], b[lane], c[lane])),
        Form::MultiplyAdd(form) => Line::from_fn(|lane| form.execute(a[lane], b[lane], c[lane])),
        Form::Multiply(_) | Form::Fragment(..) => return Flow::Next,
    };
    // SAFETY: as above.
    unsafe { m.write(i.dst, &result) };
    Flow::Next
}
