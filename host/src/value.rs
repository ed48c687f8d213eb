//! The types a value may have, and the process-wide table that names them by number.
//!
//! A value carries the number of its type, so that checking a payload's type is one comparison. The table
//! says how a payload of each type is laid out and destroyed. It only grows.

#![expect(unsafe_code, reason = "the table stores type-erased drop functions")]

use std::{
    alloc::Layout,
    any::TypeId,
    mem,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicPtr, AtomicU32, Ordering},
    },
};

use half::{bf16, f16};

use crate::async_value::LiveCells;
use crate::host_buffer::DerivedValues;

/// Number of a payload type in the process-wide table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct TypeIndex(pub(crate) u32);

impl TypeIndex {
    /// Whether it is that of a scalar: no larger than a word, and without drop.
    #[inline]
    pub(crate) fn is_scalar(self) -> bool {
        (tags::FIRST_INLINE.0..FIRST_DYNAMIC).contains(&self.0)
    }
}

/// The token that orders side effects: it carries no data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain;

/// A type whose values kernels may take, return and share.
///
/// Implemented with [`value_type!`](crate::value_type), which gives a type its MLIR name.
///
/// # Safety
/// `type_index` must return the number that [`register_type`] gave this very type, or, for the built-in
/// scalars, its fixed number; `INLINE` may be set for those scalars alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a runtime value",
    note = "declare it with `tfrt_host::value_type!({Self}, \"!dialect.name\")`"
)]
pub unsafe trait Value: Send + Sync + Sized + 'static {
    /// The type's MLIR spelling, e.g. `i32` or `!tfrt.chain`.
    const TYPE_NAME: &'static str;
    /// Whether payloads live in the handle itself instead of in a counted cell.
    #[doc(hidden)]
    const INLINE: bool = false;
    /// The type's number.
    fn type_index() -> TypeIndex;
}

/// What the runtime knows of a payload type.
#[derive(Clone, Copy, Debug)]
pub struct TypeInfo {
    /// The type's MLIR spelling.
    pub name: &'static str,
    pub(crate) id: TypeId,
    pub(crate) payload: Layout,
    pub(crate) drop: Option<unsafe fn(*mut u8)>,
}

impl TypeInfo {
    fn of<T: Value>() -> Self {
        unsafe fn drop_payload<T>(payload: *mut u8) {
            // SAFETY: the caller passes a valid, initialized payload of type `T` that is not used again.
            unsafe { payload.cast::<T>().drop_in_place() }
        }
        Self {
            name: T::TYPE_NAME,
            id: TypeId::of::<T>(),
            payload: Layout::new::<T>(),
            drop: if mem::needs_drop::<T>() { Some(drop_payload::<T>) } else { None },
        }
    }
}

/// Most payload types a process may register.
pub const TYPES_MAX: usize = 4096;

/// What there must be one of per process: the append-only table of types, the count of live cells, and what was derived
/// from buffers. Shared libraries loaded as kernel libraries have a copy of this static of their own and are made to use
/// the process's instead, see [`adopt_process_tables`].
#[derive(Debug)]
pub struct ProcessTables {
    entries: [AtomicPtr<TypeInfo>; TYPES_MAX],
    next: Mutex<u32>,
    pub(crate) live_cells: LiveCells,
    pub(crate) derived: DerivedValues,
}

static TABLES: ProcessTables = ProcessTables {
    entries: [const { AtomicPtr::new(std::ptr::null_mut()) }; TYPES_MAX],
    next: Mutex::new(FIRST_DYNAMIC),
    live_cells: LiveCells::new(),
    derived: DerivedValues::new(),
};
static ADOPTED: AtomicPtr<ProcessTables> = AtomicPtr::new(std::ptr::null_mut());

/// The tables in force.
#[inline]
pub fn process_tables() -> &'static ProcessTables {
    let adopted = ADOPTED.load(Ordering::Acquire);
    if adopted.is_null() {
        &TABLES
    } else {
        // SAFETY: only `adopt_process_tables` stores here, and it takes a `'static` reference.
        unsafe { &*adopted }
    }
}

/// Makes this copy of the crate use `tables`: called first thing in a kernel library, before it names a type.
pub fn adopt_process_tables(tables: &'static ProcessTables) {
    ADOPTED.store(std::ptr::from_ref(tables).cast_mut(), Ordering::Release);
}

impl ProcessTables {
    /// The entry of `index`, if registered.
    #[inline]
    pub(crate) fn get(&self, index: TypeIndex) -> Option<&'static TypeInfo> {
        let entry = self.entries.get(index.0 as usize)?.load(Ordering::Acquire);
        // SAFETY: entries are null or leaked boxes that are never freed or changed.
        unsafe { entry.as_ref() }
    }
}

/// Gives `T` its number, registering it on the first call. Registering more than [`TYPES_MAX`] types is a
/// programming error and panics.
#[cold]
pub fn register_type<T: Value>() -> TypeIndex {
    let table = process_tables();
    let mut next = table.next.lock().unwrap_or_else(PoisonError::into_inner);
    let known = (FIRST_DYNAMIC..*next)
        .map(TypeIndex)
        .find(|&i| table.get(i).is_some_and(|e| e.id == TypeId::of::<T>()));
    if let Some(index) = known {
        return index;
    }
    let index = *next;
    assert!((index as usize) < TYPES_MAX, "more than {TYPES_MAX} value types");
    table.entries[index as usize].store(Box::into_raw(Box::new(TypeInfo::of::<T>())), Ordering::Release);
    *next = index + 1;
    TypeIndex(index)
}

/// The cache behind [`value_type!`](crate::value_type): zero until the type is registered.
#[doc(hidden)]
#[inline]
pub fn cached_type_index<T: Value>(cache: &AtomicU32) -> TypeIndex {
    match cache.load(Ordering::Relaxed) {
        0 => {
            let index = register_type::<T>();
            cache.store(index.0, Ordering::Relaxed);
            index
        }
        index => TypeIndex(index),
    }
}

/// The MLIR spelling of the type with this number.
pub fn type_name(index: TypeIndex) -> &'static str {
    match index {
        tags::CELL | tags::EMPTY => "value",
        tags::ERROR => "error",
        _ => inline_name(index)
            .unwrap_or_else(|| process_tables().get(index).map_or("unknown type", |e| e.name)),
    }
}

/// Declares types as runtime values: `value_type!(MyTensor, "!my.tensor");`.
#[macro_export]
macro_rules! value_type {
    ($type:ty, $name:expr) => {
        #[expect(unsafe_code, reason = "the number comes from the table, keyed by this very type")]
        // SAFETY: `cached_type_index::<Self>` asks the table for this type's number.
        unsafe impl $crate::Value for $type {
            const TYPE_NAME: &'static str = $name;
            #[inline]
            fn type_index() -> $crate::TypeIndex {
                static INDEX: ::std::sync::atomic::AtomicU32 = ::std::sync::atomic::AtomicU32::new(0);
                $crate::cached_type_index::<Self>(&INDEX)
            }
        }
    };
}

/// Numbers with a fixed meaning: what the first word of a handle may say.
pub(crate) mod tags {
    use super::TypeIndex;
    /// No value at all.
    pub(crate) const EMPTY: TypeIndex = TypeIndex(0);
    /// A counted cell.
    pub(crate) const CELL: TypeIndex = TypeIndex(1);
    /// An error, shared.
    pub(crate) const ERROR: TypeIndex = TypeIndex(2);
    /// The cell forwards to another handle.
    pub(crate) const INDIRECT: TypeIndex = TypeIndex(3);
    /// Numbers from here on (below [`super::FIRST_DYNAMIC`]) are scalars in the handle.
    pub(crate) const FIRST_INLINE: TypeIndex = TypeIndex(4);
}
const FIRST_DYNAMIC: u32 = 64;

macro_rules! inline_types {
    ($($number:literal $type:ty => $name:literal,)*) => {
        $(
            const _: () = assert!(mem::size_of::<$type>() <= 8 && mem::align_of::<$type>() <= 8 && !mem::needs_drop::<$type>());
            const _: () = assert!($number >= tags::FIRST_INLINE.0 && $number < FIRST_DYNAMIC);
            // SAFETY: a number of its own below `FIRST_DYNAMIC`; the payload fits a word and needs no drop.
            unsafe impl Value for $type {
                const TYPE_NAME: &'static str = $name;
                const INLINE: bool = true;
                #[inline(always)]
                fn type_index() -> TypeIndex {
                    TypeIndex($number)
                }
            }
        )*
        fn inline_name(index: TypeIndex) -> Option<&'static str> {
            match index.0 {
                $($number => Some($name),)*
                _ => None,
            }
        }
    };
}

inline_types! {
    4 Chain => "!tfrt.chain",
    5 bool => "i1",
    6 i8 => "i8",
    7 i16 => "i16",
    8 i32 => "i32",
    9 i64 => "i64",
    10 u8 => "ui8",
    11 u16 => "ui16",
    12 u32 => "ui32",
    13 u64 => "ui64",
    14 f16 => "f16",
    15 bf16 => "bf16",
    16 f32 => "f32",
    17 f64 => "f64",
}
value_type!(String, "!tfrt.string");
value_type!(crate::host_buffer::HostBuffer, "!ht.host_buffer");

#[cfg(test)]
mod tests {
    use super::*;

    struct A;
    value_type!(A, "!test.a");
    struct B(#[expect(dead_code, reason = "gives the type a size")] u64);
    value_type!(B, "!test.b");

    #[test]
    fn numbers_are_stable_and_distinct() {
        assert_eq!(A::type_index(), A::type_index());
        assert_ne!(A::type_index(), B::type_index());
        assert_eq!(type_name(B::type_index()), "!test.b");
        assert_eq!(type_name(i32::type_index()), "i32");
        assert_eq!(register_type::<A>(), A::type_index());
        assert_eq!(process_tables().get(B::type_index()).unwrap().payload, Layout::new::<u64>());
    }
}
