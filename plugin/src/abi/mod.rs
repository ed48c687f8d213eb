//! The structs of the StreamExecutor C API in Rust.
//!
//! The members and their order are those of `include/stream_executor.h`; tests compare each offset
//! and size with a C compiler's. There are two layouts under one version number: the RFC's, here,
//! and the one that TensorFlow released, in [`released`], which has other members in some structs.
//! [`Layout`] distinguishes them. TensorFlow's first releases combined the released platform with
//! the RFC's stream executor.
//!
//! Functions are declared as unwinding. So an exception that leaves a plug-in ends the process in
//! an orderly way instead of causing undefined behaviour. It cannot be caught.

#![expect(non_camel_case_types, reason = "the names are those of the C API")]

mod layout;
pub mod released;

use std::ffi::{c_char, c_void};

pub use layout::{Layout, sizes};

use crate::status::TF_Status;

/// The major version of the API.
pub const SE_MAJOR: i32 = 0;
/// The minor version of the API.
pub const SE_MINOR: i32 = 0;
/// The patch version of the API.
pub const SE_PATCH: i32 = 1;

/// A stream of a plug-in.
#[repr(C)]
#[derive(Debug)]
pub struct SP_Stream_st {
    _opaque: [u8; 0],
}
/// An event of a plug-in.
#[repr(C)]
#[derive(Debug)]
pub struct SP_Event_st {
    _opaque: [u8; 0],
}
/// A timer of a plug-in.
#[repr(C)]
#[derive(Debug)]
pub struct SP_Timer_st {
    _opaque: [u8; 0],
}

/// A pointer to a stream.
pub type SP_Stream = *mut SP_Stream_st;
/// A pointer to an event.
pub type SP_Event = *mut SP_Event_st;
/// A pointer to a timer.
pub type SP_Timer = *mut SP_Timer_st;
/// A C boolean: any value but zero is true.
pub type TF_Bool = u8;
/// A host callback on a stream.
pub type SE_StatusCallbackFn = unsafe extern "C-unwind" fn(*mut c_void, *mut TF_Status);

/// Defines the type of a function that may be missing from a struct.
macro_rules! callback {
    (($($argument:ty),*) $(-> $result:ty)?) => {
        Option<unsafe extern "C-unwind" fn($($argument),*) $(-> $result)?>
    };
}

/// Defines structs in C's layout, all of whose members may be zero, with a table for tests.
macro_rules! structs {
    ($($(#[$meta:meta])* $name:ident { $($member:ident: $type:ty,)* })*) => {
        $(
            $(#[$meta])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            #[expect(missing_docs, reason = "the C header says what the members are")]
            pub struct $name { $(pub $member: $type,)* }

            // SAFETY: all members are numbers, pointers and optional functions, which may be zero.
            #[expect(unsafe_code, reason = "the comment states the promise")]
            unsafe impl $crate::abi::Zeroed for $name {}
        )*

        /// All structs: name; names, offsets and sizes of the members; size.
        pub const STRUCTS: &[(&str, &[(&str, usize, usize)], usize)] = &[$(
            (
                stringify!($name),
                &[$((
                    stringify!($member),
                    std::mem::offset_of!($name, $member),
                    size_of::<$type>(),
                ),)*],
                size_of::<$name>(),
            ),
        )*];
    };
}

use {callback, structs};

/// A struct that is valid if all its bytes are zero.
///
/// # Safety
/// All bytes zero must be a valid value of the type.
#[expect(unsafe_code, reason = "what implementors promise")]
pub unsafe trait Zeroed: Copy {
    /// Returns the value with all bytes zero.
    fn zeroed() -> Self {
        // SAFETY: implementors of the trait promise that this is a valid value.
        #[expect(unsafe_code, reason = "a C struct is zeroed before the other side fills it")]
        unsafe {
            std::mem::zeroed()
        }
    }
}

structs! {
    /// The functions of a timer.
    SP_TimerFns {
        struct_size: usize,
        ext: *mut c_void,
        nanoseconds: callback!((SP_Timer) -> u64),
    }

    /// The statistics of an allocator.
    SP_AllocatorStats {
        struct_size: usize,
        num_allocs: i64,
        bytes_in_use: i64,
        peak_bytes_in_use: i64,
        largest_alloc_size: i64,
        has_bytes_limit: i8,
        bytes_limit: i64,
        bytes_reserved: i64,
        peak_bytes_reserved: i64,
        has_bytes_reservable_limit: i8,
        bytes_reservable_limit: i64,
        largest_free_block_bytes: i64,
    }

    /// Memory of a device.
    SP_DeviceMemoryBase {
        struct_size: usize,
        ext: *mut c_void,
        opaque: *mut c_void,
        size: u64,
        payload: u64,
    }

    /// A device.
    SP_Device {
        struct_size: usize,
        ext: *mut c_void,
        ordinal: i32,
        device_handle: *mut c_void,
    }

    /// The parameters of creating a device.
    SE_CreateDeviceParams {
        struct_size: usize,
        ext: *mut c_void,
        ordinal: i32,
        device: *mut SP_Device,
    }

    /// The functions of a device.
    SP_StreamExecutor {
        struct_size: usize,
        ext: *mut c_void,
        allocate: callback!((*const SP_Device, u64, i64, *mut SP_DeviceMemoryBase)),
        deallocate: callback!((*const SP_Device, *mut SP_DeviceMemoryBase)),
        host_memory_allocate: callback!((*const SP_Device, u64) -> *mut c_void),
        host_memory_deallocate: callback!((*const SP_Device, *mut c_void)),
        unified_memory_allocate: callback!((*const SP_Device, u64) -> *mut c_void),
        unified_memory_deallocate: callback!((*const SP_Device, *mut c_void)),
        get_allocator_stats: callback!((*const SP_Device, *mut SP_AllocatorStats) -> TF_Bool),
        device_memory_usage: callback!((*const SP_Device, *mut i64, *mut i64) -> TF_Bool),
        create_stream: callback!((*const SP_Device, *mut SP_Stream, *mut TF_Status)),
        destroy_stream: callback!((*const SP_Device, SP_Stream)),
        create_stream_dependency: callback!((*const SP_Device, SP_Stream, SP_Stream, *mut TF_Status)),
        get_stream_status: callback!((*const SP_Device, SP_Stream, *mut TF_Status)),
        create_event: callback!((*const SP_Device, *mut SP_Event, *mut TF_Status)),
        destroy_event: callback!((*const SP_Device, SP_Event)),
        get_event_status: callback!((*const SP_Device, SP_Event) -> i32),
        record_event: callback!((*const SP_Device, SP_Stream, SP_Event, *mut TF_Status)),
        wait_for_event: callback!((*const SP_Device, SP_Stream, SP_Event, *mut TF_Status)),
        create_timer: callback!((*const SP_Device, *mut SP_Timer, *mut TF_Status)),
        destroy_timer: callback!((*const SP_Device, SP_Timer)),
        start_timer: callback!((*const SP_Device, SP_Stream, SP_Timer, *mut TF_Status)),
        stop_timer: callback!((*const SP_Device, SP_Stream, SP_Timer, *mut TF_Status)),
        memcpy_dtoh: callback!((*const SP_Device, SP_Stream, *mut c_void, *const SP_DeviceMemoryBase, u64, *mut TF_Status)),
        memcpy_htod: callback!((*const SP_Device, SP_Stream, *mut SP_DeviceMemoryBase, *const c_void, u64, *mut TF_Status)),
        memcpy_dtod: callback!((*const SP_Device, SP_Stream, *mut SP_DeviceMemoryBase, *const SP_DeviceMemoryBase, u64, *mut TF_Status)),
        sync_memcpy_dtoh: callback!((*const SP_Device, *mut c_void, *const SP_DeviceMemoryBase, u64, *mut TF_Status)),
        sync_memcpy_htod: callback!((*const SP_Device, *mut SP_DeviceMemoryBase, *const c_void, u64, *mut TF_Status)),
        sync_memcpy_dtod: callback!((*const SP_Device, *mut SP_DeviceMemoryBase, *const SP_DeviceMemoryBase, u64, *mut TF_Status)),
        block_host_for_event: callback!((*const SP_Device, SP_Event, *mut TF_Status)),
        block_host_until_done: callback!((*const SP_Device, SP_Stream, *mut TF_Status)),
        synchronize_all_activity: callback!((*const SP_Device, *mut TF_Status)),
        host_callback: callback!((*mut SP_Device, SP_Stream, Option<SE_StatusCallbackFn>, *mut c_void) -> TF_Bool),
    }

    /// The parameters of creating a stream executor.
    SE_CreateStreamExecutorParams {
        struct_size: usize,
        ext: *mut c_void,
        stream_executor: *mut SP_StreamExecutor,
    }

    /// A source of memory for a core's allocator.
    SP_Allocator {
        struct_size: usize,
        ext: *mut c_void,
        supports_unified_memory: TF_Bool,
    }

    /// The functions of such a source.
    SP_AllocatorFns {
        struct_size: usize,
        ext: *mut c_void,
        allocate: callback!((*const SP_Device, *const SP_Allocator, u64, i64, *mut SP_DeviceMemoryBase)),
        deallocate: callback!((*const SP_Device, *const SP_Allocator, *mut SP_DeviceMemoryBase)),
        host_memory_allocate: callback!((*const SP_Device, *const SP_Allocator, u64) -> *mut c_void),
        host_memory_deallocate: callback!((*const SP_Device, *const SP_Allocator, *mut c_void)),
        unified_memory_allocate: callback!((*const SP_Device, *const SP_Allocator, u64) -> *mut c_void),
        unified_memory_deallocate: callback!((*const SP_Device, *const SP_Allocator, *mut c_void)),
        get_allocator_stats: callback!((*const SP_Device, *const SP_Allocator, *mut SP_AllocatorStats) -> TF_Bool),
        device_memory_usage: callback!((*const SP_Device, *const SP_Allocator, *mut i64, *mut i64) -> TF_Bool),
    }

    /// An allocation strategy of a plug-in.
    SP_CustomAllocator {
        struct_size: usize,
        ext: *mut c_void,
    }

    /// The functions of such a strategy.
    SP_CustomAllocatorFns {
        struct_size: usize,
        ext: *mut c_void,
        allocate_raw: callback!((*const SP_Device, *const SP_CustomAllocator, usize, usize) -> *mut c_void),
        deallocate_raw: callback!((*const SP_Device, *const SP_CustomAllocator, *mut c_void)),
        host_allocate_raw: callback!((*const SP_Device, *const SP_CustomAllocator, u64) -> *mut c_void),
        host_deallocate_raw: callback!((*const SP_Device, *const SP_CustomAllocator, *mut c_void)),
        get_allocator_stats: callback!((*const SP_Device, *const SP_CustomAllocator, *mut SP_AllocatorStats) -> TF_Bool),
        device_memory_usage: callback!((*const SP_Device, *const SP_CustomAllocator, *mut i64, *mut i64) -> TF_Bool),
    }

    /// The parameters of creating an allocator.
    SE_CreateAllocatorParams {
        struct_size: usize,
        ext: *mut c_void,
        allocator: *mut SP_Allocator,
        allocator_fns: *mut SP_AllocatorFns,
    }

    /// The parameters of creating a custom allocator.
    SE_CreateCustomAllocatorParams {
        struct_size: usize,
        ext: *mut c_void,
        custom_allocator: *mut SP_CustomAllocator,
        custom_allocator_fns: *mut SP_CustomAllocatorFns,
    }

    /// A platform: devices of one kind.
    SP_Platform {
        struct_size: usize,
        ext: *mut c_void,
        name: *const c_char,
        r#type: *const c_char,
        visible_device_count: usize,
    }

    /// The functions that create and destroy a platform's devices.
    SP_PlatformFns {
        struct_size: usize,
        ext: *mut c_void,
        create_device: callback!((*const SP_Platform, *mut SE_CreateDeviceParams, *mut TF_Status)),
        destroy_device: callback!((*const SP_Platform, *mut SP_Device)),
        create_stream_executor: callback!((*const SP_Platform, *mut SE_CreateStreamExecutorParams, *mut TF_Status)),
        destroy_stream_executor: callback!((*const SP_Platform, *mut SP_StreamExecutor)),
        create_timer_fns: callback!((*const SP_Platform, *mut SP_TimerFns, *mut TF_Status)),
        destroy_timer_fns: callback!((*const SP_Platform, *mut SP_TimerFns)),
        create_allocator: callback!((*const SP_Platform, *mut SE_CreateAllocatorParams, *mut TF_Status)),
        destroy_allocator: callback!((*const SP_Platform, *mut SP_Allocator, *mut SP_AllocatorFns)),
        create_custom_allocator: callback!((*const SP_Platform, *mut SE_CreateCustomAllocatorParams, *mut TF_Status)),
        destroy_custom_allocator: callback!((*const SP_Platform, *mut SP_CustomAllocator, *mut SP_CustomAllocatorFns)),
    }

    /// The parameters that a core and a plug-in exchange first.
    SE_PlatformRegistrationParams {
        struct_size: usize,
        ext: *mut c_void,
        major_version: i32,
        minor_version: i32,
        patch_version: i32,
        platform: *mut SP_Platform,
        platform_fns: *mut SP_PlatformFns,
        destroy_platform: callback!((*mut SP_Platform)),
        destroy_platform_fns: callback!((*mut SP_PlatformFns)),
    }
}

/// The only function that a plug-in exports.
pub type SE_InitPlugin = unsafe extern "C-unwind" fn(*mut SE_PlatformRegistrationParams, *mut TF_Status);

/// Its name.
pub const INIT_SYMBOL: &[u8] = b"SE_InitPlugin\0";
