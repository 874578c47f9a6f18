#pragma once

#include "alula/plugin.h"

#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace alula::plugin {

/// An error whose text begins with its tag: "[plug-open] …".
llvm::Error makeProblem(llvm::StringRef tag, const llvm::Twine &text);

/// The stages that a plugin may name, in the order in which they come.
llvm::ArrayRef<llvm::StringLiteral> getStageNames();

/// What brought a plugin; the first has precedence over the next.
enum class FoundBy { Static, Flag, Environment, Folder };
llvm::StringRef getName(FoundBy foundBy);

/// A loaded plugin. The tables are whole: what the library's lack is zero.
struct Plugin {
  /// The file; empty if it is linked in.
  std::string path;
  FoundBy foundBy = FoundBy::Static;
  /// Its place among what was asked for; files of one folder share theirs.
  unsigned rank = 0;
  alula_plugin table = {};
  alula_hooks hooks = {};
  std::vector<alula_option> options;
  std::vector<alula_target> targets;
  bool isActive = false;
  /// Its hooks run in a process of their own.
  bool isIsolated = false;
  /// Of a pass plugin of MLIR's own kind, which has no table.
  std::function<void()> registerPasses;
  std::string foreignName, foreignVersion;

  llvm::StringRef getId() const { return table.id; }
  bool takesPart(llvm::StringRef stage) const;
};

/// --plugin-opt=ID:NAME=VALUE
struct OptionSetting {
  std::string id, name, value;
};

/// All plugins of a process. Those that are active stand first, in the order in
/// which their hooks are called.
struct PluginSet {
  std::vector<std::unique_ptr<Plugin>> plugins;
  /// What was left out, and why.
  std::vector<std::string> notes;

  const Plugin *find(llvm::StringRef id) const;
};

/// What the host calls itself; tests change it.
struct HostVersion {
  uint16_t major = ALULA_PLUGIN_ABI_MAJOR, minor = ALULA_PLUGIN_ABI_MINOR;
};

/// The allocator and name that plugins are given.
const alula_host &getHost();

/// Takes the text that a hook allocated; "no reason is given" if there is none.
std::string takeError(char *error);

} // namespace alula::plugin
