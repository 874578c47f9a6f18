// The functions that handlers call. Null stands for success; an error is the
// caller's.

#include "pjrt/ffi/api.h"

#include "alula/artifact.h"
#include "pjrt/ffi/context.h"
#include "pjrt/ffi/current_call.h"
#include "pjrt/ffi/future.h"
#include "pjrt/ffi/threads.h"

#include <algorithm>
#include <bit>

using namespace alula::pjrt;
using namespace alula::pjrt::ffi;

// ---- States ----

void *State::set(int64_t wanted, void *made) {
  if (object)
    return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                     "alula: the state of this stage is set already");
  if (void *error = Registry::get().findDeleter(wanted, deleter))
    return error;
  type = wanted;
  object = made;
  return nullptr;
}

void *State::get(int64_t wanted, void *&found) const {
  if (!object)
    return makeError(ALULA_STATUS_NOT_FOUND,
                     "alula: no handler has set the state of this stage");
  if (type != wanted)
    return invalid("alula: the state is of the type with id " +
                   std::to_string(type) + ", not " + std::to_string(wanted));
  found = object;
  return nullptr;
}

namespace {
/// What versions before 0.2 have: the only state is that of Instantiate.
struct OldStateArgs {
  size_t struct_size;
  void *extension_start, *ctx, *type_id, *state;
};

/// The state that the arguments of a function name, and its type and place.
struct NamedState {
  State *state;
  int64_t type;
  void **object;
};

template <typename Args> void *readState(Args *args, NamedState &named) {
  bool isOld = args->struct_size <= sizeof(OldStateArgs);
  auto *old = reinterpret_cast<OldStateArgs *>(args);
  auto *context = as<Context>(args->ctx);
  auto stage =
      isOld ? uint32_t(Instantiate) : static_cast<uint32_t>(args->stage);
  auto *type = as<XLA_FFI_TypeId>(isOld ? old->type_id : args->type_id);
  if (!context || !type)
    return missing(context ? "type_id" : "ctx");
  if (stage >= stageCount || !context->states[stage])
    return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                     "alula: stage " + std::to_string(stage) +
                         " has no state here");
  named = {context->states[stage], type->type_id,
           isOld ? &old->state : &args->state};
  return nullptr;
}

void *setState(XLA_FFI_State_Set_Args *args) {
  NamedState named;
  if (void *error = readState(args, named))
    return error;
  return named.state->set(named.type, *named.object);
}

void *getState(XLA_FFI_State_Get_Args *args) {
  NamedState named;
  if (void *error = readState(args, named))
    return error;
  return named.state->get(named.type, *named.object);
}

// ---- Errors ----

void *createError(XLA_FFI_Error_Create_Args *args) {
  auto *message = as<const char>(args->message);
  return new Error(readError(static_cast<uint32_t>(args->errc), message,
                             message ? strlen(message) : 0));
}

void getMessage(XLA_FFI_Error_GetMessage_Args *args) {
  args->message = as<Error>(args->error)->message.data();
}

void destroyError(XLA_FFI_Error_Destroy_Args *args) {
  delete as<Error>(args->error);
}

// ---- Handlers and types ----

void *registerHandler(XLA_FFI_Handler_Register_Args *args) {
  auto read = [](void *handler) {
    return reinterpret_cast<Handler *>(handler);
  };
  return Registry::get().add(
      getText(args->name), getText(args->platform),
      {{read(args->bundle.instantiate), read(args->bundle.prepare),
        read(args->bundle.initialize), read(args->bundle.execute)}});
}

void *registerType(XLA_FFI_Type_Register_Args *args) {
  auto *id = as<XLA_FFI_TypeId>(args->type_id);
  if (!id)
    return missing("type_id");
  auto *info =
      as<XLA_FFI_TypeInfo>(take(args, &ALULA_ARGS::type_info, nullptr));
  return Registry::get().addType(getText(args->name), id->type_id,
                                 info ? reinterpret_cast<Deleter>(info->deleter)
                                      : nullptr);
}

// ---- The call ----

void *getUserData(XLA_FFI_ExecutionContext_Get_Args *args) {
  auto *type = as<XLA_FFI_TypeId>(args->type_id);
  if (!type)
    return missing("type_id");
  const CurrentCall *call = InCall::get();
  if (call && call->data) {
    std::lock_guard lock(call->data->mutex);
    auto found = call->data->byType.find(type->type_id);
    if (found != call->data->byType.end()) {
      args->data = found->second;
      return nullptr;
    }
  }
  return makeError(ALULA_STATUS_NOT_FOUND,
                   "alula: the client has given no data of the type with id " +
                       std::to_string(type->type_id));
}

void *getStream(XLA_FFI_Stream_Get_Args *) {
  return makeError(ALULA_STATUS_UNIMPLEMENTED,
                   "alula: the host has no streams");
}

void *getRunId(XLA_FFI_RunId_Get_Args *args) {
  const CurrentCall *call = InCall::get();
  args->run_id = call ? call->run : 0;
  return nullptr;
}

void *getDevice(XLA_FFI_DeviceOrdinal_Get_Args *args) {
  args->device_ordinal = as<Context>(args->ctx)->device;
  return nullptr;
}

// ---- Memory and threads ----

void *allocate(XLA_FFI_DeviceMemory_Allocate_Args *args) {
  size_t alignment = std::max<size_t>(args->alignment, ALULA_ALIGNMENT);
  if (!std::has_single_bit(alignment))
    return invalid("alula: an alignment is a power of two, not " +
                   std::to_string(alignment));
  size_t bytes = args->size + (alignment - args->size % alignment) % alignment;
  args->data = bytes < args->size
                   ? nullptr
                   : aligned_alloc(alignment, std::max(bytes, alignment));
  if (args->data)
    return nullptr;
  return makeError(ALULA_STATUS_RESOURCE_EXHAUSTED,
                   "alula: no memory for " + std::to_string(args->size) +
                       " bytes of a handler");
}

void *release(XLA_FFI_DeviceMemory_Free_Args *args) {
  free(args->data);
  return nullptr;
}

void *schedule(XLA_FFI_ThreadPool_Schedule_Args *args) {
  if (!args->task)
    return missing("task");
  Threads::get().schedule(reinterpret_cast<void (*)(void *)>(args->task),
                          args->data);
  return nullptr;
}

void *countThreads(XLA_FFI_ThreadPool_NumThreads_Args *args) {
  *as<int64_t>(args->num_threads) = Threads::get().getCount();
  return nullptr;
}

void *createFuture(XLA_FFI_Future_Create_Args *args) {
  args->future = new Future;
  return nullptr;
}

void *setAvailable(XLA_FFI_Future_SetAvailable_Args *args) {
  as<Future>(args->future)->finish(nullptr);
  return nullptr;
}

void *setError(XLA_FFI_Future_SetError_Args *args) {
  as<Future>(args->future)->finish(as<Error>(args->error));
  return nullptr;
}

XLA_FFI_Api makeApi() {
  XLA_FFI_Api api = {};
  api.struct_size = sizeof api;
  api.api_version.struct_size = sizeof api.api_version;
  api.api_version.major_version = 0;
  api.api_version.minor_version = 3;
#define SET(name, function)                                                    \
  api.XLA_FFI_##name = reinterpret_cast<void *>(&(function))
  SET(Error_Create, createError);
  SET(Error_GetMessage, getMessage);
  SET(Error_Destroy, destroyError);
  SET(Handler_Register, registerHandler);
  SET(Stream_Get, getStream);
  SET(Type_Register, registerType);
  SET(ExecutionContext_Get, getUserData);
  SET(State_Set, setState);
  SET(State_Get, getState);
  SET(DeviceMemory_Allocate, allocate);
  SET(DeviceMemory_Free, release);
  SET(ThreadPool_Schedule, schedule);
  SET(ThreadPool_NumThreads, countThreads);
  SET(Future_Create, createFuture);
  SET(Future_SetAvailable, setAvailable);
  SET(Future_SetError, setError);
  SET(RunId_Get, getRunId);
  SET(DeviceOrdinal_Get, getDevice);
#undef SET
  return api;
}
} // namespace

const XLA_FFI_Api &alula::pjrt::ffi::getApi() {
  static const XLA_FFI_Api api = makeApi();
  return api;
}

/// As XLA's header declares it.
extern "C" __attribute__((visibility("default"))) const XLA_FFI_Api *
XLA_FFI_GetApi() {
  return &getApi();
}
