//! A program as PTX.

use std::fmt::Write;

use super::operations::OPERATIONS;
use super::{
    Access, Exchange, Guard, Kind, MAX_LOOPS, OWN_BYTES, Operand, Program, REGISTERS, Register, Space,
    Statement, THREADS, Width,
};

/// What every module begins with: functions to call.
const HEADER: &str = "\
.version 8.0
.target sm_80
.address_size 64

.func (.reg .b32 %out) step(.reg .b32 %in)
{
    .reg .pred %large;
    setp.gt.u32 %large, %in, 0x40000000;
    @%large bra LARGE;
    mad.lo.u32 %out, %in, 5, 1;
    ret;
LARGE:
    xor.b32 %out, %in, 0xffff;
    ret;
}

.func (.param .b32 result) combine(.param .b32 first, .param .b32 second)
{
    .reg .b32 %r<6>;
    .reg .pred %p<2>;
    ld.param.u32 %r0, [first];
    ld.param.u32 %r1, [second];
    shf.l.wrap.b32 %r2, %r1, %r1, %r0;
    mad.lo.u32 %r3, %r0, 3, %r2;
    and.b32 %r4, %r0, 3;
AGAIN:
    setp.eq.u32 %p0, %r4, 0;
    @%p0 bra DONE;
    and.b32 %r5, %r3, 1;
    setp.eq.u32 %p1, %r5, 1;
    @!%p1 bra EVEN;
    call (%r3), step, (%r3);
    bra NEXT;
EVEN:
    shr.u32 %r3, %r3, 1;
NEXT:
    sub.u32 %r4, %r4, 1;
    bra AGAIN;
DONE:
    st.param.b32 [result], %r3;
    ret;
}
";

/// Bytes of all registers of a thread, a word each.
pub(crate) const REGISTER_BYTES: usize = Kind::ALL.len() * REGISTERS * 8;

/// The module. Its kernel `program` takes pointers to the threads' first registers, which it
/// replaces by their last, to the threads' memory, and to the counter.
pub(crate) fn print(program: &Program) -> String {
    let mut printer = Printer { text: HEADER.to_owned(), labels: 0, loops: Vec::new() };
    printer.prologue();
    printer.list(&program.statements);
    printer.registers(false);
    printer.line("ret;");
    printer.text.push_str("}\n");
    printer.text
}

struct Printer {
    text: String,
    labels: usize,
    /// The numbers of the loops around.
    loops: Vec<usize>,
}

fn name(Register(kind, number): Register) -> String {
    format!("{}{number}", kind.names().1)
}

fn b32(number: usize) -> String {
    name(Register(Kind::B32, number))
}

fn guarded(guard: Option<Guard>, instruction: &str) -> String {
    guard.map_or_else(
        || instruction.to_owned(),
        |Guard { predicate, negated }| {
            format!("@{}%p{predicate} {instruction}", if negated { "!" } else { "" })
        },
    )
}

fn operand(operand: Operand) -> String {
    match operand {
        Operand::Register(register) => name(register),
        Operand::Constant(Kind::F32, bits) => format!("0f{bits:08x}"),
        Operand::Constant(Kind::F64, bits) => format!("0d{bits:016x}"),
        Operand::Constant(_, bits) => format!("{bits:#x}"),
    }
}

impl Printer {
    fn line(&mut self, text: &str) {
        writeln!(self.text, "    {text}").expect("a string takes all");
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    fn place(&mut self, label: &str) {
        writeln!(self.text, "{label}:").expect("a string takes all");
    }

    fn prologue(&mut self) {
        self.text.push_str(
            ".visible .entry program(.param .u64 registers, .param .u64 memory, .param .u64 counter)\n{\n",
        );
        for kind in Kind::ALL {
            let (ty, prefix) = kind.names();
            self.line(&format!(".reg .{ty} {prefix}<{REGISTERS}>;"));
        }
        self.line(&format!(".shared .align 16 .b8 own[{}];", THREADS * OWN_BYTES));
        self.line(&format!(".shared .align 16 .b8 meeting[{}];", THREADS * 4));
        self.line(&format!(".local .align 16 .b8 private[{OWN_BYTES}];"));
        self.line(&format!(
            ".reg .b32 %count<{MAX_LOOPS}>, %limit<{MAX_LOOPS}>, %thread, %threads, %index, %shared, %slot;"
        ));
        self.line(&format!(".reg .pred %done<{MAX_LOOPS}>;"));
        self.line(".reg .b64 %all, %global, %local, %counter, %address, %generic_global, %generic_shared, %generic_local;");
        for line in [
            "mov.u32 %thread, %tid.x;",
            "mov.u32 %threads, %ntid.x;",
            "mov.u32 %index, %ctaid.x;",
            "mad.lo.u32 %index, %index, %threads, %thread;",
            "ld.param.u64 %all, [registers];",
            &format!("mad.wide.u32 %all, %index, {REGISTER_BYTES}, %all;"),
            "ld.param.u64 %global, [memory];",
            &format!("mad.wide.u32 %global, %index, {OWN_BYTES}, %global;"),
            "ld.param.u64 %counter, [counter];",
            "mov.u32 %shared, own;",
            &format!("mad.lo.u32 %shared, %thread, {OWN_BYTES}, %shared;"),
            "mov.u64 %local, private;",
            "cvta.local.u64 %generic_local, %local;",
            "cvt.u64.u32 %generic_shared, %shared;",
            "cvta.shared.u64 %generic_shared, %generic_shared;",
            "cvta.global.u64 %generic_global, %global;",
        ] {
            self.line(line);
        }
        self.registers(true);
        for at in (0..OWN_BYTES).step_by(8) {
            self.line(&format!("st.shared.u64 [%shared+{at}], 0;"));
            self.line(&format!("st.local.u64 [%local+{at}], 0;"));
        }
    }

    /// Loads all registers, or stores them.
    fn registers(&mut self, load: bool) {
        for (position, kind) in Kind::ALL.into_iter().enumerate() {
            for number in 0..REGISTERS {
                let at = (position * REGISTERS + number) * 8;
                let register = name(Register(kind, number));
                let ty = kind.names().0;
                match (kind, load) {
                    (Kind::Pred, true) => {
                        self.line(&format!("ld.global.u32 %slot, [%all+{at}];"));
                        self.line(&format!("setp.ne.u32 {register}, %slot, 0;"));
                    }
                    (Kind::Pred, false) => {
                        self.line(&format!("selp.u32 %slot, 1, 0, {register};"));
                        self.line(&format!("st.global.u32 [%all+{at}], %slot;"));
                    }
                    (_, true) => self.line(&format!("ld.global.{ty} {register}, [%all+{at}];")),
                    (_, false) => self.line(&format!("st.global.{ty} [%all+{at}], {register};")),
                }
            }
        }
    }

    fn list(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Operation { guard, operation, result, operands } => {
                let mut text = format!("{} {}", OPERATIONS[*operation].text, name(*result));
                for &input in operands {
                    write!(text, ", {}", operand(input)).expect("a string takes all");
                }
                self.line(&guarded(*guard, &format!("{text};")));
            }
            Statement::Load(access) => {
                let (space, address) = self.address(access);
                let list = registers(access.width, access.first);
                self.line(&guarded(
                    access.guard,
                    &format!("ld{space}.{} {list}, [{address}];", access.width.name),
                ));
            }
            Statement::Store(access) => {
                let (space, address) = self.address(access);
                let list = registers(access.width, access.first);
                self.line(&guarded(
                    access.guard,
                    &format!("st{space}.{} [{address}], {list};", access.width.name),
                ));
            }
            Statement::If { guard, then, otherwise } => self.branch(*guard, then, otherwise),
            Statement::Loop { depth, limit, body } => self.repeat(*depth, *limit, body),
            Statement::Break { guard, inner } => self.leave(*guard, "DONE", *inner),
            Statement::Continue { guard } => self.leave(*guard, "NEXT", 0),
            Statement::Exit { guard } => self.line(&guarded(Some(*guard), "exit;")),
            Statement::Switch { selector, cases } => self.switch(*selector, cases),
            Statement::Call { result, operands: [a, b] } => {
                self.line("{");
                self.line(".param .b32 first; .param .b32 second; .param .b32 back;");
                self.line(&format!("st.param.b32 [first], {};", b32(*a)));
                self.line(&format!("st.param.b32 [second], {};", b32(*b)));
                self.line("call.uni (back), combine, (first, second);");
                self.line(&format!("ld.param.b32 {}, [back];", b32(*result)));
                self.line("}");
            }
            Statement::Exchange { exchange, result, source, lane } => {
                self.exchange(*exchange, *result, *source, *lane)
            }
            Statement::Count { source } => {
                self.line(&format!("red.global.add.u32 [%counter], {};", b32(*source)))
            }
        }
    }

    fn branch(&mut self, guard: Guard, then: &[Statement], otherwise: &[Statement]) {
        let label = self.label();
        let inverted = Guard { negated: !guard.negated, ..guard };
        self.line(&guarded(Some(inverted), &format!("bra ELSE_{label};")));
        self.list(then);
        self.line(&format!("bra END_{label};"));
        self.place(&format!("ELSE_{label}"));
        self.list(otherwise);
        self.place(&format!("END_{label}"));
    }

    fn repeat(&mut self, depth: usize, limit: usize, body: &[Statement]) {
        let label = self.label();
        self.line(&format!("and.b32 %limit{depth}, {}, 7;", b32(limit)));
        self.line(&format!("mov.u32 %count{depth}, 0;"));
        self.place(&format!("LOOP_{label}"));
        self.line(&format!("setp.ge.u32 %done{depth}, %count{depth}, %limit{depth};"));
        self.line(&format!("@%done{depth} bra DONE_{label};"));
        self.loops.push(label);
        self.list(body);
        self.loops.pop();
        self.place(&format!("NEXT_{label}"));
        self.line(&format!("add.u32 %count{depth}, %count{depth}, 1;"));
        self.line(&format!("bra LOOP_{label};"));
        self.place(&format!("DONE_{label}"));
    }

    fn leave(&mut self, guard: Guard, target: &str, inner: usize) {
        if let Some(label) = self.loops.iter().rev().nth(inner).copied() {
            self.line(&guarded(Some(guard), &format!("bra {target}_{label};")));
        }
    }

    fn switch(&mut self, selector: usize, cases: &[Vec<Statement>; 4]) {
        let label = self.label();
        let targets: Vec<String> = (0..4).map(|case| format!("CASE_{label}_{case}")).collect();
        self.line(&format!("and.b32 %slot, {}, 3;", b32(selector)));
        self.place(&format!("TABLE_{label}"));
        self.line(&format!(".branchtargets {};", targets.join(", ")));
        self.line(&format!("brx.idx %slot, TABLE_{label};"));
        for (target, case) in targets.iter().zip(cases) {
            self.place(target);
            self.list(case);
            self.line(&format!("bra END_{label};"));
        }
        self.place(&format!("END_{label}"));
    }

    /// Computes an address of the thread's own memory. Gives what the instruction says of the
    /// space, and the register.
    fn address(&mut self, &Access { space, generic, width, index, .. }: &Access) -> (String, &'static str) {
        let size = width.bytes * width.count;
        self.line(&format!("and.b32 %slot, {}, {};", b32(index), OWN_BYTES / size - 1));
        let name = space.name();
        if generic {
            self.line(&format!("mad.wide.u32 %address, %slot, {size}, %generic_{name};"));
            return (String::new(), "%address");
        }
        if space == Space::Shared {
            self.line(&format!("mad.lo.u32 %slot, %slot, {size}, %shared;"));
            return (format!(".{name}"), "%slot");
        }
        self.line(&format!("mad.wide.u32 %address, %slot, {size}, %{name};"));
        (format!(".{name}"), "%address")
    }

    fn exchange(&mut self, exchange: Exchange, result: usize, source: usize, lane: usize) {
        let (target, value) = (b32(result), b32(source));
        let shuffle = |mode: &str, lane: &str, clamp: u32| {
            format!("shfl.sync.{mode}.b32 {target}|%p{result}, {value}, {lane}, {clamp:#x}, 0xffffffff;")
        };
        match exchange {
            Exchange::Shared(distance) => {
                for line in [
                    "mov.u32 %slot, meeting;".to_owned(),
                    "mad.lo.u32 %slot, %thread, 4, %slot;".to_owned(),
                    format!("st.shared.b32 [%slot], {value};"),
                    "bar.sync 0;".to_owned(),
                    format!("add.u32 %slot, %thread, {distance};"),
                    "rem.u32 %slot, %slot, %threads;".to_owned(),
                    "shl.b32 %slot, %slot, 2;".to_owned(),
                    "mov.u32 %index, meeting;".to_owned(),
                    "add.u32 %slot, %slot, %index;".to_owned(),
                    format!("ld.shared.b32 {target}, [%slot];"),
                    "bar.sync 0;".to_owned(),
                ] {
                    self.line(&line);
                }
            }
            Exchange::Index(segments) => {
                let clamp = if segments % 2 == 1 { 0x181f } else { 0x1f };
                self.line(&shuffle("idx", &b32(lane), clamp));
            }
            Exchange::Up(distance) => self.line(&shuffle("up", &distance.to_string(), 0)),
            Exchange::Down(distance) => self.line(&shuffle("down", &distance.to_string(), 0x1f)),
            Exchange::Butterfly(mask) => self.line(&shuffle("bfly", &mask.to_string(), 0x1f)),
            Exchange::Ballot => self.line(&format!("vote.sync.ballot.b32 {target}, %p{source}, 0xffffffff;")),
            Exchange::Vote { all } => {
                let mode = if all { "all" } else { "any" };
                self.line(&format!("vote.sync.{mode}.pred %p{result}, %p{source}, 0xffffffff;"));
            }
            Exchange::Reduce(operation) => {
                self.line(&format!("redux.sync.{operation} {target}, {value}, 0xffffffff;"));
            }
            Exchange::MatchAny => self.line(&format!("match.any.sync.b32 {target}, {value}, 0xffffffff;")),
        }
    }
}

/// One register, or a vector of neighbours.
fn registers(width: Width, first: usize) -> String {
    let names: Vec<String> =
        (first..first + width.count).map(|number| name(Register(width.kind, number))).collect();
    if width.count == 1 { names.concat() } else { format!("{{{}}}", names.join(", ")) }
}
