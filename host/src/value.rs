//! The types that a value may have.
//!
//! A value carries the number of its type, so that checking a payload's type is one comparison. The
//! process-wide table of types (`process`) says how a payload of each type is laid out and
//! destroyed.

#![expect(unsafe_code, reason = "built-in scalars say themselves that they need no cell")]

use std::{
    mem,
    sync::atomic::{AtomicU32, Ordering},
};

use half::{bf16, f16};

use crate::process::{TypeIndex, process_tables};

impl TypeIndex {
    /// Returns whether this is the number of a scalar: a type no larger than a word that needs no
    /// drop.
    #[inline]
    pub(crate) fn is_scalar(self) -> bool {
        (tags::FIRST_INLINE.0..Self::FIRST_DYNAMIC).contains(&self.0)
    }
}

/// A token that orders side effects. It carries no data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain;

/// A type whose values kernels can take, return and share.
///
/// Implement it with [`value_type!`](crate::value_type), which gives the type its MLIR name.
///
/// # Safety
/// `type_index` must return the number that [`register_type`] gave this very type, or, for the
/// built-in scalars, its fixed number; `INLINE` may be set for those scalars alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a runtime value",
    note = "declare it with `tfrt_host::value_type!({Self}, \"!dialect.name\")`"
)]
pub unsafe trait Value: Send + Sync + Sized + 'static {
    /// The type's MLIR spelling, such as `i32` or `!tfrt.chain`.
    const TYPE_NAME: &'static str;
    /// Whether payloads live in the handle itself instead of in a counted cell.
    #[doc(hidden)]
    const INLINE: bool = false;
    /// Returns the type's number.
    fn type_index() -> TypeIndex;
}

/// Returns the number of `T`, which the first call assigns.
///
/// # Panics
/// If the process has more than [`MAX_TYPES`](crate::MAX_TYPES) types, which is a programming
/// error.
#[cold]
pub fn register_type<T: Value>() -> TypeIndex {
    process_tables().types.register::<T>(T::TYPE_NAME)
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

/// Returns the MLIR spelling of the type with this number.
pub fn type_name(index: TypeIndex) -> &'static str {
    match index {
        tags::CELL | tags::EMPTY => "value",
        tags::ERROR => "error",
        _ => inline_name(index)
            .unwrap_or_else(|| process_tables().types.get(index).map_or("unknown type", |e| e.name)),
    }
}

/// Declares a type as a runtime value: `value_type!(MyTensor, "!my.tensor");`.
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
    /// Numbers from here on (below [`TypeIndex::FIRST_DYNAMIC`]) are scalars in the handle.
    pub(crate) const FIRST_INLINE: TypeIndex = TypeIndex(4);
}

macro_rules! inline_types {
    ($($number:literal $type:ty => $name:literal,)*) => {
        $(
            const _: () = assert!(mem::size_of::<$type>() <= 8 && mem::align_of::<$type>() <= 8 && !mem::needs_drop::<$type>());
            const _: () = assert!($number >= tags::FIRST_INLINE.0 && $number < TypeIndex::FIRST_DYNAMIC);
            // SAFETY: the number is below `FIRST_DYNAMIC` and used once in this list. As asserted
            // above, the payload fits a word and needs no drop.
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

#[cfg(test)]
mod tests {
    use std::alloc::Layout;

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
        assert_eq!(process_tables().types.get(B::type_index()).unwrap().payload, Layout::new::<u64>());
    }
}
