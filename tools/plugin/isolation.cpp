#include "compiler/preprocess/tool_process.h"
#include "tools/plugin/flags.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace llvm;
using namespace alula::plugin;
using namespace alula::preprocess;

namespace {
constexpr int unchanged = 86;

std::string explain(const ToolResult &result) {
  std::string code = std::to_string(result.code);
  switch (result.end) {
  case ToolEnd::Exit:
    return result.code == 1 ? StringRef(result.errors).trim().str()
                            : "its process ended with status " + code + ": " +
                                  StringRef(result.errors).trim().str();
  case ToolEnd::Signal:
    return "its process was ended by signal " + code;
  case ToolEnd::Timeout:
    return "its process took longer than --plugin-timeout allows";
  case ToolEnd::OutputLimit:
    return "its process gave more than can be read";
  case ToolEnd::Spawn:
    return "its process could not be started: alula-plugin-host: " +
           std::string(strerror(result.code));
  }
  return "";
}
} // namespace

Session::Reply alula::tools::runIsolated(const Session::Instance &instance,
                                         const alula_stage &stage,
                                         StringRef input, double seconds) {
  static char here;
  SmallString<128> path(
      sys::path::parent_path(sys::fs::getMainExecutable(nullptr, &here)));
  sys::path::append(path, "alula-plugin-host");
  ToolRun run;
  run.path = path.str().str();
  run.words = {"alula-plugin-host", instance.plugin->path, stage.name,
               stage.executable, stage.target};
  for (auto [option, value] :
       zip_equal(instance.plugin->options, instance.values))
    run.words.push_back(std::string(option.name) + "=" + value);
  run.input = input.str();
  ToolLimits limits;
  limits.timeout =
      std::chrono::milliseconds(std::llround(std::ceil(seconds * 1000)));
  Session::Reply reply;
  runTools(
      1, limits, [&](unsigned) { return run; },
      [&](unsigned, ToolResult &&result) {
        bool isGood = result.end == ToolEnd::Exit &&
                      (result.code == 0 || result.code == unchanged);
        if (!isGood)
          reply = Session::Failure{explain(result)};
        else if (result.code == 0)
          reply = std::move(result.output);
        return true;
      });
  return reply;
}
