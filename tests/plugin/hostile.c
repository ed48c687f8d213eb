/* The sample, made to break one rule: which, the test chooses before it loads the plug-in.
 *
 * `hostile_choose("memcpy_htod")` makes that call fail; other names are at the places where they act. */
#define SE_InitPlugin sample_init
#include "sample.c"
#undef SE_InitPlugin

#include <unistd.h>

static char fault[64];
static int fault_number;

void hostile_choose(const char* name, int number) {
  snprintf(fault, sizeof fault, "%s", name);
  fault_number = number;
}

static int is(const char* name) { return strcmp(fault, name) == 0; }

static int fails(const char* name, TF_Status* status) {
  if (!is(name)) return 0;
  TF_SetStatus(status, TF_INTERNAL, "made to fail");
  TF_SetPayload(status, "why", "the test wants it");
  return 1;
}

/* Calls that fail. */

#define FAILING(name, parameters, arguments)  \
  static void failing_##name parameters {     \
    if (!fails(#name, status)) name arguments; \
  }
#define D const SP_Device* device
#define S TF_Status* status
#define M SP_DeviceMemoryBase*

FAILING(create_stream, (D, SP_Stream* stream, S), (device, stream, status))
FAILING(get_stream_status, (D, SP_Stream stream, S), (device, stream, status))
FAILING(create_event, (D, SP_Event* event, S), (device, event, status))
FAILING(record_event, (D, SP_Stream stream, SP_Event event, S), (device, stream, event, status))
FAILING(wait_for_event, (D, SP_Stream stream, SP_Event event, S), (device, stream, event, status))
FAILING(create_timer, (D, SP_Timer* timer, S), (device, timer, status))
FAILING(start_timer, (D, SP_Stream stream, SP_Timer timer, S), (device, stream, timer, status))
FAILING(stop_timer, (D, SP_Stream stream, SP_Timer timer, S), (device, stream, timer, status))
FAILING(memcpy_dtoh, (D, SP_Stream stream, void* dst, const M src, uint64_t size, S),
        (device, stream, dst, src, size, status))
FAILING(memcpy_htod, (D, SP_Stream stream, M dst, const void* src, uint64_t size, S),
        (device, stream, dst, src, size, status))
FAILING(memcpy_dtod, (D, SP_Stream stream, M dst, const M src, uint64_t size, S),
        (device, stream, dst, src, size, status))
FAILING(block_host_for_event, (D, SP_Event event, S), (device, event, status))
FAILING(block_host_until_done, (D, SP_Stream stream, S), (device, stream, status))
FAILING(synchronize_all_activity, (D, S), (device, status))

/* Memory that is not what was asked for. */

static void lying_allocate(D, uint64_t size, int64_t memory_space, M mem) {
  if (is("no memory")) return;
  allocate(device, is("misaligned") ? size + 8 : size, memory_space, mem);
  static void* first;
  if (is("smaller")) mem->size = size / 2;
  if (is("beyond all addresses")) {
    mem->opaque = (void*)~(uintptr_t)255;
    mem->size = size;
  }
  if (is("twice")) {
    if (first) mem->opaque = first;
    first = mem->opaque;
  }
  if (is("misaligned")) {
    mem->opaque = (char*)mem->opaque + 8;
    mem->size = size;
  }
  if (is("described")) {
    mem->ext = &devices[0];
    mem->payload = 42;
    /* As the macro of the accepted RFC has it. */
    if (fault_number) mem->struct_size = offsetof(SP_DeviceMemoryBase, payload);
  }
  if (is("memory size")) mem->struct_size = (size_t)fault_number;
}

static void lying_deallocate(D, M memory) {
  if (is("beyond all addresses")) return;
  if (is("memory size")) note("deallocate\n");
  if (is("misaligned")) memory->opaque = (char*)memory->opaque - 8;
  deallocate(device, memory);
}

static void checking_htod(D, SP_Stream stream, M dst, const void* src, uint64_t size, S) {
  if (is("described") && (dst->ext != &devices[0] || dst->payload != 42)) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "what was said of the memory is lost");
    return;
  }
  failing_memcpy_htod(device, stream, dst, src, size, status);
}

/* Host memory at odd addresses. */

static void* odd_host_allocate(D, uint64_t size) {
  char* memory = host_memory_allocate(device, size + 1);
  return is("odd host memory") && memory ? memory + 1 : memory;
}

static void odd_host_deallocate(D, void* mem) {
  host_memory_deallocate(device, is("odd host memory") ? (char*)mem - 1 : mem);
}

/* Handles and states that are none. */

static void null_stream(D, SP_Stream* stream, S) {
  if (!is("null stream")) failing_create_stream(device, stream, status);
}

static void null_event(D, SP_Event* event, S) {
  if (!is("null event")) failing_create_event(device, event, status);
}

static SE_EventStatus strange_event_status(D, SP_Event event) {
  return is("event status") ? (SE_EventStatus)fault_number : get_event_status(device, event);
}

/* Callbacks that come when nobody wants them. */

typedef struct Kept {
  SE_StatusCallbackFn callback;
  void* argument;
} Kept;

static Kept kept;

static void* call_later(void* argument) {
  Kept* later = argument;
  usleep(200000);
  TF_Status* status = TF_NewStatus();
  later->callback(later->argument, status);
  later->callback(later->argument, NULL);
  TF_DeleteStatus(status);
  free(later);
  return NULL;
}

static TF_Bool strange_host_callback(SP_Device* device, SP_Stream stream, SE_StatusCallbackFn callback, void* argument) {
  kept = (Kept){callback, argument};
  if (is("callback refused")) return 0;
  if (is("callback never called")) return 1;
  if (is("callback called and refused")) {
    callback(argument, NULL);
    return 0;
  }
  if (is("callback from another thread")) {
    Kept* later = malloc(sizeof *later);
    *later = kept;
    pthread_t thread;
    pthread_create(&thread, NULL, call_later, later);
    pthread_detach(thread);
    return 1;
  }
  if (is("callback twice")) {
    host_callback(device, stream, callback, argument);
    return host_callback(device, stream, callback, argument);
  }
  return host_callback(device, stream, callback, argument);
}

/* Calls the last callback again, whatever became of its device. */
void hostile_call_again(void) { kept.callback(kept.argument, NULL); }

/* A status that is used when its call is over. */

static TF_Status* stale;

static void keep_status(D, SP_Stream stream, S) {
  if (is("status kept")) {
    if (stale) TF_SetStatus(stale, TF_INTERNAL, "from an earlier call");
    stale = status;
  }
  if (is("status deleted")) {
    TF_DeleteStatus(status);
    TF_DeleteStatus(status);
  }
  failing_block_host_until_done(device, stream, status);
}

/* Structs that are not what they should be. */

static void hostile_create_device(const SP_Platform* platform, SE_CreateDeviceParams* params, TF_Status* status) {
  if (params->ordinal == fault_number && fails("create_device", status)) return;
  create_device(platform, params, status);
  if (is("other ordinal")) params->device->ordinal = 5;
  if (is("short device")) params->device->struct_size = 8;
  if (is("newer")) {
    params->device->struct_size += 16;
    memset(params->device + 1, 0x5a, 16);
  }
}

static int executors;

/* Unified memory without an allocator, as the accepted RFC has it: a flag behind the platform's count. */

static void* unified_allocate(D, uint64_t size) { return host_memory_allocate(device, size); }
static void unified_deallocate(D, void* location) { host_memory_deallocate(device, location); }

static void hostile_create_stream_executor(const SP_Platform* platform, SE_CreateStreamExecutorParams* params,
                                           TF_Status* status) {
  if (executors++ == fault_number && fails("create_stream_executor", status)) return;
  create_stream_executor(platform, params, status);
  SP_StreamExecutor* executor = params->stream_executor;
  executor->allocate = lying_allocate;
  executor->deallocate = lying_deallocate;
  executor->host_memory_allocate = odd_host_allocate;
  executor->host_memory_deallocate = odd_host_deallocate;
  executor->create_stream = null_stream;
  executor->get_stream_status = failing_get_stream_status;
  executor->create_event = null_event;
  executor->get_event_status = strange_event_status;
  executor->record_event = failing_record_event;
  executor->wait_for_event = failing_wait_for_event;
  executor->create_timer = failing_create_timer;
  executor->start_timer = failing_start_timer;
  executor->stop_timer = failing_stop_timer;
  executor->memcpy_dtoh = failing_memcpy_dtoh;
  executor->memcpy_htod = checking_htod;
  executor->memcpy_dtod = failing_memcpy_dtod;
  executor->block_host_for_event = failing_block_host_for_event;
  executor->block_host_until_done = keep_status;
  executor->synchronize_all_activity = failing_synchronize_all_activity;
  executor->host_callback = strange_host_callback;
  executor->unified_memory_allocate = unified_allocate;
  executor->unified_memory_deallocate = unified_deallocate;
  if (is("missing")) ((void**)executor)[2 + fault_number] = NULL;
  if (is("executor ext")) executor->ext = executor;
  if (is("executor size")) executor->struct_size = (size_t)fault_number;
  if (is("older")) executor->struct_size = offsetof(SP_StreamExecutor, host_callback);
  if (is("much older")) executor->struct_size = offsetof(SP_StreamExecutor, block_host_until_done);
  if (is("block_host_for_event")) executor->block_host_until_done = NULL;
  if (is("newer")) {
    executor->struct_size += 64;
    memset(executor + 1, 0x5a, 64);
  }
}

static void hostile_create_timer_fns(const SP_Platform* platform, SP_TimerFns* timer_fns, TF_Status* status) {
  if (fails("create_timer_fns", status)) return;
  create_timer_fns(platform, timer_fns, status);
  if (is("no nanoseconds")) timer_fns->nanoseconds = NULL;
  if (is("newer")) timer_fns->struct_size += 8;
}

/* Allocators. */

static int64_t allocations;

int64_t hostile_allocations(void) { return allocations; }

static void allocator_allocate(D, const SP_Allocator* allocator, uint64_t size, int64_t memory_space, M mem) {
  if (allocator->ext == &allocations) ++allocations;
  allocate(device, size, memory_space, mem);
}

static void allocator_deallocate(D, const SP_Allocator* allocator, M memory) {
  if (allocator->ext == &allocations) --allocations;
  deallocate(device, memory);
}

static void* allocator_host_allocate(D, const SP_Allocator* allocator, uint64_t size) {
  (void)allocator;
  return host_memory_allocate(device, size);
}

static void allocator_host_deallocate(D, const SP_Allocator* allocator, void* mem) {
  (void)allocator;
  host_memory_deallocate(device, mem);
}

static void* beyond_unified_allocate(D, const SP_Allocator* allocator, uint64_t size) {
  (void)device, (void)allocator, (void)size;
  ++allocations;
  return (void*)~(uintptr_t)255;
}

static void beyond_unified_deallocate(D, const SP_Allocator* allocator, void* location) {
  (void)device, (void)allocator, (void)location;
  --allocations;
}

static void create_allocator(const SP_Platform* platform, SE_CreateAllocatorParams* params, TF_Status* status) {
  (void)platform;
  note("create_allocator\n");
  if (fails("create_allocator", status)) return;
  *params->allocator = (SP_Allocator){.struct_size = SP_ALLOCATOR_STRUCT_SIZE, .ext = &allocations};
  *params->allocator_fns = (SP_AllocatorFns){
      .struct_size = SP_ALLOCATOR_FNS_STRUCT_SIZE,
      .allocate = allocator_allocate,
      .deallocate = is("half an allocator") ? NULL : allocator_deallocate,
      .host_memory_allocate = allocator_host_allocate,
      .host_memory_deallocate = allocator_host_deallocate,
  };
  if (is("unified beyond all addresses")) {
    params->allocator->supports_unified_memory = 1;
    params->allocator_fns->unified_memory_allocate = beyond_unified_allocate;
    params->allocator_fns->unified_memory_deallocate = beyond_unified_deallocate;
  }
}

static void destroy_allocator(const SP_Platform* platform, SP_Allocator* allocator, SP_AllocatorFns* fns) {
  (void)platform;
  (void)fns;
  note("destroy_allocator%s\n", allocator->ext == &allocations ? "" : ", which is another");
}

static void* custom_allocate(D, const SP_CustomAllocator* allocator, size_t size, size_t alignment) {
  SP_DeviceMemoryBase memory = {.struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE};
  if (alignment > ALIGNMENT) return NULL;
  allocate(device, size, 0, &memory);
  if (memory.opaque && allocator->ext == &allocations) __atomic_add_fetch(&allocations, 1, __ATOMIC_SEQ_CST);
  return memory.opaque;
}

static void custom_deallocate(D, const SP_CustomAllocator* allocator, void* ptr) {
  SP_DeviceMemoryBase memory = {.struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE, .opaque = ptr};
  if (allocator->ext == &allocations) __atomic_sub_fetch(&allocations, 1, __ATOMIC_SEQ_CST);
  deallocate(device, &memory);
}

static void* custom_host_allocate(D, const SP_CustomAllocator* allocator, uint64_t size) {
  (void)allocator;
  return host_memory_allocate(device, size);
}

static void custom_host_deallocate(D, const SP_CustomAllocator* allocator, void* mem) {
  (void)allocator;
  host_memory_deallocate(device, mem);
}

static TF_Bool custom_stats(D, const SP_CustomAllocator* allocator, SP_AllocatorStats* stats) {
  (void)allocator;
  *stats = (SP_AllocatorStats){
      .struct_size = SP_ALLOCATORSTATS_STRUCT_SIZE,
      .bytes_in_use = (int64_t)device_of(device)->used,
      .has_bytes_limit = 1,
      .bytes_limit = (int64_t)ARENA_BYTES,
  };
  return 1;
}

static void create_custom_allocator(const SP_Platform* platform, SE_CreateCustomAllocatorParams* params,
                                    TF_Status* status) {
  (void)platform;
  (void)status;
  note("create_custom_allocator\n");
  *params->custom_allocator =
      (SP_CustomAllocator){.struct_size = SP_CUSTOM_ALLOCATOR_STRUCT_SIZE, .ext = &allocations};
  *params->custom_allocator_fns = (SP_CustomAllocatorFns){
      .struct_size = SP_CUSTOM_ALLOCATOR_FNS_STRUCT_SIZE,
      .allocate_raw = custom_allocate,
      .deallocate_raw = custom_deallocate,
      .host_allocate_raw = custom_host_allocate,
      .host_deallocate_raw = custom_host_deallocate,
      .get_allocator_stats = custom_stats,
  };
}

static void destroy_custom_allocator(const SP_Platform* platform, SP_CustomAllocator* allocator,
                                     SP_CustomAllocatorFns* fns) {
  (void)platform;
  (void)allocator;
  (void)fns;
  note("destroy_custom_allocator\n");
}

/* Registration. */

void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status) {
  if (is("SE_InitPlugin")) {
    TF_SetStatus(status, TF_UNAVAILABLE, "not today");
    return;
  }
  sample_init(params, status);
  SP_Platform* platform = params->platform;
  SP_PlatformFns* fns = params->platform_fns;
  executors = 0;
  fns->create_device = hostile_create_device;
  fns->create_stream_executor = hostile_create_stream_executor;
  fns->create_timer_fns = hostile_create_timer_fns;
  if (is("allocator") || is("create_allocator") || is("half an allocator") || is("both allocators") ||
      is("unified beyond all addresses")) {
    fns->create_allocator = create_allocator;
    fns->destroy_allocator = destroy_allocator;
  }
  if (is("custom allocator") || is("both allocators")) {
    fns->create_custom_allocator = create_custom_allocator;
    fns->destroy_custom_allocator = destroy_custom_allocator;
  }
  if (is("no name")) platform->name = NULL;
  if (is("empty type")) platform->type = "";
  if (is("strange type")) platform->type = "a:0";
  if (is("reserved type")) platform->type = "cpu";
  if (is("no devices")) platform->visible_device_count = 0;
  if (is("too many devices")) platform->visible_device_count = (size_t)-1;
  if (is("platform size")) platform->struct_size = (size_t)fault_number;
  if (is("unified flag")) {
    platform->struct_size += sizeof(TF_Bool);
    *(TF_Bool*)(platform + 1) = (TF_Bool)fault_number;
  }
  if (is("functions size")) fns->struct_size = (size_t)fault_number;
  if (is("functions ext")) fns->ext = fns;
  if (is("params size")) params->struct_size = (size_t)fault_number;
  if (is("no platform")) params->platform = NULL;
  if (is("no destroy_platform")) params->destroy_platform = NULL;
  if (is("no destroy_device")) fns->destroy_device = NULL;
  if (is("version")) params->major_version = fault_number;
  if (is("newer")) {
    /* Longer structs in both, of which the core knows the beginning. */
    platform->struct_size += 24;
    memset(platform + 1, 0x5a, 24);
    fns->struct_size = sizeof *fns + 32;
    memset(fns + 1, 0x5a, 32);
    params->struct_size += 8;
    params->minor_version = 7;
  }
}
