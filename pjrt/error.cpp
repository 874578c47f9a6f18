#include "pjrt/border.h"
#include "pjrt/functions.h"

using namespace alula::pjrt;

void alula::pjrt::Error_Destroy(PJRT_Error_Destroy_Args *args) {
  if (args)
    delete as<Error>(take(args, &ALULA_ARGS::error));
}

void alula::pjrt::Error_Message(PJRT_Error_Message_Args *args) {
  auto *error = args ? as<Error>(take(args, &ALULA_ARGS::error)) : nullptr;
  if (error)
    putText(args, &ALULA_ARGS::message, &ALULA_ARGS::message_size,
            error->message);
}

void *alula::pjrt::Error_GetCode(PJRT_Error_GetCode_Args *args) {
  ALULA_TAKE(Error, error);
  put(args, &ALULA_ARGS::code, error->code);
  return nullptr;
}
