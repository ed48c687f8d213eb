/* How a call through the StreamExecutor C API says whether it succeeded.
 *
 * A core provides these functions to the plug-ins it loads. A plug-in is linked without them (leave them undefined in
 * the shared object); they are found when it is loaded. */
#ifndef TFRT_PLUGIN_TF_STATUS_H_
#define TFRT_PLUGIN_TF_STATUS_H_

#ifdef __cplusplus
extern "C" {
#endif

/* The core's; a plug-in only passes pointers to it on. */
typedef struct TSL_Status TF_Status;

typedef enum TF_Code {
  TF_OK = 0,
  TF_CANCELLED = 1,
  TF_UNKNOWN = 2,
  TF_INVALID_ARGUMENT = 3,
  TF_DEADLINE_EXCEEDED = 4,
  TF_NOT_FOUND = 5,
  TF_ALREADY_EXISTS = 6,
  TF_PERMISSION_DENIED = 7,
  TF_RESOURCE_EXHAUSTED = 8,
  TF_FAILED_PRECONDITION = 9,
  TF_ABORTED = 10,
  TF_OUT_OF_RANGE = 11,
  TF_UNIMPLEMENTED = 12,
  TF_INTERNAL = 13,
  TF_UNAVAILABLE = 14,
  TF_DATA_LOSS = 15,
  TF_UNAUTHENTICATED = 16,
} TF_Code;

/* A status that says TF_OK; given back with TF_DeleteStatus. */
TF_Status* TF_NewStatus(void);
void TF_DeleteStatus(TF_Status* status);

/* Replaces what the status says, payloads included. The message is copied. */
void TF_SetStatus(TF_Status* status, TF_Code code, const char* message);
/* Attaches text under a key to a status that is an error. */
void TF_SetPayload(TF_Status* status, const char* key, const char* value);
typedef void (*TF_PayloadVisitor)(const char* key, const char* value, void* capture);
void TF_ForEachPayload(const TF_Status* status, TF_PayloadVisitor visitor, void* capture);
/* From an errno; `context` comes first in the message. */
void TF_SetStatusFromIOError(TF_Status* status, int error_code, const char* context);

TF_Code TF_GetCode(const TF_Status* status);
/* Empty for TF_OK. Lives until the status is changed or deleted. */
const char* TF_Message(const TF_Status* status);

#ifdef __cplusplus
}
#endif

#endif  /* TFRT_PLUGIN_TF_STATUS_H_ */
