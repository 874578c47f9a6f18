#pragma once

#include "pjrt/ffi/attributes.h"
#include "pjrt/ffi/context.h"

#include <memory>
#include <mutex>

namespace alula::pjrt::ffi {

/// A custom call of a loaded program.
struct CallSite {
  std::string name;
  Bundle bundle;
  std::vector<CallValue> operands, results;
  Attributes attributes;
  /// What Instantiate left, for all devices and calls.
  State instance;

  /// Reads a configuration, which must outlive it.
  void *read(const alula_custom_call_info &info);
  /// Calls the handler of the stage, if there is one.
  void *instantiate();
};

/// Makes a call on the thread that asks for it.
void *runCall(CallSite &site, int32_t device,
              const alula_custom_call_args &args);

/// The calls of a program, found by the address of their configuration for as
/// long as this lives.
class CallSites {
public:
  CallSites() = default;
  CallSites(const CallSites &) = delete;
  CallSites &operator=(const CallSites &) = delete;
  ~CallSites();

  /// Those of the program's custom calls that handlers make; they are
  /// instantiated.
  void *load(const alula_executable *executable);
  bool isEmpty() const { return sites.empty(); }
  /// Null if no program has it.
  static CallSite *find(const void *config);

private:
  std::vector<std::unique_ptr<CallSite>> sites;
  std::vector<const void *> configs;
};

/// The names of the registry as custom calls of an instance of the runtime,
/// whose loaded programs must be gone before it.
class Connection {
public:
  /// `device`: as handlers are told it.
  Connection(alula_instance *instance, int32_t device)
      : instance(instance), device(device) {}

  /// Before programs are loaded: what was registered since.
  void *update();

private:
  static alula_error *call(void *user, const alula_custom_call_args *args);

  alula_instance *instance;
  const int32_t device;
  std::mutex mutex;
  size_t count = 0;
};

/// What clients are told of a target that has no handler.
std::string explainMissing(const std::string &name);

} // namespace alula::pjrt::ffi
