//! The state of one worker while it runs a block: what instructions see and change.
//!
//! The fields at the top of [`Machine`] are those of the *split* that runs: lanes of one warp at
//! one program counter. `warp.rs` says how splits part and meet, `block.rs` which warp runs next.

#![expect(unsafe_code, reason = "registers are reached by checked offsets into raw storage")]

use std::sync::Arc;
use std::time::Instant;

use super::access::LAYOUTS;
use super::barrier::Barriers;
use super::fault::Trap;
use super::grid::Launched;
use super::instrument::Instruments;
use super::lanes::{Line, Slot, lanes};
use super::memory::Table;
use super::program::Inst;
use super::slots::{Pred, Reg};
use super::survey::Layout;
use super::warp::Warp;

/// What the interpreter does after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Flow {
    /// Goes on at the program counter.
    Next,
    /// Runs another split: this one ended, waits, or was put back among those that can run.
    Switch,
    /// Lets another warp run; this split can go on later.
    Yield,
    /// Ends the launch; [`Machine::trap`] says why.
    Fault,
}

/// The code of an instruction.
///
/// # Safety
/// The instruction is one that [`Program::linked`](super::program::Program::linked) made of the
/// program that the machine runs, for a [`Level`](super::level::Level) that the processor has, so
/// that its fields are those that the handler takes. The machine's window is that of a frame of the
/// function the instruction is in.
pub(crate) type Handler = unsafe fn(&mut Machine<'_>, &Inst) -> Flow;

/// Memory that an instruction accessed last: accesses inside it need no look-up.
#[derive(Clone, Copy)]
pub(crate) struct Site {
    /// The first address.
    pub(crate) base: u64,
    /// Bytes; 0 if nothing is remembered.
    pub(crate) bytes: u64,
    pub(crate) pointer: *mut u8,
}

impl Site {
    pub(crate) const EMPTY: Site = Site { base: 0, bytes: 0, pointer: std::ptr::null_mut() };

    /// Offsets below it leave room for an access of `size` bytes.
    #[inline(always)]
    pub(crate) fn limit(&self, size: u64) -> u64 {
        (self.bytes + 1).saturating_sub(size)
    }
}

/// The values lanes show each other in a collective instruction.
#[derive(Clone)]
pub(crate) struct Exchange {
    pub(crate) values: Line<u64>,
    pub(crate) predicates: u32,
    /// The lanes that take part.
    pub(crate) lanes: u32,
}

/// Which half of a collective instruction runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Both: all lanes are here.
    Whole,
    /// Values are shown.
    Publish,
    /// Results are taken.
    Finish,
}

/// A worker's state. See the module documentation.
pub(crate) struct Machine<'l> {
    /// The register window of the split's frame.
    pub(crate) registers: *mut u8,
    /// The program counter: the instruction after the one that runs.
    pub(crate) pc: u32,
    /// The lanes for which the instruction takes place.
    pub(crate) mask: u32,
    /// Where the split meets others: an index into [`Warp::joins`].
    pub(crate) join: u32,
    /// An index into [`Warp::frames`].
    pub(crate) frame: u32,
    /// Backward branches left until other splits and warps have their turn.
    pub(crate) fuel: i32,
    /// The warp that runs: an index into `warps`.
    pub(crate) warp: usize,
    /// Local memory of the warp: that of lane `n` begins `n * local_stride` bytes in.
    pub(crate) local: *mut u8,
    pub(crate) local_stride: u64,
    pub(crate) shared: Site,
    pub(crate) params: Site,
    pub(crate) sites: Vec<Site>,
    /// How addresses lie that straight code uses more than once, see
    /// [`super::access::load_keeping`].
    pub(crate) layouts: [Layout; LAYOUTS],
    pub(crate) launch: &'l Launched<'l>,
    pub(crate) warps: Vec<Warp>,
    pub(crate) barriers: Barriers,
    pub(crate) exchange: Box<Exchange>,
    pub(crate) phase: Phase,
    /// The allocations as of the launch, or as of the last look-up that failed.
    pub(crate) table: Arc<Table>,
    pub(crate) instruments: Option<Box<Instruments<'l>>>,
    pub(crate) trap: Option<Trap>,
    /// The block that runs, as a number.
    pub(crate) block: u64,
    /// Threads of the block that have not exited.
    pub(crate) live_threads: u32,
    pub(crate) instructions: u64,
    /// Instructions that programs wait with.
    pub(crate) polls: u64,
    pub(crate) started: Instant,
    /// Storage behind `shared`: lines, for their alignment. Never touched but through `shared`.
    pub(crate) _shared_storage: Vec<Line<u32>>,
}

impl Machine<'_> {
    /// Returns the lanes of a register.
    ///
    /// # Safety
    /// The register is one of the running program, in the function whose window is the current one;
    /// a handler has such registers from its instruction alone, see [`Handler`].
    #[inline(always)]
    pub(crate) unsafe fn line<S: Slot>(&self, register: Reg<S>) -> *mut Line<S> {
        // SAFETY: `Window::add` made room for the register in the function's window, which begins
        // at `registers` and is aligned as a line, and gave it an offset that is a multiple of a
        // line's size.
        unsafe { self.registers.add(register.offset()).cast() }
    }

    /// Reads a register.
    ///
    /// # Safety
    /// As for [`Machine::line`].
    #[inline(always)]
    pub(crate) unsafe fn read<S: Slot>(&self, register: Reg<S>) -> Line<S> {
        // SAFETY: `line` gives a place inside the window; windows are always initialized.
        unsafe { *self.line(register) }
    }

    /// Writes the active lanes of a register.
    ///
    /// # Safety
    /// As for [`Machine::line`].
    #[inline(always)]
    pub(crate) unsafe fn write<S: Slot>(&mut self, register: Reg<S>, value: &Line<S>) {
        // SAFETY: `line` gives a place inside the window, to which nothing else refers while an
        // instruction runs.
        unsafe {
            let to = self.line(register);
            let mask = self.mask;
            if mask == super::lanes::FULL {
                *to = *value;
            } else {
                let old = *to;
                *to = Line::from_fn(|lane| if mask >> lane & 1 != 0 { value.0[lane] } else { old.0[lane] });
            }
        }
    }

    /// Returns the bits of a predicate.
    ///
    /// # Safety
    /// As for [`Machine::line`].
    #[inline(always)]
    pub(crate) unsafe fn predicate(&self, register: Pred) -> u32 {
        // SAFETY: `Window::add` made room for the four bytes in the function's window, at a
        // multiple of four.
        unsafe { *self.registers.add(register.offset()).cast::<u32>() }
    }

    /// Writes the active lanes of a predicate.
    ///
    /// # Safety
    /// As for [`Machine::line`].
    #[inline(always)]
    pub(crate) unsafe fn write_predicate(&mut self, register: Pred, value: u32) {
        // SAFETY: `Window::add` made room for the four bytes in the function's window, at a
        // multiple of four.
        unsafe {
            let to = self.registers.add(register.offset()).cast::<u32>();
            *to = *to & !self.mask | value & self.mask;
        }
    }

    /// Ends the launch.
    #[cold]
    pub(crate) fn fail(&mut self, trap: Trap) -> Flow {
        self.trap = Some(trap);
        Flow::Fault
    }

    /// Returns the current warp.
    #[inline(always)]
    pub(crate) fn current(&mut self) -> &mut Warp {
        &mut self.warps[self.warp]
    }

    /// Returns the number of a lane's thread within the block.
    pub(crate) fn thread(&self, lane: usize) -> u64 {
        (self.warp * super::lanes::LANES + lane) as u64
    }

    /// Returns the lowest active lane.
    pub(crate) fn first_lane(&self) -> usize {
        lanes(self.mask).next().unwrap_or(0)
    }
}
