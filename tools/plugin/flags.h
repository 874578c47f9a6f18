// The flags of plugins: the same ones for every tool.

#pragma once

#include "compiler/plugin/loader.h"
#include "compiler/plugin/session.h"

#include "llvm/Support/CommandLine.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace alula::tools {

struct PluginFlags {
  llvm::cl::list<std::string> files{
      "load-plugin", llvm::cl::value_desc("file.so[?required=0]"),
      llvm::cl::desc("load a plugin and let it take part, repeatable; "
                     "ALULA_PLUGIN_PATH names files and folders too")};
  llvm::cl::list<std::string> passFiles{
      "load-mlir-plugin", llvm::cl::value_desc("file.so"),
      llvm::cl::desc("load a pass plugin of MLIR's own kind")};
  llvm::cl::list<std::string> folders{
      "plugin-dir", llvm::cl::value_desc("folder"),
      llvm::cl::desc("load all alula-plugin-*.so of a folder")};
  llvm::cl::opt<bool> noDefaults{"no-default-plugins",
                                 llvm::cl::desc("load no installed plugins")};
  llvm::cl::list<std::string> selected{
      "plugin", llvm::cl::value_desc("[-]id"),
      llvm::cl::desc("let a plugin that was found take part, or not")};
  llvm::cl::list<std::string> settings{
      "plugin-opt", llvm::cl::value_desc("id:name=value"),
      llvm::cl::desc("the same as --id-name=value")};
  llvm::cl::list<std::string> isolated{
      "plugin-isolate", llvm::cl::value_desc("id"),
      llvm::cl::desc("run the hooks of a plugin of tier C in a process of "
                     "their own")};
  llvm::cl::opt<double> timeout{
      "plugin-timeout", llvm::cl::init(300), llvm::cl::value_desc("seconds"),
      llvm::cl::desc("for a hook in a process of its own, 0 is none")};
  llvm::cl::opt<std::string> list{
      "list-plugins", llvm::cl::ValueOptional, llvm::cl::value_desc("json"),
      llvm::cl::desc("print the plugins that are found, and end")};

  /// Reads the flags above from the words of a command line, loads what they
  /// name and declares a flag for each of the plugins' options: to be called
  /// before options are parsed. Errors are ones of usage.
  llvm::Error load(int argc, const char *const *argv);

  /// Dialects and passes of the plugins that take part.
  llvm::Error registerAll(mlir::DialectRegistry &registry) const;

  /// After options are parsed: prints the plugins if that is asked for.
  bool printList() const;
  llvm::Expected<std::shared_ptr<plugin::Session>> createSession() const;

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
