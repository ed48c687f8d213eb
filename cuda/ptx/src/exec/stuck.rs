//! Blocks that wait at a memory barrier that nobody completes.
//!
//! A program waits at a memory barrier by asking again and again, which looks like work. But the
//! barrier lies in the block's own shared memory, where its own threads alone complete it: no other
//! block is in the cluster, and copies on the side are complete at once. So when every split that
//! could run goes round a loop that only asks, and comes round with the registers it had before,
//! none of them ever leaves it.
//!
//! Nothing here takes a loop for endless that accesses memory, reads a clock or changes a register:
//! what is looked at is executed as always, one instruction at a time.

#![expect(unsafe_code, reason = "runs instructions and reads registers")]

use super::barrier::describe_lanes;
use super::control_flow;
use super::fault::Trap;
use super::machine::{Flow, Handler, Machine};
use super::program::Inst;
use super::slots::{Pred, Reg};
use super::transfer;
use super::warp::Split;
use super::{block, special};

/// Instructions within which a loop comes round.
const MAX_STEPS: usize = 256;

impl Machine<'_> {
    /// Ends the launch if all that is left of the block waits, and some of it at memory barriers.
    pub(super) fn check_waiting(&mut self) -> Result<(), Trap> {
        let mut asking = Vec::new();
        for index in 0..self.warps.len() {
            for _ in 0..self.warps[index].ready.len() {
                match self.goes_round(index)? {
                    Some(line) => asking.push(line),
                    None => return Ok(()),
                }
            }
        }
        // Lanes that wait for others at a join may be those that complete the barrier.
        if asking.is_empty() || self.release_waiting() { Ok(()) } else { Err(self.deadlock(asking)) }
    }

    /// Lets the first split of a warp that can run go on until it asks a memory barrier at one
    /// place for the second time; says who waits where if nothing has changed in between.
    fn goes_round(&mut self, index: usize) -> Result<Option<String>, Trap> {
        self.select(index);
        let Some(split) = self.warps[index].ready.pop_front() else { return Ok(None) };
        let others = self.warps[index].ready.len();
        self.resume(split);
        self.fuel = block::TURN;
        let mut first: Option<(Split, Vec<u32>)> = None;
        let mut found = None;
        for _ in 0..MAX_STEPS {
            let code = self.launch.code;
            let Some(instruction) = code.get(self.pc as usize) else { break };
            if !self.only_waits(instruction) {
                break;
            }
            if let Some(asking) = transfer::asking(instruction) {
                let here = self.split(0);
                match &first {
                    None => first = Some((here, self.registers_of_frame())),
                    Some((before, registers)) if *before == here => {
                        if *registers == self.registers_of_frame() {
                            found = Some(self.describe_asking(asking));
                        }
                        break;
                    }
                    Some(_) => {}
                }
            }
            // SAFETY: `resume` made the split, which is one of the program that this machine runs,
            // the current one.
            match unsafe { self.step() } {
                Flow::Next => {}
                Flow::Switch | Flow::Yield => return Ok(None),
                Flow::Fault => return Err(self.take_trap()),
            }
        }
        let parted = self.warps[index].ready.len() != others;
        let split = self.split(0);
        self.current().wake(split);
        Ok(found.filter(|_| !parted))
    }

    /// Returns whether an instruction, the one at the program counter, does no more than ask a
    /// barrier, compute and jump.
    fn only_waits(&self, instruction: &Inst) -> bool {
        if std::ptr::fn_addr_eq(instruction.run, control_flow::meet as Handler) {
            return true;
        }
        let name = self.launch.program.name_of(self.pc);
        let opcode = name.split('.').next().unwrap_or_default();
        let asks = || name.contains(".try_wait") || name.contains(".test_wait");
        match opcode {
            "mbarrier" => asks(),
            "mov" => !special::reads_clock(instruction),
            "bra" | "setp" | "set" | "selp" | "and" | "or" | "xor" | "not" | "add" | "sub" | "shl"
            | "shr" | "cvt" | "nanosleep" | "nop" => true,
            _ => false,
        }
    }

    /// Returns the register window of the split's frame.
    fn registers_of_frame(&self) -> Vec<u32> {
        let function = self.current_frame().function;
        let words = self.launch.program.functions[function as usize].window_bytes as usize / size_of::<u32>();
        // SAFETY: `reserve_registers` made room for the window, which has this many words.
        unsafe { std::slice::from_raw_parts(self.registers.cast::<u32>(), words) }.to_vec()
    }

    fn describe_asking(&mut self, instruction: &Inst<Pred, Reg<u64>, Reg<u32>, Reg<u64>>) -> String {
        let place = self.launch.program.place(self.pc);
        // SAFETY: the instruction is the one at the program counter of the split that runs.
        let barrier = unsafe { transfer::describe(self, instruction) };
        format!("{} at {barrier}, {place}", describe_lanes(self.warp, self.mask))
    }
}
