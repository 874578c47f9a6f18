#include "compiler/plugin/build_key.h"

#include "alula/plugin.hpp"
#include "compiler/plugin/plugin.h"

using namespace llvm;

StringRef alula::plugin::getBuildKey() { return ALULA_PLUGIN_BUILD_KEY; }

const void *alula::plugin::getAnchor() { return alula::getMlirAnchor(); }

Error alula::plugin::compareBuildKeys(StringRef path, StringRef theirs,
                                      StringRef ours) {
  if (theirs == ours)
    return Error::success();
  StringRef left = theirs, right = ours, field, mine;
  do {
    std::tie(field, left) = left.split(';');
    std::tie(mine, right) = right.split(';');
  } while (field == mine && (!left.empty() || !right.empty()));
  return makeProblem("plug-build-key",
                     path + ": is built for another compiler: its '" + field +
                         "', ours '" + mine + "'; its key is " + theirs +
                         ", ours is " + ours);
}
