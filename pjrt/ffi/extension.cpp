#include "pjrt/ffi/extension.h"

#include "pjrt/execute_context.h"
#include "pjrt/ffi/registry.h"
#include "pjrt/guarded.h"

using namespace alula::pjrt;
using namespace alula::pjrt::ffi;

namespace {
std::string_view getName(const void *text, size_t size) {
  return {static_cast<const char *>(text), text ? size : 0};
}

void *registerType(PJRT_FFI_Type_Register_Args *args) {
  auto *info = as<PJRT_FFI_Type_Info>(take(args, &ALULA_ARGS::type_info));
  int64_t id = take(args, &ALULA_ARGS::type_id);
  if (void *error = Registry::get().addType(
          getName(take(args, &ALULA_ARGS::type_name),
                  take(args, &ALULA_ARGS::type_name_size)),
          id, info ? reinterpret_cast<Deleter>(info->deleter) : nullptr))
    return error;
  put(args, &ALULA_ARGS::type_id, id);
  return nullptr;
}

void *addUserData(PJRT_FFI_UserData_Add_Args *args) {
  ALULA_TAKE(ExecuteContext, context);
  PJRT_FFI_UserData data = take(args, &ALULA_ARGS::user_data);
  std::lock_guard lock(context->data->mutex);
  if (context->data->byType.emplace(data.type_id, data.data).second)
    return nullptr;
  return makeError(ALULA_STATUS_ALREADY_EXISTS,
                   "alula: the context has data of the type with id " +
                       std::to_string(data.type_id) + " already");
}

void *registerHandler(PJRT_FFI_Register_Handler_Args *args) {
  void *handler = take(args, &ALULA_ARGS::handler);
  if (!handler)
    return missing("handler");
  Bundle bundle;
  bundle.handlers[Execute] = reinterpret_cast<Handler *>(handler);
  return Registry::get().add(
      getName(take(args, &ALULA_ARGS::target_name),
              take(args, &ALULA_ARGS::target_name_size)),
      getName(take(args, &ALULA_ARGS::platform_name),
              take(args, &ALULA_ARGS::platform_name_size)),
      bundle);
}
} // namespace

PJRT_FFI_Extension &alula::pjrt::getFfiExtension() {
  static PJRT_FFI_Extension extension = [] {
    PJRT_FFI_Extension made = {};
    made.base.struct_size = sizeof made;
    made.base.type = 5; // FFI.
    made.type_register = guardedSlot<registerType>();
    made.user_data_add = guardedSlot<addUserData>();
    made.register_handler = guardedSlot<registerHandler>();
    return made;
  }();
  return extension;
}
