#include "pjrt/ffi/registry.h"

#include "pjrt/ffi/api.h"

#include <algorithm>
#include <cctype>

using namespace alula::pjrt;
using namespace alula::pjrt::ffi;

namespace {
/// The versions of XLA's C API whose handlers are called.
constexpr int32_t majorVersion = 0, oldestMinor = 1, newestMinor = 3;

std::string describe(std::string_view name, std::string_view platform) {
  return "alula: the handler of '" + std::string(name) + "' for platform '" +
         std::string(platform) + "' ";
}

/// Asks a handler what it was made for.
void *ask(Handler *handler, std::string &problem) {
  XLA_FFI_Metadata metadata = {};
  metadata.struct_size = sizeof metadata;
  XLA_FFI_Metadata_Extension extension = {};
  extension.extension_base.struct_size = sizeof extension;
  extension.extension_base.type = 1; // Metadata.
  extension.metadata = &metadata;
  XLA_FFI_CallFrame frame = {};
  frame.struct_size = frameSize;
  frame.extension_start = &extension;
  frame.api = const_cast<XLA_FFI_Api *>(&getApi());
  frame.stage = Execute;
  frame.args.struct_size = sizeof frame.args;
  frame.rets.struct_size = sizeof frame.rets;
  frame.attrs.struct_size = sizeof frame.attrs;
  if (void *error = handler(&frame))
    return error;
  auto [major, minor] = std::pair(metadata.api_version.major_version,
                                  metadata.api_version.minor_version);
  if (major != majorVersion || minor < oldestMinor || minor > newestMinor)
    problem = "is made for version " + std::to_string(major) + "." +
              std::to_string(minor) + " of XLA's FFI, versions " +
              std::to_string(majorVersion) + "." + std::to_string(oldestMinor) +
              " to " + std::to_string(majorVersion) + "." +
              std::to_string(newestMinor) + " can be called";
  return nullptr;
}

/// What is wrong with handlers, or nothing.
std::string check(const Bundle &bundle) {
  if (!bundle.handlers[Execute])
    return "has no function for the stage execute";
  std::string problem;
  for (Handler *handler : bundle.handlers) {
    if (!handler || !problem.empty())
      continue;
    if (auto *error = as<Error>(ask(handler, problem))) {
      problem = "can't be called: " + error->message;
      delete error;
    }
  }
  return problem;
}

/// 0: ours. 1: XLA's name of the CPU, or JAX's.
std::optional<size_t> findPlatform(std::string_view platform) {
  std::string small(platform);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (small == "alula")
    return 0;
  if (small == "host" || small == "cpu")
    return 1;
  return std::nullopt;
}
} // namespace

Registry &Registry::get() {
  static auto *const registry = new Registry;
  return *registry;
}

void *Registry::add(std::string_view name, std::string_view platform,
                    const Bundle &bundle) {
  std::optional<size_t> place = findPlatform(platform);
  if (!place)
    return invalid(describe(name, platform) +
                   "is for another machine: there are 'alula' and 'Host'");
  if (name.empty() || name.starts_with("alula."))
    return invalid(describe(name, platform) +
                   "has a name that is the compiler's own");
  // A handler may call functions of the API: not under the lock.
  Offer offer = {bundle, check(bundle)};
  std::string problem = offer.problem;
  std::lock_guard lock(mutex);
  auto [found, isNew] = targets.try_emplace(std::string(name));
  std::optional<Offer> &known = found->second[*place];
  if (known && known->problem.empty() && known->bundle != bundle)
    return makeError(ALULA_STATUS_ALREADY_EXISTS,
                     describe(name, platform) + "is registered already, and is "
                                                "another function");
  known = std::move(offer);
  if (isNew)
    names.emplace_back(name);
  return problem.empty() ? nullptr
                         : invalid(describe(name, platform) + problem);
}

std::optional<Bundle> Registry::find(const std::string &name,
                                     std::string &problem) {
  std::lock_guard lock(mutex);
  auto found = targets.find(name);
  if (found == targets.end())
    return std::nullopt;
  for (size_t place : {0, 1}) {
    const std::optional<Offer> &offer = found->second[place];
    if (!offer)
      continue;
    if (offer->problem.empty())
      return offer->bundle;
    problem = describe(name, place ? "Host" : "alula") + offer->problem;
    return std::nullopt;
  }
  return std::nullopt;
}

std::vector<std::string> Registry::getNames(size_t after) {
  std::lock_guard lock(mutex);
  return {names.begin() + static_cast<ptrdiff_t>(after), names.end()};
}

void *Registry::addType(std::string_view name, int64_t &id, Deleter deleter) {
  std::lock_guard lock(mutex);
  for (auto &[known, type] : types) {
    bool isThis = type.name == name;
    if (isThis && (!id || id == known)) {
      id = known;
      type.deleter = deleter;
      return nullptr;
    }
    if (isThis || id == known)
      return makeError(ALULA_STATUS_ALREADY_EXISTS,
                       "alula: the type '" + std::string(name) + "' has id " +
                           std::to_string(id) + ", type '" + type.name +
                           "' has id " + std::to_string(known));
  }
  if (!id)
    id = nextType++;
  types[id] = {std::string(name), deleter};
  return nullptr;
}

void *Registry::findDeleter(int64_t id, Deleter &deleter) {
  std::lock_guard lock(mutex);
  auto found = types.find(id);
  if (found == types.end())
    return invalid("alula: no type has id " + std::to_string(id) +
                   ": it must be registered before its handlers");
  deleter = found->second.deleter;
  return nullptr;
}
