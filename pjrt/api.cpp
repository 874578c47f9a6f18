// The table of functions, the plugin's only export.

#include "pjrt/border.h"
#include "pjrt/functions.h"

using namespace alula::pjrt;

namespace {
/// Stands in every slot that the plugin has no function for.
void *declineCall(void *) {
  return makeError(ALULA_STATUS_UNIMPLEMENTED,
                   "alula: this function of the PJRT API is not offered");
}

template <typename Function> void *slot(Function *function) {
  return reinterpret_cast<void *>(function);
}

PJRT_Api makeApi() {
  PJRT_Api api = {};
  // The table as it was at the version that we declare: a client takes a
  // longer one for an offer of every function in it.
  api.struct_size = offsetof(PJRT_Api, PJRT_Device_GetAttributes);
  api.pjrt_api_version.struct_size = sizeof api.pjrt_api_version;
  api.pjrt_api_version.major_version = 0;
  // Clients ask more of plugins that declare more.
  api.pjrt_api_version.minor_version = 90;
  auto **slots = reinterpret_cast<void **>(&api.PJRT_Error_Destroy);
  auto **end = reinterpret_cast<void **>(&api + 1);
  for (void **entry = slots; entry != end; ++entry)
    *entry = slot(declineCall);
  api.PJRT_Error_Destroy = slot(Error_Destroy);
  api.PJRT_Error_Message = slot(Error_Message);
#define X(name) api.PJRT_##name = slot(name);
  ALULA_FOR_EACH_PJRT_FUNCTION(X)
#undef X
  return api;
}
} // namespace

extern "C" __attribute__((visibility("default"))) const PJRT_Api *
GetPjrtApi() {
  static const PJRT_Api api = makeApi();
  return &api;
}

void *alula::pjrt::Plugin_Initialize(PJRT_Plugin_Initialize_Args *) {
  return nullptr;
}

void *alula::pjrt::Plugin_Attributes(PJRT_Plugin_Attributes_Args *args) {
  put(args, &PJRT_Plugin_Attributes_Args::attributes, (void *)nullptr);
  put(args, &PJRT_Plugin_Attributes_Args::num_attributes, 0);
  return nullptr;
}
