//! A plug-in's functions, in one form for both layouts. Required functions are present, and
//! optional ones may be. Some are required but never called, because streams and events do the
//! same.

use std::ffi::c_void;

use crate::abi::{
    SE_StatusCallbackFn, SP_AllocatorStats, SP_Device, SP_DeviceMemoryBase, SP_Event, SP_Stream,
    SP_StreamExecutor, SP_Timer, TF_Bool, released,
};
use crate::status::TF_Status;

type Allocate = unsafe extern "C-unwind" fn(*const SP_Device, u64, i64, *mut SP_DeviceMemoryBase);
type Deallocate = unsafe extern "C-unwind" fn(*const SP_Device, *mut SP_DeviceMemoryBase);
type AllocateHost = unsafe extern "C-unwind" fn(*const SP_Device, u64) -> *mut c_void;
type DeallocateHost = unsafe extern "C-unwind" fn(*const SP_Device, *mut c_void);
type Set<T> = unsafe extern "C-unwind" fn(
    *const SP_Device,
    SP_Stream,
    *mut SP_DeviceMemoryBase,
    T,
    u64,
    *mut TF_Status,
);

macro_rules! calls {
    (
        required { $($(#[$doc:meta])* $name:ident: fn($($argument:ty),*) $(-> $result:ty)?,)* }
        checked { $($checked:ident,)* }
        optional { $($(#[$optional_doc:meta])* $optional:ident: $type:ty,)* }
        released { $($(#[$released_doc:meta])* $released:ident: $released_type:ty,)* }
    ) => {
        /// The functions of a stream executor.
        #[derive(Clone, Copy)]
        pub(crate) struct Calls {
            $($(#[$doc])* pub(crate) $name: unsafe extern "C-unwind" fn(*const SP_Device, $($argument),*) $(-> $result)?,)*
            $($(#[$optional_doc])* pub(crate) $optional: Option<$type>,)*
            $($(#[$released_doc])* pub(crate) $released: Option<$released_type>,)*
        }

        impl Calls {
            /// Takes the functions from the RFC's layout.
            pub(crate) fn rfc(executor: &SP_StreamExecutor) -> Result<Self, String> {
                $(executor.$checked.ok_or_else(|| missing(stringify!($checked)))?;)*
                Ok(Self {
                    $($name: executor.$name.ok_or_else(|| missing(stringify!($name)))?,)*
                    $($optional: executor.$optional,)*
                    $($released: None,)*
                })
            }

            /// Takes the functions from the released layout.
            pub(crate) fn released(executor: &released::SP_StreamExecutor) -> Result<Self, String> {
                $(executor.$checked.ok_or_else(|| missing(stringify!($checked)))?;)*
                Ok(Self {
                    $($name: executor.$name.ok_or_else(|| missing(stringify!($name)))?,)*
                    $($optional: executor.$optional,)*
                    $($released: executor.$released,)*
                })
            }
        }
    };
}

fn missing(name: &str) -> String {
    format!("SP_StreamExecutor.{name} is missing")
}

calls! {
    required {
        create_stream: fn(*mut SP_Stream, *mut TF_Status),
        destroy_stream: fn(SP_Stream),
        get_stream_status: fn(SP_Stream, *mut TF_Status),
        create_event: fn(*mut SP_Event, *mut TF_Status),
        destroy_event: fn(SP_Event),
        get_event_status: fn(SP_Event) -> i32,
        record_event: fn(SP_Stream, SP_Event, *mut TF_Status),
        wait_for_event: fn(SP_Stream, SP_Event, *mut TF_Status),
        create_timer: fn(*mut SP_Timer, *mut TF_Status),
        destroy_timer: fn(SP_Timer),
        start_timer: fn(SP_Stream, SP_Timer, *mut TF_Status),
        stop_timer: fn(SP_Stream, SP_Timer, *mut TF_Status),
        memcpy_dtoh: fn(SP_Stream, *mut c_void, *const SP_DeviceMemoryBase, u64, *mut TF_Status),
        memcpy_htod: fn(SP_Stream, *mut SP_DeviceMemoryBase, *const c_void, u64, *mut TF_Status),
        memcpy_dtod: fn(SP_Stream, *mut SP_DeviceMemoryBase, *const SP_DeviceMemoryBase, u64, *mut TF_Status),
        block_host_for_event: fn(SP_Event, *mut TF_Status),
    }
    checked {
        create_stream_dependency,
        sync_memcpy_dtoh,
        sync_memcpy_htod,
        sync_memcpy_dtod,
    }
    optional {
        /// Required unless an allocator replaces it. The same holds for the next three.
        allocate: Allocate,
        deallocate: Deallocate,
        host_memory_allocate: AllocateHost,
        host_memory_deallocate: DeallocateHost,
        unified_memory_allocate: AllocateHost,
        unified_memory_deallocate: DeallocateHost,
        get_allocator_stats: unsafe extern "C-unwind" fn(*const SP_Device, *mut SP_AllocatorStats) -> TF_Bool,
        device_memory_usage: unsafe extern "C-unwind" fn(*const SP_Device, *mut i64, *mut i64) -> TF_Bool,
        block_host_until_done: unsafe extern "C-unwind" fn(*const SP_Device, SP_Stream, *mut TF_Status),
        /// The last two may be beyond the end of an older plug-in's struct. Otherwise they are
        /// required.
        synchronize_all_activity: unsafe extern "C-unwind" fn(*const SP_Device, *mut TF_Status),
        host_callback: unsafe extern "C-unwind" fn(*mut SP_Device, SP_Stream, Option<SE_StatusCallbackFn>, *mut c_void) -> TF_Bool,
    }
    released {
        mem_zero: unsafe extern "C-unwind" fn(*const SP_Device, SP_Stream, *mut SP_DeviceMemoryBase, u64, *mut TF_Status),
        memset: Set<u8>,
        memset32: Set<u32>,
    }
}

/// Checks that a missing optional function is beyond the end of the struct, and not just null.
pub(crate) fn check_end(name: &str, present: bool, size: usize, offset: usize) -> Result<(), String> {
    if !present && size >= offset + size_of::<usize>() { Err(missing(name)) } else { Ok(()) }
}
