//! Detects blocks that wait at a memory barrier that no thread completes.
//!
//! A program waits at a memory barrier by testing it in a loop, which looks like work. But the
//! barrier lies in the block's own shared memory, where only the block's own threads complete it:
//! no other block is in the cluster, and asynchronous copies complete immediately. So if every
//! ready split runs a loop that only tests barriers, and returns to the same test with the same
//! registers, none of them ever leaves its loop.
//!
//! A loop that accesses memory, reads a clock or changes a register is never reported. The
//! inspected instructions are executed as usual, one at a time.

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

/// The number of instructions within which a loop must return to its test.
const MAX_STEPS: usize = 256;

impl Machine<'_> {
    /// Ends the launch with a deadlock if all remaining threads of the block wait, and some of them
    /// at memory barriers.
    pub(super) fn check_spinning(&mut self) -> Result<(), Trap> {
        let mut spinning = Vec::new();
        for index in 0..self.warps.len() {
            for _ in 0..self.warps[index].ready.len() {
                match self.spins_at_barrier(index)? {
                    Some(line) => spinning.push(line),
                    None => return Ok(()),
                }
            }
        }
        // Lanes that wait at a join for others may be those that complete the barrier.
        if spinning.is_empty() || self.release_all_joins() { Ok(()) } else { Err(self.deadlock(spinning)) }
    }

    /// Runs the first ready split of a warp until it tests a memory barrier at the same instruction
    /// for the second time. If nothing has changed in between, returns a description of the threads
    /// and the barrier.
    fn spins_at_barrier(&mut self, index: usize) -> Result<Option<String>, Trap> {
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
            if !self.is_part_of_spin(instruction) {
                break;
            }
            if let Some(test) = transfer::as_barrier_test(instruction) {
                let here = self.split(0);
                match &first {
                    None => first = Some((here, self.registers_of_frame())),
                    Some((before, registers)) if *before == here => {
                        if *registers == self.registers_of_frame() {
                            found = Some(self.describe_test(test));
                        }
                        break;
                    }
                    Some(_) => {}
                }
            }
            // SAFETY: `resume` made the split, which belongs to the program that this machine runs,
            // the current one.
            match unsafe { self.step() } {
                Flow::Next => {}
                Flow::Switch | Flow::Yield => return Ok(None),
                Flow::Fault => return Err(self.take_trap()),
            }
        }
        let diverged = self.warps[index].ready.len() != others;
        let split = self.split(0);
        self.current().wake(split);
        Ok(found.filter(|_| !diverged))
    }

    /// Returns whether the instruction at the program counter only tests a barrier, computes or
    /// jumps.
    fn is_part_of_spin(&self, instruction: &Inst) -> bool {
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

    /// Returns the contents of the register window of the split's frame.
    fn registers_of_frame(&self) -> Vec<u32> {
        let function = self.current_frame().function;
        let words = self.launch.program.functions[function as usize].window_bytes as usize / size_of::<u32>();
        // SAFETY: `reserve_registers` made room for the window, which has this many words.
        unsafe { std::slice::from_raw_parts(self.registers.cast::<u32>(), words) }.to_vec()
    }

    fn describe_test(&mut self, instruction: &Inst<Pred, Reg<u64>, Reg<u32>, Reg<u64>>) -> String {
        let place = self.launch.program.place(self.pc);
        // SAFETY: the instruction is the one at the program counter of the running split, so its
        // registers are of the current window.
        let barrier = unsafe { transfer::describe(self, instruction) };
        format!("{} at {barrier}, {place}", describe_lanes(self.warp, self.mask))
    }
}
