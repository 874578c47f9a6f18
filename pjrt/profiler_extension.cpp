#include "pjrt/profiler_extension.h"

#include "pjrt/layouts_extension.h"
#include "pjrt/profile.h"

using namespace alula::pjrt;

// Clients leave `struct_size` of these structs as it happens to be: it is not
// looked at.

namespace {
void *destroyError(PLUGIN_Profiler_Error_Destroy_Args *args) {
  delete as<Error>(args->error);
  return nullptr;
}

void *getMessage(PLUGIN_Profiler_Error_Message_Args *args) {
  const std::string &message = as<Error>(args->error)->message;
  args->message = const_cast<char *>(message.data());
  args->message_size = message.size();
  return nullptr;
}

void *getCode(PLUGIN_Profiler_Error_GetCode_Args *args) {
  args->code = int32_t(as<Error>(args->error)->code);
  return nullptr;
}

void *create(PLUGIN_Profiler_Create_Args *args) {
  args->profiler = new Profiler;
  return nullptr;
}

void *destroy(PLUGIN_Profiler_Destroy_Args *args) {
  delete as<Profiler>(args->profiler);
  return nullptr;
}

void *start(PLUGIN_Profiler_Start_Args *args) {
  if (!args->profiler)
    return missing("profiler");
  as<Profiler>(args->profiler)->start();
  return nullptr;
}

void *stop(PLUGIN_Profiler_Stop_Args *args) {
  if (!args->profiler)
    return missing("profiler");
  as<Profiler>(args->profiler)->stop();
  return nullptr;
}

// The bytes are the profiler's: XLA's client takes them at once, with a null
// for the buffer.
void *collect(PLUGIN_Profiler_CollectData_Args *args) {
  if (!args->profiler)
    return missing("profiler");
  const std::string &data = as<Profiler>(args->profiler)->print();
  args->buffer = const_cast<char *>(data.data());
  args->buffer_size_in_bytes = data.size();
  return nullptr;
}

template <typename Function> void *slot(Function *function) {
  return reinterpret_cast<void *>(function);
}
} // namespace

PJRT_Profiler_Extension &alula::pjrt::getProfilerExtension() {
  static PLUGIN_Profiler_Api api = [] {
    PLUGIN_Profiler_Api made = {};
    // As far as it is filled.
    made.struct_size = offsetof(PLUGIN_Profiler_Api, consume);
    made.error_destroy = slot(destroyError);
    made.error_message = slot(getMessage);
    made.error_get_code = slot(getCode);
    made.create = slot(create);
    made.destroy = slot(destroy);
    made.start = slot(start);
    made.stop = slot(stop);
    made.collect_data = slot(collect);
    return made;
  }();
  static PJRT_Profiler_Extension extension = [] {
    PJRT_Profiler_Extension made = {};
    made.base.struct_size = sizeof made;
    made.base.type = 1; // Profiler.
    made.base.next = &getLayoutsExtension().base;
    made.profiler_api = &api;
    return made;
  }();
  return extension;
}
