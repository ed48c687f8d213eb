//! The counted cell behind a handle: a 16-byte header and the payload in place.
//!
//! A cell is either *typed* (payload `T`, or a shared [`Diagnostic`] in the same bytes once it has
//! failed) or *indirect* (payload another handle). This file owns layout, allocation and
//! destruction; it knows nothing of waiting.

use std::{
    alloc::Layout,
    mem::{self, ManuallyDrop},
    ptr::NonNull,
    sync::Arc,
};

use super::{
    AsyncValue, scalar_bits,
    state::{Enqueue, Orphaned, RefCount, Release, State, StateWord, Waiter, WaiterList},
};
use crate::{
    diagnostic::Diagnostic,
    pool,
    process::{LiveCells, TypeIndex, process_tables},
    value::{Value, tags},
};

/// What every cell begins with.
#[repr(C)]
pub(crate) struct Header {
    refs: RefCount,
    type_index: TypeIndex,
    pub(super) state: StateWord,
}

#[cfg(not(loom))]
const _: () = assert!(mem::size_of::<Header>() == 16, "the header is two words");

/// The bytes behind the header: the value, or the error that took its place.
#[repr(C)]
union Payload<T> {
    value: ManuallyDrop<T>,
    error: ManuallyDrop<Arc<Diagnostic>>,
}

#[repr(C)]
struct Typed<T> {
    header: Header,
    payload: mem::MaybeUninit<Payload<T>>,
}

/// A pointer to a live cell. Copying it copies no reference; see [`CellPtr::acquire`].
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct CellPtr(NonNull<Header>);

impl CellPtr {
    /// A new cell of one handle and one producer, without payload yet.
    #[inline]
    pub(super) fn pending<T: Value>() -> Self {
        Self::allocate::<T>(T::type_index(), State::Pending)
    }

    /// A new cell of one handle and one producer that will forward to another handle.
    #[inline]
    pub(super) fn indirect() -> Self {
        Self::allocate::<AsyncValue>(tags::INDIRECT, State::Pending)
    }

    /// A new cell of one handle that holds `value`.
    pub(super) fn concrete<T: Value>(value: T) -> Self {
        let cell = Self::allocate::<T>(T::type_index(), State::Concrete);
        // SAFETY: the cell was allocated for a `T` and nobody else has seen it.
        unsafe { cell.write(value) };
        cell
    }

    #[inline]
    fn allocate<T>(type_index: TypeIndex, state: State) -> Self {
        let layout = Layout::new::<Typed<T>>();
        let header = pool::allocate(layout).cast::<Header>();
        // SAFETY: freshly allocated with room and alignment for a header.
        unsafe { header.write(Header { refs: RefCount::new(1), type_index, state: StateWord::new(state) }) };
        LiveCells::add();
        Self(header)
    }

    #[inline]
    pub(super) fn header(&self) -> &Header {
        // SAFETY: a `CellPtr` is held by a handle, by a borrower of a handle, or by the producer of
        // a pending value. Each of them keeps the cell alive.
        unsafe { self.0.as_ref() }
    }

    #[inline]
    pub(super) fn type_index(&self) -> TypeIndex {
        self.header().type_index
    }

    #[inline]
    pub(super) fn state(&self) -> State {
        self.header().state.load()
    }

    /// Whether the value is still pending. The caller holds a handle.
    #[inline]
    pub(super) fn is_pending(&self) -> bool {
        self.header().state.is_pending()
    }

    #[inline]
    pub(super) fn acquire(&self) {
        self.header().refs.acquire();
    }

    #[inline]
    pub(super) fn is_unique(&self) -> bool {
        self.header().refs.is_unique()
    }

    /// Puts a waiter on the cell's list, unless it is available.
    ///
    /// # Safety
    /// The caller owns the waiter, as [`StateWord::push`] demands. The cell is alive until the
    /// waiter has been pushed; from then on it may go at any time, by what the waiter does on
    /// another thread.
    pub(super) unsafe fn push(self, waiter: NonNull<Waiter>) -> Enqueue {
        // SAFETY: the cell is alive and the waiter the caller's, as this function demands. The only
        // reference that exists when the cell may go is the one to the state word, an atomic, which
        // may dangle while `push` returns.
        unsafe { (*self.0.as_ptr()).state.push(waiter) }
    }

    /// Gives one handle back. With the last one the cell goes, unless its producer is still at
    /// work.
    ///
    /// # Safety
    /// The caller owns that handle and does not use the pointer again.
    #[inline]
    pub(super) unsafe fn release(self) {
        if self.header().refs.release() == Release::Last {
            // SAFETY: it was the last handle.
            unsafe { self.give_up() };
        }
    }

    /// As [`CellPtr::release`], for an available value whose payload needs no drop.
    ///
    /// # Safety
    /// The caller owns the handle and does not use the pointer again. It has seen that the value is
    /// available, and the cell was allocated for a `T`.
    #[inline]
    pub(super) unsafe fn release_empty<T>(self) {
        if self.header().refs.release() == Release::Last {
            // SAFETY: neither handles nor a producer are left.
            unsafe { self.deallocate(Layout::new::<Typed<T>>()) };
        }
    }

    /// # Safety
    /// The caller released the last handle.
    #[inline(never)]
    unsafe fn give_up(self) {
        if self.header().state.orphan() == Orphaned::Available {
            // SAFETY: neither handles nor a producer are left.
            unsafe { self.destroy() };
        }
    }

    /// Makes the value available; the waiters that come back must be run.
    ///
    /// # Safety
    /// The caller is the producer, has written the payload for this state, and does not use the
    /// pointer again.
    #[inline]
    pub(super) unsafe fn publish(self, state: State) -> WaiterList {
        let published = self.header().state.publish(state);
        if published.is_orphan {
            // SAFETY: neither handles nor a producer are left.
            unsafe { self.destroy() };
        }
        published.waiters
    }

    /// Stores the payload. That of a scalar is a whole word, see [`AsyncValue::unbox`].
    ///
    /// # Safety
    /// The cell was allocated for a `T`, has no payload yet, and nobody else uses it but to wait.
    #[inline]
    pub(super) unsafe fn write<T: Value>(self, value: T) {
        // SAFETY: the cell was allocated for a `T` and its payload's place is free, as this
        // function demands. Every payload's place has room for a word, because an error takes one.
        unsafe {
            if T::INLINE {
                self.payload::<u64>().write(scalar_bits(value));
            } else {
                self.payload::<T>().write(value);
            }
        }
    }

    /// What a handle keeps of the pointer.
    #[inline]
    pub(super) fn as_ptr(self) -> *mut () {
        self.0.as_ptr().cast()
    }

    /// # Safety
    /// `word` came from [`CellPtr::as_ptr`].
    #[inline]
    pub(super) unsafe fn from_ptr(word: *mut ()) -> Self {
        // SAFETY: `word` came from `as_ptr`, as this function demands, which gives the address of a
        // cell.
        Self(unsafe { NonNull::new_unchecked(word.cast()) })
    }

    /// Returns the payload's place.
    ///
    /// # Safety
    /// The cell was allocated for a `T`.
    #[inline]
    pub(super) unsafe fn payload<T>(&self) -> *mut T {
        let offset = mem::offset_of!(Typed<T>, payload);
        // SAFETY: the offset lies in the cell's allocation, which was made for `Typed<T>`, as this
        // function demands.
        unsafe { self.0.as_ptr().cast::<u8>().add(offset).cast::<T>() }
    }

    /// Size, alignment and payload offset of a cell for payloads of this layout, as `repr(C)` lays
    /// it out.
    fn cell_layout(payload: Layout) -> (Layout, usize) {
        let error = Layout::new::<Arc<Diagnostic>>();
        let align = payload.align().max(error.align());
        let either = Layout::from_size_align(payload.size().max(error.size()), align);
        let extended = either.and_then(|either| Layout::new::<Header>().extend(either.pad_to_align()));
        let Ok((layout, offset)) = extended else { unreachable!("a payload that exists has a layout") };
        (layout.pad_to_align(), offset)
    }

    /// Layout of the payload type as the table has it.
    fn payload_info(&self) -> (Layout, Option<unsafe fn(*mut u8)>) {
        match self.type_index() {
            tags::INDIRECT => (Layout::new::<AsyncValue>(), None),
            // None is larger than a word.
            index if index.is_scalar() => (Layout::new::<u64>(), None),
            index => match process_tables().types.get(index) {
                Some(info) => (info.payload, info.drop),
                None => unreachable!("a cell's type is registered before the cell is made"),
            },
        }
    }

    /// The place of the error in a typed cell.
    fn error_place(&self) -> *mut Arc<Diagnostic> {
        let (_, offset) = Self::cell_layout(self.payload_info().0);
        // SAFETY: `cell_layout` reproduces the layout the cell was allocated with.
        unsafe { self.0.as_ptr().cast::<u8>().add(offset).cast() }
    }

    /// Stores the error of a typed cell that is about to be published as failed.
    ///
    /// # Safety
    /// The caller is the producer, and there is no payload.
    pub(super) unsafe fn write_error(&self, error: Arc<Diagnostic>) {
        // SAFETY: the cell has no payload, as this function demands, and the place is as large and
        // aligned as an `Arc`.
        unsafe { self.error_place().write(error) };
    }

    /// The error of a typed cell.
    ///
    /// # Safety
    /// The state has been seen to be `Error`, and the cell is not indirect.
    pub(super) unsafe fn error(&self) -> &Arc<Diagnostic> {
        // SAFETY: the state has been seen to be `Error`, as this function demands, and the producer
        // writes the error before it publishes that state.
        unsafe { &*self.error_place() }
    }

    /// # Safety
    /// The value is available, there are no handles, and nobody uses the pointer again.
    #[inline(never)]
    unsafe fn destroy(self) {
        let state = self.state();
        let type_index = self.type_index();
        if state == State::Concrete && type_index.is_scalar() {
            // SAFETY: nobody uses the cell again, as this function demands. A scalar needs no drop,
            // and its cell has the layout of a word's.
            return unsafe { self.deallocate(Layout::new::<Typed<u64>>()) };
        }
        if type_index == tags::INDIRECT {
            // SAFETY: the value is available and nobody uses the cell again, as this function
            // demands. Available indirect cells hold a handle in either state.
            return unsafe {
                self.payload::<AsyncValue>().drop_in_place();
                self.deallocate(Layout::new::<Typed<AsyncValue>>());
            };
        }
        let (payload, drop) = self.payload_info();
        let (layout, offset) = Self::cell_layout(payload);
        // SAFETY: the value is available and nobody uses the cell again, as this function demands.
        // The state says whether the payload or an error is there, in a cell of the layout that the
        // table of types gives.
        unsafe {
            match (state, drop) {
                (State::Concrete, Some(drop)) => drop(self.0.as_ptr().cast::<u8>().add(offset)),
                (State::Concrete, None) => {}
                (State::Error, _) => self.error_place().drop_in_place(),
                (State::Pending, _) => debug_assert!(false, "destroyed while pending"),
            }
            self.deallocate(layout);
        }
    }

    /// # Safety
    /// The cell was allocated with this layout, its payload is gone, and nobody uses the pointer
    /// again.
    #[inline]
    unsafe fn deallocate(self, layout: Layout) {
        // SAFETY: the cell came from `allocate` with this layout and nobody uses it again, as this
        // function demands. The header is still there.
        unsafe {
            self.0.drop_in_place();
            pool::deallocate(self.0.cast(), layout);
        }
        LiveCells::remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(align(64))]
    struct Wide(#[expect(dead_code, reason = "gives the type a size")] [u8; 70]);

    fn agrees<T>() {
        let (layout, offset) = CellPtr::cell_layout(Layout::new::<T>());
        assert_eq!(layout, Layout::new::<Typed<T>>());
        assert_eq!(offset, mem::offset_of!(Typed<T>, payload));
    }

    #[test]
    fn erased_layout_is_the_compilers() {
        agrees::<u8>();
        agrees::<u64>();
        agrees::<String>();
        agrees::<AsyncValue>();
        agrees::<Wide>();
        agrees::<[u8; 13]>();
    }
}
