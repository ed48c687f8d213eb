//! Operands of an instruction: checked against the type that the instruction expects, and resolved
//! to slots.

use super::emit::{Checked, Emitter, Reason};
use crate::exec::address::{AccessSpace, code_address};
use crate::exec::level::Handlers;
use crate::exec::ops::{binary, unary};
use crate::exec::slots::{Fields, RegisterSlot};
use crate::syntax::ast::{AddressBase, Immediate, Operand, RegisterId, Symbol};
use crate::syntax::types::{Space, SpecialRegister, Type};

/// A predicate, and a mask that is all ones if it is negated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Predicate {
    pub(super) slot: RegisterSlot,
    pub(super) flip: u32,
}

/// An address: a register plus a constant, in a space.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddressOperand {
    pub(super) slot: RegisterSlot,
    pub(super) offset: i64,
    /// Whether the register has 64 bits.
    pub(super) wide: bool,
    pub(super) space: AccessSpace,
    /// The offset within a kernel's parameters, if it is known.
    pub(super) parameter: Option<u64>,
}

/// Returns whether a register of type `register` can be an operand of type `wanted`.
fn agrees(wanted: Type, register: Type) -> bool {
    if wanted.bits() != register.bits() || (wanted == Type::Pred) != (register == Type::Pred) {
        return false;
    }
    let pairs = |ty| matches!(ty, Type::F16x2 | Type::Bf16x2);
    let one_kind = wanted.is_float() == register.is_float() && pairs(wanted) == pairs(register);
    wanted.is_untyped() || register.is_untyped() || one_kind
}

impl Emitter<'_, '_> {
    fn constant(&mut self, immediate: Immediate, ty: Type) -> Checked<RegisterSlot> {
        let single = |value: f64| (value as f32).to_bits();
        if ty.bits() > 64 {
            return Err(format!("a constant where a register of type {ty} is needed"));
        }
        Ok(match (immediate, ty) {
            (Immediate::Integer { .. }, ty) if ty.is_float() => {
                return Err(format!("an integer where a constant of type {ty} is needed"));
            }
            (Immediate::Integer { bits, .. }, _) if ty.bits() == 64 => self.constant64(bits),
            (Immediate::Integer { bits, .. }, _) => {
                let unused = 32 - ty.bits().min(32);
                self.constant32((bits as u32) << unused >> unused)
            }
            (Immediate::F32(bits), Type::F32 | Type::B32) => self.constant32(bits),
            (Immediate::F32(bits), Type::F64) => self.constant64(f64::from(f32::from_bits(bits)).to_bits()),
            (Immediate::F64(bits), Type::F64 | Type::B64) => self.constant64(bits),
            (Immediate::F64(bits), Type::F32) => self.constant32(single(f64::from_bits(bits))),
            (_, ty) => return Err(format!("a floating-point constant where type {ty} is needed")),
        })
    }

    /// Returns the slot of a source operand of exactly this type.
    pub(super) fn source(&mut self, operand: &Operand, ty: Type) -> Checked<RegisterSlot> {
        match operand {
            Operand::Register(register) => {
                let found = self.register_type(*register);
                if !agrees(ty, found) {
                    return Err(self.wrong_type(*register, ty));
                }
                Ok(self.register(*register))
            }
            Operand::Special(register) => {
                if !agrees(ty, register.ty()) {
                    let found = register.ty();
                    return Err(format!("a special register of type {found} where type {ty} is needed"));
                }
                Ok(self.special(*register))
            }
            Operand::Immediate(immediate) => self.constant(*immediate, ty),
            Operand::Symbol { symbol, offset } => self.address_value(*symbol, *offset, ty),
            other => Err(format!("{} where a value of type {ty} is needed", kind_of(other))),
        }
    }

    /// Returns the slot of a source operand of `mov`. Like [`Self::source`], but also reads the low
    /// bits of special registers that had fewer bits in early versions of PTX.
    pub(super) fn source_of_mov(&mut self, operand: &Operand, ty: Type) -> Checked<RegisterSlot> {
        match operand {
            Operand::Special(register)
                if register.was_narrower() && wider(ty, register.ty()) && !ty.is_float() =>
            {
                Ok(self.low_bits(*register, ty))
            }
            _ => self.source(operand, ty),
        }
    }

    /// Returns the slot of a source operand of `cvt`. Like [`Self::source_or_wider`], but also
    /// reads the low bits of any special register.
    pub(super) fn source_of_cvt(&mut self, operand: &Operand, ty: Type) -> Checked<RegisterSlot> {
        match operand {
            Operand::Special(register) if wider(ty, register.ty()) => Ok(self.low_bits(*register, ty)),
            _ => self.source_or_wider(operand, ty),
        }
    }

    /// Returns the slot of a special register that is as wide as the type, or wider. The bits above
    /// the type are ignored.
    fn low_bits(&mut self, register: SpecialRegister, ty: Type) -> RegisterSlot {
        let slot = self.special(register);
        if register.ty().bits() == 64 && ty.bits() < 64 { self.narrow(slot) } else { slot }
    }

    fn wrong_type(&self, register: RegisterId, ty: Type) -> Reason {
        let register = &self.function.registers[register.index()];
        format!("register {} of type {} where type {ty} is needed", register.name, register.ty)
    }

    /// Returns a 64-bit slot with the low 32 bits of `slot`, sign- or zero-extended.
    pub(super) fn widen(&mut self, slot: RegisterSlot, signed: bool) -> RegisterSlot {
        let dst = self.temp64();
        let handlers =
            if signed { unary!(i32 => i64, |a| i64::from(a)) } else { unary!(u32 => u64, |a| u64::from(a)) };
        self.emit(handlers, Fields::new().dst(dst).a(slot));
        dst
    }

    /// Returns a 32-bit slot with the low bits of a 64-bit one.
    pub(super) fn narrow(&mut self, slot: RegisterSlot) -> RegisterSlot {
        let dst = self.temp32();
        self.emit(unary!(u64 => u32, |a| a as u32), Fields::new().dst(dst).a(slot));
        dst
    }

    /// Returns the slot of a source operand that may be wider than the type, as `ld`, `st` and
    /// `cvt` allow. The bits above the type are ignored.
    pub(super) fn source_or_wider(&mut self, operand: &Operand, ty: Type) -> Checked<RegisterSlot> {
        let Operand::Register(register) = operand else { return self.source(operand, ty) };
        let found = self.register_type(*register);
        if !wider(ty, found) {
            return Err(self.wrong_type(*register, ty));
        }
        let slot = self.register(*register);
        Ok(if found.bits() == 64 && ty.bits() < 64 { self.narrow(slot) } else { slot })
    }

    /// Returns the slot of a destination operand.
    pub(super) fn target(&mut self, operand: &Operand, ty: Type) -> Checked<RegisterSlot> {
        match operand {
            Operand::Register(register) => {
                if !agrees(ty, self.register_type(*register)) {
                    return Err(self.wrong_type(*register, ty));
                }
                Ok(self.written_register(*register))
            }
            Operand::Sink => Ok(self.scratch(ty)),
            other => Err(format!("{} where a destination of type {ty} is needed", kind_of(other))),
        }
    }

    fn written_register(&mut self, register: RegisterId) -> RegisterSlot {
        let slot = self.register(register);
        self.repeats.forget(slot);
        slot
    }

    /// Emits an instruction with a destination that may be wider than the type: `write` emits it
    /// for a slot of the type, whose value is then extended.
    pub(super) fn target_or_wider(
        &mut self,
        operand: &Operand,
        ty: Type,
        write: impl FnOnce(&mut Self, RegisterSlot),
    ) -> Checked<()> {
        let Operand::Register(register) = operand else {
            let slot = self.target(operand, ty)?;
            write(self, slot);
            return Ok(());
        };
        let found = self.register_type(*register);
        if !wider(ty, found) {
            return Err(self.wrong_type(*register, ty));
        }
        let slot = self.written_register(*register);
        let through = if found.bits() == 64 && ty.bits() < 64 { self.temp32() } else { slot };
        write(self, through);
        self.extend(ty, through, found, slot);
        Ok(())
    }

    /// Extends a value of a narrow type to a wider register.
    pub(super) fn extend(&mut self, ty: Type, from: RegisterSlot, found: Type, to: RegisterSlot) {
        let fields = Fields::new().dst(to).a(from);
        let handlers = match (ty.bits(), found.bits(), ty.is_signed()) {
            (8, 16 | 32, false) => unary!(u8 => u32, |a| a.into()),
            (8, 16 | 32, true) => unary!(i8 => i32, |a| a.into()),
            (16, 32, false) => unary!(u16 => u32, |a| a.into()),
            (16, 32, true) => unary!(i16 => i32, |a| a.into()),
            (8, 64, false) => unary!(u8 => u64, |a| a.into()),
            (8, 64, true) => unary!(i8 => i64, |a| a.into()),
            (16, 64, false) => unary!(u16 => u64, |a| a.into()),
            (16, 64, true) => unary!(i16 => i64, |a| a.into()),
            (32, 64, false) => unary!(u32 => u64, |a| a.into()),
            (32, 64, true) => unary!(i32 => i64, |a| a.into()),
            _ => return,
        };
        self.emit(handlers, fields);
    }

    /// Returns a predicate operand that is read.
    pub(super) fn predicate(&mut self, operand: &Operand) -> Checked<Predicate> {
        let (register, flip) = match operand {
            Operand::Register(register) => (*register, 0),
            Operand::Not(register) => (*register, u32::MAX),
            Operand::Immediate(Immediate::Integer { bits, .. }) => {
                let slot = self.temp_predicate();
                let imm = if *bits != 0 { u64::from(u32::MAX) } else { 0 };
                let handlers = Handlers::uniform(crate::exec::ops::predicate_constant);
                self.emit(handlers, Fields::new().dst(slot).imm(imm));
                return Ok(Predicate { slot, flip: 0 });
            }
            Operand::Special(special) if special.ty() == Type::Pred => {
                return Ok(Predicate { slot: self.special(*special), flip: 0 });
            }
            other => return Err(format!("{} where a predicate is needed", kind_of(other))),
        };
        if self.register_type(register) != Type::Pred {
            return Err(self.wrong_type(register, Type::Pred));
        }
        Ok(Predicate { slot: self.register(register), flip })
    }

    /// Returns the address of a symbol, as a 64-bit constant or relative to the frame.
    fn symbol_address(&mut self, symbol: Symbol, offset: i64) -> Checked<AddressOperand> {
        let at = |slot, offset, space| AddressOperand { slot, offset, wide: true, space, parameter: None };
        match symbol {
            Symbol::Function(id) => {
                let address = code_address(self.module.definition(id).0);
                let slot = self.constant64(address.wrapping_add_signed(offset));
                Ok(at(slot, 0, AccessSpace::Generic))
            }
            Symbol::Parameter(index) if self.function.is_entry => {
                let Some(&(start, _)) = self.shared.kernel_parameters.get(index as usize) else {
                    return Err("there is no such parameter".into());
                };
                let place = u64::from(start).wrapping_add_signed(offset);
                let slot = self.constant64(place);
                Ok(AddressOperand { parameter: Some(place), ..at(slot, 0, AccessSpace::Param) })
            }
            Symbol::Parameter(index) | Symbol::Return(index) => {
                let of_results = matches!(symbol, Symbol::Return(_));
                let list = if of_results { &self.frame.returns } else { &self.frame.parameters };
                let Some(&(start, _)) = list.get(index as usize) else {
                    return Err("there is no such parameter".into());
                };
                let base = self.local_base();
                Ok(at(base, i64::from(start) + offset, AccessSpace::Local))
            }
            Symbol::Variable(id) => {
                let variable = &self.module.variables[id.index()];
                match variable.space {
                    Space::Global | Space::Const => {
                        let Some(&address) = self.shared.outline.addresses.get(&id) else {
                            return Err(format!(
                                "variable {} is defined in no module at hand",
                                variable.name
                            ));
                        };
                        let constant = variable.space == Space::Const;
                        let space = if constant { AccessSpace::Const } else { AccessSpace::Global };
                        Ok(at(self.constant64(address.wrapping_add_signed(offset)), 0, space))
                    }
                    Space::Shared => {
                        let start = self.shared.shared_offsets.get(&id).copied().unwrap_or(0);
                        let slot = self.constant64(u64::from(start).wrapping_add_signed(offset));
                        Ok(at(slot, 0, AccessSpace::Shared))
                    }
                    Space::Local | Space::Param => {
                        let start = self.frame.variables.get(&id).copied().unwrap_or(0);
                        let base = self.local_base();
                        Ok(at(base, i64::from(start) + offset, AccessSpace::Local))
                    }
                }
            }
        }
    }

    /// Returns the address of a symbol as a value, in the symbol's own space.
    fn address_value(&mut self, symbol: Symbol, offset: i64, ty: Type) -> Checked<RegisterSlot> {
        if ty.is_float() || !matches!(ty.bits(), 32 | 64) {
            return Err(format!("an address where a value of type {ty} is needed"));
        }
        let address = self.symbol_address(symbol, offset)?;
        let mut slot = address.slot;
        if address.offset != 0 {
            let (dst, b) = (self.temp64(), self.constant64(address.offset as u64));
            let handlers = binary!((u64, u64) => u64, |a, b| a.wrapping_add(b));
            self.emit(handlers, Fields::new().dst(dst).a(slot).b(b));
            slot = dst;
        }
        Ok(if ty.bits() == 32 { self.narrow(slot) } else { slot })
    }

    /// Returns an address operand. `space` is the space that the instruction names.
    pub(super) fn address(&mut self, operand: &Operand, space: AccessSpace) -> Checked<AddressOperand> {
        let (base, offset) = match operand {
            Operand::Address { base, offset } => (*base, *offset),
            Operand::Symbol { symbol, offset } => (AddressBase::Symbol(*symbol), *offset),
            other => return Err(format!("{} where an address is needed", kind_of(other))),
        };
        match base {
            AddressBase::Register(register) => {
                let ty = self.register_type(register);
                if ty.is_float() || !matches!(ty.bits(), 32 | 64) {
                    return Err(self.wrong_type(register, Type::B64));
                }
                let (slot, wide) = (self.register(register), ty.bits() == 64);
                // Parameters of device functions are in the local memory of their frame.
                let in_frame = space == AccessSpace::Param && !self.function.is_entry;
                let space = if in_frame { AccessSpace::Local } else { space };
                Ok(AddressOperand { slot, offset, wide, space, parameter: None })
            }
            AddressBase::Zero => {
                let slot = self.constant64(offset as u64);
                Ok(AddressOperand { slot, offset: 0, wide: true, space, parameter: None })
            }
            AddressBase::Symbol(symbol) => {
                let address = self.symbol_address(symbol, offset)?;
                let is_param = symbol.space(self.module) == Some(Space::Param);
                let fits = match space {
                    // The variable tells the space of its address.
                    AccessSpace::Generic => !is_param && address.space != space,
                    AccessSpace::Param => is_param,
                    AccessSpace::Local => address.space == space && !is_param,
                    space => address.space == space,
                };
                if !fits {
                    let found = if is_param { "param" } else { address.space.word() };
                    return Err(format!("a name of {found} space in an access to {} space", space.word()));
                }
                Ok(address)
            }
        }
    }

    /// Returns an address operand with a register of 64 bits.
    pub(super) fn wide_address(&mut self, operand: &Operand, space: AccessSpace) -> Checked<AddressOperand> {
        let mut address = self.address(operand, space)?;
        if !address.wide {
            address.slot = self.widen(address.slot, false);
            address.wide = true;
        }
        Ok(address)
    }
}

/// Returns whether a register of type `register` can hold a value of type `ty` in `ld`, `st` and
/// `cvt`.
fn wider(ty: Type, register: Type) -> bool {
    if ty == Type::Pred || register == Type::Pred {
        return false;
    }
    if ty.bits() == register.bits() {
        // `ld.f32` to a `.b32` register and `ld.b32` to a `.f32` one are allowed, but no mixture of
        // integers and floats.
        return agrees(ty, register);
    }
    let register_holds = ty.is_untyped() || register.is_untyped() || !register.is_float();
    ty.bits() < register.bits() && register.bits() <= 64 && register_holds
}

/// Describes an operand for error messages.
pub(super) fn kind_of(operand: &Operand) -> &'static str {
    match operand {
        Operand::Register(_) => "a register",
        Operand::Not(_) => "a negated predicate",
        Operand::Selected { .. } => "a part of a register",
        Operand::Special(_) => "a special register",
        Operand::Immediate(_) => "a constant",
        Operand::Symbol { .. } => "a name",
        Operand::Address { .. } => "an address",
        Operand::Vector(_) => "a vector",
        Operand::Pair(_) => "a pair of destinations",
        Operand::Sink => "a sink",
        Operand::Label(_) => "a label",
        Operand::BranchTable(_) => "a table of labels",
        Operand::Call(_) => "a call",
    }
}
