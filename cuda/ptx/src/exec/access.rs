//! Loads and stores of a warp.
//!
//! Three shapes are fast: lanes in a row, as arrays are read by neighbouring threads; lanes at one address;
//! and any addresses inside one allocation. All are checked for the whole warp at once, against the memory
//! the instruction accessed last ([`Site`](super::machine::Site)). Whatever fails that check, and every
//! access of an instrumented launch, goes lane by lane through [`Machine::locate`], which knows what is
//! wrong.
//!
//! Loads by one register with different offsets follow each other in most inner loops. The first of them
//! keeps how the addresses lie, so that the others have two of them to check instead of 32.

#![expect(unsafe_code, reason = "reads and writes checked addresses")]

use std::marker::PhantomData;

use super::address::{AccessSpace, space_of};
use super::instrument::AccessKind;
use super::lanes::{FULL, LANES, Line, Slot, lanes};
use super::level::{Handlers, handlers};
use super::locate::Request;
use super::machine::{Flow, Machine, Site};
use super::program::Inst;
use super::raw::{self, Word};
use super::survey::{HALF, Layout, Pattern, Surveyed};

/// A type in memory, and how it lies in a register.
pub(crate) trait Cell {
    type Word: Word;
    type Slot: Slot;
    const BYTES: u64 = size_of::<Self::Word>() as u64;
    /// The register that holds the word.
    fn widen(word: Self::Word) -> Self::Slot;
    /// The word in a register.
    fn narrow(slot: Self::Slot) -> Self::Word;
}

macro_rules! cells {
    ($($(#[$meta:meta])* $name:ident, $word:ty, $slot:ty, |$w:ident| $widen:expr;)*) => {$(
        $(#[$meta])*
        pub(crate) struct $name;
        impl Cell for $name {
            type Word = $word;
            type Slot = $slot;
            #[inline(always)]
            fn widen($w: $word) -> $slot {
                $widen
            }
            #[inline(always)]
            fn narrow(slot: $slot) -> $word {
                slot as $word
            }
        }
    )*};
}
cells! {
    /// An unsigned byte in a 32-bit register.
    CellU8, u8, u32, |w| w.into();
    /// A signed byte.
    CellS8, u8, u32, |w| w as i8 as u32;
    /// An unsigned half-word.
    CellU16, u16, u32, |w| w.into();
    /// A signed half-word.
    CellS16, u16, u32, |w| w as i16 as u32;
    /// A word.
    Cell32, u32, u32, |w| w;
    /// A double word.
    Cell64, u64, u64, |w| w;
}

/// Where an instruction accesses memory.
pub(crate) trait Region {
    /// The register that holds addresses.
    type Address: Surveyed;
    /// Whether each lane has its own bytes.
    const LOCAL: bool = false;
    /// Whether other threads of ours may access the bytes, so that updates must be atomic.
    const CONCURRENT: bool = false;
    /// The memory that accesses are probably in.
    fn view(m: &Machine<'_>, i: &Inst) -> Site;
}

/// Global, constant, or generic addresses.
pub(crate) struct Anywhere;
/// Shared memory by 32-bit addresses.
pub(crate) struct Shared32;
/// Shared memory by 64-bit addresses.
pub(crate) struct Shared64;
/// Local memory.
pub(crate) struct Local;

impl Region for Anywhere {
    type Address = u64;
    const CONCURRENT: bool = true;
    #[inline(always)]
    fn view(m: &Machine<'_>, i: &Inst) -> Site {
        m.sites[i.site as usize]
    }
}
impl Region for Shared32 {
    type Address = u32;
    #[inline(always)]
    fn view(m: &Machine<'_>, _: &Inst) -> Site {
        m.shared
    }
}
impl Region for Shared64 {
    type Address = u64;
    #[inline(always)]
    fn view(m: &Machine<'_>, _: &Inst) -> Site {
        m.shared
    }
}
impl Region for Local {
    type Address = u64;
    const LOCAL: bool = true;
    #[inline(always)]
    fn view(m: &Machine<'_>, _: &Inst) -> Site {
        Site { base: 0, bytes: m.local_stride, pointer: m.local }
    }
}

/// How many registers of addresses are remembered at a time.
pub(crate) const LAYOUTS: usize = 8;

/// A cell and a region: what a load or a store is compiled for.
pub(crate) trait Shape {
    type Cell: Cell;
    type Region: Region;
}
impl<C: Cell, R: Region> Shape for PhantomData<(C, R)> {
    type Cell = C;
    type Region = R;
}

type Address<O> = <<O as Shape>::Region as Region>::Address;
type WordOf<O> = <<O as Shape>::Cell as Cell>::Word;
type SlotOf<O> = <<O as Shape>::Cell as Cell>::Slot;

/// The addresses of a warp's access, all in bounds and aligned.
struct Offsets<S> {
    /// Relative to the view.
    of: Line<S>,
    pointer: *mut u8,
    /// Bytes between the memory of two lanes; 0 if it is the same.
    lane_stride: usize,
}

impl<S: Slot> Offsets<S> {
    /// The pointer to a lane's bytes.
    ///
    /// # Safety
    /// The lane is active.
    #[inline(always)]
    unsafe fn pointer(&self, lane: usize) -> *mut u8 {
        // SAFETY: the offset of an active lane is in bounds of the view.
        unsafe { self.pointer.add(self.of.0[lane].extend() as usize + lane * self.lane_stride) }
    }
}

/// The addresses of an access of `bytes` bytes a lane, a power of two, if all are inside the view.
#[inline(always)]
unsafe fn offsets<O: Shape>(m: &Machine<'_>, i: &Inst, bytes: u64) -> Option<Offsets<Address<O>>> {
    let view = O::Region::view(m, i);
    // A view that begins at an odd address would need the addresses themselves for the alignment.
    if view.bytes < bytes || view.base & (bytes - 1) != 0 {
        return None;
    }
    // SAFETY: `a` is a register of this type, as the translation checked.
    let address = unsafe { m.line::<Address<O>>(i.a) };
    let shift = Address::<O>::truncate(i.imm.wrapping_sub(view.base));
    // SAFETY: as above.
    let of = Line::from_fn(|lane| unsafe { (*address).0[lane] }.plus(shift));
    // In memory from here on: single lanes are looked at, for which the compiler would take the vectors
    // apart.
    let of = *std::hint::black_box(&of);
    let lane_stride = if O::Region::LOCAL { m.local_stride as usize } else { 0 };
    let offsets = Offsets { of, pointer: view.pointer, lane_stride };
    let last = Address::<O>::truncate(view.bytes - bytes);
    let odd = Address::<O>::truncate(bytes - 1);
    let zero = Address::<O>::default();
    if m.mask == FULL {
        let (low, high) = Address::<O>::extremes(&of, last);
        // An offset above `last` makes the difference negative; one of 2^31 or more (2^63) is above it
        // itself.
        return (low & odd == zero && !high.is_negative()).then_some(offsets);
    }
    let mut outside = 0;
    let mut lane = 0;
    while lane < LANES {
        let bad = of.0[lane] > last || of.0[lane] & odd != zero;
        outside |= u32::from(bad) << lane;
        lane += 1;
    }
    (outside & m.mask == 0).then_some(offsets)
}

/// Where the first lane of each half accesses memory, if no lane's addresses are scattered and all are inside the view.
#[inline(always)]
fn places<O: Shape>(m: &Machine<'_>, i: &Inst, layout: &Layout) -> Option<[*mut u8; 2]> {
    let (view, bytes) = (O::Region::view(m, i), O::Cell::BYTES);
    if view.bytes < bytes || view.base & (bytes - 1) != 0 {
        return None;
    }
    let last = view.bytes - bytes;
    let mut places = [view.pointer; 2];
    for (half, place) in places.iter_mut().enumerate() {
        let shifted = layout.first[half].wrapping_add(i.imm.wrapping_sub(view.base));
        let offset = Address::<O>::truncate(shifted).extend();
        let span = match layout.patterns[half] {
            Pattern::Row => (HALF as u64 - 1) * bytes,
            Pattern::Uniform => 0,
            Pattern::Scattered => return None,
        };
        if offset & (bytes - 1) != 0 || last.checked_sub(offset).is_none_or(|room| room < span) {
            return None;
        }
        *place = place.wrapping_add(offset as usize);
    }
    Some(places)
}

/// The layout of an instruction's addresses, if all lanes are active and share the memory.
#[inline(always)]
unsafe fn layout<O: Shape>(m: &Machine<'_>, i: &Inst) -> Layout {
    if m.mask != FULL || O::Region::LOCAL {
        return Layout::UNKNOWN;
    }
    // SAFETY: `a` is a register of this type, as the translation checked.
    Layout::of(unsafe { &*m.line::<Address<O>>(i.a) }, O::Cell::BYTES)
}

/// Loads for all lanes from rows or single places.
///
/// # Safety
/// [`places`] gave the places for this layout.
#[inline(always)]
unsafe fn load_places<O: Shape>(m: &mut Machine<'_>, i: &Inst, layout: &Layout, places: [*mut u8; 2]) {
    // SAFETY: `places` checked the range of each half; registers are as the translation checked.
    unsafe {
        let to = m.line::<SlotOf<O>>(i.dst);
        for (half, place) in places.into_iter().enumerate() {
            let start = half * HALF;
            if layout.patterns[half] == Pattern::Row {
                let mut words = [WordOf::<O>::default(); HALF];
                raw::load_row(place, words.as_mut_ptr().cast(), size_of_val(&words));
                for (lane, word) in (start..).zip(words) {
                    (*to).0[lane] = O::Cell::widen(word);
                }
            } else {
                let value = O::Cell::widen(WordOf::<O>::load(place));
                for lane in 0..HALF {
                    (*to).0[start + lane] = value;
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn load_fast<O: Shape, const FMA: bool>(m: &mut Machine<'_>, i: &Inst) -> Flow {
    // SAFETY: `places` and `offsets` checked the lanes' addresses; registers are as the translation checked.
    unsafe {
        let layout = layout::<O>(m, i);
        if let Some(places) = places::<O>(m, i, &layout) {
            load_places::<O>(m, i, &layout, places);
            return Flow::Next;
        }
        let Some(offsets) = offsets::<O>(m, i, O::Cell::BYTES) else { return load_slow::<O>(m, i) };
        let to = m.line::<SlotOf<O>>(i.dst);
        if m.mask != FULL {
            for lane in lanes(m.mask) {
                (*to).0[lane] = O::Cell::widen(WordOf::<O>::load(offsets.pointer(lane)));
            }
            return Flow::Next;
        }
        for lane in 0..LANES {
            (*to).0[lane] = O::Cell::widen(WordOf::<O>::load(offsets.pointer(lane)));
        }
    }
    Flow::Next
}
handlers!(load_handlers, load_fast, Shape);

/// A load that keeps the layout of its addresses for loads behind it.
#[inline(always)]
unsafe fn load_keeping_fast<O: Shape, const FMA: bool>(m: &mut Machine<'_>, i: &Inst) -> Flow {
    // SAFETY: as for `load_fast`.
    unsafe {
        let layout = layout::<O>(m, i);
        m.layouts[i.c as usize % LAYOUTS] = layout;
        match places::<O>(m, i, &layout) {
            Some(places) => load_places::<O>(m, i, &layout, places),
            None => return load_fast::<O, FMA>(m, i),
        }
    }
    Flow::Next
}
handlers!(load_keeping_handlers, load_keeping_fast, Shape);

/// A load whose addresses an earlier one has looked at.
#[inline(always)]
unsafe fn load_again_fast<O: Shape, const FMA: bool>(m: &mut Machine<'_>, i: &Inst) -> Flow {
    // SAFETY: as for `load_fast`; the register has not been written since, and the same lanes are active, as the
    // translation made sure.
    unsafe {
        let layout = m.layouts[i.c as usize % LAYOUTS];
        match places::<O>(m, i, &layout) {
            Some(places) => load_places::<O>(m, i, &layout, places),
            None => return load_fast::<O, FMA>(m, i),
        }
    }
    Flow::Next
}
handlers!(load_again_handlers, load_again_fast, Shape);

#[inline(always)]
unsafe fn store_fast<O: Shape, const FMA: bool>(m: &mut Machine<'_>, i: &Inst) -> Flow {
    // SAFETY: `places` and `offsets` checked the lanes' addresses; registers are as the translation checked.
    unsafe {
        let value = m.line::<SlotOf<O>>(i.b);
        let layout = layout::<O>(m, i);
        if layout.patterns == [Pattern::Row; 2]
            && let Some(places) = places::<O>(m, i, &layout)
        {
            for (half, place) in places.into_iter().enumerate() {
                let mut words = [WordOf::<O>::default(); HALF];
                for (lane, word) in (half * HALF..).zip(&mut words) {
                    *word = O::Cell::narrow((*value).0[lane]);
                }
                raw::store_row(words.as_ptr().cast(), place, size_of_val(&words));
            }
            return Flow::Next;
        }
        let Some(offsets) = offsets::<O>(m, i, O::Cell::BYTES) else { return store_slow::<O>(m, i) };
        for lane in lanes(m.mask) {
            WordOf::<O>::store(offsets.pointer(lane), O::Cell::narrow((*value).0[lane]));
        }
    }
    Flow::Next
}
handlers!(store_handlers, store_fast, Shape);

/// Components of a vector at most.
const COMPONENTS_MAX: usize = 8;

/// The components of a vector access, from `d`.
fn components(i: &Inst) -> usize {
    (i.d >> 8 & 0xff) as usize
}

#[inline(always)]
unsafe fn load_vector_fast<O: Shape, const FMA: bool>(m: &mut Machine<'_>, i: &Inst) -> Flow {
    let count = components(i);
    // SAFETY: `offsets` checked the lanes' addresses; registers are as the translation checked.
    unsafe {
        let bytes = O::Cell::BYTES * count as u64;
        let Some(offsets) = offsets::<O>(m, i, bytes) else { return load_vector_slow::<O>(m, i) };
        for component in 0..count {
            let to = m.line::<SlotOf<O>>(m.operands(i.c, count)[component]);
            let load =
                |lane| WordOf::<O>::load(offsets.pointer(lane).add(component * O::Cell::BYTES as usize));
            if m.mask == FULL {
                for lane in 0..LANES {
                    (*to).0[lane] = O::Cell::widen(load(lane));
                }
            } else {
                for lane in lanes(m.mask) {
                    (*to).0[lane] = O::Cell::widen(load(lane));
                }
            }
        }
    }
    Flow::Next
}
handlers!(load_vector_handlers, load_vector_fast, Shape);

#[inline(always)]
unsafe fn store_vector_fast<O: Shape, const FMA: bool>(m: &mut Machine<'_>, i: &Inst) -> Flow {
    let count = components(i);
    // SAFETY: `offsets` checked the lanes' addresses; registers are as the translation checked.
    unsafe {
        let bytes = O::Cell::BYTES * count as u64;
        let Some(offsets) = offsets::<O>(m, i, bytes) else { return store_vector_slow::<O>(m, i) };
        for component in 0..count {
            let value = m.line::<SlotOf<O>>(m.operands(i.c, count)[component]);
            for lane in lanes(m.mask) {
                let to = offsets.pointer(lane).add(component * O::Cell::BYTES as usize);
                WordOf::<O>::store(to, O::Cell::narrow((*value).0[lane]));
            }
        }
    }
    Flow::Next
}
handlers!(store_vector_handlers, store_vector_fast, Shape);

/// A lane's access, to be looked up.
#[inline(always)]
pub(crate) unsafe fn request<S: Slot>(
    m: &Machine<'_>,
    i: &Inst,
    bytes: u64,
    kind: AccessKind,
    lane: usize,
) -> Request {
    // SAFETY: `a` is a register of this type, as the translation checked.
    let address = unsafe { (*m.line::<S>(i.a)).0[lane] }.plus(S::truncate(i.imm)).extend();
    Request { address, bytes, space: AccessSpace::from_number(i.d as u8), kind, lane, site: i.site }
}

#[cold]
#[inline(never)]
unsafe fn load_slow<O: Shape>(m: &mut Machine<'_>, i: &Inst) -> Flow {
    // SAFETY: `locate` checked the address; registers are as the translation checked.
    unsafe {
        let mut result = m.read::<SlotOf<O>>(i.dst);
        for lane in lanes(m.mask) {
            let request = request::<Address<O>>(m, i, O::Cell::BYTES, AccessKind::Read, lane);
            match m.locate(&request) {
                Ok(pointer) => result.0[lane] = O::Cell::widen(WordOf::<O>::load(pointer)),
                Err(trap) => return m.fail(trap),
            }
        }
        *m.line(i.dst) = result;
    }
    Flow::Next
}

#[cold]
#[inline(never)]
unsafe fn store_slow<O: Shape>(m: &mut Machine<'_>, i: &Inst) -> Flow {
    // SAFETY: `locate` checked the address; registers are as the translation checked.
    unsafe {
        for lane in lanes(m.mask) {
            let request = request::<Address<O>>(m, i, O::Cell::BYTES, AccessKind::Write, lane);
            let value = (*m.line::<SlotOf<O>>(i.b)).0[lane];
            match m.locate(&request) {
                Ok(pointer) => WordOf::<O>::store(pointer, O::Cell::narrow(value)),
                Err(trap) => return m.fail(trap),
            }
        }
    }
    Flow::Next
}

#[cold]
#[inline(never)]
unsafe fn load_vector_slow<O: Shape>(m: &mut Machine<'_>, i: &Inst) -> Flow {
    let count = components(i);
    // SAFETY: `locate` checked the address; registers are as the translation checked.
    unsafe {
        // One of the destinations may hold the addresses, so that all is read first.
        let mut words = [[WordOf::<O>::default(); LANES]; COMPONENTS_MAX];
        for lane in lanes(m.mask) {
            let bytes = O::Cell::BYTES * count as u64;
            let request = request::<Address<O>>(m, i, bytes, AccessKind::Read, lane);
            let from = match m.locate(&request) {
                Ok(pointer) => pointer,
                Err(trap) => return m.fail(trap),
            };
            for (component, words) in words.iter_mut().enumerate().take(count) {
                words[lane] = WordOf::<O>::load(from.add(component * O::Cell::BYTES as usize));
            }
        }
        for (component, words) in words.iter().enumerate().take(count) {
            let to = m.line::<SlotOf<O>>(m.operands(i.c, count)[component]);
            for lane in lanes(m.mask) {
                (*to).0[lane] = O::Cell::widen(words[lane]);
            }
        }
    }
    Flow::Next
}

#[cold]
#[inline(never)]
unsafe fn store_vector_slow<O: Shape>(m: &mut Machine<'_>, i: &Inst) -> Flow {
    let count = components(i);
    // SAFETY: `locate` checked the address; registers are as the translation checked.
    unsafe {
        for lane in lanes(m.mask) {
            let bytes = O::Cell::BYTES * count as u64;
            let request = request::<Address<O>>(m, i, bytes, AccessKind::Write, lane);
            let pointer = match m.locate(&request) {
                Ok(pointer) => pointer,
                Err(trap) => return m.fail(trap),
            };
            for component in 0..count {
                let value = (*m.line::<SlotOf<O>>(m.operands(i.c, count)[component])).0[lane];
                WordOf::<O>::store(pointer.add(component * O::Cell::BYTES as usize), O::Cell::narrow(value));
            }
        }
    }
    Flow::Next
}

/// An instrumented copy looks every lane up.
macro_rules! with_slow {
    ($(#[$meta:meta])* $name:ident, $fast:ident, $slow:ident) => {
        $(#[$meta])*
        pub(crate) const fn $name<C: Cell, R: Region>() -> Handlers {
            let instrumented = [$slow::<PhantomData<(C, R)>>; 3];
            Handlers { plain: $fast::<PhantomData<(C, R)>>().plain, instrumented: [instrumented[0]; 3] }
        }
    };
}
with_slow!(
    /// `ld`: `a` is the address, `imm` added to it, `dst` the destination, `d` the [`AccessSpace`].
    load, load_handlers, load_slow
);
with_slow!(
    /// As [`load`], keeping how the addresses lie at `c` of [`Machine::layouts`].
    load_keeping, load_keeping_handlers, load_slow
);
with_slow!(
    /// As [`load`], by what [`load_keeping`] found at `c` of [`Machine::layouts`] for the same addresses.
    load_again, load_again_handlers, load_slow
);
with_slow!(
    /// `st`: as `ld`, with the value in `b`.
    store, store_handlers, store_slow
);
with_slow!(
    /// `ld.v2`, `ld.v4`: as `ld`, with the destinations in the operand list at `c`, their count in the
    /// second byte of `d`.
    load_vector, load_vector_handlers, load_vector_slow
);
with_slow!(
    /// `st.v2`, `st.v4`: as `ld.v2`, with the values in the operand list.
    store_vector, store_vector_handlers, store_vector_slow
);

/// `ld.param` of a kernel at a fixed offset `imm`: the same value in each lane.
pub(crate) unsafe fn load_param<C: Cell>(m: &mut Machine<'_>, i: &Inst) -> Flow {
    // SAFETY: the translation checked that the access is inside the parameters and aligned.
    unsafe {
        let word = C::Word::load(m.params.pointer.add(i.imm as usize));
        m.write(i.dst, &Line::splat(C::widen(word)));
    }
    Flow::Next
}

/// `fence`, `membar`.
pub(crate) unsafe fn fence(_: &mut Machine<'_>, _: &Inst) -> Flow {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    Flow::Next
}

/// After a load that programs may wait with.
pub(crate) unsafe fn watch(m: &mut Machine<'_>, _: &Inst) -> Flow {
    m.poll();
    Flow::Next
}

/// `isspacep.global`, and `isspacep.const` if `imm` is 1, as constants lie among global memory: `a` is the address, `dst` the
/// predicate.
pub(crate) unsafe fn is_space(m: &mut Machine<'_>, i: &Inst) -> Flow {
    // SAFETY: `a` is a register of 64 bits, as the translation checked.
    let addresses = unsafe { m.read::<u64>(i.a) };
    let is_constant = |address| m.table.find(address).is_some_and(|allocation| allocation.read_only);
    let holds =
        |address: u64| space_of(address) == AccessSpace::Global && is_constant(address) == (i.imm == 1);
    let result =
        lanes(m.mask).filter(|&lane| holds(addresses.0[lane])).fold(0, |bits, lane| bits | 1 << lane);
    // SAFETY: `dst` is a predicate, as the translation checked.
    unsafe { m.write_predicate(i.dst, result) };
    Flow::Next
}
