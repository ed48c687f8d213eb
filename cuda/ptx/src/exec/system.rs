//! System calls of programs: traps, `printf`, `assert`, `malloc`, `free`.

#![expect(unsafe_code, reason = "reads registers and program memory")]

use super::address::AccessSpace;
use super::fault::{FaultKind, Trap};
use super::instrument::AccessKind;
use super::lanes::{Line, lanes};
use super::locate::Request;
use super::machine::{Flow, Machine};
use super::printf::{self, Arguments};
use super::program::Inst;
use super::raw::Word;
use super::slots::Reg;

/// The length of the longest string that a program can pass.
const MAX_STRING_BYTES: u64 = 1 << 16;

/// `trap`, and `brkpt` if `imm` is 1.
pub(crate) unsafe fn trap(m: &mut Machine<'_>, i: &Inst) -> Flow {
    let lane = m.first_lane();
    let detail = if i.imm == 1 { "a breakpoint, and no debugger" } else { "" };
    m.fail(Trap::new(FaultKind::Trap, lane, detail))
}

/// `nanosleep`: gives up most of the turn.
pub(crate) unsafe fn nanosleep(m: &mut Machine<'_>, _: &Inst) -> Flow {
    m.fuel -= 1024;
    m.poll();
    Flow::Next
}

/// Reads strings and arguments from a lane's memory.
struct Reader<'a, 'l> {
    machine: &'a mut Machine<'l>,
    lane: usize,
    /// The address of the next argument of a `printf`.
    address: u64,
    /// The number of arguments that have been read.
    count: u32,
}

impl Reader<'_, '_> {
    fn locate(&mut self, address: u64, bytes: u64) -> Result<*mut u8, Trap> {
        let (space, kind, lane) = (AccessSpace::Generic, AccessKind::Read, self.lane);
        self.machine.locate(&Request { address, bytes, space, kind, lane, site: 0 })
    }
}

impl Arguments for Reader<'_, '_> {
    type Error = Trap;

    fn next(&mut self, bytes: u64) -> Result<u64, Trap> {
        let address = self.address.wrapping_add(bytes - 1) & !(bytes - 1);
        self.address = address.wrapping_add(bytes);
        self.count += 1;
        let pointer = self.locate(address, bytes)?;
        // SAFETY: `locate` checked that the bytes are in bounds and aligned.
        Ok(unsafe { if bytes == 8 { u64::load(pointer) } else { u32::load(pointer).into() } })
    }

    fn string(&mut self, address: u64) -> Result<Vec<u8>, Trap> {
        let mut string = Vec::new();
        for offset in 0..MAX_STRING_BYTES {
            let pointer = self.locate(address.wrapping_add(offset), 1)?;
            // SAFETY: `locate` checked that the byte is in bounds.
            match unsafe { u8::load(pointer) } {
                0 => break,
                byte => string.push(byte),
            }
        }
        Ok(string)
    }
}

/// `vprintf`: `a` is the format, `b` the arguments. `dst` is the number of arguments, or -1 without
/// a format.
pub(crate) unsafe fn vprintf(m: &mut Machine<'_>, i: &Inst<Reg<u32>, Reg<u64>, Reg<u64>>) -> Flow {
    // SAFETY: registers are those of the current window, see `Handler`.
    let (formats, arguments) = unsafe { (m.read(i.a), m.read(i.b)) };
    let mut counts = Line::splat(0u32);
    for lane in lanes(m.mask) {
        if formats.0[lane] == 0 {
            counts.0[lane] = u32::MAX;
            continue;
        }
        let mut reader = Reader { machine: m, lane, address: arguments.0[lane], count: 0 };
        let text = reader.string(formats.0[lane]).and_then(|format| printf::format(&format, &mut reader));
        match text {
            Ok(text) => {
                counts.0[lane] = reader.count;
                if let Some(sink) = m.launch.sink {
                    sink(&text);
                }
            }
            Err(trap) => return m.fail(trap),
        }
    }
    // SAFETY: registers are those of the current window, see `Handler`.
    unsafe { m.write(i.dst, &counts) };
    Flow::Next
}

/// `__assertfail`: `a` is the message, `b` the file, `c` the line, `d` the function.
pub(crate) unsafe fn assert_fail(
    m: &mut Machine<'_>,
    i: &Inst<u32, Reg<u64>, Reg<u64>, Reg<u32>, Reg<u64>>,
) -> Flow {
    let lane = m.first_lane();
    // SAFETY: registers are those of the current window, see `Handler`.
    let (addresses, line) = unsafe { ([i.a, i.b, i.d].map(|at| m.read(at).0[lane]), m.read(i.c).0[lane]) };
    let mut reader = Reader { machine: m, lane, address: 0, count: 0 };
    let [message, file, function] = addresses.map(|address| {
        let string = if address == 0 { Ok(Vec::new()) } else { reader.string(address) };
        string.map_or_else(|_| "?".into(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    });
    m.fail(Trap::new(FaultKind::Assert { message, file, line, function }, lane, ""))
}

/// `malloc`: `a` is the size. `dst` is the address, or 0 if memory has run out.
pub(crate) unsafe fn malloc(m: &mut Machine<'_>, i: &Inst<Reg<u64>, Reg<u64>>) -> Flow {
    // SAFETY: registers are those of the current window, see `Handler`.
    unsafe {
        let sizes = m.read(i.a);
        let mut result = Line::splat(0u64);
        for lane in lanes(m.mask) {
            let memory = m.launch.memory;
            result.0[lane] = memory.allocate_labelled(sizes.0[lane], "a program's malloc").unwrap_or(0);
        }
        m.write(i.dst, &result);
    }
    Flow::Next
}

/// `free`: `a` is the address.
pub(crate) unsafe fn free(m: &mut Machine<'_>, i: &Inst<u32, Reg<u64>>) -> Flow {
    // SAFETY: registers are those of the current window, see `Handler`.
    let addresses = unsafe { m.read(i.a) };
    for lane in lanes(m.mask) {
        let address = addresses.0[lane];
        if address != 0 && m.launch.memory.free(address).is_err() {
            return m.fail(Trap::new(FaultKind::InvalidOperand, lane, "free of no allocation").at(address));
        }
    }
    // Later accesses must not find the freed memory.
    m.refresh_table();
    Flow::Next
}
