//! The counted cell behind a handle: a 16-byte header and the payload in place.
//!
//! A cell is either *typed* (payload `T`, or a shared [`Diagnostic`] in the same bytes once it has failed) or
//! *indirect* (payload another handle). This file owns layout, allocation and destruction; it knows nothing
//! of waiting.

use std::{
    alloc::Layout,
    mem::{self, ManuallyDrop},
    ptr::NonNull,
    sync::Arc,
};

use super::{
    AsyncValue, live,
    state::{Enqueue, RefCount, Release, State, StateWord, Waiter},
};
use crate::{
    diagnostic::Diagnostic,
    pool,
    value::{TypeIndex, Value, process_tables, tags},
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
    /// A new cell with `refs` references and no payload yet.
    pub(super) fn pending<T: Value>(refs: u32) -> Self {
        Self::allocate::<T>(refs, T::type_index(), State::Pending)
    }

    /// A new cell that will forward to another handle.
    pub(super) fn indirect(refs: u32) -> Self {
        Self::allocate::<AsyncValue>(refs, tags::INDIRECT, State::Pending)
    }

    /// A new cell that holds `value`.
    pub(super) fn concrete<T: Value>(value: T) -> Self {
        let cell = Self::allocate::<T>(1, T::type_index(), State::Concrete);
        // SAFETY: the cell was allocated for a `T` and nobody else has seen it.
        unsafe { cell.payload::<T>().write(value) };
        cell
    }

    fn allocate<T>(refs: u32, type_index: TypeIndex, state: State) -> Self {
        let layout = Layout::new::<Typed<T>>();
        let header = pool::allocate(layout).cast::<Header>();
        // SAFETY: freshly allocated with room and alignment for a header.
        unsafe {
            header.write(Header { refs: RefCount::new(refs), type_index, state: StateWord::new(state) })
        };
        live::add();
        Self(header)
    }

    #[inline]
    pub(super) fn header(&self) -> &Header {
        // SAFETY: a `CellPtr` is only held where a reference to the cell is owned or borrowed.
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
    /// The cell is alive until the waiter has been pushed. From then on it may go at any time, by what the
    /// waiter does on another thread: so no reference to more than the state word is held here.
    pub(super) unsafe fn push(self, waiter: NonNull<Waiter>) -> Enqueue {
        // SAFETY: alive by contract; a reference to an atomic alone may outlive what it points to by a return.
        unsafe { (*self.0.as_ptr()).state.push(waiter) }
    }

    /// Gives one reference back; destroys the cell with the last.
    ///
    /// # Safety
    /// The caller owns that reference and does not use the pointer again.
    #[inline]
    pub(super) unsafe fn release(self) {
        if self.header().refs.release() == Release::Last {
            // SAFETY: it was the last reference.
            unsafe { self.destroy() };
        }
    }

    /// The payload's place, for a cell allocated for `T`.
    #[inline]
    pub(super) fn payload<T>(&self) -> *mut T {
        let offset = mem::offset_of!(Typed<T>, payload);
        // SAFETY: the offset lies in the cell's allocation, which was made for `Typed<T>`.
        unsafe { self.0.as_ptr().cast::<u8>().add(offset).cast::<T>() }
    }

    /// Size, alignment and payload offset of a cell for payloads of this layout, as `repr(C)` lays it out.
    fn cell_layout(payload: Layout) -> (Layout, usize) {
        let error = Layout::new::<Arc<Diagnostic>>();
        let align = payload.align().max(error.align());
        let size = payload.size().max(error.size()).next_multiple_of(align);
        let extended = Layout::from_size_align(size, align).and_then(|p| Layout::new::<Header>().extend(p));
        let Ok((layout, offset)) = extended else { unreachable!("a payload that exists has a layout") };
        (layout.pad_to_align(), offset)
    }

    /// Layout of the payload type as the table has it.
    fn payload_info(&self) -> (Layout, Option<unsafe fn(*mut u8)>) {
        match self.type_index() {
            tags::INDIRECT => (Layout::new::<AsyncValue>(), None),
            index => match process_tables().get(index) {
                Some(info) => (info.payload, info.drop),
                // Scalars have fixed numbers and no entry; none is larger than a word.
                None => (Layout::new::<u64>(), None),
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
        // SAFETY: the place is free by contract, and as large and aligned as an `Arc`.
        unsafe { self.error_place().write(error) };
    }

    /// The error of a typed cell.
    ///
    /// # Safety
    /// The state has been seen to be `Error`, and the cell is not indirect.
    pub(super) unsafe fn error(&self) -> &Arc<Diagnostic> {
        // SAFETY: by contract the producer wrote it before publishing.
        unsafe { &*self.error_place() }
    }

    #[cold]
    unsafe fn destroy(self) {
        let state = self.state();
        let (payload, drop) = self.payload_info();
        let (layout, offset) = Self::cell_layout(payload);
        // SAFETY: nobody else has the cell. A published cell has a payload according to its state; a cell is
        // never destroyed while pending, because its producer holds a reference and publishes before giving it up.
        unsafe {
            match state {
                State::Concrete | State::Error if self.type_index() == tags::INDIRECT => {
                    self.payload::<AsyncValue>().drop_in_place();
                }
                State::Concrete => {
                    if let Some(drop) = drop {
                        drop(self.0.as_ptr().cast::<u8>().add(offset));
                    }
                }
                State::Error => self.error_place().drop_in_place(),
                State::Pending => debug_assert!(false, "destroyed while pending"),
            }
            self.0.drop_in_place();
            pool::deallocate(self.0.cast(), layout);
        }
        live::remove();
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
