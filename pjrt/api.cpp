// The table of functions, what the plugin exports.

#include "pjrt/border.h"
#include "pjrt/functions.h"
#include "pjrt/guarded.h"
#include "pjrt/profiler_extension.h"

#include "alula/compiler.h"

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
  api.struct_size = offsetof(PJRT_Api, PJRT_Client_Load);
  api.pjrt_api_version.struct_size = sizeof api.pjrt_api_version;
  api.pjrt_api_version.major_version = 0;
  api.extension_start = &getProfilerExtension();
  // Clients ask more of plugins that declare more. From this one on jaxlib asks
  // for layouts of parameters instead of translating the program to HLO.
  api.pjrt_api_version.minor_version = 93;
  auto **slots = reinterpret_cast<void **>(&api.PJRT_Error_Destroy);
  auto **end = reinterpret_cast<void **>(&api + 1);
  for (void **entry = slots; entry != end; ++entry)
    *entry = slot(declineCall);
  api.PJRT_Error_Destroy = slot(Error_Destroy);
  api.PJRT_Error_Message = slot(Error_Message);
#define X(name) api.PJRT_##name = guardedSlot<name>();
  ALULA_FOR_EACH_PJRT_FUNCTION(X)
#undef X
  return api;
}

/// What the plugin reads: the newest and the oldest version of StableHLO's
/// portable form.
struct Attributes {
  int64_t newest[3] = {ALULA_STABLEHLO_NEWEST};
  int64_t oldest[3] = {ALULA_STABLEHLO_OLDEST};
  PJRT_NamedValue values[2] = {};

  Attributes() {
    set(values[0], "stablehlo_current_version", newest);
    set(values[1], "stablehlo_minimum_version", oldest);
  }
  static void set(PJRT_NamedValue &value, const char *name, int64_t *numbers) {
    value.struct_size = sizeof value;
    value.name = const_cast<char *>(name);
    value.name_size = strlen(name);
    value.type = 2; // A list of integers.
    value._anon5.int64_array_value = numbers;
    value.value_size = 3;
  }
};
} // namespace

extern "C" __attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi() {
  static const PJRT_Api api = makeApi();
  return &api;
}

void *alula::pjrt::Plugin_Initialize(PJRT_Plugin_Initialize_Args *) {
  return nullptr;
}

void *alula::pjrt::Plugin_Attributes(PJRT_Plugin_Attributes_Args *args) {
  static Attributes attributes;
  put(args, &ALULA_ARGS::attributes, attributes.values);
  put(args, &ALULA_ARGS::num_attributes, 2);
  return nullptr;
}
