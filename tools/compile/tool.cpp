#include "tools/compile/tool.h"

#include "tools/flags/listing.h"
#include "tools/options/iree.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"

using namespace alula;
using namespace alula::tools;

/// Stages by both names, between "|".
static const char *listStageNames() {
  static const std::string names = [] {
    std::string all;
    for (unsigned i = 0; i < driver::roomCount; ++i) {
      const driver::Stage &stage =
          driver::getStage(static_cast<driver::Room>(i));
      for (llvm::StringRef name : {stage.name, stage.alias})
        if (!name.empty())
          all += (all.empty() ? "" : "|") + name.str();
    }
    return all;
  }();
  return names.c_str();
}

options::Tool alula::tools::makeTool(const PluginFlags &plugins) {
  options::Tool tool = {
      "alula-compile",
      {"FILE.mlir -o FILE.alula [options]"},
      "compile a StableHLO program",
      "Compiles a StableHLO program (MLIR text, bytecode or a portable "
      "artifact) to an\nartifact, which alula-run and the runtime run. FILE "
      "may be - for stdin.",
      "MLIR's own flags work too, as --mlir-print-ir-after-all and "
      "--mlir-timing.",
      getDeclaredRows(),
      {driver::getTitle(driver::FlagGroup::Objects).data(),
       driver::getTitle(driver::FlagGroup::Preprocess).data(),
       driver::getTitle(driver::FlagGroup::Plugins).data()},
      {{"stage", listStageNames()},
       {"kind:machine",
        "cpu:portable|cpu:host|cpu:x86-64-v4|cpu:x86-64-v3|cpu:x86-64-v2"}},
      {}};
  llvm::append_range(tool.options, plugins.getRows());
  llvm::append_range(tool.foreign, options::getIreeCompileHints());
  tool.llvm = LLVM_VERSION_STRING;
  tool.hasHiddenHelp = true;
  return tool;
}
