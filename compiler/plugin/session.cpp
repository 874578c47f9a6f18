#include "compiler/plugin/session.h"

#include "compiler/plugin/hook.h"
#include "compiler/plugin/options.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace alula::plugin;

static void sayToSession(const alula_stage *stage, uint32_t severity,
                         const char *text) {
  auto *session = static_cast<const Session *>(stage->host_data);
  if (session->say)
    session->say(severity, text);
  else
    errs() << (severity == ALULA_SAY_WARNING ? "warning: " : "remark: ") << text
           << "\n";
}

Expected<std::shared_ptr<Session>>
Session::create(std::shared_ptr<const PluginSet> set,
                ArrayRef<OptionSetting> settings) {
  if (Error error = checkSettings(*set, settings))
    return error;
  std::shared_ptr<Session> session(new Session(set));
  for (const auto &plugin : set->plugins) {
    if (!plugin->isActive)
      continue;
    Expected<std::vector<std::string>> values = readValues(*plugin, settings);
    if (!values)
      return values.takeError();
    Instance instance{plugin.get(), std::move(*values), nullptr};
    if (plugin->table.create) {
      std::vector<const char *> texts;
      for (const std::string &value : instance.values)
        texts.push_back(value.c_str());
      char *text = nullptr;
      int32_t code = 0;
      if (auto crash = callHook(plugin->getId(), "create", [&] {
            code = plugin->table.create(&getHost(), texts.data(),
                                        &instance.self, &text);
          })) {
        session->hasCrashed = true;
        return makeProblem("plug-create", *crash);
      }
      if (code != 0)
        return makeProblem("plug-create", "plugin '" + plugin->getId() +
                                              "': " + takeError(text));
    }
    session->instances.push_back(std::move(instance));
  }
  return session;
}

Session::~Session() {
  if (hasCrashed)
    return;
  for (const Instance &instance : reverse(instances))
    if (instance.plugin->table.destroy)
      (void)callHook(instance.plugin->getId(), "destroy",
                     [&] { instance.plugin->table.destroy(instance.self); });
}

bool Session::takesPart(StringRef stage) const {
  return any_of(instances, [&](const Instance &instance) {
    return instance.plugin->takesPart(stage);
  });
}

std::vector<Session::Record> Session::describe() const {
  std::vector<Record> records;
  for (const Instance &instance : instances) {
    const Plugin &plugin = *instance.plugin;
    if (plugin.table.activation == ALULA_ACTIVE_DEFAULT)
      continue;
    Record record{plugin.getId().str(), plugin.table.version, {}};
    for (auto [option, value] : zip_equal(plugin.options, instance.values))
      if (value != StringRef(option.default_value ? option.default_value : ""))
        record.options.emplace_back(option.name, value);
    records.push_back(std::move(record));
  }
  return records;
}

alula_stage Session::makeStage(const char *name, const char *executable,
                               const char *target) const {
  return {sizeof(alula_stage),
          &getHost(),
          name,
          executable,
          target,
          sayToSession,
          const_cast<Session *>(this)};
}

Session::Reply Session::callForBytes(
    const Instance &instance, const alula_stage &stage,
    function_ref<int32_t(alula_bytes *, char **)> work) const {
  alula_bytes reply = {};
  char *text = nullptr;
  int32_t code = 0;
  if (auto crash = callHook(instance.plugin->getId(), stage.name,
                            [&] { code = work(&reply, &text); })) {
    hasCrashed = true;
    return Failure{*crash, true};
  }
  std::string bytes;
  if (reply.data) {
    bytes.assign(static_cast<const char *>(reply.data), reply.size);
    getHost().release(reply.data);
  }
  if (code != 0)
    return Failure{takeError(text)};
  return bytes;
}

Session::Reply Session::rewrite(const Instance &instance,
                                const alula_stage &stage,
                                StringRef input) const {
  if (instance.plugin->isIsolated && isolate)
    return isolate(instance, stage, input);
  return callForBytes(instance, stage, [&](alula_bytes *reply, char **error) {
    return instance.plugin->hooks.rewrite(instance.self, &stage, input.data(),
                                          input.size(), reply, error);
  });
}

Session::Reply Session::serialise(const Instance &instance,
                                  const alula_target &target,
                                  const alula_stage &stage,
                                  StringRef ir) const {
  if (!target.serialise)
    return Failure{"it has no function that serialises"};
  return callForBytes(instance, stage, [&](alula_bytes *reply, char **error) {
    return target.serialise(instance.self, &stage, ir.data(), ir.size(), reply,
                            error);
  });
}
