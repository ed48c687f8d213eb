//! The types of values, by number.

use std::{
    alloc::Layout,
    any::TypeId,
    mem, ptr,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicPtr, Ordering},
    },
};

/// Number of a payload type in the process-wide table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct TypeIndex(pub(crate) u32);

impl TypeIndex {
    /// The first number that the table assigns. Smaller ones have a fixed meaning.
    pub(crate) const FIRST_DYNAMIC: u32 = 64;
}

/// The properties of a payload type.
#[derive(Clone, Copy, Debug)]
pub struct TypeInfo {
    /// The type's MLIR spelling.
    pub name: &'static str,
    id: TypeId,
    pub(crate) payload: Layout,
    pub(crate) drop: Option<unsafe fn(*mut u8)>,
}

impl TypeInfo {
    fn new<T: 'static>(name: &'static str) -> Self {
        /// # Safety
        /// `payload` points to a valid `T` that is not used again.
        unsafe fn drop_payload<T>(payload: *mut u8) {
            // SAFETY: `payload` points to a valid `T` that is not used again, as this function
            // demands.
            unsafe { payload.cast::<T>().drop_in_place() }
        }
        Self {
            name,
            id: TypeId::of::<T>(),
            payload: Layout::new::<T>(),
            drop: if mem::needs_drop::<T>() { Some(drop_payload::<T>) } else { None },
        }
    }
}

/// Most payload types that a process may register.
pub const MAX_TYPES: usize = 4096;

/// A table of types that only grows, and is read without a lock.
#[derive(Debug)]
pub(crate) struct TypeTable {
    entries: [AtomicPtr<TypeInfo>; MAX_TYPES],
    next: Mutex<u32>,
}

impl TypeTable {
    pub(super) const fn new() -> Self {
        Self {
            entries: [const { AtomicPtr::new(ptr::null_mut()) }; MAX_TYPES],
            next: Mutex::new(TypeIndex::FIRST_DYNAMIC),
        }
    }

    /// Returns the type with this number, if it is registered.
    #[inline]
    pub(crate) fn get(&self, index: TypeIndex) -> Option<&'static TypeInfo> {
        let entry = self.entries.get(index.0 as usize)?.load(Ordering::Acquire);
        // SAFETY: an entry is null, or comes from a leaked box, which is never freed or changed.
        unsafe { entry.as_ref() }
    }

    /// Returns the number of `T`, which it assigns at the first call.
    ///
    /// # Panics
    /// If the process has more than [`MAX_TYPES`] types.
    pub(crate) fn register<T: 'static>(&self, name: &'static str) -> TypeIndex {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let known = (TypeIndex::FIRST_DYNAMIC..*next)
            .map(TypeIndex)
            .find(|&index| self.get(index).is_some_and(|info| info.id == TypeId::of::<T>()));
        if let Some(index) = known {
            return index;
        }
        let index = *next;
        assert!((index as usize) < MAX_TYPES, "more than {MAX_TYPES} value types");
        let info = Box::into_raw(Box::new(TypeInfo::new::<T>(name)));
        self.entries[index as usize].store(info, Ordering::Release);
        *next = index + 1;
        TypeIndex(index)
    }
}
