// The flags of plugins: the same ones for every tool.

#pragma once

#include "compiler/plugin/loader.h"
#include "compiler/plugin/session.h"
#include "tools/flags/declared.h"
#include "tools/options/table.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace alula::tools {

struct PluginFlags {
  Many files{driver::Flag::LoadPlugin};
  Many passFiles{driver::Flag::LoadMlirPlugin};
  Many folders{driver::Flag::PluginDir};
  One<bool> noDefaults{driver::Flag::NoDefaultPlugins};
  Many selected{driver::Flag::Plugin};
  Many settings{driver::Flag::PluginOption};
  Many isolated{driver::Flag::PluginIsolate};
  One<double> timeout{driver::Flag::PluginTimeout, llvm::cl::init(300)};
  One<std::string> list{driver::Flag::ListPlugins, llvm::cl::ValueOptional};

  /// Reads the flags above from the words of a command line, loads what they
  /// name and declares a flag for each of the plugins' options: to be called
  /// before options are parsed. Errors are ones of usage.
  llvm::Error load(int argc, const char *const *argv);

  /// Dialects and passes of the plugins that take part.
  llvm::Error registerAll(mlir::DialectRegistry &registry) const;

  /// After options are parsed: prints the plugins if that is asked for.
  bool printList() const;
  llvm::Expected<std::shared_ptr<plugin::Session>> createSession() const;

  /// The plugins' own options, for --help; what they refer to is kept here.
  std::vector<options::Option> getRows() const;

  std::shared_ptr<const plugin::PluginSet> set;

private:
  std::string command;
  struct OptionFlag;
  llvm::Error declareOptions();
  std::vector<std::shared_ptr<OptionFlag>> optionFlags;
};

/// The plugins that are linked into this tool.
llvm::ArrayRef<plugin::StaticPlugin> getLinkedPlugins();

/// Runs a hook as a process: alula-plugin-host, which lies beside this tool.
plugin::Session::Reply runIsolated(const plugin::Session::Instance &instance,
                                   const alula_stage &stage,
                                   llvm::StringRef input, double seconds);

} // namespace alula::tools
