#include "pjrt/ffi/call_site.h"

#include "alula/artifact.h"
#include "pjrt/ffi/api.h"

#include <shared_mutex>
#include <unordered_map>

using namespace alula::pjrt;
using namespace alula::pjrt::ffi;

namespace {
/// All programs' calls.
struct Index {
  std::shared_mutex mutex;
  std::unordered_map<const void *, CallSite *> sites;

  static Index &get() {
    static auto *const index = new Index;
    return *index;
  }
};

/// "custom call 'f': " before what is wrong.
void *explain(const std::string &name, void *failed) {
  auto *error = as<Error>(failed);
  if (error)
    error->message = "custom call '" + name + "': " + error->message;
  return error;
}
} // namespace

std::string alula::pjrt::ffi::explainMissing(const std::string &name) {
  std::string problem;
  Registry::get().find(name, problem);
  if (!problem.empty())
    return problem;
  return "no handler is registered for the custom call '" + name +
         "': jax.ffi.register_ffi_target('" + name +
         "', ..., platform='alula') or platform='cpu' does it, before the "
         "program is compiled or loaded";
}

void *CallSite::read(const alula_custom_call_info &info) {
  ConfigReader reader(info.config, info.config_bytes);
  if (!info.config || reader.readCount() != ALULA_CALL_CONFIG_MAGIC)
    return invalid("handlers of XLA's FFI are called by api_version 4 alone");
  // The number, which sets it apart.
  reader.readCount();
  if (void *error = reader.readValues(operands))
    return error;
  if (void *error = reader.readValues(results))
    return error;
  auto isInRecord = [](const CallValue &value) {
    return value.kind != CallValue::Kind::Token;
  };
  auto count = [&](const std::vector<CallValue> &values) {
    size_t sum = 0;
    for (const CallValue &value : values)
      sum += isInRecord(value);
    return sum;
  };
  if (count(operands) != info.operand_count ||
      count(results) != info.result_count)
    return invalid("the configuration is of another call");
  return attributes.read(reader);
}

void *CallSite::instantiate() {
  Handler *handler = bundle.handlers[Instantiate];
  if (!handler)
    return nullptr;
  Context context;
  context.states[Instantiate] = &instance;
  XLA_FFI_CallFrame frame = {};
  frame.struct_size = frameSize;
  frame.api = const_cast<XLA_FFI_Api *>(&getApi());
  frame.ctx = &context;
  frame.stage = Instantiate;
  frame.args.struct_size = sizeof frame.args;
  frame.rets.struct_size = sizeof frame.rets;
  frame.attrs = attributes.get();
  return handler(&frame);
}

CallSites::~CallSites() {
  Index &index = Index::get();
  std::unique_lock lock(index.mutex);
  for (const void *config : configs)
    index.sites.erase(config);
}

void *CallSites::load(const alula_executable *executable) {
  alula_custom_call_info info = {};
  info.struct_bytes = sizeof info;
  for (uint32_t i = 0; alula_executable_get_custom_call(executable, i, &info);
       ++i) {
    std::string problem;
    std::optional<Bundle> bundle = Registry::get().find(info.name, problem);
    // Others' are the plugin's own.
    if (!bundle && std::string_view(info.name).starts_with("alula."))
      continue;
    if (!bundle)
      return makeError(ALULA_STATUS_NOT_FOUND, explainMissing(info.name));
    auto site = std::make_unique<CallSite>();
    site->name = info.name;
    site->bundle = *bundle;
    if (void *error = site->read(info))
      return explain(info.name, error);
    if (void *error = site->instantiate())
      return explain(info.name, error);
    Index &index = Index::get();
    std::unique_lock lock(index.mutex);
    index.sites[info.config] = site.get();
    configs.push_back(info.config);
    sites.push_back(std::move(site));
  }
  return nullptr;
}

CallSite *CallSites::find(const void *config) {
  Index &index = Index::get();
  std::shared_lock lock(index.mutex);
  auto found = index.sites.find(config);
  return found == index.sites.end() ? nullptr : found->second;
}

alula_error *Connection::call(void *user, const alula_custom_call_args *args) {
  CallSite *site = CallSites::find(args->config);
  if (!site)
    return alula_error_create(ALULA_STATUS_FAILED_PRECONDITION,
                              "the program was not loaded by the plugin");
  std::unique_ptr<Error> error(as<Error>(
      runCall(*site, static_cast<const Connection *>(user)->device, *args)));
  return error ? alula_error_create(error->code, error->message.c_str())
               : nullptr;
}

void *Connection::update() {
  std::lock_guard lock(mutex);
  if (!alula_instance_shares_memory(instance))
    return nullptr;
  for (const std::string &name : Registry::get().getNames(count)) {
    if (alula_error *error = alula_instance_register_custom_call(
            instance, name.c_str(), call, this))
      return makeError(error);
    ++count;
  }
  return nullptr;
}
