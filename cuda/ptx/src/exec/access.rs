//! Loads and stores of a warp.
//!
//! Three shapes of addresses are fast: consecutive ones, one address for all lanes, and any
//! addresses inside one allocation. They are checked for the whole warp at once, against the memory
//! that the instruction accessed last ([`Site`](super::machine::Site)). An access that fails this
//! check, and every access of an instrumented launch, goes lane by lane through
//! [`Machine::locate`], which also reports errors.
//!
//! Most inner loops contain several loads through one register with different offsets. The first of
//! these records the layout of the addresses, so the others check two addresses instead of 32.

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
use super::slots::{List, Pred, Reg};
use super::survey::{HALF, Layout, Pattern, Surveyed};

/// A type in memory, and its encoding in a register.
pub(crate) trait Cell {
    type Word: Word;
    type Slot: Slot;
    const BYTES: u64 = size_of::<Self::Word>() as u64;
    /// Returns the register value for a word.
    fn widen(word: Self::Word) -> Self::Slot;
    /// Returns the word that a register holds.
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
    /// An unsigned byte.
    CellU8, u8, u32, |w| w.into();
    /// A signed byte.
    CellS8, u8, u32, |w| w as i8 as u32;
    /// An unsigned half-word.
    CellU16, u16, u32, |w| w.into();
    /// A signed half-word.
    CellS16, u16, u32, |w| w as i16 as u32;
    /// A 32-bit word.
    Cell32, u32, u32, |w| w;
    /// A 64-bit word.
    Cell64, u64, u64, |w| w;
}

/// The memory that an instruction accesses.
pub(crate) trait Region {
    /// The type of the register that holds addresses.
    type Address: Surveyed;
    /// Whether each lane has its own memory.
    const LOCAL: bool = false;
    /// Whether other host threads may access the memory, so that updates must be atomic.
    const CONCURRENT: bool = false;
    /// Returns the memory that the instruction most likely accesses.
    fn view(m: &Machine<'_>, site: u32) -> Site;
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
    fn view(m: &Machine<'_>, site: u32) -> Site {
        m.sites[site as usize]
    }
}
impl Region for Shared32 {
    type Address = u32;
    #[inline(always)]
    fn view(m: &Machine<'_>, _: u32) -> Site {
        m.shared
    }
}
impl Region for Shared64 {
    type Address = u64;
    #[inline(always)]
    fn view(m: &Machine<'_>, _: u32) -> Site {
        m.shared
    }
}
impl Region for Local {
    type Address = u64;
    const LOCAL: bool = true;
    #[inline(always)]
    fn view(m: &Machine<'_>, _: u32) -> Site {
        Site { base: 0, bytes: m.local_stride, pointer: m.local }
    }
}

/// The number of registers whose layouts are recorded at a time.
pub(crate) const LAYOUTS: usize = 8;

/// A cell and a region: the parameters that a load or a store is compiled for.
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

/// An instruction with an address.
type At<O, Dst, B, C> = Inst<Dst, Reg<Address<O>>, B, C>;
type Load<O> = At<O, Reg<SlotOf<O>>, u32, u32>;
type Store<O> = At<O, u32, Reg<SlotOf<O>>, u32>;
/// A load or a store of a vector.
type Vector<O> = At<O, u32, u32, List<SlotOf<O>>>;

/// The offsets of a warp's access within a view, all in bounds and aligned.
struct Offsets<S> {
    /// The offset of each lane, relative to the view.
    of: Line<S>,
    pointer: *mut u8,
    /// The distance in bytes between the memory of two lanes; 0 if they share it.
    lane_stride: usize,
}

impl<S: Slot> Offsets<S> {
    /// Returns the pointer to a lane's bytes.
    ///
    /// # Safety
    /// The lane is active, and [`offsets`] returned `self` for the instruction that runs.
    #[inline(always)]
    unsafe fn pointer(&self, lane: usize) -> *mut u8 {
        // SAFETY: `offsets` compared the offset of each active lane with the size of the view. The
        // machine, or its table of allocations, keeps the view's memory alive.
        unsafe { self.pointer.add(self.of.0[lane].extend() as usize + lane * self.lane_stride) }
    }
}

/// Returns the offsets of an access if all are inside the view. Each lane accesses `bytes` bytes, a
/// power of two.
///
/// # Safety
/// The instruction's registers are of the current window.
#[inline(always)]
unsafe fn offsets<O: Shape, Dst, B, C>(
    m: &Machine<'_>,
    i: &At<O, Dst, B, C>,
    bytes: u64,
) -> Option<Offsets<Address<O>>> {
    let view = O::Region::view(m, i.site);
    // If the view itself is misaligned, the offsets do not tell the alignment of the addresses.
    if view.bytes < bytes || view.base & (bytes - 1) != 0 {
        return None;
    }
    // SAFETY: `a` is a register of the current window, see `Handler`.
    let address = unsafe { m.line(i.a) };
    let shift = Address::<O>::truncate(i.imm.wrapping_sub(view.base));
    // SAFETY: the register is inside the window, and nothing writes it during the loop.
    let of = Line::from_fn(|lane| unsafe { (*address).0[lane] }.plus(shift));
    // Keeps vectors whole: the compiler would take them apart for the lanes read below.
    let of = *std::hint::black_box(&of);
    let lane_stride = if O::Region::LOCAL { m.local_stride as usize } else { 0 };
    let offsets = Offsets { of, pointer: view.pointer, lane_stride };
    let last = Address::<O>::truncate(view.bytes - bytes);
    let odd = Address::<O>::truncate(bytes - 1);
    let zero = Address::<O>::default();
    if m.mask == FULL {
        let (low, high) = Address::<O>::extremes(&of, last);
        // If an offset is above `last`, their difference is negative. An offset of 2^31 (or 2^63)
        // or more is negative itself.
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

/// Returns the pointers to the first lane's bytes of each half, if no half is scattered and all
/// bytes are inside the view.
#[inline(always)]
fn places<O: Shape, Dst, B, C>(
    m: &Machine<'_>,
    i: &At<O, Dst, B, C>,
    layout: &Layout,
) -> Option<[*mut u8; 2]> {
    let (view, bytes) = (O::Region::view(m, i.site), O::Cell::BYTES);
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

/// Returns the layout of an instruction's addresses, or [`Layout::UNKNOWN`] if lanes are inactive
/// or do not share the memory.
///
/// # Safety
/// The instruction's registers are of the current window.
#[inline(always)]
unsafe fn layout<O: Shape, Dst, B, C>(m: &Machine<'_>, i: &At<O, Dst, B, C>) -> Layout {
    if m.mask != FULL || O::Region::LOCAL {
        return Layout::UNKNOWN;
    }
    // SAFETY: `a` is a register of the current window, see `Handler`, and nothing writes it during
    // the call.
    Layout::of(unsafe { &*m.line(i.a) }, O::Cell::BYTES)
}

/// Loads for all lanes, for each half from a row or from a single place.
///
/// # Safety
/// [`places`] returned `places` for this layout, and the instruction's registers are of the current
/// window.
#[inline(always)]
unsafe fn load_places<O: Shape>(m: &mut Machine<'_>, i: &Load<O>, layout: &Layout, places: [*mut u8; 2]) {
    // SAFETY: `places` checked the range of each half; `dst` is a register of the current window,
    // see `Handler`.
    unsafe {
        let to = m.line(i.dst);
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
unsafe fn load_fast<O: Shape, const FMA: bool>(m: &mut Machine<'_>, i: &Load<O>) -> Flow {
    // SAFETY: `places` and `offsets` checked the lanes' addresses; registers are those of the
    // current window, see `Handler`.
    unsafe {
        let layout = layout::<O, _, _, _>(m, i);
        if let Some(places) = places::<O, _, _, _>(m, i, &layout) {
            load_places::<O>(m, i, &layout, places);
            return Flow::Next;
        }
        let Some(offsets) = offsets::<O, _, _, _>(m, i, O::Cell::BYTES) else { return load_slow::<O>(m, i) };
        let to = m.line(i.dst);
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
handlers!(load_handlers, load_fast, Shape, Load<O>, instrumented: load_slow::<O>);

/// Loads, and records the layout of the addresses for the loads after it.
#[inline(always)]
unsafe fn load_and_record_fast<O: Shape, const FMA: bool>(m: &mut Machine<'_>, i: &Load<O>) -> Flow {
    // SAFETY: `places` checked the lanes' addresses, `load_fast` checks them itself; registers are
    // those of the current window, see `Handler`.
    unsafe {
        let layout = layout::<O, _, _, _>(m, i);
        m.layouts[i.c as usize % LAYOUTS] = layout;
        match places::<O, _, _, _>(m, i, &layout) {
            Some(places) => load_places::<O>(m, i, &layout, places),
            None => return load_fast::<O, FMA>(m, i),
        }
    }
    Flow::Next
}
handlers!(load_and_record_handlers, load_and_record_fast, Shape, Load<O>, instrumented: load_slow::<O>);

/// Loads through addresses whose layout an earlier load has recorded.
#[inline(always)]
unsafe fn load_recorded_fast<O: Shape, const FMA: bool>(m: &mut Machine<'_>, i: &Load<O>) -> Flow {
    // SAFETY: `places` checked the addresses that the layout describes, `load_fast` checks them
    // itself; registers are those of the current window, see `Handler`. A layout of other addresses
    // would load wrong values, but from inside the view. `code::repeat` ensures that the register
    // is not written between the loads and that the same lanes are active.
    unsafe {
        let layout = m.layouts[i.c as usize % LAYOUTS];
        match places::<O, _, _, _>(m, i, &layout) {
            Some(places) => load_places::<O>(m, i, &layout, places),
            None => return load_fast::<O, FMA>(m, i),
        }
    }
    Flow::Next
}
handlers!(load_recorded_handlers, load_recorded_fast, Shape, Load<O>, instrumented: load_slow::<O>);

#[inline(always)]
unsafe fn store_fast<O: Shape, const FMA: bool>(m: &mut Machine<'_>, i: &Store<O>) -> Flow {
    // SAFETY: `places` and `offsets` checked the lanes' addresses; registers are those of the
    // current window, see `Handler`.
    unsafe {
        let value = m.line(i.b);
        let layout = layout::<O, _, _, _>(m, i);
        if layout.patterns == [Pattern::Row; 2]
            && let Some(places) = places::<O, _, _, _>(m, i, &layout)
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
        let Some(offsets) = offsets::<O, _, _, _>(m, i, O::Cell::BYTES) else { return store_slow::<O>(m, i) };
        for lane in lanes(m.mask) {
            WordOf::<O>::store(offsets.pointer(lane), O::Cell::narrow((*value).0[lane]));
        }
    }
    Flow::Next
}
handlers!(store_handlers, store_fast, Shape, Store<O>, instrumented: store_slow::<O>);

/// The greatest number of components of a vector.
const MAX_COMPONENTS: usize = 8;

#[inline(always)]
unsafe fn load_vector_fast<O: Shape, const FMA: bool>(m: &mut Machine<'_>, i: &Vector<O>) -> Flow {
    let parts = m.launch.program.lists.get(i.c);
    let count = parts.len();
    // SAFETY: `offsets` checked the lanes' addresses; registers are those of the current window,
    // see `Handler`.
    unsafe {
        let bytes = O::Cell::BYTES * count as u64;
        let Some(offsets) = offsets::<O, _, _, _>(m, i, bytes) else { return load_vector_slow::<O>(m, i) };
        for (component, &part) in parts.iter().enumerate() {
            let to = m.line(part);
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
handlers!(load_vector_handlers, load_vector_fast, Shape, Vector<O>, instrumented: load_vector_slow::<O>);

#[inline(always)]
unsafe fn store_vector_fast<O: Shape, const FMA: bool>(m: &mut Machine<'_>, i: &Vector<O>) -> Flow {
    let parts = m.launch.program.lists.get(i.c);
    let count = parts.len();
    // SAFETY: `offsets` checked the lanes' addresses; registers are those of the current window,
    // see `Handler`.
    unsafe {
        let bytes = O::Cell::BYTES * count as u64;
        let Some(offsets) = offsets::<O, _, _, _>(m, i, bytes) else { return store_vector_slow::<O>(m, i) };
        for (component, &part) in parts.iter().enumerate() {
            let value = m.line(part);
            for lane in lanes(m.mask) {
                let to = offsets.pointer(lane).add(component * O::Cell::BYTES as usize);
                WordOf::<O>::store(to, O::Cell::narrow((*value).0[lane]));
            }
        }
    }
    Flow::Next
}
handlers!(store_vector_handlers, store_vector_fast, Shape, Vector<O>, instrumented: store_vector_slow::<O>);

/// Returns the request to look up a lane's access.
///
/// # Safety
/// The instruction's registers are of the current window.
#[inline(always)]
unsafe fn request<S: Slot, Dst, B, C>(
    m: &Machine<'_>,
    i: &Inst<Dst, Reg<S>, B, C>,
    bytes: u64,
    kind: AccessKind,
    lane: usize,
) -> Request {
    // SAFETY: `a` is a register of the current window, see `Handler`.
    let address = unsafe { (*m.line(i.a)).0[lane] }.plus(S::truncate(i.imm)).extend();
    Request { address, bytes, space: AccessSpace::from_number(i.d as u8), kind, lane, site: i.site }
}

#[cold]
#[inline(never)]
unsafe fn load_slow<O: Shape>(m: &mut Machine<'_>, i: &Load<O>) -> Flow {
    // SAFETY: `locate` checked the address; registers are those of the current window, see
    // `Handler`.
    unsafe {
        let mut result = m.read(i.dst);
        for lane in lanes(m.mask) {
            let request = request(m, i, O::Cell::BYTES, AccessKind::Read, lane);
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
unsafe fn store_slow<O: Shape>(m: &mut Machine<'_>, i: &Store<O>) -> Flow {
    // SAFETY: `locate` checked the address; registers are those of the current window, see
    // `Handler`.
    unsafe {
        for lane in lanes(m.mask) {
            let request = request(m, i, O::Cell::BYTES, AccessKind::Write, lane);
            let value = (*m.line(i.b)).0[lane];
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
unsafe fn load_vector_slow<O: Shape>(m: &mut Machine<'_>, i: &Vector<O>) -> Flow {
    let parts = m.launch.program.lists.get(i.c);
    let count = parts.len();
    // SAFETY: `locate` checked the address; registers are those of the current window, see
    // `Handler`.
    unsafe {
        // One of the destinations may also hold the addresses, so all lanes are read first.
        let mut words = [[WordOf::<O>::default(); LANES]; MAX_COMPONENTS];
        for lane in lanes(m.mask) {
            let bytes = O::Cell::BYTES * count as u64;
            let request = request(m, i, bytes, AccessKind::Read, lane);
            let from = match m.locate(&request) {
                Ok(pointer) => pointer,
                Err(trap) => return m.fail(trap),
            };
            for (component, words) in words.iter_mut().enumerate().take(count) {
                words[lane] = WordOf::<O>::load(from.add(component * O::Cell::BYTES as usize));
            }
        }
        for (words, &part) in words.iter().zip(parts) {
            let to = m.line(part);
            for lane in lanes(m.mask) {
                (*to).0[lane] = O::Cell::widen(words[lane]);
            }
        }
    }
    Flow::Next
}

#[cold]
#[inline(never)]
unsafe fn store_vector_slow<O: Shape>(m: &mut Machine<'_>, i: &Vector<O>) -> Flow {
    let parts = m.launch.program.lists.get(i.c);
    let count = parts.len();
    // SAFETY: `locate` checked the address; registers are those of the current window, see
    // `Handler`.
    unsafe {
        for lane in lanes(m.mask) {
            let bytes = O::Cell::BYTES * count as u64;
            let request = request(m, i, bytes, AccessKind::Write, lane);
            let pointer = match m.locate(&request) {
                Ok(pointer) => pointer,
                Err(trap) => return m.fail(trap),
            };
            for (component, &part) in parts.iter().enumerate() {
                let value = (*m.line(part)).0[lane];
                WordOf::<O>::store(pointer.add(component * O::Cell::BYTES as usize), O::Cell::narrow(value));
            }
        }
    }
    Flow::Next
}

macro_rules! of_cell_and_region {
    ($($(#[$meta:meta])* $name:ident = $handlers:ident;)*) => {$(
        $(#[$meta])*
        pub(crate) const fn $name<C: Cell, R: Region>() -> Handlers {
            $handlers::<PhantomData<(C, R)>>()
        }
    )*};
}
of_cell_and_region! {
    /// `ld`: `a` is the address, to which `imm` is added, `dst` the destination, `d` the
    /// [`AccessSpace`].
    load = load_handlers;
    /// `ld` as [`load`], which records the layout of its addresses at `c` of [`Machine::layouts`].
    load_and_record = load_and_record_handlers;
    /// `ld` as [`load`], with the layout that [`load_and_record`] recorded at `c` of
    /// [`Machine::layouts`] for the same addresses.
    load_recorded = load_recorded_handlers;
    /// `st`: like `ld`, with the value in `b`.
    store = store_handlers;
    /// `ld.v2`, `ld.v4`: like `ld`, with the destinations in the list `c`.
    load_vector = load_vector_handlers;
    /// `st.v2`, `st.v4`: like `ld.v2`, with the values in the list.
    store_vector = store_vector_handlers;
}

/// `ld.param` of a kernel at a fixed offset `imm`: the same value in each lane.
pub(crate) unsafe fn load_param<C: Cell>(m: &mut Machine<'_>, i: &Inst<Reg<C::Slot>>) -> Flow {
    // SAFETY: `check_parameter` in `code::select::memory` checked that the access is inside the
    // parameters and aligned, and `Function::param_bank` allocated all of them. `dst` is a register
    // of the current window, see `Handler`.
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

/// Counts a poll, after a load that a program may use in a wait loop.
pub(crate) unsafe fn watch(m: &mut Machine<'_>, _: &Inst) -> Flow {
    m.poll();
    Flow::Next
}

/// `isspacep.global`, and `isspacep.const` if `imm` is 1: `a` is the address, `dst` the predicate.
/// Constants lie in the same address range as global memory.
pub(crate) unsafe fn is_space(m: &mut Machine<'_>, i: &Inst<Pred, Reg<u64>>) -> Flow {
    // SAFETY: `a` is a register of the current window, see `Handler`.
    let addresses = unsafe { m.read(i.a) };
    let is_constant = |address| m.table.find(address).is_some_and(|allocation| allocation.read_only);
    let holds =
        |address: u64| space_of(address) == AccessSpace::Global && is_constant(address) == (i.imm == 1);
    let result =
        lanes(m.mask).filter(|&lane| holds(addresses.0[lane])).fold(0, |bits, lane| bits | 1 << lane);
    // SAFETY: `dst` is a predicate of the current window, see `Handler`.
    unsafe { m.write_predicate(i.dst, result) };
    Flow::Next
}
