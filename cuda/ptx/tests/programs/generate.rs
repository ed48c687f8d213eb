//! Draws a program.

use super::operations::OPERATIONS;
use super::{
    Access, Exchange, Guard, Kind, MAX_LOOPS, Operand, Program, REGISTERS, Register, Space, Statement, Width,
};

/// Where decisions come from: a random number generator, or the bytes of a fuzzer.
pub(crate) trait Choices {
    /// A number below `bound`, which is not zero.
    fn below(&mut self, bound: usize) -> usize;
    /// Any bits.
    fn bits(&mut self) -> u64;
}

const WIDTHS: [Width; 9] = [
    width("u8", Kind::B32, 1, 1, false),
    width("s8", Kind::B32, 1, 1, true),
    width("s16", Kind::B32, 2, 1, true),
    width("b16", Kind::B16, 2, 1, false),
    width("b32", Kind::B32, 4, 1, false),
    width("f32", Kind::F32, 4, 1, false),
    width("b64", Kind::B64, 8, 1, false),
    width("v2.b32", Kind::B32, 4, 2, false),
    width("v4.f32", Kind::F32, 4, 4, false),
];

const fn width(name: &'static str, kind: Kind, bytes: usize, count: usize, signed: bool) -> Width {
    Width { name, kind, bytes, count, signed }
}

/// A program of at most `size` statements.
pub(crate) fn program(choices: &mut impl Choices, size: usize) -> Program {
    let seed = choices.bits();
    let mut generator = Generator { choices, left: size, may_exit: false };
    let mut statements = Vec::new();
    while generator.left > 0 {
        let statement = generator.top();
        statements.push(statement);
    }
    generator.left = size / 8;
    generator.may_exit = true;
    while generator.left > 0 {
        let statement = generator.statement(0, 0);
        statements.push(statement);
    }
    Program { statements, seed }
}

struct Generator<'a, C> {
    choices: &'a mut C,
    left: usize,
    /// No thread is waited for any more.
    may_exit: bool,
}

impl<C: Choices> Generator<'_, C> {
    /// A statement where all threads are together.
    fn top(&mut self) -> Statement {
        if self.choices.below(4) != 3 {
            return self.statement(0, 0);
        }
        self.left -= 1;
        let number = self.choices.below(32) as u32;
        let exchange = match self.choices.below(11) {
            0 | 1 => Exchange::Shared(number),
            2 => Exchange::Index(number),
            3 => Exchange::Up(number),
            4 => Exchange::Down(number),
            5 => Exchange::Butterfly(number),
            6 => Exchange::Ballot,
            7 => Exchange::Vote { all: number.is_multiple_of(2) },
            8 => Exchange::MatchAny,
            _ => {
                Exchange::Reduce(["add.u32", "min.s32", "max.u32", "and.b32", "xor.b32"][number as usize % 5])
            }
        };
        let [result, source, lane] = [(); 3].map(|()| self.register());
        Statement::Exchange { exchange, result, source, lane }
    }

    fn list(&mut self, depth: usize, loops: usize) -> Vec<Statement> {
        let count = self.choices.below(5);
        (0..count).map_while(|_| (self.left > 0).then(|| self.statement(depth, loops))).collect()
    }

    fn statement(&mut self, depth: usize, loops: usize) -> Statement {
        self.left = self.left.saturating_sub(1);
        match self.choices.below(25) {
            0..=11 => self.operation(),
            12 | 13 => self.access(true),
            14 | 15 => self.access(false),
            16 | 17 if depth < 5 => Statement::If {
                guard: self.guard(),
                then: self.list(depth + 1, loops),
                otherwise: self.list(depth + 1, loops),
            },
            18 | 19 if loops < MAX_LOOPS => {
                let limit = self.register();
                Statement::Loop { depth: loops, limit, body: self.list(depth + 1, loops + 1) }
            }
            20 if loops > 0 => Statement::Break { guard: self.guard(), inner: self.choices.below(loops) },
            21 if loops > 0 => Statement::Continue { guard: self.guard() },
            22 if depth < 4 => {
                let selector = self.register();
                Statement::Switch { selector, cases: [(); 4].map(|()| self.list(depth + 2, loops)) }
            }
            23 if self.choices.below(2) == 0 => {
                Statement::Call { result: self.register(), operands: [self.register(), self.register()] }
            }
            23 => Statement::Count { source: self.register() },
            24 if self.may_exit => Statement::Exit { guard: self.guard() },
            _ => self.operation(),
        }
    }

    fn operation(&mut self) -> Statement {
        let number = self.choices.below(OPERATIONS.len());
        let operation = &OPERATIONS[number];
        let guard = self.optional_guard();
        let result = Register(operation.result, self.register());
        // There are no constants of 16-bit floating point, and a bit field's place is a byte.
        let constants = !operation.text.contains("f16") && !operation.text.starts_with("bf");
        let operands = operation.operands.iter().map(|&kind| self.operand(kind, constants)).collect();
        Statement::Operation { guard, operation: number, result, operands }
    }

    fn operand(&mut self, kind: Kind, constants: bool) -> Operand {
        if kind == Kind::Pred || !constants || self.choices.below(5) != 4 {
            return Operand::Register(Register(kind, self.register()));
        }
        let bits = match self.choices.below(4) {
            0 => self.choices.below(40) as u64,
            1 => (self.choices.below(40) as u64).wrapping_neg(),
            2 => self.special(kind),
            _ => self.choices.bits(),
        };
        Operand::Constant(kind, bits & kind.mask())
    }

    /// Bits that mean something special.
    fn special(&mut self, kind: Kind) -> u64 {
        let number = self.choices.below(6);
        match kind {
            Kind::F32 => [0, 1 << 31, 0x7f80_0000, 0x7fc0_0000, 1, 0x3f80_0000][number],
            Kind::F64 => [0, 1 << 63, 0x7ff << 52, 0x7ff8 << 48, 1, 0x3ff << 52][number],
            Kind::B16 => [0, 0x8000, 0x7c00, 0x7e00, 1, 0x3c00][number],
            Kind::B32 => [0, 1 << 31, 0x7fff_ffff, 31, 32, 0xffff_ffff][number],
            _ => [0, 1 << 63, u64::MAX >> 1, 63, 64, u64::MAX][number],
        }
    }

    fn access(&mut self, load: bool) -> Statement {
        let guard = self.optional_guard();
        let space = Space::ALL[self.choices.below(3)];
        let width = WIDTHS[self.choices.below(WIDTHS.len())];
        let first = self.choices.below(REGISTERS + 1 - width.count);
        let index = self.register();
        let access = Access { guard, space, generic: self.choices.below(3) == 2, width, first, index };
        if load { Statement::Load(access) } else { Statement::Store(access) }
    }

    fn register(&mut self) -> usize {
        self.choices.below(REGISTERS)
    }

    fn guard(&mut self) -> Guard {
        Guard { predicate: self.register(), negated: self.choices.below(2) == 1 }
    }

    fn optional_guard(&mut self) -> Option<Guard> {
        (self.choices.below(4) == 3).then(|| self.guard())
    }
}
