#pragma once

#include "compiler/plugin/plugin.h"

#include <variant>

namespace alula::plugin {

/// The plugins of one compilation: what each has made for it. Several may be
/// alive in a process, with other values each.
class Session {
public:
  struct Instance {
    const Plugin *plugin;
    std::vector<std::string> values;
    void *self;
  };
  /// What a dump must say so that another process does the same.
  struct Record {
    std::string id, version;
    /// Options that differ from their defaults.
    std::vector<std::pair<std::string, std::string>> options;
  };
  struct Failure {
    std::string text;
    bool isCrash = false;
  };
  /// The reply, empty if there is none, or why there is none.
  using Reply = std::variant<std::string, Failure>;

  /// Calls `create` of each active plugin in order. [plug-option],
  /// [plug-create]
  static llvm::Expected<std::shared_ptr<Session>>
  create(std::shared_ptr<const PluginSet> set,
         llvm::ArrayRef<OptionSetting> settings);
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;
  /// Calls `destroy` in reverse order.
  ~Session();

  const PluginSet &getSet() const { return *set; }
  llvm::ArrayRef<Instance> getInstances() const { return instances; }
  bool takesPart(llvm::StringRef stage) const;
  /// Those that may change what is compiled, in order.
  std::vector<Record> describe() const;

  /// Calls a hook that gets and gives bytes, here or in its own process.
  Reply rewrite(const Instance &instance, const alula_stage &stage,
                llvm::StringRef input) const;
  /// The code of an executable for a target of the plugin's.
  Reply serialise(const Instance &instance, const alula_target &target,
                  const alula_stage &stage, llvm::StringRef ir) const;
  /// Runs isolated plugins; set by whoever can start processes.
  std::function<Reply(const Instance &, const alula_stage &,
                      llvm::StringRef input)>
      isolate;
  /// The words that began all this, for whoever wants to do it again.
  std::string command;
  /// What the user is to hear: severity, text. Null: standard error.
  std::function<void(uint32_t, llvm::StringRef)> say;

  /// A stage for a hook of `instance`. Strings must be zero-terminated and live
  /// longer.
  alula_stage makeStage(const char *name, const char *executable,
                        const char *target) const;

  /// Set once a hook has crashed: the process is no longer to be trusted.
  mutable bool hasCrashed = false;

private:
  Reply
  callForBytes(const Instance &instance, const alula_stage &stage,
               llvm::function_ref<int32_t(alula_bytes *, char **)> work) const;

  explicit Session(std::shared_ptr<const PluginSet> set)
      : set(std::move(set)) {}

  std::shared_ptr<const PluginSet> set;
  std::vector<Instance> instances;
};

} // namespace alula::plugin
