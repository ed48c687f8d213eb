//! What a program computes: one thread after the other, statement by statement where threads meet.

use super::operations::OPERATIONS;
use super::{
    Access, BLOCKS, Exchange, Guard, Kind, OWN_BYTES, Operand, Program, REGISTERS, Register, Space,
    Statement, THREADS, Width, initial, initial_words,
};

/// A thread.
#[derive(Clone)]
pub(crate) struct Thread {
    registers: [[u64; REGISTERS]; 6],
    memory: [[u8; OWN_BYTES]; 3],
    exited: bool,
}

/// Why a list of statements ended.
#[derive(PartialEq, Eq)]
enum End {
    Done,
    /// Out of a loop, after so many inner ones.
    Break(usize),
    Continue,
    Exit,
}

/// What is left behind by all threads, and the sum that they counted together.
pub(crate) struct Outcome {
    /// By block and thread: all registers, as words.
    pub(crate) registers: Vec<Vec<u64>>,
    /// By block and thread: the bytes in global memory.
    pub(crate) memory: Vec<[u8; OWN_BYTES]>,
    /// The counter.
    pub(crate) count: u32,
}

/// Runs a program.
pub(crate) fn evaluate(program: &Program) -> Outcome {
    let mut outcome = Outcome { registers: Vec::new(), memory: Vec::new(), count: 0 };
    for block in 0..BLOCKS {
        let mut threads: Vec<Thread> =
            (0..THREADS).map(|thread| Thread::new(program.seed, block * THREADS + thread)).collect();
        for statement in &program.statements {
            if let Statement::Exchange { exchange, result, source, lane } = *statement {
                meet(&mut threads, exchange, result, source, lane);
                continue;
            }
            for thread in &mut threads {
                if !thread.exited {
                    thread.exited =
                        thread.run(std::slice::from_ref(statement), &mut outcome.count) == End::Exit;
                }
            }
        }
        for (thread, number) in threads.into_iter().zip(block * THREADS..) {
            // A thread that exits leaves what it began with.
            let registers =
                if thread.exited { initial_words(program.seed, number) } else { thread.registers.concat() };
            outcome.registers.push(registers);
            outcome.memory.push(thread.memory[Space::Global as usize]);
        }
    }
    outcome
}

impl Thread {
    fn new(seed: u64, thread: usize) -> Self {
        let registers =
            Kind::ALL.map(|kind| std::array::from_fn(|number| initial(seed, thread, kind, number)));
        Self { registers, memory: [[0; OWN_BYTES]; 3], exited: false }
    }

    fn get(&self, Register(kind, number): Register) -> u64 {
        self.registers[kind as usize][number]
    }

    fn set(&mut self, Register(kind, number): Register, value: u64) {
        self.registers[kind as usize][number] = value & kind.mask();
    }

    fn b32(&self, number: usize) -> u32 {
        self.get(Register(Kind::B32, number)) as u32
    }

    fn passes(&self, guard: Option<Guard>) -> bool {
        guard.is_none_or(|guard| (self.get(Register(Kind::Pred, guard.predicate)) == 1) != guard.negated)
    }

    fn run(&mut self, statements: &[Statement], count: &mut u32) -> End {
        for statement in statements {
            match self.step(statement, count) {
                End::Done => {}
                end => return end,
            }
        }
        End::Done
    }

    fn step(&mut self, statement: &Statement, count: &mut u32) -> End {
        match statement {
            Statement::Operation { guard, operation, result, operands } if self.passes(*guard) => {
                let values: Vec<u64> = operands.iter().map(|&operand| self.value(operand)).collect();
                self.set(*result, (OPERATIONS[*operation].evaluate)(&values));
            }
            Statement::Load(access) if self.passes(access.guard) => self.load(access),
            Statement::Store(access) if self.passes(access.guard) => self.store(access),
            Statement::If { guard, then, otherwise } => {
                return self.run(if self.passes(Some(*guard)) { then } else { otherwise }, count);
            }
            Statement::Loop { limit, body, .. } => {
                for _ in 0..self.b32(*limit) & 7 {
                    match self.run(body, count) {
                        End::Done | End::Continue => {}
                        End::Break(0) => break,
                        End::Break(inner) => return End::Break(inner - 1),
                        End::Exit => return End::Exit,
                    }
                }
            }
            Statement::Break { guard, inner } if self.passes(Some(*guard)) => return End::Break(*inner),
            Statement::Exit { guard } if self.passes(Some(*guard)) => return End::Exit,
            Statement::Continue { guard } if self.passes(Some(*guard)) => return End::Continue,
            Statement::Switch { selector, cases } => {
                return self.run(&cases[self.b32(*selector) as usize & 3], count);
            }
            Statement::Call { result, operands: [a, b] } => {
                let (a, b) = (self.b32(*a), self.b32(*b));
                self.set(Register(Kind::B32, *result), combine(a, b).into());
            }
            Statement::Count { source } => *count = count.wrapping_add(self.b32(*source)),
            _ => {}
        }
        End::Done
    }

    fn value(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Register(register) => self.get(register),
            Operand::Constant(_, bits) => bits,
        }
    }

    fn load(&mut self, &Access { space, width, first, index, .. }: &Access) {
        let at = self.offset(width, index);
        for element in 0..width.count {
            let mut bytes = [0; 8];
            bytes[..width.bytes]
                .copy_from_slice(&self.memory[space as usize][at + element * width.bytes..][..width.bytes]);
            let bits = u64::from_le_bytes(bytes);
            let unused = 64 - 8 * width.bytes as u32;
            let value = if width.signed { ((bits << unused) as i64 >> unused) as u64 } else { bits };
            self.set(Register(width.kind, first + element), value);
        }
    }

    fn store(&mut self, &Access { space, width, first, index, .. }: &Access) {
        let at = self.offset(width, index);
        for element in 0..width.count {
            let bytes = self.get(Register(width.kind, first + element)).to_le_bytes();
            self.memory[space as usize][at + element * width.bytes..][..width.bytes]
                .copy_from_slice(&bytes[..width.bytes]);
        }
    }

    fn offset(&self, width: Width, index: usize) -> usize {
        let size = width.bytes * width.count;
        (self.b32(index) as usize & (OWN_BYTES / size - 1)) * size
    }
}

/// The functions that programs call.
fn combine(a: u32, b: u32) -> u32 {
    let mut value = a.wrapping_mul(3).wrapping_add(b.rotate_left(a & 31));
    for _ in 0..a & 3 {
        value = if value & 1 == 1 { step(value) } else { value >> 1 };
    }
    value
}

fn step(value: u32) -> u32 {
    if value > 1 << 30 {
        return value ^ 0xffff;
    }
    value.wrapping_mul(5).wrapping_add(1)
}

/// What all threads of a block do together.
fn meet(threads: &mut [Thread], exchange: Exchange, result: usize, source: usize, lane: usize) {
    let sources: Vec<u32> = threads.iter().map(|thread| thread.b32(source)).collect();
    let lanes: Vec<u32> = threads.iter().map(|thread| thread.b32(lane)).collect();
    let conditions: Vec<bool> =
        threads.iter().map(|thread| thread.get(Register(Kind::Pred, source)) == 1).collect();
    for (number, thread) in threads.iter_mut().enumerate() {
        let (warp, own) = (number / 32 * 32, number % 32);
        let members = &sources[warp..warp + 32];
        let votes = &conditions[warp..warp + 32];
        // The value of another lane, and whether that lane was in the segment.
        let from = |other: i64, inside: bool| (members[if inside { other as usize } else { own }], inside);
        let own = own as i64;
        let (value, predicate) = match exchange {
            Exchange::Shared(distance) => (sources[(number + distance as usize) % THREADS], None),
            Exchange::Index(segments) => {
                // Segments of 8 lanes if the number is odd.
                let size = if segments % 2 == 1 { 8 } else { 32 };
                let other = own / size * size + i64::from(lanes[number] & 31) % size;
                let (value, inside) = from(other, true);
                (value, Some(inside))
            }
            Exchange::Up(distance) => {
                let (value, inside) = from(own - i64::from(distance), own >= i64::from(distance));
                (value, Some(inside))
            }
            Exchange::Down(distance) => {
                let (value, inside) = from(own + i64::from(distance), own + i64::from(distance) < 32);
                (value, Some(inside))
            }
            Exchange::Butterfly(mask) => {
                let (value, inside) = from(own ^ i64::from(mask), true);
                (value, Some(inside))
            }
            Exchange::Ballot => {
                (votes.iter().zip(0..).map(|(&vote, bit)| u32::from(vote) << bit).sum(), None)
            }
            Exchange::Vote { all } => {
                let vote = if all { votes.iter().all(|&vote| vote) } else { votes.contains(&true) };
                thread.set(Register(Kind::Pred, result), vote.into());
                continue;
            }
            Exchange::Reduce(name) => (reduce(name, members), None),
            Exchange::MatchAny => {
                let same =
                    members.iter().zip(0..).map(|(&other, bit)| u32::from(other == sources[number]) << bit);
                (same.sum(), None)
            }
        };
        thread.set(Register(Kind::B32, result), value.into());
        if let Some(inside) = predicate {
            thread.set(Register(Kind::Pred, result), inside.into());
        }
    }
}

fn reduce(name: &str, members: &[u32]) -> u32 {
    let fold = |f: fn(u32, u32) -> u32| members[1..].iter().copied().fold(members[0], f);
    match name {
        "add.u32" => fold(u32::wrapping_add),
        "min.s32" => fold(|a, b| (a as i32).min(b as i32) as u32),
        "max.u32" => fold(u32::max),
        "and.b32" => fold(|a, b| a & b),
        _ => fold(|a, b| a ^ b),
    }
}
