//! Instructions that compute: each lane's result depends only on the lane's own registers.
//!
//! An operation is a type with a function on scalars. The handlers here apply it to all lanes,
//! active or not (no operation can fail), and keep the results of the active ones. The loop
//! therefore has no branch and compiles to vector code wherever the function allows it.

#![expect(unsafe_code, reason = "instructions read and write registers")]

use super::lanes::{LANES, Line, Slot, Value};
use super::level::handlers;
use super::machine::{Flow, Machine};
use super::program::Inst;
use super::slots::{Pred, Reg};

/// An operation on one value. `aux` is a constant of the instruction, `FMA` says whether a fused
/// multiply-add is one instruction.
pub(crate) trait Op1 {
    type A: Value;
    type R: Value;
    fn apply<const FMA: bool>(aux: u64, a: Self::A) -> Self::R;
}

/// An operation on two values.
pub(crate) trait Op2 {
    type A: Value;
    type B: Value;
    type R: Value;
    fn apply<const FMA: bool>(aux: u64, a: Self::A, b: Self::B) -> Self::R;
}

/// An operation on three values.
pub(crate) trait Op3 {
    type A: Value;
    type B: Value;
    type C: Value;
    type R: Value;
    fn apply<const FMA: bool>(aux: u64, a: Self::A, b: Self::B, c: Self::C) -> Self::R;
}

/// An operation on four values; the fourth is in register `d`.
pub(crate) trait Op4 {
    type A: Value;
    type B: Value;
    type C: Value;
    type D: Value;
    type R: Value;
    fn apply<const FMA: bool>(aux: u64, a: Self::A, b: Self::B, c: Self::C, d: Self::D) -> Self::R;
}

/// A comparison.
pub(crate) trait Compare {
    type A: Value;
    fn apply(aux: u64, a: Self::A, b: Self::A) -> bool;
}

/// An operation on two or three values and a carry, which also returns a carry.
pub(crate) trait Carry {
    type A: Value;
    fn apply(aux: u64, a: Self::A, b: Self::A, c: Self::A, carry: bool) -> (Self::A, bool);
}

type SlotOf<V> = <V as Value>::Slot;
type RegOf<V> = Reg<SlotOf<V>>;

type Unary<O> = Inst<RegOf<<O as Op1>::R>, RegOf<<O as Op1>::A>>;
type Binary<O> = Inst<RegOf<<O as Op2>::R>, RegOf<<O as Op2>::A>, RegOf<<O as Op2>::B>>;
type Ternary<O> =
    Inst<RegOf<<O as Op3>::R>, RegOf<<O as Op3>::A>, RegOf<<O as Op3>::B>, RegOf<<O as Op3>::C>>;
type Quaternary<O> = Inst<
    RegOf<<O as Op4>::R>,
    RegOf<<O as Op4>::A>,
    RegOf<<O as Op4>::B>,
    RegOf<<O as Op4>::C>,
    RegOf<<O as Op4>::D>,
>;
type Comparing<O> = Inst<Pred, RegOf<<O as Compare>::A>, RegOf<<O as Compare>::A>>;
type Carrying<O> = Inst<
    RegOf<<O as Carry>::A>,
    RegOf<<O as Carry>::A>,
    RegOf<<O as Carry>::A>,
    RegOf<<O as Carry>::A>,
    Pred,
>;
type Selecting<S> = Inst<Reg<S>, Reg<S>, Reg<S>, Pred>;
type Copying<S> = Inst<Reg<S>, Reg<S>>;

#[inline(always)]
unsafe fn run1<O: Op1, const FMA: bool>(m: &mut Machine<'_>, i: &Unary<O>) -> Flow {
    // SAFETY: the fields of the instruction are registers of the current window, see `Handler`.
    unsafe {
        let a = m.line(i.a);
        let result = Line::from_fn(|lane| O::apply::<FMA>(i.imm, O::A::unpack((*a).0[lane])).pack());
        m.write(i.dst, &result);
    }
    Flow::Next
}
handlers!(
    /// Returns the handlers of an operation on `a`.
    unary_handlers, run1, Op1, Unary<O>
);

#[inline(always)]
unsafe fn run2<O: Op2, const FMA: bool>(m: &mut Machine<'_>, i: &Binary<O>) -> Flow {
    // SAFETY: the fields of the instruction are registers of the current window, see `Handler`.
    unsafe {
        let (a, b) = (m.line(i.a), m.line(i.b));
        let result = Line::from_fn(|lane| {
            O::apply::<FMA>(i.imm, O::A::unpack((*a).0[lane]), O::B::unpack((*b).0[lane])).pack()
        });
        m.write(i.dst, &result);
    }
    Flow::Next
}
handlers!(
    /// Returns the handlers of an operation on `a` and `b`.
    binary_handlers, run2, Op2, Binary<O>
);

#[inline(always)]
unsafe fn run3<O: Op3, const FMA: bool>(m: &mut Machine<'_>, i: &Ternary<O>) -> Flow {
    // SAFETY: the fields of the instruction are registers of the current window, see `Handler`.
    unsafe {
        let (a, b) = (m.line(i.a), m.line(i.b));
        let c = m.line(i.c);
        let result = Line::from_fn(|lane| {
            let (a, b) = (O::A::unpack((*a).0[lane]), O::B::unpack((*b).0[lane]));
            O::apply::<FMA>(i.imm, a, b, O::C::unpack((*c).0[lane])).pack()
        });
        m.write(i.dst, &result);
    }
    Flow::Next
}
handlers!(
    /// Returns the handlers of an operation on `a`, `b` and `c`.
    ternary_handlers, run3, Op3, Ternary<O>
);

#[inline(always)]
unsafe fn run4<O: Op4, const FMA: bool>(m: &mut Machine<'_>, i: &Quaternary<O>) -> Flow {
    // SAFETY: the fields of the instruction are registers of the current window, see `Handler`.
    unsafe {
        let (a, b) = (m.line(i.a), m.line(i.b));
        let (c, d) = (m.line(i.c), m.line(i.d));
        let result = Line::from_fn(|lane| {
            let (a, b) = (O::A::unpack((*a).0[lane]), O::B::unpack((*b).0[lane]));
            let (c, d) = (O::C::unpack((*c).0[lane]), O::D::unpack((*d).0[lane]));
            O::apply::<FMA>(i.imm, a, b, c, d).pack()
        });
        m.write(i.dst, &result);
    }
    Flow::Next
}
handlers!(
    /// Returns the handlers of an operation on `a`, `b`, `c` and `d`.
    quaternary_handlers, run4, Op4, Quaternary<O>
);

/// Evaluates `f` for each lane and returns the results as bits.
#[inline(always)]
fn bits(f: impl Fn(usize) -> bool) -> u32 {
    // Works in two steps: the first goes through memory, and the second computes eight partial
    // results side by side. The compiler would take a single loop with one result apart, lane by
    // lane.
    let truths = Line::from_fn(|lane| if f(lane) { u32::MAX } else { 0 });
    let truths = std::hint::black_box(&truths);
    let mut bits = [0u32; 8];
    for group in 0..LANES / 8 {
        for (lane, bits) in bits.iter_mut().enumerate() {
            *bits |= truths.0[group * 8 + lane] & 1 << (group * 8 + lane);
        }
    }
    bits.into_iter().fold(0, |all, one| all | one)
}

#[inline(always)]
unsafe fn run_compare<O: Compare, const FMA: bool>(m: &mut Machine<'_>, i: &Comparing<O>) -> Flow {
    // SAFETY: the fields of the instruction are registers of the current window, see `Handler`.
    unsafe {
        let (a, b) = (m.line(i.a), m.line(i.b));
        let result = bits(|lane| O::apply(i.imm, O::A::unpack((*a).0[lane]), O::A::unpack((*b).0[lane])));
        m.write_predicate(i.dst, result);
    }
    Flow::Next
}
handlers!(
    /// Returns the handlers of a comparison of `a` and `b` to predicate `dst`.
    comparison, run_compare, Compare, Comparing<O>
);

#[inline(always)]
unsafe fn run_carry<O: Carry, const FMA: bool>(m: &mut Machine<'_>, i: &Carrying<O>) -> Flow {
    // SAFETY: the fields of the instruction are registers of the current window, see `Handler`.
    unsafe {
        let carry = m.predicate(i.d);
        let (a, b) = (m.line(i.a), m.line(i.b));
        let c = m.line(i.c);
        let mut out = 0;
        let result = Line::from_fn(|lane| {
            let [a, b, c] = [a, b, c].map(|register| O::A::unpack((*register).0[lane]));
            let (value, carry) = O::apply(i.imm, a, b, c, carry >> lane & 1 != 0);
            out |= u32::from(carry) << lane;
            value.pack()
        });
        m.write(i.dst, &result);
        if i.imm & CARRY_OUT != 0 {
            m.write_predicate(i.d, out);
        }
    }
    Flow::Next
}
handlers!(
    /// Returns the handlers of an operation on `a`, `b`, `c` and the carry `d`, which it writes if
    /// `imm` has [`CARRY_OUT`].
    carrying, run_carry, Carry, Carrying<O>
);

/// A flag in `imm` of a [`Carry`]: the carry is written.
pub(crate) const CARRY_OUT: u64 = 1 << 63;

#[inline(always)]
unsafe fn run_select<O: Slot, const FMA: bool>(m: &mut Machine<'_>, i: &Selecting<O>) -> Flow {
    // SAFETY: the fields of the instruction are registers of the current window, see `Handler`.
    unsafe {
        let condition = m.predicate(i.c) ^ i.d;
        let (a, b) = (m.line(i.a), m.line(i.b));
        let result =
            Line::from_fn(|lane| if condition >> lane & 1 != 0 { (*a).0[lane] } else { (*b).0[lane] });
        m.write(i.dst, &result);
    }
    Flow::Next
}
handlers!(
    /// Returns the handlers of a choice between `a` and `b` by predicate `c`, negated if `d` is all
    /// ones.
    selection, run_select, Slot, Selecting<O>
);

#[inline(always)]
unsafe fn run_copy<O: Slot, const FMA: bool>(m: &mut Machine<'_>, i: &Copying<O>) -> Flow {
    // SAFETY: the fields of the instruction are registers of the current window, see `Handler`.
    unsafe {
        let value = m.read(i.a);
        m.write(i.dst, &value);
    }
    Flow::Next
}
handlers!(
    /// Returns the handlers of a copy of `a`.
    copying, run_copy, Slot, Copying<O>
);

/// Combines predicates: `imm` is a truth table over `a`, `b`, `c`, bit `4a + 2b + c`.
pub(crate) unsafe fn predicate_logic(m: &mut Machine<'_>, i: &Inst<Pred, Pred, Pred, Pred>) -> Flow {
    // SAFETY: the fields of the instruction are registers of the current window, see `Handler`.
    unsafe {
        let inputs = [m.predicate(i.a), m.predicate(i.b), m.predicate(i.c)];
        let mut result = 0;
        for row in 0..8 {
            if i.imm >> row & 1 != 0 {
                let pick =
                    |index: usize| if row >> (2 - index) & 1 != 0 { inputs[index] } else { !inputs[index] };
                result |= pick(0) & pick(1) & pick(2);
            }
        }
        m.write_predicate(i.dst, result);
    }
    Flow::Next
}

/// Sets predicate `dst` to the bits `imm`.
pub(crate) unsafe fn predicate_constant(m: &mut Machine<'_>, i: &Inst<Pred>) -> Flow {
    // SAFETY: `dst` is a predicate of the current window, see `Handler`.
    unsafe { m.write_predicate(i.dst, i.imm as u32) };
    Flow::Next
}

/// Makes an [`Op1`] from a closure: `unary!(u32 => u64, |a| a.into())`, `unary!(u32 => u32, |a;
/// aux| …)`.
macro_rules! unary {
    ($a:ty => $r:ty, |$x:ident| $body:expr) => { $crate::exec::ops::unary!($a => $r, |$x; _aux| $body) };
    ($a:ty => $r:ty, |$x:ident; $aux:ident| $body:expr) => {{
        struct O;
        impl $crate::exec::ops::Op1 for O {
            type A = $a;
            type R = $r;
            #[inline(always)]
            fn apply<const FMA: bool>($aux: u64, $x: $a) -> $r {
                $body
            }
        }
        const { $crate::exec::ops::unary_handlers::<O>() }
    }};
}
pub(crate) use unary;

/// Makes an [`Op2`] from a closure: `binary!((u32, u32) => u32, |a, b| a & b)`.
macro_rules! binary {
    (($a:ty, $b:ty) => $r:ty, |$x:ident, $y:ident| $body:expr) => { $crate::exec::ops::binary!(($a, $b) => $r, |$x, $y; _aux| $body) };
    (($a:ty, $b:ty) => $r:ty, |$x:ident, $y:ident; $aux:ident| $body:expr) => {{
        struct O;
        impl $crate::exec::ops::Op2 for O {
            type A = $a;
            type B = $b;
            type R = $r;
            #[inline(always)]
            fn apply<const FMA: bool>($aux: u64, $x: $a, $y: $b) -> $r {
                $body
            }
        }
        const { $crate::exec::ops::binary_handlers::<O>() }
    }};
}
pub(crate) use binary;

/// Makes an [`Op3`] from a closure.
macro_rules! ternary {
    (($a:ty, $b:ty, $c:ty) => $r:ty, |$x:ident, $y:ident, $z:ident| $body:expr) => {
        $crate::exec::ops::ternary!(($a, $b, $c) => $r, |$x, $y, $z; _aux| $body)
    };
    (($a:ty, $b:ty, $c:ty) => $r:ty, |$x:ident, $y:ident, $z:ident; $aux:ident| $body:expr) => {{
        struct O;
        impl $crate::exec::ops::Op3 for O {
            type A = $a;
            type B = $b;
            type C = $c;
            type R = $r;
            #[inline(always)]
            fn apply<const FMA: bool>($aux: u64, $x: $a, $y: $b, $z: $c) -> $r {
                $body
            }
        }
        const { $crate::exec::ops::ternary_handlers::<O>() }
    }};
}
pub(crate) use ternary;

/// Makes an [`Op4`] from a closure.
macro_rules! quaternary {
    (($a:ty, $b:ty, $c:ty, $d:ty) => $r:ty, |$x:ident, $y:ident, $z:ident, $w:ident; $aux:ident| $body:expr) => {{
        struct O;
        impl $crate::exec::ops::Op4 for O {
            type A = $a;
            type B = $b;
            type C = $c;
            type D = $d;
            type R = $r;
            #[inline(always)]
            fn apply<const FMA: bool>($aux: u64, $x: $a, $y: $b, $z: $c, $w: $d) -> $r {
                $body
            }
        }
        const { $crate::exec::ops::quaternary_handlers::<O>() }
    }};
}
pub(crate) use quaternary;

/// Makes a [`Compare`] from a closure.
macro_rules! compare {
    ($a:ty, |$x:ident, $y:ident| $body:expr) => { $crate::exec::ops::compare!($a, |$x, $y; _aux| $body) };
    ($a:ty, |$x:ident, $y:ident; $aux:ident| $body:expr) => {{
        struct O;
        impl $crate::exec::ops::Compare for O {
            type A = $a;
            #[inline(always)]
            fn apply($aux: u64, $x: $a, $y: $a) -> bool {
                $body
            }
        }
        const { $crate::exec::ops::comparison::<O>() }
    }};
}
pub(crate) use compare;
