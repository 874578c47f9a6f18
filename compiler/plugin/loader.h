// Finds plugins and loads them.

#pragma once

#include "compiler/plugin/plugin.h"

namespace alula::plugin {

/// A plugin that is linked into the tool.
struct StaticPlugin {
  const char *name;
  alula_plugin_query_function query;
};

struct LoadOptions {
  /// --load-plugin: PATH, or PATH?required=0 for what may be missing.
  std::vector<std::string> files;
  /// --load-mlir-plugin: libraries with nothing but passes.
  std::vector<std::string> passFiles;
  /// ALULA_PLUGIN_PATH: files and folders, a colon between them.
  std::string environment;
  /// --plugin-dir.
  std::vector<std::string> folders;
  /// Where installed plugins lie; need not exist.
  std::string defaultFolder;
  bool noDefaults = false;
  /// --plugin=ID, --plugin=-ID.
  std::vector<std::string> selected;
  /// --plugin-isolate=ID.
  std::vector<std::string> isolated;
  llvm::ArrayRef<StaticPlugin> linked;
  HostVersion host;
};

/// Every error begins with a tag; the process is then better ended, since
/// libraries stay loaded.
llvm::Expected<std::shared_ptr<const PluginSet>>
loadPlugins(const LoadOptions &options);

} // namespace alula::plugin
