//! Registers of a window, their widths, and the fields of instructions that name them.
//!
//! Only [`Window::add`] creates a [`RegisterSlot`], which knows its width. A handler is a function
//! of an [`Inst`](super::program::Inst) with typed fields: [`Reg`], [`Pred`] and [`WideReg`] are
//! registers, [`List`] is a list of registers, `u32` is a number.
//! [`Handlers`](super::level::Handlers) derives from these types how the handler [uses](Use) its
//! fields, and [`Unlinked::new`](super::program::Unlinked::new) rejects fields that disagree. So a
//! handler never sees a register of another width than the one it reads or writes.

#![expect(unsafe_code, reason = "lists of registers are stored as numbers")]

use std::fmt;
use std::marker::PhantomData;

use super::lanes::{Line, Slot};

/// The number of bits that a register has for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Width {
    /// One bit: a predicate.
    Predicate,
    /// 32 bits; narrower values are in the low bits.
    Narrow,
    /// 64 bits.
    Double,
    /// 128 bits, in two registers of 64 bits.
    Wide,
}

impl Width {
    /// Returns the width of a register for values of `bits` bits.
    pub(crate) fn of_bits(bits: u32) -> Width {
        match bits {
            0 | 1 => Width::Predicate,
            2..=32 => Width::Narrow,
            33..=64 => Width::Double,
            _ => Width::Wide,
        }
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Width::Predicate => "a predicate",
            Width::Narrow => "a register of 32 bits",
            Width::Double => "a register of 64 bits",
            Width::Wide => "a register of 128 bits",
        })
    }
}

/// A register: its offset in the window, and its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RegisterSlot {
    offset: u32,
    width: Width,
}

impl RegisterSlot {
    pub(crate) fn width(self) -> Width {
        self.width
    }

    /// Returns the register as one of slot type `S`.
    pub(crate) fn typed<S: Slot>(self) -> Result<Reg<S>, Mismatch> {
        self.expect(S::WIDTH).map(Reg::at)
    }

    /// Returns the register as a predicate.
    pub(crate) fn predicate(self) -> Result<Pred, Mismatch> {
        self.expect(Width::Predicate).map(Pred)
    }

    /// Returns the registers of the low and the high 64 bits of a register of 128 bits.
    pub(crate) fn halves(self) -> Result<[RegisterSlot; 2], Mismatch> {
        let wide = WideReg(self.expect(Width::Wide)?);
        Ok([wide.low(), wide.high()].map(|half| RegisterSlot { offset: half.offset, width: Width::Double }))
    }

    fn expect(self, wanted: Width) -> Result<u32, Mismatch> {
        if self.width == wanted {
            return Ok(self.offset);
        }
        Err(Mismatch(format!("{} where the handler takes {wanted}", self.width)))
    }
}

/// Returns registers as ones of slot type `S`.
pub(crate) fn all_typed<S: Slot>(slots: &[RegisterSlot]) -> Result<Vec<Reg<S>>, Mismatch> {
    slots.iter().map(|slot| slot.typed()).collect()
}

/// The error of fields that do not fit a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch(String);

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the translation does not fit the instruction: {}", self.0)
    }
}

impl From<Mismatch> for String {
    fn from(mismatch: Mismatch) -> String {
        mismatch.to_string()
    }
}

/// The size of a register of 32 bits, in bytes.
const LINE: u32 = size_of::<Line<u32>>() as u32;
const _: () =
    assert!(size_of::<Line<u64>>() == 2 * LINE as usize && align_of::<Line<u64>>() <= LINE as usize);

/// The layout of a function's register window.
#[derive(Debug)]
pub(crate) struct Window {
    bytes: u32,
    /// The offset of the line that new predicates go to, and the number of its bytes in use.
    predicates: (u32, u32),
}

impl Window {
    /// Creates a window without registers.
    pub(crate) fn new() -> Window {
        Window { bytes: 0, predicates: (0, LINE) }
    }

    /// Allocates a register.
    pub(crate) fn add(&mut self, width: Width) -> RegisterSlot {
        let lines = match width {
            Width::Predicate => {
                if self.predicates.1 == LINE {
                    self.predicates = (self.take(1), 0);
                }
                let offset = self.predicates.0 + self.predicates.1;
                self.predicates.1 += size_of::<u32>() as u32;
                return RegisterSlot { offset, width };
            }
            Width::Narrow => 1,
            Width::Double => 2,
            Width::Wide => 4,
        };
        RegisterSlot { offset: self.take(lines), width }
    }

    fn take(&mut self, lines: u32) -> u32 {
        let at = self.bytes;
        self.bytes += lines * LINE;
        at
    }

    /// Returns the size of the window, in bytes.
    pub(crate) fn bytes(&self) -> u32 {
        self.bytes
    }
}

/// How a handler uses a field of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// As a number, or not at all.
    Number,
    /// As a register of this width, which it reads or writes.
    Register(Width),
    /// As a list of registers of this width, which it reads or writes.
    List(Width),
}

/// The type of a field of an [`Inst`](super::program::Inst).
///
/// # Safety
/// The type is a transparent wrapper of `u32`, and `USE` says how handlers use a field of this
/// type.
pub(crate) unsafe trait FieldType: Copy {
    const USE: Use;
}

// SAFETY: the type is `u32` itself, which handlers use as a number.
unsafe impl FieldType for u32 {
    const USE: Use = Use::Number;
}

/// A register of slot type `S`, as an offset into the window.
#[repr(transparent)]
pub(crate) struct Reg<S> {
    offset: u32,
    slot: PhantomData<S>,
}

impl<S> Clone for Reg<S> {
    #[inline(always)]
    fn clone(&self) -> Reg<S> {
        *self
    }
}
impl<S> Copy for Reg<S> {}

impl<S> fmt::Debug for Reg<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reg({})", self.offset)
    }
}

impl<S> Reg<S> {
    fn at(offset: u32) -> Reg<S> {
        Reg { offset, slot: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn offset(self) -> usize {
        self.offset as usize
    }
}

// SAFETY: the type is a transparent `u32`, and handlers access a `Reg<S>` as a `Line<S>`, which
// `USE` says.
unsafe impl<S: Slot> FieldType for Reg<S> {
    const USE: Use = Use::Register(S::WIDTH);
}

/// A predicate, as an offset into the window.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Pred(u32);

impl Pred {
    #[inline(always)]
    pub(crate) fn offset(self) -> usize {
        self.0 as usize
    }
}

// SAFETY: the type is a transparent `u32`, and handlers access a `Pred` as one bit for each lane,
// which `USE` says.
unsafe impl FieldType for Pred {
    const USE: Use = Use::Register(Width::Predicate);
}

/// A register of 128 bits, as an offset into the window.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct WideReg(u32);

impl WideReg {
    /// Returns the register of the low 64 bits.
    #[inline(always)]
    pub(crate) fn low(self) -> Reg<u64> {
        Reg::at(self.0)
    }

    /// Returns the register of the high 64 bits.
    #[inline(always)]
    pub(crate) fn high(self) -> Reg<u64> {
        Reg::at(self.0 + 2 * LINE)
    }
}

// SAFETY: the type is a transparent `u32`, and handlers access the two halves, which `Window::add`
// made room for.
unsafe impl FieldType for WideReg {
    const USE: Use = Use::Register(Width::Wide);
}

/// A list of registers of slot type `S`, as an index into the program's [`Lists`].
#[repr(transparent)]
pub(crate) struct List<S> {
    start: u32,
    slot: PhantomData<S>,
}

impl<S> Clone for List<S> {
    #[inline(always)]
    fn clone(&self) -> List<S> {
        *self
    }
}
impl<S> Copy for List<S> {}

// SAFETY: the type is a transparent `u32`, and handlers access the list by `Lists::get`.
unsafe impl<S: Slot> FieldType for List<S> {
    const USE: Use = Use::List(S::WIDTH);
}

/// A list of registers of one width, in [`Lists`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisterList {
    start: u32,
    width: Width,
}

/// The lists of registers of a program. Each is stored as its length followed by the registers'
/// offsets.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    numbers: Vec<u32>,
}

impl Lists {
    /// Adds a list of registers, which must all have the width of the first.
    pub(crate) fn add(&mut self, slots: &[RegisterSlot]) -> Result<RegisterList, Mismatch> {
        let width = slots.first().map_or(Width::Narrow, |slot| slot.width);
        let start = self.numbers.len() as u32;
        let offsets = slots.iter().map(|slot| slot.expect(width)).collect::<Result<Vec<_>, _>>()?;
        self.numbers.push(offsets.len() as u32);
        self.numbers.extend(offsets);
        Ok(RegisterList { start, width })
    }

    /// Returns the registers of a list of this program.
    #[inline(always)]
    pub(crate) fn get<S: Slot>(&self, list: List<S>) -> &[Reg<S>] {
        let (count, rest) = self.numbers[list.start as usize..].split_first().unwrap_or((&0, &[]));
        let offsets = &rest[..*count as usize];
        // SAFETY: `Reg<S>` is a transparent `u32`. `add` took the offsets from registers of the
        // list's width, and `Fields::resolve` accepts only a list of that width for a `List<S>`.
        unsafe { std::slice::from_raw_parts(offsets.as_ptr().cast(), offsets.len()) }
    }
}

/// A field of an instruction under construction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Field {
    Number(u32),
    Register(RegisterSlot),
    List(RegisterList),
}

impl From<u32> for Field {
    fn from(number: u32) -> Field {
        Field::Number(number)
    }
}

impl From<RegisterSlot> for Field {
    fn from(slot: RegisterSlot) -> Field {
        Field::Register(slot)
    }
}

impl From<RegisterList> for Field {
    fn from(list: RegisterList) -> Field {
        Field::List(list)
    }
}

impl Field {
    fn as_use(self) -> Use {
        match self {
            Field::Number(_) => Use::Number,
            Field::Register(slot) => Use::Register(slot.width),
            Field::List(list) => Use::List(list.width),
        }
    }

    fn number(self) -> u32 {
        match self {
            Field::Number(number) => number,
            Field::Register(slot) => slot.offset,
            Field::List(list) => list.start,
        }
    }
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Use::Number => f.write_str("a number"),
            Use::Register(width) => write!(f, "{width}"),
            Use::List(width) => write!(f, "a list, each {width}"),
        }
    }
}

/// The number of fields of an instruction besides its constant: `dst`, `a`, `b`, `c`, `d`, `site`.
pub(crate) const FIELDS: usize = 6;

/// The fields of an instruction under construction. Unset fields are the number 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    fields: [Field; FIELDS],
    imm: u64,
}

impl Default for Fields {
    fn default() -> Fields {
        Fields { fields: [Field::Number(0); FIELDS], imm: 0 }
    }
}

macro_rules! setters {
    ($($name:ident $index:literal)*) => {$(
        pub(crate) fn $name<F: Into<Field>>(mut self, field: F) -> Fields {
            self.fields[$index] = field.into();
            self
        }
    )*};
}

impl Fields {
    /// Creates fields that are all unset.
    pub(crate) fn new() -> Fields {
        Fields::default()
    }

    setters! { dst 0 a 1 b 2 c 3 d 4 site 5 }

    /// Sets the constant.
    pub(crate) fn imm(mut self, imm: u64) -> Fields {
        self.imm = imm;
        self
    }

    /// Returns the numbers of the fields and the constant, or an error if a handler with these uses
    /// does not accept them.
    pub(crate) fn resolve(&self, uses: &[Use; FIELDS]) -> Result<([u32; FIELDS], u64), Mismatch> {
        const NAMES: [&str; FIELDS] = ["dst", "a", "b", "c", "d", "site"];
        for ((field, wanted), name) in self.fields.iter().zip(uses).zip(NAMES) {
            let found = field.as_use();
            if found != *wanted {
                return Err(Mismatch(format!("field {name} is {found}, and the handler takes {wanted}")));
            }
        }
        Ok((self.fields.map(Field::number), self.imm))
    }
}

#[cfg(test)]
mod tests {
    use super::super::level::Handlers;
    use super::super::machine::{Flow, Machine};
    use super::super::ops::{binary, compare, copying, unary};
    use super::super::program::{Inst, Unlinked};
    use super::*;

    #[test]
    fn a_window_has_room_for_each_register() {
        let mut window = Window::new();
        let widths = [Width::Predicate, Width::Narrow, Width::Wide, Width::Predicate, Width::Double];
        let offsets = widths.map(|width| window.add(width).offset);
        assert_eq!(offsets, [0, 128, 256, 4, 768]);
        assert_eq!(window.bytes(), 1024);
        let predicates: Vec<u32> = (0..33).map(|_| window.add(Width::Predicate).offset).collect();
        assert_eq!((predicates[0], predicates[29], predicates[30]), (8, 124, 1024));
    }

    #[test]
    fn handlers_know_their_registers() {
        const NUMBER: Use = Use::Number;
        let [predicate, narrow, double] = [Width::Predicate, Width::Narrow, Width::Double].map(Use::Register);
        let uses = |handlers: Handlers| *handlers.uses();
        let widen = unary!(u32 => u64, |a| a.into());
        assert_eq!(uses(widen), [double, narrow, NUMBER, NUMBER, NUMBER, NUMBER]);
        let shift = binary!((u64, u32) => u64, |a, b| a << (b & 63));
        assert_eq!(uses(shift), [double, double, narrow, NUMBER, NUMBER, NUMBER]);
        let test = compare!(f64, |a, b| a < b);
        assert_eq!(uses(test), [predicate, double, double, NUMBER, NUMBER, NUMBER]);
        unsafe fn elect(_: &mut Machine<'_>, _: &Inst<Reg<u32>, u32, WideReg, List<u64>, u32, Pred>) -> Flow {
            Flow::Next
        }
        let [wide, list] = [Use::Register(Width::Wide), Use::List(Width::Double)];
        assert_eq!(uses(Handlers::uniform(elect)), [narrow, NUMBER, wide, list, NUMBER, predicate]);
    }

    #[test]
    fn fields_of_another_width_are_refused() {
        let mut window = Window::new();
        let [narrow, double, predicate] =
            [Width::Narrow, Width::Double, Width::Predicate].map(|width| window.add(width));
        let make = |handlers, fields: Fields| Unlinked::new(handlers, fields).map(|_| ());
        let copy = const { copying::<u64>() };
        assert_eq!(make(copy, Fields::new().dst(double).a(double)), Ok(()));
        for (dst, a) in [(narrow, double), (double, narrow), (double, predicate)] {
            assert!(make(copy, Fields::new().dst(dst).a(a)).is_err(), "{dst:?} {a:?}");
        }
        let error = make(copy, Fields::new().dst(double)).map_err(String::from);
        let expected = "the translation does not fit the instruction: field a is a number, and the handler takes a \
                        register of 64 bits";
        assert_eq!(error, Err(expected.into()));
        // A register in `b`, where the handler takes a number or nothing.
        assert!(make(copy, Fields::new().dst(double).a(double).b(double)).is_err());
    }

    #[test]
    fn lists_have_one_width() {
        let mut window = Window::new();
        let [a, b] = [(); 2].map(|()| window.add(Width::Double));
        let narrow = window.add(Width::Narrow);
        let mut lists = Lists::default();
        assert!(lists.add(&[a, narrow]).is_err());
        let first = lists.add(&[narrow]);
        let second = lists.add(&[b, a]);
        let start = |list: Result<RegisterList, Mismatch>| list.map(|list| (list.start, list.width));
        assert_eq!((start(first), start(second)), (Ok((0, Width::Narrow)), Ok((2, Width::Double))));
        let list = List::<u64> { start: 2, slot: PhantomData };
        let offsets: Vec<u32> = lists.get(list).iter().map(|register| register.offset).collect();
        assert_eq!(offsets, [b.offset, a.offset]);
    }

    #[test]
    fn a_wide_register_is_two() {
        let mut window = Window::new();
        let (narrow, wide) = (window.add(Width::Narrow), window.add(Width::Wide));
        assert!(narrow.halves().is_err());
        let halves = wide.halves().map(|halves| halves.map(|half| (half.offset, half.width)));
        assert_eq!(halves, Ok([(128, Width::Double), (384, Width::Double)]));
        assert!(wide.typed::<u64>().is_err() && narrow.typed::<u32>().is_ok() && narrow.predicate().is_err());
    }
}
