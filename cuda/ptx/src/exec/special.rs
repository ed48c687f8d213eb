//! Registers the machine sets, and constants.
//!
//! Both live in slots of a function's window, so that instructions read them like any register. Constants,
//! positions of threads and sizes are written once for a launch; what depends on the block before each
//! block; those of a called function by its first instruction. Clocks are read by instructions of their own.

#![expect(unsafe_code, reason = "writes registers")]

use std::time::{SystemTime, UNIX_EPOCH};

use super::lanes::{FULL, LANES, Line};
use super::machine::{Flow, Machine};
use super::program::{Filled, FunctionCode, Inst};
use crate::syntax::types::{Axis, SpecialRegister};

/// Bytes of shared memory the system reserves in a block on sm_90; programs see it in
/// `%reserved_smem_offset_*`.
const RESERVED_SHARED_BYTES: u64 = 1024;

/// Writes the slots that stay the same in all blocks of a launch.
pub(crate) fn fill_constants(m: &mut Machine<'_>, function: &FunctionCode) {
    for &(offset, filled) in &function.filled {
        write(m, offset, filled);
    }
}

/// Writes the slots that depend on the block.
pub(crate) fn fill_block(m: &mut Machine<'_>, function: &FunctionCode) {
    for &(offset, filled) in &function.filled[function.filled.len() - function.per_block..] {
        write(m, offset, filled);
    }
}

/// The first instruction of a called function: `a` is the function.
pub(crate) unsafe fn prologue(m: &mut Machine<'_>, i: &Inst) -> Flow {
    let program = m.launch.program;
    fill_constants(m, &program.functions[i.a as usize]);
    Flow::Next
}

/// Reads a clock to `dst`: `imm` says which, see [`clock_number`].
pub(crate) unsafe fn read_clock(m: &mut Machine<'_>, i: &Inst) -> Flow {
    let nanoseconds =
        || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
    let cycles = || m.started.elapsed().as_nanos() as u64 + 1;
    // SAFETY: registers of these types, as the translation checked.
    unsafe {
        match i.imm {
            0 => m.write(i.dst, &Line::splat(cycles() as u32)),
            1 => m.write(i.dst, &Line::splat((cycles() >> 32) as u32)),
            2 => m.write(i.dst, &Line::splat(cycles())),
            3 => m.write(i.dst, &Line::splat(nanoseconds())),
            4 => m.write(i.dst, &Line::splat(nanoseconds() as u32)),
            _ => m.write(i.dst, &Line::splat((nanoseconds() >> 32) as u32)),
        }
    }
    m.poll();
    Flow::Next
}

/// The number of a clock for [`read_clock`]; none if the register is no clock.
pub(crate) fn clock_number(register: SpecialRegister) -> Option<u64> {
    use SpecialRegister as S;
    Some(match register {
        S::Clock => 0,
        S::ClockHi => 1,
        S::Clock64 => 2,
        S::GlobalTimer => 3,
        S::GlobalTimerLo => 4,
        S::GlobalTimerHi => 5,
        _ => return None,
    })
}

/// Whether the register differs between the blocks of a launch.
pub(crate) fn depends_on_block(register: SpecialRegister) -> bool {
    use SpecialRegister as S;
    matches!(register, S::CtaId(_) | S::ClusterId(_) | S::SmId)
}

fn write(m: &mut Machine<'_>, offset: u32, filled: Filled) {
    // SAFETY: the translation made these slots, of these types.
    unsafe {
        match filled {
            Filled::Constant32(value) => *m.line(offset) = Line::splat(value),
            Filled::Constant64(value) => *m.line(offset) = Line::splat(value),
            Filled::LocalBase => *m.line(offset) = Line::splat(u64::from(m.current_frame().local_base)),
            Filled::Special(register) => {
                let values = special(m, register);
                match register.ty().bits() {
                    64 => *m.line(offset) = values,
                    1 => m.registers.add(offset as usize).cast::<u32>().write(values.0[0] as u32),
                    _ => *m.line(offset) = Line::from_fn(|lane| values.0[lane] as u32),
                }
            }
        }
    }
}

/// The value of a special register in each lane.
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
        S::TotalSmemSize => Line::splat(launch.shared_bytes),
        S::AggrSmemSize => Line::splat(launch.shared_bytes + RESERVED_SHARED_BYTES),
        S::DynamicSmemSize => Line::splat(launch.dynamic_shared_bytes),
        // All blocks look as if they ran on one multiprocessor, launch 0, without a cluster or a graph.
        _ => splat(0),
    }
}
