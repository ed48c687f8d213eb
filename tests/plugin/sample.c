/* A device plug-in in plain C: two devices, each with memory of its own and streams that are threads.
 *
 * Device addresses are offsets from a base where the process has no memory, so that nobody but this file can use them.
 * With -DRELEASED it is built for the layout that TensorFlow released, with -DFIRST_RELEASE as well for that of the first
 * releases. What is created and destroyed is written to a log, which the tests read. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "stream_executor.h"

#define DEVICES 2
#define ARENA_BYTES ((uint64_t)256 << 20)
#define ALIGNMENT 256
#define BASE(ordinal) ((uint64_t)((ordinal) + 1) << 45)

/* The log. */

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char log_text[1 << 16];
static size_t log_length;

static void note(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&log_lock);
  int written = vsnprintf(log_text + log_length, sizeof log_text - log_length, format, arguments);
  if (written > 0 && log_length + (size_t)written < sizeof log_text) log_length += (size_t)written;
  pthread_mutex_unlock(&log_lock);
  va_end(arguments);
}

const char* sample_log(void) { return log_text; }

/* Memory: blocks of an arena, in the order of their addresses. */

typedef struct Block {
  uint64_t offset, size;
  struct Block* next;
} Block;

typedef struct Device {
  int ordinal;
  pthread_mutex_t lock;
  unsigned char* arena;
  Block* blocks;
  uint64_t used;
  struct SP_Stream_st* streams;
} Device;

static Device devices[DEVICES];

static Device* device_of(const SP_Device* device) { return device->device_handle; }

static unsigned char* bytes_of(const SP_Device* device, const SP_DeviceMemoryBase* memory) {
  Device* self = device_of(device);
  return self->arena + ((uint64_t)(uintptr_t)memory->opaque - BASE(self->ordinal));
}

static void allocate(const SP_Device* device, uint64_t size, int64_t memory_space, SP_DeviceMemoryBase* mem) {
  Device* self = device_of(device);
  (void)memory_space;
  mem->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  mem->opaque = NULL;
  if (size > ARENA_BYTES) return;
  uint64_t wanted = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  pthread_mutex_lock(&self->lock);
  Block** at = &self->blocks;
  uint64_t offset = 0;
  while (*at && (*at)->offset - offset < wanted) {
    offset = (*at)->offset + (*at)->size;
    at = &(*at)->next;
  }
  Block* block = offset + wanted <= ARENA_BYTES ? malloc(sizeof *block) : NULL;
  if (block) {
    *block = (Block){offset, wanted, *at};
    *at = block;
    self->used += wanted;
    mem->opaque = (void*)(uintptr_t)(BASE(self->ordinal) + offset);
    mem->size = size;
  }
  pthread_mutex_unlock(&self->lock);
}

static void deallocate(const SP_Device* device, SP_DeviceMemoryBase* memory) {
  Device* self = device_of(device);
  uint64_t offset = (uint64_t)(uintptr_t)memory->opaque - BASE(self->ordinal);
  pthread_mutex_lock(&self->lock);
  for (Block** at = &self->blocks; *at; at = &(*at)->next) {
    if ((*at)->offset == offset) {
      Block* block = *at;
      *at = block->next;
      self->used -= block->size;
      free(block);
      break;
    }
  }
  pthread_mutex_unlock(&self->lock);
}

static void* host_memory_allocate(const SP_Device* device, uint64_t size) {
  (void)device;
  return malloc(size);
}

static void host_memory_deallocate(const SP_Device* device, void* mem) {
  (void)device;
  free(mem);
}

static TF_Bool device_memory_usage(const SP_Device* device, int64_t* free_bytes, int64_t* total) {
  Device* self = device_of(device);
  pthread_mutex_lock(&self->lock);
  *free_bytes = (int64_t)(ARENA_BYTES - self->used);
  *total = (int64_t)ARENA_BYTES;
  pthread_mutex_unlock(&self->lock);
  return 1;
}

/* Streams: a thread that works off a list. */

typedef enum { COPY, FILL, RECORD, WAIT, START, STOP, CALL } Kind;

typedef struct Work {
  Kind kind;
  void* to;
  const void* from;
  uint64_t size;
  uint32_t pattern;
  struct SP_Event_st* event;
  uint64_t turn;
  struct SP_Timer_st* timer;
  SE_StatusCallbackFn callback;
  struct Work* next;
} Work;

struct SP_Stream_st {
  Device* device;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  Work *first, **last;
  int busy, closing;
  TF_Code failure;
  struct SP_Stream_st* next;
};

/* As many records of one event may be under way. */
enum { AHEAD_MAX = 1024 };

struct SP_Event_st {
  pthread_mutex_t lock;
  pthread_cond_t reached_one;
  uint64_t recorded;
  /* Records that are not reached: streams come to theirs in any order. */
  uint64_t ahead[AHEAD_MAX];
  size_t ahead_count;
};

struct SP_Timer_st {
  struct timespec start, stop;
};

/* Where a record is among those that are not reached; if it is not among them, where these end. */
static size_t find_turn(SP_Event event, uint64_t turn) {
  size_t at = 0;
  while (at < event->ahead_count && event->ahead[at] != turn) ++at;
  return at;
}

static void wait_for_turn(SP_Event event, uint64_t turn) {
  pthread_mutex_lock(&event->lock);
  while (find_turn(event, turn) < event->ahead_count) pthread_cond_wait(&event->reached_one, &event->lock);
  pthread_mutex_unlock(&event->lock);
}

static void reach_turn(SP_Event event, uint64_t turn) {
  pthread_mutex_lock(&event->lock);
  size_t at = find_turn(event, turn);
  if (at < event->ahead_count) event->ahead[at] = event->ahead[--event->ahead_count];
  pthread_cond_broadcast(&event->reached_one);
  pthread_mutex_unlock(&event->lock);
}

static TF_Code do_work(Work* work) {
  switch (work->kind) {
    case COPY:
      memmove(work->to, work->from, work->size);
      break;
    case FILL:
      for (uint64_t i = 0; i < work->size; ++i) {
        ((unsigned char*)work->to)[i] = (unsigned char)(work->pattern >> 8 * (i % 4));
      }
      break;
    case RECORD:
      reach_turn(work->event, work->turn);
      break;
    case WAIT:
      wait_for_turn(work->event, work->turn);
      break;
    case START:
      clock_gettime(CLOCK_MONOTONIC, &work->timer->start);
      break;
    case STOP:
      clock_gettime(CLOCK_MONOTONIC, &work->timer->stop);
      break;
    case CALL: {
      TF_Status* status = TF_NewStatus();
      work->callback(work->to, status);
      TF_Code code = TF_GetCode(status);
      TF_DeleteStatus(status);
      return code;
    }
  }
  return TF_OK;
}

static void* run_stream(void* argument) {
  SP_Stream stream = argument;
  pthread_mutex_lock(&stream->lock);
  for (;;) {
    while (!stream->first && !stream->closing) pthread_cond_wait(&stream->changed, &stream->lock);
    Work* work = stream->first;
    if (!work) break;
    stream->first = work->next;
    if (!stream->first) stream->last = &stream->first;
    stream->busy = 1;
    pthread_mutex_unlock(&stream->lock);
    TF_Code code = do_work(work);
    free(work);
    pthread_mutex_lock(&stream->lock);
    if (code != TF_OK && stream->failure == TF_OK) stream->failure = code;
    stream->busy = 0;
    pthread_cond_broadcast(&stream->changed);
  }
  pthread_mutex_unlock(&stream->lock);
  return NULL;
}

static void queue(SP_Stream stream, Work work, TF_Status* status) {
  Work* kept = malloc(sizeof *kept);
  if (!kept) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for the work");
    return;
  }
  *kept = work;
  kept->next = NULL;
  pthread_mutex_lock(&stream->lock);
  *stream->last = kept;
  stream->last = &kept->next;
  pthread_cond_broadcast(&stream->changed);
  pthread_mutex_unlock(&stream->lock);
  if (status) TF_SetStatus(status, TF_OK, "");
}

static void create_stream(const SP_Device* device, SP_Stream* stream, TF_Status* status) {
  SP_Stream made = calloc(1, sizeof *made);
  made->device = device_of(device);
  made->last = &made->first;
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->changed, NULL);
  if (pthread_create(&made->thread, NULL, run_stream, made) != 0) {
    free(made);
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no thread for the stream");
    return;
  }
  pthread_mutex_lock(&made->device->lock);
  made->next = made->device->streams;
  made->device->streams = made;
  pthread_mutex_unlock(&made->device->lock);
  *stream = made;
}

static void destroy_stream(const SP_Device* device, SP_Stream stream) {
  Device* self = device_of(device);
  pthread_mutex_lock(&self->lock);
  SP_Stream* at = &self->streams;
  while (*at && *at != stream) at = &(*at)->next;
  if (*at) *at = stream->next;
  pthread_mutex_unlock(&self->lock);
  pthread_mutex_lock(&stream->lock);
  stream->closing = 1;
  pthread_cond_broadcast(&stream->changed);
  pthread_mutex_unlock(&stream->lock);
  pthread_join(stream->thread, NULL);
  free(stream);
}

static void wait_until_idle(SP_Stream stream) {
  pthread_mutex_lock(&stream->lock);
  while (stream->first || stream->busy) pthread_cond_wait(&stream->changed, &stream->lock);
  pthread_mutex_unlock(&stream->lock);
}

static void get_stream_status(const SP_Device* device, SP_Stream stream, TF_Status* status) {
  (void)device;
  pthread_mutex_lock(&stream->lock);
  TF_SetStatus(status, stream->failure, stream->failure == TF_OK ? "" : "work on the stream failed");
  pthread_mutex_unlock(&stream->lock);
}

static void block_host_until_done(const SP_Device* device, SP_Stream stream, TF_Status* status) {
  wait_until_idle(stream);
  get_stream_status(device, stream, status);
}

static void synchronize_all_activity(const SP_Device* device, TF_Status* status) {
  Device* self = device_of(device);
  pthread_mutex_lock(&self->lock);
  for (SP_Stream stream = self->streams; stream; stream = stream->next) wait_until_idle(stream);
  pthread_mutex_unlock(&self->lock);
  TF_SetStatus(status, TF_OK, "");
}

static TF_Bool host_callback(
#ifdef RELEASED
    const
#endif
    SP_Device* device,
    SP_Stream stream, SE_StatusCallbackFn callback_fn, void* callback_arg) {
  (void)device;
  queue(stream, (Work){.kind = CALL, .callback = callback_fn, .to = callback_arg}, NULL);
  return 1;
}

/* Events. */

static void create_event(const SP_Device* device, SP_Event* event, TF_Status* status) {
  (void)device;
  (void)status;
  SP_Event made = calloc(1, sizeof *made);
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->reached_one, NULL);
  *event = made;
}

static void destroy_event(const SP_Device* device, SP_Event event) {
  (void)device;
  memset(event, 0xee, sizeof *event);
  free(event);
}

static SE_EventStatus get_event_status(const SP_Device* device, SP_Event event) {
  (void)device;
  pthread_mutex_lock(&event->lock);
  int is_ahead = find_turn(event, event->recorded) < event->ahead_count;
  SE_EventStatus state = is_ahead ? SE_EVENT_PENDING : SE_EVENT_COMPLETE;
  pthread_mutex_unlock(&event->lock);
  return state;
}

static uint64_t latest_turn(SP_Event event) {
  pthread_mutex_lock(&event->lock);
  uint64_t turn = event->recorded;
  pthread_mutex_unlock(&event->lock);
  return turn;
}

/* The number of a new record; zero if too many are under way. */
static uint64_t next_turn(SP_Event event) {
  uint64_t turn = 0;
  pthread_mutex_lock(&event->lock);
  if (event->ahead_count < AHEAD_MAX) event->ahead[event->ahead_count++] = turn = ++event->recorded;
  pthread_mutex_unlock(&event->lock);
  return turn;
}

static void record_event(const SP_Device* device, SP_Stream stream, SP_Event event, TF_Status* status) {
  (void)device;
  uint64_t turn = next_turn(event);
  if (turn == 0) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "too many records of one event are under way");
    return;
  }
  queue(stream, (Work){.kind = RECORD, .event = event, .turn = turn}, status);
}

static void wait_for_event(const SP_Device* device, SP_Stream stream, SP_Event event, TF_Status* status) {
  (void)device;
  queue(stream, (Work){.kind = WAIT, .event = event, .turn = latest_turn(event)}, status);
}

static void block_host_for_event(const SP_Device* device, SP_Event event, TF_Status* status) {
  (void)device;
  wait_for_turn(event, latest_turn(event));
  TF_SetStatus(status, TF_OK, "");
}

static void create_stream_dependency(const SP_Device* device, SP_Stream dependent, SP_Stream other,
                                     TF_Status* status) {
  SP_Event event;
  create_event(device, &event, status);
  record_event(device, other, event, status);
  wait_for_turn(event, latest_turn(event));
  destroy_event(device, event);
  (void)dependent;
}

/* Timers. */

static void create_timer(const SP_Device* device, SP_Timer* timer, TF_Status* status) {
  (void)device;
  (void)status;
  *timer = calloc(1, sizeof **timer);
}

static void destroy_timer(const SP_Device* device, SP_Timer timer) {
  (void)device;
  memset(timer, 0xee, sizeof *timer);
  free(timer);
}

static void start_timer(const SP_Device* device, SP_Stream stream, SP_Timer timer, TF_Status* status) {
  (void)device;
  queue(stream, (Work){.kind = START, .timer = timer}, status);
}

static void stop_timer(const SP_Device* device, SP_Stream stream, SP_Timer timer, TF_Status* status) {
  (void)device;
  queue(stream, (Work){.kind = STOP, .timer = timer}, status);
}

static uint64_t nanoseconds(SP_Timer timer) {
  int64_t seconds = timer->stop.tv_sec - timer->start.tv_sec;
  return (uint64_t)(seconds * 1000000000 + timer->stop.tv_nsec - timer->start.tv_nsec);
}

/* Copies. */

static void memcpy_dtoh(const SP_Device* device, SP_Stream stream, void* host_dst,
                        const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status) {
  queue(stream, (Work){.kind = COPY, .to = host_dst, .from = bytes_of(device, device_src), .size = size}, status);
}

static void memcpy_htod(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* device_dst,
                        const void* host_src, uint64_t size, TF_Status* status) {
  queue(stream, (Work){.kind = COPY, .to = bytes_of(device, device_dst), .from = host_src, .size = size}, status);
}

static void memcpy_dtod(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* device_dst,
                        const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status) {
  Work work = {.kind = COPY, .size = size};
  work.to = bytes_of(device, device_dst);
  work.from = bytes_of(device, device_src);
  queue(stream, work, status);
}

static void sync_memcpy_dtoh(const SP_Device* device, void* host_dst, const SP_DeviceMemoryBase* device_src,
                             uint64_t size, TF_Status* status) {
  memcpy(host_dst, bytes_of(device, device_src), size);
  TF_SetStatus(status, TF_OK, "");
}

static void sync_memcpy_htod(const SP_Device* device, SP_DeviceMemoryBase* device_dst, const void* host_src,
                             uint64_t size, TF_Status* status) {
  memcpy(bytes_of(device, device_dst), host_src, size);
  TF_SetStatus(status, TF_OK, "");
}

static void sync_memcpy_dtod(const SP_Device* device, SP_DeviceMemoryBase* device_dst,
                             const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status) {
  memmove(bytes_of(device, device_dst), bytes_of(device, device_src), size);
  TF_SetStatus(status, TF_OK, "");
}

#if defined(RELEASED) && !defined(FIRST_RELEASE)
static void fill(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* location, uint32_t pattern,
                 uint64_t size, TF_Status* status) {
  queue(stream, (Work){.kind = FILL, .to = bytes_of(device, location), .pattern = pattern, .size = size}, status);
}

static void mem_zero(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* location, uint64_t size,
                     TF_Status* status) {
  fill(device, stream, location, 0, size, status);
}

static void set_bytes(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* location, uint8_t pattern,
                      uint64_t size, TF_Status* status) {
  fill(device, stream, location, pattern * UINT32_C(0x01010101), size, status);
}
#endif

/* The platform. */

static void create_device(const SP_Platform* platform, SE_CreateDeviceParams* params, TF_Status* status) {
  (void)platform;
  Device* self = &devices[params->ordinal];
  note("create_device %d\n", params->ordinal);
  self->ordinal = params->ordinal;
  pthread_mutex_init(&self->lock, NULL);
  self->arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (self->arena == MAP_FAILED) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for the device");
    return;
  }
  params->device->struct_size = SP_DEVICE_STRUCT_SIZE;
  params->device->ordinal = params->ordinal;
  params->device->device_handle = self;
#ifdef RELEASED
  params->device->hardware_name = "sample hardware";
  params->device->device_vendor = "tfrt";
  params->device->pci_bus_id = params->ordinal ? "0000:02:00.0" : "0000:01:00.0";
#endif
}

static void destroy_device(const SP_Platform* platform, SP_Device* device) {
  (void)platform;
  Device* self = device_of(device);
  note("destroy_device %d, %llu bytes in use%s\n", self->ordinal, (unsigned long long)self->used,
       self->streams ? ", and streams" : "");
  munmap(self->arena, ARENA_BYTES);
}

static void create_stream_executor(const SP_Platform* platform, SE_CreateStreamExecutorParams* params,
                                   TF_Status* status) {
  (void)platform;
  (void)status;
  note("create_stream_executor\n");
  *params->stream_executor = (SP_StreamExecutor){
      .struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE,
      .allocate = allocate,
      .deallocate = deallocate,
      .host_memory_allocate = host_memory_allocate,
      .host_memory_deallocate = host_memory_deallocate,
      .device_memory_usage = device_memory_usage,
      .create_stream = create_stream,
      .destroy_stream = destroy_stream,
      .create_stream_dependency = create_stream_dependency,
      .get_stream_status = get_stream_status,
      .create_event = create_event,
      .destroy_event = destroy_event,
      .get_event_status = get_event_status,
      .record_event = record_event,
      .wait_for_event = wait_for_event,
      .create_timer = create_timer,
      .destroy_timer = destroy_timer,
      .start_timer = start_timer,
      .stop_timer = stop_timer,
      .memcpy_dtoh = memcpy_dtoh,
      .memcpy_htod = memcpy_htod,
      .memcpy_dtod = memcpy_dtod,
      .sync_memcpy_dtoh = sync_memcpy_dtoh,
      .sync_memcpy_htod = sync_memcpy_htod,
      .sync_memcpy_dtod = sync_memcpy_dtod,
      .block_host_for_event = block_host_for_event,
      .block_host_until_done = block_host_until_done,
      .synchronize_all_activity = synchronize_all_activity,
#if defined(RELEASED) && !defined(FIRST_RELEASE)
      .mem_zero = mem_zero,
      .memset = set_bytes,
      .memset32 = fill,
#endif
      .host_callback = host_callback,
  };
}

static void destroy_stream_executor(const SP_Platform* platform, SP_StreamExecutor* stream_executor) {
  (void)platform;
  (void)stream_executor;
  note("destroy_stream_executor\n");
}

static void create_timer_fns(const SP_Platform* platform, SP_TimerFns* timer_fns, TF_Status* status) {
  (void)platform;
  (void)status;
  note("create_timer_fns\n");
  timer_fns->struct_size = SP_TIMER_FNS_STRUCT_SIZE;
  timer_fns->nanoseconds = nanoseconds;
}

static void destroy_timer_fns(const SP_Platform* platform, SP_TimerFns* timer_fns) {
  (void)platform;
  (void)timer_fns;
  note("destroy_timer_fns\n");
}

static void destroy_platform(SP_Platform* platform) {
  (void)platform;
  note("destroy_platform\n");
}

static void destroy_platform_fns(SP_PlatformFns* platform_fns) {
  (void)platform_fns;
  note("destroy_platform_fns\n");
}

#ifdef RELEASED
static void get_device_count(const SP_Platform* platform, int* device_count, TF_Status* status) {
  (void)platform;
  (void)status;
  *device_count = DEVICES;
}

static int32_t get_numa_node(const SP_Device* device) { return device_of(device)->ordinal; }
static int64_t get_memory_bandwidth(const SP_Device* device) { return 1000 + device_of(device)->ordinal; }
static double get_gflops(const SP_Device* device) { return 1.5 + device_of(device)->ordinal; }

static void create_device_fns(const SP_Platform* platform, SE_CreateDeviceFnsParams* params, TF_Status* status) {
  (void)platform;
  (void)status;
  *params->device_fns =
      (SP_DeviceFns){SP_DEVICE_FNS_STRUCT_SIZE, NULL, get_numa_node, get_memory_bandwidth, get_gflops};
}

static void destroy_device_fns(const SP_Platform* platform, SP_DeviceFns* device_fns) {
  (void)platform;
  (void)device_fns;
}
#endif

void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status) {
  if (params->major_version != SE_MAJOR) {
    TF_SetStatus(status, TF_FAILED_PRECONDITION, "the core has another version of the API");
    return;
  }
  params->platform->struct_size = SP_PLATFORM_STRUCT_SIZE;
  params->platform->name = "sample platform";
  params->platform->type = "SAMPLE";
#ifndef RELEASED
  params->platform->visible_device_count = DEVICES;
#endif
  params->platform_fns->struct_size = SP_PLATFORM_FNS_STRUCT_SIZE;
#ifdef RELEASED
  params->platform_fns->get_device_count = get_device_count;
  params->platform_fns->create_device_fns = create_device_fns;
  params->platform_fns->destroy_device_fns = destroy_device_fns;
#endif
  params->platform_fns->create_device = create_device;
  params->platform_fns->destroy_device = destroy_device;
  params->platform_fns->create_stream_executor = create_stream_executor;
  params->platform_fns->destroy_stream_executor = destroy_stream_executor;
  params->platform_fns->create_timer_fns = create_timer_fns;
  params->platform_fns->destroy_timer_fns = destroy_timer_fns;
  params->destroy_platform = destroy_platform;
  params->destroy_platform_fns = destroy_platform_fns;
}
