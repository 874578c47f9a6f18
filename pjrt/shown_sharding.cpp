// jax.debug.inspect_array_sharding: jaxlib writes a function of C and what it
// is called with into the program, as bytes; whoever partitions the program
// calls it. The addresses are those of the process that has made the program.

#include "pjrt/shown_sharding.h"

#include "pjrt/border.h"

#include <cstring>

using namespace alula::pjrt;

namespace {
/// What the function gets, and says of an error, which is then to be freed.
struct Told {
  const char *sharding;
  size_t shardingBytes;
  const char *error = nullptr;
  void *memory = nullptr;
  void (*free)(Told *told) = nullptr;
};

struct Listener {
  void (*call)(void *data, Told *told);
  void *data;
};
} // namespace

void *alula::pjrt::showShardings(const std::vector<ShownSharding> &shardings) {
  for (const ShownSharding &shown : shardings) {
    Listener listener;
    if (shown.request.size() != sizeof listener)
      return invalid("alula: InspectSharding has a configuration of " +
                     std::to_string(shown.request.size()) + " bytes, not of " +
                     std::to_string(sizeof listener));
    memcpy(&listener, shown.request.data(), sizeof listener);
    Told told = {shown.message.data(), shown.message.size()};
    listener.call(listener.data, &told);
    if (!told.error)
      continue;
    void *error =
        makeError(ALULA_STATUS_INTERNAL,
                  std::string("alula: InspectSharding: ") + told.error);
    if (told.free)
      told.free(&told);
    return error;
  }
  return nullptr;
}
