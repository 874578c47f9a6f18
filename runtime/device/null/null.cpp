// A device that runs everything except kernels: what a call costs without its
// numbers, and tests of command lists without code. A trace shows what it
// would have run.

#include "runtime/device/host/memory.h"

namespace alula::runtime {
namespace {

Status loadNull(const artifact::Artifact &artifact, const char *wanted,
                LoadedKernels **loaded, uint32_t *chosen) {
  for (uint32_t i = 0; i < artifact.variants.size; ++i)
    if (!wanted ||
        strcmp(wanted, artifact.getString(artifact.variants[i].name)) == 0) {
      *loaded = nullptr;
      *chosen = i;
      return nullptr;
    }
  return makeError(ALULA_STATUS_NOT_FOUND, "the artifact has no variant '%s'",
                   wanted ? wanted : "");
}

void unloadNull(LoadedKernels *) {}

Status dispatchNull(Stream *, LoadedKernels *, const Dispatch &) {
  return nullptr;
}

} // namespace

constexpr Driver nullDriver =
    host::makeDriver("null", loadNull, {unloadNull, dispatchNull});

} // namespace alula::runtime
