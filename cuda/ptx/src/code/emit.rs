//! A function under translation: its register window, its operands, the instructions so far.

use std::collections::HashMap;

use super::flow::{Control, Draft, Label};
use super::layout::FrameLayout;
use super::operand::Predicate;
use super::repeat::Repeats;
use super::translate::Shared;
use crate::exec::level::Handlers;
use crate::exec::ops::copying;
use crate::exec::program::{Filled, Unlinked, WIDE_HALF};
use crate::exec::{special, warp};
use crate::syntax::ast::{Function, Module, RegisterId};
use crate::syntax::types::{SpecialRegister, Type};

/// Why an instruction cannot be translated.
pub(super) type Reason = String;
/// The result of translating something.
pub(super) type Checked<T> = Result<T, Reason>;

/// Bytes of a register of 32 and of 64 bits.
const LINE: u32 = 128;

/// The slot of a value.
pub(super) type SlotOffset = u32;

/// The fields of an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fields {
    pub(super) dst: u32,
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) c: u32,
    pub(super) d: u32,
    pub(super) site: u32,
    pub(super) imm: u64,
}

/// A function under translation.
pub(super) struct Emitter<'t, 's> {
    pub(super) module: &'t Module<'s>,
    pub(super) function: &'t Function<'s>,
    pub(super) shared: &'t mut Shared,
    pub(super) frame: FrameLayout,
    pub(super) drafts: Vec<Draft>,
    pub(super) origin: u32,
    pub(super) repeats: Repeats,
    labels: u32,
    slots: Vec<Option<SlotOffset>>,
    filled: HashMap<FillKey, SlotOffset>,
    fills: Vec<(SlotOffset, Filled)>,
    window: u32,
    /// The line that predicates are put in, and how many it has.
    predicates: (u32, u32),
    carry: Option<SlotOffset>,
    scratch: HashMap<u32, SlotOffset>,
}

#[derive(PartialEq, Eq, Hash)]
enum FillKey {
    Narrow(u32),
    Wide(u64),
    LocalBase,
    Special(SpecialRegister),
}

impl<'t, 's> Emitter<'t, 's> {
    pub(super) fn new(
        module: &'t Module<'s>,
        function: &'t Function<'s>,
        shared: &'t mut Shared,
        frame: FrameLayout,
    ) -> Emitter<'t, 's> {
        Emitter {
            module,
            function,
            shared,
            frame,
            drafts: Vec::new(),
            origin: 0,
            repeats: Repeats::default(),
            labels: function.labels.len() as u32,
            slots: vec![None; function.registers.len()],
            filled: HashMap::new(),
            fills: Vec::new(),
            window: 0,
            predicates: (0, LINE / 4),
            carry: None,
            scratch: HashMap::new(),
        }
    }

    /// Bytes of the window, and the slots to fill; those that depend on the block come last, their number
    /// behind.
    pub(super) fn finish(self) -> (u32, Vec<(SlotOffset, Filled)>, usize, u32, Vec<Draft>) {
        let depends = |filled: &Filled| matches!(filled, Filled::Special(r) if special::depends_on_block(*r));
        let mut fills = self.fills;
        fills.sort_by_key(|(_, filled)| depends(filled));
        let per_block = fills.iter().filter(|(_, filled)| depends(filled)).count();
        (self.window, fills, per_block, self.labels, self.drafts)
    }

    /// How many 32-bit registers the function's own registers take.
    pub(super) fn register_count(&self) -> u32 {
        let used = self.function.registers.iter().zip(&self.slots).filter(|(_, slot)| slot.is_some());
        used.map(|(register, _)| register.ty.bits().div_ceil(32)).sum()
    }

    // Slots.

    pub(super) fn temp32(&mut self) -> SlotOffset {
        let at = self.window;
        self.window += LINE;
        at
    }

    pub(super) fn temp64(&mut self) -> SlotOffset {
        let at = self.window;
        self.window += 2 * LINE;
        at
    }

    pub(super) fn temp_predicate(&mut self) -> SlotOffset {
        if self.predicates.1 == LINE / 4 {
            self.predicates = (self.temp32(), 0);
        }
        self.predicates.1 += 1;
        self.predicates.0 + 4 * (self.predicates.1 - 1)
    }

    /// A slot of 128 bits: one of the low 64, and behind it one of the others.
    fn temp128(&mut self) -> SlotOffset {
        let low = self.temp64();
        self.temp64();
        low
    }

    pub(super) fn temp(&mut self, ty: Type) -> SlotOffset {
        match ty.bits() {
            1 => self.temp_predicate(),
            2..=32 => self.temp32(),
            33..=64 => self.temp64(),
            _ => self.temp128(),
        }
    }

    /// A slot nobody reads, for results that are not wanted.
    pub(super) fn scratch(&mut self, ty: Type) -> SlotOffset {
        let bits = ty.bits().next_power_of_two().clamp(1, 128);
        let key = if (2..=32).contains(&bits) { 32 } else { bits };
        if let Some(&slot) = self.scratch.get(&key) {
            return slot;
        }
        let slot = self.temp(ty);
        self.scratch.insert(key, slot);
        slot
    }

    /// The carry flag of `add.cc` and kin.
    pub(super) fn carry(&mut self) -> SlotOffset {
        if let Some(carry) = self.carry {
            return carry;
        }
        let carry = self.temp_predicate();
        self.carry = Some(carry);
        carry
    }

    fn fill(&mut self, key: FillKey, ty: Type, filled: Filled) -> SlotOffset {
        if let Some(&slot) = self.filled.get(&key) {
            return slot;
        }
        let slot = self.temp(ty);
        self.filled.insert(key, slot);
        self.fills.push((slot, filled));
        slot
    }

    pub(super) fn constant32(&mut self, value: u32) -> SlotOffset {
        self.fill(FillKey::Narrow(value), Type::B32, Filled::Constant32(value))
    }

    pub(super) fn constant64(&mut self, value: u64) -> SlotOffset {
        self.fill(FillKey::Wide(value), Type::B64, Filled::Constant64(value))
    }

    /// The start of the frame's local memory.
    pub(super) fn local_base(&mut self) -> SlotOffset {
        self.fill(FillKey::LocalBase, Type::B64, Filled::LocalBase)
    }

    pub(super) fn special(&mut self, register: SpecialRegister) -> SlotOffset {
        if let Some(clock) = special::clock_number(register) {
            let dst = self.temp(register.ty());
            self.emit(Handlers::same(special::read_clock), Fields { dst, imm: clock, ..Fields::default() });
            return dst;
        }
        self.fill(FillKey::Special(register), register.ty(), Filled::Special(register))
    }

    pub(super) fn register_type(&self, register: RegisterId) -> Type {
        self.function.registers[register.index()].ty
    }

    pub(super) fn register(&mut self, register: RegisterId) -> SlotOffset {
        if let Some(slot) = self.slots[register.index()] {
            return slot;
        }
        let slot = self.temp(self.register_type(register));
        self.slots[register.index()] = Some(slot);
        slot
    }

    // Instructions.

    pub(super) fn emit(&mut self, handlers: Handlers, fields: Fields) -> &mut Draft {
        let Fields { dst, a, b, c, d, site, imm } = fields;
        let code = Unlinked { handlers, dst, a, b, c, d, site, imm };
        self.drafts.push(Draft { code, control: Control::Next, origin: self.origin, waits: false });
        let last = self.drafts.len() - 1;
        &mut self.drafts[last]
    }

    pub(super) fn emit_control(&mut self, handlers: Handlers, fields: Fields, control: Control) {
        self.repeats.clear();
        self.emit(handlers, fields).control = control;
    }

    /// An instruction in which lanes may have to wait.
    pub(super) fn emit_waiting(&mut self, handlers: Handlers, fields: Fields) {
        self.repeats.clear();
        self.emit(handlers, fields).waits = true;
    }

    pub(super) fn new_label(&mut self) -> Label {
        self.labels += 1;
        self.labels - 1
    }

    pub(super) fn place_label(&mut self, label: Label) {
        self.emit_control(Handlers::same(warp::meet), Fields::default(), Control::Label(label));
    }

    pub(super) fn jump_if(&mut self, predicate: Predicate, label: Label) {
        let fields = Fields { a: predicate.slot, b: predicate.flip, ..Fields::default() };
        self.emit_control(Handlers::same(warp::branch_if), fields, Control::JumpIf(label));
        let next = self.new_label();
        self.place_label(next);
    }

    /// A number for an instruction that accesses memory.
    pub(super) fn site(&mut self) -> u32 {
        self.shared.sites += 1;
        self.shared.sites - 1
    }

    pub(super) fn copy(&mut self, ty: Type, dst: SlotOffset, a: SlotOffset) {
        match ty.bits() {
            1 => {
                let table = 0b1111_0000;
                let handlers = Handlers::same(crate::exec::ops::predicate_logic);
                self.emit(handlers, Fields { dst, a, b: a, c: a, imm: table, ..Fields::default() });
            }
            64 => {
                self.emit(const { copying::<u64>() }, Fields { dst, a, ..Fields::default() });
            }
            128 => {
                self.copy(Type::B64, dst, a);
                self.copy(Type::B64, dst + WIDE_HALF, a + WIDE_HALF);
            }
            _ => {
                self.emit(const { copying::<u32>() }, Fields { dst, a, ..Fields::default() });
            }
        }
    }

    /// Whether the window has grown beyond `bytes`.
    pub(super) fn window_is_full(&self, bytes: u32) -> bool {
        self.window > bytes
    }
}
