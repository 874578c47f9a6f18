#pragma once

#include "compiler/plugin/plugin.h"

namespace alula::plugin {

/// Puts the active plugins first, each after those that it names, else by rank,
/// then by id. [plug-missing-dep], [plug-cycle]
llvm::Error sortPlugins(PluginSet &set);

} // namespace alula::plugin
