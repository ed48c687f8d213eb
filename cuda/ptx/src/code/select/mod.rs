//! Translates an instruction of the text to instructions of the compact form, with one function for
//! each opcode.
//!
//! A function takes the modifiers that it knows one by one ([`Words`]). A modifier that remains is
//! an error, and so is an operand of the wrong kind or type, or the wrong number of operands.

mod arithmetic;
mod atomic;
mod bits;
mod collective;
mod compare;
mod control;
mod convert;
mod float;
mod matrix;
mod memory;
mod moves;
mod pairs;
mod stack;
mod transfer;
mod video;
mod warpgroup;

use super::emit::{Checked, Emitter};
use super::flow::Control;
use super::operand::Predicate;
use crate::arith::Rounding;
use crate::exec::control_flow;
use crate::exec::level::Handlers;
use crate::exec::slots::{Fields, RegisterSlot};
use crate::syntax::ast::{Immediate, Instruction, Operand};
use crate::syntax::types::Type;

pub(super) use control::{enter, leave};

/// The modifiers of an instruction that have not been taken yet.
pub(super) struct Words<'i> {
    left: Vec<&'i str>,
}

impl<'i> Words<'i> {
    fn new(instruction: &Instruction<'i>) -> Words<'i> {
        Words { left: instruction.modifiers.to_vec() }
    }

    /// Takes a modifier if it is present. Returns whether it was.
    fn flag(&mut self, word: &str) -> bool {
        let found = self.left.iter().position(|left| *left == word);
        found.map(|at| self.left.remove(at)).is_some()
    }

    /// Takes the first modifier that `known` accepts.
    fn find<T>(&mut self, known: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (at, value) = self.left.iter().enumerate().find_map(|(at, word)| Some((at, known(word)?)))?;
        self.left.remove(at);
        Some(value)
    }

    /// Takes the first modifier that is one of `words`.
    fn one_of(&mut self, words: &[&'static str]) -> Option<&'static str> {
        self.find(|word| words.iter().copied().find(|known| *known == word))
    }

    /// Takes the type: the last modifier that is one. A modifier that the manual places before the
    /// type may also stand after it, as in `ld.u32.global` and `min.f32.NaN`.
    fn ty(&mut self) -> Checked<Type> {
        let known =
            self.left.iter().enumerate().rev().find_map(|(at, word)| Some((at, Type::from_word(word)?)));
        match known {
            Some((at, ty)) => {
                self.left.remove(at);
                Ok(ty)
            }
            None => Err(format!("unknown type .{}", self.last()?)),
        }
    }

    /// Takes the word that stands for a type: the last modifier, except for some that may also
    /// stand after it.
    fn last(&mut self) -> Checked<&'i str> {
        /// Modifiers that may stand last, as in `mad.hi.s32.sat` and `cvt.f64.bf16.rp`.
        const TRAILING: [&str; 13] =
            ["sat", "ftz", "relu", "satfinite", "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna"];
        let at = self.left.iter().rposition(|word| !TRAILING.contains(word)).ok_or("the type is missing")?;
        Ok(self.left.remove(at))
    }

    /// Takes a rounding of floating-point results.
    fn rounding(&mut self) -> Option<Rounding> {
        self.find(|word| match word {
            "rn" => Some(Rounding::NearestEven),
            "rz" => Some(Rounding::Zero),
            "rm" => Some(Rounding::Down),
            "rp" => Some(Rounding::Up),
            _ => None,
        })
    }

    /// Fails if a modifier remains.
    fn finish(&self) -> Checked<()> {
        match self.left.first() {
            None => Ok(()),
            Some(word) => Err(format!("modifier .{word} is not supported here")),
        }
    }
}

/// Returns the operands, if there are `N` of them.
fn operands<'i, const N: usize>(instruction: &'i Instruction<'_>) -> Checked<&'i [Operand; N]> {
    let found = instruction.operands.len();
    instruction.operands[..].try_into().map_err(|_| format!("{found} operands where {N} are needed"))
}

/// Rejects a 32-bit constant that is not `allowed`. A value in a register is checked at run time.
fn check_constant(operand: &Operand, allowed: impl Fn(u32) -> bool, wanted: &str) -> Checked<()> {
    match operand {
        Operand::Immediate(Immediate::Integer { bits, .. }) if !allowed(*bits as u32) => {
            Err(format!("{} where {wanted} is needed", *bits as u32 as i32))
        }
        _ => Ok(()),
    }
}

/// Rejects constants among the operands of an instruction on pairs, because PTX has no notation for
/// a pair.
fn no_constants(instruction: &Instruction<'_>) -> Checked<()> {
    if instruction.operands.iter().any(|operand| matches!(operand, Operand::Immediate(_))) {
        return Err("a constant where a pair in a register is needed".into());
    }
    Ok(())
}

/// Returns the error for a type an instruction does not have.
fn no_type<T>(ty: Type) -> Checked<T> {
    Err(format!("type {ty} is not supported here"))
}

/// Rejects special registers and sinks where ptxas does. Those inside a vector are checked by the
/// functions of their instructions.
fn check_places(i: &Instruction<'_>) -> Checked<()> {
    let is_special = |operand: &Operand| matches!(operand, Operand::Special(_));
    let is_float = |word: &&str| Type::from_word(word).is_some_and(Type::is_float);
    let takes_special = match i.opcode {
        "mov" => true,
        "cvt" => !i.has("pack") && !i.modifiers.iter().any(is_float),
        _ => false,
    };
    if !takes_special && i.operands.iter().any(is_special) {
        return Err("a special register, which only mov and conversions of integers read".into());
    }
    let takes_sink = match i.operands.first() {
        Some(Operand::Sink) => match i.opcode {
            "atom" | "setp" => true,
            "mbarrier" => i.has("arrive") || i.has("arrive_drop"),
            _ => false,
        },
        Some(Operand::Pair(pair)) => match (&pair.0, &pair.1) {
            (Operand::Sink, Operand::Sink) => false,
            (Operand::Sink, _) => i.opcode != "shfl",
            (_, Operand::Sink) => !matches!(i.opcode, "elect" | "lop3"),
            _ => true,
        },
        Some(Operand::Vector(parts)) => parts.iter().any(|part| *part != Operand::Sink),
        _ => true,
    };
    if takes_sink { Ok(()) } else { Err("a sink where a register is needed".into()) }
}

/// Translates an instruction with its guard.
pub(super) fn select(e: &mut Emitter<'_, '_>, instruction: &Instruction<'_>) -> Checked<()> {
    guarded(e, instruction)?;
    e.take_mismatch()
}

fn guarded(e: &mut Emitter<'_, '_>, instruction: &Instruction<'_>) -> Checked<()> {
    let Some(guard) = instruction.guard else { return unguarded(e, instruction) };
    let (register, negated) = (guard.register, guard.negated);
    let operand = if negated { Operand::Not(register) } else { Operand::Register(register) };
    let predicate = e.predicate(&operand)?;
    if instruction.opcode == "bra" {
        return control::branch(e, instruction, Some(predicate));
    }
    let before = e.drafts.len();
    // Inactive lanes do not analyse their addresses.
    e.repeats.clear();
    unguarded(e, instruction)?;
    e.repeats.clear();
    let Predicate { slot, flip } = predicate;
    let single = e.drafts.len() == before + 1;
    if single && e.drafts[before].control == Control::Next && !e.drafts[before].waits {
        e.emit(Handlers::uniform(control_flow::guard), Fields::new().a(slot).b(flip));
        e.drafts.swap(before, before + 1);
        return Ok(());
    }
    // Lanes for which the guard is false skip the instructions.
    let rest = e.drafts.split_off(before);
    let behind = e.new_label();
    e.jump_if(Predicate { slot, flip: !flip }, behind);
    e.drafts.extend(rest);
    e.place_label(behind);
    Ok(())
}

fn unguarded(e: &mut Emitter<'_, '_>, i: &Instruction<'_>) -> Checked<()> {
    check_places(i)?;
    let w = &mut Words::new(i);
    match i.opcode {
        "add" | "sub" | "mul" | "mad" | "fma" | "div" | "rem" | "abs" | "neg" | "min" | "max" | "sad"
        | "mul24" | "mad24" | "addc" | "subc" | "madc" => arithmetic::select(e, i, w),
        "rcp" | "sqrt" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" | "copysign" | "testp" => {
            float::functions(e, i, w)
        }
        "and" | "or" | "xor" | "not" | "cnot" | "shl" | "shr" | "shf" | "bfe" | "bfi" | "bfind" | "brev"
        | "clz" | "popc" | "fns" | "prmt" | "lop3" | "szext" | "bmsk" | "dp4a" | "dp2a" => {
            bits::select(e, i, w)
        }
        "setp" | "set" | "selp" | "slct" => compare::select(e, i, w),
        "cvt" => convert::select(e, i, w),
        "mov" | "cvta" | "isspacep" | "mapa" | "getctarank" => moves::select(e, i, w),
        "st" if i.has("bulk") => transfer::fill(e, i, w),
        "st" | "red" if i.has("async") => transfer::counted_store(e, i),
        "ld" | "ldu" | "st" | "prefetch" | "prefetchu" | "applypriority" | "discard" | "createpolicy" => {
            memory::select(e, i, w)
        }
        "alloca" | "stacksave" | "stackrestore" => stack::select(e, i, w),
        "membar" | "fence" => memory::fence(e, i, w),
        "bra" => control::branch(e, i, None),
        "brx" | "call" | "ret" | "exit" | "trap" | "brkpt" | "bar" | "barrier" | "nanosleep"
        | "griddepcontrol" | "setmaxnreg" | "pmevent" | "nop" => control::select(e, i, w),
        "shfl" | "vote" | "match" | "redux" | "elect" | "activemask" => collective::select(e, i, w),
        "atom" | "red" => atomic::select(e, i, w),
        "cp" => transfer::copy(e, i, w),
        "mbarrier" => transfer::barrier(e, i, w),
        "mma" | "wmma" | "ldmatrix" | "stmatrix" | "movmatrix" => matrix::select(e, i, w),
        "wgmma" => warpgroup::select(e, i, w),
        opcode if video::is_video(opcode) => video::select(e, i, w),
        _ => Err("the instruction is not supported".into()),
    }
}

/// Returns the slots of a destination and some sources, all of one type.
fn slots<const N: usize>(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    target: Type,
    sources: [Type; N],
) -> Checked<(RegisterSlot, [RegisterSlot; N])> {
    let found = i.operands.len();
    if found != N + 1 {
        return Err(format!("{found} operands where {} are needed", N + 1));
    }
    let slots: Vec<RegisterSlot> = i.operands[1..]
        .iter()
        .zip(sources)
        .map(|(operand, ty)| e.source(operand, ty))
        .collect::<Checked<_>>()?;
    let slots = slots.try_into().map_err(|_| "operands are missing".to_owned())?;
    Ok((e.target(&i.operands[0], target)?, slots))
}

/// Emits an instruction with one source.
fn emit1(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    handlers: Handlers,
    types: (Type, Type),
    imm: u64,
) -> Checked<()> {
    let (dst, [a]) = slots(e, i, types.0, [types.1])?;
    e.emit(handlers, Fields::new().dst(dst).a(a).imm(imm));
    Ok(())
}

/// Emits an instruction with two sources.
fn emit2(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    handlers: Handlers,
    types: (Type, [Type; 2]),
    imm: u64,
) -> Checked<()> {
    let (dst, [a, b]) = slots(e, i, types.0, types.1)?;
    e.emit(handlers, Fields::new().dst(dst).a(a).b(b).imm(imm));
    Ok(())
}

/// Emits an instruction with three sources.
fn emit3(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    handlers: Handlers,
    types: (Type, [Type; 3]),
    imm: u64,
) -> Checked<()> {
    let (dst, [a, b, c]) = slots(e, i, types.0, types.1)?;
    e.emit(handlers, Fields::new().dst(dst).a(a).b(b).c(c).imm(imm));
    Ok(())
}

/// Evaluates an expression for each integer type of 16 bits or more, or returns `None` for other
/// types. Untyped bits count as unsigned.
macro_rules! integers {
    ($ty:expr, $T:ident => $e:expr) => {
        match $ty {
            Type::U16 => {
                type $T = u16;
                Some($e)
            }
            Type::S16 => {
                type $T = i16;
                Some($e)
            }
            Type::U32 => {
                type $T = u32;
                Some($e)
            }
            Type::S32 => {
                type $T = i32;
                Some($e)
            }
            Type::U64 => {
                type $T = u64;
                Some($e)
            }
            Type::S64 => {
                type $T = i64;
                Some($e)
            }
            _ => None,
        }
    };
}
use integers;

/// Evaluates an expression for each untyped width of 16 bits or more, or returns `None` for other
/// types.
macro_rules! untyped {
    ($ty:expr, $T:ident => $e:expr) => {
        match $ty {
            Type::B16 => {
                type $T = u16;
                Some($e)
            }
            Type::B32 => {
                type $T = u32;
                Some($e)
            }
            Type::B64 => {
                type $T = u64;
                Some($e)
            }
            _ => None,
        }
    };
}
use untyped;
