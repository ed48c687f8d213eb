//! The state of one worker while it runs a block: everything that instructions read and write.
//!
//! The fields at the top of [`Machine`] describe the running *split*: lanes of one warp at one
//! program counter. `warp.rs` defines how splits diverge and reconverge, `block.rs` which warp runs
//! next.

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

/// The action of the interpreter after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Flow {
    /// Continues at the program counter.
    Next,
    /// Runs another split: this one ended, waits, or was queued again.
    Switch,
    /// Lets another warp run. This split remains ready.
    Yield,
    /// Ends the launch with [`Machine::trap`].
    Fault,
}

/// The code of an instruction.
///
/// # Safety
/// [`Program::linked`](super::program::Program::linked) returned the instruction for the program
/// that the machine runs and for a [`Level`](super::level::Level) that the processor supports, so
/// its fields have the types that the handler expects. The machine's window is that of a frame of
/// the function that contains the instruction.
pub(crate) type Handler = unsafe fn(&mut Machine<'_>, &Inst) -> Flow;

/// The memory that an instruction accessed last. Accesses inside it need no look-up.
#[derive(Clone, Copy)]
pub(crate) struct Site {
    /// The first address.
    pub(crate) base: u64,
    /// The size in bytes; 0 if nothing is remembered.
    pub(crate) bytes: u64,
    pub(crate) pointer: *mut u8,
}

impl Site {
    pub(crate) const EMPTY: Site = Site { base: 0, bytes: 0, pointer: std::ptr::null_mut() };

    /// Returns the limit below which an offset leaves room for an access of `size` bytes.
    #[inline(always)]
    pub(crate) fn limit(&self, size: u64) -> u64 {
        (self.bytes + 1).saturating_sub(size)
    }
}

/// The values that lanes publish to each other in a collective instruction.
#[derive(Clone)]
pub(crate) struct Exchange {
    pub(crate) values: Line<u64>,
    pub(crate) predicates: u32,
    /// The lanes that have published.
    pub(crate) lanes: u32,
}

/// The part of a collective instruction that runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Both parts: all members are active.
    Whole,
    /// Lanes publish their values.
    Publish,
    /// Lanes take their results.
    Finish,
}

/// A worker's state. See the module documentation.
pub(crate) struct Machine<'l> {
    /// The register window of the split's frame.
    pub(crate) registers: *mut u8,
    /// The program counter, which is that of the instruction after the running one.
    pub(crate) pc: u32,
    /// The active lanes.
    pub(crate) mask: u32,
    /// The join of the split: an index into [`Warp::joins`].
    pub(crate) join: u32,
    /// The frame of the split: an index into [`Warp::frames`].
    pub(crate) frame: u32,
    /// The number of backward branches before the turn ends.
    pub(crate) fuel: i32,
    /// The current warp: an index into `warps`.
    pub(crate) warp: usize,
    /// The local memory of the warp. That of lane `n` begins at byte `n * local_stride`.
    pub(crate) local: *mut u8,
    pub(crate) local_stride: u64,
    pub(crate) shared: Site,
    pub(crate) params: Site,
    pub(crate) sites: Vec<Site>,
    /// Layouts of addresses that several loads of a basic block use, see
    /// [`super::access::load_and_record`].
    pub(crate) layouts: [Layout; LAYOUTS],
    pub(crate) launch: &'l Launched<'l>,
    pub(crate) warps: Vec<Warp>,
    pub(crate) barriers: Barriers,
    pub(crate) exchange: Box<Exchange>,
    pub(crate) phase: Phase,
    /// The allocations as of the start of the launch, or of the last failed look-up.
    pub(crate) table: Arc<Table>,
    pub(crate) instruments: Option<Box<Instruments<'l>>>,
    pub(crate) trap: Option<Trap>,
    /// The number of the running block.
    pub(crate) block: u64,
    /// Threads of the block that have not exited.
    pub(crate) live_threads: u32,
    pub(crate) instructions: u64,
    /// The number of executed instructions that a program may use in a wait loop.
    pub(crate) polls: u64,
    pub(crate) started: Instant,
    /// The storage behind `shared`, in lines for their alignment. It is only accessed through
    /// `shared`.
    pub(crate) _shared_storage: Vec<Line<u32>>,
}

impl Machine<'_> {
    /// Returns the pointer to a register's line.
    ///
    /// # Safety
    /// The register belongs to the function whose window is the current one. A handler takes such
    /// registers only from its instruction, see [`Handler`].
    #[inline(always)]
    pub(crate) unsafe fn line<S: Slot>(&self, register: Reg<S>) -> *mut Line<S> {
        // SAFETY: `Window::add` made room for the register in the function's window, which begins
        // at `registers` and has the alignment of a line. It gave the register an offset that is a
        // multiple of a line's size.
        unsafe { self.registers.add(register.offset()).cast() }
    }

    /// Reads a register.
    ///
    /// # Safety
    /// As for [`Machine::line`].
    #[inline(always)]
    pub(crate) unsafe fn read<S: Slot>(&self, register: Reg<S>) -> Line<S> {
        // SAFETY: `line` returns a pointer into the window, which is always initialized.
        unsafe { *self.line(register) }
    }

    /// Writes the active lanes of a register.
    ///
    /// # Safety
    /// As for [`Machine::line`].
    #[inline(always)]
    pub(crate) unsafe fn write<S: Slot>(&mut self, register: Reg<S>, value: &Line<S>) {
        // SAFETY: `line` returns a pointer into the window, which nothing else refers to while an
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

    /// Stores the trap, which ends the launch.
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

    /// Returns the index of a lane's thread within the block.
    pub(crate) fn thread(&self, lane: usize) -> u64 {
        (self.warp * super::lanes::LANES + lane) as u64
    }

    /// Returns the lowest active lane.
    pub(crate) fn first_lane(&self) -> usize {
        lanes(self.mask).next().unwrap_or(0)
    }
}
