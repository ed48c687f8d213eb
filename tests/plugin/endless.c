/* The sample with work that never ends: no event is ever reached. */
#define SE_InitPlugin sample_init
#include "sample.c"
#undef SE_InitPlugin

#include <unistd.h>

static SE_EventStatus endless_get_event_status(const SP_Device* device, SP_Event event) {
  (void)device, (void)event;
  return SE_EVENT_PENDING;
}

static void endless_block_host_for_event(const SP_Device* device, SP_Event event, TF_Status* status) {
  (void)device, (void)event, (void)status;
  for (;;) pause();
}

static void endless_block_host_until_done(const SP_Device* device, SP_Stream stream, TF_Status* status) {
  (void)device, (void)stream, (void)status;
  for (;;) pause();
}

static void endless_synchronize_all_activity(const SP_Device* device, TF_Status* status) {
  (void)device, (void)status;
  for (;;) pause();
}

static void endless_create_stream_executor(const SP_Platform* platform, SE_CreateStreamExecutorParams* params,
                                           TF_Status* status) {
  create_stream_executor(platform, params, status);
  SP_StreamExecutor* executor = params->stream_executor;
  executor->get_event_status = endless_get_event_status;
  executor->block_host_for_event = endless_block_host_for_event;
  executor->block_host_until_done = endless_block_host_until_done;
  executor->synchronize_all_activity = endless_synchronize_all_activity;
}

void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status) {
  sample_init(params, status);
  params->platform_fns->create_stream_executor = endless_create_stream_executor;
}
