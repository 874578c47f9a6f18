// The end of an instance.

#include "runtime/device/device.h"

namespace alula::runtime {

void destroyInstance(Instance *instance) {
  if (instance->queue)
    instance->destroyQueue(instance->queue);
  for (const CustomCall &call : instance->customCalls)
    free(call.name);
  for (size_t i = instance->importProviders.size(); i > 0; --i) {
    const ImportProvider &provider = instance->importProviders[i - 1];
    if (provider.table.unload)
      provider.table.unload(provider.self);
  }
  destroy(instance);
}

} // namespace alula::runtime
