/* The functions that plug-ins expect of a core, as a library that can be found by name: each calls what the core gave.
 *
 * The core writes this library to memory and loads it before the first plug-in, so that plug-ins find the functions
 * whatever program the core is part of, however that was linked. It needs no other library. */
#include "../../include/tf_status.h"

struct tfrt_status_functions {
  TF_Status* (*create)(void);
  void (*destroy)(TF_Status*);
  void (*set)(TF_Status*, TF_Code, const char*);
  void (*set_payload)(TF_Status*, const char*, const char*);
  void (*for_each_payload)(const TF_Status*, TF_PayloadVisitor, void*);
  void (*set_from_io_error)(TF_Status*, int, const char*);
  TF_Code (*code)(const TF_Status*);
  const char* (*message)(const TF_Status*);
};

static struct tfrt_status_functions functions;

/* Called once, before anything else. */
void tfrt_provide_status(const struct tfrt_status_functions* given) { functions = *given; }

TF_Status* TF_NewStatus(void) { return functions.create(); }
void TF_DeleteStatus(TF_Status* status) { functions.destroy(status); }
void TF_SetStatus(TF_Status* status, TF_Code code, const char* message) { functions.set(status, code, message); }
void TF_SetPayload(TF_Status* status, const char* key, const char* value) {
  functions.set_payload(status, key, value);
}
void TF_ForEachPayload(const TF_Status* status, TF_PayloadVisitor visitor, void* capture) {
  functions.for_each_payload(status, visitor, capture);
}
void TF_SetStatusFromIOError(TF_Status* status, int error_code, const char* context) {
  functions.set_from_io_error(status, error_code, context);
}
TF_Code TF_GetCode(const TF_Status* status) { return functions.code(status); }
const char* TF_Message(const TF_Status* status) { return functions.message(status); }
