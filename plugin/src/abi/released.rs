//! The structs that differ in the layout released by TensorFlow.
//!
//! Devices have more properties, streams can fill memory, the number of devices is queried, and a
//! platform has flags in place of allocators. All other structs are the RFC's. A struct here begins
//! like the RFC's struct of the same name as far as both have members, except for the platform's
//! two structs and the end of the stream executor.

use std::ffi::{c_char, c_int, c_void};

use super::{
    SE_CreateDeviceParams, SE_CreateStreamExecutorParams, SE_StatusCallbackFn, SP_AllocatorStats,
    SP_DeviceMemoryBase, SP_Event, SP_Stream, SP_Timer, SP_TimerFns, TF_Bool, callback, structs,
};
use crate::status::TF_Status;

structs! {
    /// A device.
    SP_Device {
        struct_size: usize,
        ext: *mut c_void,
        ordinal: i32,
        device_handle: *mut c_void,
        hardware_name: *const c_char,
        device_vendor: *const c_char,
        pci_bus_id: *const c_char,
    }

    /// The functions of a device.
    SP_DeviceFns {
        struct_size: usize,
        ext: *mut c_void,
        get_numa_node: callback!((*const super::SP_Device) -> i32),
        get_memory_bandwidth: callback!((*const super::SP_Device) -> i64),
        get_gflops: callback!((*const super::SP_Device) -> f64),
    }

    /// The parameters of creating these functions.
    SE_CreateDeviceFnsParams {
        struct_size: usize,
        ext: *mut c_void,
        device_fns: *mut SP_DeviceFns,
    }

    /// The functions of a stream executor.
    SP_StreamExecutor {
        struct_size: usize,
        ext: *mut c_void,
        allocate: callback!((*const super::SP_Device, u64, i64, *mut SP_DeviceMemoryBase)),
        deallocate: callback!((*const super::SP_Device, *mut SP_DeviceMemoryBase)),
        host_memory_allocate: callback!((*const super::SP_Device, u64) -> *mut c_void),
        host_memory_deallocate: callback!((*const super::SP_Device, *mut c_void)),
        unified_memory_allocate: callback!((*const super::SP_Device, u64) -> *mut c_void),
        unified_memory_deallocate: callback!((*const super::SP_Device, *mut c_void)),
        get_allocator_stats: callback!((*const super::SP_Device, *mut SP_AllocatorStats) -> TF_Bool),
        device_memory_usage: callback!((*const super::SP_Device, *mut i64, *mut i64) -> TF_Bool),
        create_stream: callback!((*const super::SP_Device, *mut SP_Stream, *mut TF_Status)),
        destroy_stream: callback!((*const super::SP_Device, SP_Stream)),
        create_stream_dependency: callback!((*const super::SP_Device, SP_Stream, SP_Stream, *mut TF_Status)),
        get_stream_status: callback!((*const super::SP_Device, SP_Stream, *mut TF_Status)),
        create_event: callback!((*const super::SP_Device, *mut SP_Event, *mut TF_Status)),
        destroy_event: callback!((*const super::SP_Device, SP_Event)),
        get_event_status: callback!((*const super::SP_Device, SP_Event) -> i32),
        record_event: callback!((*const super::SP_Device, SP_Stream, SP_Event, *mut TF_Status)),
        wait_for_event: callback!((*const super::SP_Device, SP_Stream, SP_Event, *mut TF_Status)),
        create_timer: callback!((*const super::SP_Device, *mut SP_Timer, *mut TF_Status)),
        destroy_timer: callback!((*const super::SP_Device, SP_Timer)),
        start_timer: callback!((*const super::SP_Device, SP_Stream, SP_Timer, *mut TF_Status)),
        stop_timer: callback!((*const super::SP_Device, SP_Stream, SP_Timer, *mut TF_Status)),
        memcpy_dtoh: callback!((*const super::SP_Device, SP_Stream, *mut c_void, *const SP_DeviceMemoryBase, u64, *mut TF_Status)),
        memcpy_htod: callback!((*const super::SP_Device, SP_Stream, *mut SP_DeviceMemoryBase, *const c_void, u64, *mut TF_Status)),
        memcpy_dtod: callback!((*const super::SP_Device, SP_Stream, *mut SP_DeviceMemoryBase, *const SP_DeviceMemoryBase, u64, *mut TF_Status)),
        sync_memcpy_dtoh: callback!((*const super::SP_Device, *mut c_void, *const SP_DeviceMemoryBase, u64, *mut TF_Status)),
        sync_memcpy_htod: callback!((*const super::SP_Device, *mut SP_DeviceMemoryBase, *const c_void, u64, *mut TF_Status)),
        sync_memcpy_dtod: callback!((*const super::SP_Device, *mut SP_DeviceMemoryBase, *const SP_DeviceMemoryBase, u64, *mut TF_Status)),
        block_host_for_event: callback!((*const super::SP_Device, SP_Event, *mut TF_Status)),
        block_host_until_done: callback!((*const super::SP_Device, SP_Stream, *mut TF_Status)),
        synchronize_all_activity: callback!((*const super::SP_Device, *mut TF_Status)),
        mem_zero: callback!((*const super::SP_Device, SP_Stream, *mut SP_DeviceMemoryBase, u64, *mut TF_Status)),
        memset: callback!((*const super::SP_Device, SP_Stream, *mut SP_DeviceMemoryBase, u8, u64, *mut TF_Status)),
        memset32: callback!((*const super::SP_Device, SP_Stream, *mut SP_DeviceMemoryBase, u32, u64, *mut TF_Status)),
        host_callback: callback!((*mut super::SP_Device, SP_Stream, Option<SE_StatusCallbackFn>, *mut c_void) -> TF_Bool),
    }

    /// A platform: devices of one kind.
    SP_Platform {
        struct_size: usize,
        ext: *mut c_void,
        name: *const c_char,
        r#type: *const c_char,
        supports_unified_memory: TF_Bool,
        use_bfc_allocator: TF_Bool,
        force_memory_growth: TF_Bool,
    }

    /// The functions that create and destroy a platform's devices.
    SP_PlatformFns {
        struct_size: usize,
        ext: *mut c_void,
        get_device_count: callback!((*const super::SP_Platform, *mut c_int, *mut TF_Status)),
        create_device: callback!((*const super::SP_Platform, *mut SE_CreateDeviceParams, *mut TF_Status)),
        destroy_device: callback!((*const super::SP_Platform, *mut super::SP_Device)),
        create_device_fns: callback!((*const super::SP_Platform, *mut SE_CreateDeviceFnsParams, *mut TF_Status)),
        destroy_device_fns: callback!((*const super::SP_Platform, *mut SP_DeviceFns)),
        create_stream_executor: callback!((*const super::SP_Platform, *mut SE_CreateStreamExecutorParams, *mut TF_Status)),
        destroy_stream_executor: callback!((*const super::SP_Platform, *mut super::SP_StreamExecutor)),
        create_timer_fns: callback!((*const super::SP_Platform, *mut SP_TimerFns, *mut TF_Status)),
        destroy_timer_fns: callback!((*const super::SP_Platform, *mut SP_TimerFns)),
    }
}
