#include "pjrt/border.h"
#include "pjrt/functions.h"

using namespace alula::pjrt;

void alula::pjrt::Error_Destroy(PJRT_Error_Destroy_Args *args) {
  delete as<Error>(args->error);
}

void alula::pjrt::Error_Message(PJRT_Error_Message_Args *args) {
  putText(args, &PJRT_Error_Message_Args::message,
          &PJRT_Error_Message_Args::message_size,
          as<Error>(args->error)->message);
}

void *alula::pjrt::Error_GetCode(PJRT_Error_GetCode_Args *args) {
  put(args, &PJRT_Error_GetCode_Args::code, as<Error>(args->error)->code);
  return nullptr;
}
