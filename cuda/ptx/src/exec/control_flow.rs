//! Handlers of instructions that change the program counter: branches, calls, returns and guards.

#![expect(unsafe_code, reason = "handlers read registers of the current window")]

use super::address::code_number;
use super::fault::{FaultKind, Trap};
use super::lanes::lanes;
use super::machine::{Flow, Machine};
use super::program::Inst;
use super::slots::{Pred, Reg};
use super::warp::{NONE, Split};

/// `bra`, to an earlier or later instruction.
pub(crate) unsafe fn branch(m: &mut Machine<'_>, i: &Inst) -> Flow {
    let backward = i.imm as u32 <= m.pc;
    m.pc = i.imm as u32;
    if backward { burn(m) } else { Flow::Next }
}

#[inline(always)]
fn burn(m: &mut Machine<'_>) -> Flow {
    m.fuel -= 1;
    if m.fuel <= 0 { m.yield_turn() } else { Flow::Next }
}

/// `@p bra`: `a` is the predicate, `b` all ones if it is negated, else 0, `c` where the paths meet.
pub(crate) unsafe fn branch_if(m: &mut Machine<'_>, i: &Inst<u32, Pred>) -> Flow {
    // SAFETY: `a` is a predicate of the current window, see `Handler`.
    let taken = (unsafe { m.predicate(i.a) } ^ i.b) & m.mask;
    if taken == 0 {
        return Flow::Next;
    }
    let (target, next) = (i.imm as u32, m.pc);
    let flow = if taken == m.mask {
        m.pc = target;
        Flow::Next
    } else {
        m.diverge(taken, target, i.c)
    };
    if target <= next && flow == Flow::Next { burn(m) } else { flow }
}

/// `brx.idx`: `a` is the index, `b` where its targets begin in the program's list, `d` their count,
/// `c` where the paths meet.
pub(crate) unsafe fn branch_indexed(m: &mut Machine<'_>, i: &Inst<u32, Reg<u32>>) -> Flow {
    // SAFETY: `a` is a register of the current window, see `Handler`.
    let index = unsafe { m.read(i.a) };
    let targets = &m.launch.program.targets[i.b as usize..][..i.d as usize];
    let mut paths: Vec<(u32, u32)> = Vec::new();
    for lane in lanes(m.mask) {
        let Some(&target) = targets.get(index.0[lane] as usize) else {
            let detail = format!("index {} into a table of {} labels", index.0[lane], i.d);
            return m.fail(Trap::new(FaultKind::InvalidOperand, lane, detail));
        };
        match paths.iter_mut().find(|path| path.1 == target) {
            Some(path) => path.0 |= 1 << lane,
            None => paths.push((1 << lane, target)),
        }
    }
    let flow = if let [(_, target)] = paths[..] {
        m.pc = target;
        Flow::Next
    } else {
        m.enter_join(i.c);
        m.take_paths(&paths, i.c)
    };
    if flow == Flow::Next { burn(m) } else { flow }
}

/// Marks a point where paths meet: lanes may have to wait here for others.
pub(crate) unsafe fn meet(m: &mut Machine<'_>, _: &Inst) -> Flow {
    m.meet()
}

/// `call` of a function by name: `a` is the function, `b` the call site.
pub(crate) unsafe fn call(m: &mut Machine<'_>, i: &Inst) -> Flow {
    m.call(i.a, i.b)
}

/// `call` through a register: `a` is the address, `b` the call site, `c` where lanes that call
/// different functions meet.
pub(crate) unsafe fn call_indirect(m: &mut Machine<'_>, i: &Inst<u32, Reg<u64>>) -> Flow {
    // SAFETY: `a` is a register of the current window, see `Handler`.
    let address = unsafe { m.read(i.a) };
    let lane = m.first_lane();
    let target = address.0[lane];
    let program = m.launch.program;
    let callee = code_number(target).and_then(|id| program.callable(id, i.b));
    let Some(callee) = callee else {
        let detail = format!("{target:#x} is not the address of a function that can be called here");
        return m.fail(Trap::new(FaultKind::InvalidCall, lane, detail));
    };
    let same = lanes(m.mask).filter(|&l| address.0[l] == target).fold(0, |mask, l| mask | 1 << l);
    if same != m.mask {
        m.enter_join(i.c);
        let others = Split { mask: m.mask & !same, ..m.split(1) };
        m.current().ready.push_back(others);
        m.mask = same;
    }
    m.call(callee, i.b)
}

/// `ret`.
pub(crate) unsafe fn ret(m: &mut Machine<'_>, _: &Inst) -> Flow {
    if m.warps[m.warp].frames[m.frame as usize].caller == NONE { m.exit() } else { m.arrive(m.mask) }
}

/// `exit`.
pub(crate) unsafe fn exit(m: &mut Machine<'_>, _: &Inst) -> Flow {
    m.exit()
}

/// Runs the next instruction under a predicate: `a` is the predicate, `b` all ones if it is
/// negated, else 0.
pub(crate) unsafe fn guard(m: &mut Machine<'_>, i: &Inst<u32, Pred>) -> Flow {
    let mask = m.mask;
    // SAFETY: `a` is a predicate of the current window, see `Handler`.
    let active = (unsafe { m.predicate(i.a) } ^ i.b) & mask;
    let next = m.pc as usize;
    m.pc += 1;
    if active == 0 {
        return Flow::Next;
    }
    m.mask = active;
    let next = &m.launch.code[next];
    // SAFETY: the instruction after a guard belongs to the same function, so the current window is
    // its own.
    let flow = unsafe { (next.run)(m, next) };
    m.mask = mask;
    flow
}
