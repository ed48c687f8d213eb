/* The StreamExecutor C API, as TensorFlow's RFC 257 of 2020 declares it: what a device plug-in and a core that loads it
 * have in common. plugin/README.md is the guide to it.
 *
 * The core fills structs whose names begin with SE_, the plug-in those that begin with SP_, except where a member says
 * otherwise. Each begins with its size, set by both sides before the other sees it: a member that lies behind the size
 * the other side gave is not there for it. Members are only ever added at the end. `ext` is null where nothing else is
 * said of it. */
#ifndef TFRT_PLUGIN_STREAM_EXECUTOR_H_
#define TFRT_PLUGIN_STREAM_EXECUTOR_H_

#include <stddef.h>
#include <stdint.h>

#include "tf_status.h"

#define SE_MAJOR 0
#define SE_MINOR 0
#define SE_PATCH 1

/* Not TF_BOOL, which is the type of boolean tensors. */
#ifndef TF_Bool
#define TF_Bool unsigned char
#endif

/* The size of a struct that ends with this member, padding behind it left out. */
#ifndef TF_OFFSET_OF_END
#define TF_OFFSET_OF_END(TYPE, MEMBER) (offsetof(TYPE, MEMBER) + sizeof(((TYPE*)0)->MEMBER))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A plug-in defines these three structs as it likes; a core only passes the pointers on. */
typedef struct SP_Stream_st* SP_Stream;
typedef struct SP_Event_st* SP_Event;
typedef struct SP_Timer_st* SP_Timer;

/* Work of the host's on a stream: its argument, and where it says whether it succeeded. */
typedef void (*SE_StatusCallbackFn)(void* const, TF_Status* const);

typedef struct SP_TimerFns {
  size_t struct_size;
  void* ext;
  /* From the timer's start to its stop, both of which the stream has passed. */
  uint64_t (*nanoseconds)(SP_Timer timer);
} SP_TimerFns;

#define SP_TIMER_FNS_STRUCT_SIZE TF_OFFSET_OF_END(SP_TimerFns, nanoseconds)

typedef struct SP_AllocatorStats {
  size_t struct_size;
  int64_t num_allocs;
  int64_t bytes_in_use;
  int64_t peak_bytes_in_use;
  int64_t largest_alloc_size;

  /* Whether the next member is set. */
  int8_t has_bytes_limit;
  int64_t bytes_limit;

  int64_t bytes_reserved;
  int64_t peak_bytes_reserved;

  /* Whether the next member is set. */
  int8_t has_bytes_reservable_limit;
  int64_t bytes_reservable_limit;

  int64_t largest_free_block_bytes;
} SP_AllocatorStats;

#define SP_ALLOCATORSTATS_STRUCT_SIZE TF_OFFSET_OF_END(SP_AllocatorStats, largest_free_block_bytes)

/* Where an event is. Only the last two are no failure. */
typedef enum SE_EventStatus {
  SE_EVENT_UNKNOWN,
  SE_EVENT_ERROR,
  SE_EVENT_PENDING,
  SE_EVENT_COMPLETE,
} SE_EventStatus;

/* Memory of a device. A core may form others that lie within an allocation by adding to `opaque`. */
typedef struct SP_DeviceMemoryBase {
  size_t struct_size;
  void* ext;         /* the plug-in's */
  void* opaque;      /* stands for the memory's first byte; null if there is none */
  uint64_t size;     /* bytes */
  uint64_t payload;  /* the plug-in's */
} SP_DeviceMemoryBase;

#define SP_DEVICE_MEMORY_BASE_STRUCT_SIZE TF_OFFSET_OF_END(SP_DeviceMemoryBase, payload)

typedef struct SP_Device {
  size_t struct_size;
  void* ext;            /* the plug-in's */
  int32_t ordinal;      /* below the platform's number of devices */
  void* device_handle;  /* the plug-in's */
} SP_Device;

#define SP_DEVICE_STRUCT_SIZE TF_OFFSET_OF_END(SP_Device, device_handle)

typedef struct SE_CreateDeviceParams {
  size_t struct_size;
  void* ext;
  int32_t ordinal;    /* which device */
  SP_Device* device;  /* the core's memory, which the plug-in fills */
} SE_CreateDeviceParams;

#define SE_CREATE_DEVICE_PARAMS_STRUCT_SIZE TF_OFFSET_OF_END(SE_CreateDeviceParams, device)

/* What a device can do. Any function may be called from any thread, also from several at once. */
typedef struct SP_StreamExecutor {
  size_t struct_size;
  void* ext;

  /* Memory of the device: `size` bytes in `mem`, whose `opaque` is null if there are no more. `memory_space` is 0. */
  void (*allocate)(const SP_Device* device, uint64_t size, int64_t memory_space, SP_DeviceMemoryBase* mem);
  /* Nothing uses the memory any more. */
  void (*deallocate)(const SP_Device* device, SP_DeviceMemoryBase* memory);

  /* Memory of the host that asynchronous copies may use; null if there is no more. */
  void* (*host_memory_allocate)(const SP_Device* device, uint64_t size);
  void (*host_memory_deallocate)(const SP_Device* device, void* mem);

  /* Optional: memory that host and devices reach under one address. */
  void* (*unified_memory_allocate)(const SP_Device* device, uint64_t size);
  void (*unified_memory_deallocate)(const SP_Device* device, void* location);

  /* Optional: false if the device cannot tell. */
  TF_Bool (*get_allocator_stats)(const SP_Device* device, SP_AllocatorStats* stats);
  /* Optional: bytes free and in all; false if the device cannot tell. */
  TF_Bool (*device_memory_usage)(const SP_Device* device, int64_t* free, int64_t* total);

  /* Streams: queues of work, which the device does in order, asynchronously to the host and to other streams. */
  void (*create_stream)(const SP_Device* device, SP_Stream* stream, TF_Status* status);
  void (*destroy_stream)(const SP_Device* device, SP_Stream stream);
  /* What is queued on `dependent` from now on waits for what is queued on `other` now. */
  void (*create_stream_dependency)(const SP_Device* device, SP_Stream dependent, SP_Stream other, TF_Status* status);
  /* The first failure of the stream's work, if there was one. Does not wait. */
  void (*get_stream_status)(const SP_Device* device, SP_Stream stream, TF_Status* status);

  /* Events: marks in streams. */
  void (*create_event)(const SP_Device* device, SP_Event* event, TF_Status* status);
  void (*destroy_event)(const SP_Device* device, SP_Event event);
  /* Whether the stream of the latest record has come to it. */
  SE_EventStatus (*get_event_status)(const SP_Device* device, SP_Event event);
  /* Marks what is queued on the stream so far, in place of an earlier mark. */
  void (*record_event)(const SP_Device* device, SP_Stream stream, SP_Event event, TF_Status* status);
  /* What is queued on the stream from now on waits for the event's latest record. */
  void (*wait_for_event)(const SP_Device* const device, SP_Stream stream, SP_Event event, TF_Status* const status);

  /* Timers: from one place in a stream to another. */
  void (*create_timer)(const SP_Device* device, SP_Timer* timer, TF_Status* status);
  void (*destroy_timer)(const SP_Device* device, SP_Timer timer);
  void (*start_timer)(const SP_Device* device, SP_Stream stream, SP_Timer timer, TF_Status* status);
  void (*stop_timer)(const SP_Device* device, SP_Stream stream, SP_Timer timer, TF_Status* status);

  /* Copies, queued on a stream. Host memory stays as it is until the stream has passed the copy. */
  void (*memcpy_dtoh)(const SP_Device* device, SP_Stream stream, void* host_dst, const SP_DeviceMemoryBase* device_src,
                      uint64_t size, TF_Status* status);
  void (*memcpy_htod)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* device_dst, const void* host_src,
                      uint64_t size, TF_Status* status);
  void (*memcpy_dtod)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* device_dst,
                      const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status);

  /* Copies that are done when the call returns. */
  void (*sync_memcpy_dtoh)(const SP_Device* device, void* host_dst, const SP_DeviceMemoryBase* device_src,
                           uint64_t size, TF_Status* status);
  void (*sync_memcpy_htod)(const SP_Device* device, SP_DeviceMemoryBase* device_dst, const void* host_src,
                           uint64_t size, TF_Status* status);
  void (*sync_memcpy_dtod)(const SP_Device* device, SP_DeviceMemoryBase* device_dst,
                           const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status);

  /* Waits until the event's latest record is reached. */
  void (*block_host_for_event)(const SP_Device* device, SP_Event event, TF_Status* status);
  /* Optional: waits until all work queued on the stream is done. Without it, an event is recorded and waited for. */
  void (*block_host_until_done)(const SP_Device* device, SP_Stream stream, TF_Status* status);
  /* Waits until the device has nothing left to do. */
  void (*synchronize_all_activity)(const SP_Device* device, TF_Status* status);

  /* Queues a call of `callback_fn(callback_arg, …)` on a thread of the host's; false if that is not possible. */
  TF_Bool (*host_callback)(SP_Device* device, SP_Stream stream, SE_StatusCallbackFn callback_fn, void* callback_arg);
} SP_StreamExecutor;

#define SP_STREAMEXECUTOR_STRUCT_SIZE TF_OFFSET_OF_END(SP_StreamExecutor, host_callback)

typedef struct SE_CreateStreamExecutorParams {
  size_t struct_size;
  void* ext;
  SP_StreamExecutor* stream_executor;  /* the core's memory, which the plug-in fills */
} SE_CreateStreamExecutorParams;

#define SE_CREATE_STREAM_EXECUTOR_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(SE_CreateStreamExecutorParams, stream_executor)

/* Where the core's caching allocator gets its memory from. */
typedef struct SP_Allocator {
  size_t struct_size;
  void* ext;                        /* the plug-in's */
  TF_Bool supports_unified_memory;  /* whether the functions for it are set */
} SP_Allocator;

#define SP_ALLOCATOR_STRUCT_SIZE TF_OFFSET_OF_END(SP_Allocator, supports_unified_memory)

/* As the functions of the same names in SP_StreamExecutor, whose place they take. */
typedef struct SP_AllocatorFns {
  size_t struct_size;
  void* ext;

  void (*allocate)(const SP_Device* device, const SP_Allocator* allocator, uint64_t size, int64_t memory_space,
                   SP_DeviceMemoryBase* mem);
  void (*deallocate)(const SP_Device* device, const SP_Allocator* allocator, SP_DeviceMemoryBase* memory);
  void* (*host_memory_allocate)(const SP_Device* device, const SP_Allocator* allocator, uint64_t size);
  void (*host_memory_deallocate)(const SP_Device* device, const SP_Allocator* allocator, void* mem);
  void* (*unified_memory_allocate)(const SP_Device* device, const SP_Allocator* allocator, uint64_t bytes);
  void (*unified_memory_deallocate)(const SP_Device* device, const SP_Allocator* allocator, void* location);
  TF_Bool (*get_allocator_stats)(const SP_Device* device, const SP_Allocator* allocator, SP_AllocatorStats* stats);
  TF_Bool (*device_memory_usage)(const SP_Device* device, const SP_Allocator* allocator, int64_t* free,
                                 int64_t* total);
} SP_AllocatorFns;

#define SP_ALLOCATOR_FNS_STRUCT_SIZE TF_OFFSET_OF_END(SP_AllocatorFns, device_memory_usage)

/* An allocation strategy of the plug-in's, in place of the core's. */
typedef struct SP_CustomAllocator {
  size_t struct_size;
  void* ext;  /* the plug-in's */
} SP_CustomAllocator;

#define SP_CUSTOM_ALLOCATOR_STRUCT_SIZE TF_OFFSET_OF_END(SP_CustomAllocator, ext)

typedef struct SP_CustomAllocatorFns {
  size_t struct_size;
  void* ext;

  /* `size` bytes at a multiple of `alignment`; null if there are no more. */
  void* (*allocate_raw)(const SP_Device* device, const SP_CustomAllocator* allocator, size_t size, size_t alignment);
  void (*deallocate_raw)(const SP_Device* device, const SP_CustomAllocator* allocator, void* ptr);
  void* (*host_allocate_raw)(const SP_Device* device, const SP_CustomAllocator* allocator, uint64_t size);
  void (*host_deallocate_raw)(const SP_Device* device, const SP_CustomAllocator* allocator, void* mem);
  TF_Bool (*get_allocator_stats)(const SP_Device* device, const SP_CustomAllocator* allocator,
                                 SP_AllocatorStats* stats);
  TF_Bool (*device_memory_usage)(const SP_Device* device, const SP_CustomAllocator* allocator, int64_t* free,
                                 int64_t* total);
} SP_CustomAllocatorFns;

#define SP_CUSTOM_ALLOCATOR_FNS_STRUCT_SIZE TF_OFFSET_OF_END(SP_CustomAllocatorFns, device_memory_usage)

typedef struct SE_CreateAllocatorParams {
  size_t struct_size;
  void* ext;
  SP_Allocator* allocator;
  SP_AllocatorFns* allocator_fns;
} SE_CreateAllocatorParams;

#define SE_CREATE_ALLOCATOR_PARAMS_STRUCT_SIZE TF_OFFSET_OF_END(SE_CreateAllocatorParams, allocator_fns)

typedef struct SE_CreateCustomAllocatorParams {
  size_t struct_size;
  void* ext;
  SP_CustomAllocator* custom_allocator;
  SP_CustomAllocatorFns* custom_allocator_fns;
} SE_CreateCustomAllocatorParams;

#define SE_CREATE_CUSTOM_ALLOCATOR_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(SE_CreateCustomAllocatorParams, custom_allocator_fns)

typedef struct SP_Platform {
  size_t struct_size;
  void* ext;                    /* the plug-in's */
  const char* name;             /* of the platform; ends with a zero */
  const char* type;             /* of its devices, as programs name them; ends with a zero */
  size_t visible_device_count;  /* ordinals are below this */
} SP_Platform;

#define SP_PLATFORM_STRUCT_SIZE TF_OFFSET_OF_END(SP_Platform, visible_device_count)

/* What `create_…` made, `destroy_…` cleans up; the structs themselves are the core's memory. */
typedef struct SP_PlatformFns {
  size_t struct_size;
  void* ext;

  void (*create_device)(const SP_Platform* platform, SE_CreateDeviceParams* params, TF_Status* status);
  void (*destroy_device)(const SP_Platform* platform, SP_Device* device);

  void (*create_stream_executor)(const SP_Platform* platform, SE_CreateStreamExecutorParams* params,
                                 TF_Status* status);
  void (*destroy_stream_executor)(const SP_Platform* platform, SP_StreamExecutor* stream_executor);

  void (*create_timer_fns)(const SP_Platform* platform, SP_TimerFns* timer, TF_Status* status);
  void (*destroy_timer_fns)(const SP_Platform* platform, SP_TimerFns* timer_fns);

  /* Optional, at most one of the two pairs: memory for the core's caching allocator, or another allocator. */
  void (*create_allocator)(const SP_Platform* platform, SE_CreateAllocatorParams* params, TF_Status* status);
  void (*destroy_allocator)(const SP_Platform* platform, SP_Allocator* allocator, SP_AllocatorFns* allocator_fns);

  void (*create_custom_allocator)(const SP_Platform* platform, SE_CreateCustomAllocatorParams* params,
                                  TF_Status* status);
  void (*destroy_custom_allocator)(const SP_Platform* platform, SP_CustomAllocator* allocator,
                                   SP_CustomAllocatorFns* allocator_fns);
} SP_PlatformFns;

/* The RFC has this size end before the allocators. */
#define SP_PLATFORM_FNS_STRUCT_SIZE TF_OFFSET_OF_END(SP_PlatformFns, destroy_timer_fns)

typedef struct SE_PlatformRegistrationParams {
  size_t struct_size;
  void* ext;

  /* The core's version of this API. */
  int32_t major_version;
  int32_t minor_version;
  int32_t patch_version;

  SP_Platform* platform;         /* the core's memory, which the plug-in fills */
  SP_PlatformFns* platform_fns;  /* the core's memory, which the plug-in fills */
  /* Set by the plug-in: clean up what the two structs refer to. */
  void (*destroy_platform)(SP_Platform* platform);
  void (*destroy_platform_fns)(SP_PlatformFns* platform_fns);
} SE_PlatformRegistrationParams;

#define SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(SE_PlatformRegistrationParams, destroy_platform_fns)

/* The one function a plug-in exports. */
void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status);

#ifdef __cplusplus
}  /* extern "C" */
#endif

#endif  /* TFRT_PLUGIN_STREAM_EXECUTOR_H_ */
