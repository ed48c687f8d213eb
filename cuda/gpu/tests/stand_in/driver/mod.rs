//! The driver's entry points, one file for each kind of object.

mod devices;
mod graphs;
mod memory;
mod modules;
mod streams;

use std::ffi::c_int;

use super::state::{Answer, violation};

/// `CUDA_ERROR_NOT_FOUND`.
const NOT_FOUND: c_int = 500;

/// Declares entry points, whose bodies return an [`Answer`].
macro_rules! entry_points {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> std::ffi::c_int {
            $crate::calls::count(stringify!($name));
            let body = || -> $crate::state::Answer { $body };
            $crate::state::answer(body())
        }
    )*};
}
pub(crate) use entry_points;

/// Stores a result for the caller.
pub(crate) fn put<T>(place: *mut T, value: T) -> Answer {
    if place.is_null() {
        violation("a result has no place");
    }
    // SAFETY: the pointer is an entry point's place for a result of this type, valid for the call,
    // and not null.
    unsafe { place.write(value) };
    Ok(())
}
