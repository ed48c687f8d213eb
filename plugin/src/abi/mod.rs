//! The structs of the StreamExecutor C API, as Rust sees them.
//!
//! The members, and their order, are those of `include/stream_executor.h`; tests compare each offset and size with what
//! a C compiler says. There are two layouts under one version number: the RFC's, here, and the one that TensorFlow
//! released, in [`released`], which has other members in some structs. [`Layout`] tells them apart. TensorFlow's
//! first releases had the released platform and the RFC's stream executor.
//!
//! Functions may unwind as far as Rust is concerned: an exception that leaves a plug-in ends the process in an orderly
//! way instead of undefined behaviour. It cannot be caught.

#![expect(non_camel_case_types, reason = "the names are those of the C API")]

mod layout;
pub mod released;

use std::ffi::{c_char, c_void};

pub use layout::{Layout, sizes};

use crate::status::TF_Status;

/// Major version of the API.
pub const SE_MAJOR: i32 = 0;
/// Minor version of the API.
pub const SE_MINOR: i32 = 0;
/// Patch version of the API.
pub const SE_PATCH: i32 = 1;

/// A stream of the plug-in's.
#[repr(C)]
#[derive(Debug)]
pub struct SP_Stream_st {
    _opaque: [u8; 0],
}
/// An event of the plug-in's.
#[repr(C)]
#[derive(Debug)]
pub struct SP_Event_st {
    _opaque: [u8; 0],
}
/// A timer of the plug-in's.
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
/// A C boolean: anything but zero is true.
pub type TF_Bool = u8;
/// Work of the host's on a stream.
pub type SE_StatusCallbackFn = unsafe extern "C-unwind" fn(*mut c_void, *mut TF_Status);

/// A function that a struct may lack.
macro_rules! callback {
    (($($argument:ty),*) $(-> $result:ty)?) => {
        Option<unsafe extern "C-unwind" fn($($argument),*) $(-> $result)?>
    };
}

/// Structs in C's layout, all of whose members may be zero, and what a test needs to compare them.
macro_rules! structs {
    ($($(#[$meta:meta])* $name:ident { $($member:ident: $type:ty,)* })*) => {
        $(
            $(#[$meta])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            #[expect(missing_docs, reason = "the C header says what the members are")]
            pub struct $name { $(pub $member: $type,)* }

            // SAFETY: numbers, pointers and functions that may be lacking; all may be zero.
            #[expect(unsafe_code, reason = "what is promised is said here")]
            unsafe impl $crate::abi::Zeroed for $name {}
        )*

        /// Each struct: its name, its members' names, offsets and sizes, and its own size.
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

/// Structs that are valid when all their bytes are zero.
///
/// # Safety
/// They are.
#[expect(unsafe_code, reason = "what implementors promise")]
pub unsafe trait Zeroed: Copy {
    /// All bytes zero.
    fn zeroed() -> Self {
        // SAFETY: the trait promises that this is a value.
        #[expect(unsafe_code, reason = "a C struct is zeroed before the other side fills it")]
        unsafe {
            std::mem::zeroed()
        }
    }
}

structs! {
    /// What a timer can be asked.
    SP_TimerFns {
        struct_size: usize,
        ext: *mut c_void,
        nanoseconds: callback!((SP_Timer) -> u64),
    }

    /// An allocator's counts.
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

    /// What creating a device takes.
    SE_CreateDeviceParams {
        struct_size: usize,
        ext: *mut c_void,
        ordinal: i32,
        device: *mut SP_Device,
    }

    /// What a device can do.
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

    /// What creating a stream executor takes.
    SE_CreateStreamExecutorParams {
        struct_size: usize,
        ext: *mut c_void,
        stream_executor: *mut SP_StreamExecutor,
    }

    /// Where a core's allocator gets memory from.
    SP_Allocator {
        struct_size: usize,
        ext: *mut c_void,
        supports_unified_memory: TF_Bool,
    }

    /// What such a source can do.
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

    /// An allocation strategy of the plug-in's.
    SP_CustomAllocator {
        struct_size: usize,
        ext: *mut c_void,
    }

    /// What such a strategy can do.
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

    /// What creating an allocator takes.
    SE_CreateAllocatorParams {
        struct_size: usize,
        ext: *mut c_void,
        allocator: *mut SP_Allocator,
        allocator_fns: *mut SP_AllocatorFns,
    }

    /// What creating a custom allocator takes.
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

    /// What makes and unmakes a platform's devices.
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

    /// What a core and a plug-in tell each other first.
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

/// The one function a plug-in exports.
pub type SE_InitPlugin = unsafe extern "C-unwind" fn(*mut SE_PlatformRegistrationParams, *mut TF_Status);

/// Its name.
pub const INIT_SYMBOL: &[u8] = b"SE_InitPlugin\0";
