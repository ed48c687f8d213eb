//! A type-erased value that may be pending.
//!
//! [`AsyncValue`] is a handle of 16 bytes. It is a scalar (kept in the handle, never allocated), a
//! shared error, or a counted pointer to a cell whose payload becomes available once. Handles know
//! no host, no queue and no device.
//!
//! A value is made pending by its producer's side, [`Promise`], [`Constructed`] or
//! [`IndirectPromise`], each of which is unique and used up by producing; so no sequence of safe
//! calls produces a value twice or reads one that is not there. Dropping a producer produces an
//! error.
//!
//! The protocol of waiting is told in `state.rs`; how waiters run in bounded stack, in
//! `waiters.rs`.

#![expect(unsafe_code, reason = "type-erased payloads in place and intrusive waiter lists")]

mod cell;
mod future;
mod promise;
pub(crate) mod state;
mod typed;
mod waiters;

use std::{
    fmt,
    mem::{self, ManuallyDrop},
    ptr::{self, NonNull},
    sync::Arc,
};

use cell::CellPtr;
pub use future::{PayloadFuture, ValueFuture};
pub use promise::{Constructed, IndirectPromise, Promise};
use state::{Enqueue, State, Waiter};
pub use typed::AsyncValueRef;
pub(crate) use waiters::more_ready;

use crate::{
    diagnostic::Diagnostic,
    panics,
    pool::PoolBox,
    process::{TypeIndex, is_library, process_tables},
    value::{Value, tags, type_name},
};

/// The state of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The value has not been produced yet.
    Pending,
    /// The value is available and has a payload.
    Ready,
    /// The value is available and is an error.
    Failed,
}

/// A value, available or pending. Cloning shares it.
///
/// Two plain words, so that a handle is passed and moved in machine registers.
#[repr(C)]
pub struct AsyncValue {
    /// A [`TypeIndex`], widened.
    tag: usize,
    /// What the tag says: the bits of a scalar, a [`CellPtr`], or what [`Arc::into_raw`] made of an
    /// error.
    word: *mut (),
}

const _: () = assert!(mem::size_of::<AsyncValue>() == 16, "scalars of 64 bits fit the word");

/// A scalar's bytes as they lie in memory, filled up with zeros.
#[inline]
fn scalar_bits<T: Value>(scalar: T) -> u64 {
    assert!(T::INLINE, "a scalar");
    let mut bits = 0;
    // SAFETY: inline types fit a word, in size and alignment, and need no drop.
    unsafe { (&raw mut bits).cast::<T>().write(scalar) };
    bits
}

// SAFETY: payloads are `Send + Sync` (`Value` requires it), errors are shared by `Arc`, and a
// cell's state and count are atomic.
unsafe impl Send for AsyncValue {}
// SAFETY: a shared handle gives shared access to payloads, which are `Sync`, and to atomics.
unsafe impl Sync for AsyncValue {}

impl AsyncValue {
    /// The handle of a register that holds nothing.
    pub(crate) const EMPTY: Self = Self::with_tag(tags::EMPTY, ptr::null_mut());

    #[inline]
    const fn with_tag(tag: TypeIndex, word: *mut ()) -> Self {
        Self { tag: tag.0 as usize, word }
    }

    #[inline]
    fn from_bits(tag: TypeIndex, bits: u64) -> Self {
        Self::with_tag(tag, ptr::without_provenance_mut(bits as usize))
    }

    /// Makes an available value.
    #[inline]
    pub fn new<T: Value>(value: T) -> Self {
        if T::INLINE {
            return Self::from_bits(T::type_index(), scalar_bits(value));
        }
        // SAFETY: the new cell's one reference goes to the handle.
        unsafe { Self::from_cell(CellPtr::concrete(value)) }
    }

    /// Makes a value that is an error.
    pub fn from_error(error: impl Into<Arc<Diagnostic>>) -> Self {
        Self::with_tag(tags::ERROR, Arc::into_raw(error.into()).cast_mut().cast())
    }

    /// # Safety
    /// The caller hands over one reference to the cell.
    #[inline]
    unsafe fn from_cell(cell: CellPtr) -> Self {
        Self::with_tag(tags::CELL, cell.as_ptr())
    }

    /// The handle, leaving an empty one.
    #[inline]
    pub(crate) fn take(&mut self) -> Self {
        mem::replace(self, Self::EMPTY)
    }

    #[inline]
    fn cell(&self) -> Option<CellPtr> {
        if self.tag() == tags::CELL {
            // SAFETY: the tag says that the word came from a cell, of which this is a handle.
            return Some(unsafe { CellPtr::from_ptr(self.word) });
        }
        None
    }

    #[inline]
    fn tag(&self) -> TypeIndex {
        TypeIndex(self.tag as u32)
    }

    fn is_cell(&self, other: CellPtr) -> bool {
        self.cell() == Some(other)
    }

    /// Returns the state of the value.
    #[inline]
    pub fn status(&self) -> Status {
        if self.is_inline() {
            return Status::Ready;
        }
        match self.cell().map(|cell| cell.state()) {
            Some(State::Pending) => Status::Pending,
            Some(State::Concrete) => Status::Ready,
            Some(State::Error) => Status::Failed,
            // An empty register was never set by its kernel.
            None => Status::Failed,
        }
    }

    /// Whether the value is a scalar kept in the handle.
    #[inline]
    pub(crate) fn is_inline(&self) -> bool {
        self.tag().0 >= tags::FIRST_INLINE.0
    }

    /// Returns whether the value has a payload or is an error.
    #[inline]
    pub fn is_available(&self) -> bool {
        !self.is_pending()
    }

    /// Whether its producer has not produced it yet.
    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        self.cell().is_some_and(|cell| cell.is_pending())
    }

    /// Returns the payload, if the value is available and of type `T`.
    #[inline]
    pub fn get<T: Value>(&self) -> Option<&T> {
        match self.get_inline() {
            Some(payload) => Some(payload),
            None => self.get_from_cell(),
        }
    }

    /// The payload, if it is a `T` kept in the handle.
    #[inline]
    pub(crate) fn get_inline<T: Value>(&self) -> Option<&T> {
        if T::INLINE && self.tag() == T::type_index() {
            // SAFETY: the tag says that the word holds the bytes of a `T`.
            return Some(unsafe { &*(&raw const self.word).cast::<T>() });
        }
        None
    }

    // Out of line, so that a scalar's fast path stays small where it is inlined.
    #[inline(never)]
    fn get_from_cell<T: Value>(&self) -> Option<&T> {
        let cell = self.cell()?;
        if cell.state() != State::Concrete {
            return None;
        }
        if cell.type_index() == T::type_index() {
            // SAFETY: the type matches, and a published payload is not changed until the cell is
            // destroyed, which this handle prevents.
            return Some(unsafe { &*cell.payload::<T>() });
        }
        if cell.type_index() == tags::INDIRECT {
            // SAFETY: the state is `Concrete`, so that the handle that an indirect cell holds was
            // published, and it is not changed while this handle keeps the cell. It is not indirect
            // itself (`collapse`): the recursion ends there.
            return unsafe { &*cell.payload::<AsyncValue>() }.get::<T>();
        }
        None
    }

    /// Returns the error, if the value is one.
    pub fn error(&self) -> Option<Arc<Diagnostic>> {
        if self.tag() == tags::ERROR {
            // SAFETY: the tag says that the word came from `Arc::into_raw`; the handle keeps its
            // reference.
            let shared =
                ManuallyDrop::new(unsafe { Arc::from_raw(self.word.cast::<Diagnostic>().cast_const()) });
            return Some(Arc::clone(&shared));
        }
        if self.tag() == tags::EMPTY {
            return Some(Arc::new(Diagnostic::internal("a kernel did not set this result")));
        }
        let cell = self.cell()?;
        if cell.state() != State::Error {
            return None;
        }
        if cell.type_index() == tags::INDIRECT {
            // SAFETY: published; an indirect cell holds a handle in either available state.
            return unsafe { &*cell.payload::<AsyncValue>() }.error();
        }
        // SAFETY: the state is `Error` and the cell is typed.
        Some(unsafe { cell.error() }.clone())
    }

    /// Returns the name of the payload's type, if it is known yet.
    pub fn type_name(&self) -> &'static str {
        match self.cell() {
            Some(cell) if cell.type_index() != tags::INDIRECT => type_name(cell.type_index()),
            // SAFETY: an available indirect cell holds a handle.
            Some(cell) if self.is_available() => unsafe { &*cell.payload::<AsyncValue>() }.type_name(),
            _ => type_name(self.tag()),
        }
    }

    /// Returns whether this is the only handle to its payload. A scalar's handle always is.
    pub fn is_unique(&self) -> bool {
        match self.cell() {
            Some(cell) if cell.type_index() != tags::INDIRECT => cell.is_unique(),
            Some(cell) if self.is_available() && cell.is_unique() => {
                // SAFETY: an available indirect cell holds a handle.
                unsafe { &*cell.payload::<AsyncValue>() }.is_unique()
            }
            Some(_) => false,
            None => self.tag() != tags::ERROR,
        }
    }

    /// Calls `waiter` when the value is available: at once, or on the thread that produces it.
    ///
    /// A waiter must be short, or add its work to a queue.
    pub fn and_then(&self, waiter: impl FnOnce() + Send + 'static) {
        #[repr(C)]
        struct Closure<F> {
            link: Waiter,
            closure: F,
        }
        /// # Safety
        /// `link` is the first field of a `PoolBox<Closure<F>>` that is owned by nobody else.
        unsafe fn run<F: FnOnce()>(link: *mut Waiter) {
            // SAFETY: `link` leads to a `PoolBox<Closure<F>>` that nobody else owns, as this
            // function demands.
            let waiter = unsafe { PoolBox::from_raw(NonNull::new_unchecked(link).cast::<Closure<F>>()) };
            (waiter.into_inner().closure)();
        }
        fn node<F: FnOnce()>(closure: F) -> NonNull<Waiter> {
            let link = Waiter { next: ptr::null_mut(), run: run::<F> };
            PoolBox::new(|| Closure { link, closure }).into_raw().cast()
        }

        if self.status() != Status::Pending {
            return waiter();
        }
        let Some(list) = self.wait_list() else { return waiter() };
        // Waiters may be run by this copy of the crate or by the host's, so their panics end here.
        let node = if is_library() { node(panics::contained(Box::new(waiter))) } else { node(waiter) };
        // SAFETY: the node is a box of this very closure, owned by nobody else; this handle keeps
        // the cell alive.
        if unsafe { list.push(node) } == Enqueue::Available {
            // SAFETY: the list did not take it, so this is its one run.
            unsafe { (node.as_ref().run)(node.as_ptr()) };
        }
    }

    /// Where to wait for the value; `None` if it lives in no cell and so is available.
    pub(crate) fn wait_list(&self) -> Option<WaitList> {
        self.cell().map(WaitList)
    }

    /// An available handle without indirection: what an indirect cell forwards to, or itself.
    #[must_use]
    pub(crate) fn collapse(self) -> Self {
        match self.cell() {
            Some(cell) if cell.type_index() == tags::INDIRECT && self.is_available() => {
                // SAFETY: an available indirect cell holds a handle, which is never indirect
                // itself.
                unsafe { &*cell.payload::<AsyncValue>() }.clone()
            }
            _ => self,
        }
    }

    /// Makes the handle what kernels get soonest: an available scalar in the handle itself, and
    /// without indirection.
    #[inline]
    pub(crate) fn unbox(&mut self) {
        let Some(cell) = self.cell() else { return };
        if cell.state() != State::Concrete {
            *self = self.take().collapse();
        } else if cell.type_index().is_scalar() {
            // SAFETY: published; the payload of a cell of a scalar is a word.
            let value = unsafe { Self::from_bits(cell.type_index(), cell.payload::<u64>().read()) };
            mem::forget(mem::replace(self, value));
            // SAFETY: the handle just forgotten owned a reference; the value was seen available,
            // and needs no drop.
            unsafe { cell.release_empty::<u64>() };
        } else if cell.type_index() == tags::INDIRECT {
            // SAFETY: published; an indirect cell holds a handle.
            let value = unsafe { &*cell.payload::<Self>() };
            if value.is_counted() {
                *self = value.clone();
                return;
            }
            // A copy of a scalar needs no count and no drop.
            let value = Self { tag: value.tag, word: value.word };
            mem::forget(mem::replace(self, value));
            // SAFETY: the handle just forgotten owned a reference. The value was seen available,
            // the cell was allocated for a handle, and the handle in it is not counted, so that it
            // needs no drop.
            unsafe { cell.release_empty::<Self>() };
        }
    }

    /// Returns the number of values in this process that live in cells. It is exact while other
    /// threads are quiet.
    pub fn live_count() -> usize {
        process_tables().live_cells.count()
    }
}

/// A pending value's list of waiters.
#[derive(Clone, Copy)]
pub(crate) struct WaitList(CellPtr);

impl WaitList {
    /// Puts an intrusive waiter on the list, unless the value is available.
    ///
    /// # Safety
    /// The caller owns the waiter; when this returns `Pushed`, the list does. A handle to the value
    /// exists until the waiter has been pushed; what the waiter does may then end it.
    pub(crate) unsafe fn push(self, waiter: NonNull<Waiter>) -> Enqueue {
        // SAFETY: the waiter is the caller's and a handle keeps the cell until it is pushed, as
        // this function demands.
        unsafe { self.0.push(waiter) }
    }
}

impl Clone for AsyncValue {
    #[inline]
    fn clone(&self) -> Self {
        if self.is_counted() {
            self.acquire();
        }
        Self { tag: self.tag, word: self.word }
    }
}

impl Drop for AsyncValue {
    #[inline]
    fn drop(&mut self) {
        if self.is_counted() {
            // SAFETY: the handle goes away.
            unsafe { self.release() };
        }
    }
}

impl AsyncValue {
    /// Whether the handle shares something that counts its handles.
    #[inline]
    pub(crate) fn is_counted(&self) -> bool {
        const { assert!(tags::CELL.0 + 1 == tags::ERROR.0) };
        (tags::CELL.0..=tags::ERROR.0).contains(&self.tag().0)
    }

    // Out of line, as is `release`: handles are cloned and dropped everywhere, and most of them are
    // scalars.
    #[inline(never)]
    fn acquire(&self) {
        if let Some(cell) = self.cell() {
            cell.acquire();
        } else {
            // SAFETY: a counted handle that is no cell is an error: the word came from
            // `Arc::into_raw`, and this handle holds a reference.
            unsafe { Arc::increment_strong_count(self.word.cast::<Diagnostic>().cast_const()) };
        }
    }

    /// # Safety
    /// The handle is counted and not used again.
    #[inline(never)]
    unsafe fn release(&self) {
        if let Some(cell) = self.cell() {
            // SAFETY: the handle owns one reference.
            unsafe { cell.release() };
        } else {
            // SAFETY: a counted handle that is no cell is an error: the word came from
            // `Arc::into_raw`, and this handle owns the reference.
            drop(unsafe { Arc::from_raw(self.word.cast::<Diagnostic>().cast_const()) });
        }
    }
}

impl fmt::Debug for AsyncValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AsyncValue({}, {:?})", self.type_name(), self.status())
    }
}

impl fmt::Debug for CellPtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cell of {}", type_name(self.type_index()))
    }
}

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;
