//! Special registers, and constants.
//!
//! Both live in registers of a function's window, so that instructions read them like any other.
//! Constants, thread positions and sizes are written once for a launch, and the values that depend
//! on the block before each block. A called function writes its own with its first instruction.
//! Clocks are read by separate instructions.

#![expect(unsafe_code, reason = "writes registers")]

use std::time::{SystemTime, UNIX_EPOCH};

use super::lanes::{FULL, LANES, Line};
use super::level::Handlers;
use super::machine::{Flow, Machine};
use super::program::{Filled, FunctionCode, Inst};
use super::slots::Reg;
use crate::syntax::types::{Axis, SpecialRegister};

/// Bytes at the start of a block's shared memory that the system reserves. Programs find them
/// through `%reserved_smem_offset_*`; cooperative groups of several warps keep their barriers
/// there.
pub(crate) const RESERVED_SHARED_BYTES: u64 = 1024;

/// The values of `%reserved_smem_offset_begin`, `_end`, `_cap`, `_0`, `_1`.
const RESERVED_OFFSETS: [u64; 5] =
    [0, RESERVED_SHARED_BYTES, RESERVED_SHARED_BYTES, 0, RESERVED_SHARED_BYTES / 2];

/// Writes the registers that are the same in all blocks of a launch.
///
/// # Safety
/// The current window belongs to the function.
pub(crate) unsafe fn fill_constants(m: &mut Machine<'_>, function: &FunctionCode) {
    for &filled in &function.filled {
        // SAFETY: the caller promises that the current window belongs to the function, and so do
        // these registers.
        unsafe { write(m, filled) };
    }
}

/// Writes the registers that depend on the block.
///
/// # Safety
/// The current window belongs to the function.
pub(crate) unsafe fn fill_block(m: &mut Machine<'_>, function: &FunctionCode) {
    for &filled in &function.filled[function.filled.len() - function.per_block..] {
        // SAFETY: the caller promises that the current window belongs to the function, and so do
        // these registers.
        unsafe { write(m, filled) };
    }
}

/// Fills the registers of a called function, as its first instruction: `a` is the function.
pub(crate) unsafe fn prologue(m: &mut Machine<'_>, i: &Inst) -> Flow {
    let program = m.launch.program;
    // SAFETY: `translate_function` begins each function with this instruction and the function's
    // own number, so the current window belongs to that function.
    unsafe { fill_constants(m, &program.functions[i.a as usize]) };
    Flow::Next
}

fn cycles(m: &Machine<'_>) -> u64 {
    m.started.elapsed().as_nanos() as u64 + 1
}

fn nanoseconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

/// Reads half a clock into `dst`: `imm` says which, see [`clock`].
unsafe fn read_clock32(m: &mut Machine<'_>, i: &Inst<Reg<u32>>) -> Flow {
    let time = match i.imm {
        0 => cycles(m),
        1 => cycles(m) >> 32,
        2 => nanoseconds(),
        _ => nanoseconds() >> 32,
    };
    // SAFETY: `dst` is a register of the current window, see `Handler`.
    unsafe { m.write(i.dst, &Line::splat(time as u32)) };
    m.poll();
    Flow::Next
}

/// Reads a clock into `dst`: cycles if `imm` is 0, else nanoseconds.
unsafe fn read_clock64(m: &mut Machine<'_>, i: &Inst<Reg<u64>>) -> Flow {
    let time = if i.imm == 0 { cycles(m) } else { nanoseconds() };
    // SAFETY: `dst` is a register of the current window, see `Handler`.
    unsafe { m.write(i.dst, &Line::splat(time)) };
    m.poll();
    Flow::Next
}

/// Returns the handler and the constant of the instruction that reads a clock, or `None` if the
/// register is not a clock.
pub(crate) fn clock(register: SpecialRegister) -> Option<(Handlers, u64)> {
    use SpecialRegister as S;
    let [half, whole] = [Handlers::uniform(read_clock32), Handlers::uniform(read_clock64)];
    Some(match register {
        S::Clock => (half, 0),
        S::ClockHi => (half, 1),
        S::Clock64 => (whole, 0),
        S::GlobalTimer => (whole, 1),
        S::GlobalTimerLo => (half, 2),
        S::GlobalTimerHi => (half, 3),
        _ => return None,
    })
}

/// Returns whether an instruction reads a clock.
pub(crate) fn reads_clock(i: &Inst) -> bool {
    std::ptr::fn_addr_eq(i.run, read_clock32 as unsafe fn(&mut Machine<'_>, &Inst<Reg<u32>>) -> Flow)
        || std::ptr::fn_addr_eq(i.run, read_clock64 as unsafe fn(&mut Machine<'_>, &Inst<Reg<u64>>) -> Flow)
}

/// Returns whether the register differs between the blocks of a launch.
pub(crate) fn depends_on_block(register: SpecialRegister) -> bool {
    use SpecialRegister as S;
    matches!(register, S::CtaId(_) | S::ClusterId(_) | S::SmId)
}

/// # Safety
/// The register is one of the current window.
unsafe fn write(m: &mut Machine<'_>, filled: Filled) {
    // SAFETY: the caller promises that the register is one of the current window.
    unsafe {
        match filled {
            Filled::Constant32(to, value) => *m.line(to) = Line::splat(value),
            Filled::Constant64(to, value) => *m.line(to) = Line::splat(value),
            Filled::LocalBase(to) => *m.line(to) = Line::splat(u64::from(m.current_frame().local_base)),
            Filled::Special32(to, register) => {
                let values = special(m, register);
                *m.line(to) = Line::from_fn(|lane| values.0[lane] as u32);
            }
            Filled::Special64(to, register) => *m.line(to) = special(m, register),
            Filled::SpecialPredicate(to, register) => {
                let values = special(m, register);
                m.write_predicate(to, values.0[0] as u32);
            }
        }
    }
}

/// Returns the value of a special register in each lane.
fn special(m: &Machine<'_>, register: SpecialRegister) -> Line<u64> {
    use SpecialRegister as S;
    let launch = m.launch;
    let splat = |value: u32| Line::splat(u64::from(value));
    let axis = |axis: Axis, of: [u32; 3]| splat(of[axis.index()]);
    let block = || launch.grid.position(m.block).axes();
    match register {
        S::Tid(axis) => Line::from_fn(|lane| {
            let position = launch.block.position(m.thread(lane)).axes();
            u64::from(position[axis.index()])
        }),
        S::NTid(a) => axis(a, launch.block.axes()),
        S::CtaId(a) | S::ClusterId(a) => axis(a, block()),
        S::NCtaId(a) | S::NClusterId(a) => axis(a, launch.grid.axes()),
        S::ClusterNCtaId(_) | S::ClusterNCtaRank | S::NSmId => splat(1),
        S::LaneId => Line::from_fn(|lane| lane as u64),
        S::WarpId => splat(m.warp as u32),
        S::NWarpId => splat(launch.padded_threads() / LANES as u32),
        S::LaneMaskEq => Line::from_fn(|lane| 1 << lane),
        S::LaneMaskLe => Line::from_fn(|lane| (2 << lane) - 1),
        S::LaneMaskLt => Line::from_fn(|lane| (1 << lane) - 1),
        S::LaneMaskGe => Line::from_fn(|lane| u64::from(FULL << lane)),
        S::LaneMaskGt => Line::from_fn(|lane| u64::from((FULL << lane) << 1)),
        S::TotalSmemSize => Line::splat(launch.user_shared_bytes()),
        S::AggrSmemSize => Line::splat(launch.user_shared_bytes() + RESERVED_SHARED_BYTES),
        S::DynamicSmemSize => Line::splat(launch.dynamic_shared_bytes),
        S::ReservedSmemOffset(which) => {
            Line::splat(RESERVED_OFFSETS[usize::from(which) % RESERVED_OFFSETS.len()])
        }
        S::Environment(1) => Line::splat(launch.workspace >> 32),
        S::Environment(2) => Line::splat(launch.workspace & u64::from(u32::MAX)),
        // Every block seems to run on a single multiprocessor, in launch 0, without a cluster or a
        // graph.
        _ => splat(0),
    }
}
