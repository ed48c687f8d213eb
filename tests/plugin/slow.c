/* The sample with memory that takes longer to free than any test's deadline allows. */
#define SE_InitPlugin sample_init
#include "sample.c"
#undef SE_InitPlugin

#include <unistd.h>

static void slow_deallocate(const SP_Device* device, SP_DeviceMemoryBase* memory) {
  sleep(5);
  deallocate(device, memory);
}

static void slow_create_stream_executor(const SP_Platform* platform, SE_CreateStreamExecutorParams* params,
                                        TF_Status* status) {
  create_stream_executor(platform, params, status);
  params->stream_executor->deallocate = slow_deallocate;
}

void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status) {
  sample_init(params, status);
  params->platform_fns->create_stream_executor = slow_create_stream_executor;
}
