#include "compiler/plugin/plugin.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdlib>

using namespace llvm;
using namespace alula::plugin;

llvm::Error alula::plugin::makeProblem(StringRef tag, const Twine &text) {
  return createStringError(std::make_error_code(std::errc::invalid_argument),
                           "[" + tag + "] " + text);
}

ArrayRef<StringLiteral> alula::plugin::getStageNames() {
  static constexpr StringLiteral names[] = {
      "input.detect",     "input.pipeline",        "preprocess",
      "global-opt.begin", "global-opt.end",        "formation.match",
      "formation.end",    "executable.preprocess", "target.configure",
      "target.translate", "target.link",           "artifact.end"};
  return names;
}

StringRef alula::plugin::getName(FoundBy foundBy) {
  static constexpr StringLiteral names[] = {"static", "flag", "environment",
                                            "folder"};
  return names[static_cast<unsigned>(foundBy)];
}

bool Plugin::takesPart(StringRef stage) const {
  return llvm::any_of(ArrayRef(hooks.stages, hooks.n_stages),
                      [&](const char *name) { return stage == name; });
}

const Plugin *PluginSet::find(StringRef id) const {
  for (const std::unique_ptr<Plugin> &plugin : plugins)
    if (plugin->getId() == id)
      return plugin.get();
  return nullptr;
}

const alula_host &alula::plugin::getHost() {
  static const alula_host host = {sizeof host,
                                  ALULA_PLUGIN_ABI_MAJOR,
                                  ALULA_PLUGIN_ABI_MINOR,
                                  "alula 0.1.0",
                                  [](size_t bytes) { return malloc(bytes); },
                                  [](void *memory) { free(memory); }};
  return host;
}

std::string alula::plugin::takeError(char *error) {
  if (!error)
    return "no reason is given";
  std::string text = error;
  getHost().release(error);
  return text;
}
