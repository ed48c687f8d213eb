//! A function under translation: its register window, its operands, and its instructions so far.

use std::collections::HashMap;

use super::flow::{Control, Draft, Label};
use super::layout::FrameLayout;
use super::operand::Predicate;
use super::repeat::Repeats;
use super::translate::Shared;
use crate::exec::level::Handlers;
use crate::exec::ops::copying;
use crate::exec::program::{Filled, Unlinked};
use crate::exec::slots::{Fields, Mismatch, RegisterSlot, Width, Window};
use crate::exec::{control_flow, special};
use crate::syntax::ast::{Function, Module, RegisterId};
use crate::syntax::types::{SpecialRegister, Type};

/// The reason why an instruction cannot be translated.
pub(super) type Reason = String;
/// The result of a translation step.
pub(super) type Checked<T> = Result<T, Reason>;

/// A fully translated function, whose instructions are not yet in their final order.
pub(super) struct Finished {
    pub(super) window_bytes: u32,
    /// The registers to fill. The last `per_block` of them are filled before every block.
    pub(super) filled: Vec<Filled>,
    pub(super) per_block: usize,
    pub(super) labels: u32,
    pub(super) drafts: Vec<Draft>,
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
    slots: Vec<Option<RegisterSlot>>,
    filled: HashMap<FillKey, RegisterSlot>,
    fills: Vec<Filled>,
    window: Window,
    carry: Option<RegisterSlot>,
    scratch: HashMap<Width, RegisterSlot>,
    /// The first instruction that did not fit its handler and has not been reported.
    mismatch: Option<Mismatch>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum FillKey {
    Narrow(u32),
    Double(u64),
    LocalBase,
    Special(SpecialRegister),
}

impl FillKey {
    fn width(self) -> Width {
        match self {
            FillKey::Narrow(_) => Width::Narrow,
            FillKey::Double(_) | FillKey::LocalBase => Width::Double,
            FillKey::Special(register) => Width::of_bits(register.ty().bits()),
        }
    }

    /// Returns the filling of a register.
    fn fill(self, slot: RegisterSlot) -> Result<Filled, Mismatch> {
        Ok(match self {
            FillKey::Narrow(value) => Filled::Constant32(slot.typed()?, value),
            FillKey::Double(value) => Filled::Constant64(slot.typed()?, value),
            FillKey::LocalBase => Filled::LocalBase(slot.typed()?),
            FillKey::Special(register) => match slot.width() {
                Width::Predicate => Filled::SpecialPredicate(slot.predicate()?, register),
                Width::Narrow => Filled::Special32(slot.typed()?, register),
                Width::Double | Width::Wide => Filled::Special64(slot.typed()?, register),
            },
        })
    }
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
            window: Window::new(),
            carry: None,
            scratch: HashMap::new(),
            mismatch: None,
        }
    }

    /// Returns the translated function.
    pub(super) fn finish(self) -> Finished {
        let depends = |filled: &Filled| filled.special().is_some_and(special::depends_on_block);
        let mut filled = self.fills;
        filled.sort_by_key(depends);
        let per_block = filled.iter().filter(|filled| depends(filled)).count();
        Finished {
            window_bytes: self.window.bytes(),
            filled,
            per_block,
            labels: self.labels,
            drafts: self.drafts,
        }
    }

    /// Returns the number of 32-bit registers that the function's own registers occupy.
    pub(super) fn register_count(&self) -> u32 {
        let used = self.function.registers.iter().zip(&self.slots).filter(|(_, slot)| slot.is_some());
        used.map(|(register, _)| register.ty.bits().div_ceil(32)).sum()
    }

    // Slots.

    pub(super) fn temp32(&mut self) -> RegisterSlot {
        self.window.add(Width::Narrow)
    }

    pub(super) fn temp64(&mut self) -> RegisterSlot {
        self.window.add(Width::Double)
    }

    pub(super) fn temp_predicate(&mut self) -> RegisterSlot {
        self.window.add(Width::Predicate)
    }

    pub(super) fn temp(&mut self, ty: Type) -> RegisterSlot {
        self.window.add(Width::of_bits(ty.bits()))
    }

    /// Returns a slot that nothing reads, for unused results.
    pub(super) fn scratch(&mut self, ty: Type) -> RegisterSlot {
        let width = Width::of_bits(ty.bits());
        let window = &mut self.window;
        *self.scratch.entry(width).or_insert_with(|| window.add(width))
    }

    /// Returns the carry flag of `add.cc` and similar instructions.
    pub(super) fn carry(&mut self) -> RegisterSlot {
        if let Some(carry) = self.carry {
            return carry;
        }
        let carry = self.temp_predicate();
        self.carry = Some(carry);
        carry
    }

    fn fill(&mut self, key: FillKey) -> RegisterSlot {
        if let Some(&slot) = self.filled.get(&key) {
            return slot;
        }
        let slot = self.window.add(key.width());
        self.filled.insert(key, slot);
        match key.fill(slot) {
            Ok(filled) => self.fills.push(filled),
            Err(mismatch) => self.report(mismatch),
        }
        slot
    }

    pub(super) fn constant32(&mut self, value: u32) -> RegisterSlot {
        self.fill(FillKey::Narrow(value))
    }

    pub(super) fn constant64(&mut self, value: u64) -> RegisterSlot {
        self.fill(FillKey::Double(value))
    }

    /// Returns the start of the frame's local memory.
    pub(super) fn local_base(&mut self) -> RegisterSlot {
        self.fill(FillKey::LocalBase)
    }

    pub(super) fn special(&mut self, register: SpecialRegister) -> RegisterSlot {
        if let Some((handlers, imm)) = special::clock(register) {
            let dst = self.temp(register.ty());
            self.emit(handlers, Fields::new().dst(dst).imm(imm));
            return dst;
        }
        self.fill(FillKey::Special(register))
    }

    pub(super) fn register_type(&self, register: RegisterId) -> Type {
        self.function.registers[register.index()].ty
    }

    pub(super) fn register(&mut self, register: RegisterId) -> RegisterSlot {
        if let Some(slot) = self.slots[register.index()] {
            return slot;
        }
        let slot = self.temp(self.register_type(register));
        self.slots[register.index()] = Some(slot);
        slot
    }

    // Instructions.

    /// Adds an instruction. If its fields do not fit the handlers, [`Self::take_mismatch`] reports
    /// it.
    pub(super) fn emit(&mut self, handlers: Handlers, fields: Fields) -> &mut Draft {
        if let Err(mismatch) = Unlinked::new(handlers, fields) {
            self.report(mismatch);
        }
        let control = Control::Next;
        self.drafts.push(Draft { handlers, fields, control, origin: self.origin, waits: false });
        let last = self.drafts.len() - 1;
        &mut self.drafts[last]
    }

    fn report(&mut self, mismatch: Mismatch) {
        self.mismatch.get_or_insert(mismatch);
    }

    /// Fails if an instruction since the last call did not fit its handler.
    pub(super) fn take_mismatch(&mut self) -> Checked<()> {
        self.mismatch.take().map_or(Ok(()), |mismatch| Err(mismatch.into()))
    }

    pub(super) fn emit_control(&mut self, handlers: Handlers, fields: Fields, control: Control) {
        self.repeats.clear();
        self.emit(handlers, fields).control = control;
    }

    /// Adds an instruction in which lanes may have to wait.
    pub(super) fn emit_waiting(&mut self, handlers: Handlers, fields: Fields) {
        self.repeats.clear();
        self.emit(handlers, fields).waits = true;
    }

    pub(super) fn new_label(&mut self) -> Label {
        self.labels += 1;
        self.labels - 1
    }

    pub(super) fn place_label(&mut self, label: Label) {
        self.emit_control(Handlers::uniform(control_flow::meet), Fields::new(), Control::Label(label));
    }

    pub(super) fn jump_if(&mut self, predicate: Predicate, label: Label) {
        let fields = Fields::new().a(predicate.slot).b(predicate.flip);
        self.emit_control(Handlers::uniform(control_flow::branch_if), fields, Control::JumpIf(label));
        let next = self.new_label();
        self.place_label(next);
    }

    /// Allocates a site for an instruction that accesses memory.
    pub(super) fn site(&mut self) -> u32 {
        self.shared.sites += 1;
        self.shared.sites - 1
    }

    pub(super) fn copy(&mut self, ty: Type, dst: RegisterSlot, a: RegisterSlot) {
        match ty.bits() {
            1 => {
                let table = 0b1111_0000;
                let handlers = Handlers::uniform(crate::exec::ops::predicate_logic);
                self.emit(handlers, Fields::new().dst(dst).a(a).b(a).c(a).imm(table));
            }
            64 => {
                self.emit(const { copying::<u64>() }, Fields::new().dst(dst).a(a));
            }
            128 => match (dst.halves(), a.halves()) {
                (Ok(to), Ok(from)) => {
                    to.into_iter().zip(from).for_each(|(to, from)| self.copy(Type::B64, to, from));
                }
                (Err(mismatch), _) | (_, Err(mismatch)) => self.report(mismatch),
            },
            _ => {
                self.emit(const { copying::<u32>() }, Fields::new().dst(dst).a(a));
            }
        }
    }

    /// Returns whether the window has grown beyond `bytes`.
    pub(super) fn window_is_full(&self, bytes: u32) -> bool {
        self.window.bytes() > bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::layout::{Addresses, Outline};
    use crate::syntax::ast::FunctionId;

    /// Emits instructions into an empty kernel.
    fn emit(instructions: impl FnOnce(&mut Emitter<'_, '_>)) -> (Checked<()>, Finished) {
        const TEXT: &str = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }";
        let module = crate::syntax::parse(TEXT).unwrap();
        let outline = Outline::new(&module, Addresses::new());
        let id = FunctionId(0);
        let function = &module.functions[id.index()];
        let frame = FrameLayout::new(&module, &outline, id, function);
        let mut shared = Shared::default();
        let mut emitter = Emitter::new(&module, function, &mut shared, frame);
        instructions(&mut emitter);
        (emitter.take_mismatch(), emitter.finish())
    }

    #[test]
    fn instructions_that_fit_are_emitted() {
        let (result, finished) = emit(|e| {
            let (narrow, double) = (e.temp32(), e.constant64(7));
            e.narrow(double);
            e.widen(narrow, true);
            let [to, from] = [(); 2].map(|()| e.temp(Type::B128));
            e.copy(Type::B128, to, from);
            let [to, from] = [(); 2].map(|()| e.temp_predicate());
            e.copy(Type::Pred, to, from);
        });
        assert_eq!(result, Ok(()));
        assert_eq!((finished.drafts.len(), finished.filled.len()), (5, 1));
    }

    #[test]
    fn a_wrong_pairing_is_an_error() {
        let (result, _) = emit(|e| {
            let (narrow, double) = (e.temp32(), e.temp64());
            e.emit(const { copying::<u64>() }, Fields::new().dst(double).a(narrow));
        });
        let expected = "the translation does not fit the instruction: field a is a register of 32 bits, and the handler \
                        takes a register of 64 bits";
        assert_eq!(result, Err(expected.into()));
        for ty in [Type::B64, Type::B128, Type::Pred] {
            let (result, finished) = emit(|e| {
                let [to, from] = [(); 2].map(|()| e.temp32());
                e.copy(ty, to, from);
            });
            assert!(result.is_err(), "{ty}");
            let fits = |draft: &Draft| Unlinked::new(draft.handlers, draft.fields).is_ok();
            assert!(!finished.drafts.iter().any(fits));
        }
    }
}
