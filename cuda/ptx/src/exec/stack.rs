//! Local memory that a function allocates while it runs: `alloca`, `stacksave`, `stackrestore`.
//!
//! All lanes of a frame share its end, so an address is the same number in each of them. Lanes that
//! have diverged allocate one after another. The memory is released only when all lanes of the
//! frame restore the stack together, or when the frame ends.

#![expect(unsafe_code, reason = "reads and writes registers")]

use super::fault::{FaultKind, Trap};
use super::lanes::{Line, lanes};
use super::machine::{Flow, Machine};
use super::program::Inst;
use super::slots::Reg;

impl Machine<'_> {
    /// Moves the end of the current frame's local memory.
    fn set_local_top(&mut self, top: u32) {
        let frame = self.frame as usize;
        self.current().frames[frame].local_top = top;
    }
}

/// `alloca`: `a` is the size in bytes, `imm` the alignment, `dst` the address in local memory; all
/// have 64 bits.
pub(crate) unsafe fn allocate(m: &mut Machine<'_>, i: &Inst<Reg<u64>, Reg<u64>>) -> Flow {
    // SAFETY: registers are those of the current window, see `Handler`.
    let sizes = unsafe { m.read(i.a) };
    let (bytes, lane) = lanes(m.mask).map(|lane| (sizes.0[lane], lane)).max().unwrap_or_default();
    let start = u64::from(m.current_frame().local_top).next_multiple_of(i.imm);
    let Some(end) = start.checked_add(bytes).filter(|&end| end <= m.local_stride) else {
        let detail =
            format!("{bytes} bytes more where {start} of {} bytes of local memory are taken", m.local_stride);
        return m.fail(Trap::new(FaultKind::StackOverflow, lane, detail));
    };
    m.set_local_top(end as u32);
    // SAFETY: registers are those of the current window, see `Handler`.
    unsafe { m.write(i.dst, &Line::splat(start)) };
    Flow::Next
}

/// `stacksave`: writes the end of the frame to `dst`, of 64 bits.
pub(crate) unsafe fn save(m: &mut Machine<'_>, i: &Inst<Reg<u64>>) -> Flow {
    let end = u64::from(m.current_frame().local_top);
    // SAFETY: registers are those of the current window, see `Handler`.
    unsafe { m.write(i.dst, &Line::splat(end)) };
    Flow::Next
}

/// `stackrestore`: moves the end of the frame back to where it was at the `stacksave` that returned
/// `a`, of 64 bits.
pub(crate) unsafe fn restore(m: &mut Machine<'_>, i: &Inst<u32, Reg<u64>>) -> Flow {
    // SAFETY: registers are those of the current window, see `Handler`.
    let ends = unsafe { m.read(i.a) };
    let (end, lane) = lanes(m.mask).map(|lane| (ends.0[lane], lane)).max().unwrap_or_default();
    let frame = m.current_frame();
    let fixed = u64::from(frame.local_base + m.launch.program.functions[frame.function as usize].local_bytes);
    if !(fixed..=u64::from(frame.local_top)).contains(&end) {
        let detail = format!("{end:#x} is not what stacksave gave to this function");
        return m.fail(Trap::new(FaultKind::InvalidOperand, lane, detail));
    }
    if m.is_whole_frame() {
        m.set_local_top(end as u32);
    }
    Flow::Next
}
